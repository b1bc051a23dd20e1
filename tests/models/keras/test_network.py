"""Networks of model_fns as classes: what becomes of layers in the forms people write."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import helpers
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat()


def model_fn(features, labels, mode, params):
{network}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = {step}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, params={{'n': 3, 'deep': True}})
estimator.train(input_fn, steps=100)
"""
STEP = "tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"


def program(network: str, step: str = STEP) -> str:
    """The program with a network and a training step."""
    return PROGRAM.format(network=network.rstrip("\n"), step=step)


@pytest.mark.parametrize("apply", ["(net)", ".apply(net)", ".__call__(net)"])
def test_a_layer_that_is_applied_where_it_is_made_is_made_once(apply: str) -> None:
    after, _ = migrated(
        program(
            "    net = tf.abs(features)\n"
            f"    net = tf.keras.layers.Dense(8, activation='relu'){apply}\n"
            "    logits = tf.keras.layers.Dense(10)(net)\n"
        )
    )
    assert "self.dense = tf.keras.layers.Dense(8, activation='relu')\n" in after
    assert "net = self.dense(net)\n" in after
    assert after.count("keras.layers.Dense(") == 2


def test_a_layer_that_is_applied_otherwise_is_refused() -> None:
    stays(
        program(
            "    net = tf.abs(features)\n"
            "    layers = [tf.keras.layers.Dense(8), tf.abs(net)]\n"
            "    logits = tf.keras.layers.Dense(10)(layers[0](net))\n"
        ),
        "how the layer `Dense` is applied cannot be analyzed",
    )


def test_a_layer_kept_in_a_variable_is_an_attribute() -> None:
    after, _ = migrated(
        program(
            "    net = tf.abs(features)\n"
            "    dense = tf.layers.Dense(params['n'])\n"
            "    logits = dense(net)\n"
        )
    )
    assert "self.dense = tf.keras.layers.Dense(params['n'])\n" in after
    assert "logits = self.dense(net)\n" in after


def test_a_condition_on_settings_stands_in_both_methods() -> None:
    after, _ = migrated(
        program(
            "    net = tf.layers.dense(features, 4)\n"
            "    if params['deep']:\n"
            "        net = tf.layers.dense(net, 4)\n"
            "    logits = tf.layers.dense(net, 10)\n"
        )
    )
    assert "        if params['deep']:\n            self.dense_1 = " in after
    assert "        if self.params['deep']:\n            net = self.dense_1(net)\n" in after


WEIGHTS = """\
    net = features
    for i in range(params['n']):
        {test}
            net = tf.matmul(net, tf.get_variable('w%d' % i, [4, 4]))
    logits = tf.layers.dense(net, 10)
"""


def test_a_variable_of_some_rounds_of_a_loop_stays() -> None:
    reason = "a variable is made in a loop, under a condition"
    stays(program(WEIGHTS.format(test="if i != 1:")), reason)
    after, said = migrated(program(WEIGHTS.format(test="with tf.name_scope('net'):")))
    assert "self.add_weight" in after, said


def test_a_loop_over_many_layers_is_broken() -> None:
    layers = "".join(f"        net = tf.layers.dense(net, {units})\n" for units in range(4, 12))
    loop = f"    net = features\n    for i in range(params['n']):\n{layers}"
    after, _ = migrated(program(loop + "        print(i)\n    logits = net\n"))
    assert "        for (\n            i,\n            dense,\n            dense_2,\n" in after
    assert "\n        ) in zip(\n            range(self.params['n']),\n" in after
    assert max(map(len, after.splitlines())) < 100


def test_layers_of_a_loop_are_lists() -> None:
    after, _ = migrated(
        program(
            "    net = features\n"
            "    for i in range(params['n']):\n"
            "        net = tf.layers.dense(net, 2 ** i, name='fc%d' % i)\n"
            "    logits = tf.layers.dense(net, 10)\n"
        )
    )
    made = "self.dense_layers.append(tf.keras.layers.Dense(2 ** i, name='fc%d' % i))"
    assert f"        for i in range(params['n']):\n            {made}\n" in after
    assert "        for dense in self.dense_layers:\n            net = dense(net)\n" in after


def test_functions_with_layers_of_one_import_become_classes_in_it() -> None:
    nets = (
        "import tensorflow as tf\n\n\n"
        "def hidden(net):\n    return tf.layers.dense(net, 10)\n\n\n"
        "def output(net):\n    return tf.layers.dense(net, 3)\n"
    )
    code = program("    logits = out(hidden(features))\n")
    code = code.replace("import helpers\n", "from nets import hidden, output as out  # both\n")
    after, _ = migrated(code, ("nets.py", nets))
    assert "from nets import Hidden, Output as out  # both\n" in after
    assert "self.logits = out()" in after


