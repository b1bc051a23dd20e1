"""Towers that a package's trainer builds, or a wrapper of the program's own."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.prefilter import has_hit
from tests.support.migration import run

PACKAGE = """\
{imports}
import tensorflow as tf


class Model(ModelDesc):
    def build_graph(self, x, y):
        return tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))


{train}
"""
WRAPPER = """\
import tensorflow as tf


class Tower(object):
    def __init__(self, index):
        self.blocks = [tf.device('/gpu:%d' % index),
                       tf.variable_scope('', reuse=index > 0)]

    def __enter__(self):
        for block in self.blocks:
            block.__enter__()

    def __exit__(self, *error):
        for block in reversed(self.blocks):
            block.__exit__(*error)


class Trainer(object):
    def __init__(self, model):
        self.model = model

    def _tower(self, part):
        return self.model.loss(part)

    def run(self, steps):
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        x = tf.placeholder(tf.float32, [None, 3])
        parts, gradients = tf.split(x, 2), []
        for i in range(2):
            with Tower(i):
                loss = self._tower(parts[i])
                gradients.append(optimizer.compute_gradients(loss))
        means = [(tf.add_n([g for g, _ in each]) / 2, each[0][1]) for each in zip(*gradients)]
        train = optimizer.apply_gradients(means)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(steps):
                sess.run(train, {x: [[1, 2, 3], [4, 5, 6]]})
"""
USE = """\
import tensorflow as tf
from wrapper import Trainer


class Net(object):
    def loss(self, x):
        return tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))


Trainer(Net()).run(3)
"""


def told(found: RunResult) -> list[tuple[str, int, str, str]]:
    return [
        (one.path.name, one.line, one.state, one.key)
        for one in found.findings
        if one.code == "MGPU910"
    ]


@pytest.mark.parametrize(
    ("imports", "train", "name"),
    [
        ("from tensorpack import *", "launch_train_with_config(config, None)", "launch_train"),
        ("import tensorpack as tp", "tp.SyncMultiGPUTrainer(config).train()", "SyncMultiGPU"),
        (
            "from tensorpack.train import SyncMultiGPUTrainerReplicated as Sync",
            "Sync(2)",
            "SyncMultiGPUTrainerReplicated` of tensorpack",
        ),
        ("import tflearn", "tflearn.DNN(net).fit(x, y)", "`DNN` of tflearn"),
    ],
)
def test_a_package_that_trains_is_named(imports: str, train: str, name: str) -> None:
    found = run(("train.py", PACKAGE.format(imports=imports, train=train)), bridge=True)
    ((file, line, state, key),) = told(found)
    assert (file, line, state, key) == ("train.py", 10, "refused", "trainer-of-a-package")
    assert [one.state for one in found.programs] == ["refused"]
    assert name in found.programs[0].reasons[0].message


@pytest.mark.parametrize(
    ("imports", "train"),
    [
        ("from tensorpack.dataflow import BatchData", "BatchData(data, 8)"),
        ("from trainers import Trainer\nimport tensorpack", "Trainer()"),
        ("from tensorpack import *", "def Trainer():\n    pass\n\n\nTrainer()"),
    ],
)
def test_what_a_package_has_besides(imports: str, train: str) -> None:
    assert not told(run(("train.py", PACKAGE.format(imports=imports, train=train)), bridge=True))


def test_a_copy_of_the_package_is_the_programs_own() -> None:
    text = PACKAGE.format(imports="import tensorpack", train="tensorpack.Trainer()")
    package = ("tensorpack/__init__.py", "class Trainer(object):\n    pass\n")
    assert not told(run(("train.py", text), package, bridge=True))


def test_a_wrapper_of_the_programs_own_is_named_with_what_it_is_given() -> None:
    found = run(("wrapper.py", WRAPPER), ("use.py", USE), bridge=True, native_sessions=True)
    assert told(found) == [("wrapper.py", 18, "kept", "wrapped-towers")]
    (finding,) = [one for one in found.findings if one.code == "MGPU910"]
    assert "`Trainer` is a wrapper" in finding.message
    assert "`self.model.loss`" in finding.message


def test_methods_of_a_class_below() -> None:
    base = WRAPPER.replace("return self.model.loss(part)", "raise NotImplementedError")
    use = "from wrapper import Trainer\n\n\nclass Net(Trainer):\n    pass\n\n\nNet(None).run(3)\n"
    found = run(("wrapper.py", base), ("use.py", use), bridge=True, native_sessions=True)
    assert told(found) == [("wrapper.py", 18, "kept", "wrapped-towers")]
    assert "`self._tower`" in next(o.message for o in found.findings if o.code == "MGPU910")


def test_towers_that_their_own_module_says_have_no_wrapper() -> None:
    own = WRAPPER.replace("self.model.loss(part)", "tf.reduce_mean(tf.layers.dense(part, 1))")
    found = run(("wrapper.py", own), ("use.py", USE), bridge=True, native_sessions=True)
    assert not told(found)


def test_the_words_of_these_packages_are_looked_for() -> None:
    assert has_hit(b"from tensorpack import *")
    assert has_hit(b"import tflearn")
