"""Averages of the gradients of all towers that stand beside their loop, as functions.

    average = []
    for pairs in zip(*tower_grads):
        average.append((tf.reduce_mean([grad for grad, _ in pairs], 0), pairs[0][1]))

becomes what most programs have, `average = average_gradients(tower_grads)`, which the reader of
towers knows. So does a list comprehension, wherever it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.models.front.towers.loop import is_placed_anew, loops_on_devices
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_NAMES = ("average_gradients", "gradients_of_towers")
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def normalize(module: Module) -> list[Edit]:
    """The edits for one such average; none where there is none."""
    for loop in loops_on_devices(module):
        if not is_placed_anew(module, loop):
            continue
        home = module.names.scope_at(loop)
        for name in dict.fromkeys(_filled(loop)):
            for mention in module.names.mentions(name, home):
                edits = _outlined(module, loop, mention)
                if edits:
                    return edits
    return []


def _filled(loop: ast.For) -> Iterator[str]:
    """The names of the lists that a loop appends to."""
    for call in walk(loop):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        owner = call.func.value
        if call.func.attr == "append" and isinstance(owner, ast.Name):
            yield owner.id


def _outlined(module: Module, towers: ast.For, mention: ast.Name) -> list[Edit]:
    """The edits that make a function of what goes through the gradients of all towers."""
    names = module.names
    starred = names.parents.get(mention)
    called = names.parents.get(starred) if isinstance(starred, ast.Starred) else None
    if not isinstance(called, ast.Call) or len(called.args) != 1 or called.keywords:
        return []
    if names.qualname(called.func) != "builtins.zip" or position(mention) < position(towers):
        return []
    over = names.parents.get(called)
    made = names.parents.get(over) if isinstance(over, ast.comprehension) else over
    statement = names.statement(mention)
    if names.scope_at(statement) is not names.scope_at(towers):
        return []
    if not Layout(module.source, statement).owns_lines:
        return []
    if isinstance(made, ast.ListComp) and len(made.generators) == 1:
        return _of_comprehension(module, statement, made, mention.id)
    if isinstance(made, ast.For) and made is statement and called is made.iter and not made.orelse:
        return _of_loop(module, towers, made, mention.id)
    return []


def _of_comprehension(
    module: Module, statement: ast.stmt, made: ast.ListComp, towers: str
) -> list[Edit]:
    """`opt.apply_gradients([... for pairs in zip(*tower_grads)])`"""
    around = module.names.ancestors(made)
    if not isinstance(made.elt, ast.Tuple) or any(
        isinstance(one, _DEFINES) for one in around if is_inside(module, one, {statement})
    ):
        return []
    own = {one.id for one in walk(made) if _is_stored(one) and isinstance(one, ast.Name)}
    body = [f"return {ast.unparse(made)}"]
    function, text = _function(module, made, towers, body, own)
    return [function, Edit(*module.source.span(made), text)]


def _of_loop(module: Module, towers: ast.For, loop: ast.For, given: str) -> list[Edit]:
    """The loop that appends to a list which begins empty above it."""
    source = module.source
    filled = [*dict.fromkeys(_filled(loop))]
    begun = {name: begin for name in filled if (begin := _begun(module, towers, loop, name))}
    if len(begun) != 1 or any(isinstance(one, _DEFINES) for one in walk(loop)):
        return []
    if any(isinstance(one, (ast.Break, ast.Return, ast.Yield)) for one in walk(loop)):
        return []
    ((average, begin),) = begun.items()
    inside = {one.id for one in walk(loop) if _is_stored(one) and isinstance(one, ast.Name)}
    if any(_is_read_outside(module, name, loop) for name in inside):
        return []
    layout, begun_at = Layout(source, loop), Layout(source, begin)
    code = source.text[layout.line_start : layout.next_line].rstrip("\r\n").splitlines()
    body = [f"{average} = []", *(line.removeprefix(layout.indent) for line in code)]
    made, text = _function(module, loop, given, [*body, f"return {average}"], {*inside, average})
    return [
        Edit(begun_at.line_start, begun_at.next_line, ""),
        made,
        layout.replace([f"{average} = {text}"]),
    ]


def _function(
    module: Module, here: ast.AST, given: str, body: list[str], own: set[str]
) -> tuple[Edit, str]:
    """A function of the gradients of all towers, and its call.

    It stands in the module, or where it has names of the scope that calls it, above that. ``own``
    are the names that it gives values.
    """
    names, source = module.names, module.source
    read = {one.id for one in walk(here) if isinstance(one, ast.Name)} - own - {given}
    home = names.scope_at(here)
    scopes = (names.defining_scope(one, home) for one in read)
    beside = any(one is not None and one is not names.module_scope for one in scopes)
    place: ast.stmt = names.statement(here)
    for one in names.ancestors(place):
        if not beside and isinstance(one, ast.stmt):
            place = one
    name = names.fresh(home if beside else names.module_scope, *_NAMES)
    lines = [f"def {name}({given}):", *(source.indent_unit + one if one else "" for one in body)]
    behind = [] if beside else ["", ""]
    return Layout(source, place).insert_before([*lines, *behind]), f"{name}({given})"


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _begun(module: Module, towers: ast.For, loop: ast.For, name: str) -> ast.Assign | None:
    """`average = []`, above the loop in its block, with nothing of the list between them."""
    found: ast.Assign | None = None
    for mention in module.names.mentions(name, module.names.scope_at(loop)):
        if position(mention) > position(loop):
            if _is_stored(mention) and not is_inside(module, mention, {loop}):
                return None
            continue
        statement = module.names.parents.get(mention)
        if found is not None or not isinstance(statement, ast.Assign):
            return None
        empty = isinstance(statement.value, ast.List) and not statement.value.elts
        if not empty or statement.targets != [mention]:
            return None
        found = statement
    if found is None or is_inside(module, found, {towers}):
        return None
    same = module.names.block(found) is module.names.block(loop)
    return found if same and Layout(module.source, found).owns_lines else None


def _is_read_outside(module: Module, name: str, loop: ast.For) -> bool:
    """Whether something else may read what the loop left in a name: other loops give it anew."""
    names = module.names
    for mention in names.mentions(name, names.scope_at(loop)):
        if is_inside(module, mention, {loop}) or _is_stored(mention):
            continue
        if position(mention) < position(loop):
            continue
        around = (one for one in names.ancestors(mention) if isinstance(one, ast.For))
        if not any(
            isinstance(part, ast.Name) and part.id == name and part is not mention
            for one in around
            for part in walk(one.target)
        ):
            return True
    return False
