"""Statements of a module that builds a graph, in the forms that its readers know.

`lrelu = lambda x: tf.maximum(x, 0.2 * x)` becomes a function,
`a, b = [tf.Variable(p) for p in starts]` an assignment for each variable, and a function no longer
returns what a cell is like (`return outputs, lstm.state_size`) where nothing reads that.
`tf.train.global_step(sess, step)` runs the step; dropout that callers of a function choose is a
condition; `slim.dropout(x, 0.8)`, which always trains, says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.normalize.functions.variable_makers import with_texts
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits of one round; none where nothing is left to do."""
    said = [*_counted(module), *_fed_dropouts(module), *_always_training(module)]
    if said:
        return said
    for statement in module.tree.body:
        if isinstance(statement, ast.FunctionDef):
            edits = _without_unread(module, statement, graph)
            if edits:
                return edits
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        layout = Layout(module.source, statement)
        if statement.lineno != statement.end_lineno or not layout.owns_lines:
            continue
        target, value = statement.targets[0], statement.value
        lines: list[str] = []
        if isinstance(target, ast.Name) and isinstance(value, ast.Lambda):
            lines = _function(module, target, value)
        elif isinstance(target, ast.Tuple):
            lines = list(_variables(module, target, value))
        if lines:
            lines[0] += f"  {layout.trailing_comment}" if layout.trailing_comment else ""
            if isinstance(value, ast.Lambda):
                return _apart(module, statement, lines)
            return [layout.replace(lines)]
    return []


def _counted(module: Module) -> Iterator[Edit]:
    """`tf.train.global_step(sess, step)`, which is `int(sess.run(step))`."""
    for call in calls_of_names(module).get("train.global_step", ()):
        given = by_parameter(call, ("sess", "global_step_tensor"))
        if len(given) == 2:
            session, step = (module.source.code(given[one]) for one in given)
            yield Edit(*module.source.span(call), f"int({session}.run({step}))")


def _fed_dropouts(module: Module) -> Iterator[Edit]:
    """`tf.layers.dropout(x, 0.3, training=flag)`, where callers of a function say what is fed.

    TF2's layer asks Python whether it trains: this asks what is fed, as TF1's did.
    """
    dropouts = calls_of_names(module).get("layers.dropout", ())
    fed = {
        _last(key)
        for node in (walk(module.tree) if dropouts else ())
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values)
        if isinstance(key, (ast.Name, ast.Attribute))
        and isinstance(value, ast.Name)
        and module.names.is_parameter(value)
    }
    for call in dropouts:
        given = by_parameter(call, ("inputs", "rate", "noise_shape", "seed", "training", "name"))
        flag, inputs = given.get("training"), given.get("inputs")
        plain = {"inputs", "rate", "training", "name"}
        if flag is None or inputs is None or not given.keys() <= plain or _last(flag) not in fed:
            continue
        func, code = call.func, module.source.code
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Attribute):
            continue
        if not isinstance(inputs, (ast.Name, ast.Attribute)):
            continue
        tf, x = code(func.value.value), code(inputs)
        rate = code(given["rate"]) if "rate" in given else "0.5"
        text = f"{tf}.cond({code(flag)}, lambda: {tf}.nn.dropout({x}, rate={rate}), lambda: {x})"
        yield Edit(*module.source.span(call), text)


def _always_training(module: Module) -> Iterator[Edit]:
    """`slim.dropout(x, 0.8)`: contrib's layers train where they are told nothing."""
    for call in module.names.calls:
        row = LAYERS.by_name.get(name_of(module, call))
        if row is None or row.training != "is_training":
            continue
        given = by_parameter(call, row.signature)
        # What `*` and `**` stand for may say it.
        starred = "**" in given or any(isinstance(one, ast.Starred) for one in call.args)
        flag = given.get(row.training)
        silent = flag is None or (isinstance(flag, ast.Constant) and flag.value is None)
        if silent and not starred and call.args:
            end = module.source.span([*call.args, *(k.value for k in call.keywords)][-1])[1]
            yield Edit(end, end, f", {row.training}=True")


def _last(node: ast.expr) -> str:
    """What an object's attribute is called in the constructor, too."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _function(module: Module, target: ast.Name, value: ast.Lambda) -> list[str]:
    """A function by the name that a lambda has, which is of TensorFlow's functions."""
    calls = (part for part in walk(value.body) if isinstance(part, ast.Call))
    if module.names.only_binding(target) is None or not any(name_of(module, one) for one in calls):
        return []
    source = module.source
    return [
        f"def {target.id}({ast.unparse(value.args)}):",
        f"{source.indent_unit}return {source.code(value.body)}",
    ]


