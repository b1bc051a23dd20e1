"""A session in a method that no code of the program calls is none of its sessions."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

MODEL = """\
import tensorflow as tf


class Model:
    def __init__(self):
        self.x = tf.Variable(1.0)

    def train(self):
        config = tf.ConfigProto(log_device_placement=True)
        with tf.train.Supervisor().managed_session(config=config) as sess:
            return sess.run(self.x)
"""
DEMO = """\
import tensorflow as tf
from model import Model

model = Model()
saver = tf.train.Saver()
{use}
with tf.Session() as sess:
    print(sess.run(model.x))
"""


@pytest.mark.parametrize("use", ["", "print(tf.train)"])
def test_method_that_is_not_called(use: str) -> None:
    train = "from model import Model\n\nModel().train()\n"
    result = run(
        ("model.py", MODEL), ("demo.py", DEMO.format(use=use)), ("go.py", train), bridge=True
    )
    assert [one.state for one in result.programs] == ["bridge", "bridge"], said(result)
    assert result.sites["applied"] == 1


@pytest.mark.parametrize(
    "use",
    [
        "model.train()",
        "getattr(model, 'train')()",
        "getattr(model, name)()",
        "f(model.train)",
        "eval('model.train()')",
    ],
)
def test_method_that_may_be_called(use: str) -> None:
    result = run(("model.py", MODEL), ("demo.py", DEMO.format(use=use)), bridge=True)
    assert [one.state for one in result.programs] == ["bridge, config kept"], said(result)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Model:", "class Model(Base):"),  # which may call it
        ("    def train", "    @started\n    def train"),
        ("def train", "def __call__"),
    ],
)
def test_method_that_somebody_else_may_call(old: str, new: str) -> None:
    result = run(
        ("model.py", MODEL.replace(old, new)), ("demo.py", DEMO.format(use="")), bridge=True
    )
    assert [one.state for one in result.programs] == ["bridge, config kept"], said(result)


ORDER = """\
import os
import tensorflow as tf


class Model:
    def __init__(self, name):
        self.name = name

    def train(self):
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        with tf.Session(config=config) as sess:
            return sess.run(tf.constant(self.name))


{first}
model = Model("a")
{then}
model.train()
"""
VISIBLE = "os.environ['CUDA_VISIBLE_DEVICES'] = '1'"
INITIALIZED = "data = tf.data.Dataset.range(3).map(lambda x: x + 1)"


def test_a_method_runs_after_its_object_is_made() -> None:
    moved = run(ORDER.format(first=VISIBLE, then=""), bridge=True)
    assert moved.sites["applied"] == 1, said(moved)
    late = run(ORDER.format(first=INITIALIZED, then=""), bridge=True)
    assert late.sites["applied"] == 0  # `set_memory_growth` would raise
    assert any("TensorFlow is initialized before it" in one for one in said(late))
