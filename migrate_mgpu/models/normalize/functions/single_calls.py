"""Functions that build parts of a graph and are called once, as statements where they are called.

`x, y = make_inputs()`, `train_op = make_optimizer(loss)`: no function of TF2 makes a placeholder,
a schedule, an optimizer or an operation for its caller to run, nor variables on a device that it
names. What only computes, or makes layers and applies them, stays a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS, VARIABLES
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import (
    Home,
    given_by,
    graph_functions,
    is_session,
    session_calls,
    trains,
)
from migrate_mgpu.models.front.towers.loop import read_towers
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.models.normalize.layers.static_shapes import is_sized_by_tensor
from migrate_mgpu.models.normalize.towers.batches_before_towers import draws
from migrate_mgpu.models.normalize.towers.built_again import is_built_again, makes_variables
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function, without_paragraph

# What is made once, and is more than a value of a step.
_MAKES = (
    *PLACEHOLDERS, *COUNTERS, "train.Saver", "trainable_variables", "global_variables",
    "get_collection", "get_variable_scope", "assign", "assign_add", "assign_sub",
)  # fmt: skip


def called_once(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function and its call; none where there is none."""
    for module in modules:
        for home in _homes(module, graph):
            for statement in lines_of(module, graph, home.body):
                edits = _moved(modules, module, graph, home, statement)
                if edits:
                    return edits
    return {}


def _moved(
    modules: Sequence[Module], module: Module, graph: CallGraph, home: Home, statement: ast.stmt
) -> dict[Module, list[Edit]]:
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    target = graph.target(module, call.func) if isinstance(call, ast.Call) else None
    if target is None or target.node is home:
        return {}
    again = makes_variables(target, graph) and is_built_again(module, statement, graph)
    if not again and not _leaves_more(target, graph) and not _is_of_tower(module, statement, graph):
        return {}
    references = graph.references(target)
    if not _is_once(module, graph, references) or not _is_plain(target):
        return {}
    assert isinstance(statement, (ast.Expr, ast.Assign))
    assert isinstance(target.node, ast.FunctionDef)
    origin = target.module
    if origin not in modules:
        return {}
    assert isinstance(call, ast.Call)
    more = imports_for(module, call, target) if origin is not module else {}
    if more is None:
        return {}
    moved = MovedCall(module, home, statement, target.node, origin=origin, imported={*more})
    edit = moved.edit()
    if edit is None:
        return {}
    gone = [without_function(origin.source, target.node)] if len(references) == 1 else []
    if origin is module or not gone:
        return {module: [edit, *more.values(), *gone]}
    imports = without_imports(modules, graph, target)
    unused = without_unused(origin, target, {*more})
    if imports is None or unused is None:
        return {}
    imports[module] = [edit, *with_imports(module, imports.get(module, []), more)]
    return {**imports, origin: joined([*gone, *unused])}


def _is_of_tower(module: Module, statement: ast.stmt, graph: CallGraph) -> bool:
    """Whether what each tower calls draws something there, which can be drawn before the towers."""
    assert isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call)
    target = graph.target(module, statement.value.func)
    loops = (one for one in module.names.ancestors(statement) if isinstance(one, ast.For))
    towers = any(read_towers(module, one, graph) is not None for one in loops)
    return towers and target is not None and draws(target, graph)


def _is_once(module: Module, graph: CallGraph, references: Sequence[Reference]) -> bool:
    """Whether a function is called once, or once for each of several graphs."""
    if any(one.call is None for one in references):
        return False
    around = [graph.enclosing(one.module, one.node) for one in references]
    nodes = [one.node for one in around if one is not None]
    apart = len({*nodes}) == len(references) and {*nodes} <= {*graph_functions(module)}
    return len(references) == 1 or apart


