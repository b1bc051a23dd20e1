"""Parts of a run that several processes plan: the same result, and no process is left."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.output.progress import importing
from migrate_mgpu.run import plan, processes
from migrate_mgpu.run.migrate import migrate

pytestmark = pytest.mark.skipif(not processes.CAN_COPY, reason="one process on this system")

PROGRAM = """import tensorflow as tf

x = tf.placeholder(tf.float32, [2])
w = tf.Variable(tf.zeros([2]))
loss = tf.reduce_sum(tf.square(w * x - {}.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
config = tf.ConfigProto(allow_soft_placement={})
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        _, value = sess.run([train, loss], feed_dict={{x: [1.0, 2.0]}})
        print(value)
"""
PYTHON_2 = (
    "import tensorflow as tf\n\nwith tf.Session() as sess:\n    print sess.run(tf.zeros([]))\n"
)


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that a test made: other tests of this process may have their own."""
    made: list[int] = []
    fork = os.fork

    def noted() -> int:
        made.append(fork())
        return made[-1]

    monkeypatch.setattr(os, "fork", noted)
    return made


def none_is_left(copies: list[int]) -> bool:
    """Whether copies were made, and all of them have ended and were waited for."""
    for one in copies:
        try:
            os.waitpid(one, os.WNOHANG)
        except ChildProcessError:
            continue
        return False
    return bool(copies)


def everything(result: RunResult) -> list[object]:
    files = [(one.path, one.after, one.error, one.findings) for one in result.files]
    programs = [(one.entry, one.state, one.paths, one.reasons) for one in result.programs]
    rest = [result.sites, result.scanned, result.order, result.unused, result.packages]
    return [*files, *programs, *rest]


@pytest.mark.parametrize("count", (2, 3, 20))
def test_the_result_is_that_of_one_process(
    count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, copies: list[int]
) -> None:
    monkeypatch.setattr(plan, "_WORTH_A_PROCESS", 1)
    texts = {f"train{n}.py": PROGRAM.format(n, n % 3 == 0) for n in range(7)}
    texts["kept.py"] = PROGRAM.format(1, "flag").replace(
        "import", "from options import flag\nimport", 1
    )
    texts["common.py"] = "import tensorflow as tf\n\nSIZE = tf.flags.FLAGS\n"
    texts["one.py"] = f"import common\n{PROGRAM.format(1, True)}"
    texts["two.py"] = f"import common\n{PROGRAM.format(2, True)}"
    texts["broken.py"] = "import tensorflow as tf\ntf.Session(\n"
    texts["old.py"] = PYTHON_2
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    given = [(str(tmp_path / name), text.encode()) for name, text in texts.items()]
    alone = migrate(given, bridge=True, write=False)
    together = migrate(given, bridge=True, write=False, processes=count)
    assert {one.state for one in alone.programs} >= {"native", "bridge"}
    assert everything(together) == everything(alone)
    assert none_is_left(copies)


def test_programs_with_a_common_module_are_in_one_share(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[list[set[str]]] = []

    def shared(parts: Sequence[plan.KnownPart], most: int) -> list[list[plan.KnownPart]]:
        found = plan.shares(parts, most)
        made.append([{path.name for _, part in share for path in part.data} for share in found])
        return found

    monkeypatch.setattr("migrate_mgpu.run.migrate.shares", shared)
    monkeypatch.setattr(plan, "_WORTH_A_PROCESS", 1)
    texts = {f"train{n}.py": PROGRAM.format(n, True) for n in range(5)}
    texts["train0.py"] += "import train1\n"
    given = [(name, text.encode()) for name, text in texts.items()]
    migrate(given, bridge=True, write=False, processes=2)
    monkeypatch.setattr(plan, "_WORTH_A_PROCESS", sum(map(len, texts.values())))
    migrate(given, bridge=True, write=False, processes=2)
    two = [{"train0.py", "train1.py"}, {"train2.py", "train3.py"}]
    assert made == [two, [two[0] | two[1]]]  # too little for two; the last is planned before


def test_a_share_whose_copy_fails_is_worked_on_here(copies: list[int]) -> None:
    here = os.getpid()

    def work(share: str) -> tuple[str, bool]:
        if os.getpid() != here:
            if share == "raises":
                raise ValueError(share)
            if share == "dies":
                os._exit(0)
        return share, os.getpid() == here

    found = processes.in_processes(work, ["first", "raises", "dies", "last"])
    assert found == [("first", True), ("raises", True), ("dies", True), ("last", False)]
    assert none_is_left(copies)


@pytest.mark.parametrize("error", (KeyboardInterrupt, ValueError))
def test_an_error_ends_the_copies(error: type[BaseException], copies: list[int]) -> None:
    here = os.getpid()

    def work(share: int) -> int:
        if os.getpid() == here:
            raise error
        time.sleep(600)
        return share

    with pytest.raises(error):
        processes.in_processes(work, [1, 2, 3])
    assert none_is_left(copies)


def test_without_more_processes_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)
    assert processes.in_processes(str, [1, 2]) == ["1", "2"]


def test_no_copy_is_made_while_the_progress_bar_is_imported() -> None:
    """It would wait for ever for a module whose import is not its own."""
    found: list[list[str]] = []
    with importing:
        thread = threading.Thread(target=lambda: found.append(processes.in_processes(str, [1, 2])))
        thread.start()
        thread.join(0.2)
        assert not found
    thread.join(10)
    assert found == [["1", "2"]]
