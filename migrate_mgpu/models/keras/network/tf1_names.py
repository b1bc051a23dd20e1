"""A method of a network's class that gives its variables by the names that they had in TF1.

A name is made of the scopes around a layer, the layer's own, and the variable's. A layer or scope
that is given no name gets one of its kind, with a number where the scope has it already: such are
not known here, where a function does not say alone what its scope has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import groupby

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.constant_parameters import constants
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import holds, names_in, walk
from migrate_mgpu.api.layers import LAYERS, LayerVariable
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.network.name_scopes import name_scopes, scope_kind
from migrate_mgpu.models.ir import Layer, Weight
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.source.blocks import Block

METHOD = "tf1_variables"
_ADVICE = "give each layer and scope a name of its own"


@record(frozen=True)
class Opened:
    """A scope that a layer or a `with` opens: its name, or how that begins.

    ``numbered``: TF1 gives it another one where its scope has this one already.
    """

    name: str
    known: bool
    numbered: bool


@record(frozen=True)
class _Part:
    """A part of a name: a text, or what computes one in Python."""

    text: str
    literal: bool = True


_SLASH = _Part("/")


@record()
class _Scope:
    """The scope that statements stand in: the parts of its name, and what it has so far.

    ``rounds``: they stand in a loop that opens it once.
    """

    parts: tuple[_Part, ...] = ()
    opened: list[Opened] = field(default_factory=list)
    rounds: bool = False


class TF1Names:
    """Writes these methods for the classes of one conversion.

    ``opened`` are the scopes that the function of a class opens in its caller's.
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.opened: dict[ast.AST, list[Opened]] = {}

    def write(self, network: Network, indent: str) -> str:
        """The method's text, inside of a class at an indentation.

        Raises:
            Refused: a name is not known.
        """
        method = _Method(self, network, indent)
        text = method.text()
        self.opened[network.plan.function] = method.root.opened
        return text