def imports_for(module: Module, call: ast.Call, function: Function) -> dict[str, Edit] | None:
    """What a module must import to have the statements of a function that it calls, by its name.

    That is what the function's own module imports. None where another thing has the name.
    """
    origin = function.module
    found: dict[str, Edit] = {}
    ours, theirs = module.names.module_scope, origin.names.module_scope
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    called = root.id if isinstance(root, ast.Name) else ""
    lines = [
        node
        for node in module.tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom)) and any(
            (alias.asname or alias.name.partition(".")[0]) == called for alias in node.names
        )
    ]  # fmt: skip
    used = {part.id for part in walk(function.node) if isinstance(part, ast.Name)}
    own = set(origin.names.scopes[function.node].bindings)
    for name in sorted(used - own):
        bindings = theirs.bindings.get(name, [])
        roots = origin.names.roots(name, theirs)
        if not bindings or (roots and roots == module.names.roots(name, ours)):
            continue
        if any(root.partition(".")[0] == "tensorflow" for root in roots):
            return None  # it has another name there, and one is enough
        made = bindings[0].node if len(bindings) == 1 else None
        around = [] if made is None else [made, *origin.names.ancestors(made)]
        kinds = (ast.Import, ast.ImportFrom)
        statement = next((one for one in around if isinstance(one, kinds)), None)
        if statement is None:
            if text := _import_of(origin, name, lines, function):
                if name in ours.bindings:
                    return None
                end = Layout(module.source, lines[0]).next_line
                found[name] = Edit(end, end, f"{text}{module.source.newline}")
            continue  # MovedCall says whether it is seen else
        plain = statement in origin.tree.body and bool(lines)
        if isinstance(statement, ast.ImportFrom):
            plain = plain and statement.level == 0 and bool(statement.module)
        alias = next((a for a in statement.names if (a.asname or a.name) == name), None)
        if name in ours.bindings or not plain or alias is None:
            return None
        end = Layout(module.source, lines[0]).next_line
        shown = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        text = f"import {shown}{module.source.newline}"
        if isinstance(statement, ast.ImportFrom):
            text = f"from {statement.module} {text}"
        found[name] = Edit(end, end, text)
    return found


def _import_of(
    origin: Module, name: str, lines: Sequence[ast.Import | ast.ImportFrom], function: Function
) -> str:
    """`from networks import SIZE`: what a function's own module defines, once; else nothing."""
    bindings = origin.names.module_scope.bindings.get(name, [])
    line = lines[0] if lines else None
    if not isinstance(line, ast.ImportFrom) or line.level or not line.module:
        return ""
    defined = [one for one in bindings if one.kind in ("assign", "def", "class")]
    apart = [one for one in bindings if one.node in origin.names.parents]
    if len(bindings) != 1 or len(defined) != 1 or len(apart) != 1:
        return ""
    statement = bindings[0].node
    if not isinstance(statement, ast.stmt):
        statement = origin.names.statement(statement)
    plain = statement in origin.tree.body and statement is not function.node
    return f"from {line.module} import {name}" if plain else ""


def with_imports(module: Module, edits: Sequence[Edit], more: Mapping[str, Edit]) -> list[Edit]:
    """Edits, with those that import more: in the place of an import that goes, where one does."""
    text = "".join(one.new for one in more.values())
    place = next((one.start for one in more.values()), -1)
    gone = next((one for one in edits if one.start < place <= one.end), None)
    if gone is None:
        return [*edits, *more.values()]
    rest = [one for one in edits if one is not gone]
    old = module.source.text[gone.start : gone.end]
    blank = "".join(old[len(old.rstrip()) :].splitlines(keepends=True)[1:])
    return [*rest, Edit(gone.start, gone.end, f"{text}{gone.new or blank}")]


def joined(edits: Sequence[Edit]) -> list[Edit]:
    """Edits, of which those that take away blank lines of each other become one."""
    found: list[Edit] = []
    for one in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        last = found[-1] if found else None
        if last is not None and not (last.new or one.new) and one.start <= last.end:
            found[-1] = Edit(last.start, max(last.end, one.end), "")
        else:
            found.append(one)
    return found


