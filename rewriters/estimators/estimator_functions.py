"""TensorFlow's other functions in a network, a loss or an input function get their TF2 names.

## What it does
``tf.to_float(x)`` becomes ``tf.cast(x, tf.float32)``, ``tf.log`` ``tf.math.log``,
``keep_dims`` ``keepdims``, ``tf.nn.dropout(x, 0.9)`` ``tf.nn.dropout(x, rate=0.1)``; initializers
and regularizers become Keras's, with TF1's defaults.

## Why
Names that are TF1's alone do not exist in TF2; others have other arguments, or the same
arguments in another order.

## Safety
A name is taken over unchanged where it is the same object in both, and renamed where
``tf.compat.v1``'s is the same object under the new name (``migrate_mgpu/data``); everything
else is in the table of this module, or keeps its program as it is: placeholders, summaries,
``tf.image.resize_images`` (TF2 samples at half pixels), ``tf.where`` whose operands may have
several shapes. ``l2_regularizer(s)`` is ``L2(s / 2)``. Initializers draw from the same
distributions, not the same numbers.

## References
``tf.math``, ``tf.nn``, ``tf.random``, ``tf.keras.initializers``, ``tf.keras.regularizers``
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.symbols import renames, symbol, table
from migrate_mgpu.api import initializers
from migrate_mgpu.api.cases import IMAGES, case
from migrate_mgpu.api.tables import assigned, name_of, negative
from migrate_mgpu.core.registry import Rule, constant
from migrate_mgpu.models.front.rewriters import FunctionRewriter
from migrate_mgpu.source.source import Edit

RULE = Rule(
    code="MGPU406",
    name="estimator-functions",
    summary="TF1's functions inside a model become TF2's",
)

CASES = (
    case(
        "names that TF2 has otherwise",
        """\
def model_fn(features, labels, mode):
    net = tf.to_float(features) / 255.0
    net = tf.log(tf.reduce_mean(net, [1, 2], keep_dims=True))
    net = tf.squeeze(net, squeeze_dims=[1, 2])
    normal = tf.truncated_normal_initializer(stddev=0.1)
    logits = tf.layers.dense(net, 10, kernel_initializer=normal)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        normal = tf.keras.initializers.TruncatedNormal(stddev=0.1)
        self.logits = tf.keras.layers.Dense(10, kernel_initializer=normal)

    def call(self, features, training=False):
        net = tf.cast(features, tf.float32) / 255.0
        net = tf.math.log(tf.reduce_mean(net, [1, 2], keepdims=True))
        net = tf.squeeze(net, axis=[1, 2])
        logits = self.logits(net)
        return logits


