"""Functions that make a dataset and give a batch of it: they give the dataset.

`images, labels = get_input()`, whose function ends with `return iterator.get_next()`, becomes

    iterator = get_input().make_one_shot_iterator()
    images, labels = iterator.get_next()

and the function ends with `return dataset`. What it computes of the batch, or tells a summary of
it, is done where it is called. One that gives the iterator gives the dataset as well.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_MAKER = "make_one_shot_iterator"
_NEXT = "get_next"


@record(frozen=True)
class _End:
    """The end of a function: the statements from an iterator to its element, and the dataset.

    ``behind`` are those from the element on, where something follows it, and ``iterator`` its name.
    """

    statements: tuple[ast.stmt, ...]
    dataset: ast.expr
    behind: tuple[ast.stmt, ...] = ()
    iterator: str = ""


def giving_datasets(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one such function and all its calls; none where there is none."""
    for module in modules:
        for node in module.tree.body if _MAKER in module.source.text else ():
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                end = _end(module, node, graph)
                edits = _edits(module, node, end, graph) if end is not None else {}
                edits = edits or _of_iterator(module, node, graph)
                if edits:
                    return edits
    return {}


def _of_iterator(
    module: Module, node: ast.FunctionDef, graph: CallGraph
) -> dict[Module, list[Edit]]:
    """The edits of a function that makes an iterator and gives it, and of all its calls."""
    names, source, last = module.names, module.source, node.body[-1]
    given = last.value if isinstance(last, ast.Return) else None
    if not isinstance(given, ast.Name) or names.scope_of_name[given] is not names.scopes[node]:
        return {}
    made = names.only_value(given)
    func = made.func if isinstance(made, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != _MAKER or not _is_plain(made):
        return {}
    above, dataset = names.statement(func), func.value
    named = isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name)
    returns = [one for one in _own(node.body) if isinstance(one, ast.Return)]
    if not named or not isinstance(dataset, ast.Name) or len(returns) != 1:
        return {}
    layout, mentions = Layout(source, above), names.mentions(given.id, names.scopes[node])
    if len(mentions) != 2 or not layout.owns_lines:
        return {}
    found = {
        module: [
            Edit(layout.line_start, layout.next_line, ""),
            Edit(*source.span(given), source.code(dataset)),
        ]
    }
    references = graph.references(Function(module, node))
    for one in references:
        statement = one.module.names.parents.get(one.call) if one.call is not None else None
        if one.call is None or not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return {}
        end = one.module.source.span(one.call)[1]
        found.setdefault(one.module, []).append(Edit(end, end, f".{_MAKER}()"))
    return found if references else {}


def _is_plain(call: ast.expr | None) -> bool:
    return isinstance(call, ast.Call) and not call.args and not call.keywords


def _edits(
    module: Module, node: ast.FunctionDef, end: _End, graph: CallGraph
) -> dict[Module, list[Edit]]:
    source = module.source
    layouts = [Layout(source, one) for one in end.statements]
    if not all(layout.owns_lines for layout in layouts):
        return {}
    text = f"{layouts[0].indent}return {source.code(end.dataset)}{source.newline}"
    found = {module: [Edit(layouts[0].line_start, layouts[-1].next_line, text)]}
    between = source.text[layouts[0].line_start : layouts[-1].next_line]
    taken: dict[ast.AST, set[str]] = {}
    references = graph.references(Function(module, node))
    for reference in references:
        home, call = reference.module, reference.call
        statement = home.names.parents.get(call) if call is not None else None
        if call is None or not isinstance(statement, (ast.Assign, ast.Return)):
            return {}
        layout = Layout(home.source, statement)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if statement.value is not call or len(targets) > 1 or not layout.owns_lines:
            return {}
        if end.behind:
            around = home.names.scope_at(call).function()
            made = (end.iterator, f"{home.source.code(call)}.{_MAKER}()")
            place = around if isinstance(around, ast.FunctionDef) else home.tree
            moved = MovedCall(home, place, statement, node, "", module, [*end.behind], made).edit()
            if moved is None:
                return {}
            found.setdefault(home, []).append(moved)
            continue
        scope = home.names.scope_at(call)
        own = taken.setdefault(scope.node, set())
        wished = ["iterator", f"{node.name}_iterator", *(f"iterator_{i}" for i in range(2, 9))]
        name = home.names.fresh(scope, *(one for one in wished if one not in own))
        own.add(name)
        given = f"{home.source.code(targets[0])} =" if targets else "return"
        lines = (
            f"{name} = {home.source.code(call)}.{_MAKER}()",
            f"{given} {name}.{_NEXT}()",
        )
        text = f"{home.source.newline}{layout.indent}".join(lines)
        found.setdefault(home, []).append(Edit(*home.source.span(statement), text))
    return found if references and (end.behind or "#" not in between) else {}


