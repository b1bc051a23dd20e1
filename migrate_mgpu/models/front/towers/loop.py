"""The loop over GPUs: which statement it is, what names the devices, what only belongs to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.ir import Towers

COUNTS = ("builtins.range", "builtins.xrange", "six.moves.range", "six.moves.xrange")
_GRADIENTS = ("compute_gradients", "gradients")
_TRAINS = (*_GRADIENTS, "minimize")
_MOVES = ("minimize", "apply_gradients")
_DEVICE = re.compile(r"/?(device:)?(cpu|gpu)(:\d+)?", re.IGNORECASE)
_FIRST = re.compile(r"/?(device:)?gpu(:0)?", re.IGNORECASE)
_NUMBERED = re.compile(r"/?(device:)?(cpu|gpu):(%[ds]|\{(:?d)?\})?", re.IGNORECASE)
_SETTER = "train.replica_device_setter"
_SETTER_ARGUMENTS = ("ps_tasks", "ps_device", "worker_device", "merge_devices", "cluster")


def find_towers(module: Module, graph: CallGraph) -> Towers | None:
    """The towers that a module builds, if it does."""
    loops = loops_on_devices(module)
    return next((found for loop in loops if (found := read_towers(module, loop, graph))), None)


@fact_of_text
def loops_on_devices(module: Module) -> list[ast.For]:
    """The loops that may build towers; none where nothing is put on a device."""
    if "device" not in calls_of_names(module):
        return []
    if not _has_gradients(module) and not _shares_variables(module):
        return []
    return [node for node in walk(module.tree) if isinstance(node, ast.For)]


@fact_of_text
def places_in_loops(module: Module) -> bool:
    """Whether a loop puts what it computes on one device after the other."""
    if "device" not in calls_of_names(module):
        return False
    loops = [node for node in walk(module.tree) if isinstance(node, ast.For)]
    return any(is_placed_anew(module, loop) for loop in loops)


def is_placed_anew(module: Module, loop: ast.For) -> bool:
    """Whether the body of a loop has a block on a device that the loop's own names tell."""
    own = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
    devices = [
        item.context_expr
        for block in blocks_in(loop.body)
        for item in block.items
        if isinstance(item.context_expr, ast.Call)
        and name_of(module, item.context_expr) == "device"
    ]
    return any(
        isinstance(part, ast.Name) and part.id in own for one in devices for part in walk(one)
    )


def read_towers(module: Module, statement: ast.stmt, graph: CallGraph) -> Towers | None:
    """The towers that a statement builds; None where it is no loop that does.

    What makes it one: it computes gradients on a device that its own names tell, or losses
    that one is made of. Or, in a module that trains nothing, it fills lists with what a network
    makes of parts of a batch, all with the same variables.
    """
    if not isinstance(statement, ast.For) or statement.orelse:
        return None
    if not _has_gradients(module):
        if not (_shares_variables(module) and _fills_lists(statement)):
            return None
    elif (
        not any(map(_is_gradient, _calls(statement.body)))
        and not _has_losses(module, statement)
        and not _by_function(module, statement, graph)
    ):
        return None
    index, items = names_of_loop(module, statement)
    found = Towers(statement, statement.target, index, items)
    for block in blocks_in(statement.body):
        for item in block.items:
            device = device_of(module, item.context_expr, graph)
            if device is not None and any(
                isinstance(n, ast.Name) and n.id in found.names for n in walk(device)
            ):
                return Towers(statement, device, index, items)
    return None


def moved_in_loop(module: Module, node: ast.AST | None) -> ast.Call | None:
    """What moves variables in a loop over devices around a node: each tower, one by one."""
    for loop in loops_on_devices(module):
        if node is None or not any(part is node for part in walk(loop)):
            continue
        for call in _calls(loop.body) if is_placed_anew(module, loop) else ():
            if isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES:
                return call
    return None


def device_of(module: Module, node: ast.expr, graph: CallGraph) -> ast.expr | None:
    """What names the device in `tf.device(...)`: its argument, or that of a device function."""
    if not isinstance(node, ast.Call) or name_of(module, node) != "device":
        return None
    if len(node.args) != 1 or node.keywords:
        return None
    given = node.args[0]
    if not isinstance(given, ast.Call) or is_text(module, given):
        return given
    if device_spec(module, given) is not None:
        return given
    if name_of(module, given) == _SETTER:
        named = by_parameter(given, _SETTER_ARGUMENTS)
        if not is_none(named.get("cluster", ast.Constant(None))):
            return None
        return named.get("worker_device")
    function = device_function(module, given.func, graph)
    return function and by_parameter(given, function[0].parameters()).get(function[1])


def device_spec(module: Module, node: ast.expr) -> tuple[str, ast.expr] | None:
    """The kind and the number in `tf.DeviceSpec(device_type="GPU", device_index=i)`."""
    if not isinstance(node, ast.Call) or name_of(module, node) != "DeviceSpec" or node.args:
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    kind, index = constant(given.pop("device_type", None)), given.pop("device_index", None)
    if given or index is None or not isinstance(kind, str):
        return None
    return kind.lower(), index


