"""``fit_generator`` and its like are ``fit``, ``evaluate`` and ``predict`` in TF2."""

from __future__ import annotations

import ast

from migrate_mgpu.engine.module import Module
from migrate_mgpu.engine.source import Edit

# Their first parameters, by which later ones are named.
_PARAMETERS = {
    "fit_generator": (
        "x", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data",
        "validation_steps",
    ),
    "evaluate_generator": ("x", "steps"),
    "predict_generator": ("x", "steps"),
}  # fmt: skip
# How many batches are made ahead, and by whom: Keras 3 asks the data itself.
_AHEAD = {"max_queue_size", "use_multiprocessing", "workers"}


def method(name: str) -> str:
    """``fit`` of ``fit_generator``."""
    return name.partition("_")[0]


def argument_edits(module: Module, call: ast.Call, name: str) -> list[Edit] | None:
    """The edits of a call's arguments; None where they cannot be told."""
    source, parameters = module.source, _PARAMETERS[name]
    if len(call.args) > len(parameters) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    edits: list[Edit] = []
    for parameter, argument in list(zip(parameters, call.args))[1:]:
        start, _ = source.span(argument)
        edits.append(Edit(start, start, f"{parameter}="))
    members = sorted([*call.args, *call.keywords], key=lambda node: source.span(node)[0])
    kept = [m for m in members if not (isinstance(m, ast.keyword) and m.arg in _AHEAD)]
    if not kept:
        return None
    for index, member in enumerate(members):
        start, end = source.span(member)
        if isinstance(member, ast.keyword) and member.arg == "generator":
            edits.append(Edit(start, start + len("generator"), "x"))
        if member in kept:
            continue
        before = source.span(members[index - 1])[1] if index else start
        behind = source.span(members[index + 1])[0] if index + 1 < len(members) else end
        gap = (before, end) if index else (start, behind)
        if "#" in source.text[gap[0] : gap[1]]:
            return None  # a comment would go with it
        edits.append(Edit(*gap, ""))
    if name != "fit_generator" and not any(k.arg == "verbose" for k in call.keywords):
        _, end = source.span(kept[-1])
        edits.append(Edit(end, end, ", verbose=0"))
    return edits
