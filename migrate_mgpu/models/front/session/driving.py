"""What stands around the steps of a session's program: savers."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.attendants import Saver, SaverCall
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.program import BESIDE, Meaning, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader
from migrate_mgpu.models.front.session.savers import SaverReader


class DrivingReader:
    """Reads what is made beside the graph, and the calls of it in any statement."""

    def __init__(self, found: SessionProgram, graph: CallGraph, runs: RunReader) -> None:
        self.module = found.scope.module
        self.found = found
        self.runs = runs
        self.savers = SaverReader(found, GraphNames(found.scope, graph), runs.meaning)

    def made(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Meaning | None:
        """What an assignment makes beside the graph; None where it is nothing of that.

        Raises:
            Refused: it is made in a way that is not understood.
        """
        if name_of(self.module, call) == "train.Saver":
            saver = self.savers.made(statement, target, call)
            self.found.savers.append(saver)
            return saver
        return None

    def read(self, statement: ast.stmt) -> None:
        """Reads the calls in a statement, and explains the names in them.

        Raises:
            Refused: one is not understood.
        """
        for call in ast.walk(statement):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            receiver = call.func.value
            if not isinstance(receiver, ast.Name):
                continue
            meaning = self.runs.meaning(receiver)
            if isinstance(meaning, Saver) and all(c.call is not call for c in self._calls):
                found = self.savers.called(call, meaning)
                if not self.runs.is_session(found.session):
                    text = "it is not seen to be this program's session"
                    raise Refused(self.module, found.session, text)
                self._calls.append(found)
                self.runs.known |= {receiver, found.session}
                if found.step is not None:
                    self.runs.known.add(found.step)

    @property
    def _calls(self) -> list[SaverCall]:
        return self.found.saver_calls

    def finish(self) -> None:
        """Each mention of what stands around the steps is one that is understood.

        Raises:
            Refused: one is not.
        """
        lanes = self.found.lanes
        handed = {
            argument
            for call, _ in (*self.found.handed, *(one for lane in lanes for one in lane.handed))
            for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        }
        for name in self.module.names.scope_of_name:
            if isinstance(name.ctx, ast.Load) and name not in self.runs.known:
                if name not in handed and isinstance(self.runs.meaning(name), BESIDE):
                    text = f"`{name.id}` is used for more than saving and restoring"
                    raise Refused(self.module, name, text)
