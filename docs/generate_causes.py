"""Writes the causes at the end of docs/losses-differ.md: the text of `migrate-mgpu explain CAUSE`.

python docs/generate_causes.py
"""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.output.catalogue import CAUSES

PAGE = Path(__file__).with_name("losses-differ.md")


def page() -> str:
    """The page, with its causes anew; what stands above the first of them is its own."""
    return PAGE.read_text(encoding="utf-8").partition("### ")[0] + CAUSES.read_text("utf-8")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
