"""docs/migrating.md: its commands, run on a repository of the shape that it speaks of."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from migrate_mgpu import cli
from migrate_mgpu.parity import command

PAGE = (Path(__file__).parent.parent / "docs" / "migrating.md").read_text(encoding="utf-8")
TRAIN = """\
import tensorflow as tf
import model

sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
print(sess.run(model.net()))
"""
MODEL = "import tensorflow as tf\n\n\ndef net():\n    return tf.layers.dense(tf.ones([1, 2]), 3)\n"


def commands() -> list[list[str]]:
    """The page's commands of this tool, without what the shell does around them."""
    lines = re.findall(r"^    migrate-mgpu (.*)$", PAGE, re.MULTILINE)
    return [shlex.split(re.split(r" \| |#", line)[0]) for line in lines]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(TRAIN)
    (tmp_path / "src" / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_steps_do_what_it_says(repository: Path) -> None:
    ways = [words for words in commands() if words[0] != "parity"]
    assert ways == [["--check", "."], ["--diff", "src/"], ["."], ["."]]
    answers = []
    for words in ways:
        out, err = io.StringIO(), io.StringIO()
        answers.append((cli.main(words, out, err), out.getvalue() + err.getvalue()))
        if words != ["."]:
            assert (repository / "src" / "train.py").read_text() == TRAIN  # nothing is written
    assert "Programs: 1 bridge" in answers[0][1]
    assert "+++ src/train.py" in answers[1][1] and "+++ src/model.py" in answers[1][1]
    assert answers[2][0] == 1 and "2 of 2 files changed" in answers[2][1]
    assert answers[3][0] == 0 and "0 of 2 files changed" in answers[3][1]


def test_its_comparisons_are_commands() -> None:
    found = [words[1:] for words in commands() if words[0] == "parity"]
    assert len(found) == 2
    for words in found:
        before = words[: words.index("--")]
        assert command.parser().parse_args(before).programs
    for option in re.findall(r"`(--[a-z-]+)", PAGE):
        assert option in command.parser().format_help() or option == "--all"
