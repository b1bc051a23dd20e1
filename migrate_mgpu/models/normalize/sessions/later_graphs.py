"""A script that builds a second graph behind its first session, and uses nothing of the first.

It gets `tf.reset_default_graph()` between both, which the readers know as the beginning of another
graph: without it TF1 builds the second one beside the first, where nothing asks for it any more.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.graph import INITIALIZES, SETTINGS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import is_reset, session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# What is about all that is in a graph.
_OF_ALL = (
    "get_collection", "trainable_variables", "global_variables", "all_variables",
    "local_variables", "model_variables", "losses.get_", "summary.merge_all",
    "get_default_graph", "train.get_global_step",
    "train.get_or_create_global_step",
)  # fmt: skip


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edit that begins the next graph; none where there is none, or it is no graph apart."""
    block = module.tree.body
    makers = [module.names.statement(call) for call in session_calls(module)]
    used = {use.symbol.name for use in module.uses} - INITIALIZES
    if len(makers) < 2 or any(name.startswith(_OF_ALL) for name in used) or _reuses(module):
        return []
    if not all(maker in block for maker in makers):
        return []
    for earlier, later in zip(makers, makers[1:]):
        between = block[block.index(earlier) + 1 : block.index(later)]
        names = _names_of(module, earlier)
        runs = [
            one for one in between if names & {n.id for n in walk(one) if isinstance(n, ast.Name)}
        ]
        behind = between[between.index(runs[-1]) + 1 :] if runs else between
        first = next((one for one in behind if _builds(module, one)), None)
        if first is None or any(is_reset(module, one) for one in behind):
            continue
        if _is_apart(module, first):
            layout, call = Layout(module.source, first), session_calls(module)[0]
            text = module.source.code(call.func)
            root = text[: -len(name_of(module, call))]
            if layout.owns_start and root:
                return [layout.insert_paragraph([f"{root}reset_default_graph()"])]
    return []


def _reuses(module: Module) -> bool:
    """Whether something may take a variable by the name that an earlier one has."""
    told = (keyword.arg for call in module.names.calls for keyword in call.keywords)
    return "reuse" in told or "reuse_variables" in module.names.attributes


def _names_of(module: Module, maker: ast.stmt) -> set[str]:
    """What a statement calls the session that it makes."""
    targets = maker.targets if isinstance(maker, ast.Assign) else []
    items = maker.items if isinstance(maker, ast.With) else []
    every = [*targets, *(item.optional_vars for item in items if item.optional_vars is not None)]
    return {node.id for one in every for node in walk(one) if isinstance(node, ast.Name)}


def _builds(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement makes a part of a graph itself."""
    names = [name_of(module, n) for n in walk(statement) if isinstance(n, ast.Call)]
    inner = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return not isinstance(statement, inner) and any(
        name and not name.startswith(SETTINGS) and "Session" not in name for name in names
    )


def _is_apart(module: Module, first: ast.stmt) -> bool:
    """Whether nothing from a statement on reads what was built above it."""
    built: set[str] = set()
    for statement in module.tree.body:
        if statement is first:
            break
        for inner in walk(statement):
            if isinstance(inner, (ast.Assign, ast.AugAssign)) and not _runs(inner):
                read = {n.id for n in walk(inner.value) if isinstance(n, ast.Name)}
                if _builds(module, inner) or built & read or _is_made(module, inner.value):
                    targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                    built |= {n.id for t in targets for n in walk(t) if isinstance(n, ast.Name)}
    return all(_is_made_again(module, name, first) for name in built)


def _is_made_again(module: Module, name: str, first: ast.stmt) -> bool:
    """Whether a name has another value wherever a statement, or one below, reads it."""
    names, home = module.names, module.names.module_scope
    mentions = names.mentions(name, home)
    if any(names.scope_of_name[one] is not home for one in mentions):
        return False  # a function reads it, whenever it is called
    later = [one for one in mentions if position(one) >= position(first)]
    reads: list[ast.stmt] = []
    made: list[ast.stmt] = []
    for statement, mention in ((names.statement(one), one) for one in later):
        stored = isinstance(mention.ctx, ast.Store) and not isinstance(statement, ast.AugAssign)
        (made if stored else reads).append(statement)
    return all(any(_comes_before(module, store, one) for store in made) for one in reads)


def _comes_before(module: Module, statement: ast.stmt, other: ast.stmt) -> bool:
    """Whether a statement has run whenever another one does."""
    if _is_straight(module, statement):
        return position(statement) < position(other)
    around = {other, *module.names.ancestors(other)}
    block = module.names.block(statement)
    return any(one in around for one in block[block.index(statement) + 1 :])


def _is_straight(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement runs once, whatever happens."""
    above = module.names.ancestors(statement)
    return all(isinstance(one, (ast.With, ast.Module)) for one in above)


def _runs(statement: ast.Assign | ast.AugAssign) -> bool:
    """Whether a statement names what a run gives."""
    calls = (node.func for node in walk(statement.value) if isinstance(node, ast.Call))
    return any(isinstance(f, ast.Attribute) and f.attr in ("run", "eval") for f in calls)


def _is_made(module: Module, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a statement calls a function of the module's that builds."""
    for call in (one for one in walk(node) if isinstance(one, ast.Call)):
        known = module.names.only_definition(call.func) if isinstance(call.func, ast.Name) else None
        if known is None or known in seen:
            continue
        if not isinstance(known, ast.FunctionDef):
            return True
        if any(_builds(module, one) for one in known.body) or _is_made(
            module, known, seen | {known}
        ):
            return True
    return False
