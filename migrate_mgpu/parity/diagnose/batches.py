"""Rung 3, and what the batches of all rungs hold: their size, order, scale and labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis
from migrate_mgpu.parity.diagnose.evidence import CLOSE, ROWS, Evidence, factor, show

if TYPE_CHECKING:
    from migrate_mgpu.parity.diagnose.evidence import Array

STEPS = 8  # that rows are recorded of


def size(e: Evidence) -> Iterator[Diagnosis]:
    for output in e.broken:
        words = output.detail.split()  # "16 became 8"
        if len(words) != 3 or not (words[0].isdigit() and words[2].isdigit()):
            continue
        before, after = int(words[0]), int(words[2])
        if output.first_bad and output.first_bad > 1:
            yield Diagnosis(
                "batch-remainder",
                "the size of a later batch changed",
                LIKELY,
                3,
                [f"step {output.first_bad} has {after} examples, it had {before}"],
                "drop_remainder=True, or repeat() before batch(), as the old program has it",
            )
            return
        ratio = after / before
        meaning = factor(ratio, e.replicas) if e.replicas > 1 else None
        evidence = [f"{before} examples a step became {after}, {show(ratio)} times as many"]
        advice = "make the global batch as large as it was"
        if meaning and "replicas" in meaning:
            evidence.append(f"that is {meaning}")
            advice = (
                "an Estimator's input_fn gives each replica's batch, Keras and "
                "experimental_distribute_dataset split the global one: multiply by "
                "strategy.num_replicas_in_sync exactly once"
            )
        yield Diagnosis("batch-size", "the batch size changed", LIKELY, 3, evidence, advice)


# What a batch holds -----------------------------------------------------------------------


def distinct(values: Array) -> bool:
    """Whether examples can be told apart by this: labels, which are few, cannot."""
    return len(set(values.round(6).tolist())) * 2 > len(values)


def match(one: Array, other: Array) -> bool:
    """Whether two batches hold the same examples, in any order."""
    import numpy

    if one.shape != other.shape or not distinct(one):
        return False
    return bool(numpy.allclose(numpy.sort(one), numpy.sort(other), rtol=ROWS, atol=1e-9))


def common(e: Evidence, step: int, other_step: int | None = None) -> list[tuple[str, str]]:
    """The tensors of both sides' batches that hold the same examples."""
    before = e.rows(False, step)
    after = e.rows(True, step if other_step is None else other_step)
    return [(m, n) for m, a in before.items() for n, b in after.items() if match(a, b)]


def same_examples(e: Evidence, step: int = 0) -> bool | None:
    """Whether a step has the same examples on both sides; None when it cannot be seen."""
    after = e.rows(True, step)
    if not e.rows(False, step) or not after:
        return None
    found = common(e, step)
    if "model" in after:
        # With the same targets, the inputs may have been scaled or encoded elsewhere.
        return any(n == "model" for _, n in found) or (None if found else False)
    return bool(found)


def order(e: Evidence) -> Iterator[Diagnosis]:
    """The same examples come at other steps, or other examples come."""
    for step in range(STEPS):
        if not e.rows(False, step) or not e.rows(True, step):
            return
        if common(e, step):
            continue
        bad = [o.first_bad for o in e.broken if o.first_bad]
        if (e.rung.number == 4 and step) or (bad and step + 1 > min(bad)):
            return  # the loss differs before the examples do
        yield from _moved(e, step)
        return


def _moved(e: Evidence, step: int) -> Iterator[Diagnosis]:
    import numpy

    advice = (
        "look at shuffle, skip, repeat and the order of map, batch and repeat; a program that "
        "shuffles with NumPy must draw the same numbers"
    )
    for other in range(STEPS):
        if other != step and common(e, other, step):
            yield Diagnosis(
                "data-order",
                "the order of the examples changed",
                LIKELY,
                e.rung.number,
                [f"step {step + 1} has the examples of the old program's step {other + 1}"],
                advice,
            )
            return
    scaled = _scale(e, step)
    if scaled:
        yield scaled
        return
    if _has_its_own(e, step):
        return
    known = [e.rows(False, k) for k in range(STEPS)]
    best, count, named = 0.0, 0, ""
    for name, values in e.rows(True, step).items():
        for tensor in {n for rows in known for n in rows}:
            pool = numpy.concatenate([rows[tensor] for rows in known if tensor in rows])
            if distinct(pool):
                seen = numpy.isclose(values[:, None], pool[None], rtol=ROWS, atol=1e-9)
                if len(values) and float(seen.any(axis=1).mean()) >= best:
                    best, count = float(seen.any(axis=1).mean()), len(values)
                    named = name
    if not count:
        return
    found = round(best * count)
    text = f"of the {count} examples of step {step + 1} the first {STEPS} steps of the old program"
    if best > 0.5:
        title, cause = "the order of the examples changed", "data-order"
        yield Diagnosis(cause, title, LIKELY, e.rung.number, [f"{text} have {found}"], advice)
    elif best < 0.2:
        # A model may get its input scaled or encoded, the old one as it was read.
        sure = LIKELY if named != "model" or _labels_differ(e) else POSSIBLE
        yield Diagnosis(
            "other-data",
            "the training examples changed",
            sure,
            e.rung.number,
            [f"{text} have {found or 'none'}"],
            "look at files, seeds, splits and preprocessing",
        )


