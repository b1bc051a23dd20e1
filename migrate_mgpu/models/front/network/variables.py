"""Variables that a network makes by hand: weights of the model."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.api.variables import FIRST_VALUES, VARIABLES
from migrate_mgpu.models.front.network.initializers import read_initializer
from migrate_mgpu.models.ir import FirstValue, Weight

_ADVICE = "make it by tf.get_variable with a shape and an initializer, or a layer"
_AROUND_ZERO = ("random_normal", "truncated_normal")
_COMPUTED = (
    ast.Constant, ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
    ast.expr_context,
)  # fmt: skip
# Functions of numpy that give an array.
_ARRAYS = {
    "array", "asarray", "concatenate", "eye", "full", "hstack", "load", "normal", "ones", "rand",
    "randn", "stack", "uniform", "vstack", "zeros",
}  # fmt: skip
_DRAWN = ("value", "mean", "minval", "maxval", "stddev", "seed")


def read_weight(module: Module, call: ast.Call, regularized: bool) -> Weight | None:
    """The weight that a call makes; None where it makes none.

    ``regularized``: whether the program's loss has the regularization terms.

    Raises:
        Refused: Keras has no weight that is made so.
    """
    row = VARIABLES.by_name.get(name_of(module, call))
    if row is None:
        return None
    given = NamedArguments(module, call, row.signature)
    for own in (parameter for parameter in row.parameters if parameter.only):
        text = f"`{own.name}` of `{given.shown}` has no form in a Keras model"
        refuse_unless(given, own.name, own.only, text, "leave it out")
    refuse_unless(given, "validate_shape", (True, None), "a variable may change its shape", _ADVICE)
    given.drop("use_resource", "caching_device")
    stated = given.given("dtype") is not None
    double = _is_double(given)
    named = given.get("name")
    known = constant(named)
    stem = "".join(c if c.isalnum() else "_" for c in known) if isinstance(known, str) else ""
    scoped = ""
    if isinstance(known, str) and "/" in known:
        scoped = known
        given.drop("name")
    if not regularized or is_none(given.get("regularizer")):
        given.drop("regularizer")
    first = None
    if row.kind == "Variable":
        first = _array(given, "initial_value") if stated else None
        first = first or _first_value(given, "initial_value")
    elif given.get("shape") is None and _is_value(module, given.get("initializer")):
        first = _first_value(given, "initializer")
    else:
        _check_shape_and_initializer(given)
    stem = stem.lower() if stem.isidentifier() else "weight"
    return Weight(row.kind, module, call, given.rest, stem, first, double, scoped)


def _is_double(given: NamedArguments) -> bool:
    """Whether a variable is of float64, which its model says of all."""
    dtype = given.given("dtype")
    made = given.module.names.assigned(dtype)
    name = name_of(given.module, made) if made is not None else "float32"
    if name not in ("float32", "float64"):
        text = "a variable whose type is not float32"
        raise Refused(given.module, dtype or given.call, text, "make it float32")
    given.drop("dtype")
    return name == "float64"


def _check_shape_and_initializer(given: NamedArguments) -> None:
    """`tf.get_variable`: Keras's default is TF1's, Glorot's uniform distribution."""
    shape = given.given("shape")
    if shape is None:
        raise Refused(given.module, given.call, "a variable without a shape", _ADVICE)
    _check_shape(given.module, shape)
    initializer = given.given("initializer")
    if initializer is None:
        given.drop("initializer")
        return
    made = given.module.names.assigned(initializer) or initializer
    if not _begins_with(given.module, made):
        text = "what this variable begins with cannot be determined"
        raise Refused(given.module, initializer, text, "give it an initializer of TensorFlow's")


def _begins_with(module: Module, node: ast.expr) -> bool:
    """Whether an expression makes an initializer, itself or by a function that returns one."""
    home, made = function_of(module, node) if isinstance(node, ast.Call) else (module, None)
    if made is None:
        return read_initializer(module, node) is not None
    values = [part.value for part in walk(made) if isinstance(part, ast.Return)]
    return bool(values) and all(
        value is not None and read_initializer(home, value) is not None for value in values
    )


def function_of(module: Module, call: ast.Call) -> tuple[Module, ast.FunctionDef | None]:
    """The function that a call reaches, of this module or of one that it imports."""
    if isinstance(call.func, ast.Name):
        made = module.names.only_definition(call.func)
        if isinstance(made, ast.FunctionDef):
            return module, made
    head, _, last = (module.names.qualname(call.func) or "").rpartition(".")
    for other in module.imported if head else ():
        bindings = other.names.module_scope.bindings.get(last, ())
        if f".{other.name}".endswith(f".{head}") and len(bindings) == 1:
            made = bindings[0].node
            return other, made if isinstance(made, ast.FunctionDef) else None
    return module, None


def _check_shape(module: Module, node: ast.expr) -> None:
    value = module.names.assigned(node)
    if not isinstance(value, (ast.List, ast.Tuple)) and not _is_parameter(module, value):
        text = "the shape of a variable is not a literal"
        raise Refused(module, node, text, "write it as a list")


