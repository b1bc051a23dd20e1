"""An iterator that runs are fed the handle of: each run is fed the next batch of the one it names.

    handle = tf.placeholder(tf.string, shape=[])
    iterator = tf.data.Iterator.from_string_handle(handle, train.output_types, train.output_shapes)
    x, y = iterator.get_next()
    x = tf.cast(x, tf.float32)
    ...
    train_handle = sess.run(train_iterator.string_handle())
    sess.run(train_op, feed_dict={handle: train_handle})

becomes

    x = tf.placeholder(tf.float32, train.element_spec[0].shape)
    y = tf.placeholder(train.element_spec[1].dtype, train.element_spec[1].shape)
    ...
    next_train = train_iterator.get_next()
    batch = sess.run(next_train)
    sess.run(train_op, feed_dict={x: batch[0], y: batch[1]})

where each such run needs what is drawn: one that does not draws nothing in TF1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_FEEDABLE = "data.Iterator.from_string_handle"
_STRUCTURE = ("string_handle", "output_types", "output_shapes")
_RUN = ("fetches", "feed_dict")


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for the one such iterator of a script; none where there is none."""
    calls = calls_of_names(module).get(_FEEDABLE, ())
    return _Feedable(module, graph, calls[0]).edits() if len(calls) == 1 else []


