"""Summaries of Python's own numbers, which no graph computes.

    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag='best', simple_value=best)]), step)

TF2 has the operation that gives what is written:
`tf.raw_ops.ScalarSummary(tags='best', values=best)`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

SUMMARY = ("Summary", "summary.Summary")
VALUE = ("Summary.Value", "summary.Summary.Value")


def summary_edits(module: Module, node: ast.AST, style: FileStyle) -> Sequence[Edit] | None:
    """The edits for a mention of `tf.Summary`, or of its `Value`; None for all else.

    A summary that does more than to be given a writer is none that is known.
    """
    call = module.names.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return None
    if name_of(module, call) in VALUE:
        listed = module.names.parents.get(call)
        keyword = module.names.parents.get(listed) if listed is not None else None
        outer = module.names.parents.get(keyword) if keyword is not None else None
        known = isinstance(outer, ast.Call) and _is_known(module, outer)
        return () if known else None
    if not _is_known(module, call) or "\n" in module.source.code(call):
        return None  # a pass puts it in one line
    pairs = made_of(module, call) or []
    tags, values = ([module.source.code(pair[place]) for pair in pairs] for place in (0, 1))
    if len(pairs) == 1:
        told = f"tags={tags[0]}, values={values[0]}"
    else:
        told = f"tags=[{', '.join(tags)}], values=[{', '.join(values)}]"
    text = f"{style.tensorflow}.raw_ops.ScalarSummary({told})"
    return (Edit(*module.source.span(call), text),)


def _is_known(module: Module, call: ast.Call) -> bool:
    """Whether a call makes a summary of numbers, which a writer is given and nothing else is."""
    if made_of(module, call) is None:
        return False
    parent = module.names.parents.get(call)
    if is_added(module, call):
        return True
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, ast.Name) or len(parent.targets) > 1:  # type: ignore[union-attr]
        return False
    if module.names.only_binding(target) is None:
        return False
    mentions = module.names.mentions(target.id, module.names.scope_of_name[target])
    read = [one for one in mentions if isinstance(one.ctx, ast.Load)]
    return bool(read) and all(is_added(module, one) for one in read)


def made_of(module: Module, call: ast.Call) -> list[tuple[ast.expr, ast.expr]] | None:
    """The tags and the numbers of a summary; None where it has something else."""
    if name_of(module, call) not in SUMMARY or call.args or len(call.keywords) != 1:
        return None
    listed = call.keywords[0].value if call.keywords[0].arg == "value" else None
    found: list[tuple[ast.expr, ast.expr]] = []
    for one in listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else ():
        pair = number_of(one) if name_of(module, one) in VALUE else None
        if pair is None:
            return None
        found.append(pair)
    return found or None


def number_of(call: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The tag and the number that a call is given, `(tag='best', simple_value=best)`."""
    if not isinstance(call, ast.Call) or call.args:
        return None
    told = {one.arg: one.value for one in call.keywords}
    if told.keys() != {"tag", "simple_value"}:
        return None
    return told["tag"], told["simple_value"]


def is_added(module: Module, node: ast.expr) -> bool:
    """Whether an expression is what `writer.add_summary` is given."""
    around = module.names.parents.get(node)
    named = isinstance(around, ast.keyword) and around.arg == "summary"
    call = module.names.parents.get(around) if named and around is not None else around
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr == "add_summary" and (named or call.args[:1] == [node])
