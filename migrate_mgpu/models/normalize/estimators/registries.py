"""Networks in a dictionary: `NETS[params["net"]](features)` asks for them one by one.

``if params["net"] == "small": ... elif ...`` calls each by its name, and an unknown key stays
an error.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one such call; none where the dictionary is used for more."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module = function.module
    for statement in [n for n in walk(function.node) if isinstance(n, ast.Assign)]:
        edits = _edits(module, statement, graph) if isinstance(statement.value, ast.Call) else []
        if edits:
            return {module: edits}
    return {}


@record(frozen=True)
class _Choice:
    """``table[key]``: the statements that only it needs, and the functions by their keys."""

    key: ast.expr
    gone: list[ast.Assign]
    functions: list[tuple[ast.expr, ast.Name]]


def _edits(module: Module, statement: ast.Assign, graph: CallGraph) -> list[Edit]:
    source = module.source
    call, layout = statement.value, Layout(source, statement)
    assert isinstance(call, ast.Call)
    choice = _choice(module, call.func, graph)
    code = source.code(statement)
    if choice is None or "\n" in code or not layout.owns_lines or layout.trailing_comment:
        return []
    start, end = source.span(statement)
    head = source.text[start : source.span(call)[0]]
    given = source.text[source.span(call.func)[1] : end]
    key, deeper = source.code(choice.key), layout.indent + source.indent_unit
    lines: list[str] = []
    for constant, function in choice.functions:
        word = "elif" if lines else "if"
        lines.append(f"{word} {key} == {source.code(constant)}:")
        lines.append(f"{deeper}{head}{function.id}{given}")
    lines += ["else:", f"{deeper}raise KeyError({key})"]
    text = source.newline.join(
        line if line.startswith(deeper) else f"{layout.indent}{line}" for line in lines
    )
    found = [Edit(start, end, text[len(layout.indent) :])]
    return blank_lines(source, found + [Layout(source, one).replace([]) for one in choice.gone])


def _choice(module: Module, node: ast.expr, graph: CallGraph) -> _Choice | None:
    """What a called expression chooses from; None where that is not known."""
    names = module.names
    gone: list[ast.Assign] = []
    if isinstance(node, ast.Name):
        made = _only_read_here(module, node)
        if made is None:
            return None
        gone.append(made)
        node = made.value
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    if any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(node.slice)):
        return None
    for name in (part for part in walk(node.slice) if isinstance(part, ast.Name)):
        if gone and len(names.bindings_of(name)) > 1:
            return None
    table = _only_read_here(module, node.value)
    if table is None or not isinstance(table.value, ast.Dict):
        return None
    if names.scope_at(table) is not names.module_scope or _is_shared(module, node.value.id, graph):
        return None
    functions: list[tuple[ast.expr, ast.Name]] = []
    for key, value in zip(table.value.keys, table.value.values):
        if not isinstance(key, ast.Constant) or not isinstance(value, ast.Name):
            return None
        function = graph.target(module, value)
        if function is None or function.owner is not None:
            return None
        functions.append((key, value))
    keys = {key.value for key, _ in functions if isinstance(key, ast.Constant)}
    if not functions or len(keys) < len(functions):
        return None
    return _Choice(node.slice, [*gone, table], functions)


def _only_read_here(module: Module, node: ast.Name) -> ast.Assign | None:
    """The statement that gives a variable its one value, which nothing else reads."""
    names = module.names
    home = names.defining_scope(node.id, names.scope_of_name[node])
    value = names.only_value(node)
    made = names.statement(value) if value is not None else None
    if home is None or not isinstance(made, ast.Assign) or value is not made.value:
        return None
    targets = made.targets
    if len(targets) != 1 or not Layout(module.source, made).owns_lines:
        return None
    return made if set(names.mentions(node.id, home)) == {node, targets[0]} else None


def _is_shared(module: Module, name: str, graph: CallGraph) -> bool:
    """Whether another module may read a variable."""
    others = (m for m in graph.project.modules.values() if module in m.imported)
    return any(name in other.source.text for other in others)
