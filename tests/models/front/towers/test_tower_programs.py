"""Towers: which forms become replicas, and what keeps them as they are."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run, said

HEAD = """\
import numpy as np
import tensorflow as tf

num_gpus = 2
batch = 4
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
"""
MODEL = """\
w = tf.Variable(tf.zeros([3, 1]))
optimizer = tf.train.GradientDescentOptimizer(0.1)
"""
AVERAGE = """
def average_gradients(tower_grads):
    average = []
    for grad_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grad_and_vars])
        average.append((tf.reduce_mean(grads, 0), grad_and_vars[0][1]))
    return average

"""
SPLIT = """
x_splits = tf.split(x, num_gpus)
y_splits = tf.split(y, num_gpus)
"""
LISTS = "tower_grads = []\nlosses = []\n"
LOOP = "for i in range(num_gpus):\n"
DEVICE = "    with tf.device('/gpu:%d' % i):\n"
BODY = """\
        output = tf.matmul(x_splits[i], w)
        loss = tf.reduce_mean(tf.square(output - y_splits[i]))
        losses.append(loss)
"""
GRADS = "        tower_grads.append(optimizer.compute_gradients(loss))\n"
APPLY = "train = optimizer.apply_gradients(average_gradients(tower_grads))\n"
RUN = """
sess = tf.Session()
sess.run(tf.global_variables_initializer())
rows = np.ones([8, 3])
for step in range(3):
    value, _ = sess.run([loss, train], {x: rows, y: rows[:, :1]})
    print(value)
"""


def program(**parts: str) -> str:
    known = {
        "head": HEAD, "model": MODEL, "average": AVERAGE, "split": SPLIT, "lists": LISTS,
        "loop": LOOP, "device": DEVICE, "body": BODY, "grads": GRADS, "apply": APPLY, "run": RUN,
    }  # fmt: skip
    return "".join({**known, **parts}.values())


def native(text: str) -> str:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after, _ = migrated(text, native_sessions=True)
    compile(after, "program.py", "exec")
    assert "compat.v1" not in after and "Session" not in after
    assert migrated(after, native_sessions=True)[0] == after
    return after


def average(body: str) -> str:
    return f"\ndef average_gradients(tower_grads):\n{body}\n"


MEANS = {
    "rows": average(
        "    found = []\n"
        "    for pairs in zip(*tower_grads):\n"
        "        grads = []\n"
        "        for g, _ in pairs:\n"
        "            grads.append(tf.expand_dims(g, 0))\n"
        "        grad = tf.reduce_mean(tf.concat(axis=0, values=grads), 0)\n"
        "        found.append((grad, pairs[0][1]))\n"
        "    return found\n"
    ),
    "the sum through the count": average(
        "    found = []\n"
        "    for pairs in zip(*tower_grads):\n"
        "        with tf.device('/cpu:0'):\n"
        "            grads = [g for g, _ in pairs if g is not None]\n"
        "            if len(grads) == 0:\n"
        "                continue\n"
        "            found.append((tf.add_n(grads) / num_gpus, pairs[0][1]))\n"
        "    return found\n"
    ),
    "a share of the sum": average(
        "    found = []\n"
        "    for pairs in zip(*tower_grads):\n"
        "        if pairs[0][0] is None:\n"
        "            continue\n"
        "        mean = tf.multiply(tf.add_n([p[0] for p in pairs]), 1.0 / len(pairs))\n"
        "        found.append((mean, pairs[0][1]))\n"
        "    return found\n"
    ),
    "without a function's own list": average(
        "    found = []\n"
        "    for pairs in list(zip(*tower_grads)):\n"
        "        v = pairs[0][1]\n"
        "        grad = tf.reduce_mean([g for g, v in pairs], axis=0)\n"
        "        found.append((grad, v))\n"
        "    return found\n"
    ),
}


@pytest.mark.parametrize("text", MEANS.values(), ids=MEANS)
def test_the_mean_of_gradients_is_that_of_a_share_of_the_loss(text: str) -> None:
    after = native(program(average=text))
    assert "scaled_loss = loss / strategy.num_replicas_in_sync\n" in after
    assert "average_gradients" not in after


def test_a_sum_is_what_apply_gradients_does() -> None:
    after = native(program(average=AVERAGE.replace("reduce_mean", "reduce_sum")))
    assert "num_replicas_in_sync" not in after
    assert "tape.gradient(loss, variables)" in after


NOT_MEANS = {
    "the largest": AVERAGE.replace("reduce_mean", "reduce_max"),
    "along another axis": AVERAGE.replace("grads, 0", "grads, 1"),
    "of the first": AVERAGE.replace("g for g, _ in grad_and_vars", "grad_and_vars[0][0]"),
    "of some": AVERAGE.replace("in grad_and_vars]", "in grad_and_vars[1:]]"),
    "by another number": average(
        "    return [(tf.add_n([g for g, _ in p]) / batch, p[0][1]) for p in zip(*tower_grads)]\n"
    ),
    "only where there are gradients, inverted": AVERAGE.replace(
        "        grads =",
        "        if grad_and_vars[0][0] is not None:\n            continue\n        grads =",
    ),
}


def test_a_mean_that_is_printed_is_one() -> None:
    """What TF1 printed are the names of tensors."""
    text = program(average=AVERAGE.replace("    return", "    print(average)\n    return"))
    after = native(text)
    assert "print(average)" not in after and "zip(*" not in after
    told = said(run(text, bridge=True, native_sessions=True))
    assert any("it printed what a tensor of the graph is called" in one for one in told)


@pytest.mark.parametrize("text", NOT_MEANS.values(), ids=NOT_MEANS)
def test_what_is_no_mean_stays(text: str) -> None:
    stays(program(average=text), "gradients of all towers")


def stays(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)


FORMS = {
    "format": (DEVICE.replace("'/gpu:%d' % i", "'/gpu:{}'.format(i)"), "['/gpu:{}'.format(i) for"),
    "f-string": (DEVICE.replace("'/gpu:%d' % i", "f'/device:GPU:{i}'"), "[f'/device:GPU:{i}' for"),
    "sum": (DEVICE.replace("'/gpu:%d' % i", "'/gpu:' + str(i)"), "['/gpu:' + str(i) for i in"),
    "setter": (
        DEVICE.replace(
            "'/gpu:%d' % i",
            "tf.train.replica_device_setter(worker_device='/gpu:%d' % i, ps_device='/cpu:0')",
        ),
        "['/gpu:%d' % i for i in range(num_gpus)]",
    ),
    "scopes": (
        "    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i) as scope:\n",
        "['/gpu:%d' % i for i in range(num_gpus)]",
    ),
}


@pytest.mark.parametrize("case", FORMS.values(), ids=FORMS)
def test_devices(case: tuple[str, str]) -> None:
    device, devices = case
    assert devices in native(program(device=device))


CHOOSE = """\
import tensorflow as tf

