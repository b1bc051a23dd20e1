"""Lines that print what the parts of a graph are: they go.

    for i in range(num_gpus):
        with tf.device("/gpu:%d" % i), tf.name_scope("tower_%d" % i) as scope:
            loss = tower_loss(scope, images)
            print("loss", loss)
            grads = optimizer.compute_gradients(loss)
            for pair in grads:
                print(pair[0])

prints `Tensor("tower_0/loss:0", ...)`, which TF2 has not. Such a line shows the graph while it is
built: no value of a run. Functions that the towers call are told the same. A line that prints
something of Python's own stays, and so does its program.

Elsewhere, a line goes only where each name of it is surely a part of the graph: given by a
function of TensorFlow's that computes, or makes variables, layers or placeholders. So does a
function that only prints of what it is given, with its calls, where each gives it such a part:

    def print_activation(t):
        print("{}: {}".format(t.op.name, t.get_shape().as_list()))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Binding, position, walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.losses import LOSSES
from migrate_mgpu.api.queues import BATCHES
from migrate_mgpu.api.recurrent import PAIR_CLASS, REFUSED_RUNS, RUNS, cell_of
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.cell_states import is_sequence
from migrate_mgpu.models.front.session.origins import class_of
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

TOLD = (
    "it printed what is in the graph while that was built, and no value of a run: TF2 has no such "
    "tensors, and it is left out"
)
# What a line may do with what it prints, and no more.
_SHOWN = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.BinOp,
    ast.JoinedStr, ast.FormattedValue, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
    ast.Slice,
)  # fmt: skip
_ASKED = ("builtins.len", "builtins.str", "builtins.type", "builtins.repr")
_PASSES = (*_ASKED, "builtins.list", "builtins.zip", "builtins.enumerate", "builtins.reversed",
           "builtins.int", "builtins.sorted")  # fmt: skip
_METHODS = ("get_shape", "as_list", "format", "join")  # a line may call
_GIVES = ("compute_gradients", "dequeue", "get_next", "read")  # parts of a graph
_LISTS = ("get_collection", "trainable_variables", "global_variables", "all_variables")
_TABLE = "contrib.slim.model_analyzer.analyze_vars"
# Methods of a dataset, which give another one.
_OF_DATASETS = ("batch", "cache", "map", "prefetch", "repeat", "shuffle", "skip", "take")
_STRUCTURE = ("output_types", "output_shapes", "output_classes", "element_spec")
_OF_HOST = ("gfile.", "io.", "train.", "python_io.", "app.", "flags.")  # no parts of a graph
_LOOPS = (ast.For, ast.While)
_DEEP = 12  # names that are given by others


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits of a program's modules; none where nothing of that kind is printed.

    ``own`` are those that no other program has: nothing else changes.
    """
    found: dict[Module, list[Edit]] = {}
    for module, statement in printed(modules, graph):
        layout = Layout(module.source, statement)
        if module in own and layout.owns_lines:
            end = layout.next_line
            if isinstance(statement, ast.FunctionDef):  # with the blank lines behind it
                for other, edit in without_imports(module, statement.name, graph, own):
                    found.setdefault(other, []).append(edit)
                rest = module.source.text[end:]
                blank = len(rest) - len(rest.lstrip())
                end += rest[:blank].rfind("\n") + 1
            found.setdefault(module, []).append(Edit(layout.line_start, end, ""))
    return found


def without_imports(
    module: Module, name: str, graph: CallGraph, own: Set[Module]
) -> Iterator[tuple[Module, Edit]]:
    """What takes a name of a module's, which goes, out of the imports of others."""
    for other in graph.importers(module):
        for statement, alias, _ in importing(other, module, name, graph):
            if other not in own:
                continue
            if len(statement.names) > 1:
                yield other, import_edit(other.source, statement, [alias])
            else:
                yield other, without_paragraph(other.source, statement)


def importing(
    module: Module, home: Module, name: str, graph: CallGraph
) -> Iterator[tuple[ast.ImportFrom, ast.alias, bool]]:
    """The imports that take a name of another module, and whether each stands in no block."""
    for statement in walk(module.tree):
        for alias in statement.names if isinstance(statement, ast.ImportFrom) else ():
            assert isinstance(statement, ast.ImportFrom)
            scope = module.names.scope_at(statement)
            bound = scope.bindings.get(alias.asname or alias.name, ())
            heads = {(one.qualname or "").rpartition(".")[0] for one in bound}
            if alias.name == name and any(
                graph.project.resolve(module, head)[-1:] == [home] for head in heads
            ):
                top = statement in module.tree.body and Layout(module.source, statement).owns_lines
                yield statement, alias, top


