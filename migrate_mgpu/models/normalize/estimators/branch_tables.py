"""Tables of words that a model_fn makes where it needs them, made above what asks for the mode.

    if mode == tf.estimator.ModeKeys.PREDICT:
        words = tf.contrib.lookup.index_to_string_table_from_file(params['words'])

A table is no part of a prediction or of a loss: the model keeps it. Made in other modes too, it is
asked nothing there.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import names_in, walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for the tables of a model_fn's branches; none where they would be other tables."""
    if flow.function is None or not isinstance(flow.function.node, ast.FunctionDef):
        return {}
    module, node = flow.function.module, flow.function.node
    found: list[Edit] = []
    for statement in node.body:
        if not isinstance(statement, ast.If):
            continue
        assigned = (one for one in walk(statement) if isinstance(one, ast.Assign))
        made = [one for one in assigned if _is_table(module, one)]
        layout = Layout(module.source, statement)
        if made and not layout.owns_lines:
            return {}
        for table in made:
            edits = _moved(module, node, statement, table)
            if not edits:
                return {}
            found += edits
    return {module: found} if found else {}


def _is_table(module: Module, statement: ast.Assign) -> bool:
    value = statement.value
    if not isinstance(value, ast.Call):
        return False
    name = tensorflow_name(module, value.func)
    return name.startswith("contrib.lookup.") and "_table_from_" in name


def _moved(
    module: Module, function: ast.FunctionDef, branch: ast.If, table: ast.Assign
) -> list[Edit]:
    """The edits for one table; none where it may be another one above the branch."""
    names, source = module.names, module.source
    target, inside = table.targets[0], set(walk(branch))
    layout, outer = Layout(source, table), Layout(source, branch)
    home = names.scopes[function]
    if len(table.targets) != 1 or not isinstance(target, ast.Name) or not layout.owns_lines:
        return []
    if len(home.bindings.get(target.id, ())) != 1 or comments(source.code(table)):
        return []
    around = [one for one in names.ancestors(table) if one in inside]
    if not all(map(_asks_mode, around)) or len(names.block(table)) == 1:
        return []
    assert isinstance(table.value, ast.Call)
    given = [*table.value.args, *(keyword.value for keyword in table.value.keywords)]
    if any(isinstance(part, ast.Call) for one in given for part in walk(one)):
        return []
    # What it is made of has its values above the branch already, and no others.
    for name in (one for node in given for one in names_in(node)):
        bound = home.bindings.get(name.id, ())
        if len(bound) > 1 or any(one.node in inside for one in bound):
            return []
    first, *rest = source.code(table).split(source.newline)
    shift = len(layout.indent) - len(outer.indent)
    lines = [first, *(line[shift:] if line[:shift].isspace() else line for line in rest)]
    text = source.newline.join([outer.indent + lines[0], *lines[1:]]) + source.newline
    return [Edit(outer.line_start, outer.line_start, text), layout.replace([])]


def _asks_mode(node: ast.AST) -> bool:
    """Whether a statement is an `if` that asks for the mode: others may have no such file."""
    return isinstance(node, ast.If) and any(one.id == "mode" for one in names_in(node.test))


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """Its file is read in every mode now: told where no other mode read it."""
    if flow.function is None:
        return []
    module, node = flow.function.module, flow.function.node
    found: list[Diagnostic] = []
    for table in (one for one in walk(node) if isinstance(one, ast.Assign)):
        if not _is_table(module, table) or table in getattr(node, "body", ()):
            continue
        assert isinstance(table.value, ast.Call)
        names = module.names
        arm = names.block(table)
        read = {_code(module, one) for one in table.value.args[:1]}
        beside = (
            one
            for one in walk(node)
            if isinstance(one, ast.expr) and not any(p in arm for p in names.ancestors(one))
        )
        if not any(_code(module, one) in read for one in beside):
            text = "this table is made with the model now, whatever it is asked to do"
            found.append(Diagnostic("table-in-all-modes", Place(module, table), text))
    return found


def _code(module: Module, node: ast.AST) -> str:
    return module.source.code(node)
