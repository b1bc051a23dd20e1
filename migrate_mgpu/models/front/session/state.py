"""What readers of a session's program share: its scope, and what its names stand for so far."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import line_of, walk
from migrate_mgpu.api.graph import COMPUTES, CONTROL, DRAWS
from migrate_mgpu.api.searches import search_of
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import Expressions
from migrate_mgpu.models.front.session.folding import may_fold
from migrate_mgpu.models.front.session.host_objects import SaverCall
from migrate_mgpu.models.front.session.layer_calls import LayerReader
from migrate_mgpu.models.front.session.object_scopes import ObjectScope, object_scope
from migrate_mgpu.models.front.session.origins import Origins
from migrate_mgpu.models.front.session.program import GRAPH, Meaning, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader, mentions_of
from migrate_mgpu.models.front.session.scope import (
    Owner,
    SessionScope,
    graph_owners,
    read_scope,
)
from migrate_mgpu.models.front.towers.reading import TowerReader
from migrate_mgpu.models.ir import Placeholder, SharedGraph, Unit, Variables

_LOOPS = (ast.For, ast.While, ast.comprehension)


class Reading:
    """A program that is being read: ``meanings`` are those of its scope's names at ``place``."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        configs: AbstractSet[ast.AST],
        beside: AbstractSet[Module],
        owner: Owner | None = None,
        shared: SharedGraph | None = None,
        graph_readers: Callable[[SaverCall], list[Module]] = lambda call: [],
    ) -> None:
        """``owner`` is one of several that build a graph each: its own is read.

        ``shared`` is what several programs want of the graph. ``graph_readers`` are the modules
        that read the graph which a saver writes.
        """
        self.graph_readers = graph_readers
        self.module = module
        self.beside = beside  # the program's other modules that speak to TensorFlow
        self.graph = graph
        self.configs = configs
        self.names = module.names
        self.scope: SessionScope = read_scope(module, graph, owner)
        others = graph_owners(module) if owner is not None else []
        self.others = [one for one in others if one is not owner]
        self.theirs = self._of_others()
        if isinstance(owner, ast.FunctionDef):
            self.graph = graph = graph.without(self.theirs)
        self.found = SessionProgram(self.scope)
        reusing = {n for one in self.scope.entries if one.reuses for n in walk(one.statement)}
        self.layers = LayerReader(
            module, graph, self._is_tensor, self._is_flag, self.scope.node, beside, reusing
        )
        self.found.layer_helpers = self.layers.functions.helpers
        self.reuse = self.found.layer_helpers.reuse
        self.expressions = Expressions(module, graph, self.layers, beside)
        self.home = self.names.scopes[self.scope.node]
        self.meanings: dict[str, Meaning] = {}
        # Names that branches of a condition give tensors, which have no meaning before it is read.
        self.in_branches: dict[ast.AST, set[str]] = {}
        self.place = 0
        self.earlier: set[Variables] = set()  # those of graphs that were built before this one
        self.origins = Origins(graph, self.scope)
        own = self.scope.owner.name if self.scope.owner is not None else ""
        self.shared = shared if shared is not None and shared.owner == own else None
        self.runs: RunReader
        self.towers: TowerReader

    @cached_property
    def object_scope(self) -> ObjectScope | None:
        """The scope that each object of the class opens which builds the graph."""
        owner, node = self.scope.owner, self.scope.node
        if not isinstance(owner, ast.ClassDef) or not isinstance(node, ast.FunctionDef):
            return None
        return object_scope(self.module, self.graph, owner, node)

    def _of_others(self) -> set[ast.AST]:
        """What is in others that build graphs, and in functions that they alone call."""
        found = {part for one in self.others for part in walk(one)}
        for _ in range(5 if found else 0):
            for node in self.module.tree.body:
                if not isinstance(node, ast.FunctionDef) or node in found:
                    continue
                references = self.graph.references(Function(self.module, node))
                if references and all(one.node in found for one in references):
                    found.update(walk(node))
        return found

    def _is_tensor(self, node: ast.AST) -> bool:
        """Whether an expression that is read is a part of the graph, or variables of it."""
        for part in walk(node):
            if isinstance(part, ast.Call):
                name = name_of(self.module, part)
                if (
                    name in (COMPUTES | DRAWS)
                    or name in CONTROL
                    or self.layers.of(part) is not None
                ):
                    return True
            elif isinstance(part, ast.Name) and self._is_searched(part):
                return True
        inside = self._tensors_of_branches(node)
        return any(
            name.id in inside
            or isinstance(self.meanings.get(name.id), (Placeholder, Unit, Variables))
            for name in mentions_of(self.names, node, self.home)
        )

    def _tensors_of_branches(self, node: ast.AST) -> set[str]:
        if not self.in_branches:
            return set()
        around = (self.in_branches.get(one, ()) for one in self.names.ancestors(node))
        return {name for names in around for name in names}

    def _is_searched(self, name: ast.Name) -> bool:
        """Whether a name is what a search gives the lambda that it asks for scores."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        asked = home.node if home is not None else None
        call = self.names.parents.get(asked) if isinstance(asked, ast.Lambda) else None
        return isinstance(call, ast.Call) and bool(search_of(self.module, call))

    def _is_flag(self, node: ast.AST) -> bool:
        """Whether an expression is all made of placeholders whose value steps may know."""
        found = [self.meanings.get(one.id) for one in mentions_of(self.names, node, self.home)]
        parts = [one for one in found if isinstance(one, GRAPH)]
        return bool(parts) and all(isinstance(p, Placeholder) and may_fold(p) for p in parts)

    def only_binding(self, target: ast.Name, in_turn: bool = False) -> None:
        """Refuses a name that is given more than one value in the graph that it is of.

        ``in_turn``: of an operation, which has another name in TF2, it may be one after the other.
        """
        here = self.scope.section(target)
        own = [b for b in self.names.bindings_of(target) if self.scope.section(b.node) == here]
        several = bool(self.scope.resets) and len(own) == 1
        if self.names.only_binding(target) is None and not several:
            if self._is_free_at_the_end(target) or self._is_made_anew(target):
                return
            if in_turn and self._is_given_in_turn(target):
                return
            text = f"`{target.id}` is also assigned elsewhere"
            raise Refused(self.module, target, text, "give the two different names")

    def _is_given_in_turn(self, target: ast.Name) -> bool:
        """Whether a name is given its values by statements of the scope, and read there alone."""
        if self.names.scope_of_name[target] is not self.home or self.scope.towers is not None:
            return False
        bindings = self.names.bindings_of(target)
        own = {entry.statement for entry in self.scope.entries if not entry.opens}
        mentions = self.names.mentions(target.id, self.home)
        return all(self.names.statement(one.node) in own for one in bindings) and all(
            self.names.scope_of_name[one] is self.home for one in mentions
        )

    def _is_made_anew(self, target: ast.Name) -> bool:
        """Whether what else a name is given is Python's own, and comes before.

        `c = 0` at the top of a script, and `c = tf.placeholder(...)` below.
        """
        if self.names.scope_of_name[target] is not self.home or self.scope.resets:
            return False
        if isinstance(self.meanings.get(target.id), GRAPH):
            return False
        others = {b.node for b in self.names.bindings_of(target) if b.node is not target}
        above = [entry.statement for entry in self.scope.entries[: self.place] if not entry.opens]
        if not all(any(one in walk(statement) for statement in above) for one in others):
            return False
        self.found.before |= others
        return True

    def _is_free_at_the_end(self, target: ast.Name) -> bool:
        """Whether what else a name is given comes where nothing is run any more."""
        others = [b.node for b in self.names.bindings_of(target) if b.node is not target]
        free = all(map(self.is_free, others))
        self.found.rebound |= {*others} if free else set()
        return free

    def is_free(self, node: ast.AST) -> bool:
        """Whether a name is Python's own from here on, where nothing is run any more.

        `w, b = sess.run([w, b])`, as the last run of a script.
        """
        if self.scope.resets or self.scope.again or self.scope.towers is not None:
            return False
        if not isinstance(node, ast.Name) or self.names.scope_of_name[node] is not self.home:
            return False
        mentions = self.names.mentions(node.id, self.home)
        if any(self.names.scope_of_name[one].function() is not self._function for one in mentions):
            return False
        statement = self.names.statement(node)
        loops = [one for one in self.names.ancestors(node) if isinstance(one, _LOOPS)]
        for use in self._uses:
            inside = isinstance(statement, ast.Assign) and use in walk(statement)
            if any(use in walk(loop) for loop in loops):
                return False
            if not inside and line_of(use) >= statement.lineno:
                return False
        return True

    @property
    def _function(self) -> ast.AST | None:
        return self.home.function()

    @cached_property
    def _uses(self) -> list[ast.AST]:
        """What uses the session: its mentions, values of tensors, calls of functions that run."""
        found: list[ast.AST] = [*self.names.mentions(self.scope.name, self.home)]
        for call in self.names.calls:
            target = self.origins.target(call)
            asks = isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval")
            if asks or (target is not None and self.origins.runs(target)):
                found.append(call)
        return found

    def host_only(
        self, node: ast.AST, what: str, known: AbstractSet[ast.AST] = frozenset()
    ) -> None:
        """Refuses what depends on a part of the graph, but for ``known`` mentions of some."""
        for name in mentions_of(self.names, node, self.home):
            if name not in known and isinstance(self.meanings.get(name.id), GRAPH):
                text = f"{what} depends on `{name.id}`, a part of the graph"
                raise Refused(self.module, name, text)

    def makes_anew(self, node: ast.AST) -> None:
        """Refuses what would make variables where a scope says that they are there already."""
        if self.scope.entries[self.place].reuses:
            text = "it has variables that are made elsewhere, as a scope around it says"
            advice = "make them in a function, and call that twice"
            raise Refused(self.module, node, text, advice)

    def global_of_graph(self, name: ast.Name) -> None:
        """Refuses a function's own mention of a part of the graph."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is self.home and isinstance(self.meanings.get(name.id), GRAPH):
            text = f"`{name.id}`, a part of the graph, is read inside of a function"
            raise Refused(self.module, name, text, "give it to the function as an argument")


class StatementReader:
    """Reads one kind of statements; what all readers know of the program is in ``state``."""

    def __init__(self, state: Reading) -> None:
        self.state = state
        self.module = state.module
        self.names = state.names
        self.graph = state.graph
        self.scope = state.scope
        self.home = state.home
        self.found = state.found
        self.layers = state.layers
        self.expressions = state.expressions
        self.origins = state.origins
        self.reuse = state.reuse
        self.meanings = state.meanings

    @property
    def place(self) -> int:
        """Which entry of the scope is read."""
        return self.state.place

    @property
    def runs(self) -> RunReader:
        return self.state.runs

    @property
    def towers(self) -> TowerReader:
        return self.state.towers
