"""Methods that build more of a graph right behind what makes the one object, in its constructor.

`model = Model()` and then `model.build()`: the constructor calls `self.build()` as the last thing
that it does, at the same moment. What is written in its place then, `graph_methods` decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import constructor_of, is_session
from migrate_mgpu.models.normalize.objects.graph_methods import is_called_once
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

_RUNS = ("run", "eval", "restore", "save")  # methods of a session, a tensor, a saver
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom)


def by_constructors(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such method and its call; none where there is none."""
    for module in modules:
        for owner in module.tree.body:
            node = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
            if node is not None and isinstance(owner, ast.ClassDef):
                edits = _moved(module, graph, owner, node)
                if edits and edits.keys() <= {*modules}:
                    return edits
    return {}


def _moved(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> dict[Module, list[Edit]]:
    made = graph.references(Function(module, constructor))
    if len(made) != 1 or made[0].call is None or not constructor.args.args:
        return {}
    there, call = made[0].module, made[0].call
    statement = there.names.parents.get(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return {}
    target, last = statement.targets[0], Layout(module.source, constructor.body[-1])
    if not isinstance(target, ast.Name) or not last.owns_lines:
        return {}
    if any(isinstance(one, _LEAVES) for one in walk(constructor)):
        return {}
    block = there.names.block(statement)
    behind = block[block.index(statement) + 1 :][:1]
    following = behind[0] if behind and isinstance(behind[0], ast.Expr) else None
    method = _method(there, owner, target.id, following)
    if following is None or method is None or not Layout(there.source, following).owns_lines:
        return {}
    assert isinstance(following.value, ast.Call)
    func = following.value.func
    assert isinstance(func, ast.Attribute)
    if not is_called_once(module, graph, constructor, method, func):
        return {}
    if not _builds(module, graph, method, target.id):
        return {}
    given = _given(module, constructor, call, following.value)
    return {} if given is None else _written(module, constructor, there, call, following, given)


def _given(
    module: Module, constructor: ast.FunctionDef, made: ast.Call, call: ast.Call
) -> dict[str, ast.Name] | None:
    """The names that the method is given, by the parameters that bring them; None: it cannot be.

    The constructor is given them as well: nothing lies between the two calls.
    """
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    given = {one.id: one for one in values if isinstance(one, ast.Name)}
    arguments = constructor.args
    if given and (arguments.vararg or arguments.kwarg or arguments.kwonlyargs):
        return None
    if given and len(made.args) > len(_required(constructor)) - 1:
        return None  # what has a default stands behind them
    scope = module.names.scopes[constructor]
    known = {one.id for one in walk(constructor) if isinstance(one, ast.Name)} | {*scope.bindings}
    return None if known & given.keys() else given


def _method(
    module: Module, owner: ast.ClassDef, name: str, statement: ast.Expr | None
) -> ast.FunctionDef | None:
    """The method that a statement calls of an object: with nothing, with constants or names."""
    call = statement.value if statement is not None else None
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
        return None
    if not isinstance(func.value, ast.Name) or func.value.id != name:
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(isinstance(one, (ast.Constant, ast.Name)) for one in given):
        return None
    if any(isinstance(one, ast.Name) and one.id == name for one in given):
        return None
    if "\n" in module.source.code(call):
        return None
    found = [one for one in owner.body if getattr(one, "name", "") == func.attr]
    method = found[0] if len(found) == 1 else None
    plain = isinstance(method, ast.FunctionDef) and not method.decorator_list
    return method if isinstance(method, ast.FunctionDef) and plain else None


def _builds(module: Module, graph: CallGraph, method: ast.FunctionDef, name: str) -> bool:
    """Whether a method builds parts of a graph, and neither it nor what it calls runs any.

    None of them mentions the object by the ``name`` that it has outside: it is not made yet.
    """
    builds = False
    for function in _reached(module, graph, method, set()):
        for part in walk(function):
            if isinstance(part, ast.Name) and part.id == name:
                return False
            if not isinstance(part, ast.Call):
                continue
            own = graph.target(module, part.func) is not None  # a method may be called `eval`
            runs = not own and getattr(part.func, "attr", "") in _RUNS
            if is_session(module, part) or runs:
                return False
            known = name_of(module, part)
            builds |= bool(known) and not known.startswith(SETTINGS)
    return builds


def _reached(
    module: Module, graph: CallGraph, function: ast.AST, seen: set[ast.AST]
) -> Iterator[ast.AST]:
    """A function, and those of its module that it calls."""
    seen.add(function)
    yield function
    for call in (part for part in walk(function) if isinstance(part, ast.Call)):
        target = graph.target(module, call.func)
        if target is not None and target.module is module and target.node not in seen:
            yield from _reached(module, graph, target.node, seen)


def _required(constructor: ast.FunctionDef) -> list[ast.arg]:
    """The parameters without a default, the object first."""
    arguments = constructor.args
    return arguments.args[: len(arguments.args) - len(arguments.defaults)]


def _written(
    module: Module,
    constructor: ast.FunctionDef,
    there: Module,
    made: ast.Call,
    following: ast.Expr,
    given: Mapping[str, ast.Name],
) -> dict[Module, list[Edit]]:
    """The call goes to the end of the constructor, with the comments above it."""
    source, theirs = module.source, there.source
    assert isinstance(following.value, ast.Call) and isinstance(following.value.func, ast.Attribute)
    last, gone = Layout(source, constructor.body[-1]), Layout(theirs, following)
    start = start_with_comments(theirs.text, gone.line_start)
    indent, newline = source.indent_of(constructor.body[-1]), source.newline
    lines = [one.strip() for one in theirs.text[start : gone.line_start].splitlines()]
    object_end = theirs.span(following.value.func.value)[1] - theirs.span(following)[0]
    lines.append(constructor.args.args[0].arg + theirs.code(following)[object_end:])
    text = newline + "".join(f"{indent}{line}{newline}" for line in lines)
    if not source.text[: last.next_line].endswith("\n"):
        text = newline + text.rstrip()
    end = gone.next_line
    next_end = theirs.text.find("\n", end) + 1
    if theirs.text[:start].endswith(("\n\n", "\r\n\r\n")) and next_end:
        end = end if theirs.text[end:next_end].strip() else next_end
    found = {module: [Edit(last.next_line, last.next_line, text)]}
    found.setdefault(there, []).append(Edit(start, end, ""))
    if given:
        behind = source.span(_required(constructor)[-1])[1]
        found[module].append(Edit(behind, behind, "".join(f", {name}" for name in given)))
        edit = CallEdit(theirs, made)
        for name in given:
            edit.add(name, name)
        found[there] += edit.edits()
    return found