def _end(module: Module, node: ast.FunctionDef, graph: CallGraph) -> _End | None:
    """The end of a function that gives the next element of an iterator, and nothing else."""
    body = node.body
    last = body[-1]
    followed = _followed(module, node, graph)
    if followed is not None:
        return followed
    if sum(isinstance(one, ast.Return) for one in _own(node.body)) != 1:
        return None
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    value = last.value
    statements: list[ast.stmt] = [last]
    drawn = body[-2] if len(body) > 1 else None
    if isinstance(drawn, ast.Assign) and not _is_next(value):
        if len(drawn.targets) != 1 or _names(drawn.targets[0]) != _names(value):
            return None
        value, statements = drawn.value, [drawn, last]
    if not _is_next(value):
        return None
    assert isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    made: ast.expr = value.func.value
    if isinstance(made, ast.Name):
        index = len(body) - len(statements) - 1
        above = body[index] if index >= 0 else None
        if not isinstance(above, ast.Assign) or ast.unparse(above.targets[0]) != made.id:
            return None
        if len(module.names.scopes[node].bindings[made.id]) != 1 or len(above.targets) != 1:
            return None
        mentions = module.names.mentions(made.id, module.names.scopes[node])
        if len(mentions) != 2:
            return None
        made, statements = above.value, [above, *statements]
    func = made.func if isinstance(made, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != _MAKER:
        return None
    assert isinstance(made, ast.Call)
    if made.args or made.keywords or not isinstance(func.value, (ast.Name, ast.Call)):
        return None
    return _End(tuple(statements), func.value)


def _followed(module: Module, node: ast.FunctionDef, graph: CallGraph) -> _End | None:
    """The end of a function that makes an iterator, draws of it once, and does more."""
    body = node.body
    if any(isinstance(one, ast.Return) for one in _own(body[:-1])) or len(body) < 3:
        return None
    for place, (above, drawn) in enumerate(zip(body, body[1:])):
        made = above.value if isinstance(above, ast.Assign) else None
        func = made.func if isinstance(made, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != _MAKER:
            continue
        assert isinstance(above, ast.Assign) and isinstance(made, ast.Call)
        target, taken = above.targets[0], drawn.value if isinstance(drawn, ast.Assign) else None
        if not isinstance(target, ast.Name) or taken is None or not _is_next(taken):
            return None
        mentions = module.names.mentions(target.id, module.names.scopes[node])
        if len(mentions) != 2 or ast.unparse(taken) != f"{target.id}.{_NEXT}()":
            return None
        behind = tuple(body[place + 1 :])
        if made.args or made.keywords or not isinstance(func.value, (ast.Name, ast.Call)):
            return None
        calls = (part for one in behind for part in walk(one) if isinstance(part, ast.Call))
        if any(graph.target(module, call.func) is not None for call in calls):
            return None  # it is more than an input
        returned = behind[-1]
        assert isinstance(drawn, ast.Assign)
        if not isinstance(returned, ast.Return) or returned.value is None:
            return None
        if len(behind) == 2 and _names(drawn.targets[0]) == _names(returned.value):
            return None  # it does no more
        return _End((above, *behind), func.value, behind, target.id)
    return None


def _own(body: Sequence[ast.stmt]) -> list[ast.AST]:
    """The nodes of a function, without those of functions in it."""
    found: list[ast.AST] = []
    for statement in body:
        if not isinstance(statement, ast.FunctionDef):
            found += walk(statement)
    return found


def _is_next(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == _NEXT
        and not node.args
        and not node.keywords
    )


def _names(node: ast.expr) -> list[str | None]:
    """The names that a target or a value has, in order."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    return [part.id if isinstance(part, ast.Name) else None for part in parts]
