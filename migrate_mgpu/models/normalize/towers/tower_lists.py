"""Lists that towers fill, in the form that their reader knows: each value has a name.

    losses[i] = tower_loss(xs[i], ys[i])
    grads[i] = opt.compute_gradients(losses[i])

in the loop over the devices, with `losses = [None] * n` above it, becomes

    loss = tower_loss(xs[i], ys[i])
    losses.append(loss)
    grads.append(opt.compute_gradients(loss))

with `losses = []`. So does `losses.append(tower_loss(xs[i], ys[i]))`, which makes layers, and what
is differentiated without a name, `opt.compute_gradients(net['loss'])`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.origins import is_of_another
from migrate_mgpu.models.front.towers.loop import (
    COUNTS,
    is_placed_anew,
    loops_on_devices,
    read_towers,
    shares,
)
from migrate_mgpu.models.ir import Towers
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout

_GRADIENTS = ("compute_gradients", "gradients")


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits of one round; none where nothing is left to do."""
    for loop in loops_on_devices(module):
        towers = read_towers(module, loop, graph)
        if towers is not None:
            edits = _of_loop(module, graph, towers)
            if edits:
                return edits
    return []


def one_loop(module: Module) -> list[Edit]:
    """Two loops over the same devices, one right behind the other, become one.

    The second builds of `losses[i]`, the tower's own item of what the first made, and of what
    stands above both.
    """
    for loop in loops_on_devices(module):
        siblings = _siblings(module, loop)
        below = siblings[siblings.index(loop) + 1 :] if loop in siblings else []
        between = list(takewhile(_makes_list, below))
        other = below[len(between)] if len(between) < len(below) else None
        if not isinstance(other, ast.For) or not is_placed_anew(module, loop):
            continue
        if not all(Layout(module.source, one).owns_lines for one in between):
            continue
        moved = {n.id for one in between for n in walk(one) if isinstance(n, ast.Name)}
        if any(isinstance(n, ast.Name) and n.id in moved for n in walk(loop)):
            continue
        edits = _merged(module, loop, other) if is_placed_anew(module, other) else []
        if edits:
            for one in between:
                layout = Layout(module.source, one)
                edits.append(Edit(layout.line_start, layout.next_line, ""))
            lines = [module.source.code(one) for one in between]
            return [*edits, Layout(module.source, loop).insert_before(lines)]
    return []


def gradients_in_loop(module: Module) -> list[Edit]:
    """`grads = [opt.compute_gradients(one) for one in losses]` right behind the loop: in it.

    Each tower computes those of its own loss, which it puts into the list.
    """
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        siblings = _siblings(module, loop)
        below = siblings[siblings.index(loop) + 1 :] if loop in siblings else []
        made = next((one for one in below if not _makes_list(one)), None)
        value = made.value if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        if not isinstance(value, ast.ListComp) or not is_placed_anew(module, loop):
            continue
        assert isinstance(made, ast.Assign)
        (each, *more), target, call = value.generators, made.targets[0], value.elt
        if more or each.ifs or not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
            continue
        one, listed, func = each.target, each.iter, call.func
        if not isinstance(one, ast.Name) or not isinstance(listed, ast.Name):
            continue
        if not isinstance(func, ast.Attribute) or func.attr != "compute_gradients":
            continue
        if names.only_binding(target) is None or names.only_binding(listed) is None:
            continue
        filled = [
            part
            for part in in_line(loop.body)
            if isinstance(part, ast.Expr)
            and isinstance(part.value, ast.Call)
            and ast.unparse(part.value.func) == f"{listed.id}.append"
            and len(part.value.args) == 1
            and isinstance(part.value.args[0], ast.Name)
        ]
        layouts = [Layout(source, part) for part in (loop, made, *filled)]
        if len(filled) != 1 or not all(part.owns_start for part in layouts):
            continue
        own = filled[0].value
        assert isinstance(own, ast.Call)
        changes = [
            Edit(*source.span(part), source.code(own.args[0]))
            for part in walk(call)
            if isinstance(part, ast.Name) and part.id == one.id
        ]
        code = splice(source.text, changes, *source.span(call))
        if "\n" in code or not layouts[1].owns_lines or not layouts[2].owns_lines:
            continue
        return [
            layouts[0].insert_before([f"{target.id} = []"]),
            layouts[2].insert_after([f"{target.id}.append({code})"]),
            Edit(layouts[1].line_start, layouts[1].next_line, ""),
        ]
    return []


