"""How a configuration is handed on: attributes of self, helpers that return it, parameters."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope, is_none
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.session_config.flows import Flow, Handover, Parameter, Step


class HandedOn:
    """The part of a tracker that crosses functions; the rest is in ``tracking``."""

    project: Project
    graph: CallGraph
    flow: Flow
    taken: set[ast.AST]
    _seen: set[object]
    _given: list[tuple[Module, ast.expr, Function]]  # for a parameter that is followed

    def problem(self, module: Module, node: ast.AST, reason: str) -> None:
        raise NotImplementedError

    def object(self, module: Module, node: ast.expr, path: str) -> None:
        raise NotImplementedError

    def variable(self, module: Module, name: str, home: Scope, path: str) -> None:
        raise NotImplementedError

    def creation(self, module: Module, call: ast.Call, path: str) -> None:
        raise NotImplementedError

    def _is_message(self, module: Module, call: ast.Call, expected: str) -> bool:
        raise NotImplementedError

    # -- attributes of self -----------------------------------------------

    def _kept_on_self(self, module: Module, target: ast.Attribute, node: ast.expr) -> None:
        """`self.config = tf.ConfigProto(...)`, followed through the methods of its class."""
        owner = self._class_of(module, target)
        if owner is None:
            self.problem(module, target, f"it becomes an attribute: `{ast.unparse(target)}`")
            return
        key = (owner, target.attr)
        if key in self._seen:
            return
        self._seen.add(key)
        for other in self.project.modules.values():
            if other is not module and module not in other.imported:
                continue
            for attribute in other.names.attributes.get(target.attr, ()):
                if attribute is target:
                    continue
                if other is module and self._class_of(module, attribute) is owner:
                    self._self_attribute(module, attribute)
                elif not self._class_of(other, attribute) or self._has_bases(other, attribute):
                    if not other.names.qualname(attribute):
                        self.problem(
                            other, attribute, f"`{ast.unparse(attribute)}` may be the same object"
                        )

    def _self_attribute(self, module: Module, attribute: ast.Attribute) -> None:
        if isinstance(attribute.ctx, ast.Load):
            self.object(module, attribute, "")
            return
        parent = module.names.parents[attribute]
        value = getattr(parent, "value", None)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and is_none(value):
            self.flow.steps.append(Step(module, parent))
            return
        if isinstance(value, ast.Call) and value in self.taken:
            return
        self.problem(module, attribute, f"`{ast.unparse(attribute)}` is assigned again here")

    def _class_of(self, module: Module, attribute: ast.Attribute) -> ast.ClassDef | None:
        if not (isinstance(attribute.value, ast.Name) and attribute.value.id == "self"):
            return None
        for parent in module.names.ancestors(attribute):
            if isinstance(parent, ast.ClassDef):
                return parent
        return None

    def _has_bases(self, module: Module, attribute: ast.Attribute) -> bool:
        owner = self._class_of(module, attribute)
        bases = owner.bases if owner else []
        return any(not (isinstance(b, ast.Name) and b.id == "object") for b in bases)

    # -- helpers that build and return it ---------------------------------

    def _returned(self, module: Module, statement: ast.Return, node: ast.expr) -> None:
        function = self.graph.enclosing(module, statement)
        if function is None:
            self.problem(module, statement, "it is returned outside of a function")
            return
        creation = node if isinstance(node, ast.Call) and node in self.taken else None
        self.flow.steps.append(Step(module, statement, creation=creation, returns=True))
        if function in self._seen:
            return
        self._seen.add(function)
        if not self._only_returns_it(function):
            return
        references = self.graph.references(function)
        if not references:
            self.problem(module, statement, f"nothing in the run calls `{function.name}()`")
        for reference in references:
            if reference.call is None:
                self.problem(
                    reference.module, reference.node, f"`{function.name}` is handed on here"
                )
                continue
            self.flow.helper_calls.append((reference.module, reference.call))
            self.object(reference.module, reference.call, "")

    def _only_returns_it(self, function: Function) -> bool:
        """Whether every `return` of a helper gives a configuration or None."""
        module = function.module
        if function.node.decorator_list:
            self.problem(module, function.node, f"`{function.name}` is decorated")
            return False
        for node in ast.walk(function.node):
            if isinstance(node, ast.Return) and (node.value is None or is_none(node.value)):
                self.flow.may_be_none = True
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                self.problem(module, node, f"`{function.name}` is a generator")
                return False
            if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
                if self.graph.enclosing(module, node) != function:
                    continue
                value = node.value
                made = isinstance(value, ast.Call) and self._is_message(
                    module, value, "ConfigProto"
                )
                if made and value not in self.taken:
                    assert isinstance(value, ast.Call)
                    self.creation(module, value, "")
                    self.flow.steps.append(Step(module, node, creation=value, returns=True))
                elif not made and not isinstance(value, ast.Name):
                    self.problem(module, node, f"`{function.name}` returns something else here")
                    return False
                elif isinstance(value, ast.Name):
                    home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
                    if (home, value.id) not in self._seen:
                        self.problem(module, node, f"`{function.name}` returns something else here")
                        return False
        return True

    # -- parameters --------------------------------------------------------

    def _handed(self, module: Module, call: ast.Call, node: ast.expr, function: Function) -> bool:
        """`train(config)`: followed where every caller hands over this object, or nothing.

        Returns False when the parameter cannot be told.
        """
        name = _parameter(call, node, function)
        if name is None:
            return False
        if function.module is not module:
            self._handed_abroad(module, call, node, function, name)
            return True
        self.flow.handovers.append(Handover(module, call, node))
        key = (function, name)
        if key in self._seen:
            return True
        self._seen.add(key)
        self._followed_in(function, name)
        return True

    def _followed_in(self, function: Function, name: str) -> None:
        """Follows a parameter, and looks at what else its function is given for it."""
        inner = function.module
        if function.owner is not None and function.name != "__init__":
            for attribute in inner.names.attributes.get(function.name, ()):
                if self.graph.target(inner, attribute) != function:
                    self.problem(inner, attribute, f"`{function.name}` is looked up here")
        for reference in self.graph.references(function):
            if reference.call is None:
                self.problem(
                    reference.module, reference.node, f"`{function.name}` is handed on here"
                )
                continue
            given = _given(reference.call, name, function)
            if is_none(given):
                assert given is not None
                self.flow.handovers.append(Handover(reference.module, reference.call, given))
            if given is None or is_none(given):
                self.flow.without.append((reference.module, reference.call))
                given = _default(function, name)
            if given is not None and not is_none(given):
                self._given.append((reference.module, given, function))
        self.flow.parameters.append(Parameter(inner, function.node, name))
        self.variable(inner, name, inner.names.scopes[function.node], "")

    def _handed_abroad(
        self, module: Module, call: ast.Call, node: ast.expr, function: Function, name: str
    ) -> None:
        """`runner.train(config)`: the function stays as it is and gets None.

        Two files cannot be written in one step: cut short between them, a call without
        the argument and a function with the parameter would not fit. A function that
        only hands its parameter to sessions does with None what is wanted.
        """
        flow = self.flow
        default = is_none(_default(function, name))
        flow.handovers.append(Handover(module, call, node, stays=True, default=default))
        key = (function, name)
        if key in self._seen:
            return
        self._seen.add(key)
        steps, handovers = len(flow.steps), len(flow.handovers)
        parameters = len(flow.parameters)
        own = (flow.settings, flow.creations, flow.helper_calls)
        owned = [len(members) for members in own]
        sinks = len(flow.sinks)
        self._followed_in(function, name)
        if [len(members) for members in own] != owned:
            text = f"it is handed to `{function.name}` in another file, which changes it"
            self.problem(module, node, text)
        flow.passed.update(sink.call for sink in flow.sinks[sinks:])
        # Nothing is rewritten there.
        del flow.steps[steps:]
        del flow.parameters[parameters:]
        flow.handovers[handovers:] = [
            one
            for one in flow.handovers[handovers:]
            if one.stays and one.module is not function.module
        ]

    def settle(self) -> None:
        """Once all is followed: what callers hand over must be this object as well."""
        for module, given, function in self._given:
            if not self._is_followed(module, given):
                self.problem(module, given, f"`{function.name}` gets something else here")

    def _is_followed(self, module: Module, node: ast.expr) -> bool:
        """Whether an argument is this flow's object: the variable or call that is followed."""
        if node in self.taken or any(node is call for _, call in self.flow.helper_calls):
            return True
        if isinstance(node, ast.Name):
            home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
            return (home, node.id) in self._seen
        if isinstance(node, ast.Attribute):
            return (self._class_of(module, node), node.attr) in self._seen
        return False


