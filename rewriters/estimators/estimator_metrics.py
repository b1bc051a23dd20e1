"""``tf.metrics`` of a model_fn become Keras metrics of the labels and the model's output.

## What it does
``tf.metrics.accuracy(labels, tf.argmax(logits, 1))`` becomes
``tf.keras.metrics.SparseCategoricalAccuracy``: a Keras metric is given what the model
returns, and takes the ``argmax`` itself. Where Keras's does not, a small class does it.

## Why
TF2 has no ``tf.metrics`` of this kind; ``compile(metrics=...)`` takes Keras metrics.

## Safety
Equal to 1e-6 over several batches (the docs' table names the measurement). The squared and
absolute errors of a list of numbers are averaged number by number, which Keras's own classes do
not: of a batch they make one number. ``weights`` become a ``sample_weight``, which the model's
own step hands over. The curve ``PR`` of ``auc`` has straight lines between its points as in TF1, by
a small class, where Keras interpolates; ``(tf.maximum(m[0], 1 - m[0]), m[1])`` of a mean ``m`` of
labels is one as well. Pairs of the author's own besides that one, and
what Keras does not have (``mean_per_class_accuracy``, ``precision_at_k``, ...) keep the program
as it is.

## References
``tf.metrics``, ``tf.keras.metrics``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import NUMBERS, case
from migrate_mgpu.core.registry import Rule
from migrate_mgpu.models.front.rewriters import ModelPartRewriter

RULE = Rule(
    code="MGPU405",
    name="estimator-metrics",
    summary="`tf.metrics` become Keras metrics of the model's output",
)

CASES = (
    case(
        "accuracy",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(
        optimizer=optimizer,
        loss=loss,
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name='accuracy')])
    return model
""",
        metric="accuracy",
    ),
    case(
        "of one logit",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 1)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    probabilities = tf.nn.sigmoid(logits)
    metrics = {
        'recall': tf.metrics.recall(labels, tf.round(probabilities)),
        'auc': tf.metrics.auc(labels, probabilities),
    }
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
""",
        '''\
class SigmoidRecall(tf.keras.metrics.Recall):
    """Recall of the sigmoid of what the model returns."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, tf.sigmoid(y_pred), sample_weight)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(
        optimizer=optimizer,
        loss=loss,
        metrics=[
            SigmoidRecall(name='recall'),
            tf.keras.metrics.AUC(from_logits=True, name='auc'),
        ],
    )
    return model
''',
        data=NUMBERS,
        metric="recall",
    ),
)

REWRITER = ModelPartRewriter(RULE, CASES)
