"""Summaries that a class makes, and that other code merges: the object has them merged.

`merged = tf.summary.merge_all()` in a trainer's method, behind what made its model, becomes
`self.merged_summaries = tf.summary.merge_all()` at the end of the model's constructor, and
`self.model.merged_summaries` where the trainer runs it. What a method of the object itself merges,
`self.merged = tf.summary.merge_all()`, the constructor merges under that name. So it does with
`self.d_sum = tf.summary.merge([self.d_sum, self.d_loss_sum])`, of which the constructor makes the
first, which gets another name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.origins import class_of, is_of_another, method_calls
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_NAME = "merged_summaries"
_MERGE = "summary.merge_all"
_LIST = "summary.merge"


def kept(
    module: Module,
    graph: CallGraph,
    owner: ast.ClassDef,
    constructor: ast.FunctionDef,
    shared: SharedGraph | None,
) -> list[Edit]:
    """The edits that give an object its summaries merged; none where nothing else merges them.

    ``shared`` is what several programs want of the class: one of them may.
    """
    if not may_be_added_to(module, constructor):
        return []
    own = _of_methods(module, graph, owner, constructor) or _lists_of_methods(
        module, graph, owner, constructor
    )
    if own:
        return own
    inside = set(walk(owner))
    made = [call for call in module.names.calls if name_of(module, call) in SUMMARIES.by_name]
    merges = [call for call in module.names.calls if name_of(module, call) == _MERGE]
    wanted = shared is not None and any(_NAME in one.fetches for one in shared.steps)
    if not made or any(one not in inside for one in made) or any(one in inside for one in merges):
        return []
    if not (merges or wanted) or _NAME in module.names.attributes:
        return []
    found: list[Edit] = []
    for call in merges:
        plain = not call.args and not call.keywords
        edits = taken(module, graph, owner, call, _NAME) if plain else []
        if not edits:
            return []
        found += edits
    root = _root(module, made[0])
    if not root:
        return []
    line = f"{constructor.args.args[0].arg}.{_NAME} = {root}{_MERGE}()"
    return [*found, at_the_end(module, constructor, [line])]


def _of_methods(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for a method that merges the summaries which the constructor makes."""
    for call in calls_of_names(module).get(_MERGE, ()):
        statement = module.names.parents.get(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        if len(statement.targets) > 1 or call.args or call.keywords:
            continue
        method = module.names.scope_at(statement).node
        block = module.names.block(statement)
        if class_of(module, target) is not owner or method is constructor or len(block) < 2:
            continue
        stored = [
            one
            for one in module.names.attributes[target.attr]
            if not isinstance(one.ctx, ast.Load) and not is_of_another(module, one, owner)
        ]
        made = [
            (other, use.node)
            for other in graph.modules
            for use in other.uses
            if use.symbol.name in SUMMARIES.by_name
        ]
        inside = made and all(
            other is module and constructor in other.names.ancestors(one) for other, one in made
        )
        if stored != [target] or not inside or not Layout(module.source, statement).owns_lines:
            continue
        line = f"{constructor.args.args[0].arg}.{target.attr} = {module.source.code(call)}"
        gone = without_paragraph(module.source, statement)
        return [at_the_end(module, constructor, [line]), gone]
    return []


def _lists_of_methods(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for a method that merges some summaries which the constructor keeps."""
    names, source = module.names, module.source
    for call in calls_of_names(module).get(_LIST, ()):
        statement = names.parents.get(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        method, given = names.scope_at(statement).node, call.args[0] if call.args else None
        if len(statement.targets) > 1 or len(call.args) != 1 or call.keywords:
            continue
        if class_of(module, target) is not owner or method is constructor:
            continue
        if not isinstance(method, ast.FunctionDef) or statement not in in_line(method.body):
            continue
        if len(names.block(statement)) < 2 or not Layout(source, statement).owns_lines:
            continue
        parts = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
        if not parts or not isinstance(target.value, ast.Name):
            continue
        me, code = constructor.args.args[0].arg, source.code(call)
        stores = _Stores(module, graph, owner, constructor)
        if target.value.id != me or "#" in code:
            continue
        if not all(stores.is_kept(one, me, target) for one in parts):
            continue
        again = stores.of(target.attr) != [target]
        if again and not stores.is_first(target, method):
            continue
        found = [without_paragraph(source, statement)]
        new = f"{target.attr}_part"
        if again:
            if new in names.attributes:
                continue
            for one in stores.mentions(target.attr):
                if constructor in names.ancestors(one):
                    found.append(Edit(*source.span(one), f"{me}.{new}"))
        words = [
            new if again and part.attr == target.attr else part.attr
            for part in parts
            if isinstance(part, ast.Attribute)
        ]
        made = ", ".join(f"{me}.{word}" for word in words)
        line = f"{me}.{target.attr} = {source.code(call.func)}([{made}])"
        return [*found, at_the_end(module, constructor, [line])]
    return []


class _Stores:
    """What the attributes of a class's objects are given, and where."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
    ) -> None:
        self.module = module
        self.graph = graph
        self.owner = owner
        self.constructor = constructor

    def mentions(self, attribute: str) -> list[ast.Attribute]:
        found = self.module.names.attributes[attribute]
        return [one for one in found if not is_of_another(self.module, one, self.owner)]

    def of(self, attribute: str) -> list[ast.Attribute]:
        return [one for one in self.mentions(attribute) if not isinstance(one.ctx, ast.Load)]

    def is_kept(self, part: ast.expr, me: str, target: ast.Attribute) -> bool:
        """Whether an expression is an attribute that the constructor gives one value."""
        if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name):
            return False
        stored = [one for one in self.of(part.attr) if one is not target]
        ancestors = self.module.names.ancestors
        return (
            part.value.id == me
            and len(stored) == 1
            and self.constructor in ancestors(stored[0])
            and self.module.names.statement(stored[0]) in in_line(self.constructor.body)
        )

    def is_first(self, target: ast.Attribute, method: ast.FunctionDef) -> bool:
        """Whether what a method gives an attribute anew is read below it, in that method alone.

        It does so once.
        """
        calls = method_calls(self.graph, self.owner, method.name)
        if calls is None or len(calls) != 1 or not self.graph.runs_once(*calls[0]):
            return False
        if any(
            not is_of_another(other, one, self.owner)
            for other in self.graph.modules
            if other is not self.module
            for one in other.names.attributes.get(target.attr, ())
        ):
            return False
        statement = self.module.names.statement(target)
        inside = {*walk(statement)}
        return all(
            self.constructor in self.module.names.ancestors(one)
            or one in inside
            or (method in self.module.names.ancestors(one) and position(one) > position(statement))
            for one in self.mentions(target.attr)
        )


