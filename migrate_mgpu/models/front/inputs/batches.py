"""What input functions return: a Dataset as it is; a batch out of an iterator as its Dataset."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.value_flow import ValueFlow, returns
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.inputs.catalogue import DATASET, loaded
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

ITERATOR, ELEMENT, UNKNOWN = "iterator", "element", "unknown"

# Methods of a Dataset that give a Dataset.
METHODS = {
    "apply", "batch", "cache", "concatenate", "enumerate", "filter", "flat_map", "interleave",
    "map", "map_with_legacy_function", "options", "padded_batch", "prefetch", "reduce", "repeat",
    "shard", "shuffle", "skip", "take", "window", "with_options", "unbatch",
}  # fmt: skip
_ONE_SHOT = "make_one_shot_iterator"


@record(eq=False)
class Batches(EditSet):
    """Plans what changes where input functions return; edits collect here."""

    graph: CallGraph
    _done: set[ast.AST] = field(default_factory=set)

    @cached_property
    def values(self) -> ValueFlow:
        return ValueFlow(self.graph)

    def function(self, function: Function) -> None:
        """Reads an input function of the run, and plans what changes in it."""
        if function.node in self._done:
            return
        self._done.add(function.node)
        found = returns(function)
        if not found or not isinstance(function.node, ast.FunctionDef):
            raise Refused(function.module, function.node, "an input function without `return`")
        for statement in found:
            if statement.value is None:
                raise Refused(function.module, statement, "an input function that returns nothing")
            self.result(function.module, statement.value)

    def result(self, module: Module, node: ast.expr) -> None:
        """The value that an input function gives, at its `return`."""
        helper = self.graph.target(module, node.func) if isinstance(node, ast.Call) else None
        if helper is not None:
            self.function(helper)
            return
        kind = self.kind(module, node)
        if kind == DATASET:
            return
        if kind == ELEMENT or isinstance(node, ast.Tuple):
            self._element(module, node)
            return
        raise Refused(
            module, node, "what this input function returns is not followed",
            "let it return a tf.data.Dataset",
        )  # fmt: skip

    def kind(self, module: Module, node: ast.expr, seen: frozenset[ast.AST] = frozenset()) -> str:
        """Whether an expression is a Dataset, an iterator over one, or an element of it."""
        if node in seen:
            return ""
        seen = seen | {node}
        known = loaded(module, node)
        if known is not None:
            return DATASET if known == DATASET else UNKNOWN
        if isinstance(node, ast.Call):
            return self._kind_of_call(module, node, seen)
        if isinstance(node, (ast.Name, ast.IfExp, ast.Attribute, ast.Subscript)):
            kinds = {self._kind_of_name(module, node, seen)} - {""}
            return kinds.pop() if len(kinds) == 1 else UNKNOWN
        return UNKNOWN

    def _kind_of_call(self, module: Module, node: ast.Call, seen: frozenset[ast.AST]) -> str:
        name = tensorflow_name(module, node.func)
        last = name.rpartition(".")[2]
        if last == _ONE_SHOT:
            return ITERATOR
        if name.startswith(("data.", "contrib.data.")):
            return DATASET
        function = self.graph.target(module, node.func)
        if function is not None:
            kinds = {
                self.kind(function.module, statement.value, seen)
                for statement in returns(function)
                if statement.value is not None
            } - {""}
            if len(kinds) == 1:
                return kinds.pop()
            return UNKNOWN
        if isinstance(node.func, ast.Attribute):
            receiver = self.kind(module, node.func.value, seen)
            if node.func.attr == _ONE_SHOT and receiver in (DATASET, ""):
                return ITERATOR
            if node.func.attr == "make_initializable_iterator":
                raise Refused(
                    module, node, "an iterator that a hook or a session initialises",
                    "let the input function return the Dataset",
                )  # fmt: skip
            if node.func.attr == "get_next" and receiver in (ITERATOR, ""):
                return ELEMENT
            if receiver in (DATASET, "") and node.func.attr in METHODS:
                return receiver
        return UNKNOWN

    def _kind_of_name(self, module: Module, node: ast.expr, seen: frozenset[ast.AST]) -> str:
        kinds: set[str] = set()
        for source in self.values.sources(module, node) or ():
            if source.node is None:
                return UNKNOWN
            kinds.add(self.kind(source.module, source.node, seen))
        kinds.discard("")
        return kinds.pop() if len(kinds) == 1 else ("" if not kinds and seen else UNKNOWN)

    # -- elements: the iterator goes, the Dataset is returned ----------------

    def _element(self, module: Module, node: ast.expr) -> None:
        """`return dataset.make_one_shot_iterator().get_next()`, in its usual forms."""
        if isinstance(node, ast.Call):
            self._iterated(module, node)
            return
        statement = module.names.statement(node)
        assigned = self._element_of(module, node)
        if assigned is None:
            raise Refused(
                module, node, "the tensors that this input function returns",
                "let it return a tf.data.Dataset",
            )  # fmt: skip
        source = module.source
        goal = assigned.targets[0]
        parts = goal.elts if isinstance(goal, ast.Tuple) else [goal]
        batch = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(batch) != len(parts):
            raise Refused(module, assigned, "how the batch is taken apart is not followed")
        self._unused_elsewhere(module, assigned, statement)
        given = source.code(node).strip("()").replace(" ", "")
        assert isinstance(assigned.value, ast.Call)
        if given == ",".join(batch):
            mapped = ""
        elif isinstance(node, ast.Name):
            raise Refused(module, node, "an input function that returns a part of its batch")
        else:
            inner = text_of(module, node)
            if isinstance(node, ast.Tuple) and not inner.startswith("("):
                inner = f"({inner})"
            mapped = f".map(lambda {', '.join(batch)}: {inner})"
        name = self._dataset_name(module, assigned.value)
        start, end = source.span(node)
        self.moved.add(node)
        if name is not None:
            self._remove(module, assigned)
            self.edit(module, Edit(start, end, name + mapped))
            return
        # `features, labels = dataset.make_one_shot_iterator().get_next()`
        name = module.names.fresh(module.names.scope_at(statement), "dataset", "data", "batches")
        first, last = source.span(goal)
        self.edit(module, Edit(first, last, name))
        self._iterated(module, assigned.value)
        self.edit(module, Edit(start, end, name + mapped))

    def _iterated(self, module: Module, node: ast.Call) -> None:
        """`X.make_one_shot_iterator().get_next()` becomes X."""
        source = module.source
        name = self._dataset_name(module, node)
        start, end = source.span(node)
        if name is not None:
            self.moved.add(node)
            self.edit(module, Edit(start, end, name))
            return
        assert isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call)
        self._without_iterator(module, node.func.value, end)

    def _without_iterator(self, module: Module, call: ast.Call, end: int) -> None:
        """Takes `make_one_shot_iterator` and what follows it away from a Dataset."""
        source = module.source
        if tensorflow_name(module, call.func).endswith(_ONE_SHOT) and call.args:
            inner = source.span(call.args[0])
            self.gone.add(call.func)
            self.edit(module, Edit(source.span(call)[0], inner[0], ""))
            self.edit(module, Edit(inner[1], end, ""))
            return
        assert isinstance(call.func, ast.Attribute)
        _, begin = source.span(call.func.value)
        self.edit(module, Edit(begin, end, ""))

    def _dataset_name(self, module: Module, element: ast.Call) -> str | None:
        """The variable of the Dataset behind ``iterator.get_next()``; its iterator goes.

        None where the iterator has no variable of its own.
        """
        assert isinstance(element.func, ast.Attribute)
        iterator = element.func.value
        if not isinstance(iterator, ast.Name):
            return None
        assigned = self._assigned(module, iterator)
        if assigned is None or not isinstance(assigned.value, ast.Call):
            raise Refused(module, iterator, "which Dataset this iterator goes over is not followed")
        made = assigned.value
        tensorflows = tensorflow_name(module, made.func).endswith(_ONE_SHOT) and made.args
        dataset = made.args[0] if tensorflows else None
        if dataset is None and isinstance(made.func, ast.Attribute):
            dataset = made.func.value
        if isinstance(dataset, ast.Name):
            self._remove(module, assigned)
            return dataset.id
        # `iterator = tf.data...make_one_shot_iterator()`: the variable holds the Dataset now.
        name = module.names.fresh(module.names.scope_at(assigned), "dataset", "data", "batches")
        start, end = module.source.span(assigned.targets[0])
        self.edit(module, Edit(start, end, name))
        self._without_iterator(module, made, module.source.span(made)[1])
        return name

    def _remove(self, module: Module, statement: ast.stmt) -> None:
        if statement not in self.gone:
            self.gone.add(statement)
            layout = Layout(module.source, statement)
            kept = [layout.trailing_comment] if layout.trailing_comment else []
            self.edit(module, layout.replace(kept))

    def _element_of(self, module: Module, node: ast.expr) -> ast.Assign | None:
        """The statement that takes the batch which an expression is made of."""
        for name in ast.walk(node):
            if isinstance(name, ast.Name):
                assigned = self._assigned(module, name)
                if assigned is not None and self.kind(module, assigned.value) == ELEMENT:
                    return assigned
        return None

    def _unused_elsewhere(self, module: Module, step: ast.stmt, statement: ast.stmt) -> None:
        """What a statement takes out of the iterator is used in the `return` alone."""
        names = module.names
        for target in ast.walk(step):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                for mention in names.mentions(target.id, names.scope_of_name[target]):
                    if isinstance(mention.ctx, ast.Load):
                        if names.statement(mention) is not statement:
                            raise Refused(
                                module, mention, "the batch is changed before it is returned",
                                "do it in the Dataset's map()",
                            )  # fmt: skip

    def _assigned(self, module: Module, name: ast.Name) -> ast.Assign | None:
        """The one assignment that gives a name its value, if it is of an element or iterator."""
        home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
        bindings = home.bindings[name.id] if home is not None else []
        if len(bindings) != 1 or not isinstance(bindings[0].node, ast.Name):
            return None
        statement = module.names.statement(bindings[0].node)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if self.kind(module, statement.value) in (ITERATOR, ELEMENT):
                return statement
        return None
