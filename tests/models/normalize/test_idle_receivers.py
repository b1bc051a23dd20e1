"""Receivers that TF1 builds and no export takes."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
{HEAD}spec = {{"x": tf.FixedLenFeature([2], tf.float32)}}
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=5)
export_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
"""


def test_a_receiver_that_nothing_takes() -> None:
    text, messages = migrated(PROGRAM)
    assert "estimator.fit(" in text, messages
    assert "export_fn" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("receiver_fn(spec)\n", "receiver_fn(spec)\nprint(export_fn)\n"),
        ("receiver_fn(spec)\n", "receiver_fn(dict(spec))\n"),
        ("export_fn = ", "export_fn = other_fn = "),
        ("export_fn = ", ""),
    ],
)
def test_receivers_that_stay(old: str, new: str) -> None:
    name = "`tf.estimator.export.build_parsing_serving_input_receiver_fn` is TF1 API, used outside"
    stays(changed(PROGRAM, (old, new)), name)


OWN = changed(
    PROGRAM,
    (
        "estimator = ",
        "def serve():\n"
        "    images = tf.placeholder(tf.float32, [None, 2])\n"
        '    return tf.estimator.export.ServingInputReceiver({"x": images}, {"x": images})\n'
        "\n\nestimator = ",
    ),
    ("export_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)\n", ""),
)


def test_a_receiver_of_its_own_that_nothing_takes() -> None:
    text, messages = migrated(OWN)
    assert "estimator.fit(" in text, messages
    assert "serve" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("steps=5)\n", "steps=5)\nprint(serve)\n"),
        ("steps=5)\n", 'steps=5)\nprint(globals()["serve"])\n'),
        ("def serve", "@functools.lru_cache\ndef serve"),
        ("[None, 2])\n", "[None, 2])\n    if images is None:\n        return 3\n"),
    ],
)
def test_receivers_of_ones_own_that_stay(old: str, new: str) -> None:
    stays(changed(OWN, (old, new)), "`tf.placeholder` is TF1 API, used outside")
