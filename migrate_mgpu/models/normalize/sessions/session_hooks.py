"""The hooks of a monitored session, as the statements around its one training run that they are.

A hook of TF1's or of the author's own (``begin``, ``before_run``, ``after_run``, ``end``) is asked
before and after each ``Session.run``. What it fetches is fetched by the run, what it does with that
stands behind it. ``monitored_sessions`` puts the statements where they belong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.hooks import HOOK_BASES, HOOKS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.core.records import field, record
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")


@record(frozen=True, eq=False)
class Stop:
    """``StopAtStepHook``: at a global step, or after ``steps`` more than there were."""

    last: ast.expr | None
    steps: ast.expr | None


@record(frozen=True, eq=False)
class Nan:
    """``NanTensorHook``: it raises, or ends the loop."""

    tensor: ast.expr
    fails: bool


@record(frozen=True, eq=False)
class Log:
    """``LoggingTensorHook``: tensors by their tags, every so many runs, or seconds."""

    tensors: tuple[tuple[ast.expr, ast.expr], ...]
    every: ast.expr
    seconds: bool
    formatter: ast.expr | None


@record(frozen=True, eq=False)
class Timed:
    """What is done every so many steps, or seconds; None: never."""

    every: str | None
    seconds: bool = False


@record(frozen=True, eq=False)
class Saves:
    """Checkpoints: where, and when."""

    directory: ast.expr
    when: Timed


@record(frozen=True, eq=False)
class Summarizes:
    """Summaries: where, and when."""

    directory: ast.expr
    when: Timed


@record(frozen=True, eq=False)
class Own:
    """A hook of the author's class. ``made`` is the expression that makes it, or its name.

    ``fetches`` are what ``before_run`` asks for: one tensor, or several in the structure that
    ``shape`` has a place for each of.
    """

    owner: ast.ClassDef
    made: ast.expr
    methods: dict[str, ast.FunctionDef]
    asks: ast.Return | None = None
    fetches: tuple[ast.expr, ...] = ()
    wanted: ast.expr | None = None


@record(eq=False)
class Hooks:
    """All hooks of a session, in the order in which they are asked."""

    stop: Stop | None = None
    saves: Saves | None = None
    summarizes: Summarizes | None = None
    asked: list[Nan | Log | Own] = field(default_factory=list)
    gone: list[ast.stmt] = field(default_factory=list)  # what only makes them, and their lists

    @property
    def fetches(self) -> bool:
        """Whether a run fetches more for them."""
        return bool(self.asked) or self.summarizes is not None

    @property
    def any(self) -> bool:
        """Whether something is done with each run."""
        return bool(self.asked or self.stop or self.saves or self.summarizes)


def read_hooks(module: Module, graph: CallGraph, lists: Sequence[ast.expr], found: Hooks) -> None:
    """Adds what lists of hooks have.

    Raises:
        Refused: one of them is not understood.
    """
    for node in lists:
        for item in _items(module, node, found):
            _read(module, graph, item, found)


def _items(module: Module, node: ast.expr, found: Hooks) -> Iterator[ast.expr]:
    """The items of a list of hooks, which may be a name or a sum of several."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _items(module, node.left, found)
        yield from _items(module, node.right, found)
        return
    value = _made(module, node, found) if isinstance(node, ast.Name) else node
    if not isinstance(value, (ast.List, ast.Tuple)):
        raise Refused(module, node, "which hooks a session has cannot be determined", _ADVICE)
    yield from value.elts


def _made(module: Module, name: ast.Name, found: Hooks) -> ast.expr | None:
    """What a name stands for that is read here alone; its statement goes."""
    value, binding = module.names.only_value(name), module.names.only_binding(name)
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    if value is None or binding is None or home is None:
        return None
    statement = module.names.statement(binding.node)
    others = [m for m in module.names.mentions(name.id, home) if m not in (name, binding.node)]
    plain = isinstance(statement, ast.Assign) and statement.targets == [binding.node]
    if others or not plain or not Layout(module.source, statement).owns_lines:
        return None
    found.gone.append(statement)
    return value


_ADVICE = "write the list of hooks where the session is made"


def _read(module: Module, graph: CallGraph, item: ast.expr, found: Hooks) -> None:
    own = module.names.only_value(item) if isinstance(item, ast.Name) else None
    plain = name_of(module, own).rpartition(".")[2] in HOOKS
    call = own if not plain else _made(module, item, found) if isinstance(item, ast.Name) else own
    call = call if isinstance(item, ast.Name) else item
    if not isinstance(call, ast.Call):
        raise Refused(module, item, "which hooks a session has cannot be determined", _ADVICE)
    kind = name_of(module, call).rpartition(".")[2]
    if kind in HOOKS:
        given = arguments_of(module, call, HOOKS[kind])
        _READERS[kind](module, call, given, found)
        return
    known = graph.class_of(module, call.func)
    if known is None or known[0] is not module or not _is_hook(*known):
        shown = module.source.code(call.func)
        raise Refused(module, call, f"the hook `{shown}` has no form in a loop of steps")
    found.asked.append(_own(module, known[1], item, call))


