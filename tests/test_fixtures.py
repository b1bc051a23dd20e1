"""What the tool makes of every fixture: exactly its ``after.py``, once and for all.

    python tests/test_fixtures.py [fixtures/config/allow_growth ...]

writes ``after.py`` (or ``after/``) anew, of all fixtures or of these. Read what it wrote, as
the owner of the program would, before you commit it; ``tests/test_oracle.py`` proves that it
does what ``before.py`` did. No TensorFlow is needed here.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import oracle
import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.run.migrate import migrate

FOLDERS = oracle.folders()
CASES = {f"{folder.parent.name}/{folder.name}": oracle.load(folder) for folder in FOLDERS}
STATES = {"bridge", "native", "bridge, config kept", "refused"}


Modules = dict[str, bytes]  # of a program, by their paths within its folder


def modules(program: Path) -> Modules:
    """The modules of a program; none where there is no such program."""
    files = sorted(program.parent.rglob("*.py")) if program.name == oracle.MAIN else [program]
    return {_name(program, file): file.read_bytes() for file in files if file.exists()}


def _name(program: Path, file: Path) -> str:
    return oracle.MAIN if file == program else file.relative_to(program.parent).as_posix()


def run(case: oracle.Case, before: Modules, bridge: bool = True) -> tuple[RunResult, Modules]:
    """The tool's result, and all modules as it leaves them. Nothing is written."""
    folder = case.before.parent
    names = {case.before if name == oracle.MAIN else folder / name: name for name in before}
    given = [(str(path), before[name]) for path, name in names.items()]
    result = migrate(given, bridge=bridge, write=False, native_sessions=False)
    after = dict(before)
    for file in result.files:
        if file.changed:
            assert file.after is not None
            after[names[file.path]] = file.after.encode()
    return result, after


@pytest.fixture(params=CASES, scope="module")
def case(request: pytest.FixtureRequest) -> oracle.Case:
    return CASES[request.param]


@pytest.fixture(scope="module")
def before(case: oracle.Case) -> Modules:
    return modules(case.before)


@pytest.fixture(scope="module")
def migrated(case: oracle.Case, before: Modules) -> tuple[RunResult, Modules]:
    return run(case, before)


def test_output_is_exactly_the_after(case, before, migrated):
    wanted = modules(case.after) if case.state != "refused" else before
    for name, text in migrated[1].items():
        assert text.decode() == wanted[name].decode(), name
    assert set(migrated[1]) == set(wanted)


def test_programs_end_in_their_states(case, migrated):
    assert case.state in STATES
    found = {_name(case.before, p.entry): p.state for p in migrated[0].programs}
    if case.state == "refused" and not found:  # a file that Python 3 cannot read
        assert [file.error for file in migrated[0].files if file.error]
    else:
        assert found == {oracle.MAIN: case.state, **case.states}


def test_the_reason_is_given(case, migrated):
    said = [finding.message for finding in migrated[0].findings]
    said += [file.error for file in migrated[0].files if file.error]
    if case.state in ("refused", "bridge, config kept"):
        assert case.reason, "parity.toml gives no reason"
    assert not case.reason or any(case.reason in text for text in said), said


def test_a_second_run_changes_nothing(case, migrated):
    once = migrated[1]
    assert run(case, once)[1] == once


def test_without_the_bridge_graph_programs_stay(case, before, migrated):
    kept = run(case, before, bridge=False)[1]
    assert kept == (migrated[1] if case.state == "native" else before)


def test_refused_fixtures_have_no_after():
    for case in CASES.values():
        assert case.after.exists() == (case.state != "refused"), case.before


def write(folders: list[Path]) -> None:
    for folder in folders:
        case = oracle.load(folder)
        if case.state == "refused":
            continue
        if case.is_folder and case.after.parent.exists():
            shutil.rmtree(case.after.parent)
        for name, text in run(case, modules(case.before))[1].items():
            path = case.after.parent / name if case.is_folder else case.after
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)


if __name__ == "__main__":
    write([Path(name) for name in sys.argv[1:]] or FOLDERS)
