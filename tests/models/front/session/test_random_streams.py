"""Random operations with seeds of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from migrate_mgpu.runtimes import Runtime
from tests.models.front.session.test_writing import native
from tests.support import servers
from tests.support.migration import run, said

FIXTURE = Path(__file__).parents[4] / "fixtures" / "session" / "random_seeds"
PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
w = tf.Variable(tf.zeros([4, 1]))
hidden = tf.nn.dropout(x, 0.5, seed=3)
out = tf.matmul(hidden, w)
loss = tf.reduce_mean(tf.square(out - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

rows = np.ones([3, 4])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: rows})[0])
"""


def kept(text: str) -> str:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return str(said(result))


def test_one_step_has_the_stream() -> None:
    assert "tf.nn.dropout(x, rate=0.5, seed=3)" in native(PROGRAM)


@pytest.mark.parametrize("seed", ["seed=3", "None, 3"])
def test_two_steps_would_have_a_stream_each(seed: str) -> None:
    text = PROGRAM.replace("seed=3", seed) + "    print(sess.run(out, {x: rows}))\n"
    assert "is computed by several steps, which have one state of it in TF1" in kept(text)


def test_a_seed_that_is_none_is_no_seed() -> None:
    native(PROGRAM.replace("seed=3", "seed=None") + "    print(sess.run(out, {x: rows}))\n")


def test_what_shows_its_first_values_is_in_one_step() -> None:
    shown = PROGRAM.replace("{x: rows}", "{{x: rows}}").replace(
        "tf.nn.dropout(x, 0.5, seed=3)", "tf.Print(x, [x], 'x', {})"
    )
    assert "tf.raw_ops.Print(input=x, data=[x], message='x', first_n=2)" in native(shown.format(2))
    again = shown + "    print(sess.run(out, {{x: rows}}))\n"
    assert "what shows its first values is computed by several steps" in kept(again.format(2))
    native(again.format(None))


def test_another_module_may_draw() -> None:
    ops = "import tensorflow as tf\n\n\ndef drop(x):\n    return tf.nn.dropout(x, 0.5, seed=3)\n"
    main = PROGRAM.replace("tf.nn.dropout(x, 0.5, seed=3)", "ops.drop(x)")
    main = main.replace("import numpy", "import ops\nimport numpy")
    files = ("main.py", main), ("ops.py", ops)
    result = run(*files, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    twice = main + "    print(sess.run(out, {x: rows}))\n"
    result = run(("main.py", twice), files[1], bridge=True, native_sessions=True)
    assert "is computed by several steps" in str(said(result))


def test_the_seed_of_the_graph_counts() -> None:
    seed = "tf.set_random_seed(1)\n"
    after = native(PROGRAM.replace("x = tf", f"{seed}x = tf"))
    assert "tf.random.set_seed(1)\n" in after
    why = "it cannot be determined which random operations the seed of the graph is for"
    assert why in kept(PROGRAM.replace("train = tf", f"{seed}train = tf"))
    assert why in kept(PROGRAM.replace("x = tf", f"{seed}tf.reset_default_graph()\nx = tf"))
    assert why in kept(PROGRAM.replace("x = tf", f"{seed}{seed}x = tf"))


def test_the_numbers_are_those_of_tf1(runtime: Callable[[str], Runtime]) -> None:
    """Without the harness, which replaces dropout: the programs print the same lines."""

    def printed(name: str, text: str) -> str:
        return servers.alone(runtime(name), text)

    expected = printed("tf1.15", (FIXTURE / "before.py").read_text())
    assert expected.count("step") == 6 and "rate 0.19" in expected
    after = (FIXTURE / "after.py").read_text()
    assert printed("tf2-latest", after) == expected
    assert printed("tf2.15", after) == expected
    anew = after.replace("compute_sample().n", "tf.function(compute_sample.python_function)().n")
    assert anew != after and printed("tf2.15", anew) != expected
