"""Constants of a network's class, which its methods read of their object: the module's.

class Net:                                  WIDTH = 8
    WIDTH = 8
    def conv(self, x):                      class Net:
        return dense(x, self.WIDTH)             def conv(self, x):
                                                    return dense(x, WIDTH)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.models.front.session.scope import session_calls, trains
from migrate_mgpu.models.normalize.objects.graph_methods import builds
from migrate_mgpu.models.normalize.objects.network_methods import is_base, is_plain
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments, without_paragraph


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such constant; none where there is none. ``own`` may change."""
    for module in modules:
        for owner in module.tree.body if module in own else ():
            if not isinstance(owner, ast.ClassDef) or not is_plain(owner):
                continue
            for statement in owner.body:
                if isinstance(statement, ast.Assign) and _is_constant(statement.value):
                    edits = _moved(module, graph, owner, statement)
                    builder = edits and any(
                        isinstance(one, ast.FunctionDef) and builds(Function(module, one), graph)
                        for one in owner.body
                    )
                    if builder and not _runs(module, owner) and not is_base(modules, graph, owner):
                        return {module: edits}
    return {}


def _runs(module: Module, owner: ast.ClassDef) -> bool:
    """Whether a class trains, or has a session: it stays one, with its constants."""
    sessions = {*session_calls(module)}
    return any(part in sessions or trains(module, part) for part in walk(owner))


def _is_constant(value: ast.expr) -> bool:
    """Whether a value is the same wherever it is written, and nothing can change it."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_constant, value.elts))
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    return isinstance(value, ast.Constant)


def _moved(
    module: Module, graph: CallGraph, owner: ast.ClassDef, statement: ast.Assign
) -> list[Edit]:
    target, names, source = statement.targets[0], module.names, module.source
    if not isinstance(target, ast.Name) or len(statement.targets) > 1:
        return []
    name = target.id
    if name.startswith("__"):
        return []  # a class's own spelling of it
    found: list[Edit] = []
    for other in graph.modules:
        for read in other.names.attributes.get(name, ()):
            if is_of_another(other, read, owner):
                continue
            if class_of(other, read) is not owner or not isinstance(read.ctx, ast.Load):
                return []
            found.append(Edit(*source.span(read), name))
    if not found or any(name in other.names.module_scope.bindings for other in graph.modules):
        return []  # modules may be read as one
    inside = names.scopes[owner]
    if any(home is not inside for one, home in names.scope_of_name.items() if one.id == name):
        return []
    mentions = [one for one in names.mentions(name, inside) if one is not target]
    layout, top = Layout(source, statement), Layout(source, owner)
    if mentions or names.only_binding(target) is None or not layout.owns_lines:
        return []
    start = start_with_comments(source.text, top.line_start)
    newline = source.newline
    line = f"{name} = {source.code(statement.value)}{newline}{newline}{newline}"
    gone = without_paragraph(source, statement)
    if len(owner.body) == 1:
        gone = layout.replace(["pass"])
    return [Edit(start, start, line), gone, *found]
