"""A program stays for what it does, not for what only an option of it asks for."""

from __future__ import annotations

import pytest

from tests.support import migration

GRAPH = "with tf.Session() as sess:\n    print(sess.run(make()))\n"
QUANTIZE = "tf.contrib.quantize.create_training_graph()"


def program(code: str, last: str = GRAPH) -> str:
    return f"import tensorflow as tf\n{code}\n\n{last}"


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("flags = tf.app.flags\nflags.DEFINE_bool('quantize', False, '')\nFLAGS = flags.FLAGS\n"
         f"def make():\n    if FLAGS.quantize:\n        {QUANTIZE}\n    return tf.zeros([2])",
         "FLAGS.quantize"),
        ("tf.app.flags.DEFINE_integer('delay', -1, '')\n"
         f"def make():\n    if tf.app.flags.FLAGS.delay >= 0:\n        {QUANTIZE}\n"
         "    return tf.zeros([2])", "tf.app.flags.FLAGS.delay >= 0"),
        ("import argparse\nparser = argparse.ArgumentParser()\n"
         "parser.add_argument('--no-quant', dest='quant', action='store_false')\n"
         "args = parser.parse_args()\ndef make():\n    if not args.quant:\n"
         f"        {QUANTIZE}\n    return tf.zeros([2])", "not args.quant"),
        (f"def build(quantize=False):\n    if quantize is True:\n        {QUANTIZE}\n"
         "    return tf.zeros([2])\ndef make():\n    return build()", "quantize is True"),
        ("class Net(object):\n    def __init__(self, size, quantize=None):\n"
         "        self.quantize = quantize\n    def build(self):\n        if self.quantize:\n"
         f"            {QUANTIZE}\n        return tf.zeros([2])\n"
         "Model = Net\ndef make():\n    return Model(3).build()", "self.quantize"),
        # Where a name chooses among several, and the others work.
        ("def fast(x):\n    return tf.contrib.cudnn_rnn.CudnnLSTM(1, 2)(x)\n"
         "def slow(x):\n    return tf.tanh(x)\n"
         "def make(kind=open('kind').read()):\n    x = tf.zeros([2, 3, 4])\n"
         "    if kind == 'slow':\n        return slow(x)\n    elif kind == 'fast':\n"
         "        return fast(x)\n    raise ValueError(kind)", "kind == 'fast'"),
    ],
)  # fmt: skip
def test_what_an_option_asks_for_is_told(code: str, asked: str) -> None:
    text = program(code)
    result = migration.run(text, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], migration.said(result)
    told = [one for one in migration.said(result) if "nobody asks for it" in one]
    assert told and all(f"`{asked}`" in one for one in told), migration.said(result)


@pytest.mark.parametrize(
    "code",
    [
        # It is asked for by default, or by one of the calls.
        "tf.app.flags.DEFINE_bool('quantize', True, '')\nFLAGS = tf.app.flags.FLAGS\n"
        f"def make():\n    if FLAGS.quantize:\n        {QUANTIZE}\n    return tf.zeros([2])",
        f"def build(quantize=False):\n    if quantize:\n        {QUANTIZE}\n"
        "    return tf.zeros([2])\ndef make():\n    return build(), build(quantize=True)",
        f"def build(quantize=False):\n    if quantize:\n        {QUANTIZE}\n"
        "    return tf.zeros([2])\ndef make():\n    return list(map(build, [1]))",
        # Something else sets it.
        "tf.app.flags.DEFINE_bool('quantize', False, '')\nFLAGS = tf.app.flags.FLAGS\n"
        "FLAGS.quantize = True\n"
        f"def make():\n    if FLAGS.quantize:\n        {QUANTIZE}\n    return tf.zeros([2])",
        # Another mention is asked for by nobody.
        "tf.app.flags.DEFINE_bool('quantize', False, '')\nFLAGS = tf.app.flags.FLAGS\n"
        f"def make():\n    if FLAGS.quantize:\n        {QUANTIZE}\n    {QUANTIZE}\n"
        "    return tf.zeros([2])",
        # No arm does without, and each program trains.
        f"def make(kind=open('kind').read()):\n    if kind == 'a':\n        {QUANTIZE}\n"
        f"    else:\n        {QUANTIZE}\n    return tf.zeros([2])",
        f"def make(kind=open('kind').read()):\n    if kind == 'a':\n        {QUANTIZE}\n"
        "    else:\n        raise ValueError(kind)\n    return tf.zeros([2])",
        f"def quantize():\n    {QUANTIZE}\n"
        f"def make(kind=open('kind').read()):\n    if kind == 'a':\n        {QUANTIZE}\n"
        "    else:\n        quantize()\n    return tf.zeros([2])",
        "def make(is_training=bool(open('kind').read())):\n    if is_training:\n"
        f"        {QUANTIZE}\n"
        "    else:\n        print('evaluated')\n    return tf.zeros([2])",
        f"def make():\n    if open('kind').read():\n        {QUANTIZE}\n    return tf.zeros([2])",
    ],
)
def test_what_may_be_asked_for_keeps_a_program(code: str) -> None:
    result = migration.run(program(code), bridge=True)
    assert [one.state for one in result.programs] == ["refused"], migration.said(result)
    assert any("`tensorflow.contrib.quantize.create" in one for one in migration.said(result))


