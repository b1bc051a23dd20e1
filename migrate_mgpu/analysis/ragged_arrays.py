"""Arrays of rows that have different lengths, which NumPy 1.24 makes only where it is told to.

`batch_iter(list(zip(x_train, y_train)))` with `data = np.array(data)` in that function is how many
programs shuffle their examples: rows of a sentence and its classes. Older NumPys made an array of
objects of them; since 1.24 it is `ValueError: ... The requested array has an inhomogeneous shape`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact, fact_of_text

_ARRAYS = ("numpy.array", "numpy.asarray")
MAKES_ARRAYS = r"\.(?:as)?array\(\w+\)"  # what a file that makes one has, as a pattern


def ragged_arrays(modules: Sequence[Module]) -> list[Diagnostic]:
    """Each array that a function of the program makes of rows that a call zips for it."""
    made = [(module, *one) for module in modules for one in _arrays_of_parameters(module)]
    zipped = {
        (name, given) for module in modules if made for name, given in _zipped_arguments(module)
    }
    return [
        Diagnostic(
            "ragged-array",
            Place(module, call),
            "NumPy 1.24 makes no array of rows of different lengths, such as calls zip together "
            f"for `{parameter}`",
            f"write `{ast.unparse(call)[:-1]}, dtype=object)`",
        )
        for module, function, index, parameter, call in made
        if (function, index) in zipped or (function, parameter) in zipped
    ]


@fact
def _arrays_of_parameters(module: Module) -> list[tuple[str, int, str, ast.Call]]:
    """The arrays that functions make of a parameter: the function, which parameter (by its place in
    a call, and its name), and what makes the array."""
    return [*_made(module)] if "array(" in module.source.text else []


def _made(module: Module) -> Iterator[tuple[str, int, str, ast.Call]]:
    names = module.names
    for method in ("array", "asarray"):
        for node in names.attributes.get(method, ()):
            call = names.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                continue
            if names.qualname(node) not in _ARRAYS or len(call.args) != 1 or call.keywords:
                continue
            given = call.args[0]
            if not isinstance(given, ast.Name):
                continue
            parameter = given.id
            function = next(
                (one for one in names.ancestors(call) if isinstance(one, ast.FunctionDef)), None
            )
            if function is None:
                continue
            parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
            if parameter not in parameters or _changed_before(function, parameter, call):
                continue
            index = parameters.index(parameter) - (parameters[0] in ("self", "cls"))
            yield function.name, index, parameter, call


def _changed_before(function: ast.FunctionDef, name: str, call: ast.Call) -> bool:
    return any(
        isinstance(one, ast.Name)
        and one.id == name
        and isinstance(one.ctx, ast.Store)
        and one.lineno < call.lineno
        for one in ast.walk(function)
    )


@fact_of_text
def _zipped_arguments(module: Module) -> list[tuple[str, int | str]]:
    """The arguments that are zipped of several: the function's name, and the place or the name."""
    if "zip(" not in module.source.text:
        return []
    found: list[tuple[str, int | str]] = []
    for call in module.names.calls:
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        found += [(name, place) for place, one in enumerate(call.args) if _zips(one)]
        found += [(name, one.arg) for one in call.keywords if one.arg and _zips(one.value)]
    return found


def _zips(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        if node.func.id == "list":
            return _zips(node.args[0])
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "zip"
        and len(node.args) > 1
        and not any(isinstance(one, ast.Starred) for one in node.args)
    )
