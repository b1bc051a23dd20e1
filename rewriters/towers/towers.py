"""A loop that builds a tower for each GPU becomes a strategy with a replica for each.

## What it does
The loop's body, the copy of the model that one GPU had, becomes a function that each replica
of a ``tf.distribute.MirroredStrategy`` runs; the strategy has the devices that the loop named.
Variables and optimizers are made in its scope. What split the batch (``tf.split``, slices by
the loop's variable) stays as the author wrote it, in a function that gives each replica its
part. Each kind of step is a ``tf.function`` that runs all replicas, as in
[native-session](rules.md#mgpu205). The function that averaged the gradients goes (one of another
module stays there, and is not imported any more):
``apply_gradients`` in a replica adds up the gradients of all, so each is that of its loss
divided by their number; a sum has no division. Gradients that were clipped after the average
are reduced first, then clipped; so are those that are changed one by one: noise, which the step
draws once and gives to all replicas, a decay, a norm, factors by a word of the variable's name.
Gradients that are chosen by such a word are those of an optimizer's ``var_list``.

## Why
Towers are graph code. A strategy keeps a copy of the variables on each GPU and reduces the
gradients between them, where towers sent all variables and gradients through one device.

## Safety
A value that is read behind the loop, a loss or an accuracy, is that of the last tower in TF1,
and stays so: ``experimental_local_results(loss)[-1]``. Lists of all towers' values are the
replicas' values, of which the author's own code makes a mean or a sum.

``reuse`` goes with the flags and parameters that give it, in one scope of a function or in
several: the replicas share what the strategy owns. Layers that TF1 names anew in each tower are
not shared, and keep their program on the bridge. Towers that call ``get_next()`` draw a batch
each: TF1 gives them out in any order, the strategy in its own. A run that only one tower draws
for stays. Input queues become datasets, as in other sessions' programs: a queue that each tower
makes is an iterator of its own in a list, batches of a ``prefetch_queue`` are drawn by each tower.
Modules that other programs need as they are (training on one device, an evaluation) stay, and what
the towers' program takes of them stands in ``<module>_tf2.py``; checkpoints have TF1's names.
A variable whose size follows from a tensor (``x.get_shape()[1].value``) is made once a function of
what comes before has been traced.
Summaries of towers have TF1's tags, ``tower_1/loss``, and are made behind the strategy's run: those
of ``tf.get_collection(tf.GraphKeys.SUMMARIES, scope)`` of the last tower's value, those of
``tf.summary.merge_all()`` of all. Histograms of averaged gradients are of their sum over the
replicas; where they are run alone, gradients are computed, and not applied.
A summary that only the first tower makes (``if i == 0``) has the tag of its scope, and the first
replica's value. Where the summaries of the last tower's scope are asked for, it keeps the program
on the bridge.

One that is called by the scope (``scope + "_loss"``) has TF1's tag, in which that stands twice.
Lines that print what is in the graph while the towers are built (``print(loss)``) go, and a finding
names each; one that prints something of Python's own keeps the program on the bridge.

A list of placeholders, one for each tower, is one parameter of the step: a list of tensors, which
may have different numbers of rows, of which each replica takes its own. It may be filled in the
loop, and fed by ``{xs[i]: ...}`` for each number, by a comprehension, by ``dict(zip(xs, parts))``,
by ``feed.update(...)`` and by a loop that sets ``feed[xs[i]]``. ``tf.make_template`` is the
function that it is given, whose variables the replicas share. A method that a trainer's constructor
calls in its towers becomes a function beside its class, and so do those of a network that it is
given, ``self.net.inference(x)``. What a method builds that makes the session, and is called once,
right behind the constructor, the constructor builds. Arrays that each tower draws as it is built
(``images, labels = data.next_batch(8)``) are drawn before all of them, in a list of which each
replica takes its own: TF1 puts them into the graph, and computes with them in every step.

What towers fill is read in the forms that programs have: lists of as many items as there are towers
(``losses[i] = ...``), losses and gradients that each tower adds to those before it
(``total += loss / n``, ``mean[var] += grad / n``), objects in a list of which attributes are read
(``[one.loss for one in models]``), dictionaries of variables that are made before the towers, a
second loop that computes the gradients. ``tf.trainable_variables()`` in a tower, for a weight
decay, are the strategy's variables, where the first tower has made all of them.
The arguments of ``slim.arg_scope`` are written at the calls below it, and a ``normalizer_fn`` of
batch normalization becomes a layer of its own with the same variables.

Where one loss is made of all towers' (their sum, their mean, the mean of all rows) and minimized,
each replica differentiates its own, or its share of the mean.
Batch normalization computes with each replica's own part, as TF1's towers do, and its averages are
moved by the tower whose updates the program runs: ``tf.get_collection(tf.GraphKeys.UPDATE_OPS,
scope)`` in the loop are the last tower's, under ``if i == 0`` the first one's. Where the updates
of all towers are run, TF1 moves the averages in any order, and two runs of it differ; here each
replica moves them from what they were before the step, and a finding says so. With contrib's
``updates_collections=None`` each tower moves them where it trains: that is the same, and a step
that trains some towers alone keeps the program.
Losses that a tower's function collects and asks for by its scope (``tf.get_collection('losses',
scope)``) are a list: the mean over the replicas counts weight decay once, as TF1's mean over the
towers did. A regularizer of contrib's that functions are handed and apply themselves is the number
that it has, and its term. What a step waits for, ``tf.control_dependencies(tower_losses)``, is
computed before it changes anything, where its loss is made of it; a step that waits for more stays.
A variable of the towers that is asked for by its name behind them, in a scope with ``reuse=True``,
is that variable, and its moving average may be read. A collection that is asked for without the
scope, where that is used, has those of the towers before, and keeps the program on the bridge.
A loop in a program that trains nothing, which shares a network's variables and fills lists with
what it makes of each part of a batch, becomes replicas too: what they need is made before the
first step.
An input function that is given the tower's number makes an iterator for each, above them.

A network that is built once more behind the towers, for tests, in a scope with ``reuse=True`` or
``AUTO_REUSE``, reads the variables of the towers. What its function collects or summarizes there is
left out, where nobody asks for it any more; a ``merge_all()`` behind it keeps the program on the
bridge.

A function that tells operations their devices (``tf.device(assign_to_device('/gpu:%d' % i))``),
in any module of the program, counts by what it gives all operations but the variables; one that
decides by more than the kind of operation makes no towers.
The devices that the loop names must exist: a strategy has no soft placement, with which TF1
put the towers of a GPU that is missing on the CPU.

A program stays on the bridge where the towers are not alike, where one changes the variables
by itself (an update inside of the loop), where what happens to the gradients cannot be analyzed,
and where a session's program without towers would stay.

## References
``tf.distribute.MirroredStrategy``, ``tf.distribute.Strategy.run``
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import TowerRewriter

RULE = Rule(
    code="MGPU502",
    name="towers",
    summary="towers become replicas of a strategy",
)

_HEAD = """\
import tensorflow as tf

