"""One run from bytes to written files."""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.engine.findings import FileResult, RunResult
from migrate_mgpu.engine.plan import Options, plan
from migrate_mgpu.engine.project import Project
from migrate_mgpu.engine.selection import Selection
from migrate_mgpu.engine.source import SourceError
from migrate_mgpu.engine.source import write as write_bytes


def migrate(
    contents: list[tuple[str, bytes]],
    bridge: bool,
    write: bool,
    rules: Selection = Selection(),  # noqa: B008 - immutable
) -> RunResult:
    """Plans all files together, then writes each in one step.

    Modules are written before those that import them: a helper that no longer
    returns a config is fine for a caller that still passes it on (``None``),
    so a run that is cut short leaves a project that works.
    """
    project = Project([(Path(path), data) for path, data in contents])
    result = plan(project, Options(bridge=bridge, rules=rules))
    result.scanned = len(contents)
    if write:
        _write(result, project)
    return result


def _write(result: RunResult, project: Project) -> None:
    by_path = {file.path: file for file in result.files}
    for path in result.order:
        file = by_path[path]
        if file.changed:
            _write_file(file, project)


def _write_file(file: FileResult, project: Project) -> None:
    module = project.modules[file.path.resolve()]
    assert file.after is not None
    try:
        write_bytes(file.path, project.data[file.path], module.source.encode(file.after))
    except SourceError as error:
        file.error, file.after = str(error), None
    except OSError as error:
        file.error, file.after = f"cannot be written: {error.strerror or error}", None
