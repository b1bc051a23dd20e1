"""What a rewriter module is, and the registry that finds them all.

A rewriter is a module in ``migrate_mgpu.rewriters`` with a constant ``RULE``.
Dropping a file in registers it: its code and name then work in ``--select``,
``--ignore``, ``rules`` and ``explain``, its ``CASES`` are its tests and its
documentation.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from migrate_mgpu.core.records import field, record
from migrate_mgpu.session_config.flows import Setting


@record(frozen=True)
class Rule:
    """One rule's identity: ``code`` (``MGPU103``), ``name`` (``memory-growth``), one-line summary.

    ``fields`` are the ConfigProto paths that the rule moves, if it is a field's
    rule. ``early`` says that TF2 refuses the call once the runtime is initialised.
    """

    code: str
    name: str
    summary: str
    fields: tuple[str, ...] = ()
    early: bool = True


@record(frozen=True)
class Case:
    """An example that is a test: ``before`` becomes ``after``, or stays for a reason.

    ``refused`` is a part of the finding's text. ``name`` titles it in the docs.
    """

    name: str
    before: str
    after: str | None = None
    refused: str | None = None


@record()
class Writer:
    """What a field's rule needs to write its calls in the style of a file."""

    tf: str  # how the module spells TensorFlow
    quote: str
    unit: str  # one level of indentation
    fresh: Callable[..., str]
    code: Callable[[ast.expr], str]
    imports: set[str] = field(default_factory=set)  # modules that the calls use

    def string(self, text: str) -> str:
        return f"{self.quote}{text}{self.quote}"

    def devices(self, kind: str = "GPU") -> str:
        return f"{self.tf}.config.list_physical_devices({self.string(kind)})"


class FieldRule:
    """A rewriter module that moves fields of a ConfigProto."""

    def __init__(self, module: ModuleType) -> None:
        self.rule: Rule = module.RULE
        self.cases: tuple[Case, ...] = tuple(module.CASES)
        self._plan: Callable[[Setting], str | None] = getattr(module, "plan", lambda _: None)
        self._apply: Callable[[Setting, Writer], list[str]] = module.apply
        self.doc: str = module.__doc__ or ""

    def plan(self, setting: Setting) -> str | None:
        """Why this value cannot move exactly; None when it can."""
        return self._plan(setting)

    def apply(self, setting: Setting, writer: Writer) -> list[str]:
        """The lines that do in TF2 what the setting did; may be none for TF2's own default."""
        return self._apply(setting, writer)


def modules() -> tuple[ModuleType, ...]:
    """Every rewriter module, by code."""
    return tuple(sorted((*session_modules(), *_load(True)), key=lambda m: m.RULE.code))


def session_modules() -> tuple[ModuleType, ...]:
    """The rewriter modules of a run without Estimators, by code.

    Loading the others takes longer than all else that such a run does.
    """
    return _load(False)


# The beginnings of the names of modules that work inside of an Estimator's conversion.
_OF_ESTIMATORS = ("estimator_", "canned_", "distribution_strategy", "run_config")


@lru_cache(maxsize=2)
def _load(estimators: bool) -> tuple[ModuleType, ...]:
    package = importlib.import_module("migrate_mgpu.rewriters")
    # pkgutil would find them as well, and import half of the standard library for it.
    names = [path.stem for folder in package.__path__ for path in Path(folder).glob("*.py")]
    found = [
        importlib.import_module(f"migrate_mgpu.rewriters.{name}")
        for name in sorted(names)
        if name != "__init__" and name.startswith(_OF_ESTIMATORS) is estimators
    ]
    return tuple(sorted((m for m in found if hasattr(m, "RULE")), key=lambda m: m.RULE.code))


@lru_cache(maxsize=1)
def field_rules() -> dict[str, FieldRule]:
    """The rule of each ConfigProto path that moves."""
    return {
        path: rule
        for module in session_modules()
        if module.RULE.fields
        for rule in [FieldRule(module)]
        for path in rule.rule.fields
    }


def constant(node: ast.expr) -> object | None:
    """The value of a literal (also ``-1``), or None when it is not one."""
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def known(setting: Setting) -> object | None:
    """A setting's value where it can be told: a literal, or a variable that only ever holds one."""
    value = constant(setting.value)
    if value is None and isinstance(setting.value, ast.Name):
        bindings = setting.module.names.bindings_of(setting.value)
        if len(bindings) == 1 and bindings[0].value is not None:
            value = constant(bindings[0].value)
    return value


def enum_value(setting: Setting, members: dict[str, int]) -> int | None:
    """The number of an enum value, written as a number or as a name of TensorFlow's."""
    number = constant(setting.value)
    if isinstance(number, int) and number in members.values():
        return int(number)
    qualname = setting.module.names.qualname(setting.value) or ""
    if qualname.startswith("tensorflow."):
        return members.get(qualname.rpartition(".")[2])
    return None
