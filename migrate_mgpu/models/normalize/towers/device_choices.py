"""Devices, or how many there are, that a condition decides below what they are otherwise.

    gpus = ['/gpu:%d' % i for i in range(args.num_gpus)]
    if not tf.test.is_gpu_available():
        gpus = ['/cpu:0']

becomes `gpus = ['/cpu:0'] if not tf.test.is_gpu_available() else [...]`, and

    gpus = find_gpus()
    if not gpus:
        gpus = ['/cpu:0']

`gpus = find_gpus() or ['/cpu:0']`: one value for each name that tells the devices of towers.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.towers.loop import (
    device_of,
    is_text,
    loops_on_devices,
    read_towers,
)
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout

_SAFE = ("builtins.len", "builtins.int", "builtins.max", "builtins.min")
_COMPUTES = (*_SAFE, "builtins.range", "builtins.str", "builtins.list", "six.moves.range")


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one name that tells the devices of towers, and has two values."""
    for loop in loops_on_devices(module):
        towers = read_towers(module, loop, graph)
        if towers is None:
            continue
        for node in walk(loop):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                edits = _chosen(module, node)
                if edits:
                    return edits
    return []


def setters(module: Module, graph: CallGraph) -> list[Edit]:
    """A device function that a tower's loop gives a name, where the device is told by it.

    `setter = tf.train.replica_device_setter(...)`, and `with tf.device(setter):`
    """
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        for one in in_line(loop.body):
            if not isinstance(one, ast.Assign) or len(one.targets) != 1:
                continue
            target, made, layout = one.targets[0], one.value, Layout(source, one)
            if not isinstance(target, ast.Name) or not isinstance(made, ast.Call):
                continue
            mentions = names.mentions(target.id, names.scope_of_name[target])
            reads = [part for part in mentions if part is not target]
            call = names.parents.get(reads[0]) if len(reads) == 1 else None
            if not isinstance(call, ast.Call) or name_of(module, call) != "device":
                continue
            if call.args != reads or call.keywords or not layout.owns_lines:
                continue
            code = " ".join(source.code(made).split())
            with_it = ast.Call(call.func, [made], [])
            if "#" in code or device_of(module, with_it, graph) is None:
                continue
            return [
                Edit(layout.line_start, layout.next_line, ""),
                Edit(*source.span(reads[0]), code),
            ]
    return []


def worker_names(module: Module, graph: CallGraph) -> list[Edit]:
    """`worker = "/gpu:%d" % i`, which is told `tf.device`, or a device function, alone."""
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        for one in in_line(loop.body):
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            if not isinstance(one, ast.Assign) or not isinstance(target, ast.Name):
                continue
            layout = Layout(source, one)
            if not is_text(module, one.value) or not layout.owns_lines:
                continue
            mentions = names.mentions(target.id, names.scope_of_name[target])
            reads = [part for part in mentions if part is not target]
            if not reads or not all(_is_of_device(module, part, graph) for part in reads):
                continue
            code = source.code(one.value)
            gone = Edit(layout.line_start, layout.next_line, "")
            return [gone, *(Edit(*source.span(part), code) for part in reads)]
    return []


def _is_of_device(module: Module, name: ast.Name, graph: CallGraph) -> bool:
    """Whether a name is an argument of `tf.device`, or of what makes a device function."""
    call = module.names.parents.get(name)
    if isinstance(call, ast.keyword):
        call = module.names.parents.get(call)
    if not isinstance(call, ast.Call) or call.func is name:
        return False
    if name_of(module, call) == "device":
        return True
    (device, *_) = calls_of_names(module)["device"]
    return device_of(module, ast.Call(device.func, [call], []), graph) is not None


def _chosen(module: Module, name: ast.Name) -> list[Edit]:
    names, source = module.names, module.source
    bindings = names.bindings_of(name)
    if len(bindings) != 2:
        return []
    first, second = (names.statement(one.node) for one in bindings)
    around = names.parents.get(second)
    if not isinstance(around, ast.If) or around.orelse or around.body != [second]:
        return []
    block = names.block(first)
    if around not in block or block.index(around) != block.index(first) + 1:
        return []
    values = [_value(one, name.id) for one in (first, second)]
    if values[0] is None or values[1] is None:
        return []
    if not all(Layout(source, one).owns_lines for one in (first, around)):
        return []
    usual, other = (source.code(one) for one in values if one is not None)
    asks = [one for one in walk(around.test) if isinstance(one, ast.Name) and one.id == name.id]
    if any(isinstance(one, ast.Name) and one.id == name.id for one in walk(values[1])):
        return []
    if _asks_empty(module, around.test, name.id):
        text = f"{_operand(values[0], usual)} or {_operand(values[1], other)}"
    elif not _only_computes(module, values[0]):
        return []  # it is not computed any more where the other value is taken
    elif not asks:
        text = f"{other} if {source.code(around.test)} else {usual}"
    elif _is_plain(module, values[0]):
        changes = [Edit(*source.span(one), _operand(values[0], usual)) for one in asks]
        test = splice(source.text, changes, *source.span(around.test))
        text = f"{other} if {test} else {usual}"
    else:
        return []
    if "\n" in text:
        text = f"({text})"
    end = Layout(source, around)
    return [
        Edit(*source.span(values[0]), text),
        Edit(end.line_start, end.next_line, ""),
    ]


def _value(statement: ast.stmt, name: str) -> ast.expr | None:
    """What `name = value` gives the name."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return statement.value if isinstance(target, ast.Name) and target.id == name else None


def _asks_empty(module: Module, test: ast.expr, name: str) -> bool:
    """`not gpus`, `len(gpus) == 0`, `num_gpus == 0`: what `or` asks as well."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Name) and test.operand.id == name
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    if not isinstance(test.ops[0], ast.Eq) or constant(test.comparators[0]) != 0:
        return False
    asked = test.left
    if isinstance(asked, ast.Call) and module.names.qualname(asked.func) == "builtins.len":
        (asked,) = asked.args if len(asked.args) == 1 else (asked,)
    elif isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is False:
        return False
    return isinstance(asked, ast.Name) and asked.id == name


def _is_plain(module: Module, node: ast.expr) -> bool:
    """Whether an expression may be asked twice: it gives the same, and does nothing."""
    if isinstance(node, ast.Call):
        return module.names.qualname(node.func) in _SAFE and all(
            _is_plain(module, one) for one in node.args
        )
    if isinstance(node, ast.Attribute):
        return _is_plain(module, node.value)
    return isinstance(node, (ast.Name, ast.Constant))


def _only_computes(module: Module, node: ast.expr) -> bool:
    """Whether an expression makes numbers, texts and lists of them, and nothing else."""
    for one in walk(node):
        if isinstance(one, ast.Call):
            func = one.func
            formats = isinstance(func, ast.Attribute) and func.attr == "format"
            if module.names.qualname(func) not in _COMPUTES and not (
                formats and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Constant)
            ):
                return False
        if isinstance(one, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
            return False
    return True


def _operand(node: ast.expr | None, code: str) -> str:
    simple = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.List, ast.ListComp)
    return code if isinstance(node, (*simple, ast.Subscript)) else f"({code})"
