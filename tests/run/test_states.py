"""One place decides the state that a program ends in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import migrate_mgpu.run
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.run.states import State
from tests.support.migration import after, run, said

RUN = Path(migrate_mgpu.run.__path__[0])
DECIDING = {"refuse", "keep_config"}


def test_nothing_else_changes_a_state() -> None:
    methods = {name for name, one in vars(State).items() if callable(one) and name[0] != "_"}
    assert methods == DECIDING
    for path in [p for p in RUN.parent.rglob("*.py") if p != RUN / "states.py"]:
        text = path.read_text("utf-8")
        if path.parent != RUN and not any(word in text for word in DECIDING):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in DECIDING, f"{path}:{node.lineno}"
            if path.parent == RUN and isinstance(node, (ast.Assign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                kinds = [t for t in targets if isinstance(t, ast.Attribute) and t.attr == "kind"]
                assert not kinds, f"{path}:{node.lineno}"


MODEL = """\
import tensorflow as tf


def input_fn():
    return tf.data.Dataset.from_tensors((tf.ones([8, 4]), tf.zeros([8, 1]))).repeat()


def model_fn(features, labels, mode):
    out = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train():
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=100)
"""
RUNS = "import model\n\nmodel.train()\n"
WITH_TF1 = "import tensorflow as tf\nimport model\n\nmodel.train()\nprint(tf.get_default_graph())\n"


def test_an_estimator_that_one_program_keeps_stays_in_all() -> None:
    """Whichever of the programs is looked at first."""
    for names in (("a.py", "b.py"), ("b.py", "a.py")):
        files = [("model.py", MODEL), *zip(names, (RUNS, WITH_TF1))]
        result = run(*sorted(files), bridge=True)
        assert [program.state for program in result.programs] == ["bridge", "bridge"]
        assert "tf.estimator.Estimator(model_fn)" in after(result, *files)
        assert any("`tf.get_default_graph` is TF1 API" in one for one in said(result))


KEPT = """\
import tensorflow as tf

estimator = tf.estimator.BaselineRegressor()
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0])), steps=1)
"""


def test_an_estimator_that_stays_runs_on_2_15() -> None:
    """Only TF1's: TF 2.0 to 2.15 have Estimators, with other defaults, for code of their own."""
    result = run(KEPT, bridge=True)
    assert [one.state for one in result.programs] == ["refused"]
    assert after(result, KEPT) == KEPT
    later = KEPT + "tf.compat.v1.logging.info('trained')\n"
    assert after(run(later, bridge=True), later) == later
    text = KEPT + "tf.logging.info('trained')\n"
    result = run(text, bridge=True)
    assert [(one.state, one.runs_on) for one in result.programs] == [("bridge", "TF 2.15")]
    assert [one.state for one in result.findings if one.code == "MGPU401"] == ["kept"]
    bridge = after(result, text)
    again = run(bridge, bridge=True)
    assert [(one.state, one.runs_on) for one in again.programs] == [("bridge", "TF 2.15")]
    assert after(again, bridge) == bridge


SUPERVISED = """\
import tensorflow as tf

w = tf.get_variable("w", [2])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
"""


