"""One pair of programs, from their paths to a kept result.

``migrate-mgpu parity``, ``parity --all`` and the pytest plugin are three ways to ask for it.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TextIO

from migrate_mgpu import runtimes
from migrate_mgpu.parity import comparison, recorded, storage
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE
from migrate_mgpu.parity.runs import written_for
from migrate_mgpu.parity.runs.devices import NoGpus
from migrate_mgpu.parity.runs.programs import Options, copied, copy_folder, home, search_path
from migrate_mgpu.parity.verdict import Judged
from migrate_mgpu.runtimes import Runtime


@dataclass(frozen=True)
class Migration:
    """What a migration did to a program: its diff, what it said of it, and what it needs now.

    Attributes:
      reference: files that were Python 2, or had names of an early TensorFlow, by their paths in
        the folder: their bytes as Python 3 and TF 1.15 take them, and the codes of the rules that
        made them. The old program runs with these.
    """

    diff: str
    findings: Sequence[Mapping[str, Any]]
    packages: Sequence[str] = ()
    native: bool = False  # it is no TF1 code any more
    legacy_keras: bool = False  # on the newest TensorFlow it needs tf-keras
    reference: Mapping[Path, tuple[bytes, Sequence[str]]] = field(default_factory=dict)


class NotMigrated(Exception):
    """A program could not be migrated; the message says why."""


class Migrate(Protocol):
    """``migrate(program, copy)`` migrates the folder ``copy`` in place, a copy of the one that
    ``program`` is the path in; it raises NotMigrated where it cannot."""

    def __call__(
        self, program: Path, copy: Path, native_sessions: bool = True
    ) -> Migration | None: ...


class NotCompared(Exception):
    """The two programs could not be compared; the message says why."""


class Missing(NotCompared):
    """Something is not on this machine: a runtime, or a GPU."""


@dataclass(frozen=True)
class Pair:
    """What to compare, and how.

    Attributes:
      after: None for the old program, migrated in a copy.
      adapt: leave out numbers of devices that the program cannot run on (``comparison.Request``),
        or that make no difference to it.
      root: the folder that is copied with the programs; each program's own when None.
      reference: a runtime's name or an interpreter; None for the best one that is there.
      target: the same, of the new program.
      name: what reports call the pair; both programs when empty.
      packages: added to both runtimes.
      requirements: a file of packages to add; for TensorFlow 2 without their versions.
    """

    before: Path
    after: Path | None = None
    devices: tuple[int, ...] = (1, 2)
    root: Path | None = None
    options: Options = field(default_factory=Options)
    tolerances: Tolerances = field(default_factory=Tolerances)
    reference: str | None = None
    target: str | None = None
    name: str = ""
    packages: tuple[str, ...] = ()
    requirements: Path | None = None
    adapt: bool = False

    def more(self, name: str) -> list[str]:
        """The packages that are added to a runtime."""
        lines = runtimes.required(self.requirements) if self.requirements else []
        if name != runtimes.TF1:
            return [*self.packages, *(runtimes.unpinned(line) for line in lines)]
        # There is none for TensorFlow 1, whose own Keras it has.
        legacy = runtimes.LEGACY_KERAS.partition("==")[0]
        return [one for one in [*self.packages, *lines] if not one.startswith(legacy)]

    @property
    def whole(self) -> Path:
        """The folder that the old program is copied with."""
        return (self.root or home(self.before)).resolve()


def compare(
    pair: Pair,
    migrate: Migrate | None = None,
    record: bool = False,
    *,
    only_recorded: bool = False,
    make: bool = True,
    progress: TextIO | None = None,
) -> dict[str, Any]:
    """Run and judge a pair; the result is kept under a number (``storage``), and returned.

    Args:
      record: keep the reference's trace beside its program first.
      only_recorded: the trace that was kept is the reference, whether its runtime is here or not.
      make: make runtimes that are not here; it takes minutes, and a network.
      progress: is told what is made.

    Raises:
      Missing: a runtime or a GPU is not on this machine, and it was not made.
      NotCompared: there is no recorded trace of this program, it could not be migrated, or the
        runs could not be written.
    """
    asked, pair = pair.devices, adapted(pair)
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as work, explained():
        if not make:  # nothing is said of a program that cannot be run here
            _present(wanted(pair, only_recorded))
        _say_size(pair.whole, progress)
        before, after, roots, migration = programs(pair, Path(work), migrate)
        if migration is not None and not migration.diff and progress is not None:
            print(_same_text(pair.before), file=progress, flush=True)
        # All of them before the first run.
        packages = [] if migration is None else added(pair, migration, progress)
        names = wanted(pair, only_recorded, make, progress, packages)
        made = {name: runtimes.ensure(name, progress) for name in names if name is not None}
        reference = made[names[0]] if names[0] else None
        target = with_keras(made[names[1]], migration)
        if record:
            keep_reference(pair, make, progress)
        origin, bridge = None, None
        if pair.after is None:
            origin = pair.whole
            if migrate is not None and migration is not None and migration.native:
                place = Path(work) / "bridge" / origin.name
                roots += (place,)
                bridge = cache(partial(as_tf1_code, pair, place, migrate))
        options = replace(pair.options, roots=roots, origin=origin, progress=progress)
        if options.workers > 1 and written_for.names_workers(
            before, *search_path(before, options.root_of(before))
        ):
            options = replace(options, old_workers=options.workers)
        request = comparison.Request(
            reference,
            target,
            before,
            after,
            pair.devices,
            options,
            pair.tolerances,
            pair.adapt,
            bridge,
        )
        place = storage.new()
        judged, too_few = comparison.run(request, place)
    compared = replace(pair, devices=tuple(one.devices for one in judged))
    result = {
        **_about(pair, _repeat(compared, reference, target)),
        "comparison": int(place.name),
        "results": [one.as_data() for one in judged],
        "left_out": [
            *({"devices": one.devices, "reason": _too_few(one)} for one in too_few),
            *({"devices": n, "reason": ONE_DEVICE} for n in asked if n not in pair.devices),
        ],
    }
    if migration is not None:
        result["migration"] = {
            "diff": migration.diff,
            "findings": list(migration.findings),
            "reference": [
                {"path": str(path), "rules": list(rules)}
                for path, (_, rules) in sorted(migration.reference.items())
            ],
        }
        for one in result["results"]:
            one["diagnosis"] = with_announced(one, migration)
    storage.write(place, result)
    return result


ONE_DEVICE = "no module of the program says anything of GPUs, devices or strategies"


def adapted(pair: Pair) -> Pair:
    """The pair on one device, where nobody chose their numbers and more make no difference."""
    if not pair.adapt or any("{devices}" in word for word in pair.options.argv):
        return pair
    for program in filter(None, (pair.before, pair.after)):
        path = search_path(program, (pair.root or home(program)).resolve())
        if program.suffix == NOTEBOOK or written_for.names_devices(program, *path):
            return pair
    return replace(pair, devices=pair.devices[:1])


def _too_few(judged: Judged) -> str:
    return f"the program names more devices than that: {comparison.too_few_for(judged)}"


# How many findings a cause names.
_MOST = 6
# On which rungs shows first what a finding says of a program (``affects``).
_SHOWS_ON = {
    "configuration": (1,),
    "batches": (3, 4, 5),
    "network": (2, 4, 5),
    "numbers": (2, 3, 4, 9),
    "optimizer": (6, 7, 8),
    "averages": (8, 9),
    "steps": (7, 8),
    "evaluation": (9,),
}


def with_announced(one: Mapping[str, Any], migration: Migration) -> list[dict[str, Any]]:
    """The causes of a difference, with what the migration announced: a finding that says what
    differs is told instead of causes that only may be, one that may say it where no cause is known.
    """
    known: list[dict[str, Any]] = list(one["diagnosis"])
    rung = one["headline"]
    told = [found for found in migration.findings if found["state"] == "manual"]
    if rung is None or not told:
        return known
    fitting = [found for found in told if rung in _SHOWS_ON.get(found.get("affects") or "", ())]
    if fitting:
        return [*(cause for cause in known if cause["likelihood"] == LIKELY), _cause(fitting, rung)]
    others = [found for found in told if not found.get("affects")]
    return known or ([_cause(others, rung, "")] if others else [])


def _cause(
    told: Sequence[Mapping[str, Any]], rung: int, title: str = "the migration announced it"
) -> dict[str, Any]:
    evidence = [f"{f['path']}:{f['line']}: {f['code']}: {f['message']}" for f in told[:_MOST]]
    evidence += [f"and {len(told) - _MOST} more"] if len(told) > _MOST else []
    if title and len(told) == 1:
        title = f"{title}: {told[0]['message']}"
    return {
        "cause": "announced",
        "title": title or "the migration reported that the program may behave differently",
        "likelihood": POSSIBLE,
        "rung": rung,
        "evidence": evidence,
        "advice": "; ".join(dict.fromkeys(f["advice"] for f in told if f["advice"]))
        or "accept it, or write by hand what the finding names",
        "anchor": "losses-differ.md#announced",
    }


def keep_reference(pair: Pair, make: bool = True, progress: TextIO | None = None) -> None:
    """Keep the reference's trace beside its program, for each number of devices.

    Raises:
      Missing: its runtime is not here.
      NotCompared: the program crashes, or the trace cannot be written.
    """
    pair = adapted(pair)
    with explained():
        # A trace is written anew with what it was written with.
        name = pair.reference or recorded.runtime_of(pair.before, pair.devices)
        name = name or _best_reference(pair)
        name = name if "+" in name else runtimes.extended(name, pair.more(name))
        if not make:
            _present([name])
        runtime = runtimes.ensure(name, progress)
        options = replace(pair.options, roots=(pair.root,) if pair.root else ())
        recorded.keep(runtime, pair.before, pair.devices, options)


def recorded_problem(pair: Pair) -> str | None:
    """Why the traces beside the old program cannot be its reference, or None."""
    numbers = adapted(pair).devices
    problems = (recorded.problem(pair.before, n, pair.options) for n in numbers)
    return next((problem for problem in problems if problem is not None), None)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """What can go wrong around the runs, as ``NotCompared``."""
    try:
        yield
    except (runtimes.RuntimeUnavailable, NoGpus) as error:
        raise Missing(str(error)) from error
    except recorded.NotRecorded as error:
        raise NotCompared(str(error)) from error
    except OSError as error:
        raise NotCompared(
            f"the runs cannot be written: {_first(error)}; they take space in {storage.folder()} "
            "(MIGRATE_MGPU_TRACES) and in the temporary folder (TMPDIR)"
        ) from error


def failed(pair: Pair, reason: str) -> dict[str, Any]:
    """The result of a pair that could not be compared at all, for reports on several."""
    return {**_about(pair, _repeat(pair)), "comparison": None, "results": [], "failure": reason}


def _about(pair: Pair, command: str) -> dict[str, Any]:
    return {
        "format": storage.FORMAT,
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        **({"name": pair.name} if pair.name else {}),
        "before": str(pair.before),
        "after": str(pair.after or pair.before),
        "migrated": pair.after is None,
        "command": command,
    }


def _same_text(program: Path) -> str:
    """That a program is compared with itself, and how with what it was before it was migrated."""
    old = Path("..", "before", program.name if program.is_absolute() else program)
    return (
        f"there is nothing to migrate in {program}: both sides run the same text; if it was "
        "migrated in place, compare it with what it was (git worktree add ../before HEAD; "
        f"migrate-mgpu parity {old} {program})"
    )


_MUCH_BYTES, _MUCH_FILES = 500 * 10**6, 20_000


def _say_size(folder: Path, progress: TextIO | None) -> None:
    """That much is copied, before it is."""
    if progress is None:
        return
    files, size = copied(folder)
    if size > _MUCH_BYTES or files > _MUCH_FILES:
        text = f"copying {files} files ({runtimes.shown_size(size)}) of {folder} for each run"
        print(f"{text}; --root FOLDER chooses another folder", file=progress, flush=True)


def programs(
    pair: Pair, work: Path, migrate: Migrate | None
) -> tuple[Path, Path, tuple[Path, ...], Migration | None]:
    """The old and the new program, the folders that are copied with them, and what migrated it."""
    roots = [pair.root.resolve()] if pair.root else []
    before, after, migration = pair.before, pair.after, None
    if after is None:
        if migrate is None:
            raise NotCompared("give the old and the new program")
        root = pair.whole
        copy = work / "new" / root.name
        copy_folder(root, copy)
        place = before.resolve().relative_to(root)
        try:
            migration = migrate(place, copy)
        except NotMigrated as error:
            raise NotCompared(f"{before}: not migrated: {error}") from error
        after = copy / place
        roots.append(copy)
        if migration is not None and migration.reference:
            old = work / "old" / root.name
            copy_folder(root, old)
            for path, (data, _) in migration.reference.items():
                (old / path).write_bytes(data)
            before = old / place
            roots.append(old)
        if after.suffix == NOTEBOOK:
            after = _script(after)
    elif after.suffix == NOTEBOOK:
        after = _script(after, work / "new", roots)
    if before.suffix == NOTEBOOK:
        inside = work in before.parents
        before = _script(before) if inside else _script(before, work / "old", roots)
    return before, after, tuple(roots), migration


def as_tf1_code(pair: Pair, copy: Path, migrate: Migrate) -> Path | None:
    """The old program as TF1 code that the target's TensorFlow runs, in a copy of its folder; None
    where it has no such form."""
    place = pair.before.resolve().relative_to(pair.whole)
    copy_folder(pair.whole, copy)
    try:
        migration = migrate(place, copy, native_sessions=False)
    except NotMigrated:
        return None
    if migration is None or migration.native:
        return None
    program = copy / place
    return _script(program) if program.suffix == NOTEBOOK else program


NOTEBOOK = ".ipynb"


def _script(notebook: Path, work: Path | None = None, roots: list[Path] | None = None) -> Path:
    """A notebook's code cells as a script in its place, in a copy of its folder."""
    from migrate_mgpu.source.notebook import decode
    from migrate_mgpu.source.source import SourceError

    if work is not None and roots is not None:
        inside = next((root for root in roots if root in notebook.resolve().parents), None)
        root = inside or home(notebook)
        copy = work / root.name
        copy_folder(root, copy)
        roots.append(copy)
        notebook = copy / notebook.resolve().relative_to(root)
    try:
        text = decode(notebook, notebook.read_bytes()).script
    except SourceError as error:
        raise NotCompared(f"{notebook.name}: {error}") from error
    notebook.write_text(text, encoding="utf-8")
    return notebook


