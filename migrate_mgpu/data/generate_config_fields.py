"""Generate `config_fields.json`: the fields of TF 1.15's ConfigProto.

Read from the descriptors of TensorFlow itself. Each runtime dumps its own, one
command (without TensorFlow) merges them; run in this folder:

    tf1.15 python  generate_config_fields.py dump tf1.15.json
    tf2.15 python  generate_config_fields.py dump tf2.15.json
    tf2.21 python  generate_config_fields.py dump tf2.21.json
    any python     generate_config_fields.py merge tf1.15.json tf2.15.json tf2.21.json \\
                       -o config_fields.json

The runtimes: tensorflow 1.15.5 on Python 3.7, 2.15.1 and 2.21.0 on 3.11. This
file therefore stays Python 3.7-clean.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import sys
from typing import Any, Iterator  # noqa: UP035 - Python 3.7

COMMANDS = [
    " ".join(line.split())
    for line in (__doc__ or "").replace("\\\n", " ").splitlines()
    if "generate_config_fields.py" in line
]
MEANING = {
    "fields": "{path: facts} of every leaf field below ConfigProto of 1.15. A map is a leaf; a "
    "repeated message is not: its own leaves follow, and the path has [] behind its name",
    "messages": "{path: facts} of every field that is itself a message, or a list of them",
    "type": "the type of the value, in protobuf's words; for an enum or a message its full name",
    "label": "optional, repeated or map",
    "default": "what a field has that nobody set; absent for repeated fields and maps",
    "deprecated": "only there when the descriptor says so",
    "tf2.15, tf2.21": "true if the path still exists and says the same, false if it does not "
    "exist any more, otherwise the facts that changed",
    "enums": "{full name: {runtime: {name: number}}} of the fields' enums",
}


def value_type(field: Any) -> str:
    """`bool`, `int32`, ... or the full name of an enum or a message."""
    if field.message_type is not None:
        return str(field.message_type.full_name)
    if field.enum_type is not None:
        return str(field.enum_type.full_name)
    names = {getattr(field, name): name for name in dir(field) if name.startswith("TYPE_")}
    return names[field.type].split("_")[1].lower()


def describe(field: Any) -> dict[str, Any]:
    """What the descriptor says about one field."""
    message, enum = field.message_type, field.enum_type
    if message is not None and message.GetOptions().map_entry:
        key, value = (value_type(message.fields_by_name[part]) for part in ("key", "value"))
        facts: dict[str, Any] = {"type": f"map<{key}, {value}>", "label": "map"}
    else:
        facts = {"type": value_type(field), "label": "repeated" if repeated(field) else "optional"}
    if facts["label"] == "optional" and message is None:
        facts["default"] = field.default_value
        if enum is not None:
            facts["default"] = enum.values_by_number[field.default_value].name
    if field.GetOptions().deprecated:
        facts["deprecated"] = True
    return facts


def enums(message: Any) -> dict[str, dict[str, int]]:
    """The enums of all fields below a message, by full name."""
    found = {}
    for field in message.fields:
        if field.enum_type is not None:
            values = field.enum_type.values
            found[field.enum_type.full_name] = {value.name: value.number for value in values}
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            found.update(enums(field.message_type))
    return found


def repeated(field: Any) -> bool:
    """Whether the field is a list; newer protobuf has no `label` any more."""
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == field.LABEL_REPEATED)


def walk(message: Any, prefix: str = "") -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Path, whether it is a leaf, and facts of each field below a message."""
    for field in message.fields:
        path, facts = prefix + field.name, describe(field)
        leaf = field.message_type is None or facts["label"] == "map"
        yield path, leaf, facts
        if not leaf:
            more = "[]." if facts["label"] == "repeated" else "."
            yield from walk(field.message_type, path + more)


def dump(out: pathlib.Path) -> None:
    """Write what the TensorFlow of this interpreter says."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    tf: Any = importlib.import_module("tensorflow")
    descriptor = tf.compat.v1.ConfigProto.DESCRIPTOR
    rows = list(walk(descriptor))
    result = {
        "tensorflow": tf.__version__,
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "fields": {path: facts for path, leaf, facts in rows if leaf},
        "messages": {path: facts for path, leaf, facts in rows if not leaf},
        "enums": enums(descriptor),
    }
    out.write_text(json.dumps(result, indent=1), encoding="utf-8")


def merge(parts: list[pathlib.Path]) -> dict[str, Any]:
    """The content of `config_fields.json`."""
    runtimes = ("tf1.15", "tf2.15", "tf2.21")
    dumps = [json.loads(part.read_text(encoding="utf-8")) for part in parts]
    result: dict[str, Any] = {
        "about": {
            "what": "The fields of TF 1.15's ConfigProto; generated, do not edit.",
            "meaning": MEANING,
            "commands": COMMANDS,
            "runtimes": {
                runtime: {key: part[key] for key in ("tensorflow", "python")}
                for runtime, part in zip(runtimes, dumps)
            },
        }
    }
    for kind in ("fields", "messages"):
        result[kind] = {}
        for path, facts in sorted(dumps[0][kind].items()):
            row = dict(facts)
            for runtime, part in zip(runtimes[1:], dumps[1:]):
                now = part[kind].get(path)
                changed = {k: v for k, v in (now or {}).items() if facts.get(k) != v}
                row[runtime] = changed or now is not None
            result[kind][path] = row
    result["enums"] = {
        name: {runtime: part["enums"].get(name) for runtime, part in zip(runtimes, dumps)}
        for name in sorted(dumps[0]["enums"])
    }
    return result


def layout(data: dict[str, Any]) -> str:
    """JSON with one field a line."""
    lines = ['"about": ' + json.dumps(data["about"], indent=1)]
    for kind in ("fields", "messages", "enums"):
        rows = [json.dumps(path) + ": " + json.dumps(row) for path, row in data[kind].items()]
        lines.append(json.dumps(kind) + ": {\n" + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """The command line; see the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    one = commands.add_parser("dump", help="write the fields of the runtime that runs this")
    one.add_argument("out", type=pathlib.Path)
    both = commands.add_parser("merge", help="write config_fields.json")
    both.add_argument("parts", nargs=3, type=pathlib.Path)
    both.add_argument("-o", "--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if options.command == "dump":
        dump(options.out)
    elif options.command == "merge":
        options.out.write_text(layout(merge(options.parts)), encoding="utf-8")
    else:
        parser.error("dump or merge?")


if __name__ == "__main__":
    main()
