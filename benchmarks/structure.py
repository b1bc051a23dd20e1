"""How much of the package an Estimator passes through on its way to Keras.

    python benchmarks/structure.py [fixtures/estimator/NAME ...]

For each fixture: in how many of the package's modules a function was called, and how many
calls went from one module to another. The run before counts nothing: imports and caches.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from types import FrameType

import migrate_mgpu
from migrate_mgpu.run.migrate import migrate

ROOT = Path(__file__).parents[1]
OWN = (os.path.dirname(migrate_mgpu.__file__) + os.sep, str(ROOT / "rewriters") + os.sep)
NAMES = ("dense_classifier", "image_batch_norm", "recurrent_lstm", "canned_wide_deep")


def measure(folder: Path) -> tuple[int, int]:
    """The modules in which functions were called, and the calls from one to another."""
    files = sorted(folder.glob("before/*.py")) or [folder / "before.py"]
    given = [(str(file), file.read_bytes()) for file in files]
    modules: set[str] = set()
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(OWN):
            return
        modules.add(file)
        caller = frame.f_back.f_code.co_filename if frame.f_back is not None else ""
        calls += caller != file and caller.startswith(OWN)

    migrate(given, bridge=True, write=False)
    sys.setprofile(count)
    try:
        migrate(given, bridge=True, write=False)
    finally:
        sys.setprofile(None)
    return len(modules), calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("fixture", nargs="*", type=Path)
    chosen = parser.parse_args().fixture
    for folder in chosen or [ROOT / "fixtures" / "estimator" / name for name in NAMES]:
        modules, calls = measure(folder)
        print(f"{folder.name:<20} {modules:>4} modules {calls:>7,} calls between them")


if __name__ == "__main__":
    main()
