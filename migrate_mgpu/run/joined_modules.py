"""A class that builds a graph in one module, and the module that runs what it builds, read as one.

The text of the imported module stands in the place of its import while a program is planned,
between two marks. What becomes of it goes back to its own file, with all that was written for it.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Union

from migrate_mgpu.analysis.api_version import root_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import table as known_names
from migrate_mgpu.analysis.taken_names import imports_of
from migrate_mgpu.api.functions import SAME_STATUSES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.findings import FileResult, Finding, RunResult
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.models.front.session.origins import is_annotation
from migrate_mgpu.models.front.session.scope import trains
from migrate_mgpu.models.normalize.towers.deployed_clones import is_slims_module
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, start_with_comments
from migrate_mgpu.source.unbound_names import unbound

Import = Union[ast.Import, ast.ImportFrom]
_FLAGS = ("app.flags", "flags")
_OWN = ("__name__", "__file__", "__all__")  # what a module says of itself
_WIDTH = 88

APART = "class-in-another-module"  # a diagnostic's key
BEGIN = "_begin_of_"  # of another module's text, in a joined one


@record(frozen=True, eq=False)
class Joined:
    """``home`` with the text of ``origin`` in the place of ``statement``, which imports it.

    ``lines`` says of each line of ``data`` in which file it stands, and where. ``head`` are the
    statements at the beginning of ``origin``, with those that ``home`` has as well (``same``).
    ``name`` is what ``home`` calls the module by, if it does not import names of it. ``others``
    import names as well, of a module that is a part of ``home`` already. ``aliases`` are the names
    that ``home`` has for those that it imports by other ones.
    """

    home: Module
    origin: Module
    statement: Import
    data: bytes
    lines: tuple[tuple[Path, int], ...]
    head: tuple[ast.stmt, ...]
    same: frozenset[ast.stmt]
    name: str
    others: tuple[Import, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def origins(self) -> tuple[Path, ...]:
        """The files that are read as a part of another one."""
        return (self.origin.path,)

    def parted(self, after: str) -> dict[Path, str] | None:
        """The texts of both files, of what became of the joined one; None where that is one."""
        return _Parted(self, after).texts()

    def relocated(self, result: RunResult) -> bool:
        """Puts what a plan says of the joined text into both files; whether that can be done."""
        files = {file.path: file for file in result.files}
        home = files.get(self.home.path)
        if home is None or home.after is None or home.error is not None:
            return False
        texts = self.parted(home.after)
        if texts is None:
            return False
        origin = FileResult(self.origin.path)
        for module, file in ((self.home, home), (self.origin, origin)):
            file.before, file.after = module.source.file_text, texts[module.path]
        found, home.findings = home.findings, []
        for one in found:
            moved = self.moved(one)
            (home if moved.path == home.path else origin).findings.append(moved)
        for file in (home, origin):
            file.findings.sort(key=lambda one: one.position)
        result.files.append(origin)
        result.files.sort(key=lambda file: str(file.path))
        result.scanned += 1
        for index, program in enumerate(result.programs):
            if home.path in program.paths:
                paths = (*program.paths, origin.path)
                reasons = tuple(map(self.moved, program.reasons))
                result.programs[index] = replaced(
                    program, paths=paths, modules=program.modules + 1, reasons=reasons
                )
        if home.path in result.order:
            result.order.insert(result.order.index(home.path), origin.path)
        return True

    def moved(self, finding: Finding) -> Finding:
        """What is said of the joined text, of the file where it stands."""
        if finding.path != self.home.path:
            return finding
        path, line = self.lines[min(finding.line, len(self.lines)) - 1]
        return replaced(finding, path=path, line=line)


def candidates(home: Module, graph: CallGraph) -> Iterator[Module]:
    """The modules whose classes a module makes objects of, or derives its own from.

    Those that use TensorFlow first; at the end those whose functions run what they are given.
    """
    found: dict[Module, None] = {}
    run: dict[Module, None] = {}
    for call in home.names.calls:
        known = graph.class_of(home, call.func)
        if known is not None:
            found[known[0]] = None
        function = graph.target(home, call.func) if known is None else None
        if function is not None and _runs_what_is_given(function):
            run[function.module] = None
    found.update(dict.fromkeys(modules_of_bases(home, graph)))
    found.pop(home, None)
    matter = [one for one in found if _matters(one, graph) and one in home.imported]
    yield from sorted(matter, key=lambda one: not one.uses)
    yield from (one for one in run if one in home.imported and one not in (home, *matter))


def _runs_what_is_given(function: Function) -> bool:
    """Whether a function runs something in a session that is one of its parameters."""
    parameters = set(function.parameters())
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "run"
        and isinstance(node.value, ast.Name)
        and node.value.id in parameters
        for node in walk(function.node)
    )


def modules_of_bases(home: Module, graph: CallGraph) -> Iterator[Module]:
    """The other modules whose classes a module derives its own from."""
    for node in home.tree.body:
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            known = graph.class_of(home, base)
            if known is not None and known[0] is not home and known[0] in home.imported:
                yield known[0]


def _matters(module: Module, graph: CallGraph) -> bool:
    """Whether a module uses TensorFlow, or a class of it a session by what it inherits."""
    return bool(module.uses) or (
        "run" in module.names.attributes or any(o.uses for o in modules_of_bases(module, graph))
    )


def has_trained_class(module: Module) -> bool:
    """Whether a class of a module makes a step that trains: it has all of its graph."""
    classes = (one for one in module.tree.body if isinstance(one, ast.ClassDef))
    return any(trains(module, part) for one in classes for part in walk(one))


def joined(
    home: Module, origin: Module, project: Project, modules: Iterable[Module]
) -> Joined | None:
    """Two modules as one; None where their names, or the way of the import, do not allow it.

    ``modules`` are all that may import them.
    """
    imports = imports_of(home, origin, project)
    statements = sorted({one for one, _, _ in imports}, key=lambda one: one.lineno)
    if not statements or why_apart(home, origin, project, modules) is not None:
        return None
    if is_slims_module(origin):
        return None  # a pass writes what it does where it is called
    statement, *more = statements
    whole = [alias for _, alias, is_module in imports if is_module]
    if len(imports) != sum(len(one.names) for one in statements) or (whole and len(imports) > 1):
        return None
    if any(one.lineno != one.end_lineno or "*" in _names(one) for one in statements if more):
        return None
    aliases = {
        alias.name: alias.asname for _, alias, _ in imports if alias.asname and alias not in whole
    }
    if aliases and more:
        return None
    name = (whole[0].asname or whole[0].name) if whole else ""
    head = tuple(_head(home, origin))
    same = frozenset(one for one in head if _is_same(home, origin, one))
    if "." in name:
        return None
    changes = _unqualified(home, name) if name else _without_aliases(home, origin, aliases)
    absolute = _absolute(origin, head)
    if changes is None or absolute is None:
        return None
    text = _Text(home, origin, statement, tuple(more), head, same, name, aliases)
    return text.made(changes, absolute)


def why_apart(
    home: Module, origin: Module, project: Project, modules: Iterable[Module]
) -> Diagnostic | None:
    """The statement for which two modules are not read as one, as far as it can be named."""

    def because(module: Module, node: ast.AST, reason: str) -> Diagnostic:
        text = f"{origin.path.name}, a class of which builds the graph, is not read as one with "
        text += f"{home.path.name}: {reason}"
        return Diagnostic(APART, Place(module, node), text)

    for one in modules:
        if one not in (home, origin) and origin in one.imported:
            made = [statement for statement, _, _ in imports_of(one, origin, project)]
            return because(
                one, made[0] if made else one.tree, f"{one.path.name} imports it as well"
            )
    if home in origin.imported:
        made = [statement for statement, _, _ in imports_of(origin, home, project)]
        return because(origin, made[0] if made else origin.tree, "each imports the other one")
    if not (home.writable and origin.writable) or any(
        isinstance(one.source, Notebook) for one in (home, origin)
    ):
        return because(origin, origin.tree, "one of both is a notebook, or outside of the run")
    if home.source.newline != origin.source.newline:
        return because(origin, origin.tree, "their lines end otherwise")
    for guard in origin.tree.body:
        if is_main_guard(guard):
            return because(origin, guard, "it is a program of its own")
    for part in walk(origin.tree):
        if isinstance(part, ast.Name) and part.id in _OWN:
            return because(origin, part, f"it reads `{part.id}`")
    statements = sorted(
        {one for one, _, _ in imports_of(home, origin, project)}, key=lambda one: one.lineno
    )
    for own in statements:
        if own not in home.tree.body or not Layout(home.source, own).owns_lines:
            return because(home, own, "the import is in a block, or beside another statement")
    same = {one for one in _head(home, origin) if _is_same(home, origin, one)}
    name = next(iter(sorted(_colliding(home, origin, same, statements))), None)
    if name is not None:
        bound = origin.names.module_scope.bindings.get(name, ())
        where = origin.names.statement(bound[0].node) if bound else origin.tree
        return because(origin, where, f"`{name}` means something else in each")
    return None


def _head(home: Module, origin: Module) -> Iterator[ast.stmt]:
    """The docstring, the imports, and what the other module says with the same words."""
    for place, one in enumerate(origin.tree.body):
        text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not (place == 0 and text) and not isinstance(one, (ast.Import, ast.ImportFrom)):
            if not _is_same(home, origin, one):
                return
        if not Layout(origin.source, one).owns_lines:
            return
        yield one


def _of_absl(origin: Module, statement: ast.Assign) -> list[str] | None:
    """A name for TensorFlow's flags, `FLAGS = tf.app.flags.FLAGS`, as a native program has it.

    None for a name of anything else.
    """
    target, value = statement.targets[0], statement.value
    root = root_of(value)
    direct = isinstance(root, ast.Name) and all(
        one.kind == "import" for one in origin.names.bindings_of(root)
    )
    kind = name_of(origin, value) if direct else ""
    if kind not in (*_FLAGS, *(f"{one}.FLAGS" for one in _FLAGS)):
        return None
    if not isinstance(target, ast.Name) or len(statement.targets) > 1:
        return None
    if not kind.endswith(".FLAGS"):
        return ["from absl import flags" + ("" if target.id == "flags" else f" as {target.id}")]
    return ["from absl import flags", f"{target.id} = flags.FLAGS"]


def _is_same(home: Module, origin: Module, statement: ast.stmt) -> bool:
    """Whether a module says the same: an import, or a name for an attribute, `FLAGS = flags.FLAGS`.

    Nothing that the other module's text would have to bring stays out then. A name of TensorFlow's
    that TF2 has not is no such one but for its flags, which are absl's in a native program.
    """
    known = name_of(origin, statement.value) if isinstance(statement, ast.Assign) else ""
    if known and not known.startswith(_FLAGS) and known_names().status(known) not in SAME_STATUSES:
        return False
    if isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    ):
        return True
    if isinstance(statement, ast.ImportFrom) and any(one.name == "*" for one in statement.names):
        return False
    named = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Attribute)
    if not named and not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False
    text = ast.dump(statement)
    return any(type(one) is type(statement) and ast.dump(one) == text for one in home.tree.body)


def _bound(module: Module, without: AbstractSet[ast.stmt]) -> set[str]:
    """The names that a module binds, but those that only some statements of it bind."""
    names = module.names
    return {
        name
        for name, bindings in names.module_scope.bindings.items()
        if any(names.statement(one.node) not in without for one in bindings)
    }


def _unresolved(module: Module) -> set[str]:
    names = module.names
    return {
        one.id
        for one, scope in names.scope_of_name.items()
        if names.defining_scope(one.id, scope) is None
    }


def _colliding(
    home: Module,
    origin: Module,
    same: AbstractSet[ast.stmt],
    statements: Sequence[Import],
) -> set[str]:
    """The names that would mean something else in the joined text."""
    ours, theirs = _bound(home, {*statements}), _bound(origin, same)
    taken = {name for one in statements for name in _names(one)}
    taken = theirs if "*" in taken else taken
    both = {name for name in ours & theirs if not _imports_alike(name, home, origin)}
    unknown = _unresolved(home) & theirs
    return both | (_unresolved(origin) & ours) | (unknown - taken)


def _imports_alike(name: str, *modules: Module) -> bool:
    """Whether a name is imported in each of some modules, from the same place."""
    found = [one for module in modules for one in module.names.module_scope.bindings[name]]
    known = {one.qualname if one.kind == "import" else None for one in found}
    return len(known) == 1 and None not in known


def _names(statement: Import) -> list[str]:
    return [alias.name for alias in statement.names]


def _unqualified(home: Module, name: str) -> list[Edit] | None:
    """`Model` where `model.Model` stands; None where the module is used in another way."""
    names, found = home.names, list[Edit]()
    for mention in names.mentions(name, names.module_scope):
        parent = names.parents.get(mention)
        if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
            return None
        scope = names.scope_of_name[mention]
        if is_annotation(home, parent) and scope.parent is not None:
            scope = scope.parent  # types are said outside of a function
        known = names.defining_scope(parent.attr, scope)
        gone = parent.attr == name and known is names.module_scope  # a class named as its module
        if (known is not None and not gone) or "\n" in home.source.code(parent):
            return None
        found.append(Edit(*home.source.span(parent), parent.attr))
    return found


def _without_aliases(home: Module, origin: Module, aliases: Mapping[str, str]) -> list[Edit] | None:
    """`Model` where `Network` stands, of `import Model as Network`; None where it means another."""
    names, found = home.names, list[Edit]()
    for name, alias in aliases.items():
        if alias in origin.names.module_scope.bindings or list(aliases.values()).count(alias) > 1:
            return None
        if len(names.module_scope.bindings[alias]) > 1:
            return None
        for mention in names.mentions(alias, names.module_scope):
            scope = names.scope_of_name[mention]
            taken = names.defining_scope(name, scope) is not None
            if taken or not isinstance(mention.ctx, ast.Load):
                return None
            found.append(Edit(*home.source.span(mention), name))
    return found


def _absolute(origin: Module, head: Sequence[ast.stmt]) -> dict[ast.stmt, str] | None:
    """Relative imports as absolute ones; None where one stands elsewhere."""
    found: dict[ast.stmt, str] = {}
    for node in walk(origin.tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        if node not in head:
            return None
        found[node] = _import_of(origin.names.absolute(node), node.names)
    return found


def _import_of(module: str, aliases: Sequence[ast.alias]) -> str:
    names = [f"{one.name} as {one.asname}" if one.asname else one.name for one in aliases]
    return _imports(module, names)


def _imports(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


@record(frozen=True, eq=False)
class _Text:
    """The joined text as it is put together."""

    home: Module
    origin: Module
    statement: Import
    others: tuple[Import, ...]
    head: tuple[ast.stmt, ...]
    same: frozenset[ast.stmt]
    name: str
    aliases: Mapping[str, str]

    def made(self, changes: list[Edit], absolute: Mapping[ast.stmt, str]) -> Joined | None:
        source, theirs = self.home.source, self.origin.source
        layout = Layout(source, self.statement)
        if any(edit.touches(layout.line_start, layout.next_line) for edit in changes):
            return None
        before = [edit for edit in changes if edit.start < layout.line_start]
        behind = [edit for edit in changes if edit.start >= layout.next_line]
        for place, other in enumerate(self.others):
            behind.append(Edit(*source.span(other), _mark_of_import(self.origin, place)))
        text = splice(source.text, before, 0, layout.line_start)
        count = text.count("\n")
        lines = [(self.home.path, number + 1) for number in range(count)]
        newline, parts = source.newline, [text]

        def put(part: str, path: Path, line: int) -> None:
            part = part if part.endswith("\n") else part + newline
            parts.append(part)
            lines.extend((path, line + number) for number in range(part.count("\n")))

        begin, end = marks(self.origin)
        put(begin, self.origin.path, 1)
        for one in self.head:
            if one not in self.same:
                own = Layout(theirs, one)
                part = absolute.get(one) or theirs.text[own.line_start : own.next_line]
                put(part, self.origin.path, one.lineno)
        at = Layout(theirs, self.head[-1]).next_line if self.head else 0
        put(theirs.text[at:], self.origin.path, theirs.text[:at].count("\n") + 1)
        put(end, self.origin.path, len(lines))
        text = splice(source.text, behind, layout.next_line, len(source.text))
        parts.append(text)
        first = source.text[: layout.next_line].count("\n") + 1
        lines += ((self.home.path, first + number) for number in range(text.count("\n") + 1))
        whole = "".join(parts)
        try:
            compile(whole, str(self.home.path), "exec", dont_inherit=True)
            data = source.encode(whole)
        except (SyntaxError, ValueError):
            return None
        return Joined(
            self.home, self.origin, self.statement, data, tuple(lines), self.head, self.same,
            self.name, self.others, self.aliases,
        )  # fmt: skip


def marks(module: Module) -> tuple[str, str]:
    """The statements between which the text of a module stands in another one."""
    word = "".join(one if one.isalnum() else "_" for one in module.path.stem)
    return f"{BEGIN}{word} = None", f"_end_of_{word} = None"


def _mark_of_import(module: Module, place: int) -> str:
    """The statement that stands for one more import of a module."""
    begin, _ = marks(module)
    return begin.replace(BEGIN, f"_import_{place}_of_", 1)


class _Parted:
    """What became of a joined text, as two texts."""

    def __init__(self, joined: Joined, after: str) -> None:
        self.joined = joined
        self.newline = joined.home.source.newline
        self.after = after.replace("\r\n", "\n")
        self.kept: list[str] = []  # text of the other file that stood outside of the marks
        self.imported: list[str] = []  # imports that it needs now

    def texts(self) -> dict[Path, str] | None:
        """The two texts by their files."""
        begin, end = marks(self.joined.origin)
        lines = self.after.split("\n")
        if lines.count(begin) != 1 or lines.count(end) != 1:
            return None
        first, last = lines.index(begin), lines.index(end)
        inner = "\n".join(lines[first + 1 : last])
        given: list[str] = []
        if not self.joined.origin.uses:
            inner, given = self._given_back(inner)
        place = len("\n".join(lines[:first])) + 1 if first else 0
        outer = "\n".join((*lines[:first], *given, *lines[last + 1 :]))
        head, inner = self._without_head(inner)
        moved = self._needed(head + inner, outer)
        if moved is None:
            return None
        place, outer = self._without(outer, place, moved)
        place, outer = self._above_new(outer, place)
        theirs = self._origin(head, inner)
        ours = self._home(outer, place, theirs)
        ours = self._with_others(ours, theirs) if ours is not None else None
        if ours is None or not (_is_whole(ours) and _is_whole(theirs)):
            return None
        if unbound(theirs) - unbound(self.joined.origin.source.text):
            return None
        ours, theirs = (one.replace("\n", self.newline) for one in (ours, theirs))
        return {self.joined.home.path: ours, self.joined.origin.path: theirs}

    # -- the other file -------------------------------------------------------------------

    def _given_back(self, inner: str) -> tuple[str, list[str]]:
        """The other file's text without what was written for the first one, and the lines of that.

        New code stands above the first definition, which may be one of a file that has nothing to
        do with TensorFlow.
        """
        body, own = ast.parse(inner).body, self.joined.origin.names.module_scope.bindings
        lines = inner.split("\n")
        new = {
            one.name: one
            for one in body
            if isinstance(one, (ast.ClassDef, ast.FunctionDef)) and one.name not in own
        }

        def first(one: ast.stmt) -> int:
            return min([one.lineno, *(d.lineno for d in _decorators(one))]) - 1

        def text(one: ast.stmt) -> list[str]:
            return lines[first(one) : one.end_lineno]

        waiting = [one for one in body if one not in new.values()]
        while waiting:
            used = _used("\n".join(text(waiting.pop())))
            waiting += [new.pop(name) for name in [*new] if name in used]
        if not new:
            return inner, []
        given = [line for one in new.values() for line in (*text(one), "", "")]
        used = _used("\n".join(given))
        imports = [one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))]
        needed = [line for one in imports if _binds(one) & used for line in text(one)]
        for one in reversed(new.values()):
            end = one.end_lineno or one.lineno
            while end < len(lines) and not lines[end].strip():
                end += 1
            del lines[first(one) : end]
        return "\n".join(lines), [*needed, "", "", *given]

    def _without_head(self, inner: str) -> tuple[str, str]:
        """The head of the other file as it is now, and the text below without its imports."""
        source = self.joined.origin.source
        tree = ast.parse(inner)
        imports: list[Import] = []
        for one in tree.body:
            if not isinstance(one, (ast.Import, ast.ImportFrom)):
                break
            imports.append(one)
        if imports:
            inner = "\n".join(inner.split("\n")[imports[-1].end_lineno or 0 :])
        there = {ast.dump(one): one for one in imports}
        gone: list[Edit] = []
        used = _used(inner)
        for one in self.joined.head:
            layout = Layout(source, one)
            if isinstance(one, ast.Assign) and one in self.joined.same:
                lines = _of_absl(self.joined.origin, one)
                if lines is not None:  # the other statement that says so became this
                    gone.append(Edit(layout.line_start, layout.next_line, layout.lines(lines)))
            if not isinstance(one, (ast.Import, ast.ImportFrom)) or _names(one) == ["*"]:
                continue
            if one in self.joined.same:
                future = isinstance(one, ast.ImportFrom) and one.module == "__future__"
                stays = future or bool(_binds(one) & used) or not _binds(one) & _used(source.text)
                if stays:
                    there.pop(ast.dump(one), None)  # the joined text has it a second time
            else:
                stays = there.pop(ast.dump(self._absolute(one)), None) is not None
            if not stays:
                gone.append(Edit(layout.line_start, layout.next_line, ""))
        for one in self.joined.head:
            if isinstance(one, ast.ImportFrom) and _names(one) == ["*"]:
                there.pop(ast.dump(self._absolute(one)), None)
        self.imported += map(ast.unparse, there.values())
        at = Layout(source, self.joined.head[-1]).next_line if self.joined.head else 0
        return splice(source.text, gone, 0, at).replace("\r\n", "\n"), inner.strip("\n")

    def _absolute(self, node: ast.stmt) -> ast.stmt:
        if not isinstance(node, ast.ImportFrom) or not node.level:
            return node
        module = self.joined.origin.names.absolute(node)
        return ast.ImportFrom(module, node.names, 0)

    def _origin(self, head: str, inner: str) -> str:
        source = self.joined.origin.source
        at = Layout(source, self.joined.head[-1]).next_line if self.joined.head else 0
        rest = source.text[at:].replace("\r\n", "\n")
        blank = "\n" * (len(rest) - len(rest.lstrip("\n")))
        head = _with_imports(head, list(dict.fromkeys(self.imported)))
        kept = "".join(f"{one}\n\n\n" for one in self.kept)
        blank = "\n\n" if kept or (head and inner.startswith(("class ", "def ", "@"))) else blank
        return head + blank + kept + inner + "\n"

    # -- what stood outside of the marks ----------------------------------------------------

    def _needed(self, inner: str, outer: str) -> list[ast.stmt] | None:
        """The statements that the other file needs, and that were written for it.

        None where it would need what is the first file's own.
        """
        tree = ast.parse(outer)
        bindings: dict[str, list[ast.stmt]] = {}
        for statement in tree.body:
            for name in _binds(statement):
                bindings.setdefault(name, []).append(statement)
        own = self.joined.home.names.module_scope.bindings
        moved: dict[ast.stmt, None] = {}
        waiting, known = [inner], _bound_in(inner)
        while waiting:
            for name in sorted(_used(waiting.pop()) - known):
                statements = bindings.get(name)
                if statements is None:
                    continue
                known.add(name)
                if all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in statements):
                    self._import(statements[0], name)
                    continue
                defined = isinstance(statements[0], (ast.FunctionDef, ast.ClassDef, ast.Assign))
                if name in own or len(statements) > 1 or not defined:
                    return None
                if statements[0] not in moved:
                    moved[statements[0]] = None
                    waiting.append(ast.get_source_segment(outer, statements[0]) or "")
        return sorted(moved, key=lambda one: one.lineno)

    def _import(self, statement: ast.stmt, name: str) -> None:
        assert isinstance(statement, (ast.Import, ast.ImportFrom))
        aliases = [a for a in statement.names if (a.asname or a.name.split(".")[0]) == name]
        one = (
            ast.ImportFrom(statement.module, aliases, 0)
            if isinstance(statement, ast.ImportFrom)
            else ast.Import(aliases)
        )
        self.imported.append(ast.unparse(ast.fix_missing_locations(one)))

    def _without(self, outer: str, place: int, moved: Sequence[ast.stmt]) -> tuple[int, str]:
        """The first file's text without what goes to the other one, and where the import stands."""
        starts = [0]
        for line in outer.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        cuts: list[tuple[int, int]] = []
        for one in moved:
            first = min([one.lineno, *(d.lineno for d in _decorators(one))])
            start = start_with_comments(outer, starts[first - 1])
            end = starts[one.end_lineno or one.lineno]
            self.kept.append(outer[start:end].strip("\n"))
            if cuts and cuts[-1][1] >= start:  # the one before ends where this one begins
                start = cuts.pop()[0]
            while outer[end : end + 1] == "\n" and end != place:
                end += 1
            if end == place:  # above the import are the lines that were there
                start = len(outer[:start].rstrip("\n")) + 1 + self._blank_above()
            cuts.append((start, min(end, len(outer))))
        for start, end in reversed(cuts):
            outer = outer[:start] + outer[end:]
            place -= max(0, min(end, place) - start)
        return place, outer

    def _above_new(self, outer: str, place: int) -> tuple[int, str]:
        """The import stands above what was written for the first file right above it."""
        own = self.joined.home.names.module_scope.bindings
        starts = [0]
        for line in outer.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        start = place
        for one in reversed(ast.parse(outer).body):
            begin = starts[min([one.lineno, *(d.lineno for d in _decorators(one))]) - 1]
            if begin >= place:
                continue
            if not isinstance(one, (ast.ClassDef, ast.FunctionDef)) or one.name in own:
                break
            start = start_with_comments(outer, begin)
        if start == place:
            return place, outer
        above = outer[:start].rstrip("\n") + "\n" * (1 + self._blank_above())
        new, rest = outer[start:place].strip("\n"), outer[place:]
        text = rest.lstrip("\n")
        blank = "\n" * max(2, len(rest) - len(text)) if text else ""
        return len(above), f"{above}\n\n{new}\n{blank}{text}"

    def _blank_above(self) -> int:
        """How many blank lines the first file has above the import."""
        source = self.joined.home.source
        above = source.text[: Layout(source, self.joined.statement).line_start]
        above = above.replace("\r\n", "\n")
        return max(0, len(above) - len(above.rstrip("\n")) - 1)

    # -- the first file ---------------------------------------------------------------------

    def _home(self, outer: str, place: int, theirs: str) -> str | None:
        statement, source = self.joined.statement, self.joined.home.source
        layout = Layout(source, statement)
        line = source.text[layout.line_start : layout.next_line].replace("\r\n", "\n")
        there = _bound_in(theirs) - _bound_in(outer)
        used = _used(outer) & there
        if self.joined.name:
            qualified = self._qualified(outer, place, used)
            if qualified is None:
                return None
            place, outer = qualified
        elif _names(statement) == ["*"]:
            if any(name.startswith("_") for name in used):
                return None
        else:
            assert isinstance(statement, ast.ImportFrom)
            before, aliases = _used(source.text), self.joined.aliases
            names = [
                n
                for n in _names(statement)
                if n in there and (n in used or aliases.get(n, n) not in before)
            ]
            elsewhere = {name for one in self.joined.others for name in _names(one)}
            names += sorted(used - {*names} - elsewhere)
            if names != _names(statement):
                module = "." * statement.level + (statement.module or "")
                told = [f"{n} as {aliases[n]}" if n in aliases else n for n in names]
                line = _imports(module, told) + "\n" if names else ""
            if aliases:
                renamed = self._with_aliases(outer, place, used)
                if renamed is None:
                    return None
                place, outer = renamed
        above = source.text[: layout.line_start].replace("\r\n", "\n")
        blank = len(above) - len(above.rstrip("\n"))
        begin = outer[:place].rstrip("\n") + "\n" * blank if blank else outer[:place]
        return self._without_unused(begin + line + outer[place:])

    def _with_others(self, ours: str, theirs: str) -> str | None:
        """The first file's text with the other imports of the module."""
        there, used = _bound_in(theirs), _used(ours)
        before = _used(self.joined.home.source.text)
        lines = ours.split("\n")
        for place, one in enumerate(self.joined.others):
            mark = _mark_of_import(self.joined.origin, place)
            if lines.count(mark) != 1:
                return None
            names = [n for n in _names(one) if n in there and (n in used or n not in before)]
            assert isinstance(one, ast.ImportFrom)
            module = "." * one.level + (one.module or "")
            at = lines.index(mark)
            lines[at : at + 1] = _imports(module, names).split("\n") if names else []
        return "\n".join(lines)

    def _without_unused(self, text: str) -> str:
        """The first file's text without imports that only what went away needed."""
        before, used = _used(self.joined.home.source.text), _used(text)
        known = {ast.dump(one) for one in self.joined.home.tree.body}
        lines = text.split("\n")
        for one in reversed(ast.parse(text).body):
            if not isinstance(one, (ast.Import, ast.ImportFrom)) or "*" in _names(one):
                continue
            names, alone = _binds(one), lines[one.lineno - 1].startswith(("import ", "from "))
            gone = names <= before - used or (ast.dump(one) not in known and not names & used)
            if alone and names and gone and one.end_lineno is not None:
                del lines[one.lineno - 1 : one.end_lineno]
                if one.lineno == 1 and lines and not lines[0].strip():
                    del lines[0]
        return "\n".join(lines)

    def _qualified(self, outer: str, place: int, used: set[str]) -> tuple[int, str] | None:
        """`model.Model` where `Model` stands."""
        return _renamed(outer, place, {name: f"{self.joined.name}.{name}" for name in used})

    def _with_aliases(self, outer: str, place: int, used: set[str]) -> tuple[int, str] | None:
        """`Network` where `Model` stands, which is imported by that name."""
        aliases = {name: one for name, one in self.joined.aliases.items() if name in used}
        if not _used(outer).isdisjoint(aliases.values()):
            return None
        return _renamed(outer, place, aliases)


