"""The rows: what TF1's code says, and what the tables make of it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.layers import LAYERS as LAYER_ROWS
from migrate_mgpu.api.metrics import Derived
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.front.metrics import read_metric
from migrate_mgpu.models.front.network.layer_calls import read_layer
from migrate_mgpu.models.front.optimizers import read_optimizer, read_schedule
from migrate_mgpu.models.ir import Layer, Result
from migrate_mgpu.models.keras.constructors import made_edits
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.losses import definitions, loss_object, replacement
from migrate_mgpu.models.keras.metrics import metric_classes, result_object
from migrate_mgpu.models.keras.optimizers import OptimizerWriter, schedule_edits
from migrate_mgpu.models.properties import compared_labels, has_keras_class, result_fits_compile
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.style import FileStyle

Row = dict[str, Any]

# Layers: TF1's call. The variables of both sides start with the same numbers.
LAYERS = {
    "dense": "tf.layers.dense(x2, 4)",
    "dense, all arguments": (
        "tf.layers.dense(x2, 4, tf.nn.relu, True, tf.zeros_initializer(), "
        "tf.constant_initializer(0.5), name='here')"
    ),
    "dense, 3-D": "tf.layers.dense(x3, units=2, use_bias=False)",
    "conv1d": "tf.layers.conv1d(x3, 3, 2, padding='same')",
    "conv2d": "tf.layers.conv2d(x4, 3, 3)",
    "conv2d, strides": "tf.layers.conv2d(x4, 3, [3, 2], (2, 2), 'SAME', activation=tf.nn.relu)",
    "conv2d, dilated": "tf.layers.conv2d(x4, 3, 2, dilation_rate=2, use_bias=False)",
    "conv3d": "tf.layers.conv3d(x5, 2, 2)",
    "conv2d_transpose": "tf.layers.conv2d_transpose(x4, 2, 3, strides=2, padding='same')",
    "conv2d_transpose, valid": "tf.layers.conv2d_transpose(x4, 2, [2, 3], (2, 1))",
    "conv3d_transpose": "tf.layers.conv3d_transpose(x5, 2, 2, strides=2)",
    "separable_conv1d": "tf.layers.separable_conv1d(x3, 3, 2)",
    "separable_conv2d": (
        "tf.layers.separable_conv2d(x4, 4, 3, padding='same', depth_multiplier=2)"
    ),
    "max_pooling1d": "tf.layers.max_pooling1d(x3, 2, 2)",
    "max_pooling2d": "tf.layers.max_pooling2d(inputs=x4, pool_size=[3, 3], strides=2)",
    "max_pooling2d, same": "tf.layers.max_pooling2d(x4, 3, 1, 'same')",
    "max_pooling3d": "tf.layers.max_pooling3d(x5, 2, 2)",
    "average_pooling1d": "tf.layers.average_pooling1d(x3, 2, 1)",
    "average_pooling2d, same": "tf.layers.average_pooling2d(x4, 4, 3, padding='same')",
    "average_pooling3d": "tf.layers.average_pooling3d(x5, 2, 1)",
    "flatten": "tf.layers.flatten(x4)",
    "dropout": "tf.layers.dropout(x2, 0.3, training=False)",
    "batch_normalization": "tf.layers.batch_normalization(x2, training=True)",
    "batch_normalization, inference": "tf.layers.batch_normalization(x4, training=False)",
    "batch_normalization, arguments": (
        "tf.layers.batch_normalization(x2, -1, 0.9, 1e-4, False, scale=False, training=True)"
    ),
    "batch_normalization, not fused": (
        "tf.layers.batch_normalization(x4, momentum=0.9, training=True, fused=False)"
    ),
    "fully_connected": "tf.contrib.layers.fully_connected(x2, 4)",
    "fully_connected, no bias": (
        "tf.contrib.layers.fully_connected(x2, 4, tf.nn.tanh, biases_initializer=None)"
    ),
    "linear": "tf.contrib.layers.linear(x2, 4)",
    "contrib conv2d": "tf.contrib.layers.conv2d(x4, 3, 3, 2)",
    "contrib conv2d, arguments": (
        "tf.contrib.layers.conv2d(x4, num_outputs=3, kernel_size=[2, 2], padding='VALID', "
        "rate=2, activation_fn=None, scope='here')"
    ),
    "contrib conv2d_transpose": "tf.contrib.layers.conv2d_transpose(x4, 3, 3, 2)",
    "contrib separable_conv2d": "tf.contrib.layers.separable_conv2d(x4, 3, 3, 2)",
    "contrib max_pool2d": "tf.contrib.layers.max_pool2d(x4, 2)",
    "contrib avg_pool2d": "tf.contrib.layers.avg_pool2d(x4, [3, 3], stride=1, padding='SAME')",
    "contrib flatten": "tf.contrib.layers.flatten(x4)",
    "contrib dropout": "tf.contrib.layers.dropout(x2, 0.8, is_training=False)",
    "contrib batch_norm": "tf.contrib.layers.batch_norm(x2, is_training=True)",
    "contrib batch_norm, arguments": (
        "tf.contrib.layers.batch_norm(x2, 0.9, scale=True, epsilon=1e-5, is_training=True)"
    ),
    "embed_sequence": "tf.contrib.layers.embed_sequence(ids, 5, 3)",
}
# Keras 3's moving variance has no Bessel correction: its measured exception.
BESSEL = {
    "batch_normalization, fused": "tf.layers.batch_normalization(x4, momentum=0.9, training=True)",
}
LOSSES = {
    "sparse_softmax": "tf.losses.sparse_softmax_cross_entropy(labels, logits)",
    "sparse_softmax, keywords": (
        "tf.losses.sparse_softmax_cross_entropy(logits=logits, labels=labels, scope='loss')"
    ),
    "sparse_softmax, a number": (
        "tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=0.3)"
    ),
    "sparse_softmax, sum": (
        "tf.losses.sparse_softmax_cross_entropy(labels, logits, reduction=tf.losses.Reduction.SUM)"
    ),
    "sparse_softmax, mean": (
        "tf.losses.sparse_softmax_cross_entropy(labels, logits, reduction=tf.losses.Reduction.MEAN)"
    ),
    "softmax": "tf.losses.softmax_cross_entropy(onehot, logits)",
    "softmax, one_hot": "tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits)",
    "softmax, smoothed": "tf.losses.softmax_cross_entropy(onehot, logits, label_smoothing=0.1)",
    "sigmoid": "tf.losses.sigmoid_cross_entropy(pairs, logits)",
    "sigmoid, smoothed": "tf.losses.sigmoid_cross_entropy(pairs, logits, 2.0, 0.2)",
    "mean_squared_error": "tf.losses.mean_squared_error(targets, values)",
    "absolute_difference": "tf.losses.absolute_difference(targets, predictions=values)",
    "huber": "tf.losses.huber_loss(targets, values)",
    "huber, delta": "tf.losses.huber_loss(targets, values, delta=0.3)",
    "hinge": "tf.losses.hinge_loss(pairs, logits)",
    "nn.sparse_softmax": (
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)"
    ),
    "nn.softmax": "tf.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=logits)",
    "nn.softmax_v2": "tf.nn.softmax_cross_entropy_with_logits_v2(onehot, logits, dim=-1)",
    "nn.sigmoid": "tf.nn.sigmoid_cross_entropy_with_logits(labels=pairs, logits=logits)",
    "nn.weighted": (
        "tf.nn.weighted_cross_entropy_with_logits(targets=pairs, logits=logits, pos_weight=3.0)"
    ),
}
# Weights of each example or number, by every reduction; sums are of numbers, not of rows.
LOSSES.update({
    "sparse_softmax, weighted": (
        "tf.losses.sparse_softmax_cross_entropy(labels, logits, tf.to_float(labels))"),
    "softmax, weighted": (
        "tf.losses.softmax_cross_entropy(onehot, logits, weights=onehot[:, 0] * 2.0)"),
    "softmax, smoothed and weighted": (
        "tf.losses.softmax_cross_entropy(onehot, logits, onehot[:, 0], label_smoothing=0.1)"),
    "softmax, weighted by a number that is not known": (
        "tf.losses.softmax_cross_entropy(onehot, logits, weights=tf.constant(0.5) * 3.0)"),
    "sigmoid, weighted": (
        "tf.losses.sigmoid_cross_entropy(pairs, logits, weights=1.0 + 2.0 * pairs)"),
    "sigmoid, weighted by columns": (
        "tf.losses.sigmoid_cross_entropy(pairs, logits, weights=[[1.0, 0.0, 2.0]])"),
    "sigmoid, smoothed and weighted": (
        "tf.losses.sigmoid_cross_entropy(pairs, logits, pairs, label_smoothing=0.2)"),
    "sigmoid, whole numbers": (
        "tf.losses.sigmoid_cross_entropy(tf.to_int32(pairs), logits=logits, weights=pairs)"),
    "mean_squared_error, weighted": (
        "tf.losses.mean_squared_error(targets, values, tf.nn.relu(targets))"),
    "mean_squared_error, weighted by rows": (
        "tf.losses.mean_squared_error(predictions=values, labels=targets, weights=binary)"),
    "mean_squared_error, all weights zero": (
        "tf.losses.mean_squared_error(targets, values, 0.0 * targets)"),
    "absolute_difference, weighted": (
        "tf.losses.absolute_difference(targets, values, weights=binary, scope='loss')"),
    "huber, weighted": "tf.losses.huber_loss(targets, values, binary, delta=0.3)",
    "hinge, weighted": "tf.losses.hinge_loss(pairs, logits, weights=binary)",
    "a number and the mean of the weights": (
        "tf.losses.hinge_loss(pairs, logits, 2.0, reduction=tf.losses.Reduction.MEAN)"),
    "mean_squared_error, sum": (
        "tf.losses.mean_squared_error(targets, values, reduction=tf.losses.Reduction.SUM)"),
    "log_loss": "tf.losses.log_loss(binary, scores)",
    "log_loss, sum": (
        "tf.losses.log_loss(binary, predictions=scores, reduction=tf.losses.Reduction.SUM)"),
    "log_loss, weighted, epsilon": (
        "tf.losses.log_loss(binary, scores, 1.0 + binary, epsilon=1e-3, scope='loss')"),
    "mean_squared_error, none": (
        "tf.losses.mean_squared_error(targets, values, 2.0, reduction='none')"),
    "absolute_difference, sum": (
        "tf.losses.absolute_difference(targets, values, 0.5, reduction='weighted_sum')"),
    "sigmoid, sum": (
        "tf.losses.sigmoid_cross_entropy(pairs, logits, reduction=tf.losses.Reduction.SUM)"),
    "huber, sum": "tf.losses.huber_loss(targets, values, reduction=tf.losses.Reduction.SUM)",
    **{
        f"absolute_difference, weighted, {reduction}": (
            "tf.losses.absolute_difference(targets, values, binary, "
            f"reduction=tf.losses.Reduction.{reduction})")
        for reduction in ("SUM", "MEAN", "SUM_OVER_BATCH_SIZE", "SUM_OVER_NONZERO_WEIGHTS", "NONE")
    },
})  # fmt: skip
OPTIMIZERS = {
    "GradientDescent": ("tf.train.GradientDescentOptimizer(0.1)", ""),
    "Momentum": ("tf.train.MomentumOptimizer(0.1, 0.9)", ""),
    "Momentum, nesterov": ("tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)", ""),
    "Momentum, a schedule": (
        "tf.train.MomentumOptimizer(rate, 0.9)",
        "rate = tf.train.piecewise_constant(step, [3, 7], [0.1, 0.02, 0.05])",
    ),
    "Momentum, nesterov, a schedule": (
        "tf.train.MomentumOptimizer(rate, momentum=0.5, use_nesterov=True)",
        "rate = tf.train.exponential_decay(0.1, step, 3, 0.5)",
    ),
    "Adam": ("tf.train.AdamOptimizer()", ""),
    "Adam, small gradients count": ("tf.train.AdamOptimizer(0.1, 0.8, 0.99, 1e-3)", ""),
    "Adam, a schedule": (
        "tf.train.AdamOptimizer(learning_rate=rate)",
        "rate = tf.train.exponential_decay(0.1, step, 3, 0.5, staircase=True)",
    ),
    "Adagrad": ("tf.train.AdagradOptimizer(0.1)", ""),
    "Adagrad, accumulator": (
        "tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.01)", ""),
    "Adadelta": ("tf.train.AdadeltaOptimizer(1.0)", ""),
    "RMSProp": ("tf.train.RMSPropOptimizer(0.01)", ""),
    "RMSProp, momentum": ("tf.train.RMSPropOptimizer(0.01, 0.95, 0.5, 1e-3)", ""),
    "RMSProp, centered": ("tf.train.RMSPropOptimizer(0.01, centered=True, name='rms')", ""),
    "RMSProp, a schedule": (
        "tf.train.RMSPropOptimizer(rate, momentum=0.9)",
        "rate = tf.train.polynomial_decay(0.1, step, 10)",
    ),
    "Ftrl": ("tf.train.FtrlOptimizer(0.1)", ""),
    "Ftrl, regularized": (
        "tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, "
        "l2_regularization_strength=0.02)", ""),
}  # fmt: skip
# Gradients of an embedding's rows.
SPARSE = {
    "GradientDescent": "tf.train.GradientDescentOptimizer(0.1)",
    "Adam": "tf.train.AdamOptimizer(0.1)",
    "Adagrad": "tf.train.AdagradOptimizer(0.1)",
}
SCHEDULES = {
    "exponential": "tf.train.exponential_decay(0.1, step, 7, 0.5)",
    "exponential, staircase": "tf.train.exponential_decay(0.1, step, 7, 0.5, True, 'rate')",
    "natural_exp": "tf.train.natural_exp_decay(0.1, step, 7, 0.5)",
    "natural_exp, staircase": "tf.train.natural_exp_decay(0.1, step, 7, 0.5, staircase=True)",
    "inverse_time": "tf.train.inverse_time_decay(0.1, step, 7, 0.5)",
    "inverse_time, staircase": "tf.train.inverse_time_decay(0.1, step, 7, 0.5, True)",
    "polynomial": "tf.train.polynomial_decay(0.1, step, 20)",
    "polynomial, cycle": "tf.train.polynomial_decay(0.1, step, 8, 0.01, 2.0, cycle=True)",
    "cosine": "tf.train.cosine_decay(0.1, step, 20, alpha=0.1)",
    "cosine_restarts": "tf.train.cosine_decay_restarts(0.1, step, 5, 1.5, 0.9)",
    "piecewise": "tf.train.piecewise_constant(step, [5, 10], [0.1, 0.01, 0.001])",
    "piecewise, keywords": (
        "tf.train.piecewise_constant_decay(tf.cast(step, tf.int32), boundaries=[5, 10], "
        "values=[1.0, 0.5, 0.1])"
    ),
}
# Metrics: TF1's call on `labels` and `outputs`, what they are, what it looks at.
METRICS = {
    "accuracy": ("tf.metrics.accuracy(labels, tf.argmax(outputs, 1))", "classes", "argmax"),
    "accuracy, one-hot": (
        "tf.metrics.accuracy(tf.argmax(labels, 1), tf.argmax(outputs, 1))", "onehot", "argmax"),
    "accuracy, sigmoid": (
        "tf.metrics.accuracy(labels, tf.round(tf.sigmoid(outputs)))", "binary", "chosen"),
    "mean_squared_error": ("tf.metrics.mean_squared_error(labels, outputs)", "real", "itself"),
    "root_mean_squared_error": (
        "tf.metrics.root_mean_squared_error(labels, outputs)", "real", "itself"),
    "mean_absolute_error": ("tf.metrics.mean_absolute_error(labels, outputs)", "real", "itself"),
    "precision": (
        "tf.metrics.precision(labels, tf.round(tf.sigmoid(outputs)))", "binary", "chosen"),
    "precision, argmax": (
        "tf.metrics.precision(labels, tf.argmax(outputs, 1))", "two", "argmax"),
    "recall": (
        "tf.metrics.recall(labels, tf.round(tf.sigmoid(outputs)))", "binary", "chosen"),
    "recall, argmax": ("tf.metrics.recall(labels, tf.argmax(outputs, 1))", "two", "argmax"),
    "true_positives": (
        "tf.metrics.true_positives(labels, tf.argmax(outputs, 1))", "two", "argmax"),
    "true_negatives": (
        "tf.metrics.true_negatives(labels, tf.argmax(outputs, 1))", "two", "argmax"),
    "false_positives": (
        "tf.metrics.false_positives(labels, tf.argmax(outputs, 1))", "two", "argmax"),
    "false_negatives": (
        "tf.metrics.false_negatives(labels, tf.argmax(outputs, 1))", "two", "argmax"),
    "auc": ("tf.metrics.auc(labels, tf.sigmoid(outputs))", "binary", "sigmoid"),
    "auc of scores": ("tf.metrics.auc(labels, outputs, num_thresholds=50)", "scores", "itself"),
    "mean_iou": (
        "tf.metrics.mean_iou(labels, tf.argmax(outputs, 1), num_classes=4)", "classes", "argmax"),
    "recall_at_k": ("tf.metrics.recall_at_k(labels, outputs, k=2)", "classes", "itself"),
}  # fmt: skip
FUNCTIONS = {
    "to_float": "tf.to_float(labels)",
    "to_int32, nested": "tf.to_int32(tf.to_float(labels) * 2.0)",
    "log": "tf.log(positive)",
    "reduce_mean, keep_dims": "tf.reduce_mean(x4, [1, 2], keep_dims=True)",
    "reduce_sum, indices": "tf.reduce_sum(x4, reduction_indices=[1])",
    "reduce_logsumexp": "tf.reduce_logsumexp(x2, 1)",
    "argmax, dimension": "tf.argmax(logits, dimension=1)",
    "arg_max": "tf.arg_max(logits, 1)",
    "expand_dims, dim": "tf.expand_dims(x2, dim=1)",
    "squeeze": "tf.squeeze(tf.expand_dims(x2, 1), squeeze_dims=[1])",
    "gather_nd": "tf.gather_nd(x2, [[0, 1], [2, 3]], 'name')",
    "pad": "tf.pad(x2, [[1, 1], [0, 2]], 'CONSTANT', 'name', 1.0)",
    "shape": "tf.shape(x4, 'name', tf.int64)",
    "ones_like": "tf.ones_like(x2, optimize=False)",
    "transpose": "tf.transpose(x3, [0, 2, 1], 'name')",
    "norm": "tf.norm(x2, axis=1, keep_dims=True)",
    "count_nonzero": "tf.count_nonzero(pairs, 1, keep_dims=True)",
    "confusion_matrix": "tf.confusion_matrix(labels, labels, 3, tf.float32)",
    "dropout, keeps": "tf.nn.dropout(x2, 1.0)",
    "dropout, rate": "tf.nn.dropout(x2, rate=0.0)",
    "softmax, dim": "tf.nn.softmax(logits, dim=0)",
    "log_softmax": "tf.nn.log_softmax(logits, -1)",
    "in_top_k": "tf.to_float(tf.nn.in_top_k(logits, labels, 2))",
    "max_pool": "tf.nn.max_pool(x4, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
    "avg_pool": "tf.nn.avg_pool(value=x4, ksize=[1, 2, 2, 1], strides=[1] * 4, padding='VALID')",
    "space_to_depth": "tf.space_to_depth(x4, 2)",
    "crelu": "tf.nn.crelu(x2, 'name', -1)",
    "squared_difference": "tf.squared_difference(values, targets)",
    "where": "tf.where(x2 > 0, x2, tf.zeros_like(x2))",
    "where, of values": "tf.where(x2 > 0, tf.exp(x2), -x2)",
    "where, of rows": "tf.where(tf.reduce_sum(x2, 1) > 0, tf.exp(x2), -x2)",
    "depth_to_space": "tf.depth_to_space(tf.space_to_depth(x4, 2) * 2.0, 2)",
    "reverse_sequence, dim": "tf.reverse_sequence(x2, [1, 3, 2, 1, 5, 4], seq_dim=1)",
    "div": "tf.div(x2, 2.0)",
    "mod": "tf.mod(labels, 2)",
    "ceil": "tf.ceil(x2)",
    "rsqrt": "tf.rsqrt(positive)",
    "cross": "tf.matrix_band_part(x3, 1, 0)",
    "one_hot_encoding": "tf.contrib.layers.one_hot_encoding(labels, 3)",
    "resize_bilinear": "tf.image.resize_bilinear(images, [7, 5])",
    "resize_bilinear, corners": "tf.image.resize_bilinear(images, (7, 5), align_corners=True)",
    "resize_nearest_neighbor": "tf.image.resize_nearest_neighbor(images, [7, 5])",
    "crop_or_pad": "tf.image.resize_image_with_crop_or_pad(images, 3, 6)",
    "decode_raw": "tf.decode_raw(['abcd'], tf.uint8)",
    "decode_csv": "tf.decode_csv(['1,2'], [[0.0], [0.0]], ',', True, 'name')[1]",
    "string_to_number": "tf.string_to_number(['1.5', '2'], tf.float32)",
    "cond": "tf.cond(tf.reduce_sum(x2) > 100, fn1=lambda: x2, fn2=lambda: -x2)",
    "cumprod": "tf.cumprod(x2)",
    "l2_loss": "tf.nn.l2_loss(x2)",
    "conv1d": "tf.nn.conv1d(x3, tf.ones([2, 4, 2]), 2, 'SAME')",
    "conv1d, names": (
        "tf.nn.conv1d(value=x3, filters=tf.ones([2, 4, 2]), stride=1, padding='VALID')"
    ),
    "conv3d": "tf.nn.conv3d(tf.expand_dims(x4, 0), tf.ones([2, 2, 2, 3, 2]), [1] * 5, 'SAME')",
    "conv2d_transpose": (
        "tf.nn.conv2d_transpose(x4, tf.ones([2, 2, 5, 3]), [4, 12, 12, 5], [1, 2, 2, 1])"
    ),
    "conv2d_transpose, names": (
        "tf.nn.conv2d_transpose(value=x4, filter=tf.ones([3, 3, 2, 3]), strides=[1, 1, 1, 1],"
        " output_shape=[4, 8, 8, 2], padding='VALID', name='up')"
    ),
    "depthwise_conv2d": (
        "tf.nn.depthwise_conv2d(x4, tf.ones([2, 2, 3, 2]), [1, 1, 1, 1], 'SAME', [2, 2])"
    ),
    "separable_conv2d": (
        "tf.nn.separable_conv2d(x4, tf.ones([2, 2, 3, 2]), tf.ones([1, 1, 6, 4]),"
        " [1, 1, 1, 1], 'VALID', rate=[1, 1])"
    ),
    "atrous_conv2d": "tf.nn.atrous_conv2d(x4, tf.ones([2, 2, 3, 2]), 2, 'SAME')",
    "sequence_mask": "tf.sequence_mask([1, 3, 2], 4, tf.float32, 'mask')",
    "scatter_nd": "tf.scatter_nd([[0], [3], [0]], [1.0, 2.0, 3.0], [4])",
    "searchsorted": "tf.searchsorted([1.0, 2.0, 4.0], [0.5, 2.0], 'right')",
    "unique": "tf.unique([3, 1, 3])[1]",
    "dynamic_partition": "tf.dynamic_partition(labels, labels, 3)[0]",
    "dynamic_stitch": "tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]])",
    "roll": "tf.roll(x2, 1, 1)",
    "reverse_sequence": "tf.reverse_sequence(x2, [1, 3, 2, 1, 5, 4], 1, 0)",
    "complex, real": "tf.real(tf.complex(x2, x2) * tf.complex(x2, -x2))",
    "conj, imag": "tf.imag(tf.conj(tf.complex(x2, x2)))",
    "fft": "tf.abs(tf.fft(tf.complex(x2, x2)))",
    "lgamma": "tf.lgamma(positive)",
    "digamma": "tf.digamma(positive)",
    "matrix_inverse": "tf.matrix_inverse(tf.eye(3) * 2.0 + 0.5)",
    "matrix_determinant": "tf.matrix_determinant(tf.eye(3) * 2.0 + 0.5)",
    "matrix_solve": "tf.matrix_solve(tf.eye(3) * 2.0 + 0.5, tf.ones([3, 1]))",
    "matrix_triangular_solve": (
        "tf.matrix_triangular_solve(tf.eye(3) * 2.0 + 0.5, tf.ones([3, 1]), False)"
    ),
    "matrix_set_diag": "tf.matrix_set_diag(tf.ones([3, 3]), [1.0, 2.0, 3.0])",
    "cholesky": "tf.cholesky(tf.eye(3) * 2.0 + 0.5)",
    "qr": "tf.abs(tf.qr(tf.eye(3) * 2.0 + 0.5)[1])",
    "svd": "tf.svd(x2)[0]",
    "self_adjoint_eig": "tf.self_adjoint_eig(tf.eye(3) * 2.0 + 0.5)[0]",
    "diag": "tf.diag_part(tf.diag([1.0, 2.0]) * 3.0)",
    "segment_sum": "tf.segment_sum(x2, [0, 0, 1, 2, 2, 3])",
    "unsorted_segment_sum": "tf.unsorted_segment_sum(x2, [0, 2, 0, 1, 1, 2], 3)",
    "invert_permutation": "tf.invert_permutation([2, 0, 1])",
    "accumulate_n": "tf.accumulate_n([x2, x2])",
    "div_no_nan": "tf.div_no_nan(x2, tf.zeros_like(x2))",
    "saturate_cast": "tf.saturate_cast(x2 * 300.0, tf.int8)",
    "reverse_v2": "tf.reverse_v2(x2, [0])",
    "histogram_fixed_width": "tf.histogram_fixed_width(x2, [-1.0, 1.0], 4)",
    "bitcast": "tf.bitcast(labels, tf.float32)",
    "xlogy": "tf.math.xlogy(positive, positive)",
    "per_image_standardization": "tf.image.per_image_standardization(images[0])",
    "rgb_to_grayscale": "tf.image.rgb_to_grayscale(images)",
    "total_variation": "tf.image.total_variation(images)",
    "swish": "tf.nn.swish(x2)",
}
REGULARIZERS = {
    "l1": "tf.contrib.layers.l1_regularizer(0.3)",
    "l2": "tf.contrib.layers.l2_regularizer(scale=0.3)",
    "l2, an expression": "tf.contrib.layers.l2_regularizer(0.1 if True else 1)",
    "l1_l2": "tf.contrib.layers.l1_l2_regularizer(scale_l1=0.2, scale_l2=0.4)",
    "l1_l2, defaults": "tf.contrib.layers.l1_l2_regularizer()",
}
# Initializers draw other numbers on each side: their deviation and limits are compared.
INITIALIZERS = {
    "truncated_normal": "tf.truncated_normal_initializer()",
    "truncated_normal, deviation": "tf.truncated_normal_initializer(stddev=0.1)",
    "random_normal": "tf.random_normal_initializer(0.0, 0.02)",
    "random_normal, default": "tf.random_normal_initializer()",
    "random_uniform": "tf.random_uniform_initializer()",
    "random_uniform, limits": "tf.random_uniform_initializer(-0.1, 0.1)",
    "constant": "tf.constant_initializer(0.1)",
    "variance_scaling": "tf.variance_scaling_initializer()",
    "variance_scaling, normal": (
        "tf.variance_scaling_initializer(2.0, 'fan_avg', distribution='normal')"
    ),
    "glorot_uniform": "tf.glorot_uniform_initializer()",
    "glorot_normal": "tf.glorot_normal_initializer(seed=3)",
    "xavier": "tf.contrib.layers.xavier_initializer()",
    "xavier, normal": "tf.contrib.layers.xavier_initializer(uniform=False)",
    "xavier_conv2d": "tf.contrib.layers.xavier_initializer_conv2d()",
    "contrib variance_scaling": "tf.contrib.layers.variance_scaling_initializer()",
    "contrib variance_scaling, uniform": (
        "tf.contrib.layers.variance_scaling_initializer(1.0, 'FAN_AVG', True)"
    ),
    "he_normal": "tf.initializers.he_normal()",
    "lecun_uniform": "tf.initializers.lecun_uniform()",
    "orthogonal": "tf.orthogonal_initializer(gain=2.0)",
}
FIRST_VALUES = {
    "dense": "tf.layers.dense(tf.zeros([2, 300]), 200)",
    "conv2d": "tf.layers.conv2d(tf.zeros([1, 3, 3, 60]), 50, 3)",
    "conv2d_transpose": "tf.layers.conv2d_transpose(tf.zeros([1, 3, 3, 60]), 50, 3)",
    "separable_conv2d": "tf.layers.separable_conv2d(tf.zeros([1, 3, 3, 900]), 60, 3)",
    "fully_connected": "tf.contrib.layers.fully_connected(tf.zeros([2, 300]), 200)",
    "contrib conv2d": "tf.contrib.layers.conv2d(tf.zeros([1, 3, 3, 60]), 50, 3)",
    "contrib separable_conv2d": (
        "tf.contrib.layers.separable_conv2d(tf.zeros([1, 3, 3, 900]), 60, 3, 1)"
    ),
    "embed_sequence": "tf.contrib.layers.embed_sequence(ids, 300, 200)",
}
# TF1's code with TF2's that looks right and is not: the comparison must see each of them.
WRONG = {
    "Adam's epsilon": (
        "optimizer", "tf.train.AdamOptimizer(0.1, epsilon=0.1)",
        "tf.keras.optimizers.Adam(0.1)"),
    "RMSProp's slots": (
        "optimizer", "tf.train.RMSPropOptimizer(0.01)",
        "tf.keras.optimizers.RMSprop(0.01, epsilon=1e-10)"),
    "Momentum with a schedule": (
        "optimizer",
        "tf.train.MomentumOptimizer(tf.train.exponential_decay(0.1, step, 3, 0.5), 0.9)",
        "tf.keras.optimizers.SGD("
        "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5), momentum=0.9)"),
    "sparse Momentum": (
        "sparse", "tf.train.MomentumOptimizer(0.1, 0.9)",
        "tf.keras.optimizers.SGD(0.1, momentum=0.9)"),
    "sparse RMSProp": (
        "sparse", "tf.train.RMSPropOptimizer(0.1, momentum=0.5)",
        "tf.keras.optimizers.RMSprop(0.1, momentum=0.5, epsilon=1e-10)"),
    "sparse Ftrl": (
        "sparse", "tf.train.FtrlOptimizer(0.1)", "tf.keras.optimizers.Ftrl(0.1)"),
    "fully_connected's ReLU": (
        "layer", "tf.contrib.layers.fully_connected(x2, 4)", "tf.keras.layers.Dense(4)"),
    "the regularizer's half": (
        "regularizer", "tf.contrib.layers.l2_regularizer(0.3)", "tf.keras.regularizers.L2(0.3)"),
    "the initializer's deviation": (
        "spread", "tf.truncated_normal_initializer()", "tf.keras.initializers.TruncatedNormal()"),
    "resize's half pixels": (
        "function", "tf.image.resize_bilinear(images, [7, 5])", "tf.image.resize(images, [7, 5])"),
    "the sum of a loss": (
        "loss", "tf.losses.mean_squared_error(targets, values, reduction='weighted_sum')",
        "tf.reduce_mean(tf.keras.losses.MSE(targets, values))"),
    "the sum of rows' means": (
        "loss", "tf.losses.mean_squared_error(targets, values, reduction='weighted_sum')",
        "tf.reduce_sum(tf.keras.losses.MSE(targets, values))"),
    "the weights that are not zero": (
        "loss", "tf.losses.absolute_difference(targets, values, binary)",
        "tf.reduce_mean(binary * tf.abs(targets - values))"),
}  # fmt: skip


def module_of(code: str) -> tuple[Module, ast.Call]:
    """A module with one more statement behind TensorFlow's import, and its (outermost) call."""
    text = f"import numpy as np\nimport tensorflow as tf\n{code}\n"
    module = Module(Path("row.py"), Source(Path("row.py"), text), "row")
    statement = module.tree.body[-1]
    value = statement.value  # type: ignore[attr-defined]
    return module, value


