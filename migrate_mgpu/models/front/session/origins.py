"""What parts of a graph, and its session, are called outside of the scope that builds it.

A name of that scope is known in functions within it; besides, what the scope returns has names
where it is called, and what a function is given has those of its parameters.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Union

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.idioms import record_fields
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.scope import SessionScope, constructor_of, is_session


class Whole(enum.Enum):
    """What is no single part of a graph."""

    SESSION = enum.auto()
    RETURNED = enum.auto()  # all that the scope returns
    OBJECT = enum.auto()  # that of the class whose constructor is the scope


@record(frozen=True)
class Named:
    """A name of the scope that builds the graph."""

    name: str


Origin = Union[Whole, Named]
_ENDS = (ast.Return, ast.Yield, ast.YieldFrom)
_DEEP = 8  # functions that hand an object on


class Origins:
    """Follows expressions to names of the scope that builds, or to the session."""

    def __init__(self, graph: CallGraph, scope: SessionScope) -> None:
        self.module = scope.module
        self.names = scope.module.names
        self.graph = graph
        self.scope = scope
        self.home = self.names.scopes[scope.node]
        self.holders = {self.names.scopes[node]: name for node, name in scope.holders.items()}
        self.owner = scope.owner
        self.given = given_attributes(scope.module, graph, scope.owner)
        self.exported = _exported(scope, self.given)
        self._returning: dict[ast.AST, bool] = {}
        self._parameters: dict[tuple[ast.AST, str], Origin | None] = {}
        self._keeping: dict[tuple[ast.ClassDef, str], ast.Assign | None] = {}

    def of(self, node: ast.expr) -> Origin | None:
        """What an expression stands for; None where that is neither of both."""
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            if self.of(node.value) is Whole.RETURNED:
                return self._export(constant(node.slice))
            plain = not isinstance(node.slice, ast.Slice)
            return Whole.OBJECT if plain and self.are_objects(node.value) else None
        if isinstance(node, ast.Attribute) and self.of(node.value) is Whole.OBJECT:
            return self._export(node.attr)
        if isinstance(node, ast.Attribute):
            kept = self.kept_in(node)
            return self.of(kept.value) if kept is not None else None
        if isinstance(node, ast.Call):
            target = self.graph.target(self.module, node.func)
            if target is not None and target.node is self.scope.node:
                if self.owner is not None:
                    return Whole.OBJECT if target.name == "__init__" else None
                one = self.exported.get(None)
                return self.of(one) if one is not None else Whole.RETURNED
            return Whole.OBJECT if self.returns_object(target) else None
        return None

    def returns_object(self, function: Function | None) -> bool:
        """Whether a function ends with returning the object, and is only called.

        It returns nothing elsewhere, where it may not have it.
        """
        if function is None or function.module is not self.module or self.owner is None:
            return False
        if function.node not in self._returning:
            self._returning[function.node] = False  # ends recursion
            self._returning[function.node] = self._returns(function)
        return self._returning[function.node]

    def _returns(self, function: Function) -> bool:
        node = function.node
        *above, last = node.body
        if not isinstance(node, ast.FunctionDef) or not isinstance(last, ast.Return):
            return False
        inner = (part for one in above for part in walk(one))
        if node.decorator_list or any(isinstance(p, _ENDS) for p in inner):
            return False
        called = all(one.call is not None for one in self.graph.references(function))
        return called and last.value is not None and self.of(last.value) is Whole.OBJECT

    def _export(self, key: object) -> Origin | None:
        found = self.exported.get(key) if isinstance(key, (int, str)) else None
        return self.of(found) if found is not None else None

    def _name(self, node: ast.Name) -> Origin | None:
        scope = self.names.scope_of_name.get(node)
        home = self.names.defining_scope(node.id, scope) if scope is not None else None
        if home is None:
            return None
        if self.holders.get(home) == node.id:
            return Whole.SESSION
        bindings = home.bindings[node.id]
        if self._is_self(home, node.id):
            return Whole.OBJECT
        if home is self.home:
            if [one.kind for one in bindings] == ["parameter"]:
                return self._parameter(home, node.id) or Named(node.id)
            return Named(node.id)
        if len(bindings) != 1:
            # One object is made in each arm of a condition, by one name.
            made = all(isinstance(one.value, ast.Call) for one in bindings)
            values = [one.value for one in bindings if one.value is not None]
            objects = made and all(self.of(one) is Whole.OBJECT for one in values)
            return Whole.OBJECT if objects else None
        if bindings[0].kind == "parameter":
            return self._parameter(home, node.id)
        value = bindings[0].value
        if value is not None:
            return self.of(value)
        return self._unpacked(bindings[0].node) or self._element(bindings[0].node)

    def _is_self(self, home: Scope, name: str) -> bool:
        """Whether a name is what the methods of the class that builds call their object."""
        method, owner = home.node, self.owner
        if owner is None or not isinstance(method, ast.FunctionDef):
            return False
        if self.names.parents.get(method) is not owner or method.decorator_list:
            return False
        first = Function(self.module, method).parameters()[:1]
        return first == [name] and len(home.bindings[name]) == 1

    def kept_in(self, node: ast.Attribute) -> ast.Assign | None:
        """The one statement that keeps the session, or the object of the graph, in others.

        That is `self.model = model`, for an attribute of objects of another class.
        """
        owner = class_of(self.module, node) or class_of_object(self.graph, self.module, node.value)
        if owner is None or owner is self.owner:
            return None
        key = owner, node.attr
        if key not in self._keeping:
            self._keeping[key] = None  # ends recursion
            self._keeping[key] = self._keeps(*key)
        return self._keeping[key]

    def _keeps(self, owner: ast.ClassDef, name: str) -> ast.Assign | None:
        stored = [
            one
            for one in self.names.attributes[name]
            if not isinstance(one.ctx, ast.Load) and not is_of_another(self.module, one, owner)
        ]
        statement = self.names.statement(stored[0]) if len(stored) == 1 else None
        if not isinstance(statement, ast.Assign) or statement.targets != stored:
            return None
        if class_of(self.module, stored[0]) is not owner:
            return None
        known = isinstance(statement.value, (ast.Name, ast.Call))
        wanted = (Whole.OBJECT, Whole.SESSION)
        return statement if known and self.of(statement.value) in wanted else None

    def is_own(self, module: Module, node: ast.Attribute) -> bool:
        """Whether it is seen whose attribute one is: a class's, or that of a module."""
        plain = module is self.module and self.of(node.value) is Whole.OBJECT
        known = class_of(module, node) or class_of_object(self.graph, module, node.value)
        return plain or bool(module.names.qualname(node)) or known is not None

    def given_to(self, node: ast.expr) -> Function | None:
        """The function that a call gives the object, where it is that in all of its calls."""
        call = self.names.taker(node)
        target = self.target(call) if call is not None else None
        if call is None or target is None or target.module is not self.module:
            return None
        given = arguments_by_name(target, call)
        name = next((one for one, value in given.items() if value is node), None)
        home = self.names.scopes[target.node]
        plain = name is not None and [b.kind for b in home.bindings[name]] == ["parameter"]
        whole = name is not None and plain and self._parameter(home, name) is Whole.OBJECT
        return target if whole else None

    def is_of_another(self, module: Module, node: ast.Attribute) -> bool:
        """Whether an attribute is one of a module, or of an object of another class."""
        return (
            is_of_another(module, node, self.owner)
            or is_of_given(module, node, self.owner, self.given)
            or _is_of_parameter(module, self.graph, node, self.owner)
            or is_of_other_object(self.graph, module, node, self.owner)
            or _is_of_record(module, node)
        )

    def _unpacked(self, node: ast.AST) -> Origin | None:
        """One of the names of ``x, y = build()``."""
        statement = self.names.statement(node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, (ast.Tuple, ast.List)) or node not in target.elts:
            return None
        if isinstance(statement.value, (ast.Tuple, ast.List)):
            if len(statement.value.elts) == len(target.elts):
                return self.of(statement.value.elts[target.elts.index(node)])
            return None
        if self.of(statement.value) is not Whole.RETURNED:
            return None
        return self._export(target.elts.index(node))

    def _element(self, node: ast.AST) -> Origin | None:
        """What a loop goes through: `for model in models`, `for i, model in enumerate(models)`."""
        if self.owner is None:
            return None
        target: ast.AST | None = node
        parent = self.names.parents.get(node)
        index: int | None = None
        if isinstance(parent, ast.Tuple):
            index = parent.elts.index(node) if isinstance(node, ast.Name) else None
            target, parent = parent, self.names.parents.get(parent)
        if not isinstance(parent, (ast.For, ast.comprehension)) or parent.target is not target:
            return None
        items = parent.iter
        if index is not None:
            kind = self.names.qualname(items.func) if isinstance(items, ast.Call) else ""
            given = items.args if isinstance(items, ast.Call) and not items.keywords else []
            if kind == "builtins.enumerate" and index == 1 and given:
                items = given[0]
            elif kind == "builtins.zip" and index < len(given):
                items = given[index]
            else:
                return None
        return Whole.OBJECT if self.are_objects(items) else None

    def are_objects(self, node: ast.expr) -> bool:
        """Whether an expression is a list of objects of the class that has the graph."""
        if self.owner is None:
            return False
        if isinstance(node, (ast.List, ast.Tuple)):
            return bool(node.elts) and all(self.of(one) is Whole.OBJECT for one in node.elts)
        if isinstance(node, ast.ListComp):
            return self.of(node.elt) is Whole.OBJECT
        value = self.names.only_value(node) if isinstance(node, ast.Name) else None
        if not isinstance(node, ast.Name) or value is None or isinstance(value, ast.Name):
            return False
        if not isinstance(value, ast.List) or value.elts:
            return self.are_objects(value)
        home = self.names.defining_scope(node.id, self.names.scope_of_name[node])
        added = [
            call.args
            for mention in (self.names.mentions(node.id, home) if home is not None else ())
            if isinstance(attribute := self.names.parents.get(mention), ast.Attribute)
            and isinstance(call := self.names.parents.get(attribute), ast.Call)
            and attribute.attr == "append"
        ]
        return bool(added) and all(
            len(args) == 1 and self.of(args[0]) is Whole.OBJECT for args in added
        )

    def _parameter(self, home: Scope, name: str) -> Origin | None:
        """What a parameter is in every call of its function."""
        key = home.node, name
        if key not in self._parameters:
            self._parameters[key] = None  # ends recursion
            found = {
                self.of(value) if value is not None else None for value in self.arguments_for(*key)
            }
            if not found and self._is_session_of_others(home, name):
                found = {Whole.SESSION}
            self._parameters[key] = found.pop() if len(found) == 1 else None
        return self._parameters[key]

    def _is_session_of_others(self, home: Scope, name: str) -> bool:
        """Whether a method that nothing calls names a parameter as others do that get the session.

        One of them is called: `def train(self, sess, batch)` beside `def test(self, sess, batch)`.
        """
        owner = self.owner
        if owner is None or home.node not in owner.body or home.node is self.scope.node:
            return False
        for other in owner.body:
            if isinstance(other, ast.FunctionDef) and other not in (home.node, self.scope.node):
                scope = self.names.scopes[other]
                if [one.kind for one in scope.bindings.get(name, ())] == ["parameter"]:
                    if self._parameter(scope, name) is Whole.SESSION:
                        return True
        return False

    def arguments_for(self, function: ast.AST, name: str) -> Iterator[ast.expr | None]:
        """What each call of a function gives a parameter; None where that is not seen."""
        if not isinstance(function, ast.FunctionDef):
            return
        known = Function(self.module, function)
        for reference in self.references(known):
            if reference.call is None or reference.module is not self.module:
                yield None
            else:
                yield arguments_by_name(known, reference.call).get(name)

    # -- functions ------------------------------------------------------------------

    def target(self, call: ast.Call) -> Function | None:
        """The function, or the method of the object that has the graph, that a call reaches."""
        method = self._method(call.func)
        return method if method is not None else self.graph.target(self.module, call.func)

    def is_method(self, node: ast.expr) -> bool:
        """Whether an expression is a method of the object that has the graph: `model.eval`."""
        return self._method(node) is not None

    def _method(self, node: ast.expr) -> Function | None:
        owner = self.owner
        if owner is None or not isinstance(node, ast.Attribute):
            return None
        if self.of(node.value) is not Whole.OBJECT:
            return None
        for statement in owner.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == node.attr:
                return Function(self.module, statement)
        return None

    def references(self, function: Function) -> list[Reference]:
        """The mentions of a function, or of a method of the object that has the graph."""
        known = self.graph.references(function)
        known = [one for one in known if not is_annotation(one.module, one.node)]
        if function.owner is None or function.owner is not self.owner:
            return known
        if function.node is self.scope.node:
            return known
        found: list[Reference] = []
        for mention in self.names.attributes.get(function.name, ()):
            if is_of_another(self.module, mention, self.owner):
                continue  # `self.writer.add_summary(...)`, of TensorFlow's own
            if function.name in ("eval", "run") and isinstance(self.of(mention.value), Named):
                continue  # `model.step.eval()`, of a part of the graph
            parent = self.names.parents.get(mention)
            called = isinstance(parent, ast.Call) and parent.func is mention
            call = parent if called and isinstance(parent, ast.Call) else None
            found.append(Reference(self.module, mention, call))
        return found

    def runs(self, function: Function, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function, or one that it calls, runs something in the session."""
        if function.module is not self.module or function.node in seen:
            return False
        for call in (n for n in walk(function.node) if isinstance(n, ast.Call)):
            if is_session(self.module, call):
                return True
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval"):
                if call.func.attr == "eval" or self.of(call.func.value) is Whole.SESSION:
                    return True
            target = self.target(call)
            if target is not None and self.runs(target, seen | {function.node}):
                return True
        return False


def arguments_by_name(function: Function, call: ast.Call) -> dict[str, ast.expr]:
    """What a call gives a function's parameters, by their names; nothing where that is unclear."""
    arguments = bind(call, function)
    return arguments.written() if arguments.unclear is None else {}


def is_annotation(module: Module, node: ast.AST) -> bool:
    """Whether a mention only says of what type something is."""
    for part in (node, *module.names.ancestors(node)):
        above = module.names.parents.get(part)
        if isinstance(above, (ast.arg, ast.AnnAssign)) and above.annotation is part:
            return True
        if isinstance(above, ast.FunctionDef) and above.returns is part:
            return True
    return False


def is_of_another(module: Module, node: ast.Attribute, owner: ast.ClassDef | None) -> bool:
    """Whether an attribute is one of a module, or of an object of another class than some.

    Nor is it the class's where some module outside of the run made what it is of, of constants:
    `mnist.train`, of `mnist = read_data_sets('data', one_hot=True)`; or TensorFlow.
    """
    if module.names.qualname(node) or class_of(module, node) not in (None, owner):
        return True
    return _is_made_outside(module, node.value)


def is_of_other_object(
    graph: CallGraph, module: Module, node: ast.Attribute, owner: ast.ClassDef | None
) -> bool:
    """Whether an attribute is that of a name whose one value is made by another class."""
    known = class_of_object(graph, module, node.value)
    if known is None or known is owner:
        return False
    return all(isinstance(base, ast.Name) and base.id == "object" for base in known.bases)


def is_of_class(graph: CallGraph, module: Module, node: ast.Attribute, owner: ast.ClassDef) -> bool:
    """Whether an attribute is asked of a class by its name: `Model.predict(model, images)`."""
    known = graph.class_of(module, node.value)
    return known is not None and known[1] is owner


def class_of_object(
    graph: CallGraph, module: Module, node: ast.expr, deep: int = _DEEP
) -> ast.ClassDef | None:
    """The class of what a name stands for, where the name has one value that makes it.

    That of a parameter is the class of what each call of its function gives it.
    """
    if not isinstance(node, ast.Name) or not deep:
        return None
    if module.names.is_parameter(node):
        return _class_of_given(graph, module, node, deep - 1)
    made = module.names.only_value(node)
    known = graph.class_of(module, made.func) if isinstance(made, ast.Call) else None
    return known[1] if known is not None else None


def _class_of_given(
    graph: CallGraph, module: Module, node: ast.Name, deep: int
) -> ast.ClassDef | None:
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    if home is None or home.node not in module.tree.body:
        return None  # a method's calls are not all known by its name
    if not isinstance(home.node, ast.FunctionDef) or home.node.decorator_list:
        return None
    function = Function(module, home.node)
    found: set[ast.ClassDef | None] = set()
    for one in graph.references(function):
        given = arguments_by_name(function, one.call).get(node.id) if one.call is not None else None
        found.add(class_of_object(graph, one.module, given, deep) if given is not None else None)
    return found.pop() if len(found) == 1 else None


def _is_of_record(module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute is a field of a named tuple: of one that a list of them has.

    `for i, step in enumerate(episode)`, behind `episode.append(Step(state, action))`.
    """
    names = module.names
    binding = names.only_binding(node.value) if isinstance(node.value, ast.Name) else None
    target: ast.AST | None = binding.node if binding is not None else None
    parent = names.parents.get(target) if target is not None else None
    loop = names.parents.get(parent) if isinstance(parent, ast.Tuple) else parent
    if not isinstance(loop, (ast.For, ast.comprehension)):
        return False
    items = loop.iter
    if isinstance(parent, ast.Tuple):
        counted = isinstance(items, ast.Call) and names.qualname(items.func) == "builtins.enumerate"
        if loop.target is not parent or not counted or parent.elts[1:] != [target]:
            return False
        assert isinstance(items, ast.Call)
        items = items.args[0] if items.args else items
    elif loop.target is not target:
        return False
    while isinstance(items, ast.Subscript) and isinstance(items.slice, ast.Slice):
        items = items.value
    made = names.only_value(items) if isinstance(items, ast.Name) else None
    if not isinstance(items, ast.Name) or not isinstance(made, ast.List) or made.elts:
        return False
    home = names.defining_scope(items.id, names.scope_of_name[items])
    appended = 0
    for mention in names.mentions(items.id, home) if home is not None else ():
        around = names.parents.get(mention)
        call = names.parents.get(around) if isinstance(around, ast.Attribute) else None
        if isinstance(call, ast.Call) and isinstance(around, ast.Attribute) and call.func is around:
            if around.attr != "append" or len(call.args) != 1:
                return False
            if not _makes_record(module, call.args[0], node.attr):
                return False
            appended += 1
        elif isinstance(around, ast.Subscript):
            if around.value is not mention or not isinstance(around.ctx, ast.Load):
                return False
        elif isinstance(around, (ast.For, ast.comprehension)):
            continue
        elif isinstance(around, ast.Call):
            known = names.qualname(around.func) or ""
            if known not in ("builtins.enumerate", "builtins.len", "builtins.zip"):
                return False
        elif isinstance(mention.ctx, ast.Load):
            return False
    return appended > 0


def _makes_record(module: Module, node: ast.expr, field: str) -> bool:
    """`Step(state, action)`, of `Step = namedtuple("Step", ["state", "action"])`."""
    fields = record_fields(module, node.func) if isinstance(node, ast.Call) else None
    return fields is not None and field in fields


def method_calls(
    graph: CallGraph, owner: ast.ClassDef, name: str
) -> list[tuple[Module, ast.Attribute]] | None:
    """Where a method of a class may be called; None where it may be called in another way."""
    found: list[tuple[Module, ast.Attribute]] = []
    for module in graph.modules:
        for mention in module.names.attributes.get(name, ()):
            if is_of_class(graph, module, mention, owner):
                return None
            if is_of_another(module, mention, owner):
                continue
            if is_of_other_object(graph, module, mention, owner):
                continue  # `data_sets.train = DataSet(images)`, of TF's own tutorials
            call = module.names.parents.get(mention)
            if isinstance(call, ast.Attribute) and not call.attr.startswith("__"):
                continue  # `data.train.images`: a method has nothing of that kind
            if not isinstance(call, ast.Call) or call.func is not mention:
                return None
            found.append((module, mention))
    return found


def given_attributes(
    module: Module, graph: CallGraph, owner: ast.ClassDef | None
) -> frozenset[str]:
    """The attributes in which the one object of a class keeps what its constructor is given.

    None of that is the object: it was there before. Nothing else gives these attributes values.
    """
    node = constructor_of(owner) if owner is not None else None
    if node is None or not node.args.args or not graph.runs_once(module, node.body[0]):
        return frozenset()
    parameters = module.names.scopes[node].bindings
    found: set[str] = set()
    for statement in node.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        value = statement.value
        if len(statement.targets) > 1 or not isinstance(value, ast.Name):
            continue
        alone = [one.kind for one in parameters.get(value.id, ())] == ["parameter"]
        stored = [
            one
            for other in graph.modules
            for one in other.names.attributes.get(target.attr, ())
            if _is_stored(one) and not is_of_another(other, one, owner)
        ]
        if alone and stored == [target] and class_of(module, target) is owner:
            found.add(target.attr)
    return frozenset(found)


def is_of_given(
    module: Module, node: ast.Attribute, owner: ast.ClassDef | None, given: AbstractSet[str]
) -> bool:
    """Whether an attribute is one of what an object of a class was given: `self.config.rate`."""
    value = node.value
    kept = isinstance(value, ast.Attribute) and value.attr in given
    return isinstance(value, ast.Attribute) and kept and class_of(module, value) is owner


def _is_of_parameter(
    module: Module, graph: CallGraph, node: ast.Attribute, owner: ast.ClassDef | None
) -> bool:
    """Whether an attribute is one of what the constructor of the one object is given.

    That was there before, and is not the object: `args.lr`.
    """
    made = constructor_of(owner) if owner is not None else None
    if made is None or not isinstance(node.value, ast.Name) or not made.args.args:
        return False
    if made not in module.names.scopes or node.value.id == made.args.args[0].arg:
        return False
    scope = module.names.scopes[made]
    bound = scope.bindings.get(node.value.id, ())
    if [one.kind for one in bound] != ["parameter"]:
        return False
    home = module.names.defining_scope(node.value.id, module.names.scope_of_name[node.value])
    return home is scope and graph.runs_once(module, made.body[0])


def _is_made_outside(module: Module, node: ast.expr) -> bool:
    """Whether an imported function made a value, and was given nothing but constants for it."""
    if isinstance(node, ast.Name):
        value = module.names.only_value(node)
        return isinstance(value, ast.Call) and _is_made_outside(module, value)
    if isinstance(node, ast.Call):
        given = (*node.args, *(keyword.value for keyword in node.keywords))
        constants = all(isinstance(one, ast.Constant) for one in given)
        made = (module.names.qualname(node.func) or "").split(".")
        own = {name for one in module.imported for name in (one.path.stem, one.path.parent.name)}
        if made[0] == "tensorflow":
            return True
        return constants and len(made) > 1 and made[0] != "builtins" and own.isdisjoint(made)
    owner = class_of(module, node) if isinstance(node, ast.Attribute) else None
    if not isinstance(node, ast.Attribute) or owner is None:
        return False
    stored = [one for one in module.names.attributes[node.attr] if _is_stored(one)]
    values = [
        statement.value
        for one in stored
        if isinstance(statement := module.names.parents.get(one), ast.Assign)
        and statement.targets == [one]
        and class_of(module, one) is owner
    ]
    plain = bool(values) and len(values) == len(stored)
    return plain and all(
        isinstance(one, (ast.Name, ast.Call)) and _is_made_outside(module, one) for one in values
    )


def _is_stored(node: ast.Attribute) -> bool:
    return not isinstance(node.ctx, ast.Load)


def class_of(module: Module, node: ast.Attribute) -> ast.ClassDef | None:
    """The class in whose methods an attribute is one of their own object."""
    value = node.value
    if not isinstance(value, ast.Name):
        return None
    home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
    method = home.node if home is not None else None
    if not isinstance(method, ast.FunctionDef):
        return None
    owner = module.names.parents.get(method)
    first = Function(module, method).parameters()[:1]
    return owner if isinstance(owner, ast.ClassDef) and first == [value.id] else None


@record(frozen=True)
class Export:
    """`self.loss = loss`, in a constructor that builds a graph."""

    statement: ast.Assign
    target: ast.Attribute
    value: ast.expr


def exports(scope: SessionScope, given: AbstractSet[str]) -> list[Export]:
    """The attributes that a constructor gives names of its own as values, each once.

    ``given`` are those in which it keeps what it is given.
    """
    found: list[Export] = []
    assert isinstance(scope.node, ast.FunctionDef)
    me = [one.arg for one in scope.node.args.args[:1]]
    for entry in scope.entries:
        statement = entry.statement
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Attribute) or not isinstance(statement.value, ast.Name):
            continue
        if not isinstance(target.value, ast.Name) or [target.value.id] != me:
            continue
        stored = [
            one
            for one in scope.module.names.attributes.get(target.attr, ())
            if not isinstance(one.ctx, ast.Load)
            and not is_of_another(scope.module, one, scope.owner)
            and not is_of_given(scope.module, one, scope.owner, given)
        ]
        if stored == [target]:
            found.append(Export(statement, target, statement.value))
    return found


def _exported(scope: SessionScope, given: AbstractSet[str]) -> dict[object, ast.expr]:
    """What the scope that builds returns at its end: by index or by key, or all of it (None).

    Of a constructor it is what the object has, by the names of its attributes.
    """
    if scope.owner is not None:
        return {e.target.attr: e.value for e in exports(scope, given)}
    last = scope.entries[-1].statement if scope.entries else None
    value = last.value if isinstance(last, ast.Return) else None
    if isinstance(value, (ast.Tuple, ast.List)):
        return dict(enumerate(value.elts))
    if isinstance(value, ast.Dict):
        keys = [constant(key) for key in value.keys]
        return dict(zip(keys, value.values)) if all(isinstance(k, str) for k in keys) else {}
    return {None: value} if value is not None else {}
