"""Graphs that TF1's savers write beside variables, and what other programs ask them for.

    saver = tf.train.import_meta_graph("{}.meta".format(path))
    saver.restore(sess, path)
    words = graph.get_operation_by_name("words").outputs[0]
    print(sess.run("scores/guess:0", {words: texts}))

Such a program stays as it is. What it asks for by name becomes a step of the program that saves,
whose graph is written in TF1's form, with TF1's names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.graph_files import graph_reads
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.api.graph import COMPUTES, NAMED, TESTS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.name_scopes import scope_kind
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.host_objects import GraphExport, Saver, SaverCall
from migrate_mgpu.models.front.session.names_in_functions import OF_OPERATORS, names_of
from migrate_mgpu.models.front.session.program import closure
from migrate_mgpu.models.front.session.scope import given_once
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import SharedStep, Unit

_TENSOR, _OPERATION = "get_tensor_by_name", "get_operation_by_name"
_NAME = re.compile(r"[A-Za-z0-9.][\w./-]*:0")
_DEVICE = re.compile(r"[cg]pu:", re.IGNORECASE)
# What has nothing to do with what is in a graph.
_ASIDE = (
    "app", "flags", "logging", "gfile", "ConfigProto", "GPUOptions", "Graph", "Session", "device",
    "InteractiveSession", "get_default_graph", "reset_default_graph", "set_random_seed",
    "python.framework.ops.reset_default_graph",
    "train.import_meta_graph", "train.latest_checkpoint", "train.get_checkpoint_state",
    "contrib.learn.preprocessing", "VERSION", "__version__", "errors", "compat.as_str",
    *TESTS,
)  # fmt: skip
# What asks a graph for parts by other means than their names, or is given all of it.
_MORE = (
    "get_operations", "get_collection", "get_collection_ref", "get_all_collection_keys",
    "as_graph_def", "graph_def", "as_graph_element", "inputs", "export_meta_graph",
    "get_operation_by_index", "get_tensor_by_index", "consumers",
)  # fmt: skip


@fact_of_text
def names_asked(module: Module) -> frozenset[str] | None:
    """The operations that a module asks a graph for which it reads.

    None where it may do more with the graph than to restore its variables and to run these.
    """
    (call, *others) = graph_reads(module)
    statement = module.names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if others or not isinstance(target, ast.Name) or not _is_plain(module):
        return None
    for mention in module.names.mentions(target.id, module.names.scope_of_name[target]):
        if (
            mention is not target
            and getattr(module.names.parents[mention], "attr", "") != "restore"
        ):
            return None
    asked = [*_looked_up(module), *_told(module)]
    return None if None in asked else frozenset(one for one in asked if one is not None)


def _is_plain(module: Module) -> bool:
    """Whether nothing else of TensorFlow's is asked for parts of a graph, here and in what helps.

    What only computes may be added to it.
    """
    for use in module.uses:
        name = use.symbol.name
        aside = any(name == one or name.startswith(f"{one}.") for one in _ASIDE)
        if (
            not aside
            and name not in COMPUTES
            and not isinstance(use.node, (ast.Import, ast.ImportFrom))
        ):
            return False
    here = any(module.names.attributes.get(name) for name in _MORE)
    names = (*_MORE, _TENSOR, _OPERATION)
    helps = (one for one in module.imported if one is not module)
    return not here and not any(one.names.attributes.get(n) for one in helps for n in names)


def _looked_up(module: Module) -> Iterator[str | None]:
    """The names by which operations and tensors are looked up; None for one that is not known."""
    for kind in (_TENSOR, _OPERATION):
        for attribute in module.names.attributes.get(kind, ()):
            call = module.names.parents[attribute]
            given = call.args if isinstance(call, ast.Call) and not call.keywords else []
            name = constant(given[0]) if len(given) == 1 else None
            first = kind == _TENSOR or _is_first_output(module, call)
            known = isinstance(name, str) and (kind == _OPERATION or name.endswith(":0"))
            yield name.removesuffix(":0") if isinstance(name, str) and known and first else None


def _is_first_output(module: Module, call: ast.AST) -> bool:
    """`graph.get_operation_by_name("words").outputs[0]`"""
    outputs = module.names.parents[call]
    item = module.names.parents[outputs]
    first = isinstance(item, ast.Subscript) and constant(item.slice) == 0
    return first and getattr(outputs, "attr", "") == "outputs"


def _told(module: Module) -> Iterator[str]:
    """The names of tensors that stand in a run, or wherever else: `{"words:0": texts}`."""
    for part in walk(module.tree):
        text = part.value if isinstance(part, ast.Constant) else None
        if isinstance(text, str) and _NAME.fullmatch(text) and not _DEVICE.match(text):
            yield text.removesuffix(":0")


def _reads(reader: Module) -> str:
    text = f"{reader.path.name} reads the graph that TF1 saves beside the variables"
    return f"{text} (`tf.train.import_meta_graph`)"


class GraphExportReader(StatementReader):
    """Finds what other programs ask for in the graph that this one builds."""

    def read(self, names: GraphNames, is_whole: Callable[[Saver], bool]) -> None:
        """The steps whose graphs are written with checkpoints that others read.

        ``is_whole`` tells of a saver whether it saves all that there is.

        Raises:
            Refused: what they ask for cannot be found here.
        """
        calls: dict[Saver, list[SaverCall]] = {}
        asked: dict[Saver, dict[str, Module]] = {}  # who asks for each name
        for call in self.found.saver_calls:
            if call.kind != "save":
                continue
            calls.setdefault(call.saver, []).append(call)
            for reader in self.state.graph_readers(call):
                wanted = names_asked(reader)
                if not wanted:
                    advice = "let it look up tensors by constant names, and run these alone"
                    text = f"{_reads(reader)}, and it is not known what it asks for"
                    raise Refused(self.module, call.call, text, advice)
                asked.setdefault(call.saver, {}).update(dict.fromkeys(wanted, reader))
        for saver, names_of_reader in asked.items():
            whole = all("write_meta_graph" not in one.gone for one in calls[saver])
            whole = whole and not saver.holder and is_whole(saver) and self.scope.towers is None
            if not whole:
                (reader, *_) = names_of_reader.values()
                text = f"{_reads(reader)}, and a part of them is saved, or in another place"
                raise Refused(self.module, calls[saver][0].call, text)
            self.found.graph_exports[saver] = self._export(names, saver, names_of_reader)

    def _export(self, names: GraphNames, saver: Saver, asked: Mapping[str, Module]) -> GraphExport:
        (reader, *_) = asked.values()
        operations = names.operations()
        told = {name: self._made(saver, operations, name, asked[name]) for name in sorted(asked)}
        placeholders = {one.name: one for one in self.found.placeholders}
        fetched = {one: name for name, one in told.items() if one not in placeholders}
        for made in self.found.units.values():  # nothing here may read what it gives
            target = made.node.targets[0] if isinstance(made.node, ast.Assign) else None
            if isinstance(target, ast.Name) and target.id in fetched:
                self.meanings[target.id] = made
        meanings = [self.meanings.get(one) for one in fetched]
        units = [one for one in meanings if isinstance(one, Unit)]
        if len(units) < len(fetched) or not fetched:
            text = f"{_reads(reader)}, and asks for what is no value of it"
            raise Refused(self.module, saver.call, text)
        feeds = {one for unit in closure(units) for one in unit.feeds}
        feeds |= {placeholders[one] for one in told.values() if one in placeholders}
        if any(one.default is not None or one.count is not None for one in feeds):
            text = f"{_reads(reader)}, and a placeholder has a default there"
            raise Refused(self.module, saver.call, text, "feed it in all runs")
        if self._keeps_more(units):
            text = f"{_reads(reader)}, and a step needs more there than saved variables"
            raise Refused(self.module, saver.call, text)
        own = {one: name for name, one in told.items()}
        for name, call in operations.items():
            fed = self._target(call)
            if fed is not None and any(one.name == fed for one in feeds):
                own.setdefault(fed, name)
        for one in feeds:
            if one.name not in own:
                text = f"{_reads(reader)}, and `{one.name}` has no name there"
                raise Refused(self.module, one.unit, text, "give it one")
        step = self.runs.step_of(SharedStep(tuple(fetched), tuple(one.name for one in feeds), ()))
        values = [one.id for one in step.values if isinstance(one, ast.Name)]
        if len(values) < len(step.values) or {*values} != {*fetched}:
            text = f"{_reads(reader)}, and asks for one value by two names"
            raise Refused(self.module, saver.call, text)
        inputs = tuple(own[one.name] for one in step.feeds)
        return GraphExport(step, inputs, tuple(fetched[one] for one in values))

    def _keeps_more(self, units: list[Unit]) -> bool:
        """Whether steps in TF2 have something that is in no checkpoint.

        What counts draws of random numbers in a layer, tables, metrics, iterators.
        """
        drawn = any(one.node in self.found.drawn for one in closure(units))
        helpers = self.found.layer_helpers
        functions = helpers.found.values() if helpers is not None else ()
        modules = dict.fromkeys([self.module, *(one.function.module for one in functions)])
        names = [use.symbol.name for one in modules for use in one.uses]
        names = [one for one in names if not one.startswith(("flags.", "app."))]
        drops = any("dropout" in one.lower() and one != "nn.dropout" for one in names)
        tables = any("lookup" in one.split(".") for one in names)
        return bool(drawn or drops or tables or self.found.metrics)

    def _made(
        self, saver: Saver, operations: Mapping[str, ast.Call], name: str, reader: Module
    ) -> str:
        """The variable of the code that TF1 calls by a name.

        Raises:
            Refused: there is none that is known to be it.
        """
        call = operations.get(name)
        target = self._target(call) if call is not None else None
        if call is None or target is None:
            text = f"{_reads(reader)}, and asks for `{name}`, which cannot be found here"
            raise Refused(self.module, saver.call, text, "give it that name where it is computed")
        last = name.rpartition("/")[2].lower()
        if last in self._unnamed(call):
            text = f"TF1's name of `{name}` cannot be determined: an operation may have that name"
            raise Refused(self.module, call, text, "give it another name")
        for parent in self.names.ancestors(call):
            for item in parent.items if isinstance(parent, ast.With) else ():
                scope = item.context_expr
                told = scope.args[0] if isinstance(scope, ast.Call) and scope.args else None
                if scope_kind(self.module, scope) is not None and (
                    told is None or not isinstance(constant(given_once(self.module, told)), str)
                ):
                    text = f"TF1's name of `{name}` cannot be determined"
                    raise Refused(self.module, scope, text, "write that of its scope")
        return target

    def _target(self, call: ast.Call) -> str | None:
        """The one variable that is given what a call makes, and nothing else."""
        statement = self.names.statement(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name) or statement_value(statement) is not call:
            return None
        bound = self.home.bindings.get(target.id, ())
        kind = name_of(self.module, call)
        return target.id if len(bound) == 1 and (kind in NAMED) else None

    def _unnamed(self, call: ast.Call) -> set[str]:
        """The names that TF1 gives other operations which have no own."""
        found: set[str] = set(OF_OPERATORS)
        for use in self.module.uses:
            if use.node is not call.func:
                found |= names_of(use.symbol.name)
        return found
