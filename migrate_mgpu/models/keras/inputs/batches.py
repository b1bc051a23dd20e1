"""A batch that an input function takes out of an iterator: the Dataset takes its place."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.models.ir import DrawnBatch
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def write_batch(batch: DrawnBatch, changes: EditSet) -> None:
    """`return dataset.make_one_shot_iterator().get_next()`, in its usual forms."""
    module, source = batch.module, batch.module.source
    start, end = source.span(batch.node)
    if batch.taken is None and batch.iterator is None:
        _without_iterator(batch, end, changes)
        return
    changes.moved.add(batch.node)
    if batch.iterator is not None:
        name = _named(batch, batch.iterator, changes)
        if batch.taken is not None:
            _remove(batch, batch.taken, changes)
    elif isinstance(batch.dataset, ast.Name) and batch.taken is not None:
        name = batch.dataset.id
        _remove(batch, batch.taken, changes)
    else:
        # `features, labels = dataset.make_one_shot_iterator().get_next()`
        assert batch.taken is not None
        name = _fresh(batch, batch.taken)
        first, last = source.span(batch.taken.targets[0])
        changes.edit(module, Edit(first, last, name))
        _without_iterator(batch, source.span(batch.element)[1], changes)
    changes.edit(module, Edit(start, end, name + _mapped(batch)))


def _mapped(batch: DrawnBatch) -> str:
    """The method that makes the value of the batch's parts."""
    if not batch.changed:
        return ""
    inner, written = text_of(batch.module, batch.node), batch.module.source.code(batch.node)
    if isinstance(batch.node, ast.Tuple) and not _is_bracketed(written):
        inner = f"({inner})"
    stars = "*" if batch.is_tuple else ""  # a function gets the parts of a tuple one by one
    return f".map(lambda {stars}{', '.join(batch.parts)}: {inner})"


def _is_bracketed(text: str) -> bool:
    """Whether a tuple's own brackets are around it: `(a, b)`, and not `(a), b`."""
    whole = text.startswith("(") and ast.parse(f"f{text}", mode="eval").body
    return isinstance(whole, ast.Call)


def _named(batch: DrawnBatch, iterator: ast.Assign, changes: EditSet) -> str:
    """The variable of the Dataset; its iterator goes."""
    if isinstance(batch.dataset, ast.Name):
        _remove(batch, iterator, changes)
        return batch.dataset.id
    # `iterator = tf.data...make_one_shot_iterator()`: the variable holds the Dataset now.
    source, name = batch.module.source, _fresh(batch, iterator)
    start, end = source.span(iterator.targets[0])
    changes.edit(batch.module, Edit(start, end, name))
    _without_iterator(batch, source.span(batch.maker)[1], changes)
    return name


def _fresh(batch: DrawnBatch, statement: ast.stmt) -> str:
    names = batch.module.names
    return names.fresh(names.scope_at(statement), "dataset", "data", "batches")


def _without_iterator(batch: DrawnBatch, end: int, changes: EditSet) -> None:
    """Takes the iterator's maker, and what follows it up to ``end``, away from its Dataset."""
    source = batch.module.source
    first, last = source.span(batch.dataset)
    start, _ = source.span(batch.maker)
    if start < first:  # it is a function of the Dataset, not its method
        changes.gone.add(batch.maker.func)
        changes.edit(batch.module, Edit(start, first, ""))
    changes.edit(batch.module, Edit(last, end, ""))


def _remove(batch: DrawnBatch, statement: ast.stmt, changes: EditSet) -> None:
    if statement not in changes.gone:
        changes.gone.add(statement)
        layout = Layout(batch.module.source, statement)
        kept = [layout.trailing_comment] if layout.trailing_comment else []
        changes.edit(batch.module, layout.replace(kept))
