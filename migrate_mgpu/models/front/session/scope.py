"""The statements of the scope in which a session's program builds and runs, in one line."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations, takewhile
from typing import Union

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, children, position, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.optimizers import STEP_MAKERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.session.graph_collections import (
    is_dependency,
    is_ordering,
    waits_for,
)
from migrate_mgpu.models.front.towers.loop import (
    asks_first,
    find_towers,
    is_cpu,
    is_first_gpu,
    is_same_scope,
    read_towers,
    shares,
    told_device,
)
from migrate_mgpu.models.ir import Towers
from migrate_mgpu.source.statements import Layout

SESSION = ("target", "graph", "config")  # what a session is given
SESSIONS = ("Session", "InteractiveSession")
_DEFINED = (ast.FunctionDef, ast.ClassDef)
_DEEP = 9  # names that stand for each other
_BUILDS = ("placeholder", "Variable", "get_variable")
_GIVEN_SESSIONS = ("save", "restore", "run", "eval")  # methods that keep none
Header = Union[ast.With, ast.For, ast.If]
_SEVERAL = "it makes more than one session, each with its own values of the variables"
Maker = Union[ast.With, ast.Assign]  # of a session
ADVICE = "give the program one `tf.Session` in the scope that builds the graph"


Home = Union[ast.Module, ast.FunctionDef]
Owner = Union[ast.ClassDef, ast.FunctionDef]


@record(frozen=True, eq=False)
class Entry:
    """A statement, or the header of a block whose statements follow (``opens``).

    ``dedent`` is the indentation that goes away with the blocks around it, ``scopes`` are the
    names of TF1's scopes around it, by what they name (``name_scope``, ``variable_scope``).
    ``towers`` are those whose loop it stands in, ``first``: only for the first of them.
    ``device`` is where it computes, with what makes it. ``reuses``: its variables are those that
    there are already, as what stands around it says. ``conditional``: it may not run, because the
    session is made under a condition.
    """

    statement: ast.stmt
    opens: bool = False
    dedent: int = 0
    scopes: tuple[tuple[str, str], ...] = ()
    device: ast.expr | None = None
    towers: Towers | None = None
    first: bool = False
    reuses: bool = False
    conditional: bool = False


@record(frozen=True, eq=False)
class SessionScope:
    """Where a program builds its graph, and where its one session is.

    ``node`` is the module or the function that builds, ``entries`` its statements, ``blocks``
    those of its ``with`` statements that go away. ``session`` is the call that makes the
    session, ``name`` what that is called in ``session_node``; ``again`` make later sessions, which
    have that name as well. ``resets`` are statements behind which it builds
    another graph, ``later`` those that make the sessions for these, by the same name. ``apart`` are
    blocks of other sessions of the same graph, each in a function of its own. ``own``: each call of
    the function that makes the session has a graph of its own, which it builds, or an object that
    it makes.
    """

    module: Module
    node: Home
    session: ast.Call
    session_node: Home
    name: str
    entries: tuple[Entry, ...]
    blocks: tuple[Header, ...]
    again: tuple[Maker, ...] = ()
    resets: tuple[ast.stmt, ...] = ()
    later: tuple[ast.stmt, ...] = ()
    apart: tuple[ast.With, ...] = ()
    own: bool = False

    @property
    def holders(self) -> dict[Home, str]:
        """The functions, or the module, that make sessions, with what these are called there."""
        found = {self.session_node: self.name}
        for block in self.apart:
            around = _building_scope(self.module, block.items[0].context_expr)
            found[around] = _name(self.module, block, block.items[0].context_expr, False)
        return found

    def section(self, node: ast.AST) -> int:
        """Which of the program's graphs a node is about, where it builds one after the other."""
        line = getattr(node, "lineno", 0)
        return sum(reset.lineno < line for reset in self.resets)

    @property
    def sessions(self) -> list[ast.Call]:
        """The calls that make its sessions."""
        makers = {self.maker, *self.again, *self.later, *self.apart}
        names = self.module.names
        return [call for call in session_calls(self.module) if names.statement(call) in makers]

    def inside(self, maker: Maker) -> list[ast.stmt]:
        """The statements that a later session runs in: its block, or all until the next one."""
        if isinstance(maker, ast.With):
            return maker.body
        block = self.module.names.block(maker)
        below = block[block.index(maker) + 1 :]
        return [*takewhile(lambda one: one not in self.again, below)]

    @property
    def towers(self) -> Towers | None:
        """The towers that the program builds, if it does."""
        return next((entry.towers for entry in self.entries if entry.towers is not None), None)

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class whose objects have the graph, where a constructor builds it."""
        parent = self.module.names.parents.get(self.node)
        return parent if isinstance(parent, ast.ClassDef) else None

    @property
    def maker(self) -> ast.stmt:
        """The statement that makes the session."""
        return self.module.names.statement(self.session)


def is_session(module: Module, node: ast.AST) -> bool:
    """Whether a call makes a session that this reader knows."""
    return isinstance(node, ast.Call) and name_of(module, node) in SESSIONS


@fact_of_text
def session_calls(module: Module) -> list[ast.Call]:
    """The calls that make its sessions, in source order."""
    return [call for call in module.names.calls if is_session(module, call)]


def read_scope(module: Module, graph: CallGraph, owner: Owner | None = None) -> SessionScope:
    """The scope of a module's one session; ``owner``: that of the constructor of a class.

    Or it is one of several functions that build a graph each, and make its session.

    Raises:
        Refused: there is none or more than one, or it is made or held in another way.
    """
    calls = session_calls(module)
    theirs: set[ast.AST] = set()
    if isinstance(owner, ast.FunctionDef):
        theirs = {part for one in graph_functions(module) if one is not owner for part in walk(one)}
        calls = [call for call in calls if call not in theirs]
    if not calls:
        raise Refused(module, module.tree, "its session is made in another way", ADVICE)
    resets = _resets(module, calls)
    again = () if resets else _again(module, calls)
    session = calls[0]
    apart: tuple[ast.With, ...] = ()
    if len(calls) > 1 and not again and not resets:
        session, apart = _apart(module, calls)
    for call in module.names.calls:
        name = name_of(module, call)
        if (
            call not in calls
            and call not in theirs
            and ("Session" in name or name.startswith("train.Supervisor"))
        ):
            raise Refused(module, call, f"it makes a `tf.{name}` as well", ADVICE)
    given = NamedArguments(module, session, SESSION).rest
    for name, value in given.items():
        if name == "graph" and _named_graph(module, value):
            continue
        if name != "config" and not is_none(value) and constant(value) != "":
            text = "its session is given more than a config"
            raise Refused(module, value, text)
    around = _building_scope(module, session)
    name = _name(module, module.names.statement(session), session, bool(resets or again))
    node = around if resets or owner is around else _builds(module, around)
    if isinstance(owner, ast.ClassDef):
        node = constructor_of(owner) or node
    entries, blocks = lines(module, node, session, graph)
    later = tuple(module.names.statement(call) for call in calls[1:]) if resets else ()
    own = (
        isinstance(node, ast.FunctionDef) and node is around and _graph_of(module, node) is not None
    )
    if (
        isinstance(node, ast.FunctionDef)
        and isinstance(around, ast.FunctionDef)
        and len(calls) == 1
    ):
        own = own or _makes_own_object(module, graph, node, around)
    scope = SessionScope(
        module, node, session, around, name, entries, blocks, again, resets, later, apart, own
    )
    if node in scope.holders and apart:
        text = "what makes a session builds the graph anew each time"
        if isinstance(node, ast.Module):
            text = _SEVERAL
        raise Refused(module, session, text, ADVICE)
    known = entries if node is around else lines(module, around, session, graph)[0]
    if not any(entry.statement is scope.maker for entry in known):
        text = "its session is made under a condition or in a loop"
        raise Refused(module, session, text, ADVICE)
    return scope


def lines(
    module: Module, node: Home, session: ast.Call, graph: CallGraph
) -> tuple[tuple[Entry, ...], tuple[Header, ...]]:
    """The statements of a module or a function in one line, and the blocks that go away."""
    reader = _EntryReader(module, session, graph)
    entries = tuple(reader.read(node.body, Entry(node.body[0])))
    return entries, tuple(reader.blocks)


def _again(module: Module, calls: list[ast.Call]) -> tuple[Maker, ...]:
    """What makes the later sessions, where each has the first one's name, graph and settings.

    An assignment takes the name from the session before, which nothing has any more.
    """
    found: list[Maker] = []
    if not _are_alike(module, calls):
        return ()
    for call in calls:
        maker = module.names.statement(call)
        target = maker.targets[0] if isinstance(maker, ast.Assign) else None
        if isinstance(maker, ast.With) and [item.context_expr for item in maker.items] == [call]:
            target = maker.items[0].optional_vars
        elif not isinstance(maker, ast.Assign) or not _is_only_run(module, maker, call):
            return ()
        if not isinstance(target, (ast.Name, type(None))):
            return ()
        found.append(maker)
    names = {target.id for maker in found if (target := _target(maker)) is not None}
    outer = [next(reversed(_conditions(module, call)), maker) for call, maker in zip(calls, found)]
    same = all(module.names.block(one) is module.names.block(outer[0]) for one in outer)
    return tuple(found[1:]) if same and len(names) == 1 else ()


def _target(maker: Maker) -> ast.Name | None:
    """The name that a statement gives the session that it makes."""
    target = maker.targets[0] if isinstance(maker, ast.Assign) else maker.items[0].optional_vars
    return target if isinstance(target, ast.Name) else None


def _is_only_run(module: Module, maker: ast.Assign, call: ast.Call) -> bool:
    """Whether a session with a name has nothing but what is done with it by that.

    `sess.run(...)`, `saver.save(sess, path)`: what is given the session itself might keep it, and
    run in it when the name is another one's.
    """
    target = maker.targets[0]
    if maker.value is not call or len(maker.targets) > 1 or not isinstance(target, ast.Name):
        return False
    for mention in module.names.mentions(target.id, module.names.scope_of_name[target]):
        user = module.names.parents[mention]
        if isinstance(user, ast.keyword) and user.arg in ("session", "sess"):
            user = module.names.parents[user]
        func = user.func if isinstance(user, ast.Call) else None
        asked = isinstance(func, ast.Attribute) and func.attr in _GIVEN_SESSIONS
        if isinstance(mention.ctx, ast.Load) and not (asked or isinstance(user, ast.Attribute)):
            return False
    return True


def _are_alike(module: Module, calls: list[ast.Call], own_configs: bool = False) -> bool:
    """Whether sessions are given nothing but one graph, and one object that is their config.

    ``own_configs``: each may have a config of its own, which moves where all agree.
    """
    configs: set[object] = set()
    for call in calls:
        told = {one.arg: one.value for one in call.keywords}
        graph, config = told.pop("graph", None), told.pop("config", None)
        if call.args or told or (graph is not None and not _named_graph(module, graph)):
            return False
        if config is not None and not own_configs:
            configs.add(_stored(module, config))
    given = [one for call in calls for one in call.keywords]
    alike = len({ast.dump(one) for one in given if not own_configs or one.arg == "graph"}) < 2
    return alike and None not in configs and len(configs) < 2


def _stored(module: Module, node: ast.expr) -> object:
    """Where a name, or `self.config`, gets its one value; None where that is not known."""
    if isinstance(node, ast.Name):
        return module.names.only_binding(node)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    stored = [n for n in module.names.attributes[node.attr] if not isinstance(n.ctx, ast.Load)]
    return stored[0] if node.value.id == "self" and len(stored) == 1 else None


def _resets(module: Module, calls: list[ast.Call]) -> tuple[ast.stmt, ...]:
    """The statements that begin a new graph, where each graph has its session by one name."""
    makers = [module.names.statement(call) for call in calls]
    block = module.names.block(makers[0])
    names: set[str] = set()
    for call, maker in zip(calls, makers):
        target = maker.targets[0] if isinstance(maker, ast.Assign) else None
        if isinstance(maker, ast.With) and len(maker.items) == 1:
            target = maker.items[0].optional_vars
        if not isinstance(target, ast.Name) or module.names.block(maker) is not block:
            return ()
        if call.args or call.keywords or not isinstance(maker, (ast.Assign, ast.With)):
            return ()
        names.add(target.id)
    begins = [
        statement
        for statement in block
        if is_reset(module, statement) and statement.lineno > makers[0].lineno
    ]
    lines = [maker.lineno for maker in makers[1:]]
    own = [sum(begin.lineno < line for begin in begins) for line in lines]
    fits = len(calls) > 1 and own == list(range(1, len(begins) + 1))
    return tuple(begins) if fits and len(names) == 1 and len(lines) == len(begins) else ()


def constructor_of(owner: ast.ClassDef) -> ast.FunctionDef | None:
    """The `__init__` of a class."""
    made = (one for one in owner.body if isinstance(one, ast.FunctionDef))
    return next((one for one in made if one.name == "__init__"), None)


def leaves(node: ast.FunctionDef) -> bool:
    """Whether a function may end elsewhere than behind its last statement."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Return):
            return True
        if not isinstance(one, (*inner, ast.expr)):
            waiting += children(one)
    return False