def _apart(module: Module, statement: ast.stmt, lines: list[str]) -> list[Edit]:
    """The edits that write a function in the place of a statement, with blank lines around it."""
    source = module.source
    if module.path.suffix == ".ipynb":  # cells are apart already
        return [Layout(source, statement).replace(lines)]
    first = statement.lineno
    while first > 1 and source.line_text(first - 1).startswith("#"):
        first -= 1
    blank = [not source.line_text(n).strip() for n in (first - 1, first - 2) if n > 0]
    above = 2 - sum(blank[: 1 + blank[0]]) if blank else 0
    end = statement.lineno
    blank = [not source.line_text(n).strip() for n in (end + 1, end + 2) if n < _count(module)]
    below = 2 - sum(blank[: 1 + blank[0]]) if len(blank) > 1 else 0
    place = source.line_starts[first - 1]
    text = source.newline * above
    written = Layout(source, statement).replace([*lines, *[""] * below])
    return [*([Edit(place, place, text)] if text else []), written]


def _count(module: Module) -> int:
    return len(module.source.line_starts)


def _variables(module: Module, target: ast.Tuple, value: ast.expr) -> Iterator[str]:
    """An assignment for each of several variables that one statement makes."""
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    if len(names) != len(target.elts) or len({*names}) != len(names):
        return
    source = module.source
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(names):
        if all(name_of(module, one) in VARIABLES.by_name for one in value.elts):
            yield from (f"{name} = {source.code(one)}" for name, one in zip(names, value.elts))
    if not isinstance(value, ast.ListComp) or name_of(module, value.elt) not in VARIABLES.by_name:
        return
    each = value.generators[0]
    if len(value.generators) > 1 or each.ifs or not isinstance(each.target, ast.Name):
        return
    if not isinstance(each.iter, ast.Name) or not _is_list(module, each.iter):
        return
    item = each.target.id
    for index, name in enumerate(names):
        text = f"{each.iter.id}[{index}]"
        made = with_texts(source, value.elt, lambda n, t=text: t if n.id == item else None)  # type: ignore[misc]
        yield f"{name} = {made}"


def _is_list(module: Module, node: ast.expr | None) -> bool:
    """Whether a value is a list that is written out, or one of a list of such lists."""
    whole = module.names.only_value(node) if isinstance(node, ast.Name) else node
    if not isinstance(whole, ast.Subscript):
        return isinstance(whole, (ast.List, ast.Tuple))
    outer = whole.value
    every = module.names.only_value(outer) if isinstance(outer, ast.Name) else outer
    if not isinstance(every, (ast.List, ast.Tuple)) or isinstance(whole.slice, ast.Slice):
        return False
    return all(isinstance(part, (ast.List, ast.Tuple)) for part in every.elts)


def _without_unread(module: Module, node: ast.FunctionDef, graph: CallGraph) -> list[Edit]:
    """A function without the attributes that it returns among others, and that nothing reads."""
    known = unpacked_calls(module, node, graph)
    if known is None:
        return []
    value, targets = known
    gone = [
        index
        for index, part in enumerate(value.elts)
        if isinstance(part, ast.Attribute)
        and all(_is_unread(module, one.elts[index]) for one in targets)
    ]
    if not gone or len(gone) == len(value.elts):
        return []
    found: list[Edit] = []
    for one in (value, *targets):
        left = [module.source.code(part) for i, part in enumerate(one.elts) if i not in gone]
        found.append(Edit(*module.source.span(one), ", ".join(left)))
    return found


def unpacked_calls(
    module: Module, node: ast.FunctionDef, graph: CallGraph
) -> tuple[ast.Tuple, list[ast.Tuple]] | None:
    """What a function returns at its end alone, and where each of its calls unpacks that.

    None where it returns no tuple, or is used in another way.
    """
    last = node.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if not isinstance(value, ast.Tuple):
        return None
    if [part for part in walk(node) if isinstance(part, ast.Return)] != [last]:
        return None
    targets: list[ast.Tuple] = []
    for reference in graph.references(Function(module, node)):
        statement = reference.module.names.parents.get(reference.call) if reference.call else None
        if reference.module is not module or not isinstance(statement, ast.Assign):
            return None
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Tuple):
            return None
        targets.append(target)
    fits = all(len(one.elts) == len(value.elts) for one in targets)
    return (value, targets) if targets and fits else None


def _is_unread(module: Module, target: ast.expr) -> bool:
    names = module.names
    if not isinstance(target, ast.Name):
        return False
    home = names.defining_scope(target.id, names.scope_of_name[target])
    mentions = names.mentions(target.id, home) if home is not None else ()
    return bool(mentions) and not any(isinstance(one.ctx, ast.Load) for one in mentions)
