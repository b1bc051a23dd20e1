"""Kinds of programs that the hand-written pairs do not show, on real TensorFlow."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from migrate_mgpu.parity.command import command
from tests.support import migration

pytest.importorskip("numpy")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "parity"
RECORD = """
try:
    from migrate_mgpu import record
except ImportError:

    def record(name, value):
        pass
"""
DATA = """
import numpy as np
import tensorflow as tf

data = np.random.RandomState(0).rand(160, 5).astype(np.float32)
labels = (data.sum(axis=1) * 2).astype(np.int32) % 3
"""


@pytest.fixture(autouse=True)
def _records(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "records"))


def judge(programs: list[Path], *options: str) -> dict:
    stdout, stderr = io.StringIO(), io.StringIO()
    command([*map(str, programs), "--json", *options], stdout, stderr, None)
    assert stdout.getvalue(), stderr.getvalue()
    return json.loads(stdout.getvalue())["results"][0]


def texts(folder: Path, before: str, after: str) -> list[Path]:
    (folder / "p").mkdir()
    programs = [folder / "p" / "before.py", folder / "p" / "after.py"]
    for program, text in zip(programs, (before, after)):
        program.write_text(text)
    return programs


def rung(found: dict, number: int) -> dict:
    return found["rungs"][number - 1]


ESTIMATOR = (
    DATA
    + """

class Clipped(tf.train.MomentumOptimizer):
    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [(tf.clip_by_norm(g, 0.05), v) for g, v in grads_and_vars if g is not None]
        return super(Clipped, self).apply_gradients(pairs, global_step, name)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(tf.layers.dense(features, 7, activation=tf.nn.elu), 3)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = Clipped(0.2, 0.9).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def once():
    return tf.data.Dataset.from_tensor_slices((data, labels)).batch(16)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(lambda: once().repeat(), steps=12)
estimator.evaluate(once)
print(len(list(estimator.predict(once))))
"""
)
TRAIN_STEP = (
    DATA
    + """

class Trained(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(7, activation="elu")
        self.out = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, batch):
        x, y = batch
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients = [tf.clip_by_norm(g, 0.05) for g in gradients]
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return self.compute_metrics(x, y, logits, None)


model = Trained()
entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(tf.keras.optimizers.SGD(0.2, momentum=0.9), entropy)
dataset = tf.data.Dataset.from_tensor_slices((data, labels)).batch(16)
model.fit(dataset.repeat(), steps_per_epoch=12, verbose=0)
model.evaluate(dataset, verbose=0)
print(len(model.predict(dataset, verbose=0)))
"""
)


def test_an_optimizer_of_ones_own_and_a_train_step(runtime, served, tmp_path):
    """An Estimator without a strategy, clipped in apply_gradients; a custom train_step."""
    runtime("tf1.15"), runtime("tf2-latest")
    programs = texts(tmp_path, ESTIMATOR, TRAIN_STEP)
    found = judge(programs, "--devices", "1", "--target", "tf2-latest")
    assert found["verdict"] == "equivalent", found["reason"]
    assert found["target"]["steps"] == [12]
    assert rung(found, 3)["outputs"][0]["detail"] == "16"
    outputs = {o["name"]: o["status"] for o in rung(found, 9)["outputs"]}
    assert outputs["evaluate loss"] == outputs["predict logits"] == "equal"


EAGER = (
    RECORD
    + """
import tensorflow as tf

tf.enable_eager_execution()
data = tf.reshape(tf.range(320.0), [80, 4]) / 320.0
w = tf.Variable(tf.random_uniform([4, 1]), name="w")
b = tf.Variable([0.5], name="b")
optimizer = tf.train.GradientDescentOptimizer(0.1)
for batch in tf.data.Dataset.from_tensor_slices(data).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(batch, w) + b - 1.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
    record("squares", w.numpy() ** 2)
record("count", 10)
"""
)
REPLICAS = (
    RECORD
    + """
