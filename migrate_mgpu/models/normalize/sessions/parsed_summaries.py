"""Merged summaries that are parsed to be written: they are written as they are.

    summary = tf.Summary()
    summary.ParseFromString(sess.run(merged))
    writer.add_summary(summary, step)

becomes `summary = sess.run(merged)`, which the writer takes as well.

    summary = tf.Summary()
    summary.value.add(tag='best', simple_value=best)
    writer.add_summary(summary, step)

becomes `summary = tf.Summary(value=[tf.Summary.Value(tag='best', simple_value=best)])`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.made_summaries import SUMMARY, is_added, made_of, number_of
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such summary; none where there is none."""
    for kind in SUMMARY:
        for call in calls_of_names(module).get(kind, ()):
            edits = _in_one_line(module, call) or _edits(module, call)
            if edits:
                return edits
    return []


def _in_one_line(module: Module, call: ast.Call) -> list[Edit]:
    """A summary of numbers over several lines, in one: its whole call becomes another one."""
    text = module.source.code(call)
    if "\n" not in text or "#" in text or made_of(module, call) is None:
        return []
    lines = [line.strip() for line in text.splitlines()]
    joined = "".join(
        f"{line} " if line.endswith(",") else line if line[-1:] in "([" else f"{line} "
        for line in lines[:-1]
    )
    return [Edit(*module.source.span(call), f"{joined}{lines[-1]}".replace(", ]", "]"))]


def _edits(module: Module, call: ast.Call) -> list[Edit]:
    names = module.names
    made = names.parents.get(call)
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    if call.args or call.keywords or not isinstance(target, ast.Name) or made is None:
        return []
    if names.only_binding(target) is None or not isinstance(made, ast.Assign):
        return []
    block = names.block(made)
    read = [
        one
        for one in names.mentions(target.id, names.scope_of_name[target])
        if isinstance(one.ctx, ast.Load)
    ]
    parsed = [one for one in read if _parses(module, one) is not None]
    added = [one for one in read if is_added(module, one)]
    told = [one for one in read if _tells(module, one) is not None]
    if told and len(told) + len(added) == len(read):
        return _listed(module, call, made, told, added)
    if len(read) != 2 or len(parsed) != 1 or len(added) != 1:
        return []
    parse, add = names.statement(parsed[0]), names.statement(added[0])
    if parse not in block or add not in block:
        return []
    if not block.index(made) < block.index(parse) < block.index(add):
        return []
    gone, written = Layout(module.source, made), Layout(module.source, parse)
    value = _parses(module, parsed[0])
    if value is None or not gone.owns_lines or not written.owns_lines:
        return []
    first = Edit(gone.line_start, gone.next_line, "")
    text = f"{target.id} = {module.source.code(value)}"
    return [first, Edit(*module.source.span(parse), text)]


def _listed(
    module: Module,
    call: ast.Call,
    made: ast.Assign,
    told: list[ast.Name],
    added: list[ast.Name],
) -> list[Edit]:
    """The edits for numbers that are added one after the other, right behind the summary."""
    block = module.names.block(made)
    statements = [module.names.statement(one) for one in told]
    index = block.index(made) + 1
    if block[index : index + len(told)] != statements:
        return []
    places = [module.names.statement(one) for one in added]
    if not places or any(one not in block or block.index(one) < index for one in places):
        return []
    layouts = [Layout(module.source, one) for one in (made, *statements)]
    if not all(one.owns_lines for one in layouts):
        return []
    kind = module.source.code(call.func)
    values = [_tells(module, one) for one in told]
    texts = [
        f"{kind}.Value({', '.join(module.source.code(k) for k in one.keywords)})"
        for one in values
        if one is not None
    ]
    name = module.source.code(made.targets[0])
    line = f"{name} = {kind}(value=[{', '.join(texts)}])"
    gone = [Edit(one.line_start, one.next_line, "") for one in layouts[:-1]]
    return [*gone, layouts[-1].replace([line])] if "\n" not in line else []


def _tells(module: Module, name: ast.Name) -> ast.Call | None:
    """The call `name.value.add(tag='best', simple_value=best)`, a statement of its own."""
    value = module.names.parents.get(name)
    adds = module.names.parents.get(value) if value is not None else None
    call = module.names.parents.get(adds) if adds is not None else None
    if not isinstance(value, ast.Attribute) or value.attr != "value":
        return None
    if not isinstance(adds, ast.Attribute) or adds.attr != "add" or adds.value is not value:
        return None
    if not isinstance(call, ast.Call) or call.func is not adds or number_of(call) is None:
        return None
    return call if isinstance(module.names.parents.get(call), ast.Expr) else None


def _parses(module: Module, name: ast.Name) -> ast.expr | None:
    """What is parsed in `name.ParseFromString(value)`, a statement of its own."""
    func = module.names.parents.get(name)
    call = module.names.parents.get(func) if func is not None else None
    if not isinstance(func, ast.Attribute) or func.attr != "ParseFromString":
        return None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    whole = isinstance(module.names.parents.get(call), ast.Expr)
    return call.args[0] if whole and constant(call.args[0]) is None else None
