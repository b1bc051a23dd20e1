"""What a session's program becomes: forms that the fixtures do not have."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.selection import Selection
from tests.models.front.session.test_refusals import (
    DIGITS,
    HEAD,
    MODEL,
    NATIVE,
    PAIRS,
    START,
    STEP,
    program,
)
from tests.support.migration import migrated, run, said


def native(text: str) -> str:
    result = run(text, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after, _ = migrated(text, native_sessions=True)
    compile(after, "program.py", "exec")
    assert "compat.v1" not in after and "Session" not in after
    assert migrated(after, native_sessions=True)[0] == after
    return after


def test_values_are_of_before_and_variables_of_after_the_update() -> None:
    text = program(run="a, value, _ = sess.run([w, loss, train], {x: rows})\nprint(a, value)\n")
    assert "value = train_step(rows).numpy()\na = w.numpy()\nprint(a, value)\n" in native(text)


@pytest.mark.parametrize(
    ("fetched", "written"),
    [
        ("(loss, out)", "tuple(value.numpy() for value in compute_loss_and_out(rows))"),
        ("[loss, out]", "[value.numpy() for value in compute_loss_and_out(rows)]"),
        ("(loss,)", "(compute_loss(rows).numpy(),)"),
        ("[loss]", "[compute_loss(rows).numpy()]"),
        ("(w, w)", "(w.numpy(), w.numpy())"),
        ("(loss, w)", "(compute_loss(rows).numpy(), w.numpy())"),
        ("[loss, w]", "[compute_loss(rows).numpy(), w.numpy()]"),
        ("(out, out + 1, w)", "(*[value.numpy() for value in evaluate(rows)], w.numpy())"),
    ],
)
def test_a_tuple_of_fetches_gives_a_tuple(fetched: str, written: str) -> None:
    """It was a list: `"%d %d" % sess.run((a, b))` crashed."""
    feed = "" if fetched == "(w, w)" else ", {x: rows}"
    text = program(run=STEP + f"print(str(sess.run({fetched}{feed})))\n")
    assert f"print(str({written}))" in native(text), native(text)


def test_what_a_session_without_variables_sets_stands_above_its_steps() -> None:
    """It stood inside of what its first step becomes, and the run ended with that."""
    after = native(
        "import tensorflow as tf\n\nsess = tf.InteractiveSession()\n# A number\n"
        "x = tf.random_uniform([])\nout = tf.cond(x > 0.5, lambda: x, lambda: -x)\n"
        "print(out.eval())\nfed = tf.placeholder(tf.float32, [])\n"
        "with tf.device('/cpu:0'):\n    y = x + fed\nprint(sess.run(y, {fed: 1.0}))\n"
    )
    growth = after.index("set_memory_growth")
    assert after.index("set_soft_device_placement(False)") < growth < after.index("@tf.function")
    assert after.count("# A number") == 2


def test_a_list_of_tensors_gives_a_list_of_arrays() -> None:
    several = "def several(x):\n    return [x, x * 2]\n\n\nsome = several(out)\nloss ="
    fetched = "a, value, _ = sess.run([some, loss, train], {x: rows})\n"
    text = program(
        MODEL.replace("loss =", several),
        fetched + STEP + "print(sess.run(some, {x: rows}))\n",
    )
    after = native(text)
    arrays = "tf.nest.map_structure(lambda tensor: tensor.numpy(), "
    assert f"print({arrays}compute_some(rows)))\n" in after
    assert f"a, value = {arrays}" in after


def test_an_item_of_a_dictionary_may_be_several_tensors() -> None:
    """A tuple, as TF1 gave it; only the item that is asked for counts."""
    network = """\
def network(x):
    return {"layers": (x, x * scale), "out": tf.matmul(x, w)}


