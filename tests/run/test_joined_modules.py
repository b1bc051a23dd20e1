"""Classes that build graphs in modules of their own, read as one with the module that runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.models.front.session.unknown_calls import CLASS_IN_GRAPH
from migrate_mgpu.models.normalize.objects.class_obstacles import CLASS_STAYS
from migrate_mgpu.run.joined_modules import APART as APART_KEY
from tests.support.migration import after, run, said

MODEL = '''\
"""The model."""
import numpy as np
import tensorflow as tf

RATE = 0.1


class Model(object):
    def __init__(self, size):
        self.size = size
        self.x = tf.placeholder(tf.float32, [None, size], name="x")
        self.w = tf.Variable(np.ones([size, 1], np.float32))
        self.out = tf.matmul(self.x, self.w)
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train_op = tf.train.GradientDescentOptimizer(RATE).minimize(self.loss)

    def describe(self):
        return "%d inputs" % self.size
'''
MAIN = """\
import numpy as np
import tensorflow as tf
from model import Model


def main():
    model = Model(2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            _, loss = sess.run([model.train_op, model.loss], {model.x: np.ones([3, 2])})
            print(loss)


main()
"""


def texts(*files: tuple[str, str]) -> dict[str, str]:
    """What becomes of the files of a program that is native."""
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert [one.modules for one in result.programs] == [len(files)]
    found = {file.path.name: str(file.after) for file in result.files}
    for name, text in found.items():
        compile(text, name, "exec")
        assert "Session" not in text and "placeholder" not in text
    again = run(*found.items(), bridge=True, native_sessions=True)
    assert not [file.path for file in again.files if file.changed]
    return found


def test_a_class_in_a_module_of_its_own_name() -> None:
    main = MAIN.replace("from model import Model", "from Model import Model")
    result = run(("main.py", main), ("Model.py", MODEL), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_tensorflow_may_come_with_all_names_of_a_module() -> None:
    head = "import numpy as np\nimport tensorflow as tf\n"
    main = MAIN.replace(head, "import numpy as np\nfrom names import *\n")
    assert main != MAIN
    result = run(
        ("main.py", main), ("model.py", MODEL), ("names.py", "import tensorflow as tf\n"),
        native_sessions=True,
    )  # fmt: skip
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_each_file_gets_what_became_of_it() -> None:
    after = texts(("main.py", MAIN), ("model.py", MODEL))
    assert after["model.py"].startswith(MODEL[: MODEL.index("        self.x = ")])
    assert "        self.train_step = train_step\n" in after["model.py"]
    head = "import numpy as np\nfrom model import Model\n\n\ndef main():\n    model = Model(2)\n"
    assert after["main.py"].startswith(head)  # nothing here needs TensorFlow any longer
    assert "        loss = model.train_step(np.ones([3, 2])).numpy()\n" in after["main.py"]
    assert "_begin_of" not in "".join(after.values())


def test_what_is_said_stands_where_the_statement_does() -> None:
    unread = MODEL.replace("        self.loss", "        self.most = tf.reduce_max(self.x)\n"
                           "        self.loss")  # fmt: skip
    result = run(("main.py", MAIN), ("model.py", unread), bridge=True, native_sessions=True)
    line = unread[: unread.index("self.most")].count("\n") + 1
    left = [one for one in result.findings if "no step needs" in one.message]
    assert [(one.path.name, one.line) for one in left] == [("model.py", line)], said(result)
    steps = [one for one in result.findings if "become functions of TF2" in one.message]
    line = MAIN[: MAIN.index("with tf.Session")].count("\n") + 1
    assert [(one.path.name, one.line) for one in steps] == [("main.py", line)]


LOOP = """\
        net = self.x
        for i in range(2):
            with tf.variable_scope("layer_%d" % i):
                v = tf.get_variable("v", [size, size], initializer=tf.ones_initializer())
                net = tf.matmul(net, v)
        self.out = tf.matmul(net, self.w)
"""


def test_a_class_that_is_written_for_it_stands_in_its_file() -> None:
    model = MODEL.replace("        self.out = tf.matmul(self.x, self.w)\n", LOOP)
    after = texts(("main.py", MAIN), ("model.py", model))
    assert "class DenseLayers(tf.keras.layers.Layer):" in after["model.py"]
    assert "Layers" not in after["main.py"]


def test_the_module_by_its_name() -> None:
    main = MAIN.replace("from model import Model", "import model as nets")
    after = texts(("main.py", main.replace("Model(2)", "nets.Model(2)")), ("model.py", MODEL))
    assert "import model as nets\n" in after["main.py"]
    assert "    model = nets.Model(2)\n" in after["main.py"]


def test_a_class_by_another_name() -> None:
    main = MAIN.replace("import Model", "import Model as Net").replace("Model(2)", "Net(2)")
    main = main.replace("print(loss)", 'print(loss, "Model")  # of Model')
    after = texts(("main.py", main), ("model.py", MODEL))
    assert "from model import Model as Net\n" in after["main.py"]
    assert "    model = Net(2)\n" in after["main.py"]
    assert 'print(loss, "Model")  # of Model' in after["main.py"]


def test_names_of_which_one_has_another() -> None:
    main = MAIN.replace("import Model", "import RATE, Model as Net").replace("Model(2)", "Net(2)")
    after = texts(
        ("main.py", main.replace("print(loss)", "print(loss, RATE)")), ("model.py", MODEL)
    )
    assert "from model import RATE, Model as Net\n" in after["main.py"]


def test_all_names_of_the_module() -> None:
    main = MAIN.replace("import Model", "import *").replace("print(loss)", "print(loss, RATE)")
    after = texts(("main.py", main), ("model.py", MODEL))
    assert "from model import *\n" in after["main.py"]


def test_a_module_of_a_package(tmp_path: Path) -> None:
    ops = "import tensorflow as tf\n\n\ndef squared(x):\n    return tf.square(x)\n"
    beside = "import tensorflow as tf\nfrom .ops import squared\n"
    model = MODEL.replace("import tensorflow as tf\n", beside)
    model = model.replace("tf.square(self.out)", "squared(self.out)")
    files = {
        "main.py": MAIN.replace("from model", "from nets.model"), "nets/__init__.py": "",
        "nets/model.py": model, "nets/ops.py": ops,
    }  # fmt: skip
    (tmp_path / "nets").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = [(str(tmp_path / name), text) for name, text in files.items()]
    result = run(*given, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "from .ops import squared\n" in after["model.py"]
    assert "from nets.model import Model\n" in after["main.py"]


OTHER = MAIN.replace("Model(2)", "Model(3)")
STAYS = {
    "a name means two things": {"main.py": MAIN.replace("def main", "RATE = 2\n\n\ndef main")},
    "it is a program itself": {
        "model.py": MODEL + "\n\nif __name__ == '__main__':\n    print(Model(2).loss)\n"
    },
    "it asks for its name": {"model.py": MODEL + "\nprint(__name__)\n"},
    "it is imported where it is needed": {
        "main.py": MAIN.replace("from model import Model\n", "").replace(
            "    model = Model(2)\n", "    from model import Model\n    model = Model(2)\n"
        )
    },
    "the class has another name there, which is one of the other file's": {
        "main.py": MAIN.replace("import Model", "import Model as RATE").replace(
            "Model(2)", "RATE(2)"
        )
    },
    "the class has another name there, and something else has its own": {
        "main.py": MAIN.replace("import Model", "import Model as Net").replace(
            "    model = Model(2)\n", "    Model = Net\n    model = Net(2)\n"
        )
    },
    "the module itself goes somewhere": {
        "main.py": MAIN.replace("from model import Model", "import model as nets").replace(
            "    model = Model(2)\n", "    model = nets.Model(2)\n    print(nets)\n"
        )
    },
}


def test_what_goes_of_a_class_that_programs_share_is_told_once() -> None:
    model = MODEL.replace("        self.loss", "        print(self.out)\n        self.loss", 1)
    files = (("main.py", MAIN), ("other.py", OTHER), ("model.py", model))
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native", "native"], said(result)
    told = [one for one in result.findings if "it is left out" in one.message]
    assert [one.path.name for one in told] == ["model.py"], said(result)


# What is told of those, at the statement that keeps the files apart.
APART = {
    "a name means two things": ("model.py", "RATE = 0.1"),
    "it is a program itself": ("model.py", "if __name__"),
    "it asks for its name": ("model.py", "print(__name__)"),
    "it is imported where it is needed": ("main.py", "from model import Model"),
}


def test_another_program_that_has_it_keeps_it_as_it_is() -> None:
    files = {"main.py": MAIN, "model.py": MODEL, "other.py": OTHER + "print(model)\n"}
    result = run(*files.items(), bridge=True, native_sessions=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states["main.py"] == "native" and states["other.py"] == "bridge", said(result)
    assert "model_tf2.py" in {file.path.name for file in result.files}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays_where_the_files_cannot_be_one(case: str) -> None:
    files = {"main.py": MAIN, "model.py": MODEL, **STAYS[case]}
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert not [one for one in result.programs if one.state == "native"]
    kept = [one for one in result.findings if one.code == "MGPU205" and one.state == "kept"]
    assert {one.key for one in kept} <= {APART_KEY, CLASS_IN_GRAPH, CLASS_STAYS}, said(result)
    if case in APART:
        name, text = APART[case]
        found = next(one for one in kept if one.key == APART_KEY)
        assert found.path.name == name
        assert text in files[name].splitlines()[found.line - 1]


def test_what_keeps_it_then_is_said() -> None:
    """Not that the class is not understood: the statement in it that is not."""
    model = MODEL.replace("tf.square(self.out)", "self.out.op.inputs[0]")
    result: RunResult = run(("main.py", MAIN), ("model.py", model), bridge=True,
                            native_sessions=True)  # fmt: skip
    kept = [one for one in result.findings if one.code == "MGPU205"]
    line = model[: model.index("self.loss")].count("\n") + 1
    assert [(one.path.name, one.line) for one in kept] == [("model.py", line)], said(result)
    assert kept[0].message.endswith("`out.op` of a part of the graph")


AGENT = """\
import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self, session: tf.Session, size: int, name: str="main") -> None:
        self.session = session
        with tf.variable_scope(name):
            self._x = tf.placeholder(tf.float32, [None, size])
            net = tf.layers.dense(self._x, 2)
            self._out = net
            self._loss = tf.reduce_mean(tf.square(self._out))
            self._train = tf.train.AdamOptimizer(0.1).minimize(self._loss)

    def predict(self, state: np.ndarray) -> np.ndarray:
        return self.session.run(self._out, feed_dict={self._x: state})

    def update(self, rows) -> list:
        feed = {self._x: rows}
        return self.session.run([self._loss, self._train], feed)
