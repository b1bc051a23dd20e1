"""Estimators in functions that nothing calls: `fixtures/estimator/uncalled_estimator` runs one."""

from __future__ import annotations

import json

from migrate_mgpu.core.findings import RunResult
from tests.models.normalize.restated import END, HEAD
from tests.support.migration import run

MODEL = f"""{HEAD}
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
{END.format(rate=0.1)}
"""
UNCALLED = """

def other():
    return tf.estimator.Estimator(gone_model_fn)
"""
DRIVEN = """
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=9)
"""
GUARDED = """

if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=9)
"""


def test_a_script_calls_its_functions_itself() -> None:
    result = run(MODEL + UNCALLED + GUARDED)
    assert states(result) == ["native"]
    told = [one.message for one in result.findings if one.code == "MGPU908"]
    assert any("nothing here calls this code" in message for message in told), told
    assert states(run(MODEL + UNCALLED + GUARDED + "    other()\n", bridge=True)) == ["bridge"]
    # Who imports it may call it.
    assert states(run(MODEL + UNCALLED + DRIVEN, bridge=True)) == ["bridge"]


def test_main_is_called_where_something_runs_the_app() -> None:
    idle = UNCALLED.replace("def other", "def main")
    assert states(run(MODEL + idle + GUARDED)) == ["native"]
    assert states(run(MODEL + idle + GUARDED + "    tf.app.run()\n", bridge=True)) == ["bridge"]
    runner = "import tensorflow as tf\n\n\ndef start():\n    tf.app.run()\n"
    text = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\nimport runner\n", 1)
    started = ("train.py", text + idle + GUARDED + "    runner.start()\n")
    assert "bridge" in states(run(started, ("runner.py", runner), bridge=True))


def test_a_notebook_is_imported_by_nobody() -> None:
    assert states(run(notebook(MODEL + UNCALLED, DRIVEN))) == ["native"]
    for line in ("%time other()", "other()"):
        result = run(notebook(MODEL + UNCALLED, DRIVEN, line), bridge=True)
        assert states(result) == ["bridge"], line


def states(result: RunResult) -> list[str]:
    return [program.state for program in result.programs]


def notebook(*cells: str) -> tuple[str, str]:
    written = [
        {
            "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "source": text.splitlines(keepends=True),
        }
        for text in cells
    ]  # fmt: skip
    kernel = {"kernelspec": {"language": "python", "name": "python3"}}
    document = {"cells": written, "metadata": kernel, "nbformat": 4, "nbformat_minor": 2}
    return "program.ipynb", json.dumps(document)
