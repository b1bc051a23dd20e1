"""``train``, ``evaluate``, ``predict`` and ``train_and_evaluate`` become Keras's methods.

## What it does
Of an Estimator that becomes a Keras model

- ``train(input_fn, steps=n)`` becomes ``fit(dataset, steps_per_epoch=n)``. Under a
  strategy the dataset is ``strategy.distribute_datasets_from_function(...)``: each
  replica draws batches of its own from the input function, as in TF1;
- ``train(max_steps=n)`` trains up to the n-th step of the model: in a loop, or with a
  folder of checkpoints, the steps that are left;
- ``evaluate`` becomes ``evaluate(return_dict=True)``; ``global_step`` of its result is
  the optimizer's ``iterations``;
- ``predict`` gives a dictionary for each example still: code that goes over them stays;
- ``train_and_evaluate`` becomes a training and an evaluation, its specs become datasets;
- input functions give Datasets: ``make_one_shot_iterator().get_next()`` goes,
  ``numpy_input_fn`` becomes a function with the same batches;
- ``export_saved_model`` with placeholders, or with a raw or parsing receiver that TF1 builds,
  becomes a ``tf.keras.export.ExportArchive``: the receiver function gets the model and gives
  the ``tf.function`` to serve, whose inputs and
  outputs have TF1's names; ``LatestExporter`` and ``FinalExporter`` of an EvalSpec become the
  same, behind the evaluation, below the folder of the checkpoints;
- a ``SessionRunHook`` of the program's own becomes a ``tf.keras.callbacks.Callback``: ``begin``,
  ``before_run``, ``after_run`` and ``end`` are called when ``on_train_begin``,
  ``on_train_batch_begin``, ``on_train_batch_end`` and ``on_train_end`` are, ``request_stop()``
  is ``self.model.stop_training``, a fetched loss is ``logs['loss']`` of that batch alone;
- ``make_early_stopping_hook`` becomes a callback that asks the same function as often; a
  ``StopAtStepHook`` is the training's number of steps;
- a predictor of a SavedModel (``tf.contrib.predictor.from_saved_model``) becomes a function that
  calls its signature, and gives arrays;
- hooks that only log go. Where TF1 logged the loss (a ``LoggingTensorHook``, the log at
  INFO), Keras shows its progress; where TF1 was silent, ``verbose=0`` keeps it so.

## Why
Keras splits a dataset's batches among the replicas, TF1 gave each replica one: with the
input function's dataset as it is, each step would see fewer examples.

## Safety
Losses, weights and metrics are equal (``fixtures/estimator``, 1, 2 and 4 devices).
``loss`` of an evaluation is a mean over examples in Keras, over batches in TF1: the
numbers differ when the last batch is smaller. ``train_and_evaluate`` evaluated after
each checkpoint too, at most every ``throttle_secs`` (600); now it does once, at the end.
Under a strategy Keras 3 stops with an error where the first batch of an evaluation cannot be
divided evenly among the replicas, and where the features have a text that the model does not use;
findings say so. A number of steps that may be a fraction (``examples / batch_size``) is written as
``math.ceil`` of it, up to which TF1 trains; Keras 3 takes whole numbers alone.
A SavedModel answers by the same signatures as TF1's (``tests/models``), also in a v1
session. ``tf.saved_model.save`` is not used: what it makes of a Keras 3 model TF2 loads, and a
v1 session does not.
A hook that fetches another tensor than the loss and the global step stays, and so does any that
fetches under a strategy: in TF1 it saw the first replica's loss.
Where a step is not understood (another hook, an export of other inputs than placeholders, a
checkpoint's path), the Estimator stays as it is, whole.

## References
``tf.distribute.Strategy.distribute_datasets_from_function``, ``tf.keras.Model.fit``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import MODEL, PROGRAM
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import DrivingRewriter

RULE = Rule(
    code="MGPU408",
    name="estimator-driving",
    summary="`train`, `evaluate`, `predict`, `train_and_evaluate` become Keras's methods",
)

CASES = (
    Case(
        "training and evaluating in a loop",
        PROGRAM
        + """\
estimator = tf.estimator.Estimator(model_fn)
for epoch in range(3):
    estimator.train(lambda: input_fn(), steps=100)
    result = estimator.evaluate(input_fn, steps=10)
    print(result['global_step'], result['loss'])
""",
        MODEL
        + """\
estimator = model_fn()
for epoch in range(3):
    estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
    result = estimator.evaluate(
        input_fn(), steps=10, return_dict=True, verbose=0)
    print(int(estimator.optimizer.iterations.numpy()), result['loss'])
""",
    ),
    Case(
        "train_and_evaluate",
        PROGRAM
        + """\
estimator = tf.estimator.Estimator(model_fn)
train_spec = tf.estimator.TrainSpec(input_fn, max_steps=100)
eval_spec = tf.estimator.EvalSpec(input_fn, steps=10)
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
""",
        MODEL
        + """\
estimator = model_fn()
train_dataset = input_fn()
eval_dataset = input_fn()
estimator.fit(train_dataset, steps_per_epoch=100, verbose=0)
estimator.evaluate(eval_dataset, steps=10, return_dict=True, verbose=0)
""",
    ),
    Case(
        "arrays",
        """\
import numpy as np
"""
        + PROGRAM.partition("def input_fn")[0].rstrip()
        + """

x = np.array([[1.0], [2.0]], np.float32)
input_fn = tf.estimator.inputs.numpy_input_fn(
    x, 2 * x, batch_size=2, num_epochs=None, shuffle=False)


def model_fn"""
        + PROGRAM.partition("def model_fn")[2]
        + """\
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
""",
        """\
import numpy as np
"""
        + MODEL.partition("def input_fn")[0].rstrip()
        + """

x = np.array([[1.0], [2.0]], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((x, 2 * x)).repeat().batch(2)


def model_fn"""
        + MODEL.partition("def model_fn")[2]
        + """\
estimator = model_fn()
estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
""",
    ),
    Case(
        "an export of a model without predictions",
        PROGRAM.rstrip()
        + """


def serving_fn():
    x = tf.placeholder(tf.float32, [None, 1])
    return tf.estimator.export.TensorServingInputReceiver(x, {'x': x})


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
estimator.export_saved_model('exported', serving_fn)
""",
        refused="the EstimatorSpec for PREDICT has no predictions",
    ),
)

REWRITER = DrivingRewriter(RULE, CASES)
