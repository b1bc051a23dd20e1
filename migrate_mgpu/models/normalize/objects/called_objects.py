"""Networks that are objects, and are called: what they do, by a name of its own.

    class Generator(object):                        class Generator(object):
        def __init__(self, name, units):                def __init__(self, name, units):
            self.name, self.units = name, units             self.name, self.units = name, units
            self.reuse = False
        def __call__(self, z):                          def generator(self, z):
            with tf.variable_scope(                         with tf.variable_scope(
                    self.name, reuse=self.reuse):                   self.name, reuse=tf.AUTO_REUSE):
                out = tf.layers.dense(z, self.units)            out = tf.layers.dense(z, self.units)
            self.reuse = True
            self.variables = tf.get_collection(
                "trainable_variables", self.name)
            return out                                      return out

`G(z)` becomes `G.generator(z)`, which may be a function then (`network_methods`). `G.variables`
is computed behind the last call of `G`, where no variable with such a name comes later; so is a
property of one expression, where it is read. The name that an object is made with is written where
its network is called.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import class_of, class_of_object, is_of_another
from migrate_mgpu.models.normalize.objects.applied_objects import without_statements
from migrate_mgpu.models.normalize.objects.graph_methods import builds, in_line
from migrate_mgpu.models.normalize.objects.network_methods import is_base, is_plain
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function, without_paragraph

_CALL = "__call__"
_LISTS = ("trainable_variables", "global_variables", "get_collection")


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such class; none where there is none. ``own`` may change."""
    for module in modules:
        for owner in module.tree.body if module in own else ():
            if not isinstance(owner, ast.ClassDef) or not is_plain(owner):
                continue
            methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
            made = methods.get("__init__")
            if made is None or not made.args.args:
                continue
            network = _Network(module, graph, owner, made, methods, own)
            edits = network.named() or network.shared() or network.listed() or network.told()
            if edits and not is_base(modules, graph, owner):
                return edits
    return {}


