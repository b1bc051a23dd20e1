"""Networks that tag the words of sequences: `fixtures/estimator/tagged_words`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, stays

FOLDER = Path(__file__).parents[3] / "fixtures" / "estimator" / "tagged_words" / "before"
MAIN, TAG = ((FOLDER / name).read_text("utf-8") for name in ("main.py", "tag.py"))
EXPORT = """\
import tensorflow as tf

from main import FOLDER, model_fn, write_files


def receive():
    words = tf.placeholder(tf.string, [None, None])
    lengths = tf.placeholder(tf.int32, [None])
    inputs = {"words": words, "lengths": lengths}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn, FOLDER + "/model", params=write_files())
    estimator.export_saved_model(FOLDER, receive)
"""
SCORED = (
    ("import tensorflow as tf\n",
     "import tensorflow as tf\nfrom tf_metrics import f1, precision\n"),
    ("parts, best, inside)}", "parts, best, inside),\n"
     "               'f1': f1(parts, best, count, marked, inside),\n"
     "               'all': precision(parts, best, count, average='macro')}"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # A cell that is given a state, or that clips it.
        ("sequence_length=lengths)\n    back", "sequence_length=lengths, initial_state=(a, b))\n"
         "    back", "LSTMBlockFusedCell"),
        ("BlockFusedCell(params[\"size\"])\n    backward = tf.contrib.rnn.LSTM",
         "BlockFusedCell(params[\"size\"], cell_clip=1.0)\n    backward = tf.contrib.rnn.LSTM",
         "LSTMBlockFusedCell"),
        # An array that is made of the batch's.
        ("dtype=tf.float32, trainable=False", "trainable=False", "begins with cannot"),
        # A file that is written.
        ('open(params["parts"]) as', 'open(params["parts"], "w") as', "tensor `count`"),
        # Hooks that look at other evaluations, or at other times.
        ("min_steps=1000", "min_steps=1000, run_every_steps=4", "`run_every_steps`"),
        ("min_steps=1000", "min_steps=1000, eval_dir='/tmp'", "`eval_dir`"),
        ("min_steps=1000", "min_steps=1000, run_every_secs=None", "how often"),
        ('"accuracy", 500', '"recall", 500', "which evaluation an early stopping"),
    ],
)  # fmt: skip
def test_what_stays(old: str, new: str, reason: str) -> None:
    stays(("main.py", changed(MAIN, (old, new))), reason)


def test_a_table_whose_file_no_other_mode_reads() -> None:
    text = changed(MAIN, ('file(params["parts"])\n        pred', 'file("names.txt")\n        pred'))
    assert "this table is made with the model now" in " ".join(migrated(("main.py", text))[1])
    assert "this table is made" not in " ".join(migrated(("main.py", MAIN))[1])


def test_an_export_of_what_another_program_has_trained() -> None:
    files = ("main.py", MAIN), ("export.py", EXPORT)
    found, _ = migrated(*files)
    assert "    receive(estimator).get_concrete_function()\n" in found
    assert 'raise ValueError("there is no trained model to export")\n' in found
    assert {one.state for one in run(*files).programs} == {"native"}


@pytest.mark.parametrize(
    "new",
    [
        ("FOLDER, receive)", "FOLDER, lambda: receive())"),
        ('model_fn, FOLDER + "/model", params', "model_fn, params"),
        ("    estimator.export", "    def export():\n        estimator.export"),
    ],
)
def test_an_export_that_stays(new: tuple[str, str]) -> None:
    text = changed(EXPORT, new)
    result = run(("main.py", MAIN), ("export.py", text), bridge=True)
    assert {one.state for one in result.programs} == {"bridge"}


def test_metrics_of_a_package() -> None:
    found, said = migrated(("main.py", changed(MAIN, *SCORED)))
    assert "class ClassScore(tf.keras.metrics.Metric):" in found, said
    assert 'ClassScore(num_classes=self.count, pos_indices=self.marked, score="f", name="f1")' in (
        found
    )
    assert "tf_metrics" not in found


def test_a_function_that_has_metrics_of_a_package_alone() -> None:
    """Nothing in it has a name of TensorFlow's: what the spec takes says what it is for."""
    scored = "{'f1': tf_metrics.f1(parts, best, count, marked)}"
    function = f"def measure(parts, best, count, marked):\n    return {scored}\n\n\ndef model_fn("
    text = changed(
        MAIN,
        ("import tensorflow as tf\n", "import tensorflow as tf\nimport tf_metrics\n"),
        ("def model_fn(", function),
        ('    metrics = {"accuracy": tf.metrics.accuracy(parts, best, inside)}\n', ""),
        ('"accuracy", 500', '"f1", 500'),
        ("eval_metric_ops=metrics", "eval_metric_ops=measure(parts, best, count, marked)"),
    )
    found, said = migrated(("main.py", text))
    assert "class ClassScore(tf.keras.metrics.Metric):" in found, said
    assert "tf_metrics" not in found and "def measure" not in found
    # A function that may return either of two, stays.
    stays(
        (
            "main.py",
            changed(
                text, ("    return {'f1'", "    if count:\n        return {}\n    return {'f1'")
            ),
        ),
        "eval_metric_ops is not a dictionary literal",
    )


def test_metrics_of_a_module_of_that_name() -> None:
    own = "import tensorflow as tf\n\n\ndef f1(*given):\n    return tf.metrics.mean(given[0])\n"
    own += "\n\nprecision = f1\n"
    text = changed(MAIN, *SCORED)
    stays(("main.py", text), "is not one of tf.metrics", ("tf_metrics.py", own))


def test_a_batch_of_what_python_computes() -> None:
    found, _ = migrated(("main.py", MAIN), ("tag.py", TAG))
    assert "    return tf.data.Dataset.from_tensors(((words, lengths), None)).repeat()\n" in found
    text = changed(TAG, ("tf.constant([words], dtype=tf.string)", "tf.random_shuffle([words])"))
    result = run(("main.py", MAIN), ("tag.py", text), bridge=True)
    assert {one.state for one in result.programs} == {"bridge"}
