"""A class with what it inherits from another class of its module, read as one.

    class Model(BaseModel):
        def __init__(self, config):
            super(Model, self).__init__(config)

What `BaseModel` does for its objects stands in `Model` while a program is planned; nothing else
may inherit it. What becomes of a method goes back to the class in which it stands. The base's
constructor is a method of another name until then: where it became a part of the other class's
constructor, the statements that stay as they were go back, and the call of it with them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.findings import Finding, RunResult
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.normalize.objects.graph_methods import in_line, moved
from migrate_mgpu.run.relocation import rewritten
from migrate_mgpu.source.history import before
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, start_with_comments

_ABSTRACT = ("abc.ABC", "abc.ABCMeta", "builtins.object", "six.add_metaclass")
_RUNS = ("run", "restore", "save")  # methods of a session, or a saver


@record(frozen=True, eq=False)
class Merged:
    """A module whose class ``derived`` has what it inherits from ``base``.

    ``names`` are those of the base's methods and attributes that stand there, with what they are
    called there; ``calls`` says how the derived class writes those that it calls by the base.
    ``lines`` has the original line of each line of ``data``.
    """

    home: Module
    base: ast.ClassDef
    derived: ast.ClassDef
    data: bytes
    names: Mapping[str, str]
    calls: Mapping[str, str]
    header: str
    lines: tuple[int, ...]

    def relocated(self, result: RunResult) -> bool:
        """Puts what a plan says of the one class into both; whether that can be done."""
        files = {file.path: file for file in result.files}
        home = files.get(self.home.path)
        if home is None or home.after is None or home.error is not None:
            return False
        text = _Parted(self, home.after).text()
        if text is None:
            return False
        home.before, home.after = self.home.source.file_text, text
        home.findings = sorted(map(self.moved, home.findings), key=lambda one: one.position)
        for index, program in enumerate(result.programs):
            if home.path in program.paths:
                reasons = tuple(map(self.moved, program.reasons))
                result.programs[index] = replaced(program, reasons=reasons)
        return True

    def moved(self, finding: Finding) -> Finding:
        """What is said of the one class, of the line where it stands."""
        if finding.path != self.home.path:
            return finding
        return replaced(finding, line=self.lines[min(finding.line, len(self.lines)) - 1])

    @property
    def origins(self) -> tuple[Path, ...]:
        """The files that are read as a part of another one."""
        return ()


@record(frozen=True, eq=False)
class Written:
    """A merged text in which the base's constructor is a part of the class's own."""

    home: Module
    edits: list[Edit]
    data: bytes

    def relocated(self, result: RunResult) -> bool:
        """Puts what a plan says of the text where it was before."""
        for file in result.files:
            if file.path == self.home.path:
                file.findings = sorted(map(self.moved, file.findings), key=lambda o: o.position)
        for index, program in enumerate(result.programs):
            if self.home.path in program.paths:
                reasons = tuple(map(self.moved, program.reasons))
                result.programs[index] = replaced(program, reasons=reasons)
        return True

    def moved(self, finding: Finding) -> Finding:
        """What is said of the text, of the line where it was before."""
        if finding.path != self.home.path:
            return finding
        lines = self.data.decode("utf-8", "replace").split("\n")
        offset = sum(len(line) + 1 for line in lines[: finding.line - 1])
        was, _ = before(offset, self.edits)
        return replaced(finding, line=self.home.source.place(was)[0])

    @property
    def origins(self) -> tuple[Path, ...]:
        """The files that are read as a part of another one."""
        return ()


def with_constructor(one: Merged, module: Module, graph: CallGraph) -> Written | None:
    """The text of a merged class, ``module``, with what the base's constructor does in its own."""
    name = one.names.get("__init__", "__init__")
    for owner in module.tree.body:
        if not isinstance(owner, ast.ClassDef) or owner.name != one.derived.name:
            continue
        node = constructor_of(owner)
        for statement in in_line(node.body) if node is not None else ():
            call = statement.value if isinstance(statement, ast.Expr) else None
            func = call.func if isinstance(call, ast.Call) else None
            if not isinstance(func, ast.Attribute) or func.attr != name or node is None:
                continue
            assert isinstance(statement, ast.Expr)
            new = rewritten({module: moved(module, graph, owner, node, statement)})
            if module in new and new[module].edits:
                return Written(module, new[module].edits, new[module].data)
    return None


