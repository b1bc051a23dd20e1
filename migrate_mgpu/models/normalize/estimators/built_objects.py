"""Classes whose constructor builds a part of a network: functions that return what is asked for.

``model = BertModel(config, ids)`` / ``model.get_pooled_output()`` becomes

    pooled_output = bert_model(config, ids)

where the class only builds in its constructor, and its other methods only return what it keeps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such class; none where there is none."""
    if flow.function is None:
        return {}
    for function in reached(flow.function, graph):
        for call in (part for part in walk(function.node) if isinstance(part, ast.Call)):
            found = graph.class_of(function.module, call.func)
            if found is None or not found[0].writable:
                continue
            edits = _Built(*found, graph).edits()
            if edits:
                return edits
    return {}


def reached(function: Function, graph: CallGraph) -> list[Function]:
    """A function and those that it calls."""
    found = [function]
    for one in found:  # grows
        for call in (part for part in walk(one.node) if isinstance(part, ast.Call)):
            target = graph.target(one.module, call.func)
            known = {other.node for other in found}
            if target is not None and target.owner is None and target.node not in known:
                found.append(target)
    return found


@record(frozen=True)
class _Use:
    """A statement that makes an object, and where its values are asked for, by attribute."""

    reference: Reference
    statement: ast.Assign
    asked: tuple[tuple[ast.expr, str], ...]


