"""Programs that 1.15.5 trains, whose checkpoints the migrated ones go on from.

All programs of a runtime run in one process that imports TensorFlow once.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import launch
from migrate_mgpu.parity.runs.programs import CONVERTED

FIRST, LAST = 20, 40  # steps

# On TF2: the program goes on, then its variables are compared with what 1.15.5 had at the end.
NEW = f"""
import json, runpy, sys
import numpy as np
import tensorflow as tf
found = runpy.run_path("after.py", run_name="__main__")
variables = found.get("variables")
if variables is None:
    variables = found["estimator"].weights
with open("partners.json") as stream:
    partners = json.load(stream)
old = tf.train.load_checkpoint("old/model.ckpt-{LAST}")
worst = {{}}
for variable in variables:
    name = (getattr(variable, "path", None) or variable.name).split(":")[0]
    if name in partners:
        value = old.get_tensor(partners[name])
        scale = max(float(np.abs(value).max()), 1e-3)
        worst[name] = float(np.abs(variable.numpy() - value).max()) / scale
with open("result.json", "w") as stream:
    json.dump(worst, stream)
"""


def _serve(runtime: str, folder: Path, jobs: list[dict[str, object]]) -> None:
    for job in jobs:
        out = Path(str(job["cwd"])) / str(job.pop("name"))
        job.update(
            argv=[str(LAST)], out=f"{out}.json", stdout=f"{out}.out", stderr=f"{out}.err",
            timeout_s=300, gpus=1, gpu_memory="", map_gpus=True,
        )  # fmt: skip
    request = {"results": str(folder / "results"), "parallel": 2, "jobs": jobs}
    (folder / "jobs").write_text(json.dumps(request), encoding="utf-8")
    command = [str(runtimes.ensure(runtime).python), str(launch.PROBE / "batch.py")]
    subprocess.run([*command, str(folder / "jobs")], env=launch.environment({}), check=True)


def _program(folder: Path, name: str, text: str, **more: object) -> dict[str, object]:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return {"program": str(folder / f"{name}.py"), "cwd": str(folder), "name": name, **more}


def train(programs: Mapping[str, str], folder: Path) -> None:
    """Leaves what each program saves on 1.15.5 in ``folder / name / "model"``."""
    jobs = []
    for name, text in programs.items():
        place = folder / name
        place.mkdir(parents=True)
        jobs.append(_program(place, "before", text))
    _serve("tf1.15", folder, jobs)


def go_on(
    runtime: str,
    programs: Mapping[str, str],
    trained: Path,
    folder: Path,
    options: Mapping[str, Mapping[str, object]],
) -> dict[str, dict[str, object]]:
    """What the conversion says of each, as the probe's trace has it, and, under ``worst``, how
    far each variable is from 1.15.5's, in the end."""
    jobs = []
    for name, text in programs.items():
        place = folder / name
        place.mkdir(parents=True)
        asked = {"source": str(trained / name.split(":")[0] / "model" / f"model.ckpt-{FIRST}")}
        asked.update({"isolate": str(place), **options.get(name, {})})
        jobs.append(_program(place, "after", text, watch=asked))
    _serve(runtime, folder, jobs)
    found = {}
    for name in programs:
        trace = json.loads((folder / name / "after.json").read_text(encoding="utf-8"))
        error = (folder / name / "after.err").read_text(encoding="utf-8")
        assert "checkpoint" in trace, error
        assert trace["checkpoint"]["state"] == "written", (name, trace["checkpoint"], error[-3000:])
        found[name] = trace["checkpoint"]
    jobs = []
    for name in programs:
        place = folder / name
        (place / CONVERTED).rename(place / "model")
        (place / "old").symlink_to(trained / name.split(":")[0] / "model")
        partners = {row["to"]: row["from"] for row in found[name]["rows"]}
        (place / "partners.json").write_text(json.dumps(partners), encoding="utf-8")
        jobs.append(_program(place, "resume", NEW))
    _serve(runtime, folder, jobs)
    for name in programs:
        result = folder / name / "result.json"
        assert result.exists(), (folder / name / "resume.err").read_text(encoding="utf-8")[-3000:]
        found[name]["worst"] = json.loads(result.read_text(encoding="utf-8"))
    return found
