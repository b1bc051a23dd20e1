"""``migrate-mgpu parity``: run two versions of a program and compare what they do."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from migrate_mgpu import INSTALL
from migrate_mgpu.core.options import COLORS, meant
from migrate_mgpu.core.parser import Parser
from migrate_mgpu.parity.reports import output
from migrate_mgpu.runtimes import add_packages, split

if TYPE_CHECKING:
    from migrate_mgpu.parity.pair import Migrate, Pair

EQUAL, NOT_EQUIVALENT, USAGE, NOT_COMPARED = 0, 1, 2, 8
INTERRUPTED = 130  # as shells have it
Programs = Callable[[Path], Sequence[Path]]


class _Usage(Exception):
    pass


def command(
    argv: Sequence[str],
    stdout: TextIO,
    stderr: TextIO,
    migrate: Migrate | None = None,
    programs: Programs | None = None,
) -> int:
    """Run the subcommand.

    Args:
      migrate: as ``parity.pair.Migrate``.
      programs: ``programs(folder)`` are the TF1 programs of a folder, for ``--all``.

    Returns:
      Exit bits: 0 equal, 1 not equivalent, 2 usage, 8 could not be compared.
    """
    arguments = list(argv)
    try:
        # argparse writes to the process's own streams: they are these, or a test's.
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            if arguments[:1] == ["show"]:
                return _show(arguments[1:], stdout, stderr)
            if arguments[:1] == ["compare"]:
                return _compare(arguments[1:], stdout, stderr)
            if arguments[:1] == ["remove"]:
                return _remove(arguments[1:], stdout)
            with _terminable():
                return _run(arguments, stdout, stderr, migrate, programs)
    except SystemExit as exit_:
        return USAGE if exit_.code else EQUAL
    except KeyboardInterrupt:
        print("interrupted: both programs are ended, their copies are deleted", file=stderr)
        return INTERRUPTED
    except _Usage as error:
        print(error, file=stderr)
        return USAGE


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Being terminated is like Ctrl-C here: what was started is ended, copies are deleted."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Raising(argparse.ArgumentParser):
    """For options that come from a file: an error has no usage to print."""

    def error(self, message: str) -> NoReturn:
        raise _Usage(message)


_EPILOG = """\
examples:
  migrate-mgpu parity train.py -- --epochs 1       migrate a copy, run both, compare them
  migrate-mgpu parity old.py new.py --devices 1,2  compare two programs
  migrate-mgpu parity train.py --report page.html  with a page that shows the curves
  migrate-mgpu parity show [N]                     show an earlier comparison, or list them
  migrate-mgpu parity compare A B                  compare the new programs of two comparisons
  migrate-mgpu parity --saved-model OLD NEW --inputs data.npz     compare two exported models
  migrate-mgpu parity remove N ... | --all         delete earlier comparisons

