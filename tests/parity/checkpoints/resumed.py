"""Programs that 1.15.5 trains, whose checkpoints the migrated ones go on from.

All programs of a runtime run in one process that imports TensorFlow once.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from migrate_mgpu import runtimes
from migrate_mgpu.parity import conversion
from migrate_mgpu.parity.runs import launch
from migrate_mgpu.parity.runs.programs import CONVERTED

FIRST, LAST = 20, 40  # steps

# On TF2: the program goes on, then its variables are compared with what 1.15.5 had at the end.
NEW = f"""
import json, runpy, sys
import numpy as np
import tensorflow as tf
found = runpy.run_path("after.py", run_name="__main__")
with open("partners.json") as stream:
    partners = json.load(stream)
if "saver" in found:
    variables = found["saver"].variables
else:
    variables = {{
        partners.get((getattr(one, "path", None) or one.name).split(":")[0]): one
        for one in found["estimator"].weights
    }}
old = tf.train.load_checkpoint("old/model.ckpt-{LAST}")
worst = {{}}
for name, variable in variables.items():
    if name is not None and old.has_tensor(name):
        value = old.get_tensor(name)
        scale = max(float(np.abs(value).max()), 1e-3)
        given = tf.convert_to_tensor(variable).numpy()
        worst[name] = float(np.abs(given - value).max()) / scale
with open("result.json", "w") as stream:
    json.dump(worst, stream)
"""


def _serve(runtime: str, folder: Path, jobs: list[dict[str, object]]) -> None:
    for job in jobs:
        out = Path(str(job["cwd"])) / str(job.pop("name"))
        job.update(
            argv=[str(LAST)], out=f"{out}.json", stdout=f"{out}.out", stderr=f"{out}.err",
            timeout_s=300, gpus=2, gpu_memory="", map_gpus=True,
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
    jobs, sources = [], {}
    for name, text in programs.items():
        place = folder / name
        place.mkdir(parents=True)
        sources[name] = str(trained / name.split(":")[0] / "model" / f"model.ckpt-{FIRST}")
        asked = {"source": sources[name], "isolate": str(place), **options.get(name, {})}
        jobs.append(_program(place, "after", text, watch=asked))
    _serve(runtime, folder, jobs)
    found = {}
    for name in programs:
        trace = json.loads((folder / name / "after.json").read_text(encoding="utf-8"))
        error = (folder / name / "after.err").read_text(encoding="utf-8")
        assert "checkpoint" in trace, error
        assert trace["checkpoint"]["state"] in ("written", "names"), (
            name,
            trace["checkpoint"],
            error[-3000:],
        )
        found[name] = trace["checkpoint"]
    jobs = []
    for name in programs:
        place = folder / name
        result = conversion.Result(
            found[name]["state"], found[name], list(place.glob(f"{CONVERTED}/*")), runtime
        )
        conversion.write(result, place / "model", Path(sources[name]))
        (place / "old").symlink_to(trained / name.split(":")[0] / "model")
        partners = {row["to"]: row["from"] for row in found[name].get("rows", ())}
        (place / "partners.json").write_text(json.dumps(partners), encoding="utf-8")
        jobs.append(_program(place, "resume", NEW))
    _serve(runtime, folder, jobs)
    for name in programs:
        numbers = folder / name / "result.json"
        assert numbers.exists(), (folder / name / "resume.err").read_text(encoding="utf-8")[-3000:]
        found[name]["worst"] = json.loads(numbers.read_text(encoding="utf-8"))
    return found
