"""Run the mutants of ``mutant_list.py``, and say what the harness makes of them.

    python tests/parity/mutants.py                 all of them, on real TensorFlow; minutes
    python tests/parity/mutants.py NAME ...        these
    python tests/parity/mutants.py --record        keep what was recorded, and write
                                                   docs/mutants.md
    python tests/parity/mutants.py --stored        diagnose what is kept; write docs/mutants.md

What is kept (``tests/parity/mutants/``) are both sides' records, so that the test suite
judges all mutants in seconds. A record whose programs have changed is stale, and fails.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).parent))
import live
import records
from live import DEVICES
from mutant_list import MUTANTS

from migrate_mgpu.parity import verdict
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import sides
from migrate_mgpu.parity.runs.sides import Side

ROOT = Path(__file__).parents[2]
# Pairs by hand, and what the tool makes of towers and Estimators.
PAIRS = tuple(ROOT / "fixtures" / name for name in ("parity", "towers", "estimator"))
STORED = Path(__file__).parent / "mutants"
PAGE = ROOT / "docs" / "mutants.md"
REFERENCE, TARGET = "tf1.15", "tf2.15"


def reference_of(name: str) -> str:
    """The name of the run that the mutant is compared with."""
    return f"{name}.before" if MUTANTS[name].before else MUTANTS[name].case


def texts(name: str) -> tuple[live.Text, live.Text]:
    """The TF1 program and the mutant's; those of several modules by these."""
    mutant = MUTANTS[name]
    found: list[live.Text] = []
    for side, changes in (("before", mutant.before), ("after", mutant.changes)):
        folder = _folder(name)
        alone = folder / f"{side}.py"
        files = [alone] if alone.exists() else sorted((folder / side).glob("*.py"))
        modules = {file.name: file.read_text(encoding="utf-8") for file in files}
        for old, new in changes:
            assert any(old in text for text in modules.values()), (
                f"{name}: {old!r} is not in {mutant.case}/{side}"
            )
            modules = {file: text.replace(old, new) for file, text in modules.items()}
        found.append(modules[alone.name] if alone.exists() else modules)
    return found[0], found[1]


def keys(names: Collection[str]) -> dict[str, str]:
    """For each record a text that changes with everything that it depends on."""
    found = {}
    for name in names:
        before, after = texts(name)
        for record, text in ((reference_of(name), ""), (name, after)):
            parts = " ".join([str(DEVICES), *_argv(name)]), live.whole(before), live.whole(text)
            whole = "\n".join(parts).encode()
            found[record] = hashlib.sha256(whole).hexdigest()[:16]
    return found


# Running -----------------------------------------------------------------------------------


def run(names: Collection[str], folder: Path, target: str = TARGET) -> None:
    """Run mutants and the references of their cases, importing each TensorFlow once."""
    argv = {one: _argv(n) for n in names for one in (n, reference_of(n))}
    before = {reference_of(n): (reference_of(n), texts(n)[0]) for n in names}
    live.run(REFERENCE, before, folder, argv=argv)
    after = {n: (reference_of(n), texts(n)[1]) for n in names}
    live.run(target, after, folder, argv=argv)


def _argv(name: str) -> list[str]:
    """The arguments of a mutant's programs, which its case's ``parity.toml`` has."""
    path = _folder(name) / "parity.toml"
    given = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    return [one.replace("{devices}", str(DEVICES)) for one in given.get("argv", [])]


def _folder(name: str) -> Path:
    """A mutant's fixture; `towers.NAME` where another kind has one of its name."""
    if "." in MUTANTS[name].case:
        return PAIRS[0].parent / MUTANTS[name].case.replace(".", "/")
    (folder,) = (one / MUTANTS[name].case for one in PAIRS if (one / MUTANTS[name].case).is_dir())
    return folder


# Judging -----------------------------------------------------------------------------------


def judge(name: str, folder: Path) -> verdict.Judged:
    """The verdict on what lies in the folder."""
    return verdict.judge(DEVICES, *both(name, folder), Tolerances())


def both(name: str, folder: Path) -> tuple[Side, Side]:
    """The reference and the target, as they lie in the folder."""
    reference = _side(folder, reference_of(name), REFERENCE)
    return reference, _side(folder, name, TARGET)


def _side(folder: Path, name: str, runtime: str) -> Side:
    side = sides.collect(folder, name, f"{name}.py", runtime)
    assert side.trace is not None, f"{name}: nothing was recorded: {side.stderr[-2000:]}"
    if side.arrays is not None:
        give(side, _arrays(side.arrays))
    return side


def give(side: Side, arrays: Mapping[str, Any]) -> None:
    """Let these be the side's arrays: what judges it asks for all of them several times."""
    side.load_arrays = lambda: dict(arrays)  # type: ignore[method-assign]


@functools.cache
def _arrays(path: Path) -> Mapping[str, Any]:
    """Recorded arrays, read once for all that are compared with this run."""
    import numpy

    with numpy.load(path) as stored:
        found = {name: stored[name] for name in stored.files if name != "record"}
    for value in found.values():
        value.setflags(write=False)
    return found


