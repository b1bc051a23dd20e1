"""TensorFlow's other functions whose names or arguments TF2 has otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import replaced

# What has no TF2 form inside of a model, by the beginning of its name.
IMPOSSIBLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
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
    (("image.resize_images", "image.resize", "image.resize_image_with_pad"),
     "samples at half pixels in TF2",
     "resize by tf.image.resize_bilinear or resize_nearest_neighbor, which are the same"),
    (("summary.", "contrib.summary."), "writes with a session's graph",
     "leave it out: Keras writes loss and metrics by its TensorBoard callback"),
)  # fmt: skip

_REDUCE = ("input_tensor", "axis", "keepdims", "name", "reduction_indices", "keep_dims")
_KEPT = {"keep_dims": "keepdims", "reduction_indices": "axis"}
_SAMPLED = ("weights", "biases", "labels", "inputs", "num_sampled", "num_classes", "num_true",
            "sampled_values", "remove_accidental_hits")  # fmt: skip
_RESIZE = ("images", "size", "align_corners", "name", "half_pixel_centers")


def _form(
    target: str,
    parameters: tuple[str, ...],
    order: tuple[str, ...] = (),
    names: Mapping[str, str] | None = None,
    dropped: tuple[str, ...] = (),
    added: Mapping[str, str] | None = None,
    stated: Mapping[str, str] | None = None,
    only: Mapping[str, object] | None = None,
) -> Row:
    """A function with other arguments in TF2.

    ``parameters`` are TF1's in order, ``order`` those that TF2 takes by position, ``names``
    new names, ``dropped`` arguments that TF2 has not (None is no loss), ``added`` what TF1
    did unasked, ``stated`` TF1's defaults of what TF2 has none for. ``only``: what TF2 always does,
    in the place of an argument.
    """
    every = tuple(
        Parameter(
            name,
            (stated or {}).get(name, ""),
            target="" if name in {*dropped, *(only or {})} else (names or {}).get(name),
            stated=name in (stated or {}),
            only=((only or {})[name],) if name in (only or {}) else (),
        )
        for name in parameters
    )
    return Row((), target, every, target, order, tuple((added or {}).items()))


def _forms() -> dict[str, Row]:
    found: dict[str, Row] = {}
    for short in ("sum", "mean", "max", "min", "prod", "any", "all", "logsumexp"):
        order = ("input_tensor", "axis", "keepdims", "name")
        for name in (f"reduce_{short}", f"math.reduce_{short}"):
            found[name] = _form(
                name if short != "logsumexp" else "math.reduce_logsumexp",
                _REDUCE,
                order if short != "logsumexp" else order[:3],
                _KEPT,
            )
    for short in ("argmax", "argmin"):
        for name in (short, f"math.{short}"):
            parameters = ("input", "axis", "name", "dimension", "output_type")
            found[name] = _form(name, parameters, ("input", "axis"), {"dimension": "axis"})
        found[short[:3] + "_" + short[3:]] = _form(
            short, ("input", "dimension", "output_type", "name"), ("input", "axis"),
            {"dimension": "axis"},
        )  # fmt: skip
    for short, dtype in (
        ("float", "float32"), ("double", "float64"), ("int32", "int32"), ("int64", "int64"),
        ("bfloat16", "bfloat16"), ("complex64", "complex64"), ("complex128", "complex128"),
    ):  # fmt: skip
        found[f"to_{short}"] = _form(
            "cast", ("x", "name"), ("x",), added={"dtype": f"{{tf}}.{dtype}"}
        )
    found.update({
        "expand_dims": _form("expand_dims", ("input", "axis", "name", "dim"), ("input", "axis"),
                             {"dim": "axis"}),
        "squeeze": _form("squeeze", ("input", "axis", "name", "squeeze_dims"), ("input", "axis"),
                         {"squeeze_dims": "axis"}),
        **{name: _form(name, _SAMPLED + more, _SAMPLED, dropped=("partition_strategy",))
           for name, more in (("nn.nce_loss", ("partition_strategy", "name")),
                              ("nn.sampled_softmax_loss", ("partition_strategy", "name", "seed")))},
        "nn.embedding_lookup": _form(
            "nn.embedding_lookup",
            ("params", "ids", "partition_strategy", "name", "validate_indices", "max_norm"),
            ("params", "ids"), dropped=("partition_strategy", "validate_indices")),
        "nn.embedding_lookup_sparse": _form(
            "nn.embedding_lookup_sparse",
            ("params", "sp_ids", "sp_weights", "partition_strategy", "name", "combiner",
             "max_norm"),
            ("params", "sp_ids", "sp_weights"), dropped=("partition_strategy",)),
        "gather": _form("gather", ("params", "indices", "validate_indices", "name", "axis",
                        "batch_dims"), ("params", "indices")),
        "gather_nd": _form("gather_nd", ("params", "indices", "name", "batch_dims"),
                           ("params", "indices")),
        "pad": _form("pad", ("tensor", "paddings", "mode", "name", "constant_values"),
                     ("tensor", "paddings", "mode")),
        "shape": _form("shape", ("input", "name", "out_type"), ("input",)),
        "size": _form("size", ("input", "name", "out_type"), ("input",)),
        "ones_like": _form("ones_like", ("tensor", "dtype", "name", "optimize"),
                           ("input", "dtype", "name"), {"tensor": "input"}, ("optimize",)),
        "zeros_like": _form("zeros_like", ("tensor", "dtype", "name", "optimize"),
                            ("input", "dtype", "name"), {"tensor": "input"}, ("optimize",)),
        "transpose": _form("transpose", ("a", "perm", "name", "conjugate"), ("a", "perm")),
        "boolean_mask": _form("boolean_mask", ("tensor", "mask", "name", "axis"),
                              ("tensor", "mask")),
        "norm": _form("norm", ("tensor", "ord", "axis", "keepdims", "name", "keep_dims"),
                      ("tensor", "ord", "axis", "keepdims"), _KEPT),
        "constant": _form("constant", ("value", "dtype", "shape", "name", "verify_shape"),
                          ("value", "dtype", "shape", "name"), dropped=("verify_shape",)),
        "convert_to_tensor": _form(
            "convert_to_tensor", ("value", "dtype", "name", "preferred_dtype", "dtype_hint"),
            ("value", "dtype"), {"preferred_dtype": "dtype_hint"}),
        "count_nonzero": _form(
            "math.count_nonzero",
            ("input_tensor", "axis", "keepdims", "dtype", "name", "reduction_indices",
             "keep_dims", "input"), ("input", "axis", "keepdims", "dtype", "name"),
            {**_KEPT, "input_tensor": "input"}),
        "confusion_matrix": _form(
            "math.confusion_matrix",
            ("labels", "predictions", "num_classes", "dtype", "name", "weights"),
            ("labels", "predictions", "num_classes")),
        "cond": _form("cond", ("pred", "true_fn", "false_fn", "strict", "name", "fn1", "fn2"),
                      ("pred", "true_fn", "false_fn"), {"fn1": "true_fn", "fn2": "false_fn"},
                      ("strict",)),
        "reverse_sequence": _form(
            "reverse_sequence", ("input", "seq_lengths", "seq_axis", "batch_axis", "name",
            "seq_dim", "batch_dim"), ("input", "seq_lengths", "seq_axis", "batch_axis"),
            {"seq_dim": "seq_axis", "batch_dim": "batch_axis"}),
        "multinomial": _form(
            "random.categorical", ("logits", "num_samples", "seed", "name", "output_dtype"),
            ("logits", "num_samples"), {"output_dtype": "dtype"}),
        # Its text, and when it shows it, are others in `tf.print`.
        "Print": _form(
            "raw_ops.Print", ("input_", "data", "message", "first_n", "summarize", "name"), (),
            {"input_": "input"}),
        "check_numerics": _form("debugging.check_numerics", ("tensor", "message", "name"),
                                ("tensor", "message", "name")),
        "verify_tensor_all_finite": _form(
            "debugging.assert_all_finite", ("t", "msg", "name", "x", "message"),
            ("x", "message", "name"), {"t": "x", "msg": "message"}),
        "set_random_seed": _form("random.set_seed", ("seed",), ("seed",)),
        "py_func": _form("numpy_function", ("func", "inp", "Tout", "stateful", "name"),
                         ("func", "inp", "Tout", "stateful", "name")),
        "nn.softmax": _form("nn.softmax", ("logits", "axis", "name", "dim"), ("logits", "axis"),
                            {"dim": "axis"}),
        "contrib.layers.softmax": _form("nn.softmax", ("logits", "scope"), ("logits",),
                                        {"scope": "name"}),
        "nn.log_softmax": _form("nn.log_softmax", ("logits", "axis", "name", "dim"),
                                ("logits", "axis"), {"dim": "axis"}),
        "nn.moments": _form("nn.moments", ("x", "axes", "shift", "name", "keep_dims", "keepdims"),
                            ("x", "axes", "shift"), _KEPT),
        "nn.crelu": _form("nn.crelu", ("features", "name", "axis"), ("features",)),
        "nn.conv2d": _form(
            "nn.conv2d", ("input", "filter", "strides", "padding", "use_cudnn_on_gpu",
            "data_format", "dilations", "name", "filters"),
            ("input", "filters", "strides", "padding"), {"filter": "filters"},
            ("use_cudnn_on_gpu",)),
        "nn.conv1d": _form(
            "nn.conv1d", ("value", "filters", "stride", "padding", "use_cudnn_on_gpu",
            "data_format", "name", "input", "dilations"),
            ("input", "filters", "stride", "padding"), {"value": "input"},
            ("use_cudnn_on_gpu",)),
        "nn.conv3d": _form(
            "nn.conv3d", ("input", "filter", "strides", "padding", "data_format", "dilations",
            "name", "filters"), ("input", "filters", "strides", "padding"),
            {"filter": "filters"}),
        "nn.conv2d_transpose": _form(
            "nn.conv2d_transpose", ("value", "filter", "output_shape", "strides", "padding",
            "data_format", "name", "input", "filters", "dilations"),
            ("input", "filters", "output_shape", "strides", "padding", "data_format"),
            {"value": "input", "filter": "filters"}),
        "nn.depthwise_conv2d": _form(
            "nn.depthwise_conv2d", ("input", "filter", "strides", "padding", "rate", "name",
            "data_format", "dilations"), ("input", "filter", "strides", "padding"),
            {"rate": "dilations"}),
        "nn.separable_conv2d": _form(
            "nn.separable_conv2d", ("input", "depthwise_filter", "pointwise_filter", "strides",
            "padding", "rate", "name", "data_format", "dilations"),
            ("input", "depthwise_filter", "pointwise_filter", "strides", "padding"),
            {"rate": "dilations"}),
        "gradients": _form(
            "gradients", ("ys", "xs", "grad_ys", "name", "colocate_gradients_with_ops",
            "gate_gradients", "aggregation_method", "stop_gradients",
            "unconnected_gradients"), ("ys", "xs", "grad_ys", "name"),
            dropped=("colocate_gradients_with_ops",)),
        "nn.in_top_k": _form("math.in_top_k", ("predictions", "targets", "k", "name")),
        "math.in_top_k": _form("math.in_top_k", ("predictions", "targets", "k", "name")),
        "nn.space_to_depth": _form("nn.space_to_depth", ("input", "block_size", "name",
                                   "data_format"), ("input", "block_size")),
        "nn.depth_to_space": _form("nn.depth_to_space", ("input", "block_size", "name",
                                   "data_format"), ("input", "block_size")),
        "decode_raw": _form("io.decode_raw", ("input_bytes", "out_type", "little_endian", "name",
                            "bytes"), ("input_bytes", "out_type", "little_endian"),
                            {"bytes": "input_bytes"}),
        "decode_csv": _form(
            "io.decode_csv", ("records", "record_defaults", "field_delim", "use_quote_delim",
            "name", "na_value", "select_cols"),
            ("records", "record_defaults", "field_delim", "use_quote_delim")),
        "parse_single_example": _form(
            "io.parse_single_example", ("serialized", "features", "name", "example_names"),
            ("serialized", "features")),
        "parse_example": _form(
            "io.parse_example", ("serialized", "features", "name", "example_names"),
            ("serialized", "features")),
        "string_to_number": _form(
            "strings.to_number", ("string_tensor", "out_type", "name", "input"),
            ("input", "out_type", "name"), {"string_tensor": "input"}),
        "image.resize_bilinear": _form("raw_ops.ResizeBilinear", _RESIZE),
        "image.resize_bicubic": _form("raw_ops.ResizeBicubic", _RESIZE),
        "image.resize_area": _form("raw_ops.ResizeArea", _RESIZE[:-1]),
        "image.resize_nearest_neighbor": _form("raw_ops.ResizeNearestNeighbor", _RESIZE),
        "sparse_to_dense": _form(
            "raw_ops.SparseToDense", ("sparse_indices", "output_shape", "sparse_values",
            "default_value", "validate_indices", "name"), (), stated={"default_value": "0"}),
        "nn.ctc_loss": _form(
            "nn.ctc_loss", ("labels", "inputs", "sequence_length", "preprocess_collapse_repeated",
            "ctc_merge_repeated", "ignore_longer_outputs_than_inputs", "time_major", "logits"),
            ("labels", "logits"),
            {"inputs": "logits", "sequence_length": "logit_length",
             "time_major": "logits_time_major"},
            added={"label_length": "None", "blank_index": "-1"},
            only={"preprocess_collapse_repeated": False, "ctc_merge_repeated": True,
                  "ignore_longer_outputs_than_inputs": False}),
        "contrib.layers.one_hot_encoding": _form(
            "one_hot", ("labels", "num_classes", "on_value", "off_value", "outputs_collections",
            "scope"), ("indices", "depth", "on_value", "off_value"),
            {"labels": "indices", "num_classes": "depth", "scope": "name"},
            ("outputs_collections",)),
    })  # fmt: skip
    for name in ("max_pool", "avg_pool"):
        pooling = ("ksize", "strides", "padding", "data_format", "name")
        found[f"nn.{name}"] = _form(
            f"nn.{name}2d", ("value", *pooling, "input"), ("input", *pooling), {"value": "input"}
        )
    for short, tensors in (
        *((one, ("x", "y")) for one in ("equal", "none_equal", "less", "less_equal", "greater",
                                        "greater_equal")),
        *((one, ("x",)) for one in ("negative", "positive", "non_negative", "non_positive")),
    ):  # fmt: skip
        for name in (f"assert_{short}", f"debugging.assert_{short}"):
            # What `data` adds to the message: TF2's has the tensors that are compared.
            every = (*tensors, "data", "summarize", "message", "name")
            found[name] = _form(f"debugging.assert_{short}", every, tensors, dropped=("data",))
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


def _table() -> Table[Row]:
    """The rows, each with all names of its function."""
    names: dict[int, list[str]] = {}
    forms = _forms()
    for name, row in forms.items():
        names.setdefault(id(row), []).append(name)
    spelled = [(tuple(every), forms[every[0]]) for every in names.values()]
    return Table(*(replaced(row, names=every, kind=every[0]) for every, row in spelled))


FUNCTIONS = _table()
# Other objects in TF2 that take the same arguments and do the same.
EQUAL = {
    "data.Dataset", "data.TFRecordDataset", "data.TextLineDataset",
    "data.FixedLengthRecordDataset", "data.experimental.make_csv_dataset",
    "data.experimental.make_batched_features_dataset", "data.experimental.CsvDataset",
    "data.experimental.sample_from_datasets", "data.experimental.choose_from_datasets",
    "data.experimental.Counter", "map_fn", "scan", "foldl", "foldr", "where_v2",
    "zeros_initializer", "ones_initializer", "executing_eagerly", "lookup.StaticHashTable",
    "random.poisson", "scalar_mul", "math.scalar_mul", "feature_column.make_parse_example_spec",
}  # fmt: skip
# Statuses of the table of names that say: the same object in TF2.
SAME_STATUSES = ("neutral", "v2_shared", "modules", "v1_differs_tf2.15")
# What writes a message, as a method of Python's logger.
LOGGING = {
    "debug": "debug", "info": "info", "warn": "warning", "warning": "warning", "error": "error",
    "fatal": "critical",
}  # fmt: skip
# `tf.gfile.Exists` is `tf.io.gfile.exists`; the rest is the same object or has another name.
GFILE = {
    "Copy": "copy", "DeleteRecursively": "rmtree", "Exists": "exists", "FastGFile": "GFile",
    "GFile": "GFile", "Glob": "glob", "IsDirectory": "isdir", "ListDirectory": "listdir",
    "MakeDirs": "makedirs", "MkDir": "mkdir", "Open": "GFile", "Remove": "remove",
    "Rename": "rename", "Stat": "stat",
}  # fmt: skip
# The parameters of these that have other names in TF2.
_PATH, _FOLDER = {"filename": "path"}, {"dirname": "path"}
GFILE_PARAMETERS = {
    "Copy": {"oldpath": "src", "newpath": "dst"}, "DeleteRecursively": _FOLDER, "Exists": _PATH,
    "Glob": {"filename": "pattern"}, "IsDirectory": _FOLDER, "ListDirectory": _FOLDER,
    "MakeDirs": _FOLDER, "MkDir": _FOLDER, "Remove": _PATH,
    "Rename": {"oldname": "src", "newname": "dst"}, "Stat": _PATH,
}  # fmt: skip
CONTRIB_DATA = {
    "shuffle_and_repeat", "map_and_batch", "parallel_interleave", "ignore_errors", "unbatch",
    "group_by_window", "bucket_by_sequence_length", "prefetch_to_device",
}  # fmt: skip
# With AUTO it hangs on the strategy what Keras' losses do; those of tf.losses are in their table.
REDUCTIONS = ("NONE", "SUM", "SUM_OVER_BATCH_SIZE")
