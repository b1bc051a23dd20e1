"""Variables that begin with what numpy draws, and layers that only have weights."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, whole
from tests.support.migration import migrated, stays


def drawn(value: str, more: str = "") -> str:
    return whole(
        f"def model_fn(features, labels, mode, params):\n"
        f"    weights = tf.Variable({value}{more})\n"
        f"    logits = tf.matmul(features, weights)\n{END.format(rate=0.1)}\n\n"
        "estimator = tf.estimator.Estimator(model_fn, params={'spread': 0.5})\n"
    )


@pytest.mark.parametrize(
    ("value", "more", "kind"),
    [
        (
            "np.random.normal(loc=0, scale=0.1, size=(4, 3))", ", dtype=np.float32",
            "RandomNormal(mean=0.0, stddev=0.1)",
        ),
        (
            "np.random.normal(size=[4, 3])", ", dtype=tf.float32",
            "RandomNormal(mean=0.0, stddev=1.0)",
        ),
        (
            "np.random.normal(scale=0.1, size=[4, 3]).astype(np.float32)", "",
            "RandomNormal(mean=0.0, stddev=0.1)",
        ),
        (
            "np.random.uniform(-1, 1, (4, 3)).astype('float32')", ", dtype=tf.float32",
            "RandomUniform(minval=-1.0, maxval=1.0)",
        ),
        (
            "np.random.uniform(-1, 1, (4, 3)).astype(np.float32)", "",
            "RandomUniform(minval=-1.0, maxval=1.0)",
        ),
    ],
)  # fmt: skip
def test_numbers_that_numpy_draws(value: str, more: str, kind: str) -> None:
    found, said = migrated(drawn(value, more))
    made = " ".join(found.split()).replace("( ", "(").replace(" )", ")")
    assert f"shape=[4, 3], initializer=tf.keras.initializers.{kind}" in made, said


@pytest.mark.parametrize(
    ("value", "more", "reason"),
    [
        ("np.random.normal(size=(4, 3))", "", "what this variable begins with"),  # of float64
        ("np.random.normal(size=(4, 3))", ", dtype=np.float64", "a variable whose type"),
        ("np.random.gamma(1.0, size=(4, 3))", ", dtype=np.float32", "a variable whose type"),
    ],
)
def test_other_numbers_stay(value: str, more: str, reason: str) -> None:
    stays(drawn(value, more), reason)


def test_numbers_of_a_seed_stay() -> None:
    text = drawn("np.random.normal(size=(4, 3))", ", dtype=np.float32")
    stays(
        text.replace("\n\ndef model_fn", "\nnp.random.seed(1)\n\ndef model_fn"), "a variable whose"
    )


def test_a_layer_that_only_has_weights_is_not_applied() -> None:
    """Keras 2 wants an argument where it applies a layer."""
    text = whole(
        "def begin(size):\n"
        '    return {"w": tf.get_variable("w", [4, size]), "b": tf.get_variable("b", [size])}\n\n\n'
        "def model_fn(features, labels, mode, params):\n"
        "    parts = begin(3)\n"
        f'    logits = tf.matmul(features, parts["w"]) + parts["b"]\n{END.format(rate=0.1)}\n\n'
        "estimator = tf.estimator.Estimator(model_fn, params={})\n"
    )
    found, said = migrated(text)
    assert "    def call(self):\n" in found, said
    assert "self.parts.call()" in found
