"""A progress bar on a terminal, on runs that take a while."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE_S = 1.0


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
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )
        with Bar(*columns, console=Console(file=self._stream), transient=True) as bar:
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
