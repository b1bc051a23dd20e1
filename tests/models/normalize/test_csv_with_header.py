"""Files of numbers that `load_csv_with_header` reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, stays

PROGRAM = (
    Path(__file__).parents[3] / "fixtures" / "estimator" / "csv_with_header" / "before.py"
).read_text()
FROM = "tf.contrib.learn.datasets.base.load_csv_with_header("


def test_the_function_stands_above_the_programs_own() -> None:
    text, messages = migrated(PROGRAM)
    assert "def load_csv_with_header(filename, target_dtype" in text, messages
    assert text.index("def load_csv_with_header(") < text.index("def write_leaves(")
    assert "import collections\nimport csv\nimport os\n" in text


def test_another_name_where_the_program_has_it() -> None:
    own = "def write_leaves(", "def load_csv_with_header():\n    pass\n\n\ndef write_leaves("
    text, _ = migrated(changed(PROGRAM, own))
    assert "= load_csv(\n" in text and "def load_csv(filename" in text


@pytest.mark.parametrize(
    "pairs",
    [
        ((FROM, "read_it("), ("read = {}", f"read = {{}}\n    read_it = {FROM[:-1]}")),
        (("import os\n", "import os\n\nDataset = dict\n"),),
        (("import os\n", "import os\n\ncsv = 'leaves.csv'\n"),),
    ],
)
def test_calls_that_stay(pairs: tuple[tuple[str, str], ...]) -> None:
    stays(changed(PROGRAM, *pairs), "`tf.contrib.learn.datasets.base.load_csv_with_header`")
