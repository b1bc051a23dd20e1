"""Which files a run looks at: the given ones, and the Python files of the given folders."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from migrate_mgpu.run.gitignore import Ignored

# What is taken from a folder. A file that is named explicitly is taken as Python
# whatever its name ends with.
SUFFIXES = (".py", ".pyw", ".ipynb")

# Folders that hold other people's code or nothing to migrate; hidden ones are
# left out anyway.
_SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist", "CVS"}
# What a virtual environment has at its top.
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
# How a file is opened: what `open` adds takes as long as the reading. A pipe does not wait for
# its writer; Windows reads bytes as they are.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Unread(Exception):
    """A path that could not be read, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


def discover(
    paths: Sequence[str], exclude: Sequence[str] = (), root: str = "."
) -> tuple[list[str], list[Unread]]:
    """The files of a run, each once, in a stable order, and what cannot be looked at.

    Folders are searched for Python files; ``.gitignore`` files are respected,
    virtual environments, hidden folders and links to folders skipped. A file or
    folder that is named explicitly is always taken, unless ``exclude`` (patterns
    as in a .gitignore of the folder ``root``) leaves it out.
    """
    excluded = _Patterns()
    if exclude:
        excluded.add(os.path.realpath(root), exclude)
    found: dict[str, str] = {}
    unread: list[Unread] = []
    for path in paths:
        if os.path.isdir(path):
            real = os.path.realpath(path)
            if not excluded.with_parents(real, True):
                for member, key in _walk(path, real, excluded, unread):
                    found.setdefault(key, member)
        elif os.path.lexists(path):
            folder, name = os.path.split(path)
            if not excluded.with_parents(os.path.join(os.path.realpath(folder), name), False):
                found.setdefault(os.path.realpath(path), path)
        else:
            unread.append(Unread(path, "no such file or folder"))
    return list(found.values()), unread


def read(path: str) -> bytes:
    """A file's bytes.

    Raises:
        Unread: it cannot be read, or is a pipe or device, which could wait forever.
    """
    try:
        file = os.open(path, _READING)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise Unread(path, "is not a regular file")
            data = os.read(file, status.st_size + 1)
            if len(data) != status.st_size:  # it grows, or is one of /proc
                while more := os.read(file, 1 << 20):
                    data += more
            return data
        finally:
            os.close(file)
    except OSError as error:
        if os.path.exists(path) and not os.path.isfile(path):  # a socket
            raise Unread(path, "is not a regular file") from None
        if os.path.islink(path) and not os.path.exists(path):
            raise Unread(path, f"is a broken link ({os.readlink(path)})") from None
        raise Unread(path, error.strerror or str(error)) from None


def _walk(
    top: str, real_top: str, excluded: _Patterns, unread: list[Unread]
) -> Iterator[tuple[str, str]]:
    """The Python files of a folder, a folder's own before those of its subfolders.

    With each comes its real path: the same file twice (a link, an overlapping
    path) is one file.
    """
    ignored = _above(real_top)
    if ignored.with_parents(real_top, True):
        ignored = _Patterns()  # named although ignored: only what is inside says more
    tracked = _Tracked(real_top)
    waiting = [(top, real_top, ignored, False)]
    while waiting:
        folder, real, ignored, only_tracked = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                members = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            unread.append(Unread(folder, error.strerror or str(error)))
            continue
        if any(member.name == ".gitignore" for member in members):
            ignored = ignored.entering(real)
        inner: list[tuple[str, str, _Patterns, bool]] = []
        for member in members:
            name = member.name
            is_folder = member.is_dir(follow_symlinks=False)
            if not (_may_enter(name) if is_folder else _may_take(member)):
                continue
            place = f"{real.rstrip(os.sep)}{os.sep}{name}"
            if excluded(place, is_folder):
                continue
            leaves_out = only_tracked or ignored(place, is_folder)
            if leaves_out and not tracked(place, is_folder):
                continue
            if not is_folder:
                yield member.path, os.path.realpath(place) if member.is_symlink() else place
            elif not any(os.path.exists(f"{place}{os.sep}{sign}") for sign in _ENVIRONMENT):
                inner.append((member.path, place, ignored, leaves_out))
        waiting += reversed(inner)