exit status, added up: 0 equivalent, 1 not equivalent, 2 wrong usage, 8 could not be compared"""


def parser(
    kind: type[argparse.ArgumentParser] = Parser,
) -> argparse.ArgumentParser:
    """The parser of ``migrate-mgpu parity``."""
    parser = kind(
        prog="migrate-mgpu parity",
        description="Run the old and the new version of a program, each in its own runtime, and "
        "compare device configuration, losses, gradients, weights and printed results.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "programs", nargs="*", type=Path, metavar="PROGRAM", help="a script or notebook, or two"
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module, as `python -m MODULE` does"
    )
    add_packages(parser)
    parser.add_argument(
        "--all", type=Path, metavar="FOLDER", help="compare every pair or program of a folder"
    )
    parser.add_argument(
        "--saved-model",
        nargs=2,
        type=Path,
        metavar=("OLD", "NEW"),
        help="compare two SavedModels: signatures, and their answers to --inputs; each is loaded "
        "by the runtime of the TensorFlow that wrote it, or by --reference and --target",
    )
    parser.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE.npz",
        help="of --saved-model: arrays by the names of inputs (x, or SIGNATURE/x for one alone)",
    )
    parser.add_argument(
        "--signature",
        action="append",
        default=[],
        metavar="NAME",
        help="of --saved-model: the one to compare (may be repeated; without it all)",
    )
    parser.add_argument(
        "--devices",
        metavar="N,N",
        help="numbers of GPUs, by commas (1,2; 1 for programs that say nothing of devices, and "
        "without those that are too few)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="run the new program as so many processes, each with its devices, which train "
        "together (TF_CONFIG), against one process with the devices of all",
    )
    parser.add_argument("--steps", type=int, help="stop both programs after so many steps")
    parser.add_argument("--reference", help="runtime of the old program (tf1.15)")
    parser.add_argument("--target", help="of the new one (tf2.15)")
    parser.add_argument(
        "--timeout",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="for each run of a program (600); where the sides differ, the old one runs up to "
        "three times more",
    )
    parser.add_argument("--memory", type=float, metavar="MIB", help="memory that each may use")
    parser.add_argument(
        "--dropout",
        choices=("mask", "off", "keep"),
        default="mask",
        help="the same fixed mask on both sides (the default), switched off, or as it is",
    )
    parser.add_argument(
        "--root",
        type=Path,
        metavar="FOLDER",
        help="the folder that is copied, and in which the programs start (each program's own, or "
        "the one above its package; with -m this one)",
    )
    parser.add_argument(
        "--run-on",
        choices=("auto", "cpu", "gpu"),
        default="auto",
        help="what does the work of the GPUs: real ones where both sides can use them (auto)",
    )
    parser.add_argument("--record", action="store_true", help="keep the old program's trace by it")
    _tolerance_options(parser)
    _output_options(parser)
    return parser


def _output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument(
        "--color", choices=COLORS, default="auto", help="colours: on a terminal (auto)"
    )
    output.add_options(parser)


def _tolerance_options(parser: argparse.ArgumentParser) -> None:
    for name, text in (("rtol", "relative"), ("atol", "absolute")):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="[NAME=]VALUE",
            help=f"{text} tolerance, of all outputs or of those whose name matches",
        )


def _split(values: Sequence[str]) -> tuple[float | None, dict[str, float]]:
    common: float | None = None
    named: dict[str, float] = {}
    for text in values:
        name, equals, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise _Usage(f"{text}: not a number") from None
        if not 0 <= number < float("inf"):
            raise _Usage(f"{text}: a tolerance is zero or more, and finite")
        if equals:
            named[name] = number
        else:
            common = number
    return common, named


def _tolerances(options: argparse.Namespace) -> Any:
    from migrate_mgpu.parity.compare.tolerances import Tolerances

    rtol, named_rtol = _split(options.rtol)
    atol, named_atol = _split(options.atol)
    return Tolerances(rtol, atol or 0.0, named_rtol, named_atol)


def _run(
    arguments: list[str],
    stdout: TextIO,
    stderr: TextIO,
    migrate: Migrate | None,
    programs: Programs | None,
) -> int:
    own, program_argv = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, program_argv = arguments[:at], arguments[at + 1 :]
    options = parser().parse_args(own)
    if options.saved_model is not None:
        return _saved_models(options, program_argv, stdout, stderr)
    if options.inputs is not None or options.signature:
        raise _Usage("--inputs and --signature are for --saved-model OLD NEW")
    if options.all is not None:
        return _all(options, own, program_argv, stdout, stderr, migrate, programs)
    if options.module is not None:
        if options.programs:
            raise _Usage("-m MODULE stands alone: a copy of the module is migrated")
        options.root = options.root or Path()
        options.programs = [_module_file(options.module, options.root)]
    if not options.programs or len(options.programs) > 2:
        raise _Usage("give one program, or the old and the new one")
    if len(options.programs) == 1 and migrate is None:
        raise _Usage("give the old and the new program")
    wanted = _pair(options, options.programs, program_argv)
    _check_outputs(options)
    if not _numpy(stderr):
        return NOT_COMPARED
    from migrate_mgpu.parity import pair

    try:
        result = pair.compare(wanted, migrate, options.record, progress=stderr)
    except pair.NotCompared as error:
        print(error, file=stderr)
        return NOT_COMPARED
    return _finish(result, options, stdout, stderr)


# What a comparison of two exported models has no use for: it runs no program.
_OF_PROGRAMS = ("programs", "module", "packages", "requirements", "all", "devices", "workers",
                "steps", "dropout", "root", "run_on", "record", "report", "junit",
                "tensorboard")  # fmt: skip


def _saved_models(
    options: argparse.Namespace, program_argv: Sequence[str], stdout: TextIO, stderr: TextIO
) -> int:
    plain = parser().parse_args([])
    for name in _OF_PROGRAMS:
        if getattr(options, name) != getattr(plain, name):
            option = "a program" if name == "programs" else f"--{name.replace('_', '-')}"
            option = {"--module": "-m", "--packages": "--with"}.get(option, option)
            raise _Usage(f"--saved-model runs no program: leave out {option}")
    if program_argv:
        raise _Usage("--saved-model runs no program: there is nothing that takes arguments")
    if options.inputs is None:
        raise _Usage("--saved-model OLD NEW needs --inputs FILE.npz")
    if not _numpy(stderr):
        return NOT_COMPARED
    from migrate_mgpu import runtimes
    from migrate_mgpu.parity import saved_model
    from migrate_mgpu.parity.reports import saved_model as report
    from migrate_mgpu.parity.runs.supervise import Limits

    old, new = options.saved_model
    request = saved_model.Request(
        old,
        new,
        options.inputs,
        options.signature,
        _tolerances(options),
        options.reference,
        options.target,
        Limits(seconds=options.timeout, memory_mib=options.memory),
    )
    try:
        result = saved_model.compare(request, stderr)
    except saved_model.NoSavedModel as error:
        raise _Usage(str(error)) from None
    except runtimes.RuntimeUnavailable as error:
        print(error, file=stderr)
        return NOT_COMPARED
    if options.json:
        stdout.write(json.dumps(result, indent=1) + "\n")
    else:
        report.write(result, stdout, options.color)
    return _status([{"results": [result]}])


def _all(
    options: argparse.Namespace,
    own: list[str],
    program_argv: list[str],
    stdout: TextIO,
    stderr: TextIO,
    migrate: Migrate | None,
    programs: Programs | None,
) -> int:
    """Every pair of a folder; what its ``parity.toml`` says, the command line overrides."""
    from dataclasses import replace

    from migrate_mgpu.parity import pair, suite
    from migrate_mgpu.parity.reports import words

    def build(found: suite.Found) -> pair.Pair:
        paths = [found.before] if found.after is None else [found.before, found.after]
        try:
            chosen = parser(_Raising).parse_args([*found.options, *own])
            made = _pair(chosen, paths, program_argv or list(found.argv))
        except _Usage as error:
            raise pair.NotCompared(f"{suite.SETTINGS}: {error}") from error
        return replace(made, name=found.name)

    if options.programs:
        raise _Usage("--all FOLDER takes no programs")
    if not options.all.is_dir():
        raise _Usage(f"--all {options.all}: no such folder")
    _checked(options)
    _check_outputs(options)
    if not _numpy(stderr):
        return NOT_COMPARED
    found = suite.find(options.all, programs)
    if not found:
        raise _Usage(f"--all {options.all}: neither pairs nor programs to migrate in it")
    live = None if options.json else stdout
    results = suite.compare(found, build, migrate, options.record, live, stderr)
    if options.json:
        everything = {"format": 1, "folder": str(options.all), "pairs": results}
        stdout.write(json.dumps(everything, indent=1) + "\n")
    else:
        print(words.summary(results), file=stdout)
    written = output.write(options, results, stderr)
    return _status(results) | (0 if written else NOT_COMPARED)


def _checked(options: argparse.Namespace) -> tuple[int, ...]:
    """The numbers of devices, when all options are in order."""
    if options.workers < 1:
        raise _Usage("--workers: at least one")
    if options.workers > 1 and options.record:
        raise _Usage("--record keeps the trace of one process: leave --workers out")
    given = options.devices or ("1,2" if options.workers == 1 else "1")
    try:
        devices = tuple(int(text) for text in given.split(","))
    except ValueError:
        raise _Usage(f"--devices {options.devices}: numbers, separated by commas") from None
    if not devices or min(devices) < 1:
        raise _Usage(f"--devices {options.devices}: at least one device")
    if options.steps is not None and options.steps < 1:
        raise _Usage("--steps: at least one")
    _tolerances(options)
    return devices


def _pair(options: argparse.Namespace, paths: Sequence[Path], argv: Sequence[str]) -> Pair:
    """What to compare, as ``parity.pair`` has it."""
    for program in paths:
        if not program.is_file():
            slip = "." not in program.name and meant(str(program), ("show", "compare", "remove"))
            raise _Usage(f"{program}: no such program{slip or ''}")
        if options.root is not None and options.root.resolve() not in program.resolve().parents:
            raise _Usage(f"--root {options.root}: {program} is not in it")
    devices = _checked(options)
    from migrate_mgpu.parity.pair import Pair
    from migrate_mgpu.parity.runs.programs import Options
    from migrate_mgpu.parity.runs.supervise import Limits

    chosen = Options(
        tuple(argv),
        options.steps,
        options.dropout,
        options.run_on,
        Limits(seconds=options.timeout, memory_mib=options.memory),
        module=options.module,
        workers=options.workers,
    )
    after = paths[1] if len(paths) == 2 else None
    allowed, runs = _tolerances(options), (options.reference, options.target)
    return Pair(
        paths[0],
        after,
        devices,
        options.root,
        chosen,
        allowed,
        *runs,
        packages=tuple(split(options.packages)),
        requirements=options.requirements,
        adapt=options.devices is None and options.workers == 1,
    )


def _module_file(module: str, root: Path) -> Path:
    """The file that ``python -m`` would run, found in the folder and where PYTHONPATH points."""
    from migrate_mgpu.parity.runs.programs import search_path

    place = Path(*module.split("."))
    folders = [root.resolve(), *search_path(root.resolve() / "x.py", root.resolve())]
    for folder in folders:
        for path in (folder / place.with_suffix(".py"), folder / place / "__main__.py"):
            if path.is_file():
                here = Path.cwd()
                return path.relative_to(here) if here in path.parents else path
    looked = ", ".join(map(str, dict.fromkeys(folders)))
    raise _Usage(f"-m {module}: no such module in {looked} (--root FOLDER, PYTHONPATH)")


def _numpy(stderr: TextIO) -> bool:
    if importlib.util.find_spec("numpy") is None:
        print(f"numpy is needed; {INSTALL}", file=stderr)
        return False
    return True


def _check_outputs(options: argparse.Namespace) -> None:
    """Before programs run for minutes."""
    wrong = output.missing(options)
    if wrong is not None:
        raise _Usage(wrong)


def _finish(
    result: dict[str, Any], options: argparse.Namespace, stdout: TextIO, stderr: TextIO
) -> int:
    from migrate_mgpu.parity.reports import terminal

    if options.json:
        stdout.write(json.dumps(result, indent=1) + "\n")
    else:
        terminal.write(result, stdout, options.color)
    written = output.write(options, [result], stderr)
    return _status([result]) | (0 if written else NOT_COMPARED)


def _status(results: Sequence[dict[str, Any]]) -> int:
    status = EQUAL
    for result in results:
        verdicts = {one["verdict"] for one in result["results"]}
        if "not equivalent" in verdicts:
            status |= NOT_EQUIVALENT
        if verdicts & {"not compared", "not comparable"} or not verdicts:
            status |= NOT_COMPARED
    return status


def _show(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    from migrate_mgpu.parity import storage
    from migrate_mgpu.parity.reports import terminal

    parser = Parser(prog="migrate-mgpu parity show")
    parser.add_argument("number", nargs="?", help="of the comparison; without it, all are listed")
    _output_options(parser)
    options = parser.parse_args(arguments)
    _check_outputs(options)
    try:
        if options.number is None:
            terminal.write_list(storage.folder(), stdout)
            return EQUAL
        return _finish(storage.read(storage.find(options.number)), options, stdout, stderr)
    except storage.NoSuchComparison as error:
        raise _Usage(str(error)) from None


def _remove(arguments: Sequence[str], stdout: TextIO) -> int:
    from migrate_mgpu.parity import storage
    from migrate_mgpu.runtimes import shown_size

    parser = Parser(prog="migrate-mgpu parity remove", description="Delete earlier comparisons.")
    parser.add_argument("numbers", nargs="*", type=int, metavar="N", help="of a comparison")
    parser.add_argument("--all", action="store_true", help="all comparisons")
    options = parser.parse_args(arguments)
    if not options.numbers and not options.all:
        raise _Usage("give the numbers of comparisons (`migrate-mgpu parity show` lists them)")
    there = storage.sizes()
    gone = [number for number in options.numbers if number not in there]
    if gone:
        raise _Usage(f"no comparison {', '.join(map(str, gone))} in {storage.folder()}")
    chosen = list(there) if options.all else list(dict.fromkeys(options.numbers))
    for number in chosen:
        storage.remove(number)
    freed = shown_size(sum(there[number] for number in chosen))
    print(f"{len(chosen)} comparison{'s' * (len(chosen) != 1)} deleted ({freed})", file=stdout)
    return EQUAL


def _compare(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Compare two comparisons' runs of the new program (``--side reference``: of the old)."""
    from migrate_mgpu.parity import storage, verdict
    from migrate_mgpu.parity.runs import sides

    parser = Parser(prog="migrate-mgpu parity compare")
    parser.add_argument("comparisons", nargs=2, metavar="N")
    parser.add_argument("--side", choices=("reference", "target"), default="target")
    _tolerance_options(parser)
    _output_options(parser)
    options = parser.parse_args(arguments)
    _check_outputs(options)
    tolerances = _tolerances(options)
    try:
        places = [storage.find(number) for number in options.comparisons]
    except storage.NoSuchComparison as error:
        raise _Usage(str(error)) from None
    known = [storage.read(place) for place in places]
    devices = [[one["devices"] for one in result["results"]] for result in known]
    both = [n for n in devices[0] if n in devices[1]]
    if not both:
        raise _Usage("the two comparisons have no number of devices in common")
    judged = []
    for n in both:
        found = []
        for place, result in zip(places, known):
            about = next(one for one in result["results"] if one["devices"] == n)[options.side]
            side = sides.collect(
                place / f"devices-{n}", options.side, about["program"], about["runtime"]
            )
            side.ended = about["ended"]
            found.append(side)
        judged.append(verdict.judge(n, found[0], found[1], tolerances))
    result = {
        "format": storage.FORMAT,
        "comparison": None,
        "before": f"comparison {options.comparisons[0]}, {options.side}",
        "after": f"comparison {options.comparisons[1]}, {options.side}",
        "migrated": False,
        "command": f"migrate-mgpu parity compare {' '.join(options.comparisons)}",
        "results": [one.as_data() for one in judged],
    }
    return _finish(result, options, stdout, stderr)
