"""What input functions return: a Dataset, or a batch out of an iterator over one."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.value_flow import ValueFlow, returns
from migrate_mgpu.models.front.inputs.elements import TUPLE, Elements, used_as_dictionary
from migrate_mgpu.models.front.inputs.tfds import DATASET, loaded
from migrate_mgpu.models.ir import DrawnBatch

ITERATOR, ELEMENT, UNKNOWN = "iterator", "element", "unknown"
CHANGED = "batch-changed"  # the key of a diagnostic

# Methods of a Dataset that give a Dataset.
METHODS = {
    "apply", "batch", "cache", "concatenate", "enumerate", "filter", "flat_map", "interleave",
    "map", "map_with_legacy_function", "options", "padded_batch", "prefetch", "reduce", "repeat",
    "shard", "shuffle", "skip", "take", "window", "with_options", "unbatch",
}  # fmt: skip
_ONE_SHOT = "make_one_shot_iterator"


class BatchReader:
    """Reads what the input functions of a run return."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self._done: set[ast.AST] = set()

    @cached_property
    def values(self) -> ValueFlow:
        return ValueFlow(self.graph)

    def function(self, function: Function) -> list[DrawnBatch]:
        """The batches that an input function draws where it returns; none if it was read before."""
        if function.node in self._done:
            return []
        self._done.add(function.node)
        found = returns(function)
        if not found or not isinstance(function.node, ast.FunctionDef):
            raise Refused(function.module, function.node, "an input function without `return`")
        drawn: list[DrawnBatch] = []
        for statement in found:
            if statement.value is None:
                raise Refused(function.module, statement, "an input function that returns nothing")
            drawn += self.result(function.module, statement.value)
        return drawn

    def result(self, module: Module, node: ast.expr) -> list[DrawnBatch]:
        """The batches that are drawn in a value that an input function gives, at its `return`."""
        helper = self.graph.target(module, node.func) if isinstance(node, ast.Call) else None
        if helper is not None:
            return self.function(helper)
        made = self.made(module, node.func) if isinstance(node, ast.Call) else []
        if made:
            return [batch for function in made for batch in self.function(function)]
        kind = self.kind(module, node)
        if kind == DATASET:
            return []
        part = isinstance(node, ast.Subscript) and self._element_of(module, node) is not None
        if kind == ELEMENT or isinstance(node, ast.Tuple) or part:
            return [self._drawn(module, node)]
        raise Refused(
            module, node, "what this input function returns cannot be analyzed",
            "let it return a tf.data.Dataset", CHANGED,
        )  # fmt: skip

    def made(self, module: Module, node: ast.expr) -> list[Function]:
        """What `make_input_fn(x)` returns, or a variable with such a function; else none."""
        found: list[Function] = []
        for origin in self.values.definitions(module, node):
            if origin.node is None:
                return []
            function = self.graph.target(origin.module, origin.node)
            if function is None and isinstance(origin.node, ast.Call) and origin.node is not node:
                inner = self.made(origin.module, origin.node)
                if not inner:
                    return []
                found += inner
                continue
            if function is None and isinstance(origin.node, ast.Call):
                factory = self.graph.target(origin.module, origin.node.func)
                given = returns(factory) if factory is not None else []
                if factory is None or not given or any(one.value is None for one in given):
                    return []
                for one in given:
                    assert one.value is not None
                    inner = self.made(factory.module, one.value)
                    if not inner:
                        return []
                    found += inner
                continue
            if function is None or function.owner is not None:
                return []
            found.append(function)
        return found

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
                    module, node, "an iterator that a hook or a session initializes",
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

    # -- elements ---------------------------------------------------------------

    def _drawn(self, module: Module, node: ast.expr) -> DrawnBatch:
        """`return dataset.make_one_shot_iterator().get_next()`, in its usual forms."""
        taken: ast.Assign | None = None
        parts: tuple[str, ...] = ()
        element, changed = node, False
        if not isinstance(node, ast.Call):
            taken = self._element_of(module, node)
            if taken is None:
                raise Refused(
                    module, node, "the tensors that this input function returns",
                    "let it return a tf.data.Dataset", CHANGED,
                )  # fmt: skip
            element, parts = taken.value, self._parts(module, taken)
            self._unused_elsewhere(module, taken, module.names.statement(node))
            self._check_one_batch(module, node, taken)
            alike = isinstance(node, ast.Tuple) is isinstance(taken.targets[0], ast.Tuple)
            changed = not alike or names_in(node) != parts
            if changed and isinstance(node, ast.Name):
                raise Refused(module, node, "an input function that returns a part of its batch")
        maker: ast.expr | None = None
        iterator: ast.Assign | None = None
        if isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
            maker = element.func.value
            if isinstance(maker, ast.Name):
                iterator = self._assigned(module, maker)
                maker = iterator.value if iterator is not None else None
        dataset = dataset_of(module, maker)
        if dataset is None or not isinstance(maker, ast.Call) or not isinstance(element, ast.Call):
            text = "which Dataset this iterator goes over cannot be analyzed"
            raise Refused(module, element, text)
        whole = changed and taken is not None and isinstance(taken.targets[0], ast.Name)
        is_tuple = whole and self._is_tuple(module, node, dataset, parts[0])
        return DrawnBatch(
            module, node, element, maker, dataset, iterator, taken, parts, changed, is_tuple
        )

    def _is_tuple(self, module: Module, node: ast.expr, dataset: ast.expr, batch: str) -> bool:
        """Whether a batch is a tuple: `map` gives a function the parts of one one by one."""
        structure = Elements(self.values).of(module, dataset)
        if not structure and not used_as_dictionary(batch, node):
            raise Refused(
                module, node, f"whether the batch `{batch}` is a tuple cannot be determined",
                "let `get_next()` give its parts names, or do it in the Dataset's map()",
            )  # fmt: skip
        return structure == TUPLE

    def _parts(self, module: Module, taken: ast.Assign) -> tuple[str, ...]:
        """The variables that a batch is taken apart into, or the one that it is."""
        goal = taken.targets[0]
        parts = names_in(goal)
        if parts is None:
            raise Refused(module, taken, "how the batch is taken apart cannot be analyzed")
        return parts

    def _element_of(self, module: Module, node: ast.expr) -> ast.Assign | None:
        """The statement that takes the batch which an expression is made of."""
        for name in ast.walk(node):
            if isinstance(name, ast.Name):
                assigned = self._assigned(module, name)
                if assigned is not None and self.kind(module, assigned.value) == ELEMENT:
                    return assigned
        return None

    def _check_one_batch(self, module: Module, node: ast.expr, taken: ast.Assign) -> None:
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and self._assigned(module, name) not in (None, taken):
                raise Refused(
                    module, name, "an input function that returns parts of several batches",
                    "let it return tf.data.Dataset.zip() of their Datasets",
                )  # fmt: skip

    def _unused_elsewhere(self, module: Module, step: ast.stmt, statement: ast.stmt) -> None:
        """What a statement takes out of the iterator is used in the `return` alone."""
        names = module.names
        for target in ast.walk(step):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                for mention in names.mentions(target.id, names.scope_of_name[target]):
                    if mention is not target and names.statement(mention) is not statement:
                        raise Refused(
                            module, mention, "the batch is changed before it is returned",
                            "do it in the Dataset's map()", CHANGED,
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


def names_in(node: ast.expr) -> tuple[str, ...] | None:
    """The names that a tuple is made of, or the one that an expression is; None for others."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    names = tuple(part.id for part in parts if isinstance(part, ast.Name))
    return names if len(names) == len(parts) else None


def dataset_of(module: Module, maker: ast.expr | None) -> ast.expr | None:
    """The Dataset whose iterator a call makes, as its method or as a function of it."""
    if not isinstance(maker, ast.Call):
        return None
    if tensorflow_name(module, maker.func).endswith(_ONE_SHOT):
        return by_parameter(maker, ("dataset",)).get("dataset")
    return maker.func.value if isinstance(maker.func, ast.Attribute) else None
