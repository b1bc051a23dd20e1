"""Lists that `split` makes of a text: `"512,128".split(",")`, whose numbers are texts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import Names, constant

_PASSES_ON = ("enumerate", "list", "reversed", "tuple", "zip")


def split_lists(modules: Iterable[Module]) -> frozenset[str]:
    """The names by which modules give on what `split` makes: of variables, arguments, keys."""
    return frozenset[str]().union(*map(_given_on, modules))


def holds_texts(module: Module, node: ast.expr) -> bool:
    """Whether a value is what `split` makes, here or by a name that its file gives that."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "split"
    return not split_lists([module]).isdisjoint(goes_by(module.names, node))


def goes_by(names: Names, node: ast.expr) -> set[str]:
    """The names by which a value is taken: its own, or those of what a loop takes it out of."""
    return set(_goes_by(names, node, set()))


def _goes_by(names: Names, node: ast.expr, seen: set[ast.AST]) -> Iterator[str]:
    if node in seen:
        return
    seen.add(node)
    if isinstance(node, ast.Subscript):
        key = constant(node.slice)
        if isinstance(key, str):
            yield key
        else:
            yield from _goes_by(names, node.value, seen)
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Call):
        passes = isinstance(node.func, ast.Name) and node.func.id in _PASSES_ON
        for argument in node.args if passes else ():
            yield from _goes_by(names, argument, seen)
    elif isinstance(node, ast.Name):
        yield node.id
        for binding in names.bindings_of(node):
            loop = binding.node
            if not isinstance(loop, (ast.For, ast.comprehension)):
                loop = names.parents.get(loop, loop)
            while isinstance(loop, (ast.Tuple, ast.List)):
                loop = names.parents[loop]
            if isinstance(loop, (ast.For, ast.comprehension)):
                yield from _goes_by(names, loop.iter, seen)


@fact_of_text
def _given_on(module: Module) -> frozenset[str]:
    names = module.names
    found: set[str] = set()
    for attribute in names.attributes.get("split", ()):
        call = names.parents[attribute]
        if not isinstance(call, ast.Call) or call.func is not attribute:
            continue
        around = names.parents[call]
        if isinstance(around, ast.keyword) and around.arg is not None:
            found.add(around.arg)
        elif isinstance(around, ast.Dict) and call in around.values:
            key = around.keys[around.values.index(call)]
            found.update([text] if isinstance(text := constant(key), str) else ())
        elif isinstance(around, ast.Assign):
            for target in around.targets:
                if isinstance(target, ast.Name):
                    found.add(target.id)
                elif isinstance(target, ast.Attribute):
                    found.add(target.attr)
                elif isinstance(target, ast.Subscript):
                    text = constant(target.slice)
                    found.update([text] if isinstance(text, str) else ())
    return frozenset(found)
