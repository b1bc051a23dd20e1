"""Modules that Estimator programs share with programs that stay TF1's.

The program is the fixture ``shared_network``, which is proved.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import after, changed, run, said

FIXTURE = Path(__file__).parents[2] / "fixtures" / "estimator" / "shared_network" / "before"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FIXTURE.glob("*.py"))}

# The network's module without what is TF1's for one program alone.
ALONE = FILES["modeling.py"][: FILES["modeling.py"].index("def describe")]
ALONE += FILES["modeling.py"][FILES["modeling.py"].index("class EncoderModel") :]


def planned(*gone: str, **texts: str) -> RunResult:
    """The run of the fixture's files, without some, with other texts of some."""
    files = {**FILES, **{f"{name}.py": text for name, text in texts.items()}}
    return run(*((n, t) for n, t in files.items() if n not in gone), bridge=True)


def states(result: RunResult) -> dict[str, str]:
    return {str(one.entry): one.state for one in result.programs}


def texts(result: RunResult) -> dict[str, str]:
    return {str(file.path): file.after or "" for file in result.files if file.changed}


def test_the_new_form_stands_beside_the_module() -> None:
    result = planned()
    assert states(result) == {"encode.py": "bridge", "main.py": "native", "next_words.py": "native"}
    found = texts(result)
    assert "class EncoderModel(tf.keras.layers.Layer):" in found["modeling_tf2.py"]
    assert "def describe" not in found["modeling_tf2.py"]
    assert "class EncoderModel(object):" in found["modeling.py"]
    assert "import modeling_tf2 as modeling\n" in found["main.py"]
    # Only the names of TensorFlow change in what all of them take.
    assert "data_tf2.py" not in found
    assert any("modeling.py stays as encode.py needs it" in one for one in said(result))
    places = {(str(one.path), one.line) for one in result.findings}
    assert ("main.py", 6) in places
    assert not any("_tf2" in path for path, _ in places)


def test_all_of_a_module_that_no_other_program_has_changes_in_its_place() -> None:
    found = texts(planned("encode.py", modeling=ALONE))
    assert "class ScaledMomentum(tf.keras.optimizers.SGD):" in found["optimization.py"]
    assert not [name for name in found if "_tf2" in name]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import modeling\n", "from modeling import EncoderConfig, EncoderModel, describe\n"),
        ("import modeling\n", "from modeling import *\n"),
        ("import modeling\n", "import modeling as others\n"),
    ],
)
def test_however_the_other_program_imports_it(old: str, new: str) -> None:
    spelled = "others." if " as " in new else ""
    result = planned(encode=FILES["encode.py"].replace(old, new).replace("modeling.", spelled))
    assert states(result)["main.py"] == "native", said(result)
    assert "class EncoderModel(object):" in texts(result)["modeling.py"]


@pytest.mark.parametrize(
    ("imported", "then", "name"),
    [
        ("from modeling import EncoderConfig, EncoderModel, create_initializer\n",
         "from modeling_tf2 import EncoderConfig, EncoderModel, create_initializer\n", ""),
        ("import data, modeling\n", "import data, modeling_tf2 as modeling\n", "modeling."),
        ("import modeling as nets\n", "import modeling_tf2 as nets\n", "nets."),
    ],
)  # fmt: skip
def test_however_the_native_program_imports_it(imported: str, then: str, name: str) -> None:
    text = FILES["main.py"].replace("import modeling\n", imported).replace("modeling.", name)
    result = planned(main=text)
    assert then in texts(result)["main.py"], said(result)
    assert states(result)["main.py"] == "native"


def test_in_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    (folder / "__init__.py").touch()
    own = re.compile(r"^import (?=data|modeling|optimization)", re.M)
    files = [(str(folder / name), own.sub("from nets import ", t)) for name, t in FILES.items()]
    found = texts(run(*files, bridge=True))
    assert "from nets import modeling_tf2 as modeling\n" in found[str(folder / "main.py")]
    assert str(folder / "modeling_tf2.py") in found


def test_a_module_that_imports_one_with_a_form_of_its_own_has_one_too() -> None:
    config = "import modeling\n\n\ndef small(words):\n    return modeling.EncoderConfig(words)\n"
    main = changed(
        FILES["main.py"],
        ("import modeling\n", "import modeling\nimport sizes\n"),
        ("=modeling.EncoderConfig(", "=sizes.small("),
    )
    other = FILES["encode.py"].replace("import modeling\n", "import modeling\nimport sizes\n")
    other = changed(other, ("modeling.EncoderConfig(", "sizes.small("))
    result = planned(sizes=config, main=main, encode=other)
    assert "import modeling_tf2 as modeling\n" in texts(result)["sizes_tf2.py"], said(result)
    assert "import sizes_tf2 as sizes\n" in texts(result)["main.py"]


def test_two_folders_with_modules_of_one_name() -> None:
    files = [(f"{folder}/{name}", text) for folder in "ab" for name, text in FILES.items()]
    files.append(("all.py", "import a.encode\nimport b.encode\nimport a.main\nimport b.main\n"))
    found = texts(run(*files, bridge=True))
    assert {"a/modeling_tf2.py", "b/modeling_tf2.py"} <= found.keys()


