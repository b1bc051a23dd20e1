"""Values that TF1's graph computes of Python's own: TF2 computes them where they stand.

`correct = tf.equal(tf.argmax(predicted, 1), tf.argmax(labels, 1))`, where both are arrays.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Binding, Scope, walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS, SAMPLES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import arguments_by_name
from migrate_mgpu.models.front.session.program import GRAPH, HOST_OBJECTS, Computed
from migrate_mgpu.models.front.session.state import StatementReader

_EAGER = COMPUTES - DRAWS - SAMPLES - {"gradients"}
_SUMMARIES = ("scalar", "histogram", "image")
_DEPTH = 8  # names that a value may follow from, one after the other


class EagerValueReader(StatementReader):
    """Reads statements and runs that compute such values."""

    def assigned(self, statement: ast.stmt) -> bool:
        """Whether a statement names such a value, once something has run."""
        if not self.found.runs and self.runs.is_home(statement):
            return False
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not self._computes(statement.value):
            return False
        others = (self.names.statement(one.node) for one in self.names.bindings_of(target))
        if any(isinstance(one, ast.AugAssign) for one in others):
            return False  # what is added may be a part of the graph
        if self.runs.is_home(statement):
            self.meanings[target.id] = Computed()
            return True
        if self.names.only_binding(target) is None:
            return False
        self.runs.computed.add((self.names.scope_of_name[target], target.id))
        return True

    def summarized(self, statement: ast.Assign, call: ast.Call) -> bool:
        """Whether a summary that has a name is of such values, once something has run."""
        summary = next((one for one in self.found.summaries if one.call is call), None)
        target = statement.targets[0]
        if summary is None or not self.found.runs or not isinstance(target, ast.Name):
            return False
        if summary.kind not in _SUMMARIES:
            return False
        if self.scope.towers is not None or not all(
            self.is_python(value, 0) for value in summary.values.values()
        ):
            return False
        self.found.summarizing.discard(statement)
        self.found.computed_summaries.add(summary)
        self.meanings[target.id] = Computed()
        return True

    def is_eager(self, node: ast.expr) -> bool:
        """Whether an expression computes by TensorFlow, and of Python's own values alone."""
        return getattr(node, "end_lineno", 0) == node.lineno and self._computes(node)

    def _computes(self, node: ast.expr) -> bool:
        """Whether an expression does that, of one line or several."""
        if self.scope.towers is not None or not isinstance(node, ast.Call):
            return False
        return name_of(self.module, node) in _EAGER and self.is_python(node, 0)

    def is_python(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether nothing in a node is a part of the graph, or makes one."""
        for part in walk(node):
            if isinstance(part, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield)):
                return False
            if isinstance(part, ast.Call) and not self.is_plain(part):
                return False
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                if not self._name(part, depth):
                    return False
        return True

    def is_plain(self, call: ast.Call) -> bool:
        """Whether a call makes no part of the graph, and runs nothing in the session."""
        name = name_of(self.module, call)
        if name:
            return name in _EAGER
        if self.runs.calls(self.names.statement(call)) and call in self.runs.calls(
            self.names.statement(call)
        ):
            return False
        target = self.origins.target(call)
        if target is None:
            return True
        return not self.expressions.touches_graph(target) and not self.origins.runs(target)

    def _name(self, name: ast.Name, depth: int) -> bool:
        names = self.names
        if depth > _DEPTH or name not in names.scope_of_name:
            return False
        meaning = self.runs.meaning(name)
        if isinstance(meaning, Computed):
            return True
        if isinstance(meaning, (*GRAPH, *HOST_OBJECTS)) or self.runs.is_session(name):
            return False
        home = names.defining_scope(name.id, names.scope_of_name[name])
        if home is None or meaning is not None:
            return True  # Python's own
        if isinstance(home.node, COMPREHENSIONS):
            every = home.node.generators
            return all(self.is_python(one.iter, depth + 1) for one in every)
        return all(self._binding(one, home, name.id, depth) for one in home.bindings[name.id])

    def _binding(self, binding: Binding, home: Scope, name: str, depth: int) -> bool:
        """Whether a name is given a value of Python's own."""
        if binding.kind in ("import", "def", "class"):
            return True
        if binding.kind == "parameter":
            node = home.node
            return isinstance(node, ast.FunctionDef) and self._parameter(node, name, depth)
        statement = self.names.statement(binding.node)
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            value = statement.value
            if value is None or value in self.runs.calls(statement):
                return value is not None
            return self.is_python(value, depth + 1)
        if isinstance(statement, ast.For):
            return self.is_python(statement.iter, depth + 1)
        return False

    def _parameter(self, node: ast.FunctionDef, name: str, depth: int) -> bool:
        function = Function(self.module, node)
        references = self.origins.references(function)
        if not references:
            return False
        for reference in references:
            if reference.call is None or reference.module is not self.module:
                return False
            given = arguments_by_name(function, reference.call).get(name)
            if given is not None and not self.is_python(given, depth + 1):
                return False
        return True
