"""The command line: arguments in, exit status out. Everything heavy is imported late."""

from __future__ import annotations

import gc
import os
import sys

# What `typing` offers costs a third of a run over a file without TF1 code.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import BinaryIO, TextIO

    Contents = list[tuple[str, bytes]]

    from migrate_mgpu.core.findings import ProgramResult, RunResult
    from migrate_mgpu.core.options import Options
    from migrate_mgpu.output.baseline import Baseline
    from migrate_mgpu.output.progress import Progress
    from migrate_mgpu.output.report import Report
    from migrate_mgpu.parity.pair import Migration
    from migrate_mgpu.run.files import Unread

# A file without any of these words has nothing that the prefilter could hit; looking
# for words costs no import.
WORDS = (
    b"ConfigProto",
    b"GPUOptions",
    b"Session",
    b"Supervisor",
    b"learning.train",
    b"session_config",
    b"enable_eager_execution",
    b"stimator",
    b"DNNClassifier",
    b"DNNRegressor",
    b"LinearClassifier",
    b"LinearRegressor",
    b"multi_gpu_model",
    b"tensorpack",
    b"tflearn",
    b"contrib.distribute",
    b"contrib import distribute",
    b"gpu:",
    b"GPU:",
)
# In a file without any of the words above: graph code of TF1 that has no session of its own.
GRAPH_WORDS = (
    b".placeholder(",
    b".get_variable(",
    b".variable_scope(",
    b".make_one_shot_iterator(",
    b".make_initializable_iterator(",
    b".test_session(",
    b"tf.layers.",
    b"tf.contrib.",
)
_SUBCOMMANDS = (
    "parity",
    "checkpoint",
    "runtimes",
    "rules",
    "explain",
)  # those of core.options.SUBCOMMANDS


def main_command() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        # A file's name or text that the terminal's encoding lacks is no reason to stop.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if "_ARGCOMPLETE" in os.environ:
        from migrate_mgpu.completion import complete

        complete()
    once = sys.argv[1:2] not in ([name] for name in _SUBCOMMANDS)
    if once:
        gc.disable()  # the syntax trees of a run are needed to its end
    try:
        status = main(sys.argv[1:], sys.stdout, sys.stderr)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; each file is either unchanged or completely migrated\n")
        status = 130
    if once:
        gc.freeze()  # at its exit Python would look through them all, a fifth of a run
    sys.exit(status)


def main(argv: Sequence[str], stdout: TextIO, stderr: TextIO, stdin: BinaryIO | None = None) -> int:
    """Runs the tool and returns its exit status; prints to the given streams only."""
    if argv and argv[0] in _SUBCOMMANDS:
        return _subcommand(argv[0], argv[1:], stdout, stderr)
    from migrate_mgpu import settings
    from migrate_mgpu.core.options import USAGE, Answered, UsageError

    try:
        options = settings.parse(argv, stdout)
        return _migrate(options, stdout, stderr, stdin)
    except Answered:
        return 0
    except UsageError as error:
        stderr.write(f"{error}\n")
        return USAGE


