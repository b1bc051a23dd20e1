"""What every report says in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from migrate_mgpu.parity.compare.outcome import (
    EQUIVALENT,
    NOT_COMPARABLE,
    NOT_COMPARED,
    NOT_EQUIVALENT,
)

# The worst first.
VERDICTS = (NOT_EQUIVALENT, NOT_COMPARED, NOT_COMPARABLE, EQUIVALENT)
MARKS = {"equal": "=", "differs": "X", "not compared": "-"}
# C0 and C1 controls but tab and line feed, what reorders text, halves of characters, and the two
# that are none: XML and UTF-8 refuse some of them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """What a program printed or named, with characters shown that would hide others."""
    return _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def devices(one: Mapping[str, Any]) -> str:
    return f"{one['devices']} device{'s' * (one['devices'] != 1)}"


def worst(verdicts: Iterable[str]) -> str:
    """The worst verdict; of nothing: not compared."""
    found = set(verdicts)
    return next((verdict for verdict in VERDICTS if verdict in found), NOT_COMPARED)


def verdict(result: Mapping[str, Any]) -> str:
    """A pair's, over all its numbers of devices: the worst."""
    return worst(one["verdict"] for one in result["results"])


def pair(result: Mapping[str, Any]) -> str:
    """Its name, of those of a folder, or both programs."""
    return str(result.get("name") or "") or f"{result['before']} -> {new_program(result)}"


def place(one: Mapping[str, Any]) -> str:
    """Where the work of the GPUs was done."""
    for side in ("reference", "target"):
        about = one[side].get("devices")
        if about:
            return str(about["text"])
    return "logical CPUs in the place of GPUs"


def hardware(about: Mapping[str, Any] | None) -> str:
    """A machine in a line."""
    if not about:
        return "not known"
    gpus = [f"{gpu['name']} (driver {gpu['driver']})" for gpu in about["gpus"]]
    memory = f"{about['memory_mib']} MiB" if about["memory_mib"] else "unknown memory"
    return ", ".join([about["cpu"], f"{about['cores']} cores", memory, about["system"], *gpus])


def crashes(one: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The sides that did not finish, each with how it ended: ``crash`` of the result."""
    found = [(side, one[side].get("crash")) for side in ("reference", "target")]
    return [(side, crash) for side, crash in found if crash]


def crash_lines(one: Mapping[str, Any]) -> list[str]:
    """The traceback of each side that crashed."""
    lines = []
    for side, crash in crashes(one):
        lines.append(f"the {side}, {one[side]['program']} on {one[side]['runtime']}:")
        lines += [f"    {line}" for line in crash["lines"]]
        if crash.get("advice"):
            lines.append(f"  What to do: {crash['advice']}")
    return lines


def rungs(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those that say something: after a crash the ones that came before it."""
    if not crashes(one):
        return list(one["rungs"])
    return [rung for rung in one["rungs"] if rung["status"] == "equal"]


def ladder(one: Mapping[str, Any]) -> list[str]:
    """A line for each rung."""
    return [
        f"{MARKS[rung['status']]} {rung['rung']} {rung['name']:<30} {rung['status']:<13} "
        f"{about(rung)}".rstrip()
        for rung in rungs(one)
    ]


def about(rung: Mapping[str, Any]) -> str:
    """What there is to say about a rung, in a line."""
    outputs = rung["outputs"]
    if rung["status"] == "equal":
        worst = max((o["largest_relative"] or 0.0 for o in outputs), default=0.0)
        spared = [f"{o['name']}: {what(o)}" for o in outputs if worst and _spared(o)]
        said = [f"largest relative difference {worst:.1e}"] if worst else []
        told = [f"{what(o)}" for o in outputs if o.get("told")]
        return "; ".join([*said, *spared, *told])
    if rung["status"] == "differs":
        broken = [o for o in outputs if o["status"] == "differs"]
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return f"{broken[0]['name']}: {what(broken[0])}{more}"
    return str(rung["reason"]) or "; ".join(f"{o['name']}: {what(o)}" for o in outputs)


def _spared(output: Mapping[str, Any]) -> bool:
    """Whether an array is equal but for the few elements that may be further apart."""
    return output["largest_relative"] is not None and bool(output["detail"])


def what(output: Mapping[str, Any]) -> str:
    """An output's detail, without its name where that stands in front of it."""
    return str(output["detail"]).removeprefix(f"{output['name']}: ")


# A tolerance above this would pass programs that are not the same.
NEAR = 1e-3


def would_pass(output: Mapping[str, Any]) -> float | None:
    """The relative tolerance that would let an output pass, of a near miss only."""
    needed = output["needed"]
    return needed * 1.01 if needed is not None and needed <= NEAR else None


def told(result: Mapping[str, Any]) -> list[str]:
    """What the migration of a program left to its owner to do or to know."""
    found = (result.get("migration") or {}).get("findings", ())
    return [
        f"{one['path']}:{one['line']}: {one['code']} {one['state']}: {one['message']}"
        for one in found
        if one["state"] in ("manual", "kept")
    ]


_EARLIER = {
    "MGPU212": "is Python 2: it ran as Python 3",
    "MGPU213": "has names of an early TensorFlow: it ran with those of 1.15",
}


def earlier(result: Mapping[str, Any]) -> str:
    """That the old program was made one that Python 3 and TF 1.15 run; empty for all others."""
    files = (result.get("migration") or {}).get("reference", ())
    codes = sorted({code for one in files for code in one["rules"]})
    if not codes:
        return ""
    what = "; ".join(_EARLIER.get(code, f"is changed by {code}") for code in codes)
    which = files[0]["path"] if len(files) == 1 else f"{len(files)} files"
    return f"the old program {what} ({which}), and otherwise unchanged"


def left_out(result: Mapping[str, Any]) -> list[str]:
    """A line for each number of devices that was left out, with the reason."""
    found = result.get("left_out", ())
    return [f"{devices(one)}: left out, {one['reason']}" for one in found]


def new_program(result: Mapping[str, Any]) -> str:
    """The new program, as reports call it."""
    return "its migrated copy" if result["migrated"] else str(result["after"])


def diagnosis(one: Mapping[str, Any]) -> list[str]:
    """The likely causes, some lines each; empty when nothing differs."""
    if one["verdict"] != NOT_EQUIVALENT:
        return []
    if one["headline"] is None and not one.get("diagnosis"):
        return []  # it crashed: the verdict says where
    if not one.get("diagnosis"):
        return ["cause unknown: no cause that is looked for predicts these numbers"]
    lines = []
    for cause in one["diagnosis"]:
        lines.append(f"{cause['likelihood']} cause: {cause['title']} (rung {cause['rung']})")
        lines += [f"  - {text}" for text in cause["evidence"]]
        if cause["advice"]:
            lines.append(f"  What to change: {cause['advice']}")
        lines.append(f"  More about it: migrate-mgpu explain {cause['cause']}")
    return lines


def summary(results: Sequence[Mapping[str, Any]]) -> str:
    """How many pairs have which verdict."""
    found = [verdict(result) for result in results]
    parts = [f"{found.count(word)} {word}" for word in VERDICTS[::-1] if word in found]
    return f"{len(found)} pair{'s' * (len(found) != 1)}: " + ", ".join(parts)
