"""Training loops written by hand for TF2, equal to a session's program: what once looked different.

Each is a network that both programs share, with the session's loop and the loop over a
``tf.function``. ``texts(name, seed, size)`` are the two programs, with other data, first values
and batches for each seed and size. ``false_alarms.py`` runs them many times.
"""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = """\
import numpy as np
import tensorflow as tf

SEED, SIZE, STEPS = {seed}, {size}, {steps}
rng = np.random.RandomState(SEED)


def value(*shape, scale=0.3):
    return (scale * rng.standard_normal(shape)).astype("float32")


"""

_SESSION = """
x = tf.placeholder(tf.float32, [None, *features.shape[1:]])
y = tf.placeholder(targets.dtype, [None, *targets.shape[1:]])
variables = make()
loss, out = model(variables, x, y)
train = {optimizer}.minimize(loss)

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        at = step * SIZE % len(features)
        feed = {{x: features[at:at + SIZE], y: targets[at:at + SIZE]}}
        _, now = sess.run([train, loss], feed)
        print(step, now)
    print(sess.run(out, feed))
"""

_FUNCTION = """
variables = make()
optimizer = {optimizer}
optimizer.build(variables)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss, _ = model(variables, x, y)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for step in range(STEPS):
    at = step * SIZE % len(features)
    batch = features[at:at + SIZE], targets[at:at + SIZE]
    now = train(*map(tf.constant, batch))
    print(step, now.numpy())
print(model(variables, *batch)[1].numpy())
"""

_OPTIMIZERS = {
    "sgd": ("tf.train.GradientDescentOptimizer({0})", "tf.keras.optimizers.SGD({0})"),
    "momentum": (
        "tf.train.MomentumOptimizer({0}, 0.9)",
        "tf.keras.optimizers.SGD({0}, momentum=0.9)",
    ),
    "adam": ("tf.train.AdamOptimizer({0})", "tf.keras.optimizers.Adam({0}, epsilon=1e-8)"),
    "adagrad": (
        "tf.train.AdagradOptimizer({0})",
        "tf.keras.optimizers.Adagrad({0}, epsilon=0.0)",
    ),
    "ftrl": ("tf.train.FtrlOptimizer({0})", "tf.keras.optimizers.Ftrl({0})"),
}


@dataclass(frozen=True)
class Loop:
    """A pair of programs.

    Attributes:
      model: the data, first values and network of both.
      sizes: of a batch.
      before, after: the loops.
    """

    model: str
    before: str
    after: str
    steps: int = 12
    sizes: tuple[int, ...] = (8, 16, 32)


def _loop(model: str, kind: str, rate: float, steps: int = 12) -> Loop:
    one, other = (text.format(rate) for text in _OPTIMIZERS[kind])
    return Loop(model, _SESSION.format(optimizer=one), _FUNCTION.format(optimizer=other), steps)


_CLASSES = """\
features = value(4 * SIZE, 12, scale=1.0)
targets = np.eye(5, dtype="float32")[rng.randint(0, 5, 4 * SIZE)]
first = [value(12, 24), value(24, scale=0.0), value(24, 5), value(5, scale=0.0)]


def make():
    return [tf.Variable(one) for one in first]


def logits_of(v, x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, v[0]) + v[1]), v[2]) + v[3]


def model(v, x, y):
    logits = logits_of(v, x)
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses), tf.nn.softmax(logits)
"""

_FROM_ZERO = """\
features = rng.rand(3 * SIZE, 20).astype("float32")
targets = np.eye(4, dtype="float32")[rng.randint(0, 4, 3 * SIZE)]


def make():
    return [tf.Variable(tf.zeros([20, 4])), tf.Variable(tf.zeros([4]))]


def model(v, x, y):
    guess = tf.nn.softmax(tf.matmul(x, v[0]) + v[1])
    right = tf.equal(tf.argmax(guess, 1), tf.argmax(y, 1))
    loss = tf.reduce_mean(-tf.reduce_sum(y * tf.math.log(guess), axis=1))
    return loss, tf.reduce_mean(tf.cast(right, tf.float32))
"""

# A bias that the normalization after it takes away: its gradient is nothing but rounding.
_NORMALIZED = """\
features = value(4 * SIZE, 10, scale=1.0)
targets = np.sin(features[:, :1] * 2.0) + features[:, 1:2] ** 2
first = [value(10, 16), value(16), value(16, scale=0.0) + 1, value(16), value(16, 1)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    h = tf.matmul(x, v[0]) + v[1]
    mean, variance = tf.nn.moments(h, [0])
    h = tf.nn.relu((h - mean) * tf.math.rsqrt(variance + 1e-3) * v[2] + v[3])
    out = tf.matmul(h, v[4])
    return tf.reduce_mean(tf.square(out - y)), out
"""

