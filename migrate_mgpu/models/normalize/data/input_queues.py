"""Input queues as datasets, in the places of their batches.

    queue = tf.train.string_input_producer(files)
    _, record = tf.TFRecordReader().read(queue)
    image = tf.decode_raw(record, tf.uint8)
    images = tf.train.shuffle_batch([image], 32, capacity=500, min_after_dequeue=400)

becomes

    def parse_example(record):
        image = tf.decode_raw(record, tf.uint8)
        return image

    dataset = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files)).repeat()
    dataset = dataset.flat_map(tf.data.TFRecordDataset).map(parse_example)
    dataset = dataset.shuffle(500).batch(32, drop_remainder=True).prefetch(1)
    iterator = dataset.make_one_shot_iterator()
    images = iterator.get_next()

A function that takes the queue, and reads of it, takes a record. Batches are the same where nothing
is shuffled: one thread reads the files one after the other, epoch by epoch, and what is left over
in the end is dropped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.queues import BATCHES, WHOLE_FILES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.data.queue_pipelines import (
    Pipeline,
    Reader,
    ReadingFunction,
    not_understood,
    pipeline,
    told_outside,
)
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, start_with_comments

# Blocks that name operations, or say where a pipeline runs, which is on the host anyway.
_SCOPES = ("name_scope", "device")


def as_datasets(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all pipelines of a program; none where one of them is not understood."""
    return _edits({one: _batches(one) for one in modules}, graph)


def of_input_function(
    module: Module, node: ast.FunctionDef, graph: CallGraph
) -> dict[Module, list[Edit]]:
    """The edits for the pipelines of an Estimator's input function, which others may be around."""
    inside = [call for call in _batches(module) if node in module.names.ancestors(call)]
    return _edits({module: inside}, graph, nested=True) if inside else {}


def _batches(module: Module) -> list[ast.Call]:
    known = calls_of_names(module)
    return sorted((call for n in BATCHES for call in known.get(n, ())), key=position)


def _edits(
    batches: Mapping[Module, Sequence[ast.Call]], graph: CallGraph, nested: bool = False
) -> dict[Module, list[Edit]]:
    edits: dict[Module, list[Edit]] = {}
    functions: dict[ast.AST, ReadingFunction] = {}
    calls: set[ast.AST | None] = set()
    try:
        for module, found in batches.items():
            own = [pipeline(module, call, graph, nested) for call in found]
            for node in dict.fromkeys(one.home for one in own):
                here = [one for one in own if one.home is node]
                edits.setdefault(module, []).extend(_Writer(here, graph).edits())
            for one in own:
                calls.add(one.reading)
                if one.function is not None:
                    functions[one.function.function.node] = one.function
        for function in functions.values():
            if any(one.call not in calls for one in graph.references(function.function)):
                return {}
            edits.setdefault(function.function.module, []).extend(_of_record(function))
    except Refused:
        return {}
    return edits


def _of_record(reading: ReadingFunction) -> Iterator[Edit]:
    """The edits of a function that is given a record, or a file's name, for a queue."""
    module, node = reading.function.module, reading.function.node
    assert isinstance(node, ast.FunctionDef)
    for one in node.args.args:
        if one.arg == reading.parameter:
            start = module.source.span(one)[0]
            yield Edit(start, start + len(one.arg), reading.takes)
    *others, last = reading.gone
    yield from (Layout(module.source, one).replace([]) for one in others)
    lines = []
    if reading.reader.name == WHOLE_FILES:
        lines = [f"{reading.value} = {root(module, last)}.read_file({reading.key})"]
    yield Layout(module.source, last).replace(lines)