def _makes_list(statement: ast.stmt) -> bool:
    """`grads = []`"""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.List):
        return False
    return not statement.value.elts and all(isinstance(t, ast.Name) for t in statement.targets)


def _siblings(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that a statement stands in."""
    parent = module.names.parents[statement]
    bodies = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
    return next((one for one in bodies if isinstance(one, list) and statement in one), [])


def _merged(module: Module, loop: ast.For, other: ast.For) -> list[Edit]:
    names, source = module.names, module.source
    if loop.orelse or other.orelse or ast.dump(loop.iter) != ast.dump(other.iter):
        return []
    runs = ("run", "eval")
    parts = (part for one in (loop, other) for part in walk(one))
    if any(isinstance(part, ast.Attribute) and part.attr in runs for part in parts):
        return []  # a step stands between what they build
    target, same = loop.target, other.target
    if not isinstance(target, ast.Name) or not isinstance(same, ast.Name) or target.id != same.id:
        return []
    layout = Layout(source, other)
    if not layout.owns_start or not Layout(source, loop).owns_start:
        return []
    filled = {
        one.func.value.id: one
        for one in walk(loop)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
        if one.func.attr == "append" and isinstance(one.func.value, ast.Name)
    }
    stored = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored.discard(target.id)
    for name in (n for n in walk(other) if isinstance(n, ast.Name)):
        if name.id in filled:
            item = names.parents[name]
            if not isinstance(item, ast.Subscript) or item.value is not name:
                return []
            if not isinstance(item.ctx, ast.Load) or not _is_named(item.slice, target.id):
                return []
        elif name.id in stored and isinstance(name.ctx, ast.Load):
            return []  # of the last tower
    inner = source.indent_of(loop.body[0])
    block = Block(source, inner)
    for statement in other.body:
        block.statement(statement, [])
    gone = Edit(layout.line_start, layout.next_line, "")
    end = Layout(source, loop).next_line
    return [Edit(end, end, block.text()), gone]


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def lists_of_objects(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """`self.losses = []`, which towers fill, in a method that builds them: a name.

    The object has the list behind the loop, where something else reads it. ``modules`` are all
    that the program has.
    """
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        home = names.scope_at(loop)
        method = home.node
        if not isinstance(method, ast.FunctionDef) or not is_placed_anew(module, loop):
            continue
        if not isinstance(names.parents[method], ast.ClassDef) or not method.args.args:
            continue
        me = method.args.args[0].arg
        for statement in in_line(loop.body):
            call = statement.value if isinstance(statement, ast.Expr) else None
            func = call.func if isinstance(call, ast.Call) else None
            listed = func.value if isinstance(func, ast.Attribute) else None
            if not isinstance(listed, ast.Attribute) or not isinstance(func, ast.Attribute):
                continue
            if func.attr != "append" or not _is_named(listed.value, me):
                continue
            owner = names.parents[method]
            assert isinstance(owner, ast.ClassDef)
            mentions = [
                one
                for one in names.attributes.get(listed.attr, ())
                if not is_of_another(module, one, owner)
            ]
            others = [
                one
                for other in modules
                if other is not module
                for one in other.names.attributes.get(listed.attr, ())
                if not is_of_another(other, one, None)
            ]
            here = [one for one in mentions if _is_of(module, one, me, method)]
            elsewhere = [one for one in (*mentions, *others) if one not in here]
            made = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
            if len(made) != 1 or made[0] not in here or not _begins_empty(module, made[0]):
                continue
            if any(isinstance(names.parents.get(one), ast.Attribute) for one in elsewhere):
                continue  # it may be changed
            word = listed.attr.strip("_") or listed.attr
            name = names.fresh(home, word, f"{word}_of_towers", f"{word}_of_each_tower")
            edits = [Edit(*source.span(one), name) for one in here]
            if elsewhere:
                kept = f"{me}.{listed.attr} = {name}"
                edits.append(Layout(source, _outermost(module, loop)).insert_after([kept]))
            return edits
    return []


def _outermost(module: Module, loop: ast.For) -> ast.stmt:
    """The block around a loop that stands in a method's own line, or the loop itself."""
    found: ast.stmt = loop
    for one in module.names.ancestors(loop):
        if isinstance(one, ast.FunctionDef):
            break
        if isinstance(one, ast.stmt):
            found = one
    return found


def _begins_empty(module: Module, target: ast.Attribute) -> bool:
    """Whether an attribute is given an empty list: `self.losses = []`, also beside others."""
    around = module.names.parents[target]
    statement = module.names.statement(target)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    value: ast.expr = statement.value
    if isinstance(around, ast.Tuple):
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(around.elts):
            return False
        value = value.elts[around.elts.index(target)]
    elif around is not statement:
        return False
    return isinstance(value, ast.List) and not value.elts


def _is_of(module: Module, node: ast.Attribute, me: str, method: ast.FunctionDef) -> bool:
    """Whether an attribute is one of a method's object, asked for in the method itself."""
    return _is_named(node.value, me) and module.names.scope_at(node).node is method


def shared_below(module: Module) -> list[Edit]:
    """`tf.get_variable_scope().reuse_variables()` at the end of a block that only names a place.

    It is about the scope around the block, and stands behind it then.
    """
    if "device" not in calls_of_names(module):
        return []
    for call in module.names.attributes.get("reuse_variables", ()):
        statement = module.names.statement(call)
        block = module.names.parents[statement]
        if not isinstance(block, ast.With) or not isinstance(statement, ast.Expr):
            continue
        if name_of(module, call.value) != "get_variable_scope" or not shares(module, statement):
            continue
        kinds = {name_of(module, item.context_expr) for item in block.items}
        loops = [
            one for one in module.names.ancestors(block) if isinstance(one, (ast.For, ast.While))
        ]
        layout = Layout(module.source, statement)
        if not kinds <= {"name_scope", "device"} or loops or not layout.owns_lines:
            continue
        if block.body[-1] is statement and len(block.body) > 1:
            gone = Edit(layout.line_start, layout.next_line, "")
            code = module.source.code(statement)
            return [gone, Layout(module.source, block).insert_after([code])]
    return []


def _of_loop(module: Module, graph: CallGraph, towers: Towers) -> list[Edit]:
    for statement in in_line(towers.loop.body):
        edits = (
            _indexed(module, towers, statement)
            or _own_items(module, towers, statement)
            or _named(module, graph, statement)
            or _objects(module, graph, towers, statement)
        )
        if edits:
            return edits
    return []


def _named(module: Module, graph: CallGraph, statement: ast.stmt) -> list[Edit]:
    """A value without a name that is put into a list, or differentiated, gets one."""
    layout = Layout(module.source, statement)
    if isinstance(statement, ast.With) or not layout.owns_lines:
        return []
    home = module.names.scope_at(statement)
    for value, word in _unnamed(module, graph, statement):
        code = module.source.code(value)
        if "\n" not in code:
            name = module.names.fresh(home, *_choices(word))
            made = layout.insert_before([f"{name} = {code}"])
            return [made, Edit(*module.source.span(value), name)]
    return []


def _unnamed(
    module: Module, graph: CallGraph, statement: ast.stmt
) -> Iterator[tuple[ast.expr, str]]:
    """What has no name in a statement of the loop, with the name of its list."""
    whole = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    if isinstance(statement, ast.Expr) and isinstance(whole, ast.Call):
        func = whole.func
        if isinstance(func, ast.Attribute) and func.attr == "append" and len(whole.args) == 1:
            if isinstance(func.value, ast.Name) and _makes_layers(module, graph, whole.args[0]):
                yield whole.args[0], func.value.id
            whole = whole.args[0]
    if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute):
        if whole.func.attr == "compute_gradients" and whole.args:
            loss = whole.args[0]
            table = isinstance(loss, ast.Subscript) and isinstance(constant(loss.slice), str)
            if table or isinstance(loss, ast.BinOp) or _makes_layers(module, graph, loss):
                yield loss, "losses"


