"""tf.contrib.data and tf.contrib.training.HParams in TF2's words."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.hparams import hparams_edits
from migrate_mgpu.api.pipelines import pipeline_edits
from migrate_mgpu.source.source import Edit, Source, splice
from migrate_mgpu.source.style import FileStyle

_READ = "parser = ArgumentParser()\nargs = parser.parse_args()\n"


def rewritten(code: str) -> str:
    text = f"import tensorflow as tf\n{code}\n"
    module = Module(Path("m.py"), Source(Path("m.py"), text), "m")
    found: list[Edit] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            found += pipeline_edits(module, node, FileStyle()) or []
    new = splice(text, found)
    ast.parse(new)
    return new.partition("\n")[2].rstrip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "d = d.apply(tf.contrib.data.shuffle_and_repeat(8, 2, seed=1))",
            "d = d.shuffle(8, seed=1).repeat(2)",
        ),
        (
            "d = tf.contrib.data.make_csv_dataset('a.csv', 8)",
            "d = tf.data.experimental.make_csv_dataset('a.csv', 8)",
        ),
        ("d = d.apply(tf.contrib.data.shuffle_and_repeat(8))", "d = d.shuffle(8).repeat()"),
        (
            "d = d.apply(tf.contrib.data.map_and_batch(lambda x: x + 1, 8, drop_remainder=True))",
            "d = d.map(lambda x: x + 1, num_parallel_calls=8).batch(8, drop_remainder=True)",
        ),
        (
            "d = d.apply(tf.contrib.data.map_and_batch(\n    f, n,  # of records\n"
            "    num_parallel_batches=2)).prefetch(1)",
            "# of records\nd = d.map(f, num_parallel_calls=n * 2).batch(n).prefetch(1)",
        ),
        (
            "d = d.apply(tf.contrib.data.batch_and_drop_remainder(8))",
            "d = d.batch(8, drop_remainder=True)",
        ),
        (
            "d = d.apply(tf.contrib.data.parallel_interleave(f, cycle_length=4))",
            "d = d.apply(tf.data.experimental.parallel_interleave(f, cycle_length=4))",
        ),
        ("d = d.prefetch(tf.contrib.data.AUTOTUNE)", "d = d.prefetch(tf.data.AUTOTUNE)"),
        ("d = tf.contrib.data.TFRecordDataset(f)", "d = tf.data.TFRecordDataset(f)"),
        ("d = tf.data.Dataset.range(3)", "d = tf.data.Dataset.range(3)"),
    ],
)
def test_transformations(before: str, after: str) -> None:
    assert rewritten(before) == after


def test_what_is_not_known_is_said() -> None:
    with pytest.raises(Refused, match="LMDBDataset"):
        rewritten("d = tf.contrib.data.LMDBDataset(f)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p = tf.contrib.training.HParams(rate=0.1)", "types.SimpleNamespace"),
        ("p = tf.contrib.training.HParams(rate=0.1)\np.parse('rate=1')", None),
        ("p = tf.contrib.training.HParams(**settings)", None),
        ("types = 3\np = tf.contrib.training.HParams(rate=0.1)", None),
        (f"{_READ}p = tf.contrib.training.HParams(**vars(args))", "types.SimpleNamespace"),
        (f"{_READ}p = tf.contrib.training.HParams(**args.__dict__)", "types.SimpleNamespace"),
        (f"{_READ}args = 3\np = tf.contrib.training.HParams(**args.__dict__)", None),
        ("args = make()\np = tf.contrib.training.HParams(**args.__dict__)", None),
        ("p = tf.contrib.training.other(rate=0.1)", None),
    ],
)
def test_hparams(before: str, after: str | None) -> None:
    text = f"import tensorflow as tf\n{before}\n"
    module = Module(Path("m.py"), Source(Path("m.py"), text), "m")
    found = [hparams_edits(module, call.func) for call in module.names.calls]
    edits = [edit for edits in found for edit in edits or ()]
    assert [edit.new for edit in edits] == ([after] if after else [])
