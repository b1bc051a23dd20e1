"""Tower programs drawn at random, as ``generated_sessions.py`` draws those of one device.

Each has one copy of its model on each of two devices, and averages, or sums, their gradients.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

_OPTIMIZERS = (
    "GradientDescentOptimizer({})",
    "MomentumOptimizer({}, 0.9)",
    "AdamOptimizer({})",
    "RMSPropOptimizer({})",
    "AdagradOptimizer({})",
)
_DEVICES = ("'/gpu:%d' % i", "'/device:GPU:{}'.format(i)", "'/gpu:' + str(i)")
_AVERAGES = {
    "expanded": """\
        grads = []
        for g, _ in grad_and_vars:
            grads.append(tf.expand_dims(g, 0))
        grad = tf.reduce_mean(tf.concat(axis=0, values=grads), 0)
        average_grads.append((grad, grad_and_vars[0][1]))""",
    "stacked": """\
        grads = [g for g, _ in grad_and_vars]
        grad = tf.reduce_mean(tf.stack(grads), axis=0)
        average_grads.append((grad, grad_and_vars[0][1]))""",
    "added": """\
        grads = [g for g, _ in grad_and_vars]
        grad = tf.add_n(grads) / len(grads)
        average_grads.append((grad, grad_and_vars[0][1]))""",
    "summed": """\
        grads = [g for g, _ in grad_and_vars]
        average_grads.append((tf.add_n(grads), grad_and_vars[0][1]))""",
}


def program(number: int) -> str:
    """The program that a number draws."""
    draw = random.Random(number)
    more = random.Random(f"{number}, more")  # what was added later
    classes = draw.choice((0, 3))
    network = _network(draw, classes or 1)
    loss = draw.choice(_LOSSES[classes])
    shape = draw.choice(("inline", "function", "tower_loss"))
    scope = draw.choice(("entered", "reused"))
    parts = more.random() < 0.3
    if parts:
        shape, scope = "function", "entered"
    drawn = more.random() < 0.3
    saved = more.random() < 0.5
    label = "tf.int64, [None]" if classes else "tf.float32, [None, 1]"
    lines = ["import numpy as np", "import tensorflow as tf", "", "NUM_GPUS = 2", ""]
    decay = draw.random() < 0.3
    if drawn:
        lines += _pipeline(more, classes)
    if parts:
        lines += _parts(more, classes or 1)
    elif shape != "inline":
        lines += _function(shape, network, loss, decay, scope)
    lines += [
        "",
        "def average_gradients(tower_grads):",
        "    average_grads = []",
        "    for grad_and_vars in zip(*tower_grads):",
        _AVERAGES[draw.choice(list(_AVERAGES))],
        "    return average_grads",
        "",
        "",
        "def batch(rng):",
        "    bx = rng.rand(8, 5)",
        "    by = bx[:, :3].argmax(1)" if classes else "    by = bx.sum(1, keepdims=True)",
        "    return bx, by",
        "",
        "",
    ]
    body = ["x = tf.placeholder(tf.float32, [None, 5])", f"y = tf.placeholder({label})"]
    if drawn:
        body = ["x, y = get_batch(8)"]
    rate, counted = draw.choice(("0.05", "0.01", "lr")), ""
    if rate == "lr" or draw.random() < 0.4:
        counted = ", global_step=global_step"
        body.append("global_step = tf.train.get_or_create_global_step()")
    if rate == "lr":
        body.append("lr = tf.train.exponential_decay(0.1, global_step, 3, 0.7, staircase=True)")
    body.append(f"opt = tf.train.{draw.choice(_OPTIMIZERS).format(rate)}")
    inputs = ("x[i * 4:(i + 1) * 4]", "y[i * 4:(i + 1) * 4]")
    if more.random() < 0.5:
        of_x = more.choice(("x[i * 4:(i + 1) * 4, :]", "tf.slice(x, [i * 4, 0], [4, -1])"))
        inputs = (of_x, "y[i * 4:(i + 1) * 4]")
    if draw.random() < 0.6:
        form = draw.choice(("tf.split({}, NUM_GPUS)", "tf.split({}, NUM_GPUS, axis=0)"))
        body += [f"x_splits = {form.format('x')}", f"y_splits = {form.format('y')}"]
        inputs = ("x_splits[i]", "y_splits[i]")
    body += ["tower_grads = []", "losses = []"]
    body += _towers(draw, shape, scope, network, loss, decay, inputs)
    clip = draw.choice(("", "", "value", "norm"))
    body.append("grads = average_gradients(tower_grads)")
    if clip == "value":
        body.append("grads = [(tf.clip_by_value(g, -0.05, 0.05), v) for g, v in grads]")
    elif clip == "norm":
        body.append("grads = [(tf.clip_by_norm(g, 0.3), v) for g, v in grads]")
    body.append(f"train_op = opt.apply_gradients(grads{counted})")
    read = draw.choice(("loss", "mean_loss"))
    if read == "mean_loss":
        body.append(
            draw.choice(
                (
                    "mean_loss = tf.reduce_mean(losses)",
                    "mean_loss = tf.add_n(losses) / NUM_GPUS",
                    "mean_loss = tf.reduce_mean(tf.stack(losses))",
                )
            )
        )
    if saved:
        lines[:1] = ["import os", "import tempfile", "import numpy as np"]
        body.append("saver = tf.train.Saver()")
    feed = "" if drawn else ", feed_dict={x: bx, y: by}"
    run = [
        "sess.run(tf.global_variables_initializer())",
        "rng = np.random.RandomState(2)",
        "for step in range(6):",
        "    bx, by = batch(rng)",
        f"    _, value = sess.run([train_op, {read}]{feed})",
        "    print('step', step, value)",
        "bx, by = batch(rng)",
        f"print('test', sess.run({read}{feed}))",
    ]
    run += _SAVED if saved else []
    config = draw.choice(("", "config=tf.ConfigProto(allow_soft_placement=True)"))
    around = draw.choice(("", "with tf.Graph().as_default(), tf.device('/cpu:0'):", "def main():"))
    body += [f"with tf.Session({config}) as sess:", *indented(run)]
    lines += [around, *indented(body)] if around else body
    if around == "def main():":
        lines += ["", "", "if __name__ == '__main__':", "    main()"]
    return "\n".join(lines) + "\n"


_LOSSES = {
    0: (
        "tf.reduce_mean(tf.square(out - {y}))",
        "tf.losses.mean_squared_error({y}, out)",
        "tf.reduce_sum(tf.square(out - {y})) / 8",
    ),
    3: (
        "tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels={y}, logits=out))",
        "tf.losses.sparse_softmax_cross_entropy(labels={y}, logits=out)",
    ),
}


# A checkpoint's names, with what stands for the values.
_SAVED = [
    "path = saver.save(sess, os.path.join(tempfile.mkdtemp(), 'model'))",
    "for name, shape in tf.train.list_variables(path):",
    "    print(name, shape, '%.3f' % np.abs(tf.train.load_variable(path, name)).sum())",
]


def _pipeline(more: random.Random, classes: int) -> list[str]:
    """A function that makes a dataset and gives a batch of it."""
    by = "by = bx[:, :3].argmax(1)" if classes else "by = bx.sum(1, keepdims=True)"
    ends = more.choice(
        (
            ["iterator = data.make_one_shot_iterator()", "return iterator.get_next()"],
            ["features, labels = data.make_one_shot_iterator().get_next()",
             "return features, labels"],
            ["it = data.make_one_shot_iterator()", "a, b = it.get_next()", "return a, b"],
        )
    )  # fmt: skip
    repeated = "data = data.repeat()" if more.random() < 0.5 else "data = data.repeat(4)"
    body = [
        "bx = np.random.RandomState(2).rand(24, 5).astype(np.float32)",
        by,
        "data = tf.data.Dataset.from_tensor_slices((bx, by.astype(np.float32)))"
        if not classes
        else "data = tf.data.Dataset.from_tensor_slices((bx, by))",
        repeated + ".batch(size)",
        *ends,
    ]
    return ["", "def get_batch(size):", *indented(body), ""]


def _parts(more: random.Random, out: int) -> list[str]:
    """A network in several scopes, whose variables a function makes."""
    device = more.random() < 0.7
    made = [
        "w = tf.get_variable('w', shape, initializer=tf.truncated_normal_initializer(stddev=0.4))",
        "b = tf.get_variable('b', [size], initializer=tf.zeros_initializer())",
        "return w, b",
    ]
    names = more.choice((("w1, b1", "w2, b2"), ("w, b", "w, b")))
    first, second = (f"{one} = weights({{}})" for one in names)
    (u, c), (v, d) = (one.split(", ") for one in names)
    body = [
        "with tf.variable_scope('first', reuse=reuse):",
        f"    {first.format('[5, 6], 6')}",
        f"    net = tf.nn.tanh(tf.matmul(x, {u}) + {c})",
        "with tf.variable_scope('second', reuse=reuse):",
        f"    {second.format(f'[6, {out}], {out}')}",
        f"    out = tf.matmul(net, {v}) + {d}",
        "return out",
    ]
    if more.random() < 0.3:
        body[4:6] = [f"    out = tf.layers.dense(net, {out})"]
    inner = ["with tf.device('/cpu:0'):", *indented(made)] if device else made
    return [
        *("", "def weights(shape, size):", *indented(inner), ""),
        *("", "def model(x, reuse=False):", *indented(body), ""),
    ]


def _network(draw: random.Random, out: int) -> list[str]:
    activation = draw.choice(("tf.nn.relu", "tf.nn.tanh"))
    if draw.random() < 0.5:
        return [
            f"net = tf.layers.dense({{x}}, 6, activation={activation}, name='hidden')",
            f"out = tf.layers.dense(net, {out}, name='out')",
        ]
    initializer = "initializer=tf.truncated_normal_initializer(stddev=0.4)"
    return [
        f"w1 = tf.get_variable('w1', [5, 6], {initializer})",
        "b1 = tf.get_variable('b1', [6], initializer=tf.zeros_initializer())",
        f"net = {activation}(tf.matmul({{x}}, w1) + b1)",
        f"w2 = tf.get_variable('w2', [6, {out}], {initializer})",
        "out = tf.matmul(net, w2)",
    ]


def _loss(network: list[str], loss: str, decay: bool, y: str) -> list[str]:
    lines = [f"loss = {loss.format(y=y)}"]
    if decay and network[0].startswith("w1"):
        lines.append("loss += 0.01 * tf.nn.l2_loss(w1)")
    return lines


def _function(shape: str, network: list[str], loss: str, decay: bool, scope: str) -> list[str]:
    inner = [line.format(x="x") for line in network]
    reuse = ", reuse" if scope == "entered" else ""
    head = "with tf.variable_scope('model', reuse=reuse):" if reuse else ""
    if shape == "function":
        body = [head, *indented(inner)] if head else inner
        return ["", f"def model(x{reuse}):", *indented([*body, "return out"]), ""]
    body = [*inner, *_loss(network, loss, decay, "y")]
    body = [head, *indented(body)] if head else body
    return ["", f"def tower_loss(x, y{reuse}):", *indented([*body, "return loss"]), ""]


def _towers(
    draw: random.Random,
    shape: str,
    scope: str,
    network: list[str],
    loss: str,
    decay: bool,
    inputs: tuple[str, str],
) -> list[str]:
    x, y = inputs
    reuse = ", i > 0" if scope == "entered" else ""
    if shape == "inline":
        inner = [line.format(x=x) for line in network] + _loss(network, loss, decay, y)
        if reuse:
            inner = ["with tf.variable_scope('model', reuse=i > 0):", *indented(inner)]
    elif shape == "function":
        inner = [f"out = model({x}{reuse})", *_loss(["net"], loss, decay, y)]
    else:
        inner = [f"loss = tower_loss({x}, {y}{reuse})"]
    if not reuse:
        inner.append("tf.get_variable_scope().reuse_variables()")
    inner += [
        "losses.append(loss)",
        draw.choice(
            (
                "tower_grads.append(opt.compute_gradients(loss))",
                "grads = opt.compute_gradients(loss)\ntower_grads.append(grads)",
            )
        ),
    ]
    inner = "\n".join(inner).split("\n")
    if draw.random() < 0.6:
        inner = ["with tf.name_scope('tower_%d' % i) as scope:", *indented(inner)]
    loop = [
        "for i in range(NUM_GPUS):",
        f"    with tf.device({draw.choice(_DEVICES)}):",
        *indented(inner, 2),
    ]
    if not reuse or draw.random() < 0.3:
        loop = ["with tf.variable_scope(tf.get_variable_scope()):", *indented(loop)]
    return loop


def indented(lines: Sequence[str], times: int = 1) -> list[str]:
    """Lines of a block."""
    return ["    " * times + line if line else line for line in lines]
