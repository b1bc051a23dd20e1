"""Steps that a method makes for the one object, from what its constructor built: made there.

    model = Model(sess, size)
    model.train(FLAGS)

where `train` begins with `optim = tf.train.AdamOptimizer(config.rate).minimize(self.loss)` and runs
it. The constructor makes it as the last thing that it does, `self.optim = ...`, and is given what
the method was given for that. Between the two nothing lists or saves what the graph has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, position, walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import constructor_of, trains
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

# What shows, or keeps, which variables a graph has besides those that are trained.
_LISTS = (
    "train.Saver", "global_variables", "all_variables", "get_collection", "local_variables",
    "report_uninitialized_variables", "get_default_graph", "model_variables",
)  # fmt: skip
_BEGINS = ("placeholder", "Variable", "get_variable")
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom)


def by_constructors(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such method; none where there is none."""
    for module in modules:
        for owner in module.tree.body:
            node = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
            if node is None or not isinstance(owner, ast.ClassDef) or not node.args.args:
                continue
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and _makes_steps(module, method, node):
                    edits = _Late(module, graph, owner, node, method).edits(modules)
                    if edits and edits.keys() <= {*modules}:
                        return edits
    return {}


def _makes_steps(module: Module, method: ast.FunctionDef, constructor: ast.FunctionDef) -> bool:
    """Whether a method makes a step that trains, and has an object to make it of."""
    if method is constructor or method.decorator_list or not method.args.args:
        return False
    return any(trains(module, part) for part in walk(method))


