"""One call changed as a libcst tree: its function, arguments renamed, gone, wrapped or added."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from migrate_mgpu.core.records import record
from migrate_mgpu.source.members import followed, without
from migrate_mgpu.source.source import LINE_END, Edit, Source

if TYPE_CHECKING:
    import libcst as cst

# Operators that bind more loosely than a multiplication, and so need parentheses in one.
_LOOSE = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp, ast.NamedExpr)
# What stands before the first argument, a later one, and behind the last.
_FIRST = re.compile(r"(\s*\(\s*)((?:\w+\s*=\s*)?)")
_NEXT = re.compile(r"(\s*,\s*)((?:\w+\s*=\s*)?)")
_NONE = re.compile(r"(\()\)")
_LAST = re.compile(r"\s*,?\s*\)")


@record()
class _Argument:
    """An argument of the author's: its parameter, its value and what becomes of it."""

    name: str  # the parameter; empty where it cannot be determined
    value: ast.expr
    start: int  # of the value, without parentheses around it
    end: int
    dropped: bool = False
    text: str | None = None  # instead of the value
    before: str = ""
    behind: str = ""
    parentheses: bool = False
    keyword: str = ""  # as its author wrote it

    def pieces(self) -> list[_Argument | str]:
        """The value, and what is written around it; or what is written instead."""
        if self.text is not None:
            return [f"{self.before}{self.text}{self.behind}"]
        around = "()" if self.parentheses else ("", "")
        return [self.before + around[0], self, around[1] + self.behind]