"""
PLAY = """\
import numpy as np
import tensorflow as tf
import agent


def learn(Agent: agent.Agent, rows: list) -> float:
    print(Agent.predict(rows))
    return Agent.update(rows)[0]


def main():
    with tf.Session() as sess:
        player = agent.Agent(sess, 3)
        sess.run(tf.global_variables_initializer())
        print(learn(player, np.ones([2, 3])))


main()
"""


def test_types_that_are_said_and_a_parameter_by_the_name_of_the_class() -> None:
    after = texts(("play.py", PLAY), ("agent.py", AGENT))
    assert '    def __init__(self, size: int, name: str="main") -> None:\n' in after["agent.py"]
    assert "def learn(Agent: agent.Agent, rows: list) -> float:\n" in after["play.py"]
    assert "    player = agent.Agent(3)\n" in after["play.py"]
    assert "    print(Agent.predict(rows))\n" in after["play.py"]
    # tf.function knows no argument by a name that begins with a line.
    assert "feed = {'x': rows}" in after["agent.py"] or 'feed = {"x": rows}' in after["agent.py"]


def test_a_class_that_is_called_as_its_module() -> None:
    main = MAIN.replace("from model import Model\n", "import Model\n").replace(
        "model = Model(2)", "model = Model.Model(2)"
    )
    after = texts(("main.py", main), ("Model.py", MODEL))
    assert "import Model\n" in after["main.py"] and "model = Model.Model(2)" in after["main.py"]


def test_imports_that_both_have() -> None:
    """One that does not stand at the head of the other module is no other meaning of its name."""
    model = MODEL.replace("RATE = 0.1\n", "RATE = 0.1\nimport sys\n")
    model = model.replace('return "%d inputs" % self.size', "return sys.argv[0]")
    main = MAIN.replace("import numpy as np\n", "import sys\nimport numpy as np\n")
    after = texts(
        ("main.py", main.replace("print(loss)", "print(sys.argv, loss)")), ("model.py", model)
    )
    assert "import sys\n" in after["main.py"] and "import sys\n" in after["model.py"]


def test_what_is_written_for_the_first_module_stands_below_the_import() -> None:
    main = MAIN.replace("            print(loss)\n", "            print(loss)\n" + SAVES)
    after = texts(("main.py", main), ("model.py", MODEL))["main.py"]
    assert after.index("from model import Model\n") < after.index("class Saver:")
    assert "def main():" in after.partition("class Saver:")[2]


SAVES = """\
        saver = tf.train.Saver(max_to_keep=len("abc"))
        saver.save(sess, "m.ckpt")
