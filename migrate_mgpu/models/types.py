"""What the parts of an Estimator's conversion tell each other."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.source.source import Edit


@record(frozen=True)
class Layer:
    """A call that makes a layer and applies it: ``tf.layers.dense(net, 10, name='fc')``.

    ``edits`` turn the call's text into the constructor's, in the author's layout
    (``tf.keras.layers.Dense(10, name='fc')``). ``inputs`` are the expressions that the
    layer is applied to, ``training`` the value of that argument if the layer takes
    one. ``stem`` is the attribute's name where nothing better is known (``dense``).
    A call without a layer's state (``tf.layers.flatten``) is one all the same.
    ``takes_training``: it behaves differently while training (dropout, batch
    normalization); TF1's default for it is False, Keras's is what ``fit`` says.
    ``variable``: it is a weight of the model's own, which is applied to nothing; ``double``:
    of float64.
    ``recurrent``: it runs a cell over a sequence, whose ``lengths`` are given or not;
    ``listed``: the sequence is a list of its steps.
    """

    call: ast.Call
    edits: tuple[Edit, ...]
    inputs: tuple[ast.expr, ...]
    training: ast.expr | None = None
    stem: str = "layer"
    takes_training: bool = False
    variable: bool = False
    double: bool = False
    recurrent: bool = False
    lengths: ast.expr | None = None
    listed: bool = False


@record(frozen=True)
class Optimizer:
    """An optimizer's constructor: ``edits`` turn its text into Keras's, TF1's defaults stated.

    ``rate`` is the expression of the learning rate. ``classes`` are texts of classes that
    the constructor's new text names: they are put above the function, once (RMSProp whose
    mean squares begin at one). ``reads`` are the author's expressions in the new text
    besides the call's arguments. ``notes`` are facts for the user (findings).
    """

    call: ast.Call
    edits: tuple[Edit, ...]
    rate: ast.expr | None
    classes: tuple[str, ...] = ()
    reads: tuple[ast.expr, ...] = ()
    notes: tuple[str, ...] = ()


@record(frozen=True)
class Metric:
    """A ``tf.metrics`` call, and the Keras metrics that are equal to it.

    ``keras`` gives a metric's text (a format with ``{name}`` for the quoted name) that
    takes the labels and the *model's output*, by what the author's expressions are of
    those: labels ``sparse`` (themselves) or ``onehot`` (their argmax) or ``other``;
    predictions ``identity`` (the output itself), ``argmax``, ``softmax``, ``sigmoid``,
    ``round_sigmoid`` of it. ``labels`` is None for a metric of one value. ``classes`` has
    the text of a class that such a metric names: it is put above the function, once.
    ``plain`` is the text of the Keras metric that takes what the author compares as it is
    (empty where there is none), ``boolean`` says whether TF1 asked of it only if it is zero.
    ``weights``: each example's, or each value's; no number.
    """

    call: ast.Call
    labels: ast.expr | None
    predictions: ast.expr
    keras: dict[tuple[str, str], str]
    classes: dict[tuple[str, str], str] = field(default_factory=dict)
    plain: str = ""
    boolean: bool = False
    weights: ast.expr | None = None

    def text(self, labels: str, predictions: str) -> str | None:
        """The Keras metric for what labels and predictions are; None where none is equal."""
        return self.keras.get((labels, predictions))


@record()
class ModelPlan:
    """A model_fn that became a function which builds and compiles a model.

    ``function`` is the call of its constructor for an Estimator without a model_fn.
    ``parameters`` are the names it still takes (a part of ``params``, ``config``, in
    its author's order). ``steps`` says whether the model has a ``predict_step`` of its own,
    ``predicts`` whether that gives dictionaries.
    ``callbacks`` are the classes beside the function that ``fit`` needs as callbacks
    (batch normalization's statistics under several replicas). ``by_batch``: the loss of an
    evaluation is the mean over batches, as TF1's.
    """

    module: Module
    function: ast.FunctionDef | ast.Call
    parameters: tuple[str, ...] = ()
    predicts: bool = False
    steps: bool = False
    callbacks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    by_batch: bool = False
    edits: dict[Module, list[Edit]] = field(default_factory=dict)
    imports: dict[Module, set[str]] = field(default_factory=dict)
    gone: set[ast.AST] = field(default_factory=set)
    notes: list[tuple[Module, ast.AST, str]] = field(default_factory=list)
