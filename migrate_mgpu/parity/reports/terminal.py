"""A result as a table for the terminal, written from its JSON form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from migrate_mgpu.core.colors import painter
from migrate_mgpu.parity.compare.outcome import EQUIVALENT, NOT_EQUIVALENT
from migrate_mgpu.parity.reports import words

if TYPE_CHECKING:
    from migrate_mgpu.core.colors import Paint

MOST_CHARACTERS = 300
MOST_TOLD = 5  # findings of the migration
MOST_OUTPUTS = 8  # of a broken rung; --json has them all


STYLES = {
    EQUIVALENT: "bold green",
    NOT_EQUIVALENT: "bold red",
    "equal": "green",
    "differs": "red",
}


def write(result: Mapping[str, Any], stdout: TextIO, color: str = "auto") -> None:
    """The verdicts; for each number of devices what broke first, why, the ladder and what ran;
    and how to repeat it."""
    paint = painter(stdout, color)
    print(words.pair({**result, "name": ""}), file=stdout)
    for one in result["results"]:
        reason = f": {words.visible(one['reason'])}" if one["reason"] else ""
        verdict = paint(one["verdict"].upper(), STYLES.get(one["verdict"], "bold yellow"))
        print(f"{words.devices(one)}: {verdict}{reason}", file=stdout)
    for line in words.left_out(result):
        print(words.visible(line), file=stdout)
    told = words.told(result) if words.verdict(result) != EQUIVALENT else []
    if told:
        print("\nthe migration reported:", file=stdout)
        for line in told[:MOST_TOLD]:
            print(f"  {words.visible(line)}", file=stdout)
        if len(told) > MOST_TOLD:
            print(f"  and {len(told) - MOST_TOLD} more: --json has them all", file=stdout)
    if old := words.earlier(result):
        print(f"\n{old}", file=stdout)
    for one in result["results"]:
        _one(one, stdout, paint)
    if result["comparison"] is not None:
        print(f"\ncomparison {result['comparison']}; to repeat: {result['command']}", file=stdout)


def _one(one: Mapping[str, Any], stdout: TextIO, paint: Paint) -> None:
    print(paint(f"\n{words.devices(one)}, {words.place(one)}", "bold"), file=stdout)
    for line in words.crash_lines(one):
        print(f"  {words.visible(line)}", file=stdout)
    first = [rung for rung in one["rungs"] if rung["rung"] == one["headline"]]
    for rung in first:
        _rung(rung, stdout, paint)
        _broken(rung, stdout)
    for line in words.diagnosis(one):
        print(f"  {words.visible(line)}", file=stdout)
    for rung in words.rungs(one):
        if rung not in first:
            _rung(rung, stdout, paint)
    _ran(one, stdout)


def _ran(one: Mapping[str, Any], stdout: TextIO) -> None:
    _hardware(one, stdout)
    for side in ("reference", "target"):
        about = one[side]
        versions = ", ".join(f"{n} {v}" for n, v in about["versions"].items())
        steps = "+".join(map(str, about["steps"])) or "0"
        stands_in = ", recorded: it stands in for a runtime that is not here" * about["recorded"]
        ended = "" if about.get("crash") else f", {about['ended']}"
        print(
            f"  {side:<9} {about['program']} on {about['runtime']} ({versions}{stands_in}), "
            f"{steps} steps, {about['seconds']:.1f} s{ended}",
            file=stdout,
        )
        for note in about["notes"]:
            print(f"            {note}", file=stdout)
    _workers(one["target"].get("workers", ()), stdout)
    pins = {**one["reference"]["pins"], **one["target"]["pins"]}
    if pins:
        print("  made comparable: " + "; ".join(f"{n}: {v}" for n, v in pins.items()), file=stdout)


def _workers(commands: Sequence[str], stdout: TextIO) -> None:
    if commands:
        print(
            "  each worker starts with (on several machines: with their names for localhost)",
            file=stdout,
        )
    for command in commands:
        print(f"    {command}", file=stdout)


def _hardware(one: Mapping[str, Any], stdout: TextIO) -> None:
    """A line for the machine; one a side when a record is of another."""
    found = [one[side].get("hardware") for side in ("reference", "target")]
    for about, side in zip(found, ("reference", "target")):
        if about is None or (side == "target" and about == found[0]):
            continue
        whose = "" if found[0] == found[1] else f"{side}: "
        print(f"  {whose}{words.hardware(about)}", file=stdout)


def _rung(rung: Mapping[str, Any], stdout: TextIO, paint: Paint) -> None:
    mark, text = words.MARKS[rung["status"]], words.visible(words.about(rung))
    text = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
    style = STYLES.get(rung["status"], "")
    status = paint(f"{rung['status']:<13}", style)
    line = f"  {paint(mark, style)} {rung['rung']} {rung['name']:<30} {status} {text}"
    print(line.rstrip(), file=stdout)


def _broken(rung: Mapping[str, Any], stdout: TextIO) -> None:
    """What differs, an output a line."""
    broken = [o for o in rung["outputs"] if o["status"] == "differs"]
    for output in broken[:MOST_OUTPUTS]:
        detail = words.visible(words.what(output))
        if len(detail) > MOST_CHARACTERS:
            detail = detail[:MOST_CHARACTERS] + "..."
        print(f"      {output['name']}: {detail}{numbers(output)}", file=stdout)
    if len(broken) > MOST_OUTPUTS:
        print(f"      and {len(broken) - MOST_OUTPUTS} more: --json has them all", file=stdout)


def numbers(output: Mapping[str, Any]) -> str:
    """How far an output's numbers are apart, and what would let it pass."""
    if output["largest_absolute"] is None:
        return ""
    parts = [f"largest difference {output['largest_absolute']:.3g}"]
    if output["largest_relative"] is not None:
        parts.append(f"relative {output['largest_relative']:.3g}")
    near = words.would_pass(output)
    if near is not None:
        parts.append(f"--rtol '{output['name']}={near:.2g}' would pass")
    return f" ({', '.join(parts)})"


def write_list(folder: Path, stdout: TextIO) -> None:
    """All comparisons, a line each, and what they take on the disk."""
    from migrate_mgpu import runtimes

    for place in sorted(folder.glob("[0-9]*")) if folder.is_dir() else []:
        if (place / "result.json").is_file():
            result = json.loads((place / "result.json").read_text(encoding="utf-8"))
            verdicts = ", ".join(f"{words.devices(o)} {o['verdict']}" for o in result["results"])
            pair = words.pair({**result, "name": ""})
            print(f"{int(place.name):>5} {pair}: {verdicts}", file=stdout)
    taken = runtimes.shown_size(runtimes.size(folder))
    print(f"{taken} in {folder} (migrate-mgpu parity remove deletes)", file=stdout)