def on(host, device):
    def choose(op):
        if op.type in ('Variable', 'VariableV2'):
            return host
        return device
    return choose
"""
CHOSEN = DEVICE.replace("'/gpu:%d' % i", "on('/cpu:0', '/gpu:%d' % i)")


def test_a_device_function_of_another_module() -> None:
    text = program(head="from placing import on\n" + HEAD, device=CHOSEN)
    result = run(("main.py", text), ("placing.py", CHOOSE), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = next(str(file.after) for file in result.files if file.path.name == "main.py")
    assert "['/gpu:%d' % i for i in range(num_gpus)]" in after
    assert "placing" not in after


@pytest.mark.parametrize(
    "choose",
    (
        CHOOSE.replace(" in (", " not in ("),  # the host for all but the variables
        CHOOSE.replace("return device", "return '/gpu:0'"),
        CHOOSE.replace("return device", "return device + '0'"),
    ),
)
def test_a_device_function_that_gives_other_devices_is_none_of_towers(choose: str) -> None:
    text = program(head="from placing import on\n" + HEAD, device=CHOSEN)
    files = ("main.py", text), ("placing.py", choose)
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert not any("MirroredStrategy" in str(file.after) for file in result.files)


def test_a_list_of_devices() -> None:
    after = native(
        program(
            loop="devices = ['/gpu:0', '/gpu:1']\nfor i, device in enumerate(devices):\n",
            device="    with tf.device(device):\n",
        )
    )
    assert "strategy = tf.distribute.MirroredStrategy(devices)\n" in after
    assert after.index("devices =") < after.index("MirroredStrategy")


def test_items_of_zipped_splits() -> None:
    after = native(
        program(
            loop="for i, (a, b) in enumerate(zip(x_splits, y_splits)):\n",
            body=BODY.replace("x_splits[i]", "a").replace("y_splits[i]", "b"),
        )
    )
    assert "range(num_gpus)]" in after and "return x_splits[i], y_splits[i]\n" in after
    assert "def train_tower(a, b):\n" in after


def test_what_is_read_behind_the_loop_is_the_last_towers() -> None:
    assert "return strategy.experimental_local_results(loss)[-1]\n" in native(program())
    first = "        if i == 0:\n            first = tf.reduce_mean(output)\n"
    text = program(body=BODY + first, run=RUN.replace("[loss, train]", "[first, train]"))
    assert "return strategy.experimental_local_results(first)[0]\n" in native(text)


def test_lists_of_all_towers() -> None:
    text = program(apply=APPLY + "mean = tf.reduce_mean(tf.stack(losses))\n")
    after = native(text.replace("[loss, train]", "[mean, train]"))
    assert "losses = strategy.experimental_local_results(loss)\n" in after
    assert "mean = tf.reduce_mean(tf.stack(losses))\n    return mean\n" in after


def test_what_all_towers_are_given_is_an_argument() -> None:
    rate = "keep = tf.placeholder(tf.float32, [])\n"
    text = program(model=MODEL + rate, body=BODY.replace("w)", "w) * keep"))
    after = native(text.replace("{x: rows,", "{keep: 0.5, x: rows,"))
    assert "strategy.run(train_tower, args=(*split_batch(x, y), keep))" in after


def test_that_missing_devices_are_an_error_is_told() -> None:
    text = program(
        run=RUN.replace("Session()", "Session(config=tf.ConfigProto(allow_soft_placement=True))")
    )
    result = run(text, bridge=True, native_sessions=True)
    assert any("needs every device that the loop names" in message for message in said(result))


def test_towers_that_are_given_nothing() -> None:
    text = program(split="", body="        loss = tf.reduce_mean(tf.square(w - 1.0))\n")
    after = native(text.replace("{x: rows, y: rows[:, :1]}", "{}"))
    assert "strategy.run(train_tower)\n" in after and "def train_tower():\n" in after


def test_the_number_of_steps_is_counted_once() -> None:
    count = "count = tf.Variable(0, trainable=False)\n"
    after = native(
        program(
            model=MODEL + count,
            apply=APPLY.replace("(tower_grads))", "(tower_grads), global_step=count)"),
        )
    )
    step = after[after.index("def train_step") :]
    assert "    count.assign_add(1)\n" in step


NETWORK = """
def network(inputs):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(inputs, 4, name='hidden')
        return tf.layers.dense(hidden, 1, name='out')

