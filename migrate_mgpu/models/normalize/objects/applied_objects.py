"""Objects that only keep how a layer is made: each call of one becomes what it does.

    class batch_norm(object):
        def __init__(self, momentum=0.9, name="batch_norm"):
            with tf.variable_scope(name):
                self.momentum = momentum
                self.name = name

        def __call__(self, x, train=True):
            return tf.contrib.layers.batch_norm(
                x, decay=self.momentum, is_training=train, scope=self.name)

With `self.g_bn = batch_norm(name="g_bn")`, `self.g_bn(net, train=False)` becomes
`tf.contrib.layers.batch_norm(net, decay=0.9, is_training=False, scope="g_bn")`. The class goes
where nothing else mentions it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import takewhile

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.models.normalize.sessions.printed_parts import importing, without_imports
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import (
    Layout,
    start_with_comments,
    without_function,
    without_paragraph,
)

_SCOPES = ("variable_scope", "name_scope")
# What the expression that an object stands for may be made of.
_PLAIN = (
    ast.Call, ast.keyword, ast.Attribute, ast.Name, ast.Constant, ast.List, ast.Tuple, ast.UnaryOp,
    ast.BinOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip
_TESTS = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.boolop,
    ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such class; none where there is none. ``own`` may change."""
    for module in modules:
        if "def __call__" not in module.source.text:
            continue
        for owner in module.tree.body:
            known = _read(module, owner) if isinstance(owner, ast.ClassDef) else None
            edits = _Applied(known, graph, own).edits() if known is not None else {}
            if edits:
                return edits
    return {}


@record(frozen=True, eq=False)
class _Kept:
    """A class of such objects: its methods, and what its attributes are in the constructor."""

    module: Module
    owner: ast.ClassDef
    constructor: ast.FunctionDef
    call: ast.FunctionDef
    value: ast.expr  # what a call gives
    attributes: Mapping[str, ast.expr]  # parameters and constants


def _read(module: Module, owner: ast.ClassDef) -> _Kept | None:
    """A class that keeps settings, and applies a layer of TF1's where its object is called."""
    plain = all(isinstance(base, ast.Name) and base.id == "object" for base in owner.bases)
    if not plain or owner.decorator_list or owner.keywords:
        return None
    body = [one for one in owner.body if not _is_text(one)]
    methods = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    if len(methods) != len(body) or {*methods} != {"__init__", "__call__"}:
        return None
    constructor, call = methods["__init__"], methods["__call__"]
    if not all(map(_is_plain, methods.values())):
        return None
    attributes = _attributes(module, constructor)
    lines = [one for one in call.body if not _is_text(one)]
    value = lines[0].value if len(lines) == 1 and isinstance(lines[0], ast.Return) else None
    if attributes is None or not isinstance(value, ast.Call):
        return None
    row = LAYERS.by_name.get(name_of(module, value))
    code = module.source.code(value)
    if row is None or not row.inputs or "#" in code or "\\" in code or _has_spaces(value):
        return None
    return _Kept(module, owner, constructor, call, value, attributes)


def _has_spaces(node: ast.expr) -> bool:
    """Whether a text in an expression has white space, which is joined where that is written."""
    texts = (part.value for part in walk(node) if isinstance(part, ast.Constant))
    return any(isinstance(one, str) and re.search(r"\s", one) for one in texts)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_plain(method: ast.FunctionDef) -> bool:
    given = method.args
    several = given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs
    constants = all(isinstance(one, ast.Constant) for one in given.defaults)
    return bool(given.args) and not several and constants and not method.decorator_list