num_gpus = 2
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
weights = tf.Variable(tf.zeros([3, 1]))
"""
_AVERAGE = """\

def average_gradients(tower_grads):
    average = []
    for grad_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grad_and_vars])
        average.append((tf.reduce_mean(grads, 0), grad_and_vars[0][1]))
    return average

"""
_TOWERS = """\

x_splits, y_splits = tf.split(x, num_gpus), tf.split(y, num_gpus)
optimizer = tf.train.GradientDescentOptimizer(0.1)
tower_grads = []
for i in range(num_gpus):
    with tf.device("/gpu:%d" % i), tf.name_scope("tower_%d" % i):
        output = tf.matmul(x_splits[i], weights)
        loss = tf.reduce_mean(tf.square(output - y_splits[i]))
        tower_grads.append(optimizer.compute_gradients(loss))
"""
_RUN = """\
train = optimizer.apply_gradients(average_gradients(tower_grads))

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        value, _ = sess.run([loss, train], {x: [[1, 2, 3]] * 4, y: [[1]] * 4})
        print(step, value)
"""
_STAYS = _RUN.replace("config=tf.ConfigProto(allow_soft_placement=True)", "")

CASES = (
    Case(
        "a script",
        _HEAD + _AVERAGE + _TOWERS + _RUN,
        """\
import tensorflow as tf

num_gpus = 2
tf.config.set_soft_device_placement(True)
x_spec = tf.TensorSpec([None, 3], tf.float32)
y_spec = tf.TensorSpec([None, 1], tf.float32)

strategy = tf.distribute.MirroredStrategy(
    ["/gpu:%d" % i for i in range(num_gpus)])
with strategy.scope():
    weights = tf.Variable(tf.zeros([3, 1]))

with strategy.scope():
    optimizer = tf.keras.optimizers.SGD(0.1)
    variables = [weights]
    optimizer.build(variables)


def split_batch(x, y):
    x_splits, y_splits = tf.split(x, num_gpus), tf.split(y, num_gpus)

    def part(context):
        i = context.replica_id_in_sync_group
        return x_splits[i], y_splits[i]

    return strategy.experimental_distribute_values_from_function(part)


def train_tower(x_split, y_split):
    with tf.GradientTape() as tape:
        output = tf.matmul(x_split, weights)
        loss = tf.reduce_mean(tf.square(output - y_split))
        scaled_loss = loss / strategy.num_replicas_in_sync
    gradients = tape.gradient(scaled_loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


@tf.function(input_signature=[x_spec, y_spec])
def train_step(x, y):
    loss = strategy.run(train_tower, args=split_batch(x, y))
    return strategy.experimental_local_results(loss)[-1]


for step in range(10):
    value = train_step([[1, 2, 3]] * 4, [[1]] * 4).numpy()
    print(step, value)
""",
    ),
    Case(
        "an update inside of the loop",
        _HEAD
        + _AVERAGE
        + _TOWERS.replace(
            "        tower_grads.append(optimizer.compute_gradients(loss))",
            "        grads = optimizer.compute_gradients(loss)\n"
            "        train = optimizer.apply_gradients(grads)",
        )
        + _STAYS.partition("\n\n")[2],
        refused="the updates are not synchronous",
    ),
    Case(
        "towers that differ",
        _HEAD + _AVERAGE + _TOWERS.replace("y_splits[i])", "y_splits[i]) * i") + _STAYS,
        refused="`i` differs from tower to tower",
    ),
    Case(
        "gradients of which something else is made",
        _HEAD + _AVERAGE.replace("reduce_mean", "reduce_max") + _TOWERS + _STAYS,
        refused="what happens to the gradients of all towers here cannot be analyzed",
    ),
)

REWRITER = TowerRewriter(RULE, CASES)
