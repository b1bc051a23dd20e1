"""What is between the files, or the values, that fill an input queue and the batches of it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.queues import BATCHES, FILES, PRODUCERS, READERS, SLICES, WHOLE_FILES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.session.scope import Home
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.statements import Layout

_CHANGING = ("append", "extend", "set_shape", "update")  # methods that change what they belong to
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.FunctionDef, ast.If)
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_STORED = (ast.Name, ast.Attribute)
RANGES = ("builtins.range", "six.moves.xrange", "six.moves.range")


def not_understood(module: Module, node: ast.AST) -> Refused:
    """A queue that stays one: its program stays, with what its session's reader says."""
    return Refused(module, node, "this queue cannot be written as a dataset")


@record(frozen=True)
class Producer:
    """What fills a queue: the names of files, or slices of values."""

    name: str
    given: NamedArguments


@record(frozen=True)
class Reader:
    """What reads records of the files that a queue names."""

    name: str
    given: NamedArguments


@record()
class ReadingFunction:
    """A function of the author's that reads a record of the queue that it is given.

    ``key`` and ``value`` are the names of what is read, ``gone`` the statements of the reader.
    """

    function: Function
    parameter: str
    reader: Reader
    gone: list[ast.stmt]
    key: str
    value: str

    @property
    def takes(self) -> str:
        """What it is given instead: a record, or the name of a file."""
        return self.key if self.reader.name == WHOLE_FILES else self.value

    def argument(self, module: Module, call: ast.Call) -> ast.expr:
        """The queue in a call of it."""
        value = NamedArguments(module, call, self.function.parameters()).get(self.parameter)
        if value is None:
            raise not_understood(module, call)
        return value


@record()
class Pipeline:
    """A pipeline of queues; ``statement`` names, or returns, the batch that ``call`` takes of it.

    ``example`` are the statements that compute an example of what ``parameters`` name, which is
    what is read; ``gone`` those of queues and readers. ``reading`` is the call of ``function``,
    where one reads, and ``count`` how many of them read at the same time, where that is said.
    """

    module: Module
    home: Home
    statement: ast.Assign | ast.Return
    call: ast.Call
    given: NamedArguments
    producer: Producer
    parameters: list[str]
    reader: Reader | None = None
    starred: bool = False  # the only parameter is all that is taken
    key: str = ""
    value: str = ""
    function: ReadingFunction | None = None
    reading: ast.Call | None = None
    count: ast.expr | None = None
    example: list[ast.stmt] = field(default_factory=list)
    gone: list[ast.stmt] = field(default_factory=list)

    @property
    def statements(self) -> set[ast.stmt]:
        return {*self.gone, *self.example, self.statement}


def pipeline(module: Module, call: ast.Call, graph: CallGraph, nested: bool = False) -> Pipeline:
    """What is behind a batch; ``nested``: its function may stand in another.

    Raises:
        Refused: it is filled, read or batched in a way that is not understood.
    """
    return _PipelineReader(module, call, graph, nested).read()


