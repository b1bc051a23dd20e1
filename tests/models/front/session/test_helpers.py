"""Functions that make layers and apply them at once: classes of layers, or the bridge."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, START, program
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

NET = """\
def net(a, units=1):
    v = tf.Variable(tf.ones([2, units]))
    return tf.matmul(a, v)


"""
USE = """\
out = net(x)
loss = tf.reduce_mean(out)
train = tf.train.AdamOptimizer().minimize(loss)
"""


def test_each_call_is_a_layer_of_its_own() -> None:
    after = native(program(NET + USE.replace("net(x)", "net(x) + net(x, units=1)")))
    assert "class Net(tf.keras.layers.Layer):\n    def __init__(self, units=1):\n" in after
    assert "\nnet = Net()\nnet_2 = Net(units=1)\n" in after
    assert "out = net(x) + net_2(x)\n" in after
    assert "[*net.trainable_variables, *net_2.trainable_variables]" in after


def test_tensors_are_given_by_their_names_where_settings_stand_before_them() -> None:
    text = NET.replace("(a, units=1)", "(units, a)")
    after = native(program(text + USE.replace("net(x)", "net(1, x)")))
    assert "net = Net(1)\n" in after
    assert "out = net(a=x)\n" in after


def test_a_row_of_a_table_within_it_is_a_sparse_gradient() -> None:
    head = HEAD.replace("tf.float32, [None, 2]", "tf.int32, [None]")
    text = NET.replace("tf.matmul(a, v)", "tf.gather(v, a)")
    assert "[tf.convert_to_tensor(tensor) for tensor in gradients]" in native(
        program(text + USE, head=head)
    )
    momentum = USE.replace("AdamOptimizer()", "MomentumOptimizer(0.1, 0.9)")
    assert "train_op" not in (after := native(program(text + momentum, head=head)))
    assert "optimizer = TableMomentum(0.1, momentum=0.9)\n" in after
    assert "convert_to_tensor(tensor)" not in after


def test_variables_that_it_is_given_are_inputs() -> None:
    """A layer that kept them would train them twice."""
    text = NET.replace("(a, units=1)", "(a, w)").replace("[2, units]", "[2, 1]")
    after = native(program(text.replace("(a, v)", "(a, v + w)") + USE.replace("(x)", "(x, w)")))
    assert "    def __init__(self):\n" in after
    assert "    def call(self, a, w):\n" in after
    assert "variables = [w, *net.trainable_variables]\n" in after


def test_a_function_with_the_name_of_a_class_gives_it_that_name() -> None:
    after = native(program(NET.replace("net(", "Net(") + USE.replace("net(", "Net(")))
    assert "class Net(tf.keras.layers.Layer):\n" in after


def test_an_import_goes_whose_name_a_comment_has() -> None:
    imports = "from tensorflow.contrib import rnn\n"
    net = (
        "def net(a):\n"
        "    cell = rnn.GRUCell(3)\n"
        "    _, state = tf.nn.dynamic_rnn(cell, a[:, None], dtype=tf.float32)\n"
        "    return state  # what the rnn has read\n\n\n"
    )
    after = native(imports + program(net + USE))
    assert "import rnn" not in after
    assert "# what the rnn has read\n" in after
    assert "class GRUCell(tf.keras.layers.Layer):\n" in after


def test_tensors_that_are_given_in_another_order_are_those_of_their_names() -> None:
    text = NET.replace("(a, units=1)", "(a, b)").replace("[2, units]", "[2, 1]")
    text = text.replace("tf.matmul(a, v)", "tf.matmul(a - 2.0 * b, v)")
    after = native(program(text + USE.replace("net(x)", "net(b=x * 2.0, a=x)")))
    assert "def call(self, a, b):\n" in after
    assert "out = net(x, x * 2.0)\n" in after


SHARED = NET.replace(
    "    v =", "    with tf.variable_scope('a', reuse=tf.AUTO_REUSE):\n        v ="
).replace("tf.Variable(tf.ones([2, units]))", "tf.get_variable('v', [2, 1])")


def test_calls_that_share_variables_are_of_one_layer() -> None:
    after = native(program(SHARED + USE.replace("net(x)", "net(x) + net(x * 2.0)")))
    assert "\nnet = Net()\n" in after and "net_2" not in after
    assert "out = net(x) + net(x * 2.0)\n" in after
    assert "variables = net.trainable_variables\n" in after


@pytest.mark.parametrize(
    ("scopes", "layers"),
    [(("'a'", "'b'"), 2), (("'a'", "'a'"), 1)],
    ids=["of other names", "of the same name"],
)
def test_scopes_tell_which_calls_share_variables(scopes: tuple[str, str], layers: int) -> None:
    text = SHARED.replace("units=1", "name").replace("_scope('a'", "_scope(name")
    used = f"net(x, {scopes[0]}) + net(x, {scopes[1]})"
    after = native(program(text + USE.replace("net(x)", used)))
    assert after.count(" = Net(") == layers, after


def test_reuse_that_the_run_tells_shares() -> None:
    """Another value than the one that fits is TF1's error: a program that runs has that one."""
    text = SHARED.replace("units=1", "reuse").replace("=tf.AUTO_REUSE", "=reuse")
    head = HEAD + "flag = len('abc') > 2\n"
    used = "net(x, False) + net(x, flag)"
    after = native(program(text + USE.replace("net(x)", used), head=head, start=START))
    assert after.count(" = Net(") == 1, after


