"""`app.run(main)`: TF2 lists its devices there, before it calls the program's `main`.

`tensorflow.python.distribute.combinations` has absl call it as soon as flags are parsed. So what
`main` sets in the environment for CUDA comes too late, which it did not in TF1.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name

_TEXT = "TF2 lists the GPUs as `app.run` begins, before this is set"


def app_run(module: Module) -> ast.stmt | None:
    """The statement of a module that starts its `main` by absl, as TF1's `tf.app.run` does."""
    names = module.names
    for node in names.attributes.get("run", ()):
        call = names.parents[node]
        if not isinstance(call, ast.Call) or call.func is not node:
            continue
        known = tensorflow_name(module, node) == "app.run"
        if known or names.qualname(node) == "absl.app.run":
            return names.statement(call) if names.scope_at(call).is_module else None
    return None


def late_environment(modules: Collection[Module], graph: CallGraph) -> Iterator[Diagnostic]:
    """What functions set for CUDA in a program that absl starts."""
    if not any(app_run(module) is not None for module in modules):
        return
    for module in modules:
        for node in module.environment_changes:
            function = graph.enclosing(module, node)
            if function is None:
                continue
            calls = [one for one in graph.references(function) if one.call is not None]
            if any(graph.enclosing(one.module, one.node) is None for one in calls):
                continue  # as the file is read
            advice = "set it at the top of the file"
            yield Diagnostic("environment-in-main", Place(module, node), _TEXT, advice)
