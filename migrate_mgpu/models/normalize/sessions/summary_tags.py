"""Summaries that are called as the operations which they tell of, by constants.

    for l in losses + [total_loss]:
        loss_name = re.sub('%s_[0-9]*/' % TOWER_NAME, '', l.op.name)
        tf.summary.scalar(loss_name, l)

in the towers becomes

    tf.summary.scalar('cross_entropy_1', losses[0])
    tf.summary.scalar('total_loss_1', total_loss)

A function that makes such summaries of its argument becomes these where it is called. TF2 has no
names of operations. TF1's are found by going through what a tower builds in its order: what is
called as something before gets a number, a summary too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.summaries import SUMMARIES, clean_tag
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.front.towers.summary_names import asks_for_name
from migrate_mgpu.models.ir import Towers
from migrate_mgpu.models.normalize.functions.variable_makers import with_texts
from migrate_mgpu.models.normalize.layers.collection_lists import collected
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function

# What is called as it is told, by one operation, or by one scope with it.
_EXACT = (
    "add", "add_n", "concat", "div", "divide", "identity", "matmul", "multiply", "nn.bias_add",
    "nn.conv2d", "nn.elu", "nn.l2_loss", "nn.lrn", "nn.max_pool", "nn.relu", "nn.relu6",
    "nn.relu_layer", "nn.softmax", "nn.sparse_softmax_cross_entropy_with_logits", "nn.tanh",
    "nn.xw_plus_b", "reduce_max", "reduce_mean", "reduce_sum", "reshape", "scalar_mul", "sigmoid",
    "square", "squeeze", "subtract", "tanh", "transpose",
)  # fmt: skip
# What operations without a name of the author's are called, besides their function's.
_USUAL = {
    "add", "assign", "cast", "concat", "cond", "const", "div", "fill", "gradients", "identity",
    "initial_value", "loss", "mean", "mul", "neg", "num_present", "pow", "rank", "range", "read",
    "reshape", "shape", "size", "split", "stack", "strided_slice", "sub", "sum", "switch", "merge",
    "truediv", "value", "weights", "xentropy", "zeros", "ones", "zeros_like", "ones_like",
}  # fmt: skip
_DROPOUT = ("x", "keep_prob", "noise_shape", "seed", "name", "rate")
_SCOPES = ("name_scope", "variable_scope")
_PLACES = ("device", "control_dependencies")
_TOWERS = (0, 1, 12)  # numbers of towers for which a name is seen to be the same
_DEEP = 12  # calls of functions within each other


class _Stays(Exception):
    """What an operation is called cannot be determined."""


def told(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such summaries of the towers; none where one is not understood."""
    if not any(map(_asks_for_names, modules)):
        return {}
    for module in modules:
        for loop in loops_on_devices(module):
            towers = read_towers(module, loop, graph)
            block = _scope(module, loop) if towers is not None and towers.index else None
            if towers is None or block is None:
                continue
            try:
                return _Building(modules, graph, module, towers, block).edits()
            except _Stays:
                return {}
    return {}


@fact_of_text
def _asks_for_names(module: Module) -> bool:
    return ".op" in module.source.text and any(map(asks_for_name, walk(module.tree)))


def _scope(module: Module, loop: ast.For) -> ast.With | None:
    """The block that opens the scope of each tower."""
    for node in walk(loop):
        if isinstance(node, ast.With):
            call = node.items[-1].context_expr
            if name_of(module, call) == "name_scope" and isinstance(call, ast.Call) and call.args:
                return node
    return None


@record(frozen=True)
class _Scope:
    """What `with tf.variable_scope(...) as scope:` gives: `scope.name` is its path."""

    name: str


