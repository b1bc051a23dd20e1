"""Prints every sentence that the tool can say, with its place: to be read once, aloud.

python docs/list_messages.py > messages.txt

Two versions compare by `diff` of two such lists without their first column. Text of code that is
written into programs, and docstrings, are no messages. What is put into one shows as `{...}`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_CODE = re.compile(r"\n|^\s|[{}]{2}|^[\w.]+\(|=\{|tf\}")
_WORDS = re.compile(r"[A-Za-z`']+[,:;]? [A-Za-z`'{]")


def sentence(node: ast.AST) -> str | None:
    """A text constant or a formatted one, as it is read; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (sentence(value) or "{" + shown(value) + "}" for value in node.values)
        return "".join(parts)
    return None


def shown(value: ast.AST) -> str:
    """The expression in a formatted text."""
    return ast.unparse(value.value) if isinstance(value, ast.FormattedValue) else ""


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The sentences of a module with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {part for value in node.values for part in ast.walk(value)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(node.value)
    for node in ast.walk(tree):
        text = sentence(node) if node not in inside else None
        if text and len(text.split()) >= 3 and _WORDS.search(text) and not _CODE.search(text):
            yield node.lineno, text  # type: ignore[attr-defined]


def main() -> None:
    """Prints the list, by files."""
    for folder in ("migrate_mgpu", "rewriters"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.name.startswith("generate_"):
                for line, text in sorted(messages(path)):
                    print(f"{path.relative_to(ROOT)}:{line}\t{text}")


if __name__ == "__main__":
    main()