def is_text(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a text, built of others perhaps."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Mod, ast.Add)) and is_text(module, node.left)
    if isinstance(node, ast.IfExp):
        return is_text(module, node.body) and is_text(module, node.orelse)
    if isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ("format", "join"):
            return is_text(module, func.value)
        return module.names.qualname(func) == "builtins.str"
    return False


def one_each(module: Module, towers: Towers) -> bool:
    """Whether each copy has a device of its own: its names are in the text as they are."""
    for name in walk(towers.device):
        if not isinstance(name, ast.Name) or name.id not in towers.names:
            continue
        for parent in module.names.ancestors(name):
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod):
                if not is_text(module, parent.left):
                    return False
            elif isinstance(parent, ast.BinOp) and not isinstance(parent.op, (ast.Add, ast.Sub)):
                return False
            if parent is towers.device:
                break
    return True


def is_cpu(module: Module, node: ast.expr) -> bool:
    """`tf.device("/cpu:0")`: where all is that stands in no tower."""
    device = told_device(module, node)
    return isinstance(device, ast.Constant) and "cpu" in str(device.value).lower()


def is_first_gpu(module: Module, node: ast.expr) -> bool:
    """`tf.device("/gpu:0")`: where TF2 puts what stands in no tower, unless it is told another."""
    device = told_device(module, node)
    return isinstance(device, ast.Constant) and bool(_FIRST.fullmatch(str(device.value)))


def told_device(module: Module, node: ast.expr) -> ast.expr | None:
    """The device of `tf.device("/gpu:1")`: one of this machine's, or a name for it.

    Its number may be something of Python's own that does not change: `"/gpu:" + str(GPU)`.
    """
    if not isinstance(node, ast.Call) or name_of(module, node) != "device" or not node.args:
        return None
    told = node.args[0]
    known = told
    if isinstance(told, ast.Name) and told in module.names.scope_of_name:
        known = module.names.only_value(told) or told
    if isinstance(known, ast.Constant) and isinstance(known.value, str):
        return told if _DEVICE.fullmatch(known.value) else None
    return told if _is_numbered(module, known) else None


