"""What the site has beside the pages of this folder: a page for each rule, and the front page.

A hook of mkdocs (mkdocs.yml), which calls the functions by their names.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from migrate_mgpu.core.registry import Case, only
from migrate_mgpu.models.front.rewriters import SessionRewriter, TowerRewriter
from migrate_mgpu.output.catalogue import Entry, entries
from migrate_mgpu.run.migrate import migrate

ROOT = Path(__file__).parents[1]
# TensorFlow's own guides, by the first digit of a code.
_GUIDES = {
    "1": ("Use a GPU", "https://www.tensorflow.org/guide/gpu"),
    "2": ("Migrate to TensorFlow 2", "https://www.tensorflow.org/guide/migrate"),
    "3": ("Distributed training", "https://www.tensorflow.org/guide/distributed_training"),
    "4": ("Migrate from Estimator", "https://www.tensorflow.org/guide/migrate/migrating_estimator"),
    "5": ("Multi-worker and multi-GPU migration",
          "https://www.tensorflow.org/guide/migrate/mirrored_strategy"),
    "9": ("Migrate to TensorFlow 2", "https://www.tensorflow.org/guide/migrate"),
}  # fmt: skip


def on_config(config: Any) -> Any:
    """Puts the rules into the navigation."""
    pages = [{f"{one.code} {one.name}": _path(one)} for one in entries()]
    for section in config.nav:
        for title, members in section.items():
            if title == "Reference":
                section[title] = [
                    {"Each rule": pages} if "Each rule" in member else member for member in members
                ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made."""
    for entry in entries():
        files.append(File.generated(config, _path(entry), content=_page(entry)))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    front = readme.replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=front))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Files of the repository beside docs/ are named, not linked."""
    return re.sub(r"\[([^\]]*)\]\(\.\./([^)]*)\)", r"\1 (`\2`)", markdown)


def _path(entry: Entry) -> str:
    return f"rules/{entry.code.lower()}.md"


def _page(entry: Entry) -> str:
    doc = entry.doc.strip().replace("``", "`")
    doc = re.sub(r"\]\(([\w-]+\.md)", r"](../\1", doc)
    guide, address = _GUIDES[entry.code[4]]
    parts = [f"# {entry.code} {entry.name}", "", f"{entry.summary[0].upper()}{entry.summary[1:]}.",
             "", doc, ""]  # fmt: skip
    if entry.cases:
        native = entry.code in {only(kind).rule.code for kind in (SessionRewriter, TowerRewriter)}
        parts += ["## Examples", "", *(_example(case, native) for case in entry.cases)]
    parts += ["## See also", "", f"TensorFlow: [{guide}]({address}).", ""]
    return "\n".join(parts)


def _example(case: Case, native: bool) -> str:
    """What the tool does to a case, as a diff; or the code that stays, with the finding."""
    given = [("example.py", case.before.encode())]
    result = migrate(given, bridge=True, write=False, native_sessions=native)
    after = next((file.after for file in result.files if file.changed), None)
    title = f"**{case.name[0].upper()}{case.name[1:]}**\n\n"
    if after is None:
        text = f"```python\n{case.before.rstrip()}\n```\n"
    else:
        lines = difflib.unified_diff(
            case.before.splitlines(), after.splitlines(), "before", "after", "", "", 99, ""
        )
        text = "```diff\n" + "\n".join([*lines][3:]) + "\n```\n"
    if case.refused is not None:
        said = next(one for one in result.findings if case.refused in one.message)
        text += f"\n> {said.code} {said.state}: {said.message}\n"
    return title + text
