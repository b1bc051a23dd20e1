"""States of recurrent networks that an object keeps, and nobody asks it for.

`self.last_state = last_state` goes where nothing reads `last_state` of an object: the state, pairs
in a tuple, is no tensor that a step could return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.recurrent import PAIR_CLASS, cell_of, is_recurrent
from migrate_mgpu.models.front.network.cell_states import TENSOR, is_sequence, structure
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

TOLD = "nothing reads `{}`, the state of a recurrent network: no object keeps it any more"
_BY_TEXT = {"getattr", "vars", "hasattr"}


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for such statements; none where there are none. ``modules``: all of a program."""
    if any(_asks_by_text(one) for one in modules):
        return []
    names, found = module.names, list[Edit]()
    for state in _states(module):
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


def kept_for_nobody(modules: Sequence[Module]) -> Iterator[tuple[Module, ast.Attribute]]:
    """The attributes of a program, as it stands, that are given such a state and are never read."""
    if any(_asks_by_text(one) for one in modules):
        return
    for module in modules:
        for state in _states(module):
            for one in _attributes(module, state):
                mentions = (n for m in modules for n in m.names.attributes.get(one.attr, ()))
                if not any(isinstance(mention.ctx, ast.Load) for mention in mentions):
                    yield module, one


def _states(module: Module) -> Iterator[ast.expr]:
    """What states of a module's recurrent networks are given to, and zeros of its cells."""
    for call in module.names.calls:
        made = module.names.parents.get(call)
        if not isinstance(made, ast.Assign) or len(made.targets) > 1:
            continue
        target = made.targets[0]
        if is_recurrent(module, call):
            if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2:
                yield target.elts[1]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "zero_state":
            yield target
        elif is_sequence(module, call) or cell_of(module, call) == PAIR_CLASS:
            if structure(module, call) not in (None, TENSOR):
                yield target  # what a state is put together to


def _attributes(module: Module, state: ast.expr | None) -> Iterator[ast.Attribute]:
    """The attribute that a state is, or those that are given it by its name."""
    if isinstance(state, ast.Attribute):
        yield state
    if not isinstance(state, ast.Name):
        return
    for mention in module.names.mentions(state.id, module.names.scope_of_name[state]):
        kept = module.names.parents.get(mention)
        if isinstance(kept, ast.Assign) and kept.value is mention and len(kept.targets) == 1:
            if isinstance(kept.targets[0], ast.Attribute):
                yield kept.targets[0]


def _asks_by_text(module: Module) -> bool:
    """Whether a module may ask an object for what a text names."""
    return not _BY_TEXT.isdisjoint(module.names.by_id) or "__dict__" in module.names.attributes
