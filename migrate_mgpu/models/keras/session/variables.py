"""Placeholders and variables of a graph, as TF2 has them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.models.front.network.initializers import read_initializer
from migrate_mgpu.models.front.session.host_objects import Assignment
from migrate_mgpu.models.front.session.variables import is_type
from migrate_mgpu.models.ir import Operation, Placeholder
from migrate_mgpu.models.keras.constructors import initializer_edits
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.call_edit import CallEdit

_TYPES = {"float": "float32", "double": "float64"}


def placeholder_text(made: Placeholder, spec: str, is_number: bool, context: Context) -> str:
    """`x = tf.placeholder(tf.float32, [None, 3])` as the shape and type that a step takes."""
    shape = made.arguments.get("shape")
    if made.computed is not None and isinstance(shape, ast.List):  # its sizes are written elsewhere
        sizes = ("None" if is_none(one) else _size_text(one, context) for one in shape.elts)
        shown = f"[{', '.join(sizes)}]"
    else:
        shown = context.render(shape) if shape is not None else "None"
    if is_number:
        shown = "[]"  # Keras 3 asks for a shape
    kind = "SparseTensorSpec" if made.sparse else "TensorSpec"
    text = f"{context.tf}.{kind}({shown}, {type_text(made, context)})"
    if made.count is not None:
        count = context.render(made.count)
        plain = isinstance(made.count, (ast.Name, ast.Constant, ast.Attribute, ast.Call))
        text = f"[{text}] * {count if plain else f'({count})'}"
    return f"{spec} = {text}"


def _size_text(size: ast.expr, context: Context) -> str:
    return str(size.value) if isinstance(size, ast.Constant) else context.render(size)


def type_text(made: Placeholder, context: Context) -> str:
    dtype = made.arguments["dtype"]
    known = constant(dtype)
    if isinstance(known, str):
        return f"{context.tf}.{_TYPES.get(known, known)}"
    return context.render(dtype)


def sample_text(made: Placeholder, context: Context, is_number: bool) -> str:
    """A tensor as one that is fed, of one row; ``is_number``: only numbers are.

    Raises:
        Refused: its shape is not known but for the rows.
    """
    shape = made.arguments.get("shape")
    sizes = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else None
    sizes = [] if sizes is None and is_number else sizes
    if sizes is None or any(is_none(size) for size in sizes[1:]):
        text = f"layers are made here: the shape of `{made.name}` is not known before"
        raise Refused(made.module, shape or made.node, text)
    texts = ["1" if is_none(size) else context.render(size) for size in sizes]
    dtype = type_text(made, context)
    more = "" if dtype == f"{context.tf}.float32" else f", {dtype}"
    return f"{context.tf}.ones([{', '.join(texts)}]{more})"


def variable_replacement(
    made: Operation,
    scope: str = "",
    indent_at: Callable[[ast.AST], str] | None = None,
    moves: bool = False,
) -> Replacement:
    """A variable with its first value, which TF2 computes where it stands.

    ``scope`` is what TF1 put before its name, ``indent_at`` the indentation that a statement gets.
    ``moves``: it is written elsewhere.
    """

    def write(context: Context) -> str:
        if made.kind in COUNTERS:
            name = f"name={context.style.string('global_step')}"
            return f"{context.tf}.Variable(0, trainable=False, {name}, dtype={context.tf}.int64)"
        if made.kind == "get_variable":
            return _fitted(_get_variable(made, context, scope), made, context, indent_at, moves)
        assert isinstance(made.node, ast.Call)
        if "initializer" in made.arguments:
            return _fitted(_of_initializer(made, context, scope), made, context, indent_at, moves)
        edit = CallEdit(made.module.source, made.node, ("initial_value", "trainable"))
        edit.function(f"{context.tf}.Variable")
        edit.drop(
            *(
                name
                for name, value in made.arguments.items()
                if name not in ("initial_value", "trainable", "name", "dtype")
                or (isinstance(value, ast.Constant) and value.value is None)
                or (name == "trainable" and is_type(value, made))
            )
        )
        if scope and "name" in made.arguments:
            edit.value("name", _scoped(made.arguments["name"], scope, context))
        return context.render_call(made.node, edit.edits())

    return write


def _fitted(
    text: str,
    made: Operation,
    context: Context,
    indent_at: Callable[[ast.AST], str] | None,
    moves: bool,
) -> str:
    """What makes a variable, broken where it does not fit, as its statement stands now."""
    source, statement = made.module.source, made.module.names.statement(made.node)
    indent = (indent_at or source.indent_of)(statement)
    column = len(indent) + source.span(made.node)[0] - source.span(statement)[0]
    fitted = context.style.fitted(text, indent, column, nested=True)
    if moves and statement.end_lineno != statement.lineno:  # lines of several move along
        return fitted.replace(f"\n{indent}", f"\n{source.indent_of(statement)}")
    return fitted


def assignment_replacement(made: Assignment) -> Replacement:
    """`tf.assign(rate, value)` as the variable's own method."""

    def write(context: Context) -> str:
        name = made.variable
        shown = name.id if isinstance(name, ast.Name) else context.render(name)
        return f"{shown}.{made.kind}({context.render(made.value)})"

    return write