"""


def normalized(inside: str, behind: str, fetched: str) -> str:
    """Towers with batch normalization, whose updates are asked for in the loop or behind it."""
    return program(
        device="    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i) as scope,"
        " tf.variable_scope('net', reuse=i > 0):\n",
        body=BODY.replace(
            "tf.matmul(x_splits[i], w)",
            "tf.layers.batch_normalization(tf.matmul(x_splits[i], w), training=True)",
        ),
        grads=inside + GRADS,
        apply=behind + APPLY,
        run=RUN.replace("value, _ =", "value =").replace("loss, train", f"loss, train, {fetched}"),
    )


# What the towers share is made before them, by a network whose value is used.
MADE_BEFORE = program(
    average=AVERAGE + NETWORK.replace(", reuse=tf.AUTO_REUSE", ""),
    lists="whole = network(x)\n" + LISTS,
    device="    with tf.variable_scope(tf.get_variable_scope(), reuse=True):\n"
    "      with tf.device('/gpu:%d' % i):\n",
    body=BODY.replace("tf.matmul(x_splits[i], w)", "network(x_splits[i])"),
    run=RUN.replace("[loss, train]", "[whole, train]"),
)

SCOPED = """\
    with tf.device('/gpu:%d' % i):
        with tf.name_scope('tower_%d' % i) as scope:
            output = tf.matmul(x_splits[i], w)
            loss = tf.reduce_mean(tf.square(output - y_splits[i]))
            losses.append(loss)
            tower_grads.append(optimizer.compute_gradients(loss))
            """


def summarized(told: str) -> str:
    """A program whose towers have scopes, and summaries, all of which are merged."""
    return program(
        device="", body=SCOPED + told + "\n", grads="",
        apply=APPLY + "merged = tf.summary.merge_all()\n",
        run=RUN.replace("[loss, train]", "[merged, train]"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (summarized("tf.summary.histogram('told', x_splits[i])"), "values=shown_told"),
        (
            summarized("part = x_splits[i]\n            tf.summary.histogram('told', part)"),
            "values=shown_part",
        ),
        (summarized("tf.summary.scalar('told', loss + output[0, 0])"), "values=told"),
    ],
    ids=["a part of the batch", "what a tower takes", "two values"],
)
def test_what_a_summary_of_each_tower_shows_gets_a_name(text: str, value: str) -> None:
    assert value in native(text)


STAYS = {
    "rows of the whole batch in a network": (
        program(
            average=AVERAGE + NETWORK,
            lists="count = x.get_shape()[0].value\n" + LISTS,
            body=BODY.replace(
                "tf.matmul(x_splits[i], w)",
                "tf.reshape(network(tf.reshape(x_splits[i], [count, 3])), [-1, 1])",
            ),
        ),
        "how many rows they need cannot be determined",
    ),
    "variables that are made before the towers": (
        MADE_BEFORE,
        "the variables of the towers are made before them",
    ),
    "variables of each tower": (
        program(body="        w = tf.Variable(tf.zeros([3, 1]))\n" + BODY, model=MODEL[34:]),
        "a tower has its own variables",
    ),
    "variables that nothing shares": (
        program(body="        w = tf.get_variable('w', [3, 1])\n" + BODY, model=MODEL[34:]),
        "each tower has its own variables",
    ),
    "layers that nothing shares": (
        program(body=BODY.replace("tf.matmul(x_splits[i], w)", "tf.layers.dense(x_splits[i], 1)")),
        "each tower has its own variables",
    ),
    "a scale of each tower": (
        program(body=BODY.replace("w)", "w) * i")),
        "`i` differs from tower to tower",
    ),
    "a sum that grows": (
        program(lists=LISTS + "total = 0.0\n", body=BODY + "        total = total + loss * 2\n"),
        "`total` has a different value in the first tower than in the others",
    ),
    "a step in each tower": (
        program(grads="        grads = optimizer.compute_gradients(loss)\n"
                "        train = optimizer.apply_gradients(grads)\n", apply=""),
        "the updates are not synchronous",
    ),
    "the gradients of one tower": (
        program(
            grads="        grads = optimizer.compute_gradients(loss)\n",
            apply="train = optimizer.apply_gradients(grads)\n",
        ),
        "what is minimized is not the loss of each tower",
    ),
    "a print": (program(body=BODY + "        print('tower', i)\n"), "is not part of a tower"),
    "a run": (
        program(body=BODY + "        tf.Session().run(loss)\n"),
        "it makes more than one session",
    ),
    "towers from the second on": (
        program(loop="for i in range(1, num_gpus):\n"),
        "a part of the graph, is used outside",
    ),
    "two on one device": (
        program(device=DEVICE.replace("% i", "% (i % 2)")),
        "two towers may share a device",
    ),
    "an unknown number": (
        program(
            loop="for i, (a, b) in enumerate(zip(parts, others)):\n",
            split="parts = tf.unstack(tf.reshape(x, [2, -1, 3]))\nothers = tf.split(y, [4, 4])\n",
            body=BODY.replace("x_splits[i]", "a").replace("y_splits[i]", "b"),
        ),
        "how many towers there are",
    ),
    "decay that is computed above": (
        program(
            model=MODEL + "decay = tf.nn.l2_loss(w)\n",
            body=BODY.replace("        losses", "        loss = loss + decay\n        losses"),
        ),
        "it uses a value that is computed from variables before the towers",
    ),
    "layers of a number of rows": (
        program(
            average=AVERAGE + NETWORK,
            body=BODY.replace(
                "tf.matmul(x_splits[i], w)", "network(tf.reshape(x_splits[i], [batch, 3]))"
            ),
        ),
        "how many rows they need cannot be determined",
    ),
    "the greatest of the towers' losses": (
        program(grads="", apply="train = optimizer.minimize(tf.reduce_max(losses))\n"),
        "what is minimized is not the sum or the mean of the towers' losses",
    ),
    "the mean of losses and more": (
        program(
            grads="",
            apply="both = tf.reduce_mean(losses) + tf.nn.l2_loss(w)\n"
            "train = optimizer.minimize(both)\n",
        ),
        "what is minimized is not the sum or the mean of the towers' losses",
    ),
    # The mean of all rows is that of the towers' means where they have as many.
    "rows of which the last tower may have fewer": (
        program(
            body=BODY.replace("x_splits[i]", "x[i * batch:(i + 1) * batch]")
            .replace("y_splits[i]", "y[i * batch:(i + 1) * batch]")
            .replace("tf.reduce_mean(tf.square", "tf.identity(tf.square"),
            grads="",
            apply="train = optimizer.minimize(tf.reduce_mean(tf.concat(losses, 0)))\n",
        ),
        "the towers may have different numbers of rows, of which one mean is made",
    ),
    # TF1 finds by a text what begins with it: another scope has other updates, or none.
    "averages of a scope that is no tower's": (
        normalized("", "ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, 'net')\n", "ops"),
        "which towers' averages are moved cannot be determined",
    ),
    "averages of different towers": (
        normalized(
            "        last = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)\n",
            "ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\n",
            "ops, last",
        ),
        "the averages of other towers are moved elsewhere",
    ),
    "a loss that is computed behind the averages": (
        normalized(
            "",
            "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n"
            "    both = tf.reduce_mean(losses)\n",
            "both",
        )
        + "print(sess.run(both, {x: rows, y: rows[:, :1]}))\n",
        "averages of batch normalization move before it is computed",
    ),
    "a summary of each tower without a scope": (
        program(body=BODY + "        tf.summary.scalar('loss', loss)\n"),
        "each tower has a summary of its own here, and no scope to name it by",
    ),
    "a summary that something else in a tower has the name of": (
        summarized("tf.summary.scalar('error', loss)").replace("s[i])", "s[i], name='error')"),
        "TF1's tag of `error` cannot be determined",
    ),
    "a summary with the name that TF1 gives an operation": (
        summarized("tf.summary.scalar('Mean', loss)"),
        "TF1's tag of `Mean` cannot be determined",
    ),
    "a summary in a scope with a slash": (
        summarized("with tf.name_scope('a/b'):\n                tf.summary.scalar('told', loss)"),
        "a summary in a scope whose name is not known",
    ),
    "a summary of each tower by a name": (
        summarized("told = tf.summary.scalar('told', loss)"),
        "each tower has a summary of its own here, by a name",
    ),
    "a summary that the number of its tower is in the name of": (
        summarized("tf.summary.scalar('told%d' % i, loss)"),
        "a summary in a scope whose name is not known",
    ),
    "a summary of the first tower, without a scope": (
        program(body=BODY + "        if i == 0:\n            tf.summary.scalar('told', loss)\n"),
        "each tower has a summary of its own here, and no scope to name it by",
    ),
    "a summary of the first tower among those of the last": (
        summarized("if i == 0:\n                tf.summary.scalar('told', loss)\n"
                   "            summaries = tf.get_collection(tf.GraphKeys.SUMMARIES, scope)"),
        "the last tower's summaries are asked for, and one is made by the first alone",
    ),
    "a tower that merges": (
        summarized("tf.summary.scalar('told', loss)\n            merged = tf.summary.merge_all()"),
        "each tower merges summaries",
    ),
    "the summaries of all that there are so far": (
        summarized("tf.summary.scalar('told', loss)\n"
                   "            summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)"),
        "which summaries are asked for cannot be determined",
    ),
    "gradients that are clipped, in a summary": (
        program(
            apply="pairs = average_gradients(tower_grads)\n"
            "for g, v in pairs:\n    tf.summary.histogram(v.op.name + '/g', g)\n"
            "pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]\n"
            "train = optimizer.apply_gradients(pairs)\nmerged = tf.summary.merge_all()\n",
            run=RUN.replace("[loss, train]", "[merged, train]"),
        ),
        "a summary tells of the towers' gradients, which are clipped later",
    ),
    "gradients of one tower, in a summary": (
        program(
            grads="        pairs = optimizer.compute_gradients(loss)\n"
            "        tower_grads.append(pairs)\n",
            apply=APPLY + "for g, v in pairs:\n    tf.summary.histogram(v.op.name + '/g', g)\n"
            "merged = tf.summary.merge_all()\n",
            run=RUN.replace("[loss, train]", "[merged, train]"),
        ),
        "a summary tells of gradients that are clipped, or of one tower's",
    ),
    "a summary that a tower may have the name of": (
        program(
            body=BODY.replace("y_splits[i])", "y_splits[i], name='error')", 1),
            apply=APPLY + "told = tf.summary.scalar('error', loss)\n",
            run=RUN.replace("[loss, train]", "[told, train]"),
        ),
        "TF1's name of `error` cannot be determined",
    ),
    "devices that change": (
        program(head=HEAD.replace("num_gpus = 2\n", "num_gpus = 2\nnum_gpus = num_gpus * 2\n")),
        "`num_gpus`, which decides the devices, changes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_stays(case: tuple[str, str]) -> None:
    stays(*case)


def test_a_list_of_what_all_towers_have_is_fetched() -> None:
    after = native(program(run=RUN.replace("[loss, train]", "[losses, train]")))
    assert "losses = list(strategy.experimental_local_results(loss))" in after
    assert "tf.nest.map_structure(lambda " in after


def test_a_network_that_a_function_builds_is_made_once() -> None:
    after = native(
        program(
            average=AVERAGE + NETWORK,
            body=BODY.replace("tf.matmul(x_splits[i], w)", "network(x_splits[i])"),
        )
    )
    assert after.count("tf.keras.layers.Dense(4") == 1
    assert after.index("MirroredStrategy") < after.index("(tf.ones([1, 3]))")
    assert "(tf.ones([1, 3]))  # makes the variables of its layers\n" in after


FLAGGED = """
def network(inputs, reuse):
    with tf.variable_scope('net', reuse=reuse):
        hidden = tf.layers.dense(inputs, 4)
        return tf.layers.dense(hidden, 1)

