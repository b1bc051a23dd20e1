"""Programs of an early TensorFlow: what becomes of their files, and what is told."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

HEAD = "import tensorflow as tf\n\na, b, c = tf.ones([4]), tf.ones([4]), tf.ones([4])\n"
TAIL = "with tf.Session() as sess:\n    print(sess.run(x))\n"


def migrated(body: str) -> str:
    text = f"{HEAD}{body}\n{TAIL}"
    result = run(text, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return after(result, text)


@pytest.mark.parametrize(
    ("body", "becomes"),
    [
        # The order that the call shows.
        ("x = tf.concat(-1, parts)", "tf.concat(axis=-1, values=parts)"),
        ("x = tf.concat(parts, 0)", "tf.concat(parts, 0)"),
        ("x = tf.concat(axis, [a, b])", "tf.concat(axis=axis, values=[a, b])"),
        ("x = tf.split(a, 2, 0)", "tf.split(a, 2, 0)"),
        ("x = tf.split(value=a, num_or_size_splits=2)", "tf.split(value=a, num_or_size_splits=2)"),
        # It does not show one: that of the file.
        ("x = tf.concat(parts, axis)", "tf.concat(parts, axis)"),
        ("x = tf.mul(a, tf.concat(axis, parts))", "tf.concat(axis=axis, values=parts)"),
        ("y = tf.concat(0, parts)\nx = tf.split(axis, n, a)",
         "tf.split(axis=axis, num_or_size_splits=n, value=a)"),
        ("y = tf.mul(a, tf.concat([a, b], 0))\nx = tf.split(a, n, axis)", "tf.split(a, n, axis)"),
        # A name of 1.0 to 1.3 does not show an order from before 1.0.
        ("x = tf.contrib.linalg.LinearOperatorTriL(m)\ny = tf.split(a, n, axis)",
         "tf.linalg.LinearOperatorLowerTriangular(m)\ny = tf.split(a, n, axis)"),
        # Names that are no calls, and members of a class.
        ("x = tf.foldl(tf.mul, a)", "tf.foldl(tf.multiply, a)"),
        ("x = a\nadd = tf.train.SummaryWriter.add_summary", "tf.summary.FileWriter.add_summary"),
    ],
)  # fmt: skip
def test_order_of_arguments(body: str, becomes: str) -> None:
    assert becomes in migrated(body)


@pytest.mark.parametrize(
    "body",
    [
        "x = tf.scalar_summary(['one', 'two'], a)",  # a tag for each
        "x = tf.select(*[a > 0, a, b])",
        "x = list(map(tf.select, a, b, c))",
        "x = tf.batch_matmul(a, b, transpose=True)",
    ],
)
def test_what_1_0_cannot_say_stays(body: str) -> None:
    result = run(f"{HEAD}{body}\n{TAIL}", bridge=True)
    assert [one.state for one in result.programs] == ["refused"]
    assert not any(file.changed for file in result.files)


def test_guarded_names_stay() -> None:
    body = "try:\n    x = tf.mul(a, b)\nexcept AttributeError:\n    x = tf.multiply(a, b)"
    assert "x = tf.mul(a, b)" in migrated(body)


NET = "import tensorflow as tf\n\n\ndef net(x):\n    return tf.neg(x)\n"
TRAIN = """\
import tensorflow as tf
import net

tf.contrib.crf.CrfForwardRnnCell(net.net(1.0))
tf.Session()
"""
OTHER = "import tensorflow as tf\nimport net\n\nprint(tf.Session().run(net.net(1.0)))\n"


def test_the_author_knew_both_names() -> None:
    body = "try:\n    x = tf.sub(a, b)\nexcept:\n    x = tf.subtract(a, b)"
    assert "try:\n    x = tf.subtract(a, b)\n" in migrated(body)
    other = run(f"{HEAD}{body.replace('tract(a, b)', 'tract(b, a)')}\n{TAIL}", bridge=True)
    assert [one.state for one in other.programs] == ["refused"]  # 1.15 computes another thing


def test_file_of_a_refused_program_stays() -> None:
    """What else keeps its program is told; a program that is migrated brings its files along."""
    result = run(("net.py", NET), ("train.py", TRAIN), bridge=True)
    assert [one.state for one in result.programs] == ["refused"]
    (reason,) = result.programs[0].reasons  # `tf.neg` would be written
    assert "CrfForwardRnnCell" in reason.message
    assert not any(file.changed for file in result.files)
    result = run(("net.py", NET), ("train.py", TRAIN), ("other.py", OTHER), bridge=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states == {"train.py": "refused", "other.py": "bridge"}
    (told,) = [one for one in result.findings if one.code == "MGPU213"]
    assert (told.path.name, told.line, told.column) == ("net.py", 5, 12)


def test_second_run_changes_nothing() -> None:
    once = migrated("x = tf.concat(0, [tf.pack([a, b]), [c]])")
    assert not any(file.changed for file in run(once, bridge=True).files)