def _makes_layers(module: Module, graph: CallGraph, value: ast.expr) -> bool:
    """Whether a value is that of a call which may make layers."""
    if not isinstance(value, ast.Call):
        return False
    ours = graph.target(module, value.func) or graph.class_of(module, value.func)
    return ours is not None or name_of(module, value).startswith("layers.")


def _own_items(module: Module, towers: Towers, statement: ast.stmt) -> list[Edit]:
    """`losses[i]` in a tower, behind `losses.append(loss)`: its own item of the list."""
    names = module.names
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) and len(call.args) == 1 else None
    if not isinstance(func, ast.Attribute) or func.attr != "append" or not towers.index:
        return []
    listed = func.value
    assert isinstance(call, ast.Call)
    value = call.args[0]
    if not isinstance(listed, ast.Name) or not isinstance(value, ast.Name):
        return []
    binding = names.only_binding(listed)
    made = binding.value if binding is not None else None
    if not isinstance(made, ast.List) or made.elts or names.only_binding(value) is None:
        return []
    edits: list[Edit] = []
    for mention in names.mentions(listed.id, names.scope_of_name[listed]):
        item = names.parents[mention]
        if mention is listed or not is_inside(module, mention, {towers.loop}):
            continue
        if not isinstance(item, ast.Subscript) or not isinstance(item.ctx, ast.Load):
            return []
        if not _is_index(item.slice, towers) or not _is_in_line(module, towers, item):
            return []
        if position(item) < position(statement):
            return []
        edits.append(Edit(*module.source.span(item), value.id))
    return edits


