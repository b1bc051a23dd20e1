"""A program that drives a graph with one session becomes TF2 code: steps are `tf.function`s.

## What it does
Variables and optimizers are made once, where they stood. Each kind of step that the session
ran becomes a function: its parameters are the placeholders that were fed, by their names, and
its body is the author's statements with their comments. Where ``sess.run`` stood the function
is called; the loop, the feeds and the prints stay as they were. The session, its block and
what gave the variables their first values go.

Functions that were given a session and tensors are given the steps that they run, also one that
makes the session, and a function that builds the graph returns them. One that makes variables or
layers and applies them at once becomes a class of layers, also in another module of the program;
where it stands beside the function that builds the graph, also one with batch normalization, a
flag that tells it whether it trains, and calls that share its variables by ``reuse``, or because a
scope around them says ``scope.reuse_variables()`` or ``reuse=True``: these are calls of one
object.

A class may build the graph in its constructor, and in methods that only the constructor calls:
they are written there, the object gets the steps in the place of the session and the parts of the
graph, and whatever runs them (methods, functions that are given the object, a ``main``) calls
these. A constructor that is given the session is given none. So is that of another class, which
keeps the session, or the object, and runs steps in its methods (``Trainer(sess, model)``). The
class may stand in a module of its own, which the program imports, and several programs may. It
must be the only object of its class, which nothing inherits from. It may inherit from other
classes of the program that nothing else has to do with: each method stays in its class.

A program that trains nothing becomes native as well: one that restores a model and applies it, or
only computes with what it is fed. Where it builds what would train the model, as the program that
trained it did, that is left out, and told. Where it saves what an optimizer keeps, or what it
computes are numbers of a seed (TF2 draws others), it stays. A loop that computes on one device
after the other (``for d in devices: with tf.device(d): ...``) keeps its blocks, and needs nothing
that is fed. Nobody is told why such a program stays.

## Why
TF2 has no sessions. A function with an ``input_signature`` takes what a placeholder took, is
traced once, and casts what it is given as a feed did.

## Safety
All of a program, or nothing: a statement that is not understood keeps the whole program on
the bridge, and a finding names it. ``--no-native-sessions`` keeps all of them there.

A ``tf.train.Saver`` becomes a small class beside the program: its files have TF1's names,
numbers and format, and each run deletes what its own saver would have. (A
``tf.train.CheckpointManager`` deletes files of earlier runs, and a ``tf.train.Checkpoint`` of
an optimizer restores the learning rate of the run that saved it.) There are no ``.meta`` files.

Summaries are the operations that TF1 made, with the tags that it gave them, and what is written
is the same; ``tf.summary.scalar`` of TF2 would give others. Of a variable, a summary that is
fetched with a training step tells the value of before it (TF1 told that one or the next). Summaries
of gradients are of what the tape gives, before they are clipped; the list of the variables that
are trained is written out then, in TF1's order. A function that makes layers
and is called several times may make summaries of its variables and of its value.

An iterator of ``tf.data`` becomes Python's, and each step that needed its next element draws it; at
the end ``tf.errors.OutOfRangeError`` is raised, as in TF1. Steps are given one that begins anew
(``sess.run(iterator.initializer)``, once in each epoch), which is then made anew of its dataset;
one of ``tf.data.Iterator.from_structure`` of that whose initializer is run.

Input queues become datasets: ``tf.train.string_input_producer`` or ``slice_input_producer``, a
reader, what computes an example, and ``tf.train.batch``, ``shuffle_batch`` or a ``_join`` form.
Their coordinator and threads go, and ``while not coord.should_stop()`` is ``while True``, until
``tf.errors.OutOfRangeError``. What is left over in the end fills no batch, as in TF1; where there
are several epochs, a batch may be of two of them, as there. A queue shuffles what ``capacity``
holds. Two queues side by side, ``enqueue``, ``dynamic_pad`` and ``enqueue_many`` stay. A
coordinator of the author's own threads stays as it is, in a native program too. TF1's queues tell
summaries how full they are (``batch/fraction_of_50_full``); nothing does in TF2.

``tf.distributions.Normal`` becomes a small class of the program's, with TF1's arithmetic for
``sample``, ``prob``, ``log_prob`` and ``entropy``, and ``kl_divergence`` of two a function; what
else a distribution computes keeps the program as it is.

``tf.contrib.layers.optimize_loss`` is the step that it makes: the averages move first, the
gradients are clipped by their norm, and where the step is fetched it gives the loss.

Two optimizers that one run applies, each to variables of its own, are one step: all gradients,
then all updates. Where one minimizes what depends on the other's variables (a GAN), TF1 computed
that before or after those changed, in no fixed order; here it is of before, and a finding says so.
The same is so of what a run fetches beside a training step (``sess.run([train_op, accuracy])``,
where the accuracy is of another network with the same weights). Weights that one run trains and
limits (``[p.assign(tf.clip_by_value(p, -1, 1)) for p in weights]``) are limited last, and told.

``tf.metrics`` (accuracy, mean, mean squared and absolute error) become Keras's, which steps add to;
``local_variables_initializer`` resets them. ``tf.cond``, ``tf.while_loop`` and ``tf.map_fn`` stay.

A collection of the author's own that functions fill and read (weight decay in ``'losses'``) becomes
a list that they take and return, in TF1's order; functions that make a variable and fill it
are written where they are called, and a block that put the variable on the CPU goes: it tells where
a variable is kept, and no value. Where TF1's functions fill the collection too (``tf.losses``), or
a function fills it in a loop, perhaps, or twice, the program stays.

A program that builds several graphs one after the other, each behind ``tf.reset_default_graph()``
and with a session of the same name, gets steps for each. So do several functions that make a
graph and its session each (``train()`` and ``evaluate()``, by ``tf.Graph().as_default()``, or with
a reset of the default graph in each, or between their calls), and one that does so at each of its
calls. What such a graph has for training, and nothing runs, is left out.

Variables that are initialized again, behind a run, or at the beginning of a later session of the
same name, get back what they had (``first_w = tf.identity(w)``, ``w.assign(first_w)``) where that
is constant, or drawn with a seed in a new session; what else is drawn, is drawn anew
(``w.assign(weight_variable([2, 1]))``). An optimizer that keeps more than its variables and goes
on, savers, metrics, and variables of layers keep such a program as it is.

A later session may be made by an assignment to the same name, where nothing else has the earlier
one, and under conditions, where nothing is built with it. Its config must be the first one's
object. One whose graph the program reads back from its own checkpoint
(``tf.train.import_meta_graph(path + '.meta')``, ``graph.get_tensor_by_name('logits:0')``) is one of
the graph that was saved, where that was saved for sure, and the name can be of one tensor alone.

Moving averages that something reads (``ema.average(w)``) are those of
``tf.train.ExponentialMovingAverage``, which TF2 has too: the step moves them, the author's lines
ask for them. One run that moves and reads them, and a loss of averages, stay.

The graph beside a checkpoint, where another program of the run reads it and asks it for tensors by
constant names (``graph.get_operation_by_name('scores').outputs[0]``), is written by the saver, from
the step that computes them. It has these names and no others, and TF2 of the same version reads it;
a finding lists them. Defaults of placeholders, savers of some variables, layers that draw, metrics
and tables keep such a program on the bridge.

A loop may make variables as often as a run says (``for width in widths:``), in scopes with computed
names (``"window-%s" % width``): a list ``names`` has them as TF1 numbers them, where no other name
begins as they do.

A session that a loop makes anew, and that restores a checkpoint before it runs something, is one
around the loop, where nothing gives variables other values, and no iterator, metric or stream of
random numbers begins anew with it. ``tf.train.Saver(ema.variables_to_restore())`` restores the
averages of variables that train by their names, in a graph that keeps no averages itself.

A name that several variables have, one after the other (``kernel`` in each layer), becomes a name
for each, by the scopes around them. A function that adds a decay to a collection where it is given
a regularizer, or None, always adds one: of ``0.0`` for None.

Tensors that a function reads as globals become its parameters. A lambda with a name that computes
tensors becomes a function. ``print`` of a tensor, which showed what the graph calls it, goes, also
in functions that build the graph.

``tf.train.MonitoredTrainingSession`` and ``SingularMonitoredSession`` in a ``with`` statement, on
one machine, are written as the session, the saver and the loop that they are. With a
``checkpoint_dir`` it goes on from the latest checkpoint there, saves at the start, every so many
steps or seconds (600 seconds where nothing is told) and at the end; summaries are computed with a
step every so many (100). ``StopAtStepHook`` is the loop's condition, asked behind the step: as in
TF1, a session that begins at its last step makes one more. ``NanTensorHook`` raises a
``RuntimeError``, ``LoggingTensorHook`` logs what the step gave, without the seconds between two
lines. ``begin``, ``before_run``, ``after_run`` and ``end`` of the program's own hooks are called
around it; what they ask for by ``SessionRunArgs`` the step gives. Hooks that use the session or the
graph, several runs that hooks watch, a ``Scaffold``, and sessions of several machines stay. TF1
takes the step of a summary from a read that races with the update, so that it may write one a step
earlier than it is written here, and it also logs ``global_step/sec``, which a finding tells.

A random operation with a seed of its own (``tf.random_normal(shape, seed=3)``, ``tf.nn.dropout``)
draws TF1's numbers, where one step computes it: in TF1 all runs share its stream, and in TF2 each
function would have one. ``tf.set_random_seed`` above it counts. First values with seeds of their
own are drawn eagerly, where operations of one kind and one seed share a stream: of variables with
the same seed only the first has TF1's numbers. ``tf.Print`` shows the same text on the standard
error output.

A value that is fetched with a training step is of before it, a variable of after it, as in
TF1. Optimizers have TF1's arithmetic. Values that a random operation or a first
value draws are others than TF1's from the seed of the graph alone.

## References
``tf.function``, ``tf.GradientTape``
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import SessionRewriter

RULE = Rule(
    code="MGPU205",
    name="native-session",
    summary="steps of a session become functions of TF2",
)

CASES = (
    Case(
        "a script",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
y = tf.placeholder(tf.float32, [None])
weight = tf.Variable(1.0)

# what is minimized
loss = tf.reduce_mean(tf.square(x * weight - y))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        value, _ = sess.run([loss, train], {x: [1, 2], y: [2, 4]})
        print(step, value, sess.run(weight))
""",
        """\
import tensorflow as tf

x_spec = tf.TensorSpec([None], tf.float32)
y_spec = tf.TensorSpec([None], tf.float32)
weight = tf.Variable(1.0)

optimizer = tf.keras.optimizers.SGD(0.01)
variables = [weight]
optimizer.build(variables)


@tf.function(input_signature=[x_spec, y_spec])
def train_step(x, y):
    with tf.GradientTape() as tape:
        # what is minimized
        loss = tf.reduce_mean(tf.square(x * weight - y))
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


for step in range(10):
    value = train_step([1, 2], [2, 4]).numpy()
    print(step, value, weight.numpy())
""",
    ),
    Case(
        "a configuration, and feeds with a name",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
weight = tf.get_variable("weight", [2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, weight)))
train = tf.train.AdamOptimizer(0.1).minimize(loss)

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
sess = tf.Session(config=config)
sess.run(tf.global_variables_initializer())
feeds = {x: [[1.0, 2.0]]}
for step in range(10):
    sess.run(train, feed_dict=feeds)
