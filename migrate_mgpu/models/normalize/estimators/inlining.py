"""A part of a model_fn that stands in a function of its own: training step, metrics, tables, ...

``train_op = get_train_op(loss, params)`` becomes the statements of ``get_train_op``, which
goes away, from another module too. Functions that make layers stay: they become classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_parameters import truth
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import names_in, walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import Block, leading, outermost
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments, without_function

_STEPS = ("minimize", "apply_gradients")
_ASKED = (
    "EstimatorSpec", "optimize_loss", "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2",
)  # fmt: skip
_METRICS = "eval_metric_ops"
_TABLES = "contrib.lookup."  # a network has them, a function would make them at each call


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    for call in [n for n in walk(function.node) if isinstance(n, ast.Call)]:
        helper = graph.target(function.module, call.func)
        if helper is None or not helper.module.writable or helper.owner is not None:
            continue
        edits = _Inlined(function.module, function.node, call, helper, graph).edits()
        if edits:
            return edits
    return {}


class _Inlined:
    def __init__(
        self,
        module: Module,
        function: ast.FunctionDef,
        call: ast.Call,
        helper: Function,
        graph: CallGraph,
    ) -> None:
        self.module = module
        self.function = function
        self.call = call
        self.helper = helper
        self.graph = graph
        self.source = module.source
        self.home = helper.module

    def edits(self) -> dict[Module, list[Edit]]:
        """The statements of the function in the place of its call."""
        node, home = self.helper.node, self.home
        names = self.module.names
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return {}
        if not isinstance(home.names.parents[node], ast.Module) or not self._belongs(node):
            return {}
        mentions = self.graph.references(self.helper)
        if any(one.call is None for one in mentions):
            return {}
        statement = names.statement(self.call)
        layout = Layout(self.source, statement)
        place = self._place(statement)
        renamed = self._renamed(node, place or "")
        if place is None or renamed is None or not layout.owns_lines:
            return {}
        if place and not _ends(node.body):
            return {}
        names_here = self._names_here(node)
        if names_here is None:
            return {}
        self.names_here, imports = names_here
        block = Block(home.source, layout.indent)
        block.lines += self._comments(statement, layout)
        for line in (text for text in leading(home.source, node) if text):
            block.line(line)
        body = self._run(node.body)
        read = {renamed.get(n.id, n.id) for s in body for n in names_in(s)}
        for name, value in self.given.items():
            if name in read or not isinstance(value, ast.Constant):
                block.line(f"{name} = {self._value(value)}")
        returns = {n: place for n in walk(node) if isinstance(n, ast.Return)}
        for inner in body:
            if inner is node.body[0] and _is_text(inner):
                for line in (ast.get_docstring(node) or "").splitlines()[:1]:
                    block.line(f"# {line}")
                continue
            block.statement(inner, self._written(inner, renamed, returns))
        start = start_with_comments(self.source.text, layout.line_start)
        text = block.text().replace(home.source.newline, self.source.newline)
        if isinstance(names.parents[self.call], ast.keyword):
            at = self.source.span(self.call)
            code = self.source.text[layout.line_start : layout.next_line]
            offset = layout.line_start
            text += code[: at[0] - offset] + place + code[at[1] - offset :]
        found = {self.module: [Edit(start, layout.next_line, text), *imports]}
        # One model_fn at a time has its statements, the last one takes it away.
        rest = found.setdefault(home, [])
        if len(mentions) == 1:
            rest.append(without_function(home.source, node))
        return found

    def _run(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that this call runs, where its constants say which."""

        def values(name: ast.Name) -> list[ast.Constant] | None:
            value = self.constants.get(name.id)
            return None if value is None else [value]

        found: list[ast.stmt] = []
        for statement in body:
            holds = truth(statement.test, values) if isinstance(statement, ast.If) else None
            if holds is None:
                found.append(statement)
            elif isinstance(statement, ast.If):
                found += self._run(statement.body if holds else statement.orelse)
        return found

    def _comments(self, statement: ast.stmt, layout: Layout) -> list[str]:
        """What stands above the call's statement."""
        block = Block(self.source, layout.indent)
        block.comments(statement)
        return block.lines

    def _value(self, node: ast.expr) -> str:
        """What a parameter gets: of the call, or its default."""
        inside = node in self.module.names.parents
        return (self.source if inside else self.home.source).code(node)

    def _names_here(self, node: ast.FunctionDef) -> tuple[dict[str, str], list[Edit]] | None:
        """What names of the other module are called here, and the import that brings them.

        None where one has no name here, or another meaning.
        """
        if self.home is self.module:
            return {}, []
        home, names, function = self.home.names, self.module.names, self.call.func
        read = {n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        own: list[str] = []
        for name in sorted(read, key=lambda n: n.id):
            defined = home.defining_scope(name.id, home.scope_of_name[name])
            there = home.qualname(name) or ""
            if defined is None or not defined.is_module:
                if defined is None and names.module_scope.bindings.get(name.id):
                    return None  # a builtin there, something else here
                continue
            if all(binding.kind == "import" for binding in defined.bindings[name.id]):
                if there not in names.roots(name.id, names.module_scope):
                    return None
            elif name.id not in own:
                own.append(name.id)
        if isinstance(function, ast.Attribute):
            head = self.source.code(function.value)
            return {name: f"{head}.{name}" for name in own}, []
        return self._imported(own)

    def _imported(self, own: list[str]) -> tuple[dict[str, str], list[Edit]] | None:
        """`from optimization import create_optimizer` names what the function used instead."""
        assert isinstance(self.call.func, ast.Name)
        binding = self.module.names.only_binding(self.call.func)
        statement = binding.node if binding is not None else None
        if not isinstance(statement, ast.ImportFrom) or len(own) > 1:
            return None
        if any(name in self.module.names.module_scope.bindings for name in own):
            return None
        gone = [alias for alias in statement.names if alias.name == self.helper.name]
        if len(gone) != 1 or gone[0].asname is not None:
            return None
        if own:
            return {}, [import_edit(self.source, statement, renamed={self.helper.name: own[0]})]
        if len(statement.names) == 1:
            return {}, [Layout(self.source, statement).replace([])]
        return {}, [import_edit(self.source, statement, gone)]

    def _belongs(self, node: ast.FunctionDef) -> bool:
        """Whether a function does what only a model_fn can be asked for."""
        for part in walk(node):
            if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Lambda, ast.FunctionDef)):
                if part is not node and not isinstance(part, ast.Lambda):
                    return False
            if isinstance(part, (ast.Global, ast.Nonlocal)):
                return False
        for call in (c for c in walk(node) if isinstance(c, ast.Call)):
            name = tensorflow_name(self.home, call.func)
            if name.startswith(("metrics.", "losses.", _TABLES)) or name.endswith(_ASKED):
                return True
            if name.startswith("train.") and name.endswith("Optimizer"):
                return True
            if isinstance(call.func, ast.Attribute) and call.func.attr in _STEPS:
                return True
        # Metrics of another package, `tf_metrics.f1(...)`, have no name of TensorFlow's.
        asker = self.module.names.parents[self.call]
        return isinstance(asker, ast.keyword) and asker.arg == _METRICS

    def _place(self, statement: ast.stmt) -> str | None:
        """The name that gets the value; empty where it is returned; None for any other place."""
        if isinstance(statement, ast.Assign) and statement.value is self.call:
            target = statement.targets[0]
            named = len(statement.targets) == 1 and isinstance(target, ast.Name)
            return target.id if named and isinstance(target, ast.Name) else None
        if isinstance(statement, ast.Return) and statement.value is self.call:
            return ""
        parent = self.module.names.parents[self.call]
        spec = statement.value if isinstance(statement, (ast.Assign, ast.Return)) else None
        if isinstance(parent, ast.keyword) and isinstance(spec, ast.Call) and parent.arg:
            taken = self.module.names.scopes[self.function].bindings
            if parent in spec.keywords and parent.arg not in taken:
                return parent.arg
        return None

    def _renamed(self, node: ast.FunctionDef, place: str) -> dict[str, str] | None:
        """What the function's parameters are called in the model_fn; None if names clash.

        ``given`` are those that become variables of the model_fn.
        """
        self.given: dict[str, ast.expr] = {}
        self.constants: dict[str, ast.Constant] = {}  # that no statement gives another value
        helper = Function(self.home, node)
        values = bind(self.call, helper).every()
        if values is None:
            return None
        every = [*helper.parameters(), *(a.arg for a in node.args.kwonlyargs)]
        outer = set(self.module.names.scopes[self.function].bindings)
        own = set(self.home.names.scopes[node].bindings)
        stored = {
            n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        found: dict[str, str] = {}
        again: dict[str, str] = {}  # what the model_fn has a name for already
        scope = self.module.names.scopes[self.function]
        for name in every:
            value = values[name]
            if isinstance(value, ast.Name) and name not in stored:
                found[name] = value.id
                continue
            if isinstance(value, ast.Constant) and name not in stored:
                self.constants[name] = value
            if name in outer:
                again[name] = self.module.names.fresh(scope, f"{name}_2")
            self.given[again.get(name, name)] = value
        # The values are read before the function's own names come to be.
        read = {n.id for v in values.values() for n in walk(v) if isinstance(n, ast.Name)}
        local = own - set(every)
        if set(found.values()) & set(self.given):
            return None
        found.update(again)
        inside = stored | {n.arg for n in walk(node) if isinstance(n, ast.arg)} | own
        for name in sorted(local & (read | (outer - {place}))):
            if any(isinstance(n, ast.arg) and n.arg == name for n in walk(node)):
                return None  # of a lambda, too
            found[name] = self.module.names.fresh(scope, f"{name}_2")
            inside.discard(name)
            if found[name] in inside:
                return None
        if any(new != old and new in inside - {old} for old, new in found.items()):
            return None
        free = {n.id for n in walk(node) if isinstance(n, ast.Name)} - own
        return None if free & outer else found

    def _written(
        self, inner: ast.stmt, renamed: dict[str, str], returns: dict[ast.Return, str]
    ) -> Iterator[Edit]:
        found = []
        for part in walk(inner):
            if isinstance(part, ast.Name):
                name = renamed.get(part.id) or self.names_here.get(part.id, part.id)
                if name != part.id:
                    found.append(Edit(*self.home.source.span(part), name))
            if isinstance(part, ast.Return) and returns[part]:
                start, end = self.home.source.span(part)
                value = part.value
                if isinstance(value, ast.Name) and value.id == returns[part]:
                    found.append(Edit(start, end, "pass"))
                else:
                    begin = self.home.source.span(value)[0] if value is not None else end
                    head = f"{returns[part]} = " + ("None" if value is None else "")
                    found.append(Edit(start, begin, head))
        return iter(outermost(found))


def _ends(body: list[ast.stmt]) -> bool:
    """Whether all that a block returns stands at its end, so that a value can take its place."""
    *first, last = body
    if any(isinstance(n, ast.Return) for s in first for n in walk(s)):
        return False
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If) and last.orelse:
        return _ends(last.body) and _ends(last.orelse)
    return False


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