class _Built:
    def __init__(self, module: Module, node: ast.ClassDef, graph: CallGraph) -> None:
        self.module = module
        self.node = node
        self.graph = graph
        self.names = module.names
        self.methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}

    def edits(self) -> dict[Module, list[Edit]]:
        """What makes a function of the class; nothing where it is another one."""
        init = self.methods.get("__init__")
        getters = self._getters()
        if init is None or getters is None or not self._builds(init):
            return {}
        mentions = self.graph.references(Function(self.module, init))
        inside = [one for one in mentions if self.node in one.module.names.ancestors(one.node)]
        uses = [self._use(one, getters) for one in mentions if one not in inside]
        kept = self._kept(init)
        if kept is None or not uses or any(use is None for use in uses):
            return {}
        known = [use for use in uses if use is not None]
        asked = {attribute for use in known for _, attribute in use.asked}
        order = [attribute for attribute in kept if attribute in asked]
        if not order or len(order) < len(asked) or not asked <= self._certain(init):
            return {}
        name = self.names.fresh(self.names.module_scope, _snake(self.node.name))
        found = {self.module: [self._function(init, name, kept, order)]}
        for use in known:
            if not self._at(use, name, order, found):
                return {}
        return found

    # -- the class -----------------------------------------------------------------

    def _getters(self) -> dict[str, str] | None:
        """The methods that return an attribute; None where the class has others."""
        node = self.node
        plain = all(self.names.qualname(base) == "builtins.object" for base in node.bases)
        if not plain or node.decorator_list or node.keywords:
            return None
        found: dict[str, str] = {}
        for statement in node.body:
            if _is_text(statement):
                continue
            if not isinstance(statement, ast.FunctionDef) or statement.decorator_list:
                return None
            if statement.name == "__init__":
                continue
            body = [s for s in statement.body if not _is_text(s)]
            value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
            own = isinstance(value, ast.Attribute) and _is_self(value.value)
            if not own or len(statement.args.args) != 1:
                return None
            assert isinstance(value, ast.Attribute)
            found[statement.name] = value.attr
        return found

    def _builds(self, init: ast.FunctionDef) -> bool:
        """Whether a constructor does nothing but to build: no other one is called, nothing left."""
        arguments = init.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs:
            return False
        for part in walk(init):
            if isinstance(part, (ast.Return, ast.Yield, ast.Global, ast.Nonlocal, ast.Lambda)):
                return False
            if isinstance(part, ast.FunctionDef) and part is not init:
                return False
            if isinstance(part, ast.Name) and part.id == "self":
                if not isinstance(self.names.parents[part], ast.Attribute):
                    return False
        return any(
            tensorflow_name(self.module, part.func)
            for part in walk(init)
            if isinstance(part, ast.Call)
        )

    def _kept(self, init: ast.FunctionDef) -> dict[str, str] | None:
        """The names that the attributes get in the function, in the order of their values."""
        scope = self.names.scopes[init]
        found: dict[str, str] = {}
        for part in sorted(_attributes(init), key=lambda one: (one.lineno, one.col_offset)):
            if isinstance(part.ctx, ast.Store) and part.attr not in found:
                found[part.attr] = self.names.fresh(scope, part.attr, f"own_{part.attr}")
        read = {part.attr for part in _attributes(init)}
        return found if read <= {*found} else None

    def _certain(self, init: ast.FunctionDef) -> set[str]:
        """The attributes that get a value whatever the arguments are."""
        found: set[str] = set()
        for part in _attributes(init):
            around = []
            for parent in self.names.ancestors(part):
                if parent is init:
                    break
                around.append(parent)
            plain = all(isinstance(p, (ast.Assign, ast.Tuple, ast.With)) for p in around)
            if isinstance(part.ctx, ast.Store) and plain:
                found.add(part.attr)
        return found

    def _function(
        self, init: ast.FunctionDef, name: str, kept: dict[str, str], order: list[str]
    ) -> Edit:
        source = self.module.source
        block = Block(source, source.indent_of(self.node))
        arguments = init.args.args[1:]
        defaults = init.args.defaults
        texts = [one.arg for one in arguments]
        for index, default in enumerate(reversed(defaults), 1):
            texts[-index] += f"={source.code(default)}"
        block.line(f"def {name}({', '.join(texts)}):")
        texted = [s for s in (*self.node.body[:1], *init.body[:1]) if _is_text(s)]
        for statement in texted[:1]:
            block.statement(statement, [], 1)
        for statement in init.body:
            if not _is_text(statement):
                block.statement(statement, self._renamed(statement, kept), 1)
        block.line(f"return {', '.join(kept[one] for one in order)}", 1)
        start, end = source.span(self.node)
        return Edit(start, end, block.text().rstrip()[len(block.indent) :])

    def _renamed(self, statement: ast.stmt, kept: dict[str, str]) -> Iterator[Edit]:
        source = self.module.source
        return (Edit(*source.span(part), kept[part.attr]) for part in _attributes(statement))

    # -- its objects ---------------------------------------------------------------

    def _use(self, reference: Reference, getters: dict[str, str]) -> _Use | None:
        module, call = reference.module, reference.call
        if call is None or not module.writable:
            return None
        names = module.names
        statement = names.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            return None
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            return None
        home = names.defining_scope(target.id, names.scope_of_name[target])
        if home is None or home.is_module or len(home.bindings[target.id]) != 1:
            return None
        asked: list[tuple[ast.expr, str]] = []
        for mention in names.mentions(target.id, home):
            if mention is target:
                continue
            attribute = names.parents[mention]
            if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
                return None
            parent = names.parents[attribute]
            if isinstance(parent, ast.Call) and parent.func is attribute:
                if attribute.attr not in getters or parent.args or parent.keywords:
                    return None
                asked.append((parent, getters[attribute.attr]))
            elif attribute.attr in self.methods:
                return None
            else:
                asked.append((attribute, attribute.attr))
        return _Use(reference, statement, tuple(asked))

    def _at(self, use: _Use, name: str, order: list[str], found: dict[Module, list[Edit]]) -> bool:
        """Adds what stands in the place of an object; whether it could be said."""
        module, call = use.reference.module, use.reference.call
        assert call is not None
        names, source = module.names, module.source
        edits = found.setdefault(module, [])
        scope = names.scope_of_name[use.statement.targets[0]]  # type: ignore[index]
        local = {one: names.fresh(scope, one) for one in order}
        edits.append(Edit(*source.span(use.statement.targets[0]), ", ".join(local.values())))
        edits += [Edit(*source.span(node), local[attribute]) for node, attribute in use.asked]
        function = call.func
        if isinstance(function, ast.Attribute):
            end = source.span(function)[1]
            edits.append(Edit(end - len(function.attr), end, name))
            return True
        assert isinstance(function, ast.Name)
        edits.append(Edit(*source.span(function), name))
        binding = names.only_binding(function)
        if binding is None or binding.node is self.node:
            return binding is not None
        if not isinstance(binding.node, ast.ImportFrom) or name in names.module_scope.bindings:
            return False
        renamed = import_edit(source, binding.node, renamed={self.node.name: name})
        if renamed not in edits:
            edits.append(renamed)
        return all(alias.asname is None for alias in binding.node.names)


def _attributes(node: ast.AST) -> list[ast.Attribute]:
    return [part for part in walk(node) if isinstance(part, ast.Attribute) and _is_self(part.value)]


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
