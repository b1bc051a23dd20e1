"""Methods that build parts of a network, and call one another: functions above their class.

`self.conv(x, 8)` becomes `conv(x, 8, training=self.training)`, where the method reads that of its
object; so does `net.inference(x)`, of an object of the program's. One that calls others of them
follows when those are functions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.arguments import Arguments
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.origins import class_of, class_of_object, method_calls
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.objects.graph_methods import Lifted, builds, is_named
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit

# What uses a session, and is no part of what a network computes.
_RUNS = {"run", "eval", "restore", "save"}


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: AbstractSet[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such method and its calls; none where there is none."""
    for module in modules:
        for owner in module.tree.body if module in own else ():
            if not isinstance(owner, ast.ClassDef) or not is_plain(owner):
                continue
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and method.args.args:
                    found = _Method(module, graph, owner, method, own).found()
                    if found and not is_base(modules, graph, owner):
                        return found
    return {}


def is_base(modules: Sequence[Module], graph: CallGraph, owner: ast.ClassDef) -> bool:
    """Whether another class inherits from one: it may have methods of its own by their names."""
    return any(
        known is not None and known[1] is owner
        for module in modules
        for node in walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for known in (graph.class_of(module, base) for base in node.bases)
    )


def is_plain(owner: ast.ClassDef) -> bool:
    """Whether a class inherits nothing, and is what its statements say."""
    inherits = [base for base in owner.bases if getattr(base, "id", "") != "object"]
    return not (inherits or owner.decorator_list or owner.keywords)


def computes(module: Module, method: ast.FunctionDef, graph: CallGraph) -> bool:
    """Whether a method builds parts of a graph, returns something, and runs nothing."""
    calls = [part for part in walk(method) if isinstance(part, ast.Call)]
    runs = any(isinstance(c.func, ast.Attribute) and c.func.attr in _RUNS for c in calls)
    makes = set(session_calls(module)) & set(walk(method))
    returns = any(isinstance(one, ast.Return) and one.value for one in walk(method))
    return returns and not runs and not makes and builds(Function(module, method), graph)


def class_of_value(
    graph: CallGraph, module: Module, node: ast.expr, seen: frozenset[ast.AST] = frozenset()
) -> ast.ClassDef | None:
    """The class of the object that an expression is, where it can be only of one.

    `model`, which is made so, or which each call of a function gives it; `self.model`, which one
    statement of the class sets.
    """
    if isinstance(node, ast.Call):
        known = graph.class_of(module, node.func)
        return known[1] if known is not None else None
    if isinstance(node, ast.Attribute):
        owner = class_of(module, node)
        stored = [
            (other, one)
            for other in graph.modules
            for one in other.names.attributes.get(node.attr, ())
            if not isinstance(one.ctx, ast.Load)
        ]
        if owner is None or len(stored) != 1 or stored[0][1] in seen:
            return None
        (there, target) = stored[0]
        statement = there.names.parents.get(target)
        if class_of(there, target) is not owner or not isinstance(statement, ast.Assign):
            return None
        return class_of_value(graph, there, statement.value, seen | {target})
    if not isinstance(node, ast.Name):
        return None
    made = class_of_object(graph, module, node)
    binding = module.names.only_binding(node)
    if made is not None or binding is None or binding.kind != "parameter":
        return made
    function = module.names.scope_at(binding.node).node
    if not isinstance(function, ast.FunctionDef) or function in seen:
        return None
    found: set[ast.ClassDef | None] = set()
    for one in graph.references(Function(module, function)):
        given = Arguments(one.call, Function(module, function)) if one.call is not None else None
        value = given.given(node.id) if given is not None and given.unclear is None else None
        inner = seen | {function}
        found.add(class_of_value(graph, one.module, value, inner) if value is not None else None)
    return found.pop() if len(found) == 1 else None


class _Method(Lifted):
    """A method that calls no other one, and is called by others, or of an object by its name."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        method: ast.FunctionDef,
        own: AbstractSet[Module],
    ) -> None:
        super().__init__(module, graph, owner, method, method.args.args[0].arg)
        self.own = own

    def found(self) -> dict[Module, list[Edit]]:
        """The edits of each module; none where it stays a method."""
        name = self.method.name
        if (
            name.startswith("__")
            or not self.is_plain()
            or not computes(self.module, self.method, self.graph)
        ):
            return {}
        calls = self._all_calls()
        reads = self.reads()
        function = self.function_name(name)
        if not calls or reads is None or not function:
            return {}
        parameters = [one.arg for one in self.method.args.args[0 if self.is_static else 1 :]]
        required = len(parameters) - len(self.method.args.defaults)
        found: dict[Module, list[Edit]] = {self.module: self.moved(function, reads)}
        for module, call in calls:
            assert isinstance(call.func, ast.Attribute)
            receiver = module.source.code(call.func.value)
            called = self._called(module, call.func.value, function, found)
            if not called or any(isinstance(one, ast.Starred) for one in call.args):
                return {}
            edits = found.setdefault(module, [])
            for parameter, value in zip(parameters[required:], call.args[required:]):
                start, _ = module.source.span(value)
                edits.append(Edit(start, start, f"{parameter}="))
            edit = CallEdit(module.source, call)
            edit.function(called)
            for parameter, attribute in reads.items():
                edit.add(parameter, f"{receiver}.{attribute}")
            edits += edit.edits()
        return found

    def _all_calls(self) -> list[tuple[Module, ast.Call]]:
        """All its calls; none where one may be of something else."""
        found: list[tuple[Module, ast.Call]] = []
        if is_named(self.module, self.owner, self.method):
            return found
        for module, mention in method_calls(self.graph, self.owner, self.method.name) or ():
            known = class_of(module, mention) or class_of_value(self.graph, module, mention.value)
            call = module.names.parents[mention]
            itself = self.method in module.names.ancestors(mention)
            if known is not self.owner or module not in self.own or itself:
                return []
            assert isinstance(call, ast.Call)
            found.append((module, call))
        return found

    def _called(
        self, module: Module, receiver: ast.expr, function: str, found: dict[Module, list[Edit]]
    ) -> str:
        """What calls the function in a module, which imports it; empty where it cannot."""
        if module is self.module:
            return function
        made = module.names.only_value(receiver) if isinstance(receiver, ast.Name) else None
        if not isinstance(made, ast.Call):
            return ""
        if isinstance(made.func, ast.Attribute):
            return f"{module.source.code(made.func.value)}.{function}"
        binding = module.names.only_binding(made.func) if isinstance(made.func, ast.Name) else None
        if binding is None or not isinstance(binding.node, ast.ImportFrom):
            return ""
        if function in module.names.module_scope.bindings:
            return ""
        added = import_edit(module.source, binding.node, added=function)
        edits = found.setdefault(module, [])
        if added not in edits:
            edits.append(added)
        return function
