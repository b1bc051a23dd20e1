"""Following one configuration object from its constructor through every mention of it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Binding, Scope, is_none
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.symbols import message
from migrate_mgpu.session_config.flows import SUBMESSAGES, Flow, Setting, Step
from migrate_mgpu.session_config.handing import HandedOn
from migrate_mgpu.session_config.sinks import SinkCall, sink_calls


def find_flows(project: Project, graph: CallGraph) -> list[Flow]:
    """Every configuration made in the run, in source order."""
    sinks = {sink.call: sink for module in project.modules.values() for sink in sink_calls(module)}
    taken: set[ast.AST] = set()
    flows: list[Flow] = []
    for module in project.modules.values():
        for call in module.names.calls:
            if call not in taken and message(module.names.qualname(call.func)) == "ConfigProto":
                tracker = _Tracker(project, graph, sinks, Flow(module))
                tracker.creation(module, call, "")
                tracker.object(module, call, "")
                tracker.settle()
                taken.update(tracker.taken)
                flows.append(tracker.flow)
    return flows


class _Tracker(HandedOn):
    """Follows one object. Every method takes an expression and the path it stands for."""

    def __init__(
        self, project: Project, graph: CallGraph, sinks: dict[ast.Call, SinkCall], flow: Flow
    ) -> None:
        self.project = project
        self.graph = graph
        self.sinks = sinks
        self.flow = flow
        self.taken: set[ast.AST] = set()
        self._seen: set[object] = set()
        self._given: list[tuple[Module, ast.expr, Function]] = []

    def problem(self, module: Module, node: ast.AST, reason: str) -> None:
        self.flow.problems.append(Diagnostic("not-followed", Place(module, node), reason))

    # -- where the object comes from --------------------------------------

    def creation(self, module: Module, call: ast.Call, path: str) -> None:
        """A constructor call: its keywords are settings."""
        self.taken.add(call)
        if not path:
            self.flow.creations.append(call)
        statement = module.names.statement(call)
        if call.args:
            self.problem(module, call.args[0], "its constructor has an argument without a name")
        for keyword in call.keywords:
            if keyword.arg is None:
                self._unpacked(module, call, keyword, path)
            else:
                self._field(module, call, keyword, _join(path, keyword.arg), keyword.value)
        parent = module.names.parents[call]
        if (isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is call) or isinstance(
            parent, ast.Expr
        ):
            self.flow.steps.append(Step(module, statement, creation=call))

    def _unpacked(self, module: Module, call: ast.Call, keyword: ast.keyword, path: str) -> None:
        value, statement = keyword.value, module.names.statement(call)
        if isinstance(value, ast.Name):
            found = self._only_binding(module, value)
            if found is not None:
                value, statement = found
                self.flow.steps.append(Step(module, statement))
        pairs: list[tuple[object, ast.AST | None, ast.expr]]
        if isinstance(value, ast.Dict):
            pairs = [
                (k.value if isinstance(k, ast.Constant) else None, k, v)
                for k, v in zip(value.keys, value.values)
            ]
        elif isinstance(value, ast.Call) and module.names.qualname(value.func) == "builtins.dict":
            pairs = [(k.arg, k, k.value) for k in value.keywords]
            if value.args:
                pairs.append((None, value, value))
        else:
            pairs = [(None, value, value)]
        for name, key, inner in pairs:
            if not isinstance(name, str):
                self.problem(module, keyword.value, "its fields come from `**`")
            elif name == "device_count" or name in SUBMESSAGES:
                self.problem(module, inner, f"`{name}` comes from `**`")
            else:
                self.flow.settings.append(
                    Setting(module, _join(path, name), inner, statement, call, key)
                )

    def _only_binding(self, module: Module, mention: ast.Name) -> tuple[ast.expr, ast.stmt] | None:
        """The value and statement of a variable that is assigned once and used only here."""
        home = module.names.defining_scope(mention.id, module.names.scope_of_name[mention])
        if home is None or home.is_class:
            return None
        bindings = home.bindings[mention.id]
        uses = [m for m in module.names.mentions(mention.id, home) if isinstance(m.ctx, ast.Load)]
        if len(bindings) != 1 or uses != [mention] or bindings[0].value is None:
            return None
        if home.is_module and any(module in o.imported for o in self.project.modules.values()):
            return None
        return bindings[0].value, module.names.statement(bindings[0].node)

    def _field(
        self, module: Module, call: ast.Call, keyword: ast.AST, path: str, value: ast.expr
    ) -> None:
        expected = SUBMESSAGES.get(path)
        if expected is None:
            if path == "device_count":
                self._device_count(module, call, value)
            else:
                statement = module.names.statement(call)
                self.flow.settings.append(Setting(module, path, value, statement, call, keyword))
        elif isinstance(value, ast.Call) and self._is_message(module, value, expected):
            self.creation(module, value, path)
        elif isinstance(value, ast.Name):
            self.variable_of(module, value, path)
        else:
            self.problem(module, value, f"what `{path}` is set to is not followed")

    def _device_count(self, module: Module, call: ast.Call, value: ast.expr) -> None:
        if not isinstance(value, ast.Dict):
            self.problem(module, value, "`device_count` is not a literal dict")
            return
        statement = module.names.statement(call)
        for key, count in zip(value.keys, value.values):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                path = f"device_count.{key.value}"
                self.flow.settings.append(Setting(module, path, count, statement, call, key))
            else:
                self.problem(module, key or count, "a key of `device_count` is not a literal")

    def _is_message(self, module: Module, call: ast.Call, expected: str) -> bool:
        found = message(module.names.qualname(call.func))
        return found == expected

    # -- variables --------------------------------------------------------

    def variable_of(self, module: Module, mention: ast.Name, path: str) -> None:
        home = module.names.defining_scope(mention.id, module.names.scope_of_name[mention])
        if home is None:
            self.problem(module, mention, f"`{mention.id}` is not defined in this file")
            return
        self.variable(module, mention.id, home, path)

    def variable(self, module: Module, name: str, home: Scope, path: str) -> None:
        """Follows every mention of a variable that holds the object, or a part of it."""
        key = (home, name)
        if key in self._seen:
            return
        self._seen.add(key)
        bindings = home.bindings[name]
        made = [b for b in bindings if not is_none(b.value)]
        for binding in bindings:
            self._binding(module, binding, name, path)
        if len(made) > 1:
            for first, second in zip(made, made[1:]):
                if not module.names.exclusive(first.node, second.node):
                    self.problem(module, second.node, f"`{name}` is assigned again here")
                    break
        for mention in module.names.mentions(name, home):
            if isinstance(mention.ctx, ast.Load):
                self.object(module, mention, path)
            elif isinstance(mention.ctx, ast.Del):
                self.problem(module, mention, f"`{name}` is deleted here")
        if home.is_module:
            self._from_other_modules(module, name, path)
        elif home.is_class:
            self.problem(module, bindings[0].node, f"`{name}` is an attribute of a class")

    def _binding(self, module: Module, binding: Binding, name: str, path: str) -> None:
        value = binding.value
        statement = module.names.statement(binding.node)
        if binding.kind == "assign" and value is not None:
            if is_none(value):
                if not path:
                    self.flow.may_be_none = True
                    self.flow.steps.append(Step(module, statement))
                    return
            elif isinstance(value, ast.Call):
                if value in self.taken:
                    return
                expected = SUBMESSAGES.get(path, "ConfigProto")
                if self._is_message(module, value, expected):
                    self.creation(module, value, path)
                    return
                if (module, value) in self.flow.helper_calls:
                    return
            elif path and self._is_part(module, value):
                return
        if binding.kind == "parameter":
            if any(p.name == name and p.module is module for p in self.flow.parameters):
                return
            self.problem(module, binding.node, f"`{name}` is a parameter")
        else:
            self.problem(module, binding.node, f"`{name}` may hold something else")

    def _is_part(self, module: Module, value: ast.expr) -> bool:
        """`rewrite = config.graph_options.rewrite_options`, met while following ``config``."""
        return isinstance(value, ast.Attribute) and value in self._seen

    def _from_other_modules(self, module: Module, name: str, path: str) -> None:
        """`from settings import config` and `settings.config` elsewhere in the run."""
        for other in self.project.modules.values():
            if other is module or module not in other.imported:
                continue
            for scope in list(other.names.scopes.values()):
                for local, bindings in scope.bindings.items():
                    for binding in bindings:
                        if binding.qualname and self._names(other, binding.qualname, module, name):
                            self.problem(
                                module,
                                binding.node,
                                f"`{other.path.name}` imports `{local}` from here",
                            )
            for attribute in other.names.attributes.get(name, ()):
                qualname = other.names.qualname(attribute)
                if qualname and self._names(other, qualname, module, name):
                    self.problem(other, attribute, f"`{other.path.name}` uses `{name}` from here")

    def _names(self, other: Module, qualname: str, module: Module, name: str) -> bool:
        head, _, last = qualname.rpartition(".")
        return last == name and bool(head) and module in self.project.resolve(other, head)[-1:]

    # -- what is done with it ---------------------------------------------

    def object(self, module: Module, node: ast.expr, path: str) -> None:
        """One place that holds the object (or the part of it at ``path``)."""
        parent = module.names.parents[node]
        if isinstance(parent, ast.Attribute):
            self._attribute(module, node, path)
        elif isinstance(parent, ast.keyword):
            call = module.names.parents[parent]
            assert isinstance(call, ast.Call)
            self._argument(module, call, node, path, parent.arg)
        elif isinstance(parent, ast.Call):
            self._argument(module, parent, node, path, None)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            self._assigned(module, parent, node, path)
        elif isinstance(parent, ast.Return) and not path:
            self._returned(module, parent, node)
        elif isinstance(parent, ast.Expr):
            return
        elif isinstance(parent, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred)):
            self.problem(module, node, "it is put into a container here")
        elif isinstance(parent, (ast.Compare, ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.If)):
            self.problem(module, node, "what it is gets decided or tested here")
        else:
            self.problem(module, node, "how it is used here is not followed")

    def _attribute(self, module: Module, node: ast.expr, path: str) -> None:
        top: ast.expr = node
        parent = module.names.parents[top]
        inner = path
        while isinstance(parent, ast.Attribute) and parent.value is top:
            top, inner = parent, _join(inner, parent.attr)
            parent = module.names.parents[top]
        if isinstance(parent, ast.Subscript) and parent.value is top:
            key = parent.slice
            top, inner = parent, f"{inner}.{getattr(key, 'value', '?')}"
            parent = module.names.parents[top]
            if not (isinstance(key, ast.Constant) and inner.startswith("device_count.")):
                self.problem(module, top, f"an item of `{inner.rpartition('.')[0]}` is used here")
                return
        statement = module.names.statement(top)
        if isinstance(parent, ast.Assign) and top in parent.targets:
            if len(parent.targets) == 1:
                self.flow.settings.append(Setting(module, inner, parent.value, statement))
            else:
                self.problem(module, statement, "several things are assigned at once here")
        elif isinstance(parent, ast.AnnAssign) and parent.target is top and parent.value:
            self.flow.settings.append(Setting(module, inner, parent.value, statement))
        elif isinstance(parent, ast.Call) and parent.func is top:
            self._method(module, parent, inner)
        elif isinstance(parent, ast.Assign) and parent.value is top and inner in SUBMESSAGES:
            self._seen.add(top)
            self._assigned(module, parent, top, inner)
        else:
            self.problem(module, top, f"`{inner or 'it'}` is read here")

    def _method(self, module: Module, call: ast.Call, path: str) -> None:
        target, _, method = path.rpartition(".")
        if method in ("CopyFrom", "MergeFrom") and len(call.args) == 1 and target in SUBMESSAGES:
            value = call.args[0]
            if isinstance(module.names.parents[call], ast.Expr):
                if isinstance(value, ast.Call) and self._is_message(
                    module, value, SUBMESSAGES[target]
                ):
                    self.creation(module, value, target)
                    self.flow.steps.append(
                        Step(module, module.names.statement(call), creation=value)
                    )
                    return
                if isinstance(value, ast.Name):
                    self.variable_of(module, value, target)
                    self.flow.steps.append(Step(module, module.names.statement(call)))
                    return
        self.problem(module, call, f"`{path}(...)` is called here")

    def _argument(
        self, module: Module, call: ast.Call, node: ast.expr, path: str, name: str | None
    ) -> None:
        sink = self.sinks.get(call)
        if sink is not None and sink.argument is node and not path:
            self.flow.sinks.append(sink)
            return
        if path:
            # `ConfigProto(gpu_options=gpu_options)` and `.CopyFrom(gpu_options)`
            # are where following this variable began.
            if message(module.names.qualname(call.func)) or (
                isinstance(call.func, ast.Attribute) and call.func.attr in ("CopyFrom", "MergeFrom")
            ):
                if call in self.taken or isinstance(call.func, ast.Attribute):
                    return
        function = self.graph.target(module, call.func)
        if function is not None and not path and self._handed(module, call, node, function):
            return
        self.problem(module, node, f"it is handed to `{_short(module, call.func)}(...)`")

    def _assigned(self, module: Module, parent: ast.stmt, node: ast.expr, path: str) -> None:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]  # type: ignore[attr-defined]
        target = targets[0]
        if len(targets) == 1 and isinstance(target, ast.Name):
            home = module.names.defining_scope(target.id, module.names.scope_of_name[target])
            assert home is not None
            if isinstance(node, (ast.Attribute, ast.Name)) or (
                isinstance(node, ast.Call) and node not in self.taken
            ):
                self._seen.add(node)
                call = node if isinstance(node, ast.Call) else None
                self.flow.steps.append(Step(module, parent, call=call))
                if isinstance(node, ast.Name):
                    self.problem(module, node, f"it is also called `{target.id}`")
                    return
            self.variable(module, target.id, home, path)
        elif len(targets) == 1 and isinstance(target, ast.Attribute) and not path:
            if not (isinstance(node, ast.Call) and node in self.taken):
                call = node if isinstance(node, ast.Call) else None
                self.flow.steps.append(Step(module, parent, call=call))
            self._kept_on_self(module, target, node)
        else:
            self.problem(module, node, "it is assigned to something that is not a plain name")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _short(module: Module, function: ast.expr) -> str:
    text = module.source.code(function)
    return text if len(text) <= 40 and "\n" not in text else "..."
