"""A bridge is read again: what kept it from becoming native may have been mended since."""

from __future__ import annotations

from tests.support.migration import run, said

HEAD = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n\n"
GRAPH = """\
x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.matmul(x, w))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
OPTIONS = """\
tf.config.set_soft_device_placement(True)
if args.growth:
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""
LOOP = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([loss, train_op], {x: [[1.0, 2.0]]})[0])
"""
ARGUMENTS = (
    "import argparse\n\nparser = argparse.ArgumentParser()\n"
    'parser.add_argument("--growth")\nargs = parser.parse_args()\n'
)


def migrated(*parts: str) -> tuple[str, str]:
    """The state of a program, and what becomes of it, or what is said of it."""
    result = run(("train.py", "".join(parts)), bridge=True, native_sessions=True)
    (program,) = result.programs
    after = result.files[0].after if result.files[0].changed else None
    return program.state, after or " ".join(said(result))


def test_a_bridge_becomes_native_with_its_options_above_what_makes_variables() -> None:
    state, after = migrated(HEAD, ARGUMENTS, GRAPH, OPTIONS, LOOP)
    assert state == "native"
    assert after.startswith("import tensorflow as tf\n\nimport argparse")
    assert "compat.v1" not in after and "disable_v2_behavior" not in after
    assert after.index(OPTIONS) < after.index("x_spec =") < after.index("tf.Variable(")
    assert "set_soft_device_placement(False)" not in after, "the program sets it"


def test_options_whose_values_are_known_too_late_say_so() -> None:
    late = GRAPH + "args = make_arguments()\n"
    state, text = migrated(HEAD, "from arguments import make_arguments\n", late, OPTIONS, LOOP)
    assert state == "bridge"
    assert "options of `tf.config` must be set before the first variable exists" in text
    assert "`args` may have another value there" in text


def test_what_kept_the_program_is_told_and_not_what_the_bridge_wrote() -> None:
    kept = LOOP.replace("    for _", "    print(sess.graph.get_operations())\n    for _")
    _, first = migrated("import tensorflow as tf\n\n", ARGUMENTS, GRAPH, kept)
    _, second = migrated(HEAD, ARGUMENTS, GRAPH, OPTIONS, kept)
    assert first.startswith(HEAD[:-1]), "it is a bridge"
    assert "the session is used for more than `run`" in second


def test_a_switch_that_may_be_called_or_not_keeps_the_session() -> None:
    head = HEAD.replace("tf.disable", "import sys\nlen(sys.argv) > 1 or tf.disable")
    state, text = migrated(head, GRAPH, LOOP)
    assert state == "bridge"
    assert "it is not known when `tf.disable_v2_behavior` is called" in text


def test_options_for_the_session_that_does_not_read_them_keep_it() -> None:
    session = LOOP.replace("with tf.Session() as sess:", "sess = tf.InteractiveSession()")
    session = session.replace("\n    ", "\n")
    state, text = migrated(HEAD, "growth = True\n", GRAPH, OPTIONS.splitlines()[0] + "\n", session)
    assert state == "bridge"
    assert "`InteractiveSession` does not read the options that `tf.config` sets" in text
