"""Functions and classes that nothing calls, and that build a part of TF1's graph: they go.

    def test_accuracy(images, labels):
        logits = network.scores(images, training=False)
        ...

of a program that only trains would be left without its graph: its network becomes a class, whose
variables the training makes. A function that makes a session is a program's other half, and stays,
unless it stands in a module that is only imported: there it tries what the module has. What only
computes is TF2's as well. So is a class of a base, which may know those that inherit it.

A method goes where nothing has its name, and no object of its class is given to other code than
the program's own: a library may call what nothing here does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.api.graph import COMPUTES, CONTROL, SETTINGS
from migrate_mgpu.models.front.session.scope import constructor_of, session_calls
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_functions

HELPED = "only methods that nothing calls call `{}`: it is left out with them"
TOLD = "nothing calls `{}`, which builds a part of TF1's graph: it is left out"
# What finds a function by a name that is no name in the code.
_DYNAMIC = (
    "builtins.globals", "builtins.locals", "builtins.vars", "builtins.eval", "builtins.exec",
    "builtins.dir", "builtins.__import__", "importlib.import_module", "fire.Fire",
)  # fmt: skip
_IMPORTS = ("builtins.__import__", "importlib.import_module")
_DEPTH = 8  # functions that give an object to one another
_TESTS = re.compile(r"(test_.*|.*_test|conftest|tests)")


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for all such functions; none where there is none.

    ``own`` are the modules that no other program has: nothing else changes.
    """
    found: dict[Module, list[ast.stmt]] = {}
    for module, node in unread(modules, graph):
        if module in own:
            found.setdefault(module, []).append(node)
    return {module: without_functions(module.source, nodes) for module, nodes in found.items()}


Definition = ast.FunctionDef | ast.ClassDef


def unread(modules: Sequence[Module], graph: CallGraph) -> Iterator[tuple[Module, Definition]]:
    """What goes of a program, each with its module."""
    if any(map(_is_dynamic, modules)):
        return
    imported = {one for module in modules for one in module.imported}
    left = [
        (module, node)
        for module in modules
        for node in _definitions(module, module in imported and not module.has_main_guard)
    ]
    left += ((module, node) for module in modules for node in _methods(module, graph))
    gone: set[ast.AST] = set()
    going: list[tuple[Module, Definition]] = []
    while left:
        found = [one for one in left if not _is_mentioned(*one, modules, gone)]
        left = [one for one in left if one not in found]
        if not found:
            break
        for module, node in found:
            helped = node not in module.tree.body and _is_mentioned(module, node, modules, set())
            gone |= {node, *(node.body if isinstance(node, ast.ClassDef) else ())}
            if helped or _builds(module, node, graph):
                going.append((module, node))
    for module, node in going:
        if module.names.parents[node] not in gone:  # or its class goes
            yield module, node


def told(module: Module, node: Definition, graph: CallGraph) -> str:
    """What is said of one that goes."""
    return (TOLD if _builds(module, node, graph) else HELPED).format(node.name)


def _is_mentioned(
    module: Module, node: Definition, modules: Sequence[Module], gone: Set[ast.AST]
) -> bool:
    """Whether something may call a function or a class, besides what goes."""
    left = gone | {node, *(node.body if isinstance(node, ast.ClassDef) else ())}
    method = node not in module.tree.body
    if not method and not _own_mentions(module).get(node.name, set()) <= left:
        return True
    return any(not _mentions(other).get(node.name, set()) <= left for other in modules)


def _definitions(module: Module, with_sessions: bool) -> Iterator[Definition]:
    """The functions and classes of a module that a call alone may reach.

    ``with_sessions``: also functions that make some.
    """
    if isinstance(module.source, Notebook) or _TESTS.fullmatch(module.path.stem):
        return
    sessions = {id(call) for call in session_calls(module)}
    for node in module.tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.decorator_list:
            continue
        if isinstance(node, ast.ClassDef) and not _is_plain(node):
            continue
        if node.name == "main" or node.name.startswith("__"):
            continue
        alone = len(module.names.module_scope.bindings.get(node.name, ())) == 1
        makes = any(id(part) in sessions for part in walk(node))
        if alone and (not makes or (with_sessions and isinstance(node, ast.FunctionDef))):
            yield node


def _methods(module: Module, graph: CallGraph) -> Iterator[ast.FunctionDef]:
    """The methods of a module's classes that a call by their name alone may reach."""
    if isinstance(module.source, Notebook) or _TESTS.fullmatch(module.path.stem):
        return
    sessions = {id(call) for call in session_calls(module)}
    for owner in module.tree.body:
        if not isinstance(owner, ast.ClassDef) or owner.decorator_list or not _is_plain(owner):
            continue
        constructor = constructor_of(owner)
        if constructor is None or not _are_kept(module, owner, constructor, graph):
            continue
        names = [one.name for one in owner.body if isinstance(one, ast.FunctionDef)]
        for node in owner.body:
            if not isinstance(node, ast.FunctionDef) or node.decorator_list:
                continue
            if node.name.startswith("__") or names.count(node.name) > 1:
                continue
            if not any(id(part) in sessions for part in walk(node)):
                yield node


