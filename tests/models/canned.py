"""Small programs with canned Estimators, and what the tool makes of them."""

from __future__ import annotations

from migrate_mgpu.run.migrate import migrate

HEAD = """\
import tensorflow as tf

fc = tf.feature_column


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"b": [1.0], "a": [2]}, [1]))
    return data.repeat().batch(1)


"""


def migrated(body: str) -> tuple[str, list[str]]:
    """The program that the tool makes of a body, and what it says."""
    before = HEAD + body
    result = migrate([("train.py", before.encode())], bridge=True, write=False)
    (file,) = result.files
    assert file.error is None, file.error
    return file.after or before, [finding.message for finding in file.findings]


def stays(body: str) -> str:
    """What is said of a program whose Estimator stays."""
    after, said = migrated(body)
    assert "tf.keras.Model)" not in after and ".fit(" not in after
    return "\n".join(said)


def dense(columns: str, more: str = "") -> str:
    """A dense classifier of columns, trained."""
    return f"est = tf.estimator.DNNClassifier([4], {columns}{more})\nest.train(input_fn, steps=2)\n"
