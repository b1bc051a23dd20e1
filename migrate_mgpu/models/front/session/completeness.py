"""Whether all of a program is accounted for: each mention of TensorFlow, each value taken."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from functools import cached_property

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, Use
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Binding, Scope, line_of, position, walk
from migrate_mgpu.analysis.symbols import has_alike
from migrate_mgpu.api.graph import COMPUTES, DEVICE_OPTIONS, OF_ONE_TENSOR, SAME, SETTINGS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.data_functions import is_thrown_away, only_makes_data
from migrate_mgpu.models.front.session.expressions import changes_in_place, mutation, shuffled
from migrate_mgpu.models.front.session.kept_functions import given_functions
from migrate_mgpu.models.front.session.origins import Whole, class_of
from migrate_mgpu.models.front.session.program import Role, closure, only_computes
from migrate_mgpu.models.front.session.random_streams import GRAPH_SEEDS
from migrate_mgpu.models.front.session.scope import constructor_of, header_of
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.units import UnitReader, unique, value_of
from migrate_mgpu.models.ir import Gathered, ShownGradients, Stage, Unit

_BEFORE_SEED = 4  # arguments of what draws: shape, two of the distribution, type


class CompletenessCheck(StatementReader):
    """Checks a program that is read to its end."""

    def __init__(self, state: Reading, units: UnitReader) -> None:
        super().__init__(state)
        self.units = units

    def check_mentions(self) -> None:
        """Every mention of TensorFlow is one that this reader knows."""
        known: set[ast.AST] = {o.node for o in self.found.made}
        for entry, role in zip(self.scope.entries, self.found.roles):
            if role in (
                Role.PLACEHOLDER,
                Role.VARIABLES,
                Role.CELLS,
                Role.OPTIMIZER,
                Role.SCHEDULE,
                Role.UPDATE,
                Role.UNIT,
                Role.HOST_OBJECT,
                Role.COMPUTED,
            ) or (role is Role.GONE and not entry.opens):
                known.add(entry.statement)
        known |= self.state.configs
        known |= {part for block in self.scope.blocks for part in header_of(block)}
        known |= {*self.found.builders, *self.found.makers, *self.found.helpers}
        known |= self.expressions.functions | self.expressions.kept | self._given_activations()
        known |= {run.call for run in self.found.runs} | self.runs.gone
        known |= {*self.found.dropped}
        known |= {one.statement for one in self.found.savers}
        known |= {one.statement for one in self.found.event_writers}
        known |= self.found.graphs | {one.call for one in self.found.assignments}
        known |= {*self.found.checkpoint_queries, *self.found.handed}
        for client in self.found.clients:
            known |= {part for block in client.blocks for part in header_of(block)}
            pairs = zip(client.entries, client.roles)
            gone = (Role.GONE, Role.COMPUTED)
            known |= {e.statement for e, role in pairs if role in gone and not e.opens}
        for use in self.module.uses:
            if use.node in self.state.theirs:
                continue
            if isinstance(use.node, (ast.Import, ast.ImportFrom)) or is_inside(
                self.module, use.node, known
            ):
                continue
            if self._is_named_function(use) or _is_named_alike(self.module, use):
                continue
            if use.symbol.name.startswith(SETTINGS) or not use.symbol.name or self._option(use):
                if not use.symbol.name.startswith(SAME):
                    self.found.settings.append(use.node)
                continue
            shown = self.module.source.code(use.node)
            raise Refused(self.module, use.node, f"`{shown}` is not supported in a native program")
        self._beside(known)
        functions = (self.found.builders, self.found.makers, self.found.helpers)
        for function in (one for some in functions for one in some.values()):
            for reference in self.graph.references(function):
                if is_thrown_away(reference) and only_makes_data(function):
                    continue
                if not is_inside(reference.module, reference.node, known):
                    text = f"`{function.name}` is used outside of the graph as well"
                    raise Refused(reference.module, reference.node, text)
        run = {unit for step in self.found.steps for unit in step.units}
        run.update(closure(self.found.sizes))
        ran = {unit.node for unit in run}
        told = {
            summary.statement
            for merge in self.found.merges.values()
            if merge.statement in ran
            for summary in merge.summaries
        }
        idle = (unit.node for unit in self.found.units.values() if unit not in run)
        self.found.idle += (one for one in idle if one not in told and not _asks_for_size(one))
        if self.state.shared is not None:
            return  # some program trains it
        if any(run.step.updates for run in self.found.runs):
            return
        runs = self.found.runs or self.found.saver_calls
        if not runs and not self.state.others:
            raise Refused(self.module, self.scope.session, "nothing runs in its session")
        if not self.state.others:
            self._check_first_values()
        self._leave_training_out()

    def _check_first_values(self) -> None:
        """What a program that trains nothing computes is no number of a seed.

        In TF1 each operation with a seed begins anew, and the seed of a graph counts its
        operations: TF2 draws others, from which a program that trains comes to alike results.

        Raises:
            Refused: a seed is set, and no checkpoint takes the place of what it gives.
        """
        if any(one.kind == "restore" for one in self.found.saver_calls):
            return
        for module in (self.module, *sorted(self.state.beside, key=lambda one: one.path)):
            for call in (one for one in module.names.calls if name_of(module, one)):
                given = (one.value for one in call.keywords if one.arg == "seed")
                many = len(call.args) > _BEFORE_SEED and "random" in name_of(module, call)
                seeded = many or any(not is_none(one) for one in given)
                if seeded or name_of(module, call) in GRAPH_SEEDS:
                    text = "what it computes depends on a seed, for which TF2 draws other numbers"
                    raise Refused(module, call, text)

    def _leave_training_out(self) -> None:
        """What would train, where nothing runs it: a graph that is built to be evaluated.

        Raises:
            Refused: a checkpoint is saved that has what an optimizer keeps.
        """
        for call in self.found.saver_calls:
            if call.kind == "save" and call.saver.states:
                text = "it saves what an optimizer keeps that nothing runs"
                raise Refused(self.module, call.call, text, "save the variables alone")
        self.found.savers[:] = [replaced(one, states=()) for one in self.found.savers]
        self.found.idle += (update.statement for update in self.found.updates)
        self.found.updates.clear()
        for place, role in enumerate(self.found.roles):
            if role in (Role.OPTIMIZER, Role.SCHEDULE, Role.UPDATE):
                self.found.roles[place] = Role.GONE

    def _given_activations(self) -> set[ast.AST]:
        """The functions that a parameter is which layers and cells are given as theirs."""
        return {
            given
            for part in walk(self.scope.node)
            if isinstance(part, ast.keyword)
            and part.arg in ("activation", "activation_fn")
            and isinstance(part.value, ast.Name)
            for given in given_functions(self.module, part.value, self.graph)
        }

    def _is_named_function(self, use: Use) -> bool:
        """`activation = tf.nn.tanh`, whose name is only called, with one tensor."""
        if use.symbol.name not in OF_ONE_TENSOR:
            return False
        names, statement = self.names, self.names.parents.get(use.node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return False
        target = statement.targets[0]
        home = names.scope_of_name.get(target) if isinstance(target, ast.Name) else None
        if not isinstance(target, ast.Name) or home is None or len(home.bindings[target.id]) > 1:
            return False
        for mention in names.mentions(target.id, home):
            call = names.parents.get(mention)
            if mention is target:
                continue
            if not isinstance(call, ast.Call) or call.func is not mention:
                return False
            if len(call.args) != 1 or isinstance(call.args[0], ast.Starred) or call.keywords:
                return False
        imported = any(self.module in one.imported for one in self.graph.modules)
        return not imported

    def _option(self, use: Use) -> bool:
        """Whether it sets options of devices, before the graph is built."""
        if is_inside(self.module, use.node, set(self.found.options)):
            return True
        inside = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
        return (
            use.symbol.name.startswith(DEVICE_OPTIONS)
            and isinstance(self.scope.node, ast.FunctionDef)
            and line_of(use.node) < line_of(self.scope.node)
            and not any(isinstance(one, inside) for one in self.names.ancestors(use.node))
        )

    def _beside(self, known: AbstractSet[ast.AST]) -> None:
        """Modules beside the program's main one do nothing with the graph but build it."""
        for module in self.state.beside:
            looked_into = self._uncalled(module) & self.expressions.functions
            for use in module.uses:
                imported = isinstance(use.node, (ast.Import, ast.ImportFrom))
                if imported or not use.symbol.name or use.symbol.name.startswith(SETTINGS):
                    continue
                if _is_named_alike(module, use):
                    continue
                read = is_inside(module, use.node, known)
                layer = use.symbol.name in LAYERS.by_name
                if not read or (layer and is_inside(module, use.node, looked_into)):
                    self.found.unread.append((module, use.node))
            self.found.layer_modules.append(module)
        self.found.read |= known

    def _uncalled(self, module: Module) -> set[ast.AST]:
        """The functions of a module that nothing names: no class is written for their layers."""
        functions = (one for one in module.tree.body if isinstance(one, ast.FunctionDef))
        return {one for one in functions if not self.graph.references(Function(module, one))}

    def check_captures(self) -> None:
        """What steps take from Python does not change between building and the first run."""
        units = [unit for step in self.found.steps for unit in step.units]
        of_loop = self.scope.towers.names if self.scope.towers is not None else frozenset()
        for unit in unique(units):
            if isinstance(unit, (Gathered, ShownGradients)):
                continue
            copied = self.found.copies.get(unit.node)
            value = value_of(unit.node) if copied is None else copied.node
            for name in self.units.parts(value).names:
                if unit.stage is not Stage.WHOLE and name.id in of_loop:
                    continue
                if name in self.state.reuse.nodes(self.module):
                    continue  # variables are shared by what holds them
                if self._check_captured(name, value, unit.place, unit):
                    break
        for update in self.found.updates:
            clips = (*update.clips, *update.tower_clips)
            numbers = [limit for clip in clips for limit in clip.limits]
            if update.sums is not None and update.sums.divisor is not None:
                numbers.append(update.sums.divisor)
            for number in numbers:
                for name in (one for one in walk(number) if isinstance(one, ast.Name)):
                    if name in self.names.scope_of_name:
                        self._check_captured(name, number, update.place, None)

    def _check_captured(
        self, name: ast.Name, value: ast.AST, place: int, unit: Unit | None
    ) -> bool:
        """Checks a name in a ``value`` of steps; True where the run of its unit needs no step.

        Raises:
            Refused: it has another value when the steps run than when the graph is built.
        """
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is None or (home is self.home and self._is_of_graph(name.id)):
            return False
        if self.origins.of(name) is Whole.OBJECT:
            self._check_attribute(name)
            self._check_counted(self.names.parents.get(name))
            return False
        self._check_counted(name)
        bindings = self._bindings(home, name)
        if bindings and {self.names.statement(b.node) for b in bindings} <= self._building:
            return False
        if any(is_inside(self.module, one.node, {value}) for one in bindings):
            return False  # the unit's own loop gives it its values
        earlier = bindings and all(self._is_earlier(b.node, place) for b in bindings)
        if len(bindings) != 1 and not (earlier and home is self.home):
            text = f"`{name.id}` changes, and the graph was built with one of its values"
            raise Refused(self.module, name, text, "give each value its own name")
        if bindings[0].kind in ("import", "def", "class"):
            self._check_stored(name, place)
            return False
        around = self.scope.entries[place].statement
        alone = unit is None or isinstance(unit.node, ast.expr)
        if alone and is_inside(self.module, bindings[0].node, {around}):
            if unit is not None and self._is_eager(unit):
                return True
            text = f"`{name.id}` has a different value each time this is built"
            raise Refused(self.module, name, text, "build it before, and feed the value")
        later = (
            one
            for one in changes_in_place(self.module, name)
            if home is not self.home or not self._is_earlier(one, place)
            if not self._is_above_object(one)
        )
        changed = next(later, None) or shuffled(self.module, name)
        if changed is not None:
            text = f"`{name.id}` changes here, and the graph was built with its earlier value"
            raise Refused(self.module, changed, text, "copy it for the graph")
        return False

    def _check_stored(self, name: ast.Name, place: int) -> None:
        """An attribute of a class or module is not given another value behind what was built.

        Raises:
            Refused: the scope that builds does that.
        """
        read = self.names.parents.get(name)
        for stored in self.names.attributes[read.attr] if isinstance(read, ast.Attribute) else ():
            same = isinstance(stored.value, ast.Name) and stored.value.id == name.id
            here = self.names.scope_at(self.names.statement(stored)) is self.home
            if same and here and not isinstance(stored.ctx, ast.Load):
                if not self._is_earlier(stored, place):
                    shown = self.module.source.code(stored)
                    text = f"`{shown}` changes, and the graph was built with one of its values"
                    raise Refused(self.module, stored, text, "feed it, or give each value a name")

    def _is_earlier(self, node: ast.AST, place: int) -> bool:
        """Whether what a statement of the scope does to a name is done before a place of it."""
        around = self.scope.entries[place].statement
        repeats = any(isinstance(one, (ast.For, ast.While)) for one in self.names.ancestors(around))
        here = self.names.scope_at(self.names.statement(node)) is self.home
        return here and not repeats and line_of(node) < around.lineno

    def _is_above_object(self, node: ast.AST) -> bool:
        """Whether the script does something above what calls, once, the constructor that builds."""
        builder, names = self.home.node, self.names
        if not isinstance(builder, ast.FunctionDef):
            return False
        made = self.graph.references(Function(self.module, builder))
        call = made[0].call if len(made) == 1 and made[0].module is self.module else None
        if call is None or not self.graph.runs_once(self.module, call):
            return False
        statement, body = names.statement(call), self.module.tree.body
        above = body[: body.index(statement)] if statement in body else []
        around = {names.statement(node), *names.ancestors(node)}
        return names.scope_at(node) is names.module_scope and any(one in around for one in above)

    def _is_eager(self, unit: Unit) -> bool:
        """Whether a run only computes with Python's values, which it is given as it is built.

        It needs no step then: TF2 computes it where it stands.
        """
        step = next(one for one in self.found.steps if unit in one.units)
        node = unit.node
        if not isinstance(node, ast.Call) or node.lineno != node.end_lineno:
            return False
        if len(step.units) > 1 or len(step.values) > 1 or self.scope.towers is not None:
            return False
        if (
            step.feeds
            or step.updates
            or step.folded
            or step.moves
            or not only_computes(self.module, unit)
        ):
            return False
        self.found.steps.remove(step)
        self.found.eager.add(step)
        return True

    def _bindings(self, home: Scope, name: ast.Name) -> list[Binding]:
        """What may give a name its value as the graph is built that mentions it."""
        every = home.bindings[name.id]
        if home is not self.home or len(every) == 1:
            return every
        here = self.scope.section(name)
        return [one for one in every if self.scope.section(one.node) == here]

    def _check_attribute(self, name: ast.Name) -> None:
        """What a unit takes of the object whose constructor builds it is given a value once.

        Raises:
            Refused: it may change, or it is more than an attribute that the constructor gives.
        """
        mention = self.names.parents.get(name)
        text = f"`{name.id}` is used for more than its attributes"
        if not isinstance(mention, ast.Attribute):
            raise Refused(self.module, name, text, "keep what the graph needs in variables")
        stored = [
            one
            for module in self.graph.project.modules.values()
            for one in module.names.attributes.get(mention.attr, ())
            if not isinstance(one.ctx, ast.Load) and not self.origins.is_of_another(module, one)
        ]
        if len(stored) != 1 or not self._is_once(stored[0]):
            shown = self.module.source.code(mention)
            text = f"`{shown}` changes, and the graph was built with one of its values"
            raise Refused(self.module, mention, text, "feed it, or give each value a name")
        for one in self.names.attributes[mention.attr]:
            changed = mutation(self.module, one)
            if changed is not None and not self._is_beside(mention, one):
                text = (
                    f"`{mention.attr}` changes here, and the graph was built with its earlier value"
                )
                raise Refused(self.module, changed, text, "copy it for the graph")

    def _is_beside(self, mention: ast.Attribute, changed: ast.Attribute) -> bool:
        """Whether another attribute changes than is taken: `self.config.rate`, and `.size`."""
        taken, other = self.names.parents.get(mention), self.names.parents.get(changed)
        if not isinstance(taken, ast.Attribute) or not isinstance(other, ast.Attribute):
            return False
        if taken.attr == other.attr or not isinstance(other.ctx, (ast.Store, ast.Del)):
            return False
        computed = (
            one
            for module in self.graph.project.modules.values()
            for one in module.names.scopes
            if isinstance(one, ast.FunctionDef) and one.name in (taken.attr, "__setattr__")
        )
        return next(computed, None) is None

    def _check_counted(self, value: ast.AST | None) -> None:
        """What is taken of Python's own, `config.rate`, is not counted on by another name of it.

        Raises:
            Refused: `settings.rate *= 0.5` stands somewhere.
        """
        read = self.names.parents.get(value) if value is not None else None
        if not isinstance(read, ast.Attribute) or read.value is not value:
            return
        for module in self.graph.modules:
            for one in module.names.attributes.get(read.attr, ()):
                statement = module.names.parents.get(one)
                counts = isinstance(statement, ast.AugAssign) and statement.target is one
                if counts and class_of(module, one) is None:
                    shown = module.source.code(one)
                    text = f"`{shown}` changes here, and the graph was built with its earlier value"
                    raise Refused(module, one, text, "feed it")

    def _is_once(self, stored: ast.AST) -> bool:
        """Whether a node stands in the constructor that builds, and in no loop of it.

        Or in that of an object of which a method builds.
        """
        owner = self.scope.owner
        made = constructor_of(owner) if owner is not None else None
        for parent in self.names.ancestors(stored):
            if parent is self.scope.node or (made is not None and parent is made):
                return True
            if isinstance(parent, (ast.For, ast.While, ast.FunctionDef, ast.Lambda)):
                return False
        return False

    def _is_of_graph(self, name: str) -> bool:
        """Whether a name of the scope stands for parts of the graph alone."""
        if not self.scope.resets and any(p.name == name for p in self.found.placeholders):
            return True  # later it may be Python's own
        bindings = (
            b
            for b in self.home.bindings[name]
            if b.node not in self.found.before and not self.state.is_free(b.node)
            if b.kind != "parameter" or not self._is_replaced(name)
        )
        statements = {self.names.statement(b.node) for b in bindings}
        return bool(statements) and statements <= self._building

    def _is_replaced(self, parameter: str) -> bool:
        """Whether a parameter gets another value before anything reads it."""
        mentions = sorted(self.names.mentions(parameter, self.home), key=position)
        statement = self.names.statement(mentions[0]) if mentions else None
        if not isinstance(statement, ast.Assign) or isinstance(mentions[0].ctx, ast.Load):
            return False
        straight = statement in getattr(self.home.node, "body", ())
        inside = all(self.names.scope_of_name[one] is self.home for one in mentions)
        return straight and inside and not any(one in mentions for one in walk(statement.value))

    @cached_property
    def _building(self) -> set[ast.stmt]:
        """The statements that make parts of the graph."""
        entries = zip(self.scope.entries, self.found.roles)
        made = [
            entry.statement
            for entry, role in entries
            if role not in (Role.HOST, Role.RUN, Role.COMPUTED) and not entry.opens
        ]
        inside = (s for s in made if isinstance(s, (ast.For, ast.If)))
        statements = (one for s in inside for one in walk(s) if isinstance(one, ast.stmt))
        return {*made, *statements}


def _is_named_alike(module: Module, use: Use) -> bool:
    """Whether a module gives a name to what TF2 has as it is, and is no function that computes:
    `DTYPE = tf.float32`."""
    statement, name = module.names.parents.get(use.node), name_of(module, use.node)
    if not isinstance(statement, ast.Assign) or statement not in module.tree.body:
        return False
    target = statement.targets[0]
    if statement.value is not use.node or name in COMPUTES or not isinstance(target, ast.Name):
        return False
    bound = module.names.module_scope.bindings[target.id]
    return len(statement.targets) == len(bound) == 1 and has_alike(name)


def _asks_for_size(node: ast.AST) -> bool:
    """`size = x.shape[-1].value`: it adds nothing to a graph, so that nothing is left out of it."""
    asked = node.value if isinstance(node, ast.Assign) else None
    while asked is not None:
        if isinstance(asked, ast.Attribute) and asked.attr in ("shape", "get_shape"):
            return True
        if isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name):
            is_number = asked.func.id == "int" and len(asked.args) == 1
            asked = asked.args[0] if is_number else None
            continue
        asked = getattr(asked, "func" if isinstance(asked, ast.Call) else "value", None)
    return False
