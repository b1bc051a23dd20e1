"""A graph that each object of a class keeps for itself: the program has no other.

    self.graph = tf.Graph()
    with self.graph.as_default():
        self.build()
        self.sess = tf.Session(graph=self.graph)

Where all sessions run it, and nothing is built elsewhere, what an object builds is read as it is
without that. What several objects have in one graph together is refused where objects are read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import (
    constructor_of,
    is_session,
    session_calls,
    trains,
)
from migrate_mgpu.source.blocks import Block, outermost
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_BUILDS = ("placeholder", "Variable", "get_variable", "global_variables_initializer")
_RESETS = "reset_default_graph"
_OTHERS = ("Graph", "train.import_meta_graph", "import_graph_def")


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for such a graph; none where there is none. ``own`` may change."""
    made = [
        (module, call)
        for module in modules
        for name in _OTHERS
        for call in calls_of_names(module).get(name, ())
    ]
    if len(made) != 1 or made[0][0] not in own:
        return {}
    resets = [
        (module, statement)
        for module in modules
        for call in calls_of_names(module).get(_RESETS, ())
        for statement in [module.names.parents.get(call)]
    ]
    if not all(
        isinstance(one, ast.Expr) and Layout(module.source, one).owns_lines and module in own
        for module, one in resets
    ):
        return {}
    module, call = made[0]
    kept = module.names.parents.get(call)
    target = kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else None
    if not isinstance(kept, ast.Assign) or not isinstance(target, ast.Attribute):
        return {}
    if call.args or call.keywords or not Layout(module.source, kept).owns_lines:
        return {}
    found = _Graph(module, target, graph)
    if not found.is_only_one(modules):
        return {}
    edits = {module: found.edits([kept, *found.unread_savers(modules)])}
    for other, statement in resets:  # of a graph that has nothing
        assert isinstance(statement, ast.Expr)
        edits.setdefault(other, []).append(without_paragraph(other.source, statement))
    return edits


