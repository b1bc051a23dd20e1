"""What the parts of an Estimator's conversion tell each other."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.initializers import InitializerRow
from migrate_mgpu.api.layers import LayerRow
from migrate_mgpu.api.recurrent import CellRow
from migrate_mgpu.core.records import field, record


@record(frozen=True)
class Layer:
    """A layer that is made, and applied: ``tf.layers.dense(net, 10, name='fc')``.

    ``row`` says which one it is. ``settings`` are the author's expressions of what the layer
    is made with, by TF1's parameters, in their order; ``inputs`` are what it is applied to
    (nothing where a class is only called), ``training`` is the value of that argument.
    A call without a layer's state (``tf.layers.flatten``) is one all the same.
    """

    call: ast.Call
    row: LayerRow
    settings: Mapping[str, ast.expr]
    inputs: tuple[ast.expr, ...] = ()
    training: ast.expr | None = None

    @property
    def stem(self) -> str:
        """The attribute's name where nothing better is known (``dense``)."""
        return self.row.stem


@record(frozen=True)
class FirstValue:
    """What a variable is given at first, in ``parameter``: a number, or a function's value.

    ``kind`` is the initializer that draws the same, ``settings`` its literals; ``shape`` is
    None for a single number.
    """

    parameter: str
    kind: str
    settings: Mapping[str, ast.expr]
    shape: ast.expr | None = None


@record(frozen=True)
class Weight:
    """A weight of the model's own, which is applied to nothing.

    ``signature`` are the parameters of the function that makes it, ``settings`` the author's
    expressions of those that count, in their order. ``double``: it is of float64.
    """

    call: ast.Call
    signature: tuple[str, ...]
    stem: str
    settings: Mapping[str, ast.expr]
    first: FirstValue | None = None
    double: bool = False


@record(frozen=True)
class Result:
    """`outputs, state = tf.nn.dynamic_rnn(...)`: which of the two the program reads."""

    target: ast.Tuple | ast.List
    outputs: ast.Name
    state: ast.Name
    sequences: bool
    states: bool


@record(frozen=True)
class Recurrent:
    """A recurrent layer: it runs a cell over a sequence, whose ``lengths`` are given or not.

    ``listed``: the sequence is a list of its steps. ``start`` is the state that it begins
    with, a zero state, where that is given.
    """

    call: ast.Call
    signature: tuple[str, ...]
    cell: ast.expr
    inputs: tuple[ast.expr, ...]
    result: Result
    lengths: ast.expr | None = None
    listed: bool = False
    start: ast.expr | None = None
    stem = "rnn"


@record(frozen=True)
class Cell:
    """A recurrent cell; without a row a stack of cells."""

    call: ast.Call
    row: CellRow | None
    settings: Mapping[str, ast.expr]


@record(frozen=True)
class KerasRecurrent:
    """A recurrent layer of Keras's own, as 1.15 made it.

    ``hard_gates``: its gates have the `hard_sigmoid` that 1.15 had for them.
    """

    call: ast.Call
    kind: str
    signature: tuple[str, ...]
    settings: Mapping[str, ast.expr]
    hard_gates: bool


@record(frozen=True)
class Initializer:
    """An initializer or regularizer: a call, or a class that is handed over.

    ``settings`` are the author's expressions by TF1's parameters, ``unasked`` the values
    that TF1 took for the others, by Keras's.
    """

    node: ast.expr
    row: InitializerRow
    settings: Mapping[str, ast.expr] = field(default_factory=dict)
    unasked: Mapping[str, float | str] = field(default_factory=dict)


@record()
class ModelPlan(EditSet):
    """A model_fn that became a function which builds and compiles a model.

    ``function`` is the call of its constructor for an Estimator without a model_fn.
    ``parameters`` are the names it still takes (a part of ``params``, ``config``, in
    its author's order). ``steps`` says whether the model has a ``predict_step`` of its own,
    ``predicts`` whether that gives dictionaries.
    ``callbacks`` are the classes beside the function that ``fit`` needs as callbacks
    (batch normalization's statistics under several replicas). ``by_batch``: the loss of an
    evaluation is the mean over batches, as TF1's. ``has_layer_lists``: a class of the model
    keeps its layers in a list, or a list that may have layers in it.
    """

    module: Module
    function: ast.FunctionDef | ast.Call
    parameters: tuple[str, ...] = ()
    predicts: bool = False
    steps: bool = False
    callbacks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    by_batch: bool = False
    has_layer_lists: bool = False
