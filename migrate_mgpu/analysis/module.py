"""The facts of one file: which TensorFlow names it uses, how, and what it says about itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import BLOCKS_OF, Scope, absolute, node_position
from migrate_mgpu.analysis.switches import Switches
from migrate_mgpu.analysis.symbols import Symbol, symbol, table
from migrate_mgpu.core.records import field, record
from migrate_mgpu.source.source import Source

# Standalone Keras and the ways to reach it through TensorFlow.
_KERAS = re.compile(
    r"^(keras|tensorflow\.keras|tensorflow\.python\.keras|tensorflow\.compat\.v1\.keras)(\.|$)"
)
_PLACES = re.compile(r"(^|\.)(device|DeviceSpec|replica_device_setter|distribute)(\.|$)")
_KERAS_MODEL = re.compile(
    r"(^|\.)(Model|Sequential|models\.\w+|applications\.\w+.*|multi_gpu_model)$"
)
# TensorFlow's own modules that people call `tf`.
ROOTS = ("tensorflow", "tensorflow.compat.v1")
_Answer = TypeVar("_Answer")
_FACTS = "_facts"
_CUDA = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
_ABSENCE = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "*"}
_ABSENT = ("gone", "unknown")
_MAY_NOT_RUN = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_SWITCH_NAMES = re.compile(
    r"version|VERSION|hasattr|in dir\(|TF2|tf2|TF_2|IS_TF|PY2|PY3|six|is_py[23]"
)
_OWN_VERSION = re.compile("version", re.IGNORECASE)
_OF_A_LIBRARY = re.compile(r"^__|^version_info$|tf|tensorflow|keras|py", re.IGNORECASE)


@record(frozen=True, eq=False)
class Use:
    """One mention of a TensorFlow name."""

    node: ast.AST
    symbol: Symbol
    guarded: bool  # under a version switch or a try that catches its absence, or imported late
    spelled: str  # the qualified name as resolved
    lazy: bool = False  # guarded by nothing but that its import is in a function

    @cached_property
    def status(self) -> str:
        if self.symbol.flavour == "private":
            return {"present": "neutral"}.get(
                table().private_status(f"tensorflow.{self.symbol.name}"),
                table().private_status(f"tensorflow.{self.symbol.name}"),
            )
        if self.symbol.flavour == "v2":
            return "v2_only"
        if self.symbol.flavour == "plain" and not table().has_root(self.symbol.name):
            is_import = isinstance(self.node, (ast.Import, ast.ImportFrom))
            if is_import or self.symbol.name[:1] not in ("", "_"):
                return "gone"  # a module or a name of an early TensorFlow, or of none
        return table().status(self.symbol.name)


if TYPE_CHECKING:  # for its types it is a plain one
    from functools import cached_property as of_text
else:

    class of_text(cached_property):
        """A cached property that copies of a module share: it follows from the file's text."""

        def __get__(self, module, owner=None):
            if module is None:
                return self
            shared = module.known_of_text
            if self.attrname not in shared:
                shared[self.attrname] = super().__get__(module, owner)
            return vars(module).setdefault(self.attrname, shared[self.attrname])


