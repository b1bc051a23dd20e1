"""Syntax of Python 2 as that of Python 3: fissix converts, what it leaves alone stays as it is."""

from __future__ import annotations

import ast
import difflib
import io
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from migrate_mgpu.source.source import LINE_END, Edit, Source, SourceError, futures_behind_strings

# What Python 3 cannot read, or reads as something else. None of them for style, and none that
# goes by a name alone: names are resolved (`analysis/python_2.py`).
_FIXERS = (
    "dict", "except", "exec", "filter", "has_key", "imports", "itertools", "itertools_imports",
    "map", "metaclass", "ne", "nonzero", "numliterals", "paren", "print", "raise", "repr",
    "throw", "tuple_params", "urllib", "xrange", "zip",
)  # fmt: skip
_BETWEEN_CELLS = re.compile(r"^# %%\n", re.MULTILINE)
# `io` has two in the place of each, one of text and one of bytes: their file says which by hand.
_UNDECIDED = {"StringIO", "cStringIO"}

_OF_IMPORTS = {"FixImports", "FixItertoolsImports", "FixUrllib"}
# Functions that read what they are given once, by the fixer of what may stay as it is in them.
_OF_LISTS = {
    "FixDict": {"enumerate", "filter", "len", "map", "tqdm", "zip"},
    "FixXrange": {"enumerate", "filter", "len", "map", "reversed", "tqdm", "zip"},
    "FixFilter": {"enumerate", "filter", "map", "zip"},
    "FixMap": {"enumerate", "filter", "map", "zip"},
    "FixZip": {"enumerate", "filter", "map", "zip"},
}
_TAKES_PAIRS = "apply_gradients"  # a method of TensorFlow's that makes a tuple of them itself
# The condition of a main guard, which asks for no version.
_MAIN = re.compile(r"""\s*__name__\s*==\s*['"]__main__['"]\s*$""")
# What `import cPickle as pickle` becomes.
_SAME_NAME = re.compile(r"^([ \t]*import[ \t]+(\w+))[ \t]+as[ \t]+\2(?!\w|[ \t]*,)", re.MULTILINE)
# A dictionary may not get or lose keys while it is walked through.
_CHANGES_KEYS = re.compile(r"\bdel\b|\.(?:pop|popitem|clear|update|setdefault)\b|\bexec\b")


def converted(text: str, keep_prints: bool) -> str:
    """The text with Python 3's syntax; line ends are ``\\n``.

    ``keep_prints``: `print(a, b)` is a call already, because the file has no print statement.

    Raises:
        SourceError: it is not Python 2, or has something without a form in Python 3.
    """
    tool, failures = _tool(keep_prints)
    failures.clear()
    try:
        new = str(tool.refactor_string(text + "\n", "<file>"))[:-1]
    except tool.unreadable as error:
        raise SourceError("is neither Python 3 nor Python 2", _line_of(error)) from None
    except RecursionError:
        raise SourceError("nested too deeply to be parsed") from None
    if failures:
        line, what = failures[0]
        raise SourceError(f"has no form in Python 3: {what}", line)
    return new if _SAME_NAME.search(text) else _SAME_NAME.sub(r"\1", new)


def _line_of(error: Any) -> int:
    """The line of what fissix cannot read; each of its errors has it in a place of its own."""
    if hasattr(error, "context"):  # of the grammar
        return int(error.context[1][0])
    if isinstance(error, IndentationError):
        return error.lineno or 1
    return int(error.args[1][0])


