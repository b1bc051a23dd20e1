"""The transitions that `tf.contrib.crf.crf_log_likelihood` makes, as a variable of the program's.

`score, transitions = crf_log_likelihood(logits, tags, lengths)` becomes
`transitions = tf.get_variable("transitions", [9, 9])` and, below it,
`score, _ = crf_log_likelihood(logits, tags, lengths, transition_params=transitions)`, where what
makes `logits` says how many tags there are.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.random_fields import LIKELIHOOD, PARAMETERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.layers.static_sizes import last_size, made_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PLAIN = (ast.Constant, ast.expr_context, ast.BinOp, ast.operator, ast.Attribute)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such call; none where there is none."""
    for call in calls_of_names(module).get(LIKELIHOOD, ()):
        edits = _edits(module, call)
        if edits:
            return edits
    return []


def _edits(module: Module, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    told = by_parameter(call, PARAMETERS)
    given = told.get("transition_params")
    if "**" in told or any(isinstance(one, ast.Starred) for one in call.args):
        return []
    if given is not None and not is_none(given):
        return []
    statement = names.statement(call)
    layout = Layout(source, statement)
    tags = _tags(module, told.get("inputs"))
    if tags is None or not layout.owns_lines or not isinstance(statement, ast.Assign):
        return []
    if len(statement.targets) != 1:
        return []
    name, edits = names.fresh(names.scope_at(call), "transition_params"), list[Edit]()
    target = statement.targets[0]
    if isinstance(target, ast.Tuple) and statement.value is call and len(target.elts) == 2:
        second = target.elts[1]
        if not isinstance(second, (ast.Name, ast.Attribute)):
            return []
        if not (isinstance(second, ast.Name) and second.id == "_"):
            name = source.code(second)
            edits.append(Edit(*source.span(second), "_"))
    elif not isinstance(names.parents[call], ast.Subscript):
        return []
    if given is not None:
        edits.append(Edit(*source.span(given), name))
    else:
        last = max(source.span(one)[1] for one in (*call.args, *(k.value for k in call.keywords)))
        edits.append(Edit(last, last, f", transition_params={name}"))
    tf = style_at(module, call).tensorflow
    made = f'{name} = {tf}.get_variable("transitions", [{tags}, {tags}])'
    return [layout.insert_before([made]), *edits]


def _tags(module: Module, inputs: ast.expr | None) -> str | None:
    """How many tags there are, as what makes their scores says; None where it does not."""
    size = last_size(module, inputs) if inputs is not None else None
    found = size[1] if size is not None else None
    if found is None and isinstance(inputs, ast.Name):
        made = made_of(module, inputs)
        row = LAYERS.by_name.get(name_of(module, made)) if isinstance(made, ast.Call) else None
        if isinstance(made, ast.Call) and row is not None and row.keras == "Dense":
            told = by_parameter(made, ("inputs", "units"))
            found = told.get("units") or told.get("num_outputs")
        elif isinstance(made, ast.Call) and name_of(module, made) == "reshape":
            shape = by_parameter(made, ("tensor", "shape")).get("shape")
            if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts:
                found = shape.elts[-1]
    if found is None or not _stays(module, found):
        return None
    return module.source.code(found)


def _stays(module: Module, node: ast.expr) -> bool:
    """Whether an expression has one value: numbers, names that are given one, how long they are."""
    names = module.names
    for part in walk(node):
        if isinstance(part, ast.Name):
            if names.qualname(part) == "builtins.len":
                continue
            if len(names.bindings_of(part)) != 1:
                return False
        elif isinstance(part, ast.Call):
            if names.qualname(part.func) != "builtins.len":
                return False
        elif not isinstance(part, _PLAIN):
            return False
    return True
