"""Programs that 1.15.5 trains, whose checkpoints the migrated ones go on from, and back again."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from migrate_mgpu.parity import conversion
from migrate_mgpu.parity.runs.programs import CONVERTED
from tests.support import recorded, servers

FIRST, LAST, END = 20, 40, 60  # steps
TRAINED, DIGEST = Path(__file__).with_name("trained.tar.xz"), "digest"

# The program goes on, then its variables are compared with what 1.15.5 had at that step.
COMPARE = """
worst = {}
for name, value in found.items():
    if old.has_tensor(name):
        wanted = old.get_tensor(name)
        scale = max(float(np.abs(wanted).max()), 1e-3)
        worst[name] = float(np.abs(value - wanted).max()) / scale
with open("result.json", "w") as stream:
    json.dump(worst, stream)
"""
NEW = f"""
import json, runpy, sys
import numpy as np
import tensorflow as tf
made = runpy.run_path("after.py", run_name="__main__")
with open("partners.json") as stream:
    partners = json.load(stream)
if "saver" in made:
    variables = made["saver"].variables
else:
    variables = {{
        partners.get((getattr(one, "path", None) or one.name).split(":")[0]): one
        for one in made["estimator"].weights
    }}
found = {{n: tf.convert_to_tensor(v).numpy() for n, v in variables.items() if n is not None}}
old = tf.train.load_checkpoint("old/model.ckpt-{LAST}")
{COMPARE}
"""
OLD = f"""
import json, runpy
import numpy as np
import tensorflow as tf
runpy.run_path("before.py", run_name="__main__")
new = tf.train.load_checkpoint("model/model.ckpt-{END}")
found = {{name: new.get_tensor(name) for name in new.get_variable_to_shape_map()}}
old = tf.train.load_checkpoint("old/model.ckpt-{END}")
{COMPARE}
"""


def _serve(runtime: str, jobs: Sequence[dict[str, Any]]) -> None:
    """Run programs (``tests/support/server.py`` says what a job is)."""
    for job in jobs:
        out = Path(job["cwd"]) / job.pop("name")
        job.setdefault("argv", [str(LAST)])
        job.update(
            out=f"{out}.json", stdout=f"{out}.out", stderr=f"{out}.err",
            gpus=2, gpu_memory="", map_gpus=True,
        )  # fmt: skip
    servers.serve(runtime, jobs)


def _program(folder: Path, name: str, text: str, **more: Any) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return {"program": str(folder / f"{name}.py"), "cwd": str(folder), "name": name, **more}


def _asked(folder: Path, **more: Any) -> dict[str, Any]:
    return {"watch": {"isolate": str(folder), "into": CONVERTED, **more}}


def train(programs: Mapping[str, str], folder: Path, templates: Sequence[str]) -> None:
    """Leaves what each program saves on 1.15.5 in ``folder / name / "model"``, and what the
    savers of some write before they train in ``"template"``.

    What they saved is recorded (``record``): the first one alone trains, until one of them changes.
    """
    jobs = [
        _program(folder / name, "before", text, argv=[str(END)]) for name, text in programs.items()
    ]
    if recorded_digest() == digest(programs):
        with tarfile.open(TRAINED) as archive:
            checked = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **checked)
        jobs = jobs[:1]
        shutil.rmtree(Path(jobs[0]["cwd"]) / "model")
    for name in templates:
        place = folder / name / "template"
        jobs.append(_program(place, "template", programs[name], **_asked(place)))
    _serve("tf1.15", jobs)


def digest(programs: Mapping[str, str]) -> str:
    return recorded.digest("tf1.15", str(END), *(one for pair in programs.items() for one in pair))


def recorded_digest() -> str:
    with tarfile.open(TRAINED) as archive:
        member = archive.extractfile(DIGEST)
        assert member is not None
        return member.read().decode()


def record(programs: Mapping[str, str]) -> None:
    """Keeps what all programs save on 1.15.5: weights alone, neither graphs nor events."""
    with tempfile.TemporaryDirectory() as name, tarfile.open(TRAINED, "w:xz") as archive:
        folder = Path(name)
        jobs = [_program(folder / key, "before", one, argv=[str(END)])
                for key, one in programs.items()]  # fmt: skip
        _serve("tf1.15", jobs)
        (folder / DIGEST).write_text(digest(programs), encoding="utf-8")
        for path in [folder / DIGEST, *sorted(folder.glob("*/*"))]:
            kept = [path] if path.suffix in ("", ".h5", ".npy") and path.is_file() else []
            for one in kept or sorted(path.glob("*")):
                if not one.name.endswith((".meta", ".pbtxt")) and ".tfevents." not in one.name:
                    entry = archive.gettarinfo(one, one.relative_to(folder).as_posix())
                    entry.mtime = entry.uid = entry.gid = 0
                    entry.uname = entry.gname = ""
                    with one.open("rb") as stream:
                        archive.addfile(entry, stream)


def go_on(
    runtime: str,
    programs: Mapping[str, str],
    trained: Path,
    folder: Path,
    options: Mapping[str, Mapping[str, object]],
) -> dict[str, dict[str, Any]]:
    """What the conversion says of each, as the probe's trace has it, and, under ``worst``, how
    far each variable is from 1.15.5's, in the end."""
    jobs, sources = [], {}
    for name, text in programs.items():
        place = folder / name
        sources[name] = trained / name.split(":")[0] / "model" / f"model.ckpt-{FIRST}"
        asked = _asked(place, source=str(sources[name]), **options.get(name, {}))
        jobs.append(_program(place, "after", text, **asked))
    _serve(runtime, jobs)
    found = {name: _found(folder / name, "after") for name in programs}
    jobs = []
    for name in programs:
        place = folder / name
        _write(found[name], place, place / "model", sources[name])
        (place / "old").symlink_to(trained / name.split(":")[0] / "model")
        partners = {row["to"]: row["from"] for row in found[name].get("rows", ())}
        (place / "partners.json").write_text(json.dumps(partners), encoding="utf-8")
        jobs.append(_program(place, "resume", NEW))
    _serve(runtime, jobs)
    for name in programs:
        found[name]["worst"] = _worst(folder / name, "resume")
    return found