def edited(module: Module, call: ast.Call, edits: tuple[Edit, ...]) -> str:
    """The call with a table's edits and those of everything inside, as the tool joins them."""
    return Context(module, FileStyle.of(module.source)).render_call(call, edits)


def _layer(name: str, code: str) -> Row:
    module, call = module_of(code)
    made = read_layer(module, call)
    assert isinstance(made, Layer), name
    return {
        "kind": "layer",
        "code": code,
        "new": edited(module, call, made_edits(made, FileStyle.of(module.source))),
        "inputs": Context(module, FileStyle.of(module.source)).render(made.inputs[0]),
        "takes_training": bool(LAYER_ROWS.by_kind[made.kind].training),
        "training": made.training is not None and module.source.code(made.training) == "True",
    }


def _loss(name: str, code: str) -> Row:
    module, call = module_of(code)
    made = read_loss(module, call)
    assert made is not None, name
    style = FileStyle.of(module.source)
    context = Context(module, style)
    row: Row = {"kind": "loss", "code": code, "new": replacement(made)(context)}
    functions = definitions(module, [call], style)
    if functions:
        row["classes"] = functions
    if has_keras_class(made):
        row["object"] = loss_object(made, style)
        row["labels"] = context.render(compared_labels(made))
        row["outputs"] = context.render(made.outputs)
    return row


