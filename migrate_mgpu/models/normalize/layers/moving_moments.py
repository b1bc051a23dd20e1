"""Batch normalization by hand, with an ExponentialMovingAverage of a batch's moments.

    mean, variance = tf.nn.moments(x, [0, 1, 2])
    ema = tf.train.ExponentialMovingAverage(decay=0.9)

    def updated():
        with tf.control_dependencies([ema.apply([mean, variance])]):
            return tf.identity(mean), tf.identity(variance)

    m, v = tf.cond(training, updated, lambda: (ema.average(mean), ema.average(variance)))

becomes `m, v = tf.layers.moving_moments(x, [0, 1, 2], 0.9, training=training)`, which TF1 does not
have: the readers know it as a layer with two variables. Where it stays, the author's code does. The
averages move where the condition is true alone: `ema.apply` stands in its branch, or in that of
another condition on the same. An `apply` above the condition moves them in an evaluation too,
before or after they are read, and stays.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout, start_with_comments

_AVERAGE = "train.ExponentialMovingAverage"
_SHARED = ("reuse", "REUSE", "make_template")
_COND = ("pred", "true_fn", "false_fn", "strict", "name", "fn1", "fn2")
_MOMENTS = ("x", "axes", "shift", "name", "keep_dims", "keepdims")
# What a condition, axes and a decay may consist of: they are computed where the condition stands.
_PLAIN = (
    ast.Name, ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.IfExp, ast.Compare, ast.BinOp,
    ast.UnaryOp, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


class _Stays(Exception):
    """It is not such code, or more than that."""


@record(eq=False)
class _Found:
    """What goes: statements, and every mention of the names that go with them."""

    statements: list[ast.stmt] = field(default_factory=list)
    mentions: set[ast.AST] = field(default_factory=set)


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such average; none where there is none."""
    if "ExponentialMovingAverage" not in module.source.text:
        return []
    # Where calls share variables, TF1 makes each its own averages, or ends with an error.
    if any(shared in one.source.text for one in modules for shared in _SHARED):
        return []
    for call in calls_of_names(module).get(_AVERAGE, ()):
        try:
            return _Averaged(module, call).edits()
        except _Stays:
            continue
    return []


