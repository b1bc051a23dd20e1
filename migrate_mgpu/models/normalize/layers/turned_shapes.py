"""Loops over the shapes that an earlier loop has seen, with sizes asked of its weights.

    for n_output in sizes[1:]:
        shapes.append(net.get_shape().as_list())
        w = tf.Variable(tf.zeros([3, 3, n_input, n_output]))
        weights.append(w)
        ...
        n_input = n_output
    weights.reverse()
    shapes.reverse()
    for i, shape in enumerate(shapes):
        w = weights[i]
        b = tf.Variable(tf.zeros([w.get_shape().as_list()[2]]))

The rounds of the second loop, and the sizes in it, are those of the list that the first one goes
through: `for i, size in enumerate(sizes[:-1][::-1])`, with `shape = shapes[i]` in it. So a layer
knows them when it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.normalize.layers.static_sizes import (
    asked_of,
    elements_of,
    outer,
    shape_of_variable,
)
from migrate_mgpu.source.source import Edit

_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)
_CHANGES = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    for loop in walk(module.tree):
        if isinstance(loop, ast.For) and not loop.orelse:
            found = _Turned(module, loop).edits()
            if found:
                return found
    return []


@record(frozen=True)
class _List:
    """A list that a loop fills, one item a round: what is added, and whether it is turned."""

    added: ast.expr
    loop: ast.For
    turned: bool


class _Turned:
    """The second loop of two."""

    def __init__(self, module: Module, loop: ast.For) -> None:
        self.module = module
        self.names = module.names
        self.loop = loop
        self.home: Scope = module.names.scope_at(loop)
        self.block: Sequence[ast.stmt] = module.names.block(loop)

    def edits(self) -> list[Edit]:
        loop, names, source = self.loop, self.names, self.module.source
        head = self._head()
        if head is None or any(isinstance(one, _LEAVES) for one in walk(loop)):
            return []
        index, shape, shapes = head
        seen = self._filled(shapes)
        if seen is None or asked_of(seen.added) is None:
            return []
        settings = self._settings(seen.loop)
        if settings is None or not self._is_plain(shape) or not self._is_plain(index):
            return []
        listed, before, after = settings
        found: list[Edit] = []
        begins: set[bool] = set()  # whether a size is what a round begins with
        name = names.fresh(self.home, "width", "size")
        for node, item in self._asked(index):
            known = self._filled(item)
            if known is None or known.loop is not seen.loop or known.turned != seen.turned:
                return []
            size = self._size(known, node)
            if not isinstance(size, ast.Name) or size.id not in (before, after):
                return []
            begins.add(size.id == before)
            found.append(Edit(*source.span(outer(self.module, node)), name))
        if len(begins) != 1:
            return []
        rounds = f"{listed}[:-1]" if begins == {True} else f"{listed}[1:]"
        rounds += "[::-1]" if seen.turned else ""
        target, over = loop.target, loop.iter
        assert isinstance(target, ast.Tuple) and isinstance(over, ast.Call)
        found.append(Edit(*source.span(target.elts[1]), name))
        found.append(Edit(*source.span(over.args[0]), rounds))
        indent = source.indent_of(loop.body[0])
        start = source.span(loop.body[0])[0]
        text = f"{shape.id} = {shapes.id}[{index.id}]\n{indent}"
        return [Edit(start, start, text), *found]

    def _head(self) -> tuple[ast.Name, ast.Name, ast.Name] | None:
        """`for i, shape in enumerate(shapes)`"""
        target, over = self.loop.target, self.loop.iter
        if not isinstance(target, ast.Tuple) or not isinstance(over, ast.Call):
            return None
        if self.names.qualname(over.func) != "builtins.enumerate" or over.keywords:
            return None
        parts = (*target.elts, *over.args)
        if len(target.elts) != 2 or len(over.args) != 1 or self.loop.body[0] in self.block:
            return None
        index, shape, shapes = parts
        if not isinstance(index, ast.Name) or not isinstance(shape, ast.Name):
            return None
        return (index, shape, shapes) if isinstance(shapes, ast.Name) else None

    def _is_plain(self, name: ast.Name) -> bool:
        """Whether what a name of the loop's head stands for is changed by nothing in it."""
        inside = [one for body in self.loop.body for one in walk(body)]
        return not any(
            (isinstance(one, ast.Name) and one.id == name.id and not isinstance(one.ctx, ast.Load))
            or (isinstance(one, (ast.Attribute, ast.Subscript)) and _is_changed(one, name.id))
            for one in inside
        )

    def _filled(self, name: ast.Name) -> _List | None:
        """A list that begins empty in the block, which one loop fills, and no more than turned."""
        names, home = self.names, self.home
        mentions = names.mentions(name.id, home)
        if any(names.scope_of_name[one] is not home for one in mentions):
            return None
        added: list[tuple[ast.expr, ast.For]] = []
        begun, turns = 0, 0
        place = self.block.index(self.loop)
        for at, one in enumerate(self.block):
            inside = [n for n in walk(one) if isinstance(n, ast.Name) and n.id == name.id]
            if not inside or at >= place:
                if any(self._changes(n) for n in inside):
                    return None
                continue
            if _begins(one, name.id):
                begun += 1
                if added or turns:
                    return None
            elif _turns(one, name.id):
                turns += 1
            elif isinstance(one, ast.For) and len(inside) == 1 and (item := _adds(one, name.id)):
                added.append((item, one))
                if not begun or turns:
                    return None
            elif any(self._changes(n) for n in inside):
                return None
        if begun != 1 or len(added) != 1 or turns > 1:
            return None
        item, loop = added[0]
        if loop.orelse or any(isinstance(one, _LEAVES) for one in walk(loop)):
            return None
        return _List(item, loop, bool(turns))

    def _changes(self, name: ast.Name) -> bool:
        """Whether a mention of a list may change it."""
        parent = self.names.parents.get(name)
        if not isinstance(name.ctx, ast.Load) or isinstance(parent, ast.AugAssign):
            return True
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return True
        return isinstance(parent, ast.Attribute) and parent.attr in _CHANGES

    def _settings(self, loop: ast.For) -> tuple[str, str, str] | None:
        """The list that the first loop goes through, and its names for an item and the one before.

        `width = sizes[0]` above `for size in sizes[1:]`, whose last statement is `width = size`.
        """
        target, over = loop.target, loop.iter
        if isinstance(over, ast.Call) and self.names.qualname(over.func) == "builtins.enumerate":
            if len(over.args) != 1 or over.keywords or not isinstance(target, ast.Tuple):
                return None
            target, over = target.elts[-1], over.args[0]
        if not isinstance(target, ast.Name) or not isinstance(over, ast.Subscript):
            return None
        listed, part, last = over.value, over.slice, loop.body[-1]
        if not isinstance(listed, ast.Name) or not isinstance(part, ast.Slice):
            return None
        if constant(part.lower) != 1 or part.upper is not None or part.step is not None:
            return None
        if self.names.only_binding(listed) is None or not self._is_read(listed):
            return None
        if not isinstance(last, ast.Assign) or len(last.targets) != 1:
            return None
        before, after = last.targets[0], last.value
        if not isinstance(before, ast.Name) or not isinstance(after, ast.Name):
            return None
        if after.id != target.id or loop not in self.block:
            return None
        stored = [
            one.id
            for body in loop.body
            for one in walk(body)
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
        ]
        if stored.count(before.id) != 1 or target.id in stored:
            return None
        begun = self._begun(before.id, loop)
        first = begun.value if begun is not None else None
        if not isinstance(first, ast.Subscript) or constant(first.slice) != 0:
            return None
        whole = first.value
        if not isinstance(whole, ast.Name) or whole.id != listed.id:
            return None
        return listed.id, before.id, target.id

    def _is_read(self, listed: ast.Name) -> bool:
        """Whether nothing changes a list by its name."""
        home = self.names.defining_scope(listed.id, self.names.scope_of_name[listed])
        if home is None:
            return False
        mentions = self.names.mentions(listed.id, home)
        return not any(isinstance(one.ctx, ast.Load) and self._changes(one) for one in mentions)

    def _begun(self, name: str, loop: ast.For) -> ast.Assign | None:
        """The last statement of the block above a loop that gives a name its value."""
        above = self.block[: self.block.index(loop)]
        for one in reversed(above):
            stored = [n for n in walk(one) if isinstance(n, ast.Name) and n.id == name]
            if any(not isinstance(n.ctx, ast.Load) for n in stored):
                plain = isinstance(one, ast.Assign) and one.targets == stored[:1]
                return one if isinstance(one, ast.Assign) and plain else None
        return None

    def _asked(self, index: ast.Name) -> Iterator[tuple[ast.Subscript, ast.Name]]:
        """What the loop asks of an item of a list: `w.shape[2]`, of `w = weights[i]`."""
        items: dict[str, ast.Name] = {}
        for one in self.loop.body:
            if isinstance(one, ast.Assign) and len(one.targets) == 1:
                target, value = one.targets[0], one.value
                if (
                    isinstance(target, ast.Name)
                    and isinstance(value, ast.Subscript)
                    and isinstance(value.value, ast.Name)
                    and isinstance(value.slice, ast.Name)
                    and value.slice.id == index.id
                ):
                    items[target.id] = value.value
            for node in walk(one):
                tensor = asked_of(node.value) if isinstance(node, ast.Subscript) else None
                if isinstance(node, ast.Subscript) and isinstance(tensor, ast.Name):
                    if tensor.id in items and self._is_only(tensor.id):
                        yield node, items[tensor.id]

    def _is_only(self, name: str) -> bool:
        """Whether one statement of the loop gives a name its value."""
        inside = (n for body in self.loop.body for n in walk(body) if isinstance(n, ast.Name))
        return sum(n.id == name and not isinstance(n.ctx, ast.Load) for n in inside) == 1

    def _size(self, known: _List, node: ast.Subscript) -> ast.expr | None:
        """The size of the variable that a list has, as the loop that made it says it."""
        name, index = known.added, constant(node.slice)
        if not isinstance(name, ast.Name) or not isinstance(index, int):
            return None
        made = [
            one
            for one in known.loop.body
            for part in walk(one)
            if isinstance(part, ast.Name)
            and part.id == name.id
            and not isinstance(part.ctx, ast.Load)
        ]
        statement = made[0] if len(made) == 1 else None
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or name_of(self.module, call) not in VARIABLES.by_name:
            return None
        elements = elements_of(self.module, shape_of_variable(self.module, call))
        if elements is None or not -len(elements) <= index < len(elements):
            return None
        return elements[index]


def _is_changed(node: ast.Attribute | ast.Subscript, name: str) -> bool:
    """Whether an item of what has a name gets a value, or a method changes it."""
    inner = node.value
    if not isinstance(inner, ast.Name) or inner.id != name:
        return False
    stored = not isinstance(node.ctx, ast.Load)
    return stored or (isinstance(node, ast.Attribute) and node.attr in _CHANGES)


def _begins(statement: ast.stmt, name: str) -> bool:
    """`shapes = []`"""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    empty = isinstance(value, ast.List) and not value.elts
    return isinstance(target, ast.Name) and target.id == name and empty


def _turns(statement: ast.stmt, name: str) -> bool:
    """`shapes.reverse()`, `shapes = shapes[::-1]`"""
    return ast.unparse(statement) in (f"{name}.reverse()", f"{name} = {name}[::-1]")


def _adds(loop: ast.For, name: str) -> ast.expr | None:
    """What each round of a loop adds to a list, once."""
    for one in loop.body:
        call = one.value if isinstance(one, ast.Expr) else None
        if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr == "append":
                if isinstance(func.value, ast.Name) and func.value.id == name:
                    return call.args[0]
    return None
