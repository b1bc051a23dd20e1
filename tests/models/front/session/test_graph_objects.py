"""Classes whose constructor builds a graph: their parts become steps that objects have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, size, rate):
        self.size = size
        self.rate = rate
        self.scale = 3.0
        self._build()
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _build(self):
        # what is fed
        self.x = tf.placeholder(tf.float32, [None, self.size])
        self.w = tf.Variable(tf.ones([self.size, 1]))
        self._out = tf.matmul(self.x, self.w)
        self.loss = tf.reduce_mean(self._out) * self.scale
        self.train_op = tf.train.AdamOptimizer(self.rate).minimize(self.loss)

    def learn(self, data):
        _, loss = self.sess.run([self.train_op, self.loss], feed_dict={self.x: data})
        return loss

    def weights(self):
        return self.sess.run(self.w)


def main():
    model = Model(2, 0.1)
    for _ in range(3):
        print(model.learn(np.ones([4, 2])), model.weights())


main()
"""


def test_an_object_has_its_steps_and_variables() -> None:
    after = native(PROGRAM)
    assert "        # what is fed\n        x_spec = tf.TensorSpec([None, self.size]" in after
    assert "        self.train_step = train_step\n" in after
    assert "        loss = self.train_step(data).numpy()\n" in after
    assert "        self.w = w\n" in after and "return self.w.numpy()\n" in after
    assert "sess" not in after and "_build" not in after


def test_a_method_that_the_constructor_calls_at_its_end_finds_all_that_it_needs() -> None:
    told = "        if size > 1:\n            print(self.weights())\n"
    after = native(PROGRAM.replace("_initializer())\n\n", f"_initializer())\n{told}\n"))
    assert after.index("        self.w = w\n") < after.index(told)


def test_what_is_made_once_may_change_later() -> None:
    text = PROGRAM.replace("        return loss", "        self.rate = 0.0\n        return loss")
    assert "Adam(self.rate, epsilon=1e-8)" in native(text)


def test_another_class_has_attributes_of_its_own() -> None:
    other = "class Other:\n    def set(self):\n        self.scale = self.loss = 1.0\n\n\n"
    native(PROGRAM.replace("def main():", other + "def main():"))


def test_an_object_of_a_script() -> None:
    text = PROGRAM.replace("def main():\n", "if True:\n").replace("\n\nmain()\n", "\n")
    text = text.replace("self._build()\n        self.sess = tf.Session()\n", "self._build()\n")
    text = text.replace("        self.sess.run(tf.global_variables_initializer())\n", "")
    text = text.replace("self.sess", "sess").replace("if True:\n    model", "model")
    text = text.replace(
        "    for _", "sess = tf.Session()\nsess.run(tf.global_variables_initializer())\nfor _"
    )
    text = text.replace("        print", "    print").replace("model.learn", "model.learn")
    after = native(text)
    assert "        loss = self.train_step(data).numpy()\n" in after
    assert "    print(model.learn(np.ones([4, 2])), model.weights())\n" in after


def test_a_step_has_no_method_s_name() -> None:
    after = native(PROGRAM.replace("learn(", "train_step("))
    assert "self.train_and_compute_loss = train_and_compute_loss\n" in after
    call = "loss = self.train_and_compute_loss(data).numpy()\n"
    assert f"    def train_step(self, data):\n        {call}" in after


def test_a_method_that_is_given_a_session_is_given_none() -> None:
    text = PROGRAM.replace("def learn(self, data):", "def learn(self, sess, data):")
    text = text.replace("loss = self.sess.run([self.t", "loss = sess.run([self.t")
    text = text.replace("model.learn(np", "model.learn(model.sess, np")
    after = native(text)
    assert "def learn(self, data):\n" in after and "model.learn(np.ones([4, 2]))" in after


def test_what_python_asks_of_an_object_stays() -> None:
    text = PROGRAM.replace(
        "        return loss",
        "        if not hasattr(self, 'count'):\n"
        "            self.count = 0\n        self.count += 1\n        return loss",
    )
    assert "if not hasattr(self, 'count'):\n" in native(text)


