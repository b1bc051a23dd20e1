"""``migrate-mgpu runtimes list|create|remove``."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from migrate_mgpu import runtimes

OK, USAGE, FAILED = 0, 2, 8


def command(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the subcommand; returns the exit bits: 0 fine, 2 usage, 8 could not be made."""
    names = list(runtimes.known())
    parser = argparse.ArgumentParser(
        prog="migrate-mgpu runtimes",
        description="The interpreters that programs are compared in.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|create|remove")
    actions.add_parser("list", help="what there is, and what can be made")
    for action, text in (("create", "make, anew if it is there"), ("remove", "delete")):
        chosen = actions.add_parser(action, help=text)
        chosen.add_argument(
            "names", nargs="+", choices=names, metavar="NAME", help=", ".join(names)
        )
    try:
        # argparse writes to the process's own streams: they are these, or a test's.
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            options = parser.parse_args(argv)
    except SystemExit as exit_:
        return USAGE if exit_.code else OK
    if options.action == "list":
        return _list(stdout)
    result = OK
    for name in options.names:
        try:
            if options.action == "create":
                print(f"{name}: {_versions(runtimes.create(name, stderr))}", file=stdout)
            else:
                there = runtimes.remove(name)
                print(f"{name}: {'removed' if there else 'there was none'}", file=stdout)
        except runtimes.RuntimeUnavailable as error:
            print(error, file=stderr)
            result = FAILED
    return result


def _list(stdout: TextIO) -> int:
    print(runtimes.folder(), file=stdout)
    for name, recipe in runtimes.known().items():
        try:
            found = runtimes.find(name)
            state = _versions(found) if found else "not made"
        except runtimes.RuntimeUnavailable as error:
            state = f"broken: {error}"
        print(f"  {name:<16} {recipe.purpose}: {state}", file=stdout)
    here = runtimes.Runtime(runtimes.CURRENT, Path(sys.executable))
    versions = runtimes.describe(here)
    text = f"{runtimes.ability(versions)}: {_versions(here)}"
    if "tensorflow" not in versions:
        text += "; pip install 'migrate-mgpu[parity]' brings one"
    print(f"  {runtimes.CURRENT:<16} {text}", file=stdout)
    return OK


def _versions(runtime: runtimes.Runtime) -> str:
    return ", ".join(f"{name} {text}" for name, text in runtimes.describe(runtime).items())
