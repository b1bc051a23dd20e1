"""Rung 6: the same gradients, other weights after the first step. The optimizer.

The first step is computed again, with the recorded gradients and what each side declares;
a hyperparameter is the cause when the reference's optimizer with this one value of the
target moves the weights as the target did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis, optimizers
from migrate_mgpu.parity.diagnose.evidence import Evidence, close, factor, show

if TYPE_CHECKING:
    from migrate_mgpu.parity.diagnose.optimizers import Optimizer

# hyperparameter: cause, what it is called, what to change
ADVICE = {
    "learning_rate": ("learning-rate", "the learning rate", "give the optimizer the old rate"),
    "momentum": (
        "momentum",
        "the momentum",
        "SGD(rate, momentum=...), as MomentumOptimizer had it",
    ),
    "nesterov": ("momentum", "nesterov", "nesterov as MomentumOptimizer's use_nesterov"),
    "epsilon": (
        "epsilon",
        "epsilon",
        "state TF1's: 1e-8 for Adam and Adadelta, 1e-10 for RMSProp, 0 for Adagrad; Keras' "
        "default is 1e-7",
    ),
    "beta_1": ("beta", "beta_1", "give the optimizer the old beta1"),
    "beta_2": ("beta", "beta_2", "give the optimizer the old beta2"),
    "rho": ("decay", "rho", "Keras' rho is RMSProp's decay and Adadelta's rho in TF1"),
    "centered": ("centered", "centered", "centered as it was"),
    "amsgrad": ("amsgrad", "amsgrad", "TF1's Adam has no amsgrad"),
    "initial_accumulator_value": (
        "initial-slot",
        "the slots' initial value",
        "give the optimizer the old initial_accumulator_value (0.1 unless it was said)",
    ),
    "initial_square": (
        "initial-slot",
        "the slots' initial value",
        "TF1's RMSProp begins with a mean square of one: after optimizer.build(variables), assign "
        "ones to its velocities",
    ),
    "weight_decay": ("weight-decay", "weight_decay", "TF1's optimizers of this name have none"),
    "clipnorm": ("clipping", "clipnorm", "clip as the old program does"),
    "clipvalue": ("clipping", "clipvalue", "clip as the old program does"),
    "global_clipnorm": ("clipping", "global_clipnorm", "clip as the old program does"),
    "use_ema": ("averages", "use_ema", "keep averages only where the old program has them"),
    "l1": ("regularization", "l1", "give the optimizer the old strengths"),
    "l2": ("regularization", "l2", "give the optimizer the old strengths"),
    "learning_rate_power": ("learning-rate", "learning_rate_power", "give it the old power"),
}


class Steps:
    """The first step of both sides, and how well an optimizer explains one."""

    def __init__(self, e: Evidence) -> None:
        self.steps = [
            (g.before, g.after, a, b) for g, a, b in e.steps() if g.before.size and a.any()
        ]
        self.weights = {p.name: p for p in e.pairs("initial")}
        import numpy

        self.largest = max(
            (float(numpy.abs(p.before).max()) for p in e.pairs("initial")), default=0
        )

    def error(self, optimizer: Optimizer, after: bool, times: int = 1) -> float | None:
        """The largest error of the step that it predicts, relative to the step's size."""
        import numpy

        worst = 0.0
        for g_before, g_after, a, b in self.steps:
            moved = b if after else a
            predicted = optimizers.move(optimizer, g_after if after else g_before, times)
            if predicted is None or not self.steps:
                return None
            both = numpy.isnan(predicted) == numpy.isnan(moved)
            if not both.all():
                return float("inf")
            known = ~numpy.isnan(moved)
            if not known.any():
                continue
            size = float(numpy.abs(moved[known]).max())
            # A weight is kept with 24 bits: small steps of large weights are known roughly.
            rounding = 2e-7 * self.largest
            error = float(numpy.abs(predicted - moved)[known].max())
            worst = max(worst, max(0.0, error - rounding) / size if size else 0.0)
        return worst if self.steps else None

    def shown(self) -> tuple[float, float]:
        """The largest movement of a weight, on both sides."""
        import numpy

        one = max(float(numpy.nanmax(numpy.abs(a))) for _, _, a, _ in self.steps)
        after = [numpy.abs(b[~numpy.isnan(b)]) for _, _, _, b in self.steps]
        return one, max((float(b.max()) for b in after if b.size), default=float("nan"))


EXPLAINED = 2e-4  # an error of the predicted step, relative to its size


def update(e: Evidence) -> Iterator[Diagnosis]:
    one, other = (optimizers.read(t, n) for t, n in zip((e.before, e.after), e.series))
    steps = Steps(e)
    if not steps.steps:
        return
    still = not any(b.any() for _, _, _, b in steps.steps)
    if still and (other is None or other.values.get("learning_rate") != 0):
        before, _ = steps.shown()
        yield Diagnosis(
            "not-applied",
            "gradients are not applied",
            LIKELY,
            6,
            [f"no weight moves in the first step; the largest step was {show(before)}"],
            "apply_gradients once a step, with the variables of this optimizer",
        )
        return
    if one is not None and other is not None:
        other = as_it_began(other, steps)
        found = list(_declared(e, one, other, steps))
        if found:
            yield from found
            return
    yield from _ratio(e, steps)


