"""Input queues become datasets, and the threads that fill them go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import tensorflow as tf

files = ['a.csv', 'b.csv']


def read(filename_queue):
    reader = tf.TextLineReader()
    _, line = reader.read(filename_queue)
    a, b = tf.decode_csv(line, [[0.0], [0.0]])
    return a, b


def inputs(size):
    # the files
    filename_queue = tf.train.string_input_producer(files, num_epochs=3)
    a, b = read(filename_queue)
    # in batches
    a_batch, b_batch = tf.train.shuffle_batch(
        [a, b], size, capacity=50, min_after_dequeue=20, num_threads=2)
    return a_batch, b_batch


x, y = inputs(4)
w = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(x * w - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    # threads
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)

    try:
        while not coord.should_stop():
            print(sess.run([loss, train])[0])
    except tf.errors.OutOfRangeError:
        print('done')
    finally:
        coord.request_stop()
    coord.join(threads)
"""
SOURCE = (
    "    filename_queue = tf.train.string_input_producer(files, num_epochs=3)\n"
    "    a, b = read(filename_queue)\n"
)
BATCH = (
    "    a_batch, b_batch = tf.train.shuffle_batch(\n"
    "        [a, b], size, capacity=50, min_after_dequeue=20, num_threads=2)\n"
)
SCRIPT = PROGRAM.replace(
    PROGRAM[PROGRAM.index("def inputs") : PROGRAM.index("w = tf")],
    "a, b = read(tf.train.string_input_producer(files))\nx, y = tf.train.batch([a, b], 4)\n",
)
TRIED = """\
    try:
        while not coord.should_stop():
            print(sess.run([loss, train])[0])
    except tf.errors.OutOfRangeError:
        print('done')
    finally:
        coord.request_stop()
    coord.join(threads)
"""


def changed(old: str, new: str) -> str:
    assert PROGRAM.count(old) == 1
    return PROGRAM.replace(old, new)


def lines(after: str) -> str:
    """A program with what is called of its dataset in one line."""
    return re.sub(r"\n +dataset = dataset\.", ".", after)


def sourced(source: str) -> str:
    text = changed(SOURCE, source)
    if "read(" not in source or ".read(" in source:  # it is nobody's then
        text = text.replace(text[text.index("def read") : text.index("def inputs")], "")
    return native(text)


def test_the_function_that_read_takes_a_record() -> None:
    after = native(PROGRAM)
    assert "def read(line):\n    a, b = tf.io.decode_csv(line, [[0.0], [0.0]])\n" in after
    assert (
        "    # in batches\n"
        "    dataset = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files)).repeat(3)"
        ".flat_map(tf.data.TextLineDataset).map(read, num_parallel_calls=2)"
        ".shuffle(50).batch(size, drop_remainder=True).prefetch(1)\n"
    ) in lines(after)
    assert max(map(len, after.splitlines())) <= 100


def test_a_batch_that_is_returned_without_a_name() -> None:
    named = "    a_batch, b_batch = tf.train.shuffle_batch("
    assert named in PROGRAM and "    return a_batch, b_batch\n" in PROGRAM
    text = PROGRAM.replace(named, "    return tf.train.shuffle_batch(")
    assert native(text.replace("    return a_batch, b_batch\n", "")) == native(PROGRAM)


def test_threads_go_with_what_was_said_of_them() -> None:
    after = native(PROGRAM)
    assert not any(word in after for word in ("coord", "thread", "finally"))
    assert (
        "try:\n    while True:\n        print(train_step().numpy())\n"
        "except tf.errors.OutOfRangeError:\n    print('done')\n"
    ) in after


