"""What the tables take, what they refuse, and that every name they write exists in TF2."""

from __future__ import annotations

import ast
import json
from importlib import resources

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.front.metrics import read_metric
from migrate_mgpu.models.front.network.layer_calls import read_layer
from migrate_mgpu.models.front.optimizers import read_schedule
from migrate_mgpu.models.front.rates import variation_of
from migrate_mgpu.models.ir import Variation
from migrate_mgpu.models.keras.constructors import made_edits
from migrate_mgpu.models.keras.expressions import Context, made_by
from migrate_mgpu.models.keras.functions import function
from migrate_mgpu.source.style import FileStyle
from tests.rewriters.table_rows import edited, module_of, optimizer_of

NAMES = json.loads(resources.files("migrate_mgpu.data").joinpath("symbols.json").read_text())
# Plain `tf.X` of the newest TensorFlow.
IN_TF2 = {
    name
    for status in (
        "neutral", "modules", "v1_differs", "v1_differs_tf2.15", "v2_only", "v2_shared",
    )
    for name in NAMES[status]
}  # fmt: skip


def written(code: str) -> str:
    module, call = module_of(code)
    return Context(module, FileStyle.of(module.source)).render(call)


@pytest.mark.parametrize("called", [True, False])
@pytest.mark.parametrize("status", ["v1_absent", "v1_differs", "neutral", "gone", "tf2.15_only"])
def test_every_name_exists_or_is_refused(status: str, called: bool) -> None:
    taken = 0
    for name in NAMES[status]:
        if name.startswith(("app", "flags", "estimator", "__")):
            continue  # other rules' names
        module, node = module_of(f"x = tf.{name}{'()' if called else ''}")
        try:
            edits = function(module, node, FileStyle.of(module.source))
        except Refused as refused:
            assert refused.diagnostic.reason
            continue
        assert edits is not None
        text = (
            edited(module, node, edits)
            if called
            else Context(module, FileStyle.of(module.source)).render(node)
        )
        new = text.partition("(")[0][len("tf.") :]
        parts = new.split(".")
        assert any(".".join(parts[:n]) in IN_TF2 for n in range(len(parts), 0, -1)), (name, text)
        held = ("keras.", "raw_ops.", "compat.v1.SparseTensorValue")
        assert new in IN_TF2 or new.startswith(held), (name, text)
        taken += 1
    assert taken > 0 or status in ("gone", "tf2.15_only")


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("tf.to_float(x)", "tf.cast(x, tf.float32)"),
        ("tf.to_float(tf.to_int32(x), name='n')",
         "tf.cast(tf.cast(x, tf.int32), name='n', dtype=tf.float32)"),
        ("tf.nn.dropout(x, 0.9)", "tf.nn.dropout(x, rate=0.1)"),
        ("tf.nn.dropout(x, keep_prob=a if b else 1.0)",
         "tf.nn.dropout(x, rate=1 - (a if b else 1.0))"),
        ("tf.nn.dropout(x, rate=p, keep_prob=None)", "tf.nn.dropout(x, rate=p)"),
        ("tf.reduce_sum(x, 1, keep_dims=True)", "tf.reduce_sum(x, 1, keepdims=True)"),
        ("tf.nn.in_top_k(p, t, 5)", "tf.math.in_top_k(predictions=p, targets=t, k=5)"),
        ("tf.nn.embedding_lookup_sparse(t, ids, w, 'mod', None, 'sum')",
         "tf.nn.embedding_lookup_sparse(tf.convert_to_tensor(t), ids, w, name=None, "
         "combiner='sum')"),
        ("tf.contrib.learn.python.learn.estimators.rnn_common.select_last_activations(x, a + b)",
         "tf.gather(x, (a + b) - 1, batch_dims=1)"),
        ("tf.transpose(x, [1, 0], 'n')", "tf.transpose(x, [1, 0], name='n')"),
        ("tf.random_normal([2], seed=1)", "tf.random.normal([2], seed=1)"),
        ("tf.gfile.Exists(path)", "tf.io.gfile.exists(path)"),
        ("tf.contrib.data.shuffle_and_repeat(9)", "tf.data.experimental.shuffle_and_repeat(9)"),
        ("tf.truncated_normal_initializer(seed=3)",
         "tf.keras.initializers.TruncatedNormal(seed=3, stddev=1.0)"),
        ("tf.contrib.layers.l2_regularizer(1e-4)", "tf.keras.regularizers.L2(5e-05)"),
        ("tf.contrib.layers.l2_regularizer(scale=a + b)",
         "tf.keras.regularizers.L2(l2=0.5 * (a + b))"),
        ("tf.contrib.layers.l2_regularizer(FLAGS.decay)",
         "tf.keras.regularizers.L2(0.5 * FLAGS.decay)"),
        ("f(tf.contrib.layers.xavier_initializer())", "f(tf.keras.initializers.GlorotUniform())"),
        ("f(activation=tf.nn.softmax)", "f(activation=tf.nn.softmax)"),
        ("f(tf.zeros_initializer)", "f(tf.keras.initializers.Zeros)"),
        ("tf.compat.v1.nn.relu(x)", "tf.nn.relu(x)"),
        ("tf.compat.v1.to_float(x)", "tf.cast(x, tf.float32)"),
        ("tf.div(tf.reduce_sum(tf.square(x - tf.cast(y, tf.float32))), n)",
         "tf.divide(tf.reduce_sum(tf.square(x - tf.cast(y, tf.float32))), n)"),
        ("tf.div(n, 1 + tf.constant(0.5))", "tf.divide(n, 1 + tf.constant(0.5))"),
        ("f(x.shape[1].value, y.get_shape().as_list()[1])",
         "f(x.shape[1], y.get_shape().as_list()[1])"),
    ],
)  # fmt: skip
def test_functions(code: str, after: str) -> None:
    assert written(code) == after


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tf.get_variable('w')", "without a shape"),
        ("tf.placeholder(tf.float32)", "outside of a session"),
        ("tf.image.resize_images(x, [2, 2])", "half pixels"),
        ("tf.div(x, y)", "integers for integers"),
        ("tf.div(tf.reduce_sum(x), tf.constant(2.0, tf.int32))", "integers for integers"),
        ("tf.summary.scalar('a', x)", "session's graph"),
        ("tf.nn.rnn_cell.LSTMCell(3)", "no TF2 form"),
        ("tf.contrib.signal.stft(x)", "does not exist"),
        ("tf.random_normal_initializer", "other defaults"),
        ("tf.constant_initializer([1, 2])", "own way"),
        ("tf.reduce_sum(*args)", "cannot be determined"),
        ("tf.reduce_sum(x, **given)", "come from"),
        ("tf.layers.dense(x, 3, reuse=True)", "shared by name"),
        ("tf.layers.dense(x, 3, reuse=tf.AUTO_REUSE)", "shared by name"),
        ("tf.layers.dense(x, 3, activity_regularizer=r)", "activity_regularizer"),
        ("tf.layers.dense(x, 3, bias_initializer=None)", "Glorot"),
        ("tf.layers.batch_normalization(x, renorm=True)", "renormalization"),
        ("tf.contrib.layers.dropout(x)", "evaluation"),
        ("tf.contrib.layers.batch_norm(x, 0.9)", "evaluation"),
        ("tf.contrib.layers.conv2d(x, 3, 3, normalizer_fn=tf.contrib.layers.batch_norm)",
         "normalizes"),
        ("tf.contrib.learn.python.learn.estimators.rnn_common.select_last_activations(x, None)",
         "without lengths"),
        ("tf.nn.embedding_lookup([a, b], ids)", "rows of several tables"),
        ("tf.nn.embedding_lookup_sparse([a, b], ids, None)", "rows of several tables"),
        ("tf.losses.mean_pairwise_squared_error(a, b)", "no Keras loss"),
        ("tf.losses.mean_squared_error(a, b, reduction=r)", "reduction"),
        ("tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01)", "no Keras optimizer"),
        ("tf.contrib.opt.LazyAdamOptimizer(0.1)", "no Keras optimizer"),
        ("tf.train.MomentumOptimizer(make(), 0.9)", "cannot be determined"),
        ("tf.train.linear_cosine_decay(0.1, tf.train.get_global_step(), 9)", "no schedule"),
        ("tf.train.exponential_decay(0.1, batch * 64, 9, 0.1)", "global step"),
        ("2 * tf.train.exponential_decay(0.1, tf.train.get_global_step(), 9, 0.1)", "calculated"),
        ("tf.metrics.mean_per_class_accuracy(a, b, 3)", "no Keras metric"),
        ("tf.metrics.accuracy(a, b, weights=0.5)", "the same weight"),
        ("tf.metrics.mean_iou(a, b, 3, weights=w)", "whole numbers"),
        ("tf.metrics.auc(a, b, curve='PR', summation_method='minoring')", "by another formula"),
        ("tf.metrics.auc(a, b, curve=c)", "which curve"),
    ],
)  # fmt: skip
def test_refused(code: str, reason: str) -> None:
    module, node = module_of(f"x = {code}")
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)] or [node]
    tables = (
        lambda n: read_layer(module, n),
        lambda n: read_loss(module, n),
        lambda n: optimizer_of(module, n),
        lambda n: read_schedule(module, n),
        lambda n: read_metric(module, n),
        lambda n: function(module, n, FileStyle.of(module.source)),
    )
    for call in calls:
        for table in tables:
            try:
                if table(call) and table is not tables[-1]:
                    pytest.fail(f"taken: {ast.unparse(call)}")
            except Refused as refused:
                assert reason in refused.diagnostic.reason
                return
    pytest.fail("nothing refused it")