def optimizer_of(module: Module, call: ast.Call) -> tuple[str, tuple[str, ...]] | None:
    """The optimizer that a call makes, and the classes beside it; None where it makes none."""
    optimizer = read_optimizer(module, call)
    if optimizer is None:
        return None
    writer = OptimizerWriter(optimizer, FileStyle.of(module.source))
    return edited(module, call, writer.edits()), writer.classes


def _optimizer(name: str, code: str, before: str) -> Row:
    text = f"step = tf.train.get_global_step()\n{before}\nx = {code}" if before else f"x = {code}"
    module, call = module_of(text)
    made = optimizer_of(module, call)
    assert made is not None, name
    new, classes = made
    row = {"kind": "optimizer", "code": code, "new": new, "classes": classes}
    if before:
        row["before"] = before
        row["new_before"] = "rate = " + _schedule_text(before.partition(" = ")[2])
    return row


def _schedule_text(code: str) -> str:
    module, call = module_of(f"step = tf.train.get_global_step()\nx = {code}")
    schedule = read_schedule(module, call)
    assert schedule is not None, code
    return edited(module, call, schedule_edits(schedule, FileStyle.of(module.source)))


def _metric(name: str, code: str, kind: str, relation: str) -> Row:
    module, call = module_of(code)
    made = read_metric(module, call)
    assert made is not None, name
    labels = Derived.ARGMAX if kind == "onehot" else Derived.ITSELF
    result, style = Result(made, labels, Derived[relation.upper()]), FileStyle.of(module.source)
    assert result_fits_compile(result), name
    return {
        "kind": "metric",
        "code": code,
        "kind_of_labels": kind,
        "batch": 500 if "auc" in name else 8,
        "new": result_object(result, "m", "", replaced(style, quote="'")),
        "classes": metric_classes([result], style),
    }


