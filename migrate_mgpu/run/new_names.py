"""Names that TF2 lost: what is written for them in a migrated module, and what is not."""

from __future__ import annotations

import ast
from collections import defaultdict

from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.import_edits import unused_lost_imports
from migrate_mgpu.analysis.incompatibilities import (
    GONE_LATE,
    GONE_TOLD,
    gone_names,
    incompatibilities,
)
from migrate_mgpu.analysis.module import Module, Use
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.records import replaced
from migrate_mgpu.core.registry import Rule, of
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.session_config.program_rewriter import NamesRewriter, NewNames

_LATE = (GONE_LATE, GONE_TOLD)


class LostNames:
    """Asks the rewriters of names, once for each module."""

    def __init__(self, project: Project, rules: Selection) -> None:
        self.rules = rules
        self._may_write = project.has_files_beside
        self._modules = project.modules.values()
        self.importers: dict[Module, list[Module]] = defaultdict(list)
        for module in project.modules.values():
            for imported in module.imported:
                self.importers[imported].append(module)
        self._found: dict[Module, list[tuple[Rule, NewNames]]] = {}
        self._left: dict[Module, list[Diagnostic]] = {}

    def of(self, module: Module) -> list[tuple[Rule, NewNames]]:
        """What a bridge writes in a module, by rule; nothing where a name is gone for good."""
        if module not in self._found:
            found: list[tuple[Rule, NewNames]] = []
            if module.writable and any(use.status == "gone" for use in module.uses):
                for rewriter in of(NamesRewriter):
                    if self.rules.enabled(rewriter.rule.code, rewriter.rule.name):
                        new = rewriter.plan(module, self.importers[module])
                        if new.nodes and all(map(self._may_write, new.files)):
                            found.append((rewriter.rule, new))
            if any(not new.edits for _, new in found):
                nodes = {node for _, new in found for node in new.nodes}
                if not any(one.symbol for one in incompatibilities(module, nodes)):
                    # No other name is told that keeps these as they are: they are told.
                    found = [(rule, new) for rule, new in found if new.edits]
            self._found[module] = found
        return self._found[module]

    def of_native(self, module: Module) -> list[tuple[Rule, NewNames]]:
        """What a native program of a session writes in a module, by rule.

        An import that nothing uses goes there, with whatever else would be written for it.
        """
        every = [(rule, new if new.eager else new.native) for rule, new in self.of(module)]
        found = [(rule, new) for rule, new in every if new is not None]
        if not found:
            return []
        unused = {*unused_lost_imports(module, self._modules)}
        return [(rule, new) for rule, new in found if not new.nodes <= unused]

    def written(self, module: Module) -> set[ast.AST]:
        """The mentions for which a native program of a session has something else."""
        return {node for _, new in self.of_native(module) for node in new.nodes}

    def left(self, module: Module) -> list[Diagnostic]:
        """What keeps a module from running on TF2 in a bridge."""
        if module not in self._left:
            found = [new for _, new in self.of(module)]
            left = incompatibilities(module, {node for new in found for node in new.nodes})
            stay = {node for new in found if not new.edits for node in new.nodes}
            # All of a module's names are written, or none: what stays fails as well.
            if any(_runs_when_imported(module, node) for node in stay):
                left = [replaced(w, key="gone-name") if w.key in _LATE else w for w in left]
            elif stay:
                written = {node for new in found if new.edits for node in new.nodes}
                left += _stays_with(left, incompatibilities(module, written))
            self._left[module] = left
        return self._left[module]

    def gone(self, module: Module) -> list[Use]:
        """The mentions of names that TF2 lost for which nothing is written in a bridge."""
        written = {node for _, new in self.of(module) if new.edits for node in new.nodes}
        return [use for use in gone_names(module) if use.node not in written]

    def names(self, module: Module) -> set[str]:
        """The names of TensorFlow's v1 API that a bridge uses in a module beside the author's."""
        return {name for _, new in self.of(module) for name in new.names}


def _stays_with(left: list[Diagnostic], every: list[Diagnostic]) -> list[Diagnostic]:
    """What of names that could be written stays, because others of their module do."""
    first = next((why for why in left if why.key in _LATE), None)
    known = {(why.symbol, why.node) for why in left}
    return [
        replaced(
            why,
            reason=f"`tensorflow.{why.symbol}` stays as long as `tensorflow.{first.symbol}` does",
            advice=first.advice,
        )
        for why in every
        if first is not None and why.key in _LATE and (why.symbol, why.node) not in known
    ]


def _runs_when_imported(module: Module, node: ast.AST) -> bool:
    names = module.names
    guarded = any(map(is_main_guard, names.ancestors(node)))
    return names.scope_at(node) is names.module_scope and not guarded
