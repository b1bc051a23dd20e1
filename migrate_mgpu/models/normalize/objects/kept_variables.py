"""Variables that other code asks the graph of an object for: the object has them.

`weights = tf.trainable_variables()[0]`, behind what makes the object, becomes
`self.weights = tf.trainable_variables()[0]` at the end of its constructor, and `agent.weights`
where it is run. The list only grows: what is counted from its beginning stays the same variable.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.models.normalize.sessions.merged_summaries import taken
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_LISTS = ("trainable_variables", "global_variables", "all_variables")


def kept(
    module: Module,
    graph: CallGraph,
    owner: ast.ClassDef,
    constructor: ast.FunctionDef,
    shared: SharedGraph | None,
) -> list[Edit]:
    """The edits for one variable; none where other code asks for none.

    ``shared``: several programs have the class, and this one only may ask.
    """
    if shared is not None or not may_be_added_to(module, constructor):
        return []
    inside = {*walk(owner)}
    methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
    known = calls_of_names(module)
    for call in (call for name in _LISTS for call in known.get(name, ())):
        item = module.names.parents.get(call)
        if call in inside or not isinstance(item, ast.Subscript) or call.args or call.keywords:
            continue
        place, statement = constant(item.slice), module.names.parents[item]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(place, int) or place < 0 or not isinstance(target, ast.Name):
            continue
        if target.id in module.names.attributes or target.id in methods:
            continue
        comment = Layout(module.source, module.names.statement(item)).trailing_comment
        found = taken(module, graph, owner, item, target.id)
        if found:
            line = f"{constructor.args.args[0].arg}.{target.id} = {module.source.code(item)}"
            line += f"  {comment}" if comment else ""
            return [*found, at_the_end(module, constructor, [line])]
    return []
