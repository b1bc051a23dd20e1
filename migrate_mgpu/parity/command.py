"""``migrate-mgpu parity``: run two versions of a program and compare what they do."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, TextIO

if TYPE_CHECKING:
    from migrate_mgpu.parity.check import Request
    from migrate_mgpu.runtimes import Runtime

EQUAL, NOT_EQUIVALENT, USAGE, NOT_COMPARED = 0, 1, 2, 8
REFERENCES = ("tf1.15", "tf2.15")  # the first one that is there
Migrate = Callable[[Path, Path], Optional[str]]


class _Usage(Exception):
    pass


def command(
    argv: Sequence[str], stdout: TextIO, stderr: TextIO, migrate: Migrate | None = None
) -> int:
    """Run the subcommand.

    Args:
      migrate: ``migrate(program, copy)`` migrates the program's folder, copied to
        ``copy``, in place; it returns None, or why the program could not be migrated.

    Returns:
      Exit bits: 0 equal, 1 not equivalent, 2 usage, 8 could not be compared.
    """
    arguments = list(argv)
    try:
        # argparse writes to the process's own streams: they are these, or a test's.
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            if arguments[:1] == ["show"]:
                return _show(arguments[1:], stdout)
            if arguments[:1] == ["compare"]:
                return _compare(arguments[1:], stdout)
            return _run(arguments, stdout, stderr, migrate)
    except SystemExit as exit_:
        return USAGE if exit_.code else EQUAL
    except _Usage as error:
        print(error, file=stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="migrate-mgpu parity",
        description="Run the old and the new version of a program, each in its own runtime, and "
        "compare device configuration, losses, gradients, weights and printed results.",
        epilog="one program: a copy of it is migrated first. Also: parity show N, parity compare "
        "A B. Exit status: 0 equal, 1 not equivalent, 2 usage, 8 could not be compared",
    )
    parser.add_argument("programs", nargs="+", type=Path, metavar="PROGRAM", help="one or two")
    parser.add_argument("--devices", default="1,2", help="numbers of GPUs, by commas (1,2)")
    parser.add_argument("--steps", type=int, help="stop both programs after so many steps")
    parser.add_argument("--reference", help="runtime of the old program (tf1.15 if it is there)")
    parser.add_argument("--target", default="tf2.15", help="of the new one (tf2.15)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for a program (600)")
    parser.add_argument("--memory", type=float, metavar="MIB", help="memory that each may use")
    parser.add_argument(
        "--dropout",
        choices=("mask", "off", "keep"),
        default="mask",
        help="the same fixed mask on both sides (the default), switched off, or as it is",
    )
    parser.add_argument("--record", action="store_true", help="keep the old program's trace by it")
    _tolerance_options(parser)
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    return parser


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
    from migrate_mgpu.parity.tolerances import Tolerances

    rtol, named_rtol = _split(options.rtol)
    atol, named_atol = _split(options.atol)
    return Tolerances(rtol, atol or 0.0, named_rtol, named_atol)


def _run(arguments: list[str], stdout: TextIO, stderr: TextIO, migrate: Migrate | None) -> int:
    own, program_argv = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, program_argv = arguments[:at], arguments[at + 1 :]
    options = _parser().parse_args(own)
    if len(options.programs) > 2:
        raise _Usage("give one program, or the old and the new one")
    for program in options.programs:
        if not program.is_file():
            raise _Usage(f"{program}: no such program")
    try:
        devices = tuple(int(text) for text in options.devices.split(","))
    except ValueError:
        raise _Usage(f"--devices {options.devices}: numbers, separated by commas") from None
    if not devices or min(devices) < 1:
        raise _Usage(f"--devices {options.devices}: at least one device")
    if options.steps is not None and options.steps < 1:
        raise _Usage("--steps: at least one")
    tolerances = _tolerances(options)
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("numpy is needed: pip install 'migrate-mgpu[parity]'", file=stderr)
        return NOT_COMPARED
    import tempfile

    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as work:
        after = options.programs[-1]
        if len(options.programs) == 1:
            if migrate is None:
                raise _Usage("give the old and the new program")
            copy = Path(work) / after.resolve().parent.name
            from migrate_mgpu.parity.sides import copy_folder

            copy_folder(after.resolve().parent, copy)
            refused = migrate(after, copy)
            if refused is not None:
                print(f"{after}: not migrated: {refused}", file=stderr)
                return NOT_COMPARED
            after = copy / after.name
        return _check(options, after, devices, tuple(program_argv), tolerances, stdout, stderr)


def _check(
    options: argparse.Namespace,
    after: Path,
    devices: tuple[int, ...],
    program_argv: tuple[str, ...],
    tolerances: Any,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    from migrate_mgpu import runtimes
    from migrate_mgpu.parity import check, records, report
    from migrate_mgpu.parity.sides import Options
    from migrate_mgpu.parity.supervise import Limits

    before = options.programs[0]
    limits = Limits(seconds=options.timeout, memory_mib=options.memory)
    chosen = Options(program_argv, options.steps, options.dropout, limits)
    try:
        reference = _reference(options, before)
        target = runtimes.ensure(options.target)
        if options.record:
            if reference is None:
                raise check.NoRecord("recording needs the reference's runtime")
            check.record(reference, before, devices, chosen)
        request = check.Request(reference, target, before, after, devices, chosen, tolerances)
        place = records.new()
        judged = check.run(request, place)
    except (runtimes.RuntimeUnavailable, check.NoRecord) as error:
        print(error, file=stderr)
        return NOT_COMPARED
    result = {
        "format": check.FORMAT,
        "record": int(place.name),
        "before": str(before),
        "after": str(options.programs[-1]),
        "migrated": len(options.programs) == 1,
        "command": _repeat(request, options),
        "results": [one.as_data() for one in judged],
    }
    records.write(place, result)
    return _finish(result, options.json, stdout, report)


def _reference(options: argparse.Namespace, before: Path) -> Runtime | None:
    """The runtime of the old program; None when its recorded trace must stand in."""
    from migrate_mgpu import runtimes
    from migrate_mgpu.parity import check

    if options.reference:
        try:
            return runtimes.ensure(options.reference)
        except runtimes.RuntimeUnavailable:
            if check.record_folder(before, 1).parent.is_dir():
                return None
            raise
    for name in REFERENCES:
        with contextlib.suppress(runtimes.RuntimeUnavailable):
            found = runtimes.find(name)
            if found is not None:
                return found
        if check.record_folder(before, 1).parent.is_dir():
            return None
    return runtimes.ensure(REFERENCES[-1])


def _repeat(request: Request, options: argparse.Namespace) -> str:
    import shlex

    words = ["migrate-mgpu", "parity", *map(str, options.programs)]
    words += ["--devices", options.devices]
    words += ["--steps", str(options.steps)] if options.steps else []
    words += ["--reference", request.reference.name] if request.reference else []
    words += ["--target", request.target.name]
    words += ["--dropout", options.dropout] if options.dropout != "mask" else []
    for name in ("rtol", "atol"):
        for value in getattr(options, name):
            words += [f"--{name}", value]
    if request.options.argv:
        words += ["--", *request.options.argv]
    return shlex.join(words)


def _finish(result: dict[str, Any], as_json: bool, stdout: TextIO, report: Any) -> int:
    if as_json:
        stdout.write(json.dumps(result, indent=1) + "\n")
    else:
        report.write(result, stdout)
    verdicts = {one["verdict"] for one in result["results"]}
    status = EQUAL
    if "not equivalent" in verdicts:
        status |= NOT_EQUIVALENT
    if "not compared" in verdicts:
        status |= NOT_COMPARED
    return status


def _show(arguments: Sequence[str], stdout: TextIO) -> int:
    from migrate_mgpu.parity import records, report

    parser = argparse.ArgumentParser(prog="migrate-mgpu parity show")
    parser.add_argument("number", nargs="?", help="of the record; without it, all are listed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        if options.number is None:
            report.write_list(records.folder(), stdout)
            return EQUAL
        return _finish(records.read(records.find(options.number)), options.json, stdout, report)
    except records.NoSuchRecord as error:
        raise _Usage(str(error)) from None


def _compare(arguments: Sequence[str], stdout: TextIO) -> int:
    """Compare two records' runs of the new program (``--side reference``: of the old)."""
    from migrate_mgpu.parity import check, records, report, sides

    parser = argparse.ArgumentParser(prog="migrate-mgpu parity compare")
    parser.add_argument("records", nargs=2, metavar="N")
    parser.add_argument("--side", choices=("reference", "target"), default="target")
    _tolerance_options(parser)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    tolerances = _tolerances(options)
    try:
        places = [records.find(number) for number in options.records]
    except records.NoSuchRecord as error:
        raise _Usage(str(error)) from None
    known = [records.read(place) for place in places]
    devices = [[one["devices"] for one in result["results"]] for result in known]
    both = [n for n in devices[0] if n in devices[1]]
    if not both:
        raise _Usage("the two records have no number of devices in common")
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
        judged.append(check.judge(n, found[0], found[1], tolerances))
    result = {
        "format": check.FORMAT,
        "record": None,
        "before": f"record {options.records[0]}, {options.side}",
        "after": f"record {options.records[1]}, {options.side}",
        "migrated": False,
        "command": f"migrate-mgpu parity compare {' '.join(options.records)}",
        "results": [one.as_data() for one in judged],
    }
    return _finish(result, options.json, stdout, report)
