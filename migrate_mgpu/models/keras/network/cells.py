"""The classes of recurrent cells that a file gets: TF1's weights and TF1's arithmetic."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import (
    ATTENTION,
    BEAM_DECODER,
    CELLS,
    DECODER_CLASS,
    DROPOUT,
    GRU,
    HELPERS,
    INNER_START,
    JOINED,
    LENGTHS,
    LSTM,
    MECHANISMS,
    MONOTONIC,
    NORMALIZED,
    NORMALIZED_PARTS,
    PEEPHOLES,
    RNN,
    WRAPPERS,
    CellRow,
    is_joined,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.cell_states import joins_states
from migrate_mgpu.models.front.network.decoders import is_decoding
from migrate_mgpu.models.keras.constructors import cell_class_name
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import start_with_comments
from migrate_mgpu.source.style import FileStyle

_OWN = (RNN, GRU, LSTM, NORMALIZED)
_PROBABILITIES = ("input_keep_prob", "output_keep_prob")

# What a cell attends by. The keys of its memory are computed once, in front of the steps.
_BAHDANAU = """\
class {name}({tf}.keras.layers.Layer):
    \"\"\"How much each part of a memory has to do with a query: by a small network of both.\"\"\"

    def __init__(self, units):
        super().__init__()
        self.units = units
        self.memory_layer = {tf}.keras.layers.Dense(units, use_bias=False)
        self.query_layer = {tf}.keras.layers.Dense(units, use_bias=False)

    def build(self, input_shape):
        self.query_layer.build(input_shape)
        self.query_layer.built = True
        self.attention_v = self.add_weight(name={quote}attention_v{quote}, shape=[self.units])

    def attend(self, memory):
        self.memory = memory
        self.keys = self.memory_layer(memory)

    def call(self, query):
        total = self.keys + self.query_layer(query)[:, None]
        return {tf}.nn.softmax({tf}.reduce_sum(self.attention_v * {tf}.tanh(total), 2))
"""
_LUONG = """\
class {name}({tf}.keras.layers.Layer):
    \"\"\"How much each part of a memory has to do with a query: by the products of both.\"\"\"

    def __init__(self, units):
        super().__init__()
        self.memory_layer = {tf}.keras.layers.Dense(units, use_bias=False)

    def attend(self, memory):
        self.memory = memory
        self.keys = self.memory_layer(memory)

    def call(self, query):
        scores = {tf}.matmul(query[:, None], self.keys, transpose_b=True)
        return {tf}.nn.softmax({tf}.squeeze(scores, 1))
"""
# Where some are told how much of the memory counts: zeros stand for the rest, which has no share.
_COUNTED = (
    (
        "attend(self, memory):\n",
        """attend(self, memory, lengths=None):
        self.mask = None
        if lengths is not None:
            self.mask = {tf}.sequence_mask(lengths, {tf}.shape(memory)[1])
            memory = {tf}.where(self.mask[:, :, None], memory, 0.0)
""",
    ),
    (
        "        return {tf}.nn.softmax({tf}.squeeze(scores, 1))\n",
        "        scores = {tf}.squeeze(scores, 1)\n        return {tf}.nn.softmax(scores)\n",
    ),
    (
        "        return {tf}.nn.softmax({tf}.reduce_sum(self.attention_v * {tf}.tanh(total), 2))\n",
        """        scores = {tf}.reduce_sum(self.attention_v * {tf}.tanh(total), 2)
        return {tf}.nn.softmax(scores)
""",
    ),
    (
        "        return {tf}.nn.softmax(scores)\n",
        """        if self.mask is not None:
            scores = {tf}.where(self.mask, scores, float({quote}-inf{quote}))
        return {tf}.nn.softmax(scores)
""",
    ),
)
# Attention that never goes back: how likely each part is reached, and attended to.
_BIAS = """\
        self.attention_score_bias = self.add_weight(
            name={quote}attention_score_bias{quote}, shape=[], initializer={quote}zeros{quote})
