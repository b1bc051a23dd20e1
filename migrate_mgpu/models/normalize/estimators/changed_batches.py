"""A batch that an input function changes behind its iterator: the Dataset's `map` changes it.

    images, labels = iterator.get_next()
    features = {'x': images}
    return features, labels

becomes a function of `images` and `labels`, and `dataset.map(...)` in the iterator's place.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.inputs.batches import CHANGED, BatchReader, dataset_of, names_in
from migrate_mgpu.models.front.inputs.elements import TUPLE, Elements, used_as_dictionary
from migrate_mgpu.models.front.inputs.input_functions import InputReader
from migrate_mgpu.models.properties import inputs
from migrate_mgpu.source.blocks import open_brackets
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_GIVEN = ("params", "mode", "input_context")  # parameters that an Estimator may have values for
# They give lists, which a Dataset would make one tensor of.
_LISTS = {"decode_csv", "dynamic_partition", "meshgrid", "split", "unstack"}
_OF_GRAPHS = ("summary.", "train.", "contrib.summary.", "contrib.training.")
_MOVED = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where what it does may be another thing there."""
    for module, given in inputs(flow.driving):
        try:
            InputReader(graph).read(module, given, _GIVEN)
        except Refused as refused:
            why = refused.diagnostic
            if why.key != CHANGED:
                continue
            around = [
                n for n in why.module.names.ancestors(why.node) if isinstance(n, ast.FunctionDef)
            ]
            edits = _Function(why.module, around[0], graph).edits() if around else []
            if edits:
                return {why.module: edits}
    return {}


