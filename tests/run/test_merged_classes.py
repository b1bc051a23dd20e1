"""Classes that inherit from another class of the program, read with what they inherit."""

from __future__ import annotations

import re

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import run, said

BASE = '''\
class Base(object):
    """What all have."""

    def __init__(self, rate):
        self.rate = rate
        self.sess = None

    def initialize(self):
        self.sess.run(tf.global_variables_initializer())

    def close(self):
        self.sess.close()

    def build(self):
        raise NotImplementedError
'''
MODEL = """\
class Model(Base):
    def __init__(self, rate=0.5):
        super(Model, self).__init__(rate)
        self.build()
        self.sess = tf.Session()

    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 1])
        self.w = tf.Variable([[1.0]])
        self.loss = tf.reduce_mean(tf.matmul(self.x, self.w))
        self.train_op = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)

    def fit(self, x):
        for _ in range(2):
            _, loss = self.sess.run([self.train_op, self.loss], {self.x: x})
            print(loss)
"""
MAIN = """\
model = Model()
model.initialize()
model.fit([[1.0]])
model.close()
"""
HEAD = "import tensorflow as tf\n\n\n"
SUPER = "super(Model, self).__init__(rate)"


def program(base: str = BASE, model: str = MODEL, main: str = MAIN) -> tuple[str, str]:
    return "main.py", f"{HEAD}{base}\n\n{model}\n\n{main}"


def result(*files: tuple[str, str]) -> RunResult:
    return run(*files, bridge=True, native_sessions=True)


def texts(*files: tuple[str, str]) -> dict[str, str]:
    """What becomes of the files of a program that is native."""
    found = result(*files)
    assert [one.state for one in found.programs] == ["native"], said(found)
    after = {file.path.name: str(file.after) for file in found.files}
    for name, text in after.items():
        compile(text, name, "exec")
        assert "Session" not in text and "_of_Base" not in text
    again = result(*after.items())
    assert not [file.path for file in again.files if file.changed]
    return after


def kept(*files: tuple[str, str]) -> str:
    """What is said of a program that stays as it is."""
    found = result(*files)
    assert [one.state for one in found.programs] == ["bridge"], said(found)
    return "\n".join(one.message for one in found.findings if one.code == "MGPU205")


def methods(text: str, name: str) -> list[str]:
    """The methods of a class in a text."""
    body = text[text.index(f"class {name}") :].split("\n\n\n")[0]
    return re.findall(r"^    def (\w+)", body, re.MULTILINE)


def test_each_method_stays_in_its_class() -> None:
    after = texts(program())["main.py"]
    assert methods(after, "Base") == ["__init__", "initialize", "close", "build"]
    assert methods(after, "Model") == ["__init__", "fit"]
    assert f"        {SUPER}\n" in after
    assert (
        '    """What all have."""\n\n    def __init__(self, rate):\n        self.rate = rate\n\n'
        in after
    )
    assert "raise NotImplementedError" in after


@pytest.mark.parametrize(
    "call",
    [
        "super().__init__(rate)",
        "Base.__init__(self, rate)",
        "super(Model, self).__init__(rate=rate)",
    ],
)
def test_calls_of_the_base_stay_as_they_are_written(call: str) -> None:
    after = texts(program(model=MODEL.replace(SUPER, call)))["main.py"]
    assert f"        {call}\n" in after


def test_an_overridden_method_that_is_called_by_the_base() -> None:
    more = "\n    def close(self):\n        print('end')\n        super(Model, self).close()\n"
    after = texts(program(model=MODEL + more))["main.py"]
    assert "        super(Model, self).close()\n" in after
    assert methods(after, "Base") == ["__init__", "initialize", "close", "build"]


def test_attributes_and_properties_of_the_base() -> None:
    base = BASE.replace(
        "    def close(self):",
        "    @property\n    def shown(self):\n        return self.name + str(self.rate)\n\n"
        "    def close(self):",
    ).replace('have."""\n', 'have."""\n\n    name = "rate"\n')
    after = texts(program(base, main=MAIN + "print(model.shown, model.name)\n"))["main.py"]
    assert '    name = "rate"\n\n    def __init__' in after
    assert methods(after, "Base") == ["__init__", "initialize", "shown", "close", "build"]


def test_three_levels() -> None:
    middle = (
        "class Middle(Base):\n    def __init__(self, rate):\n"
        "        super(Middle, self).__init__(rate)\n        self.name = 'middle'\n\n"
        "    def describe(self):\n        print(self.name)\n"
    )
    model = f"{middle}\n\n{MODEL.replace('Model(Base)', 'Model(Middle)')}"
    after = texts(program(model=model, main=MAIN + "model.describe()\n"))["main.py"]
    assert methods(after, "Middle")[-1] == "describe"
    assert "class Middle(Base):" in after and "class Model(Middle):" in after


def test_a_base_in_another_module() -> None:
    main = f"{HEAD[:-2]}from base import Base\n\n\n{MODEL}\n\n{MAIN}"
    after = texts(("main.py", main), ("base.py", HEAD + BASE))
    assert methods(after["base.py"], "Base") == ["__init__", "initialize", "close", "build"]
    assert methods(after["main.py"], "Model") == ["__init__", "fit"]


