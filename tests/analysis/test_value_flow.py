"""Each way of handing a value on, for each kind of object: the program is migrated whole."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tests.support.migration import after, migrated, run, said, stays

SESSIONS = "import sys\nimport tensorflow as tf\n"
ESTIMATORS = (
    SESSIONS
    + """

def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, net)
    op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[2.0]] * 8))
    return data.repeat().batch(4)


"""
)
SESSION = "session = tf.Session(config={0})\nsession.run(tf.constant(1))"
# What makes an object, what another one, where it goes, and what must be in the output instead.
OBJECTS = {
    "ConfigProto": (
        SESSIONS, "tf.ConfigProto(allow_soft_placement=True)",
        "tf.ConfigProto(log_device_placement=True)", SESSION,
        ("set_soft_device_placement(True)", "tf.Session()"), ("ConfigProto",),
    ),
    "GPUOptions": (
        SESSIONS, "tf.GPUOptions(allow_growth=True)", "tf.GPUOptions(allow_growth=False)",
        SESSION.format("tf.ConfigProto(gpu_options={0})"),
        ("set_memory_growth(gpu, True)", "tf.Session()"), ("ConfigProto", "GPUOptions"),
    ),
    "RunConfig": (
        ESTIMATORS, "tf.estimator.RunConfig(tf_random_seed=5)",
        "tf.estimator.RunConfig(tf_random_seed=7)",
        "estimator = tf.estimator.Estimator(model_fn, config={0})\n"
        "estimator.train(input_fn, steps=5)",
        ("tf.random.set_seed(5)", "estimator.fit("), ("RunConfig", "Estimator("),
    ),
    "strategy": (
        ESTIMATORS, "tf.distribute.MirroredStrategy()", "tf.distribute.OneDeviceStrategy('/cpu:0')",
        "config = tf.estimator.RunConfig(train_distribute={0})\n"
        "estimator = tf.estimator.Estimator(model_fn, config=config)\n"
        "estimator.train(input_fn, steps=5)",
        ("tf.distribute.MirroredStrategy()", ".scope():", "estimator.fit("),
        ("RunConfig", "Estimator("),
    ),
    "Estimator": (
        ESTIMATORS, "tf.estimator.Estimator(model_fn)", "tf.estimator.Estimator(model_fn)",
        "{0}.train(input_fn, steps=5)", ("model_fn()", ".fit("), ("Estimator", ".train("),
    ),
}  # fmt: skip
WAYS = {
    "plain": "first = {make}\n{use:first}\n",
    "alias": "first = {make}\nsecond = first\n{use:second}\n",
    "tuple": "first, name = {make}, 'x'\n{use:first}\nprint(name)\n",
    "returned tuple": (
        "def build():\n    return {make}, 'x'\n\n\nfirst, name = build()\n{use:first}\n"
        "print(name)\n"
    ),
    "attribute of self": (
        "class Trainer:\n    def __init__(self):\n        self.kept = {make}\n\n"
        "    def run(self):\n{use:self.kept:8}\n\n\nTrainer().run()\n"
    ),
    "attribute": (
        "class Holder:\n    def __init__(self):\n        self.kept = {make}\n\n\n"
        "holder = Holder()\n{use:holder.kept}\n"
    ),
    "item": "table = {{'a': {make}, 'b': 1}}\n{use:table['a']}\nprint(table['b'])\n",
    "conditional": "first = {make} if len(sys.argv) > 1 else {other}\n{use:first}\n",
    "branch": (
        "if len(sys.argv) > 1:\n    first = {make}\nelse:\n    first = {other}\n{use:first}\n"
    ),
    "parameter": "def run(given):\n{use:given:4}\n\n\nrun({make})\n",
    "return": "def build():\n    return {make}\n\n\n{use:build()}\n",
    "with": (
        "import contextlib\n\n\n@contextlib.contextmanager\ndef build():\n    yield {make}\n\n\n"
        "with build() as first:\n{use:first:4}\n"
    ),
    "import": ("first = {make}\n", "from settings import first\n\n{use:first}\n"),
    "module attribute": ("first = {make}\n", "import settings\n\n{use:settings.first}\n"),
    "imported function": (
        "def build():\n    return {make}\n", "from settings import build\n\n{use:build()}\n"
    ),
}  # fmt: skip


class Use:
    """``{use:name}`` and ``{use:name:indent}`` of a way."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __format__(self, wanted: str) -> str:
        name, _, indent = wanted.partition(":")
        return textwrap.indent(self.text.format(name), " " * int(indent or 0))


