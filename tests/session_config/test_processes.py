"""Sessions of one process agree; what runs in another process has no say."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run, said

HELPER = """\
import tensorflow as tf


def build():
    return tf.placeholder(tf.float32)


def main():
    with tf.Session() as sess:
        print(sess.run(tf.constant(1)))


if __name__ == "__main__":
    {start}
"""
TRAIN = """\
import tensorflow as tf
import helper

x = helper.build()
config = tf.ConfigProto(log_device_placement=True)
sess = tf.Session(config=config)
"""


@pytest.mark.parametrize("start", ["main()", "tf.app.run()", "tf.app.run(main=main)"])
def test_a_session_of_another_script(start: str) -> None:
    """The helper is a program of its own, with its own session; training never opens that."""
    files = ("helper.py", HELPER.format(start=start)), ("train.py", TRAIN)
    left, messages = migrated(*files, bridge=True)
    assert "tf.debugging.set_log_device_placement(True)\nsess = tf.Session()\n" in left, messages


@pytest.mark.parametrize(
    "called",
    [
        "helper.main()\n",
        "from helper import main as check\ncheck()\n",
        "def run(module):\n    module.main()\n\n\nrun(helper)\n",
    ],
)
def test_a_session_that_the_program_opens_as_well(called: str) -> None:
    helper = "helper.py", HELPER.format(start="main()")
    _, messages = migrated(("train.py", TRAIN + called), helper, bridge=True)
    assert any(
        "another session of the process has no config (helper.py:9)" in one for one in messages
    ), messages


SCRIPT = """\
import tensorflow as tf
{above}

def build():
    return tf.placeholder(tf.float32)


if __name__ == "__main__":
    config = tf.ConfigProto({option})
    sess = tf.Session(config=config)
"""
USER = """\
import tensorflow as tf
import script

with tf.Session() as sess:
    sess.run(script.build())
"""


def test_a_config_of_another_script() -> None:
    """Its calls stand under the guard, where the user of the module never comes."""
    script = SCRIPT.format(above="", option="log_device_placement=True")
    left, messages = migrated(("script.py", script), ("user.py", USER), bridge=True)
    moved = "    tf.debugging.set_log_device_placement(True)\n    sess = tf.Session()\n"
    assert moved in left, messages


def test_a_config_that_would_be_set_above_the_guard() -> None:
    """There it would hold for the programs that import the module, too."""
    option = "intra_op_parallelism_threads=2"
    script = SCRIPT.format(above="\nDATA = tf.data.TextLineDataset(__file__)\n", option=option)
    left, messages = migrated(("script.py", script), bridge=True)
    assert left.index("set_intra_op") < left.index("DATA ="), messages
    left, messages = migrated(("script.py", script), ("user.py", USER), bridge=True)
    assert option in left
    assert any("another session of the process has no config" in one for one in messages), messages


LIBRARY = """\
import tensorflow.compat.v1 as tf

FLAGS = tf.flags.FLAGS
TYPES = {"a": tf.float32}


def build():
    return tf.placeholder(TYPES["a"])
"""
LED = """\
import tensorflow{0} as tf
import library

with tf.Session() as sess:
    print(sess.run(library.build(), {{}}))
"""
UNDER_GUARD = """\
import tensorflow.compat.v1 as tf
import library


def main():
    with tf.Session() as sess:
        print(sess.run(library.build(), {}))


if __name__ == "__main__":
    tf.disable_v2_behavior()
    main()
"""


@pytest.mark.parametrize("train", [LED.format(""), LED.format(".compat.v1"), UNDER_GUARD])
def test_v1_behavior_is_chosen_where_a_program_starts(train: str) -> None:
    """The author's own bridge stays as it is: what imports it as TF2 code stays TF2's."""
    files = ("library.py", LIBRARY), ("train.py", train)
    left, _ = migrated(*files, bridge=True)
    assert left.startswith(LIBRARY)
    assert left.count("tf.disable_v2_behavior()\n") == 1
    assert (
        migrated(("library.py", LIBRARY), ("train.py", left[len(LIBRARY) + 1 :]), bridge=True)[0]
        == left
    )


def test_v1_behavior_is_chosen_where_sessions_are_opened() -> None:
    """By a library, where the program itself says nothing of TensorFlow."""
    runner = "import tensorflow.compat.v1 as tf\nimport library\n\n\ndef run():\n    tf.Session()\n"
    files = (
        ("library.py", LIBRARY),
        ("runner.py", runner),
        ("cli.py", "import runner\nrunner.run()\n"),
    )
    left, _ = migrated(*files, bridge=True)
    called = runner.replace("as tf\n", "as tf\ntf.disable_v2_behavior()\n")
    assert left == "\n".join([LIBRARY, called, files[2][1]])


@pytest.mark.parametrize(
    ("library", "train", "others"),
    [
        # It makes tensors while it is imported, before its importer's guard comes.
        (LIBRARY + "\n\nx = build()\n", UNDER_GUARD, ()),
        (LIBRARY + "\n\nx = tf.constant(1)\n", UNDER_GUARD, ()),
        # A program that says nothing of TensorFlow, and imports one with its call under the guard.
        (LIBRARY, UNDER_GUARD, (("other.py", "import train\n\ntrain.main()\n"),)),
        # TF1's plain name: a module that is changed anyway can stand alone.
        (LIBRARY.replace(".compat.v1", ""), LED.format(""), ()),
    ],
)
def test_v1_behavior_is_chosen_by_a_module_as_well(
    library: str, train: str, others: tuple[tuple[str, str], ...]
) -> None:
    files = ("library.py", library), ("train.py", train), *others
    left, messages = migrated(*files, bridge=True)
    assert left.startswith("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"), (
        messages
    )


def test_a_session_in_a_function_that_other_programs_call() -> None:
    helper = HELPER.format(start="main()").replace("main", "check")
    other = "import helper\n\nhelper.check()\n"
    files = ("helper.py", helper.partition("if __")[0]), ("train.py", TRAIN), ("other.py", other)
    left, messages = migrated(*files, bridge=True)
    assert "tf.debugging.set_log_device_placement(True)\nsess = tf.Session()\n" in left, messages


MODEL = """\
import tensorflow as tf


