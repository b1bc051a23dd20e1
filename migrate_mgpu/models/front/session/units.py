"""Statements and expressions that build what steps compute."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from migrate_mgpu.analysis.dataflow import loaded
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import names_in, position, walk
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import ATTENDED_PARTS, DECODED, PAIR_PARTS, is_recurrent
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.network.cell_states import PAIR, attends, structure
from migrate_mgpu.models.front.network.decoders import is_decoded
from migrate_mgpu.models.front.session.constant_branches import (
    expressions_of_branches,
    is_chosen,
    is_settled,
    names_made_before,
    surely_made,
)
from migrate_mgpu.models.front.session.distributions import method_of
from migrate_mgpu.models.front.session.expressions import (
    Parts,
    check_drawn,
    is_seeded,
    statements_of,
)
from migrate_mgpu.models.front.session.label_gradients import LabelGradientReader
from migrate_mgpu.models.front.session.layers import UnitLayerReader
from migrate_mgpu.models.front.session.nested_values import appended
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    AllVariables,
    Averager,
    AverageStep,
    Cells,
    GlobalVariables,
    GradientNorm,
    Gradients,
    Host,
    Init,
    MetricValue,
    NamedInitializer,
    PartOfStep,
    Role,
    SummaryList,
    UpdateGroup,
    closure,
    targets_of,
    tells_shape,
)
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.variable_collections import CollectionReader
from migrate_mgpu.models.front.towers.loop import is_text
from migrate_mgpu.models.ir import (
    Collected,
    OptimizerChoice,
    Placeholder,
    Schedule,
    Unit,
    Update,
    Variables,
)

_T = TypeVar("_T")


# What a name may stand for that nothing is computed with.
_NO_VALUES = (
    Update, OptimizerChoice, Gradients, AllVariables, Init, NamedInitializer, Cells, Averager,
    AverageStep, GradientNorm, PartOfStep, UpdateGroup, MetricValue, GlobalVariables, SummaryList,
)  # fmt: skip


class UnitReader(StatementReader):
    """Reads units: what each takes, and that it does nothing else."""

    def __init__(self, state: Reading, unit_layers: UnitLayerReader) -> None:
        super().__init__(state)
        self.unit_layers = unit_layers
        self.label_gradients = LabelGradientReader(state)
        self.collections = CollectionReader(state)

    def is_graph(self, value: ast.expr) -> bool:
        """Whether an expression is, or makes, a part of the graph."""
        for name in mentions_of(self.names, value, self.home):
            if isinstance(self.meanings.get(name.id), GRAPH):
                return True
        for node in walk(value):
            if isinstance(node, ast.Call):
                known = name_of(self.module, node)
                if known and not known.startswith(SETTINGS):
                    return True
                target = self.graph.target(self.module, node.func)
                if target is not None and self.expressions.touches_graph(target):
                    return True
        return False

    def assigned(self, statement: ast.Assign, target: ast.expr) -> Role:
        """A statement that names a part of the graph."""
        value = statement.value
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if isinstance(value, ast.Call) and is_recurrent(self.module, value):
            targets = [one for part in targets for one in getattr(part, "elts", [part])]
        if not all(isinstance(one, ast.Name) for one in targets):
            text = "a part of the graph is stored in something other than a variable"
            raise Refused(self.module, statement, text, "give it a name")
        unit = self.unit(statement, self.place)
        for one in targets:
            assert isinstance(one, ast.Name)
            mentions = self.names.mentions(one.id, self.home)
            read = any(isinstance(mention.ctx, ast.Load) for mention in mentions)
            self.meanings[one.id] = unit if read else Host()  # `_`, which others have as well
        return Role.UNIT

    def repeats(self, statement: ast.stmt) -> bool:
        """Whether a statement is a loop that computes tensors, each from those there are.

        It may add them to lists that begin empty above it, which are parts of the graph then, and
        say by blocks in it on which device each is computed.
        """
        if not isinstance(statement, ast.For) or statement.orelse:
            return False
        inside = list(statements_of([statement]))
        loops = [one for one in inside if isinstance(one, ast.For)]
        added = {one: found for one in inside if (found := appended(one)) is not None}
        given = [one for one in inside if isinstance(one, (ast.Assign, ast.AugAssign))]
        blocks = [one for one in inside if isinstance(one, ast.With) and self._places(one)]
        if len(loops) + len(added) + len(given) + len(blocks) != len(inside):
            return False
        if not any(map(self.is_graph, expressions_of_loop(statement))):
            return False
        named = {name for one in given for name in targets_of(one)}
        summed = (one for one in given if isinstance(one, ast.AugAssign) or len(one.targets) == 1)
        self._begin_numbers(
            {name for one in summed if self.is_graph(one.value) for name in targets_of(one)},
            statement,
        )
        lists = {name for name, _ in added.values()} - named
        plain = all(
            isinstance(name, ast.Name)
            for one in given
            for part in (one.targets if isinstance(one, ast.Assign) else ())
            for name in (part.elts if isinstance(part, ast.Tuple) else (part,))
        )
        carried = {n for n in named if isinstance(self.meanings.get(n), Unit)}
        if not plain or not (carried or lists):
            return False
        own = named - carried
        if not all(self._is_inside(n, statement) or self._is_left(n, statement) for n in own):
            return False
        begun = {name: self._begins(name, statement) for name in lists}
        if None in begun.values():
            return False
        targets = (n for one in loops for n in walk(one.target) if isinstance(n, ast.Name))
        if not all(map(self._is_of_loops, targets)):
            return False
        for name, place in begun.items():
            if place is not None and not isinstance(self.meanings.get(name), Unit):
                entry = self.scope.entries[place]
                self.meanings[name] = self.unit(entry.statement, place)
                self.found.roles[place] = Role.UNIT
        return True

    def _is_text(self, node: ast.expr) -> bool:
        """Whether an expression is a text, or a name for the texts that a loop goes through."""
        if not isinstance(node, ast.Name):
            return is_text(self.module, node)
        found = self.names.only_binding(node)
        loop = self.names.parents.get(found.node) if found is not None else None
        over = loop.iter if isinstance(loop, ast.For) else None
        listed = self.names.only_value(over) if isinstance(over, ast.Name) else over
        if isinstance(listed, ast.ListComp):
            return is_text(self.module, listed.elt)
        parts = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []
        return bool(parts) and all(is_text(self.module, one) for one in parts)

    def _places(self, block: ast.With) -> bool:
        """Whether a block only says where its statements compute, by a text of Python's own."""
        calls = [item.context_expr for item in block.items if item.optional_vars is None]
        return len(calls) == len(block.items) and all(
            isinstance(call, ast.Call)
            and name_of(self.module, call) == "device"
            and len(call.args) == 1
            and not call.keywords
            and self._is_text(call.args[0])
            and not self.is_graph(call.args[0])
            for call in calls
        )

    def _is_inside(self, name: str, loop: ast.For) -> bool:
        """Whether a name is a loop's own, which gives it a value before it reads that."""
        mentions = sorted(self.names.mentions(name, self.home), key=position)
        first = self.names.statement(mentions[0])
        own = isinstance(first, ast.Assign) and isinstance(mentions[-1].ctx, ast.Load)
        reads = own and any(part.id == name for part in loaded(first))
        return own and not reads and all(is_inside(self.module, one, {loop}) for one in mentions)

    def _is_left(self, name: str, loop: ast.For) -> bool:
        """Whether a name has behind a loop what each of its turns gives it anew, and nothing else.

        Without a turn it has no value, in TF1 as in TF2.
        """
        mentions = sorted(self.names.mentions(name, self.home), key=position)
        first = self.names.statement(mentions[0])
        if not isinstance(first, ast.Assign) or first not in loop.body:
            return False
        if any(part.id == name for part in loaded(first)):
            return False
        stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
        return all(is_inside(self.module, one, {loop}) for one in stored)

    def _begins(self, name: str, loop: ast.For) -> int | None:
        """Where a list is made that a loop fills, if it is empty before."""
        bindings = self.home.bindings.get(name, [])
        made = self.names.statement(bindings[0].node) if len(bindings) == 1 else None
        value = made.value if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        places = [i for i, entry in enumerate(self.scope.entries) if entry.statement is made]
        if not isinstance(value, ast.List) or value.elts or len(places) != 1:
            return None
        if isinstance(self.meanings.get(name), Unit):
            return places[0]
        above = (m for m in self.names.mentions(name, self.home) if position(m) < position(loop))
        return places[0] if [*above] == [bindings[0].node] else None

    def decides(self, statement: ast.stmt) -> bool:
        """Whether a statement computes tensors in one of its branches, as a constant says.

        Or as what an object was told when it was made.
        """
        if not isinstance(statement, ast.If) or self.scope.towers is not None:
            return False
        modules = self.graph.modules
        if self.is_graph(statement.test):
            return False
        self.state.in_branches[statement] = self._tensors_in(statement)
        if not is_chosen(self.module, statement, modules):
            if not self._is_settled(statement):
                return False
            self.found.settled.add(statement)
        targets = [
            part
            for one in walk(statement)
            for target in (one.targets if isinstance(one, ast.Assign) else ())
            for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        if not all(isinstance(target, ast.Name) for target in targets):
            return False
        for call in (node for node in walk(statement) if isinstance(node, ast.Call)):
            if name_of(self.module, call) in (*PLACEHOLDERS, *VARIABLES.by_name):
                return False
        return any(map(self.is_graph, expressions_of_branches(statement)))

    def _tensors_in(self, statement: ast.If) -> set[str]:
        """The names that branches give tensors."""
        found: set[str] = set()
        for one in statements_of([statement]):
            if isinstance(one, (ast.Assign, ast.AugAssign)):
                read = {name.id for name in names_in(one.value)}
                if read & found or self.is_graph(one.value):
                    found |= targets_of(one)
        return found

    def _begin_numbers(self, names: Iterable[str], statement: ast.stmt) -> None:
        """Numbers that a statement is the first to add tensors to, `loss = 0.0`, as parts too."""
        for name in names:
            if not isinstance(self.meanings.get(name), Host):
                continue
            above = [m for m in self.names.mentions(name, self.home)
                     if position(m) < position(statement)]  # fmt: skip
            made = self.names.statement(above[-1]) if above else None
            places = [i for i, entry in enumerate(self.scope.entries) if entry.statement is made]
            plain = isinstance(made, ast.Assign) and made.targets == above[-1:]
            if plain and isinstance(made, ast.Assign) and len(places) == 1:
                if isinstance(constant(made.value), (int, float)):
                    self.meanings[name] = self.unit(made, places[0])
                    self.found.roles[places[0]] = Role.UNIT

    def begins_by_number(self, statement: ast.AugAssign) -> None:
        """Where a statement adds a tensor to a number, that is a part of the graph as well."""
        if isinstance(statement.target, ast.Name) and self.is_graph(statement.value):
            self._begin_numbers([statement.target.id], statement)

    def _is_settled(self, statement: ast.If) -> bool:
        """Whether what is told once says which branch is taken, and all of them can be read."""
        if not is_settled(self.module, statement, self.graph.modules):
            return False
        inside = list(statements_of([statement]))
        added = [one for one in inside if isinstance(one, ast.AugAssign)]
        summed = [one.target for one in added if self.is_graph(one.value)]
        self._begin_numbers({one.id for one in summed if isinstance(one, ast.Name)}, statement)
        for one in inside:
            if isinstance(one, ast.For):
                own = targets_of(one)
                looped = [n for n in walk(one.target) if isinstance(n, ast.Name)]
                if self.is_graph(one.iter) or not all(map(self._is_of_loops, looped)):
                    return False
                carried = {n for n in own if isinstance(self.meanings.get(n), Unit)}
                if not all(self._is_inside(name, one) for name in own - carried):
                    return False
            elif isinstance(one, ast.If) and self.is_graph(one.test):
                return False
        for one in added:
            known = self.meanings.get(one.target.id) if isinstance(one.target, ast.Name) else None
            if not isinstance(known, Unit):
                return False
        calls = (part for part in walk(statement) if isinstance(part, ast.Call))
        if any(is_seeded(self.module, call) for call in calls):
            return False
        with suppress(Refused):
            self.parts(statement)
            return True
        return False  # it does more than compute

    def _is_of_loops(self, target: ast.Name) -> bool:
        """Whether what a loop calls an item is read behind it where it has another value alone."""
        for mention in self.names.mentions(target.id, self.home):
            loops = [one for one in self.names.ancestors(mention) if isinstance(one, ast.For)]
            given = {n.id for one in loops for n in walk(one.target) if isinstance(n, ast.Name)}
            if isinstance(mention.ctx, ast.Load) and target.id not in given:
                if not self._is_given_between(target, mention):
                    return False
        return True

    def _is_given_between(self, target: ast.Name, mention: ast.Name) -> bool:
        """Whether a statement gives a name a value behind a loop, and always before a mention."""
        if position(mention) < position(target):
            return True
        around = {self.names.statement(mention), *self.names.ancestors(mention)}
        given = (self.names.statement(one.node) for one in self.home.bindings[target.id])
        return any(
            isinstance(one, ast.Assign)
            and position(target) < position(one) < position(mention)
            and not around.isdisjoint(self.names.block(one))
            for one in given
        )

    def unit(self, node: ast.stmt | ast.expr, place: int) -> Unit:
        """A statement or an expression that computes, with what it is made of.

        Raises:
            Refused: it does more.
        """
        return self.computed(node, place, of_tower=True)

    def computed(self, node: ast.stmt | ast.expr, place: int, of_tower: bool = False) -> Unit:
        """``of_tower``: in the loop over the devices, what a tower takes is no part of it."""
        value = value_of(node)
        parts = self.parts(value)
        self.found.builders.update(parts.builders)
        self.found.pipelines -= parts.builders.keys()
        if parts.objects:
            text = "a part of the graph is an object, which no step can return"
            raise Refused(self.module, value, text, "return the values themselves")
        after: list[Unit] = []
        feeds: list[Placeholder] = []
        reads: list[Variables] = []
        entry = self.scope.entries[place]
        inputs = self.towers.inputs(entry, value, place) if of_tower else ()
        given = {part for one, _ in inputs for part in walk(one)}
        for name in parts.names:
            if name in given:
                continue
            if of_tower:
                self.towers.carried(name, entry)
            if parts.averages and self._reads_averages(name):
                continue
            self._name(name, after, feeds, reads)
        # A branch may apply what was made above it; what it leaves behind is a step's then.
        again = isinstance(node, ast.If) and self._is_whole(node)
        again = again and all(map(self._is_shared, parts.layers))
        anew = bool(parts.applied or parts.schedules or (parts.layers and not again))
        if isinstance(node, (ast.For, ast.If)) and anew:
            what = "loop" if isinstance(node, ast.For) else "branch"
            text = f"a {what} makes a layer, or a schedule, anew each time"
            raise Refused(self.module, node, text, "write out what it makes")
        for schedule, _ in parts.schedules:
            self._schedule(schedule, node)
        after += (one for _, one in inputs)
        for call in parts.layers:
            reads.append(self.unit_layers.layer(call, node))
        for call, function in parts.applied:
            reads += self.unit_layers.applied(call, function, node)
        self._drawn(parts)
        merge = self.found.merges.get(value) if isinstance(value, ast.Call) else None
        for one in merge.summaries if merge else ():
            after += [one.gradients] if one.gradients else []
            after += [one.tower.each] if one.tower and one.tower.each else []
        changes = isinstance(node, (ast.AugAssign, ast.Expr, ast.For, ast.If))
        for target in sorted(targets_of(node)) if changes else ():
            before = self.meanings.get(target)
            assert isinstance(before, Unit) or isinstance(node, (ast.For, ast.If))
            if isinstance(before, Unit):
                after.append(before)
        for made in self.found.layers.values():
            if made.is_object and made.variables in reads:
                made.applications.append((node, None))
        unit = Unit(
            node,
            place,
            unique(after),
            unique(feeds),
            unique(reads),
            parts.rows or not all(map(self._is_of_tensor, parts.gathers)),
            inputs=inputs,
            collects=unique(self.collections.read(parts, value)),
            streams=unique(parts.streams),
            averages=bool(parts.averages),
        )
        self.label_gradients.check(value)
        if of_tower:
            unit = self.towers.stage(entry, unit)
        if isinstance(node, ast.stmt):
            self.found.units[place] = unit
        return unit

    def _is_whole(self, statement: ast.If) -> bool:
        """Whether all that branches leave behind are tensors, which each branch gives a value."""
        inside = {*names_in(statement)}
        left = {
            name
            for name in targets_of(statement)
            for mention in self.names.mentions(name, self.home)
            if mention not in inside and isinstance(mention.ctx, ast.Load)
        }
        return left <= surely_made([statement]) & self.state.in_branches.get(statement, set())

    def _is_shared(self, call: ast.Call) -> bool:
        """Whether a layer is that of a call above, which has made its variables, or has none."""
        found = self.layers.of(call)
        if found is None or found.helper is None:
            return found is not None and found.shares in self.found.layers
        function = found.helper.function
        calls = [part for part in walk(function.node) if isinstance(part, ast.Call)]
        rows = (LAYERS.by_name.get(name_of(function.module, one)) for one in calls)
        plain = all(
            name_of(function.module, one) not in VARIABLES.by_name
            and self.graph.target(function.module, one.func) is None
            for one in calls
        )
        has_none = plain and all(row is None or row.variables == () for row in rows)
        return has_none or found.shares in self.found.layers

    def parts(self, value: ast.expr | ast.For | ast.If) -> Parts:
        """What a unit is made of."""
        found = Parts()
        told = tells_shape(value)
        if told is not None:
            assert isinstance(value, ast.Call)
            for one in (*value.args, *(keyword.value for keyword in value.keywords)):
                found.add(self.expressions.read(one))
            found.names.append(told)
            return found
        if not isinstance(value, (ast.For, ast.If)):
            return self.expressions.read(value)
        made: set[ast.Name] = set()
        if isinstance(value, ast.For):
            computed = list(expressions_of_loop(value))
        else:
            computed, made = list(expressions_of_branches(value)), names_made_before(value)
        for one in computed:
            found.add(self.expressions.read(one))
        found.names = [name for name in found.names if name not in made]
        return found

    def _reads_averages(self, name: ast.Name) -> bool:
        """Whether a name stands for averages, one of which is asked for, of what moves them."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        return home is self.home and isinstance(self.meanings.get(name.id), Averager)

    def _name(
        self,
        name: ast.Name,
        after: list[Unit],
        feeds: list[Placeholder],
        reads: list[Variables],
    ) -> None:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is not self.home:
            return
        meaning = self.meanings.get(name.id)
        inside = self._in_function(name)
        if isinstance(meaning, AllVariables) and not inside:
            return
        if isinstance(meaning, _NO_VALUES):
            text = f"`{name.id}` is not a value that can be used in a computation"
            raise Refused(self.module, name, text)
        if isinstance(meaning, Unit) and meaning.assigns:
            text = f"`{name.id}` is computed with, and gives a variable a value"
            raise Refused(self.module, name, text, "compute with the variable")
        if isinstance(meaning, (Unit, Placeholder)) and inside:
            self._capture(name)
        if isinstance(meaning, Unit):
            after.append(meaning)
        elif isinstance(meaning, Placeholder):
            feeds.append(meaning)
        elif isinstance(meaning, Variables):
            reads.append(meaning)
        if isinstance(meaning, GRAPH):
            parent = self.names.parents.get(name)
            if isinstance(parent, ast.Attribute) and parent.attr not in (
                "shape",
                "dtype",
                "get_shape",
            ):
                if parent.attr in PAIR_PARTS and structure(self.module, name) == PAIR:
                    return
                if parent.attr in ATTENDED_PARTS and attends(structure(self.module, name) or ()):
                    return
                if parent.attr in DECODED and is_decoded(self.module, name):
                    return
                called = self.names.parents.get(parent)
                if called is not None and tells_shape(called) is name:
                    return
                if isinstance(called, ast.Call) and method_of(self.module, called, self.graph):
                    return
                if not isinstance(meaning, Variables) or meaning.collected is Collected.ONE:
                    text = f"`{name.id}.{parent.attr}` of a part of the graph"
                    raise Refused(self.module, parent, text)

    def _is_of_tensor(self, call: ast.Call) -> bool:
        """Whether rows are those of a layer's value: it gets a gradient for all of them.

        Or those of what follows from no variable, which gets none.
        """
        params = by_parameter(call, ("params",)).get("params")
        meaning = self.meanings.get(params.id) if isinstance(params, ast.Name) else None
        value = value_of(meaning.node) if isinstance(meaning, Unit) else None
        if not isinstance(params, ast.Name) or not self.runs.is_home(params):
            return False
        if isinstance(meaning, Unit) and not any(one.reads for one in closure([meaning])):
            return True
        layer = self.layers.of(value) if isinstance(value, ast.Call) else None
        return layer is not None and layer.kind in ("Dense", "Conv1D", "Conv2D", "Conv3D")

    def _in_function(self, name: ast.Name) -> bool:
        return not self.runs.is_home(name)

    def _capture(self, name: ast.Name) -> None:
        """A tensor that a function reads as a global becomes one of its parameters.

        Raises:
            Refused: it is called elsewhere as well, or its parameters are of other kinds.
        """
        node = self.names.scope_of_name[name].function()
        function = self.found.builders.get(node) if node is not None else None
        if function is None or not isinstance(node, ast.FunctionDef) or self.scope.towers:
            return self.state.global_of_graph(name)
        arguments = node.args
        plain = not (arguments.defaults or arguments.vararg or arguments.kwarg)
        calls = [one.call for one in self.graph.references(function)]
        at_home = all(call is not None and self.runs.is_home(call) for call in calls)
        if not plain or arguments.kwonlyargs or arguments.posonlyargs or not at_home:
            return self.state.global_of_graph(name)
        own = self.found.captures.setdefault(node, [])
        if name.id not in own:
            own.append(name.id)
        self.found.captured.update({call: node for call in calls if call is not None})

    def _drawn(self, parts: Parts) -> None:
        for call in parts.draws:
            check_drawn(self.module, call)

    def _schedule(self, schedule: Schedule, node: ast.AST) -> None:
        """A schedule whose value a unit asks for: it is made once, of Python's own values."""
        assert isinstance(schedule.node, ast.Call)
        if schedule.node in self.found.schedules:
            return
        step = SCHEDULES.by_kind[schedule.kind].step
        for name, value in schedule.arguments.items():
            if name != step:
                self.state.host_only(value, "a schedule")
        self.found.schedules[schedule.node] = node, schedule


def expressions_of_loop(loop: ast.For) -> Iterator[ast.expr]:
    """What a loop goes through, and what the statements in it compute."""
    for one in statements_of([loop]):
        added = appended(one)
        if isinstance(one, ast.For):
            yield one.iter
        elif isinstance(one, (ast.Assign, ast.AugAssign)):
            yield one.value
        elif added is not None:
            yield added[1]


def value_of(node: ast.stmt | ast.expr) -> ast.expr | ast.For | ast.If:
    """The expression that a unit computes, or the loop or the condition that does."""
    value = node.value if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) else node
    assert isinstance(value, (ast.expr, ast.For, ast.If))
    return value


def unique(items: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))