"""


FLAGS_NET = """\
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS


class Net:
    def __init__(self):
        self.rate = FLAGS.rate
        self.x = tf.placeholder(tf.float32, [None, 2])
        w = tf.Variable(tf.ones([2, 1]))
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w) - 1.0))
        self.op = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)
"""
FLAGS_TRAIN = """\
import numpy as np
import tensorflow as tf
from net import Net

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_float('rate', 0.1, 'rate')


def main(_):
    with tf.Session() as sess:
        net = Net()
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(net.op, {net.x: np.ones([2, 2])})
            print(sess.run(net.loss, {net.x: np.ones([2, 2])}))


if __name__ == '__main__':
    tf.app.run()
"""


def test_a_name_for_flags_that_both_modules_have_is_absls_in_both() -> None:
    files = [("train.py", FLAGS_TRAIN), ("net.py", FLAGS_NET)]
    result = run(*files, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    net = after(result, files[1])
    assert "from absl import flags\nFLAGS = flags.FLAGS\n" in net and "tf.app" not in net


def named(lost: str, more: str = "") -> list[tuple[str, str]]:
    """Both modules, each with a name for what TF2 lost."""
    line = f"lost = tf.{lost}\n{more}\n\n"
    net = FLAGS_NET.replace("FLAGS = tf.app.flags.FLAGS\n\n\n", line).replace("FLAGS.rate", "0.1")
    return [
        ("train.py", FLAGS_TRAIN.replace("FLAGS = tf.app", f"{line}FLAGS = tf.app")),
        ("net.py", net),
    ]


def test_a_name_that_tf2_lost_keeps_both_modules_apart() -> None:
    result = run(*named("train.Supervisor", "KNOWN = [lost]\n"), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] != ["native"]
    assert any("supported in a native program" in one for one in said(result))


def test_a_name_that_nothing_reads_goes_from_both() -> None:
    files = named("contrib.slim")
    result = run(*files, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "lost" not in after(result, *files)


STEPS = """\
import tensorflow as tf


