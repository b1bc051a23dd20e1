"""A graph that the constructor of a class builds, as parts with names of its own.

`self.loss = tf.reduce_mean(...)` becomes `loss = tf.reduce_mean(...)`, and at the end of the
constructor `self.loss = loss`. Methods that the constructor alone calls, once, are written where
they are called (`graph_methods`).

A session that the constructor of another class makes and keeps, a trainer's, gets a name there too.
"""

from __future__ import annotations

import ast
import builtins

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.graph import COMPUTES, SETTINGS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.iterators import ITERATOR_MAKERS
from migrate_mgpu.models.front.session.origins import (
    class_of,
    given_attributes,
    is_of_another,
    is_of_given,
)
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import (
    SESSIONS,
    constructor_of,
    is_session,
    leaves,
    session_calls,
    trains,
)
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.models.normalize.data import fetched_expressions
from migrate_mgpu.models.normalize.functions import graph_statements
from migrate_mgpu.models.normalize.functions.optimizer_choices import given_in_line
from migrate_mgpu.models.normalize.functions.reused_names import asks_for_names, is_written
from migrate_mgpu.models.normalize.objects import graph_methods, kept_variables
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.models.normalize.sessions import function_summaries, merged_summaries
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(module: Module, graph: CallGraph, shared: SharedGraph | None = None) -> list[Edit]:
    """The edits of one round, in a module; none where nothing is left to do.

    ``shared`` is what several programs want of a class in it.
    """
    hints = _session_hints(module)
    if hints:
        return hints
    for owner in module.tree.body:
        if isinstance(owner, ast.ClassDef) and _is_plain(module, owner):
            told = shared if shared is not None and shared.owner == owner.name else None
            found = _GraphObject(module, graph, owner, told).edits()
            if found:
                return found
    for call in session_calls(module):
        found = _with_name(module, call)
        if found:
            return found
    return []


