"""Summaries of an object's graph that other code makes before it runs parts of it.

    def train():
        tf.summary.scalar("loss", model.loss)
        merged = tf.summary.merge_all()

The constructor makes them as the last thing that it does, and the function, or the module, takes
them of the object: `merged = model.merged`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.source.blocks import leading, right_above
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments, without_paragraph

_MERGE_ALL = "summary.merge_all"
_MERGES = ("summary.merge", _MERGE_ALL)
_MAKES = (*SUMMARIES.by_name, *_MERGES)


def as_attributes(module: Module, graph: CallGraph, owner: ast.ClassDef) -> list[Edit]:
    """The edits for one function; none where none makes such summaries."""
    node = constructor_of(owner)
    if node is None or not may_be_added_to(module, node):
        return []
    functions = [one for one in walk(module.tree) if isinstance(one, ast.FunctionDef)]
    places: list[ast.Module | ast.FunctionDef] = [module.tree, *functions]
    for function in places:
        if not any(one is owner for one in module.names.ancestors(function)):
            edits = _FunctionSummaries(module, graph, owner, node, function).edits()
            if edits:
                return edits
    return []


class _FunctionSummaries:
    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        function: ast.Module | ast.FunctionDef,
    ) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.owner = owner
        self.constructor = constructor
        self.me = constructor.args.args[0].arg
        self.function = function
        self.made: list[ast.Expr | ast.Assign] = []
        self.object = ""  # as the function writes it
        self.values: dict[str, str] = {}  # the attributes by the names that they have there

    def edits(self) -> list[Edit]:
        scope = self.names.scopes[self.function]
        calls = [
            call
            for name, every in calls_of_names(self.module).items()
            for call in every
            if name in _MAKES and self.names.scope_at(call) is scope
        ]
        statements = sorted(map(self.names.statement, calls), key=lambda one: one.lineno)
        once = self.graph.runs_once(self.module, self.function.body[0])
        if not calls or not once:
            return []
        lines: list[str] = []
        for statement in dict.fromkeys(statements):
            text = self._line(statement)
            if text is None:
                return []
            lines += [*self._removed(statement)[0], text]
        if not self.object or not self._are_all(calls):
            return []
        return self._written(lines)

    def _line(self, statement: ast.stmt) -> str | None:
        """What the constructor says for a statement; None where it is made of more."""
        if not isinstance(statement, (ast.Expr, ast.Assign)):
            return None
        call, layout = statement.value, Layout(self.source, statement)
        if not isinstance(call, ast.Call) or not layout.owns_lines or self._is_apart(statement):
            return None
        name = ""
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name):
                return None
            if self.names.only_binding(target) is None or target.id in self.names.attributes:
                return None
            name = target.id
        text = self._told(call)
        if text is None or "\n" in text:
            return None
        self.made.append(statement)
        if not name:
            return text
        self.values[name] = f"{self.me}.{name}"
        return f"{self.me}.{name} = {text}"

    def _is_apart(self, statement: ast.stmt) -> bool:
        """Whether a block around a statement decides whether, or under which name, it is made."""
        around: list[ast.AST] = []
        for one in self.names.ancestors(statement):
            if one is self.function:
                break
            around.append(one)
        return any(
            not isinstance(one, ast.With)
            or any(name_of(self.module, item.context_expr) != "Session" for item in one.items)
            for one in around
        )

    def _told(self, call: ast.Call) -> str | None:
        """A call as the constructor writes it; None where it tells of more than the object."""
        replaced: list[tuple[ast.expr, str]] = []
        inside: set[ast.AST] = set()
        for part in walk(call):
            if part in inside:
                continue
            if isinstance(part, (ast.Attribute, ast.Name)) and name_of(self.module, part):
                inside.update(walk(part))
            elif isinstance(part, ast.Attribute):
                if self._class_of(part) is not self.owner:
                    return None
                shown = self.source.code(part.value)
                if self.object not in ("", shown):
                    return None
                self.object = shown
                replaced.append((part.value, self.me))
                inside.update(walk(part))
            elif isinstance(part, ast.Name):
                if part.id not in self.values:
                    return None
                replaced.append((part, self.values[part.id]))
            elif isinstance(part, ast.Call):
                name = name_of(self.module, part)
                if part is not call and (name not in COMPUTES or name in DRAWS):
                    return None
            elif isinstance(part, (ast.Lambda, ast.comprehension, ast.JoinedStr, ast.Starred)):
                return None
        start, end = self.source.span(call)
        text = self.source.text[start:end]
        for one, new in sorted(replaced, key=lambda each: -self.source.span(each[0])[0]):
            begin, stop = self.source.span(one)
            text = text[: begin - start] + new + text[stop - start :]
        return text

    def _class_of(self, node: ast.Attribute) -> ast.ClassDef | None:
        """The class of the object whose attribute it is."""
        made = self.names.only_value(node.value) if isinstance(node.value, ast.Name) else None
        known = self.graph.class_of(self.module, made.func) if isinstance(made, ast.Call) else None
        return known[1] if known is not None else None

    def _are_all(self, calls: list[ast.Call]) -> bool:
        """Whether `merge_all` means the same where these are made by the constructor."""
        summaries = [
            (use.symbol.name, module.names.parents.get(use.node))
            for module in self.graph.modules
            for use in module.uses
            if use.symbol.name in _MAKES
            and self.constructor not in module.names.ancestors(use.node)
        ]
        merged = any(name == _MERGE_ALL for name, _ in summaries)
        return not merged or all(call in calls for _, call in summaries)

    def _written(self, lines: list[str]) -> list[Edit]:
        found = [at_the_end(self.module, self.constructor, lines)]
        for statement in self.made:
            if isinstance(statement, ast.Assign) and self._is_read(statement):
                target = statement.targets[0]
                assert isinstance(target, ast.Name)
                taken = f"{self.object}.{target.id}"
                if isinstance(self.function, ast.Module):  # its functions read the name as well
                    for mention in self._reads(target):
                        found.append(Edit(*self.source.span(mention), taken))
                    found.append(self._removed(statement)[1])
                else:
                    found.append(Edit(*self.source.span(statement.value), taken))
            else:
                found.append(self._removed(statement)[1])
        return found

    def _removed(self, statement: ast.stmt) -> tuple[list[str], Edit]:
        """The edit that takes a statement away, and the comments that go with it.

        Those above a paragraph of several statements stay.
        """
        behind = self.source.text[Layout(self.source, statement).next_line :]
        if behind.partition("\n")[0].strip():
            return [], without_paragraph(self.source, statement)
        comments = right_above(leading(self.source, statement))
        edit = without_paragraph(self.source, statement, comments=True)
        start = min(edit.start, start_with_comments(self.source.text, edit.start))
        return comments, Edit(start, edit.end, "")

    def _is_read(self, statement: ast.Assign) -> bool:
        """Whether more than these summaries reads a name."""
        target = statement.targets[0]
        assert isinstance(target, ast.Name)
        return bool(self._reads(target))

    def _reads(self, target: ast.Name) -> list[ast.Name]:
        """The mentions of a name that are in none of these summaries."""
        mentions = self.names.mentions(target.id, self.names.scopes[self.function])
        inside = {part for one in self.made for part in walk(one)}
        return [one for one in mentions if one not in inside]