_RECURRENT = """\
features = value(3 * SIZE, 16, 5, scale=1.0)
targets = rng.randint(0, 6, 3 * SIZE).astype("int32")
first = [value(5, 20), value(20, 20), value(20), value(20, 6, scale=1.0)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    state = tf.zeros([SIZE, 20])
    for one in tf.unstack(x, 16, axis=1):
        state = tf.tanh(tf.matmul(one, v[0]) + tf.matmul(state, v[1]) + v[2])
    logits = tf.matmul(state, v[3])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses), tf.nn.softmax(logits)
"""

_GATED = """\
features = value(3 * SIZE, 16, 4, scale=1.0)
targets = np.cumsum(features[..., :1], axis=1)[:, -1]
first = [value(16, 48), value(48, scale=0.0), value(12, 1)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    c = h = tf.zeros([SIZE, 12])
    for one in tf.unstack(x, 16, axis=1):
        i, j, f, o = tf.split(tf.matmul(tf.concat([one, h], 1), v[0]) + v[1], 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    out = tf.matmul(h, v[2])
    return tf.reduce_mean(tf.square(out - y)), out
"""

# Solved: the loss falls to nothing, and what is printed lies near zero.
_SOLVED = """\
features = rng.rand(SIZE, 3).astype("float32")
targets = features @ np.float32([[1.0], [-2.0], [0.5]])
targets -= targets.mean()
first = [value(3, 1), value(1, scale=0.0)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    out = tf.matmul(x, v[0]) + v[1]
    return tf.reduce_mean(tf.square(out - y)), out - y
"""

# What is minimized is a difference: it passes through zero.
_DIFFERENCE = """\
features = value(4 * SIZE, 8, scale=1.0)
targets = value(4 * SIZE, 8, scale=1.5) + 0.1
first = [value(8, 16), value(16, scale=0.0), value(16, 1)]


def make():
    return [tf.Variable(one) for one in first]


def critic(v, x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, v[0]) + v[1]), v[2])


def model(v, x, y):
    return tf.reduce_mean(critic(v, x)) - tf.reduce_mean(critic(v, y)), critic(v, x) - critic(v, y)
"""

_IMAGES = """\
features = rng.rand(2 * SIZE, 8, 8, 1).astype("float32")
targets = rng.randint(0, 3, 2 * SIZE).astype("int64")
first = [value(3, 3, 1, 6), value(6), value(3, 3, 6, 8), value(8), value(32, 3), value(3)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    h = tf.nn.relu(tf.nn.conv2d(x, v[0], [1, 1, 1, 1], "SAME") + v[1])
    h = tf.nn.max_pool2d(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.relu(tf.nn.conv2d(h, v[2], [1, 1, 1, 1], "SAME") + v[3])
    h = tf.nn.max_pool2d(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    logits = tf.matmul(tf.reshape(h, [-1, 32]), v[4]) + v[5]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses), tf.nn.softmax(logits)
"""

_CODER = """\
features = rng.rand(3 * SIZE, 24).astype("float32")
targets = features
first = [value(24, 6), value(6), value(6, 24), value(24)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    code = tf.sigmoid(tf.matmul(x, v[0]) + v[1])
    out = tf.sigmoid(tf.matmul(code, v[2]) + v[3])
    return tf.reduce_mean(tf.pow(y - out, 2)), code
"""

_WORDS = """\
features = rng.randint(0, 40, (3 * SIZE, 4)).astype("float32")
targets = (features.sum(axis=1) % 3).astype("int32")
first = [value(40, 6, scale=1.0), value(6, 3)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    looked_up = tf.matmul(tf.one_hot(tf.cast(x, tf.int32), 40), tf.tile(v[0][None], [SIZE, 1, 1]))
    logits = tf.matmul(tf.reduce_mean(looked_up, axis=1), v[1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses), logits
"""

# A variable whose gradient is far below the others'.
_FAINT = """\
features = value(4 * SIZE, 9, scale=1.0)
targets = value(4 * SIZE, 1, scale=1.0)
first = [value(9, 14), value(14), value(14, 1), value(1)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    out = tf.matmul(tf.tanh(tf.matmul(x, v[0]) + v[1]), v[2])
    centered = out + v[3] - tf.reduce_mean(out + v[3])
    return 30.0 * tf.reduce_mean(tf.square(centered - y)), centered
"""