@pytest.mark.parametrize("flags", [("True", "True"), ("False", "False")])
def test_what_tf1_cannot_share_stays(flags: tuple[str, str]) -> None:
    """It raises an error."""
    text = SHARED.replace("units=1", "reuse").replace("=tf.AUTO_REUSE", "=reuse")
    used = f"net(x, {flags[0]}) + net(x, {flags[1]})"
    head = HEAD + "flag = len('abc') > 2\n"
    whole = program(text + USE.replace("net(x)", used), head=head, start=START)
    result = run(whole, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)


STAYS = {
    "prints": (
        NET.replace("    return", "    print(len(a.shape))\n    return"),
        "does more than make and",
    ),
    "a collection": (
        NET.replace("    return", "    tf.add_to_collection('weights', v)\n    return"),
        "does more than make and",
    ),
    "reads a placeholder": (
        NET.replace("(a, v)", "(a + x, v)").replace("units=1", "units=1, *, more=0"),
        "`x`, a part of the graph, is read",
    ),
    "gives its variable away": (
        NET.replace("(a, v)", "(a, v), v"),
        "`net` returns a variable that it applies as well",
    ),
    "another name": (NET + "other = net\n", "makes layers, and is used here as well"),
    "a shape that a tensor has": (NET.replace("[2, units]", "tf.shape(a)"), "shape"),
    "reuse": (
        NET.replace(
            "    v =", "    with tf.variable_scope('a', reuse=tf.AUTO_REUSE):\n        v ="
        ),  # which does not share a `tf.Variable`
        "the calls of net share weights by `reuse`",
    ),
}


@pytest.mark.usefixtures("builders_stay")
@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_stays(case: tuple[str, str]) -> None:
    text, reason = case
    use = USE.replace("net(x)", "net(x) + net(x)")
    if "), v" in text:
        use = USE.replace("out =", "out, weights =")
    whole = program(text + use, start=START)
    result = run(whole, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)


TOLD = """\
def net(a, name, units=2):
    with tf.variable_scope(name):
        v = tf.get_variable("v", [2, units])
        tf.summary.histogram("weights", v)
        out = tf.matmul(a, v)
    tf.summary.histogram("given", out)
    return out


hidden = net(x, "one")
out = net(hidden, "two", 1)
loss = tf.reduce_mean(out)
train = tf.train.AdamOptimizer().minimize(loss)
merged = tf.summary.merge_all()
"""


