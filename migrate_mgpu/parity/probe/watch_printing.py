"""What a program prints: which lines TensorFlow had printed to build a graph, and what of the text
is the runtime's own.

An Estimator calls the model_fn and the input function for each graph, TF2 a function for each
trace: how often follows from the library, and is no result of the program's. What hooks and
callbacks print is none of these.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import Any

# Functions that call the program's to build a graph, and the ends of their files' names.
_BUILDERS = {
    "_call_model_fn": "estimator.py",
    "_call_input_fn": "estimator.py",
    "_call_input_fn_per_host": "tpu_estimator.py",
    "func_graph_from_py_func": "func_graph.py",
    "py_func_from_autograph": "func_graph.py",
}
_open = io.open  # a program's may be kept inside its copy
_REPLICA = "mirrored_strategy.py"  # its threads call the model_fn, too


class Printing:
    """Standard output, as the program has it."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []  # in the file, of what was built
        self._path = ""
        self._watched: Any = None  # kept: without it, its file would be closed

    def begin(self) -> None:
        """Watch what is written from now on, where it goes to a file."""
        own: Any = sys.stdout
        try:
            if not stat.S_ISREG(os.fstat(own.fileno()).st_mode):
                return
            self._path = os.readlink(f"/proc/self/fd/{own.fileno()}")
        except (AttributeError, OSError, ValueError):
            return
        watched = _Stdout(own.buffer, own.encoding, own.errors, None, line_buffering=True)
        watched.keep = self._spans.append
        sys.stdout = self._watched = watched

    def data(self) -> dict[str, Any]:
        return {"built": self._lines(), "versions": _versions(), "folders": _folders()}

    def _lines(self) -> list[int]:
        if not self._spans:
            return []
        try:
            with _open(self._path, "rb") as stream:
                text = stream.read(max(end for _, end in self._spans))
        except OSError:
            return []
        found: set[int] = set()
        number, at = 0, 0
        for begin, end in sorted(self._spans):
            number += text.count(b"\n", at, max(at, begin))
            at = max(at, begin)
            lines = text.count(b"\n", begin, end)
            found.update(range(number, number + lines + (not text[:end].endswith(b"\n"))))
        return sorted(found)


class _Stdout(io.TextIOWrapper):
    keep: Any = None

    def write(self, text: str) -> int:
        if not (text and _builds()):
            return super().write(text)
        self.flush()
        begin = os.lseek(self.fileno(), 0, os.SEEK_CUR)
        written = super().write(text)
        self.flush()
        self.keep((begin, os.lseek(self.fileno(), 0, os.SEEK_CUR)))
        return written


def _builds() -> bool:
    """Whether the code that prints was called by what builds a graph."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        end = _BUILDERS.get(code.co_name)
        if end is not None and code.co_filename.endswith(end):
            return True
        if code.co_name == "run" and code.co_filename.endswith(_REPLICA):
            return not _eager()
        frame = frame.f_back
    return False


def _eager() -> bool:
    for package in ("tensorflow", "tensorflow_core"):
        context = sys.modules.get(package + ".python.eager.context")
        if context is not None:
            return bool(context.executing_eagerly())
    return True


def _versions() -> list[str]:
    found = {".".join(str(part) for part in sys.version_info[:3])}
    for name, module in list(sys.modules.items()):
        if "." not in name or name.endswith((".keras", ".estimator")):
            for attribute in ("__version__", "VERSION", "__git_version__"):
                version = getattr(module, "__dict__", {}).get(attribute)
                if isinstance(version, str):
                    found.add(version)
    return sorted(found)


def _folders() -> list[str]:
    found = [sys.prefix, os.path.realpath(sys.prefix), sys.base_prefix]
    return list(dict.fromkeys([*found, os.path.realpath(sys.base_prefix)]))
