"""The variables of a recurrent cell: what TF1 calls them, and where the written cell has them.

TF 1.15 names them by the scope of the network, `rnn` where it is given none, and by the cells:
`rnn/multi_rnn_cell/cell_0/lstm_cell/kernel`. Wrappers add nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import Scope
from migrate_mgpu.api.layers import LayerVariable
from migrate_mgpu.api.recurrent import (
    ATTENTION,
    CELLS,
    GRU,
    MECHANISMS,
    NORMALIZED,
    NORMALIZED_PARTS,
    PEEPHOLES,
    RUNS,
    STACK,
    WRAPPERS,
    CellRow,
    cell_of,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.cell_states import joins_states, returned, value_of

RUN_SCOPE = "rnn"
_PLAIN = (("kernel", "kernel"), ("bias", "bias"))
_GATED = (
    ("gates/kernel", "gate_kernel"),
    ("gates/bias", "gate_bias"),
    ("candidate/kernel", "candidate_kernel"),
    ("candidate/bias", "candidate_bias"),
)
_SCOPES = {
    "BasicLSTMCell": "basic_lstm_cell",
    "LSTMCell": "lstm_cell",
    "GRUCell": "gru_cell",
    "BasicRNNCell": "basic_rnn_cell",
    "LayerNormBasicLSTMCell": "layer_norm_basic_lstm_cell",
}
_DEEP = 9
_WRITE = "write it as a constant"
_ADVICE = "make each cell by a call of its own, in a list that is written out"


def variables_of_run(module: Module, call: ast.Call) -> Iterator[LayerVariable]:
    """The variables of what runs a cell, below its scope.

    Raises:
        Refused: which cell it runs, or what that is called, cannot be determined.
    """
    given = NamedArguments(module, call, RUNS.by_name[name_of(module, call)].signature)
    cell = given.get("cell")
    if cell is None:
        raise Refused(module, call, f"`{given.shown}` is not given its cell")
    for name, attribute in _variables(module, cell, _DEEP):
        yield LayerVariable(name, f"cell.{attribute}")


def _variables(module: Module, node: ast.expr, deep: int) -> Iterator[tuple[str, str]]:
    made = value_of(module, node)
    kind = cell_of(module, made)
    row = CELLS.by_kind.get(kind)
    if not isinstance(made, ast.Call) or not deep:
        raise _unknown(module, node)
    if row is None:
        found = returned(module, made.func) if isinstance(made.func, ast.Name) else []
        if len(found) != 1:
            raise _unknown(module, made)
        yield from _variables(module, found[0], deep - 1)
    elif kind == STACK:
        cells = NamedArguments(module, made, row.signature).get("cells")
        for number, cell in enumerate(_listed(module, made, cells)):
            for name, attribute in _variables(module, cell, deep - 1):
                yield f"multi_rnn_cell/cell_{number}/{name}", f"cells[{number}].{attribute}"
    elif row.cell == ATTENTION or row.cell in MECHANISMS:
        text = "the names of the variables of a cell with attention are not known"
        raise Refused(module, made, text, "save the variables by names of your own")
    elif row.cell in WRAPPERS:
        inner = NamedArguments(module, made, row.signature).get("cell")
        if inner is None:
            raise _unknown(module, made)
        for name, attribute in _variables(module, inner, deep - 1):
            yield name, f"cell.{attribute}"
    else:
        yield from _own(module, made, row, kind)


def _own(module: Module, call: ast.Call, row: CellRow, kind: str) -> Iterator[tuple[str, str]]:
    told = NamedArguments(module, call, row.signature).get("name")
    scope = _SCOPES[kind] if told is None or is_none(told) else constant(told)
    if not isinstance(scope, str):
        text = "the name of a recurrent cell cannot be determined"
        raise Refused(module, told or call, text, _WRITE)
    sees = NamedArguments(module, call, row.signature).given(PEEPHOLES)
    if sees is not None and constant(sees) not in (True, False):
        raise Refused(module, sees, "whether a cell has peepholes cannot be determined", _WRITE)
    inside = "cells[0]." if joins_states(module, call) else ""
    if row.cell == NORMALIZED:
        yield f"{scope}/kernel", "kernel"
        for number, part in enumerate(NORMALIZED_PARTS):
            yield f"{scope}/{part}/gamma", f"gammas[{number}]"
            yield f"{scope}/{part}/beta", f"betas[{number}]"
        return
    for name, attribute in _GATED if row.cell == GRU else _PLAIN:
        yield f"{scope}/{name}", inside + attribute
    if sees is not None and constant(sees):
        for name in ("w_f_diag", "w_i_diag", "w_o_diag"):
            yield f"{scope}/{name}", inside + name


def _listed(module: Module, call: ast.Call, cells: ast.expr | None) -> list[ast.expr]:
    """The cells of a stack, one by one.

    Raises:
        Refused: which they are, or how many, cannot be determined.
    """
    made = module.names.assigned(cells) if cells is not None else None
    if isinstance(made, ast.List) and made.elts:
        appended = isinstance(cells, ast.Name) and _is_changed(module, cells)
        if not appended:
            return made.elts
    if isinstance(made, ast.ListComp) and len(made.generators) == 1:
        loop = made.generators[0]
        count = _count(module, loop.iter)
        if count is not None and not loop.ifs:
            return [made.elt] * count
    raise _unknown(module, cells or call)


def _is_changed(module: Module, cells: ast.Name) -> bool:
    """Whether something is done to a list of cells, but that it is given on."""
    names = module.names
    home = names.defining_scope(cells.id, names.scope_of_name[cells])
    return home is None or any(
        isinstance(names.parents[one], (ast.Attribute, ast.AugAssign, ast.Subscript))
        for one in names.mentions(cells.id, home)
    )


def _count(module: Module, node: ast.expr, deep: int = _DEEP) -> int | None:
    """The number of rounds over `range(2)`, or a list that is written out; None where unknown."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return None if any(isinstance(one, ast.Starred) for one in node.elts) else len(node.elts)
    if isinstance(node, ast.Name) and deep:
        names = module.names
        # What a comprehension goes through is computed outside of it.
        home = names.defining_scope(node.id, names.scope_at(names.statement(node)))
        bindings = home.bindings.get(node.id, []) if home is not None else []
        mentions = names.mentions(node.id, home) if home is not None else []
        parents = [names.parents[one] for one in mentions]
        changing = (ast.Attribute, ast.AugAssign, ast.Subscript)
        if home is None or len(bindings) != 1 or any(isinstance(one, changing) for one in parents):
            return None
        given = bindings[0].kind == "parameter"
        values = given_by_calls(module, home, node.id) if given else [bindings[0].value]
        counts = {None if one is None else _count(module, one, deep - 1) for one in values}
        return counts.pop() if len(counts) == 1 else None
    if not isinstance(node, ast.Call) or module.names.qualname(node.func) != "builtins.range":
        return None
    if len(node.args) != 1 or node.keywords:
        return None
    return _number(module, node.args[0], deep)


