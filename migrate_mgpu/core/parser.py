"""The command line of a subcommand: wrong words are answered with the ones that may be meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from typing import NoReturn

from migrate_mgpu.core.options import meant

_UNKNOWN = re.compile(r"unrecognized arguments: (--[\w-]+)|invalid choice: '([^']*)'")


class Parser(argparse.ArgumentParser):
    """argparse with "did you mean", and where help is instead of all options."""

    def error(self, message: str) -> NoReturn:
        text = f"{self.prog}: error: {self.answered(message)}\n`{self.prog} --help` says more\n"
        self.exit(2, text)

    def answered(self, message: str) -> str:
        """The message, with the word that may be meant where one is unknown."""
        found = _UNKNOWN.search(message)
        if found is None:
            return message
        return message + meant(found[1] or found[2], [*self._words()])

    def _words(self) -> Iterable[str]:
        """Every option and choice that there is."""
        for action in self._actions:
            yield from action.option_strings
            yield from map(str, action.choices or ())
