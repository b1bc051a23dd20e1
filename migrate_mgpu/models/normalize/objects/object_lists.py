"""The variables of one of several objects, asked for by the name of its scope: the object has them.

    def copy_ops(dest_scope, src_scope):
        src_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=src_scope)
        dest_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=dest_scope)
        return [dest.assign(src) for dest, src in zip(dest_vars, src_vars)]

    ops = copy_ops(dest_scope="target", src_scope="main")

becomes

    def copy_ops(dest, src):
        return [dest.assign(src) for dest, src in zip(dest.variables, src.variables)]

    ops = copy_ops(dest=target_net, src=main_net)

where the constructor of the two ends with `self.variables = tf.get_collection(..., scope=name)`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from keyword import iskeyword

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Names, constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.object_scopes import (
    ObjectScope,
    asked_scope,
    object_scope,
)
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraphs

_ASKING = ("get_collection", "trainable_variables")
_SUFFIXES = ("_scope_name", "_scope", "_name")


class _Stays(Exception):
    """It is not seen which object is meant somewhere."""


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: AbstractSet[Module]
) -> dict[Module, list[Edit]]:
    """The edits for the objects of one class; none where nothing else asks for their variables."""
    asked = [
        (module, call)
        for module in modules
        if module in own
        for name in _ASKING
        for call in calls_of_names(module).get(name, ())
        if asked_scope(module, call) is not None
    ]
    for module in own if asked else ():
        for owner in module.tree.body:
            if not isinstance(owner, ast.ClassDef):
                continue
            inside = {*walk(owner)}
            outside = [(one, call) for one, call in asked if call not in inside]
            methods = [one for one in owner.body if isinstance(one, ast.FunctionDef)]
            constructor = next((one for one in methods if one.name == "__init__"), None)
            if not outside or constructor is None:
                continue
            scope = object_scope(module, graph, owner, constructor)
            if scope is not None and len(scope.objects) > 1:
                try:
                    return _Lists(module, graph, owner, constructor, scope).edits(outside)
                except _Stays:
                    continue
    return {}


class _Lists:
    """The variables of the objects of a class, by an attribute."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        scope: ObjectScope,
    ) -> None:
        self.module = module
        self.graph = graph
        self.owner = owner
        self.constructor = constructor
        self.scope = scope
        self.found: dict[Module, list[Edit]] = {}
        self.gone: dict[Module, list[ast.stmt]] = {}
        self.renamed: set[tuple[ast.AST, str]] = set()  # parameters that are objects now

    def edits(self, asked: Sequence[tuple[Module, ast.Call]]) -> dict[Module, list[Edit]]:
        """The edits that give the class the attribute, and others the objects.

        Raises:
            _Stays: it is not seen of which object one of them asks.
        """
        attribute = self._attribute()
        for module, call in asked:
            self._asks(module, call, attribute)
        for module, statements in self.gone.items():
            self.found[module] += without_paragraphs(module.source, statements)
        return self.found

    def _attribute(self) -> str:
        """The attribute that the class gets for the variables, once all are made."""
        names = self.module.names
        if not may_be_added_to(self.module, self.constructor):
            raise _Stays
        methods = {getattr(one, "name", "") for one in self.owner.body}
        taken = methods | {*names.attributes}
        free = [one for one in ("variables", "trained_variables") if one not in taken]
        tf = spelling(self.module, self.scope.blocks[0].items[0].context_expr)
        if not free or not tf:
            raise _Stays
        me = self.constructor.args.args[0].arg
        key = f"{tf}.GraphKeys.TRAINABLE_VARIABLES"
        line = f"{me}.{free[0]} = {tf}.get_collection({key}, scope={self.scope.name})"
        self._edit(self.module, at_the_end(self.module, self.constructor, [line]))
        return free[0]

    def _edit(self, module: Module, edit: Edit) -> None:
        self.found.setdefault(module, []).append(edit)

    def _asks(self, module: Module, call: ast.Call, attribute: str) -> None:
        """What stands in the place of one call that asks for variables."""
        scope = asked_scope(module, call)
        assert scope is not None
        if constant(scope) is not None:
            text = self._object(module, scope, call)
        elif isinstance(scope, ast.Name) and module.names.is_parameter(scope):
            text = self._given(module, scope)
        else:
            raise _Stays
        text = f"{text}.{attribute}"
        names, made = module.names, module.names.parents[call]
        target = made.targets[0] if isinstance(made, ast.Assign) else None
        if isinstance(made, ast.Assign) and isinstance(target, ast.Name) and len(made.targets) == 1:
            mentions = names.mentions(target.id, names.scope_of_name[target])
            layout = Layout(module.source, made)
            read = [one for one in mentions if one is not target]
            if len(read) == 1 and layout.owns_lines and names.only_binding(target) is not None:
                if names.scope_of_name[read[0]] is names.scope_of_name[target]:
                    self.gone.setdefault(module, []).append(made)
                    self._edit(module, Edit(*module.source.span(read[0]), text))
                    return
        self._edit(module, Edit(*module.source.span(call), text))

    def _object(self, module: Module, scope: ast.expr, at: ast.AST) -> str:
        """The name of the object whose scope a text names, where something is made of it."""
        made = next((c for c, text in self.scope.objects.items() if text == constant(scope)), None)
        names = module.names
        statement = names.parents.get(made) if made is not None else None
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            raise _Stays
        if not isinstance(target, ast.Name) or names.only_binding(target) is None:
            raise _Stays
        there = names.scope_of_name[target]
        if names.defining_scope(target.id, names.scope_at(at)) is not there:
            raise _Stays
        if names.scope_at(at) is not there or position(statement) > position(at):
            raise _Stays
        return target.id

    def _given(self, module: Module, name: ast.Name) -> str:
        """The parameter of a function, which all give the name of a scope: they give the object."""
        names = module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        node = home.node if home is not None else None
        if not isinstance(node, ast.FunctionDef) or home is None or node.decorator_list:
            raise _Stays
        new = next((name.id[: -len(s)] for s in _SUFFIXES if name.id.endswith(s)), name.id)
        if not new.isidentifier() or iskeyword(new) or names.fresh(home, new) != new:
            new = name.id
        if (node, name.id) in self.renamed:
            return new
        self.renamed.add((node, name.id))
        function = Function(module, node)
        mentions = [one for one in names.mentions(name.id, home) if isinstance(one.ctx, ast.Load)]
        if any(
            asked_scope(module, _call(names.parents[one], names)) is not one for one in mentions
        ):
            raise _Stays
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        parameter = next(one for one in arguments if one.arg == name.id)
        start, end = module.source.span(parameter)
        self._edit(module, Edit(start, start + len(name.id), new))
        default = self._default(node.args, parameter)
        if default is not None:  # all calls give it
            self._edit(module, Edit(end, module.source.span(default)[1], ""))
        references = self.graph.references(function)
        if not references or function.owner is not None:
            raise _Stays
        for one in references:
            given = bind(one.call, function).written().get(name.id) if one.call else None
            if one.call is None or given is None or constant(given) is None:
                raise _Stays
            text = self._object(one.module, given, one.call)
            self._edit(one.module, Edit(*one.module.source.span(given), text))
            if parameter.annotation is not None and one is references[0]:
                self._annotate(module, parameter.annotation, one.module, given)
            for keyword in one.call.keywords:
                if keyword.arg == name.id:
                    start, _ = one.module.source.span(keyword)
                    self._edit(one.module, Edit(start, start + len(name.id), new))
        return new

    def _default(self, arguments: ast.arguments, parameter: ast.arg) -> ast.expr | None:
        """The default of a parameter, which is the name of an object's scope."""
        if parameter in arguments.kwonlyargs:
            return arguments.kw_defaults[arguments.kwonlyargs.index(parameter)]
        every = [*arguments.posonlyargs, *arguments.args]
        given = dict(zip(every[::-1], arguments.defaults[::-1]))
        if any(constant(one) not in self.scope.objects.values() for one in arguments.defaults):
            raise _Stays  # one with a default would stand before one without
        return given.get(parameter)

    def _annotate(
        self, module: Module, annotation: ast.expr, there: Module, name: ast.expr
    ) -> None:
        """The type of a parameter that is an object now, where its module calls the class so."""
        made = next(c for c, text in self.scope.objects.items() if text == constant(name))
        if module is not there:
            raise _Stays
        self._edit(module, Edit(*module.source.span(annotation), module.source.code(made.func)))


def _call(node: ast.AST, names: Names) -> ast.Call | None:
    """The call whose argument stands below a node."""
    found = names.parents[node] if isinstance(node, ast.keyword) else node
    return found if isinstance(found, ast.Call) else None
