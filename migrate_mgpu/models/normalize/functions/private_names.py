"""Names of TensorFlow's own files, as the public names of the same things.

    from tensorflow.python.layers.core import Dense
    from tensorflow.python.ops import array_ops

    net = Dense(8)(array_ops.concat([x, y], 1))

becomes `tf.layers.Dense(8)(tf.concat([x, y], 1))`: the tables know what is public.
"""

from __future__ import annotations

import ast
from functools import cache

from migrate_mgpu.analysis.import_edits import remove_imports
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.symbols import load, symbol
from migrate_mgpu.analysis.taken_names import top_level
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such names in a module that imports TensorFlow as well."""
    uses = [use for use in module.uses if use.symbol.flavour == "private" and not use.guarded]
    root = _root(module) if uses else ""
    found: list[Edit] = []
    gone: set[ast.AST] = set()
    for use in uses if root else ():
        node, name = use.node, ""
        while isinstance(node, (ast.Name, ast.Attribute)):
            name = public_name(module.names.qualname(node))
            if name or isinstance(node, ast.Name):
                break
            node = node.value  # `summary_pb2.Summary` of `summary_pb2.Summary.Value`
        if name and isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.append(Edit(*module.source.span(node), f"{root}.{name}"))
            gone.add(node)
    return [*found, *remove_imports(module, gone, found)] if found else []


@cache
def _names() -> dict[str, str]:
    """Public names by private ones, below `tensorflow`."""
    return {
        f"{home}.{name}": f"{place}{name}"
        for home, places in load("public_names.json")["names"].items()
        for place, names in places.items()
        for name in names
    }


def public_name(qualname: str | None) -> str:
    """What something of a private module is called in public; empty where nothing is known."""
    found = symbol(qualname)
    return _names().get(found.name, "") if found is not None else ""


def _root(module: Module) -> str:
    """What the file calls TensorFlow everywhere: `tf`; empty where that is not one name."""
    for statement in module.tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.asname or alias.name
                if alias.name != "tensorflow" or len(top_level(module, name)) != 1:
                    continue
                own = (scope.bindings for scope in module.names.scopes.values())
                if sum(name in bindings for bindings in own) == 1:
                    return name
    return ""
