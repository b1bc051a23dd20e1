"""Networks that a class builds in its constructor.

The program of the fixture ``class_built`` is proved.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.support import migration
from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "class_built" / "before"
FILES = [(name, (FIXTURE / name).read_text()) for name in ("modeling.py", "optimization.py")]
MAIN = (FIXTURE / "main.py").read_text(encoding="utf-8")
PROGRAM = """\
import tensorflow as tf


class Net(object):
    \"\"\"Two layers.\"\"\"

    def __init__(self, features, size=4):
        self.size = size
        with tf.variable_scope("net"):
            self.first = tf.layers.dense(features, self.size, tf.nn.relu)
            self.logits = tf.layers.dense(self.first, 3)

    def get_logits(self):
        return self.logits


def input_fn():
    data = [[1.0, 2.0], [2.0, 1.0]], [1, 0]
    return tf.data.Dataset.from_tensor_slices(data).repeat(10).batch(2)


def model_fn(features, labels, mode):
    net = Net(features, 5)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net.get_logits())
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    metrics = {"first": tf.metrics.mean(net.first)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn)
"""


FIRST = "            self.first = tf"


changed = partial(migration.changed, PROGRAM)


def test_the_class_is_a_layer() -> None:
    after, said = migrated(("main.py", MAIN), *FILES)
    assert "class EncoderModel(tf.keras.layers.Layer):" in after, said
    assert 'with tf.name_scope(self.scope or "encoder"):' in after
    assert "        output_layer = pooled_output\n" in after


def test_all_that_is_asked_for_is_returned() -> None:
    after, said = migrated(PROGRAM)
    assert "        return first, logits\n" in after, said
    assert "first, logits = self.net(features)" in after or "first, logits = self." in after


def test_an_import_by_name() -> None:
    main = MAIN.replace("import modeling\n", "from modeling import EncoderConfig, EncoderModel\n")
    main = main.replace("modeling.", "")
    after, said = migrated(("main.py", main), *FILES)
    assert "from modeling import EncoderConfig, EncoderModel\n" in after, said
    assert "EncoderModel(config=config)" in after


@pytest.mark.parametrize(
    "pairs",
    [
        [("    def get_logits(self):\n", "    def get_logits(self, twice=False):\n")],
        [("        return self.logits\n", "        return tf.nn.softmax(self.logits)\n")],
        [("class Net(object)", "class Net(tf.Module)")],
        [("        self.size = size\n", "        self.size = size\n        register(self)\n")],
        [("    net = Net(features, 5)\n", "    net = Net(features, 5)\n    print(net)\n")],
        [("    net = Net(features, 5)\n", "    nets = [Net(features, 5)]\n    net = nets[0]\n")],
        [(FIRST, f"            if size > 2:\n    {FIRST}"), ("dense(self.first", "dense(features")],
    ],
)
def test_another_class_stays(pairs: list[tuple[str, str]]) -> None:
    stays(changed(*pairs), "`Net")
