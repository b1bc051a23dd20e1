"""Assignments between the variables of two objects that are listed, and run: each runs in its turn.

    ops = []
    for p, q in zip(self.params, other.params):
        ops.append(p.assign(q))
    self.session.run(ops)

becomes ``self.session.run(p.assign(q))`` in the loop. Where a function returns such a list, which
others run once or more, they call it where they ran the list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.sessions.named_assignments import assigns
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout, without_paragraphs


@record()
class _List:
    """`ops = []`, and the loop that fills it: with what is assigned there, perhaps by a name."""

    name: str
    begun: ast.stmt
    made: ast.expr
    loop: ast.For

    def run(self, module: Module, receiver: str) -> list[Edit]:
        """The edits that run each one in the loop, by `sess.run`."""
        source = module.source
        first, last = self.loop.body[0], self.loop.body[-1]
        edits = [Edit(*source.span(first), f"{receiver}({source.code(self.made)})")]
        if last is not first:
            layout = Layout(source, last)
            edits.append(Edit(layout.line_start, layout.next_line, ""))
        return edits


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such list that is run where it is made; none where there is none."""
    for call in module.names.calls:
        function = module.names.scope_at(call).node
        made = [one for one in session_calls(module) if _function(module, one) is function]
        if isinstance(function, ast.FunctionDef) and not made:
            run = _run(module, call)
            if run is not None:
                edits = _in_loop(module, run) or _of_comprehension(module, run)
                if edits:
                    return edits
    return []