class _Averaged:
    def __init__(self, module: Module, average: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.average = average
        self.found = _Found()

    def edits(self) -> list[Edit]:
        made, ema = self._assigned(self.average, 1)
        (average,) = ema
        decay = by_parameter(self.average, ("decay", "num_updates", "zero_debias", "name"))
        if decay.keys() != {"decay"} or not self._is_plain(decay["decay"]):
            raise _Stays
        block = self.names.block(made)
        self.found.statements.append(made)
        self.found.mentions.add(average)
        moments = [one for one in block if self._is_moments(one)]
        chosen = [one for one in block if self._is_choice(one, average)]
        if len(chosen) != 1:
            raise _Stays
        (choice,) = chosen
        assert isinstance(choice, ast.Assign) and isinstance(choice.value, ast.Call)
        given = by_parameter(choice.value, _COND)
        true, false = (
            given.get("true_fn", given.get("fn1")),
            given.get("false_fn", given.get("fn2")),
        )
        trains = given.get("pred")
        if not {*given} <= {"pred", "true_fn", "false_fn", "fn1", "fn2", "name"}:
            raise _Stays
        if not isinstance(trains, (ast.Name, ast.Attribute)) or true is None or false is None:
            raise _Stays
        for statement in moments:
            assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
            _, parts = self._assigned(statement.value, 2)
            if self._applied(false, average, [one.id for one in parts]):
                break
        else:
            raise _Stays
        self.found.statements.append(statement)
        self.found.mentions.update(parts)
        read = by_parameter(statement.value, _MOMENTS)
        if not {"x", "axes"} <= read.keys() <= {"x", "axes", "name"}:
            raise _Stays
        if not isinstance(read["x"], ast.Name) or not self._is_plain(read["axes"]):
            raise _Stays
        texts = [one.id for one in parts]
        self._updated(true, average, texts, trains, block)
        order = [*block]
        if not order.index(statement) < order.index(choice):
            raise _Stays
        self._check_mentions([average, *parts])
        self._check_unchanged(
            block[order.index(statement) : order.index(choice)],
            [read["x"], read["axes"], decay["decay"], trains],
        )
        source = self.module.source
        shown = [source.code(one) for one in (read["x"], read["axes"], decay["decay"], trains)]
        code = source.code(self.average.func)
        if any("#" in one or "\n" in one for one in shown) or "." not in code:
            raise _Stays
        if not code.endswith(f".{_AVERAGE}"):
            raise _Stays
        library = code[: -len(_AVERAGE) - 1]
        new = f"{library}.layers.moving_moments({', '.join(shown[:3])}, training={shown[3]})"
        gone = [one for one in self.found.statements if one is not choice]
        if not all(Layout(source, one).owns_lines for one in gone):
            raise _Stays
        removed = [_without(source, one) for one in gone]
        return [Edit(*source.span(choice.value), new), *blank_lines(source, removed)]

    # -- what stands there ----------------------------------------------------------------------

    def _assigned(self, call: ast.Call, count: int) -> tuple[ast.Assign, list[ast.Name]]:
        """The statement that gives a call's value to so many names, and these."""
        statement = self.names.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            raise _Stays
        (target, *more) = statement.targets
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        named = [one for one in parts if isinstance(one, ast.Name)]
        if more or len(parts) != count or len(named) != count:
            raise _Stays
        return statement, named

    def _is_moments(self, statement: ast.stmt) -> bool:
        value = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(value, ast.Call) or name_of(self.module, value) != "nn.moments":
            return False
        try:
            self._assigned(value, 2)
        except _Stays:
            return False
        return True

    def _is_choice(self, statement: ast.stmt, average: ast.Name) -> bool:
        """Whether a statement chooses, by `tf.cond`, what reads the averages, as two names."""
        value = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(value, ast.Call) or name_of(self.module, value) != "cond":
            return False
        try:
            self._assigned(value, 2)
        except _Stays:
            return False
        return any(self._is_method(one, average, "average") for one in walk(value))

    def _is_method(self, node: ast.AST, average: ast.Name, name: str) -> bool:
        func = node.func if isinstance(node, ast.Call) else None
        return (
            isinstance(func, ast.Attribute)
            and func.attr == name
            and isinstance(func.value, ast.Name)
            and func.value.id == average.id
        )

    def _applied(self, node: ast.expr, average: ast.Name, parts: list[str]) -> bool:
        """Whether a lambda gives the averages of two names, in their order; then they are seen."""
        body = node.body if isinstance(node, ast.Lambda) and not _parameters(node.args) else None
        if not isinstance(body, (ast.Tuple, ast.List)) or len(body.elts) != 2:
            return False
        read: list[ast.Name] = []
        for one, part in zip(body.elts, parts):
            if not isinstance(one, ast.Call) or not self._is_method(one, average, "average"):
                return False
            argument = _argument(one)
            if not isinstance(argument, ast.Name) or argument.id != part:
                return False
            assert isinstance(one.func, ast.Attribute) and isinstance(one.func.value, ast.Name)
            read += [argument, one.func.value]
        self.found.mentions.update(read)
        return True

    def _updated(
        self,
        node: ast.expr,
        average: ast.Name,
        parts: list[str],
        trains: ast.expr,
        block: list[ast.stmt],
    ) -> None:
        """The function of the branch that trains: it moves the averages, and gives the moments."""
        if not isinstance(node, ast.Name):
            raise _Stays
        functions = [
            one for one in block if isinstance(one, ast.FunctionDef) and one.name == node.id
        ]
        mentions = [
            one
            for one in self.names.mentions(node.id, self.names.scope_at(functions[0]))
            if isinstance(one.ctx, ast.Load)
        ] if len(functions) == 1 else []  # fmt: skip
        if mentions != [node]:
            raise _Stays
        (function,) = functions
        body = [one for one in function.body if not _is_text(one)]
        if function.decorator_list or _parameters(function.args):
            raise _Stays
        moved: ast.expr | None = None
        if len(body) == 2 and isinstance(body[0], ast.Assign):
            moved, named = body[0].value, body[0].targets
            if len(named) != 1 or not isinstance(named[0], ast.Name):
                raise _Stays
            body, name = body[1:], named[0].id
        else:
            name = ""
        if len(body) != 1 or not isinstance(body[0], ast.With) or len(body[0].items) != 1:
            raise _Stays
        around = body[0].items[0].context_expr
        if (
            not isinstance(around, ast.Call)
            or name_of(self.module, around) != "control_dependencies"
        ):
            raise _Stays
        listed = _argument(around)
        if not isinstance(listed, (ast.List, ast.Tuple)):
            raise _Stays
        if len(listed.elts) != 1:
            raise _Stays
        waited = listed.elts[0]
        if name:
            if not isinstance(waited, ast.Name) or waited.id != name or moved is None:
                raise _Stays
            self._moves(moved, average, parts)
        elif isinstance(waited, ast.Name):
            self._moves_elsewhere(waited, average, parts, trains, block)
        else:
            self._moves(waited, average, parts)
        self._gives(body[0].body, parts)
        self.found.statements.append(function)

    def _moves(self, node: ast.expr, average: ast.Name, parts: list[str]) -> None:
        """`ema.apply([mean, variance])`."""
        if not isinstance(node, ast.Call) or not self._is_method(node, average, "apply"):
            raise _Stays
        listed = _argument(node)
        if not isinstance(listed, (ast.List, ast.Tuple)):
            raise _Stays
        names = [one for one in listed.elts if isinstance(one, ast.Name)]
        if [one.id for one in names] != parts or len(listed.elts) != len(parts):
            raise _Stays
        assert isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
        self.found.mentions.update([*names, node.func.value])

    def _moves_elsewhere(
        self,
        waited: ast.Name,
        average: ast.Name,
        parts: list[str],
        trains: ast.expr,
        block: list[ast.stmt],
    ) -> None:
        """`moved = tf.cond(training, lambda: ema.apply(...), lambda: tf.no_op())`, before."""
        binding = self.names.only_binding(waited)
        made = self.names.statement(binding.node) if binding is not None else None
        if not isinstance(made, ast.Assign) or made not in block:
            raise _Stays
        value = made.value
        if not isinstance(value, ast.Call) or name_of(self.module, value) != "cond":
            raise _Stays
        self._assigned(value, 1)
        given = by_parameter(value, _COND)
        true, false = (
            given.get("true_fn", given.get("fn1")),
            given.get("false_fn", given.get("fn2")),
        )
        if len(given) != 3 or ast.dump(given["pred"]) != ast.dump(trains):
            raise _Stays
        for one in (true, false):
            if not isinstance(one, ast.Lambda) or _parameters(one.args):
                raise _Stays
        assert isinstance(true, ast.Lambda) and isinstance(false, ast.Lambda)
        self._moves(true.body, average, parts)
        idle = false.body
        if not isinstance(idle, ast.Call) or name_of(self.module, idle) != "no_op":
            raise _Stays
        if idle.args or idle.keywords:
            raise _Stays
        (target,) = made.targets
        assert isinstance(target, ast.Name)
        home = self.names.scope_of_name[target]
        if {*self.names.mentions(waited.id, home)} != {target, waited}:
            raise _Stays
        self.found.statements.append(made)

    def _gives(self, body: list[ast.stmt], parts: list[str]) -> None:
        """`return tf.identity(mean), tf.identity(variance)`."""
        value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(parts):
            raise _Stays
        for one, part in zip(value.elts, parts):
            if not isinstance(one, ast.Call) or name_of(self.module, one) != "identity":
                raise _Stays
            argument = _argument(one)
            if not isinstance(argument, ast.Name) or argument.id != part:
                raise _Stays
            self.found.mentions.add(argument)

    # -- nothing else has to do with it ---------------------------------------------------------

    def _check_mentions(self, names: list[ast.Name]) -> None:
        for name in names:
            scope = self.names.scope_of_name[name]
            home = self.names.defining_scope(name.id, scope)
            if home is None or len(home.bindings[name.id]) != 1:
                raise _Stays
            if not {*self.names.mentions(name.id, home)} <= self.found.mentions:
                raise _Stays

    def _check_unchanged(self, between: list[ast.stmt], read: list[ast.expr]) -> None:
        """What the condition's place reads is what the moments were of."""
        used = {part.id for one in read for part in walk(one) if isinstance(part, ast.Name)}
        made: set[str] = set()
        for statement in between[1:]:
            for part in walk(statement):
                if isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
                    made.add(part.id)
        later = {  # a decay that is computed on the way
            part.id for one in read[2:3] for part in walk(one) if isinstance(part, ast.Name)
        }
        if (used - later) & made:
            raise _Stays

    def _is_plain(self, node: ast.expr) -> bool:
        return all(isinstance(part, _PLAIN) for part in walk(node))


def _without(source: Source, statement: ast.stmt) -> Edit:
    """A statement goes, with the comments above it."""
    layout = Layout(source, statement)
    top, _ = source.part_at(layout.line_start)
    start = max(start_with_comments(source.text, layout.line_start), top)
    return Edit(start, layout.next_line, "")


def _parameters(arguments: ast.arguments) -> bool:
    told = (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return any(told)


def _argument(call: ast.Call) -> ast.expr | None:
    """The only thing that a call is given, by its place."""
    return call.args[0] if len(call.args) == 1 and not call.keywords else None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(constant(statement.value), str)
