"""What Keras does otherwise in TF2 is told where its session goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.runtimes import Runtime
from tests.support import servers
from tests.support.migration import after, migrated, run

SAME = Path(__file__).with_name("same_names.py")

PROGRAM = """\
import tensorflow as tf
from tensorflow.keras import layers

{v1}.keras.backend.set_session({v1}.Session(config={v1}.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([{layer}, layers.Dense(1)])
model.compile(tf.keras.optimizers.{optimizer}, "mse")
"""


@pytest.mark.parametrize(
    ("layer", "optimizer", "v1", "told"),
    [
        ("layers.LSTM(4)", "Adam()", "tf", ["its gates"]),
        ("layers.GRU(4)", "RMSprop(0.1)", "tf", ["its gates", "its reset gate"]),
        ("layers.GRU(4, reset_after=True)", "Adam()", "tf", ["its gates"]),
        ("layers.LSTM(4, recurrent_activation='sigmoid')", "Adam()", "tf", []),
        ("layers.SimpleRNN(4)", "Adam()", "tf", []),
        ("layers.LSTM(4)", "RMSprop()", "tf.compat.v1", []),  # TF2's already
    ],
)
def test_what_changes_by_itself(layer: str, optimizer: str, v1: str, told: list[str]) -> None:
    code = PROGRAM.format(layer=layer, optimizer=optimizer, v1=v1)
    result = run(code, bridge=True)
    assert [program.state for program in result.programs] == ["native"]
    found = [
        one.message for one in result.findings if (one.code, one.state) == ("MGPU202", "manual")
    ]
    assert len(found) == len(told)
    assert all(text in message for text, message in zip(told, found))


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("tf.reverse_sequence(t, [2, 1], seq_axis=1)", "native"),
        ("tf.reverse_sequence(t, [2, 1], seq_dim=1)", "native"),
        ("tf.where(t > 5)", "native"),
        ("tf.where(condition=t > 5)", "native"),
        ("tf.log(tf.nn.xw_plus_b(t, t, t))", "native"),
        ("tf.nn.relu_layer(t, t, t)", "native"),
        ("tf.train.get_global_step()", "bridge"),
        ("tf.gradients(t, t)", "bridge"),  # of a graph
        ("tf.where(*t)", "bridge"),
        ("map(tf.where)", "bridge"),  # not seen what it is called with
    ],
)
def test_names_that_stay(call: str, state: str) -> None:
    code = PROGRAM.format(layer="layers.Flatten()", optimizer="Adam()", v1="tf")
    result = run(f"{code}\n\ndef use(t):\n    return {call}\n", bridge=True)
    assert [program.state for program in result.programs] == [state]
    name = call.removeprefix("map(").partition("(")[0].rstrip(")")
    reasons = [one.message for one in result.findings if one.state == "kept"]
    assert bool(reasons) == (state == "bridge")
    assert all(f"runs eagerly in TF2, and `{name}` is TF1's" in reason for reason in reasons)


def test_names_that_only_compute_are_tf2_s() -> None:
    code = PROGRAM.format(layer="layers.Flatten()", optimizer="Adam()", v1="tf")
    use = "\n\ndef use(t, u):\n    return tf.where(t > 5, u, tf.log(u)), tf.where(t, seq_dim=1)\n"
    after = migrated(code + use.replace("tf.where(t, s", "tf.reverse_sequence(t, [2], s"))[0]
    select = "tf.raw_ops.Select(condition=t > 5, x=u, y=tf.math.log(u))"
    assert f"return {select}, tf.reverse_sequence(t, [2], seq_axis=1)\n" in after


@pytest.mark.parametrize(
    ("taken", "stays"),
    [
        ("from memory import K", True),
        ("from memory import *", True),
        ("import memory as m\nprint(memory.K)", True),
        ("import memory", False),
        ("from memory import config\nfrom keras import backend as K", False),
    ],
)
def test_an_import_stays_that_another_module_takes(tmp_path: Path, taken: str, stays: bool) -> None:
    session = "K.set_session(tf.Session(config=tf.ConfigProto()))\nconfig = 1\n"
    memory = f"import tensorflow as tf\nfrom tensorflow.keras import backend as K\n{session}"
    (tmp_path / "memory.py").write_text(memory)
    use = "\nimport tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.fit(K.zeros(1))\n"
    (tmp_path / "train.py").write_text(taken + use)
    paths = sorted(tmp_path.iterdir())
    result = migrate([(str(path), path.read_bytes()) for path in paths], bridge=True, write=True)
    assert {program.state for program in result.programs} == {"native"}
    after = (tmp_path / "memory.py").read_text()
    assert "Session" not in after and ("backend as K" in after) == stays


@pytest.mark.tensorflow
def test_they_do_the_same(runtime: Callable[[str], Runtime]) -> None:
    found = []
    for name in ("tf1.15", "tf2.15", "tf2-latest"):
        found.append(json.loads(servers.alone(runtime(name), SAME).splitlines()[-1]))
    assert found[0] == found[1] == found[2]
    assert all(one[0] for one in found[0])


NOBODYS = """\
import tensorflow as tf

sess = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2))
with tf.device("/cpu:0"):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
"""


def test_a_session_that_nothing_uses_goes() -> None:
    """Keras's own session, which trained in TF1, places softly: no default is written."""
    soft = NOBODYS.replace("=2", "=2, allow_soft_placement=True")
    for text in (NOBODYS, NOBODYS.replace("sess = ", ""), soft):
        found = after(run(text, bridge=True), text)
        assert "tf.config.threading.set_intra_op_parallelism_threads(2)\n" in found
        assert "Session" not in found and "placement(False)" not in found
    plain = NOBODYS.replace("config=tf.ConfigProto(intra_op_parallelism_threads=2)", "")
    assert after(run(plain, bridge=True), plain) == plain.replace("sess = tf.Session()\n", "")