def merged(module: Module, graph: CallGraph) -> Merged | None:
    """A module with one class that has what it inherits; None where there is none to be had."""
    if not module.writable or isinstance(module.source, Notebook):
        return None
    classes = {one.name: one for one in module.tree.body if isinstance(one, ast.ClassDef)}
    for derived in classes.values():
        given = derived.bases[0] if len(derived.bases) == 1 else None
        base = classes.get(given.id) if isinstance(given, ast.Name) else None
        if base is None or derived.keywords or derived.decorator_list:
            continue
        if _matters(module, base) or _matters(module, derived):
            found = _Classes(module, graph, base, derived).merged()
            if found is not None:
                return found
    return None


def home_of(home: Module, graph: CallGraph) -> Module:
    """The module of the class that has the graph, where a base of it makes the session.

    That is the one module whose class inherits from one of ``home``, which it imports.
    """
    found: dict[Module, None] = {}
    for module in graph.modules:
        if module is not home and home in module.imported:
            for node in module.tree.body:
                for base in node.bases if isinstance(node, ast.ClassDef) else ():
                    known = graph.class_of(module, base)
                    if known is not None and known[0] is home:
                        found[module] = None
    return next(iter(found)) if len(found) == 1 else home


def _matters(module: Module, owner: ast.ClassDef) -> bool:
    """Whether a class calls TensorFlow, or runs what another one made."""
    return any(
        name_of(module, part) or getattr(part.func, "attr", "") in _RUNS
        for part in walk(owner)
        if isinstance(part, ast.Call)
    )


def _items(owner: ast.ClassDef) -> dict[str, ast.stmt] | None:
    """The methods and attributes of a class by their names; None where one has two values."""
    found: dict[str, ast.stmt] = {}
    for place, one in enumerate(owner.body):
        if isinstance(one, ast.FunctionDef):
            name = one.name
        elif isinstance(one, ast.Assign) and len(one.targets) == 1:
            target = one.targets[0]
            if not isinstance(target, ast.Name):
                return None
            name = target.id
        elif isinstance(one, ast.Pass) or (place == 0 and _is_text(one)):
            continue
        else:
            return None
        if name in found:
            return None
        found[name] = one
    return found


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return statement.decorator_list if isinstance(statement, ast.FunctionDef) else []


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_private(name: str) -> bool:
    """Whether a class has a name for itself alone: another one's is not the same."""
    return name.startswith("__") and not name.endswith("__")


