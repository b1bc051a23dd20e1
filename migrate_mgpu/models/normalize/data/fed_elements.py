"""Elements of an iterator that some runs feed: placeholders, which the others are fed the next of.

    x, y = iterator.get_next()
    ...
    sess.run(train_op)
    print(sess.run(loss, {x: test_x, y: test_y}))

becomes

    next_batch = iterator.get_next()
    x = tf.placeholder(dataset.element_spec[0].dtype, dataset.element_spec[0].shape)
    y = tf.placeholder(dataset.element_spec[1].dtype, dataset.element_spec[1].shape)
    ...
    batch = sess.run(next_batch)
    sess.run(train_op, feed_dict={x: batch[0], y: batch[1]})
    print(sess.run(loss, {x: test_x, y: test_y}))

where a run that feeds one feeds them all: such a run draws nothing in TF1.
"""

from __future__ import annotations

import ast
from typing import Optional

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.data.feedable_iterators import Needs, is_executed
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_MAKERS = ("make_one_shot_iterator", "make_initializable_iterator")
_RUN = ("fetches", "feed_dict")
_Drawn = Optional[tuple[ast.Assign, list[str]]]


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such iterator; none where there is none."""
    if "get_next" not in module.names.attributes or not session_calls(module):
        return []
    for call in module.names.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "get_next":
            edits = _Elements(module, graph, call).edits()
            if edits:
                return edits
    return []


class _Elements:
    """What `x, y = iterator.get_next()` draws."""

    def __init__(self, module: Module, graph: CallGraph, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.call = call
        self.home = module.names.scope_at(call)

    def edits(self) -> list[Edit]:
        """The edits for it; none where no run feeds what it draws, or one may feed a part."""
        node, draw = self.home.node, self.names.parents[self.call]
        if not isinstance(node, (ast.Module, ast.FunctionDef)) or self.call.args:
            return []
        targets = self._targets(draw)
        if not targets or draw not in set(in_line(node.body)):
            return []
        assert isinstance(draw, ast.Assign)
        dataset, tensorflow = self._dataset(), spelling(self.module, self.call)
        runs = self._runs({one.id for one in targets})
        if dataset is None or not tensorflow or not runs:
            return []
        alone = isinstance(draw.targets[0], ast.Name)
        drawn = self.names.fresh(self.home, "next_batch", "next_element", "drawn")
        lines = [f"{drawn} = {self.source.code(self.call)}"]
        for index, one in enumerate(targets):
            spec = f"{dataset}.element_spec" if alone else f"{dataset}.element_spec[{index}]"
            lines.append(f"{one.id} = {tensorflow}.placeholder({spec}.dtype, {spec}.shape)")
        found = [Layout(self.source, draw).replace(lines)]
        batch = self.names.fresh(self.home, "batch", f"{drawn}_value", "drawn_batch")
        for run in runs:
            assert isinstance(run.func, ast.Attribute)
            statement = self.names.statement(run)
            session = self.source.code(run.func)
            before = Layout(self.source, statement).insert_before([f"{batch} = {session}({drawn})"])
            parts = {one.id: batch if alone else f"{batch}[{i}]" for i, one in enumerate(targets)}
            pairs = ", ".join(f"{name}: {value}" for name, value in parts.items())
            found += [before, self._fed(run, pairs)]
        return found

    def _targets(self, draw: ast.AST) -> list[ast.Name]:
        """The names of what is drawn, each of which is given nothing else."""
        if not isinstance(draw, ast.Assign) or len(draw.targets) != 1:
            return []
        target = draw.targets[0]
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        names = [one for one in parts if isinstance(one, ast.Name)]
        known = len(names) == len(parts) and Layout(self.source, draw).owns_lines
        alone = all(self.names.only_binding(one) is not None for one in names)
        return names if known and alone else []

    def _dataset(self) -> str | None:
        """The name of the dataset that the iterator goes through, which has it there as well."""
        receiver = self.call.func.value if isinstance(self.call.func, ast.Attribute) else None
        binding = self.names.only_binding(receiver) if isinstance(receiver, ast.Name) else None
        made = binding.value if binding is not None else None
        if not isinstance(made, ast.Call) or made.keywords:
            return None
        name, func = name_of(self.module, made), made.func
        dataset: ast.expr | None = None
        if name in [f"data.{one}" for one in _MAKERS]:
            dataset = made.args[0] if len(made.args) == 1 else None
        elif isinstance(func, ast.Attribute) and func.attr in _MAKERS and not made.args:
            dataset = func.value
        if not isinstance(dataset, ast.Name) or self.names.scope_at(made) is not self.home:
            return None
        given = [one.node for one in self.home.bindings.get(dataset.id, ())]
        above = all(isinstance(one, ast.Name) and position(one) < position(made) for one in given)
        return dataset.id if given and above else None

    # -- runs ------------------------------------------------------------------------------

    def _runs(self, elements: set[str]) -> list[ast.Call]:
        """The runs that draw; none where no run feeds the elements, or one is something else."""
        needs = Needs(self.module, self.graph, set(elements))
        drawing: list[ast.Call] = []
        is_fed = False
        for call in self.names.calls:
            if not isinstance(call.func, ast.Attribute):
                continue
            if call.func.attr == "eval" and needs.has(call):
                return []
            if call.func.attr != "run" or not call.args:
                continue
            told = by_parameter(call, _RUN)
            feeds = told.get("feed_dict")
            if not told.keys() <= {*_RUN}:
                return []
            keys = feeds.keys if isinstance(feeds, ast.Dict) else []
            fed = elements & {one.id for one in keys if isinstance(one, ast.Name)}
            if fed and fed != elements:
                return []  # what is not fed is drawn
            if fed:
                is_fed = True
                continue
            if not needs.has(told["fetches"]):
                continue
            statement = self.names.statement(call)
            written = feeds is None or (isinstance(feeds, ast.Dict) and None not in keys)
            here = self.names.scope_at(call) is self.home and needs.fetches(call)
            inside = [one for one in walk(statement) if isinstance(one, ast.Call)]
            once = sum(isinstance(c.func, ast.Attribute) and c.func.attr == "run" for c in inside)
            if (
                not written
                or not here
                or once != 1
                or not Layout(self.source, statement).owns_lines
            ):
                return []
            if not is_executed(self.module, call, statement):
                return []
            drawing.append(call)
        return drawing if is_fed else []

    def _fed(self, run: ast.Call, pairs: str) -> Edit:
        """What a run is fed besides."""
        feeds = by_parameter(run, _RUN).get("feed_dict")
        if isinstance(feeds, ast.Dict):
            start = self.source.span(feeds)[0] + 1
            return Edit(start, start, f"{pairs}, " if feeds.keys else pairs)
        last = self.source.span([*run.args, *(one.value for one in run.keywords)][-1])[1]
        return Edit(last, last, f", feed_dict={{{pairs}}}")
