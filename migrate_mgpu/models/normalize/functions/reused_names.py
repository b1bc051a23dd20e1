"""Names that a program gives to what its graph is made of first, and to other values later.

`b = tf.Variable(...)`, and far below `b = sess.run(hypothesis, ...)`, or `b = 0`: TF1's graph keeps
the variable, the functions of TF2 read it by its name. The later one becomes `b_value`. So does
a value that the graph is made of, where the name has another one below.

`loss` in a loop over devices, and behind it `loss = tf.reduce_mean(losses)`, which functions are
given, or a session runs: that of each device becomes `tower_loss`. So does one beside a function
`loss` that a function called in the loop calls.

`y = tf.Variable(...)`, and below it `y = x * w + y`: the variable gets a name of its own, the one
that `tf.Variable(..., name="bias")` says where it can.

`gamma = -15.0`, and below it `gamma = tf.constant(gamma)`: the number becomes `gamma_value`.

`tf.summary.scalar("loss", loss)`, and below it `loss *= 0.1`: what the summary shows becomes
`shown_loss`.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Scope, position, walk
from migrate_mgpu.api.recurrent import cell_of, is_recurrent
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.network.cell_states import TENSOR, is_sequence, structure
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.front.towers.loop import loops_on_devices, names_of_loop
from migrate_mgpu.source.source import Edit

_BY_TEXT = tuple(f"builtins.{name}" for name in ("globals", "locals", "vars", "exec", "eval"))
_GRADIENTS = ("compute_gradients", "gradients")
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def renamed(module: Module) -> list[Edit]:
    """The edits that give such values names of their own; none where there are none."""
    homes = {module.names.scope_at(call) for call in session_calls(module)}
    found: list[Edit] = []
    for home in sorted(homes, key=lambda scope: getattr(scope.node, "lineno", 0)):
        if asks_for_names(module, home):
            continue
        for name, bindings in home.bindings.items():
            if len(bindings) > 1 and name != "_":
                found += _of_name(module, home, name)
    return found


def _of_name(module: Module, home: Scope, name: str) -> list[Edit]:
    names = module.names
    mentions = names.mentions(name, home)
    if any(names.scope_of_name[one] is not home for one in mentions):
        return []  # a function reads it, and it cannot be told which of the two
    stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
    if len(stored) != len(home.bindings[name]):
        return []
    # Below what makes a part of the graph, or is the last thing that such is made of: other values.
    kinds = [_kind(module, one) for one in stored]
    if "graph" in kinds:
        behind = stored[kinds.index("value") :] if "value" in kinds else []
    else:
        building = [position(one) for one in mentions if _kind(module, one) == "graph"]
        behind = [one for one in stored if building and position(one) > min(building)]
    kinds = [_kind(module, one) for one in behind]
    if not behind or behind == stored or not {*kinds} <= {"value", "more"} or kinds[0] == "more":
        return []
    begin = names.statement(behind[0])
    inside = {*walk(begin)}
    below = {n for one in _below(module, begin) for n in walk(one)}
    earlier = [
        one
        for one in mentions
        if position(one) < position(behind[0])
        or (isinstance(begin, ast.Assign) and one in inside and isinstance(one.ctx, ast.Load))
    ]
    later = [one for one in mentions if one not in earlier]
    if not all(one in below and is_written(module, one) for one in later):
        return []
    if isinstance(begin, ast.For) and not all(one in inside for one in later):
        return []  # it may keep its earlier value
    for loop in names.ancestors(begin):
        if isinstance(loop, _LOOPS) and any(one in walk(loop) for one in earlier):
            return []
    new = names.fresh(home, f"{name}_value", f"{name}_result")
    return [Edit(*module.source.span(one), new) for one in later]


@fact_of_text
def variables_apart(module: Module) -> list[Edit]:
    """The edits for a variable whose name stands for something computed below; none without one."""
    known = calls_of_names(module)
    fed = (call for name in PLACEHOLDERS for call in known.get(name, ()))
    builds = (*session_calls(module), *fed)
    for home in dict.fromkeys(module.names.scope_at(call) for call in builds):
        if asks_for_names(module, home):
            continue
        for name, bindings in home.bindings.items():
            if len(bindings) > 1 and (edits := _variable_apart(module, home, name)):
                return edits
    return []


def _variable_apart(module: Module, home: Scope, name: str) -> list[Edit]:
    names = module.names
    mentions = sorted(names.mentions(name, home), key=position)
    stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
    if len(stored) != len(home.bindings[name]) or mentions[0] is not stored[0]:
        return []
    made, again = (names.statement(one) for one in stored[:2])
    of_itself = any(one in mentions for one in walk(again) if one is not stored[1])
    if not _is_variable(module, made) or not (of_itself or _kind(module, stored[1]) == "graph"):
        return []
    if any(_is_variable(module, names.statement(one)) for one in stored[1:]):
        return []  # several variables by one name
    # `+=` of a variable is an error in TF2; `+=` of what was computed of it is none.
    if any(isinstance(names.statement(one), ast.AugAssign) for one in stored):
        return []
    if any(names.scope_of_name[one] is not home or not is_written(module, one) for one in mentions):
        return []
    if any(isinstance(one, _LOOPS) for one in names.ancestors(made)):
        return []
    if names.block(made) is not names.block(again) or not isinstance(again, ast.Assign):
        return []
    assert isinstance(made, ast.Assign)
    new = names.fresh(home, *_words(module, made), f"{name}_variable")
    inside = {*walk(again.value)}
    earlier = [one for one in mentions if one in inside or position(one) < position(again)]
    return [Edit(*module.source.span(one), new) for one in earlier]


@fact_of_text
def constants_apart(module: Module) -> list[Edit]:
    """The edits for a number that becomes a part of the graph by its own name.

    `gamma = -15.0`, and below it `gamma = tf.constant(gamma)`: the number becomes `gamma_value`.
    """
    for call in calls_of_names(module).get("constant", ()):
        again = module.names.parents.get(call)
        given = call.args[0] if call.args else None
        home = module.names.scope_at(call)
        target = again.targets[0] if isinstance(again, ast.Assign) else None
        if not isinstance(target, ast.Name) or not isinstance(given, ast.Name):
            continue
        if given.id == target.id and isinstance(again, ast.Assign) and len(again.targets) == 1:
            edits = _constant_apart(module, home, target, again)
            if edits and not asks_for_names(module, home):
                return edits
    return []


def _constant_apart(module: Module, home: Scope, target: ast.Name, again: ast.Assign) -> list[Edit]:
    names, name = module.names, target.id
    mentions = sorted(names.mentions(name, home), key=position)
    own = [one for one in mentions if names.scope_of_name[one] is home]
    stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
    made = names.statement(stored[0]) if stored else None
    if len(stored) != 2 or stored[1] is not target or not all(one in own for one in stored):
        return []
    if not isinstance(made, ast.Assign) or len(home.bindings[name]) != 2:
        return []
    plain = constant(made.value)
    if not isinstance(plain, (int, float)) or names.block(made) is not _body(home):
        return []
    if again not in _body(home) or not all(is_written(module, one) for one in mentions):
        return []
    inside = {*walk(again.value)}
    earlier = [one for one in own if one in inside or position(one) < position(again)]
    reading = {names.scope_of_name[one].function() for one in mentions if one not in own}
    if not all(isinstance(one, ast.FunctionDef) and one in _body(home) for one in reading):
        return []
    # Functions that read the name run only where it is the graph's.
    late = {one.name for one in reading if isinstance(one, ast.FunctionDef)}
    functions = [one for one in _body(home) if isinstance(one, ast.FunctionDef)]
    for _ in functions:
        late |= {
            one.name
            for one in functions
            if any(isinstance(part, ast.Name) and part.id in late for part in walk(one))
        }
    above = _body(home)[: _body(home).index(again)]
    for statement in (one for one in above if not isinstance(one, ast.FunctionDef)):
        if any(isinstance(one, ast.Name) and one.id in late for one in walk(statement)):
            return []
    new = names.fresh(home, f"{name}_value")
    return [Edit(*module.source.span(one), new) for one in earlier]


def _body(home: Scope) -> list[ast.stmt]:
    node = home.node
    return node.body if isinstance(node, (ast.Module, ast.FunctionDef)) else []


@fact_of_text
def states_apart(module: Module) -> list[Edit]:
    """The edits for the state of a recurrent network whose name stands for another one below.

    `_, state = tf.nn.dynamic_rnn(...)`, and `state = tuple(state[-1] for _ in range(2))`.
    """
    names = module.names
    for call in names.calls if session_calls(module) else ():
        made = names.statement(call)
        if not isinstance(made, ast.Assign) or made.value is not call or len(made.targets) > 1:
            continue
        state: ast.expr | None = None
        if is_recurrent(module, call):
            parts = made.targets[0].elts if isinstance(made.targets[0], ast.Tuple) else []
            state = parts[1] if len(parts) == 2 else None
        elif is_sequence(module, call) and structure(module, call) not in (None, TENSOR):
            state = made.targets[0]  # one that is put together
        home = names.scope_at(call)
        if not isinstance(state, ast.Name) or asks_for_names(module, home):
            continue
        mentions = sorted(names.mentions(state.id, home), key=position)
        stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
        behind = [one for one in stored if position(one) > position(state)]
        again = names.statement(behind[0]) if behind else None
        if not isinstance(again, ast.Assign) or names.block(again) is not names.block(made):
            continue
        inside = {*walk(again.value)}
        earlier = [
            one
            for one in mentions
            if position(state) <= position(one)
            and (one in inside or position(one) < position(again))
        ]
        if not all(
            _is_computed_in(module, one, home) and is_written(module, one) for one in earlier
        ):
            continue
        if len(earlier) < 2 or len(stored) != len(home.bindings[state.id]):
            continue
        new = names.fresh(home, f"{state.id}_of_cells", f"{state.id}_of_network")
        return [Edit(*module.source.span(one), new) for one in earlier]
    return []


def cells_apart(module: Module) -> list[Edit]:
    """The edits for the cells of a network whose name stands for those of another one below.

    `cells = tf.nn.rnn_cell.GRUCell(8)` in each of two blocks, with the network that runs them.
    """
    names = module.names
    for call in names.calls if session_calls(module) else ():
        made, home = names.statement(call), names.scope_at(call)
        if not isinstance(made, ast.Assign) or made.value is not call or len(made.targets) > 1:
            continue
        target = made.targets[0]
        if not isinstance(target, ast.Name) or not cell_of(module, call):
            continue
        mentions = sorted(names.mentions(target.id, home), key=position)
        stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
        behind = [one for one in stored if position(one) > position(target)]
        if not behind or asks_for_names(module, home):
            continue
        # Each is made once, whatever happens, and not of the one before.
        plain = all(_is_straight(module, one, home) for one in stored)
        first, block = position(behind[0]), names.block(made)
        own = [one for one in mentions if position(target) <= position(one) < first]
        if not plain or not isinstance(names.parents[made], ast.With):
            continue
        if any(names.statement(one) not in block for one in own) or len(own) < 2:
            continue
        if all(is_written(module, one) and names.scope_of_name[one] is home for one in own):
            new = names.fresh(home, f"{target.id}_above", f"earlier_{target.id}")
            return [Edit(*module.source.span(one), new) for one in own]
    return []


@fact_of_text
def shown_apart(module: Module) -> list[Edit]:
    """The edits for one value that a summary shows, whose name has another below; none without."""
    names = module.names
    known = calls_of_names(module)
    fed = (call for name in PLACEHOLDERS for call in known.get(name, ()))
    builds = {names.scope_at(call) for call in (*session_calls(module), *fed)}
    builds |= {names.scope_at(loop) for loop in loops_on_devices(module)}
    for call in (call for name in SUMMARIES.by_name for call in known.get(name, ())):
        home = names.scope_at(call)
        if home not in builds or asks_for_names(module, home):
            continue
        for mention in (one for one in walk(call) if isinstance(one, ast.Name)):
            if names.scope_of_name[mention] is home and (edits := _shown(module, home, mention)):
                return edits
    return []


def _shown(module: Module, home: Scope, shown: ast.Name) -> list[Edit]:
    """The edits for what a summary shows, from where it is made to where its name gets another."""
    names, source = module.names, module.source
    mentions = names.mentions(shown.id, home)
    stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
    if len(stored) != len(home.bindings.get(shown.id, ())) or len(stored) < 2:
        return []
    above = [one for one in stored if position(one) < position(shown)]
    below = [one for one in stored if position(one) > position(shown)]
    if not above or not below:
        return []
    made, again = (names.statement(one) for one in (above[-1], below[0]))
    if not isinstance(made, ast.Assign) or not isinstance(again, (ast.Assign, ast.AugAssign)):
        return []
    if _kind(module, above[-1]) == "value" or _kind(module, below[0]) == "value":
        return []  # of Python's own, which the passes above rename
    # One after the other, in one line of statements: nothing decides which of them it has.
    if _block_around(module, made) is not _block_around(module, again):
        return []
    # As it is made, the value may be computed of what the name had before.
    inside = {*walk(again)}
    first, last = position(above[-1]), position(below[0])
    own = [
        one
        for one in mentions
        if one is above[-1]
        or (isinstance(one.ctx, ast.Load) and one in inside)
        or (isinstance(one.ctx, ast.Load) and first < position(one) < last
            and one not in walk(made))
    ]  # fmt: skip
    if not all(is_written(module, one) and names.scope_of_name[one] is home for one in own):
        return []
    new = names.fresh(home, f"shown_{shown.id}", f"{shown.id}_shown")
    edits = [Edit(*source.span(one), new) for one in own]
    if isinstance(again, ast.AugAssign):
        target, value = again.target, again.value
        sign = _SIGNS.get(type(again.op))
        if sign is None or target is not below[0]:
            return []
        start, end = source.span(value)[0], source.span(value)[1]
        between = source.text[source.span(target)[1] : start]
        if between.split() != [f"{sign}="]:
            return []
        edits.append(Edit(source.span(target)[1], start, f" = {new} {sign} "))
        if not isinstance(value, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)):
            edits += [Edit(start, start, "("), Edit(end, end, ")")]
    return edits


def _block_around(module: Module, statement: ast.stmt) -> ast.AST:
    """What decides whether a statement is executed, and how often: a loop, a function."""
    parents = module.names.ancestors(statement)
    return next(one for one in parents if not isinstance(one, ast.With))


def _is_straight(module: Module, name: ast.Name, home: Scope) -> bool:
    """Whether a statement that gives a name a value stands in blocks alone, in a scope."""
    statement = module.names.statement(name)
    if not isinstance(statement, ast.Assign) or name in walk(statement.value):
        return False
    if any(isinstance(one, ast.Name) and one.id == name.id for one in walk(statement.value)):
        return False
    for parent in module.names.ancestors(statement):
        if parent is home.node:
            return True
        if not isinstance(parent, ast.With):
            return False
    return home.is_module


def _is_computed_in(module: Module, mention: ast.Name, home: Scope) -> bool:
    """Whether a mention stands in a scope, or in a list that is made there."""
    scope: Scope | None = module.names.scope_of_name[mention]
    while scope is not None and scope is not home and isinstance(scope.node, COMPREHENSIONS):
        scope = scope.parent
    return scope is home


def _is_variable(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement gives one name a variable."""
    made = statement.value if isinstance(statement, ast.Assign) else None
    one = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return one and isinstance(made, ast.Call) and name_of(module, made) in VARIABLES.by_name


