"""Functions that a search asks for scores, where it is called.

    def scores(ids):
        logits = network(x, ids, reuse=True)
        return logits[:, -1]
    found, _, _ = beam_search.beam_search(scores, start, 5, 20, 100, 0.6)

becomes `beam_search.beam_search(lambda ids: network(x, ids, reuse=True)[:, -1], start, ...)`: what
a search computes with stands where the graph is built, and no function reads parts of it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.searches import search_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_WHOLE = (ast.Name, ast.Constant, ast.Call, ast.Subscript, ast.Attribute, ast.Tuple, ast.List)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one search; none where there is none."""
    for call in module.names.calls:
        if search_of(module, call) and call.args and isinstance(call.args[0], ast.Name):
            edits = _edits(module, call.args[0])
            if edits:
                return edits
    return []


def _edits(module: Module, name: ast.Name) -> list[Edit]:
    names = module.names
    home = names.scope_of_name[name]
    bindings = home.bindings.get(name.id, [])
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return []
    arguments = node.args
    plain = not (arguments.defaults or arguments.vararg or arguments.kwarg or arguments.kwonlyargs)
    if len(names.mentions(name.id, home)) != 1 or not plain or arguments.posonlyargs:
        return []
    code, layout = module.source.code(node), Layout(module.source, node)
    body = _expression(module, node)
    if body is None or "#" in code or not layout.owns_lines:
        return []
    given = ", ".join(one.arg for one in arguments.args)
    text = f"lambda {given}: {body}"
    return [layout.replace([]), Edit(*module.source.span(name), text)]


def _expression(module: Module, node: ast.FunctionDef) -> str | None:
    """What a function returns, as one expression; None where it does more than compute it."""
    names, source = module.names, module.source
    scope, values = names.scopes[node], dict[str, ast.expr]()
    *above, last = node.body
    parameters = {one.arg for one in node.args.args}
    for statement in above:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        if not isinstance(target, ast.Name) or target.id in parameters or target.id in values:
            return None
        read = [one for one in names.mentions(target.id, scope) if one is not target]
        if len(read) != 1 or position(read[0]) < position(statement):
            return None
        values[target.id] = statement.value
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    inner = (*values.values(), last.value)
    if any(isinstance(one, (ast.Lambda, ast.comprehension, ast.NamedExpr, ast.Await, ast.Yield))
           for value in inner for one in walk(value)):  # fmt: skip
        return None

    def written(value: ast.expr) -> str:
        start, text = source.span(value)[0], source.code(value)
        for part in sorted(walk(value), key=_place, reverse=True):
            if isinstance(part, ast.Name) and part.id in values:
                first, end = (one - start for one in source.span(part))
                made = values[part.id]
                code = written(made)
                code = code if isinstance(made, _WHOLE) else f"({code})"
                text = text[:first] + code + text[end:]
        return one_line(text)

    return written(last.value)


def one_line(text: str) -> str:
    """The lines of an expression as one."""
    head, *rest = (line.strip() for line in text.split("\n"))
    for line in rest:
        head += line if head.endswith("(") or line.startswith(")") else f" {line}"
    return head


def _place(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
