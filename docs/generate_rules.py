"""Writes docs/rules.md from the rewriters' docstrings and CASES.

    python docs/generate_rules.py

A test (tests/test_docs.py) fails while the page is not what this writes.
"""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.core.registry import Case, only
from migrate_mgpu.models.front.rewriters import SessionRewriter, TowerRewriter
from migrate_mgpu.output.catalogue import Entry, entries
from migrate_mgpu.run.migrate import migrate

PAGE = Path(__file__).with_name("rules.md")

_HEAD = """\
# Rules

<!-- Made by `python docs/generate_rules.py`; edit the rewriters instead. -->

Every finding has one of these codes. `migrate-mgpu explain CODE` prints its section;
`--select` and `--ignore` take codes, beginnings of codes, and names.
The examples are tests: each is exactly what the tool does
(`pytest tests/rewriters/test_cases.py`).
"""


def page() -> str:
    """The whole page."""
    rows = [f"| [{e.code}](#{e.code.lower()}) | `{e.name}` | {e.summary} |" for e in entries()]
    table = "\n".join(["| code | name | what it does |", "| --- | --- | --- |", *rows])
    return "\n".join([_HEAD, table, *(_section(entry) for entry in entries())]) + "\n"


def _section(entry: Entry) -> str:
    # The heading is the code alone: findings link to #mgpu101.
    doc = entry.doc.strip().replace("``", "`").replace("\n## ", "\n### ")
    if doc.startswith("## "):
        doc = f"#{doc}"
    parts = ["", f"## {entry.code}", "", f"`{entry.name}`", "", doc]
    if entry.cases:
        parts += ["", "### Examples", ""]
        native = entry.code in {only(kind).rule.code for kind in (SessionRewriter, TowerRewriter)}
        parts.append("\n\n".join(_example(case, native) for case in entry.cases))
    return "\n".join(parts)


def _example(case: Case, native: bool) -> str:
    """The case as the tool treats it: a case may name a part of the finding only.

    The examples of all rules but two are of bridged programs, whatever their sessions do.
    """
    given = [("example.py", case.before.encode())]
    result = migrate(given, bridge=True, write=False, native_sessions=native)
    text = f"{case.name[0].upper()}{case.name[1:]}:\n\n{_code(case.before)}"
    for file in result.files:
        if file.changed and file.after is not None:
            text += f"\n\nbecomes\n\n{_code(file.after)}"
    if case.refused is not None:
        said = next(f for f in result.findings if case.refused in f.message)
        text += f"\n\nwith the finding\n\n> {said.code} {said.state}: {said.message}"
    return text


def _code(text: str) -> str:
    return f"```python\n{text.strip()}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
