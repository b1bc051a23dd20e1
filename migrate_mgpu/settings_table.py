"""``[tool.migrate-mgpu]`` in a pyproject.toml."""

from __future__ import annotations

import os
import re
import sys

from migrate_mgpu.core.options import FORMATS, Options, UsageError, meant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def apply(path: str, data: bytes, options: Options, said: set[str]) -> None:
    """Sets what the table says and the command line does not.

    Raises:
        UsageError: not TOML, an unknown key, or a wrong value; with the place.
    """
    try:
        text = data.decode()
        document = tomllib.loads(text)
    except ValueError as error:  # also what is not UTF-8
        raise UsageError(f"{path}: is not valid TOML: {error}") from None
    tool = document.get("tool")
    if not isinstance(tool, dict):
        return
    if "migrate_mgpu" in tool:
        line = _line(text, "", "migrate_mgpu")
        raise UsageError(f"{path}:{line}: [tool.migrate_mgpu] is called [tool.migrate-mgpu]")
    table = tool.get("migrate-mgpu")
    if table is None:
        return
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.migrate-mgpu is not a table")
    folder = os.path.dirname(path)
    for key, value in table.items():
        place = f"{path}:{_line(text, key)}: [tool.migrate-mgpu]"
        if key not in _KEYS:
            near = meant(key, _KEYS) or f"; there are {', '.join(sorted(_KEYS))}"
            raise UsageError(f"{place} has no key {key!r}{near}")
        name, expected, convert = _KEYS[key]
        converted = convert(value)
        if converted is None:
            raise UsageError(f"{place} {key} must be {expected}, not {value!r}")
        if name in said:
            continue
        if name == "exclude":
            options.exclude_root = folder
        elif name == "baseline":
            converted = os.path.join(folder, converted)
        setattr(options, name, converted)
        options.places[name] = f"{place} {key}"


def _line(text: str, key: str, name: str = "migrate-mgpu") -> int:
    """Where a key of the table stands; the table's own line where that cannot be determined."""
    table = re.search(rf"^[ \t]*\[[ \t]*tool\b[^\n]*{name}[^\n]*\]", text, re.M)
    start = table.end() if table else 0
    found = key and re.search(rf"^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.]", text[start:], re.M)
    at = start + found.start() if found else (table.start() if table else 0)
    return text.count("\n", 0, at) + 1


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _not(value: Any) -> bool | None:
    return not value if isinstance(value, bool) else None


def _words(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(word, str) and word for word in value):
        return tuple(value)
    return None


def _format(value: Any) -> str | None:
    return value if value in FORMATS else None


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


_FLAG = "true or false"
_LIST = "a list of strings"
# Each key: the option, what it may be, how it is read.
_KEYS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "select": ("select", _LIST, _words),
    "ignore": ("ignore", _LIST, _words),
    "exclude": ("exclude", _LIST, _words),
    "bridge": ("bridge", _FLAG, _flag),
    "no-bridge": ("bridge", _FLAG, _not),
    "native-sessions": ("native_sessions", _FLAG, _flag),
    "no-native-sessions": ("native_sessions", _FLAG, _not),
    "output-format": ("output_format", f"one of {', '.join(FORMATS)}", _format),
    "strict": ("strict", _FLAG, _flag),
    "statistics": ("statistics", _FLAG, _flag),
    "quiet": ("quiet", _FLAG, _flag),
    "baseline": ("baseline", "the name of a file", _name),
}