@pytest.mark.parametrize(
    ("before", "rate", "expected"),
    [
        ("", "0.1", Variation.CONSTANT),
        ("", "params['rate'] * 2", Variation.CONSTANT),
        ("", "FLAGS.rate", Variation.CONSTANT),
        ("", "float(params.get('rate', 0.1))", Variation.CONSTANT),
        ("import horovod.tensorflow as hvd", "0.1 * hvd.size()", Variation.CONSTANT),
        ("r = 0.1\nr = r * 2", "r", Variation.CONSTANT),
        ("r = tf.train.cosine_decay(0.1, tf.train.get_global_step(), 9)", "r", Variation.SCHEDULED),
        ("def f(step):\n  return tf.train.cosine_decay(0.1, step, 9)", "f(1)", Variation.SCHEDULED),
        ("s = tf.train.get_global_step()", "warm_up(s)", Variation.SCHEDULED),
        ("r = 0.1\nr = make()", "r", Variation.UNKNOWN),
        ("from rates import make", "tf.minimum(make(), 1.0)", Variation.UNKNOWN),
    ],
)
def test_rates(before: str, rate: str, expected: Variation) -> None:
    module, node = module_of(f"{before}\nx = {rate}")
    assert variation_of(module, node) is expected


def test_arg_scope_keeps_a_layer() -> None:
    code = (
        "slim = tf.contrib.slim\nwith slim.arg_scope([slim.conv2d]): pass\nx = slim.conv2d(y, 3, 3)"
    )
    module, call = module_of(code)
    with pytest.raises(Refused, match="arg_scope"):
        read_layer(module, call)


def test_regularizers_go_where_the_loss_ignores_them() -> None:
    module, call = module_of("tf.layers.dense(x, 3, kernel_regularizer=r, name='a/b')")
    made = read_layer(module, call, regularized=False)
    assert made is not None
    assert (
        edited(module, call, made_edits(made, FileStyle.of(module.source)))
        == "tf.keras.layers.Dense(3)"
    )


def test_layer_class() -> None:
    module, call = module_of("tf.layers.BatchNormalization(axis=-1, fused=True, _scope='x')")
    edits = made_by(module, call, FileStyle.of(module.source))
    assert edits is not None
    assert edited(module, call, edits) == "tf.keras.layers.BatchNormalization(axis=-1)"


def test_embeddings_keep_optimizers_that_update_their_rows() -> None:
    code = "e = tf.contrib.layers.embed_sequence(ids, 5, 3)\nx = tf.train.{}(0.1)"
    module, call = module_of(code.format("AdamOptimizer"))
    assert optimizer_of(module, call) is not None
    module, call = module_of(code.format("RMSPropOptimizer"))
    with pytest.raises(Refused, match="rows of an embedding"):
        optimizer_of(module, call)
