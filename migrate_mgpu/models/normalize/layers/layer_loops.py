"""Loops that make layers where a graph is built, as functions of their own.

`for size in sizes: net = dense(net, size)` makes other variables in each turn. A function with the
loop, `net = dense_layers(net)`, is what the readers know: it becomes a class with a list of layers.
So does one that puts what each turn computes in a list: the list begins in the function then, and
one of which the last turn alone is read: all of them have variables. Where one stands within
another, the inner one is first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.dataflow import loaded
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import ATTENDED_PARTS, PAIR_PARTS, RUNS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import is_session, trains
from migrate_mgpu.models.normalize.functions.nested_functions import lifted
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_WEIGHTS = "variables"  # what a loop makes that makes variables itself
_PLAIN = (ast.Assign, ast.AugAssign, ast.For, ast.With, ast.Expr, ast.If)


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    homes = _homes(module)
    for home in (*homes, *_functions(module, homes)):
        for statement in in_line(home.body):
            if isinstance(statement, ast.For):
                for inner in _inner(statement):
                    edits = _Loop(module, graph, home, inner, statement).edits()
                    if edits:
                        return edits
                edits = _Loop(module, graph, home, statement).edits() if home in homes else []
                if edits:
                    return edits
    return []


def _functions(
    module: Module, homes: list[ast.Module | ast.FunctionDef]
) -> Iterator[ast.FunctionDef]:
    """The functions that make layers in loops of loops, of which the inner ones are moved."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and node not in homes:
            loops = [one for one in walk(node) if isinstance(one, ast.For)]
            if any(_inner(one) for one in loops):
                yield node


def _inner(loop: ast.For) -> list[ast.For]:
    """The loops within a loop, the innermost first."""
    found: list[ast.For] = []
    for one in walk(loop):
        if isinstance(one, ast.For) and one is not loop:
            if not any(isinstance(part, ast.For) and part is not one for part in walk(one)):
                found.append(one)
    return found


@fact_of_text
def _homes(module: Module) -> list[ast.Module | ast.FunctionDef]:
    """Where a graph may be built: the script, and functions with placeholders or a session."""
    found: list[ast.Module | ast.FunctionDef] = [module.tree]
    inner = (
        one for node in module.tree.body if isinstance(node, ast.ClassDef) for one in node.body
    )
    for node in (*module.tree.body, *inner):
        if isinstance(node, ast.FunctionDef) and any(
            name_of(module, one) in PLACEHOLDERS or is_session(module, one)
            for one in walk(node)
            if isinstance(one, ast.Call)
        ):
            found.append(node)
    return found


