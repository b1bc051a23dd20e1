"""A file's bytes as text and back: encoding, byte-order mark, line ends, mode, positions."""

from __future__ import annotations
import __future__

import ast
import bisect
import contextlib
import io
import os
import re
import stat
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from migrate_mgpu.core.records import record

# The line ends that Python's own tokenizer knows. str.splitlines() also splits
# at form feeds and Unicode separators, which would shift every later line.
LINE_END = re.compile(r"\r\n|\r|\n")
_UTF8_BOM = b"\xef\xbb\xbf"
# A line that is nothing but closing brackets.
_HANGING = re.compile(r"^[ \t]*[)\]}]+,?:?[ \t]*\r?$", re.M)


class SourceError(Exception):
    """A file that cannot be read, decoded or parsed; the message says where and why.

    ``python_2``: it may be that Python 2 could.
    """

    def __init__(
        self, message: str, line: int = 1, column: int = 1, python_2: bool = False
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.python_2 = python_2


class ChangedMeanwhile(SourceError):
    """The file on disk is no longer the one that was read."""


@record(frozen=True)
class Edit:
    """``text[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: str

    def touches(self, start: int, end: int) -> bool:
        """Whether it changes something of a piece of the text, or adds something at its place.

        A piece without length is the place where something is added.
        """
        inside = self.start < end and start < self.end
        return inside or self.start == self.end == start == end


@record(frozen=True)
class BlockEdit(Edit):
    """New text that is one compound statement, from its first character on.

    ``header`` is what comes before the body's first statement, the indentation included.
    """

    header: str


def splice(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """A text, or the piece of it between two offsets, with edits that do not overlap.

    Insertions at one place keep their order.
    """
    pieces: list[str] = []
    position = start
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < position:
            raise ValueError("two edits overlap")
        pieces += (text[position : edit.start], edit.new)
        position = edit.end
    pieces.append(text[position:end])
    return "".join(pieces)


# Declarations that Python parses and may refuse all the same: of a name that is used before
# (Python 2 only warned).
_DECLARES = re.compile(r"^[ \t]*(?:global|nonlocal)\b", re.MULTILINE)


@record(frozen=True)
class Source:
    """One file's text with what is needed to write it back byte for byte.

    ``text`` keeps the file's own line ends; offsets are indices into it.
    """

    path: Path
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    @cached_property
    def line_starts(self) -> list[int]:
        if "\r" in self.text:
            return [0, *(m.end() for m in LINE_END.finditer(self.text))]
        lines = self.text.split("\n")[:-1]
        return [0, *accumulate(len(line) + 1 for line in lines)]

    @cached_property
    def has_directives(self) -> bool:
        """Whether a comment may speak to this tool (``# mgpu: ...``)."""
        return "mgpu:" in self.text

    @cached_property
    def has_star_imports(self) -> bool:
        """Whether other modules may give names of the file their meaning."""
        return "import *" in self.text

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses most, which new lines take over."""
        both = self.text.count("\r\n")
        counts = {
            "\n": self.text.count("\n") - both,
            "\r\n": both,
            "\r": self.text.count("\r") - both,
        }
        return max(counts, key=lambda end: counts[end])

    @cached_property
    def indent_unit(self) -> str:
        """What one level of indentation is in this file (``"  "``, ``"\\t"``, ...)."""
        for statement in ast.walk(self.tree):
            body = getattr(statement, "body", None)
            if isinstance(body, list) and body and isinstance(statement, ast.stmt):
                outer, inner = self.indent_of(statement), self.indent_of(body[0])
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "

    @cached_property
    def quote(self) -> str:
        """The quotation mark that this file uses more often, docstrings left aside."""
        double = self.text.count('"') - 3 * self.text.count('"""')
        single = self.text.count("'") - 3 * self.text.count("'''")
        return '"' if double > single else "'"

    @cached_property
    def width(self) -> int:
        """How long this file lets its lines be: 79, or its second longest line, up to 100."""
        lengths = sorted(n for n in map(len, LINE_END.split(self.text)) if n <= 100)
        return max(79, lengths[-2]) if len(lengths) > 1 else 79

    def part_at(self, offset: int) -> tuple[int, int]:
        """Start and end of what is around a place: the text, of a notebook the cell."""
        return 0, len(self.text)

    def is_code(self, start: int, end: int) -> bool:
        """Whether a piece of the text stands so in the file: masked lines do not."""
        return True

    @cached_property
    def has_hanging_brackets(self) -> bool:
        """Whether closing brackets stand on lines of their own in this file."""
        return bool(_HANGING.search(self.text))

    @cached_property
    def tree(self) -> ast.Module:
        """The file's syntax tree.

        Raises:
            SourceError: the text is not Python 3, with the place.
        """
        try:
            tree = ast.parse(self.text)
            if _DECLARES.search(self.text) or not _takes_futures(tree, self.text):
                # Flagged, for notebooks have `await` at the top.
                flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
                compile(tree, str(self.path), "exec", flags, dont_inherit=True)
            return tree
        except SyntaxError as error:
            text, is_old = _explain_syntax_error(self.text, error)
            raise SourceError(text, error.lineno or 1, error.offset or 1, is_old) from None
        except (RecursionError, MemoryError):
            raise SourceError("nested too deeply to be parsed") from None
        except ValueError as error:  # null bytes
            raise SourceError(str(error)) from None

    def offset(self, line: int, column: int) -> int:
        """The index of ast's position (1-based line, column in UTF-8 bytes)."""
        start = self.line_starts[line - 1]
        if self.text.isascii() or self.text[start : start + column].isascii():
            return start + column
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end index of a node that has a position."""
        if self.text.isascii():  # which Python knows of a text, and most are
            starts = self.line_starts
            start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
            end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
            return start, end
        start = self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return start, end

    def code(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def place(self, offset: int) -> tuple[int, int]:
        """1-based line and column (in characters) of an index."""
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """A line without its line end."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def indent_of(self, node: ast.AST) -> str:
        """The white space before the first thing on a node's line."""
        line = self.line_text(node.lineno)  # type: ignore[attr-defined]
        return line[: len(line) - len(line.lstrip())]

    @property
    def file_text(self) -> str:
        """The text of the file itself; a notebook's is not its code."""
        return self.text

    def apply(self, edits: list[Edit]) -> str:
        """The file's text with edits of its code."""
        return splice(self.text, edits)

    def encode(self, text: str) -> bytes:
        """The bytes that stand for a changed text of this file.

        Raises:
            SourceError: the file's encoding has no form for a character.
        """
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise SourceError(f"cannot be written as {self.encoding}: {error.reason}") from None
        return _UTF8_BOM + data if self.bom else data


def decode(path: Path, data: bytes) -> Source:
    """Decodes a file as Python itself would.

    Raises:
        SourceError: unknown encoding, or bytes that are not of it.
    """
    encoding = _encoding(data)
    bom = data.startswith(_UTF8_BOM)
    if bom:
        encoding, data = "utf-8", data[len(_UTF8_BOM) :]
    try:
        return Source(path, data.decode(encoding), encoding, bom)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"is not valid {encoding}: {error.reason}", line) from None


def _encoding(data: bytes) -> str:
    """The encoding that the first two lines of a file name, as Python reads them.

    Raises:
        SourceError: there is no such encoding, or these lines are not of it.
    """
    second = data.find(b"\n", data.find(b"\n") + 1)
    head = data if second < 0 else data[:second]
    if head.isascii() and b"coding" not in head:
        return "utf-8"  # most files, without tokenize and what it compiles
    import tokenize

    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        raise SourceError(f"{error.msg}") from None


def not_writable(path: Path) -> str:
    """Why a file cannot be replaced; empty when it can."""
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
    except OSError as error:
        return error.strerror or str(error)
    if not status.st_mode & stat.S_IWUSR or not os.access(target, os.W_OK):
        # A rename would replace a read-only file all the same; its owner said no.
        return "Permission denied"
    if not os.access(target.parent, os.W_OK):
        return "its folder cannot be written"
    return ""


def write(path: Path, old: bytes, new: bytes) -> None:
    """Replaces a file's content in one step, so that every reader sees the old or the new bytes.

    The mode is kept, and behind a symlink the target is written.

    Raises:
        ChangedMeanwhile: the file no longer holds ``old``.
        OSError: the folder or the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.read_bytes() != old:
        raise ChangedMeanwhile("changed while it was being migrated; left as it is now")
    status = target.stat()
    if reason := not_writable(target):
        raise PermissionError(13, reason, str(target))
    # As tempfile would, whose import takes as long as writing ten files.
    temporary = f"{target.parent}/.{target.name}.{os.urandom(4).hex()}"
    try:
        with open(
            temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)
        ) as stream:
            stream.write(new)  # no fsync: it guards against a power cut, and costs a third of a run
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
            os.chown(temporary, status.st_uid, status.st_gid)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


_PYTHON_2 = (
    (re.compile(r"(?:^|[:;])\s*print\s+[^(=\s]"), "a print statement"),
    (re.compile(r"(?:^|[:;])\s*print\s*>>"), "a print statement"),
    (re.compile(r"(?:^|[:;])\s*exec\s+[^(=\s]"), "an exec statement"),
    (re.compile(r"^\s*except\s+[\w.()]+(\s*,\s*[\w.]+)*\s*,\s*\w+\s*:"), "`except X, e`"),
    (re.compile(r"^\s*raise\s+[\w.]+\s*,"), "`raise X, y`"),
    (re.compile(r"\b0[0-7]+\b|\b\d+[lL]\b"), "an old integer literal"),
    (re.compile(r"<>|`\w"), "an old operator"),
    (
        re.compile(r"\bdef\s+\w+\s*\(([^)]*,)?\s*\(|\blambda\s*([^:]*,)?\s*\("),
        "a parameter in brackets",
    ),
)


def _takes_futures(tree: ast.Module, text: str) -> bool:
    """Whether the file's `__future__` imports, if any, are surely such as Python takes.

    They come first, and each names a feature that there is. Parsing sees neither; to compile
    a file takes as long as to parse it.
    """
    mentions = text.count("__future__")
    if not mentions:
        return True
    first = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    for statement in tree.body[first:]:
        if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
            break
        if any(alias.name not in __future__.all_feature_names for alias in statement.names):
            break
        mentions -= 1
    return not mentions


def _explain_syntax_error(text: str, error: SyntaxError) -> tuple[str, bool]:
    """What is wrong, and whether Python 2 may have taken it."""
    lines = LINE_END.split(text)
    index = (error.lineno or 1) - 1
    for number in (index, index - 1):
        line = lines[number] if 0 <= number < len(lines) else ""
        for pattern, what in _PYTHON_2:
            if pattern.search(line):
                text = f"is Python 2 ({what}): convert it to Python 3 first, for example with 2to3"
                return text, True
    late = "from __future__ imports" in str(error.msg) and futures_behind_strings(ast.parse(text))
    return f"is not valid Python: {error.msg}", isinstance(error, TabError) or bool(late)


def futures_behind_strings(tree: ast.Module) -> list[ast.ImportFrom]:
    """A file's `__future__` imports, where Python 2 takes them: behind strings, of any number."""
    found: list[ast.ImportFrom] = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            found.append(statement)
        elif not (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        ):
            break
    return found