def program(kind: str, way: str) -> dict[str, str]:
    """The files of a program that makes an object and hands it on in one way."""
    head, make, other, use, _, _ = OBJECTS[kind]
    texts = WAYS[way] if isinstance(WAYS[way], tuple) else (WAYS[way],)
    written = [text.format(make=make, other=other, use=Use(use)) for text in texts]
    if len(written) == 1:
        return {"train.py": head + written[0]}
    if "model_fn" in make:  # the model stands with what makes the object
        uses = f"{SESSIONS}from settings import input_fn\n{written[1]}"
        return {"settings.py": head + written[0], "train.py": uses}
    return {"settings.py": SESSIONS + written[0], "train.py": head + written[1]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", OBJECTS)
def test_it_is_followed(kind: str, way: str) -> None:
    files = program(kind, way).items()
    result = run(*files, bridge=True)
    *_, there, gone = OBJECTS[kind]
    left = after(result, *files)
    messages = said(result)
    states = {one.state for one in result.programs}
    assert states == {"bridge"} if kind in ("ConfigProto", "GPUOptions") else {"native"}, messages
    for text in there:
        assert text in left, left
    for text in gone:
        assert text not in left, left
    if "name" in WAYS[way]:
        assert "'x'" in left, "another member of the tuple is lost"
    if way == "item":
        assert "'b': 1" in left, "another item is lost"
    for file in result.files:
        ast.parse(file.after or "")
    again = [(name, after(result, (name, text))) for name, text in files]
    assert not any(file.changed for file in run(*again, bridge=True).files), "not idempotent"


CONFIG = "config = tf.ConfigProto(allow_soft_placement=True)\n"
TWICE = """\
def run(given{0}):
    tf.Session(config=tf.ConfigProto(gpu_options=given))


run(tf.GPUOptions(allow_growth=True))
run({1})
"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (CONFIG + "two = None\nif sys.argv[1:]:\n    two = config\ntf.Session(config=two)\n",
         "also called `two`, which may be None"),
        (CONFIG + "two = config\nif sys.argv[1:]:\n    two = load()\ntf.Session(config=two)\n",
         "`two` may hold something else"),
        (CONFIG + "two = config if sys.argv[1:] else None\ntf.Session(config=two)\n",
         "chosen or tested"),
        ("config = tf.ConfigProto() if input() else None\ntf.Session(graph(), config=config)\n"
         "send(config)\n", "passed to `send(...)`"),
        ("tf.Session(graph(), config=tf.ConfigProto() if input() else None)\n",
         "chosen or tested"),
        ("table = {'a': tf.ConfigProto(allow_soft_placement=True)}\nprint(table)\n"
         "tf.Session(config=table['a'])\n", "put into a container"),
        ("table = {'a': tf.ConfigProto(allow_soft_placement=True)}\ntable[sys.argv[1]] = None\n"
         "tf.Session(config=table['a'])\n", "put into a container"),
        ("def build(wanted):\n    if wanted:\n        return tf.ConfigProto(), 1\n"
         "    return None, 2\n\n\nconfig, n = build(sys.argv[1:])\ntf.Session(config=config)\n",
         "put into a container"),
        ("for config in [tf.ConfigProto(allow_soft_placement=True)]:\n"
         "    tf.Session(config=config)\n", "put into a container"),
        (TWICE.format("", "tf.GPUOptions(allow_growth=False)"), "`given` is a parameter"),
        (TWICE.format("=None", ""), "`given` is a parameter"),
        ("options = tf.GPUOptions(allow_growth=True)\n"
         "tf.Session(config=tf.ConfigProto(gpu_options=options))\n"
         "tf.Session(config=wrapped(gpu_options=options))\n",
         "passed to `wrapped(...)`"),
        (CONFIG + "print(config, input())\ntf.Session(config=config)\n", "passed to `print(...)`"),
        (CONFIG + "print(config, file=open('x', 'w'))\ntf.Session(config=config)\n",
         "passed to `print(...)`"),
    ],
)  # fmt: skip
def test_a_config_that_another_path_may_see_stays(body: str, reason: str) -> None:
    result = run(("train.py", SESSIONS + body), bridge=True)
    (file,) = result.files
    assert any(reason in finding.message for finding in file.findings), file.findings
    assert [one.state for one in result.programs] == ["bridge, config kept"]
    assert (file.after or "").endswith(body)


SETTINGS = SESSIONS + CONFIG


@pytest.mark.parametrize(
    ("settings", "train", "reason"),
    [
        (SETTINGS, "import settings\nsettings.config.log_device_placement = True\n"
         "tf.Session(config=settings.config)\n", "it is filled in another file"),
        (SETTINGS, "import settings\nsettings.config = load()\n"
         "tf.Session(config=settings.config)\n", "`train.py` uses `config` from here"),
        (SETTINGS, "try:\n    from settings import config\nexcept ImportError:\n    config = None\n"
         "tf.Session(config=config)\n", "`train.py` imports `config` from here"),
        (SETTINGS.replace("allow_soft", "log_device"),
         "from settings import config\ntf.Session(config=config)\ntf.Session()\n",
         "another session of the process has no config"),
    ],
)  # fmt: skip
def test_a_config_of_another_file_that_stays(settings: str, train: str, reason: str) -> None:
    files = ("settings.py", settings), ("train.py", SESSIONS + train)
    result = run(*files, bridge=True)
    messages = said(result)
    assert any(reason in message for message in messages), messages
    assert {one.state for one in result.programs} == {"bridge, config kept"}
    assert settings.replace(SESSIONS, "") in after(result, *files)


def test_a_file_finds_none_where_the_config_was() -> None:
    """The files of a program are written one after the other: each fits the others' old form."""
    holder = "class Holder:\n    def __init__(self):\n        self.config = tf.ConfigProto()\n"
    use = "import settings\nholder = settings.Holder()\ntf.Session(config=holder.config)\n"
    left, _ = migrated(
        ("settings.py", SESSIONS + holder), ("train.py", SESSIONS + use), bridge=True
    )
    assert "        self.config = None\n" in left and "tf.Session()" in left


@pytest.mark.parametrize(
    "shown",
    [
        "print(config)", "print('config', config)", "print(f'config {config}')",
        "print('config %s' % (config,))", "print('{}'.format(config))", "print(str(config))",
        "logging.info('%s', config)", "logging.getLogger().info('x') or logging.debug(config)",
        "tf.logging.info('config: %s', config)", "config",
    ],
)  # fmt: skip
def test_what_shows_a_config_goes_with_it(shown: str) -> None:
    body = f"import logging\n{CONFIG}if sys.argv[1:]:\n    {shown}\ntf.Session(config=config)\n"
    (file,) = run(("train.py", SESSIONS + body), bridge=True).files
    messages = [finding.message for finding in file.findings if finding.line == 6]
    if " or " in shown:
        assert shown in (file.after or ""), "a statement that does something besides is lost"
        return
    assert "if sys.argv[1:]:\n    pass\ntf.Session()\n" in (file.after or "")
    assert messages == [
        "this prints an object of TF1 that no longer exists: the statement is removed"
    ], file.findings


RUN_CONFIG = "config = tf.estimator.RunConfig(tf_random_seed=5)\n"
ESTIMATOR = (
    "estimator = tf.estimator.Estimator(model_fn, config={0})\nestimator.train(input_fn, steps=2)\n"
)


@pytest.mark.parametrize(
    "shown",
    [
        "print(config)", "logging.info('%s', config)", "print(f'config {config}')",
        "tf.logging.info('config: %s', config)",
    ],
)  # fmt: skip
def test_what_shows_a_run_config_goes_with_it(shown: str) -> None:
    body = f"import logging\n{RUN_CONFIG}{shown}\n{ESTIMATOR.format('config')}"
    (file,) = run(("train.py", ESTIMATORS + body), bridge=True).files
    assert "tf.random.set_seed(5)\nestimator = model_fn()\n" in (file.after or ""), file.findings
    assert any("object of TF1" in finding.message for finding in file.findings)


@pytest.mark.parametrize("shown", ["logging.info('%s', estimator)", "print(f'{estimator}')"])
def test_what_shows_an_estimator_shows_the_model(shown: str) -> None:
    made = "estimator = tf.estimator.Estimator(model_fn)\n"
    body = f"import logging\n{made}{shown}\nestimator.train(input_fn, steps=2)\n"
    (file,) = run(("train.py", ESTIMATORS + body), bridge=True).files
    assert f"estimator = model_fn()\n{shown}\nestimator.fit(" in (file.after or ""), file.findings


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{RUN_CONFIG}two = config if sys.argv[1:] else None\n{ESTIMATOR.format('two')}",
         "a RunConfig is chosen in an expression"),
        (f"{RUN_CONFIG}pair = config, 1\n{ESTIMATOR.format('pair[0]')}",
         "where the RunConfig is passed cannot be analyzed"),
        (f"{RUN_CONFIG}both = dict(a=config)\n{ESTIMATOR.format('config')}",
         "used for more than an Estimator"),
        (f"def build(wanted):\n    if wanted:\n        return load(), 1\n    {RUN_CONFIG}"
         f"    return config, 2\n\n\nconfig, n = build(sys.argv[1:])\n{ESTIMATOR.format('config')}",
         "how the Estimator is configured here cannot be analyzed"),
    ],
)  # fmt: skip
def test_a_run_config_that_another_path_may_see_stays(body: str, reason: str) -> None:
    (file,) = run(("train.py", ESTIMATORS + body), bridge=True).files
    assert any(reason in finding.message for finding in file.findings), file.findings
    assert body in (file.after or "")


