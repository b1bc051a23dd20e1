"""Which modules are Python's own."""

from __future__ import annotations

import sys

# For Python 3.9, which does not list its modules: those that TF1 programs import.
_OFTEN = {
    "argparse", "collections", "copy", "csv", "ctypes", "datetime", "functools", "glob", "io",
    "itertools", "json", "logging", "math", "multiprocessing", "os", "pickle", "queue", "random",
    "re", "shutil", "signal", "socket", "string", "struct", "subprocess", "sys", "tempfile",
    "threading", "time", "traceback", "types", "typing", "urllib", "warnings",
}  # fmt: skip


def is_standard(name: str) -> bool:
    """Whether a top-level module is of the standard library."""
    return name in getattr(sys, "stdlib_module_names", _OFTEN)
