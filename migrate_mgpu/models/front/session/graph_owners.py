"""Several objects of the class whose constructor builds the graph: each has a part for itself.

In TF2 each has its own variables and steps. What TF1 knows of all parts together, such as its
collections, or variables that are shared by name, keeps the program as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.object_scopes import asked_scope
from migrate_mgpu.models.front.session.origins import Whole, is_annotation
from migrate_mgpu.models.front.session.state import StatementReader

# What TF1 has of all that is in a graph.
_OF_ALL = (
    "get_collection", "add_to_collection", "losses.get_", "get_default_graph", "get_variable_scope",
    "trainable_variables", "global_variables", "all_variables", "local_variables",
    "model_variables", "moving_average_variables", "summary.merge", "train.Saver", "AUTO_REUSE",
    "train.get_or_create_global_step", "train.get_global_step", "train.create_global_step",
    "make_template", "metrics.", "contrib.slim", "contrib.framework",
)  # fmt: skip
_INITIALIZES = ("global_variables_initializer", "local_variables_initializer")
_ADVICE = "make one object, or what they share outside of the class"


class GraphOwnerReader(StatementReader):
    """Checks that objects of one class have nothing of each other's graph."""

    @property
    def several(self) -> bool:
        """Whether the graph is built by a constructor that may run more than once."""
        node = self.scope.node
        if self.scope.owner is None or not isinstance(node, ast.FunctionDef):
            return False
        if self.state.others:
            return True
        if self.scope.own:  # each object is the only one of its graph
            return False
        return node.name == "__init__" and not self.graph.runs_once(self.module, node.body[0])

    @property
    def own_sessions(self) -> bool:
        """Whether each object makes a session for itself."""
        return self.several and self.scope.session_node is self.scope.node

    def check_program(self) -> None:
        """Before anything is read.

        Raises:
            Refused: something is known of all objects' graphs together.
        """
        scope = self.scope
        if scope.resets or scope.again or scope.apart or scope.towers is not None:
            assert isinstance(scope.node, ast.FunctionDef)
            text = f"`{scope.node.name}`, which builds the graph, may run more than once"
            raise Refused(self.module, scope.node, text)
        assert isinstance(scope.node, ast.FunctionDef)
        for reference in self.graph.references(Function(self.module, scope.node)):
            if reference.call is None and not is_annotation(reference.module, reference.node):
                self._check_bases()
                text = "the class that builds the graph is more than called"
                raise Refused(reference.module, reference.node, text)
        if self._is_made_nowhere():
            return
        for module in self.graph.modules:
            for use in module.uses:
                name = use.symbol.name
                known = name.startswith(_OF_ALL) and name not in _INITIALIZES
                if known and not self._is_of_object(use.node):
                    text = f"several objects build graphs, and `tf.{name}` is about all of them"
                    raise Refused(module, use.node, text, _ADVICE)
            for node in walk(module.tree):
                shares = isinstance(node, ast.Attribute) and node.attr == "reuse_variables"
                if isinstance(node, ast.keyword) and node.arg == "reuse":
                    shares = constant(node.value) is not False
                if shares:
                    text = "several objects build graphs, which may have the same variables"
                    raise Refused(module, node, text, _ADVICE)

    def _is_of_object(self, node: ast.AST) -> bool:
        """Whether the constructor asks, by a call or its key, for variables of its object alone."""
        own = self.state.object_scope
        for call in (node, *self.names.ancestors(node)) if own is not None else ():
            scope = asked_scope(self.module, call) if isinstance(call, ast.Call) else None
            if own is not None and scope is not None and self.runs.is_home(call):
                return self.module.source.code(scope) == own.name
        return False

    def _check_bases(self) -> None:
        """Refuses a class that inherits from others of the run: they were not read with it.

        Raises:
            Refused: it does.
        """
        owner = self.scope.owner
        for base in owner.bases if isinstance(owner, ast.ClassDef) else ():
            known = self.graph.class_of(self.module, base)
            if known is not None:
                name = known[1].name
                text = f"what the class that builds the graph inherits from `{name}` is not read"
                raise Refused(self.module, base, text, "let no other class have to do with it")

    def _is_made_nowhere(self) -> bool:
        """Whether nothing of the run makes an object: there are no several then."""
        owner = self.scope.owner
        if owner is None or self.state.others:
            return False
        if any(self.module in other.imported for other in self.graph.modules):
            return False
        return not self.names.mentions(owner.name, self.names.module_scope)

    def check_parts(self) -> None:
        """Once all is read.

        Raises:
            Refused: an object may have to do with another one's graph.
        """
        for writer in self.found.event_writers:
            text = "several objects build graphs, and summaries are written"
            raise Refused(self.module, writer.statement, text)
        if not self.own_sessions:
            for call in self.runs.gone:
                if self.runs.is_home(call):
                    text = "an object initializes the variables of those before it"
                    raise Refused(self.module, call, text, "do that once, when all are made")
            for run in self.found.runs:
                if self.runs.is_home(run.call):
                    text = "a constructor runs something in the session of several objects"
                    raise Refused(self.module, run.call, text)
        for name in self.names.scope_of_name:
            if self.origins.of(name) is Whole.OBJECT and self.runs.is_home(name):
                if not self._is_self(name):
                    text = "an object builds its graph with another object"
                    raise Refused(self.module, name, text, _ADVICE)
        calls = [run.call for run in self.found.runs]
        for call in (*calls, *(one.call for one in self.found.saver_calls)):
            place: ast.AST = call
            if any(run.call is call and run.fed is not None for run in self.found.runs):
                place = self.names.scope_at(call).node
            if len(set(self._owners(place))) > 1:
                text = "what runs here is of several objects"
                raise Refused(self.module, call, text, "run what is of one object at a time")

    def _is_self(self, name: ast.Name) -> bool:
        node = self.scope.node
        assert isinstance(node, ast.FunctionDef)
        return bool(node.args.args) and name.id == node.args.args[0].arg

    def _owners(self, node: ast.AST) -> Iterator[str]:
        """The objects whose attributes are mentioned in a node, as they are written."""
        for part in walk(node):
            if isinstance(part, ast.Attribute) and self.origins.of(part.value) is Whole.OBJECT:
                if self.origins.of(part) is Whole.SESSION and not self.own_sessions:
                    continue
                if part.attr in self.origins.exported:
                    yield self.module.source.code(part.value)
