"""Settings that a model_fn reads from an open file, as what a function of their own returns.

    with open(params['tags']) as lines:
        size = len([line for line in lines])

becomes `size = read_size(params)`: a `with` may be a scope of the network, a file is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.definitions import defined_above
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import Scope, names_in, walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.network.name_scopes import scope_kind
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_OPENS = ("builtins.open", "io.open", "codecs.open")
_SIMPLE = (ast.Assign, ast.Name, ast.expr, ast.expr_context, ast.comprehension, ast.operator)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one file that a model_fn opens; none where its block does more."""
    if flow.function is None or not isinstance(flow.function.node, ast.FunctionDef):
        return {}
    module, node = flow.function.module, flow.function.node
    if not module.writable or module.names.parents[node] is not module.tree:
        return {}
    for statement in _statements(module, node.body):
        if isinstance(statement, ast.With):
            edits = _edits(module, node, statement)
            if edits:
                return {module: edits}
    return {}


def _statements(module: Module, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a function, those in the scopes of its network as well."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With) and all(
            scope_kind(module, item.context_expr) for item in statement.items
        ):
            yield from _statements(module, statement.body)


def _edits(module: Module, function: ast.FunctionDef, node: ast.With) -> list[Edit]:
    names, source = module.names, module.source
    layout = Layout(source, node)
    if len(node.items) != 1 or not layout.owns_lines or not _opens(module, node.items[0]):
        return []
    if not all(isinstance(one, ast.Assign) for one in node.body):
        return []
    if any(tensorflow_name(module, part) for part in walk(node)):
        return []
    home, inside = names.scopes[function], set(walk(node))
    stored: list[str] = []
    for statement in node.body:
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            return []
        stored.append(target.id)
    given: list[str] = []
    for name in names_in(node):
        if names.scope_of_name.get(name) is not home or name.id in stored or name.id in given:
            continue
        if isinstance(name.ctx, ast.Load) and name.id in home.bindings:
            if all(one.node not in inside for one in home.bindings[name.id]):
                given.append(name.id)
    opened = node.items[0].optional_vars
    own = {*stored, opened.id} if isinstance(opened, ast.Name) else {*stored}
    kept = [
        name
        for name in dict.fromkeys(stored)
        if any(
            one not in inside and isinstance(one.ctx, ast.Load)
            for one in names.mentions(name, home)
        )
    ]
    if not kept or len(own) != len({*stored}) + 1 or own & {*given}:
        return []
    if not all(
        len(home.bindings.get(name, ())) == stored.count(name) or _begins(module, node, name, home)
        for name in stored
    ):
        return []
    assert isinstance(opened, ast.Name)
    if not all(_of_file(module, one) for one in names.mentions(opened.id, home)):
        return []
    called = names.fresh(names.module_scope, f"read_{kept[-1]}")
    unit, first = source.indent_unit, len(layout.indent)
    body = source.code(node).split(source.newline)
    lines = [body[0], *(line[first:] if line[:first].isspace() else line for line in body[1:])]
    text = [f"def {called}({', '.join(given)}):"]
    text += [f"{unit}{line}" if line.strip() else "" for line in lines]
    text += [f"{unit}return {', '.join(kept)}"]
    made = f"{', '.join(kept)} = {called}({', '.join(given)})"
    return [defined_above(module, function, ["\n".join(text)]), layout.replace([made])]


def _begins(module: Module, node: ast.With, name: str, home: Scope) -> bool:
    """Whether nobody reads what a name was before a block gives it a value."""
    inside = set(walk(node))
    for one in module.names.mentions(name, home):
        above = one.lineno < node.lineno
        if one not in inside and above is isinstance(one.ctx, ast.Load):
            return False
    return True


def _opens(module: Module, item: ast.withitem) -> bool:
    """Whether a `with` opens a file for reading: by `open`, or a path's own."""
    call = item.context_expr
    if not isinstance(call, ast.Call) or not isinstance(item.optional_vars, ast.Name):
        return False
    if len(call.args) + len(call.keywords) > 1 and not _reads(call):
        return False
    if module.names.qualname(call.func) in _OPENS:
        return True
    made = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(made, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr == "open" and module.names.qualname(made.func) == "pathlib.Path"


def _reads(call: ast.Call) -> bool:
    """Whether each text that it is given reads a file."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    texts = [one.value for one in given if isinstance(one, ast.Constant)]
    return not any(isinstance(one, str) and set(one) & set("wax+") for one in texts)


def _of_file(module: Module, name: ast.Name) -> bool:
    """Whether a name stands in a `with` that gives it a file."""
    for around in module.names.ancestors(name):
        for item in around.items if isinstance(around, ast.With) else ():
            given = item.optional_vars
            if isinstance(given, ast.Name) and given.id == name.id:
                return True
    return False