def _subcommand(name: str, argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    if name == "runtimes":
        from migrate_mgpu import runtimes_command

        return runtimes_command.command(argv, stdout, stderr)
    if name == "checkpoint":
        from migrate_mgpu.parity import conversion_command

        return conversion_command.command(argv, stdout, stderr)
    if name == "parity":
        from migrate_mgpu.parity import command

        return command.command(argv, stdout, stderr, migrate_copy, programs_of)
    from migrate_mgpu.output import catalogue

    return (catalogue.rules if name == "rules" else catalogue.explain)(argv, stdout, stderr)


def migrate_copy(program: Path, copy: Path, native_sessions: bool = True) -> Migration:
    """Migrates a copy of a program's folder in place. ``program`` is its path in that folder.

    Raises:
        NotMigrated: why it could not be done.
    """
    from migrate_mgpu.core.records import replaced
    from migrate_mgpu.core.states import NATIVE, REFUSED
    from migrate_mgpu.output import diff
    from migrate_mgpu.parity.pair import Migration, NotMigrated
    from migrate_mgpu.run import files
    from migrate_mgpu.run import migrate as run
    from migrate_mgpu.run.reference import reference_files

    def shown(path: Path) -> Path:
        return path.relative_to(copy) if copy in path.parents else path

    paths, _ = files.discover([str(copy)])
    contents = [(path, files.read(path)) for path in paths]
    result = run.migrate(contents, bridge=True, write=True, native_sessions=native_sessions)
    entry = copy / program
    own = {entry}
    native = legacy_keras = False
    for file in result.files:
        if file.path == entry and file.error:
            raise NotMigrated(file.error)
    for state in result.programs:
        if state.entry == entry:
            own.update(state.paths)
            native, legacy_keras = state.state == NATIVE, state.legacy_keras
            if state.state == REFUSED:
                reasons = "; ".join(
                    f"{shown(one.path)}:{one.line}: {one.message}" for one in state.reasons
                )
                raise NotMigrated(reasons or REFUSED)
    changed = [replaced(one, path=shown(one.path)) for one in result.files if one.path in own]
    findings = [
        {
            "path": str(file.path),
            "cell": one.cell,
            "line": one.line,
            "code": one.code,
            "state": one.state,
            "message": one.message,
            "advice": one.advice or None,
            "affects": one.affects or None,
        }
        for file in changed
        for one in file.findings
    ]
    packages = sorted({name for path, name in result.packages if path in own})
    return Migration(
        "".join(map(diff.of, changed)),
        findings,
        packages,
        native,
        legacy_keras,
        {shown(path): one for path, one in reference_files(contents, result).items()},
    )


def programs_of(folder: Path) -> list[Path]:
    """The entry points of a folder's TF1 programs."""
    from migrate_mgpu.run import files
    from migrate_mgpu.run import migrate as run

    paths, _ = files.discover([str(folder)])
    result = run.migrate([(path, files.read(path)) for path in paths], bridge=True, write=False)
    return [program.entry for program in result.programs]


def _migrate(options: Options, stdout: TextIO, stderr: TextIO, stdin: BinaryIO | None) -> int:
    from migrate_mgpu.core.options import CHANGED, FAILED, LEFT

    baseline = _baseline(options)
    with _progress(stderr) as progress:
        contents, unread = _read(options, stdin, progress)
        hit = any(word in data for _, data in contents for word in WORDS)
        result = _plan_and_write(options, contents, progress) if hit else None
    graph_code = [] if hit else _graph_code(contents)
    if result is None and options.plain and not unread and not graph_code:
        stream = stderr if options.diff else stdout
        stream.write(_nothing(options, len(contents)))  # and nothing imported for it
        return 0
    report = _report(options, result, contents, unread)
    if graph_code:
        from pathlib import Path

        report.result.unused += map(Path, graph_code)
    status = FAILED if report.failed else 0
    if baseline is not None:
        try:
            baseline.use(report)
        except OSError as error:
            stderr.write(f"{options.baseline}: cannot be written: {error.strerror or error}\n")
            status |= FAILED
    if options.stdin and not options.check and not options.diff:
        _write_result(report.result, contents[0], stdout)
    _print(options, report, stdout, stderr)
    status |= CHANGED if report.changed else 0
    status |= LEFT if options.strict and report.left_by_hand else 0
    return status


def _nothing(options: Options, files: int) -> str:
    """The last line of a run without any TF1 code."""
    if not files:
        return f"no Python files found under {', '.join(options.paths)}\n"
    return f"nothing to migrate: no TF1 multi-GPU code in {files} file{'s' * (files > 1)}\n"


def _graph_code(contents: Contents) -> list[str]:
    """The files with graph code of TF1, in a run without a session, an Estimator and the like."""
    return [
        path
        for path, data in contents
        if b"tensorflow" in data and any(word in data for word in GRAPH_WORDS)
    ]


def _baseline(options: Options) -> Baseline | None:
    """The accepted findings; read before anything is done, so that a wrong file stops the run."""
    if options.baseline is None:
        return None
    from migrate_mgpu.output.baseline import Baseline

    return Baseline(options.baseline, options.write_baseline)


def _read(
    options: Options, stdin: BinaryIO | None, progress: Progress | _Silent
) -> tuple[Contents, list[Unread]]:
    """The bytes of every file of the run, and what could not be read."""
    from migrate_mgpu.run import files

    if options.stdin:
        return [(options.stdin_filename, (stdin or sys.stdin.buffer).read())], []
    paths, unread = files.discover(options.paths, options.exclude, options.exclude_root)
    contents: Contents = []
    progress.total = len(paths)
    for progress.done, path in enumerate(paths):
        try:
            contents.append((path, files.read(path)))
        except files.Unread as failure:
            unread.append(failure)
    return contents, unread


def _plan_and_write(
    options: Options, contents: Contents, progress: Progress | _Silent
) -> RunResult:
    from migrate_mgpu.core.selection import Selection
    from migrate_mgpu.run.migrate import migrate
    from migrate_mgpu.run.processes import processors

    # Files are planned together: there is nothing to count.
    progress.doing, progress.total = f"migrating ({len(contents)} files read)", None
    # Standard input has no folder for the file that a program with MNIST would need.
    ignored = (*options.ignore, "MGPU211") if options.stdin else options.ignore
    rules = Selection(options.select, ignored)
    processes = options.jobs or processors()
    return migrate(
        contents, options.bridge, options.writes, rules, options.native_sessions, processes
    )


def _report(
    options: Options, result: RunResult | None, contents: Contents, unread: list[Unread]
) -> Report:
    """The run's result with what the engine does not see."""

    from migrate_mgpu.core import findings
    from migrate_mgpu.output import requirements
    from migrate_mgpu.output.report import Report, failure

    if result is None:
        sites = {findings.APPLIED: 0, findings.KEPT: 0, findings.REFUSED: 0}
        result = findings.RunResult([], [], sites, len(contents))
    _sort(result.programs, contents)
    result.files += [failure(u.path, f"cannot be read: {u.reason}") for u in unread]
    requirements.add(result, [options.stdin_filename] if options.stdin else options.paths)
    if result.packages and not options.stdin:
        from migrate_mgpu.run import new_requirements

        new_requirements.add(result, options.paths, options.writes)
    _drop_ignored(options, result)
    return Report(result, options.writes, options.statistics, options.quiet, options.color)


def _sort(programs: list[ProgramResult], contents: Contents) -> None:
    """Puts programs into the order of the run's files."""
    from pathlib import Path

    names = {program.entry.name for program in programs}  # few, and a Path is dear
    place = {
        Path(path): number
        for number, (path, _) in enumerate(contents)
        if os.path.basename(path) in names
    }
    programs.sort(key=lambda program: place[program.entry])


def _drop_ignored(options: Options, result: RunResult) -> None:
    """Leaves out findings whose code the user ignores; rewriters were told before the run."""
    if not options.ignore:
        return
    from migrate_mgpu.core.selection import Selection
    from migrate_mgpu.output.catalogue import BY_HAND

    selection = Selection(ignore=options.ignore)
    silent = {entry.code for entry in BY_HAND if not selection.enabled(entry.code, entry.name)}
    for file in result.files:
        file.findings[:] = [finding for finding in file.findings if finding.code not in silent]


def _write_result(result: RunResult, source: tuple[str, bytes], stdout: TextIO) -> None:
    """What standard input became, byte for byte; what could not be processed comes back as is."""
    from pathlib import Path

    from migrate_mgpu.source.source import decode

    path, data = Path(source[0]), source[1]
    for file in result.files:
        if file.path == path and file.changed and file.after is not None:
            data = decode(path, data).encode(file.after)
    if hasattr(stdout, "buffer"):
        stdout.flush()
        stdout.buffer.write(data)
        stdout.buffer.flush()
    else:
        stdout.write(data.decode("utf-8", "surrogateescape"))


def _print(options: Options, report: Report, stdout: TextIO, stderr: TextIO) -> None:
    """The findings, on standard error where standard output has a diff or a result."""
    if options.diff:
        from migrate_mgpu.core import colors
        from migrate_mgpu.output import diff

        paint = colors.painter(stdout, options.color)
        for file in report.result.files:
            stdout.write(diff.of(file, paint))
    stream = stderr if options.diff or options.stdin else stdout
    if options.output_format == "text":
        from migrate_mgpu.output import text

        text.write(report, stream, stderr)
    elif options.output_format == "json":
        from migrate_mgpu.output import json_report

        stream.write(json_report.render(report))
    elif options.output_format == "sarif":
        from migrate_mgpu.output import sarif

        stream.write(sarif.render(report))
    else:
        from migrate_mgpu.output import github

        stream.write(github.render(report))


class _Silent:
    """Where no progress bar can be seen."""

    doing = ""
    done = 0
    total: int | None = None

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _progress(stream: TextIO) -> Progress | _Silent:
    if not stream.isatty():
        return _Silent()
    from migrate_mgpu.output.progress import Progress

    return Progress(stream)
