"""The parameters, in TF 1.15's order, of the calls that drive an Estimator."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, tensorflow_name

_DENSE = (
    "optimizer", "activation_fn", "dropout", "input_layer_partitioner", "config",
    "warm_start_from", "loss_reduction", "batch_norm",
)  # fmt: skip
_LINEAR = (
    "optimizer", "config", "partitioner", "warm_start_from", "loss_reduction", "sparse_combiner",
)  # fmt: skip
_CLASSES = ("model_dir", "n_classes", "weight_column", "label_vocabulary")
_NUMBERS = ("model_dir", "label_dimension", "weight_column")
_COMBINED = (
    "linear_feature_columns", "linear_optimizer", "dnn_feature_columns", "dnn_optimizer",
    "dnn_hidden_units", "dnn_activation_fn", "dnn_dropout",
)  # fmt: skip
_COMBINED_LAST = (
    "input_layer_partitioner", "config", "warm_start_from", "loss_reduction", "batch_norm",
    "linear_sparse_combiner",
)  # fmt: skip

SIGNATURES: dict[str, tuple[str, ...]] = {
    "DNNClassifier": ("hidden_units", "feature_columns", *_CLASSES, *_DENSE),
    "DNNRegressor": ("hidden_units", "feature_columns", *_NUMBERS, *_DENSE),
    "LinearClassifier": ("feature_columns", *_CLASSES, *_LINEAR),
    "LinearRegressor": ("feature_columns", *_NUMBERS, *_LINEAR),
    "DNNLinearCombinedClassifier": (
        "model_dir", *_COMBINED, *_CLASSES[1:], *_COMBINED_LAST,
    ),
    "DNNLinearCombinedRegressor": (
        "model_dir", *_COMBINED, *_NUMBERS[1:], *_COMBINED_LAST,
    ),
    "DNNEstimator": (
        "head", "hidden_units", "feature_columns", "model_dir", "optimizer", "activation_fn",
        "dropout", "input_layer_partitioner", "config", "warm_start_from", "batch_norm",
    ),
    "LinearEstimator": (
        "head", "feature_columns", "model_dir", "optimizer", "config", "partitioner",
        "sparse_combiner",
    ),
    "DNNLinearCombinedEstimator": (
        "head", "model_dir", *_COMBINED, "input_layer_partitioner", "config",
        "linear_sparse_combiner",
    ),
    "model_to_estimator": (
        "keras_model", "keras_model_path", "custom_objects", "model_dir", "config",
        "checkpoint_format",
    ),
    "Estimator": ("model_fn", "model_dir", "config", "params", "warm_start_from"),
    "RunConfig": (
        "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps",
        "save_checkpoints_secs", "session_config", "keep_checkpoint_max",
        "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute", "device_fn",
        "protocol", "eval_distribute", "experimental_distribute",
        "experimental_max_worker_delay_secs", "session_creation_timeout_secs",
    ),
    "train_and_evaluate": ("estimator", "train_spec", "eval_spec"),
    "TrainSpec": ("input_fn", "max_steps", "hooks"),
    "EvalSpec": (
        "input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs",
    ),
}  # fmt: skip

# Estimators of TensorFlow's own, those that are converted.
CANNED_KINDS = (
    "DNNClassifier", "DNNRegressor", "LinearClassifier", "LinearRegressor",
    "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor",
    "DNNEstimator", "LinearEstimator", "DNNLinearCombinedEstimator",
)  # fmt: skip
ESTIMATORS = ("Estimator", "model_to_estimator", *CANNED_KINDS)

METHODS: dict[str, tuple[str, ...]] = {
    "train": ("input_fn", "hooks", "steps", "max_steps", "saving_listeners"),
    "evaluate": ("input_fn", "steps", "hooks", "checkpoint_path", "name"),
    "predict": (
        "input_fn", "predict_keys", "hooks", "checkpoint_path", "yield_single_examples",
    ),
}  # fmt: skip

_EXPORT = (
    "export_dir_base", "serving_input_receiver_fn", "assets_extra", "as_text", "checkpoint_path",
)  # fmt: skip
EXPORTS: dict[str, tuple[str, ...]] = {
    "export_saved_model": (*_EXPORT, "experimental_mode"),
    "export_savedmodel": (*_EXPORT, "strip_default_attrs"),
}

# What makes an Estimator of one that has more metrics.
ADD_METRICS = ("estimator", "metric_fn")


def adds_metrics(module: Module, call: ast.Call) -> bool:
    """Whether a call is `tf.estimator.add_metrics`, or `tf.contrib.estimator`'s."""
    name = tensorflow_name(module, call.func)
    return name in ("estimator.add_metrics", "contrib.estimator.add_metrics")
