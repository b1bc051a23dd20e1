"""The README as a package index shows it; pyproject.toml has everything else.

In the repository the README leads to pages of docs/. An index has no such pages: there the same
links lead to the documentation's address, once pyproject.toml names one.
"""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def address(pyproject: str) -> str | None:
    """Where the documentation is published."""
    found = re.search(r'^Documentation = "([^"]+)"$', pyproject, re.M)
    return found.group(1).rstrip("/") if found else None


def description(readme: str, docs: str | None) -> str:
    """The README with links that work outside of the repository, or none."""
    link = re.compile(r"\[([^\]]*)\]\(docs/([\w-]+)\.md(#[\w-]+)?\)")
    if docs is None:
        return link.sub(r"\1", readme)
    return link.sub(lambda m: f"[{m[1]}]({docs}/{m[2]}/{m[3] or ''})", readme)


if __name__ == "__main__":
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=description(text, address(project)),
        long_description_content_type="text/markdown",
    )