def _has_its_own(e: Evidence, step: int) -> bool:
    """Whether a step's examples are the old program's of that step, each as often as may be.

    Replicas that all get one batch hold each example several times, as few labels do: those
    are whole numbers.
    """
    import numpy

    kept = [numpy.unique(values.round(6)) for values in e.rows(False, step).values()]
    for values in e.rows(True, step).values():
        own = numpy.unique(values.round(6))
        told_apart = len(own) > 2 and (own % 1).any()
        if told_apart and any(
            one.shape == own.shape and numpy.allclose(one, own, rtol=ROWS, atol=1e-6)
            for one in kept
        ):
            return True
    return False


def _scale(e: Evidence, step: int) -> Diagnosis | None:
    import numpy

    for a in e.rows(False, step).values():
        for b in e.rows(True, step).values():
            if a.shape != b.shape or not numpy.abs(a).max() or a.std() == 0:
                continue
            ratio = float((a * b).sum() / (a * a).sum())
            if ratio and numpy.allclose(b, ratio * a, rtol=CLOSE, atol=CLOSE * abs(b).max()):
                return Diagnosis(
                    "input-scale",
                    "the input is scaled",
                    POSSIBLE,
                    e.rung.number,
                    [
                        f"each example's sum is {show(ratio)} times what it was"
                        + f" (1 / {show(1 / ratio)})" * (abs(ratio) < 1)
                    ],
                    "scale the input once: either in the data or in the model",
                )
    return None


def _labels_differ(e: Evidence) -> bool:
    one, other = e.entropy(False), e.entropy(True)
    return bool(one and other and one[1].shape == other[1].shape and (one[1] != other[1]).any())


def input_scale(e: Evidence) -> Iterator[Diagnosis]:
    """Labels are the same, the inputs are a multiple of what they were."""
    rows = e.rows(True, 0)
    if "model" in rows and common(e, 0) and not any(n == "model" for _, n in common(e, 0)):
        found = _scale(e, 0)
        if found:
            yield found


def targets(e: Evidence) -> Iterator[Diagnosis]:
    """The inputs are the same, one other tensor of the batch is a multiple of what it was."""
    found = common(e, 0)
    if same_examples(e) is not True:
        return
    known = {m for m, _ in found}, {n for _, n in found}
    before = {m: a for m, a in e.rows(False, 0).items() if m not in known[0] and distinct(a)}
    after = {n: b for n, b in e.rows(True, 0).items() if n not in known[1] and distinct(b)}
    if len(before) != 1 or len(after) != 1:
        return
    (a,), (b,) = before.values(), after.values()
    ratio = float((a * b).sum() / (a * a).sum()) if a.any() and a.shape == b.shape else 0.0
    if ratio and abs(b - ratio * a).max() <= CLOSE * abs(b).max():
        text = f"the other tensor of the batch is {show(ratio)} times what it was"
        yield Diagnosis(
            "labels",
            "the targets are scaled",
            LIKELY,
            4,
            ["the inputs of the first batch are the same", text],
            "scale the targets as the old program does",
        )


def set_order(e: Evidence) -> Iterator[Diagnosis]:
    """The program walks through a set, and no batch is seen to be the same."""
    places = (e.reference.trace or {}).get("unordered") or []
    if not places or same_examples(e):
        return
    yield Diagnosis(
        "set-order",
        "a set has another order",
        POSSIBLE,
        e.rung.number,
        [f"{file}, line {line}, walks through a set" for file, line in places],
        "sorted(set(...)) in both programs, to compare them",
    )


CAUSES = {3: [size], 4: [order, input_scale, targets, set_order], 7: [order]}
