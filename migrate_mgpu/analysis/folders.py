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
        self._imported: dict[tuple[str, str], list[tuple[list[str], bool]]] = {}
        self._lacks: dict[tuple[tuple[str, ...], str], bool] = {}

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

    def lack(self, folders: tuple[str, ...], dotted: str) -> bool:
        """Whether folders have the outermost package of a module, with files of the run, not it."""
        found = self._lacks.get((folders, dotted))
        if found is None:
            found = self._lacks[folders, dotted] = self._find_lacking(folders, dotted)
        return found

    def _find_lacking(self, folders: tuple[str, ...], dotted: str) -> bool:
        *packages, last = dotted.split(".")
        ours = [one for one in folders if self.has_files(os.path.join(one, packages[0]))]
        for folder in ours:
            parent = os.path.join(folder, *packages)
            names = self.within(parent)
            if any(one.startswith(f"{last}.") for one in names):
                return False  # `_ops.so`, for instance
            if last in names and os.path.isdir(os.path.join(parent, last)):
                return False
        return bool(ours)

    def imported(self, root: str, dotted: str) -> list[tuple[list[str], bool]]:
        """What importing a module may run, from the outermost package to itself.

        For each of its names the files that it may be, and whether a folder is called so. It
        ends where nothing is.
        """
        found = self._imported.get((root, dotted))
        if found is None:
            found = self._imported[root, dotted] = []
            base = root
            parts = dotted.split(".")
            for index, part in enumerate(parts):
                names = self.within(base)
                base = os.path.join(base, part)
                files = [os.path.join(base, "__init__.py")] if part in names else []
                if files and "__init__.py" not in self.within(base):
                    files = []
                files += [f"{base}.py"] if f"{part}.py" in names else []
                is_folder = part in names and os.path.isdir(base)
                if not files and not is_folder:
                    break
                if not is_folder and index + 2 < len(parts):
                    found.clear()  # a file of that name: of it at most a name is meant
                    break
                found.append((files, is_folder))
        return found
