"""Estimators: what a program does with them, and the Keras program that does the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrate_mgpu.analysis.call_graph import CallGraph
    from migrate_mgpu.analysis.diagnostics import Diagnostic
    from migrate_mgpu.analysis.module import Module
    from migrate_mgpu.analysis.project import Project
    from migrate_mgpu.core.selection import Selection
    from migrate_mgpu.models.conversion import Conversion, Conversions

# No file of a run without Estimators has one of these.
_WORDS = re.compile(rb"stimator|\blearn\b")


class NoEstimators:
    """The conversions of a run without Estimators."""

    all: tuple[Conversion, ...] = ()

    def __init__(self, rules: Selection) -> None:
        self.rules = rules

    def of(self, modules: set[Module]) -> list[Conversion]:
        return []

    def calls(self) -> set[ast.AST]:
        return set()

    def share(self) -> None:
        pass


def conversions(
    project: Project, graph: CallGraph, rules: Selection, kept: Mapping[Module, Diagnostic]
) -> Conversions | NoEstimators:
    """What becomes of a run's Estimators, with the rules that are on.

    ``kept`` are the entry points of programs that stay for another reason. The code that knows
    takes longer to import than all other, and is for runs that have one.
    """
    if not any(_WORDS.search(data) for data in project.data.values()):
        return NoEstimators(rules)
    from migrate_mgpu.models.conversion import Conversions

    return Conversions(project, graph, rules, kept)
