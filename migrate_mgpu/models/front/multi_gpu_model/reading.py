"""A call of ``multi_gpu_model``: its model, its GPUs, and under which condition it is made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import Names, Scope, constant
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.visibility import known_at

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

NAME = "multi_gpu_model"
# Where tf.keras, its private modules and standalone Keras have it.
_HOMES = ("keras.", "tensorflow.keras.", "tensorflow.python.keras.", "tensorflow.compat.v1.keras.")
_PARAMETERS = ("model", "gpus", "cpu_merge", "cpu_relocation")


@record(eq=False)
class Origin:
    """The call that makes a model elsewhere than it is copied, and the statement it stands in.

    ``gpus`` are the GPUs of the copies, as they are known there.
    """

    module: Module
    call: ast.Call
    statement: ast.stmt
    gpus: ast.expr | None

    @property
    def scope(self) -> Scope:
        return self.module.names.scope_at(self.statement)


@record(eq=False)
class Site:
    """A statement that copies a model.

    ``model`` is the name of the model that is copied, ``target`` that of the copies; they
    may be one. Both are empty where one of the two is no plain variable: the copies' own then
    holds the model. ``made`` is the model's constructor where it stands in the call itself.
    ``origin`` is where the model is made, if that is in other statements than the call's block.
    ``choice`` is the `if` that chooses between the model and its copies, ``single`` what it
    does without copies, ``own`` what it does with them. ``inner`` says that the `if` makes
    the model as well, in both of its branches.
    """

    module: Module
    call: ast.Call
    copied: ast.expr
    statement: ast.Assign
    scope: Scope
    target: str
    model: str
    gpus: ast.expr | None
    origin: Origin | None = None
    made: ast.expr | None = None
    choice: ast.If | ast.IfExp | None = None
    single: list[ast.stmt] = field(default_factory=list)
    own: list[ast.stmt] = field(default_factory=list)
    inner: bool = False

    @property
    def anchor(self) -> ast.stmt:
        """The statement in whose block the model is made."""
        if isinstance(self.choice, ast.If) and not self.inner:
            return self.choice
        return self.statement


def calls(module: Module) -> list[ast.Call]:
    """The calls of ``multi_gpu_model`` in a module; not those that a version switch guards."""
    found: list[ast.Call] = []
    for call in module.names.calls:
        if module.is_guarded(call):
            continue
        for name in module.names.qualnames(call.func):
            if name.rpartition(".")[2] == NAME and name.startswith(_HOMES):
                found.append(call)
                break
    return found


def read(module: Module, call: ast.Call, values: ValueFlow) -> Site:
    """The statement of a call.

    Raises:
        Refused: it is not a plain assignment of a model's copies.
    """
    names = module.names
    given = _arguments(module, call)
    statement = names.statement(call)
    value: ast.expr = call
    parent = names.parents[call]
    test = parent if isinstance(parent, ast.IfExp) else None
    if test is not None:
        value = test
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], (ast.Name, ast.Attribute))
        or statement.value is not value
    ):
        raise Refused(
            module, call, f"what `{NAME}` returns is not assigned to a variable of this function",
            "give it to a plain variable first",
        )  # fmt: skip
    target, model = statement.targets[0], given["model"]
    scope, gpus = names.scope_at(statement), given.get("gpus")
    site = Site(module, call, model, statement, scope, "", "", gpus)
    if _is_own(target, names, scope):
        if isinstance(model, ast.Call):
            site.made, site.model, site.target = model, target.id, target.id
        elif _is_own(model, names, scope):
            site.model, site.target = model.id, target.id
    if site.made is None and not _is_made_here(site):
        if test is not None:
            raise Refused(module, test, "which model is copied here cannot be determined")
        site.origin = _origin(site, values)
    _choice(site, test)
    return site


def _is_own(node: ast.expr, names: Names, scope: Scope) -> TypeGuard[ast.Name]:
    """Whether an expression is a variable of the function that copies the model."""
    if not isinstance(node, ast.Name) or scope.is_class or node.id in scope.outer:
        return False
    return names.defining_scope(node.id, scope) is scope


def _is_made_here(site: Site) -> bool:
    """Whether statements of its own function make the model."""
    names = site.module.names
    return bool(site.model) and all(
        binding.kind not in ("parameter", "import")
        and not isinstance(names.parents.get(binding.node), ast.withitem)
        for binding in site.scope.bindings[site.model]
    )


def _origin(site: Site, values: ValueFlow) -> Origin:
    """The call that makes a model, by the way that it takes to its copies.

    Raises:
        Refused: there is none, or more than one.
    """
    module, node = site.module, site.copied
    while not isinstance(node, ast.Call):
        sources = values.sources(module, node)
        if sources is None or len(sources) != 1 or sources[0].node is None:
            raise Refused(
                site.module, site.copied,
            f"where the model of `{NAME}` is made cannot be determined",
                "make the model and its copies in one function",
            )  # fmt: skip
        module, node = sources[0].module, sources[0].node
    statement = module.names.statement(node)
    gpus = site.gpus
    if gpus is not None and constant(gpus) is None:
        gpus = known_at(values, site.module, gpus, module, statement)
        if gpus is None or not _is_early(module, gpus, statement):
            raise unknown_gpus(site.module, site.gpus or site.call)
    if not module.writable:
        raise Refused(module, statement, "the model is made in a file that is not migrated")
    return Origin(module, node, statement, gpus)


def _is_early(module: Module, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether an expression has its one value before a statement."""
    names, scope = module.names, module.names.scope_at(statement)
    for part in ast.walk(node):
        stores: list[ast.AST] = []
        if isinstance(part, ast.Call):
            return False
        if isinstance(part, ast.Name):
            stores = [binding.node for binding in names.bindings_of(part)]
        elif isinstance(part, ast.Attribute):
            attributes = names.attributes.get(part.attr, ())
            stores = [one for one in attributes if isinstance(one.ctx, ast.Store)]
        if len(stores) > 1:
            return False
        for store in stores:
            home = names.scope_at(store)
            if home is scope and line_of(store) >= statement.lineno:
                return False
            if isinstance(part, ast.Attribute) and home is not scope:
                if getattr(home.node, "name", "") != "__init__":
                    return False
    return True


