"""A class whose constructor builds parts of a graph for one object, as a function.

`model = Model(3)`, of which `model.x` and `model.loss` are read, becomes `x, loss = Model(3)`; what
the constructor gave its object are names. Where the function is written in place then, or becomes a
class of layers, `single_calls` and the reader decide.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from functools import cached_property

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.scopes import position, statement_value, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import Home, constructor_of, session_calls, trains
from migrate_mgpu.models.normalize.functions.optimizer_choices import given_in_line
from migrate_mgpu.models.normalize.functions.single_calls import home_of, lines_of
from migrate_mgpu.models.normalize.objects.graph_methods import (
    as_function,
    builds,
    in_line,
    in_place,
)
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function


def as_functions(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such class and its object; none where there is none."""
    for module in modules:
        for home in _homes(module, graph):
            for statement in lines_of(module, graph, home.body):
                if isinstance(statement, ast.Assign):
                    made = _Object(module, graph, home, statement).edits(modules)
                    if made:
                        return made
    return {}


def _homes(module: Module, graph: CallGraph) -> Iterator[Home]:
    """The scope that builds the graph around its session, and constructors of what trains it."""
    home = home_of(module, graph)
    if home is not None:
        yield home
    for owner in module.tree.body:
        node = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
        if node is None or node is home or node.decorator_list or not node.args.args:
            continue
        if any(trains(module, part) for part in walk(owner)):
            yield node


