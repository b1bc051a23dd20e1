"""Programs whose towers stay as they are, for modules of their own may help them."""

from __future__ import annotations

from migrate_mgpu.models.front.towers.loop import loops_on_devices
from migrate_mgpu.run.states import State


def has_towers(state: State) -> bool:
    """Whether a program's session keeps the towers that it builds, in whichever module, as they
    are."""
    session = state.session
    if session is None or session.refused is None:
        return False
    beside = (one for one in state.program.modules if one is not session.module)
    return session.towers is not None or any(any(loops_on_devices(one)) for one in beside)