"""
_NEVER_BACK = (
    (
        "How much each part of a memory has to do with a query:",
        "How likely a query is about a part of a memory, never going back:",
    ),
    ("shape=[self.units])\n", f"shape=[self.units])\n{_BIAS}"),
    (
        "    def call(self, query):",
        """    def begin(self, rows):
        return {tf}.one_hot({tf}.zeros([rows], {tf}.int32), {tf}.shape(self.keys)[1])

    def call(self, query, before):""",
    ),
    (
        "        return {tf}.nn.softmax(scores)\n",
        """        stays = {tf}.sigmoid(scores + self.attention_score_bias)
        passes = {tf}.clip_by_value(1 - stays, 1.17549435e-38, 1)
        reached = {tf}.exp({tf}.cumsum({tf}.math.log(passes), 1, exclusive=True))
        before = {tf}.cumsum(before / {tf}.clip_by_value(reached, 1e-10, 1.0), 1)
        return stays * reached * before
""",
    ),
)
_OWN_STATE = (
    (
        "self.state_size = [cell.state_size, attention_layer_size]",
        "self.state_size = [cell.state_size, attention_layer_size, {tf}.TensorShape([None])]",
    ),
    (
        "        return [state, {tf}.zeros([rows, self.output_size])]",
        """        alignments = self.attention_mechanism.begin(rows)
        return [state, {tf}.zeros([rows, self.output_size]), alignments]""",
    ),
    ("        state, attention = states\n", "        state, attention, alignments = states\n"),
    ("self.attention_mechanism(outputs)", "self.attention_mechanism(outputs, alignments)"),
    ("else state, attention]", "else state, attention, alignments]"),
    (
        """    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return {tf}.nest.map_structure(
            lambda size: {tf}.zeros([batch_size, size]), [self.cell.state_size, self.output_size])

""",
        "",
    ),
)
# What a decoder's cell begins with.
_BEGINS = """\
    def begin(self, state):
        rows = {tf}.shape({tf}.nest.flatten(state)[0])[0]
        return [state, {tf}.zeros([rows, self.output_size])]

"""
_ATTENTION = """\
class {name}({tf}.keras.layers.Layer):
    \"\"\"A cell that reads, and gives, what it attends to of a memory: `attend` tells it.\"\"\"

    def __init__(self, cell, attention_mechanism, attention_layer_size):
        super().__init__()
        self.cell = cell
        self.attention_mechanism = attention_mechanism
        self.attention_layer = {tf}.keras.layers.Dense(attention_layer_size, use_bias=False)
        self.state_size = [cell.state_size, attention_layer_size]
        self.output_size = attention_layer_size

    def attend(self, memory):
        self.attention_mechanism.attend(memory)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return {tf}.nest.map_structure(
            lambda size: {tf}.zeros([batch_size, size]), [self.cell.state_size, self.output_size])

    def build(self, input_shape):
        rows, outputs = input_shape[0], self.cell.output_size
        self.cell.build([rows, input_shape[-1] + self.output_size])
        self.cell.built = True
        self.attention_mechanism.build([rows, outputs])
        self.attention_mechanism.built = True
        size = outputs + self.attention_mechanism.memory.shape[-1]
        self.attention_layer.build([rows, size])
        self.attention_layer.built = True

    def call(self, inputs, states):
        state, attention = states
        alone = not {tf}.nest.is_nested(state)
        inputs = {tf}.concat([inputs, attention], 1)
        outputs, state = self.cell(inputs, [state] if alone else state)
        alignments = self.attention_mechanism(outputs)
        memory = self.attention_mechanism.memory
        context = {tf}.squeeze({tf}.matmul(alignments[:, None], memory), 1)
        attention = self.attention_layer({tf}.concat([outputs, context], 1))
        return attention, [state[0] if alone else state, attention]
"""


_JOINED = """\
class {name}({tf}.keras.layers.Layer):
    \"\"\"Cells one above the other, with the states of all of them in one tensor.\"\"\"

    def __init__(self, cells):
        super().__init__()
        self.cells = cells
        self.sizes = [size for cell in cells for size in {tf}.nest.flatten(cell.state_size)]
        self.state_size = sum(self.sizes)
        self.output_size = cells[-1].output_size

    def build(self, input_shape):
        for cell in self.cells:
            cell.build(input_shape)
            cell.built = True
            input_shape = [input_shape[0], cell.output_size]

    def call(self, inputs, states):
        parts, found = {tf}.split(states[0], self.sizes, axis=1), []
        for cell in self.cells:
            count = len({tf}.nest.flatten(cell.state_size))
            inputs, state = cell(inputs, parts[len(found):len(found) + count])
            found += state
        return inputs, [{tf}.concat(found, 1)]