def printed(modules: Sequence[Module], graph: CallGraph) -> Iterator[tuple[Module, ast.stmt]]:
    """The statements that go, each with its module."""
    found: dict[ast.stmt, Module] = {}
    for module, body, alone in _blocks(modules, graph):
        reader = _Lines(module, graph, alone)
        found.update(dict.fromkeys(reader.of(body), module))
    for module in modules:
        if "print" in module.names.by_id:
            lines = _SureLines(module, graph)
            found.update(dict.fromkeys(lines.all(), module))
            for shown in lines.of_functions():
                found[shown.node] = shown.module
        for shown in _tables(module, graph):
            found[shown.node] = shown.module
    for statement, module in found.items():
        if not any(parent in found for parent in module.names.ancestors(statement)):
            yield module, statement


def _tables(module: Module, graph: CallGraph) -> Iterator[_Shown]:
    """What prints a table of the variables, with the statement that lists them for it alone.

    A function that does no more goes with its calls.
    """
    names = module.names
    for call in calls_of_names(module).get(_TABLE, ()):
        statement, given = names.statement(call), call.args[0] if call.args else None
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            continue
        gone: list[ast.stmt] = [statement]
        listed = names.only_value(given) if isinstance(given, ast.Name) else given
        if not isinstance(listed, ast.Call) or name_of(module, listed) not in _LISTS:
            continue
        if isinstance(given, ast.Name):
            mentions = names.mentions(given.id, names.scope_at(call))
            made = names.statement(listed)
            if isinstance(made, ast.Assign) and len(made.targets) == 1 and len(mentions) == 2:
                gone.insert(0, made)
        around = names.parents[statement]
        if isinstance(around, ast.FunctionDef) and around in module.tree.body:
            if [one for one in around.body if not _is_docstring(one)] == gone:
                yield from _with_calls(module, graph, around)
                continue
        block = names.block(statement)
        if all(one in block for one in gone) and len(block) > len(gone):
            yield from (_Shown(module, one) for one in gone)


def _with_calls(module: Module, graph: CallGraph, node: ast.FunctionDef) -> Iterator[_Shown]:
    """A function without parameters, and its calls; nothing where one is more than a statement."""
    arguments = node.args
    shown = [_Shown(module, node)]
    for one in graph.references(Function(module, node)):
        if one.call is None:
            return
        statement = one.module.names.statement(one.call)
        alone = isinstance(statement, ast.Expr) and statement.value is one.call
        if not alone or len(one.module.names.block(statement)) < 2:
            return
        shown.append(_Shown(one.module, statement))
    plain = not (arguments.args or arguments.vararg or arguments.kwarg or node.decorator_list)
    importers = (importing(other, module, node.name, graph) for other in graph.importers(module))
    named = all(top for found in importers for _, _, top in found)
    if plain and len(shown) > 1 and named:
        yield from shown


def _blocks(
    modules: Sequence[Module], graph: CallGraph
) -> Iterator[tuple[Module, Sequence[ast.stmt], bool]]:
    """The loops that build towers, the functions that these call, and those of input pipelines.

    The last tells whether a line without a part of the graph, `print("gradients")`, belongs there.
    """
    seen: set[ast.AST] = set()
    for module in modules:
        for loop in loops_on_devices(module):
            if read_towers(module, loop, graph) is None:
                continue
            yield module, loop.body, True
            behind = list(_of_lists(module, loop))
            targets = {
                target.id
                for call in behind
                for target in getattr(module.names.statement(call), "targets", ())
                if isinstance(target, ast.Name)
            }
            home = module.names.scope_at(loop)
            for shown in (one for one in walk(home.node) if isinstance(one, ast.For)):
                over = shown.iter
                if isinstance(over, ast.Name) and over.id in targets:
                    if module.names.scope_at(shown) is home:
                        yield module, [shown, loop], True
            for root in (loop, *behind):
                yield from _called(module, root, graph, seen)
    for module in modules:
        known = calls_of_names(module)
        for call in (call for name in BATCHES for call in known.get(name, ())):
            for other, function in _around(module, call, graph):
                yield other, function.body, False


