"""Work that is shared by several processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

Share = TypeVar("Share")
Result = TypeVar("Result")

# A copy of this process has everything that was read and imported; a new one would begin with a
# start of Python, longer than most runs. macOS' own libraries do not survive being copied.
CAN_COPY = hasattr(os, "fork") and sys.platform != "darwin"


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(work: Callable[[Share], Result], shares: Sequence[Share]) -> list[Result]:
    """What ``work`` makes of each share: of the first here, of the others in copies of it.

    A share whose copy fails is worked on here, where an error is this process's own.
    """
    copies: list[_Copy] = []
    try:
        for share in shares[1:]:
            copies.append(_Copy(partial(work, share)))
        found = [work(shares[0])]
        for copy, share in zip(copies, shares[1:]):
            from pickle import loads  # where there are several processes

            data = copy.answer()
            found.append(work(share) if data is None else loads(data))
        return found
    finally:
        for copy in copies:
            copy.end()


class _Copy:
    """A copy of this process that does one thing and is gone."""

    def __init__(self, work: Callable[[], object]) -> None:
        from migrate_mgpu.output.progress import importing

        self._reading, writing = os.pipe()
        try:
            with importing:
                self._id = os.fork()
        except OSError:  # no more processes, or no memory
            self._id = -1
        if self._id == 0:
            _work_and_end(work, writing)
        os.close(writing)

    def answer(self) -> bytes | None:
        """What the work returned, or None where it failed."""
        with open(self._reading, "rb", closefd=False) as stream:
            data = stream.read()
        return data if self._ended() == 0 and data else None

    def end(self) -> None:
        """Ends it, if it still runs."""
        if self._id > 0:
            import signal

            os.kill(self._id, signal.SIGKILL)
            self._ended()
        os.close(self._reading)

    def _ended(self) -> int:
        if self._id <= 0:
            return 1
        _, status = os.waitpid(self._id, 0)
        self._id = 0
        return status


def _work_and_end(work: Callable[[], object], writing: int) -> None:
    """Ends without what Python does at an exit: buffers and locks are the other process's."""
    status = 1
    try:
        import pickle

        data = pickle.dumps(work(), pickle.HIGHEST_PROTOCOL)
        with open(writing, "wb") as stream:
            stream.write(data)
        status = 0
    finally:
        os._exit(status)