def test_what_handed_a_run_config_on_does_what_else_it_did() -> None:
    body = (
        "strategy = tf.distribute.MirroredStrategy()\n\n\ndef build(path):\n"
        "    config = tf.estimator.RunConfig(train_distribute=strategy)\n"
        "    return config, path\n\n\n"
        "config, path = build('x')\nother = config\nprint(path)\n" + ESTIMATOR.format("other")
    )
    (file,) = run(("train.py", ESTIMATORS + body), bridge=True).files
    after = file.after or ""
    assert "def build(path):\n    return path\n\n\n" in after, file.findings
    assert "path = build('x')\nprint(path)\nwith strategy.scope():\n" in after
    assert "other" not in after and "config" not in after


ADAM, DESCENT = "tf.train.AdamOptimizer(0.01)", "tf.train.GradientDescentOptimizer(0.01)"
BUILD = f"def build():\n    return {ADAM}\n\n\n"
HOLDER = f"class Holder:\n    def __init__(self):\n        self.kept = {ADAM}\n\n\n"
# What stands before the model_fn, what in it, and the expression that trains; `settings.py`.
OPTIMIZERS: dict[str, tuple[str, ...]] = {
    "plain": ("", f"first = {ADAM}", "first"),
    "alias": ("", f"first = {ADAM}\nsecond = first", "second"),
    "tuple": ("", f"first, rate = {ADAM}, 0.5", "first"),
    "returned tuple": (BUILD.replace("0.01)", "0.01), 1"), "first, n = build()", "first"),
    "attribute of a module": (f"first = {ADAM}\n\n\n", "", "first"),
    "item": ("", f"table = {{'a': {ADAM}}}", "table['a']"),
    "conditional": ("", f"first = {ADAM} if len(sys.argv) > 1 else {DESCENT}", "first"),
    "branch": (
        "", f"if len(sys.argv) > 1:\n    first = {ADAM}\nelse:\n    first = {DESCENT}", "first",
    ),
    "parameter": (
        "def run(given, loss):\n    return given.minimize(loss, tf.train.get_global_step())\n\n\n",
        f"op = run({ADAM}, loss)", "",
    ),
    "return": (BUILD, "", "build()"),
    "returned variable": (BUILD, "first = build()", "first"),
    "with": (
        "import contextlib\n\n\n@contextlib.contextmanager\n" + BUILD.replace("return", "yield"),
        "with build() as first:\n    op = first.minimize(loss, tf.train.get_global_step())", "",
    ),
    "attribute": (HOLDER, "holder = Holder()", "holder.kept"),
    "attribute of self": (HOLDER.replace("Holder", "Trainer"), "", "self.kept"),
    "import": ("from settings import first\n\n\n", "", "first", f"first = {ADAM}\n"),
    "module attribute": ("import settings\n\n\n", "", "settings.first", f"first = {ADAM}\n"),
    "imported function": ("from settings import build\n\n\n", "", "build()", BUILD.rstrip() + "\n"),
}  # fmt: skip


