"""``migrate-mgpu parity --all``: which pairs a folder has, what its settings do, the summary.

Programs do not run here but in ``test_one_live_folder``: the comparison is replaced by one that
remembers what it was asked for.
"""

from __future__ import annotations

import io
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent / "reports"))
import report_samples as samples

from migrate_mgpu import cli
from migrate_mgpu.parity import pair, suite
from tests.support.parity import run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "parity"


def write(folder: Path, **texts: str) -> None:
    """``write(f, before_py="...")``; ``__`` in a name is a folder."""
    for name, text in texts.items():
        stem, _, kind = name.rpartition("_")
        path = folder / f"{stem.replace('__', '/')}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


@pytest.fixture
def asked(monkeypatch, tmp_path) -> dict[str, pair.Pair]:
    """Pairs by their names, as they were asked for; one called "bad" is not equivalent."""
    seen: dict[str, pair.Pair] = {}

    def compare(
        wanted: pair.Pair, migrate: Any = None, record: bool = False, **_: Any
    ) -> dict[str, Any]:
        seen[wanted.name] = wanted
        make = samples.wrong_rate if wanted.name == "bad" else samples.equal
        judged = [make(tmp_path / "sides", n) for n in wanted.devices]
        return {**samples.result(*judged), "name": wanted.name, "before": str(wanted.before)}

    monkeypatch.setattr(pair, "compare", compare)
    return seen


def test_what_is_a_pair(tmp_path):
    write(
        tmp_path,
        one__before_py="",
        one__after_py="",
        deep__two__before_py="",
        whole__before__main_py="",
        whole__after__main_py="",
        whole__before__before_py="a module of the program, no pair",
        named__parity_toml='before = "train.py"\nafter = "train_v2.py"\n',
        named__train_py="",
        named__train_v2_py="",
        no__pair_py="",
        recorded__before_py="",
    )
    write(tmp_path / ".venv", before_py="")
    found = {one.name: one for one in suite.find(tmp_path, lambda folder: [folder / "no/pair.py"])}
    assert list(found) == ["deep/two", "named", "one", "whole"]
    assert found["deep/two"].after is None
    assert found["whole"].before == tmp_path / "whole/before/main.py"
    assert found["whole"].after == tmp_path / "whole/after/main.py"
    assert found["named"].after == tmp_path / "named/train_v2.py"
    assert not any(one.problem for one in found.values())
    assert [one.name for one in suite.find(tmp_path / "one")] == ["one"]


def test_programs_of_a_folder_without_pairs(tmp_path):
    """The engine says which modules are programs."""
    training = """\
        import tensorflow as tf
        from model import loss
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
            sess.run(loss())
        """
    model = "import tensorflow as tf\ndef loss():\n    return tf.constant(1.0)\n"
    write(tmp_path, train_py=training, sub__eval_py=training.replace("from model", "from m"))
    write(tmp_path, model_py=model, notes_py="print('no TensorFlow')\n")
    found = suite.find(tmp_path, cli.programs_of)
    assert [(one.name, one.after) for one in found] == [("sub/eval.py", None), ("train.py", None)]


def test_settings_and_the_command_line_over_them(tmp_path, asked):
    write(
        tmp_path,
        a__before_py="",
        a__after_py="",
        a__parity_toml="""\
            argv = ["--num_gpus", "{devices}"]
            devices = [1, 4]
            steps = 7
            dropout = "off"
            timeout = 30
            rtol = 1e-3
            target = "tf2-latest"
            with = ["pandas<2", "pillow"]
            state = "bridge"
            [atol]
            "weights/*" = 0.5
            """,
        b__before_py="",
        b__after_py="",
    )
    status, stdout, stderr = run("--all", tmp_path)
    assert status == 0, stdout + stderr
    first, second = asked["a"], asked["b"]
    assert first.devices == (1, 4) and second.devices == (1, 2)
    assert first.options.argv == ("--num_gpus", "{devices}") and second.options.argv == ()
    assert (first.options.steps, first.options.dropout) == (7, "off")
    assert first.options.limits.seconds == 30 and first.target == "tf2-latest"
    assert first.tolerances.rtol == 1e-3 and first.tolerances.named_atol == {"weights/*": 0.5}
    assert first.packages == ("pandas<2", "pillow") and second.packages == ()
    assert second.options.steps is None and second.tolerances.rtol is None
    run("--all", tmp_path, "--devices", "2", "--steps", "3", "--", "--fast")
    assert asked["a"].devices == asked["b"].devices == (2,)
    assert asked["a"].options.steps == asked["b"].options.steps == 3
    assert asked["a"].options.argv == asked["b"].options.argv == ("--fast",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("device = [1]", "unknown entry device"),
        ("devices = 'x'", "numbers, separated by commas"),
        ("dropout = 'no'", "invalid choice"),
        ("steps = 'x'", "invalid int value"),
        ("rtol = -1", "zero or more"),
        ("not toml", "parity.toml: "),
        ("after = 'gone.py'", "no gone.py"),
        ("before = 'gone.py'", "no gone.py"),
        ("reference = false", "reference = false"),
    ],
)
def test_a_wrong_entry_stops_its_pair_only(tmp_path, asked, text, problem):
    write(tmp_path, a__before_py="", a__after_py="", a__parity_toml=text + "\n")
    write(tmp_path, b__before_py="", b__after_py="")
    status, stdout, _ = run("--all", tmp_path)
    assert status == 8 and list(asked) == ["b"]
    first, second = stdout.splitlines()[:2]
    assert first.startswith("- a: not compared: ") and problem in first
    assert second.startswith("= b: 1 device equivalent, 2 devices equivalent (")