parts = network(x)
both = {"one": tf.matmul(x, w), "two": [x, x * scale]}
"""
    text = program(
        MODEL.replace("out = tf.matmul(x, w) * scale\n", network + 'out = network(x)["out"]\n'),
        STEP
        + 'layers = sess.run(network(x)["layers"], {x: rows})\n'
        + 'print(sess.run(parts["layers"], {x: rows}), sess.run(both["two"], {x: rows}))\n'
        + 'print(sess.run(parts["out"], {x: rows}), sess.run(both["one"], {x: rows}))\n',
    )
    after = native(text)
    assert "layers = tf.nest.map_structure(lambda value: value.numpy(), evaluate(rows))\n" in after
    assert after.count("tf.nest.map_structure(") == 3
    assert "print(evaluate_4(rows).numpy(), evaluate_5(rows).numpy())\n" in after


def test_a_comment_goes_with_all_that_it_stands_above() -> None:
    """Up to a blank line; and what a blank line parts from what moves stays where it was, once."""
    text = program(
        "# of the rows\n\n# the network\n" + MODEL,
        STEP,
        start="# Setting up\ninit = tf.global_variables_initializer()\nsess = tf.Session()\n"
        "sess.run(init)\n\n# 初始化变量\nprint(1)\n",
    )
    after = native(text)
    assert "Setting up" not in after
    assert after.count("# of the rows\n") == 1 and "# the network\n" in after
    assert "# 初始化变量\nprint(1)\n" in after


def test_numbers_become_what_a_feed_made_of_them() -> None:
    """A function takes no float for an integer, no integer for a truth value; arrays it casts."""
    places = "n = tf.placeholder(tf.int32, [])\nflag = tf.placeholder(tf.bool, [])\nhalf = 1.5\n"
    text = program(
        MODEL.replace("- 1.0", "- tf.where(flag, tf.cast(n, tf.float32), 1.0)"),
        "for i in range(3):\n"
        "    sess.run(train, {x: rows, n: i + 0.5, flag: i % 2})\n"
        "    sess.run(train, {x: rows, n: half, flag: i > 1})\n"
        "    sess.run(train, {x: rows, n: i, flag: rows[0, 0]})\n",
        before="",
    ).replace("scale = 2.0\n", "scale = 2.0\n" + places)
    after = native(text)
    assert "train_step(rows, int(i + 0.5), bool(i % 2))\n" in after
    assert "train_step(rows, int(half), i > 1)\n" in after
    assert "train_step(rows, i, rows[0, 0])\n" in after


def test_feeds_are_evaluated_in_their_own_order() -> None:
    text = program(
        MODEL.replace("1.0", "y"),
        "sess.run(train, {y: rows[0, 0], x: rows})\n",
        before="",
    ).replace("scale = 2.0\n", "scale = 2.0\ny = tf.placeholder(tf.float32, [])\n")
    assert "train_step(y=rows[0, 0], x=rows)\n" in native(text)


def test_comments_in_what_is_fed_stay() -> None:
    rows = "    # rows\n    x: np.vstack([\n        rows,  # half\n        rows]),  # both\n"
    run = f"_, value = sess.run([train, loss], {{  # all\n{rows}}})\nprint(value)\n"
    after = native(program(run=run))
    assert (
        "value = train_step(\n    # rows\n    np.vstack([\n        rows,  # half\n"
        "        rows]),  # both\n).numpy()\n"
    ) in after


def test_comments_at_the_end_of_a_block_move_out_with_it() -> None:
    run = "sess.run(tf.global_variables_initializer())\n    sess.run(train, {x: rows})\n"
    text = program(start="", run=f"with tf.Session() as sess:\n    {run}")
    after = native(text + "\n    # print(rows)\n    # plot(rows)\n# the end\n")
    assert after.endswith("\n# print(rows)\n# plot(rows)\n# the end\n")


def test_what_no_step_runs_is_left_out_and_told() -> None:
    text = program(before="unused = tf.sqrt(out)\n")
    assert "sqrt" not in native(text)
    assert "no step needs what is built here: it is left out" in said(
        run(text, native_sessions=True)
    )


@pytest.mark.parametrize("runs", [True, False])
def test_a_summary_with_a_name_is_left_out_where_its_merge_is(runs: bool) -> None:
    """`merge_all` takes it along, so nothing is left out of a program that runs that."""
    text = program(
        before="shown = tf.summary.scalar('loss', loss)\nmerged = tf.summary.merge_all()\n"
    )
    if runs:
        text = text.replace("value, _ = sess.run([loss, train]", "sess.run([loss, train, merged]")
        assert "train, merged]" in text
    told = "no step needs what is built here: it is left out" in said(
        run(text, native_sessions=True)
    )
    assert told is not runs
    assert ("ScalarSummary" in native(text)) is runs


def test_a_config_that_cannot_move_keeps_the_session() -> None:
    text = NATIVE.replace(
        "tf.Session()", "tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=9))"
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge, config kept"]
    assert any("its config cannot move to tf.config" in message for message in said(result))


def test_a_comment_or_the_option_keeps_the_bridge() -> None:
    marked = NATIVE.replace("tf.Session()", "tf.Session()  # mgpu: ignore[MGPU205]")
    for text, option in ((marked, True), (NATIVE, False)):
        result = run(text, bridge=True, native_sessions=option)
        assert [one.state for one in result.programs] == ["bridge"]
        assert not any(f.code == "MGPU205" for f in result.findings)


def test_a_class_of_its_own_stands_below_the_import_of_tensorflow() -> None:
    text = program(MODEL.replace("GradientDescentOptimizer(0.1)", "RMSPropOptimizer(0.1)"))
    text = text.replace("import tensorflow as tf\n", "np.random.seed(1)\nimport tensorflow as tf\n")
    after = native(text)
    assert after.index("import tensorflow as tf") < after.index("class RMSprop(")


def test_digits_come_from_the_file_beside_it() -> None:
    text = program(
        MODEL.replace("scale", "tf.reduce_mean(digits.test.images)"),
        "batch, _ = digits.train.next_batch(2)\nsess.run(train, {x: batch[:, :2]})\n",
        head=HEAD + DIGITS,
    )
    after = native(text)
    assert "\nimport input_data\ndigits = input_data.read_data_sets" in after
    files = {str(one.path) for one in run(text, native_sessions=True).files if one.after}
    assert files == {"program.py", "input_data.py"}
    off = Selection(ignore=("MGPU211",))
    stays = run(text, bridge=True, native_sessions=True, rules=off)
    assert [one.state for one in stays.programs] == ["refused"], said(stays)


def test_gradients_that_are_only_applied_are_those_of_minimize() -> None:
    text = program(PAIRS)
    by_minimize = text.replace(
        "pairs = optimizer.compute_gradients(loss)\ntrain = optimizer.apply_gradients(pairs)",
        "train = optimizer.minimize(loss)",
    )
    assert native(text) == native(by_minimize)


def test_gradients_are_limited_in_their_author_s_order() -> None:
    text = PAIRS.replace(
        "train = optimizer.apply_gradients(pairs)",
        "grads, tvars = zip(*[(tf.clip_by_value(g, -1.0, limit), v) for g, v in pairs])\n"
        "grads, _ = tf.clip_by_global_norm(grads, 0.5)\n"
        "train = optimizer.apply_gradients(zip(grads, tvars))",
    )
    after = native(program(text, head=HEAD + "limit = 2.0\n"))
    first = "gradients = [tf.clip_by_value(g, -1.0, limit) for g in gradients]\n"
    assert f"    {first}    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)\n" in after


def test_a_lambda_runs_a_step() -> None:
    text = program(
        run="sess.run(train, {x: rows})\nf = lambda r: sess.run(loss, {x: r})\nf(rows)\n"
    )
    assert "f = lambda r: compute_loss(r).numpy()\nf(rows)\n" in native(text)


def test_a_variable_may_be_the_rate() -> None:
    model = "rate = tf.Variable(0.1)\n" + MODEL.replace("(0.1)", "(rate)")
    after = native(program(model))
    assert "    optimizer.learning_rate.assign(rate)\n" in after
    assert "variables = [w]\n" in after
    trained = model.replace("* scale", "* scale * rate")
    result = run(program(trained), bridge=True, native_sessions=True)
    assert any("is its learning rate as well" in text for text in said(result)), said(result)


def test_one_of_a_list_that_is_fetched_is_read() -> None:
    def last(run: str) -> str:
        return native(program(run=run)).splitlines()[-1]

    assert (
        last("print(sess.run([loss, train], {x: rows})[0])\n") == "print(train_step(rows).numpy())"
    )
    text = native(program(run="a = sess.run([train, out, loss], {x: rows})[-1]\nprint(a)\n"))
    assert "a = train_step(rows)[1].numpy()\n" in text
    text = native(program(run="a = sess.run([train, w, loss], {x: rows})[-1][0]\nprint(a)\n"))
    assert "a = train_step(rows).numpy()[0]\n" in text


def test_an_update_by_one_more_name() -> None:
    text = program(before="op = train\n", run="value, _ = sess.run([loss, op], {x: rows})\n")
    after = native(text)
    assert "value = train_step(rows).numpy()\n" in after and "op =" not in after


def test_a_rate_that_is_fed_is_a_number() -> None:
    text = program(
        MODEL.replace("Optimizer(0.1)", "Optimizer(rate)"),
        "sess.run(train, {x: rows, rate: 0.1})\n",
        head=HEAD + "rate = tf.placeholder(tf.float32)\n",
    )
    assert "rate_spec = tf.TensorSpec([], tf.float32)\n" in native(text)


def test_a_step_stands_below_all_that_it_is_fed() -> None:
    text = program(
        MODEL.replace("(0.1)", "(rate)").replace(
            "train =", "rate = tf.placeholder(tf.float32)\ntrain ="
        ),
        "sess.run(train, {x: rows, rate: 0.1})\nprint(sess.run(loss, {x: rows, rate: 0.1}))\n",
    )
    after = native(text)
    assert after.index("rate_spec = tf.TensorSpec([], tf.float32)") < after.index("rate_spec])")


FLAGGED = """\
def net(x, training):
    return tf.layers.dense(x, 3)