def _words(module: Module, made: ast.Assign) -> list[str]:
    """What a variable is called in its graph, where that may be a name."""
    assert isinstance(made.value, ast.Call)
    row = VARIABLES.by_name[name_of(module, made.value)]
    told = constant(NamedArguments(module, made.value, row.signature).rest.get("name"))
    free = isinstance(told, str) and told.isidentifier() and not keyword.iskeyword(told)
    return [str(told)] if free and not hasattr(builtins, str(told)) else []


@fact_of_text
def renamed_in_towers(module: Module) -> list[Edit]:
    """The edits for names that a loop over devices has as well, where functions are given them."""
    if asks_for_names(module):
        return []
    names, found = module.names, []
    for loop in (one for one in walk(module.tree) if isinstance(one, ast.For)):
        home = names.scope_at(loop)
        inside = [one for statement in loop.body for one in walk(statement)]
        if not any(isinstance(one, ast.Attribute) and one.attr in _GRADIENTS for one in inside):
            continue
        for name in sorted({n.id for n in inside if isinstance(n, ast.Name)} & {*home.bindings}):
            found += _of_loop(module, home, name, loop, set(inside))
        for name in [] if found else sorted(_called(module, home, inside)):
            mentions = names.mentions(name, home)
            if all(names.scope_of_name[n] is home and is_written(module, n) for n in mentions):
                new = names.fresh(home, f"tower_{name}", f"{name}_of_tower")
                found += (Edit(*module.source.span(one), new) for one in mentions)
    return found


