"""JUnit XML: the form that readers of it agree on, and what it says."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))
import report_samples as samples

from migrate_mgpu.parity.reports import junit

# What the Jenkins plugin's schema (junit-10.xsd) allows: attributes, required ones, children.
FORM: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped", "timestamp", "hostname"},
        {"name", "tests", "failures", "errors"},
        {"properties", "testcase"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": ({"name", "time", "classname"}, {"name"}, {"failure", "error", "system-out"}),
    "failure": ({"type", "message"}, set(), set()),
    "error": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}


def parsed(results: list[dict[str, Any]]) -> xml.Element:
    root = xml.fromstring(junit.render(results).encode())
    for element in root.iter():
        allowed, required, children = FORM[element.tag]
        assert required <= set(element.attrib) <= allowed, element.tag
        assert {child.tag for child in element} <= children, element.tag
        assert re.fullmatch(r"[0-9]+\.[0-9]{3}", element.get("time", "0.000"))
        if element.tag == "testsuite":
            cases = element.findall("testcase")
            assert int(element.attrib["tests"]) == len(cases)
            for tag in ("failure", "error"):
                assert int(element.attrib[f"{tag}s"]) == len(element.findall(f"testcase/{tag}"))
    for name in ("tests", "failures", "errors"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    return root


def test_a_failure_has_ladder_and_diagnosis(tmp_path):
    bad = samples.result(samples.equal(tmp_path / "1"), samples.wrong_rate(tmp_path / "2"))
    (suite,) = parsed([bad])
    passed, failed = suite.findall("testcase")
    assert passed.find("failure") is None and passed.find("error") is None
    assert "= 7 loss curve" in passed.findtext("system-out", "")
    failure = failed.find("failure")
    assert failure is not None and failure.text
    assert failure.attrib["type"] == "rung 6"
    assert failure.attrib["message"].startswith("rung 6, weights after one step: ")
    for text in (
        "likely cause: another learning rate (rung 6)",
        "  - the first update is 1.1 times the reference's",
        "What to change: set the learning rate to 0.1",
        "X 6 weights after one step",
        "to repeat: migrate-mgpu parity train_v1.py train_v2.py",
    ):
        assert text in failure.text
    assert passed.attrib["classname"] == "parity.train_v2_py"
    values = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert values["reference"] == "tf1.15 (python 3.7.16, tensorflow 1.15.5)"


def test_what_was_not_compared_is_an_error(tmp_path):
    crash = {"type": "ValueError", "message": "a]]>b & <c> \x00\x1b[0m\ud800\ufffe"}
    one = samples.side(tmp_path / "a", "v1.py", [], exception=crash)
    other = samples.side(tmp_path / "b", "v2.py", samples.falling(), old=False)
    crashed = samples.result(samples.judged(one, other))
    unmigrated = {**crashed, "results": [], "failure": "not migrated: tf.contrib"}
    root = parsed([crashed, unmigrated])
    errors = root.findall("testsuite/testcase/error")
    assert [e.attrib["type"] for e in errors] == ["not compared"] * 2
    assert "a]]>b & <c> \\x00\\x1b[0m\\xd800\\xfffe" in errors[0].attrib["message"]
    assert errors[1].attrib["message"] == "not migrated: tf.contrib"
    assert root.attrib["failures"] == "0"
    # A reference that differs from itself is no pass either.
    crashed["results"][0]["verdict"] = "not comparable"
    assert parsed([crashed]).find("testsuite/testcase/error") is not None
