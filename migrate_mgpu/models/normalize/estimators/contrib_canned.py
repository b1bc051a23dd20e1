"""Canned Estimators of `tf.contrib.learn` as those of `tf.estimator`, with the same loss.

`learn.DNNClassifier`, `DNNRegressor`, `LinearClassifier` and `LinearRegressor` make the networks,
first values and optimizers of their namesakes, but for a linear model's rate where it has more than
25 columns; their loss is the mean over a batch, so the
namesake gets `loss_reduction`. Measured on 1.15.5: losses, gradients and weights are equal. An
array that they are fed is a feature without a name there, and gets one here; what `SKCompat`
predicts of it is an array of all rows. Results of an
evaluation have other keys than `loss` and `accuracy`: where a regressor's are shown, they are the
loss and the step, a program that shows all of a classifier's stays.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.canned.results import keys_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.estimators.contrib_estimators import Restated, is_walked
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_DENSE = ("hidden_units", "feature_columns", "model_dir")
_LINEAR = ("feature_columns", "model_dir")
_OF_ALL = {"feature_columns", "model_dir", "optimizer", "config"}
_OF_DENSE = {*_OF_ALL, "hidden_units", "activation_fn", "dropout"}
_REDUCTION = "losses.Reduction.SUM_OVER_BATCH_SIZE"
_NUMBERS = ("column_name", "dimension", "default_value", "dtype", "normalizer")
_INFERRED = "infer_real_valued_columns_from_input"
_ALL = {"all of a result"}
_MOST = 25  # columns of a linear model; it learns more slowly where it has more
_FEATURE = "x"  # of an array, which had no name


@record(frozen=True)
class _Kind:
    """A canned Estimator: its parameters, those that both have, and what predictions are."""

    parameters: tuple[str, ...]
    shared: frozenset[str]
    prediction: str
    results: frozenset[str]
    dense: bool


def _kind(dense: bool, classes: bool) -> _Kind:
    parameters = _DENSE if dense else _LINEAR
    shared = frozenset(_OF_DENSE if dense else _OF_ALL)
    if classes:
        return _Kind(
            (*parameters, "n_classes"),
            shared | {"n_classes"},
            "class_ids",
            frozenset({"loss", "accuracy"}),
            dense,
        )
    return _Kind(parameters, shared, "predictions", frozenset({"loss"}), dense)


_KINDS = {
    "DNNClassifier": _kind(True, True),
    "DNNRegressor": _kind(True, False),
    "LinearClassifier": _kind(False, True),
    "LinearRegressor": _kind(False, False),
}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one Estimator with its columns; none for another form."""
    if flow.class_name not in _KINDS:
        return {}
    found = _Canned(flow, ValueFlow(graph))
    return found.edits if found.restated() else {}


