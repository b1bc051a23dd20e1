"""What one Estimator's driving code becomes: its edits, and the author's words in TF2's."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.modes import KEYS
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.rewriters import PartRewriter
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit


@record(eq=False)
class DriverEdits(EditSet):
    """What changes in one Estimator's driving code.

    ``configs`` are the RunConfig calls that go: a session_config that went into one of
    these moves to ``tf.config`` without an edit of the call. ``model_name`` is the name of the
    Keras model that takes the Estimator's place, where that has a name already.
    """

    configs: set[ast.Call] = field(default_factory=set)
    model_name: str = ""

    def receiver(self, call: DriverCall) -> str:
        """How the model is known at a driver call."""
        return self.model_name or call.module.source.code(call.receiver)

    def replaced(self, module: Module, call: ast.expr, kind: type[PartRewriter]) -> None:
        """A call that another one stands for: its function is gone, its arguments may not be."""
        self.gone.add(call.func if isinstance(call, ast.Call) else call)
        self.moved.add(call)
        self.sites.append((module, call, kind))


def text_of(
    module: Module,
    node: ast.AST,
    column: int | None = None,
    base: str | None = None,
    given: Mapping[ast.AST, str] | None = None,
) -> str:
    """An expression of the author's in TF2's words, for another place.

    ``given`` are parts of it, and what stands in their place.
    """
    keys = {key: _written(module, value) for key, value in _mode_keys(module).items()}
    keys.update((read, _substitute(one)) for read, one in module.substitutes.items())
    keys.update((part, _as(text)) for part, text in (given or {}).items())
    return Context(module, style_at(module, node), replaced=keys).render(node, column, base)


def mode_keys(module: Module, model: ModelPlan, changes: DriverEdits) -> None:
    """`tf.estimator.ModeKeys.TRAIN` outside of the model: the string that it is."""
    source = module.source
    taken = [
        (edit.start, edit.end)
        for edits in (model.edits, changes.edits)
        for edit in edits.get(module, ())
        if edit.end > edit.start
    ]
    away = changes.gone | changes.moved | model.gone
    for node, value in _mode_keys(module).items():
        start, end = source.span(node)
        if any(begin < end and start < stop for begin, stop in taken):
            continue
        if away & {node, *module.names.ancestors(node)}:
            continue
        changes.edit(module, Edit(start, end, f"{source.quote}{value}{source.quote}"))
        changes.moved.add(node)


def _written(module: Module, value: str) -> Replacement:
    return lambda context: f"{module.source.quote}{value}{module.source.quote}"


def _as(text: str) -> Replacement:
    return lambda context: text


def _substitute(node: ast.expr) -> Replacement:
    """What stands for an expression: the author's own, or a new one, which has no place."""

    def write(context: Context) -> str:
        if node in context.module.names.parents:
            return text_of(context.module, node)
        return ast.unparse(node)

    return write


def _mode_keys(module: Module) -> dict[ast.AST, str]:
    """Mentions of TensorFlow's mode keys, with their values."""
    return {
        node: value
        for key, value in KEYS.items()
        for node in module.names.attributes.get(key, ())
        if (name := tensorflow_name(module, node)).endswith(f"ModeKeys.{key}")
        and name.startswith(("estimator.", "contrib.learn."))
    }