class _Network:
    """A class of objects that are called, or whose methods build with what they keep."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        methods: Mapping[str, ast.FunctionDef],
        own: Set[Module],
    ) -> None:
        self.module = module
        self.graph = graph
        self.owner = owner
        self.constructor = constructor
        self.methods = methods
        self.own = own

    # -- calls -----------------------------------------------------------------------------

    def named(self) -> dict[Module, list[Edit]]:
        """`__call__` by a name of its own."""
        call = self.methods.get(_CALL)
        if call is None or not self._is_builder(call) or not self._objects():
            return {}
        if not all(map(self._reads_itself, self.methods.values())):
            return {}  # `self(x)`
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", self.owner.name)
        name = name.strip("_").lower()
        if not name.isidentifier() or any(self._has(one, name) for one in self.graph.modules):
            name = f"apply_{name}"
            if any(self._has(one, name) for one in self.graph.modules):
                return {}
        source = self.module.source
        start = source.text.index(_CALL, source.span(call)[0])
        found = {self.module: [Edit(start, start + len(_CALL), name)]}
        mentions = self._mentions(_CALL)
        if mentions is None:
            return {}
        for mention in mentions:  # `self.__call__(x)`
            end = source.span(mention)[1]
            found[self.module].append(Edit(end - len(_CALL), end, name))
        calls = self._calls()
        for module, receiver in calls or ():
            if module not in self.own:
                return {}
            end = module.source.span(receiver)[1]
            found.setdefault(module, []).append(Edit(end, end, f".{name}"))
        return found if calls else {}

    def _reads_itself(self, method: ast.FunctionDef) -> bool:
        """Whether a method only reads and stores attributes of its object."""
        names = self.module.names
        if method.decorator_list and not method.args.args:
            return True
        me = method.args.args[0].arg if method.args.args else ""
        mentions = names.mentions(me, names.scopes[method])
        return all(isinstance(names.parents.get(one), ast.Attribute) for one in mentions)

    def _is_builder(self, method: ast.FunctionDef) -> bool:
        return not method.decorator_list and builds(Function(self.module, method), self.graph)

    def _has(self, module: Module, name: str) -> bool:
        """Whether a name is one of a module's already, or of its objects'."""
        known = any(one.id == name for one in module.names.scope_of_name)
        bound = name in module.names.module_scope.bindings
        return known or bound or bool(module.names.attributes.get(name))

    def _objects(self) -> list[tuple[Module, ast.Name]]:
        """The names of all objects; none where one is kept in another way."""
        found: list[tuple[Module, ast.Name]] = []
        for one in self.graph.references(Function(self.module, self.constructor)):
            target = _target(one)
            if target is None or one.module.names.only_binding(target) is None:
                return []
            if one.module.names.scope_of_name[target].is_module and any(
                one.module in other.imported for other in self.graph.modules
            ):
                return []
            found.append((one.module, target))
        return found

    def _calls(self) -> list[tuple[Module, ast.Name]] | None:
        """Where objects are called; None where more may be done with one than to read of it."""
        found: list[tuple[Module, ast.Name]] = []
        for module, target in self._objects():
            home = module.names.scope_of_name[target]
            for mention in module.names.mentions(target.id, home):
                user = module.names.parents.get(mention)
                if mention is target:
                    continue
                if isinstance(user, ast.Call) and user.func is mention:
                    found.append((module, mention))
                elif not isinstance(user, ast.Attribute) and not self._is_unread(module, mention):
                    return None
        return found

    def _is_unread(self, module: Module, mention: ast.Name) -> bool:
        """`self.G = G`, of which attributes are read at most."""
        statement = module.names.parents.get(mention)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign):
            return False
        keeper = class_of(module, target)
        if keeper is None or len(statement.targets) > 1:
            return False
        for other in self.graph.modules:
            for one in other.names.attributes.get(target.attr, ()):
                if one is target or is_of_another(other, one, keeper):
                    continue
                read = other.names.parents.get(one)
                if not isinstance(read, ast.Attribute) or not isinstance(one.ctx, ast.Load):
                    return False
        return True

    # -- variables that calls share --------------------------------------------------------

    def shared(self) -> dict[Module, list[Edit]]:
        """`reuse=self.reuse`, False at first and True behind each call: as `tf.AUTO_REUSE`."""
        names, source = self.module.names, self.module.source
        for statement in in_line(self.constructor.body):
            attribute = _attribute_of(self.constructor, statement)
            if attribute is None or not isinstance(statement, ast.Assign):
                continue
            if constant(statement.value) not in (False, None) or not isinstance(
                statement.value, ast.Constant
            ):
                continue
            mentions = self._mentions(attribute)
            if mentions is None:
                continue
            told = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
            told = [one for one in told if names.statement(one) is not statement]
            reads = [one for one in mentions if isinstance(one.ctx, ast.Load)]
            method = names.scope_at(told[0]).function() if len(told) == 1 else None
            set_true = names.statement(told[0]) if told else None
            if not isinstance(method, ast.FunctionDef) or set_true not in method.body:
                continue
            if not isinstance(set_true, ast.Assign) or constant(set_true.value) is not True:
                continue
            before = method.body[: method.body.index(set_true)]
            if any(isinstance(part, ast.Return) for one in before for part in walk(one)):
                continue
            prefix = {self._reuses(one, method, set_true) for one in reads}
            layouts = [Layout(source, one) for one in (statement, set_true)]
            if len(prefix) != 1 or "" in prefix or not all(one.owns_lines for one in layouts):
                continue
            edits = [Edit(*source.span(one), f"{prefix.copy().pop()}AUTO_REUSE") for one in reads]
            return {self.module: [*edits, self._gone(statement), self._gone(set_true)]}
        return {}

    def _gone(self, statement: ast.stmt) -> Edit:
        if len(self.module.names.block(statement)) == 1:
            return Layout(self.module.source, statement).replace(["pass"])
        return without_paragraph(self.module.source, statement)

    def _mentions(self, attribute: str) -> list[ast.Attribute] | None:
        """All mentions of an attribute; None where one is not in the methods of the class."""
        found: list[ast.Attribute] = []
        for module in self.graph.modules:
            for one in module.names.attributes.get(attribute, ()):
                if class_of(module, one) is self.owner:
                    found.append(one)
                elif not is_of_another(module, one, self.owner):
                    known = class_of_object(self.graph, module, one.value)
                    if known is None or known is self.owner:
                        return None
        return found

    def _reuses(self, read: ast.Attribute, method: ast.FunctionDef, last: ast.stmt) -> str:
        """`tf.`, where a scope of variables is told by an attribute whether they are there."""
        names = self.module.names
        keyword = names.parents.get(read)
        call = names.parents.get(keyword) if isinstance(keyword, ast.keyword) else None
        if not isinstance(call, ast.Call) or not isinstance(keyword, ast.keyword):
            return ""
        if keyword.arg != "reuse" or name_of(self.module, call) != "variable_scope":
            return ""
        inside = names.scope_at(read).function() is method
        once = not any(isinstance(one, (ast.For, ast.While)) for one in names.ancestors(read))
        if not inside or not once or names.statement(read).lineno >= last.lineno:
            return ""
        shown = self.module.source.code(call.func)
        prefix = shown[: -len("variable_scope")] if shown.endswith("variable_scope") else ""
        return prefix if prefix.count(".") == 1 else ""

    # -- lists of variables ----------------------------------------------------------------

    def listed(self) -> dict[Module, list[Edit]]:
        """What a call keeps of the variables, or a property says, where it is read."""
        for method in self.methods.values():
            edits = self._of_property(method) or self._kept(method)
            if edits:
                return edits
        return {}

    def _of_property(self, method: ast.FunctionDef) -> dict[Module, list[Edit]]:
        qualname = self.module.names.qualname
        if [qualname(one) for one in method.decorator_list] != ["builtins.property"]:
            return {}
        lines = [one for one in method.body if not _is_text(one)]
        value = lines[0].value if len(lines) == 1 and isinstance(lines[0], ast.Return) else None
        if value is None or not self._lists(value):
            return {}
        found: dict[Module, list[Edit]] = {}
        for module, read in self._reads(method.name) or ():
            text = self._text(method, value, module, read)
            if text is None or module not in self.own:
                return {}
            found.setdefault(module, []).append(Edit(*module.source.span(read), text))
        if found:
            found.setdefault(self.module, []).append(self._gone(method))
        return found

    def _kept(self, method: ast.FunctionDef) -> dict[Module, list[Edit]]:
        if method.decorator_list or method is self.constructor:
            return {}
        for statement in method.body:
            attribute = _attribute_of(method, statement)
            if attribute is None or not isinstance(statement, ast.Assign):
                continue
            if not self._lists(statement.value):
                continue
            reads = self._reads(attribute, statement)
            stored = self._stores(attribute)
            at = method.body.index(statement)
            later = any(self._builds(one) for one in method.body[at + 1 :])
            if reads is None or len(stored) > 1 or later or not reads:
                continue
            found = self._behind_calls(method, statement, reads)
            if found:
                found.setdefault(self.module, []).append(self._gone(statement))
                return found
        return {}

    def _behind_calls(
        self,
        method: ast.FunctionDef,
        statement: ast.Assign,
        reads: list[tuple[Module, ast.Attribute]],
    ) -> dict[Module, list[Edit]]:
        """The list of each object in a name, behind the last statement that calls the object."""
        found: dict[Module, list[Edit]] = {}
        handled = 0
        if self._is_a_beginning():
            return {}
        for module, target in self._objects():
            names = module.names
            home = names.scope_of_name[target]
            own = [
                one
                for other, one in reads
                if other is module and getattr(one.value, "id", "") == target.id
            ]
            if not own:
                continue
            body = home.node.body if isinstance(home.node, (ast.Module, ast.FunctionDef)) else []
            lines = {one: place for place, one in enumerate(in_line(body))}
            calls = [
                one
                for mention in names.mentions(target.id, home)
                if isinstance(one := names.parents.get(mention), ast.Attribute)
                and one.attr == method.name
            ]
            around = [names.statement(one) for one in calls]
            first = min((one.lineno for one in own), default=0)
            if not around or not lines.keys() >= {*around} or module not in self.own:
                return {}
            last = max(around, key=lines.__getitem__)
            layout = Layout(module.source, last)
            name = f"{target.id}_{own[0].attr}"
            if first <= last.lineno or not layout.owns_lines or self._has(module, name):
                return {}
            text = self._text(method, statement.value, module, own[0])
            if text is None or any(
                names.scope_at(one).function() is not _function(home.node) for one in own
            ):
                return {}
            line = f"{module.source.indent_of(last)}{name} = {text}{module.source.newline}"
            edits = found.setdefault(module, [])
            edits.append(Edit(layout.next_line, layout.next_line, line))
            edits += (Edit(*module.source.span(one), name) for one in own)
            handled += len(own)
        return found if handled == len(reads) else {}

    def _is_a_beginning(self) -> bool:
        """Whether the name of such an object may be the beginning of another name in the graph.

        What begins so could be made between the call and the end of its statement.
        """
        own = set(_texts(self.owner))
        every = set(own)
        for module in self.graph.modules:
            for call in module.names.calls:
                known = self.graph.class_of(module, call.func)
                if known is not None or name_of(module, call) or self._target(module, call):
                    told = {*_texts(ast.Tuple([*call.args, *(k.value for k in call.keywords)]))}
                    every |= told
                    if known is not None and known[1] is self.owner:
                        own |= told
            for part in walk(module.tree):
                if isinstance(part, ast.FunctionDef):
                    given = part.args
                    every |= {
                        *_texts(ast.Tuple([*given.defaults, *filter(None, given.kw_defaults)]))
                    }
        return any(a and a != b and b.startswith(a) for a in own for b in every)

    def _target(self, module: Module, call: ast.Call) -> bool:
        return self.graph.target(module, call.func) is not None

    def _lists(self, value: ast.expr) -> bool:
        """Whether an expression is a list of variables: TF1's, or those of it with some name."""
        if isinstance(value, ast.ListComp):
            value = value.generators[0].iter
        return isinstance(value, ast.Call) and name_of(self.module, value) in _LISTS

    def _builds(self, statement: ast.stmt) -> bool:
        """Whether something is called there, but to list variables."""
        calls = [part for part in walk(statement) if isinstance(part, ast.Call)]
        return any(name_of(self.module, one) not in _LISTS for one in calls)

    def _stores(self, attribute: str) -> list[ast.Attribute]:
        return [
            one
            for module in self.graph.modules
            for one in module.names.attributes.get(attribute, ())
            if not isinstance(one.ctx, ast.Load) and not is_of_another(module, one, self.owner)
        ]

    def _reads(
        self, attribute: str, store: ast.stmt | None = None
    ) -> list[tuple[Module, ast.Attribute]] | None:
        """Where an attribute is read of an object by its name; None where it may be elsewhere."""
        found: list[tuple[Module, ast.Attribute]] = []
        for module in self.graph.modules:
            for one in module.names.attributes.get(attribute, ()):
                if (
                    module is self.module
                    and store is not None
                    and module.names.statement(one) is store
                ):
                    continue
                known = class_of_object(self.graph, module, one.value)
                if known is self.owner and isinstance(one.ctx, ast.Load):
                    found.append((module, one))
                elif (
                    (known is None and not is_of_another(module, one, self.owner))
                    or class_of(module, one) is self.owner
                    or known is self.owner
                ):
                    return None
        return found

    def _text(
        self, method: ast.FunctionDef, value: ast.expr, module: Module, read: ast.Attribute
    ) -> str | None:
        """An expression of a method's, of the object that ``read`` is of."""
        names, source = self.module.names, self.module.source
        me = method.args.args[0].arg if method.args.args else ""
        receiver = module.source.code(read.value)
        start, _ = source.span(value)
        edits: list[Edit] = []
        inner = {
            part.id
            for one in walk(value)
            if isinstance(one, COMPREHENSIONS)
            for generator in one.generators
            for part in walk(generator.target)
            if isinstance(part, ast.Name)
        }
        for part in walk(value):
            if isinstance(part, ast.Lambda):
                return None
            if not isinstance(part, ast.Name) or part.id in inner:
                continue
            if part.id == me:
                if not isinstance(names.parents.get(part), ast.Attribute):
                    return None
                begin, end = source.span(part)
                edits.append(Edit(begin - start, end - start, receiver))
                continue
            here = module.names.roots(part.id, module.names.scope_at(read))
            if not here or here != names.roots(part.id, names.module_scope):
                return None
        if inner & {one.id for one in walk(read) if isinstance(one, ast.Name)}:
            return None
        code, at, texts = source.code(value), 0, []
        if "#" in code or "\\" in code or any("\n" in one for one in _texts(value)):
            return None
        for edit in sorted(edits, key=lambda one: one.start):
            texts += [code[at : edit.start], edit.new]
            at = edit.end
        return re.sub(r"\s*\n\s*", " ", "".join([*texts, code[at:]]))

    # -- names that objects are made with --------------------------------------------------

    def told(self) -> dict[Module, list[Edit]]:
        """`network(x, name=G.name)`, of an object that is made with a text: that text."""
        if any(one is not self.constructor for one in self.methods.values()):
            return {}
        if any(part for part in walk(self.constructor) if isinstance(part, ast.Call)):
            return {}
        found: dict[Module, list[Edit]] = {}
        made = self.graph.references(Function(self.module, self.constructor))
        gone: dict[Module, list[ast.stmt]] = {}
        for one in made:
            target = _target(one)
            if target is None or one.call is None or one.module not in self.own:
                continue
            given = bind(one.call, Function(self.module, self.constructor)).every()
            names, source = one.module.names, one.module.source
            if given is None or names.only_binding(target) is None:
                continue
            left = 0
            edits = found.setdefault(one.module, [])
            for mention in names.mentions(target.id, names.scope_of_name[target]):
                read = names.parents.get(mention)
                if mention is target:
                    continue
                value = None
                if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load):
                    if self._names(one.module, read):
                        value = self._setting(one.module, read.attr, given)
                    if value is not None:
                        edits.append(Edit(*source.span(read), value))
                left += value is None
            statement = names.statement(target)
            if edits and not left and self._may_go(one.module, statement, target, given):
                gone.setdefault(one.module, []).append(statement)
        for module, statements in gone.items():
            found[module] += without_statements(module, statements)
        count = sum(map(len, gone.values()))
        unread = [one for one in made if one.module is not self.module]
        if gone and count == len(made) and not unread and self._is_private():
            found[self.module].append(without_function(self.module.source, self.owner))
        return {module: edits for module, edits in found.items() if edits}

    def _may_go(
        self, module: Module, statement: ast.stmt, target: ast.Name, given: Mapping[str, ast.expr]
    ) -> bool:
        """Whether what makes an object does nothing else, and nobody else may have the object."""
        plain = all(isinstance(one, (ast.Name, ast.Constant)) for one in given.values())
        alone = len(module.names.block(statement)) > 1
        shared = module.names.scope_of_name[target].is_module and any(
            module in other.imported for other in self.graph.modules
        )
        return plain and alone and not shared and Layout(module.source, statement).owns_lines

    def _is_private(self) -> bool:
        """Whether no other module may have the class."""
        names = self.module.names
        calls = (
            isinstance(user := names.parents.get(one), ast.Call) and user.func is one
            for one in names.mentions(self.owner.name, names.module_scope)
        )
        return all(calls) and not any(self.module in other.imported for other in self.graph.modules)

    def _names(self, module: Module, read: ast.Attribute) -> bool:
        """Whether what is read of an object names a scope, or variables that are listed."""
        names = module.names
        user = names.parents.get(read)
        call = names.parents.get(user) if isinstance(user, ast.keyword) else user
        if isinstance(call, ast.Compare):
            return isinstance(names.parents.get(call), ast.comprehension)
        if not isinstance(call, ast.Call) or read is call.func:
            return False
        if name_of(module, call) in (*_LISTS, "variable_scope"):
            return True
        if isinstance(names.parents.get(call), ast.comprehension):
            return isinstance(call.func, ast.Attribute) and call.func.attr == "startswith"
        function = self.graph.target(module, call.func)
        if function is None:
            return False
        told = bind(call, function).written().items()
        kept = module.source.code(read.value)
        own = [
            key
            for key, value in told
            if isinstance(value, ast.Attribute) and module.source.code(value.value) == kept
        ]
        scopes = (
            part.args[0]
            for part in walk(function.node)
            if isinstance(part, ast.Call) and part.args
            if name_of(function.module, part) == "variable_scope"
        )
        return any(isinstance(one, ast.Name) and one.id in own for one in scopes)

    def _setting(self, module: Module, attribute: str, given: Mapping[str, ast.expr]) -> str | None:
        """The constant that an attribute of an object is, which nothing changes."""
        stores = self._stores(attribute)
        statement = self.module.names.statement(stores[0]) if len(stores) == 1 else None
        if not isinstance(statement, ast.Assign) or statement not in self.constructor.body:
            return None
        if _attribute_of(self.constructor, statement) != attribute:
            return None
        value: ast.expr | None = statement.value
        if isinstance(value, ast.Name):
            bound = self.module.names.scopes[self.constructor].bindings.get(value.id, [])
            value = given.get(value.id) if [b.kind for b in bound] == ["parameter"] else None
        text = value.value if isinstance(value, ast.Constant) else None
        if isinstance(value, ast.Constant) and isinstance(text, (bool, int, float, type(None))):
            home = module if value in module.names.parents else self.module
            return home.source.code(value)
        return (
            '"' + text + '"' if isinstance(text, str) and re.fullmatch(r"[\w/.-]*", text) else None
        )


def _function(node: ast.AST) -> ast.AST | None:
    return node if isinstance(node, ast.FunctionDef) else None


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts in an expression, or in what a class says, its docstrings left out."""
    for part in walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            if re.fullmatch(r"[\w./-]*", part.value):
                yield part.value


def _target(one: Reference) -> ast.Name | None:
    """The name that an object is given where it is made."""
    statement = one.module.names.parents.get(one.call) if one.call is not None else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    return target if isinstance(target, ast.Name) else None


def _attribute_of(method: ast.FunctionDef, statement: ast.stmt) -> str | None:
    """`name`, of `self.name = ...` in a method."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
        return None
    me = method.args.args[0].arg if method.args.args else ""
    return target.attr if target.value.id == me else None