import tensorflow as tf

data = tf.reshape(tf.range(320.0), [80, 4]) / 320.0
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    unused = tf.Variable(tf.zeros([4, 1]), name="w"), tf.Variable([0.0], name="b")
    w = tf.Variable(tf.ones([4, 1]), name="w")
    b = tf.Variable([0.0], name="b")
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([w, b])


def replica_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(batch, w) + b - 1.0))
        loss = loss / strategy.num_replicas_in_sync
    gradients = tape.gradient(loss, [w, b])
    optimizer.apply_gradients(zip(gradients, [w, b]))


@tf.function
def train_step(batch):
    strategy.run(replica_step, args=(batch,))
    record("squares", w.read_value() ** 2)


dataset = tf.data.Dataset.from_tensor_slices(data).batch(8)
for batch in strategy.experimental_distribute_dataset(dataset):
    train_step(batch)
record("count", tf.constant(10))
"""
)


def test_eager_loops_on_four_devices_with_records(runtime, served, tmp_path):
    """TF1's eager mode, outside of functions; strategy.run without a Keras model, and with
    variables of the same names and shapes that are never trained."""
    runtime("tf1.15"), runtime("tf2.15")
    programs = texts(tmp_path, EAGER, REPLICAS)
    found = judge(programs, "--devices", "4")
    assert found["verdict"] == "equivalent", found["reason"]
    assert rung(found, 3)["outputs"][0]["detail"] == "8"
    outputs = {o["name"]: o["status"] for o in rung(found, 9)["outputs"]}
    assert outputs["record squares"] == outputs["record count"] == "equal"


BRIDGE = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable("w", [3, 2])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        _, value = sess.run([train, loss], {x: [[1.0, 2.0, step]] * 4})
        print("loss %.6f" % value)
"""


def test_a_bridge_on_the_newest(runtime, served, tmp_path):
    runtime("tf1.15"), runtime("tf2-latest")
    programs = texts(tmp_path, BRIDGE, BRIDGE)
    found = judge(programs, "--devices", "1", "--target", "tf2-latest")
    assert found["verdict"] == "equivalent", found["reason"]
    assert [one["status"] for one in found["rungs"]] == ["equal"] * 9


PHASES = """
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
code = tf.layers.dense(x, 2, name="code")
rows = tf.reduce_mean(tf.square(tf.layers.dense(code, 3, name="rows") - x))
label = tf.reduce_mean(tf.square(tf.layers.dense(code, 1, name="label") - 1.0))
first = tf.train.GradientDescentOptimizer(0.1).minimize(rows)
second = tf.train.GradientDescentOptimizer(0.1).minimize(label)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for train in (first, second):
        for step in range(5):
            sess.run(train, {x: [[1.0, 2.0, step]] * 4})
"""
TRAINED_LATER = """
import numpy as np
import tensorflow as tf

code = tf.keras.layers.Dense(2, name="code")
rows, label = (tf.keras.layers.Dense(n, name=name) for n, name in ((3, "rows"), (1, "label")))
code.build([None, 3])
for layer in (rows, label):
    layer.build([None, 2])


def of_rows(x):
    return tf.reduce_mean(tf.square(rows(code(x)) - x))


def of_label(x):
    return tf.reduce_mean(tf.square(label(code(x)) - 1.0))


def training(loss_of, head):
    optimizer = tf.keras.optimizers.SGD(0.1)
    weights = code.trainable_weights + head.trainable_weights
    optimizer.build(weights)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

    return train_step


for train_step in (training(of_rows, rows), training(of_label, label)):
    for step in range(5):
        train_step(np.array([[1.0, 2.0, step]] * 4, np.float32))
"""