def as_it_began(optimizer: Optimizer, steps: Steps) -> Optimizer:
    """RMSProp's slots may have been set by the program: what its first step says of them."""
    if optimizer.family != "rmsprop":
        return optimizer
    tried = [optimizer, *(optimizer.having(initial_square=v) for v in (0.0, 1.0))]
    errors = [(steps.error(o, True), i) for i, o in enumerate(tried)]
    known = [(error, i) for error, i in errors if error is not None]
    return tried[min(known)[1]] if known else optimizer


def _declared(e: Evidence, one: Optimizer, other: Optimizer, steps: Steps) -> Iterator[Diagnosis]:
    explained = steps.error(one, False), steps.error(other, True)
    before, after = steps.shown()
    moved = f"the largest step of a weight is {show(after)}, it was {show(before)}"
    if one.family != other.family or one.family is None:
        sure = all(error is not None and error < EXPLAINED for error in explained)
        text = f"{one.name} became {other.name}"
        evidence = [text, moved]
        if sure:
            evidence.append("each side's first step is what its optimizer makes of the gradients")
        if one.name != other.name.replace("Optimizer", ""):
            yield Diagnosis(
                "optimizer",
                "the optimizer changed",
                LIKELY if sure else POSSIBLE,
                6,
                evidence,
                "take Keras' optimizer of the same method, with TF1's hyperparameters",
            )
        return
    different = [
        n
        for n in one.values
        if n in other.values and not same_value(one.values[n], other.values[n])
    ]
    for name in different:
        error = steps.error(one.having(**{name: other.values[name]}), True)
        plain = steps.error(one, True)
        if error is None or error > EXPLAINED or plain is None or plain <= error * 3:
            continue
        yield _value(e, name, one, other, moved, True)
        return
    if not different:
        twice = steps.error(one, True, times=2)
        if twice is not None and twice < EXPLAINED:
            yield Diagnosis(
                "applied-twice",
                "gradients are applied twice",
                LIKELY,
                6,
                [
                    "two steps of the old optimizer with the first gradients end where the new "
                    "program is after one",
                    moved,
                ],
                "apply_gradients once a step, by one replica's code or the other, not both",
            )
        return
    for name in different:
        if name in ADVICE:
            yield _value(e, name, one, other, moved, False)


def _value(
    e: Evidence, name: str, one: Optimizer, other: Optimizer, moved: str, explains: bool
) -> Diagnosis:
    cause, title, advice = ADVICE.get(name, (name, name, "give the optimizer the old value"))
    a, b = one.values[name], other.values[name]
    evidence = [f"{title} is {show_value(b)}, it was {show_value(a)}", moved]
    if name == "learning_rate":
        meaning = factor(b / a, e.replicas) if a else None
        if meaning and e.replicas > 1:
            evidence[0] += f": times {meaning}"
        before, after = e.rates()
        if cause == "learning-rate" and _shifted(before, after):
            cause, title = "schedule", "the schedule's step"
            advice = "the first step's rate is that of step 0: set optimizer.iterations accordingly"
            evidence.append("each step has the rate that the old program's next step has")
    if explains:
        evidence.append(
            "the old optimizer with this one value makes the new program's first step of the "
            "recorded gradients"
        )
    title = f"{title} changed"
    return Diagnosis(cause, title, LIKELY if explains else POSSIBLE, 6, evidence, advice)


def _shifted(before: list[float], after: list[float]) -> bool:
    both = list(zip(before[1:], after))
    return len(both) > 2 and all(close(a, b, 1e-5) for a, b in both) and before[0] != before[1]


def _ratio(e: Evidence, steps: Steps) -> Iterator[Diagnosis]:
    """Nothing is declared, but all weights move a multiple of what they did."""
    import numpy

    ratios = []
    for _, _, a, b in steps.steps:
        ratio = float((a * b).sum() / (a * a).sum())
        if not numpy.abs(b - ratio * a).max() <= 1e-3 * numpy.abs(b).max():
            return
        ratios.append(ratio)
    if max(ratios) - min(ratios) > 1e-3 * abs(max(ratios)) or close(ratios[0], 1, 1e-3):
        return
    yield Diagnosis(
        "learning-rate",
        "the learning rate changed",
        POSSIBLE,
        6,
        [f"every weight moves {show(ratios[0])} times as far as it did"],
        "give the optimizer the old rate; a rate that was multiplied by the number of replicas "
        "belongs to summed gradients",
    )


def same_value(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return bool(one) == bool(other)
    return close(float(one), float(other), 1e-5)  # type: ignore[arg-type]


def show_value(value: object) -> str:
    return str(value) if isinstance(value, bool) else show(float(value))  # type: ignore[arg-type]


CAUSES = {6: [update]}
