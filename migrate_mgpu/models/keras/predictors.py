"""`tf.contrib.predictor.from_saved_model`: a function of the exported model's signature."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_NAME = "contrib.predictor.from_saved_model"
_SIGNATURE = ("export_dir", "signature_def_key")
_FUNCTION = '''\
{saved} = {tf}.saved_model.load(EXPORTED)
{signature} = {saved}.signatures[{key}]
GAP
def {name}(inputs):
    """What the exported model gives for arrays, by their names."""
    specs = {signature}.structured_input_signature[1]
    tensors = {{
        key: {tf}.cast({tf}.convert_to_tensor(value), specs[key].dtype)
        for key, value in inputs.items()
    }}
    return {{key: value.numpy() for key, value in {signature}(**tensors).items()}}'''


def predictor_edits(module: Module, node: ast.AST, style: FileStyle) -> list[Edit] | None:
    """The edits of a statement that makes a predictor; None where it is none.

    None as well where more is done with it than to call it with the arrays, or where more is said
    of it than the folder and the signature. The folder's expression stays where it is.
    """
    if tensorflow_name(module, node) != _NAME:
        return None
    names, source = module.names, module.source
    call = names.parents.get(node)
    statement = names.parents.get(call) if call is not None else None
    if not isinstance(call, ast.Call) or call.func is not node:
        return None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, layout = statement.targets[0], Layout(source, statement)
    given = {k: v for k, v in by_parameter(call, _SIGNATURE).items() if not is_none(v)}
    if not isinstance(target, ast.Name) or not layout.owns_lines or "export_dir" not in given:
        return None
    home = names.defining_scope(target.id, names.scope_of_name[target])
    if home is None or len(home.bindings[target.id]) != 1 or given.keys() - set(_SIGNATURE):
        return None
    key = given.get("signature_def_key")
    if key is not None and not isinstance(key, (ast.Constant, ast.Name)):
        return None
    for mention in names.mentions(target.id, home):
        if mention is target:
            continue
        taker = names.parents.get(mention)
        if not isinstance(taker, ast.Call) or taker.func is not mention:
            return None
        if len(taker.args) != 1 or taker.keywords:
            return None
    text = style.code(
        _FUNCTION,
        name=target.id,
        saved=names.fresh(home, f"{target.id}_model", f"{target.id}_saved_model"),
        signature=names.fresh(home, f"{target.id}_signature"),
        key=source.code(key) if key is not None else style.string("serving_default"),
    )
    gap = 2 if isinstance(names.parents.get(statement), ast.Module) else 1
    indent = source.indent_of(statement)
    lines = [
        indent + line if line else "" for line in text.replace("GAP", "\n" * (gap - 1)).split("\n")
    ]
    head, _, tail = source.newline.join(lines).lstrip().partition("EXPORTED")
    below = source.text[layout.next_line :].lstrip(" \t")
    blank = len(below) - len(below.lstrip("\r\n"))
    if below.strip():
        tail += source.newline * (gap - min(gap, blank))
    start, end = source.span(statement)
    first, last = source.span(given["export_dir"])
    return [Edit(start, first, head), Edit(last, end, tail)]