def without_unused(module: Module, function: Function, names: set[str]) -> list[Edit] | None:
    """The edits of imports that only a function has needed: what they name may become a class,
    by another name. None where one cannot be written."""
    inside = {*walk(function.node)}
    used = {
        part.id for part in walk(module.tree) if isinstance(part, ast.Name) and part not in inside
    }
    found = []
    for node in module.tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        gone = [a for a in node.names if (a.asname or a.name) in names - used]
        if not gone:
            continue
        if not Layout(module.source, node).owns_lines:
            return None
        if len(gone) < len(node.names):
            found.append(import_edit(module.source, node, gone))
        else:
            found.append(without_paragraph(module.source, node))
    return found


def without_imports(
    modules: Sequence[Module], graph: CallGraph, function: Function
) -> dict[Module, list[Edit]] | None:
    """What imported a function's name, or a class's, without it; None where that has to stay."""
    found: dict[Module, list[Edit]] = {}
    for module in graph.modules:
        for node in walk(module.tree):
            if not isinstance(node, ast.ImportFrom) or node in module.names.star_imports:
                continue
            gone = [alias for alias in node.names if alias.name == function.name]
            if not gone or function.module not in graph.project.resolve(
                module, module.names.absolute(node)
            ):
                continue
            layout = Layout(module.source, node)
            if module not in modules or not layout.owns_lines or node not in module.tree.body:
                return None
            if len(gone) < len(node.names):
                edit = import_edit(module.source, node, gone)
            elif _is_quiet(function.module):
                edit = without_paragraph(module.source, node)
            else:
                return None
            found.setdefault(module, []).append(edit)
    return found


def _is_quiet(module: Module, seen: frozenset[Module] = frozenset()) -> bool:
    """Whether nothing happens where a module is imported, but that its names are bound."""
    bind = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.Expr)
    calls = (
        node
        for statement in module.tree.body
        if isinstance(statement, (ast.Assign, ast.Expr))
        for node in walk(statement)
        if isinstance(node, ast.Call)
    )
    return (
        all(isinstance(one, bind) or is_main_guard(one) for one in module.tree.body)
        and not any(calls)
        and all(_is_quiet(one, seen | {module}) for one in module.imported if one not in seen)
    )


def _is_plain(function: Function) -> bool:
    """Whether a function is one of its module's own, and makes no session."""
    node, module = function.node, function.module
    own = node in module.tree.body
    return own and not any(is_session(module, part) for part in walk(node))


def _homes(module: Module, graph: CallGraph) -> list[Home]:
    """Where graphs are built."""
    several = graph_functions(module)
    home = None if several else home_of(module, graph)
    return [*several] if home is None else [home]


def home_of(module: Module, graph: CallGraph) -> Home | None:
    """Where the graph is built: around its session, or a function that builds all of it."""
    around = {graph.enclosing(module, call) for call in session_calls(module)}
    if len(around) != 1:
        return None
    found = around.pop()
    whole = _whole(module, graph)
    if whole is not None:
        return whole
    node = found.node if found is not None else module.tree
    if isinstance(node, ast.FunctionDef) and node not in module.tree.body:
        return None
    if isinstance(node, ast.FunctionDef) and not _calls_builder(module, node, graph):
        node = given_by(module, node) or node
    return node if isinstance(node, (ast.Module, ast.FunctionDef)) else None


def _calls_builder(module: Module, node: ast.FunctionDef, graph: CallGraph) -> bool:
    """Whether a function calls one of the program that speaks to TensorFlow, or makes an object."""
    for call in (part for part in walk(node) if isinstance(part, ast.Call)):
        target = graph.target(module, call.func)
        if graph.class_of(module, call.func) is not None:
            return True
        if target is not None and any(name_of(target.module, one) for one in walk(target.node)):
            return True
    return False


