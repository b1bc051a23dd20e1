"""What one Estimator's driving code becomes: its edits, and the author's words in TF2's."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import KEYS
from migrate_mgpu.analysis.module import ROOTS, Module
from migrate_mgpu.analysis.style import root
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import tensorflow_name
from migrate_mgpu.models.front.rewriters import PartRewriter
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.types import ModelPlan
from migrate_mgpu.source.source import Edit

_NAMED = re.compile(r"(?<![\w.])tf\.")


@record()
class Drive:
    """The edits of one Estimator's driving code.

    ``gone`` are nodes that are not there any more, ``moved`` those whose text was written
    anew, in TF2's words already: nothing else may edit them. ``configs`` are the
    RunConfig calls that go: a session_config that went into one of these moves to
    ``tf.config`` without an edit of the call. ``sites`` are the places that changed,
    with the kind of their rewriter.
    """

    edits: dict[Module, list[Edit]] = field(default_factory=dict)
    imports: dict[Module, set[str]] = field(default_factory=dict)
    gone: set[ast.AST] = field(default_factory=set)
    moved: set[ast.AST] = field(default_factory=set)
    configs: set[ast.Call] = field(default_factory=set)
    notes: list[tuple[Module, ast.AST, str]] = field(default_factory=list)
    sites: list[tuple[Module, ast.AST, type[PartRewriter]]] = field(default_factory=list)

    def edit(self, module: Module, edit: Edit) -> None:
        edits = self.edits.setdefault(module, [])
        if edit not in edits:
            edits.append(edit)

    def replaced(self, module: Module, call: ast.Call, kind: type[PartRewriter]) -> None:
        """A call that another one stands for: its function is gone, its arguments may not be."""
        self.gone.add(call.func)
        self.moved.add(call)
        self.sites.append((module, call, kind))

    def note(self, module: Module, node: ast.AST, text: str) -> None:
        if (module, node, text) not in self.notes:
            self.notes.append((module, node, text))


def check_named(edits: dict[Module, list[Edit]], place: tuple[Module, ast.AST]) -> None:
    """New code says ``tf``: a file that imports parts of TensorFlow alone has no such name.

    Raises:
        Refused: in such a file something new is written.
    """
    for module, found in edits.items():
        scopes = module.names.scopes.values()
        bound = [b for scope in scopes for bindings in scope.bindings.values() for b in bindings]
        if not any(binding.qualname in ROOTS for binding in bound):
            if any(_NAMED.search(edit.new) for edit in found):
                text = f"{module.path.name} has no name for TensorFlow as a whole"
                raise Refused(*place, text, "import tensorflow as tf, and use that")


def text_of(
    module: Module, node: ast.AST, column: int | None = None, base: str | None = None
) -> str:
    """An expression of the author's in TF2's words, for another place."""
    keys = {key: _written(module, value) for key, value in _mode_keys(module).items()}
    keys.update((read, _substitute(text)) for read, text in module.substitutes.items())
    return Context(module, root(module, node), replaced=keys).render(node, column, base)


def mode_keys(module: Module, model: ModelPlan, drive: Drive) -> None:
    """`tf.estimator.ModeKeys.TRAIN` outside of the model: the string that it is."""
    source = module.source
    taken = [
        (edit.start, edit.end)
        for edits in (model.edits, drive.edits)
        for edit in edits.get(module, ())
        if edit.end > edit.start
    ]
    away = drive.gone | drive.moved | model.gone
    for node, value in _mode_keys(module).items():
        start, end = source.span(node)
        if any(begin < end and start < stop for begin, stop in taken):
            continue
        if away & {node, *module.names.ancestors(node)}:
            continue
        drive.edit(module, Edit(start, end, f"{source.quote}{value}{source.quote}"))
        drive.moved.add(node)


def _written(module: Module, value: str) -> Replacement:
    return lambda context: f"{module.source.quote}{value}{module.source.quote}"


def _substitute(text: str) -> Replacement:
    return lambda context: text


def _mode_keys(module: Module) -> dict[ast.AST, str]:
    """Mentions of TensorFlow's mode keys, with their values."""
    return {
        node: value
        for key, value in KEYS.items()
        for node in module.names.attributes.get(key, ())
        if (name := tensorflow_name(module, node)).endswith(f"ModeKeys.{key}")
        and name.startswith(("estimator.", "contrib.learn."))
    }
