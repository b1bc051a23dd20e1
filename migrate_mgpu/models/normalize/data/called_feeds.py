"""What is fed, as functions give it: in statements of its own.

`sess.run(loss, feed_dict=feed(True))` becomes `fed = feed(True)` and
`sess.run(loss, feed_dict=fed)`, and `return {x: images, y: labels}` of `feed` becomes
`feed_dict = {...}` and `return feed_dict`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.models.front.session.origins import arguments_by_name
from migrate_mgpu.models.front.session.program import fed_pairs
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
# What computes a part of a statement when it comes to it, or several times, or never.
_LATER = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.Compare, *COMPREHENSIONS)


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one run, or for one function; none where there is none."""
    for call in module.names.calls:
        fed = _fed(call)
        target = _target(module, fed, graph) if isinstance(fed, ast.Call) else None
        if not isinstance(fed, ast.Call) or target is None or target.module is not module:
            continue
        edits = _named(module, call, fed)
        if edits and isinstance(target.node, ast.FunctionDef):
            return [*edits, *_returned(module, target.node, graph)]
    for call, fed in _passed_dictionaries(module, graph):
        edits = _named(module, call, fed)
        if edits:
            return edits
    for call in _named_feeds(module):
        target = _target(module, call, graph)
        if target is not None and target.module is module:
            if isinstance(target.node, ast.FunctionDef):
                edits = _returned(module, target.node, graph)
                if edits:
                    return edits
    return []


def _target(module: Module, call: ast.Call, graph: CallGraph) -> Function | None:
    """The function that a call reaches; of methods the one that has this name."""
    target = graph.target(module, call.func)
    if target is not None or not isinstance(call.func, ast.Attribute):
        return target
    named = [
        one
        for owner in module.tree.body
        if isinstance(owner, ast.ClassDef)
        for one in owner.body
        if isinstance(one, ast.FunctionDef) and one.name == call.func.attr
    ]
    return Function(module, named[0]) if len(named) == 1 else None


def _fed(call: ast.Call) -> ast.expr | None:
    """What a run is fed."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("run", "eval"):
        return None
    named = (one.value for one in call.keywords if one.arg == "feed_dict")
    place = 1 if call.func.attr == "run" else 0
    return next(named, call.args[place] if len(call.args) > place else None)


def _passed_dictionaries(module: Module, graph: CallGraph) -> list[tuple[ast.Call, ast.expr]]:
    """Calls that give dictionaries to functions which feed them, with these dictionaries."""
    found: list[tuple[ast.Call, ast.expr]] = []
    fed = [_fed(call) for call in module.names.calls]
    taking = {
        (binding.node, one.id)
        for one in fed
        if isinstance(one, ast.Name)
        and (binding := module.names.only_binding(one)) is not None
        and binding.kind == "parameter"
    }
    for call in module.names.calls if taking else ():
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        if not any(isinstance(one, ast.Dict) for one in given):
            continue
        target = _target(module, call, graph)
        if target is None or target.module is not module:
            continue
        for name, value in arguments_by_name(target, call).items():
            bound = module.names.scopes[target.node].bindings.get(name, ())
            if any((one.node, name) in taking for one in bound) and _is_written(module, value):
                found.append((call, value))
    return found


def _named(module: Module, run: ast.Call, fed: ast.expr) -> list[Edit]:
    """A name for what a function gives, in a statement above the run's."""
    statement = module.names.statement(run)
    layout = Layout(module.source, statement)
    around, inside = {*module.names.ancestors(run), run}, {*walk(fed)}
    others = [one for one in walk(statement) if isinstance(one, ast.Call)]
    if not all(one in around or one in inside for one in others):
        return []  # it would be called before them
    if not isinstance(statement, _SIMPLE) or not layout.owns_lines:
        return []
    if any(isinstance(one, _LATER)
           for one in module.names.ancestors(run)):  # fmt: skip
        return []
    name = module.names.fresh(module.names.scope_at(run), "fed", "feed_dict")
    line = f"{name} = {module.source.code(fed)}"
    return [layout.insert_before([line]), Edit(*module.source.span(fed), name)]


