"""Run processes that may do anything, and end all that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.05
LOOK_S = 0.5  # between looks at memory, which reads /proc
_MARK = "MIGRATE_MGPU_PARITY_RUN"


@dataclass(frozen=True)
class Limits:
    """What a program may use; it is ended when it takes more."""

    seconds: float = 600.0
    output_mib: float = 64.0
    memory_mib: float | None = None


@dataclass
class Process:
    """One program under supervision.

    Attributes:
      ended: ``exit 0``, ``signal 11``, ``timed out after 60 s``, ...; None while it runs.
      status: the exit status, minus the signal's number, or None when it was ended by us.
    """

    command: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdout: Path
    stderr: Path
    limits: Limits
    on_end: Callable[[Process], None] | None = None
    ended: str | None = None
    status: int | None = None
    seconds: float = 0.0

    def start(self) -> None:
        self._mark = uuid.uuid4().hex
        self._begin = time.monotonic()
        self._looked = 0.0
        with self.stdout.open("wb") as out, self.stderr.open("wb") as err:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.cwd,
                env={**self.env, _MARK: self._mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def poll(self) -> bool:
        """Whether it has ended; ends it when it is over a limit."""
        if self.ended is not None:
            return True
        self.seconds = time.monotonic() - self._begin
        code = self._process.poll()
        reason = None if code is not None else self._over()
        if code is None and reason is None:
            return False
        self.kill()
        if reason is not None:
            self.ended = reason
        else:
            assert code is not None
            self.status = code
            self.ended = f"signal {-code}" if code < 0 else f"exit {code}"
        if self.on_end is not None:
            self.on_end(self)
        return True

    def _over(self) -> str | None:
        limits = self.limits
        if self.seconds > limits.seconds:
            return f"timed out after {limits.seconds:g} s"
        written = sum(path.stat().st_size for path in (self.stdout, self.stderr)) / 2**20
        if written > limits.output_mib:
            return f"ended: it printed more than {limits.output_mib:g} MiB"
        if limits.memory_mib is not None and self.seconds - self._looked > LOOK_S:
            self._looked = self.seconds
            used = sum(_resident_mib(pid) for pid in self._tree())
            if used > limits.memory_mib:
                return f"ended: it used more than {limits.memory_mib:g} MiB of memory"
        return None

    def end(self, reason: str) -> None:
        """End it for a reason, where it still runs."""
        if self.ended is None:
            self.kill()
            self.ended = reason

    def kill(self) -> None:
        """End the process and everything that it started, whatever group that is in."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for _ in range(5):  # a process may fork while it is being ended
            left = [pid for pid in self._tree() if pid != os.getpid()]
            if not left:
                break
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        self._process.wait()

    def _tree(self) -> Iterator[int]:
        """All processes that carry this one's mark in their environment (Linux)."""
        if sys.platform != "linux":
            return
        mark = f"{_MARK}={self._mark}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes() and not _is_zombie(entry):
                        yield int(entry.name)


def run_all(processes: Sequence[Process], meanwhile: Callable[[], None] = lambda: None) -> None:
    """Run them at the same time; however this ends, they have ended."""
    started: list[Process] = []
    try:
        for process in processes:
            process.start()
            started.append(process)
        # A list: each of them is looked at.
        while not all([process.poll() for process in processes]):  # noqa: C419
            meanwhile()
            time.sleep(POLL_S)
    finally:
        for process in started:
            if process.ended is None:
                process.kill()


def _is_zombie(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _resident_mib(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