@record(eq=False)
class Module:
    """One parsed file of the run."""

    path: Path
    source: Source
    name: str  # dotted, as other modules of the run import it
    writable: bool = True  # False: outside the given paths, only read
    imported: list[Module] = field(default_factory=list)
    needs: list[Module] = field(default_factory=list)  # of those, the ones not under `try` or `if`
    importers: list[Module] = field(default_factory=list)
    borrowers: list[Module] = field(default_factory=list)  # that get TensorFlow from this one
    # Expressions that mean in TF2 what others did: the author's own, or new ones.
    substitutes: dict[ast.expr, ast.expr] = field(default_factory=dict)
    known_of_text: dict[object, Any] = field(default_factory=dict)

    def again(self) -> Module:
        """The same file in another run: its facts, without what follows from other files."""
        found = copy(self)
        found.imported, found.needs, found.importers = [], [], []
        found.borrowers, found.substitutes = [], {}
        vars(found).pop(_FACTS, None)  # some name this object
        return found

    def forget(self) -> None:
        """Its names will be given other meanings than they have by itself."""
        for name in vars(self).keys() - self._fields.keys():  # type: ignore[attr-defined]
            delattr(self, name)
        self.known_of_text = {}

    @property
    def package(self) -> str:
        """The package that relative imports of this module start from."""
        is_package = self.path.name == "__init__.py"
        return self.name if is_package else self.name.rpartition(".")[0]

    @of_text
    def names(self) -> Names:
        has_globals = _declares(self.source.text, "global") or _declares(
            self.source.text, "nonlocal"
        )
        return Names(self.source.tree, self.package, has_globals)

    @of_text
    def import_statements(self) -> list[tuple[ast.stmt, bool]]:
        """Every import, and whether the program needs it: one in a `try` or `if` may not happen.

        Found by looking at statements alone, which is much cheaper than all names.
        """
        found: list[tuple[ast.stmt, bool]] = []
        stack: list[tuple[ast.AST, bool]] = [(node, True) for node in reversed(self.tree.body)]
        while stack:
            node, needed = stack.pop()
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found.append((node, needed))
            inside = needed and not isinstance(node, (ast.Try, ast.If))
            if isinstance(node, ast.If) and not node.col_offset:  # perhaps the main guard
                inside = needed and "__name__" in self.source.code(node.test)
            for name in BLOCKS_OF[type(node)]:
                stack.extend([(child, inside) for child in reversed(getattr(node, name))])
        return found

    @of_text
    def imported_names(self) -> list[tuple[str, bool]]:
        """The modules that imports may mean, by their absolute names; whether each is needed."""
        found: dict[tuple[str, bool], None] = {}
        for statement, needed in self.import_statements:
            for name in imported_by(statement, self.package):
                found[name, needed] = None
        return list(found)

    @property
    def tree(self) -> ast.Module:
        return self.source.tree

    @of_text
    def uses(self) -> list[Use]:
        """Every mention of a TensorFlow name, longest attribute chains, in source order."""
        found: list[Use] = []
        names = self.names
        for name in names.imported_ids:
            meanings: dict[Scope, tuple[str, bool]] = {}  # its root, and whether it is optional
            for node in names.by_id.get(name, ()):
                if not isinstance(node.ctx, ast.Load):
                    continue
                scope = names.scope_of_name[node]
                if len(names.roots(name, scope)) > 1:  # perhaps another one at another place
                    spelled, optional = self._root_on_tf2(node), self._is_optional(node)
                else:
                    if scope not in meanings:
                        meanings[scope] = self._root_on_tf2(node), self._is_optional(node)
                    spelled, optional = meanings[scope]
                if spelled.partition(".")[0] != "tensorflow":
                    continue
                top: ast.expr = node
                parent = names.parents[top]
                while isinstance(parent, ast.Attribute):
                    top, spelled = parent, f"{spelled}.{parent.attr}"
                    parent = names.parents[parent]
                found_symbol = symbol(spelled)
                if found_symbol is not None and not self._adds(found_symbol):
                    guarded = self.is_guarded(top)
                    lazy = optional and not guarded and not self._may_fail(node)
                    found.append(Use(top, found_symbol, optional or guarded, spelled, lazy))
        for statement in names.imports:
            found.extend(self._imported_uses(statement))
        found.sort(key=node_position)
        return found

    def _root_on_tf2(self, name: ast.Name) -> str:
        """What a name stands for on TF2: of several imports, one that no guard keeps from it."""
        scope = self.names.scope_of_name[name]
        roots = self.names.roots(name.id, scope)
        home = self.names.defining_scope(name.id, scope) if len(roots) > 1 else None
        if home is not None:
            imports = [b for b in self.names.bindings_of(name) if b.kind == "import"]
            here = {b.qualname for b in reaching(self.names, name, home)}
            before = {b.qualname for b in imports} - here
            roots = tuple([root for root in roots if root not in before]) or roots
            kept = {b.qualname for b in imports if self.is_guarded(b.node)}
            roots = tuple([root for root in roots if root not in kept]) or roots
        return roots[0] if roots else ""

    def _adds(self, found: Symbol) -> bool:
        """Whether the module gives TensorFlow a name that it has not: ``tf.model = ...``"""
        root = found.name.partition(".")[0]
        given = any(isinstance(a.ctx, ast.Store) for a in self.names.attributes.get(root, ()))
        return given and not table().has_root(root)

    def _imported_uses(self, node: ast.stmt) -> list[Use]:
        """Names that an import statement itself needs: it fails where they are gone."""
        guarded, lazy = self.is_guarded(node), self._is_lazy(node)
        found: list[Use] = []
        for name in self._imported_spellings(node):
            found_symbol = symbol(name)
            if found_symbol is not None and found_symbol.name:
                late = lazy and not guarded
                found.append(Use(node, found_symbol, guarded or lazy, name, late))
        return found

    def _imported_spellings(self, node: ast.stmt) -> list[str]:
        if isinstance(node, ast.ImportFrom):
            base = self.names.absolute(node)
            return [f"{base}.{alias.name}" for alias in node.names if alias.name != "*"]
        assert isinstance(node, ast.Import)
        return [alias.name for alias in node.names]

    def _is_optional(self, name: ast.Name) -> bool:
        """Whether a name comes from an import that may fail, or happens only inside a function.

        ``from tensorflow.contrib import nccl`` in a function is how authors keep a
        dependency out of the way of everyone who does not use it.
        """
        bindings = self.names.bindings_of(name)
        if any(binding.qualname in ROOTS for binding in bindings):
            return False  # TensorFlow itself is not optional, however it is imported
        return bool(bindings) and all(
            self.is_guarded(binding.node) or self._is_lazy(binding.node) for binding in bindings
        )

    def _may_fail(self, name: ast.Name) -> bool:
        """Whether a name comes from an import that is under a guard."""
        return any(self.is_guarded(binding.node) for binding in self.names.bindings_of(name))

    @of_text
    def switched_root(self) -> ast.stmt | None:
        """Where the module itself decides which TensorFlow its name means, if it does.

        ``try: import tensorflow.compat.v1 as tf`` / ``except ImportError: ...``, or
        ``if tf.__version__ ...: tf = tf.compat.v1``.
        """
        scope = self.names.module_scope
        for bindings in scope.bindings.values():
            roots = {binding.qualname for binding in bindings if binding.qualname in ROOTS}
            if not roots:
                continue
            values = {self.names.qualname(b.value) for b in bindings if b.value is not None}
            if len(roots) > 1 or any((v or "").endswith("compat.v1") for v in values):
                for binding in bindings:
                    if self.is_guarded(binding.node):
                        return self._outermost(self.names.statement(binding.node))
        return None

    def _outermost(self, statement: ast.stmt) -> ast.stmt:
        parent = self.names.parents[statement]
        while not isinstance(parent, ast.Module):
            if isinstance(parent, ast.stmt):
                statement = parent
            parent = self.names.parents[parent]
        return statement

    def _is_lazy(self, statement: ast.AST) -> bool:
        """An import inside a function, of something other than TensorFlow's root."""
        if not isinstance(statement, ast.ImportFrom):
            return False
        return self.names.scope_at(statement).function() is not None

    def is_guarded(self, node: ast.AST) -> bool:
        """Whether a node runs only under a version switch, or in a `try` that may fail."""
        if not self._has_guards:
            return False
        parents, known = self.names.parents, self._guarded
        asked: list[ast.AST] = []
        child = node
        found = known.get(child)
        while found is None:
            asked.append(child)
            parent = parents.get(child)
            if parent is None:
                found = False
            elif (
                isinstance(parent, (ast.If, ast.IfExp, ast.BoolOp, ast.Try))
                and child is not getattr(parent, "test", None)
                and self._guards(parent, child)
            ) or self.switches.is_past(parent, child):
                found = True
            else:
                child = parent
                found = known.get(child)
        known.update(dict.fromkeys(asked, found))
        return found

    @of_text
    def _has_guards(self) -> bool:
        """Whether there may be any: most files have none of their words."""
        text = self.source.text
        return "except" in text or _SWITCH_NAMES.search(text) is not None

    def refuses_tf2(self, node: ast.AST) -> bool:
        """Whether the code that comes to a node has raised on TF2 before, as its author wants."""
        if not self._has_guards or not self.switches:
            return False
        ancestors = [node, *self.names.ancestors(node)]
        pairs = zip(ancestors, ancestors[1:])
        return any(self.switches.is_refused(parent, child) for child, parent in pairs)

    @of_text
    def switches(self) -> Switches:
        return Switches(self.names, _expects_absence)

    def _guards(self, node: ast.If | ast.IfExp | ast.BoolOp | ast.Try, child: ast.AST) -> bool:
        """Whether a statement is such a switch, and a part of it not what TF2 runs."""
        if isinstance(node, (ast.If, ast.IfExp)) and self.switches:
            value = self.switches.on_tf2(node.test)
            if value is not None:
                taken = node.body if value else node.orelse
                return child is not taken and child not in (
                    taken if isinstance(taken, list) else ()
                )
        known = self._known_guards.get(node)
        if known is None:
            if isinstance(node, (ast.If, ast.IfExp)):
                known = self._asks_version(node.test)
            elif isinstance(node, ast.BoolOp):  # `hasattr(tf, 'contrib') and tf.contrib.eager`
                known = "hasattr" in self.source.code(node)
            else:
                known = _expects_absence(node) and not self._ends_program(node)
            self._known_guards[node] = known
        if known and isinstance(child, ast.ExceptHandler):
            assert isinstance(node, ast.Try)
            return not self._fails_on_tf2(node)
        return known

    def _ends_program(self, block: ast.Try) -> bool:
        """Whether a `try` of the module itself only says what is missing, and raises again."""
        at_import = isinstance(self.names.parents[block], ast.Module)
        return at_import and all(isinstance(h.body[-1], ast.Raise) for h in block.handlers)

    def _fails_on_tf2(self, block: ast.Try) -> bool:
        """Whether the body of a `try` surely comes to a name that TF2 has not: a handler runs."""
        if block not in self._known_failures:
            nodes = (node for statement in block.body for node in _surely_run(statement))
            self._known_failures[block] = any(map(self._is_absent, nodes))
        return self._known_failures[block]

    def _is_absent(self, node: ast.AST) -> bool:
        """Whether a part of a statement is a name that no TF2 has, nor perhaps any TF1 of today."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            spelled = self._imported_spellings(node)
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
            spelled = [name] if (name := self.names.qualname(node)) else []
        else:
            return False
        found = [(name, symbol(name)) for name in spelled]
        return any(
            meant is not None and meant.name and Use(node, meant, False, name).status in _ABSENT
            for name, meant in found
        )

    def _asks_version(self, test: ast.expr) -> bool:
        """Whether a condition may ask which TensorFlow or Python runs.

        What a function is given, and a flag, tells something else: `if model_version == 2`.
        """
        code = self.source.code(test)
        if not _SWITCH_NAMES.search(code):
            return False
        for node in ast.walk(test):
            name = getattr(node, "id", None) or getattr(node, "attr", None)
            asked: ast.AST | None
            if name == "hasattr":
                call = self.names.parents.get(node)
                asked = call.args[0] if isinstance(call, ast.Call) and call.args else None
            elif name and _OWN_VERSION.search(name) and not _OF_A_LIBRARY.search(name):
                asked = node
            else:
                continue
            if asked is not None and self._is_given(asked):
                code = re.sub(rf"\b{name}\b", "", code)
        return _SWITCH_NAMES.search(code) is not None

    def _is_given(self, node: ast.AST) -> bool:
        """Whether a value is a parameter, or a flag, or an attribute of one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        bindings = self.names.bindings_of(node) if isinstance(node, ast.Name) else []
        if bindings and all(binding.kind == "parameter" for binding in bindings):
            return True
        return (self.names.qualname(node) or "").endswith("flags.FLAGS")

    @of_text
    def _known_guards(self) -> dict[ast.AST, bool]:
        return {}

    @of_text
    def _known_failures(self) -> dict[ast.Try, bool]:
        return {}

    @of_text
    def _guarded(self) -> dict[ast.AST, bool]:
        return {}

    @of_text
    def tensorflow_imports(self) -> list[ast.Import | ast.ImportFrom]:
        """The import statements that bind TensorFlow or names of it."""
        return [
            node
            for node in self.names.imports
            if (
                any(alias.name.split(".")[0] == "tensorflow" for alias in node.names)
                and isinstance(node, ast.Import)
            )
            or (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "tensorflow"
                and not node.level
            )
        ]

    @of_text
    def environment_changes(self) -> list[ast.AST]:
        """Places that assign CUDA_VISIBLE_DEVICES or CUDA_DEVICE_ORDER in os.environ."""
        found: list[ast.AST] = []
        for attribute in self.names.attributes.get("environ", ()):
            parent = self.names.parents[attribute]
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                if isinstance(parent.slice, ast.Constant) and parent.slice.value in _CUDA:
                    found.append(parent)
            elif isinstance(parent, ast.Attribute) and parent.attr in ("update", "setdefault"):
                call = self.names.parents[parent]
                if any(name in self.source.code(call) for name in _CUDA):
                    found.append(call)
        for attribute in self.names.attributes.get("putenv", ()):
            found.append(self.names.parents[attribute])
        return found

    @of_text
    def statuses(self) -> set[str]:
        """The statuses of the names that the module needs."""
        flavours = ("plain", "v1", "private")
        return {u.status for u in self.uses if not u.guarded and u.symbol.flavour in flavours}

    @of_text
    def in_package(self) -> bool:
        """Whether a module works as a part of its package only: it imports from there by dots."""
        statements = (statement for statement, _ in self.import_statements)
        relative = (isinstance(s, ast.ImportFrom) and s.level > 0 for s in statements)
        return bool(self.package) and any(relative)

    @of_text
    def has_main_guard(self) -> bool:
        return any(
            isinstance(statement, ast.If)
            and any(
                isinstance(part, ast.Name) and part.id == "__name__"
                for part in ast.walk(statement.test)
            )
            for statement in self.tree.body
        )

    @of_text
    def places_operations(self) -> bool:
        """Whether it has what puts operations on devices: `tf.device`, a strategy, copies of a
        model. Where nothing does, soft placement has no effect."""
        return (
            "device" in self.names.attributes
            or any(_PLACES.search(use.symbol.name) for use in self.uses)
            or any(name.endswith(".multi_gpu_model") for name in self.keras_names)
        )

    @of_text
    def uses_keras_models(self) -> bool:
        return any(_KERAS_MODEL.search(name) for name in self.keras_names)

    @of_text
    def keras_names(self) -> list[str]:
        """Qualified Keras names that the module imports or uses."""
        found = [
            qualname
            for bindings in (s.bindings for s in self.names.scopes.values())
            for group in bindings.values()
            for binding in group
            if (qualname := binding.qualname) and _KERAS.match(qualname)
        ]
        if not found and "keras" not in self.source.text:
            return found
        imported = self.names.imported_ids
        found.extend(
            name
            for attributes in self.names.attributes.values()
            for node in attributes
            if _root_id(node) in imported
            and (name := self.names.qualname(node))
            and _KERAS.match(name)
        )
        return found


