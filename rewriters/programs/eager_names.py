"""TF1's names become TF2's in a program that runs eagerly.

## What it does
In a program under ``enable_eager_execution()`` the call goes, its config's options move to
``tf.config``, and TF1's names become TF2's: ``tf.log`` is ``tf.math.log``,
``tf.train.AdamOptimizer`` Keras's ``Adam`` with TF1's epsilon, ``x.shape[0].value``
``x.shape[0]``. A Keras program that loses its session gets ``tf.random.set_seed``,
``tf.get_logger``, absl's flags and ``tf.io.gfile`` for what TF1 called them.

## Why
TF2 runs eagerly from the start. The author's loop with its ``GradientTape`` is TF2 code already.

## Safety
Each name is written as in Estimators' programs, by the same tables. A name without an equal
(``tf.layers``, ``tf.contrib``, ``optimizer.minimize``), or a switch that only some runs of the
program come to, keeps the program on the bridge, where it runs eagerly as it did; a finding
names the first of them. The same seed draws other numbers in TF2: a finding says so.

## References
``tf.GradientTape``, ``tf.keras.optimizers``
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import EagerRewriter

RULE = Rule(
    code="MGPU207",
    name="eager-names",
    summary="TF1's names become TF2's in a program that runs eagerly",
)

CASES = (
    Case(
        "a tape and an optimizer",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
tf.enable_eager_execution(config=config)

weights = tf.Variable([1.0, 2.0])
optimizer = tf.train.AdamOptimizer(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.log(weights) * weights)
    gradients = tape.gradient(loss, [weights])
    optimizer.apply_gradients(
        zip(gradients, [weights]), global_step=tf.train.get_or_create_global_step())
""",
        """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices('GPU'):
    tf.config.experimental.set_memory_growth(gpu, True)

weights = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(weights) * weights)
    gradients = tape.gradient(loss, [weights])
    optimizer.apply_gradients(
        zip(gradients, [weights]))
""",
    ),
    Case(
        "names that TF2 does not have",
        """\
import tensorflow as tf

tf.enable_eager_execution(config=tf.ConfigProto(log_device_placement=True))
print(tf.layers.dense(tf.ones([1, 2]), 3))
""",
        refused="`tf.layers.dense`",
    ),
)

REWRITER = EagerRewriter(RULE, CASES)