"""
FLAGS = {
    "the tower's number": (LISTS, BODY.replace("tf.matmul(x_splits[i], w)", "network({}, i > 0)")),
    "by its name": (LISTS, BODY.replace("tf.matmul(x_splits[i], w)", "network({}, reuse=i != 0)")),
    "a name of its own": (
        LISTS,
        "        again = i > 0\n" + BODY.replace("tf.matmul(x_splits[i], w)", "network({}, again)"),
    ),
    "set under a condition": (
        LISTS,
        "        if i > 0:\n            again = True\n        else:\n            again = False\n"
        + BODY.replace("tf.matmul(x_splits[i], w)", "network({}, again)"),
    ),
    "changed by the first tower": (
        LISTS + "again = None\n",
        BODY.replace("tf.matmul(x_splits[i], w)", "network({}, again)") + "        again = True\n",
    ),
}


@pytest.mark.parametrize("case", FLAGS.values(), ids=FLAGS)
def test_what_only_says_that_variables_are_shared_goes(case: tuple[str, str]) -> None:
    lists, body = case
    after = native(
        program(average=AVERAGE + FLAGGED, lists=lists, body=body.replace("{}", "x_splits[i]"))
    )
    assert "def call(self, inputs):\n" in after and "network(x_split)\n" in after
    assert "reuse" not in after and "again" not in after


def test_a_flag_that_says_more_stays() -> None:
    says_more = FLAGGED.replace(
        "        return", "        if reuse:\n            hidden *= 2.0\n        return"
    )
    body = BODY.replace("tf.matmul(x_splits[i], w)", "network(x_splits[i], i > 0)")
    stays(program(average=AVERAGE + says_more, body=body), "weights are shared by `reuse`")


OPENED = "with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):\n"
UNNAMED = BODY.replace("tf.matmul(x_splits[i], w)", "tf.layers.dense(x_splits[i], 1)")


def test_names_that_tf1_counts_are_other_variables_in_each_tower() -> None:
    """A scope that is opened once goes on counting: `dense`, `dense_1`; TF 1.15.5 says so."""
    loop = "".join(f"    {line}\n" for line in (LOOP + DEVICE + UNNAMED + GRADS).splitlines())
    around = program(loop=OPENED, device="", body=loop, grads="")
    stays(around, "these have no name by which they are shared")
    native(around.replace("x_splits[i], 1)", "x_splits[i], 1, name='out')"))
    inside = "".join(f"    {line}\n" for line in UNNAMED.splitlines())
    native(program(body=f"        {OPENED}{inside}"))


def test_what_stands_around_the_steps() -> None:
    saved = "saver = tf.train.Saver()\nsess = "
    text = program(
        device=DEVICE.replace(":\n", ", tf.name_scope('tower_%d' % i):\n"),
        body=BODY.replace("y_splits[i])", "y_splits[i], name='error')", 1),
        apply=APPLY + "told = tf.summary.scalar('error', loss)\n",
        run=RUN.replace("sess = ", saved).replace("[loss, train]", "[told, train]"),
    )
    after = native(text + "saver.save(sess, 'model')\n")
    assert "saver = Saver({'Variable': w})\n" in after
    step = after[after.index("def train_step") :]
    assert step.index("experimental_local_results(loss)[-1]") < step.index("ScalarSummary")


DRAWN = BODY.replace("x_splits[i]", "a").replace("y_splits[i]", "b")
DATASET = "data = tf.data.Dataset.from_tensor_slices((np.ones([8, 3]), np.ones([8, 1])))\n"
DRAWS = {
    "split": DATASET + "iterator = data.repeat().batch(4).make_one_shot_iterator()\n",
    "body": "        a, b = iterator.get_next()\n" + DRAWN,
    "apply": APPLY + "mean = tf.reduce_mean(tf.stack(losses))\n",
    "run": RUN.replace("[loss, train]", "[mean, train]").replace(", {x: rows, y: rows[:, :1]}", ""),
}


def test_each_tower_draws_a_batch() -> None:
    after = native(program(**DRAWS))
    assert "            a, b = iterator.get_next()\n" not in after.split("def part")[0]
    assert "strategy.run(train_tower, args=draw_batches())" in after
    assert "replica_id_in_sync_group" not in after


def test_a_run_of_one_tower_would_draw_for_all() -> None:
    """TF1 draws one batch for `sess.run(loss)`, a strategy's step one for each replica."""
    text = program(**{**DRAWS, "run": DRAWS["run"] + "print(sess.run(loss))\n"})
    stays(text, "which alone draws a batch")


