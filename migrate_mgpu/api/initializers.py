"""TF1's initializers and regularizers, and Keras's for them."""

from __future__ import annotations

from collections.abc import Mapping

from migrate_mgpu.core.records import field, record


@record(frozen=True)
class InitializerRow:
    """An initializer or regularizer: its name under ``tf.keras``, and TF1's parameters in order.

    ``order`` are Keras's parameters that may be given by position, ``names`` Keras's names for
    TF1's parameters, ``defaults`` what TF1 took unasked, by Keras's parameters. ``halved`` are
    TF1's parameters of which Keras takes a half.
    """

    kind: str
    parameters: tuple[str, ...]
    order: tuple[str, ...] = ()
    defaults: Mapping[str, float | str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    halved: tuple[str, ...] = ()


def _row(
    kind: str, parameters: tuple[str, ...], defaults: Mapping[str, float | str] | None = None
) -> InitializerRow:
    order = tuple(p for p in parameters if p not in ("dtype", "verify_shape"))
    return InitializerRow(f"initializers.{kind}", parameters, order, defaults or {})


_NORMAL = ("mean", "stddev", "seed", "dtype")
_INITIALIZERS = {
    "truncated_normal": _row("TruncatedNormal", _NORMAL, {"stddev": 1.0}),
    "random_normal": _row("RandomNormal", _NORMAL, {"stddev": 1.0}),
    "random_uniform": _row(
        "RandomUniform", ("minval", "maxval", "seed", "dtype"), {"minval": 0.0, "maxval": 1.0}
    ),
    "constant": _row("Constant", ("value", "dtype", "verify_shape")),
    "zeros": _row("Zeros", ("dtype",)),
    "ones": _row("Ones", ("dtype",)),
    "glorot_uniform": _row("GlorotUniform", ("seed", "dtype")),
    "glorot_normal": _row("GlorotNormal", ("seed", "dtype")),
    "orthogonal": _row("Orthogonal", ("gain", "seed", "dtype")),
    "variance_scaling": _row("VarianceScaling", ("scale", "mode", "distribution", "seed", "dtype")),
    "he_normal": _row("HeNormal", ("seed",)),
    "he_uniform": _row("HeUniform", ("seed",)),
    "lecun_normal": _row("LecunNormal", ("seed",)),
    "lecun_uniform": _row("LecunUniform", ("seed",)),
}
# By TF1's name: `tf.zeros_initializer` and `tf.initializers.zeros` are one.
INITIALIZERS = {
    **{f"{short}_initializer": row for short, row in _INITIALIZERS.items()},
    **{f"initializers.{short}": row for short, row in _INITIALIZERS.items()},
}
# contrib's truncated normal distribution is widened by the square root of 1.3, Keras's by
# what makes its deviation exact.
CONTRIB_WIDTH = 1.3 * 0.87962566103423978**2
_UNIFORM = ("uniform", "seed", "dtype")
XAVIER = ("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
XAVIER_UNIFORM = InitializerRow("initializers.GlorotUniform", _UNIFORM)
XAVIER_NORMAL = InitializerRow(
    "initializers.VarianceScaling", _UNIFORM, (), {"scale": CONTRIB_WIDTH, "mode": "fan_avg"}
)
VARIANCE = "contrib.layers.variance_scaling_initializer"
VARIANCE_SCALING = InitializerRow(
    "initializers.VarianceScaling", ("factor", "mode", "uniform", "seed", "dtype")
)
REGULARIZERS = {
    "contrib.layers.l1_regularizer": InitializerRow(
        "regularizers.L1", ("scale", "scope"), ("l1",), names={"scale": "l1"}
    ),
    "contrib.layers.l2_regularizer": InitializerRow(
        "regularizers.L2", ("scale", "scope"), ("l2",), names={"scale": "l2"}, halved=("scale",)
    ),
    "contrib.layers.l1_l2_regularizer": InitializerRow(
        "regularizers.L1L2",
        ("scale_l1", "scale_l2", "scope"),
        ("l1", "l2"),
        {"l1": 1.0, "l2": 0.5},
        {"scale_l1": "l1", "scale_l2": "l2"},
        ("scale_l2",),
    ),
}
