"""A checkpoint of TF1 becomes one that the migrated program goes on from, or the other way round.

The new program is run until its variables exist (``probe/convert.py``); the old one only where
names and shapes do not say which variable is whose partner, or for what its saver writes
(``probe/template.py``).
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from migrate_mgpu import runtimes
from migrate_mgpu.parity.pair import NotCompared, Pair, explained, programs, wanted
from migrate_mgpu.parity.runs.programs import CHECKPOINT, run_one, run_until_checkpoint
from migrate_mgpu.parity.runs.sides import Side

_PART = re.compile(r"/part_\d+$")  # of a partitioned variable, which checkpoints have whole
TABLE = "converted.txt"  # beside the new checkpoint
STATE = "checkpoint"  # TensorFlow's file that names the latest


class NoCheckpoint(Exception):
    """What was given is no checkpoint of TF1's; the message says what it is."""


class NotConverted(Exception):
    """The programs could not be run so far; the message says why."""


@dataclass(frozen=True)
class Request:
    """What to convert.

    Attributes:
      pair: both programs, and how they are run.
      source: the checkpoint's prefix (``find``).
      weights_only: leave out what optimizers keep, and the step.
      given: names of new variables, with the tensors that the user chose.
      skip: patterns of tensors that the new program does without.
      model_dir: the folder of the new program's that is meant, if it has several.
      to_tf1: ``source`` is a checkpoint of the new program's, which becomes one of the old one's.
      of_keras: ``source`` is a file of weights, or of a model, that Keras wrote.
    """

    pair: Pair
    source: Path
    weights_only: bool = False
    given: Mapping[str, str] = field(default_factory=dict)
    skip: Sequence[str] = ()
    model_dir: str | None = None
    to_tf1: bool = False
    of_keras: bool = False


@dataclass(frozen=True)
class Result:
    """What came of it.

    Attributes:
      state: ``written``; ``names``, ``graph``: the new program reads the old files as they are;
        ``refused``.
      data: the rows and what has no partner, see ``probe/convert.py``.
      files: where the new files are, until they are taken.
      runtime: the name of the new program's runtime, and its versions; TF1's where it is for that.
      of_keras: as the request's: there is one new file, of weights.
    """

    state: str
    data: Mapping[str, Any]
    files: Sequence[Path]
    runtime: str
    to_tf1: bool = False
    of_keras: bool = False


def find(given: Path) -> Path:
    """The prefix of a checkpoint: that of a folder's latest, or the one that is named.

    Raises:
      NoCheckpoint: there is none, or several and nothing says which.
    """
    if given.is_dir():
        return _latest(given)
    name = given.name
    for ending in (r"\.index", r"\.meta", r"\.data-\d+-of-\d+"):
        name = re.sub(ending + "$", "", name)
    prefix = given.with_name(name)
    if _index(prefix).is_file() or prefix.is_file():
        return prefix
    there = _prefixes(given.parent) if given.parent.is_dir() else []
    text = f"{given}: neither a folder nor a checkpoint"
    raise NoCheckpoint(text + (f"; there are {_listed(there)}" if there else ""))


def _latest(folder: Path) -> Path:
    there = _prefixes(folder)
    state = folder / STATE
    if state.is_file():
        text = state.read_text(encoding="utf-8", errors="replace")
        named = re.search(r'^model_checkpoint_path: "((?:[^"\\]|\\.)*)"', text, re.MULTILINE)
        if named:
            name = re.sub(r"\\(.)", r"\1", named[1])
            # An absolute path may be of the machine or the place where it was written.
            for prefix in (folder / name, folder / Path(name).name):
                if _index(prefix).is_file() or prefix.is_file():
                    return prefix
            also = f"; there are {_listed(there)}: name one of them" if there else ""
            raise NoCheckpoint(f"{state} names {name}, which is not there{also}")
    if len(there) == 1:
        return there[0]
    if there:
        raise NoCheckpoint(f"{folder} has no file `{STATE}`, and several: name {_listed(there)}")
    below = sorted({path.parent for path in folder.glob("*/*.index")})
    more = f"; there are some in {_listed(below)}" if below else ""
    raise NoCheckpoint(f"{folder}: no checkpoint in this folder{more}")


def _prefixes(folder: Path) -> list[Path]:
    return sorted(path.with_suffix("") for path in folder.glob("*.index"))


def _index(prefix: Path) -> Path:
    return prefix.with_name(prefix.name + ".index")


def _listed(paths: Sequence[Path]) -> str:
    names = [str(path) for path in paths]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def files_of(prefix: Path) -> list[Path]:
    """A checkpoint's own files, without the graph's."""
    return [
        path
        for path in sorted(prefix.parent.glob(f"{prefix.name}*"))
        if re.fullmatch(r"(\.index|\.data-\d+-of-\d+)?", path.name[len(prefix.name) :])
    ]


