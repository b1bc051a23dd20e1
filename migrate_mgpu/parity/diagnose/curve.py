"""Rung 7: the first step is the same, later losses are not."""

from __future__ import annotations

from collections.abc import Iterator

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis, optimizers
from migrate_mgpu.parity.diagnose.evidence import Evidence, close, factor, show
from migrate_mgpu.parity.diagnose.update import ADVICE, Steps, as_it_began, same_value, show_value

NOISE = 1e-3  # relative: more than rounding grows to in a training that is stable


def step_count(e: Evidence) -> Iterator[Diagnosis]:
    one, other = e.losses()
    shared = min(len(one), len(other))
    bad = [e.broken[0].first_bad] if e.broken else []
    if len(one) == len(other) or not shared or (bad and bad[0] and bad[0] <= shared):
        return
    evidence = [
        f"{len(one)} steps became {len(other)}; the losses of the first {shared} are the same"
    ]
    ratio = len(other) / len(one)
    meaning = factor(ratio, e.replicas)
    if meaning:
        evidence.append(f"that is {show(ratio)} times as many: {meaning}")
    yield Diagnosis(
        "step-count",
        "the number of training steps changed",
        LIKELY,
        7,
        evidence,
        "steps=, max_steps= and StopAtStepHook count updates: steps_per_epoch times epochs must "
        "be as many, whatever the number of replicas",
    )


def gathered(e: Evidence) -> Iterator[Diagnosis]:
    """Steps that are given gradients, which others have gathered."""
    bad = next((o.first_bad for o in e.broken if o.first_bad), None)
    if e.by_norm and bad is not None and bad > 1:
        one, other = (norms[bad - 1] if bad <= len(norms) else None for norms in e.losses())
        if one is None or other is None:
            return
        yield Diagnosis(
            "gathered-gradients",
            "the gradients that are gathered changed",
            POSSIBLE,
            7,
            [
                f"step {bad} is given gradients whose norm is {show(other)}, it was {show(one)}",
                "those of the steps before are the same",
            ],
            "the sums begin at zero again after each step, and each batch is added to them once",
        )


def schedule(e: Evidence) -> Iterator[Diagnosis]:
    before, after = e.rates()
    both = list(zip(before, after))
    at = next((k for k, (a, b) in enumerate(both) if not close(a, b, 1e-5)), None)
    bad = [o.first_bad for o in e.broken if o.first_bad]
    if at is None:
        return
    a, b = both[at]
    evidence = [f"step {at + 1} has a learning rate of {show(b)}, it had {show(a)}"]
    title = "the learning rate schedule changed"
    for shift, words in ((1, "next"), (-1, "previous")):
        pairs = list(zip(before[1:], after)) if shift == 1 else list(zip(before, after[1:]))
        varies = any(not close(x, y, 1e-5) for x, y in zip(before, before[1:]))
        if varies and len(pairs) > 2 and all(close(x, y, 1e-5) for x, y in pairs):
            title = "the learning rate's schedule is off by one step"
            evidence.append(f"each step has the rate that the old program's {words} step has")
    if len({round(x, 12) for x in after}) == 1 and len(set(before)) > 1:
        title = "the learning rate stays as it begins"
        evidence.append("the new program's rate is the same in all steps, the old one's is not")
    # The loss of step k + 1 is the first that an update of step k can change.
    # Without a recorded rate for each step, a callback may have changed it.
    sure = e.rates_are_seen and (not bad or min(bad) > at + 1)
    if sure and bad:
        evidence.append(f"the losses are the same up to step {min(bad) - 1}")
    yield Diagnosis(
        "schedule",
        title,
        LIKELY if sure else POSSIBLE,
        7,
        evidence,
        "compare decay_steps, staircase and boundaries; Keras calls a schedule with "
        "optimizer.iterations, TF1 with global_step as it is before the step, and boundaries "
        "are inclusive in both",
    )


def hyperparameters(e: Evidence) -> Iterator[Diagnosis]:
    """Values that the first step does not show."""
    one, other = (optimizers.read(t, n) for t, n in zip((e.before, e.after), e.series))
    if one is None or other is None or one.family != other.family or one.family is None:
        return
    steps = Steps(e)
    other = as_it_began(other, steps)
    different = [
        n
        for n in one.values
        if n in ADVICE and n in other.values and not same_value(one.values[n], other.values[n])
    ]
    bad = min((o.first_bad for o in e.broken if o.first_bad), default=None)
    if "epsilon" in different and len(different) > 1:
        different.remove("epsilon")  # the first step has shown that it does not matter here
    for name in different:
        cause, title, advice = ADVICE[name]
        evidence = [
            f"{title} is {show_value(other.values[name])}, it was {show_value(one.values[name])}"
        ]
        first = steps.error(one.having(**{name: other.values[name]}), True)
        if first is not None and first < 1e-3:
            evidence.append("the first step of both is the same, as this value makes it")
        sure = len(different) == 1 and (bad is None or bad >= 3) and name != "epsilon"
        if sure and bad:
            evidence.append(f"the losses are the same up to step {bad - 1}")
        likelihood = LIKELY if sure else POSSIBLE
        yield Diagnosis(cause, f"{title} changed", likelihood, 7, evidence, advice)


def noise(e: Evidence) -> Iterator[Diagnosis]:
    """A difference that begins as rounding and grows."""
    one, other = e.losses()
    if len(one) != len(other) or not one:
        return
    relative = [abs(a - b) / abs(a) if a else 0.0 for a, b in zip(one, other)]
    bad = next((o.first_bad for o in e.broken if o.first_bad), None)
    begin = max(relative[:3])
    if bad is None or bad < 10 or begin > 1e-6 or max(relative) > NOISE:
        return
    # Grown little by little: no step made more than a tenth of it at once.
    jump = max(b / a if a > 1e-8 else 0.0 for a, b in zip(relative, relative[1:]))
    if jump > 10:
        return
    yield Diagnosis(
        "rounding",
        "rounding that has grown",
        POSSIBLE,
        7,
        [
            f"the first losses differ by {show(begin)}, relative; the largest difference is "
            f"{show(max(relative))}, and it grew by degrees"
        ],
        "compare fewer steps, or allow it with --rtol; a smaller learning rate grows less",
    )


CAUSES = {7: [step_count, schedule, hyperparameters, noise]}
OTHERWISE = {7: [gathered]}
