"""Members taken out of the tuples and dictionaries of a statement."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from migrate_mgpu.source.header_edit import smallest_edit
from migrate_mgpu.source.members import without
from migrate_mgpu.source.source import Edit, Source, splice

if TYPE_CHECKING:
    import libcst as cst


def without_members(
    source: Source, statement: ast.stmt, members: Collection[ast.AST]
) -> tuple[str, set[str]]:
    """A statement's text without some members, and the comments that go with them.

    Empty where nothing is left that the statement would do.
    """
    start, end = source.span(statement)
    edits: list[Edit] = []
    comments: set[str] = set()
    for node in ast.walk(statement):
        if not isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
            continue
        own = node.values if isinstance(node, ast.Dict) else node.elts
        gone = [index for index, member in enumerate(own) if member in members]
        if not gone:
            continue
        if len(gone) == len(own):
            return "", set()
        edit, away = member_edit(source, node, gone)
        edits.append(edit)
        comments |= away
    return splice(source.text, edits, start, end), comments


def member_edit(
    source: Source, node: ast.Tuple | ast.List | ast.Dict, gone: Collection[int]
) -> tuple[Edit, set[str]]:
    """The edit that takes members out, and the comments that go with them.

    Of a tuple's last member only itself is left.
    """
    import libcst as cst

    start, end = source.span(node)
    # In brackets, where any line break may be.
    tree = cst.parse_expression(f"({source.text[start:end]}\n)")
    tree = tree.with_changes(lpar=tree.lpar[1:], rpar=tree.rpar[:-1])
    assert isinstance(tree, (cst.Tuple, cst.List, cst.Dict))
    before = _comments(tree)
    elements: Sequence[Any] = tree.elements
    kept, _ = without(elements, gone, cst.SimpleWhitespace(""))
    tree = tree.with_changes(elements=kept)
    if len(kept) == 1 and isinstance(kept[0], cst.Element):
        tree = kept[0].value
    edit = smallest_edit(start, source.text[start:end], cst.Module([]).code_for_node(tree))
    return edit, before - _comments(tree)


def _comments(node: cst.CSTNode) -> set[str]:
    import libcst as cst

    own = {node.value} if isinstance(node, cst.Comment) else set()
    return own.union(*map(_comments, node.children))