def added(pair: Pair, migration: Migration, progress: TextIO | None) -> list[str]:
    """The packages that the migrated program needs, and that were not asked for."""
    if pair.target and pair.target not in runtimes.known():
        return []  # an interpreter of the user's, or one that has what it was named for
    asked = {re.split(r"[^\w.-]", one)[0] for one in pair.more("")}
    needed = [*migration.packages]
    if migration.legacy_keras and pair.target == runtimes.NEWEST:
        needed.append(runtimes.LEGACY_KERAS)
    added = [one for one in needed if one.partition("==")[0] not in asked]
    if added and progress is not None:
        text = f"the migrated program needs {', '.join(added)}: added to its runtime"
        print(text, file=progress, flush=True)
    return added


def with_keras(target: Runtime, migration: Migration | None) -> Runtime:
    """The runtime of a new program, with the variable that chooses Keras 2 where it needs that, or
    where the user has set it."""
    chosen = os.environ.get(runtimes.TAKES_LEGACY_KERAS)
    if migration is not None and migration.legacy_keras and runtimes.has_keras_3(target):
        chosen = "1"
    if chosen is None:
        return target
    return replace(target, environment={runtimes.TAKES_LEGACY_KERAS: chosen})


def wanted(
    pair: Pair,
    only_recorded: bool,
    make: bool = False,
    progress: TextIO | None = None,
    packages: Sequence[str] = (),
) -> tuple[str | None, str]:
    """The runtimes of both programs, the old one's as ``_reference`` has it.

    ``packages`` are what only the new one needs.
    """
    old = None if only_recorded else _reference(pair, make, progress)
    more = [*pair.more(""), *packages]
    target = pair.target or (runtimes.for_target() if not more else runtimes.LAST_KERAS_2)
    return old, runtimes.extended(target, [*pair.more(target), *packages])