def _indexed(module: Module, towers: Towers, statement: ast.stmt) -> list[Edit]:
    """`losses[i] = value`, the only item that the loop gives a list of as many as there are."""
    names, source = module.names, module.source
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not towers.index:
        return []
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return []
    layout, listed = Layout(source, statement), target.value
    binding = names.only_binding(listed)
    made = names.statement(binding.node) if binding is not None else None
    if not _is_index(target.slice, towers) or not layout.owns_lines or binding is None:
        return []
    if not isinstance(made, ast.Assign) or made.targets != [binding.node]:
        return []
    if not _is_of_towers(module, made.value, towers) or is_inside(module, made, {towers.loop}):
        return []
    home, reads = names.scope_of_name[listed], list[ast.Subscript]()
    for mention in names.mentions(listed.id, home):
        if mention in (binding.node, listed):
            continue
        if position(mention) < position(statement) or home is not names.scope_at(statement):
            return []
        item = names.parents[mention]
        if is_inside(module, mention, {towers.loop}):
            if not isinstance(item, ast.Subscript) or item.value is not mention:
                return []
            if not isinstance(item.ctx, ast.Load):
                return []
            if not _is_index(item.slice, towers) or not _is_in_line(module, towers, item):
                return []
            reads.append(item)
        elif isinstance(item, ast.Subscript) and not isinstance(item.ctx, ast.Load):
            return []
    code, word, name = source.code(statement.value), listed.id, ""
    if _is_gradients(module, statement.value) and not reads:
        lines = [f"{word}.append({code})"]
    else:
        name = names.fresh(home, *_choices(word))
        lines = [*f"{name} = {code}".split("\n"), f"{word}.append({name})"]
        if isinstance(statement.value, ast.Name):
            name = statement.value.id
            lines = [f"{word}.append({name})"]
    if "\n" in code:
        return []
    return [
        Edit(*source.span(made.value), "[]"),
        layout.replace(lines),
        *(Edit(*source.span(one), name) for one in reads),
    ]


