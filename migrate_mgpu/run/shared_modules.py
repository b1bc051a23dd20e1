"""Whether a module in TF2's form still serves the programs that stay with TF1."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import symbol, table
from migrate_mgpu.analysis.taken_names import Taken, top_level
from migrate_mgpu.api.functions import SAME_STATUSES

_BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_IMPORTS = (ast.Import, ast.ImportFrom)
# Two methods of a Dataset in the place of one that TF1 fused.
_FUSED = {"batch", "map", "repeat", "shuffle"}
# What leaves something in the graph, beside its value, or asks that for it.
_LEAVES = (
    "get_variable", "losses.", "contrib.losses.", "metrics.", "contrib.metrics.", "summary.",
    "layers.", "contrib.layers.",
)  # fmt: skip
_NEVER = ("gone", "unknown", "v2_only")  # what a graph of TF1's has not


class NewText:
    """A module's new text, which several programs may ask for what they take of the module."""

    def __init__(self, module: Module, text: str) -> None:
        self.module = module
        self.text = text
        self._forms: dict[bool, _Form] = {}

    @cached_property
    def names(self) -> set[str]:
        """What may be imported of it: the names that its own statements bind."""
        body = ast.parse(self.text).body
        return {name for statement in body for one in walk(statement)
                if isinstance(one, ast.stmt) for name in _bound(one)}  # fmt: skip

    def changed_for(self, program: Taken, bridged: bool) -> tuple[str, ast.stmt] | None:
        """A name that a program takes of the module, which means something else in the text.

        Or a statement that runs with its import, and does. A TF1 graph is built by it as before
        where nothing changes but the names of TensorFlow's that TF1 has too; on the bridge
        (``bridged``) those that TF2 has.
        """
        module = self.module
        if bridged not in self._forms:
            self._forms[bridged] = _Form(module, ast.parse(self.text), bridged)
        form = self._forms[bridged]
        if form.begins_otherwise is not None:
            statement = form.begins_otherwise
            return module.source.code(statement).splitlines()[0], statement
        guards = (one for one in module.tree.body if is_main_guard(one))
        for guard in guards if module is program.program.entry else ():
            if not form.keeps(guard):
                return module.source.code(guard).splitlines()[0], guard
            for part in walk(guard):
                if isinstance(part, ast.Name) and not top_level(module, part.id):
                    if program.project.had(module, part.id):
                        return part.id, guard
        for name, statements in sorted(program.of(module).items()):
            if not statements and program.project.had(module, name):  # a pass took it away
                return name, module.tree.body[0]
            for statement in statements:
                if not form.has(name, statement):
                    return name, statement
        return None


class _Form:
    """A module's new text beside the module."""

    def __init__(self, module: Module, tree: ast.Module, bridged: bool) -> None:
        self.module = module
        self.bridged = bridged
        self.uses = {use.node: use.symbol.name for use in module.uses}
        self.bound: dict[str, list[ast.stmt]] = {}
        self.roots: set[str] = set()  # the names that are TensorFlow
        self.body = tree.body
        self._known: dict[tuple[str, ast.stmt], bool] = {}
        for statement in (s for s in walk(tree) if isinstance(s, ast.stmt)):
            for name in _bound(statement):
                self.bound.setdefault(name, []).append(statement)
            if isinstance(statement, ast.Import):
                named = (a for a in statement.names if symbol(a.name) is not None)
                self.roots |= {(a.asname or a.name).partition(".")[0] for a in named}

    @cached_property
    def begins_otherwise(self) -> ast.stmt | None:
        """The first statement that does something else when the module is imported."""
        body = self.module.tree.body
        return next((one for one in body if not self._begins(one)), None)

    def _begins(self, statement: ast.stmt) -> bool:
        """Whether a statement that binds no name does as before when the module is imported.

        Of a bridge that is also which TensorFlow a name stands for.
        """
        if statement in self.module.tensorflow_imports and self.bridged:
            return any(ast.dump(one) == ast.dump(statement) for one in self.body)
        if isinstance(statement, (*_BINDING, *_IMPORTS)) or is_main_guard(statement):
            return True
        said = [self.uses[part] for part in walk(statement) if part in self.uses]
        if said and all(name.startswith("logging.") for name in said):
            return True
        return self.keeps(statement)

    def keeps(self, statement: ast.stmt) -> bool:
        """Whether a statement stands in the new text as well."""
        return any(self._same(statement, one) for one in self.body)

    def has(self, name: str, statement: ast.stmt) -> bool:
        """Whether a name has the same meaning."""
        key = name, statement
        if key not in self._known:
            self._known[key] = self._has(name, statement)
        return self._known[key]

    def _has(self, name: str, statement: ast.stmt) -> bool:
        new = self.bound.get(name, [])
        if isinstance(statement, _IMPORTS):
            return bool(new)
        if not isinstance(statement, _BINDING):
            return any(self._same(statement, one) for one in new)
        # `from absl import flags` in the place of `flags = tf.flags`.
        taken = any(part in self.uses for part in walk(statement))
        imported = isinstance(statement, ast.Assign) and taken
        return any(
            self._same(statement, one) or (imported and isinstance(one, ast.ImportFrom))
            for one in new
        )

    def _same(self, one: object, other: object) -> bool:
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self._same, one, other))
        if not isinstance(one, ast.AST) or not isinstance(other, ast.AST):
            return one == other
        if type(one) is type(other):
            fields = ((getattr(one, name), getattr(other, name, None)) for name in one._fields)
            if all(self._same(a, b) for a, b in fields):
                return True
        if isinstance(one, ast.expr) and isinstance(other, ast.expr):
            return self._restated(one, other)
        return False

    def _restated(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether an expression says the same by names of TensorFlow's that both versions have."""
        said = [self.uses[part] for part in walk(one) if part in self.uses]
        if not said or any(name.startswith(_LEAVES) for name in said):
            return False
        before, after = list(walk(one)), list(walk(other))
        names = {part.id for part in before if isinstance(part, ast.Name)} | self.roots
        attributes = {part.attr for part in before if isinstance(part, ast.Attribute)}
        of_tensorflow = {part for node in before if node in self.uses for part in walk(node)}
        methods = {p.attr for p in before if isinstance(p, ast.Attribute)} - {
            p.attr for p in of_tensorflow if isinstance(p, ast.Attribute)
        }
        chains = list(self._chains(other))
        inside = {part for chain in chains for part in walk(chain)}
        new = {p.attr for p in after if isinstance(p, ast.Attribute) and p not in inside}
        return (
            all(part.id in names for part in after if isinstance(part, ast.Name))
            and new - attributes <= _FUSED
            and methods - new <= {"apply"}
            and all(self._is_known(chain) for chain in chains)
        )

    def _chains(self, node: ast.AST) -> Iterator[ast.Attribute]:
        """The longest chains of attributes that begin at TensorFlow."""
        if isinstance(node, ast.Attribute):
            first: ast.expr = node
            while isinstance(first, ast.Attribute):
                first = first.value
            if isinstance(first, ast.Name) and first.id in self.roots:
                yield node
                return
        for child in ast.iter_child_nodes(node):
            yield from self._chains(child)

    def _is_known(self, chain: ast.Attribute) -> bool:
        name = ast.unparse(chain).partition(".")[2]
        status = table().status(name)
        known = status not in _NEVER if self.bridged else status in SAME_STATUSES
        return known and not name.startswith("keras.")


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, _IMPORTS):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign):
        parts = (part for target in statement.targets for part in walk(target))
        yield from (part.id for part in parts if isinstance(part, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
