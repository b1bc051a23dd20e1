"""`tf.feature_column.input_layer` in a network as the tensors that its columns make.

Where all columns are plain numbers their list stays, with keys in the place of the columns:
``tf.concat([tf.cast(features[name], tf.float32) ...], axis=1)``, by the order of the names.
Other columns are written out one by one, and what made them goes. Those that nobody can know
before the program runs stay objects, which a layer asks: ``DenseFeatures``, in TF1's Keras too.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import Scope, constant
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.canned.columns import ColumnReader
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import FeatureColumn, PlainNumbers
from migrate_mgpu.models.normalize.estimators.column_tensors import ORDER, ColumnTensors, Tensor
from migrate_mgpu.models.properties import embeds, is_category
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.container_edit import member_edit
from migrate_mgpu.source.new_code import Code, call, deeper, lines
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments
from migrate_mgpu.source.style import FileStyle

_PARAMETERS = ("features", "feature_columns")
_SHARED = "shared_embedding"  # one table in the whole graph
# They train the rows of an embedding that a batch does not use as TF1 does: not at all, or
# all of them (Adam).
_ALL_ROWS = {"train.GradientDescentOptimizer", "train.AdagradOptimizer", "train.AdamOptimizer"}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one `input_layer`; none where its columns cannot be determined."""
    if flow.function is None:
        return {}
    module = flow.function.module
    for node in module.names.calls:
        if name_of(module, node) == "feature_column.input_layer":
            if flow.function.node not in module.names.ancestors(node) and _may_be_shared(module):
                continue
            found = _InputLayer(flow, graph, module, node)
            try:
                edits = found.edits()
            except Refused:
                edits = {}
            edits = edits or found.layer()
            if edits:
                return edits
    return {}


def _may_be_shared(module: Module) -> bool:
    """Whether functions that are called again may find the embeddings of the call before."""
    return any(word in module.source.text for word in ("reuse", "AUTO_REUSE", _SHARED))


@record(frozen=True)
class _Columns:
    """An expression that is a list of columns, and the dictionary's entry it stands in."""

    module: Module
    node: ast.expr
    key: ast.expr | None = None


class _InlineColumns(ColumnTensors):
    """Writes columns for the function that they stand in: it makes their layers as it goes."""

    def __init__(self, columns: Module, style: FileStyle, features: str, at: Module, scope: Scope):
        super().__init__(columns, style, features)
        self.names = at.names
        self.scope = scope

    def applied(self, tensor: Tensor, attribute: str, layer: Code, given: Code) -> Code:
        name = self.names.fresh(self.scope, attribute)
        tensor.before.append((name, call(str(layer), given)))
        return name

    def bucket(self, tensor: Tensor, buckets: FeatureColumn, number: Code, shape: str) -> Code:
        side = f"side={self.style.string('right')}"
        floats = call(f"{self.tf}.constant", self.limits(buckets), f"{self.tf}.float32")
        # It looks up as many lists as there are limits' lists: one.
        flat = call(f"{self.tf}.reshape", number, "[-1]")
        found = call(f"{self.tf}.searchsorted", floats, flat, side)
        return found if shape == "[-1]" else call(f"{self.tf}.reshape", found, shape)


