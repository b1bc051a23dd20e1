"""The feature columns of ``tf.feature_column``: their parameters, and what TF1 does with them."""

from __future__ import annotations

from migrate_mgpu.api.schema import Definition, Parameter, Row, Table
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


SHARED = "feature_column.shared_embedding_columns"
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

# -- columns that a program makes when it runs ----------------------------------

# What columns ask for what they read of a batch (TF1's FeatureTransformationCache).
COLUMN_VALUES = Definition(
    "ColumnValues",
    '''\
class {name}:
    """What feature columns read of a batch: each value is made once."""

    def __init__(self, features):
        self.features = features
        self.made = {{}}

    def get(self, key, state_manager=None, training=None):
        if key not in self.made:
            if isinstance(key, str):
                value = self.features[key]
                if not isinstance(value, {tf}.SparseTensor) and len(value.shape) == 1:
                    value = {tf}.expand_dims(value, -1)
            elif hasattr(key, {quote}vocabulary_list{quote}):
                value = self.numbered(key)
            else:
                value = key.transform_feature(self, state_manager)
            self.made[key] = value
        return self.made[key]

    def numbered(self, column):
        words, known = self.get(column.key), {tf}.constant(column.vocabulary_list)
        if not isinstance(words, {tf}.SparseTensor):
            indices = {tf}.where(words != ({quote}{quote} if words.dtype == {tf}.string else -1))
            shape = {tf}.shape(words, out_type={tf}.int64)
            words = {tf}.SparseTensor(indices, {tf}.gather_nd(words, indices), shape)
        values = words.values
        if values.dtype != {tf}.string:
            values, known = {tf}.cast(values, {tf}.int64), {tf}.cast(known, {tf}.int64)
        found = values[:, {tf}.newaxis] == known
        other = {tf}.constant(column.default_value, {tf}.int64)
        if column.num_oov_buckets:
            text = values if values.dtype == {tf}.string else {tf}.strings.as_string(values)
            other = {tf}.strings.to_hash_bucket_fast(text, column.num_oov_buckets)
            other += len(column.vocabulary_list)
        numbers = {tf}.where({tf}.reduce_any(found, axis=1), {tf}.argmax(found, axis=1), other)
        return {tf}.SparseTensor(words.indices, numbers, words.dense_shape)
''',
)
# A vocabulary is looked up without a table: those that columns make cannot be exported.
# Columns keep their variables in it (TF1's StateManager). Variables are read as a whole,
# so that their gradients are: Keras 3 has no place for those of some rows.
COLUMN_TENSORS = Definition(
    "FeatureColumns",
    '''\
class {name}({tf}.keras.layers.Layer):
    """The tensors of feature columns, in the order of the columns' names."""

    def __init__(self, columns):
        super().__init__()
        self.columns = sorted(columns, key=lambda column: column.name)
        self.kept = {{}}
        for column in self.columns:
            column.create_state(self)

    def create_variable(self, feature_column, name, shape, dtype=None, **settings):
        settings.pop({quote}use_resource{quote}, None)
        self.kept[f{quote}{{feature_column.name}}/{{name}}{quote}] = self.add_weight(
            name=name, shape=shape, dtype=dtype, **settings
        )

    def get_variable(self, feature_column, name):
        variable = self.kept[f{quote}{{feature_column.name}}/{{name}}{quote}]
        return {tf}.reshape(variable, variable.shape)  # its gradient has all rows

    def call(self, features):
        values = {values}(features)
        tensors = [column.get_dense_tensor(values, self) for column in self.columns]
        sizes = [column.variable_shape.num_elements() for column in self.columns]
        tensors = [{tf}.reshape(tensor, [-1, size]) for tensor, size in zip(tensors, sizes)]
        return {tf}.concat(tensors, axis=-1)
''',
)
# The same where columns share tables, which these functions say of the columns that they make.
SHARED_COLUMN_TENSORS = Definition(
    "FeatureColumns",
    '''\
class {name}({tf}.keras.layers.Layer):
    """The tensors of feature columns, in the order of the columns' names."""

    def __init__(self, columns):
        super().__init__()
        ordered = sorted(columns, key=self.name_of)
        self.columns = lambda: ordered  # Keras copies a list, and its columns lose their tables
        self.kept = {{}}
        for column in ordered:
            column.create_state(self)

    def name_of(self, column):
        return getattr(column, {quote}shared_name{quote}, column.name)

    def key(self, column, name):
        table = getattr(column, {quote}table{quote}, column.name)
        return f{quote}{{table}}/{{name}}{quote}

    def create_variable(self, feature_column, name, shape, dtype=None, **settings):
        settings.pop({quote}use_resource{quote}, None)
        key = self.key(feature_column, name)
        if key not in self.kept:
            self.kept[key] = self.add_weight(name=name, shape=shape, dtype=dtype, **settings)

    def get_variable(self, feature_column, name):
        variable = self.kept[self.key(feature_column, name)]
        return {tf}.reshape(variable, variable.shape)  # its gradient has all rows

    def call(self, features):
        values = {values}(features)
        tensors = [column.get_dense_tensor(values, self) for column in self.columns()]
        sizes = [column.variable_shape.num_elements() for column in self.columns()]
        tensors = [{tf}.reshape(tensor, [-1, size]) for tensor, size in zip(tensors, sizes)]
        return {tf}.concat(tensors, axis=-1)
''',
)
SHARED_COLUMNS = Definition(
    "shared_embedding_columns",
    '''\
def {name}(
    categorical_columns,
    dimension,
    combiner={quote}mean{quote},
    initializer=None,
    shared_embedding_collection_name=None,
):
    """Embedding columns that have one table: the model asks for its name."""
    columns = [
        {tf}.feature_column.embedding_column(category, dimension, combiner, initializer)
        for category in categorical_columns
    ]
    table = shared_embedding_collection_name
    if not table:
        names = sorted(category.name for category in categorical_columns)
        table = {quote}_{quote}.join([*names, {quote}shared_embedding{quote}])
    for column in columns:
        column.table = table
        column.shared_name = column.categorical_column.name + {quote}_shared_embedding{quote}
    return columns
''',
)
WEIGHTED_COLUMNS = Definition(
    "WeightedColumns",
    '''\
class {name}({columns}):
    """The sum of feature columns, each with weights: those of its categories, if it has some."""

    def __init__(self, columns, units):
        super().__init__(columns)
        for column in self.columns:
            size = getattr(column, {quote}num_buckets{quote}, None)
            size = size or column.variable_shape.num_elements()
            zeros = {quote}zeros{quote}
            self.create_variable(column, {quote}weights{quote}, [size, units], initializer=zeros)

    def call(self, features):
        values = {values}(features)
        terms = []
        for column in self.columns:
            weights = self.get_variable(column, {quote}weights{quote})
            if hasattr(column, {quote}num_buckets{quote}):
                ids, counts = column.get_sparse_tensors(values, self)
                ids = {tf}.sparse.reshape(ids, [ids.dense_shape[0], -1])
                if counts is not None:
                    counts = {tf}.sparse.reshape(counts, [counts.dense_shape[0], -1])
                summed = {quote}sum{quote}
                term = {tf}.nn.safe_embedding_lookup_sparse(weights, ids, counts, combiner=summed)
            else:
                tensor = column.get_dense_tensor(values, self)
                term = {tf}.matmul({tf}.reshape(tensor, [-1, weights.shape[0]]), weights)
            terms.append(term)
        return {tf}.add_n(terms)
''',
)