@fact_of_text
def graph_classes(module: Module) -> list[ast.ClassDef]:
    """The classes whose constructors build a graph each, where there are several of them.

    The program has one session, which none of them makes.
    """
    calls = session_calls(module)
    found: list[ast.ClassDef] = []
    for statement in module.tree.body:
        node = constructor_of(statement) if isinstance(statement, ast.ClassDef) else None
        if node is None or not isinstance(statement, ast.ClassDef):
            continue
        inside = set(walk(node))
        if any(part in inside for part in calls):
            return []
        if any(trains(module, part) for part in inside):
            found.append(statement)
    return found if len(found) > 1 and len(calls) == 1 else []


def graph_owners(module: Module) -> Sequence[Owner]:
    """The classes, or the functions, that build a graph each, where there are several."""
    return graph_classes(module) or graph_functions(module)


def graph_functions(module: Module) -> list[ast.FunctionDef]:
    """The functions that build a graph each and make its session, where there are several.

    Each has a graph of its own: `with tf.Graph().as_default():`, or the default one, which is reset
    there, or between its calls.
    """
    found = _session_functions(module)
    left = [node for node, kind in found.items() if kind is None]
    resetting = [node for node, kind in found.items() if kind is _Graph.RESET]
    if len(found) < 2 or not all(_makes_parts(module, node, set()) for node in left):
        return []
    return list(found) if not left or _are_apart(module, [*left, *resetting], left) else []


