"""Functions whose value is another in TF2 are told where they are called; others are not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from migrate_mgpu import runtimes
from tests.support import servers
from tests.support.migration import run

PROGRAM = """\
import tensorflow as tf

image = tf.image.decode_jpeg(tf.read_file("a.jpg"))
{line}
with tf.Session() as sess:
    print(sess.run(image))
"""


def _told(line: str) -> list[tuple[int, str]]:
    found = run(PROGRAM.format(line=line), bridge=True).findings
    return [(one.line, one.message.split("`")[1]) for one in found if one.code == "MGPU905"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("y = tf.keras.losses.cosine_similarity(1.0, 2.0)", "tf.keras.losses.cosine_similarity"),
        ("tf.keras.losses.CosineSimilarity()", "tf.keras.losses.CosineSimilarity"),
        ("m = tf.keras.Model(); m.compile('sgd', 'cosine_similarity')", "'cosine_similarity'"),
        ("m = tf.keras.Model(); m.compile(loss='cosine_similarity')", "'cosine_similarity'"),
        ("image = tf.image.per_image_standardization(image)", "per_image_standardization"),
    ],
)
def test_told(line: str, name: str) -> None:
    assert _told(line) == [(4, name)]


@pytest.mark.parametrize(
    "line",
    [
        "y = tf.losses.cosine_distance(1.0, 2.0, axis=0)",  # the same in all
        "m = tf.keras.Model(); m.compile('sgd', 'mse')",
        "y = tf.image.per_image_standardization(tf.cast(image, tf.float32))",
        "y = tf.image.per_image_standardization(tf.image.resize_images(image, [2, 2]))",
        "y = tf.image.per_image_standardization(other)",
        "y = tf.image.per_image_standardization(tf.image.decode_image(image, 3, tf.float32))",
    ],
)
def test_not_told(line: str) -> None:
    assert _told(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "image, size = cast(image)",
        "image /= 255",
        "if given:\n    image = cast(image)",
        "for image in images:\n    pass",
        "with tf.name_scope('cast'):\n    image = cast(image)",
    ],
)
def test_another_image(line: str) -> None:
    """What a variable holds by then is not surely what was decoded."""
    assert _told(f"{line}\nimage = tf.image.per_image_standardization(image)") == []


def test_what_lies_between() -> None:
    kept = "image = tf.image.random_flip_left_right(image)"
    assert _told(f"{kept}\nimage = tf.image.per_image_standardization(image)") == [
        (5, "per_image_standardization")
    ]
    cast = "image = tf.to_float(image)"
    assert _told(f"{cast}\nimage = tf.image.per_image_standardization(image)") == []


VALUES = """\
import json
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
sides = np.float32([[1, 2, 2]]), np.float32([[2, 1, 2]])
image = tf.constant(np.arange(12, dtype="uint8").reshape(2, 2, 3))
made = tf.image.per_image_standardization(image)
with tf.Session() as sess:
    losses = tf.keras.losses
    similar = [losses.cosine_similarity(*sides), losses.CosineSimilarity()(*sides)]
    print(json.dumps([made.dtype.name, [float(np.squeeze(one)) for one in sess.run(similar)]]))
"""


@pytest.mark.tensorflow
def test_measured(runtime: Callable[[str], runtimes.Runtime]) -> None:
    """The values that the findings speak of, where Keras 2 is."""
    found = {}
    for name in ("tf1.15", "tf2.15"):
        found[name] = json.loads(servers.alone(runtime(name), VALUES).splitlines()[-1])
    (old, before), (new, after) = found["tf1.15"], found["tf2.15"]
    assert (old, new) == ("uint8", "float32")
    assert before == pytest.approx([8 / 9, 8 / 9]) and after == pytest.approx([-8 / 9, -8 / 9])