"""


def test_a_flag_that_a_step_knows_is_no_tensor_by_position() -> None:
    head = HEAD.replace("x = tf", FLAGGED + "flag = tf.placeholder(tf.bool)\nx = tf", 1)
    model = MODEL.replace("tf.matmul(x, w)", "net(x, flag)")
    text = program(model, "sess.run(train, {x: rows, flag: True})\n", head=head)
    assert "net(x, training=flag)" in native(text)


def test_the_rate_of_a_dropout_is_a_number_wherever_it_is_read() -> None:
    head = HEAD.replace(
        "x = tf", "def drop(value, keep):\n    return tf.nn.dropout(value, keep)\n\n\nx = tf", 1
    ).replace("scale = 2.0\n", "scale = 2.0\nkeep_prob = tf.placeholder(tf.float32)\n")
    model = MODEL.replace("tf.matmul(x, w)", "tf.matmul(drop(x, keep_prob), w)")
    text = program(model, "sess.run(train, {x: rows, keep_prob: scale / 4})\n", head=head)
    assert "keep_prob_spec = tf.TensorSpec([], tf.float32)" in native(text)


def test_a_placeholder_of_unknown_shape_stays_one() -> None:
    head = HEAD.replace("scale = 2.0\n", "factor = tf.placeholder(tf.float32)\n")
    text = program(
        MODEL.replace("scale", "factor"),
        head=head,
        run="sess.run(train, {x: rows, factor: rows[:, :1]})\n",
    )
    assert "factor_spec = tf.TensorSpec(None, tf.float32)" in native(text)


CLIPPED = """\
params = tf.trainable_variables()
grads, norm = tf.clip_by_global_norm(tf.gradients(loss, params), 5.0)
optimizer = tf.train.GradientDescentOptimizer(0.1)
train = optimizer.apply_gradients(zip(grads, params))
"""


def test_the_norm_of_gradients_is_fetched_with_their_step() -> None:
    model = MODEL[: MODEL.index("train =")] + CLIPPED
    after = native(program(model, "a, _ = sess.run([norm, train], {x: rows})\n"))
    assert "gradients, norm = tf.clip_by_global_norm(gradients, 5.0)" in after
    assert "return norm" in after
    alone = program(model, "sess.run(train, {x: rows})\nprint(sess.run(norm, {x: rows}))\n")
    reason = "`norm`, the norm of the gradients, is read without the step"
    assert any(reason in one for one in said(run(alone, bridge=True, native_sessions=True)))


def test_what_is_computed_of_python_s_own_values_is_computed_where_it_stands() -> None:
    after = native(
        program(run=STEP + "a = sess.run(out, {x: rows})\nprint(sess.run(tf.argmax(a, 1)))\n")
    )
    assert "print(tf.argmax(a, 1).numpy())\n" in after and "evaluate" not in after
    function = (
        "def accuracy(inputs, labels):\n    global out\n    found = sess.run(out, {x: inputs})\n"
        "    right = tf.equal(tf.argmax(found, 1), tf.argmax(labels, 1))\n"
        "    share = tf.reduce_mean(tf.cast(right, tf.float32))\n"
        "    return sess.run(share, feed_dict={x: inputs})\n\n\n"
    )
    after = native(program(run=STEP, start=START + function) + "print(accuracy(rows, rows))\n")
    assert "    right = tf.equal(tf.argmax(found, 1), tf.argmax(labels, 1))\n" in after
    assert "    return share.numpy()\n" in after and "global" not in after


@pytest.mark.usefixtures("builders_stay")
def test_a_parameter_that_is_a_tensor_somewhere_is_not_computed_where_it_stands() -> None:
    function = (
        "def accuracy(found):\n    right = tf.argmax(found, 1)\n"
        "    return sess.run(right, {x: rows})\n\n\n"
    )
    text = program(run=STEP, start=START + function) + "print(accuracy(rows), accuracy(out))\n"
    assert [one.state for one in run(text, native_sessions=True).programs] != ["native"]


def test_a_name_that_is_a_variable_first_and_a_result_later_becomes_two() -> None:
    text = program(run=STEP + "w = sess.run(w)\nprint(w, sess.run(out, {x: rows}))\n")
    after = native(text)
    assert "w_value = w.numpy()\nprint(w_value, compute_out(rows).numpy())\n" in after


def test_a_name_that_was_python_s_own_above_may_be_a_placeholder() -> None:
    after = native("w = 0\n" + program())
    assert after.startswith("w = 0\n") and "w = tf.Variable" in after


def test_a_branch_that_a_constant_chooses_stays_one() -> None:
    chosen = (
        "kind = 'squares'\nif kind == 'squares':\n    # half\n"
        "    loss = 0.5 * tf.reduce_mean(tf.square(out))\nelse:\n    print('no such loss')\n"
    )
    model = MODEL.replace("loss = tf.reduce_mean(tf.square(out - 1.0))\n", chosen)
    after = native(program(model))
    assert "        if kind == 'squares':\n            # half\n            loss = 0.5" in after
    asked = model.replace("kind = 'squares'", "kind = input()")
    assert "        if kind == 'squares':\n" in native(program(asked))
    again = model.replace("kind = 'squares'", "kind = input()\nkind = kind.strip()")
    assert [one.state for one in run(program(again), native_sessions=True).programs] != ["native"]


def test_a_dictionary_of_feeds_is_the_last_one_above_also_from_within_a_condition() -> None:
    loop = (
        "feeds = {x: rows}\nfor i in range(2):\n    feeds = {x: rows}\n    sess.run(train, feeds)\n"
        "    if i:\n        print(sess.run(loss, feed_dict=feeds))\n"
    )
    assert "print(compute_loss(**feeds).numpy())" in native(program(run=loop))


def test_cells_of_contrib_leave_no_import_behind() -> None:
    text = (
        "import numpy as np\nimport tensorflow as tf\nfrom tensorflow.contrib import rnn\n"
        "x = tf.placeholder(tf.float32, [None, 5, 3])\n\n\ndef make_cell():\n"
        "    return rnn.BasicLSTMCell(4)\n\n\n"
        "cells = rnn.MultiRNNCell([make_cell() for _ in range(2)])\n"
        "deep, _ = tf.nn.dynamic_rnn(cells, x, dtype=tf.float32)\n"
        "loss = tf.reduce_mean(tf.square(deep - 0.3))\n"
        "train = tf.train.AdamOptimizer(0.02).minimize(loss)\n"
        + START
        + "sess.run(train, {x: np.ones([8, 5, 3])})\n"
    )
    assert "contrib" not in native(text)


def test_a_placeholder_that_a_function_of_layers_reads_becomes_its_parameter() -> None:
    net = (
        "rate = tf.placeholder(tf.float32)\n\n\ndef net(a, units=1):\n"
        "    v = tf.Variable(tf.ones([2, units]))\n"
        "    return tf.nn.dropout(tf.matmul(a, v), rate)\n\n\n"
    )
    model = net + MODEL.replace("tf.matmul(x, w)", "net(x) + tf.matmul(x, w)")
    after = native(program(model, "print(sess.run([loss, train], {x: rows, rate: 1.0})[0])\n"))
    assert "def call(self, a, rate):" in after and "net(x, rate)" in after


def test_two_writers_of_one_name() -> None:
    model = MODEL + "tf.summary.scalar('size', loss)\nmerged = tf.summary.merge_all()\n"
    loop = (
        "for i in range(2):\n    text, _ = sess.run([merged, train], {x: rows})\n"
        "    writer = tf.summary.FileWriter('logs')\n    writer.add_summary(text, i)\n"
        "picture = tf.summary.image('rows', np.zeros([1, 2, 2, 1]))\n"
        "writer = tf.summary.FileWriter('logs')\nwriter.add_summary(sess.run(picture), 2)\n"
    )
    after = native(program(model, loop))
    assert after.count("writer = tf.summary.create_file_writer('logs')") == 2
    assert "picture = tf.function(lambda: tf.raw_ops.ImageSummary(" in after


def test_a_function_that_stays_takes_the_import_of_its_layers_with_it() -> None:
    text = """\