"""


_DECODER = """\
class {name}({tf}.keras.layers.Layer):
    \"\"\"A recurrent cell, and a layer that makes scores of what it gives.\"\"\"

    def __init__(self, cell, output_layer):
        super().__init__()
        self.rnn = {tf}.keras.layers.RNN(cell, return_sequences=True)
        self.output_layer = output_layer

    def build(self, input_shape):
        self.rnn.build({tf}.TensorShape(input_shape))
        self.output_layer.build([None, None, self.rnn.cell.output_size])
        self.output_layer.built = True
        self.built = True

    def call(self, inputs, lengths, state, limit=None, zeros=True):
        \"\"\"The scores of each step of sequences, of so many as the longest one has.\"\"\"
        lengths = {tf}.cast(lengths, {tf}.int32)
        steps = {tf}.reduce_max(lengths)
        if limit is not None:
            steps = {tf}.minimum(steps, limit)
        states = state if {tf}.nest.is_nested(state) else [state]
        scores = self.output_layer(self.rnn(inputs[:, :steps], initial_state=states))
        mask = {tf}.sequence_mask(lengths, steps)
        return {tf}.where(mask[:, :, None], scores, 0.0) if zeros else scores

{scheduled}    def greedy(self, embedding, start, end, state, limit=None, zeros=True):
        \"\"\"What has the best score at each step, which is given to the next one.\"\"\"
        if not self.built:
            self.build([None, None, embedding.shape[-1]])
        start = {tf}.cast(start, {tf}.int32)
        chosen = {tf}.TensorArray({tf}.int32, 0, dynamic_size=True, element_shape=[None])
        finished = {tf}.zeros_like(start, {tf}.bool)
        nested = {tf}.nest.is_nested(state)

        def more(step, word, state, finished, chosen):
            return ~{tf}.reduce_all(finished)

        def choose(step, word, state, finished, chosen):
            inputs = {tf}.nn.embedding_lookup(embedding, word)
            outputs, new = self.rnn.cell(inputs, state if nested else [state])
            word = {tf}.argmax(self.output_layer(outputs), -1, output_type={tf}.int32)
            new = {tf}.nest.pack_sequence_as(state, {tf}.nest.flatten(new))
            ended = word == end
            if zeros:
                new = {tf}.nest.map_structure(
                    lambda old, one: {tf}.where(finished[:, None], old, one), state, new)
                chosen = chosen.write(step, {tf}.where(finished, 0, word))
            else:
                chosen = chosen.write(step, word)
            return step + 1, word, new, finished | ended, chosen

        *_, chosen = {tf}.while_loop(
            more, choose, [0, start, state, finished, chosen], maximum_iterations=limit)
        return {tf}.transpose(chosen.stack())
"""
_SCHEDULED = """\
    def scheduled(self, inputs, lengths, embedding, probability, state, limit=None, zeros=True):
        \"\"\"The scores of each step, which may be given a word that the last one drew.\"\"\"
        if not self.built:
            self.build([None, None, inputs.shape[-1]])
        lengths = {tf}.cast(lengths, {tf}.int32)
        steps = {tf}.reduce_max(lengths)
        if limit is not None:
            steps = {tf}.minimum(steps, limit)
        rows, last = {tf}.shape(inputs)[0], {tf}.shape(inputs)[1] - 1
        size = self.output_layer.units
        scores = {tf}.TensorArray({tf}.float32, steps, element_shape=[None, size])
        nested = {tf}.nest.is_nested(state)

        def more(step, given, state, scores):
            return step < steps

        def advance(step, given, state, scores):
            outputs, new = self.rnn.cell(given, state if nested else [state])
            new = {tf}.nest.pack_sequence_as(state, {tf}.nest.flatten(new))
            outputs = self.output_layer(outputs)
            taken = {tf}.where({tf}.random.uniform([rows]) < probability)
            words = {tf}.random.categorical(outputs, 1, dtype={tf}.int32)[:, 0]
            drawn = {tf}.nn.embedding_lookup(embedding, {tf}.gather_nd(words, taken))
            given = inputs[:, {tf}.minimum(step + 1, last)]
            given = {tf}.tensor_scatter_nd_update(given, taken, drawn)
            return step + 1, given, new, scores.write(step, outputs)

        *_, scores = {tf}.while_loop(more, advance, [0, inputs[:, 0], state, scores])
        scores = {tf}.transpose(scores.stack(), [1, 0, 2])
        mask = {tf}.sequence_mask(lengths, steps)
        return {tf}.where(mask[:, :, None], scores, 0.0) if zeros else scores

