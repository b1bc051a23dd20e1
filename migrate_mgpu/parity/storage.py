"""Comparisons under numbers, so that they can be shown and compared later.

Each lies in ``<user data>/migrate-mgpu/parity/NNNN`` (or ``$MIGRATE_MGPU_TRACES/NNNN``):
``result.json`` and, for each number of devices, a folder with the traces of both sides.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

FORMAT = 2  # of a result


class NoSuchComparison(Exception):
    """There is no comparison of this number; the message says so."""


def folder() -> Path:
    """Where comparisons lie."""
    chosen = os.environ.get("MIGRATE_MGPU_TRACES")
    if chosen:
        return Path(chosen).absolute()  # programs run in folders of their own
    import platformdirs

    return Path(platformdirs.user_data_dir("migrate-mgpu")) / "parity"


def new() -> Path:
    """A new folder with the next number; safe while other processes do the same."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    number = max((int(p.name) for p in place.iterdir() if p.name.isdigit()), default=0) + 1
    while True:
        try:
            (place / f"{number:04}").mkdir()
            return place / f"{number:04}"
        except FileExistsError:
            number += 1


def find(number: str) -> Path:
    """The folder of a comparison.

    Raises:
      NoSuchComparison: there is none.
    """
    place = folder() / f"{int(number):04}" if number.isdigit() else folder() / "none"
    if not (place / "result.json").is_file():
        raise NoSuchComparison(f"no comparison {number} in {folder()}")
    if read(place)["format"] != FORMAT:
        raise NoSuchComparison(f"comparison {number} was written by another version: {place}")
    return place


def sizes() -> dict[int, int]:
    """The numbers of all comparisons, with the bytes that each takes."""
    from migrate_mgpu.runtimes import size

    places = folder().glob("[0-9]*") if folder().is_dir() else ()
    return {int(place.name): size(place) for place in sorted(places) if place.name.isdigit()}


def remove(number: int) -> None:
    """Delete a comparison; none there is fine."""
    shutil.rmtree(folder() / f"{number:04}", ignore_errors=True)


def write(place: Path, result: dict[str, Any]) -> None:
    (place / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def read(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "result.json").read_text(encoding="utf-8"))
    return found
