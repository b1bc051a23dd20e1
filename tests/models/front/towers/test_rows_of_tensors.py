"""One batch in another shape for all towers, rows that a tensor is asked for, functions within."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

TOWERS = Path(__file__).parents[4] / "fixtures" / "towers"
ROWS = (TOWERS / "rows_of_tensors" / "before.py").read_text()
FLAT = "tf.reshape(pool, [pool_shape[0], nodes])"
SHAPE = "    pool_shape = pool.get_shape().as_list()\n"
BATCH = "x = tf.reshape(x, [-1, SIZE, SIZE, 1])"
NUMBER = 'number = tower_name.split("_")[-1]'


def stays(*files: str | tuple[str, str]) -> str:
    result = run(*files, bridge=True, native_sessions=True)
    assert "native" not in [one.state for one in result.programs], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


@pytest.mark.parametrize(
    "flat",
    [
        "tf.reshape(pool, [pool.get_shape()[0], nodes])",
        "tf.reshape(pool, (pool_shape[0], nodes))",
        "tf.reshape(pool, shape=[pool.get_shape()[0].value, nodes], name='flat')",
    ],
)
def test_rows_that_the_tensor_has_itself(flat: str) -> None:
    after = native(changed(ROWS, (FLAT, flat)))
    assert "[-1, self.nodes]" in after or "(-1, self.nodes)" in after


def test_the_shape_that_nothing_else_reads_goes() -> None:
    assert "pool_shape" not in native(ROWS)


def test_rows_of_another_tensor_stay() -> None:
    text = changed(
        ROWS, (FLAT, "tf.reshape(pool, [rows[0], nodes])"),
        (SHAPE, f"{SHAPE}    rows = images.get_shape().as_list()\n"),
    )  # fmt: skip
    after = run(text, bridge=True, native_sessions=True)
    assert all("[-1, nodes]" not in (one.after or "") for one in after.files)


def test_a_shape_that_changes_stays() -> None:
    text = changed(ROWS, (SHAPE, f"{SHAPE}    pool_shape[0] = 3\n"))
    assert "a layer's size or setting depends on the tensor `nodes`" in stays(text)


def test_a_tensor_that_gets_another_value_stays() -> None:
    text = changed(ROWS, (SHAPE, f"{SHAPE}    pool = tf.concat([pool, pool], 0)\n"))
    assert "how many rows they need cannot be determined" in stays(text)


def test_a_batch_of_another_shape_that_is_not_told() -> None:
    text = changed(ROWS, (BATCH, "x = tf.reshape(x, [6, SIZE, SIZE, 1])"))
    assert "layers are made here: the shape of `x` is not known before" in stays(text)


def test_the_batch_is_shown_as_it_reaches_the_layers() -> None:
    assert "(tf.ones([1, SIZE, SIZE, 1], iterator.element_spec[0].dtype))" in native(ROWS)


@pytest.mark.parametrize("more", ["x = x * 2.0", "x = tf.cast(x, tf.float32)"])
def test_a_batch_that_is_computed_with_behind_another_shape_is_not_told(more: str) -> None:
    """The element has the same name, and the shape that its layers do not get."""
    text = changed(
        ROWS,
        (BATCH, f"{BATCH}\n        {more}"),
        ("def inference(images, reg", "def inference(images, labels, reg"),
        ("y = inference(x, reg", "y = inference(x, y_, reg"),
        ("hidden, weights) + biases", "hidden, weights) + biases + tf.cast(labels[0], tf.float32)"),
        (f"{SHAPE}    nodes = pool_shape[1] * pool_shape[2] * pool_shape[3]", "    nodes = 64"),
        (FLAT, "tf.reshape(pool, [-1, nodes])"),
    )
    assert "layers are made here: the shape of `x` is not known before" in stays(text)


def test_a_part_of_a_tower_s_name_that_nothing_reads() -> None:
    assert "tower_name" not in native(ROWS)


def test_a_number_out_of_a_tower_s_name_is_no_label() -> None:
    text = changed(ROWS, (NUMBER, 'number = int(tower_name.split("_")[-1])'))
    assert "`number = int(" in stays(text)


def test_a_tower_that_computes_with_its_name_stays() -> None:
    told = "cur_loss = float(number) * cur_loss\n                    "
    text = changed(ROWS, ("reuse_variables = True\n", f"{told}reuse_variables = True\n"))
    assert "`number` differs from tower to tower" in stays(text)


def test_a_function_within_a_network_stands_above_it() -> None:
    assert "\n\ndef activated(values, biases):\n" in native(ROWS)


def test_a_function_within_a_network_that_is_handed_on_stays() -> None:
    text = changed(ROWS, ("conv = activated(", "conv = (lambda one: one)(activated)("))
    assert "does more than" in stays(text)


def test_what_a_function_within_changes_stays_there() -> None:
    inner = "        return tf.nn.relu(tf.nn.bias_add(values, biases))\n"
    text = changed(ROWS, (inner, "        kinds.append(tf.nn.relu)\n" + inner),
                   ("    def activated", "    kinds = []\n\n    def activated"))  # fmt: skip
    assert "`activated` does more than compute a value" in stays(text)
