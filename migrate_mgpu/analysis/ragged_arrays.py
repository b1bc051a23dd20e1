"""Arrays of rows that have different lengths, which NumPy 1.24 makes only where it is told to.

`batch_iter(list(zip(x_train, y_train)))` with `data = np.array(data)` in that function is how many
programs shuffle their examples: rows of a sentence and its classes. Older NumPys made an array of
objects of them; since 1.24 it is `ValueError: ... The requested array has an inhomogeneous shape`.
So it is of `data = list(zip(rows, classes, lengths))`, `data = np.array(data)`, where the lists are
of different things, as their comprehensions say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact, fact_of_text

_ARRAYS = ("numpy.array", "numpy.asarray")
MAKES_ARRAYS = r"\.(?:as)?array\(\w+\)"  # what a file that makes one has, as a pattern


def ragged_arrays(modules: Sequence[Module]) -> list[Diagnostic]:
    """Each array that a program makes of rows that are zipped of different things."""
    made = [(module, *one) for module in modules for one in _arrays_of_parameters(module)]
    zipped = {
        (name, given) for module in modules if made for name, given in _zipped_arguments(module)
    }
    found = [
        Diagnostic(
            "ragged-array",
            Place(module, call),
            f"NumPy 1.24 makes no array of rows of different lengths, such as `{name}` has",
            f"write `{ast.unparse(call)[:-1]}, dtype=object)`",
        )
        for module in modules
        for name, call in _arrays_of_zipped(module)
    ]
    return found + [
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
def _arrays_of_zipped(module: Module) -> list[tuple[str, ast.Call]]:
    """The arrays that are made of a variable which was zipped of different things above."""
    if "array(" not in module.source.text or "zip(" not in module.source.text:
        return []
    found: list[tuple[str, ast.Call]] = []
    for given, call in _of_names(module):
        zipped = _above(module, given)
        if zipped is None or not _zips(zipped):
            continue
        while isinstance(zipped, ast.Call) and len(zipped.args) == 1:
            zipped = zipped.args[0]
        assert isinstance(zipped, ast.Call)
        kinds = {_kind(module, one) for one in zipped.args}
        if len(kinds) > 1 and kinds != {"", "number"}:
            found.append((given.id, call))
    return found


def _above(module: Module, name: ast.Name) -> ast.expr | None:
    """What the last statement above that gives a variable of a scope its value, gives it."""
    source = module.source
    begun = [(source.span(one.node)[0], one) for one in module.names.bindings_of(name)]
    here = source.span(module.names.statement(name))[0]
    above = [one for one in begun if one[0] < here]
    last = max(above, key=lambda one: one[0])[1] if above else None
    return last.value if last is not None else None


def _kind(module: Module, node: ast.expr) -> str:
    """What the elements of a list are that a comprehension makes; empty where that is unknown."""
    value = _above(module, node) if isinstance(node, ast.Name) else node
    if not isinstance(value, ast.ListComp):
        return ""
    element = value.elt
    if isinstance(element, ast.IfExp):
        element = element.body
    if isinstance(element, (ast.List, ast.Tuple)):
        return f"{len(element.elts)} values"
    if isinstance(element, ast.Constant):
        return "number"
    if isinstance(element, ast.Call) and module.names.qualname(element.func) in _ARRAYS:
        return "array"
    return ""


@fact
def _arrays_of_parameters(module: Module) -> list[tuple[str, int, str, ast.Call]]:
    """The arrays that functions make of a parameter: the function, which parameter (by its place in
    a call, and its name), and what makes the array."""
    return [*_made(module)] if "array(" in module.source.text else []


def _made(module: Module) -> Iterator[tuple[str, int, str, ast.Call]]:
    for given, call in _of_names(module):
        parameter = given.id
        function = next(
            (one for one in module.names.ancestors(call) if isinstance(one, ast.FunctionDef)), None
        )
        if function is None:
            continue
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        if parameter not in parameters or _changed_before(function, parameter, call):
            continue
        index = parameters.index(parameter) - (parameters[0] in ("self", "cls"))
        yield function.name, index, parameter, call


def _of_names(module: Module) -> Iterator[tuple[ast.Name, ast.Call]]:
    """The arrays that are made of a variable alone."""
    names = module.names
    for method in ("array", "asarray"):
        for node in names.attributes.get(method, ()):
            call = names.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                continue
            if names.qualname(node) not in _ARRAYS or len(call.args) != 1 or call.keywords:
                continue
            if isinstance(call.args[0], ast.Name):
                yield call.args[0], call


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