def imported_by(statement: ast.stmt, package: str) -> list[str]:
    """The modules that an import may mean, by their absolute names."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    assert isinstance(statement, ast.ImportFrom)
    base = absolute(statement, package)
    inner = [f"{base}.{alias.name}" if base else alias.name for alias in statement.names]
    return [name for name in (base, *inner) if name and not name.endswith("*")]


def tensorflow_name(module: Module, node: ast.AST) -> str:
    """The name of a TensorFlow function without its root and ``compat.v1``; empty for others."""
    for qualname in module.names.qualnames(node):
        found = symbol(qualname)
        if found is not None and found.flavour in ("plain", "v1", "private"):
            return found.name
    return ""


def _root_id(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _declares(text: str, word: str) -> bool:
    """Whether a word may begin a statement somewhere."""
    place = text.find(word)
    while place >= 0:
        before = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
        if not before or before[-1] in ";:":
            return True
        place = text.find(word, place + 1)
    return False


def _expects_absence(node: ast.Try) -> bool:
    """Whether a `try` catches what a missing module or name raises."""
    caught = {part.rpartition(".")[2] for handler in node.handlers for part in _caught(handler)}
    if not caught & _ABSENCE:
        return False
    # A handler that is a bare `except:` around real work is no guard.
    imports = any(isinstance(s, (ast.Import, ast.ImportFrom)) for s in node.body)
    aliases = [s for s in node.body if not _is_flag(s)]
    return "*" not in caught or imports or (bool(aliases) and all(map(_is_alias, aliases)))


def _is_flag(statement: ast.stmt) -> bool:
    """`is_old = False`"""
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)


def _surely_run(statement: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that run whenever it does: no body of a function, no branch."""
    yield statement
    if not isinstance(statement, _MAY_NOT_RUN):
        for child in ast.iter_child_nodes(statement):
            yield from _surely_run(child)