def keeps(result: RunResult, reason: str, *programs: str) -> None:
    """Programs stay on the bridge, and it is said why."""
    assert {states(result)[one] for one in programs} == {"bridge"}
    assert any(reason in one for one in said(result)), said(result)
    assert not [name for name in texts(result) if "_tf2" in name]


def test_a_file_of_the_new_name_keeps_the_programs() -> None:
    result = planned(modeling_tf2="WORDS = 3\n")
    assert {"main.py", "next_words.py"}.isdisjoint(
        one for one, state in states(result).items() if state == "native"
    )
    assert any("the Estimator stays" in one for one in said(result))


OTHER = """\
import tensorflow as tf
import classify

made = classify.{}
if __name__ == "__main__":
    session = tf.Session()
"""


def with_other(taken: str) -> RunResult:
    """A program that trains, and one that takes something of it."""
    gone = "encode.py", "main.py", "next_words.py"
    other = OTHER.format(taken)
    return planned(*gone, modeling=ALONE, classify=FILES["main.py"], builds=other)


def test_what_another_program_takes_of_a_program_that_would_change() -> None:
    reason = "its model_fn is made by model_fn_builder"
    keeps(with_other("model_fn_builder"), reason, "classify.py", "builds.py")


def test_what_another_program_takes_of_a_program_that_stays_the_same() -> None:
    result = with_other("input_fn_builder({}, True)")
    assert states(result) == {"classify.py": "native", "builds.py": "bridge"}, said(result)


TRAINS = """\
import tensorflow as tf
import network


def input_fn():
    return tf.data.Dataset.from_tensors((tf.ones([8, 4]), tf.zeros([8], tf.int32))).repeat()


estimator = tf.estimator.Estimator(network.model_fn, "model")
estimator.train(input_fn, steps=3)
"""
NETWORK = """\
import tensorflow as tf


def logits(features):
    return tf.layers.dense(features, 3)


def model_fn(features, labels, mode):
    outputs = logits(features)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def test_programs_of_one_model_read_each_others_checkpoints() -> None:
    other = TRAINS + "print(tf.get_default_graph())\n"
    files = {"network.py": NETWORK, "trains.py": TRAINS, "shows.py": other}
    result = run(*files.items(), bridge=True)
    assert states(result) == {"trains.py": "bridge", "shows.py": "bridge"}
    assert any("`tf.get_default_graph` is TF1 API" in one for one in said(result))
    # The network alone is another matter: it is another model.
    files["shows.py"] = "import tensorflow as tf\nimport network\nnetwork.logits(tf.ones([8, 4]))\n"
    files["shows.py"] += "tf.Session()\n"
    result = run(*files.items(), bridge=True)
    assert states(result) == {"trains.py": "native", "shows.py": "bridge"}, said(result)


def test_programs_that_need_the_network_in_different_forms() -> None:
    # A factor is a tensor of one, and the other does not give it.
    network = changed(
        FILES["modeling.py"],
        ("config, input_ids, scope=None)", "config, input_ids, scope=None, factor=1.0)"),
        ("self.pooled_output = tf.tanh(", "self.pooled_output = factor * tf.tanh("),
    )
    factor = 'features["input_ids"], factor=tf.reduce_mean(features["weights"]))'
    text = changed(FILES["next_words.py"], ('features["input_ids"])', factor))
    result = planned(modeling=network, next_words=text)
    native = [one for one, state in states(result).items() if state == "native"]
    assert native == ["main.py"], said(result)
    assert "import modeling_tf2 as modeling" not in after(result, ("next_words.py", text))


NET = """\
import tensorflow as tf


def net(x, keep):
    def layer(v):
        w = tf.get_variable("w", [3, 3])
        return tf.nn.dropout(tf.matmul(v, w), keep)

    one = layer(x)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        return layer(one)


def loss(y):
    return tf.reduce_mean(tf.square(y))
"""
MAIN = """\
import numpy as np
import tensorflow as tf
import net

x = tf.placeholder(tf.float32, [None, 3])
keep = tf.placeholder(tf.float32, [])
loss = net.loss(net.net(x, keep))
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([loss, step], {x: np.ones([2, 3]), keep: 0.5})[0])
"""


def test_a_program_that_imports_it_by_a_call() -> None:
    """It keeps the module, which has no import statement of its that could name another one."""
    called = changed(MAIN, ("import net\n", 'net = __import__("net")\n'))
    files = ("net.py", NET), ("main.py", MAIN), ("again.py", called)
    result = run(*files, bridge=True, native_sessions=True)
    assert states(result) == {"again.py": "native", "main.py": "native"}, said(result)
    found = texts(result)
    assert "import net_tf2 as net\n" in found["main.py"]
    assert "import net\n" in found["again.py"]
    assert any("net.py stays as again.py needs it" in one for one in said(result))
