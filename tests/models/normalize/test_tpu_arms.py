"""Programs with a way for TPUs and one for everything else.

The program is the fixture ``tpu_arms``, which is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "tpu_arms"
PROGRAM = (FIXTURE / "before.py").read_text(encoding="utf-8")


def changed(old: str, new: str) -> str:
    assert old in PROGRAM, old
    return PROGRAM.replace(old, new)


def test_the_arm_stops_and_is_told() -> None:
    after, said = migrated(PROGRAM)
    assert "TPUEstimator" not in after
    assert "    if args.use_tpu:\n        raise ValueError(" in after
    assert "# A run of its own on this machine.\n" in after
    assert any("what runs on a TPU here is left out" in one for one in said)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            'if params["use_tpu"]:\n        # What',
            'if params.pop("use_tpu"):\n        # What',
            "model_fn returns under a condition",
        ),
        (
            "    if args.use_tpu:\n",
            "    if args.tpu == 'none':\n        estimator = None\n    elif args.use_tpu:\n",
            "model_fn returns under a condition",
        ),
        (
            "estimator = tf.estimator.Estimator(model_fn, config=config, params=params)",
            "estimator = tf.contrib.tpu.TPUEstimator(model_fn, config, params=params)",
            "the TPUEstimator is for a TPU",
        ),
    ],
)
def test_what_stays(old: str, new: str, reason: str) -> None:
    stays(changed(old, new), reason)


def test_an_evaluation_without_a_loss_is_none() -> None:
    """TF1 stops there, so what trains and predicts only needs no loss of its own for it."""
    after, _ = migrated(PROGRAM)
    assert "tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)" in after
    other = changed("    loss = None\n", "    loss = tf.reduce_mean(logits)\n")
    after, said = migrated(other)
    assert "    def test_loss(self, logits):\n        return tf.reduce_mean(logits)\n" in after, (
        said
    )
