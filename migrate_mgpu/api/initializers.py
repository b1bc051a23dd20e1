"""TF1's initializers and regularizers, and Keras's for them."""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import record


@record(frozen=True)
class InitializerRow(Row):
    """An initializer or regularizer.

    ``halved`` are TF1's parameters of which Keras takes a half. ``settings`` are Keras's for
    what TF1 has no parameter for.
    """

    halved: tuple[str, ...] = ()
    settings: tuple[tuple[str, float | str], ...] = ()


_DTYPE = Parameter("dtype", target="")
_NORMAL = (
    Parameter("mean", "0.0"), Parameter("stddev", "1.0", stated=True), Parameter("seed"), _DTYPE,
)  # fmt: skip


def _row(short: str, keras: str, *parameters: Parameter) -> InitializerRow:
    names = (f"{short}_initializer", f"initializers.{short}")
    return InitializerRow(names, short, parameters, f"keras.initializers.{keras}")


def _seeded(short: str, keras: str) -> InitializerRow:
    return _row(short, keras, Parameter("seed"), _DTYPE)


# contrib's truncated normal distribution is widened by the square root of 1.3, Keras's by
# what makes its deviation exact.
CONTRIB_WIDTH = 1.3 * 0.87962566103423978**2
_XAVIER = ("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
_UNIFORM = (Parameter("uniform", "True", target=""), Parameter("seed"), _DTYPE)
INITIALIZERS = Table(
    _row("truncated_normal", "TruncatedNormal", *_NORMAL),
    _row("random_normal", "RandomNormal", *_NORMAL),
    _row(
        "random_uniform", "RandomUniform", Parameter("minval", "0.0", stated=True),
        Parameter("maxval", "1.0", stated=True), Parameter("seed"), _DTYPE,
    ),
    _row(
        "constant", "Constant", Parameter("value"), _DTYPE, Parameter("verify_shape", target="")
    ),
    _row("zeros", "Zeros", _DTYPE),
    _row("ones", "Ones", _DTYPE),
    _seeded("glorot_uniform", "GlorotUniform"),
    _seeded("glorot_normal", "GlorotNormal"),
    _row("orthogonal", "Orthogonal", Parameter("gain", "1.0"), Parameter("seed"), _DTYPE),
    _row(
        "variance_scaling", "VarianceScaling", Parameter("scale"), Parameter("mode"),
        Parameter("distribution"), Parameter("seed"), _DTYPE,
    ),
    _row("he_normal", "HeNormal", Parameter("seed")),
    _row("he_uniform", "HeUniform", Parameter("seed")),
    _row("lecun_normal", "LecunNormal", Parameter("seed")),
    _row("lecun_uniform", "LecunUniform", Parameter("seed")),
    InitializerRow(_XAVIER, "xavier", _UNIFORM, "keras.initializers.GlorotUniform", ()),
    InitializerRow(
        (), "xavier_normal", _UNIFORM, "keras.initializers.VarianceScaling", (),
        settings=(("scale", CONTRIB_WIDTH), ("mode", "fan_avg")),
    ),
    InitializerRow(
        ("contrib.layers.variance_scaling_initializer",),
        "contrib_variance_scaling",
        (
            Parameter("factor", "2.0", target=""), Parameter("mode", "'FAN_IN'", target=""),
            Parameter("uniform", "False", target=""), Parameter("seed"), _DTYPE,
        ),
        "keras.initializers.VarianceScaling",
        (),
    ),
    InitializerRow(
        ("contrib.layers.l1_regularizer",), "l1",
        (Parameter("scale", target="l1"), Parameter("scope", target="")), "keras.regularizers.L1",
    ),
    InitializerRow(
        ("contrib.layers.l2_regularizer",), "l2",
        (Parameter("scale", target="l2"), Parameter("scope", target="")), "keras.regularizers.L2",
        halved=("scale",),
    ),
    InitializerRow(
        ("contrib.layers.l1_l2_regularizer",), "l1_l2",
        (
            Parameter("scale_l1", "1.0", "l1", stated=True),
            Parameter("scale_l2", "0.5", "l2", stated=True),  # a half of TF1's
            Parameter("scope", target=""),
        ),
        "keras.regularizers.L1L2", halved=("scale_l2",),
    ),
)  # fmt: skip
