"""Whether a module in TF2's form serves a graph of TF1's."""

from __future__ import annotations

import textwrap

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.taken_names import Taken
from migrate_mgpu.run.shared_modules import NewText


def taken(before: str, after: str, bridged: bool, user: str) -> str:
    """The name that a program takes of a module and that changes; empty where none does."""
    head = "import tensorflow as tf\n\n\n"
    own = head + textwrap.dedent(before)
    main = f"{head}{user}\n\nif __name__ == '__main__':\n    tf.Session()\n"
    files = [("parts.py", own.encode()), ("main.py", main.encode())]
    project = Project(files)
    (program,) = (one for one in project.programs() if one.entry.path.name == "main.py")
    (module,) = (one for one in program.modules if one is not program.entry)
    new = head + textwrap.dedent(after)
    found = NewText(module, new).changed_for(Taken(program, project), bridged)
    return found[0] if found is not None else ""


def asked(before: str, after: str, bridged: bool = True) -> str:
    """What changes for a program that calls `part`, whose value is an expression."""
    function = "def part(x, y):\n    return {}\n"
    user = "import parts\n\n\ndef build():\n    return parts.part(1, 2)\n\n\nbuild()"
    return taken(function.format(before), function.format(after), bridged, user)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.gfile.Open(x)", "tf.io.gfile.GFile(x)"),
        ("tf.to_int32(x)", "tf.cast(x, tf.int32)"),
        ("tf.logging.info('%d', x)", "tf.get_logger().info('%d', x)"),
        ("x.apply(tf.contrib.data.map_and_batch(y, 3))", "x.map(y).batch(3)"),
    ],
)
def test_names_of_tensorflow_serve_both(before: str, after: str) -> None:
    assert asked(before, after, bridged=True) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.layers.dense(x, 3)", "tf.keras.layers.Dense(3)(x)"),
        ("tf.truncated_normal_initializer()", "tf.keras.initializers.TruncatedNormal()"),
        ("tf.data.Dataset.range(3).make_one_shot_iterator()", "tf.data.Dataset.range(3)"),
        ("tf.layers.dense(x, 3)", "dense(x)"),
        ("tf.set_random_seed(x)", "tf.random.set_seed(x)"),
        ("x + y", "y + x"),
        ("x.shape[0].value", "x.shape[0]"),
    ],
)
def test_anything_else_does_not(before: str, after: str) -> None:
    assert asked(before, after) == "part"


def test_what_stays_with_tf1_needs_names_that_it_has() -> None:
    pair = "tf.nn.dropout(x, 0.9)", "tf.nn.dropout(x, rate=0.1)"
    assert asked(*pair, bridged=True) == ""
    assert asked(*pair, bridged=False) == "part"


PARTS = """\
def used(x):
    return inner(x)

def inner(x):
    return {}

def other(x):
    return {}
"""


@pytest.mark.parametrize(
    ("user", "inner", "other", "changed"),
    [
        ("from parts import used\nused(1)", "x", "x + 1", ""),
        ("from parts import used\nused(1)", "x + 1", "x", "inner"),
        ("import parts as p\np.other(1)", "x + 1", "x", ""),
        ("from parts import *\nused(1)", "x", "x + 1", "other"),
        ("import parts\nprint(vars(parts))", "x", "x + 1", "other"),
        ("import parts", "x + 1", "x + 1", ""),
    ],
)
def test_what_a_program_comes_to(user: str, inner: str, other: str, changed: str) -> None:
    assert taken(PARTS.format("x", "x"), PARTS.format(inner, other), True, user) == changed


def test_a_name_that_is_gone() -> None:
    assert taken("SIZE = 3\n", "OTHER = 3\n", True, "import parts\nprint(parts.SIZE)") == "SIZE"
    assert taken("flags = tf.flags\n", "from absl import flags\n", True,
                 "import parts\nprint(parts.flags)") == ""  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.set_random_seed(1)", "tf.random.set_seed(1)"),
        ("tf.disable_v2_behavior()", ""),
        ("print('made')", "print('ready')"),
        ("if SIZE > 3:\n    tf.set_random_seed(1)", "if SIZE > 3:\n    tf.random.set_seed(1)"),
    ],
)
def test_what_runs_with_the_import_stays(before: str, after: str) -> None:
    own = "SIZE = 4\n{}\n\n\ndef part(x):\n    return x * SIZE\n"
    user = "from parts import part\n\npart(1)"
    assert taken(own.format(before), own.format(after), True, user) == before.splitlines()[0]
    assert taken(own.format(before), own.format(before), True, user) == ""


def test_logging_may_be_set_by_another_name() -> None:
    own = "{}\n\n\ndef part(x):\n    return x\n"
    before, after = "tf.logging.set_verbosity('INFO')", "tf.get_logger().setLevel('INFO')"
    user = "from parts import part\n\npart(1)"
    assert taken(own.format(before), own.format(after), True, user) == ""


def test_a_bridge_has_its_own_tensorflow() -> None:
    """`tensorflow.compat.v1` of a shared module is not TensorFlow 2 for who builds graphs by it."""
    own = "import tensorflow{} as tf1\n\n\ndef part(x):\n    return tf1.argmax(x)\n"
    user = "from parts import part\n\npart(1)"
    before = own.format(".compat.v1")
    assert taken(before, own.format(""), True, user) == "import tensorflow.compat.v1 as tf1"
    assert taken(before, own.format(""), False, user) == ""
