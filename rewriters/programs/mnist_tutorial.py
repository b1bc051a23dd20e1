"""MNIST of TensorFlow 1's tutorials: from a module beside the program.

## What it does
``from tensorflow.examples.tutorials.mnist import input_data`` becomes ``import input_data``, and
``input_data.py`` is written beside the program, once for a folder. So does
``from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets``, which is the
same function.

## Why
TF2 ships no ``tensorflow.examples``, and no reader of MNIST that gives batches.

## Safety
The module reads the same files from the same folder (and loads those that are missing from where
TF1 did), gives the same arrays and, from the same seed, the same batches. Where nothing says if
a script is run by itself or as a module of its package, both imports are tried.

## References
``tf.keras.datasets.mnist`` has the arrays alone.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.dotted_names import imported_as
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import text
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.program_rewriter import NamesRewriter, NewNames, free_name
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

RULE = Rule(
    code="MGPU211",
    name="mnist-tutorial",
    summary="MNIST of `tensorflow.examples` comes from a module beside the program",
)

CASES = (
    Case(
        "batches",
        """\
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("data", one_hot=True)
x = tf.placeholder(tf.float32, [None, 784])
w = tf.Variable(tf.zeros([784, 10]))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        images, labels = mnist.train.next_batch(64)
        print(sess.run(tf.matmul(x, w), {x: images}))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import input_data

mnist = input_data.read_data_sets("data", one_hot=True)
x = tf.placeholder(tf.float32, [None, 784])
w = tf.Variable(tf.zeros([784, 10]))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        images, labels = mnist.train.next_batch(64)
        print(sess.run(tf.matmul(x, w), {x: images}))
""",
    ),
    Case(
        "by its home",
        """\
import tensorflow as tf
from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets

mnist = read_data_sets("data", one_hot=True)
with tf.Session() as sess:
    print(sess.run(tf.reduce_mean(mnist.train.images)))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from input_data import read_data_sets

mnist = read_data_sets("data", one_hot=True)
with tf.Session() as sess:
    print(sess.run(tf.reduce_mean(mnist.train.images)))
""",
    ),
    Case(
        "a file of another tutorial",
        """\
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import mnist

with tf.Session() as sess:
    print(sess.run(mnist.inference(tf.ones([1, 784]), 8, 8)))
""",
        refused="`tensorflow.examples.tutorials.mnist.mnist.inference` does not exist in TF2",
    ),
)

_OLD = "examples.tutorials.mnist.input_data"  # which has it from
MNIST = "contrib.learn.python.learn.datasets.mnist"
_HOMES = (_OLD, MNIST, "contrib.learn.datasets.mnist")
_NAMES = ("input_data", "mnist_input_data")  # the second where there is another file of the first


def plan(module: Module, importers: Sequence[Module]) -> NewNames:
    """The module's import of the tutorial, and the file that it needs."""
    found = NewNames(eager=True)
    # An import in a function counts as any other: its name is gone when the function is called.
    uses = [
        u for u in module.uses if u.symbol.name.startswith(_HOMES) and not module.is_guarded(u.node)
    ]
    if not uses:
        return found
    known_as = imported_as(module, importers)
    if known_as is None and module.path.name == "__init__.py":
        return found  # its folder is its package's, which may have any place on the path
    # By several names, with a package and without: both ways are tried.
    packages = [".", ""] if known_as is None else [known_as.rpartition(".")[0]]
    for use in uses:
        if isinstance(use.node, (ast.Import, ast.ImportFrom)):
            continue
        call = module.names.parents.get(use.node)
        known = [f"{home}.read_data_sets" for home in _HOMES]
        if use.symbol.name not in known or not _reads(call, use.node):
            return found
    needed = text("input_data.py")
    name = free_name(module.path.parent, needed, *_NAMES)
    for use in uses:
        if not isinstance(use.node, (ast.Import, ast.ImportFrom)):
            continue
        new = [_imported(module, use.node, name, package) for package in packages]
        edit = _edit(module, use.node, [line for line in new if line is not None])
        if edit is None:
            return NewNames()
        found.edits.append(edit)
    found.nodes.update(use.node for use in uses)
    found.files[module.path.with_name(f"{name}.py")] = needed
    return found


def _reads(call: ast.AST | None, function: ast.AST) -> bool:
    """Whether a call's arguments are understood."""
    if not isinstance(call, ast.Call) or call.func is not function:
        return False
    plain = not any(isinstance(one, ast.Starred) for one in call.args)
    return plain and all(keyword.arg is not None for keyword in call.keywords)


def _edit(module: Module, statement: ast.stmt, forms: Sequence[str]) -> Edit | None:
    """An import becomes one of its forms, whichever works; None where it has no form."""
    if len(forms) == 1:
        return Edit(*module.source.span(statement), forms[0])
    layout = Layout(module.source, statement)
    if not forms or not layout.owns_lines:
        return None
    unit, comment = module.source.indent_unit, layout.trailing_comment
    first = f"{forms[0]}  {comment}" if comment else forms[0]
    handler = "except ImportError:  # without its package"
    return layout.replace(["try:", unit + first, handler, unit + forms[1]])


def _imported(module: Module, statement: ast.stmt, name: str, package: str) -> str | None:
    """The import of the file, in its package, by the author's name of the tutorial."""
    if isinstance(statement, ast.ImportFrom) and len(statement.names) == 1:
        (alias,) = statement.names
        if f"{module.names.absolute(statement)}.{alias.name}" in (
            f"tensorflow.{h}" for h in _HOMES
        ):
            return _as(name, alias.asname or alias.name, package)
        if alias.name == "read_data_sets":
            name = f"{package.rstrip('.')}.{name}" if package else name
            return f"from {name} import read_data_sets" + (
                f" as {alias.asname}" if alias.asname else ""
            )
    if isinstance(statement, ast.Import) and len(statement.names) == 1:
        (alias,) = statement.names
        if alias.asname:
            return _as(name, alias.asname, package)
    return None


def _as(name: str, local: str, package: str) -> str:
    from_package = f"from {package} " if package else ""
    return f"{from_package}import {name}" + ("" if local == name else f" as {local}")


REWRITER = NamesRewriter(RULE, CASES, plan)
