"""Batch normalization that `tf.cond` makes for training, and once more for all else.

    tf.cond(
        training,
        lambda: batch_norm(x, updates_collections=None, scope="a", is_training=True),
        lambda: batch_norm(x, updates_collections=None, scope="a", is_training=False, reuse=True),
    )

becomes `batch_norm(x, updates_collections=None, scope="a", is_training=training)`: both calls have
the same variables, and the one that trains moves the averages in its own branch, so wherever the
condition is true and nowhere else. Without `updates_collections=None` what moves them is left in a
branch that other steps cannot reach: such calls stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.layers.arg_scopes import SCOPES
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, splice

_NORM = "contrib.layers.batch_norm"
_TRAINING = "is_training"
_COND = ("pred", "true_fn", "false_fn", "strict", "name", "fn1", "fn2")
_KNOWN = {"pred", "true_fn", "false_fn", "name", "fn1", "fn2"}


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such choice; none where there is none."""
    if "batch_norm" not in module.source.text:
        return []
    for call in calls_of_names(module).get("cond", ()):
        edits = _edits(module, call)
        if edits:
            return edits
    return []


def _edits(module: Module, choice: ast.Call) -> list[Edit]:
    given = by_parameter(choice, _COND)
    trains = given.get("pred")
    if not given.keys() <= _KNOWN or not isinstance(trains, (ast.Name, ast.Attribute)):
        return []
    trained = _made(module, given.get("true_fn", given.get("fn1")))
    averaged = _made(module, given.get("false_fn", given.get("fn2")))
    if trained is None or averaged is None or name_of(module, trained) != _NORM:
        return []
    if name_of(module, averaged) != _NORM:
        return []
    signature = LAYERS.by_name[_NORM].signature
    told = [by_parameter(one, signature) for one in (trained, averaged)]
    if not all(_is_plain(module, one) for one in (trained, averaged)):
        return []
    for one, value in zip(told, (True, False)):
        flag = one.pop(_TRAINING, None)
        same = flag is not None and ast.dump(flag) == ast.dump(trains)
        if not same and (flag is None or constant(flag) is not value):
            return []
    reuse, shared = (one.pop("reuse", None) for one in told)
    if reuse is not None and constant(reuse) not in (None, False):
        return []
    if (reuse is not None and not isinstance(reuse, ast.Constant)) or constant(shared) is not True:
        return []
    settings = [{key: ast.dump(value) for key, value in one.items()} for one in told]
    if settings[0] != settings[1]:
        return []
    scoped = _scoped(module, choice)
    if scoped is None or {"reuse", _TRAINING, "inputs"} & scoped.keys():
        return []
    known = {**scoped, **told[0]}
    scope, collections = known.get("scope"), known.get("updates_collections")
    if scope is None or is_none(scope) or collections is None or not is_none(collections):
        return []
    source = module.source
    row = LAYERS.by_name[_NORM]
    one_call = CallEdit(source, trained, row.signature)
    one_call.value(_TRAINING, source.code(trains))
    one_call.drop("reuse")
    start, end = source.span(trained)
    edits = [Edit(e.start - start, e.end - start, e.new) for e in one_call.edits()]
    return [Edit(*source.span(choice), splice(source.text[start:end], edits))]


def _made(module: Module, node: ast.expr | None) -> ast.Call | None:
    """What a lambda without parameters computes, if it is one call."""
    if not isinstance(node, ast.Lambda) or not isinstance(node.body, ast.Call):
        return None
    arguments = node.args
    told = (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return node.body if not any(told) else None


def _is_plain(module: Module, call: ast.Call) -> bool:
    """Whether what a call is given is written out, without comments."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return False
    if any(keyword.arg is None for keyword in call.keywords):
        return False
    calls = any(isinstance(part, ast.Call) for one in given for part in ast.walk(one))
    return not calls and "#" not in module.source.code(call)


def _scoped(module: Module, choice: ast.Call) -> dict[str, ast.expr] | None:
    """What arg_scopes around a choice give the calls; None where that is not seen."""
    found: dict[str, ast.expr] = {}
    for block in _blocks(module, choice):
        for item in block.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or name_of(module, call) not in SCOPES:
                continue
            listed = call.args[0] if len(call.args) == 1 else None
            if not isinstance(listed, (ast.List, ast.Tuple)):
                return None
            if not any(name_of(module, one) == _NORM for one in listed.elts):
                continue
            if any(keyword.arg is None for keyword in call.keywords):
                return None
            for keyword in call.keywords:
                assert keyword.arg is not None
                found.setdefault(keyword.arg, keyword.value)  # the innermost says it
    return found


def _blocks(module: Module, node: ast.AST) -> Iterator[ast.With]:
    """The `with` blocks around a node in its function, the innermost first."""
    for parent in module.names.ancestors(node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        if isinstance(parent, ast.With):
            yield parent
