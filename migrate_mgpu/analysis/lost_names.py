"""Where TF2 users find what TF1 had as ``tf.contrib``: another name, a package, or an advice.

``data/contrib.json`` has what can be found by machine; here is what of it is chosen, and what
only people know. Every name that is written is proved against TF 1.15 by
``tests/rewriters/test_contrib_names.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from migrate_mgpu.analysis.symbols import earlier, load

SLIM = "tf_slim"
PROJECTOR = "tensorboard.plugins.projector"
TPU_ESTIMATOR = "tensorflow_estimator.python.estimator.tpu.tpu_estimator"
SUMMARY_OPS = "tensorflow.python.ops.summary_ops_v2"
CROSS_DEVICE_OPS = "tensorflow.python.distribute.cross_device_ops"
LOGGING_OPS = "tensorflow.python.ops.gen_logging_ops"
NEST = "tensorflow.python.util.nest"
DATA_NEST = "tensorflow.python.data.util.nest"  # for which a list is no structure
AUDIO_OPS = "tensorflow.python.ops.gen_audio_ops"
DATA_FLOW_OPS = "tensorflow.python.ops.data_flow_ops"
DEPRECATION = "tensorflow.python.util.deprecation"
# What is installed for them; nothing for what TensorFlow brings along.
PACKAGES = {
    SLIM: "tf-slim==1.1.0",
    PROJECTOR: "tensorboard",
    TPU_ESTIMATOR: "",
    SUMMARY_OPS: "",
    CROSS_DEVICE_OPS: "",
    LOGGING_OPS: "",
    NEST: "",
    DATA_NEST: "",
    AUDIO_OPS: "",
    DATA_FLOW_OPS: "",
    DEPRECATION: "",
}
HPARAM = "hparam"
# Modules that are written beside a program: their files in ``data/``, and the names that they get,
# the second where there is another file of the first.
WRITTEN = {
    HPARAM: ("hparam", "tf1_hparam"),
    "alpha_dropout": ("alpha_dropout", "tf1_alpha_dropout"),
    "attention_cells": ("attention_cells", "tf1_attention_cells"),
    "beam_search_decoding": ("beam_search_decoding", "tf1_beam_search_decoding"),
    "bipartite_match": ("bipartite_match", "tf1_bipartite_match"),
    "crf": ("crf", "tf1_crf"),
    "embed_sequence": ("embed_sequence", "tf1_embed_sequence"),
    "estimator_heads": ("estimator_heads", "tf1_estimator_heads"),
    "evaluation_hooks": ("evaluation_hooks", "tf1_evaluation_hooks"),
    "events_writer": ("events_writer", "tf1_events_writer"),
    "full_batches": ("full_batches", "tf1_full_batches"),
    "fused_rnn": ("fused_rnn", "tf1_fused_rnn"),
    "graph_editor": ("graph_editor", "tf1_graph_editor"),
    "input_data": ("input_data", "mnist_input_data"),
    "image_rotation": ("image_rotation", "tf1_image_rotation"),
    "last_activations": ("last_activations", "tf1_last_activations"),
    "lazy_adam": ("lazy_adam", "tf1_lazy_adam"),
    "learn_experiment": ("learn_experiment", "tf1_learn_experiment"),
    "legacy_seq2seq": ("legacy_seq2seq", "tf1_legacy_seq2seq"),
    "length_buckets": ("length_buckets", "tf1_length_buckets"),
    "lookup_tables": ("lookup_tables", "tf1_lookup_tables"),
    "loss_scale": ("loss_scale", "tf1_loss_scale"),
    "mirrored_strategy": ("mirrored_strategy", "tf1_mirrored_strategy"),
    "moving_average": ("moving_average", "tf1_moving_average"),
    "multivariate_normal": ("multivariate_normal", "tf1_multivariate_normal"),
    "recurrent_cells": ("recurrent_cells", "tf1_recurrent_cells"),
    "rnn_linear": ("rnn_linear", "tf1_rnn_linear"),
    "sample_percentile": ("sample_percentile", "tf1_sample_percentile"),
    "saved_model_predictor": ("saved_model_predictor", "tf1_saved_model_predictor"),
    "sequence_decoding": ("sequence_decoding", "tf1_sequence_decoding"),
    "sequence_loss": ("sequence_loss", "tf1_sequence_loss"),
    "vocabulary_processor": ("vocabulary_processor", "tf1_vocabulary_processor"),
    "weight_decay": ("weight_decay", "tf1_weight_decay"),
}


class NewName(NamedTuple):
    """Where a name is now: ``package`` is ``tensorflow`` (its v1 API), or one of ``PACKAGES``.

    Those of ``WRITTEN`` are modules that are written beside the program. ``path`` are the
    attributes below it; ``literal`` is a value that stands for the name.
    """

    package: str
    path: str = ""
    literal: str | None = None


# tf-slim's names that do what tf.contrib's did, by their path below the package.
_NAMES = """
add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope
assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn
create_global_step get_global_step get_or_create_global_step filter_variables
get_local_variables get_model_variables get_trainable_variables get_unique_variable
get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore
model_variable variable avg_pool2d avg_pool3d batch_norm bias_add conv1d conv2d conv2d_in_plane
conv2d_transpose conv3d conv3d_transpose convolution convolution2d convolution2d_in_plane
convolution2d_transpose convolution3d dropout elu flatten fully_connected instance_norm
layer_norm linear max_pool2d max_pool3d maxout one_hot_encoding optimize_loss pool relu relu6
repeat separable_conv2d separable_convolution2d softmax spatial_softmax stack unit_norm
apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer
variance_scaling_initializer xavier_initializer xavier_initializer_conv2d summarize_activation
summarize_activations summarize_collection summarize_tensor summarize_tensors
losses.absolute_difference losses.add_loss losses.compute_weighted_loss losses.cosine_distance
losses.get_losses losses.get_regularization_losses losses.get_total_loss losses.hinge_loss
losses.log_loss losses.mean_pairwise_squared_error losses.mean_squared_error
losses.sigmoid_cross_entropy losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy
learning.clip_gradient_norms learning.create_train_op learning.multiply_gradients learning.train
training.create_train_op metrics.aggregate_metric_map metrics.aggregate_metrics
metrics.streaming_accuracy metrics.streaming_mean metrics.streaming_mean_absolute_error
metrics.streaming_mean_iou metrics.streaming_mean_squared_error metrics.streaming_precision
metrics.streaming_recall metrics.streaming_recall_at_k initializers.xavier_initializer
initializers.variance_scaling_initializer initializers.xavier_initializer_conv2d
regularizers.l1_regularizer regularizers.l2_regularizer dense_to_sparse
utils.collect_named_outputs utils.convert_collection_to_dict utils.last_dimension
utils.channel_dimension metrics.sparse_recall_at_top_k
model_analyzer.analyze_ops model_analyzer.analyze_vars dataset.Dataset
dataset_data_provider.DatasetDataProvider prefetch_queue.prefetch_queue tfexample_decoder.Image
tfexample_decoder.ItemHandler tfexample_decoder.ItemHandlerCallback
tfexample_decoder.TFExampleDecoder tfexample_decoder.Tensor tfexample_decoder.BoundingBox
queues.QueueRunners parallel_reader.get_data_files evaluation.checkpoints_iterator
evaluation.evaluate_once evaluation.evaluation_loop evaluation.wait_for_new_checkpoint
utils.get_variable_collections group_norm add_model_variable learning.train_step
data_decoder.DataDecoder data_provider.DataProvider parallel_reader.parallel_read
parallel_reader.single_pass_read utils.constant_value utils.n_positive_integers utils.smart_cond
utils.static_cond utils.two_element_tuple summaries.add_histogram_summary
summaries.add_image_summary summaries.add_scalar_summary summaries.add_zero_fraction_summary
metrics.accuracy metrics.f1_score metrics.streaming_auc
metrics.streaming_mean_relative_error metrics.streaming_pearson_correlation
metrics.streaming_percentage_less metrics.streaming_root_mean_squared_error
metrics.streaming_sparse_precision_at_k metrics.streaming_sparse_recall_at_k
metrics.streaming_true_positives metrics.streaming_false_positives
metrics.streaming_true_negatives metrics.streaming_false_negatives
training.add_gradients_summaries training.clip_gradient_norms_fn
losses.metric_learning.contrastive_loss
losses.metric_learning.lifted_struct_loss losses.metric_learning.npairs_loss
losses.metric_learning.npairs_loss_multilabel losses.metric_learning.triplet_semihard_loss
"""
_PROVED = frozenset(_NAMES.split())
# Modules of which every name is proved: they may be handed on.
_MODULES = {
    f"contrib.{room}.initializers": NewName(SLIM, "initializers") for room in ("layers", "slim")
}
# Networks whose code is the same in TF 1.15 and tf-slim, which the tests compare, by their modules.
_NETWORKS = {
    "alexnet": "alexnet_v2 alexnet_v2_arg_scope",
    "inception": "inception_v1 inception_v1_arg_scope inception_v1_base inception_v2 "
    "inception_v2_arg_scope inception_v2_base inception_v3_arg_scope inception_v3_base",
    "inception_v1": "inception_v1 inception_v1_arg_scope inception_v1_base",
    "inception_v2": "inception_v2 inception_v2_arg_scope inception_v2_base",
    "inception_v3": "inception_v3_arg_scope inception_v3_base",
    "overfeat": "overfeat overfeat_arg_scope",
    "resnet_utils": "Block conv2d_same resnet_arg_scope stack_blocks_dense subsample",
    "resnet_v1": "bottleneck resnet_arg_scope resnet_v1 resnet_v1_101 resnet_v1_152 resnet_v1_200 "
    "resnet_v1_50 resnet_v1_block",
    "resnet_v2": "bottleneck resnet_arg_scope resnet_v2 resnet_v2_101 resnet_v2_152 resnet_v2_200 "
    "resnet_v2_50 resnet_v2_block",
    "vgg": "vgg_16 vgg_19 vgg_a vgg_arg_scope vgg_d vgg_e",
}
NETWORKS = frozenset(
    f"nets.{module}.{name}" for module, names in _NETWORKS.items() for name in names.split()
)

# Networks that have one parameter more in tf-slim, behind those that a call may give by position.
LONGER = {f"nets.{module}.inception_v3": 8 for module in ("inception", "inception_v3")}

# Where modules that are attributes of tf_slim lie as files.
_FILES = {
    **dict.fromkeys(("initializers", "layers", "regularizers", "utils"), "tf_slim.layers"),
    **dict.fromkeys(
        (
            "data_decoder", "data_provider", "dataset", "dataset_data_provider", "prefetch_queue",
            "tfexample_decoder",
        ),
        "tf_slim.data",
    ),
    "parallel_reader": "tf_slim.data",
    "losses.metric_learning": "tf_slim",
    **dict.fromkeys(
        (
            "evaluation", "learning", "losses", "metrics", "model_analyzer", "nets", "queues",
            "summaries",
        ),
        "tf_slim",
    ),
    **dict.fromkeys([f"nets.{module}" for module in _NETWORKS], "tf_slim"),
}  # fmt: skip

# tf-slim 1.1.0 reads names from TensorFlow's private modules that TF 2.15 and newer keep
# elsewhere: what they are, by the functions that need them. `{slim}` is its package, `{tf}`
# TensorFlow with v1's names.
_TENSOR = "{slim}.layers.ops.Tensor = {tf}.Tensor"
_INDEXED = "{slim}.layers.ops.IndexedSlices = {tf}.IndexedSlices"
_NORM = "{slim}.layers.normalization_layers.BatchNormalization = {tf}.layers.BatchNormalization"
_COND = "{slim}.tfexample_decoder.control_flow_ops.cond = {tf}.cond"
_CASE = "{slim}.tfexample_decoder.control_flow_ops.case = {tf}.case"
_CHOICE = "{slim}.utils.control_flow_ops.cond = {tf}.cond"
_STACK = "{slim}.tfexample_decoder.array_ops.stack = {tf}.stack"
MENDS = {
    "batch_norm": (_TENSOR, _NORM),
    "optimize_loss": (_TENSOR, _INDEXED),
    "learning.clip_gradient_norms": (_INDEXED,),
    "learning.create_train_op": (_INDEXED,),
    "learning.multiply_gradients": (_TENSOR, _INDEXED),
    "training.create_train_op": (_INDEXED,),
    "training.add_gradients_summaries": (_INDEXED,),
    "training.clip_gradient_norms_fn": (_INDEXED,),
    "utils.constant_value": (_TENSOR,),
    "utils.smart_cond": (_TENSOR, _CHOICE),
    "utils.static_cond": (_TENSOR, _CHOICE),
    "tfexample_decoder.Image": (_COND, _CASE, _STACK),
    **{
        name: (_TENSOR, _NORM)
        for name in (*NETWORKS, *LONGER)
        if "resnet" in name or "inception" in name
    },
}

# What a function needs only where its caller says something by a name, which its file then has.
MENDS_IF = {
    "batch_norm": {"updates_collections": (_CHOICE,)},
    "learning.create_train_op": {"gradient_multipliers": (_TENSOR,)},
    "tfexample_decoder.Tensor": {"shape_keys": (_STACK,)},
}

# Equal by their values, not the same objects (TF 1.15's tf.nest is the module's own).
_EQUAL = {
    "contrib.compiler.jit.experimental_jit_scope": "xla.experimental.jit_scope",
    "contrib.compiler.xla.compile": "xla.experimental.compile",
    "contrib.estimator.add_metrics": "estimator.add_metrics",
    "contrib.framework.create_global_step": "train.create_global_step",
    "contrib.framework.get_global_step": "train.get_global_step",
    "contrib.framework.get_or_create_global_step": "train.get_or_create_global_step",
    "contrib.framework.list_variables": "train.list_variables",
    "contrib.framework.load_checkpoint": "train.load_checkpoint",
    "contrib.framework.load_variable": "train.load_variable",
    "contrib.autograph.to_graph": "autograph.to_graph",  # with more parameters
    "contrib.framework.nest.assert_same_structure": "nest.assert_same_structure",
    "contrib.framework.nest.flatten": "nest.flatten",
    "contrib.framework.nest.is_sequence": "nest.is_nested",
    "contrib.framework.nest.map_structure": "nest.map_structure",
    "contrib.framework.nest.pack_sequence_as": "nest.pack_sequence_as",
    "contrib.slim.init_ops.zeros_initializer": "zeros_initializer",
    "contrib.distribute.has_distribution_strategy": "distribute.has_strategy",
    "contrib.distribute.OneDeviceStrategy": "distribute.OneDeviceStrategy",
    "contrib.summary.all_summary_ops": "summary.all_v2_summary_ops",
    "contrib.training.checkpoints_iterator": "train.checkpoints_iterator",
    "contrib.rnn.LSTMBlockCell": "nn.rnn_cell.LSTMCell",
    "array_ops.transpose": "transpose",
    "python.framework.graph_util.convert_variables_to_constants": (
        "graph_util.convert_variables_to_constants"
    ),
    "python.framework.ops.IndexedSlices": "IndexedSlices",
    "python.framework.ops.Tensor": "Tensor",
    "python.framework.ops.register_tensor_conversion_function": (
        "register_tensor_conversion_function"
    ),
    "python.layers.base._Layer": "layers.Layer",
    "python.layers.layers.BatchNormalization": "layers.BatchNormalization",
    "python.layers.layers.batch_normalization": "layers.batch_normalization",
    "python.layers.normalization.BatchNormalization": "layers.BatchNormalization",
    "python.layers.normalization.batch_normalization": "layers.batch_normalization",
    "python.keras.utils.to_categorical": "keras.utils.to_categorical",
    "python.ops.array_ops.stack": "stack",
    "python.ops.array_ops.unstack": "unstack",
    "python.ops.control_flow_ops.Assert": "Assert",
    "python.ops.control_flow_ops.case": "case",
    "python.ops.control_flow_ops.cond": "cond",
    "python.ops.control_flow_ops.while_loop": "while_loop",
    "python.ops.random_ops.random_crop": "random_crop",
    "python.ops.rnn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "python.ops.rnn.rnn": "nn.static_rnn",
    "python.ops.variable_scope.variable": "Variable",
    "python.ops.variables.is_variable_initialized": "is_variable_initialized",
    "python.pywrap_tensorflow.NewCheckpointReader": "train.NewCheckpointReader",
    "python.training.checkpoint_management.get_checkpoint_state": "train.get_checkpoint_state",
    "python.training.checkpoint_management.latest_checkpoint": "train.latest_checkpoint",
    "python.util.nest.is_sequence": "nest.is_nested",
    "contrib.keras.utils.get_file": "keras.utils.get_file",
    **{
        f"{room}.datasets.{name}": f"keras.datasets.{name}"
        for room in ("contrib.keras", "python.keras")
        for name in (
            "boston_housing.load_data", "cifar10.load_data", "cifar100.load_data",
            "imdb.get_word_index", "imdb.load_data", "mnist.load_data", "reuters.get_word_index",
            "reuters.load_data",
        )
    },
    **{
        f"contrib.data.{name}": f"data.experimental.{name}"
        for name in (
            "AUTOTUNE", "Counter", "bucket_by_sequence_length", "choose_from_datasets",
            "dense_to_sparse_batch", "enumerate_dataset", "get_single_element", "group_by_window",
            "ignore_errors", "make_batched_features_dataset", "make_csv_dataset", "map_and_batch",
            "parallel_interleave", "parse_example_dataset", "prefetch_to_device",
            "rejection_resample", "sample_from_datasets", "scan", "shuffle_and_repeat", "unbatch",
            "unique",
        )
    },
}  # fmt: skip
_LITERALS = {
    "contrib.learn.ModeKeys.TRAIN": "train",
    "contrib.learn.ModeKeys.EVAL": "eval",
    "contrib.learn.ModeKeys.INFER": "infer",
}
_SEQ2SEQ = {
    "attention_cells": (
        "AttentionMechanism AttentionWrapper AttentionWrapperState BahdanauAttention "
        "BahdanauMonotonicAttention LuongAttention LuongMonotonicAttention hardmax "
        "monotonic_attention safe_cumprod"
    ),
    "beam_search_decoding": (
        "BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState "
        "FinalBeamSearchDecoderOutput gather_tree tile_batch"
    ),
    "sequence_decoding": (
        "BasicDecoder BasicDecoderOutput CustomHelper Decoder GreedyEmbeddingHelper Helper "
        "InferenceHelper SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper "
        "ScheduledOutputTrainingHelper TrainingHelper dynamic_decode"
    ),
    "sequence_loss": "sequence_loss",
}
# Names that modules of ``WRITTEN`` need of a TensorFlow that has them.
READS = {
    "estimator_heads": "estimator.Estimator",
    "learn_experiment": "estimator.Estimator",
    "attention_cells": "nn.rnn_cell.RNNCell",
    "legacy_seq2seq": "nn.rnn_cell.RNNCell",
    "recurrent_cells": "nn.rnn_cell.RNNCell",
}
# What the modules of ``WRITTEN`` have.
_WRITTEN = {
    **{
        f"contrib.seq2seq.{name}": NewName(module, name)
        for module, names in _SEQ2SEQ.items()
        for name in names.split()
    },
    # Of private modules: the public ones have it by another name.
    "contrib.seq2seq._BaseMonotonicAttentionMechanism": NewName(
        "attention_cells", "BaseMonotonicAttentionMechanism"
    ),
    "contrib.seq2seq._monotonic_probability_fn": NewName(
        "attention_cells", "monotonic_probability"
    ),
    "contrib.seq2seq._BaseAttentionMechanism": NewName("attention_cells", "BaseAttentionMechanism"),
    "contrib.seq2seq._bahdanau_score": NewName("attention_cells", "bahdanau_score"),
    "contrib.seq2seq._maybe_mask_score": NewName("attention_cells", "mask_score"),
    "contrib.seq2seq._prepare_memory": NewName("attention_cells", "prepare_memory"),
    "contrib.seq2seq._transpose_batch_time": NewName("sequence_decoding", "transpose_batch_time"),
    **{
        f"contrib.learn.preprocessing.{name}": NewName("vocabulary_processor", last)
        for name, last in (
            ("VocabularyProcessor", "VocabularyProcessor"),
            ("CategoricalVocabulary", "CategoricalVocabulary"),
            ("tokenizer", "tokenizer"),
        )
    },
    **{
        f"contrib.crf.{name}": NewName("crf", name)
        for name in (
            "crf_binary_score",
            "crf_decode",
            "crf_log_likelihood",
            "crf_log_norm",
            "crf_sequence_score",
            "crf_unary_score",
            "viterbi_decode",
        )
    },
    **{
        f"contrib.rnn.{name}": NewName("fused_rnn", name)
        for name in (
            "FusedRNNCell",
            "FusedRNNCellAdaptor",
            "LSTMBlockFusedCell",
            "TimeReversedFusedRNN",
        )
    },
    **{
        f"contrib.graph_editor.{name}": NewName("graph_editor", name)
        for name in (
            "SubGraphView",
            "add_control_inputs",
            "copy_with_input_replacements",
            "filter_ops",
            "filter_ops_from_regex",
            "filter_ts",
            "filter_ts_from_regex",
            "get_backward_walk_ops",
            "get_forward_walk_ops",
            "make_view",
            "remove_control_inputs",
            "reroute_inputs",
            "reroute_outputs",
            "reroute_ts",
            "select_ops",
            "sgv",
            "swap_inputs",
            "swap_outputs",
            "swap_ts",
        )
    },
    **{
        f"contrib.rnn.{name}": NewName("recurrent_cells", name)
        for name in (
            "Conv1DLSTMCell",
            "Conv2DLSTMCell",
            "Conv3DLSTMCell",
            "ConvLSTMCell",
            "EmbeddingWrapper",
            "GRUBlockCell",
            "GRUBlockCellV2",
            "InputProjectionWrapper",
            "LayerNormBasicLSTMCell",
            "NASCell",
            "OutputProjectionWrapper",
            "PhasedLSTMCell",
            "UGRNNCell",
            "stack_bidirectional_dynamic_rnn",
        )
    },
    "contrib.cudnn_rnn.CudnnCompatibleLSTMCell": NewName(
        "recurrent_cells", "CudnnCompatibleLSTMCell"
    ),
    # Of private modules: before 1.0, of 1.0, and later.
    "nn.rnn_cell._linear": NewName("rnn_linear", "linear_0_12"),
    "python.ops.rnn_cell._linear": NewName("rnn_linear", "linear_0_12"),
    "contrib.rnn.python.ops.core_rnn_cell_impl._linear": NewName("rnn_linear", "linear_1_0"),
    **{
        f"{module}.{old}": NewName("rnn_linear", new)
        for module in ("python.ops.rnn_cell_impl", "contrib.rnn.python.ops.core_rnn_cell")
        for old, new in (("_linear", "linear"), ("_Linear", "Linear"))
    },
    "python.ops.rnn_cell_impl._like_rnncell": NewName("rnn_linear", "like_rnncell"),
    **{
        f"contrib.legacy_seq2seq.{name}": NewName("legacy_seq2seq", name)
        for name in (
            "attention_decoder",
            "basic_rnn_seq2seq",
            "embedding_attention_decoder",
            "embedding_attention_seq2seq",
            "embedding_rnn_decoder",
            "embedding_rnn_seq2seq",
            "model_with_buckets",
            "rnn_decoder",
            "sequence_loss",
            "sequence_loss_by_example",
            "tied_rnn_seq2seq",
        )
    },
    **{
        f"contrib.training.{name}": NewName("length_buckets", name)
        for name in ("bucket", "bucket_by_sequence_length")
    },
    **{
        f"contrib.estimator.{name}": NewName("estimator_heads", name)
        for name in ("binary_classification_head", "multi_class_head", "regression_head")
    },
    "contrib.learn.Experiment": NewName("learn_experiment", "Experiment"),
    "contrib.learn.RunConfig": NewName("learn_experiment", "RunConfig"),
    "contrib.learn.learn_runner.run": NewName("learn_experiment", "run"),
    "contrib.learn.datasets.load_dataset": NewName("input_data", "load_dataset"),
    "contrib.learn.python.learn.estimators.rnn_common.select_last_activations": NewName(
        "last_activations", "select_last_activations"
    ),
    "contrib.image.rotate": NewName("image_rotation", "rotate"),
    "contrib.image.transform": NewName("image_rotation", "transform"),
    "contrib.layers.embed_sequence": NewName("embed_sequence", "embed_sequence"),
    "contrib.nn.alpha_dropout": NewName("alpha_dropout", "alpha_dropout"),
    "contrib.opt.MovingAverageOptimizer": NewName("moving_average", "MovingAverageOptimizer"),
    **{
        f"contrib.lookup.{name}": NewName("lookup_tables", name)
        for name in (
            "HashTable",
            "index_table_from_file",
            "index_table_from_tensor",
            "index_to_string_table_from_file",
            "index_to_string_table_from_tensor",
        )
    },
    **{
        f"contrib.data.{name}": NewName("full_batches", name)
        for name in ("batch_and_drop_remainder", "padded_batch_and_drop_remainder")
    },
    "contrib.distribute.MirroredStrategy": NewName("mirrored_strategy", "MirroredStrategy"),
    "contrib.distributions.MultivariateNormalDiag": NewName(
        "multivariate_normal", "MultivariateNormalDiag"
    ),
    "contrib.distributions.percentile": NewName("sample_percentile", "percentile"),
    "contrib.rnn.transpose_batch_time": NewName("sequence_decoding", "transpose_batch_time"),
    "contrib.image.bipartite_match": NewName("bipartite_match", "bipartite_match"),
    **{
        f"contrib.mixed_precision.{name}": NewName("loss_scale", name)
        for name in (
            "ExponentialUpdateLossScaleManager",
            "FixedLossScaleManager",
            "LossScaleManager",
            "LossScaleOptimizer",
        )
    },
    "contrib.opt.LazyAdamOptimizer": NewName("lazy_adam", "LazyAdamOptimizer"),
    **{
        f"contrib.opt.{name}": NewName("weight_decay", name)
        for name in (
            "AdamWOptimizer",
            "DecoupledWeightDecayExtension",
            "MomentumWOptimizer",
            "extend_with_decoupled_weight_decay",
        )
    },
    "contrib.predictor.from_saved_model": NewName("saved_model_predictor", "from_saved_model"),
    "contrib.training.HParams": NewName(HPARAM, "HParams"),
    "contrib.training.SummaryAtEndHook": NewName("evaluation_hooks", "SummaryAtEndHook"),
    "contrib.training.parse_values": NewName(HPARAM, "parse_values"),
    "python.pywrap_tensorflow.EventsWriter": NewName("events_writer", "EventsWriter"),
}

_PROJECTOR = {
    f"contrib.{PROJECTOR}.{name}": NewName(PROJECTOR, name)
    for name in ("EmbeddingInfo", "ProjectorConfig", "visualize_embeddings")
}

# Of a private module of contrib, which has the same objects from the package of Estimators.
_TPU_ESTIMATOR = {
    f"contrib.tpu.{name}": NewName(TPU_ESTIMATOR, name)
    for name in (
        "BatchConfig", "ExportSavedModelApiVersion", "inference_on_tpu", "model_fn_inference_on_tpu"
    )
}  # fmt: skip

# Which tf.contrib had by other names from a private module that TF2 has as well.
_SUMMARIES = {
    f"contrib.summary.{name}": NewName(SUMMARY_OPS, name)
    for name in (
        "always_record_summaries", "create_file_writer", "histogram", "image",
        "never_record_summaries", "record_summaries_every_n_global_steps", "scalar",
        "should_record_summaries", "summary_writer_initializer_op",
    )
}  # fmt: skip

# Of private modules that all three have: what is in no public one of TF2, what contrib showed of
# them, and what had an underscore in
# front before 1.5.
_PRIVATE_OPS = {
    "contrib.staging.StagingArea": NewName(DATA_FLOW_OPS, "StagingArea"),
    # How often a module is warned, 0 for never; TF2 warns once or never.
    "python.util.deprecation._PER_MODULE_WARNING_LIMIT": NewName(
        DEPRECATION, "_PRINT_DEPRECATION_WARNINGS"
    ),
    **{
        f"contrib.framework.nest.{name}": NewName(NEST, name)
        for name in (
            "assert_shallow_structure",
            "flatten_dict_items",
            "flatten_up_to",
            "map_structure_up_to",
            "map_structure_with_paths",
        )
    },
    **{
        f"contrib.data.python.util.nest.{name}": NewName(DATA_NEST, name)
        for name in ("assert_same_structure", "flatten", "map_structure", "pack_sequence_as")
    },
    **{
        f"contrib.framework.audio_ops.{name}": NewName(AUDIO_OPS, name)
        for name in ("audio_spectrogram", "decode_wav", "encode_wav", "mfcc")
    },
    "contrib.data.python.util.nest.is_sequence": NewName(DATA_NEST, "is_nested"),
    "contrib.distribute.AllReduceCrossDeviceOps": NewName(
        CROSS_DEVICE_OPS, "AllReduceCrossDeviceOps"
    ),
    **{
        f"python.ops.gen_logging_ops._{name}": NewName(LOGGING_OPS, name)
        for name in ("histogram_summary", "image_summary", "merge_summary", "scalar_summary")
    },
}

# Private paths to public names, of which ``modules`` of the table does not know: parts of modules,
# and those of releases before 1.15.
_PRIVATE = (
    *(
        (f"contrib.distributions.python.ops.{module}.", "contrib.distributions.")
        for module in ("bernoulli", "categorical", "normal", "uniform")
    ),
    ("contrib.rnn.core_rnn_cell.", "contrib.rnn."),
    ("python.keras.preprocessing.", "contrib.keras.preprocessing."),
    ("contrib.learn.python.learn.learn_runner.", "contrib.learn.learn_runner."),
    ("contrib.learn.python.learn.estimators.run_config.", "contrib.learn."),
    ("contrib.learn.python.learn.experiment.", "contrib.learn."),
    ("contrib.rnn.rnn_cell.", "contrib.rnn."),
    *(
        (f"contrib.rnn.python.ops.{module}.", "contrib.rnn.")
        for module in ("core_rnn", "core_rnn_cell_impl")
    ),
    *(
        (f"contrib.graph_editor.{module}.", "contrib.graph_editor.")
        for module in ("reroute", "select", "subgraph", "transform")
    ),
    ("contrib.layers.summaries.", "contrib.layers."),
    ("contrib.tpu.python.tpu.bfloat16.", "contrib.tpu."),
    ("contrib.slim.python.slim.data.", "contrib.slim."),
    ("contrib.slim.python.slim.nets.", "contrib.slim.nets."),
    ("contrib.slim.python.slim.", "contrib.slim."),
    ("contrib.layers.python.layers.", "contrib.layers."),
    ("contrib.slim.layers.", "contrib.slim."),
    ("contrib.framework.python.ops.", "contrib.framework."),
    ("contrib.framework.variables.", "contrib.framework."),
    ("contrib.seq2seq.python.ops.beam_search_ops.", "contrib.seq2seq."),
    ("contrib.signal.python.ops.window_ops.", "contrib.signal."),
    ("contrib.tpu.python.tpu.tpu_config.", "contrib.tpu."),
    ("contrib.tpu.python.tpu.tpu_estimator.", "contrib.tpu."),
    ("contrib.tpu.python.tpu.tpu_optimizer.", "contrib.tpu."),
)  # fmt: skip
# Modules of contrib.layers that contrib.slim has as well.
_SHARED = ("initializers.", "layers.", "regularizers.", "utils.")
# Of those, private ones that tf-slim has too: code that names one goes on to.
_KEPT = (".layers.initializers", ".layers.regularizers", ".layers.utils")


class Calls(NamedTuple):
    """Which calls of a name its new form takes as they are; another mention of it stays.

    So many arguments by position, those keywords alone (or all) and not these, and of the object
    nothing but those attributes. ``literal`` is the one text that it may be given.
    """

    positional: int
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    required: int = 0
    attributes: tuple[str, ...] = ()
    literal: str = ""


_LINEAR = Calls(3, only=("bias", "bias_initializer", "kernel_initializer"))
_TABLE = Calls(2, without=("hasher_spec", "shared_name"))
_MASKED = Calls(3, without=("memory_mask",))
CALLS = {
    # Its second argument is another cell's.
    "contrib.rnn.LSTMBlockCell": Calls(1, only=("num_units", "forget_bias", "reuse", "name")),
    **{name: _TABLE for name, new in _WRITTEN.items() if new.package == "lookup_tables"},
    **{name: _LINEAR for name, new in _WRITTEN.items() if new.path == "linear"},
    # The third argument of TF 1.13 and before is the fourth in 1.15.
    "contrib.seq2seq._maybe_mask_score": _MASKED,
    "contrib.seq2seq._prepare_memory": _MASKED,
    **{f"contrib.slim.{name}": Calls(number) for name, number in LONGER.items()},
    # Exports of checkpoints are not written.
    "contrib.learn.Experiment": Calls(
        13, without=("export_strategies", "train_steps_per_iteration", "checkpoint_and_export")
    ),
    # Others are the package's own files.
    "contrib.learn.datasets.load_dataset": Calls(1, only=("name",), literal="mnist"),
    # Copies into another graph or scope, and walks along control outputs, are not written.
    "contrib.graph_editor.copy_with_input_replacements": Calls(2, only=("sgv", "replacement_ts")),
    "contrib.graph_editor.get_forward_walk_ops": Calls(5, without=("control_outputs",)),
    "contrib.distribute.MirroredStrategy": Calls(4, without=("auto_shard_dataset",)),
    "contrib.distribute.AllReduceCrossDeviceOps": Calls(2, only=("all_reduce_alg", "num_packs")),
    "contrib.distributions.MultivariateNormalDiag": Calls(
        2,
        only=("loc", "scale_diag", "name"),
        required=2,
        attributes=("entropy", "loc", "log_prob", "mean", "prob", "stddev", "variance"),
    ),
}

# What to do about what has no equal form: by the beginning of the name, the longest first.
_ADVICE = {
    "contrib.slim.nets": "tf_slim.nets has most networks; this one is another there",
    "contrib.slim": "tf-slim 1.1.0 has most of contrib.slim; whether it does the same by this "
    "name is not proved: compare before you take it",
    "contrib.layers.feature_column": "use tf.feature_column, whose columns are others",
    "contrib.layers": "tf-slim 1.1.0 has most of contrib.layers; whether it does the same by "
    "this name is not proved: compare before you take it",
    "contrib.framework": "tf-slim and tf.train have most of contrib.framework; whether one of "
    "them does the same by this name is not proved",
    "contrib.losses": "use tf.losses, whose weights and reductions are others, or tf_slim.losses",
    "contrib.metrics": "use tf.metrics, whose arguments stand in another order, or tf_slim.metrics",
    "contrib.rnn.LSTMBlock": "use tf.nn.rnn_cell.LSTMCell: its variables are others, so "
    "checkpoints do not fit",
    "contrib.rnn.stack_bidirectional": "chain tf.nn.bidirectional_dynamic_rnn, a layer each",
    "contrib.rnn": "copy the class from TF 1.15, tensorflow/contrib/rnn; TF2 has only the cells "
    "of tf.nn.rnn_cell",
    "contrib.cudnn_rnn": "TF2 has no layer with cuDNN's single buffer of weights: use "
    "tf.keras.layers.LSTM, and convert checkpoints",
    "contrib.seq2seq": "copy it from TF 1.15, tensorflow/contrib/seq2seq; the names of its "
    "decoders, helpers and attention have forms",
    "contrib.legacy_seq2seq": "copy the function from TF 1.15, tensorflow/contrib/legacy_seq2seq: "
    "it needs nothing else of contrib",
    "contrib.crf": "tensorflow-addons 0.23 has it for TF 2.15 (tfa.text); nothing for newer "
    "releases",
    "contrib.image": "tensorflow-addons 0.23 has it for TF 2.15 (tfa.image); nothing for newer "
    "releases",
    "contrib.opt.ScipyOptimizerInterface": "call scipy.optimize.minimize with a function that runs "
    "the loss and its gradients",
    "contrib.opt": "copy the optimizer from TF 1.15, tensorflow/contrib/opt: it derives from "
    "tf.train.Optimizer, which compat.v1 has",
    "contrib.training.HParams": "what is done with it here has no exact equivalent: call it with "
    "keywords, in a module that is imported by one name",
    "contrib.training": "copy it from TF 1.15, tensorflow/contrib/training",
    "contrib.tensorboard": "`from tensorboard.plugins import projector` has it (pip install "
    "tensorboard)",
    "contrib.tensorrt": "use tensorflow.python.compiler.tensorrt.trt_convert, on saved models",
    "contrib.tfprof": "use tf.profiler, or count tf.trainable_variables()",
    "contrib.learn.datasets": "load the data another way: tf.keras.datasets, or the files",
    "contrib.learn.preprocessing.ByteProcessor": "use numpy.frombuffer on the encoded text",
    "contrib.learn.preprocessing": "use tf.keras.layers.TextVectorization, whose numbers of words "
    "are others",
    "contrib.learn": "write it as a tf.estimator.Estimator first, which runs on TF 1.15",
    "contrib.estimator": "tf.estimator of TF 2.15 has most of it by other names and with other "
    "arguments",
    "contrib.tpu": "TF2 trains on TPUs by tf.distribute.TPUStrategy: rewrite the training",
    "contrib.distribute": "use tf.distribute, whose strategies take devices instead of a number",
    "contrib.distributions": "use tensorflow-probability: tfp.distributions",
    "contrib.data": "use tf.data and tf.data.experimental",
    "contrib.lookup": "use tf.lookup.StaticHashTable or StaticVocabularyTable, by keywords and "
    "without `hasher_spec` and `shared_name`",
    "contrib.staging": "use a Dataset's prefetch in the place of the staging area",
    "contrib.summary": "use tf.summary of TF2, in eager code",
    "contrib.eager": "write it for TF2's eager execution; there is no bridge for eager code",
    "contrib.keras": "use tf.keras",
    "contrib.mixed_precision": "tf.mixed_precision scales the loss in Keras; in a graph use "
    "tf.train.experimental.enable_mixed_precision_graph_rewrite",
    "contrib.quantize": "use tensorflow-model-optimization",
    "contrib.tensor_forest": "use tensorflow-decision-forests, which trains other trees",
    "contrib.boosted_trees": "use tensorflow-decision-forests, which trains other trees",
    "contrib.factorization": "use scikit-learn's KMeans and GaussianMixture, or write the steps",
    "contrib.predictor": "use tf.saved_model.load, and call its signatures",
    "contrib.nccl": "use tf.distribute, which reduces over GPUs by NCCL",
    "contrib.graph_editor": "copy it from TF 1.15, tensorflow/contrib/graph_editor",
    "python.framework.tensor_shape": "use tf.TensorShape([]), tf.TensorShape([None]), ...",
    "python.framework.ops.RegisterShape": "shape functions are registered in C++ since TF 1.0: "
    "leave it out",
    "python.keras": "use tf.keras",
    "python": "it is a private module of TensorFlow's: use the public name",
    "contrib.ffmpeg": "use tensorflow-io, or decode the sound before",
    "contrib.bayesflow": "use tensorflow-probability",
    "contrib": "TF 2 has no tf.contrib: its parts went to packages of their own or away",
    "examples.tutorials.mnist": "load the images by tf.keras.datasets.mnist, or from files",
    "examples": "TF2 ships no tensorflow.examples: copy what is used",
}


@cache
def _table() -> dict[str, dict[str, str]]:
    found: Any = load("contrib.json")
    return dict(found)


@cache
def canonical(name: str) -> str:
    """A name by its public path, save a private one that is known by itself."""
    if name in _WRITTEN or name.rpartition(".")[0] in _WRITTEN:
        return name
    module, _, last = name.rpartition(".")
    room = _table()["modules"].get(module)
    if room is not None and not module.endswith(_KEPT):
        name = f"{room}.{last}"
    for private, public in _PRIVATE:
        if name.startswith(private):
            name = public + name[len(private) :]
            break
    if name.startswith(("contrib.layers.", "contrib.framework.")):
        room, rest = name.split(".", 2)[1:]
        if rest.startswith(_SHARED):
            return f"contrib.slim.{rest}"
        return f"contrib.{room}.{rest}"
    return name


@cache
def find(name: str) -> NewName | None:
    """Where a name of TF1's (``contrib.slim.conv2d``) is now; None where nothing is proved.

    What follows a known name is a part of it: ``contrib.rnn.GRUCell.call``.
    """
    path, rest = canonical(name), ""
    while "." in path:
        found = _known(path)
        if found is not None:
            return found._replace(path=found.path + rest)
        path, _, last = path.rpartition(".")
        rest = f".{last}{rest}"
    return None


def _known(name: str) -> NewName | None:
    if name in _LITERALS:
        return NewName("", literal=_LITERALS[name])
    made = _WRITTEN.get(name) or _PROJECTOR.get(name) or _MODULES.get(name)
    made = made or _TPU_ESTIMATOR.get(name) or _SUMMARIES.get(name)
    made = made or _PRIVATE_OPS.get(name)
    if made is not None:
        return made
    table = _table()
    same = table["names"].get(name) or _EQUAL.get(name)
    if same is not None:
        return NewName("tensorflow", same)
    network = name.removeprefix("contrib.slim.")
    if network in NETWORKS or network in LONGER:
        return NewName(SLIM, network)
    path = table["tf_slim"].get(name, "").removeprefix(f"{SLIM}.")
    return NewName(SLIM, path) if path in _PROVED else None


def is_room(name: str) -> bool:
    """Whether a name is that of a module of ``tf.contrib``: of its own, or with proved names."""
    return name.count(".") == 1 or any(known.startswith(f"{name}.") for known in _EQUAL)


def module_file(path: str) -> str | None:
    """Where a module of tf-slim lies that is its attribute: ``utils`` in ``tf_slim.layers``."""
    return _FILES.get(path)


def advice_about(name: str) -> str:
    """What its owner can do about a name that has no proved form in TF2."""
    later = earlier().now(name)
    if later is not None:
        return f"later TensorFlow calls it tf.{later}"
    name = canonical(name)
    fitting = [start for start in _ADVICE if name == start or name.startswith(start)]
    if fitting:
        return _ADVICE[max(fitting, key=len)]
    return "replace it first: no TF2 release has this name"
