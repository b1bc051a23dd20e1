"""Variables that a network makes by hand: weights of the model, added in its constructor."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api import initializers
from migrate_mgpu.api.tables import assigned, name_of, refuse_unless
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.types import Layer
from migrate_mgpu.source.source import Edit

NAMES = ("get_variable", "Variable")

_GET = (
    "name", "shape", "dtype", "initializer", "regularizer", "trainable", "collections",
    "caching_device", "partitioner", "validate_shape", "use_resource", "custom_getter",
    "constraint", "synchronization", "aggregation",
)  # fmt: skip
_MAKE = (
    "initial_value", "trainable", "collections", "validate_shape", "caching_device", "name",
    "variable_def", "dtype", "expected_shape", "import_scope", "constraint", "use_resource",
    "synchronization", "aggregation", "shape",
)  # fmt: skip
_OWN = (
    "collections", "partitioner", "custom_getter", "variable_def", "expected_shape",
    "import_scope", "constraint", "synchronization", "aggregation",
)  # fmt: skip
# What a variable may begin with: Keras's initializer, and TF1's parameters of the function.
_VALUES = {
    "zeros": ("", ("shape", "dtype", "name")),
    "ones": ("", ("shape", "dtype", "name")),
    "random_normal": ("RandomNormal", ("shape", "mean", "stddev", "dtype", "seed", "name")),
    "truncated_normal": ("TruncatedNormal", ("shape", "mean", "stddev", "dtype", "seed", "name")),
    "random_uniform": ("RandomUniform", ("shape", "minval", "maxval", "dtype", "seed", "name")),
    "constant": ("Constant", ("value", "dtype", "shape", "name", "verify_shape")),
}
_ALIASES = {
    "random.normal": "random_normal",
    "random.uniform": "random_uniform",
    "random.truncated_normal": "truncated_normal",
}
_DEFAULTS = {
    "RandomNormal": {"stddev": "1.0"},
    "TruncatedNormal": {"stddev": "1.0"},
    "RandomUniform": {"minval": "0.0", "maxval": "1.0"},
}
_ADVICE = "make it by tf.get_variable with a shape and an initializer, or a layer"


def variable(module: Module, call: ast.Call, tf: str, regularized: bool) -> Layer | None:
    """A variable as a layer without inputs; None where a call makes none.

    ``regularized``: whether the program's loss has the regularization terms.

    Raises:
        Refused: Keras has no weight that is made so.
    """
    name = name_of(module, call)
    if name not in NAMES:
        return None
    edit = BoundCall(module, call, _GET if name == "get_variable" else _MAKE)
    for own in _OWN:
        text = f"`{own}` of `{edit.shown}` has no form in a Keras model"
        refuse_unless(edit, own, (None,), text, "leave it out")
    refuse_unless(edit, "validate_shape", (True, None), "a variable may change its shape", _ADVICE)
    edit.drop("use_resource", "caching_device")
    double = _is_double(edit)
    named = edit.get("name")
    known = constant(named) if named is not None else None
    stem = "".join(c if c.isalnum() else "_" for c in known) if isinstance(known, str) else ""
    if isinstance(known, str) and "/" in known:
        edit.drop("name")
    if not regularized or is_none(edit.get("regularizer")):
        edit.drop("regularizer")
    if name == "Variable":
        more = _from_value(edit, tf, "initial_value")
    elif edit.get("shape") is None and _is_value(module, edit.get("initializer")):
        more = _from_value(edit, tf, "initializer")
    else:
        more = _from_shape(edit)
    edit.function("self.add_weight")
    edit.order(())
    stem = stem.lower() if stem.isidentifier() else "weight"
    return Layer(call, (*edit.edits(), *more), (), stem=stem, variable=True, double=double)


def _is_double(edit: BoundCall) -> bool:
    """Whether a variable is of float64, which its model says of all."""
    dtype = edit.given("dtype")
    name = name_of(edit.module, dtype) if dtype is not None else "float32"
    if name not in ("float32", "float64"):
        text = "a variable that is not of float32"
        raise Refused(edit.module, dtype or edit.call, text, "let it be of float32")
    edit.drop("dtype")
    return name == "float64"


def _from_shape(edit: BoundCall) -> tuple[Edit, ...]:
    """`tf.get_variable`: Keras's default is TF1's, Glorot's uniform distribution."""
    shape = edit.given("shape")
    if shape is None:
        raise Refused(edit.module, edit.call, "a variable without a shape", _ADVICE)
    _check_shape(edit.module, shape)
    initializer = edit.given("initializer")
    if initializer is None:
        edit.drop("initializer")
        return ()
    made = assigned(edit.module, initializer)
    name = name_of(edit.module, made)
    call = initializers.call(edit.module, made, "tf", name) if isinstance(made, ast.Call) else None
    if call is None and initializers.mention(edit.module, made or initializer, "tf", name) is None:
        text = "what this variable begins with cannot be told"
        raise Refused(edit.module, initializer, text, "give it an initializer of TensorFlow's")
    return ()


