"""A graph that the method builds which makes its session: in the constructor.

    trainer = Trainer(settings)                 trainer = Trainer(settings)
    trainer.train(data)                         trainer.train(data)

    def train(self, data):                      def __init__(self, settings):
        loss = self.build()                         ...
        with tf.Session() as sess:                  loss = self.build()
            sess.run(loss)                          self.loss = loss

                                                def train(self, data):
                                                    with tf.Session() as sess:
                                                        sess.run(self.loss)

The program makes one object, and calls the method once, right behind: what the method does first,
and without what it is given, happens at the same moment. It ends where something is run, or reads
what only the method has. A session, and its config, may be made among it: a session is of the whole
graph, whatever is built later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.session.origins import is_of_another, method_calls
from migrate_mgpu.models.front.session.scope import constructor_of, session_calls
from migrate_mgpu.models.normalize.objects.constructor_ends import may_be_added_to
from migrate_mgpu.models.normalize.objects.graph_methods import in_place, is_called_once, is_named
from migrate_mgpu.models.normalize.objects.late_builders import builds_more
from migrate_mgpu.models.normalize.objects.network_methods import is_base
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout, start_with_comments

_RUNS = ("run", "eval", "restore", "save")  # methods of a session, a tensor, a saver
_CONFIGS = ("ConfigProto", "GPUOptions")
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.With, ast.Assert)


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such method; none where there is none. ``own`` may change."""
    for module in modules:
        sessions = session_calls(module) if module in own else []
        for session in sessions:
            method = module.names.scope_at(session).node
            owner = module.names.parents.get(method)
            if not isinstance(method, ast.FunctionDef) or not isinstance(owner, ast.ClassDef):
                continue
            constructor = constructor_of(owner)
            if constructor is None or constructor is method or method.decorator_list:
                continue
            if not may_be_added_to(module, constructor) or not method.args.args:
                continue
            made = module.names.statement(session)
            if isinstance(made, ast.Assign) and not isinstance(made.targets[0], ast.Name):
                continue  # `self.sess = tf.Session()`: the object has it afterwards
            if session.args or any(one.arg != "config" for one in session.keywords):
                continue  # of another graph
            if is_base(modules, graph, owner):
                continue  # its constructor is that of other objects, too
            if _is_right_behind(module, constructor, method, graph):
                found = _Method(module, owner, constructor, method, graph).edits()
                if found:
                    return {module: found}
    return {}


def with_builders(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """A method that stays, and the builders of its object that it calls: their statements in it.

    def train(self, data):                      def train(self, data):
        self.build(data.shape[1])                   x = tf.placeholder(...)
        with tf.Session() as sess:                  with tf.Session() as sess:
    """
    for module in modules:
        for session in session_calls(module) if module in own else ():
            method = module.names.scope_at(session).node
            owner = module.names.parents.get(method)
            if not isinstance(method, ast.FunctionDef) or not isinstance(owner, ast.ClassDef):
                continue
            if method is constructor_of(owner) or method.decorator_list or not method.args.args:
                continue
            if is_base(modules, graph, owner) or not _is_plain_object(owner):
                continue
            if not trains_alone(module, graph, owner, method):
                continue
            if not any(_calls_method(method, one) for one in _builders(module, owner)):
                continue
            edits = in_place(module, graph, owner, method)
            if edits:
                return {module: edits}
    return {}


def _builders(module: Module, owner: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for one in owner.body:
        if isinstance(one, ast.FunctionDef) and builds_more(module, walk(one)):
            yield one


def _calls_method(method: ast.FunctionDef, other: ast.FunctionDef) -> bool:
    """Whether a method calls another one of its object."""
    me = method.args.args[0].arg
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr == other.name
        and getattr(one.func.value, "id", "") == me
        for one in walk(method)
    )


def trains_alone(
    module: Module, graph: CallGraph, owner: ast.ClassDef, method: ast.FunctionDef
) -> bool:
    """Whether a method with a session of its own is called once, by no method of its class."""
    made = any(
        call in {*walk(method)}
        and isinstance(statement := module.names.statement(call), (ast.With, ast.Assign))
        and not any(isinstance(part, ast.Attribute) for part in getattr(statement, "targets", ()))
        for call in session_calls(module)
    )
    calls = method_calls(graph, owner, method.name) if made else None
    if not calls or len(calls) != 1:
        return False
    there, mention = calls[0]
    return owner not in there.names.ancestors(mention)


def _is_plain_object(owner: ast.ClassDef) -> bool:
    return all(isinstance(base, ast.Name) and base.id == "object" for base in owner.bases)


def _is_right_behind(
    module: Module, constructor: ast.FunctionDef, method: ast.FunctionDef, graph: CallGraph
) -> bool:
    """Whether the one object's method is called once, and nothing happens between the two."""
    made = graph.references(Function(module, constructor))
    call = made[0].call if len(made) == 1 else None
    if call is None or not graph.runs_once(made[0].module, call):
        return False
    there = made[0].module
    names = there.names
    statement = names.statement(call)
    func: ast.AST | None = names.parents.get(call)
    if not isinstance(func, ast.Attribute):  # `trainer = Trainer(...)`, not `Trainer(...).train()`
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            return False
        if statement.value is not call or len(statement.targets) > 1:
            return False
        scope = names.scope_of_name[target]
        home = names.defining_scope(target.id, scope)
        if home is not scope or any(
            names.scope_of_name[one] is not scope for one in names.mentions(target.id, scope)
        ):
            return False  # what is built may know the object by its name
        block = names.block(statement)
        for one in block[block.index(statement) + 1 :]:
            mentioned = [n for n in walk(one) if isinstance(n, ast.Name) and n.id == target.id]
            if mentioned:
                func, statement = names.parents.get(mentioned[0]), one
                if len(mentioned) > 1:
                    return False
                break
            if not _is_of_function(there, one):
                return False
    if not isinstance(func, ast.Attribute) or func.attr != method.name:
        return False
    run = names.parents.get(func)
    if not isinstance(run, ast.Call) or run.func is not func:
        return False
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) or statement.value is not run:
        return False
    if any(_calls(one) for one in (*run.args, *run.keywords)):
        return False  # they would happen behind what is built
    return is_called_once(module, graph, constructor, method, func)


