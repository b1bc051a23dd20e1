"""What a program does only where its user asks for it: branches that its defaults do not take.

An option is a flag, an argument of the command line, a parameter with a default; what it is when
nobody sets it decides ``if FLAGS.quantize:``. Where several ways of doing one thing stand beside
each other and a setting chooses one (``if cell == "gru": ... elif cell == "cudnn": ...``), each is
asked for as well, although its default is not known.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from migrate_mgpu.analysis.arguments import bind, defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_conditions import Unknown
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.scopes import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEEP = 6  # calls that hand an option on, or lead to a branch
_DEFINES = re.compile(r"DEFINE_(bool|boolean|integer|float|string|enum)$")
# A program does each of these, whatever it is asked for.
_PHASES = re.compile(r"train|eval|infer|predict|test|phase|(?<![a-z]_)mode|version|(?i:modekeys)")
_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.eq, ast.Eq: operator.eq, ast.IsNot: operator.ne, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class Options:
    """The options of one program, and the code that is run only where one of them asks for it.

    ``avoided`` are the nodes for which that is asked, by module: an alternative to a branch has
    none of them.
    """

    def __init__(self, program: Program, graph: CallGraph, avoided: AbstractSet[ast.AST]) -> None:
        self.program = program
        self.graph = graph.within(program.modules)
        self.avoided = avoided
        self._asked: list[str] = []  # attributes of objects whose values are looked for
        self.flags = _agreed(_flags(module) for module in program.modules)
        self.arguments = _agreed(_arguments(module) for module in program.modules)

    def asks_for(self, module: Module, node: ast.AST) -> str | None:
        """The condition, as it is written, under which a program comes to a node.

        None where it may come there as it is started, or where that is not known.
        """
        return self._asks_for(module, node, frozenset())

    def _asks_for(self, module: Module, node: ast.AST, seen: frozenset[ast.AST]) -> str | None:
        names = module.names
        child = node
        for parent in names.ancestors(node):
            if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                inside = child in body
                test = module.source.code(parent.test)
                value = self.value(module, parent.test)
                if value is not Unknown:
                    if bool(value) != inside:
                        return test if inside else f"not ({test})"
                elif isinstance(parent, ast.If) and self._has_alternative(module, parent, inside):
                    return test if inside else f"not ({test})"
            if isinstance(parent, _FUNCTIONS):
                if parent in seen or len(seen) > _DEEP:
                    return None
                return self._called_for(module, parent, seen | {parent})
            child = parent
        return None

    def _called_for(
        self, module: Module, function: ast.AST, seen: frozenset[ast.AST]
    ) -> str | None:
        """The condition under which any code of the program calls a function."""
        assert isinstance(function, _FUNCTIONS)
        owner = module.names.parents[function]
        if isinstance(owner, ast.ClassDef) and not _is_called_by_name(function, owner):
            return None
        found: list[str | None] = []
        for one, mention in self._mentions(module, function):
            if function not in one.names.ancestors(mention):  # no call of itself
                found.append(self._asks_for(one, mention, seen))
        return None if None in found or not found else found[0]

    def _mentions(
        self, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Iterator[tuple[Module, ast.AST]]:
        """Where a function may be named: by its name as far as that is not another one's."""
        for one in self.program.modules:
            for attribute in one.names.attributes.get(function.name, ()):
                if not (one.names.qualname(attribute) or "").startswith("tensorflow."):
                    target = self.graph.target(one, attribute)
                    if target is None or target.node is function:
                        yield one, attribute
        for reference in self.graph.references(Function(module, function)):
            if isinstance(reference.node, ast.Name):
                yield reference.module, reference.node

    def _has_alternative(self, module: Module, branch: ast.If, inside: bool) -> bool:
        """Whether another arm of the same choice does the same thing otherwise."""
        if _PHASES.search(module.source.code(branch.test)):
            return False
        arms = [branch.orelse if inside else branch.body]
        below = branch
        parent = module.names.parents[below]
        while isinstance(parent, ast.If) and parent.orelse == [below]:
            arms.append(parent.body)
            below, parent = parent, module.names.parents[parent]
        return any(self._is_free(module, arm, frozenset()) for arm in arms)

    def _is_free(self, module: Module, arm: list[ast.stmt], seen: frozenset[ast.AST]) -> bool:
        """Whether statements do something, and come to none of the nodes."""
        if isinstance(arm[0] if arm else None, ast.If) and len(arm) == 1:
            chain = arm[0]
            assert isinstance(chain, ast.If)
            return any(self._is_free(module, part, seen) for part in (chain.body, chain.orelse))
        if all(isinstance(one, (ast.Raise, ast.Pass, ast.Assert, ast.Return)) and not _gives(one)
               for one in arm):  # fmt: skip
            return False
        return all(self._is_clean(module, one, seen) for one in arm)

    def _is_clean(self, module: Module, part: ast.AST, seen: frozenset[ast.AST]) -> bool:
        for node in walk(part):
            if node in self.avoided:
                return False
            if isinstance(node, ast.Call):
                target = self.graph.target(module, node.func)
                if target is None or target.node in seen:
                    continue
                if len(seen) > _DEEP:
                    return False
                if not self._is_clean(target.module, target.node, seen | {target.node}):
                    return False
        return True

    # -- what an expression is, where nobody asks for something else --------------------------

    def value(self, module: Module, node: ast.expr | None, depth: int = 0) -> object:
        """What an expression is by the program's defaults; `Unknown` where that is not known."""
        if node is None or depth > _DEEP:
            return Unknown
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp):
            inner = self.value(module, node.operand, depth)
            if inner is Unknown:
                return Unknown
            if isinstance(node.op, ast.Not):
                return not inner
            negative = isinstance(node.op, ast.USub) and isinstance(inner, (int, float))
            return -inner if negative and isinstance(inner, (int, float)) else Unknown
        if isinstance(node, ast.BoolOp):
            values = [self.value(module, one, depth) for one in node.values]
            ends = isinstance(node.op, ast.Or)  # what one value alone makes of all
            if any(one is not Unknown and bool(one) is ends for one in values):
                return ends
            return Unknown if Unknown in values else not ends
        if isinstance(node, ast.Compare):
            return self._compared(module, node, depth)
        if isinstance(node, ast.Name):
            return self._named(module, node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(module, node, depth)
        if isinstance(node, ast.Subscript):
            return self._item(module, node)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "bool" and node.args:
            inner = self.value(module, node.args[0], depth)
            return inner if inner is Unknown else bool(inner)
        if isinstance(node, ast.Call):
            return self._left_out(module, node, depth)
        return Unknown

    def _compared(self, module: Module, node: ast.Compare, depth: int) -> object:
        compare = _OPERATORS.get(type(node.ops[0]))
        values = [self.value(module, one, depth) for one in (node.left, node.comparators[0])]
        if compare is None or len(node.ops) > 1 or Unknown in values:
            return Unknown
        try:
            return compare(*values)
        except TypeError:
            return Unknown

    def _named(self, module: Module, node: ast.Name, depth: int) -> object:
        binding = module.names.only_binding(node)
        if binding is None:
            return Unknown
        if binding.kind == "assign" and binding.value is not None:
            return self.value(module, binding.value, depth + 1)
        if binding.kind != "parameter":
            return Unknown
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        around = home.function() if home is not None else None
        if not isinstance(around, ast.FunctionDef):
            return Unknown
        return self._parameter(module, around, node.id, depth)

    def _parameter(self, module: Module, around: ast.FunctionDef, name: str, depth: int) -> object:
        """What all calls of a function give a parameter, or its default where they leave it out."""
        function = Function(module, around)
        if function.owner is not None and around.name != "__init__":
            return Unknown
        default = dict(defaults_of(around.args)).get(name)
        found: list[object] = []
        calls = self._calls(function)
        for other, call in calls or ():
            bound = bind(call, function)
            if bound.unclear is not None:
                return Unknown
            given = bound.given(name)
            if given is not None:
                found.append(self.value(other, given, depth + 1))
            else:
                found.append(self.value(module, default, depth + 1))
        if not found or Unknown in found:
            return Unknown
        if all(one == found[0] for one in found):
            return found[0]
        return False if not any(found) else Unknown

    def _calls(self, function: Function) -> list[tuple[Module, ast.Call]] | None:
        """All calls of a function or class, also by other names; None where it is handed on."""
        found: dict[ast.Call, Module] = {}
        others: set[str] = set()
        for reference in self.graph.references(function):
            parent = reference.module.names.parents[reference.node]
            if reference.call is not None:
                found[reference.call] = reference.module
            elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
                others.add(parent.targets[0].id)
            elif function.owner is None or not isinstance(parent, ast.Attribute):
                return None  # and no other attribute of a class
        for name in others:
            for module in self.program.modules:
                mentions = [
                    *module.names.by_id.get(name, ()),
                    *module.names.attributes.get(name, ()),
                ]
                for mention in mentions:
                    parent = module.names.parents[mention]
                    if isinstance(parent, ast.Call) and parent.func is mention:
                        found[parent] = module
                    elif isinstance(mention.ctx, ast.Load) and not isinstance(
                        parent, ast.Attribute
                    ):
                        return None
        return [(module, call) for call, module in found.items()]

    def _attribute(self, module: Module, node: ast.Attribute, depth: int) -> object:
        root = node.value
        if isinstance(root, ast.Name) and root.id == "self":
            return self._of_object(module, node, depth)
        if any(
            isinstance(one.ctx, ast.Store)
            for other in self.program.modules
            for one in other.names.attributes.get(node.attr, ())
        ):
            return Unknown
        shown = module.names.qualname(root) or module.source.code(root)
        if shown.endswith("FLAGS"):
            return self.flags.get(node.attr, Unknown)
        binding = module.names.only_binding(root) if isinstance(root, ast.Name) else None
        if binding is None:
            return Unknown
        made = binding.value
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
            if made.func.attr in ("parse_args", "parse_known_args"):
                return self.arguments.get(node.attr, Unknown)
        return Unknown

    def _of_object(self, module: Module, node: ast.Attribute, depth: int) -> object:
        """`self.option`, which a constructor alone sets."""
        owner = _class_around(module, node)
        stores = [
            (other, one)
            for other in self.program.modules
            for one in other.names.attributes.get(node.attr, ())
            if isinstance(one.ctx, ast.Store) and not _is_of_another(other, one, owner)
        ]
        if owner is None or len(stores) != 1 or stores[0][0] is not module:
            return Unknown
        statement = module.names.parents[stores[0][1]]
        inside = owner in module.names.ancestors(statement)
        if not inside or not isinstance(statement, ast.Assign):
            return Unknown
        self._asked.append(node.attr)
        found = self.value(module, statement.value, depth + 1)
        self._asked.pop()
        return found

    def _left_out(self, module: Module, call: ast.Call, depth: int) -> object:
        """`kwargs.pop("option", False)`, where no call gives it."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in ("get", "pop"):
            return Unknown
        if not isinstance(function.value, ast.Name) or len(call.args) != 2:
            return Unknown
        home = module.names.scope_of_name[function.value].function()
        kwargs = home.args.kwarg if isinstance(home, ast.FunctionDef) else None
        name = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
        if kwargs is None or kwargs.arg != function.value.id or not isinstance(name, str):
            return Unknown
        default = self.value(module, call.args[1], depth + 1)
        for one in self.program.modules:
            if any(_keys(one).get(name, ())):
                return Unknown
            for keyword in _keywords(one).get(name, ()):
                if isinstance(keyword, ast.Attribute) and keyword.attr in self._asked:
                    continue  # it is handed on
                if self.value(one, keyword, depth + 1) != default:
                    return Unknown
        return default

    def _item(self, module: Module, node: ast.Subscript) -> object:
        """`params["option"]`, where dictionaries of parameters are those of flags."""
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(key, str) or key not in self.flags:
            return Unknown
        handed = any("flag_values_dict" in one.names.attributes for one in self.program.modules)
        others = (other for one in self.program.modules for other in _keys(one).get(key, ()))
        return self.flags[key] if handed and not any(others) else Unknown


def _class_around(module: Module, node: ast.AST) -> ast.ClassDef | None:
    return next((p for p in module.names.ancestors(node) if isinstance(p, ast.ClassDef)), None)


def _is_of_another(module: Module, store: ast.Attribute, owner: ast.ClassDef | None) -> bool:
    """Whether an attribute is set of objects of a class that has nothing to do with another one."""
    around = _class_around(module, store)
    if owner is None or around is owner or getattr(store.value, "id", "") != "self":
        return False
    if around is None:
        return False
    return not any(
        ast.unparse(base).rpartition(".")[2] == other.name
        for one, other in ((owner, around), (around, owner))
        for base in one.bases
    )


def _gives(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and statement.value is not None


def _is_called_by_name(method: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef) -> bool:
    """Whether nothing but code of the program calls a method: no base class, no decorator."""
    plain = all(getattr(base, "id", "") == "object" for base in owner.bases)
    return plain and not method.decorator_list and not method.name.startswith("__")


def _agreed(found: Iterable[dict[str, object]]) -> dict[str, object]:
    """The defaults that all modules of a program give an option."""
    agreed: dict[str, object] = {}
    for options in found:
        for name, value in options.items():
            known = agreed.setdefault(name, value)
            if known is not value and known != value:
                agreed[name] = Unknown
    return agreed


@fact_of_text
def _flags(module: Module) -> dict[str, object]:
    """The defaults of the flags that a module defines."""
    found: dict[str, object] = {}
    for call in module.names.calls:
        shown = getattr(call.func, "attr", getattr(call.func, "id", ""))
        name = call.args[0] if call.args else None
        if not _DEFINES.match(shown) or not isinstance(name, ast.Constant):
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        default = call.args[1] if len(call.args) > 1 else given.get("default")
        found[str(name.value)] = _literal(default)
    return found


@fact_of_text
def _arguments(module: Module) -> dict[str, object]:
    """The defaults of the arguments of the command line that a module reads."""
    found: dict[str, object] = {}
    for call in module.names.calls:
        if getattr(call.func, "attr", "") != "add_argument" or not call.args:
            continue
        names = [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
        long = [one for one in names if one.startswith("--")]
        if not long:
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        name = given["dest"] if "dest" in given else ast.Constant(long[0][2:].replace("-", "_"))
        action = getattr(given.get("action"), "value", None)
        unset: object = {"store_true": False, "store_false": True}.get(str(action))
        default = _literal(given["default"]) if "default" in given else unset
        if isinstance(name, ast.Constant):
            found[str(name.value)] = default if None not in given else Unknown
    return found


@fact_of_text
def _keywords(module: Module) -> dict[str, list[ast.expr]]:
    """What a module's calls give by keyword."""
    found: dict[str, list[ast.expr]] = {}
    for call in module.names.calls:
        for keyword in call.keywords:
            if keyword.arg is not None:
                found.setdefault(keyword.arg, []).append(keyword.value)
    return found


@fact_of_text
def _keys(module: Module) -> dict[str, list[ast.AST]]:
    """The keys that a module's dictionaries are made or filled with."""
    found: dict[str, list[ast.AST]] = {}
    for node in walk(module.tree):
        keys: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            keys = [*node.keys]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dict":
            keys = [ast.Constant(one.arg) for one in node.keywords]
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                found.setdefault(key.value, []).append(node)
    return found


def _literal(node: ast.expr | None) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = getattr(node.operand, "value", None)
        return -inner if isinstance(inner, (int, float)) else Unknown
    return Unknown if node is not None else None