def _is_numbered(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the name of a device with a number that is always the same."""
    first = node.left if isinstance(node, ast.BinOp) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        first = node.func.value if node.func.attr == "format" else None
    start = constant(first) if first is not None else None
    if not isinstance(start, str) or not is_text(module, node):
        return False
    if not _NUMBERED.fullmatch(start):
        return False
    for name in (part for part in walk(node) if isinstance(part, ast.Name)):
        known = module.names.only_value(name)
        made = isinstance(known, ast.Call) and name_of(module, known)
        if (known is None or made) and module.names.qualname(name) != "builtins.str":
            return False
    return not any(
        isinstance(part, ast.Call)
        and part is not node
        and module.names.qualname(part.func) != "builtins.str"
        for part in walk(node)
    )


def is_same_scope(module: Module, node: ast.expr) -> bool:
    """`tf.variable_scope(tf.get_variable_scope())`, or `""`: names in it are what they were."""
    if not isinstance(node, ast.Call) or name_of(module, node) != "variable_scope":
        return False
    first = node.args[0] if node.args else None
    if constant(first) == "":  # of the graph, where no other scope is around it
        around = (one for one in module.names.ancestors(node) if isinstance(one, ast.With))
        items = [item.context_expr for one in around for item in one.items]
        return all(one is node or name_of(module, one) != "variable_scope" for one in items)
    return isinstance(first, ast.Call) and name_of(module, first) == "get_variable_scope"


def asks_first(towers: Towers, node: ast.expr) -> bool:
    """`i == 0`"""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and node.left.id == towers.index
        and isinstance(node.ops[0], ast.Eq)
        and constant(node.comparators[0]) == 0
        and len(node.ops) == 1
    )


def shares(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement says that the variables below it are those that there are already."""
    if isinstance(statement, ast.If) and not statement.orelse:
        return all(shares(module, one) for one in statement.body)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    func = statement.value.func
    return isinstance(func, ast.Attribute) and func.attr == "reuse_variables"


def scope_of_towers(module: Module, towers: Towers, node: ast.expr) -> ast.With | None:
    """The block of the scope in a loop that an expression behind `tf.get_collection` names.

    That is the name which the block gives it, or the text of the first tower's.
    """
    for block in blocks_in(towers.loop.body):
        for item in block.items:
            call, entered = item.context_expr, item.optional_vars
            if not isinstance(call, ast.Call) or name_of(module, call) != "name_scope":
                continue
            if isinstance(node, ast.Name) and isinstance(entered, ast.Name):
                if node.id == entered.id:
                    return block
            text = text_of_first(module, call.args[0], towers) if call.args else ""
            if text and constant(node) in (text, f"{text}/"):
                return block
    return None


def text_of_first(module: Module, node: ast.expr, towers: Towers) -> str:
    """The text of a `%` with the first tower's number; empty where it has something else."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return ""
    given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    values: list[object] = []
    for one in given:
        own = isinstance(one, ast.Name) and one.id == towers.index
        told = module.names.only_value(one) if isinstance(one, ast.Name) and not own else one
        values.append(0 if own else constant(told))
    shape = constant(node.left)
    if not isinstance(shape, str) or None in values:
        return ""
    try:
        return shape % tuple(values)
    except (TypeError, ValueError):
        return ""


def names_of_loop(module: Module, loop: ast.For) -> tuple[str, tuple[tuple[str, ast.expr], ...]]:
    """The name that counts, and those that are items of sequences."""
    target, over = loop.target, loop.iter
    if isinstance(over, ast.Call) and module.names.qualname(over.func) in COUNTS:
        from_zero = len(over.args) == 1 or (len(over.args) == 2 and constant(over.args[0]) == 0)
        return (target.id if isinstance(target, ast.Name) and from_zero else ""), ()
    if isinstance(over, ast.Call) and module.names.qualname(over.func) == "builtins.enumerate":
        if len(over.args) != 1 or over.keywords:
            return "", ()
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            first, rest = target.elts
            if isinstance(first, ast.Name):
                return first.id, tuple(_items(module, rest, over.args[0]))
    return "", tuple(_items(module, target, over))


def _items(module: Module, target: ast.expr, sequence: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, sequence
    elif (
        isinstance(target, ast.Tuple)
        and isinstance(sequence, ast.Call)
        and module.names.qualname(sequence.func) == "builtins.zip"
        and len(sequence.args) == len(target.elts)
    ):
        for one, other in zip(target.elts, sequence.args):
            yield from _items(module, one, other)


def _calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call):
                yield node


def _is_gradient(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _GRADIENTS


def _by_function(module: Module, loop: ast.For, graph: CallGraph) -> bool:
    """Whether a function that a loop calls, on a device, computes gradients of what it is given."""
    if not any(isinstance(one, ast.With) for one in loop.body):
        return False
    targets = (graph.target(module, call.func) for call in _calls(loop.body))
    return any(
        target is not None and any(map(_is_gradient, _calls(target.node.body)))
        for target in targets
    )


def _has_gradients(module: Module) -> bool:
    """Whether a module computes any: most do not, and need not be searched for towers."""
    return not module.names.attributes.keys().isdisjoint(_TRAINS)


@fact_of_text
def _shares_variables(module: Module) -> bool:
    """Whether a module says anywhere that a network has the variables that there are."""
    attributes = module.names.attributes.keys() & {"reuse_variables", "AUTO_REUSE"}
    return bool(attributes) or any(
        keyword.arg == "reuse" for call in module.names.calls for keyword in call.keywords
    )


def _fills_lists(loop: ast.For) -> bool:
    """Whether a loop appends to lists, which is what it leaves behind."""
    functions = (call.func for call in _calls(loop.body))
    return any(isinstance(one, ast.Attribute) and one.attr == "append" for one in functions)


def _has_losses(module: Module, loop: ast.For) -> bool:
    """Whether a loop puts into a list what is minimized behind it, made one."""
    lists = {
        call.func.value.id
        for call in _calls(loop.body)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and isinstance(call.func.value, ast.Name)
    }
    methods = (one for name in _TRAINS for one in module.names.attributes.get(name, ()))
    for method in methods if lists else ():
        call = module.names.parents[method]
        if not isinstance(call, ast.Call) or call.func is not method:
            continue
        if call.lineno <= (loop.end_lineno or loop.lineno):
            continue
        loss: ast.expr | None = by_parameter(call, ("loss",)).get("loss")
        while isinstance(loss, ast.Name) and loss.id not in lists:
            loss = module.names.only_value(loss)
        if loss is not None and any(
            isinstance(part, ast.Name) and part.id in lists for part in walk(loss)
        ):
            return True
    return False


def blocks_in(body: list[ast.stmt]) -> Iterator[ast.With]:
    for statement in body:
        if isinstance(statement, ast.With):
            yield statement
            yield from blocks_in(statement.body)


def device_function(
    module: Module, func: ast.expr, graph: CallGraph
) -> tuple[Function, str] | None:
    """A function of the author's that makes one that tells each operation its device.

    With its parameter that all get but the variables, which may have a device of their own.
    """
    made = graph.target(module, func)
    if made is None or not isinstance(made.node, ast.FunctionDef):
        return None
    inner = [node for node in made.node.body if isinstance(node, ast.FunctionDef)]
    last = made.node.body[-1]
    if len(inner) != 1 or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return None
    if last.value.id != inner[0].name:
        return None
    returns = [node for node in walk(inner[0]) if isinstance(node, ast.Return)]
    tests = [node.test for node in walk(inner[0]) if isinstance(node, ast.If)]
    if len(returns) != len(tests) + 1 or not all(map(_asks_kind, tests)):
        return None
    device = max(returns, key=lambda node: node.lineno).value
    if not isinstance(device, ast.Name) or device.id not in made.parameters():
        return None
    return made, device.id


def _asks_kind(test: ast.expr) -> bool:
    """`node_def.op in PS_OPS`, `node_def.op == "Variable"`"""
    return (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], (ast.In, ast.Eq))
        and isinstance(test.left, ast.Attribute)
        and test.left.attr in ("op", "type")
    )