def _positional(call: ast.Call, function: Function) -> list[str]:
    """The parameters that a call's positional arguments fill."""
    names = function.parameters()
    bound = function.owner is not None and names[:1] in (["self"], ["cls"])
    return names[1:] if bound else names


def _parameter(call: ast.Call, node: ast.expr, function: Function) -> str | None:
    """The parameter that gets an argument of a call."""
    arguments = function.node.args
    known = {a.arg for a in (*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs)}
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    for keyword in call.keywords:
        if keyword.value is node:
            return keyword.arg if keyword.arg in known else None
    names = _positional(call, function)
    index = call.args.index(node)
    return names[index] if index < len(names) else None


def _default(function: Function, name: str) -> ast.expr | None:
    """A parameter's default, if it has one."""
    arguments = function.node.args
    by_position = [*arguments.posonlyargs, *arguments.args]
    padding = [None] * (len(by_position) - len(arguments.defaults))
    pairs = [
        *zip(by_position, [*padding, *arguments.defaults]),
        *zip(arguments.kwonlyargs, arguments.kw_defaults),
    ]
    return next(default for argument, default in pairs if argument.arg == name)


def _given(call: ast.Call, name: str, function: Function) -> ast.expr | None:
    """What a call gives for a parameter; None when it is left out."""
    for keyword in call.keywords:
        if keyword.arg == name or keyword.arg is None:
            return keyword.value
    names = _positional(call, function)
    for argument, parameter in zip(call.args, names):
        if isinstance(argument, ast.Starred) or parameter == name:
            return argument
    return None