class _Late:
    """A method that makes steps for the one object of its class."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        method: ast.FunctionDef,
    ) -> None:
        self.module = module
        self.names = module.names
        self.graph = graph
        self.owner = owner
        self.constructor = constructor
        self.method = method
        self.me = method.args.args[0].arg
        self.scope = module.names.scopes[method]

    def edits(self, modules: Sequence[Module]) -> dict[Module, list[Edit]]:
        if not self._builds() or not Layout(self.module.source, self._last).owns_lines:
            return {}
        made = self.graph.references(Function(self.module, self.constructor))
        if len(made) != 1 or made[0].call is None:
            return {}
        self.there, self.made = made[0].module, made[0].call
        call = self._only_call(modules)
        if call is None:
            return {}
        self.call = call
        moved = self._moved()
        if not moved or not self._is_quiet(moved) or self._changes(moved):
            return {}
        given = self._given(moved)
        return self._written(moved, given) if given is not None else {}

    @property
    def _last(self) -> ast.stmt:
        return self.constructor.body[-1]

    def _builds(self) -> bool:
        """Whether the constructor, or a method that it calls, begins the graph; it trains none."""
        if any(isinstance(one, _LEAVES) for one in walk(self.constructor)):
            return False
        begins = False
        for function in self._constructing:
            for part in walk(function):
                if trains(self.module, part):
                    return False
                begins |= isinstance(part, ast.Call) and name_of(self.module, part) in _BEGINS
        return begins and self.method not in self._constructing and self._is_built_once()

    def _is_built_once(self) -> bool:
        """Whether nothing but the constructor calls what it calls of the class's."""
        inside = {part for function in self._constructing for part in walk(function)}
        return not any(
            mention not in inside and not is_of_another(module, mention, self.owner)
            for module in self.graph.modules
            for function in self._constructing[1:]
            for mention in module.names.attributes.get(function.name, ())
        )

    @cached_property
    def _constructing(self) -> list[ast.FunctionDef]:
        """The constructor, and the methods that it calls."""
        methods = {one.name: one for one in self.owner.body if isinstance(one, ast.FunctionDef)}
        found = [self.constructor]
        for function in found:
            for call in (part for part in walk(function) if isinstance(part, ast.Call)):
                func = call.func
                own = isinstance(func, ast.Attribute) and class_of(self.module, func) is self.owner
                one = methods.get(func.attr) if own and isinstance(func, ast.Attribute) else None
                if one is not None and one not in found:
                    found.append(one)
        return found

    def _only_call(self, modules: Sequence[Module]) -> ast.Call | None:
        """The one call of the method, of the object, behind the statement that makes that.

        It may stand under a condition.
        """
        found: list[tuple[Module, ast.AST | None]] = []
        for module in self.graph.modules:
            for mention in module.names.attributes.get(self.method.name, ()):
                if not is_of_another(module, mention, self.owner):
                    found.append((module, module.names.parents.get(mention)))
        maker = self.there.names.statement(self.made)
        if len(found) != 1 or not isinstance(maker, ast.Assign) or maker.value is not self.made:
            return None
        [(module, call)] = found
        target = maker.targets[0] if len(maker.targets) == 1 else None
        if module is not self.there or not isinstance(call, ast.Call):
            return None
        if not isinstance(target, ast.Name) or module.names.only_binding(target) is None:
            return None
        func = call.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        statement, block = module.names.statement(call), module.names.block(maker)
        if func.value.id != target.id or position(call) < position(maker):
            return None
        around = [statement, *(p for p in module.names.ancestors(statement))]
        inside = [one for one in around if one in block]
        between = around[: around.index(inside[0]) + 1] if inside else around
        known = (ast.If, ast.Expr, ast.IfExp, ast.Assign, ast.Return)
        return call if inside and all(isinstance(one, known) for one in between) else None

    def _moved(self) -> list[ast.Assign]:
        """The statements that make steps, with what only these are made of, as they stand."""
        line = [*in_line(self.method.body)]
        found = [
            one
            for one in line
            if isinstance(one, ast.Assign) and any(trains(self.module, p) for p in walk(one.value))
        ]
        every = {part for part in walk(self.method) if trains(self.module, part)}
        if not found or not every <= {part for one in found for part in walk(one.value)}:
            return []
        waiting = list(found)
        while waiting:
            one = waiting.pop()
            if not self._may_move(one):
                return []
            for node in walk(one.value):
                maker = self._maker(node, line)
                if maker is None:
                    return []
                if isinstance(maker, ast.Assign) and maker not in found:
                    found.append(maker)
                    waiting.append(maker)
        return sorted(found, key=position)

    def _may_move(self, statement: ast.Assign) -> bool:
        """Whether a statement gives one name, or one attribute, its only value, of known calls."""
        if len(statement.targets) != 1 or not Layout(self.module.source, statement).owns_lines:
            return False
        parents = [p for p in self.names.ancestors(statement) if isinstance(p, ast.stmt)]
        if not isinstance(parents[0], ast.FunctionDef):
            return False  # a scope around it would be left
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            if self.names.only_binding(target) is None:
                return False
        elif not self._is_mine(target) or len(self._stores(target)) != 1:
            return False
        return all(
            trains(self.module, call)
            or name_of(self.module, call) in (*PLACEHOLDERS, *COMPUTES)
            or name_of(self.module, call) in OPTIMIZERS.by_name
            or name_of(self.module, call) in SCHEDULES.by_name
            for call in walk(statement.value)
            if isinstance(call, ast.Call)
        )

    def _is_mine(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and class_of(self.module, node) is self.owner

    def _stores(self, node: ast.expr) -> list[ast.Attribute]:
        """What gives the object's attribute a value."""
        assert isinstance(node, ast.Attribute)
        return [
            one
            for module in self.graph.modules
            for one in module.names.attributes.get(node.attr, ())
            if not isinstance(one.ctx, ast.Load) and not is_of_another(module, one, self.owner)
        ]

    def _maker(self, node: ast.AST, line: list[ast.stmt]) -> ast.stmt | bool | None:
        """The statement of the method that a part of a value comes from.

        True: it is the same in the constructor; None: it is not.
        """
        if isinstance(node, (ast.Lambda, ast.Await, ast.NamedExpr, *COMPREHENSIONS)):
            return None
        if self._is_mine(node):
            stored = [self.names.statement(one) for one in self._stores(node)]  # type: ignore[arg-type]
            inside = {one for function in self._constructing for one in walk(function)}
            if stored and all(one in inside for one in stored):
                return True
            return stored[0] if len(stored) == 1 and stored[0] in line else None
        if not isinstance(node, ast.Name):
            return True
        scope = self.names.defining_scope(node.id, self.names.scope_of_name[node])
        if scope is None or scope.is_module or node.id == self.me:
            return True
        binding = self.names.only_binding(node)
        if binding is None or scope is not self.scope:
            return None
        if binding.kind == "parameter":
            return True
        made = self.names.statement(binding.node)
        return made if made in line else None

    def _is_quiet(self, moved: list[ast.Assign]) -> bool:
        """Whether nothing sees that the steps are made earlier.

        Where they may not be made at all in TF1, nothing lists variables, but in the constructor.
        """
        statement, always = self.there.names.statement(self.call), self._is_always(moved)
        own = {one for function in self._constructing for one in walk(function)}
        behind = moved[-1]
        for module in self.graph.modules:
            for call in module.names.calls:
                if name_of(module, call) not in _LISTS or call in own:
                    continue
                inside = module is self.module and call in {*walk(self.method)}
                if inside and position(call) > position(behind) and always:
                    continue
                outside = module is self.there and position(call) > position(statement)
                if not (always and outside and call in {*walk(self.there.tree)} and not inside):
                    return False
        return True

    def _is_always(self, moved: list[ast.Assign]) -> bool:
        """Whether the steps are made wherever the object is made."""
        maker, statement = (self.there.names.statement(one) for one in (self.made, self.call))
        leaves = (one for one in walk(self.method) if isinstance(one, _LEAVES))
        plain = isinstance(statement, ast.Expr) and statement.value is self.call
        early = any(position(one) < position(moved[0]) for one in leaves)
        return plain and statement in self.there.names.block(maker) and not early

    def _given(self, moved: list[ast.Assign]) -> dict[str, tuple[str, str]] | None:
        """What the constructor is given for each parameter that is read, by its name there.

        With the text of what is added to the call; empty where it has that already.
        """
        values = bind(self.call, Function(self.module, self.method)).values()
        handed = bind(self.made, Function(self.module, self.constructor)).values()
        scope = self.names.scopes[self.constructor]
        found: dict[str, tuple[str, str]] = {}
        for node in (part for one in moved for part in walk(one.value)):
            if not isinstance(node, ast.Name) or node.id == self.me or node.id in found:
                continue
            if self.names.defining_scope(node.id, self.names.scope_of_name[node]) is not self.scope:
                continue
            binding = self.names.only_binding(node)
            if binding is None or binding.kind != "parameter":
                continue
            value = values.get(node.id)
            sure = self._is_always(moved) or self._surely_has(value)
            if value is None or not self._stays(value) or not sure:
                return None
            code = self.there.source.code(value)
            same = [
                name
                for name, one in handed.items()
                if isinstance(one, ast.Name)
                and one.id == code
                and [b.kind for b in scope.bindings.get(name, ())] == ["parameter"]
            ]
            if same:
                found[node.id] = same[0], ""
                continue
            arguments = self.constructor.args
            if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
                return None
            if any(one.arg is None for one in self.made.keywords) or node.id in scope.bindings:
                return None
            if any(isinstance(one, ast.Starred) for one in self.made.args):
                return None
            found[node.id] = node.id, code
        return found

    def _stays(self, value: ast.expr | None) -> bool:
        """Whether an argument is the same where the object is made: a constant, or a name."""
        if isinstance(value, ast.Constant):
            return True
        binding = self.there.names.only_binding(value) if isinstance(value, ast.Name) else None
        if binding is None or not isinstance(value, ast.Name):
            return False
        at = self.there.names.statement(binding.node)
        scope = self.there.names.defining_scope(value.id, self.there.names.scope_of_name[value])
        above = position(at) < position(self.there.names.statement(self.made))
        return binding.kind == "parameter" or above or (scope is not None and scope.is_module)

    def _changes(self, moved: list[ast.Assign]) -> bool:
        """Whether something may give a field of an object another value meanwhile.

        `config.rate`, `self.options.rate`: what the object itself has is asked for elsewhere.
        """
        for node in (part for one in moved for part in walk(one.value)):
            if not isinstance(node, ast.Attribute) or self._is_mine(node):
                continue
            if self.names.qualname(node):
                continue
            for module in self.graph.modules:
                for one in module.names.attributes.get(node.attr, ()):
                    own = isinstance(one.value, ast.Name) and class_of(module, one) is not None
                    if not isinstance(one.ctx, ast.Load) and not own:
                        return True
        return False

    def _surely_has(self, value: ast.expr | None) -> bool:
        """Whether an argument has its fields where the method is not called: flags, parsed ones."""
        if isinstance(value, ast.Constant):
            return True
        made = self.there.names.only_value(value) if isinstance(value, ast.Name) else None
        if isinstance(made, ast.Attribute):
            return made.attr == "FLAGS" and bool(self.there.names.qualname(made))
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return False
        several = any("add_subparsers" in one.names.attributes for one in self.graph.modules)
        return made.func.attr == "parse_args" and not several

    def _written(
        self, moved: list[ast.Assign], given: dict[str, tuple[str, str]]
    ) -> dict[Module, list[Edit]]:
        source, theirs = self.module.source, self.there.source
        own = self.constructor.args.args[0].arg
        kept = self._kept(moved)
        if kept is None:
            return {}
        changes: list[Edit] = []
        edits: list[Edit] = []
        inside = {part for one in moved for part in walk(one)}
        for name, attribute in kept.items():
            for mention in self.names.mentions(name, self.scope):
                me = own if mention in inside else self.me
                (changes if mention in inside else edits).append(
                    Edit(*source.span(mention), f"{me}.{attribute}")
                )
        for node in inside:
            if isinstance(node, ast.Name) and node.id in given:
                changes.append(Edit(*source.span(node), given[node.id][0]))
            elif isinstance(node, ast.Name) and node.id == self.me and own != self.me:
                changes.append(Edit(*source.span(node), own))
        block = Block(source, source.indent_of(self._last))
        for statement in moved:
            block.statement(statement, changes, 0)
            layout = Layout(source, statement)
            start = start_with_comments(source.text, layout.line_start)
            edits.append(Edit(start, layout.next_line, ""))
        if len(moved) == len(self.method.body):
            return {}  # nothing would be left of it
        last = Layout(source, self._last)
        edits.append(Edit(last.next_line, last.next_line, block.text()))
        found = {self.module: edits}
        added = [(name, code) for name, code in given.values() if code]
        if added:
            found.setdefault(self.there, []).append(
                self._argument(theirs.span(self.made)[1], added)
            )
            edits.append(self._parameter([name for name, _ in added]))
        return found

    def _kept(self, moved: list[ast.Assign]) -> dict[str, str] | None:
        """The attributes that the names become which the statements give a value."""
        found: dict[str, str] = {}
        for one in moved:
            target = one.targets[0]
            if isinstance(target, ast.Name):
                taken = any(
                    target.id in module.names.attributes
                    or (module is self.module and target.id in self._methods)
                    for module in self.graph.modules
                )
                name = f"{target.id}_op" if taken else target.id
                if taken and any(name in m.names.attributes for m in self.graph.modules):
                    return None
                found[target.id] = name
        return found

    @property
    def _methods(self) -> set[str]:
        return {one.name for one in self.owner.body if isinstance(one, ast.FunctionDef)}

    def _argument(self, end: int, added: list[tuple[str, str]]) -> Edit:
        """What the call is given more, in front of its bracket."""
        text = self.there.source.text
        at = end - 1
        while text[at - 1].isspace() or text[at - 1] == ",":
            at -= 1
        comma = ", " if self.made.args or self.made.keywords else ""
        told = ", ".join(f"{name}={code}" for name, code in added)
        return Edit(at, at, comma + told)

    def _parameter(self, names: list[str]) -> Edit:
        """The parameters that the constructor gets, behind those that it has."""
        arguments = self.constructor.args
        ends = (self.module.source.span(one)[1] for one in self._every(arguments))
        default = "=None" if arguments.defaults else ""
        at = max(ends)
        return Edit(at, at, "".join(f", {name}{default}" for name in names))

    def _every(self, arguments: ast.arguments) -> Iterator[ast.AST]:
        yield from arguments.args
        yield from arguments.defaults