def test_dropout_without_a_word_about_training_drops_nothing() -> None:
    after, _ = migrated(
        program(
            "    net = tf.abs(features)\n"
            "    net = tf.layers.dropout(net, 0.5)\n"
            "    logits = tf.layers.dense(net, 10)\n"
        )
    )
    assert "net = self.dropout(net, training=False)\n" in after


def test_a_chain_of_layers_is_a_sequential() -> None:
    after, _ = migrated(
        program("    net = tf.layers.flatten(features)\n    logits = tf.layers.dense(net, 10)\n")
    )
    assert "class " not in after
    assert "tf.keras.Sequential([\n" in after


@pytest.mark.parametrize(
    ("network", "step", "reason"),
    [
        ("    logits = helpers.network(features)\n", STEP, "helpers"),
        (
            "    logits = tf.layers.dense(features, 10)\n",
            "wrap(tf.train.AdamOptimizer(0.1)).minimize(loss, tf.train.get_global_step())",
            "made of another one, or by a function",
        ),
        (
            "    logits = tf.layers.dense(features, int(features.shape[1]) * mode)\n",
            STEP,
            "`mode` is used for more",
        ),
    ],
)
def test_what_is_not_understood_is_refused(network: str, step: str, reason: str) -> None:
    stays(program(network, step), reason)


ADAM = "tf.train.AdamOptimizer(0.1)"
COUNT = "tf.assign_add(tf.train.get_global_step(), 1)"


@pytest.mark.parametrize(
    "step",
    [
        f"{ADAM}.minimize(loss, global_step=tf.train.get_or_create_global_step())",
        f"tf.group({ADAM}.minimize(loss), {COUNT})",
        f"tf.group({ADAM}.minimize(loss), tf.train.get_global_step().assign_add(1))",
        f"{ADAM}.apply_gradients({ADAM}.compute_gradients(loss), tf.train.get_global_step())",
        f"tf.contrib.training.create_train_op(loss, {ADAM})",
        f"tf.contrib.slim.learning.create_train_op(loss, {ADAM}, tf.train.get_global_step(),"
        " variables_to_train=tf.trainable_variables(), clip_gradient_norm=0)",
    ],
)
def test_the_global_step_is_counted_once(step: str) -> None:
    text, _ = migrated(program("    logits = tf.layers.dense(features, 10)\n", step))
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in text
    assert "global_step" not in text and "assign_add" not in text


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (f"{ADAM}.minimize(loss)", "does not add one to the global step"),
        (f"{ADAM}.minimize(loss, None)", "does not add one to the global step"),
        (
            f"{ADAM}.apply_gradients({ADAM}.compute_gradients(loss))",
            "does not add one to the global step",
        ),
        (
            f"tf.group({ADAM}.minimize(loss, tf.train.get_global_step()), {COUNT})",
            "does not add one to the global step",
        ),
        (f"{ADAM}.minimize(loss, tf.Variable(0))", "not known to be the global step"),
        (f"tf.group({ADAM}.minimize(loss), {COUNT[:-2]}2))", "groups more than one step"),
        (
            f"tf.contrib.training.create_train_op(loss, {ADAM}, global_step=None)",
            "does not add one to the global step",
        ),
        (
            f"tf.contrib.training.create_train_op(loss, {ADAM}, update_ops=[])",
            "create_train_op is given `update_ops`",
        ),
        (
            f"tf.contrib.training.create_train_op(loss, {ADAM}, transform_grads_fn=halved)",
            "create_train_op is given `transform_grads_fn`",
        ),
        (
            f"tf.contrib.slim.learning.create_train_op(loss, {ADAM}, clip_gradient_norm=limit())",
            "whether create_train_op clips",
        ),
        (
            f"tf.contrib.training.create_train_op(loss * 2, {ADAM})",
            "minimized is not the loss",
        ),
    ],
)
def test_without_a_count_steps_are_not_what_ends_a_training(step: str, reason: str) -> None:
    stays(program("    logits = tf.layers.dense(features, 10)\n", step), reason)


SGD = "optimizer = tf.train.GradientDescentOptimizer(0.1)\n"
STEPPED = "tf.train.get_global_step()"


def trained(lines: str) -> str:
    """The program with a training step of several lines."""
    written = (SGD + lines).replace("\n", "\n    ")
    return program("    logits = tf.layers.dense(features, 10)\n", f"None\n    {written}")


