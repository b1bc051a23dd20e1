"""Summaries that a setting chooses: made in any case, where they are read under it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "towers"
PROGRAM = (FIXTURES / "chosen_summaries" / "before.py").read_text()
CALLED = "what TF1 calls an operation of the towers cannot be determined"
LOOP = "        for l in losses + [total_loss]:\n"
READ = "            if FLAGS.tb_logging:\n                if step % 2 == 0:\n"
EXTRA = "    if FLAGS.tb_logging:\n        tensor_name = "


def test_the_condition_around_what_is_read_stays() -> None:
    after = native(PROGRAM)
    assert after.count("if FLAGS.tb_logging:") == 1
    assert "if FLAGS.tb_logging:\n            if step % 2 == 0:\n" in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (READ, "            if True:\n                if step % 2 == 0:\n", CALLED),
        (READ, "            if not FLAGS.tb_logging:\n                if step % 2 == 0:\n", CALLED),
        ("    images = rng", "    FLAGS.tb_logging = True\n    images = rng", CALLED),
        (EXTRA, EXTRA.replace("  tensor", "  print('shown')\n        tensor"), CALLED),
        (LOOP, LOOP.replace("losses", "list(losses)"), CALLED),
        ("            summaries.append(tf.summary.scalar('learning_rate', lr))\n",
         "            summaries.append(tf.summary.scalar('learning_rate', lr))\n"
         "        print(len(summaries))\n", CALLED),
    ],
)  # fmt: skip
def test_others_stay(old: str, new: str, why: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert why in " ".join(said(result))