# Units that a step switches off for good, by rounding or not: which weights Adam moves is chance.
_DEEP = """\
features = (rng.rand(6 * SIZE, 64) * (rng.rand(6 * SIZE, 64) < 0.2)).astype("float32")
targets = np.eye(10, dtype="float32")[rng.randint(0, 10, 6 * SIZE)]
widths = [64, 96, 96, 96, 96, 10]
first = [value(*both, scale=both[0] ** -0.5) for both in zip(widths, widths[1:])]
first += [value(n, scale=1.0) for n in widths[1:]]
kept = [(rng.rand(n) < 0.7).astype("float32") / 0.7 for n in widths[1:-1]]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    h = x
    for layer, mask in enumerate(kept):
        h = tf.nn.relu(tf.matmul(h, v[layer]) + v[5 + layer]) * mask
    out = tf.matmul(h, v[4]) + v[9]
    each = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=out)
    return tf.reduce_mean(each), out
"""

_SCALED = """\
features = value(4 * SIZE, 12, scale=1.0)
targets = value(4 * SIZE, 2, scale=1.0)
first = [value(12, 10), value(10, 2)]


def make():
    return [tf.Variable(one) for one in first]


def model(v, x, y):
    out = tf.matmul(tf.nn.elu(tf.matmul(x, v[0])), v[1])
    return tf.reduce_mean(tf.reduce_sum(tf.square(out - y), axis=1)), out
"""

_TWO = """\
features = value(3 * SIZE, 6, scale=1.0)
noise = rng.rand(3 * SIZE, 4).astype("float32")
d_first = [value(6, 24), value(24), value(24, 1)]
g_first = [value(4, 24), value(24), value(24, 6)]


def net(v, x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, v[0]) + v[1]), v[2])


def cross(logits, label):
    labels = tf.fill(tf.shape(logits), label)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels)
    return tf.reduce_mean(losses)


def d_loss_of(d, g, x, z):
    return cross(net(d, x), 1.0) + cross(net(d, net(g, z)), 0.0)


def g_loss_of(d, g, z):
    return cross(net(d, net(g, z)), 1.0)
"""

_TWO_BEFORE = """
x = tf.placeholder(tf.float32, [None, 6])
z = tf.placeholder(tf.float32, [None, 4])
d, g = [tf.Variable(v) for v in d_first], [tf.Variable(v) for v in g_first]
d_loss, g_loss = d_loss_of(d, g, x, z), g_loss_of(d, g, z)
d_train = tf.train.{one}.minimize(d_loss, var_list=d)
g_train = tf.train.{one}.minimize(g_loss, var_list=g)

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        at = step % 3 * SIZE
        feed = {{x: features[at:at + SIZE], z: noise[at:at + SIZE]}}
        _, one = sess.run([d_train, d_loss], feed)
        _, two = sess.run([g_train, g_loss], feed)
        print("step %d: %.4f %.4f" % (step, one, two))
    print(sess.run(net(g, z), feed)[:3])
"""

_TWO_AFTER = """
d, g = [tf.Variable(v) for v in d_first], [tf.Variable(v) for v in g_first]
d_optimizer = tf.keras.optimizers.{other}
d_optimizer.build(d)
g_optimizer = tf.keras.optimizers.{other}
g_optimizer.build(g)


@tf.function
def d_train(x, z):
    with tf.GradientTape() as tape:
        loss = d_loss_of(d, g, x, z)
    d_optimizer.apply_gradients(zip(tape.gradient(loss, d), d))
    return loss


@tf.function
def g_train(z):
    with tf.GradientTape() as tape:
        loss = g_loss_of(d, g, z)
    g_optimizer.apply_gradients(zip(tape.gradient(loss, g), g))
    return loss


for step in range(STEPS):
    at = step % 3 * SIZE
    x, z = tf.constant(features[at:at + SIZE]), tf.constant(noise[at:at + SIZE])
    one = d_train(x, z).numpy()
    two = g_train(z).numpy()
    print("step %d: %.4f %.4f" % (step, one, two))
print(net(g, z).numpy()[:3])
"""

