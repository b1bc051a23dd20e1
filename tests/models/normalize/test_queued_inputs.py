"""Input functions of Estimators that take their batches out of queues."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import migrated, stays

FILES = ["stones.csv"]
RETURNED = "the tensors that this input function returns"
READ = "_, rows = reader.read_up_to(queue, num_records=10)"
PARSED = "x, y = tf.decode_csv(rows, [[0.0], [0.0]])\nreturn tf.stack([x, x], 1), y"


def program(*body: str, head: str = "") -> str:
    lines = [
        "def read_input_fn(shuffle=True):",
        *(f"    {line}".rstrip() for part in body for line in part.splitlines()),
    ]
    made = "tf.estimator.Estimator(model_fn).train(read_input_fn, steps=2)"
    return "\n".join([head, *lines, "", "", made, ""])


def function(text: str) -> list[str]:
    """The lines of the input function, without the function of its batches."""
    found = converted(text).partition("read_input_fn(shuffle=True):\n")[2]
    return [line.strip() for line in found.partition("    def as_batch")[0].splitlines() if line]


def queue(files: str, more: str = "", reader: str = "tf.TextLineReader()") -> list[str]:
    made = f"queue = tf.train.string_input_producer({files}{more})"
    return [made, f"reader = {reader}", READ, PARSED]


def test_records_of_files_by_their_pattern() -> None:
    files = "tf.train.match_filenames_once('*.csv')"
    assert function(program(*queue(files, ", num_epochs=3"))) == [
        "dataset = tf.data.Dataset.list_files('*.csv').repeat(3)",
        "dataset = dataset.flat_map(",
        "lambda name: tf.data.TextLineDataset(name).batch(10))",
    ]


def test_files_in_their_order() -> None:
    reader = "tf.TextLineReader(skip_header_lines=1)"
    assert function(program(*queue("['a', 'b']", ", shuffle=False", reader))) == [
        "dataset = tf.data.Dataset.from_tensor_slices(['a', 'b']).repeat()",
        "dataset = dataset.flat_map(",
        "lambda name: tf.data.TextLineDataset(name).skip(1).batch(10))",
    ]


def test_whether_files_are_mixed_may_be_a_parameter() -> None:
    head = "NAMES = ['a', 'b']\n"
    assert function(program(*queue("NAMES", ", shuffle=shuffle"), head=head)) == [
        "dataset = tf.data.Dataset.from_tensor_slices(NAMES)",
        "if shuffle:",
        "dataset = dataset.shuffle(len(NAMES))",
        "dataset = dataset.repeat()",
        "dataset = dataset.flat_map(",
        "lambda name: tf.data.TextLineDataset(name).batch(10))",
    ]


def test_batches_of_arrays_never_end() -> None:
    given = "batch_size=4, capacity=20, min_after_dequeue=8, enqueue_many=True"
    text = program(f"x, y = tf.train.shuffle_batch([X, X[:, 0]], {given})\nreturn x, y")
    assert function(text)[:2] == [
        "dataset = tf.data.Dataset.from_tensor_slices((X, X[:, 0])).repeat()",
        "dataset = dataset.shuffle(20).batch(4, drop_remainder=True)",
    ]


def test_a_batch_that_is_returned_at_once() -> None:
    text = program("return tf.train.batch([X, X[:, 0]], 4, enqueue_many=True)")
    assert function(text)[:2] == [
        "dataset = tf.data.Dataset.from_tensor_slices((X, X[:, 0])).repeat()",
        "dataset = dataset.batch(4, drop_remainder=True)",
    ]
    assert "    return dataset\n" in converted(text)


def test_records_one_by_one_are_parsed_as_in_a_session() -> None:
    text = program(
        "queue = tf.train.string_input_producer(['a'])",
        "_, row = tf.TextLineReader().read(queue)",
        "x, y = tf.decode_csv(row, [[0.0], [0.0]])",
        "xs, ys = tf.train.batch([tf.stack([x, x]), y], 10)",
        "return xs, ys",
    )
    found = converted(text)
    assert "tf.data.TextLineDataset(['a']).repeat().map(parse_example)" in found
    assert ".batch(10, drop_remainder=True).prefetch(1)" in found


@pytest.mark.parametrize(
    "body",
    [
        # Two queues, which nothing keeps in step.
        [*queue("['a']")[:2], READ, READ.replace("rows", "more"), PARSED],
        # What one read has the next has not.
        [*queue("['a']")[:2], READ.replace("_,", "key,"), "print(key)", PARSED],
        # Another one reads from it.
        [*queue("['a']")[:3], "print(queue.size())", PARSED],
        # Which files there are is drawn, or known in a step alone.
        queue("tf.random_shuffle(['a', 'b'])"),
        queue("read_names()"),
        queue("['a']", reader="tf.WholeFileReader()"),
        queue("['a']", reader="tf.TFRecordReader(options=OPTIONS)"),
        # Another array in each step.
        [
            "noise = tf.random_normal([20, 2])",
            "x = tf.train.batch([noise], 4, enqueue_many=True)\nreturn x, x[:, 0]",
        ],
        [
            "part = tf.train.limit_epochs(tf.constant(X), 2)",
            "x = tf.train.batch([part], 4, enqueue_many=True)\nreturn x, x[:, 0]",
        ],
        ["x = tf.train.batch([X], 4, enqueue_many=True, shapes=[[2]])\nreturn x, x[:, 0]"],
    ],
)
def test_queues_that_are_not_understood_stay(body: list[str]) -> None:
    head = "OPTIONS = None\n\n\ndef read_names():\n    return tf.constant(['a'])\n\n\n"
    stays(HEAD + program(*body, head=head), RETURNED)


def test_a_part_of_a_list_of_tensors_is_one_of_them() -> None:
    parsed = "parts = tf.decode_csv(rows, [[0.0], [0.0]])\nreturn parts[:1], parts[1]"
    stays(HEAD + program(*queue("['a']")[:3], parsed), RETURNED)


ARRAYS = (
    "tf.estimator.inputs.numpy_input_fn({'x': X}, X[:, 0], 4, shuffle=shuffle, num_epochs=None)"
)


def test_an_input_function_of_arrays_that_is_called() -> None:
    text = program(f"arrays = {ARRAYS}\nfeatures, y = arrays()\nreturn features['x'], y")
    found = converted(text)
    assert "Dataset.from_tensor_slices(({'x': X}, X[:, 0]))" in found
    assert "shuffle(1000 if shuffle else 1).repeat().batch(4)" in found
    assert "return dataset.map(lambda features, y: (features['x'], y))" in found


def test_a_part_of_a_batch_may_be_all_that_is_returned() -> None:
    given = "tf.estimator.inputs.numpy_input_fn({'x': X}, batch_size=4, shuffle=False)"
    head = program(f"x, y = {ARRAYS}()\nreturn x['x'], y")
    more = f"\ndef row_fn():\n    row = {given}()\n    return row['x']\n\n\n"
    text = head.replace("\n\ntf.est", f"\n{more}\nestimator = tf.est").replace(
        "Estimator(model_fn).train", "Estimator(model_fn)\nestimator.train"
    )
    found = converted(text + "for row in estimator.predict(row_fn):\n    print(row)\n")
    assert "return dataset.map(lambda row: row['x'])" in found


@pytest.mark.parametrize(
    "body",
    [
        f"arrays = {ARRAYS}\nx, y = arrays()\nprint(arrays)\nreturn x['x'], y",
        f"arrays = {ARRAYS}\nx, y = arrays()\nmore, _ = arrays()\nreturn x['x'], y",
        f"x, y = {ARRAYS.replace('None', '2')}()\nif shuffle:\n    x = y\nreturn x['x'], y",
    ],
)
def test_calls_of_input_functions_that_stay(body: str) -> None:
    text, messages = migrated(HEAD + program(body))
    assert "numpy_input_fn" in text
    assert any(RETURNED in one or "the batch is changed" in one for one in messages)
