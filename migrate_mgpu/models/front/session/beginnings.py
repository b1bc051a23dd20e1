"""Variables that get first values once more, behind runs: which ones need them, and what they are.

A run of `tf.global_variables_initializer()`, in the same session or at the beginning of a new one.
TF1 computes each variable's first value again: what is constant is what it was, what is drawn are
the next numbers in the same session, and in a new one the same where it has a seed, else others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.graph import DRAWS
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import FIRST_VALUES
from migrate_mgpu.models.front.session.expressions import changes_in_place
from migrate_mgpu.models.front.session.program import Beginning, Role
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Collected, Run, Update, Variables, Variation

_CONSTANTS = ("constant", "zeros", "ones")
_AGAIN = (ast.For, ast.While)
_ADVICE = "build the graph anew, below tf.reset_default_graph()"


class BeginningReader(StatementReader):
    """Says of each run that begins variables anew what TF2 does in its place."""

    def finish(self) -> None:
        """Completes the program's beginnings.

        Raises:
            Refused: what some variables, or an optimizer, begin with again cannot be determined.
        """
        found = self.found.beginnings
        saved = {named.variables for one in self.found.savers for _, named in one.saved}
        before: list[Variables] = []
        for index, beginning in enumerate(found):
            if beginning.anew:
                self._check(beginning)
                again = [one for one in beginning.variables if one in before]
                for one in again:
                    until = next((b for b in found[index + 1 :] if one in b.variables), None)
                    needed = self._needed(self._behind(beginning, until)) | saved
                    if one in needed or any(item.whole is one for item in needed):
                        self._begin(one, beginning, found[:index])
                    else:
                        self._begin_unread(one, beginning, found[:index])
            before += beginning.variables
        for beginning in found:
            self.found.roles[beginning.place] = Role.RUN if beginning.acts else Role.GONE

    # -- what needs the values -----------------------------------------------------------

    def _is_behind(self, run: Run, beginning: Beginning) -> bool:
        """Whether a run comes behind a beginning; one of another function may come before too."""
        return position(run.call) > position(beginning.statement)

    def _behind(self, beginning: Beginning, until: Beginning | None = None) -> list[Run]:
        """The runs that may come behind a beginning, and before the next one."""
        home = self.runs.is_home
        return [
            run
            for run in self.found.runs
            if not home(run.call)
            or (
                self._is_behind(run, beginning)
                and not (until is not None and self._is_behind(run, until))
            )
        ]

    def _above(self, beginning: Beginning) -> list[Run]:
        home = self.runs.is_home
        return [
            run
            for run in self.found.runs
            if not home(run.call) or not self._is_behind(run, beginning)
        ]

    def _needed(self, runs: Sequence[Run]) -> set[Variables]:
        """The variables whose values some runs use, or change."""
        found: set[Variables] = set()
        for run in runs:
            for unit in run.step.units:
                found.update((*unit.reads, *unit.collects, *unit.assigns))
            for update in run.step.updates:
                found.update(update.variables)
                found.update(
                    one for one in (update.counts, update.rate_of) if isinstance(one, Variables)
                )
            for fetch in run.fetches:
                node = fetch.node
                meaning = self.runs.meaning(node)
                if isinstance(meaning, Variables):
                    found.add(meaning)
                elif fetch.variable and isinstance(node, ast.Subscript):
                    whole = self.runs.meaning(node.value)
                    found.update([whole] if isinstance(whole, Variables) else [])
        return found | {item for one in found for item in one.listed}

    def _changed(self, runs: Sequence[Run]) -> set[Variables]:
        """The variables that may have other values behind some runs."""
        found: set[Variables] = set()
        for run in runs:
            found.update(one for unit in run.step.units for one in unit.assigns)
            for update in run.step.updates:
                found.update(update.variables)
                found.update([] if update.counts is None else [update.counts])
        assigned = (self.runs.meaning(one.variable) for one in self.found.assignments)
        return found | {one for one in assigned if isinstance(one, Variables)}

    # -- what they are -------------------------------------------------------------------

    def _check(self, beginning: Beginning) -> None:
        """Refuses what a beginning has to do with besides variables."""
        found, statement = self.found, beginning.statement
        text = "variables are initialized again"
        if any(self.scope.entries[one.place].conditional for one in found.beginnings):
            raise Refused(self.module, statement, f"{text}, under a condition", _ADVICE)
        restored = any(one.kind != "save" for one in found.saver_calls)
        states = (state for one in found.savers for state in one.states)
        kept = (_keeps(one.update) or one.averages or one.counter for one in states)
        if restored or any(kept):
            raise Refused(self.module, statement, f"{text}, and some are saved", _ADVICE)
        if found.several or found.metrics or found.averagers:
            raise Refused(self.module, statement, f"{text}, with metrics or averages", _ADVICE)
        if beginning.session and (found.iterators or found.datasets):
            raise Refused(self.module, statement, f"{text}, and iterators with them", _ADVICE)
        units = (unit for run in self._behind(beginning) for unit in run.step.units)
        if beginning.session and any(unit.streams for unit in units):
            text = f"{text}, and streams of random numbers with them"
            raise Refused(self.module, statement, text, _ADVICE)
        behind = {update for run in self._behind(beginning) for update in run.step.updates}
        for run in self._above(beginning):
            for update in run.step.updates:
                if update.averages is not None or (update in behind and _keeps(update)):
                    text = "variables are initialized again, and what an optimizer keeps with them"
                    raise Refused(self.module, statement, text, "make another optimizer for it")

    def _begin(
        self, variables: Variables, beginning: Beginning, earlier: Sequence[Beginning]
    ) -> None:
        drawn = [*self._drawn(variables)]
        named = variables.collected is Collected.ONE and not variables.item_of
        plain = isinstance(variables.unit, ast.Assign) and len(variables.unit.targets) == 1
        if not named or not plain or variables.listed:
            text = "variables without names of their own are initialized again"
            raise Refused(self.module, beginning.statement, text, _ADVICE)
        seeded = any(self._is_seeded(module, call) for module, call in drawn)
        if not drawn or (seeded and beginning.session):
            if variables not in self._changed(self._above(beginning)):
                return
            first = next(one for one in earlier if variables in one.variables)
            if variables not in first.keeps:
                first.keeps.append(variables)
            beginning.returns.append(variables)
            return
        if seeded:
            text = f"`{variables.name}` is initialized again, by the next numbers of its seed"
            raise Refused(self.module, beginning.statement, text, _ADVICE)
        self._check_made_again(variables, beginning)
        beginning.draws.append(variables)

    def _begin_unread(
        self, variables: Variables, beginning: Beginning, earlier: Sequence[Beginning]
    ) -> None:
        """What no run reads any more is as TF1 leaves it in the end, where that can be had."""
        with suppress(Refused):
            self._begin(variables, beginning, earlier)

    def _drawn(self, variables: Variables) -> Iterator[tuple[Module, ast.Call]]:
        """The calls that draw what variables begin with; `get_variable` may do so itself."""
        for module, part in self._parts(variables):
            name = name_of(module, part)
            short = name.rpartition(".")[2]
            row = INITIALIZERS.by_name.get(name)
            known = row is not None and row.kind in _CONSTANTS
            if name in DRAWS or ((row or short.endswith("_initializer")) and not known):
                yield module, part
        for one in variables.made:
            if one.kind == "get_variable" and "initializer" not in one.arguments:
                assert isinstance(one.node, ast.Call)
                yield one.module, one.node

    def _parts(self, variables: Variables) -> Iterator[tuple[Module, ast.Call]]:
        """The calls that make variables, those of functions that are called for it included."""
        assert isinstance(variables.unit, ast.Assign)
        waiting: list[tuple[Module, ast.AST]] = [(self.module, variables.unit.value)]
        waiting += [(one.module, value) for one in variables.made for value in
                    one.arguments.values()]  # fmt: skip
        seen: set[ast.AST] = set()
        told: set[ast.AST] = set()
        while waiting:
            module, node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            for part in walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                    value = module.names.only_value(part)
                    waiting += [(module, value)] if value is not None else []
                if isinstance(part, ast.Call) and part not in told:
                    told.add(part)
                    yield module, part
                    target = self.graph.target(module, part.func)
                    waiting += [(target.module, target.node)] if target is not None else []

    def _is_settled(self, name: ast.Name, unit: ast.stmt) -> bool:
        """Whether all that gives a name of the scope a value stands above a statement of it."""
        if unit not in self.names.block(unit) or self.names.scope_at(unit) is not self.home:
            return False
        around = (one for one in self.names.ancestors(unit) if isinstance(one, _AGAIN))
        bound = self.names.bindings_of(name)
        own = self.names.defining_scope(name.id, self.names.scope_of_name[name]) is self.home
        return (
            own
            and next(around, None) is None
            and all(
                one.kind in ("assign", "other")
                and self.names.scope_at(one.node) is self.home
                and position(one.node) < position(unit)
                for one in bound
            )
        )

    def _is_seeded(self, module: Module, call: ast.Call) -> bool:
        name = name_of(module, call)
        row = INITIALIZERS.by_name.get(name)
        order = row.signature if row is not None else FIRST_VALUES.get(name, ("", ()))[1]
        told = "seed" in order and len(call.args) > order.index("seed")
        told = told or any(keyword.arg == "seed" for keyword in call.keywords)
        return told or any(
            use.symbol.name in ("set_random_seed", "random.set_random_seed")
            for one in self.graph.modules
            for use in one.uses
        )

    def _check_made_again(self, variables: Variables, beginning: Beginning) -> None:
        """What makes a variable makes a like one wherever it is called again.

        Raises:
            Refused: it may make another one.
        """
        assert isinstance(variables.unit, ast.Assign)
        value, names = variables.unit.value, self.names
        text = f"`{variables.name}` is initialized again, and what it begins with may have changed"
        for module, call in self._parts(variables):
            qualname = module.names.qualname(call.func) or ""
            plain = name_of(module, call) or self.graph.target(module, call.func) is not None
            if not plain and not qualname.startswith(("builtins.", "numpy.")):
                raise Refused(self.module, beginning.statement, text, _ADVICE)
            if qualname.startswith("numpy.random"):
                raise Refused(self.module, beginning.statement, text, _ADVICE)
        for name in (part for part in walk(value) if isinstance(part, ast.Name)):
            bound = names.bindings_of(name)
            if [one.kind for one in bound] == ["import"]:
                continue
            known = names.only_value(name)
            tensor = known is not None and any(name_of(self.module, p) for p in walk(known))
            made = (
                isinstance(known, ast.Call) and name_of(self.module, known) in INITIALIZERS.by_name
            )
            settled = len(bound) < 2 or self._is_settled(name, variables.unit)
            if not settled or changes_in_place(self.module, name) or (tensor and not made):
                raise Refused(self.module, beginning.statement, text, _ADVICE)


def _keeps(update: Update) -> bool:
    """Whether an optimizer has more than the variables when it has trained once."""
    arms = update.optimizer.arms
    fixed = all(one.learning_rate.variation is Variation.CONSTANT for one in arms)
    return update.optimizer.kinds != {"gradient_descent"} or not (fixed or update.rate is not None)