def _is_hook(module: Module, owner: ast.ClassDef) -> bool:
    bases = [name_of(module, base) for base in owner.bases]
    plain = len(bases) == 1 and bases[0] in HOOK_BASES
    return plain and not owner.keywords and not owner.decorator_list


def _only(module: Module, call: ast.Call, given: dict[str, ast.expr], known: Sequence[str]) -> None:
    for name, value in given.items():
        if name not in known:
            text = f"`{name}` of `{module.source.code(call.func)}` has no form in a loop of steps"
            raise Refused(module, value, text)


def _stop(module: Module, call: ast.Call, given: dict[str, ast.expr], found: Hooks) -> None:
    if found.stop is not None:
        raise Refused(module, call, "a session has two hooks that stop it", "leave one out")
    if len(given) != 1:
        raise Refused(module, call, "when a hook stops the session cannot be determined")
    found.stop = Stop(given.get("last_step"), given.get("num_steps"))


def _nan(module: Module, call: ast.Call, given: dict[str, ast.expr], found: Hooks) -> None:
    fails = constant(given["fail_on_nan_loss"]) if "fail_on_nan_loss" in given else True
    if "loss_tensor" not in given or not isinstance(fails, bool):
        raise Refused(module, call, "what a hook does about NaN cannot be determined")
    found.asked.append(Nan(_tensor(module, given["loss_tensor"]), fails))


def _log(module: Module, call: ast.Call, given: dict[str, ast.expr], found: Hooks) -> None:
    _only(module, call, given, ("tensors", "every_n_iter", "every_n_secs", "formatter"))
    tensors = given.get("tensors")
    if isinstance(tensors, ast.Name):
        tensors = module.names.only_value(tensors)
    every = given.get("every_n_iter", given.get("every_n_secs"))
    tags = [constant(key) for key in tensors.keys] if isinstance(tensors, ast.Dict) else []
    if not isinstance(tensors, ast.Dict) or not all(isinstance(tag, str) for tag in tags):
        text = "the tags of what a hook logs cannot be determined"
        raise Refused(module, call, text, "give it a dictionary of tags and tensors")
    if every is None or len(given) - ("formatter" in given) != 2:
        raise Refused(module, call, "how often a hook logs cannot be determined")
    shown = sorted(zip(map(str, tags), tensors.keys, tensors.values), key=lambda one: one[0])
    items = tuple((key, _tensor(module, value)) for _, key, value in shown if key is not None)
    formatter = given.get("formatter")
    if formatter is not None and not isinstance(formatter, ast.Name):
        raise Refused(module, formatter, "how a hook shows tensors", "make it a function")
    found.asked.append(Log(items, every, "every_n_secs" in given, formatter))


def _tensor(module: Module, node: ast.expr) -> ast.expr:
    """A tensor by a name, or the global step.

    Raises:
        Refused: the graph would have to be asked for it.
    """
    if isinstance(node, ast.Name) and isinstance(constant(module.names.only_value(node)), str):
        node = module.names.only_value(node) or node
    if isinstance(constant(node), str):
        text = f"a hook asks the graph for `{constant(node)}`"
        raise Refused(module, node, text, "give it the tensor itself")
    if isinstance(node, ast.Name) or (
        isinstance(node, ast.Call) and name_of(module, node) in COUNTERS and not node.args
    ):
        return node
    raise Refused(module, node, "a hook asks for a tensor without a name", "give it one")


def _saves(module: Module, call: ast.Call, given: dict[str, ast.expr], found: Hooks) -> None:
    _only(module, call, given, ("checkpoint_dir", "save_secs", "save_steps"))
    if found.saves is not None:
        raise Refused(module, call, "a session has two hooks that save it", "leave one out")
    if "checkpoint_dir" not in given or len(given) != 2:
        raise Refused(module, call, "when a hook saves the session cannot be determined")
    when = given.get("save_steps", given.get("save_secs"))
    assert when is not None
    timed = Timed(module.source.code(when), "save_secs" in given)
    found.saves = Saves(given["checkpoint_dir"], timed)


def _summarizes(module: Module, call: ast.Call, given: dict[str, ast.expr], found: Hooks) -> None:
    _only(module, call, given, ("output_dir", "save_secs", "save_steps", "summary_op"))
    merges = given.pop("summary_op", None)
    merged = module.names.only_value(merges) if isinstance(merges, ast.Name) else merges
    if found.summarizes is not None or name_of(module, merged) != "summary.merge_all":
        raise Refused(module, call, "which summaries a hook writes cannot be determined")
    if "output_dir" not in given or len(given) != 2:
        raise Refused(module, call, "where and when a hook writes summaries cannot be determined")
    when = given.get("save_steps", given.get("save_secs"))
    assert when is not None
    timed = Timed(module.source.code(when), "save_secs" in given)
    found.summarizes = Summarizes(given["output_dir"], timed)


def _counts(module: Module, call: ast.Call, given: dict[str, ast.expr], found: Hooks) -> None:
    """How fast it is: nothing of the program."""


