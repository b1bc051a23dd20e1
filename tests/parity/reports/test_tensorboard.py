"""TensorBoard event files, read back with TensorFlow's own reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))
import report_samples as samples

from migrate_mgpu import runtimes
from migrate_mgpu.parity.reports import output, tensorboard
from tests.support import servers

READ = """
import glob, json, sys
import tensorflow.compat.v1 as tf
found = {}
for path in glob.glob(sys.argv[1] + "/**/events.out.tfevents.*", recursive=True):
    run = path[len(sys.argv[1]) + 1:].rsplit("/", 1)[0]
    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            points = found.setdefault(run, {}).setdefault(value.tag, [])
            points.append([event.step, str(value.simple_value)])
print(json.dumps(found))
"""


def test_both_sides_can_be_read_back(runtime, tmp_path):
    target = runtime("tf2.15")
    losses = samples.falling(20)
    one = samples.side(tmp_path / "a", "v1.py", losses, more_losses=[2.0, 1.0])
    worse = [*losses[:-1], float("nan")]
    other = samples.side(tmp_path / "b", "v2.py", worse, more_losses=[2.0, 1.0], old=False)
    result = samples.result(samples.judged(one, other))
    folder = tmp_path / "board"
    tensorboard.write([result], folder, target)
    stale = folder / "1-devices" / "target" / "events.out.tfevents.1.old"
    stale.write_bytes(b"no event")
    (stale.parent / "mine.txt").write_text("kept")
    tensorboard.write([result], folder, target)  # again: in the place of the first
    assert not stale.exists() and (stale.parent / "mine.txt").exists()

    found = json.loads(servers.alone(target, READ, folder))
    runs = {run.removeprefix("1-devices/"): tags for run, tags in found.items()}
    assert set(runs) == {"reference", "target", "difference", "allowed"}
    seen = runs["reference"]["loss"]
    assert [step for step, _ in seen] == list(range(1, 21))
    assert [float(value) for _, value in seen] == pytest.approx(losses)
    assert runs["target"]["loss"][-1] == [20, "nan"]
    assert runs["target"]["loss[2]"] == [[1, "2.0"], [2, "1.0"]]
    allowed = [float(value) for _, value in runs["allowed"]["loss difference"]]
    assert allowed == pytest.approx(result["results"][0]["curves"][0]["allowed"])
    assert runs["difference"]["loss difference"][0] == [1, "0.0"]


def test_the_writer_hides_no_module_from_tensorflow(tmp_path):
    """The script's folder has an html.py and a tensorboard.py; TensorFlow imports both names."""
    fake = tmp_path / "tensorflow" / "compat"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake.parent / "__init__.py").touch()
    (tmp_path / "tensorboard.py").write_text("SUMMARY = 1\n")
    (fake / "v1.py").write_text("import html, tensorboard\nhtml.escape, tensorboard.SUMMARY\n")
    subprocess.run(
        [sys.executable, str(tensorboard._WRITER)],
        input="[]",
        text=True,
        check=True,
        env={"PYTHONPATH": str(tmp_path)},
    )


def test_pairs_have_folders_of_their_own():
    results = [
        {"name": name, "results": [{"devices": 2, "curves": []}]} for name in ("../a b", "c")
    ]
    found = [run["folder"] for run in tensorboard.runs(results, Path("/f"))]
    assert found[0] == "/f/_a_b/2-devices/reference" and len(set(found)) == 8


def test_no_runtime_or_a_broken_one_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "none"))
    options = type("Options", (), {"report": None, "junit": None, "tensorboard": tmp_path})()
    monkeypatch.setattr(runtimes, "find", lambda name: None)
    assert not output.write(options, [{"results": []}], sys.stderr)
    assert "no runtime is here: migrate-mgpu runtimes create" in capsys.readouterr().err
    broken = runtimes.Runtime("mine", Path(sys.executable))  # it has no TensorFlow
    with pytest.raises(tensorboard.NotWritten, match=r"mine: .*tensorflow"):
        tensorboard.write([{"after": "x", "results": []}], tmp_path, broken)