_RMSPROP_AFTER = """
variables = make()
squares = [tf.Variable(tf.ones_like(v), trainable=False) for v in variables]
moments = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss, _ = model(variables, x, y)
    for v, square, moment, g in zip(variables, squares, moments, tape.gradient(loss, variables)):
        tf.raw_ops.ResourceApplyRMSProp(
            var=v.handle, ms=square.handle, mom=moment.handle, lr=0.01, rho=0.9,
            momentum=0.0, epsilon=1e-10, grad=g)
    return loss


for step in range(STEPS):
    at = step * SIZE % len(features)
    batch = features[at:at + SIZE], targets[at:at + SIZE]
    now = train(*map(tf.constant, batch))
    print(step, now.numpy())
print(model(variables, *batch)[1].numpy())
"""

# Towers on two GPUs: their gradients are averaged and clipped; or summed.
_TOWERS_BEFORE = """
x = tf.placeholder(tf.float32, [None, *features.shape[1:]])
y = tf.placeholder(targets.dtype, [None, *targets.shape[1:]])
variables = make()
optimizer = tf.train.{one}
towers, losses = [], []
for i in range(2):
    with tf.device("/gpu:%d" % i):
        part = slice(i * SIZE // 2, (i + 1) * SIZE // 2)
        loss, out = model(variables, x[part], y[part])
        losses.append(loss)
        towers.append([g for g, _ in optimizer.compute_gradients(loss, variables)])
gradients = [{combine} for both in zip(*towers)]
{clip}
train = optimizer.apply_gradients(zip(gradients, variables))
loss = tf.reduce_mean(losses)

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        at = step * SIZE % len(features)
        feed = {{x: features[at:at + SIZE], y: targets[at:at + SIZE]}}
        _, now = sess.run([train, loss], feed)
        print(step, now)
"""

_TOWERS_AFTER = """
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    variables = make()
    optimizer = tf.keras.optimizers.{other}
    optimizer.build(variables)


@tf.function
def train(batches):
    def tower(batch):
        with tf.GradientTape() as tape:
            loss, _ = model(variables, *batch)
        gradients = tape.gradient(loss, variables)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.{reduce}, gradients)
        {clip}
        gradients = [g / 2.0 for g in gradients]  # apply_gradients adds them up again
        optimizer.apply_gradients(zip(gradients, variables))
        return loss

    losses = strategy.run(tower, args=(batches,))
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)


for step in range(STEPS):
    at = step * SIZE % len(features)
    parts = [slice(at + i * SIZE // 2, at + (i + 1) * SIZE // 2) for i in range(2)]

    def batch_of(context):
        part = parts[context.replica_id_in_sync_group]
        return tf.constant(features[part]), tf.constant(targets[part])

    now = train(strategy.experimental_distribute_values_from_function(batch_of))
    print(step, now.numpy())
"""

_CLIP = "gradients, _ = tf.clip_by_global_norm(gradients, 0.2)"

_PARTS_BEFORE = """
x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 2])
variables = make()
loss, out = model(variables, x, y)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss + 1e-3 * tf.add_n(
    [tf.nn.l2_loss(v) for v in variables]))
average = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([train]):
    both = average.apply(variables)

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        at = step * SIZE % len(features)
        feed = {x: features[at:at + SIZE], y: targets[at:at + SIZE]}
        sess.run(both, feed)
    print(sess.run(loss, feed), sess.run([average.average(v) for v in variables])[1][:3])
"""

_PARTS_AFTER = """
variables = make()
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(variables)
average = tf.train.ExponentialMovingAverage(0.9)
average.apply(variables)
for v in variables:
    average.average(v).assign(v)


@tf.function
def both(x, y):
    with tf.GradientTape() as tape:
        loss, _ = model(variables, x, y)
        total = loss + 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in variables])
    optimizer.apply_gradients(zip(tape.gradient(total, variables), variables))
    average.apply(variables)


for step in range(STEPS):
    at = step * SIZE % len(features)
    batch = features[at:at + SIZE], targets[at:at + SIZE]
    both(*map(tf.constant, batch))
loss, _ = model(variables, *batch)
print(loss.numpy(), average.average(variables[1]).numpy()[:3])
"""


def _clipped(model: str, kind: str, rate: float) -> Loop:
    """The weights are clipped between the steps."""
    one, limits = _loop(model, kind, rate), "-0.3, 0.3"
    clip = f"clip = [tf.assign(v, tf.clip_by_value(v, {limits})) for v in variables]\n"
    before = one.before.replace("\nwith", f"{clip}\nwith", 1)
    before = before.replace("print(step, now)", "sess.run(clip)\n        print(step, now)")
    clip = f"for v in variables:\n        v.assign(tf.clip_by_value(v, {limits}))\n"
    after = one.after.replace("print(step, now.numpy())", f"{clip}    print(step, now.numpy())")
    return Loop(model, before, after)


