"""model_fns in other forms than a plain function: restated exactly, or left as they are."""

from __future__ import annotations

import json

import pytest

from tests.models.normalize.restated import (
    END,
    HEAD,
    TAIL,
    closure,
    indented,
    whole,
)
from tests.support.migration import migrated, run, stays


def test_what_a_made_model_fn_reads_are_its_parameters() -> None:
    after, _ = migrated(whole(closure()))
    assert "def model_fn(hidden, rate):\n    model = tf.keras.Sequential([\n" in after
    assert "estimator = model_fn(hidden=16, rate=0.1)\n" in after
    assert "make_model_fn" not in after


def test_a_made_model_fn_of_another_module() -> None:
    module = "import tensorflow as tf\n\n\n" + closure().partition("\n\n\nestimator")[0] + "\n"
    program = HEAD.replace("import numpy", "import models\nimport numpy") + (
        "estimator = tf.estimator.Estimator(models.make_model_fn(16, rate=0.2))\n" + TAIL
    )
    after, said = migrated(whole(program), ("models.py", module))
    assert "estimator = models.model_fn(hidden=16, rate=0.2)\n" in after, said
    assert "def model_fn(hidden, rate):\n" in after


@pytest.mark.parametrize(
    "program",
    [
        closure(inner="    nonlocal rate\n    rate = rate / 2\n"),
        closure(outer="hidden, rate=RATE", given="16").replace("def make", "RATE = 1\n\ndef make"),
        closure().replace("    return model_fn\n", "    print(hidden)\n    return model_fn\n"),
        closure() + "other = make_model_fn(3)\n",
        closure(outer="*sizes, hidden=3, rate=0.1", given="3, 4"),
    ],
)
def test_a_made_model_fn_that_is_more_stays(program: str) -> None:
    stays(whole(program), "which does more than return it")


def test_a_comment_in_what_makes_a_model_fn_stays() -> None:
    program = closure(given="16,  # wide\n    rate=0.2")
    after, said = migrated(whole(program))
    assert "# wide\nestimator = model_fn(hidden=16, rate=0.2)\n" in after, said


@pytest.mark.parametrize(("given", "native"), [('"Adam"', True), ("NAME", False)])
def test_a_made_model_fn_is_given_the_name_of_its_optimizer(given: str, native: bool) -> None:
    minimized = "tf.train.AdamOptimizer(rate).minimize(loss, tf.train.get_global_step())"
    step = "tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, optimizer)"
    program = closure(outer="hidden, optimizer", given=f"16, {given}").replace(minimized, step)
    text = whole("NAME = 'Adam' if len(__file__) > 3 else 'SGD'\n\n\n" + program)
    if native:
        after, said = migrated(text)
        assert "tf.keras.optimizers.Adam(" in after, said
        assert "estimator = model_fn(hidden=16)\n" in after
    else:
        stays(text, "which optimizer `optimize_loss` makes")


def test_a_parameter_that_is_not_read_is_no_obstacle() -> None:
    after, said = migrated(whole(closure(outer="hidden, rate=0.1, params=None")))
    assert "estimator = model_fn(hidden=16, rate=0.1)\n" in after, said


CLASS = '''\
class Trainer(object):
    """Trains."""

    def __init__(self, hidden, rate):
        self._hidden = hidden
        self.rate = rate

    def network(self, x):
        # Two layers.
        x = tf.layers.dense(x, self._hidden, activation=tf.nn.relu)
        return tf.layers.dense(x, 3)

    def model_fn(self, features, labels, mode):
        logits = self.network(features)
{end}

trainer = Trainer(16, rate=0.1)
estimator = tf.estimator.Estimator(model_fn=trainer.model_fn)
'''


def method(**replaced: str) -> str:
    text = CLASS.format(end=indented(END.format(rate="self.rate")))
    for old, new in replaced.values():  # type: ignore[misc]
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_method_is_a_function_of_what_it_reads() -> None:
    after, _ = migrated(whole(method()))
    assert "def model_fn(hidden, rate):\n    model = Model(hidden)\n" in after
    assert "class Network(tf.keras.layers.Layer):\n    def __init__(self, hidden):\n" in after
    assert "estimator = model_fn(hidden=trainer._hidden, rate=trainer.rate)\n" in after
    kept = after[after.index("class Trainer") :]
    assert "def model_fn" not in kept and "self.rate = rate\n" in kept


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Two layers.", "self.calls = 1"),  # it changes its object
        ("# Two layers.", "print(self)"),
        ("# Two layers.", "hidden = 3"),  # the name that a parameter would have
        ("# Two layers.", "x = (lambda hidden: x * hidden * self._hidden)(2)"),
        (
            "trainer = Trainer(16, rate=0.1)\n",
            "trainer = Trainer(16, rate=0.1)\ntrainer.rate = 1\n",
        ),
        ("trainer = Trainer(16, rate=0.1)\n", "trainer = Trainer(16, 0.1)\ntrainer.network(3)\n"),
        ("class Trainer(object)", "class Trainer(dict)"),
        ("    def network(", "    @functools.lru_cache\n    def network("),
    ],
)
def test_a_method_that_does_more_stays(old: str, new: str) -> None:
    program = method(change=(old, new))  # type: ignore[arg-type]
    stays(whole(program), "its model_fn is not a function that the run defines")


