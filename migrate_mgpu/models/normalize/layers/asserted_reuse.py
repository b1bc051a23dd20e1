"""Assertions of whether a scope shares its variables: they go, for they hold or end the program.

if reuse:
    tf.get_variable_scope().reuse_variables()
else:
    assert tf.get_variable_scope().reuse == False
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements."""
    if "reuse" not in module.names.attributes:
        return []
    found: list[Edit] = []
    for node in walk(module.tree):
        if isinstance(node, ast.Assert) and node.msg is None and _is_of_scope(module, node.test):
            source, layout = module.source, Layout(module.source, node)
            block, parent = module.names.block(node), module.names.parents[node]
            if not layout.owns_lines:
                continue
            if len(block) > 1:
                found.append(without_paragraph(source, node))
            elif isinstance(parent, ast.If) and parent.orelse is block:
                start = Layout(source, parent.body[-1]).next_line
                said = source.text[start : layout.line_start].strip()
                if said == "else:":
                    found.append(Edit(start, layout.next_line, ""))
    return found


def _is_of_scope(module: Module, test: ast.expr) -> bool:
    """`tf.get_variable_scope().reuse == False`, or `not` that."""
    if isinstance(test, ast.Compare):
        if len(test.ops) > 1 or not isinstance(test.ops[0], (ast.Eq, ast.Is)):
            return False
        if not isinstance(constant(test.comparators[0]), bool):
            return False
        test = test.left
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    return (
        isinstance(test, ast.Attribute)
        and test.attr == "reuse"
        and isinstance(test.value, ast.Call)
        and name_of(module, test.value) == "get_variable_scope"
    )
