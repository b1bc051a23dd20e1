"""What keeps a module from running on TF2, whatever else is done to its program."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import symbol

PYTHON_2 = "python-2"  # the key of what is said of those

# Names of Python 2's builtins and modules: a file that uses one unguarded
# parses, but does not run.
_PYTHON_2_NAMES = {
    "xrange", "raw_input", "unicode", "basestring", "unichr", "execfile", "reduce", "long", "cmp",
    "reload",
}  # fmt: skip
_PYTHON_2_MODULES = {
    "cPickle", "ConfigParser", "Queue", "StringIO", "cStringIO", "urllib2", "urlparse", "commands",
    "httplib", "cookielib", "Tkinter", "SocketServer", "thread", "__builtin__", "HTMLParser",
}  # fmt: skip


def incompatibilities(module: Module) -> list[Diagnostic]:
    """What keeps a module from running on TF2 and is not this tool's to rewrite."""
    found: list[Diagnostic] = []
    seen: set[str] = set()
    for use in module.uses:
        if use.guarded or use.status != "gone":
            continue
        package = ".".join(use.symbol.name.split(".")[:2])
        if package in seen:
            continue
        seen.add(package)
        shown = f"tensorflow.{use.symbol.name}"
        if use.symbol.name.split(".")[0] == "contrib":
            advice = "replace it first: TF2 has no tf.contrib (tf_slim, tensorflow-addons, Keras)"
        elif shown.startswith("tensorflow.examples"):
            advice = "load the data another way: TF2 ships no tensorflow.examples"
        else:
            advice = "replace it first: no TF2 release has this name"
        text = f"`{shown}` does not exist in TF2"
        place = Place(module, use.node)
        found.append(Diagnostic("gone-name", place, text, advice, symbol=use.symbol.name))
    for node in module.names.star_imports:
        if symbol(module.names.absolute(node)) is not None:
            text = f"`from {node.module} import *` hides which names are TensorFlow's"
            advice = "import the names that are used"
            found.append(Diagnostic("star-import", Place(module, node), text, advice))
    found.extend(_python_2(module))
    return found


def _python_2(module: Module) -> list[Diagnostic]:
    """One for each name and each function or class, of which a program may run some only."""
    found: list[Diagnostic] = []
    seen: set[str | tuple[str, ast.AST]] = set()
    names = module.names
    for node in names.scope_of_name:
        if node.id in _PYTHON_2_NAMES:
            if not isinstance(node.ctx, ast.Load) or module.is_guarded(node):
                continue
            if names.defining_scope(node.id, names.scope_of_name[node]) is None:
                outermost = list(names.ancestors(node))[-2]
                if (node.id, outermost) not in seen:
                    seen.add((node.id, outermost))
                    found.append(_named(Place(module, node), node.id))
    for statement in names.imports:
        if isinstance(statement, ast.Import) and not module.is_guarded(statement):
            for alias in statement.names:
                if alias.name in _PYTHON_2_MODULES and alias.name not in seen:
                    seen.add(alias.name)
                    found.append(_named(Place(module, statement), alias.name))
    return found


def _named(place: Place, name: str) -> Diagnostic:
    advice = "convert the file to Python 3 first, for example with 2to3"
    return Diagnostic(PYTHON_2, place, f"`{name}` is Python 2", advice, symbol=name)
