"""Keras's optimizers whose arithmetic TF2 changed, made as they were in TF1."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.api_version import is_explicit_v1
from migrate_mgpu.analysis.definitions import below_imports, defined_above
from migrate_mgpu.analysis.edit_set import EditSet, Note
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.core.findings import OPTIMIZER
from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

# The rule that writes them.
CODE, NAME = "MGPU206", "keras-optimizers"


@record(frozen=True)
class _Changed:
    """What TF2 changed in an optimizer, of standalone Keras alone or of both: in words, and the
    class that undoes it."""

    text: str
    definition: Definition | None = None
    standalone: bool = False


_STEP = '''\
class {{name}}({{base}}):
    """{title}"""
{begin}
    def update_step(self, gradient, variable, *rate):
        if rate:  # Keras 3
            index = self._get_variable_index(variable)
        else:
            index, rate = self._index_dict[self._var_key(variable)], (self.learning_rate,)
        gradient, squares = {{tf}}.convert_to_tensor(gradient), self.{slots}[index]
        squares.{update}
        step = {{tf}}.cast(rate[0], gradient.dtype) * gradient
        variable.assign_sub(step / ({{tf}}.sqrt(squares) + self.epsilon))'''
_FROM_ZERO = """
    def __init__(self, *args, **kwargs):
        kwargs.setdefault({quote}initial_accumulator_value{quote}, 0.0)
        super().__init__(*args, **kwargs)
"""
_CHANGED = {
    "RMSprop": _Changed(
        "it adds epsilon under the root in TF2, where it was added to the root",
        Definition(
            "TF1RMSprop",
            _STEP.format(
                title="RMSprop that adds epsilon to the root of the mean squares, as Keras did in "
                "TF1.",
                begin="",
                slots="_velocities",
                update="assign(self.rho * squares + (1 - self.rho) * {tf}.square(gradient))",
            ),
        ),
    ),
    "Adagrad": _Changed(
        "its sums of squares begin at 0.1 in TF2, and epsilon is added under the root; they began "
        "at 0, and it was added to the root",
        Definition(
            "TF1Adagrad",
            _STEP.format(
                title="Adagrad that adds epsilon to the root of the sum, as Keras did in TF1.",
                begin=_FROM_ZERO,
                slots="_accumulators",
                update="assign_add({tf}.square(gradient))",
            ),
        ),
        standalone=True,
    ),
    "Nadam": _Changed(
        "its momentum follows another schedule in TF2: 0.96 ** step, where it was "
        "0.96 ** (0.004 * step)"
    ),
}


def _constructions(module: Module) -> Iterator[tuple[ast.Call, ast.expr | None, str]]:
    """What makes an optimizer that TF2 changed: its call, or `compile` and the string in it."""
    if is_explicit_v1(module):
        return  # TF2's already
    alone = any(name.startswith("keras") for name in module.keras_names)
    for call in module.names.calls:
        head, _, name = (module.names.qualname(call.func) or "").rpartition(".")
        parts = head.split(".")
        if "keras" in parts and "v1" not in parts and name in _CHANGED:
            if not _CHANGED[name].standalone or parts[0] == "keras":
                yield call, None, name
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
            named = [k.value for k in call.keywords if k.arg == "optimizer"] or call.args[:1]
            for value in named if module.uses_keras_models else ():
                short = str(constant(value) or "").lower()
                for name, changed in _CHANGED.items():
                    if name.lower() == short and (alone or not changed.standalone):
                        yield call, value, name


def _same(call: ast.Call) -> bool:
    """Whether a call of RMSprop has a momentum: its arithmetic is the same then."""
    return any(k.arg == "momentum" and constant(k.value) for k in call.keywords)


def _needs_class(call: ast.Call) -> bool:
    """Whether the class does what the call asks for."""
    given = {k.arg: constant(k.value) for k in call.keywords}
    unknown = [
        k for k in call.keywords if k.arg in ("momentum", "centered") and given[k.arg] is None
    ]
    return None not in given and not unknown and not given.get("centered") and len(call.args) <= 2


def trains_the_same(module: Module, node: ast.expr) -> bool:
    """Whether the optimizer that a node makes, or names, does in TF2 what it did in TF1 once the
    rule has done its work."""
    first = below_imports(module)
    if first is None or spelling(module, first) is None or not module.writable:
        return False
    for call, named, name in _constructions(module):
        if node is named:
            return _CHANGED[name].definition is not None
        if node is call:
            return _same(call) or _is_written(module, call, name, first)
    return False


def _is_written(module: Module, call: ast.Call, name: str, first: ast.stmt) -> bool:
    """Whether a call's optimizer is made from the class."""
    known = _needs_class(call) and _is_known_at(module, call.func, first)
    return _CHANGED[name].definition is not None and not _same(call) and known


def write(module: Module) -> EditSet:
    """The classes and their uses in a native program's module."""
    found = EditSet()
    first = below_imports(module)
    tf = spelling(module, first) if first is not None else None
    if first is None or tf is None:
        return found
    style = FileStyle.of(module.source, tf)
    classes: dict[str, str] = {}
    texts: list[str] = []
    for call, named, name in _constructions(module):
        definition = _CHANGED[name].definition
        if definition is None:
            continue
        if named is None and not _is_written(module, call, name, first):
            continue
        if name not in classes:
            free = (definition.name, f"Classic{name}")
            classes[name] = module.names.fresh(module.names.module_scope, *free)
            base = f"{tf}.keras.optimizers.{name}" if named else module.source.code(call.func)
            texts.append(style.code(definition.text, name=classes[name], base=base))
        short = classes[name]
        if named is None:
            found.edit(module, Edit(*module.source.span(call.func), short))
        else:
            found.edit(module, Edit(*module.source.span(named), f"{short}()"))
        found.moved.add(call)
        found.note(module, call, f"`{name}` is `{short}`: {_CHANGED[name].text}")
    if texts:
        found.edit(module, defined_above(module, first, texts))
    return found


def _is_known_at(module: Module, function: ast.expr, place: ast.stmt) -> bool:
    """Whether an imported function has its name above a statement."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and all(
        binding.kind == "import"
        and module.names.statement(binding.node) in module.tree.body
        and binding.node.lineno < place.lineno  # type: ignore[attr-defined]
        for binding in module.names.bindings_of(function)
    )


def remarks(module: Module) -> Iterator[Note]:
    """What the optimizers of a module do otherwise in TF2."""
    known: set[ast.AST] = set()
    for call, named, name in _constructions(module):
        known.update([named] if named is not None else [])
        if named is not None or not _same(call):
            yield Note(module, call, f"`{name}`: {_CHANGED[name].text}", OPTIMIZER)
    told = module.uses_keras_models and not is_explicit_v1(module)
    for node in walk(module.tree) if told else ():
        if not isinstance(node, ast.Constant) or node in known:
            continue  # any other may be what a `compile` is given
        for name in ("RMSprop", "Nadam"):
            if str(node.value).lower() == name.lower():
                yield Note(module, node, f"`{name}`: {_CHANGED[name].text}", OPTIMIZER)
