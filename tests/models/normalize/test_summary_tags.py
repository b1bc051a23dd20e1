"""Summaries that are called as operations: TF1's names, by constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "towers"
PROGRAM = (FIXTURES / "named_summaries" / "before.py").read_text()
CALLED = "name = re.sub('%s_[0-9]*/' % TOWER, '', one.op.name)"


def changed(old: str, new: str) -> str:
    assert old in PROGRAM
    return PROGRAM.replace(old, new)


def test_a_name_of_constants_is_calculated() -> None:
    after = native(changed("name='cross_entropy'", "name='%s_entropy' % TOWER"))
    assert "/tower_entropy_1' % (TOWER, NUM_GPUS - 1), values=losses[2])" in after


def test_what_a_dropout_gives_is_the_last_of_its_operations() -> None:
    """Seen in 1.15.5: `first/dropout/mul_1`, and `first/kept/mul_1` by a name of its own."""
    first = "first = tf.nn.relu(tf.matmul(rows, weights), name=scope.name)"
    dropped = first.replace("tf.nn.relu", "tf.nn.dropout(tf.nn.relu") + ", keep_prob=0.5{})"
    assert "/first/dropout/mul_1/activations'" in native(changed(first, dropped.format("")))
    named = changed(first, dropped.format(", name='kept'"))
    assert "/first/kept/mul_1/activations'" in native(named)


STAYS = {
    "its name differs in each tower": changed(CALLED, "name = one.op.name"),
    "it has no name": changed("name='cross_entropy'", ""),
    "others may be called so": changed("name='cross_entropy'", "name='mean'"),
    "another one is made several times": changed(
        "    right = tf.nn",
        "    for k in range(2):\n        tf.identity(logits, name='total_loss')\n    right = tf.nn",
    ),
    "what is read is not known": changed("losses + [total]", "losses + [total] * 2"),
    "the name of another is not known": changed(
        "    right = tf.nn", "    tf.identity(logits, name=str(BATCH))\n    right = tf.nn"
    ),
    "one of its numbers is taken": changed(
        "    right = tf.nn", "    tf.square(logits, name='total_loss_1')\n    right = tf.nn"
    ).replace("tf.square(logits, name", "tf.nn.moments(logits, BATCH, 1, name"),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS.keys())
def test_a_name_that_is_not_known_stays(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert "what TF1 calls an operation of the towers cannot" in " ".join(said(result))


LAYERS = [
    (
        "    return stacked(",
        "    widths.append(4)\n    return stacked(",
        "`widths`, which the towers",
    ),
    (
        "name='hidden%d' % (number + 1))\n",
        "name='hidden%d' % (number + 1))\n        if number > BATCH:\n            break\n",
        "`stacked` does more than",
    ),
    ("'hidden%d' % (number + 1)", "'hidden'", "several variables have one name"),
    ("widths = [7, 6, 3]", "widths = [7] * NUM_GPUS", "not part of a tower"),
    ("    for number, width in", "    widths += [3]\n    for number, width in", "or how often"),
]


@pytest.mark.parametrize(("old", "new", "why"), LAYERS)
def test_layers_of_a_loop_that_is_not_known_stay(old: str, new: str, why: str) -> None:
    result = run(changed(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert why in " ".join(said(result))