"""
_BEAMS = """
    def beams(self, embedding, start, end, state, width, limit=None):
        \"\"\"The most likely sequences that a search with beams finds, the best first.

        They are [rows, steps, beams].
        \"\"\"
        if not self.built:
            self.build([None, None, embedding.shape[-1]])
        rows, size = {tf}.size(start), self.output_layer.units
        start, end = {tf}.cast(start, {tf}.int32), {tf}.cast(end, {tf}.int32)
        start = {tf}.repeat(start[:, None], width, axis=1)
        state = {tf}.nest.map_structure(lambda one: {tf}.repeat(one, width, axis=0), state)
        nested = {tf}.nest.is_nested(state)
        own = {tf}.zeros_like(start) + {tf}.range(width)
        finished = own > 0  # one beam begins
        total = {tf}.where(finished, float({quote}-inf{quote}), 0.0)
        chosen, parents = (
            {tf}.TensorArray({tf}.int32, 0, dynamic_size=True, element_shape=[None, None])
            for _ in range(2))

        def more(step, words, state, total, finished, lengths, chosen, parents):
            return ~{tf}.reduce_all(finished)

        def extend(step, words, state, total, finished, lengths, chosen, parents):
            inputs = {tf}.nn.embedding_lookup(embedding, {tf}.reshape(words, [-1]))
            outputs, new = self.rnn.cell(inputs, state if nested else [state])
            new = {tf}.nest.pack_sequence_as(state, {tf}.nest.flatten(new))
            scores = {tf}.nn.log_softmax(self.output_layer(outputs))
            scores = {tf}.reshape(scores, [rows, width, size])
            ends = {tf}.one_hot(end, size, 0.0, scores.dtype.min)
            scores = total[:, :, None] + {tf}.where(finished[:, :, None], ends, scores)
            total, places = {tf}.math.top_k({tf}.reshape(scores, [rows, width * size]), width)
            words, beams = places % size, places // size
            finished, lengths = (
                {tf}.gather(one, beams, axis=1, batch_dims=1) for one in (finished, lengths))
            lengths += {tf}.cast(~finished, {tf}.int32)
            source = {tf}.reshape(beams + width * {tf}.range(rows)[:, None], [-1])
            new = {tf}.nest.map_structure(lambda one: {tf}.gather(one, source), new)
            ended, chosen = finished | (words == end), chosen.write(step, words)
            return step + 1, words, new, total, ended, lengths, chosen, parents.write(step, beams)

        *_, lengths, chosen, parents = {tf}.while_loop(
            more, extend,
            [0, start, state, total, finished, {tf}.zeros_like(start), chosen, parents],
            maximum_iterations=limit)
        chosen, parents, longest = chosen.stack(), parents.stack(), {tf}.reduce_max(lengths, 1)

        def back(found, step):
            inside = (step[0] < longest)[:, None]
            word, beam = ({tf}.gather(one, found[1], axis=1, batch_dims=1) for one in step[1:])
            return {tf}.where(inside, word, end), {tf}.where(inside, beam, found[1])

        steps = {tf}.range({tf}.shape(chosen)[0])
        words, _ = {tf}.scan(back, (steps, chosen, parents), (own, own), reverse=True)
        ended = {tf}.cumsum({tf}.cast(words == end, {tf}.int32), exclusive=True) > 0
        return {tf}.transpose({tf}.where(ended, end, words), [1, 0, 2])
