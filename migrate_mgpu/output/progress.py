"""A progress bar on a terminal, on runs that take a while."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar

_PATIENCE_S = 1.0

# Held while the thread imports. A copy of the process is made at another time: it has no such
# thread, and would wait for ever for a module that this one was importing.
importing = threading.Lock()


class Progress:
    """What a run is doing. A thread shows it once the run has lasted a second.

    The run itself only sets attributes: ``doing``, ``done`` and ``total`` (None where it
    cannot be known: the bar moves, and nothing is counted).
    """

    def __init__(self, stream: TextIO) -> None:
        self.doing = "reading"
        self.done = 0
        self.total: int | None = None
        self._stream = stream
        self._stop = threading.Event()

    def __enter__(self) -> Progress:
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _show(self) -> None:
        if self._stop.wait(_PATIENCE_S):
            return
        with importing:
            bar = self._bar()
            bar.start()  # the first picture imports as well
        try:
            task = bar.add_task(self.doing, total=self.total, count="")
            while not self._stop.wait(0.1):
                count = "" if self.total is None else f"{self.done}/{self.total}"
                bar.update(
                    task,
                    description=self.doing,
                    completed=self.done,
                    total=self.total,
                    count=count,
                )
        finally:
            bar.stop()

    def _bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )
        return Bar(*columns, console=Console(file=self._stream), transient=True)
