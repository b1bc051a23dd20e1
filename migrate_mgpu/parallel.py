"""One run planned by several processes.

Facts cross files only along imports, so files that no import connects are planned
apart. Each process is given the names of all files of the run, but only the bytes
of its own: what it finds is what one process would find. Everything is written by
this process, when all is planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from migrate_mgpu.engine import plan, run
from migrate_mgpu.engine.findings import FileResult, RunResult
from migrate_mgpu.engine.prefilter import HIT
from migrate_mgpu.engine.project import Project
from migrate_mgpu.engine.selection import Selection

Contents = list[tuple[str, bytes]]

# Bytes of files with sites; a process for less costs more than it saves.
_WORTH_A_PROCESS = 100_000


def migrate(
    contents: Contents, bridge: bool, write: bool, rules: Selection, jobs: int
) -> RunResult:
    """As `engine.run.migrate`, with at most ``jobs`` processes."""
    weight = sum(len(data) for _, data in contents if HIT.search(data))
    jobs = min(jobs, weight // _WORTH_A_PROCESS)
    if jobs < 2:
        return run.migrate(contents, bridge, write, rules)
    project = Project([(Path(path), data) for path, data in contents])
    batches = _batches(contents, project, jobs)
    try:
        # Spawned, not forked: forking is unsafe where threads run, and rich's may.
        with ProcessPoolExecutor(len(batches), get_context("spawn")) as pool:
            tasks = [pool.submit(run.migrate, batch, bridge, False, rules) for batch in batches]
            result = _merged([task.result() for task in tasks], contents)
    except BrokenProcessPool:  # killed, for want of memory perhaps; nothing is written yet
        result = plan.plan(project, plan.Options(bridge, rules))
        result.scanned = len(contents)
    if write:
        run.write_files(result, project)
    return result


def _batches(contents: Contents, project: Project, jobs: int) -> list[Contents]:
    """What each process is given: groups that no import connects, about as much for each."""
    data = {Path(path).resolve(): content for path, content in contents}
    groups = sorted(
        _groups(project), key=lambda group: sum(len(data[path]) for path in group), reverse=True
    )
    # Files without a site matter only beside some with one.
    hits = {id(group): any(HIT.search(data[path]) for path in group) for group in groups}
    groups.sort(key=lambda group: not hits[id(group)])
    jobs = min(jobs, sum(hits.values()))
    loads = [0] * jobs
    members: list[set[Path]] = [set() for _ in range(jobs)]
    for group in groups:
        lightest = loads.index(min(loads))
        loads[lightest] += sum(len(data[path]) for path in group)
        members[lightest] |= group
    broken = set(project.unreadable)  # may belong to any program
    return [
        [
            (path, content if Path(path).resolve() in own | broken else b"")
            for path, content in contents
        ]
        for own in members
    ]


def _groups(project: Project) -> list[set[Path]]:
    """The files of the run, grouped by imports in either direction."""
    group_of: dict[Path, set[Path]] = {path: {path} for path in project.modules}
    for path, module in project.modules.items():
        for target in module.imported:
            other = group_of.get(target.path.resolve())
            own = group_of[path]
            if other is None or other is own:
                continue  # outside the run, or known already
            own |= other
            for member in other:
                group_of[member] = own
    return list({id(group): group for group in group_of.values()}.values())


def _merged(parts: Sequence[RunResult], contents: Contents) -> RunResult:
    files: dict[Path, FileResult] = {}
    for part in parts:
        files.update((file.path, file) for file in part.files)  # broken ones are in all
    place = {Path(path): index for index, (path, _) in enumerate(contents)}
    return RunResult(
        sorted(files.values(), key=lambda file: str(file.path)),
        sorted(
            (program for part in parts for program in part.programs),
            key=lambda program: place[program.entry],
        ),
        {state: sum(part.sites[state] for part in parts) for state in parts[0].sites},
        len(contents),
        [path for part in parts for path in part.order],
    )
