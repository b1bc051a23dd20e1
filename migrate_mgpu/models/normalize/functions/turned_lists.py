"""Lists of parts of a graph that are turned around in place, as new lists.

`encoder.reverse()` becomes `encoder = encoder[::-1]`: what a function of TF2 computes is a value,
and no list that other statements change.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits of a module; none where no such list is turned."""
    homes = {module.names.scope_at(call) for call in session_calls(module)}
    found: list[Edit] = []
    for mention in module.names.attributes.get("reverse", ()):
        call = module.names.parents.get(mention)
        name = mention.value
        if not isinstance(call, ast.Call) or call.func is not mention or call.args:
            continue
        statement = module.names.parents.get(call)
        if not isinstance(statement, ast.Expr) or not isinstance(name, ast.Name):
            continue
        home = module.names.scope_of_name[name]
        if home in homes and _is_own(module, name):
            text = module.source.code(name)
            found.append(Edit(*module.source.span(statement), f"{text} = {text}[::-1]"))
    return found


def _is_own(module: Module, name: ast.Name) -> bool:
    """Whether a function of the module returns a list, which nothing else has by another name.

    It is not read again above, nor in a function: both have the list as it is turned.
    """
    names, home = module.names, module.names.scope_of_name[name]
    bindings = home.bindings.get(name.id, [])
    made = names.statement(bindings[0].node) if len(bindings) == 1 else None
    called = (
        made.value.func
        if isinstance(made, ast.Assign) and isinstance(made.value, ast.Call)
        else None
    )
    if made is None or not isinstance(called, ast.Name):
        return False
    if names.block(made) is not names.block(names.statement(name)):
        return False
    function = names.only_definition(called)
    mentions = [one for one in names.mentions(name.id, home) if one is not bindings[0].node]
    own = all(names.scope_of_name[one] is home for one in mentions)
    first = min(mentions, key=position, default=None)
    return isinstance(function, ast.FunctionDef) and own and first is name
