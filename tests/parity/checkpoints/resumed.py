"""Programs that 1.15.5 trains, whose checkpoints the migrated ones go on from, and back again.

One process for each TensorFlow runs all programs: it imports TensorFlow once, and forks.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from migrate_mgpu import runtimes
from migrate_mgpu.parity import conversion
from migrate_mgpu.parity.runs import launch
from migrate_mgpu.parity.runs.programs import CONVERTED
from migrate_mgpu.parity.runs.supervise import Process

FIRST, LAST, END = 20, 40, 60  # steps

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
SERVER = """
import importlib.util, json, sys, warnings
spec = importlib.util.spec_from_file_location("batch", sys.argv[1])
batch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(batch)
warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
import tensorflow
for line in sys.stdin:
    with open(line.rstrip("\\n")) as stream:
        request = json.load(stream)
    with open(request["results"], "w") as stream:
        json.dump(batch.serve(request), stream)
    print("served", flush=True)
"""


class Servers:
    """A process for each runtime that was asked for."""

    def __init__(self) -> None:
        self._running: dict[Path, subprocess.Popen[str]] = {}

    def serve(self, runtime: str, folder: Path, jobs: Sequence[dict[str, Any]]) -> None:
        """Run programs (``probe/batch.py`` says what a job is)."""
        for job in jobs:
            out = Path(job["cwd"]) / job.pop("name")
            job.setdefault("argv", [str(LAST)])
            job.update(
                out=f"{out}.json", stdout=f"{out}.out", stderr=f"{out}.err",
                timeout_s=300, gpus=2, gpu_memory="", map_gpus=True,
            )  # fmt: skip
        self._serve(runtimes.ensure(runtime).python, folder, jobs)

    def _serve(self, python: Path, folder: Path, jobs: Sequence[dict[str, Any]]) -> list[Any]:
        if python not in self._running:
            command = [str(python), "-c", SERVER, str(launch.PROBE / "batch.py")]
            pipe, environment = subprocess.PIPE, launch.environment({})
            self._running[python] = subprocess.Popen(
                command, env=environment, stdin=pipe, stdout=pipe, text=True
            )
        server, results = self._running[python], folder / "results"
        request = {"results": str(results), "parallel": 2, "jobs": list(jobs)}
        (folder / "jobs").write_text(json.dumps(request), encoding="utf-8")
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(f"{folder / 'jobs'}\n")
        server.stdin.flush()
        assert server.stdout.readline() == "served\n"
        found: list[Any] = json.loads(results.read_text(encoding="utf-8"))
        return found

    def run_all(self, processes: Sequence[Process]) -> None:
        """In the place of ``supervise.run_all``, for programs under the probe."""
        options = argparse.ArgumentParser()
        for name in ("--out", "--watch", "--gpus", "--gpu-memory"):
            options.add_argument(name)
        options.add_argument("--map-gpus", action="store_true")
        options.add_argument("program")
        options.add_argument("argv", nargs=argparse.REMAINDER)
        for process in processes:
            given = options.parse_args(process.command[2:])
            job = {
                "program": given.program, "argv": given.argv, "cwd": str(process.cwd),
                "out": given.out, "stdout": str(process.stdout), "stderr": str(process.stderr),
                "gpus": int(given.gpus), "gpu_memory": given.gpu_memory or "",
                "map_gpus": given.map_gpus, "timeout_s": 300,
                "watch": json.loads(Path(given.watch).read_text(encoding="utf-8")),
            }  # fmt: skip
            (result,) = self._serve(Path(process.command[0]), process.stdout.parent, [job])
            process.status, process.ended = result["status"], f"exit {result['status']}"

    def close(self) -> None:
        for server in self._running.values():
            assert server.stdin is not None
            server.stdin.close()
            server.wait()


@contextlib.contextmanager
def servers() -> Iterator[Servers]:
    made = Servers()
    try:
        yield made
    finally:
        made.close()


def _program(folder: Path, name: str, text: str, **more: Any) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return {"program": str(folder / f"{name}.py"), "cwd": str(folder), "name": name, **more}


def _asked(folder: Path, **more: Any) -> dict[str, Any]:
    return {"watch": {"isolate": str(folder), "into": CONVERTED, **more}}


def train(
    made: Servers, programs: Mapping[str, str], folder: Path, templates: Sequence[str]
) -> None:
    """Leaves what each program saves on 1.15.5 in ``folder / name / "model"``, and what the
    savers of some write before they train in ``"template"``."""
    jobs = [
        _program(folder / name, "before", text, argv=[str(END)]) for name, text in programs.items()
    ]
    for name in templates:
        place = folder / name / "template"
        jobs.append(_program(place, "template", programs[name], **_asked(place)))
    made.serve("tf1.15", folder, jobs)


def go_on(
    made: Servers,
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
    made.serve(runtime, folder, jobs)
    found = {name: _found(folder / name, "after") for name in programs}
    jobs = []
    for name in programs:
        place = folder / name
        _write(found[name], place, place / "model", sources[name])
        (place / "old").symlink_to(trained / name.split(":")[0] / "model")
        partners = {row["to"]: row["from"] for row in found[name].get("rows", ())}
        (place / "partners.json").write_text(json.dumps(partners), encoding="utf-8")
        jobs.append(_program(place, "resume", NEW))
    made.serve(runtime, folder, jobs)
    for name in programs:
        found[name]["worst"] = _worst(folder / name, "resume")
    return found


def serve(
    made: Servers, runtime: str, folder: Path, name: str, text: str, argv: Sequence[str]
) -> None:
    """Run one program in a folder, as it is."""
    made.serve(runtime, folder, [_program(folder, name, text, argv=list(argv))])


def unconverted(made: Servers, runtime: str, text: str, model: Path, folder: Path) -> str:
    """How a program ends that finds a checkpoint of 1.15.5 in its folder: its error's text."""
    folder.mkdir()
    shutil.copytree(model, folder / "model")
    made.serve(runtime, folder, [_program(folder, "after", text)])
    return (folder / "after.err").read_text(encoding="utf-8")


def go_back(
    made: Servers, runtime: str, programs: Mapping[str, str], trained: Path, folder: Path
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
    made.serve(runtime, folder, jobs)
    found = {name: _found(folder / name / "back", "after") for name in programs}
    jobs = []
    for name in programs:
        place = folder / name / "back"
        _write(found[name], place, place / "model", sources[name], True)
        (place / "old").symlink_to(trained / name / "model")
        (place / "before.py").symlink_to(trained / name / "before.py")
        jobs.append(_program(place, "resume", OLD, argv=[str(END)]))
    made.serve("tf1.15", folder, jobs)
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
