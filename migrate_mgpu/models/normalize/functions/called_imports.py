"""A module that a call imports by a constant name, as an import.

`model = __import__("networks")` becomes `import networks as model`, and so does what
`importlib.import_module` gives. `__import__("a.b")` gives `a`, and stays, as does what belongs to
TensorFlow: the tool would have to know it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.source.source import Edit

_THEIRS = ("tensorflow", "tensorflow_estimator", "keras")
_IMPORTS = ("builtins.__import__", "importlib.import_module")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements of the module itself; none where there are none."""
    found: list[Edit] = []
    for statement in module.tree.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, call = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or call.keywords:
            continue
        name = constant(call.args[0]) if len(call.args) == 1 else None
        if module.names.qualname(call.func) not in _IMPORTS or not isinstance(name, str):
            continue
        if name.partition(".")[0] in _THEIRS:
            continue
        whole = all(part.isidentifier() for part in name.split("."))
        if not whole or ("." in name and module.names.qualname(call.func) == _IMPORTS[0]):
            continue
        text = f"import {name}" if name == target.id else f"import {name} as {target.id}"
        found.append(Edit(*module.source.span(statement), text))
    return found