def _of_lists(module: Module, loop: ast.For) -> Iterator[ast.Call]:
    """The calls behind a loop that are given a list which it fills."""
    filled = {
        part.func.value.id
        for part in walk(loop)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "append"
        and isinstance(part.func.value, ast.Name)
    }
    home = module.names.scope_at(loop)
    for call in module.names.calls:
        if module.names.scope_at(call) is home and position(call) > position(loop):
            if any(isinstance(one, ast.Name) and one.id in filled for one in call.args):
                yield call


def _called(
    module: Module, root: ast.AST, graph: CallGraph, seen: set[ast.AST]
) -> Iterator[tuple[Module, Sequence[ast.stmt], bool]]:
    for call in (part for part in walk(root) if isinstance(part, ast.Call)):
        target = graph.target(module, call.func)
        if target is None or target.node in seen:
            continue
        seen.add(target.node)
        inside = [part for part in walk(target.node) if isinstance(part, ast.Call)]
        if not any(name_of(target.module, part) in BATCHES for part in inside):
            yield target.module, target.node.body, True
        yield from _called(target.module, target.node, graph, seen)


def _around(
    module: Module, batch: ast.Call, graph: CallGraph
) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """The function of a batch, those that call it, and those by which they read examples."""
    function = graph.enclosing(module, batch)
    if function is None:
        return
    callers = [graph.enclosing(one.module, one.node) for one in graph.references(function)]
    for home in [function, *(one for one in callers if one is not None)]:
        if not isinstance(home.node, ast.FunctionDef):
            continue
        yield home.module, home.node
        for call in (part for part in walk(home.node) if isinstance(part, ast.Call)):
            target = graph.target(home.module, call.func)
            if target is not None and isinstance(target.node, ast.FunctionDef):
                if any(
                    isinstance(p, ast.Attribute) and p.attr == "read" for p in walk(target.node)
                ):
                    yield target.module, target.node


