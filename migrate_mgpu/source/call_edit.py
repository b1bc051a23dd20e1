"""One call changed in its author's layout: function, arguments' names, arguments gone or added."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence
from functools import lru_cache

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Edit, Source

_SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
# Operators that bind more loosely than a multiplication, and so need parentheses in one.
_LOOSE = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp, ast.NamedExpr)


@record()
class _Argument:
    """An argument: where it stands (parentheses around it included) and what becomes of it."""

    name: str
    value: ast.expr
    keyword: bool
    start: int  # of `name=`, if it has one
    value_start: int
    end: int
    dropped: bool = False
    text: str | None = None  # instead of the value
    before: str = ""
    behind: str = ""


class CallEdit:
    """Edits of one call that leave its arguments' own text to others.

    ``signature`` are the parameters of TF1's function in order, which give positional
    arguments their names. Every edit covers the function, the space between arguments or
    a value that is replaced, never a value that stays: edits of nested expressions that
    somebody else makes do not overlap them.

    Raises:
        Refused: it cannot be told which argument is which (``*args``, ``**kwargs``), or
            there is one that the signature has not.
    """

    def __init__(self, module: Module, call: ast.Call, signature: Sequence[str]) -> None:
        self.module = module
        self.call = call
        self._function: str | None = None
        self._added: list[tuple[str, str]] = []
        self._order: tuple[str, ...] = tuple(signature)
        self._arguments = self._bind(signature)

    def _bind(self, signature: Sequence[str]) -> list[_Argument]:
        module, call = self.module, self.call
        given: list[tuple[str, ast.expr, bool]] = []
        for index, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred) or index >= len(signature):
                text = f"which argument of `{self.shown}` this is cannot be told"
                raise Refused(module, argument, text, "write the arguments out")
            given.append((signature[index], argument, False))
        for keyword in call.keywords:
            if keyword.arg is None:
                text = f"arguments of `{self.shown}` come from `**`"
                raise Refused(module, keyword.value, text, "write the arguments out")
            if keyword.arg not in signature:
                text = f"`{self.shown}` is given `{keyword.arg}`, which is not known for it"
                raise Refused(module, keyword.value, text)
            given.append((keyword.arg, keyword.value, True))
        places = _places(module.source, call)
        assert len(places) == len(given)
        # `f(*a, b=1)` is refused above; without a star the written order is ast's.
        return [
            _Argument(name, value, keyword, *place)
            for (name, value, keyword), place in zip(given, places)
        ]

    @property
    def shown(self) -> str:
        """The function as its author wrote it."""
        return self.module.source.code(self.call.func)

    # -- looking ------------------------------------------------------------

    def get(self, name: str) -> ast.expr | None:
        """The value of a parameter; None where it is not given (or gone)."""
        found = self._find(name)
        return found.value if found is not None and not found.dropped else None

    def given(self, name: str) -> ast.expr | None:
        """The value of a parameter if it is given, and not `None`."""
        value = self.get(name)
        return None if is_none(value) else value

    def _find(self, name: str) -> _Argument | None:
        return next((a for a in self._arguments if a.name == name), None)

    # -- changing -----------------------------------------------------------

    def function(self, text: str) -> None:
        """Calls something else."""
        self._function = text

    def drop(self, *names: str) -> None:
        """Leaves arguments out, where they are given."""
        for argument in self._arguments:
            argument.dropped = argument.dropped or argument.name in names

    def rename(self, old: str, new: str) -> None:
        """Gives a parameter the name it has in the new function."""
        argument = self._find(old)
        if argument is not None:
            argument.name = new

    def value(self, name: str, text: str) -> None:
        """Writes another value for an argument that is given."""
        argument = self._find(name)
        assert argument is not None
        argument.text = text

    def wrap(self, name: str, before: str, behind: str = "", parentheses: bool = False) -> None:
        """Puts something around a value, in parentheses if it is an operation."""
        argument = self._find(name)
        assert argument is not None
        enclosed = self.module.source.text[argument.value_start] == "("
        if parentheses and isinstance(argument.value, _LOOSE) and not enclosed:
            before, behind = f"{before}(", f"){behind}"
        argument.before, argument.behind = before, behind

    def add(self, name: str, text: str) -> None:
        """One more keyword argument, behind the others; without a name a positional one."""
        self._added.append((name, text))

    def order(self, names: Iterable[str]) -> None:
        """The new function's parameters that may be given by position: all others get keywords."""
        self._order = tuple(names)

    def keywords_from(self, index: int) -> None:
        """Only the first ``index`` arguments stay positional."""
        kept = [a.name for a in self._arguments if not a.dropped]
        self._order = tuple(kept[:index])

    # -- writing ------------------------------------------------------------

    def edits(self) -> tuple[Edit, ...]:
        """The edits, in offsets of the module's text."""
        source, call = self.module.source, self.call
        text = source.text
        found: list[Edit] = []
        if self._function is not None:
            start, end = source.span(call.func)
            if text[start:end] != self._function:
                found.append(Edit(start, end, self._function))
        kept = [a for a in self._arguments if not a.dropped]
        opening, closing = _brackets(source, call)
        added = ", ".join(f"{name}={value}" if name else value for name, value in self._added)
        if not kept:
            old = text[opening + 1 : closing]
            if self._arguments or added:
                new = "" if self._arguments else old.strip()
                found.append(Edit(opening, closing, f"({new}{added}"))
            return tuple(found)
        previous: _Argument | None = None
        keywords = False
        for position, argument in enumerate(kept):
            name = ""
            if argument.keyword:
                name = argument.name + text[argument.start : argument.value_start].lstrip(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
                )
            elif keywords or self._order[position : position + 1] != (argument.name,):
                name = f"{argument.name}="
            keywords = keywords or bool(name)
            start = opening if previous is None else previous.end
            gap = self._gap(previous, argument, opening)
            behind = previous.behind if previous is not None else ""
            new = behind + gap + name + argument.before
            if new != text[start : argument.value_start]:
                found.append(Edit(start, argument.value_start, new))
            if argument.text is not None:
                found.append(Edit(argument.value_start, argument.end, argument.text))
            previous = argument
        assert previous is not None
        new = previous.behind + (f", {added}" if added else "") + self._tail(previous, closing)
        if new != text[previous.end : closing]:
            old = text[previous.end : closing]
            if old and new.endswith(old):  # an insertion, so that others can insert behind it
                found.append(Edit(previous.end, previous.end, new[: -len(old)]))
            else:
                found.append(Edit(previous.end, closing, new))
        return tuple(found)

    def _gap(self, previous: _Argument | None, argument: _Argument, opening: int) -> str:
        """What stands between two arguments that stay, without the ones that go."""
        text = self.module.source.text
        index = self._arguments.index(argument)
        begin = 0 if previous is None else self._arguments.index(previous) + 1
        start = opening if previous is None else previous.end
        gap = text[start : self._arguments[begin].start]
        if begin < index:
            gap += _own_comments(text[self._arguments[index - 1].end : argument.start])
        return gap

    def _tail(self, last: _Argument, closing: int) -> str:
        """What stands between the last argument that stays and the closing bracket."""
        text = self.module.source.text
        index = self._arguments.index(last)
        if index == len(self._arguments) - 1:
            return text[last.end : closing]
        between = text[last.end : self._arguments[index + 1].start]
        tail = text[self._arguments[-1].end : closing]
        first_line = between.split("\n")[0]
        if "#" not in first_line:
            own = _own_comments(between)
            if "#" not in tail:
                return tail if not own else f",\n{own}{tail}"
            return "\n" + tail.rpartition("\n")[2]
        indent = between.rpartition("\n")[2] if "\n" not in tail else tail.rpartition("\n")[2]
        return f"{first_line}\n{indent}"


