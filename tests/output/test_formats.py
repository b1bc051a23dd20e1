"""json, sarif, github: exact where it is short, valid against the formats' schemas otherwise."""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from migrate_mgpu.core import findings as f
from migrate_mgpu.output import catalogue, github, json_report, sarif, text
from migrate_mgpu.output.report import Report, failure


def a_report(writes: bool = True) -> Report:
    """A run with one of everything."""
    train, old, book, bad = Path("train.py"), Path("o ld,1.py"), Path("nb.ipynb"), Path("bad.py")
    files = [
        f.FileResult(bad, error="is not valid Python: invalid syntax", error_line=3),
        failure("gone.py", "cannot be read: does not exist"),
        f.FileResult(
            book, "{}", "{} ",
            findings=[f.Finding(book, 2, 5, "MGPU101", f.APPLIED, "moved", cell=4)],
        ),
        f.FileResult(old, "x\n", findings=[
            f.Finding(old, 2, 1, "MGPU902", f.REFUSED, "100 %\nof `tf.contrib`", "replace it"),
            f.Finding(old, 7, 1, "MGPU901", f.KEPT, "stays"),
        ]),
        f.FileResult(train, "a\n", "b\n", findings=[
            f.Finding(train, 1, 3, "MGPU103", f.APPLIED, "growth"),
            f.Finding(train, 1, 9, "MGPU903", f.MANUAL, "growth is left out", "drop the limit"),
        ]),
        f.FileResult(Path("locked.py"), "a\n", error="cannot be written", error_line=0, findings=[
            f.Finding(Path("locked.py"), 1, 1, "MGPU103", f.APPLIED, "growth"),
        ]),
    ]  # fmt: skip
    no = f.Finding(old, 2, 1, "MGPU902", f.REFUSED, "no")
    programs = [
        f.ProgramResult(train, "bridge", 2, (), "TF 2.15 and newest", "run it"),
        f.ProgramResult(old, "refused", 1, (no,), "", "mend it"),
    ]
    result = f.RunResult(files, programs, {f.APPLIED: 2, f.KEPT: 1, f.REFUSED: 1}, scanned=5)
    return Report(result, writes)


EMPTY = Report(f.RunResult([], [], {f.APPLIED: 0, f.KEPT: 0, f.REFUSED: 0}))


# -- json ---------------------------------------------------------------------


def schema() -> dict[str, Any]:
    text = resources.files("migrate_mgpu.output").joinpath("report.schema.json").read_text()
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.mark.parametrize("report", [a_report(), a_report(writes=False), EMPTY])
def test_json_is_what_its_schema_says(report: Report) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    document = json.loads(json_report.render(report))
    jsonschema.validate(document, schema(), jsonschema.Draft202012Validator)


def test_the_schema_knows_every_key() -> None:
    """What is written is also described: nothing is an additional property."""
    closed = json.loads(
        json.dumps(schema()).replace(
            '"additionalProperties": true', '"additionalProperties": false'
        )
    )
    document = json.loads(json_report.render(a_report()))
    jsonschema.validate(document, closed, jsonschema.Draft202012Validator)


def test_json_says_everything() -> None:
    document = json_report.document(a_report())
    assert document["files"][:2] == [
        {"path": "bad.py", "changed": False,
         "error": {"line": 3, "message": "is not valid Python: invalid syntax"}},
        {"path": "gone.py", "changed": False,
         "error": {"line": None, "message": "cannot be read: does not exist"}},
    ]  # fmt: skip
    assert document["findings"][1] == {
        "path": "o ld,1.py",
        "cell": None,
        "line": 2,
        "column": 1,
        "code": "MGPU902",
        "rule": "program-refused",
        "page": "docs/rules.md#mgpu902",
        "severity": "warning",
        "state": "refused",
        "message": "100 %\nof `tf.contrib`",
        "advice": "replace it",
    }
    states = [finding["state"] for finding in document["findings"]]
    assert states == ["applied", "refused", "kept", "applied", "manual", "available"]
    assert document["counts"] == {
        "files": {"scanned": 5, "changed": 2, "failed": 3},
        "configs": {"moved": 2, "kept": 1, "refused": 1},
        "baseline": {"accepted": 0, "outdated": 0},
    }


# -- sarif --------------------------------------------------------------------

SARIF_SCHEMA = Path(__file__).with_name("sarif-2.1.0-subset.schema.json")


def sarif_checkers() -> list[Any]:
    """What a document must fit: the part of SARIF that is used here, and all of it, where
    ``SARIF_SCHEMA`` names OASIS's own schema."""
    paths = [SARIF_SCHEMA, *filter(None, [os.environ.get("SARIF_SCHEMA")])]
    found = []
    for path in paths:
        schema = json.loads(Path(path).read_text(encoding="utf-8"))
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        found.append(kind(schema, format_checker=jsonschema.FormatChecker()))
    return found


