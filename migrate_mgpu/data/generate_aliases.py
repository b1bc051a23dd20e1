"""Makes ``aliases.json``: the usual name of what TF 1.15 calls by several.

Only what is one object counts: in 1.15 ``tf.dtypes.cast`` *is* ``tf.cast``. The usual name is the
shortest way to it: the fewest dots, then not one of a module that only passes on what is another's,
then one of ``nn``, then one that TF2 has as well, then the alphabet's first. Keras's names and
those of ``app.flags`` stay what they are. Run in TF 1.15::

    tf1.15 python generate_aliases.py aliases.json
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple  # noqa: UP035 - Python 3.7

_OTHER = ("app.", "compat.", "keras.")
_PASSED_ON = ("distribute.", "estimator.", "math.", "random.")  # modules of others' names


def dump(target: str) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.path.insert(0, str(Path(__file__).parent))
    symbols = importlib.import_module("generate_symbols")
    table = json.loads(Path(__file__).with_name("symbols.json").read_text("utf-8"))
    same = set(table["neutral"])
    tf = importlib.import_module("tensorflow")
    groups: Dict[int, Tuple[Any, List[str]]] = {}  # noqa: UP006
    for name, is_module in symbols.walk(tf):
        value = None if is_module or name.startswith(_OTHER) else symbols.find(tf, name)
        if value and callable(value[0]):
            groups.setdefault(id(value[0]), (value[0], []))[1].append(name)
    found: Dict[str, str] = {}  # noqa: UP006
    for _, names in groups.values():
        names.sort(
            key=lambda n: (
                n.count("."),
                n.startswith(_PASSED_ON),
                not n.startswith("nn."),
                n not in same,
                n,
            )
        )
        found.update(dict.fromkeys(names[1:], names[0]))
    Path(target).write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    dump(sys.argv[1])
