"""A method that builds an object's graph, called right behind its constructor: its last statement.

    model = Model(config)
    model.build()

The constructor builds it: `self.build()` is the last that it does, and the call goes. So it is
where the method makes the session, the program makes one object, and calls the method once, with
nothing. What the constructor sets to None for it (`self.sess = None`), and the method first sets,
it no longer sets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import position, statement_value, walk
from migrate_mgpu.api.graph import INITIALIZES, SETTINGS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import constructor_of, session_calls
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

# What code calls that runs a graph, and builds nothing of its network.
_OF_SESSIONS = (*SETTINGS, *INITIALIZES, "Session", "InteractiveSession", "ConfigProto",
                "GPUOptions", "train.Saver", "summary.FileWriter", "summary.merge", "device",
                "get_default_graph", "train.checkpoint_exists")  # fmt: skip


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such method; none where there is none. ``own`` may change."""
    for module in modules:
        for owner in module.tree.body if module in own else ():
            constructor = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
            if constructor is None or not may_be_added_to(module, constructor):
                continue
            made = graph.references(Function(module, constructor))
            call = made[0].call if len(made) == 1 else None
            if call is None or made[0].module not in own:
                continue
            assert isinstance(owner, ast.ClassDef)
            for method in _builders(module, owner, constructor):
                edits = _moved(module, constructor, method, made[0].module, call, graph)
                if edits:
                    return edits
    return {}


def _builders(
    module: Module, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> Iterator[ast.FunctionDef]:
    """The methods that make the session of the object's graph, or surely call one that does.

    One whose object is given a session builds a graph behind it, which is read where it is.
    """
    methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
    sessions = session_calls(module)
    for method in methods.values():
        arguments = method.args
        plain = len(arguments.args) == 1 and not arguments.vararg and not arguments.kwarg
        plain = plain and not arguments.kwonlyargs and not arguments.posonlyargs
        if method is not constructor and plain and not method.decorator_list:
            inside = {part for one in _reached(method, methods) for part in walk(one)}
            made = [one for one in sessions if one in inside]
            # What trains or tests what is built already does so where it is called.
            if any(_is_kept(module, one) for one in made) or (made and builds_more(module, inside)):
                yield method


def _is_kept(module: Module, session: ast.Call) -> bool:
    """Whether the object has a session afterwards: one of a method's own trains, or tests."""
    made = module.names.statement(session)
    return isinstance(made, ast.Assign) and not isinstance(made.targets[0], ast.Name)


def builds_more(module: Module, parts: Iterable[ast.AST]) -> bool:
    """Whether code builds more of a graph than a session's own things."""
    names = {name_of(module, one) for one in parts if isinstance(one, ast.Call)}
    return any(name and not name.startswith(_OF_SESSIONS) for name in names)


def _moved(
    module: Module,
    constructor: ast.FunctionDef,
    method: ast.FunctionDef,
    caller: Module,
    made: ast.Call,
    graph: CallGraph,
) -> dict[Module, list[Edit]]:
    """The constructor calls a method; nothing where it is not called right behind it, and once."""
    names = caller.names
    statement = names.statement(made)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign):
        return {}
    if statement.value is not made or len(statement.targets) > 1:
        return {}
    if not graph.runs_once(caller, made):
        return {}
    block = names.block(statement)
    behind = block[block.index(statement) + 1 :]
    after = behind[0] if behind else None
    call = after.value if isinstance(after, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        return {}
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != method.name:
        return {}
    if not isinstance(func.value, ast.Name) or func.value.id != target.id:
        return {}
    mentions = [one for m in graph.modules for one in m.names.attributes.get(method.name, ())]
    assert after is not None
    if mentions != [func] or not Layout(caller.source, after).owns_lines:
        return {}
    lines = [f"{constructor.args.args[0].arg}.{method.name}()"]
    edits = {caller: [without_paragraph(caller.source, after)]}
    own, last = edits.setdefault(module, []), constructor.body[-1]
    nones = list(_nones(module, constructor, method))
    own += (without_paragraph(module.source, one) for one in nones if one is not last)
    if last in nones:
        own.append(Layout(module.source, last).replace(lines))
    else:
        own.append(at_the_end(module, constructor, lines))
    return edits


def _nones(
    module: Module, constructor: ast.FunctionDef, method: ast.FunctionDef
) -> Iterator[ast.stmt]:
    """The constructor's `self.sess = None`, where the method sets that before anything reads it."""
    owner = module.names.parents[constructor]
    assert isinstance(owner, ast.ClassDef)
    methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
    reached = list(_reached(method, methods))
    for statement in constructor.body:
        name = _set(constructor, statement)
        if name is None or not is_none(statement_value(statement)):
            continue
        inside = [n for one in _named(method, methods) for n in _of_object(one, name)]
        sets = [
            target
            for one in reached
            for line in in_line(one.body)
            for target in (line.targets if isinstance(line, ast.Assign) else [])
            if target in inside
        ]
        others = [n for n in _of_object(constructor, name) if n not in _targets(statement)]
        reads = [n for n in inside if isinstance(n.ctx, ast.Load)]
        if len(sets) == 1 and not others and all(_is_behind(module, sets[0], n) for n in reads):
            yield statement


def _reached(
    method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef]
) -> Iterator[ast.FunctionDef]:
    """A method, and those that it surely calls, each once."""
    found = {method.name: method}
    waiting = [method]
    while waiting:
        for line in in_line(waiting.pop().body):
            call = line.value if isinstance(line, (ast.Expr, ast.Assign)) else None
            func = call.func if isinstance(call, ast.Call) else None
            if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
                inner = methods.get(func.attr)
                if inner is not None and func.attr not in found:
                    found[func.attr] = inner
                    waiting.append(inner)
    yield from found.values()


def _named(
    method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef]
) -> Iterator[ast.FunctionDef]:
    """A method, and all that it, or one of them, may call, each once."""
    found = {method.name: method}
    waiting = [method]
    while waiting:
        one = waiting.pop()
        for name in methods.keys() - found.keys():
            if _of_object(one, name):
                found[name] = methods[name]
                waiting.append(methods[name])
    yield from found.values()


def _set(constructor: ast.FunctionDef, statement: ast.stmt) -> str | None:
    """The attribute of the object that a statement sets, alone."""
    (target,) = _targets(statement) if len(_targets(statement)) == 1 else (None,)
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
        return None
    return target.attr if target.value.id == constructor.args.args[0].arg else None


def _targets(statement: ast.stmt) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else []


def _of_object(method: ast.FunctionDef, name: str) -> list[ast.Attribute]:
    """The mentions of an attribute of the object in one of its methods."""
    me = method.args.args[0].arg if method.args.args else ""
    return [
        part
        for part in walk(method)
        if isinstance(part, ast.Attribute)
        and part.attr == name
        and isinstance(part.value, ast.Name)
        and part.value.id == me
    ]


def _is_behind(module: Module, first: ast.AST, node: ast.AST) -> bool:
    """Whether a node stands behind another one in the same method."""
    same = module.names.scope_at(first) is module.names.scope_at(node)
    return same and position(node) > position(first)