@pytest.mark.parametrize("report", [a_report(), a_report(writes=False), EMPTY])
def test_sarif_fits_its_schema(report: Report) -> None:
    document = json.loads(sarif.render(report))
    for checker in sarif_checkers():
        checker.validate(document)
    run = document["runs"][0]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} <= rules


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), "2.0.0"),
        (("runs",), None),
        (("runs", 0, "tool"), None),
        (("runs", 0, "tool", "driver", "name"), None),
        (("runs", 0, "tool", "driver", "rules", 0, "id"), None),
        (("runs", 0, "tool", "driver", "rules", 0, "help"), {"markdown": "x"}),
        (("runs", 0, "columnKind"), "bytes"),
        (("runs", 0, "invocations", 0, "executionSuccessful"), None),
        (("runs", 0, "results", 0, "level"), "info"),
        (("runs", 0, "results", 0, "message"), {}),
        (("runs", 0, "results", 0, "state"), "applied"),
        (
            ("runs", 0, "results", 1, "locations", 0, "physicalLocation", "region", "startLine"),
            0,
        ),
    ],
)
def test_a_wrong_sarif_does_not_fit(place: tuple[str | int, ...], value: Any) -> None:
    """Nor does it fit OASIS's schema."""
    document: Any = json.loads(sarif.render(a_report()))
    part = document
    for name in place[:-1]:
        part = part[name]
    if value is None:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    assert not any(checker.is_valid(document) for checker in sarif_checkers())


def test_sarif_says_everything() -> None:
    run = sarif.document(a_report())["runs"][0]
    assert run["invocations"] == [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [
                {
                    "level": "error",
                    "message": {"text": "is not valid Python: invalid syntax"},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "bad.py"},
                                "region": {"startLine": 3},
                            }
                        }
                    ],
                },
                {
                    "level": "error",
                    "message": {"text": "cannot be read: does not exist"},
                    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "gone.py"}}}],
                },
                {
                    "level": "error",
                    "message": {"text": "cannot be written"},
                    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "locked.py"}}}],
                },
            ],
        }
    ]
    assert run["results"][1] == {
        "ruleId": "MGPU902",
        "level": "warning",
        "message": {"text": "refused: 100 %\nof `tf.contrib`; replace it"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "o%20ld%2C1.py"},
                    "region": {"startLine": 2, "startColumn": 1},
                }
            }
        ],
        "properties": {"state": "refused"},
    }
    # A cell's lines are not those of the notebook's file.
    assert run["results"][0]["message"]["text"] == "cell 4, line 2: applied: moved"
    assert run["results"][0]["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "nb.ipynb"}}}
    ]


def test_paths_as_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sarif.uri(Path("src/ä b.py")) == "src/%C3%A4%20b.py"
    assert sarif.uri(tmp_path / "src/a.py") == "src/a.py"
    assert sarif.uri(Path("/elsewhere/a.py")) == "file:///elsewhere/a.py"


# -- github -------------------------------------------------------------------


def test_github() -> None:
    assert github.render(a_report()) == (
        "::error file=bad.py,line=3,title=migrate-mgpu::is not valid Python: invalid syntax\n"
        "::error file=gone.py,title=migrate-mgpu::cannot be read: does not exist\n"
        "::notice file=nb.ipynb,title=MGPU101::cell 4, line 2: applied: moved\n"
        "::warning file=o ld%2C1.py,line=2,col=1,title=MGPU902::"
        "refused: 100 %25%0Aof `tf.contrib` (replace it)\n"
        "::notice file=o ld%2C1.py,line=7,col=1,title=MGPU901::kept: stays\n"
        "::notice file=train.py,line=1,col=3,title=MGPU103::applied: growth\n"
        "::warning file=train.py,line=1,col=9,title=MGPU903::"
        "manual: growth is left out (drop the limit)\n"
        "::error file=locked.py,title=migrate-mgpu::cannot be written\n"
        "::warning file=locked.py,line=1,col=1,title=MGPU103::available: growth\n"
        "2 of 5 files changed; configs: 2 moved, 1 kept, 1 refused; 3 could not be processed\n"
    )


def test_what_can_be_rewritten_is_worth_a_warning_to_who_only_checks() -> None:
    assert "::warning file=train.py,line=1,col=3,title=MGPU103::available: growth\n" in (
        github.render(a_report(writes=False))
    )


# -- every code has its entry -------------------------------------------------


def test_every_code_that_a_finding_can_have_can_be_explained() -> None:
    package = Path(text.__file__).parents[1]
    mentioned = set()
    for path in package.rglob("*.py"):
        if path.name != "catalogue.py":
            for word in path.read_text(encoding="utf-8").split('"'):
                if len(word) == 7 and word.startswith("MGPU") and word[4:].isdigit():
                    mentioned.add(word)
    assert mentioned <= set(catalogue.by_code())
    assert {entry.code for entry in catalogue.BY_HAND} <= mentioned
