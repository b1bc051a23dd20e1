"""The committed table of names that TF 1.15 has for one thing: its shape, and who relies on it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import migrate_mgpu
from migrate_mgpu import api
from migrate_mgpu.analysis.symbols import aliases, table
from migrate_mgpu.api import functions, graph
from tests.support.migration import migrated

PROGRAM = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.random.truncated_normal([2, 3], stddev=0.1))
out = tf.linalg.matmul(x, w)
loss = tf.math.reduce_mean(tf.math.square(out), keep_dims=False)
share = tf.dtypes.cast(tf.math.greater(out, 0.0), tf.float32)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.initializers.global_variables())
    print(sess.run([train, loss, share], {x: [[1.0, 2.0]]}))
"""


def test_each_name_has_one_usual_one() -> None:
    known = aliases()
    assert len(known) > 300 and list(known) == sorted(known)
    assert known.keys().isdisjoint(known.values())
    for name in {*known, *known.values()}:
        assert table().status(name) != "unknown", name


def test_each_table_has_the_usual_name_of_what_it_has() -> None:
    known = aliases()
    for found in pkgutil.iter_modules(api.__path__):
        for value in vars(importlib.import_module(f"{api.__name__}.{found.name}")).values():
            rows = getattr(value, "by_name", value)
            if rows is functions.EQUAL:
                continue  # of names as they are written
            if isinstance(rows, (dict, frozenset, set, tuple)):
                names = {one for one in rows if isinstance(one, str)}
                lost = {one for one in names & known.keys() if known[one] not in names}
                assert not lost, (found.name, lost)


def test_what_only_computes_is_told_once() -> None:
    for names in (graph.COMPUTES, graph.DRAWS, graph.DRAWS_IMAGES, graph.SAMPLES, graph.DEFINED):
        assert not {*names} & aliases().keys()


def test_no_comparison_with_a_name_that_is_never_given() -> None:
    """`name_of(...) == "math.add"` would never hold."""
    for file in Path(migrate_mgpu.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Compare) or "name_of(" not in ast.unparse(node.left):
                continue
            one = node.comparators[0]
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                assert one.value not in aliases(), (file, node.lineno)


def test_a_program_keeps_the_names_that_tf2_has() -> None:
    after, _ = migrated(PROGRAM, native_sessions=True)
    assert "Session" not in after and "compat.v1" not in after
    for kept in (
        "tf.random.truncated_normal([2, 3], stddev=0.1)",
        "tf.linalg.matmul(x, w)",
        "tf.math.reduce_mean(tf.math.square(out), keepdims=False)",
        "tf.dtypes.cast(tf.math.greater(out, 0.0), tf.float32)",
    ):
        assert kept in after


def test_what_tf2_lost_gets_its_name_there() -> None:
    text = PROGRAM.replace("tf.math.square(out)", "tf.manip.tile(tf.math.square(out), [1, 1])")
    after, _ = migrated(text, native_sessions=True)
    assert "tf.tile(tf.math.square(out), [1, 1])" in after