def build():
    return tf.placeholder(tf.float32)


def test():
    with tf.Session() as sess:
        print(sess.run(tf.constant(1)))
"""
STARTED = """\
import tensorflow as tf
import model


def main(_):
    x = model.build()
    config = tf.ConfigProto(log_device_placement=True)
    with tf.Session(config=config) as sess:
        train, test = 1, 2
        print(train, test, x)
{more}

if __name__ == "__main__":
    tf.app.run()
"""


def test_a_session_in_a_function_that_nothing_calls() -> None:
    """A script's process runs what its files call; `test` is a variable of the script here."""
    files = ("model.py", MODEL), ("train.py", STARTED.format(more=""))
    left, messages = migrated(*files, bridge=True)
    assert "tf.debugging.set_log_device_placement(True)" in left, messages
    assert "ConfigProto" not in left


@pytest.mark.parametrize(
    "more",
    [
        "    model.test()\n",
        "    check(model)\n\n\ndef check(module):\n    module.test()\n",
        '    getattr(model, "test")()\n',
        "    getattr(model, FLAGS.step)()\n",
        '    import importlib\n    found = importlib.import_module("model")\n    found.test()\n',
    ],
)
def test_a_session_in_a_function_that_may_be_called(more: str) -> None:
    files = ("model.py", MODEL), ("train.py", STARTED.format(more=more))
    left, messages = migrated(*files, bridge=True)
    assert "config=config" in left
    assert any("(model.py:9)" in one and "has no config" in one for one in messages), messages


def test_a_session_that_others_may_open() -> None:
    """A module that only defines may be imported by anybody, with what it imports."""
    script = STARTED.format(more="").partition("if __name__")[0]
    left, messages = migrated(("model.py", MODEL), ("train.py", script), bridge=True)
    assert "config=config" in left, messages


TWO = """\
import sys
import tensorflow as tf


def first():
    {config}
    with tf.Session(config=config) as sess:
        print(sess.run(tf.constant(1)))


def second():
    with tf.Session({other}) as sess:
        print(sess.run(tf.constant(2)))


{body}
"""
GROWS = "config = tf.ConfigProto()\n    config.gpu_options.allow_growth = True"
PART = "config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.3))"
FEW = "config = tf.ConfigProto(inter_op_parallelism_threads=int(sys.argv[1]))"
SOFT = "config = tf.ConfigProto(allow_soft_placement=True)"
LOGS = "config = tf.ConfigProto(log_device_placement=True)"
PLAIN = "another session of the process has no config"
OTHER = "another session of the process has another config"
ORDERED = "if sys.argv:\n    first()\n    second()"
EITHER = "for name in sys.argv[1:]:\n    first() if name == 'first' else second()"
LATE = "second()\nfirst()"
HOLDS = "takes it too, which has"


def two(config: str, body: str, other: str = "") -> tuple[int, list[str]]:
    result = run(TWO.format(config=config, body=body, other=other), bridge=True)
    return result.sites["applied"], said(result)


@pytest.mark.parametrize("config", [GROWS, PART, FEW, SOFT])
def test_what_the_first_session_says_holds_for_those_behind_it(config: str) -> None:
    moved, messages = two(config, ORDERED)
    assert moved == 1 and not any("holds for the process" in one for one in messages), messages


@pytest.mark.parametrize("config", [GROWS, SOFT])
def test_options_that_any_session_may_have(config: str) -> None:
    moved, messages = two(config, EITHER)
    assert moved == 1 and any(f"{HOLDS} no config" in one for one in messages), messages


@pytest.mark.parametrize("config", [PART, FEW, LOGS])
def test_options_that_a_session_alone_before_it_would_get(config: str) -> None:
    moved, messages = two(config, EITHER)
    assert moved == 0 and any(PLAIN in one for one in messages), messages


@pytest.mark.parametrize("config", [GROWS, FEW, SOFT, LOGS])
def test_a_session_that_is_over_before_the_options_are_set(config: str) -> None:
    moved, messages = two(config, LATE)
    assert moved == 1 and not any("holds for the process" in one for one in messages), messages