def _root(module: Module, call: ast.Call) -> str:
    """What stands before the name of TensorFlow's in a call: `tf.`"""
    text, name = module.source.code(call.func), name_of(module, call)
    return text[: -len(name)] if text.endswith(f".{name}") else ""


def taken(
    module: Module, graph: CallGraph, owner: ast.ClassDef, value: ast.expr, attribute: str
) -> list[Edit]:
    """The name of a value goes; what mentions it takes the value of the class's one object."""
    names = module.names
    statement = names.parents.get(value)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return []
    scope, layout = names.scope_of_name[target], Layout(module.source, statement)
    holder = next(_holders(module, graph, owner, statement), "")
    alone = names.only_binding(target) is not None and len(statement.targets) == 1
    if not holder or not alone or not layout.owns_lines or len(names.block(statement)) == 1:
        return []
    found = [Edit(layout.line_start, layout.next_line, "")]
    for mention in names.mentions(target.id, scope):
        if mention is target:
            continue
        if names.scope_at(mention) is not scope:
            return []
        found.append(Edit(*module.source.span(mention), f"{holder}.{attribute}"))
    return found


def _holders(
    module: Module, graph: CallGraph, owner: ast.ClassDef, statement: ast.stmt
) -> Iterator[str]:
    """What the one object of the class is called at a statement.

    An attribute of the object whose method it stands in, or a name with one value.
    """
    names = module.names
    made = [
        one
        for one in names.calls
        if (known := graph.class_of(module, one.func)) is not None and known[1] is owner
    ]
    built = names.parents.get(made[0]) if len(made) == 1 else None
    target = built.targets[0] if isinstance(built, ast.Assign) and len(built.targets) == 1 else None
    here = names.scope_at(statement)
    if isinstance(target, ast.Attribute):
        kept_by = class_of(module, target)
        method = here.node
        stored = [
            one
            for one in names.attributes[target.attr]
            if not isinstance(one.ctx, ast.Load) and not is_of_another(module, one, kept_by)
        ]
        around = names.parents.get(method)
        if kept_by is not None and around is kept_by and stored == [target]:
            assert isinstance(method, ast.FunctionDef)
            later = names.scope_at(target) is here and target.lineno > statement.lineno
            if method.args.args and not later:
                yield f"{method.args.args[0].arg}.{target.attr}"
    if isinstance(target, ast.Name) and names.only_binding(target) is not None:
        scope = names.scope_of_name[target]
        above = scope is not here or target.lineno < statement.lineno
        if above and names.defining_scope(target.id, here) is scope:
            yield target.id
