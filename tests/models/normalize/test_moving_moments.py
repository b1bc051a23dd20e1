"""Batch normalization by hand, with averages of a batch's moments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "session"
PROGRAM = (FIXTURES / "averaged_moments" / "before.py").read_text()
TENSORS = "`tf.train.ExponentialMovingAverage` is not among the functions"
UNNAMED = "the names of the averages of a batch's moments cannot be determined"
START = PROGRAM.index("def batch_norm_template"), PROGRAM.index("def batch_norm(x")
# The one with get_variable alone, which has its own way.
ONE = PROGRAM[: START[0]] + PROGRAM[START[1] :].replace(
    "batch_norm_for_conv2d(net, is_training, 4, bn_decay, 'bn1')", "net"
).replace("batch_norm_for_fc(net, is_training, 8, bn_decay, 'bn2')", "net")
APPLY = "            ema_apply_op = ema.apply([batch_mean, batch_var])\n"
ABOVE = "        def mean_var_with_update():\n"
CHOICE = "(ema.average(batch_mean), ema.average(batch_var))"
MADE = "ExponentialMovingAverage(decay=decay)"
RETURN = "        return tf.nn.batch_normalization(x, mean"
UPDATED = "tf.identity(batch_mean), tf.identity(batch_var)"


def stays(program: str) -> str:
    """What is said of a program that stays on the bridge."""
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


def test_the_moments_are_those_of_a_layer() -> None:
    after = native(PROGRAM)
    assert "mean, var = self.moments(inputs, decay=decay, training=is_training)" in after
    assert "ExponentialMovingAverage" not in after
    assert "mean, var = self.moments(x, decay=self.decay, training=phase_train)" in native(ONE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (APPLY + "", "            ema_apply_op = ema.apply([batch_var, batch_mean])\n"),
        (CHOICE, "(ema.average(batch_var), ema.average(batch_mean))"),
        (UPDATED, "tf.identity(batch_var), tf.identity(batch_mean)"),
        (UPDATED, "tf.identity(batch_mean), batch_var * 1.0"),
        (MADE, MADE.replace("decay=decay", "decay=decay, zero_debias=True")),
        (MADE, MADE.replace("decay=decay", "decay, batch")),
        (RETURN, f"        print(batch_mean)\n{RETURN}"),
        (RETURN, f"        tf.add_to_collection('means', ema.average(batch_mean))\n{RETURN}"),
        ("scope='bn', decay", "scope='bn', reuse=False, decay"),
        ("phase_train, mean_var", "tf.logical_not(phase_train), mean_var"),
        (APPLY, f"{APPLY}            batch_size = 3\n"),
        (ABOVE, f"        x = x * 1.0\n\n{ABOVE}"),
    ],
)
def test_other_averages_stay(old: str, new: str) -> None:
    assert TENSORS in stays(changed(ONE, (old, new)))


def test_averages_that_every_step_moves_stay() -> None:
    program = changed(ONE, (APPLY, ""), (ABOVE, f"{APPLY[4:]}{ABOVE}"))
    assert TENSORS in stays(program)


def test_averages_moved_on_another_condition_stay() -> None:
    apply = ",\n" + 31 * " " + "lambda: ema.apply"
    program = changed(PROGRAM, (f"tf.cond(is_training{apply}", f"tf.cond(bn_decay > 0.1{apply}"))
    assert TENSORS in stays(program)


def test_their_names_in_a_checkpoint_are_those_of_tf1() -> None:
    text = (FIXTURES / "point_network" / "before.py").read_text()
    moments = "batch_norm_for_conv2d.batch_norm_template.moments"
    name = "'conv1/bn/conv1/bn/moments/Squeeze_1/ExponentialMovingAverage'"
    assert f"{name}: model.conv2d.{moments}.variance" in native(text)


def test_names_that_other_operations_may_have_stay() -> None:
    text = (FIXTURES / "point_network" / "before.py").read_text()
    assert UNNAMED in stays(changed(text, ("scope='conv1'", "scope='add'")))
    saved = "    saver = tf.train.Saver()\n    for step in"
    unknown = "the name of a variable in a checkpoint cannot be determined"
    assert unknown in stays(changed(PROGRAM, ("    for step in", saved)))