def test_a_method_given_before_its_value_is_known_stays() -> None:
    program = method(
        late=(  # type: ignore[arg-type]
            "        self.rate = rate\n",
            "        self.made = tf.estimator.Estimator(self.model_fn)\n        self.rate = rate\n",
        ),
        made=("tf.estimator.Estimator(model_fn=trainer.model_fn)", "trainer.made"),  # type: ignore[arg-type]
    )
    stays(whole(program), "model_fn is a method")


BY_MODE = """\
def network(x, n, training):
    x = tf.layers.dropout(tf.layers.dense(x, n), 0.4, training=training)
    return tf.layers.dense(x, 3)


def model_fn(features, labels, mode):
    if mode == tf.estimator.ModeKeys.TRAIN:
        logits = network(features, 8, training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    if mode == tf.estimator.ModeKeys.EVAL:
        logits = network(features, 8, training=False)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})


estimator = tf.estimator.Estimator(model_fn)
"""


def test_a_network_called_once_a_mode_is_called_once() -> None:
    after, _ = migrated(whole(BY_MODE))
    assert "logits = self.logits(features, training=training)\n" in after
    assert after.count("Network(8)") == 1


@pytest.mark.parametrize("training", ["True", "False"])
def test_a_network_that_is_told_the_same_in_every_mode(training: str) -> None:
    other = "False" if training == "True" else "True"
    after, _ = migrated(whole(BY_MODE.replace(f"training={other})", f"training={training})")))
    assert f"self.logits = Network(8, training={training})\n" in after
    assert "x = self.dropout(self.dense(x), training=self.training)\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("network(features, 8, training=False)", "network(features, 9, training=False)"),
        ("        logits = network(features, 8, training=False)", "        features += 1\n"
         "        logits = network(features, 8, training=False)"),
        ("        logits = network(features, 8, training=True)", "        logits = features\n"
         "        logits = network(logits, 8, training=True)"),
    ],
)  # fmt: skip
def test_networks_that_differ_by_mode_stay(old: str, new: str) -> None:
    program = BY_MODE.replace(old, new)
    stays(whole(program), "`mode` is used for more than telling training from the rest")


KERAS = (
    BY_MODE[BY_MODE.index("def model_fn") :]
    .replace("network(features, 8, training=True)", "model(features)")
    .replace("network(features, 8, training=False)", "model(features, training=False)")
    .replace("    if mode == tf.estimator.ModeKeys.TRAIN", "    model = make()\n\n    if mode == "
             "tf.estimator.ModeKeys.TRAIN")
)  # fmt: skip
MAKE = """\
def make():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(8), layers.Dropout(0.4), layers.Dense(3)])


"""


def test_a_keras_model_that_is_told_in_one_mode_only() -> None:
    after, said = migrated(whole(MAKE + KERAS))
    assert "logits = self.model(features, training=False)\n" in after, said


def test_a_model_of_ones_own_may_train_by_default() -> None:
    own = MAKE.replace("return tf.keras.Sequential([", "return Own([")
    own = "class Own(tf.keras.Sequential):\n    pass\n\n\n" + own
    stays(whole(own + KERAS), "evaluation computes its loss differently from training")


PARTS = """\
# How it learns.
def get_train_op(loss, rate):
    \"\"\"Adam.\"\"\"
    optimizer = tf.train.AdamOptimizer(rate)
    return optimizer.minimize(loss, tf.train.get_global_step())


def get_metrics(classes, labels):
    metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
    metrics.update({"mean": tf.metrics.mean(tf.to_float(tf.equal(labels, classes)))})
    return metrics


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = get_train_op(loss, 0.1)
    metrics = get_metrics(tf.argmax(logits, 1), labels)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


estimator = tf.estimator.Estimator(model_fn)
"""


def test_functions_of_a_model_fn_are_part_of_it() -> None:
    after, _ = migrated(whole(PARTS))
    assert "get_train_op" not in after and "get_metrics" not in after
    assert "    # How it learns.\n    rate = 0.1\n    # Adam.\n    optimizer = tf.keras." in after
    assert "tf.keras.optimizers.Adam(rate, epsilon=1e-8)" in after
    assert 'SparseCategoricalAccuracy(name="accuracy")' in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def get_train_op(loss, rate):", "@functools.lru_cache\ndef get_train_op(loss, rate):"),
        ("def get_train_op(loss, rate):", "def get_train_op(loss, rate, *more):"),
        ("    optimizer = tf", "    if rate > 1:\n        return tf.no_op()\n    optimizer = tf"),
        ("    optimizer = tf", "    global logits\n    logits = rate\n    optimizer = tf"),
        ("estimator = tf", "print(get_train_op)\nestimator = tf"),
    ],
)
def test_functions_that_cannot_be_part_of_it_stay(old: str, new: str) -> None:
    program = PARTS.replace(old, new)
    stays(whole(program), "the optimizer of this train_op cannot be determined")