def serve(runtime: str, folder: Path, name: str, text: str, argv: Sequence[str]) -> None:
    """Run one program in a folder, as it is."""
    _serve(runtime, [_program(folder, name, text, argv=list(argv))])


def unconverted(runtime: str, text: str, model: Path, folder: Path) -> str:
    """How a program ends that finds a checkpoint of 1.15.5 in its folder: its error's text."""
    folder.mkdir()
    shutil.copytree(model, folder / "model")
    _serve(runtime, [_program(folder, "after", text)])
    return (folder / "after.err").read_text(encoding="utf-8")


def go_back(
    runtime: str, programs: Mapping[str, str], trained: Path, folder: Path
) -> dict[str, dict[str, Any]]:
    """The same of what ``go_on`` left in the folder, which 1.15.5 goes on from."""
    jobs, sources = [], {}
    for name, text in programs.items():
        place = folder / name / "back"
        sources[name] = conversion.find(folder / name / "model")
        template = trained / name / "template"
        order = conversion.whole(_found(template, "template")["order"])
        source = str(template / CONVERTED / "model.ckpt")
        asked = _asked(place, source=source, values=str(sources[name]), order=order)
        jobs.append(_program(place, "after", text, **asked))
    _serve(runtime, jobs)
    found = {name: _found(folder / name / "back", "after") for name in programs}
    jobs = []
    for name in programs:
        place = folder / name / "back"
        _write(found[name], place, place / "model", sources[name], True)
        (place / "old").symlink_to(trained / name / "model")
        (place / "before.py").symlink_to(trained / name / "before.py")
        jobs.append(_program(place, "resume", OLD, argv=[str(END)]))
    _serve("tf1.15", jobs)
    for name in programs:
        found[name]["worst"] = _worst(folder / name / "back", "resume")
    return found


def _found(place: Path, name: str) -> dict[str, Any]:
    trace = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
    error = (place / f"{name}.err").read_text(encoding="utf-8")
    assert "checkpoint" in trace, error
    found: dict[str, Any] = trace["checkpoint"]
    assert found["state"] in ("written", "names", "saved"), (place, found, error[-3000:])
    return found


def _write(
    found: dict[str, Any], place: Path, to: Path, source: Path, to_tf1: bool = False
) -> None:
    files = list((place / CONVERTED).glob("*"))
    conversion.write(conversion.Result(found["state"], found, files, "", to_tf1), to, source)


def _worst(place: Path, name: str) -> dict[str, float]:
    numbers = place / "result.json"
    assert numbers.exists(), (place / f"{name}.err").read_text(encoding="utf-8")[-3000:]
    found: dict[str, float] = json.loads(numbers.read_text(encoding="utf-8"))
    return found