def test_an_example_that_is_computed_where_it_is_read() -> None:
    after = sourced(
        "    filename_queue = tf.train.string_input_producer(files, shuffle=False)\n"
        "    key, line = tf.TextLineReader(skip_header_lines=1).read(filename_queue)\n"
        "    scale = 2.0\n"
        "    a, b = tf.decode_csv(line, [[0.0], [0.0]])\n"
        "    a = a * scale\n"
    )
    assert (
        "    scale = 2.0\n\n"
        "    def parse_example(line):\n"
        "        a, b = tf.io.decode_csv(line, [[0.0], [0.0]])\n"
        "        a = a * scale\n"
        "        return a, b\n\n"
        "    # in batches\n"
        "    dataset = tf.data.Dataset.from_tensor_slices(files).repeat()"
        ".flat_map(lambda name: tf.data.TextLineDataset(name).skip(1))"
    ) in lines(after)


def test_files_in_their_order_are_one_dataset() -> None:
    for given in ("files, shuffle=False", "['a.csv'], 3"):
        after = sourced(
            f"    a, b = read(tf.train.string_input_producer({given}, name='q'))\n"
        )  # one file has one order
        assert "flat_map" not in after
        assert f"tf.data.TextLineDataset({given.split(', ')[0]}).repeat(" in after


def test_slices_of_values() -> None:
    after = sourced(
        "    values = [1.0, 2.0, 3.0, 4.0, 5.0]\n"
        "    a, b = tf.train.slice_input_producer([values, values], seed=4)\n"
    )
    shuffled = "from_tensor_slices((values, values)).shuffle(len(values), seed=4).repeat()"
    assert f"dataset = tf.data.Dataset.{shuffled}.shuffle(50)" in lines(after)
    assert ".map(" not in after
    after = sourced(
        "    values = [1.0, 2.0, 3.0, 4.0, 5.0]\n"
        "    queue = tf.train.slice_input_producer([values, values], shuffle=False)\n"
        "    a, b = queue[0] * 2, queue[1]\n"
    )
    assert "def load_example(*queue):\n        a, b = queue[0] * 2, queue[1]\n" in after


def test_many_that_read_at_the_same_time() -> None:
    several = "examples = [read(filename_queue) for _ in range(4)]"
    text = changed("a, b = read(filename_queue)", several)
    text = text.replace("shuffle_batch(\n        [a, b]", "shuffle_batch_join(\n        examples")
    after = native(text.replace(", num_threads=2", ""))
    assert ".map(read, num_parallel_calls=4)" in after


RESTS = {
    "True": "",
    "False": ", drop_remainder=True",
    "size > 3": ", drop_remainder=not (size > 3)",
}


@pytest.mark.parametrize(("value", "rest"), RESTS.items())
def test_the_rest_that_fills_no_batch(value: str, rest: str) -> None:
    text = changed("num_threads=2)", f"num_threads=2, allow_smaller_final_batch={value})")
    assert f".batch(size{rest}).prefetch(1)" in lines(native(text))


def test_shapes_that_a_batch_is_told() -> None:
    after = native(changed("num_threads=2", "shapes=[[], ()]"))
    assert (
        "    def parse_example(line):\n"
        "        a, b = read(line)\n"
        "        a.set_shape([])\n"
        "        b.set_shape(())\n"
        "        return a, b\n"
    ) in after


def test_threads_of_a_program_that_has_no_queue() -> None:
    text = changed(SOURCE + "    # in batches\n" + BATCH, (
        "    dataset = tf.data.Dataset.from_tensor_slices(([1.0], [2.0])).batch(size)\n"
        "    a_batch, b_batch = dataset.make_one_shot_iterator().get_next()\n"
    ))  # fmt: skip
    text = text.replace(text[text.index("def read") : text.index("def inputs")], "")
    assert "coord" not in native(text)


def test_an_error_ends_the_threads_and_is_raised() -> None:
    text = changed("except tf.errors.OutOfRangeError:\n        print('done')",
                   "except Exception as error:\n        coord.request_stop(error)")  # fmt: skip
    after = native(text)
    assert "except tf.errors.OutOfRangeError:\n    pass\n" in after


