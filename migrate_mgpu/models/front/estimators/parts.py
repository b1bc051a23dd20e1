"""An Estimator and everything that belongs to it, as found in the run."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import bind
from migrate_mgpu.analysis.value_flow import Value
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES

# Keys of diagnostics that something decides by.
INSIDE_STATEMENT = "estimator-inside-statement"

CUSTOM, CANNED, KERAS = "custom", "canned", "keras"

TOWERS = "TowerStrategy"  # what restating/towers.py makes of `replicate_model_fn`
STRATEGIES = {
    TOWERS,
    "MirroredStrategy",
    "OneDeviceStrategy",
    "CollectiveAllReduceStrategy",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "TPUStrategy",
    "CentralStorageStrategy",
}


@record(frozen=True, eq=False)
class Made:
    """A call of TensorFlow's that makes something, with its arguments by name.

    Where a function does nothing but return it, ``helper`` is that function, ``outer`` the
    one call of it, and the arguments are those that are known at that call.
    """

    module: Module
    call: ast.Call
    kind: str  # "RunConfig", "TrainSpec", "MirroredStrategy" ...
    arguments: dict[str, ast.expr]
    helper: Function | None = None
    outer: ast.Call | None = None

    @property
    def statement(self) -> ast.stmt:
        return self.module.names.statement(self.outer or self.call)


@record(eq=False)
class StrategyFlow:
    """What an argument such as ``train_distribute`` may be.

    ``made`` are the constructors, ``nones`` the places that say there is no strategy.
    """

    module: Module
    expression: ast.expr
    made: list[Made] = field(default_factory=list)
    nones: list[Value] = field(default_factory=list)


@record(eq=False)
class Configuration:
    """A RunConfig with its ``replace`` calls; several where branches make their own."""

    made: list[Made] = field(default_factory=list)
    replaced: list[Made] = field(default_factory=list)  # config.replace(...)
    train: list[StrategyFlow] = field(default_factory=list)
    eval: list[StrategyFlow] = field(default_factory=list)
    reads: list[Look] = field(default_factory=list)  # config.model_dir
    printed: list[Value] = field(default_factory=list)  # print(config)

    def values(self, name: str) -> list[tuple[Module, ast.expr]]:
        """Everything that an argument is set to."""
        return [
            (made.module, made.arguments[name])
            for made in (*self.made, *self.replaced)
            if name in made.arguments
        ]


@record(eq=False)
class Use:
    """What is done with an Estimator: a call of a method, or ``train_and_evaluate``.

    ``receiver`` is the expression that the Estimator is there, ``known_as`` the name of
    the Keras model that takes its place, where that has a name already.
    """

    module: Module
    call: ast.Call
    kind: str  # train, evaluate, predict, train_and_evaluate, export
    receiver: ast.expr
    arguments: dict[str, ast.expr]
    train_spec: Made | None = None
    eval_spec: Made | None = None
    exporters: tuple[Made, ...] = ()
    known_as: str = ""

    @property
    def shown(self) -> str:
        """How the model is known there."""
        return self.known_as or self.module.source.code(self.receiver)


@record(frozen=True, eq=False)
class Look:
    """An expression that asks an Estimator for its folder, its latest checkpoint or its step.

    Of a RunConfig, one that reads the setting ``kind``.
    """

    module: Module
    node: ast.expr
    kind: str  # model_dir, eval_dir, latest_checkpoint, global_step


@record(eq=False)
class EstimatorFlow:
    """One Estimator, from its constructor to its last use.

    ``function`` is the model_fn, ``spelled`` the expression that names it, ``bound`` what
    ``functools.partial`` or a lambda fixes of it by name, ``wrapped`` the call of it in
    such a lambda. ``doubts`` are the places that may have something else, with what it is,
    ``alternatives`` the Estimators among that: a run makes one of them.
    """

    module: Module
    call: ast.Call
    kind: str
    class_name: str
    arguments: dict[str, ast.expr] = field(default_factory=dict)
    function: Function | None = None
    bound: dict[str, ast.expr] = field(default_factory=dict)
    spelled: ast.expr | None = None
    wrapped: ast.Call | None = None
    config: Configuration | None = None
    uses: list[Use] = field(default_factory=list)
    exports: list[Use] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    doubts: list[tuple[Module, ast.expr, ast.expr | None]] = field(default_factory=list)
    alternatives: list[EstimatorFlow] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def statement(self) -> ast.stmt:
        return self.module.names.statement(self.call)

    @property
    def params(self) -> ast.expr | None:
        return self.arguments.get("params")

    def problem(
        self, module: Module, node: ast.AST, reason: str, advice: str = "", key: str = ""
    ) -> None:
        self.problems.append(Refused(module, node, reason, advice, key).diagnostic)

    @property
    def modules(self) -> list[Module]:
        """Every module that the flow touches, without the input functions'."""
        found = [self.module, *(use.module for use in (*self.uses, *self.exports))]
        if self.function is not None:
            found.append(self.function.module)
        if self.config is not None:
            found += [made.module for made in (*self.config.made, *self.config.replaced)]
            found += [look.module for look in self.config.reads]
            for strategy in (*self.config.train, *self.config.eval):
                found += [strategy.module, *(made.module for made in strategy.made)]
        return list(dict.fromkeys(found))

    @property
    def splits(self) -> bool:
        """Whether its replicas are towers, which share a batch; else each draws its own."""
        strategies = self.config.train if self.config is not None else []
        return any(made.kind == TOWERS for strategy in strategies for made in strategy.made)

    @property
    def predicts(self) -> bool:
        """Whether anything asks for the model's predictions: a SavedModel gives them as well."""
        asks = [use for use in self.uses if use.kind == "predict" or use.exporters]
        return bool(self.exports or asks)


def constructed(module: Module, call: ast.Call) -> Made | None:
    """A call of a constructor that Estimator programs use (RunConfig, a spec, a strategy)."""
    name = tensorflow_name(module, call.func)
    last = name.rpartition(".")[2]
    if "distribute" in name and last in STRATEGIES:
        contrib = name.startswith("contrib.")
        signature = SIGNATURES.get(("contrib." if contrib else "") + last, ())
        return Made(module, call, last, bind(module, call, signature))
    if name.startswith(("estimator.", "contrib.learn.", "contrib.estimator.")):
        if last in ("RunConfig", "TrainSpec", "EvalSpec"):
            return Made(module, call, last, bind(module, call, SIGNATURES[last]))
    return None
