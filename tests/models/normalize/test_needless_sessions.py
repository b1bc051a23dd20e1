"""Sessions that a program never runs, or would make where it is given none."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf
{top}

class Model(object):
    def __init__(self, size, {parameter}):
{keeps}
        self.x = tf.placeholder(tf.float32, [None, size])
        w = tf.get_variable('w', [size, 1], initializer=tf.zeros_initializer())
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w) - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
{begins}
    def fit(self, data):
        return self.sess.run([self.loss, self.train_op], {{self.x: data}})[0]


def main():
{main}
    print(model.fit(np.ones([2, 3])))


main()
"""
IF = """\
        if sess is None:
            self.sess = tf.Session()
        else:
            self.sess = sess
"""
IF_NOT = "        if not sess:\n            sess = tf.Session()\n        self.sess = sess\n"
OR = "        self.sess = sess or tf.Session()\n"
EXPRESSION = "        self.sess = tf.Session() if sess is None else sess\n"
PLAIN = "        self.sess = sess\n"
GIVEN = """\
    sess = tf.Session()
    model = Model(3, sess=sess)
    sess.run(tf.global_variables_initializer())
"""
LEFT = "    model = Model(3)\n"
BEGINS = "        self.sess.run(tf.global_variables_initializer())\n"


def program(
    keeps: str = IF,
    main: str = GIVEN,
    parameter: str = "sess=None",
    top: str = "",
    begins: str = "",
) -> str:
    return PROGRAM.format(keeps=keeps, main=main, parameter=parameter, top=top, begins=begins)


NATIVE = {
    "given, by a condition": program(),
    "given, by another one": program(IF_NOT),
    "given, or": program(OR),
    "given, or to the same name": program("        sess = sess or tf.Session()\n" + PLAIN),
    "given, an expression": program(EXPRESSION),
    "given, a default": program(PLAIN, parameter="sess=tf.Session()"),
    "given by a function": program(
        main=GIVEN.replace("Model(3, sess=sess)", "make(sess)"),
        top="\n\ndef make(session):\n    return Model(3, session)\n",
    ),
    "none given, by a condition": program(main=LEFT, begins=BEGINS),
    "none given, by another one": program(IF_NOT, LEFT, begins=BEGINS),
    "none given, or": program(OR, LEFT, begins=BEGINS),
    "none given, or to the same name": program(
        "        sess = sess or tf.Session()\n" + PLAIN, LEFT, begins=BEGINS
    ),
    "None given": program(main=LEFT.replace("3", "3, sess=None"), begins=BEGINS),
    "without a name": program(top="\ntf.Session()\n"),
    "a name that nothing reads": program(main="    unused = tf.Session()\n" + GIVEN),
}


@pytest.mark.parametrize("text", NATIVE.values(), ids=NATIVE)
def test_one_session_is_left(text: str) -> None:
    after = native(text)
    assert "Session" not in after and "sess" not in after, after


SEVERAL = "it makes more than one session"
STAYS = {
    "one call gives none": (
        program(main=GIVEN + "    other = Model(3)\n    print(other)\n"),
        SEVERAL,
    ),
    "what is given may be no session": (
        program(main=GIVEN.replace("sess=sess", "sess=np.random.rand() > 2 or sess")),
        SEVERAL,
    ),
    "the class is handed on": (
        program(main=GIVEN.replace("Model(3, sess=sess)", "list(map(Model, [3], [sess]))[0]")),
        SEVERAL,
    ),
    "the parameter is given another value": (
        program("        sess = sess and None\n" + IF),
        SEVERAL,
    ),
    "another class inherits it": (
        program(
            main=GIVEN + "    print(Other(3))\n",
            top="",
        ).replace("\ndef main", "\nclass Other(Model):\n    pass\n\n\ndef main"),
        SEVERAL,
    ),
    "decorated": (
        program(top="import functools\n").replace(
            "    def __init__", "    @functools.wraps(print)\n    def __init__"
        ),
        SEVERAL,
    ),
    "a method, which any object may have": (
        program(PLAIN)
        .replace(
            "    def fit(self, data):\n",
            "    def fit(self, data, sess=None):\n        sess = sess or tf.Session()\n",
        )
        .replace("fit(np", "fit(sess=sess, data=np"),
        SEVERAL,
    ),
    "the first session has no config, and another one has": (
        program(
            main=GIVEN.replace("Session()", "Session(config=config)"),
            top="\ntf.Session()\nconfig = tf.ConfigProto()\n"
            "config.gpu_options.allow_growth = True\n",
        ),
        SEVERAL,
    ),
    "another module may read it": (program(top="\nunused = tf.Session()\n"), SEVERAL),
}


@pytest.mark.parametrize(("text", "why"), STAYS.values(), ids=STAYS)
def test_what_may_be_another_session_stays(text: str, why: str) -> None:
    result = run(("main.py", text), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(why in one for one in said(result)), said(result)
