"""An Estimator and everything that belongs to it, as found in the run."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.value_flow import Value
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES
from migrate_mgpu.models.ir import Construction, Distribution, Driving, Expression, Query

# Keys of diagnostics that something decides by.
INSIDE_STATEMENT = "estimator-inside-statement"
CONTRIB_LEARN = "estimator-of-contrib-learn"
CONTRIB_CANNED = "canned-of-contrib-learn"
ADDED_METRICS = "metrics-added-to-an-estimator"
OTHER_ESTIMATOR = "another-estimator"
USED_ELSEWHERE = "estimator-used-in-another-function"
MADE_ELSEWHERE = "made-in-another-function"  # a spec, an exporter

CUSTOM, CANNED, KERAS = "custom", "canned", "keras"


@record(frozen=True, eq=False)
class RunConfig(Construction):
    """A call that makes a RunConfig, or changes one (``replace``).

    Where a function does nothing but return it, ``helper`` is that function, ``outer`` the
    one call of it, and the arguments are those that are known at that call.
    """

    helper: Function | None = None
    outer: ast.Call | None = None

    @property
    def place(self) -> ast.Call:
        """The call that stands for it in the code that configures an Estimator."""
        return self.outer or self.node

    @property
    def statement(self) -> ast.stmt:
        return self.module.names.statement(self.place)


@record(eq=False)
class Configuration:
    """A RunConfig with its ``replace`` calls; several where branches make their own."""

    made: list[RunConfig] = field(default_factory=list)
    replaced: list[RunConfig] = field(default_factory=list)  # config.replace(...)
    reads: list[Query] = field(default_factory=list)  # config.model_dir
    printed: list[Value] = field(default_factory=list)  # print(config)

    @property
    def all(self) -> list[RunConfig]:
        return [*self.made, *self.replaced]

    def values(self, name: str) -> list[Expression]:
        """Everything that an argument is set to."""
        given = [one for one in self.all if name in one.arguments]
        return [Expression(one.module, one.arguments[name]) for one in given]


@record(eq=False)
class EstimatorFlow:
    """One Estimator, from its constructor to its last use.

    ``function`` is the model_fn, ``spelled`` the expression that names it, ``bound`` what
    ``functools.partial`` or a lambda fixes of it by name, ``wrapped`` the call of it in
    such a lambda. ``added`` is the call around it that adds metrics to it. ``doubts`` are
    the places that may have something else, with what it is, ``alternatives`` the
    Estimators among that: a run makes one of them. ``together`` are those that a function is
    given in other calls, ``served`` those whose exports ask the same receiver function.
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
    added: ast.Call | None = None
    config: Configuration = field(default_factory=Configuration)
    distribution: Distribution = field(default_factory=Distribution)
    driving: Driving = field(default_factory=Driving)
    doubts: list[tuple[Module, ast.expr, ast.expr | None]] = field(default_factory=list)
    alternatives: list[EstimatorFlow] = field(default_factory=list)
    together: list[EstimatorFlow] = field(default_factory=list)
    served: list[EstimatorFlow] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def statement(self) -> ast.stmt:
        return self.module.names.statement(self.call)

    @property
    def made(self) -> ast.Call:
        """The call whose value is what the program trains."""
        return self.added or self.call

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
        found = [self.module]
        found += [call.module for call in (*self.driving.calls, *self.driving.exports)]
        if self.function is not None:
            found.append(self.function.module)
        found += [*(one.module for one in self.config.all), *(q.module for q in self.config.reads)]
        for choice in self.distribution.choices:
            found += [choice.module, *(strategy.module for strategy in choice.strategies)]
        return list(dict.fromkeys(found))

    @property
    def combines(self) -> bool:
        """Whether it is a canned one of a linear and a dense part."""
        return self.class_name.startswith("DNNLinearCombined")


def constructed(module: Module, node: ast.expr | None, kind: str) -> Construction | None:
    """A call of a constructor of Estimator programs (``RunConfig``, a spec)."""
    name = tensorflow_name(module, node.func) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or name.rpartition(".")[2] != kind:
        return None
    if not name.startswith(("estimator.", "contrib.learn.", "contrib.estimator.")):
        return None
    return Construction(kind, module, node, arguments_of(module, node, SIGNATURES[kind]))
