"""Estimator programs: what the tool makes of them, and the proof that it does the same."""

from __future__ import annotations

import difflib
import json

import estimator_proofs
import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.run.migrate import migrate

PROGRAMS = {program.folder.name: program for program in estimator_proofs.programs()}


def run(
    program: estimator_proofs.Program, before: dict[str, str]
) -> tuple[RunResult, dict[str, str]]:
    """The tool's result, and the modules as it leaves them. Nothing is written."""
    folder = program.before.parent
    given = [(str(folder / name), text.encode()) for name, text in before.items()]
    native = program.native_sessions
    result = migrate(given, bridge=True, write=False, native_sessions=native)
    after = dict(before)
    for file in result.files:
        assert file.error is None, file.error
        if file.changed:
            assert file.after is not None
            name = "before.py" if file.path == program.before else file.path.name
            after[name if program.before.name == "before.py" else file.path.name] = file.after
    return result, after


def modules(main) -> dict[str, str]:
    """The modules of a program, by name."""
    if main.name == estimator_proofs.MAIN:
        return {file.name: file.read_text("utf-8") for file in sorted(main.parent.glob("*.py"))}
    return {"before.py": main.read_text("utf-8")}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> estimator_proofs.Program:
    return PROGRAMS[request.param]


def test_there_are_programs() -> None:
    assert PROGRAMS


def test_the_tool_writes_exactly_the_after(program: estimator_proofs.Program) -> None:
    before = modules(program.before)
    result, after = run(program, before)
    if program.workers > 1:
        # That several machines train is its owner's choice: it is written over the tool's.
        one, other = (
            next(iter(texts.values())).splitlines() for texts in (after, modules(program.after))
        )
        new = [line[2:] for line in difflib.ndiff(one, other) if line.startswith("+ ")]
        mine = "MultiWorkerMirroredStrategy()", "num_replicas_in_sync"
        assert all(any(word in line for word in mine) for line in new), new
        assert {p.state for p in result.programs} == {"native"}
        # What is not proved on the newest is not said to run there, where the tool wrote it.
        if not new:
            newest = "tf2-latest" in program.targets
            assert {"newest" in p.runs_on for p in result.programs} == {newest}
        return
    if program.stays:  # perhaps bridged, never half converted
        assert any(program.reason in finding.message for finding in result.findings)
        assert {p.state for p in result.programs} <= {"refused", "bridge"}
        assert not any("tf.keras.Model)" in text or ".fit(" in text for text in after.values())
        return
    assert after == modules(program.after), [f.message for f in result.findings]
    states = {p.entry.name: p.state for p in result.programs}
    assert {name: states.pop(name) for name in program.also} == program.also
    assert {*states.values()} == {program.state}
    assert run(program, after)[1] == after


@pytest.mark.parametrize("name", ["run_config_resume", "train_and_evaluate", "canned_wide_deep"])
def test_a_bridge_becomes_the_same(name: str) -> None:
    """What kept an Estimator on the bridge is mended: the next run converts it."""
    plain = "import tensorflow as tf\n"
    bridge = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
    text = PROGRAMS[name].before.read_text("utf-8")
    assert plain in text
    found = run(PROGRAMS[name], {"before.py": text.replace(plain, bridge, 1)})[1]
    assert found == modules(PROGRAMS[name].after)


def test_the_proof_is_of_these_files(program: estimator_proofs.Program) -> None:
    if program.stays:
        return
    path = program.folder / estimator_proofs.PROOF
    how = f"python tests/estimator_proofs.py {program.folder}"
    assert path.exists(), how
    proof = json.loads(path.read_text("utf-8"))
    assert proof["digest"] == program.digest, how
    assert set(proof["targets"]) == set(program.proofs)
    for target, results in proof["targets"].items():
        assert [one["devices"] for one in results] == list(program.devices)
        for one in results:
            assert one["verdict"] == "equivalent", (target, one)
            if program.proofs[target][0] in program.computes:
                assert not one["steps"], (target, one)
            elif program.trains or target not in program.targets:
                assert one["steps"], (target, one)
            else:  # what it predicts and evaluates is compared
                assert "evaluation and printed results" in one["largest_relative"]
