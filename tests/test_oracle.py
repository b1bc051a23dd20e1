"""The oracle on the fixtures that have a migrated form, and on ones broken on purpose."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import oracle
import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.parity import configuration, printed

FIXTURES = Path(__file__).parents[1] / "fixtures"
PAIRS = sorted(path.parent for path in FIXTURES.glob("*/*/after.py"))
CONFIG = [folder for folder in PAIRS if folder.parent.name == "config"]

# Fixture, a piece of its after.py, what replaces it, and the differences to be reported.
BROKEN = [
    (
        "allow_growth",
        "    tf.config.experimental.set_memory_growth(gpu, True)",
        "    pass",
        ["memory_growth"],
    ),
    (
        "allow_growth",  # TensorFlow refuses growth on one GPU only
        'list_physical_devices("GPU"):',
        'list_physical_devices("GPU")[:1]:',
        ["configuration", "exit", "printed"],
    ),
    ("allow_growth", "[5.0, 6.0]]", "[5.0, 6.01]]", ["printed"]),
    ("allow_growth", "tf.Session()", "tf.Session(config=tf.ConfigProto())", ["memory_growth"]),
    ("allow_growth", "with tf.Session()", "tf.Session()\nwith tf.Session()", []),
    (
        "allow_growth",
        "with tf.Session()",
        "tf.Session(config=tf.ConfigProto())\nwith tf.Session()",
        ["sessions", "memory_growth"],
    ),
    ("memory_fraction", "SHARE = 0.4", "SHARE = 0.45", ["gpu_memory_limit_mib"]),
    ("memory_fraction", "byref(memory), i)", "byref(memory), 0)", ["gpu_memory_limit_mib"]),
    (
        "memory_fraction",
        "    tf.config.threading.set_intra_op_parallelism_threads(4)\n",
        "",
        ["intra_op_parallelism_threads"],
    ),
    (
        "soft_placement",  # then the program does not run either
        "set_soft_device_placement(True)",
        "set_soft_device_placement(False)",
        ["allow_soft_placement", "exit", "printed"],
    ),
    ("missing_gpu", "[gpus[1], gpus[3]]", "[gpus[1], gpus[2]]", ["visible_gpus"]),
    ("missing_gpu", '"/gpu:5"', '"/gpu:1"', ["exit", "printed"]),
]


def numbered(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


@pytest.fixture(scope="module")
def results(runtime):
    for name in oracle.TARGETS:
        runtime(name)  # skips where it cannot be made
    found = oracle.check_all([oracle.load(folder) for folder in PAIRS])
    return dict(zip(PAIRS, found))


@pytest.mark.parametrize("folder", PAIRS, ids=numbered)
def test_migrated_fixture_equals_tf1(results, folder):
    for target, differences in results[folder].items():
        assert [str(d) for d in differences if d.accepted is None] == [], target


def test_a_declared_difference_is_still_there(results):
    """An exception that nothing needs any more would hide the next difference."""
    for folder, found in results.items():
        declared = set(oracle.load(folder).accept)
        for target, differences in found.items():
            assert {d.name for d in differences if d.accepted} == declared, (folder, target)


def test_records_are_what_tf1_does(runtime):
    cases = [oracle.load(folder) for folder in PAIRS]
    for case, run in zip(cases, oracle.run_all(runtime("tf1.15"), cases, "before")):
        record = oracle.recorded(case)
        assert configuration.compare(record.trace, run.trace) == [], case.before
        assert printed.compare(record.stdout, run.stdout) == [], case.before
        assert (record.status, record.exception) == (run.status, run.exception)


@pytest.fixture(scope="module")
def broken(runtime, tmp_path_factory):
    """The names that the oracle reports for each entry of BROKEN."""
    cases = []
    for i, (name, old, new, _) in enumerate(BROKEN):
        case = oracle.load(FIXTURES / "config" / name)
        text = case.after.read_text()
        assert old in text
        folder = tmp_path_factory.mktemp(f"broken{i}")
        (folder / "after.py").write_text(text.replace(old, new))
        cases.append(replace(case, after=folder / "after.py"))
    runs = oracle.run_all(runtime("tf2-latest"), cases, "after")
    return [oracle.compare_runs(case, oracle.recorded(case), run) for case, run in zip(cases, runs)]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_exactly_what_is_broken_is_reported(broken, number):
    found = [d.name for d in broken[number] if d.accepted is None]
    assert sorted(found) == sorted(BROKEN[number][3]), [str(d) for d in broken[number]]


def test_stale_or_missing_record_is_an_error(tmp_path):
    case = oracle.load(CONFIG[0])
    (tmp_path / "before.py").write_text("print(1)\n")
    with pytest.raises(oracle.NotCompared, match="missing"):
        oracle.recorded(replace(case, before=tmp_path / "before.py"))
    (tmp_path / oracle.RECORD).write_bytes(case.record.read_bytes())
    with pytest.raises(oracle.NotCompared, match="not of this"):
        oracle.recorded(replace(case, before=tmp_path / "before.py"))


def test_without_python_37_the_record_stands_in(monkeypatch):
    def ensure(name):
        raise runtimes.RuntimeUnavailable("no Python 3.7")

    monkeypatch.setattr(runtimes, "ensure", ensure)
    case = oracle.load(CONFIG[0])
    (run,) = oracle.references([case])
    assert run == oracle.recorded(case)


def test_unknown_option_is_an_error(tmp_path):
    (tmp_path / "before.py").touch()
    (tmp_path / "after.py").touch()
    (tmp_path / "parity.toml").write_text("gpu = 2\n")
    with pytest.raises(oracle.NotCompared, match=r"parity\.toml"):
        oracle.load(tmp_path)


def test_command_says_what_it_could_not_do(tmp_path):
    command = [sys.executable, oracle.__file__, str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 8
    assert "no before.py" in answer.stderr
