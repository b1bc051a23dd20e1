"""Names that a program gives to modules of TensorFlow's: what they stand for, where they are used.

`slim = tf.contrib.slim` goes, and `slim.conv2d(x, 8)` becomes `tf.contrib.slim.conv2d(x, 8)`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such name; none where there is none."""
    names, source = module.names, module.source
    for statement in module.tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            continue
        value = statement.value
        if not isinstance(value, ast.Attribute) or len(statement.targets) > 1:
            continue
        if not name_of(module, value).startswith("contrib."):
            continue
        home = names.module_scope
        mentions = [one for one in names.mentions(target.id, home) if one is not target]
        asked = [names.parents[one] for one in mentions]
        if len(home.bindings[target.id]) > 1 or not Layout(source, statement).owns_lines:
            continue
        if not all(isinstance(one, ast.Attribute) for one in asked):
            continue
        text, layout = source.code(value), Layout(source, statement)
        if mentions and "\n" not in text:
            written = [Edit(*source.span(one), text) for one in mentions]
            return [*written, Edit(layout.line_start, layout.next_line, "")]
    return []
