"""What the first tower alone does, labels in tags, and several optimizers of one loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURES = Path(__file__).parents[4] / "fixtures" / "towers"
DETECTOR = (FIXTURES / "first_call_summaries" / "before.py").read_text(encoding="utf-8")
RATES = (FIXTURES / "two_rates" / "before.py").read_text(encoding="utf-8")


def replaced(program: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in program, old
        program = program.replace(old, new)
    return program


def test_a_flag_that_the_first_tower_sets() -> None:
    after = native(
        replaced(
            DETECTOR,
            ("    reuse_variables = None\n", "    reuse_variables = False\n"),
            ("if reuse_variables is None:", "if not reuse_variables:"),
        )
    )
    assert "tag='model_0/input'" in after
    assert "tags='model_%d/overlap_loss' % i" in after


SETS = "                reuse_variables = True\n"
STAYS = {
    "set in some towers": (SETS, f"                if i > 1:\n    {SETS}"),
    "read below": (SETS, f"{SETS}                print(reuse_variables)\n"),
    "read behind the towers": ("    summary_op =", "    print(reuse_variables)\n    summary_op ="),
    "another order": (
        "gpus = list(range(FLAGS.num_gpus))\n",
        "gpus = list(range(FLAGS.num_gpus))\ngpus.reverse()\n",
    ),
    "numbers of a flag": (
        "gpus = list(range(FLAGS.num_gpus))\n",
        "gpus = [int(one) for one in str(FLAGS.num_gpus)]\n",
    ),
}


@pytest.mark.parametrize("change", STAYS.values(), ids=STAYS)
def test_what_is_not_seen_to_be_the_first(change: tuple[str, str]) -> None:
    result = run(("main.py", replaced(DETECTOR, change)), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] != ["native"], said(result)


def test_scopes_around_the_towers_are_in_tags() -> None:
    text = (FIXTURES / "tower_summaries" / "before.py").read_text(encoding="utf-8")
    scope = "with tf.variable_scope(tf.get_variable_scope()):"
    for kind in ("variable_scope", "name_scope"):
        after = native(replaced(text, (scope, f"with tf.{kind}('net'):")))
        assert "'net/%s_%d/tower_loss' % ('tower', i)" in after
        assert "'net/%s_%d/tower_loss' % ('tower', NUM_GPUS - 1)" in after


def test_labels_and_averages_of_both_optimizers() -> None:
    after = native(RATES)
    assert "tags='gpud_%d_loss_cross_entropy' % gpu_index" in after
    assert after.count("average.assign_sub(") == 2
    assert after.count("global_step.assign_add(1)") == 1
    assert after.count("scaled_loss = loss / ") == 1


LABEL = "  tf.summary.scalar(name_scope + '_cross_entropy', cross_entropy_mean)\n"
APPLY = "    apply_gradient_op2 = opt_wide.apply_gradients(grads2, global_step=global_step)\n"
KEPT = {
    # Its tag would be numbered.
    "a label twice": ((LABEL, LABEL + LABEL), "TF1's tag"),
    "a label of something else": (
        (LABEL, f"{LABEL}  logit = tf.identity(logit, name=name_scope)\n"),
        "TF1's tag",
    ),
    "a table that changes": (
        ("    for gpu_index in", "    weights['wide'] = weights['out']\n    for gpu_index in"),
        "",
    ),
    "a decay that is drawn": (
        ("tf.nn.l2_loss(var) * wd", "tf.nn.l2_loss(var) * wd * tf.random_uniform([])"),
        "",
    ),
    "two losses": (
        (
            "        grads2 = opt_wide.compute_gradients(loss, varlist2)\n",
            "        again = loss * 2.0\n"
            "        grads2 = opt_wide.compute_gradients(again, varlist2)\n",
        ),
        "two optimizers run in one step",
    ),
    "averages that count": (
        ("ExponentialMovingAverage(0.9)", "ExponentialMovingAverage(0.9, global_step)"),
        "averages of what several operations train",
    ),
}


@pytest.mark.parametrize(("change", "reason"), KEPT.values(), ids=KEPT)
def test_what_stays(change: tuple[str, str], reason: str) -> None:
    result = run(("main.py", replaced(RATES, change)), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] != ["native"], said(result)
    assert any(reason in one for one in said(result)), said(result)


def test_a_variable_that_two_optimizers_train_stays() -> None:
    text = replaced(
        RATES,
        (
            "varlist1 = list(set(list(weights.values()) + list(biases.values())) - set(varlist2))",
            "varlist1 = list(weights.values()) + list(biases.values())",
        ),
    )
    result = run(("main.py", text), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] != ["native"], said(result)
    assert any("several operations train the same variables" in one for one in said(result))
