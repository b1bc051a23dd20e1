"""The names that TF1 gives the variables of a graph: those that checkpoints have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS, VARIABLES
from migrate_mgpu.models.front.network.layers import HelperCall
from migrate_mgpu.models.front.session.helper_names import (
    UNKNOWN_NUMBER,
    HelperNamed,
    HelperNames,
    Operations,
    name_given,
    scope_of,
    trains,
    variables_of,
)
from migrate_mgpu.models.front.session.host_objects import HelperVariable, NamedVariable, Told
from migrate_mgpu.models.front.session.names_in_functions import (
    OF_OPERATORS,
    NamesInFunctions,
    operation_names,
)
from migrate_mgpu.models.front.session.program import MadeLayer, SessionProgram
from migrate_mgpu.models.front.session.scope import given_once
from migrate_mgpu.models.front.towers.summary_names import may_be_in_a_tower
from migrate_mgpu.models.ir import Collected, Operation, Towers, Variables


class GraphNames:
    """Names variables and summaries in the order in which they are made."""

    def __init__(self, found: SessionProgram, graph: CallGraph) -> None:
        self.found = found
        self.scope = found.scope
        self.module: Module = self.scope.module
        self.graph = graph
        self._taken: dict[str, int] = {}
        self._known: dict[Variables, list[NamedVariable]] = {}
        self._scopes: dict[ast.stmt, str] = {}
        self._opened: list[tuple[ast.stmt, str]] = []
        self._layers: dict[ast.Call, str] = {}
        self._helped: dict[ast.Call, list[HelperNamed]] = {}  # of functions' calls
        self._of_helpers: set[str] = set()  # the names of layers in them
        self._of_runs: list[str] = []  # what scopes begin with whose names a run makes
        self._markers: dict[ast.AST, str] = {}  # what stands for these, by their names
        self._functions = NamesInFunctions(self.module, graph, self._unique, self._taken)
        self._next = 0  # of the scope's entries, which have their names up to here

    def of(self, variables: Variables) -> list[NamedVariable]:
        """The variables that a statement makes, with their names.

        Raises:
            Refused: TF1's name of one cannot be determined.
        """
        found = self.with_loops(variables)
        for one in found:
            if one.rounds is not None or one.told:
                text = "whether a variable is made, or how often, cannot be determined"
                advice = "make it outside of loops and conditions"
                place = self.module, variables.unit
                if one.rounds is not None:
                    place = one.rounds.module, one.rounds.loop
                raise Refused(*place, text, advice)
        return found

    def with_loops(self, variables: Variables) -> list[NamedVariable]:
        """The same, where those of a loop, or of a function, may be one whose names a run knows."""
        if variables.listed:
            return [named for one in variables.listed for named in self.with_loops(one)]
        if variables.item_of is not None:
            return [one for one in self.of(variables.item_of) if _key(one) == variables.key]
        if variables not in self._known:
            self._come_to(variables.unit)
            if variables not in self._known:
                self._known[variables] = self._named(variables)
        return self._known[variables]

    def _come_to(self, statement: ast.stmt) -> None:
        """Gives the statements above one their names, and it its scope."""
        made = {one.unit: one for one in self.found.variables}
        entries = self.scope.entries
        while self._next < len(entries) and statement not in self._scopes:
            entry = entries[self._next]
            self._next += 1
            while self._opened and not _holds(self._opened[-1][0], entry.statement):
                self._opened.pop()
            path = self._opened[-1][1] if self._opened else ""
            if entry.opens and entry.statement in self.scope.blocks:
                for named in _scope_names(self.module, entry.statement):
                    path = self._unique(path + named) + "/"
                self._opened.append((entry.statement, path))
            self._scopes[entry.statement] = path
            if entry.opens or entry.towers is not None:
                continue
            if self._names_helper(entry.statement) or entry.statement is statement:
                continue
            if entry.statement in made and made[entry.statement].made:
                variables = made[entry.statement]
                self._known[variables] = self._named(variables)
                continue
            self._functions.calls(entry.statement, path, self._prefix(entry.statement))

    def _names_helper(self, statement: ast.stmt) -> bool:
        """Names what a function makes, if a statement calls one that becomes a class of layers.

        A name that cannot be determined is told where it is asked for.
        """
        for call, made in self.found.layers.items():
            if made.found.helper is None or made.variables.unit is not statement:
                continue
            before = dict(self._taken)
            with suppress(Refused):
                self._name_layers(call)
            # Its scopes and other operations get theirs, which the variables have told in part.
            after = dict(self._taken)
            self._taken.clear()
            self._taken.update(before)
            self._functions.calls(statement, self._scopes[statement], self._prefix(statement))
            for name, count in after.items():
                self._taken[name] = max(count, self._taken.get(name, 0))
            return True
        return False

    def _of_layer(self, variables: Variables) -> list[NamedVariable]:
        """The variables of a layer, which are called by its name."""
        self._name_layers()
        call = next(c for c, made in self.found.layers.items() if made.variables is variables)
        if call in self._helped:
            return [
                NamedVariable(
                    one.name, variables, one.key, one.trained, one.used, one.rounds, one.told
                )
                for one in self._helped[call]
            ]
        found: list[NamedVariable] = []
        trained = trains(self.module, call)
        for one in variables_of(self.module, call):
            full = f"{self._layers[call]}/{one.name}"
            self._taken.setdefault(full.lower(), 1)
            is_trained = trained and not one.is_statistic
            found.append(NamedVariable(full, variables, one.attribute, is_trained))
        return found

    def _name_layers(self, last: ast.Call | None = None) -> None:
        """Names the layers in their order, up to one or all of them."""
        for call, made in sorted(self.found.layers.items(), key=lambda one: _order(*one)):
            if call not in self._layers and call not in self._helped:
                if made.found.helper is not None:
                    self._helped[call] = self._of_helper(made.found.helper, made.variables)
                elif made.is_object:
                    text = "the names of this layer's variables are not known"
                    raise Refused(self.module, call, text)
                else:
                    self._layers[call] = self._layer(call, made)
            if call is last:
                return

    def _of_helper(self, helper: HelperCall, variables: Variables) -> list[HelperNamed]:
        """The variables of a function that becomes a class of layers."""
        assert self.found.layer_helpers is not None
        self._check_here(helper.call, variables)
        layers = {*self._layers.values(), *self._of_helpers}
        operations = self._of_operations(variables)
        prefix = self._prefix(variables.unit)
        own = {*layers}
        names = HelperNames(self.found.layer_helpers, own, operations)
        try:
            found = names.of(self.module, helper.call, helper.function, prefix)
        except Refused as refused:
            if refused.diagnostic.key != UNKNOWN_NUMBER:
                raise
            told = self._told(helper, prefix, layers)
            if told is None:
                raise
            return [told]
        self._of_helpers |= own
        for one in found:
            if one.rounds is None:
                self._taken.setdefault(one.name.lower(), 1)
        return found

    def _told(self, helper: HelperCall, prefix: str, layers: set[str]) -> HelperNamed | None:
        """All variables of a function that becomes a class of layers, which tells their names.

        None where these cannot be determined but for their numbers.
        """
        assert self.found.layer_helpers is not None
        names = HelperNames(self.found.layer_helpers, layers, two_rounds=True)
        try:
            found = names.of(self.module, helper.call, helper.function, prefix)
        except Refused:
            return None
        self._of_helpers |= layers
        for one in found:
            self._taken.setdefault(one.name.lower(), 1)
        told = Told(prefix, tuple((one.name, one.trained) for one in found))
        used = all(one.used for one in found if one.trained)
        return HelperNamed("", HelperVariable(()), used=used, told=told)

    def _of_operations(self, variables: Variables) -> Operations | None:
        """What numbers the `tf.Variable`s of a function; None where some before may have no name.

        All statements above its only call have theirs, and none below.
        """
        helpers = [one for one in self.found.layers.values() if one.found.helper is not None]
        last = self.scope.entries[self._next - 1].statement if self._next else None
        if len(helpers) != 1 or last is not variables.unit or self.scope.towers is not None:
            return None
        scope = self._scopes[variables.unit]
        before = dict(self._taken)
        made = NamesInFunctions(self.module, self.graph, self._unique, self._taken)
        made.calls(variables.unit, scope, self._prefix(variables.unit))
        self._taken.clear()
        self._taken.update(before)
        return Operations(self._unique, self._reserved, scope, made.variables)

    def _reserved(self, module: Module, node: ast.AST, begins: str) -> str:
        """What stands for the scopes of a loop, whose names begin with a text, and no others.

        Raises:
            Refused: another name may begin so.
        """
        if node in self._markers:
            return self._markers[node]  # it is asked for once more, to tell what is in the way
        begin = begins.lower()
        own = begin.rpartition("/")[2]
        clashes = any(one.startswith(begin) or begin.startswith(one) for one in self._of_runs)
        names = (*self._taken, *(f"{begin[: -len(own)]}{one}" for one in self._operations))
        if not own or clashes or any(one.startswith(begin) for one in names):
            text = "the name of a variable in a checkpoint cannot be determined"
            raise Refused(module, node, text, f"let no other name begin with `{begins}`")
        self._of_runs.append(begin)
        self._markers[node] = f"-{len(self._of_runs)}-"  # no name of TF1's begins so
        return self._markers[node]

    def _check_here(self, call: ast.Call, variables: Variables) -> None:
        if not any(entry.statement is variables.unit for entry in self.scope.entries):
            text = "the names of a layer's variables cannot be determined: a function creates it"
            raise Refused(self.module, call, text)

    def _layer(self, call: ast.Call, made: MadeLayer) -> str:
        self._check_here(call, made.variables)
        kind = scope_of(self.module, call)
        prefix = self._prefix(made.variables.unit)
        prefix += self._prefix_within(call, made) if made.calls else ""
        told = name_given(call)
        known = constant(told) if told is not None else None
        if told is not None and not isinstance(known, str):
            raise Refused(self.module, told, "the name of a layer cannot be determined")
        taken = {*self._layers.values(), *self._of_helpers}
        base = prefix + (known if isinstance(known, str) else kind)
        name, number = base, 0
        while name in taken and known is None:
            number += 1
            name = f"{base}_{number}"
        self._taken.setdefault(name.lower(), 1)
        return name

    def _named(self, variables: Variables) -> list[NamedVariable]:
        if variables.collected is Collected.LAYER:
            return self._of_layer(variables)
        if not isinstance(variables.unit, ast.Assign):
            raise Refused(
                self.module, variables.unit, "its names in a checkpoint cannot be determined"
            )
        value = variables.unit.value
        keys: list[ast.expr | int | str | None] = [None]
        parts: list[ast.expr] = [value]
        if variables.collected is Collected.VALUES and isinstance(value, ast.Dict):
            keys, parts = list(value.keys), value.values
        elif variables.collected is Collected.ITEMS and isinstance(value, (ast.List, ast.Tuple)):
            keys, parts = list(range(len(value.elts))), value.elts
        if len(parts) != len(variables.made):
            raise Refused(
                self.module, variables.unit, "its names in a checkpoint cannot be determined"
            )
        found: list[NamedVariable] = []
        for key, part, made in zip(keys, parts, variables.made):
            name = self._name(variables, made, part)
            found.append(NamedVariable(name, variables, key, variables.trainable))
        return found

    def _name(self, variables: Variables, made: Operation, part: ast.expr) -> str:
        if made.kind in COUNTERS:
            return "global_step"
        given = made.arguments.get("name")
        if given is not None and made.node is not part:
            given = self._bound(part, given)
        name = constant(given) if given is not None else "Variable"
        if name is None and made.kind == "Variable":
            name = "Variable"
        if not isinstance(name, str):
            node = given if given is not None else part
            text = "the name of a variable in a checkpoint cannot be determined"
            raise Refused(self.module, node, text, "write it as a constant")
        if made.kind == "get_variable":
            name = self._prefix(variables.unit) + name
            self._taken.setdefault(name.lower(), 1)
            return name
        return self._unique(self._scopes[variables.unit] + name)

    def _prefix(self, statement: ast.stmt) -> str:
        """What the variable scopes around a statement put before the names of `get_variable`."""
        entry = next(e for e in self.scope.entries if e.statement is statement)
        return "".join(f"{name}/" for kind, name in entry.scopes if kind == "variable_scope")

    def _prefix_within(self, call: ast.Call, made: MadeLayer) -> str:
        """What the variable scopes around a layer put before its name, within its function."""
        found: list[str] = []
        for parent in self.module.names.ancestors(call):
            if isinstance(parent, ast.FunctionDef):
                break
            for item in parent.items[::-1] if isinstance(parent, ast.With) else ():
                scope = item.context_expr
                if name_of(self.module, scope) == "variable_scope" and isinstance(scope, ast.Call):
                    told = scope.args[0] if scope.args else None
                    told = made.bound.get(told.id, told) if isinstance(told, ast.Name) else told
                    name = constant(told) if told is not None else None
                    if not isinstance(name, str):
                        text = "the name of a layer cannot be determined"
                        raise Refused(self.module, scope, text, "write that of its scope")
                    found.insert(0, f"{name}/")
        return "".join(found)

    def operations(self) -> dict[str, ast.Call]:
        """The operations that the scope's own statements give names, by these."""
        if self.scope.entries:
            self._come_to(self.scope.entries[-1].statement)
        return self._functions.operations

    def variable_scope(self, statement: ast.stmt) -> str:
        """What variable scopes put before an optimizer's slots."""
        return self._prefix(statement)

    def scope_around(self, statement: ast.stmt) -> str:
        """The names of the scopes around a statement, as TF1 has them: `net/`."""
        self._come_to(statement)
        return self._scopes[statement]

    def inside(self, statement: ast.stmt, call: ast.Call) -> dict[ast.Call, str | None]:
        """The tags of the summaries that a function makes, which a statement calls.

        None is a tag that is not known.
        """
        self._come_to(statement)
        if call not in self._functions.tags:
            self._functions.calls(statement, self._scopes[statement], self._prefix(statement))
        return self._functions.tags[call]

    def fresh(self, statement: ast.stmt, name: str, of_variable: bool = False) -> str:
        """The name of one more variable or summary that a statement makes.

        ``of_variable``: it begins with that of a variable, which a tower's own scope keeps free.

        Raises:
            Refused: a tower may have it as well.
        """
        self._come_to(statement)
        own = of_variable and self._apart
        for part in name.lower().split("/"):
            taken = part in self._of_towers and not own
            if taken or any(part.startswith(one) for one in self._begin_towers):
                text = (
                    f"TF1's name of `{name}` cannot be determined: something in a tower may have it"
                )
                raise Refused(self.module, statement, text, "give it another name")
        return self._unique(self._scopes[statement] + name)

    @cached_property
    def _begin_towers(self) -> set[str]:
        """What the names of the scopes of towers begin with."""
        towers = self.scope.towers
        if towers is None:
            return set()
        shown = (ast.unparse(block) for block in walk(towers.loop) if isinstance(block, ast.With))
        texts = re.findall(r"['\"]([^'\"%{]*)[%{]", " ".join(shown))
        return {text.lower() for text in texts if text}

    @cached_property
    def modules(self) -> list[Module]:
        """All modules of the program."""
        return [module for program in self._programs for module in program.modules]

    @cached_property
    def _programs(self) -> list[Program]:
        return [one for one in self.graph.project.programs() if one.entry is self.module]

    def may_run(self, module: Module, node: ast.AST) -> bool:
        """Whether the program may run the code at a node of a module of its own."""
        return any(self.graph.runs_in(one, module, node) for one in self._programs)

    @cached_property
    def _apart(self) -> bool:
        """Whether each tower has a scope of its own for the names of its operations."""
        towers = self.scope.towers
        if towers is None or all(map(self._opens_scope, towers.loop.body)):
            return True
        return any(
            name_of(self.module, item.context_expr) == "name_scope"
            and any(isinstance(n, ast.Name) and n.id in towers.names for n in walk(item))
            for block in walk(towers.loop)
            if isinstance(block, ast.With)
            for item in block.items
        )

    def _opens_scope(self, statement: ast.stmt) -> bool:
        """`with tf.variable_scope("net"):`, which opens a scope for names as well."""
        items = statement.items if isinstance(statement, ast.With) else []
        for call in (item.context_expr for item in items):
            if name_of(self.module, call) == "variable_scope" and isinstance(call, ast.Call):
                if call.args and isinstance(constant(call.args[0]), str):
                    return True
        return False

    @cached_property
    def _of_towers(self) -> set[str]:
        """Names that towers may give, which TF1 numbers where they are there already.

        In scopes of their own towers give names to nothing outside of them but variables.
        """
        towers = self.scope.towers
        if towers is None:
            return set()
        found: set[str] = set()
        for module in self.modules:
            for call in module.names.calls:
                name = name_of(module, call)
                owns = name in VARIABLES.by_name or name in LAYERS.by_name
                owns = owns or name == "variable_scope"
                owns = owns or self.graph.target(module, call.func) is not None
                if owns or (not self._apart and self._may_be_in_a_tower(module, call, towers)):
                    values = [*call.args, *(keyword.value for keyword in call.keywords)]
                    texts = (constant(value) for value in values)
                    found.update(p for t in texts if isinstance(t, str) for p in t.split("/"))
        return {part.lower() for part in found}

    def _may_be_in_a_tower(self, module: Module, call: ast.Call, towers: Towers) -> bool:
        """Whether a tower may make what a call makes: those beside the loop get names in order."""
        home = self.module.names.scopes[self.scope.node]
        if module is self.module and module.names.scope_at(call) is home:
            return is_inside(module, call, {towers.loop})
        return may_be_in_a_tower(self.modules, module, call, towers.loop)

    @cached_property
    def _operations(self) -> set[str]:
        return {*operation_names(self.module), *OF_OPERATORS}

    def _bound(self, part: ast.expr, given: ast.expr) -> ast.expr | None:
        """What a function that makes a variable gets for its name."""
        if not isinstance(given, ast.Name) or not isinstance(part, ast.Call):
            return given
        target = self.graph.target(self.module, part.func)
        if target is None or not isinstance(target.node, ast.FunctionDef):
            return given
        arguments = target.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        if given.id not in names:
            return given
        passed = NamedArguments(self.module, part, names).rest.get(given.id)
        if passed is not None:
            return passed
        at = names.index(given.id) - len(names) + len(arguments.defaults)
        return arguments.defaults[at] if at >= 0 else given

    def _unique(self, name: str) -> str:
        """TF1 numbers names that are there already, in any case of letters."""
        key = name.lower()
        for begin in self._of_runs:
            if key.startswith(begin):
                text = f"TF1's name of `{name}` cannot be determined: a loop's scope may have it"
                raise Refused(self.module, self.scope.session, text, "give it another name")
        count = self._taken.get(key, 0)
        self._taken[key] = count + 1
        if not count:
            return name
        while True:
            other = f"{name}_{count}"
            if other.lower() not in self._taken:
                self._taken[other.lower()] = 1
                return other
            count += 1
            self._taken[key] = count + 1


def _key(named: NamedVariable) -> object:
    return constant(named.key) if isinstance(named.key, ast.expr) else named.key


def _holds(block: ast.stmt, statement: ast.stmt) -> bool:
    return block.lineno <= statement.lineno <= (block.end_lineno or block.lineno) and (
        statement is not block
    )


def _order(call: ast.Call, made: MadeLayer) -> tuple[tuple[int, int], ...]:
    """By what layers are sorted into the order in which they are made, by functions perhaps."""
    return _end(made.calls[0] if made.calls else call), _end(call)


def _end(node: ast.expr) -> tuple[int, int]:
    """Calls end in the order in which they are made."""
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _scope_names(module: Module, block: ast.stmt) -> Iterator[str]:
    for item in block.items if isinstance(block, ast.With) else ():
        call = item.context_expr
        if isinstance(call, ast.Call) and call.args:
            if name_of(module, call) in ("name_scope", "variable_scope"):
                name = constant(given_once(module, call.args[0]))
                if isinstance(name, str) and name:
                    yield name
