"""Why a config is kept: every reason has its text, and nothing else has."""

from __future__ import annotations

import json
import re
from pathlib import Path

from migrate_mgpu.output import kept
from tests.cli.conftest import cli  # noqa: F401
from tests.cli.running import KEPT, Cli

ROOT = Path(__file__).parents[2]


def test_every_reason_has_a_text() -> None:
    found = set()
    sources = [*ROOT.glob("migrate_mgpu/session_config/*.py")]
    sources += [ROOT / "migrate_mgpu" / "run" / name for name in ("decisions.py", "outcome.py")]
    for path in sources:
        text = path.read_text("utf-8")
        constants = dict(re.findall(r'^(_[A-Z]+) = "([a-z0-9-]+)"$', text, re.M))
        for word in re.findall(r'Diagnostic\(\s*("[a-z0-9-]+"|_[A-Z]+),', text):
            found.add(constants.get(word) or word.strip('"'))
    assert found and found <= set(kept.REASONS), found - set(kept.REASONS)
    of_states = {"another-stays", "bridge-switched-off", "bridge-not-selected"}  # run/states.py
    assert set(kept.REASONS) <= found | of_states


def test_the_finding_has_the_advice_and_leads_to_the_reason(cli: Cli) -> None:  # noqa: F811
    cli.write(train=KEPT)
    assert f"(line 5) ({kept.advice('not-followed')})" in cli("--check", "train.py").out
    document = json.loads(cli("--check", "--output-format=json", "train.py").out)
    pages = {one["code"]: one["page"] for one in document["findings"]}
    assert pages["MGPU901"] == "docs/why-kept.md#not-followed"
    assert "### not-followed\n" in (ROOT / "docs" / "why-kept.md").read_text("utf-8")
