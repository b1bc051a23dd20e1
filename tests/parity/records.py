"""Runs of wrong programs that are kept, so that the tests judge them all in seconds."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

_PATH = re.compile(r'"[^"]*/migrate-mgpu-[^/"]+/[^/"]+/')  # of this machine


def keep(keys: Mapping[str, str], folder: Path, stored: Path) -> None:
    """Copy what runs left in a folder to where it is kept.

    Args:
      keys: of each run a text that changes with everything that it depends on.
    """
    import numpy

    stored.mkdir(exist_ok=True)
    for name, key in keys.items():
        text = (folder / f"{name}.json").read_text(encoding="utf-8")
        trace = json.loads(_PATH.sub('"', text))
        if trace["exception"]:
            trace["exception"]["traceback"] = ""
        for kind in ("argv", "program", "hardware"):
            trace.pop(kind, None)
        kept = {"key": key, "trace": trace}
        kept["stdout"] = (folder / f"{name}.stdout").read_text(encoding="utf-8")
        record = json.dumps(kept, separators=(",", ":"), sort_keys=True).encode()
        arrays = {}
        if (folder / f"{name}.json.npz").exists():
            with numpy.load(folder / f"{name}.json.npz") as found:
                arrays = dict(found)
        with (stored / f"{name}.npz").open("wb") as stream:
            numpy.savez_compressed(stream, record=numpy.frombuffer(record, dtype="uint8"), **arrays)


def unpack(keys: Mapping[str, str], stored: Path, folder: Path, how: str) -> None:
    """Put what is kept into a folder, as the runs left it.

    Args:
      how: the command that records them anew.

    Raises:
      AssertionError: a record is missing, or not of today's programs.
    """
    import numpy

    for name, key in keys.items():
        path = stored / f"{name}.npz"
        assert path.is_file(), f"no record of {name}: {how}"
        with numpy.load(path) as found:
            kept = json.loads(bytes(found["record"]).decode())
            more = len(found.files) > 1
        assert kept["key"] == key, f"the record of {name} is stale: {how}"
        (folder / f"{name}.json").write_text(json.dumps(kept["trace"]), encoding="utf-8")
        (folder / f"{name}.stdout").write_text(kept["stdout"], encoding="utf-8")
        if more:
            shutil.copyfile(path, folder / f"{name}.json.npz")
