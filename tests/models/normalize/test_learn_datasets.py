"""Files of numbers that `load_csv_with_header` reads, and files that are downloaded."""

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


LOADED = (
    Path(__file__).parents[3] / "fixtures" / "estimator" / "downloaded_file" / "before.py"
).read_text()


def test_a_file_is_downloaded_by_a_function_of_the_program() -> None:
    text, messages = migrated(LOADED)
    assert "def maybe_download(filename, work_directory, source_url):" in text, messages
    assert "np.load(maybe_download(NAME, folder, url))" in text
    assert "import urllib.request\n" in text
    own = "def put_on_server", "def maybe_download():\n    pass\n\n\ndef put_on_server"
    assert "np.load(download_file(NAME" in migrated(changed(LOADED, own))[0]


@pytest.mark.parametrize(
    "pair",
    [
        ("base.maybe_download(NAME", "load(NAME"),
        ("import tempfile\n", "import tempfile\n\nurllib = None\n"),
    ],
)
def test_downloads_that_stay(pair: tuple[str, str]) -> None:
    text = changed(LOADED, pair)
    if "load(NAME" in text:
        text = text.replace("def read(", "load = base.maybe_download\n\n\ndef read(")
    stays(text, "maybe_download`")