def model_fn():
    model = Model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
        data=IMAGES,
    ),
    case(
        "images that TF2 samples elsewhere",
        """\
def model_fn(features, labels, mode):
    images = tf.image.resize_images(features, [14, 14])
    logits = tf.layers.dense(tf.layers.flatten(images), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="samples at half pixels",
        data=IMAGES,
    ),
)

# What has no TF2 form inside of a model, by the beginning of its name.
_IMPOSSIBLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("get_variable", "Variable", "get_local_variable", "contrib.framework.model_variable"),
     "makes a variable as it is called", "use a layer, or a Keras layer of your own"),
    (("variable_scope", "make_template", "AUTO_REUSE", "get_variable_scope"),
     "shares variables by name", "make the layer once and call it twice"),
    (("placeholder", "placeholder_with_default", "sparse_placeholder"),
     "has no value outside of a session", "give it to the function as an argument"),
    (("nn.rnn_cell", "nn.dynamic_rnn", "nn.static_rnn", "nn.bidirectional_dynamic_rnn",
      "contrib.rnn", "contrib.cudnn_rnn"), "has no TF2 form", "use tf.keras.layers.RNN"),
    (("feature_column.input_layer", "feature_column.linear_model"), "has no TF2 form",
     "use tf.keras.layers of the features"),
    (("image.resize_images", "image.resize", "image.resize_bicubic", "image.resize_area",
      "image.resize_image_with_pad"), "samples at half pixels in TF2",
     "resize by tf.image.resize_bilinear or resize_nearest_neighbor, which are the same"),
    (("summary.", "contrib.summary."), "writes with a session's graph",
     "leave it out: Keras writes loss and metrics by its TensorBoard callback"),
    (("Print",), "has no TF2 form", "use tf.print"),
)  # fmt: skip

_REDUCE = ("input_tensor", "axis", "keepdims", "name", "reduction_indices", "keep_dims")
_KEPT = {"keep_dims": "keepdims", "reduction_indices": "axis"}
_RESIZE = ("images", "size", "align_corners", "name", "half_pixel_centers")


class _Form:
    """A function with other arguments in TF2.

    ``parameters`` are TF1's in order, ``order`` those that TF2 takes by position,
    ``names`` new names, ``dropped`` arguments that TF2 has not (None is no loss), ``added``
    what TF1 did unasked.
    """

    def __init__(
        self,
        name: str,
        parameters: tuple[str, ...],
        order: tuple[str, ...] = (),
        names: dict[str, str] | None = None,
        dropped: tuple[str, ...] = (),
        added: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.order = order
        self.names = names or {}
        self.dropped = dropped
        self.added = added or {}


def _forms() -> dict[str, _Form]:
    found: dict[str, _Form] = {}
    for short in ("sum", "mean", "max", "min", "prod", "any", "all", "logsumexp"):
        order = ("input_tensor", "axis", "keepdims", "name")
        for name in (f"reduce_{short}", f"math.reduce_{short}"):
            found[name] = _Form(
                name if short != "logsumexp" else "math.reduce_logsumexp",
                _REDUCE,
                order if short != "logsumexp" else order[:3],
                _KEPT,
            )
    for short in ("argmax", "argmin"):
        for name in (short, f"math.{short}"):
            parameters = ("input", "axis", "name", "dimension", "output_type")
            found[name] = _Form(name, parameters, ("input", "axis"), {"dimension": "axis"})
        found[short[:3] + "_" + short[3:]] = _Form(
            short, ("input", "dimension", "output_type", "name"), ("input", "axis"),
            {"dimension": "axis"},
        )  # fmt: skip
    for short, dtype in (
        ("float", "float32"), ("double", "float64"), ("int32", "int32"), ("int64", "int64"),
        ("bfloat16", "bfloat16"), ("complex64", "complex64"), ("complex128", "complex128"),
    ):  # fmt: skip
        found[f"to_{short}"] = _Form("cast", ("x", "name"), ("x",), added={"dtype": f"tf.{dtype}"})
    found.update({
        "expand_dims": _Form("expand_dims", ("input", "axis", "name", "dim"), ("input", "axis"),
                             {"dim": "axis"}),
        "squeeze": _Form("squeeze", ("input", "axis", "name", "squeeze_dims"), ("input", "axis"),
                         {"squeeze_dims": "axis"}),
        "nn.embedding_lookup": _Form(
            "nn.embedding_lookup",
            ("params", "ids", "partition_strategy", "name", "validate_indices", "max_norm"),
            ("params", "ids"), dropped=("partition_strategy", "validate_indices")),
        "gather": _Form("gather", ("params", "indices", "validate_indices", "name", "axis",
                        "batch_dims"), ("params", "indices")),
        "gather_nd": _Form("gather_nd", ("params", "indices", "name", "batch_dims"),
                           ("params", "indices")),
        "pad": _Form("pad", ("tensor", "paddings", "mode", "name", "constant_values"),
                     ("tensor", "paddings", "mode")),
        "shape": _Form("shape", ("input", "name", "out_type"), ("input",)),
        "size": _Form("size", ("input", "name", "out_type"), ("input",)),
        "ones_like": _Form("ones_like", ("tensor", "dtype", "name", "optimize"),
                           ("input", "dtype", "name"), {"tensor": "input"}, ("optimize",)),
        "zeros_like": _Form("zeros_like", ("tensor", "dtype", "name", "optimize"),
                            ("input", "dtype", "name"), {"tensor": "input"}, ("optimize",)),
        "transpose": _Form("transpose", ("a", "perm", "name", "conjugate"), ("a", "perm")),
        "boolean_mask": _Form("boolean_mask", ("tensor", "mask", "name", "axis"),
                              ("tensor", "mask")),
        "norm": _Form("norm", ("tensor", "ord", "axis", "keepdims", "name", "keep_dims"),
                      ("tensor", "ord", "axis", "keepdims"), _KEPT),
        "constant": _Form("constant", ("value", "dtype", "shape", "name", "verify_shape"),
                          ("value", "dtype", "shape", "name"), dropped=("verify_shape",)),
        "convert_to_tensor": _Form(
            "convert_to_tensor", ("value", "dtype", "name", "preferred_dtype", "dtype_hint"),
            ("value", "dtype"), {"preferred_dtype": "dtype_hint"}),
        "count_nonzero": _Form(
            "math.count_nonzero",
            ("input_tensor", "axis", "keepdims", "dtype", "name", "reduction_indices",
             "keep_dims", "input"), ("input", "axis", "keepdims", "dtype", "name"),
            {**_KEPT, "input_tensor": "input"}),
        "confusion_matrix": _Form(
            "math.confusion_matrix",
            ("labels", "predictions", "num_classes", "dtype", "name", "weights"),
            ("labels", "predictions", "num_classes")),
        "cond": _Form("cond", ("pred", "true_fn", "false_fn", "strict", "name", "fn1", "fn2"),
                      ("pred", "true_fn", "false_fn"), {"fn1": "true_fn", "fn2": "false_fn"},
                      ("strict",)),
        "reverse_sequence": _Form(
            "reverse_sequence", ("input", "seq_lengths", "seq_axis", "batch_axis", "name",
            "seq_dim", "batch_dim"), ("input", "seq_lengths", "seq_axis", "batch_axis"),
            {"seq_dim": "seq_axis", "batch_dim": "batch_axis"}),
        "multinomial": _Form(
            "random.categorical", ("logits", "num_samples", "seed", "name", "output_dtype"),
            ("logits", "num_samples"), {"output_dtype": "dtype"}),
        "set_random_seed": _Form("random.set_seed", ("seed",), ("seed",)),
        "py_func": _Form("numpy_function", ("func", "inp", "Tout", "stateful", "name"),
                         ("func", "inp", "Tout", "stateful", "name")),
        "nn.softmax": _Form("nn.softmax", ("logits", "axis", "name", "dim"), ("logits", "axis"),
                            {"dim": "axis"}),
        "nn.log_softmax": _Form("nn.log_softmax", ("logits", "axis", "name", "dim"),
                                ("logits", "axis"), {"dim": "axis"}),
        "nn.moments": _Form("nn.moments", ("x", "axes", "shift", "name", "keep_dims", "keepdims"),
                            ("x", "axes", "shift"), _KEPT),
        "nn.crelu": _Form("nn.crelu", ("features", "name", "axis"), ("features",)),
        "nn.conv2d": _Form(
            "nn.conv2d", ("input", "filter", "strides", "padding", "use_cudnn_on_gpu",
            "data_format", "dilations", "name", "filters"),
            ("input", "filters", "strides", "padding"), {"filter": "filters"},
            ("use_cudnn_on_gpu",)),
        "nn.in_top_k": _Form("math.in_top_k", ("predictions", "targets", "k", "name")),
        "math.in_top_k": _Form("math.in_top_k", ("predictions", "targets", "k", "name")),
        "nn.space_to_depth": _Form("nn.space_to_depth", ("input", "block_size", "name",
                                   "data_format"), ("input", "block_size")),
        "nn.depth_to_space": _Form("nn.depth_to_space", ("input", "block_size", "name",
                                   "data_format"), ("input", "block_size")),
        "decode_raw": _Form("io.decode_raw", ("input_bytes", "out_type", "little_endian", "name",
                            "bytes"), ("input_bytes", "out_type", "little_endian"),
                            {"bytes": "input_bytes"}),
        "decode_csv": _Form(
            "io.decode_csv", ("records", "record_defaults", "field_delim", "use_quote_delim",
            "name", "na_value", "select_cols"),
            ("records", "record_defaults", "field_delim", "use_quote_delim")),
        "parse_single_example": _Form(
            "io.parse_single_example", ("serialized", "features", "name", "example_names"),
            ("serialized", "features")),
        "parse_example": _Form(
            "io.parse_example", ("serialized", "features", "name", "example_names"),
            ("serialized", "features")),
        "string_to_number": _Form(
            "strings.to_number", ("string_tensor", "out_type", "name", "input"),
            ("input", "out_type", "name"), {"string_tensor": "input"}),
        "image.resize_bilinear": _Form("raw_ops.ResizeBilinear", _RESIZE),
        "image.resize_nearest_neighbor": _Form("raw_ops.ResizeNearestNeighbor", _RESIZE),
        "contrib.layers.one_hot_encoding": _Form(
            "one_hot", ("labels", "num_classes", "on_value", "off_value", "outputs_collections",
            "scope"), ("indices", "depth", "on_value", "off_value"),
            {"labels": "indices", "num_classes": "depth", "scope": "name"},
            ("outputs_collections",)),
    })  # fmt: skip
    for name in ("max_pool", "avg_pool"):
        pooling = ("ksize", "strides", "padding", "data_format", "name")
        found[f"nn.{name}"] = _Form(
            f"nn.{name}2d", ("value", *pooling, "input"), ("input", *pooling), {"value": "input"}
        )
    for old in ("decode_raw", "decode_csv", "parse_single_example", "parse_example"):
        found[f"io.{old}"] = found[old]
    found["linalg.norm"] = found["norm"]
    found["random.multinomial"] = found["multinomial"]
    found["random.set_random_seed"] = found["set_random_seed"]
    found["math.count_nonzero"] = found["count_nonzero"]
    found["math.confusion_matrix"] = found["confusion_matrix"]
    found["strings.to_number"] = found["string_to_number"]
    found["space_to_depth"] = found["nn.space_to_depth"]
    found["depth_to_space"] = found["nn.depth_to_space"]
    return found


_FORMS = _forms()
# Other objects in TF2 that take the same arguments and do the same.
_EQUAL = {
    "data.Dataset", "data.TFRecordDataset", "data.TextLineDataset",
    "data.FixedLengthRecordDataset", "data.experimental.make_csv_dataset",
    "data.experimental.make_batched_features_dataset", "data.experimental.CsvDataset",
    "data.experimental.sample_from_datasets", "data.experimental.choose_from_datasets",
    "data.experimental.Counter", "map_fn", "scan", "foldl", "foldr", "where_v2",
    "zeros_initializer", "ones_initializer", "executing_eagerly", "lookup.StaticHashTable",
    "random.poisson", "scalar_mul", "math.scalar_mul",
}  # fmt: skip
# Statuses of the table of names that say: the same object in TF2.
_SAME = ("neutral", "v2_shared", "modules", "v1_differs_tf2.15")
# `tf.gfile.Exists` is `tf.io.gfile.exists`; the rest is the same object or has another name.
_GFILE = {
    "Copy": "copy", "DeleteRecursively": "rmtree", "Exists": "exists", "FastGFile": "GFile",
    "GFile": "GFile", "Glob": "glob", "IsDirectory": "isdir", "ListDirectory": "listdir",
    "MakeDirs": "makedirs", "MkDir": "mkdir", "Open": "GFile", "Remove": "remove",
    "Rename": "rename", "Stat": "stat",
}  # fmt: skip
_CONTRIB_DATA = {
    "shuffle_and_repeat", "map_and_batch", "parallel_interleave", "ignore_errors", "unbatch",
    "group_by_window", "bucket_by_sequence_length", "prefetch_to_device",
}  # fmt: skip


def function(module: Module, node: ast.AST, tf: str) -> tuple[Edit, ...] | None:
    """The edits of a mention of TensorFlow, or of a call of it; None where it is none.

    ``node`` is the call, or the longest chain of attributes of what is not called.

    Raises:
        Refused: TF2 has nothing equal.
    """
    spelled = node.func if isinstance(node, ast.Call) else node
    found = symbol(module.names.qualname(spelled))
    if found is None:
        return None
    if found.flavour == "v2" or not found.name or found.name.startswith(("app.flags", "flags")):
        return ()  # the flags are absl's, see absl_app.py
    name = name_of(module, spelled)
    if not name:
        raise Refused(module, node, f"`{module.source.code(spelled)}` is TensorFlow's own inside")
    for stems, reason, advice in _IMPOSSIBLE:
        if any(name == n or name.startswith(n if n.endswith(".") else f"{n}.") for n in stems):
            raise Refused(module, node, f"`{module.source.code(spelled)}` {reason}", advice)
    if isinstance(node, ast.Call):
        edits = initializers.call(module, node, tf, name)
        if edits is None:
            edits = _call(module, node, tf, name)
        if edits is not None:
            return edits
    else:
        edits = initializers.mention(module, node, tf, name)
        if edits is not None:
            return edits
    return _renamed(module, spelled, tf, name, isinstance(node, ast.Call))


def dimension(module: Module, node: ast.Attribute) -> tuple[Edit, ...] | None:
    """`net.shape[1].value`: a dimension is a number in TF2. None for anything else."""
    inner = node.value
    if node.attr != "value" or not isinstance(inner, ast.Subscript):
        return None
    shape = assigned(module, inner.value)
    if isinstance(shape, ast.Call):
        known = isinstance(shape.func, ast.Attribute) and shape.func.attr == "get_shape"
    else:
        known = isinstance(shape, ast.Attribute) and shape.attr == "shape"
    if not known:
        return None
    return (Edit(module.source.span(inner)[1], module.source.span(node)[1], ""),)


# With AUTO it hangs on the strategy what Keras' losses do; those of tf.losses are in their table.
_REDUCTIONS = ("NONE", "SUM", "SUM_OVER_BATCH_SIZE")


def is_summary(module: Module, node: ast.AST) -> bool:
    """Whether a node writes, or merges, summaries."""
    return name_of(module, node).startswith(("summary.", "contrib.summary.", "contrib.layers.summ"))


def _renamed(
    module: Module, spelled: ast.AST, tf: str, name: str, called: bool
) -> tuple[Edit, ...]:
    """The edit of a name alone.

    Raises:
        Refused: it is not known to be the same in TF2.
    """
    new = renames().get(name)
    head, _, short = name.rpartition(".")
    if head in ("keras.losses.Reduction", "losses.Reduction") and short in _REDUCTIONS:
        quote = module.source.quote  # Keras 3 has words only
        return (Edit(*module.source.span(spelled), f"{quote}{short.lower()}{quote}"),)
    if head == "gfile" and short in _GFILE:
        new = f"io.gfile.{_GFILE[short]}"
    elif head == "contrib.data" and short in _CONTRIB_DATA:
        new = f"data.experimental.{short}"
    elif not called and name in _FORMS and not _FORMS[name].added:
        # `activation=tf.nn.softmax`: it is called with a tensor alone.
        new = _FORMS[name].name
    elif new is None:
        status = table().status(name)
        base = name if name in _EQUAL else head
        if status in _SAME or base in _EQUAL or name.startswith("raw_ops."):
            new = name
    if new is None:
        code = module.source.code(spelled)
        text = f"`{code}` does not exist in TF2, or does something else there"
        raise Refused(module, spelled, text, "replace it by its TF2 form")
    start, end = module.source.span(spelled)
    found = symbol(module.names.qualname(spelled))
    if new == name and found is not None and found.flavour == "plain" and found.name == name:
        return ()
    if module.source.text[start:end] == f"{tf}.{new}":
        return ()
    return (Edit(start, end, f"{tf}.{new}"),)


def _call(module: Module, call: ast.Call, tf: str, name: str) -> tuple[Edit, ...] | None:
    """The edits of a call whose arguments change; None where they do not."""
    if name == "nn.dropout":
        return _dropout(module, call, tf)
    if name in ("where", "div"):
        return _where(module, call, tf) if name == "where" else _div(module, call, tf)
    form = _FORMS.get(name)
    if form is None:
        return None
    edit = BoundCall(module, call, form.parameters)
    edit.function(f"{tf}.{form.name}")
    edit.drop(*form.dropped)
    for old in ("dim", "squeeze_dims", "keep_dims", "reduction_indices"):
        if is_none(edit.get(old)):
            edit.drop(old)
    if form.name.startswith("raw_ops."):
        edit.drop("name")
        if (half := edit.get("half_pixel_centers")) is None or is_none(half):
            edit.drop("half_pixel_centers")
    if form.name == "cast" and edit.get("name") is None:
        edit.order(("x",))
        edit.add("", next(iter(form.added.values())).replace("tf.", f"{tf}."))
        return edit.edits()
    for old, new in form.names.items():
        edit.rename(old, new)
    edit.order(form.order)
    for key, text in form.added.items():
        edit.add(key, text.replace("tf.", f"{tf}."))
    return edit.edits()


def _dropout(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...]:
    """`tf.nn.dropout(x, keep_prob)`: TF2 asks for the rate of what is dropped."""
    edit = BoundCall(module, call, ("x", "keep_prob", "noise_shape", "seed", "name", "rate"))
    edit.function(f"{tf}.nn.dropout")
    if edit.given("keep_prob") is not None:
        negative(edit, "keep_prob", "1")
        edit.rename("keep_prob", "rate")
    else:
        edit.drop("keep_prob")
    edit.order(("x",))
    return edit.edits()


def _where(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...]:
    """`tf.where`: TF1 chooses whole rows where the condition is a vector, TF2 broadcasts."""
    edit = BoundCall(module, call, ("condition", "x", "y", "name"))
    edit.function(f"{tf}.where")
    condition, x, y = edit.get("condition"), edit.given("x"), edit.given("y")
    if condition is not None and x is not None and y is not None:
        mentioned = {ast.dump(part) for part in ast.walk(condition) if isinstance(part, ast.expr)}
        like = ("ones_like", "zeros_like", "nn.relu", "abs")
        same = [
            ast.dump(v) in mentioned
            or (
                isinstance(v, ast.Call)
                and name_of(module, v) in like
                and v.args
                and ast.dump(v.args[0]) in mentioned
            )
            for v in (x, y)
        ]
        if not any(same):
            text = "`tf.where` chooses whole rows in TF1 where its condition is a vector"
            raise Refused(module, call, text, "use tf.where_v2, whose shapes are TF2's")
    return edit.edits()


def _div(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...]:
    """`tf.div` is Python 2's division: of integers it gives an integer."""
    edit = BoundCall(module, call, ("x", "y", "name"))
    values = [v for v in (edit.get("x"), edit.get("y")) if v is not None]
    if not any(
        isinstance(constant(v), float)
        or name_of(module, v) == "to_float"
        or (name_of(module, v) == "cast" and "float" in ast.unparse(v))
        for v in values
    ):
        text = "`tf.div` gives integers for integers, and it cannot be told what it is given"
        raise Refused(module, call, text, "use tf.divide or tf.floordiv")
    edit.function(f"{tf}.divide")
    edit.order(("x", "y", "name"))
    return edit.edits()


REWRITER = FunctionRewriter(RULE, CASES, function, dimension, is_summary)
