"""What a model_fn does to its process: that is done where its Estimator is made, or not at all.

    def model_fn(features, labels, mode):
        ...
        os.environ["CUDA_VISIBLE_DEVICES"] = "2"
        sess = tf.Session(config=tf.ConfigProto())
        sess.run([])
        return tf.estimator.EstimatorSpec(...)

A variable of the environment is set above the Estimator, whose model_fn has run before anything
trains, or above `app.run`, where TF2 reads those for CUDA. A session that runs nothing, with the
options that all have, made TF1 start: it goes.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.app_runs import app_run
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_IDLE = ("run", "close")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such statements of one model_fn, of which there is one Estimator."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module, node = function.module, function.node
    references = graph.references(function)
    if module is not flow.module or not module.writable or len(references) != 1:
        return {}
    started = app_run(module)
    place = flow.statement if started is None else started
    edits: list[Edit] = []
    above: list[str] = []
    for statement in node.body:
        layout = Layout(module.source, statement)
        if not layout.owns_lines:
            continue
        if _sets_environment(module, statement):
            if not _known_above(module, place):
                return {}
            above.append(module.source.code(statement))
            edits.append(without_paragraph(module.source, statement))
        else:
            found = _idle_session(module, node, statement)
            edits += [without_paragraph(module.source, one) for one in found]
    if above:
        layout = Layout(module.source, place)
        if not layout.owns_lines:
            return {}
        edits.append(layout.insert_before(above))
    return {module: edits} if edits else {}


def _sets_environment(module: Module, statement: ast.stmt) -> bool:
    """`os.environ["..."] = "..."`"""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Subscript) or not isinstance(statement, ast.Assign):
        return False
    known = module.names.qualname(target.value) == "os.environ" and len(statement.targets) == 1
    return known and all(isinstance(constant(one), str) for one in (target.slice, statement.value))


def _known_above(module: Module, place: ast.stmt) -> bool:
    """Whether `os` is imported once, above a statement that runs once."""
    names = module.names
    bindings = names.module_scope.bindings.get("os", ())
    if len(bindings) != 1 or names.statement(bindings[0].node) not in module.tree.body:
        return False
    scope = names.scope_at(place)
    if "os" in scope.bindings and not scope.is_module:
        return False
    return names.statement(bindings[0].node).lineno < place.lineno


def _idle_session(module: Module, function: ast.FunctionDef, statement: ast.stmt) -> list[ast.stmt]:
    """A session that runs `[]`, with its config, and what runs and ends it."""
    names = module.names
    made = statement.value if isinstance(statement, ast.Assign) else None
    name = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(made, ast.Call) or not isinstance(name, ast.Name) or made.args:
        return []
    if tensorflow_name(module, made.func) != "Session":
        return []
    scope = names.scopes[function]
    found: list[ast.stmt] = [statement]
    for mention in names.mentions(name.id, scope):
        if mention is name:
            continue
        used = names.statement(mention)
        call = used.value if isinstance(used, ast.Expr) else None
        if not isinstance(call, ast.Call) or names.parents[mention] is not call.func:
            return []
        if used not in function.body or not _does_nothing(call):
            return []
        found.append(used)
    for keyword in made.keywords:
        if keyword.arg != "config":
            return []
        config = keyword.value
        if isinstance(config, ast.Name):
            binding = names.only_binding(config)
            if (
                binding is None
                or binding.value is None
                or len(names.mentions(config.id, scope)) != 2
            ):
                return []
            found.append(names.statement(binding.value))
            config = binding.value
            if found[-1] not in function.body:
                return []
        if not isinstance(config, ast.Call) or config.args or config.keywords:
            return []
        if tensorflow_name(module, config.func) != "ConfigProto":
            return []
    return found if all(Layout(module.source, one).owns_lines for one in found) else []


def _does_nothing(call: ast.Call) -> bool:
    """`sess.run([])`, `sess.close()`"""
    assert isinstance(call.func, ast.Attribute)
    if call.keywords or call.func.attr not in _IDLE:
        return False
    if call.func.attr == "close":
        return not call.args
    return len(call.args) == 1 and isinstance(call.args[0], ast.List) and not call.args[0].elts
