"""Parts of a network that are returned, or kept by an object, and that nothing reads.

    def deconv2d(x, shape, name, with_w=False):
        ...
        if with_w:
            return net, w, biases
        return net

`self.h1, self.h1_w, self.h1_b = deconv2d(x, shape, "h1", with_w=True)` becomes `self.h1 =
deconv2d(x, shape, "h1")` where nothing reads the others; where all calls are so, the function ends
with `return net`. What a method gives its object, and reads itself alone, is a name of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.models.normalize.objects.network_methods import computes
from migrate_mgpu.models.normalize.sessions.session_methods import trains_alone
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none. ``own`` may change."""
    for module in modules:
        for node in module.tree.body if module in own else ():
            if isinstance(node, ast.FunctionDef):
                choice = _choice(module, node)
                edits = _with_one(choice, graph, own) if choice is not None else {}
                if edits:
                    return edits
    return {}


@record(frozen=True, eq=False)
class _Choice:
    """A condition on a parameter that says whether a function returns more than one value."""

    module: Module
    function: ast.FunctionDef
    parameter: str
    statement: ast.If
    alone: ast.expr  # what it returns without the others
    last: ast.Return  # the statement that does


def _choice(module: Module, function: ast.FunctionDef) -> _Choice | None:
    """`if with_w: return net, w, b`, and else `return net`."""
    names = module.names
    if function.decorator_list:
        return None
    for statement in walk(function):
        if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Name):
            continue
        test, body = statement.test, statement.body
        home = names.scopes[function]
        if [one.kind for one in home.bindings.get(test.id, ())] != ["parameter"]:
            continue
        block = names.block(statement)
        behind = block[block.index(statement) + 1 :]
        other = statement.orelse or behind
        if len(body) != 1 or len(other) != 1 or (statement.orelse and behind):
            continue
        more, last = body[0], other[0]
        if not isinstance(more, ast.Return) or not isinstance(last, ast.Return):
            continue
        every, alone = more.value, last.value
        if not isinstance(every, ast.Tuple) or alone is None or len(every.elts) < 2:
            continue
        if ast.dump(every.elts[0]) != ast.dump(alone) or len(names.mentions(test.id, home)) != 1:
            continue
        if not all(isinstance(one, ast.Name) for one in every.elts[1:]):
            continue
        if Layout(module.source, statement).owns_lines:
            return _Choice(module, function, test.id, statement, alone, last)
    return None


def _with_one(choice: _Choice, graph: CallGraph, own: Set[Module]) -> dict[Module, list[Edit]]:
    """The function returns one value, if all its calls read no other."""
    function = Function(choice.module, choice.function)
    references = graph.references(function)
    found: dict[Module, list[Edit]] = {}
    for one in references:
        if one.call is None:
            return {}
        given = bind(one.call, function)
        values = given.values()
        if given.unclear is not None:
            return {}
        told = values.get(choice.parameter)
        if told is None or not isinstance(told, ast.Constant):
            return {}
        written = given.written().get(choice.parameter)
        if written is None and not told.value:
            continue
        if one.module not in own or written is None or not _is_keyword(one.call, written):
            return {}
        edits = found.setdefault(one.module, [])
        if told.value:
            target = _only_read(one.module, one.call, graph)
            if target is None:
                return {}
            first, last = target
            source = one.module.source
            start, end = source.span(last)
            edits.append(Edit(start, end, source.code(first)))
        edit = CallEdit(one.module.source, one.call)
        edit.drop_value(written)
        edits += edit.edits()
    if not references:
        return {}
    source, statement = choice.module.source, choice.statement
    code = source.code(choice.alone)
    if "\n" in code or "#" in source.code(statement):
        return {}
    edits = found.setdefault(choice.module, [])
    if statement.orelse:
        edits.append(Layout(source, statement).replace([f"return {code}"]))
    else:
        edits.append(Layout(source, statement).replace([]))
    return found


def _is_keyword(call: ast.Call, value: ast.expr) -> bool:
    return any(keyword.value is value for keyword in call.keywords)