@pytest.mark.parametrize(
    "lines",
    [
        f"train_op = optimizer.minimize(loss, {STEPPED}, gate_gradients=optimizer.GATE_OP)",
        f"train_op = optimizer.minimize(loss, {STEPPED}, tf.trainable_variables(), grad_loss=None)",
        f"train_op = optimizer.minimize(loss, {STEPPED}, aggregation_method=2, name='train')",
        "pairs = optimizer.compute_gradients(loss, tf.trainable_variables(), gate_gradients=2)\n"
        f"train_op = optimizer.apply_gradients(pairs, {STEPPED})",
        "some = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)\n"
        "found = tf.gradients(ys=loss, xs=some, colocate_gradients_with_ops=True)\n"
        f"train_op = optimizer.apply_gradients(zip(found, some), {STEPPED})",
    ],
)
def test_how_gradients_are_computed_is_not_what_they_are(lines: str) -> None:
    after, said = migrated(trained(lines))
    assert "tf.keras.optimizers.SGD(0.1)\n" in after, said


@pytest.mark.parametrize(
    "clipping",
    [
        "found, _ = tf.clip_by_global_norm(t_list=found, clip_norm=0.5)",
        "found, _ = tf.clip_by_global_norm(found, 0.5, use_norm=tf.global_norm(found))",
        "found = tf.clip_by_global_norm(found, 0.5)[0]",
    ],
)
def test_gradients_are_clipped_by_their_norm(clipping: str) -> None:
    after, said = migrated(trained(CLIPPED.format(clipping)))
    assert "tf.keras.optimizers.SGD(0.1, global_clipnorm=0.5)\n" in after, said


CLIPPED = (
    "some = tf.trainable_variables()\nfound = tf.gradients(loss, some)\n{}\n"
    f"train_op = optimizer.apply_gradients(zip(found, some), {STEPPED})"
)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (CLIPPED.format("found, _ = tf.clip_by_global_norm(found, 0.5, use_norm=3.0)"), "twice"),
        (
            CLIPPED.format(
                "norm = tf.global_norm(found)\nfound = tf.clip_by_global_norm(found, 1.)[0]\n"
                "found, _ = tf.clip_by_global_norm(found, 0.5, use_norm=norm)"
            ),
            "twice",
        ),
        (CLIPPED.format("found = [tf.clip_by_norm(g, 0.5, axes=[0]) for g in found]"), "twice"),
        (
            CLIPPED.format(
                "found = [tf.clip_by_norm(g, 0.5) for g in found]\n"
                "found = [tf.clip_by_value(g, -0.1, 0.1) for g in found]"
            ),
            "twice",
        ),
        (CLIPPED.format("found = tf.clip_by_global_norm(found, 0.5)[1:]"), "cannot be analyzed"),
        (
            f"train_op = optimizer.minimize(loss, {STEPPED}, tf.trainable_variables('dense'))",
            "only some of the variables",
        ),
        (
            "pairs = optimizer.compute_gradients(loss, tf.trainable_variables()[:1])\n"
            f"train_op = optimizer.apply_gradients(pairs, {STEPPED})",
            "only some of the variables",
        ),
        (f"train_op = optimizer.minimize(loss, {STEPPED}, grad_loss=2.0)", "`grad_loss`"),
    ],
)
def test_other_gradients_stay(lines: str, reason: str) -> None:
    stays(trained(lines), reason)


LOSS = "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"


def with_loss(loss: str) -> str:
    """The program with a loss that is written otherwise."""
    layer = "    logits = tf.layers.dense(features, 10, kernel_regularizer="
    layer += "tf.contrib.layers.l2_regularizer(0.1))\n"
    text = PROGRAM.replace(LOSS, loss).replace("import helpers\n", "")
    return text.format(network=layer, step=STEP)


APPLIED = (
    "    regularizer = tf.contrib.layers.{regularizer}(0.01)\n"
    "    decay = tf.contrib.layers.apply_regularization(regularizer, {variables})\n"
)


@pytest.mark.parametrize(
    ("variables", "biases"),
    [
        ("tf.trainable_variables()", True),
        ("[v for v in tf.trainable_variables() if 'bias' not in v.name]", False),
    ],
)
def test_a_regularizer_of_all_variables_is_the_layers(variables: str, biases: bool) -> None:
    text = APPLIED.format(regularizer="l2_regularizer", variables=variables)
    after, said = migrated(with_loss(text + LOSS.replace("\n", " + decay\n")))
    assert "kernel_regularizer=tf.keras.regularizers.L2(0.005)" in after, said
    assert ("bias_regularizer=tf.keras.regularizers.L2(0.005)" in after) is biases
    assert "SparseCategoricalCrossentropy(from_logits=True)\n" in after


