"""Images that `tf.image.resize_images` resizes: `fixtures/estimator/resized_images` runs them."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
import tensorflow as tf


def small(image):
    return tf.image.resize_images(image, [4, 4])


def input_fn():
    images = tf.data.Dataset.from_tensor_slices((tf.zeros([8, 6, 6, 1]), tf.zeros([8], tf.int64)))
    return images.map(lambda image, kind: ({{"x": small(image)}}, kind)).batch(4)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(tf.layers.flatten(features["x"]), 3)
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=9)
"""


def test_a_function_of_the_program_resizes() -> None:
    found, said = migrated(PROGRAM)
    assert "    return resize_images(image, [4, 4])\n" in found, said
    assert "    resized = tf.raw_ops.ResizeBilinear(images=batch, size=size)\n" in found
    assert found.index("def resize_images") < found.index("def small")


@pytest.mark.parametrize(
    "more",
    ["preserve_aspect_ratio=True", "method=tf.image.kind", "align_corners=corners", "method=7"],
)
def test_other_ways_stay(more: str) -> None:
    stays(changed(PROGRAM, ("[4, 4]", f"[4, 4], {more}")), "`tf.image.resize_images` is TF1 API")
