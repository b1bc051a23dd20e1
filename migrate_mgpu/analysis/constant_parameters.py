"""Which constants a parameter is, in all calls of its function, and what conditions ask of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrate_mgpu.analysis.arguments import bind, defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk


def constants(
    module: Module,
    name: ast.Name,
    graph: CallGraph,
    methods: bool = False,
    seen: frozenset[tuple[ast.AST, str]] = frozenset(),
) -> list[ast.Constant] | None:
    """The constants that a parameter is; None for something else, or where a call is not known.

    ``methods``: a parameter may be one of a method, or of a function within another, too.
    """
    binding = module.names.only_binding(name)
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    around = home.function() if home is not None else None
    if binding is None or binding.kind != "parameter" or not isinstance(around, ast.FunctionDef):
        return None
    if (around, name.id) in seen or not (methods or around in module.tree.body):
        return None
    function = Function(module, around)
    defaults = [default for _, default in defaults_of(around.args)]
    found: list[ast.Constant] = []
    for reference in graph.references(function):
        if reference.call is None:
            return None
        given = (bind(reference.call, function).every() or {}).get(name.id)
        if isinstance(given, ast.Constant):
            found.append(given)
            continue
        if not isinstance(given, ast.Name):
            return None
        # A default is one of the function's module, whoever calls it.
        asked = module if given in defaults else reference.module
        more = constants(asked, given, graph, methods, seen | {(around, name.id)})
        if more is None:
            return None
        found += more
    return found


def left_out(module: Module, name: ast.expr) -> ast.expr | None:
    """The default of a parameter that no call of its function gives; None for anything else.

    `def cell(units, reuse=False)`, all calls of which are `cell(64)`.
    """
    if not isinstance(name, ast.Name) or not module.names.is_parameter(name):
        return None
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    around = home.function() if home is not None else None
    if not isinstance(around, ast.FunctionDef) or around.decorator_list:
        return None
    default = dict(defaults_of(around.args)).get(name.id)
    outer = module.names.scope_at(around)
    if default is None or isinstance(outer.node, ast.ClassDef):
        return None  # a method may be called from anywhere
    if len(outer.bindings[around.name]) != 1:
        return None
    for mention in module.names.mentions(around.name, outer):
        call = module.names.parents[mention]
        if not isinstance(call, ast.Call) or call.func is not mention:
            return None
        given = bind(call, Function(module, around)).given(name.id)
        if given is not None and not _says(module, given, default):
            return None
    return default


def _says(module: Module, given: ast.expr, default: ast.expr) -> bool:
    """Whether what a call gives a parameter is its default, or a parameter that is no other."""
    if isinstance(given, ast.Name):
        known = left_out(module, given)
        return known is not None and ast.dump(known) == ast.dump(default)
    return isinstance(given, ast.Constant) and ast.dump(given) == ast.dump(default)


def truth(
    test: ast.expr, values: Callable[[ast.Name], Sequence[ast.Constant] | None]
) -> bool | None:
    """Whether `wd is not None`, `wd` holds for all constants that its name is.

    None where that is not the same for all, or not known.
    """
    names = [part for part in walk(test) if isinstance(part, ast.Name)]
    known = values(names[0]) if len(names) == 1 else None

    def told(given: ast.Constant) -> bool | None:
        def value(part: ast.expr) -> object:
            if part in names:
                return given.value
            return part.value if isinstance(part, ast.Constant) else Unknown

        return holds(test, value)

    found = {told(one) for one in known or ()}
    return found.pop() if len(found) == 1 else None
