"""Elements of an iterator that some runs feed: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "fed_elements" / "before.py").read_text()
FED = "something other than a named placeholder is fed"
DRAW = "point, height = iterator.get_next()"
TEST = "sess.run(loss, {point: test_points, height: test_heights})"

# What is changed, and what the finding says then.
STAYS = {
    "a run feeds one of two": ([(TEST, "sess.run(loss, {point: test_points})")], FED),
    "an element gets another value": ([(DRAW, DRAW + "\npoint = tf.tanh(point)")], FED),
    "the dataset gets another one": (
        [(DRAW, "dataset = dataset.batch(6)\n" + DRAW)],
        "`dataset` is another dataset below",
    ),
    "a run is fed by a name": (
        [("sess.run([train, loss])", "sess.run([train, loss], feed_dict=more)")],
        "what is fed cannot be determined",
    ),
    "a run may not be made": (
        [("_, value = sess.run([train, loss])", "value = step and sess.run([train, loss])[1]")],
        FED,
    ),
    "a value is asked of a session that is not named": (
        [("_, value = sess.run([train, loss])", "value = loss.eval(session=sess)")],
        FED,
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)