def _renamed(text: str, place: int, becomes: Mapping[str, str]) -> tuple[int, str] | None:
    """A text with other words for some names of its module, and where a place of it is then."""
    found: list[Edit] = []
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in _read_globally(ast.parse(text), frozenset()):
        if node.id not in becomes:
            continue
        if not isinstance(node.ctx, ast.Load):
            return None
        row = text[starts[node.lineno - 1] : starts[node.lineno]].encode()
        at = starts[node.lineno - 1] + len(row[: node.col_offset].decode())
        found.append(Edit(at, at + len(node.id), becomes[node.id]))
    place += sum(len(edit.new) - (edit.end - edit.start) for edit in found if edit.start < place)
    return place, splice(text, found)


def _read_globally(node: ast.AST, own: AbstractSet[str]) -> Iterator[ast.Name]:
    """The mentions of names that no function around them has; ``own`` are those that one has."""
    if isinstance(node, ast.Name):
        if node.id not in own:
            yield node
        return
    inner = own
    inside: list[ast.AST] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inner, inside = own | _locals(node), list(node.body)
    elif isinstance(node, ast.Lambda):
        inner, inside = (
            own | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)},
            [node.body],
        )
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        targets = (part for one in node.generators for part in ast.walk(one.target))
        own = inner = own | {part.id for part in targets if isinstance(part, ast.Name)}
    for child in ast.iter_child_nodes(node):
        yield from _read_globally(child, inner if child in inside else own)


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    table = symtable.symtable(ast.unparse(function), "<text>", "exec").get_children()[-1]
    return {one.get_name() for one in table.get_symbols() if one.is_local()}


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.decorator_list
    return []


