"""Where a bridge's Keras comes from: TF1's, wherever a name of it is something else in TF2."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run

PROGRAM = """\
import tensorflow as tf
{imports}

x = tf.placeholder(tf.float32, [None, 5, 2])
{use}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
WITH_KERAS_2 = "TF 2.15; newest TF with tf-keras and TF_USE_LEGACY_KERAS=1"


def _bridge(imports: str, use: str) -> tuple[str, str | None]:
    code = PROGRAM.format(imports=imports, use=use)
    return migrated(code, bridge=True)[0], run(code, bridge=True).programs[0].runs_on


@pytest.mark.parametrize(
    ("imports", "use"),
    [
        ("from tensorflow.keras.layers import LSTM", "y = LSTM(3)(x)"),
        ("from tensorflow.keras import layers", "y = layers.GRU(3)(x)"),
        ("from tensorflow import keras", "y = keras.layers.GRU(3)(x)"),
        ("import tensorflow.keras as K", "y = K.layers.BatchNormalization()(x)"),
        ("import tensorflow.keras.backend as K", "y = K.learning_phase()"),
        ("from tensorflow.keras.optimizers import Adam", "y = Adam()"),
        ("def f():\n    from tensorflow.keras.layers import GRU\n    return GRU(3)(x)", "f()"),
        (
            "try:\n    from tensorflow.keras.layers import GRU\nexcept ImportError:\n    pass",
            "y = GRU(3)(x)",
        ),
    ],
)
def test_keras_of_tf1(imports: str, use: str) -> None:
    after, where = _bridge(imports, use)
    assert imports.replace("tensorflow", "tensorflow.compat.v1") in after
    assert where == WITH_KERAS_2


def test_all_imports_of_a_module_have_one_keras() -> None:
    more = "from tensorflow.keras.layers import LSTM\nfrom tensorflow.keras.models import Model"
    after, _ = _bridge(more, "y = LSTM(3)(x)")
    assert "from tensorflow.compat.v1.keras.models import Model\n" in after


@pytest.mark.parametrize(
    ("imports", "use"),
    [
        ("from tensorflow.keras.layers import Dense", "y = Dense(3)(x)"),  # the same class
        ("from tensorflow.keras import layers", "y = layers.Dense(3)(x)"),
        ("from tensorflow.keras.initializers import he_normal", "y = he_normal()"),  # draws alike
        (
            "if tf.__version__ < '2':\n    from tensorflow.keras.layers import GRU",
            "y = tf.identity(x)",
        ),  # not what TF2 runs
    ],
)
def test_other_imports_stay(imports: str, use: str) -> None:
    after, where = _bridge(imports, use)
    assert imports in after and where == "TF 2.15 and newest"


def test_keras_by_its_attribute_is_tf1_s() -> None:
    """`tf.keras` of a swapped import is TF1's; Keras 3 has another `LSTM` under that name."""
    after, where = _bridge("", "y = tf.keras.layers.LSTM(3)(x)")
    assert "import tensorflow.compat.v1 as tf\n" in after and where == WITH_KERAS_2