MADE = "iterator = data.repeat().batch(4).make_one_shot_iterator()\n"


def test_an_iterator_that_each_tower_makes() -> None:
    """They were taken for one, which all towers drew of."""
    body = f"        {MADE}{DRAWS['body']}"
    after = native(program(**{**DRAWS, "split": DATASET, "body": body}))
    assert "iterators = [iter(data.repeat().batch(4)) for _ in range(num_gpus)]\n" in after
    assert "a, b = iterators[i].get_next()\n" in after
    assert "replica_id_in_sync_group" in after


def test_which_iterator_a_tower_has_must_be_seen() -> None:
    listed = MADE.replace("= data", "= [data").replace("()\n", "() for _ in range(num_gpus)]\n")
    body = DRAWS["body"].replace("iterator.get_next", "iterator[i].get_next")
    given = {**DRAWS, "split": DATASET + listed, "body": body}
    assert "iterator[i].get_next()" in native(program(**given))
    other = {**given, "body": body.replace("[i]", "[0]")}
    stays(program(**other), "the iterator that this comes from has no name")
    begun = listed.replace("one_shot", "initializable")
    stays(program(**{**given, "split": DATASET + begun}), "an iterator that runs begin")


QUEUED = {
    **DRAWS,
    "split": DATASET + MADE + """\
rows_0, labels_0 = iterator.get_next()
tf.summary.histogram('rows', rows_0)
rows_1 = rows_0 * 2.0
queue = tf.contrib.slim.prefetch_queue.prefetch_queue([rows_1, labels_0], capacity=4)
""",
    "body": DRAWS["body"].replace("iterator.get_next", "queue.dequeue"),
}  # fmt: skip


def test_batches_that_a_queue_keeps_for_the_towers() -> None:
    after = native(program(**QUEUED))
    assert "rows_0, b = iterator.get_next()\n" in after
    assert "a = rows_0 * 2.0\n" in after
    assert "'rows'" not in after  # the summary of nothing that is merged


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("apply", "mean =", "told = tf.summary.merge_all()\nmean ="),
        ("apply", "mean =", "print(rows_1.shape)\nmean ="),
        ("body", "a, b = queue.dequeue()", "c = queue.dequeue()\n        a, b = c"),
        ("body", "a, b = queue.dequeue()", "a, b = queue.dequeue_many(2)"),
    ],
    ids=["a summary that is merged", "another use of a batch",
         "a batch that has no names", "several batches"],
)  # fmt: skip
def test_a_queue_that_others_know_stays(part: str, old: str, new: str) -> None:
    assert QUEUED[part].count(old) == 1
    shown = "tf.summary.histogram('rows', rows_0)\n"
    parts = {**QUEUED, part: QUEUED[part].replace(old, new)}
    if "ummar" not in new:
        parts["split"] = parts["split"].replace(shown, "")
    stays(program(**parts), "prefetch_queue` is not among")


COUNT = "count = tf.Variable(0, trainable=False)\n"
APPLIED = APPLY.replace("train =", "apply =").replace("(tower_grads))", "(tower_grads), count)")
EMA = "ema = tf.train.ExponentialMovingAverage(0.9, count)\n"
MOVE = "ema.apply(tf.trainable_variables())\n"
TOGETHER = {
    "a group": EMA + f"moved = {MOVE}train = tf.group(apply, moved)\n",
    "nothing behind both": EMA
    + f"moved = {MOVE}with tf.control_dependencies([apply, moved]):\n    train = tf.no_op()\n",
    "averages behind the update": EMA
    + f"with tf.control_dependencies([apply]):\n    train = {MOVE}",
}


