"""Functions of TF1's that only compute: a call gives tensors for tensors, and does nothing else.

What is not here is not known to be such a function, and keeps a session's program as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from migrate_mgpu.api import distributions, random_fields, searches
from migrate_mgpu.api.schema import Definition

_ROOT = """
abs acos acosh add add_n argmax argmin arg_max arg_min argsort asin asinh atan atan2 atanh
boolean_mask broadcast_to cast ceil clip_by_average_norm clip_by_global_norm clip_by_norm
clip_by_value concat constant cos cosh cross cumprod cumsum div divide einsum equal erf erfc exp
expand_dims expm1 eye fill floor floordiv floormod gather gather_nd global_norm greater
greater_equal identity is_finite is_inf is_nan less less_equal linspace log log1p log_sigmoid
logical_and logical_not logical_or logical_xor matmul matrix_band_part matrix_diag matrix_diag_part
maximum meshgrid minimum multiply negative norm not_equal one_hot ones ones_like pad pow range rank
realdiv reciprocal reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min
reduce_prod reduce_sum reshape reverse rint round rsqrt scalar_mul shape sigmoid sign sin sinh size
slice sort split sqrt square squared_difference squeeze stack stop_gradient strided_slice subtract
tan tanh tensordot tile to_double to_float to_int32 to_int64 trace transpose truediv truncatediv
truncatemod unstack where zeros zeros_like count_nonzero gradients convert_to_tensor ensure_shape
reverse_sequence roll scatter_nd sequence_mask searchsorted unique dynamic_partition dynamic_stitch
space_to_depth depth_to_space confusion_matrix bitcast complex conj real imag angle fft ifft fft2d
digamma lgamma matrix_inverse matrix_determinant matrix_set_diag matrix_solve matrix_transpose
cholesky qr diag diag_part self_adjoint_eig svd segment_sum segment_mean segment_max segment_min
segment_prod unsorted_segment_sum unsorted_segment_max unsorted_segment_mean invert_permutation
accumulate_n div_no_nan saturate_cast matrix_triangular_solve unravel_index histogram_fixed_width
py_func Print check_numerics verify_tensor_all_finite multinomial random.categorical random_shuffle
random_gamma sparse_to_dense edit_distance sparse_tensor_to_dense sparse_retain SparseTensor
sparse_tensor_dense_matmul
"""
_MATH = """
reduce_std reduce_variance polyval xdivy xlogy
"""
_NN = """
avg_pool batch_normalization bias_add conv2d crelu dropout elu embedding_lookup in_top_k l2_loss
l2_normalize leaky_relu log_softmax local_response_normalization max_pool moments relu relu6 selu
max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool3d
softmax softplus softsign top_k xw_plus_b relu_layer zero_fraction atrous_conv2d conv1d conv3d
conv2d_transpose depthwise_conv2d separable_conv2d swish embedding_lookup_sparse ctc_loss
ctc_greedy_decoder
"""
_LINALG = """
logdet slogdet
"""
_IMAGE = """
adjust_brightness adjust_contrast central_crop convert_image_dtype crop_to_bounding_box
flip_left_right flip_up_down grayscale_to_rgb hsv_to_rgb pad_to_bounding_box
per_image_standardization resize_bilinear resize_with_crop_or_pad resize_nearest_neighbor
rgb_to_grayscale rgb_to_hsv rot90 total_variation decode_png decode_jpeg decode_bmp
"""
_RECORDS = """
decode_raw parse_single_example parse_example decode_csv read_file FixedLenFeature VarLenFeature
FixedLenSequenceFeature
"""
COMPUTES = frozenset(
    [
        *_ROOT.split(),
        *_RECORDS.split(),
        *(f"math.{name}" for name in _MATH.split()),
        *(f"nn.{name}" for name in _NN.split()),
        *(f"linalg.{name}" for name in _LINALG.split()),
        *(f"image.{name}" for name in _IMAGE.split()),
        "contrib.layers.softmax",
        "contrib.layers.one_hot_encoding",
    ]
)
# Those whose value is drawn anew at each step.
DRAWS = frozenset(
    ["random_normal", "random_uniform", "truncated_normal", "nn.dropout", "multinomial",
     "random.categorical", "random_shuffle", "random_gamma"]
)  # fmt: skip
# Those that change one image at random, with how many arguments there are before the seed.
DRAWS_IMAGES: Mapping[str, int] = {
    "image.random_brightness": 2, "image.random_contrast": 3, "image.random_flip_left_right": 1,
    "image.random_flip_up_down": 1, "image.random_hue": 2, "image.random_saturation": 3,
    "random_crop": 2,
}  # fmt: skip
# Those that draw the classes that they compare with.
SAMPLES = frozenset(["nn.nce_loss", "nn.sampled_softmax_loss"])
# What shows values as it is computed.
PRINTS = "Print"
# Where a seed of its own stands among the arguments of those.
SEED_PLACES: Mapping[str, int] = {
    **dict.fromkeys(DRAWS, 4), "nn.dropout": 3,
    "multinomial": 2, "random.categorical": 3,
    "random_shuffle": 1, **DRAWS_IMAGES, **dict.fromkeys(SAMPLES, 9),
}  # fmt: skip
# What TF2 has not, and is written beside the program: as TF1's, of its first parameters alone.
DEFINED: Mapping[str, tuple[tuple[str, ...], Definition]] = {
    "image.resize": (
        ("images", "size"),
        Definition(
            "resize_images",
            '''\
def {name}(images, size):
    """Bilinear resizing of one image or of several; those of this size stay as they are."""
    images = {tf}.convert_to_tensor(images)
    batch = images[{tf}.newaxis] if images.shape.rank == 3 else images
    known = {tf}.get_static_value({tf}.convert_to_tensor(size))
    if known is not None and batch.shape[1:3].as_list() == list(known):
        return images
    resized = {tf}.raw_ops.ResizeBilinear(images=batch, size=size)
    return resized[0] if images.shape.rank == 3 else resized''',
        ),
    ),
    "contrib.seq2seq.sequence_loss": (
        ("logits", "targets", "weights"),
        Definition(
            "mean_sequence_loss",
            '''\
def {name}(logits, targets, weights):
    """The cross-entropy of the elements of sequences, the mean of all by their weights."""
    losses = {tf}.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    return {tf}.math.divide_no_nan({tf}.reduce_sum(losses * weights), {tf}.reduce_sum(weights))''',
        ),
    ),
    "nn.ctc_beam_search_decoder": (
        ("inputs", "sequence_length", "beam_width", "top_paths", "merge_repeated"),
        Definition(
            "ctc_beam_search_decoder",
            '''\
def {name}(
    inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True
):
    """The likeliest paths, as TF1 gave them, and the logarithms of their probabilities."""
    indices, values, shapes, log_probability = {tf}.raw_ops.CTCBeamSearchDecoder(
        inputs=inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    paths = [{tf}.SparseTensor(*path) for path in zip(indices, values, shapes)]
    return paths, log_probability''',
        ),
    ),
    "contrib.seq2seq.tile_batch": (
        ("t", "multiplier"),
        Definition(
            "tile_batch",
            '''\
def {name}(t, multiplier):
    """Each row so many times, one behind the other."""
    return {tf}.nest.map_structure(lambda one: {tf}.repeat(one, multiplier, axis=0), t)''',
        ),
    ),
    **distributions.CLASSES,
    **distributions.FUNCTIONS,
    **random_fields.FUNCTIONS,
    **searches.SEARCHES,
}
# Of these, what may be left out.
OPTIONAL: Mapping[str, frozenset[str]] = {
    "nn.ctc_beam_search_decoder": frozenset(["beam_width", "top_paths", "merge_repeated"]),
    searches.BEAM_SEARCH: frozenset(["", "eos_id", "stop_early"]),
}
# What is fed as indices, values and a shape becomes this.
SPARSE_TENSOR = Definition(
    "sparse_tensor",
    '''\
def {name}(fed, dtype):
    """A sparse tensor of its indices, values and shape."""
    indices, values, shape = fed
    return {tf}.SparseTensor(indices, {tf}.cast(values, dtype), shape)''',
)
# What a session gave of one.
SPARSE_VALUE = Definition(
    "sparse_value",
    '''\
def {name}(tensor):
    """The indices, the values and the shape of a sparse tensor, as arrays."""
    parts = (tensor.indices, tensor.values, tensor.dense_shape)
    return {tf}.compat.v1.SparseTensorValue(*(part.numpy() for part in parts))''',
)
# Those that give lists of sparse tensors, those that give a sparse one, and those that give one for
# one.
SPARSE_DECODERS = ("nn.ctc_greedy_decoder", "nn.ctc_beam_search_decoder")
MAKES_SPARSE = frozenset(
    ["sparse_placeholder", "SparseTensor", "sparse_retain", *SPARSE_DECODERS]
)  # fmt: skip
KEEPS_SPARSE = frozenset(
    ["identity", "cast", "to_double", "to_float", "to_int32", "to_int64", "abs", "negative", "sign",
     "square", "sqrt", "erf", "tanh", "ones_like", "zeros_like", "round"]
)  # fmt: skip
# Those of one tensor that TF2 has by the same name: a program may give one a name of its own.
OF_ONE_TENSOR = frozenset(
    ["abs", "cos", "exp", "identity", "nn.elu", "nn.leaky_relu", "nn.relu", "nn.relu6", "nn.selu",
     "nn.sigmoid", "nn.softmax", "nn.softplus", "nn.softsign", "nn.tanh", "sigmoid", "sin",
     "square", "tanh"]
)  # fmt: skip
# Those that are given functions, with the parameters that are the same in TF2.
CONTROL: Mapping[str, tuple[str, ...]] = {
    "cond": ("pred", "true_fn", "false_fn"),
    "while_loop": ("cond", "body", "loop_vars"),
    "map_fn": ("fn", "elems", "dtype"),
    "scan": ("fn", "elems", "initializer"),
    "foldl": ("fn", "elems", "initializer"),
    "foldr": ("fn", "elems", "initializer"),
}
# Those through which a variable's gradient is one of some rows.
ROWS = frozenset(
    ["nn.embedding_lookup", "gather", "gather_nd", "boolean_mask", "nn.nce_loss",
     "nn.sampled_softmax_loss", "nn.embedding_lookup_sparse"]
)  # fmt: skip
# What gives the variables of a graph their first values: in TF2 they have them when they are made.
INITIALIZES = frozenset(
    ["global_variables_initializer", "initialize_all_variables", "local_variables_initializer",
     "initializers.global_variables", "initializers.local_variables", "tables_initializer"]
)  # fmt: skip
INITIALIZES_METRICS = ("local_variables_initializer", "initializers.local_variables")  # alone
# What a program says to all of TensorFlow, and not to a graph.
# Records of a file, and what they are made of.
RECORDS = ("io.TFRecordWriter", "train.BytesList", "train.Example", "train.Feature",
           "train.FeatureList", "train.FeatureLists", "train.Features", "train.FloatList",
           "train.Int64List", "train.SequenceExample")  # fmt: skip
# Keras's functions of arrays, and of texts.
ARRAYS = ("keras.datasets.", "keras.utils.to_categorical", "keras.preprocessing.sequence.",
          "keras.preprocessing.text.")  # fmt: skip
# Tests, whose own sessions have graphs of their own.
TESTS = ("test.TestCase", "test.main")
SETTINGS = ("flags.", "app.", "logging.", "gfile.", "set_random_seed", "random.set_random_seed",
            "examples.tutorials.mnist", "contrib.learn.preprocessing.", "test.is_",
            "contrib.learn.python.learn.datasets.mnist",
            "train.latest_checkpoint",
            "train.get_checkpoint_state",
            "train.list_variables", "train.load_checkpoint", "train.load_variable",
            "errors.", "disable_v2_behavior", "disable_eager_execution",
            "python.client.device_lib", "__version__", "python_io.TFRecordWriter", "compat.as_",
            "train.Coordinator", "SparseTensorValue", "Summary", "summary.Summary", *ARRAYS,
            *RECORDS, *TESTS)  # fmt: skip
# Of those, what TF2 has as it is.
SAME = ("python.client.device_lib", "__version__", "compat.as_", "train.Coordinator", *ARRAYS,
        *RECORDS, *TESTS)  # fmt: skip
# What a program says to the devices, in TF1 as in TF2.
SOFT_PLACEMENT = "config.set_soft_device_placement"
DEVICE_OPTIONS = ("config.", "debugging.set_log_device_placement", "test.is_")
# Calls whose tensor is called `name:0`, and where the name stands if it is not told by keyword.
NAMED = {
    "placeholder": 2, "identity": 1, "nn.softmax": None, "nn.sigmoid": 1, "sigmoid": 1,
    "nn.relu": 1, "nn.tanh": 1, "tanh": 1, "argmax": None, "reduce_mean": None,
    "reduce_sum": None, "reduce_max": None, "add": 2, "multiply": 2, "matmul": None, "equal": 2,
    "reshape": 2, "nn.xw_plus_b": 3, "squeeze": None, "nn.bias_add": None,
}  # fmt: skip