def _is_parameter(module: Module, node: ast.expr | None) -> bool:
    """Whether a name is a parameter of a function that makes more than a variable."""
    if not isinstance(node, ast.Name) or node not in module.names.scope_of_name:
        return False
    home = module.names.scope_of_name[node].node
    returned = [n.value for n in walk(home) if isinstance(n, ast.Return)]
    if any(
        name_of(module, module.names.assigned(value)) in VARIABLES.by_name for value in returned
    ):
        return False
    return module.names.is_parameter(node)


def _is_value(module: Module, node: ast.expr | None) -> bool:
    """Whether `tf.get_variable` is given the first value itself, which says the shape too."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant) and isinstance(node.value, float)
    return name_of(module, node) in FIRST_VALUES


def _array(given: NamedArguments, parameter: str) -> FirstValue | None:
    """An array of numpy's, by the one name that it has: its shape is the variable's."""
    module, value = given.module, given.get(parameter)
    if not isinstance(value, ast.Name) or given.get("shape") is not None:
        return None
    made = module.names.assigned(value)
    name = module.names.qualname(made.func) or "" if isinstance(made, ast.Call) else ""
    known = name.removeprefix("numpy.").removeprefix("random.") in _ARRAYS
    if not name.startswith("numpy.") or not known:
        return None
    return FirstValue(parameter, "Constant", {"value": value}, array=True)


def _first_value(given: NamedArguments, parameter: str) -> FirstValue:
    """The function that gives a variable's first value, or the number that it is."""
    module = given.module
    value = given.get(parameter)
    refuse_unless(given, "shape", (None,), "the `shape` of a tf.Variable", _ADVICE)
    if value is not None and isinstance(constant(value), float):
        return FirstValue(parameter, "Constant", {"value": value})
    added = _added(module, value)
    if added is not None:
        shape = NamedArguments(module, added[0], FIRST_VALUES["zeros"][1]).given("shape")
        if shape is not None:
            _check_shape(module, shape)
            return FirstValue(parameter, "Constant", {"value": added[1]}, shape)
    mean: ast.expr | None = None
    shifted = _shifted(module, value)
    if shifted is not None:
        value, mean = shifted
    name = name_of(module, value) if isinstance(value, ast.Call) else ""
    if name not in FIRST_VALUES:
        text = "what this variable begins with cannot be determined"
        raise Refused(module, value or given.call, text, _ADVICE)
    assert isinstance(value, ast.Call)
    kind, parameters = FIRST_VALUES[name]
    inner = NamedArguments(module, value, parameters)
    if _is_double(inner):
        text = "a variable that begins with a value of float64"
        raise Refused(module, value, text, "give tf.get_variable a shape and dtype=tf.float64")
    shape = inner.given("shape")
    if shape is None:
        raise Refused(module, value, "a variable without a shape", _ADVICE)
    _check_shape(module, shape)
    drawn = {p: node for p in _DRAWN if (node := inner.given(p)) is not None}
    if mean is not None:
        drawn = {"mean": mean, **drawn}
    for name, node in drawn.items():
        if constant(node) is None and not _is_number(module, node):
            text = f"`{name}` of `{inner.shown}` is not a constant"
            raise Refused(module, node, text, _ADVICE)
    return FirstValue(parameter, kind, drawn, shape)


def _is_number(module: Module, node: ast.expr) -> bool:
    """Whether an expression computes a number of Python's: `1.0 / math.sqrt(n_input)`."""
    for part in walk(node):
        if isinstance(part, ast.Call):
            name = module.names.qualname(part.func) or ""
            if not name.startswith(("math.", "numpy.sqrt", "builtins.float")) or part.keywords:
                return False
        elif not isinstance(part, _COMPUTED) or (
            isinstance(part, ast.Attribute) and not module.names.qualname(part)
        ):
            return False
    return True


def _shifted(module: Module, node: ast.expr | None) -> tuple[ast.Call, ast.expr] | None:
    """`tf.random_normal([1, 10]) + 0.1`: the call that draws around zero, and the mean then."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    for call, value in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(call, ast.Call) or not isinstance(constant(value), float):
            continue
        if name_of(module, call) in _AROUND_ZERO:
            given = NamedArguments(module, call, FIRST_VALUES[name_of(module, call)][1])
            if given.given("mean") is None:
                return call, value
    return None


def _added(module: Module, node: ast.expr | None) -> tuple[ast.Call, ast.expr] | None:
    """`tf.zeros([1, 10]) + 0.1`, `0.1 * tf.ones([10])`: the call, and the value of all elements."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Mult)):
        return None
    neutral = "zeros" if isinstance(node.op, ast.Add) else "ones"
    for call, value in ((node.left, node.right), (node.right, node.left)):
        alone = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
        if isinstance(call, ast.Call) and alone and name_of(module, call) == neutral:
            number = constant(value)
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                return call, value
    return None
