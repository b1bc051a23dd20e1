"""What the names in feature columns mean: variables, helper functions, loops over written lists."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.value_flow import returns
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.signatures import CANNED_KINDS
from migrate_mgpu.models.ir import BoundExpression
from migrate_mgpu.source.statements import comments_above, comments_of

ADVICE = "write the column as Keras layers by hand"
STOPS = "columns-that-stop-in-tf1"  # the key of what 1.15 ends with an error at
LISTED = "write the columns as a list"
_READS = ("copy", "count", "get", "index", "items", "keys", "values")


@record(frozen=True)
class Meaning:
    """What a name stands for: its value, and the expression by which a program says it."""

    value: ast.expr
    expression: BoundExpression


# Of a loop, all of its variables in each round.
Rounds = list[tuple[Meaning, ...]]


class ColumnNames:
    """Follows the names in columns.

    ``statements`` are those that make nothing but columns, ``comments`` those of the list.
    """

    def __init__(self, module: Module, graph: CallGraph) -> None:
        self.module = module
        self.graph = graph
        self.statements: list[ast.stmt] = []
        self.comments: list[str] = []
        self._bound: dict[str, Meaning] = {}  # a loop's variables
        self._parameters_of: dict[ast.AST, dict[str, Meaning]] = {}  # a function's

    # -- variables and functions ------------------------------------------------

    def variable(self, name: ast.Name) -> ast.expr:
        """The value of a variable that only makes columns; its statement goes."""
        names = self.module.names
        binding = names.only_binding(name)
        if binding is not None:
            statement = names.statement(binding.node)
            block = names.parents[statement]
            value = binding.value or self._unpacked(statement, name)
            plain = isinstance(statement, ast.Assign) and not isinstance(block, (ast.For, ast.If))
            if plain and value is not None:
                if statement not in self.statements:
                    self.statements.append(statement)
                return value
        raise Refused(
            self.module, name, f"which feature columns `{name.id}` has cannot be determined", LISTED
        )

    def _unpacked(self, statement: ast.stmt, name: ast.Name) -> ast.expr | None:
        """`name`'s part of `wide, deep = columns()`."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target, value = statement.targets[0], self.looked_through(statement.value)
        if not isinstance(target, (ast.Tuple, ast.List)):
            return None
        if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(target.elts):
            return None
        for one, part in zip(target.elts, value.elts):
            if isinstance(one, ast.Name) and one.id == name.id:
                return None if isinstance(part, ast.Starred) else part
        return None

    def looked_through(self, node: ast.expr) -> ast.expr:
        """What a function returns that makes columns for an Estimator alone; else the node.

        The function goes with its call: `_removed` of the Estimator looks at its statements.
        """
        function = self.graph.target(self.module, node.func) if isinstance(node, ast.Call) else None
        if function is None or function.module is not self.module or function.owner is not None:
            return node  # a method may be another one in a subclass
        home = function.node
        assert isinstance(node, ast.Call)
        if not isinstance(home, ast.FunctionDef) or home.decorator_list:
            return node
        given = returns(function)
        if len(given) != 1 or given[0] is not home.body[-1] or given[0].value is None:
            return node
        references = self.graph.references(function)
        alone = [reference.call for reference in references] == [node]
        if not alone and not all(self._taken(reference) for reference in references):
            return node
        if alone and home not in self._parameters_of:
            self._parameters_of[home] = self._parameters(home, node)
        if home not in self.statements:
            self.statements.append(home)
            self.comments += [
                *comments_above(self.module.source, home),
                *comments_of(self.module.source, given[0]),
            ]
        return given[0].value

    def _taken(self, reference: Reference) -> bool:
        """Whether a function's result is given to an Estimator as it is."""
        call = reference.call
        here = call is not None and reference.module is self.module
        return here and call is not None and taken_by_another(self.module, call)

    def _parameters(self, function: ast.FunctionDef, call: ast.Call) -> dict[str, Meaning]:
        """What a function's parameters are in the one call of it, as far as the module knows."""
        arguments = bind(call, Function(self.module, function))
        if arguments.unclear is not None:
            return {}
        found: dict[str, Meaning] = {}
        for name, value in {**arguments.defaults, **arguments.written()}.items():
            try:
                found[name] = Meaning(value, self.expression(value))
            except Refused:
                continue  # refused where it is needed
        return found

    def _meant(self, name: ast.Name, inside: Collection[ast.AST] = ()) -> Meaning | None:
        """What a loop's variable or a function's parameter is; None for any other name."""
        names = self.module.names
        if name not in names.scope_of_name:
            return None
        home = names.defining_scope(name.id, names.scope_of_name[name])
        if name.id in self._bound and (home is None or home.node not in inside):
            return self._bound[name.id]
        if home is None or len(home.bindings.get(name.id, ())) != 1:
            return None
        return self._parameters_of.get(home.node, {}).get(name.id)

    # -- loops --------------------------------------------------------------------

    @contextmanager
    def bound(self, target: ast.expr, values: tuple[Meaning, ...]) -> Iterator[None]:
        """A loop's variables, in one of its rounds."""
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        before = dict(self._bound)
        for part, value in zip(parts, values):
            assert isinstance(part, ast.Name)
            self._bound[part.id] = value
        try:
            yield
        finally:
            self._bound = before

    def rounds(self, target: ast.expr, over: ast.expr) -> Rounds | None:
        """What a loop's variables are in each of its rounds; None if that is not written out."""
        items = False
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
            if over.func.attr != "items" or over.args or over.keywords:
                return None
            items, over = True, over.func.value
        written = self.value_of(over)
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        if not all(isinstance(name, ast.Name) for name in names):
            return None
        if items:
            if not isinstance(written, ast.Dict) or len(names) != 2:
                return None
            found: Rounds = []
            for key, value in zip(written.keys, written.values):
                literal = None if key is None else self._literal(key)
                if literal is None:
                    return None
                whole = self.expression(over)
                item = BoundExpression(self.module, over, whole.bound, literal.expression)
                found.append((literal, Meaning(value, item)))
            return found
        if not isinstance(written, (ast.List, ast.Tuple)) or len(names) != 1:
            return None
        values = [self._literal(element) for element in written.elts]
        rounds: Rounds = [(value,) for value in values if value is not None]
        return rounds if len(rounds) == len(values) else None

    def _literal(self, node: ast.expr) -> Meaning | None:
        """A text or a number, which means itself."""
        if not isinstance(constant(node), (str, int, float)):
            return None
        return Meaning(node, BoundExpression(self.module, node))

    # -- expressions --------------------------------------------------------------

    def value_of(self, node: ast.expr | None) -> ast.expr | None:
        """The one value that an expression has, if it is written out."""
        if isinstance(node, ast.Name):
            meant = self._meant(node)
            if meant is not None:
                return meant.value
        value = self.module.names.assigned(node)
        if isinstance(value, (ast.List, ast.Dict)) and isinstance(node, ast.Name):
            return node if changes(self.module, node) else value
        return value

    def expression(self, node: ast.expr) -> BoundExpression:
        """An expression in the model's class: it may read what the module knows, no more."""
        names = self.module.names
        inside = set(ast.walk(node))
        bound: dict[ast.AST, BoundExpression] = {}
        for part in ast.walk(node):
            if not isinstance(part, ast.Name) or part not in names.scope_of_name:
                continue
            home = names.defining_scope(part.id, names.scope_of_name[part])
            meant = self._meant(part, inside)
            if meant is not None:
                bound[part] = meant.expression
            elif home is not None and not home.is_module and home.node not in inside:
                raise Refused(
                    self.module, node, f"`{part.id}` of this feature column is known in one "
                    "function only", "make it a constant of the module",
                )  # fmt: skip
        return BoundExpression(self.module, node, bound)

    def _varies(self, node: ast.AST) -> bool:
        """Whether an expression reads a loop's variable or a function's parameter."""
        inside = set(ast.walk(node))
        return any(isinstance(n, ast.Name) and self._meant(n, inside) is not None for n in inside)


def changes(module: Module, name: ast.Name) -> bool:
    """Whether a list or dictionary may be another one than was written out."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    for mention in names.mentions(name.id, home) if home is not None else ():
        parent = names.parents[mention]
        if isinstance(parent, ast.Attribute) and parent.attr not in _READS:
            return True
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return True
    return False


def taken_by_another(module: Module, mention: ast.expr) -> bool:
    """Whether a variable is an Estimator's list of columns at a mention."""
    call = module.names.taker(mention)
    if call is None:
        return False
    head, _, last = tensorflow_name(module, call.func).rpartition(".")
    return head == "estimator" and last in CANNED_KINDS
