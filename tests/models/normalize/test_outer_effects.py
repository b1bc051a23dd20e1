"""What a model_fn does to its process, and functions and imports that nothing needs."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
import os
import numpy as np
import tensorflow as tf


def input_fn():
    data = np.ones([8, 4], np.float32), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
{END.format(rate=0.1)}

def main(_):
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=100)


if __name__ == "__main__":
    main([])
"""
STARTED = changed(PROGRAM, ("    main([])\n", "    tf.app.run()\n"))
SET = 'os.environ["CUDA_VISIBLE_DEVICES"] = "1"'
LATE = "TF2 lists the GPUs as `app.run` begins, before this is set"


def with_session(*lines: str) -> str:
    return PROGRAM.replace(f"    {SET}\n", "".join(f"    {line}\n" for line in lines))


def test_the_environment_is_set_above_the_estimator() -> None:
    found, said = migrated(PROGRAM)
    assert f"    {SET}\n    estimator = model_fn()\n" in found, said
    assert not any(LATE in one for one in said)


def test_the_environment_is_set_above_what_starts_main() -> None:
    """TF2 lists the GPUs as absl begins."""
    found, said = migrated(STARTED)
    assert f'if __name__ == "__main__":\n    {SET}\n    app.run(main)\n' in found, said
    assert not any(LATE in one for one in said)


def test_an_environment_that_comes_too_late_is_told() -> None:
    text = changed(STARTED, (f"    {SET}\n", ""), ("def main(_):\n", f"def main(_):\n    {SET}\n"))
    said = migrated(text)[1]
    assert any(LATE in one for one in said), said
    above = changed(
        text,
        ("def main(_):\n", "def choose():\n"),
        ("    estimator = ", "\n\nchoose()\n\n\ndef main(_):\n    estimator = "),
    )
    assert not any(LATE in one for one in migrated(above)[1])


@pytest.mark.parametrize(
    "lines",
    [
        ("config = tf.ConfigProto()", "sess = tf.Session(config=config)", "sess.run([])"),
        ("sess = tf.Session()", "sess.run([])", "sess.close()"),
    ],
)
def test_a_session_that_runs_nothing_goes(lines: tuple[str, ...]) -> None:
    found, said = migrated(with_session(*lines))
    assert "estimator = model_fn()" in found and "Session" not in found, said
    assert "config" not in found


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("sess = tf.Session()", "sess.run(tf.constant(1))"), "a statement of model_fn"),
        (
            ("sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))", "sess.run([])"),
            "a statement of model_fn",
        ),
        (('os.environ["A"] = str(1)',), '`os.environ["A"]` is changed in model_fn'),
        (('np.built["model"] = True',), '`np.built["model"]` is changed in model_fn'),
    ],
)  # fmt: skip
def test_what_else_it_does_keeps_it(lines: tuple[str, ...], reason: str) -> None:
    stays(with_session(*lines), reason)


LOADER = """\
from tensorflow.examples.tutorials.mnist import input_data


def load():
    \"\"\"Nothing calls it.\"\"\"
    return input_data.read_data_sets("digits")


def input_fn():"""
IDLE = changed(with_session(), ("\n\ndef input_fn():", LOADER))
GONE = "`tensorflow.examples.tutorials.mnist.input_data.read_data_sets` does not exist in TF2"


def test_an_import_that_only_an_idle_function_needs() -> None:
    found, said = migrated(IDLE)
    inner = '    """Nothing calls it."""\n    from tensorflow.examples.tutorials.mnist import'
    assert inner in found and "estimator = model_fn()" in found, said
    assert any(GONE in one and "nothing here calls this code" in one for one in said)


@pytest.mark.parametrize(
    "text",
    [
        changed(IDLE, ("    main([])", "    load()\n    main([])")),
        changed(IDLE, ("def load():", "def load(read=input_data.read_data_sets):")),
    ],
    ids=["called", "default"],
)
def test_an_import_that_is_needed_keeps_it(text: str) -> None:
    stays(text, "mnist.input_data.read_data_sets`")


UNUSED = changed(
    with_session(),
    ("def model_fn(", "def deep(x):\n    return tf.layers.dense(x, 9)\n\n\ndef model_fn("),
    ("    logits = ", "    extra = deep(features)\n    logits = "),
)


def test_a_part_that_nothing_uses() -> None:
    """Its function stays, and nothing calls it any more."""
    found, said = migrated(UNUSED)
    assert "estimator = model_fn()" in found and "tf.layers.dense(x, 9)" in found, said
    assert any(
        "`tf.layers.dense` is TF1 API" in one and "nothing here calls" in one for one in said
    )
    stays(
        changed(UNUSED, ("    main([])", "    deep(1)\n    main([])")), "`tf.layers.dense` is TF1"
    )
