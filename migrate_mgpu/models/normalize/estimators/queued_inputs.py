"""Input functions that fill queues: what they take of them comes out of a Dataset's iterator.

    queue = tf.train.string_input_producer(tf.train.match_filenames_once(pattern), num_epochs=3)
    _, rows = tf.TextLineReader().read_up_to(queue, num_records=20)

becomes

    dataset = tf.data.Dataset.list_files(pattern).repeat(3)
    dataset = dataset.flat_map(lambda name: tf.data.TextLineDataset(name).batch(20))
    rows = dataset.make_one_shot_iterator().get_next()

and so do batches of arrays (`tf.train.shuffle_batch([x, y], ..., enqueue_many=True)`), which never
end, and those of a `numpy_input_fn` that the function calls itself; what is read record by record,
and then made batches of, is as in session programs. What the function computes of a batch, the
Dataset's `map` does then (``changed_batches.py``).
Read in 1.15.5 (``reader_base.cc``): a read ends with its file, so a file's last one may be smaller.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.inputs import ARRAY_INPUTS
from migrate_mgpu.api.queues import BATCHES, FILES, PRODUCERS, QUEUES, READERS, WHOLE_FILES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.inputs.arrays import check_unchanged, read_array_input
from migrate_mgpu.models.front.inputs.batches import CHANGED
from migrate_mgpu.models.front.inputs.input_functions import InputReader
from migrate_mgpu.models.normalize.data.input_queues import of_input_function
from migrate_mgpu.models.properties import inputs
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_GIVEN = ("params", "mode", "input_context")  # parameters that an Estimator may have values for
_PATTERN = "io.match_filenames_once"  # `tf.train` has it, too
_READ = ("queue", "num_records", "name")
# Functions of TF1's that make the same of the same values in each step.
_STEADY = {"cast", "constant", "convert_to_tensor", "expand_dims", "one_hot", "reshape",
           "to_float", "to_int32", "to_int64"}  # fmt: skip
_DEEP = 8


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where one of its queues is not understood."""
    for module, given in inputs(flow.driving):
        try:
            InputReader(graph).read(module, given, _GIVEN)
        except Refused as refused:
            why = refused.diagnostic
            around = [
                one for one in why.module.names.ancestors(why.node)
                if isinstance(one, ast.FunctionDef)
            ]  # fmt: skip
            if why.key != CHANGED or not around or not why.module.writable:
                continue
            edits = _Function(why.module, around[0], graph).edits()
            found = {why.module: edits} if edits else {}
            found = found or of_input_function(why.module, around[0], graph)
            if found:
                return found
    return {}


@record(frozen=True)
class _Taken:
    """A statement that takes something out of a queue, as what is called of a Dataset.

    ``gone`` are the statements of what fills the queue, ``goal`` is what it gives a value.
    ``optional`` is called where the author's ``condition`` holds, behind the first of ``calls``.
    """

    statement: ast.Assign | ast.Return
    goal: ast.expr | None  # None where it is returned
    calls: list[str]
    gone: list[ast.stmt]
    optional: str = ""
    condition: str = ""