def _reference(pair: Pair, make: bool, progress: TextIO | None) -> str | None:
    """The runtime of the old program; None when its recorded trace must stand in."""
    kept = recorded.folder(pair.before, 1).parent.is_dir()
    name = pair.reference or (runtimes.TF1 if kept else _best_reference(pair))
    name = runtimes.extended(name, pair.more(name))
    if not kept:
        return name
    with contextlib.suppress(runtimes.RuntimeUnavailable):
        if make and pair.reference:
            runtimes.ensure(name, progress)
        if runtimes.find(name) is not None:
            return name
    return None


def _best_reference(pair: Pair) -> str:
    if pair.before.suffix == NOTEBOOK:
        return runtimes.for_reference(b"compat.v1" in pair.before.read_bytes())
    path = search_path(pair.before, pair.whole)
    says = written_for.says_compat_v1(pair.before, pair.whole, *path)
    if says and written_for.names_later_ones(pair.before, pair.whole, *path):
        return runtimes.LAST_KERAS_2
    best = runtimes.for_reference(says)
    return runtimes.LAST_KERAS_2 if best == runtimes.CURRENT and pair.more(best) else best


def _present(names: Iterable[str | None]) -> None:
    gone = runtimes.missing(name for name in names if name is not None)
    if gone is not None:
        raise Missing(gone)