FLAG = "tf.app.flags.DEFINE_bool('quantize', False, '')\nFLAGS = tf.app.flags.FLAGS\n"


def test_its_import_stands_where_it_is_asked_for() -> None:
    text = program(
        "from tensorflow.contrib import layers, quantize as q\n" + FLAG + "def make():\n"
        "    if FLAGS.quantize:\n        print('now')\n        q.create_eval_graph()\n"
        "        q.create_training_graph()\n    return layers.flatten(tf.zeros([2, 3]))"
    )
    after = migration.after(migration.run(text, bridge=True), text)
    assert (
        "    if FLAGS.quantize:\n        from tensorflow.contrib import quantize as q\n"
        "        print('now')\n        q.create_eval_graph()\n" in after
    )
    assert after.count("contrib") == 1 and "layers.flatten(" in after


def test_an_import_that_stands_there_stays() -> None:
    code = FLAG + (
        "def make():\n    if FLAGS.quantize:\n        import tensorflow.contrib.quantize as q\n"
        "        q.create_eval_graph()\n    return tf.contrib.layers.flatten(tf.zeros([2, 3]))"
    )
    result = migration.run(program(code), bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], migration.said(result)
    after = migration.after(result, program(code))
    assert "        import tensorflow.contrib.quantize as q\n        q.create" in after


def test_an_import_of_a_function_goes_where_it_is_asked_for() -> None:
    code = FLAG + (
        "def make():\n    from tensorflow.contrib import quantize\n    if FLAGS.quantize:\n"
        "        quantize.create_eval_graph()\n    return tf.zeros([2, 3])"
    )
    after = migration.after(migration.run(program(code), bridge=True), program(code))
    wanted = "        from tensorflow.contrib import quantize\n        quantize.create_eval_graph()"
    assert "def make():\n    if FLAGS.quantize:\n" + wanted in after


@pytest.mark.parametrize(
    "code",
    [
        "from tensorflow.contrib import quantize\n" + FLAG + "def make():\n"
        "    if FLAGS.quantize:\n        quantize.create_eval_graph()\n"
        "    return tf.zeros([2])\nprint(quantize)",
        "from tensorflow.contrib import quantize\n" + FLAG + "def make():\n"
        "    if FLAGS.quantize: quantize.create_eval_graph()\n    return tf.zeros([2])",
        "import tensorflow.contrib.quantize\n" + FLAG + "def make():\n"
        "    if FLAGS.quantize:\n        tensorflow.contrib.quantize.create_eval_graph()\n"
        "    return tf.zeros([2])",
    ],
)
def test_an_import_that_cannot_move_keeps_a_program(code: str) -> None:
    result = migration.run(program(code), bridge=True)
    assert [one.state for one in result.programs] == ["refused"], migration.said(result)
