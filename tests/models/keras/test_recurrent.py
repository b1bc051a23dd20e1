"""Recurrent networks of TF1 become Keras's RNN over cells of the same arithmetic, or stay."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import tensorflow as tf

SIZE = 4


def input_fn():
    return tf.data.Dataset.from_tensors((tf.ones([8, 5, 4]), tf.zeros([8], tf.int32))).repeat()


{helper}def model_fn(features, labels, mode):
{network}
    logits = tf.layers.dense(net, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=50)
"""
HELPER = """\
def make_cell(units):
    return tf.nn.rnn_cell.LSTMCell(units)


"""
LSTM = "tf.nn.rnn_cell.BasicLSTMCell"
RUN = "tf.nn.dynamic_rnn"
BOTH = f"one = {LSTM}(6)\nother = {LSTM}(6)\n"
BIDIRECTIONAL = "tf.nn.bidirectional_dynamic_rnn(one, other, features, dtype=tf.float32"


def program(network: str) -> str:
    """The program with a network."""
    lines = "\n".join("    " + line for line in network.splitlines())
    return PROGRAM.format(network=lines, helper=HELPER if "make_cell" in network else "")


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (
            f"outputs, _ = {RUN}({LSTM}(6), features, dtype=tf.float32)\nnet = outputs[:, -1]",
            ["self.rnn = tf.keras.layers.RNN(LSTMCell(6), return_sequences=True)",
             "outputs = self.rnn(features)"],
        ),
        (
            f"_, state = {RUN}({LSTM}(6), features, dtype=tf.float32)\nnet = state.h",
            ["tf.keras.layers.RNN(LSTMCell(6), return_state=True)",
             "_, *state = self.rnn(features)", "net = state[1]"],
        ),
        (
            f"_, state = {RUN}({LSTM}(6), features, dtype=tf.float32)\nc, h = state\nnet = c + h",
            ["c, h = state"],
        ),
        (
            f"_, state = {RUN}(tf.nn.rnn_cell.MultiRNNCell([{LSTM}(6), make_cell(3)]), features,"
            " dtype=tf.float32)\ntop = state[-1]\nnet = tf.concat([top.c, state[0][1]], 1)",
            ["StackedRNNCells([LSTMCell(6), make_cell(3)])", "return LSTMCell(units)",
             "net = tf.concat([top[0], state[0][1]], 1)"],
        ),
        (
            f"cell = tf.contrib.rnn.GRUCell(6)\n_, net = {RUN}(cell, features, dtype=tf.float32)",
            ["_, net = self.rnn(features)", "class GRUCell(tf.keras.layers.Layer)"],
        ),
        (
            f"cell = {LSTM}(6, 0.0, activation=tf.nn.relu)\n"
            "start = cell.zero_state(8, tf.float32)\n"
            f"outputs, _ = {RUN}(cell, features, initial_state=start)\nnet = outputs[:, 0]",
            ["cell = LSTMCell(6, forget_bias=0.0, activation=tf.nn.relu)",
             "tf.sigmoid(f + self.forget_bias)", "self.activation(c) * tf.sigmoid(o)"],
        ),
        (
            f"cell = {LSTM}(6)\nstart = cell.zero_state(tf.shape(features)[0], tf.float32)\n"
            f"outputs, _ = {RUN}(cell, features, None, start)\nnet = outputs[:, 0]",
            ["outputs = self.rnn(features)", "net = outputs[:, 0]"],
        ),
        (
            "steps = tf.unstack(features, 5, 1)\n"
            f"outputs, _ = tf.nn.static_rnn({LSTM}(6), steps, dtype=tf.float32)\n"
            "outputs = outputs[-1]\nprint(outputs)\nnet = outputs",
            ["outputs = self.rnn(tf.stack(steps, axis=1))", "outputs = outputs[:, -1]"],
        ),
        (
            "lengths = tf.reduce_sum(tf.cast(features[:, :, 0] > 0, tf.int32), 1)\n"
            f"outputs, _ = {RUN}({LSTM}(6), features, sequence_length=lengths, dtype=tf.float32)\n"
            "net = outputs[:, -1]",
            ["zero_output_for_mask=True", "mask = tf.sequence_mask(lengths, tf.shape(features)[1])",
             "outputs = self.rnn(features, mask=mask)"],
        ),
        (
            "lengths = tf.reduce_sum(tf.cast(features[:, :, 0] > 0, tf.int32), 1)\n"
            "with tf.variable_scope('rnn'):\n"
            f"    outputs, _ = {RUN}({LSTM}(6), features, lengths, dtype=tf.float32)\n"
            "net = outputs[:, -1]",
            ["self.rnn(features, mask=tf.sequence_mask(lengths, tf.shape(features)[1]))"],
        ),
        (
            f"cell = {LSTM}(6)\ncell = tf.nn.rnn_cell.MultiRNNCell([cell])\n"
            f"_, state = {RUN}(cell, features, dtype=tf.float32)\nnet = state[0].h\n"
            f"cell = tf.nn.rnn_cell.GRUCell(6)\n"
            f"_, more = {RUN}(cell, features, dtype=tf.float32)\nnet = net + more",
            ["cell = tf.keras.layers.StackedRNNCells([cell])", "net = state[0][1]",
             "_, more = self.rnn_1(features)"],
        ),
        (
            f"if SIZE > 2:\n    cell = {LSTM}(6)\nelse:\n"
            f"    cell = tf.nn.rnn_cell.GRUCell(6)\n"
            f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, -1]",
            ["cell = LSTMCell(6)", "cell = GRUCell(6)"],
        ),
        (
            f"cell = tf.nn.rnn_cell.LSTMCell(6, initializer=tf.zeros_initializer())\n"
            f"outputs, _ = {RUN}(cell, features, dtype=tf.float32, scope='reader')\n"
            "net = outputs[:, -1]",
            ["kernel_initializer=tf.keras.initializers.Zeros()", "self.reader(features)",
             "initializer=self.kernel_initializer"],
        ),
        (
            "steps = tf.unstack(features, 5, 1)\n"
            f"outputs, _ = tf.nn.static_rnn({LSTM}(6), steps, dtype=tf.float32)\n"
            "net = tf.add_n(outputs)",
            ["outputs = tf.unstack(self.rnn(tf.stack(steps, axis=1)), axis=1)",
             "net = tf.add_n(outputs)"],
        ),
        (
            f"{BOTH}_, states = {BIDIRECTIONAL}, scope='all')\n"
            "net = states[0].h + states[1].h",
            ["_, *states_fw = self.all_fw(features)",
             "_, *states_bw = self.all_bw(tf.reverse(features, [1]))",
             "net = states_fw[1] + states_bw[1]"],
        ),
        (
            f"{BOTH}(left, right), (_, last) = {BIDIRECTIONAL})\n"
            "net = left[:, 0] + right[:, 0] + last.h",
            ["left = self.fw(features)", "right, *last = self.bw(tf.reverse(features, [1]))",
             "right = tf.reverse(right, [1])", "right[:, 0] + last[1]"],
        ),
        (
            "cell = tf.nn.rnn_cell.GRUCell(3)\n"
            f"outputs, _ = {RUN}(cell, features, initial_state=features[:, 0])\n"
            "net = outputs[:, 0]",
            ["initial_state=[features[:, 0]])"],
        ),
        (
            f"cell = {LSTM}(6, state_is_tuple=False)\nstart = tf.concat([features[:, 0]] * 3, 1)\n"
            f"outputs, _ = {RUN}(cell, features, initial_state=start)\nnet = outputs[:, 0]",
            ["= JoinedCells([LSTMCell(6)])", "initial_state=[start])"],
        ),
        (
            f"cell = {LSTM}(6, state_is_tuple=False)\n"
            f"_, state = {RUN}(cell, features, dtype=tf.float32)\nnet = state[:, 6:]",
            ["_, state = self.rnn(features)", "net = state[:, 6:]"],
        ),
        (
            f"cells = [{LSTM}(6, state_is_tuple=False), {LSTM}(3)]\n"
            "cell = tf.nn.rnn_cell.MultiRNNCell(cells)\n"
            f"_, state = {RUN}(cell, features, dtype=tf.float32)\nnet = state[0] + state[1].c",
            ["[JoinedCells([LSTMCell(6)]), LSTMCell(3)]", "net = state[0] + state[1][0]"],
        ),
        (
            "cell = tf.nn.rnn_cell.LSTMCell(6, use_peepholes=SIZE > 3)\n"
            f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0]",
            ["LSTMCell(6, use_peepholes=SIZE > 3)", "o += self.w_o_diag * c"],
        ),
        (
            "cell = tf.nn.rnn_cell.LSTMCell(6, use_peepholes=False)\n"
            f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0]",
            ["= LSTMCell(6)", "def __init__(self, units):"],
        ),
        (
            f"cells = [{LSTM}(3, state_is_tuple=False), tf.nn.rnn_cell.GRUCell(6)]\n"
            "cell = tf.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=False)\n"
            f"outputs, state = {RUN}(cell, features, dtype=tf.float32)\n"
            "net = outputs[:, 0] + state[:, 6:]",
            ["cell = JoinedCells(cells)", "outputs, state = self.rnn(features)"],
        ),
        (
            f"cell = tf.nn.rnn_cell.DropoutWrapper({LSTM}(6), 0.5)\n"
            f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0]",
            ["cell = DropoutCell(LSTMCell(6), input_keep_prob=0.5)", "self.cell.build(input_shape)",
             "inputs = tf.nn.dropout(inputs, 1 - self.input_keep_prob)"],
        ),
        (
            "net = features\nfor units in [4, 3]:\n"
            f"    net, _ = {RUN}({LSTM}(units), net, dtype=tf.float32)\nnet = net[:, -1]",
            ["self.rnn_layers.append(tf.keras.layers.RNN(LSTMCell(units), return_sequences=True))",
             "for rnn in self.rnn_layers:", "net = rnn(net)"],
        ),
        (
            f"outputs, _ = tf.nn.bidirectional_dynamic_rnn({LSTM}(6), {LSTM}(3), features[:, 1:],"
            " dtype=tf.float32)\nnet = outputs[0][:, -1]",
            ["inputs = features[:, 1:]", "outputs_fw = self.fw(inputs)"],
        ),
        (
            f"cell = {LSTM}(4)\nstart = tf.nn.rnn_cell.LSTMStateTuple(features[:, 0],"
            f" features[:, 1])\n"
            f"outputs, _ = {RUN}(cell, features, initial_state=start)\nnet = outputs[:, 0]",
            ["start = [features[:, 0], features[:, 1]]", "(features, initial_state=start)"],
        ),
        (
            "lengths = tf.reduce_sum(tf.cast(features[:, :, 0] > 0, tf.int32), 1)\n"
            f"{BOTH}outputs, _ = {BIDIRECTIONAL}, sequence_length=lengths)\n"
            "net = tf.reduce_sum(tf.concat(outputs, 2), 1)",
            ["features_back = tf.reverse_sequence(features, lengths, 1)",
             "outputs_fw = self.fw(features, mask=mask)",
             "outputs_bw = self.bw(features_back, mask=mask)",
             "tf.reverse_sequence(outputs_bw, lengths, 1))"],
        ),
    ],
)  # fmt: skip
def test_native(network: str, expected: list[str]) -> None:
    after, said = migrated(program(network))
    assert "(tf.keras.Model)" in after, said
    for part in expected:
        assert part in after
    assert "zero_state" not in after


