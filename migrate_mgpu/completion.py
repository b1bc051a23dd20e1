"""Shell completion, by argcomplete: asked for by the shell, never by a run.

argcomplete's function in the shell starts the command with ``_ARGCOMPLETE`` set, and reads the
answer from a file descriptor.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable

from migrate_mgpu.core.options import SUBCOMMANDS


def complete() -> None:
    """Answers the shell, and ends the process; nothing without argcomplete."""
    try:
        import argcomplete
    except ImportError:
        return
    words = os.environ.get("COMP_LINE", "").split(" ")
    parser = _parser_of(words[1]) if len(words) > 2 else None
    if parser is not None:
        os.environ["_ARGCOMPLETE"] = "2"  # the words before are the command and its subcommand
        argcomplete.autocomplete(parser)
    from migrate_mgpu.settings import parser as usual

    made = usual(sys.stdout)
    paths = next(action for action in made._actions if action.dest == "paths")
    files = argcomplete.completers.FilesCompleter()

    def either(prefix: str, **more: object) -> Iterable[str]:
        names = [name for name in SUBCOMMANDS if name.startswith(prefix)]
        return [*(names if len(words) == 2 else ()), *files(prefix, **more)]

    paths.completer = either  # type: ignore[attr-defined]
    argcomplete.autocomplete(made)


def _parser_of(name: str) -> argparse.ArgumentParser | None:
    """The parser of a subcommand."""
    if name == "parity":
        from migrate_mgpu.parity.command import parser

        found = parser()
        for action in _actions(found):
            if action.dest in ("reference", "target"):
                action.completer = _runtimes  # type: ignore[attr-defined]
        return found
    if name == "checkpoint":
        from migrate_mgpu.parity.conversion_command import parser as conversion

        return conversion()
    if name == "runtimes":
        from migrate_mgpu.runtimes_command import parser as made

        found = made()
        for action in _actions(found):
            if action.dest == "names":
                action.completer = _runtimes  # type: ignore[attr-defined]
        return found
    if name == "explain":
        from migrate_mgpu.output.catalogue import explained

        found = argparse.ArgumentParser(prog="migrate-mgpu explain")
        found.add_argument("code", choices=explained())
        return found
    return argparse.ArgumentParser(prog=f"migrate-mgpu {name}") if name == "rules" else None


def _actions(parser: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    """A parser's, and those of its subcommands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from _actions(one)


def _runtimes(prefix: str, **_: object) -> Iterable[str]:
    from migrate_mgpu import runtimes

    return [name for name in (*runtimes.recipes(), runtimes.CURRENT) if name.startswith(prefix)]
