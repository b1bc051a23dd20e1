"""Rung 4 and 9, when the same examples give other outputs: the layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis
from migrate_mgpu.parity.diagnose.batches import same_examples
from migrate_mgpu.parity.diagnose.evidence import Evidence, close, same, show

LOW_PRECISION = 4e-3  # relative: half a unit in the last place of bfloat16


_DROPOUT = (
    "Keras' rate is what is dropped, TF1's keep_prob what is kept; layers drop only with "
    "training=True"
)


def same_outputs(e: Evidence) -> bool | None:
    """Whether the first batch's logits are the same; None when they were not recorded."""
    one, other = e.entropy(False), e.entropy(True)
    if one is None or other is None or one[0].shape != other[0].shape:
        return None
    return same(one[0], other[0])


def dropout(e: Evidence, when: str = "training") -> Iterator[Diagnosis]:
    before, after = _dropouts(e, False, when), _dropouts(e, True, when)
    if before is None and after == [] and not e.declared(True, "dropout", when):
        text = f"the old program has dropout in {when}, the new one has none; its rate is not known"
        yield Diagnosis(
            "dropout", f"dropout in {when} is gone", POSSIBLE, e.rung.number, [text], _DROPOUT
        )
    if before is None or after is None or _equal(before, after):
        return
    evidence = [f"dropout in {when}: {_rates(after)}; it was {_rates(before)}"]
    if before and after and close(before[0], 1 - after[0], 1e-3):
        evidence.append("that is one minus the old rate")
    yield Diagnosis(
        "dropout",
        f"dropout in {when} changed",
        LIKELY,
        e.rung.number,
        evidence,
        _DROPOUT,
    )


def _dropouts(e: Evidence, after: bool, when: str) -> list[float] | None:
    """The rates that drop something; None when one is not known."""
    rates = [entry["rate"] for entry in e.declared(after, "dropout", when)]
    if None in rates:
        return None
    return sorted({rate for rate in rates if rate > 1e-9})


def _equal(one: list[float], other: list[float]) -> bool:
    return len(one) == len(other) and all(abs(a - b) < 1e-6 for a, b in zip(one, other))


def _rates(rates: list[float]) -> str:
    return ", ".join(show(rate) for rate in rates) or "none"


def batch_norm(e: Evidence, names: tuple[str, ...] = ("mode", "epsilon")) -> Iterator[Diagnosis]:
    when = "evaluation" if e.rung.number == 9 else "training"
    before, after = _norms(e, False, when), _norms(e, True, when)
    if not before or not after:
        return
    for name in names:
        one, other = {n[name] for n in before}, {n[name] for n in after}
        if len(one) == len(other) == 1 and None not in one | other and one != other:
            (a,), (b,) = one, other
            if isinstance(a, float) and close(a, b, 1e-6):
                continue
            yield Diagnosis(
                "batch-norm",
                f"batch normalization's {name} changed",
                LIKELY,
                e.rung.number,
                [f"batch normalization's {name} in {when} is {b}, it was {a}"],
                "training=True in the step, False in evaluation; momentum and epsilon as TF1 had "
                "them (0.99 and 0.001 for tf.layers, 0.999 for contrib's)",
            )


def _norms(e: Evidence, after: bool, when: str) -> list[dict[str, Any]]:
    return [n for n in e.declared(after, "batch_norm", when) if n["mode"] is not None]


def precision(e: Evidence) -> Iterator[Diagnosis]:
    """Everything is nearly the same, and nothing is: fewer digits."""
    import numpy

    losses, gradients = e.first_losses(), e.pairs("gradient")
    if losses is None or not losses[0] or not gradients or same_examples(e) is False:
        return
    off = abs(losses[1] / losses[0] - 1)
    worst = 0.0
    for p in gradients:
        size = float(numpy.abs(p.before).max())
        worst = max(worst, float(numpy.abs(p.after - p.before).max()) / size if size else 0.0)
    if off > LOW_PRECISION or not off < worst < 10 * LOW_PRECISION:
        return
    yield Diagnosis(
        "precision",
        "the numerical precision changed",
        POSSIBLE,
        4,
        [
            f"the first loss differs by {show(off)}, relative, and the gradients by up to "
            f"{show(worst)}: as much as with numbers of 8 to 11 bits"
        ],
        "look for float16, bfloat16 and mixed precision policies, and for TF32 where it was "
        "switched on again",
    )


def layers(e: Evidence) -> Iterator[Diagnosis]:
    """Nothing else: the same examples and first values, but other outputs."""
    if same_examples(e) is not True:
        return
    outputs = same_outputs(e)
    if outputs is True:
        return
    evidence = ["the first batch has the same examples, and variables their first values"]
    if outputs is False:
        evidence.append("the network's outputs for it differ")
    yield Diagnosis(
        "model",
        "the network computes something different",
        LIKELY if outputs is False else POSSIBLE,
        4,
        evidence,
        "compare layer by layer: activations, padding, pooling, scaling of the input, the order "
        "of dimensions" + (", and the loss" * (outputs is None)),
    )


def _forward(e: Evidence) -> Iterator[Diagnosis]:
    """Layers that declare something else, where outputs are not known to be the same."""
    if same_outputs(e) is not True and same_examples(e) is not False:
        yield from dropout(e)
        yield from batch_norm(e)


CAUSES = {4: [_forward]}
OTHERWISE = {4: [precision, layers]}
