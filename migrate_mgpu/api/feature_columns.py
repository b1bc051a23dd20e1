"""The feature columns of ``tf.feature_column``: their parameters, and what TF1 does with them."""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import record


@record(frozen=True)
class ColumnRow(Row):
    """A feature column. ``category``: only a linear model takes it as it is.

    ``by_rows``: a linear model of TF1's updates those rows of its weights that a batch uses.
    """

    category: bool = False
    by_rows: bool = False


def _parameters(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name) for name in names)


def _category(function: str, kind: str, *names: str) -> ColumnRow:
    name = f"feature_column.{function}"
    return ColumnRow((name,), kind, _parameters(*names), category=True, by_rows=True)


def _only(name: str, value: object) -> Parameter:
    reason = f"`{name}` of a feature column is not converted"
    return Parameter(name, str(value), target="", only=(value,), reason=reason)


NUMBER, BUCKETS = "number", "buckets"

COLUMNS = Table(
    ColumnRow(
        ("feature_column.numeric_column",),
        NUMBER,
        _parameters("key", "shape", "default_value", "dtype", "normalizer_fn"),
    ),
    ColumnRow(
        ("feature_column.bucketized_column",),
        BUCKETS,
        _parameters("source_column", "boundaries"),
        by_rows=True,
    ),
    ColumnRow(
        ("feature_column.indicator_column",), "indicator", _parameters("categorical_column")
    ),
    ColumnRow(
        ("feature_column.embedding_column",),
        "embedding",
        (
            *_parameters("categorical_column", "dimension", "combiner", "initializer"),
            _only("ckpt_to_load_from", None),
            _only("tensor_name_in_ckpt", None),
            _only("max_norm", None),
            _only("trainable", True),
        ),
    ),
    _category("crossed_column", "cross", "keys", "hash_bucket_size", "hash_key"),
    _category(
        "categorical_column_with_vocabulary_list", "vocabulary",
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets",
    ),
    _category(
        "categorical_column_with_identity", "identity", "key", "num_buckets", "default_value"
    ),
    _category("categorical_column_with_hash_bucket", "hash", "key", "hash_bucket_size", "dtype"),
)  # fmt: skip
