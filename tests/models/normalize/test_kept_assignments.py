"""Assignments between two objects that are kept and run later: what stays, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "kept_copies" / "before.py").read_text()
SYNC = "[t.assign(e) for t, e in zip(self.late.params, self.net.params)]"
FOLLOW = "[tf.assign(t, SHARE * e + (1 - SHARE) * t) for t, e in zip(late.params, net.params)]"
RUN = "        self.sess.run(self.sync)\n"
COPY = "        agent.copy()\n        for"

# What is changed, and what the finding says then.
STAYS = {
    "another function runs what an object keeps": (
        [(COPY, "        sess.run(agent.sync)\n        for")],
        "what `self.sync` fetches cannot be determined",
    ),
    "it is read for something else": (
        [(RUN, f"{RUN}        print(len(self.sync))\n")],
        "what `self.sync` fetches cannot be determined",
    ),
    # The list is of the network that there was.
    "the network is another one later": (
        [(RUN, f"{RUN}        self.late = self.net\n")],
        "what `self.sync` fetches cannot be determined",
    ),
    "a number that it is made with changes": (
        [
            ("t.assign(e)", "t.assign(self.share * e)"),
            ("        self.sync", "        self.share = 1.0\n        self.sync"),
            (RUN, f"{RUN}        self.share = 0.5\n"),
        ],
        "what `self.sync` fetches cannot be determined",
    ),
    # Where it runs, these names are unknown, or others.
    "it is made of a function's names": (
        [
            (
                "        self.sync = ",
                "        late, net = self.late, self.net\n        self.sync = ",
            ),
            (SYNC, "[t.assign(e) for t, e in zip(late.params, net.params)]"),
        ],
        "what `self.sync` fetches cannot be determined",
    ),
    # TF1's graph has the number that was drawn when it was built.
    "it is made with what a function gives": (
        [("t.assign(e)", "t.assign(e * np.random.rand())")],
        "what `self.sync` fetches cannot be determined",
    ),
    "its name is given something else": (
        [
            (
                "                sess.run([follow])",
                "                sess.run([follow])\n        follow = None",
            )
        ],
        "what `follow` fetches cannot be determined",
    ),
    "it is run beside something else": (
        [("sess.run([follow])", "sess.run([follow, late.q], {late.x: np.ones([1, 3])})")],
        "what `follow` fetches cannot be determined",
    ),
    "the loop's names are the function's": (
        [
            (
                "        agent.copy()\n        for",
                "        t = 3\n        print(t)\n        agent.copy()\n        for",
            )
        ],
        "what `follow` fetches cannot be determined",
    ),
    "only some are copied": (
        [(FOLLOW, FOLLOW.replace("net.params)]", "net.params) if e is not None]"))],
        "what `follow` fetches cannot be determined",
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_in_a_script() -> None:
    """The same by a name of the module's."""
    begin = PROGRAM.index("def main():")
    body = PROGRAM[begin:].replace("def main():\n", "").partition("\n\nif __name__")[0]
    lines = (line[4:] for line in body.split("\n"))
    after = native(PROGRAM[:begin] + "\n".join(lines))
    assert "for t, e in zip(late.params, net.params):\n" in after
