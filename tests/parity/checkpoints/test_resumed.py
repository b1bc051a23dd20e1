"""20 steps of 1.15.5, converted, and 20 of the migrated program are 40 of 1.15.5.

What the programs save on 1.15.5 is recorded, by::

    python -m tests.parity.checkpoints.test_resumed
"""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.parity.checkpoints import resumed
from tests.support import migration
from tests.support.parity import convert as run

numpy = pytest.importorskip("numpy")

# 20 steps are two times through the data: who goes on begins with the first batch, too.
ESTIMATOR = """
import sys

import numpy as np
import tensorflow as tf


def input_fn():
    rng = np.random.RandomState(3)
    x = rng.normal(size=(60, 4)).astype(np.float32)
    y = np.sin(x.sum(axis=1, keepdims=True)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(6)


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.layers.dense(features, 5, activation=tf.nn.tanh)
    net = tf.layers.batch_normalization(net, momentum=0.9, training=training)
    net = tf.layers.dense(net, 5, activation=tf.nn.tanh)
    outputs = tf.layers.dense(net, 1, name="outputs")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": outputs})
    loss = tf.losses.mean_squared_error(labels, outputs)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.train.get_or_create_global_step()
    optimizer = OPTIMIZER
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


# Drawn first values differ in their rounding: one that ends near zero looks far off.
config = tf.estimator.RunConfig(
    model_dir="model", save_checkpoints_steps=20, tf_random_seed=1)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, max_steps=int(sys.argv[1]))
"""
# An optimizer of the program's own.
OWN = """

class OwnAdam(tf.train.Optimizer):
    def __init__(self, learning_rate, beta=0.9, name="OwnAdam"):
        super(OwnAdam, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.beta = beta

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            stem = param.name[:-2]
            m = tf.get_variable(
                name=stem + "/mean", shape=param.shape.as_list(), trainable=False,
                initializer=tf.zeros_initializer())
            v = tf.get_variable(
                name=stem + "/squares", shape=param.shape.as_list(), trainable=False,
                initializer=tf.zeros_initializer())
            next_m = self.beta * m + (1.0 - self.beta) * grad
            next_v = 0.99 * v + 0.01 * tf.square(grad)
            next_param = param - self.learning_rate * next_m / (tf.sqrt(next_v) + 1e-3)
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)


def model_fn(features"""
AVERAGE = "/ExponentialMovingAverage"
RTOL = 2e-5  # of a weight's size, after 40 steps, or 60
OPTIMIZERS = {
    "adam": "tf.train.AdamOptimizer(0.02)",
    "sgd": "tf.train.GradientDescentOptimizer(0.05)",
    "momentum": "tf.train.MomentumOptimizer(0.02, 0.9)",
    "momentum_falling": (
        "tf.train.MomentumOptimizer(tf.train.exponential_decay(0.05, step, 5, 0.8), 0.9, "
        "use_nesterov=True)"
    ),
    "adagrad": "tf.train.AdagradOptimizer(0.05)",
    "rmsprop_centered": "tf.train.RMSPropOptimizer(0.01, momentum=0.8, centered=True)",
    "adadelta": "tf.train.AdadeltaOptimizer(2.0, rho=0.9)",
    "ftrl": "tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001)",
}
# Three layers of one shape, whose names are other ones: which is whose, the old program tells.
CANNED = """
import sys

import numpy as np
import tensorflow as tf


def input_fn():
    rng = np.random.RandomState(3)
    x, z = rng.normal(size=(2, 60, 1)).astype(np.float32)
    y = (x + z > 0).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({"x": x, "z": z}, y)).repeat().batch(6)


columns = [tf.feature_column.numeric_column("x"), tf.feature_column.numeric_column("z")]
config = tf.estimator.RunConfig(
    model_dir="model", save_checkpoints_steps=20, tf_random_seed=1)
estimator = tf.estimator.DNNClassifier([6, 6, 6, 6], columns, config=config)
estimator.train(input_fn, max_steps=int(sys.argv[1]))
"""
CANNED_ORDER = [
    f"dnn/{layer}/{part}"
    for layer in (*(f"hiddenlayer_{i}" for i in range(4)), "logits")
    for part in ("kernel", "bias")
]
# What both below do in their session.
LOOP = """\
    sess.run(tf.global_variables_initializer())
    latest = tf.train.latest_checkpoint("model")
    if latest:
        saver.restore(sess, latest)
    for i in range(sess.run(step), int(sys.argv[1])):
        batch = slice(6 * (i % 10), 6 * (i % 10) + 6)
        sess.run(train_op, feed_dict={x: data[batch], y: wanted[batch]})
        if (i + 1) % 20 == 0:
            saver.save(sess, os.path.join("model", "model.ckpt"), global_step=step)
"""
SESSION = (
    """
import os
import sys

import numpy as np
import tensorflow as tf

tf.set_random_seed(1)  # how much rounding there is depends on it
rng = np.random.RandomState(3)
data = rng.normal(size=(60, 4)).astype(np.float32)
wanted = np.sin(data.sum(axis=1, keepdims=True)).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(x, 5, activation=tf.nn.tanh)
scale = tf.get_variable("scale", [5], initializer=tf.ones_initializer())
outputs = tf.layers.dense(hidden * scale, 1, name="outputs")
loss = tf.reduce_mean(tf.square(outputs - y))
step = tf.Variable(0, trainable=False, name="global_step")
optimizer = OPTIMIZER
train_op = optimizer.minimize(loss, global_step=step)
saver = tf.train.Saver()

with tf.Session() as sess:
"""
    + LOOP
)
TOWERS = (
    """
import os
import sys

import numpy as np
import tensorflow as tf

tf.set_random_seed(1)  # how much rounding there is depends on it
rng = np.random.RandomState(3)
data = rng.normal(size=(60, 4)).astype(np.float32)
wanted = np.sin(data.sum(axis=1, keepdims=True)).astype(np.float32)


def average_gradients(tower_grads):
    average_grads = []
    for grad_and_vars in zip(*tower_grads):
        grads = [tf.expand_dims(g, 0) for g, _ in grad_and_vars]
        grad = tf.reduce_mean(tf.concat(grads, 0), 0)
        average_grads.append((grad, grad_and_vars[0][1]))
    return average_grads


x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
step = tf.train.get_or_create_global_step()
optimizer = OPTIMIZER
xs = tf.split(x, 2)
ys = tf.split(y, 2)
tower_grads = []
with tf.variable_scope(tf.get_variable_scope()):
    for i in range(2):
        with tf.device("/gpu:%d" % i):
            with tf.name_scope("tower_%d" % i):
                hidden = tf.layers.dense(xs[i], 5, activation=tf.nn.tanh, name="hidden")
                outputs = tf.layers.dense(hidden, 1, name="outputs")
                loss = tf.reduce_mean(tf.square(outputs - ys[i]))
                tf.get_variable_scope().reuse_variables()
                tower_grads.append(optimizer.compute_gradients(loss))
train_op = optimizer.apply_gradients(average_gradients(tower_grads), global_step=step)
saver = tf.train.Saver()

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
"""
    + LOOP
)
# A network that is there twice, the second time with the averages of its variables; what is not
# trained has two variables of one shape.
AVERAGES = """
import sys

import numpy as np
import tensorflow as tf


def input_fn():
    rng = np.random.RandomState(3)
    x = rng.normal(size=(60, 4)).astype(np.float32)
    y = np.sin(x.sum(axis=1, keepdims=True)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(6)


def network(features, mode, reuse=None, getter=None):
    with tf.variable_scope("net", reuse=reuse, custom_getter=getter):
        window = np.full(4, 0.8)
        window = tf.Variable(window, dtype=tf.float32, trainable=False)
        net = tf.layers.dense(features * window, 5, activation=tf.nn.tanh)
        net = tf.layers.dense(net, 5, activation=tf.nn.tanh)
        outputs = tf.layers.dense(net, 1)
    return outputs


def averaged(ema):

    def _getter(getter, name, *args, **kwargs):
        variable = getter(name, *args, **kwargs)
        average = ema.average(variable)
        return average if average else variable

    return _getter


def model_fn(features, labels, mode):
    outputs = network(features, mode)
    variables = tf.get_collection("trainable_variables", "net")
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema_op = ema.apply(variables)
    outputs_ema = network(features, mode, reuse=True, getter=averaged(ema))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": outputs, "ema": outputs_ema})
    loss = tf.losses.mean_squared_error(labels, outputs)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"error": tf.metrics.mean_squared_error(labels, outputs_ema)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    with tf.control_dependencies([ema_op]):
        train_op = tf.train.AdamOptimizer(0.02).minimize(
            loss, global_step=tf.train.get_or_create_global_step(), var_list=variables
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


config = tf.estimator.RunConfig(
    model_dir="model", save_checkpoints_steps=20, tf_random_seed=4)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, max_steps=int(sys.argv[1]))
"""
LAYERS = [f"net/dense{n}/{word}" for n in ("", "_1", "_2") for word in ("kernel", "bias")]
AVERAGES_ORDER = ["net/Variable", *LAYERS, "net_1/Variable"]
MOVED = """update_op = UPDATE
ema = tf.train.ExponentialMovingAverage(0.9, step)
with tf.control_dependencies([update_op]):
    train_op = ema.apply(tf.trainable_variables())
"""
COPIES = """
import sys

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.utils import multi_gpu_model

x = np.random.RandomState(0).rand(64, 8).astype(np.float32)
y = np.random.RandomState(1).randint(0, 3, 64)

inputs = layers.Input(shape=(8,))
net = layers.Dense(16, activation='relu')(inputs)
net = layers.BatchNormalization()(net)
net = layers.Dense(16, activation='relu')(net)
outputs = layers.Dense(3, activation='softmax')(net)
model = keras.Model(inputs, outputs)

parallel_model = multi_gpu_model(model, gpus=2)
parallel_model.compile(loss='sparse_categorical_crossentropy', optimizer='sgd')
if sys.argv[1].endswith('.h5'):
    parallel_model.load_weights(sys.argv[1])
else:
    parallel_model.fit(x, y, epochs=2, batch_size=16, shuffle=False)
    parallel_model.save_weights('copies.h5')
    parallel_model.save('whole.h5')
np.save('predicted.npy', parallel_model.predict(x, batch_size=16))
"""


