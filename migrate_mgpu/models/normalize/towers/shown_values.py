"""What summaries in towers show, by one name each that the tower computes.

    tf.summary.scalar('wrong', tf.reduce_mean(wrong * mask))
    if i == 0:
        tf.summary.image('input', images)

where `images = batches[i]`, becomes

    wrong_mean = tf.reduce_mean(wrong * mask)
    tf.summary.scalar('wrong', wrong_mean)
    shown_images = tf.identity(images)
    if i == 0:
        tf.summary.image('input', shown_images)

A list of what each tower has is known by a name: that of what it computes.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one summary; none where all show one value that their tower computes."""
    every = "summary.merge_all" in calls_of_names(module)
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        for statement, above in _summaries(module, loop):
            # Of the last tower's alone no list is made.
            edits = _named(module, loop, statement, above) if every or above != statement else []
            if edits:
                return edits
    return []


def _summaries(module: Module, loop: ast.For) -> Iterator[tuple[ast.Expr, ast.stmt]]:
    """The summaries of a tower, each with what its value has to stand above."""
    for statement in in_line(loop.body):
        if isinstance(statement, ast.If) and not statement.orelse:
            if all(_is_summary(module, one) for one in statement.body):
                for one in statement.body:
                    assert isinstance(one, ast.Expr)
                    yield one, statement
        elif _is_summary(module, statement):
            assert isinstance(statement, ast.Expr)
            yield statement, statement


def _is_summary(module: Module, statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return name_of(module, value) in SUMMARIES.by_name


def _named(module: Module, loop: ast.For, statement: ast.Expr, above: ast.stmt) -> list[Edit]:
    call, names = statement.value, module.names
    assert isinstance(call, ast.Call)
    row = SUMMARIES.by_name[name_of(module, call)]
    given = NamedArguments(module, call, row.signature).rest
    value, told = given.get(row.parameters[1].name), given.get(row.parameters[0].name)
    layout = Layout(module.source, above)
    if value is None or not layout.owns_lines or "\n" in module.source.code(value):
        return []
    parts = [one for one in walk(value) if isinstance(one, ast.Name)]
    own = {one.id for one in parts if _is_of_tower(module, one, loop)}
    given_apart = any(_is_part(module, one, loop) for one in parts)
    late = (ast.Lambda, ast.NamedExpr, *COMPREHENSIONS)
    if any(isinstance(one, late) for one in walk(value)):
        return []
    if not own or (len(own) == 1 and not given_apart):
        return []
    home, code = names.scope_at(loop), module.source.code(value)
    if isinstance(value, ast.Name):
        code = f"{style_at(module, above).tensorflow}.identity({code})"
        wanted = [f"shown_{value.id}"]
    else:
        tag = constant(told)
        wanted = _words(tag) if isinstance(tag, str) else []
    name = names.fresh(home, *wanted, "shown_value")
    return [
        layout.insert_before([f"{name} = {code}"]),
        Edit(*module.source.span(value), name),
    ]


def _words(tag: str) -> list[str]:
    """Names for what a summary of some tag shows."""
    word = re.sub(r"\W+", "_", tag.rpartition("/")[2]).strip("_")
    free = word.isidentifier() and not keyword.iskeyword(word) and not hasattr(builtins, word)
    return [word, f"shown_{word}"] if free else [f"shown_{word}"]


def _is_of_tower(module: Module, node: ast.Name, loop: ast.For) -> bool:
    bound = module.names.bindings_of(node)
    return any(is_inside(module, one.node, {loop}) for one in bound)


def _is_part(module: Module, node: ast.Name, loop: ast.For) -> bool:
    """Whether a name of a tower's is what it takes of a batch, and computes nothing."""
    for one in module.names.bindings_of(node):
        if not is_inside(module, one.node, {loop}):
            continue
        statement = module.names.statement(one.node)
        if statement is loop:
            return True
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Subscript):
            return True
        func = value.func if isinstance(value, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == "get_next":
            return True
    return False
