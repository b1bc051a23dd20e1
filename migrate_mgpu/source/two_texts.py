"""One text of two that differ: what only one of them says stands under a condition."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Sequence

_BLOCKS = (ast.FunctionDef, ast.ClassDef, ast.With, ast.For, ast.If)
_DEFINE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


class Unlike(Exception):
    """Two texts that cannot be one."""


def one_text(condition: str, names: Sequence[str], first: str, second: str, indent: str) -> str:
    """The text that says what the first one does where a condition holds, or else the second.

    ``names`` are those that the condition asks, ``indent`` is one step of indentation.

    Raises:
        Unlike: it cannot be written so.
    """
    merging = _Merging(condition, _Side(first), _Side(second), indent)
    text = merging.text()
    tree = ast.parse(text)
    for value, side in ((True, merging.first), (False, merging.second)):
        if _dump(_Resolved(condition, value).visit(ast.parse(text)), merging.added) != _dump(
            ast.parse(side.text), merging.added
        ):
            raise Unlike
    _check_known(tree, condition, names)
    return text


class _Side:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.tree = ast.parse(text)

    def pieces(self, body: Sequence[ast.stmt], start: int) -> list[_Piece]:
        """The statements of a list, which begins behind a line; those on one line are together."""
        found: list[_Piece] = []
        for statement in body:
            assert statement.end_lineno is not None
            if found and _first_line(statement) <= found[-1].end:
                found[-1].statements.append(statement)
            else:
                found.append(_Piece(self, [statement], start))
            start = found[-1].end
        return found


class _Piece:
    """Statements that begin and end with lines of their own, and what stands above them."""

    def __init__(self, side: _Side, statements: list[ast.stmt], start: int) -> None:
        self.side = side
        self.statements = statements
        self.start = start

    @property
    def end(self) -> int:
        return self.statements[-1].end_lineno or 0

    @property
    def lines(self) -> list[str]:
        return self.side.lines[self.start : self.end]

    @property
    def block(self) -> ast.FunctionDef | ast.ClassDef | ast.With | ast.For | ast.If | None:
        """The statement with lines of others in it, which may be alike or not."""
        one = self.statements[0]
        if len(self.statements) > 1 or not isinstance(one, _BLOCKS):
            return None
        return one if _first_line(one.body[0]) > one.lineno else None

    @property
    def key(self) -> str:
        """What two pieces have in common that are written as one."""
        block = self.block
        if block is None:
            return "\n".join(map(ast.dump, self.statements))
        fields = {name: value for name, value in ast.iter_fields(block) if name != "body"}
        return ast.dump(type(block)(**{**fields, "body": []}))


def _first_line(statement: ast.stmt) -> int:
    lines: list[int] = [one.lineno for one in getattr(statement, "decorator_list", [])]
    return min([statement.lineno, *lines])


class _Merging:
    def __init__(self, condition: str, first: _Side, second: _Side, indent: str) -> None:
        self.condition = condition
        self.first = first
        self.second = second
        self.indent = indent
        self.added: set[str] = set()  # definitions that one side alone has

    def text(self) -> str:
        ours, theirs = (side.pieces(side.tree.body, 0) for side in (self.first, self.second))
        found = "".join(self._lists(ours, theirs, None))
        return found + "".join(self.first.lines[ours[-1].end if ours else 0 :])

    def _lists(
        self, ours: list[_Piece], theirs: list[_Piece], around: ast.stmt | None
    ) -> Iterator[str]:
        """The lines of two lists of statements as one."""
        keys, others = ([one.key for one in some] for some in (ours, theirs))
        matcher = difflib.SequenceMatcher(None, keys, others, autojunk=False)
        apart: tuple[list[_Piece], list[_Piece]] = [], []
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind != "equal":
                apart[0].extend(ours[i:j])
                apart[1].extend(theirs[k:m])
                continue
            for one, other in zip(ours[i:j], theirs[k:m]):
                if not self._are_one(one, other, around):
                    apart[0].append(one)
                    apart[1].append(other)
                    continue
                yield from self._apart(*apart, around)
                apart = [], []
                yield from self._one(one, other)
        yield from self._apart(*apart, around)

    @staticmethod
    def _are_one(one: _Piece, other: _Piece, around: ast.stmt | None) -> bool:
        """Whether two pieces of one head are one, with what only one of them has inside of it."""
        block, its = one.block, other.block
        if block is None or its is None or ast.dump(block) == ast.dump(its) or _is_top(around):
            return True
        return not {*map(ast.dump, block.body)}.isdisjoint(map(ast.dump, its.body))

    def _one(self, one: _Piece, other: _Piece) -> Iterator[str]:
        block, its = one.block, other.block
        if block is None or its is None or ast.dump(block) == ast.dump(its):
            yield from one.lines
            return
        begin, begin_of_other = (_first_line(b.body[0]) - 1 for b in (block, its))
        yield from self.first.lines[one.start : begin]
        inside = self.first.pieces(block.body, begin)
        inside_of_other = self.second.pieces(its.body, begin_of_other)
        yield from self._lists(inside, inside_of_other, block)
        yield from self.first.lines[inside[-1].end : one.end]

    def _apart(
        self, ours: list[_Piece], theirs: list[_Piece], around: ast.stmt | None
    ) -> Iterator[str]:
        """What only one side has, or each has in another way."""
        if not (ours or theirs):
            return
        every = [one for piece in (*ours, *theirs) for one in piece.statements]
        if (
            _is_top(around)
            and not (ours and theirs)
            and all(isinstance(one, _DEFINE) for one in every)
        ):
            self.added |= set(map(ast.dump, every))
            for piece in (*ours, *theirs):
                yield from piece.lines
            return
        if isinstance(around, ast.ClassDef):
            raise Unlike
        opened = self.condition if ours else opposite(self.condition)
        space, headers = " " * every[0].col_offset, [f"if {opened}:", "else:"]
        blocks = [[line for piece in some for line in piece.lines] for some in (ours, theirs)]
        blocks = [block for block in blocks if block]
        while _says_nothing(blocks[0][0]) and all(b[0] == blocks[0][0] for b in blocks):
            yield blocks[0][0]  # what stands above both
            for block in blocks:
                del block[0]
        for header, lines in zip(headers, blocks):
            while not lines[0].strip():
                del lines[0]
            newline = "\r\n" if lines[0].endswith("\r\n") else "\n"
            yield space + header + newline
            for line in lines:
                line = line if line.endswith("\n") else line + newline
                yield self.indent + line if line.strip() else line


def _is_top(around: ast.stmt | None) -> bool:
    """Whether lines are a module's own, or a class's."""
    return around is None or isinstance(around, ast.ClassDef)


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def opposite(condition: str) -> str:
    """A condition that holds where another does not."""
    node = ast.parse(condition, mode="eval").body
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.unparse(node.operand)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return f"not {condition}"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for sign, other in ((" == ", " != "), (" != ", " == ")):
            if condition.count(sign) == 1:
                return condition.replace(sign, other)
    return f"not ({condition})"


class _Resolved(ast.NodeTransformer):
    """A program as it is where a condition holds, or does not."""

    def __init__(self, condition: str, value: bool) -> None:
        self.value = value
        self.tests = {_dump_of(condition): value, _dump_of(opposite(condition)): not value}

    def visit_If(self, node: ast.If) -> object:
        self.generic_visit(node)
        value = self.tests.get(ast.dump(node.test))
        return node if value is None else node.body if value else node.orelse


def _dump_of(condition: str) -> str:
    return ast.dump(ast.parse(condition, mode="eval").body)


def _dump(tree: ast.Module, added: set[str]) -> str:
    def rest(body: list[ast.stmt]) -> list[ast.stmt]:
        for one in body:
            if isinstance(one, ast.ClassDef):
                one.body = rest(one.body)
        return [one for one in body if ast.dump(one) not in added]

    tree.body = rest(tree.body)
    return ast.dump(tree)


def _check_known(tree: ast.Module, condition: str, names: Sequence[str]) -> None:
    """Whether what a condition asks is there already where the module's own lines ask it.

    Raises:
        Unlike: it is not.
    """
    tests = {_dump_of(condition), _dump_of(opposite(condition))}
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.dump(statement.test) in tests:
            raise Unlike
        known = {t.id for t in getattr(statement, "targets", ()) if isinstance(t, ast.Name)}
        if known >= set(names):
            return
