"""Imports of what TF2 lost and nothing uses: they keep no Estimator from becoming a Keras model."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, HEAD, TAIL
from tests.support import migration
from tests.support.migration import migrated

IMPORT = "from tensorflow.contrib import summary\n"
PROGRAM = (
    HEAD.replace("import tensorflow as tf\n", "import tensorflow as tf\n{}")
    + f"""\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
{END.format(rate=0.1).replace("{", "{{").replace("}", "}}")}

estimator = tf.estimator.Estimator(model_fn)
"""
    + TAIL
)


@pytest.mark.parametrize(
    "line", [IMPORT, "import tensorflow.contrib.slim as slim\n", IMPORT.replace("\n", "  # why\n")]
)
def test_it_goes(line: str) -> None:
    after, said = migrated(PROGRAM.format(line))
    assert "contrib" not in after, said
    assert "tf.keras.layers.Dense(3)" in after


@pytest.mark.parametrize(
    "line",
    [
        IMPORT + "__all__ = ['summary']\n",
        IMPORT + "print(summary)\n",
        "from tensorflow.contrib.framework import *\n",
    ],
)
def test_it_stays(line: str) -> None:
    after, _ = migrated(PROGRAM.format(line))
    assert "tf.keras.layers.Dense(3)" not in after


def test_what_another_module_takes_stays() -> None:
    other = ("other.py", "from program import summary\n")
    after, _ = migrated(PROGRAM.format("import other\n" + IMPORT), other)
    assert "tf.keras.layers.Dense(3)" not in after
    after, said = migrated(PROGRAM.format("import other\n" + IMPORT), ("other.py", "x = 1\n"))
    assert "tf.keras.layers.Dense(3)" in after, said


def test_an_init_file_hands_on_no_name_that_keras_has_no_more() -> None:
    """It stayed, and the program, which is native, failed where it is imported."""
    text = (
        "import os\nimport tensorflow as tf\nimport keras.backend.tensorflow_backend as KTF\n\n"
        "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
        "KTF.set_session(tf.Session(config=config))\n"
    )
    train = "import app\nfrom keras.models import load_model\nload_model('a').fit([1], [2])\n"
    result = migration.run(("app/__init__.py", text), ("train.py", train))
    assert [one.state for one in result.programs] == ["native"], migration.said(result)
    assert result.programs[0].runs_on == "TF 2.15 and newest", "nothing is told of what is gone"
    (after,) = [file.after for file in result.files if file.path.name == "__init__.py"]
    assert after is not None and "KTF" not in after and "import os\n" in after
