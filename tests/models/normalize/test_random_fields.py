"""What stays of a tagger: functions of its constructor, its CRF, what a loop collects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FIXTURE = Path("fixtures/session/random_fields/before.py")
PROGRAM = (Path(__file__).resolve().parents[3] / FIXTURE).read_text()
OUTSIDE = "is used outside of `Session.run`"
CRF = "not given `transition_params`"

_DECODED = "self.tags = tf.argmax(scores, 2)"

# What is changed, and what the finding says then.
STAYS = {
    "a function has another value of the constructor's later": (
        [("        self.words = tf", "        keep = 1.0\n        self.words = tf")],
        OUTSIDE,
    ),
    "a function is more than called": (
        [("        found = []\n", "        found = []\n        self.pick = strongest\n")],
        OUTSIDE,
    ),
    "a function has a default that is computed of the constructor's": (
        [("forget=1.0", "forget=keep * 1.0")],
        OUTSIDE,
    ),
    "what makes the scores does not say how many tags there are": (
        [("tf.layers.dense(embedded, tags)", "tf.layers.dense(embedded, min(tags, 3))")],
        CRF,
    ),
    "the number of tags is another one later": (
        [("        self.words = tf", "        tags = tags + 0\n        self.words = tf")],
        OUTSIDE,
    ),
    "a turn of the loop may collect nothing": (
        [(
            "            tf.add_to_collection('decay', 0.01 * tf.nn.l2_loss(weight))\n",
            "            if size > 3:\n"
            "                tf.add_to_collection('decay', 0.01 * tf.nn.l2_loss(weight))\n",
        )],
        OUTSIDE,
    ),
    "what is collected is asked for by a scope": (
        [("tf.get_collection('decay')", "tf.get_collection('decay', scope='a')")],
        OUTSIDE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_transitions_that_are_given_stay_who_they_are() -> None:
    made = "own = tf.get_variable('own', [tags, tags])\n        likelihood, transitions ="
    given = "scores, self.labels, self.lengths, own)\n\n        rows"
    text = changed(
        PROGRAM,
        ("likelihood, transitions =", made),
        ("scores, self.labels, self.lengths)\n\n        rows", given),
        ("crf_decode(scores, transitions,", "crf_decode(scores, own,"),
    )
    after = native(text)
    assert 'name="transitions"' not in after and "own = tf.Variable(" in after


def test_what_is_returned_beside_is_made_too() -> None:
    text = changed(
        PROGRAM,
        ("likelihood, transitions = tf.contrib", "likelihood = tf.contrib"),
        (
            "self.labels, self.lengths)\n\n        rows",
            "self.labels, self.lengths)[0]\n\n        rows",
        ),
        ("self.tags, _ = tf.contrib.crf.crf_decode(scores, transitions, self.lengths)", _DECODED),
    )
    assert "transition_params = tf.Variable(" in native(text)