@fact_of_text
def _named_feeds(module: Module) -> list[ast.Call]:
    if "feed_dict" not in module.source.text:
        return []
    return [call for call in module.names.calls if _is_named_feed(module, call)]


def _is_named_feed(module: Module, call: ast.Call) -> bool:
    """Whether a call's value gets a name by which something is fed."""
    statement = module.names.parents.get(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    home = module.names.defining_scope(target.id, module.names.scope_of_name[target])
    mentions = module.names.mentions(target.id, home) if home is not None else []
    return any(_is_fed(module, one) for one in mentions)


def _is_fed(module: Module, mention: ast.Name) -> bool:
    """Whether a name is what a run is fed, or a function by that name."""
    parent = module.names.parents[mention]
    if isinstance(parent, ast.keyword):
        return parent.arg == "feed_dict"
    return isinstance(parent, ast.Call) and _fed(parent) is mention


def _returned(
    module: Module, node: ast.FunctionDef, graph: CallGraph, seen: frozenset[ast.AST] = frozenset()
) -> list[Edit]:
    """Names for the dictionaries that a function returns, and for those that it gets of others."""
    found: list[Edit] = []
    for one in walk(node):
        if isinstance(one, ast.Return) and module.names.scope_at(one).node is node:
            found += _named_value(module, one, node, graph)
        value = one.value if isinstance(one, (ast.Assign, ast.Return)) else None
        target = _target(module, value, graph) if isinstance(value, ast.Call) else None
        other = target.node if target is not None and target.module is module else None
        if isinstance(other, ast.FunctionDef) and other is not node and other not in seen:
            found += _returned(module, other, graph, seen | {node})
    return found


def _named_value(
    module: Module, statement: ast.Return, node: ast.FunctionDef, graph: CallGraph
) -> list[Edit]:
    values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    value = next((one for one in values if _is_written(module, one)), None)
    if value is None and isinstance(statement.value, ast.Call):
        target = _target(module, statement.value, graph)
        if target is not None and target.module is module and _gives(module, target.node):
            value = statement.value
    layout = Layout(module.source, statement)
    if value is None or not layout.owns_lines:
        return []
    name = module.names.fresh(module.names.scopes[node], "feed_dict", "fed")
    start, _ = module.source.span(statement)
    begin, end = module.source.span(value)
    if value is statement.value:
        behind = f"{module.source.newline}{module.source.indent_of(statement)}return {name}"
        return [Edit(start, begin, f"{name} = "), Edit(end, end, behind)]
    others = [one for one in values if one is not None and one is not value]
    if any(isinstance(part, ast.Call) for one in others for part in walk(one)):
        return []  # it would be called behind what the dictionary calls
    made = f"{name} = {module.source.code(value)}"
    return [layout.insert_before([made]), Edit(begin, end, name)]


def _gives(module: Module, node: ast.AST) -> bool:
    """Whether a function returns a dictionary, written there or with a name."""
    for one in walk(node):
        value = one.value if isinstance(one, ast.Return) else None
        if isinstance(value, ast.Name):
            value = module.names.only_value(value)
        if _is_written(module, value):
            return True
    return False


def _is_written(module: Module, value: ast.expr | None) -> bool:
    """Whether a value is a dictionary with names and attributes as keys."""
    if isinstance(value, ast.Call) and module.names.qualname(value.func) == "builtins.dict":
        return bool(fed_pairs(value)) and _are_names(key for key, _ in fed_pairs(value))
    return isinstance(value, ast.Dict) and bool(value.keys) and _are_names(value.keys)


def _are_names(keys: Iterable[ast.expr | None]) -> bool:
    return all(isinstance(key, (ast.Name, ast.Attribute)) for key in keys)