def _called(module: Module, home: Scope, inside: Sequence[ast.AST]) -> set[str]:
    """Names of the home's own that are functions where functions called in a loop call them."""
    names, found = module.names, set()
    for call in (one for one in inside if isinstance(one, ast.Call)):
        function = names.only_definition(call.func) if isinstance(call.func, ast.Name) else None
        for part in walk(function) if isinstance(function, ast.FunctionDef) else ():
            made = names.only_definition(part) if isinstance(part, ast.Name) else None
            if isinstance(made, ast.FunctionDef) and made in module.tree.body:
                found.add(made.name)
    return found & {*home.bindings} if not home.is_module else set()


def _of_loop(
    module: Module, home: Scope, name: str, loop: ast.For, inside: set[ast.AST]
) -> list[Edit]:
    names = module.names
    mentions = names.mentions(name, home)
    stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
    behind = [one for one in stored if one not in inside]
    if len(behind) != 1 or len(stored) != len(home.bindings[name]) or len(stored) < 2:
        return []
    again = names.statement(behind[0])
    if not isinstance(again, ast.Assign) or position(behind[0]) < position(loop):
        return []
    own = [one for one in mentions if one in inside or one in walk(again.value)]
    later = [one for one in mentions if one not in own]
    below = {n for one in _below(module, again) for n in walk(one)}
    if not all(one in below and names.scope_of_name[one] is home for one in later):
        return []
    if not all(is_written(module, one) for one in own):
        return []
    new = names.fresh(home, f"tower_{name}", f"{name}_of_tower")
    return [Edit(*module.source.span(one), new) for one in own]


