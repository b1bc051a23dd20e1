"""TensorFlow's other functions in TF2: names and arguments by the table, or the reason why not."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import renames, symbol, table
from migrate_mgpu.api.float_values import is_float
from migrate_mgpu.api.functions import (
    CONTRIB_DATA,
    EQUAL,
    FUNCTIONS,
    GFILE,
    GFILE_PARAMETERS,
    IMPOSSIBLE,
    LOGGING,
    REDUCTIONS,
    SAME_STATUSES,
)
from migrate_mgpu.api.tables import name_of, negative
from migrate_mgpu.models.front.network.initializers import read_initializer
from migrate_mgpu.models.keras.constructors import initializer_edits, rename
from migrate_mgpu.models.keras.early_columns import is_asked_class
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_LAST = "rnn_common.select_last_activations"


def function(module: Module, node: ast.AST, style: FileStyle) -> tuple[Edit, ...] | None:
    """The edits of a mention of TensorFlow, or of a call of it; None where it is none.

    ``node`` is the call, or the longest chain of attributes of what is not called.

    Raises:
        Refused: TF2 has nothing equal.
    """
    spelled = node.func if isinstance(node, ast.Call) else node
    if isinstance(spelled, ast.Attribute) and name_of(module, spelled.value) in _VERSION:
        return function(module, spelled.value, style)
    found = symbol(module.names.qualname(spelled))
    if found is None:
        return None
    if found.flavour == "v2" or not found.name or found.name.startswith(("app.flags", "flags")):
        return ()  # the flags are absl's, see absl_app.py
    name = name_of(module, spelled)
    if not name and is_asked_class(module, spelled):
        assert isinstance(spelled, ast.Attribute)
        last = module.source.span(spelled)[1]
        return (Edit(last - len(spelled.attr), last, spelled.attr[1:]),)
    if not name:
        raise Refused(module, node, f"`{module.source.code(spelled)}` is TensorFlow's own inside")
    if name == "get_variable_scope" and (edits := _scope_name(module, node, style)) is not None:
        return edits
    for stems, reason, advice in IMPOSSIBLE:
        if any(name == n or name.startswith(n if n.endswith(".") else f"{n}.") for n in stems):
            raise Refused(module, node, f"`{module.source.code(spelled)}` {reason}", advice)
    if isinstance(node, ast.expr):
        initializer = read_initializer(module, node)
        if initializer is not None:
            return initializer_edits(initializer, style)
    if found.flavour != "private" and _is_written(found.name):
        name = found.name  # as its author calls it
    if isinstance(node, ast.Call) and (edits := _call(module, node, style, name)) is not None:
        return edits
    if isinstance(node, ast.Call) and name in _FLATTEN and _is_of_one(node):
        # A layer without variables, in a function that stays one.
        new = f"{style.tensorflow}.keras.layers.Flatten()"
        return (Edit(*module.source.span(spelled), new),)
    return _renamed(module, spelled, style, name, isinstance(node, ast.Call))


def _is_of_one(call: ast.Call) -> bool:
    """Whether a call is given a tensor alone."""
    return len(call.args) == 1 and not call.keywords


_FLATTEN = ("layers.flatten", "contrib.layers.flatten", "contrib.slim.flatten")
# Tuples of arrays, which TF2 has by TF1's name alone.
_HELD = ("SparseTensorValue",)
# A text, with methods of its own.
_VERSION = ("VERSION", "version.VERSION")


def _is_written(name: str) -> bool:
    """Whether it is known what a name itself is in TF2, whatever others TF1 has for it."""
    if name in FUNCTIONS.by_name or name in EQUAL or name in renames():
        return True
    return table().status(name) in SAME_STATUSES


def dimension(module: Module, node: ast.Attribute) -> tuple[Edit, ...] | None:
    """`net.shape[1].value`: a dimension is a number in TF2. None for anything else."""
    inner = node.value
    if node.attr != "value" or not isinstance(inner, ast.Subscript):
        return None
    shape = module.names.assigned(inner.value)
    if isinstance(shape, ast.Call):
        known = isinstance(shape.func, ast.Attribute) and shape.func.attr == "get_shape"
    else:
        known = isinstance(shape, ast.Attribute) and shape.attr == "shape"
    if not known:
        return None
    return (Edit(module.source.span(inner)[1], module.source.span(node)[1], ""),)


def _scope_name(module: Module, call: ast.AST, style: FileStyle) -> tuple[Edit, ...] | None:
    """`tf.get_variable_scope().name` in an error: where it stands. None for anything else."""
    node = module.names.parents[call]
    if not isinstance(call, ast.Call) or not isinstance(node, ast.Attribute) or node.attr != "name":
        return None
    parent = module.names.parents[node]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    shown = _uses(module, target) if isinstance(target, ast.Name) else [node]
    if not all(isinstance(module.names.statement(one), ast.Raise) for one in shown):
        return None  # it may be part of a variable's name
    start, end = module.source.span(node)
    return (Edit(start, end, f"{style.tensorflow}.get_current_name_scope()"),)


def _uses(module: Module, target: ast.Name) -> list[ast.Name]:
    """The mentions of a name that ask for its value."""
    mentions = module.names.mentions(target.id, module.names.scope_of_name[target])
    return [one for one in mentions if isinstance(one.ctx, ast.Load)]


def _renamed(
    module: Module, spelled: ast.AST, style: FileStyle, name: str, called: bool
) -> tuple[Edit, ...]:
    """The edit of a name alone.

    Raises:
        Refused: it is not known to be the same in TF2.
    """
    new, row = renames().get(name), FUNCTIONS.by_name.get(name)
    head, _, short = name.rpartition(".")
    if head in ("keras.losses.Reduction", "losses.Reduction") and short in REDUCTIONS:
        # Keras 3 has words only.
        return (Edit(*module.source.span(spelled), style.string(short.lower())),)
    if head == "gfile" and short in GFILE:
        new = f"io.gfile.{GFILE[short]}"
    elif head == "logging" and short in LOGGING and called:
        new = f"get_logger().{LOGGING[short]}"
    elif head == "contrib.data" and short in CONTRIB_DATA:
        new = f"data.experimental.{short}"
    elif name in _VERSION:
        new = "version.VERSION"
    elif name in _HELD:
        new = f"compat.v1.{name}"
    elif not called and row is not None and not row.constants:
        # `activation=tf.nn.softmax`: it is called with a tensor alone.
        new = row.target
    elif new is None:
        status = table().status(name)
        base = name if name in EQUAL else head
        if status in SAME_STATUSES or base in EQUAL or name.startswith("raw_ops."):
            new = name
    if new is None:
        code = module.source.code(spelled)
        text = f"`{code}` does not exist in TF2, or does something else there"
        raise Refused(module, spelled, text, "replace it by its TF2 form")
    start, end = module.source.span(spelled)
    found = symbol(module.names.qualname(spelled))
    if new == name and found is not None and found.flavour == "plain" and found.name == name:
        return ()
    if module.source.text[start:end] == f"{style.tensorflow}.{new}":
        return ()
    return (Edit(start, end, f"{style.tensorflow}.{new}"),)


def _file_call(
    module: Module, call: ast.Call, style: FileStyle, name: str
) -> tuple[Edit, ...] | None:
    """`tf.gfile.Glob(filename=pattern)` as `tf.io.gfile.glob(pattern=pattern)`.

    None where its name is all that changes.
    """
    known = GFILE_PARAMETERS.get(name.removeprefix("gfile."), {})
    found: list[Edit] = []
    for keyword in call.keywords:
        if keyword.arg in known:
            start, _ = module.source.span(keyword)
            found.append(Edit(start, start + len(keyword.arg), known[keyword.arg]))
    return (*_renamed(module, call.func, style, name, True), *found) if found else None


def _call(module: Module, call: ast.Call, style: FileStyle, name: str) -> tuple[Edit, ...] | None:
    """The edits of a call whose arguments change; None where they do not."""
    if name == "nn.dropout":
        return _dropout(module, call, style)
    if name in ("where", "div"):
        return _where(module, call, style) if name == "where" else _div(module, call, style)
    if name in ("nn.xw_plus_b", "nn.relu_layer"):
        return _affine(module, call, style, name)
    if name == "string_split":
        return _string_split(module, call, style)
    if name == f"contrib.learn.python.learn.estimators.{_LAST}":
        return _last_activations(module, call, style)
    if name.startswith("gfile."):
        return _file_call(module, call, style, name)
    row = FUNCTIONS.by_name.get(name)
    if row is None:
        return None
    if row.target.startswith("debugging.assert_"):
        _check_assertion(module, call)
    edit = BoundCall(module, call, row.signature)
    for parameter in row.parameters:
        given = edit.get(parameter.name) if parameter.only else None
        if given is not None and constant(given) not in parameter.only:
            text = f"`{parameter.name}` of `{module.source.code(call.func)}` has no form in TF2"
            raise Refused(module, given, text)
    edit.function(f"{style.tensorflow}.{row.target}")
    edit.drop(*(parameter.name for parameter in row.parameters if not parameter.new_name))
    for old in ("dim", "squeeze_dims", "keep_dims", "reduction_indices"):
        if is_none(edit.get(old)):
            edit.drop(old)
    if row.target.startswith("raw_ops."):
        edit.drop("name")
        if (half := edit.get("half_pixel_centers")) is None or is_none(half):
            edit.drop("half_pixel_centers")
    looked_up = edit.get("params") if name.startswith("nn.embedding_lookup") else None
    if isinstance(looked_up, (ast.List, ast.Tuple)):
        text = "rows of several tables, which TF2 shares out in another way"
        raise Refused(module, call, text, "make one table of them")
    if looked_up is not None and name == "nn.embedding_lookup_sparse":
        # It asks for what Keras 3's variables have not.
        edit.wrap("params", f"{style.tensorflow}.convert_to_tensor(", ")")
    constants = [(key, style.code(text)) for key, text in row.constants]
    for parameter in row.parameters:
        if parameter.stated and edit.get(parameter.name) is None:
            constants.append((parameter.new_name, parameter.default or ""))
    if row.target == "cast" and edit.get("name") is None:
        constants = [("", text) for _, text in constants]
    rename(edit, row)
    for key, text in constants:
        edit.add(key, text)
    return edit.edits()


def _check_assertion(module: Module, call: ast.Call) -> None:
    """An assertion's operation that nothing depends on never ran in a graph, in TF2 it runs.

    Raises:
        Refused: nothing is made of it.
    """
    parent = module.names.parents[call]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    unused = isinstance(target, ast.Name) and not _uses(module, target)
    if isinstance(parent, ast.Expr) or unused:
        text = f"`{module.source.code(call.func)}` never ran: nothing depends on it"
        raise Refused(module, call, text, "put what it checks below tf.control_dependencies")


def _dropout(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """`tf.nn.dropout(x, keep_prob)`: TF2 asks for the rate of what is dropped."""
    edit = BoundCall(module, call, ("x", "keep_prob", "noise_shape", "seed", "name", "rate"))
    edit.function(f"{style.tensorflow}.nn.dropout")
    if edit.given("keep_prob") is not None:
        negative(edit, "keep_prob", "1")
        edit.rename("keep_prob", "rate")
    else:
        edit.drop("keep_prob")
    edit.order(("x",))
    return edit.edits()


def _where(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """`tf.where`: TF1 chooses whole rows where the condition is a vector, TF2 broadcasts.

    Where one of the values has the condition's shape the two are the same.
    """
    edit = BoundCall(module, call, ("condition", "x", "y", "name"))
    edit.function(f"{style.tensorflow}.where")
    condition, x, y = edit.get("condition"), edit.given("x"), edit.given("y")
    if condition is not None and x is not None and y is not None:
        mentioned = {ast.dump(part) for part in walk(condition) if isinstance(part, ast.expr)}
        like = ("ones_like", "zeros_like", "nn.relu", "abs")
        same = [
            ast.dump(v) in mentioned
            or (
                isinstance(v, ast.Call)
                and name_of(module, v) in like
                and v.args
                and ast.dump(v.args[0]) in mentioned
            )
            for v in (x, y)
        ]
        if not any(same):  # the operation that TF1's is
            edit.function(f"{style.tensorflow}.raw_ops.Select")
            edit.order(())
    return edit.edits()


def _affine(module: Module, call: ast.Call, style: FileStyle, name: str) -> tuple[Edit, ...] | None:
    """`tf.nn.xw_plus_b(x, w, b)` is `tf.nn.bias_add(tf.matmul(x, w), b)`.

    `tf.nn.relu_layer(x, w, b)` is `tf.nn.relu(tf.matmul(x, w) + b)`.
    """
    edit = BoundCall(module, call, ("x", "weights", "biases", "name"))
    x, weights, biases = (edit.get(one) for one in ("x", "weights", "biases"))
    if x is None or weights is None or x not in call.args or weights not in call.args:
        text = f"`tf.{name}` is given its tensors by name"
        raise Refused(module, call, text, "write tf.matmul(x, w) + b")
    tf, span = style.tensorflow, module.source.span
    start, end = span(x)[0], span(weights)[1]
    product = Edit(start, start, f"{tf}.matmul(")
    if name == "nn.xw_plus_b":
        edit.function(f"{tf}.nn.bias_add")
        return (*edit.edits(), product, Edit(end, end, ")"))
    if biases is None or biases not in call.args:
        text = f"`tf.{name}` is given its tensors by name"
        raise Refused(module, call, text, "write tf.nn.relu(tf.matmul(x, w) + b)")
    edit.function(f"{tf}.nn.relu")
    return (*edit.edits(), product, Edit(end, span(biases)[0], ") + "))


def _last_activations(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """`select_last_activations(outputs, lengths)`: of each sequence the output of its last step."""
    edit = BoundCall(module, call, ("activations", "sequence_lengths"))
    lengths = edit.given("sequence_lengths")
    if lengths is None:
        text = "`select_last_activations` without lengths"
        raise Refused(module, call, text, "write activations[:, -1]")
    edit.function(f"{style.tensorflow}.gather")
    edit.rename("activations", "params")
    edit.rename("sequence_lengths", "indices")
    edit.wrap("indices", "", " - 1", parentheses=True)
    edit.add("batch_dims", "1")
    edit.order(("params", "indices"))
    return edit.edits()


def _div(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """`tf.div` is Python 2's division: of integers it gives an integer."""
    edit = BoundCall(module, call, ("x", "y", "name"))
    if not any(is_float(module, edit.get(key)) for key in ("x", "y")):
        text = "`tf.div` gives integers for integers, and it cannot be determined what it is given"
        raise Refused(module, call, text, "use tf.divide or tf.floordiv")
    edit.function(f"{style.tensorflow}.divide")
    edit.order(("x", "y", "name"))
    return edit.edits()


def _string_split(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """`tf.string_split`: TF2's gives a ragged tensor, and keeps what is empty."""
    parameters = ("source", "sep", "skip_empty", "delimiter", "result_type", "name")
    edit = BoundCall(module, call, parameters)
    for name in ("sep", "delimiter"):
        if is_none(edit.get(name)):
            edit.drop(name)
    given = [name for name in ("sep", "delimiter") if edit.get(name) is not None]
    kind = edit.get("result_type")
    if len(given) == 2 or (kind is not None and constant(kind) != "SparseTensor"):
        text = "`tf.string_split` that gives no sparse tensor, or has two separators"
        raise Refused(module, call, text, "use tf.strings.split")
    edit.drop("result_type", "name")
    tf = style.tensorflow
    # In one edit: an edit of a call around this one may begin where this one does.
    edit.function(f"{tf}.SparseTensor(*{tf}.raw_ops.StringSplit")
    edit.rename("source", "input")
    for name in given:
        edit.rename(name, "delimiter")
    if not given:
        edit.add("delimiter", style.string(" "))
    edit.order(())
    end = module.source.span(call)[1]
    return (*edit.edits(), Edit(end, end, ")"))
