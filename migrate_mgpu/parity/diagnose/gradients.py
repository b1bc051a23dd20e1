"""Rung 5: the same loss, other gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis
from migrate_mgpu.parity.diagnose.evidence import Evidence, Pair, close, factor, same, show
from migrate_mgpu.parity.diagnose.loss import decay


def _norm(arrays: list[object]) -> float:
    import numpy

    return math.sqrt(sum(float((numpy.asarray(a) ** 2).sum()) for a in arrays))


def _chosen(value: float) -> bool:
    """Whether it looks like a number that someone chose: two digits say all of it."""
    return value > 0 and close(value, float(f"{value:.1e}"), 2e-6)


def _clipping(evidence: list[str], limit: float) -> Diagnosis:
    return Diagnosis(
        "clipping",
        "gradient clipping changed",
        LIKELY,
        5,
        evidence,
        f"clip as the old program does, at {show(limit)}, after the gradients of all replicas "
        "are summed; Keras: global_clipnorm is clip_by_global_norm, clipnorm is per variable",
    )


def clipping(e: Evidence) -> Iterator[Diagnosis]:
    import numpy

    gradients = e.pairs("gradient")
    if not gradients:
        return
    one, other = _norm([p.before for p in gradients]), _norm([p.after for p in gradients])
    if not one or not other:
        return
    ratio = other / one
    together = all(same(p.after, ratio * p.before, 1e-4) for p in gradients)
    norms = f"the global norm of the gradients is {show(other)}, it was {show(one)}"
    if together and _chosen(one) and other > one:
        text = "all gradients point where they did" + "; both norms are limits" * _chosen(other)
        yield _clipping([norms, text], one)
    elif together and _chosen(other) and other < one:
        text = "all gradients point where they did; the new norm is a limit"
        yield _clipping([norms, text], one)
    elif _chosen(one):
        each = [_norm([p.after]) for p in gradients]
        if all(n <= one * (1 + 1e-5) for n in each) and any(close(n, one, 1e-5) for n in each):
            text = f"the new program's variables have norms of {', '.join(map(show, each))}"
            yield _clipping([norms, f"{text}: each is clipped by itself"], one)
    largest = max(float(numpy.abs(p.before).max()) for p in gradients)
    limit = max(float(numpy.abs(p.after).max()) for p in gradients)
    if _chosen(largest) and limit > largest:
        if all(same(p.before, numpy.clip(p.after, -largest, largest)) for p in gradients):
            text = f"no element was beyond {show(largest)}; now the largest is {show(limit)}"
            yield _clipping([text, "clipped at that, the new gradients are the old ones"], largest)
    elif _chosen(limit) and limit < largest:
        if all(same(p.after, numpy.clip(p.before, -limit, limit)) for p in gradients):
            text = f"no element is beyond {show(limit)}; the largest was {show(largest)}"
            yield _clipping([text, "clipped at that, the old gradients are the new ones"], largest)


def _turned(gradients: list[Pair]) -> bool:
    return all(same(p.after, -p.before) for p in gradients)


def scale(e: Evidence) -> Iterator[Diagnosis]:
    gradients = [p for p in e.pairs("gradient") if (p.before != 0).any()]
    one, other = _norm([p.before for p in gradients]), _norm([p.after for p in gradients])
    if not one or not other or (close(one, other) and not _turned(gradients)):
        return
    if (_chosen(one) or _chosen(other)) and not _turned(gradients):
        return  # clipping's
    along = sum(float((p.before * p.after).sum()) for p in gradients)
    ratio = math.copysign(other / one, along)
    if not all(same(p.after, ratio * p.before) for p in gradients):
        return
    meaning = "their sign is turned" if close(ratio, -1) else factor(ratio, e.replicas)
    yield Diagnosis(
        "gradient-scale",
        "all gradients are scaled by a factor",
        LIKELY if meaning else POSSIBLE,
        5,
        [
            f"the gradients of all {len(gradients)} variables are {show(ratio)} times what they "
            "were" + f"; {meaning}" * bool(meaning),
            *([] if e.by_norm else ["the first loss is the same"]),
        ],
        "towers average gradients; under a strategy apply_gradients sums them over replicas, so "
        "the loss, and nothing else, is divided by the number of replicas",
    )


def stopped(e: Evidence) -> Iterator[Diagnosis]:
    """Some variables get no gradient any more, the others the same as before."""
    gradients = [p for p in e.pairs("gradient") if (p.before != 0).any()]
    none = [p.name for p in gradients if not (p.after != 0).any()]
    others = [p for p in gradients if p.name not in none]
    if none and others and all(same(p.before, p.after) for p in others):
        yield Diagnosis(
            "gradient-stopped",
            "a gradient is missing",
            LIKELY,
            5,
            [
                f"the gradient of {', '.join(none[:6])} is zero, it was not",
                f"those of the other {len(others)} variables are the same",
            ],
            "look for stop_gradient, for NumPy in the forward pass, and for gradients that are "
            "dropped before apply_gradients",
        )


def mirrored_regularization(e: Evidence) -> Iterator[Diagnosis]:
    """TF1's own defect: under MirroredStrategy one replica alone sends its penalty's gradient."""
    found = decay(e)
    known = list((e.before.get("declares") or {}).get("regularization", {}).values())
    if found is None or not known or not known[0] or e.replicas < 2:
        return
    weights = {p.name: p.before for p in e.pairs("initial")}
    multiples = {n: m for n, m in found[0].items() if m}
    squares = sum(float((weights[n] ** 2).sum()) for n in multiples)
    declared = 2 * known[0] / squares
    lost = sum(multiples.values()) / len(multiples)
    part = lost / declared
    if not close(part, 1 - 1 / e.replicas, 2e-2):
        return
    yield Diagnosis(
        "mirrored-regularization",
        "TF1 itself regularizes too little under MirroredStrategy",
        LIKELY,
        5,
        [
            f"the gradients differ by {show(lost)} times the weights and nothing else; the loss "
            "is the same",
            f"the old program's penalty of {show(known[0])} should have given "
            f"{show(declared)}: all but one of {e.replicas} replicas sent none",
        ],
        f"nothing, if what was declared is wanted; 1/{e.replicas} of the regularizer's scale for "
        "what TF1 really did",
    )


CAUSES = {5: [clipping, scale, stopped, mirrored_regularization]}
