"""A network that is built once more behind the towers, and what keeps its program as it is."""

from __future__ import annotations

import pytest

from tests.models.front.towers.test_tower_programs import native
from tests.oracle import FIXTURES
from tests.support.migration import run, said

PROGRAM = (FIXTURES / "towers" / "tested_by_reuse" / "before.py").read_text("utf-8")
TEST = "        with tf.variable_scope('Inference', reuse=True):\n"
SHARES = "a summary in a function whose calls share variables"
LEAVES = "`inference` does more than make and apply layers"
LABELS = "    train(images, images[:, 0, :3, 0].argmax(axis=1))\n"
MERGED = "        summary_op = tf.summary.merge(summaries)\n"


def test_the_test_has_the_variables_of_the_towers() -> None:
    after = native(PROGRAM)
    begin = after.index("    def compute_test_loss_and_accuracy")
    tested = after[begin : after.index("return test_loss, accuracy", begin)]
    for name in ("kernel", "biases", "weights", "local2_biases", "softmax_linear_weights"):
        assert f" {name}" in tested and after.count(f"\n        {name} = tf.Variable(") == 1
    # No decay of the test's, no summary: nobody reads them.
    assert "l2_loss" not in tested and "Summary" not in tested
    assert "_again" not in after and "def inference" not in after


def test_a_half_of_a_setting_is_an_expression_beside_towers() -> None:
    assert (
        "images_test = tf.cast(tf.cast(images_test, tf.float16), tf.float32) "
        "if FLAGS.use_fp16 else images_test\n"
    ) in native(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # The summaries of the test are merged as well.
        (MERGED, "        summary_op = tf.summary.merge_all()\n", SHARES),
        # Somebody reads what it collects.
        (MERGED, MERGED + "        print(len(tf.get_collection('losses')))\n", LEAVES),
        # Its variables are its own.
        (
            TEST,
            "        with tf.variable_scope('Tested'):\n",
            "a summary of what only a function knows",
        ),
        (TEST, "        with tf.variable_scope('Tested', reuse=True):\n", "made elsewhere"),
        # What calls the function reads them.
        (LABELS, LABELS + "    tf.summary.merge_all()\n", SHARES),
    ],
)
def test_stays(old: str, new: str, why: str) -> None:
    assert PROGRAM.count(old) == 1
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    told = [f.message for f in result.findings if f.state in ("kept", "refused")]
    assert any(why in one for one in told), told


def test_a_name_in_one_scope_is_not_that_in_two_of_its_name() -> None:
    """`tower_0/Inference/Inference/cross_entropy` has a scope more than the operation."""
    after = native(PROGRAM)
    assert "/Inference/Inference/cross_entropy'" in after
    inner = "        cross_entropy_mean = tf.reduce_mean(cross_entropy, name='cross_entropy')\n"
    again = "        with tf.name_scope('Inference'):\n    " + inner
    assert PROGRAM.count(inner) == 1
    # As 1.15.5 calls them, of which the second is the next of its number.
    after = native(PROGRAM.replace(inner, again))
    assert "/Inference/Inference/Inference/cross_entropy'" in after
    twin = "            twin = tf.identity(cross_entropy_mean, name='Inference/cross_entropy')\n"
    after = native(PROGRAM.replace(inner, again + twin))
    assert "/Inference/Inference/Inference/cross_entropy_1'" in after


def test_blocks_that_only_tell_go_as_a_whole() -> None:
    told = "        _activation_summary(conv1)\n"
    block = "        with tf.name_scope('told'):\n            tf.summary.histogram('conv', conv1)\n"
    assert PROGRAM.count(told) == 1
    result = run(PROGRAM.replace(told, told + block), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    branch = "        for _ in range(1):\n            tf.summary.histogram('conv', conv1)\n"
    result = run(PROGRAM.replace(told, told + branch), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


READ = (FIXTURES / "towers" / "cifar10" / "before.py").read_text("utf-8")
SCOPE = "    with tf.variable_scope('', reuse=True):\n"
NAME = "tf.get_variable('softmax_linear/biases')"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (NAME, "tf.get_variable('conv1/biases')"),
        (SCOPE, "    with tf.variable_scope(tf.get_variable_scope(), reuse=True):\n"),
        (
            f"{SCOPE}      biases = {NAME}\n",
            "    with tf.variable_scope('softmax_linear', reuse=True):\n"
            "      biases = tf.get_variable('biases')\n",
        ),
    ],
)
def test_a_variable_of_the_towers_is_read_by_its_name(old: str, new: str) -> None:
    assert READ.count(old) == 1
    name = "biases_2" if "conv1" in new else "softmax_linear_biases_2"
    assert f"print([{name}.numpy(), evaluate().numpy()])" in native(READ.replace(old, new))


def test_what_is_computed_of_such_a_variable_has_its_name() -> None:
    read = "print(sess.run([biases, variable_averages.average(biases)]))"
    assert READ.count(read) == 1
    more = f"      biases = {NAME}\n      biases = biases + 1.0\n"
    text = READ.replace(f"      biases = {NAME}\n", more).replace(read, "print(sess.run(biases))")
    assert "softmax_linear_biases_2 + 1.0" in native(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (NAME, "tf.get_variable('softmax_linear/others')"),
        (SCOPE, "    with tf.variable_scope('local2', reuse=True):\n"),
        (SCOPE, "    with tf.variable_scope('', reuse=None):\n"),
    ],
)
def test_what_is_no_variable_of_the_towers_stays(old: str, new: str) -> None:
    assert READ.count(old) == 1
    result = run(READ.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
