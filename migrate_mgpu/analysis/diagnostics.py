"""Why something stays as it is: a place, a reason, what its owner can do."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record

INTERNAL_ERROR = "internal-error"


@record(frozen=True)
class Place:
    """A node in its module."""

    module: Module
    node: ast.AST


@record(frozen=True)
class Diagnostic:
    """Why a site, a model or a program stays as it is.

    ``key`` is what it is, short and stable: a later stage decides by it, never by the
    wording. ``reason`` completes "not migrated: ..."; ``advice`` says what its owner can
    do. ``code`` is the rule that a finding of it names; ``symbol`` the name that it is
    about, where it is about one; ``affects`` what of the program's behaviour is not what it
    was (``core.findings``).
    """

    key: str
    place: Place
    reason: str
    advice: str = ""
    code: str = "MGPU902"
    symbol: str = ""
    affects: str = ""

    @property
    def module(self) -> Module:
        return self.place.module

    @property
    def node(self) -> ast.AST:
        return self.place.node


class Refused(Exception):
    """Stops a reader: a statement stands in the way of a whole model, whose program stays.

    ``key`` is given where something decides by it: nothing decides by what has none, nor by
    words (``tests/run/test_wording.py`` words every reason otherwise).
    """

    def __init__(
        self,
        module: Module,
        node: ast.AST,
        reason: str,
        advice: str = "",
        key: str = "",
    ) -> None:
        super().__init__(reason)
        self.diagnostic = Diagnostic(key, Place(module, node), reason, advice)

    @classmethod
    def because(cls, why: Diagnostic) -> Refused:
        """The same diagnostic, as what stops a reader."""
        return cls(why.module, why.node, why.reason, why.advice, why.key)


def internal_error(place: Place, error: Exception) -> Diagnostic:
    """A defect of ours: one program stays as it is, all others are still done."""
    text = f"internal error, please report it: {type(error).__name__}: {error}"
    return Diagnostic(INTERNAL_ERROR, place, text)
