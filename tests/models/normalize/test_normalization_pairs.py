"""Batch normalization made twice, settings chosen by the mode, tables whose decay is in the loss.

The program is the fixture ``normalization_pair``, which is proved.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.support import migration
from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "normalization_pair"
PROGRAM = (FIXTURE / "before.py").read_text(encoding="utf-8")
IN_PLACE = "both of these calls run in every mode"
REUSE = "its variables are shared by name with another call"
SETTINGS = "a branch of the network only chooses settings"
MOMENTUM = "MomentumOptimizer updates only the rows of an embedding"


changed = partial(migration.changed, PROGRAM)


def said_of(text: str) -> list[str]:
    after, said = migrated(text)
    assert "tf.estimator" not in after, said
    return said


def test_averages_moved_in_place_are_told() -> None:
    said = said_of(PROGRAM)
    assert any(IN_PLACE in one for one in said)
    assert not any("UPDATE_OPS" in one for one in said)


def test_averages_moved_by_update_ops_are_not() -> None:
    said = said_of(changed((" updates_collections=None,", "")))
    assert not any(IN_PLACE in one for one in said)
    assert any("nothing ran its UPDATE_OPS" in one for one in said)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is_training=False, reuse", "epsilon=0.1, is_training=False, reuse"),
        ("is_training=False, reuse=True", "is_training=True, reuse=True"),
        ("lambda: averaged)", "lambda: averaged + 1.0)"),
        ("lambda: trained, lambda: averaged)", "lambda: trained, lambda: averaged) + trained"),
        ("is_training=True, reuse=None", "is_training=True, reuse=tf.AUTO_REUSE"),
    ],
)  # fmt: skip
def test_two_calls_that_are_no_pair(old: str, new: str) -> None:
    stays(changed((old, new)), REUSE)


def test_a_setting_that_something_else_changes() -> None:
    text = changed(
        ("        rows = tf.nn", "        train_phase = not train_phase\n        rows = tf.nn")
    )
    stays(text, SETTINGS)


def test_a_setting_that_is_read() -> None:
    text = changed(
        ("net = normalized(net", "print(normalizer)\n                net = normalized(net")
    )
    stays(text, SETTINGS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        + decay * tf.nn.l2_loss(table)\n", ""),  # rows without a gradient
        ("loss = (\n", "loss = 1.0\n    loss = (\n"),
        ("tf.nn.l2_loss(table)", "tf.nn.l2_loss(table[1:])"),
        ("tf.nn.embedding_lookup(linear, ids)", "tf.nn.embedding_lookup(bias, ids)"),
        ("        + decay * tf.nn.l2_loss(table)\n", "        - decay / tf.nn.l2_loss(table)\n"),
    ],
)
def test_tables_of_which_some_rows_have_no_gradient(old: str, new: str) -> None:
    stays(changed((old, new)), MOMENTUM)


def test_a_key_that_is_a_part_of_another() -> None:
    pair = ('"prob": tf.sigmoid(y)}', '"prob": tf.sigmoid(y), "pro": y}')
    stays(changed(pair), "`predict_keys` of predict is not a list literal")


def test_a_loss_over_several_lines_stays_one_expression() -> None:
    after, _ = migrated(PROGRAM)
    assert "+ self.decay * tf.nn.l2_loss(self.table))\n" in after


def test_an_evaluation_whose_batches_are_counted_needs_no_care() -> None:
    data = 'tf.data.Dataset.from_tensor_slices(["1 1:2 7:1 13:1"] * 30)'
    after, said = migrated(changed(("tf.data.TextLineDataset(path)", data)))
    assert "self.mean_loss.update_state(self.batch_loss(" in after, said
    assert "control_dependencies" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[line], \" \")", "[line])"),
        ("[line], \" \")", "[line], sep=\" \")"),
        ("[line], \" \")", "source=[line], delimiter=\" \")"),
    ],
)  # fmt: skip
def test_string_split(old: str, new: str) -> None:
    after, said = migrated(changed((old, new)))
    split = 'columns = tf.SparseTensor(*tf.raw_ops.StringSplit(input=[line], delimiter=" "))'
    assert split in after, said


def test_string_split_with_two_separators() -> None:
    text = changed(("[line], \" \")", "[line], sep=\" \", delimiter=\",\")"))  # fmt: skip
    stays(text, "`tf.string_split` is TF1 API")


LISTS = (
    ('sizes = params["sizes"]', 'sizes = map(int, params["sizes"].split(","))'),
    ('"sizes": [8, 4]', '"sizes": "8,4"'),
)


def test_lists_of_python_2_make_the_file_one_of_python_2() -> None:
    after, said = migrated(changed(*LISTS))
    assert 'list(map(int, params["sizes"].split(",")))' in after, said
    assert "the file is Python 3 now" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(len(sizes))", "range(2)"),  # nothing asks for an item
        ("import numpy as np\n", "import numpy as np\nfrom six.moves import map\n"),
    ],
)
def test_an_iterator_is_no_list(old: str, new: str) -> None:
    walked = ("sizes[i]", "8")
    after, said = migrated(changed(*LISTS, walked, (old, new)))
    assert "the file is Python 3 now" not in said
    assert "list(map(" not in after


def test_keys_of_no_prediction() -> None:
    found, said = migrated(changed(('predict_keys="prob"', 'predict_keys="score"')))
    assert "for row in zip(*rows.values())" in found, said
    assert any("TF1 raises a ValueError" in one for one in said), said
