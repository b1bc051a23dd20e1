"""JUnit XML, as Jenkins, GitLab and others read it: a suite a pair, a case a number of devices.

A case that was not compared is an ``error``: it is no pass, and no failure of the programs.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.reports import words


def write(results: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write one file for all results.

    Raises:
      OSError: the file cannot be written.
    """
    text = render(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def render(results: Sequence[Mapping[str, Any]]) -> str:
    suites = [_suite(result) for result in results]
    root = xml.Element("testsuites", {"name": "migrate-mgpu parity", **_sums(suites)})
    root.extend(suites)
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, "unicode") + "\n"


def _sums(suites: Sequence[xml.Element]) -> dict[str, str]:
    counted = {
        n: str(sum(int(s.attrib[n]) for s in suites)) for n in ("tests", "failures", "errors")
    }
    return {**counted, "time": f"{sum(float(s.attrib['time']) for s in suites):.3f}"}


def _suite(result: Mapping[str, Any]) -> xml.Element:
    suite = xml.Element("testsuite", {"name": words.visible(words.pair(result))})
    properties = xml.SubElement(suite, "properties")
    for name, value in _properties(result):
        xml.SubElement(
            properties, "property", {"name": words.visible(name), "value": words.visible(value)}
        )
    # Readers take what stands before the last dot for the class's package.
    place = words.visible(result.get("name") or result["after"]).replace(".", "_")
    seconds = 0.0
    for one in result["results"]:
        took = one["reference"]["seconds"] + one["target"]["seconds"]
        seconds += took
        case = _case(suite, place, words.devices(one), took)
        _judge(case, one, result)
    for one in result.get("left_out", ()):
        case = _case(suite, place, words.devices(one), 0.0)
        xml.SubElement(case, "skipped", {"message": words.visible(one["reason"])})
    if not result["results"]:
        case = _case(suite, place, "comparison", 0.0)
        text = words.visible(result.get("failure", ""))
        xml.SubElement(case, "error", {"type": outcome.NOT_COMPARED, "message": text})
    suite.attrib.update(
        tests=str(len(suite.findall("testcase"))),
        failures=str(len(suite.findall("testcase/failure"))),
        errors=str(len(suite.findall("testcase/error"))),
        skipped=str(len(suite.findall("testcase/skipped"))),
        time=f"{seconds:.3f}",
    )
    if result.get("time"):
        suite.attrib["timestamp"] = result["time"].partition("+")[0]
    return suite


def _case(suite: xml.Element, place: str, name: str, seconds: float) -> xml.Element:
    attributes = {"classname": f"parity.{place}", "name": name, "time": f"{seconds:.3f}"}
    return xml.SubElement(suite, "testcase", attributes)


def _judge(case: xml.Element, one: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    if one["verdict"] == outcome.EQUIVALENT:
        xml.SubElement(case, "system-out").text = words.visible("\n".join(words.ladder(one)))
        return
    failed = one["verdict"] == outcome.NOT_EQUIVALENT
    kind = f"rung {one['headline']}" if failed and one["headline"] else one["verdict"]
    attributes = {"type": kind, "message": words.visible(one["reason"])}
    found = xml.SubElement(case, "failure" if failed else "error", attributes)
    parts = [words.crash_lines(one), words.diagnosis(one), words.ladder(one)]
    lines = [line for part in parts if part for line in (*part, "")]
    lines.append(f"to repeat: {result['command']}")
    found.text = words.visible("\n".join(lines).strip())


def _properties(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [("command", str(result.get("command", "")))]
    for one in result["results"][:1]:
        for side in ("reference", "target"):
            about = one[side]
            versions = ", ".join(f"{n} {v}" for n, v in about["versions"].items())
            found.append((side, f"{about['runtime']} ({versions})"))
            found.append((f"{side} hardware", words.hardware(about.get("hardware"))))
        found.append(("devices", words.place(one)))
    return found