class _Object:
    """The one object of a class: ``statement`` makes it, in the scope that builds the graph."""

    def __init__(self, module: Module, graph: CallGraph, home: Home, statement: ast.Assign) -> None:
        self.module = module
        self.graph = graph
        self.home = home
        self.statement = statement

    def edits(self, modules: Sequence[Module]) -> dict[Module, list[Edit]]:
        value, target = self.statement.value, self.statement.targets[0]
        call = value.value if isinstance(value, ast.Attribute) else value
        known = self.graph.class_of(self.module, call.func) if isinstance(call, ast.Call) else None
        if known is None or known[0] not in modules or len(self.statement.targets) != 1:
            return {}
        self.origin, self.owner = known
        node = constructor_of(self.owner)
        if node is None or not isinstance(target, ast.Name) or not self._is_plain(node):
            return {}
        references = self.graph.references(Function(self.origin, node))
        several = len(references) > 1
        if not several and [one.call for one in references] != [call]:
            return {}
        if self.origin is self.module and any(trains(self.module, part) for part in walk(node)):
            return {}  # the reader knows objects that have all of their graph
        self.node, self.me = node, node.args.args[0].arg
        moved = in_place(self.origin, self.graph, self.owner, node) or as_function(
            self.origin, self.graph, self.owner, node
        )
        if moved:
            return {self.origin: moved}
        if self._others() or not self._attributes:
            return {}
        if not builds(Function(self.origin, node), self.graph):
            return {} if several else self._left_out(target, value)
        if several:
            return self._as_calls(references)
        if isinstance(value, ast.Attribute):  # `logits = Model(x).logits`
            end = self.module.source.span(value)[1]
            edit = Edit(self.module.source.span(value.value)[1], end, "")
            return self._written([value.attr], [edit]) if value.attr in self._attributes else {}
        reads = self._reads(target)
        if not reads:
            return {}
        source = self.module.source
        given = {one.attr: name for one, name in reads.items()}
        edits = [Edit(*source.span(one), name) for one, name in reads.items()]
        edits.append(Edit(*source.span(target), ", ".join(given.values())))
        return self._written([*given], edits)

    def _as_calls(self, references: Sequence[Reference]) -> dict[Module, list[Edit]]:
        """The function, where several objects are made one after the other: each its own values."""
        lines = {*lines_of(self.module, self.graph, self.home.body)}
        read: dict[ast.Name, dict[str, str]] = {}
        edits: list[Edit] = []
        source = self.module.source
        for one in sorted(references, key=lambda one: position(one.node)):
            made = self.module.names.parents.get(one.call) if one.call is not None else None
            if one.module is not self.module or not isinstance(made, ast.Assign):
                return {}
            target = made.targets[0]
            if made not in lines or len(made.targets) > 1 or not isinstance(target, ast.Name):
                return {}
            reads = self._reads(target)
            given = {attribute.attr: name for attribute, name in reads.items()}
            taken = {name for known in read.values() for name in known.values()}
            for attribute, name in given.items():
                longer = f"{target.id}_{self._attributes[attribute]}"
                given[attribute] = longer if name in taken else name
            if not reads or not all(
                given[attribute.attr] == name
                or self._is_free_at(given[attribute.attr], [attribute])
                for attribute, name in reads.items()
            ):
                return {}
            edits += (Edit(*source.span(one), given[one.attr]) for one in reads)
            read[target] = given
        every = list(dict.fromkeys(attribute for known in read.values() for attribute in known))
        for target, known in read.items():
            for attribute in every:
                name = f"{target.id}_{self._attributes[attribute]}"
                if attribute not in known and not self._is_free_at(name, ()):
                    return {}
                known.setdefault(attribute, name)
            edits.append(Edit(*source.span(target), ", ".join(known[one] for one in every)))
        names = [name for known in read.values() for name in known.values()]
        return self._written(every, edits) if len({*names}) == len(names) else {}

    def _left_out(self, target: ast.Name, call: ast.expr) -> dict[Module, list[Edit]]:
        """What an object that only keeps what it is given was given, where that is read of it.

        An object of settings alone stays: the reader knows those.
        """
        names, source = self.module.names, self.module.source
        lines = [
            one for one in self.node.body if not isinstance(statement_value(one), ast.Constant)
        ]
        if not isinstance(call, ast.Call) or not all(self._given([one]) for one in lines):
            return {}
        bound = bind(call, Function(self.origin, self.node)).values()
        reads = [names.parents.get(one) for one in self._uses(target)]
        found: list[Edit] = []
        for read in reads:
            if not isinstance(read, ast.Attribute) or not isinstance(read.ctx, ast.Load):
                return {}
            value = bound.get(self._attributes.get(read.attr, ""))
            if not isinstance(value, (ast.Name, ast.Constant)):
                return {}
            if isinstance(value, ast.Name):
                home = names.defining_scope(value.id, names.scope_at(read))
                if names.only_binding(value) is None or home is not names.defining_scope(
                    value.id, names.scope_of_name[value]
                ):
                    return {}
            found.append(Edit(*source.span(read), source.code(value)))
        if not any(self._is_part(value) for value in bound.values()):
            return {}
        layout = Layout(source, self.statement)
        if not found or not layout.owns_lines:
            return {}
        found.append(Edit(layout.line_start, layout.next_line, ""))
        mentions = names.mentions(self.owner.name, names.module_scope)
        if self.origin is self.module and mentions == [call.func] and not self._is_imported:
            found.append(without_function(source, self.owner))
        return {self.module: found}

    @property
    def _is_imported(self) -> bool:
        """Whether another module may have the class."""
        return any(self.module in other.imported for other in self.graph.modules)

    def _uses(self, target: ast.Name) -> list[ast.Name]:
        """Where the object is mentioned; it has no other value."""
        names = self.module.names
        if names.only_binding(target) is None:
            return []
        every = names.mentions(target.id, names.scope_of_name[target])
        return [one for one in every if one is not target]

    def _is_part(self, value: ast.expr) -> bool:
        """Whether what an object is given is a part of the graph, as far as that can be told."""
        made = self.module.names.only_value(value) if isinstance(value, ast.Name) else None
        return made is not None and any(
            name_of(self.module, part) for part in walk(made) if isinstance(part, ast.Call)
        )

    def _is_plain(self, node: ast.FunctionDef) -> bool:
        """Whether a class inherits nothing, and a constructor builds, and does it in one line."""
        inherits = [base for base in self.owner.bases if getattr(base, "id", "") != "object"]
        if inherits or self.owner.decorator_list or self.owner.keywords or node.decorator_list:
            return False
        leaves = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
        makes = set(session_calls(self.origin)) & set(walk(node))
        if all(_gives_constant(one) for one in node.body):
            return False  # settings: they build nothing
        top = self.owner in self.origin.tree.body and bool(node.args.args)
        return top and not makes and not any(isinstance(one, leaves) for one in walk(node))

    def _others(self) -> bool:
        """Whether the class has more than its constructor."""
        return any(
            one is not self.node
            and not isinstance(one, ast.Pass)
            and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            for one in self.owner.body
        )

    @cached_property
    def _attributes(self) -> dict[str, str]:
        """The names of the attributes in the function; none where one of them may have no value."""
        names = self.origin.names
        line = list(in_line(self.node.body))
        stored: dict[str, list[ast.stmt]] = {}
        for mention in names.mentions(self.me, names.scopes[self.node]):
            parent = names.parents.get(mention)
            if not isinstance(parent, ast.Attribute):
                return {}
            if not isinstance(parent.ctx, ast.Load):
                stored.setdefault(parent.attr, []).append(names.statement(parent))
        read = {one.attr for one in self._mentions()}
        found: dict[str, str] = {}
        bound = names.scopes[self.node].bindings
        for attribute, statements in stored.items():
            if not set(line).issuperset(statements) and not given_in_line(line, set(statements)):
                return {}
            base = attribute.strip("_") or attribute
            free = (
                name
                for name in (base, f"{base}_tensor", f"{base}_of_graph")
                if name not in bound and _is_free(names, name) and name not in found.values()
            )
            name = self._given(statements) or next(free, "")
            if not name:
                return {}
            found[attribute] = name
        return found if read <= found.keys() else {}

    def _given(self, statements: Sequence[ast.stmt]) -> str:
        """The parameter that an attribute is: `self.size = size`, where both stay what they are."""
        one = statements[0]
        value = one.value if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if len(statements) > 1 or not isinstance(value, ast.Name):
            return ""
        bindings = self.origin.names.scopes[self.node].bindings.get(value.id, [])
        return value.id if [one.kind for one in bindings] == ["parameter"] else ""

    def _mentions(self) -> list[ast.Attribute]:
        names = self.origin.names
        parents = (
            names.parents.get(one) for one in names.mentions(self.me, names.scopes[self.node])
        )
        return [one for one in parents if isinstance(one, ast.Attribute)]

    def _reads(self, target: ast.Name) -> dict[ast.Attribute, str]:
        """The attributes that are read of the object, with the names that they get there."""
        names = self.module.names
        if names.only_binding(target) is None:
            return {}
        read: dict[str, list[ast.Attribute]] = {}
        for mention in names.mentions(target.id, names.scope_of_name[target]):
            parent = names.parents.get(mention)
            if mention is target:
                continue
            if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
                return {}
            if parent.attr not in self._attributes:
                return {}
            read.setdefault(parent.attr, []).append(parent)
        found: dict[ast.Attribute, str] = {}
        for attribute, mentions in read.items():
            own = self._attributes[attribute]
            wanted = (own, f"{target.id}_{own}")
            name = next((one for one in wanted if self._is_free_at(one, mentions)), "")
            if not name or name in found.values():
                return {}
            found.update(dict.fromkeys(mentions, name))
        return found

    def _is_free_at(self, name: str, mentions: Sequence[ast.Attribute]) -> bool:
        """Whether a name stands for nothing in the scope that builds, nor where it will be read."""
        names = self.module.names
        return (
            name not in names.scopes[self.home].bindings
            and _is_free(names, name)
            and all(names.defining_scope(name, names.scope_at(one)) is None for one in mentions)
        )

    def _written(self, given: Sequence[str], edits: Sequence[Edit]) -> dict[Module, list[Edit]]:
        """The function, which returns what is ``given``, and the edits where it is called."""
        source, newline = self.origin.source, self.origin.source.newline
        changes: list[Edit] = []
        gone: set[ast.stmt] = set()
        for one in self._mentions():
            changes.append(Edit(*source.span(one), self._attributes[one.attr]))
            statement = self.origin.names.statement(one)
            if not isinstance(one.ctx, ast.Load) and self._given([statement]):
                gone.add(statement)
        block = Block(source, source.indent_unit)
        if ast.get_docstring(self.owner) and not ast.get_docstring(self.node):
            block.statement(self.owner.body[0], [], 0)
        for statement in self.node.body:
            if statement not in gone:
                block.statement(statement, changes, 0)
        block.line(f"return {', '.join(self._attributes[one] for one in given)}")
        head = f"def {self.owner.name}({self._parameters()}):{newline}"
        layout = Layout(source, self.owner)
        found = {self.origin: [Edit(layout.line_start, layout.next_line, head + block.text())]}
        found.setdefault(self.module, []).extend(edits)
        return found

    def _parameters(self) -> str:
        """The constructor's parameters as they are written, without the object."""
        source, arguments = self.origin.source, self.node.args
        every = [*arguments.args, *arguments.kwonlyargs, *arguments.defaults]
        every += [one for one in (arguments.vararg, arguments.kwarg, *arguments.kw_defaults) if one]
        spans = [source.span(one) for one in every]
        first = arguments.args[1:]
        if not first:
            return ""
        return source.text[source.span(first[0])[0] : max(end for _, end in spans)]


def _gives_constant(statement: ast.stmt) -> bool:
    """`self.size = 3`, or a text that only describes."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    return isinstance(value, ast.Constant) or isinstance(statement, ast.Pass)


def _is_free(names: Names, name: str) -> bool:
    """Whether a name stands for nothing in a module, and for nothing of Python's."""
    return name not in names.module_scope.bindings and not hasattr(builtins, name)
