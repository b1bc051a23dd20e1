"""What a module says about the TensorFlow that it runs on is followed."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

SWITCH = """\
import tensorflow.compat.v1 as tf

try:
    from tensorflow.contrib import slim
    {true}
except{caught}:
    import tf_slim as slim
    {false}


def check(message="gone"):
    if {gone}:
        if message:
            raise ImportError(message)


def metrics():
    {guard}
    from tensorflow.contrib import metrics as contrib_metrics
    return contrib_metrics


print(metrics())
with tf.Session() as sess:
    sess.run(tf.no_op())
"""


def program(guard: str, true: str = "newer = False", false: str = "newer = True", **words: str):
    words = {"gone": "newer", "caught": " ImportError", **words}
    result = run(SWITCH.format(guard=guard, true=true, false=false, **words), bridge=True)
    (found,) = result.programs
    return found, said(result)


@pytest.mark.parametrize(
    "guard",
    [
        "if newer:\n        return None",
        "if not newer:\n        pass\n    else:\n        return None",
        "if newer or not slim:\n        raise RuntimeError",
    ],
)
@pytest.mark.parametrize("caught", ["", " ImportError", " (ImportError, AttributeError)"])
def test_what_a_flag_keeps_from_tf2_is_no_obstacle(guard: str, caught: str) -> None:
    found, told = program(guard, caught=caught)
    assert (found.state, found.runs_on) == ("bridge", "TF 2.15 and newest"), told


def test_a_flag_that_is_set_before_the_try() -> None:
    guard = "if not has_contrib:\n        return None"
    found, told = program(guard, "has_contrib = True", "has_contrib = False", gone="False")
    assert found.state == "bridge", told
    asked = SWITCH.replace("{true}", "pass").replace("{false}", "pass").replace("{caught}", "")
    asked = asked.replace("try:", "has_contrib = hasattr(tf, 'contrib')\ntry:")
    result = run(asked.format(guard=guard, gone="False"), bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


@pytest.mark.parametrize(
    "guard",
    [
        "if not newer:\n        return None",  # TF2 goes on here
        "if newer:\n        print('TF2')",
        "if other:\n        return None",
        "if newer and other:\n        return None",
    ],
)
def test_what_tf2_comes_to_keeps_the_program(guard: str) -> None:
    found, told = program(guard, gone="False")
    assert found.state == "refused", told
    assert any("`tensorflow.contrib.metrics` does not exist" in one for one in told)


@pytest.mark.parametrize(
    ("true", "false"),
    [("newer = False", "newer = len(str(tf))"), ("newer = True", "pass")],
)
def test_a_flag_that_is_not_known_decides_nothing(true: str, false: str) -> None:
    found, told = program("if newer:\n        return None", true, false)
    assert found.state == "refused", told


LATER = SWITCH.replace("print(metrics())", "def main():\n    return metrics()")


def test_what_raises_by_its_own_word_makes_the_claim_smaller() -> None:
    words = {"true": "newer = False", "false": "newer = True", "caught": "", "gone": "newer"}
    result = run(LATER.format(guard="check()", **words) + "\nif slim:\n    main()\n", bridge=True)
    (found,) = result.programs
    assert found.state == "bridge", said(result)
    assert found.runs_on == "TF 2.15 and newest, but for what MGPU908 names"
    assert any("raises on TF2 where it is called, as it says itself" in one for one in said(result))


def test_what_raises_as_soon_as_the_program_is_loaded_refuses_it() -> None:
    found, told = program("check()")
    assert found.state == "refused", told


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    image = tf.image_summary\n    Writer = tf.train.SummaryWriter\nexcept:\n"
        "    image = tf.summary.image\n    Writer = tf.summary.FileWriter",
        "try:\n    early = True\n    merge = tf.summary.merge\nexcept Exception:\n"
        "    early = False\n    merge = tf.merge_summary",
        "if 'concat_v2' in dir(tf):\n    joined = tf.concat_v2\nelse:\n    joined = tf.concat",
        "if hasattr(tf, 'mul'):\n    product = tf.mul\nelse:\n    product = tf.multiply",
    ],
)
def test_names_that_are_asked_for_refuse_nothing(code: str) -> None:
    text = f"import tensorflow as tf\n\n{code}\nprint(tf.Session().run(tf.constant(1)))\n"
    result = run(text, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


def test_a_bare_except_around_work_is_no_switch() -> None:
    code = "try:\n    total = tf.mul(1, 2)\nexcept:\n    total = 0"
    text = f"import tensorflow as tf\n\n{code}\nprint(tf.Session().run(total))\n"
    result = run(text, bridge=True)
    assert [one.state for one in result.programs] == ["refused"], said(result)


HANDLER = """\
import tensorflow as tf

try:
    {body}
except{caught}:
    {handler}

with tf.Session() as sess:
    sess.run(tf.no_op())
print(found)
"""


@pytest.mark.parametrize("caught", ["", " ImportError", " (ImportError, AttributeError)"])
@pytest.mark.parametrize(
    "body",
    [
        "found = tf.nn.rnn_cell.linear",
        "found = tf.contrib.rnn.linear",
        "from tensorflow.contrib.rnn import linear as found",
    ],
)
def test_where_the_body_fails_on_tf2_its_handler_runs(body: str, caught: str) -> None:
    gone = "from tensorflow.python.training.checkpointable import tracking as found"
    result = run(HANDLER.format(body=body, caught=caught, handler=gone), bridge=True)
    (found,) = result.programs
    assert found.state == "refused", said(result)
    assert any("tensorflow.python.training.checkpointable" in one for one in said(result))


@pytest.mark.parametrize(
    "body",
    [
        "from tensorflow.python.ops import array_ops as found",  # TF2 has it: no handler runs
        "if flag:\n        found = tf.contrib.rnn.foo",  # perhaps it does not fail
        "def found():\n        return tf.contrib.rnn.foo",
    ],
)
def test_where_the_body_may_pass_its_handler_is_under_a_guard(body: str) -> None:
    gone = "from tensorflow.python.training.checkpointable import tracking as found"
    text = HANDLER.format(body=body, caught=" ImportError", handler=gone)
    result = run("flag = len(__file__) > 3\n" + text, bridge=True)
    assert [p.state for p in result.programs] == ["bridge"], said(result)


def test_a_handler_that_runs_is_migrated() -> None:
    old = "found = tf.merge_all_summaries()"
    new = "found = tf.contrib.deprecated.merge_all_summaries()"
    text = HANDLER.format(body=new, caught=" AttributeError", handler=old)
    result = run(text, bridge=True)
    (found,) = result.programs
    assert found.state == "bridge", said(result)
    assert "    found = tf.summary.merge_all()" in result.files[0].after


def test_a_handler_of_the_module_that_raises_again_guards_nothing() -> None:
    body = "from tensorflow.contrib import verbs as found"
    text = HANDLER.format(body=body, caught=" ImportError", handler="raise")
    result = run(text, bridge=True)
    assert [p.state for p in result.programs] == ["refused"], said(result)