def _session_hints(module: Module) -> list[Edit]:
    """`sess: tf.Session`, of a parameter, without the hint: no step of TF2's is given a session."""
    found: list[Edit] = []
    for node in walk(module.tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            if name_of(module, node.annotation) in SESSIONS:
                start, end = module.source.span(node)
                found.append(Edit(start, end, node.arg))
    return found


def _with_name(module: Module, call: ast.Call) -> list[Edit]:
    """`self.sess = tf.Session()`, of a constructor, as `sess = tf.Session()` and what keeps it."""
    names, source = module.names, module.source
    statement = names.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return []
    target = statement.targets[0]
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
        return []
    owner = class_of(module, target)
    node = constructor_of(owner) if owner is not None else None
    if node is None or statement not in in_line(node.body):
        return []
    stored = [
        one
        for one in names.attributes[target.attr]
        if not isinstance(one.ctx, ast.Load) and not is_of_another(module, one, owner)
    ]
    scope, layout = names.scopes[node], Layout(source, statement)
    name = names.fresh(scope, target.attr.strip("_") or "sess", "session")
    if stored != [target] or len(statement.targets) != 1 or not layout.owns_lines:
        return []
    kept = f"{source.indent_of(statement)}{source.code(target)} = {name}{source.newline}"
    found = [Edit(*source.span(target), name), Edit(layout.next_line, layout.next_line, kept)]
    for mention in names.attributes[target.attr]:
        own = class_of(module, mention) is owner and names.scope_at(mention) is scope
        if own and mention is not target:
            found.append(Edit(*source.span(mention), name))
    return found


def _is_plain(module: Module, owner: ast.ClassDef) -> bool:
    """Whether a class inherits nothing that has to do with its graph."""
    plain = all(_says_nothing(module, base) for base in owner.bases)
    return plain and not owner.decorator_list and not owner.keywords


def _says_nothing(module: Module, base: ast.expr) -> bool:
    """Whether what a class inherits from only names methods, or is scikit-learn's."""
    if isinstance(base, ast.Name) and base.id == "object":
        return True
    if (module.names.qualname(base) or "").startswith(("sklearn.base.", "abc.")):
        return True
    known = module.names.only_definition(base) if isinstance(base, ast.Name) else None
    if not isinstance(known, ast.ClassDef) or known.keywords or known.decorator_list:
        return False
    if any(isinstance(part, (ast.Attribute, ast.Name)) for one in known.body for part in walk(one)):
        return False  # its methods do something
    return all(_says_nothing(module, one) for one in known.bases)


class _GraphObject:
    def __init__(
        self, module: Module, graph: CallGraph, owner: ast.ClassDef, shared: SharedGraph | None
    ) -> None:
        self.module = module
        self.shared = shared
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.owner = owner
        self.methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
        self._known_stores: dict[str, list[ast.Attribute]] = {}
        self._given = given_attributes(module, graph, owner)

    def edits(self) -> list[Edit]:
        node = self.methods.get("__init__")
        if node is None or node.decorator_list or not node.args.args:
            return []
        if not any(
            trains(self.module, part) for one in self.methods.values() for part in walk(one)
        ):
            return []
        self.constructor = node
        self.me = node.args.args[0].arg
        return (
            self._uncalled()
            or self._given_again()
            or self._chained()
            or fetched_expressions.as_attributes(self.module, self.graph, self.owner)
            or self._of_functions()
            or graph_methods.as_function(self.module, self.graph, self.owner, node)
            or graph_methods.in_place(self.module, self.graph, self.owner, node)
            or self._left_open()
            or merged_summaries.kept(self.module, self.graph, self.owner, node, self.shared)
            or kept_variables.kept(self.module, self.graph, self.owner, node, self.shared)
            or graph_statements.normalize(self.module, node, self.graph)
            or self._known()
            or self._named()
        )

    def _of_functions(self) -> list[Edit]:
        """Summaries that functions make; of a class that programs share, each has its own."""
        if self.shared is not None:
            return []
        return function_summaries.as_attributes(self.module, self.graph, self.owner)

    def _uncalled(self) -> list[Edit]:
        """A function in the constructor that nothing mentions goes: it may build what TF2 lacks."""
        scope = self.names.scopes[self.constructor]
        for one in self.constructor.body:
            if isinstance(one, ast.FunctionDef) and len(scope.bindings[one.name]) == 1:
                if not self.names.mentions(one.name, scope) and not one.decorator_list:
                    layout, text = Layout(self.source, one), self.source.text
                    if len(self.constructor.body) > 1 and layout.owns_lines:
                        end = layout.next_line
                        while not text[end : (line := text.find("\n", end) + 1)].strip() and line:
                            end = line
                        return [Edit(layout.line_start, end, "")]
        return []

    def _left_open(self) -> list[Edit]:
        """What is None first, and set below before anything reads it: `self.sess = None` goes."""
        body = self.constructor.body
        for place, one in enumerate(body):
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            name = self._attribute(target) if target is not None else None
            if not isinstance(one, ast.Assign) or name is None or len(one.targets) > 1:
                continue
            if not is_none(one.value) or not Layout(self.source, one).owns_lines:
                continue
            for later in body[place + 1 :]:
                if self._is_used(later) or any(isinstance(n, ast.Return) for n in walk(later)):
                    break
                mentions = [n for n in walk(later) if self._attribute(n) == name]
                if isinstance(later, ast.Assign) and mentions and mentions[0] in later.targets:
                    if len(mentions) > 1:
                        break
                    return [without_paragraph(self.source, one)]
                if mentions:
                    break
        return []

    def _given_again(self) -> list[Edit]:
        """A tensor by the name of the parameter that it is made of: `x = tf.constant(x)`."""
        home = self.names.scopes[self.constructor]
        for statement in self.constructor.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
                continue
            kinds = sorted(one.kind for one in home.bindings.get(target.id, ()))
            if kinds != ["assign", "parameter"] or len(statement.targets) > 1:
                continue
            value = statement.value
            mentions = self.names.mentions(target.id, home)
            if not isinstance(value, ast.Call) or name_of(self.module, value) not in COMPUTES:
                continue
            inside = {*walk(value)}
            later = [one for one in mentions if position(one) >= position(target)]
            later = [one for one in later if one not in inside]
            written = all(is_written(self.module, one) for one in later)
            alone = all(self.names.scope_of_name[one] is home for one in mentions)
            if len(later) < len(mentions) and written and alone:
                if not asks_for_names(self.module, home):
                    new = self.names.fresh(home, f"{target.id}_tensor", f"{target.id}_values")
                    return [Edit(*self.source.span(one), new) for one in later]
        return []

    def _attribute(self, node: ast.AST) -> str | None:
        """The name of `self.name` in the constructor, or in a method with the same first name."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr if node.value.id == self.me else None
        return None

    # -- attributes that have names already ----------------------------------------------

    def _known(self) -> list[Edit]:
        """What the constructor reads of its object, by the name that it gave that."""
        names: set[str] = set()
        self._parts(names)
        found: list[Edit] = []
        home = self.names.scopes[self.constructor]
        for statement in in_line(self.constructor.body):
            if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
                continue
            given = statement.value
            attribute = self._attribute(statement.targets[0])
            if attribute is None or len(statement.targets) != 1 or given.id not in names:
                continue
            if self._stored(attribute) != statement.targets or given not in self.names.mentions(
                given.id, home
            ):
                continue
            bound = [self.names.statement(b.node).lineno for b in home.bindings[given.id]]
            if max(bound) >= statement.lineno:
                continue
            found += (
                Edit(*self.source.span(node), given.id)
                for node in walk(self.constructor)
                if self._attribute(node) == attribute
                and node not in statement.targets
                and self.names.statement(node).lineno > statement.lineno
                and self.names.scope_at(node).function() is self.constructor
            )
        return found

    # -- attributes of the constructor ---------------------------------------------------

    def _chained(self) -> list[Edit]:
        """`self.cell = cell = make()` in two statements: the name, and the attribute that is it."""
        for statement in graph_methods.in_line(self.constructor.body):
            if not isinstance(statement, ast.Assign) or len(statement.targets) < 2:
                continue
            named = [one for one in statement.targets if isinstance(one, ast.Name)]
            others = [one for one in statement.targets if self._attribute(one) is not None]
            layout = Layout(self.source, statement)
            if len(named) != 1 or len(others) != len(statement.targets) - 1:
                continue
            if not layout.owns_lines:
                continue
            start, value = self.source.span(statement)[0], self.source.span(statement.value)[0]
            indent, newline = self.source.indent_of(statement), self.source.newline
            lines = (f"{indent}{self.source.code(one)} = {named[0].id}{newline}" for one in others)
            at, text = layout.next_line, "".join(lines)
            if not self.source.text[:at].endswith("\n"):
                text = newline + text.rstrip()
            return [Edit(start, value, f"{named[0].id} = "), Edit(at, at, text)]
        return []

    def _named(self) -> list[Edit]:
        """Parts of the graph that are attributes get names."""
        chosen = self._parts(set())
        used = [one for one in self.constructor.body if self._is_used(one)]
        body = self.constructor.body
        before = body[: body.index(used[0])] if used else body
        if not chosen or not before or not self._are_given(chosen, before):
            return []
        last = before[-1]
        layout = Layout(self.source, last)
        # An object that is left earlier would miss what is given to it at the end.
        if leaves(self.constructor) or not layout.owns_lines:
            return []
        found: list[Edit] = []
        for node in walk(self.constructor):
            name = self._attribute(node)
            if name in chosen:
                assert isinstance(node, ast.Attribute) and name is not None
                found.append(Edit(*self.source.span(node), chosen[name]))
        indent, newline = self.source.indent_of(last), self.source.newline
        text = "".join(f"{indent}{self.me}.{a} = {name}{newline}" for a, name in chosen.items())
        at = layout.next_line
        ends = self.source.text[:at].endswith("\n")
        return [*found, Edit(at, at, text if ends else newline + text.rstrip(newline))]

    def _are_given(self, chosen: dict[str, str], before: list[ast.stmt]) -> bool:
        """Whether attributes have all their values in some statements, and are not read later."""
        inside = {node for statement in before for node in walk(statement)}
        return all(
            node in inside for node in walk(self.constructor) if self._attribute(node) in chosen
        )

    def _is_used(self, statement: ast.stmt) -> bool:
        """Whether a statement gives the object to other code, which would miss attributes."""
        for node in walk(statement):
            if isinstance(node, ast.Name) and node.id == self.me:
                parent = self.names.parents.get(node)
                if not isinstance(parent, ast.Attribute) or parent.attr in self.methods:
                    return True
        return False

    def _stored(self, name: str) -> list[ast.Attribute]:
        """Where an attribute of the class's objects may be given a value."""
        if name not in self._known_stores:
            self._known_stores[name] = [
                one
                for one in self.names.attributes.get(name, ())
                if not isinstance(one.ctx, ast.Load)
                and not is_of_another(self.module, one, self.owner)
                and not is_of_given(self.module, one, self.owner, self._given)
            ]
        return self._known_stores[name]

    def _is_in_line(self, stored: list[ast.Attribute]) -> bool:
        """Whether an attribute has its last value where the constructor ends: it gives it all."""
        if len(stored) == 1:
            return True
        given = {self.names.statement(one) for one in stored if self._attribute(one) is not None}
        lines = list(graph_methods.in_line(self.constructor.body))
        read = {
            one
            for one in lines
            if isinstance(one, (ast.Assign, ast.Expr))
            and one not in given
            and any(self._attribute(part) == stored[0].attr for part in walk(one))
        }
        return len(given) == len(stored) and given_in_line(lines, given, read)

    def _parts(self, names: set[str]) -> dict[str, str]:
        """The attributes that are parts of the graph, with the names that they get.

        ``names`` learns those of the constructor's own that are.
        """
        attributes: dict[str, None] = {}
        size = -1
        while size != len(names) + len(attributes):
            size = len(names) + len(attributes)
            for statement in walk(self.constructor):
                if not isinstance(statement, (ast.Assign, ast.AugAssign)):
                    continue
                if not self._is_part(statement.value, names, attributes):
                    continue
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                )
                for target in targets:
                    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                    for part in parts:
                        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
                            if constant(part.slice) is None:  # or its items get names
                                names.add(part.value.id)
                        elif isinstance(part, ast.Name):
                            names.add(part.id)
                        attribute = self._attribute(part)
                        if (
                            attribute is None
                            or self.names.scope_at(part).node is not self.constructor
                        ):
                            continue  # a name of a function within is no name of the constructor's
                        if self._is_in_line(self._stored(attribute)):
                            attributes[attribute] = None
        exported = self._exported(names)
        return self._chosen([name for name in attributes if name not in exported])

    def _exported(self, names: set[str]) -> set[str]:
        """Attributes that are given a part with a name."""
        return {
            name
            for statement in walk(self.constructor)
            if isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Name)
            and statement.value.id in names
            and len(statement.targets) == 1
            and (name := self._attribute(statement.targets[0])) is not None
        }

    def _is_part(self, node: ast.expr, names: set[str], attributes: dict[str, None]) -> bool:
        """Whether a value has to do with the graph: it calls TensorFlow, or is made of such."""
        for part in walk(node):
            if isinstance(part, ast.Call):
                known = name_of(self.module, part)
                if is_session(self.module, part) or (known and not known.startswith(SETTINGS)):
                    return True
                if isinstance(part.func, ast.Attribute) and part.func.attr in ITERATOR_MAKERS:
                    return True  # of a dataset that its object was given
                target = self.graph.target(self.module, part.func)
                if target is not None and _speaks(target):
                    return True
            elif (isinstance(part, ast.Name) and part.id in names) or self._attribute(
                part
            ) in attributes:
                return True
        return False

    def _is_fed(self, attribute: str) -> bool:
        """Whether an attribute is a placeholder."""
        return any(
            isinstance(statement := self.names.statement(one), ast.Assign)
            and name_of(self.module, statement.value) in PLACEHOLDERS
            for one in self._stored(attribute)
        )

    def _chosen(self, attributes: list[str]) -> dict[str, str]:
        """The name of each attribute: its own, where nothing else has that."""
        blocked = {n.id for n in walk(self.constructor) if isinstance(n, ast.Name)}
        blocked |= {n.arg for n in walk(self.constructor) if isinstance(n, ast.arg)}
        blocked |= set(dir(builtins))
        if self.shared is None:  # of a class that programs share, each has other names around it
            blocked |= set(self.names.module_scope.bindings)
        found: dict[str, str] = {}
        for attribute in attributes:
            base = attribute.strip("_") or attribute
            wanted = [attribute, base, f"{base}_tensor", f"{base}_of_graph"]
            if attribute.startswith("_") and self._is_fed(attribute):
                del wanted[0]  # a function of TF2 is given nothing by such a name
            name = next((o for o in wanted if o not in blocked and o not in found.values()), "")
            if not name:
                return {}
            found[attribute] = name
        return found


def _speaks(function: Function) -> bool:
    """Whether a function of the run, of this module or another, calls TensorFlow."""
    calls = (node for node in walk(function.node) if isinstance(node, ast.Call))
    return any(name_of(function.module, call) for call in calls)