_READERS = {
    "StopAtStepHook": _stop,
    "NanTensorHook": _nan,
    "LoggingTensorHook": _log,
    "CheckpointSaverHook": _saves,
    "SummarySaverHook": _summarizes,
    "StepCounterHook": _counts,
}


# -- the author's own classes -------------------------------------------------------------


def _own(module: Module, owner: ast.ClassDef, made: ast.expr, call: ast.Call) -> Own:
    """A class of hooks that does without the session.

    Raises:
        Refused: it asks the session, or the graph, for something.
    """
    methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
    names = module.names
    home = names.defining_scope(owner.name, names.scope_of_name[_class_name(call)])
    mentions = names.mentions(owner.name, home) if home is not None else []
    if [one for one in mentions if isinstance(one.ctx, ast.Load)] != [_class_name(call)]:
        text = f"`{owner.name}` is a hook of several sessions"
        raise Refused(module, owner, text)
    asks: ast.Return | None = None
    for method in (one for name, one in methods.items() if name in _METHODS):
        for part in walk(method):
            if isinstance(part, ast.Return) and part.value is not None:
                asked = name_of(module, part.value) == "train.SessionRunArgs"
                if method.name != "before_run" or not asked or asks or part not in method.body:
                    text = f"what `{method.name}` of the hook `{owner.name}` returns"
                    raise Refused(module, part, text, "return `tf.train.SessionRunArgs` at its end")
                asks = part
        given = method.args.args[1:]
        if method.args.vararg or method.args.kwarg or method.args.kwonlyargs:
            raise Refused(module, method, f"the parameters of the hook `{owner.name}`")
        kept = given[1:] if method.name == "after_run" else []
        for parameter in given:
            for name in _mentions(module, method, parameter.arg):
                parent = names.parents[name]
                results = isinstance(parent, ast.Attribute) and parent.attr == "results"
                if parameter in kept and results and asks_before(methods):
                    continue
                text = f"the hook `{owner.name}` uses its `{name.id}`"
                raise Refused(module, name, text, "let it ask for tensors in `before_run`")
    for part in walk(owner):
        if isinstance(part, ast.Call) and part is not (asks.value if asks else None):
            called = name_of(module, part)
            if called and not called.startswith(("logging.", "gfile.")):
                text = f"the hook `{owner.name}` calls `{module.source.code(part.func)}`"
                raise Refused(module, part, text, "take it out of the hook")
    if asks is None:
        return Own(owner, made, methods)
    assert isinstance(asks.value, ast.Call)
    given_args = arguments_of(module, asks.value, ("fetches", "feed_dict", "options"))
    wanted = given_args.get("fetches")
    if set(given_args) != {"fetches"} or wanted is None:
        raise Refused(module, asks, f"what the hook `{owner.name}` fetches cannot be determined")
    parts: list[ast.expr] = [wanted]
    if isinstance(wanted, (ast.List, ast.Tuple)):
        parts = list(wanted.elts)
    elif isinstance(wanted, ast.Dict):
        parts = list(wanted.values)
    for one in parts:
        if not isinstance(one, ast.Name):
            text = f"what the hook `{owner.name}` fetches has no name where the session is made"
            raise Refused(module, one, text, "name the tensor there, and fetch it by that name")
    return Own(owner, made, methods, asks, tuple(parts), wanted)


def asks_before(methods: dict[str, ast.FunctionDef]) -> bool:
    """Whether a hook has a method that is asked what it fetches."""
    return "before_run" in methods


def _class_name(call: ast.Call) -> ast.Name:
    assert isinstance(call.func, ast.Name)
    return call.func


def _mentions(module: Module, method: ast.FunctionDef, name: str) -> list[ast.Name]:
    scope = module.names.scopes[method]
    return [one for one in module.names.mentions(name, scope) if isinstance(one.ctx, ast.Load)]


def own_class_edits(module: Module, hook: Own) -> Iterator[Edit]:
    """A hook's class as a plain one: no base, no parameters but what was fetched."""
    source = module.source
    base = hook.owner.bases[0]
    start, end = source.span(base)
    text = source.text
    opened, closed = text.rindex("(", 0, start), text.index(")", end)
    yield Edit(opened, closed + 1, "")
    for name, method in hook.methods.items():
        if name not in _METHODS or len(method.args.args) < 2:
            continue
        parameters = method.args.args
        start = source.span(parameters[0])[1]
        end = source.span(parameters[-1])[1]
        keeps = name == "after_run" and len(parameters) > 2 and hook.asks is not None
        own = ""
        if keeps:
            last = parameters[-1].arg
            own = ", results"
            for mention in _mentions(module, method, last):
                yield Edit(*source.span(module.names.parents[mention]), "results")
        yield Edit(start, end, own)
    if hook.asks is not None:
        method = hook.methods["before_run"]
        if method.body == [hook.asks]:
            yield Edit(*source.span(hook.asks), "pass")
        else:
            yield Layout(source, hook.asks).replace([])
