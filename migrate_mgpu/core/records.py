"""Classes that are their annotated fields, as ``dataclasses`` makes them, without its cost.

``dataclasses`` writes and compiles the methods of each class anew in every process: for the
fifty classes of a run over one file that was 40 % of the run. The classes here share theirs.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


T = TypeVar("T")


class _Made:
    """A field's default that is made anew for each object."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def field(*, default_factory: Callable[[], T]) -> T:
    """A field whose default is what a function returns, for each object anew."""
    made: Any = _Made(default_factory)
    return made  # type: ignore[no-any-return]


@dataclass_transform(field_specifiers=(field,))
def record(
    *, frozen: bool = False, eq: bool = True, kw_only: bool = False
) -> Callable[[type[T]], type[T]]:
    """A class decorator that makes the annotated names fields, arguments of the constructor.

    ``frozen``: they cannot be assigned. ``eq``: objects with equal fields are equal (and
    hashable, if frozen); without it each object is equal to itself alone. ``kw_only``: they
    are given by name, and come behind the fields of classes that inherit them.
    """

    def decorate(cls: Any) -> Any:
        fields: dict[str, Any] = {}
        named: dict[str, Any] = {}
        for base in cls.__mro__[:0:-1]:
            known = base.__dict__.get("_fields", {})
            by_name = base.__dict__.get("_named", ())
            fields.update((name, known[name]) for name in known if name not in by_name)
            named.update((name, known[name]) for name in by_name)
        for name in vars(cls).get("__annotations__", ()):
            default = cls.__dict__.get(name, _REQUIRED)
            (named if kw_only else fields)[name] = default
            if type(default) is _Made:
                delattr(cls, name)
        cls._named = tuple(named)
        cls._fields = fields = {**fields, **named}
        cls.__init__ = _initialiser(cls.__name__, fields)
        cls.__repr__ = _shown
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        if eq:
            cls.__eq__ = _equal
            cls.__hash__ = _hashed if frozen else None
            cls._key = attrgetter(*fields)
        return cls

    return decorate


_REQUIRED = object()


def replaced(one: T, **changes: Any) -> T:
    """A copy of a record with other values in some fields."""
    values = {name: getattr(one, name) for name in one._fields}  # type: ignore[attr-defined]
    return type(one)(**{**values, **changes})


def _initialiser(name: str, fields: dict[str, Any]) -> Callable[..., None]:
    names = tuple(fields)
    count = len(names)
    simple = {n: v for n, v in fields.items() if v is not _REQUIRED and type(v) is not _Made}
    made = [(n, v.factory) for n, v in fields.items() if type(v) is _Made]

    def initialise(self: object, *args: Any, **keywords: Any) -> None:
        values = self.__dict__
        if len(args) == count and not keywords:
            values.update(zip(names, args))
            return
        values.update(simple)
        values.update(zip(names, args))
        values.update(keywords)
        for one, factory in made:
            if one not in values:
                values[one] = factory()
        if values.keys() != fields.keys() or len(args) > count:
            raise TypeError(f"{name}({', '.join(names)}) got {args} and {keywords}")

    return initialise


def _shown(self: Any) -> str:
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
    return f"{type(self).__name__}({values})"


def _refuse(self: object, name: str, value: object = None) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be assigned")


def _equal(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return self._key(self) == self._key(other)


def _hashed(self: Any) -> int:
    return hash(self._key(self))
