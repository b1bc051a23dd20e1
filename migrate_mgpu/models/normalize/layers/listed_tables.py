"""Lists that are made of the tables of a graph's variables, written out.

    weights = {'hidden': w1, 'out': w2}
    biases = {'hidden': b1, 'out': b2}
    last = [weights['out'], biases['out']]
    rest = list(set(list(weights.values()) + list(biases.values())) - set(last))

becomes `last = [w2, b2]` and `rest = [w1, b1]`. A set has no order, so any will do: this one is
that of the tables. Python 2's `weights.values() + biases.values()` is such a list as well.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.source.source import Edit

_READS = ("values", "keys", "items", "get", "copy")


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such list; none where there is none."""
    tables = _Tables(module, graph)
    if not tables.by_target:
        return []
    for node in walk(module.tree):
        if not isinstance(node, (ast.Call, ast.BinOp)) or _within_one(module, node):
            continue
        if not any(isinstance(one, ast.Name) and one.id in tables.ids for one in walk(node)):
            continue
        listed = tables.listed(node)
        if listed is not None:
            return [Edit(*module.source.span(node), f"[{', '.join(listed)}]")]
    for node in walk(module.tree):
        if isinstance(node, ast.List) and any(isinstance(one, ast.Subscript) for one in node.elts):
            written = [tables.item(one) for one in node.elts]
            if any(written) and isinstance(node.ctx, ast.Load):
                texts = (one or module.source.code(n) for one, n in zip(written, node.elts))
                return [Edit(*module.source.span(node), f"[{', '.join(texts)}]")]
    return []


def _within_one(module: Module, node: ast.expr) -> bool:
    """Whether the expression around one may be a list as a whole, which is written out then."""
    parent = module.names.parents.get(node)
    if isinstance(parent, ast.BinOp):
        return True
    return isinstance(parent, ast.Call) and module.names.qualname(parent.func) in (
        "builtins.list", "builtins.set",
    )  # fmt: skip


class _Tables:
    """The dictionaries of a module that are written once, of names, and stay as they are."""

    def __init__(self, module: Module, graph: CallGraph) -> None:
        self.module = module
        self.names = module.names
        self.graph = graph
        self.by_target: dict[ast.Name, dict[object, str]] = {}
        for node in walk(module.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                target = node.targets[0]
                if len(node.targets) == 1 and isinstance(target, ast.Name):
                    items = self._items(node.value)
                    if items and self._stays(target):
                        self.by_target[target] = items
        self.ids = {target.id for target in self.by_target}

    def _items(self, node: ast.Dict) -> dict[object, str]:
        found: dict[object, str] = {}
        for key, value in zip(node.keys, node.values):
            known = constant(key)
            single = isinstance(value, ast.Name) and self.names.only_binding(value) is not None
            if known is None or not single:
                return {}
            assert isinstance(value, ast.Name)
            found[known] = value.id
        return found if len(set(found.values())) == len(node.values) else {}

    def _stays(self, target: ast.Name) -> bool:
        """Whether a dictionary has one name, by which nothing changes it."""
        names = self.names
        if names.only_binding(target) is None:
            return False
        for mention in names.mentions(target.id, names.scope_of_name[target]):
            parent = names.parents.get(mention)
            if mention is target:
                continue
            if names.scope_of_name[mention] is not names.scope_of_name[target]:
                return False
            if isinstance(parent, ast.Attribute) and parent.attr in _READS:
                continue
            if isinstance(parent, ast.Subscript) and parent.value is mention:
                if isinstance(parent.ctx, ast.Load):
                    continue
            if isinstance(parent, ast.Call) and self._only_reads(parent, mention):
                continue
            return False
        return True

    def _only_reads(self, call: ast.Call, given: ast.Name) -> bool:
        """Whether a function that is given a dictionary takes items of it, and no more."""
        target = self.graph.target(self.module, call.func)
        if target is None or not isinstance(target.node, ast.FunctionDef):
            return self.names.qualname(call.func) in ("builtins.len", "builtins.sorted")
        bound = by_parameter(call, target.parameters())
        inside = [name for name, value in bound.items() if value is given]
        if len(inside) != 1:
            return False
        names = target.module.names
        home = names.scopes[target.node]
        for mention in names.mentions(inside[0], home):
            parent = names.parents.get(mention)
            item = isinstance(parent, ast.Subscript) and parent.value is mention
            if not item or not isinstance(parent.ctx, ast.Load):  # type: ignore[union-attr]
                return False
        return True

    # -- what an expression is a list of ---------------------------------------------------

    def listed(self, node: ast.expr) -> list[str] | None:
        """The names that a list has; None where it is no list that tables make."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._part(node.left), self._part(node.right)]
            known = [one for part in parts for one in part or ()]
            return known if None not in parts else None
        if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1:
            return None
        if self.names.qualname(node.func) != "builtins.list":
            return None
        given = node.args[0]
        values = self._values(given)
        if values is not None:
            return values
        return self._set(given)

    def _part(self, node: ast.expr) -> list[str] | None:
        if isinstance(node, ast.List):
            return self._display(node)
        return self._values(node) or self.listed(node)

    def _values(self, node: ast.expr) -> list[str] | None:
        """`weights.values()`"""
        func = node.func if isinstance(node, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != "values":
            return None
        assert isinstance(node, ast.Call)
        table = self._table(func.value)
        return [*table.values()] if table and not node.args and not node.keywords else None

    def _set(self, node: ast.expr) -> list[str] | None:
        """The members of a set, or of what is left of one without another, in some order."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            first, second = self._set(node.left), self._set(node.right)
            if first is None or second is None:
                return None
            return [one for one in first if one not in second]
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        if self.names.qualname(node.func) != "builtins.set":
            return None
        given = node.args[0]
        if isinstance(given, ast.Name):
            made = self.names.only_value(given)
            if not isinstance(made, ast.List) or not self._is_kept(given):
                return None
            given = made
        members = self._part(given)
        return [*dict.fromkeys(members)] if members is not None else None

    def _is_kept(self, name: ast.Name) -> bool:
        """Whether a list is what it was made as: no method of it is called, no item is set."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        mentions = self.names.mentions(name.id, home) if home is not None else []
        parents = (self.names.parents.get(one) for one in mentions)
        return not any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in parents)

    def _display(self, node: ast.List) -> list[str] | None:
        found: list[str] = []
        for one in node.elts:
            if isinstance(one, ast.Name) and self.names.only_binding(one) is not None:
                found.append(one.id)
                continue
            item = self.item(one)
            if item is None:
                return None
            found.append(item)
        return found

    def item(self, node: ast.expr) -> str | None:
        """The name that stands for `weights['out']`."""
        if not isinstance(node, ast.Subscript):
            return None
        table = self._table(node.value)
        return table.get(constant(node.slice)) if table else None

    def _table(self, node: ast.expr) -> dict[object, str] | None:
        if not isinstance(node, ast.Name):
            return None
        binding = self.names.only_binding(node)
        made = binding.node if binding is not None else None
        return self.by_target.get(made) if isinstance(made, ast.Name) else None
