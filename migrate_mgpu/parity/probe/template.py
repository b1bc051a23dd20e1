"""What a TF1 program's saver writes: its names, shapes and first values, as a checkpoint.

The program runs until its variables exist and it is clear which saver is meant: the only one, or
the first that is used. That saver writes; the program is ended.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import functools
import os
from typing import Any, Callable

PREFIX = "model.ckpt"


def patches(load: Callable[[str], Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """The template, and its patches by module name; ``load`` gives a module of this folder."""
    found = Template(options)
    return found, found.patches()


class Ended(BaseException):
    """The file is written: the program is ended."""


class Template:
    """Stands where the recorder of a training stands.

    Args:
      options: ``isolate`` (the program's copy), ``into`` (the folder in it that the file is
        left in).
    """

    part = "checkpoint"  # of the trace

    def __init__(self, options: dict[str, Any]) -> None:
        self.stopped = False
        self.data: dict[str, Any] = {"state": "not reached", "savers": 0}
        self._folder = os.path.join(options["isolate"], options["into"])
        self._savers: list[Any] = []
        self._busy = False

    # What a recorder is asked ---------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        return self.data

    def finish(self, status: int) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    # Where a program makes and uses savers --------------------------------------------------------

    def patches(self) -> dict[str, Callable[[Any], None]]:
        return {
            ".python.training.checkpoint_management": self._patch_latest,
            ".python.training.saver": self._patch_saver,
            ".python.client.session": self._patch_session,
        }

    def _patch_latest(self, module: Any) -> None:
        """What lies in its folder may be trained to the end: nothing would be left to do."""

        def none(*args: Any, **options: Any) -> None:
            return None

        for name in ("latest_checkpoint", "get_checkpoint_state"):
            setattr(module, name, functools.wraps(getattr(module, name))(none))

    def _patch_saver(self, module: Any) -> None:
        cls = module.Saver
        begins, self._write = cls.__init__, cls.save

        @functools.wraps(begins)
        def __init__(saver: Any, *args: Any, **options: Any) -> None:
            begins(saver, *args, **options)
            self._savers.append(saver)
            self.data["savers"] = len(self._savers)

        cls.__init__ = __init__
        for name in ("save", "restore"):
            setattr(cls, name, self._using(getattr(cls, name)))

    def _using(self, original: Any) -> Any:
        @functools.wraps(original)
        def method(saver: Any, session: Any, *args: Any, **options: Any) -> Any:
            if self._busy or session is None:  # eager
                return original(saver, session, *args, **options)
            self._begin(session)
            if not self._try(saver, session):
                raise RuntimeError("the variables have no first values")

        return method

    def _patch_session(self, module: Any) -> None:
        cls = module.BaseSession
        runs = cls.run

        @functools.wraps(runs)
        def run(session: Any, *args: Any, **options: Any) -> Any:
            found = runs(session, *args, **options)
            if not self._busy and len(self._savers) == 1:
                saver = self._savers[0]
                graph = getattr(saver, "saver_def", None) and session.graph
                if graph is not None and _names(saver, graph):
                    self._try(saver, session)
            return found

        cls.run = run

    def _begin(self, session: Any) -> None:
        """Give variables that have no values yet their first ones."""
        variables = session.graph.get_collection("variables")
        self._busy = True
        try:
            for variable in variables:
                session.run(variable.initializer)
        finally:
            self._busy = False

    def _try(self, saver: Any, session: Any) -> bool:
        """Write, if all variables have values, and end the program."""
        self._busy = True
        try:
            if not saver._is_built:
                saver.build()
            os.makedirs(self._folder, exist_ok=True)
            path = os.path.join(self._folder, PREFIX)
            self._write(saver, session, path, write_meta_graph=False, write_state=False)
        except Exception as error:
            if "uninitialized" not in str(error).lower():
                raise
            return False
        finally:
            self._busy = False
        names = [one.op.name for one in session.graph.get_collection("variables")]
        self.data.update(state="saved", order=names, written=sorted(os.listdir(self._folder)))
        self.stopped = True
        raise Ended


def _names(saver: Any, graph: Any) -> bool:
    """Whether a saver is of this graph."""
    try:
        graph.get_operation_by_name(saver.saver_def.restore_op_name)
    except (KeyError, ValueError):
        return False
    return True