def test_an_attribute_that_the_constructor_gives_several_values_has_the_last_one() -> None:
    text = PROGRAM.replace(
        "        self.loss = tf.reduce_mean(self._out) * self.scale\n",
        "        self._out = tf.nn.relu(self._out)\n        self.loss = tf.reduce_mean(self._out)\n"
        "        self.loss += 0.1 * tf.nn.l2_loss(self.w)\n",
    )
    after = native(text)
    assert "_out = tf.nn.relu(_out)\n" in after
    assert "                loss += 0.1 * tf.nn.l2_loss(w)\n" in after


GIVEN = (
    PROGRAM.replace("(self, size, rate)", "(self, sess, size, rate, name='net')")
    .replace("        self.sess = tf.Session()\n", "")
    .replace("        self.sess.run(tf.global_variables_initializer())\n", "")
    .replace("        self.size = size\n", "        self.sess = sess\n        self.size = size\n")
    .replace(
        "    model = Model(2, 0.1)\n",
        "    sess = tf.Session()\n    model = Model(sess, 2, 0.1)\n"
        "    sess.run(tf.global_variables_initializer())\n",
    )
)


def test_a_constructor_that_is_given_a_session_is_given_none() -> None:
    after = native(GIVEN)
    assert "def __init__(self, size, rate, name='net'):\n" in after
    assert "model = Model(2, 0.1)\n" in after and "sess" not in after


def test_a_scope_has_the_name_that_the_object_is_given() -> None:
    text = GIVEN.replace("tf.Variable(tf.ones([self.size, 1]))", "tf.get_variable('w', [2, 1])")
    text = text.replace("        self._out =", "            self._out =").replace(
        "        self.w =", "        with tf.variable_scope(self.name):\n            self.w ="
    )
    text = text.replace(
        "        self.size = size\n", "        self.size = size\n        self.name = name\n"
    )
    assert "name='net/w')" in native(text)
    text = text.replace("Model(sess, 2, 0.1)", "Model(sess, 2, 0.1, name='other')")
    assert "name='other/w')" in native(text)


@pytest.mark.parametrize(
    ("fetches", "values"),
    [
        ("[self.loss, self.train_op]", "return [self.train_step(data).numpy(), None]\n"),
        ("[self.train_op, self.loss]", "return [None, self.train_step(data).numpy()]\n"),
        (
            "[self.train_op, self.loss, self._out]",
            "return [None, *[value.numpy() for value in self.train_step(data)]]\n",
        ),
    ],
)
def test_an_operation_has_none_in_a_list_that_is_returned(fetches: str, values: str) -> None:
    text = PROGRAM.replace(
        "_, loss = self.sess.run([self.train_op, self.loss], ", f"return self.sess.run({fetches}, "
    )
    after = "".join(native(text.replace("        return loss\n", "")).split())
    assert "".join(values.split()) in after


TWO = PROGRAM.replace(
    "    model = Model(2, 0.1)\n", "    model = Model(2, 0.1)\n    other = Model(2, 0.2)\n"
).replace("        print(model", "        print(other.weights())\n        print(model")
TWO_IN_ONE = """\
import tensorflow as tf


class Model(object):
    def __init__(self, rate):
        self.rate = rate
        self.scale = 3.0
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.w = tf.Variable(tf.ones([2, 1]))
        self.loss = tf.reduce_mean(tf.matmul(self.x, self.w))
        self.train_op = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)


sess = tf.Session()
model = Model(0.1)
other = Model(0.2)
sess.run(tf.global_variables_initializer())
for step in range(3):
    for one in [model, other]:
        sess.run(one.train_op, {one.x: [[1.0, 2.0]]})
    print(sess.run(model.loss, {model.x: [[1.0, 2.0]]}))
    print(sess.run(other.loss, {other.x: [[1.0, 2.0]]}))
"""


def test_each_object_has_variables_and_steps_of_its_own() -> None:
    after = native(TWO)
    assert "    other = Model(2, 0.2)\n" in after
    assert "tf.config" not in after, "nothing names a device"
    made = "        self.w = "
    after = native(TWO.replace(made, f"        with tf.device('/cpu:0'):\n    {made}"))
    assert after.index("tf.config.set_soft") < after.index("class Model")