def test_summary_reports_and_exit_status(tmp_path, asked):
    write(tmp_path / "p", bad__before_py="", bad__after_py="", good__before_py="")
    write(tmp_path / "p", good__after_py="", wrong__before_py="", wrong__parity_toml="x = 1\n")
    files = [tmp_path / "out" / name for name in ("page.html", "junit.xml")]
    reports = ["--report", files[0], "--junit", files[1]]
    status, stdout, stderr = run("--all", tmp_path / "p", *reports)
    assert status == 1 | 8 and stderr == ""
    lines = stdout.splitlines()
    assert lines[0].startswith("X bad: 1 device not equivalent, 2 devices not equivalent (")
    assert lines[1].startswith("    1 device: rung 6, weights after one step: ")
    assert lines[2] == "    likely cause: another learning rate (rung 6)"
    assert "    more: migrate-mgpu parity show 7" in lines
    assert lines[-1] == "3 pairs: 1 equivalent, 1 not compared, 1 not equivalent"
    assert "Parity of 3 pairs" in files[0].read_text(encoding="utf-8")
    assert files[1].read_text(encoding="utf-8").count("<testsuite ") == 3
    status, stdout, _ = run("--all", tmp_path / "p", "--json")
    data = json.loads(stdout)
    assert status == 9 and [one["name"] for one in data["pairs"]] == ["bad", "good", "wrong"]
    assert data["pairs"][2]["failure"].endswith("unknown entry x")


def test_a_report_that_cannot_be_written_is_no_success(tmp_path, asked):
    write(tmp_path, a__before_py="", a__after_py="")
    place = tmp_path / "a" / "before.py" / "page.html"
    status, _, stderr = run("--all", tmp_path, "--report", place)
    assert status == 8 and "before.py: cannot be written: " in stderr


def test_nothing_to_compare_is_an_error(tmp_path):
    (tmp_path / "x.py").write_text("print(1)\n")
    status, _, stderr = run("--all", tmp_path, programs=cli.programs_of)
    assert status == 2 and "neither pairs nor programs" in stderr


def test_one_live_folder(tmp_path, runtime, monkeypatch):
    """A pair that is there, and one whose new program is made here."""
    runtime("tf1.15"), runtime("tf2.15")
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "records"))
    texts = {
        n: (FIXTURES / "session_momentum" / f"{n}.py").read_text() for n in ("before", "after")
    }
    write(tmp_path / "p", pair__before_py=texts["before"], pair__after_py=texts["after"])
    write(tmp_path / "p", migrated__before_py=texts["before"])
    argv = ["parity", "--all", str(tmp_path / "p"), "--devices", "1", "--steps", "3"]
    board = tmp_path / "board"
    stdout, stderr = io.StringIO(), io.StringIO()
    status = cli.main([*argv, "--tensorboard", str(board)], stdout, stderr)
    assert status == 0, stdout.getvalue() + stderr.getvalue()
    assert stdout.getvalue().splitlines()[-1] == "2 pairs: 2 equivalent"
    runs = {str(p.parent.relative_to(board)) for p in board.glob("**/events.out.tfevents.*")}
    assert {"pair/1-devices/target", "migrated/1-devices/reference"} <= runs and len(runs) == 8
