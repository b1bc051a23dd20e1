"""`reuse=tf.AUTO_REUSE` of a scope that a graph enters once: there are no variables to share yet.

    def birnn(inputs, scope):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            ...

    left, right = birnn(x, "left"), birnn(y, "right")

becomes `with tf.variable_scope(scope):`, where no other scope may have one of these names. So does
a scope within one that is told the same, `reuse=reuse`: it has that anyway. So does
one that a loop enters by another number in each turn:

    for i in range(blocks):
        with tf.variable_scope("block_%d" % i, reuse=tf.AUTO_REUSE):
            ...
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_SCOPE = ("name_or_scope", "default_name")
_KINDS = ("variable_scope", "variable_op_scope", "make_template")
_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp)  # fmt: skip


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such scope; none where there is none."""
    for call in calls_of_names(module).get("variable_scope", ()):
        reuse = next((one.value for one in call.keywords if one.arg == "reuse"), None)
        if not (reuse is not None and _is_automatic(module, reuse)):
            continue
        names = _names(module, call, graph)
        if not names or len(set(names)) != len(names):
            continue
        if _others([call], set(names), modules, graph):
            continue
        if any(_may_be(one.split("/")[0], names) for one in _texts(modules, names)):
            continue
        edit = CallEdit(module.source, call)
        edit.drop_value(reuse)
        return [*edit.edits()]
    return []


def repeated(module: Module) -> list[Edit]:
    """The edits for a scope that says of its variables what the one around it says."""
    names = module.names
    for call in calls_of_names(module).get("variable_scope", ()):
        reuse = _told(call)
        if not isinstance(reuse, ast.Name) or not names.is_parameter(reuse):
            continue
        block = names.parents.get(names.parents.get(call, call))
        if not isinstance(block, ast.With) or len(names.bindings_of(reuse)) != 1:
            continue
        for outer in names.ancestors(block):
            if isinstance(outer, (ast.FunctionDef, ast.Lambda)):
                break
            said = [_told(one.context_expr) for one in getattr(outer, "items", ())]
            if any(isinstance(one, ast.Name) and one.id == reuse.id for one in said):
                edit = CallEdit(module.source, call)
                edit.drop_value(reuse)
                return [*edit.edits()]
    return []


def _told(call: ast.expr) -> ast.expr | None:
    found = call.keywords if isinstance(call, ast.Call) else []
    return next((one.value for one in found if one.arg == "reuse"), None)


_NUMBER = "%d"  # what ends a name that a loop counts


def _may_be(name: str, names: Sequence[str] | set[str]) -> bool:
    """Whether a name may be one of several, any of which may end with a number: `block_%d`."""
    return any(_may_equal(name, one) for one in names)


def _may_equal(name: str, other: str) -> bool:
    counted = [one for one in (name, other) if one.endswith(_NUMBER)]
    if not counted:
        return name == other
    ends = sorted(
        (one[: -len(_NUMBER)] if one.endswith(_NUMBER) else one for one in (name, other)), key=len
    )
    if len(counted) == 1 and ends[0] + _NUMBER != counted[0]:
        return False  # what is counted is longer
    rest = ends[1][len(ends[0]) :]
    return ends[1].startswith(ends[0]) and re.fullmatch(r"-?\d*", rest) is not None


def _counted(module: Module, name: ast.expr | None) -> str:
    """`"block_%d" % i` as the texts of which it is one; empty for all else."""
    if not isinstance(name, ast.BinOp) or not isinstance(name.op, ast.Mod):
        return ""
    text = constant(name.left)
    if not isinstance(text, str) or "/" in text or not isinstance(name.right, ast.Name):
        return ""
    return text if text.endswith(_NUMBER) and text.count("%") == 1 else ""


def _counts(module: Module, name: ast.BinOp) -> ast.For | None:
    """The loop whose turns give a name other numbers, if that is the one loop around it."""
    loops = [one for one in _around(module, name) if isinstance(one, _LOOPS)]
    loop = loops[0] if len(loops) == 1 else None
    if not isinstance(loop, ast.For) or not isinstance(name.right, ast.Name):
        return None
    over, target = loop.iter, loop.target
    if not isinstance(over, ast.Call):
        return None
    called = module.names.qualname(over.func)
    if called == "builtins.enumerate" and isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[0]
    elif called != "builtins.range":
        return None
    given = [
        part
        for part in walk(loop)
        if isinstance(part, ast.Name)
        and part.id == name.right.id
        and not isinstance(part.ctx, ast.Load)
    ]
    return loop if given == [target] else None


