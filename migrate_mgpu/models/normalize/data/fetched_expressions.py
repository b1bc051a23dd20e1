"""Parts of a graph that are built where they are run, of what one object has.

`sess.run(tf.sigmoid(model.logits))` becomes `sess.run(model.sigmoid_of_logits)`, which the
constructor of the class gives its objects as the last thing that it does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import class_of
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.source.source import Edit

# Each of these has a stream of numbers for itself, which begins where it is built.
_DRAWS = (
    "nn.dropout", "multinomial", "random.categorical", "random_gamma", "random_shuffle",
)  # fmt: skip
_LATEST = 9  # statements at the end of a constructor, among which earlier ones are looked for


def as_attributes(module: Module, graph: CallGraph, owner: ast.ClassDef) -> list[Edit]:
    """The edits for one such expression; none where there is none."""
    node = constructor_of(owner)
    if node is None or not may_be_added_to(module, node):
        return []
    for fetched in _fetched(module, node):
        known = _of_object(module, graph, owner, fetched)
        if known is not None:
            return _written(module, node, fetched, known)
    return []


def _fetched(module: Module, constructor: ast.FunctionDef) -> Iterator[ast.Call]:
    """What is computed where it is run, outside of the constructor."""
    for call in module.names.calls:
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "run" or not call.args:
            continue
        if constructor in module.names.ancestors(call):
            continue
        first = call.args[0]
        parts = first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
        yield from (one for one in parts if isinstance(one, ast.Call) and name_of(module, one))


def _of_object(
    module: Module, graph: CallGraph, owner: ast.ClassDef, fetched: ast.Call
) -> dict[ast.Attribute, str] | None:
    """The attributes of the one object of which something is computed, and nothing else is."""
    found: dict[ast.Attribute, str] = {}
    objects: set[str] = set()
    for part in walk(fetched):
        if isinstance(part, ast.Call):
            if name_of(module, part) not in COMPUTES or name_of(module, part) in _DRAWS:
                return None
        elif isinstance(part, ast.Attribute) and not name_of(module, part):
            if not isinstance(part.value, ast.Name) or not _is_object(module, graph, owner, part):
                return None
            found[part] = part.attr
            objects.add(part.value.id)
    inside = {one.value for one in found}
    tensorflow = {one.node for one in module.uses}
    for part in walk(fetched):
        if isinstance(part, ast.Name) and part not in inside:
            if not any(part in walk(one) for one in tensorflow):
                return None
        if isinstance(part, (ast.Lambda, ast.comprehension, ast.JoinedStr, ast.Starred)):
            return None
    return found if len(objects) == 1 and "\n" not in module.source.code(fetched) else None


def _is_object(
    module: Module, graph: CallGraph, owner: ast.ClassDef, attribute: ast.Attribute
) -> bool:
    """Whether an attribute is one of an object of the class, or of a method's own."""
    if class_of(module, attribute) is owner:
        return True
    name = attribute.value
    made = module.names.only_value(name) if isinstance(name, ast.Name) else None
    known = graph.class_of(module, made.func) if isinstance(made, ast.Call) else None
    return known is not None and known[1] is owner


def _written(
    module: Module,
    constructor: ast.FunctionDef,
    fetched: ast.Call,
    known: dict[ast.Attribute, str],
) -> list[Edit]:
    source, me = module.source, constructor.args.args[0].arg
    first = next(iter(known))
    assert isinstance(first.value, ast.Name)
    kind = name_of(module, fetched).rpartition(".")[2]
    taken = set(module.names.attributes) | {one.id for one in module.names.scope_of_name}
    base = f"{kind}_of_{first.attr.strip('_') or first.attr}"
    name = next(one for one in (base, *(f"{base}_{n}" for n in range(2, 99))) if one not in taken)
    start, end = source.span(fetched)
    text, shift = source.text[start:end], start
    for one in sorted(known, key=lambda each: source.span(each)[0], reverse=True):
        begin, stop = source.span(one.value)
        text = text[: begin - shift] + me + text[stop - shift :]
    for statement in constructor.body[-_LATEST:]:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Attribute) and isinstance(statement, ast.Assign):
            if target.attr.startswith(base) and source.code(statement.value) == text:
                return [Edit(start, end, f"{first.value.id}.{target.attr}")]
    added = at_the_end(module, constructor, [f"{me}.{name} = {text}"])
    return [added, Edit(start, end, f"{first.value.id}.{name}")]
