"""Session programs that stay, where modules of their own may help them."""

from __future__ import annotations

from migrate_mgpu.models.front.towers.loop import loops_on_devices
from migrate_mgpu.models.session_programs import MADE_ELSEWHERE, SEVERAL_MACHINES, SEVERAL_MAKE_IT
from migrate_mgpu.run.states import State


def has_towers(state: State) -> bool:
    """Whether a program's session keeps the towers that it builds as they are: where the session
    is, or in the program's own file, where another module makes the session.

    Not in any module that it imports: a library of towers would have all its programs planned
    again, each by itself.
    """
    session, entry = state.session, state.program.entry
    if session is None or session.refused is None:
        return False
    beside = entry is not session.module and any(loops_on_devices(entry))
    return session.towers is not None or beside


def stays_with_modules(state: State) -> bool:
    """Whether a program stays that has more than one module, and not for where its session is."""
    session = state.session
    if session is None or session.refused is None or len(state.program.modules) < 2:
        return False
    return session.refused.key not in (MADE_ELSEWHERE, SEVERAL_MACHINES, SEVERAL_MAKE_IT)
