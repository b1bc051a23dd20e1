"""An Experiment that `learn_runner.run` runs: its function trains the Estimator and evaluates it.

``return tf.contrib.learn.Experiment(estimator, ...)`` becomes ``estimator.train(...)`` and
``estimator.evaluate(...)``, which is what `train_and_evaluate` does, the one way to run an
Experiment on one machine; and ``learn_runner.run(experiment_fn, run_config=...)`` a call of that
function. A function that only makes it is one with it, and what it hands on by ``**`` to the
Experiment is said there. A strategy of exporting becomes ``estimator.export_savedmodel(...)``,
behind the evaluation.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import Scope
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments, without_paragraph

EXPERIMENT = "experiment"  # the key of what it is in an Estimator's way

_RUN = ("experiment_fn", "output_dir", "schedule", "run_config", "hparams")
_GIVEN = ("output_dir", "run_config", "hparams")  # what `run` gives the function
_EXPERIMENT = (
    "estimator", "train_input_fn", "eval_input_fn", "eval_metrics", "train_steps", "eval_steps",
    "train_monitors", "eval_hooks", "local_eval_frequency", "eval_delay_secs",
    "continuous_eval_throttle_secs", "min_eval_frequency", "delay_workers_by_global_step",
    "export_strategies", "train_steps_per_iteration", "checkpoint_and_export", "saving_listeners",
    "check_interval_secs",
)  # fmt: skip
_OTHERWISE = {"eval_metrics", "checkpoint_and_export", "saving_listeners"}
_STRATEGY = (
    "serving_input_fn", "default_output_alternative_key", "assets_extra", "as_text",
    "exports_to_keep", "strip_default_attrs",
)  # fmt: skip
_FOLDER = "/export/Servo"  # where a strategy exports, in the model's folder
_SCHEDULES = ("train_and_evaluate", "local_run")


def experiment_of(flow: EstimatorFlow) -> ast.Call | None:
    """The Experiment in the module that makes an Estimator."""
    found = (c for c in flow.module.names.calls if _named(flow.module, c, "Experiment"))
    return next(found, None)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one run and the function that makes its Experiment; none for another form."""
    module = flow.module
    runs = [c for c in module.names.calls if _named(module, c, "learn_runner.run")]
    for call in runs:
        found = _Run.of(module, call, graph, 1)
        edits = found.edits() if found is not None else None
        if edits:
            return {module: edits}
    together = _run_again(module, runs, graph)
    if together:
        return {module: together}
    for call in module.names.calls:
        if _named(module, call, "Experiment"):
            edits = _run_here(module, call)
            if edits:
                return {module: edits}
    return {}


def _done(
    module: Module, given: dict[str, ast.expr], statement: ast.stmt, scope: Scope
) -> list[str] | None:
    """What an Experiment does, in the place of the statement that makes it."""
    names, code = module.names, module.source.code
    if "estimator" not in given:
        return None
    if any(not is_none(given[name]) for name in _OTHERWISE & given.keys()):
        return None
    lines = [comment.text for comment in comments(code(statement))]
    estimator = code(given["estimator"])
    if not isinstance(given["estimator"], ast.Name):
        name = names.fresh(scope, "estimator", "model")
        lines.append(f"{name} = {estimator}")
        estimator = name
    exported = _exported(module, given.get("export_strategies"), estimator)
    if exported is None:
        return None
    steps = given.get("eval_steps")
    calls = {
        "train": {
            "input_fn": given.get("train_input_fn"),
            "max_steps": given.get("train_steps"),
            "hooks": given.get("train_monitors"),
        },
        "evaluate": {
            "input_fn": given.get("eval_input_fn"),
            "steps": steps,
            "hooks": given.get("eval_hooks"),
        },
    }
    for method, arguments in calls.items():
        written = [f"{name}={code(v)}" for name, v in arguments.items() if not is_none(v) and v]
        if method == "evaluate" and steps is None:
            written.insert(1, "steps=100")
        lines.append(f"{estimator}.{method}({', '.join(written)})")
    return [*lines, *exported]