def test_both_programs_are_stopped_at_the_same_step(runtime, served, tmp_path):
    """What is trained later counts as well: a graph has its train op from the start."""
    runtime("tf1.15"), runtime("tf2.15")
    programs = texts(tmp_path, PHASES, TRAINED_LATER)
    found = judge(programs, "--devices", "1", "--steps", "3")
    assert found["verdict"] == "equivalent", found["reason"]
    assert found["reference"]["steps"] == found["target"]["steps"] == [3, 3]
    programs[1].write_text(TRAINED_LATER.replace("- 1.0", "- 2.0"))
    found = judge(programs, "--devices", "1", "--steps", "3")
    assert found["verdict"] == "not equivalent"


def test_dropout_and_draws(runtime, served):
    """Switched off they agree as with the mask; kept as they are, they cannot."""
    runtime("tf1.15"), runtime("tf2.15")
    programs = [FIXTURES / "gan" / name for name in ("before.py", "after.py")]
    options = ["--devices", "1", "--steps", "3"]
    off = judge(programs, *options, "--dropout", "off")
    assert off["verdict"] == "equivalent", off["reason"]
    assert off["reference"]["pins"]["dropout"] == "switched off"
    assert off["target"]["pins"]["random"].startswith("normal and uniform draws")
    kept = judge(programs, *options, "--dropout", "keep")
    assert (kept["verdict"], kept["headline"]) == ("not equivalent", 4)
    assert "random" not in kept["target"]["pins"]
    assert "RandomStandardNormal" in kept["reference"]["pins"]["random_operations"]


TEXTS = """
import numpy as np
import tensorflow as tf

features = {"colour": np.array(["red", "blue"] * 32), "size": np.arange(64.0)}
data = tf.data.Dataset.from_tensor_slices((features, np.arange(64.0))).batch(16)


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, features):
        red = tf.cast(tf.reshape(features["colour"], [-1, 1]) == "red", tf.float32)
        return self.dense(tf.concat([red, tf.reshape(features["size"], [-1, 1]) / 64.0], axis=1))


model = Model()
model.compile("sgd", "mse")
model.fit(data, verbose=0)
print(model.evaluate(data, verbose=0))
"""


def test_a_model_whose_first_input_is_a_text(runtime, served, tmp_path):
    """It has no sum; the first one of numbers is looked at."""
    runtime("tf2.15")
    programs = texts(tmp_path, TEXTS, TEXTS.replace("arange(64.0)}", "arange(64.0)[::-1]}"))
    sides = ("--devices", "1", "--reference", "tf2.15", "--target", "tf2.15")
    assert judge([programs[0], programs[0]], *sides)["verdict"] == "equivalent"
    found = judge(programs, *sides)
    assert found["verdict"] == "not equivalent"
    assert rung(found, 4)["status"] == "differs"


SHOWN = """
import numpy as np
import tensorflow as tf

data = np.random.RandomState(0).rand(6, 8, 3).astype("float32")
w = tf.Variable([[0.1], [0.2], [0.3]])
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build([w])


@tf.function
def differentiate(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w - 1.0))
    return loss, tape.gradient(loss, [w])


@tf.function
def apply(gradients):
    optimizer.apply_gradients(zip(gradients, [w]))


for step, x in enumerate(data):
    loss, gradients = differentiate(x)
    if step % 3:
        apply(gradients)
    else:
        optimizer.apply_gradients(zip(gradients, [w]))
    if SHOWS and step % 2:
        print("shown", differentiate(x)[1][0].numpy().sum())
print(w.numpy())
"""


def test_gradients_that_nothing_applies_are_no_step(runtime, served, tmp_path):
    """They are shown. Those that a function gives to who applies them are of a step."""
    runtime("tf2.15")
    text = SHOWN.replace("SHOWS", "False"), SHOWN.replace("SHOWS", "True")
    sides = ("--devices", "1", "--reference", "tf2.15", "--target", "tf2.15")
    found = judge(texts(tmp_path, *text), *sides)
    assert found["reference"]["steps"] == found["target"]["steps"] == [6]
    assert rung(found, 7)["status"] == rung(found, 8)["status"] == "equal"