def _number(module: Module, node: ast.expr, deep: int) -> int | None:
    """A whole number: a constant, or the one that all calls of a function give a parameter."""
    names = module.names
    made = names.assigned(node)
    known = constant(made)
    if isinstance(known, int) and not isinstance(known, bool):
        return known
    if not isinstance(made, ast.Name) or made not in names.scope_of_name or not deep:
        return None
    home = names.defining_scope(made.id, names.scope_of_name[made])
    bindings = home.bindings.get(made.id, []) if home is not None else []
    if home is None or len(bindings) != 1 or bindings[0].kind != "parameter":
        return None
    values = given_by_calls(module, home, made.id)
    numbers = {None if one is None else _number(module, one, deep - 1) for one in values}
    return numbers.pop() if len(numbers) == 1 else None


def given_by_calls(module: Module, home: Scope, parameter: str) -> list[ast.expr | None]:
    """What all calls of a function of the module give a parameter; None of what is not seen.

    The calls of a class's constructor are those of the class.
    """
    names, node = module.names, home.function()
    owner = names.parents.get(node) if node is not None else None
    called = owner if isinstance(owner, ast.ClassDef) else node
    if not isinstance(node, ast.FunctionDef) or called not in module.tree.body:
        return [None]
    if called is owner and (node.name != "__init__" or owner.decorator_list):
        return [None]
    assert isinstance(called, (ast.FunctionDef, ast.ClassDef))
    if len(names.module_scope.bindings[called.name]) > 1 or node.decorator_list:
        return [None]
    found: list[ast.expr | None] = []
    for mention in names.mentions(called.name, names.module_scope):
        call = names.parents.get(mention)
        if not isinstance(call, ast.Call) or call.func is not mention:
            return [None]
        bound = bind(call, Function(module, node)).every()
        found.append(None if bound is None else bound.get(parameter))
    return found or [None]


def _unknown(module: Module, node: ast.AST) -> Refused:
    text = "the names of a recurrent network's variables cannot be determined"
    return Refused(module, node, text, _ADVICE)
