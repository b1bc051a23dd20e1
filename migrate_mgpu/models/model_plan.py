"""What becomes of a model: the edits that make it, and what its driving code must know of it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record


@record()
class ModelPlan(EditSet):
    """A model_fn that became a function which builds and compiles a model.

    ``function`` is the call of its constructor for an Estimator without a model_fn.
    ``parameters`` are the names it still takes (a part of ``params``, ``config``, in
    its author's order). ``steps`` says whether the model has a ``predict_step`` of its own,
    ``predicts`` whether that gives dictionaries, ``prediction_keys`` those of them that are
    known.
    ``callbacks`` are the classes beside the function that ``fit`` needs as callbacks
    (batch normalization's statistics under several replicas). ``by_batch``: the loss of an
    evaluation is the mean over batches, as TF1's. ``labels``: the model_fn asks for the labels,
    else what it is fed may be features alone. ``trains``: something trains it.
    ``has_layer_lists``: a class of the model keeps its layers in a list, or a list that may have
    layers in it. ``averages``: another model in it has the moving averages of its variables.
    ``initializes`` is the method that gives its variables what they begin with,
    where they are not what its layers draw; ``warm`` is the one that does so for those that are
    trained, of a checkpoint that it is given. ``tables`` are its attributes that are tables of
    words.
    ``tells`` are the parameters of functions that say whether these train, ``never`` those that
    are False. ``calls`` are the mentions, rewritten, of what became a class; ``elsewhere`` those
    that it did not rewrite, with what keeps the model where no other one's conversion does.
    """

    module: Module
    function: ast.FunctionDef | ast.Call
    parameters: tuple[str, ...] = ()
    predicts: bool = False
    prediction_keys: tuple[object, ...] = ()
    steps: bool = False
    callbacks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    by_batch: bool = False
    labels: bool = True
    trains: bool = True
    has_layer_lists: bool = False
    averages: bool = False
    initializes: str = ""
    warm: str = ""
    tables: tuple[str, ...] = ()
    tells: set[tuple[ast.AST, str]] = field(default_factory=set)
    never: set[tuple[ast.AST, str]] = field(default_factory=set)
    calls: set[ast.AST] = field(default_factory=set)
    elsewhere: dict[ast.AST, Diagnostic] = field(default_factory=dict)