CELLS = f"cells = [{LSTM}(6) for _ in range(2)]\n"
STACK = f"outputs, state = {RUN}(tf.nn.rnn_cell.MultiRNNCell(cells), features, dtype=tf.float32)\n"
ONE = f"outputs, state = {RUN}({LSTM}(6), features, dtype=tf.float32)\n"


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (f"cell = {LSTM}(6)\ncells = [cell, cell]\n" + STACK + "net = outputs[:, -1]",
         "may be one"),
        (f"cell = {LSTM}(6)\ncells = [cell for _ in range(2)]\n" + STACK + "net = outputs[:, -1]",
         "may be one"),
        (f"cell = {LSTM}(6)\ncells = [cell] * 2\n" + STACK + "net = outputs[:, -1]",
         "cannot be determined"),
        (CELLS + STACK + "net = tf.concat([s.h for s in state], 1)", "used as a whole"),
        (ONE + "net = tf.stack(state)[0]", "used as a whole"),
        (ONE + "for part in state:\n    net = part", "used as a whole"),
        (f"cell = {LSTM}(6)\n" + ONE.replace(f"{LSTM}(6)", "cell")
         + f"more, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0] + more[:, 0]",
         "two recurrent networks"),
        (f"cell = tf.nn.rnn_cell.LSTMCell(6, num_proj=3)\n"
         f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0]", "num_proj"),
        (f"cells = [tf.nn.rnn_cell.GRUCell(3)]\nstart = features[:, 0]\n"
         f"outputs, _ = {RUN}(tf.nn.rnn_cell.MultiRNNCell(cells), features, initial_state=start)\n"
         "net = outputs[:, 0]", "begins with"),
        (f"cell = {LSTM}(6)\nfor _ in range(2):\n"
         "    cell = tf.nn.rnn_cell.MultiRNNCell([cell])\n"
         f"_, state = {RUN}(cell, features, dtype=tf.float32)\nnet = state[0].h", "cannot be"),
        (f"cell = tf.nn.rnn_cell.DropoutWrapper({LSTM}(6), 0.5, seed=3)\n"
         f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0]",
         "`seed` of `tf.nn.rnn_cell.DropoutWrapper` cannot be analyzed"),
        ("keep = 0.5 if mode == tf.estimator.ModeKeys.TRAIN else 1.0\n"
         f"cell = tf.nn.rnn_cell.DropoutWrapper({LSTM}(6), keep)\n"
         f"outputs, _ = {RUN}(cell, features, dtype=tf.float32)\nnet = outputs[:, 0]",
         "depends on the tensor `cell`"),
        (f"outputs, _ = {RUN}({LSTM}(6), features, time_major=True, dtype=tf.float32)\n"
         "net = outputs[:, 0]", "is the time"),
        (f"cell = tf.nn.rnn_cell.GRUCell(6)\nstart = tf.nn.rnn_cell.LSTMStateTuple("
         f"features[:, 0], features[:, 1])\n"
         f"outputs, _ = {RUN}(cell, features, initial_state=start)\nnet = outputs[:, 0]",
         "begins with"),
        (f"cell = {LSTM}(6)\nstart = cell.zero_state(8, tf.float32)\n"
         f"outputs, _ = {RUN}(cell, features, initial_state=start)\nnet = outputs[:, 0] + start.h",
         "by itself"),
        (f"cell = {LSTM}(6)\nnet, _ = cell(features[:, 0], cell.zero_state(8, tf.float32))",
         "by itself"),
        (f"cell = {LSTM}(6)\noutputs, _ = {RUN}(cell, features, dtype=tf.float32)\n"
         "net = outputs[:, cell.state_size.h]", "by itself"),
        (f"both = {RUN}({LSTM}(6), features, dtype=tf.float32)\nnet = both[0][:, -1]",
         "not unpacked"),
        (f"net = features\ncell = {LSTM}(4)\nfor units in [4, 4]:\n"
         f"    net, _ = {RUN}(cell, net, dtype=tf.float32)\nnet = net[:, -1]",
         "in a loop"),
        ("steps = tf.unstack(features, 5, 1)\n"
         f"outputs, state = tf.nn.static_rnn({LSTM}(6), steps, dtype=tf.float32)\n"
         "outputs = outputs + [state.h]\nnet = tf.concat(outputs, 1)", "used as a list"),
        (f"with tf.variable_scope('a', initializer=tf.ones_initializer()):\n    {ONE}"
         "net = outputs[:, -1]", "for everything inside"),
        (f"outputs, _ = tf.nn.bidirectional_dynamic_rnn({LSTM}(6), {LSTM}(6), features,"
         " time_major=True, dtype=tf.float32)\nnet = outputs[0][:, -1]", "no TF2 form"),
        (f"{BOTH}_, states = {BIDIRECTIONAL})\nnet = last(states)", "as a whole"),
        (f"{BOTH}_, states = {BIDIRECTIONAL}, initial_state_fw=start)\nnet = states[0].h",
         "begins with"),
    ],
)  # fmt: skip
def test_refused(network: str, reason: str) -> None:
    stays(program(network), reason)


