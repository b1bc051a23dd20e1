"""Blocks of attention: scopes that a loop counts, turns that only variables are left of, masks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

TEXT = Path(__file__).parents[3].joinpath("fixtures/session/attended_blocks/before.py").read_text()
COUNTED = 'with tf.variable_scope("read_%d" % i, reuse=tf.AUTO_REUSE):'
AUTO = "weights may be shared by AUTO_REUSE"


def test_scopes_that_a_loop_counts() -> None:
    text, _ = migrated(TEXT, native_sessions=True)
    assert "AUTO_REUSE" not in text
    assert "self.attend_layers.append(Attend(size, heads))" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (COUNTED, COUNTED.replace('"read_%d" % i', '"read_%d" % (i // 2)'), AUTO),
        (COUNTED, COUNTED.replace("read_%d", "near_%d"), AUTO),
        (COUNTED, COUNTED.replace("read_%d", "near_1%d"), AUTO),
        (
            'tf.variable_scope("all")',
            'tf.variable_scope("read_0", reuse=tf.AUTO_REUSE)',
            "`seen`, a part of the graph, is used outside of",
        ),
        ("for i in range(blocks):", "for i in [0] * blocks:", AUTO),
        ("for i in range(blocks):\n", "for i in range(blocks):\n            i = 0\n", AUTO),
    ],
)
def test_scopes_of_one_name_stay(old: str, new: str, reason: str) -> None:
    result = run(changed(TEXT, (old, new)), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)


def test_a_turn_whose_value_nothing_reads_leaves_variables_without_gradients() -> None:
    text, _ = migrated(TEXT, native_sessions=True)
    assert "[value if value is None else tf.convert_to_tensor(value) for value in" in text
    chained = changed(TEXT, ("read = attend(embedded, seen", "seen = read = attend(seen, seen"))
    text, _ = migrated(chained, native_sessions=True)
    assert "value is None" not in text


def test_a_mask_is_a_tensor_in_some_calls_and_none_in_others() -> None:
    text, _ = migrated(TEXT, native_sessions=True)
    assert "def call(self, x, keys, masks):" in text
    assert "attend(seen, seen, None)" in text


def test_a_function_that_gives_a_global_a_value_stays() -> None:
    head = "    global batch\n    print("
    text = changed(TEXT, (head, f"    global batch\n    batch = 6\n{head[17:]}"))
    result = run(text, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    reason = "`attend` does more than make and apply layers"
    assert any(reason in one for one in said(result)), said(result)


def test_what_is_printed_of_something_else_stays() -> None:
    text = changed(TEXT, ('"attends to", keys)', '"attends to", heads)'))
    result = run(text, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    reason = "`attend` does more than make and apply layers"
    assert any(reason in one for one in said(result)), said(result)


def test_a_called_function_that_asks_for_an_unbound_name_stays() -> None:
    text = changed(
        TEXT,
        ("table, self.x)\n", "table, self.x)\n        embedded = learned_positions(embedded, 8)\n"),
    )
    result = run(text, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    reason = "`embed_table` is not supported in code that builds the graph"
    assert any(reason in one for one in said(result)), said(result)
