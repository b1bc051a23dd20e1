"""Lists of placeholders, one for each tower, and the dictionaries that feed them.

`xs.append(tf.placeholder(...))` in the loop over the devices becomes a list above it,
`xs = [tf.placeholder(...) for _ in range(num_gpus)]`, of which each tower takes `xs[i]`.

A dictionary that feeds each of them (`{xs[0]: a, xs[1]: b}`, `{xs[i]: parts[i] for i in range(n)}`,
`dict(zip(xs, parts))`, items that a loop sets) feeds the list, by the key `tuple(xs)`: TF1 takes
tuples as keys. What is added to a dictionary (`feed.update(...)`) stands in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.placeholders import list_of_placeholders
from migrate_mgpu.models.front.towers.loop import COUNTS, loops_on_devices, read_towers
from migrate_mgpu.models.ir import Towers
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_STABLE = (ast.Name, ast.Constant, ast.Attribute, ast.expr_context)
_WIDTH = 88
_BROKEN = re.compile(r"([(\[{]?)\s*\n\s*")
_ARITHMETIC = (ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop)


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one list, or one dictionary; none where there is none."""
    if "placeholder" not in calls_of_names(module):
        return []
    for loop in loops_on_devices(module):
        towers = read_towers(module, loop, graph)
        if towers is not None:
            found = _Lists(module, towers).edits() or _Feeds(module, graph).edits()
            if found:
                return found
    return []