def _plain(kind: str, code: str) -> Row:
    module, call = module_of(code)
    row: Row = {
        "kind": kind,
        "code": code,
        "new": Context(module, FileStyle.of(module.source)).render(call),
    }
    if kind == "spread":
        row["shape"] = [300, 200]
    return row


def _first_values(name: str, code: str) -> Row:
    return {**_layer(name, code), "kind": "spread"}


def rows() -> list[Row]:
    """Every row, with its name."""
    found: dict[str, Row] = {}
    for table in (LAYERS, BESSEL):
        found.update({f"layer: {n}": _layer(n, c) for n, c in table.items()})
    found.update({f"first values: {n}": _first_values(n, c) for n, c in FIRST_VALUES.items()})
    found.update({f"loss: {n}": _loss(n, c) for n, c in LOSSES.items()})
    found.update({f"optimizer: {n}": _optimizer(n, *c) for n, c in OPTIMIZERS.items()})
    for name, code in SPARSE.items():
        found[f"sparse: {name}"] = {**_optimizer(name, code, ""), "kind": "sparse"}
    for name, code in SCHEDULES.items():
        row = {"kind": "schedule", "code": code, "new": _schedule_text(code)}
        found[f"schedule: {name}"] = row
    found.update({f"metric: {n}": _metric(n, *c) for n, c in METRICS.items()})
    for table, kind in (
        (FUNCTIONS, "function"),
        (REGULARIZERS, "regularizer"),
        (INITIALIZERS, "spread"),
    ):
        title = "initializer" if kind == "spread" else kind
        found.update({f"{title}: {n}": _plain(kind, c) for n, c in table.items()})
    for name, (kind, code, new) in WRONG.items():
        row = {"kind": kind, "code": code, "new": new, "inputs": "x2", "shape": [300, 200]}
        found[f"wrong: {name}"] = row if kind != "spread" else {**row, "inputs": None}
    return [{"name": name, **row} for name, row in found.items()]