print(sess.run(loss, feed_dict=feeds))
""",
        """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

x_spec = tf.TensorSpec([None, 2], tf.float32)
weight = tf.Variable(
    tf.keras.initializers.GlorotUniform()([2, 1]), name="weight")


@tf.function(input_signature=[x_spec])
def compute_loss(x):
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weight)))
    return loss


optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)
variables = [weight]
optimizer.build(variables)


@tf.function(input_signature=[x_spec])
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weight)))
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))


feeds = {"x": [[1.0, 2.0]]}
for step in range(10):
    train_step(**feeds)
print(compute_loss(**feeds).numpy())
""",
    ),
    Case(
        "a graph, a layer and a session in functions",
        """\
import tensorflow as tf


def dense(x, size):
    w = tf.get_variable("w", [size, 1])
    return tf.matmul(x, w)


def build(size):
    x = tf.placeholder(tf.float32, [None, size])
    loss = tf.reduce_mean(tf.square(dense(x, size)))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    return x, loss, train


def fit(sess, x, loss, train, batches):
    for batch in batches:
        value, _ = sess.run([loss, train], {x: batch})
        print(value)


x, loss, train = build(2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    fit(sess, x, loss, train, [[[1.0, 2.0]], [[3.0, 4.0]]])
""",
        """\
import tensorflow as tf


class Dense(tf.keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.w = self.add_weight(name="w", shape=[size, 1])

    def call(self, x):
        return tf.matmul(x, self.w)


def build(size):
    x_spec = tf.TensorSpec([None, size], tf.float32)

    dense = Dense(size)

    def forward(x):
        loss = tf.reduce_mean(tf.square(dense(x)))
        return loss

    optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)
    # Makes the variables of its layers.
    tf.function(forward).get_concrete_function(x_spec)
    variables = dense.trainable_variables
    optimizer.build(variables)

    @tf.function(input_signature=[x_spec])
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = forward(x)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        return loss

    return train_step


def fit(train_step, batches):
    for batch in batches:
        value = train_step(batch).numpy()
        print(value)


train_step = build(2)
fit(train_step, [[[1.0, 2.0]], [[3.0, 4.0]]])
""",
    ),
    Case(
        "a tensor that Python looks at",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
weight = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(x * weight))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
assert loss.shape.ndims == 0

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: [1.0]})
""",
        refused="`loss`, a part of the graph, is used outside of `Session.run`",
    ),
    Case(
        "what is run is chosen at run time",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
weight = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(x * weight))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for fetched in (train, loss):
        sess.run(fetched, {x: [1.0]})
""",
        refused="is used outside of `Session.run`",
    ),
    Case(
        "two sessions",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
weight = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(x * weight))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

for number in range(2):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: [1.0]})
""",
        refused="its session is made under a condition or in a loop",
    ),
)

REWRITER = SessionRewriter(RULE, CASES)