def _below(module: Module, statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, and all that is executed behind it and never without it."""
    names = module.names
    block = names.block(statement)
    yield from block[block.index(statement) :]
    parent = names.parents[statement]
    if isinstance(parent, ast.With):
        yield from list(_below(module, parent))[1:]


def is_written(module: Module, name: ast.Name) -> bool:
    """Whether a name may get another text where it stands."""
    inside = any(isinstance(one, ast.JoinedStr) for one in module.names.ancestors(name))
    return not inside and not isinstance(name.ctx, ast.Del)


def asks_for_names(module: Module, home: Scope | None = None) -> bool:
    """Whether a module may look for its variables by what they are called.

    ``home``: for those of a scope. Those of a function only its own code finds.
    """
    node = module.tree if home is None or home.is_module else home.node
    inside = {*walk(node)} if node is not module.tree else None
    return any(
        module.names.qualname(call.func) in _BY_TEXT
        for call in module.names.calls
        if inside is None or call in inside
    )


def _kind(module: Module, mention: ast.Name) -> str:
    """Whether a statement makes a part of the graph, or a value; empty for all else.

    A value is a constant, what a run gives, or what a loop goes through; ``more`` is what is added
    to one: `total += loss`.
    """
    statement = module.names.statement(mention)
    if isinstance(statement, ast.For) and mention in walk(statement.target):
        if statement not in loops_on_devices(module):
            return "value"
        over = dict(names_of_loop(module, statement)[1]).get(mention.id)
        parts = (one for one in walk(over) if isinstance(one, ast.Call)) if over else ()
        return "graph" if any(name_of(module, part) for part in parts) else "value"
    if not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return ""
    calls = [node for node in walk(statement.value) if isinstance(node, ast.Call)]
    if any(isinstance(c.func, ast.Attribute) and c.func.attr in ("run", "eval") for c in calls):
        return "value"
    if any(name_of(module, call) for call in calls):
        return "graph"
    if isinstance(statement, ast.AugAssign):
        return "more"
    arrays = bool(calls) and all(_is_of_numpy(module, call) for call in calls)
    known = arrays or constant(statement.value) is not None or _is_fed(module, mention, statement)
    return "value" if known else ""


def _is_fed(module: Module, target: ast.Name, statement: ast.stmt) -> bool:
    """Whether what a statement gives a name is fed below: TF1 lets nobody feed a tensor."""
    names = module.names
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return False
    block = names.block(statement)
    for behind in block[block.index(statement) + 1 :]:
        mentions = [n for n in walk(behind) if isinstance(n, ast.Name) and n.id == target.id]
        if mentions and not isinstance(behind, (ast.Assign, ast.Expr)):
            return False
        for one in mentions:
            feeds = names.parents[one]
            if isinstance(feeds, ast.Dict) and one in feeds.values and _is_given(module, feeds):
                return True
        if any(not isinstance(one.ctx, ast.Load) for one in mentions):
            return False
    return False


def _is_given(module: Module, feeds: ast.Dict) -> bool:
    """`sess.run(..., feed_dict={...})`, with a session."""
    keyword = module.names.parents[feeds]
    call = module.names.parents[keyword] if isinstance(keyword, ast.keyword) else keyword
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    told = isinstance(keyword, ast.keyword) and keyword.arg == "feed_dict"
    return call.func.attr in ("run", "eval") and (told or call.args[1:2] == [feeds])


def _is_of_numpy(module: Module, call: ast.Call) -> bool:
    """Whether a call is one of NumPy's, or of a generator of random numbers that it made."""
    qualname = module.names.qualname(call.func)
    root: ast.AST = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if qualname is None and isinstance(root, ast.Name):
        made = module.names.only_value(root)
        qualname = module.names.qualname(made.func) if isinstance(made, ast.Call) else None
    return (qualname or "").startswith("numpy.")
