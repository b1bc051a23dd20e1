"""Constants that a session's configuration reads, above the first part of the graph.

`THREADS = 4` below the graph, beside `tf.Session(config=tf.ConfigProto(...THREADS))`: in eager code
the options are set before the first variable exists, and the constant must have its value there.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import DEVICE_OPTIONS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_CONFIGURES = ("ConfigProto", "GPUOptions", *DEVICE_OPTIONS)
_ABOVE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one constant; none where none stands below a part of the graph."""
    for call in module.names.calls:
        if not name_of(module, call).startswith(_CONFIGURES):
            continue
        for name in walk(call):
            statement = _constant(module, name) if isinstance(name, ast.Name) else None
            if statement is not None:
                block = module.names.block(statement)
                first = next(one for one in block if one is statement or _speaks(module, one))
                source = module.source
                layouts = Layout(source, statement), Layout(source, first)
                if first is not statement and all(one.owns_lines for one in layouts):
                    line = source.text[layouts[0].start : layouts[0].line_end]
                    gone = without_paragraph(source, statement)
                    return [layouts[1].insert_paragraph([line]), gone]
    return []


def _constant(module: Module, name: ast.Name) -> ast.Assign | None:
    """The statement that gives a name its one value, a constant, whenever its scope runs."""
    value = module.names.only_value(name)
    if value is None or constant(value) is None:
        return None
    statement = module.names.statement(value)
    straight = isinstance(module.names.parents[statement], (ast.Module, ast.FunctionDef))
    plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return statement if straight and plain and isinstance(statement, ast.Assign) else None


def _speaks(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement calls TensorFlow, or a function of the module's that may."""
    calls = [node for node in walk(statement) if isinstance(node, ast.Call)]
    own = (call.func for call in calls if isinstance(call.func, ast.Name))
    made = any(module.names.only_definition(one) is not None for one in own)
    return not isinstance(statement, _ABOVE) and (made or any(name_of(module, c) for c in calls))
