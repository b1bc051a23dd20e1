"""What is fetched with a training step, and is not made by it."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import MODEL, STEP, program
from tests.support.migration import after, run, said

TOLD = "in TF1 before or after they change"
OTHER = "v = tf.Variable(1.0)\n"


@pytest.mark.parametrize(
    ("fetched", "told"),
    [("tf.reduce_sum(w)", True), ("tf.square(v)", False), ("tf.square(loss)", False)],
    ids=["computed of what it trains", "of another variable", "of the loss"],
)
def test_it_is_of_before_and_told_where_tf1_had_no_order(fetched: str, told: bool) -> None:
    model = f"{OTHER}{MODEL}shown = {fetched}\n"
    text = program(model, "_, value = sess.run([train, shown], {x: rows})\n")
    result = run(text, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    step = after(result, text)
    assert step.index(fetched) < step.index("apply_gradients"), step
    assert any(TOLD in one for one in said(result)) is told, said(result)


def test_nothing_is_told_of_the_loss() -> None:
    result = run(program(run=STEP), native_sessions=True)
    assert not any(TOLD in one for one in said(result))