class _Lists:
    """The lists of placeholders that the loop over the devices, or one above it, fills."""

    def __init__(self, module: Module, towers: Towers) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.towers = towers
        self.home = module.names.scope_at(towers.loop)

    def edits(self) -> list[Edit]:
        block = self.names.block(self.towers.loop)
        above = block[: block.index(self.towers.loop)]
        for loop in (*(one for one in above if isinstance(one, ast.For)), self.towers.loop):
            counted = self._counted(loop)
            if counted is None:
                continue
            for statement in in_line(loop.body):
                edits = self._of(loop, *counted, statement)
                if edits:
                    return edits
        return []

    def _counted(self, loop: ast.For) -> tuple[str, str] | None:
        """The name that counts the turns of a loop from zero, and what they are counted to."""
        over, target = loop.iter, loop.target
        if loop.orelse or not isinstance(over, ast.Call) or len(over.args) != 1 or over.keywords:
            return None
        name, count = self.names.qualname(over.func), self.source.code(over.args[0])
        if name in COUNTS and isinstance(target, ast.Name):
            return target.id, count
        if name == "builtins.enumerate" and isinstance(target, ast.Tuple):
            first = target.elts[0]
            plain = isinstance(over.args[0], ast.Name)
            return (first.id, f"len({count})") if isinstance(first, ast.Name) and plain else None
        return None

    def _of(self, loop: ast.For, index: str, count: str, statement: ast.stmt) -> list[Edit]:
        """The edits for one list that is filled by a statement of a loop."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != "append":
            return []
        assert isinstance(call, ast.Call)
        owner, given = func.value, call.args[0] if len(call.args) == 1 else None
        if not isinstance(owner, ast.Name) or owner not in self.names.scope_of_name:
            return []
        name = given if isinstance(given, ast.Name) else None
        made = self._made(loop, name) if name is not None else given
        if not isinstance(made, ast.Call) or name_of(self.module, made) != "placeholder":
            return []
        layout, begun = Layout(self.source, statement), self._begun(owner.id, loop)
        code = one_line(self.source.code(made))
        if begun is None or not layout.owns_lines or code is None:
            return []
        if not self._is_plain(loop, index, made):
            return []
        loads = [n for n in self.names.mentions(owner.id, self.home) if n is not owner]
        inside = [
            n
            for n in loads
            if is_inside(self.module, n, {loop})
            and (not self._is_own(n, index) or position(n) < position(statement))
        ]
        last = [part for n in inside if (part := self._last(n)) is not None]
        if len(last) != len(inside) or any(position(n) < position(statement) for n in inside):
            return []
        within = any(n.id == index for n in walk(made) if isinstance(n, ast.Name))
        counting = index if within else "_"
        line = f"{owner.id} = [{code} for {counting} in range({count})]"
        item = f"{owner.id}[{index}]"
        return [
            begun,
            Layout(self.source, loop).insert_paragraph([line]),
            Edit(layout.line_start, layout.next_line, ""),
            *([Edit(*self.source.span(made), item)] if name is not None else []),
            *(Edit(*self.source.span(part), item) for part in last),
        ]

    def _made(self, loop: ast.For, name: ast.Name) -> ast.expr | None:
        """What a name is that a loop gives a value once, above its mention."""
        binding = self.names.only_binding(name)
        statement = self.names.statement(binding.node) if binding is not None else None
        if not isinstance(statement, ast.Assign) or statement.targets != [
            binding.node if binding else None
        ]:
            return None
        here = is_inside(self.module, statement, {loop}) and statement in [*in_line(loop.body)]
        return statement.value if here and position(statement) < position(name) else None

    def _is_own(self, name: ast.Name, index: str) -> bool:
        """`xs[i]`: the item of the turn itself, once it was put into it."""
        parent = self.names.parents[name]
        told = parent.slice if isinstance(parent, ast.Subscript) else None
        return isinstance(told, ast.Name) and told.id == index

    def _last(self, name: ast.Name) -> ast.Subscript | None:
        """`xs[-1]`: what was put into it last."""
        parent = self.names.parents[name]
        is_last = isinstance(parent, ast.Subscript) and constant(parent.slice) == -1
        return parent if isinstance(parent, ast.Subscript) and is_last else None

    def _begun(self, name: str, loop: ast.For) -> Edit | None:
        """The edit that takes away where a list begins, empty; None where it does not."""
        bindings = self.home.bindings.get(name, [])
        if len(bindings) != 1:
            return None
        statement = self.names.statement(bindings[0].node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        layout, target, value = (
            Layout(self.source, statement),
            statement.targets[0],
            statement.value,
        )
        above = position(statement) < position(loop)
        if not above or not layout.owns_lines or layout.trailing_comment:
            return None
        if isinstance(target, ast.Name):
            empty = isinstance(value, ast.List) and not value.elts
            return Edit(layout.line_start, layout.next_line, "") if empty else None
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
            return None
        rest = [(self.source.code(t), v) for t, v in zip(target.elts, value.elts) if t is not
                bindings[0].node]  # fmt: skip
        if not rest or any(not isinstance(v, ast.List) or v.elts for v in value.elts):
            return None
        left, right = ", ".join(t for t, _ in rest), ", ".join("[]" for _ in rest)
        return Edit(*self.source.span(statement), f"{left} = {right}")

    def _is_plain(self, loop: ast.For, index: str, made: ast.Call) -> bool:
        """Whether what makes a placeholder may stand above the loop: it has nothing of it."""
        stored = {
            part.id
            for one in walk(loop)
            for part in (one,)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        named = next((k.value for k in made.keywords if k.arg == "name"), None)
        named = made.args[2] if named is None and len(made.args) > 2 else named
        own = {*walk(named)} if named is not None else set()
        for name in (part for part in walk(made) if isinstance(part, ast.Name)):
            if name.id in stored and not (name.id == index and name in own):
                return False
        return True


class _Feeds:
    """The dictionaries that feed lists of placeholders."""

    def __init__(self, module: Module, graph: CallGraph) -> None:
        self.module = module
        self.graph = graph
        self.names = module.names
        self.source = module.source

    def edits(self) -> list[Edit]:
        for node in walk(self.module.tree):
            edits: list[Edit] = []
            if isinstance(node, ast.Dict):
                edits = self._display(node)
            elif isinstance(node, ast.DictComp):
                edits = self._comprehension(node)
            elif isinstance(node, ast.Call):
                edits = self._call(node) or self._update(node)
            elif isinstance(node, ast.For):
                edits = self._loop(node)
            if edits:
                return edits
        return []

    def _count(self, node: ast.expr) -> ast.expr | None:
        """How many placeholders a list has; None of anything else."""
        if not isinstance(node, ast.Name):
            return None
        value = self.names.only_value(node)
        found = list_of_placeholders(self.module, value) if value is not None else None
        return found[2] if found is not None else self._given(node)

    def _given(self, name: ast.Name) -> ast.expr | None:
        """The same of a parameter that each call of its function gives such a list."""
        if [one.kind for one in self.names.bindings_of(name)] != ["parameter"]:
            return None
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        function = self.graph.enclosing(self.module, name)
        if home is None or function is None or function.node is not home.node:
            return None
        counts: dict[str, ast.expr] = {}
        for reference in self.graph.references(function):
            call = reference.call
            value = bind(call, function).value(name.id) if call is not None else None
            made = self.names.only_value(value) if isinstance(value, ast.Name) else None
            if reference.module is not self.module or made is None:
                return None
            found = list_of_placeholders(self.module, made)
            if found is None or not self._is_of_module(found[2], home):
                return None
            counts[ast.dump(found[2])] = found[2]
        return next(iter(counts.values())) if len(counts) == 1 else None

    def _is_of_module(self, count: ast.expr, home: Scope) -> bool:
        """Whether an expression reads names of the module alone, in a function as well."""
        top = self.names.module_scope
        return all(
            self.names.defining_scope(one.id, self.names.scope_of_name[one]) is top
            and self.names.defining_scope(one.id, home) is top
            for one in walk(count)
            if isinstance(one, ast.Name)
        )

    def _item(self, node: ast.expr | None) -> tuple[ast.Name, ast.expr] | None:
        """`xs[i]` as the list and what tells which."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if self._count(node.value) is not None:
                return node.value, node.slice
        return None

    def _number(self, node: ast.expr | None) -> int | None:
        """A number that is written out, here or where a name gets it once."""
        value = self.names.only_value(node) if isinstance(node, ast.Name) else node
        known = constant(value)
        return known if isinstance(known, int) else None

    def _display(self, node: ast.Dict) -> list[Edit]:
        """`{xs[0]: a, xs[1]: b}`"""
        items = [self._item(key) for key in node.keys]
        name = next((item[0].id for item in items if item is not None), None)
        if name is None:
            return []
        own = [i for i, item in enumerate(items) if item is not None and item[0].id == name]
        places = {constant(item[1]): i for i in own if (item := items[i]) is not None}
        first = items[own[0]]
        assert first is not None
        many = self._number(self._count(first[0]))
        if [*sorted(p for p in places if isinstance(p, int))] != [*range(len(own))]:
            return []
        if many is not None and many != len(own):
            return []
        texts = [self.source.code(node.values[places[place]]) for place in range(len(own))]
        parts = [
            f"tuple({name}): [{', '.join(texts)}]"
            if index == own[0]
            else f"{self.source.code(key)}: {self.source.code(value)}"
            for index, (key, value) in enumerate(zip(node.keys, node.values))
            if key is not None and index not in own[1:]
        ]
        return [Edit(*self.source.span(node), "{" + ", ".join(parts) + "}")]

    def _comprehension(self, node: ast.DictComp) -> list[Edit]:
        """`{xs[i]: parts[i] for i in range(n)}`, `{x: part for x, part in zip(xs, parts)}`"""
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs or not isinstance(loop.iter, ast.Call):
            return []
        item = self._item(node.key)
        if item is not None and self._counts(loop, item):
            each = f"{self.source.code(node.value)} for {self.source.code(loop.target)}"
            text = f"[{each} in {self._turns(loop, item)}]"
            return [Edit(*self.source.span(node), "{" + f"tuple({item[0].id}): {text}" + "}")]
        zipped, target = self._zipped(loop.iter), loop.target
        if zipped is None or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            return []
        first, second = target.elts
        if ast.dump(node.key) != ast.dump(_loaded(first)):
            return []
        if ast.dump(node.value) == ast.dump(_loaded(second)):
            text = f"list({self.source.code(zipped[1])})"
        elif any(isinstance(n, ast.Name) and n.id == getattr(first, "id", "")
                 for n in walk(node.value)):  # fmt: skip
            return []
        else:
            over = self.source.code(zipped[1])
            text = f"[{self.source.code(node.value)} for {self.source.code(second)} in {over}]"
        return [Edit(*self.source.span(node), "{" + f"tuple({zipped[0].id}): {text}" + "}")]

    def _counts(self, loop: ast.comprehension | ast.For, item: tuple[ast.Name, ast.expr]) -> bool:
        """Whether a loop goes through all items of a list in their order."""
        over, target = loop.iter, loop.target
        if not isinstance(over, ast.Call) or self.names.qualname(over.func) not in COUNTS:
            return False
        if len(over.args) != 1 or over.keywords or not isinstance(target, ast.Name):
            return False
        count = self._count(item[0])
        same = count is not None and ast.dump(count) == ast.dump(over.args[0])
        known, other = self._number(count), self._number(over.args[0])
        every = (
            same or (known is not None and known == other) or self._is_length(over.args[0], item)
        )
        return every and isinstance(item[1], ast.Name) and item[1].id == target.id

    def _turns(self, loop: ast.comprehension | ast.For, item: tuple[ast.Name, ast.expr]) -> str:
        """What a loop goes through, without the list of placeholders: `len(xs)` is a number."""
        over, count = loop.iter, self._count(item[0])
        assert isinstance(over, ast.Call)
        if count is None or not self._is_length(over.args[0], item):
            return self.source.code(over)
        return f"{self.source.code(over.func)}({self.source.code(count)})"

    def _is_length(self, node: ast.expr, item: tuple[ast.Name, ast.expr]) -> bool:
        """`len(xs)`"""
        if not isinstance(node, ast.Call) or self.names.qualname(node.func) != "builtins.len":
            return False
        return [ast.dump(one) for one in node.args] == [ast.dump(item[0])]

    def _zipped(self, node: ast.expr) -> tuple[ast.Name, ast.expr] | None:
        """`zip(xs, parts)` as the list of placeholders, and what they are fed."""
        if not isinstance(node, ast.Call) or self.names.qualname(node.func) != "builtins.zip":
            return None
        if len(node.args) != 2 or node.keywords or not isinstance(node.args[0], ast.Name):
            return None
        return (node.args[0], node.args[1]) if self._count(node.args[0]) is not None else None

    def _call(self, node: ast.Call) -> list[Edit]:
        """`dict(zip(xs, parts))`"""
        if self.names.qualname(node.func) != "builtins.dict" or len(node.args) != 1:
            return []
        zipped = self._zipped(node.args[0])
        if zipped is None or node.keywords:
            return []
        text = f"tuple({zipped[0].id}): list({self.source.code(zipped[1])})"
        return [Edit(*self.source.span(node), "{" + text + "}")]

    def _update(self, node: ast.Call) -> list[Edit]:
        """`feed.update({tuple(ys): parts})` behind `feed = {...}`"""
        func, given = node.func, node.args[0] if len(node.args) == 1 else None
        statement = self.names.statement(node)
        if not isinstance(func, ast.Attribute) or func.attr != "update" or node.keywords:
            return []
        if not isinstance(func.value, ast.Name) or not isinstance(given, ast.Dict):
            return []
        if not isinstance(statement, ast.Expr) or statement.value is not node:
            return []
        begun = self._begun(func.value, statement)
        if begun is None:
            return []
        first, items = begun
        if not any(map(self._is_of_list, (*first.keys, *given.keys))):
            return []
        entries = [*items, *self._entries(given)]
        text = "\n".join(self._named(func.value.id, entries, statement))
        layout = Layout(self.source, self.names.statement(first))
        gone = Edit(layout.line_start, layout.next_line, "")
        text = text.replace("\n", self.source.newline + self.source.indent_of(statement))
        return [gone, Edit(*self.source.span(statement), text)]

    def _named(self, name: str, entries: Sequence[str], where: ast.stmt) -> list[str]:
        """The lines that make a dictionary: one, or one for each entry."""
        line = f"{name} = {{{', '.join(entries)}}}"
        if len(self.source.indent_of(where) + line) <= _WIDTH:
            return [line]
        unit = self.source.indent_unit
        return [f"{name} = {{", *(f"{unit}{one}," for one in entries), "}"]

    def _is_of_list(self, key: ast.expr | None) -> bool:
        """`tuple(xs)` of a list of placeholders"""
        if not isinstance(key, ast.Call) or self.names.qualname(key.func) != "builtins.tuple":
            return False
        return len(key.args) == 1 and self._count(key.args[0]) is not None

    def _entries(self, node: ast.Dict) -> Iterator[str]:
        for key, value in zip(node.keys, node.values):
            assert key is not None
            yield f"{self.source.code(key)}: {self.source.code(value)}"

    def _begun(self, name: ast.Name, statement: ast.stmt) -> tuple[ast.Dict, list[str]] | None:
        """The dictionary that a name is given above a statement, which may stand there instead.

        None where something in between may see it, or change what it is made of.
        """
        scope = self.names.scope_of_name.get(name)
        block = self.names.block(statement)
        if scope is None:
            return None
        between: list[ast.stmt] = []
        for one in reversed(block[: block.index(statement)]):
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            if isinstance(target, ast.Name) and target.id == name.id:
                assert isinstance(one, ast.Assign)
                value = one.value
                layout = Layout(self.source, one)
                if not isinstance(value, ast.Dict) or len(one.targets) > 1 or None in value.keys:
                    return None
                if not layout.owns_lines or layout.trailing_comment:
                    return None
                return (value, [*self._entries(value)]) if self._moves(value, between) else None
            if any(isinstance(n, ast.Name) and n.id == name.id for n in walk(one)):
                return None
            between.append(one)
        return None

    def _moves(self, value: ast.Dict, between: Sequence[ast.stmt]) -> bool:
        """Whether a dictionary may be made behind some statements: they change nothing of it."""
        stored = {
            part.id
            for one in between
            for part in walk(one)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        calls = any(isinstance(part, ast.Call) for one in between for part in walk(one))
        for given in value.values:
            parts = [*walk(given)]
            if any(isinstance(part, ast.Name) and part.id in stored for part in parts):
                return False
            numbers = all(self._is_number(part) for part in parts if isinstance(part, ast.Name))
            kinds = (*_STABLE, *_ARITHMETIC) if numbers else _STABLE
            if between and not all(isinstance(part, kinds) for part in parts):
                return False
            if calls and any(isinstance(part, ast.Attribute) for part in parts):
                return False  # something that is called may change it
        return True

    def _is_number(self, name: ast.Name) -> bool:
        """Whether a name is a number, which nothing changes: a loop counts it, or it is written."""
        for one in self.names.bindings_of(name):
            statement = self.names.statement(one.node)
            over = statement.iter if isinstance(statement, ast.For) else None
            if isinstance(over, ast.Call) and self.names.qualname(over.func) in COUNTS:
                continue
            if not isinstance(statement, ast.Assign) or one.value is None:
                return False
            if not isinstance(constant(one.value), (int, float)):
                return False
        return True

    def _loop(self, loop: ast.For) -> list[Edit]:
        """`for i in range(n): feed[xs[i]] = next_batch()`"""
        if loop.orelse or not isinstance(loop.target, ast.Name):
            return []
        sets: list[tuple[ast.Assign, ast.Name, ast.Name]] = []
        for statement in loop.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
                continue
            item = self._item(target.slice)
            if item is not None and self._counts(loop, item):
                assert isinstance(statement, ast.Assign)
                sets.append((statement, target.value, item[0]))
        if not sets or len({name.id for _, name, _ in sets}) != 1:
            return []
        feed = sets[0][1]
        own = {name for _, name, _ in sets}
        others = [
            n for n in walk(loop) if isinstance(n, ast.Name) and n.id == feed.id and n not in own
        ]
        leaves = (ast.Break, ast.Continue, ast.Return)
        if others or any(isinstance(n, leaves) for n in walk(loop)):
            return []
        begun = self._begun(feed, loop)
        if begun is None or not self._moves(begun[0], [loop]):
            return []
        first, entries = begun
        home = self.names.scope_of_name[feed]
        found: list[Edit] = []
        lists: list[str] = []
        for statement, _, placeholders in sets:
            layout = Layout(self.source, statement)
            if not layout.owns_lines:
                return []
            name = self.names.fresh(home, f"fed_{placeholders.id}", f"values_of_{placeholders.id}")
            lists.append(name)
            entries.append(f"tuple({placeholders.id}): {name}")
            value = self.source.code(statement.value)
            found.append(Edit(*self.source.span(statement), f"{name}.append({value})"))
        if len({*lists}) != len(lists):
            return []
        statement = self.names.statement(first)
        layout = Layout(self.source, statement)
        item = self._item(sets[0][0].targets[0].slice)  # type: ignore[attr-defined]
        assert item is not None
        turns = self._turns(loop, item)
        return [
            layout.replace([f"{name} = []" for name in lists]),
            Edit(*self.source.span(loop.iter), turns),
            *found,
            Layout(self.source, loop).insert_after(self._named(feed.id, entries, loop)),
        ]


def one_line(code: str) -> str | None:
    """An expression on one line; None where that is another one, as with a comment inside."""
    if "\n" not in code:
        return code
    text = _BROKEN.sub(lambda found: found.group(1) or " ", code)
    try:
        same = ast.dump(ast.parse(text, mode="eval")) == ast.dump(ast.parse(code, mode="eval"))
    except SyntaxError:
        return None
    return text if same else None


def _loaded(target: ast.expr) -> ast.expr:
    """A target as what is read by it."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
