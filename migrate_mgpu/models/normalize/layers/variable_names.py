"""Names that a scope gives to several variables of its graph, one after the other.

    with tf.variable_scope("conv1"):
        kernel = tf.get_variable("weights", [5, 5, 3, 64])
        x = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME")
    with tf.variable_scope("conv2"):
        kernel = tf.get_variable("weights", [5, 5, 64, 64])

TF1's graph keeps both, the functions of TF2 read each by its name: `conv1_kernel` and
`conv2_kernel`, or `kernel` and `kernel_2` where no scopes tell them apart.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import is_reset, scopes_of, session_calls, trains
from migrate_mgpu.models.normalize.functions.reused_names import asks_for_names, is_written
from migrate_mgpu.source.source import Edit

_VARIABLES = ("Variable", "get_variable")


def parted(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits that give such variables names of their own; none where there are none."""
    # Other functions become classes, which give each a name.
    driving = [
        *session_calls(module),
        *(call for call in module.names.calls if trains(module, call)),
    ]
    homes = {module.names.scope_at(call) for call in driving}
    found: list[Edit] = []
    for home in module.names.scopes.values():
        if home not in homes or not isinstance(home.node, (ast.Module, ast.FunctionDef)):
            continue
        if asks_for_names(module, home):
            continue
        for name, bindings in home.bindings.items():
            if len(bindings) > 1 and name != "_":
                found += _of_name(module, home, name, graph)
    return found


def _of_name(module: Module, home: Scope, name: str, graph: CallGraph) -> Iterator[Edit]:
    names = module.names
    mentions = names.mentions(name, home)
    stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
    if len(stored) != len(home.bindings[name]) or not all(is_written(module, m) for m in mentions):
        return
    makers = [one for one in stored if _makes(module, one, graph)]
    if len(makers) < 2 or makers[0] is not mentions[0]:
        return
    if not all(_is_straight(module, home, one) for one in makers):
        return
    between = (makers[0].lineno, makers[-1].lineno)
    resets = (
        one.lineno for one in walk(home.node) if isinstance(one, ast.stmt) and is_reset(module, one)
    )
    if any(between[0] < line < between[1] for line in resets):
        return  # they are of several graphs, each with names of its own
    if not all(_runs_at_once(module, home, one) for one in mentions):
        return
    groups: list[list[ast.Name]] = [[] for _ in makers]
    for one in mentions:
        groups[_group(module, one, makers)].append(one)
    wanted = _wanted(module, name, makers)
    taken: set[str] = set()
    for group, candidate in zip(groups, wanted):
        if candidate == name:
            continue
        tries = (f"{candidate}_{n}" for n in itertools.count(2))
        new = next(
            one
            for one in itertools.chain([candidate], tries)
            if one not in taken and names.fresh(home, one) == one
        )
        taken.add(new)
        yield from (Edit(*module.source.span(one), new) for one in group)


def _group(module: Module, mention: ast.Name, makers: Sequence[ast.Name]) -> int:
    """Which of the variables a mention is of: the last one that was made before it."""
    if mention in makers:
        return makers.index(mention)
    behind = 0
    for index, maker in enumerate(makers):
        statement = module.names.statement(maker)
        made = position(statement) < position(mention) and mention not in {*walk(statement)}
        behind = index if made else behind
    return behind


def _wanted(module: Module, name: str, makers: Sequence[ast.Name]) -> list[str]:
    """Names by the scopes of the variables, where these tell all of them apart; else numbers."""
    scopes = [scopes_of(module, module.names.statement(one)) for one in makers]
    last = [constant(one[-1]) if one else None for one in scopes]
    known = [one for one in last if isinstance(one, str) and one.isidentifier()]
    if len({*known}) == len(makers):
        return [f"{scope}_{name}" for scope in known]
    return [name, *(f"{name}_{index}" for index in range(2, len(makers) + 1))]


def _makes(module: Module, mention: ast.Name, graph: CallGraph) -> bool:
    """Whether a name is given a new variable, or a placeholder."""
    statement = module.names.parents.get(mention)
    if not isinstance(statement, ast.Assign) or statement.targets != [mention]:
        return False
    value = statement.value
    if not isinstance(value, ast.Call):
        return False
    if name_of(module, value) in (*_VARIABLES, *PLACEHOLDERS):
        return True
    target = graph.target(module, value.func)
    if target is None or not isinstance(target.node, ast.FunctionDef):
        return False
    returns = [one for one in walk(target.node) if isinstance(one, ast.Return)]
    given = returns[0].value if len(returns) == 1 else None
    if isinstance(given, ast.Name):
        given = target.module.names.only_value(given)
    return isinstance(given, ast.Call) and name_of(target.module, given) in _VARIABLES


def _is_straight(module: Module, home: Scope, mention: ast.Name) -> bool:
    """Whether a scope runs a statement once, whatever happens."""
    for one in module.names.ancestors(module.names.statement(mention)):
        if one is home.node:
            return True
        if not isinstance(one, ast.With) and not (isinstance(one, ast.stmt) and is_main_guard(one)):
            return False
    return False


def _runs_at_once(module: Module, home: Scope, mention: ast.Name) -> bool:
    """Whether a mention is of the scope itself, and no function's that is called later."""
    names = module.names
    scope = names.scope_of_name[mention]
    if scope is home:
        return True
    lazy = any(isinstance(one, ast.GeneratorExp) for one in names.ancestors(mention))
    return not scope.is_class and not lazy and scope.function() is home.function()
