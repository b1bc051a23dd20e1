"""The statements of a loop that builds towers, and what is made of its lists behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.network.reuse import ReuseReader
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    Differentiated,
    Gradients,
    Host,
    Meaning,
    Role,
    SessionProgram,
    closure,
)
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.front.towers.gradient_averages import read_average, read_sum
from migrate_mgpu.models.front.towers.loop import device_function, is_text, one_each, shares
from migrate_mgpu.models.front.towers.variable_names import counted, reuses
from migrate_mgpu.models.ir import (
    ClippedBy,
    Collected,
    Combined,
    Gathered,
    NamedUnit,
    Placeholder,
    Stage,
    TowerInput,
    Towers,
    Unit,
    Variables,
)

_SAME = "build all towers in the same way"
_OF_TEXTS = frozenset({"lower", "replace", "rsplit", "split", "strip", "upper"})


class TowerReader:
    """Reads what only a program of towers has, by what the names of the scope stand for."""

    def __init__(
        self,
        found: SessionProgram,
        graph: CallGraph,
        meanings: dict[str, Meaning],
        unit: Callable[..., Unit],
        gradients: Callable[[ast.expr], Gradients | None],
        reuse: ReuseReader,
        beside: AbstractSet[Module] = frozenset(),
    ) -> None:
        """``unit`` reads what is computed, ``gradients`` what gives gradients.

        ``beside`` are the program's other modules.
        """
        self.beside = beside
        self.found = found
        self.gradients = gradients
        self.reuse = reuse
        self.scope = found.scope
        self.module = found.scope.module
        self.names = self.module.names
        self.graph = graph
        self.meanings = meanings
        self.unit = unit
        self.towers: Towers | None = found.scope.towers
        self.home = self.names.scopes[self.scope.node]
        self.lists = dict(self._lists())  # by name, the statement that makes each
        self.known: set[str] = set()  # names that the loop has given a value as it is read
        self.numbers: set[str] = set()  # of those, what is no part of the graph
        self.labels: set[str] = set()  # of those, texts that name a tower
        self._parts: dict[str, TowerInput] = {}  # those without a name of the author's

    def _lists(self) -> Iterator[tuple[str, ast.stmt]]:
        """The lists that the loop fills, each made above it."""
        filled = {
            name
            for entry in self.scope.entries
            if entry.towers is not None and not entry.opens
            for name in [_appended(entry.statement)[0]]
            if name
        }
        for entry in self.scope.entries:
            statement = entry.statement
            if entry.towers is None and isinstance(statement, ast.Assign):
                for name in _empty(statement) or ():
                    if name in filled:
                        yield name, statement

    # -- which statements -----------------------------------------------------------

    def begins(self, statement: ast.stmt) -> bool:
        """Whether a statement makes lists that the loop fills, and nothing else."""
        if not isinstance(statement, ast.Assign):
            return False
        names = _empty(statement)
        return bool(names) and all(self.lists.get(name) is statement for name in names or ())

    def loop(self, place: int) -> None:
        """The header of the loop: its names."""
        assert self.towers is not None
        if not one_each(self.module, self.towers):
            text = "two towers may share a device; two replicas cannot"
            raise Refused(self.module, self.towers.device, text)
        self.found.count = self._count
        call = self.names.parents.get(self.towers.device)
        if isinstance(call, ast.Call):
            function = device_function(self.module, call.func, self.graph)
            if function is not None:
                self.found.helpers[function[0].node] = function[0]
        for name, sequence in self.towers.items:
            mentioned = [n.id for n in walk(sequence) if isinstance(n, ast.Name)]
            if not any(isinstance(self.meanings.get(one), GRAPH) for one in mentioned):
                continue
            made = self._input(self.unit(sequence, place), (name,), item=True)
            self.meanings[name] = made
            self.known.add(name)

    def read(self, entry: Entry, place: int) -> Role | None:
        """What a statement of the loop is; None for what is read as it is elsewhere.

        Raises:
            Refused: the towers are not built alike, or it is no part of them.
        """
        statement = entry.statement
        if shares(self.module, statement) or isinstance(statement, ast.Pass):
            return Role.GONE
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return Role.GONE
        name, value = _appended(statement)
        if name:
            assert value is not None
            self._append(name, value, entry, place)
            return Role.GONE
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            targets = _names_of(statement.targets[0])
            if targets and self._is_label(statement.value):
                self.labels.update(targets)
                self.meanings.update({one: Host() for one in targets})
                return Role.GONE
            if targets and self._is_whole_input(statement.value):
                if not self._is_of_graph(statement.value) and not self._is_drawn(statement):
                    self.numbers.update(targets)
                made = self._input(self.unit(statement, place), targets)
                self.found.units[place] = made
                self.meanings.update(dict.fromkeys(targets, made))
                self.known.update(targets)
                return Role.UNIT
        return None

    def draws(self, entry: Entry, place: int) -> None:
        """A statement by which each tower takes the next element of an iterator.

        Raises:
            Refused: it is kept in something that has no name, or only the first tower does.
        """
        statement = entry.statement
        assert isinstance(statement, ast.Assign)
        names = _names_of(statement.targets[0]) if len(statement.targets) == 1 else ()
        if not names or entry.first:
            text = "what a tower draws from an iterator has no name, or only the first draws"
            raise Refused(self.module, statement, text, "give it names in each tower")
        made = self._input(self.unit(statement, place), names, drawn=True)
        self.found.units[place] = made
        self.meanings.update(dict.fromkeys(names, made))
        self.known.update(names)

    def _is_of_graph(self, value: ast.expr) -> bool:
        """Whether a value has parts of the graph, or calls of TensorFlow's."""
        return any(
            isinstance(self.meanings.get(part.id), GRAPH) and part.id not in self.numbers
            if isinstance(part, ast.Name)
            else isinstance(part, ast.Call) and bool(name_of(self.module, part))
            for part in walk(value)
        )

    def _is_drawn(self, statement: ast.Assign) -> bool:
        """Whether a tower takes its item of what Python's own code drew for all of them.

        `x, y = batches[i]`, where `batches = [data.next_batch(8) for _ in range(n)]` stands above:
        it computes with them, where other items tell which part of a batch it takes.
        """
        value, towers = statement.value, self.towers
        if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
            return False
        if towers is None or not isinstance(value.slice, ast.Name):
            return False
        made = self.names.only_value(value.value)
        drawn = isinstance(made, ast.ListComp) and isinstance(made.elt, ast.Call)
        return drawn and value.slice.id == towers.index

    def _is_label(self, value: ast.expr) -> bool:
        """A text that names a tower, or a part of one."""
        if isinstance(value, ast.Subscript):
            return constant(value.slice) is not None and self._is_part_of_label(value.value)
        if self._is_part_of_label(value):
            return True
        return is_text(self.module, value) and not isinstance(value, ast.Constant)

    def _is_part_of_label(self, value: ast.expr) -> bool:
        """`label.split('_')`, or another text that Python makes of a label alone."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return False
        if value.keywords or any(not isinstance(constant(one), (str, int)) for one in value.args):
            return False
        whole = value.func.value
        named = isinstance(whole, ast.Name) and whole.id in self.labels
        return named and value.func.attr in _OF_TEXTS

    # -- what each tower takes ----------------------------------------------------------

    def _of_loop(self, node: ast.AST) -> list[ast.Name]:
        """The mentions of names that differ in each tower, and are no part of the graph."""
        if self.towers is None:
            return []
        own, reuse = self.towers.names, self.reuse.nodes(self.module)
        return [
            part
            for part in walk(node)
            if isinstance(part, ast.Name)
            and part not in reuse
            and (
                part.id in self.numbers
                or (part.id in own and not isinstance(self.meanings.get(part.id), GRAPH))
            )
        ]

    def _is_whole_input(self, value: ast.expr) -> bool:
        """Whether a value differs in each tower by what it takes of a batch alone."""
        if not self._of_loop(value):
            return False
        taken = list(self._taken(value))
        if value in taken or not taken:
            names = [n for n in walk(value) if isinstance(n, ast.Name)]
            return not any(
                isinstance(meaning := self.meanings.get(name.id), Variables)
                or (isinstance(meaning, Unit) and meaning.stage not in (Stage.WHOLE, Stage.INPUT))
                for name in names
            )
        return False

    def _taken(self, value: ast.AST) -> Iterator[ast.Subscript | ast.Call]:
        """`X[i * b:(i + 1) * b]` in an expression, or `tf.slice(X, [i * b], [b])`."""
        for part in walk(value):
            if not isinstance(part, (ast.Subscript, ast.Call)):
                continue
            root = part.value if isinstance(part, ast.Subscript) else self._sliced(part)
            if root is None or not self._of_loop(part):
                continue
            if isinstance(root, ast.Name) and isinstance(self.meanings.get(root.id), GRAPH):
                yield part

    def inputs(
        self, entry: Entry, value: ast.AST, place: int
    ) -> tuple[tuple[ast.expr, TowerInput], ...]:
        """The parts of an expression that each tower takes of its own.

        Raises:
            Refused: the towers differ in something else.
        """
        if entry.towers is None:
            return ()
        parts = list(self._taken(value))
        left = [
            name for name in self._of_loop(value) if not any(name in walk(part) for part in parts)
        ]
        for name in (*left, *self._read_labels(value)):
            text = f"`{name.id}` differs from tower to tower"
            raise Refused(self.module, name, text, _SAME)
        return tuple((part, self._part(part, place)) for part in parts)

    def _read_labels(self, value: ast.AST) -> Iterator[ast.Name]:
        """What computes with the name of a tower, and does not only tell an operation by it."""
        for part in walk(value):
            if isinstance(part, ast.Name) and part.id in self.labels:
                above = self.names.ancestors(part)
                told = (one for one in above if isinstance(one, ast.keyword))
                if not any(one.arg in ("name", "scope") for one in told):
                    yield part

    def _part(self, node: ast.Subscript | ast.Call, place: int) -> TowerInput:
        """One such part, once, with a name that nothing else has."""
        text = ast.unparse(node)
        if text not in self._parts:
            whole = node.value if isinstance(node, ast.Subscript) else self._sliced(node)
            root = whole.id if isinstance(whole, ast.Name) else "batch"
            short = root[:-1] if root.endswith("s") and len(root) > 2 else f"{root}_part"
            wanted = [self._parameter(node), short, f"{root}_part", f"{root}_of_tower"]
            taken = {name for one in self._parts.values() for name in one.names}
            free = [name for name in wanted if name and name not in taken]
            name = self.names.fresh(self.home, *free)
            self._parts[text] = self._input(self.unit(node, place), (name,))
        return self._parts[text]

    def _parameter(self, node: ast.expr) -> str:
        """What a function of the author's calls its argument."""
        call = self.names.parents.get(node)
        if isinstance(call, ast.keyword):
            return call.arg or ""
        if not isinstance(call, ast.Call) or node not in call.args:
            return ""
        target = self.graph.target(self.module, call.func)
        if target is None:
            return ""
        parameters, index = target.parameters(), call.args.index(node)
        return parameters[index] if index < len(parameters) else ""

    def _input(
        self, unit: Unit, names: tuple[str, ...], item: bool = False, drawn: bool = False
    ) -> TowerInput:
        return TowerInput(
            unit.node,
            unit.place,
            unit.after,
            unit.feeds,
            unit.reads,
            unit.sparse,
            Stage.INPUT,
            names=names,
            item=item,
            rows=self._is_rows(unit.node, item),
            drawn=drawn,
            parts=self._number_of_parts(unit.node, item),
        )

    # -- units ----------------------------------------------------------------------------

    def _is_rows(self, node: ast.AST, item: bool) -> bool:
        """Whether a part is an item of a `tf.split`, or a slice of rows."""
        value = node.value if isinstance(node, ast.Assign) else node
        whole = self._sliced(value)
        if whole is not None:
            meaning = self.meanings.get(whole.id) if isinstance(whole, ast.Name) else None
            drawn = isinstance(meaning, Unit) and meaning.node in self.found.drawn
            return drawn or isinstance(meaning, Placeholder)
        if isinstance(value, ast.Subscript):
            value, item = value.value, True
        return item and (self._is_listed(value) or self.split_of(value) is not None)

    def _number_of_parts(self, node: ast.AST, item: bool) -> ast.expr | None:
        """How many there are of the equal parts, by `tf.split`, of which it is one."""
        value = node.value if isinstance(node, ast.Assign) else node
        if isinstance(value, ast.Subscript):
            value, item = value.value, True
        split = self.split_of(value) if item else None
        count = self._split_arguments(split).get("num_or_size_splits") if split else None
        return count if count is not None and self._is_number(count) else None

    def _is_listed(self, node: ast.AST) -> bool:
        """Whether a sequence is a list of placeholders, one for each tower."""
        meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        return isinstance(meaning, Placeholder) and meaning.count is not None

    def _sliced(self, node: ast.AST) -> ast.expr | None:
        """What `x[a:b]`, `x[a:b, :]` or `tf.slice(x, [a, 0], [n, -1])` takes rows of."""
        if isinstance(node, ast.Subscript):
            first, *rest = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            whole = all(isinstance(one, ast.Slice) and ast.unparse(one) == ":" for one in rest)
            return node.value if isinstance(first, ast.Slice) and whole else None
        if not isinstance(node, ast.Call) or name_of(self.module, node) != "slice":
            return None
        given = by_parameter(node, ("input_", "begin", "size", "name"))
        begin, size = _constants(given.get("begin")), _constants(given.get("size"))
        if not begin or len(begin) != len(size) or {*begin[1:]} - {0} or {*size[1:]} - {-1}:
            return None
        return given.get("input_")

    def split_of(self, node: ast.AST) -> ast.Call | None:
        """The `tf.split` along the rows that a sequence is."""
        if isinstance(node, ast.Name):
            unit = self.meanings.get(node.id)
            if not isinstance(unit, Unit) or not isinstance(unit.node, ast.Assign):
                return None
            target, value = unit.node.targets[0], unit.node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                names = _names_of(target)
                value = value.elts[names.index(node.id)] if node.id in names else value
            node = value
        if not isinstance(node, ast.Call) or name_of(self.module, node) != "split":
            return None
        axis = self._split_arguments(node).get("axis")
        return node if axis is None or constant(axis) == 0 else None

    @staticmethod
    def _split_arguments(call: ast.Call) -> dict[str, ast.expr]:
        return by_parameter(call, ("value", "num_or_size_splits", "axis", "num", "name"))

    def stage(self, entry: Entry, unit: Unit) -> Unit:
        """A unit, with when it is computed.

        Raises:
            Refused: it takes what another tower, or none, has.
        """
        if self.towers is None:
            return unit
        stages = {one.stage for one in unit.after}
        if entry.towers is None:
            combined = bool(stages & {Stage.TOWER, Stage.COMBINED})
            told = isinstance(unit.node, ast.Assign) and unit.node.value in self.found.merges
            if Stage.INPUT in stages and not told:  # but by summaries
                text = "what one of the towers takes is used outside of them"
                raise Refused(self.module, unit.node, text)
            return replaced(unit, stage=Stage.COMBINED) if combined else unit
        for one in closure(unit.after):
            if one.stage is Stage.WHOLE and any(v.trainable for v in one.reads):
                text = "it uses a value that is computed from variables before the towers"
                raise Refused(self.module, unit.node, text, "compute that in each tower")
        if any(v.collected is Collected.LAYER for v in unit.reads):
            self._check_shared(unit.node)
        if Stage.COMBINED in stages:
            text = "it uses results of earlier towers"
            raise Refused(self.module, unit.node, text, _SAME)
        if any(one.first and not entry.first for one in unit.after):
            text = "it uses what only the first tower has"
            raise Refused(self.module, unit.node, text, _SAME)
        return replaced(unit, stage=Stage.TOWER, first=entry.first)

    def own(self, node: ast.AST) -> None:
        """Something that the loop makes once for all towers.

        Raises:
            Refused: each tower has one of its own.
        """
        self.alike(node)
        self._check_shared(node)

    def _check_shared(self, node: ast.AST) -> None:
        if not self._shares:
            text = "each tower has its own variables: nothing shares them"
            raise Refused(self.module, node, text, "tf.get_variable_scope().reuse_variables()")
        assert self.towers is not None
        loop = self.towers.loop
        for block in (one for one in self.names.ancestors(node) if isinstance(one, ast.With)):
            calls = (item.context_expr for item in block.items)
            given = [k.value for c in calls if isinstance(c, ast.Call) for k in c.keywords]
            if any(is_inside(self.module, k, {loop}) and constant(k) is True for k in given):
                text = "the variables of the towers are made before them"
                raise Refused(self.module, node, text, "make them in the first tower")
        if reuses(self.module, loop):
            return
        other = counted(self.module, node, loop, lambda m, c: self.graph.target(m, c.func))
        if other is not None:
            text = "each tower has its own variables: these have no name by which they are shared"
            raise Refused(self.module, other, text, "give each layer a name")

    def alike(self, node: ast.AST) -> None:
        """Something that mentions nothing that differs in each tower.

        Raises:
            Refused: it does.
        """
        for name in self._of_loop(node):
            text = f"`{name.id}` differs from tower to tower"
            raise Refused(self.module, name, text, _SAME)

    @cached_property
    def _shares(self) -> bool:
        """Whether something says that variables are those that there are already.

        Without it a second `tf.get_variable` of a name is an error in TF1, but layers without
        a name are others in each tower.
        """
        return any(
            (isinstance(call.func, ast.Attribute) and call.func.attr == "reuse_variables")
            or any(keyword.arg == "reuse" for keyword in call.keywords)
            for call in self.names.calls
        )

    def carried(self, name: ast.Name, entry: Entry) -> None:
        """A name that has a value from above the loop, or from the tower before.

        Raises:
            Refused: it is such a name.
        """
        if entry.towers is None or name.id in self.known:
            return
        if name in self.reuse.nodes(self.module):
            return
        if self.names.defining_scope(name.id, self.names.scope_of_name[name]) is not self.home:
            return
        if name.id in self._stored:
            text = f"`{name.id}` has a different value in the first tower than in the others"
            raise Refused(self.module, name, text, _SAME)

    @property
    def _stored(self) -> set[str]:
        return {
            name.id
            for entry in self.scope.entries
            if entry.towers is not None and not entry.opens
            for name in walk(entry.statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }

    # -- lists ------------------------------------------------------------------------------

    def _append(self, name: str, value: ast.expr, entry: Entry, place: int) -> None:
        if name not in self.lists:
            text = f"`{name}`, which the towers fill, is made in another way"
            raise Refused(self.module, entry.statement, text)
        if name in self.known or entry.first:
            text = f"the towers put more than one value into `{name}`"
            raise Refused(self.module, entry.statement, text)
        self.known.add(name)
        gradients = self.gradients(value)
        if gradients is not None:
            if gradients.listed:
                raise Refused(self.module, value, "a list of gradients in a list of them")
            self.meanings[name] = replaced(gradients, listed=True)
            return
        unit = self.meanings.get(value.id) if isinstance(value, ast.Name) else None
        if not isinstance(value, ast.Name) and not isinstance(value, ast.Starred):
            unit = self._named(name, value, place)
            value = ast.Name(unit.name, ast.Load())
        if not isinstance(value, ast.Name) or not isinstance(unit, Unit):
            text = f"what the towers put into `{name}` has no name"
            raise Refused(self.module, value, text, "give it a name before")
        if unit.stage is not Stage.TOWER:
            text = f"`{name}` has parts of a batch, and not what the towers make of them"
            raise Refused(self.module, value, text)
        self.meanings[name] = Gathered(
            entry.statement, place, (unit,), stage=Stage.COMBINED, name=name, value=value
        )

    def _named(self, name: str, value: ast.expr, place: int) -> NamedUnit:
        """What the towers put into a list without a name, with one.

        Raises:
            Refused: it makes layers.
        """
        unit = self.unit(value, place, of_tower=True)
        short = name[:-2] if name.endswith("sses") else name.removesuffix("s")
        chosen = self.names.fresh(self.home, *dict.fromkeys([short, f"tower_{short}", "value"]))
        made = NamedUnit(
            value,
            place,
            unit.after,
            unit.feeds,
            unit.reads,
            unit.sparse,
            unit.stage,
            unit.inputs,
            unit.first,
            name=chosen,
        )
        self.found.units[place] = made
        self.known.add(chosen)
        self.meanings[chosen] = made
        return made

    def combined(self, call: ast.Call) -> Gradients | None:
        """`average_gradients(tower_grads)`: None where it is another call.

        Raises:
            Refused: what it makes of the gradients cannot be determined.
        """
        if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Name):
            return None
        given = self.meanings.get(call.args[0].id)
        if not isinstance(given, Gradients) or not given.listed:
            return None
        target = self.graph.target(self.module, call.func)
        if target is None or target.module not in {self.module, *self.beside}:
            text = "what happens to the gradients of all towers cannot be analyzed"
            raise Refused(self.module, call, text)
        if any(one.by in (ClippedBy.CHANGE, ClippedBy.NOTHING) for one in given.clips):
            text = "each tower's gradients are changed, or measured, before they are averaged"
            raise Refused(self.module, call, text, "change their average")
        combined = read_average(target, self._number)
        self.found.helpers[target.node] = target
        return replaced(given, listed=False, combined=combined, tower_clips=given.clips, clips=())

    def differentiated(self, node: ast.expr, unit: Unit) -> Differentiated:
        """What is differentiated in each tower, where one loss is made of those of all.

        Raises:
            Refused: it is not the sum or the mean of theirs.
        """
        if unit.stage is not Stage.COMBINED:
            return Differentiated(node, unit)
        made = [one for one in closure([unit]) if one.stage is Stage.COMBINED]
        lists = [one for one in made if isinstance(one, Gathered)]
        names: dict[str, ast.expr | None] = {}
        own: ast.expr | None = None
        for one in made:
            if isinstance(one, Gathered):
                names[one.name] = None
            elif isinstance(one.node, ast.Assign):
                (name, *more) = _names_of(one.node.targets[0]) or ("",)
                own = None if more or name in names else one.node.value
                names[name] = own
            else:
                own = one.node if isinstance(one.node, ast.expr) else None
            if own is None and not isinstance(one, Gathered):
                break
        found = read_sum(self.module, own, names, self._number) if own is not None else None
        loss = lists[0].value if len(lists) == 1 else None
        if found is None or not isinstance(loss, ast.Name):
            text = "what is minimized is not the sum or the mean of the towers' losses"
            raise Refused(self.module, node, text, "average the losses of the towers")
        combined, behind, of_values = found
        (made_in,) = lists[0].after
        if behind and not self._is_even(made_in):
            text = "the towers may have different numbers of rows, of which one mean is made"
            raise Refused(self.module, node, text, "split the batch by tf.split")
        mean = of_values and not self._is_number_of_tower(made_in)
        return Differentiated(loss, made_in, combined, mean)

    def _is_even(self, unit: Unit) -> bool:
        """Whether all towers have as many rows: what they take are items of `tf.split`."""
        inputs = [one for one in closure([unit]) if isinstance(one, TowerInput)]
        for one in inputs:
            value = one.node.value if isinstance(one.node, ast.Assign) else one.node
            sequence = value.value if isinstance(value, ast.Subscript) and not one.item else value
            if self.split_of(sequence) is None:
                return False
        return bool(inputs)

    def _is_number_of_tower(self, unit: Unit) -> bool:
        """Whether a loss is seen to have one value."""
        value = unit.node.value if isinstance(unit.node, ast.Assign) else None
        if not isinstance(value, ast.Call):
            return False
        name = name_of(self.module, value)
        if name.startswith("losses."):
            return not any(keyword.arg == "reduction" for keyword in value.keywords)
        given = {*by_parameter(value, ("input_tensor", "axis"))}
        return name in ("reduce_mean", "reduce_sum") and given <= {"input_tensor", "name"}

    def is_named_behind(self, gradients: Gradients, unit: Unit) -> bool:
        """Whether the name of each tower's loss is behind the loop what is made of all."""
        if self.towers is None or unit.stage is not Stage.COMBINED:
            return False
        bindings = self.names.bindings_of(gradients.loss)
        inside = [one for one in bindings if is_inside(self.module, one.node, {self.towers.loop})]
        return gradients.unit.stage is Stage.TOWER and len(inside) == 1

    def check_update(
        self, call: ast.Call, unit: Unit, combined: Combined | None, entry: Entry
    ) -> None:
        """A step applies what is made of the gradients of all towers, once.

        Raises:
            Refused: it does something else.
        """
        if entry.towers is not None:
            text = "each tower updates the variables by itself: the updates are not synchronous"
            raise Refused(self.module, call, text, "apply the mean of all gradients")
        if self.towers is None:
            return
        if unit.stage is not Stage.TOWER or unit.first or combined is None:
            text = "what is minimized is not the loss of each tower"
            raise Refused(self.module, call, text, "average the gradients of the towers")

    @property
    def _count(self) -> ast.expr | None:
        """How many towers there are: their loop, a `tf.split` or a list of placeholders tells."""
        if self.towers is None:
            return None
        over = self.towers.loop.iter
        if self.towers.index and not self.towers.items:
            return over.args[0] if isinstance(over, ast.Call) and len(over.args) == 1 else None
        sequences = [sequence for _, sequence in self.towers.items]
        splits = [self.split_of(sequence) for sequence in sequences]
        counts = [self._split_arguments(one).get("num_or_size_splits") for one in splits if one]
        fed = [self.meanings.get(one.id) for one in sequences if isinstance(one, ast.Name)]
        counts += [one.count for one in fed if isinstance(one, Placeholder)]
        return next((one for one in counts if one is not None and self._is_number(one)), None)

    @property
    def _number(self) -> ast.expr | None:
        """As ``_count``, or the length of what the loop goes through: `len(gpus)`."""
        if self._count is not None or self.towers is None:
            return self._count
        named = [one for _, one in self.towers.items if isinstance(one, ast.Name)]
        length = ast.Name("len", ast.Load())
        return ast.Call(length, [named[0]], []) if named else None

    def _is_number(self, node: ast.expr) -> bool:
        """Whether an argument of `tf.split` is how many, and not a list of sizes."""
        if isinstance(node, ast.Name):
            bindings = self.names.bindings_of(node)
            return all(not isinstance(one.value, (ast.List, ast.Tuple)) for one in bindings)
        return not isinstance(node, (ast.List, ast.Tuple))


def _appended(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """`tower_grads.append(grads)`"""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "append" and len(call.args) == 1:
            if isinstance(func.value, ast.Name):
                return func.value.id, call.args[0]
    return "", None


def _empty(statement: ast.Assign) -> tuple[str, ...] | None:
    """`tower_grads = []`, or several such lists at once."""
    if len(statement.targets) != 1:
        return None
    names = _names_of(statement.targets[0])
    values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    empty = all(isinstance(value, ast.List) and not value.elts for value in values)
    return names if empty and len(names) == len(values) else None


def _names_of(target: ast.expr) -> tuple[str, ...]:
    """The names that a target is; none where it is something else."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return tuple(names) if len(names) == len(parts) else ()


def _constants(node: ast.expr | None) -> list[object]:
    """The items of a list, None for those that are computed."""
    return [constant(one) for one in node.elts] if isinstance(node, (ast.List, ast.Tuple)) else []