def with_averages(text: str) -> str:
    """A session's program that moves averages of its variables as well."""
    (update,) = re.findall("^train_op = (.*)$", text, re.M)
    return text.replace(f"train_op = {update}\n", MOVED.replace("UPDATE", update))


COUNTED = "train_op = tf.group(optimizer.minimize(loss), step.assign(step + 1))"
PROGRAMS = {
    **{name: ESTIMATOR.replace("OPTIMIZER", text) for name, text in OPTIMIZERS.items()},
    "own_optimizer": ESTIMATOR.replace("\n\ndef model_fn(features", OWN)
    .replace("OPTIMIZER", "OwnAdam(0.02)")
    .replace("train_op = optimizer.minimize(loss, global_step=step)", COUNTED),
    "canned": CANNED,
    "session_adam": SESSION.replace("OPTIMIZER", OPTIMIZERS["adam"]),
    "averages": AVERAGES,
    "session_rmsprop": with_averages(SESSION.replace("OPTIMIZER", OPTIMIZERS["rmsprop_centered"])),
    "towers_momentum": with_averages(TOWERS.replace("OPTIMIZER", OPTIMIZERS["momentum"])),
}
# What is different enough in Keras 3.
NEWEST = (
    "adam", "own_optimizer", "averages", "rmsprop_centered", "session_rmsprop", "towers_momentum"
)  # fmt: skip
# What goes back to 1.15.5: each of the ways in which slots are kept, in each kind of program.
BACK = {
    "tf2.15": ("adam", "momentum", "rmsprop_centered", "canned", "averages", "session_rmsprop"),
    "tf2-latest": ("adam", "averages", "rmsprop_centered", "session_rmsprop", "towers_momentum"),
}
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "checkpoints.md"


