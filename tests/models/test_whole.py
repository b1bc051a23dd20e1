"""Whole programs through the tool: converted in all parts, or left with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.run.migrate import migrate
from tests.models.whole import HEAD
from tests.support.migration import migrated, stays


def test_a_module_that_needs_no_change_is_not_written(tmp_path: Path) -> None:
    """It is read for its names, and belongs to the program all the same."""
    (tmp_path / "data.py").write_text("import tensorflow as tf\n\nTYPES = (tf.float32,)\n")
    driving = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn, steps=2)\n"
    train = HEAD + "import data\n\n" + driving
    (tmp_path / "train.py").write_text(train)
    contents = [(str(path), path.read_bytes()) for path in sorted(tmp_path.iterdir())]
    result = migrate(contents, bridge=False, write=True)
    assert [program.state for program in result.programs] == ["native"]
    assert "TYPES" in (tmp_path / "data.py").read_text()
    assert ".fit(" in (tmp_path / "train.py").read_text()


def test_a_model_that_only_predicts() -> None:
    text = HEAD.replace("loss=loss, train_op=train_op", "predictions=predictions")
    text += "estimator = tf.estimator.Estimator(model_fn)\n"
    text = text.replace(".repeat()", "")
    text += "for row in estimator.predict(input_fn):\n    print(row)\n"
    after, said = migrated(text)
    assert "return model\n" in after and "optimizer" not in after.lower(), said
    assert said.count("nothing uses this value; it is left out") == 3


TRAINER = """
class Trainer(object):
    def __init__(self):
        self.estimator = tf.estimator.Estimator(model_fn)

    def train(self, steps):
        self.estimator.train(input_fn, steps=steps)
        return self.estimator.evaluate(input_fn, steps=2)


trainer = Trainer()
"""


def test_an_attribute_that_is_used_outside_of_its_class() -> None:
    after, _ = migrated(f'{HEAD}{TRAINER}print(trainer.estimator.evaluate(input_fn)["loss"])\n')
    assert "trainer.estimator.evaluate(input_fn(), return_dict=True, verbose=0)" in after


def test_an_attribute_of_something_that_may_be_of_its_class() -> None:
    text = f"{HEAD}{TRAINER}for one in [trainer]:\n    one.estimator.evaluate(input_fn)\n"
    stays(text, "it may be another Estimator here")


def test_an_attribute_of_the_same_name_of_another_class() -> None:
    other = "\n\nclass Other(object):\n    def __init__(self, estimator):\n"
    other += (
        "        self.estimator = estimator\n\n\nother = Other(3)\nprint(other.estimator + 1)\n"
    )
    assert ".fit(" in migrated(f"{HEAD}{TRAINER}trainer.train(3){other}")[0]
    other = other.replace("(object)", "(Trainer)")
    stays(f"{HEAD}{TRAINER}trainer.train(3){other}", "how the Estimator is used here")


def test_what_a_method_returns_may_be_asked_for_the_step() -> None:
    after, _ = migrated(f'{HEAD}{TRAINER}print(trainer.train(5)["global_step"])\n')
    assert "global_step=int(self.estimator.optimizer.iterations.numpy()))" in after


def test_an_estimator_that_a_method_gives() -> None:
    text = HEAD + TRAINER.replace(
        "trainer =", "    def get(self):\n        return self.estimator\n\n\ntrainer ="
    )
    stays(f"{text}trainer.get().train(input_fn, steps=5)\n", "how the Estimator is used here")


MEAN = "tf.losses.mean_squared_error(labels, outputs)"
REPLICAS = "tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())"


@pytest.mark.parametrize(
    ("loss", "sums"),
    [
        ("tf.reduce_sum(tf.square(labels - outputs))", True),
        ("tf.reduce_sum(tf.square(labels - outputs)) / 4", True),
        ("tf.nn.l2_loss(labels - outputs)", True),
        (MEAN[:-1] + ", reduction=tf.losses.Reduction.SUM)", True),
        ("tf.reduce_mean(tf.reduce_sum(tf.square(labels - outputs), axis=1))", False),
        (
            "tf.reduce_sum(tf.square(labels - outputs)) / tf.cast(tf.size(labels), tf.float32)",
            False,
        ),
    ],
)
def test_a_sum_over_the_batch_is_for_one_replica(loss: str, sums: bool) -> None:
    """Measured: on two replicas its evaluation is half of what it was."""
    head = HEAD.replace(MEAN, loss)
    made = "estimator = tf.estimator.Estimator(model_fn{})\nestimator.train(input_fn, steps=2)\n"
    assert ".fit(" in migrated(head + made.format(""))[0]
    text = head + made.format(f", config={REPLICAS}")
    if sums:
        stays(
            text, "several replicas would have a different loss, because it is the sum over a batch"
        )
    else:
        assert ".fit(" in migrated(text)[0]


@pytest.mark.parametrize("loss", [f"tf.sqrt({MEAN})", f"{MEAN} * {MEAN}", f"tf.exp(-{MEAN})"])
def test_a_loss_that_is_no_mean_is_for_one_replica(loss: str) -> None:
    """An evaluation takes the mean over the replicas' parts of a batch."""
    head = HEAD.replace(MEAN, loss)
    made = "estimator = tf.estimator.Estimator(model_fn{})\nestimator.train(input_fn, steps=2)\n"
    assert ".fit(" in migrated(head + made.format(""))[0]
    reason = (
        "several replicas would have a different loss, because it is not the mean over the examples"
    )
    stays(head + made.format(f", config={REPLICAS}"), reason)


