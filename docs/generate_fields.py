"""Writes docs/fields.md: what becomes of every leaf field of TF 1.15's ConfigProto.

    python docs/generate_fields.py

The outcomes are read off runs of the tool on tests/field_samples.py; tests/test_fields.py
proves each of them with the oracle, tests/test_docs.py fails while the page is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from field_samples import FIELDS, program, statement

from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.session_config.field_rewriter import field_rewriters

PAGE = Path(__file__).with_name("fields.md")
_HEAD = """\
# Every field of ConfigProto

<!-- Made by `python docs/generate_fields.py`. -->

The leaf fields of TensorFlow 1.15.5's `ConfigProto`
(`migrate_mgpu/data/generate_config_fields.py` reads them from TensorFlow). A field with a rule
moves to `tf.config` where its value allows it; the rule's page says when. A field without one
keeps its whole config on the session, where it works on TF2 as before; a Keras program, which
has no session in TF2, is then left unchanged. Each row is run on 1.15.5, 2.15 and the newest
TensorFlow with equal effective configuration (`pytest tests/test_fields.py`).

| field | type | rule | example |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(_row(path) for path in FIELDS)


def _row(path: str) -> str:
    field = FIELDS[path]
    kind = field["type"].replace("tensorflow.", "")
    kind += " list" if field["label"] == "repeated" else ""
    codes = sorted(
        {rule.rule.code for key, rule in field_rewriters().items() if key.split(".", 1)[0] == path}
        if path == "device_count"
        else {field_rewriters()[path].rule.code}
        if path in field_rewriters()
        else set()
    )
    result = migrate(
        [("x.py", program(path).encode())], bridge=True, write=False, native_sessions=False
    )
    moved = result.sites["applied"] == 1
    rule = ", ".join(f"[{c}](rules.md#{c.lower()})" for c in codes) if moved else "stays"
    code = "`, `".join(statement(path).split("\n"))
    return f"| `{path}` | {kind} | {rule} | `{code}` |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