class CallEdit:
    """Edits of one call that leave its arguments' own text to others.

    ``parameters`` give positional arguments their names. In the tree a name stands for each
    value (a hole), so that every edit covers the function, what is between arguments or a
    value that is replaced, never a value that stays: edits of nested expressions that
    somebody else makes do not overlap them.
    """

    def __init__(self, source: Source, call: ast.Call, parameters: Sequence[str] = ()) -> None:
        self.source = source
        self.call = call
        self._function: str | None = None
        self._added: list[tuple[str, str, bool]] = []
        self._order: tuple[str, ...] = tuple(parameters)
        given: list[tuple[str, str, ast.expr]] = []
        for index, value in enumerate(call.args):
            if isinstance(value, ast.Starred):
                given.append(("", "", value.value))
            else:
                given.append((parameters[index] if index < len(parameters) else "", "", value))
        given += [(one.arg or "", one.arg or "", one.value) for one in call.keywords]
        given.sort(key=lambda one: (one[2].lineno, one[2].col_offset))
        self._arguments = [
            _Argument(name, value, *self._span(value), keyword=keyword)
            for name, keyword, value in given
        ]

    def _span(self, value: ast.expr) -> tuple[int, int]:
        start, end = self.source.span(value)
        if isinstance(value, ast.GeneratorExp) and end == self.source.span(self.call)[1]:
            return start + 1, end - 1  # the call's own brackets are its too
        return start, end

    @property
    def shown(self) -> str:
        """The function as its author wrote it."""
        return self.source.code(self.call.func)

    # -- looking ------------------------------------------------------------

    def get(self, name: str) -> ast.expr | None:
        """The value of a parameter; None where it is not given (or gone)."""
        found = self._find(name)
        return found.value if found is not None and not found.dropped else None

    def given(self, name: str) -> ast.expr | None:
        """The value of a parameter if it is given, and not `None`."""
        value = self.get(name)
        return None if isinstance(value, ast.Constant) and value.value is None else value

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

    def drop_value(self, value: ast.expr, shifts: bool = True) -> None:
        """Leaves one argument out.

        A positional one that others stand behind becomes `None`, unless they are meant to
        move up (``shifts``).
        """
        index = next(i for i, a in enumerate(self._arguments) if a.value is value)
        behind = [argument.value for argument in self._arguments[index + 1 :]]
        if not shifts and value in self.call.args and any(v in self.call.args for v in behind):
            self._arguments[index].text = "None"
        else:
            self._arguments[index].dropped = True

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
        argument.before, argument.behind = before, behind
        argument.parentheses = parentheses and isinstance(argument.value, _LOOSE)

    def add(self, name: str, text: str, first: bool = False) -> None:
        """One more keyword argument, behind the others; without a name a positional one."""
        self._added.append((name, text, first))

    def order(self, names: Iterable[str]) -> None:
        """The new function's parameters that may be given by position: all others get keywords."""
        self._order = tuple(names)

    # -- writing ------------------------------------------------------------

    def edits(self) -> tuple[Edit, ...]:
        """The edits, in offsets of the source's text."""
        begin, end = self.source.span(self.call.func)[1], self.source.span(self.call)[1]
        found: list[Edit] = []
        if self._function is not None and self.shown != self._function:
            found.append(Edit(self.source.span(self.call.func)[0], begin, self._function))
        if not self._arguments and not self._added:
            return tuple(found)
        stays: list[_Argument] = []
        gaps = [""]
        for piece in self._plain(begin, end) or self._written(begin, end):
            if isinstance(piece, _Argument):
                stays.append(piece)
                gaps.append("")
            else:
                gaps[-1] += piece
        starts = [begin, *(argument.end for argument in stays)]
        stops = [*(argument.start for argument in stays), end]
        for start, stop, new in zip(starts, stops, gaps):
            old = self.source.text[start:stop]
            if stop == end and stays and new.endswith(old):
                stop, new = start, new[: -len(old)]  # others can insert behind an insertion
            if new != self.source.text[start:stop]:
                found.append(Edit(start, stop, new))
        return tuple(found)

    def _plain(self, begin: int, end: int) -> list[_Argument | str] | None:
        """As ``_written``, for a list of values, names, commas and white space; None for others.

        Almost all calls have such a list, and loading libcst takes twice as long as
        django-upgrade takes for sixty files. Both ways give the same: a test compares them.
        """
        arguments = self._arguments
        starts = [begin, *(argument.end for argument in arguments)]
        stops = [*(argument.start for argument in arguments), end]
        patterns = [_FIRST, *[_NEXT] * (len(arguments) - 1), _LAST] if arguments else [_NONE]
        found = [
            match
            for pattern, start, stop in zip(patterns, starts, stops)
            if (match := pattern.fullmatch(self.source.text, start, stop))
        ]
        if len(found) < len(patterns):
            return None
        if self._added and any(LINE_END.search(match[0]) for match in found):
            return None  # what is added may get a line of its own
        items: list[list[_Argument | str]] = []
        between: list[str] = []
        position = 0  # of what stands before the next argument that stays
        for index, argument, name in self._kept():
            keyword = found[index][2]
            if name:
                keyword = name + keyword[len(argument.keyword) :] if keyword else f"{name}="
            items.append([keyword, *argument.pieces()])
            between.append(found[position][1])
            position = index + 1
        head, tail = (between.pop(0), found[-1][0]) if items else (found[0][1].rstrip(), ")")
        for name, text, first in self._added:
            if items:
                between.insert(0 if first else len(between), ", ")
            items.insert(0 if first else len(items), [f"{name}={text}" if name else text])
        pieces: list[_Argument | str] = [head]
        for separator, item in zip([*between, tail], items):
            pieces += [*item, separator]
        return pieces if items else [head, tail]

    def _kept(self) -> Iterator[tuple[int, _Argument, str]]:
        """The arguments that stay, each with its index and the keyword it gets, if it gets one."""
        keywords, place = False, 0
        for index, argument in enumerate(self._arguments):
            if argument.dropped:
                continue
            if argument.keyword or self._order[place : place + 1] != (argument.name,):
                keywords = keywords or bool(argument.keyword or argument.name)
            yield index, argument, argument.name if keywords else ""
            place += 1

    def _written(self, begin: int, end: int) -> list[_Argument | str]:
        """What stands behind the function: arguments whose values stay, and code around them."""
        import libcst as cst

        text = self.source.text
        holes = _Holes(text[begin:end])
        code, position = "f", begin
        for argument in self._arguments:
            code += text[position : argument.start] + holes.name(argument)
            position = argument.end
        code += text[position:end]
        call = cst.parse_expression(f"({code}\n)")  # in brackets, where any line break may be
        call = cst.ensure_type(call, cst.Call).with_changes(lpar=(), rpar=())
        line_end = LINE_END.search(code)
        printer = cst.Module([], default_newline=line_end.group() if line_end else "\n")
        written = printer.code_for_node(self._changed(call, holes))
        return holes.split(written[1:])

    def _changed(self, call: cst.Call, holes: _Holes) -> cst.Call:
        import libcst as cst

        nodes = [
            node.with_changes(value=self._value(argument, node.value, holes))
            for argument, node in zip(self._arguments, call.args)
        ]
        gone = [index for index, argument in enumerate(self._arguments) if argument.dropped]
        arguments, space = without(nodes, gone, call.whitespace_before_args)
        for place, (_, _, name) in enumerate(self._kept()):
            if name:
                arguments[place] = _named(arguments[place], name)
        if not arguments and nodes:
            space = cst.SimpleWhitespace("")
        for name, text, first in self._added:
            added = _named(cst.Arg(cst.Name(holes.name(text))), name)
            if arguments and first:
                comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                arguments.insert(0, added.with_changes(comma=comma))
                continue
            arguments = followed(arguments, added) if arguments else [added]
        return call.with_changes(args=arguments, whitespace_before_args=space)

    def _value(
        self, argument: _Argument, node: cst.BaseExpression, holes: _Holes
    ) -> cst.BaseExpression:
        import libcst as cst

        if argument.text is not None:
            node = cst.Name(holes.name(argument.text))
        elif argument.parentheses and not node.lpar:
            node = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        if not argument.before and not argument.behind:
            return node
        code = cst.Module([]).code_for_node(node)
        return cst.parse_expression(argument.before + code + argument.behind)


class _Holes:
    """Names that stand for something in a tree: an argument's value, or new text."""

    def __init__(self, code: str) -> None:
        self._prefix = "_hole"
        while self._prefix in code:
            self._prefix += "_"
        self._filled: list[_Argument | str] = []

    def name(self, filled: _Argument | str) -> str:
        self._filled.append(filled)
        return f"{self._prefix}{len(self._filled) - 1}_"

    def split(self, code: str) -> list[_Argument | str]:
        """Code with what its holes stand for."""
        pieces: list[_Argument | str] = [*re.split(rf"{self._prefix}(\d+)_", code)]
        pieces[1::2] = [self._filled[int(str(index))] for index in pieces[1::2]]
        return pieces


def _named(node: cst.Arg, name: str) -> cst.Arg:
    """An argument with a keyword; without a name as it is."""
    import libcst as cst

    if not name:
        return node
    if node.keyword is not None:
        return node.with_changes(keyword=cst.Name(name))
    bare = cst.SimpleWhitespace("")
    equal = cst.AssignEqual(whitespace_before=bare, whitespace_after=bare)
    return node.with_changes(keyword=cst.Name(name), equal=equal)