def _repeat(pair: Pair, reference: Runtime | None = None, target: Runtime | None = None) -> str:
    """The command that compares this pair in this way."""
    options, allowed = pair.options, pair.tolerances
    words = ["migrate-mgpu", "parity"]
    words += ["-m", options.module] if options.module else [str(pair.before)]
    words += [str(pair.after)] if pair.after else []
    for package in pair.packages:
        words += ["--with", package]
    words += ["-r", str(pair.requirements)] if pair.requirements else []
    words += ["--devices", ",".join(map(str, pair.devices))]
    words += ["--workers", str(options.workers)] if options.workers > 1 else []
    words += ["--root", str(pair.root)] if pair.root else []
    words += ["--steps", str(options.steps)] if options.steps else []
    for side, runtime in (("--reference", reference), ("--target", target)):
        if runtime is not None:
            more = pair.packages or pair.requirements
            words += [side, runtime.name.partition("+")[0] if more else runtime.name]
    words += ["--run-on", options.run_on] if options.run_on != "auto" else []
    words += ["--dropout", options.dropout] if options.dropout != "mask" else []
    words += [] if allowed.rtol is None else ["--rtol", f"{allowed.rtol:g}"]
    words += [f"--rtol={name}={value:g}" for name, value in allowed.named_rtol.items()]
    words += ["--atol", f"{allowed.atol:g}"] if allowed.atol else []
    words += [f"--atol={name}={value:g}" for name, value in allowed.named_atol.items()]
    words += ["--", *options.argv] if options.argv else []
    return shlex.join(words)


def _first(error: OSError) -> object:
    """What an error says, or the first of many that copying a folder met."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        errors = error.args[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return f"{errors[0][-1]}{more}"
    return error