@pytest.mark.parametrize(
    ("regularizer", "variables", "factor"),
    [
        ("l1_regularizer", "tf.trainable_variables()", ""),
        ("l2_regularizer", "tf.trainable_variables('dense')", ""),
        ("l2_regularizer", "None", ""),
        ("l2_regularizer", "tf.trainable_variables()", "2.0 * "),
    ],
)
def test_another_regularizer_of_variables_stays(
    regularizer: str, variables: str, factor: str
) -> None:
    text = APPLIED.format(regularizer=regularizer, variables=variables)
    stays(with_loss(text + LOSS.replace("\n", f" + {factor}decay\n")), "apply_regularization")


def test_what_a_loss_is_set_by_goes_with_it() -> None:
    text = "    factor = tf.constant(0.5)\n    unused = 3\n    if params['deep']:\n"
    text += "        factor = factor * params['n']\n" + LOSS.replace("= tf", "= factor * tf")
    after, said = migrated(with_loss(text))
    loss = after.partition("    def loss(")[2].partition("    optimizer")[0]
    assert "        factor = tf.constant(0.5)\n" in loss, said
    assert "            factor = factor * params['n']\n" in loss
    assert "def model_fn(params):" in after
    assert "unused" not in after
    smooth = "    part = 0.1\n    loss = tf.losses.softmax_cross_entropy(labels, logits{})\n"
    after, said = migrated(with_loss(smooth.format(", label_smoothing=part")))
    assert "    part = 0.1\n" in after, said
    assert "CategoricalCrossentropy(from_logits=True, label_smoothing=part)\n" in after


@pytest.mark.parametrize(
    ("factor", "reason"),
    [
        ("tf.to_float(tf.train.get_global_step())", "get_global_step"),
        ("tf.reduce_sum(tf.trainable_variables()[0])", "trainable_variables"),
        ("1.0 if mode == tf.estimator.ModeKeys.TRAIN else 0.5", "asks whether the model trains"),
    ],
)
def test_what_a_loss_cannot_be_set_by(factor: str, reason: str) -> None:
    stays(with_loss(f"    factor = {factor}\n" + LOSS.replace("= tf", "= factor * tf")), reason)


def test_regularization_that_is_added_later_is_the_layers() -> None:
    after, said = migrated(with_loss(LOSS + "    loss += tf.losses.get_regularization_loss()\n"))
    assert "SparseCategoricalCrossentropy(from_logits=True)" in after, said
    assert "kernel_regularizer=tf.keras.regularizers." in after
    assert "+=" not in after


def test_regularization_that_no_loss_takes_up_is_left_out() -> None:
    after, _ = migrated(with_loss(LOSS))
    assert "regularizer" not in after


def test_regularization_of_the_training_loss_alone_is_its() -> None:
    train = "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
    after, said = migrated(
        with_loss(LOSS + train + "        loss += tf.losses.get_regularization_loss()\n")
    )
    trained, _, tested = after.partition("    def test_loss(")
    assert "return loss + sum(self.losses)" in trained, said
    assert "self.losses" not in tested and "self.update_state(self.test_loss(" not in trained


def test_regularization_of_an_evaluation_alone_is_refused() -> None:
    test = "    if mode == tf.estimator.ModeKeys.EVAL:\n"
    stays(
        with_loss(LOSS + test + "        loss += tf.losses.get_regularization_loss()\n"),
        "an evaluation's loss has another regularization",
    )


def beside(functions: str, network: str) -> str:
    return program(network).replace("def model_fn", f"{functions}\n\ndef model_fn", 1)


def test_a_function_inside_of_a_network_keeps_its_own_names() -> None:
    function = """\
def net(x, size):
    shape = [-1, size]

    def flat(x):
        shape = [-1, 2 * size // 2]
        y = tf.reshape(x, shape)
        return y

    net = tf.layers.dense(flat(x), size)
    return tf.reshape(net, shape)
"""
    after, said = migrated(beside(function, "    logits = tf.layers.dense(net(features, 4), 3)\n"))
    assert "def flat(x):\n            shape = [-1, 2 * self.size // 2]\n" in after, said
    assert "            y = tf.reshape(x, shape)\n            return y\n" in after
    assert "return tf.reshape(net, self.shape)" in after


def test_an_initializer_that_a_function_returns() -> None:
    function = "def small():\n    return tf.truncated_normal_initializer(stddev=0.02)\n"
    network = """\
    weights = tf.get_variable("weights", [4, 3], initializer=small())
    logits = tf.matmul(features, weights)
"""
    after, said = migrated(beside(function, network))
    assert "    return tf.keras.initializers.TruncatedNormal(stddev=0.02)" in after, said
    assert "initializer=small()" in after
    other = "def small():\n    return lambda shape, **more: tf.zeros(shape)\n"
    stays(beside(other, network), "what this variable begins with cannot be determined")