def _attributes(module: Module, constructor: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """What a constructor keeps, in scopes perhaps that only say a name; None where it does more."""
    me, *parameters = (one.arg for one in constructor.args.args)
    found: dict[str, ast.expr] = {}
    waiting = list(constructor.body)
    while waiting:
        statement = waiting.pop(0)
        if _is_text(statement) or isinstance(statement, ast.Pass):
            continue
        if isinstance(statement, ast.With):
            if not all(_only_names(module, item, parameters) for item in statement.items):
                return None
            waiting[:0] = statement.body
            continue
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target, value = statement.targets[0], statement.value
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            return None
        kept = isinstance(value, ast.Constant) or (
            isinstance(value, ast.Name) and value.id in parameters
        )
        if target.value.id != me or target.attr in found or not kept:
            return None
        found[target.attr] = value
    return found


def _only_names(module: Module, item: ast.withitem, parameters: Sequence[str]) -> bool:
    """`tf.variable_scope(name)`, in which nothing is made."""
    scope = item.context_expr
    if not isinstance(scope, ast.Call) or name_of(module, scope) not in _SCOPES:
        return False
    told = scope.args[0] if len(scope.args) == 1 and not scope.keywords else None
    named = isinstance(told, ast.Name) and told.id in parameters
    return named or (isinstance(told, ast.Constant) and isinstance(told.value, str))


class _Applied:
    """A class of such objects, with all that makes and calls them."""

    def __init__(self, kept: _Kept, graph: CallGraph, own: Set[Module]) -> None:
        self.kept = kept
        self.graph = graph
        self.own = own

    def edits(self) -> dict[Module, list[Edit]]:
        kept = self.kept
        made = self.graph.references(Function(kept.module, kept.constructor))
        if not made:
            return {}
        found: dict[Module, list[Edit]] = {}
        gone: dict[Module, list[ast.stmt]] = {}
        for one in made:
            calls = self._calls(one)
            if calls is None or one.call is None:
                return {}
            settings = bind(one.call, Function(kept.module, kept.constructor)).every()
            if settings is None or not all(map(_is_setting, settings.values())):
                return {}
            for call in calls:
                text = self._written(one.module, call, settings)
                if text is None:
                    return {}
                found.setdefault(one.module, []).append(Edit(*one.module.source.span(call), text))
            gone.setdefault(one.module, []).append(one.module.names.statement(one.call))
        if any(self._overlap(edits) for edits in found.values()):
            return self._one_level(found, gone)
        for module, statements in gone.items():
            found.setdefault(module, []).extend(without_statements(module, statements))
        for module, edits in self._without_class().items():
            found.setdefault(module, []).extend(edits)
        return found

    def _overlap(self, edits: Sequence[Edit]) -> bool:
        """Whether a call stands within what another one is given: `self.a(self.b(x))`."""
        spans = sorted((one.start, one.end) for one in edits)
        return any(start < before[1] for before, (start, _) in zip(spans, spans[1:]))

    def _one_level(
        self, found: Mapping[Module, Sequence[Edit]], gone: Mapping[Module, Sequence[ast.stmt]]
    ) -> dict[Module, list[Edit]]:
        """The calls that stand in no other; the next round writes those around them."""
        del gone
        return {
            module: [
                one
                for one in edits
                if not any(
                    one.start <= other.start and other.end <= one.end and other is not one
                    for other in edits
                )
            ]
            for module, edits in found.items()
        }

    # -- the objects ---------------------------------------------------------------------

    def _calls(self, made: Reference) -> list[ast.Call] | None:
        """Every call of an object; None where something else is done with it."""
        module, names = made.module, made.module.names
        if made.call is None or module not in self.own:
            return None
        statement = names.statement(made.call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or statement.value is not made.call:
            return None
        if len(statement.targets) > 1 or not Layout(module.source, statement).owns_lines:
            return None
        mentions: list[ast.expr] | None = None
        if isinstance(target, ast.Attribute):
            mentions = self._of_attribute(module, target)
        elif isinstance(target, ast.Name):
            home = names.scope_of_name[target]
            if names.only_binding(target) is not None and not home.is_module:
                mentions = [one for one in names.mentions(target.id, home) if one is not target]
        calls: list[ast.Call] = []
        for mention in mentions or ():
            call = names.parents.get(mention)
            if not isinstance(call, ast.Call) or call.func is not mention:
                return None
            calls.append(call)
        return None if mentions is None else calls

    def _of_attribute(self, module: Module, target: ast.Attribute) -> list[ast.expr] | None:
        """Where an attribute that has one value is read, in the methods of its class alone."""
        owner = class_of(module, target)
        if owner is None or self._is_a_base(owner):
            return None
        found: list[ast.expr] = []
        for other in self.graph.modules:
            for mention in other.names.attributes.get(target.attr, ()):
                if mention is target or is_of_another(other, mention, owner):
                    continue
                if class_of(other, mention) is not owner or not isinstance(mention.ctx, ast.Load):
                    return None
                found.append(mention)
        return found

    def _is_a_base(self, owner: ast.ClassDef) -> bool:
        """Whether a class of the program may inherit from another."""
        return any(
            isinstance(base, (ast.Name, ast.Attribute))
            and (base.id if isinstance(base, ast.Name) else base.attr) == owner.name
            for module in self.graph.modules
            for node in walk(module.tree)
            if isinstance(node, ast.ClassDef)
            for base in node.bases
        )

    # -- a call --------------------------------------------------------------------------

    def _written(
        self, module: Module, call: ast.Call, settings: Mapping[str, ast.expr]
    ) -> str | None:
        """What the class does when an object is called, with what it keeps and is given."""
        kept, home = self.kept, self.kept.module
        given = bind(call, Function(home, kept.call)).every()
        if given is None:
            return None
        me = kept.call.args.args[0].arg
        start, _ = home.source.span(kept.value)
        edits: list[Edit] = []
        read: list[str] = []
        for part in walk(kept.value):
            if not isinstance(part, _PLAIN) or (isinstance(part, ast.keyword) and not part.arg):
                return None
            if isinstance(part, ast.Attribute) and _is_name(part.value, me):
                value = kept.attributes.get(part.attr)
                if value is None:
                    return None
                value = settings[value.id] if isinstance(value, ast.Name) else value
                text = self._text(module, value)
            elif isinstance(part, ast.Name) and part.id in given:
                read.append(part.id)
                text = self._text(module, given[part.id])
                taker = home.names.parents[part]
                argument = isinstance(taker, ast.keyword) or (
                    isinstance(taker, ast.Call) and part is not taker.func
                )
                text = text if argument or _is_atom(given[part.id]) else f"({text})"
            elif isinstance(part, ast.Name):
                if part.id == me:
                    if not isinstance(home.names.parents[part], ast.Attribute):
                        return None
                elif not self._means_the_same(module, call, part):
                    return None
                continue
            else:
                continue
            begin, end = home.source.span(part)
            edits.append(Edit(begin - start, end - start, text))
        others = [name for name, value in given.items() if not _is_atom(value)]
        if len(others) > 1 or any(read.count(name) != 1 for name in others):
            return None  # it would be computed at another time, or as often as it is read
        code, at, lines = home.source.code(kept.value), 0, []
        for edit in sorted(edits, key=lambda one: one.start):
            lines += [re.sub(r"\s+", " ", code[at : edit.start]), edit.new]
            at = edit.end
        return "".join([*lines, re.sub(r"\s+", " ", code[at:])])

    def _text(self, module: Module, value: ast.expr) -> str:
        inside = value in module.names.parents
        return (module if inside else self.kept.module).source.code(value)

    def _means_the_same(self, module: Module, call: ast.Call, part: ast.Name) -> bool:
        """Whether a name of the class's module is that where an object is called."""
        home = self.kept.module
        here = module.names.roots(part.id, module.names.scope_at(call))
        return bool(here) and here == home.names.roots(part.id, home.names.module_scope)

    # -- the class -----------------------------------------------------------------------

    def _without_class(self) -> dict[Module, list[Edit]]:
        """The class goes, with the imports that name it; it stays where one cannot be changed."""
        home, owner = self.kept.module, self.kept.owner
        if home not in self.own:
            return {}
        found = {home: [without_function(home.source, owner)]}
        for module in self.graph.importers(home):
            for _, _, top in importing(module, home, owner.name, self.graph):
                if module not in self.own or not top:
                    return {}
        for module, edit in without_imports(home, owner.name, self.graph, self.own):
            found.setdefault(module, []).append(edit)
        return found


def without_statements(module: Module, statements: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Statements go; a block that has no other goes with its condition, or does nothing."""
    names, source, gone = module.names, module.source, {*statements}
    done: set[ast.AST] = set()
    for statement in sorted(statements, key=position):
        block, parent = names.block(statement), names.parents[statement]
        if not gone.issuperset(block):
            if statement not in done:
                place = block.index(statement)
                run = list(takewhile(gone.__contains__, block[place:]))
                done.update(run)
                yield from _without_run(module, run)
        elif isinstance(parent, ast.If) and parent.body is block and not parent.orelse:
            layout = Layout(source, parent)
            alone = len(names.block(parent)) == 1 or not layout.owns_lines
            plain = all(isinstance(part, _TESTS) for part in walk(parent.test))
            if alone or not plain:
                last = statement is block[-1]
                yield Layout(source, statement).replace(["pass"] if last else [])
            elif parent not in done:
                done.add(parent)
                yield without_paragraph(source, parent)
        else:
            yield Layout(source, statement).replace(["pass"] if statement is block[-1] else [])


def _without_run(module: Module, run: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Statements below one another go; what is said above them too, where a blank line follows."""
    source = module.source
    text, first, last = source.text, Layout(source, run[0]), Layout(source, run[-1])
    end = text.find("\n", last.next_line) + 1 or len(text)
    if text[last.next_line : end].strip():
        yield from (without_paragraph(source, one) for one in run)
        return
    start = start_with_comments(text, first.line_start)
    above = text[:start].rstrip(" \t")
    yield Edit(start, end if above.endswith(("\n\n", "\n\r\n")) else last.next_line, "")


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_atom(node: ast.expr) -> bool:
    """Whether an expression may be written as often as one likes."""
    if isinstance(node, ast.Attribute):
        return _is_atom(node.value)
    return isinstance(node, (ast.Name, ast.Constant))


def _is_setting(node: ast.expr) -> bool:
    """Whether an object keeps a constant."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)