OF_TF2 = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.keras.layers.Dense(1)(features) - labels)
    seen = tf.compat.v1.get_variable("seen", [])
    with tf.control_dependencies([tf.compat.v1.assign_add(seen, 1.0)]):
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.train.AdamOptimizer().minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(lambda: tf.data.Dataset.range(3))
"""


def test_an_estimator_of_tf2_is_a_bridge_as_it_is() -> None:
    result = run(OF_TF2, bridge=True)
    (program,) = result.programs
    assert (program.state, program.runs_on) == ("bridge", "TF 2.15")
    assert not any(file.changed for file in result.files)  # its author means TF2's behaviour
    assert any("something other than the update operations" in one for one in said(result))


@pytest.mark.parametrize(
    "line",
    [
        "print(tf.constant([1]).shape[0].value)",  # a number under TF2's behaviour
        "tf.data.Dataset.range(3).make_one_shot_iterator()",
        "tf.estimator.DNNRegressor([4], [])",  # which loss it has nobody says
        "print(tf.get_default_graph())",
    ],
)
def test_an_estimator_that_may_not_be_tf2s_is_none(line: str) -> None:
    result = run(f"{OF_TF2}{line}\n", bridge=True)
    (program,) = result.programs
    assert program.state == "refused" or any(file.changed for file in result.files), said(result)


def test_programs_whose_session_is_made_for_them_count() -> None:
    """No word of theirs says Session, and they are of TF1 all the same."""
    supervisor = "with tf.train.Supervisor().managed_session() as sess:\n    sess.run(train)\n"
    slim = "tf.contrib.slim.learning.train(train, '.', number_of_steps=3)\n"
    for end in (supervisor, slim):
        result = run(SUPERVISED + end, bridge=True)
        assert [program.state for program in result.programs] == ["bridge"], said(result)


def test_earlier_names_are_gone() -> None:
    """1.15 has them no more than TF2: where they are not renamed, nothing runs the program."""
    text = (
        "import tensorflow as tf\n\nwith tf.Session() as sess:\n    print(sess.run(tf.mul(2, 3)))\n"
    )
    result = run(text, bridge=True, rules=Selection(ignore=("MGPU213",)))
    assert [program.state for program in result.programs] == ["refused"]
    assert any("`tensorflow.mul` does not exist in TF2" in message for message in said(result))
    assert [one.advice for one in result.findings if "tensorflow.mul" in one.message] == [
        "later TensorFlow calls it tf.multiply"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "from tensorflow.g3doc.tutorials.mnist import mnist",
        "import tensorflow.models.rnn",
        "from tensorflow import mul",
        "from tensorflow import no_such_name",
    ],
)
def test_modules_that_no_tensorflow_has(line: str) -> None:
    """An import of them fails on 1.15 and on TF2: the program was said to run there."""
    text = f"import tensorflow as tf\n{line}\n\nprint(tf.Session(config=tf.ConfigProto()))\n"
    result = run(text, bridge=True)
    assert [program.state for program in result.programs] == ["refused"]
    assert any("does not exist in TF2" in message for message in said(result))


@pytest.mark.parametrize(
    "line",
    [
        "from tensorflow.keras import layers",
        "from tensorflow import random",
        "import tensorflow.lite",
    ],
)
def test_modules_that_some_tensorflow_has(line: str) -> None:
    text = f"import tensorflow as tf\n{line}\n\nprint(tf.Session(config=tf.ConfigProto()))\n"
    assert [one.state for one in run(text, bridge=True).programs] == ["bridge"]


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("from tensorflow.python.ops.rnn_cell import _linear", "bridge"),  # before 1.0
        ("from tensorflow.python.ops.rnn_cell import EmbeddingWrapper", "refused"),
        ("from tensorflow.python.ops.rnn import bidirectional_rnn", "bridge"),
        ("from tensorflow.python.ops import seq2seq", "refused"),
        ("from tensorflow.python.platform import logging", "refused"),
        ("from tensorflow.python.training.optimizer import _deduplicate_indexed_slices", "bridge"),
        ("from tensorflow.python.platform import tf_logging", "bridge"),
        ("from tensorflow.python.ops.ref_variable import _to_proto_fn", "bridge"),  # not in 1.15
        ("from tensorflow.python.data import Dataset", "bridge"),
        # Keras's packages: what 1.15 imported into them, and their modules.
        ("from tensorflow.python.keras.utils import GeneratorEnqueuer", "refused"),
        ("from tensorflow.python.keras.layers import Wrapper", "refused"),
        ("from tensorflow.python.keras.layers import Dense", "bridge"),
        ("from tensorflow.python.keras.utils import data_utils", "bridge"),
        ("from tensorflow.python.keras.utils.data_utils import get_file", "bridge"),
    ],
)
def test_private_names_that_no_tensorflow_has(line: str, state: str) -> None:
    """The table of 1.15's public names says nothing of them: such a program was called runnable."""
    use = f"print({line.rpartition(' ')[2]}, tf.Session(config=tf.ConfigProto()))"
    text = f"import tensorflow as tf\n{line}\n\n{use}\n"
    assert [one.state for one in run(text, bridge=True).programs] == [state]


