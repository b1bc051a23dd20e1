"""Branches that a constant of the program's chooses: `if regression_type == 'lasso': loss = ...`"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.models.front.session.expressions import statements_of

# What may give an object an attribute without its name in the code.
_BY_TEXT = {"setattr", "delattr", "vars"}
_BY_ATTRIBUTE = ("__dict__", "__setattr__", "__getattr__", "__getattribute__", "__slots__")


def is_chosen(module: Module, statement: ast.If, modules: Collection[Module]) -> bool:
    """Whether constants say which branch is taken, and that one gives names to expressions alone.

    The others do that too, or tell that the constant is wrong. ``modules``: all of a program.
    """
    chosen = _taken(module, statement, modules)
    if not chosen or not all(isinstance(one, ast.Assign) for one in chosen):
        return False
    return all(
        isinstance(one, (ast.Assign, ast.Raise, ast.Pass)) or _prints(module, one)
        for one in _statements(statement)
    )


# Methods of a text, which stays as it is.
_ASK_TEXTS = ("startswith", "endswith", "lower", "upper", "strip", "__contains__")


def is_settled(module: Module, statement: ast.If, modules: Collection[Module]) -> bool:
    """Whether what an object, or the program, is told once says which branch is taken.

    The branches give names to expressions, change them, in loops too, or tell of an error. What
    is asked is the same whenever it is asked: it calls nothing, and nothing changes it later.
    """
    plain = (ast.Assign, ast.AugAssign, ast.Raise, ast.Pass, ast.If, ast.For)
    inside = list(statements_of([statement]))
    if not all(isinstance(one, plain) or _prints(module, one) for one in inside):
        return False
    if any(one.orelse for one in inside if isinstance(one, ast.For)):
        return False
    return not any(map(_sets_by_text, modules)) and all(
        _is_asked_alike(module, part, statement, modules)
        for one in inside
        if isinstance(one, ast.If)
        for part in walk(one.test)
    )


def _is_asked_alike(
    module: Module, part: ast.AST, statement: ast.If, modules: Collection[Module]
) -> bool:
    """Whether a part of a condition is the same as long as the object is that it is asked of."""
    if isinstance(part, ast.Call):
        of_text = isinstance(part.func, ast.Attribute) and part.func.attr in _ASK_TEXTS
        return of_text or module.names.qualname(part.func) == "builtins.isinstance"
    if isinstance(part, ast.Attribute):
        stored = [
            (home, one)
            for home in modules
            for one in home.names.attributes.get(part.attr, ())
            if not isinstance(one.ctx, ast.Load)
        ]
        here = module.names.scope_at(statement).function()
        return all(
            isinstance(around := home.names.scope_at(one).function(), ast.FunctionDef)
            and around.name == "__init__"
            and (around is not here or position(one) < position(statement))
            for home, one in stored
        )
    if isinstance(part, ast.Name):
        if (module.names.qualname(part) or "").startswith("builtins."):
            return True
        return module.names.only_binding(part) is not None
    # An item of a list, or of a dictionary, may be another one later.
    return not isinstance(part, (ast.Subscript, ast.NamedExpr, ast.Lambda, ast.Await, ast.Yield))


def expressions_of_branches(statement: ast.If) -> Iterator[ast.expr]:
    """What a statement asks, what its branches compute, and what loops in them go through."""
    for one in statements_of([statement]):
        if isinstance(one, ast.If):
            yield one.test
        elif isinstance(one, ast.For):
            yield one.iter
        elif isinstance(one, (ast.Assign, ast.AugAssign)):
            yield one.value


def surely_made(block: list[ast.stmt]) -> set[str]:
    """The names that statements give a value, whichever branches of theirs are taken."""
    made: set[str] = set()
    for one in block:
        if isinstance(one, ast.Assign):
            made |= {n.id for n in walk(one) if isinstance(n, ast.Name) and _is_stored(n)}
        elif isinstance(one, ast.If):
            made |= surely_made(one.body) & surely_made(one.orelse)
    return made


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def names_made_before(statement: ast.If) -> set[ast.Name]:
    """The mentions of names that a branch has given a value above them."""
    found: set[ast.Name] = set()
    for block in (statement.body, statement.orelse):
        made: set[str] = set()
        for one in block:
            if isinstance(one, ast.If):
                found |= names_made_before(one)
            names = [node for node in walk(one) if isinstance(node, ast.Name)]
            found |= {n for n in names if isinstance(n.ctx, ast.Load) and n.id in made}
            made |= surely_made([one])
    return found


def _taken(module: Module, statement: ast.If, modules: Collection[Module]) -> list[ast.stmt] | None:
    """The statements of the branch that is taken; None where constants do not tell."""
    taken = holds(statement.test, lambda part: _value(module, part, modules))
    if taken is None:
        return None
    block = statement.body if taken else statement.orelse
    if len(block) == 1 and isinstance(block[0], ast.If):
        return _taken(module, block[0], modules)
    return block


def _statements(statement: ast.If) -> Iterator[ast.stmt]:
    for one in (*statement.body, *statement.orelse):
        if isinstance(one, ast.If):
            yield from _statements(one)
        else:
            yield one


def _prints(module: Module, statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and module.names.qualname(call.func) == "builtins.print"


def _value(module: Module, node: ast.expr, modules: Collection[Module]) -> object:
    """A constant, the only value of a name, or that of a setting."""
    if isinstance(node, ast.Attribute):
        return _setting(module, node, modules)
    if isinstance(node, ast.Name):  # a list may change
        value = module.names.only_value(node)
        return value.value if isinstance(value, ast.Constant) else Unknown
    known = constant(node)
    return known if known is not None or is_none(node) else Unknown


def _setting(module: Module, node: ast.Attribute, modules: Collection[Module]) -> object:
    """`config.norm` of `config = Config()`: a constant that its constructor alone gives it."""
    names = module.names
    made = names.only_value(node.value) if isinstance(node.value, ast.Name) else None
    func = made.func if isinstance(made, ast.Call) else None
    known = names.only_definition(func) if isinstance(func, ast.Name) else None
    if not isinstance(known, ast.ClassDef) or known.keywords or known.decorator_list:
        return Unknown
    if any(not isinstance(one, ast.Name) or one.id != "object" for one in known.bases):
        return Unknown
    stores = [
        (home, one)
        for home in modules
        for one in home.names.attributes.get(node.attr, ())
        if not isinstance(one.ctx, ast.Load)
    ]
    if len(stores) != 1 or stores[0][0] is not module or any(map(_sets_by_text, modules)):
        return Unknown
    target = stores[0][1]
    statement = names.statement(target)
    constructor = names.parents.get(statement)
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return Unknown
    if not isinstance(constructor, ast.FunctionDef) or constructor.name != "__init__":
        return Unknown
    me = constructor.args.args[0].arg if constructor.args.args else ""
    own = isinstance(target.value, ast.Name) and target.value.id == me
    if not own or names.parents.get(constructor) is not known:
        return Unknown
    return statement.value.value if isinstance(statement.value, ast.Constant) else Unknown


def _sets_by_text(module: Module) -> bool:
    """Whether a module may give objects attributes whose names it does not write."""
    names = module.names
    by_attribute = any(names.attributes.get(one) for one in _BY_ATTRIBUTE)
    return by_attribute or any(node.id in _BY_TEXT for node in names.scope_of_name)
