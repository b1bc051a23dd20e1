"""Metrics and update operations that a setting chooses, and summaries of a loss's functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, stays

FIXTURE = Path("fixtures/estimator/metric_by_setting/before.py")
PROGRAM = (Path(__file__).resolve().parents[3] / FIXTURE).read_text()

ADDED = '            eval_metric_ops["far"] = tf.metrics.mean(far)\n'
ASKED = 'if params.strategy == "pairs":\n' + ADDED
WAITS = "    if params.use_batch_norm:\n        with tf.control"
ELSE = "    else:\n        train_op = optimizer.minimize(loss,"

STAYS = {
    "a call says whether there is the metric": (
        (ASKED, ASKED.replace("params.strategy", "str(params.strategy)")),
        "when there is a metric 'far' cannot be determined",
    ),
    "there is another metric else": (
        (ADDED, f"{ADDED}        else:\n{ADDED.replace('far', 'norm')}"),
        "eval_metric_ops is not a dictionary literal",
    ),
    "another setting has the update operations run": (
        (WAITS, WAITS.replace("use_batch_norm", "use_updates")),
        "when the update operations run with a step cannot be determined",
    ),
    "it trains otherwise without them": (
        (ELSE, ELSE.replace("(loss,", "(2.0 * loss,")),
        "the optimizer of this train_op cannot be determined",
    ),
}  # fmt: skip


def test_a_metric_that_a_setting_chooses() -> None:
    found, said = migrated(PROGRAM)
    assert "            metrics.append(self.far)\n" in found, said
    assert "            self.far.update_state(far)\n" in found
    assert "tf.summary" not in found
    assert sum("this summary is left out" in one for one in said) == 4, said


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pair, reason = STAYS[case]
    stays(changed(PROGRAM, pair), reason)