class _Loop:
    """A loop that makes layers, or variables, in each turn; ``home`` builds the graph.

    ``around`` is the loop that it stands in.
    """

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        home: ast.Module | ast.FunctionDef,
        loop: ast.For,
        around: ast.For | None = None,
    ) -> None:
        self.around = around
        self.module = module
        self.graph = graph
        self.home = home
        self.loop = loop
        self.scope = module.names.scopes[home]
        owned = isinstance(module.names.parents.get(home), ast.ClassDef)
        method = home if owned and isinstance(home, ast.FunctionDef) else None
        self.me = method.args.args[0].arg if method is not None and method.args.args else ""

    def edits(self) -> list[Edit]:
        """What a function with the loop changes; nothing where it would not do the same."""
        module, loop = self.module, self.loop
        names, layout = module.names, Layout(module.source, loop)
        makers = [word for call in walk(loop) if (word := makes(module, self.graph, call))]
        inside = [one for one in walk(loop) if isinstance(one, ast.stmt)]
        if not makers or loop.orelse or not all(isinstance(one, _PLAIN) for one in inside):
            return []
        if any(_is_more(module, one) for one in walk(loop)) or self._chooses(inside):
            return []
        if not layout.owns_lines or any("\n" in text for text in _texts(loop)):
            return []
        lists = self._lists(inside)
        attributes = self._attributes()
        if lists is None or attributes is None:
            return []
        stored = {
            n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        mentions = {name: names.mentions(name, self.scope) for name in (*stored, *lists)}
        takes = self._taken(stored, lists.keys())
        given = [
            n
            for n in stored
            if _is_read_behind(module, mentions[n], loop)
            or self._is_carried(n in (takes or ()), mentions[n])
        ]
        inner = [n for n in walk(loop) if isinstance(n, ast.Name) and n.id in stored]
        places = {name.id: position(name) for name in sorted(inner, key=position, reverse=True)}
        gives = [*sorted(given, key=places.__getitem__), *lists]
        targets = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
        if not gives or targets & {*gives}:
            return []
        states = _states(module, loop)
        parts = _asked_parts(module, mentions, loop, gives, states)
        if parts is None or takes is None:
            return []
        if not (lists or takes):
            return []
        for inner_name in takes:
            if _is_function(self.scope, inner_name):
                return lifted(module, self.home, inner_name) or []
        word = f"{_kind(module, loop) if makers[0] == _WEIGHTS else makers[0]}_layers"
        name = names.fresh(names.module_scope, word, f"more_{word}")
        returned = [part for one in gives for part in parts[one]]
        told = {
            code: names.fresh(self.scope, re.sub(r"\W+", "_", code).strip("_"))
            for code in returned
            if not code.isidentifier()
        }
        behind = [
            Edit(*module.source.span(part), told[module.source.code(part)])
            for one in gives
            for mention in mentions[one]
            if (part := _part(module, mention, states)) is not mention
            and module.source.code(part) in told
            and not is_inside(module, part, {loop})
        ]
        called = ", ".join(told.get(code, code) for code in returned)
        own = self._written(name, returned, called, takes, lists, attributes)
        return [*own, *behind]

    def _written(
        self,
        name: str,
        returned: list[str],
        called: str,
        takes: list[str],
        lists: dict[str, ast.stmt],
        attributes: dict[str, list[ast.Attribute]],
    ) -> list[Edit]:
        module, loop, source = self.module, self.loop, self.module.source
        unit = source.indent_unit
        changes = [
            Edit(*source.span(node), own) for own, nodes in attributes.items() for node in nodes
        ]
        body = render(source, loop, changes, len(unit), unit).split("\n")
        text = [f"def {name}({', '.join([*takes, *attributes])}):"]
        text += (unit + source.code(statement) for statement in lists.values())
        text += [unit + body[0], *body[1:], f"{unit}return {', '.join(returned)}", "", ""]
        given = [*takes, *(source.code(nodes[0]) for nodes in attributes.values())]
        call = f"{called} = {name}({', '.join(given)})"
        top: ast.stmt = self.home if isinstance(self.home, ast.FunctionDef) else loop
        # Above what loses its indentation, and is no place for a class.
        outer = [one for one in module.names.ancestors(top) if one in module.tree.body]
        owners = [one for one in module.names.ancestors(top) if isinstance(one, ast.ClassDef)]
        place = Layout(source, [*owners[:1], *outer, top][0])
        if source.text[: place.line_start].rstrip(" \t").endswith(f"\n{source.newline}"):
            above = place.insert_before([line.rstrip() for line in text])
        else:
            above = place.insert_before(["", "", *(line.rstrip() for line in text)])
        gone = [without_paragraph(source, statement) for statement in lists.values()]
        return [above, *gone, Layout(source, loop).replace([call])]

    def _is_carried(self, taken: bool, mentions: list[ast.Name]) -> bool:
        """Whether the loop around it may read in its next turn what a name is given in this one."""
        if self.around is None:
            return False
        return taken or any(
            isinstance(one.ctx, ast.Load)
            and is_inside(self.module, one, {self.around})
            and not is_inside(self.module, one, {self.loop})
            for one in mentions
        )

    def _chooses(self, inside: list[ast.stmt]) -> bool:
        """Whether a turn makes layers, or puts something into a list, only under a condition."""
        return any(
            makes(self.module, self.graph, part) or isinstance(part, ast.Expr)
            for one in inside
            if isinstance(one, ast.If)
            for part in walk(one)
        )

    def _lists(self, inside: list[ast.stmt]) -> dict[str, ast.stmt] | None:
        """The lists that the loop appends to, with what begins them; None where one has more.

        Nothing else has to do with a list between its beginning and the loop.
        """
        names, found = self.module.names, dict[str, ast.stmt]()
        for statement in inside:
            if not isinstance(statement, ast.Expr):
                continue
            call = statement.value
            func = call.func if isinstance(call, ast.Call) else None
            if not isinstance(func, ast.Attribute) or func.attr != "append":
                return None
            if not isinstance(func.value, ast.Name):
                return None
            name = func.value.id
            bound = self.scope.bindings.get(name, [])
            above = [one for one in bound if position(one.node) < position(self.loop)]
            begins = names.statement(above[0].node) if len(above) == 1 else None
            if not isinstance(begins, ast.Assign) or len(begins.targets) != 1:
                return None
            empty = isinstance(begins.value, ast.List) and not begins.value.elts
            if not empty or begins.lineno >= self.loop.lineno or name not in self.scope.bindings:
                return None
            block = names.block(self.loop) if self.around is not None else None
            if (
                begins not in (in_line(self.home.body) if block is None else block)
                or not Layout(self.module.source, begins).owns_lines
            ):
                return None
            for mention in names.mentions(name, self.scope):
                if mention in walk(begins) or position(mention) > position(self.loop):
                    continue
                return None
            found[name] = begins
        return found

    def _attributes(self) -> dict[str, list[ast.Attribute]] | None:
        """What the loop reads of its object, by the parameters that they become.

        None where it does more with it.
        """
        if not self.me:
            return {}
        names = self.module.names
        asked: dict[str, list[ast.Attribute]] = {}
        for mention in names.mentions(self.me, self.scope):
            if not is_inside(self.module, mention, {self.loop}):
                continue
            parent = names.parents.get(mention)
            if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
                return None
            called = names.parents.get(parent)
            if isinstance(called, ast.Call) and called.func is parent:
                return None
            asked.setdefault(parent.attr, []).append(parent)
        known = {n.id for n in walk(self.loop) if isinstance(n, ast.Name)}
        known |= {*names.module_scope.bindings}
        found = {f"own_{n}" if n in known else n: nodes for n, nodes in asked.items()}
        return None if known & found.keys() else found

    def _taken(self, stored: AbstractSet[str], lists: AbstractSet[str]) -> list[str] | None:
        """What a function with a loop is given: tensors, and all that a function around it has.

        None where it reads what it cannot be given. ``stored`` are the names that the loop gives
        values to, ``lists`` those that begin in the function.
        """
        names, home, scope = self.module.names, self.home, self.scope
        found: dict[str, None] = {}
        given = set(lists)
        for name in _in_order(self.loop):
            if isinstance(name, str):
                given.add(name)
                continue
            where = names.defining_scope(name.id, names.scope_of_name[name])
            if where is not scope or name.id in given or name.id in found or name.id == self.me:
                continue
            if names.roots(name.id, scope) == names.roots(name.id, names.module_scope) != ():
                continue  # the function imports what its module has as well
            if (
                name.id in stored
                or home is not self.module.tree
                or _is_tensor(self.module, self.graph, scope, name)
            ):
                if name.id not in _bound_above(self.module, scope, self.loop):
                    return None
                found[name.id] = None
        return list(found)


def _is_function(scope: Scope, name: str) -> bool:
    bindings = scope.bindings.get(name, [])
    return any(isinstance(one.node, ast.FunctionDef) for one in bindings)


def _asked_parts(
    module: Module,
    mentions: dict[str, list[ast.Name]],
    loop: ast.For,
    gives: list[str],
    states: AbstractSet[str],
) -> dict[str, list[str]] | None:
    """What of each name is read behind a loop: itself, or parts of a recurrent network's state.

    None where a state is read as a whole, and its parts as well.
    """
    found: dict[str, list[str]] = {}
    for name in gives:
        behind = [m for m in mentions[name] if position(m) > position(loop)]
        behind = [m for m in behind if not is_inside(module, m, {loop})]
        reads = [m for m in behind if isinstance(m.ctx, ast.Load)]
        parts = [part for m in reads if (part := _part(module, m, states)) is not m]
        if not parts:
            found[name] = [name]
            continue
        if len(parts) != len(reads) or len(reads) != len(behind):
            return None
        found[name] = list(dict.fromkeys(map(module.source.code, parts)))
    return found


def _part(module: Module, mention: ast.Name, states: AbstractSet[str]) -> ast.expr:
    """What is read of a state, `state[0].c`; the mention itself where that is no part of one."""
    parents = module.names.parents
    found: ast.expr = mention
    while isinstance(parent := parents[found], (ast.Attribute, ast.Subscript)):
        if parent.value is not found or not isinstance(parent.ctx, ast.Load):
            break
        if isinstance(parent, ast.Attribute):
            if parent.attr not in (*PAIR_PARTS, *ATTENDED_PARTS):
                break
        elif mention.id not in states or not isinstance(constant(parent.slice), int):
            break
        found = parent
    return found


def _states(module: Module, loop: ast.For) -> set[str]:
    """What a loop calls the states of the recurrent networks in it."""
    found: set[str] = set()
    for statement in (one for one in walk(loop) if isinstance(one, ast.Assign)):
        target = statement.targets[0]
        if isinstance(statement.value, ast.Call) and isinstance(target, ast.Tuple):
            if name_of(module, statement.value) in RUNS.by_name and len(target.elts) == 2:
                state = target.elts[1]
                found |= {state.id} if isinstance(state, ast.Name) else set()
    return found


def _texts(loop: ast.stmt) -> Iterator[str]:
    return (
        one.value
        for one in walk(loop)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )


def _is_read_behind(module: Module, mentions: list[ast.Name], loop: ast.For) -> bool:
    """Whether what a loop gives a name is read behind the loop."""
    behind = sorted(
        (m for m in mentions if position(m) > position(loop) and not is_inside(module, m, {loop})),
        key=position,
    )
    behind = [m for m in behind if not _is_turned(module, m)]
    reads = {m for m in behind if isinstance(m.ctx, ast.Load)}
    if not reads:
        return False
    first = module.names.statement(behind[0])
    anew = isinstance(first, ast.Assign) and not reads & set(walk(first))
    anew |= isinstance(first, ast.For) and isinstance(behind[0].ctx, ast.Store)
    return not (anew and _always(module, first, reads))


def _is_turned(module: Module, mention: ast.Name) -> bool:
    """Whether a mention is of what a loop around it gives the name in each turn, or gives it so."""
    for parent in module.names.ancestors(mention):
        if isinstance(parent, ast.For):
            targets = [n.id for n in walk(parent.target) if isinstance(n, ast.Name)]
            inside = any(mention in walk(one) for one in (*parent.body, parent.target))
            if mention.id in targets and inside:
                return True
    return False


def _always(module: Module, first: ast.stmt, reads: set[ast.Name]) -> bool:
    """Whether a statement has given a name its value wherever that is read."""
    block = module.names.block(first)
    return all(
        any(
            parent in block
            for parent in (module.names.statement(one), *module.names.ancestors(one))
        )
        for one in reads
    )


def _bound_above(module: Module, scope: Scope, loop: ast.For) -> set[str]:
    return {
        name
        for name, bindings in scope.bindings.items()
        if any(one.kind == "parameter" or position(one.node) < position(loop) for one in bindings)
    }


def is_last_alone(loop: ast.For) -> bool:
    """Whether nothing that a turn computes is read in the next one, or put in a list."""
    given = set[str]()
    stored = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for name in _in_order(loop):
        if isinstance(name, str):
            given.add(name)
        elif name.id in stored and name.id not in given:
            return False
    return not any(
        isinstance(part, ast.Attribute) and part.attr in ("append", "extend", "insert")
        for part in walk(loop)
    )


def _in_order(loop: ast.For) -> Iterator[ast.Name | str]:
    """The names that a loop reads, and those that it gives values to, as it does so."""
    yield from loaded(loop.iter)
    yield from (n.id for n in walk(loop.target) if isinstance(n, ast.Name))
    yield from _of_statements(loop.body)


def _of_statements(body: list[ast.stmt]) -> Iterator[ast.Name | str]:
    for one in body:
        if isinstance(one, ast.For):
            yield from _in_order(one)
            continue
        if isinstance(one, ast.With):
            for item in one.items:
                yield from loaded(item.context_expr)
                yield from _stored_in(item)
            yield from _of_statements(one.body)
            continue
        yield from loaded(one)
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            yield one.target
        yield from _stored_in(one)


def _stored_in(node: ast.AST) -> Iterator[str]:
    for part in walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _is_tensor(
    module: Module, graph: CallGraph, scope: Scope, name: ast.Name, deep: int = 0
) -> bool:
    """Whether a name of the script may stand for a tensor."""
    for binding in scope.bindings.get(name.id, ()):
        for part in walk(binding.value) if binding.value is not None and deep < 9 else ():
            if isinstance(part, ast.Call) and name_of(module, part):
                return True
            target = graph.target(module, part.func) if isinstance(part, ast.Call) else None
            if target is not None and _speaks(target):
                return True
            if isinstance(part, ast.Name) and part.id != name.id:
                if _is_tensor(module, graph, scope, part, deep + 1):
                    return True
    return False


def _speaks(function: Function) -> bool:
    calls = (one for one in walk(function.node) if isinstance(one, ast.Call))
    return any(name_of(function.module, one) for one in calls)


def _is_more(module: Module, node: ast.AST) -> bool:
    """Whether a call makes more than layers: what is fed, a tower's gradients, a step."""
    if not isinstance(node, ast.Call):
        return False
    own = isinstance(node.func, ast.Attribute) and node.func.attr == "compute_gradients"
    name = name_of(module, node)
    return own or trains(module, node) or name in PLACEHOLDERS or name in ("device", "gradients")


def _kind(module: Module, loop: ast.For) -> str:
    """The layer that a loop makes of variables of its own, by what it computes with them."""
    names = {name_of(module, one) for one in walk(loop) if isinstance(one, ast.Call)}
    if any(name.startswith("nn.conv") for name in names):
        return "conv"
    return "dense" if names & {"matmul", "nn.xw_plus_b", "nn.relu_layer"} else "weighted"


def makes(
    module: Module, graph: CallGraph, node: ast.AST, seen: frozenset[ast.AST] = frozenset()
) -> str:
    """What a call that makes a layer, or variables for a tensor, is of; empty for others."""
    if not isinstance(node, ast.Call):
        return ""
    name = name_of(module, node)
    if name in RUNS.by_name:
        return "rnn"
    row = LAYERS.by_name.get(name)
    if row is not None:
        return name.rpartition(".")[2] if row.inputs else ""
    if name in VARIABLES.by_name:
        return _WEIGHTS
    target = graph.target(module, node.func)
    if target is None or target.node in seen or not isinstance(target.node, ast.FunctionDef):
        return ""
    if target.name == "__init__":
        return ""  # objects have more than a layer
    calls = [one for one in walk(target.node) if isinstance(one, ast.Call)]
    found = any(
        name_of(target.module, one) in VARIABLES.by_name
        or makes(target.module, graph, one, seen | {target.node})
        for one in calls
    )
    return target.name if found else ""
