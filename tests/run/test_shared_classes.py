"""A class that builds a graph, of whose objects several programs make one each."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.run import named_graphs
from migrate_mgpu.run.migrate import migrate
from tests.support.migration import changed, run, said

MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size], name="x")
        self.rate = tf.placeholder(tf.float32, name="rate")
        self.w = tf.Variable(tf.ones([size, 1]), name="w")
        self.out = tf.matmul(self.x, self.w)
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train_op = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)


def halves(values):
    return [value / 2 for value in values]
"""
TRAIN = """\
import numpy as np
import tensorflow as tf
from model import Model

model = Model(2)
saver = tf.train.Saver(max_to_keep=3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        feed = {model.x: np.ones([3, 2]), model.rate: 0.1}
        print(sess.run([model.train_op, model.loss], feed)[1])
    saver.save(sess, "m.ckpt")
"""
SAMPLE = """\
import numpy as np
import tensorflow as tf
from model import Model


class Sampler(object):
    def __init__(self):
        self.model = Model(2)
        self.session = tf.Session()
        self.saver = tf.train.Saver()

    def restore(self, path):
        self.saver.restore(self.session, path)

    def sample(self, x):
        return self.session.run(self.model.out, feed_dict={self.model.x: x})


if __name__ == "__main__":
    sampler = Sampler()
    sampler.restore("m.ckpt")
    print(sampler.sample(np.ones([1, 2])))
"""


def planned(*files: tuple[str, str]) -> RunResult:
    return run(*files, bridge=True, native_sessions=True)


def states(result: RunResult) -> dict[str, str]:
    return {one.entry.name: one.state for one in result.programs}


def native(*files: tuple[str, str]) -> dict[str, str]:
    """What becomes of programs that are all native."""
    result = planned(*files)
    assert set(states(result).values()) == {"native"}, said(result)
    found = {file.path.name: str(file.after) for file in result.files}
    for name, text in found.items():
        compile(text, name, "exec")
        assert "Session" not in text and "placeholder" not in text
    again = planned(*found.items())
    assert not [file.path for file in again.files if file.changed]
    return found


def keeps(reasons: dict[str, str], *files: tuple[str, str]) -> None:
    """All of these programs stay on the bridge, each for a reason."""
    result = planned(*files)
    assert set(states(result).values()) == {"bridge"}, states(result)
    for name, reason in reasons.items():
        found = [f.message for f in result.findings if f.path.name == name and f.code == "MGPU205"]
        assert any(reason in one for one in found), (name, found)