def test_a_try_that_only_ended_the_threads() -> None:
    text = changed(TRIED, (
        "    try:\n"
        "        for step in range(3):\n"
        "            if coord.should_stop():\n"
        "                break\n"
        "            # a step\n"
        "            print(sess.run([loss, train])[0])\n"
        "    finally:\n"
        "        coord.request_stop()\n"
        "        coord.join(threads)\n"
    ))  # fmt: skip
    assert native(text).endswith(
        "for step in range(3):\n    # a step\n    print(train_step().numpy())\n"
    )


def test_blocks_around_pipelines() -> None:
    block = "    with tf.name_scope('input'), tf.device('/cpu:0'):\n"
    inside = (SOURCE + "    # in batches\n" + BATCH).replace("\n    ", "\n        ")
    text = changed(SOURCE + "    # in batches\n" + BATCH, f"{block}    {inside}")
    assert native(text) == native(PROGRAM)  # it named operations of the pipeline alone
    head, rest = SCRIPT.split("a, b = read(tf")
    body, rest = f"a, b = read(tf{rest}".split("\n\nwith tf.Session")
    body = body.replace("\n", "\n    ")
    text = f"{head}with tf.device('/gpu:1'):\n    {body}\n\nwith tf.Session{rest}"
    after = native(text)  # here it is a place of variables, too
    assert "with tf.device('/gpu:1'):\n    w = tf.Variable(1.0)\n" in after


STAYS = {
    "two queues, which nothing keeps in step": changed(SOURCE, SOURCE + (
        "    b = read(tf.train.string_input_producer(files))[0]\n")),
    "another use of an example": changed(SOURCE, SOURCE + "    tf.summary.scalar('a', a)\n"),
    "a function that knows an example": SCRIPT.replace(
        "a, b = read(tf", "def show():\n    print(a)\n\n\na, b = read(tf"),
    "another use of the queue": changed(SOURCE, SOURCE + "    print(filename_queue.size())\n"),
    "a queue that is given to somebody else": changed(
        "x, y = inputs(4)", "x, y = inputs(4)\nprint(read)"),
    "examples of several at once": changed("num_threads=2", "num_threads=2, enqueue_many=True"),
    "examples of several sizes": changed(BATCH, BATCH.replace("shuffle_batch", "batch").replace(
        "capacity=50, min_after_dequeue=20", "dynamic_pad=True")),
    "shapes of what has no name": changed(BATCH, BATCH.replace("[a, b]", "[a + 1, b]").replace(
        "num_threads=2", "shapes=[[], []]")),
    "how many are shuffled is not known": changed(
        SOURCE, SOURCE.replace("files,", "tf.train.match_filenames_once('*.csv'),")),
    "whether it shuffles is not known": changed(
        SOURCE, SOURCE.replace("num_epochs=3", "shuffle=len(files) > 1")),
    "the key of what is read": changed(
        "    return a, b\n\n\ndef inputs", "    return a, b, _\n\n\ndef inputs"),
    "a loop that asks for more": changed(
        "while not coord.should_stop():", "while not coord.should_stop() and len(files) > 1:"),
    "a coordinator of other threads": changed(
        "    coord.join(threads)\n", "    coord.join(threads, stop_grace_period_secs=3)\n"
        "    print(coord.joined)\n"),
    "a loop that ends by itself": changed(
        "            print(sess.run([loss, train])[0])",
        "            if sess.run([loss, train])[0] < 1.0:\n                coord.request_stop()"),
    "a coordinator of the author's threads": changed(
        "    coord.join(threads)", "    own = []\n    coord.join([*threads, *own])"),
    "an error that is told first": changed(
        "except tf.errors.OutOfRangeError:\n        print('done')",
        "except Exception as error:\n        print(error)\n        coord.request_stop(error)"),
}  # fmt: skip


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_is_not_understood_stays(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in message for message in said(result))