def _whole(module: Module, graph: CallGraph) -> ast.FunctionDef | None:
    """The function that makes the only step that trains, with placeholders, of nothing given.

    Or the constructor of a class, which calls a function that makes the step.
    """
    steps = [o for o in module.names.calls if trains(module, o) or _computes_gradients(o)]
    around = {graph.enclosing(module, call) for call in steps}
    found = around.pop() if len(around) == 1 else None
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return None
    references = graph.references(found)
    call = references[0].call if len(references) == 1 else None
    makes = any(name_of(module, part) in PLACEHOLDERS for part in walk(found.node))
    caller = graph.enclosing(module, call) if call is not None and _is_plain(found) else None
    if caller is not None and caller.name == "__init__" and caller.owner in module.tree.body:
        assert isinstance(caller.node, ast.FunctionDef)
        return caller.node
    if call is None or not makes or not _is_plain(found):
        return None
    for name in (part for part in walk(call) if isinstance(part, ast.Name)):
        for binding in module.names.bindings_of(name):
            statement = module.names.statement(binding.node)
            made = statement.value if isinstance(statement, ast.Assign) else None
            if made is not None and _is_of_graph(module, made, graph):
                return None
    return found.node


def _is_of_graph(module: Module, node: ast.expr, graph: CallGraph) -> bool:
    for call in (part for part in walk(node) if isinstance(part, ast.Call)):
        target = graph.target(module, call.func)
        if name_of(module, call) and not is_session(module, call):
            return True
        if target is not None and _leaves_more(target, graph):
            return True
    return False


def _computes_gradients(node: ast.AST) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "compute_gradients"


def _leaves_more(
    function: Function, graph: CallGraph, seen: frozenset[ast.AST] = frozenset()
) -> bool:
    """Whether a function, or one that it calls, leaves more in the graph than what it returns.

    Networks that are built again with the same variables are known where the graph is built.
    """
    module = function.module
    if function.node in seen:
        return False
    if _lists_variables(function) or _places_variables(function):
        return True
    for call in (part for part in walk(function.node) if isinstance(part, ast.Call)):
        name = name_of(module, call)
        if name in _MAKES or name in SCHEDULES.by_name or name.startswith("summary."):
            return True
        if trains(module, call) or _computes_gradients(call):
            return True
        target = graph.target(module, call.func)
        if (name in VARIABLES.by_name or target is not None) and is_sized_by_tensor(module, call):
            return True
        if target is not None and (
            _shares(target, graph) or _leaves_more(target, graph, seen | {function.node})
        ):
            return True
    return False


def _places_variables(function: Function) -> bool:
    """Whether a function makes variables on a device: only the scope's own blocks say that."""
    module = function.module
    for block in (part for part in walk(function.node) if isinstance(part, ast.With)):
        if any(name_of(module, item.context_expr) == "device" for item in block.items):
            made = (name_of(module, one) for one in walk(block) if isinstance(one, ast.Call))
            if any(name in VARIABLES.by_name for name in made):
                return True
    return False


def _lists_variables(function: Function) -> bool:
    """Whether a function returns a list of the variables that it makes, beside something else."""
    names, module = function.module.names, function.module
    returned = (part.value for part in walk(function.node) if isinstance(part, ast.Return))
    for part in (part for value in returned if isinstance(value, ast.Tuple) for part in value.elts):
        listed = names.only_value(part) if isinstance(part, ast.Name) else part
        if isinstance(listed, ast.List) and listed.elts:
            values = [
                names.only_value(one) if isinstance(one, ast.Name) else one for one in listed.elts
            ]
            if all(
                value is not None and name_of(module, value) in VARIABLES.by_name
                for value in values
            ):
                return True
    return False


def _shares(function: Function, graph: CallGraph) -> bool:
    """Whether the calls of a function share its variables, which its callers' callers own."""
    reuses = (part.arg == "reuse" for part in walk(function.node) if isinstance(part, ast.keyword))
    return any(reuses) and len(graph.references(function)) > 1


def lines_of(module: Module, graph: CallGraph, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run one after the other, those of `with` blocks and the main guard too.

    And those of a tower: each tower runs them once.
    """
    for statement in body:
        yield statement
        if (
            isinstance(statement, ast.With)
            or is_main_guard(statement)
            or read_towers(module, statement, graph) is not None
        ):
            assert isinstance(statement, (ast.With, ast.If, ast.For))
            yield from lines_of(module, graph, statement.body)