@cache
def _tool(keep_prints: bool) -> tuple[Any, list[tuple[int, str]]]:
    """fissix with the fixers, for any number of files, and what they could not convert."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fissix's own code, on newer Pythons
            from fissix.pgen2.parse import ParseError
            from fissix.pgen2.tokenize import TokenError
            from fissix.refactor import RefactoringTool
    except ImportError:
        raise SourceError("converting Python 2 needs fissix: pip install fissix") from None

    class Tool(RefactoringTool):  # type: ignore[misc]
        unreadable = (ParseError, TokenError, IndentationError)

        def log_error(self, msg: str, *args: Any, **keywords: Any) -> None:
            raise

        def log_message(self, msg: str, *args: Any) -> None:
            pass

    options = {"print_function": keep_prints}
    tool = Tool([f"fissix.fixes.fix_{name}" for name in _FIXERS], options)
    failures: list[tuple[int, str]] = []
    for fixer in [*tool.pre_order, *tool.post_order]:
        _watch(fixer, failures)
    return tool, failures


def _watch(fixer: Any, failures: list[tuple[int, str]]) -> None:
    """Collects what a fixer cannot convert, and keeps it from what works as it is."""
    transform = fixer.transform

    def cannot_convert(node: Any, reason: str | None = None) -> None:
        failures.append((node.get_lineno(), reason or str(node).strip()))

    def unless_fit(node: Any, results: Any) -> Any:
        kind = type(fixer).__name__
        if kind in _OF_IMPORTS and (_is_guarded(node) or _is_undecided(node)):
            return None
        if kind in _OF_LISTS and _is_only_read(node, results, kind):
            return None
        return transform(node, results)

    fixer.cannot_convert = cannot_convert
    fixer.transform = unless_fit


def _is_guarded(node: Any) -> bool:
    """Whether a statement stands in a `try` or an `if`, which may be there for both Pythons."""
    from fissix.pygram import python_symbols

    if node.type not in (python_symbols.import_name, python_symbols.import_from):
        return False
    above = node.parent
    while above is not None:
        is_main = above.type == python_symbols.if_stmt and _MAIN.match(str(above.children[1]))
        if above.type in (python_symbols.try_stmt, python_symbols.if_stmt) and not is_main:
            return True
        above = above.parent
    return False


def _names(node: Any) -> set[str]:
    return {leaf.value for leaf in node.leaves()} if not _is_use(node) else set()


def _is_undecided(node: Any) -> bool:
    """Whether an import is of a module with two forms, which something uses."""
    from fissix.pygram import python_symbols as symbols

    names = _names(node) & _UNDECIDED
    if not names or "as" in _names(node):
        return bool(names)
    root = node
    while root.parent is not None:
        root = root.parent
    for leaf in root.leaves():
        if leaf.value in names:
            while leaf is not None and leaf.type not in (symbols.import_name, symbols.import_from):
                leaf = leaf.parent
            if leaf is None:
                return True
    return False


def _is_use(node: Any) -> bool:
    from fissix.pygram import python_symbols

    return bool(node.type == python_symbols.power)


def _is_only_read(node: Any, results: Any, kind: str) -> bool:
    """Whether a list of Python 2 is walked through on the spot, which needs no list."""
    from fissix.pygram import python_symbols as symbols

    method = results.get("method")
    if method and method[0].value not in ("keys", "items", "values"):
        return False  # has another name now
    if str(node.children[0]).strip() == "xrange":
        return False
    if any(results.get(behind) for behind in ("tail", "rest", "trailers", "extra_trailers")):
        return False
    parent, before = node.parent, node.prev_sibling
    if before is not None and str(before).strip() == "in":
        if parent.type == symbols.for_stmt:
            return kind != "FixDict" or not _may_change(parent.children[5], results["head"])
        return bool(parent.type == symbols.comp_for)
    arguments = parent if parent.type == symbols.arglist else node
    call = arguments.parent
    if call is None or call.type != symbols.trailer or str(call.children[0]).strip() != "(":
        return False
    function = call.prev_sibling
    if str(function).strip() == f".{_TAKES_PAIRS}":
        return kind == "FixZip"
    named = getattr(function, "value", None)
    return named in _OF_LISTS[kind] and function.prev_sibling is None


def _may_change(body: Any, head: Any) -> bool:
    """Whether a loop's body may add or remove keys of the dictionary that it walks through."""
    text, walked = str(body), "".join(map(str, head)).strip()
    owner = re.escape(re.split(r"\W", walked)[0])
    return bool(
        _CHANGES_KEYS.search(text)
        or (f"{walked}[" in text and re.search(re.escape(walked) + r"\[[^\n]*\][ \t]*=(?!=)", text))
        or ("." in walked and re.search(rf"\b{owner}\.\w+\(", text))
    )


