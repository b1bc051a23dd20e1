"""Names that a program gives to what is TensorFlow's: what they stand for, where they are used.

`slim = tf.contrib.slim` goes, and `slim.conv2d(x, 8)` becomes `tf.contrib.slim.conv2d(x, 8)`. So
does `image_summary = tf.summary.image`, and a name that a function gives to a cell's class. A name
of what TF2 has as well stays, and one that another module imports by name.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import has_alike
from migrate_mgpu.api.graph import COMPUTES, SETTINGS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such name; none where there is none."""
    for module in modules:
        for statement in module.tree.body if module in own else ():
            known = _assigned(module, statement) or _handed_on(module, statement)
            edits = _edits(module, statement, *known, modules, graph) if known else {}
            if edits and edits.keys() <= own:
                return edits
        edits_of_functions = _in_functions(module) if module in own else []
        if edits_of_functions:
            return {module: edits_of_functions}
    return {}


def _in_functions(module: Module) -> list[Edit]:
    """The edits for one name that a function gives to what is TensorFlow's, for itself."""
    names = module.names
    functions = (one for one in walk(module.tree) if isinstance(one, ast.FunctionDef))
    for node in functions:
        for statement in node.body:
            known = _assigned(module, statement)
            layout = Layout(module.source, statement)
            if known is None or len(node.body) == 1 or not layout.owns_lines:
                continue
            (name, value), scope = known, names.scopes[node]
            text = module.source.code(value)
            if len(scope.bindings.get(name, ())) != 1 or "\n" in text:
                continue
            mentions = names.mentions(name, scope)
            used = [one for one in mentions if isinstance(one.ctx, ast.Load)]
            if any(
                names.defining_scope(name, names.scope_of_name[one]) is not scope for one in used
            ):
                continue
            edits = [Edit(*module.source.span(one), text) for one in used]
            return [*edits, Edit(layout.line_start, layout.next_line, "")]
    return []


def _edits(
    module: Module,
    statement: ast.stmt,
    name: str,
    value: ast.Attribute,
    modules: Sequence[Module],
    graph: CallGraph,
) -> dict[Module, list[Edit]]:
    names, text = module.names, module.source.code(value)
    layout = Layout(module.source, statement)
    if len(names.module_scope.bindings[name]) > 1 or not layout.owns_lines or "\n" in text:
        return {}
    mentions = names.mentions(name, names.module_scope)
    used: dict[Module, list[ast.expr]] = {
        module: [one for one in mentions if isinstance(one.ctx, ast.Load)]
    }
    stays = False
    for other in modules:
        if other is module or module not in other.imported:
            continue
        found, by_name = _imported(other, module, name, graph)
        if found and not _is_known(other, text.partition(".")[0]):
            return {}
        used[other] = found
        stays |= by_name
    edits = {
        one: [Edit(*one.source.span(node), text) for node in found]
        for one, found in used.items()
        if found
    }
    if not stays:
        edits.setdefault(module, []).append(Edit(layout.line_start, layout.next_line, ""))
    return edits


def _imported(
    other: Module, module: Module, name: str, graph: CallGraph
) -> tuple[list[ast.expr], bool]:
    """Where another module reads a name of a module, and whether it imports it by name."""
    found: list[ast.expr] = []
    by_name = False
    for node in walk(other.tree):
        if isinstance(node, ast.ImportFrom) and node not in other.names.star_imports:
            by_name |= any(alias.name == name for alias in node.names)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            head, _, last = (other.names.qualname(node) or "").rpartition(".")
            if last == name and module in graph.project.resolve(other, head)[-1:]:
                found.append(node)
    return found, by_name


def _is_known(module: Module, name: str) -> bool:
    """Whether a module calls TensorFlow so."""
    names = module.names
    return any(
        one.id == name and names.qualname(one) in ("tensorflow", "tensorflow.compat.v1")
        for one in names.scope_of_name
    )


def _assigned(module: Module, statement: ast.stmt) -> tuple[str, ast.Attribute] | None:
    """The name and the value of `image_summary = tf.summary.image`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.Attribute):
        return None
    meant = name_of(module, value)
    if not meant or meant in COMPUTES or f"{meant}.".startswith(SETTINGS) or has_alike(meant):
        return None
    return target.id, value


def _handed_on(module: Module, statement: ast.stmt) -> tuple[str, ast.Attribute] | None:
    """The same of a function that gives all of its arguments on as they are:

    def concat(tensors, axis, *args, **kwargs):
        return tf.concat(tensors, axis, *args, **kwargs)
    """
    if not isinstance(statement, ast.FunctionDef) or statement.decorator_list:
        return None
    given, (last, *more) = statement.args, reversed(statement.body)
    call = last.value if isinstance(last, ast.Return) else None
    told = all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in more)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not told:
        return None
    if given.defaults or given.kwonlyargs or given.vararg is None or given.kwarg is None:
        return None
    expected = [*(one.arg for one in (*given.posonlyargs, *given.args)), f"*{given.vararg.arg}"]
    code = module.source.code
    alike = [code(one) for one in call.args] == expected
    alike &= [(one.arg, code(one.value)) for one in call.keywords] == [(None, given.kwarg.arg)]
    return (statement.name, call.func) if alike and name_of(module, call) else None
