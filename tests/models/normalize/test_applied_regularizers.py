"""Regularizers that functions are handed and apply themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import after, changed, run, said

BEFORE = Path(__file__).parents[3] / "fixtures" / "towers" / "handed_regularizer" / "before"
MAIN, NETWORK, ROWS = ((BEFORE / f"{name}.py").read_text() for name in ("main", "network", "rows"))
MADE = "tf.contrib.layers.l2_regularizer(DECAY)"
CONDITION = "    if regularizer != None: tf.add_to_collection('terms', regularizer(w))\n"


def migrated(main: str, network: str) -> tuple[str, list[str]]:
    files = [("main.py", main), ("network.py", network), ("rows.py", ROWS)]
    result = run(*files, bridge=True, native_sessions=True)
    (program,) = result.programs
    return program.state + "\n" + after(result, *files), said(result)


@pytest.mark.parametrize(
    ("made", "condition", "written"),
    [
        ("l2_regularizer(DECAY)", "if regularizer:", "tf.nn.l2_loss(w)"),
        ("l2_regularizer(0.1)", "if regularizer is not None:", "tf.nn.l2_loss(w)"),
        ("l1_regularizer(DECAY)", "if regularizer:", "tf.reduce_sum(tf.abs(w))"),
    ],
)
def test_its_number_is_handed_on(made: str, condition: str, written: str) -> None:
    main = changed(MAIN, ("l2_regularizer(DECAY)", made))
    network = changed(NETWORK, ("if regularizer != None:", f"{condition}\n       "))
    text, _ = migrated(main, network)
    scale = made.partition("(")[2][:-1]
    assert text.startswith("native\n")
    assert f"terms = [tf.multiply(self.regularizer_scale, {written})]\n" in text
    assert f"tower_cost = TowerCost({scale})\n" in text and "contrib" not in text


STAYS = {
    "it is given to a variable as well": (
        MAIN,
        changed(NETWORK, ("stddev=0.4)", "stddev=0.4), regularizer=regularizer")),
    ),
    "its number is computed": (changed(MAIN, ("(DECAY)", "(float(DECAY))")), NETWORK),
    "another one is handed on as well": (
        changed(
            MAIN,
            (MADE, f"{MADE}\n        other = tf.contrib.layers.l2_regularizer(0.5)"),
            (
                "                    tower_grads",
                "                    spare = tower_cost(x, kinds, other, scope)\n"
                "                    tower_grads",
            ),
        ),
        NETWORK,
    ),
    "it is handed on by the name of a parameter": (
        MAIN,
        changed(NETWORK, ("KINDS], regularizer)", "KINDS], regularizer=regularizer)")),
    ),
    "a function gives it another value": (
        MAIN,
        changed(NETWORK, (CONDITION, f"    regularizer = regularizer or None\n{CONDITION}")),
    ),
}


@pytest.mark.parametrize(("main", "network"), STAYS.values(), ids=STAYS.keys())
def test_what_is_not_understood_stays(main: str, network: str) -> None:
    text, messages = migrated(main, network)
    assert text.startswith("bridge\n") and "regularizer_scale" not in text
    # Two of one kind are numbers both; what makes layers is called for more than the towers then.
    function = "scores" if main is STAYS["another one is handed on as well"][0] else "held_weights"
    assert any(f"the session stays, on the bridge: `{function}` does more" in m for m in messages)