def _is_alias(statement: ast.stmt) -> bool:
    """`image_summary = tf.image_summary`, which fails by the name alone."""
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Attribute)


def _caught(handler: ast.ExceptHandler) -> list[str]:
    if handler.type is None:
        return ["*"]
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    found = [ast.unparse(part) for part in parts]
    return ["*" if name in ("Exception", "BaseException") else name for name in found]


def fact(ask: Callable[[Module], _Answer]) -> Callable[[Module], _Answer]:
    """A question about one module, answered once: the answer is kept on the module.

    For what follows from the module's own text alone, for other files may be told later. It
    is asked again after ``Module.forget``. Callers must not change the answer.
    """

    @wraps(ask)
    def known(module: Module) -> _Answer:
        kept = vars(module).setdefault(_FACTS, {})
        if ask not in kept:
            kept[ask] = ask(module)
        answer: _Answer = kept[ask]
        return answer

    return known


def fact_of_text(ask: Callable[[Module], _Answer]) -> Callable[[Module], _Answer]:
    """The same, for an answer that names no module: a run that is planned again has it, too.

    What is asked of a module's nodes, names and text is the same for each copy of the module, as
    `Module.again` makes them. Callers must not change the answer.
    """

    @wraps(ask)
    def known(module: Module) -> _Answer:
        kept = module.known_of_text
        if ask not in kept:
            kept[ask] = ask(module)
        answer: _Answer = kept[ask]
        return answer

    return known
