"""Which TensorFlow a module is written for: TF1, ``compat.v1``, TF2, or several."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.lost_names import NewName, find
from migrate_mgpu.analysis.module import Module, Use, fact_of_text
from migrate_mgpu.analysis.symbols import Symbol, table

# Statuses of plain names that TF2 does not have, or has as something else.
ABSENT = {"v1_absent", "legacy_keras", "tf2.15_only"}
_PLAIN_ABSENT = {"v1_absent", "legacy_keras"}
_DIFFERS = {"v1_differs", "tf2.15_only"}
_PRIVATE_SESSION = Symbol("private", "python.client.session.Session")


@fact_of_text
def v1_uses(module: Module) -> list[Use]:
    """Uses of names that exist only in TF1, however they are spelled; not the guarded ones."""
    return [
        use
        for use in module.uses
        if not use.guarded
        and use.symbol.flavour in ("plain", "v1")
        and (use.status in ABSENT or (use.symbol.flavour == "v1" and use.status == "v1_differs"))
    ]


@fact_of_text
def needs_tf1(module: Module) -> bool:
    """Whether the module uses names that TF2 lacks; the same before and after a bridge."""
    return opens_private_session(module) or any(
        use.symbol.flavour in ("plain", "v1")
        and use.status in ABSENT
        and use.symbol.name != "disable_v2_behavior"
        and not use.guarded
        for use in module.uses
    )


@fact_of_text
def opens_private_session(module: Module) -> bool:
    """Whether the module opens a session by TensorFlow's private class, which TF2 has as well."""
    return any(
        use.symbol == _PRIVATE_SESSION and not use.guarded
        for use in module.uses
        if not isinstance(use.node, ast.stmt)
    )


@fact_of_text
def is_plain_v1(module: Module) -> bool:
    """Whether the module's ``tf.X`` can only mean TF1: it uses plain names that TF2 lacks.

    ``tf.estimator`` is no such name: TF 2.0 to 2.15 have one, with other defaults.
    """
    return any(
        use.symbol.flavour == "plain" and use.status in _PLAIN_ABSENT and not use.guarded
        for use in module.uses
    )


# What TF1's Keras has under names that TF2's has as well, and that are something else in TF 2.15
# and in Keras 3: other gates, other updates, other slots. Initializers draw alike.
_KERAS_APART = ("keras.layers.", "keras.optimizers.", "keras.callbacks.")


@fact_of_text
def keras_of_tf1(module: Module) -> list[Use]:
    """Uses of what only TF1's Keras has, or has as something else, wherever TF2 comes to them.

    An import in a function is no guard here, and neither is a `try` for its absence: TF2 has the
    name, for another layer.
    """
    return [
        use
        for use in module.uses
        if use.symbol.flavour in ("plain", "v1") and use.symbol.name.startswith("keras.")
        if (use.status == "legacy_keras" and (use.lazy or not use.guarded))
        or (
            use.status == "v1_differs_tf2.15"
            and use.symbol.name.startswith(_KERAS_APART)
            and (use.lazy or not use.guarded or _is_given(module, use.node))
        )
    ]


def _is_given(module: Module, node: ast.AST) -> bool:
    """Whether a name that an author tries to import is there, in code that TF2 runs."""
    root = root_of(node)
    if not isinstance(root, ast.Name):
        return is_tried(module, node)
    bindings = module.names.bindings_of(root)
    return not module.is_guarded(node) and any(is_tried(module, b.node) for b in bindings)


def root_of(node: ast.AST) -> ast.AST:
    """What stands before all dots of a name: `K` of `K.layers.LSTM`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def is_tried(module: Module, statement: ast.AST) -> bool:
    """Whether a statement stands directly in a `try` for its failure, with no guard around it."""
    block = module.names.parents.get(statement)
    return isinstance(block, ast.Try) and statement in block.body and not module.is_guarded(block)


_V1_METHODS = {"make_one_shot_iterator", "make_initializable_iterator", "test_session"}


def calls_v1_methods(module: Module) -> bool:
    """Whether the module calls a method that TF1's data sets or test cases have, and TF2's not."""
    return bool(module.uses) and not _V1_METHODS.isdisjoint(module.names.attributes)


@fact_of_text
def is_tf2(module: Module) -> Use | None:
    """A use of a name that only TF2 has, outside of every version switch."""
    for use in module.uses:
        if use.symbol.flavour == "plain" and use.status == "v2_only" and not use.guarded:
            return use
    return None


def reads_eagerly(module: Module) -> list[ast.Call]:
    """Each ``x.numpy()``: under v1 behaviour a tensor or variable has none.

    Not where the code makes its own eager context (`with context.eager_mode():`).
    """
    if "numpy" not in module.names.attributes:
        return []
    if any(name.split(".")[0] == "torch" for name in _imported(module)):
        return []  # its tensors have one, too
    return [
        call
        for attribute in module.names.attributes["numpy"]
        if isinstance(call := module.names.parents[attribute], ast.Call)
        and call.func is attribute
        and not (call.args or call.keywords)
        and not any(_is_eager(parent) for parent in module.names.ancestors(call))
    ]


def _is_eager(statement: ast.AST) -> bool:
    return isinstance(statement, ast.With) and any(
        isinstance(item.context_expr, ast.Call)
        and ast.unparse(item.context_expr.func).rpartition(".")[2] == "eager_mode"
        for item in statement.items
    )


def _imported(module: Module) -> Iterator[str]:
    for node in module.names.imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            yield node.module or ""


def is_explicit_v1(module: Module) -> bool:
    """Whether the module reaches TF1's names as ``tf.compat.v1.X`` from a plain import."""
    roots = [
        binding.qualname
        for bindings in module.names.module_scope.bindings.values()
        for binding in bindings
        if binding.kind == "import"
    ]
    return "tensorflow" in roots and any(use.symbol.flavour == "v1" for use in module.uses)


def is_mixed(module: Module) -> Use | None:
    """A use of a name that only TF2 has, in a module whose other names are only TF1's."""
    return is_tf2(module) if is_plain_v1(module) else None


def _is_v1(new: NewName | None) -> bool:
    """Whether the new name of what TF2 lost is one of TF1's."""
    if new is None or new.package != "tensorflow":
        return False
    return table().status(new.path) in ABSENT | _DIFFERS


def swaps(module: Module) -> bool:
    """Whether the module's import of TensorFlow must become ``compat.v1``'s in a bridge."""
    if module.switched_root is not None:
        return False  # its own switch takes TF1's names where it runs on TF2
    if is_plain_v1(module) or any(is_plain_v1(user) for user in module.borrowers):
        return True
    if is_explicit_v1(module) or is_tf2(module):
        return False
    if any(use.status == "gone" and _is_v1(find(use.symbol.name)) for use in module.uses):
        return True
    return any(
        use.symbol.flavour == "plain" and use.status in _DIFFERS and not use.guarded
        for use in module.uses
    ) or any(use.symbol.flavour == "plain" for use in keras_of_tf1(module))