"""


def classes(module: Module, calls: Iterable[ast.Call], style: FileStyle) -> list[str]:
    """The texts of the classes that some calls of a file make cells of."""
    calls = [*calls]
    kinds = {row.cell for call in calls if (row := _row(module, call)) is not None}
    wrappers = [_mechanism(module, kind, style) for kind in MECHANISMS if kind in kinds]
    wrappers += [_attention(module, style)] if ATTENTION in kinds else []
    if any(is_joined(module, call) or joins_states(module, call) for call in calls):
        wrappers.append(_written(_JOINED, cell_class_name(module, JOINED), style))
    wrappers += [_wrapper(module, kind, style) for kind in WRAPPERS if kind in kinds]
    if any(is_decoding(module, call) for call in module.names.calls):
        wrappers.append(_decoder(module, style))
    return [*wrappers, *(_class(module, kind, style) for kind in _OWN if kind in kinds)]


def cells_in(module: Module) -> list[ast.Call]:
    """Every call of a file that makes a cell of a class that it gets."""
    return [
        call
        for call in module.names.calls
        if (row := _row(module, call)) is not None and (row.cell or is_joined(module, call))
    ]


def _class(module: Module, kind: str, style: FileStyle) -> str:
    """The class of one kind of cells, with the settings that the file's cells have."""
    given = {
        keyword
        for call in cells_in(module)
        if (row := _row(module, call)) is not None and row.cell == kind
        for keyword in _settings(module, call, row)
    }
    forgets, acts, begins, sees = (
        name in given for name in ("forget_bias", "activation", "kernel", PEEPHOLES)
    )
    tf, unit, quote = style.tensorflow, style.indent, style.quote
    act = "self.activation" if acts else f"{tf}.tanh"
    start = ", initializer=self.kernel_initializer" if begins else ""
    defaults = {"units": ""}
    defaults |= {"forget_bias": "1.0"} if forgets else {}
    defaults |= {"activation": f"{tf}.tanh"} if acts else {}
    defaults |= {"kernel_initializer": f"{quote}glorot_uniform{quote}"} if begins else {}
    defaults |= {PEEPHOLES: "False"} if sees else {}
    parameters = [f"{name}={text}" if text else name for name, text in defaults.items()]
    settings = list(defaults)
    zeros = f"initializer={quote}zeros{quote}"
    ones = f"initializer={quote}ones{quote}"

    def weight(name: str, shape: str, rest: str, deeper: bool = False) -> str:
        head, base = f"{unit * deeper}self.{name} = ", unit * (2 + deeper)
        text = f"self.add_weight(name={quote}{name}{quote}, shape=[{shape}]{rest})"
        return head + style.fitted(text, base, len(unit * 2) + len(head))

    more: list[str] = []  # methods
    if kind == LSTM:
        forget = "self.forget_bias" if forgets else "1.0"
        text = "An LSTM cell with one kernel for its inputs and its state."
        size = "[units, units]"
        build = [
            weight("kernel", "rows, 4 * self.units", start),
            weight("bias", "4 * self.units", f", {zeros}"),
        ]
        step = [
            "c, h = states",
            f"gates = {tf}.matmul({tf}.concat([inputs, h], 1), self.kernel) + self.bias",
            f"i, j, f, o = {tf}.split(gates, 4, axis=1)",
            f"c = c * {tf}.sigmoid(f + {forget}) + {tf}.sigmoid(i) * {act}(j)",
            f"h = {act}(c) * {tf}.sigmoid(o)",
            "return h, [c, h]",
        ]
        if sees:
            see = f"if self.{PEEPHOLES}:"
            build.append(see)
            build += [
                weight(f"w_{one}_diag", "self.units", start, deeper=True) for one in ("f", "i", "o")
            ]
            looks = f"{unit}i, f = i + self.w_i_diag * c, f + self.w_f_diag * c"
            step = [*step[:3], see, looks, step[3], see, f"{unit}o += self.w_o_diag * c", *step[4:]]
    elif kind == NORMALIZED:
        forget = "self.forget_bias" if forgets else "1.0"
        text = "An LSTM cell whose gates and memory have mean 0 and variance 1."
        size = "[units, units]"
        told = ", ".join(f"{quote}{part}{quote}" for part in NORMALIZED_PARTS)
        build = [
            weight("kernel", "rows, 4 * self.units", start),
            "self.gammas, self.betas = [], []",
            f"for part in ({told}):",
            *(
                f"{unit}self.{one}s.append(self.add_weight(\n"
                f"{unit * 4}name=part + {quote}_{one}{quote}, shape=[self.units], {first}))"
                for one, first in (("gamma", ones), ("beta", zeros))
            ),
        ]
        step = [
            "c, h = states",
            f"gates = {tf}.matmul({tf}.concat([inputs, h], 1), self.kernel)",
            f"gates = enumerate({tf}.split(gates, 4, axis=1))",
            "i, j, f, o = [self.normalized(gate, part) for part, gate in gates]",
            f"c = c * {tf}.sigmoid(f + {forget}) + {tf}.sigmoid(i) * {act}(j)",
            "c = self.normalized(c, 4)",
            f"h = {act}(c) * {tf}.sigmoid(o)",
            "return h, [c, h]",
        ]
        more = [
            "",
            "def normalized(self, values, part):",
            f"{unit}mean, variance = {tf}.nn.moments(values, [1], keepdims=True)",
            f"{unit}return {tf}.nn.batch_normalization(",
            f"{unit * 2}values, mean, variance, self.betas[part], self.gammas[part], 1e-12)",
        ]
    elif kind == GRU:
        text = "A GRU cell with one kernel for its inputs and its state, and one for its candidate."
        size = "units"
        build = [
            weight("gate_kernel", "rows, 2 * self.units", start),
            weight("gate_bias", "2 * self.units", f", {ones}"),
            weight("candidate_kernel", "rows, self.units", start),
            weight("candidate_bias", "self.units", f", {zeros}"),
        ]
        step = [
            "h = states[0]",
            f"gates = {tf}.matmul({tf}.concat([inputs, h], 1), self.gate_kernel) + self.gate_bias",
            f"r, u = {tf}.split({tf}.sigmoid(gates), 2, axis=1)",
            f"c = {tf}.matmul({tf}.concat([inputs, r * h], 1), self.candidate_kernel)",
            f"h = u * h + (1 - u) * {act}(c + self.candidate_bias)",
            "return h, [h]",
        ]
    else:
        text = "A recurrent cell with one kernel for its inputs and its state."
        size = "units"
        build = [
            weight("kernel", "rows, self.units", start),
            weight("bias", "self.units", f", {zeros}"),
        ]
        step = [
            f"h = {tf}.matmul({tf}.concat([inputs, states[0]], 1), self.kernel)",
            f"h = {act}(h + self.bias)",
            "return h, [h]",
        ]
    lines = [
        f"class {cell_class_name(module, kind)}({tf}.keras.layers.Layer):",
        f'{unit}"""{text}"""',
        "",
        f"{unit}def __init__(self, {', '.join(parameters)}):",
        f"{unit * 2}super().__init__()",
        *(f"{unit * 2}self.{name} = {name}" for name in settings),
        f"{unit * 2}self.state_size = {size}",
        f"{unit * 2}self.output_size = units",
        "",
        f"{unit}def build(self, input_shape):",
        f"{unit * 2}rows = input_shape[-1] + self.units",
        *(unit * 2 + line for line in build),
        "",
        f"{unit}def call(self, inputs, states):",
        *(unit * 2 + line for line in step),
        *(unit + line if line else line for line in more),
    ]
    return "\n".join(lines)