def without_tabs(text: str) -> str:
    """Statements' tabs as spaces: Python 2 took one for as many as reach the eighth column.

    Only what begins a line of code: not the lines within brackets and strings.
    """
    from fissix.pgen2 import token, tokenize

    lines = text.split("\n")
    begins = True
    for kind, _, (line, _), _, _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if kind in (token.INDENT, token.DEDENT, token.ENDMARKER):
            continue
        if begins or kind == tokenize.COMMENT:
            code = lines[line - 1].lstrip(" \t")
            indent = lines[line - 1][: len(lines[line - 1]) - len(code)]
            if kind != tokenize.COMMENT or code.startswith("#"):
                lines[line - 1] = indent.expandtabs(8) + code
        begins = kind in (token.NEWLINE, tokenize.NL, tokenize.COMMENT) and (
            begins or kind == token.NEWLINE
        )
    return "\n".join(lines)


def edits_to(source: Source, new: str) -> list[Edit]:
    """The edits of whole lines that make ``new`` of a source's text, whatever its line ends are.

    Those of a notebook stay within its cells.

    Raises:
        SourceError: a line that changes has something that is not Python.
    """
    edits: list[Edit] = []
    start = 0
    for piece, after in zip(_pieces(source.text), _pieces(new)):
        edits += _line_edits(piece, after, source.newline, start)
        start += len(piece)
    for edit in edits:
        if not source.is_code(edit.start, edit.end):
            line, _ = source.place(edit.start)
            raise SourceError("has Python 2 and a magic command in one line", line)
    return edits


def _pieces(text: str) -> list[str]:
    """A text up to each comment of its own line that may stand between a notebook's cells."""
    places = [0, *(match.start() for match in _BETWEEN_CELLS.finditer(text)), len(text)]
    return [text[start:end] for start, end in zip(places, places[1:])]


def _line_edits(old: str, new: str, newline: str, offset: int) -> Iterator[Edit]:
    ends = [match.end() for match in LINE_END.finditer(old)]
    starts = [offset + end for end in (0, *ends)]
    before, after = LINE_END.split(old), new.split("\n")
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for what, i, k, j, n in matcher.get_opcodes():
        if what == "replace" and k - i == n - j:
            for number, line in enumerate(after[j:n], i):
                yield Edit(starts[number], starts[number] + len(before[number]), line)
        elif what == "equal":
            continue
        elif k < len(before):
            text = "".join(line + newline for line in after[j:n])
            yield Edit(starts[i], starts[k], text)
        else:  # the end of the text has no line end
            end = offset + len(old)
            start = starts[i] if i < len(before) else end
            text = newline.join(after[j:n])
            yield Edit(start, end, text if i < len(before) else newline + text)


def with_first_futures(text: str) -> str:
    """The text with its `__future__` imports below the docstring, where Python 3 wants them.

    Python 2 takes them behind any number of strings. Line ends are ``\\n``.
    """
    tree = ast.parse(text)
    moved = futures_behind_strings(tree)
    above = tree.body[: tree.body.index(moved[-1])] if moved else []
    if not any(isinstance(one, ast.Expr) for one in above[1:]):
        return text
    first = above[0]
    lines = text.split("\n")
    own = {n for one in moved for n in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    is_text = isinstance(first, ast.Expr)
    place = (first.end_lineno or first.lineno) if is_text else first.lineno - 1
    kept = {n: line for n, line in enumerate(lines, 1) if n not in own}
    head = [line for n, line in kept.items() if n <= place]
    tail = [line for n, line in kept.items() if n > place]
    return "\n".join([*head, *(lines[n - 1] for n in sorted(own)), *tail])