def _may_enter(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED


def _may_take(member: os.DirEntry[str]) -> bool:
    if not member.name.endswith(SUFFIXES) or member.name.startswith(".#"):  # an editor's lock
        return False
    return not (member.is_symlink() and os.path.isdir(member.path))


def _above(folder: str) -> _Patterns:
    """The .gitignore files above a folder, up to the root of its repository."""
    root = _repository(folder)
    patterns = _Patterns()
    if root is None:
        return patterns
    chain: list[str] = []
    while folder != root:
        folder = os.path.dirname(folder)
        chain.append(folder)
    for place in reversed(chain):
        patterns = patterns.entering(place)
    return patterns


def _repository(folder: str) -> str | None:
    """The root of the repository that a folder is in."""
    while not os.path.exists(os.path.join(folder, ".git")):
        outer = os.path.dirname(folder)
        if outer == folder:
            return None
        folder = outer
    return folder


class _Tracked:
    """Whether git tracks an entry: then no .gitignore leaves it out.

    Looked up in the bytes of git's index, where a path stands behind its length (2 bytes,
    with the flags of a plain entry). What an index of version 4 has, with shortened paths, or
    that of a linked work tree, counts as not tracked.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._root = ""
        self._index: bytes | None = None

    def __call__(self, full: str, folder: bool) -> bool:
        if self._index is None:
            self._root = _repository(self._folder) or self._folder
            try:
                with open(os.path.join(self._root, ".git", "index"), "rb") as stream:
                    self._index = stream.read()
            except OSError:
                self._index = b""
        if not self._index:
            return False
        inside = full[len(self._root.rstrip(os.sep)) + 1 :]
        path = os.fsencode(inside if os.sep == "/" else inside.replace(os.sep, "/"))
        if folder:
            return path + b"/" in self._index
        return min(len(path), 0xFFF).to_bytes(2, "big") + path + b"\0" in self._index


class _Patterns:
    """Patterns of several folders; the innermost that speaks of an entry decides."""

    def __init__(self, files: tuple[tuple[str, Ignored], ...] = ()) -> None:
        self._files = files

    def add(self, folder: str, lines: Sequence[str]) -> None:
        self._add(folder, [_as_bytes(line) for line in lines])

    def _add(self, folder: str, lines: Sequence[str]) -> None:
        from migrate_mgpu.run.gitignore import Ignored

        self._files = ((folder.rstrip(os.sep) + os.sep, Ignored(lines)), *self._files)

    def entering(self, folder: str) -> _Patterns:
        """These and those of a folder's own .gitignore."""
        name = os.path.join(folder, ".gitignore")
        try:
            if not stat.S_ISREG(os.stat(name).st_mode):
                return self
            with open(name, "rb") as stream:
                data = stream.read()
        except OSError:
            return self  # as git does
        inner = _Patterns(self._files)
        text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        inner._add(folder, text.split("\n"))
        return inner

    def __call__(self, full: str, folder: bool) -> bool:
        """Whether an entry is left out, for itself; nobody asks below a folder that is."""
        for start, ignored in self._files:
            if full.startswith(start):
                path = _as_bytes(full[len(start) :])
                answer = ignored(path if os.sep == "/" else path.replace(os.sep, "/"), folder)
                if answer is not None:
                    return answer
        return False

    def with_parents(self, full: str, folder: bool) -> bool:
        """Whether an entry or a folder above it is left out."""
        if not self._files:
            return False
        outer = os.path.dirname(full)
        return self(full, folder) or (outer != full and self.with_parents(outer, True))


def _as_bytes(text: str) -> str:
    """One character for each byte of a name: to git, `?` is a byte."""
    return text if text.isascii() else os.fsencode(text).decode("latin-1")