class _Building:
    """What a tower builds, in its order, and what TF1 calls it within the tower's scope."""

    def __init__(
        self,
        modules: Sequence[Module],
        graph: CallGraph,
        module: Module,
        towers: Towers,
        block: ast.With,
    ) -> None:
        self.modules = modules
        self.graph = graph
        self.module = module
        self.block = block
        opened = block.items[-1].context_expr
        assert isinstance(opened, ast.Call)
        texts = [self._value(module, opened.args[0], {towers.index: i}) for i in _TOWERS]
        self.towers = [text for text in texts if isinstance(text, str)]
        self.taken: dict[str, int] = {}
        self.unsure: set[str] = set()  # what may be taken too, or not
        self.begins: set[str] = set()  # with what names begin that are not known
        self.called: dict[ast.Call, str | None] = {}  # operations, None for those made repeatedly
        self.written: dict[ast.stmt, tuple[Module, list[str]]] = {}
        self.needed: set[str] = set()
        self.within: list[ast.AST] = []

    def edits(self) -> dict[Module, list[Edit]]:
        if len(self.towers) < len(_TOWERS):
            raise _Stays
        self._block(self.module, self.block.body, "", "", {})
        for name in self.needed:
            numbers = re.compile(rf"{re.escape(name)}(_\d+)*$")
            begun = any(name.startswith(one) for one in self.begins)
            if begun or any(numbers.match(one) for one in self.unsure):
                raise _Stays
        found: dict[Module, list[Edit]] = {}
        gone: dict[ast.AST, Function] = {}
        for statement, (module, lines) in self.written.items():
            layout = Layout(module.source, statement)
            if not layout.owns_lines:
                raise _Stays
            found.setdefault(module, []).append(layout.replace(lines))
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                target = self.graph.target(module, statement.value.func)
                assert target is not None
                gone[target.node] = target
        for node, function in gone.items():
            calls = [one.call for one in self.graph.references(function)]
            replaced = {s.value for s in self.written if isinstance(s, ast.Expr)}
            if replaced.issuperset(calls) and isinstance(node, ast.FunctionDef):
                edit = without_function(function.module.source, node)
                found.setdefault(function.module, []).append(edit)
        return found

    # -- names ---------------------------------------------------------------------------

    def _unique(self, name: str) -> str:
        """What TF1 calls something of this name: the next of its numbers that is free."""
        key = name.lower()
        number = self.taken.get(key, 0)
        self.taken[key] = number + 1
        if not number:
            return name
        while f"{key}_{number}" in self.taken:
            number += 1
        self.taken[f"{key}_{number}"] = 1
        return f"{name}_{number}"

    def _value(self, module: Module, node: ast.expr | None, given: Mapping[str, object]) -> object:
        """A text or another constant, `Unknown` for what is none."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in given:
                return given[node.id]
            value = module.names.only_value(node)
            binding = module.names.only_binding(node)
            top = binding is not None and module.names.statement(binding.node) in module.tree.body
            return self._value(module, value, {}) if value is not None and top else Unknown
        if isinstance(node, ast.Attribute):
            return self._attribute(module, node, given)
        if isinstance(node, ast.Tuple):
            return tuple(self._value(module, one, given) for one in node.elts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
            left, right = (self._value(module, one, given) for one in (node.left, node.right))
            told = right if isinstance(right, tuple) else (right,)
            if isinstance(left, str) and all(isinstance(one, (str, int)) for one in told):
                try:
                    added = isinstance(node.op, ast.Add)
                    return left + right if added else left % right  # type: ignore[operator]
                except (TypeError, ValueError):
                    return Unknown
        if isinstance(node, ast.Call) and module.names.qualname(node.func) == "re.sub":
            parts = [self._value(module, one, given) for one in node.args]
            if len(parts) == 3 and not node.keywords and all(isinstance(p, str) for p in parts):
                return re.sub(*parts)  # type: ignore[call-overload]
        return Unknown

    def _attribute(
        self, module: Module, node: ast.Attribute, given: Mapping[str, object]
    ) -> object:
        """`scope.name`, `x.op.name`, or a constant of another module."""
        if isinstance(node.value, ast.Name) and node.value.id in given:
            scope = given[node.value.id]
            return scope.name if isinstance(scope, _Scope) and node.attr == "name" else Unknown
        if asks_for_name(node):
            return given.get(ast.unparse(node.value), Unknown)
        dotted = (module.names.qualname(node) or "").rpartition(".")[0]
        for other in self.graph.project.resolve(module, dotted) if dotted else ():
            bindings = other.names.module_scope.bindings.get(node.attr, ())
            if len(bindings) == 1 and bindings[0].value is not None:
                return self._value(other, bindings[0].value, {})
        return Unknown

    # -- statements ------------------------------------------------------------------------

    def _block(
        self,
        module: Module,
        statements: Sequence[ast.stmt],
        prefix: str,
        path: str,
        given: dict[str, object],
    ) -> None:
        """Goes through statements; ``prefix`` is of their names, ``path`` of their variables'."""
        for statement in statements:
            if isinstance(statement, ast.With):
                self._with(module, statement, prefix, path, given)
            elif isinstance(statement, ast.If):
                holding = holds(statement.test, lambda part: self._value(module, part, given))
                if holding is None:
                    self._may(module, statement, prefix, given)
                else:
                    arm = statement.body if holding else statement.orelse
                    self._block(module, arm, prefix, path, given)
            elif isinstance(statement, ast.For) and self._asked(statement.target, statement.body):
                self._loop(module, statement, prefix, given)
            elif isinstance(statement, ast.Expr) and self._describes(module, statement.value):
                self._called(module, statement, prefix, given)
            elif isinstance(statement, (ast.For, ast.While, ast.Try)):
                self._may(module, statement, prefix, given)
            elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self._expression(module, statement, prefix, path, given)
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if isinstance(target, ast.Name):
                    assert isinstance(statement, ast.Assign)
                    given[target.id] = self._value(module, statement.value, given)

    def _with(
        self, module: Module, block: ast.With, prefix: str, path: str, given: dict[str, object]
    ) -> None:
        for item in block.items:
            call, target = item.context_expr, item.optional_vars
            kind = name_of(module, call)
            if not isinstance(call, ast.Call) or kind not in (*_SCOPES, *_PLACES):
                raise _Stays
            if kind in _PLACES:
                continue
            first = call.args[0] if call.args else None
            if name_of(module, first) == "get_variable_scope":
                continue
            text = self._value(module, first, given)
            if not isinstance(text, str) or not text or text.endswith("/"):
                raise _Stays
            self.needed.add((prefix + text).lower())
            prefix = self._unique(prefix + text) + "/"
            if kind == "variable_scope":
                path += f"{text}/"
                if isinstance(target, ast.Name):
                    given[target.id] = _Scope(path[:-1])
        self._block(module, block.body, prefix, path, given)

    def _expression(
        self, module: Module, node: ast.AST, prefix: str, path: str, given: dict[str, object]
    ) -> None:
        """Goes through the calls of a statement: what they take is made before."""
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.IfExp,
                             ast.GeneratorExp, ast.BoolOp)):  # fmt: skip
            self._may(module, node, prefix, given)
            return
        for child in ast.iter_child_nodes(node):
            self._expression(module, child, prefix, path, given)
        if isinstance(node, ast.BinOp):
            self.unsure |= {(prefix + one).lower() for one in _USUAL}
        if isinstance(node, ast.Call):
            self._call(module, node, prefix, path, given)

    def _call(
        self, module: Module, call: ast.Call, prefix: str, path: str, given: Mapping[str, object]
    ) -> None:
        target = self.graph.target(module, call.func)
        if target is not None and isinstance(target.node, ast.FunctionDef):
            if target.node in self.within or len(self.within) > _DEEP or target.owner is not None:
                raise _Stays
            self.within.append(target.node)
            passed = bind(call, target).values().items()
            own = {name: self._value(module, value, given) for name, value in passed}
            self._block(target.module, target.node.body, prefix, path, own)
            self.within.pop()
            return
        if self.graph.class_of(module, call.func) is not None:
            raise _Stays
        name = name_of(module, call)
        if name == "nn.dropout":
            self._dropout(module, call, prefix, given)
            return
        exact = name in _EXACT or name in SUMMARIES.by_name
        wanted = self._name(module, call, prefix, given)
        if exact and wanted is not None:
            made = self._unique(prefix + clean_tag(wanted))
            self.called[call] = None if call in self.called else made

    def _dropout(
        self, module: Module, call: ast.Call, prefix: str, given: Mapping[str, object]
    ) -> None:
        """A scope with several operations, of which the last one multiplies by the mask."""
        told = by_parameter(call, _DROPOUT)
        kept = told.get("rate") or told.get("keep_prob")
        wanted = self._value(module, told["name"], given) if "name" in told else "dropout"
        if kept is None or constant(kept) in (0, 1) or not isinstance(wanted, str) or not wanted:
            self._name(module, call, prefix, given)
            return
        self.unsure.add(f"{prefix}sub".lower())  # 1 - keep_prob
        made = f"{self._unique(prefix + wanted)}/mul_1"
        self.called[call] = None if call in self.called else made

    def _name(
        self, module: Module, call: ast.Call, prefix: str, given: Mapping[str, object]
    ) -> str | None:
        """The name that a call gives; what else it may give is noted."""
        name = name_of(module, call)
        row = SUMMARIES.by_name.get(name)
        stated = NamedArguments(module, call, row.signature).rest if row else {}
        node = stated.get("name")
        if node is None:
            node = next((k.value for k in call.keywords if k.arg == "name"), None)
        value = self._value(module, node, given) if node is not None else None
        if isinstance(value, str) and (name in _EXACT or row):
            return value
        texts = [constant(one) for one in (*call.args, *(k.value for k in call.keywords))]
        last = name.rpartition(".")[2].lower()
        usual = {last, last.replace("_", ""), last.removeprefix("reduce_")} | _USUAL
        self.unsure |= {
            f"{prefix}{t}".lower() for t in (*texts, value, *usual) if isinstance(t, str)
        }
        if value is Unknown:
            shown = constant(node.left) if isinstance(node, ast.BinOp) else ""
            self.begins.add((prefix + str(shown or "").partition("%")[0]).lower())
        return None

    def _may(self, module: Module, node: ast.AST, prefix: str, given: Mapping[str, object]) -> None:
        """What may be built, or several times: nothing in it is asked for its name."""
        for call in (part for part in walk(node) if isinstance(part, ast.Call)):
            target = self.graph.target(module, call.func)
            if target is not None and target.node not in self.within:
                self.within.append(target.node)
                self._may(target.module, target.node, prefix, {})
                self.within.pop()
            wanted = self._name(module, call, prefix, given)
            if wanted is not None:
                self.unsure.add((prefix + wanted).lower())

    # -- summaries ---------------------------------------------------------------------------

    def _asked(self, target: ast.expr, body: Sequence[ast.stmt]) -> bool:
        """Whether statements ask what the operation of a name is called."""
        return isinstance(target, ast.Name) and any(
            asks_for_name(node) and ast.unparse(node) == f"{target.id}.op.name"
            for statement in body
            for node in walk(statement)
        )

    def _describes(self, module: Module, node: ast.expr) -> bool:
        """Whether a call is of a function that makes summaries which are called so."""
        target = self.graph.target(module, node.func) if isinstance(node, ast.Call) else None
        if target is None or not isinstance(target.node, ast.FunctionDef):
            return False
        names = [ast.Name(one, ast.Load()) for one in target.parameters()]
        return any(self._asked(name, target.node.body) for name in names)

    def _loop(
        self, module: Module, loop: ast.For, prefix: str, given: Mapping[str, object]
    ) -> None:
        assert isinstance(loop.target, ast.Name)
        if loop.orelse:
            raise _Stays
        lines: list[str] = []
        for text, made in self._elements(module, loop.iter):
            own = {**given, f"{loop.target.id}.op": made}
            lines += self._summaries(module, loop.body, prefix, own, {loop.target.id: text})
        self._write(module, loop, lines)

    def _called(
        self, module: Module, statement: ast.Expr, prefix: str, given: Mapping[str, object]
    ) -> None:
        call = statement.value
        assert isinstance(call, ast.Call)
        target = self.graph.target(module, call.func)
        assert target is not None and isinstance(target.node, ast.FunctionDef)
        passed = bind(call, target).every()
        if passed is None or len(passed) != 1:
            raise _Stays
        ((name, value),) = passed.items()
        if not isinstance(value, ast.Name):
            raise _Stays
        texts = {name: value.id}
        own: dict[str, object] = {f"{name}.op": self._operation(module, value)}
        lines = self._summaries(target.module, target.node.body, prefix, own, texts, module)
        self._write(module, statement, lines)

    def _write(self, module: Module, statement: ast.stmt, lines: list[str]) -> None:
        if self.written.get(statement, (module, lines)) != (module, lines) or not lines:
            raise _Stays
        self.written[statement] = module, lines

    def _elements(self, module: Module, node: ast.expr) -> Iterator[tuple[str, str]]:
        """The elements of a list, each as it is written and as its operation is called."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield from self._elements(module, node.left)
            yield from self._elements(module, node.right)
        elif isinstance(node, ast.List):
            for one in node.elts:
                if not isinstance(one, ast.Name):
                    raise _Stays
                yield one.id, self._operation(module, one)
        else:
            value = module.names.only_value(node) if isinstance(node, ast.Name) else None
            if not isinstance(value, ast.Call) or name_of(module, value) != "get_collection":
                raise _Stays
            assert isinstance(node, ast.Name)
            added = collected(self.modules, self.graph, value)
            if not added:
                raise _Stays
            for index, (home, one) in enumerate(added):
                yield f"{node.id}[{index}]", self._operation(home, one)

    def _operation(self, module: Module, node: ast.expr) -> str:
        """What the operation that makes a value is called, in the scope of the tower."""
        value = self._latest(module, node) if isinstance(node, ast.Name) else node
        made = self.called.get(value) if isinstance(value, ast.Call) else None
        if made is None:
            raise _Stays
        self.needed.add(re.sub(r"(_\d+)+$", "", made).lower())
        return made

    def _latest(self, module: Module, name: ast.Name) -> ast.expr | None:
        """What a name was given last before it is mentioned."""
        bindings = module.names.bindings_of(name)
        before = [one for one in bindings if position(one.node) < position(name)]
        return max(before, key=lambda one: position(one.node)).value if before else None

    def _summaries(
        self,
        module: Module,
        body: Sequence[ast.stmt],
        prefix: str,
        given: dict[str, object],
        texts: Mapping[str, str],
        home: Module | None = None,
    ) -> list[str]:
        """The summaries of statements, with names that are constants.

        ``home`` is where they are written, if that is another module than the statements'.
        """
        code, quote = module.source.code, "'"
        lines: list[str] = []
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                if any(name_of(module, part) for part in walk(statement.value)):
                    raise _Stays
                given[statement.targets[0].id] = self._texts(module, statement.value, given)
                continue
            call = statement.value if isinstance(statement, ast.Expr) else None
            row = SUMMARIES.by_name.get(name_of(module, call) if call is not None else "")
            if not isinstance(call, ast.Call) or row is None:
                raise _Stays
            stated = NamedArguments(module, call, row.signature).rest
            value = stated.get(row.parameters[1].name)
            name = self._texts(module, stated.get("name"), given)
            if len(stated) != 2 or value is None or not isinstance(name, str):
                raise _Stays
            self.needed.add((prefix + clean_tag(name)).lower())
            tag = self._unique(prefix + clean_tag(name)).removeprefix(prefix)
            if home is not None and not _means_same(module, home, (call.func, value), texts):
                raise _Stays
            shown = with_texts(module.source, value, lambda name: texts.get(name.id))
            if quote in tag or "\n" in shown:
                raise _Stays
            lines.append(f"{code(call.func)}({quote}{tag}{quote}, {shown})")
        return lines

    def _texts(self, module: Module, node: ast.expr | None, given: Mapping[str, object]) -> object:
        """A text of the operation's name, where it is the same in all towers."""
        found = set()
        for tower in self.towers:
            full = {k: f"{tower}/{v}" if k.endswith(".op") else v for k, v in given.items()}
            found.add(self._value(module, node, full))
        return found.pop() if len(found) == 1 else Unknown


def _means_same(
    module: Module, other: Module, parts: Sequence[ast.expr], own: Container[str]
) -> bool:
    """Whether expressions mean the same in another module, but for names of their ``own``."""
    if module is other:
        return True
    found = {one.id for part in parts for one in walk(part) if isinstance(one, ast.Name)}
    roots = [
        (module.names.roots(one, module.names.module_scope),
         other.names.roots(one, other.names.module_scope))
        for one in found if one not in own
    ]  # fmt: skip
    return all(here and here == there for here, there in roots)
