"""Every fixture does on TF2 what it did on TF1, and a broken one does not pass.

The programs run on real TensorFlow 1.15.5, 2.15 and the newest, with fake GPUs; each
runtime is started once and forks a child for each program. About 90 s on two cores.

A fixture that is new or has changed is recorded anew, where there is Python 3.7, with

    python tests/oracle.py --record fixtures/config/allow_growth [...]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace

import oracle
import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.parity.compare import configuration, printed

FIXTURES = oracle.FIXTURES
CASES = {
    f"{folder.parent.name}/{folder.name}": case
    for folder in oracle.folders()
    if (case := oracle.load(folder)).state != "refused"
}
FIRST = CASES["config/allow_growth"]

# Fixture, a module of its migrated form, a piece of that, what replaces it, and the
# differences that must be reported, no more and no less.
BROKEN = [
    (
        "config/allow_growth",
        "after.py",
        "tf.config.experimental.set_memory_growth(gpu, True)",
        "pass",
        ["memory_growth"],
    ),
    (
        "config/allow_growth",  # TensorFlow refuses growth on one GPU only
        "after.py",
        'list_physical_devices("GPU"):',
        'list_physical_devices("GPU")[:1]:',
        ["configuration", "exit", "printed"],
    ),
    ("config/allow_growth", "after.py", "[5.0, 6.0]]", "[5.0, 6.01]]", ["printed"]),
    (
        "config/allow_growth",
        "after.py",
        "tf.Session()",
        "tf.Session(config=tf.ConfigProto())",
        ["memory_growth"],
    ),
    ("config/allow_growth", "after.py", "with tf.Session()", "tf.Session()\nwith tf.Session()", []),
    (
        "config/allow_growth",
        "after.py",
        "with tf.Session()",
        "tf.Session(config=tf.ConfigProto())\nwith tf.Session()",
        ["memory_growth"],  # which the process's first session has not
    ),
    (
        "config/memory_fraction",
        "after.py",
        "SHARE = 0.4",
        "SHARE = 0.45",
        ["gpu_memory_limit_mib"],
    ),
    (
        "config/memory_fraction",
        "after.py",
        "byref(total_memory), index)",
        "byref(total_memory), 0)",
        ["gpu_memory_limit_mib"],
    ),
    (
        "config/memory_fraction",
        "after.py",
        "    tf.config.threading.set_intra_op_parallelism_threads(4)\n",
        "",
        ["intra_op_parallelism_threads"],
    ),
    (
        "config/soft_placement",  # then the program does not run either
        "after.py",
        "set_soft_device_placement(True)",
        "set_soft_device_placement(False)",
        ["allow_soft_placement", "exit", "printed"],
    ),
    ("config/missing_gpu", "after.py", "gpus[3]]", "gpus[2]]", ["visible_gpus"]),
    ("config/missing_gpu", "after.py", '"/gpu:5"', '"/gpu:1"', ["exit", "printed"]),
    (
        "config/no_gpu",  # after the session is made, nothing has an effect and nothing complains
        "after.py",
        "tf.config.set_visible_devices([], 'GPU')\nwith tf.Session() as sess:",
        "with tf.Session() as sess:\n    tf.config.set_visible_devices([], 'GPU')",
        ["visible_gpus"],
    ),
    (
        "config/hoist_dataset",  # `map` has initialised the runtime
        "after.py",
        "    tf.config.set_soft_device_placement(True)\n",
        "    tf.config.set_visible_devices([], 'GPU')\n",
        ["allow_soft_placement", "exit", *["printed"] * 2],
    ),
    (
        "seed/chosen_gpu_missing",
        "after.py",
        "tf.debugging.set_log_device_placement(True)",
        "tf.config.set_soft_device_placement(True)",
        ["allow_soft_placement", "exit", "log_device_placement", "printed"],
    ),
    (
        "keras/soft_placement_conditional",  # an operation names a GPU
        "after.py",
        "tf.config.set_soft_device_placement(False)\n",
        "",
        ["allow_soft_placement"],
    ),
    (
        "keras/standalone_tensorflow_backend",
        "after.py",
        "set_memory_growth(gpu, True)",
        "set_memory_growth(gpu, False)",
        ["memory_growth"],
    ),
    (
        "program/config_in_helper",
        "common.py",
        "set_memory_growth(gpu, growth)",
        "set_memory_growth(gpu, not growth)",
        ["memory_growth"],
    ),
    (
        "program/swap_without_site",
        "model.py",
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()",
        "import tensorflow as tf",
        ["exit", "memory_growth", *["printed"] * 3],
    ),
]


@pytest.fixture(scope="module")
def references(runtime):
    """What TF1 does; ``None`` for the fixtures that cannot run there."""
    runtime(oracle.REFERENCE)  # skips where it cannot be made
    return dict(zip(CASES, oracle.references(list(CASES.values()))))


@pytest.fixture(scope="module")
def results(runtime):
    """The differences by fixture and target. The record stands in for TensorFlow 1.15."""
    for name in oracle.TARGETS:
        runtime(name)
    before = [oracle.recorded(case) if case.reference else None for case in CASES.values()]
    return dict(zip(CASES, oracle.check_all(list(CASES.values()), before)))


@pytest.mark.parametrize("name", CASES)
def test_record_is_what_tf1_does(references, name):
    case, run = CASES[name], references[name]
    if run is None:
        assert not case.reference
        assert not case.record.exists()
        return
    record = oracle.recorded(case)
    assert configuration.compare(record.trace, run.trace) == []
    assert printed.compare(record.stdout, run.stdout) == []
    assert (record.status, record.exception) == (run.status, run.exception)


@pytest.mark.parametrize("name", CASES)
def test_migrated_fixture_equals_tf1(results, name):
    for target, differences in results[name].items():
        assert [str(d) for d in differences if d.accepted is None] == [], target


def test_a_declared_difference_is_still_there(results):
    """An exception that nothing needs any more would hide the next difference."""
    for name, found in results.items():
        for target, differences in found.items():
            declared = {d.name for d in differences if d.accepted}
            assert declared == set(CASES[name].accept), (name, target)


@pytest.fixture(scope="module")
def broken(runtime, tmp_path_factory):
    """The differences that the oracle reports for each entry of BROKEN."""
    cases = []
    for i, (name, module, old, new, _) in enumerate(BROKEN):
        case = CASES[name]
        folder = tmp_path_factory.mktemp(f"broken{i}") / "after"
        if case.is_folder:
            shutil.copytree(case.after.parent, folder)
        else:
            folder.mkdir()
            shutil.copy(case.after, folder)
        text = (folder / module).read_text(encoding="utf-8")
        assert old in text, (name, old)
        (folder / module).write_text(text.replace(old, new), encoding="utf-8")
        cases.append(replace(case, after=folder / case.after.name))
    runs = oracle.run_all(runtime("tf2-latest"), cases, "after")
    before = [oracle.recorded(case) if case.reference else None for case in cases]
    return [oracle.compare_runs(*sides) for sides in zip(cases, before, runs)]


@pytest.mark.parametrize(
    "number", range(len(BROKEN)), ids=[f"{entry[0]}: {entry[3].strip()[:40]}" for entry in BROKEN]
)
def test_exactly_what_is_broken_is_reported(broken, number):
    found = [d.name for d in broken[number] if d.accepted is None]
    assert sorted(found) == sorted(BROKEN[number][4]), [str(d) for d in broken[number]]


def test_stale_or_missing_record_is_an_error(tmp_path):
    case = FIRST
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
    case = FIRST
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