@pytest.mark.parametrize("case", TOGETHER)
def test_averages_of_variables_move_with_the_step(case: str) -> None:
    after = native(program(model=COUNT + MODEL, apply=APPLIED + TOGETHER[case]))
    step = after[after.index("def train_step") :]
    trained, counted = step.index("strategy.run"), step.index("count.assign_add(1)")
    moved = step.index("zip(averages")
    # What waits for nothing has moved before there is a gradient.
    assert (trained < counted < moved) if "behind the" in case else (moved < trained < counted)
    assert ".assign_sub((1.0 - decay) * (" in step


GROUPED = f"moved = {MOVE}train = tf.group(apply, moved)\n"
NOT_TOGETHER = {
    "of some": (
        EMA + "moved = ema.apply([w])\ntrain = tf.group(apply, moved)\n",
        "averages of other variables than",
    ),
    "of what is not trained": (
        "more = tf.Variable(1.0)\n" + EMA + GROUPED,
        "averages of variables that the step does not train",
    ),
    "read": (EMA + GROUPED + "shown = ema.average(w)\n", "averages are read"),
    "by another count": (
        "other = tf.Variable(0, trainable=False)\n" + EMA.replace("count", "other") + GROUPED,
        "a different step count",
    ),
}


@pytest.mark.parametrize("case", NOT_TOGETHER.values(), ids=NOT_TOGETHER)
def test_other_averages_stay(case: tuple[str, str]) -> None:
    text, reason = case
    stays(program(model=COUNT + MODEL, apply=APPLIED + text), reason)


def test_without_its_rule_a_program_stays() -> None:
    from migrate_mgpu.core.selection import Selection

    off = Selection(ignore=("MGPU502",))
    result = run(program(), bridge=True, native_sessions=True, rules=off)
    assert [one.state for one in result.programs] == ["bridge"]


def test_false_towers_are_none() -> None:
    """`tf.device` around a run, or a loop that computes no gradients."""
    text = program(grads="", apply="train = optimizer.minimize(loss)\n")
    result = run(text, bridge=True, native_sessions=True)
    assert not any(finding.code == "MGPU502" for finding in result.findings)


def test_averages_follow_the_tower_whose_updates_are_run() -> None:
    """Which one moves them is told by the scope, the loop's first round or a list of all."""
    scoped = "tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)"
    every = "tf.get_collection(tf.GraphKeys.UPDATE_OPS)"
    wanted = {
        (f"        ops = {scoped}\n", ""): "the last replica moves",
        (f"        ops = tf.group(*{scoped})\n", ""): "the last replica moves",
        ("", f"ops = {scoped}\n"): "the last replica moves",
        (f"        if i == 0:\n            ops = {scoped}\n", ""): "the first replica moves",
        (f"        if i == 0:\n            ops = {every}\n", ""): "the first replica moves",
        ("", f"ops = {every[:-1]}, 'tower_0')\n"): "the first replica moves",
        ("", f"ops = {every}\n"): "all replicas move",
        (f"        ops = {every}\n", ""): "all replicas move",
    }
    for (inside, behind), moved in wanted.items():
        text = normalized(inside, behind, "ops")
        text = text.replace("value = sess", "value, _, _ = sess")
        assert f"whose averages {moved}" in migrated(text, native_sessions=True)[0], inside + behind


def test_averages_that_gradients_move() -> None:
    """Gradients of a tower that wait for its updates move the averages in each."""
    text = normalized(
        "        ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)\n"
        "        with tf.control_dependencies(ops):\n    ",
        "",
        "",
    ).replace("value = sess", "value, _ = sess")
    assert "whose averages all replicas move" in migrated(text, native_sessions=True)[0]


@pytest.mark.parametrize(
    ("minimized", "loss"),
    [
        ("tf.reduce_mean(losses)", "loss / strategy.num_replicas_in_sync"),
        ("tf.add_n(losses) / num_gpus", "loss / strategy.num_replicas_in_sync"),
        ("tf.reduce_mean(tf.stack(losses))", "loss / strategy.num_replicas_in_sync"),
        ("tf.add_n(losses)", "tape.gradient(loss, "),
        ("tf.reduce_sum(losses)", "tape.gradient(loss, "),
    ],
)
def test_one_loss_of_all_towers_is_minimized(minimized: str, loss: str) -> None:
    """Its gradient is the sum or the mean of the towers' own."""
    forms = (
        "train = optimizer.minimize(both)\n",
        "pairs = optimizer.compute_gradients(both)\ntrain = optimizer.apply_gradients(pairs)\n",
    )
    for form in forms:
        text = program(average="", grads="", apply=f"both = {minimized}\n{form}")
        assert loss in migrated(text, native_sessions=True)[0], text


def test_a_flag_in_the_place_of_the_noise_shape_goes() -> None:
    """`tf.layers.dropout(x, 0.5, True)` does not train: TF1 never asks for the shape."""
    text = program(
        device="    with tf.device('/gpu:%d' % i), tf.variable_scope('net', reuse=i > 0):\n",
        body=BODY.replace(
            "tf.matmul(x_splits[i], w)", "tf.layers.dropout(tf.matmul(x_splits[i], w), 0.5, True)"
        ),
    )
    after = migrated(text, native_sessions=True)[0]
    assert "tf.keras.layers.Dropout(0.5)\n" in after and "training=False)" in after, after


@pytest.mark.parametrize(
    ("minimized", "scaled"),
    [
        ("tf.reduce_mean(losses)", "scaled_loss = tf.reduce_mean(loss) / strategy"),
        # TF1 adds up the gradients of all values of a tensor.
        ("tf.add_n(losses) / num_gpus", "scaled_loss = loss / strategy"),
    ],
)
@pytest.mark.parametrize(
    "loss",
    ["tf.square(output - y_splits[i])", "tf.reduce_mean(tf.square(output - y_splits[i]), 1)"],
)
def test_losses_of_many_values(loss: str, minimized: str, scaled: str) -> None:
    body = BODY.replace("tf.reduce_mean(tf.square(output - y_splits[i]))", loss)
    assert body != BODY
    text = program(
        average="", body=body, grads="", apply=f"train = optimizer.minimize({minimized})\n"
    )
    assert scaled in migrated(text, native_sessions=True)[0]


