"""The old program as Python 3 and TF 1.15 take it, and otherwise as it was: the reference.

No Python that runs both sides reads Python 2, and 1.15 lacks names of early TensorFlows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.registry import only
from migrate_mgpu.run.python_2 import Conversion
from migrate_mgpu.session_config.program_rewriter import EarlierRewriter, PythonRewriter


def reference_files(
    contents: Sequence[tuple[str, bytes]], result: RunResult
) -> dict[Path, tuple[bytes, tuple[str, ...]]]:
    """The files of a run that are made so: their bytes, and the codes of the rules that did it."""
    found: dict[Path, tuple[bytes, tuple[str, ...]]] = {}
    code = only(PythonRewriter).rule.code
    of_python_2 = _told(result, code)
    conversion = Conversion(contents, Project([]), enabled=True)
    for path, data in contents:
        if Path(path) in of_python_2:
            conversion.convert_file(Path(path), data)
    found.update((path, (one.data, (code,))) for path, one in conversion.files.items())
    rewriter = only(EarlierRewriter)
    early = _told(result, rewriter.rule.code)
    if early:
        given = [(path, found.get(Path(path), (data,))[0]) for path, data in contents]
        for module in Project(given).modules.values():
            edits = rewriter.rename(module).edits if module.path in early else []
            if edits:
                codes = (*found.get(module.path, (b"", ()))[1], rewriter.rule.code)
                data = module.source.encode(module.source.apply(edits))
                found[module.path] = (data, codes)
    return found


def _told(result: RunResult, code: str) -> Collection[Path]:
    return {file.path for file in result.files if any(one.code == code for one in file.findings)}
