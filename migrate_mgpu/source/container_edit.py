"""Members taken out of the tuples and dictionaries of a statement."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.source.source import Edit, Source, splice


def without_members(source: Source, statement: ast.stmt, members: Collection[ast.AST]) -> str:
    """A statement's text without some members; of a tuple's last one only itself is left.

    Empty where nothing is left that the statement would do.
    """
    start, end = source.span(statement)
    edits: list[Edit] = []
    for node in ast.walk(statement):
        if isinstance(node, (ast.Tuple, ast.List)) and any(e in members for e in node.elts):
            kept = [source.code(e) for e in node.elts if e not in members]
            if not kept:
                return ""
            first, last = source.span(node)
            own = source.text[first:last]
            opening = own[0] if own[0] in "([" and source.span(node.elts[0])[0] > first else ""
            text = ", ".join(kept)
            if len(kept) == 1:
                opening = opening if "\n" in text else ""
            closing = {"(": ")", "[": "]", "": ""}[opening]
            edits.append(Edit(first - start, last - start, opening + text + closing))
        elif isinstance(node, ast.Dict) and any(value in members for value in node.values):
            pairs = [
                f"{source.code(key)}: {source.code(value)}" if key else f"**{source.code(value)}"
                for key, value in zip(node.keys, node.values)
                if value not in members
            ]
            if not pairs:
                return ""
            first, last = source.span(node)
            edits.append(Edit(first - start, last - start, "{" + ", ".join(pairs) + "}"))
    return splice(source.text[start:end], edits)
