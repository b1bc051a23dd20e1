"""Makes ``renames.json``: the name in TF2 of what TF1 calls otherwise.

Only what is the same object counts: ``tf.compat.v1.log`` *is* ``tf.math.log``. Of several
names the shortest is taken. Run once in each of TF 2.15 and the newest, then join::

    tf2.15 python generate_renames.py dump a.json
    tf2.21 python generate_renames.py dump b.json
    any python generate_renames.py join a.json b.json -o renames.json
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from pathlib import Path

# Not a part of the public interface, or reached otherwise.
_OTHER = ("compat", "keras", "estimator", "dtensor", "python")


def _names(root: object, prefix: str = "", depth: int = 0) -> dict[str, object]:
    """Every public name below a module; TensorFlow's modules load when they are asked for."""
    found: dict[str, object] = {}
    for name in dir(root):
        if name.startswith("_") or (depth == 0 and name in _OTHER):
            continue
        try:
            value = getattr(root, name)
        except Exception:  # a lazy module that is not installed
            continue
        if inspect.ismodule(value):
            if depth < 4 and "_api" in getattr(value, "__name__", ""):
                found.update(_names(value, f"{prefix}{name}.", depth + 1))
        else:
            found[prefix + name] = value
    return found


def dump(target: str) -> None:
    tf = importlib.import_module("tensorflow")
    table = json.loads(Path(__file__).with_name("symbols.json").read_text("utf-8"))
    new: dict[int, list[str]] = {}
    values = _names(tf)
    for name, function in values.items():
        if callable(function):
            new.setdefault(id(inspect.unwrap(function)), []).append(name)
    found: dict[str, list[str]] = {}
    for name in table["v1_absent"]:
        value = tf.compat.v1
        try:
            for part in name.split("."):
                value = getattr(value, part)
        except AttributeError:
            continue
        names = new.get(id(inspect.unwrap(value))) if callable(value) else None
        if names:
            found[name] = sorted(names)
    Path(target).write_text(json.dumps(found), "utf-8")


def join(first: str, second: str, target: str) -> None:
    one, other = (json.loads(Path(p).read_text("utf-8")) for p in (first, second))
    found = {}
    for name in sorted(set(one) & set(other)):
        both = sorted(set(one[name]) & set(other[name]), key=lambda n: (n.count("."), len(n), n))
        if both:
            found[name] = both[0]
    Path(target).write_text(json.dumps(found, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "dump":
        dump(sys.argv[2])
    else:
        join(sys.argv[2], sys.argv[3], sys.argv[5])