class Steps(object):
    def __init__(self, rate):
        self.rate = rate

    def apply(self, pairs):
        return tf.group(*[var.assign_sub(self.rate * grad) for grad, var in pairs])
"""
CHECK = """\
import steps
import tensorflow as tf


class StepsTest(tf.test.TestCase):
    def test_steps(self):
        with self.test_session() as sess:
            w = tf.get_variable("w", initializer=[0.1, -0.2, -0.1])
            loss = tf.reduce_mean(tf.square(w))
            pairs = zip(tf.gradients(loss, [w]), [w])
            train_op = steps.Steps(rate=0.2).apply(pairs)
            sess.run(tf.global_variables_initializer())
            sess.run(train_op)


if __name__ == "__main__":
    tf.test.main()
"""


def test_a_text_that_has_nothing_to_convert_is_read_as_well() -> None:
    """What two modules are as one may make no session, nor a configuration: no error of ours."""
    result = run(("steps_test.py", CHECK), ("steps.py", STEPS), ("main.py", MAIN), bridge=True,
                 native_sessions=True)  # fmt: skip
    assert any("its session is made by `self.test_session`" in one for one in said(result))


TOOLS = """\
import numpy as np


def rows(size):
    return np.ones([3, size])


def evaluate(sess, model):
    return sess.run(model.loss, {model.x: rows(2)})
"""
ASKS = MAIN.replace(
    "from model import Model", "from model import Model\nfrom tools import evaluate"
)
ASKS = ASKS.replace("            print(loss)", "            print(loss, evaluate(sess, model))")
NET = MODEL.replace(
    "import tensorflow as tf\n", "import tensorflow as tf\n\nfrom tools import rows\n"
)
NET = NET.replace("np.ones([size, 1], np.float32)", "rows(size)[:1].T.astype(np.float32)")


def test_a_function_of_another_module_runs_what_it_is_given() -> None:
    """The module has nothing of TensorFlow in it, and gets nothing."""
    after = texts(("main.py", ASKS), ("model.py", MODEL), ("tools.py", TOOLS))
    tools = after["tools.py"]
    assert "def evaluate(model):\n    return model.compute_loss(rows(2)).numpy()\n" in tools
    assert "tensorflow" not in tools and "evaluate(model)" in after["main.py"]


def test_a_module_that_two_others_import() -> None:
    after = texts(("main.py", ASKS), ("model.py", NET), ("tools.py", TOOLS))
    assert "from tools import rows\n" in after["model.py"]
    assert "from tools import evaluate\n" in after["main.py"]


@pytest.mark.parametrize(
    "tools",
    [
        TOOLS.replace("sess.run(model.loss, ", "sess.run(model.loss + 1, "),
        TOOLS.replace("    return sess", "    print(sess.graph)\n    return sess"),
        f"{TOOLS}\n\nif __name__ == '__main__':\n    print(rows(2))\n",
    ],
)
def test_a_function_that_does_more_keeps_the_program(tools: str) -> None:
    files = (("main.py", ASKS), ("model.py", MODEL), ("tools.py", tools))
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in message for message in said(result))
