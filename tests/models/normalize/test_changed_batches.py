"""Batches that input functions change behind their iterators."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import stays

CHANGED = "the batch is changed before it is returned"


def program(body: str, drawn: str = "x, y = iterator.get_next()") -> str:
    lines = [
        "def draw_input_fn():",
        "    dataset = tf.data.Dataset.from_tensor_slices((X, X[:, :1])).repeat().batch(4)",
        "    iterator = dataset.make_one_shot_iterator()",
        f"    {drawn}",
        *(f"    {line}".rstrip() for line in body.splitlines()),
    ]
    made = "tf.estimator.Estimator(model_fn).train(draw_input_fn, steps=2)"
    return "\n".join([*lines, "", "", made, ""])


def function(body: str) -> list[str]:
    """The lines of the input function behind its Dataset."""
    text = converted(program(body)).partition(".batch(4)\n")[2]
    return text.partition("\n\n\n")[0].strip("\n").splitlines()


def test_a_function_of_the_batch_changes_it() -> None:
    assert function("x = x * 2  # scaled\n\n# Alike.\ny = y * 2\nreturn x, y") == [
        "    def as_batch(x, y):",
        "        x = x * 2  # scaled",
        "",
        "        # Alike.",
        "        y = y * 2",
        "        return x, y",
        "",
        "    return dataset.map(as_batch)",
    ]


def test_the_lines_of_a_text_stay() -> None:
    body = 'print("""a\nb""")\nx = -x\nreturn x, y'
    assert function(body)[1:3] == ['        print("""a', '    b""")']


def test_a_variable_that_was_another_before() -> None:
    text = program("dataset = x + y\nreturn x, y + 0 * dataset")
    assert "    def as_batch(x, y):\n        dataset = x + y\n" in converted(text)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        # A Dataset would make one tensor of a list.
        ("parts = tf.split(x, 2, 1)\nreturn parts, y", CHANGED),
        ("parts = [x[:, :1], x[:, 1:]]\nreturn parts, y", CHANGED),
        ("parts = halves(x)\nreturn parts, y", CHANGED),
        # In a graph of the Dataset's own, other numbers are drawn.
        ("x += tf.random_normal([2], seed=3)\nreturn x, y", CHANGED),
        ("tf.summary.histogram('x', x)\nreturn x, y", CHANGED),
        # Not a function of the batch.
        ("if len(X) > 3:\n    x = -x\nreturn x, y", CHANGED),
        ("if len(X) > 3:\n    return y, y\nreturn x, y", CHANGED),
        ("dataset = dataset.batch(2)\nx = -x\nreturn x, y", CHANGED),
        ("seen.append(iterator)\nx = -x\nreturn x, y", CHANGED),
    ],
)
def test_what_would_be_another_batch_stays(body: str, reason: str) -> None:
    stays(HEAD + program(body), reason)


def test_whether_one_name_is_a_tuple_must_be_known() -> None:
    text = program("x = batch[0]\nreturn x, batch[1]", "batch = iterator.get_next()")
    assert "def as_batch(*batch):" in converted(text)
    text = text.replace("tf.data.Dataset.from_tensor_slices((X, X[:, :1]))", "read()")
    read = "def read():\n    return tf.data.experimental.make_csv_dataset('f', 1)\n\n\n"
    stays(HEAD + read + text, CHANGED)


def test_no_labels_are_left_out() -> None:
    assert function(
        "size = len(X)\nfeatures = {'x': x, 'size': [size]}\nreturn features, None"
    ) == [
        "    def as_batch(x, y):",
        "        size = len(X)",
        "        features = {'x': x, 'size': [size]}",
        "        return features",
        "",
        "    return dataset.map(as_batch)",
    ]


@pytest.mark.parametrize("more", ["[x]", "[size, y]", "[tf.shape(x)]", "[size]"])
def test_a_list_of_tensors_is_no_tensor(more: str) -> None:
    size = "size = tf.size(x)" if more == "[size]" else "size = 3"
    stays(
        HEAD + program(f"{size}\nfeatures = {{'x': x, 'size': {more}}}\nreturn features, y"),
        CHANGED,
    )
