"""Following one configuration object from its constructor through every mention of it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.idioms import is_read_only, showing
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import Binding, Names, Scope, constant, is_none
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.analysis.symbols import message
from migrate_mgpu.analysis.value_flow import MEMBER, ValueFlow, inherits, is_manager, own_nodes
from migrate_mgpu.session_config.flows import (
    SUBMESSAGES,
    Flow,
    Handover,
    Parameter,
    Setting,
    Step,
)
from migrate_mgpu.session_config.sinks import SinkCall, sink_calls
from migrate_mgpu.source.statements import comments


def find_flows(project: Project, graph: CallGraph) -> list[Flow]:
    """Every configuration made in the run, in source order."""
    sinks = {sink.call: sink for module in project.modules.values() for sink in sink_calls(module)}
    taken: set[ast.AST] = set()
    flows: list[Flow] = []
    values = ValueFlow(graph)
    for module in project.modules.values():
        for call in _made(module):
            if call not in taken:
                tracker = _Tracker(project, values, sinks, Flow(module))
                tracker.creation(module, call, "")
                tracker.object(module, call, "")
                tracker.settle()
                taken.update(tracker.taken)
                flows.append(tracker.flow)
    _check_shared(flows)
    return flows


@fact_of_text
def _made(module: Module) -> list[ast.Call]:
    """The calls that make a configuration."""
    names = module.names
    if "ConfigProto" not in module.source.text and not names.star_imports:
        return []  # a file has no other name for it but what `import *` brings
    return [c for c in names.calls if message(names.qualname(c.func)) == "ConfigProto"]


def _check_shared(flows: list[Flow]) -> None:
    """Of one tuple or dictionary, members can be taken out for one configuration alone."""
    owners: dict[ast.AST, Flow] = {}
    for flow in flows:
        for step in flow.steps:
            for member in step.members:
                other = owners.setdefault(step.statement, flow)
                if other is not flow:
                    text = "another configuration is put into the same container"
                    for one in (flow, other):
                        where = Place(step.module, member)
                        one.problems.append(Diagnostic("not-followed", where, text))


def _web(names: Names, place: ast.Name, home: Scope) -> tuple[list[Binding], list[ast.Name]]:
    """The bindings that may meet that of a place in a mention of its variable, and the mentions.

    The name may be used again: what no mention of the one can read is another variable. One that
    a function assigns as well (`global`) is one variable: the function may run at any time.
    """
    bindings = home.bindings[place.id]
    mentions = names.mentions(place.id, home)
    if any(isinstance(m.ctx, ast.Store) and names.scope_of_name[m] is not home for m in mentions):
        return bindings, mentions
    read = {
        mention: reaching(names, mention, home)
        for mention in mentions
        if not isinstance(mention.ctx, ast.Store)
    }
    bound = names.statement(place)
    web = list(read.get(place) or (b for b in bindings if names.statement(b.node) is bound))
    size = 0
    while size != len(web):
        size = len(web)
        for found in read.values():
            if any(b in web for b in found):
                web += [b for b in found if b not in web]
    places = {names.statement(b.node) for b in web}
    held = [
        m
        for m in mentions
        if (names.statement(m) in places if m not in read else any(b in web for b in read[m]))
    ]
    return [b for b in bindings if b in web], held


def _asks_for_none(block: ast.If, name: str) -> bool:
    """`if config is None:`."""
    test = block.test
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
        and isinstance(test.ops[0], ast.Is)
        and is_none(test.comparators[0])
        and not block.orelse
    )


_FILLING = ("CopyFrom", "MergeFrom")


class _Tracker:
    """Follows one object. Every method takes an expression and the path it stands for."""

    def __init__(
        self, project: Project, values: ValueFlow, sinks: dict[ast.Call, SinkCall], flow: Flow
    ) -> None:
        self.project = project
        self.values = values
        self.graph = values.graph
        self.sinks = sinks
        self.flow = flow
        self.taken: set[ast.AST] = set()
        self._seen: set[object] = set()
        self._bindings: dict[tuple[Scope, str], list[Binding]] = {}  # of variables, as followed
        # Mentions of a name that is followed where it holds something else.
        self._elsewhere: set[ast.Name] = set()
        self._given: list[tuple[Module, ast.expr, Function]] = []
        self._parts: dict[ast.expr, str] = {}  # what fields of a constructor are given
        self._reached: set[ast.AST] = set()  # places that are known to hold the object
        self._targets: set[ast.AST] = set()  # that a member of a container is stored to

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
        value = _outermost(module, call)
        parent = module.names.parents[value]
        if isinstance(parent, ast.Expr) or (
            isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is value
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
        elif isinstance(value, ast.Name) and self._is_local(module, value):
            self.variable_of(module, value, path)
        elif self._made_elsewhere(module, value, path):
            return
        elif isinstance(value, ast.Name):
            self.variable_of(module, value, path)
        else:
            self.problem(module, value, f"the value of `{path}` cannot be followed")

    def _is_local(self, module: Module, mention: ast.Name) -> bool:
        """Whether a variable only holds what its own statements make."""
        home = module.names.defining_scope(mention.id, module.names.scope_of_name[mention])
        bindings = home.bindings[mention.id] if home is not None else []
        values = [binding.value for binding in bindings]
        made = (ast.Attribute, ast.Call, ast.Constant)
        return all(
            isinstance(value, made)
            and (not isinstance(value, ast.Call) or message(module.names.qualname(value.func)))
            for value in values
        )

    def _made_elsewhere(self, module: Module, value: ast.expr, path: str) -> bool:
        """A part of the object, followed from the constructors that its value comes from."""
        expected = SUBMESSAGES[path]
        made: list[tuple[Module, ast.Call]] = []
        for one in self.values.definitions(module, value):
            if not isinstance(one.node, ast.Call) or one.node in self.taken:
                return False
            if not self._is_message(one.module, one.node, expected):
                return False
            made.append((one.module, one.node))
        for first, second in zip(made, made[1:]):
            if first[0] is not second[0] or not first[0].names.exclusive(first[1], second[1]):
                return False  # each session has another one
        self._parts[value] = path
        self.taken.update(call for _, call in made)
        for home, call in made:
            self.creation(home, call, path)
            self.object(home, call, path)
        if value not in self._reached:
            self.problem(module, value, f"the value of `{path}` cannot be followed")
        return bool(made)

    def _device_count(self, module: Module, call: ast.Call, value: ast.expr) -> None:
        key = self._chosen_gpus(module, value)
        if key is not None:
            statement, item = module.names.statement(call), module.source.code(key)
            entry = Setting(module, "device_count.GPU", value, statement, call, item=item)
            self.flow.settings.append(entry)
            return
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

    def _chosen_gpus(self, module: Module, value: ast.expr) -> ast.expr | None:
        """The key of `count = {"GPU": 0} if FLAGS.use_cpu else {"GPU": 1}`, a variable."""
        binding = module.names.only_binding(value) if isinstance(value, ast.Name) else None
        if binding is None or binding.kind != "assign" or not isinstance(value, ast.Name):
            return None
        home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
        if home is None or len(module.names.mentions(value.id, home)) > 2:
            return None  # it may be filled
        made = binding.value
        arms = [made.body, made.orelse] if isinstance(made, ast.IfExp) else [made]
        keys: list[ast.expr] = []
        for arm in arms:
            if not isinstance(arm, ast.Dict) or len(arm.keys) != 1 or arm.keys[0] is None:
                return None
            count = constant(arm.values[0])
            if constant(arm.keys[0]) != "GPU" or type(count) is not int or count < 0:
                return None
            keys.append(arm.keys[0])
        return keys[0]

    def _is_message(self, module: Module, call: ast.Call, expected: str) -> bool:
        found = message(module.names.qualname(call.func))
        return found == expected

    # -- variables --------------------------------------------------------

    def variable_of(self, module: Module, mention: ast.Name, path: str) -> None:
        home = module.names.defining_scope(mention.id, module.names.scope_of_name[mention])
        if home is None:
            self.problem(module, mention, f"`{mention.id}` is not defined in this file")
            return
        self.variable(module, mention.id, home, path, mention)

    def variable(
        self, module: Module, name: str, home: Scope, path: str, place: ast.Name | None = None
    ) -> None:
        """Follows every mention of a variable that holds the object, or a part of it.

        ``place`` is where it does: the same name may hold other things above and below.
        """
        key = (home, name)
        bindings, mentions = home.bindings[name], module.names.mentions(name, home)
        others: set[ast.Name] = set()
        if place is not None and len(bindings) > 1:
            bindings, held = _web(module.names, place, home)
            others = set(mentions).difference(held)
            mentions = held
        followed = self._bindings.setdefault(key, [])
        if key in self._seen:  # in two branches it may hold two objects of one flow
            if all(binding in followed for binding in bindings):
                return
            self._elsewhere.difference_update(mentions)
        else:
            self._elsewhere.update(others)
        self._seen.add(key)
        followed += bindings
        if not path and len(bindings) > 1:
            bindings = self._without_parameter(module, name, home, bindings)
        made = [b for b in bindings if not is_none(b.value)]
        for binding in bindings:
            self._binding(module, binding, name, path)
        if len(made) > 1:
            for first, second in zip(made, made[1:]):
                if not module.names.exclusive(first.node, second.node):
                    self.problem(module, second.node, f"`{name}` is assigned again here")
                    break
        asked = {
            block.test.left for block in self.flow.defaults if isinstance(block.test, ast.Compare)
        }
        for mention in mentions:
            if mention in asked:
                continue
            if isinstance(mention.ctx, ast.Load):
                self.object(module, mention, path)
            elif isinstance(mention.ctx, ast.Del):
                self.problem(module, mention, f"`{name}` is deleted here")
        if home.is_module:
            self._from_other_modules(module, name, path)
        elif home.is_class:
            self.problem(module, bindings[0].node, f"`{name}` is an attribute of a class")

    def _without_parameter(
        self, module: Module, name: str, home: Scope, bindings: list[Binding]
    ) -> list[Binding]:
        """The bindings of a variable that is a parameter, and gets the object where it is None.

        The parameter stays: who gives a config, gives it to the session.
        """
        given = [b for b in bindings if b.kind == "parameter"]
        made = [b for b in bindings if b.kind != "parameter"]
        if len(given) != 1 or len(made) != 1 or made[0].value not in self.taken:
            return bindings
        block = module.names.parents[module.names.statement(made[0].node)]
        function = self.graph.enclosing(module, made[0].node)
        if not isinstance(block, ast.If) or function is None or not _asks_for_none(block, name):
            return bindings
        if module.names.statement(made[0].node) not in block.body:
            return bindings
        self.flow.defaults[block] = self._is_never_given(function, name, set())
        self.flow.optional.update(module.names.mentions(name, home))
        return made

    def _is_never_given(self, function: Function, name: str, seen: set[Function]) -> bool:
        """Whether no call of the run gives a function anything but None for a parameter."""
        if function in seen:
            return True
        seen.add(function)
        for reference in self.graph.references(function):
            if reference.call is None:
                return False
            arguments = bind(reference.call, function)
            value = arguments.value(name)
            if arguments.unclear is not None or value is None:
                return False
            if not is_none(value) and not self._passes_none(reference.module, value, seen):
                return False
        return True

    def _passes_none(self, module: Module, value: ast.expr, seen: set[Function]) -> bool:
        """Whether a value is a parameter that is never given itself."""
        if not isinstance(value, ast.Name):
            return False
        bindings = module.names.bindings_of(value)
        function = self.graph.enclosing(module, value)
        if function is None or [b.kind for b in bindings] != ["parameter"]:
            return False
        known = {a.arg for a in (*function.node.args.args, *function.node.args.kwonlyargs)}
        return value.id in known and self._is_never_given(function, value.id, seen)

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
            if value in self._reached:
                return
        if binding.node in self._targets:
            return
        if binding.kind == "parameter":
            if any(p.name == name and p.module is module for p in self.flow.parameters):
                return
            self.problem(module, binding.node, f"`{name}` is a parameter")
        else:
            self.problem(module, binding.node, f"`{name}` may hold something else")

    def _from_other_modules(self, module: Module, name: str, path: str) -> None:
        """`from settings import config` and `settings.config` elsewhere in the run."""
        for other in self.project.modules.values():
            if other is module or module not in other.imported:
                continue
            for scope in list(other.names.scopes.values()):
                for local, bindings in scope.bindings.items():
                    for binding in bindings:
                        if binding.qualname and self._names(other, binding.qualname, module, name):
                            text = f"`{other.path.name}` imports `{local}` from here"
                            if len(bindings) > 1 or not self._export(module, name):
                                self.problem(module, binding.node, text)
                                continue
                            self._borrowed(other, local, scope, path)
            for attribute in other.names.attributes.get(name, ()):
                qualname = other.names.qualname(attribute)
                if qualname and self._names(other, qualname, module, name):
                    if isinstance(attribute.ctx, ast.Load) and self._export(module, name):
                        self.object(other, attribute, path)
                        continue
                    self.problem(other, attribute, f"`{other.path.name}` uses `{name}` from here")

    def _borrowed(self, other: Module, local: str, scope: Scope, path: str) -> None:
        """A variable of another file's, by its name here."""
        if (scope, local) in self._seen:
            return
        self._seen.add((scope, local))
        for mention in other.names.mentions(local, scope):
            self._reached.add(mention)
            self.object(other, mention, path)
        if scope.is_module:
            self._from_other_modules(other, local, path)

    def _export(self, module: Module, name: str) -> bool:
        """Leaves None to the files that read a variable: each of them is written by itself."""
        bindings = module.names.module_scope.bindings[name]
        if len(bindings) != 1 or bindings[0].kind == "import":
            return len(bindings) == 1
        statement = module.names.statement(bindings[0].node)
        plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and (
            getattr(statement, "targets", [bindings[0].node]) == [bindings[0].node]
        )
        if plain and not any(
            step.exported and step.statement is statement for step in self.flow.steps
        ):
            self.flow.steps.append(Step(module, statement, exported=name))
        return plain

    def _names(self, other: Module, qualname: str, module: Module, name: str) -> bool:
        head, _, last = qualname.rpartition(".")
        return last == name and bool(head) and module in self.project.resolve(other, head)[-1:]

    # -- what is done with it ---------------------------------------------

    def object(self, module: Module, node: ast.expr, path: str) -> None:
        """One place that holds the object (or the part of it at ``path``)."""
        self._reached.add(node)
        parent = module.names.parents[node]
        shown = None if isinstance(node, ast.Call) else showing(module, node)
        if shown is not None:
            self.flow.shown.append((module, shown))
        elif isinstance(parent, ast.Attribute):
            self._attribute(module, node, path)
        elif isinstance(parent, ast.keyword):
            call = module.names.parents[parent]
            assert isinstance(call, ast.Call)
            self._argument(module, call, node, path)
        elif isinstance(parent, ast.Call):
            self._argument(module, parent, node, path)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            self._assigned(module, parent, node, path)
        elif isinstance(parent, ast.Return):
            self._returned(module, parent, node, path)
        elif isinstance(parent, ast.Yield):
            self._yielded(module, parent, node, path)
        elif isinstance(parent, ast.Expr):
            return
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            self._chosen(module, parent, path)
        elif isinstance(parent, (ast.Tuple, ast.List, ast.Dict)) and self._member(
            module, parent, node, path
        ):
            return
        elif isinstance(parent, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred)):
            self.problem(module, node, "it is put into a container here")
        elif isinstance(parent, (ast.Compare, ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.If)):
            self.problem(module, node, "its value is chosen or tested by a condition here")
        else:
            self.problem(module, node, "this use of it cannot be followed")

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
            self._reached.add(top)
            self._assigned(module, parent, top, inner)
        else:
            self.problem(module, top, f"`{inner or 'it'}` is read here")

    def _method(self, module: Module, call: ast.Call, path: str) -> None:
        target, _, method = path.rpartition(".")
        if method in _FILLING and len(call.args) == 1 and target in SUBMESSAGES:
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

    def _argument(self, module: Module, call: ast.Call, node: ast.expr, path: str) -> None:
        sink = self.sinks.get(call)
        if sink is not None and sink.argument is node and not path:
            self.flow.sinks.append(sink)
            return
        if path:
            # `ConfigProto(gpu_options=gpu_options)` and `.CopyFrom(gpu_options)` of this object
            # are where following the part began.
            if call in self.taken:
                if isinstance(node, ast.Name) or self._parts.get(node) == path:
                    return
            elif isinstance(call.func, ast.Attribute) and call.func.attr in _FILLING:
                return
            elif self._is_field_of_another(module, call, node, path):
                self.flow.shares.add(call)
                return
        function = self.graph.target(module, call.func)
        if function is not None and self._handed(module, call, node, function, path):
            return
        self.problem(module, node, f"it is passed to `{_short(module, call.func)}(...)`")

    def _is_field_of_another(
        self, module: Module, call: ast.Call, node: ast.expr, path: str
    ) -> bool:
        """`ConfigProto(gpu_options=options)` of another configuration, which copies the options."""
        field = next((one.arg for one in call.keywords if one.value is node), None)
        if field != path or not isinstance(node, ast.Name):
            return False
        alone = module.names.only_binding(node) is not None
        return alone and self._is_message(module, call, "ConfigProto")

    def _carried(self, module: Module, statement: ast.stmt, node: ast.expr) -> None:
        """A statement that only gives the object another name; the call of a helper stays."""
        if isinstance(node, ast.IfExp) or (isinstance(node, ast.Call) and node in self.taken):
            return
        call = node if isinstance(node, ast.Call) else None
        self.flow.steps.append(Step(module, statement, call=call))

    def _assigned(self, module: Module, parent: ast.stmt, node: ast.expr, path: str) -> None:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]  # type: ignore[attr-defined]
        target = targets[0]
        if len(targets) == 1 and isinstance(target, ast.Name):
            home = module.names.defining_scope(target.id, module.names.scope_of_name[target])
            assert home is not None
            self._carried(module, parent, node)
            made = isinstance(node, (ast.Call, ast.IfExp))
            if not made and any(is_none(b.value) for b in home.bindings[target.id]):
                # The object is made in any case, its options would be set in any case.
                self.problem(module, node, f"it is also called `{target.id}`, which may be None")
            self.variable(module, target.id, home, path, target)
        elif len(targets) == 1 and isinstance(target, ast.Attribute):
            self._carried(module, parent, node)
            self._kept_on_self(module, target, path)
        else:
            self.problem(module, node, "it is assigned to something that is not a plain name")

    # -- attributes of self -----------------------------------------------

    def _kept_on_self(self, module: Module, target: ast.Attribute, path: str) -> None:
        """`self.config = tf.ConfigProto(...)`, followed through the instances of its class."""
        owner = self.values.owner_of(module, target)
        if owner is None:
            self.problem(module, target, f"it becomes an attribute: `{ast.unparse(target)}`")
            return
        key = (owner, target.attr)
        if key in self._seen:
            return
        self._seen.add(key)
        home, node = owner
        statement = module.names.statement(target)
        for binding in home.names.scopes[node].bindings.get(target.attr, ()):
            if is_none(binding.value):
                continue  # what it is before the object is made
            self.problem(home, binding.node, f"`{target.attr}` is an attribute of the class too")
        for other in self.project.modules.values():
            if other is not home and home not in other.imported:
                continue
            for attribute in other.names.attributes.get(target.attr, ()):
                if attribute is target:
                    continue
                known = self.values.owner_of(other, attribute)
                if known == owner:
                    if other is not module:  # it is written by itself, and finds None there
                        step = Step(module, statement, exported=module.source.code(target))
                        self.flow.steps.append(step)
                    self._self_attribute(other, attribute, path)
                elif known is None or inherits(known[1]):
                    if not other.names.qualname(attribute):
                        self.problem(
                            other, attribute, f"`{ast.unparse(attribute)}` may be the same object"
                        )

    def _self_attribute(self, module: Module, attribute: ast.Attribute, path: str) -> None:
        if isinstance(attribute.ctx, ast.Load):
            self.object(module, attribute, path)
            return
        parent = module.names.parents[attribute]
        value = statement_value(parent)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and is_none(value):
            self.flow.steps.append(Step(module, parent))
            return
        if isinstance(value, ast.Call) and value in self.taken:
            return
        self.problem(module, attribute, f"`{ast.unparse(attribute)}` is assigned again here")

    # -- helpers that build and return it ---------------------------------

    def _returned(self, module: Module, statement: ast.Return, node: ast.expr, path: str) -> None:
        function = self.graph.enclosing(module, statement)
        if function is None:
            self.problem(module, statement, "it is returned outside of a function")
            return
        creation = node if isinstance(node, ast.Call) and node in self.taken else None
        self.flow.steps.append(Step(module, statement, creation=creation, returns=True))
        if function in self._seen:
            return
        self._seen.add(function)
        if not self._only_returns_it(function, path):
            return
        references = self.graph.references(function)
        if not references:
            self.problem(module, statement, f"nothing in the run calls `{function.name}()`")
        for reference in references:
            if reference.call is None:
                self.problem(
                    reference.module, reference.node, f"`{function.name}` is passed on here"
                )
                continue
            self._called(reference.module, reference.call, path)

    def _called(self, module: Module, call: ast.Call, path: str) -> None:
        """A call of a helper, which is still called for what it sets."""
        self.flow.helper_calls.append((module, call))
        parent = module.names.parents[call]
        if path and isinstance(parent, ast.keyword) and module.names.parents[parent] in self.taken:
            self.flow.steps.append(Step(module, module.names.statement(call), call=call))
        self.object(module, call, path)

    def _yielded(self, module: Module, node: ast.Yield, value: ast.expr, path: str) -> None:
        """`with make_config() as config`, of a function with one `yield`."""
        function = self.graph.enclosing(module, node)
        statement = module.names.parents[node]
        references = self.values.calls(function) if function is not None else None
        if function is None or references is None or not is_manager(function):
            self.problem(module, node, "this use of it cannot be followed")
            return
        yields = [n for n in own_nodes(function.node) if isinstance(n, (ast.Yield, ast.YieldFrom))]
        if len(yields) != 1 or not isinstance(statement, ast.Expr):
            self.problem(module, node, "this use of it cannot be followed")
            return
        creation = value if isinstance(value, ast.Call) and value in self.taken else None
        self.flow.steps.append(Step(module, statement, creation=creation, yields=True))
        for reference in references:
            block = reference.module.names.parents[reference.call or node]
            target = block.optional_vars if isinstance(block, ast.withitem) else None
            if not isinstance(block, ast.withitem) or not (
                target is None or isinstance(target, ast.Name)
            ):
                self.problem(reference.module, reference.node, "this use of it cannot be followed")
            elif target is not None:
                names = reference.module.names
                home = names.defining_scope(target.id, names.scope_of_name[target])
                assert home is not None
                self._targets.add(target)
                self.flow.entered.append((reference.module, block))
                self.variable(reference.module, target.id, home, path)

    def _only_returns_it(self, function: Function, path: str) -> bool:
        """Whether every `return` of a helper gives a configuration or None."""
        module = function.module
        if function.node.decorator_list:
            self.problem(module, function.node, f"`{function.name}` is decorated")
            return False
        for node in walk(function.node):
            if isinstance(node, ast.Return) and (node.value is None or is_none(node.value)):
                self.flow.may_be_none = self.flow.may_be_none or not path
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                self.problem(module, node, f"`{function.name}` is a generator")
                return False
            if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
                if self.graph.enclosing(module, node) != function:
                    continue
                value = node.value
                if value in self._reached:
                    continue
                made = isinstance(value, ast.Call) and self._is_message(
                    module, value, SUBMESSAGES.get(path, "ConfigProto")
                )
                if made and value not in self.taken:
                    assert isinstance(value, ast.Call)
                    self.creation(module, value, path)
                    self.flow.steps.append(Step(module, node, creation=value, returns=True))
                elif not made and not isinstance(value, ast.Name):
                    self.problem(module, node, f"`{function.name}` returns something else here")
                    return False
                elif isinstance(value, ast.Name):
                    home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
                    if (home, value.id) not in self._seen or value in self._elsewhere:
                        self.problem(module, node, f"`{function.name}` returns something else here")
                        return False
        return True

    # -- parameters --------------------------------------------------------

    def _handed(
        self, module: Module, call: ast.Call, node: ast.expr, function: Function, path: str
    ) -> bool:
        """`train(config)`: followed where every caller hands over this object, or nothing.

        Returns False when the parameter cannot be determined.
        """
        name = bind(call, function).parameter(node)
        if name is None or (path and function.module is not module):
            return False
        if function.module is not module:
            self._handed_abroad(module, call, node, function, name)
            return True
        self.flow.handovers.append(Handover(module, call, node))
        key = (function, name)
        if key in self._seen:
            return True
        self._seen.add(key)
        self._followed_in(function, name, path)
        return True

    def _followed_in(self, function: Function, name: str, path: str) -> None:
        """Follows a parameter, and looks at what else its function is given for it."""
        inner = function.module
        if function.owner is not None and function.name != "__init__":
            for attribute in inner.names.attributes.get(function.name, ()):
                if self.graph.target(inner, attribute) != function:
                    self.problem(inner, attribute, f"`{function.name}` is looked up here")
        for reference in self.graph.references(function):
            if reference.call is None:
                self.problem(
                    reference.module, reference.node, f"`{function.name}` is passed on here"
                )
                continue
            arguments = bind(reference.call, function)
            given = arguments.given(name)
            if is_none(given):
                assert given is not None
                self.flow.handovers.append(Handover(reference.module, reference.call, given))
            if given is None or is_none(given):
                if not path:
                    self.flow.without.append((reference.module, reference.call))
                given = arguments.defaults.get(name)
            if given is not None and not is_none(given):
                self._given.append((reference.module, given, function))
        self.flow.parameters.append(Parameter(inner, function.node, name))
        self.variable(inner, name, inner.names.scopes[function.node], path)

    def _handed_abroad(
        self, module: Module, call: ast.Call, node: ast.expr, function: Function, name: str
    ) -> None:
        """`runner.train(config)`: the function stays as it is and gets None.

        Two files cannot be written in one step: cut short between them, a call without
        the argument and a function with the parameter would not fit. A function that
        only hands its parameter to sessions does with None what is wanted.
        """
        flow = self.flow
        default = is_none(bind(call, function).defaults.get(name))
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
        self._followed_in(function, name, "")
        if [len(members) for members in own] != owned:
            text = f"it is passed to `{function.name}` in another file, which changes it"
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
                self.problem(module, given, f"`{function.name}` is called with something else here")

    def _is_followed(self, module: Module, node: ast.expr) -> bool:
        """Whether an argument is this flow's object."""
        if node in self.taken or node in self._reached:
            return True
        if isinstance(node, ast.Name):
            home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
            return (home, node.id) in self._seen and node not in self._elsewhere
        return False

    # -- containers and conditional expressions -------------------------------

    def _chosen(self, module: Module, choice: ast.IfExp, path: str) -> None:
        """`tf.ConfigProto(...) if several else None`: each arm makes an object, or is None."""
        parents = module.names.parents
        expected = SUBMESSAGES.get(path, "ConfigProto")
        statement = module.names.statement(choice)
        if choice in self._reached:
            return
        for arm in (choice.body, choice.orelse):
            if is_none(arm):
                self.flow.may_be_none = self.flow.may_be_none or not path
            elif isinstance(arm, ast.Call) and arm in self.taken:
                continue
            elif isinstance(arm, ast.Call) and self._is_message(module, arm, expected):
                self.creation(module, arm, path)
            else:
                self.problem(module, arm, "its value is chosen or tested by a condition here")
        whole = statement_value(statement) is choice
        if isinstance(parents[choice], ast.IfExp) or not (
            whole or is_read_only(module, choice.test)
        ):
            self.problem(module, choice, "its value is chosen or tested by a condition here")
        elif comments(module.source.code(statement)):
            self.problem(module, choice, "there are comments inside the expression that chooses it")
        self.object(module, choice, path)

    def _member(
        self, module: Module, group: ast.Tuple | ast.List | ast.Dict, node: ast.expr, path: str
    ) -> bool:
        """A member of a tuple that is taken apart, or of a dictionary that is read by its keys."""
        step = self.values.step(module, node)
        if step is None or step.kind != MEMBER or not isinstance(group, (ast.Tuple, ast.Dict)):
            return False
        places = self.values.unpacked(module, group, node)
        statement = module.names.statement(group)
        held = isinstance(statement, (ast.Assign, ast.Return)) and statement.value is group
        if not held or places is None or not all(isinstance(t, ast.Name) for _, t in places):
            return False
        for statement_, member in [(statement, node), *places]:
            if comments(module.source.code(statement_)):
                return False
            self.flow.steps.append(Step(module, statement_, members=(member,)))
        for _, target in places:
            self._targets.add(target)
            assert isinstance(target, ast.Name)
            home = module.names.defining_scope(target.id, module.names.scope_of_name[target])
            assert home is not None
            self.variable(module, target.id, home, path)
        for one in step.to if isinstance(group, ast.Dict) else ():
            assert one.node is not None
            self.object(module, one.node, path)
        return True


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _short(module: Module, function: ast.expr) -> str:
    text = module.source.code(function)
    return text if len(text) <= 40 and "\n" not in text else "..."


def _outermost(module: Module, call: ast.expr) -> ast.expr:
    """The conditional expression that an expression is an arm of, or itself."""
    parent = module.names.parents[call]
    return parent if isinstance(parent, ast.IfExp) and call is not parent.test else call