@pytest.mark.parametrize(
    "body",
    [
        "if len(sys.argv) > 1:\n    first()\nsecond()",
        "try:\n    first()\nexcept ValueError:\n    pass\nsecond()",
        "for _ in sys.argv[1:]:\n    first()\nsecond()",
        "len(sys.argv) > 1 and first()\nsecond()",
        "def both():\n    if sys.argv[1:]:\n        return\n    first()\n\n\nboth()\nsecond()",
        "def each():\n    yield first()\n\n\neach()\nsecond()",
        "later = lambda: first()\nsecond()",
    ],
)
def test_a_session_that_may_not_have_been_opened_before(body: str) -> None:
    moved, messages = two(PART, body)
    assert moved == 0 and any(PLAIN in one for one in messages), messages


@pytest.mark.parametrize(
    ("config", "other"),
    [
        # TF2 takes a memory limit or growth, not both.
        (GROWS, "config=tf.ConfigProto(gpu_options=tf.GPUOptions("
         "per_process_gpu_memory_fraction=0.3))"),
        (FEW, "config=tf.ConfigProto(inter_op_parallelism_threads=2)"),
        (SOFT, "config=tf.ConfigProto(allow_soft_placement=False)"),
    ],
)  # fmt: skip
def test_two_configs_that_do_not_go_together(config: str, other: str) -> None:
    _, messages = two(config, ORDERED, other)
    assert any(OTHER in one for one in messages), messages


def test_two_configs_that_do() -> None:
    moved, messages = two(GROWS, EITHER, "config=tf.ConfigProto(allow_soft_placement=True)")
    assert moved == 2 and any(f"{HOLDS} another config" in one for one in messages), messages


def test_soft_placement_where_operations_name_devices() -> None:
    """A session without it ends where it would go on with it."""
    text = TWO.replace("print(sess.run(tf.constant(2)))", "print(sess.run(tf.constant(2)))\n"
                       "\n\nwith tf.device('/gpu:0'):\n    tf.constant(3)")  # fmt: skip
    result = run(text.format(config=SOFT, body=EITHER, other=""), bridge=True)
    assert result.sites["kept"] == 1 and any(PLAIN in one for one in said(result)), said(result)


SWITCHED = """\
import sys
import tensorflow as tf


def first():
    with tf.Session(config=tf.ConfigProto(device_count={{'GPU': 0}})) as sess:
        print(sess.run(tf.constant(1)))


def second({parameter}):
    {switch}
    if {test}:
        config = tf.ConfigProto(device_count={{'GPU': 0}})
    else:
        config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
    with tf.Session(config=config) as sess:
        print(sess.run(tf.constant(2)))


for _ in sys.argv[1:]:
    first()
second({given})
"""


@pytest.mark.parametrize(("switch", "test"), [("on = True", "on"), ("pass", "True")])
def test_a_branch_that_a_literal_chooses(switch: str, test: str) -> None:
    """What the other branch sets is nobody's."""
    text = SWITCHED.format(parameter="", switch=switch, test=test, given="")
    assert run(text, bridge=True).sites["applied"] == 2


@pytest.mark.parametrize(
    ("parameter", "switch", "test"),
    [
        ("", "on = False", "on"),  # the other one, which grows
        ("on", "pass", "on"),
        ("", "on = True\n    on = len(sys.argv) > 1", "on"),
        ("", "on = sys.argv[1:]", "on"),
    ],
)
def test_a_branch_that_something_else_may_choose(parameter: str, switch: str, test: str) -> None:
    given = "sys.argv[1:]" if parameter else ""
    text = SWITCHED.format(parameter=parameter, switch=switch, test=test, given=given)
    result = run(text, bridge=True)
    assert result.sites["applied"] == 0 and any(OTHER in one for one in said(result))


CHOSEN = """\
import os

if os.environ.get('ENGINE') == 'tensorflow':
    from core import start
    from network import Network
    start()
"""
NETWORK = "import tensorflow as tf\n\n\nclass Network(tf.keras.Model):\n    pass\n"
CORE = """\
import tensorflow as tf
import others

tf.compat.v1.disable_eager_execution()


def start():
    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    others.take(config)
    with tf.compat.v1.Session(config=config) as sess:
        print(sess.run(tf.compat.v1.placeholder_with_default(1.0, [])))
"""


def test_keras_and_a_session_that_only_an_engine_imports() -> None:
    """Nothing that surely runs is Keras's: the config stays, and nothing is refused for it."""
    files = ("network.py", NETWORK), ("core.py", CORE)
    result = run(("main.py", CHOSEN), *files, bridge=True)
    assert [one.state for one in result.programs] == ["bridge, config kept"]
    # Where Keras surely trains, v1 behaviour would change it.
    at_once = CHOSEN.replace("import os\n", "import os\nfrom network import Network\n")
    result = run(("main.py", at_once + "Network().fit([1.0])\n"), *files, bridge=True)
    assert [one.state for one in result.programs] == ["refused"]