def shared(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for a scope that is entered several times in a row; none where there is none."""
    names = module.names
    found: dict[tuple[ast.AST, str], list[tuple[ast.Call, ast.expr]]] = {}
    for call in sorted(calls_of_names(module).get("variable_scope", ()), key=position):
        reuse = next((one.value for one in call.keywords if one.arg == "reuse"), None)
        told = by_parameter(call, _SCOPE)
        name = constant(told["name_or_scope"]) if "name_or_scope" in told else None
        if reuse is None or not _is_automatic(module, reuse) or len(call.args) != 1:
            continue
        if not isinstance(name, str) or "/" in name or "default_name" in told:
            continue
        block = names.parents.get(names.parents.get(call, call))
        home = names.scope_at(call).node
        body = home.body if isinstance(home, (ast.Module, ast.FunctionDef)) else []
        if block in body and _once(module, call, graph):
            found.setdefault((home, name), []).append((call, reuse))
    for (_, name), entered in found.items():
        calls = [one for one, _ in entered]
        if len(calls) < 2 or _others(calls, {name}, modules, graph):
            continue
        if any(one.split("/")[0] == name for one in _texts(modules, [name] * len(calls))):
            continue
        functions = {_only_called(module, one, graph) for one in calls}
        if len(functions) != 1 or None in functions:
            continue
        edit = CallEdit(module.source, calls[0])
        edit.drop_value(entered[0][1])
        later = [Edit(*module.source.span(reuse), "True") for _, reuse in entered[1:]]
        return [*edit.edits(), *later]
    return []


def _only_called(module: Module, call: ast.Call, graph: CallGraph) -> ast.AST | None:
    """The one function that a scope's block calls, which does no more than to name its value."""
    block = module.names.parents.get(module.names.parents.get(call, call))
    if not isinstance(block, ast.With) or len(block.items) != 1 or len(block.body) != 1:
        return None
    if block.items[0].optional_vars is not None:
        return None
    statement = block.body[0]
    made = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(made, ast.Call):
        return None
    target = graph.target(module, made.func)
    inner = [one for one in walk(made) if isinstance(one, ast.Call) and one is not made]
    if any(graph.target(module, one.func) is not None for one in inner):
        return None
    return target.node if target is not None else None


def _is_automatic(module: Module, node: ast.expr) -> bool:
    return (module.names.qualname(node) or "").endswith("tensorflow.AUTO_REUSE")


def _texts(modules: Sequence[Module], names: Sequence[str]) -> list[str]:
    """The other texts of a program, which may name a layer or a variable: once is the scope's."""
    found = [
        part.value
        for module in modules
        for part in walk(module.tree)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    for name in names:
        found.remove(name)
    return found


def _others(
    calls: Sequence[ast.Call], names: set[str], modules: Sequence[Module], graph: CallGraph
) -> bool:
    """Whether another scope may have one of these names."""
    for module in modules:
        for kind in _KINDS:
            for other in calls_of_names(module).get(kind, ()):
                if other in calls:
                    continue
                if kind != "variable_scope":
                    return True
                told = by_parameter(other, _SCOPE).get("name_or_scope")
                known = constant(told) if told is not None else None
                counted = _counted(module, told)
                found = {known} if isinstance(known, str) else {counted} if counted else set()
                found = found or _given(module, told, graph)
                if not found or any(_may_be(one.split("/")[0], names) for one in found):
                    return True
    return False


def _given(module: Module, name: ast.expr | None, graph: CallGraph) -> set[str]:
    """The texts that a parameter is given by the calls of its function; none where one is not."""
    function = _function(module, name)
    if function is None or not isinstance(name, ast.Name):
        return set()
    found: set[str] = set()
    for reference in graph.references(function):
        if reference.call is None:
            return set()
        value = constant(bind(reference.call, function).given(name.id))
        if not isinstance(value, str):
            return set()
        found.add(value)
    return found


def _function(module: Module, name: ast.expr | None) -> Function | None:
    """The function of which a name is a parameter, that is given nothing else."""
    binding = module.names.only_binding(name) if isinstance(name, ast.Name) else None
    if binding is None or binding.kind != "parameter" or not isinstance(name, ast.Name):
        return None
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    node = home.function() if home is not None else None
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    return Function(module, node)


def _names(module: Module, call: ast.Call, graph: CallGraph) -> list[str]:
    """The names by which the graph enters a scope, each time; none where that is not known."""
    told = by_parameter(call, _SCOPE)
    name = told.get("name_or_scope")
    if name is None or "default_name" in told or len(call.args) != 1:
        return []
    known = constant(name)
    if isinstance(known, str):
        return [known] if "/" not in known and _once(module, call, graph) else []
    counted = _counted(module, name)
    if counted and isinstance(name, ast.BinOp):
        loop = _counts(module, name)
        return [counted] if loop is not None and _once(module, loop, graph) else []
    function = _function(module, name)
    if function is None or not isinstance(name, ast.Name) or _in_loop(module, call):
        return []
    found: list[str] = []
    for reference in graph.references(function):
        if reference.call is None or reference.module is not module:
            return []
        value = constant(bind(reference.call, function).given(name.id))
        if not isinstance(value, str) or "/" in value:
            return []
        if not _once(module, reference.call, graph):
            return []
        found.append(value)
    return found


def _around(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """What stands around a node within its function."""
    for one in module.names.ancestors(node):
        if isinstance(one, ast.FunctionDef):
            return
        yield one


def _in_loop(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in a loop of the function around it."""
    return any(isinstance(one, _LOOPS) for one in _around(module, node))


def _begins_graph(module: Module, node: ast.AST, function: ast.FunctionDef) -> bool:
    """Whether a function resets the graph before it comes to a node in it."""
    for statement in function.body:
        if statement is node or any(part is node for part in walk(statement)):
            return False
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and name_of(module, call) == "reset_default_graph":
            return True
    return False


def _once(module: Module, node: ast.AST, graph: CallGraph, deep: int = 0) -> bool:
    """Whether a program comes to a node once at most with each graph."""
    if deep > 5 or _in_loop(module, node):
        return False
    around = next(
        (one for one in module.names.ancestors(node) if isinstance(one, ast.FunctionDef)), None
    )
    if around is None:
        return not any(isinstance(one, ast.ClassDef) for one in module.names.ancestors(node))
    if around.decorator_list:
        return False
    if _begins_graph(module, node, around):
        return True
    owner = module.names.parents.get(around)
    if isinstance(owner, ast.ClassDef) and around.name != "__init__":
        return False
    function = Function(module, around)
    references = list(graph.references(function))
    if len(references) != 1 or references[0].call is None:
        return False
    return _once(references[0].module, references[0].call, graph, deep + 1)
