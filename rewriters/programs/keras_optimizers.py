"""``RMSprop``, and standalone Keras's ``Adagrad``, train as they did in TF1.

## What it does
In a program that becomes native, an optimizer whose arithmetic TF2 changed is made from a
small class beside it, which does what Keras did in TF1. An optimizer that is named by a
string (``optimizer='rmsprop'``) is made as well.

## Why
Keras of TF1 divides by ``sqrt(mean_squares) + epsilon``, Keras of TF2 by
``sqrt(mean_squares + epsilon)``: with gradients below 0.01 the steps are other ones, without a
word. Standalone Keras's ``Adagrad`` does the same, and begins its sums at zero where TF2's
begin at 0.1.

## Safety
20 steps on gradients from 1 down to 1e-6: the weights equal TF 1.15's, and standalone Keras
2.3's, to 1e-6 on Keras 2.15 and 3, with embeddings and under a ``MirroredStrategy`` too.
``RMSprop`` with a momentum is the same in both and stays. Where the class cannot be written
(``centered=True``, an optimizer that is imported inside a function, a file without
TensorFlow), and for ``Nadam``, whose momentum follows another schedule in TF2, a finding says
what differs. A model saved with its optimizer names the class: ``load_model`` wants it among
its ``custom_objects``, or ``compile=False``.

## References
``tf.keras.optimizers``
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.keras.changed_optimizers import CODE, NAME, remarks, write
from migrate_mgpu.session_config.program_rewriter import NativeRewriter

RULE = Rule(
    code=CODE,
    name=NAME,
    summary="`RMSprop` and standalone Keras's `Adagrad` get the arithmetic that they had in TF1",
)

CASES = (
    Case(
        "RMSprop",
        """\
import tensorflow as tf
from tensorflow.keras.optimizers import RMSprop

tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=RMSprop(lr=0.01), loss='mse')
""",
        '''\
import tensorflow as tf
from tensorflow.keras.optimizers import RMSprop


class TF1RMSprop(RMSprop):
    """RMSprop that adds epsilon to the root of the mean squares, as Keras did in TF1."""

    def update_step(self, gradient, variable, *rate):
        if rate:  # Keras 3
            index = self._get_variable_index(variable)
        else:
            index, rate = self._index_dict[self._var_key(variable)], (self.learning_rate,)
        gradient, squares = tf.convert_to_tensor(gradient), self._velocities[index]
        squares.assign(self.rho * squares + (1 - self.rho) * tf.square(gradient))
        step = tf.cast(rate[0], gradient.dtype) * gradient
        variable.assign_sub(step / (tf.sqrt(squares) + self.epsilon))


tf.config.set_soft_device_placement(True)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=TF1RMSprop(learning_rate=0.01), loss='mse')
''',
    ),
)

REWRITER = NativeRewriter(RULE, CASES, write=write, remarks=remarks)