def test_an_alias_of_a_module_of_tf1_goes_with_its_last_use() -> None:
    network = f"    outputs, _ = {RUN}(rnn.GRUCell(6), features, dtype=tf.float32)\n"
    program = PROGRAM.format(network=network + "    net = outputs[:, 0]", helper="")
    head, rest = program.split("\n\n\n", 1)
    given = f"{head}\n\nrnn = tf.contrib.rnn\n\n\n{rest}"
    assert "contrib" not in migrated(given)[0]
    keras = f"{head}\n\nkeras = tf.keras\n\n\n{rest}"
    keras = keras.replace("rnn.GRUCell", "tf.contrib.rnn.GRUCell")
    keras = keras.replace("tf.layers.dense(net, 2)", "keras.layers.Dense(2)(net)")
    assert "\nkeras = tf.keras\n" in migrated(keras)[0]
    stays(given + "print(rnn)\n", "`tf.contrib.rnn` is TF1 API, used outside of the Estimator")


def test_two_networks_of_a_file_have_one_class_of_cells() -> None:
    network = (
        f"    outputs, _ = {RUN}({LSTM}(6), features, dtype=tf.float32)\n    net = outputs[:, 0]"
    )
    one = PROGRAM.format(network=network, helper="")
    _, rest = one.split("def model_fn")
    both = one + "\n\ndef other_fn" + rest.replace("Estimator(model_fn)", "Estimator(other_fn)")
    after, _ = migrated(both)
    assert after.count("class LSTMCell(") == 1
    assert after.count("RNN(LSTMCell(6)") == 2


