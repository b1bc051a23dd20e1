"""TF1's names of the summaries that towers make: each has a scope of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.summaries import clean_tag
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.towers.loop import text_of_first
from migrate_mgpu.models.ir import Towers

_SCOPES = ("name_scope", "variable_scope")
_ADVICE = "make it after the towers, of the last tower's value"


@record(frozen=True, eq=False)
class TowerScope:
    """What names the scope of each tower, and the blocks in it around a statement, by name.

    ``first`` is how the scope of the first tower is called, where only that makes the statement.
    """

    own: ast.expr
    inside: tuple[tuple[str, ast.With], ...]
    first: str = ""

    @property
    def path(self) -> str:
        return "".join(f"{name}/" for name in (self.first, *(n for n, _ in self.inside)) if name)


def scope_of(
    module: Module, towers: Towers, statement: ast.stmt, first: bool = False
) -> TowerScope:
    """The scope of a statement of the loop; ``first``: only the first tower comes to it.

    Raises:
        Refused: a tower's is not told by its number in a text, or a name in it is not known.
    """
    own: ast.expr | None = None
    inside: list[tuple[str, ast.With]] = []
    for block in reversed([*module.names.ancestors(statement)]):
        if not isinstance(block, ast.With) or not is_inside(module, block, {towers.loop}):
            continue
        for item in block.items:
            call = item.context_expr
            named = call.args[0] if isinstance(call, ast.Call) and call.args else None
            if name_of(module, call) not in _SCOPES or named is None:
                continue
            if name_of(module, named) == "get_variable_scope":
                continue
            known = constant(named)
            if own is None and _is_of_number(towers, named):
                own = named
            elif own is not None and isinstance(known, str) and known and "/" not in known:
                inside.append((known, block))
            else:
                raise Refused(module, call, "a summary in a scope whose name is not known", _ADVICE)
    if own is None:
        text = "each tower has a summary of its own here, and no scope to name it by"
        raise Refused(module, statement, text, _ADVICE)
    text = text_of_first(module, own, towers) if first else ""
    if first and not text:
        raise Refused(module, own, "a summary in a scope whose name is not known", _ADVICE)
    return TowerScope(own, tuple(inside), text)


def _is_of_number(towers: Towers, node: ast.expr) -> bool:
    """Whether a text has the number of the tower, and nothing else that differs in each."""
    names = {part.id for part in walk(node) if isinstance(part, ast.Name)}
    return bool(towers.index) and names & towers.names == {towers.index}


def is_plain_text(node: ast.expr) -> bool:
    """Whether the scope of a tower has characters alone that TF1 leaves in a summary's tag."""
    left = constant(node.left) if isinstance(node, ast.BinOp) else None
    return isinstance(left, str) and clean_tag(left.replace("%", "")) == left.replace("%", "")