def _check_shape(module: Module, node: ast.expr) -> None:
    value = assigned(module, node)
    if not isinstance(value, (ast.List, ast.Tuple)) and not _is_parameter(module, value):
        text = "the shape of a variable is not written out"
        raise Refused(module, node, text, "write it as a list")


def _is_parameter(module: Module, node: ast.expr | None) -> bool:
    """Whether a name is a parameter of a function that makes more than a variable."""
    if not isinstance(node, ast.Name) or node not in module.names.scope_of_name:
        return False
    home = module.names.scope_of_name[node].node
    returned = [n.value for n in walk(home) if isinstance(n, ast.Return)]
    if any(name_of(module, assigned(module, value)) in NAMES for value in returned):
        return False
    return [binding.kind for binding in module.names.bindings_of(node)] == ["parameter"]


def _is_value(module: Module, node: ast.expr | None) -> bool:
    """Whether `tf.get_variable` is given the first value itself, which says the shape too."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant) and isinstance(node.value, float)
    name = name_of(module, node)
    return _ALIASES.get(name, name) in _VALUES


def _from_value(edit: BoundCall, tf: str, parameter: str) -> tuple[Edit, ...]:
    """The function that gives a variable's first value is an initializer in Keras."""
    module, source = edit.module, edit.module.source
    value = edit.get(parameter)
    refuse_unless(edit, "shape", (None,), "the `shape` of a tf.Variable", _ADVICE)
    if value is not None and isinstance(constant(value), float):
        edit.rename(parameter, "initializer")
        edit.value("initializer", f"{tf}.keras.initializers.Constant({source.code(value)})")
        edit.add("shape", "()")
        return ()
    name = name_of(module, value) if isinstance(value, ast.Call) else ""
    name = _ALIASES.get(name, name)
    kind = _VALUES.get(name)
    if kind is None:
        text = "what this variable begins with cannot be told"
        raise Refused(module, value or edit.call, text, _ADVICE)
    assert isinstance(value, ast.Call)
    keras, parameters = kind
    inner = BoundCall(module, value, parameters)
    if _is_double(inner):
        text = "a variable that begins with a value of float64"
        raise Refused(module, value, text, "give tf.get_variable a shape and dtype=tf.float64")
    shape = inner.given("shape")
    if shape is None:
        raise Refused(module, value, "a variable without a shape", _ADVICE)
    _check_shape(module, shape)
    begin, end = source.span(value)
    first, last = source.span(shape)
    initializer = _initializer(inner, keras, name, tf)
    edit.rename(parameter, "shape")
    return (Edit(begin, first, ""), Edit(last, end, f", initializer={initializer}"))


def _initializer(inner: BoundCall, keras: str, name: str, tf: str) -> str:
    """The text of the initializer that draws what a function gave."""
    module, quote = inner.module, inner.module.source.quote
    if not keras:
        return f"{quote}{name}{quote}"
    given: list[str] = []
    for parameter in ("value", "mean", "minval", "maxval", "stddev", "seed"):
        value = inner.given(parameter)
        default = _DEFAULTS.get(keras, {}).get(parameter)
        if value is None:
            given += [f"{parameter}={default}"] if default is not None else []
            continue
        if constant(value) is None:
            text = f"`{parameter}` of `{inner.shown}` is not a constant"
            raise Refused(module, value, text, _ADVICE)
        code = module.source.code(value)
        given.append(code if parameter == "value" else f"{parameter}={code}")
    return f"{tf}.keras.initializers.{keras}({', '.join(given)})"