def unknown_gpus(module: Module, node: ast.AST) -> Refused:
    """Why a strategy cannot be chosen where the model is made."""
    return Refused(
        module, node, f"`{ast.unparse(node)}` chooses the GPUs, and is not known above the model",
        "calculate it before the model is made",
    )  # fmt: skip


def _arguments(module: Module, call: ast.Call) -> dict[str, ast.expr]:
    given = NamedArguments(module, call, _PARAMETERS).rest
    if "model" not in given:
        raise Refused(module, call, f"`{NAME}` without a model")
    moved = given.get("cpu_relocation")
    if moved is not None and constant(moved) is not False:
        raise Refused(
            module, moved, "`cpu_relocation` makes a second model with its own weights, and "
            "trains that", "leave it out: a strategy places the weights",
        )  # fmt: skip
    return given


def _choice(site: Site, test: ast.IfExp | None) -> None:
    """The condition under which there are copies."""
    module, names, statement = site.module, site.module.names, site.statement
    if test is not None:
        other = test.orelse if test.body is site.call else test.body
        if not isinstance(other, ast.Name) or other.id != site.model or test.test is site.call:
            raise Refused(module, test, "which model is copied here cannot be determined")
        site.choice = test
        return
    parent = names.parents[statement]
    if isinstance(parent, ast.With) and not _enters(site, parent):
        raise Refused(
            module, statement, "the model is copied under a `with`",
            "copy it below: a strategy places it",
        )  # fmt: skip
    if not isinstance(parent, ast.If) or _is_main(parent):
        if isinstance(parent, (ast.Try, ast.ExceptHandler)):
            raise Refused(
                module, statement, "the model is copied in `try`", "ask for the GPUs by `if`, "
                "by len(tf.config.list_physical_devices('GPU'))",
            )  # fmt: skip
        if isinstance(parent, (ast.For, ast.While)):
            _check_round(site, parent)
        return
    if site.origin is not None:
        raise Refused(
            module, parent, "the model is copied under a condition, and made outside of it",
            "make the model and its copies in one function",
        )  # fmt: skip
    in_body = statement in parent.body
    own, single = (parent.body, parent.orelse) if in_body else (parent.orelse, parent.body)
    here = any(site.model in stored(s) for s in own if s.lineno < statement.lineno)
    there = [s for s in single if {site.model, site.target} & stored(s)]
    if site.made is None and not here:
        site.inner = False
    elif there:
        site.inner = True
    else:
        return  # the model is made beside its copies: nothing is chosen here
    outer = names.parents[parent]
    if isinstance(outer, ast.If) and parent in outer.orelse and len(outer.orelse) == 1:
        raise Refused(module, parent, "copies in an `elif`", "write `if` and `else`")
    if len(single) == 1 and isinstance(single[0], ast.If):
        raise Refused(module, parent, "copies beside an `elif`", "write `if` and `else`")
    site.choice, site.own, site.single = parent, own, single