PARTS = """\
def weights(shape, size):
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", shape, initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [size], initializer=tf.zeros_initializer())
        return w, b


def network(rows, reuse):
    with tf.variable_scope("first", reuse=reuse):
        w, b = weights([3, 2], 2)
        hidden = tf.matmul(rows, w) + b
    with tf.variable_scope("second", reuse=reuse):
        v, c = weights([2, 1], 1)
        return tf.matmul(hidden, v) + c


optimizer = tf.train.GradientDescentOptimizer(0.1)
"""
IN_PARTS = BODY.replace("tf.matmul(x_splits[i], w)", "network(x_splits[i], reuse=i > 0)")


def test_a_network_in_parts_that_are_told_to_reuse_becomes_a_class() -> None:
    after = native(program(model=PARTS, body=IN_PARTS))
    assert "class Network" in after and "def weights" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"second", reuse=reuse', '"second", reuse=not reuse'),
        ('"second", reuse=reuse', '"first", reuse=reuse'),
        ("        v, c = weights([2, 1], 1)", "        v, c = weights([2, 1], 1)[:2]"),
        ("        w, b = weights([3, 2], 2)", "        (w, w) = weights([3, 2], 2)"),
        ("        return w, b\n", "        return w, b, size\n"),
    ],
    ids=["turned around", "one name", "a slice", "one target", "more is returned"],
)
def test_parts_that_are_told_otherwise_stay(old: str, new: str) -> None:
    text = program(model=PARTS, body=IN_PARTS)
    assert old in text
    result = run(text.replace(old, new), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)


@pytest.mark.parametrize(
    "part",
    ["x[i * batch:(i + 1) * batch, :]", "tf.slice(x, [i * batch, 0], [batch, -1])"],
)
def test_rows_of_a_batch_are_known_in_each_spelling(part: str) -> None:
    body = BODY.replace("tf.matmul(x_splits[i], w)", "tf.layers.dense(part, 1, name='out')")
    body = f"        part = {part}\n" + body + "        tf.get_variable_scope().reuse_variables()\n"
    model = "optimizer = tf.train.GradientDescentOptimizer(0.1)\n"
    native(program(model=model, body=body))
    inline = f"tf.layers.dense({part}, 1, name='out')"
    body = BODY.replace("tf.matmul(x_splits[i], w)", inline)
    body += "        tf.get_variable_scope().reuse_variables()\n"
    native(program(model=model, body=body))


def test_a_network_for_its_variables_alone_is_made_by_the_first_tower() -> None:
    after = native(
        MADE_BEFORE.replace("whole = network(x)", "network(x)").replace("[whole, ", "[loss, ")
    )
    assert after.count("tf.keras.layers.Dense(4") == 1


def test_a_loss_by_the_name_of_that_of_each_tower() -> None:
    """Functions are given the mean; that of a tower has a name of its own."""
    after = native(
        program(
            apply="loss = tf.reduce_mean(losses)\n" + APPLY,
            run="""
def learn(sess, train, loss):
    rows = np.ones([8, 3])
    print(sess.run([loss, train], {x: rows, y: rows[:, :1]})[0])

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(3):
    learn(sess, train, loss)
""",
        )
    )
    assert "tower_loss / strategy.num_replicas_in_sync" in after
    assert "loss = tf.reduce_mean(losses)" in after


SCOPED = """\
    with tf.device('/gpu:%d' % i), tf.name_scope({scope}) as scope:
"""
SUMMARY = """\
        {around}tf.summary.scalar({name}, loss)
"""
MERGED = """
merged = tf.summary.merge_all()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
rows = np.ones([8, 3])
for step in range(3):
    print(sess.run([merged, loss, train], {x: rows, y: rows[:, :1]})[1])
"""


def scoped(name: str, scope: str = "'tower_%d' % i", around: str = "") -> str:
    summary = SUMMARY.format(name=name, around=around)
    return program(device=SCOPED.format(scope=scope), grads=summary + GRADS, run=MERGED)


def test_a_summary_that_is_called_by_the_scope_has_it_twice() -> None:
    after, told = migrated(scoped("scope + '_loss'"), bridge=True, native_sessions=True)
    assert "'tower_%d' % i + '/' + 'tower_%d' % i + '/_loss'" in after, told