def _is_of_function(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement gives a function's own name a value, which nothing else sees."""
    if not isinstance(statement, ast.Assign) or _calls(statement):
        return False
    scope = module.names.scope_at(statement)
    own = all(
        isinstance(one, ast.Name) and module.names.defining_scope(one.id, scope) is scope
        for one in statement.targets
    )
    return own and isinstance(scope.node, ast.FunctionDef)


def _calls(node: ast.AST) -> bool:
    return any(isinstance(one, (ast.Call, ast.Await)) for one in walk(node))


@record(eq=False)
class _Moved:
    """Statements that go to the constructor, in a copy of the blocks around them."""

    statements: list[ast.stmt | tuple[ast.With, _Moved]] = field(default_factory=list)

    def all(self) -> Iterator[ast.stmt]:
        for one in self.statements:
            if isinstance(one, ast.stmt):
                yield one
            else:
                yield from one[1].all()


class _Method:
    def __init__(
        self,
        module: Module,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        method: ast.FunctionDef,
        graph: CallGraph,
    ) -> None:
        self.module = module
        self.names = module.names
        self.owner = owner
        self.constructor = constructor
        self.method = method
        self.graph = graph
        self.me = method.args.args[0].arg
        self.scope = module.names.scopes[method]
        arguments = method.args
        given = [*arguments.posonlyargs, *arguments.args[1:], *arguments.kwonlyargs]
        given += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        # What only the method has: what it is given, and what its own statements make.
        self.theirs = {one.arg for one in given}
        self.sessions = set(session_calls(module))
        self.graphs: list[ast.expr] = []  # blocks of a graph that is the program's only one

    def edits(self) -> list[Edit]:
        moved = _Moved()
        self._read(self.method.body, moved)
        statements = [*moved.all()]
        if not any(self._builds(one) for one in statements):
            return []
        inside = {part for one in statements for part in walk(one)}
        if not all(Layout(self.module.source, one).owns_lines for one in statements):
            return []
        if is_named(self.module, self.owner, self.method):
            return []
        stores: dict[str, list[ast.Name]] = {}
        own = self._own_names(inside)
        if own is None:
            return []
        renamed = self._renamed(own)
        kept: list[str] = []  # what the rest of the method reads
        changes: list[Edit] = []
        source = self.module.source
        me = self.constructor.args.args[0].arg
        for name in own:
            stores[name] = []
            for mention in self.names.mentions(name, self.scope):
                if self._is_in_text(mention):
                    return []
                if mention in inside:
                    if renamed[name] != name:
                        changes.append(Edit(*source.span(mention), renamed[name]))
                    continue
                if not isinstance(mention.ctx, ast.Load):
                    return []  # it is something else later
                if name not in kept:
                    kept.append(name)
                changes.append(Edit(*source.span(mention), f"{self.me}.{self._attribute(name)}"))
        if me != self.me:
            for mention in self.names.mentions(self.me, self.scope):
                if mention in inside:
                    changes.append(Edit(*source.span(mention), me))
        if not self._is_same_there(inside, own):
            return []
        last = Layout(source, self.constructor.body[-1])
        block = Block(source, source.indent_of(self.constructor.body[-1]))
        within = [one for one in changes if any(_is_in(source, one, s) for s in statements)]
        self._write(block, moved, within, 0)
        for name in kept:
            block.line(f"{me}.{self._attribute(name)} = {renamed[name]}")
        text = block.text()
        if not source.text[: last.next_line].endswith("\n"):
            return []
        gone = [self._without(one) for one in statements]
        gone += self._without_graphs()
        rest = [one for one in changes if one not in within]
        return [Edit(last.next_line, last.next_line, text), *gone, *rest]

    # -- which statements go ---------------------------------------------------------------------

    def _read(self, body: Sequence[ast.stmt], moved: _Moved) -> bool:
        """Find the statements of a body that go; whether those behind it may go as well."""
        for position, statement in enumerate(body):
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if text and position == 0:
                continue
            if isinstance(statement, ast.With) and self._has_session(statement):
                return self._read_block(statement, moved) and False
            if self._makes_session(statement):
                self._keep(statement)
                continue
            if not self._may_go(statement):
                return False
            moved.statements.append(statement)
        return True

    def _read_block(self, block: ast.With, moved: _Moved) -> bool:
        """What goes of a block that has the session: what the block begins with."""
        for item in block.items:
            call = item.context_expr
            if call in self.sessions:
                self._keep(block)
                continue
            device = isinstance(call, ast.Call) and name_of(self.module, call) == "device"
            if not (device or self._is_graph(call)) or item.optional_vars is not None:
                return False
            if self._is_theirs(call):
                return False
        inner = _Moved()
        self._read(block.body, inner)
        if not inner.statements:
            return False
        self.graphs += (one.context_expr for one in block.items if self._is_graph(one.context_expr))
        if any(item.context_expr in self.sessions for item in block.items):
            if len(block.items) > 1:
                return False
            moved.statements += inner.statements
        else:
            moved.statements.append((block, inner))
        return True

    def _is_graph(self, node: ast.expr) -> bool:
        """Whether a block is `tf.Graph().as_default()`, of the program's only graph and session.

        What the program builds elsewhere then, nothing runs: it is its default graph as well.
        """
        func = node.func if isinstance(node, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != "as_default":
            return False
        graphs = [c for m in self.graph.modules for c in calls_of_names(m).get("Graph", ())]
        sessions = [c for m in self.graph.modules for c in session_calls(m)]
        if graphs != [func.value] or len(sessions) != 1:
            return False
        return not any(  # that of a module would be found by `tf.trainable_variables()`
            name
            and not name.startswith((*SETTINGS, *_CONFIGS))
            and m.names.scope_at(call).is_module
            for m in self.graph.modules
            for name, calls in calls_of_names(m).items()
            for call in calls
        )

    def _has_session(self, statement: ast.stmt) -> bool:
        return any(part in self.sessions for part in walk(statement))

    def _makes_session(self, statement: ast.stmt) -> bool:
        """`sess = tf.Session(config=config)`, and what makes or sets the config."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        value, (target,) = statement.value, statement.targets
        if isinstance(target, ast.Name):
            made = isinstance(value, ast.Call) and name_of(self.module, value) in _CONFIGS
            return (value in self.sessions or made) and not self._is_theirs(value, target.id)
        while isinstance(target, ast.Attribute):  # `config.gpu_options.allow_growth = True`
            target = target.value
        named = isinstance(target, ast.Name) and target.id in self.theirs
        return named and not _calls(value) and not self._is_theirs(value)

    def _keep(self, statement: ast.stmt) -> None:
        """A statement that stays: what it makes is of the method alone."""
        for part in walk(statement) if not isinstance(statement, ast.With) else ():
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.theirs.add(part.id)
        if isinstance(statement, ast.With):
            for item in statement.items:
                if isinstance(item.optional_vars, ast.Name):
                    self.theirs.add(item.optional_vars.id)

    def _is_theirs(self, node: ast.AST, *others: str) -> bool:
        """Whether code reads what only the method has, but for a config that its session takes."""
        configs = {*others} if node not in self.sessions else {*others, *self._made_configs()}
        return any(
            isinstance(part, ast.Name) and part.id in self.theirs - configs for part in walk(node)
        )

    def _made_configs(self) -> set[str]:
        return {
            one.targets[0].id
            for one in walk(self.method)
            if isinstance(one, ast.Assign)
            and isinstance(one.targets[0], ast.Name)
            and isinstance(one.value, ast.Call)
            and name_of(self.module, one.value) in _CONFIGS
        }

    def _may_go(self, statement: ast.stmt) -> bool:
        if not isinstance(statement, _PLAIN) or self._is_theirs(statement):
            return False
        for part in walk(statement):
            if isinstance(part, (*_LEAVES, ast.Import, ast.ImportFrom, ast.Delete, ast.Lambda)):
                return False
            if not isinstance(part, ast.Call):
                continue
            own = self.graph.target(self.module, part.func) is not None
            if not own and getattr(part.func, "attr", "") in _RUNS:
                return False
        return True

    def _builds(self, statement: ast.stmt, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a statement makes parts of a network, or what it calls does: no saver alone."""
        module = self.module
        if builds_more(module, walk(statement)):
            return True
        for part in walk(statement):
            if not isinstance(part, ast.Call):
                continue
            function = self.graph.target(module, part.func)
            if function is None or function.node in seen:
                continue
            if builds_more(function.module, walk(function.node)):
                return True
            if function.module is module:
                inner = seen | {function.node}
                if any(self._builds(one, inner) for one in function.node.body):
                    return True
        return False

    # -- names -----------------------------------------------------------------------------------

    def _own_names(self, inside: Set[ast.AST]) -> list[str] | None:
        """The method's names that go, in order; None where one is made elsewhere as well."""
        found: list[str] = []
        for name in self.scope.bindings:
            stores = [
                one
                for one in self.names.mentions(name, self.scope)
                if not isinstance(one.ctx, ast.Load)
            ]
            if any(one in inside for one in stores):
                if name in self.theirs or name == self.me:
                    return None
                if len(stores) != len(self.scope.bindings[name]):
                    return None  # a function, an import
                found.append(name)
        return found

    def _renamed(self, own: Sequence[str]) -> dict[str, str]:
        """The names in the constructor: others where it has them for something else."""
        known = {part.id for part in walk(self.constructor) if isinstance(part, ast.Name)}
        known |= {*self.names.scopes[self.constructor].bindings}
        here = {part.id for part in walk(self.method) if isinstance(part, ast.Name)}
        found: dict[str, str] = {}
        for name in own:
            new, number = name, 2
            while new in known or (new != name and new in here):
                new, number = f"{name}_{number}", number + 1
            known.add(new)
            found[name] = new
        return found

    def _is_same_there(self, inside: Set[ast.AST], own: Sequence[str]) -> bool:
        """Whether the other names that go are no names of the constructor's own."""
        there = {*self.names.scopes[self.constructor].bindings} - {
            self.constructor.args.args[0].arg
        }
        read = {part.id for part in inside if isinstance(part, ast.Name)} - {*own}
        return not read & there

    def _attribute(self, name: str) -> str:
        """What the object calls a part: as the method did, if nothing of it is called so."""
        owned = {getattr(one, "name", "") for one in self.owner.body}
        owned |= {
            part.id
            for one in self.owner.body
            if isinstance(one, (ast.Assign, ast.AnnAssign))
            for part in walk(one)
            if isinstance(part, ast.Name)
        }
        new = name
        while new in owned or any(
            not is_of_another(module, one, self.owner)
            for module in self.graph.modules
            for one in module.names.attributes.get(new, ())
        ):
            new = f"{self.method.name}_{new}"
        return new

    def _is_in_text(self, node: ast.AST) -> bool:
        return any(isinstance(one, ast.JoinedStr) for one in self.names.ancestors(node))

    def _without_graphs(self) -> Iterator[Edit]:
        """The blocks in the method, without the graph that is the default one."""
        source = self.module.source
        for call in self.graphs:
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            block = self.names.statement(call)
            assert isinstance(block, ast.With) and isinstance(call.func.value, ast.Call)
            others = [one.context_expr for one in block.items if one.context_expr is not call]
            if others:
                start, end = source.span(call)[0], source.span(block.items[-1].context_expr)[1]
                yield Edit(start, end, ", ".join(source.code(one) for one in others))
                continue
            library = source.code(call.func.value.func)[: -len("Graph")]
            same = f"{library}variable_scope({library}get_variable_scope())"
            yield Edit(*source.span(call), same)  # the scope that it is in

    # -- text ------------------------------------------------------------------------------------

    def _write(self, block: Block, moved: _Moved, changes: list[Edit], deeper: int) -> None:
        source = self.module.source
        for one in moved.statements:
            if isinstance(one, ast.stmt):
                inner = [e for e in changes if _is_in(source, e, one)]
                block.statement(one, inner, deeper)
                continue
            around, within = one
            around_them = [one.context_expr for one in around.items]
            shown = ", ".join(source.code(one) for one in around_them if one not in self.graphs)
            if shown:
                block.line(f"with {shown}:", deeper)
            self._write(block, within, changes, deeper + bool(shown))

    def _without(self, statement: ast.stmt) -> Edit:
        source = self.module.source
        layout = Layout(source, statement)
        top, _ = source.part_at(layout.line_start)
        start = max(start_with_comments(source.text, layout.line_start), top)
        end = layout.next_line
        following = source.text.find("\n", end) + 1
        if following and not source.text[end:following].strip():
            end = following  # the blank line below
        return Edit(start, end, "")


def _is_in(source: Source, edit: Edit, statement: ast.stmt) -> bool:
    start, end = source.span(statement)
    return start <= edit.start and edit.end <= end