class _Feedable:
    def __init__(self, module: Module, graph: CallGraph, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.call = call
        self.home = module.names.scope_at(call)
        self.line = list(in_line(module.tree.body))

    def edits(self) -> list[Edit]:
        told = by_parameter(self.call, _STRUCTURE)
        made = self.names.statement(self.call)
        dataset = self._dataset(told)
        if not self.home.is_module or dataset is None or made not in self.line:
            return []
        handle = self._placeholder(told.get("string_handle"))
        drawn = self._drawn(made)
        if handle is None or drawn is None:
            return []
        draw, names = drawn
        found = self._placeholders(draw, names, dataset)
        runs = self._runs(handle, names)
        if found is None or runs is None:
            return []
        gone = [self._gone(self.names.statement(handle)), self._gone(made)]
        return [*found, *runs, *gone]

    def _gone(self, statement: ast.stmt) -> Edit:
        layout = Layout(self.source, statement)
        return Edit(layout.line_start, layout.next_line, "")

    def _dataset(self, told: dict[str, ast.expr]) -> str | None:
        """The dataset whose structure the iterator has: `train.output_types`."""
        found = set()
        for key in _STRUCTURE[1:]:
            node = told.get(key)
            if isinstance(node, ast.Attribute) and node.attr == key:
                node = node.value
            elif isinstance(node, ast.Call) and name_of(self.module, node) == f"data.get_{key}":
                node = node.args[0] if node.args else None
            else:
                return None
            found.add(node.id if isinstance(node, ast.Name) else "")
        return found.pop() if len(found) == 1 and "" not in found else None

    def _placeholder(self, node: ast.expr | None) -> ast.Name | None:
        """The name of the placeholder that the iterator is fed its handle by."""
        binding = self.names.only_binding(node) if isinstance(node, ast.Name) else None
        target = binding.node if binding is not None else None
        made = binding.value if binding is not None else None
        statement = self.names.statement(target) if isinstance(target, ast.Name) else None
        alone = isinstance(statement, ast.Assign) and statement.targets == [target]
        if not alone or name_of(self.module, made) != "placeholder" or statement not in self.line:
            return None
        assert isinstance(target, ast.Name) and statement is not None
        return target if Layout(self.source, statement).owns_lines else None

    def _drawn(self, made: ast.stmt) -> tuple[ast.Assign, list[str]] | None:
        """`x, y = iterator.get_next()`: the statement, and the names of the elements."""
        target = made.targets[0] if isinstance(made, ast.Assign) else None
        if not isinstance(target, ast.Name) or not Layout(self.source, made).owns_lines:
            return None
        mentions = self.names.mentions(target.id, self.home)
        reads = [one for one in mentions if one is not target]
        if len(reads) != 1 or self.names.only_binding(reads[0]) is None:
            return None
        statement = self.names.statement(reads[0])
        if not isinstance(statement, ast.Assign) or statement not in self.line:
            return None
        value, given = statement.value, statement.targets[0]
        func = value.func if isinstance(value, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != "get_next":
            return None
        if func.value is not reads[0] or len(statement.targets) > 1:
            return None
        parts = given.elts if isinstance(given, (ast.Tuple, ast.List)) else []
        names = [one.id for one in parts if isinstance(one, ast.Name)]
        if not names or len(set(names)) != len(parts):
            return None
        return (statement, names) if Layout(self.source, statement).owns_lines else None

    def _placeholders(self, draw: ast.Assign, names: list[str], dataset: str) -> list[Edit] | None:
        """The placeholders in the place of what is drawn: of the types that they are cast to."""
        block = self.names.block(draw)
        behind = block[block.index(draw) + 1 :]
        func = self.call.func
        while isinstance(func, ast.Attribute):
            func = func.value
        if not isinstance(func, ast.Name):
            return None
        edits, lines = list[Edit](), list[str]()
        for index, name in enumerate(names):
            spec = f"{dataset}.element_spec[{index}]"
            dtype = f"{spec}.dtype"
            cast = self._cast(behind[: len(names)], name)
            if cast is not None:
                statement, dtype = cast
                edits.append(self._gone(statement))
            elif len(self.home.bindings.get(name, ())) != 1:
                return None
            lines.append(f"{name} = {func.id}.placeholder({dtype}, {spec}.shape)")
        return [*edits, Layout(self.source, draw).replace(lines)]

    def _cast(self, behind: list[ast.stmt], name: str) -> tuple[ast.Assign, str] | None:
        """`x = tf.cast(x, tf.float32)`, right behind what draws `x`: a feed is cast as well."""
        for one in behind:
            value = one.value if isinstance(one, ast.Assign) else None
            if not isinstance(one, ast.Assign) or name_of(self.module, value) != "cast":
                return None
            assert isinstance(value, ast.Call)
            told = by_parameter(value, ("x", "dtype"))
            given, dtype, target = told.get("x"), told.get("dtype"), one.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                same = isinstance(given, ast.Name) and given.id == name
                if (
                    not same
                    or dtype is None
                    or len(one.targets) > 1
                    or len(self.home.bindings[name]) != 2
                ):
                    return None
                if not Layout(self.source, one).owns_lines:
                    return None
                return one, self.source.code(dtype)
        return None

    # -- runs ------------------------------------------------------------------------------

    def _runs(self, handle: ast.Name, names: list[str]) -> list[Edit] | None:
        """The edits of handles and of runs that are fed them; None where one is something else."""
        edits: list[Edit] = []
        nexts: dict[str, str] = {}
        needs = Needs(self.module, self.graph, set(names))
        reads = [one for one in self.names.mentions(handle.id, self.home) if one is not handle]
        for mention in sorted(reads, key=position):
            parent = self.names.parents[mention]
            if parent is self.call or isinstance(parent, ast.keyword):
                continue
            if not isinstance(parent, ast.Dict) or mention not in parent.keys:
                return None
            given = parent.values[parent.keys.index(mention)]
            run = self._run(parent)
            next_name = self._next(given, nexts, edits)
            if run is None or next_name is None or not needs.fetches(run):
                return None
            statement = self.names.statement(run)
            layout = Layout(self.source, statement)
            fed = [one for one in walk(statement) if isinstance(one, ast.Name)]
            if not layout.owns_lines or sum(one.id == handle.id for one in fed) != 1:
                return None
            if not is_executed(self.module, run, statement):
                return None
            batch = self.names.fresh(self.home, "batch", "next_batch", "drawn_batch")
            session = self.source.code(run.func)
            edits.append(layout.insert_before([f"{batch} = {session}({next_name})"]))
            text = ", ".join(f"{name}: {batch}[{i}]" for i, name in enumerate(names))
            start, end = self.source.span(mention)[0], self.source.span(given)[1]
            edits.append(Edit(start, end, text))
        return edits if nexts else None

    def _run(self, feeds: ast.Dict) -> ast.Call | None:
        """The run that is given a dictionary, in the same scope."""
        parent = self.names.parents[feeds]
        call = self.names.parents[parent] if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        alone = call.func.attr == "run" and self.names.scope_at(call) is self.home
        return call if alone and by_parameter(call, _RUN).get("feed_dict") is feeds else None

    def _next(self, given: ast.expr, nexts: dict[str, str], edits: list[Edit]) -> str | None:
        """What a run draws, for the handle that it is fed: `next_train` for `train_handle`.

        The statement that asked for the handle asks for the next element instead.
        """
        binding = self.names.only_binding(given) if isinstance(given, ast.Name) else None
        if binding is None or not isinstance(given, ast.Name):
            return None
        if given.id in nexts:
            return nexts[given.id]
        statement = self.names.statement(binding.node)
        iterator = self._of_handle(binding.value)
        if iterator is None or not isinstance(statement, ast.Assign) or statement not in self.line:
            return None
        for mention in self.names.mentions(given.id, self.home):
            parent = self.names.parents[mention]
            inside = isinstance(parent, ast.Dict) and mention in parent.values
            if mention is not binding.node and not inside:
                return None
        bare = given.id.replace("_handle", "").replace("handle_", "").strip("_")
        name = self.names.fresh(self.home, f"next_{bare}", f"{given.id}_next")
        start, end = self.source.span(statement)
        edits.append(Edit(start, end, f"{name} = {iterator}.get_next()"))
        nexts[given.id] = name
        return name

    def _of_handle(self, value: ast.expr | None) -> str | None:
        """The iterator that `sess.run(iterator.string_handle())` is about."""
        run = value if isinstance(value, ast.Call) else None
        if run is None or not isinstance(run.func, ast.Attribute) or run.func.attr != "run":
            return None
        asked = run.args[0] if len(run.args) == 1 and not run.keywords else None
        func = asked.func if isinstance(asked, ast.Call) and not asked.args else None
        if not isinstance(func, ast.Attribute) or func.attr != "string_handle":
            return None
        return func.value.id if isinstance(func.value, ast.Name) else None


def is_executed(module: Module, run: ast.Call, statement: ast.stmt) -> bool:
    """Whether a statement executes the run, once, as all that it does before."""
    if not isinstance(statement, (ast.Assign, ast.Expr)):
        return False
    plain = (ast.Call, ast.Subscript, ast.Attribute, ast.keyword, ast.Tuple, ast.List)
    for parent in module.names.ancestors(run):
        if parent is statement:
            return True
        if not isinstance(parent, plain):
            return False
    return False


class Needs:
    """What of a module is made of some names: by the names of variables, attributes, functions."""

    def __init__(self, module: Module, graph: CallGraph, names: set[str]) -> None:
        self.module = module
        self.known = set(names)
        size = 0
        while size != len(self.known):
            size = len(self.known)
            for node in walk(module.tree):
                if isinstance(node, (ast.Assign, ast.AugAssign)) and self.has(node.value):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    self.known.update(one for target in targets for one in _named(target))
                elif isinstance(node, ast.FunctionDef):
                    returned = (one for one in walk(node) if isinstance(one, ast.Return))
                    if any(one.value is not None and self.has(one.value) for one in returned):
                        self.known.add(node.name)
                elif isinstance(node, ast.Call):
                    self._give(graph, node)

    def _give(self, graph: CallGraph, call: ast.Call) -> None:
        """What a call gives the parameters of a function of the program's."""
        target = graph.target(self.module, call.func)
        if target is None or not isinstance(target.node, ast.FunctionDef):
            return
        parameters = [one.arg for one in target.node.args.args]
        skipped = 1 if parameters[:1] == ["self"] else 0
        for parameter, value in zip(parameters[skipped:], call.args):
            if self.has(value):
                self.known.add(parameter)
        self.known.update(k.arg for k in call.keywords if k.arg and self.has(k.value))

    def has(self, node: ast.expr) -> bool:
        if name_of(self.module, node) == "summary.merge_all":
            calls = calls_of_names(self.module)
            told = (one for name in SUMMARIES.by_name for one in calls.get(name, ()))
            return any(self.has(value) for one in told for value in one.args[1:])
        return any(
            (isinstance(part, ast.Name) and part.id in self.known)
            or (isinstance(part, ast.Attribute) and part.attr in self.known)
            for part in walk(node)
        )

    def fetches(self, run: ast.Call) -> bool:
        """Whether a run fetches something that is made of those names."""
        fetched = by_parameter(run, _RUN).get("fetches")
        parts = fetched.elts if isinstance(fetched, (ast.List, ast.Tuple)) else [fetched]
        for one in parts:
            last = one.attr if isinstance(one, ast.Attribute) else None
            name = one.id if isinstance(one, ast.Name) else last
            if name in self.known and constant(one) is None:
                return True
        return False


def _named(target: ast.AST) -> Iterator[str]:
    """The names, and the attributes, that an assignment gives values to."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _named(one)
    elif isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
