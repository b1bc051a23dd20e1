"""``--report``, ``--junit`` and ``--tensorboard``: what is written beside the terminal."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from migrate_mgpu import INSTALL


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, metavar="FILE", help="the result as an HTML page")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="the result as JUnit XML")
    parser.add_argument(
        "--tensorboard", type=Path, metavar="FOLDER", help="the losses as TensorBoard event files"
    )


def missing(options: argparse.Namespace) -> str | None:
    """What a report lacks; asked before programs run for minutes."""
    if options.report and importlib.util.find_spec("jinja2") is None:
        return f"--report needs jinja2; {INSTALL}"
    for name in ("report", "junit"):
        path = getattr(options, name)
        if path and path.is_dir():
            return f"--{name} {path}: a folder, not a file"
    if options.tensorboard and options.tensorboard.is_file():
        return f"--tensorboard {options.tensorboard}: a file, not a folder"
    return None


def write(
    options: argparse.Namespace, results: Sequence[Mapping[str, Any]], stderr: TextIO
) -> bool:
    """Write what was asked for; False when something could not be, which ``stderr`` names."""
    done = True
    if options.report:
        from migrate_mgpu.parity.reports import html

        done &= _written(lambda: html.write(results, options.report), stderr)
    if options.junit:
        from migrate_mgpu.parity.reports import junit

        done &= _written(lambda: junit.write(results, options.junit), stderr)
    if options.tensorboard:
        done &= _written(lambda: _tensorboard(results, options.tensorboard), stderr)
    return done


def _written(write: Any, stderr: TextIO) -> bool:
    from migrate_mgpu.parity.reports.tensorboard import NotWritten

    try:
        write()
    except OSError as error:
        print(f"{error.filename}: cannot be written: {error.strerror}", file=stderr)
        return False
    except NotWritten as error:
        print(f"TensorBoard files cannot be written: {error}", file=stderr)
        return False
    return True


def _tensorboard(results: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """With the runtime that a program ran in, or another one that is here."""
    from migrate_mgpu import runtimes
    from migrate_mgpu.parity.reports import tensorboard

    used = [one[s]["runtime"] for r in results for one in r["results"] for s in _SIDES]
    for name in dict.fromkeys([*used, *runtimes.known()]):
        with contextlib.suppress(runtimes.RuntimeUnavailable):
            found = runtimes.find(name)
            if found is not None:
                tensorboard.write(results, folder, found)
                return
    raise tensorboard.NotWritten("no runtime is here: migrate-mgpu runtimes create tf2.15")


_SIDES = ("target", "reference")