def returned(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one function that returns such a list; none where there is none."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            edits = _called(module, graph, node)
            if edits:
                return edits
    return []


def _function(module: Module, node: ast.AST) -> ast.AST:
    return module.names.scope_at(node).node


def _run(module: Module, call: ast.Call) -> ast.Call | None:
    """`sess.run(ops)` as a statement, of one thing that has a name or is a list."""
    statement = module.names.statement(call)
    func = call.func
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        return None
    if not isinstance(func, ast.Attribute) or func.attr != "run" or not _is_chain(func.value):
        return None
    return call if len(call.args) == 1 and not call.keywords else None


def _is_chain(node: ast.expr) -> bool:
    """`sess`, `self.sess`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _in_loop(module: Module, run: ast.Call) -> list[Edit]:
    """The edits of a list that a loop fills right above the run."""
    source, names = module.source, module.names
    statement = names.statement(run)
    block = names.block(statement)
    at = block.index(statement)
    name = run.args[0]
    loop = block[at - 1] if at else None
    if not isinstance(name, ast.Name) or not isinstance(loop, ast.For):
        return []
    found = _filled(module, block, loop)
    if found is None or found.name != name.id or _mentions(module, name) != 3:
        return []
    receiver = source.code(run.func)
    layouts = [Layout(source, one) for one in (found.begun, statement)]
    if not all(layout.owns_lines for layout in layouts):
        return []
    edits = [Edit(one.line_start, one.next_line, "") for one in layouts]
    return [*edits, *found.run(module, receiver)]


def _of_comprehension(module: Module, run: ast.Call) -> list[Edit]:
    """The edits of a list that is written as one, there or right above."""
    source, names = module.source, module.names
    statement = names.statement(run)
    given, above = run.args[0], None
    if isinstance(given, ast.Name):
        block = names.block(statement)
        at = block.index(statement)
        above = block[at - 1] if at else None
        value = _value(above, given.id) if above is not None else None
        if value is None or _mentions(module, given) != 2:
            return []
        given = value
    if not isinstance(given, ast.ListComp) or len(given.generators) != 1:
        return []
    each = given.generators[0]
    if each.ifs or each.is_async or not assigns(module, given.elt) or not _of_objects(each.iter):
        return []
    layouts = [Layout(source, one) for one in (above, statement) if one is not None]
    if not all(layout.owns_lines for layout in layouts):
        return []
    if any(module.names.mentions(one, names.scope_at(statement)) for one in _bound(each.target)):
        return []  # a name of the function's, which the loop would change
    edits = [_in_turn(module, run, given)]
    if above is not None:
        edits.insert(0, Edit(layouts[0].line_start, layouts[0].next_line, ""))
    return edits


def _in_turn(module: Module, run: ast.Call, listed: ast.ListComp) -> Edit:
    """A loop that runs one assignment after the other, in the place of the run of their list."""
    source, each, statement = module.source, listed.generators[0], module.names.statement(run)
    indent = source.indent_of(statement)
    head = f"for {source.code(each.target)} in {source.code(each.iter)}:"
    body = f"{source.code(run.func)}({source.code(listed.elt)})"
    text = f"{head}{source.newline}{indent}{source.indent_unit}{body}"
    return Edit(*source.span(statement), text)


def _bound(target: ast.expr) -> Iterator[str]:
    return (part.id for part in walk(target) if isinstance(part, ast.Name))


def _filled(module: Module, block: list[ast.stmt], loop: ast.For) -> _List | None:
    """The list that a loop fills with assignments, and that begins empty above it."""
    *others, last = loop.body
    added = last.value if isinstance(last, ast.Expr) else None
    if loop.orelse or not isinstance(added, ast.Call) or not isinstance(added.func, ast.Attribute):
        return None
    name = added.func.value
    if added.func.attr != "append" or not isinstance(name, ast.Name) or added.keywords:
        return None
    made = added.args[0] if len(added.args) == 1 else None
    if len(others) == 1 and isinstance(made, ast.Name) and _mentions(module, made) == 2:
        made = _value(others[0], made.id)
    elif others:
        return None
    if made is None or not assigns(module, made) or not _of_objects(loop.iter):
        return None
    if not all(Layout(module.source, one).owns_lines for one in loop.body):
        return None
    for statement in block[: block.index(loop)]:
        value = _value(statement, name.id)
        if value is not None:
            empty = isinstance(value, ast.List) and not value.elts
            return _List(name.id, statement, made, loop) if empty else None
    return None


def _value(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement gives a name, if that is all it does."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return statement.value if isinstance(target, ast.Name) and target.id == name else None


def _of_objects(node: ast.expr) -> bool:
    """`zip(self.params, other.params)`: of what two objects, of two names, keep by one name.

    No variable is in both, so that it does not matter which is assigned first.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.func.id != "zip" or node.keywords or len(node.args) != 2:
        return False
    one, other = node.args
    if not isinstance(one, ast.Attribute) or not isinstance(other, ast.Attribute):
        return False
    plain = _is_chain(one.value) and _is_chain(other.value)
    return plain and one.attr == other.attr and ast.dump(one.value) != ast.dump(other.value)


def _mentions(module: Module, name: ast.Name) -> int:
    return len(list(module.names.mentions(name.id, module.names.scope_of_name[name])))


def _called(module: Module, graph: CallGraph, node: ast.FunctionDef) -> list[Edit]:
    """The edits of a function that returns such a list, which others run by a name."""
    source, names = module.source, module.names
    last = node.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return []
    arguments = node.args
    named = [*arguments.args, *arguments.kwonlyargs]
    body = [one for one in node.body if not _is_text(one)]
    loop = body[-2] if len(body) > 1 else None
    found = _filled(module, body, loop) if isinstance(loop, ast.For) else None
    if found is None or found.name != last.value.id or _mentions(module, last.value) != 3:
        return []
    given = {one.arg for one in named}
    turns = {*_bound(found.loop.target)}
    if body[:-2] != [found.begun] or not _is_later(module, found.made, turns, given):
        return []  # the rest happens once, and would each time
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs or not named:
        return []
    if arguments.defaults or any(arguments.kw_defaults):
        return []
    references = list(graph.references(Function(module, node)))
    call = references[0].call if len(references) == 1 else None
    if call is None or references[0].module is not module:
        return []
    told = bind(call, Function(module, node)).every()
    if told is None or not all(_is_kept(module, one) for one in told.values()):
        return []
    made = names.statement(call)
    if not isinstance(made, ast.Assign) or made.value is not call or len(made.targets) != 1:
        return []
    target = made.targets[0]
    if not isinstance(target, ast.Name) or names.only_binding(target) is None:
        return []
    scope = names.scope_of_name[target]
    runs = [names.parents.get(one) for one in names.mentions(target.id, scope) if one is not target]
    calls = [one for one in runs if isinstance(one, ast.Call) and _run(module, one) is not None]
    layouts = [Layout(source, one) for one in (found.begun, last, made)]
    if not calls or len(calls) != len(runs) or not all(one.owns_lines for one in layouts):
        return []
    if any(names.scope_at(one) is not scope for one in calls):
        return []
    session = names.fresh(names.scopes[node], "session")
    edits = without_paragraphs(source, (found.begun, last, made))
    edits += found.run(module, f"{session}.run")
    if node.returns is not None:  # nothing is returned then
        returns = source.span(node.returns)
        arrow = source.text.rindex("->", 0, returns[0])
        edits.append(Edit(len(source.text[:arrow].rstrip()), returns[1], ""))
    at = source.span(arguments.args[-1])[1] if arguments.args else _star(source, named[0])
    edits.append(Edit(at, at, f", {session}" if arguments.args else f"{session}, "))
    first = [*map(source.code, call.args)]
    rest = [f"{one.arg}={source.code(one.value)}" for one in call.keywords]
    # A parameter behind others is given by name where those are.
    named_too = len(first) < len(arguments.args)
    for one in calls:
        assert isinstance(one.func, ast.Attribute)
        receiver = source.code(one.func.value)
        own = [*rest, f"{session}={receiver}"] if named_too else [receiver, *rest]
        handed = [*first, *own]
        text = f"{source.code(call.func)}({', '.join(handed)})"
        edits.append(Edit(*source.span(one), text))
    return edits


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is nothing but a text, as a docstring is."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _star(source: Source, first: ast.arg) -> int:
    """Where the star stands behind which all parameters are given by name."""
    return source.text.rindex("*", 0, source.span(first)[0])


def _is_kept(module: Module, node: ast.expr) -> bool:
    """Whether an argument is the same whenever the function is called."""
    if not isinstance(node, ast.Name):
        return constant(node) is not None
    binding = module.names.only_binding(node)
    if binding is None:
        return False
    around = module.names.ancestors(binding.node)
    return not any(isinstance(one, (ast.For, ast.While)) for one in around)


@fact_of_text
def kept(module: Module) -> list[Edit]:
    """The edits for one such list that is kept, and run later: each run has the loop.

    By a name, `sync = [p.assign(q) for p, q in zip(target.params, source.params)]`, or by an
    attribute, `self.sync = [...]`.
    """
    for node in walk(module.tree):
        value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(value, ast.ListComp):
            edits = _kept(module, node, value)
            if edits:
                return edits
    return []


def _kept(module: Module, made: ast.Assign, value: ast.ListComp) -> list[Edit]:
    source, names, target = module.source, module.names, made.targets[0]
    each = value.generators[0]
    if len(value.generators) > 1 or each.ifs or each.is_async or not assigns(module, value.elt):
        return []
    if not _of_objects(each.iter) or not Layout(source, made).owns_lines:
        return []
    turns = {*_bound(each.target)}
    if not all(_is_later(module, part, turns) for part in (each.iter, value.elt)):
        return []
    mentions: Iterable[ast.expr] = ()
    if isinstance(target, ast.Name) and names.only_binding(target) is not None:
        mentions = names.mentions(target.id, names.scope_of_name[target])
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        mentions = kept_by = names.attributes[target.attr]
        me = target.value.id
        if {_owner(module, one) for one in mentions} != {_owner(module, made)}:
            return []
        if any(ast.dump(one.value) != ast.dump(target.value) for one in kept_by):
            return []
        # Where it runs are other functions, which have none of this one's names.
        named = (part for one in (each.iter, value.elt) for part in walk(one))
        own = (part for part in named if isinstance(part, ast.Name) and part.id not in turns)
        if _owner(module, made) is None or any(
            one.id != me and not _is_of_module(module, one) for one in own
        ):
            return []
    found = without_paragraphs(source, [made])
    runs = [one for one in mentions if one is not target]
    for one in runs:
        listed = names.parents[one]
        fetched = listed if isinstance(listed, ast.List) and len(listed.elts) == 1 else one
        call = names.parents[fetched]
        run = _run(module, call) if isinstance(call, ast.Call) and fetched in call.args else None
        statement = names.statement(one)
        if run is None or not Layout(source, statement).owns_lines:
            return []
        if isinstance(target, ast.Name) and names.scope_at(one) is not names.scope_of_name[target]:
            return []
        if any(names.mentions(turn, names.scope_at(one)) for turn in turns):
            return []  # a name of the function's, which the loop would change
        found.append(_in_turn(module, run, value))
    return found if runs else []


def _is_of_module(module: Module, name: ast.Name) -> bool:
    """Whether a name is one of the module's, or of Python's own."""
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    return home is None or home is module.names.module_scope


def _owner(module: Module, node: ast.AST) -> ast.AST | None:
    """The class in which something stands."""
    above = module.names.ancestors(node)
    return next((one for one in above if isinstance(one, ast.ClassDef)), None)


def _is_later(
    module: Module, node: ast.AST, turns: AbstractSet[str], given: AbstractSet[str] = frozenset()
) -> bool:
    """Whether what a list is made of is the same where it is made later.

    Of names and attributes that are given one value, once; ``given`` is what a function is called
    with each time.
    """
    if not _only_computes(module, node, turns):
        return False
    for part in walk(node):
        if isinstance(part, ast.Attribute) and not name_of(module, part):
            root = part.value
            stored = [one for one in module.names.attributes[part.attr] if _is_stored(one)]
            own = isinstance(root, ast.Name) and root.id in turns
            if not own and len(stored) != 1:
                return False
        elif isinstance(part, ast.Name) and part.id not in turns | given:
            parent = module.names.parents[part]
            of_tensorflow = isinstance(parent, ast.Attribute) and name_of(module, parent) != ""
            builtin = module.names.qualname(part) == "builtins.zip"
            if not of_tensorflow and not builtin and not _is_kept(module, part):
                return False
    return True


def _only_computes(module: Module, node: ast.AST, turns: AbstractSet[str]) -> bool:
    """Whether what is called is TensorFlow's, or a variable's own: another call may differ."""
    for part in walk(node):
        func = part.func if isinstance(part, ast.Call) else None
        if func is None or name_of(module, part) or module.names.qualname(func) == "builtins.zip":
            continue
        of = func.value if isinstance(func, ast.Attribute) else None
        if not isinstance(of, ast.Name) or of.id not in turns:
            return False
    return True


def _is_stored(node: ast.Attribute) -> bool:
    return not isinstance(node.ctx, ast.Load)