def test_a_base_that_makes_the_session() -> None:
    base = BASE.replace(
        "    def initialize(self):\n",
        "    def initialize(self):\n        self.sess = tf.Session()\n",
    )
    model = MODEL.replace("        self.sess = tf.Session()\n", "        self.initialize()\n")
    main = f"from model import Model\n\n{MAIN}".replace("model.initialize()\n", "")
    files = (
        ("main.py", main),
        ("model.py", f"{HEAD[:-2]}from base import Base\n\n\n{model}"),
        ("base.py", HEAD + base),
    )
    after = texts(*files)
    assert methods(after["base.py"], "Base")[0] == "__init__"


def test_programs_that_share_the_classes() -> None:
    start = "    def initialize(self):\n"
    base = BASE.replace(start, start + "        self.sess = tf.Session()\n")
    model = MODEL.replace("        self.sess = tf.Session()\n", "        self.initialize()\n")
    main = f"from model import Model\n\n{MAIN}".replace("model.initialize()\n", "")
    files = (
        ("main.py", main),
        ("other.py", main.replace("[[1.0]]", "[[2.0], [3.0]]")),
        ("model.py", f"{HEAD[:-2]}from base import Base\n\n\n{model}"),
        ("base.py", HEAD + base),
    )
    found = result(*files)
    assert [one.state for one in found.programs] == ["native", "native"], said(found)
    after = {file.path.name: str(file.after) for file in found.files}
    assert methods(after["base.py"], "Base") == ["__init__", "close", "build"]
    assert "Session" not in "".join(after.values())


def test_what_is_said_stands_where_the_statement_does() -> None:
    end = "        self.sess.close()\n"
    name, text = program(BASE.replace(end, f"{end}        tf.train.import_meta_graph('a')\n"))
    found = [one for one in result((name, text)).findings if one.code == "MGPU205"]
    line = text[: text.index("tf.train.import_meta")].count("\n") + 1
    assert [one.line for one in found if one.state == "kept"] == [line], found


class TestTrainers:
    """A class that is given the session and the model, with a base that has most of it."""

    TRAINER = """\
class BaseTrainer(object):
    def __init__(self, sess, model, settings):
        self.sess = sess
        self.model = model
        self.settings = settings
        self.init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
        self.sess.run(self.init)

    def train(self):
        for epoch in range(self.model.count.eval(self.sess), self.settings.epochs):
            self.settings.rate *= 0.5
            self.epoch()
            self.sess.run(self.model.next)

    def epoch(self):
        raise NotImplementedError


class Trainer(BaseTrainer):
    def __init__(self, sess, model, settings):
        super(Trainer, self).__init__(sess, model, settings)

    def epoch(self):
        model = self.model
        print(self.sess.run([model.train_op, model.loss], {model.x: [[self.settings.rate]]})[1])
"""
    MODEL = """\
class Model(object):
    def __init__(self, settings):
        self.settings = settings
        self.x = tf.placeholder(tf.float32, [None, 1])
        self.w = tf.get_variable("w", [settings.size, 1])
        self.count = tf.Variable(0, trainable=False)
        self.next = tf.assign(self.count, self.count + 1)
        self.loss = tf.reduce_mean(tf.matmul(self.x, self.w))
        self.train_op = tf.train.GradientDescentOptimizer(0.5).minimize(self.loss)


class Settings(object):
    size = 1
    epochs = 2
    rate = 1.0


def main():
    settings = Settings()
    sess = tf.Session()
    Trainer(sess, Model(settings), settings).train()


main()
"""

    def test_a_trainer_is_given_no_session(self) -> None:
        text = f"{HEAD}{self.TRAINER}\n\n{self.MODEL}"
        after = texts(("main.py", text))["main.py"]
        assert "    def __init__(self, model, settings):\n        self.model = model\n" in after
        assert "        super(Trainer, self).__init__(model, settings)\n" in after
        assert "global_variables_initializer" not in after
        assert methods(after, "BaseTrainer") == ["__init__", "train", "epoch"]

    @pytest.mark.parametrize("taken", ["settings.rate", "self.settings.rate"])
    def test_a_setting_that_the_graph_has_and_that_changes_stays(self, taken: str) -> None:
        loss = "tf.reduce_mean(tf.matmul(self.x, self.w))"
        model = self.MODEL.replace(loss, f"{loss} * {taken}")
        said_of = kept(("main.py", f"{HEAD}{self.TRAINER}\n\n{model}"))
        assert "changes here, and the graph was built with its earlier value" in said_of


OTHER = "\n\nclass Other(Base):\n    def build(self):\n        print('other')\n"


@pytest.mark.parametrize(
    "files",
    [
        program(model=MODEL + OTHER, main=MAIN + "Other(1)\n"),
        program(main=MAIN + "print(isinstance(model, Base))\n"),
        program(main=MAIN + "print(Base(3).rate)\n"),
        program(BASE.replace("self.rate = rate", "self.rate = self.__rate = rate")),
        program("class Mixin(object):\n    pass\n\n\n" + BASE,
                MODEL.replace("(Base)", "(Base, Mixin)")),
        program(BASE.replace("(object)", "(dict)")),
        program(BASE + "\n    build = None\n"),
    ],
    ids=["two", "isinstance", "made", "private", "two bases", "of Python's", "twice"],
)  # fmt: skip
def test_a_base_that_others_have_stays(files: tuple[str, str]) -> None:
    assert "what the class that builds the graph inherits from `Base` is not read" in kept(files)
