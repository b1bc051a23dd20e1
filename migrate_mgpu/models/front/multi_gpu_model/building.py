"""Which statements make a Keras model, its optimizer and what it is compiled with."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope
from migrate_mgpu.models.front.multi_gpu_model.reading import Site, is_copy_of, loaded, stored

_KERAS = ("keras.", "tensorflow.keras.", "tensorflow.python.keras.", "tensorflow.compat.v1.keras.")
# Parts of Keras that make no layer, model or variable.
_NOTHING = (
    "activations.", "backend.", "callbacks.", "constraints.", "datasets.", "initializers.",
    "preprocessing.", "regularizers.", "utils.",
)  # fmt: skip
# Other people's modules that make no Keras model.
_OTHERS = {
    "argparse", "builtins", "collections", "csv", "cv2", "datetime", "functools", "gc", "glob",
    "h5py", "itertools", "json", "logging", "math", "matplotlib", "numpy", "os", "pandas",
    "pathlib", "pickle", "PIL", "random", "re", "scipy", "shutil", "skimage", "sklearn", "sys",
    "time", "tqdm", "warnings", "yaml",
}  # fmt: skip
MUTATING = ("add", "append", "build", "extend", "insert", "pop")


def building(site: Site, graph: CallGraph) -> list[ast.stmt]:
    """The statements above the copies that the model is made of, in their order.

    Raises:
        Refused: the model is made in another block of statements.
    """
    if site.origin is not None:
        made = site.origin
        block = made.module.names.block(made.statement)
        above = block[: block.index(made.statement)]
        return [*_making(made.module, graph, above, loaded(made.call), ""), made.statement]
    block = site.module.names.block(site.anchor)
    above = block[: block.index(site.anchor if site.anchor in block else site.statement)]
    wanted = {site.model} if site.made is None else loaded(site.made)
    found = _making(site.module, graph, above, wanted, site.model)
    _check(site, found)
    return found


def _making(
    module: Module, graph: CallGraph, above: list[ast.stmt], wanted: set[str], model: str
) -> list[ast.stmt]:
    """Those of some statements that make what is wanted, and what they make that of."""
    wanted = set(wanted)
    found: list[ast.stmt] = []
    for statement in reversed(above):
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        own = stored(statement) & wanted
        if not own and not _mutates(statement, wanted):
            continue
        if model in own or _makes(module, graph, statement):
            found.insert(0, statement)
            wanted |= loaded(statement)
    return found


def _check(site: Site, found: list[ast.stmt]) -> None:
    """Every place that gives the model's name a value must be one of those."""
    names = site.module.names
    if site.made is None and not any(site.model in stored(s) for s in found):
        raise Refused(
            site.module, site.call, f"`{site.model}` is not made where it is copied",
            "make the model and its copies in one block of statements",
        )  # fmt: skip
    for name in dict.fromkeys((site.model, site.target)):
        for binding in site.scope.bindings[name]:
            statement = names.statement(binding.node)
            around = [statement, *names.ancestors(statement)]
            if statement is site.statement or any(s in around for s in found):
                continue
            if is_copy_of(statement, site.target, site.model) and statement in site.single:
                continue
            if site.inner and any(s in around for s in site.single):
                continue
            raise Refused(
                site.module, statement, f"`{name}` is also another model",
                "give each model its own name",
            )  # fmt: skip


def _mutates(statement: ast.stmt, wanted: set[str]) -> bool:
    """`model.add(...)`, `parts['a'] = ...` and the like, in loops and branches too."""
    for part in ast.walk(statement):
        root: ast.AST = part
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name) and root.id in wanted and root is not part:
            if isinstance(part.ctx, ast.Store):  # type: ignore[attr-defined]
                return True
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in MUTATING
        and isinstance(part.func.value, ast.Name)
        and part.func.value.id in wanted
        for part in ast.walk(statement)
    )


def _makes(module: Module, graph: CallGraph, statement: ast.stmt) -> bool:
    """Whether a statement may make something of Keras's; too much does no harm."""
    calls = (part for part in ast.walk(statement) if isinstance(part, ast.Call))
    return any(_call_makes(module, graph, call) for call in calls)


def _call_makes(module: Module, graph: CallGraph, call: ast.Call) -> bool:
    function = graph.target(module, call.func)
    if function is not None:
        return bool(function.module.keras_names)
    name = module.names.qualname(call.func)
    if name is not None:
        short = keras(name)
        if short:
            return not short.startswith(_NOTHING)
        return name.partition(".")[0] not in {*_OTHERS, "tensorflow"}
    # `layer(x)`, `Dense(1)(x)`; methods of whatever is no module are of no model.
    return isinstance(call.func, (ast.Name, ast.Call))


def keras(name: str) -> str:
    """``layers.Dense`` of a name of Keras's; empty for what is not its own."""
    for root in _KERAS:
        if name.startswith(root):
            return name[len(root) :]
    return ""


def compiling(module: Module, call: ast.Call, graph: CallGraph) -> list[ast.stmt]:
    """A statement that compiles a model, and those that make what it is compiled with.

    Raises:
        Refused: one of them stands in another function, or is no statement of its own.
    """
    names = module.names
    statement = names.statement(call)
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        raise Refused(module, call, "this is part of another statement", "write it as one")
    found: list[ast.stmt] = [statement]
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for part in ast.walk(argument):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found += made_for(module, names.scope_at(call), graph, part)
    return sorted(dict.fromkeys(found), key=lambda s: s.lineno)


def made_for(module: Module, scope: Scope, graph: CallGraph, name: ast.Name) -> list[ast.stmt]:
    """Where an optimizer, a metric or a loss that is compiled is made.

    Raises:
        Refused: in another function than ``scope``'s.
    """
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    found: list[ast.stmt] = []
    for binding in home.bindings[name.id] if home is not None else ():
        if binding.kind in ("import", "def", "class"):
            continue
        statement = names.statement(binding.node)
        if binding.kind == "parameter" or not _makes(module, graph, statement):
            continue
        if home is not scope:
            raise Refused(
                module, statement, f"`{name.id}` is made in a different function than the model",
                "make it where the model is made",
            )  # fmt: skip
        found.append(statement)
    return found
