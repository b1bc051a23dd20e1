"""The registry finds rewriters by their kind, and says of a module that it has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from migrate_mgpu import rewriters
from migrate_mgpu.core import registry
from migrate_mgpu.core.registry import NoRewriter, Rewriter, Rule
from migrate_mgpu.models.front.rewriters import ModelPartRewriter, ModelRewriter, PartRewriter
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.program_rewriter import BridgeRewriter

RULE = Rule("MGPU199", "a-name", "what it does")


def module(**names: object) -> ModuleType:
    made = ModuleType("migrate_mgpu.rewriters.session_config.made")
    vars(made).update(names)
    return made


def test_every_file_is_a_rewriter_of_its_folder() -> None:
    (root,) = rewriters.__path__
    files = [path for path in Path(root).rglob("*.py") if path.name != "__init__.py"]
    assert len(registry.documented()) == len(files)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"RULE": RULE}, "has no REWRITER"),
        ({"REWRITER": Rewriter(RULE, ())}, "Rewriter is of no kind"),
        ({"REWRITER": BridgeRewriter(RULE, (), lambda *_: [], bool)}, "belongs into programs/"),
    ],
)
def test_a_module_that_nothing_would_call_is_an_error(
    names: dict[str, object], reason: str
) -> None:
    with pytest.raises(NoRewriter, match=reason):
        registry.rewriter_of(module(**names), "session_config")


def test_a_file_that_is_dropped_in_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its kind's folder, and beside the folders, where no kind looks for it."""
    folder = tmp_path / "session_config"
    folder.mkdir()
    (folder / "made.py").write_text(
        '"""Its page."""\n'
        "from migrate_mgpu.core.registry import Rule\n"
        "from migrate_mgpu.session_config.field_rewriter import FieldRewriter\n"
        "RULE = Rule('MGPU199', 'a-name', 'what it does')\n"
        "REWRITER = FieldRewriter(RULE, (), ('a_field',), lambda setting, writer: [])\n"
    )
    monkeypatch.setattr(rewriters, "__path__", [str(tmp_path)])
    for name in [n for n in sys.modules if n.startswith("migrate_mgpu.rewriters.")]:
        monkeypatch.delitem(sys.modules, name)
    registry._loaded.cache_clear()
    try:
        (found,) = registry.of(FieldRewriter)
        assert (found.rule.name, found.fields) == ("a-name", ("a_field",))
        assert [doc for _, doc in registry.documented()] == ["Its page."]
        (tmp_path / "stray.py").write_text("RULE = 1\n")
        registry._loaded.cache_clear()
        with pytest.raises(NoRewriter, match="stray has no REWRITER"):
            registry.documented()
    finally:
        registry._loaded.cache_clear()


def test_kinds_are_found_with_the_kinds_derived_from_them() -> None:
    assert registry.only(ModelRewriter) in registry.of(ModelPartRewriter)
    assert set(registry.of(ModelPartRewriter)) < set(registry.of(PartRewriter))
    codes = [one.rule.code for one in registry.of(PartRewriter)]
    assert codes == sorted(codes)


def test_a_run_without_estimators_imports_none_of_their_rewriters() -> None:
    code = (
        "import sys\n"
        "from migrate_mgpu.core.registry import of\n"
        "from migrate_mgpu.session_config.field_rewriter import FieldRewriter\n"
        "from migrate_mgpu.session_config.program_rewriter import NativeRewriter\n"
        "assert of(FieldRewriter) and of(NativeRewriter)\n"
        "print([n for n in sys.modules if 'rewriters.est' in n or 'rewriters.mul' in n])\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"
