"""Functions that a program stays for are written where they are called, if it is native so."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

LAYER = '''\
def layer(x, units, decay=False, with_w=False, name="layer"):
    """A layer."""
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.get_shape()[-1], units])
        h = tf.nn.relu(tf.matmul(x, w))
        # What is added.
        if decay:
            tf.add_to_collection("decay", tf.nn.l2_loss(w))
        if with_w:
            return h, w
        return h


'''
CALLS = """\
h = layer(x, 8, True, name="first")
logits, last = layer(h, 2, True, with_w=True, name="last")
"""
LOSS = 'loss = tf.reduce_mean(logits) + tf.add_n(tf.get_collection("decay"))\n'
TRAINS = (
    "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
    "with tf.Session() as sess:\n"
    "    sess.run(tf.global_variables_initializer())\n"
    "    print(sess.run([loss, train], {x: [[1.0, 2.0, 3.0]]})[0])\n"
)
HEAD = "import tensorflow as tf\n\n\n"
FED = "x = tf.placeholder(tf.float32, [None, 3])\n"
PROGRAM = HEAD + LAYER + FED + CALLS + LOSS + TRAINS


def test_each_call_gets_the_statements_that_its_arguments_choose() -> None:
    after = native(PROGRAM)
    assert "def layer(" not in after and "add_to_collection" not in after
    assert 'name="first/w"' in after and 'name="last/w"' in after
    assert "tf.add_n([decay_1, decay_2])" in after and "# What is added." in after


def test_python_s_own_names_may_be_the_module_s() -> None:
    counted = (
        "count = 0\n\n\ndef main():\n    global seen\n    seen = []\n\n"
        "    def rows():\n        global count\n        count += 1\n"
        "        yield [[1.0, 2.0, float(count)]]\n\n"
    )
    inside = FED + 'logits = layer(x, 2, True, name="first")\n' + LOSS + TRAINS
    body = "".join(f"    {line}\n" for line in inside.splitlines())
    body = body.replace("print(", "seen.append(").replace("[[1.0, 2.0, 3.0]]", "next(rows())")
    after = native(HEAD + LAYER + counted + body + "\n\nmain()\nprint(seen)\n")
    assert "global seen" in after and "train_step(next(rows()))" in after
    graph = counted.replace("    seen = []\n", "").replace("seen", "loss")
    shared = HEAD + LAYER + graph + body.replace("seen.append", "print")
    result = run(shared + "\n\nmain()\n", native_sessions=True)
    assert "native" not in {one.state for one in result.programs}


def test_calls_within_expressions_get_names() -> None:
    nested = 'logits = tf.tanh(layer(layer(x, 8, name="first"), 2, True, name="last"))\n'
    after = native(PROGRAM.replace(CALLS, nested))
    assert 'name="first/w"' in after and "[decay_1])" in after


def test_lines_that_are_not_indented_may_stand_in_it() -> None:
    """As in a text of several lines, or code that was taken out."""
    text, place = '        note = """\nof rows\n"""\n', "        # What is added.\n"
    inside = FED + 'logits = layer(x, 2, True, name="first")\n' + LOSS + TRAINS
    body = "".join(f"    {line}\n" for line in inside.splitlines())
    for more in ("# once\n", text, f"# once\n{text}"):
        function = LAYER.replace(place, f"{place}{more}")
        assert function != LAYER
        made = run(HEAD + function + f"def main():\n{body}\n\nmain()\n", native_sessions=True)
        assert [one.state for one in made.programs] == ["native"], said(made)


STAYS = {
    "a function that is handed on": PROGRAM.replace(CALLS, "make = layer\n" + CALLS),
    "a call that may not run": PROGRAM.replace(
        CALLS, CALLS + "more = layer(h, 2, True) if len(sys.argv) > 1 else h\n"
    ).replace(HEAD, "import sys\n" + HEAD),
    "a condition of the graph": PROGRAM.replace("h = layer(x, 8, True,", "h = layer(x, 8, x,"),
    "another collection's function": PROGRAM.replace(
        "tf.get_collection", "tf.get_default_graph().get_collection"
    ),
    "a variable that is made twice": PROGRAM.replace('name="last")', 'name="first")').replace(
        '"w", [x.get_shape()[-1], units]', '"w", [3, 3]'
    ),
    "a variable that may be shared": PROGRAM.replace('name="last")', 'name="first")')
    .replace('"w", [x.get_shape()[-1], units]', '"w", [3, 3]')
    .replace("variable_scope(name)", "variable_scope(name, reuse=tf.AUTO_REUSE)"),
    "a function of a module that names what it has": '__all__ = ["layer"]\n' + PROGRAM,
    "a function that calls itself": PROGRAM.replace(
        "        h = tf.nn.relu(tf.matmul(x, w))\n",
        "        h = tf.nn.relu(tf.matmul(x, w))\n        if units > 8:\n"
        '            h = layer(h, 8, name="inner")\n',
    ),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_is_not_understood_stays(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in message for message in said(result))


NAMED = """\
def layer(x, units, name, activation=None):
    with tf.variable_scope(name):
        w = tf.get_variable("w_" + name, [x.get_shape()[-1], units])
        b = tf.get_variable("{}_b".format(name), [units])
        h = tf.matmul(x, w) + b
        return (activation(h) if activation else h), w


"""
NAMED_CALLS = """\
h, first = layer(x, 8, "one", tf.nn.relu)
logits, last = layer(h, 2, "two")
"""
NAMED_LOSS = "loss = tf.reduce_mean(logits) + tf.nn.l2_loss(first) + tf.nn.l2_loss(last)\n"
NAMED_PROGRAM = HEAD + NAMED + FED + NAMED_CALLS + NAMED_LOSS + TRAINS


def test_names_that_are_made_of_the_layer_s_are_texts() -> None:
    after = native(NAMED_PROGRAM)
    for name in ("one/w_one", "one/one_b", "two/w_two", "two/two_b"):
        assert f'name="{name}"' in after


def test_an_expression_is_the_arm_that_the_call_takes() -> None:
    after = native(NAMED_PROGRAM)
    assert "h = tf.nn.relu(h_2)" in after or "h = tf.nn.relu(h_1)" in after, after
    assert " if " not in after
    for form in (
        "(activation(h) if activation is not None else h)",
        "(h if not activation else activation(h))",
    ):
        other = native(NAMED_PROGRAM.replace("(activation(h) if activation else h)", form))
        assert "tf.nn.relu(" in other and " if " not in other


def test_a_program_stays_where_a_call_does_not_tell_its_arm() -> None:
    flag = NAMED_PROGRAM.replace('layer(x, 8, "one", tf.nn.relu)', 'layer(x, 8, "one", act)')
    result = run(
        flag.replace(FED, f"act = tf.nn.relu if len('four') > 3 else None\n{FED}"),
        bridge=True,
        native_sessions=True,
    )
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("returns a variable that it applies" in one for one in said(result)), said(result)


def test_a_placeholder_that_is_given_is_not_none() -> None:
    text = NAMED_PROGRAM.replace("activation=None):", "activation=None, keep=None):")
    text = text.replace(
        "        return (act",
        "        h = h if keep is None else tf.nn.dropout(h, keep)\n        return (act",
    )
    text = text.replace('"one", tf.nn.relu)', '"one", tf.nn.relu, keep=keep_prob)')
    text = text.replace(FED, f"{FED}keep_prob = tf.placeholder_with_default(1.0, [])\n")
    after = native(text)
    assert after.count("tf.nn.dropout(") == 1 and " is None" not in after
    assert after.count("logits = ") == 1, after  # nothing gives it what it has