def _two(one: str, other: str, generator_first: bool = False) -> Loop:
    loops = _TWO_BEFORE.format(one=one), _TWO_AFTER.format(other=other)
    made = "d, g = [tf.Variable(v) for v in d_first], [tf.Variable(v) for v in g_first]"
    if generator_first:  # and trained last: names by number are of the order of making
        other_way = "g, d = [tf.Variable(v) for v in g_first], [tf.Variable(v) for v in d_first]"
        assert all(made in text for text in loops)
        loops = loops[0].replace(made, other_way), loops[1].replace(made, other_way)
    return Loop(_TWO, *loops, 15)


_MOMENTUM = ("MomentumOptimizer(0.02, 0.9)", "SGD(0.02, momentum=0.9)")
_ADAM = ("AdamOptimizer(0.02)", "Adam(0.02, epsilon=1e-8)")


def _towers(combine: str, reduce: str, clip: str, optimizers: tuple[str, str]) -> Loop:
    one, other = optimizers
    before = _TOWERS_BEFORE.format(combine=combine, clip=clip, one=one)
    after = _TOWERS_AFTER.format(reduce=reduce, clip=clip, other=other)
    return Loop(_SCALED, before, after)


_RMSPROP = _loop(_CLASSES, "sgd", 0.1)

LOOPS: dict[str, Loop] = {
    "classes_adam": _loop(_CLASSES, "adam", 0.01, 40),
    "classes_momentum": _loop(_CLASSES, "momentum", 0.05),
    "classes_clipped": _clipped(_CLASSES, "momentum", 0.05),
    "classes_rmsprop": Loop(
        _CLASSES,
        _SESSION.format(optimizer="tf.train.RMSPropOptimizer(0.01)"),
        _RMSPROP_AFTER,
    ),
    "from_zero": _loop(_FROM_ZERO, "sgd", 0.5, 30),
    "from_zero_adam": _loop(_FROM_ZERO, "adam", 0.05, 30),
    "normalized_adam": _loop(_NORMALIZED, "adam", 0.01, 20),
    "normalized_sgd": _loop(_NORMALIZED, "sgd", 0.1),
    "recurrent": _loop(_RECURRENT, "adam", 0.01, 15),
    "recurrent_sgd": _loop(_RECURRENT, "sgd", 0.2, 15),
    "gated": _loop(_GATED, "adam", 0.02, 15),
    "solved": _loop(_SOLVED, "momentum", 0.1, 200),
    "solved_adam": _loop(_SOLVED, "adam", 0.1, 200),
    "difference": _loop(_DIFFERENCE, "sgd", 0.05, 30),
    "difference_adam": _loop(_DIFFERENCE, "adam", 0.002, 20),
    "images": _loop(_IMAGES, "adam", 0.005),
    "coder": _loop(_CODER, "adagrad", 0.3, 30),
    "words": _loop(_WORDS, "ftrl", 0.1),
    "faint": _loop(_FAINT, "adam", 0.01),
    "faint_momentum": _loop(_FAINT, "momentum", 0.001),
    "deep": _loop(_DEEP, "adam", 0.003, 30),
    "two_optimizers": _two("AdamOptimizer(0.01)", "Adam(0.01, epsilon=1e-8)"),
    "two_fast_optimizers": _two("AdamOptimizer(0.1)", "Adam(0.1, epsilon=1e-8)"),
    "two_in_another_order": _two("AdamOptimizer(0.01)", "Adam(0.01, epsilon=1e-8)", True),
    "averages": Loop(_SCALED, _PARTS_BEFORE, _PARTS_AFTER, 15),
    "towers_clipped": _towers("(both[0] + both[1]) / 2.0", "MEAN", _CLIP, _MOMENTUM),
    "towers_summed": _towers("both[0] + both[1]", "SUM", "", _MOMENTUM),
    "towers_adam": _towers("(both[0] + both[1]) / 2.0", "MEAN", "", _ADAM),
}


def texts(name: str, seed: int = 0, size: int | None = None) -> tuple[str, str]:
    """The TF1 program and the TF2 program."""
    loop = LOOPS[name]
    head = _HEAD.format(seed=seed, size=size or loop.sizes[0], steps=loop.steps)
    return head + loop.model + loop.before, head + loop.model + loop.after
