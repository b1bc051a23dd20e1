"""``multi_gpu_model`` becomes a strategy under which the model is made and compiled.

## What it does
The model that ``keras.utils.multi_gpu_model`` copied to several GPUs is made and
compiled under ``tf.distribute.MirroredStrategy``; ``fit``, ``evaluate`` and
``predict`` then do what those of the copies did. The strategy is chosen above the
model: an ``if`` that chose between the model and its copies chooses the strategy. A
``tf.device`` that held the weights on the CPU goes. Where the model and its copies
had two names, the model's stays. A model that is made elsewhere (in another function or
module, kept by an object) has its strategy there; where it is compiled,
``model.distribute_strategy`` is that.

## Why
No TF2 has ``multi_gpu_model``.

## Safety
Measured on 1.15.5 (``fixtures/copies``): the loss of the copies is
that of the whole batch, as Keras under a strategy has it, on 1, 2 and 4 devices. Four
things differ, and each is said where it applies: a batch that the GPUs cannot share
evenly; a Python generator, of which Keras 3 loses batches; batch normalization's averages,
which TF1's copies moved over each other, with another result in every run; files that the
copies' own model wrote.

A program stays where Keras would do something else without a word, or where the
model cannot be followed: a loss of one's own that is not plainly one number for each
example, an optimizer or a recurrent layer that TF2 has changed, ``activity_regularizer``,
``add_loss``, ``clipnorm``, ``train_on_batch``, ``cpu_relocation``; a model that is made
elsewhere and copied under a condition, handed to what cannot be analyzed, or trained beside its
copies; GPUs that are not known where the model is made.
Copies that a loop makes by hand, with a ``tf.device`` for each GPU, are told, and not migrated.

## References
``tf.keras.utils.multi_gpu_model``, ``tf.distribute.MirroredStrategy``;
[what the copies do](semantics.md#multi_gpu_model)
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.multi_gpu_model.rewriter import CopiesRewriter

RULE = Rule(
    code="MGPU501",
    name="model-copies",
    summary="a Keras model's copies on several GPUs become a strategy",
)

_HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras.utils import multi_gpu_model

x, y = np.ones((8, 4)), np.ones((8, 1))
"""
_AFTER = """\
import numpy as np
import tensorflow as tf

x, y = np.ones((8, 4)), np.ones((8, 1))
"""

CASES = (
    Case(
        "a number of GPUs",
        _HEAD
        + """\
with tf.device('/cpu:0'):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
parallel_model = multi_gpu_model(model, gpus=2)
parallel_model.compile(loss='mse', optimizer='sgd')
parallel_model.fit(x, y, batch_size=8)
model.save('model.h5')
""",
        _AFTER
        + """\
strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile(loss='mse', optimizer='sgd')
model.fit(x, y, batch_size=8)
model.save('model.h5', include_optimizer=False)
""",
    ),
    Case(
        "several GPUs or one",
        _HEAD
        + """\

def main(gpus):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    if gpus > 1:
        model = multi_gpu_model(model, gpus=gpus)
    model.compile(loss='mse', optimizer='sgd')
    model.fit(x, y, batch_size=8)


main(1)
""",
        _AFTER
        + """\

def main(gpus):
    strategy = tf.distribute.get_strategy()
    if gpus > 1:
        strategy = tf.distribute.MirroredStrategy(
            ['/gpu:%d' % i for i in range(gpus)])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
        model.compile(loss='mse', optimizer='sgd')
    model.fit(x, y, batch_size=8)


main(1)
""",
    ),
    Case(
        "a loss of the whole batch",
        _HEAD
        + """\
def dice(labels, outputs):
    return 1 - 2 * tf.reduce_sum(labels * outputs) / tf.reduce_sum(labels + outputs)


model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model = multi_gpu_model(model, gpus=2)
model.compile(loss=dice, optimizer='sgd')
model.fit(x, y, batch_size=8)
""",
        refused="the loss `dice` may not be one number for each example",
    ),
)

REWRITER = CopiesRewriter(RULE, CASES)
