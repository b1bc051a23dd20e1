"""Which TensorFlow a program can run on, from the names that it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.api_version import keras_of_tf1
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.symbols import symbol, table


@fact_of_text
def gone_keras_names(module: Module) -> list[tuple[ast.AST, str]]:
    """Standalone Keras imports that no Keras of TF2 has."""
    found: list[tuple[ast.AST, str]] = []
    for statement in module.names.imports:
        if module.is_guarded(statement):
            continue
        if isinstance(statement, ast.ImportFrom):
            base = module.names.absolute(statement)
            spelled = [f"{base}.{alias.name}" for alias in statement.names]
            if statement in module.names.star_imports and _keras_status(base) == "modules":
                spelled = module.names.module_scope.bound_by(statement)
        else:
            spelled = [alias.name for alias in statement.names]
        for name in spelled:
            if name.startswith("keras.") and _keras_status(name) in (*_GONE, "unknown"):
                found.append((statement, name))
    for attributes in module.names.attributes.values():  # K.get_session()
        for node in attributes:
            name = module.names.qualname(node) or ""
            if name.startswith("keras.") and _keras_status(name) in _GONE:
                if not module.is_guarded(node):
                    found.append((node, name))
    return found


# What `tf.compat.v1.keras` alone has on 2.15 is no name of the package keras there.
_GONE = ("gone", "legacy_keras")
_STILL_THERE = ("keras.losses.mean_", "keras.metrics.mean_")  # in Keras 3 as well


def _keras_status(name: str) -> str:
    if name.startswith(_STILL_THERE):
        return "neutral"
    status = table().status(name)
    if status == "unknown" and table().status(name.rpartition(".")[0]) == "modules":
        # Modules of functions that the data does not list one by one.
        return "unknown"
    return status


def bridge_runs_on(modules: list[Module], new: AbstractSet[str] = frozenset()) -> str:
    """The runtimes that a bridged program can run on, from its names and the new ones."""
    if "tf2.15_only" in _statuses(modules, new) or any(map(_needs_addons, modules)):
        return "TF 2.15"
    if any(_names(module, "model_to_estimator") for module in modules):
        return "TF 2.15"  # the last with Estimators, of Keras models as well
    if needs_legacy_keras(modules, new):
        return "TF 2.15; newest TF with tf-keras and TF_USE_LEGACY_KERAS=1"
    return "TF 2.15 and newest"


def _names(module: Module, name: str) -> bool:
    return name in module.names.attributes or name in module.names.by_id


def needs_legacy_keras(modules: list[Module], new: AbstractSet[str] = frozenset()) -> bool:
    """Whether a bridged program runs beside Keras 2 only, which the newest TF has as tf-keras."""
    # Keras 3's models have no `updates` and other batch norms.
    keras = any(module.uses_keras_models or keras_of_tf1(module) for module in modules)
    return keras or "legacy_keras" in _statuses(modules, new)


def _statuses(modules: list[Module], new: AbstractSet[str]) -> set[str]:
    statuses = {table().status(name) for name in new}
    return statuses.union(*(module.statuses for module in modules))


# What the name of a file of weights must end in for Keras 3, which raises otherwise.
_WEIGHTS: dict[str, str | tuple[str, ...]] = {
    "save_weights": ".weights.h5",
    "load_weights": (".h5", ".hdf5", ".keras"),
}


def _weight_files(module: Module) -> Iterator[ast.Call]:
    """The calls that write or read a Keras model's weights."""
    for method in _WEIGHTS:
        for attribute in module.names.attributes.get(method, ()):
            call = module.names.parents[attribute]
            if isinstance(call, ast.Call) and call.func is attribute:
                yield call


def refuses_weight_file(call: ast.Call) -> bool:
    """Whether Keras 3 refuses the file that a call of `save_weights` or `load_weights` names."""
    assert isinstance(call.func, ast.Attribute)
    named = [k.value for k in call.keywords if k.arg == "filepath"] or call.args[:1]
    path = constant(named[0]) if named else None
    return isinstance(path, str) and not path.endswith(_WEIGHTS[call.func.attr])


def native_runs_on(modules: list[Module], gone: AbstractSet[ast.AST]) -> str:
    """The runtimes that a native program can run on; ``gone`` is what it has no more."""
    only_2_15 = {"fit_generator", "evaluate_generator", "predict_generator"}
    for module in modules:
        if _needs_addons(module):
            return "TF 2.15"
        if only_2_15 & set(module.names.attributes):
            return "TF 2.15"
        if module.uses_keras_models and any(
            refuses_weight_file(node) for node in _weight_files(module)
        ):
            return "TF 2.15"
        for use in module.uses:
            if use.status not in ("legacy_keras", "tf2.15_only") or not symbol(use.spelled):
                continue
            if not is_inside(module, use.node, gone):
                return "TF 2.15"
    return "TF 2.15 and newest"


def _needs_addons(module: Module) -> bool:
    """Whether a module imports tensorflow-addons, whose last release (0.23) is for TF 2.15."""
    if "tensorflow_addons" not in module.source.text:
        return False
    return any(
        any(name.partition(".")[0] == "tensorflow_addons" for name in _imported(statement))
        and not _may_be_absent(module, statement)
        for statement in module.names.imports
    )


def _imported(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [] if statement.level else [statement.module or ""]
    return [alias.name for alias in statement.names]


def _may_be_absent(module: Module, statement: ast.stmt) -> bool:
    """Whether an import is tried, or stands in a function."""
    if module.names.scope_at(statement).function() is not None:
        return True
    parent = module.names.parents[statement]
    return isinstance(parent, ast.Try) and statement in parent.body and bool(parent.handlers)
