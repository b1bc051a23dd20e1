"""TF1's ways to make a variable, and Keras's initializers for what it begins with."""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table

# What a weight of a Keras model has not, and what is nothing there.
_TF1_ONLY = (
    "collections", "partitioner", "custom_getter", "variable_def", "expected_shape",
    "import_scope", "constraint", "synchronization", "aggregation",
)  # fmt: skip
_NOTHING = ("caching_device", "dtype", "use_resource", "validate_shape")


def _row(name: str, *parameters: str) -> Row:
    known = {one: Parameter(one, "None", target="", only=(None,)) for one in _TF1_ONLY}
    known.update({one: Parameter(one, target="") for one in _NOTHING})
    every = tuple(known.get(one, Parameter(one)) for one in parameters)
    return Row((name,), name, every, by_position=())


VARIABLES = Table(
    _row(
        "get_variable", "name", "shape", "dtype", "initializer", "regularizer", "trainable",
        "collections", "caching_device", "partitioner", "validate_shape", "use_resource",
        "custom_getter", "constraint", "synchronization", "aggregation",
    ),
    _row(
        "Variable", "initial_value", "trainable", "collections", "validate_shape",
        "caching_device", "name", "variable_def", "dtype", "expected_shape", "import_scope",
        "constraint", "use_resource", "synchronization", "aggregation", "shape",
    ),
)  # fmt: skip
# What makes, or gives, TF1's one variable that counts the steps.
COUNTERS = (
    "train.create_global_step", "train.get_or_create_global_step", "train.get_global_step",
    "contrib.framework.create_global_step", "contrib.framework.get_or_create_global_step",
    "contrib.framework.get_global_step",
)  # fmt: skip
AVERAGES = "train.ExponentialMovingAverage"  # moving ones, of variables
# What a variable may begin with: Keras's initializer (its name alone says all of `zeros` and
# `ones`), and TF1's parameters of the function.
FIRST_VALUES: dict[str, tuple[str, tuple[str, ...]]] = {
    "zeros": ("zeros", ("shape", "dtype", "name")),
    "ones": ("ones", ("shape", "dtype", "name")),
    "random_normal": ("RandomNormal", ("shape", "mean", "stddev", "dtype", "seed", "name")),
    "truncated_normal": ("TruncatedNormal", ("shape", "mean", "stddev", "dtype", "seed", "name")),
    "random_uniform": ("RandomUniform", ("shape", "minval", "maxval", "dtype", "seed", "name")),
    "constant": ("Constant", ("value", "dtype", "shape", "name", "verify_shape")),
}
# TF1's defaults where they are not Keras's.
DEFAULTS = {
    "RandomNormal": {"stddev": "1.0"},
    "TruncatedNormal": {"stddev": "1.0"},
    "RandomUniform": {"minval": "0.0", "maxval": "1.0"},
}
