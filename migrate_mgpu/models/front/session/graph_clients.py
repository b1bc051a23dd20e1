"""Code that has to do with a graph and does not build it: functions that run its steps, and
those that hand the session and parts of the graph to them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import line_of, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.client_iterators import ClientIteratorReader
from migrate_mgpu.models.front.session.data_functions import only_makes_data
from migrate_mgpu.models.front.session.driving import DrivingReader
from migrate_mgpu.models.front.session.eager_values import EagerValueReader
from migrate_mgpu.models.front.session.kept_iterators import KeptIteratorReader
from migrate_mgpu.models.front.session.origins import (
    Export,
    Named,
    Whole,
    arguments_by_name,
    class_of,
    exports,
    is_annotation,
)
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    HOST_OBJECTS,
    AllVariables,
    GraphClient,
    Init,
    Role,
)
from migrate_mgpu.models.front.session.scope import Home, Maker, leaves, lines, makes_graph
from migrate_mgpu.models.front.session.session_order import SessionOrder
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.ir import Variables

_HANDED = ("train.Saver", "summary.FileWriter", "train.SummaryWriter")
_ADVICE = "run it, and use its value"


class GraphClientReader(StatementReader):
    """Reads the clients of a graph once all that the graph is made of is known."""

    driving: DrivingReader
    eager_values: EagerValueReader
    iterators: ClientIteratorReader
    kept_iterators: KeptIteratorReader

    def __init__(self, state: Reading) -> None:
        super().__init__(state)
        self.order = SessionOrder(state)
        self.calling: list[ast.stmt] = []  # statements of the scope that call a client

    def calls_client(self, statement: ast.stmt) -> bool:
        """Whether a statement of the scope that builds calls a function that runs something."""
        return any(map(self.is_client_call, _own_calls(statement)))

    def is_client_call(self, call: ast.Call) -> bool:
        """Whether a call reaches a function that runs something in the session."""
        target = self.origins.target(call)
        if target is None or target.module is not self.module:
            return False
        if target.owner is not None and target.owner is not self.scope.owner:
            return self._keeps_session(target)
        if target.node is self.scope.node or not isinstance(target.node, ast.FunctionDef):
            return False
        return self.origins.runs(target)

    def _keeps_session(self, function: Function) -> bool:
        """Whether a function is another class's constructor, which keeps the session."""
        return function.name == "__init__" and any(
            isinstance(part, ast.Attribute)
            and self.origins.of(part) is Whole.SESSION
            and self.origins.kept_in(part) is self.names.statement(part)
            for part in walk(function.node)
        )

    def exports(self, statement: ast.stmt) -> Role | None:
        """What a statement is that gives the object its constructor builds a part of the graph.

        Raises:
            Refused: that is used before the graph is built.
        """
        known = exports(self.scope, self.origins.given) if self.scope.owner is not None else ()
        for export in known:
            if export.statement is not statement:
                continue
            meaning = self.runs.meaning(export.value)
            session = self.origins.of(export.value) is Whole.SESSION
            if not session and not isinstance(meaning, (*GRAPH, *HOST_OBJECTS)):
                return None
            self.found.exports.append(statement)
            if isinstance(meaning, AllVariables) and meaning.chosen and self._is_asked(export):
                self.found.collected[export.value] = meaning.variables
                return Role.COMPUTED
            stays = isinstance(meaning, (Variables, *HOST_OBJECTS))
            return Role.HOST if stays else Role.GONE
        return None

    def _is_asked(self, export: Export) -> bool:
        """Whether something besides the scope that builds reads what an object is given."""
        mentions = self.names.attributes.get(export.target.attr, ())
        return any(isinstance(m.ctx, ast.Load) and not self.runs.is_home(m) for m in mentions)

    def returns(self, statement: ast.stmt) -> bool:
        """Whether a statement gives parts of the graph to who called the scope that builds."""
        if not isinstance(statement, ast.Return) or self.scope.owner is not None:
            return False
        if not self.origins.exported:
            return False
        if not any(self._is_graphs(value) for value in self.origins.exported.values()):
            return False
        for value in self.origins.exported.values():
            if not isinstance(value, ast.Name) and self._mentions_graph(value):
                raise Refused(self.module, value, "a part of the graph is returned without a name")
        self.found.returned = statement
        self.found.shown |= {
            value
            for value in self.origins.exported.values()
            if not self._is_graphs(value) or isinstance(self.runs.meaning(value), Variables)
        }
        return True

    def _is_graphs(self, value: ast.expr) -> bool:
        return isinstance(self.runs.meaning(value), GRAPH)

    def _mentions_graph(self, node: ast.AST) -> bool:
        return any(self._is_graphs(p) for p in walk(node) if isinstance(p, ast.Name))

    # -- all clients ---------------------------------------------------------------

    def read(self) -> None:
        """Reads what other code does with the graph.

        Raises:
            Refused: it does more than running steps, and passing on what it needs for that.
        """
        for node in self._nodes():
            self.found.clients.append(self._begun(node))
        self._read_constructor()
        if self._all_alone and not self.scope.own:
            for maker in (self.scope.maker, *self.scope.apart):
                self.driving.begins_alone(maker)
        for client in self.found.clients:
            self.iterators.read(client)
        for client in sorted(self.found.clients, key=self._hands_nothing):
            for place, entry in enumerate(client.entries):
                role = self._client_role(client, entry.statement, entry.opens, place)
                client.roles.append(role)
        self._read_client_calls()
        self._drop_empty()
        self._check_clients()

    def _hands_nothing(self, client: GraphClient) -> bool:
        """Whether a client makes no saver or writer that others are given: it is read first."""
        names = [
            one.statement.targets[0]
            for one in client.entries
            if isinstance(one.statement, ast.Assign)
            and name_of(self.module, one.statement.value) in _HANDED
        ]
        home = self.names.scopes[client.node]
        return not any(
            isinstance(self.names.parents.get(mention), ast.Call)
            for name in names
            if isinstance(name, ast.Name)
            for mention in self.names.mentions(name.id, home)
        )

    def _read_constructor(self) -> None:
        """A constructor that builds the graph is not given the session any longer.

        Raises:
            Refused: it does more with it than keeping it for its object.
        """
        node = self.scope.node
        if self.scope.owner is None or not isinstance(node, ast.FunctionDef):
            return
        kept = {part for one in self.found.exports for part in walk(one)}
        dropped: list[str] = []
        for name in Function(self.module, node).parameters()[1:]:
            mentions = list(self.names.mentions(name, self.home))
            if not any(self.origins.of(one) is Whole.SESSION for one in mentions):
                continue
            for one in mentions:
                if one not in kept and one not in self.runs.known:
                    raise Refused(self.module, one, "the session is used for more than `run`")
            dropped.append(name)
        if dropped:
            self.found.clients.append(GraphClient(node, (), (), dropped=dropped))

    def _nodes(self) -> list[Home]:
        """The module and the functions, besides the scope that builds, that mention its graph."""
        inside = self._inside
        found: dict[Home, None] = {}
        found.update((node, None) for node in self.scope.holders if node is not self.scope.node)
        for name in self.names.scope_of_name:
            if self.runs.is_home(name) or name in self.state.theirs:
                continue
            node = self._around(name) if self._concerns(name) else None
            if node is not None and node not in inside:
                found[node] = None
        for call in self.names.calls:
            if call in self.state.theirs:
                continue
            if self.origins.of(call) is not None and not self.runs.is_home(call):
                node = self._around(call)
                if node is not None:
                    found[node] = None
        for attribute in self._kept():
            matters = attribute not in self.state.theirs and self._matters(attribute)
            node = self._around(attribute) if matters else None
            if node is not None and node is not self.scope.node:
                found[node] = None
        # Of several sessions the one that gives the variables their values comes first.
        first = None if self._all_alone else self.scope.session_node
        return sorted(found, key=lambda node: (node is not first, line_of(node)))

    @cached_property
    def _all_alone(self) -> bool:
        """Whether a process makes one of the sessions at most."""
        return all(self.order.is_alone(one) for one in self.scope.apart)

    def _kept(self) -> Iterator[ast.Attribute]:
        """The mentions of the session, or of the object, that objects of other classes keep."""
        for name in self.names.attributes:
            for node in self.names.attributes[name]:
                if self.origins.kept_in(node) is not None:
                    yield node

    def _matters(self, kept: ast.Attribute) -> bool:
        """Whether such a mention is the session, or leads to a part of the graph."""
        parent = self.names.parents.get(kept)
        leads = isinstance(parent, ast.Attribute) and self._is_exported(parent)
        return leads or self.origins.of(kept) is Whole.SESSION

    @property
    def _inside(self) -> set[ast.AST]:
        """The author's functions that make or compute parts of the graph."""
        found = self.found
        return {*found.builders, *found.makers, *found.helpers, *self.expressions.functions}

    def _concerns(self, name: ast.Name) -> bool:
        origin = self.origins.of(name)
        if origin is Whole.OBJECT:
            return not self._is_plain(name, set())
        if isinstance(origin, Named):
            return isinstance(self.meanings.get(origin.name), (*GRAPH, *HOST_OBJECTS))
        if origin is Whole.RETURNED and self.found.returned is None:
            return False  # values of Python's own, which runs gave
        return origin is not None

    def _around(self, node: ast.AST) -> Home | None:
        for parent in self.names.ancestors(node):
            if isinstance(parent, (ast.Module, ast.FunctionDef)):
                return parent
            if isinstance(parent, (ast.AsyncFunctionDef, ast.ClassDef)):
                kind = "a class" if isinstance(parent, ast.ClassDef) else "an asynchronous function"
                text = f"a part of the graph is used in {kind}"
                raise Refused(self.module, node, text)
        return None

    def _begun(self, node: Home) -> GraphClient:
        entries, blocks = lines(self.module, node, self.scope.session, self.graph)
        client = GraphClient(node, entries, blocks)
        if isinstance(node, ast.FunctionDef):
            if node.decorator_list:
                text = f"`{node.name}`, which uses the graph, is not a plain function"
                raise Refused(self.module, node, text)
            known = Function(self.module, node)
            for name in known.parameters():
                mentions = self.names.mentions(name, self.names.scopes[node])
                for mention in mentions:
                    origin = self.origins.of(mention)
                    meaning = self.runs.meaning(mention)
                    session = origin is Whole.SESSION
                    part = isinstance(meaning, GRAPH) and not isinstance(meaning, Variables)
                    client.takes_parts |= part
                    if (session or part) and name not in client.dropped:
                        client.dropped.append(name)
            client.dropped += (
                name
                for name in known.parameters()
                if name not in client.dropped and self._is_dropped_unread(known, name)
            )
            owned = known.owner is not None and known.owner is not self.scope.owner
            if owned and client.dropped and node.name != "__init__":
                text = f"`{node.name}`, a method of another class, is given a part of the graph"
                raise Refused(self.module, node, text, "give it to the constructor")
        return client

    def _is_dropped_unread(self, function: Function, name: str) -> bool:
        """Whether a parameter that is not mentioned is given the session or a part of the graph."""
        references = self.origins.references(function)
        values = [
            arguments_by_name(function, r.call).get(name)
            for r in references
            if r.call is not None and r.module is self.module
        ]
        if not values or len(values) != len(references):
            return False
        for value in values:
            if value is None:
                return False
            meaning = self.runs.meaning(value)
            part = isinstance(meaning, GRAPH) and not isinstance(meaning, Variables)
            if not part and self.origins.of(value) is not Whole.SESSION:
                return False
        return True

    # -- one statement ----------------------------------------------------------------

    def _client_role(
        self, client: GraphClient, statement: ast.stmt, opens: bool, place: int
    ) -> Role:
        if isinstance(statement, (ast.With, ast.Assign)) and statement in self._later:
            for one in self.scope.inside(statement):
                self._makes_saver(client.node, one)  # which it may restore by
            if not self.order.is_alone(statement):
                self.driving.begins_again(statement)
            if isinstance(statement, ast.Assign):
                return Role.GONE
        if statement in self.iterators.roles:
            return self.iterators.roles[statement]
        if self.kept_iterators.begins(client, statement):
            return Role.HOST
        if opens:
            return Role.GONE if statement in client.blocks else Role.HOST
        if statement is self.scope.maker or self._closes(statement):
            return Role.GONE
        if isinstance(statement, ast.Assign) and self.origins.of(statement.value) is Whole.SESSION:
            target = statement.targets[0]
            if isinstance(target, ast.Attribute) and self.origins.kept_in(target) is statement:
                return Role.GONE
            if isinstance(target, ast.Name) and self.origins.of(target) is Whole.SESSION:
                if isinstance(client.node, ast.FunctionDef):
                    return Role.GONE  # `sess = self.sess`, one more name of it
        if statement in self.found.dropped:
            return Role.HOST
        if makes_graph(self.module, statement):
            return Role.GONE
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
            return Role.HOST
        if self._begins(statement):
            return Role.GONE
        if self.driving.summaries.only_graph(statement):
            return Role.GONE
        if self.driving.made_elsewhere(statement):
            return Role.HOST_OBJECT
        if self._makes_saver(client.node, statement):
            return Role.HOST_OBJECT
        self.driving.read(statement)
        if self.runs.feeds.concerns(statement):
            return Role.HOST
        if self.runs.concerns(statement):
            before = len(self.found.runs)
            role = self.runs.read(statement, place)
            client.runs += self.found.runs[before:]
            above = {statement, *self.names.ancestors(statement)}
            restored = any(one in above for m in self._later for one in self.scope.inside(m))
            if role is Role.GONE and not restored and not self.order.runs_once(statement):
                text = "variables may be initialized more than once"
                raise Refused(self.module, statement, text)
            return role
        if self.eager_values.assigned(statement):
            return Role.COMPUTED
        if isinstance(statement, ast.Assign) and self._unpacks(statement):
            client.unpacked.append(statement)
        self._check_calls(statement)
        return Role.HOST

    def _makes_saver(self, node: Home, statement: ast.stmt) -> bool:
        """Whether a statement of other code makes a saver of all that the one object has.

        Raises:
            Refused: it saves something else.
        """
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or name_of(self.module, call) != "train.Saver":
            return False
        holder = self._holder(node, statement)
        return bool(holder) and self.driving.saver_elsewhere(statement, call, holder)

    def _holder(self, node: Home, statement: ast.stmt) -> str:
        """What the object that has the graph is called at a statement of other code; or nothing.

        That is an attribute of the object of a method, or a name: of a parameter, of the module, or
        one that is given the object above the statement.
        """
        built = self.scope.node
        if self.scope.owner is None or self.found.several or not isinstance(built, ast.FunctionDef):
            return ""
        if leaves(built):  # some objects would not have what is kept at the end
            return ""
        function = Function(self.module, node) if isinstance(node, ast.FunctionDef) else None
        known = function.parameters() if function is not None else []
        owner, home = self.names.parents.get(node), self.names.scopes[node]
        if owner is self.scope.owner and known and not getattr(node, "decorator_list", ()):
            return known[0]  # a method of the object's own
        for kept in self._kept() if isinstance(owner, ast.ClassDef) and known else ():
            there = self.names.statement(kept)
            if not isinstance(kept.ctx, ast.Store) or class_of(self.module, kept) is not owner:
                continue
            if self.origins.of(kept) is Whole.OBJECT:
                later = self._around(kept) is node and there.lineno >= statement.lineno
                return "" if later else f"{known[0]}.{kept.attr}"
        for one in known:
            if any(self.origins.of(o) is Whole.OBJECT for o in self.names.mentions(one, home)):
                return one
        for name in self.names.scope_of_name:
            scope = self.names.scope_of_name[name]
            if not isinstance(name.ctx, ast.Store) or self.origins.of(name) is not Whole.OBJECT:
                continue
            block = self.names.block(self.names.statement(name))
            around = (self.names.statement(statement), *self.names.ancestors(statement))
            if scope is home and name.lineno < statement.lineno and {*block} & {*around}:
                return name.id
            if scope.is_module and scope is not home and name.id not in home.bindings:
                return name.id
        return ""

    @property
    def _later(self) -> tuple[Maker, ...]:
        """What makes the sessions that begin with a checkpoint."""
        return (*self.scope.again, *self.scope.apart)

    def _closes(self, statement: ast.stmt) -> bool:
        """`sess.close()`"""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return False
        if call.func.attr != "close" or call.args or call.keywords:
            return False
        return self.origins.of(call.func.value) is Whole.SESSION

    def _begins(self, statement: ast.stmt) -> bool:
        """Whether a statement makes what gives the variables their first values."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and isinstance(self.runs.meaning(target), Init):
                return True
        call = statement.value if isinstance(statement, ast.Expr) else None
        return name_of(self.module, call) == "reset_default_graph" if call is not None else False

    def _unpacks(self, statement: ast.Assign) -> bool:
        if not isinstance(statement.value, ast.Call):
            return False
        target = self.graph.target(self.module, statement.value.func)
        if target is None or target.node is not self.scope.node or self.found.returned is None:
            return False
        left = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(left, (ast.Name, ast.Tuple, ast.List)):
            raise Refused(
                self.module, statement, "where the parts of the graph go cannot be analyzed"
            )
        elements = [left] if isinstance(left, ast.Name) else left.elts
        if not all(isinstance(one, ast.Name) for one in elements):
            raise Refused(
                self.module, statement, "where the parts of the graph go cannot be analyzed"
            )
        keys = set(self.origins.exported)
        if isinstance(left, ast.Name):
            fits = keys == {None} or all(isinstance(key, str) for key in keys)
        else:
            fits = keys == set(range(len(elements)))
        if not fits:
            raise Refused(
                self.module, statement, "where the parts of the graph go cannot be analyzed"
            )
        return True

    def _check_calls(self, statement: ast.stmt) -> None:
        """A statement of Python's own calls nothing that builds a graph."""
        for call in _own_calls(statement):
            target = self.origins.target(call)
            if target is None or target.node is self.scope.node or self.is_client_call(call):
                continue
            if target.owner in self.state.others:
                continue  # it has a graph of its own
            if any(client.node is target.node for client in self.found.clients):
                continue  # what it does is read
            thrown_away = isinstance(self.module.names.parents[call], ast.Expr)
            if thrown_away and only_makes_data(target):
                continue
            if self.expressions.touches_graph(target):
                text = f"`{target.name}`, which is called here, uses the graph"
                raise Refused(self.module, call, text)

    # -- the whole ------------------------------------------------------------------

    def _read_client_calls(self) -> None:
        """Calls of clients by other code, the scope that builds included."""
        clients: dict[ast.AST, GraphClient] = {client.node: client for client in self.found.clients}
        for call in self.names.calls:
            target = self.origins.target(call)
            client = clients.get(target.node) if target is not None else None
            if client is None or target is None:
                continue
            if client.dropped:
                known = arguments_by_name(target, call)
                if not set(client.dropped) <= known.keys():
                    text = f"what `{target.name}` is given cannot be determined"
                    raise Refused(self.module, call, text, "name its arguments")
            around = self._around(call)
            from_home = self.runs.is_home(call)
            caller = next((one for one in self.found.clients if one.node is around), None)
            if caller is None and not from_home:
                assert around is not None
                caller = GraphClient(around, (), ())  # it only calls
                self.found.clients.append(caller)
                clients.setdefault(around, caller)
            own = caller.client_calls if caller is not None else self.found.client_calls
            own.append((call, client))
        for client in self.found.clients:
            if not client.dropped or not isinstance(client.node, ast.FunctionDef):
                continue
            for reference in self.origins.references(Function(self.module, client.node)):
                if reference.call is None or reference.module is not self.module:
                    text = f"`{client.node.name}`, which runs steps, is more than called"
                    raise Refused(reference.module, reference.node, text)

    def _drop_empty(self) -> None:
        """Functions that only gave the variables their first values go, with their calls."""
        for client in [one for one in self.found.clients if isinstance(one.node, ast.FunctionDef)]:
            assert isinstance(client.node, ast.FunctionDef)
            if isinstance(self.names.parents[client.node], ast.ClassDef):
                continue  # its object has more, and others may call it
            own = [
                role
                for entry, role in zip(client.entries, client.roles)
                if not isinstance(entry.statement, ast.Expr)
                or not isinstance(entry.statement.value, ast.Constant)
            ]
            if not own or any(role is not Role.GONE for role in own):
                continue
            references = self.origins.references(Function(self.module, client.node))
            gone: list[ast.stmt] = [client.node]
            for reference in references:
                statement = self.names.statement(reference.node)
                if not isinstance(statement, ast.Expr) or statement.value is not reference.call:
                    text = f"nothing is left of `{client.node.name}`, and its value is used"
                    raise Refused(self.module, reference.node, text)
                gone.append(statement)
            for statement in gone:
                self._drop(statement)
                self.runs.known |= set(walk(statement))
            self.found.clients.remove(client)
            calls = {reference.call for reference in references}
            callers = (self.found.client_calls, *(one.client_calls for one in self.found.clients))
            for made in callers:
                made[:] = [pair for pair in made if pair[0] not in calls]

    def _drop(self, statement: ast.stmt) -> None:
        """A statement of the scope, or of a client, goes."""
        around = self._around(statement)
        assert around is not None
        known = [client for client in self.found.clients if client.node is around]
        if around is self.scope.node:
            places = [(self.scope.entries, self.found.roles)]
        elif known and known[0].entries:
            places = [(known[0].entries, known[0].roles)]
        else:
            entries, blocks = lines(self.module, around, self.scope.session, self.graph)
            client = GraphClient(around, entries, blocks, [Role.HOST] * len(entries))
            self.found.clients[:] = [one for one in self.found.clients if one.node is not around]
            self.found.clients.append(client)
            places = [(entries, client.roles)]
        for entries, roles in places:
            for index, entry in enumerate(entries):
                if entry.statement is statement:
                    roles[index] = Role.GONE
                    return
        text = "nothing is left of this function, which is called under a condition"
        raise Refused(self.module, statement, text)

    def _check_clients(self) -> None:
        """Each mention of the session or the graph elsewhere is one that is understood."""
        self._check_attributes()
        inside = self._inside
        fine = set(self.runs.known)
        for client in self.found.clients:
            for entry, role in zip(client.entries, client.roles):
                if role is Role.GONE:
                    part = entry.statement
                    roots = part.items if entry.opens and isinstance(part, ast.With) else [part]
                    fine |= {node for root in roots for node in walk(root)}
            for statement in client.unpacked:
                fine |= set(walk(statement))
        for call, client in self.found.all_client_calls():
            assert isinstance(client.node, ast.FunctionDef)
            known = arguments_by_name(Function(self.module, client.node), call)
            fine |= {known[name] for name in client.dropped if name in known}
            for value in known.values():
                one = isinstance(self.runs.meaning(value), (Variables, *HOST_OBJECTS))
                if one or self.origins.of(value) in (Whole.RETURNED, Whole.OBJECT):
                    fine.add(value)
        self._check_kept(fine)
        calling = {node for statement in self.calling for node in walk(statement)}
        for name in self.names.scope_of_name:
            if self.runs.is_home(name) and name not in calling:
                continue
            if name in fine or not isinstance(name.ctx, ast.Load) or self._is_theirs(name):
                continue
            if is_annotation(self.module, name):
                continue
            if not self._concerns(name) or self._around(name) in inside:
                continue
            if self.origins.of(name) is Whole.SESSION:
                raise Refused(self.module, name, "the session is used for more than `run`")
            if self.origins.of(name) is Whole.OBJECT and self._is_plain(name, fine):
                continue
            if self.origins.of(name) in (Whole.RETURNED, Whole.OBJECT):
                text = f"`{name.id}`, which has parts of the graph, is used in another way here"
                raise Refused(self.module, name, text)
            if self.driving.asks_for(name):
                continue
            text = f"`{name.id}`, a part of the graph, is used outside of `Session.run`"
            raise Refused(self.module, name, text, _ADVICE)

    def _check_kept(self, fine: AbstractSet[ast.AST]) -> None:
        """What others that keep the object, or the session, take of it is understood.

        Raises:
            Refused: it is a part of the graph that they do not run, or the session.
        """
        kept = {node: self.origins.of(node) for node in self._kept()}
        for node, origin in kept.items():
            if node in fine or not isinstance(node.ctx, ast.Load):
                continue
            if origin is Whole.SESSION and node in self.state.theirs:
                continue  # that is asked where these are read
            if origin is Whole.SESSION:
                raise Refused(self.module, node, "the session is used for more than `run`")
            if not self._is_plain(node, fine):
                shown = self.module.source.code(node)
                text = f"`{shown}`, which has parts of the graph, is used in another way here"
                raise Refused(self.module, node, text)
        for name in {node.attr for node, origin in kept.items() if origin is Whole.SESSION}:
            for module in self.graph.modules:
                for node in module.names.attributes.get(name, ()):
                    if node not in kept and not self.origins.is_own(module, node):
                        shown = module.source.code(node)
                        text = f"it cannot be determined whether `{shown}` is the session"
                        raise Refused(module, node, text, "give the attribute a name of its own")

    def _is_theirs(self, name: ast.Name) -> bool:
        """Whether a name is one in another class that builds a graph, or gives that the session."""
        if name in self.state.theirs:
            return True
        call = self.names.taker(name) if self.origins.of(name) is Whole.SESSION else None
        known = self.graph.class_of(self.module, call.func) if call is not None else None
        return known is not None and known[1] in self.state.others

    def _is_plain(self, name: ast.expr, fine: AbstractSet[ast.AST]) -> bool:
        """Whether a mention of the object that has the graph only leads to Python's own."""
        parent = self.names.parents.get(name)
        if isinstance(parent, (ast.List, ast.Tuple)) and isinstance(parent.ctx, ast.Load):
            return self.origins.are_objects(parent)
        if isinstance(parent, ast.Assign) and isinstance(kept := parent.targets[0], ast.Attribute):
            return self.origins.kept_in(kept) is parent
        if isinstance(parent, ast.Return):
            return self.origins.returns_object(self.graph.enclosing(self.module, parent))
        if isinstance(parent, (ast.Call, ast.keyword)):
            taker = self.origins.given_to(name)
            if taker is not None and taker.node not in self.state.theirs:
                return True
        if isinstance(parent, ast.Attribute):
            if parent in fine or isinstance(self.runs.meaning(parent), HOST_OBJECTS):
                return True
            return not self._is_exported(parent)
        if isinstance(parent, ast.Call) and self.names.qualname(parent.func) == "builtins.hasattr":
            asked = constant(parent.args[-1]) if len(parent.args) == 2 else None
            return isinstance(asked, str) and asked not in self.origins.exported
        return False

    def _is_exported(self, node: ast.Attribute) -> bool:
        """Whether an attribute of the object that has the graph is the session, or a part of it."""
        origin = self.origins.of(node)
        if isinstance(origin, Named):
            return isinstance(self.meanings.get(origin.name), (*GRAPH, *HOST_OBJECTS))
        return origin is Whole.SESSION

    def _check_attributes(self) -> None:
        """What may be an attribute of the object that has the graph is seen to be one, or not.

        Raises:
            Refused: it cannot be determined whose attribute it is.
        """
        if self.scope.owner is None:
            return
        known = (one.target for one in exports(self.scope, self.origins.given))
        going = {one.attr for one in known if self._is_exported(one)}
        for module in self.graph.modules:
            for name in sorted(going & set(module.names.attributes)):
                for node in module.names.attributes[name]:
                    if module is self.module and self.origins.of(node.value) is Whole.OBJECT:
                        continue
                    if not self.origins.is_of_another(module, node):
                        shown = module.source.code(node)
                        text = f"it cannot be determined whether `{shown}` is a part of the graph"
                        raise Refused(module, node, text, "give the attribute a name of its own")
            for call in module.names.calls:
                asked = module.names.qualname(call.func) == "builtins.getattr"
                if asked and len(call.args) > 1 and constant(call.args[1]) in going:
                    text = f"`{module.source.code(call)}` may be a part of the graph"
                    raise Refused(module, call, text, _ADVICE)


def _own_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in walk(statement) if isinstance(node, ast.Call))
