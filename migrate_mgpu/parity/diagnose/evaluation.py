"""Rung 9: the same training, other results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate_mgpu.parity.compare import checkpoints
from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis, network
from migrate_mgpu.parity.diagnose.batches import distinct, same_examples
from migrate_mgpu.parity.diagnose.evidence import ROWS, Evidence

if TYPE_CHECKING:
    from migrate_mgpu.parity.diagnose.evidence import Array


def evaluation_data(e: Evidence) -> Iterator[Diagnosis]:
    """Which examples were evaluated: seen where those of the training could be compared."""
    import numpy

    if not any(name.startswith("evaluate") or name == "printed" for name in e.broken_names()):
        return
    before, after = _evaluated(e, False), _evaluated(e, True)
    chosen = [
        (a, b) for m, a in before.items() for n, b in after.items() if distinct(a) and distinct(b)
    ]
    if not chosen or same_examples(e) is not True:
        return
    one, other = max(chosen, key=lambda pair: _shared(pair[1], pair[0]))
    share = _shared(other, one)
    if len(one) == len(other) and share == 1.0:
        return
    evidence = [f"{len(one)} examples were evaluated, now {len(other)}"]
    evidence.append(f"{round(share * len(other))} of them are among the old ones")
    title = "the evaluated examples changed"
    trained = [rows for k in range(8) for rows in e.rows(True, k).values() if distinct(rows)]
    if trained:
        pool = numpy.concatenate(trained)
        again = _shared(other[: len(pool)], pool)
        if again > 0.9 and _shared(one[: len(pool)], pool) < 0.1:
            title = "the training examples are evaluated"
            evidence.append("the first of them are those of the first training steps")
    if share == 1.0:
        title = "fewer examples are evaluated" if len(other) < len(one) else title
    yield Diagnosis(
        "evaluation-data",
        title,
        LIKELY,
        9,
        evidence,
        "give evaluate the old data; without steps both evaluate all of it",
    )


def evaluations(e: Evidence) -> Iterator[Diagnosis]:
    """How often a model was evaluated."""
    outputs = [*e.before.get("outputs", ()), *e.after.get("outputs", ())]
    if any(name.startswith("val_") for one in outputs for name in one["arrays"]):
        return  # fit evaluates too
    before, after = (
        sum(one["kind"] == "evaluate" for one in side.get("outputs", ()))
        for side in (e.before, e.after)
    )
    if "evaluate" not in e.broken_names() or not before or not after or before == after:
        return
    fewer = "less" if after < before else "more"
    yield Diagnosis(
        "evaluations",
        f"the model is evaluated {fewer} often",
        LIKELY,
        9,
        [f"{before} evaluations became {after}"],
        "train_and_evaluate of TF1 evaluates after checkpoints, at least throttle_secs apart, and "
        "at the end: evaluate as often, or accept it",
    )


def _evaluated(e: Evidence, after: bool) -> dict[str, Array]:
    import numpy

    parts: dict[str, list[Array]] = {}
    for step in range(64):
        for name, values in e.rows(after, step, "evaluated").items():
            parts.setdefault(name, []).append(values)
    return {name: numpy.concatenate(values) for name, values in parts.items()}


def _shared(values: Array, pool: Array) -> float:
    """The part of the values that the pool has."""
    import numpy

    if not len(values):
        return 0.0
    near = numpy.isclose(values[:, None], pool[None], rtol=ROWS, atol=1e-9)
    return float(near.any(axis=1).mean())


def layers(e: Evidence) -> Iterator[Diagnosis]:
    """Layers that are not the same in evaluation."""
    yield from network.dropout(e, "evaluation")
    moves = ("momentum",) if e.losses()[0] else ()  # averages that nothing moves have none
    yield from network.batch_norm(e, ("mode", *moves, "epsilon"))


def saved(e: Evidence) -> Iterator[Diagnosis]:
    """What is in the files of savers."""
    for output in e.broken:
        if output.name == checkpoints.NAME:
            yield Diagnosis(
                "checkpoints",
                "the savers save other variables, or by other names",
                LIKELY,
                9,
                [output.detail],
                "save the same variables by TF1's names, or convert old files: "
                "migrate-mgpu checkpoint",
            )
            return


def printed(e: Evidence) -> Iterator[Diagnosis]:
    if [output.name for output in e.broken] != ["printed"]:
        return
    compared = [o for o in e.rung.outputs if o.name != "printed" and o.status == "equal"]
    yield Diagnosis(
        "printed",
        "only printed lines differ",
        LIKELY if compared or e.before.get("declared") else POSSIBLE,
        9,
        [e.broken[0].detail, "training and recorded results are the same"],
        "print as the old program does, or accept it",
    )


CAUSES = {9: [saved, evaluations, evaluation_data, layers]}
OTHERWISE = {9: [printed]}