def _wrapper(module: Module, kind: str, style: FileStyle) -> str:
    """The class of one kind of cells around a cell, with the settings that the file's have."""
    tf, unit = style.tensorflow, style.indent
    given = {
        name
        for call in cells_in(module)
        if (row := _row(module, call)) is not None and row.cell == kind
        for name in _PROBABILITIES
        if NamedArguments(module, call, row.signature).given(name) is not None
    }
    settings = ["cell", *(name for name in _PROBABILITIES if name in given)]
    if kind == DROPOUT:
        text = "A cell that drops parts of what another one is given or gives, others at each step."
        drops = {
            one: f"{one} = {tf}.nn.dropout({one}, 1 - self.{one[:-1]}_keep_prob)"
            for one in ("inputs", "outputs")
        }
        step = [drops["inputs"]] if "input_keep_prob" in given else []
        step.append("outputs, states = self.cell(inputs, states)")
        if "output_keep_prob" in given:
            step.append(drops["outputs"])
        step.append("return outputs, states")
    else:
        text = "A cell that adds what it is given to what another one gives."
        step = ["outputs, states = self.cell(inputs, states)", "return inputs + outputs, states"]
    parameters = [settings[0], *(f"{name}=1.0" for name in settings[1:])]
    lines = [
        f"class {cell_class_name(module, kind)}({tf}.keras.layers.Layer):",
        f'{unit}"""{text}"""',
        "",
        f"{unit}def __init__(self, {', '.join(parameters)}):",
        f"{unit * 2}super().__init__()",
        *(f"{unit * 2}self.{name} = {name}" for name in settings),
        f"{unit * 2}self.state_size = cell.state_size",
        f"{unit * 2}self.output_size = cell.output_size",
        "",
        f"{unit}def build(self, input_shape):",
        f"{unit * 2}self.cell.build(input_shape)",
        f"{unit * 2}self.cell.built = True",
        "",
        f"{unit}def call(self, inputs, states):",
        *(unit * 2 + line for line in step),
    ]
    return "\n".join(lines)


