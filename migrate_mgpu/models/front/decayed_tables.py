"""Embeddings whose whole table the loss has in it: each row has a gradient in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, Use
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES

_LOOKUPS = ("nn.embedding_lookup", "nn.embedding_lookup_sparse", "gather")


def embeddings(module: Module) -> list[Use]:
    """The mentions of what looks rows of a table up; a flag of such a name is none."""
    return [
        use
        for use in module.uses
        if "embed" in use.symbol.name.lower() and "flags." not in use.symbol.name
    ]


def decays_tables(module: Module, optimizer: ast.AST) -> bool:
    """Whether `l2_loss` of each table that is looked up is a term of what is minimized.

    Then a batch that does not use a row moves it all the same, in TF1 too, which adds the
    gradients up.
    """
    names = module.names
    function = next((n for n in names.ancestors(optimizer) if isinstance(n, ast.FunctionDef)), None)
    if function is None:
        return False
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    steps = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "minimize"]
    minimized = [by_parameter(step, ("loss",)).get("loss") for step in steps]
    if not minimized or any(not _decayed(module, function, loss) for loss in minimized):
        return False
    tables = [_decayed(module, function, loss) for loss in minimized]
    found = {id(call.func): call for call in calls}
    for use in (*embeddings(module), *(u for u in module.uses if "gather" in u.symbol.name)):
        call = found.get(id(use.node))
        if call is not None and "gather" in use.symbol.name and _computed(module, function, call):
            continue
        if call is None or name_of(module, call) not in _LOOKUPS or not call.args:
            return False
        table = call.args[0]
        if not isinstance(table, ast.Name) or any(table.id not in own for own in tables):
            return False
    return True


def _decayed(module: Module, function: ast.FunctionDef, loss: ast.expr | None) -> set[str]:
    """The variables whose decay is a term of the value of ``loss``."""
    names = module.names
    bindings = names.scopes[function].bindings
    if not isinstance(loss, ast.Name) or len(bindings.get(loss.id, ())) != 1:
        return set()
    assigned = (s for s in function.body if isinstance(s, ast.Assign))
    statement = next((s for s in assigned if _gives(s, loss.id)), None)
    if statement is None:
        return set()
    found = set()
    for term in _terms(statement.value):
        sides = [term.left, term.right] if isinstance(term, ast.BinOp) else [term]
        for call in sides:
            if isinstance(call, ast.Call) and name_of(module, call) == "nn.l2_loss":
                table = call.args[0] if len(call.args) == 1 else None
                if isinstance(table, ast.Name) and _is_variable(module, function, table.id):
                    found.add(table.id)
    return found


def _gives(statement: ast.Assign, name: str) -> bool:
    (target,) = statement.targets[:1]
    return len(statement.targets) == 1 and isinstance(target, ast.Name) and target.id == name


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    """What a sum adds up, each with the factor before or behind it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _terms(node.left)
        yield from _terms(node.right)
    elif not isinstance(node, ast.BinOp) or isinstance(node.op, ast.Mult):
        yield node


def _is_variable(module: Module, function: ast.FunctionDef, name: str) -> bool:
    found = module.names.scopes[function].bindings.get(name, [])
    value = found[0].value if len(found) == 1 else None
    return isinstance(value, ast.Call) and name_of(module, value) in VARIABLES.by_name


def _computed(module: Module, function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether a call is given what TensorFlow's functions make, or features, and no variable."""
    given = call.args[0] if call.args else None
    bindings = module.names.scopes[function].bindings
    if isinstance(given, ast.Subscript) and isinstance(given.value, ast.Name):
        parameters = {argument.arg for argument in function.args.args}
        return given.value.id in parameters and len(bindings[given.value.id]) == 1
    if not isinstance(given, ast.Name):
        return False
    values = [one.value for one in bindings.get(given.id, ())]
    names = [name_of(module, one) if isinstance(one, ast.Call) else "" for one in values]
    return bool(names) and all(name and name not in VARIABLES.by_name for name in names)
