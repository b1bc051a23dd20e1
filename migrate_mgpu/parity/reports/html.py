"""One page that needs nothing else: no script, no font, no other file.

Whatever programs name or print is escaped by the template engine; nothing in this package
marks text as safe. A policy in the page's head forbids scripts and other files even so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

import migrate_mgpu
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.reports import chart, words

MOST_OUTPUTS = 8  # of a broken rung
MOST_CHARACTERS = 400  # of a program's own text
MOST_STEPS = 6
_MARKS = {"equal": "✓", "differs": "✗", "not compared": "○"}
_CSS = {"equal": "equal", "differs": "differs", "not compared": "not-compared"}
_STATUS = {
    outcome.EQUIVALENT: "equal",
    outcome.NOT_EQUIVALENT: "differs",
    outcome.NOT_COMPARED: "not compared",
    outcome.NOT_COMPARABLE: "not compared",
}


def write(results: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the page of one result, or of several with a table of them first.

    Raises:
      OSError: the file cannot be written.
    """
    text = render(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def render(results: Sequence[Mapping[str, Any]]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=_visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(short=_short, shorten=_shorten, capitalize_first=_capital)
    results = [_whole(result) for result in results]
    pairs = [_pair(number, result) for number, result in enumerate(results, start=1)]
    title = words.pair(results[0]) if len(results) == 1 else words.summary(results)
    return (
        environment.get_template("page.html")
        .render(
            title=f"Parity: {title}",
            pairs=pairs,
            worst=words.worst(map(words.verdict, results)),
            summary=words.summary(results),
            version=migrate_mgpu.__version__,
            made=next((result["time"] for result in results if result.get("time")), ""),
            marks={**_MARKS, **{v: _MARKS[s] for v, s in _STATUS.items()}},
            css={v: _CSS[s] for v, s in _STATUS.items()},
            words=words,
        )
        .lstrip()
    )


@dataclass(frozen=True)
class _Step:
    step: int
    reference: str
    target: str
    difference: str
    allowed: str
    times: str
    bad: bool


def _whole(result: Mapping[str, Any]) -> dict[str, Any]:
    """With what results of earlier versions do not have."""
    found: list[dict[str, Any]] = []
    for one in result["results"]:
        sides = {side: {"hardware": None, **one[side]} for side in ("reference", "target")}
        found.append({"curves": [], "diagnosis": [], **one, **sides})
    return {"failure": "", **result, "results": found}


def _pair(number: int, result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "number": number,
        "name": words.pair(result),
        "result": result,
        "views": [_view(one) for one in result["results"]],
        "lines": [_line(one) for one in result["results"]] or [_failed(result)],
    }


def _line(one: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table of pairs."""
    likely = one["diagnosis"][0]["title"] if one["diagnosis"] else "unknown"
    return {
        "verdict": one["verdict"],
        "devices": one["devices"],
        "differs": one["reason"],
        "cause": likely if words.diagnosis(one) else "",
    }


def _failed(result: Mapping[str, Any]) -> dict[str, Any]:
    differs = result["failure"]
    return {"verdict": outcome.NOT_COMPARED, "devices": "", "differs": differs, "cause": ""}


def _view(one: Mapping[str, Any]) -> dict[str, Any]:
    broken, more = [], 0
    for rung in one["rungs"]:
        differs = [(rung["rung"], o) for o in rung["outputs"] if o["status"] == "differs"]
        broken += differs[:MOST_OUTPUTS]
        more += len(differs[MOST_OUTPUTS:])
    curves = []
    for curve in one["curves"]:
        bad = _first_bad(one, curve["name"])
        curves.append(
            {
                "name": curve["name"],
                "loss": chart.loss(curve, bad),
                "difference": chart.difference(curve, bad),
                "worst": _worst(curve),
            }
        )
    return {"one": one, "broken": broken, "more": more, "curves": curves}


def _first_bad(one: Mapping[str, Any], name: str) -> int | None:
    for rung in one["rungs"]:
        for output in rung["outputs"]:
            if rung["rung"] == 7 and output["name"] == name:
                return output["first_bad"]  # type: ignore[no-any-return]
    return None


def _worst(curve: Mapping[str, Any]) -> list[_Step]:
    """The steps that are furthest out of their tolerance, or nearest to it."""
    rows = zip(*([float(v) for v in curve[key]] for key in ("reference", "target", "allowed")))
    found = []
    for step, (before, after, allowed) in enumerate(rows, start=1):
        difference = abs(before - after)
        if difference == 0:
            continue
        times = difference / allowed if allowed else math.inf
        if math.isnan(times):
            times = math.inf
        text = f"{times:.3g}" if math.isfinite(times) else "not a number"
        row = _Step(
            step,
            f"{before:.7g}",
            f"{after:.7g}",
            f"{difference:.3g}",
            f"{allowed:.3g}",
            text,
            times > 1,
        )
        found.append((-times, step, row))
    return [row for _, _, row in sorted(found, key=lambda entry: entry[:2])[:MOST_STEPS]]


def _visible(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, markupsafe.Markup):
        return words.visible(value)
    return value


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + " …"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
