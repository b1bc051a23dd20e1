"""Layers of a session's program: each made once, and applied where its author made it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import names_in
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.losses import is_regularization
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.session.folding import is_computed
from migrate_mgpu.models.front.session.program import (
    MadeLayer,
    SessionProgram,
    closure,
    tells_shape,
)
from migrate_mgpu.models.ir import (
    Collected,
    Decoding,
    Layer,
    Placeholder,
    Stage,
    TowerInput,
    Unit,
    Update,
    Variables,
)
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.network.classes import HelperClasses
from migrate_mgpu.models.keras.network.layer_texts import Making, constructor, helper_constructor
from migrate_mgpu.models.keras.network.recurrent import Recurrents
from migrate_mgpu.models.keras.session.batch_normalization import Normalization
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.savers import code_of
from migrate_mgpu.models.keras.session.sharing import Part
from migrate_mgpu.models.keras.session.steps import iterator_spec, known_text
from migrate_mgpu.models.keras.session.variables import sample_text
from migrate_mgpu.source.style import FileStyle

# What makes a number of numbers.
_OF_NUMBERS = ("minimum", "maximum", "math.minimum", "math.maximum", "to_float", "abs")


class LayerWriter:
    """Writes what makes layers, what applies them, and lists of their variables."""

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        style: FileStyle,
        helpers: HelperClasses,
        normalization: Normalization,
    ) -> None:
        self.helpers = helpers
        self.normalization = normalization
        self.program = program
        self.names = names
        self.style = style
        decodings = {c: f for c, f in program.applied.items() if isinstance(f.layer, Decoding)}
        self.recurrents = Recurrents(
            program.scope.module,
            program.scope.node,
            {**{call: one.found for call, one in program.layers.items()}, **decodings},
            {unit.node for unit in program.units.values() if isinstance(unit.node, ast.stmt)},
            (),
        )

    def uses(self) -> dict[ast.AST, Replacement]:
        """What stands where a layer was made and applied."""
        made = self.program.layers.items()
        every = {call: one.found for call, one in made if not one.is_object}
        every.update(self.program.applied)
        uses: dict[ast.AST, Replacement] = {call: self._use(one) for call, one in every.items()}
        return {**self.recurrents.replaced, **uses}

    def _use(self, found: Found) -> Replacement:
        def write(context: Context) -> str:
            name = self.names.layer(found.shares or found.call)
            return self.recurrents.application(found, name, context, trains=False)

        return write

    def made(self, statement: ast.stmt, context: Context, indent: str) -> list[str]:
        """The lines that make the layers of a statement."""
        lines: list[str] = []
        for call, made in self.program.layers.items():
            if made.variables.unit is statement and not made.is_object:
                given = {name: context.render(value) for name, value in made.bound.items()}
                own = Context(context.module, context.style, None, given, context.replaced)
                head = f"{indent}{self.names.layer(call)} = "
                if made.found.helper is not None:
                    text = helper_constructor(made.found, self.helpers, context)
                else:
                    making = self._making(made)
                    text = constructor(made.found, own, len(head), indent, making)
                lines += f"{head}{text}".split("\n")
        return lines

    def _making(self, made: MadeLayer) -> Making:
        layer = made.found.layer
        dtype = self.program.layer_types.get(made.found.call)
        if dtype is not None:
            return Making(settings={"dtype": self._dtype(dtype)})
        if not isinstance(layer, Layer) or layer.averaging is None:
            return Making()
        return self.normalization.making(layer.averaging, made.image)

    def _dtype(self, dtype: str | Placeholder) -> str:
        if isinstance(dtype, Placeholder):
            return f"{self.names.spec(dtype)}.dtype.name"
        quote = self.program.scope.module.source.quote
        return f"{quote}{dtype}{quote}"

    def trained(self, update: Update, context: Context, head: str, indent: str) -> str:
        """A line that gives the variables of an update a name, as a list."""
        variables = update.variables
        source = self.program.scope.module.source
        shown = self.program.differentiated.get(update)
        if shown is None and len(variables) == 1 and variables[0].listed:
            return head + variables[0].name
        if shown is None and len(variables) == 1 and variables[0].collected is Collected.LAYER:
            return f"{head}{self.names.variables(variables[0])}.trainable_variables"
        parts = [self._listed(one) for one in variables]
        if shown is not None:  # in the order of their gradients
            parts = [code_of(source, self.names, one) for one in shown]
        text = context.style.call("", parts, indent, len(head))
        # A list, whatever brackets a call has.
        opens, closes = text.index("("), text.rindex(")")
        return f"{head}{text[:opens]}[{text[opens + 1 : closes]}]"

    def collected(self, building: AbstractSet[ast.AST]) -> dict[ast.AST, Replacement]:
        """What stands where all variables were asked for, or all regularization terms.

        ``building`` are the nodes that are computed before an optimizer has its variables.
        """
        module = self.program.scope.module
        return {
            node: (
                self._terms(node, variables)
                if is_regularization(module, node)
                else self._every(variables, node in building)
            )
            for node, variables in self.program.collected.items()
        }

    def _every(self, variables: tuple[Variables, ...], early: bool) -> Replacement:
        def write(context: Context) -> str:
            del context
            for update in () if early else self.program.updates:
                if set(update.variables) == set(variables):
                    return self.names.trained(update)
            return self._list([self._listed(one) for one in variables])

        return write

    def copied(self) -> dict[ast.AST, Replacement]:
        """What stands where variables of a scope were asked for, to be copied."""

        def write(variables: tuple[Variables, ...]) -> Replacement:
            return lambda context: self.names.every(variables)

        return {
            node: write(variables)
            for copy in self.program.copies.values()
            for node, variables in copy.lists.items()
            if not isinstance(node, ast.Name)
        }

    def _terms(self, node: ast.expr, variables: tuple[Variables, ...]) -> Replacement:
        def write(context: Context) -> str:
            text = self._list([f"*{self.names.variables(one)}.losses" for one in variables])
            is_sum = name_of(context.module, node) == "losses.get_regularization_loss"
            return f"{context.tf}.add_n({text})" if is_sum else text

        return write

    @staticmethod
    def _list(items: list[str]) -> str:
        """A list; one that stands for itself where it is the only one."""
        if len(items) == 1 and items[0].startswith("*"):
            return items[0][1:]
        return f"[{', '.join(items)}]"

    def _listed(self, variables: Variables) -> str:
        """Variables among others in a list."""
        name = self.names.variables(variables)
        if variables.collected is Collected.LAYER:
            return f"*{name}.trainable_variables"
        return {
            Collected.ONE: "{}", Collected.VALUES: "*{}.values()", Collected.ITEMS: "*{}"
        }[variables.collected].format(name)  # fmt: skip

    @staticmethod
    def _parts(part: Part) -> dict[str, Placeholder]:
        """Placeholders of which parts of a batch have some rows each, by the parts' names."""
        found: dict[str, Placeholder] = {}
        for one in _tower_inputs(part):
            feeds = {placeholder for unit in closure([one]) for placeholder in unit.feeds}
            if one.rows and len(feeds) == 1:
                found.update(dict.fromkeys(one.names, feeds.pop()))
        return found

    def _elements(self, part: Part) -> dict[str, tuple[str, int]]:
        """Components of an iterator's elements, of which parts of a batch are or have rows."""
        found: dict[str, tuple[str, int]] = {}
        changed = {name for one in self._after(part) for name in self._of_another_kind(one)}
        for one in self._after(part):  # what all towers have of it, each its own, or rows of
            drawn = [u for u in closure([one]) if self._iterator(u)]
            names = _targets(drawn[0]) if len(drawn) == 1 else []
            if one in drawn:
                found.update(
                    (name, (self._iterator(one), i))
                    for i, name in enumerate(names)
                    if name not in changed
                )
            if not names or not isinstance(one, TowerInput) or not (one.drawn or one.rows):
                continue
            parts = [part for unit in closure([one]) for part in ast.walk(unit.node)]
            read = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}
            own = one.names if one.drawn else [name for name in names if name in read]
            if one.drawn or len(own) == 1:
                pairs = zip(one.names, own if one.drawn else [*own] * len(one.names))
                found.update((n, (self._iterator(drawn[0]), names.index(o))) for n, o in pairs)
        return found

    def _reshaped(self, part: Part) -> dict[str, tuple[str, list[ast.expr]]]:
        """What is drawn and gets another shape for all towers: `x = tf.reshape(x, [-1, 28, 28])`.

        By its name what is told of the element of which it is, and the sizes behind its rows.
        """
        found: dict[str, tuple[str, list[ast.expr]]] = {}
        names = self.program.scope.module.names
        for one in self._after(part):
            call = one.node.value if isinstance(one.node, ast.Assign) else None
            if (
                one.stage is not Stage.WHOLE
                or name_of(self.program.scope.module, call) != "reshape"
            ):
                continue
            assert isinstance(one.node, ast.Assign) and isinstance(call, ast.Call)
            given = by_parameter(call, ("tensor", "shape", "name"))
            tensor, shape, target = given.get("tensor"), given.get("shape"), one.node.targets[0]
            drawn = [unit for unit in one.after if self._iterator(unit)]
            if len(drawn) != 1 or not isinstance(tensor, ast.Name) or len(one.after) != 1:
                continue
            if not isinstance(shape, (ast.List, ast.Tuple)) or not isinstance(target, ast.Name):
                continue
            first, *rest = shape.elts or [shape]
            told = [names.only_value(size) if isinstance(size, ast.Name) else size for size in rest]
            sizes = [constant(size) for size in told]
            if constant(first) == -1 and sizes and all(isinstance(n, int) and n > 0 for n in sizes):
                index = _targets(drawn[0]).index(tensor.id)
                found[target.id] = f"{self._iterator(drawn[0])}.element_spec[{index}]", rest
        return found

    def _of_another_kind(self, unit: Unit) -> set[str]:
        """The names that hold what is drawn, in another shape or type perhaps: `x = f(x)`."""
        value = unit.node.value if isinstance(unit.node, ast.Assign) else None
        if unit.stage is not Stage.WHOLE or self._iterator(unit) or value is None:
            return set()
        plain = (ast.BinOp, ast.operator, ast.Constant, ast.Name, ast.expr_context)
        before = closure(unit.after)
        if all(isinstance(part, plain) for part in ast.walk(value)):
            if all(self._iterator(one) or not self._of_another_kind(one) for one in before):
                return set()
        assert isinstance(unit.node, ast.Assign)
        return {n.id for t in unit.node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}

    @staticmethod
    def _split(part: Part) -> dict[str, ast.expr]:
        """Into how many parts a batch is split of which each tower takes one, by its name."""
        return {
            name: one.parts
            for one in _tower_inputs(part)
            if one.parts is not None
            for name in one.names
        }

    def _after(self, part: Part) -> list[Unit]:
        """What gives a part the values that it reads: `x.set_shape(...)` leaves that of `x`."""
        found: dict[Unit, None] = {}
        for one in _after(part):
            while one in self.program.shaped:
                one = self.program.shaped[one]
            found[one] = None
        return list(found)

    def _shapes(self, part: Part) -> dict[str, ast.expr]:
        """The shapes that are told of what a part reads, before it, by its name."""
        return {
            name.id: one.node.value.args[0]
            for one in _after(part)
            if one in self.program.shaped
            and one not in part.units
            and isinstance(one.node, ast.Expr)
            and isinstance(one.node.value, ast.Call)
            and (name := tells_shape(one.node.value)) is not None
            and len(one.node.value.args) == 1
        }

    def _iterator(self, unit: Unit) -> str:
        """The name of the iterator that a unit takes the next element of."""
        value = unit.node.value if isinstance(unit.node, ast.Assign) else None
        func = value.func if isinstance(value, ast.Call) else None
        own = self.program.drawn.get(unit.node)
        if isinstance(func, ast.Attribute) and func.attr == "get_next" and own is not None:
            return f"{own.name}[0]" if own.each else own.name
        return ""

    def _check_rows(self, part: Part) -> None:
        """One row goes through a network as any number does.

        Raises:
            Refused: it may need a number of its own.
        """
        helpers = self.program.layer_helpers
        assert helpers is not None
        functions = [
            *(one for n, one in self.program.builders.items() if n not in self.program.pipelines),
            *(helper.function for helper in helpers.found.values()),
        ]
        home = self.program.scope.module
        places = [(home, unit.node) for unit in part.units]
        places += [(function.module, function.node) for function in functions]
        for module, call in ((m, p) for m, node in places for p in ast.walk(node)):
            told = tells_shape(call) is not None
            if not isinstance(call, ast.Call) or not (told or name_of(module, call) == "reshape"):
                continue
            shape = by_parameter(call, ("tensor", "shape", "name")).get("shape")
            if told:
                shape = call.args[0] if len(call.args) == 1 else None
            first = shape.elts[0] if isinstance(shape, (ast.List, ast.Tuple)) else None
            if first is not None and (is_none(first) if told else constant(first) == -1):
                continue
            if first is None or told or not _is_rows(module, first):
                text = "layers are made here: how many rows they need cannot be determined"
                raise Refused(module, call, text, "use -1 for the rows")

    def _is_number(self, part: Part, name: str) -> bool:
        """Whether something that is computed before the towers is seen to be one number."""
        units = {
            target.id: unit.node.value
            for unit in closure(part.units)
            if unit.stage is Stage.WHOLE and isinstance(unit.node, ast.Assign)
            for target in unit.node.targets
            if isinstance(target, ast.Name)
        }
        return name in units and _is_number(self.program.scope.module, units[name], units)

    def _samples(self, part: Part, context: Context) -> dict[str, str]:
        """What a shared function is called with to be traced: of each that it takes, by name."""
        steps = self.program.steps
        trained = (step for step in steps if part.builds in self.program.computed_in(step))
        computed = (step for step in steps if {*part.units} <= {*step.units})
        step = next(chain(trained, computed), None)
        if step is None:  # nothing runs what trains, and no step computes all of it
            node, text = part.units[0].node, "what an optimizer trains is in no step"
            raise Refused(self.program.scope.module, node, text)
        fed = {placeholder.name: placeholder for placeholder in step.feeds}
        given = {p.name: known_text(p, value, context) for p, value in step.folded}
        if self.program.scope.towers is None:
            fed.update((one.name, one) for one, _ in step.folded if is_computed(one))
            given.update({name: self.names.spec(one) for name, one in fed.items()})
            iterators = self.program.restarted(part.units)
            given.update((one.name, iterator_spec(one, context.tf)) for one in iterators)
        else:
            drawn = {n for one in _tower_inputs(part) if one.drawn for n in one.names}
            drawn |= {n for one in self._after(part) if self._iterator(one) for n in _targets(one)}
            elements, split = self._elements(part), self._split(part)
            drawn |= elements.keys() & split.keys()
            whole = drawn if part.sizes else set()  # as many rows as there are in each step
            if not whole.issuperset(part.takes):
                self._check_rows(part)
            shapes = self._shapes(part)
            fed.update(self._parts(part))
            given.update(
                (name, sample_text(fed[name], context, fed[name] in self.program.numbers))
                for name in part.takes
                if name in fed
            )
            for p, (iterator, index) in elements.items():
                spec = f"{iterator}.element_spec[{index}]"
                one = f"{context.tf}.ones([1, *{spec}.shape[1:]], {spec}.dtype)"
                if p in split and p in whole:
                    rows = f"{spec}.shape[0] // {context.render(split[p])}"
                    its = [f"[{rows}, *{spec}.shape[1:]]", f"{spec}.dtype"]
                    inner = context.style.continued(context.style.indent)
                    spec = context.style.call(f"{context.tf}.TensorSpec", its, inner, len(inner))
                if p in shapes:  # `image.set_shape([size, 8, 8, 3])` before the towers
                    told = f"{context.render(shapes[p])}, {spec}.dtype"
                    spec = f"{context.tf}.TensorSpec({told})"
                given[p] = spec if p in whole else one
            for name, (spec, sizes) in self._reshaped(part).items():
                inside = ", ".join(["1", *(context.render(one) for one in sizes)])
                given[name] = f"{context.tf}.ones([{inside}], {spec}.dtype)"
            numbers = {name for name in part.takes if self._is_number(part, name)}
            given.update(dict.fromkeys(numbers - {*given}, f"{context.tf}.zeros([])"))
        for taken in part.takes:
            if taken not in given:
                node, text = part.units[0].node, f"the shape of `{taken}` is not known before"
                raise Refused(self.program.scope.module, node, f"layers are made here: {text}")
        return given

    def traced(self, part: Part, name: str, context: Context, indent: str) -> list[str]:
        """What tells the shapes of what a shared function gives, without computing it."""
        given = self._samples(part, context)
        call = f"{context.tf}.function({name}).get_concrete_function"
        arguments = [given[taken] for taken in part.takes]
        read = {name.id for unit in part.sizes for name in names_in(unit.node)}
        targets = ", ".join(one if one in read else "_" for one in part.gives)
        text = context.style.call(call, arguments, "", len(indent))
        return f"{indent}{targets} = {text}.structured_outputs".split("\n")

    def built(self, part: Part, name: str, context: Context, indent: str) -> str:
        """What makes the variables of the layers of a shared function.

        They are made as it is traced, which knows the shapes that the placeholders have. What a
        trace makes under a strategy cannot be lifted out of it: there it is called, with a row.
        """
        given = self._samples(part, context)
        arguments = ", ".join(given[taken] for taken in part.takes)
        comment = "# makes the variables of its layers"
        call = f"{name}({arguments})"
        if self.program.scope.towers is None:
            call = f"{context.tf}.function({name}).get_concrete_function({arguments})"
        if len(indent) + len(call) + 2 + len(comment) > self.style.width or "element_spec" in call:
            long = "element_spec" not in call or len(indent) + len(call) > self.style.width
            if self.program.scope.towers is not None and long:
                call = context.style.call(name, [given[p] for p in part.takes], "", len(indent))
            return f"# Makes the variables of its layers.\n{call}"
        return f"{call}  {comment}"


