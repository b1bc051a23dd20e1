"""Two exported models: their signatures, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import numeric, tolerances
from migrate_mgpu.parity.compare.outcome import (
    DIFFERS,
    EQUAL,
    EQUIVALENT,
    NOT_COMPARABLE,
    NOT_COMPARED,
    NOT_EQUIVALENT,
    Output,
)
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs.saved_model import Answers, Signature

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.numeric import Array

# What TF1's servers ask by an API of its own; each of these answers predict's as well.
_OWN_APIS = ("tensorflow/serving/classify", "tensorflow/serving/regress")
_PREDICT = "tensorflow/serving/predict"
_SERVING = "TensorFlow Serving answers it by its predict API alone, which TF1's model has as well"


@dataclass
class Compared:
    """One signature.

    Attributes:
      reason: why its answers were not compared.
      random: whether the old model answers the same inputs in two ways.
    """

    name: str
    outputs: list[Output] = field(default_factory=list)
    reason: str = ""
    random: bool = False

    @property
    def status(self) -> str:
        """It differs, or is equal in all that it declares and answers, or was not compared."""
        found = {output.status for output in self.outputs}
        if DIFFERS in found:
            return DIFFERS
        return NOT_COMPARED if self.reason or EQUAL not in found else EQUAL

    def as_data(self) -> dict[str, Any]:
        """As a report has it."""
        return {
            "name": self.name,
            "status": self.status,
            "reason": self.reason,
            "outputs": [asdict(output) for output in self.outputs],
        }


def compare(
    old: Answers, new: Answers, signatures: Sequence[str], allowed: Tolerances
) -> tuple[str, str, list[Compared]]:
    """The verdict, why, and every signature.

    Args:
      signatures: those that were asked for; all when empty.
    """
    if old.failure:
        return NOT_COMPARED, f"{old.model.folder} cannot be loaded: {old.failure}", []
    if new.failure:
        return NOT_EQUIVALENT, f"{new.model.folder} cannot be loaded: {new.failure}", []
    names = signatures or sorted({*old.signatures, *new.signatures})
    found = [_one(name, old, new, allowed) for name in names]
    for one in found:
        wrong = next((o for o in one.outputs if o.status == DIFFERS), None)
        if wrong is not None:
            return NOT_EQUIVALENT, f"{one.name}: {wrong.name}: {wrong.detail}", found
    random = [one for one in found if one.random]
    if random:
        return NOT_COMPARABLE, f"{random[0].name}: {random[0].reason}", found
    lacking = [one for one in found if one.reason]
    if lacking:
        return NOT_COMPARED, f"{lacking[0].name}: {lacking[0].reason}", found
    if not any(one.status == EQUAL for one in found):
        return NOT_COMPARED, "the old model has no signature", found
    return EQUIVALENT, "", found


def _one(name: str, old: Answers, new: Answers, allowed: Tolerances) -> Compared:
    found = Compared(name)
    before, after = old.signatures.get(name), new.signatures.get(name)
    if before is None and after is None:
        found.outputs.append(Output("signature", DIFFERS, detail="neither model has it"))
    elif after is None:
        text = f"missing in the new model, which has: {', '.join(sorted(new.signatures)) or 'none'}"
        found.outputs.append(Output("signature", DIFFERS, detail=text))
    elif before is None:
        text = "the old model has none: nobody asks for it"
        found.outputs.append(Output("signature", NOT_COMPARED, detail=text))
    else:
        _declared(found, before, after)
        _answered(found, before, after, allowed)
    return found


def _declared(found: Compared, before: Signature, after: Signature) -> None:
    """What a client sees before it asks."""
    if before.method == after.method:
        found.outputs.append(Output("method", EQUAL))
    elif before.method in _OWN_APIS and after.method == _PREDICT:
        # TF2 writes no others, and what it writes answers the same: who asks is told.
        text = f"{before.method} became {_PREDICT}: {_SERVING}"
        found.outputs.append(Output("method", NOT_COMPARED, detail=text))
    else:
        text = f"{before.method} became {after.method}"
        found.outputs.append(Output("method", DIFFERS, detail=text))
    for word, one, other in (
        ("input", before.inputs, after.inputs),
        ("output", before.outputs, after.outputs),
    ):
        for name in [*sorted(one), *sorted(set(other) - set(one))]:
            label = f"{word} {name}"
            if name not in other:
                there = ", ".join(sorted(other)) or "none"
                text = f"missing in the new model, which has: {there}"
                found.outputs.append(Output(label, DIFFERS, detail=text))
            elif name in one:
                found.outputs.append(_tensor(label, one[name], other[name], word == "input"))
            elif word == "input":
                text = "the new model asks for it, the old one does not"
                found.outputs.append(Output(label, DIFFERS, detail=text))
            else:
                text = "the old model has none: nobody asks for it"
                found.outputs.append(Output(label, NOT_COMPARED, detail=text))


def _tensor(label: str, one: Mapping[str, Any], other: Mapping[str, Any], fed: bool) -> Output:
    """A declared tensor. What the new model takes must be all that the old one took; what
    outputs are is in the answers, so declared shapes must only be possible together."""
    if one["dtype"] != other["dtype"]:
        return Output(label, DIFFERS, detail=f"{one['dtype']} became {other['dtype']}")
    old, new = one["shape"], other["shape"]
    text = "" if old == new else f"{_shape(old)} became {_shape(new)}"
    if not _fits(old, new, fed):
        return Output(label, DIFFERS, detail=text)
    return Output(label, EQUAL, detail=text)


def _fits(old: Any, new: Any, all_of_it: bool) -> bool:
    if new is None or (old is None and not all_of_it):
        return True
    if old is None or len(old) != len(new):
        return False
    return all(n is None or o == n or (o is None and not all_of_it) for o, n in zip(old, new))


def _shape(shape: Any) -> str:
    if shape is None:
        return "a shape of any rank"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _answered(found: Compared, before: Signature, after: Signature, allowed: Tolerances) -> None:
    if before.unanswered:
        found.reason = before.unanswered
        return
    if after.unanswered:
        # The old model has an answer to these inputs.
        found.outputs.append(Output("answers", DIFFERS, detail=after.unanswered))
        return
    for name, value in sorted(before.answers.items()):
        label = f"{found.name}/{name}"
        if name not in after.answers:
            continue  # said already
        again = before.again.get(name)
        if again is not None and _array(label, value, again, allowed).status == DIFFERS:
            text = "the old model answers the same inputs in two ways"
            found.outputs.append(Output(label, NOT_COMPARED, detail=text))
            found.reason, found.random = f"{label}: {text}", True
            continue
        found.outputs.append(_array(label, value, after.answers[name], allowed))


def _array(label: str, a: Array, b: Array, allowed: Tolerances) -> Output:
    """An answer: numbers within the tolerance of results, whole ones and strings exactly."""
    import numpy

    if a.shape != b.shape:
        return Output(label, DIFFERS, detail=f"shape {a.shape} became {b.shape}")
    absolute = allowed.absolute(label)
    if a.dtype.kind == "c" and b.dtype.kind == "c":
        a, b = (numpy.stack([one.real, one.imag]) for one in (a, b))
    if a.dtype.kind == "f" and b.dtype.kind == "f":
        return numeric.array(label, a, b, allowed.relative(label, tolerances.RESULT), absolute)
    apart = numpy.asarray(a != b) if a.size else numpy.zeros(a.shape, bool)
    if not apart.any():
        return Output(label, EQUAL)
    place = tuple(int(n) for n in numpy.argwhere(apart)[0])
    at = ",".join(map(str, place))
    text = f"[{at}]: {_shown(a[place])} became {_shown(b[place])}"
    return Output(label, DIFFERS, detail=f"{text} ({int(apart.sum())} of {a.size})")


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, bytes) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
