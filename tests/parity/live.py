"""Programs on real TensorFlow under the probe, on two devices."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Union

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support import servers

DEVICES = 2


# A program: its text, or those of its modules by their names.
Text = Union[str, Mapping[str, str]]


def whole(text: Text) -> str:
    """One text that changes with each of the program's modules."""
    return text if isinstance(text, str) else "\n".join(f"{k}\n{v}" for k, v in text.items())


def run(
    runtime: str,
    programs: Mapping[str, tuple[str, Text]],
    folder: Path,
    rounded: int = 0,
    argv: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """Leaves ``<name>.json`` and its arrays and output in the folder.

    Args:
      programs: by name, the reference that gives the initial values, and the text. A program
        that is its own reference records them.
      rounded: how first values are rounded otherwise (``Options.rounded``).
      argv: the arguments of programs, by name; the others get none.
    """
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as work:
        jobs = []
        for name, (reference, text) in programs.items():
            copy = Path(work) / name
            copy.mkdir()
            modules = {"program.py": text} if isinstance(text, str) else text
            entry = "main.py" if "main.py" in modules else "program.py"
            for module, own in modules.items():
                (copy / module).write_text(own, encoding="utf-8")
            side = "publish" if name == reference else "initial"
            watch = {"steps": None, "dropout": "mask", "isolate": str(copy), "rounded": rounded}
            jobs.append(
                {
                    "program": str(copy / entry),
                    "argv": list(argv.get(name, ())),
                    "cwd": str(copy),
                    "out": str(folder / f"{name}.json"),
                    "stdout": str(folder / f"{name}.stdout"),
                    "stderr": str(folder / f"{name}.stderr"),
                    "gpus": DEVICES,
                    "gpu_memory": "",
                    "map_gpus": True,
                    "watch": {**watch, side: str(folder / f"{reference}.initial.npz")},
                }
            )
        servers.serve(runtime, jobs)