def is_label(module: Module, towers: Towers, node: ast.expr) -> bool:
    """Whether a text names a tower by its number: `'gpu_%d' % i`, as TF1 leaves it in a tag."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return False
    left = constant(node.left)
    if not isinstance(left, str) or not is_plain_text(node) or "/" in left or left[:1] in "%_":
        return False
    given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    for one in given:
        number = isinstance(one, ast.Name) and one.id == towers.index
        text = module.names.only_value(one) if isinstance(one, ast.Name) else one
        known = constant(text)
        if not number and not (isinstance(known, str) and clean_tag(known) == known):
            return False
    return _is_of_number(towers, node)


def check_label(
    modules: Iterable[Module],
    module: Module,
    towers: Towers,
    own: ast.expr,
    statement: ast.stmt,
    told: ast.expr,
) -> None:
    """Nothing else has the name that begins with a tower's label, and no scope is around it.

    Raises:
        Refused: something may have it.
    """
    for block in module.names.ancestors(statement):
        if not isinstance(block, ast.With) or not is_inside(module, block, {towers.loop}):
            continue
        for item in block.items:
            call = item.context_expr
            named = call.args[0] if isinstance(call, ast.Call) and call.args else None
            if name_of(module, call) in _SCOPES and name_of(module, named) != "get_variable_scope":
                raise Refused(module, call, "a summary in a scope whose name is not known", _ADVICE)
    assert isinstance(own, ast.BinOp)
    begins = str(constant(own.left)).partition("%")[0].lower()
    texts = (one.text for one in _told(modules, module, towers))
    same = [
        one
        for one in walk(towers.loop)
        if isinstance(one, ast.expr) and one is not told and ast.dump(one) == ast.dump(told)
    ]
    # The label itself, as the argument of something else, may name that.
    shown = {id(part) for call in _summaries(module, towers) for part in walk(call)}
    name = told.left if isinstance(told, ast.BinOp) else told
    others = [
        one
        for one in walk(towers.loop)
        if isinstance(name, ast.Name)
        and isinstance(one, ast.Name)
        and one.id == name.id
        and isinstance(one.ctx, ast.Load)
        and id(one) not in shown
    ]
    if same or others or any(begins and part.startswith(begins) for text in texts
                             for part in text.split("/")):  # fmt: skip
        text = "TF1's tag of a summary cannot be determined: something in a tower may have its name"
        raise Refused(module, told, text, "give the summary another name")


def _summaries(module: Module, towers: Towers) -> Iterator[ast.Call]:
    for node in walk(towers.loop):
        if isinstance(node, ast.Call) and name_of(module, node).startswith("summary."):
            yield node


def check_free(
    modules: Iterable[Module], module: Module, towers: Towers, scope: TowerScope, told: ast.expr,
    name: str, runs: Callable[[Module, ast.AST], bool],
) -> None:  # fmt: skip
    """Nothing else in a tower has the name that a summary is given: TF1 would number one of them.

    ``runs`` says whether the program may run the code at a node of a module.

    Raises:
        Refused: something may have it.
    """
    around: ast.stmt = towers.loop
    told_names = list(_told(modules, module, towers))
    # `b` is called `a/a/b` in two scopes `a` alone, and there may be only one.
    leading = [n.lower() for n, _ in scope.inside] + name.lower().split("/")[:-1]
    opened = [part for one in told_names if one.opens for part in one.text.split("/")]
    alone = any(leading.count(part) > opened.count(part) for part in {*leading})
    # `a/b` is what `b` in the scope `a` is called as well, but nothing else is called `a` by it.
    for part, block in (*scope.inside, (name, None)):
        own = {id(node) for node in walk(block)} if block is not None else {id(told)}
        texts = {part.lower()}
        if block is not None or not alone:
            texts.add(part.lower().rpartition("/")[2])
        for one in told_names:
            if one.at_home and not is_inside(module, one.call, {around}):
                continue
            if id(one.value) in own or one.text not in texts or not runs(one.module, one.call):
                continue
            if may_be_in_a_tower(modules, one.module, one.call, towers.loop):
                why = f"TF1's tag of `{name}` cannot be determined: something has `{part}`"
                raise Refused(module, told, why, "give the summary another name")
        around = block or around


@record(frozen=True, eq=False)
class _Told:
    """A text in a call that may name something in a tower, in small letters.

    ``opens``: it may name a scope that has other things. ``at_home``: it stands in the loop.
    """

    module: Module
    call: ast.Call
    value: ast.expr
    text: str
    opens: bool
    at_home: bool


def _told(modules: Iterable[Module], module: Module, towers: Towers) -> Iterator[_Told]:
    """The texts by which calls may name something in a tower, each with its call."""
    home = module.names.scope_of_name[next(n for n in walk(towers.loop) if isinstance(n, ast.Name))]
    for other in modules:
        for call in other.names.calls:
            at_home = other is module and other.names.scope_at(call) is home
            if at_home and not is_inside(module, call, {towers.loop}):
                continue
            if not _names(other, call):
                continue
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                text = constant(value)
                if isinstance(text, str):
                    opens = not name_of(other, call).startswith("summary.")
                    yield _Told(other, call, value, text.lower().rstrip("/"), opens, at_home)


def may_be_in_a_tower(
    modules: Iterable[Module], module: Module, call: ast.Call, loop: ast.For
) -> bool:
    """Whether a call may run while a tower is built.

    It does not where it is a statement's of a plain function that nothing calls or hands on in the
    loop, nor in what the loop calls, by any name: that of a network which is built for itself.
    """
    functions = [
        one
        for one in module.names.ancestors(call)
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
    ]
    function = functions[0] if len(functions) == 1 else None
    if not isinstance(function, ast.FunctionDef):
        return True
    if function.decorator_list or any(
        isinstance(one, (ast.Yield, ast.YieldFrom)) for one in walk(function)
    ):
        return True
    found: set[str] = set()
    left: list[ast.AST] = [loop]
    while left:
        for name in _identifiers(left.pop()) - found:
            found.add(name)
            left += [one for module in modules for one in _definitions(module).get(name, ())]
    return function.name in found


@fact_of_text
def _definitions(module: Module) -> dict[str, list[ast.AST]]:
    """The functions and classes of a module, at any depth, by their names."""
    found: dict[str, list[ast.AST]] = {}
    for node in walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
    return found


def _identifiers(node: ast.AST) -> set[str]:
    """What code may call something by: names, attributes, and texts."""
    return {
        told
        for one in walk(node)
        if isinstance(
            told := getattr(one, "id", None)
            or getattr(one, "attr", None)
            or getattr(one, "value", None),
            str,
        )
    }


def _names(module: Module, call: ast.Call) -> bool:
    """Whether a call may give an operation a name that it is told."""
    known = name_of(module, call)
    if known:
        return not known.startswith((*SETTINGS, "add_to_collection"))
    plain = (module.names.qualname(call.func) or "").startswith("builtins.")
    return isinstance(call.func, ast.Name) and not plain


def asks_for_name(node: ast.AST) -> bool:
    """`x.op.name`"""
    operation = node.value if isinstance(node, ast.Attribute) and node.attr == "name" else None
    named = isinstance(operation, ast.Attribute) and operation.attr == "op"
    return named and isinstance(operation.value, ast.Name)  # type: ignore[union-attr]
