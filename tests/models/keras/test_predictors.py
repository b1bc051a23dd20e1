"""`tf.contrib.predictor.from_saved_model` in a program whose Estimator becomes a Keras model.

The program is the fixture ``predictor``, which is proved.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.support import migration
from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "predictor" / "before.py"
TEXT = FIXTURE.read_text(encoding="utf-8")
LOCAL = "    predict = tf.contrib.predictor.from_saved_model(export_dir=folder)\n"
ASKED = '    return predict({"values": rows, "factor": 2.0})\n'
STAYS = "`tf.contrib.predictor.from_saved_model` is TF1 API, used outside of the Estimator"


changed = partial(migration.changed, TEXT)


def test_each_is_a_function_with_a_signature_of_its_own() -> None:
    after, said = migrated(TEXT)
    assert "    predict_model = tf.saved_model.load(folder)\n" in after, said
    assert '    predict_signature = predict_model.signatures["serving_default"]\n\n    def' in after
    assert '\npredictor_fn_signature = predictor_fn_model.signatures["classes"]\n\n\ndef' in after
    assert "contrib" not in after


def test_the_folder_is_written_for_tf2_where_it_stands() -> None:
    folder = "os.path.join(folder, tf.gfile.ListDirectory(folder)[0])"
    after, said = migrated(changed(("export_dir=folder", f"export_dir={folder}"), *IMPORTED))
    assert "tf.saved_model.load(os.path.join(folder, tf.io.gfile.listdir(folder)[0]))" in after, (
        said
    )


IMPORTED = [("import numpy as np\n", "import os\n\nimport numpy as np\n")]


@pytest.mark.parametrize(
    "pairs",
    [
        # More is asked of it than predictions.
        [(ASKED, ASKED.replace("    return", "    print(predict.session)\n    return"))],
        [(ASKED, "    return [predict, rows]\n")],
        [(ASKED, '    return predict(input_dict={"values": rows, "factor": 2.0})\n')],
        # It is told more, or made in the middle of a statement.
        [("export_dir=folder", "export_dir=folder, graph=tf.Graph()")],
        [
            (LOCAL, ""),
            ("return predict(", "return tf.contrib.predictor.from_saved_model(folder)("),
        ],
        [(LOCAL, LOCAL + LOCAL)],
    ],
)
def test_a_program_stays(pairs: list[tuple[str, str]]) -> None:
    stays(changed(*pairs), STAYS)
