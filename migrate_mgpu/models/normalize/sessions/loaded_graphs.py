"""A graph that a program reads back from its own checkpoint, in a session that comes later.

    loaded_graph = tf.Graph()
    with tf.Session(graph=loaded_graph) as sess:
        loader = tf.train.import_meta_graph(path + '.meta')
        loader.restore(sess, path)
        loaded_x = loaded_graph.get_tensor_by_name('inputs:0')

It is a copy of the graph that was saved, so the later session becomes one of that graph: its saver
restores the checkpoint, and each tensor has the name that the code which made it gives it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.graph import NAMED
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_IMPORT = "train.import_meta_graph"
# What TF1 calls operations that nobody gave a name.
_OWN = {
    "add", "sub", "mul", "div", "truediv", "pow", "mod", "gradients", "init", "save", "report",
    "zeros", "ones", "zeros_like", "ones_like", "beta1_power", "beta2_power", "global_step",
    "rnn", "cond", "while", "stack", "strided_slice", "concat", "split",
}  # fmt: skip


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such session; none where it may be another graph."""
    calls = calls_of_names(module).get(_IMPORT, ())
    found = _LoadedGraph(module, calls[0]).edits() if len(calls) == 1 else None
    return found or []


class _LoadedGraph:
    def __init__(self, module: Module, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.call = call

    def edits(self) -> list[Edit] | None:
        """The edits; None where something is not as expected."""
        made = self.names.statement(self.call)
        block = self.names.parents.get(made)
        if not isinstance(block, ast.With) or len(block.items) != 1 or not _is_of(made, self.call):
            return None
        assert isinstance(made, ast.Assign)
        session, sessions = block.items[0].context_expr, session_calls(self.module)
        if session not in sessions or len(sessions) < 2 or sessions[-1] is not session:
            return None
        assert isinstance(session, ast.Call)
        graph = self._graph(session)
        saved = self._saved(block)
        loader = made.targets[0]
        restore = self._only_use(loader, "restore")
        tensors = [*self._tensors(graph, block)] if graph is not None else []
        if graph is None or saved is None or restore is None or None in tensors:
            return None
        if not restore.args or restore.keywords or self.names.statement(restore) not in block.body:
            return None
        saver, last = saved
        func = restore.func
        assert isinstance(func, ast.Attribute)
        found = [
            Edit(*self.source.span(session), self.source.code(sessions[0])),
            Edit(*self.source.span(func.value), saver),
        ]
        gone = [graph, made]
        for tensor in tensors:
            assert tensor is not None
            edits = self._named(*tensor, block, last)
            if edits is None:
                return None
            found += edits
            gone.append(tensor[0])
        layouts = [Layout(self.source, one) for one in gone]
        if not all(one.owns_lines for one in layouts):
            return None
        return [*found, *(one.replace([]) for one in layouts)]

    def _graph(self, session: ast.Call) -> ast.Assign | None:
        """`loaded_graph = tf.Graph()`, of what a session is given and nothing more."""
        given = [one for one in session.keywords if one.arg == "graph"]
        first = session_calls(self.module)[0]
        if session.args or len(given) != 1 or _settings(session) != _settings(first):
            return None
        name = given[0].value
        value = self.names.only_value(name) if isinstance(name, ast.Name) else None
        made = self.names.statement(value) if value is not None else None
        graph = isinstance(value, ast.Call) and name_of(self.module, value) == "Graph"
        if not graph or not isinstance(made, ast.Assign) or made not in self.module.tree.body:
            return None
        return made if len(made.targets) == 1 else None

    def _only_use(self, target: ast.expr, method: str) -> ast.Call | None:
        """The one call of a method, where a name is used for nothing else."""
        if not isinstance(target, ast.Name) or self.names.only_binding(target) is None:
            return None
        mentions = self.names.mentions(target.id, self.names.module_scope)
        uses = [self.names.parents[one] for one in mentions if one is not target]
        func = uses[0] if len(uses) == 1 else None
        call = self.names.parents.get(func) if func is not None else None
        if not isinstance(func, ast.Attribute) or func.attr != method:
            return None
        return call if isinstance(call, ast.Call) and call.func is func else None

    # -- what was saved ------------------------------------------------------------------

    def _saved(self, block: ast.With) -> tuple[str, ast.Call] | None:
        """The saver whose checkpoint is read, and the call that saved the graph for sure."""
        path = _without_meta(self.call.args[0]) if len(self.call.args) == 1 else None
        if path is None or self.call.keywords:
            return None
        for call in self.names.calls:
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "save" or len(call.args) != 2:
                continue
            saver, given = func.value, call.args[1]
            if call.keywords or not isinstance(saver, ast.Name):
                continue
            value = self.names.only_value(saver)
            made = isinstance(value, ast.Call) and name_of(self.module, value) == "train.Saver"
            alike = ast.dump(path) == ast.dump(given) and self._is_one(path)
            sure = all(
                isinstance(one, (ast.With, ast.Module)) for one in self._around(call)
            ) and position(call) < position(block)
            if made and alike and sure:
                assert isinstance(value, ast.Call)
                whole = not value.args and all(k.arg == "max_to_keep" for k in value.keywords)
                return (saver.id, call) if whole else None
        return None

    def _is_one(self, path: ast.expr) -> bool:
        """Whether an expression has one value wherever it stands."""
        if isinstance(path, ast.Constant):
            return True
        return isinstance(path, ast.Name) and self.names.only_value(path) is not None

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The statements around the statement of a node."""
        return iter(self.names.ancestors(self.names.statement(node)))

    # -- tensors by their names ----------------------------------------------------------

    def _tensors(
        self, graph: ast.Assign, block: ast.With
    ) -> Iterator[tuple[ast.Assign, str] | None]:
        """`x = loaded_graph.get_tensor_by_name('x:0')`, with the name; None for other uses."""
        target = graph.targets[0]
        assert isinstance(target, ast.Name)
        for mention in self.names.mentions(target.id, self.names.module_scope):
            parent = self.names.parents[mention]
            if mention is target or (
                isinstance(parent, ast.keyword) and self.names.statement(mention) is block
            ):
                continue
            call = self.names.parents.get(parent)
            statement = self.names.statement(mention)
            asks = isinstance(parent, ast.Attribute) and parent.attr == "get_tensor_by_name"
            told = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
            if not asks or not told or statement not in block.body:
                yield None
            elif not isinstance(call, ast.Call) or not _is_of(statement, call):
                yield None  # it is no name for the tensor
            else:
                assert isinstance(statement, ast.Assign)
                name = constant(call.args[0])
                yield (statement, name) if isinstance(name, str) else None

    def _named(
        self, statement: ast.Assign, name: str, block: ast.With, saved: ast.Call
    ) -> list[Edit] | None:
        """The edits that give a tensor the name that it has where it is made."""
        made = self._made(name, saved)
        target = statement.targets[0]
        if made is None or not isinstance(target, ast.Name):
            return None
        home = self.names.module_scope
        if not self._is_last(made, block, home, statement):
            return None
        if made.id == target.id:
            return []
        found: list[Edit] = []
        inside = {node for one in block.body for node in walk(one)}
        for mention in self.names.mentions(target.id, home):
            if mention is target or position(mention) < position(target):
                if self.names.scope_of_name[mention] is not home:
                    return None  # a function may be called later
                continue
            if not isinstance(mention.ctx, ast.Load) or mention not in inside:
                return None
            if self.names.scope_of_name[mention] is not home:
                return None
            found.append(Edit(*self.source.span(mention), made.id))
        return found

    def _made(self, name: str, saved: ast.Call) -> ast.Name | None:
        """The variable of the one tensor that TF1 calls by a name, before the graph was saved."""
        base, _, index = name.partition(":")
        if index != "0" or not re.fullmatch(r"[a-z]\w*", base) or re.search(r"_\d+$", base):
            return None
        if base in _OWN or any(base in use.symbol.name.split(".") for use in self.module.uses):
            return None
        given = [
            call
            for call in self.names.calls
            for one in (*call.args, *(keyword.value for keyword in call.keywords))
            if constant(one) == base
        ]
        call = given[0] if len(given) == 1 else None
        kind = name_of(self.module, call) if call is not None else ""
        if call is None or kind not in NAMED or not _is_named(call, base, NAMED[kind]):
            return None
        statement = self.names.statement(call)
        if not _is_of(statement, call) or position(call) > position(saved):
            return None
        for around in self._around(call):
            scopes = [one.context_expr for one in getattr(around, "items", ())]
            plain = isinstance(around, ast.With) and not any(
                name_of(self.module, one) in ("name_scope", "variable_scope") for one in scopes
            )
            if not plain and not isinstance(around, ast.Module):
                return None
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        return target if isinstance(target, ast.Name) else None

    def _is_last(self, made: ast.Name, block: ast.With, home: Scope, loaded: ast.Assign) -> bool:
        """Whether a variable is a tensor from where that is made to the end of a block."""
        last = block.body[-1]
        end = last.end_lineno or last.lineno, last.end_col_offset or last.col_offset
        return all(
            binding.node is made
            or binding.node is loaded.targets[0]
            or position(binding.node) < position(made)
            or position(binding.node) > end
            for binding in home.bindings[made.id]
        )


def _settings(session: ast.Call) -> list[str]:
    """What a session is given besides its graph."""
    return sorted(ast.dump(one) for one in session.keywords if one.arg != "graph")


def _is_of(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement names what a call gives."""
    return (
        isinstance(statement, ast.Assign)
        and statement.value is call
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    )


def _is_named(call: ast.Call, name: str, place: int | None) -> bool:
    """Whether a call is told a name, and not something else that reads like it."""
    if any(one.arg == "name" and constant(one.value) == name for one in call.keywords):
        return True
    return place is not None and len(call.args) > place and constant(call.args[place]) == name


def _without_meta(path: ast.expr) -> ast.expr | None:
    """The path of a checkpoint, of that of its graph: `path + '.meta'`."""
    text = constant(path)
    if isinstance(text, str) and text.endswith(".meta"):
        return ast.Constant(text[: -len(".meta")])
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add):
        return path.left if constant(path.right) == ".meta" else None
    return None
