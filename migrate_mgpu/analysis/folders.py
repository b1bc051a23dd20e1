"""Which names lie in which folder, asked of the disk once for each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from collections.abc import Set as AbstractSet


class Folders:
    """The folders of a run and of the disk around it, by their real paths.

    Files of the run count wherever they are: one of standard input may not be on the disk.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self._of_run: dict[str, set[str]] = {}  # what leads to the run's files, by folder
        for path in files:
            folder, name = os.path.split(path)
            while name and name not in self._of_run.setdefault(folder, set()):
                self._of_run[folder].add(name)
                folder, name = os.path.split(folder)
        self._known: dict[str, AbstractSet[str]] = {}

    def has_files(self, folder: str) -> bool:
        """Whether files of the run lie in a folder or below it."""
        return folder in self._of_run

    def within(self, folder: str) -> AbstractSet[str]:
        """The names of the files and folders in a folder; none if it is not there."""
        found = self._known.get(folder)
        if found is None:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            found = self._known[folder] = self._of_run.get(folder, set()).union(names)
        return found
