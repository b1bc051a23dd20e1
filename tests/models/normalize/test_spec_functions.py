"""Functions that only make a spec, an exporter or a RunConfig, in one module or another."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD
from tests.support.migration import migrated, stays

FUNCTIONS = """\
EVERY = 60


def make_config(seconds=EVERY):
    return tf.estimator.RunConfig(save_checkpoints_steps=seconds)


def make_train_spec(input_fn, steps):
    \"\"\"How it trains.\"\"\"
    return tf.estimator.TrainSpec(
        input_fn=input_fn,
        max_steps=steps  # not more
    )


def make_eval_spec(input_fn, exporter):
    return tf.estimator.EvalSpec(
        input_fn, steps=2, exporters=exporter, throttle_secs=min(EVERY, 120))


def make_exporter(receive):
    return tf.estimator.LatestExporter("latest", receive)


"""
RECEIVE = """\
def receive():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.TensorServingInputReceiver(x, x)


"""
DRIVER = """\
estimator = tf.estimator.Estimator(model_fn, "folder", make_config(5))
train_spec = make_train_spec(input_fn, 4)
eval_spec = make_eval_spec(input_fn, make_exporter(receive))
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""


def test_in_the_module_itself() -> None:
    after, said = migrated(HEAD + RECEIVE + FUNCTIONS + DRIVER)
    assert "steps = 4 - int(estimator.optimizer.iterations.numpy())" in after, said
    assert "make_" not in after and '"export", "latest"' in after


def test_in_another_module() -> None:
    other = ("specs.py", "import tensorflow as tf\n\n" + FUNCTIONS.rstrip() + "\n")
    imported = "from specs import make_config, make_eval_spec, make_exporter, make_train_spec\n"
    text = HEAD.replace("import numpy", imported + "import numpy", 1) + RECEIVE + DRIVER
    after, said = migrated(text, other)
    assert "steps = 4 - int(estimator.optimizer.iterations.numpy())" in after, said
    assert "specs" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator = tf", "print(make_train_spec)\nestimator = tf"),
        ("def make_train_spec(input_fn, steps):", "def make_train_spec(input_fn, *steps):"),
        ('    """How it trains."""\n', "    print(steps)\n"),
        ("def make_train_spec", "@tf.keras.utils.custom\ndef make_train_spec"),
    ],
)
def test_those_that_do_more_stay(old: str, new: str) -> None:
    text = HEAD + RECEIVE + FUNCTIONS + DRIVER
    assert old in text
    stays(text.replace(old, new), "TrainSpec")


def test_exports_that_ask_the_same_receiver() -> None:
    trained = "first.train(input_fn, steps=2)\nfirst.export_saved_model('a', receive)\n"
    twice = trained + trained.replace("first", "second")
    made = 'first = tf.estimator.Estimator(model_fn, "one")\n'
    made += 'second = tf.estimator.Estimator(model_fn, "two")\n'
    after, said = migrated(HEAD + RECEIVE + made + twice)
    assert after.count("receive(first)") == after.count("receive(second)") == 1, said
    # One that answers otherwise has the other stay as well.
    other = twice.replace("second.train", "print(second.get_variable_names())\nsecond.train")
    stays(HEAD + RECEIVE + made + other, "`get_variable_names` of an Estimator")