def test_a_file_without_a_name_for_tensorflow() -> None:
    """What is written says `tf`: parts that are imported by name do not give it."""
    names = "data, estimator, layers, losses, train"
    parts = HEAD.replace("import tensorflow as tf", f"from tensorflow import {names}")
    text = "est = estimator.Estimator(model_fn)\nest.train(input_fn, steps=5)\n"
    stays(f"{parts.replace('tf.', '')}{text}", "program.py has no name for TensorFlow as a whole")
    whole = HEAD.replace("import tensorflow as tf\n", "import tensorflow\n")
    whole = f"{whole}{text.replace('estimator.E', 'tf.estimator.E')}"
    after, _ = migrated(whole.replace("tf.", "tensorflow."))
    assert "tensorflow.keras.Sequential" in after


@pytest.mark.parametrize("name", ["tf", ""])
def test_a_helper_without_a_name_for_tensorflow(name: str) -> None:
    """TF2's form of what it says has one: `tf.get_logger()`."""
    imports = "import tensorflow as tf\n" if name else ""
    helper = f"{imports}from tensorflow import logging\n\n\ndef say(text):\n"
    helper += "    logging.info(text)\n"
    text = HEAD + "import helper\n\nhelper.say('x')\n"
    text += "est = tf.estimator.Estimator(model_fn)\nest.train(input_fn, steps=5)\n"
    if name:
        assert "tf.get_logger().info(text)" in migrated(text, ("helper.py", helper))[0]
    else:
        reason = "helper.py has no name for TensorFlow as a whole"
        stays(text, reason, ("helper.py", helper))


def test_a_keras_program_needs_no_name_for_tensorflow() -> None:
    """Nothing that is written for it says one."""
    text = (
        "from tensorflow import keras\nfrom reader import input_fn\n\n"
        "model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])\n"
        "model.compile('sgd', 'mse')\n"
        "est = keras.estimator.model_to_estimator(model)\nest.train(input_fn, steps=5)\n"
    )
    reader = "import tensorflow as tf\n\n\ndef input_fn():\n"
    reader += "    return tf.data.Dataset.from_tensors(([[1.0]], [[1.0]])).repeat()\n"
    after, _ = migrated(text, ("reader.py", reader))
    assert "model.fit(input_fn(), steps_per_epoch=5" in after


LOOP = """\
    outputs = features
    for units in (4, 1):
        outputs = tf.layers.dense(outputs, units)
"""
OWN = """\
class Net(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.parts = {collection}

    def call(self, x):
        return self.parts[0](x)


"""


@pytest.mark.parametrize(
    ("network", "classes", "kept"),
    [
        (LOOP, "", True),
        ("    outputs = tf.layers.dense(features, 1)\n", "", False),
        (
            "    outputs = Net()(features)\n",
            OWN.format(collection="[tf.keras.layers.Dense(1)]"),
            True,
        ),
    ],
)
def test_layers_of_a_list_are_named_in_a_checkpoint(network: str, classes: str, kept: bool) -> None:
    """Keras 3 leaves them out without a word (semantics.md)."""
    text = HEAD.replace("    outputs = tf.layers.dense(features, 1)\n", network, 1)
    text = text.replace("def model_fn", f"{classes}def model_fn", 1)
    after, messages = migrated(
        text + "estimator = tf.estimator.Estimator(model_fn, 'folder')\n"
        "estimator.train(input_fn, steps=2)\n"
    )
    assert "tf.train.Checkpoint(model=estimator" in after, messages
    assert ("weights=estimator.weights)" in after) is kept