def _only_read(
    module: Module, call: ast.Call, graph: CallGraph
) -> tuple[ast.expr, ast.Tuple] | None:
    """The first of the targets that a call's values are given to, where no other is read."""
    statement = module.names.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Tuple):
        return None
    first, *others = target.elts
    if isinstance(first, ast.Starred) or not all(_is_unread(module, o, graph) for o in others):
        return None
    return first, target


def _is_unread(module: Module, target: ast.expr, graph: CallGraph) -> bool:
    """Whether nothing reads what a name, or an attribute of the object, is given."""
    names = module.names
    if isinstance(target, ast.Name):
        home = names.scope_of_name[target]
        mentions = names.mentions(target.id, home)
        return not home.is_module and all(isinstance(one.ctx, ast.Store) for one in mentions)
    if not isinstance(target, ast.Attribute):
        return False
    owner = class_of(module, target)
    return owner is not None and all(
        isinstance(one.ctx, ast.Store)
        for other in graph.modules
        for one in other.names.attributes.get(target.attr, ())
        if not is_of_another(other, one, owner)
    )


# -- attributes that are names of a method's -------------------------------------------------


def as_names(module: Module, graph: CallGraph) -> list[Edit]:
    """Attributes that methods of networks give their object, and read themselves alone."""
    for owner in module.tree.body:
        if not isinstance(owner, ast.ClassDef):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and _is_network(module, method, graph):
                edits = [*_named(module, graph, owner, method)]
                if edits:
                    return edits
            if isinstance(method, ast.FunctionDef):
                for inner in method.body:
                    if isinstance(inner, ast.FunctionDef):
                        edits = [*_named_within(module, graph, owner, method, inner)]
                        if edits:
                            return edits
    return []


def as_names_of_sessions(module: Module, graph: CallGraph) -> list[Edit]:
    """The same of a method that builds, makes its session and trains, all by itself."""
    for owner in module.tree.body:
        for method in owner.body if isinstance(owner, ast.ClassDef) else ():
            if not isinstance(method, ast.FunctionDef) or method.name == "__init__":
                continue
            if method.decorator_list or not method.args.args:
                continue
            assert isinstance(owner, ast.ClassDef)
            if trains_alone(module, graph, owner, method):
                edits = [*_named(module, graph, owner, method)]
                if edits:
                    return edits
    return []


def _named_within(
    module: Module,
    graph: CallGraph,
    owner: ast.ClassDef,
    method: ast.FunctionDef,
    inner: ast.FunctionDef,
) -> Iterator[Edit]:
    """Attributes that a function within a method alone gives the object, and reads."""
    names, me = module.names, method.args.args[0].arg if method.args.args else ""
    if me in names.scopes[inner].bindings or not makes_variables(module, inner):
        return
    attributes = {
        part.attr
        for part in walk(inner)
        if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == me
        if not isinstance(part.ctx, ast.Load)
    }
    inside = {*walk(inner)}
    for name in sorted(attributes):
        mentions = [
            (other, one)
            for other in graph.modules
            for one in other.names.attributes.get(name, ())
            if not is_of_another(other, one, owner)
        ]
        if any(other is not module or one not in inside for other, one in mentions):
            continue
        if any(names.scope_at(one).node is not inner for _, one in mentions):
            continue
        if not _is_stored_first(module, [one for _, one in mentions]):
            continue
        new = names.fresh(names.scopes[inner], name, f"{name}_tensor", f"{name}_part")
        for _, mention in mentions:
            yield Edit(*module.source.span(mention), new)


