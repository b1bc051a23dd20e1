"""An input function that gives constants: one batch, the same in each step, without an end.

``return {"size": [1.0, 2.0]}, [3.0, 4.0]`` becomes a Dataset of that batch that repeats it, and so
does what `tf.constant` makes of Python's values: TF1 called the function once. What TensorFlow
computes, draws or reads stays: it might be another value in each step.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.inputs.batches import CHANGED
from migrate_mgpu.models.front.inputs.input_functions import InputReader
from migrate_mgpu.models.properties import inputs
from migrate_mgpu.source.source import Edit

_GIVEN = ("params", "mode", "input_context")  # parameters that an Estimator may have values for
_DEEP = 8  # a tuple of a dictionary of lists of lists, by names


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none."""
    for module, given in inputs(flow.driving):
        try:
            InputReader(graph).read(module, given, _GIVEN)
        except Refused as refused:
            why = refused.diagnostic
            if why.key == CHANGED:
                edits = _edits(why.module, why.node)
                if edits:
                    return {why.module: edits}
    return {}


def _edits(module: Module, value: ast.AST) -> list[Edit]:
    names = module.names
    returned = names.parents.get(value)
    function = names.parents.get(returned) if isinstance(returned, ast.Return) else None
    if not isinstance(function, ast.FunctionDef) or not isinstance(value, ast.expr):
        return []
    if function.body[-1] is not returned or not all(map(_names_one, function.body[:-1])):
        return []
    if not _is_constant(module, value, function):
        return []
    code = module.source.code(value)
    start, end = module.source.span(value)
    if isinstance(value, ast.Tuple) and module.source.span(value.elts[0])[0] == start:
        code = f"({code})"
    tf = style_at(module, value).tensorflow
    return [Edit(start, end, f"{tf}.data.Dataset.from_tensors({code}).repeat()")]


def _names_one(statement: ast.stmt) -> bool:
    """Whether a statement only names a value, or is a text."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def _is_constant(module: Module, node: ast.expr, home: ast.FunctionDef, depth: int = 0) -> bool:
    """Whether an expression of a function has one value, which its text says."""
    if depth > _DEEP:
        return False
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, (bool, float, int, str))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_constant(module, node.operand, home, depth)
    if isinstance(node, ast.Name):
        value = module.names.only_value(node)
        last = _last(home, node)
        if last is not None and isinstance(last, ast.Call):
            return _is_constant(module, last, home, depth + 1)
        own = value is not None and module.names.parents[module.names.statement(value)] is home
        return own and value is not None and _is_constant(module, value, home, depth + 1)
    if isinstance(node, ast.Dict):
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            return False
        return all(_is_constant(module, one, home, depth + 1) for one in node.values)
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_constant(module, one, home, depth + 1) for one in node.elts)
    if isinstance(node, ast.Call) and name_of(module, node) == "constant":
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        parts = [part for one in given[:1] for part in walk(one)]
        return bool(given) and not any(tensorflow_name(module, part) for part in parts)
    return False


def _last(home: ast.FunctionDef, name: ast.Name) -> ast.expr | None:
    """What a function without branches gives a name last."""
    for statement in reversed(home.body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id == name.id and target is not name:
            assert isinstance(statement, ast.Assign)
            return statement.value
    return None