class _Lines:
    """The lines of one module that only print what parts of a graph are."""

    asked: tuple[str, ...] = _ASKED

    def __init__(self, module: Module, graph: CallGraph, alone: bool) -> None:
        """``alone``: lines that mention nothing go as well, in a block with one that does."""
        self.module = module
        self.names = module.names
        self.graph = graph
        self.alone = alone

    def of(self, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """Those of a block and the blocks in it; not all of a block, which would be empty."""
        gone = [one for one in body if self._prints(one)]
        told = any(self._mentions(one) for one in gone)
        gone = [one for one in gone if self._mentions(one) or (told and self.alone)]
        if len(gone) < len(body):
            yield from gone
        for statement in (one for one in body if one not in gone):
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    yield from self.of(inner)

    def _mentions(self, statement: ast.stmt) -> bool:
        """Whether a line prints more than texts."""
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            named = (
                n for one in statement.value.args for n in walk(one) if isinstance(n, ast.Name)
            )
            return not all(map(self._is_builtin, named))
        return True

    def _prints(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Expr):
            return self._is_print(statement.value)
        if isinstance(statement, ast.If) and not statement.orelse:
            plain = all(isinstance(part, _SHOWN) for part in ast.walk(statement.test))
            return plain and all(map(self._prints, statement.body))
        if isinstance(statement, ast.For) and not statement.orelse:
            over = statement.iter
            named = isinstance(over, ast.Call) and name_of(self.module, over) in _LISTS
            listed = isinstance(over, ast.Name) and self._is_part(over)
            return (
                (named or listed)
                and all(map(self._prints, statement.body))
                and not self._is_used(statement)
            )
        return False

    def _is_print(self, call: ast.expr) -> bool:
        if not isinstance(call, ast.Call) or call.keywords or not call.args:
            return False
        if self.names.qualname(call.func) != "builtins.print":
            return False
        for part in (part for one in call.args for part in ast.walk(one)):
            if isinstance(part, ast.Call):
                method = isinstance(part.func, ast.Attribute) and part.func.attr in _METHODS
                if not method and self.names.qualname(part.func) not in self.asked:
                    return False
            elif not isinstance(part, _SHOWN):
                return False
        names = [n for one in call.args for n in walk(one) if isinstance(n, ast.Name)]
        return all(self._is_builtin(name) or self._is_part(name) for name in names)

    def _is_builtin(self, name: ast.Name) -> bool:
        return (self.names.qualname(name) or "").startswith("builtins.")

    # -- what a name is ----------------------------------------------------------------

    def _is_part(self, name: ast.Name, deep: int = 0) -> bool:
        """Whether a name stands for parts of a graph, or for their sizes, wherever it is bound."""
        for parent in self.names.ancestors(name):
            if isinstance(parent, ast.For) and _binds(parent, name.id):
                return deep < _DEEP and self._gives(parent.iter, deep + 1)
        bindings = self.names.bindings_of(name)
        return (
            deep < _DEEP
            and bool(bindings)
            and all(self._is_bound_to_part(name, one, deep + 1) for one in bindings)
        )

    def _is_bound_to_part(self, name: ast.Name, binding: Binding, deep: int) -> bool:
        if binding.kind == "parameter":
            return self._is_computed_with(name)
        node = binding.node
        around = [node, *self.names.ancestors(node)]
        loop = next((one for one in around if isinstance(one, (ast.For, ast.stmt))), None)
        if isinstance(loop, ast.For):
            return self._gives(loop.iter, deep)
        if isinstance(loop, ast.With):  # the name of a scope
            return all(
                name_of(self.module, item.context_expr) in ("name_scope", "variable_scope")
                for item in loop.items
                if item.optional_vars is not None
            )
        if not isinstance(loop, ast.Assign):
            return False
        empty = isinstance(loop.value, ast.List) and not loop.value.elts
        return self._is_filled(name, deep) if empty else self._gives(loop.value, deep)

    def _is_computed_with(self, name: ast.Name) -> bool:
        """Whether TensorFlow is given a parameter, or it is gone through as gradients are."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        for mention in self.names.mentions(name.id, home) if home is not None else ():
            call = self.names.parents.get(mention)
            if isinstance(call, ast.Call) and mention in call.args:
                known = name_of(self.module, call)
                if known and not known.startswith(_OF_HOST):
                    return True
        return False

    def _is_filled(self, name: ast.Name, deep: int) -> bool:
        """Whether parts alone are put into a list."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        given: list[ast.expr] = []
        for mention in self.names.mentions(name.id, home) if home is not None else ():
            func = self.names.parents.get(mention)
            call = self.names.parents.get(func) if isinstance(func, ast.Attribute) else None
            if isinstance(func, ast.Attribute) and func.attr == "append":
                if isinstance(call, ast.Call):
                    given += call.args
        return bool(given) and all(self._gives(one, deep) for one in given)

    def _gives(self, value: ast.expr, deep: int) -> bool:
        if isinstance(value, ast.Name):
            return self._is_part(value, deep)
        if isinstance(value, (ast.Attribute, ast.Subscript, ast.Starred)):
            return self._gives(value.value, deep)
        if isinstance(value, ast.BinOp):
            return any(self._gives(one, deep) for one in (value.left, value.right))
        if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
            return self._gives(value.generators[0].iter, deep)
        if isinstance(value, (ast.List, ast.Tuple)):
            return bool(value.elts) and all(self._gives(one, deep) for one in value.elts)
        if not isinstance(value, ast.Call):
            return False
        if self.names.qualname(value.func) in _PASSES:
            return any(self._gives(one, deep) for one in value.args)
        known = name_of(self.module, value)
        if known:
            return not known.startswith(_OF_HOST)
        if isinstance(value.func, ast.Attribute) and value.func.attr in _GIVES:
            return True
        target = self.graph.target(self.module, value.func)
        if target is not None:
            calls = (part for part in walk(target.node) if isinstance(part, ast.Call))
            return any(name_of(target.module, one) for one in calls)
        method = isinstance(value.func, ast.Attribute) and value.func.attr in _METHODS
        return method and self._gives(value.func, deep)

    def _is_used(self, loop: ast.For) -> bool:
        """Whether something behind a loop may read what the loop last gave its names."""
        names = self.names
        around = [p for p in names.ancestors(loop) if isinstance(p, (ast.For, ast.While))]
        for target in (n for n in walk(loop.target) if isinstance(n, ast.Name)):
            anew = any(isinstance(p, ast.For) and _binds(p, target.id) for p in around)
            for mention in names.mentions(target.id, names.scope_of_name[target]):
                if not isinstance(mention.ctx, ast.Load) or is_inside(self.module, mention, {loop}):
                    continue
                own = any(
                    isinstance(p, ast.For) and p not in around and _binds(p, target.id)
                    for p in names.ancestors(mention)
                )
                later = position(mention) > position(loop)
                if not own and (later or (around and not anew)):
                    return True
        return False


_LOSSES = LOSSES.by_name.keys()
_RUNS = frozenset([*RUNS.by_name, *REFUSED_RUNS])


@record(frozen=True)
class _Shown:
    """A statement that goes."""

    module: Module
    node: ast.stmt


class _SureLines(_Lines):
    """Lines wherever they stand: what is printed is surely a part of the graph."""

    asked: tuple[str, ...] = (
        "builtins.str",
        "builtins.type",
        "builtins.repr",
    )  # `len` gives a number of Python's

    def __init__(self, module: Module, graph: CallGraph) -> None:
        super().__init__(module, graph, False)
        self._given: set[str] = set()  # parameters that every call gives a part of the graph
        self._known: dict[ast.AST, bool] = {}  # whether each call gives a parameter such a part

    def of_functions(self) -> Iterator[_Shown]:
        """The calls of functions that do nothing but print of what they are given.

        With the function, where no other module has it: there it stays, for those who import it.
        """
        for node in self.module.tree.body:
            if isinstance(node, ast.FunctionDef) and self._only_prints(node):
                shown: list[_Shown | None] = []
                for one in self.graph.references(Function(self.module, node)):
                    own = one.module is self.module
                    lines = self if own else _SureLines(one.module, self.graph)
                    statement = lines._shows(one.call)
                    shown.append(None if statement is None else _Shown(one.module, statement))
                if shown and None not in shown:
                    if all(one is not None and one.module is self.module for one in shown):
                        yield _Shown(self.module, node)
                    yield from (one for one in shown if one is not None)

    def _only_prints(self, node: ast.FunctionDef) -> bool:
        """Whether a function only prints, of each of its parameters."""
        given = node.args
        names = {one.arg for one in given.args}
        others = (given.posonlyargs, given.kwonlyargs, given.defaults, node.decorator_list)
        if not names or any(others) or given.vararg or given.kwarg:
            return False
        body = [one for one in node.body if not _is_docstring(one)]
        self._given = names
        try:
            prints = bool(body) and all(isinstance(o, ast.Expr) and self._prints(o) for o in body)
        finally:
            self._given = set()
        shown = {part.id for one in body for part in walk(one) if isinstance(part, ast.Name)}
        return prints and names <= shown

    def _shows(self, call: ast.Call | None) -> ast.stmt | None:
        """The statement that a call is, which gives its function parts of the graph alone."""
        if call is None or call.keywords or any(isinstance(o, ast.Starred) for o in call.args):
            return None
        if not all(self._gives(one, 0) for one in call.args):
            return None
        statement = self.names.statement(call)
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return None
        return statement if len(self.names.block(statement)) > 1 else None

    def all(self) -> Iterator[ast.stmt]:
        """Those of the module; not one that is alone in its block."""
        by_block: dict[ast.AST, list[ast.stmt]] = {}
        for name in self.names.by_id["print"]:
            statement = self.names.statement(name)
            if self._prints(statement) and self._mentions(statement):
                if self._tells_in_loop(statement):
                    continue
                by_block.setdefault(self.names.parents[statement], []).append(statement)
        for parent, lines in by_block.items():
            if isinstance(parent, ast.For) and self._prints(parent):
                yield parent
            else:
                block = self.names.block(lines[0])
                yield from (one for one in lines if one in block and len(lines) < len(block))

    def _tells_in_loop(self, statement: ast.stmt) -> bool:
        """Whether a line prints a shape in each turn of a loop that runs steps."""
        shapes = any(
            isinstance(one, ast.Attribute) and one.attr in ("shape", "get_shape")
            for one in walk(statement)
        )
        loops = (one for one in self.names.ancestors(statement) if isinstance(one, _LOOPS))
        return shapes and any(
            isinstance(one, ast.Attribute) and one.attr in ("run", "eval")
            for loop in loops
            for one in walk(loop)
        )

    def _is_builtin(self, name: ast.Name) -> bool:
        return self.names.qualname(name) in self.asked  # a name that nothing binds is none

    def _is_part(self, name: ast.Name, deep: int = 0) -> bool:
        if name.id in self._given:
            return True
        attribute = self.names.parents.get(name)
        if isinstance(attribute, ast.Attribute):
            if attribute.attr in _STRUCTURE:
                return False  # types and shapes, which are values of Python's
            owner = class_of(self.module, attribute)
            if owner is not None:
                return deep < _DEEP and self._is_kept_part(owner, attribute.attr, deep + 1)
        return super()._is_part(name, deep)

    def _is_kept_part(self, owner: ast.ClassDef, attribute: str, deep: int) -> bool:
        """Whether objects of a class have nothing but parts of the graph by a name."""
        given: list[ast.expr] = []
        for one in self.names.attributes[attribute]:
            if isinstance(one.ctx, ast.Load) or class_of(self.module, one) is not owner:
                if not isinstance(one.ctx, ast.Load):
                    return False  # of what, is not known
                continue
            statement = self.names.statement(one)
            if not isinstance(statement, ast.Assign) or statement.targets != [one]:
                return False
            given.append(statement.value)
        return bool(given) and all(self._gives(one, deep) for one in given)

    def _is_bound_to_part(self, name: ast.Name, binding: Binding, deep: int) -> bool:
        if isinstance(self.names.parents[binding.node], ast.AugAssign):
            return True  # of what another binding gives
        if _is_of_itself(binding.value, name.id):
            return True
        statement = self.names.statement(binding.node)
        if isinstance(statement, ast.Assign) and name_of(self.module, statement.value) in _RUNS:
            return True  # outputs and a state
        if binding.kind == "parameter":
            return self._is_given_parts(binding.node, deep)
        plain = binding.kind == "assign" and binding.value is not None
        return plain and super()._is_bound_to_part(name, binding, deep)

    def _is_given_parts(self, parameter: ast.AST, deep: int) -> bool:
        """Whether each call of a function, all in this module, gives a parameter such a part."""
        node = next(
            (one for one in self.names.ancestors(parameter) if isinstance(one, ast.FunctionDef)),
            None,
        )
        if node is None or not isinstance(parameter, ast.arg) or deep >= _DEEP:
            return False
        if parameter in self._known:
            return self._known[parameter]
        self._known[parameter] = False  # what is given by itself is not known
        self._known[parameter] = self._gets_parts(node, parameter, deep)
        return self._known[parameter]

    def _gets_parts(self, node: ast.FunctionDef, parameter: ast.arg, deep: int) -> bool:
        function = Function(self.module, node)
        seen = self.graph.references(function) if node in self.module.tree.body else ()
        for one in seen:
            if one.call is None or one.module is not self.module:
                return False
            value = bind(one.call, function).written().get(parameter.arg)
            if value is None or not self._gives(value, deep + 1):
                return False
        return bool(seen)

    def _gives(self, value: ast.expr, deep: int) -> bool:
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            return self._is_part(value.value, deep)
        if not isinstance(value, ast.Call):
            return super()._gives(value, deep)
        known = name_of(self.module, value)
        if cell_of(self.module, value) == PAIR_CLASS or is_sequence(self.module, value):
            given = [*value.args, *(keyword.value for keyword in value.keywords)]
            return bool(given) and all(self._gives(one, deep) for one in given)
        if known:
            layer = LAYERS.by_name.get(known)
            if layer is not None and not layer.inputs:
                return False  # an object of a class, whose attributes are Python's own
            made = layer is not None or known in VARIABLES.by_name
            made = made or known.startswith("data.Dataset.")
            return made or known in COMPUTES | DRAWS | _LOSSES or known == "placeholder"
        target = self.graph.target(self.module, value.func)
        if target is not None:
            return self._returns_parts(target, deep)
        if isinstance(value.func, ast.Attribute) and value.func.attr in _OF_DATASETS:
            return self._gives(value.func.value, deep)
        method = isinstance(value.func, ast.Attribute) and value.func.attr in _METHODS
        return method and self._gives(value.func, deep)

    def _returns_parts(self, target: Function, deep: int) -> bool:
        """Whether a function of this module returns parts of the graph, wherever it ends."""
        node = target.node
        if target.module is not self.module or not isinstance(node, ast.FunctionDef):
            return False
        given = [one.value for one in walk(node) if isinstance(one, ast.Return)]
        inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Yield, ast.YieldFrom)
        plain = not any(isinstance(one, inner) for one in walk(node) if one is not node)
        return (
            plain
            and _ends(node.body)
            and deep < _DEEP
            and all(one is not None and self._gives(one, deep + 1) for one in given)
        )


def _is_of_itself(value: ast.expr | None, name: str) -> bool:
    """`data = data.batch(8)`: of what another binding gives."""
    func = value.func if isinstance(value, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in _OF_DATASETS:
        return False
    return isinstance(func.value, ast.Name) and func.value.id == name


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether nothing is reached behind some statements."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return _ends(last.body)
    return isinstance(last, (ast.Return, ast.Raise))


def _binds(loop: ast.For, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(loop.target))
