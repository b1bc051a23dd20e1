"""Rung 4, when the network's outputs are the same: how the loss is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis
from migrate_mgpu.parity.diagnose.evidence import Evidence, close, factor, same, show

if TYPE_CHECKING:
    from migrate_mgpu.parity.diagnose.evidence import Array


def not_a_number(e: Evidence) -> Iterator[Diagnosis]:
    import math

    one, other = e.losses()
    if one and other and math.isfinite(one[0]) and not math.isfinite(other[0]):
        yield Diagnosis(
            "nan",
            "the loss is NaN or infinite",
            LIKELY,
            e.rung.number,
            [f"the first loss is {other[0]}, it was {show(one[0])}"],
            "tf.debugging.enable_check_numerics() in the new program names the operation",
        )


def reduction(e: Evidence) -> Iterator[Diagnosis]:
    """The loss and all gradients are one multiple of what they were."""
    losses = e.first_losses()
    if losses is None or not losses[0]:
        return
    ratio = losses[1] / losses[0]
    meaning = factor(ratio, e.replicas, examples(e))
    if meaning is None:
        return
    evidence = [f"the first loss is {show(ratio)} times what it was; {meaning}"]
    gradients = e.pairs("gradient")
    multiples = [
        p for p in gradients if same(p.after, ratio * p.before, 1e-3) and (p.before != 0).any()
    ]
    sure = bool(gradients) and len(multiples) == len(gradients)
    if sure:
        evidence.append(f"so are the gradients of all {len(gradients)} variables")
    yield Diagnosis(
        "loss-reduction",
        "the loss reduction changed",
        LIKELY if sure else POSSIBLE,
        4,
        evidence,
        "average over the global batch, once: tf.nn.compute_average_loss(losses, "
        "global_batch_size=...) in a replica's step, the reduction of a Keras loss as TF1 had it "
        "(tf.losses average, canned Estimators sum)",
    )


def examples(e: Evidence) -> int | None:
    counts = [c[0] for c in e.series_of(False).get("examples", [])]
    known = [c for c in counts if c is not None]
    return sum(known) if known and len(known) == len(counts) else None


# Cross-entropy ----------------------------------------------------------------------------


def entropy(e: Evidence) -> Iterator[Diagnosis]:
    """What is given to the softmax cross-entropy, on both sides."""
    import numpy

    one, other = e.entropy(False), e.entropy(True)
    if one is None or other is None or one[0].shape != other[0].shape or one[0].ndim != 2:
        return
    before, after = one[0], other[0]
    if same(before, after):
        yield from _labels(e, one[1], other[1], before.shape[1])
        return
    shown = f"the first example's are {_row(after)}, they were {_row(before)}"
    if same(after, _softmax(before), 1e-3):
        yield Diagnosis(
            "softmax-twice",
            "softmax is applied twice",
            LIKELY,
            4,
            ["what the cross-entropy gets as logits is the softmax of the old logits", shown],
            "no softmax in the last layer where the loss has from_logits=True",
        )
    clipped = numpy.log(numpy.clip(before, 1e-7, 1 - 1e-7))
    if same(after, clipped, 1e-3):
        yield Diagnosis(
            "from-logits",
            "logits are treated as probabilities",
            LIKELY,
            4,
            ["what the cross-entropy gets is the logarithm of the old logits, clipped to 0..1"],
            "from_logits=True in the loss, as TF1's *_with_logits and tf.losses have it",
        )


def _labels(e: Evidence, one: Array, other: Array, classes: int) -> Iterator[Diagnosis]:
    import numpy

    def smoothing(labels: Array) -> float:
        return float(labels.min()) * classes if labels.ndim == 2 else 0.0

    def index(labels: Array) -> Array:
        found: Array = labels.argmax(axis=1) if labels.ndim == 2 else labels
        return found

    differ = int((index(one) != index(other)).sum())
    if differ:
        yield Diagnosis(
            "labels",
            "the labels changed",
            LIKELY,
            4,
            [
                "the network's outputs for the first batch are the same, its labels are not: "
                f"{differ} of {len(one)} examples have another one",
            ],
            "look at how labels are read, shifted and encoded",
        )
        return
    a, b = smoothing(one), smoothing(other)
    if abs(a - b) > 1e-4:
        yield Diagnosis(
            "label-smoothing",
            "the label smoothing changed",
            LIKELY,
            4,
            [
                "the network's outputs are the same; the smallest label is "
                f"{show(float(numpy.min(other)))} of {classes} classes, which is a smoothing of "
                f"{show(b)}; it was {show(a)}"
            ],
            f"label_smoothing={show(a)} in the loss",
        )


def _softmax(values: Array) -> Array:
    import numpy

    raised = numpy.exp(values - values.max(axis=1, keepdims=True))
    found: Array = raised / raised.sum(axis=1, keepdims=True)
    return found


def _row(values: Array) -> str:
    return "[" + ", ".join(show(float(v)) for v in values[0][:6]) + "]"


# Regularization ---------------------------------------------------------------------------


def decay(e: Evidence) -> tuple[dict[str, float], float] | None:
    """How the gradients differ, when they do by multiples of the weights and nothing else.

    Returns:
      Each variable's multiple (zero where its gradient is the same), and what a
      penalty with these adds to the loss; None when the gradients differ otherwise.
    """
    import numpy

    weights = {p.name: p.before for p in e.pairs("initial")}
    found: dict[str, float] = {}
    loss = 0.0
    gradients = e.pairs("gradient")
    largest = max((float(numpy.abs(p.before).max()) for p in gradients if p.before.size), default=0)
    for p in gradients:
        difference, w = p.after - p.before, weights.get(p.name)
        if numpy.abs(difference).max() <= 1e-5 * largest:
            found[p.name] = 0.0
            continue
        if w is None or not (w * w).sum():
            return None
        multiple = float((difference * w).sum() / (w * w).sum())
        rest = numpy.abs(difference - multiple * w).max()
        if rest > 1e-2 * numpy.abs(difference).max():
            return None
        found[p.name] = multiple
        loss += multiple / 2 * float((w * w).sum())
    return (found, loss) if any(found.values()) else None


def regularization(e: Evidence) -> Iterator[Diagnosis]:
    losses, found = e.first_losses(), decay(e)
    if losses is None or found is None:
        return
    multiples, expected = found
    change = losses[1] - losses[0]
    if not close(change, expected, 1e-2):
        return
    named = ", ".join(f"{m:+.4g} for {n}" for n, m in multiples.items() if m)
    evidence = [
        f"the gradients differ by multiples of the weights ({named}) and nothing else",
        f"a penalty on their squares with these multiples changes the first loss by "
        f"{show(expected)}; it changed by {show(change)}",
    ]
    known = list((e.before.get("declares") or {}).get("regularization", {}).values())
    what = "the weight regularization differs"
    if known and known[0]:
        share = 1 + change / known[0]
        evidence.append(
            f"the old program's regularization loss is {show(known[0])}: the new one's is "
            + (f"{show(share)} of it" if abs(share) > 1e-2 else "zero")
        )
        if close(share, 2, 1e-2):
            what = "the weights' penalty is twice what it was"
        elif abs(share) < 1e-2:
            what = "the weights' penalty is lost"
    yield Diagnosis(
        "regularization",
        what,
        LIKELY,
        4,
        evidence,
        "tf.nn.l2_loss and contrib's l2_regularizer(s) are s/2 * sum(w^2), keras.regularizers."
        "L2(s) is s * sum(w^2): half the number; in a custom loop, add model.losses",
    )


CAUSES = {4: [not_a_number, entropy, regularization, reduction]}
