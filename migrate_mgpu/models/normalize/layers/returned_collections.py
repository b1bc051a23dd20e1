"""Functions that return the variables that they have made: who calls them asks for these.

A function that ends by ``params = tf.get_collection(KEY, scope=name)`` and returns them beside the
network, ``return out, params``, returns the network alone, and

    out, out_params = network('eval')

becomes ``out = network('eval')`` and ``out_params = tf.get_collection(KEY, scope='eval')``: nothing
is made in between.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.functions.script_statements import unpacked_calls
from migrate_mgpu.models.normalize.functions.variable_makers import with_texts
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such function and its calls; none where there is none."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef):
            edits = _asked_by_callers(module, node, graph)
            if edits:
                return edits
    return []


def _asked_by_callers(module: Module, node: ast.FunctionDef, graph: CallGraph) -> list[Edit]:
    known = unpacked_calls(module, node, graph)
    if known is None:
        return []
    returned, targets = known
    lists = _lists(module, node, returned)
    if not lists or len(lists) == len(returned.elts):
        return []
    source = module.source
    found: list[Edit] = []
    for layout in (Layout(source, one) for one in lists.values()):
        if not layout.owns_lines:
            return []
        found.append(Edit(layout.line_start, layout.next_line, ""))
    for one in (returned, *targets):
        left = [source.code(part) for i, part in enumerate(one.elts) if i not in lists]
        found.append(Edit(*source.span(one), ", ".join(left)))
    for target in targets:
        statement = module.names.statement(target)
        layout = Layout(source, statement)
        asked = [_asked(module, node, statement, one) for one in lists.values()]
        if not layout.owns_lines or not all(asked):
            return []
        indent, newline = source.indent_of(statement), source.newline
        names = [source.code(target.elts[index]) for index in lists]
        text = "".join(f"{indent}{name} = {code}{newline}" for name, code in zip(names, asked))
        ends = source.text[: layout.next_line].endswith("\n")
        text = text if ends else newline + text.rstrip(newline)
        found.append(Edit(layout.next_line, layout.next_line, text))
    return found


def _lists(module: Module, node: ast.FunctionDef, returned: ast.Tuple) -> dict[int, ast.Assign]:
    """The statements above the last one that collect what is returned, by its place in that."""
    found: dict[int, ast.Assign] = {}
    for statement in reversed(node.body[:-1]):
        value = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(value, ast.Call):
            break
        target = statement.targets[0]
        if name_of(module, value) != "get_collection" or not isinstance(target, ast.Name):
            break
        mentions = [n for n in walk(node) if isinstance(n, ast.Name) and n.id == target.id]
        places = [i for i, one in enumerate(returned.elts) if one in mentions]
        if len(mentions) != 2 or len(places) != 1 or len(statement.targets) > 1:
            break
        found[places[0]] = statement
    plain = all(isinstance(one, ast.Name) for one in returned.elts)
    return dict(sorted(found.items())) if plain else {}


def _asked(
    module: Module, node: ast.FunctionDef, statement: ast.stmt, collected: ast.Assign
) -> str | None:
    """What a function asks for, in the words of a statement that calls it; None if unclear."""
    assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
    given = bind(statement.value, Function(module, node))
    known = given.values()
    bound = {n.id for target in statement.targets for n in walk(target) if isinstance(n, ast.Name)}
    for name in (part for part in walk(collected.value) if isinstance(part, ast.Name)):
        home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
        if home is module.names.module_scope:
            continue
        value = known.get(name.id)
        simple = isinstance(value, ast.Constant) or (
            isinstance(value, ast.Name) and value in walk(statement.value) and value.id not in bound
        )
        if not module.names.is_parameter(name) or not simple or given.unclear is not None:
            return None
    texts = {one: module.source.code(value) for one, value in known.items()}
    return with_texts(module.source, collected.value, lambda n: texts.get(n.id))
