"""What several steps compute alike, as functions that they share."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import Scope, names_in, walk
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.session.constant_branches import names_made_before
from migrate_mgpu.models.front.session.program import SessionProgram, closure, given_by
from migrate_mgpu.models.ir import (
    Collected,
    Placeholder,
    ShownGradients,
    Stage,
    Step,
    TowerInput,
    Unit,
    Update,
    Variables,
)

_REPEATED = 6  # lines in all steps together: fewer are no function, each step has its own


@record(frozen=True, eq=False)
class Part:
    """Units that the same steps have, in order: what they take and what they give, by name.

    ``builds`` is the first that needs the variables of their layers: an update that trains them,
    or a unit that gives them the values of others. Where a saver does, made above that, it is the
    last of the units.
    ``sizes`` are what variables below are shaped by, as follows from the shapes of what it gives.
    """

    units: tuple[Unit, ...]
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    builds: Update | Unit | None = None
    sizes: tuple[Unit, ...] = ()

    @property
    def place(self) -> int:
        return max(unit.place for unit in self.units)


class Sharing:
    """The parts that steps share. There are none where an order of their own would change a value.

    ``parts`` are in an order in which each knows what it takes.
    """

    def __init__(self, program: SessionProgram) -> None:
        self.program = program
        self.names = program.scope.module.names
        self.home: Scope = self.names.scopes[program.scope.node]
        networks = [*self._sized(), *self._networks()]
        self.parts = self._parts(networks)
        if not self._is_ordered():
            self.parts = networks
        if not self._is_ordered():
            node = networks[0].units[0].node
            text = "what has layers here cannot be a function of its own: a name has two values"
            raise Refused(program.scope.module, node, text, "give the values different names")

    def _is_ordered(self) -> bool:
        return all(self.ordered(step) is not None for step in self.program.steps)

    @property
    def network(self) -> Part | None:
        """The part that all who train have, made of placeholders alone."""
        training = [set(step.units) for step in self.program.steps if self._computed(step)]
        fed = {placeholder.name for placeholder in self.program.placeholders}
        fed |= {name for u in self._units if isinstance(u, TowerInput) for name in u.names}
        for part in self.parts:
            if set(part.takes) <= fed and all(set(part.units) <= units for units in training):
                return part
        return None

    def _sized(self) -> list[Part]:
        """What the sizes of variables follow from, as functions that tell them when traced."""
        found: list[Part] = []
        done: set[Unit] = set()
        for size in sorted(self.program.sizes, key=lambda unit: unit.place):
            units = [u for u in closure([size]) if u.stage is size.stage and u not in done]
            sizes = tuple(unit for unit in units if unit in self.program.sizes)
            units = [unit for unit in units if unit not in sizes]
            if units and not any(map(_layers, units)) and len(closure(sizes)) > len(sizes):
                part = self._part(units)
                read = dict.fromkeys(name for unit in sizes for name in self.reads(unit))
                own = {name for unit in units for name in given_by(unit)}
                gives = dict.fromkeys((*part.gives, *(name for name in read if name in own)))
                found.append(replaced(part, gives=tuple(gives), sizes=sizes))
            else:  # what has layers, or is fed, tells no size before it is computed
                text = "a variable's size follows from layers"
                raise Refused(self.program.scope.module, size.node, text, "tell it a number")
            done.update((*units, *sizes))
        return found

    def _networks(self) -> list[Part]:
        """What has layers, as functions that can be traced before an optimizer is built."""
        found: list[Part] = []
        built: set[Variables] = set()
        for update in self.program.updates:
            fed = self._fed(update)
            new = [u for u in closure([update.unit], fed) if {*_layers(u)} - built]
            if new:
                units = [unit for unit in closure(new, fed) if unit.stage is update.unit.stage]
                layers = [v for unit in units for v in _layers(unit)]
                part = self._part(units)
                above = self._saves_above(update, layers, part)
                built.update(layers)
                found.append(replaced(part, builds=units[-1] if above else update))
        copies = [unit for unit in self._units if unit.node in self.program.copies]
        needs = [({*_layers(one)}, one) for one in sorted(copies, key=lambda unit: unit.place)]
        saved = {one.variables for saver in self.program.savers for _, one in saver.saved}
        saved = {one for one in saved if one.collected is Collected.LAYER}
        if self.program.scope.towers is not None:  # replicas that only compute make none
            saved |= {one for unit in self._units for one in _layers(unit)} - built
        for needed, copy in (*needs, *([(saved, None)] if saved else [])):
            for step in self.program.steps:
                left = needed - built
                new = [u for u in step.units if u not in copies and {*_layers(u)} & left]
                if new:
                    units = closure(new, step.feeds)
                    if self.program.scope.towers is not None:
                        units = [unit for unit in units if unit.stage is new[-1].stage]
                    built.update(v for unit in units for v in _layers(unit))
                    found.append(replaced(self._part(units), builds=copy or units[-1]))
        if saved - built:
            saver = self.program.savers[0].statement
            text = "it saves variables of layers that nothing here runs"
            raise Refused(self.program.scope.module, saver, text, "save those that something uses")
        return found

    def _fed(self, update: Update) -> list[Placeholder]:
        """The placeholders that all steps are fed which compute what an update differentiates."""
        program = self.program
        steps = [step for step in program.steps if update in program.computed_in(step)]
        return (
            [one for one in steps[0].feeds if all(one in step.feeds for step in steps)]
            if (steps)
            else []
        )

    def _saves_above(self, update: Update, layers: Collection[Variables], part: Part) -> bool:
        """Whether a saver that stands above an update needs the variables of layers.

        Raises:
            Refused: something of their function stands below it.
        """
        entries = [entry.statement for entry in self.program.scope.entries]
        places = {statement: place for place, statement in enumerate(entries)}
        for saver in self.program.savers:
            place = places.get(saver.statement)
            if place is None or place > places[update.statement]:
                continue
            if not any(one.variables in layers for _, one in saver.saved):
                continue
            statements = (unit.node for unit in part.units if isinstance(unit.node, ast.stmt))
            below = any(places.get(one, 0) > place for one in statements)
            if below or self.program.scope.towers is not None:
                text = "a saver of layers stands above what builds them"
                raise Refused(self.program.scope.module, saver.statement, text, "make it below")
            return True
        return False

    def _parts(self, networks: list[Part]) -> list[Part]:
        steps: dict[Unit, set[Step]] = {}
        for step in self.program.steps:
            have = [part for part in networks if set(part.units) <= set(step.units)]
            known = {unit for part in have for unit in part.units}
            for unit in step.units:
                if isinstance(unit.node, ast.stmt) and unit not in known and _is_shared(unit):
                    steps.setdefault(unit, set()).add(step)
        groups: dict[tuple[frozenset[Step], Stage], list[Unit]] = {}
        for unit in sorted(steps, key=lambda unit: unit.place):
            if len(steps[unit]) > 1:
                groups.setdefault((frozenset(steps[unit]), unit.stage), []).append(unit)
        found = list(networks)
        for (sharing, _), units in groups.items():
            lines = sum((u.node.end_lineno or 0) - u.node.lineno + 1 for u in units)
            if len(sharing) * lines >= _REPEATED:
                found.append(self._part(units))
        return found

    def _part(self, units: Sequence[Unit]) -> Part:
        inside = set(units)
        known: set[str] = set()
        takes: dict[str, None] = {}
        for unit in units:
            for name in self.reads(unit):
                if name not in known and self.is_value(name):
                    takes[name] = None
            known |= given_by(unit)
        gives: dict[str, None] = {}
        wanted: set[str] = set()
        for step in self.program.steps:
            if not inside <= set(step.units):
                continue
            for unit in step.units:
                if unit not in inside:
                    wanted.update(self.reads(unit))
            wanted |= self._given(step)
        for unit in units:
            for name in sorted(given_by(unit)):
                if name in wanted:
                    gives[name] = None
        order = [p.name for p in self.program.placeholders]
        ordered = sorted(takes, key=lambda n: order.index(n) if n in order else len(order))
        return Part(tuple(units), tuple(ordered), tuple(gives))

    def is_value(self, name: str) -> bool:
        """Whether a name stands for a placeholder's or a unit's value, or what steps are given."""
        if any(placeholder.name == name for placeholder in self.program.placeholders):
            return True
        if any(one.iterator.name == name for one in self.program.restarts.values()):
            return True
        return any(name in given_by(unit) for unit in self._units)

    @cached_property
    def _units(self) -> set[Unit]:
        known = {unit for step in self.program.steps for unit in step.units}
        return known.union(self.program.units.values())

    def reads(self, unit: Unit) -> list[str]:
        """The names of the scope that a unit takes values of."""
        found: list[str] = [name for _, one in unit.inputs for name in one.names]
        inputs = {part for one, _ in unit.inputs for part in walk(one)}
        taken = self.program.taken(unit.node)
        if isinstance(unit.node, ast.If):
            inputs |= names_made_before(unit.node)
        for part in (*names_in(unit.node), *(p for node in taken for p in names_in(node))):
            if part not in inputs and isinstance(part.ctx, ast.Load):
                scope = self.names.scope_of_name[part]
                if self.names.defining_scope(part.id, scope) is self.home:
                    found.append(part.id)
        if isinstance(unit.node, (ast.AugAssign, ast.For)):
            before = {name for one in unit.after for name in given_by(one)}
            own = given_by(unit) - before  # those of a loop, each time
            found = [name for name in found if name not in own]
            found += sorted(given_by(unit) & before)
        for node in walk(unit.node) if self.program.captured else ():
            if node in self.program.captured:
                found += self.program.captures[self.program.captured[node]]
        return found

    # -- the order in a step ------------------------------------------------------

    def ordered(self, step: Step) -> list[Unit | Part] | None:
        """A step's own units and shared parts in an order that gives the author's values.

        None where there is no such order.
        """
        own = set(step.units)
        parts: list[Part] = []
        for part in self.parts:
            if set(part.units) <= own and not any(set(part.units) & set(p.units) for p in parts):
                parts.append(part)
        shared = {unit for part in parts for unit in part.units}
        items: list[Unit | Part] = [*parts, *(unit for unit in step.units if unit not in shared)]
        home: dict[Unit, Unit | Part] = {u: p for p in parts for u in p.units}
        done: list[Unit | Part] = []
        left = sorted(items, key=_place)
        while left:
            ready = next((item for item in left if self._is_ready(item, home, left)), None)
            if ready is None:
                return None
            left.remove(ready)
            done.append(ready)
        return done if self._keeps(step, done) else None

    def _is_ready(
        self, item: Unit | Part, home: dict[Unit, Unit | Part], left: Iterable[Unit | Part]
    ) -> bool:
        waiting = set(left) - {item}
        units = item.units if isinstance(item, Part) else (item,)
        return not any(home.get(b, b) in waiting for unit in units for b in unit.after)

    def _keeps(self, step: Step, order: Iterable[Unit | Part]) -> bool:
        """Whether each name has in this order, where it is read, the value that it had."""
        wanted: dict[tuple[Unit, str], Unit | None] = {}
        current: dict[str, Unit | None] = {}
        for unit in step.units:  # the author's order
            for name in self.reads(unit):
                wanted[unit, name] = current.get(name)
            for name in given_by(unit):
                current[name] = unit
        last = current
        now: dict[str, Unit | None] = {}
        for item in order:
            if isinstance(item, Unit):
                if any(wanted[item, name] is not now.get(name) for name in self.reads(item)):
                    return False
                for name in given_by(item):
                    now[name] = item
                continue
            local = {name: now.get(name) for name in item.takes}
            for unit in item.units:
                if any(wanted[unit, name] is not local.get(name) for name in self.reads(unit)):
                    return False
                for name in given_by(unit):
                    local[name] = unit
            for name in item.gives:
                now[name] = local[name]
        return all(now.get(name) is last.get(name) for name in self._given(step))

    def _computed(self, step: Step) -> list[Update]:
        return self.program.computed_in(step)

    def _given(self, step: Step) -> set[str]:
        """The names that a step returns, differentiates, or has as a learning rate."""
        computed = self._computed(step)
        read = (*step.values, *(u.loss for u in computed), *(u.rate for u in computed))
        given = {one.id for one in read if isinstance(one, ast.Name)}
        upstream = (one.upstream[0] for one in computed if one.upstream is not None)
        return given | {name.id for one in upstream for name in names_in(one)}


def _is_shared(unit: Unit) -> bool:
    if any(isinstance(one, ShownGradients) for one in (unit, *unit.after)):
        return False
    return unit.stage in (Stage.WHOLE, Stage.TOWER)


def _layers(unit: Unit) -> list[Variables]:
    return [v for v in unit.reads if v.collected is Collected.LAYER]


def _place(item: Unit | Part) -> int:
    return item.units[0].place if isinstance(item, Part) else item.place
