"""Compare what two exported models take and answer, whatever wrote them."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from migrate_mgpu import runtimes
from migrate_mgpu.parity.compare import saved_model as compared
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import saved_model
from migrate_mgpu.parity.runs.supervise import Limits

FORMAT = 1
NoSavedModel = saved_model.NoSavedModel


@dataclass(frozen=True)
class Request:
    """What to compare.

    Attributes:
      old, new: SavedModels, or folders of exports.
      inputs: an npz file; an array ``x`` is for each signature with an input ``x``,
        ``signature/x`` for that alone.
      signatures: those to ask; all when empty.
      reference, target: runtimes; by what wrote the models where None.
    """

    old: Path
    new: Path
    inputs: Path
    signatures: Sequence[str] = ()
    tolerances: Tolerances = field(default_factory=Tolerances)
    reference: str | None = None
    target: str | None = None
    limits: Limits = field(default_factory=Limits)


def compare(request: Request, progress: TextIO | None = None) -> dict[str, Any]:
    """The result, as ``saved_model.schema.json`` describes it.

    Raises:
      NoSavedModel: what was given is none, or are no inputs.
      runtimes.RuntimeUnavailable: a runtime cannot be made.
    """
    models = [saved_model.find(path) for path in (request.old, request.new)]
    inputs = saved_model.read_inputs(request.inputs)
    chosen = request.reference or models[0].runtime, request.target or models[1].runtime
    rooms = [runtimes.ensure(name, progress) for name in chosen]
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as work:
        both = list(zip(models, rooms))
        old, new = saved_model.ask(both, inputs, request.signatures, Path(work), request.limits)
    verdict, reason, found = compared.compare(old, new, request.signatures, request.tolerances)
    return {
        "format": FORMAT,
        "before": str(request.old),
        "after": str(request.new),
        "inputs": str(request.inputs),
        "command": command(request),
        "verdict": verdict,
        "reason": reason,
        "signatures": [one.as_data() for one in found],
        "reference": old.as_data(),
        "target": new.as_data(),
    }


def command(request: Request) -> str:
    """The command line that repeats it."""
    words = ["migrate-mgpu", "parity", "--saved-model", str(request.old), str(request.new)]
    words += ["--inputs", str(request.inputs)]
    words += [word for name in request.signatures for word in ("--signature", name)]
    for option, name in (("--reference", request.reference), ("--target", request.target)):
        words += [option, name] if name else []
    chosen = request.tolerances
    for option, common, named in (
        ("--rtol", chosen.rtol, chosen.named_rtol),
        ("--atol", chosen.atol or None, chosen.named_atol),
    ):
        words += [option, f"{common:g}"] if common is not None else []
        words += [word for n, v in named.items() for word in (option, f"{n}={v:g}")]
    return shlex.join(words)
