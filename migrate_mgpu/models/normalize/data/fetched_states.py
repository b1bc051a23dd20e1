"""Parts of a recurrent network's state that are taken where they are run, below the network.

`sess.run([states[1]], feed)` becomes `sess.run([states_1], feed)`, behind `states_1 = states[1]`,
which stands below the network that gives `states`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import is_recurrent
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_FIELDS = ("c", "h")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such part; none where there is none."""
    names, source = module.names, module.source
    for part, name in _fetched(module):
        made = _made(module, name)
        if made is None or not Layout(source, made).owns_lines:
            continue
        code = source.code(part)
        key = part.attr if isinstance(part, ast.Attribute) else code[len(name.id) :].strip("[]")
        new = names.fresh(names.scope_of_name[name], f"{name.id}_{key}")
        alike = [one for one, _ in _fetched(module) if source.code(one) == code]
        same = [one for one in alike if names.scope_at(one) is names.scope_at(part)]
        written = [Edit(*source.span(one), new) for one in same]
        return [Layout(source, made).insert_after([f"{new} = {code}"]), *written]
    return []


def _fetched(module: Module) -> Iterator[tuple[ast.Subscript | ast.Attribute, ast.Name]]:
    """What is run of a name, by a number or as a field, with the name."""
    if not session_calls(module):
        return
    for call in module.names.calls:
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "run" or not call.args:
            continue
        for part in walk(call.args[0]):
            if not isinstance(part, (ast.Subscript, ast.Attribute)):
                continue
            if not isinstance(part.value, ast.Name) or "\n" in module.source.code(part):
                continue
            index = constant(part.slice) if isinstance(part, ast.Subscript) else None
            field = isinstance(part, ast.Attribute) and part.attr in _FIELDS
            if field or (type(index) is int and index >= 0):
                yield part, part.value


def _made(module: Module, name: ast.Name) -> ast.stmt | None:
    """The statement that gives a name the state of a network, above in the same scope."""
    names = module.names
    binding = names.only_binding(name)
    made = names.statement(binding.node) if binding is not None else None
    if binding is None or not isinstance(made, ast.Assign) or len(made.targets) > 1:
        return None
    parts = made.targets[0].elts if isinstance(made.targets[0], ast.Tuple) else []
    network = made.value
    if len(parts) < 2 or parts[1] is not binding.node:
        return None
    if not isinstance(network, ast.Call) or not is_recurrent(module, network):
        return None
    home = names.scope_of_name[name]
    if names.scope_at(made) is not home or made.lineno > name.lineno:
        return None
    loops = (ast.For, ast.While, ast.If, ast.Try)
    return None if any(isinstance(one, loops) for one in names.ancestors(made)) else made