def convert(request: Request, to: Path, progress: TextIO | None = None) -> Result:
    """Convert, and write the new checkpoint to a folder that is not there, or is empty.

    Where Keras wrote the source, ``to`` is a file that is not there.

    Raises:
      NoCheckpoint: what was given is one of TF2's.
      NotConverted: the new program did not come to its checkpoint.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as work, explained():
            return _convert(request, to, Path(work), progress)
    except NotCompared as error:
        raise NotConverted(str(error)) from error


def _convert(request: Request, to: Path, work: Path, progress: TextIO | None) -> Result:
    pair = request.pair
    before, after, roots, _ = programs(pair, work, None)
    old, new = wanted(pair, only_recorded=False)
    target = runtimes.ensure(new, progress)
    # Graph code that finds its folder trained to the end would come to no saver.
    folder = None if request.of_keras else request.source.parent
    options = replace(pair.options, roots=roots, anew=folder)
    asked: dict[str, Any] = {
        "source": str(request.source.resolve()),
        "weights_only": request.weights_only or request.of_keras,
        "given": dict(request.given),
        "skip": list(request.skip),
        "model_dir": request.model_dir,
    }
    if request.of_keras:
        asked["file"] = to.name
    devices = pair.devices[0]
    template: Side | None = None
    if request.to_tf1:
        reference = runtimes.ensure(old or runtimes.TF1, progress)
        template = run_until_checkpoint(reference, before, devices, options, work / "template")
        asked.update(_saved(template, request, work / "template" / CHECKPOINT))
        asked["values"] = str(request.source.resolve())
    side = run_until_checkpoint(target, after, devices, options, work / "1", asked)
    found = _found(side, request)
    if found["state"] == "refused" and not request.to_tf1 and _order_may_help(found):
        if progress is not None:
            text = "names and shapes do not tell all variables apart: running the old program"
            print(f"{text} for the order in which it makes them", file=progress, flush=True)
        reference = runtimes.ensure(old or runtimes.TF1, progress)
        first = replace(options, steps=1)
        made = run_one(reference, before, devices, first, work / "order").training
        asked["order"] = whole([variable["name"] for variable in made.get("variables", [])])
        meant = {name for _, alike in found["lacking"] for name in alike}
        if not meant <= set(asked["order"]):  # it trains nothing, or not all of them
            asker = run_until_checkpoint(reference, before, devices, options, work / "template")
            asked["order"] = _saved(asker, request, work / "template" / CHECKPOINT)["order"]
        if asked["order"]:
            side = run_until_checkpoint(target, after, devices, options, work / "2", asked)
            found = _found(side, request)
    versions = ((template or side).trace or {}).get("versions", {})
    keras = "" if request.to_tf1 else f", Keras {versions.get('keras')}"
    runtime = f"TensorFlow {versions.get('tensorflow')}{keras}"
    files = [path for one in ("1", "2") for path in (work / one / CHECKPOINT).glob("*")]
    result = Result(found["state"], found, files, runtime, request.to_tf1, request.of_keras)
    if result.state != "refused":
        write(result, to, request.source)
    return result


def whole(names: Sequence[str]) -> list[str]:
    """Names of variables as checkpoints have them."""
    return list(dict.fromkeys(_PART.sub("", name) for name in names))


def _saved(side: Side, request: Request, folder: Path) -> dict[str, Any]:
    """What the old program's saver writes: ``source``, and the ``order`` of its variables.

    Raises:
      NotConverted: it did not come to a saver.
    """
    name, found = request.pair.before, (side.trace or {}).get("checkpoint") or {}
    if found.get("state") == "saved":
        return {"source": str(folder / "model.ckpt"), "order": whole(found["order"])}
    if side.crash is not None:
        raise NotConverted(_crashed(str(name), side))
    raise NotConverted(f"{name} ended without a saver: there is nothing that it would restore")


def _crashed(name: str, side: Side) -> str:
    crash = side.crash
    assert crash is not None
    lines = [f"{name} {crash}", *(f"  {line}" for line in crash.lines)]
    return "\n".join([*lines, *([crash.advice] if crash.advice else [])])


def _order_may_help(found: Mapping[str, Any]) -> bool:
    """Whether all that lacks a partner has several candidates, and nothing else is wrong."""
    lacking = found.get("lacking", ())
    return bool(lacking) and all(alike for _, alike in lacking)


def _found(side: Side, request: Request) -> dict[str, Any]:
    """What the probe found.

    Raises:
      NoCheckpoint, NotConverted: as ``convert``.
    """
    name, found = request.pair.after, dict((side.trace or {}).get("checkpoint") or {})
    state = found.get("state", "not reached")
    if state == "object-based":
        raise NoCheckpoint(
            f"{request.source} is a checkpoint of TF2's, or of Keras objects: a program restores "
            "it as it is"
        )
    if state == "not its own":
        text = "--to-tf1 takes a checkpoint that the new program wrote"
        raise NoCheckpoint(f"{request.source} is of another kind than {name} writes: {text}")
    if state == "failed":
        raise NotConverted(f"{name}: {found['error']}\n{found['traceback']}")
    if state != "not reached":
        return found
    if side.crash is not None:
        raise NotConverted(_crashed(str(name), side))
    folders = [folder for folder in found.get("folders", ()) if folder]
    if request.model_dir is not None:
        there = ", ".join(folders) or "none"
        raise NotConverted(f"{name} has no checkpoint in {request.model_dir}; it has {there}")
    if request.of_keras:
        raise NotConverted(
            f"{name} ended without a Keras model that loads weights, trains, evaluates or "
            "predicts, and has its variables by then"
        )
    raise NotConverted(
        f"{name} ended without a tf.train.CheckpointManager, a tf.train.Checkpoint or a saver: "
        "there is nothing that it would restore a checkpoint into"
    )


def write(result: Result, to: Path, source: Path) -> None:
    """Take the new files to their folder, or the old ones that the new program reads.

    Where Keras wrote the source, ``to`` is the new file.
    """
    if result.of_keras:
        for path in result.files:
            shutil.move(str(path), str(to))
        to.with_name(f"{to.name}.txt").write_text(table(result), encoding="utf-8")
        return
    to.mkdir(parents=True, exist_ok=True)
    for path in result.files:
        shutil.move(str(path), str(to / path.name))
    if result.state != "written":
        for path in files_of(source):
            shutil.copyfile(path, to / path.name)
        state = f'model_checkpoint_path: "{source.name}"\n'
        state += f'all_model_checkpoint_paths: "{source.name}"\n'
        (to / STATE).write_text(state, encoding="utf-8")
    (to / TABLE).write_text(table(result), encoding="utf-8")


# Words ------------------------------------------------------------------------------------------

_HOW = {
    "name": "",
    "number": "by the order of the numbers in their names",
    "layer": "by its layer's shapes",
    "shape": "the only ones of this shape",
    "order": "by the order in which both programs make them",
    "given": "as given",
}


def table(result: Result) -> str:
    """The partners, one a line: the new variable, TF1's tensor, what became of its value."""
    data = result.data
    if result.state in ("names", "graph"):
        sides = ("old", "the new one's") if result.to_tf1 else ("new", "TF1's")
        text = f"The {sides[0]} program reads {sides[1]} files as they are, by TF1's names"
        return f"{text}: they are copied.\n"
    shapes = data.get("shapes", {})
    lines = [("new variable", "TF1's tensor", "shape", "")]
    for row in data.get("rows", ()):
        source, notes = row["from"], []
        change = row["change"]
        if change[0] == "times":
            done = "divided by" if result.to_tf1 else "times"
            notes.append(f"{done} {change[1]:g}: Keras's velocity is minus rate times the sum")
        elif change[0] in ("rest of one", "minus"):
            done = "with" if result.to_tf1 else "without"
            notes.append(f"{done} what is left of the one that TF1 begins at")
        elif change[0] == "power":
            notes.append(f"{change[1]:g} to the power of {change[2]}")
        elif change[0] == "steps":
            notes.append(f"{change[1]} steps")
        elif change[0] == "own":
            notes.append("its first value: " + row["how"])
        if source is not None and _HOW[row["how"]]:
            notes.append(_HOW[row["how"]])
        shape = "" if source is None else str(shapes.get(source, ""))
        lines.append((row["to"], source or "-", shape, "; ".join(notes)))
    for name, reason in data.get("unused", ()):
        reason += "; it keeps its first value" if result.to_tf1 else ""
        lines.append(("-", name, str(shapes.get(name, "")), reason))
    return aligned(lines)


