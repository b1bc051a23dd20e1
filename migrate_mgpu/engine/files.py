"""Which files a run looks at: the given ones, and the Python files of the given folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Callable, NamedTuple, Optional

# Folders that hold other people's code or nothing to migrate.
_SKIPPED = {
    "__pycache__", "node_modules", "site-packages", "build", "dist", ".git", ".hg", ".svn",
    ".tox", ".nox", ".eggs", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache",
}  # fmt: skip
_SUFFIXES = (".py", ".pyw")


class Unread(NamedTuple):
    """A path that could not be read, and why."""

    path: str
    reason: str


def discover(paths: list[str], exclude: tuple[str, ...] = ()) -> tuple[list[str], list[Unread]]:
    """The files of a run, each once, in a stable order.

    Folders are searched for Python files; ``.gitignore`` files are respected,
    virtual environments and hidden folders skipped. A file that is named
    explicitly is always taken.
    """
    found: dict[str, str] = {}
    unread: list[Unread] = []
    for path in paths:
        if os.path.isdir(path):
            members = sorted(_walk(path, exclude, unread))
        elif os.path.lexists(path):
            members = [path]
        else:
            unread.append(Unread(path, "does not exist"))
            continue
        for member in members:
            # The same file twice (a link, an overlapping path) is one file.
            found.setdefault(os.path.realpath(member), member)
    return list(found.values()), unread


def _walk(top: str, exclude: tuple[str, ...], unread: list[Unread]) -> Iterator[str]:
    ignored = _Ignored(top, exclude)

    def failed(error: OSError) -> None:
        unread.append(Unread(error.filename or top, error.strerror or str(error)))

    for folder, folders, files in os.walk(top, onerror=failed):
        ignored.enter(folder, files)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            and not ignored(os.path.join(folder, name) + "/")
        )
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(_SUFFIXES) and not ignored(path):
                yield path


class _Ignored:
    """What .gitignore files and --exclude leave out, below one folder."""

    def __init__(self, top: str, exclude: tuple[str, ...]) -> None:
        self._specs: list[tuple[str, Callable[[str], bool]]] = []
        if exclude:
            self._add(os.path.abspath(top), list(exclude))
        # A .gitignore counts below its own folder: also those above, up to the
        # root of the repository.
        folder = os.path.abspath(top)
        chain: list[str] = []
        while True:
            if os.path.exists(os.path.join(folder, ".git")):
                chain.append(folder)
                for above in reversed(chain[:-1] if chain[-1] == os.path.abspath(top) else chain):
                    if above != os.path.abspath(top):
                        self._read(above)
                break
            chain.append(folder)
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent

    def enter(self, folder: str, files: list[str]) -> None:
        if ".gitignore" in files:
            self._read(os.path.abspath(folder))

    def _read(self, folder: str) -> None:
        try:
            with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as f:
                self._add(folder, f.read().splitlines())
        except OSError:
            pass

    def _add(self, folder: str, lines: list[str]) -> None:
        import pathspec

        spec = pathspec.PathSpec.from_lines("gitwildmatch", lines)
        self._specs.append((folder, spec.match_file))

    def __call__(self, path: str) -> bool:
        if not self._specs:
            return False
        full = os.path.abspath(path) + ("/" if path.endswith("/") else "")
        for folder, matches in self._specs:
            if full.startswith(folder + os.sep) and matches(full[len(folder) + 1 :]):
                return True
        return False


def read(path: str) -> tuple[Optional[bytes], str]:
    """A file's bytes, or None and why not."""
    try:
        with open(path, "rb") as stream:
            return stream.read(), ""
    except OSError as error:
        return None, error.strerror or str(error)