class _Writer:
    """The pipelines of one function, or of a script, as datasets."""

    def __init__(self, pipelines: Sequence[Pipeline], graph: CallGraph) -> None:
        self.graph = graph
        self.pipelines = {one.statement: one for one in pipelines}
        self.module = pipelines[0].module
        self.home = pipelines[0].home
        self.source = self.module.source
        self.own = {statement for one in pipelines for statement in one.statements}
        self.taken: set[str] = set()

    def edits(self) -> Iterator[Edit]:
        """The edits of all, from the first statement of a pipeline to its batch."""
        spans: dict[tuple[ast.stmt, ...], list[tuple[int, int]]] = {}
        for one in self.pipelines.values():
            body = self._block(one)
            places = [i for i, statement in enumerate(body) if self._touches(statement, one)]
            spans.setdefault(tuple(body), []).append((places[0], places[-1]))
        for block, found in spans.items():
            merged: list[tuple[int, int]] = []
            for first, last in sorted(found):
                if merged and first <= merged[-1][1]:
                    first, last = merged[-1][0], max(last, merged.pop()[1])
                merged.append((first, last))
            for first, last in merged:
                yield self._replaced(block[first : last + 1])

    def _block(self, one: Pipeline) -> list[ast.stmt]:
        """The innermost block that has all of a pipeline, and more than that."""
        body = self.home.body
        while True:
            touched = [statement for statement in body if self._touches(statement, one)]
            only = touched[0] if len(touched) == 1 else None
            if not isinstance(only, ast.With) or self._only_places(only):
                return body
            body = only.body

    def _only_places(self, block: ast.With) -> bool:
        """Whether a block gives names or a place to pipelines alone: it goes with them."""
        for item in block.items:
            named = name_of(self.module, item.context_expr) in _SCOPES
            if not named or item.optional_vars is not None:
                return False
        return not any(
            name_of(self.module, part) or self.graph.target(self.module, part.func) is not None
            for statement in in_line(block.body)
            if statement not in self.own and not isinstance(statement, ast.With)
            for part in walk(statement)
            if isinstance(part, ast.Call)
        )

    def _replaced(self, statements: Sequence[ast.stmt]) -> Edit:
        start, end = Layout(self.source, statements[0]), Layout(self.source, statements[-1])
        if not start.owns_lines or not end.owns_lines:
            raise not_understood(self.module, statements[0])
        block = Block(self.source, start.indent)
        for statement in statements:
            self._emit(block, statement)
        begin = start_with_comments(self.source.text, start.line_start)
        above = self.source.text[:begin].splitlines()[-1:]
        begins = not above or not above[0].strip() or above[0].rstrip().endswith(":")
        if block.lines[0].lstrip().startswith("def ") and not begins:
            block.lines[:0] = self._blank
        return Edit(begin, end.next_line, block.text())

    def _touches(self, statement: ast.stmt, one: Pipeline) -> bool:
        inside: AbstractSet[ast.stmt] = {*in_line([statement])}
        return bool(inside & one.statements)

    def _emit(self, block: Block, statement: ast.stmt) -> None:
        if statement in self.pipelines:
            self._write(block, self.pipelines[statement])
        elif isinstance(statement, ast.With) and self.own & {*in_line([statement])}:
            if not self._only_places(statement):
                raise not_understood(self.module, statement)
            for one in statement.body:
                self._emit(block, one)
        elif statement not in self.own:
            block.statement(statement, [])

    @property
    def _blank(self) -> list[str]:
        """The lines around a function."""
        return [""] * (1 + isinstance(self.home, ast.Module))

    def _fresh(self, *wished: str) -> str:
        free = [one for one in wished if one not in self.taken]
        name = self.module.names.fresh(self.module.names.scopes[self.home], *free)
        self.taken.add(name)
        return name

    # -- one pipeline ----------------------------------------------------------------------

    def _write(self, block: Block, one: Pipeline) -> None:
        function = self._example(block, one)
        dataset = self._fresh("dataset", *(f"dataset_{i}" for i in range(2, 9)))
        iterator = self._fresh("iterator", *(f"iterator_{i}" for i in range(2, 9)))
        mapped = f".map({function}{self._parallel(one)})" if function else ""
        block.comments(one.statement)
        line = f"{dataset} = "
        for text in [*self._read(one), mapped, *self._batch(one)]:
            if not line.endswith("= ") and len(f"{block.indent}{line}{text}") > self.source.width:
                block.line(line)
                line = f"{dataset} = {dataset}"
            line += text
        block.line(line)
        block.line(f"{iterator} = {dataset}.make_one_shot_iterator()")
        targets = one.statement.targets if isinstance(one.statement, ast.Assign) else ()
        gives = [f"{self.source.code(target)} =" for target in targets] or ["return"]
        block.line(f"{gives[0]} {iterator}.get_next()")

    def _parallel(self, one: Pipeline) -> str:
        count = one.count or one.given.given("num_threads")
        if count is None or constant(count) == 1:
            return ""
        return f", num_parallel_calls={self.source.code(count)}"

    def _example(self, block: Block, one: Pipeline) -> str:
        """What makes an example of what is read; nothing where that is one."""
        tensors = one.given.get("tensors")
        assert tensors is not None
        call = self._only_call(one, tensors)
        if call is not None and one.function is not None:
            text = splice(self.source.text, self._edits(one, call), *self.source.span(call))
            plain = len(call.args) + len(call.keywords) == 1
            return self.source.code(call.func) if plain else f"lambda {one.function.takes}: {text}"
        whole = one.reader is not None and one.reader.name == WHOLE_FILES and not one.function
        told = self._shapes(one, tensors)
        if not (one.example or whole or told) and _names(tensors) == one.parameters:
            return ""
        wished = "parse_example" if one.reader is not None else "load_example"
        name = self._fresh(wished, *(f"{wished}_{i}" for i in range(2, 9)))
        block.lines += self._blank if block.lines else []
        block.line(f"def {name}({'*' * one.starred}{', '.join(one.parameters)}):")
        if whole:
            block.line(f"{one.value} = {root(self.module, one.call)}.read_file({one.key})", 1)
        for statement in one.example:
            block.statement(statement, self._edits(one, statement), 1)
        for text in told:
            block.line(text, 1)
        block.line(f"return {self._returned(one, tensors)}", 1)
        block.lines += self._blank
        return name

    def _only_call(self, one: Pipeline, tensors: ast.expr) -> ast.Call | None:
        """The call of the author's function that gives all of an example, and is all of it."""
        if one.given.given("shapes") is not None:
            if one.count is not None:  # nothing has a name there
                raise not_understood(self.module, one.call)
            return None
        if one.count is not None or one.reading is None:
            return one.reading
        statement = one.example[0]
        assert isinstance(statement, ast.Assign)
        same = _names(statement.targets[0]) == _names(tensors) != []
        return one.reading if same and len(one.example) == 1 else None

    def _edits(self, one: Pipeline, node: ast.AST) -> list[Edit]:
        """A function is given what is read, for a queue."""
        if one.reading is None or one.function is None or one.reading not in walk(node):
            return []
        argument = one.function.argument(self.module, one.reading)
        return [Edit(*self.source.span(argument), one.function.takes)]

    def _shapes(self, one: Pipeline, tensors: ast.expr) -> list[str]:
        """The shapes that a batch is told, of what comes out of Python's own code, say."""
        shapes = one.given.given("shapes")
        if shapes is None:
            return []
        names = _names(tensors)
        told = shapes.elts if isinstance(shapes, (ast.List, ast.Tuple)) else []
        if not names or len(told) != len(names):
            raise not_understood(self.module, shapes)
        return [f"{name}.set_shape({self.source.code(one)})" for name, one in zip(names, told)]

    def _returned(self, one: Pipeline, tensors: ast.expr) -> str:
        code = self.source.code
        if isinstance(tensors, (ast.List, ast.Tuple)):
            return ", ".join(map(code, tensors.elts))
        made = [
            statement.value
            for statement in one.example
            if isinstance(statement, ast.Assign) and _names(statement.targets[0]) == _names(tensors)
        ]
        several = made and isinstance(made[-1], (ast.List, ast.ListComp))
        return f"tuple({code(tensors)})" if several or one.starred else code(tensors)

    def _read(self, one: Pipeline) -> list[str]:
        """What makes a dataset of all that is read, and what is called of it."""
        code, given = self.source.code, one.producer.given
        tf = root(self.module, one.call)
        epochs = given.given("num_epochs")
        repeated = f".repeat({code(epochs) if epochs is not None else ''})"
        if one.reader is None:
            values = given.get("tensor_list")
            if not isinstance(values, (ast.List, ast.Tuple)):
                raise not_understood(self.module, one.call)
            texts = [code(value) for value in values.elts]
            text = ", ".join(texts) if len(texts) > 1 else f"{texts[0]},"
            shuffled = self._shuffled(one, values.elts[0])
            return [f"{tf}.data.Dataset.from_tensor_slices(({text}))", shuffled, repeated]
        files = given.get("string_tensor")
        if files is None:
            raise not_understood(self.module, one.call)
        only = isinstance(files, ast.List) and len(files.elts) == 1
        shuffled = "" if only else self._shuffled(one, files)
        names = [f"{tf}.data.Dataset.from_tensor_slices({code(files)})", shuffled, repeated]
        if one.reader.name == WHOLE_FILES:
            return names
        kind = f"{tf}.data.{one.reader.name.replace('Reader', 'Dataset')}"
        more, skipped = self._of_reader(one, one.reader)
        if not shuffled and not skipped:
            return [f"{kind}({code(files)}{more})", repeated]
        each = f"lambda name: {kind}(name{more}){skipped}" if more or skipped else kind
        return [*names, f".flat_map({each})"]

    def _of_reader(self, one: Pipeline, reader: Reader) -> tuple[str, str]:
        """What a dataset of records is given besides its files, and what it leaves out."""

        def code(value: ast.expr) -> str:
            home = one.function.function if one.function is not None else None
            return told_outside(reader.given.module, value, home)

        for name in ("options", "hop_bytes", "encoding"):
            value = reader.given.given(name)
            if value is not None:
                raise not_understood(self.module, value)
        header = reader.given.given("skip_header_lines")
        more = ""
        for name in ("record_bytes", "header_bytes", "footer_bytes"):
            value = reader.given.given(name)
            if value is not None:
                named = "" if name == "record_bytes" else f"{name}="
                more += f", {named}{code(value)}"
        return more, f".skip({code(header)})" if header is not None else ""

    def _shuffled(self, one: Pipeline, values: ast.expr) -> str:
        given = one.producer.given
        shuffles = given.get("shuffle")
        if shuffles is not None and not isinstance(constant(shuffles), bool):
            raise not_understood(self.module, shuffles)
        if shuffles is not None and constant(shuffles) is False:
            return ""
        if isinstance(values, (ast.List, ast.Tuple)):
            count = str(len(values.elts))
        elif isinstance(values, (ast.Name, ast.Attribute)):
            count = f"len({self.source.code(values)})"
        else:
            raise not_understood(self.module, values)
        seed = given.given("seed")
        return f".shuffle({count}{f', seed={self.source.code(seed)}' if seed is not None else ''})"

    def _batch(self, one: Pipeline) -> list[str]:
        code, given = self.source.code, one.given
        for name in ("enqueue_many", "dynamic_pad"):
            value = given.given(name)
            if value is not None and constant(value) is not False:
                raise not_understood(self.module, value)
        text = ""
        if "shuffle" in name_of(self.module, one.call):
            capacity, seed = given.given("capacity"), given.given("seed")
            if capacity is None:
                raise not_understood(self.module, one.call)
            with_seed = f", seed={code(seed)}" if seed is not None else ""
            text = f".shuffle({code(capacity)}{with_seed})"
        size, smaller = given.get("batch_size"), given.given("allow_smaller_final_batch")
        assert size is not None
        rest = ", drop_remainder=True"
        if smaller is not None and constant(smaller) is True:
            rest = ""
        elif smaller is not None and constant(smaller) is not False:
            simple = isinstance(smaller, (ast.Name, ast.Attribute))
            rest = f", drop_remainder=not {code(smaller) if simple else f'({code(smaller)})'}"
        return [text, f".batch({code(size)}{rest})", ".prefetch(1)"]


def _names(node: ast.expr) -> list[str]:
    """The names that a target or a value consists of; none where there is something else."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    names = [one.id for one in parts if isinstance(one, ast.Name)]
    return names if len(names) == len(parts) else []
