"""One import changed as a libcst tree: another module, names that go, one more name."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.source.members import followed, without
from migrate_mgpu.source.source import Edit, Source


def import_edit(
    source: Source,
    statement: ast.Import | ast.ImportFrom,
    gone: Collection[ast.alias] = (),
    added: str = "",
    module: str = "",
) -> Edit:
    """The edit that makes an import of ``module``, without some names, with one more."""
    import libcst as cst

    start, end = source.span(statement)
    tree = cst.parse_module(source.text[start:end])
    line = cst.ensure_type(tree.body[0], cst.SimpleStatementLine)
    node = line.body[0]
    assert isinstance(node, (cst.Import, cst.ImportFrom))
    if not isinstance(node.names, cst.ImportStar):
        opening = node.lpar if isinstance(node, cst.ImportFrom) else None
        space = opening.whitespace_after if opening else cst.SimpleWhitespace("")
        indices = [index for index, alias in enumerate(statement.names) if alias in gone]
        names, space = without(node.names, indices, space)
        if added:
            names = followed(names, cst.ImportAlias(cst.Name(added)))
        node = node.with_changes(names=names)
        if opening:
            node = node.with_changes(lpar=opening.with_changes(whitespace_after=space))
    if module:
        node = node.with_changes(module=cst.parse_expression(module))
    tree = tree.with_changes(body=[line.with_changes(body=[node])])
    return Edit(start, end, tree.code)
