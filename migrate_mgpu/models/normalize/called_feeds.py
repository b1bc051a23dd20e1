"""What is fed, as functions give it: in statements of its own.

`sess.run(loss, feed_dict=feed(True))` becomes `fed = feed(True)` and
`sess.run(loss, feed_dict=fed)`, and `return {x: images, y: labels}` of `feed` becomes
`feed_dict = {...}` and `return feed_dict`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_SIMPLE = (ast.Assign, ast.Expr)
# What computes a part of a statement when it comes to it, or several times, or never.
_LATER = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.Compare, *COMPREHENSIONS)


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one run, or for one function; none where there is none."""
    for call in module.names.calls:
        fed = _fed(call)
        target = graph.target(module, fed.func) if isinstance(fed, ast.Call) else None
        if not isinstance(fed, ast.Call) or target is None or target.module is not module:
            continue
        edits = _named(module, call, fed)
        if edits and isinstance(target.node, ast.FunctionDef):
            return [*edits, *_returned(module, target.node)]
    for call in _named_feeds(module):
        target = graph.target(module, call.func)
        if target is not None and target.module is module:
            if isinstance(target.node, ast.FunctionDef):
                edits = _returned(module, target.node)
                if edits:
                    return edits
    return []


def _fed(call: ast.Call) -> ast.expr | None:
    """What a run is fed."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("run", "eval"):
        return None
    named = (one.value for one in call.keywords if one.arg == "feed_dict")
    place = 1 if call.func.attr == "run" else 0
    return next(named, call.args[place] if len(call.args) > place else None)


def _named(module: Module, run: ast.Call, fed: ast.Call) -> list[Edit]:
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
    mentions = module.names.mentions(target.id, module.names.scope_of_name[target])
    users = (module.names.parents[one] for one in mentions)
    return any(isinstance(one, ast.keyword) and one.arg == "feed_dict" for one in users)


def _returned(module: Module, node: ast.FunctionDef) -> list[Edit]:
    """A name for the dictionary that a function ends with."""
    last = node.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    layout = Layout(module.source, last)
    if not isinstance(value, ast.Dict) or not value.keys or not layout.owns_lines:
        return []
    if not all(isinstance(key, (ast.Name, ast.Attribute)) for key in value.keys):
        return []
    name = module.names.fresh(module.names.scopes[node], "feed_dict", "fed")
    start, _ = module.source.span(last)
    begin, end = module.source.span(value)
    behind = f"{module.source.newline}{module.source.indent_of(last)}return {name}"
    return [Edit(start, begin, f"{name} = "), Edit(end, end, behind)]