@pytest.mark.parametrize("way", OPTIMIZERS)
def test_an_optimizer_is_followed(way: str) -> None:
    before, inside, trains, *settings = OPTIMIZERS[way]
    if trains:
        inside += f"\nop = {trains}.minimize(loss, tf.train.get_global_step())"
    plain = "    op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())\n"
    head = ESTIMATORS.replace(plain, textwrap.indent(inside.strip(), "    ") + "\n")
    body = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn, steps=5)\n"
    if way == "attribute of self":  # the model_fn is a method
        imports, rest = head.split("\n\n\n", 1)
        function, rest = rest.split("\n\n\n", 1)
        method = function.replace("(features,", "(self, features,")
        run_it = f"def run(self):\n{textwrap.indent(body, '    ')}".replace("r(m", "r(self.m")
        methods = textwrap.indent(f"{method}\n\n{run_it}", "    ")
        head = f"{imports}\n\n\n{rest}{before.rstrip()}\n\n{methods}\n\n"
        body = "Trainer().run()\n"
    else:
        head = head.replace("def model_fn", f"{before}def model_fn")
    files = [("train.py", head + body), *(("settings.py", SESSIONS + one) for one in settings)]
    result = run(*files, bridge=True)
    left = after(result, *files)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    assert "tf.keras.optimizers.Adam(0.01, epsilon=1e-8)" in left
    assert "tf.train." not in left and "minimize" not in left
    for file in result.files:
        ast.parse(file.after or "")