def test_summaries_in_a_function_are_of_its_layers() -> None:
    after = native(program(TOLD, "sess.run(train, {x: rows})\nsess.run(merged, {x: rows})\n"))
    found = [line.strip() for line in after.splitlines() if "HistogramSummary(" in line]
    assert found == [
        'tf.raw_ops.HistogramSummary(tag="one/weights", values=net.v),',
        'tf.raw_ops.HistogramSummary(tag="given", values=hidden),',
        'tf.raw_ops.HistogramSummary(tag="two/weights", values=net_2.v),',
        'tf.raw_ops.HistogramSummary(tag="given_1", values=out),',
    ]


@pytest.mark.usefixtures("builders_stay")
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"weights", v)', '"weights", a)', "a summary of what only a function knows"),
        ('"weights", v)', '"weights", tf.abs(v))', "a summary of what only a function knows"),
        ("    return out", "    return out + 1.0", "a summary of what only a function knows"),
        (
            '        tf.summary.histogram("weights", v)\n',
            '        if units > 1:\n            tf.summary.histogram("weights", v)\n',
            "a summary of what only a function knows",
        ),
        ('"given", out)', "str(units), out)", "TF1's tag of a summary cannot be determined"),
        ('"given", out)', '"reduce_mean", out)', "TF1's tag of `reduce_mean` cannot be"),
        ("tf.reduce_mean(out)", "tf.reduce_mean(out)\nout = None", "a different name where"),
        ("= net(hidden,", "= 2.0 * net(hidden,", "whose value gets no name here"),
        (
            "with tf.variable_scope(name)",
            "with tf.variable_scope(name + '', reuse=tf.AUTO_REUSE)",
            "a summary in a function whose calls share variables",
        ),
    ],
)
def test_other_summaries_in_a_function_keep_the_program(old: str, new: str, reason: str) -> None:
    assert old in TOLD
    text = program(
        TOLD.replace(old, new), "sess.run(train, {x: rows})\nsess.run(merged, {x: rows})\n"
    )
    result = run(text, bridge=True, native_sessions=True)
    assert any(reason in message for message in said(result)), said(result)


def test_names_in_functions_are_taken_before_summaries() -> None:
    """TF1 numbers a summary whose name a function's scope has already."""
    text = NET.replace("    v =", '    with tf.name_scope("Loss"):\n        a = 2.0 * a\n    v =')
    text += USE + 'tf.summary.scalar("loss", loss)\nmerged = tf.summary.merge_all()\n'
    after = native(program(text, "sess.run(train, {x: rows})\nsess.run(merged, {x: rows})\n"))
    assert 'tf.raw_ops.ScalarSummary(tags="loss_1", values=loss),' in after


SCOPES = """\
def net(a, widths, kind="conv"):
    outs = []
    for i, width in enumerate(widths):
        with tf.name_scope(NAME):
            v = tf.Variable(tf.ones([2, width]), name="v")
            outs.append(tf.matmul(a, v))
    return tf.concat(outs, 1)


"""
NAMED = {
    '"conv-%d" % width': ("conv-1/v", "conv-3/v"),
    '"conv-{}-{}".format(i, width)': ("conv-0-1/v", "conv-1-3/v"),
    'f"conv{width}"': ("conv1/v", "conv3/v"),
    "kind": ("conv/v", "conv_1/v"),  # TF1 numbers a scope that it has
}


@pytest.mark.parametrize("name", NAMED)
def test_scopes_name_the_variables_of_each_round(name: str) -> None:
    text = SCOPES.replace("NAME", name) + USE.replace("net(x)", "net(x, [1, 3])")
    text += 'tf.summary.scalar("conv", loss)\nmerged = tf.summary.merge_all()\n'
    text += "saver = tf.train.Saver()\n"
    run = "sess.run([train, merged], {x: rows})\nsaver.save(sess, 'a')\n"
    after = native(program(text, run))
    for number, full in enumerate(NAMED[name]):
        assert f'"{full}": net.v_list[{number}]' in after
        assert f'"{full}/Adam",' in after
    tag = "conv_2" if name == "kind" else "conv"
    assert f'tags="{tag}"' in after