def _objects(module: Module, graph: CallGraph, towers: Towers, statement: ast.stmt) -> list[Edit]:
    """`models.append(model)`, an object of each tower, becomes lists of what is read of it.

    `[one.loss for one in models]` and `models[-1].loss` are what tells.
    """
    names, source = module.names, module.source
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    value = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None
    if not isinstance(func, ast.Attribute) or func.attr != "append":
        return []
    if not isinstance(value, ast.Name) or not isinstance(func.value, ast.Name):
        return []
    made, binding = names.only_value(value), names.only_binding(func.value)
    if not isinstance(made, ast.Call) or graph.class_of(module, made.func) is None:
        return []
    empty = names.statement(binding.node) if binding is not None else None
    if not isinstance(empty, ast.Assign) or binding is None or empty.targets != [binding.node]:
        return []
    layouts = [Layout(source, one) for one in (empty, statement)]
    if not isinstance(empty.value, ast.List) or empty.value.elts:
        return []
    if not all(one.owns_lines for one in layouts) or is_inside(module, empty, {towers.loop}):
        return []
    home, read = names.scope_at(empty), dict[ast.expr, tuple[str, str]]()
    for mention in names.mentions(func.value.id, names.scope_of_name[func.value]):
        if mention in (binding.node, func.value):
            continue
        if is_inside(module, mention, {towers.loop}):
            return []
        found = _read_of_object(module, mention)
        if found is None:
            return []
        read[found[0]] = found[1:]
    lists: dict[str, str] = {}
    for attribute, _ in read.values():
        if attribute not in lists:
            word = attribute.strip("_")
            lists[attribute] = names.fresh(
                home, f"{word}_of_towers", f"{word}_of_each_tower", f"{word}_of_all_towers"
            )
    made_lists = [f"{name} = []" for name in lists.values()]
    filled = [f"{name}.append({value.id}.{one})" for one, name in lists.items()]
    edits = [layouts[0].replace(made_lists), layouts[1].replace(filled or ["pass"])]
    for node, (attribute, item) in read.items():
        edits.append(Edit(*source.span(node), f"{lists[attribute]}{item}"))
    return edits


def _read_of_object(module: Module, mention: ast.Name) -> tuple[ast.expr, str, str] | None:
    """What asks a list of objects for one attribute, the attribute, and which item it asks for."""
    names = module.names
    around = names.parents[mention]
    if isinstance(around, ast.comprehension):
        whole, target = names.parents[around], around.target
        if not isinstance(whole, ast.ListComp) or around.ifs or len(whole.generators) > 1:
            return None
        read = whole.elt
        if isinstance(read, ast.Attribute) and isinstance(read.value, ast.Name):
            if isinstance(target, ast.Name) and read.value.id == target.id:
                return whole, read.attr, ""
        return None
    if isinstance(around, ast.Subscript) and around.value is mention:
        asked = names.parents[around]
        if isinstance(asked, ast.Attribute) and isinstance(asked.ctx, ast.Load):
            if isinstance(constant(around.slice), int) or isinstance(around.slice, ast.UnaryOp):
                return asked, asked.attr, f"[{module.source.code(around.slice)}]"
    return None


def _is_gradients(module: Module, value: ast.expr) -> bool:
    func = value.func if isinstance(value, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in _GRADIENTS


def _is_index(node: ast.expr, towers: Towers) -> bool:
    return isinstance(node, ast.Name) and node.id == towers.index


def _is_in_line(module: Module, towers: Towers, node: ast.AST) -> bool:
    """Whether a tower surely evaluates an expression, in its own scope."""
    statement = module.names.statement(node)
    line = [one for one in in_line(towers.loop.body) if not isinstance(one, ast.With)]
    home = module.names.scope_at(statement)
    return statement in line and all(
        module.names.scope_of_name[part] is home
        for part in walk(node)
        if isinstance(part, ast.Name)
    )


def _is_of_towers(module: Module, value: ast.expr, towers: Towers) -> bool:
    """`[None] * n`, `[0 for _ in range(n)]`: as long as there are towers."""
    over = towers.loop.iter
    if not isinstance(over, ast.Call) or module.names.qualname(over.func) not in COUNTS:
        return False
    if len(over.args) != 1 or over.keywords:
        return False
    count = ast.dump(over.args[0])
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        parts = [value.left, value.right]
        listed = [one for one in parts if isinstance(one, ast.List) and len(one.elts) == 1]
        numbers = [one for one in parts if one not in listed]
        return len(listed) == 1 and ast.dump(numbers[0]) == count and _is_empty(listed[0].elts[0])
    if isinstance(value, ast.ListComp) and len(value.generators) == 1:
        (each,) = value.generators
        if each.ifs or not isinstance(each.iter, ast.Call) or not _is_empty(value.elt):
            return False
        ranged = module.names.qualname(each.iter.func) in COUNTS
        return ranged and len(each.iter.args) == 1 and ast.dump(each.iter.args[0]) == count
    return False


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _choices(word: str) -> list[str]:
    """Names for one value of a list."""
    one = word[:-2] if word.endswith("sses") else word.removesuffix("s")
    return list(dict.fromkeys([one, f"tower_{one}", f"{one}_of_tower", "value"]))
