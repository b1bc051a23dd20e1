"""A model_fn that is a static method, or of an object that is made where the Estimator is.

``Estimator(Model.model_fn)`` of a static or class method becomes ``Estimator(model_fn)`` of a
function above its class; ``Estimator(Model(3).model_fn)`` and ``Estimator(Model(3))``, of an
object that is called itself, the method of an object in a variable, which `methods` normalizes.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.estimators.methods import inherited
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.header_edit import read_header
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

Edits = dict[Module, list[Edit]]


def normalize(flow: EstimatorFlow, graph: CallGraph) -> Edits:
    """The edits; none where the model_fn is none of these."""
    given = flow.arguments.get("model_fn")
    if isinstance(given, ast.Attribute):
        owner = _class_of(flow.module, given.value)
        method = _method(owner, given.attr) if owner is not None else None
        if method is not None and method.decorator_list and owner is not None:
            return _static(flow, graph, owner, method)
        if isinstance(given.value, ast.Call) and owner is not None:
            return _in_a_variable(flow, given.value)
        return {}
    owner = _class_of(flow.module, given) if given is not None else None
    for one in inherited(flow.module, owner) if owner is not None else ():
        method = _method(one, "__call__")
        if method is not None and owner is not None and given is not None:
            return _called(flow, graph, given, owner, method)
    return {}


def _class_of(module: Module, node: ast.expr) -> ast.ClassDef | None:
    """The class of the module that an expression is, or is an object of."""
    names = module.names
    if isinstance(node, ast.Name) and node.id in ("self", "cls"):
        return names.class_around(node)
    for _ in range(3):
        if isinstance(node, ast.Call):
            node = node.func
        if not isinstance(node, ast.Name) or node not in names.scope_of_name:
            return None
        binding = names.only_binding(node)
        if binding is None:
            return None
        if isinstance(binding.node, ast.ClassDef):
            return binding.node
        if not isinstance(binding.value, ast.Call):
            return None
        node = binding.value
    return None


def _method(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = [s for s in owner.body if isinstance(s, ast.FunctionDef) and s.name == name]
    return found[0] if len(found) == 1 else None


def _mentions(flow: EstimatorFlow, graph: CallGraph, name: str) -> list[ast.Attribute] | None:
    """Where an attribute is read; None where another module reads one of that name."""
    modules = graph.project.modules.values()
    if any(m.names.attributes.get(name) for m in modules if m is not flow.module):
        return None
    return list(flow.module.names.attributes.get(name, ()))


# -- static methods ---------------------------------------------------------


def _static(
    flow: EstimatorFlow,
    graph: CallGraph,
    owner: ast.ClassDef,
    method: ast.FunctionDef,
) -> Edits:
    """The method becomes a function above its class."""
    module, names, source = flow.module, flow.module.names, flow.module.source
    kinds = [names.qualname(one) for one in method.decorator_list]
    if kinds not in (["builtins.staticmethod"], ["builtins.classmethod"]):
        return {}
    if not isinstance(names.parents[owner], ast.Module) or owner.keywords:
        return {}
    drop = kinds == ["builtins.classmethod"]
    arguments = method.args.args
    if drop and (not arguments or _uses(method, arguments[0].arg)):
        return {}
    if _uses(method, "super") or method.name in names.module_scope.bindings:
        return {}
    mentions = _mentions(flow, graph, method.name)
    if mentions is None or any(_class_of(module, m.value) is not owner for m in mentions):
        return {}
    inner = []
    first = source.span(method.decorator_list[0])[0]
    start = source.text.rindex("@", 0, first)
    inner.append(Edit(start, source.span(method)[0], ""))
    if drop:
        begin, end = source.span(arguments[0])
        end = source.span(arguments[1])[0] if len(arguments) > 1 else end
        inner.append(Edit(begin, end, ""))
    block = Block(source, "")
    block.statement(method, inner)
    newline = source.newline
    place = start_with_comments(source.text, Layout(source, owner).line_start)
    found = [Edit(place, place, block.text().strip() + newline * 3)]
    layout = Layout(source, method)
    stays = [s for s in owner.body if s is not method and not _is_text(s)]
    top = start_with_comments(source.text, source.line_starts[method.decorator_list[0].lineno - 1])
    text = "" if stays else f"{source.indent_of(method)}pass{newline}"
    found.append(Edit(len(source.text[:top].rstrip()) + len(newline), layout.next_line, text))
    found += [Edit(*source.span(mention), method.name) for mention in mentions]
    return {module: found}


def _uses(method: ast.FunctionDef, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in walk(method))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# -- objects ----------------------------------------------------------------


def _in_a_variable(flow: EstimatorFlow, made: ast.Call) -> Edits:
    """The object gets a name, in a statement above the Estimator's."""
    module, names, source = flow.module, flow.module.names, flow.module.source
    statement = names.statement(flow.call)
    layout = Layout(source, statement)
    if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) or not layout.owns_lines:
        return {}
    if statement.value is not flow.call:
        return {}
    name = names.fresh(names.scope_at(statement), "model", "network")
    line = f"{layout.indent}{name} = {source.code(made)}{source.newline}"
    place = Edit(layout.line_start, layout.line_start, line)
    return {module: [place, Edit(*source.span(made), name)]}


def _called(
    flow: EstimatorFlow,
    graph: CallGraph,
    given: ast.expr,
    owner: ast.ClassDef,
    method: ast.FunctionDef,
) -> Edits:
    """`__call__` gets a name, which nothing but the Estimator calls."""
    module, names, source = flow.module, flow.module.names, flow.module.source
    mentions = _mentions(flow, graph, "model_fn")
    if mentions is None or mentions:
        return {}
    made = [
        mention for mention in names.by_id.get(owner.name, ()) if isinstance(mention.ctx, ast.Load)
    ]
    others = (m for m in graph.project.modules.values() if module in m.imported)
    if len(made) != 1 or any(owner.name in other.source.text for other in others):
        return {}
    if isinstance(given, ast.Name):
        home = names.defining_scope(given.id, names.scope_of_name[given])
        reads = names.mentions(given.id, home) if home is not None else []
        for read in (one for one in reads if isinstance(one.ctx, ast.Load)):
            if read is not given and not isinstance(names.parents[read], ast.Attribute):
                return {}
    elif not isinstance(given, ast.Call):
        return {}
    start, stop = read_header(source, method).name
    end = source.span(given)[1]
    return {module: [Edit(start, stop, "model_fn"), Edit(end, end, ".model_fn")]}
