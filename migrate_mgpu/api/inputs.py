"""Input functions of TF1's that go over arrays or a table, with its defaults."""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table

_PARAMETERS = (
    Parameter("x"),
    Parameter("y", "None"),
    Parameter("batch_size", "128"),
    Parameter("num_epochs", "1"),
    Parameter("shuffle", "None"),
    Parameter("queue_capacity", "1000"),
    Parameter("num_threads", "1"),
)
# `tf.contrib.learn`'s shuffles unless it is told not to.
_OF_LEARN = tuple(Parameter("shuffle", "True") if p.name == "shuffle" else p for p in _PARAMETERS)

ARRAY_INPUTS = Table(
    Row(("contrib.learn.io.numpy_input_fn",), "arrays of learn", _OF_LEARN),
    Row(
        (
            "estimator.inputs.numpy_input_fn",
            "python.estimator.inputs.numpy_io.numpy_input_fn",
        ),
        "arrays",
        _PARAMETERS,
    ),
    Row(
        ("estimator.inputs.pandas_input_fn",),
        "table",
        (*_PARAMETERS, Parameter("target_column", "'target'")),
    ),
)