import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim


def model(x, reuse=False):
    with tf.variable_scope("L1", reuse=reuse):
        x = slim.fully_connected(x, 2)
    return x


x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(model(x)))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
print(sess.run([train, loss], {x: np.ones([3, 4])}))
"""
    assert "slim" not in native(text)


def test_what_is_asked_of_a_shape_is_what_a_tuple_has_too() -> None:
    net = (
        "def net(a):\n    n = {}\n    v = tf.Variable(tf.random_normal([n, 1]))\n"
        "    return tf.matmul(tf.reshape(a, [-1, n]), v)\n\n\n"
    )
    model = net + MODEL.replace("tf.matmul(x, w)", "net(x) + tf.matmul(x, w)")
    asked = "int(np.prod(a.get_shape().as_list()[1:]))"
    after = native(program(model.replace("{}", asked)))
    assert "    def build(self, input_shape):\n" in after
    assert "        self.n = int(np.prod(list(input_shape)[1:]))\n" in after
    assert "self.n = input_shape[1]" in native(program(model.replace("{}", "a.shape[1].value")))
    kept = run(program(model.replace("{}", "a.get_shape().ndims")), native_sessions=True)
    assert [one.state for one in kept.programs] != ["native"]


def test_a_session_that_ends_its_file_leaves_no_blank_lines_there() -> None:
    text = program(run="print(sess.run([loss, train], {x: rows})[0])\n\nsess.close()\n")
    after = native(text)
    assert after.endswith(")\n") and "close" not in after


def test_what_makes_a_variable_may_call_another_function_for_its_first_value() -> None:
    draws = "def drawn(shape):\n    return tf.truncated_normal(shape, stddev=0.1)\n\n\n"
    makes = "def weight(shape):\n    initial = drawn(shape)\n    return tf.Variable(initial)\n\n\n"
    called = draws + makes + "v = weight([2, 1])\n" + MODEL.replace("x, w", "x, v")
    for text in map(program, (called, draws + makes + MODEL)):  # there nothing calls them
        assert "    return tf.random.truncated_normal(shape, stddev=0.1)\n" in native(text)


def test_an_expression_that_is_run_twice_is_one_function() -> None:
    fed = ", {x: rows}))\n"
    run_once = "print(sess.run(tf.sigmoid(out)" + fed
    drawn = "print(sess.run(tf.random_normal([1])))\n"
    sized = "print(sess.run(tf.reshape(out, [int(scale), -1])" + fed
    after = native(program(run=STEP + run_once * 2 + drawn * 2 + sized * 2))
    assert after.count("    return tf.sigmoid(out)\n") == 1 and after.count("print(evaluate(") == 2
    assert after.count("    return tf.random.normal([1])\n") == 2  # numbers of its own each time
    assert after.count("    return tf.reshape(out, [int(scale), -1])\n") == 2


def test_a_comment_behind_what_a_function_returns_is_written_once() -> None:
    net = "def net(a):\n    return tf.layers.dense(a, 1)  # of a\n\n\n"
    assert native(program(net + MODEL.replace("tf.matmul(x, w)", "net(x)"))).count("# of a") == 1


@pytest.mark.parametrize(
    ("given", "written"),
    [("1", "SGD(1.0)"), ("RATE", "SGD(float(RATE))"), ("0.5", "SGD(0.5)"), ("rate", "SGD(rate)")],
)
def test_a_rate_that_is_a_whole_number_is_a_real_one(given: str, written: str) -> None:
    """Keras 3 takes no whole number."""
    program = (
        "import tensorflow as tf\nRATE = 1\nrate = 0.5\nw = tf.Variable(1.0)\n"
        f"train = tf.train.GradientDescentOptimizer({given}).minimize(tf.square(w - 2.0))\n"
        "sess = tf.Session()\nsess.run(tf.global_variables_initializer())\nsess.run(train)\n"
    )
    assert written in migrated(program, native_sessions=True)[0]


def test_the_variables_of_gradients_may_be_asked_for_twice() -> None:
    paired = """\
grads = tf.gradients(loss, tf.trainable_variables())
grads = list(zip(grads, tf.trainable_variables()))
train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(grads)
"""
    model = "loss = tf.reduce_mean(tf.matmul(x, w))\n"
    assert "gradients = tape.gradient(loss, variables)" in native(program(model + paired))
    other = paired.replace("(loss, tf.trainable_variables())", "(loss, [w])")
    result = run(program(model + other), bridge=True, native_sessions=True)
    why = "these cannot be recognized as the gradients of these variables"
    assert any(why in message for message in said(result)), said(result)


def test_a_summary_that_is_written_by_its_name() -> None:
    text = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable("w", [3, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
shown = tf.summary.scalar("loss", loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter("events")
    for step in range(3):
        value, _ = sess.run([shown, train], {x: np.ones([2, 3])})
        writer.add_summary(summary=value, global_step=step)
"""
    after, told = migrated(text, native_sessions=True)
    assert "write_raw_pb(tensor=value, step=step)" in after, told
