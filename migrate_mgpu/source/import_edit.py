"""One import changed as a libcst tree: its module, names that go or change, one more name."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from migrate_mgpu.source.members import followed, without
from migrate_mgpu.source.source import Edit, Source

_NOTHING: Mapping[str, str] = {}


def import_edit(
    source: Source,
    statement: ast.Import | ast.ImportFrom,
    gone: Collection[ast.alias] = (),
    added: str = "",
    module: str = "",
    renamed: Mapping[str, str] = _NOTHING,
    named: bool = False,
) -> Edit:
    """The edit that makes an import of ``module``, without some names, with one more.

    Names that are ``renamed`` there keep the name that they have here, if they have one; where
    they are ``named``, each of them has one.
    """
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
        names = [
            alias.with_changes(name=cst.parse_expression(renamed.get(old.name, old.name)))
            for alias, old in zip(node.names, statement.names)
        ]
        names = [
            alias.with_changes(asname=cst.AsName(cst.Name(old.name)))
            if named and old.name in renamed and alias.asname is None
            else alias
            for alias, old in zip(names, statement.names)
        ]
        names, space = without(names, indices, space)
        if added:
            names = followed(names, cst.ImportAlias(cst.Name(added)))
        node = node.with_changes(names=names)
        if opening:
            node = node.with_changes(lpar=opening.with_changes(whitespace_after=space))
    if module:
        node = node.with_changes(module=cst.parse_expression(module))
    tree = tree.with_changes(body=[line.with_changes(body=[node])])
    return Edit(start, end, tree.code)
