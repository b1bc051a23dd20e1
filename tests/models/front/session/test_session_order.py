"""Sessions that functions and methods make: one gives first values, the others restore them."""

from __future__ import annotations

import textwrap

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self, size):
        x = tf.placeholder(tf.float32, [None, size])
        w = tf.Variable(tf.ones([size, 1]), name='w')
        out = tf.matmul(x, w)
        self.x = x
        self.out = out
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.saver = tf.train.Saver()

    def train(self, data):
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                print(sess.run([self.loss, self.train_op], feed_dict={self.x: data})[0])
            self.saver.save(sess, './model')

    def test(self, data):
        with tf.Session() as session:
            self.saver.restore(session, './model')
            return session.run(self.out, feed_dict={self.x: data})


def main():
    data = np.ones([4, 2])
    model = Model(2)
    model.train(data)
    for _ in range(2):
        print(model.test(data))


main()
"""
# The same with functions.
FUNCTIONS = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]), name='w')
out = tf.matmul(x, w)
loss = tf.reduce_mean(tf.square(out))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()


def train(data):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            print(sess.run([loss, train_op], feed_dict={x: data})[0])
        saver.save(sess, './model')


def test(data):
    with tf.Session() as sess:
        saver.restore(sess, './model')
        print(sess.run(out, feed_dict={x: data}))


if __name__ == '__main__':
    train(np.ones([4, 2]))
    test(np.ones([4, 2]))
"""


def test_methods_have_no_sessions_any_longer() -> None:
    after = native(PROGRAM)
    assert (
        "        for _ in range(3):\n            print(" in after
        and "self.train_step(data)" in after
    )
    assert "        self.saver.save('./model')\n" in after
    assert "        self.saver.restore('./model')\n        return self.compute_out(data)" in after
    assert "        self.saver = saver\n" in after


def test_functions_have_no_sessions_any_longer() -> None:
    after = native(FUNCTIONS)
    assert "def test(data):\n    saver.restore('./model')\n    print(compute_out(data)" in after


def test_a_session_of_one_method() -> None:
    text = PROGRAM[: PROGRAM.index("    def test")] + PROGRAM[PROGRAM.index("\ndef main") :]
    native(text.replace("    for _ in range(2):\n        print(model.test(data))\n", ""))


def test_what_is_restored_may_be_initialized_before() -> None:
    old = "            self.saver.restore(session, './model')\n"
    native(
        PROGRAM.replace(old, "            session.run(tf.global_variables_initializer())\n" + old)
    )


def test_modes_exclude_each_other() -> None:
    text = FUNCTIONS.replace(
        "    train(np.ones([4, 2]))\n    test(np.ones([4, 2]))\n",
        "    import sys\n    if len(sys.argv) > 1:\n        test(np.ones([4, 2]))\n"
        "    else:\n        train(np.ones([4, 2]))\n",
    )
    native(text)


STAYS = {
    "tested before it is trained": (
        PROGRAM.replace("    model.train(data)\n", "").replace(
            "        print(model.test(data))\n",
            "        print(model.test(data))\n    model.train(data)\n",
        ),
        "this session may begin before the one that gives the variables their values",
    ),
    "trained twice": (
        PROGRAM.replace("    model.train(data)\n", "    model.train(data)\n" * 2),
        "its session may be made more than once",
    ),
    "trained in a loop": (
        PROGRAM.replace("in range(2):\n", "in range(2):\n        model.train(data)\n"),
        "its session may be made more than once",
    ),
    "values of its own": (
        PROGRAM.replace(
            "self.saver.restore(session, './model')",
            "session.run(tf.global_variables_initializer())",
        ),
        "a later session starts without restoring a checkpoint",
    ),
    "some of the values": (
        PROGRAM.replace("        w = ", "        b = tf.Variable(1.0, name='b')\n        w = ")
        .replace("        out = ", "        out = b * ")
        .replace("tf.train.Saver()", "tf.train.Saver([w])"),
        "a later session restores some of the variables alone",
    ),
    "metrics that begin anew": (
        FUNCTIONS.replace(
            "loss = tf.reduce",
            "mean, add = tf.metrics.mean(out)\nloss = tf.reduce",
        ).replace(
            "global_variables_initializer())",
            "global_variables_initializer())\n        sess.run(tf.local_variables_initializer())",
        ).replace(
            "        saver.restore(sess, './model')\n",
            "        sess.run([tf.global_variables_initializer(), "
            "tf.local_variables_initializer()])\n        saver.restore(sess, './model')\n"
            "        sess.run(add, feed_dict={x: data})\n        print(sess.run(mean))\n",
        ),
        "a later session begins its metrics anew",
    ),
    "one within another": (
        PROGRAM.replace(
            "            self.saver.save(sess, './model')\n",
            "            self.saver.save(sess, './model')\n            print(self.test(data))\n",
        ),
        "a session may be made within another one",
    ),
    "called by another name": (
        PROGRAM.replace("print(model.test(data))", "print(list(map(model.test, [data])))"),
        "this session may begin before the one that gives the variables their values",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), STAYS.values(), ids=STAYS)
