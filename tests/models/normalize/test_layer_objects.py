"""Objects of TF1's layers: those that are applied once, and what keeps others."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, MODEL
from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

RUN = """\
sess = tf.Session()
sess.run(tf.global_variables_initializer())
print(sess.run([loss, train], {x: rows}))
"""
MADE = "head = tf.layers.Dense(units=1, kernel_initializer=tf.ones_initializer())\n"
PROGRAM = HEAD + MADE + MODEL.replace("tf.matmul(x, w)", "head(tf.matmul(x, w))") + RUN


def test_a_layer_that_is_applied_once_is_made_there() -> None:
    after = native(PROGRAM)
    assert "= tf.keras.layers.Dense(units=1, kernel_initializer='ones')\n" in after.replace(
        "tf.keras.initializers.Ones()", "'ones'"
    )
    assert "head" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out = head(", "print(head.units)\nout = head("),
        ("units=1", "units=int(scale)"),
        ("units=1,", "**{'units': 1},"),
        ("head(tf.matmul(x, w))", "head(inputs=tf.matmul(x, w))"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)
    told = [one.message for one in result.findings if one.state in ("kept", "refused")]
    assert any("Dense" in one or "head" in one for one in told), told