@pytest.mark.parametrize(
    ("inside", "trains"),
    [
        ("table = {'a': tf.train.AdamOptimizer(load())}", "table['a']"),  # load() may do more
        (f"first = {ADAM}\nsecond = first\nregister(second)", "second"),
        (f"rate = 0.1\ntable = {{'a': {ADAM.replace('0.01', 'rate')}}}\nrate = 0.2", "table['a']"),
    ],
)
def test_an_optimizer_that_something_else_may_see_stays(inside: str, trains: str) -> None:
    inside += f"\nop = {trains}.minimize(loss, tf.train.get_global_step())"
    plain = "    op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())\n"
    head = ESTIMATORS.replace(plain, textwrap.indent(inside, "    ") + "\n")
    body = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn, steps=5)\n"
    (file,) = run(("train.py", head + body), bridge=True).files
    assert any("the Estimator stays: " in finding.message for finding in file.findings)
    assert not file.changed or "tf.keras.optimizers" not in (file.after or "")


@pytest.mark.parametrize(
    ("settings", "trains"),
    [
        (f"rate = 0.01\nfirst = {ADAM.replace('0.01', 'rate')}\n", "settings.first"),
        (f"first = {ADAM}\nregister(first)\n", "settings.first"),
        (f"class Holder:\n    def __init__(self):\n        self.kept = {ADAM}\n\n\n"
         "first = Holder()\nfirst.kept = None\n", "settings.first.kept"),
    ],
)  # fmt: skip
def test_an_optimizer_of_another_module_that_stays(settings: str, trains: str) -> None:
    plain = "tf.train.AdamOptimizer(0.01).minimize"
    head = ESTIMATORS.replace(plain, f"{trains}.minimize").replace(
        "import tensorflow", "import settings\nimport tensorflow"
    )
    body = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn, steps=5)\n"
    stays(
        ("train.py", head + body), "its optimizer is not one of tf.train",
        ("settings.py", SESSIONS + settings),
    )  # fmt: skip


COPIES = """\
import sys
import numpy as np
from tensorflow import keras
from tensorflow.keras.utils import multi_gpu_model

"""
NETWORK = "keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])"
TRAINED = (
    "parallel = multi_gpu_model({0}, gpus=2)\nparallel.compile('adam', 'mse')\n"
    "parallel.fit(np.ones((8, 2)), np.ones((8, 1)))"
)


def called_in_scope(text: str) -> list[str]:
    """The functions that are called in blocks under a strategy."""
    return [
        ast.unparse(part.func).rpartition(".")[2]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.With) and ast.unparse(node.items[0]).endswith("strategy.scope()")
        for statement in node.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Call)
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_copied_is_followed(way: str) -> None:
    texts = WAYS[way] if isinstance(WAYS[way], tuple) else (WAYS[way],)
    written = [text.format(make=NETWORK, other=NETWORK, use=Use(TRAINED)) for text in texts]
    settings = COPIES.rpartition("from")[0] + "\n" + written[0]
    files = [("train.py", COPIES + written[-1]), ("settings.py", settings)][: len(written)]
    result = run(*files, bridge=True)
    left = [after(result, file) for file in files]
    assert {one.state for one in result.programs} == {"native"}, said(result)
    assert "multi_gpu_model" not in "".join(left)
    assert "".join(left).count("MirroredStrategy(") == 1
    scoped = {call for text in left for call in called_in_scope(text)}
    assert "compile" in scoped and scoped & {"Sequential", "build"}, left