def test_sessions_with_values_of_their_own_stay(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any(reason in message for message in said(result)), said(result)


# A script whose sessions have one name.
SCRIPT = """\
import numpy as np
import tensorflow as tf

training = True
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]), name='w')
out = tf.matmul(x, w)
loss = tf.reduce_mean(tf.square(out))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
rows = np.ones([4, 2])

"""
FIRST = """\
sess.run(tf.global_variables_initializer())
for _ in range(3):
    print(sess.run([loss, train], {x: rows})[0])
saver.save(sess, './model')
"""
SAVER = "saver = tf.train.Saver()\n"
LATER = "saver.restore(sess, './model')\nprint(sess.run(out, {x: rows}))\n"
CONFIG = "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"


def block(text: str, head: str = "with tf.Session() as sess:") -> str:
    return f"{head}\n{textwrap.indent(text, '    ')}"


def test_a_session_takes_the_name_of_the_one_before() -> None:
    made = "sess = tf.Session()\n"
    after = native(f"{SCRIPT}{made}{FIRST}sess.close()\n{made}{LATER}")
    assert after.endswith(
        "for _ in range(3):\n    print(train_step(rows).numpy())\nsaver.save('./model')\n"
        "saver.restore('./model')\nprint(compute_out(rows).numpy())\n"
    )
    assert native(f"{SCRIPT}{made}{FIRST}{block(LATER)}") == after


def test_a_later_session_with_a_name_begins_anew() -> None:
    made = "sess = tf.Session()\nsess.run(tf.global_variables_initializer())\n"
    step = "print(sess.run([loss, train], {x: rows})[0])\n"
    after = native(SCRIPT.replace(SAVER, "") + (made + step) * 2)
    assert after.endswith(
        "first_w = tf.identity(w)\nprint(train_step(rows).numpy())\n"
        "w.assign(first_w)\nprint(train_step(rows).numpy())\n"
    )


def test_a_later_session_trains_by_another_optimizer() -> None:
    made = "sess = tf.Session()\nsess.run(tf.global_variables_initializer())\n"
    other = (
        "other = tf.Variable(1.0)\ncost = tf.square(other * tf.reduce_mean(w))\n"
        "train = tf.train.GradientDescentOptimizer(0.1).minimize(cost)\n"
    )
    after = native(
        f"{SCRIPT.replace(SAVER, '')}{made}sess.run(train, {{x: rows}})\n"
        f"{other}{made}sess.run(train)\n"
    )
    assert "trained_variables = [w, other]\n" in after
    assert after.endswith("w.assign(first_w)\ntrain_step_2()\n")


def test_sessions_have_one_config() -> None:
    made = "sess = tf.Session(config=config)\n"
    after = native(f"{CONFIG}{SCRIPT}{made}{FIRST}{made}{LATER}".replace(CONFIG, "", 1).replace(
        "training = True\n", CONFIG
    ))  # fmt: skip
    assert after.count("set_memory_growth") == 1
    methods = native(
        PROGRAM.replace("(self, size):\n", "(self, size, config):\n        self.config = config\n")
        .replace("tf.Session()", "tf.Session(config=self.config)")
        .replace(
            "    model = Model(2)\n",
            textwrap.indent(CONFIG, "    ") + "    model = Model(2, config)\n",
        )
    )
    assert "self.saver.restore('./model')\n" in methods


def test_sessions_under_conditions() -> None:
    train, test = block(FIRST), block(LATER)
    after = native(f"{SCRIPT}{block(train, 'if training:')}\n# what was saved\n{test}")
    assert after.endswith(
        "if training:\n    for _ in range(3):\n        print(train_step(rows).numpy())\n"
        "    saver.save('./model')\n\n# what was saved\nsaver.restore('./model')\n"
        "print(compute_out(rows).numpy())\n"
    )
    for other in ("else:", "elif len(rows) > 4:"):
        after = native(f"{SCRIPT}{block(train, 'if training:')}{block(test, other)}")
        assert after.endswith(
            f"    saver.save('./model')\n{other}\n    saver.restore('./model')\n"
            "    print(compute_out(rows).numpy())\n"
        )


SCRIPTS = {
    "kept elsewhere": (
        f"sess = tf.Session()\nkept = [sess]\n{FIRST}sess = tf.Session()\n{LATER}",
        "it makes more than one session",
    ),
    "given to an object that may keep it": (
        f"sess = tf.Session()\nkept = dict(session=sess)\n{FIRST}sess = tf.Session()\n{LATER}",
        "it makes more than one session",
    ),
    "configs of their own": (
        f"sess = tf.Session(config=tf.ConfigProto())\n{FIRST}"
        f"sess = tf.Session(config=tf.ConfigProto())\n{LATER}",
        "it makes more than one session",
    ),
    "in a loop": (
        block(f"sess = tf.Session()\n{FIRST}", "for _ in range(2):"),
        "its session is made under a condition or in a loop",
    ),
    "builds under the condition": (
        block(
            block(FIRST.replace("saver.save", "more = tf.square(out)\nsaver.save")),
            "if training:",
        )
        + block(LATER),
        "a part of the graph is built under the condition that makes the session",
    ),
    "what is built under the condition runs elsewhere": (
        block(
            block(FIRST.replace("saver.save", "sess.run(tf.square(out), {x: rows})\nsaver.save")),
            "if training:",
        )
        + block(LATER.replace("out, {", "tf.square(out), {")),
        "what is built here runs elsewhere too",
    ),
    "begins anew under a condition": (
        block(block(FIRST), "if training:")
        + block(block(FIRST.partition("for")[0] + "print(sess.run(w))\n"), "else:"),
        "variables are initialized again, under a condition",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), SCRIPTS.values(), ids=SCRIPTS)
def test_scripts_stay(text: str, reason: str) -> None:
    result = run(SCRIPT + text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any(reason in message for message in said(result)), said(result)


def test_random_numbers_of_several_sessions_stay() -> None:
    text = SCRIPT.replace("tf.matmul(x", "tf.matmul(tf.nn.dropout(x, 0.5, seed=3)")
    train = "print(sess.run([loss, train], {x: rows})[0])\n"
    native(text + block(FIRST))
    for later in (
        block("saver.restore(sess, './model')\n" + train),
        "def again(sess):\n    " + train + block("saver.restore(sess, './model')\nagain(sess)\n"),
    ):
        result = run(text + block(FIRST) + later, bridge=True, native_sessions=True)
        assert [one.state for one in result.programs] == ["bridge"]
        reason = "in several sessions, each of which begins it anew"
        assert any(reason in message for message in said(result)), said(result)


METHODS = """\
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 1])
        self.w = tf.Variable([[1.0]])
        self.loss = tf.reduce_mean(tf.matmul(self.x, self.w))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.saver = tf.train.Saver()
        self.sess = tf.Session()

    def load(self):
        self.saver.restore(self.sess, "model")

    def fit(self, x):
        _, loss = self.sess.run([self.train_op, self.loss], {self.x: x})
        print(loss)

    def start(self):
        self.sess.run(tf.global_variables_initializer())


model = Model()
"""


def test_methods_run_in_the_order_of_their_calls() -> None:
    first = "model.start()\nmodel.fit([[1.0]])\nmodel.load()\n"
    result = run(METHODS + first, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_a_checkpoint_before_the_first_values_stays() -> None:
    for calls in (
        "model.load()\nmodel.start()\nmodel.fit([[1.0]])\n",
        "def go():\n    model.load()\n\n\ngo()\nmodel.start()\n",
    ):
        result = run(METHODS + calls, native_sessions=True, bridge=True)
        assert [one.state for one in result.programs] == ["bridge"], said(result)
        assert any("initialized after" in one for one in said(result)), said(result)


IN_FUNCTIONS = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable([[1.0]])
loss = tf.reduce_mean(tf.matmul(x, w))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()


def train():
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run([train_op, loss], {x: [[1.0]]})[1])


def test():
    with tf.Session() as sess:
        saver.restore(sess, "model")
        print(sess.run(loss, {x: [[1.0]]}))


def main():
    train()


"""


@pytest.mark.parametrize(("calls", "state"), [("main()\ntest()\n", "native"),
                                              ("test()\nmain()\n", "bridge")])  # fmt: skip
def test_where_a_function_stands_says_nothing_of_when_it_runs(calls: str, state: str) -> None:
    result = run(IN_FUNCTIONS + calls, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == [state], said(result)
    early = any("this session may begin before" in one for one in said(result))
    assert early is (state == "bridge"), said(result)


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        ("try:\n    model.load()\nexcept ValueError:\n    model.start()\n", "bridge"),
        ("import sys\nif sys.argv[1:]:\n    model.load()\nelse:\n    model.start()\n", "native"),
    ],
)
def test_what_a_try_began_may_have_run(calls: str, state: str) -> None:
    result = run(METHODS + calls + "model.fit([[1.0]])\n", native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == [state], said(result)
    early = any("initialized after" in one for one in said(result))
    assert early is (state == "bridge"), said(result)
