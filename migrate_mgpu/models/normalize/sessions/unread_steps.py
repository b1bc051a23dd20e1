"""A global step that is counted and that nothing reads: it goes.

    global_step = tf.Variable(0, name="global_step", trainable=False)
    ...
    self.train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())

becomes `optimizer.minimize(loss)`, where the graph asks for the step by that function, for which
TF2 has nothing, and no saver, no schedule and no run has the variable.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.core.records import field, record
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

TOLD = "nothing reads the global step: it is not counted any more"
_ASKS = (
    "train.get_global_step", "train.get_or_create_global_step", "train.create_global_step",
    "contrib.framework.get_global_step", "contrib.framework.get_or_create_global_step",
    "contrib.framework.create_global_step",
)  # fmt: skip
_MAKES = ("Variable", "get_variable")
# What has every variable of a graph, or counts steps by itself.
_OF_ALL = (
    "train.Saver", "train.Supervisor", "train.Monitored", "train.SingularMonitored",
    "train.Scaffold", "train.export_meta_graph", "train.Checkpoint", "train.QueueRunner",
    "train.global_step", "saved_model", "get_collection", "global_variables", "all_variables",
    "variables_initializer", "report_uninitialized_variables", "estimator.", "contrib.learn",
    "contrib.training", "contrib.slim.learning",
)  # fmt: skip
_INITIALIZES = "global_variables_initializer"
_BY_TEXT = "global_step:0"


@record(eq=False)
class _Step:
    arguments: list[tuple[Module, ast.keyword]] = field(default_factory=list)
    made: list[tuple[Module, ast.Assign]] = field(default_factory=list)


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits that take it away; none where it is read. ``own`` are the modules to change."""
    step = _unread(modules)
    places = [*step.arguments, *step.made] if step is not None else []
    if step is None or not all(module in own for module, _ in places):
        return {}
    found: dict[Module, list[Edit]] = {}
    for module, keyword in step.arguments:
        call = module.names.parents[keyword]
        assert isinstance(call, ast.Call)
        edit = CallEdit(module.source, call)
        edit.drop_value(keyword.value)
        found.setdefault(module, []).extend(edit.edits())
    for module, statement in step.made:
        found.setdefault(module, []).append(without_paragraph(module.source, statement, True))
    return found


def counted_for_nobody(modules: Sequence[Module]) -> list[tuple[Module, ast.AST]]:
    """What makes the step of a program, or counts it first, where the pass takes it away."""
    step = _unread(modules)
    if step is None:
        return []
    return [*step.made[:1], *((one, keyword.value) for one, keyword in step.arguments[:1])][:1]


def _unread(modules: Sequence[Module]) -> _Step | None:
    """All that has to do with the step, where the program asks for it by TF1's functions."""
    found = _Step()
    asked = False
    for module in modules:
        for name, calls in calls_of_names(module).items():
            if name.startswith(_OF_ALL) and name != _INITIALIZES and name not in _ASKS:
                return None
            for call in calls:
                if name in _ASKS:
                    asked = True
                    if call.args or call.keywords or not _counts(module, call, found):
                        return None
                elif name in _MAKES and _is_step(call, name):
                    if not _made(module, call, found):
                        return None
        if any(isinstance(n, ast.Constant) and n.value == _BY_TEXT for n in ast.walk(module.tree)):
            return None
    return found if asked and len(found.made) < 2 else None


def _is_step(call: ast.Call, name: str) -> bool:
    named = [one.value for one in call.keywords if one.arg == "name"]
    named += call.args[:1] if name == "get_variable" else []
    return any(constant(one) == "global_step" for one in named)


def _counts(module: Module, value: ast.AST, found: _Step) -> bool:
    """Whether an expression is what an optimizer counts with, and add it."""
    keyword = module.names.parents.get(value)
    call = module.names.parents.get(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(keyword, ast.keyword) or not isinstance(call, ast.Call):
        return False
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if keyword.arg != "global_step" or method not in ("minimize", "apply_gradients"):
        return False
    found.arguments.append((module, keyword))
    return True


def _made(module: Module, call: ast.Call, found: _Step) -> bool:
    """Whether a name is given the step, and is read to count alone."""
    names = module.names
    statement = names.parents.get(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return False
    if len(statement.targets) > 1 or len(names.block(statement)) == 1:
        return False
    home = names.scope_of_name[target]
    if len(home.bindings[target.id]) != 1 or not Layout(module.source, statement).owns_lines:
        return False
    for mention in names.mentions(target.id, home):
        if mention is not target and not _counts(module, mention, found):
            return False
    found.made.append((module, statement))
    return True
