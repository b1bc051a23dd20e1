"""Losses of examples times weights: `tf.losses` divides by what no Keras loss divides by."""

from __future__ import annotations

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record

_HEAD = '''\
def {name}(losses, weights):
    """{doc}"""
    weights = {tf}.cast(weights, losses.dtype)
    if weights.shape.rank > losses.shape.rank:
        weights = {tf}.squeeze(weights, axis=-1)
'''
# By the reduction: the function's name, what it says, and its last lines. TF1 divides by the
# elements whose weight is not zero, after it gave every element its weight.
_FORMS = {
    "mean": (
        "weighted_mean",
        "Weighted losses over the number of those whose weight is not zero.",
        "    weights *= {tf}.ones_like(losses)\n"
        "    count = {tf}.math.count_nonzero(weights, dtype=losses.dtype)\n"
        "    return {tf}.math.divide_no_nan({tf}.reduce_sum(losses * weights), count)",
    ),
    "average": (
        "weighted_average",
        "Weighted losses over the sum of their weights.",
        "    weights *= {tf}.ones_like(losses)\n"
        "    total = {tf}.reduce_sum(weights)\n"
        "    return {tf}.math.divide_no_nan({tf}.reduce_sum(losses * weights), total)",
    ),
    "batch": (
        "mean_of_weighted",
        "Weighted losses over the number of all of them.",
        "    return {tf}.reduce_mean(losses * weights)",
    ),
    "sum": (
        "weighted_sum",
        "The sum of weighted losses.",
        "    return {tf}.reduce_sum(losses * weights)",
    ),
    "none": (
        "weighted",
        "Losses times their weights.",
        "    return losses * weights",
    ),
}


@record(frozen=True)
class Weighting:
    """A function of a program's own that weighs losses and reduces them: its name and text.

    ``even``: what it gives for a batch is the mean of what it gives for equal parts of it.
    """

    name: str
    text: str
    even: bool


def weighting(module: Module, reduction: str, tf: str) -> Weighting:
    """The function for a reduction: ``mean``, ``average``, ``batch``, ``sum`` or ``none``."""
    wished, doc, last = _FORMS[reduction]
    name = module.names.fresh(module.names.module_scope, wished)
    text = (_HEAD + last).format(name=name, tf=tf, doc=doc)
    return Weighting(
        name, text.replace("    ", module.source.indent_unit), reduction in ("batch", "none")
    )