def apart(reasons: dict[str, str], *files: tuple[str, str]) -> None:
    """`train.py` has a class of its own; the others stay on the bridge, each for a reason."""
    result = planned(*files)
    found = states(result)
    assert found.pop("train.py") == "native" and set(found.values()) == {"bridge"}, states(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "from model_tf2 import Model" in after["train.py"]
    assert "tf.placeholder" in after["model.py"] and "tf.placeholder" not in after["model_tf2.py"]
    for name, reason in reasons.items():
        said = [f.message for f in result.findings if f.path.name == name and f.code == "MGPU205"]
        assert any(reason in one for one in said), (name, said)


def test_a_class_has_the_steps_of_all_its_programs() -> None:
    after = native(("model.py", MODEL), ("train.py", TRAIN), ("sample.py", SAMPLE))
    for name in ("compute_out", "train_step"):
        assert f"        self.{name} = {name}\n" in after["model.py"]
    assert "return self.model.compute_out(x).numpy()" in after["sample.py"]
    assert "model.train_step(np.ones([3, 2])" in after["train.py"] or (
        "model.train_step(**feed)" in after["train.py"]
    )


def test_savers_take_the_variables_of_the_object() -> None:
    after = native(("model.py", MODEL), ("train.py", TRAIN), ("sample.py", SAMPLE))
    assert '        self.checkpoint_variables = {"w": w}\n' in after["model.py"]
    assert "saver = Saver(model.checkpoint_variables, max_to_keep=3)\n" in after["train.py"]
    assert "        self.saver = Saver(self.model.checkpoint_variables)\n" in after["sample.py"]
    assert "        self.saver.restore(path)\n" in after["sample.py"]


def test_steps_have_names_that_none_of_the_modules_has() -> None:
    train = changed(TRAIN, ("for _ in range(2)", "for train_step in range(2)"))
    after = native(("model.py", MODEL), ("train.py", train), ("sample.py", SAMPLE))
    assert "self.train_step" not in after["model.py"]
    assert "self.train_and_compute_loss = " in after["model.py"]


def test_a_program_of_its_own_beside_them() -> None:
    other = changed(TRAIN, ("from model import Model\n", "from own import Model\n"))
    files = ("model.py", MODEL), ("train.py", TRAIN), ("sample.py", SAMPLE)
    after = native(*files, ("own.py", MODEL), ("other.py", other))
    assert "checkpoint_variables" in after["own.py"] + after["other.py"]
    assert "compute_out" not in after["own.py"]


def test_one_that_cannot_be_native_keeps_the_class() -> None:
    sample = changed(SAMPLE, ("self.session.run(self.model.out,", "self.session.run(self.pick(),"))
    reasons = {
        "sample.py": "what `self.pick()` fetches cannot be determined",
    }
    apart(reasons, ("model.py", MODEL), ("train.py", TRAIN), ("sample.py", sample))


def test_one_that_cannot_be_read_with_the_class_keeps_its_own_reason() -> None:
    """That the class has to serve another program is not what keeps it."""
    sample = changed(SAMPLE, ("self.session.run(self.model.out,", "self.session.run(self.pick(),"))
    made = "\n\ndef made():\n    from model import Model\n\n    return Model(2)\n\n\nmodel = made()"
    late = changed(TRAIN, ("from model import Model\n\nmodel = Model(2)", made))
    files = ("model.py", MODEL), ("train.py", TRAIN), ("sample.py", sample)
    reasons = {
        "sample.py": "what `self.pick()` fetches cannot be determined",
    }
    apart(reasons, *files, ("late.py", late))
    result = planned(*files, ("late.py", late))
    (why,) = (f.message for f in result.findings if f.path.name == "late.py" and f.state == "kept")
    assert "has to serve" not in why


def test_a_saver_of_some_variables_keeps_the_class() -> None:
    sample = changed(SAMPLE, ("tf.train.Saver()", "tf.train.Saver([self.model.w])"))
    model = changed(
        MODEL, ("        self.out =", "        self.b = tf.Variable(0.0)\n        self.out =")
    )
    model = changed(model, ("matmul(self.x, self.w)", "matmul(self.x, self.w) + self.b"))
    apart(
        {"sample.py": "what a saver saves"},
        ("model.py", model), ("train.py", TRAIN), ("sample.py", sample),
    )  # fmt: skip


def test_objects_of_another_shape_of_the_class_keep_all() -> None:
    """What is written for one program of a setting would be wrong for the other."""
    model = changed(
        MODEL,
        ("def __init__(self, size):", "def __init__(self, size, training=True):"),
        (
            "        self.loss =",
            "        if not training:\n            return\n        self.loss =",
        ),
    )
    sample = changed(SAMPLE, ("Model(2)", "Model(2, training=False)"))
    result = planned(("model.py", model), ("train.py", TRAIN), ("sample.py", sample))
    assert set(states(result).values()) == {"bridge"}, states(result)


def test_what_serves_a_program_without_tensorflow_still_does() -> None:
    plain = "from model import halves\n\nprint(halves([2, 4]))\n"
    files = ("model.py", MODEL), ("train.py", TRAIN), ("sample.py", SAMPLE)
    result = planned(*files, ("plain.py", plain))
    found = states(result)
    assert found["train.py"] == found["sample.py"] == "native", said(result)


def test_a_program_that_needs_the_class_as_it_is() -> None:
    plain = "from model import Model\n\nprint(Model(2).loss.shape)\n"
    files = ("model.py", MODEL), ("train.py", TRAIN), ("sample.py", SAMPLE)
    apart({}, *files, ("plain.py", plain))


SUMMED = changed(
    MODEL,
    ("\n\n\ndef halves", '\n        tf.summary.scalar("loss", self.loss)\n\n\ndef halves'),
)
SUMMING = changed(
    TRAIN,
    ("saver = tf", "merged = tf.summary.merge_all()\nsaver = tf"),
    ("sess.run([model.train_op, model.loss]", "sess.run([model.train_op, model.loss, merged]"),
)


def test_summaries_that_one_program_merges_are_the_object_s() -> None:
    after = native(("model.py", SUMMED), ("train.py", SUMMING), ("sample.py", SAMPLE))
    assert "            return loss, merged_summaries\n" in after["model.py"]
    assert "merge_all" not in after["train.py"] and "merged =" not in after["train.py"]


def test_summaries_that_a_program_adds_itself() -> None:
    train = changed(SUMMING, ("merged =", 'tf.summary.scalar("more", model.loss)\nmerged ='))
    apart(
        {"model.py": "an optimizer that trains nothing in this program"},
        ("model.py", SUMMED), ("train.py", train), ("sample.py", SAMPLE),
    )  # fmt: skip


def test_a_mistake_of_ours_keeps_the_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("class")

    monkeypatch.setattr(named_graphs, "_alone", broken)
    files = {"model.py": MODEL, "train.py": TRAIN, "sample.py": SAMPLE}
    contents = [(path, text.encode()) for path, text in files.items()]
    result = migrate(contents, True, False, Selection(), True)
    assert states(result)["sample.py"] == "bridge", said(result)
