"""The default session, where a script's block has it: by that session's name.

    def predict(self, x, sess=None):                 def predict(self, x):
        sess = sess or tf.get_default_session()
        return sess.run(self.y, {self.x: x})             return sess.run(self.y, {self.x: x})

    with tf.Session() as sess:                       with tf.Session() as sess:
        model.predict(data)                              model.predict(data)

The program has no other session, and no call gives the function one: what ran in TF1 ran in that
block, where the session is the default one. A function of the same module sees its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.arguments import bind, defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.origins import is_annotation, method_calls
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ASKS = "get_default_session"


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one function that asks; none where there is none. ``own`` may change."""
    asking = [one for one in modules if calls_of_names(one).get(_ASKS)]
    sessions = [(one, call) for one in modules for call in session_calls(one)]
    if len(sessions) != 1 or not asking:
        return {}
    module, session = sessions[0]
    name = _name(module, session)
    if not name or module not in own:
        return {}
    for call in calls_of_names(module).get(_ASKS, ()):
        function = module.names.scope_at(call).node
        if isinstance(function, ast.FunctionDef) and not function.decorator_list:
            edits = [*_Asking(module, graph, function, call, name).edits()]
            if edits:
                return {module: edits}
    return {}


def _name(module: Module, session: ast.Call) -> str:
    """What a block of the module itself calls its session, and nothing else is called there."""
    names = module.names
    block = names.statement(session)
    if not isinstance(block, ast.With) or not names.scope_at(block).is_module:
        return ""
    for item in block.items:
        if item.context_expr is session and isinstance(item.optional_vars, ast.Name):
            name = item.optional_vars.id
            return name if len(names.module_scope.bindings[name]) == 1 else ""
    return ""


class _Asking:
    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        function: ast.FunctionDef,
        call: ast.Call,
        name: str,
    ) -> None:
        """``name`` is that of the session in the module."""
        self.module = module
        self.names = module.names
        self.graph = graph
        self.function = function
        self.call = call
        self.name = name
        self.scope = module.names.scopes[function]

    def edits(self) -> Iterator[Edit]:
        source = self.module.source
        statement = self.names.statement(self.call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            if self._sees_name():
                yield Edit(*source.span(self.call), self.name)
            return
        local, block = target.id, self.names.block(statement)
        kinds = [one.kind for one in self.scope.bindings[local]]
        given = kinds[:1] == ["parameter"]
        if len(kinds) != 1 + given or not self._is_default(statement.value, local if given else ""):
            return
        if len(block) == 1 or not Layout(source, statement).owns_lines:
            return
        if local != self.name and not self._sees_name():
            return
        inside = [one for one in self.names.mentions(local, self.scope) if one is not target]
        inside = [one for one in inside if self.names.statement(one) is not statement]
        if statement not in self.function.body or any(
            self.names.statement(one).lineno < statement.lineno for one in inside
        ):
            return
        if given:
            if not self._is_given_to_nobody(local):
                return
            yield without_parameter(source, self.function, local)
        yield Layout(source, statement).replace([])
        if local != self.name:
            for mention in inside:
                yield Edit(*source.span(mention), self.name)

    def _sees_name(self) -> bool:
        """Whether the name of the session means that one in the function."""
        home = self.names.defining_scope(self.name, self.scope)
        return home is self.names.module_scope

    def _is_default(self, value: ast.expr, parameter: str) -> bool:
        """`sess or tf.get_default_session()`, of a parameter; or the call alone."""
        if not parameter:
            return value is self.call
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
            first, *rest = value.values
            return isinstance(first, ast.Name) and first.id == parameter and rest == [self.call]
        return False

    def _is_given_to_nobody(self, parameter: str) -> bool:
        """Whether the parameter is None unless it is given, which no call does."""
        default = dict(defaults_of(self.function.args)).get(parameter)
        if default is None or not is_none(default):
            return False
        function = Function(self.module, self.function)
        if function.owner is None:
            references = self.graph.references(function)
            references = [one for one in references if not is_annotation(one.module, one.node)]
            calls = [one.call for one in references]
        else:
            known = method_calls(self.graph, function.owner, function.name)
            if known is None:
                return False
            parents = [one.names.parents.get(mention) for one, mention in known]
            calls = [one if isinstance(one, ast.Call) else None for one in parents]
        for call in calls:
            if call is None:
                return False
            arguments_of = bind(call, function)
            if arguments_of.unclear is not None or parameter in arguments_of.written():
                return False
        return True
