"""The comparison of two exported models for the terminal, written from its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from migrate_mgpu.core.colors import painter
from migrate_mgpu.parity.reports import words
from migrate_mgpu.parity.reports.terminal import STYLES, numbers


def write(result: Mapping[str, Any], stdout: TextIO, color: str = "auto") -> None:
    """The verdict; of each signature what differs, or how far answers are apart; what ran."""
    paint = painter(stdout, color)
    verdict = paint(result["verdict"].upper(), STYLES.get(result["verdict"], "bold yellow"))
    reason = f": {words.visible(result['reason'])}" if result["reason"] else ""
    print(f"{result['before']} -> {result['after']}", file=stdout)
    print(f"{verdict}{reason}", file=stdout)
    if result["signatures"]:
        print(file=stdout)
    for one in result["signatures"]:
        style = STYLES.get(one["status"], "")
        mark, status = words.MARKS[one["status"]], paint(f"{one['status']:<13}", style)
        name = words.visible(one["name"])
        text = words.visible(words.about(one))
        print(f"  {paint(mark, style)} {name:<30} {status} {text}".rstrip(), file=stdout)
        for output in one["outputs"]:
            if output["status"] != "equal" or output["detail"]:
                said = f"      {output['name']}: {output['detail']}{numbers(output)}"
                print(words.visible(said), file=stdout)
    print(file=stdout)
    for side in ("reference", "target"):
        about = result[side]
        versions = ", ".join(f"{n} {v}" for n, v in about["versions"].items())
        ran = f"{about['runtime']} ({versions})" if versions else about["runtime"]
        written = f", written by TensorFlow {about['written_by']}" if about["written_by"] else ""
        print(f"  {side:<9} {about['model']}{written}, on {ran}, on the CPU", file=stdout)
    print(f"\nto repeat: {result['command']}", file=stdout)