def test_objects_of_a_list_are_run_in_a_loop() -> None:
    after = native(TWO_IN_ONE)
    assert "    for one in [model, other]:\n        one.train_step([[1.0, 2.0]])\n" in after
    assert "model.compute_loss([[1.0, 2.0]]).numpy()" in after
    assert "other.compute_loss(" in after


def test_objects_that_a_loop_makes() -> None:
    text = TWO_IN_ONE.replace(
        "model = Model(0.1)\nother = Model(0.2)\n",
        "models = []\nfor rate in [0.1, 0.2]:\n    models.append(Model(rate))\n",
    )
    text = text.replace("[model, other]", "models").replace("model.", "models[0].")
    after = native(text.replace("other.", "models[1]."))
    assert "    for one in models:\n        one.train_step([[1.0, 2.0]])\n" in after
    assert "models[0].compute_loss(" in after and "models[1].compute_loss(" in after


def test_objects_with_a_session_each() -> None:
    text = PROGRAM.replace(
        "    model = Model(2, 0.1)\n    for _ in range(3):\n",
        "    for rate in [0.1, 0.2]:\n        model = Model(2, rate)\n",
    )
    native(text)


WORKER = PROGRAM.replace("    model = Model(2, 0.1)\n", "").replace("model.", "MODEL.")
WORKER = WORKER.replace(
    "def main():",
    "class Worker:\n"
    "    def __init__(self, name):\n"
    "        self.name = name\n"
    "        self.agent = MODEL\n\n"
    "    def work(self, data):\n"
    "        return self.agent.learn(data)\n\n\n"
    "def main():",
).replace("\n\nmain()\n", "\n\nMODEL = Model(2, 0.1)\nWorker('w').work(np.ones([4, 2]))\n")


def test_objects_of_another_class_may_keep_it() -> None:
    after = native(WORKER)
    assert "        self.agent = MODEL\n" in after and "return self.agent.learn(data)" in after


TRAINER = PROGRAM.replace(
    "def main():",
    "class Trainer:\n"
    "    def __init__(self, sess, model):\n"
    "        self.session = sess\n"
    "        self.model = model\n\n"
    "    def fit(self, data):\n"
    "        feed_dict = {self.model.x: data}\n"
    "        return self.session.run([self.model.train_op, self.model.loss], feed_dict)[1]\n\n\n"
    "def main():",
)
TRAINER = TRAINER[: TRAINER.index("    def learn")] + TRAINER[TRAINER.index("\n\nclass Trainer") :]
TRAINER = TRAINER.replace("        self.sess = tf.Session()\n", "").replace(
    "        self.sess.run(tf.global_variables_initializer())\n", ""
)
TRAINER = (
    TRAINER[: TRAINER.index("    model = Model")]
    + """\
    sess = tf.Session()
    model = Model(2, 0.1)
    trainer = Trainer(sess, model)
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(trainer.fit(np.ones([4, 2])))


main()
"""
)


def test_another_class_that_is_given_the_session_runs_its_steps() -> None:
    after = native(TRAINER)
    assert "    def __init__(self, model):\n        self.model = model\n" in after
    assert "        return self.model.train_step(**feed_dict).numpy()\n" in after
    assert "    trainer = Trainer(model)\n" in after and "sess" not in after


def test_another_class_that_has_the_session_alone() -> None:
    text = TRAINER.replace("sess, model)", "sess)").replace("        self.model = model\n", "")
    text = text.replace("self.model.", "MODEL.").replace("    model = Model(2, 0.1)\n", "")
    text = text.replace(
        "def main():\n    sess =", "MODEL = Model(2, 0.1)\n\n\ndef main():\n    sess ="
    )
    assert "    def __init__(self):\n        pass\n" in native(text)


def test_a_class_that_nothing_makes_an_object_of_knows_its_variables() -> None:
    text = PROGRAM[: PROGRAM.index("def main")].replace(
        "* self.scale",
        "* self.scale + tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])",
    )
    assert "for v in variables" in native(text)