def _are_kept(
    module: Module, owner: ast.ClassDef, constructor: ast.FunctionDef, graph: CallGraph
) -> bool:
    """Whether the objects of a class are given to no other code than the program's own."""
    for method in owner.body:
        given = method.args.args if isinstance(method, ast.FunctionDef) else []
        if given and not _is_kept(module, module.names.scopes[method], given[0].arg, graph, 0):
            return False
    for one in graph.references(Function(module, constructor)):
        names = one.module.names
        made = names.parents.get(one.call) if one.call is not None else None
        if not isinstance(made, ast.Assign) or len(made.targets) > 1:
            return False
        target = made.targets[0]
        if not isinstance(target, ast.Name):
            return False
        if not _is_kept(one.module, names.scope_of_name[target], target.id, graph, 0):
            return False
    return True


def _is_kept(module: Module, scope: Scope, name: str, graph: CallGraph, depth: int) -> bool:
    """Whether what a name stands for is asked for attributes, and given to known functions."""
    names = module.names
    if depth > _DEPTH:
        return False
    for mention in names.mentions(name, scope):
        parent = names.parents.get(mention)
        if isinstance(parent, ast.Attribute) or not isinstance(mention.ctx, ast.Load):
            continue
        call = names.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        target = graph.target(module, call.func) if isinstance(call, ast.Call) else None
        if target is None or not isinstance(target.node, ast.FunctionDef):
            return False
        assert isinstance(call, ast.Call)
        bound = [key for key, value in bind(call, target).values().items() if value is mention]
        if len(bound) != 1:
            return False
        inner = target.module.names.scopes[target.node]
        if not _is_kept(target.module, inner, bound[0], graph, depth + 1):
            return False
    return True


def _is_plain(node: ast.ClassDef) -> bool:
    """Whether a class only has methods, and constants, and inherits nothing."""
    bases = all(isinstance(base, ast.Name) and base.id == "object" for base in node.bases)
    return bases and not node.keywords and all(
        isinstance(one, (ast.FunctionDef, ast.Pass))
        or isinstance(getattr(one, "value", None), ast.Constant)
        for one in node.body
    )  # fmt: skip


@fact_of_text
def _is_dynamic(module: Module) -> bool:
    """Whether a module may find a function by a text."""
    if "__all__" in module.source.text or "__dict__" in module.source.text:
        return True
    for call in module.names.calls:
        name = module.names.qualname(call.func)
        told = call.args and isinstance(constant(call.args[0]), str) and name in _IMPORTS
        if name in _DYNAMIC and not told:
            return True
        if name == "builtins.getattr" and len(call.args) > 1:
            if not isinstance(constant(call.args[1]), str):
                return True
    return False


@fact_of_text
def _own_mentions(module: Module) -> dict[str, set[ast.AST]]:
    """Names of a module's own that it mentions, with the functions and statements that do."""
    found: dict[str, set[ast.AST]] = {}
    names = module.names
    for home in module.tree.body:
        for part in walk(home):
            if isinstance(part, ast.Name) and part in names.scope_of_name:
                scope = names.defining_scope(part.id, names.scope_of_name[part])
                if scope is names.module_scope:
                    found.setdefault(part.id, set()).add(home)
    return found


@fact_of_text
def _mentions(module: Module) -> dict[str, set[ast.AST]]:
    """What may be a name of another module: attributes, imports, names without one, texts."""
    found: dict[str, set[ast.AST]] = {}
    names = module.names
    for home, part in _parts(module):
        told: list[str] = []
        if isinstance(part, ast.Name) and part in names.scope_of_name:
            known = names.defining_scope(part.id, names.scope_of_name[part])
            found_here = known.bindings.get(part.id, ()) if known is not None else ()
            told = [part.id] if all(one.kind == "import" for one in found_here) else []
        elif isinstance(part, ast.Attribute):
            dotted = names.qualname(part) or ""
            told = [] if dotted.startswith("tensorflow.") else [part.attr]
        elif isinstance(part, (ast.Import, ast.ImportFrom)):
            told = [alias.name for alias in part.names]
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            told = [part.value.rpartition(".")[2]]
        for name in told:
            found.setdefault(name, set()).add(home)
    return found


def _parts(module: Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """All nodes of a module, each with the function, method or statement that it stands in."""
    for home in module.tree.body:
        methods = home.body if isinstance(home, ast.ClassDef) else []
        inside = [one for one in methods if isinstance(one, ast.FunctionDef)]
        for method in inside:
            yield from ((method, part) for part in walk(method))
        known = {id(part) for method in inside for part in walk(method)}
        yield from ((home, part) for part in walk(home) if id(part) not in known)


def _builds(module: Module, node: Definition, graph: CallGraph) -> bool:
    """Whether one does more with TensorFlow than compute, itself or what it calls."""
    if _uses(module, node):
        return True
    for call in (part for part in walk(node) if isinstance(part, ast.Call)):
        target = graph.target(module, call.func)
        if target is not None and _uses(target.module, target.node):
            return True
    return False


def _uses(module: Module, node: ast.AST) -> bool:
    inside = {id(part) for part in walk(node)}
    return any(
        id(use.node) in inside
        and use.symbol.name
        and use.symbol.name not in COMPUTES
        and use.symbol.name not in CONTROL
        and not use.symbol.name.startswith((*SETTINGS, "data.Dataset."))
        for use in module.uses
    )