def _own_comments(gap: str) -> str:
    """The comments behind a comma that stand on lines of their own, for what follows them."""
    behind = gap.partition("\n")[2]
    return behind.lstrip() if "#" in behind else ""


def _brackets(source: Source, call: ast.Call) -> tuple[int, int]:
    """Where the brackets of a call stand."""
    tokens = _tokens(source, call)
    return tokens[0][1], source.span(call)[1] - 1


def _tokens(source: Source, call: ast.Call) -> list[tuple[str, int, int]]:
    """The tokens of a call from its opening bracket: text, start and end."""
    _, begin = source.span(call.func)
    _, end = source.span(call)
    # The function may stand in brackets of its own: `(f)(x)`.
    return [(s, begin + a, begin + b) for s, a, b in _tokenize(source.text[begin:end])]


@lru_cache(maxsize=512)
def _tokenize(code: str) -> list[tuple[str, int, int]]:
    opening = code.index("(")
    code, shift = code[opening:].replace("\r\n", "\n "), opening
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.ENDMARKER or token.type in _SKIPPED:
            continue
        start = starts[token.start[0] - 1] + token.start[1]
        stop = starts[token.end[0] - 1] + token.end[1]
        found.append((token.string, shift + start, shift + stop))
    return found


def _places(source: Source, call: ast.Call) -> list[tuple[int, int, int]]:
    """Start, start of the value and end of each argument, in written order."""
    found: list[tuple[int, int, int]] = []
    # `lambda a, b: a` has a comma of its own.
    inside = [source.span(v) for v in (*call.args, *(k.value for k in call.keywords))]
    depth = 0
    current: list[tuple[str, int, int]] = []
    for token in _tokens(source, call):
        string = token[0]
        if string in ("(", "[", "{"):
            depth += 1
            if depth == 1:
                continue
        elif string in (")", "]", "}"):
            depth -= 1
        separates = string == "," and not any(start <= token[1] < end for start, end in inside)
        if depth == 0 or (depth == 1 and separates):
            if current:
                named = len(current) > 2 and current[1][0] == "="
                value = current[2] if named else current[0]
                found.append((current[0][1], value[1], current[-1][2]))
            current = []
            if depth == 0:
                break
            continue
        current.append(token)
    return found
