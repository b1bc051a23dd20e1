"""The benchmark command measures what it says; how fast things are is no test's business."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import cli  # noqa: E402
import generated  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
from measure import Contender  # noqa: E402

PYTHON = sys.executable


def test_contenders_take_turns_in_folders_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"import os; open({str(log)!r}, 'a').write(os.environ['WHO'] + str(os.listdir('.')))"
    contenders = [
        Contender(who, [PYTHON, "-c", code], (0,), lambda to: (to / "made").touch(), {"WHO": who})
        for who in "ab"
    ]
    first, second = measure.compare(contenders, 2)
    assert len(first.seconds) == len(second.seconds) == 2
    assert min(first.seconds) > 0 and min(first.peak_mib) > 1
    # One round to warm up, then two, and another one begins each time.
    assert log.read_text().replace("['made']", "") == "baabba"


def test_memory_is_the_childs() -> None:
    """In a process of its own: a child counts what its parent held when it was forked."""
    code = f"""
import sys
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import measure
child = [sys.executable, "-c", "x = bytearray(200 * 2**20)"]
(result,) = measure.compare([measure.Contender("big", child)], 1)
print(result.peak_mib[0])
"""
    run = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert 200 < float(run.stdout) < 400


def test_a_contender_that_fails_is_an_error() -> None:
    code = "import sys; print('no such option'); sys.exit(2)"
    with pytest.raises(measure.Failed, match=r"peer: exit status 2\n.*no such option"):
        measure.compare([Contender("peer", [PYTHON, "-c", code], (0, 1))], 1)


def test_missing_peers_are_in_the_table() -> None:
    contenders = [Contender("base", [PYTHON, "-c", ""]), Contender("rg", "not installed")]
    comparison = cli.Comparison("clean", "base", contenders)
    text = cli.table(comparison, measure.compare(contenders, 1))
    assert "rg" in text and "missing: not installed" in text
    assert "1.00" in text


def test_the_floor_has_its_own_ratios() -> None:
    results = [measure.Result("base", [0.1], [1]), measure.Result("floor", [0.2], [1])]
    results.append(measure.Result("tool", [0.5], [1]))
    contenders = [Contender(result.name, ["x"]) for result in results]
    text = cli.table(cli.Comparison("clean", "base", contenders, "floor"), results)
    rows = {line.split()[0]: line.split() for line in text.splitlines()[2:]}
    assert (rows["base"][-1], rows["floor"][-1], rows["tool"][-1]) == ("0.50", "1.00", "2.50")
    assert rows["tool"][3] == "5.00"
    assert "floor" not in cli.table(cli.Comparison("clean", "base", contenders[:1]), results[:1])


@pytest.mark.external
def test_a_peer_that_cannot_be_installed_is_missing(tmp_path: Path) -> None:
    with pytest.raises(peers.Missing, match="no_such_package_of_ours"):
        peers.environment(tmp_path / "env", f"{tmp_path}/no_such_package_of_ours")


def test_generated_code_is_what_its_name_says(tmp_path: Path) -> None:
    from migrate_mgpu.core import prefilter

    generated.clean_tree(tmp_path / "clean", 200)
    files = list((tmp_path / "clean").rglob("module*.py"))
    hits = [path for path in files if prefilter.HIT.search(path.read_bytes())]
    assert (len(files), len(hits)) == (200, 2)
    generated.clean_tree(tmp_path / "without", 200, hits=False)
    assert not any(
        prefilter.HIT.search(path.read_bytes()) for path in (tmp_path / "without").rglob("*.py")
    )
    (tmp_path / "tf1").mkdir()
    generated.tf1_tree(tmp_path / "tf1", 3)
    generated.long_file(tmp_path / "long.py", 500)
    assert (tmp_path / "long.py").read_text().count("\n") == 500
    for path in [*files, *(tmp_path / "tf1").iterdir(), tmp_path / "long.py"]:
        compile(path.read_bytes(), path, "exec")


def test_usage() -> None:
    command = [PYTHON, str(ROOT / "benchmarks" / "cli.py")]
    assert subprocess.run([*command, "--help"], capture_output=True).returncode == 0
    assert subprocess.run([*command, "--only", "x"], capture_output=True).returncode == 2
