"""Run commands side by side and compare their medians.

A shared machine is never still, so numbers of different minutes say little about each
other. All contenders of a comparison therefore take turns, in another order each round,
and what counts is the ratio of their medians.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# getrusage counts kibibytes, macOS' bytes.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
# A slow contender stops early, so that a peer of half a minute does not take five.
_SECONDS_EACH = 60.0
_AT_LEAST = 3


class Failed(Exception):
    """A contender did not do what it was started for."""


@dataclass(frozen=True)
class Contender:
    """A command in a comparison.

    Attributes:
      name: how the table calls it.
      command: what to run, or why it cannot be run here.
      fine: the exit statuses that mean "it did its work".
      prepare: makes the folder that the command runs in, outside of the measured time;
        gets an empty folder each round.
      env: environment variables to set.
    """

    name: str
    command: Sequence[str] | str
    fine: tuple[int, ...] = (0,)
    prepare: Callable[[Path], None] | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Result:
    """What was measured: seconds and peak memory of each run, or why nothing was."""

    name: str
    seconds: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)
    missing: str | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def peak(self) -> str:
        """The median peak. A child starts as a copy of this process: no less can be seen."""
        peak = statistics.median(self.peak_mib)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / 2**20
        return f"{peak:.0f} MiB" if peak > own + 1 else f"< {own:.0f} MiB"


def compare(contenders: Sequence[Contender], runs: int) -> list[Result]:
    """Let the contenders take turns; a round that warms the file cache is not counted.

    Raises:
      Failed: a contender ended with an exit status that is not fine.
    """
    results = {c.name: Result(c.name) for c in contenders}
    able: list[tuple[Contender, list[str]]] = []
    for contender in contenders:
        if isinstance(contender.command, str):
            results[contender.name].missing = contender.command
        else:
            able.append((contender, list(contender.command)))
    for number in range(-1, runs):
        turn = number % len(able) if able else 0
        for contender, command in [*able[turn:], *able[:turn]]:
            result = results[contender.name]
            if sum(result.seconds) > _SECONDS_EACH and len(result.seconds) >= _AT_LEAST:
                continue
            seconds, peak = _run(contender, command)
            if number >= 0:
                result.seconds.append(seconds)
                result.peak_mib.append(peak)
    return [results[c.name] for c in contenders]


def output(command: Sequence[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _run(contender: Contender, command: list[str]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name, tempfile.TemporaryFile() as log:
        folder = Path(name)
        if contender.prepare:
            contender.prepare(folder)
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **contender.env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        # wait4 is the only way to the memory of this child alone, its own children included.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)  # it is no zombie any more
        if process.returncode not in contender.fine:
            log.seek(0)
            text = log.read().decode(errors="replace")[-2000:]
            raise Failed(f"{contender.name}: exit status {process.returncode}\n{text}")
    return seconds, usage.ru_maxrss * _RSS_UNIT / 2**20