def _exported(module: Module, strategies: ast.expr | None, estimator: str) -> list[str] | None:
    """The statement that exports; none where nothing is exported, None for another form."""
    if strategies is None or is_none(strategies):
        return []
    only = strategies
    if isinstance(strategies, (ast.List, ast.Tuple)):
        if len(strategies.elts) != 1:
            return None if strategies.elts else []
        only = strategies.elts[0]
    if not isinstance(only, ast.Call) or not _named(module, only, "make_export_strategy"):
        return None
    given = by_parameter(only, _STRATEGY)
    serving = given.pop("serving_input_fn", None)
    given = {name: node for name, node in given.items() if not is_none(node)}
    if serving is None or not {*given} <= {"assets_extra", "as_text", "exports_to_keep"}:
        return None
    given.pop("exports_to_keep", None)
    style, code = style_at(module, only), module.source.code
    folder = f"{estimator}.model_dir + {style.string(_FOLDER)}"
    arguments = [folder, code(serving), *(f"{name}={code(v)}" for name, v in given.items())]
    return [f"{estimator}.export_savedmodel({', '.join(arguments)})"]


def _run_again(module: Module, calls: list[ast.Call], graph: CallGraph) -> list[Edit] | None:
    """Runs of one function's Experiments, by calls of which each is like the others."""
    runs = [_Run.of(module, call, graph, len(calls)) for call in calls]
    found: dict[tuple[int, int, str], Edit] = {}
    for run in runs:
        edits = run.edits(calls) if run is not None else None
        if run is None or not edits or run.function is not (runs[0] and runs[0].function):
            return None
        found.update({(one.start, one.end, one.new): one for one in edits})
    # The function and the imports are written alike each time; calls are as many as they were.
    places = [(one.start, one.end) for one in found.values()]
    return list(found.values()) if len(set(places)) == len(places) else None


def _run_here(module: Module, call: ast.Call) -> list[Edit] | None:
    """`Experiment(...)`, which a later statement runs (`experiment.train_and_evaluate()`)."""
    names = module.names
    made = names.statement(call)
    run: ast.AST = call
    if isinstance(made, ast.Assign) and made.value is call and len(made.targets) == 1:
        target = made.targets[0]
        scope = names.scope_of_name.get(target) if isinstance(target, ast.Name) else None
        if scope is None or not isinstance(target, ast.Name) or names.scope_at(made) is not scope:
            return None
        mentions = [one for one in names.mentions(target.id, scope) if one is not target]
        if len(mentions) != 1:
            return None
        (run,) = mentions
    method = names.parents[run]
    runs = names.parents[method]
    statement = names.statement(run)
    if not isinstance(method, ast.Attribute) or method.attr not in _SCHEDULES:
        return None
    if not isinstance(runs, ast.Call) or runs.func is not method or runs.args or runs.keywords:
        return None
    if not isinstance(statement, ast.Expr) or statement.value is not runs:
        return None
    if statement is not made and statement not in names.block(made):
        return None
    between = names.block(made)[names.block(made).index(made) + 1 :]
    if statement is not made and between[:1] != [statement]:
        return None  # what it is given may be another thing by then
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    lines = _done(module, by_parameter(call, _EXPERIMENT), made, names.scope_at(made))
    layouts = [Layout(module.source, one) for one in dict.fromkeys((made, statement))]
    if lines is None or not all(layout.owns_lines for layout in layouts):
        return None
    return [layouts[-1].replace(lines), *(layout.replace([]) for layout in layouts[:-1])]


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """What an Experiment does besides."""
    experiment = experiment_of(flow)
    assert experiment is not None
    text = "the model is evaluated once, after training; an Experiment evaluated checkpoints too"
    found = [Diagnostic(EXPERIMENT, Place(flow.module, experiment), text, code="MGPU401")]
    for call in flow.module.names.calls:
        if _named(flow.module, call, "make_export_strategy"):
            keeps = by_parameter(call, _STRATEGY).get("exports_to_keep")
            if keeps is None or not is_none(keeps):
                text = "earlier exports stay: an export strategy deleted all but the newest ones"
                found.append(Diagnostic(EXPERIMENT, Place(flow.module, call), text, code="MGPU401"))
    return found


def _named(module: Module, call: ast.Call, name: str) -> bool:
    found = tensorflow_name(module, call.func)
    return found.startswith("contrib.learn.") and f".{found}".endswith(f".{name}")