class _Graph:
    """`self.graph`, of the objects of a class."""

    def __init__(self, module: Module, target: ast.Attribute, graph: CallGraph) -> None:
        self.module = module
        self.names = module.names
        self.target = target
        self.graph = graph
        around = (one for one in self.names.ancestors(target) if isinstance(one, ast.ClassDef))
        self.owner = next(around, None)
        self.mentions = [one for one in self.names.attributes[target.attr] if self._is_self(one)]
        self.entered = [one for one in self.mentions if self._enters(one) is not None]
        self._inside: dict[ast.AST, bool] = {}

    def is_only_one(self, modules: Sequence[Module]) -> bool:
        """Whether the program builds and runs nothing elsewhere."""
        constructor = constructor_of(self.owner) if self.owner is not None else None
        if constructor is None or self.owner not in self.module.tree.body:
            return False
        for mention in self.mentions:
            known = mention is self.target or mention in self.entered
            if not known and self._session(mention) is None:
                return False
        for module in modules:
            for other in module.names.attributes.get(self.target.attr, ()):
                mine = module is self.module and other in self.mentions
                if not mine and not _is_sessions(module, other):
                    return False
            for call in module.names.calls:
                name = name_of(module, call)
                builds = name in _BUILDS or name.startswith("layers.") or trains(module, call)
                if builds or is_session(module, call):
                    if not self._is_inside(module, call):
                        return False
        return bool(self.entered)

    def unread_savers(self, modules: Sequence[Module]) -> list[ast.stmt]:
        """`self.saver = tf.train.Saver()`, which nothing saves or restores by."""
        found: list[ast.stmt] = []
        for call in self.names.calls:
            made = self.names.parents.get(call)
            if name_of(self.module, call) != "train.Saver" or not isinstance(made, ast.Assign):
                continue
            target = made.targets[0] if len(made.targets) == 1 else None
            if not isinstance(target, ast.Attribute) or not self._is_self(target):
                continue
            mentions = [o for one in modules for o in one.names.attributes.get(target.attr, ())]
            layout = Layout(self.module.source, made)
            if mentions == [target] and len(self.names.block(made)) > 1 and layout.owns_lines:
                found.append(made)
        return found

    def edits(self, gone: Sequence[ast.stmt]) -> list[Edit]:
        """The graph goes, its blocks open, and sessions are not given it."""
        found = [without_paragraph(self.module.source, one) for one in gone]
        for mention in self.mentions:
            call = self._session(mention)
            if call is not None:
                code = self.module.source.code
                given = [code(one) for one in call.args]
                given += [
                    f"{one.arg}={code(one.value)}" for one in call.keywords
                    if one.value is not mention
                ]  # fmt: skip
                text = f"{code(call.func)}({', '.join(given)})"
                found.append(Edit(*self.module.source.span(call), text))
        for mention in reversed(self.entered):
            block = self._enters(mention)
            assert block is not None
            found.append(self._opened(block, mention, found, gone))
        return outermost(found)

    def _opened(
        self,
        block: ast.With,
        mention: ast.Attribute,
        edits: Sequence[Edit],
        gone: Sequence[ast.stmt],
    ) -> Edit:
        """A block without the graph; its statements alone, where it has no other header."""
        source = self.module.source
        rest = [item for item in block.items if mention not in walk(item)]
        if rest:
            first, last = block.items[0].context_expr, block.items[-1]
            end = source.span(last.optional_vars or last.context_expr)[1]
            text = ", ".join(
                source.code(one.context_expr)
                + (f" as {source.code(one.optional_vars)}" if one.optional_vars else "")
                for one in rest
            )
            return Edit(source.span(first)[0], end, text)
        layouts = [Layout(source, one) for one in (block, block.body[-1])]
        written = Block(source, layouts[0].indent)
        written.comments(block)
        for one in (line for line in block.body if line not in gone):
            start, end = source.span(one)
            inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
            written.statement(one, inside)
        number = block.lineno
        while number > 1 and source.line_text(number - 1).strip().startswith("#"):
            number -= 1
        first_line = min(layouts[0].line_start, source.line_starts[number - 1])
        return Edit(first_line, layouts[1].next_line, written.text())

    def _is_self(self, node: ast.Attribute) -> bool:
        """Whether an attribute is one of the object, in a method of its class."""
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return own and any(one is self.owner for one in self.names.ancestors(node))

    def _enters(self, mention: ast.Attribute) -> ast.With | None:
        """The block that a mention enters the graph for: `with self.graph.as_default():`."""
        func = self.names.parents.get(mention)
        call = self.names.parents.get(func) if func is not None else None
        item = self.names.parents.get(call) if call is not None else None
        block = self.names.parents.get(item) if item is not None else None
        if not isinstance(func, ast.Attribute) or func.attr != "as_default":
            return None
        if not isinstance(item, ast.withitem) or not self._is_unread(item.optional_vars):
            return None
        if not isinstance(block, ast.With) or block.body[0].lineno == block.lineno:
            return None
        return block if Layout(self.module.source, block).owns_lines else None

    def _is_unread(self, name: ast.expr | None) -> bool:
        """Whether a block gives the graph no name, or one that nothing mentions."""
        if not isinstance(name, ast.Name):
            return name is None
        mentions = self.names.mentions(name.id, self.names.scope_of_name[name])
        return not any(isinstance(one.ctx, ast.Load) for one in mentions)

    def _session(self, mention: ast.Attribute) -> ast.Call | None:
        """The session that is given the graph."""
        keyword = self.names.parents.get(mention)
        call = self.names.parents.get(keyword) if keyword is not None else None
        given = isinstance(keyword, ast.keyword) and keyword.arg == "graph"
        known = isinstance(call, ast.Call) and is_session(self.module, call)
        return call if given and known and isinstance(call, ast.Call) else None

    def _is_inside(self, module: Module, node: ast.AST) -> bool:
        """Whether a node runs where the graph is the default one, or is a session of it."""
        if module is self.module:
            given = [self._session(one) for one in self.mentions]
            if node in given:
                return True
            blocks: list[ast.AST | None] = [self._enters(one) for one in self.entered]
            blocks += (module.names.statement(one) for one in given if one is not None)
            above = (one for one in module.names.ancestors(node) if isinstance(one, ast.With))
            if any(parent in blocks for parent in above):
                return True
        around = self.graph.enclosing(module, node)
        if around is None:
            return False
        if around.node not in self._inside:
            self._inside[around.node] = False  # ends recursion
            self._inside[around.node] = self._is_called_inside(around)
        return self._inside[around.node]

    def _is_called_inside(self, function: Function) -> bool:
        if function.owner is None:
            calls = self.graph.references(function)
            return bool(calls) and all(self._is_inside(one.module, one.node) for one in calls)
        if function.owner is not self.owner or function.name == "__init__":
            return False
        mentions = self.names.attributes.get(function.name, ())
        return bool(mentions) and all(
            self._is_self(one) and self._is_inside(self.module, one) for one in mentions
        )


def _is_sessions(module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute is one of a session: `sess.graph`."""
    made = {
        target
        for call in session_calls(module)
        for target in _targets(module.names.statement(call), call)
    }
    value = node.value
    if isinstance(value, ast.Name):
        home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
        bound = home.bindings[value.id] if home is not None else []
        return bool(bound) and all(one.node in made for one in bound)
    if not isinstance(value, ast.Attribute):
        return False
    stored = [
        one for one in module.names.attributes[value.attr] if not isinstance(one.ctx, ast.Load)
    ]
    return bool(stored) and all(one in made for one in stored)


def _targets(statement: ast.stmt, call: ast.Call) -> list[ast.AST]:
    """What a statement calls the session that it makes."""
    if isinstance(statement, ast.Assign) and statement.value is call:
        return [*statement.targets]
    items = statement.items if isinstance(statement, ast.With) else []
    return [one.optional_vars for one in items if one.context_expr is call and one.optional_vars]