def test_a_saver_leaves_the_scopes_of_functions_to_summaries() -> None:
    text = NET.replace("    v =", '    with tf.name_scope("Loss"):\n        a = 2.0 * a\n    v =')
    text += USE + "saver = tf.train.Saver()\n"
    text += 'tf.summary.scalar("loss", loss)\nmerged = tf.summary.merge_all()\n'
    run = "sess.run(train, {x: rows})\nsess.run(merged, {x: rows})\nsaver.save(sess, 'a')\n"
    assert 'tf.raw_ops.ScalarSummary(tags="loss_1", values=loss),' in native(program(text, run))


def test_a_name_in_a_text_is_no_text_itself() -> None:
    """A constant that a function is given stands in none of its f-strings."""
    text = SCOPES.replace("NAME", 'f"{kind}{width}"') + USE.replace("net(x)", "net(x, [1, 3])")
    text += 'tf.summary.scalar("conv", loss)\nmerged = tf.summary.merge_all()\n'
    text += "saver = tf.train.Saver()\n"
    text = program(text, "sess.run([train, merged], {x: rows})\nsaver.save(sess, 'a')\n")
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


BUILT = """\
class Model(object):
    def __init__(self, widths):
        self.x = tf.placeholder(tf.float32, [None, 2])
        outs = []
        for width in widths:
            v = tf.Variable(tf.ones([2, width]))
            outs.append(tf.matmul(self.x, v))
        self.loss = tf.reduce_mean(tf.concat(outs, 1))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


widths = [1, 3]
model = Model(widths)
saver = tf.train.Saver()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(model.train, {model.x: [[1.0, 2.0]]})
saver.save(sess, "a")
"""


def test_a_loop_goes_through_what_a_constructor_is_given() -> None:
    head = "import tensorflow as tf\n\n\n"
    result = run(head + BUILT, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = str(result.files[0].after)
    assert '"Variable": ' in after and '"Variable_1": ' in after and '"Variable_2"' not in after
    for text in (
        BUILT.replace("widths = [1, 3]\n", "widths = [1, 3]\nwidths.append(2)\n"),
        BUILT.replace("Model(widths)", "Model(widths)\nother = Model([1])"),
        BUILT.replace("        outs = []\n", "        outs = []\n        widths.append(2)\n"),
    ):
        result = run(head + text, native_sessions=True, bridge=True)
        assert [one.state for one in result.programs] == ["bridge"], said(result)


NORMALIZED = """\
def normalized(a, training):
    a = tf.layers.dense(a, 2)
    return tf.layers.batch_normalization(a, training=training)


def both(a, training):
    return a + normalized(normalized(a, training), training)


"""
USE_NORMALIZED = """\
flag = tf.placeholder(tf.bool)
out = both(x, flag)
loss = tf.reduce_mean(tf.square(out))
moves = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(moves):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
STEP = "sess.run(train, {x: rows, flag: True})\n"


def test_functions_that_are_told_whether_they_train_call_one_another() -> None:
    after = native(program(NORMALIZED + USE_NORMALIZED, STEP))
    assert after.count("(tf.keras.layers.Layer):\n") == 2
    assert "    def call(self, a, training):\n        a = self.a(a)\n" in after
    assert "self.normalized(self.normalized_1(a, training=training), training=training)" in after


def test_functions_of_layers_are_called_in_loops() -> None:
    looped = NORMALIZED.replace(
        "    return a + normalized(normalized(a, training), training)",
        "    for i in range(3):\n        a = normalized(a, training)\n    return a",
    )
    after = native(program(looped + USE_NORMALIZED, STEP))
    assert "for i in range(3):\n            self.normalized_layers.append(Normalized())" in after


def test_averages_that_no_step_moves_stay_in_functions_of_functions() -> None:
    forgotten = USE_NORMALIZED.replace("tf.control_dependencies(moves)", "tf.name_scope('train')")
    after = native(program(NORMALIZED + forgotten, STEP))
    assert "BatchNormalization(momentum=1.0)" in after