SAVED = (
    PROGRAM[: PROGRAM.index("        self.sess = tf.Session()")]
    + PROGRAM[PROGRAM.index("    def _build") : PROGRAM.index("    def learn")]
    + """\

model = Model(2, 0.1)
saver = tf.train.Saver(max_to_keep=1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([model.loss, model.train_op], {model.x: np.ones([4, 2])})[0])
    saver.save(sess, 'm.ckpt')

with tf.Session() as sess:
    saver.restore(sess, 'm.ckpt')
    print(sess.run(model.loss, {model.x: np.ones([4, 2])}))
"""
)


def test_a_saver_of_the_program_and_a_later_session() -> None:
    after = native(SAVED)
    assert "        self.checkpoint_variables = {\n" in after and "\n    saver.save('m" not in after
    assert "saver = Saver(model.checkpoint_variables, max_to_keep=1)\n" in after
    assert "saver.restore('m.ckpt')\n" in after and "sess" not in after


def test_runs_whose_values_a_list_takes_that_nothing_reads() -> None:
    train = "        [self.sess.run(self.train_op, {self.x: data}) for _ in range(3)]\n"
    text = PROGRAM.replace(
        "        _, loss = self.sess.run(", f"{train}        _, loss = self.sess.run("
    )
    assert "        [self.train_step(data) for _ in range(3)]\n" in native(text)