class _Classes:
    """A class and its base, as they become one."""

    def __init__(
        self, module: Module, graph: CallGraph, base: ast.ClassDef, derived: ast.ClassDef
    ) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.base = base
        self.derived = derived
        self.edits: list[Edit] = []
        self.gone: set[int] = set()  # lines
        self.by_base: dict[str, str] = {}  # what is called by the base: its name here
        self.calls: dict[str, str] = {}

    def merged(self) -> Merged | None:
        ours, theirs = _items(self.derived), _items(self.base)
        if ours is None or theirs is None or not theirs or not self._is_plain():
            return None
        if not self._calls_of_base(ours, theirs) or not self._without_object():
            return None
        moved = {name: name for name in theirs if name not in ours}
        if any(map(self._is_abstract, (theirs[name] for name in moved))):
            return None
        moved.update(self.by_base)
        if not moved:
            return None
        for name, new in self.by_base.items():
            node = theirs[name]
            if not isinstance(node, ast.FunctionDef) or node.decorator_list:
                return None
            start = self.source.span(node)[0]
            at = self.source.text.index(name, start)
            self.edits.append(Edit(at, at + len(name), new))
        items = {name: theirs[name] for name in theirs if name in moved}
        if not all(map(self._owns_lines, items.values())):
            return None
        indents = {self.source.indent_of(one) for one in items.values()}
        indents.add(self.source.indent_of(self.derived.body[0]))
        if len(indents) > 1:
            return None
        return self._written(items, moved)

    def _owns_lines(self, node: ast.stmt) -> bool:
        layout = Layout(self.source, node)
        start = self.source.line_starts[node.lineno - 1]
        behind = layout.rest.strip()
        alone = not self.source.text[start : layout.start].strip()
        return alone and (not behind or behind.startswith("#"))

    # -- what may be one ------------------------------------------------------------------

    def _is_plain(self) -> bool:
        """Whether nothing but the derived class has to do with the base."""
        for one in (*self.base.bases, *(k.value for k in self.base.keywords)):
            if self.names.qualname(one) not in _ABSTRACT:
                return False
        for one in self.base.decorator_list:
            func = one.func if isinstance(one, ast.Call) else one
            if self.names.qualname(func) not in _ABSTRACT:
                return False
        if self.base.lineno > self.derived.lineno:
            return False
        header = self.derived.bases[0]
        self.mentions = self.names.mentions(self.base.name, self.names.module_scope)
        for module in self.graph.modules:
            if module is not self.module and self._mentioned(module):
                return False
        for one in self.mentions:
            inside = {*self.names.ancestors(one)}
            if one is not header and self.base not in inside and self.derived not in inside:
                return False
        for part in (*walk(self.base), *walk(self.derived)):
            name = getattr(part, "attr", None) or getattr(part, "name", None)
            if part in (self.base, self.derived) or not isinstance(name, str):
                continue
            if _is_private(name):
                return False
        return True

    def _mentioned(self, module: Module) -> bool:
        name = self.base.name
        if module.names.attributes.get(name) or module.names.by_id.get(name):
            known = self.module in module.imported
            return known or any(
                self.graph.class_of(module, one) == (self.module, self.base)
                for one in module.names.by_id.get(name, ())
            )
        return False

    def _is_abstract(self, node: ast.stmt) -> bool:
        qualname = self.names.qualname
        return any((qualname(one) or "").startswith("abc.") for one in _decorators(node))

    # -- calls of the base's methods ------------------------------------------------------

    def _calls_of_base(self, ours: Mapping[str, ast.stmt], theirs: Mapping[str, ast.stmt]) -> bool:
        """Names the methods that the derived class calls by the base; whether it can be done."""
        left = {
            one
            for one in self.mentions
            if one is not self.derived.bases[0] and self.derived in self.names.ancestors(one)
        }
        for part in walk(self.derived):
            if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
                continue
            receiver = part.func.value
            named = isinstance(receiver, ast.Name) and receiver in left
            if not named and not self._is_super(receiver, self.derived):
                continue
            function = self.names.scope_at(part).function()
            if not isinstance(function, ast.FunctionDef) or not function.args.args:
                return False
            if self.names.parents[function] is not self.derived or function.decorator_list:
                return False
            me, name = function.args.args[0].arg, part.func.attr
            if name not in theirs:
                if name != "__init__" or not self._drops(part, me, named):
                    return False
                left -= {receiver}
                continue
            if not self._calls(part, me, named, name, ours):
                return False
            left -= {receiver}
        supers = [
            one for one in walk(self.derived) if isinstance(one, ast.Name) and one.id == "super"
        ]
        return not left and len(supers) == self._supers

    _supers = 0

    def _is_super(self, node: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether an expression is `super()`, or the same in the words of Python 2."""
        if not isinstance(node, ast.Call) or self.names.qualname(node.func) != "builtins.super":
            return False
        if node.keywords or len(node.args) not in (0, 2):
            return False
        if node.args:
            first = node.args[0]
            if not isinstance(first, ast.Name) or first.id != owner.name:
                return False
            function = self.names.scope_at(node).function()
            me = function.args.args[0].arg if isinstance(function, ast.FunctionDef) else ""
            second = node.args[1]
            if not isinstance(second, ast.Name) or second.id != me:
                return False
        return True

    def _drops(self, call: ast.Call, me: str, named: bool) -> bool:
        """Takes a call of `object`'s constructor away; whether that can be done."""
        if len(call.args) != int(named) or call.keywords:
            return False
        statement = self.names.statement(call)
        layout = Layout(self.source, statement)
        block = self.names.block(statement)
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return False
        if not layout.owns_lines or len(block) < 2:
            return False
        self._supers += not named
        self.gone |= set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
        return True

    def _calls(
        self, call: ast.Call, me: str, named: bool, name: str, ours: Mapping[str, ast.stmt]
    ) -> bool:
        """`super().load(sess)` is `self.load_of_base(sess)`; whether that can be written."""
        assert isinstance(call.func, ast.Attribute)
        start, end = self.source.span(call.func)
        text = self.source.text[start:end]
        if "\n" in text:
            return False
        if named:
            if not call.args or not isinstance(call.args[0], ast.Name) or call.args[0].id != me:
                return False
            first = self.source.span(call.args[0])
            close = self.source.span(call)[1] - 1
            stop = self.source.span(call.args[1])[0] if len(call.args) > 1 else first[1]
            if len(call.args) == 1 and call.keywords:
                stop = self.source.text.index(",", first[1]) + 1
                while self.source.text[stop] == " ":
                    stop += 1
            if stop > close or "\n" in self.source.text[end:stop]:
                return False
            self.edits.append(Edit(end, stop, "("))
            text += f"({me}"
        if name not in ours:
            return False
        new = "init" if name == "__init__" else name.strip("_")
        new = f"_{new}_of_{self.base.name}"
        if self.names.attributes.get(new) or new in ours:
            return False
        if self.calls.setdefault(new, text) != text:
            return False
        self.by_base[name] = new
        self.edits.append(Edit(start, end, f"{me}.{new}"))
        self._supers += not named
        return True

    def _without_object(self) -> bool:
        """What the base calls of `object` goes: `super().__init__()`."""
        for part in walk(self.base):
            if not isinstance(part, ast.Name) or part.id not in ("super", self.base.name):
                continue
            if part.id == self.base.name:
                parent = self.names.parents[part]
                if isinstance(parent, ast.Call) and self._is_super(parent, self.base):
                    continue
                return False
            made = self.names.parents[part]
            if not isinstance(made, ast.Call) or not self._is_super(made, self.base):
                return False
            func = self.names.parents[made]
            call = self.names.parents[func]
            if not isinstance(func, ast.Attribute) or func.attr != "__init__":
                return False
            if not isinstance(call, ast.Call) or not self._drops(call, "", False):
                return False
        return True

    # -- the text -------------------------------------------------------------------------

    def _written(self, items: Mapping[str, ast.stmt], names: Mapping[str, str]) -> Merged | None:
        source = self.source
        given = self.derived.bases[0]
        start, end = source.span(given)
        head = source.text[source.span(self.derived)[0] : source.span(self.derived.body[0])[0]]
        header = head.split("\n")[0]
        if not header.rstrip().endswith(":") and "#" not in header:
            return None
        self.edits.append(Edit(start, end, "object"))
        at = source.span(self.derived)[0]
        new = splice(header, [Edit(start - at, end - at, "object")])
        text = splice(source.text, self.edits)
        rows = text.split("\n")
        if len(rows) != source.text.count("\n") + 1:
            return None
        parts: list[list[int]] = []
        for one in items.values():
            parts.append(self._rows(one))
        inside = {row for part in parts for row in part}
        blank = {row for part in parts for row in self._blank_above(part[0], rows)}
        whole = inside | blank
        body = self.base.body
        left = [one for one in body if one not in items.values() and not isinstance(one, ast.Pass)]
        constructor = constructor_of(self.derived)
        start_line = self.derived.body[0].lineno
        above = self._first_line(start_line)
        if _is_text(self.derived.body[0]):
            above = (self.derived.body[0].end_lineno or start_line) + 1
        if constructor is not None:
            above = (constructor.end_lineno or start_line) + 1
        order = sorted(items, key=lambda name: names[name] != "__init__")
        found: list[tuple[str, int]] = []
        newline = "\r" if source.newline == "\r\n" else ""

        def put() -> None:
            for name in order:
                part = [row for row in self._rows(items[name]) if row not in self.gone]
                if constructor is not None:
                    found.append((newline, found[-1][1]))
                found.extend((rows[row - 1], row) for row in part)
                if constructor is None:
                    found.append((newline, part[-1]))

        for number, row in enumerate(rows, 1):
            if number == above:
                put()
            if number not in whole and number not in self.gone:
                found.append((row, number))
            if number == self.base.body[-1].end_lineno and not left:
                indent = source.indent_of(self.base.body[0])
                if not any(isinstance(one, ast.Pass) for one in body):
                    found.append((f"{indent}pass{newline}", number))
        if above > len(rows):
            put()
        data = "\n".join(row for row, _ in found)
        try:
            compile(data, str(self.module.path), "exec", dont_inherit=True)
            encoded = source.encode(data)
        except (SyntaxError, ValueError):
            return None
        return Merged(
            self.module, self.base, self.derived, encoded, dict(names), self.calls, new,
            tuple(number for _, number in found),
        )  # fmt: skip

    def _first_line(self, line: int) -> int:
        return min([line, *(one.lineno for one in _decorators(self.derived.body[0]))])

    def _rows(self, node: ast.stmt) -> list[int]:
        """The lines of a method, with the comments above it."""
        return _rows(self.source.text, Layout(self.source, node).line_start, node)

    def _blank_above(self, row: int, rows: list[str]) -> Iterator[int]:
        while row > 1 and not rows[row - 2].strip() and row - 1 > self.base.lineno:
            row -= 1
            yield row


def _rows(text: str, line_start: int, node: ast.stmt) -> list[int]:
    start = start_with_comments(text, line_start)
    first = text[:start].count("\n") + 1
    return list(range(first, (node.end_lineno or node.lineno) + 1))


class _Parted:
    """What became of the one class, as two."""

    def __init__(self, merged: Merged, after: str) -> None:
        self.merged = merged
        self.newline = merged.home.source.newline
        self.after = after.replace("\r\n", "\n")
        self.lines = self.after.split("\n")

    def text(self) -> str | None:
        """The text with both classes; None where they cannot be told apart."""
        one = self.merged
        tree = ast.parse(self.after)
        classes = [part for part in tree.body if isinstance(part, ast.ClassDef)]
        bases = [part for part in classes if part.name == one.base.name]
        owners = [part for part in classes if part.name == one.derived.name]
        if len(bases) != 1 or len(owners) != 1:
            return None
        base, owner = bases[0], owners[0]
        if self.lines[owner.lineno - 1].strip() != one.header.strip():
            return None
        source = one.home.source
        original = source.text.replace("\r\n", "\n")
        rows = original.split("\n")
        if self.lines[base.lineno - 1] != rows[one.base.lineno - 1]:
            return None
        there, kept = _items(owner), _items(base)
        earlier = _items(one.base)
        if there is None or kept is None or earlier is None:
            return None
        taken: dict[str, list[str]] = {}
        gone: set[int] = set()
        for name, new in one.names.items():
            node = there.get(new)
            if node is None:
                continue
            part = self._part(node)
            text = [self.lines[row - 1] for row in part]
            same = "\n".join(text) == "\n".join(self._original(earlier[name], name, new))
            if name == "__init__" and new == name and not same:
                continue  # it makes what the methods of the other class made
            if name != new:
                first = node.lineno - 1 - (part[0] - 1)
                text[first] = text[first].replace(new, name, 1)
            taken[name] = text
            gone |= set(part) | set(self._above(part[0], owner))
        if not self._calls(there, owner):
            return None
        new = one.names.get("__init__", "__init__")
        made = there.get("__init__")
        if new not in there and isinstance(made, ast.FunctionDef):
            again = self._again(made)
            if again is not None:
                taken["__init__"], rows_gone = again
                gone |= rows_gone
        return self._written(base, owner, taken, gone, rows, kept, earlier)

    def _again(self, made: ast.FunctionDef) -> tuple[list[str], set[int]] | None:
        """The base's constructor, of the statements that are still the same in the other one.

        With the lines that go there; the call of it stands in the place of the first.
        """
        one = self.merged
        source = one.home.source
        theirs, call = constructor_of(one.base), self._call_of_base()
        if theirs is None or call is None:
            return None
        statement = one.home.names.statement(call)
        arguments = [item.arg for item in theirs.args.args[1:]]
        defaults = theirs.args.defaults
        known = dict(zip(arguments[len(arguments) - len(defaults) :], defaults))
        known.update(zip(arguments, self._given(call)))
        known.update((k.arg, k.value) for k in call.keywords if k.arg)
        known = {n: v for n, v in known.items() if all(isinstance(p, _PLAIN) for p in ast.walk(v))}
        ours = constructor_of(one.derived)
        plain = statement.lineno == statement.end_lineno and isinstance(statement, ast.Expr)
        if not plain or ours is None or ours.args.args[0].arg != theirs.args.args[0].arg:
            return None
        told = ((item, _there(item, known, theirs)) for item in theirs.body if not _is_text(item))
        left = [(item, text) for item, text in told if text is not None]
        best: list[tuple[ast.stmt, ast.stmt]] = []
        for place in range(len(made.body)):
            found: list[tuple[ast.stmt, ast.stmt]] = []
            rest = list(left)
            for item in made.body[place:]:
                texts = [text for _, text in rest]
                if ast.dump(item) not in texts:
                    break
                at = texts.index(ast.dump(item))
                found.append((item, rest[at][0]))
                rest = rest[at + 1 :]
            best = max(best, found, key=len)
        if not best:
            return None
        stays = {other for _, other in best}
        rows = self._rows_of(theirs)
        text = source.text.replace("\r\n", "\n").split("\n")
        out: set[int] = set()
        for item in theirs.body:
            if item not in stays and not _is_text(item):
                out |= set(self._rows_of(item))
        written = self._called(call, made, ours, theirs, stays)
        if written is None:
            return None
        line, dropped = written
        if dropped and not self._without(theirs, dropped, text):
            return None
        first, last = best[0][0], best[-1][0]
        begin = self._part(first)[0]
        gone = set(range(begin, (last.end_lineno or last.lineno) + 1))
        self.lines[begin - 1] = source.indent_of(statement) + line
        return [text[row - 1] for row in rows if row not in out], gone - {begin}

    def _called(
        self,
        call: ast.Call,
        made: ast.FunctionDef,
        ours: ast.FunctionDef,
        theirs: ast.FunctionDef,
        stays: set[ast.stmt],
    ) -> tuple[str, set[str]] | None:
        """The call of the base's constructor, and the parameters that it has no longer.

        What the other constructor is not given any more, a session, no statement here reads.
        """
        source = self.merged.home.source
        gone = _bound(ours) - _bound(made)
        used = {n.id for one in stays for n in walk(one) if isinstance(n, ast.Name)}
        named = isinstance(getattr(call.func, "value", None), ast.Name)
        parameters = [item.arg for item in theirs.args.args[1:]]
        kept = [source.code(one) for one in call.args[:1]] if named else []
        dropped: set[str] = set()
        given = self._given(call)
        if any(isinstance(one, ast.Starred) for one in given) or len(given) > len(parameters):
            return None
        pairs = [(name, value, "") for name, value in zip(parameters, given)]
        pairs += [(k.arg or "", k.value, f"{k.arg}=") for k in call.keywords]
        for name, value, prefix in pairs:
            if any(isinstance(n, ast.Name) and n.id in gone for n in walk(value)):
                if name in used or name not in parameters:
                    return None
                dropped.add(name)
            else:
                kept.append(prefix + source.code(value))
        return f"{source.code(call.func)}({', '.join(kept)})", dropped

    def _without(self, theirs: ast.FunctionDef, dropped: set[str], text: list[str]) -> bool:
        """Takes parameters out of the base's constructor; whether that can be written."""
        arguments = theirs.args
        plain = not (arguments.posonlyargs or arguments.kwonlyargs or arguments.kwarg)
        if not plain or arguments.vararg or theirs.lineno == theirs.body[0].lineno:
            return False
        row = text[theirs.lineno - 1]
        if not row.rstrip().endswith(":"):
            return False
        blank: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
        left: list[str] = []
        for one, default in zip(arguments.args, [*blank, *arguments.defaults]):
            if one.arg not in dropped:
                code = ast.unparse(one)
                left.append(code if default is None else f"{code}={ast.unparse(default)}")
        indent = row[: len(row) - len(row.lstrip())]
        text[theirs.lineno - 1] = f"{indent}def __init__({', '.join(left)}):"
        return theirs.returns is None

    def _call_of_base(self) -> ast.Call | None:
        """The one call of the base's constructor, in the other class's."""
        names = self.merged.home.names
        written = self.merged.calls.get(self.merged.names.get("__init__", ""), "")
        ours = constructor_of(self.merged.derived)
        found = [
            part
            for part in (walk(ours) if ours is not None and written else ())
            if isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr == "__init__"
            and self.merged.home.source.code(part).startswith(written)
        ]
        alone = len(found) == 1 and ours is not None and names.statement(found[0]) in ours.body
        return found[0] if alone else None

    def _given(self, call: ast.Call) -> list[ast.expr]:
        assert isinstance(call.func, ast.Attribute)
        named = isinstance(call.func.value, ast.Name)  # `Base.__init__(self, config)`
        return call.args[1:] if named else call.args

    def _part(self, node: ast.stmt) -> list[int]:
        first = min([node.lineno, *(one.lineno for one in _decorators(node))])
        start = sum(len(line) + 1 for line in self.lines[: first - 1])
        return _rows(self.after, start, node)

    def _above(self, row: int, owner: ast.ClassDef) -> Iterator[int]:
        while row - 1 > owner.lineno and not self.lines[row - 2].strip():
            row -= 1
            yield row

    def _original(self, node: ast.stmt, name: str, new: str) -> list[str]:
        source = self.merged.home.source
        text = source.text.replace("\r\n", "\n")
        start = Layout(source, node).line_start
        rows = _rows(source.text, start, node)
        return [text.split("\n")[row - 1] for row in rows]

    def _calls(self, there: Mapping[str, ast.stmt], owner: ast.ClassDef) -> bool:
        """Writes the calls of the base's methods as they were; whether that can be done."""
        for new, text in self.merged.calls.items():
            mentions = [
                part
                for part in ast.walk(owner)
                if isinstance(part, ast.Attribute) and part.attr == new
            ]
            if new not in there:
                if mentions:
                    return False
                continue
            for one in mentions:
                row = self.lines[one.lineno - 1]
                if not isinstance(one.value, ast.Name) or not row.isascii():
                    return False
                written = f"{one.value.id}.{new}"
                close = ")" if text.count("(") > text.count(")") else ""
                if row.count(written) != 1:
                    return False
                if close:  # `Base.load(self, sess)`
                    rest = row[row.index(written) + len(written) :]
                    more = "" if rest.startswith("()") else ", "
                    self.lines[one.lineno - 1] = row.replace(f"{written}(", text + more)
                else:
                    self.lines[one.lineno - 1] = row.replace(written, text)
        return True

    def _written(
        self,
        base: ast.ClassDef,
        owner: ast.ClassDef,
        taken: Mapping[str, list[str]],
        gone: set[int],
        rows: list[str],
        kept: Mapping[str, ast.stmt],
        earlier: Mapping[str, ast.stmt],
    ) -> str | None:
        one = self.merged
        pieces: list[str] = []
        inside: dict[int, str] = {}
        for name, node in earlier.items():
            inside.update((row, name) for row in self._rows_of(node))
        seen: set[str] = set()
        first, last = one.base.lineno, one.base.end_lineno or one.base.lineno
        for number in range(first, last + 1):
            name = inside.get(number, "")
            if not name:
                pieces.append(rows[number - 1])
                continue
            if name in seen:
                continue
            seen.add(name)
            text = taken.get(name)
            if text is None and name not in one.names:
                if name not in kept:
                    return None
                text = [self.lines[row - 1] for row in self._part(kept[name])]
            if text is None:
                while pieces and not pieces[-1].strip():
                    pieces.pop()
                continue
            if len(pieces) == 2 and not pieces[-1].strip() and number > first + 2:
                pieces.pop()  # what stood right below the header is gone
            pieces += text
        if not _is_whole(pieces):
            indent = one.home.source.indent_of(one.base.body[0])
            pieces.append(f"{indent}pass")
        header = self.merged.home.source.line_text(one.derived.lineno).rstrip("\r\n")
        found: list[str] = []
        body = range(base.lineno, (base.end_lineno or base.lineno) + 1)
        for number, line in enumerate(self.lines, 1):
            if number == base.lineno:
                found += pieces
            if number == owner.lineno:
                found.append(header)
                if not _rests(owner, gone):
                    found.append(f"{one.home.source.indent_of(one.derived.body[0])}pass")
            elif number not in body and number not in gone:
                found.append(line)
        whole = "\n".join(found)
        try:
            compile(whole, str(one.home.path), "exec", dont_inherit=True)
        except SyntaxError:
            return None
        return whole.replace("\n", self.newline)

    def _rows_of(self, node: ast.stmt) -> list[int]:
        source = self.merged.home.source
        return _rows(source.text, Layout(source, node).line_start, node)


def _bound(function: ast.FunctionDef) -> set[str]:
    """The names that a function has: its parameters, and what it stores."""
    found = {one.arg for one in walk(function) if isinstance(one, ast.arg)}
    return found | {n.id for n in walk(function) if isinstance(n, ast.Name) and _is_stored(n)}


def _rests(owner: ast.ClassDef, gone: AbstractSet[int]) -> bool:
    """Whether something of a class's body is on none of some lines."""
    return any((one.end_lineno or one.lineno) not in gone for one in owner.body)


_PLAIN = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def _there(
    statement: ast.stmt, known: Mapping[str, ast.expr], function: ast.FunctionDef
) -> str | None:
    """What a statement of a constructor is where another one calls that; None: not the same.

    ``known`` are the parameters whose values are plain: names, constants and numbers of them.
    """
    if not isinstance(statement, (ast.Assign, ast.Expr)) or any(map(_is_stored, walk(statement))):
        return None
    used = {n.id for n in walk(statement) if isinstance(n, ast.Name)}
    if not used & _bound(function) <= {function.args.args[0].arg, *known}:
        return None
    if any(isinstance(part, (ast.Lambda, *COMPREHENSIONS)) for part in walk(statement)):
        return None
    return ast.dump(_Given(known).visit(copy.deepcopy(statement)))


class _Given(ast.NodeTransformer):
    """Arguments in the place of parameters."""

    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.known.get(node.id, node)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _is_whole(lines: list[str]) -> bool:
    try:
        ast.parse("\n".join(lines))
    except SyntaxError:
        return False
    return True
