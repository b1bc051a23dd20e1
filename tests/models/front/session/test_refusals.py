"""Programs of sessions that stay: what is not understood keeps the bridge, with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import after, run, said

GRAPHS = Path(__file__).parents[4].joinpath("fixtures/session/graph_sizes/before.py").read_text()

HEAD = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.zeros([2, 1]))
count = tf.Variable(0, trainable=False)
rows = np.ones([2, 2])
scale = 2.0
"""
MODEL = """\
out = tf.matmul(x, w) * scale
loss = tf.reduce_mean(tf.square(out - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
APPLIED = MODEL.replace("tf.matmul(x, w)", "f(x)")
NET = """\
def net(x):
    with tf.variable_scope("net", reuse=False):
        return tf.layers.dense(x, 1)


"""
LOOPED = """\
def net():
    with tf.variable_scope("net"):
        x = out
        for i in range(2):
            x = tf.layers.dropout(x, 0.1, training=True)
        return x


"""
NORMALIZED = """\
flag = tf.placeholder(tf.bool)
out = tf.layers.batch_normalization(tf.matmul(x, w), training=flag)
loss = tf.reduce_mean(tf.square(out - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
moves = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
"""
BY_HAND = """\
flag = tf.placeholder(tf.bool)


def f(x):
    mean, variance = tf.nn.moments(x, [0])
    ema = tf.train.ExponentialMovingAverage(0.9)

    def update():
        with tf.control_dependencies([ema.apply([mean, variance])]):
            return tf.identity(mean), tf.identity(variance)

    mean, variance = tf.cond(
        flag, update, lambda: (ema.average(mean), ema.average(variance)))
    return tf.matmul(tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3), w)


"""
TRAINS_ALONE = "print(sess.run(loss, {x: rows, flag: True}))\n"


def saved(body: str) -> str:
    """A program that saves what a function makes."""
    head = HEAD.replace("w = tf.Variable(tf.zeros([2, 1]))\n", "")
    return (
        f"{head}def net(x):\n{body}    return x\n"
        "loss = tf.reduce_mean(tf.square(net(x) - 1.0))\n"
        "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
        f"saver = tf.train.Saver()\n{START}sess.run(train, {{x: rows}})\nsaver.save(sess, 'a')\n"
    )


def scoped(text: str) -> str:
    """A program that applies a function in the scope `a`, and then does something else."""
    net = "def net(x):\n    return tf.matmul(x, tf.get_variable('w', [2, 1]))\n\n\n"
    first = "with tf.variable_scope('a'):\n    first = net(x)\n"
    return program(f"{net}{first}{text}{MODEL.partition(chr(10))[2]}")


START = """\
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""
PAIRS = """\
out = tf.matmul(x, w) * scale
loss = tf.reduce_mean(tf.square(out - 1.0))
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
train = optimizer.apply_gradients(pairs)
"""
FED = "print(sess.run(z * 2.0, {z: [3]}))\n"
DIGITS = """\
from tensorflow.examples.tutorials.mnist import input_data
digits = input_data.read_data_sets("data")
"""
DRAWN = (
    HEAD
    + """\
data = tf.data.Dataset.from_tensor_slices(rows).batch(2)
it = data.make_one_shot_iterator()
batch = it.get_next()
loss = tf.reduce_mean(tf.square(tf.matmul(tf.cast(batch, tf.float32), w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
)
STRUCTURE = "tf.data.Iterator.from_structure({}, {})"
TURNS = DRAWN.replace(
    "data.make_one_shot_iterator()", STRUCTURE.format("data.output_types", "data.output_shapes")
)
DRAWING = (
    HEAD
    + """\
def draw():
    data = tf.data.Dataset.from_tensor_slices(rows).batch(2)
    it = data.make_one_shot_iterator()
    batch = it.get_next()
    return batch
batch = draw()
loss = tf.reduce_mean(tf.square(tf.matmul(tf.cast(batch, tf.float32), w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
)
STEP = "print(sess.run([loss, train], {x: rows})[0])\n"


def program(
    model: str = MODEL, run: str = "value, _ = sess.run([loss, train], {x: rows})\n", **parts: str
) -> str:
    head, start = parts.get("head", HEAD), parts.get("start", START)
    return head + model + parts.get("before", "") + start + run


def later(run: str, before: str = "") -> str:
    """A program whose later session runs something, and restores nothing."""
    train = "    sess.run(tf.global_variables_initializer())\n    sess.run(train, {x: rows})\n"
    again = f"with tf.Session() as sess:\n    {run}\n"
    return program(before=before, start="", run=f"with tf.Session() as sess:\n{train}{again}")


NATIVE = program()
SPARSE = HEAD.replace("tf.zeros([2, 1])", "tf.zeros([9, 1])").replace(
    "tf.float32, [None, 2]", "tf.int32, [None]"
)
OF_LOSS = (
    HEAD
    + """y = tf.placeholder(tf.float32, [None, 1])
def loss_of(x, y):
    net = tf.layers.dense(x, 1)
    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=net)
"""
)
LABELS = """loss = tf.reduce_mean(loss_of(x, y) + tf.matmul(x, w))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
TWO = """def make(shape):
    first = tf.Variable(tf.zeros(shape))
    return tf.Variable(tf.ones(shape))
"""
KINDS = """def make(shape, fixed=False):
    if fixed:
        return tf.Variable(tf.zeros(shape), trainable=False)
    return tf.Variable(tf.ones(shape))
"""
HALF = """def make(shape):
    weights = tf.Variable(tf.ones(shape))
    weights = weights / 2
    return weights
"""
OPTIMIZED = MODEL.replace(
    "tf.train.GradientDescentOptimizer(0.1).minimize(loss)",
    "tf.contrib.layers.optimize_loss(loss, count, 0.1, 'SGD'MORE)",
)
REFUSED = {
    # steps that a function makes
    "optimize_loss with summaries that are merged": (
        program(OPTIMIZED.replace("MORE", ""), before="merged = tf.summary.merge_all()\n"),
        "`optimize_loss` adds summaries to those that are merged",
    ),
    "optimize_loss with noise": (
        program(OPTIMIZED.replace("MORE", ", gradient_noise_scale=0.1")),
        "`optimize_loss` with `gradient_noise_scale`",
    ),
    "optimize_loss that counts nothing": (
        program(OPTIMIZED.replace("count, 0.1", "None, 0.1").replace("MORE", "")),
        "the global step, of `optimize_loss` cannot be determined",
    ),
    "optimize_loss with a schedule": (
        program(
            OPTIMIZED.replace(
                "MORE",
                ", learning_rate_decay_fn=lambda rate, step: "
                "tf.train.exponential_decay(rate, step, 2, 0.5)",
            )
        ),
        "its learning rate follows the steps",
    ),
    "two optimizers of optimize_loss that are saved": (
        program(
            OPTIMIZED.replace("MORE", "")
            + "more = tf.contrib.layers.optimize_loss(out[0, 0], count, 0.1, 'Adam')\n",
            before="saver = tf.train.Saver()\n",
        ),
        "the states of two optimizers are saved, which `optimize_loss` makes",
    ),
    "a step of slim": (
        program(
            "from tensorflow.contrib import slim\n"
            + MODEL.replace(
                "tf.train.GradientDescentOptimizer(0.1).minimize(loss)",
                "slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.1))",
            )
        ),
        "`slim.learning.create_train_op` is not among",
    ),
    # lists that are not taken apart
    "a variable that the step changes, before a value": (
        program(run="print(sess.run([w, loss, train], {x: rows}))\n"),
        "a variable that the step may change is fetched before a value",
    ),
    "a variable between values": (
        program(run=STEP + "print(sess.run([loss, w, out], {x: rows}))\n"),
        "it fetches something else between values",
    ),
    # what is built
    "print of a number of parts": (
        program(before="print(len(out.get_shape()))\n"),
        "`out`, a part of the graph, is used outside",
    ),
    "print with more than parts": (
        program(before="print(out[0], rows)\n"),
        "`out`, a part of the graph, is used outside",
    ),
    "loop": (
        program(MODEL.replace("out =", "for i in range(2):\n    out =")),
        "a part of the graph, is used outside",
    ),
    "an assignment that is computed with": (
        program(before="change = tf.assign(count, 1)\nmore = change + 1\n"),
        "`change` is computed with, and gives a variable a value",
    ),
    "an assignment in an expression": (
        program(before="more = tf.assign(count, 1) + 1\n"),
        "`tf.assign` is not among the functions",
    ),
    "an assignment of what the step trains": (
        program(
            before="change = w.assign(w * 0.5)\n",
            run="sess.run([train, change], {x: rows})\n",
        ),
        "`w` is assigned and used in one step",
    ),
    # averages of tensors, which TF2's class refuses
    "averages of a batch's moments": (
        program(BY_HAND + APPLIED, run="sess.run(train, {x: rows, flag: True})\n"),
        "`tf.train.ExponentialMovingAverage` is not among the functions",
    ),
    "averages of losses": (
        program(before="ema = tf.train.ExponentialMovingAverage(0.9)\nmove = ema.apply([loss])\n"),
        "averages of other variables than tf.trainable_variables()",
    ),
    "averages of losses, with a name": (
        program(
            before="ema = tf.train.ExponentialMovingAverage(0.9, name='avg')\n"
            "move = ema.apply([loss])\n"
        ),
        "averages with a name of their own",
    ),
    "a loss that waits for its average": (
        program(
            MODEL.replace("minimize(loss)", "minimize(waited)").replace(
                "train =",
                "ema = tf.train.ExponentialMovingAverage(0.9)\nmove = ema.apply([loss])\n"
                "with tf.control_dependencies([move]):\n    waited = tf.identity(loss)\ntrain =",
            )
        ),
        "averages of other variables than tf.trainable_variables()",
    ),
    "an assignment of what another value is made of": (
        program(
            before="change = tf.assign_add(count, 1)\nnext = count + 1\n",
            run=STEP + "a, b = sess.run([change, next])\n",
        ),
        "`count` is assigned and used in one step",
    ),
    "an assignment with its variable": (
        program(
            before="change = tf.assign_add(count, 1)\n",
            run=STEP + "a, b = sess.run([change, count])\n",
        ),
        "a variable is assigned and fetched in one step",
    ),
    "other names of all variables": (
        program(
            MODEL.replace("- 1.0))", "- 1.0)) + NORMS").replace(
                "NORMS", "sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if v.op)"
            )
        ),
        "`v.op` is something else in TF2",
    ),
    "a word that TF1 may have made up": (
        program(
            MODEL.replace("- 1.0))", "- 1.0)) + NORMS").replace(
                "NORMS",
                "sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'Variable_1' in v.name)",
            )
        ),
        "`v.name` is something else in TF2",
    ),
    "all variables in a function": (
        program(
            MODEL.replace("- 1.0))", "- 1.0)) + decay()"),
            head=HEAD + "def decay():\n    return tf.add_n(tf.trainable_variables())\n\n\n",
        ),
        "a function asks for all that the graph has",
    ),
    "default": (
        program(head=HEAD.replace("placeholder(tf.float32,", "placeholder_with_default(rows,")),
        "the default of this placeholder is not a literal number",
    ),
    "flag": (
        program(NORMALIZED, "sess.run([train, moves], {x: rows, flag: len(rows) > 1})\n"),
        "`flag`, a layer's training mode, is computed",
    ),
    "averages": (
        program(NORMALIZED, "sess.run([train, moves], {x: rows, flag: True})\n" + TRAINS_ALONE),
        "its moving averages are not updated in every step that trains it",
    ),
    "averages of a later layer": (
        program(
            NORMALIZED + "late = tf.layers.batch_normalization(out, training=flag)\n",
            "sess.run([train, moves], {x: rows, flag: True})\n"
            "sess.run(late, {x: rows, flag: False})\n",
        ),
        "it is made after tf.GraphKeys.UPDATE_OPS is read",
    ),
    "updates of their own": (
        program(
            NORMALIZED.replace(
                "layers.batch_normalization(tf.matmul(x, w), training=flag)",
                "contrib.layers.batch_norm(tf.matmul(x, w), is_training=flag, "
                "updates_collections='moves')",
            ),
            "sess.run(train, {x: rows, flag: True})\n",
        ),
        "batch normalization keeps its updates in a collection of its own",
    ),
    "fused as computed": (
        program(
            NORMALIZED.replace(
                "layers.batch_normalization(tf.matmul(x, w), training=flag)",
                "contrib.layers.batch_norm(tf.matmul(x, w), is_training=flag, fused=rows is None)",
            ),
            "sess.run(train, {x: rows, flag: True})\n",
        ),
        "whether batch normalization is fused is computed",
    ),
    "images that are not fused": (
        program(
            NORMALIZED.replace("training=flag", "training=flag, fused=False").replace(
                "tf.matmul(x, w)", "tf.reshape(tf.matmul(x, w), [-1, 1, 1, 1])"
            ),
            "sess.run(train, {x: rows, flag: True})\n",
        ),
        "batch normalization of images that is not fused",
    ),
    "a layer's own seed": (
        program(MODEL.replace("loss =", "out = tf.layers.dropout(out, seed=1)\nloss =", 1)),
        "a layer with its own seed",
    ),
    "averages alone": (
        program(NORMALIZED, "sess.run(train, {x: rows, flag: True})\nsess.run(moves, {x: rows})\n"),
        "moving averages are updated in a step that trains nothing",
    ),
    "layer of a tensor": (
        program(MODEL.replace("loss =", "out = tf.layers.dense(out, count)\nloss =", 1)),
        "a layer depends on `count`",
    ),
    "layers in a loop": (
        program(
            LOOPED + MODEL.replace("loss =", "given = net()\nloss =").replace("out -", "given -")
        ),
        "a layer is made in a loop of a function",
    ),
    "device": (
        program(before="with tf.device(lambda op: '/cpu:0'):\n    pass\n"),
        "`tf.device` is not supported",
    ),
    "dependencies": (
        program(before="with tf.control_dependencies([train]):\n    done = tf.constant(0.0)\n"),
        "`train`, a part of the graph, is used outside",
    ),
    "an order of layers": (
        program(
            before="with tf.control_dependencies([train]):\n"
            "    again = tf.layers.Dense(1).apply(loss)\n"
        ),
        "what runs before this cannot be analyzed",
    ),
    "an order of nothing that trains": (
        program(before="with tf.control_dependencies([loss]):\n    done = tf.no_op()\n"),
        "no operation trains here",
    ),
    "collection": (
        program(before="every = tf.get_collection('losses')\n"),
        "`tf.get_collection` is not among the functions",
    ),
    "steps counted by what is trained": (
        program(
            "steps = tf.Variable(0.0)\n"
            + MODEL.replace("minimize(loss)", "minimize(loss, global_step=steps)").replace(
                "out - 1.0", "out - steps"
            )
        ),
        "`steps`, which it trains, counts its steps",
    ),
    "the norm of gradients": (
        program(
            PAIRS.replace(
                "train =",
                "found, norm = tf.clip_by_global_norm(tf.gradients(loss, [w]), 1.0)\ntrain =",
            )
            + "print(norm)\n"
        ),
        "`norm`, a part of the graph, is used outside of `Session.run`",
    ),
    "gradients that are changed": (
        program(PAIRS.replace("(pairs)", "([(tf.Variable(0.5) * g, v) for g, v in pairs])")),
        "what happens to the gradients here cannot be analyzed",
    ),
    "gradients that Python looks at": (
        program(PAIRS + "print(len(pairs))\n"),
        "`pairs`, a part of the graph, is used outside",
    ),
    "gradients of another optimizer": (
        program(
            "other = tf.train.AdamOptimizer()\n"
            + PAIRS.replace("optimizer.compute", "other.compute")
        ),
        "are computed by another optimizer",
    ),
    "gradients of other variables": (
        program(
            PAIRS.replace("(pairs)", "(zip(tf.gradients(loss, [w]), [w]))"),
        ),
        "cannot be recognized as the gradients of these variables",
    ),
    "gradients of a loss that changes": (
        program(PAIRS.replace("train =", "loss = loss * 2.0\ntrain =")),
        "`loss` has a different value here than where it is differentiated",
    ),
    "a limit of the gradients that is a part of the graph": (
        program(PAIRS.replace("(pairs)", "([(tf.clip_by_norm(g, loss), v) for g, v in pairs])")),
        "the limit of the gradients is computed in the graph",
    ),
    "a limit of the gradients that changes": (
        program(
            PAIRS.replace("(pairs)", "([(tf.clip_by_norm(g, limit), v) for g, v in pairs])"),
            head=HEAD + "limit = 2.0\n",
            before="limit = 3.0\n",
        ),
        "`limit` changes, and the graph was built with one of its values",
    ),
    "an attribute of a class that changes behind the graph": (
        program(
            MODEL.replace("tf.matmul(x, w)", "tf.matmul(x, w) * Settings.scale"),
            head=HEAD + "class Settings:\n    scale = 2.0\n",
            before="Settings.scale = 3.0\n",
        ),
        "`Settings.scale` changes, and the graph was built with one of its values",
    ),
    "labels": (
        program(
            "out = tf.matmul(x, w)\n"
            "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits("
            "labels=out, logits=out))\n"
            "train = tf.train.AdamOptimizer().minimize(loss)\n"
        ),
        "its labels depend on variables",
    ),
    "labels that a function is given, and that are trained": (
        program(LABELS.replace("loss_of(x, y)", "loss_of(x, tf.matmul(x, w))"), STEP, head=OF_LOSS),
        "its labels depend on variables",
    ),
    "labels that a function makes": (
        program(LABELS, STEP, head=OF_LOSS.replace("labels=y", "labels=tf.layers.dense(y, 1)")),
        "its labels depend on variables",
    ),
    "labels of tf.losses that a function makes": (
        program(
            LABELS,
            STEP,
            head=OF_LOSS.replace(
                "nn.softmax_cross_entropy_with_logits(labels=y, logits=",
                "losses.softmax_cross_entropy(tf.nn.relu(net) + y, logits=",
            ),
        ),
        "its labels depend on variables",
    ),
    "float64 of NumPy's": (
        program(
            MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer()"),
            head=HEAD.replace("tf.float32", "np.float64"),
        ),
        "its variables may be float64",
    ),
    "a variable of float64": (
        program(
            MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer()").replace(
                "tf.matmul(x, w)", "tf.reduce_sum(w)"
            ),
            head=HEAD.replace("tf.zeros([2, 1])", "tf.zeros([2, 1], dtype=np.float64)"),
        ),
        "its variables may be float64",
    ),
    "float64": (
        program(
            MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer()"),
            head=HEAD.replace("float32", "float64").replace("tf.zeros([2, 1])", "np.zeros([2, 1])"),
        ),
        "its variables may be float64",
    ),
    "schedule": (
        program(
            MODEL.replace(
                "Optimizer(0.1)", "Optimizer(tf.train.exponential_decay(0.1, count, count, 0.5))"
            )
        ),
        "a schedule depends on `count`",
    ),
    "another's variable": (
        program(MODEL.replace("minimize(loss)", "minimize(loss, var_list=[count])")),
        "the loss does not depend on `count`",
    ),
    # functions
    "a function that prints": (
        program(
            "def net(a, n=2):\n    print(n)\n    return tf.matmul(a, w)\n\n\n"
            + MODEL.replace("tf.matmul(x, w)", "net(x)")
        ),
        "`net` does more than compute a value",
    ),
    "a function that is used otherwise too": (
        program(
            "def net(a):\n    return tf.matmul(a, w)\n\n\n"
            + MODEL.replace("tf.matmul(x, w)", "net(x)")
            + "kept = {'net': net}\n"
        ),
        "`net` is used outside of the graph as well",
    ),
    "a function that reads a placeholder": (
        program(
            "def net(*scales):\n    return tf.matmul(x, w) * scales[0]\n\n\n"
            + MODEL.replace("tf.matmul(x, w)", "net(1.0)")
        ),
        "`x`, a part of the graph, is read inside of a function",
    ),
    "a function within another that reads a placeholder": (
        program(
            "def inner(*_):\n    return tf.matmul(x, w)\n\n\ndef net():\n    return inner()\n\n\n"
            + MODEL.replace("tf.matmul(x, w)", "net()")
        ),
        "`x`, a part of the graph, is read inside of a function",
    ),
    # loops that add to tensors
    "a loop whose item is read behind it": (
        program(
            MODEL.replace(
                "loss =", "for k in range(2):\n    out += tf.cast(k, tf.float32)\nloss ="
            ),
            run=STEP + "print(k)\n",
        ),
        "the loss depends on no variable",
    ),
    "a loop that also prints": (
        program(
            MODEL.replace("loss =", "for k in range(2):\n    out += 1.0\n    print(k)\nloss =")
        ),
        "the loss depends on no variable",
    ),
    "a loop that prints a tensor that is read by name": (
        program(before="for k in range(2):\n    print(out[k])\n"),
        "`out`, a part of the graph, is used outside",
    ),
    "list read before its loop": (
        program(
            MODEL.replace(
                "loss =",
                "some = []\nprint(len(some))\nfor k in range(2):\n    some.append(out)\nloss =",
            )
        ),
        "`out`, a part of the graph, is used outside",
    ),
    "list that is not empty": (
        program(
            MODEL.replace("loss =", "some = [0]\nfor k in range(2):\n    some.append(out)\nloss =")
        ),
        "`out`, a part of the graph, is used outside",
    ),
    "name of a loop that has a value behind it": (
        program(
            MODEL.replace(
                "loss =",
                "some = []\nfor k in range(2):\n    one = out * k\n"
                "    some.append(one)\nnp.shape(one)\nloss =",
            )
        ),
        "`one`, a part of the graph, is used outside",
    ),
    "item of a list of tensors": (
        program(
            MODEL.replace("loss =", "some = [out, out * 2]\nloss ="),
            run="print(sess.run([some, loss], {x: rows})[0])\n" + STEP,
        ),
        "one of several values is read here, and there are lists of tensors among them",
    ),
    # several graphs
    "a second graph and a saver": (
        program(
            run=STEP
            + "saver = tf.train.Saver()\nsaver.save(sess, 'x')\ntf.reset_default_graph()\n"
            + program().split("\n", 2)[2]
        ),
        "the graph is reset",
    ),
    "a second graph that asks for a collection": (
        program(
            run=STEP
            + "tf.reset_default_graph()\n"
            + program(before="print(tf.losses.get_regularization_loss())\n").split("\n", 2)[2]
        ),
        "get_regularization_loss",
    ),
    "a second graph that a function reads": (
        program(
            "def net(a):\n    return tf.matmul(a, w)\n\n\n"
            + MODEL.replace("tf.matmul(x, w)", "net(x)"),
            run=STEP + "tf.reset_default_graph()\n" + program().split("\n", 2)[2],
        ),
        "`w`, of several graphs, is read inside of a function",
    ),
    # sampled losses, and those of sequences
    "a table in parts": (
        program(
            MODEL.replace(
                "tf.reduce_mean(",
                "tf.reduce_mean(tf.nn.nce_loss(w, w, x, out, 1, 2, partition_strategy='div') + ",
            )
        ),
        "a table in several parts",
    ),
    "a sequence that is averaged otherwise": (
        program(
            MODEL.replace(
                "tf.reduce_mean(",
                "tf.reduce_mean(tf.contrib.seq2seq.sequence_loss(out, x, x, False) + ",
            )
        ),
        "has arguments for which TF2 has nothing equal",
    ),
    "one variable in two lists": (
        program(MODEL.replace("minimize(loss)", "minimize(loss, var_list=[w] + [w])")),
        "which variables are trained cannot be determined",
    ),
    # functions that make variables
    "a function that makes two variables": (
        program(head=TWO + HEAD.replace("tf.Variable(tf.zeros([2, 1]))", "make([2, 1])")),
        "`make` does more than make a variable",
    ),
    "a function that gives more than a variable": (
        program(head=HALF + HEAD.replace("tf.Variable(tf.zeros([2, 1]))", "make([2, 1])")),
        "`make` does more than make a variable",
    ),
    "a function that makes variables of two kinds": (
        program(head=KINDS + HEAD.replace("tf.Variable(tf.zeros([2, 1]))", "make([2, 1])")),
        "`make` makes variables of different kinds or names",
    ),
    # what Python changes
    "a value that changes": (
        program(run="def show():\n    print(scale)\n\n\nscale = 3.0\n" + STEP),
        "`scale` changes",
    ),
    "a list that changes": (
        program(
            MODEL.replace("scale", "tf.constant(parts)"),
            "parts.append(1)\n" + STEP,
            head=HEAD + "parts = [1.0]\n",
        ),
        "changes here, and the graph was built with its earlier value",
    ),
    "a value that a function above changes": (
        program(
            run="shift()\n" + STEP,
            head=HEAD
            + "scale = scale + 1.0\n\n\ndef shift():\n    global scale\n    scale += 1.0\n\n\n",
        ),
        "`scale` changes",
    ),
    "a value that is deleted": (
        program(run="del scale\n" + STEP, head=HEAD + "scale = scale + 1.0\n"),
        "`scale` changes",
    ),
    "a list that a function above changes": (
        program(
            MODEL.replace("scale", "tf.constant(parts)"),
            "more()\n" + STEP,
            head=HEAD + "parts = [1.0]\n\n\ndef more():\n    parts.append(1.0)\n\n\n",
        ),
        "changes here, and the graph was built with its earlier value",
    ),
    "an array that gets other values": (
        program(
            MODEL.replace("scale", "tf.constant(parts)"),
            "np.copyto(parts, [2.0])\n" + STEP,
            head=HEAD + "parts = np.ones(1, np.float32)\n",
        ),
        "changes here, and the graph was built with its earlier value",
    ),
    "a second graph that may have a variable of the first": (
        program() + f"if scale > 3.0:\n    w = tf.Variable(tf.zeros([2, 1]))\n{MODEL}"
        f"{START}sess.run(train, {{x: rows}})\n",
        "`w` is also assigned elsewhere",
    ),
    "a second graph that adds to a loss of the first": (
        program() + "w = tf.Variable(1.0)\nloss += tf.square(w - 1.0)\n"
        "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
        f"{START}sess.run(train)\n",
        "`x` is not fed here, and is needed",
    ),
    "a second graph that takes variables by their names": (
        program()
        + "with tf.variable_scope('a', reuse=tf.AUTO_REUSE):\n    v = tf.get_variable('b', [])\n"
        "with tf.variable_scope('a', reuse=tf.AUTO_REUSE):\n    w = tf.get_variable('b', [])\n"
        "cost = tf.square(w - 1.0)\n"
        "train = tf.train.GradientDescentOptimizer(0.1).minimize(cost)\n"
        f"{START}sess.run(train)\n",
        "the loss depends on no variable",
    ),
    "averages of several graphs": (
        GRAPHS.replace(
            "many_step = ",
            "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n"
            "        many_step = ",
        ),
        "it builds several graphs, and moves averages of them, or has towers",
    ),
    "an array that is shuffled": (
        program(
            MODEL.replace("scale", "tf.reduce_mean(digits.train.images)"),
            "batch, _ = digits.train.next_batch(2)\nsess.run(train, {x: batch[:, :2]})\n",
            head=HEAD + DIGITS,
        ),
        "changes here, and the graph was built with its earlier value",
    ),
    "an array that another name shuffles": (
        program(
            MODEL.replace("scale", "tf.reduce_mean(digits.train.images)"),
            "batch, _ = training.next_batch(2)\nsess.run(train, {x: batch[:, :2]})\n",
            head=HEAD + DIGITS + "training = digits.train\n",
        ),
        "changes here, and the graph was built with its earlier value",
    ),
    "built in a loop": (
        program(run="for i in range(2):\n    print(sess.run(out[i], {x: rows}))\n" + STEP),
        "`i` has a different value each time",
    ),
    "built in a comprehension": (
        program(run="print([sess.run(out[i], {x: rows}) for i in range(2)])\n" + STEP),
        "`i` has a different value each time",
    ),
    "a name for two things": (
        program(
            run="def show():\n    print(loss)\n\n\nloss = sess.run(loss, {x: rows})\n"
            "sess.run(train, {x: rows})\n"
        ),
        "`loss`, a part of the graph, is assigned again",
    ),
    # runs
    "before or after": (
        program(run="sess.run([train, tf.reduce_sum(w)], {x: rows})\n"),
        "before or after the variables change",
    ),
    "two at once": (
        program(
            MODEL + "other = tf.train.AdamOptimizer().minimize(loss)\n",
            "sess.run([train, other], {x: rows})\n",
        ),
        "two optimizers run in one step",
    ),
    "not fed": (program(run="sess.run(train)\n"), "`x` is not fed here"),
    "a placeholder that is not fed": (
        program(run="print(sess.run(x))\n" + STEP),
        "`x` is not fed here, and is needed",
    ),
    "a tensor is fed": (
        program(run="print(sess.run(loss, {out * 2.0: rows}))\n" + STEP),
        "something other than a named placeholder",
    ),
    "feeds from a function": (
        program(run="sess.run(train, feed_dict=feed())\n", head=HEAD + "feed = dict\n"),
        "what is fed cannot be determined",
    ),
    "feeds that are updated": (
        program(run="feeds = {x: rows}\nfeeds.update(x=rows)\nsess.run(train, feeds)\n"),
        "has another use as well",
    ),
    "a range is fed": (program(run="sess.run(train, {x: range(2)})\n"), "takes no `range`"),
    "an operation's value": (
        program(run="done = sess.run(train, {x: rows})\nprint(done)\n"),
        "the value of an operation, which is None",
    ),
    "an operation's value in a list": (
        program(run="value, done = sess.run([loss, train], {x: rows})\nprint(done)\n"),
        "`done` is the value of an operation",
    ),
    "options of a run": (
        program(run="sess.run(train, {x: rows}, options=None)\n"),
        "the arguments of this `Session.run` cannot be analyzed",
    ),
    # first values and sessions
    "first values twice": (
        program(
            MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer(0.1)"),
            STEP + "sess.run(tf.global_variables_initializer())\n" + STEP,
        ),
        "variables are initialized again, and what an optimizer keeps with them",
    ),
    "first values in a loop": (
        program(
            start="sess = tf.Session()\n"
            "for i in range(2):\n    sess.run(tf.global_variables_initializer())\n"
        ),
        "variables are initialized in a loop or a block",
    ),
    "no first values": (program(start="sess = tf.Session()\n"), "something runs before"),
    "nothing but first values": (program(run=""), "nothing runs in its session"),
    "it saves what nothing trains": (
        program(
            MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer(0.1)"),
            "saver = tf.train.Saver()\nprint(sess.run(loss, {x: rows}))\n"
            "saver.save(sess, 'model.ckpt')\n",
        ),
        "it saves what an optimizer keeps that nothing runs",
    ),
    # summaries
    "a summary whose tag is computed": (
        program(before="tf.summary.scalar('loss%d' % rows.size, loss)\n"),
        "TF1's tag of a summary cannot be determined",
    ),
    "a summary with an operation's name": (
        program(before="tf.summary.scalar('Mean', loss)\n"),
        "an operation may have that name",
    ),
    "a summary of gradients that no step applies": (
        program(
            PAIRS + "others = optimizer.compute_gradients(loss)\n"
            "for g, v in others:\n    tf.summary.histogram(v.op.name, g)\n"
            "all = tf.summary.merge_all()\n"
        ),
        "a summary tells of gradients that no step applies",
    ),
    "summaries of gradients of two optimizers": (
        program(
            PAIRS + "other = tf.train.AdamOptimizer(0.1)\nv2 = tf.Variable([1.0])\n"
            "error = tf.reduce_sum(v2 * v2)\nmore = other.compute_gradients(error, [v2])\n"
            "train_2 = other.apply_gradients(more)\n"
            "for g, v in pairs:\n    tf.summary.histogram(v.op.name + '/a', g)\n"
            "for g, v in more:\n    tf.summary.histogram(v.op.name + '/b', g)\n"
            "all = tf.summary.merge_all()\n",
            "sess.run(train_2)\nsess.run(train, {x: rows})\nprint(sess.run(all, {x: rows}))\n",
        ),
        "summaries of the gradients of several optimizers, in one step",
    ),
    "a summary of what is computed of gradients": (
        program(PAIRS + "for g, v in pairs:\n    tf.summary.histogram(v.op.name, g * scale)\n"),
        "a gradient's summary is not of its value",
    ),
    "a summary of gradients with a number": (
        program(
            PAIRS + "for g, v in pairs:\n    tf.summary.histogram('%s%d' % (v.name, 1), g)\n"
            "all = tf.summary.merge_all()\n"
        ),
        "TF1's tag of a summary cannot be determined",
    ),
    "summaries of a scope": (
        program(before="some = tf.get_collection(tf.GraphKeys.SUMMARIES, 'a')\n"),
        "which summaries are asked for cannot be determined",
    ),
    "a list of summaries that is used otherwise": (
        program(
            before="some = []\nsome.append(tf.summary.scalar('a', loss))\n"
            "all = tf.summary.merge(some)\nprint(len(some))\n"
        ),
        "`some`, a part of the graph, is used outside of `Session.run`",
    ),
    "summaries of a family": (
        program(before="tf.summary.scalar('a', loss, family='b')\n"),
        "`family` of a summary",
    ),
    "a summary of a name that changes in a branch": (
        program(
            before="tf.summary.scalar('a', out)\nif rows is not None:\n    out = out * 2.0\n"
            "all = tf.summary.merge_all()\n"
        ),
        "",
    ),
    "a writer that is asked for its folder": (
        program(
            run=STEP + "print(writer.get_logdir())\n",
            before="writer = tf.summary.FileWriter('a')\n",
        ),
        "`writer.get_logdir` has no form in TF2",
    ),
    "a writer that is kept": (
        program(run=STEP + "writers = [writer]\n", before="writer = tf.summary.FileWriter('a')\n"),
        "`writer` is used for more than writing summaries",
    ),
    "a later session with first values": (
        program(
            MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer(0.1)"),
            start="",
            run="with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
            "    sess.run(train, {x: rows})\n"
            "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
            "    sess.run(train, {x: rows})\n",
        ),
        "variables are initialized again, and what an optimizer keeps with them",
    ),
    "a later session with a part of the values": (
        program(
            before="saver = tf.train.Saver([w])\n",
            start="",
            run="with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
            "    sess.run(train, {x: rows})\n    saver.save(sess, 'a')\n"
            "with tf.Session() as sess:\n    saver.restore(sess, 'a')\n"
            "    sess.run(train, {x: rows})\n",
        ),
        "restores some of the variables alone",
    ),
    "a later session that reads what it did not restore": (
        program(
            before="saver = tf.train.Saver([w])\n",
            model="v = tf.Variable(2.0)\n" + MODEL.replace("scale", "v"),
            start="",
            run="with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
            "    sess.run(train, {x: rows})\n    saver.save(sess, 'a')\n"
            "with tf.Session() as sess:\n    saver.restore(sess, 'a')\n"
            "    print(sess.run(loss, {x: rows}))\n",
        ),
        "restores some of the variables alone",
    ),
    "a later session that computes with a variable": (
        later("print(sess.run(w * 2.0))"),
        "starts without restoring a checkpoint",
    ),
    "a later session that reads a variable": (
        later("print(sess.run(w))"),
        "starts without restoring a checkpoint",
    ),
    "a later session that assigns a variable": (
        later("sess.run(count.assign(3))"),
        "starts without restoring a checkpoint",
    ),
    "a later session that draws": (
        later("print(sess.run(tf.random_normal([2])))"),
        "starts without restoring a checkpoint",
    ),
    "a later session that trains": (
        later("sess.run(train, {x: rows})"),
        "starts without restoring a checkpoint",
    ),
    "a later session that a function uses": (
        later("shown(sess)", "def shown(sess):\n    print(sess.run(w))\n"),
        "starts without restoring a checkpoint",
    ),
    # what a loop builds
    "what a loop builds of a variable": (
        program(run=STEP + "for i in range(2):\n    print(sess.run(tf.multiply(w, float(i))))\n"),
        "`i` has a different value each time this is built",
    ),
    "what a loop builds of what is fed": (
        program(run=STEP + "for i in range(2):\n    print(sess.run(tf.pow(x, i), {x: rows}))\n"),
        "`i` has a different value each time this is built",
    ),
    "what a loop builds that draws": (
        program(run=STEP + "for i in range(2):\n    print(sess.run(tf.random_normal([i])))\n"),
        "`i` has a different value each time this is built",
    ),
    # what is fed in place of something computed
    "an int placeholder in a division, which makes it a float64": (
        program(before="z = tf.placeholder(tf.int32, [None]) / 2\n", run=FED),
        "`tf.placeholder` is not among the functions",
    ),
    "a placeholder with a name of the graph in a division": (
        program(before="z = tf.placeholder(tf.float32, [None], name='z') / 2.0\n", run=FED),
        "`tf.placeholder` is not among the functions",
    ),
    "a placeholder with a shape that is added to": (
        program(before="z = tf.placeholder(tf.float32, [None]) + np.ones([2])\n", run=FED),
        "`tf.placeholder` is not among the functions",
    ),
    "what is computed of a placeholder, and not fed": (
        program(
            before="z = tf.placeholder(tf.float32, [None]) / 2.0\n",
            run="sess.run(train, {x: rows})\nprint(sess.run(z * 2.0))\n",
        ),
        "`z` is not fed here, and is needed",
    ),
    # values that are assigned
    "a value that is computed": (
        program(run=STEP + "sess.run(count.assign(tf.cast(loss, tf.int32)), {x: rows})\n"),
        "`count.assign` is not supported in code that builds",
    ),
    "a value before the first ones": (
        program(start="sess = tf.Session()\nsess.run(count.assign(3))\n" + START[20:]),
        "a variable is assigned before it is initialized",
    ),
    # iterators
    "an iterator that begins again, and nothing has a name that it is made of": (
        DRAWN.replace("it = data.", "it = data.repeat(\n).").replace("one_shot", "initializable")
        + START
        + "for i in range(2):\n    sess.run(it.initializer)\n    sess.run(train)\n",
        "an iterator begins anew, and its dataset has no name",
    ),
    "an iterator that is fed as it begins": (
        DRAWN.replace("one_shot", "initializable")
        + START
        + "sess.run(it.initializer, {x: rows})\nsess.run(train)\n",
        "an iterator may be initialized with fed values",
    ),
    "an iterator whose structure is written out": (
        DRAWN.replace("data.make_one_shot_iterator()", STRUCTURE.format("tf.float32", "None"))
        + START
        + "sess.run(train)\n",
        "an iterator is made of a structure that is not a dataset's",
    ),
    "an iterator that is called as what makes it": (
        DRAWN.replace("it = ", "iter = ").replace("it.get", "iter.get")
        + START
        + "sess.run(train)\n",
        "`iter`, which makes an iterator in TF2, is a name of the program's",
    ),
    "an iterator with parts of two structures": (
        DRAWN.replace(
            "it = data.make_one_shot_iterator()",
            "other = data.batch(2)\nit = "
            + STRUCTURE.format("data.output_types", "other.output_shapes"),
        )
        + START
        + "sess.run(train)\n",
        "an iterator is given the structure of two datasets",
    ),
    "an iterator that begins with a dataset beside a step": (
        TURNS + START + "sess.run([it.make_initializer(data), train])\n",
        "an iterator may be initialized with fed values, or with something else",
    ),
    "an iterator that begins with a dataset without a name": (
        TURNS + START + "sess.run(it.make_initializer(data.skip(1)))\nsess.run(train)\n",
        "an iterator begins anew, and its dataset has no name",
    ),
    "what begins an iterator, used otherwise": (
        TURNS + "begin = it.make_initializer(data)\n" + START + "print(begin)\nsess.run(train)\n",
        "an iterator may be initialized with fed values, or with something else",
    ),
    "an iterator in a second session, where it begins anew": (
        DRAWN
        + "saver = tf.train.Saver()\n"
        + "with tf.Session() as sess:\n"
        + "    sess.run(tf.global_variables_initializer())\n"
        + "    sess.run(train)\n    saver.save(sess, 'm')\n"
        + "with tf.Session() as sess:\n    saver.restore(sess, 'm')\n    sess.run(train)\n",
        "a later session begins its iterators anew",
    ),
    # names that are given away again
    "a placeholder whose name a loop takes that feeds it": (
        program(run="for x in [rows]:\n    sess.run(train, {x: rows})\n"),
        "something other than a named placeholder is fed",
    ),
    "what a variable begins with is computed with as well": (
        program(
            before="start = tf.ones([2, 1])\nv = tf.Variable(start)\n",
            run=STEP + "print(sess.run(tf.matmul(x, v + start), {x: rows}))\n",
        ),
        "the first value of a variable depends on `start`, a part of the graph",
    ),
    "a list that a function appends to is not its own": (
        program(
            head="import numpy as np\n" + HEAD.partition("\n")[2] + "terms = []\n"
            "def net(x):\n    terms.append(x)\n    return tf.add_n(terms)\n",
            model=MODEL.replace("tf.matmul(x, w)", "tf.matmul(net(x), w)"),
        ),
        "`net` does more than compute a value",
    ),
    "a variable whose name is taken, and which runs again": (
        program(run=STEP + "w = sess.run(w)\nprint(sess.run(out, {x: rows}), vars())\n"),
        "`w` is also assigned elsewhere",
    ),
    "a variable whose name is taken in the loop that runs": (
        program(run="for _ in range(2):\n    sess.run(train, {x: rows})\n    w = sess.run(w)\n"),
        "`w` is also assigned elsewhere",
    ),
    "layers of one name, made in another way": (
        program(
            before="one = tf.layers.dense(x, 2, name='a')\n"
            "two = tf.layers.dense(out, 3, name='a', reuse=True)\n"
        ),
        "its variables are shared by name with another call",
    ),
    "layers of one name in another scope": (
        program(
            before="with tf.variable_scope('b'):\n    one = tf.layers.dense(x, 2, name='a')\n"
            "two = tf.layers.dense(x, 2, name='a', reuse=True)\n"
        ),
        "its variables are shared by name with another call",
    ),
    "a placeholder whose name is taken, and which a function knows": (
        program(
            before="def shown():\n    return x.get_shape()\n",
            run=STEP + "for x in rows:\n    print(shown())\n",
        ),
        "`x` is also assigned elsewhere",
    ),
    "one optimizer that trains a variable by two losses": (
        program(
            before="optimizer = tf.train.AdamOptimizer(0.1)\n"
            "a = optimizer.minimize(loss)\nb = optimizer.minimize(loss * 2.0)\n",
            run=STEP + "sess.run(a, {x: rows})\nsess.run(b, {x: rows})\n",
        ),
        "one optimizer minimizes two losses",
    ),
    "one optimizer of two losses, of which a function counts the steps without a name": (
        program(
            before="v = tf.Variable([1.0])\n"
            "other = tf.reduce_sum(tf.square(v))\n"
            "optimizer = tf.train.AdamOptimizer(0.1)\n"
            "a = optimizer.minimize(loss, var_list=[w])\n"
            "b = optimizer.minimize(\n"
            "    other, var_list=[v], global_step=tf.train.get_or_create_global_step())\n"
            "saver = tf.train.Saver()\n",
            run=STEP + "sess.run(a, {x: rows})\nsess.run(b)\nsaver.save(sess, 'model/x')\n",
        ),
        "the state of an optimizer that minimizes two losses is saved",
    ),
    "one optimizer of two losses, the second in a scope": (
        program(
            before="v = tf.Variable([1.0])\n"
            "other = tf.reduce_sum(tf.square(v))\n"
            "optimizer = tf.train.AdamOptimizer(0.1)\n"
            "a = optimizer.minimize(loss, var_list=[w])\n"
            "with tf.variable_scope('second'):\n"
            "    b = optimizer.minimize(other, var_list=[v])\n"
            "saver = tf.train.Saver()\n",
            run=STEP + "sess.run(a, {x: rows})\nsess.run(b)\nsaver.save(sess, 'model/x')\n",
        ),
        "an optimizer that minimizes two losses, each in a scope of its own, is saved",
    ),
    # variables below a scope
    "variables of a scope that is not seen": (
        program().replace("minimize(loss)", "minimize(loss, var_list=tf.trainable_variables('b'))"),
        "no variable is seen whose name begins with `b`",
    ),
    "a variable whose name TF1 may number": (
        program().replace(
            "minimize(loss)", "minimize(loss, var_list=tf.trainable_variables('Variable_1'))"
        ),
        "TF1 may number the scope of `w`",
    ),
    # metrics, control flow
    "a metric that is read as it is added to": (
        program(
            before="seen, add = tf.metrics.mean(loss)\n",
            run=STEP + "print(sess.run([seen, add], {x: rows}))\n",
        ),
        "a metric is added to and read in one step",
    ),
    "a metric of Keras's that asks for more": (
        program(before="seen, add = tf.metrics.precision(x > 0, x > 1)\n"),
        "`tf.metrics.precision` is not supported in a session's program",
    ),
    "a loop of one value": (
        program(
            before="y = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])\n",
            run=STEP + "print(sess.run(y))\n",
        ),
        "of one value gives it in TF1, and a list with it in TF2",
    ),
    "a branch that gives a list of one": (
        program(
            before="y = tf.cond(loss > 1.0, lambda: [loss], lambda: [loss * 2.0])\n",
            run=STEP + "print(sess.run(y, {x: rows}))\n",
        ),
        "gives the only item of a list in TF1",
    ),
    "a branch that makes layers": (
        program(
            before="y = tf.cond(loss > 1.0, lambda: tf.layers.dense(x, 2), lambda: x)\n",
            run=STEP + "print(sess.run(y, {x: rows}))\n",
        ),
        "a layer is made in a comprehension, or a lambda",
    ),
    "a dataset of what is fed": (
        DRAWN.replace("rows)", "x)") + START + "sess.run(train)\n",
        "a dataset is made of `x`, a part of the graph",
    ),
    "a dataset that is asked for its types": (
        DRAWN + "print(data.output_types)\n" + START + "sess.run(train)\n",
        "`data` is used for more than drawing batches in steps",
    ),
    "an iterator without a name": (
        DRAWN.replace("it = ", "batch = ")
        .replace("one_shot", "initializable")
        .replace("iterator()\n", "iterator().get_next()\n")
        .replace("batch = it.get_next()\n", "")
        + START
        + "sess.run(train)\n",
        "the iterator that this comes from has no name",
    ),
    "a dataset of other files": (
        DRAWN.replace("from_tensor_slices(rows)", "list_files('a')") + START + "sess.run(train)\n",
        "list_files",
    ),
    "a function that gives more than a batch": (
        DRAWING.replace("return batch", "return batch, it") + START + "sess.run(train)\n",
        "from_tensor_slices",
    ),
    "a dataset of a function that counts in the graph": (
        DRAWING.replace("    data =", "    step = tf.train.create_global_step()\n    data =")
        + START
        + "sess.run(train)\n",
        "does more than make a dataset",
    ),
    # savers
    "a saver of what a function makes in a loop": (
        saved("    for i in range(len(rows)):\n        x = tf.layers.dense(x, 2, name='layer')\n"),
        "whether a variable is made, or how often",
    ),
    "a saver of a scope whose name is computed": (
        saved(
            "    with tf.variable_scope('net%d' % len(rows)):\n"
            "        x = tf.layers.dense(x, 1, name='layer')\n"
        ),
        "the name of a variable's scope cannot be determined",
    ),
    "a saver of two layers in a statement": (
        saved("    x = {1: tf.layers.dense(x, 2, name='a'), 2: tf.layers.dense(x, 1)}[2]\n"),
        "the order of the variables that a statement makes",
    ),
    "a saver of a function's variable in a scope of no known name": (
        saved(
            "    with tf.name_scope(str(len(sys.argv))):\n"
            "        w = tf.Variable(tf.zeros([2, 1]))\n    x = tf.matmul(x, w)\n"
        ),
        "the name of a variable's scope cannot be determined",
    ),
    "a saver of layers between those that are trained": (
        "import numpy as np\nimport tensorflow as tf\n"
        "x = tf.placeholder(tf.float32, [None, 2])\nrows = np.ones([2, 2])\n"
        "hidden = tf.layers.dense(x, 3)\nsaver = tf.train.Saver()\n"
        "loss = tf.reduce_mean(tf.layers.dense(hidden, 1))\n"
        "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
        f"{START}sess.run(train, {{x: rows}})\nsaver.save(sess, 'a')\n",
        "a saver of layers stands above what builds them",
    ),
    "a saver of what is not seen": (
        program(before="saver = tf.train.Saver(tf.global_variables()[1:])\n"),
        "what a saver saves cannot be determined",
    ),
    "a saver that is asked for its files": (
        program(run=STEP + "print(saver.last_checkpoints)\n", before="saver = tf.train.Saver()\n"),
        "`saver` is used for more than saving",
    ),
    "a saver with a state file of its own": (
        program(
            run=STEP + "saver.save(sess, 'a', latest_filename='b')\n",
            before="saver = tf.train.Saver()\n",
        ),
        "`latest_filename` of a saver is not supported",
    ),
    "a saver of another session": (
        program(
            run=STEP + "saver.save(tf.get_default_session(), 'a')\n",
            before="saver = tf.train.Saver()\n",
        ),
        "cannot be recognized as this program's session",
    ),
    "first values after a checkpoint": (
        program(
            start="sess = tf.Session()\nsaver.restore(sess, 'a')\n"
            "sess.run(tf.global_variables_initializer())\n",
            before="saver = tf.train.Saver()\n",
        ),
        "after they were restored",
    ),
    "a function that prints what it is given": (
        HEAD
        + "def net(x, n):\n    print(n)\n    return tf.layers.dense(x, n)\n\n\n"
        + MODEL.replace("tf.matmul(x, w)", "net(x, 1)")
        + START
        + STEP,
        "`net` does more than make and apply layers",
    ),
    "a function that a text alone names and that makes a placeholder": (
        program(
            "NAMES = ['made']\n\n\ndef made():\n    return tf.placeholder(tf.float32)\n\n\n" + MODEL
        ),
        "`tf.placeholder` is not supported in a native program",
    ),
    "variables by a word that one of a layer's has": (
        program(
            "".join(
                [
                    MODEL.replace("tf.matmul(x, w)", "tf.layers.dense(x, 1)").rpartition(")")[0],
                    ", var_list=[v for v in tf.trainable_variables() if 'bias' in v.name])\n",
                ]
            )
        ),
        "which variables are trained cannot be determined",
    ),
    "an object in a list whose call makes layers": (
        program(
            "class Net:\n    def __init__(self, size):\n        self.size = size\n\n"
            "    def __call__(self, a):\n        return tf.layers.dense(a, self.size)\n\n\n"
            "f = Net(1)\nevery = [f]\n" + APPLIED
        ),
        "what `f`, of an object of `Net`, makes in the graph is not understood",
    ),
    "a class whose object is a part of the graph": (
        program(
            "class f:\n    def __init__(self, a):\n        self.out = tf.matmul(a, w)\n\n\n"
            + APPLIED.replace("f(x)", "f(x).out")
        ),
        "what `f`, a class of the program, makes in the graph is not understood",
    ),
    "a function of a module that a flag names": (
        program(
            "import importlib\nimport sys\nmodel = importlib.import_module(sys.argv[1])\n"
            + MODEL.replace("tf.matmul(x, w)", "model.f(x)")
        ),
        "`model.f` is of a module whose name is only known at run time",
    ),
    "a list that Python's own modules make": (
        program("import os\n" + MODEL.replace("* scale", "* len(os.listdir('.'))")),
        "`os.listdir`, which makes nothing of a graph, stands in code that builds it",
    ),
    "a lambda that is one of two": (
        program("f = lambda a: tf.matmul(a, w)\nf = lambda a: a @ w\n" + APPLIED),
        "`f` is not supported in code that builds the graph",
    ),
    "several variables of what is not seen to be a list": (
        program("v, u = [tf.Variable(one) for one in {1.0, 2.0}]\n" + MODEL),
        "`tf.Variable` is not among the functions that are known to only compute a value",
    ),
    "what a cell is like, which something reads": (
        HEAD + "def net(a):\n    cell = tf.nn.rnn_cell.GRUCell(1)\n"
        "    out, _ = tf.nn.dynamic_rnn(cell, a[:, None], dtype=tf.float32)\n"
        "    return out[:, 0], cell.state_size\n\n\n"
        "found, size = net(x)\nprint(size)\n"
        + MODEL.replace("tf.matmul(x, w)", "found")
        + START
        + STEP,
        "a recurrent cell is used by itself",
    ),
    "a variable made where a scope says that it is there": (
        scoped(
            "with tf.variable_scope('a', reuse=True):\n"
            "    v = tf.get_variable('w', [2, 1])\n    out = net(x) + v\n"
        ),
        "it has variables that are made elsewhere, as a scope around it says",
    ),
    "a layer made there": (
        scoped(
            "with tf.variable_scope('a', reuse=True):\n    out = tf.layers.dense(x, 1, name='b')\n"
        ),
        "it has variables that are made elsewhere, as a scope around it says",
    ),
    "a function called there whose variables are in another scope": (
        scoped("with tf.variable_scope('b', reuse=True):\n    out = net(x)\n"),
        "it has variables that are made elsewhere, as a scope around it says",
    ),
    "the same in the default scope": (
        scoped("tf.get_variable_scope().reuse_variables()\nout = net(x)\n"),
        "it has variables that are made elsewhere, as a scope around it says",
    ),
    "a scope that is told so within another block": (
        scoped(
            "with tf.variable_scope('b') as scope:\n    out = net(x)\n"
            "    with tf.name_scope('c'):\n        scope.reuse_variables()\n"
            "    out = net(out * w)\n"
        ),
        "a part of the graph, is used outside of `Session.run`",
    ),
    "two sessions": (program(start=START + "other = tf.Session()\n"), "more than one session"),
    "a session under a condition": (
        program(start="if scale:\n    sess = tf.Session()\n", run=""),
        "under a condition or in a loop",
    ),
    "the session's graph": (program(run=STEP + "print(sess.graph)\n"), "more than `run`"),
    "a session for a target": (
        program(start=START.replace("Session()", "Session('grpc://one:2222')")),
        "is given more than a config",
    ),
}


def test_a_step_of_optimize_loss_is_known_without_what_these_have() -> None:
    text = program(OPTIMIZED.replace("MORE", ", summaries=[]"))
    result = run(text + "tf.summary.merge_all()\n", native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] != ["native"]  # nothing is merged
    result = run(text, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_the_program_that_they_are_made_of_is_native() -> None:
    assert [one.state for one in run(NATIVE, native_sessions=True).programs] == ["native"]


@pytest.mark.usefixtures("builders_stay")
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_stays(case: tuple[str, str]) -> None:
    text, reason = case
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)
    bridged = run(text, bridge=True)
    assert [file.after for file in result.files] == [file.after for file in bridged.files]


TRAINS = (
    "import tensorflow as tf\nw = tf.Variable(1.0)\n"
    "train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w))\n"
)
MONITORED = "sess = tf.train.MonitoredTrainingSession()\nsess.run(train)\n"
MANAGED = "sv = tf.train.Supervisor()\nwith sv.managed_session() as sess:\n    sess.run(train)\n"
OPENS = (
    "import tensorflow as tf\ndef run(x):\n    with tf.Session() as sess:\n        sess.run(x)\n"
)


@pytest.mark.parametrize(
    ("files", "line", "reason"),
    [
        ([TRAINS + MONITORED], 4, "a monitored session is made outside of a `with` statement"),
        ([TRAINS + MANAGED], 5, "made by `sv.managed_session`"),
        (
            [TRAINS + "import one, other\none.run(train)\nother.run(w)\n", OPENS, OPENS],
            3,
            "several of its modules make sessions: one.py, other.py",
        ),
    ],
)
def test_a_session_that_no_module_makes_alone(files: list[str], line: int, reason: str) -> None:
    """Nothing was said of why these programs are not native."""
    names = ("program.py", "one.py", "other.py")
    result = run(*zip(names, files), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    told = [(one.line, one.message) for one in result.findings if one.code == "MGPU205"]
    assert [one for one, _ in told] == [line] and reason in told[0][1], told


APPLIES = (
    "import tensorflow as tf\n{head}x = tf.placeholder(tf.float32, [None, 3])\n"
    "w = tf.get_variable('w', [3, 1])\nout = tf.matmul(x, w)\n{train}"
    "saver = tf.train.Saver()\nwith tf.Session() as sess:\n    saver.restore(sess, 'w.ckpt')\n"
    "    print(sess.run(out, {{x: [[1.0, 2.0, 3.0]]}}))\n"
)
MINIMIZES = "train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(out))\n"


@pytest.mark.parametrize("train", ["", MINIMIZES])
@pytest.mark.parametrize(
    "head", ["", "import tensorflow.contrib.slim as slim\n", "from tensorflow.contrib import rnn\n"]
)
def test_a_program_that_applies_a_model_is_native(train: str, head: str) -> None:
    """What would train it is left out, and told; imports that nothing uses go."""
    text = APPLIES.format(head=head, train=train)
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    new = after(result, text)
    assert "saver.restore('w.ckpt')" in new and "compute_out(" in new
    assert "optimizer" not in new and "contrib" not in new and "Adam" not in new
    left = [one.line for one in result.findings if one.message.startswith("no step needs what")]
    assert left == ([text[: text.index("train =")].count("\n") + 1] if train else [])


DRAWS = "tf.random_normal([3, 1], stddev=1.0{seed})"
COMPUTES = (
    "import tensorflow as tf\n{head}x = tf.placeholder(tf.float32, [None, 3])\n"
    "w = tf.Variable({first}, name='w')\nout = tf.matmul(x, w)\nsaver = tf.train.Saver()\n"
    "with tf.Session() as sess:\n    {start}\n"
    "    print(sess.run(out, {{x: [[1.0, 2.0, 3.0]]}}))\n"
)
INITIALIZES = "sess.run(tf.global_variables_initializer())"


@pytest.mark.parametrize(
    ("head", "first", "start", "state"),
    [
        ("", DRAWS.format(seed=""), INITIALIZES, "native"),
        ("", DRAWS.format(seed=", seed=None"), INITIALIZES, "native"),
        ("", DRAWS.format(seed=", seed=1"), INITIALIZES, "bridge"),
        ("", "tf.random_normal([3, 1], 0.0, 1.0, tf.float32, 1)", INITIALIZES, "bridge"),
        ("tf.set_random_seed(7)\n", DRAWS.format(seed=""), INITIALIZES, "bridge"),
        ("tf.set_random_seed(7)\n", DRAWS.format(seed=", seed=1"), "saver.restore(sess, 'w')",
         "native"),
    ],
)  # fmt: skip
def test_numbers_of_a_seed_that_nothing_trains_stay(
    head: str, first: str, start: str, state: str
) -> None:
    """TF1 begins anew for each operation with a seed, eager code of TF2 goes on."""
    text = COMPUTES.format(head=head, first=first, start=start)
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == [state], said(result)


def test_an_import_that_another_module_takes_stays() -> None:
    text = APPLIES.format(head="import tensorflow.contrib.slim as slim\n", train=MINIMIZES)
    other = "import program\nprint(program.slim)\n"
    result = run(("program.py", text), ("other.py", other), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)


def test_a_program_that_only_computes_is_not_expected_to_change() -> None:
    text = "import tensorflow as tf\nw = tf.Variable(1.0)\n" + MONITORED.format("w")
    result = run(text, bridge=True, native_sessions=True)
    assert not [one for one in result.findings if one.code == "MGPU205"]


@pytest.mark.parametrize(
    "text",
    [
        DRAWING + START + "sess.run(train)\n",
        saved("    x = tf.layers.dense(x, 1, name='layer')\n"),
        saved("    with tf.variable_scope('net'):\n        x = tf.layers.dense(x, 1)\n"),
    ],
    ids=["draws", "named", "in a scope"],
)
def test_functions_that_these_stay_beside_are_native(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)


def test_labels_that_are_fed_are_no_reason() -> None:
    text = program(LABELS, STEP.replace("{x: rows}", "{x: rows, y: rows[:, :1]}"), head=OF_LOSS)
    result = run(text, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_a_loss_of_keras_asks_for_a_rank() -> None:
    head = HEAD.replace("scale = 2.0\n", "scale = tf.placeholder(tf.float32)\n")
    model = MODEL.replace("tf.reduce_mean(tf.square(out - 1.0))", "LOSS")
    fed = "sess.run(train, {x: rows, scale: rows[:, :1]})\n"
    keras = program(
        model.replace("LOSS", "tf.losses.mean_squared_error(rows[:, :1], out)"), fed, head=head
    )
    result = run(keras, bridge=True, native_sessions=True)
    reason = "a loss of Keras's, which asks for ranks, follows from `scale`"
    assert any(reason in message for message in said(result)), said(result)
    shaped = keras.replace("tf.placeholder(tf.float32)", "tf.placeholder(tf.float32, [None, 1])")
    for text in (program(head=head, run=fed), shaped):
        assert [one.state for one in run(text, native_sessions=True).programs] == ["native"]


SERVER = """\
import numpy as np
import tensorflow as tf

cluster = tf.train.ClusterSpec({'ps': ['a:1'], 'worker': ['a:2', 'a:3']})
SERVER_LINE
with tf.device(tf.train.replica_device_setter(cluster=cluster)):
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.Variable(tf.ones([4, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
OPENED
    sess.run(train, {x: np.ones([2, 4])})
"""


@pytest.mark.parametrize(
    "opened",
    [
        "with tf.train.MonitoredTrainingSession(master=server.target, is_chief=True) as sess:",
        "with tf.train.Supervisor().managed_session(server.target) as sess:",
        "with tf.Session(server.target) as sess:",
    ],
)
def test_a_program_of_a_cluster_is_told_what_does_so_in_tf2(opened: str) -> None:
    made = "server = tf.train.Server(cluster, job_name='worker', task_index=0)"
    text = SERVER.replace("SERVER_LINE", made).replace("OPENED", opened)
    result = run(text, bridge=True, native_sessions=True)
    (told,) = [one for one in result.findings if "train together" in one.message]
    assert told.code == "MGPU205" and "MultiWorkerMirroredStrategy" in told.advice
    assert [one.state for one in result.programs] == ["bridge"]
