"""Towers whose batch normalization moves its averages wherever it is computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[4] / "fixtures" / "towers"
PROGRAM = (FIXTURES / "batch_norm_in_place" / "before.py").read_text()
FED = "{images: data, labels: classes, is_training: False}"
TEST = f"    print('test loss', sess.run(loss, {FED}))\n"
BESIDE = """\
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    net = tf.layers.conv2d(images, 4, 3, use_bias=False, name='conv')
    net = tf.contrib.layers.batch_norm(
        net, is_training=TRAINS, updates_collections=None, scale=True, scope='norm')
    size = tf.reduce_mean(net)

rng = np.random"""
SHOWN = "    print('size', sess.run(size, {images: data}))\n"
UPDATES = ", updates_collections=None, scope='norm2'"


def stays(program: str) -> str:
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


def test_all_replicas_move_them_and_it_is_said() -> None:
    after = native(PROGRAM)
    assert after.count("tf.VariableAggregation.SUM") == 1
    result = run(PROGRAM, bridge=True, native_sessions=True)
    assert sum("each tower moves these averages" in one for one in said(result)) == 2


def test_a_network_beside_them_may_read_them() -> None:
    beside = BESIDE.replace("TRAINS", "False")
    native(changed(PROGRAM, ("rng = np.random", beside), (TEST, TEST + SHOWN)))


def test_others_may_wait_for_updates_that_nothing_runs() -> None:
    after = native(changed(PROGRAM, (UPDATES, ", scope='norm2'")))
    assert "momentum=1.0" in after and after.count("tf.VariableAggregation.SUM") == 1


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (TEST, TEST.replace("False", "True"), "by some towers alone"),
        (TEST, TEST.replace("False", "step > 9"), "a layer's training mode, is computed"),
        (UPDATES, f"{UPDATES}, zero_debias_moving_mean=True", "that are debiased"),
    ],
)
def test_averages_that_some_towers_move_stay(old: str, new: str, why: str) -> None:
    assert why in stays(changed(PROGRAM, (old, new)))


def test_averages_that_move_outside_of_the_towers_stay() -> None:
    beside = BESIDE.replace("TRAINS", "True")
    program = changed(PROGRAM, ("rng = np.random", beside), (TEST, TEST + SHOWN))
    assert "outside of the towers" in stays(program)
