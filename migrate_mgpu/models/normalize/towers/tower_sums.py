"""Sums that towers add to one after the other, as lists of which one sum is made behind them.

    total = 0.0
    for i in range(n):
        with tf.device('/gpu:%d' % i):
            ...
            total += loss / n
            for grad, var in opt.compute_gradients(loss):
                if var in mean:
                    mean[var] += grad / n
                else:
                    mean[var] = grad / n

becomes `losses.append(loss)` and `tower_grads.append(opt.compute_gradients(loss))` in the loop,
and behind it `total = tf.add_n(losses) / n` and a function that averages each variable's gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.towers.loop import COUNTS, is_placed_anew, loops_on_devices
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such sum; none where there is none."""
    for loop in loops_on_devices(module):
        if _runs(loop):
            continue
        if (
            loop.orelse
            or not is_placed_anew(module, loop)
            or not Layout(module.source, loop).owns_start
        ):
            continue
        for statement in in_line(loop.body):
            edits = _Sum(module, graph, loop, statement).edits()
            if edits:
                return edits
    return []


class _Sum:
    """A statement of a loop over devices that adds to something."""

    def __init__(
        self, module: Module, graph: CallGraph, loop: ast.For, statement: ast.stmt
    ) -> None:
        self.module = module
        self.graph = graph
        self.names = module.names
        self.source = module.source
        self.loop = loop
        self.statement = statement
        self.home = module.names.scope_at(loop)
        self.mean: bool | None = None  # whether each tower's share is divided by their number

    def edits(self) -> list[Edit]:
        one = self.statement
        if not Layout(self.source, one).owns_lines:
            return []
        if isinstance(one, (ast.AugAssign, ast.Assign)):
            return self._of_losses(one)
        if isinstance(one, ast.For):
            return self._of_table(one)
        return self._of_list(one) if isinstance(one, ast.If) else []

    # -- losses ----------------------------------------------------------------------------

    def _of_losses(self, one: ast.AugAssign | ast.Assign) -> list[Edit]:
        """`total += loss / n`, `total = total + loss`"""
        target = one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        value: ast.expr = one.value
        if not isinstance(target, ast.Name) or self.names.scope_at(one) is not self.home:
            return []
        if isinstance(one, ast.AugAssign):
            if not isinstance(one.op, ast.Add):
                return []
        else:
            if len(one.targets) > 1 or not isinstance(value, ast.BinOp):
                return []
            left, right = value.left, value.right
            added = isinstance(value.op, ast.Add) and _is_named(left, target.id)
            if not added:
                return []
            value = right
        share = self._share(value)
        begun = self._begun(target.id, one, lambda node: constant(node) == 0)
        if not isinstance(share, ast.Name) or begun is None or not self._is_of_loop(share):
            return []
        if not self._is_tensor(share):
            return []
        name = self.names.fresh(self.home, f"{target.id}_of_towers", f"{target.id}_of_each_tower")
        code = f"{self._tensorflow}.add_n({name})"
        return [
            Layout(self.source, begun).replace([f"{name} = []"]),
            Layout(self.source, one).replace([f"{name}.append({share.id})"]),
            self._behind([f"{target.id} = {code}{self._scale}"]),
        ]

    # -- gradients -------------------------------------------------------------------------

    def _of_table(self, one: ast.For) -> list[Edit]:
        """`for grad, var in grads:` that adds each to the item of its variable."""
        pair = one.target.elts if isinstance(one.target, ast.Tuple) else []
        if len(pair) != 2 or len(one.body) != 1 or not isinstance(one.body[0], ast.If):
            return []
        grad, var = pair
        test, choice = one.body[0].test, one.body[0]
        if not isinstance(grad, ast.Name) or not isinstance(var, ast.Name) or one.orelse:
            return []
        if not isinstance(test, ast.Compare) or not _is_named(test.left, var.id):
            return []
        table = test.comparators[0]
        if not isinstance(table, ast.Name) or len(choice.body) != 1 or len(choice.orelse) != 1:
            return []
        first, more = choice.orelse[0], choice.body[0]
        if isinstance(test.ops[0], ast.NotIn):
            first, more = more, first
        elif not isinstance(test.ops[0], ast.In):
            return []
        item = f"{table.id}[{var.id}]"
        shares = [self._assigned(first, item), self._added(more, item)]
        if not all(_is_named(self._share(share), grad.id) for share in shares):
            return []
        begun = self._begun(table.id, one, _is_empty_table)
        read = self._table_read(table.id)
        if begun is None or read is None or not self._are_gradients(one.iter):
            return []
        inside = {one, read}
        for own in (grad, var):
            if any(not is_inside(self.module, n, inside) for n in self._mentions(own.id)):
                return []
        name = self.names.fresh(self.home, f"{table.id}_of_towers", f"{table.id}_of_each_tower")
        function, made = self._function()
        return [
            made,
            Layout(self.source, begun).replace([f"{name} = []"]),
            Layout(self.source, one).replace([f"{name}.append({self.source.code(one.iter)})"]),
            Edit(*self.source.span(read), f"{function}({name})"),
        ]

    def _table_read(self, table: str) -> ast.ListComp | None:
        """`[(g, v) for v, g in table.items()]`, the only thing that reads the table."""
        reads = [
            one for one in self._mentions(table) if not is_inside(self.module, one, {self.loop})
        ]
        reads = [one for one in reads if isinstance(one.ctx, ast.Load)]
        if len(reads) != 1 or position(reads[0]) < position(self.loop):
            return None
        for around in self.names.ancestors(reads[0]):
            if isinstance(around, ast.ListComp):
                (first, *more) = around.generators
                shown = (
                    ast.unparse(around.elt),
                    ast.unparse(first.target),
                    ast.unparse(first.iter),
                )
                if more or first.ifs:
                    return None
                names = [n.id for n in walk(first.target) if isinstance(n, ast.Name)]
                if len(names) == 2 and shown[2] == f"{table}.items()":
                    var, grad = names
                    return around if shown[0] == f"({grad}, {var})" else None
                if len(names) == 1 and shown[2] in (table, f"{table}.keys()"):
                    var = names[0]
                    return around if shown[0] == f"({table}[{var}], {var})" else None
                return None
        return None

    def _of_list(self, one: ast.If) -> list[Edit]:
        """`if mean is None: mean = grads`, and `else` the sums with those of the towers before."""
        if len(one.body) != 1 or len(one.orelse) != 1:
            return []
        first, more, test = one.body[0], one.orelse[0], one.test
        if not isinstance(first, ast.Assign) or not isinstance(first.targets[0], ast.Name):
            return []
        total = first.targets[0].id
        asks = isinstance(test, ast.Compare) and _is_named(test.left, total)
        none = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is)
        if not isinstance(test, ast.Compare) or not is_none(test.comparators[0]):
            return []
        if not asks or not none or len(test.ops) > 1 or not isinstance(more, ast.Assign):
            return []
        grads = self._first_list(first.value)
        if grads is None or not _is_named(more.targets[0], total) or len(more.targets) > 1:
            return []
        if not self._is_sum_of_lists(more.value, total, grads.id):
            return []
        begun = self._begun(total, one, is_none)
        if begun is None or not self._are_gradients(grads):
            return []
        name = self.names.fresh(self.home, f"{total}_of_towers", f"{total}_of_each_tower")
        function, made = self._function()
        return [
            made,
            Layout(self.source, begun).replace([f"{name} = []"]),
            Layout(self.source, one).replace([f"{name}.append({grads.id})"]),
            self._behind([f"{total} = {function}({name})"]),
        ]

    def _first_list(self, value: ast.expr) -> ast.Name | None:
        """What the first tower's gradients are: a list, or `[(g / n, v) for g, v in grads]`."""
        if isinstance(value, ast.Name):
            self.mean = False
            return value
        if not isinstance(value, ast.ListComp) or len(value.generators) != 1:
            return None
        (each,) = value.generators
        names = each.target.elts if isinstance(each.target, ast.Tuple) else []
        pair = value.elt.elts if isinstance(value.elt, ast.Tuple) else []
        if each.ifs or len(names) != 2 or len(pair) != 2 or not isinstance(each.iter, ast.Name):
            return None
        grad, var = names
        if not isinstance(grad, ast.Name) or not isinstance(var, ast.Name):
            return None
        scaled = _is_named(self._share(pair[0]), grad.id) and _is_named(pair[1], var.id)
        return each.iter if scaled else None

    def _is_sum_of_lists(self, value: ast.expr, total: str, grads: str) -> bool:
        """`[(a + g / n, v) for (a, v), (g, _) in zip(total, grads)]`"""
        if not isinstance(value, ast.ListComp) or len(value.generators) != 1:
            return False
        (each,) = value.generators
        if each.ifs or ast.unparse(each.iter) != f"zip({total}, {grads})":
            return False
        names = [n.id for n in walk(each.target) if isinstance(n, ast.Name)]
        shape = ast.unparse(each.target)
        if len(names) != 4 or shape not in (
            "(({}, {}), ({}, {}))".format(*names), "({}, {}), ({}, {})".format(*names)
        ):  # fmt: skip
            return False
        before, var, grad, other = names
        pair = value.elt.elts if isinstance(value.elt, ast.Tuple) else []
        if len(pair) != 2 or not isinstance(pair[1], ast.Name) or pair[1].id not in (var, other):
            return False
        if len({before, grad}) < 2 or {before, grad} & {var, other}:
            return False
        both = pair[0]
        if not isinstance(both, ast.BinOp) or not isinstance(both.op, ast.Add):
            return False
        return _is_named(both.left, before) and _is_named(self._share(both.right), grad)

    # -- parts of both ---------------------------------------------------------------------

    def _share(self, node: ast.expr | None) -> ast.expr | None:
        """What a tower adds, without the division by their number; None where shares differ."""
        mean = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        if self.mean not in (None, mean):
            return None
        if isinstance(node, ast.BinOp) and mean:
            count = node.right
            if isinstance(count, ast.Call) and ast.unparse(count.func) == "float":
                count = count.args[0] if len(count.args) == 1 else count
            if self._count is None or ast.dump(count) != ast.dump(self._count):
                return None
            node = node.left
        self.mean = mean
        return node

    @property
    def _count(self) -> ast.expr | None:
        """How many towers there are."""
        over = self.loop.iter
        if not isinstance(over, ast.Call) or self.names.qualname(over.func) not in COUNTS:
            return None
        first = over.args[0] if len(over.args) == 2 else None
        if first is not None and constant(first) == 0:
            return over.args[1]
        return over.args[0] if len(over.args) == 1 else None

    @property
    def _scale(self) -> str:
        count = self._count
        return f" / {self.source.code(count)}" if self.mean and count is not None else ""

    @property
    def _tensorflow(self) -> str:
        """How the module calls TensorFlow."""
        func = calls_of_names(self.module)["device"][0].func
        return self.source.code(func.value) if isinstance(func, ast.Attribute) else "tf"

    def _function(self) -> tuple[str, Edit]:
        """A function that makes one gradient of those of all towers."""
        word = "average" if self.mean else "sum"
        top: ast.AST = self.loop
        for one in self.names.ancestors(self.loop):
            if isinstance(one, ast.Module):
                break
            top = one
        assert isinstance(top, ast.stmt)
        name = self.names.fresh(self.names.module_scope, f"{word}_gradients", f"{word}_of_towers")
        unit = self.source.indent_unit
        share = " / len(pairs)" if self.mean else ""
        lines = [
            f"def {name}(tower_grads):",
            f"{unit}made = []",
            f"{unit}for pairs in zip(*tower_grads):",
            f"{unit}{unit}grads = [grad for grad, _ in pairs]",
            f"{unit}{unit}made.append(({self._tensorflow}.add_n(grads){share}, pairs[0][1]))",
            f"{unit}return made",
            "",
        ]
        return name, Layout(self.source, top).insert_before(lines)

    def _behind(self, lines: list[str]) -> Edit:
        return Layout(self.source, self.loop).insert_after(lines)

    def _mentions(self, name: str) -> Iterator[ast.Name]:
        yield from self.names.mentions(name, self.home)

    def _begun(
        self, name: str, here: ast.stmt, is_empty: Callable[[ast.expr], bool]
    ) -> ast.Assign | None:
        """The statement above the loop that begins a sum, which only ``here`` in the loop tells."""
        found: ast.Assign | None = None
        for mention in self._mentions(name):
            if is_inside(self.module, mention, {here}):
                continue
            if is_inside(self.module, mention, {self.loop}):
                return None
            statement = self.names.statement(mention)
            if position(mention) < position(self.loop):
                if found is not None or not isinstance(statement, ast.Assign):
                    return None
                if statement.targets != [mention] or not is_empty(statement.value):
                    return None
                found = statement
            elif self.names.scope_of_name[mention] is not self.home and not isinstance(
                mention.ctx, ast.Load
            ):
                return None
        alone = found is not None and Layout(self.source, found).owns_lines
        in_loop = found is not None and any(
            isinstance(one, (ast.For, ast.While)) and one not in {*self.names.ancestors(self.loop)}
            for one in self.names.ancestors(found)
        )
        return found if alone and not in_loop else None

    def _is_of_loop(self, name: ast.Name) -> bool:
        """Whether the loop gives a name its value."""
        return any(
            is_inside(self.module, one.node, {self.loop}) for one in self.names.bindings_of(name)
        )

    def _is_tensor(self, name: ast.Name) -> bool:
        """Whether a call of TensorFlow's, or of the author's, gives a name its value."""
        statements = {self.names.statement(one.node) for one in self.names.bindings_of(name)}
        made = statements.pop() if len(statements) == 1 else None
        if not isinstance(made, ast.Assign):
            return False
        return any(
            isinstance(part, ast.Call)
            and (name_of(self.module, part) or self.graph.target(self.module, part.func))
            for part in walk(made.value)
        )

    def _are_gradients(self, value: ast.expr) -> bool:
        """Whether it is what `compute_gradients` gives in the loop."""
        if isinstance(value, ast.Name):
            made = self.names.only_value(value)
            if made is None or not self._is_of_loop(value):
                return False
            value = made
        func = value.func if isinstance(value, ast.Call) else None
        return isinstance(func, ast.Attribute) and func.attr == "compute_gradients"

    def _assigned(self, one: ast.stmt, item: str) -> ast.expr | None:
        """The value of `mean[var] = value`."""
        if isinstance(one, ast.Assign) and [ast.unparse(t) for t in one.targets] == [item]:
            return one.value
        return None

    def _added(self, one: ast.stmt, item: str) -> ast.expr | None:
        """What `mean[var] += value` adds, or `mean[var] = mean[var] + value`."""
        if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
            return one.value if ast.unparse(one.target) == item else None
        value = self._assigned(one, item)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            return value.right if ast.unparse(value.left) == item else None
        return None


def _runs(loop: ast.For) -> bool:
    """Whether a loop runs a step: what it adds up are numbers."""
    return any(isinstance(one, ast.Attribute) and one.attr in ("run", "eval") for one in walk(loop))


def _is_named(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_empty_table(node: ast.expr) -> bool:
    """`{}`, `dict()`, `collections.OrderedDict()`"""
    if isinstance(node, ast.Dict):
        return not node.keys
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return ast.unparse(node.func).rpartition(".")[2] in ("dict", "OrderedDict")