def _enters(site: Site, block: ast.With) -> bool:
    """`with build() as model:`, which gives the model that is copied."""
    targets = [item.optional_vars for item in block.items]
    return site.origin is not None and all(
        isinstance(target, ast.Name) and target.id == site.model for target in targets
    )


def _check_round(site: Site, loop: ast.For | ast.While) -> None:
    """Every round of a loop must make its own model before it does anything with it."""
    names = site.module.names
    if site.origin is not None:
        raise Refused(
            site.module, loop, "a loop copies a model that is made outside of it",
            "make and train the model in a function",
        )  # fmt: skip
    made = [s.lineno for s in loop.body if {site.model, site.target} & stored(s)]
    for name in dict.fromkeys((site.model, site.target)):
        for mention in names.mentions(name, site.scope):
            if mention.lineno < min(made) or loop not in names.ancestors(mention):
                raise Refused(
                    site.module, mention, f"a loop copies `{name}`, which is of another round here",
                    "make and train the model in a function",
                )  # fmt: skip


def _is_main(node: ast.If) -> bool:
    return any(isinstance(p, ast.Name) and p.id == "__name__" for p in ast.walk(node.test))


def stored(node: ast.AST) -> set[str]:
    """The variables that a statement gives a value."""
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def loaded(node: ast.AST) -> set[str]:
    """The variables that a node reads."""
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def is_copy_of(statement: ast.stmt, target: str, model: str) -> bool:
    """``parallel_model = model``"""
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == target
        and isinstance(statement.value, ast.Name)
        and statement.value.id == model
    )


def inside_strings(statement: ast.stmt) -> set[int]:
    """Lines that begin inside of a string."""
    found: set[int] = set()
    for part in ast.walk(statement):
        if isinstance(part, (ast.Constant, ast.JoinedStr)):
            if isinstance(part, ast.Constant) and not isinstance(part.value, (str, bytes)):
                continue
            lines = range(part.lineno + 1, (part.end_lineno or part.lineno) + 1)
            found.update(lines)
    return found


def is_import(statement: ast.stmt) -> bool:
    """`from keras.utils import multi_gpu_model`, and nothing else"""
    return isinstance(statement, ast.ImportFrom) and [a.name for a in statement.names] == [NAME]


def is_print(statement: ast.stmt) -> bool:
    """A statement that tells something and does nothing else."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return isinstance(statement, ast.Pass)
    function = statement.value.func
    if isinstance(function, ast.Name):
        return function.id == "print"
    return isinstance(function, ast.Attribute) and (
        function.attr in ("info", "debug", "warning", "warn", "log", "write")
    )
