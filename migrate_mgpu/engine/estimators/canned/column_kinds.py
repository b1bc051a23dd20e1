"""Single feature columns: what each takes from the features, and the tensor that it makes of it.

Measured on 1.15.5: columns stand in the order of their names, a number column is cast to
float32, a category that is unknown, empty or -1 is all zeros.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate_mgpu.engine.estimators.driving.drive import text_of
from migrate_mgpu.engine.estimators.facts.parts import tensorflow_name
from migrate_mgpu.engine.estimators.names.tables import assigned
from migrate_mgpu.engine.estimators.text.calledit import CallEdit
from migrate_mgpu.engine.estimators.text.context import Context
from migrate_mgpu.engine.estimators.types import Refused
from migrate_mgpu.engine.module import Module
from migrate_mgpu.engine.rules import constant
from migrate_mgpu.engine.text import Layout, comments

_ADVICE = "write the column as Keras layers by hand"
NUMERIC = "feature_column.numeric_column"
PARAMETERS = {
    NUMERIC: ("key", "shape", "default_value", "dtype", "normalizer_fn"),
    "feature_column.bucketized_column": ("source_column", "boundaries"),
    "feature_column.indicator_column": ("categorical_column",),
    "feature_column.embedding_column": (
        "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from",
        "tensor_name_in_ckpt", "max_norm", "trainable",
    ),
    "feature_column.crossed_column": ("keys", "hash_bucket_size", "hash_key"),
    "feature_column.categorical_column_with_vocabulary_list": (
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets",
    ),
    "feature_column.categorical_column_with_identity": ("key", "num_buckets", "default_value"),
    "feature_column.categorical_column_with_hash_bucket": ("key", "hash_bucket_size", "dtype"),
}  # fmt: skip


@dataclass
class Column:
    """One column: its name in TF1, the layers it needs, the expression of its tensor.

    ``layers`` are attributes with the constructors of their layers. ``before`` are
    statements that ``call`` needs above the expression. ``categorical``: a category, which
    only a linear model takes as it is. ``texts``: it reads strings. ``embeds``: TF1
    updates only the rows that a batch uses; ``rows``: so it does in a linear model.
    """

    name: str
    expression: str
    layers: dict[str, str] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    categorical: bool = False
    texts: bool = False
    embeds: bool = False
    rows: bool = False


class ColumnKinds:
    """Reads single columns; ``statements`` are those that make nothing but columns."""

    def __init__(self, module: Module, tf: str) -> None:
        self.module = module
        self.tf = tf
        self.quote = module.source.quote
        self.statements: list[ast.stmt] = []
        self.comments: list[str] = []  # of the list
        self._attributes: set[str] = set()
        self._limits: dict[str, str] = {}  # layers of buckets, and their attributes

    def variable(self, name: ast.Name) -> ast.expr:
        """The value of a variable that only makes columns; its statement goes."""
        names = self.module.names
        bindings = names.bindings_of(name)
        if len(bindings) == 1 and bindings[0].value is not None:
            statement = names.statement(bindings[0].node)
            block = names.parents[statement]
            if isinstance(statement, ast.Assign) and not isinstance(block, (ast.For, ast.If)):
                if statement not in self.statements:
                    self.statements.append(statement)
                return bindings[0].value
        raise Refused(
            self.module, name, f"which feature columns `{name.id}` has cannot be told",
            "write the columns as a list",
        )  # fmt: skip

    def column(self, node: ast.expr) -> Column:
        """One column, by its constructor or a variable.

        Raises:
            Refused: a kind, or an argument, that is not known.
        """
        if isinstance(node, ast.Name):
            value = self.variable(node)
            column = self.column(value)
            own = self.comments_of(self.module.names.statement(value))
            column.comments = [*own, *column.comments]
            return column
        name = tensorflow_name(self.module, node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in PARAMETERS:
            shown = self.module.source.code(node.func if isinstance(node, ast.Call) else node)
            raise Refused(self.module, node, f"the feature column `{shown}`", _ADVICE)
        edit = CallEdit(self.module, node, PARAMETERS[name])
        short = name.removeprefix("feature_column.").removesuffix("_column")
        made: Column = getattr(self, f"_{short}")(edit)
        return made

    def comments_of(self, statement: ast.stmt) -> list[str]:
        """The comments above a statement, in it and behind it."""
        source = self.module.source
        found: list[str] = []
        line = statement.lineno - 1
        while line >= 1 and is_comment(source.line_text(line)):
            found.insert(0, source.line_text(line).strip())
            line -= 1
        found += [comment.text for comment in comments(source.code(statement))]
        behind = Layout(source, statement).trailing_comment
        return [*found, *([behind] if behind else [])]

    def _key(self, edit: CallEdit) -> str:
        node = edit.get("key")
        key = constant(node) if node is not None else None
        if not isinstance(key, str):
            value = assigned(self.module, node)
            key = constant(value) if value is not None else None
        if not isinstance(key, str):
            raise Refused(
                self.module, node or edit.call, "the name of this feature column is not written "
                "out, and the columns stand in the order of their names", _ADVICE,
            )  # fmt: skip
        return key

    def _feature(self, edit: CallEdit) -> str:
        node = edit.get("key")
        assert node is not None
        return f"features[{self._known(node)}]"

    def _known(self, node: ast.expr) -> str:
        """An expression in the model's class: it may read what the module knows, no more."""
        names = self.module.names
        inside = set(ast.walk(node))
        for part in inside:
            if isinstance(part, ast.Name) and part in names.scope_of_name:
                home = names.defining_scope(part.id, names.scope_of_name[part])
                if home is not None and not home.is_module and home.node not in inside:
                    raise Refused(
                        self.module, node, f"`{part.id}` of this feature column is known in one "
                        "function only", "make it a constant of the module",
                    )  # fmt: skip
        return text_of(self.module, node)

    def _none(self, edit: CallEdit, *names: str, allowed: tuple[object, ...] = ()) -> None:
        for name in names:
            value = edit.given(name)
            if value is not None and constant(value) not in allowed:
                raise Refused(
                    self.module, value, f"`{name}` of a feature column is not converted", _ADVICE
                )

    def _attribute(self, key: str, suffix: str) -> str:
        base = "".join(c if c.isalnum() else "_" for c in key).strip("_").lower() or "feature"
        name = f"{base}_{suffix}"
        while name in self._attributes or name[0].isdigit():
            name = f"_{name}" if name[0].isdigit() else f"{name}_"
        self._attributes.add(name)
        return name

    def _number(self, edit: CallEdit) -> str:
        """The float32 tensor of a number column, in its own shape."""
        feature = self._feature(edit)
        function = edit.given("normalizer_fn")
        if function is not None:
            feature = self._normalized(function, feature)
        return f"{self.tf}.cast({feature}, {self.tf}.float32)"

    def _normalized(self, function: ast.expr, feature: str) -> str:
        if isinstance(function, ast.Lambda):
            arguments = function.args
            if len(arguments.args) == 1 and not arguments.defaults:
                self._known(function)
                own = arguments.args[0].arg
                context = Context(self.module, self.tf, names={own: feature})
                return context.render(function.body)
        elif isinstance(function, (ast.Name, ast.Attribute)):
            return f"{self._known(function)}({feature})"
        raise Refused(self.module, function, "this normalizer_fn is not followed", _ADVICE)

    def _numeric(self, edit: CallEdit) -> Column:
        key, number = self._key(edit), self._number(edit)
        shape = edit.given("shape")
        size = _size(shape)
        if size == 1:
            return Column(key, f"{self.tf}.reshape({number}, [-1, 1])")
        column = Column(key, "")
        if size is not None:
            column.expression = f"{self.tf}.reshape({number}, [-1, {size}])"
        else:
            attribute = self._attribute(key, "flatten")
            column.layers[attribute] = f"{self.tf}.keras.layers.Flatten()"
            column.expression = f"self.{attribute}({number})"
        return column

    def _bucketized(self, edit: CallEdit) -> Column:
        key, layer, attribute, number, size = self._buckets(edit)
        flat = f"{self.tf}.reshape({number}, [-1])"
        expression = f"{self.tf}.one_hot(self.{attribute}({flat}), {size})"
        return Column(f"{key}_bucketized", expression, {attribute: layer}, rows=True)

    def _buckets(self, edit: CallEdit) -> tuple[str, str, str, str, str]:
        """The number's key, the layer, its attribute, what it takes, how many buckets it has."""
        source = edit.given("source_column")
        if isinstance(source, ast.Name):
            source = self.variable(source)
        name = tensorflow_name(self.module, source.func) if isinstance(source, ast.Call) else ""
        boundaries = edit.given("boundaries")
        if not isinstance(source, ast.Call) or name != NUMERIC or boundaries is None:
            raise Refused(self.module, edit.call, "buckets of no number column", _ADVICE)
        inner = CallEdit(self.module, source, PARAMETERS[NUMERIC])
        key = self._key(inner)
        if _size(inner.given("shape")) != 1:
            raise Refused(self.module, source, "buckets of a column of several numbers", _ADVICE)
        limits = assigned(self.module, boundaries)
        if isinstance(limits, (ast.List, ast.Tuple)):
            size = str(len(limits.elts) + 1)
        else:
            size = f"len({self._known(boundaries)}) + 1"
        layer = f"{self.tf}.keras.layers.Discretization({self._known(boundaries)})"
        if layer not in self._limits:  # it has no weights: one for all of its columns
            self._limits[layer] = self._attribute(key, "buckets")
        return key, layer, self._limits[layer], self._number(inner), size

    # -- categories -----------------------------------------------------------

    def _categorical_column_with_vocabulary_list(self, edit: CallEdit) -> Column:
        key = self._key(edit)
        self._none(edit, "default_value", allowed=(-1,))
        self._none(edit, "num_oov_buckets", allowed=(0,))
        vocabulary = edit.given("vocabulary_list")
        words = assigned(self.module, vocabulary)
        if vocabulary is None or not isinstance(words, (ast.List, ast.Tuple)) or not words.elts:
            raise Refused(
                self.module, vocabulary or edit.call, "a vocabulary that is not written out as a "
                "list", _ADVICE,
            )  # fmt: skip
        kinds = {type(constant(word)) for word in words.elts}
        if kinds not in ({str}, {int}):
            raise Refused(self.module, vocabulary, "what this vocabulary holds cannot be told")
        feature = f"{self.tf}.reshape({self._feature(edit)}, [-1, 1])"
        known = self._known(vocabulary)
        if isinstance(vocabulary, ast.Tuple) and not known.startswith("("):
            known = f"({known})"
        expression = f"{self.tf}.cast({feature} == {known}, {self.tf}.float32)"
        return Column(key, expression, categorical=True, rows=True, texts=kinds == {str})

    def _categorical_column_with_identity(self, edit: CallEdit) -> Column:
        self._none(edit, "default_value")
        buckets = edit.given("num_buckets")
        if buckets is None:
            raise Refused(self.module, edit.call, "a column without num_buckets")
        size = self._known(buckets)
        # Keras 3 builds a model under a strategy with a mean of batches: with floats.
        feature = f"{self.tf}.cast({self._feature(edit)}, {self.tf}.int64)"
        expression = f"{self.tf}.one_hot({self.tf}.reshape({feature}, [-1]), {size})"
        return Column(self._key(edit), expression, categorical=True, rows=True)

    def _categorical_column_with_hash_bucket(self, edit: CallEdit) -> Column:
        key, dtype, buckets = self._key(edit), edit.given("dtype"), edit.given("hash_bucket_size")
        if dtype is not None and tensorflow_name(self.module, dtype) != "string":
            raise Refused(self.module, dtype, "buckets of hashed numbers", _ADVICE)
        if buckets is None:
            raise Refused(self.module, edit.call, "a column without hash_bucket_size")
        size, tf = self._known(buckets), self.tf
        name = self._attribute(key, "hashed").removesuffix("_hashed")
        if name in ("features", "self", "training", "net"):
            name = f"{name}_texts"
        hashed = f"{tf}.strings.to_hash_bucket_fast({name}, {size})"
        missing = f"{tf}.constant(-1, {tf}.int64)"
        before = [
            f"{name} = {tf}.reshape({self._feature(edit)}, [-1])",
            f"{name} = {tf}.where({name} == {self.quote * 2}, {missing}, {hashed})",
        ]
        expression = f"{tf}.one_hot({name}, {size})"
        return Column(key, expression, {}, before, categorical=True, rows=True, texts=True)

    def _category(self, edit: CallEdit) -> Column:
        node = edit.given("categorical_column")
        if node is None:
            raise Refused(self.module, edit.call, "a column of no category", _ADVICE)
        column = self.column(node)
        if not column.categorical:
            raise Refused(self.module, node, "this column is no category", _ADVICE)
        column.categorical = False
        return column

    def _indicator(self, edit: CallEdit) -> Column:
        column = self._category(edit)
        column.name, column.rows = f"{column.name}_indicator", False
        return column

    def _embedding(self, edit: CallEdit) -> Column:
        self._none(edit, "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm")
        self._none(edit, "trainable", allowed=(True,))
        dimension = edit.given("dimension")
        if dimension is None:
            raise Refused(self.module, edit.call, "an embedding without a dimension")
        column = self._category(edit)
        size = self._known(dimension)
        initializer = edit.given("initializer")
        if initializer is not None:
            self._known(initializer)
            made = Context(self.module, self.tf).render(initializer)
        else:
            made = f"{self.tf}.keras.initializers.TruncatedNormal(stddev={size} ** -0.5)"
        attribute = self._attribute(column.name, "embedding")
        column.layers[attribute] = (
            f"{self.tf}.keras.layers.Dense({size}, use_bias=False, kernel_initializer={made})"
        )
        column.expression = f"self.{attribute}({column.expression})"
        column.name, column.embeds = f"{column.name}_embedding", True
        return column


def _size(shape: ast.expr | None) -> int | None:
    """How many numbers a shape has; None where it is not written out."""
    if shape is None:
        return 1
    parts = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else [shape]
    size = 1
    for part in parts:
        value = constant(part)
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        size *= value
    return size


def is_comment(line: str) -> bool:
    """Whether a line is a comment, and not the beginning of a notebook's cell."""
    return line.strip().startswith("#") and not line.startswith("# %%")
