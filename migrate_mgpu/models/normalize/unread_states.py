"""States of recurrent networks that an object keeps, and nobody asks it for.

`self.last_state = last_state` goes where nothing reads `last_state` of an object: the state, pairs
in a tuple, is no tensor that a step could return.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.recurrent import is_recurrent
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_BY_TEXT = {"getattr", "vars", "hasattr"}


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for such statements; none where there are none. ``modules``: all of a program."""
    if any(_asks_by_text(one) for one in modules):
        return []
    names, found = module.names, list[Edit]()
    for call in names.calls:
        made = names.statement(call)
        if not is_recurrent(module, call) or not isinstance(made, ast.Assign):
            continue
        target = made.targets[0]
        parts = target.elts if isinstance(target, ast.Tuple) and made.value is call else []
        state = parts[1] if len(parts) == 2 else None
        if not isinstance(state, ast.Name) or len(names.bindings_of(state)) != 1:
            continue
        home = names.scope_of_name[state]
        for mention in names.mentions(state.id, home):
            kept = names.parents.get(mention)
            if not isinstance(kept, ast.Assign) or kept.value is not mention:
                continue
            attribute = kept.targets[0]
            if not isinstance(attribute, ast.Attribute) or len(kept.targets) > 1:
                continue
            asked = [n for one in modules for n in one.names.attributes.get(attribute.attr, ())]
            layout = Layout(module.source, kept)
            if asked == [attribute] and layout.owns_lines and len(names.block(kept)) > 1:
                found.append(layout.replace([]))
    return found


def _asks_by_text(module: Module) -> bool:
    """Whether a module may ask an object for what a text names."""
    return not _BY_TEXT.isdisjoint(module.names.by_id) or "__dict__" in module.names.attributes
