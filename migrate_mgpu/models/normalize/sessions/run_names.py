"""Names that a function gives to what it runs in a session: they go, and their values are written.

``loss = self.model.loss`` / ``sess.run(loss, feed)`` becomes ``sess.run(self.model.loss, feed)``;
so do lists of fetches (``fetches = [model.loss, model.train_op]``) and objects that the graph's
parts are taken of (``model = self.model``), where their values are the same in both places.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ATOMS = (ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.expr_context)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such name; none where there is none."""
    for node in walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            for statement in walk(node):
                if isinstance(statement, ast.Assign):
                    edits = _written(module, node, statement)
                    if edits:
                        return edits
    return []


def _written(module: Module, node: ast.FunctionDef, statement: ast.Assign) -> list[Edit]:
    """The edits that write a statement's value where its name stands, if that is the same."""
    names, target, value = module.names, statement.targets[0], statement.value
    layout, scope = Layout(module.source, statement), names.scopes[node]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or not layout.owns_lines:
        return []
    if names.scope_of_name[target] is not scope or len(scope.bindings.get(target.id, ())) != 1:
        return []  # it may be a global
    plain = layout.trailing_comment or len(names.block(statement)) == 1
    if plain or not _is_stable(module, value):
        return []
    mentions = [one for one in names.mentions(target.id, scope) if one is not target]
    below = names.block(statement)[names.block(statement).index(statement) + 1 :]
    behind = {part for one in below for part in walk(one)}
    inside = all(one in behind and names.scope_of_name[one] is scope for one in mentions)
    if not mentions or not inside or not all(_is_run(module, value, one) for one in mentions):
        return []
    if not any(any(_runs(module, one)) for one in mentions):
        return []
    text = module.source.code(value)
    found = [Edit(*module.source.span(one), text) for one in mentions]
    return [*found, Edit(layout.line_start, layout.next_line, "")]


def _is_stable(module: Module, value: ast.expr) -> bool:
    """Whether an expression is made of names and attributes that are given a value once."""
    if isinstance(value, ast.Name) or not all(isinstance(part, _ATOMS) for part in walk(value)):
        return False
    for part in walk(value):
        if isinstance(part, ast.Name) and module.names.only_binding(part) is None:
            return False
        if isinstance(part, ast.Attribute):
            owner = class_of(module, part)
            stored = [
                one
                for one in module.names.attributes.get(part.attr, ())
                if not isinstance(one.ctx, ast.Load)
                and not (owner is not None and is_of_another(module, one, owner))
            ]
            if len(stored) != 1:
                return False
    return True


def _is_run(module: Module, value: ast.expr, mention: ast.Name) -> bool:
    """Whether a mention is of what is fetched or fed, or of the object that has such parts."""
    parent = module.names.parents[mention]
    if isinstance(value, (ast.List, ast.Tuple)):
        return any(_fetched(run) is mention for run in _runs(module, mention))
    if isinstance(parent, ast.Attribute):
        return isinstance(parent.ctx, ast.Load)
    fed = isinstance(parent, ast.Dict) and mention in parent.keys
    return fed or any(_runs(module, mention))


def _runs(module: Module, mention: ast.Name) -> Iterator[ast.Call]:
    """The calls of `run` that a mention is given to."""
    child: ast.AST = mention
    for parent in module.names.ancestors(mention):
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            if parent.func.attr == "run" and child is not parent.func:
                yield parent
        child = parent


def _fetched(run: ast.Call) -> ast.expr | None:
    named = (one.value for one in run.keywords if one.arg == "fetches")
    return run.args[0] if run.args else next(named, None)