def _get_variable(made: Operation, context: Context, scope: str) -> str:
    """`tf.get_variable("w", [3])` as `tf.Variable(initializer([3]), name="w")`."""
    given = made.arguments
    shape, initializer = given.get("shape"), given.get("initializer")
    if initializer is None or (isinstance(initializer, ast.Constant) and initializer.value is None):
        text = f"{context.tf}.keras.initializers.GlorotUniform()"
    elif shape is not None:
        known = read_initializer(made.module, _made_initializer(made.module, initializer))
        if known is None:
            raise Refused(made.module, initializer, "this initializer is not known")
        assert isinstance(initializer, ast.expr)
        if isinstance(initializer, ast.Name) and known.node is not initializer:
            text = initializer.id  # the author's, which has Keras's in it now
        elif isinstance(initializer, ast.Call):
            text = context.render_call(initializer, initializer_edits(known, context.style))
        else:
            text = f"{context.tf}.{INITIALIZERS.by_kind[known.kind].target}()"
    else:
        text = ""
    if text:
        assert shape is not None
        dtype = context.render(given["dtype"]) if "dtype" in given else ""
        more = f", dtype={dtype}" if dtype not in ("", f"{context.tf}.float32") else ""
        first = f"{text}({context.render(shape)}{more})"
    else:
        assert initializer is not None
        first = context.render(initializer)
    arguments = [first]
    if "trainable" in given:
        arguments.append(f"trainable={context.render(given['trainable'])}")
    arguments.append(f"name={_scoped(given['name'], scope, context)}")
    return f"{context.tf}.Variable({', '.join(arguments)})"


def _of_initializer(made: Operation, context: Context, scope: str) -> str:
    """`tf.Variable(initializer([3, 4]), name="w")`, of an initializer of TF1's, with Keras's."""
    given = made.arguments
    known = read_initializer(made.module, given["initializer"])
    if known is None or not isinstance(known.node, ast.Call):
        raise Refused(made.module, given["initializer"], "this initializer is not known")
    text = context.render_call(known.node, initializer_edits(known, context.style))
    arguments = [f"{text}({context.render(given['shape'])})"]
    for name in ("trainable", "name", "dtype"):
        value = given.get(name)
        if value is None or is_none(value) or (name == "trainable" and is_type(value, made)):
            continue
        shown = _scoped(value, scope, context) if name == "name" else context.render(value)
        arguments.append(f"{name}={shown}")
    return f"{context.tf}.Variable({', '.join(arguments)})"


def _made_initializer(module: Module, node: ast.expr) -> ast.expr:
    """The call that makes an initializer to which a function gives a name."""
    value = module.names.only_value(node) if isinstance(node, ast.Name) else None
    return value if isinstance(value, ast.Call) else node


def _scoped(name: ast.expr, scope: str, context: Context) -> str:
    """A variable's name, with the scopes around it."""
    known = constant(name)
    if not scope or not isinstance(known, str):
        return context.render(name)
    return context.style.string(scope + known)