@pytest.mark.parametrize(
    "text",
    [
        scoped("scope + '/loss'"),
        scoped("scope + str(num_gpus)"),
        scoped("scope + '_loss'", around="with tf.name_scope('inner'):\n            "),
        scoped("scope + '_loss'", scope="'my+tower_%d' % i"),
        scoped("'loss' + scope"),
    ],
)
def test_a_name_of_a_summary_that_is_not_known_keeps_its_program(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("TF1's tag of a summary cannot be determined" in one for one in said(result))


def test_an_optimizer_of_its_own_is_told_to_stay() -> None:
    text = program(
        model="w = tf.Variable(tf.zeros([3, 1]))\n",
        grads="        tower_grads.append(tf.gradients(loss, [w]))\n",
        apply="train = w.assign_sub(0.1 * (tower_grads[0][0] + tower_grads[1][0]))\n",
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one for one in said(result)), said(result)


def test_splits_above_a_scope_are_apart() -> None:
    both = "x_splits, y_splits = tf.split(x, num_gpus), tf.split(y, num_gpus)\n"
    loop = "with tf.variable_scope(tf.get_variable_scope()):\n  for i in range(num_gpus):\n"
    indented = {
        name: "".join(f"  {line}\n" for line in text.splitlines())
        for name, text in (("device", DEVICE), ("body", BODY), ("grads", GRADS))
    }
    after, told = migrated(
        program(split=both, loop=loop, **indented), bridge=True, native_sessions=True
    )
    assert "strategy.run(" in after, told


CHOICE = """\
w = tf.Variable(tf.zeros([3, 1]))
if {test}:
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
elif {test}:
    optimizer = {second}
else:
    optimizer = tf.train.GradientDescentOptimizer(0.1)
"""


def test_an_optimizer_that_is_chosen_is_made_in_the_scope_of_the_strategy() -> None:
    second = "tf.train.AdamOptimizer(0.1)"
    after = native(program(model=CHOICE.format(test="batch > 3", second=second)))
    (scope,) = (part for part in after.split("with strategy.scope():")[1:] if "if batch" in part)
    assert "    elif batch > 3:\n        optimizer = tf.keras.optimizers.Adam(0.1" in scope
    assert "optimizer.build(variables)" in after


def test_an_optimizer_that_is_chosen_by_the_graph_stays() -> None:
    text = CHOICE.format(test="batch > 3", second="tf.train.AdagradDAOptimizer(0.1)")
    stays(program(model=text), "no Keras optimizer equals tf.train.AdagradDAOptimizer")
    text = CHOICE.format(test="tf.size(x) > 3", second="tf.train.AdamOptimizer(0.1)")
    stays(program(model=text), "which optimizer is made depends on `x`, a part of the graph")


def test_shapes_that_a_tower_tells() -> None:
    body = (
        "        part = x_splits[i]\n"
        "        part.set_shape([batch, 3])\n"
        "        output = tf.matmul(part, w)\n"
        "        output.set_shape([batch, 1])\n"
        "        loss = tf.reduce_mean(tf.square(output - y_splits[i]))\n"
        "        losses.append(loss)\n"
    )
    after = native(program(body=body))
    replica = after[after.index("def train_tower") : after.index("def train_step")]
    told = ["part.set_shape([batch, 3])", "tf.matmul(part, w)", "output.set_shape([batch, 1])"]
    places = [replica.index(one) for one in (*told, "tf.square(output")]
    assert places == sorted(places)


def test_the_shape_of_what_is_fed_stays() -> None:
    text = program(split="x.set_shape([8, 3])\n" + SPLIT)
    stays(text, "`x`, a part of the graph, is used outside of `Session.run`")


DRAWN = """\
data = tf.data.Dataset.from_tensor_slices((np.ones([20, 3]), np.ones([20, 1]))).batch(8)
iterator = data.make_one_shot_iterator()
x, y = iterator.get_next()
x_splits = tf.split(tf.cast(x, tf.float32), num_gpus)
y_splits = tf.split(tf.cast(y, tf.float32), num_gpus)
"""
ENDS = """
saver = tf.train.Saver()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
try:
    while True:
        sess.run(train)
except tf.errors.OutOfRangeError:
    saver.save(sess, "model.ckpt")
"""
HEAD_DRAWN = HEAD[: HEAD.index("x = tf.placeholder")]


def test_what_counts_a_step_waits_for_its_data() -> None:
    counter = "step = tf.Variable(0, trainable=False)\n"
    apply = APPLY.replace("tower_grads))", "tower_grads), global_step=step)")
    parts = {"head": HEAD_DRAWN, "split": DRAWN, "run": ENDS, "model": MODEL + counter}
    after = native(program(**parts, apply=apply))
    waits = "with tf.control_dependencies([scaled_loss]):"
    assert waits in after[after.index("def train_tower") : after.index("def train_step")]
    assert "    return loss\n" in after  # nothing is fetched, and the count waits for it
    count = "with tf.control_dependencies(strategy.experimental_local_results(loss)):"
    assert f"{count}\n        step.assign_add(1)\n" in after


def test_the_global_step_that_nothing_else_reads_is_saved() -> None:
    counter = "tower_grads), global_step=tf.train.get_or_create_global_step())"
    apply = APPLY.replace("tower_grads))", counter)
    after = native(program(head=HEAD_DRAWN, split=DRAWN, run=ENDS, apply=apply))
    saved = after[after.index("saver = Saver(") :]
    assert "'global_step': optimizer.iterations" in saved[: saved.index(")")]


GATED = "optimizer.compute_gradients(loss, gate_gradients={})"


@pytest.mark.parametrize("told", ["1", "tf.train.Optimizer.GATE_GRAPH"])
def test_gradients_that_are_waited_for(told: str) -> None:
    grads = GRADS.replace("optimizer.compute_gradients(loss)", GATED.format(told))
    assert "gate_gradients" not in native(program(grads=grads))


@pytest.mark.parametrize("told", ["0", "tf.train.Optimizer.GATE_NONE"])
def test_gradients_that_are_not_waited_for_stay(told: str) -> None:
    grads = GRADS.replace("optimizer.compute_gradients(loss)", GATED.format(told))
    result = run(program(grads=grads), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert "variables may move before all gradients are computed" in " ".join(said(result))


@pytest.mark.parametrize("value", ["0.5", "2 * batch", "float(batch)"])
def test_a_setting_in_each_tower_stands_above_them(value: str) -> None:
    text = program(body=f"        weight = {value}\n{BODY.replace('(output', '(weight * output')}")
    assert f"\nweight = {value}\n" in native(text)


def test_what_is_computed_of_the_tower_is_no_setting() -> None:
    text = program(body=f"        weight = 2 * i\n{BODY.replace('(output', '(weight * output')}")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]


def test_towers_that_move_variables_by_themselves() -> None:
    stays(
        "import numpy as np\nimport tensorflow as tf\n\n"
        "x = tf.placeholder(tf.float32, [None, 2])\n"
        "parts = tf.split(x, 2)\n"
        "optimizer = tf.train.GradientDescentOptimizer(0.1)\n"
        "steps = []\n"
        "for i in range(2):\n"
        "    with tf.device('/gpu:%d' % i), tf.variable_scope('net', reuse=i > 0):\n"
        "        w = tf.get_variable('w', [2, 1])\n"
        "        loss = tf.reduce_mean(tf.square(tf.matmul(parts[i], w) - 1.0))\n"
        "        steps.append(optimizer.minimize(loss))\n"
        "train = tf.group(*steps)\n"
        "with tf.Session() as sess:\n"
        "    sess.run(tf.global_variables_initializer())\n"
        "    sess.run(train, {x: np.ones([4, 2])})\n",
        "each tower moves the variables by itself",
    )
