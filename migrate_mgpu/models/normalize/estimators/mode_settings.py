"""A setting that is True in one mode and False in the others, chosen by statements.

``if mode == TRAIN: training = True`` / ``else: training = False`` becomes ``training = mode ==
TRAIN``, also within an `if` that decides nothing else: the expression is the same wherever it
stands. What such an `if` stores and nothing reads is left out with it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.modes import MODES, Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one `if` of the model_fn; none where each decides more."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    for node in walk(function.node):
        if isinstance(node, ast.If):
            edits = _Settings(function.module, function.node, node).edits()
            if edits:
                return {function.module: edits}
    return {}


@record(eq=False)
class _Settings:
    module: Module
    function: ast.FunctionDef
    top: ast.If
    chosen: dict[str, ast.If] = field(default_factory=dict)
    stores: list[ast.Name] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)

    def edits(self) -> list[Edit]:
        """The settings in the place of the `if`, or above the block that it stands in."""
        names, source = self.module.names, self.module.source
        layout = Layout(source, self.top)
        if isinstance(names.parents[self.top], ast.If) or not layout.owns_lines:
            return []
        if not self._understood(self.top) or not self.chosen:
            return []
        scope = names.scopes[self.function]
        for name in self.chosen.keys() | self.dead:
            mentions = names.mentions(name, scope)
            stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
            if any(one not in self.stores for one in stored):
                return []
            if name in self.dead and len(stored) != len(mentions):
                return []
        lines = []
        for name, choice in self.chosen.items():
            test = source.code(choice.test)
            first = choice.body[0]
            assert isinstance(first, ast.Assign) and isinstance(first.value, ast.Constant)
            if "\n" in test:
                return []
            lines.append(f"{name} = {test}" if first.value.value else f"{name} = not ({test})")
        above = self._above()
        if above is None:
            return [layout.replace(lines)]
        gone = layout.replace(["pass"] if names.block(self.top) == [self.top] else [])
        return [Layout(source, above).insert_before(lines), gone]

    def _above(self) -> ast.stmt | None:
        """The statement of the function's own block that the `if` stands in."""
        for parent in self.module.names.ancestors(self.top):
            if parent in self.function.body:
                assert isinstance(parent, ast.stmt)
                return parent
        return None

    def _understood(self, node: ast.If) -> bool:
        """Whether all that an `if` does is to store settings."""
        name = self._choice(node)
        if name is not None:
            if name in self.chosen or name in self.dead:
                return False
            self.chosen[name] = node
            return True
        if any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Await)) for n in walk(node.test)):
            return False
        for statement in (*node.body, *node.orelse):
            if isinstance(statement, ast.If):
                if not self._understood(statement):
                    return False
            elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                target = statement.targets[0]
                if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                    return False
                if target.id in self.chosen:
                    return False
                self.dead.add(target.id)
                self.stores.append(target)
            elif not isinstance(statement, ast.Pass):
                return False
        return True

    def _choice(self, node: ast.If) -> str | None:
        """The name that is True in one arm on the mode, and False in the other."""
        modes = Modes(self.module, self.function, {"mode": {mode: mode for mode in MODES}})
        values = modes.values(node.test)
        if values is None or not all(isinstance(value, bool) for value in values.values()):
            return None
        if len(node.body) != 1 or len(node.orelse) != 1:
            return None
        targets = []
        told = []
        for statement in (node.body[0], node.orelse[0]):
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                return None
            if not isinstance(statement.value, ast.Constant):
                return None
            targets.append(statement.targets[0])
            told.append(statement.value.value)
        first, second = targets
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
            return None
        if first.id != second.id or told not in ([True, False], [False, True]):
            return None
        self.stores += [first, second]
        return first.id
