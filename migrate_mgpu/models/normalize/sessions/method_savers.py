"""A saver that several methods make, each as it begins to run: one, of the constructor.

`self.saver = tf.train.Saver()`, in `train` and in `test`, is the same where the constructor builds
the graph, and no method makes a variable. Each method is called once, and only one of them saves.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.origins import class_of, is_of_another, method_calls
from migrate_mgpu.models.front.session.scope import constructor_of, leaves, trains
from migrate_mgpu.models.normalize.sessions.repeated_savers import may_build
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such saver; none where there is none."""
    made = calls_of_names(module).get("train.Saver", ())
    if len(made) < 2:
        return []
    for owner in module.tree.body:
        node = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
        if node is not None and isinstance(owner, ast.ClassDef):
            edits = _of_class(module, graph, owner, node, made)
            if edits:
                return edits
    return []


def _of_class(
    module: Module,
    graph: CallGraph,
    owner: ast.ClassDef,
    constructor: ast.FunctionDef,
    made: list[ast.Call],
) -> list[Edit]:
    names, source = module.names, module.source
    methods = [one for one in owner.body if isinstance(one, ast.FunctionDef)]
    methods.remove(constructor)
    stores: list[ast.Assign] = []
    around: list[ast.FunctionDef] = []
    for method in methods:
        for one in method.body:
            if isinstance(one, ast.Assign) and one.value in made:
                stores.append(one)
                around.append(method)
    targets = [one.targets[0] for one in stores if len(one.targets) == 1]
    first = targets[0] if len(targets) == len(stores) > 1 else None
    if not isinstance(first, ast.Attribute) or len({source.code(one) for one in stores}) > 1:
        return []
    call = stores[0].value
    assert isinstance(call, ast.Call)
    if len({*around}) < len(around) or call.args or call.keywords:
        return []
    stored = [
        one
        for other in graph.modules
        for one in other.names.attributes.get(first.attr, ())
        if not isinstance(one.ctx, ast.Load) and not is_of_another(other, one, owner)
    ]
    own = all(isinstance(one, ast.Attribute) and class_of(module, one) is owner for one in targets)
    if not own or {*stored} != {*targets} or leaves(constructor):
        return []
    if not any(trains(module, part) for part in walk(constructor)):
        return []
    if any(may_build(module, one) for method in methods for one in method.body):
        return []
    calls = [method_calls(graph, owner, method.name) for method in around]
    if any(one is None or len(one) != 1 for one in calls):
        return []
    saving = [one for one in around if _saves(owner, one, first.attr, set())]
    last = Layout(source, constructor.body[-1])
    if len(saving) > 1 or not last.owns_lines or not constructor.args.args:
        return []
    me = constructor.args.args[0].arg
    line = f"{source.indent_of(constructor.body[-1])}{me}.{first.attr} = {source.code(call)}"
    text = line + source.newline
    if not source.text[: last.next_line].endswith("\n"):
        text = source.newline + line
    found = [Edit(last.next_line, last.next_line, text)]
    for one in stores:
        layout = Layout(source, one)
        if not layout.owns_lines or len(names.block(one)) == 1:
            return []
        found.append(without_paragraph(source, one))
    return found


def _saves(
    owner: ast.ClassDef, method: ast.FunctionDef, attribute: str, seen: set[ast.AST]
) -> bool:
    """Whether a method, or one of the class that it calls, saves with the saver or hands it on."""
    seen.add(method)
    me = method.args.args[0].arg if method.args.args else ""
    by_name = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
    restored = {
        part.value
        for part in walk(method)
        if isinstance(part, ast.Attribute) and part.attr == "restore"
    }
    for part in walk(method):
        if not isinstance(part, ast.Attribute) or getattr(part.value, "id", "") != me:
            continue
        if part.attr == attribute and isinstance(part.ctx, ast.Load) and part not in restored:
            return True
        other = by_name.get(part.attr)
        if other is not None and other not in seen and _saves(owner, other, attribute, seen):
            return True
    return False
