"""The default session by the name of the one session, and a global step that nothing reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "session"
PROGRAM = FIXTURES.joinpath("default_session/before.py").read_text()
ASKED = "        sess = sess or tf.get_default_session()\n        return sess.run(self.chances"
ENDS = "    learn(policy, worth, 3)\n"
ABOUT_ALL = "`tf.train.get_global_step` is about all of them"


def test_what_goes_is_told() -> None:
    result = run(PROGRAM, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "nothing reads the global step: it is not counted any more" in said(result)


@pytest.mark.parametrize(
    "pairs",
    [
        [(ASKED, ASKED.replace("sess or tf.get_default_session()", "tf.get_default_session()"))],
        [(ASKED, "        return tf.get_default_session().run(self.chances")],
    ],
)
def test_other_ways_to_ask(pairs: list[tuple[str, str]]) -> None:
    text = changed(PROGRAM, *pairs, ("predict(self, state, sess=None)", "predict(self, state)"))
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        # a call may give the session, or one more is made
        ([(ENDS, ENDS + "    print(worth.predict(1, session=sess))\n")], "the session is used for"),
        ([(ENDS, ENDS + "with tf.Session() as two:\n    print(two)\n")], "more than one session"),
        # the name is something else in the function
        ([("        session = tf.get_default_session()\n        _, loss = session.run(",
           "        sess = [target]\n        session = tf.get_default_session()\n"
           "        _, loss = session.run(")], "`self`, which has parts of the graph"),
        # something reads the step
        ([(ENDS, ENDS + "    print(sess.run(global_step))\n")], ABOUT_ALL),
        ([(ENDS, ENDS + "    print(sess.run(tf.train.get_global_step()))\n")], ABOUT_ALL),
        ([(ENDS, ENDS + "    tf.train.Saver().save(sess, 'm')\n")], "is about all of them"),
        ([(ENDS, ENDS + "    print(sess.run('global_step:0'))\n")], ABOUT_ALL),
        # what the list has is not seen
        ([("        steps = []\n", "        steps = list()\n")],
         "whether `step.action` is a part of the graph"),
        ([("        for number, step", "        steps.extend([worth])\n        for number, step")],
         "whether `step.action` is a part of the graph"),
    ],
)  # fmt: skip
def test_what_stays(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(PROGRAM, *pairs), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in one for one in said(result)), said(result)
