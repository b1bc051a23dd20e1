"""A session's config that only says which devices of a cluster a task talks to.

    def session_config():
        task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task")
        if task and task["type"] == "master":
            return tf.ConfigProto(device_filters=["/job:ps", "/job:master"])
        return None

    config = tf.estimator.RunConfig(session_config=session_config())

A task of parameter servers did not wait for the other tasks then. A Keras model has none of them:
the RunConfig is made without it, and the function goes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.removal import binds_only_removed
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function, without_paragraph

CONFIG = "config-stays"
_GIVEN = "session_config"
_READS = ("json.loads", "os.environ.get", "os.getenv", "builtins.str", "builtins.int")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for the RunConfigs of one Estimator; none where they are given another config."""
    found: dict[Module, list[Edit]] = {}
    gone: dict[Module, set[ast.AST]] = {}
    for module, call, function in _filtered(flow, graph):
        edit = CallEdit(module.source, call, ())
        edit.drop(_GIVEN)
        found.setdefault(module, []).extend(edit.edits())
        home = function.module
        given = next(k.value for k in call.keywords if k.arg == _GIVEN)
        if [one.call for one in graph.references(function)] == [given] and home.writable:
            assert isinstance(function.node, ast.FunctionDef)
            found.setdefault(home, []).append(without_function(home.source, function.node))
            gone.setdefault(home, set()).add(function.node)
    for home, nodes in gone.items():
        found[home] += _without_imports(home, nodes)
    return found


def _without_imports(home: Module, gone: set[ast.AST]) -> list[Edit]:
    """The imports that only the function needed go, next to one another as one paragraph."""
    runs: list[list[ast.stmt]] = []
    before: ast.stmt | None = None
    for statement in home.tree.body:
        if isinstance(statement, ast.Import) and binds_only_removed(home, statement, gone):
            if runs and runs[-1][-1] is before:
                runs[-1].append(statement)
            else:
                runs.append([statement])
        before = statement
    source, found = home.source, []
    for first, *rest in runs:
        start = without_paragraph(source, first).start
        end = Layout(source, rest[-1] if rest else first).next_line
        behind = source.text[end:]
        if source.text[:start].endswith(source.newline * 2) and behind.startswith(source.newline):
            end += len(behind) - len(behind.lstrip("\r\n"))
        found.append(Edit(start, end, ""))
    return found


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """That a cluster of parameter servers is not what trains it any more."""
    text = "its tasks of a cluster, which TF_CONFIG named, and their filters of devices are no more"
    return [
        Diagnostic("cluster-filters", Place(module, call), text)
        for module, call, _ in _filtered(flow, graph)
    ]


def _filtered(flow: EstimatorFlow, graph: CallGraph) -> Iterator[tuple[Module, ast.Call, Function]]:
    """The RunConfigs that are given nothing but filters, with the functions that make these."""
    for config in flow.config.all:
        module, call = config.module, config.node
        if not module.writable:
            continue
        given = [keyword.value for keyword in call.keywords if keyword.arg == _GIVEN]
        if len(given) != 1 or not isinstance(given[0], ast.Call):
            continue
        function = graph.target(module, given[0].func)
        if given[0].args or given[0].keywords or function is None or function.owner is not None:
            continue
        if _only_filters(function):
            yield module, call, function


def _only_filters(function: Function) -> bool:
    """Whether a function returns filters of devices or nothing, and does nothing besides."""
    module, node = function.module, function.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    if not isinstance(module.names.parents[node], ast.Module):
        return False
    made: set[ast.AST] = set()
    for part in walk(node):
        if isinstance(part, ast.Return) and part.value is not None and not is_none(part.value):
            if not _is_filter(module, part.value):
                return False
            made.add(part.value)
    for part in walk(node):
        if isinstance(part, ast.Call) and part not in made:
            known = module.names.qualname(part.func) or ""
            reads = isinstance(part.func, ast.Attribute) and part.func.attr in ("get", "format")
            if not reads and known not in _READS and not known.startswith("tensorflow.logging."):
                return False
        if isinstance(part, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Raise)):
            return False
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
            return False
    return bool(made)


def _is_filter(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or tensorflow_name(module, node.func) != "ConfigProto":
        return False
    return not node.args and [k.arg for k in node.keywords] == ["device_filters"]