class _InputLayer:
    def __init__(
        self, flow: EstimatorFlow, graph: CallGraph, module: Module, call: ast.Call
    ) -> None:
        self.flow = flow
        self.graph = graph
        self.module = module
        self.call = call
        self.style = style_at(module, call)
        self.tf = self.style.tensorflow

    def edits(self) -> dict[Module, list[Edit]]:
        arguments = NamedArguments(self.module, self.call, _PARAMETERS)
        features, given = arguments.get("features"), arguments.get("feature_columns")
        statement = self.module.names.statement(self.call)
        layout = Layout(self.module.source, statement)
        plain = len(self.call.args) + len(self.call.keywords) == 2
        if not isinstance(features, ast.Name) or given is None or not plain:
            return {}
        if not isinstance(statement, ast.Assign) or statement.value is not self.call:
            return {}
        if not layout.owns_lines or self.module.names.parents[statement] in self._loops(statement):
            return {}
        columns = self._columns(given)
        if columns is None:
            return {}
        reader = ColumnReader(columns.module, self.graph)
        numbers = reader.numbers(columns.node)
        if numbers is not None:
            return self._keys(columns, numbers, features.id, given, layout)
        return self._each(columns, reader, features.id, layout)

    def layer(self) -> dict[Module, list[Edit]]:
        """The Keras layer of TF1 that does the same: it asks the columns when the program runs."""
        arguments = NamedArguments(self.module, self.call, _PARAMETERS)
        features, given = arguments.get("features"), arguments.get("feature_columns")
        statement = self.module.names.statement(self.call)
        if features is None or given is None or self._loops(statement):
            return {}
        if len(self.call.args) + len(self.call.keywords) != 2 or self.flow.distribution.training:
            return {}
        code = self.module.source.code
        text = f"{self.tf}.keras.layers.DenseFeatures({code(given)})({code(features)})"
        return {self.module: [Edit(*self.module.source.span(self.call), text)]}

    def _loops(self, statement: ast.stmt) -> list[ast.AST]:
        loops = (ast.For, ast.While)
        return [a for a in self.module.names.ancestors(statement) if isinstance(a, loops)]

    def _columns(self, given: ast.expr) -> _Columns | None:
        """The list that an `input_layer` is given: as such, or as one of the Estimator's params."""
        if not isinstance(given, ast.Subscript):
            return _Columns(self.module, given)
        key = constant(given.slice)
        if not isinstance(key, str) or self.flow.params is None:
            return None
        params = self.flow.module.names.assigned(self.flow.params)
        if not isinstance(params, ast.Dict):
            return None
        if any(self._other_mentions(key, given, module) for module in self._run()):
            return None
        for name, value in zip(params.keys, params.values):
            if name is not None and constant(name) == key:
                return _Columns(self.flow.module, value, name)
        return None

    def _run(self) -> list[Module]:
        """Every module that may read the Estimator's params."""
        found = self.flow.modules
        for module in found:  # grows as it is walked
            found += [other for other in module.imported if other not in found]
        return found

    def _other_mentions(self, key: str, given: ast.Subscript, module: Module) -> bool:
        """Whether anything else may read the columns out of params."""
        found = [
            node
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Constant) and node.value == key and node is not given.slice
        ]
        expected = 1 if module is self.flow.module else 0
        return len(found) != expected

    # -- plain numbers ----------------------------------------------------------

    def _keys(
        self,
        columns: _Columns,
        numbers: PlainNumbers,
        features: str,
        given: ast.expr,
        layout: Layout,
    ) -> dict[Module, list[Edit]]:
        tf, source = self.tf, columns.module.source
        keys = [Edit(*source.span(key.call), source.code(key.node)) for key in numbers.keys]
        found = {columns.module: keys}
        own = self.module.source.code(given)
        if not isinstance(given, (ast.Name, ast.Subscript)):
            own, found = render(source, given, keys), {}  # it stands in the call itself
        scope = self.module.names.scope_at(layout.statement)
        name = self.module.names.fresh(scope, "name", "key", "column_name")
        number = f"{tf}.cast({tf}.reshape({features}[{name}], [-1, 1]), {tf}.float32)"
        inner = [number, f"for {name} in sorted({own})"]
        if len(layout.indent) + sum(map(len, inner)) + 5 <= self.style.width:
            inner = [" ".join(inner)]
        edit = layout.replace(self._concat(inner, scope, layout))
        found.setdefault(self.module, []).append(edit)
        return found

    def _concat(self, inner: list[str], scope: Scope, layout: Layout) -> list[str]:
        """The statements that put the columns together."""
        statement = layout.statement
        assert isinstance(statement, ast.Assign)
        source, unit = self.module.source, self.style.indent
        name = self.module.names.fresh(scope, "columns", "inputs", "input_columns")
        target = source.code(statement.targets[0])
        found = [ORDER, f"{name} = [", *deeper(inner, unit), "]"]
        found.append(f"{target} = {self.tf}.concat({name}, axis=1)")
        if layout.trailing_comment:
            found[-1] += f"  {layout.trailing_comment}"
        return found

    # -- other columns ------------------------------------------------------------

    def _each(
        self, columns: _Columns, reader: ColumnReader, features: str, layout: Layout
    ) -> dict[Module, list[Edit]]:
        every = reader.read(columns.node)
        distributed = bool(self.flow.distribution.training)
        if any(is_category(column) or (column.texts and distributed) for column in every):
            return {}
        if any(map(embeds, every)) and not self._trains_all_rows():
            return {}
        scope = self.module.names.scope_at(layout.statement)
        writer = _InlineColumns(columns.module, self.style, features, self.module, scope)
        base, unit = layout.indent, self.style.indent
        before: list[str] = []
        inner: list[str] = []
        for tensor in writer.write(every):
            for name, value in tensor.before:
                before += lines(value, base, unit, f"{name} = ")
            inner += [base + unit + comment for comment in tensor.column.comments]
            inner += lines(tensor.expression, base + unit, unit, tail=",")
        before = [line[len(base) :] for line in before]
        inner = [line[len(base + unit) :] for line in inner]
        shown = [*reader.comments, *before, *self._concat(inner, scope, layout)]
        found = {self.module: [layout.replace(shown)]}
        for edit in self._removals(columns, reader):
            found.setdefault(columns.module, []).append(edit)
        return found

    def _trains_all_rows(self) -> bool:
        module = self.module
        made = {name_of(module, call) for call in module.names.calls}
        made = {name for name in made if "Optimizer" in name or "optimize_loss" in name}
        return bool(made) and made <= _ALL_ROWS

    def _removals(self, columns: _Columns, reader: ColumnReader) -> list[Edit]:
        """What made the columns goes: statements, and the entry in params."""
        module, names = columns.module, columns.module.names
        source = module.source
        statements = list(dict.fromkeys(reader.statements))
        gone = {part for s in (*statements, columns.node) for part in ast.walk(s)}
        found: list[Edit] = []
        for statement in statements:
            layout = Layout(source, statement)
            if not layout.owns_lines or len(names.block(statement)) == 1:
                raise Refused(module, statement, "this shares its line or block with something")
            if any(other is not statement and statement in ast.walk(other) for other in statements):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            for target in (t for t in targets if isinstance(t, ast.Name)):
                home = names.defining_scope(target.id, names.scope_of_name[target])
                mentions = names.mentions(target.id, home) if home is not None else ()
                if any(mention not in gone for mention in mentions):
                    raise Refused(module, target, "this is used for more than the columns")
            start = start_with_comments(source.text, layout.line_start)
            found.append(Edit(start, layout.next_line, ""))
        if columns.key is not None:
            params = names.parents[columns.node]
            assert isinstance(params, ast.Dict)
            edit, _ = member_edit(source, params, {params.values.index(columns.node)})
            found.append(edit)
        return found