STAYS = {
    "a saver of some variables": SAVED.replace("(max_to_keep=1)", "([model.w])"),
    "a later session that begins anew": SAVED.replace(
        "    saver.restore(sess, 'm.ckpt')\n", "    sess.run(tf.global_variables_initializer())\n"
    ),
    "a saver that another one follows": SAVED.replace(
        "with tf.Session() as sess:\n    saver",
        "saver = tf.train.Saver()\nwith tf.Session() as sess:\n    saver",
    ),
    "a session that another class uses otherwise": TRAINER.replace(
        "        feed_dict =", "        print(self.session.graph)\n        feed_dict ="
    ),
    "a session that another class gives away": TRAINER.replace(
        "    for _", "    print(trainer.session)\n    for _"
    ),
    "a part of the graph that another class gives away": TRAINER.replace(
        "    for _", "    print(trainer.model.loss)\n    for _"
    ),
    "an object that another class gives away": TRAINER.replace(
        "        feed_dict =", "        print(self.model)\n        feed_dict ="
    ),
    "a method of another class that is given the session": TRAINER.replace(
        "fit(self, data):", "fit(self, sess, data):"
    )
    .replace("self.session.run", "sess.run")
    .replace("trainer.fit(", "trainer.fit(sess, "),
    "a session that is kept under a condition": TRAINER.replace(
        "        self.session = sess\n", "        self.session = sess if model else None\n"
    ),
    "variables that two objects would share": PROGRAM[: PROGRAM.index("def main")].replace(
        "* self.scale",
        "* self.scale + tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])",
    )
    + "MODELS = [Model(2, 0.1), Model(3, 0.1)]\n",
    "an object that one of another class keeps for a while": WORKER.replace(
        "        return self.agent.learn(data)\n",
        "        agent, self.agent = self.agent, None\n        return agent.w\n",
    ),
    "a part of the graph of an object that is kept": WORKER.replace(
        "self.agent.learn(data)", "self.agent.loss"
    ),
    "runs whose values, which are None, a list takes": PROGRAM.replace(
        "        _, loss = self.sess.run(",
        "        print([self.sess.run(self.train_op, {self.x: data}) for _ in range(3)])\n"
        "        _, loss = self.sess.run(",
    ),
    "a list with an operation between values": PROGRAM.replace(
        "_, loss = self.sess.run([self.train_op, self.loss], ",
        "return self.sess.run([self.loss, self.train_op, self._out], ",
    ),
    "a session that the constructor uses otherwise": GIVEN.replace(
        "        self.sess = sess\n", "        self.sess = sess\n        print(sess.graph)\n"
    ),
    "an attribute that changes": PROGRAM.replace(
        "        return loss", "        self.scale = 0.5 * self.scale\n        return loss"
    ),
    "an attribute that is changed in place": PROGRAM.replace("= 3.0", "= [3.0]").replace(
        "        return loss", "        self.scale.append(1.0)\n        return loss"
    ),
    "an attribute that somebody changes": PROGRAM.replace(
        "    for _", "    model.scale = 2.0\n    for _"
    ),
    "an attribute that has the values of a loop": PROGRAM.replace(
        "        self.scale = 3.0\n", "        for self.scale in (1.0, 2.0):\n            pass\n"
    ),
    "two objects of which one runs the other's": TWO.replace(
        "self.sess.run(self.w)", "self.sess.run(other.w)"
    ).replace("    model =", "    global other\n    model ="),
    "two objects that run together": TWO_IN_ONE.replace(
        "other.loss, {other.x", "other.loss, {model.x"
    ),
    "an object that is built with another": TWO_IN_ONE.replace(
        "self.w))", "self.w) * (1.0 if self.rate < 0.15 else model.w))"
    ),
    "an object that gives the others' variables values": TWO_IN_ONE.replace(
        "sess.run(tf.global_variables_initializer())\n", ""
    ).replace(
        ".minimize(self.loss)\n",
        ".minimize(self.loss)\n        sess.run(tf.global_variables_initializer())\n",
    ),
    "what all objects train": TWO.replace(
        "(self.loss)", "(self.loss, None, tf.trainable_variables())"
    ),
    "what all objects collect": TWO.replace(
        "        self.loss", "        tf.add_to_collection('all', self.w)\n        self.loss"
    ).replace("    for _", "    print(tf.get_collection('all'))\n    for _"),
    "variables that objects share": TWO.replace(
        "tf.Variable(tf.ones([self.size, 1]))", "tf.get_variable('w', [2, 1])"
    )
    .replace(
        "        self.w =",
        "        with tf.variable_scope('a', reuse=tf.AUTO_REUSE):\n            self.w =",
    )
    .replace("        self._out", "            self._out"),
    "a saver of all objects": TWO.replace("    for _", "    saver = tf.train.Saver()\n    for _"),
    "a class that goes elsewhere": PROGRAM.replace(
        "Model(2, 0.1)", "list(map(Model, [2], [0.1]))[0]"
    ),
    "a class below it": PROGRAM.replace(
        "def main():", "class Other(Model):\n    pass\n\n\ndef main():"
    ),
    "somebody's loss": PROGRAM.replace(
        "def main():", "def show(one):\n    print(one.loss)\n\n\ndef main():"
    ),
    "an object that goes elsewhere": PROGRAM.replace(
        "    for _", "    print(vars(model))\n    for _"
    ),
    "a variable as a value": PROGRAM.replace("    for _", "    print(model.w)\n    for _"),
    "the session for more than running": PROGRAM.replace(
        "    for _", "    print(model.sess.graph)\n    for _"
    ),
    "a part by a name that is computed": PROGRAM.replace(
        "    for _", "    print(getattr(model, 'lo' + 'ss'))\n    for _"
    ),
    "a method that the constructor calls before all is made": PROGRAM.replace(
        "_initializer())\n\n",
        "_initializer())\n        self.weights()\n        self.more = self.loss * 2\n\n",
    ),
    "a part that has another value under a condition": PROGRAM.replace(
        "        self.train_op",
        "        if self.size > 1:\n            self.loss = 2.0 * self.loss\n        self.train_op",
    ).replace(
        "return self.sess.run(self.w)", "self.size += 1\n        return self.sess.run(self.w)"
    ),
    "a part that is given another value": PROGRAM.replace(
        "        return loss", "        self.loss = loss\n        return loss"
    ),
    "what is built in a method": PROGRAM.replace(
        "return self.sess.run(self.w)", "return self.sess.run(self.w * 2.0)"
    ),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_is_not_understood_stays(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any("the session stays" in message for message in said(result)), said(result)
    [file] = result.files
    assert file.after is None or "tf.Session()" in file.after


def test_the_reason_is_that_of_the_named_graph() -> None:
    result = run(STAYS["somebody's loss"], bridge=True, native_sessions=True)
    [finding] = [one for one in result.findings if "the session stays" in one.message]
    assert "whether `one.loss` is a part of the graph" in finding.message
    line = STAYS["somebody's loss"].split("\n").index("    print(one.loss)") + 1
    assert finding.line == line


def test_a_part_that_a_function_of_another_module_makes(tmp_path: Path) -> None:
    """That module is read from its file, which the class's alone does not give."""
    text = PROGRAM.replace(
        "import tensorflow as tf\n", "import tensorflow as tf\nimport parts\n", 1
    )
    text = text.replace("        self._build()\n", "        self.y = parts.product(self.size)\n")
    text = text.replace("_initializer())\n\n", "_initializer())\n        self._build()\n\n", 1)
    parts = "import tensorflow as tf\n\n\ndef product(x):\n    return tf.constant(x) * 2\n"
    files = [(str(tmp_path / "train.py"), text), (str(tmp_path / "parts.py"), parts)]
    for path, content in files:
        Path(path).write_text(content)
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


DROPS = PROGRAM.replace(
    "        self._out = tf.matmul(self.x, self.w)\n",
    "        self.flag = tf.placeholder(tf.bool)\n"
    "        self.kept = tf.layers.dropout(self.x, 0.3, training=self.flag)\n"
    "        self._out = tf.matmul(self.kept, self.w)\n",
).replace(
    "    def learn(self, data):\n        _, loss = self.sess.run([self.train_op, self.loss], "
    "feed_dict={self.x: data})\n",
    "    def learn(self, data, flag=True):\n        _, loss = self.sess.run([self.train_op, "
    "self.loss], feed_dict={self.x: data, self.flag: flag})\n",
)


def test_who_calls_a_method_says_whether_it_drops_something() -> None:
    after = native(DROPS)
    assert "kept = tf.cond(flag, lambda: tf.nn.dropout(x, rate=0.3), lambda: x)\n" in after


def test_dropout_with_a_seed_that_is_told_so_stays() -> None:
    text = DROPS.replace("0.3, training", "0.3, seed=1, training")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


def test_what_is_fed_by_a_name_that_begins_with_a_line_stays() -> None:
    """`tf.function` calls such an argument `arg__x`."""
    text = """\
import numpy as np
import tensorflow as tf

_x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(_x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {_x: np.ones([3, 2])}
    sess.run(train, feed)
"""
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("given nothing by the name `_x`" in one for one in said(result))
    native(text.replace("feed = {_x: np.ones([3, 2])}\n    sess.run(train, feed)",
                        "sess.run(train, {_x: np.ones([3, 2])})"))  # fmt: skip


WRITES = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, folder):
        self.folder = folder
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1, name="out")))
        tf.summary.scalar("loss", self.loss)
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def add_summary(self, sess):
        self.merged = tf.summary.merge_all()
        self.writer = tf.summary.FileWriter(self.folder, sess.graph)

    def train(self, rows):
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            self.add_summary(sess)
            for step in range(3):
                self.one_step(sess, rows, step, saver)

    def one_step(self, sess, rows, step, saver):
        _, summary = sess.run([self.train_op, self.merged], feed_dict={self.x: rows})
        self.writer.add_summary(summary, step)
        saver.save(sess, self.folder + "/model")


model = Model("logs")
model.train(np.ones([4, 2]))
"""


def test_methods_write_what_another_one_gives_the_object() -> None:
    after = native(WRITES)
    assert "saver = Saver(self.checkpoint_variables)" in after
    assert "self.one_step(rows, step, saver)" in after
    assert "def one_step(self, rows, step, saver):" in after
    assert '        saver.save(self.folder + "/model")\n' in after
    assert "        with self.writer.as_default():\n" in after
    assert "tf.summary.graph(self.train_step.get_concrete_function().graph)" in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # a writer that is given away may be asked for anything
        (
            "self.writer.add_summary(summary, step)",
            "note(self.writer)",
            "`self.writer` is used for more than writing summaries",
        ),
        # and a saver that a function may be given another one for
        (
            "self.one_step(sess, rows, step, saver)",
            "self.one_step(sess, rows, step, saver if step else None)",
            "the session is used for more than `run`",
        ),
    ],
)
def test_what_is_used_for_more_stays(old: str, new: str, why: str) -> None:
    text = WRITES.replace(old, new)
    if "note(" in new:
        text = text.replace("class Model", "def note(one):\n    print(one)\n\n\nclass Model", 1)
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)