READING = (
    DATA
    + """

def input_fn(batch=16, epochs=3):
    print("* data: batches of %d" % batch)
    return tf.data.Dataset.from_tensor_slices((data, labels)).repeat(epochs).batch(batch)


def model_fn(features, labels, mode):
    print("layers", [7, 3])
    logits = tf.layers.dense(tf.layers.dense(features, 7, activation=tf.nn.elu), 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.GradientDescentOptimizer(0.2)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


print("TensorFlow", tf.__version__)
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn)
results = estimator.evaluate(lambda: input_fn(80, 1))
print("loss %.5f of %d" % (results["loss"], 160))
print("the end")
"""
)


def test_what_is_no_result_is_told_and_what_comes_after_it_compared(runtime, served, tmp_path):
    """A version, and what an Estimator's functions print when it calls them."""
    runtime("tf1.15"), runtime("tf2.15")
    migrated, _ = migration.migrated(READING)
    assert "tf.keras" in migrated and "tf.estimator" not in migrated
    changes = {
        "equivalent": ("", ""),
        "'loss 1.0": ("% (results", "% (1.01 * results"),
        "became 'end of output'": ('print("the end")', ""),
        "became 'new'": ('print("the end")', 'print("new")\nprint("the end")'),
    }
    for number, (seen, (old, new)) in enumerate(changes.items()):
        place = tmp_path / str(number)
        place.mkdir()
        found = judge(texts(place, READING, migrated.replace(old, new)))
        outputs = rung(found, 9)["outputs"]
        told = [o["detail"] for o in outputs if o.get("told")]
        assert "'TensorFlow 1.15.5' became 'TensorFlow 2.15" in told[0] and "a version" in told[0]
        assert "where TensorFlow builds a graph" in told[1]
        if old:
            assert (found["verdict"], found["headline"]) == ("not equivalent", 9)
            assert seen in found["reason"]
        else:
            assert found["verdict"] == seen, found["reason"]


SHAPES = """
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(4)


def made():
    return tf.Variable(rng.randn(3, 3).astype("float32"), name="matrix")


def train(step):
    data = np.linspace(-1, 1, 24).reshape(8, 3).astype("float32")
    for number in range(4):
        print("step %d: %.5f" % (number, step(data, np.sin(data))))

"""
OLD = (
    SHAPES
    + """
x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
first, second = made(), made()
loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, first)), second) - y))
op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())
train(lambda a, b: session.run([loss, op], {x: a, y: b})[0])
"""
)
NEW = (
    SHAPES
    + """
first, second = made(), made()
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
optimizer.build([first, second])


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, first)), second) - y))
    gradients = tape.gradient(loss, [first, second])
    optimizer.apply_gradients(zip(gradients, [first, second]))
    return loss


train(step)
"""
)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "said"),
    [
        (
            "first",
            "unused, first",
            "equivalent",
            "is made in the target alone, and nothing uses it",
        ),
        (
            "unused, first",
            "first",
            "equivalent",
            "is made in the reference alone, and nothing uses it",
        ),
        ("first", "matmul(x, second)), first)", "not equivalent", None),
    ],
)
def test_a_variable_that_nothing_uses(runtime, served, tmp_path, before, after, verdict, said):
    runtime("tf1.15"), runtime("tf2.15")
    programs = [OLD, NEW]
    for number, names in enumerate((before, after)):
        if names.startswith("unused"):
            old, new = "first, second = made()", f"{names}, second = made(), made()"
            programs[number] = programs[number].replace(old, new)
        elif names.startswith("matmul"):
            programs[number] = programs[number].replace("matmul(x, first)), second)", names)
    found = judge(texts(tmp_path, *programs))
    assert found["verdict"] == verdict, found["reason"]
    told = [o["detail"] for o in rung(found, 2)["outputs"] if o.get("told")]
    assert [said in text for text in told] == [True] * bool(said)
    assert verdict == "equivalent" or found["headline"] == 4
