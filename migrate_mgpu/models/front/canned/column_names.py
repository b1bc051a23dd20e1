"""What the names in feature columns mean: variables, helper functions, loops over written lists."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from keyword import iskeyword

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import assigned
from migrate_mgpu.analysis.value_flow import returns
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.signatures import CANNED_KINDS
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.source import Source
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle

ADVICE = "write the column as Keras layers by hand"
LISTED = "write the columns as a list"
_IN_CALL = ("column", "columns", "features", "net", "self", "terms", "training")
_READS = ("copy", "count", "get", "index", "items", "keys", "values")

# What needs parentheses within another expression.
_LOOSE = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp)


@record(frozen=True)
class Shown:
    """What a name is, with the text of that; ``loose``: within another one it is bracketed."""

    node: ast.expr
    text: str
    loose: bool = False


# Of a loop, all of its variables in each round.
Rounds = list[tuple[Shown, ...]]


class ColumnNames:
    """Follows the names in columns.

    ``statements`` are those that make nothing but columns, ``comments`` those of the list.
    """

    features = "features"  # the name that they have where the columns are written

    def __init__(self, module: Module, style: FileStyle, graph: CallGraph) -> None:
        self.module = module
        self.style = style
        self.tf = style.tensorflow
        self.graph = graph
        self.statements: list[ast.stmt] = []
        self.comments: list[str] = []
        self._attributes: set[str] = set()
        self._limits: dict[str, str] = {}  # layers of buckets, and their attributes
        self._bound: dict[str, Shown] = {}  # a loop's variables
        self._given: dict[ast.AST, dict[str, Shown]] = {}  # a function's parameters

    # -- variables and functions ------------------------------------------------

    def variable(self, name: ast.Name) -> ast.expr:
        """The value of a variable that only makes columns; its statement goes."""
        names = self.module.names
        bindings = names.bindings_of(name)
        if len(bindings) == 1:
            statement = names.statement(bindings[0].node)
            block = names.parents[statement]
            value = bindings[0].value or self._unpacked(statement, name)
            plain = isinstance(statement, ast.Assign) and not isinstance(block, (ast.For, ast.If))
            if plain and value is not None:
                if statement not in self.statements:
                    self.statements.append(statement)
                return value
        raise Refused(
            self.module, name, f"which feature columns `{name.id}` has cannot be told", LISTED
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
        if alone and home not in self._given:
            self._given[home] = self._parameters(home, node)
        if home not in self.statements:
            self.statements.append(home)
            self.comments += [
                *comments_above(self.module.source, home),
                *self.comments_of(given[0]),
            ]
        return given[0].value

    def _taken(self, reference: Reference) -> bool:
        """Whether a function's result is given to an Estimator as it is."""
        call = reference.call
        here = call is not None and reference.module is self.module
        return here and call is not None and taken_by_another(self.module, call)

    def _parameters(self, function: ast.FunctionDef, call: ast.Call) -> dict[str, Shown]:
        """What a function's parameters are in the one call of it, as far as the module knows."""
        arguments = bind(call, Function(self.module, function))
        if arguments.unclear is not None:
            return {}
        shown: dict[str, Shown] = {}
        for name, value in {**arguments.defaults, **arguments.written()}.items():
            try:
                shown[name] = Shown(value, self._known(value), self._is_loose(value))
            except Refused:
                continue  # refused where it is needed
        return shown

    def _meant(self, name: ast.Name, inside: Collection[ast.AST] = ()) -> Shown | None:
        """What a loop's variable or a function's parameter is; None for any other name."""
        names = self.module.names
        if name not in names.scope_of_name:
            return None
        home = names.defining_scope(name.id, names.scope_of_name[name])
        if name.id in self._bound and (home is None or home.node not in inside):
            return self._bound[name.id]
        if home is None or len(home.bindings.get(name.id, ())) != 1:
            return None
        return self._given.get(home.node, {}).get(name.id)

    # -- loops --------------------------------------------------------------------

    @contextmanager
    def bound(self, target: ast.expr, values: tuple[Shown, ...]) -> Iterator[None]:
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
        """What a loop's variables are in each of its rounds, with text; None if not written out."""
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
            if not isinstance(written, ast.Dict) or len(names) != 2 or None in written.keys:
                return None
            found: Rounds = []
            for key, value in zip(written.keys, written.values):
                assert key is not None
                shown = self._literal(key)
                if shown is None:
                    return None
                item = Shown(value, f"{self._known(over)}[{shown}]")
                found.append((Shown(key, shown, self._is_loose(key)), item))
            return found
        if not isinstance(written, (ast.List, ast.Tuple)) or len(names) != 1:
            return None
        values = [(element, self._literal(element)) for element in written.elts]
        if any(shown is None for _, shown in values):
            return None
        return [(Shown(one, shown or "", self._is_loose(one)),) for one, shown in values]

    def _literal(self, node: ast.expr) -> str | None:
        """The text of a text or a number."""
        value = constant(node)
        return self.module.source.code(node) if isinstance(value, (str, int, float)) else None

    # -- expressions --------------------------------------------------------------

    def value_of(self, node: ast.expr | None) -> ast.expr | None:
        """The one value that an expression has, if it is written out."""
        if isinstance(node, ast.Name):
            meant = self._meant(node)
            if meant is not None:
                return meant.node
        value = assigned(self.module, node)
        if isinstance(value, (ast.List, ast.Dict)) and isinstance(node, ast.Name):
            return node if changes(self.module, node) else value
        return value

    def comments_of(self, statement: ast.stmt) -> list[str]:
        """The comments above a statement, in it and behind it."""
        source = self.module.source
        found = comments_above(source, statement)
        found += [comment.text for comment in comments(source.code(statement))]
        behind = Layout(source, statement).trailing_comment
        return [*found, *([behind] if behind else [])]

    def _key(self, edit: BoundCall) -> str:
        node = edit.get("key")
        value = self.value_of(node)
        key = constant(value)
        if not isinstance(key, str):
            raise Refused(
                self.module, node or edit.call, "the name of this feature column is not written "
                "out, and the columns stand in the order of their names", ADVICE,
            )  # fmt: skip
        return key

    def _feature(self, edit: BoundCall) -> str:
        node = edit.get("key")
        assert node is not None
        return f"{self.features}[{self._known(node)}]"

    def _known(self, node: ast.expr) -> str:
        """An expression in the model's class: it may read what the module knows, no more."""
        names = self.module.names
        inside = set(ast.walk(node))
        replaced: dict[ast.AST, Replacement] = {}
        for part in inside:
            if isinstance(part, ast.Name) and part in names.scope_of_name:
                home = names.defining_scope(part.id, names.scope_of_name[part])
                meant = self._meant(part, inside)
                if meant is not None:
                    bracketed = meant.loose and part is not node
                    replaced[part] = written(f"({meant.text})" if bracketed else meant.text)
                    continue
                if home is not None and not home.is_module and home.node not in inside:
                    raise Refused(
                        self.module, node, f"`{part.id}` of this feature column is known in one "
                        "function only", "make it a constant of the module",
                    )  # fmt: skip
        if replaced:
            return Context(self.module, self.style, replaced=replaced).render(node)
        return text_of(self.module, node)

    def _is_loose(self, node: ast.expr) -> bool:
        """Whether the text of an expression is bracketed within another one."""
        meant = self._meant(node) if isinstance(node, ast.Name) else None
        return meant.loose if meant is not None else isinstance(node, _LOOSE)

    def _varies(self, node: ast.AST) -> bool:
        """Whether an expression reads a loop's variable or a function's parameter."""
        inside = set(ast.walk(node))
        return any(isinstance(n, ast.Name) and self._meant(n, inside) is not None for n in inside)

    def _none(self, edit: BoundCall, *names: str, allowed: tuple[object, ...] = ()) -> None:
        for name in names:
            value = edit.given(name)
            if value is not None and constant(value) not in allowed:
                raise Refused(
                    self.module, value, f"`{name}` of a feature column is not converted", ADVICE
                )

    def _attribute(self, key: str, suffix: str) -> str:
        base = "".join(c if c.isalnum() else "_" for c in key).strip("_").lower() or "feature"
        name = f"{base}_{suffix}"
        while name in self._attributes or name[0].isdigit():
            name = f"_{name}" if name[0].isdigit() else f"{name}_"
        self._attributes.add(name)
        return name

    def _local(self, wished: str) -> str:
        """A variable of `call`'s, none of whose other names it is."""
        name = self._attribute(wished, "local").removesuffix("_local")
        taken = name in self.module.names.module_scope.bindings or hasattr(builtins, name)
        return f"{name}_values" if taken or name in _IN_CALL or iskeyword(name) else name


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


def written(text: str) -> Replacement:
    """What a node becomes, whatever is around it."""
    return lambda context: text


def taken_by_another(module: Module, mention: ast.expr) -> bool:
    """Whether a variable is an Estimator's list of columns at a mention."""
    parent = module.names.parents[mention]
    call = module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or mention is call.func:
        return False
    head, _, last = tensorflow_name(module, call.func).rpartition(".")
    return head == "estimator" and last in CANNED_KINDS


def comments_above(source: Source, statement: ast.stmt) -> list[str]:
    """The comments right above a statement."""
    found: list[str] = []
    line = statement.lineno - 1
    while line >= 1 and is_comment(source.line_text(line)):
        found.insert(0, source.line_text(line).strip())
        line -= 1
    return found


def is_comment(line: str) -> bool:
    """Whether a line is a comment, and not the beginning of a notebook's cell."""
    return line.strip().startswith("#") and not line.startswith("# %%")