@fact_of_text
def _session_functions(module: Module) -> Mapping[ast.FunctionDef, _Graph | None]:
    """A module's functions that make its sessions, and how they come to graphs of their own."""
    found: dict[ast.FunctionDef, None] = {}
    for call in session_calls(module):
        around = [one for one in module.names.ancestors(call) if isinstance(one, ast.FunctionDef)]
        if len(around) != 1 or around[0] not in module.tree.body:
            return {}
        found[around[0]] = None
    return {node: _graph_of(module, node) for node in found}


def _makes_parts(module: Module, node: ast.FunctionDef, seen: set[ast.AST]) -> bool:
    """Whether a function makes placeholders or variables, itself or by one that it calls."""
    seen.add(node)
    parts = [*walk(node)]
    if any(isinstance(part, ast.Call) and name_of(module, part) in _BUILDS for part in parts):
        return True
    return any(
        one not in seen and _makes_parts(home, one, seen)
        for part in parts
        if isinstance(part, (ast.Name, ast.Attribute))
        for home, one in _functions(module, part)
    )


def _functions(
    module: Module, node: ast.Name | ast.Attribute
) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """The function of the program that a name, or `module.name`, stands for."""
    home, _, name = (module.names.qualname(node) or "").rpartition(".")
    homes = [one for one in module.imported if one.path.stem == home.rpartition(".")[2]]
    if isinstance(node, ast.Name) and not home:
        homes, name = [module], node.id
    for one in homes if home or isinstance(node, ast.Name) else ():
        known = (n for n in one.tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
        yield from ((one, n) for n in known)


class _Graph(enum.Enum):
    """How a function comes to a graph of its own: it makes one, or resets the default one."""

    MADE = "made"
    RESET = "reset"


def _graph_of(module: Module, node: ast.FunctionDef) -> _Graph | None:
    """How a function comes to the graph in which it makes its sessions; None: it is the default."""
    inside = set(walk(node))
    calls = [call for call in session_calls(module) if call in inside]
    if any(map(partial(is_reset, module), node.body)):
        return _Graph.RESET
    for call in calls:
        given = NamedArguments(module, call, SESSION).rest.get("graph")
        around = (one for one in module.names.ancestors(call) if isinstance(one, ast.With))
        entered = (item.context_expr for block in around for item in block.items)
        if given is not None and module.names.statement(given) in inside:
            made = module.names.only_binding(given) if isinstance(given, ast.Name) else None
            if made is None or made.node not in inside:
                return None
        elif not any(_is_graph(module, one) and one in inside for one in entered):
            return None
    return _Graph.MADE if calls else None


def _makes_own_object(
    module: Module, graph: CallGraph, constructor: ast.FunctionDef, around: ast.FunctionDef
) -> bool:
    """Whether each call of a function makes one object, with its session, in a graph of its own.

    ``constructor`` builds the graph, which nothing else calls.
    """
    owner = module.names.parents.get(constructor)
    if not isinstance(owner, ast.ClassDef) or constructor.name != "__init__":
        return False
    if around not in module.tree.body:
        return False
    references = graph.references(Function(module, constructor))
    if len(references) != 1 or references[0].call is None or references[0].module is not module:
        return False
    made = references[0].call
    (session,) = session_calls(module)
    kind = _graph_of(module, around)
    if kind is _Graph.RESET:
        (first, *more) = [one for one in around.body if is_reset(module, one)]
        if more or first.lineno > min(made.lineno, session.lineno):
            return False
    elif kind is not _Graph.MADE or not _same_graph(module, made, session):
        return False
    return all(runs_in_line(module, node, around) for node in (made, session))


def _same_graph(module: Module, made: ast.Call, session: ast.Call) -> bool:
    """Whether a call stands in the `with tf.Graph().as_default():` that a session stands in."""
    return any(
        _is_graph(module, item.context_expr) and made in set(walk(block))
        for block in module.names.ancestors(session)
        if isinstance(block, ast.With)
        for item in block.items
    )


def runs_in_line(module: Module, node: ast.AST, around: ast.FunctionDef) -> bool:
    """Whether a node of a function runs once at most in each call of it."""
    for parent in module.names.ancestors(node):
        if parent is around:
            return True
        if isinstance(parent, (ast.For, ast.While, ast.AsyncFor, ast.Lambda, *COMPREHENSIONS)):
            return False
        if isinstance(parent, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            return False
    return False


def is_reset(module: Module, statement: ast.stmt) -> bool:
    """`tf.reset_default_graph()`"""
    return isinstance(statement, ast.Expr) and (
        isinstance(statement.value, ast.Call)
        and name_of(module, statement.value) == "reset_default_graph"
    )


def resets_between(module: Module) -> list[ast.stmt]:
    """The statements that begin a new graph between the calls of functions that build some."""
    return [one for line in _lines_of_calls(module) for one in line if is_reset(module, one)]


def _lines_of_calls(module: Module) -> list[list[ast.stmt]]:
    """The statements among which a program calls functions that build graphs, in one line each.

    What is in no function, with what main guards have, and functions that call some.
    """
    guards = [one for one in module.tree.body if is_main_guard(one)]
    inner = [one for guard in guards if isinstance(guard, ast.If) for one in guard.body]
    makers = _session_functions(module)
    names = {one.name for one in makers}
    callers = (
        one.body
        for one in module.tree.body
        if isinstance(one, ast.FunctionDef)
        and one not in makers
        and any(isinstance(call, ast.Name) and call.id in names for call in _called(one.body))
    )
    return [[*module.tree.body, *inner], *callers]


def _called(statements: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """What statements call as a whole: `f(x)`, `y = f(x)`."""
    for one in statements:
        value = one.value if isinstance(one, (ast.Expr, ast.Assign)) else None
        if isinstance(value, ast.Call):
            yield value.func


def _are_apart(
    module: Module, functions: Sequence[ast.FunctionDef], left: Sequence[ast.FunctionDef]
) -> bool:
    """Whether some functions never build in the same default graph: ``left`` do not reset it.

    Each is called in branches of its own, or behind a statement that resets it.
    """
    calls: list[tuple[ast.Name, bool]] = []
    for node in functions:
        mentions = list(module.names.mentions(node.name, module.names.module_scope))
        mentions = [one for one in mentions if isinstance(one.ctx, ast.Load)]
        if not mentions:
            return False
        calls += ((one, node in left) for one in mentions)
    calls.sort(key=lambda call: position(call[0]))
    lines = _lines_of_calls(module)
    for (first, _), (second, stays) in combinations(calls, 2):
        tried = any(isinstance(one, ast.Try) for one in module.names.ancestors(second))
        if module.names.exclusive(first, second) and not tried:
            continue
        both = [module.names.statement(one) for one in (first, second)]
        line = next((one for one in lines if all(part in one for part in both)), [])
        resets = (one.lineno for one in line if is_reset(module, one))
        between = any(first.lineno < reset < second.lineno for reset in resets)
        if not line or (stays and not between):
            return False
    return True


def trains(module: Module, node: ast.AST) -> bool:
    """Whether a call makes a step that trains."""
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    applies = isinstance(func, ast.Attribute) and func.attr in ("minimize", "apply_gradients")
    return applies or name_of(module, node) in STEP_MAKERS


def _builds(module: Module, around: Home) -> Home:
    """The scope that builds the graph: where the step that trains is made, with what it is of.

    Or where it is made, and given to the function that makes the session.
    """
    homes = {_around(module, call) for call in module.names.calls if trains(module, call)}
    if len(homes) != 1 or around in homes:
        return around
    node = homes.pop()
    if node is not None and isinstance(around, ast.FunctionDef):
        if given_by(module, around) is node:
            return node
    of_object = node is not None and isinstance(module.names.parents.get(node), ast.ClassDef)
    for call in module.names.calls:
        begins = _begins_graph(module, call) if of_object else name_of(module, call) in _BUILDS
        if begins and _around(module, call) is node:
            return node or around
    return around


def _begins_graph(module: Module, call: ast.Call) -> bool:
    """Whether a call makes what a graph is of: a placeholder, a variable, a layer, an element."""
    name = name_of(module, call)
    draws = isinstance(call.func, ast.Attribute) and call.func.attr == "get_next"
    return name in _BUILDS or name in LAYERS.by_name or draws


def given_by(module: Module, node: ast.FunctionDef) -> Home | None:
    """The scope that gives a function, which makes the session, what it runs: the only caller.

    None where the function builds something itself.
    """
    for part in (one for one in walk(node) if isinstance(one, ast.Call)):
        if name_of(module, part) in _BUILDS or trains(module, part):
            return None
    mentions = module.names.mentions(node.name, module.names.module_scope)
    calls = [module.names.parents.get(one) for one in mentions if isinstance(one.ctx, ast.Load)]
    call = calls[0] if len(calls) == 1 else None
    if not isinstance(call, ast.Call) or call.func not in mentions:
        return None
    values = [*call.args, *(one.value for one in call.keywords)]
    bound = (module.names.only_binding(one) for one in values if isinstance(one, ast.Name))
    made = (module.names.statement(one.node) for one in bound if one is not None)
    parts = (isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) for one in made)
    return _around(module, call) if any(parts) else None


def _around(module: Module, node: ast.AST) -> Home | None:
    """The module, the plain function or the constructor that a node is a part of."""
    for parent in module.names.ancestors(node):
        if isinstance(parent, ast.Module):
            return parent
        if isinstance(parent, ast.FunctionDef):
            owned = isinstance(module.names.parents[parent], ast.ClassDef)
            return None if owned and parent.name != "__init__" else parent
        if isinstance(parent, (ast.ClassDef, ast.Lambda, ast.AsyncFunctionDef)):
            return None
    return None


def _apart(module: Module, calls: list[ast.Call]) -> tuple[ast.Call, tuple[ast.With, ...]]:
    """The session that gives the variables their values, and the blocks of the others.

    Each is `with tf.Session() as sess:` in a function of its own.

    Raises:
        Refused: some are made in another way.
    """
    found: dict[Home, ast.With] = {}
    alike = _are_alike(module, calls, own_configs=True)
    for call in calls:
        block = module.names.statement(call)
        around = _building_scope(module, call)
        plain = isinstance(block, ast.With) and alike
        if not plain or around in found:
            raise Refused(module, calls[1], _SEVERAL, ADVICE)
        assert isinstance(block, ast.With)
        found[around] = block
    blocks = list(found.values())
    first = next((one for one in blocks if not _restores(one)), blocks[0])
    session = first.items[0].context_expr
    assert isinstance(session, ast.Call)
    return session, tuple(one for one in blocks if one is not first)


def _restores(block: ast.With) -> bool:
    """Whether a checkpoint may be restored in a block."""
    return any(isinstance(part, ast.Attribute) and part.attr == "restore" for part in walk(block))


def is_method(module: Module, node: Home) -> bool:
    """Whether a function is a method, and no constructor."""
    if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
        return False
    return isinstance(module.names.parents[node], ast.ClassDef)


def _building_scope(module: Module, session: ast.AST) -> Home:
    for parent in module.names.ancestors(session):
        if isinstance(parent, (ast.Module, ast.FunctionDef)):
            return parent
        if isinstance(parent, (ast.ClassDef, ast.Lambda, ast.AsyncFunctionDef)):
            break
    raise Refused(module, session, "its session is made in another way", ADVICE)


def _name(module: Module, maker: ast.stmt, session: ast.AST, several: bool) -> str:
    """What the session is called; empty where a block has it without a name.

    ``several``: later ones have the name as well.
    """
    if isinstance(maker, ast.With):
        target = next((i.optional_vars for i in maker.items if i.context_expr is session), maker)
        if target is None:
            return ""
        if isinstance(target, ast.Name):
            return target.id
    elif isinstance(maker, ast.Assign) and maker.value is session and len(maker.targets) == 1:
        target = maker.targets[0]
        if isinstance(target, ast.Name):
            if several or module.names.only_binding(target) is not None:
                return target.id
    raise Refused(module, session, *_unnamed(module, maker, session))


def _unnamed(module: Module, maker: ast.stmt, session: ast.AST) -> tuple[str, str]:
    """Why a session has no name that stands for it alone, and what to do."""
    target = maker.targets[0] if isinstance(maker, ast.Assign) else None
    if not isinstance(maker, ast.Assign) or maker.value is not session:
        return f"its session is made within `{module.source.code(maker).splitlines()[0]}`", ADVICE
    if isinstance(target, ast.Name) and len(maker.targets) == 1:
        return f"`{target.id}`, its session, is given other values as well", "give it one name"
    above = [one for one in module.names.ancestors(maker) if isinstance(one, _DEFINED)]
    owner = next((one for one in above if isinstance(one, ast.ClassDef)), None)
    if owner is None or not isinstance(target, ast.Attribute):
        return "its session is not assigned to a name", ADVICE
    held, method = module.source.code(target), above[0]
    if isinstance(method, ast.FunctionDef) and method.name != "__init__":
        text = f"`{held}`, its session, is made by `{method.name}`, a method of `{owner.name}`"
        return f"{text} that is not read with its constructor", "make it where the graph is built"
    text = f"`{held}` has its session, and what `{owner.name}` builds beside it is not understood"
    return text, ADVICE


class _EntryReader:
    """Puts the statements of a scope in one line, those of some blocks among them."""

    def __init__(self, module: Module, session: ast.Call, graph: CallGraph) -> None:
        self.module = module
        self.session = session
        self.graph = graph
        self.blocks: list[Header] = []  # those that go away

    def read(self, body: list[ast.stmt], around: Entry) -> Iterator[Entry]:
        """``around`` is the entry of the block that has these statements."""
        for statement in body:
            if around.towers is None and _shares_below(self.module, statement):
                around = replaced(around, reuses=True)
            found = replaced(around, statement=statement, opens=False)
            inner = self._opened(statement, found)
            if inner is None:
                yield found
                continue
            assert isinstance(statement, (ast.With, ast.For, ast.If))
            decides = isinstance(statement, ast.If) and _decides(self.module, statement)
            if not is_main_guard(statement) and not decides:
                if not Layout(self.module.source, statement).owns_start or _one_line(statement):
                    raise Refused(self.module, statement, "a statement with a block on one line")
                self.blocks.append(statement)
                first, indent = statement.body[0], self.module.source.indent_of
                unit = len(indent(first)) - len(indent(statement))
                inner = replaced(inner, dedent=found.dedent + unit)
            yield replaced(found, opens=True, towers=inner.towers)
            yield from self.read(statement.body, inner)
            if isinstance(statement, ast.If) and decides:
                yield from self.read(statement.orelse, inner)

    def _opened(self, statement: ast.stmt, found: Entry) -> Entry | None:
        """What is known of the statements in a block; None where it is read as a whole."""
        module = self.module
        if isinstance(statement, ast.With):
            named = _scope(module, statement, found.towers is not None)
            if named:
                reuses = found.reuses or _reuses(statement.items[0])
                return replaced(found, scopes=(*found.scopes, named), reuses=reuses)
            if _goes(module, statement, self.session):
                return found
            return self._only_names(statement, found)
        if is_main_guard(statement) and _has_session(module, statement, self.session):
            assert isinstance(statement, ast.If)
            if statement.orelse or _one_line(statement):
                raise Refused(module, statement, "a main guard with an `else`")
            return found
        if isinstance(statement, ast.If) and _decides(module, statement):
            return replaced(found, conditional=True)
        if found.towers is None:
            towers = read_towers(module, statement, self.graph)
            return None if towers is None else replaced(found, towers=towers)
        if isinstance(statement, ast.If) and not statement.orelse:
            if asks_first(found.towers, statement.test) and not shares(module, statement):
                return replaced(found, first=True)
        return None

    def _only_names(self, statement: ast.With, found: Entry) -> Entry | None:
        """A block that only says where its statements are, or names what they make."""
        module = self.module
        for item in statement.items:
            node = item.context_expr
            named = _named(module, item, found.towers is not None)
            if named:
                reuses = found.reuses or (found.towers is None and _reuses(item))
                found = replaced(found, scopes=(*found.scopes, named), reuses=reuses)
                continue
            kind = name_of(module, node) if isinstance(node, ast.Call) else ""
            if found.towers is not None and kind in ("name_scope", "device"):
                continue
            if is_same_scope(module, node):
                given = _reuse_of(item)
                if not self._has_towers and given is not None and constant(given) is not False:
                    if not _reuses(item):
                        return None
                    found = replaced(found, reuses=True)
                continue  # `reuse=False` leaves it as it is
            if self._has_towers and (is_cpu(module, node) or is_first_gpu(module, node)):
                continue
            if _enters_graph(module, item):
                continue
            device = None if self._has_towers or found.device else told_device(module, node)
            if device is None or item.optional_vars is not None:
                return None
            found = replaced(found, device=device)
        return found

    @cached_property
    def _has_towers(self) -> bool:
        return find_towers(self.module, self.graph) is not None


def _scope(module: Module, statement: ast.stmt, shared: bool) -> tuple[str, str] | None:
    """`with tf.name_scope("layer"):`, which only names what is made in it.

    ``shared``: it may say of its variables that they are those that there are already.
    """
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return None
    return _named(module, statement.items[0], shared)


def _named(module: Module, item: ast.withitem, shared: bool) -> tuple[str, str] | None:
    call = item.context_expr
    kind = name_of(module, call) if isinstance(call, ast.Call) else ""
    if kind not in ("name_scope", "variable_scope") or not isinstance(call, ast.Call):
        return None
    reuse = [keyword.arg for keyword in call.keywords] == ["reuse"]
    more = call.keywords and not (reuse and (shared or _reuses(item) or _leaves_reuse(item)))
    if len(call.args) != 1 or more or not _is_unread(module, item.optional_vars):
        return None
    value = given_once(module, _entered_again(module, call))
    name = constant(value)
    if name is None and _is_of_object(module, call.args[0]):
        return kind, ""
    return (kind, name) if isinstance(name, str) and name and not name.endswith("/") else None


def _is_of_object(module: Module, node: ast.expr) -> bool:
    """Whether a name is one that each of several objects is given, by their constructor."""
    owner = _class_of(module, node)
    mentions = module.names.mentions(owner.name, module.names.module_scope) if owner else []
    loops = (ast.For, ast.While, *COMPREHENSIONS)
    several = len(mentions) > 1 or any(
        isinstance(parent, loops) for one in mentions for parent in module.names.ancestors(one)
    )
    if isinstance(node, ast.Attribute):
        return several and isinstance(node.value, ast.Name) and node.value.id == "self"
    around = module.names.scope_of_name[node].function() if isinstance(node, ast.Name) else None
    constructs = isinstance(around, ast.FunctionDef) and around.name == "__init__"
    return several and constructs and isinstance(node, ast.Name) and module.names.is_parameter(node)


def _reuse_of(item: ast.withitem) -> ast.expr | None:
    """What a scope is told of variables that there are already, if it is told."""
    call = item.context_expr
    keywords = call.keywords if isinstance(call, ast.Call) else ()
    return next((keyword.value for keyword in keywords if keyword.arg == "reuse"), None)


def _leaves_reuse(item: ast.withitem) -> bool:
    """`reuse=False`, or `None`: what stands around the block says which variables it has."""
    given = _reuse_of(item)
    return constant(given) is False or is_none(given)


def _reuses(item: ast.withitem) -> bool:
    """`with tf.variable_scope("critic", reuse=True):`"""
    return constant(_reuse_of(item)) is True


def _entered_again(module: Module, call: ast.Call) -> ast.expr:
    """What names a scope: also that of another block, which gave it a name of Python's.

    `with tf.variable_scope(scope, reuse=True):`, where neither block stands in another scope.
    """
    node = call.args[0]
    binding = module.names.only_binding(node) if isinstance(node, ast.Name) else None
    block = module.names.statement(binding.node) if binding is not None else None
    if binding is None or not isinstance(block, ast.With) or len(block.items) != 1:
        return node
    made = block.items[0].context_expr
    if not isinstance(made, ast.Call) or name_of(module, made) != "variable_scope":
        return node
    plain = len(made.args) == 1 and not made.keywords
    if not plain or scopes_of(module, block) or scopes_of(module, module.names.statement(call)):
        return node
    return made.args[0]


def scopes_of(module: Module, node: ast.AST) -> list[ast.expr]:
    """What names the scopes of variables around a node, from without.

    A block that enters the scope there is, by `tf.get_variable_scope()`, names none.
    """
    calls = [
        item.context_expr
        for parent in module.names.ancestors(node)
        if isinstance(parent, ast.With)
        for item in reversed(parent.items)
        if not is_same_scope(module, item.context_expr)
    ]
    return [
        _entered_again(module, call)
        for call in reversed(calls)
        if isinstance(call, ast.Call) and name_of(module, call) == "variable_scope" and call.args
    ]


def _is_unread(module: Module, target: ast.expr | None) -> bool:
    """Whether nothing reads the name that a block gives its scope, if it gives one.

    `scope.reuse_variables()` and blocks that enter the scope again do no more than say it.
    """
    if not isinstance(target, ast.Name):
        return target is None
    home = module.names.defining_scope(target.id, module.names.scope_of_name[target])
    mentions = module.names.mentions(target.id, home) if home is not None else ()
    return not any(
        isinstance(mention.ctx, ast.Load)
        and not _shares_below(module, module.names.statement(mention))
        and not _enters_scope(module, mention)
        for mention in mentions
    )


def _shares_below(module: Module, statement: ast.stmt) -> bool:
    """`scope.reuse_variables()`, of the scope whose block it stands in, until that ends."""
    if not isinstance(statement, ast.Expr) or not shares(module, statement):
        return False
    assert isinstance(statement.value, ast.Call)
    assert isinstance(statement.value.func, ast.Attribute)
    scope, block = statement.value.func.value, module.names.parents[statement]
    if not isinstance(block, ast.With):
        whole = isinstance(block, (ast.Module, ast.FunctionDef)) or is_main_guard(block)
        return whole and name_of(module, scope) == "get_variable_scope"
    entered = block.items[0].optional_vars if len(block.items) == 1 else None
    own = isinstance(entered, ast.Name) and isinstance(scope, ast.Name) and entered.id == scope.id
    named = name_of(module, block.items[0].context_expr) == "variable_scope"
    return named and (own or name_of(module, scope) == "get_variable_scope")


def _enters_scope(module: Module, mention: ast.Name) -> bool:
    call = module.names.parents.get(mention)
    if not isinstance(call, ast.Call) or name_of(module, call) != "variable_scope":
        return False
    return call.args == [mention] and _entered_again(module, call) is not mention


def given_once(module: Module, node: ast.expr, deep: int = 0) -> ast.expr:
    """What a parameter of a constructor is, or an attribute that it is kept in.

    That is what the one call of its class gives it; the expression itself where that is not seen.
    """
    if deep > _DEEP:
        return node
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        stored = [
            one for one in module.names.attributes[node.attr] if not isinstance(one.ctx, ast.Load)
        ]
        statement = module.names.parents.get(stored[0]) if len(stored) == 1 else None
        if not isinstance(statement, ast.Assign) or statement.targets != stored:
            return node
        owned = _class_of(module, node) is _class_of(module, stored[0])
        return given_once(module, statement.value, deep + 1) if owned else node
    if not isinstance(node, ast.Name):
        return node
    binding = module.names.only_binding(node)
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    owner = _class_of(module, node)
    if binding is None or binding.kind != "parameter" or owner is None or home is None:
        return node
    method = home.node
    if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
        return node
    calls = [
        module.names.parents.get(mention)
        for mention in module.names.mentions(owner.name, module.names.module_scope)
    ]
    call = calls[0] if len(calls) == 1 else None
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return node
    bound = bind(call, Function(module, method))
    given = {**bound.defaults, **bound.written()}
    return given.get(node.id, node)


def _class_of(module: Module, node: ast.AST) -> ast.ClassDef | None:
    return next((p for p in module.names.ancestors(node) if isinstance(p, ast.ClassDef)), None)


def _decides(module: Module, statement: ast.If) -> bool:
    """Whether a condition says if a session is made, by blocks in its branches."""
    below = statement.orelse
    if is_main_guard(statement) or _one_line(statement):
        return False
    if below and not Layout(module.source, below[0]).owns_start:
        return False
    return any(statement in _conditions(module, call) for call in session_calls(module))


def _conditions(module: Module, call: ast.Call) -> list[ast.If]:
    """The conditions around the block of a session, and around no more than that."""
    maker, found = module.names.statement(call), list[ast.If]()
    if not isinstance(maker, ast.With):
        return []
    for parent in module.names.ancestors(maker):
        if isinstance(parent, ast.If) and not is_main_guard(parent):
            found.append(parent)
        elif not isinstance(parent, ast.With):
            break
    return found


def _one_line(statement: Header) -> bool:
    return statement.body[0].lineno == statement.lineno


def _has_session(module: Module, guard: ast.stmt, session: ast.Call) -> bool:
    """Whether a main guard has the session, or makes another one in a block."""
    for call in session_calls(module):
        if call is session or isinstance(module.names.statement(call), ast.With):
            if any(parent is guard for parent in module.names.ancestors(call)):
                return True
    return False


def _goes(module: Module, statement: ast.With, session: ast.Call) -> bool:
    """Whether a block only holds the session, or makes a graph of its own."""
    if is_dependency(module, statement) or is_ordering(module, statement):
        return True
    if waits_for(module, statement):
        return True
    return all(
        is_session(module, item.context_expr)
        or _enters(module, item, session)
        or _enters_graph(module, item)
        for item in statement.items
    )


def _enters_graph(module: Module, item: ast.withitem) -> bool:
    """`with tf.Graph().as_default() as graph:`, of which the session may be given the name."""
    name = item.optional_vars
    return _is_graph(module, item.context_expr) and (name is None or _named_graph(module, name))


def _is_graph(module: Module, node: ast.expr) -> bool:
    """`tf.Graph().as_default()`"""
    made = _entered(node)
    return made is not None and (name_of(module, made) == "Graph" or _named_graph(module, made))


def _entered(node: ast.expr) -> ast.expr | None:
    """What a call of `as_default` is of."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and func.attr == "as_default" else None


def makes_graph(module: Module, statement: ast.stmt) -> bool:
    """`graph = tf.Graph()`, which is built in blocks of its own and given to the session."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    return _named_graph(module, statement.targets[0])


def _named_graph(module: Module, node: ast.expr) -> bool:
    """Whether a name stands for a graph, and for nothing more than where that is built and run."""
    names = module.names
    if not isinstance(node, ast.Name):
        return False
    value = names.only_value(node)
    binding = names.only_binding(node)
    block = names.statement(binding.node) if binding is not None else None
    for item in block.items if isinstance(block, ast.With) else ():
        if binding is not None and item.optional_vars is binding.node:
            value = _entered(item.context_expr)
    if not isinstance(value, ast.Call) or name_of(module, value) != "Graph":
        return False
    home = names.defining_scope(node.id, names.scope_of_name[node])
    assert home is not None
    for mention in names.mentions(node.id, home):
        if not isinstance(mention.ctx, ast.Load):
            continue
        parent = names.parents.get(mention)
        entered = isinstance(parent, ast.Attribute) and parent.attr == "as_default"
        given = isinstance(parent, ast.keyword) and parent.arg == "graph"
        call = names.parents.get(parent) if parent is not None else None
        if not entered and not (given and call is not None and is_session(module, call)):
            return False
    return True


def _enters(module: Module, item: ast.withitem, session: ast.Call) -> bool:
    """`with sess:`, `with sess.as_default():`"""
    node = item.context_expr
    if item.optional_vars is not None:
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr != "as_default" or node.args or node.keywords:
            return False
        node = node.func.value
    if not isinstance(node, ast.Name):
        return False
    return module.names.only_value(node) is session


def header_of(block: Header) -> list[ast.AST]:
    """The nodes of a statement that are not in its block."""
    if isinstance(block, ast.With):
        return list(block.items)
    return [block.target, block.iter] if isinstance(block, ast.For) else [block.test]