GATES = "recurrent_activation=lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)"


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ("net = tf.keras.layers.LSTM(6)(features)", f"tf.keras.layers.LSTM(6, {GATES})"),
        (
            "gru = tf.keras.layers.GRU(6, recurrent_activation='sigmoid')\nnet = gru(features)",
            "tf.keras.layers.GRU(6, recurrent_activation='sigmoid', reset_after=False)",
        ),
        (
            "model = tf.keras.Sequential([tf.keras.layers.SimpleRNN(6, dropout=0.0)])\n"
            "net = model(features)",
            "tf.keras.layers.SimpleRNN(6)",
        ),
    ],
)
def test_layers_of_keras_have_the_gates_of_tf1(network: str, expected: str) -> None:
    after, said = migrated(program(network))
    assert expected in after, said


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        ("net = tf.keras.layers.LSTM(6, dropout=0.2)(features)", "`dropout` of"),
        ("net = tf.keras.layers.LSTM(6, recurrent_activation='relu')(features)", "not compared"),
        ("net = tf.keras.layers.GRU(6, activation='hard_sigmoid')(features)", "another function"),
        ("net = tf.keras.layers.GRU(6, reset_after=True)(features)", "reset_after"),
        (
            "both = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(6))\n"
            "model = tf.keras.Sequential([both])\n"
            "net = model(features)",
            "`Bidirectional` is not known",
        ),
        ("tf.compat.v1.logging.info('made')\nnet = tf.keras.layers.LSTM(6)(features)", "TF1's or"),
    ],
)
def test_layers_of_keras_that_stay(network: str, reason: str) -> None:
    stays(program(network), reason)


def test_a_checkpoint_names_the_cells_of_a_stack() -> None:
    """Keras 3 keeps the cells in a list, which tf.train.Checkpoint does not look into."""
    stack = f"tf.nn.rnn_cell.MultiRNNCell([{LSTM}(6)])"
    for cell, named in ((stack, True), (f"{LSTM}(6)", False)):
        network = f"    outputs, _ = {RUN}({cell}, features, dtype=tf.float32)\n"
        text = PROGRAM.format(network=network + "    net = outputs[:, 0]", helper="")
        text = text.replace("Estimator(model_fn)", "Estimator(model_fn, model_dir='here')")
        after, said = migrated(text)
        assert ("weights=estimator.weights)" in after) is named, said
        assert "tf.train.Checkpoint(model=estimator" in after