def program_of_the_page() -> str:
    found = re.search(r"^```python\n(.*?)^```\n", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    return found[1]


def trained_programs() -> dict[str, str]:
    return {**PROGRAMS, "page": program_of_the_page(), "copies": COPIES}


def test_what_is_recorded_is_of_these_programs():
    again = "record them again: python -m tests.parity.checkpoints.test_resumed"
    assert resumed.recorded_digest() == resumed.digest(trained_programs()), again


@pytest.fixture(scope="module")
def trained(runtime, tmp_path_factory) -> Path:
    runtime("tf1.15")
    folder = tmp_path_factory.mktemp("trained")
    resumed.train(trained_programs(), folder, sorted({*BACK["tf2.15"], *BACK["tf2-latest"]}))
    return folder


@pytest.mark.parametrize(("name", "keys"), [("tf2.15", tuple(PROGRAMS)), ("tf2-latest", NEWEST)])
def test_trained_on_and_back(runtime, trained, tmp_path, name, keys):
    runtime(name)
    programs = {key: migration.migrated(PROGRAMS[key], native_sessions=True)[0] for key in keys}
    bridged = [k for k, text in programs.items() if "CheckpointManager" not in text
               and "RestoreV2" not in text]  # fmt: skip
    assert bridged == []
    programs["adam:weights"] = programs["adam"]  # shows what slots are good for
    options = {
        "adam:weights": {"weights_only": True},
        "canned": {"order": CANNED_ORDER},
        "averages": {"order": AVERAGES_ORDER},
    }
    found = resumed.go_on(name, programs, trained, tmp_path, options)
    averaged = {key: sum(n.endswith(AVERAGE) for n in one["worst"]) for key, one in found.items()}
    wanted = {"averages": 6, "session_rmsprop": 5, "towers_momentum": 4}
    assert {key: number for key, number in averaged.items() if number} == wanted
    for key, one in found.items():
        # What the optimizer keeps under TF1's names is compared, too.
        assert len(one["worst"]) >= (5 if "session" in key or "towers" in key else 10), key
        assert one["state"] == ("names" if key == "session_adam" else "written")
    worst = {key: max(one["worst"].values()) for key, one in found.items()}
    assert worst.pop("adam:weights") > 1e-2
    assert {key: value for key, value in worst.items() if value > RTOL} == {}
    model = trained / "adam" / "model"
    error = resumed.unconverted(name, programs["adam"], model, tmp_path / "unconverted")
    said = "ValueError: a TF1 checkpoint: `migrate-mgpu checkpoint` converts it"
    assert error.splitlines()[-1] == said
    programs = {key: programs[key] for key in BACK[name]}
    found = resumed.go_back(name, programs, trained, tmp_path)
    for key, one in found.items():
        # All that TF1's saver writes, the step and the powers of beta included.
        assert len(one["worst"]) >= 8 and one["worst"]["global_step"] == 0, key
        assert one["step"] == resumed.LAST
    assert "beta1_power" in found["adam"]["worst"]
    worst = {key: max(one["worst"].values()) for key, one in found.items()}
    assert {key: value for key, value in worst.items() if value > RTOL} == {}


@pytest.mark.parametrize(
    ("key", "told"),
    [("canned", CANNED_ORDER[2:-2]), ("averages", [AVERAGES_ORDER[0], AVERAGES_ORDER[-1]])],
)
def test_the_old_program_tells_two_of_one_shape_apart(
    runtime, trained, tmp_path, served, key, told
):
    runtime("tf2.15")
    (tmp_path / "before.py").write_text(PROGRAMS[key], encoding="utf-8")
    after, _ = migration.migrated(PROGRAMS[key])
    (tmp_path / "after.py").write_text(after, encoding="utf-8")
    # It is in the folder, where the old program would find nothing left to train.
    shutil.copytree(trained / key / "model", tmp_path / "model")
    programs = (tmp_path / "before.py", tmp_path / "after.py")
    folders = ("--from", tmp_path / "model", "--to", tmp_path / "new")
    status, out, err = run(*programs, *folders, "--target", "tf2.15", "--", "40")
    assert status == 0, err
    assert "running the old program" in err
    rows = [line.split()[1] for line in out.splitlines() if "by the order in which both" in line]
    assert rows == told


def test_the_page_shows_what_is_printed(runtime, trained, tmp_path, served):
    runtime("tf2.15")
    before = program_of_the_page()
    place = tmp_path / "new"
    place.mkdir()
    (place / "before.py").write_text(before, encoding="utf-8")
    (place / "train.py").write_text(migration.migrated(before)[0], encoding="utf-8")
    programs = (place / "before.py", place / "train.py")
    old, new = trained / "page" / "model", tmp_path / "new_model"
    status, out, err = run(*programs, "--from", old, "--to", new, "--target", "tf2.15")
    assert status == 0, err
    table, end = out[: out.rindex(str(new))], out[out.rindex(str(new)) :]
    assert textwrap.indent(table, "    ") in PAGE.read_text(encoding="utf-8")
    assert "TensorFlow 2.15.1, Keras 2.15.0" in end
    assert (new / "converted.txt").read_text(encoding="utf-8") == table
    assert sorted(path.name.split(".")[0] for path in new.iterdir()) == [
        "checkpoint", "ckpt-20", "ckpt-20", "converted"
    ]  # fmt: skip
    # It is TF2's now.
    status, out, err = run(*programs, "--from", new, "--to", tmp_path / "again")
    assert status == 2 and "is a checkpoint of TF2's" in err
    assert not (tmp_path / "again").exists()
    # And back it has the same bits.
    back = ("--to", tmp_path / "back", "--to-tf1", "--target", "tf2.15")
    status, out, err = run(*programs, "--from", new, *back)
    assert status == 0, err
    assert re.search(r"^Adam/iterations +beta1_power +\[\] +0.9 to the power of 21$", out, re.M)
    assert "back: written for TensorFlow 1.15.5" in out.splitlines()[-1]
    # The tensors' order is of no account.
    (was,) = old.glob("model.ckpt-20.data*")
    words = [
        sorted(path.read_bytes()[i : i + 4] for i in range(0, path.stat().st_size, 4))
        for path in (was, tmp_path / "back" / was.name)
    ]
    assert len(words[0]) > 90 and words[0] == words[1]
    back = ("--to", tmp_path / "again", *back[2:])
    status, out, err = run(*programs, "--from", old, *back)
    assert status == 2 and "is of another kind than" in err
    # Another program's: shapes differ.
    text = (place / "train.py").read_text(encoding="utf-8").replace("Dense(5,", "Dense(6,")
    (place / "wider.py").write_text(text, encoding="utf-8")
    status, out, err = run(place / "before.py", place / "wider.py", "--from", new, *back)
    assert status == 1 and "the checkpoint is not one of this program" in err
    assert not (tmp_path / "again").exists()


def test_a_bridge_has_the_same_files(runtime, trained, tmp_path, served):
    """TF1's go to it, and its own go back, as they are, where all names are there."""
    runtime("tf2.15")
    before, bridge = PROGRAMS["session_adam"], "import tensorflow.compat.v1 as tf"
    after = before.replace("import tensorflow as tf", f"{bridge}\n\ntf.disable_v2_behavior()")
    more = before.replace("saver =", 'tf.get_variable("more", [2])\nsaver =')
    for name, text in (("before", before), ("after", after), ("more", more)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    old, files = tmp_path / "before.py", trained / "session_adam" / "model"
    new, end = tmp_path / "after.py", ("--target", "tf2.15", "--", "40")
    for to_tf1 in ((), ("--to-tf1",)):
        to = tmp_path / f"to{len(to_tf1)}"
        status, out, err = run(old, new, "--from", files, "--to", to, *to_tf1, *end)
        assert status == 0, err
        assert out.startswith("The old program reads" if to_tf1 else "The new program reads")
        for path in files.glob(f"model.ckpt-{resumed.END}.[di]*"):
            assert (to / path.name).read_bytes() == path.read_bytes()
    to = ("--to", tmp_path / "no", "--to-tf1", *end)
    status, out, err = run(tmp_path / "more.py", new, "--from", files, *to)
    assert status == 1 and err.endswith("partner:\n  more [2]\n"), err
    assert not (tmp_path / "no").exists()
    # TF2 has a cell in the names of Keras's recurrent layers: a copy has them.
    cells = after.replace('name="outputs"', 'name="outputs/lstm_cell"')
    (tmp_path / "cells.py").write_text(cells, encoding="utf-8")
    to = ("--to", tmp_path / "cells", *end)
    status, out, err = run(old, tmp_path / "cells.py", "--from", files, *to)
    assert status == 0, err
    rows = dict(line.split()[:2] for line in out.splitlines() if "lstm_cell" in line)
    assert len(rows) == 6
    assert rows["outputs/lstm_cell/kernel/Adam_1"] == "outputs/kernel/Adam_1"
    # And back: what the program itself saves with a cell gets TF1's names.
    python = str(runtime("tf2.15").python)
    place = tmp_path / "trained"
    place.mkdir()
    subprocess.run([python, str(tmp_path / "cells.py"), "20"], cwd=place, check=True)
    to = ("--to", tmp_path / "uncelled", "--to-tf1", *end)
    status, out, err = run(old, tmp_path / "cells.py", "--from", place / "model", *to)
    assert status == 0, err
    rows = dict(line.split()[:2] for line in out.splitlines() if "lstm_cell" in line)
    assert len(rows) == 6
    (was,) = (place / "model").glob("model.ckpt-20.data*")
    words = [
        sorted(path.read_bytes()[i : i + 4] for i in range(0, path.stat().st_size, 4))
        for path in (was, tmp_path / "uncelled" / was.name)
    ]
    assert len(words[0]) > 90 and words[0] == words[1]


@pytest.mark.parametrize(("name", "to"), [("tf2.15", "new.h5"), ("tf2-latest", "new.weights.h5")])
def test_weights_of_copied_models(runtime, trained, tmp_path, served, name, to):
    """1.15's file has the model within another; the migrated program has the model alone."""
    runtime(name)
    (tmp_path / "before.py").write_text(COPIES, encoding="utf-8")
    after, _ = migration.migrated(COPIES)
    assert "MirroredStrategy" in after
    (tmp_path / "after.py").write_text(after, encoding="utf-8")
    programs = (tmp_path / "before.py", tmp_path / "after.py")
    old = ("--from", trained / "copies" / "copies.h5")
    end = ("--target", name, "--devices", "2", "--", "copies.h5")
    status, out, err = run(*programs, *old, "--to", tmp_path / to, *end)
    assert status == 0, err
    table = (tmp_path / f"{to}.txt").read_text(encoding="utf-8")
    assert out.startswith(table) and len(table.splitlines()) == 11  # ten weights
    resumed.serve(name, tmp_path, "after", after, [to])
    wanted = numpy.load(trained / "copies" / "predicted.npy")
    assert abs(numpy.load(tmp_path / "predicted.npy") - wanted).max() < 1e-6
    # A file of the whole model, and a program that names another one: where it uses its model.
    whole = ("--from", trained / "copies" / "whole.h5", "--to", tmp_path / f"whole.{to}")
    status, out, err = run(*programs, *whole, *end[:-1], "else.h5")
    assert status == 0, err
    assert out.startswith(table)
    resumed.serve(name, tmp_path, "after", after, [f"whole.{to}"])
    assert abs(numpy.load(tmp_path / "predicted.npy") - wanted).max() < 1e-6
    if name == "tf2-latest":
        status, out, err = run(*programs, *old, "--to", tmp_path / "other.h5", *end)
        assert status == 1 and "let --to end in .weights.h5" in err
    # Another program's: shapes differ.
    (tmp_path / "after.py").write_text(after.replace("Dense(3,", "Dense(4,"), encoding="utf-8")
    status, out, err = run(*programs, *old, "--to", tmp_path / f"wider.{to}", *end)
    assert status == 1 and "dense_2/kernel has the shape [16, 4]" in err
    assert not (tmp_path / f"wider.{to}").exists()


if __name__ == "__main__":
    resumed.record(trained_programs())
