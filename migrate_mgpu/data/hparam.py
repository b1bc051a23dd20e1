"""Named values with types, as ``tf.contrib.training.HParams`` of TensorFlow 1 holds them.

The same attributes, checks, messages and orders; protocol buffers are left out.
"""

import json
import numbers
import re
from typing import Any

# "name=value", "name=[value, value]" or "name[index]=value", and what parts it from the next.
_CLAUSE = re.compile(
    r"""
    (?P<name>[a-zA-Z][\w\.]*)
    (\[\s*(?P<index>\d+)\s*\])?
    \s*=\s*
    ((?P<value>[^,\[]*) | \[(?P<values>[^\]]*)\])
    ($|,\s*)
    """,
    re.VERBOSE,
)


class _OfAnyPackage(type):
    """Packages have copies of this file: an object of one copy is one of each."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if "_of_any_package" in vars(cls):
            return hasattr(type(instance), "_of_any_package")
        return super().__instancecheck__(instance)


class HParams(metaclass=_OfAnyPackage):
    """Hyperparameters: each is an attribute, and keeps the type of its first value.

    The type of a list is that of its items.
    """

    _of_any_package = True

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **values: Any) -> None:
        if hparam_def:
            raise ValueError("there are no protocol buffers of hyperparameters here")
        self._hparam_types: dict[str, Any] = {}  # of each name its type, and whether it is a list
        self._model_structure = model_structure
        for name, value in values.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """A new hyperparameter."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value of a hyperparameter, of the type that it has."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Takes a hyperparameter away, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> "HParams":
        """Sets what a text like ``rate=0.1,units=[8,16],names[1]=b`` says."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: dict[str, Any]) -> "HParams":
        """Sets hyperparameters that are there."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: dict[str, Any]) -> "HParams":
        """The older name of ``override_from_dict``."""
        return self.override_from_dict(values_map)

    def parse_json(self, values_json: str) -> "HParams":
        """Sets what an object of JSON says."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as an object of JSON."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """The values by their names, in the order in which they were added."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """A value, or the default, which must be of its type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            shown = f"list<{kind}>" if is_list else str(kind)
            failed = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(failed)
            try:
                for item in default if is_list else [default]:
                    _cast(key, kind, item)
            except ValueError as error:
                raise ValueError(f"{failed}. {error}") from error
        return getattr(self, key)

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps an object that describes the model."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """The object that describes the model."""
        return self._model_structure

    def __contains__(self, key: object) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"


def parse_values(
    values: str, type_map: dict[str, Any], ignore_unknown: bool = False
) -> dict[str, Any]:
    """What a text of clauses sets, by name: a value, a list, or values by index."""
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        clause = _CLAUSE.match(values, position)
        if clause is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = clause.end()
        name, index = clause["name"], clause["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        if clause["value"] is not None:
            value = _parsed(name, kind, clause["value"], [clause["value"]], values)[0]
            if not index:
                _claim(name, name in found, values)
                found[name] = value
            else:
                items = found.setdefault(name, {})
                _claim(name, not isinstance(items, dict), values)
                _claim(f"{name}[{int(index)}]", int(index) in items, values)
                items[int(index)] = value
        else:
            if index is not None:
                raise ValueError("Assignment of a list to a list index.")
            texts = [text for text in re.split("[ ,]", clause["values"]) if text]
            _claim(name, name in found, values)
            found[name] = _parsed(name, kind, clause["values"], texts, values)
    return found


def _parsed(name: str, kind: Any, shown: str, texts: list[str], values: str) -> list[Any]:
    """Texts as values of a type."""
    try:
        return [_boolean(text) if kind is bool else kind(text) for text in texts]
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' "
            f"with value '{shown}' in {values}"
        ) from None


def _boolean(text: str) -> bool:
    if text in ("true", "True", "false", "False"):
        return text in ("true", "True")
    return bool(int(text))


def _claim(name: str, taken: bool, values: str) -> None:
    if taken:
        raise ValueError(f"Multiple assignments to variable '{name}' in {values}")


def _cast(name: str, kind: Any, value: Any) -> Any:
    """A value in the type of its hyperparameter, where nothing of it is lost."""
    if type(value) is kind or issubclass(kind, type(None)):
        return value
    if (
        (issubclass(kind, (str, bytes)) and not isinstance(value, (str, bytes)))
        or issubclass(kind, bool) != isinstance(value, bool)
        or (issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral))
        or (issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number))
    ):
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)