@record(frozen=True, eq=False)
class _Run:
    """A call of `learn_runner.run`.

    ``function`` makes the Experiment. Where a call, ``made``, of a function gives it, ``maker`` is
    that function.
    """

    module: Module
    call: ast.Call
    function: ast.FunctionDef
    maker: ast.FunctionDef | None
    made: ast.Call | None

    @classmethod
    def of(cls, module: Module, call: ast.Call, graph: CallGraph, runs: int) -> _Run | None:
        given = by_parameter(call, _RUN).get("experiment_fn")
        made = given if isinstance(given, ast.Call) else None
        named = made.func if made is not None else given
        found = graph.target(module, named) if named is not None else None
        if found is None or found.module is not module or found.owner is not None:
            return None
        node = found.node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return None
        if len(module.names.by_id.get(node.name, ())) != runs:  # something else takes it, too
            return None
        if made is None:
            return cls(module, call, node, None, None)
        inner = node.body[-2] if len(node.body) > 1 else None
        if not isinstance(inner, ast.FunctionDef) or inner.decorator_list:
            return None
        end = node.body[-1]
        returned = end.value if isinstance(end, ast.Return) else None
        alone = isinstance(returned, ast.Name) and returned.id == inner.name
        own = module.names.scopes
        apart = not own[node].bindings.keys() & own[inner].bindings.keys()
        once = len(module.names.by_id.get(inner.name, ())) == 1
        return cls(module, call, inner, node, made) if alone and apart and once else None

    def edits(self, runs: Sequence[ast.Call] = ()) -> list[Edit] | None:
        """All edits; None where something is done that they do not say.

        ``runs`` are all calls that run an Experiment of the function.
        """
        names, source = self.module.names, self.module.source
        given = by_parameter(self.call, _RUN)
        statement = names.statement(self.call)
        schedule = given.pop("schedule", None)
        told = schedule is None or is_none(schedule) or constant(schedule) in _SCHEDULES
        if "**" in given or not told:
            return None
        if not isinstance(statement, ast.Expr) or statement.value is not self.call:
            return None
        given = {name: node for name, node in given.items() if name in _GIVEN and not is_none(node)}
        wanted = ["output_dir"] if "output_dir" in given else ["run_config", "hparams"]
        own = self.function.args
        around = self.maker.args if self.maker is not None else None
        if any(a is not None and (a.vararg or a.kwonlyargs) for a in (own, around)) or own.kwarg:
            return None
        if around is not None and around.kwarg and self._handed_on() is None:
            return None
        if [a.arg for a in own.args] != wanted or own.defaults or wanted[0] not in given:
            return None
        trains = self._trains()
        if trains is None:
            return None
        unused = self._unused(self.function, "hparams") if "hparams" not in given else None
        kept = [name for name in wanted if unused is None or name != "hparams"]
        name = names.fresh(names.module_scope, "run_experiment")
        arguments = [f"{one}={source.code(given[one]) if one in given else None}" for one in kept]
        if self.made is not None:
            handed = self._handed_on() or []
            before = [*self.made.args, *(k for k in self.made.keywords if k not in handed)]
            arguments = [*(source.code(one) for one in before), *arguments]
        start, end = source.span(self.call)
        indent = source.indent_of(statement)
        column = source.place(start)[1] - 1
        run = style_at(self.module, self.call).call(name, arguments, indent, column)
        block = Block(source, source.indent_of(self.maker or self.function))
        written = {**trains, **{statement: [] for statement in unused or ()}}
        function = self._function(block, name, kept, written)
        return [Edit(start, end, run), function, *self._imports(runs or [self.call])]

    def _handed_on(self) -> list[ast.keyword] | None:
        """What the maker's `**` is given, where the Experiment gets all of it.

        None where there is none, something else is done with it, or it would mean another thing
        in the function.
        """
        if self.maker is None or self.made is None or self.maker.args.kwarg is None:
            return None
        names = self.module.names
        mentions = names.mentions(self.maker.args.kwarg.arg, names.scopes[self.maker])
        around = names.parents[mentions[0]] if len(mentions) == 1 else None
        taker = names.parents[around] if isinstance(around, ast.keyword) else None
        if not isinstance(taker, ast.Call) or not _named(self.module, taker, "Experiment"):
            return None
        own = {one.arg for one in self.maker.args.args}
        found = [one for one in self.made.keywords if one.arg not in own]
        inside = {*names.scopes[self.maker].bindings, *names.scopes[self.function].bindings}
        used = {n.id for one in found for n in ast.walk(one) if isinstance(n, ast.Name)}
        return None if used & inside or any(one.arg is None for one in found) else found

    def _unused(self, function: ast.FunctionDef, name: str) -> list[ast.stmt] | None:
        """The statements that do nothing but name a parameter; None where others do."""
        names = self.module.names
        mentions = names.mentions(name, names.scopes[function])
        found = [names.statement(mention) for mention in mentions]
        return (
            found if all(isinstance(s, ast.Delete) and len(s.targets) == 1 for s in found) else None
        )

    def _trains(self) -> dict[ast.stmt, list[str]] | None:
        """The last statements of the function, with those that do what the Experiment does."""
        module, names = self.module, self.module.names
        *before, last = self.function.body
        value = last.value if isinstance(last, ast.Return) else None
        gone = {last: [""]}
        if isinstance(value, ast.Name) and before:
            made = before[-1]
            if not isinstance(made, ast.Assign) or names.only_value(value) is not made.value:
                return None
            value, gone = made.value, {made: [""], last: []}
        if not isinstance(value, ast.Call) or not _named(module, value, "Experiment"):
            return None
        if any(isinstance(n, (ast.Return, ast.Yield)) for s in before for n in ast.walk(s)):
            return None
        statement = next(iter(gone))
        given = self._given(value)
        scope = names.scopes[self.function]
        lines = _done(module, given, statement, scope) if given is not None else None
        if lines is None:
            return None
        gone[statement] = lines
        return gone

    def _given(self, value: ast.Call) -> dict[str, ast.expr] | None:
        """What the Experiment is given, by its parameters; None where that is not all seen."""
        handed = self._handed_on()
        if any(keyword.arg is None for keyword in value.keywords) and handed is None:
            return None
        stars = [keyword for keyword in value.keywords if keyword.arg is None]
        given = by_parameter(value, _EXPERIMENT)
        given.pop("**", None)
        if len(stars) > (0 if handed is None else 1):
            return None
        for one in handed or ():
            if one.arg is None or one.arg not in _EXPERIMENT or one.arg in given:
                return None
            given[one.arg] = one.value
        return given

    def _function(
        self, block: Block, name: str, kept: list[str], written: dict[ast.stmt, list[str]]
    ) -> Edit:
        """The function that runs the Experiment, in the place of the one that makes it."""
        source, outer = self.module.source, self.maker or self.function
        own = [source.code(one) for one in outer.args.args] if self.maker is not None else []
        block.line(f"def {name}({', '.join([*own, *kept])}):")
        body = [*self.maker.body[:-2], *self.function.body] if self.maker else self.function.body
        for statement in body:
            if statement not in written:
                block.statement(statement, (), 1)
                continue
            block.comments(statement, 1)
            for line in written[statement]:
                block.line(line, 1)
        start, end = Layout(source, outer).line_start, Layout(source, outer).next_line
        return Edit(start, end, block.text())

    def _imports(self, runs: Sequence[ast.Call]) -> list[Edit]:
        """The imports of `learn_runner` and the like, which nothing names any more."""
        named = list(runs)
        for one in (self._handed_on() or []) + ([] if self.made is None else self.made.keywords):
            named += [n for n in ast.walk(one) if isinstance(n, ast.Call)]
        gone: dict[ast.ImportFrom, list[str]] = {}
        for call in named:
            names = self.module.names
            root: ast.expr = call.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if not tensorflow_name(self.module, call.func).startswith("contrib.learn."):
                continue
            binding = names.only_binding(root) if isinstance(root, ast.Name) else None
            statement = binding.node if binding is not None else None
            if not isinstance(statement, ast.ImportFrom) or not isinstance(root, ast.Name):
                continue
            mentions = names.by_id.get(root.id, ())
            if len(mentions) == len(runs) and root.id not in gone.get(statement, ()):
                gone.setdefault(statement, []).append(root.id)
        source, found = self.module.source, []
        for statement, ids in gone.items():
            if len(statement.names) == len(ids):
                found.append(without_paragraph(source, statement))
            else:
                aliases = [a for a in statement.names if (a.asname or a.name) in ids]
                found.append(import_edit(source, statement, aliases))
        return found