def aligned(lines: Sequence[tuple[str, ...]]) -> str:
    """Columns, each as wide as what is in it."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    rows = ("  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths)) for line in lines)
    return "".join(f"{row.rstrip()}\n" for row in rows)


def refusal(result: Result) -> str:
    """What has no partner on either side, and what to do."""
    data, lines = result.data, []
    shapes = data.get("shapes", {})
    for problem in data.get("problems", ()):
        lines.append(problem)
    lacking = data.get("lacking", ())
    if lacking:
        lines.append("variables of the new program without a partner:")
        for name, alike in lacking:
            could = f" (of its shape: {', '.join(alike[:4])}{', ...' * (len(alike) > 4)})"
            lines.append(f"  {name}{could if alike else ''}")
    if data.get("left"):
        whose = "that the old program saves" if result.to_tf1 else "of the checkpoint"
        lines.append(f"tensors {whose} without a partner:")
        lines += [f"  {name} {shapes.get(name, '')}" for name in data["left"]]
    # A saver restores what it names, whatever else there is.
    if lacking and not data.get("named"):
        lines.append("`--pair NEW=OLD` names a partner")
    if data.get("left") and not data.get("named"):
        lines.append("`--skip PATTERN` leaves tensors of TF1's out")
    return "\n".join(lines) + "\n"
