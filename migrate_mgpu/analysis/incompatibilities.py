"""What keeps a module from running on TF2, whatever else is done to its program."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.lost_names import advice_about
from migrate_mgpu.analysis.module import Module, Use, fact, fact_of_text
from migrate_mgpu.analysis.python_2 import old_iterators
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.analysis.symbols import symbol, table

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PYTHON_2 = "python-2"  # the key of what is said of those
_CONVERT = "convert the file to Python 3 first, for example with 2to3"
GONE = "gone-name"  # where it is asked for as its file is imported
TF1_NAME = "tf1-name-left"  # outside of what is converted
GONE_LATE = "gone-when-called"  # of a name that TF2 lost, inside a function
GONE_TOLD = "gone-and-told"  # the same, where the code itself raises on TF2 before
NEVER_THERE = "never-there"  # of a name that no TensorFlow has, inside a function

# Names of Python 2's builtins and modules: a file that uses one unguarded
# parses, but does not run.
PYTHON_2_NAMES = {
    "xrange", "raw_input", "unicode", "basestring", "unichr", "execfile", "reduce", "long", "cmp",
    "reload",
}  # fmt: skip
# The same, where it is called: a name that is a usual one of variables as well.
PYTHON_2_FUNCTIONS = {"file"}
# Modules of all three TensorFlows whose `import *` brings the cells of `tf.nn.rnn_cell`.
CELLS = ("tensorflow.python.ops.rnn_cell", "tensorflow.python.ops.rnn_cell_impl")
_LAZY = {"filter", "map", "zip"}  # lists in Python 2
PYTHON_2_MODULES = {
    "cPickle", "ConfigParser", "Queue", "StringIO", "cStringIO", "urllib2", "urlparse", "commands",
    "httplib", "cookielib", "Tkinter", "SocketServer", "thread", "__builtin__", "HTMLParser",
}  # fmt: skip


def gone_names(module: Module) -> list[Use]:
    """Mentions of names that no TF2 has, but for those under a version switch and the like."""
    return [u for u in module.uses if (u.lazy or not u.guarded) and u.status == "gone"]


def incompatibilities(
    module: Module, written: AbstractSet[ast.AST] = frozenset()
) -> list[Diagnostic]:
    """What keeps a module from running on TF2 and is not this tool's to rewrite.

    ``written`` are mentions of names that TF2 lost for which there is something else.
    """
    found: list[Diagnostic] = []
    seen: set[tuple[str, ast.AST | None]] = set()
    uses = [use for use in gone_names(module) if use.node not in written]
    loaded = [use.symbol.name for use in uses if _is_loaded(module, use)]
    for use in uses:
        name = use.symbol.name
        late = use.lazy or is_called(module, use)
        if late and any(name.startswith(f"{one}.") for one in loaded):
            late = False  # the import of its module fails before
        within = outermost(module, use.node) if late else None
        if (name, None) in seen or (name, within) in seen:
            continue
        if any(other.symbol.name.startswith(f"{name}.") for other in uses):
            continue  # a module, what is used of it is named
        seen.add((name, within))
        text = f"`tensorflow.{name}` does not exist in TF2"
        place = Place(module, use.node)
        key = GONE_LATE if late else GONE
        if use.lazy and module.refuses_tf2(use.node):
            key = GONE_TOLD
        elif late and table().is_unknown(name):
            key, text = NEVER_THERE, f"no TensorFlow has `tensorflow.{name}`: TF1 fails here too"
        found.append(Diagnostic(key, place, text, advice_about(name), symbol=name))
    for node in module.names.star_imports:
        base = module.names.absolute(node)
        if symbol(base) is not None and not (base in CELLS and _all_known(module)):
            text = f"`from {node.module} import *` hides which names are TensorFlow's"
            advice = "import the names that are used"
            found.append(Diagnostic("star-import", Place(module, node), text, advice))
    found.extend(python_2_names(module))
    return found


def _all_known(module: Module) -> bool:
    """Whether all names of a module are bound somewhere."""
    names = module.names
    return all(
        names.defining_scope(name, names.scope_of_name[node]) is not None
        for name, nodes in names.by_id.items()
        if not hasattr(builtins, name)
        for node in nodes
    )


def _is_loaded(module: Module, use: Use) -> bool:
    """Whether a mention is an import that runs with its file."""
    if not isinstance(use.node, (ast.Import, ast.ImportFrom)) or is_called(module, use):
        return False
    return module.names.scope_at(use.node).function() is None


def is_called(module: Module, use: Use) -> bool:
    """Whether a mention fails when its function is called, or its file, and not before."""
    parents = list(module.names.ancestors(use.node))
    if any(map(is_main_guard, parents)):
        return True
    if isinstance(use.node, (ast.Import, ast.ImportFrom)):
        return False
    child = use.node
    for parent in parents:
        if isinstance(parent, _FUNCTIONS) and child in parent.body:
            return True
        child = parent
    return False


@fact
def python_2_names(module: Module) -> list[Diagnostic]:
    """What only Python 2 has.

    One for each name and each function or class, of which a program may run some only.
    """
    return [
        Diagnostic(PYTHON_2, Place(module, node), text, _CONVERT, symbol=name)
        for node, name, text in (*_python_2(module), *_lists(module))
    ]


@fact_of_text
def _python_2(module: Module) -> list[tuple[ast.AST, str, str]]:
    """Names of Python 2, with what is said of them."""
    found: list[tuple[ast.AST, str, str]] = []
    seen: set[str | tuple[str, ast.AST]] = set()
    names = module.names
    nodes = [
        node
        for name in sorted((PYTHON_2_NAMES | PYTHON_2_FUNCTIONS) & names.by_id.keys())
        for node in names.by_id[name]
    ]
    for node in sorted(nodes, key=position):
        parent = names.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node and not names.star_imports
        if node.id in PYTHON_2_NAMES or called:
            if not isinstance(node.ctx, ast.Load) or module.is_guarded(node):
                continue
            if names.defining_scope(node.id, names.scope_of_name[node]) is None:
                around = outermost(module, node)
                if (node.id, around) not in seen:
                    seen.add((node.id, around))
                    found.append((node, node.id, f"`{node.id}` is Python 2"))
    for method in old_iterators(module):
        text = "an iterator that has `next` and no `__next__` is Python 2"
        found.append((method, "next", text))
    for statement in names.imports:
        if isinstance(statement, ast.Import) and not module.is_guarded(statement):
            for alias in statement.names:
                if alias.name in PYTHON_2_MODULES and alias.name not in seen:
                    seen.add(alias.name)
                    found.append((statement, alias.name, f"`{alias.name}` is Python 2"))
    return found


@fact_of_text
def _lists(module: Module) -> list[tuple[ast.AST, str, str]]:
    """Variables that are lists by `map` in Python 2 only, whose length or items are asked for."""
    found: list[tuple[ast.AST, str, str]] = []
    names = module.names
    nodes = [node for name in sorted(_LAZY & names.by_id.keys()) for node in names.by_id[name]]
    for node in sorted(nodes, key=position):
        if names.defining_scope(node.id, names.scope_of_name[node]) is not None:
            continue
        call = names.parents.get(node)
        made = names.parents.get(call) if isinstance(call, ast.Call) and call.func is node else None
        if not isinstance(made, ast.Assign) or names.star_imports or module.is_guarded(node):
            continue
        target = made.targets[0]
        if made.value is not call or len(made.targets) != 1 or not isinstance(target, ast.Name):
            continue
        home = names.defining_scope(target.id, names.scope_of_name[target])
        mentions = names.mentions(target.id, home) if home is not None else []
        stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
        if stored == [target] and any(_needs_list(module, one) for one in mentions):
            text = f"`{target.id}` is a list by `{node.id}` in Python 2 only"
            found.append((node, node.id, text))
    return found


def _needs_list(module: Module, name: ast.Name) -> bool:
    """`len(name)`, `name[0]`"""
    parent = module.names.parents.get(name)
    if isinstance(parent, ast.Subscript):
        return parent.value is name and isinstance(parent.ctx, ast.Load)
    if not isinstance(parent, ast.Call) or parent.args != [name]:
        return False
    return isinstance(parent.func, ast.Name) and parent.func.id == "len"


def outermost(module: Module, node: ast.AST) -> ast.AST:
    """The statement of the module that a node stands in, or is."""
    return [node, *module.names.ancestors(node)][-2]