def makes_variables(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a function makes variables itself."""
    calls = (one for one in walk(function) if isinstance(one, ast.Call))
    return any(name_of(module, one) in VARIABLES.by_name for one in calls)


def _is_network(module: Module, method: ast.FunctionDef, graph: CallGraph) -> bool:
    """Whether a method builds parts of a graph, and returns what it computes with them."""
    me = method.args.args[0].arg if method.args.args else ""
    stores = any(
        isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Store)
        and getattr(part.value, "id", "") == me
        for part in walk(method)
    )
    if not stores or method.name == "__init__" or method.decorator_list:
        return False
    return computes(module, method, graph)


def _named(
    module: Module, graph: CallGraph, owner: ast.ClassDef, method: ast.FunctionDef
) -> Iterator[Edit]:
    names, me = module.names, method.args.args[0].arg if method.args.args else ""
    attributes: dict[str, list[ast.Attribute]] = {}
    for part in walk(method):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            if part.value.id == me:
                attributes.setdefault(part.attr, []).append(part)
    methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
    taken: set[str] = set()
    for name, mentions in attributes.items():
        mentions.sort(key=position)
        if name in methods or not _are_own(module, graph, owner, method, mentions):
            continue
        given = _given(module, method, mentions)
        if given is not None:  # `self.training = training`
            statement = names.statement(mentions[0])
            yield without_paragraph(module.source, statement)
            for mention in mentions[1:]:
                yield Edit(*module.source.span(mention), given)
            continue
        new = names.fresh(names.scopes[method], name, f"{name}_tensor", f"{name}_part")
        if new in taken or not new.isidentifier():
            continue
        taken.add(new)
        for mention in mentions:
            yield Edit(*module.source.span(mention), new)


def _given(
    module: Module, method: ast.FunctionDef, mentions: Sequence[ast.Attribute]
) -> str | None:
    """The parameter that an attribute is from its first mention on: both stay what they are."""
    names = module.names
    statement = names.statement(mentions[0])
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.Name) or len(names.block(statement)) == 1:
        return None
    assert isinstance(statement, ast.Assign)
    stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
    if stored != [mentions[0]] or statement.targets != stored:
        return None
    bindings = names.scopes[method].bindings.get(value.id, [])
    # In a function of the method's own the parameter has to be seen by its name.
    home = names.scopes[method]
    seen = all(names.defining_scope(value.id, names.scope_at(one)) is home for one in mentions)
    if not seen or [one.kind for one in bindings] != ["parameter"]:
        return None
    return value.id if Layout(module.source, statement).owns_lines else None


def _are_own(
    module: Module,
    graph: CallGraph,
    owner: ast.ClassDef,
    method: ast.FunctionDef,
    mentions: Sequence[ast.Attribute],
) -> bool:
    """Whether an attribute is stored before it is read, wherever its name is mentioned.

    Another method may have one of the same name, which it stores first, too.
    """
    every = [
        (other, one)
        for other in graph.modules
        for one in other.names.attributes.get(mentions[0].attr, ())
        if not is_of_another(other, one, owner)
    ]
    by_method: dict[ast.AST, list[ast.Attribute]] = {}
    for other, one in every:
        if other is not module or class_of(module, one) is not owner:
            return False
        around = _method_of(module, owner, one)
        if around is None:
            return False
        by_method.setdefault(around, []).append(one)
    if {*by_method.get(method, ())} != {*mentions}:
        return False
    return all(_is_stored_first(module, found) for found in by_method.values())


def _block_around(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which one runs: a `with` is no other way."""
    above = module.names.parents.get(statement)
    while isinstance(above, ast.With):
        statement, above = above, module.names.parents.get(above)
    return module.names.block(statement)


def _method_of(module: Module, owner: ast.ClassDef, node: ast.Attribute) -> ast.FunctionDef | None:
    """The method that has a mention; a function of its own there may only read it."""
    around = [one for one in module.names.ancestors(node) if isinstance(one, _INNER)]
    if owner not in around:
        return None
    inner = around[: around.index(owner)]
    if not inner or not isinstance(inner[-1], ast.FunctionDef):
        return None
    if len(inner) > 1 and not isinstance(node.ctx, ast.Load):
        return None
    return inner[-1]


def _is_stored_first(module: Module, mentions: Sequence[ast.Attribute]) -> bool:
    names = module.names
    order = sorted(mentions, key=lambda one: (one.lineno, one.col_offset))
    stores = [one for one in order if not isinstance(one.ctx, ast.Load)]
    for one in order:
        if isinstance(one.ctx, ast.Load):
            around = {names.statement(one), *names.ancestors(one)}
            if not any(
                isinstance(made := names.statement(store), ast.Assign)
                and position(made) < position(names.statement(one))
                and not around.isdisjoint(_block_around(module, made))
                for store in stores
            ):
                return False
        elif not isinstance(names.statement(one), ast.Assign):
            return False
    return bool(stores)