def _mechanism(module: Module, kind: str, style: FileStyle) -> str:
    """The class of what cells attend by."""
    text = _BAHDANAU if kind.startswith("Bahdanau") else _LUONG
    counts = _COUNTED if _is_counted(module, kind) else _COUNTED[1:3] if kind in MONOTONIC else ()
    for old, new in (*counts, *(_NEVER_BACK if kind in MONOTONIC else ())):
        text = text.replace(old, new)
    if kind in MONOTONIC and "def build" not in text:
        text = text.replace(
            "    def attend", f"    def build(self, input_shape):\n{_BIAS}\n    def attend"
        )
    return _written(text, cell_class_name(module, kind), style)


def _is_counted(module: Module, kind: str) -> bool:
    """Whether some mechanism of a kind is told how much of its memory counts."""
    calls = [call for call in cells_in(module) if (row := _row(module, call)) and row.cell == kind]
    signature = CELLS.by_kind[kind].signature
    return any(NamedArguments(module, call, signature).given(LENGTHS) is not None for call in calls)


def _decoder(module: Module, style: FileStyle) -> str:
    """The class of a decoder, with what the file's decoders do besides."""
    kinds = {name_of(module, call) for call in module.names.calls}
    draws = any(kind in kinds for kind, one in HELPERS.items() if one.draws)
    text = _DECODER.replace("{scheduled}", _SCHEDULED if draws else "")
    text += _BEAMS if BEAM_DECODER in kinds else ""
    return _written(text, cell_class_name(module, DECODER_CLASS), style)


def _attention(module: Module, style: FileStyle) -> str:
    """The class of a cell around a cell that attends to a memory."""
    text = _ATTENTION
    if any(_is_counted(module, kind) for kind in MECHANISMS):
        old = "attend(self, memory):\n        self.attention_mechanism.attend(memory)"
        new = old.replace("memory)", "memory, lengths)")
        text = text.replace(
            old, new.replace("(self, memory, lengths)", "(self, memory, lengths=None)")
        )
    begins = any(is_decoding(module, call) or _begins(module, call) for call in module.names.calls)
    text = text.replace("    def build", f"{_BEGINS}    def build") if begins else text
    if any(row.cell in MONOTONIC for call in cells_in(module) if (row := _row(module, call))):
        for old, new in _OWN_STATE:
            text = text.replace(old, new)
    return _written(text, cell_class_name(module, ATTENTION), style)


def _begins(module: Module, call: ast.Call) -> bool:
    """Whether a cell with attention is given what the cell in it begins with."""
    row = _row(module, call)
    given = NamedArguments(module, call, row.signature) if row is not None else None
    return given is not None and given.given(INNER_START) is not None


def _written(text: str, name: str, style: FileStyle) -> str:
    return style.code(text.rstrip("\n"), name=name)


def _row(module: Module, call: ast.Call) -> CellRow | None:
    return CELLS.by_name.get(name_of(module, call))


def _settings(module: Module, call: ast.Call, row: CellRow) -> set[str]:
    """The settings that a cell is given, by the names that they have in its class."""
    edit = NamedArguments(module, call, row.signature)
    found = {name for name in ("forget_bias", "activation") if edit.given(name) is not None}
    if (sees := edit.given(PEEPHOLES)) is not None and constant(sees) is not False:
        found.add(PEEPHOLES)
    kernels = ("initializer", "kernel_initializer")
    return found | {"kernel" for name in kernels if edit.given(name) is not None}


def class_edits(module: Module, nodes: Iterable[ast.AST], style: FileStyle) -> list[Edit]:
    """The classes that some code of a file needs, above the first function that makes a cell."""
    calls = [part for node in nodes for part in walk(node) if isinstance(part, ast.Call)]
    texts = classes(module, calls, style)
    if not texts:
        return []
    source = module.source
    tops = [_top(module, call) for call in cells_in(module)]
    first = min(tops, key=lambda node: node.lineno)
    lines = [d.lineno for d in getattr(first, "decorator_list", [])]
    start = source.line_starts[min([first.lineno, *lines]) - 1]
    start = start_with_comments(source.text, start)
    gap = source.newline * 3
    text = gap.join(source.newline.join(text.split("\n")) for text in texts)
    return [Edit(start, start, text + gap)]


def _top(module: Module, node: ast.AST) -> ast.stmt:
    """The statement of the file itself that a node stands in."""
    found = module.names.statement(node)
    for parent in module.names.ancestors(found):
        if isinstance(parent, ast.stmt):
            found = parent
    return found