def test_names_that_the_model_fn_has_too() -> None:
    named = "    logits = rate\n    rate = logits\n    optimizer = tf"
    after, said = migrated(whole(PARTS.replace("    optimizer = tf", named)))
    assert "    logits_2 = rate\n    rate = logits_2\n    optimizer = tf.keras." in after, said
    # Within the comprehension the loss is another value.
    other = "def get_train_op(value, rate):\n    loss = [value + loss for loss in range(2)][0]"
    program = PARTS.replace("def get_train_op(loss, rate):", other)
    after, said = migrated(whole(program))
    assert "        return [loss + loss_2 for loss_2 in range(2)][0]\n" in after, said


LOCAL = """\
def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN

    # A layer that may forget.
    def block(x, n):
        x = tf.layers.dense(x, n)
        return tf.layers.dropout(x, 0.1, training=training)

    net = block(features, 8)
    net = block(net, n=4)
    logits = tf.layers.dense(net, 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


estimator = tf.estimator.Estimator(model_fn)
"""


def test_a_function_inside_of_a_model_fn_is_a_class_beside_the_model() -> None:
    after, _ = migrated(whole(LOCAL))
    assert "# A layer that may forget.\nclass Block(tf.keras.layers.Layer):\n" in after
    assert "self.block = Block(8)\n" in after and "self.block_1 = Block(n=4)\n" in after
    assert "net = self.block_1(net, training=training)\n" in after


OFTEN = "a layer is made where it cannot be determined how often"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    net = block(net, n=4)", "    for f in [block]:\n        net = f(net, n=4)", OFTEN),
        ("    net = block(net, n=4)", "    net = (lambda: block(net, n=4))()", OFTEN),
        ("    def block(", "    @functools.lru_cache\n    def block(", OFTEN),
        ("    def block(x, n)", "    def block(x, n, *more)", "block takes `*` or `**`"),
        ("    # A layer", "    block = None\n    # A layer", OFTEN),
    ],
)
def test_a_function_inside_that_is_handed_on_stays(old: str, new: str, reason: str) -> None:
    program = LOCAL.replace(old, new)
    assert program != LOCAL
    stays(whole(program), reason)


def test_what_is_said_names_lines_of_the_program_as_it_was() -> None:
    program = HEAD + PARTS + TAIL
    (file,) = run(program).files
    assert file.before == program
    lines = program.splitlines()
    places = {f.message: lines[f.line - 1][f.column - 1 :] for f in file.findings}
    assert places["the Estimator is a Keras model"].startswith("tf.estimator.Estimator(model_fn)")


def test_other_programs_of_a_run_are_as_they_were() -> None:
    stays = HEAD + PARTS + "estimator.get_variable_value('x')\n"
    program = HEAD + PARTS + TAIL
    files = [("program.py", program), ("other.py", stays), ("empty.py", "import tensorflow\n")]
    result = run(*files)
    changed = {str(file.path): file.after for file in result.files if file.changed}
    assert list(changed) == ["program.py"]
    assert "get_train_op" not in (changed["program.py"] or "")
    (other,) = (file for file in result.files if str(file.path) == "other.py")
    assert other.before == stays
    assert any("`get_variable_value`" in finding.message for finding in other.findings)


def test_a_program_that_stays_all_the_same_is_as_it_was() -> None:
    program = PARTS + "estimator.export_savedmodel('.', None)\n"
    stays(whole(program), "the EstimatorSpec for PREDICT has no predictions")


def test_in_a_notebook_each_cell_stays_a_cell() -> None:
    cells = ["%matplotlib inline\n" + HEAD, closure().partition("\n\n\nestimator")[0], "rate = 0.2"]
    cells += ["estimator = tf.estimator.Estimator(make_model_fn(16, rate=rate))", TAIL.strip()]
    code = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": c} for c in cells]
    text = json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    result = run(("n.ipynb", text))
    after = [cell["source"] for cell in json.loads(result.files[0].after or text)["cells"]]
    assert after[0].startswith("%matplotlib inline\nimport functools")
    assert after[1].startswith("def model_fn(hidden, rate):\n    model = tf.keras.Sequential([")
    assert after[2:4] == ["rate = 0.2", "estimator = model_fn(hidden=16, rate=rate)"]
    (told,) = [f for f in result.findings if f.message == "the Estimator is a Keras model"]
    assert (told.cell, told.line) == (4, 1)
