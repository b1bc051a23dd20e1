"""What a network does with the outputs and the state that a recurrent layer gives.

Keras's `RNN` gives the outputs first, then each cell's state: `outputs, *state = self.rnn(x)`
makes the list that was TF1's tuple. A pair (c, h) has no `.c` and `.h` any more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import ATTENDED_PARTS, PAIR_CLASS, PAIR_PARTS, cell_of
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.cell_states import (
    PAIR,
    TENSOR,
    State,
    attends,
    element_of,
    is_sequence,
    possible_states,
    state_of,
    structure,
    value_of,
)
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.network.recurrent import reads, zero_state
from migrate_mgpu.models.ir import Decoding, Recurrent
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

Named = Callable[[ast.Call], str]
_PLACES = {"c": 0, "h": 1}
_ADVICE = "read one tensor of it by `state.h`, `state[1]` or `state[-1].h`"


class Recurrents:
    """The recurrent layers of one network."""

    def __init__(
        self,
        module: Module,
        function: ast.AST,
        layers: Mapping[ast.Call, Found],
        inside: Collection[ast.stmt],
        looped: Collection[ast.Call],
    ) -> None:
        self.module = module
        self.layers = layers
        self.mask = module.names.fresh(module.names.scopes[function], "mask", "steps_mask")
        self.inside = inside
        self._above: dict[ast.expr, str] = {}
        self._told: set[ast.AST] = set()  # networks above which a line tells their cells' memory
        self._unstacked: set[ast.expr] = set()
        self.replaced: dict[ast.AST, Replacement] = {}
        self._edits: dict[ast.stmt, list[Edit]] = {}
        self.dropped: set[ast.stmt] = set()
        self._known: set[ast.expr] = set()  # lists of states that were looked at
        every = [one.layer for one in layers.values()]
        self._begun = {one.start for one in every if isinstance(one, (Recurrent, Decoding))}
        cells: dict[ast.AST, ast.Call] = {}
        for call in layers:
            layer = layers[call].layer
            if isinstance(layer, Decoding):
                self._decoding(layer)
            if not isinstance(layer, Recurrent):
                continue
            made = self._cell(layer)
            if cells.setdefault(made, call) is not call:
                text = "one cell runs in two recurrent networks"
                raise Refused(module, call, text, "make a cell for each")
            if call in looped and not self._made_beside(made, call):
                text = "a recurrent network is made in a loop"
                raise Refused(module, call, text, "write its cells as one MultiRNNCell")
            self._result(layer)
        for call in module.names.calls:
            if cell_of(module, call) == PAIR_CLASS:
                self._pair(call)

    def edits(self, statement: ast.stmt) -> list[Edit]:
        """What changes in a statement, or inside of it, besides its expressions."""
        if not self._edits:
            return []
        inner = [node for node in walk(statement) if isinstance(node, ast.stmt)]
        return [edit for node in inner for edit in self._edits.get(node, [])]

    def above(self, statement: ast.stmt, context: Context, named: Named) -> list[str]:
        """The lines above a recurrent layer: which steps of its sequences count, its memory.

        ``named`` gives the name of the layer of a call.
        """
        layer = self._run(statement)
        if layer is None:
            return []
        lines = self._attending(layer, context, named)
        if isinstance(layer, Recurrent) and layer.lengths is not None:
            mask = self._mask(layer, context.render(layer.inputs[0]), context)
            self._above[layer.node] = self.mask
            lines.append(f"{self.mask} = {mask}")
        return lines

    def with_memories(
        self, edits: list[Edit], statement: ast.stmt, context: Context, named: Named
    ) -> list[Edit]:
        """Edits with the lines above the recurrent layers inside of a statement: their memory."""
        source = self.module.source
        for node in walk(statement):
            layer = self._run(node) if node is not statement else None
            lines = self._attending(layer, context, named) if layer is not None else []
            if not lines or not isinstance(node, ast.stmt):
                continue
            if not Layout(source, node).owns_lines:
                text = "a cell with attention runs in a line with other statements"
                raise Refused(self.module, node, text, "write each on a line of its own")
            place = source.span(node)[0]
            text = "".join(f"{line}{source.newline}{source.indent_of(node)}" for line in lines)
            same = [edit for edit in edits if edit.start == place]
            first = same[0] if same else Edit(place, place, "")  # what changes at its beginning
            assert len(same) < 2
            edits = [edit for edit in edits if edit not in same]
            edits.append(Edit(place, first.end, text + first.new))
        return edits

    def _run(self, node: ast.AST) -> Recurrent | Decoding | None:
        """The recurrent layer that a statement applies."""
        call = node.value if isinstance(node, ast.Assign) else None
        layer = (
            self.layers[call].layer if isinstance(call, ast.Call) and call in self.layers else None
        )
        return layer if isinstance(layer, (Recurrent, Decoding)) else None

    def _attending(self, layer: Recurrent | Decoding, context: Context, named: Named) -> list[str]:
        if layer.memory is None:
            return []
        assert isinstance(layer.node, ast.Call)
        self._told.add(layer.node)
        told = [one for one in (layer.memory, layer.remembered) if one is not None]
        texts = [context.render(one) for one in told]
        if isinstance(layer, Decoding) and layer.beams is not None:
            times = context.render(layer.beams)
            texts = [f"{context.tf}.repeat({one}, {times}, axis=0)" for one in texts]
        made = self.layers[layer.node].shares or layer.node
        cell = f"{named(made)}{'.rnn' * isinstance(layer, Decoding)}.cell"
        return [f"{cell}.attend({', '.join(texts)})"]

    def application(self, found: Found, name: str, context: Context, trains: bool) -> str:
        """A layer, of any kind, applied; ``trains``: it is told whether the model trains."""
        arguments = [context.render(node) for node in found.inputs]
        if found.helper is not None and not found.inputs and not found.keywords:
            name += ".call"  # Keras 2 applies a layer to an argument; this only has weights
        if isinstance(found.layer, Decoding):
            return self._decoded(found.layer, name, arguments, context)
        if isinstance(found.layer, Recurrent):
            arguments = self._arguments(found.layer, name, arguments[0], context)
        arguments += [f"{key}={context.render(node)}" for key, node in found.keywords]
        if found.training is not None:
            arguments.append(f"training={context.render(found.training)}")
        elif trains:
            context.trains = True
            arguments.append("training=training")
        elif found.takes_training:
            arguments.append("training=False")
        text = f"{name}({', '.join(arguments)})"
        if isinstance(found.layer, Recurrent) and found.layer.node in self._unstacked:
            return f"{context.tf}.unstack({text}, axis=1)"
        return text

    def _decoding(self, layer: Decoding) -> None:
        """What reads a part of what is decoded reads the scores, or what was chosen by them."""
        statement = self.module.names.statement(layer.node)
        start, end = self.module.source.span(layer.target)
        self._edits.setdefault(statement, []).append(Edit(start, end, layer.outputs.id))
        for mention in reads(self.module, layer.outputs):
            part = self.module.names.parents[mention]
            assert isinstance(part, ast.Attribute)
            self._check_inside(part)
            chosen = part.attr != layer.help.parts[-1]
            self.replaced[part] = _chosen(mention) if chosen else _itself(mention)

    def _decoded(self, layer: Decoding, name: str, arguments: list[str], context: Context) -> str:
        if layer.memory is not None and layer.node not in self._told:
            text = "a cell with attention runs in more than a statement of its own"
            raise Refused(self.module, layer.node, text, "write `outputs, _, _ = ...`")
        start = context.render(layer.start)
        if layer.memory is not None:
            start = f"{name}.rnn.cell.begin({start})"
        given = [*arguments, start]
        given += [] if layer.beams is None else [context.render(layer.beams)]
        given += [] if layer.limit is None else [f"limit={context.render(layer.limit)}"]
        given += [] if layer.imputes or layer.beams is not None else ["zeros=False"]
        method = f"{name}.{layer.help.method}" if layer.help.method else name
        return f"{method}({', '.join(given)})"

    def _arguments(self, layer: Recurrent, name: str, inputs: str, context: Context) -> list[str]:
        """What a recurrent layer is applied to: the sequences, and which of their steps count."""
        if layer.memory is not None and layer.node not in self._told:
            text = "a cell with attention runs in more than a statement of its own"
            raise Refused(self.module, layer.node, text, "write `outputs, state = ...`")
        given = [f"{context.tf}.stack({inputs}, axis=1)" if layer.listed else inputs]
        if layer.start is not None and zero_state(self.module, layer.start) is None:
            start = context.render(layer.start)
            if layer.memory is not None:
                start = f"{name}.cell.begin({start})"
            elif structure(self.module, layer.start) in (None, TENSOR):
                start = f"[{start}]"
            given.append(f"initial_state={start}")
        if layer.lengths is not None:
            mask = self._above.get(layer.node) or self._mask(layer, inputs, context)
            given.append(f"mask={mask}")
        return given

    def _mask(self, layer: Recurrent, inputs: str, context: Context) -> str:
        assert layer.lengths is not None
        lengths, tf = context.render(layer.lengths), context.tf
        steps = f"len({inputs})" if layer.listed else f"{tf}.shape({inputs})[1]"
        return f"{tf}.sequence_mask({lengths}, {steps})"

    def _made_beside(self, made: ast.AST, call: ast.Call) -> bool:
        """Whether a cell is made in each turn of the loop that a network is made in."""
        if not isinstance(made, ast.Call):
            return False
        inner = next(n for n in self.module.names.ancestors(call) if isinstance(n, ast.For))
        return inner in self.module.names.ancestors(made)

    def _cell(self, layer: Recurrent) -> ast.AST:
        """What makes a network's cell: the same node for the same cell."""
        made = value_of(self.module, layer.cell) or layer.cell
        if isinstance(made, ast.Name) and made in self.module.names.scope_of_name:
            bindings = self.module.names.bindings_of(made)  # branches that make one each
            return bindings[0].node if bindings else made
        return made

    def _result(self, layer: Recurrent) -> None:
        call, cell, result = layer.node, layer.cell, layer.result
        states = possible_states(self.module, cell)
        state = state_of(self.module, cell) if result.states else states.pop()
        source = self.module.source
        statement = self.module.names.statement(call)
        edits = self._edits.setdefault(statement, [])
        if not result.states:
            start, end = source.span(result.target)
            edits.append(Edit(start, end, source.code(result.outputs)))
        elif isinstance(result.state, ast.Tuple):
            if state != PAIR or len(result.state.elts) != 2:
                text = "the state of a recurrent network is not unpacked into two"
                raise Refused(self.module, result.state, text, _ADVICE)
            start, end = source.span(result.state)
            first, second = (source.code(part) for part in result.state.elts)
            edits.append(Edit(start, end, f"{first}, {second}"))
        elif state != TENSOR:
            start, _ = source.span(result.state)
            edits.append(Edit(start, start, "*"))
            self._variable(result.state, state)
        if layer.listed:
            self._listed(layer, statement)
        elif layer.lengths is not None and result.sequences:
            self._unmasked(result.outputs)
        if layer.start is not None:
            self._start(layer.start)

    def _start(self, value: ast.expr) -> None:
        """A variable that holds nothing but the zero state is not needed."""
        made = zero_state(self.module, value)
        if made is not None and isinstance(value, ast.Name):
            self.dropped.add(self.module.names.statement(made))

    def _unmasked(self, outputs: ast.Name) -> None:
        """Keras's layers would take the mask of the outputs that they are given, and hand it on.

        What another operation gives has none.
        """
        for mention in reads(self.module, outputs):
            parent = self.module.names.parents[mention]
            computed = isinstance(parent, (ast.Subscript, ast.Attribute, ast.BinOp)) or (
                isinstance(parent, (ast.Call, ast.keyword)) and self._is_operation(parent)
            )
            if not computed:
                self.replaced[mention] = _identity(outputs.id)

    def _is_operation(self, node: ast.Call | ast.keyword) -> bool:
        """Whether a call is one of TensorFlow's, and of no layer."""
        call = self.module.names.parents[node] if isinstance(node, ast.keyword) else node
        if not isinstance(call, ast.Call) or call in self.layers:
            return False
        return bool(name_of(self.module, call))

    # -- outputs of a network over a list -------------------------------------------

    def _listed(self, layer: Recurrent, made: ast.stmt) -> None:
        """What reads single steps reads a tensor of all; what reads the list gets a list."""
        outputs = layer.result.outputs
        before = dict(self.replaced)
        try:
            self._steps(outputs, made)
        except Refused:
            # With the states, what the network gives is no list: each mention is one.
            if layer.result.states and self.module.names.only_binding(outputs) is None:
                raise
            mentions = reads(self.module, outputs)
            for mention in mentions:
                self._check_inside(mention)
            self.replaced = before
            if not layer.result.states:
                self._unstacked.add(layer.node)
                return
            for mention in mentions:
                try:
                    self._step(mention)
                except Refused:
                    self.replaced[mention] = _unstacked(mention)

    def _steps(self, name: ast.Name, made: ast.stmt) -> None:
        """`outputs[-1]` of a list of steps is `outputs[:, -1]` of a tensor."""
        names = self.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        mentions = names.mentions(name.id, home) if home is not None else []
        stores = {names.statement(m) for m in mentions if isinstance(m.ctx, ast.Store)} - {made}
        found = reads(self.module, name)
        if stores:  # `outputs = outputs[-1]` in the same block: what follows reads that step
            (again, *more) = stores
            straight = again in names.block(made) and again.lineno > made.lineno
            if more or not straight or not isinstance(again, ast.Assign):
                text = f"`{name.id}` has several values"
                raise Refused(self.module, name, text, "give the outputs a name of their own")
            found = [m for m in found if m.lineno <= (again.end_lineno or again.lineno)]
        for mention in found:
            self._step(mention)

    def _step(self, mention: ast.Name) -> None:
        parent = self.module.names.parents[mention]
        index = parent.slice if isinstance(parent, ast.Subscript) else None
        if index is None or not isinstance(constant(index), int):
            text = "the outputs of a network over a list are used as a list"
            raise Refused(self.module, mention, text, "take one of them, or use tf.nn.dynamic_rnn")
        self._check_inside(mention)
        code = self.module.source.code(index)
        self.replaced[parent] = lambda context: f"{context.render(mention)}[:, {code}]"

    # -- states ---------------------------------------------------------------------

    def _variable(self, name: ast.Name, state: State) -> None:
        """Every mention of a variable that is a state of a known structure."""
        names = self.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        mentions = names.mentions(name.id, home) if home is not None else []
        if sum(isinstance(m.ctx, ast.Store) for m in mentions) != 1:
            text = f"the state `{name.id}` has several values"
            raise Refused(self.module, name, text, "give it its own name")
        for mention in mentions:
            if isinstance(mention.ctx, ast.Load):
                self._mention(mention, state)

    def _mention(self, node: ast.expr, state: State) -> None:
        self._check_inside(node)
        parents = self.module.names.parents
        parent = parents[node]
        while state != TENSOR and isinstance(parent, (ast.Subscript, ast.Attribute)):
            if parent.value is not node:
                break
            if isinstance(parent, ast.Subscript):
                inner = self._element(state, parent.slice)
            elif attends(state) and parent.attr in ATTENDED_PARTS:
                place = ATTENDED_PARTS.index(parent.attr)
                inner = element_of(state, place) or TENSOR
                self.replaced[parent] = _item(node, place)
            else:
                break
            node, parent, state = parent, parents[parent], inner
        if state == TENSOR:
            return
        if state == PAIR and isinstance(parent, ast.Attribute) and parent.attr in _PLACES:
            self.replaced[parent] = _item(node, _PLACES[parent.attr])
            return
        if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            target = parent.targets[0]
            if isinstance(target, ast.Name):
                self._variable(target, state)
                return
            if state == PAIR and isinstance(target, (ast.Tuple, ast.List)):
                if len(target.elts) == 2 and all(isinstance(e, ast.Name) for e in target.elts):
                    return
        if not self._whole(node):
            text = "the state of a recurrent network is used as a whole"
            raise Refused(self.module, node, text, _ADVICE)

    def _whole(self, node: ast.expr) -> bool:
        """Whether a state begins a network, or is a part of what does: all of them are lists."""
        names = self.module.names
        parent = names.parents[node]
        argument = parent if isinstance(parent, ast.keyword) else node
        call = names.parents[argument] if isinstance(parent, ast.keyword) else parent
        if node in self._begun:
            return True
        if isinstance(call, ast.Call) and call in self.layers:
            return False
        if isinstance(parent, (ast.Tuple, ast.List, ast.GeneratorExp, ast.ListComp, ast.BinOp)):
            outer: ast.expr = parent
        elif isinstance(parent, ast.Call) and is_sequence(self.module, parent):
            outer = parent
        else:
            return False
        whole = structure(self.module, outer)
        if whole is None or whole == TENSOR:
            return False
        if isinstance(outer, ast.Tuple):
            self.replaced[outer] = _listed([*outer.elts])
        elif isinstance(outer, ast.Call):
            self.replaced[outer] = _list(outer.args[0])
        if outer not in self._known:
            self._known.add(outer)
            self._mention(outer, whole)
        return True

    def _pair(self, call: ast.Call) -> None:
        """`LSTMStateTuple(c, h)` is a list of the two."""
        if self.module.names.statement(call) not in self.inside:
            return  # another network's
        given = by_parameter(call, PAIR_PARTS)
        if len(given) != 2 or len(call.args) + len(call.keywords) != 2:
            raise Refused(self.module, call, "what an LSTM's state is made of cannot be told")
        self.replaced[call] = _listed([given[name] for name in PAIR_PARTS])
        self._mention(call, PAIR)

    def _element(self, state: State, index: ast.expr) -> State:
        known = constant(index)
        element = element_of(state, known) if not isinstance(index, ast.Slice) else None
        if element is None:
            text = "which part of a recurrent network's state this is cannot be determined"
            raise Refused(self.module, index, text, _ADVICE)
        return element

    def _check_inside(self, node: ast.AST) -> None:
        if self.module.names.statement(node) not in self.inside:
            text = "what a recurrent network gives is read after the network's output"
            raise Refused(self.module, node, text, "read it above, into a variable")


def _unstacked(name: ast.Name) -> Replacement:
    """The steps of a tensor, as a list."""
    return lambda context: f"{context.tf}.unstack({name.id}, axis=1)"


def _listed(parts: list[ast.expr]) -> Replacement:
    return lambda context: f"[{', '.join(map(context.render, parts))}]"


def _list(value: ast.expr) -> Replacement:
    """`tuple(value)` as a list, which `[state] * 2` is already."""
    display = value.left if isinstance(value, ast.BinOp) else value
    if isinstance(display, (ast.List, ast.ListComp)):
        return lambda context: context.render(value)
    return lambda context: f"list({context.render(value)})"


def _item(node: ast.expr, place: int) -> Replacement:
    return lambda context: f"{context.render(node)}[{place}]"


def _itself(node: ast.expr) -> Replacement:
    return lambda context: context.render(node)


def _chosen(node: ast.expr) -> Replacement:
    def write(context: Context) -> str:
        tf = context.tf
        return f"{tf}.argmax({context.render(node)}, -1, output_type={tf}.int32)"

    return write


def _identity(name: str) -> Replacement:
    return lambda context: f"{context.tf}.identity({name})"