class _PipelineReader:
    """Reads backwards, from a batch to what fills the first queue."""

    def __init__(self, module: Module, call: ast.Call, graph: CallGraph, nested: bool) -> None:
        self.module = module
        self.names = module.names
        self.graph = graph
        self.call = call
        self.nested = nested
        statement = self.names.parents.get(call)
        named = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if not named and not isinstance(statement, ast.Return):
            raise not_understood(module, call)
        assert isinstance(statement, (ast.Assign, ast.Return))
        self.statement = statement
        self.home = self._home()
        self.line = list(in_line(self.home.body))
        if statement not in self.line:
            raise not_understood(module, call)

    def _home(self) -> Home:
        around = [one for one in self.names.ancestors(self.call)
                  if isinstance(one, (ast.FunctionDef, ast.Lambda, ast.ClassDef))]  # fmt: skip
        if not around:
            return self.module.tree
        inside = len(around) > 1 and not self.nested
        if inside or not isinstance(around[0], ast.FunctionDef):
            raise not_understood(self.module, self.call)
        return around[0]

    def read(self) -> Pipeline:
        name = name_of(self.module, self.call)
        given = NamedArguments(self.module, self.call, BATCHES[name])
        tensors = given.get("tensors")
        if tensors is None or given.get("batch_size") is None:
            raise not_understood(self.module, self.call)
        if name.endswith("_join"):
            found = self._joined(given, tensors)
        else:
            found = self._behind(given, tensors)
        self._check(found)
        return found

    def _behind(self, given: NamedArguments, tensors: ast.expr) -> Pipeline:
        needed = loaded(tensors)
        computed: list[ast.stmt] = []
        before = self.line[: self.line.index(self.statement)]
        found: Pipeline | None = None
        first: ast.stmt = self.statement
        for statement in reversed(before):
            if not written(statement) & needed:
                continue
            begun = self._begun(statement, given)
            if begun is None:
                computed.insert(0, statement)
                needed = (needed - bound(statement)) | loaded(statement)
                continue
            if found is not None:  # of two queues, which nothing keeps in step
                raise not_understood(self.module, statement)
            found, first = begun, statement
            needed -= bound(statement)
        if found is None:
            raise not_understood(self.module, self.call)
        example = bound(first)
        for statement in computed:
            if loaded(statement) & example:
                late = self.line.index(statement) > self.line.index(first)
                if not isinstance(statement, _SIMPLE) or not late:
                    raise not_understood(self.module, statement)
                example |= written(statement)
                found.example.append(statement)
        return found

    def _begun(self, statement: ast.stmt, given: NamedArguments) -> Pipeline | None:
        """The pipeline whose example a statement takes out of a queue, if it does."""
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call):
            return None
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        if name_of(self.module, call) == SLICES:
            producer = Producer(SLICES, self._arguments(call, PRODUCERS[SLICES]))
            starred = isinstance(target, ast.Name)
            parameters = [target.id] if isinstance(target, ast.Name) else self._several(target)
            found = self._pipeline(given, producer, parameters)
            found.starred = starred
            found.gone.append(statement)
            return found
        if isinstance(call.func, ast.Attribute) and call.func.attr == "read":
            reader, gone = self._reader(call.func.value)
            if reader is None or len(call.args) != 1 or call.keywords:
                return None
            key, value = self._several(target)
            files, queue = self._files(call.args[0])
            taken = key if reader.name == WHOLE_FILES else value
            found = self._pipeline(given, files, [taken])
            found.reader, found.key, found.value = reader, key, value
            found.gone += [*gone, *queue, statement]
            if taken is value and self._is_read(key, statement):
                raise not_understood(self.module, target)
            return found
        function = _reading_function(self.graph.target(self.module, call.func), self.graph)
        if function is None:
            return None
        found = self._called(given, function, call)
        found.example.append(statement)
        return found

    def _joined(self, given: NamedArguments, tensors: ast.expr) -> Pipeline:
        """`[read(queue) for _ in range(4)]`: as many that read, of one queue."""
        made, gone = self._made(tensors)
        loop = made.generators[0] if isinstance(made, ast.ListComp) else None
        if not isinstance(made, ast.ListComp) or loop is None or len(made.generators) > 1:
            raise not_understood(self.module, tensors)
        call, times = made.elt, loop.iter
        if not isinstance(times, ast.Call) or len(times.args) != 1 or loop.ifs:
            raise not_understood(self.module, made)
        stored = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
        if self.names.qualname(times.func) not in RANGES or stored & loaded(call):
            raise not_understood(self.module, made)
        target = self.graph.target(self.module, call.func) if isinstance(call, ast.Call) else None
        function = _reading_function(target, self.graph)
        if function is None:
            raise not_understood(self.module, made)
        assert isinstance(call, ast.Call)
        found = self._called(given, function, call)
        found.count = times.args[0]
        found.gone += gone
        return found

    def _called(self, given: NamedArguments, function: ReadingFunction, call: ast.Call) -> Pipeline:
        files, gone = self._files(function.argument(self.module, call))
        found = self._pipeline(given, files, [function.takes])
        found.function, found.reading, found.reader = function, call, function.reader
        found.gone += gone
        return found

    def _pipeline(
        self, given: NamedArguments, producer: Producer, parameters: list[str]
    ) -> Pipeline:
        return Pipeline(
            self.module, self.home, self.statement, self.call, given, producer, parameters
        )

    # -- its parts -------------------------------------------------------------------------

    def _arguments(self, call: ast.Call, signature: Sequence[str]) -> NamedArguments:
        return NamedArguments(self.module, call, signature)

    def _several(self, target: ast.expr) -> list[str]:
        elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        found = [one.id for one in elements if isinstance(one, ast.Name)]
        if not found or len({*found}) != len(elements):
            raise not_understood(self.module, target)
        return found

    def _made(self, node: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
        """What an expression is, and the statement that names it."""
        if not isinstance(node, ast.Name):
            return node, []
        named = [one for one in self.line if node.id in written(one)]
        if len(named) != 1 or not isinstance(named[0], ast.Assign):
            return node, []
        plain = isinstance(named[0].targets[0], ast.Name)
        return (named[0].value, [*named]) if plain else (node, [])

    def _reader(self, node: ast.expr) -> tuple[Reader | None, list[ast.stmt]]:
        made, gone = self._made(node)
        return _reader(self.module, made), gone

    def _files(self, node: ast.expr) -> tuple[Producer, list[ast.stmt]]:
        made, gone = self._made(node)
        if not isinstance(made, ast.Call) or name_of(self.module, made) != FILES:
            raise not_understood(self.module, node)
        return Producer(FILES, self._arguments(made, PRODUCERS[FILES])), gone

    def _is_read(self, name: str, statement: ast.stmt) -> bool:
        """Whether something mentions what a statement names."""
        home = self.names.scopes[self.home]
        loads = [n for n in self.names.mentions(name, home) if isinstance(n.ctx, ast.Load)]
        return any(self.names.statement(one).lineno > statement.lineno for one in loads)

    def _check(self, found: Pipeline) -> None:
        """Nothing but the pipeline knows its queues and examples.

        Raises:
            Refused: something does.
        """
        own, live = found.statements, set[str]()
        for statement in self.line:
            if statement is self.statement:
                live -= bound(statement)
            elif statement in own:
                live |= written(statement)
            elif not isinstance(statement, ast.With):
                if loaded(statement) & live:
                    raise not_understood(self.module, statement)
                live -= bound(statement)
        home = self.names.scopes[self.home]
        queues = {name for one in found.gone for name in bound(one)} - {*found.parameters}
        for name in sorted(queues):
            for mention in self.names.mentions(name, home):
                if self.names.statement(mention) not in own:
                    raise not_understood(self.module, mention)
        # Functions that are called later see what a script's names stand for then.
        local = {name for one in found.example for name in written(one)}
        local |= {*found.parameters, found.key, found.value} if found.function is None else set()
        for name in sorted(local - bound(self.statement)):
            for mention in self.names.mentions(name, home):
                inside = self.names.scope_of_name[mention].function() is home.function()
                if not inside and self.names.statement(mention) not in own:
                    raise not_understood(self.module, mention)
        # What the function of an example assigns is its own: it cannot have another value before.
        known = {*found.parameters, *([found.value] if found.function is None else [])}
        given = {name for one in found.example for name in written(one)}
        for statement in found.example:
            read = loaded(statement)
            if found.reading is not None and found.reading in walk(statement):
                read = set()
            if read & given - known:
                raise not_understood(self.module, statement)
            known |= written(statement)


def _reader(module: Module, made: ast.expr) -> Reader | None:
    name = name_of(module, made) if isinstance(made, ast.Call) else ""
    if not isinstance(made, ast.Call) or name not in READERS:
        return None
    return Reader(name, NamedArguments(module, made, READERS[name]))


def _reading_function(function: Function | None, graph: CallGraph) -> ReadingFunction | None:
    """How a function of the author's reads of a queue that it is given, if it does."""
    node = function.node if function is not None else None
    if function is None or not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    module, line = function.module, list(in_line(node.body))
    names, scope = module.names, module.names.scopes[node]
    parameters = function.parameters()
    for statement in line:
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        queue = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if call.func.attr != "read" or not isinstance(queue, ast.Name):
            continue
        if queue.id not in parameters:
            continue
        assert isinstance(statement, ast.Assign)
        made, gone = call.func.value, [statement]
        if isinstance(made, ast.Name):
            makers = [one for one in line if made.id in written(one)]
            if len(makers) != 1 or not isinstance(makers[0], ast.Assign):
                return None
            if len(names.mentions(made.id, scope)) != 2:
                return None
            made, gone = makers[0].value, [makers[0], statement]
        reader, target = _reader(module, made), statement.targets[0]
        pair = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if reader is None or len(pair) != 2 or not isinstance(pair[1], ast.Name):
            return None
        key, value = "", pair[1].id
        if isinstance(pair[0], ast.Name):
            key = pair[0].id
        elif not isinstance(pair[0], ast.Attribute) or _is_asked(pair[0].attr, graph):
            return None
        if len(scope.bindings[value]) != 1:
            return None
        if len(names.mentions(queue.id, scope)) != 1:
            return None
        used = bool(key) and any(isinstance(n.ctx, ast.Load) for n in names.mentions(key, scope))
        if used and reader.name != WHOLE_FILES:
            return None
        if not all(Layout(module.source, one).owns_lines for one in gone):
            return None
        shown = key if used else "filename"
        return ReadingFunction(function, queue.id, reader, [*gone], shown, value)
    return None


def told_outside(module: Module, node: ast.expr, home: Function | None) -> str:
    """An argument of a reader as it is told outside of the function that makes the reader.

    What that function calculates, of numbers, becomes the number.

    Raises:
        Refused: it is not known there.
    """
    scope = module.names.scopes[home.node] if home is not None else None
    if home is None or scope is None or loaded(node).isdisjoint(scope.bindings):
        return module.source.code(node)
    known: dict[str, object] = {}
    assert isinstance(home.node, ast.FunctionDef)

    def value(part: ast.expr) -> object:
        if isinstance(part, ast.BinOp) and type(part.op) in _ARITHMETIC:
            sides = value(part.left), value(part.right)
            if isinstance(sides[0], int) and isinstance(sides[1], int):
                return _ARITHMETIC[type(part.op)](*sides)
        if isinstance(part, ast.Name) and part.id not in scope.bindings:
            return constant(module.names.only_value(part))
        return known.get(ast.unparse(part), constant(part))

    for statement in in_line(home.node.body):
        if node in walk(statement):
            break
        if isinstance(statement, ast.Assign):
            known.update((ast.unparse(one), value(statement.value)) for one in statement.targets)
        elif not isinstance(statement, ast.With):
            parts = (part for part in walk(statement) if isinstance(part, _STORED))
            known.update((ast.unparse(p), None) for p in parts if isinstance(p.ctx, ast.Store))
    number = value(node)
    if not isinstance(number, int):
        raise not_understood(module, node)
    return str(number)


def _is_asked(attribute: str, graph: CallGraph) -> bool:
    """Whether something asks an object for an attribute."""
    found = (node for one in graph.modules for node in one.names.attributes.get(attribute, ()))
    return any(isinstance(node.ctx, ast.Load) for node in found)


def loaded(node: ast.AST) -> set[str]:
    """The names whose values something takes."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives another value."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    found: set[str] = set()
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        found |= {one.id for one in parts if isinstance(one, ast.Name)}
    return found


def written(statement: ast.stmt) -> set[str]:
    """The names whose values a statement gives, or changes; not those inside of a `with`."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    if isinstance(statement, ast.With):
        return set()
    found: set[str] = set()
    for part in walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, (ast.Subscript, ast.Attribute)) and isinstance(part.ctx, ast.Store):
            found |= _owner(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            found |= _owner(part.func.value) if part.func.attr in _CHANGING else set()
    return found


def _owner(node: ast.expr) -> set[str]:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
