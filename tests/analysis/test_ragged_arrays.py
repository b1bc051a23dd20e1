"""Rows of different lengths, of which NumPy 1.24 makes no array, are told where one is made."""

from __future__ import annotations

import pytest

from tests.support.migration import run

HELPERS = """\
import numpy as np


def batch_iter(data, batch_size, num_epochs, shuffle=True):
    \"\"\"Batches of the examples.\"\"\"
    {array}
    for epoch in range(num_epochs):
        yield data[np.random.permutation(len(data))[:batch_size]]
"""
TRAIN = """\
import tensorflow as tf
import helpers

x_train, y_train = [[1, 2, 3], [4, 5, 6]], [[0, 1], [1, 0]]
x = tf.placeholder(tf.int32, [None, 3])
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    for batch in helpers.batch_iter({given}):
        x_batch, y_batch = zip(*batch)
        print(sess.run(tf.reduce_sum(x), {{x: x_batch}}))
"""


def told(array: str, given: str) -> list[tuple[str, int | None, str, str | None]]:
    train = ("train.py", TRAIN.format(given=given))
    result = run(train, ("helpers.py", HELPERS.format(array=array)), bridge=True)
    (program,) = result.programs
    assert program.state in ("native", "bridge")
    return [
        (one.path.name, one.line, one.message, one.advice)
        for file in result.files
        for one in file.findings
        if one.code == "MGPU908"
    ]


@pytest.mark.parametrize(
    "given", ["list(zip(x_train, y_train)), 2, 1", "zip(x_train, y_train), 2, 1",
              "batch_size=2, num_epochs=1, data=list(zip(x_train, y_train))"]
)  # fmt: skip
def test_rows_that_a_call_zips(given: str) -> None:
    ((path, line, message, advice),) = told("data = np.array(data)", given)
    assert (path, line) == ("helpers.py", 6)
    assert message.startswith("NumPy 1.24 makes no array of rows of different lengths")
    assert "`data`" in message
    assert advice == "write `np.array(data, dtype=object)`"


@pytest.mark.parametrize(
    ("array", "given"),
    [
        ("data = np.array(data, dtype=object)", "list(zip(x_train, y_train)), 2, 1"),
        ("data = np.array(data)", "x_train, 2, 1"),
        ("data = np.array(data)", "list(zip(*[x_train, y_train])), 2, 1"),
        ("data = np.array(num_epochs)", "list(zip(x_train, y_train)), 2, 1"),
        ("data = [row[0] for row in data]\n    data = np.array(data)",
         "list(zip(x_train, y_train)), 2, 1"),
    ],
)  # fmt: skip
def test_others_are_not_told(array: str, given: str) -> None:
    assert told(array, given) == []


ZIPPED = """\
import numpy as np
import tensorflow as tf

rows = [np.asarray(row, np.int32) for row in ([1, 2, 3], [4, 5, 6])]
kinds = [{kind} for number in range(2)]
data = list(zip(rows, kinds))
print(len(data))
data = np.array({given})
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    print(sess.run(tf.constant(len(data))))
"""


@pytest.mark.parametrize(
    ("kind", "given", "is_told"),
    [
        ("[1, 0] if number else [0, 1]", "data", True),
        ("7", "data", True),
        ("np.array([1, number])", "data", False),  # of one kind, as far as is known
        ("[1, 0]", "data, dtype=object", False),
        ("[1, 0]", "list(data)", False),
    ],
)
def test_rows_that_are_zipped_above(kind: str, given: str, is_told: bool) -> None:
    result = run(("train.py", ZIPPED.format(kind=kind, given=given)), bridge=True)
    messages = [one.message for file in result.files for one in file.findings]
    assert any("rows of different lengths" in message for message in messages) is is_told