def row(name: str, judged: verdict.Judged) -> dict[str, Any]:
    """A mutant's line of the table."""
    causes = judged.diagnosis
    mutant = MUTANTS[name]
    broken = outcome.headline(judged.rungs)
    first = causes[0] if causes else None
    return {
        "name": name,
        "case": mutant.case,
        "equal": judged.verdict == outcome.EQUIVALENT,
        # A crash breaks the rung of its cause.
        "rung": broken.number if broken else first.rung if first else None,
        "expected": mutant.rung,
        "cause": first.cause if first else None,
        "likelihood": first.likelihood if first else None,
        "right": first is not None and first.cause in mutant.causes,
        "evidence": first.evidence if first else [],
        "all": [(one.cause, one.likelihood) for one in causes],
        "reason": judged.reason,
    }


# Keeping -----------------------------------------------------------------------------------


def keep(names: Collection[str], folder: Path) -> None:
    """Copy the records that the tests judge."""
    records.keep(keys(names), folder, STORED)


def unpack(folder: Path) -> None:
    """Put the kept records where ``judge`` finds them.

    Raises:
      AssertionError: a record is missing, or not of today's programs.
    """
    records.unpack(keys(MUTANTS), STORED, folder, "python tests/parity/mutants.py --record")


# The page ----------------------------------------------------------------------------------

HEAD = """# Mutants: wrong migrations, and what parity makes of them

Each is one of the equal pairs of `fixtures/parity` and `fixtures/towers` with a mistake in its
new program, run on
{devices} devices, TensorFlow 1.15.5 against 2.15.1. *Rung* is the first that broke;
*cause* the first diagnosis ([what they mean](losses-differ.md#causes)), with its likelihood.
Written by

```sh
python tests/parity/mutants.py --stored
```

from the records in `tests/parity/mutants/`; `python tests/parity/mutants.py --record` runs all of
them on TensorFlow and records them anew.

{summary}

{later} of them were written when all causes were there, to see what these make of mistakes that
they were not written for. When they ran first, all broke on their rung; of the first 24 that change
a number the cause was right for 19, unknown for 3, and *possible* but wrong for 2. Most of these
five have a cause of their own since.

With `--target tf2-latest` (TensorFlow 2.21.0, Keras 3) the first 95 of the list came out alike: all
on their rung, 92 of 93 causes right.

| mutant | of | changed a number? | rung | cause | right? |
| --- | --- | --- | --- | --- | --- |
"""


def page(rows: list[dict[str, Any]]) -> str:
    """docs/mutants.md."""
    lines = []
    for one in rows:
        caught = one["rung"] == one["expected"]
        rung = "-" if one["rung"] is None else f"{one['rung']}"
        rung += "" if caught else f", expected {one['expected']}"
        cause = f"{one['cause']}, {one['likelihood']}" if one["cause"] else "unknown"
        right = "yes" if one["right"] else "unknown" if one["cause"] is None else "**no**"
        if one["expected"] is None:
            cause, right = "-", "-"
        changed = "no" if one["equal"] else "yes"
        lines.append(f"| {one['name']} | {one['case']} | {changed} | {rung} | {cause} | {right} |")
    changed = [one for one in rows if not one["equal"]]
    caught = sum(one["rung"] == one["expected"] for one in changed)
    right = sum(one["right"] for one in changed)
    unknown = sum(one["cause"] is None for one in changed)
    wrong = [one for one in changed if one["cause"] and not one["right"]]
    likely = sum(one["likelihood"] == "likely" for one in wrong)
    summary = (
        f"{len(rows)} mutants, {len(changed)} of which change a number: {caught} break on the rung "
        f"that was expected.\nThe first cause is right for {right}, unknown for {unknown}, wrong "
        f"for {len(wrong)} ({likely} of them called likely)."
    )
    names = list(MUTANTS)
    later = names[names.index("last_layer_only") :]
    text = HEAD.format(devices=DEVICES, summary=summary, later=len(later))
    return text + "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--target", default=TARGET, help="another runtime, nothing is kept of it")
    parser.add_argument("--folder", type=Path, help="leave the runs here")
    options = parser.parse_args(argv)
    cases = {MUTANTS[name].case for name in options.names}
    names = options.names or list(MUTANTS)
    if options.record:  # all that share a reference's run
        names = [n for n, m in MUTANTS.items() if not cases or m.case in cases]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if options.stored:
            unpack(folder)
        elif options.folder is None or not (folder / f"{names[0]}.json").exists():
            run(names, folder, options.target)
        rows = [row(name, judge(name, folder)) for name in names]
        for one in rows:
            sign = "ok" if one["rung"] == one["expected"] else "RUNG"
            cause = "ok" if one["right"] or one["expected"] is None else "cause"
            print(f"{sign:<5}{cause:<6}{one['name']:<32} rung {one['rung']} {one['all']}")
            for text in one["evidence"]:
                print(f"{'':<12}{text}")
            if sign != "ok" or cause != "ok":
                print(f"{'':<12}{one['reason']}")
        if options.record and options.target == TARGET:
            keep(names, folder)
        if options.stored or (options.record and names == list(MUTANTS)):
            PAGE.write_text(page(rows), encoding="utf-8")
    broken = [one for one in rows if one["expected"] is not None]
    print(f"{sum(one['rung'] == one['expected'] for one in rows)} of {len(rows)} on their rung")
    print(f"{sum(one['right'] for one in broken)} of {len(broken)} causes right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
