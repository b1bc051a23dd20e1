"""A method that builds an object's graph, called right behind its constructor: its last statement.

    model = Model(config)
    model.build()

The constructor builds it: `self.build()` is the last that it does, and the call goes. So it is
where the program makes one object, and calls the method once, with nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import constructor_of, session_calls, trains
from migrate_mgpu.models.normalize.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


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
    """The methods that build a graph, themselves or by others, and take nothing."""
    methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
    sessions = session_calls(module)

    def builds(node: ast.FunctionDef, seen: frozenset[str]) -> bool:
        for part in walk(node):
            if isinstance(part, ast.Call):
                if part in sessions or trains(module, part):
                    return True
                if name_of(module, part) in PLACEHOLDERS:
                    return True
                func = part.func
                if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
                    inner = methods.get(func.attr) if func.attr not in seen else None
                    if inner is not None and builds(inner, seen | {func.attr}):
                        return True
        return False

    for name, method in methods.items():
        arguments = method.args
        plain = len(arguments.args) == 1 and not arguments.vararg and not arguments.kwarg
        plain = plain and not arguments.kwonlyargs and not arguments.posonlyargs
        if method is not constructor and plain and not method.decorator_list:
            if builds(method, frozenset({name})):
                yield method


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
    if mentions != [func] or not Layout(caller.source, call).owns_lines:
        return {}
    assert after is not None
    me = constructor.args.args[0].arg
    edits = {caller: [without_paragraph(caller.source, after)]}
    edit = at_the_end(module, constructor, [f"{me}.{method.name}()"])
    edits.setdefault(module, []).append(edit)
    return edits
