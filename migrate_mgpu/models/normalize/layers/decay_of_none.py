"""Functions that add a decay of weights to a collection where they are given a scale, or None.

    def weight(shape, scale):
        w = tf.Variable(tf.truncated_normal(shape))
        if scale is not None:
            tf.add_to_collection("losses", tf.multiply(scale, tf.nn.l2_loss(w)))
        return w

    weight([3, 2], None)

becomes a function that always adds one, where what it is given is a number or None, and
``weight([3, 2], 0.0)``: a term of zero adds nothing to the sum that is read, and one that nobody
reads is not computed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.layers.collection_lists import mentions
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def always_added(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such scale, through all functions; none where there is none."""
    for module in modules:
        for node in mentions(module):
            call = module.names.parents.get(node)
            if not isinstance(call, ast.Call) or name_of(module, call) != "add_to_collection":
                continue
            asked = module.names.parents[module.names.statement(call)]
            name = _asked(asked) if isinstance(asked, ast.If) else None
            function = graph.enclosing(module, call)
            if name is None or function is None or not isinstance(asked, ast.If):
                continue
            key = constant(by_parameter(call, ("name",)).get("name"))
            if not isinstance(key, str) or not _is_summed(modules, key):
                continue
            scale = _Scale(graph)
            if scale.is_added(module, asked, call) and scale.follow(function, name.id):
                if scale.found.keys() <= {*modules}:
                    return scale.found
    return {}


def _asked(block: ast.If) -> ast.Name | None:
    """The name in `if scale is not None:`, `if scale != None:`, `if scale:`"""
    test = block.test
    if isinstance(test, ast.Name):
        return test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    told = isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) and is_none(test.comparators[0])
    return test.left if told and isinstance(test.left, ast.Name) else None


def _id(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_summed(modules: Sequence[Module], key: str) -> bool:
    """Whether all that is read of a collection is its sum: a term of zero makes no difference."""
    for module in modules:
        for node in mentions(module):
            call = module.names.parents.get(node)
            if not isinstance(call, ast.Call) or name_of(module, call) == "add_to_collection":
                continue
            asked = by_parameter(call, ("key",)).get("key")
            if constant(asked) == key and not _goes_into_sum(module, call):
                return False
    return True


def _goes_into_sum(module: Module, node: ast.expr) -> bool:
    """`tf.add_n(tf.get_collection("losses") + [loss])`, by a name perhaps."""
    names, parent = module.names, module.names.parents.get(node)
    if isinstance(parent, ast.BinOp):
        return _goes_into_sum(module, parent)
    if isinstance(parent, ast.Call):
        return name_of(module, parent) == "add_n"
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, ast.Name) or names.only_binding(target) is None:
        return False
    home = names.scope_of_name[target]
    return all(
        one is target or _goes_into_sum(module, one) for one in names.mentions(target.id, home)
    )


class _Scale:
    """A parameter that is a scale or None, in all functions that hand it on."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.found: dict[Module, list[Edit]] = {}
        self.known: set[tuple[ast.AST, str]] = set()
        self.asking: set[ast.If] = set()

    def is_added(self, module: Module, block: ast.If, call: ast.Call) -> bool:
        """Whether a condition does no more than adding to a collection: it goes."""
        statement = module.names.statement(call)
        text, code = module.source.code(block), module.source.code(statement)
        header, _, rest = text.partition("\n")
        told = header[header.index("#") :].rstrip() if "#" in header and rest else ""
        if block.orelse or block.body != [statement] or "\\" in text:
            return False
        if "#" in code or "#" in rest.replace(code, "") or ("#" in header and not told):
            return False
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return False
        if not Layout(module.source, block).owns_lines:
            return False
        self.asking.add(block)
        line = " ".join(line.strip() for line in code.splitlines()).replace("( ", "(")
        line += f"  {told}" if told else ""
        self._edit(module, Edit(*module.source.span(block), line))
        return True

    def _edit(self, module: Module, edit: Edit) -> None:
        self.found.setdefault(module, []).append(edit)

    def follow(self, function: Function, name: str) -> bool:
        """What a function does with it, and what its calls give; False where that is not known."""
        if (function.node, name) in self.known:
            return True
        self.known.add((function.node, name))
        module, node = function.module, function.node
        scope = module.names.scopes[node]
        if [one.kind for one in scope.bindings.get(name, ())] != ["parameter"]:
            return False
        if not all(self._is_understood(module, one) for one in module.names.mentions(name, scope)):
            return False
        references = self.graph.references(function)
        for reference in references:
            given = (
                (bind(reference.call, function).every() or {}).get(name)
                if reference.call is not None
                else None
            )
            if given is None:
                return False
            if is_none(given):
                if any(given is one for one in walk(node)):
                    return False  # the default
                self._edit(reference.module, Edit(*reference.module.source.span(given), "0.0"))
                continue
            around = self.graph.enclosing(reference.module, reference.node)
            if isinstance(given, ast.Name) and reference.module.names.is_parameter(given):
                if around is None or not self.follow(around, given.id):
                    return False
            elif not self._is_number(reference.module, given):
                return False  # it may be None as well
        return bool(references)

    def _is_number(self, module: Module, node: ast.expr) -> bool:
        """Whether an expression is seen to be a number: `0.1`, `RATE`, `settings.RATE`."""
        if isinstance(node, ast.BinOp):
            return self._is_number(module, node.left) and self._is_number(module, node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_number(module, node.operand)
        value = constant(node)
        if isinstance(node, ast.Name) and module.names.bindings_of(node):
            value = constant(module.names.only_value(node))
        elif isinstance(node, (ast.Name, ast.Attribute)):  # another module's
            head, _, name = (module.names.qualname(node) or "").rpartition(".")
            known = self.graph.project.resolve(module, head) if head else self.graph.modules
            homes = [one.names.module_scope.bindings.get(name or _id(node), ()) for one in known]
            bound = [binding for bindings in homes for binding in bindings]
            value = constant(bound[0].value) if len(bound) == 1 else None
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    def _is_understood(self, module: Module, mention: ast.Name) -> bool:
        """Whether a mention asks for it, multiplies with it, or hands it on."""
        if any(one in self.asking for one in module.names.ancestors(mention)):
            return True
        call = module.names.parents[mention]
        call = module.names.parents[call] if isinstance(call, ast.keyword) else call
        target = self.graph.target(module, call.func) if isinstance(call, ast.Call) else None
        if target is None or not isinstance(call, ast.Call) or target.owner is not None:
            return False
        parameter = bind(call, target).parameter(mention)
        return parameter is not None and self.follow(target, parameter)