KEPT = {
    "an option of its own": NOBODYS.replace("intra_op_parallelism_threads=2", "OPTION"),
    "it forbids soft placement": NOBODYS.replace("=2", "=2, allow_soft_placement=False"),
    "a graph of its own": NOBODYS.replace("Session(", "Session(graph=tf.Graph(), "),
    "it is used": NOBODYS + "print(sess.run(model.outputs[0], {model.inputs[0]: [[0.0] * 4]}))\n",
    "Keras is first": NOBODYS.replace("\nsess", "\ntf.keras.backend.get_session()\nsess"),
    "it may be opened or not": NOBODYS.replace("sess = ", "if tf:\n    sess = "),
}  # fmt: skip


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_a_session_that_may_do_more_stays(text: str) -> None:
    text = text.replace("OPTION", "log_device_placement=True")
    found = after(run(text, bridge=True), text)
    assert "Session(" in found, found


def test_a_session_that_another_module_takes_stays() -> None:
    for use in ("from model import sess\n\nprint(sess)", "import model\n\nprint(model.sess)"):
        files = ("model.py", NOBODYS), ("train.py", f"{use}\n")
        assert "Session(" in after(run(*files, bridge=True), *files)


LIMITS = """\
import os

import tensorflow as tf


def get_session(fraction):
    threads = os.environ.get("OMP_NUM_THREADS")
    options = tf.GPUOptions(allow_growth=True, per_process_gpu_memory_fraction=fraction)
    if threads:
        return tf.Session(
            config=tf.ConfigProto(gpu_options=options, intra_op_parallelism_threads=int(threads))
        )
    return tf.Session(config=tf.ConfigProto(gpu_options=options))
"""
LAST = "    return tf.Session(config=tf.ConfigProto(gpu_options=options))"
TRAINS = """\
from tensorflow.keras import Sequential, backend, layers

from limits import get_session

backend.set_session(get_session(0.5))
model = Sequential([layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
"""


def _both(limits: str) -> tuple[str, str]:
    files = ("limits.py", limits), ("train.py", TRAINS)
    result = run(*files)
    found = {file.path.name: file.after or file.before for file in result.files}
    return found.get("limits.py", limits), found.get("train.py", TRAINS)


@pytest.mark.parametrize("other", ["", "    else:\n    "])
def test_a_function_of_another_file_makes_one_of_two_sessions(other: str) -> None:
    limits = LIMITS.replace(LAST, f"{other}{LAST}")
    made, trains = _both(limits)
    assert "Session" not in made and "gpu_options" not in made, made
    assert made.count("set_logical_device_configuration") == 1, made
    assert made.rstrip().endswith("set_intra_op_parallelism_threads(int(threads))"), made
    assert "\nget_session(0.5)\nmodel" in trains, trains


def test_a_function_leaves_where_the_other_session_has_options_of_its_own() -> None:
    """Without `return` both sessions' options would be set, one after the other."""
    own = "gpu_options=options, inter_op_parallelism_threads=2))"
    made, _ = _both(LIMITS.replace("gpu_options=options))", own))
    head = "set_intra_op_parallelism_threads(int(threads))\n        return\n"
    assert f"{head}    tf.config.threading.set_inter_op_parallelism_threads(2)" in made, made


def test_a_function_that_makes_one_in_a_loop_stays() -> None:
    looped = LIMITS.replace("    if threads:", "    while threads:")
    assert _both(looped)[0] == looped


def test_a_function_leaves_where_it_would_do_more() -> None:
    more = LIMITS.replace(LAST, f"    print('no threads are told')\n{LAST}")
    made, _ = _both(more)
    head = "set_intra_op_parallelism_threads(int(threads))\n        return\n"
    assert f"{head}    print('no threads are told')" in made, made


def test_a_function_that_may_make_no_session_stays() -> None:
    """`set_session(None)` is an error that TF1 gives."""
    none = LIMITS.replace(LAST, "")
    assert "tf.Session(" in _both(none)[0]


SHARED = """\
import tensorflow as tf

options = tf.GPUOptions(allow_growth=True)
first = tf.Session(config=tf.ConfigProto(gpu_options=options))
print(first.run(tf.constant(1.0)))
second = tf.Session(config=tf.ConfigProto(gpu_options=options, OPTION))
print(second.run(tf.constant(2.0)))
"""


def test_a_part_of_two_configs_moves_with_both_of_them_or_not() -> None:
    both = after(run(text := SHARED.replace("OPTION", "log_device_placement=False")), text)
    assert "GPUOptions" not in both or both.count("gpu_options=options") == 2, both
    kept = after(run(text := SHARED.replace("OPTION", "operation_timeout_in_ms=9")), text)
    assert kept.count("gpu_options=options") == 2 and "GPUOptions" in kept, kept