def number_columns(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The columns of `tf.estimator`'s own that are `real_valued_column`s; none for others."""
    known = tensorflow_name(flow.module, flow.call.func) == f"estimator.{flow.class_name}"
    columns = flow.arguments.get("feature_columns")
    if flow.class_name not in _KINDS or not known or columns is None:
        return {}
    found = _Canned(flow, ValueFlow(graph))
    if not found.numbers(columns):
        return {}
    found.without_imports()
    return found.edits


class _Canned(Restated):
    def __init__(self, flow: EstimatorFlow, values: ValueFlow) -> None:
        super().__init__(flow, values)
        self.name = flow.class_name
        self.kind = _KINDS[flow.class_name]
        self.unnamed = False  # whether it is fed one array, which is all of its features
        self.slower: float | None = None  # the rate of its own optimizer, if it is not 0.2

    def _model(self) -> bool:
        module, call = self.flow.module, self.flow.call
        if any(isinstance(value, ast.Starred) for value in call.args):
            return False
        if len(call.args) > len(self.kind.parameters):
            return False
        if any(keyword.arg is None for keyword in call.keywords):
            return False
        given = by_parameter(call, self.kind.parameters)
        columns = given.get("feature_columns")
        if columns is None or not given.keys() <= self.kind.shared:
            return False
        # TF1's two packages know other optimizers and activations by text.
        texts = [constant(given.get(name)) for name in ("optimizer", "activation_fn")]
        if any(isinstance(text, str) for text in texts) or not self._columns(columns):
            return False
        tf = style_at(module, call).tensorflow
        edit = CallEdit(module.source, call, self.kind.parameters)
        edit.add("loss_reduction", f"{tf}.{_REDUCTION}")
        if self.slower is not None and "optimizer" not in given:
            edit.add("optimizer", f"{tf}.train.FtrlOptimizer({self.slower!r})")
        self._edit(module, *edit.edits())
        return True

    # -- columns -------------------------------------------------------------

    def numbers(self, node: ast.expr) -> bool:
        """Whether all columns are numbers with names; their edits are there then."""
        return self._columns(node) and not self.unnamed

    def _columns(self, node: ast.expr) -> bool:
        """Whether all columns are numbers; their edits are there then."""
        value = self._value(node)
        if value is None:
            return False
        module = self.flow.module
        if self._named_in_learn(value) == _INFERRED:
            return isinstance(value, ast.Call) and self._inferred(value)
        if not isinstance(value, (ast.List, ast.Tuple)):
            return False
        names: list[str] = []
        for element in value.elts:
            column = self._value(element)
            if not isinstance(column, ast.Call):
                return False
            known = tensorflow_name(module, column.func)
            if known == "feature_column.numeric_column":
                name = constant(column.args[0]) if column.args else None
            elif known == "contrib.layers.real_valued_column":
                name = self._number(column)
            else:
                return False
            if not isinstance(name, str):
                return False
            names.append(name)
        if self.unnamed and len(names) > 1:
            return False
        if not self.kind.dense and len(names) > _MOST:
            self.slower = len(names) ** -0.5
        # In which order their weights stand: TF1's two packages sort them by other keys.
        by_shown = sorted(names, key=lambda name: f"_RealValuedColumn(column_name={name!r}, ")
        return by_shown == sorted(names) or not self.kind.dense

    def _value(self, node: ast.expr) -> ast.expr | None:
        """The expression of a column, or of a list of them, that nothing else has to do with."""
        if not isinstance(node, ast.Name):
            return node
        names = self.flow.module.names
        value = names.only_value(node)
        home = names.defining_scope(node.id, names.scope_of_name[node])
        for mention in names.mentions(node.id, home) if home is not None else ():
            if isinstance(mention.ctx, ast.Load) and not self._is_columns(mention):
                return None
        return value

    def _is_columns(self, mention: ast.Name) -> bool:
        """Whether a mention is columns of an Estimator, or an element of a list of columns."""
        names = self.flow.module.names
        node: ast.AST = mention
        while isinstance(names.parents[node], (ast.List, ast.Tuple)):
            node = names.parents[node]
        parent = names.parents[node]
        if isinstance(parent, ast.keyword):
            return parent.arg == "feature_columns"
        if isinstance(parent, ast.Call):
            return tensorflow_name(self.flow.module, parent.func).rpartition(".")[2] in _KINDS
        return isinstance(parent, ast.Assign) and node is not mention

    def _named_in_learn(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Call):
            return ""
        known = tensorflow_name(self.flow.module, node.func)
        return known.rpartition(".")[2] if known.startswith("contrib.learn.") else ""

    def _inferred(self, call: ast.Call) -> bool:
        """`infer_real_valued_columns_from_input(array)`: one column, as wide as the array."""
        module = self.flow.module
        if len(call.args) != 1 or call.keywords:
            return False
        (array,) = call.args
        if not isinstance(array, (ast.Name, ast.Attribute)):
            return False
        style = style_at(module, call)
        made = f"{style.tensorflow}.feature_column.numeric_column"
        shape = f"{module.source.code(array)}.shape[1:]"
        text = f"[{made}({style.string(_FEATURE)}, shape={shape})]"
        self._edit(module, Edit(*module.source.span(call), text))
        self.gone.setdefault(module, set()).add(call)
        self.unnamed = True
        return True

    def _number(self, call: ast.Call) -> str | None:
        """A `real_valued_column` becomes a `numeric_column`; the name of its feature, if it may."""
        module = self.flow.module
        if any(isinstance(value, ast.Starred) for value in call.args):
            return None
        given = by_parameter(call, _NUMBERS)
        name, width = constant(given.get("column_name")), given.get("dimension")
        if not given.keys() <= {"column_name", "dimension"} or not isinstance(name, str):
            return None
        if width is not None and is_none(width):
            return None  # as wide as each example
        style = style_at(module, call)
        edit = CallEdit(module.source, call, _NUMBERS)
        if not name:
            edit.value("column_name", style.string(_FEATURE))
            self.unnamed = True
        edit.rename("column_name", "key")
        edit.rename("dimension", "shape")
        self._edit(module, *edit.edits())
        made = f"{style.tensorflow}.feature_column.numeric_column"
        self._edit(module, Edit(*module.source.span(call.func), made))
        self.gone.setdefault(module, set()).add(call.func)
        return name or _FEATURE

    # -- uses ----------------------------------------------------------------

    def _features(self, module: Module, array: str) -> str:
        quote = module.source.quote
        return f"{{{quote}{_FEATURE}{quote}: {array}}}"

    def _takes_classes(self) -> bool:
        return True  # a head takes a list of labels and a column of them alike

    def _taken(
        self, module: Module, call: ast.Call, method: str, given: dict[str, ast.expr]
    ) -> bool:
        if ("x" in given) != self.unnamed or "metrics" in given:
            return False
        if method == "evaluate" and not self._measures(module, call):
            return False
        return method != "predict" or self._predicted(module, call, given)

    def _measures(self, module: Module, call: ast.Call) -> bool:
        """Whether the program finds in a result what it had; one that it shows has no more."""
        every: set[str] = set()
        for mention in self.values.uses(module, call):
            keys = keys_of(mention)
            every |= _ALL if keys is None else keys
        if not _ALL.isdisjoint(every):
            if self.kind.results != {"loss"}:
                return False  # classes have more measures, by other names
            quote = module.source.quote
            names = ", ".join(f"{quote}{name}{quote}" for name in ("loss", "global_step"))
            start, end = module.source.span(call)
            head = "{name: value for name, value in "
            rest = f".items() if name in ({names})}}"
            self._edit(module, Edit(start, start, head), Edit(end, end, rest))
            return True
        return every <= self.kind.results

    def _predicted(self, module: Module, call: ast.Call, given: dict[str, ast.expr]) -> bool:
        """Whether its predictions, class by class or number by number, have a form."""
        if not given.keys() <= {"x", "input_fn", "batch_size", "as_iterable"}:
            return False
        names, source = module.names, module.source
        start, end = source.span(call)
        quote = source.quote
        row = f"row[{quote}{self.kind.prediction}{quote}][0] for row in "
        if self.wrapped:
            return self._predicted_at_once(module, call)
        one_by_one = given.get("as_iterable")
        if one_by_one is not None and constant(one_by_one) is False:
            numpy = self._numpy(module)
            if numpy is None:
                return False
            self._edit(module, Edit(start, start, f"{numpy}.array([{row}"), Edit(end, end, "])"))
            return True
        if one_by_one is not None and constant(one_by_one) is not True:
            return False
        if not is_walked(call, names):
            return False
        parent = names.parents[call]
        if isinstance(parent, ast.Call):  # list(...)
            first, last = source.span(parent)
            self._edit(module, Edit(first, start, f"[{row}"), Edit(end, last, "]"))
        else:
            self._edit(module, Edit(start, start, f"({row}"), Edit(end, end, ")"))
        return True

    def _predicted_at_once(self, module: Module, call: ast.Call) -> bool:
        """What `SKCompat` gives: all classes as one array, in a dictionary."""
        numpy = self._numpy(module)
        if numpy is None or self.kind.prediction != "class_ids":
            return False
        for mention in self.values.uses(module, call):
            if keys_of(mention) != {"classes"}:
                return False
        start, end = module.source.span(call)
        quote = module.source.quote
        row = f"row[{quote}{self.kind.prediction}{quote}][0] for row in "
        head = f"{{{quote}classes{quote}: {numpy}.array([{row}"
        self._edit(module, Edit(start, start, head), Edit(end, end, "])}"))
        return True

    def _numpy(self, module: Module) -> str | None:
        """What a module calls NumPy; None where it does not have it."""
        for name, bindings in module.names.module_scope.bindings.items():
            if len(bindings) == 1 and bindings[0].kind == "import":
                if module.names.roots(name, module.names.module_scope) == ("numpy",):
                    return name
        return None