@pytest.mark.parametrize(
    ("names", "state"),
    [("RNNCell, GRUCell(3)", "bridge"), ("RNNCell, _Linear", "refused")],
)
def test_cells_that_a_star_brings(names: str, state: str) -> None:
    """All three TensorFlows have the module, with the cells that `tf.nn.rnn_cell` has."""
    text = (
        "import tensorflow as tf\nfrom tensorflow.python.ops.rnn_cell import *\n"
        f"print({names}, tf.Session(config=tf.ConfigProto()))\n"
    )
    result = run(text, bridge=True)
    assert [one.state for one in result.programs] == [state]
    if state == "bridge":
        assert "from tensorflow.python.ops.rnn_cell import *" in after(result, text)


BUILT = """\
import tensorflow as tf{more}


class Network(tf.keras.Model):
    def call(self, inputs):
        return inputs


x = tf.placeholder(tf.float32, [None, 3])
network = Network()
y = network(x)
{line}
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    sess.run(y, {{x: [[1.0, 2.0, 3.0]]}})
"""


WHERE = "TF 2.15; newest TF with tf-keras and TF_USE_LEGACY_KERAS=1"  # Keras 3: no `updates`


def _built(line: str, more: str = "") -> list[tuple[str, str | None]]:
    result = run(BUILT.format(line=line, more=more), bridge=True)
    return [(program.state, program.runs_on) for program in result.programs]


def test_keras_models_that_a_session_trains() -> None:
    """Nothing of them needs Keras's own training: v1 behaviour builds what TF1 built."""
    assert _built("import re; re.compile('a')") == [("bridge", WHERE)]


@pytest.mark.parametrize(
    "line",
    [
        "network.compile('sgd', 'mse'); network.fit([[1.0]], [[1.0]])",
        "network.train_on_batch([[1.0]], [[1.0]])",
        "network.predict([[1.0]])",
        "network.load_weights('w')",
    ],
)
def test_keras_models_that_keras_trains_in_the_graph(line: str) -> None:
    """TF1's names keep it from being native; v1 behaviour trains what TF1 trained."""
    assert _built(line)[0] == ("bridge, config kept", WHERE)  # Keras opens another session
    given = f"{line}\ntf.keras.backend.set_session(None)"
    assert _built(given)[0] == ("bridge", WHERE)


def test_an_estimator_of_a_keras_model_trains_in_the_graph() -> None:
    """TF 2.15 is the last that has Estimators."""
    state, where = _built("tf.keras.estimator.model_to_estimator(network)")[0]
    assert (state, where) == ("bridge, config kept", "TF 2.15")


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("network.predict_classes([[1.0]])", ""),
        ("tf.distribute.MirroredStrategy()", ""),
        ("tape = tf.GradientTape()", ""),
        ("print(y.numpy())", ""),
        ("Sequential()", "\nfrom keras.models import Sequential"),
        ("a = Sequential()", "\nfrom tensorflow.python.keras.models import Sequential"),
    ],
)
def test_keras_models_that_no_graph_trains(line: str, more: str) -> None:
    """Under v1 behaviour strategies and eager code break; another Keras has other layers."""
    assert _built(line, more)[0][0] == "refused"


LOST = """\
import tensorflow as tf

slim = tf.contrib.slim


def net(x):
    return slim.fully_connected(x, 3)
"""
SESSION = """\
import tensorflow as tf

import nets

x = tf.placeholder(tf.float32, [None, 4])
y = nets.net(x)
with tf.Session() as sess:
    print(sess.run(y, {x: [[1, 2, 3, 4]]}))
"""
KERAS = """\
import tensorflow as tf

import nets

head = tf.keras.Sequential([tf.keras.layers.Lambda(nets.net)])
head.compile("sgd", "mse")
"""


def test_names_that_tf2_lost_are_written_beside_a_keras_program() -> None:
    """A Keras program of TF2 keeps TF1 out of its modules, but not where they fail on TF2."""
    files = ("train.py", SESSION), ("other.py", KERAS), ("nets.py", LOST)
    result = run(*files, bridge=True)
    assert [(one.entry.name, one.state) for one in result.programs] == [("train.py", "bridge")]
    assert "contrib" not in after(result, *files)
    assert "import tf_slim as slim" in after(result, *files)