def _is_rows(module: Module, node: ast.expr) -> bool:
    """Whether an expression is how many rows a function's tensor has: `x.get_shape()[0].value`."""
    value = module.names.only_value(node) if isinstance(node, ast.Name) else node
    if isinstance(value, ast.Attribute) and value.attr == "value":
        value = value.value
    if not isinstance(value, ast.Subscript) or constant(value.slice) != 0:
        return False
    shape: ast.expr | None = value.value
    if isinstance(shape, ast.Call) and name_of(module, shape) == "shape":
        shape = shape.args[0] if shape.args else None
    elif isinstance(shape, ast.Call) and isinstance(shape.func, ast.Attribute):
        shape = shape.func.value if shape.func.attr == "get_shape" else None
    elif isinstance(shape, ast.Attribute):
        shape = shape.value if shape.attr == "shape" else None
    return isinstance(shape, ast.Name) and module.names.is_parameter(shape)


def _is_number(module: Module, node: ast.expr, units: Mapping[str, ast.expr]) -> bool:
    """Whether an expression is one number: schedules are, and what is calculated of numbers."""
    if isinstance(node, ast.Name):
        value = units.get(node.id) or module.names.only_value(node)
        others = {name: one for name, one in units.items() if name != node.id}  # `x = x - 0.5`
        return value is not None and _is_number(module, value, others)
    if isinstance(node, ast.BinOp):
        return all(_is_number(module, one, units) for one in (node.left, node.right))
    if isinstance(node, ast.Call):
        if name_of(module, node) in SCHEDULES.by_name:
            return True
        plain = name_of(module, node) in _OF_NUMBERS and not node.keywords
        return plain and all(_is_number(module, one, units) for one in node.args)
    return isinstance(constant(node), (int, float))


def _targets(unit: Unit) -> list[str]:
    """The names that a unit gives the components of what it draws."""
    target = unit.node.targets[0] if isinstance(unit.node, ast.Assign) else None
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return [name.id for name in parts if isinstance(name, ast.Name)]


def _tower_inputs(part: Part) -> list[TowerInput]:
    """What the units of a part take of what each tower is given."""
    return [unit for unit in _after(part) if isinstance(unit, TowerInput)]


def _after(part: Part) -> list[Unit]:
    """The units that those of a part read."""
    return list(dict.fromkeys(unit for one in part.units for unit in one.after))
