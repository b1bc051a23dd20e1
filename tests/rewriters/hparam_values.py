"""Prints what ``HParams`` does: TF 1.15's, or that of the file in the folder of the first word.

Started by the tests in a runtime's own interpreter: Python 3.7-clean.
"""

from __future__ import annotations

import copy
import json
import re
import sys

if len(sys.argv) > 1:
    sys.path.insert(0, sys.argv[1])
    from hparam import HParams, parse_values
else:
    from tensorflow.contrib.training import HParams
    from tensorflow.contrib.training.python.training.hparam import parse_values

GIVEN = {
    "rate": 0.1,
    "units": 8,
    "name": "adam",
    "train": True,
    "none": None,
    "layers": [1, 2],
    "names": ["a", "b"],
    "rates": (0.5, 1.0),
    "flags": [True, False],
    "data": b"x",
}
TEXTS = """
rate=0.5|rate=1|rate=-.54e9,units=3|units=0.5|units=x|units=|name=b c|name=|name|train=false
train=True|train=1|train=0|train=2|train=yes|train=|none=3|layers=[3,4,5]|layers=[3 4]|layers=[]
layers=3|layers[0]=7|layers[ 1 ]=7|layers=[1.5]|layers[0]=1,layers[0]=2|layers=[1],layers[0]=1
layers[0]=1,layers=[1]|layers[0]=[1]|rate=[0.5]|names=[x, y]|rates=[1,2]|rates=0.1|flags=[true,0]
flags=[yes,true]|flags=[1,yes]|units=3,units=4|units=3,|units=3 ,rate=1|units=3,,rate=1|other=3
 units=3|units=3;rate=1|units = 3|data=y|1=2|units=[3|a.b=1|rate=nan|rate=1e400|names[0]=z|name=[x]
names=[x,[y]|name=a=b|layers=1,layers[0]=2|layers[0]=1,layers=2|layers[a]=1
""".replace("\n", "|").split("|")
VALUES = (
    1, 2.5, True, "x", b"x", None, [1], [2.5], [True], ["x"], [], (1, 2), [1, 2.5], [None], {"a": 1}
)  # fmt: skip
found = []


def shown(value):
    """A value with its type; objects without where they lie."""
    return re.sub(r" at 0x\w+", "", f"{type(value).__name__} {value!r}")


def note(what, function):
    params = HParams(**GIVEN)
    try:
        result = shown(function(params))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # Python words these itself, by its version.
        said = str(error) if type(error) in (ValueError, KeyError) else ""
        result = f"{type(error).__name__}: {said}"
    found.append([what, result, shown(params.values()), str(params), repr(params)])


for text in TEXTS:
    note(f"parse {text}", lambda p, text=text: p.parse(text))
    kinds = {"rate": float, "units": int, "train": bool, "a.b": int, "layers": int}
    for unknown in (False, True):
        note(
            f"parse_values {text} {unknown}",
            lambda p, text=text, kinds=kinds, unknown=unknown: parse_values(text, kinds, unknown),
        )
for name in (*GIVEN, "other"):
    for value in VALUES:
        note(f"set {name} {value!r}", lambda p, n=name, v=value: p.set_hparam(n, v))
        note(f"get {name} {value!r}", lambda p, n=name, v=value: p.get(n, v))
        note(
            f"override {name}", lambda p, n=name, v=value: p.override_from_dict({n: v, "units": 5})
        )
        note(f"map {name}", lambda p, n=name, v=value: p.set_from_map({n: v}))
        note(f"add {name}", lambda p, n=name, v=value: p.add_hparam(n, v))
        note(f"assign {name}", lambda p, n=name, v=value: setattr(p, n, v))
        note(f"make {name}", lambda p, n=name, v=value: HParams(**{n: v}))
    note(f"in {name}", lambda p, n=name: n in p)
    note(f"get {name}", lambda p, n=name: p.get(n))
    note(f"del {name}", lambda p, n=name: p.del_hparam(n))
    note(f"attribute {name}", lambda p, n=name: getattr(p, n))
for name in ("parse", "values", "get", "_hparam_types", "a.b", "none"):
    note(f"new {name}", lambda p, n=name: p.add_hparam(n, 3))
for text in (
    '{"rate": 1, "layers": [4]}',
    '{"rate": "x"}',
    '{"other": 1}',
    "[1]",
    "{",
    '{"none": []}',
):
    note(f"parse_json {text}", lambda p, text=text: p.parse_json(text))
note("json", lambda p: (p.del_hparam("data"), p.to_json())[1])
note("json", lambda p: (p.del_hparam("data"), p.to_json(2, (",", ":"), True))[1])
note("json of bytes", lambda p: p.to_json())
note("order", lambda p: (p.del_hparam("rate"), p.add_hparam("rate", 2), list(p.values()))[2])
note("iteration", lambda p: list(iter(p)))
note("copy", lambda p: copy.deepcopy(p).values())
note("copy of values", lambda p: HParams(**p.values()).values())
note("structure", lambda p: (p.set_model_structure(3), p.get_model_structure())[1])
note("made with a structure", lambda p: HParams(model_structure=4, rate=1).get_model_structure())
note("equal", lambda p: p == HParams(**GIVEN))
note("types", lambda p: sorted(p._hparam_types))
print(json.dumps(found))
