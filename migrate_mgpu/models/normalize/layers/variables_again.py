"""Variables that a function gets again by their names: it has those that are there already.

    with tf.variable_scope("cell"):
        W = tf.get_variable("W", [4, 3])

    def cell(x):
        with tf.variable_scope("cell", reuse=True):
            W = tf.get_variable("W", [4, 3])
        return tf.matmul(x, W)

The block goes: `W` is the module's then, or gets its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.normalize.functions.reused_names import is_written
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_paragraph

_GET = "get_variable"


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such block; none where there is none."""
    gets = calls_of_names(module).get(_GET, ())
    blocks = dict.fromkeys(
        node
        for call in gets
        for node in module.names.ancestors(call)
        if isinstance(node, ast.With) and _scope(module, node, True) is not None
    )
    for block in blocks:
        edits = _without(module, block)
        if edits:
            return edits
    return []


def _without(module: Module, block: ast.With) -> list[Edit]:
    names = module.names
    home = names.scope_at(block)
    function = home.node
    if not isinstance(function, ast.FunctionDef) or block not in function.body:
        return []
    if function not in module.tree.body or block is function.body[-1]:
        return []
    scope = _scope(module, block, True)
    if not _is_made_once(module, scope):
        return []
    edits = [without_paragraph(module.source, block)]
    for statement in block.body:
        made = _made(module, statement)
        if made is None:
            return []
        target, name = made
        known = [*_of_module(module, f"{scope}/{name}")]
        if len(known) != 1 or len(home.bindings[target.id]) != 1:
            return []
        (variable,) = known
        if len(names.module_scope.bindings[variable.id]) != 1:
            return []
        mentions = [one for one in names.mentions(target.id, home) if one is not target]
        if target.id == variable.id:
            continue
        if variable.id in home.bindings or not all(is_written(module, one) for one in mentions):
            return []
        if any(names.scope_of_name[one] is not home for one in mentions):
            return []
        edits += (Edit(*module.source.span(one), variable.id) for one in mentions)
    return edits


def _is_made_once(module: Module, scope: str | None) -> bool:
    """Whether no other block can have the scope, below one of the function's callers."""
    for call in calls_of_names(module).get("variable_scope", ()):
        told = constant(call.args[0]) if call.args else None
        block = module.names.statement(call)
        if isinstance(told, str) and told.rpartition("/")[2] != scope:
            continue
        if not isinstance(block, ast.With) or _scope(module, block, True) != scope:
            if block not in module.tree.body or told != scope:
                return False
    return True


def _of_module(module: Module, wanted: str) -> Iterator[ast.Name]:
    """What the module itself calls the variables of a name, each made in a scope of one block."""
    names = module.names
    for call in calls_of_names(module).get(_GET, ()):
        statement = names.statement(call)
        block = names.parents[statement]
        made = _made(module, statement)
        if made is None or not isinstance(block, ast.With) or block not in module.tree.body:
            continue
        scope = _scope(module, block, False)
        if scope is not None and f"{scope}/{made[1]}" == wanted:
            yield made[0]


def _made(module: Module, statement: ast.stmt) -> tuple[ast.Name, str] | None:
    """The name that a statement gives a variable, and that of the variable."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.Call):
        return None
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return None
    if name_of(module, value) != _GET:
        return None
    row = VARIABLES.by_name[_GET]
    told = constant(NamedArguments(module, value, row.signature).rest.get("name"))
    return (target, told) if isinstance(told, str) else None


def _scope(module: Module, block: ast.With, reuses: bool) -> str | None:
    """The name of a block's one scope, which shares its variables, or makes them."""
    call = block.items[0].context_expr
    if len(block.items) != 1 or block.items[0].optional_vars is not None:
        return None
    if not isinstance(call, ast.Call) or name_of(module, call) != "variable_scope":
        return None
    told = {one.arg: constant(one.value) for one in call.keywords}
    if told != ({"reuse": True} if reuses else {}) or len(call.args) != 1:
        return None
    around = (one for one in module.names.ancestors(block) if isinstance(one, ast.With))
    name = constant(call.args[0])
    return name if isinstance(name, str) and name and not any(around) else None
