"""A tensor's shape by a name, in a function that makes variables of its sizes.

    def layer_normalization(x):
        shape = x.get_shape()
        gamma = tf.Variable(tf.ones([int(shape[-1])]))
        mean, variance = tf.nn.moments(x, [len(shape) - 1], keep_dims=True)

becomes `gamma = tf.Variable(tf.ones([int(x.get_shape()[-1])]))`, and so on: what a layer is built
of asks for that shape itself. A variable that such a function makes and leaves alone gets a name.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_AGAIN = (ast.For, ast.While, ast.AsyncFor)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such name; none where there is none."""
    if not session_calls(module):
        return []
    known = calls_of_names(module)
    makers = {
        function
        for name in VARIABLES.by_name
        for call in known.get(name, ())
        if (function := _function(module, call)) is not None
    }
    for function in sorted(makers, key=position):
        for statement in function.body:
            edits = _without_name(module, function, statement) or _named(module, statement)
            if edits:
                return edits
    return []


def _function(module: Module, node: ast.AST) -> ast.FunctionDef | None:
    """The function around a node, if a module has it."""
    around = (one for one in module.names.ancestors(node) if isinstance(one, ast.FunctionDef))
    found = next(around, None)
    return found if found in module.tree.body else None


def _named(module: Module, statement: ast.stmt) -> list[Edit]:
    """`tf.Variable(tf.zeros([size]))`, which nothing reads."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return []
    if name_of(module, statement.value) not in VARIABLES.by_name:
        return []
    name = module.names.fresh(module.names.scope_at(statement), "unused")
    start = module.source.span(statement)[0]
    return [Edit(start, start, f"{name} = ")]


def _without_name(module: Module, function: ast.FunctionDef, statement: ast.stmt) -> list[Edit]:
    names, source = module.names, module.source
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return []
    target, tensor = statement.targets[0], asked_of(statement.value)
    if len(statement.targets) > 1 or not isinstance(tensor, ast.Name):
        return []
    if not isinstance(statement.value, (ast.Call, ast.Attribute)) or _is_list(statement.value):
        return []
    scope = names.scopes[function]
    given = scope.bindings.get(tensor.id, ())
    if len(scope.bindings.get(target.id, ())) != 1 or not any(o.kind == "parameter" for o in given):
        return []
    uses = [one for one in names.mentions(target.id, scope) if one is not target]
    others = [one.node for one in given if one.kind != "parameter"]
    last = max(map(position, uses), default=position(target))
    if not uses or not all(_asks(module, one) for one in uses):
        return []
    if any(names.scope_of_name[one] is not scope for one in uses):
        return []
    for one in others:
        if any(isinstance(part, _AGAIN) for part in names.ancestors(one)):
            return []
        if names.statement(one).lineno <= last[0]:
            return []
    if not Layout(source, statement).owns_lines:
        return []
    shape = source.code(statement.value)
    return [
        without_paragraph(source, statement),
        *(Edit(*source.span(one), shape) for one in uses),
    ]


def _is_list(node: ast.expr) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "as_list"


def _asks(module: Module, mention: ast.Name) -> bool:
    """Whether a mention asks a shape for a size, or how many it has."""
    parent = module.names.parents.get(mention)
    if isinstance(parent, ast.Subscript):
        return parent.value is mention and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Call) and parent.args == [mention]:
        return module.names.qualname(parent.func) == "builtins.len"
    return False
