"""Programs whose Keras models live in a graph of TF1's: a session trains them, or Keras does."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.api_version import is_plain_v1, is_tf2, reads_eagerly
from migrate_mgpu.analysis.module import ROOTS, Module, fact_of_text

# Where Keras itself trains, computes, or reads and writes weights, by its own session or eagerly.
_KERAS_ITSELF = {
    "fit", "fit_generator", "train_on_batch", "test_on_batch", "predict_on_batch", "predict_proba",
    "predict_classes", "evaluate_generator", "predict_generator", "model_to_estimator",
    "multi_gpu_model", "get_session", "set_session", "load_model", "save_model", "model_from_json",
    "model_from_yaml", "model_from_config", "clone_model", "applications", "load_weights",
    "save_weights", "get_weights", "set_weights", "learning_phase",
    "estimator_from_model", "run_eagerly",
}  # fmt: skip
# Eager code, and strategies, which fail with Keras under v1 behaviour.
_EAGER = {"GradientTape", "enable_eager_execution", "enable_v2_behavior", "eager_mode"}
# What TF 2.15 has not under v1 behaviour either.
_GONE = {"predict_proba", "predict_classes", "multi_gpu_model", "run_eagerly"}
# What an author turns TF2's behaviour off with.
_OFF = ("disable_v2_behavior", "disable_eager_execution")
# Methods of Estimators as well.
_SHARED = {"evaluate", "predict"}


def only_builds_layers(modules: Iterable[Module], has_estimators: bool) -> bool:
    """Whether the Keras models of a program with a session or Estimator are only called.

    Such a program is none of Keras: a session or an Estimator trains it, and under v1
    behaviour TF 2.15 builds what TF1 built. Where Keras itself may do anything, it is not one.
    """
    modules = list(modules)
    built = [module for module in modules if module.uses_keras_models]
    if any(map(is_plain_v1, modules)):
        if any(is_tf2(module) for module in built):
            return False
    elif not all(map(_imports_tf1, built)):
        return False
    return not any(_trains(module, has_estimators) for module in modules)


def trains_in_graph(modules: Iterable[Module]) -> bool:
    """Whether a program of TF1's trains Keras models in its graph, as TF 2.15 does as well.

    Under v1 behaviour ``tf.compat.v1.keras`` has TF1's layers, optimizers and session. Keras's own
    package, eager code and strategies are something else there.
    """
    modules = list(modules)
    if any(map(is_tf2, modules)) or any(map(_is_no_graph, modules)):
        return False
    off = any(use.symbol.name in _OFF for module in modules for use in module.uses)
    return off or any(map(is_plain_v1, modules))


def _is_no_graph(module: Module) -> bool:
    """Whether a module has what no graph of TF1's has, or another Keras."""
    if any(name.startswith(("keras", "tensorflow.python")) for name in module.keras_names):
        return True
    named = _named(module)
    if named & (_GONE | _EAGER) or any(name.endswith("Strategy") for name in named):
        return True
    return bool(reads_eagerly(module))


@fact_of_text
def _imports_tf1(module: Module) -> bool:
    """Whether a module has no other TensorFlow than ``tensorflow.compat.v1``."""
    roots = {
        binding.qualname
        for bindings in module.names.module_scope.bindings.values()
        for binding in bindings
        if binding.kind == "import" and binding.qualname in ROOTS
    }
    return roots == {"tensorflow.compat.v1"} and is_tf2(module) is None


def _trains(module: Module, has_estimators: bool) -> bool:
    if _is_no_graph(module):  # Keras's package has a session of its own
        return True
    named = _named(module)
    if named & _KERAS_ITSELF:
        return True
    if not has_estimators and named & _SHARED:
        return True
    compiles = module.names.attributes.get("compile", ())
    return any(module.names.qualname(node) != "re.compile" for node in compiles)


@fact_of_text
def _named(module: Module) -> set[str]:
    """Every attribute and imported name of a module, without what stands before it."""
    found = set(module.names.attributes)
    for statement in module.names.imports:
        for alias in statement.names:
            found.update(alias.name.split("."))
        if isinstance(statement, ast.ImportFrom):
            found.update((statement.module or "").split("."))
    return found