RECORDS = """\
class Record(object):
        pass

    record = Record()
    record.size = 4
    length = 1 + record.size
    reader = tf.FixedLengthRecordReader(record_bytes=length)
    record.key, line = reader.read(filename_queue)
    values = tf.cast(tf.decode_raw(line, tf.uint8), tf.float32)
    record.a, record.b = values[0], values[1]
    return record
"""
OBJECTS = PROGRAM.replace(
    PROGRAM[PROGRAM.index("reader = tf") : PROGRAM.index("\n\ndef inputs")], RECORDS
).replace("a, b = read(filename_queue)", "record = read(filename_queue)").replace(
    "[a, b], size", "[record.a, record.b], size"
)  # fmt: skip


def test_an_object_that_has_what_was_read() -> None:
    after = native(OBJECTS)
    assert "def read(line):\n    class Record(object):\n        pass\n\n" in after
    assert "lambda name: tf.data.FixedLengthRecordDataset(name, 5)" in after  # 1 + 4
    assert "        return record.a, record.b\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    length = 1", "    if len(files) > 2:\n        record.size = 8\n    length = 1"),
        ("[record.a,", "[record.key,"),
        ("        pass\n", "        size = tf.constant(4)\n"),
    ],
    ids=["a length that a branch changes", "the key of an object", "a class with more in it"],
)
def test_an_object_that_may_have_more_stays(old: str, new: str) -> None:
    assert OBJECTS.count(old) == 1
    result = run(OBJECTS.replace(old, new), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


BATCHED = changed(BATCH + "    return a_batch, b_batch\n", "    return batched(a, b, size, True)\n")
BATCHED = BATCHED.replace("def inputs", """\
def batched(a, b, size, shuffle):
    # of some or of all
    if shuffle:
        a_batch, b_batch = tf.train.shuffle_batch([a, b], size, 50, 20)
    else:
        a_batch, b_batch = tf.train.batch([a, b], size)
    return a_batch, tf.reshape(b_batch, [size])


def inputs""")  # fmt: skip


def test_a_function_that_batches_what_it_is_given() -> None:
    after = native(BATCHED)
    assert "batched" not in after
    assert ".shuffle(50).batch(size" in lines(after)
    assert "    return dataset\n" in after
    other = native(BATCHED.replace("size, True)", "size, False)"))
    assert ".shuffle(50)" not in lines(other)


def test_what_is_computed_of_a_batch_is_computed_where_it_is_drawn() -> None:
    after = native(BATCHED)
    assert "y = tf.reshape(b_batch, [4])\n" in after, after


def test_an_arm_that_the_call_does_not_decide_stays() -> None:
    text = BATCHED.replace("size, True)", "size, len(files) > 1)")
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


def test_what_a_parser_in_a_function_calls_is_written_for_tf2() -> None:
    """`tf.decode_raw` stayed, where only a function within a function called its user."""
    after = native(
        """\
import tensorflow as tf


def decode(record):
    return tf.cast(tf.decode_raw(record, tf.uint8), tf.float32)


def inputs():
    def parse(record):
        return decode(record)

    return tf.data.TFRecordDataset(['a']).map(parse).batch(2)


x = inputs().make_one_shot_iterator().get_next()
w = tf.Variable(1.0)
loss = tf.reduce_mean(tf.square(x * w))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train])[0])
"""
    )
    assert "tf.io.decode_raw" in after


def test_summaries_that_go_with_a_queue_are_told() -> None:
    fixtures = Path(__file__).parents[3] / "fixtures"
    before = fixtures / "towers" / "queue_in_each_tower" / "before"
    files = [(path.name, path.read_text()) for path in sorted(before.glob("*.py"))]
    told = [one for one in run(*files, native_sessions=True).findings if "full" in one.message]
    assert [(one.path.name, one.state) for one in told] == [("main.py", "manual")]
    without = [(name, text.replace("tf.GraphKeys.SUMMARIES", "'own'")) for name, text in files]
    assert not any("full" in message for message in said(run(*without, native_sessions=True)))
