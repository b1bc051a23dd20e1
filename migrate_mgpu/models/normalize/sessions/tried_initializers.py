"""Variables that are initialized by the name of a TensorFlow that there is, or else by another.

    try:
        tf.global_variables_initializer().run()
    except:
        tf.initialize_all_variables().run()

does the first in every TensorFlow from 0.12 on; what fails there fails below as well. So does

    try:
        net = tf.nn.conv2d_transpose(net, w, output_shape=shape, strides=strides)
    except AttributeError:
        net = tf.nn.deconv2d(net, w, output_shape=shape, strides=strides)

where the name is TensorFlow 1.15's.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.functions.graph_settings import tried_arm
from migrate_mgpu.source.source import Edit

_INITIALIZES = (
    "global_variables_initializer", "initialize_all_variables", "initializers.global_variables",
)  # fmt: skip


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements."""
    found: list[Edit] = []
    for node in walk(module.tree):
        if not isinstance(node, ast.Try) or node.orelse or node.finalbody:
            continue
        arms = [node.body, *(handler.body for handler in node.handlers)]
        alike = all(len(arm) == 1 and _initializes(module, arm[0]) for arm in arms)
        if alike or _has_its_name(module, node):
            edit = tried_arm(module, node, node.body)
            found += [edit] if edit is not None else []
    return found


def _has_its_name(module: Module, node: ast.Try) -> bool:
    """Whether a statement only asks if TensorFlow has a name, which it has, and calls that."""
    statement, handler = node.body[0], node.handlers[0] if node.handlers else None
    call = statement.value if isinstance(statement, ast.Assign) else None
    if len(node.body) > 1 or len(node.handlers) != 1 or handler is None:
        return False
    asked = module.names.qualname(handler.type) if handler.type is not None else ""
    if asked != "builtins.AttributeError" or not isinstance(call, ast.Call):
        return False
    if not isinstance(statement, ast.Assign) or name_of(module, call) not in COMPUTES:
        return False
    plain = (ast.Name, ast.Constant, ast.List, ast.Tuple, ast.expr_context)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(isinstance(part, plain) for one in given for part in walk(one))


def _initializes(module: Module, statement: ast.stmt) -> bool:
    """`tf.global_variables_initializer().run()`, or that what it returns is run in a session."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute) or func.attr != "run":
        return False
    made = call.args[0] if len(call.args) == 1 else func.value
    name = name_of(module, made) if isinstance(made, ast.Call) else ""
    return name in _INITIALIZES and not call.keywords and not getattr(made, "args", None)