class _Function:
    """An input function that ends with statements which change a batch."""

    def __init__(self, module: Module, node: ast.FunctionDef, graph: CallGraph) -> None:
        self.module = module
        self.source = module.source
        self.node = node
        self.reader = BatchReader(graph)
        self.parts: tuple[str, ...] = ()
        self.moved: list[ast.stmt] = []

    def edits(self) -> list[Edit]:
        body = self.node.body
        *_, last = body
        drawn = [one for one in body if isinstance(one, ast.Assign) and _draws(one.value)]
        given = [n for n in walk(self.node) if isinstance(n, ast.Return)]
        if len(drawn) != 1 or given != [last] or not isinstance(last, ast.Return):
            return []
        taken, place = drawn[0], body.index(drawn[0])
        parts = names_in(taken.targets[0]) if len(taken.targets) == 1 else None
        self.parts, self.moved = parts or (), body[place + 1 : -1]
        if not self.parts or not self.moved or not self._movable() or not self._plain(last.value):
            return []
        assert isinstance(taken.value, ast.Call) and isinstance(taken.value.func, ast.Attribute)
        maker: ast.expr = taken.value.func.value
        made = None
        if isinstance(maker, ast.Name):
            made = self._iterator(maker)
            if made is None:
                return []
            maker = made.value
        dataset = dataset_of(self.module, maker)
        if dataset is None:
            return []
        stars = self._stars(taken, dataset)
        return [] if stars is None else self._written(taken, made, last, dataset, stars)

    def _iterator(self, name: ast.Name) -> ast.Assign | None:
        """The statement that makes the iterator, which has no other use."""
        names = self.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        mentions = names.mentions(name.id, home) if home is not None else []
        found = [names.statement(one) for one in mentions if one is not name]
        made = found[0] if len(found) == 1 else None
        if made in self.node.body and isinstance(made, ast.Assign) and len(made.targets) == 1:
            return made
        return None

    def _movable(self) -> bool:
        """Whether a function of the batch alone can do it."""
        inside = [n for one in self.moved for n in walk(one)]
        scope = self.module.names.scopes[self.node]
        own = [n for n in inside if isinstance(n, ast.Name)]
        own = [n for n in own if self.module.names.scope_of_name[n] is scope]
        stored = {n.id for n in own if isinstance(n.ctx, ast.Store)}
        known = set(self.parts)
        for one in self.moved:
            names = [n for n in own if n in walk(one)]
            read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
            if isinstance(one, ast.AugAssign):
                read |= {n.id for n in names}
            if read & stored - known:
                return False
            known |= {n.id for n in names}
        for part in inside:
            if isinstance(part, ast.stmt) and not isinstance(part, _MOVED):
                return False
            if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Lambda)):
                return False
            if isinstance(part, ast.Expr) and not self._local(part.value):
                return False
            if isinstance(part, ast.Call):
                name = tensorflow_name(self.module, part.func)
                if name.startswith(_OF_GRAPHS) or any(k.arg == "seed" for k in part.keywords):
                    return False
        return True

    def _local(self, node: ast.expr) -> bool:
        """A statement that only prints, or changes a value of the batch's own."""
        if not isinstance(node, ast.Call):
            return isinstance(node, ast.Constant)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(owner, ast.Name):
            return not self.module.names.qualname(owner)
        return self.module.names.qualname(node.func) == "builtins.print"

    def _plain(self, node: ast.expr | None) -> bool:
        """Whether a value has no list of tensors in it."""
        if isinstance(node, ast.Tuple):
            return all(map(self._plain, _with_labels(node)))
        if isinstance(node, ast.List):  # of numbers, which is one tensor
            return all(isinstance(one, (ast.Name, ast.Constant)) for one in node.elts) and not any(
                isinstance(one, ast.Name) and (one.id in self.parts or self._made_of_batch(one))
                for one in node.elts
            )
        if isinstance(node, ast.Dict):
            return None not in node.keys and all(map(self._plain, node.values))
        if isinstance(node, ast.Name) and node.id not in self.parts:
            given = [
                one
                for one in self.moved
                if isinstance(one, ast.Assign) and node.id in (names_in(one.targets[0]) or ())
            ]
            if not given:
                return False
            if isinstance(given[-1].targets[0], ast.Tuple):
                return self._lists(given[-1].value)
            return self._plain(given[-1].value)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return not self._lists(node.value)
        if isinstance(node, ast.Call):
            name = tensorflow_name(self.module, node.func)
            if self.module.names.qualname(node.func) == "builtins.dict":
                return self._plain_dictionary(node)
            pops = isinstance(node.func, ast.Attribute) and node.func.attr == "pop"
            return pops or (bool(name) and name.rpartition(".")[2] not in _LISTS)
        return isinstance(node, (ast.Name, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare))

    def _plain_dictionary(self, node: ast.Call) -> bool:
        """Whether `dict(...)` has one tensor a key: of a list of them, zipped with their names."""
        if any(keyword.arg is None for keyword in node.keywords):
            return False
        if not all(self._plain(keyword.value) for keyword in node.keywords):
            return False
        for given in node.args:
            if not isinstance(given, ast.Call) or len(given.args) != 2:
                return False
            if self.module.names.qualname(given.func) != "builtins.zip" or given.keywords:
                return False
            if not self._lists(given.args[1]):
                return False
        return len(node.args) < 2

    def _lists(self, node: ast.expr) -> bool:
        """Whether a value is a list of tensors, which part of it is one, too."""
        values: list[ast.expr] = [node]
        if isinstance(node, ast.Name):
            values = [
                one.value
                for one in self.moved
                if isinstance(one, ast.Assign) and names_in(one.targets[0]) == (node.id,)
            ]
        return any(
            isinstance(one, (ast.List, ast.ListComp))
            or (
                isinstance(one, ast.Call)
                and tensorflow_name(self.module, one.func).rpartition(".")[2] in _LISTS
            )
            for one in values
        )

    def _made_of_batch(self, node: ast.Name) -> bool:
        """Whether a name has a value that is computed beside the batch: a tensor, perhaps."""
        scope = self.module.names.scopes[self.node]
        home = self.module.names.defining_scope(node.id, self.module.names.scope_of_name[node])
        if home is not scope:
            return False
        found = [self.module.names.only_binding(node)]
        return any(
            one is None or one.value is None or not _counts(one.value, self.module) for one in found
        )

    def _stars(self, taken: ast.Assign, dataset: ast.expr) -> str | None:
        """Whether one name stands for a tuple, whose parts `map` gives one by one."""
        if isinstance(taken.targets[0], ast.Tuple):
            return ""
        structure = Elements(self.reader.values).of(self.module, dataset)
        if structure:
            return "*" if structure == TUPLE else ""
        (batch,) = self.parts
        named = any(used_as_dictionary(batch, one) for one in self.node.body)
        return "" if named else None

    def _written(
        self,
        taken: ast.Assign,
        made: ast.Assign | None,
        last: ast.Return,
        dataset: ast.expr,
        stars: str,
    ) -> list[Edit]:
        source, names = self.source, self.module.names
        layout, end = Layout(source, taken), Layout(source, last)
        others = [Layout(source, one) for one in (*self.moved, *([made] if made else []))]
        if not all(one.owns_lines for one in (layout, end, *others)):
            return []
        name = names.fresh(names.scopes[self.node], "as_batch", "batch_of", "change_batch")
        first = layout.next_line
        while not source.text[first : (below := source.text.index("\n", first) + 1)].strip():
            first = below
        head = [layout.trailing_comment] if layout.trailing_comment else []
        above = source.place(layout.line_start)[0] - 1
        if made is not None and made.end_lineno == above:
            above = made.lineno - 1
        if source.line_text(above).strip():
            head.insert(0, "")
        head.append(f"def {name}({stars}{', '.join(self.parts)}):")
        given = f"{source.code(dataset)}.map({name}).make_one_shot_iterator().get_next()"
        edits = [Edit(layout.line_start, first, layout.lines(head))]
        edits += self._indented(first, end.line_end)
        if isinstance(last.value, ast.Tuple) and len(_with_labels(last.value)) == 1:
            edits.append(Edit(*source.span(last.value), source.code(last.value.elts[0])))
        edits.append(
            Edit(
                end.line_end,
                end.line_end,
                f"{source.newline}{source.newline}{layout.indent}return {given}",
            )
        )
        if made is not None:
            gone = Layout(source, made)
            edits.append(gone.replace([gone.trailing_comment] if gone.trailing_comment else []))
        return edits

    def _indented(self, start: int, end: int) -> list[Edit]:
        """The lines of statements one level deeper; those within a string stay."""
        source = self.source
        _, strings = open_brackets(source.text[start:end])
        line = source.place(start)[0]
        rows = range(line, source.place(end)[0] + 1)
        deeper = [n for n in rows if n - line not in strings and source.line_text(n).strip()]
        starts = [source.line_starts[number - 1] for number in deeper]
        return [Edit(at, at, source.indent_unit) for at in starts]


def _with_labels(node: ast.Tuple) -> list[ast.expr]:
    """What a batch is: `features, None` is one of features alone."""
    if len(node.elts) == 2 and is_none(node.elts[1]) and not isinstance(node.elts[0], ast.Tuple):
        return node.elts[:1]
    return node.elts


def _counts(node: ast.expr, module: Module) -> bool:
    """Whether a value is a number of Python's: `len(text)`, `3`."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    return isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.len"


def _draws(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get_next"
        and not node.args
    )