class _Function:
    """An input function, of plain statements, that takes once of queues."""

    def __init__(self, module: Module, node: ast.FunctionDef, graph: CallGraph) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.node = node
        self.graph = graph
        self.scope = module.names.scopes[node]
        self.dataset = self.names.fresh(self.scope, "dataset", "batches", "examples")
        self.gone: list[ast.stmt] = []

    def edits(self) -> list[Edit]:
        taken = [one for one in map(self._taken, self.node.body) if one is not None]
        if len(taken) != 1 or not self.dataset:
            return []
        (one,) = taken
        own = [*one.gone, one.statement]
        layouts = [Layout(self.source, statement) for statement in own]
        if not all(layout.owns_lines for layout in layouts) or not self._alone(one):
            return []
        comments = [layout.trailing_comment for layout in layouts if layout.trailing_comment]
        gives = f"{self.source.code(one.goal)} =" if one.goal is not None else "return"
        last = f"{gives} {self.dataset}.make_one_shot_iterator().get_next()"
        lines = [*comments, *self._lines(one), last]
        begin = self.node.body.index(one.statement) - len(one.gone)
        if self.node.body[begin:][: len(own)] == sorted(own, key=lambda each: each.lineno):
            first = min(layouts[:-1], key=lambda each: each.line_start, default=layouts[-1])
            block = self.source.text[first.line_start : layouts[-1].next_line]
            if not any(line.lstrip().startswith("#") for line in block.splitlines()):
                return [Edit(first.line_start, layouts[-1].next_line, first.lines(lines))]
        edits = [layout.replace([]) for layout in layouts[:-1]]
        return [*edits, layouts[-1].replace(lines)]

    def _lines(self, taken: _Taken) -> list[str]:
        """The statements that make the Dataset, each as long as a line."""
        indent = Layout(self.source, taken.statement).indent
        first, *rest = taken.calls
        found, line = list[str](), f"{self.dataset} = {first}"
        if taken.optional:
            unit, mixed = self.source.indent_unit, f"{self.dataset} = {self.dataset}"
            found += [line, f"if {taken.condition}:", f"{unit}{mixed}{taken.optional}"]
            line = f"{self.dataset} = {self.dataset}"
        for text in rest:
            whole = f"{indent}{line}{text}"
            if len(whole) > self.source.width and not line.endswith(f"= {self.dataset}"):
                found.append(line)
                line = f"{self.dataset} = {self.dataset}"
            head, opened, inside = text.partition("(lambda ")
            if opened and len(f"{indent}{line}{text}") > self.source.width:
                found.append(f"{line}{head}(")
                line = f"{self.source.indent_unit}lambda {inside}"
                continue
            line += text
        return [*found, line]

    def _alone(self, taken: _Taken) -> bool:
        """Whether nothing else has to do with its queues, and no other part makes one."""
        own = {*taken.gone, taken.statement}
        for statement in taken.gone:
            assert isinstance(statement, ast.Assign)
            for target in statement.targets:
                for mention in self.names.mentions(ast.unparse(target), self.scope):
                    if self.names.statement(mention) not in own:
                        return False
        return not any(
            name_of(self.module, part) in QUEUES
            for part in walk(self.node)
            if isinstance(part, ast.Call) and self.names.statement(part) not in own
        )

    def _taken(self, statement: ast.stmt) -> _Taken | None:
        """What a statement takes, if that is understood."""
        if not isinstance(statement, (ast.Assign, ast.Return)):
            return None
        call = statement.value
        if not isinstance(call, ast.Call):
            return None
        if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
            return None
        self.gone = []
        try:
            if isinstance(call.func, ast.Attribute) and call.func.attr == "read_up_to":
                if isinstance(statement, ast.Return):
                    return None
                return self._records(statement, call, call.func.value)
            if name_of(self.module, call) in ("train.batch", "train.shuffle_batch"):
                return self._arrays(statement, call)
            if not call.args and not call.keywords:
                return self._called(statement, call.func)
        except Refused:  # arguments that no parameter is known for
            return None
        return None

    def _made(self, node: ast.expr | None) -> ast.expr | None:
        """What an expression is; the statement that names it goes along."""
        if not isinstance(node, ast.Name):
            return node
        value = self.names.only_value(node)
        statement = self.names.statement(value) if value is not None else None
        if value is None or not isinstance(statement, ast.Assign):
            return node
        named = len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
        if not named or statement.value is not value or statement not in self.node.body:
            return node
        if name_of(self.module, value) in (*READERS, FILES, _PATTERN):
            self.gone.append(statement)
            return value
        return node

    # -- records of files --------------------------------------------------------

    def _records(self, statement: ast.Assign, call: ast.Call, reads: ast.expr) -> _Taken | None:
        goal = statement.targets[0]
        parts = goal.elts if isinstance(goal, ast.Tuple) else []
        if len(parts) != 2 or not all(isinstance(one, ast.Name) for one in parts):
            return None
        key, value = parts
        assert isinstance(key, ast.Name)
        loads = [
            one for one in self.names.mentions(key.id, self.scope) if isinstance(one.ctx, ast.Load)
        ]
        given = NamedArguments(self.module, call, _READ)
        count, queue = given.given("num_records"), self._made(given.given("queue"))
        reader = self._made(reads)
        if loads or count is None or name_of(self.module, queue) != FILES:
            return None
        name = name_of(self.module, reader)
        if not isinstance(reader, ast.Call) or not isinstance(queue, ast.Call):
            return None
        if name not in READERS or name == WHOLE_FILES:
            return None
        kind = self._of_reader(reader, name)
        files = self._files(queue)
        if not kind or files is None:
            return None
        made, mixed, condition, repeated = files
        read = f".flat_map(lambda {self._file}: {kind}.batch({self.source.code(count)}))"
        if condition:
            calls = [made, repeated, read]
            return _Taken(statement, value, calls, [*self.gone], mixed, condition)
        return _Taken(statement, value, [made + mixed, repeated, read], [*self.gone])

    @property
    def _file(self) -> str:
        """What a function calls the file that it is given."""
        return self.names.fresh(self.scope, "name", "filename", "file_name", "path")

    def _of_reader(self, call: ast.Call, name: str) -> str:
        """The Dataset of a file's records; empty for a reader that has no such form."""
        given = NamedArguments(self.module, call, READERS[name])
        tf, code = root(self.module, call), self.source.code
        if any(given.given(one) is not None for one in ("options", "hop_bytes", "encoding")):
            return ""
        parts = [self._file]
        for parameter in ("record_bytes", "header_bytes", "footer_bytes"):
            value = given.given(parameter)
            if value is not None:
                parts.append(f"{parameter}={code(value)}")
        skipped = given.given("skip_header_lines")
        skips = skipped is not None and constant(skipped) != 0
        more = f".skip({code(skipped)})" if skips and skipped is not None else ""
        return f"{tf}.data.{name.replace('Reader', 'Dataset')}({', '.join(parts)}){more}"

    def _files(self, call: ast.Call) -> tuple[str, str, str, str] | None:
        """A Dataset of names of files; None where they are not known.

        What makes it, what mixes it, the condition of that if there is one, and what repeats it.
        """
        given = NamedArguments(self.module, call, PRODUCERS[FILES])
        if given.given("cancel_op") is not None:
            return None
        tf, code = root(self.module, call), self.source.code
        files, seed = self._made(given.given("string_tensor")), given.given("seed")
        shuffles, epochs = given.get("shuffle"), given.given("num_epochs")
        known = True if shuffles is None else constant(shuffles)
        if not isinstance(known, bool) and not isinstance(shuffles, ast.Name):
            return None
        condition = "" if isinstance(known, bool) or shuffles is None else code(shuffles)
        seeded = f", seed={code(seed)}" if seed is not None else ""
        repeated = f".repeat({code(epochs) if epochs is not None else ''})"
        if isinstance(files, ast.Call) and name_of(self.module, files) == _PATTERN:
            pattern = NamedArguments(self.module, files, ("pattern", "name")).get("pattern")
            if pattern is None or not self._steady(pattern):
                return None
            told = f", shuffle={condition or known}" if known is not True else ""
            made = f"{tf}.data.Dataset.list_files({code(pattern)}{told}{seeded})"
            return made, "", "", repeated
        if files is None or not self._steady(files):
            return None
        made = f"{tf}.data.Dataset.from_tensor_slices({code(files)})"
        if known is False or (isinstance(files, ast.List) and len(files.elts) == 1):
            return made, "", "", repeated
        if not isinstance(files, (ast.Name, ast.Attribute)) or self._is_made_here(files):
            return None
        return made, f".shuffle(len({code(files)}){seeded})", condition, repeated

    def _is_made_here(self, node: ast.expr) -> bool:
        """Whether TensorFlow makes it, in this function: a tensor has no `len`."""
        value = self.names.assigned(node)
        return any(
            bool(tensorflow_name(self.module, part.func))
            for part in walk(value or node)
            if isinstance(part, ast.Call)
        )

    # -- batches of arrays -------------------------------------------------------

    def _arrays(self, statement: ast.Assign | ast.Return, call: ast.Call) -> _Taken | None:
        name, code = name_of(self.module, call), self.source.code
        given = NamedArguments(self.module, call, BATCHES[name])
        many, tensors, size = (given.given(n) for n in ("enqueue_many", "tensors", "batch_size"))
        if many is None or constant(many) is not True or tensors is None or size is None:
            return None
        if any(given.given(one) is not None for one in ("shapes", "dynamic_pad")):
            return None
        listed = isinstance(tensors, (ast.List, ast.Tuple))
        parts = tensors.elts if isinstance(tensors, (ast.List, ast.Tuple)) else [tensors]
        if isinstance(tensors, ast.Dict):
            parts = tensors.values
        elif not listed:
            return None  # a list, or one tensor: its batch is another thing
        if not parts or not all(map(self._steady, parts)):
            return None
        of = code(tensors)
        if listed:
            of = ", ".join(map(code, parts))
            of = of if len(parts) == 1 else f"({of})"
        goal = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(goal, ast.List):
            return None
        mixed = ""
        if name == "train.shuffle_batch":
            capacity, seed = given.given("capacity"), given.given("seed")
            if capacity is None:
                return None
            mixed = f".shuffle({code(capacity)}{f', seed={code(seed)}' if seed else ''})"
        tf = root(self.module, call)
        made = f"{tf}.data.Dataset.from_tensor_slices({of})"
        batch = f".batch({code(size)}, drop_remainder=True)"
        return _Taken(statement, goal, [made, ".repeat()", mixed, batch], [])

    # -- input functions that are called -----------------------------------------

    def _called(self, statement: ast.Assign | ast.Return, func: ast.expr) -> _Taken | None:
        """`numpy_input_fn(...)()`, which the function calls itself, also by a name."""
        goal = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value, gone = func, list[ast.stmt]()
        if isinstance(func, ast.Name):
            made = self.names.only_value(func)
            named = self.names.statement(made) if made is not None else None
            if made is None or named not in self.node.body or not isinstance(named, ast.Assign):
                return None
            if named.value is not made or not all(isinstance(t, ast.Name) for t in named.targets):
                return None
            value, gone = made, [named]
        array = read_array_input(self.module, value)
        if array is None or array.kind != "arrays" or isinstance(goal, ast.List):
            return None
        check_unchanged(array)
        given, code = array.arguments, self.source.code
        defaults = {one.name: one.default for one in ARRAY_INPUTS.by_kind[array.kind].parameters}

        def text(name: str) -> str:
            return code(given[name]) if name in given else defaults[name]

        data = f"({text('x')}, {text('y')})" if "y" in given else text("x")
        mixed = f".shuffle({text('queue_capacity')})" if array.shuffles is True else ""
        if isinstance(array.shuffles, ast.expr):  # a buffer of one example keeps the order
            mixed = f".shuffle({text('queue_capacity')} if {text('shuffle')} else 1)"
        epochs = ".repeat()" if array.endless else f".repeat({text('num_epochs')})"
        if constant(given.get("num_epochs")) == 1 or not (array.endless or "num_epochs" in given):
            epochs = ""
        tf = root(self.module, array.node)
        made_of = f"{tf}.data.Dataset.from_tensor_slices({data})"
        batch = f".batch({text('batch_size')})"
        return _Taken(statement, goal, [made_of, mixed, epochs, batch], gone)

    def _steady(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression is the same in each step: what is drawn, or read, is another."""
        if depth > _DEEP:
            return False
        for part in walk(node):
            if isinstance(part, (ast.Yield, ast.Await, ast.NamedExpr, ast.Lambda)):
                return False
            if isinstance(part, ast.Call) and not self._steady_call(part):
                return False
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                home = self.names.defining_scope(part.id, self.names.scope_of_name[part])
                if home is self.scope and not self._steady_name(part, depth):
                    return False
        return True

    def _steady_name(self, node: ast.Name, depth: int) -> bool:
        """Whether a variable of the function has one value, which is the same in each step."""
        binding = self.names.only_binding(node)
        if binding is None:
            return False
        if binding.kind == "parameter":
            return all(
                origin.node is not None and not _has_tensorflow(origin.module, origin.node)
                for origin in ValueFlow(self.graph).definitions(self.module, node)
            )
        statement = self.names.statement(binding.node)
        return isinstance(statement, ast.Assign) and self._steady(statement.value, depth + 1)

    def _steady_call(self, call: ast.Call) -> bool:
        name = name_of(self.module, call) or tensorflow_name(self.module, call.func)
        if name:
            return name in _STEADY
        function = self.graph.target(self.module, call.func)
        return function is None or not _has_tensorflow(function.module, function.node)


def _has_tensorflow(module: Module, node: ast.AST) -> bool:
    """Whether code mentions TensorFlow."""
    return any(
        bool(tensorflow_name(module, part))
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )
