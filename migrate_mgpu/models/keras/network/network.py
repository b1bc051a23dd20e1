"""A function that builds a network becomes a class: layers in `__init__`, their use in `call`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from migrate_mgpu.analysis.arguments import defaults_of
from migrate_mgpu.analysis.binding_time import BindingTimes
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.scopes import children, holds, names_in, position, walk
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.network.indices import check_texts, looked_up_by
from migrate_mgpu.models.front.network.layers import check_all_found, find_layers, named
from migrate_mgpu.models.front.network.name_scopes import check_shared, name_scopes
from migrate_mgpu.models.front.network.network_classes import is_collection
from migrate_mgpu.models.front.network.objects import Objects
from migrate_mgpu.models.front.network.reserved import RESERVED
from migrate_mgpu.models.front.network.weights import are_double, lookup_of, weights_of
from migrate_mgpu.models.ir import Weight
from migrate_mgpu.models.keras.constructors import missing_name
from migrate_mgpu.models.keras.expressions import Context, Replacement, cast_to
from migrate_mgpu.models.keras.network.class_plan import Plan, is_docstring
from migrate_mgpu.models.keras.network.classes import HelperClasses
from migrate_mgpu.models.keras.network.constructor import Constructor
from migrate_mgpu.models.keras.network.input_shapes import INPUT_SHAPE, NeedsShape, asked_shapes
from migrate_mgpu.models.keras.network.layer_texts import Making, constructor, helper_constructor
from migrate_mgpu.models.keras.network.naming import is_given_path, name_layers
from migrate_mgpu.models.keras.network.recurrent import Recurrents
from migrate_mgpu.models.keras.network.tables import tables
from migrate_mgpu.models.normalize.estimators.obstacles import CHANGED_SETTING, COMPUTED_SIZE
from migrate_mgpu.source.blocks import Block, outermost
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments
from migrate_mgpu.source.style import FileStyle

# A method besides `call`: its text at the class's indentation.
Member = Callable[["Network", str], str]


class Network:
    """Writes the class of a plan."""

    def __init__(
        self, plan: Plan, style: FileStyle, classes: HelperClasses, built: bool = False
    ) -> None:
        """``built``: its layers are made in `build`, of the shape of what it is applied to."""
        self.plan = plan
        helpers = classes.helpers
        self.shapes = asked_shapes(plan, helpers.target) if built else {}
        self.built = built
        self.style = style
        self.module = plan.module
        self.classes = classes
        nodes = [node for s in plan.statements for node in self._kept_nodes(s)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        makers = [
            call
            for call in calls
            if (function := helpers.target(self.module, call)) and helpers.makes_layers(function)
        ]
        read = helpers.layer_calls
        layers = find_layers(self.module, calls, read, {}, plan.regularized)
        tensors = [*plan.tensors, *plan.others]
        asked = {name for node in self.shapes for name in walk(node)}
        self.times = BindingTimes(
            plan.statements, tensors, plan.modes, [*layers, *makers], asked, plan.plain
        )
        uses = {c: use for c in makers if (use := helpers.use(self.module, c, self.times))}
        self.layers = find_layers(self.module, calls, read, uses, plan.regularized, plan.decay)
        self.objects = Objects(self.module, nodes, helpers.graph, helpers.network)
        self.applied = [c for c in calls if c not in self.layers and self.objects.applied(c)]
        statements = {s for n in nodes for s in [n] if isinstance(s, ast.stmt)}
        settings = {s for s in statements if self.times.is_setting(s)}
        check_all_found(self.module, calls, self.layers, settings)
        alone = plan.base == "Model" and not plan.replicas
        self.tables = tables(self.module, self.style, settings) if alone else {}
        self.trains = False
        self.has_layer_lists = False  # known once it is written
        self.made: list[tuple[str, str]] = []  # more attributes, and their values
        self.members: list[Member] = []
        self.making: dict[ast.Call, Making] = {}  # of layers that are no class of Keras's own
        # Names of averages of weights, with the weights' own, and what has the averages.
        self.averaged: dict[str, str] = {}
        self.losses: dict[ast.AST, Replacement] = {}  # that are computed in it
        self._reads: set[str] = set()
        self._unread: set[ast.stmt] = set()
        self.parameters: list[str] = []
        looped = {call for call in self.layers if self._loop(call) is not None}
        self.attributes, self.loop_names = name_layers(plan, self.layers, looped)
        if plan.replicas:
            check_texts(self.module, nodes)
        check_shared(self.module, plan.function, map(named, self.layers.values()), looped)
        self.weights = weights_of(self.module, plan.function, self.layers, self.loop_names, nodes)
        for call in self.weights.values():
            self._check_scopes(call)
        for call in (one for one in self.layers if one in looped):
            self._check_condition(call)
        inside = {s for s in statements if s in plan.kept}
        self.recurrents = Recurrents(self.module, plan.function, self.layers, inside, looped)
        self.double = are_double(self.module, self.layers, plan.base != "Model")
        looked_up = lookup_of(self.module, self.layers, nodes) or self.objects.embedding
        self.lookup = looked_up or self._handed_on(calls)

    # -- names ------------------------------------------------------------

    def _handed_on(self, calls: list[ast.Call]) -> ast.Call | None:
        """A call of the run's that is given a weight, and may take rows of it."""
        for call in calls:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if any(isinstance(node, ast.Name) and node.id in self.weights for node in given):
                if self.classes.helpers.target(self.module, call) is not None:
                    return call
        return None

    def _kept_nodes(self, statement: ast.stmt) -> list[ast.AST]:
        """The nodes of a statement, in the order of evaluation, without what is left out."""
        if statement not in self.plan.kept and not holds(statement, self.plan.kept):
            return []
        found: list[ast.AST] = []
        stack: list[ast.AST] = [statement]
        while stack:
            node = stack.pop()
            found.append(node)
            for child in children(node):
                if not self._is_left_out(node, child):
                    stack.append(child)
        return found

    def _is_left_out(self, parent: ast.AST, child: ast.AST) -> bool:
        if not isinstance(child, ast.stmt) or parent in self.plan.kept:
            return False
        return child not in self.plan.kept and not holds(child, self.plan.kept)

    def _loop(self, node: ast.AST) -> ast.For | None:
        """The loop that a node stands in, within the function."""
        found: ast.For | None = None
        for parent in self.module.names.ancestors(node):
            if parent is self.plan.function:
                return found
            if isinstance(parent, ast.For):
                if found is not None:
                    text = "layers are made in a loop inside of another loop"
                    raise Refused(self.module, node, text, "put the inner loop into a function")
                found = parent
            elif isinstance(parent, (ast.While, ast.comprehension, ast.Lambda, ast.FunctionDef)):
                text = "a layer is made where it cannot be determined how often"
                raise Refused(self.module, node, text, "make it in a `for` loop, or in a function")
        return found

    def _check_condition(self, call: ast.Call) -> None:
        """A round of a loop that makes no weight in TF1 makes none in `__init__`.

        Layers make theirs when they are applied, and those of such rounds are not.
        """
        if not self.layers[call].variable:
            return
        for parent in self.module.names.ancestors(call):
            if isinstance(parent, ast.If) and not self.plan.modes.asks(parent.test):
                text = "a variable is made in a loop, under a condition"
                raise Refused(self.module, call, text, "let the loop have only rounds that make it")
            if isinstance(parent, ast.For):
                return

    def _check_scopes(self, call: ast.Call) -> None:
        """The scopes of a weight, which may not stay, say no more than names."""
        for parent in self.module.names.ancestors(call):
            if isinstance(parent, ast.With):
                name_scopes(self.module, parent, self.plan.modes)
            if parent is self.plan.function:
                return

    # -- the class --------------------------------------------------------

    def write(self, indent: str) -> str:
        """The class's text, at an indentation."""
        plan, source = self.plan, self.module.source
        body = self._call_block(indent)
        self.trains = body.trains
        members = [source.newline + member(self, indent) for member in self.members]
        made = self._init_block(indent, body)
        block = Block(source, indent)
        block.line(f"class {plan.name}({self.style.tensorflow}.keras.{plan.base}):")
        doc = ast.get_docstring(plan.function, clean=False)
        if doc is not None and plan.result is None:
            block.statement(plan.function.body[0], [], 1)
            block.line()
        text = block.text() + source.newline * (doc is not None and plan.result is None)
        return text + made + source.newline + body.text + "".join(members)

    @property
    def table_attributes(self) -> tuple[str, ...]:
        """Its attributes that are tables of words."""
        made = [self.module.names.statement(call) for call in self.tables]
        targets = (one.targets[0] for one in made if isinstance(one, ast.Assign))
        return tuple(self._attribute_of(one.id) for one in targets if isinstance(one, ast.Name))

    def _needs(self, context: Context) -> set[str]:
        return {name for name in context.used if self._is_own(name)}

    def _is_own(self, name: str) -> bool:
        """Whether a name is a setting of this function: a parameter, or made from such."""
        if name in self.times.tensors:
            return False
        return name in self.plan.settings or name in self.times.assigned

    def constructor(self, call: ast.Call, context: Context, column: int, base: str) -> str:
        """What makes a layer, as it stands behind ``column`` characters of a line."""
        found = self.layers[call]
        if found.helper is not None:
            return helper_constructor(found, self.classes, context)
        making = self.making.get(call, Making())
        if isinstance(found.layer, Weight) and self.plan.saved:
            name = missing_name(found.layer)
            named = {"name": name} if name else {}
            making = replaced(making, settings={**named, **making.settings})
        return constructor(found, context, column, base, making)

    @property
    def normalizes(self) -> bool:
        """Whether it has batch normalization, itself or in a class that it keeps."""
        classes = self.objects.classes.values()
        return any(f.normalizes for f in self.layers.values()) or any(c.normalizes for c in classes)

    # -- call -------------------------------------------------------------

    def _call_block(self, indent: str) -> _Call:
        plan = self.plan
        replaced: dict[ast.AST, Replacement] = {**self.losses}
        replaced.update({call: self._use(call) for call in self.layers})
        replaced.update({call: self._application(call) for call in self.applied})
        replaced.update(dict.fromkeys(self._omitted, _nothing))
        if plan.replicas:
            for statement in plan.statements:
                indices = looked_up_by(self._kept_nodes(statement), self.module, self.times)
                replaced.update({node: cast_to(node, "{tf}.int64") for node in indices})
        replaced.update(self.recurrents.replaced)
        self._unread = self._unread_settings(replaced)
        context = self.context(replaced)
        block = Block(self.module.source, indent + self.module.source.indent_unit)
        lines = Block(self.module.source, block.indent)
        for statement in plan.statements:
            if statement not in plan.kept and not holds(statement, plan.kept):
                continue
            if self._moves_to_init(statement) or self.tells_mode(statement):
                continue
            inside = self._statement_edits(statement, context)
            above = self.recurrents.above(statement, context, self._layer_name)
            edits = outermost([*context.collect(statement), *inside])
            context.record(statement, edits)
            lines.statement(statement, edits, 1, above)
        if plan.result is not None:
            lines.line(f"return {plan.result}", 1)
        lines.lines = [*self._carried(context, block.indent), *lines.lines]
        self._check_changes(context)
        self._check_given(context)
        # A model is always told; other layers take what they use.
        told = context.trains or plan.base == "Model"
        parameters = ["self", *self._tensors(), *(["training=False"] if told else [])]
        block.line(f"def call({', '.join(parameters)}):")
        while lines.lines and not lines.lines[0]:
            lines.lines.pop(0)
        block.lines += lines.lines
        return _Call(block.text(), self._needs(context), context.trains)

    def _unread_settings(self, replaced: dict[ast.AST, Replacement]) -> set[ast.stmt]:
        """Settings that loops change for the layers of `__init__` alone: `call` does without."""
        candidates: dict[ast.stmt, set[str]] = {
            statement: {name.id for name in names_in(statement)}
            for statement in self.plan.kept
            if isinstance(statement, (ast.Assign, ast.AugAssign))
            and self.times.is_setting(statement)
            and self._looped(statement)
        }
        if not candidates:
            return set()
        context = self.context(replaced)
        for statement in self.plan.statements:
            if not self._moves_to_init(statement) and holds(statement, {*candidates}):
                edits = context.collect(statement)
                context.record(statement, outermost([*edits, *self._loops_in(statement, context)]))
            elif not self._moves_to_init(statement):
                context.edits(statement)
        statement_of = self.module.names.statement
        read = (one for one in context.mentions if isinstance(one.ctx, ast.Load))
        needed = {one.id for one in read if statement_of(one) not in candidates}
        needed |= {self.plan.result} if self.plan.result is not None else set()
        unread = {*candidates}
        while found := {one for one in unread if _bound(one) & needed}:
            unread -= found
            needed |= {name for one in found for name in candidates[one]}
        return unread

    def _loops_in(self, statement: ast.stmt, context: Context) -> list[Edit]:
        loops = (node for node in walk(statement) if isinstance(node, ast.For))
        return [edit for node in loops for edit in self._loop_edits(node, context)]

    def _is_unread(self, statement: ast.stmt) -> bool:
        """Whether a statement, or all of a block, only makes settings that `call` does not read."""
        if isinstance(statement, (ast.If, ast.For, ast.With)):
            return all(self._is_unread(one) for one in _children(statement))
        return statement in self._unread

    def _carried(self, context: Context, indent: str) -> list[str]:
        """What makes the settings that loops change, for `call` as well: they are no attributes.

        Raises:
            Refused: it depends on a condition, or changes them behind a loop of `call`.
        """
        changed = {one.id for one in context.mentions} & self.times.in_loops - self.times.tensors
        lines, passed = Block(self.module.source, indent), set[str]()
        for statement in self._in_blocks(self.plan.statements) if changed else ():
            stored = (n for n in walk(statement) if isinstance(n, ast.Name))
            bound = {n.id for n in stored if isinstance(n.ctx, ast.Store)} & changed
            if not self._moves_to_init(statement):
                passed |= bound
                continue
            if not bound:
                continue
            plain = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)
            if not isinstance(statement, plain) or bound & passed:
                name = min(bound)
                text = f"`{name}` changes behind where the network uses it"
                advice = "give the new value another name"
                raise Refused(self.module, statement, text, advice, CHANGED_SETTING)
            edits = outermost(context.collect(statement))
            context.record(statement, edits)
            lines.statement(statement, edits, 1)
        return lines.lines

    def _in_blocks(self, statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements, and those of `with` blocks that stay in `call`, without these."""
        for statement in statements:
            if isinstance(statement, ast.With) and not self._moves_to_init(statement):
                yield from self._in_blocks(statement.body)
            else:
                yield statement

    def _tensors(self) -> Iterator[str]:
        """The parameters of `call`: from one that some calls leave out on, with their defaults."""
        plan, left = self.plan, False
        defaults = dict(defaults_of(plan.function.args))
        for name in plan.tensors:
            left |= name in plan.optional
            default = self.module.source.code(defaults[name]) if name in defaults else "None"
            yield f"{name}={default}" if left else name

    def _check_changes(self, context: Context) -> None:
        """A setting that `call` uses has one value: the last one that `__init__` gives it. What
        would change it in `call` would do so each time."""
        names = self.module.names
        needed = self._needs(context) - self.times.in_loops  # those are no attributes
        uses = [one for one in context.mentions if one.id in needed]
        for statement in self.plan.statements if uses else ():
            for part in walk(statement):
                if not isinstance(part, ast.Name) or part.id not in needed:
                    continue
                if isinstance(part.ctx, ast.Load) and not _may_change(names, part):
                    continue
                behind = any(
                    one.id == part.id
                    and position(part) > position(one)
                    and not names.exclusive(part, one)
                    for one in uses
                )
                if behind or not self._moves_to_init(names.statement(part)):
                    where = "behind where" if behind else "where"
                    text = f"`{part.id}` changes {where} the network uses it"
                    advice = "give the new value another name"
                    raise Refused(self.module, part, text, advice, CHANGED_SETTING)

    def _check_given(self, context: Context) -> None:
        """A parameter that is no tensor, and that the network gives one to, is not read before."""
        names = self.module.names
        for name in (one for one in self.plan.settings if one in self.times.tensors):
            read = sorted((one for one in context.mentions if one.id == name), key=position)
            stored = [
                part
                for statement in self.plan.statements
                for part in walk(statement)
                if isinstance(part, ast.Name) and part.id == name and not _is_read(part)
            ]
            if not stored or not read:
                continue
            own = any(part in stored for part in walk(names.statement(read[0])))
            if position(read[0]) < min(map(position, stored)) or (own and _is_read(read[0])):
                text = f"`{name}` changes behind where the network uses it"
                advice = "give the new value another name"
                raise Refused(self.module, read[0], text, advice, CHANGED_SETTING)

    @cached_property
    def _omitted(self) -> dict[ast.stmt, None]:
        """The statements that are left out of others, which stay in part."""
        kept = self.plan.kept
        parts = (part for statement in self.plan.statements for part in walk(statement))
        found = (part for part in parts if isinstance(part, ast.stmt) and part not in kept)
        return dict.fromkeys(statement for statement in found if not holds(statement, kept))

    def context(self, replaced: dict[ast.AST, Replacement]) -> Context:
        """A place in a method, where settings are attributes."""
        owned = {
            name: f"self.{self._attribute_of(name)}"
            for name in [*self.plan.settings, *self.times.assigned - self.times.tensors]
            if name not in self.times.in_loops
        }
        owned.update({n: f"self.{self.attributes[c]}" for n, c in self.weights.items()})
        owned.update(
            {
                n: f"self.averages.{self.attributes[self.weights[w]]}"
                for n, w in self.averaged.items()
            }
        )
        replaced = {**self.tables, **replaced}
        return Context(self.module, self.style, self.plan.modes, owned, replaced)

    def reads(self, context: Context) -> None:
        """Notes that a method has what was written in a context."""
        self._reads |= self._needs(context)

    def _moves_to_init(self, statement: ast.stmt) -> bool:
        if is_docstring(self.plan.function, statement):
            return True
        if isinstance(statement, (ast.If, ast.For, ast.With)):
            return all(self._moves_to_init(s) for s in _children(statement))
        if statement in self.recurrents.dropped or statement in self._omitted:
            return True
        return self.is_weight(statement) or self.times.is_setting(statement)

    def is_weight(self, statement: ast.stmt) -> bool:
        """Whether a statement only makes a weight, whose name is an attribute in `call`."""
        return isinstance(statement, ast.Assign) and statement.value in self.weights.values()

    def tells_mode(self, statement: ast.stmt) -> bool:
        """`is_training = mode == tf.estimator.ModeKeys.TRAIN`: `call` is told by its argument."""
        return (
            isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and self.plan.modes.training(statement.value) is not None
        )

    @cached_property
    def _keeps_name(self) -> bool:
        """Whether Keras keeps a layer's name: one with a slash in it is the class's own."""
        function = self.plan.function
        if self.plan.base == "Model" or not isinstance(function, ast.FunctionDef):
            return False
        target = Function(self.module, function)
        return not is_given_path(self.classes.helpers.graph, target, "name")

    def _attribute_of(self, setting: str) -> str:
        if setting == "name" and self._keeps_name:
            return setting
        return f"{setting}_" if setting in RESERVED else setting

    def _layer_name(self, call: ast.Call) -> str:
        """What the layer of a call is called in `call`."""
        return self.loop_names.get(call) or f"self.{self.attributes[call]}"

    def _use(self, call: ast.Call) -> Replacement:
        def write(context: Context) -> str:
            found = self.layers[call]
            name = self._layer_name(call)
            if found.variable:
                return name
            helper = found.helper
            trains = helper is not None and helper.trains
            if trains and helper is not None:
                trains = self.classes.of(helper.function).trains
            return self.recurrents.application(found, name, context, trains)

        return write

    def _application(self, call: ast.Call) -> Replacement:
        """A layer or model that is kept in a variable, told whether it trains."""

        def write(context: Context) -> str:
            function = call.func
            made = function.value if isinstance(function, ast.Attribute) else function
            arguments = [context.render(node) for node in call.args[:1]]
            arguments += [
                f"{name}={context.render(node)}" for name, node in self.objects.positional(call)
            ]
            arguments += [
                f"{k.arg}={context.render(k.value)}" if k.arg else f"**{context.render(k.value)}"
                for k in call.keywords
            ]
            if not self.objects.says_training(call):
                arguments.append(self.objects.default_training(call))
            return f"{context.render(made)}({', '.join(arguments)})"

        return write

    def _statement_edits(self, statement: ast.stmt, context: Context) -> list[Edit]:
        """What changes in a compound statement besides its expressions."""
        found = self.recurrents.edits(statement)
        found = self.recurrents.with_memories(found, statement, context, self._layer_name)
        for node in walk(statement):
            if isinstance(node, ast.For):
                found += self._loop_edits(node, context)
            if isinstance(node, (ast.With, ast.If)) and node not in self.plan.kept:
                if holds(node, self.plan.kept):
                    found += self._left_out(node)
            if isinstance(node, (ast.If, ast.For, ast.With)) and node in self.plan.kept:
                found += [] if self._moves_to_init(node) else self._settings_out(node)
        return found

    def _left_out(self, node: ast.With | ast.If) -> list[Edit]:
        found: list[Edit] = []
        for name in ("body", "orelse"):
            members = getattr(node, name, [])
            stays = [s for s in members if s in self.plan.kept or holds(s, self.plan.kept)]
            gone = self._goes if isinstance(node, ast.With) else self.is_weight
            stays = [s for s in stays if self._looped(s) or not gone(s)]
            stays = [s for s in stays if not self._is_unread(s)]
            if members and not stays:
                if name == "body":
                    text = "what the network does without this branch stands in its `else`"
                    raise Refused(self.module, node, text, "turn the condition around")
                start = Layout(self.module.source, node.body[-1]).next_line
                end = Layout(self.module.source, members[-1]).next_line
                found.append(Edit(start, end, ""))
                continue
            found += [Layout(self.module.source, s).replace([]) for s in members if s not in stays]
        return found

    def _goes(self, statement: ast.stmt) -> bool:
        """Whether nothing of a statement stays in `call`."""
        return self._moves_to_init(statement) or self.tells_mode(statement)

    def _settings_out(self, node: ast.If | ast.For | ast.With) -> list[Edit]:
        """Settings inside a block that stays in `call`, where they hold once for all."""
        found: list[Edit] = []
        for name in ("body", "orelse"):
            members = getattr(node, name, [])
            moved = [
                s
                for s in members
                if self._is_unread(s) or (self._moves_to_init(s) and not self._looped(s))
            ]
            if moved and len(moved) == len(members):
                text = "a branch of the network only chooses settings"
                raise Refused(self.module, members[0], text, "choose them above the network")
            for one in moved:
                edit = Layout(self.module.source, one).replace([])
                start = start_with_comments(self.module.source.text, edit.start)
                found.append(Edit(start, edit.end, edit.new))
        return found

    def _looped(self, statement: ast.stmt) -> bool:
        return any(
            isinstance(parent, ast.For)
            for parent in self.module.names.ancestors(statement)
            if parent is not self.plan.function
        )

    def _loop_edits(self, node: ast.For, context: Context) -> list[Edit]:
        """`for units in sizes:` becomes a loop over the layers that were made so."""
        if not any(self.inside(call, node) for call in self.layers):
            return []
        probe = Context(self.module, self.style, self.plan.modes, {}, context.replaced)
        for statement in node.body:
            if not self._is_unread(statement):
                probe.edits(statement)
        made = {
            n.id
            for s in node.body
            if self.times.is_setting(s) and not self._is_unread(s)
            for n in walk(s)
            if isinstance(n, ast.Name)
        }
        targets = [n.id for n in walk(node.target) if isinstance(n, ast.Name)]
        shown = any(name in probe.used or name in made for name in targets)
        local, lists = self.loop_over(node, context, shown)
        source = self.module.source
        start, end = source.span(node.target)[0], source.span(node.iter)[1]
        column = start - source.span(node)[0] + node.col_offset
        text = self.zipped(local, lists, node.col_offset * " ", column)
        return [Edit(start, end, text)]

    def loop_over(
        self, node: ast.For, context: Context, shown: bool
    ) -> tuple[list[str], list[str]]:
        """What a loop over the layers made in another one has in each round, and their lists.

        ``shown``: what the author's loop goes over is among them.
        """
        calls = [call for call in self.layers if self.inside(call, node)]
        calls.sort(key=lambda call: (call.lineno, call.col_offset))
        local = [self.loop_names[call] for call in calls]
        lists = [f"self.{self.attributes[call]}" for call in calls]
        if shown:
            target = self.module.source.code(node.target)
            local.insert(0, target if isinstance(node.target, ast.Name) else f"({target})")
            lists.insert(0, context.render(node.iter))
        return local, lists

    def zipped(self, local: list[str], lists: list[str], indent: str, column: int) -> str:
        """`a, b in zip(x, y)` of a `for`, as it stands behind ``column`` characters of a line."""
        if len(lists) == 1:
            return f"{local[0]} in {lists[0]}"
        head = ", ".join(local)
        if column + len(f"{head} in zip(") > self.style.width:
            inner = self.style.continued(indent)
            head = f"(\n{inner}" + f",\n{inner}".join(local) + f"\n{indent})"
            column = len(indent)
        tail = column + len(head.split("\n")[-1]) + 4
        return f"{head} in {self.style.call('zip', lists, indent, tail, 1)}"

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether a node stands inside of another one."""
        return any(parent is outer for parent in self.module.names.ancestors(node))

    # -- __init__ ---------------------------------------------------------

    def _init_block(self, indent: str, body: _Call) -> str:
        plan, source = self.plan, self.module.source
        shared = sorted((body.needs | self._reads) - self.times.in_loops)
        names = {
            name: f"self.{self._attribute_of(name)}" for name in shared if name not in plan.settings
        }
        if self.built:
            names.update((name, f"self.{self._attribute_of(name)}") for name in plan.settings)
        context = Context(self.module, self.style, None, names, {**self.shapes, **self.tables})
        made = Constructor(
            plan,
            self.times,
            self.attributes,
            self.weights.values(),
            self.constructor,
            context,
            Block(source, indent + source.indent_unit),
        )
        needed = set(shared)
        while True:
            block = made.write(needed)
            more = {n for n in context.used if self._is_own(n)} - needed
            if not more:
                break
            needed |= more
        bad = [name for name in context.used if name in self.times.tensors]
        of_lists = {one.id for one in context.mentions if one in self.times.own}
        of_lists -= {one.id for one in context.mentions if one not in self.times.own}
        bad = [name for name in bad if name not in of_lists]
        if bad:
            node = context.used[bad[0]]
            text = f"a layer's size or setting depends on the tensor `{bad[0]}`"
            asked = () if self.built else asked_shapes(plan, self.classes.helpers.target)
            kind = NeedsShape if asked else Refused
            raise kind(self.module, node, text, "use a Python number instead", COMPUTED_SIZE)
        self.has_layer_lists = bool(self.loop_names) or any(
            is_collection(node.value)
            for statement in plan.statements
            for node in walk(statement)
            if isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id in names for t in node.targets)
        )
        taken = [name for name in plan.settings if name in needed]
        self.parameters = taken
        head = Block(source, block.indent)
        head.line(f"def __init__({', '.join(['self', *self._signature(taken)])}):")
        named = "name" in taken and self._keeps_name
        given = ["name=name"] if named else []
        given += [
            f"dtype={self.module.source.quote}float64{self.module.source.quote}"
        ] * self.double
        head.line(f"super().__init__({', '.join(given)})", 1)
        for name in taken:
            if (name in shared or self.built) and not (named and name == "name"):
                head.line(f"self.{self._attribute_of(name)} = {name}", 1)
        if self.built:
            if len(head.lines) == 2 and not given:
                head.lines = []  # it would do nothing
            else:
                head.line()
            head.line(f"def build(self, {INPUT_SHAPE}):")
        head.lines += block.lines
        base = head.indent + source.indent_unit
        for name, value in self.made:
            text = self.style.fitted(value, base, len(base) + len(name) + 3)
            head.line(f"{name} = {text}", 1)
        return head.text()

    def _signature(self, taken: list[str]) -> list[str]:
        """The parameters with the defaults that their author gave them."""
        arguments = self.plan.function.args
        every = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([a.arg for a in every[::-1]], arguments.defaults[::-1]))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if default is not None:
                defaults[argument.arg] = default
        return [
            f"{name}={self.module.source.code(defaults[name])}" if name in defaults else name
            for name in taken
        ]


@record()
class _Call:
    """The method `call`: its text, the settings that it reads, whether it asks for training."""

    text: str
    needs: set[str]
    trains: bool


def _children(statement: ast.If | ast.For | ast.With) -> list[ast.stmt]:
    return [*statement.body, *getattr(statement, "orelse", [])]


def _bound(statement: ast.stmt) -> set[str]:
    return {name.id for name in names_in(statement) if not isinstance(name.ctx, ast.Load)}


def _nothing(context: Context) -> str:
    """What stands for a statement that goes away."""
    return ""


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _may_change(names: Names, name: ast.Name) -> bool:
    """Whether a mention of a list, or of another object, may change it."""
    node = names.parents[name]
    if isinstance(node, ast.Subscript) and node.value is name:
        return not isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Attribute):
        return False
    call = names.parents[node]
    stands_alone = isinstance(call, ast.Call) and isinstance(names.parents[call], ast.Expr)
    return stands_alone or node.attr == "pop" or not isinstance(node.ctx, ast.Load)