class _Method:
    def __init__(self, names: TF1Names, network: Network, indent: str) -> None:
        self.names = names
        self.network = network
        self.plan = network.plan
        self.module = network.module
        self.style = network.style
        self.context = network.context({})
        self.block = Block(self.module.source, indent + self.module.source.indent_unit)
        self.root = _Scope()

    def text(self) -> str:
        empty = self.style.string("")
        self.block.line(f"def {METHOD}(self, scope={empty}):")
        quotes = '"""'
        self.block.line(f"{quotes}Its variables, with the names that TF1 gave them.{quotes}", 1)
        if self.network.applied or self.network.objects.classes:
            call = next(iter(self.network.applied), None)
            node = self.plan.function if call is None else call
            raise self._unknown(node, "the names of the variables of what a variable holds")
        if not self._statements(self.plan.statements, 1, self.root):
            self.block.line("yield from ()", 1)
        self._check(self.root)
        bad = [name for name in self.context.used if name in self.network.times.tensors]
        bad += [name for name in self.context.used if name in self.network.times.in_loops]
        if bad:
            used = self.context.used[bad[0]]
            raise self._unknown(used, f"the name of a variable depends on `{bad[0]}`")
        self.network.reads(self.context)
        return self.block.text()

    def _unknown(self, node: ast.AST, text: str) -> Refused:
        return Refused(self.module, node, f"{text}, which a checkpoint knows by TF1's", _ADVICE)

    # -- statements ----------------------------------------------------------------

    def _statements(self, body: Iterable[ast.stmt], depth: int, scope: _Scope) -> bool:
        """Adds what the layers of statements have; whether there was anything."""
        found = [self._statement(statement, depth, scope) for statement in body]
        return any(found)

    def _statement(self, statement: ast.stmt, depth: int, scope: _Scope) -> bool:
        """Adds what a statement's layers have; whether there was anything."""
        kept = self.plan.kept
        if statement not in kept and not holds(statement, kept):
            scope.opened += self._left_out(statement)
            return False
        if isinstance(statement, ast.With):
            return self._with(statement, depth, scope)
        if isinstance(statement, ast.If):
            return self._if(statement, depth, scope)
        if isinstance(statement, ast.For):
            return self._for(statement, depth, scope)
        names = self.module.names
        calls = [c for c in self.network.layers if names.statement(c) is statement]
        calls.sort(key=lambda c: (c.end_lineno or 0, c.end_col_offset or 0))
        found = [self._layer(self.network.layers[call], depth, scope) for call in calls]
        return any(found)

    def _left_out(self, statement: ast.stmt) -> Iterable[Opened]:
        """The scopes that are opened by what TF2 does without."""
        helpers = self.network.classes.helpers
        for call in (part for part in walk(statement) if isinstance(part, ast.Call)):
            target = helpers.target(self.module, call)
            opens = scope_kind(self.module, call) == "variable_scope"
            opens |= name_of(self.module, call) in LAYERS.by_name
            if opens or (target is not None and helpers.makes_layers(target)):
                yield Opened("", False, False)

    def _with(self, node: ast.With, depth: int, scope: _Scope) -> bool:
        inner = scope
        for one in name_scopes(self.module, node, self.plan.modes):
            if scope_kind(self.module, one.item.context_expr) != "variable_scope":
                continue
            inner = self._inside(inner, one.name, one.default)
        found = self._statements(node.body, depth, inner)
        if inner is not scope:
            self._check(inner)
        return found

    def _if(self, node: ast.If, depth: int, scope: _Scope) -> bool:
        arms = [self._arm(body, depth + 1, scope) for body in (node.body, node.orelse)]
        if not any(arms):
            return False
        if self.plan.modes.asks(node.test):
            raise self._unknown(node, "a variable is made in some modes alone")
        test = self.context.render(node.test)
        if arms[0]:
            self.block.line(f"if {test}:", depth)
            self.block.lines += arms[0]
            if arms[1]:
                self.block.line("else:", depth)
        else:
            self.block.line(f"if not ({test}):", depth)
        self.block.lines += arms[1]
        return True

    def _arm(self, body: Sequence[ast.stmt], depth: int, scope: _Scope) -> list[str]:
        whole, self.block = self.block, Block(self.module.source, self.block.indent)
        found = self._statements(body, depth, scope)
        lines, self.block = self.block.lines, whole
        return lines if found else []

    def _for(self, node: ast.For, depth: int, scope: _Scope) -> bool:
        inner = _Scope(scope.parts, [], True)
        lines = self._arm(node.body, depth + 1, inner)
        self._check(inner)
        scope.opened += inner.opened
        if not lines:
            return False
        targets = {name.id for name in names_in(node.target)}
        shown = any(name in self.context.used for name in targets)
        local, lists = self.network.loop_over(node, self.context, shown)
        for name in targets:
            self.context.used.pop(name, None)
        base = self.block.indent + self.module.source.indent_unit * depth
        over = self.network.zipped(local, lists, base, len(base + "for "))
        self.block.line(f"for {over}:", depth)
        self.block.lines += lines
        return True

    # -- layers --------------------------------------------------------------------

    def _layer(self, found: Found, depth: int, scope: _Scope) -> bool:
        layer = found.layer
        if found.shares is not None:
            return False
        network = self.network
        owner = network.loop_names.get(found.call) or f"self.{network.attributes[found.call]}"
        if found.helper is not None:
            opened = self.names.opened.get(found.helper.function.node)
            if opened is None:
                raise self._unknown(found.call, "the names of a function's variables")
            scope.opened += opened
            if scope.rounds and any(one.numbered for one in opened):
                raise self._numbered(found.call)
            self.block.line(f"yield from {owner}.{METHOD}({self._path(scope.parts)})", depth)
            return True
        if isinstance(layer, Weight):
            if layer.kind != "get_variable":
                raise self._unknown(found.call, f"the name of a `tf.{layer.kind}`")
            named = _argument(found.call, "name", VARIABLES.by_kind[layer.kind].signature)
            if named is None:
                raise self._unknown(found.call, "the name of a variable")
            self._yield([*scope.parts, self._part(named)], owner, depth)
            return True
        if not isinstance(layer, Layer):
            raise self._unknown(found.call, f"the names of the variables of `{found.stem}`")
        return self._plain(found, layer, owner, depth, scope)

    def _plain(self, found: Found, layer: Layer, owner: str, depth: int, scope: _Scope) -> bool:
        """A layer of the library's: the variables that it has."""
        row = LAYERS.by_kind[layer.kind]
        if row.variables is None or not row.inputs:
            text = f"the names of the variables of `{self.module.source.code(found.call.func)}`"
            raise self._unknown(found.call, text)
        if layer.averaging is not None and layer.averaging.debiased:
            raise self._unknown(found.call, "the names of a debiased moving mean")
        parameter = "scope" if layer.kind.startswith("contrib.") else "name"
        named = _argument(found.call, parameter, row.signature)
        inner = self._inside(scope, named, ast.Constant(row.scope), bool(row.variables))
        made = [one for one in row.variables if self._has(found, layer, one) is not False]
        for one in made:
            parts, value = [*inner.parts, _Part(one.name)], f"{owner}.{one.attribute}"
            known = self._has(found, layer, one) is True
            if not known:
                self.block.line(f"if {value} is not None:", depth)
            self._yield(parts, value, depth + (not known))
        return bool(made)

    def _has(self, found: Found, layer: Layer, one: LayerVariable) -> bool | None:
        """Whether a layer has a variable that it may do without; None where a run knows."""
        row = LAYERS.by_kind[layer.kind]
        given = _argument(found.call, one.setting, row.signature)
        if not one.setting or (given is None and "." not in layer.kind):
            return True
        default = {p.name: p.default for p in row.parameters}.get(one.setting, "")
        if given is None:
            return default not in ("None", "False")
        if not isinstance(given, ast.Constant):
            return True if one.setting.endswith("initializer") else None
        return bool(given.value)

    def _yield(self, parts: Iterable[_Part], value: str, depth: int) -> None:
        self.block.line(f"yield {self._path(parts)}, {value}", depth)

    # -- names ---------------------------------------------------------------------

    def _inside(
        self,
        scope: _Scope,
        name: ast.expr | None,
        default: ast.expr | None,
        numbered: bool = True,
    ) -> _Scope:
        """The scope of a name, or of TF1's own where that is None, inside of another one."""
        known = self._constants(name)
        chosen = default if known == [None] and default is not None else name
        own = chosen is default and numbered
        if chosen is None or (default is not name and None in known and known != [None]):
            raise self._unknown(name or self.plan.function, "the name of a scope")
        text = constant(chosen)
        self._is_text(chosen)
        scope.opened.append(Opened(_head(chosen), isinstance(text, str), own))
        if own and scope.rounds:
            raise self._numbered(chosen if hasattr(chosen, "lineno") else self.plan.function)
        part = self._part(chosen)
        return _Scope((*scope.parts, part, _SLASH))

    def _is_text(self, node: ast.expr) -> None:
        """A scope may be given as an object, too."""
        for part in walk(node):
            if isinstance(part, ast.Call) and scope_kind(self.module, part) is None:
                name = self.module.names.qualname(part.func) or ""
                if name.startswith("tensorflow"):
                    raise self._unknown(node, "the name of a scope")

    def _constants(self, node: ast.expr | None) -> list[object]:
        """What a name is in each call of its function; empty where that is not known."""
        if node is None or is_none(node):
            return [None]
        if isinstance(node, ast.Constant):
            return [node.value]
        if not isinstance(node, ast.Name):
            return []
        found = constants(self.module, node, self.names.graph, True)
        return list(dict.fromkeys(one.value for one in found or ()))

    def _part(self, node: ast.expr) -> _Part:
        text = constant(node)
        if isinstance(text, str):
            return _Part(text)
        shown = self.context.render(node)
        simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.JoinedStr)
        formats = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
        return _Part(shown if formats or isinstance(node, simple) else f"({shown})", False)

    def _path(self, parts: Iterable[_Part]) -> str:
        """The parts of a name behind those of the caller's scope, as one expression."""
        found = ["scope"]
        for literal, some in groupby(parts, lambda part: part.literal):
            texts = [part.text for part in some]
            found += [self.style.string("".join(texts))] if literal else texts
        return " + ".join(found)

    def _numbered(self, node: ast.AST) -> Refused:
        return self._unknown(node, "TF1 numbers the names of layers or scopes")

    def _check(self, scope: _Scope) -> None:
        """Names that TF1 gives by itself are the first of their kind in a scope."""
        for index, one in enumerate(scope.opened):
            if one.numbered and any(_may_equal(one.name, other) for other in scope.opened[:index]):
                raise self._numbered(self.plan.function)


def _argument(call: ast.Call, name: str, signature: Sequence[str]) -> ast.expr | None:
    """The value of a parameter that a call gives."""
    given = dict(zip(signature, call.args))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    value = given.get(name)
    return None if is_none(value) else value


def _head(node: ast.expr) -> str:
    """A text, or what it begins with."""
    while isinstance(node, ast.BinOp):
        node = node.left
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    text = constant(node)
    return text.split("%")[0].split("{")[0] if isinstance(text, str) else ""


def _may_equal(name: str, other: Opened) -> bool:
    return name == other.name if other.known else name.startswith(other.name)