def _with_imports(head: str, imports: Sequence[str]) -> str:
    """The head of a file with more imports: Python's own above those of installed packages."""
    body = ast.parse(head).body
    first = next((one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))), None)
    own = [one for one in imports if one in ("import math", "import os")]
    others = [one for one in imports if one not in own]
    below = "".join(f"{one}\n" for one in others)
    if not own or not isinstance(first, ast.Import) or first.names[0].name.split(".")[0] not in (
        "numpy", "tensorflow"
    ):  # fmt: skip
        return head + "".join(f"{one}\n" for one in own) + below
    lines = head.split("\n")
    lines[first.lineno - 1 : first.lineno - 1] = [*own, ""]
    return "\n".join(lines) + below


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for one in table.get_children():
        yield from _tables(one)


def _used(text: str) -> set[str]:
    """The names of its module that a text reads."""
    top = symtable.symtable(text, "<text>", "exec")
    found = {one.get_name() for one in top.get_symbols() if one.is_referenced()}
    for table in _tables(top):
        if table is not top:
            found |= {s.get_name() for s in table.get_symbols() if s.is_global()}
    return found


def _bound_in(text: str) -> set[str]:
    """The names that a module's text binds."""
    top = symtable.symtable(text, "<text>", "exec")
    found = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    for table in _tables(top):
        found |= {s.get_name() for s in table.get_symbols() if s.is_declared_global()}
    return found


def _binds(statement: ast.stmt) -> set[str]:
    return _bound_in(ast.unparse(statement))


def _is_whole(text: str) -> bool:
    """Whether all that a text reads is there, as far as that can be seen."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    if any(isinstance(one, ast.ImportFrom) and _names(one) == ["*"] for one in tree.body):
        return True
    known = _bound_in(text) | set(dir(builtins)) | {*_OWN, "__doc__"}
    return _used(text) <= known
