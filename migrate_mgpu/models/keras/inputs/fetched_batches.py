"""A session that shows what an input function gives, before or after the training.

    features, labels = make_input_fn("train.csv", 1)()

    with tf.Session() as sess:
        print(sess.run(features))
        print(sess.run(labels))

In TF2 the function gives a Dataset. Each run drew a batch of its own, and so does each `next` of
one iterator, which gives arrays. What does more with the tensors, or with the session, stays.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# A session shows them otherwise than a Dataset's iterator.
_SPARSE = ("SparseTensor", "VarLenFeature", "SparseFeature")
_LOOPS = (ast.For, ast.While, ast.Try, ast.AsyncFor)


def fetch_batches(module: Module, call: ast.Call, changes: EditSet) -> bool:
    """Whether sessions alone have to do with what a call of an input function gives.

    The edits are there then.
    """
    found = _read(module, call)
    if found is None:
        return False
    source = module.source
    scope = module.names.scope_at(found.statement)
    name = module.names.fresh(scope, "batches", "shown_batches", "fetched_batches")
    changes.edit(module, Edit(*source.span(found.statement.targets[0]), name))
    end = source.span(call)[1]
    changes.edit(module, Edit(end, end, ".as_numpy_iterator()"))
    for run in found.runs:
        start, end = source.span(run.call)
        text = f"next({name}){run.item}"
        changes.edit(module, Edit(start, end, f"list({text})" if run.is_list else text))
        changes.moved.add(run.call)
    for block in found.blocks:
        changes.edit(module, *without_header(module, block))
        changes.gone.add(block.items[0].context_expr)
    return True


@record(frozen=True, eq=False)
class _Run:
    """`sess.run(features)`: which part of a batch it shows, as an index of one."""

    call: ast.Call
    item: str
    is_list: bool = False


@record(frozen=True, eq=False)
class _Fetched:
    statement: ast.Assign
    runs: tuple[_Run, ...]
    blocks: tuple[ast.With, ...]


def _read(module: Module, call: ast.Call) -> _Fetched | None:
    """What is fetched of a call's value; None where anything else has to do with it."""
    names = module.names
    statement = names.parents.get(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or module.importers:
        return None
    target = statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    if any(isinstance(one, _LOOPS) for one in names.ancestors(statement)):
        return None
    if any(tensorflow_name(module, one.func).endswith("ConfigProto") for one in names.calls):
        return None  # which has to come before anything is computed
    if any(one in names.attributes for one in _SPARSE):
        return None
    scope = names.scope_at(statement)
    taken: dict[str, int] = {}
    loads: list[ast.Name] = []
    for number, part in enumerate(parts):
        if not isinstance(part, ast.Name) or names.only_binding(part) is None:
            return None
        taken[part.id] = number
        loads += [one for one in names.mentions(part.id, scope) if one is not part]
    block = names.block(statement)
    behind = block[block.index(statement) + 1 :]
    blocks: list[ast.With] = []
    runs: list[_Run] = []
    seen: set[ast.AST] = set()
    for one in behind:
        if not any(part in loads for part in walk(one)):
            continue
        read = _runs(module, one, taken, isinstance(target, ast.Tuple))
        if read is None or not isinstance(one, ast.With):
            return None
        blocks.append(one)
        runs += read
        seen |= {part for run in read for part in walk(run.call)}
    if not runs or not all(one in seen for one in loads):
        return None
    return _Fetched(statement, tuple(runs), tuple(blocks))


def _runs(
    module: Module, block: ast.stmt, taken: dict[str, int], is_tuple: bool
) -> list[_Run] | None:
    """The runs of a session that does nothing else; None for another statement."""
    names, session = module.names, plain_session(module, block)
    if session is None or not isinstance(block, ast.With):
        return None
    layout = Layout(module.source, block)
    if not layout.owns_lines or not Layout(module.source, block.body[0]).owns_start:
        return None
    found: list[_Run] = []
    mentions = names.mentions(session.id, names.scope_of_name[session])
    for mention in mentions:
        if isinstance(mention.ctx, ast.Load) and mention in set(walk(block)):
            run = _run(module, mention, taken, is_tuple)
            if run is None:
                return None
            found.append(run)
        elif isinstance(mention.ctx, ast.Load) and not is_of_another(module, mention, block):
            return None
    for part in walk(block):
        if isinstance(part, (ast.Constant, ast.JoinedStr)) and part.lineno != part.end_lineno:
            return None  # whose lines would move
        if isinstance(part, (*_LOOPS, ast.If, ast.IfExp, ast.BoolOp, ast.Lambda, ast.FunctionDef)):
            return None
    return found


def _run(module: Module, mention: ast.Name, taken: dict[str, int], is_tuple: bool) -> _Run | None:
    method = module.names.parents[mention]
    call = module.names.parents[method]
    if not isinstance(method, ast.Attribute) or method.attr != "run":
        return None
    if not isinstance(call, ast.Call) or call.func is not method:
        return None
    if len(call.args) != 1 or call.keywords:
        return None
    asked = call.args[0]
    if isinstance(asked, (ast.List, ast.Tuple)):
        every = [one.id for one in asked.elts if isinstance(one, ast.Name)]
        if not is_tuple or len(every) != len(asked.elts) or every != list(taken):
            return None
        goal = module.names.parents[call]
        unpacked = isinstance(goal, ast.Assign) and isinstance(goal.targets[0], ast.Tuple)
        return _Run(call, "", isinstance(asked, ast.List) and not unpacked)
    keys = ""
    while isinstance(asked, ast.Subscript):
        if not isinstance(constant(asked.slice), (int, str)):
            if not isinstance(asked.slice, ast.Name):
                return None
        keys = f"[{module.source.code(asked.slice)}]{keys}"
        asked = asked.value
    if not isinstance(asked, ast.Name) or asked.id not in taken:
        return None
    return _Run(call, f"[{taken[asked.id]}]{keys}" if is_tuple else keys)


def is_of_another(module: Module, mention: ast.Name, block: ast.With) -> bool:
    """Whether a name is that of another session, which the block around it makes."""
    for around in module.names.ancestors(mention):
        named = [
            item.optional_vars.id
            for item in (around.items if isinstance(around, ast.With) else ())
            if isinstance(item.optional_vars, ast.Name)
        ]
        if around is not block and mention.id in named:
            return True
    return False


def plain_session(module: Module, block: ast.AST) -> ast.Name | None:
    """What `with tf.Session() as sess:` calls its session."""
    if not isinstance(block, ast.With) or len(block.items) != 1:
        return None
    call, name = block.items[0].context_expr, block.items[0].optional_vars
    if not isinstance(call, ast.Call) or not isinstance(name, ast.Name):
        return None
    plain = tensorflow_name(module, call.func) == "Session" and not call.args
    return name if plain and not call.keywords else None


def without_header(module: Module, block: ast.With) -> list[Edit]:
    """A block's statements in the place of the block."""
    source = module.source
    layout, first = Layout(source, block), Layout(source, block.body[0])
    last = Layout(source, block.body[-1]).next_line
    deeper = len(first.indent) - len(layout.indent)
    found = []
    start = source.line_starts[block.items[-1].context_expr.end_lineno or block.lineno]
    found.append(Edit(layout.line_start, start, ""))
    for line_start in source.line_starts:
        if start <= line_start < last:
            if source.text.startswith(first.indent, line_start):
                found.append(Edit(line_start, line_start + deeper, ""))
    return found
