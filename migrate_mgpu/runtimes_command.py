"""``migrate-mgpu runtimes list|create|remove``."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from migrate_mgpu import INSTALL_TENSORFLOW, runtimes
from migrate_mgpu.core.options import meant
from migrate_mgpu.core.parser import Parser

OK, USAGE, FAILED = 0, 2, 8


def parser() -> argparse.ArgumentParser:
    """The parser of ``migrate-mgpu runtimes``."""
    names = list(runtimes.known())
    made = Parser(
        prog="migrate-mgpu runtimes",
        description="The Python environments, each with one TensorFlow, that programs are "
        "compared in. `migrate-mgpu parity` makes those that it needs.",
        epilog="Results of comparisons are deleted by `migrate-mgpu parity remove`.",
    )
    actions = made.add_subparsers(dest="action", metavar="list|create|remove")
    actions.add_parser("list", help="what there is with its size, and what can be made")
    for action, text in (("create", "make, anew if it is there"), ("remove", "delete")):
        chosen = actions.add_parser(action, help=text)
        chosen.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
        chosen.add_argument("--all", action="store_true", help="all of them")
        if action == "create":
            runtimes.add_packages(chosen)
    return made


def command(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the subcommand; returns the exit bits: 0 fine, 2 usage, 8 could not be made."""
    names = list(runtimes.known())
    try:
        # argparse writes to the process's own streams: they are these, or a test's.
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            options = parser().parse_args(argv)
    except SystemExit as exit_:
        return USAGE if exit_.code else OK
    if options.action in ("list", None):
        return _list(stdout)
    result = OK
    if not options.names and not options.all:
        print(f"give the names of runtimes ({', '.join(names)}) or --all", file=stderr)
        return USAGE
    known = list(runtimes.recipes())
    for name in options.names:
        if name not in known:
            near = meant(name, known)
            print(f"{name}: not one of {', '.join(names)}{near}", file=stderr)
            return USAGE
    for name in (known if options.action == "remove" else names) if options.all else options.names:
        try:
            if options.action == "create":
                name = runtimes.extended(name, runtimes.packages(options, name))
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
    recipes = runtimes.recipes()
    width = max(map(len, [*recipes, runtimes.CURRENT]))
    for name, recipe in recipes.items():
        try:
            found = runtimes.find(name)
            state = _versions(found) if found else f"not made (about {recipe.gigabytes:g} GB)"
            if found:
                state += f" ({runtimes.shown_size(runtimes.size(runtimes.folder() / name))})"
        except runtimes.RuntimeUnavailable as error:
            state = f"broken: {error}"
        print(f"  {name:<{width}} {recipe.purpose}: {state}", file=stdout)
    here = runtimes.Runtime(runtimes.CURRENT, Path(sys.executable))
    versions = runtimes.describe(here)
    text = f"{runtimes.ability(versions)}: {_versions(here)}"
    if "tensorflow" not in versions:
        text += f"; to have one, {INSTALL_TENSORFLOW}"
    print(f"  {runtimes.CURRENT:<{width}} {text}", file=stdout)
    return OK


def _versions(runtime: runtimes.Runtime) -> str:
    return ", ".join(f"{name} {text}" for name, text in runtimes.describe(runtime).items())
