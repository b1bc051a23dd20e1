"""The strategy and the RunConfig of an Estimator: what stands in their place in TF2."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.carriers import Carriers
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import is_showing
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope, constant, is_none
from migrate_mgpu.analysis.style import root, style_at
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.run_config import LEFT_OUT, REFUSED
from migrate_mgpu.core.findings import NUMBERS
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow, RunConfig
from migrate_mgpu.models.front.estimators.settings import configures, unset
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES
from migrate_mgpu.models.front.rewriters import RunConfigRewriter, StrategyRewriter
from migrate_mgpu.models.front.strategies import read_strategy
from migrate_mgpu.models.ir import Strategy, StrategyChoice
from migrate_mgpu.models.keras.driver.config_arguments import (
    ConfigArgument,
    config_arguments,
    drop,
    free_name,
    rename_all,
)
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.idle import without_idle, without_prints
from migrate_mgpu.models.keras.driver.strategies import SHARDS, strategy_edit, strategy_text
from migrate_mgpu.models.properties import row_of, strategies_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments


class Setup:
    """Rewrites strategies and RunConfigs; ``strategy`` is how the strategy is known afterwards."""

    def __init__(self, flow: EstimatorFlow, changes: DriverEdits, graph: CallGraph) -> None:
        self.flow = flow
        self.changes = changes
        self.values = ValueFlow(graph)
        self._removed: set[ast.stmt] = set()
        self.strategy: str | None = None  # the expression of the strategy where the model is made
        self.outer: str | None = None  # and where the RunConfig is, if that is in another function
        self.passed: list[ConfigArgument] = []
        self.carriers: Carriers | None = None
        self._chosen: set[ast.expr] = set()
        self.bare: list[Value] = []  # RunConfigs without a strategy, where others have one

    def run(self) -> None:
        self._strategies()
        self._configuration()
        without_prints(self.flow.config.printed, self.changes)
        without_idle(self.flow, self.values, self.changes)

    # -- strategies --------------------------------------------------------

    def _strategies(self) -> None:
        choices = self.flow.distribution.choices
        for choice in choices:
            for strategy in choice.strategies:
                self._strategy(strategy, any(strategy.node is one.node for one in choices))
                if row_of(strategy).workers:
                    text = (
                        "Keras 3 (TF 2.16 and newer) trains with one worker only: its fit stops "
                        "with an error where TF_CONFIG names several"
                    )
                    advice = "use TF 2.15, and compare by migrate-mgpu parity --workers 2"
                    self.changes.note(strategy.module, strategy.node, text, advice)
            for none in choice.absent:
                assert none.node is not None
                start, end = none.module.source.span(none.node)
                tf = root(none.module, none.node)
                self.changes.edit(none.module, Edit(start, end, f"{tf}.distribute.get_strategy()"))
            self._only_configures(choice)
        self._unused_strategies()

    def _strategy(self, strategy: Strategy, in_place: bool) -> None:
        """``in_place``: it stands in a RunConfig, whose lines say it."""
        module, node = strategy.module, strategy.node
        shards = strategy.arguments.get(SHARDS)
        if shards is not None and constant(shards) is not False:
            text = f"`{SHARDS}` is left out: it divides data among the workers of a cluster, and "
            text += "TF2's MirroredStrategy is of one process"
            self.changes.note(module, shards, text)
        edit = None if in_place else strategy_edit(strategy, style_at(module, node))
        if edit is not None:
            self.changes.edit(module, edit)
        self.changes.replaced(module, node, StrategyRewriter)

    def _unused_strategies(self) -> None:
        """Strategies that are made and configure no Estimator: TF2's, as idle as before."""
        used = {one.node for one in strategies_of(self.flow.distribution.choices)}
        for module in self.flow.modules:
            for call in module.names.calls:
                strategy = read_strategy(module, call)
                if strategy is None or call in self.changes.moved or call in used:
                    continue
                if isinstance(module.names.parents[call], ast.keyword):
                    continue  # given to another Estimator's RunConfig in place
                self._strategy(strategy, False)

    def _only_configures(self, choice: StrategyChoice) -> None:
        """Uses of a strategy besides RunConfig: what says the same in TF2 may stay."""
        for strategy in choice.strategies:
            for mention in self.values.uses(strategy.module, strategy.node):
                module, node = mention.module, mention.node
                assert node is not None
                parent = module.names.parents[node]
                if isinstance(parent, ast.Attribute):
                    if parent.attr in ("num_replicas_in_sync", "scope", "extended"):
                        continue
                    if parent.attr == "num_towers":
                        start, end = module.source.span(parent)
                        text = f"{module.source.code(node)}.num_replicas_in_sync"
                        self.changes.edit(module, Edit(start, end, text))
                        continue
                if isinstance(parent, (ast.Expr, ast.FormattedValue)):
                    continue
                call = module.names.taker(node)
                if call is not None:
                    configs = {one.node for one in self.flow.config.all}
                    if call in configs or is_showing(module, call):
                        continue
                if choice.absent and isinstance(parent, (ast.Compare, ast.If, ast.IfExp)):
                    raise Refused(
                        module, node, "the program asks whether it has a strategy",
                        "ask for its num_replicas_in_sync",
                    )  # fmt: skip

    # -- RunConfig ---------------------------------------------------------

    def _configuration(self) -> None:
        config, distribution = self.flow.config, self.flow.distribution
        for name, advice in REFUSED.items():
            for value in config.values(name):
                text = f"`{name}` of RunConfig has no form in Keras"
                raise Refused(value.module, value.node, text, advice)
        if distribution.evaluation and not distribution.training:
            choice = distribution.evaluation[0]
            raise Refused(choice.module, choice.node, "evaluation alone is distributed")
        self.passed = config_arguments(config, self.values)
        self._common_strategy()
        self._bare_lines()
        places = [Value(one.module, one.place) for one in config.all]
        self.carriers = Carriers(places, self.values, self.changes, "RunConfig")
        for one in config.all:
            self._config_goes(one)
        self.carriers.go()
        for passed in {(h.function, h.name): h for h in self.passed if not self.outer}.values():
            for module, edit in drop(passed, self.values):
                self.changes.edit(module, edit)
        for helper in dict.fromkeys(one.helper for one in config.made):
            if helper is None:
                continue
            layout = Layout(helper.module.source, helper.node)
            self.changes.edit(helper.module, layout.replace([]))
            self.changes.gone.add(helper.node)

    def _common_strategy(self) -> None:
        """The one expression by which the strategy is known where the model is made."""
        flow, config, choices = self.flow, self.flow.config, self.flow.distribution.training
        texts = {choice.module.source.code(choice.node) for choice in choices}
        if not choices:
            return
        first = choices[0]
        self.bare = unset(flow, self.values, "train_distribute")
        names = flow.module.names
        scope = names.scope_at(flow.statement)
        if len(texts) == 1 and self._visible(first, flow.module, flow.call):
            if not self.bare or self._only_for_this(first, scope):
                self.strategy = texts.pop()
                return
        bare = [(value.module, value.node) for value in self.bare]
        places = [self._module_scope(one) for one in config.all]
        places += [(m, m.names.scope_at(n)) for m, n in bare if n is not None]
        if any(place != (flow.module, scope) for place in places):
            simple = len(config.made) == 1 and not config.replaced and not bare
            if simple and self._fits_parameters(first):
                return
            raise Refused(
                first.module, first.node, "the strategy is not known where the model is made",
                "make both in one function",
            )  # fmt: skip
        self.strategy = names.fresh(scope, "strategy", "distribution", "distribute_strategy")

    def _only_for_this(self, choice: StrategyChoice, scope: Scope) -> bool:
        """Whether a variable has one strategy, and nothing but the RunConfigs reads it."""
        node = choice.node
        if not isinstance(node, ast.Name) or len(scope.bindings.get(node.id, ())) != 1:
            return False
        reads = self.values.reads(self.flow.module, node.id, scope)
        return {read.node for read in reads} <= {
            one.node for one in self.flow.distribution.training
        }

    def _bare_lines(self) -> None:
        """`config = None` where the model has no strategy: TF2's default one."""
        for value in self.bare:
            module, node = value.module, value.node
            if not value.is_none:
                continue
            statement = module.names.statement(node) if node is not None else None
            if node is not None and _choice(module, node) is not None:
                continue
            mentions = self.values.uses(module, node) if node is not None else []
            if (
                not isinstance(statement, ast.Assign)
                or statement.value is not node
                or any(one.node is None or not configures(one.module, one.node) for one in mentions)
            ):
                raise Refused(
                    module, node or self.flow.call, "there may be no RunConfig here, so no "
                    "strategy", "make a RunConfig without a strategy",
                )  # fmt: skip
            line = f"{self.strategy} = {root(module, statement)}.distribute.get_strategy()"
            self.changes.edit(module, Layout(module.source, statement).replace([line]))

    def _fits_parameters(self, choice: StrategyChoice) -> bool:
        """Whether the functions that got the RunConfig can get the strategy in its place."""
        flow = self.flow
        enclosing = self.values.graph.enclosing(flow.module, flow.call)
        functions = [one.function for one in self.passed]
        if enclosing is None or functions.count(enclosing) != 1:
            return False
        made = flow.config.made[0]
        node, names = choice.node, made.module.names
        self.strategy = free_name(self.passed)
        self.outer = self.strategy
        if isinstance(node, ast.Name) and choice.module is made.module:
            if self._visible(choice, made.module, made.statement):
                self.outer = node.id
        home = names.scope_at(made.statement)
        if self.outer == self.strategy and names.defining_scope(self.outer, home) is not None:
            if not (isinstance(node, ast.Name) and node.id == self.outer):
                self.outer = names.fresh(home, "distribution", "run_strategy", "replicas")
        for function in functions:
            calls = self.values.calls(function) or ()
            if len(calls) != sum(one.function == function for one in self.passed):
                return False  # one of them is called without
        for module, edit in rename_all(self.passed, self.values, self.strategy, self.outer):
            self.changes.edit(module, edit)
        return True

    def given_at(self, module: Module, place: ast.AST) -> str | None:
        """The strategy's name in a function that gets it in the RunConfig's place, or gives it."""
        config, scope = self.flow.config, module.names.scope_at(place)
        if self.outer is None:
            return None
        if any(scope.function() is one.function.node for one in self.passed):
            return self.strategy
        return self.outer if self._module_scope(config.made[0]) == (module, scope) else None

    def _module_scope(self, made: RunConfig) -> tuple[Module, object]:
        return made.module, made.module.names.scope_at(made.statement)

    def _visible(self, choice: StrategyChoice, module: Module, place: ast.AST) -> bool:
        """Whether a strategy's expression is a variable that means the same at a place."""
        node = choice.node
        if choice.module is not module or not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return False
        names = module.names
        home = names.defining_scope(base.id, names.scope_of_name[base])
        return home is not None and home is names.defining_scope(base.id, names.scope_at(place))

    def _config_goes(self, made: RunConfig) -> None:
        """A statement that made a RunConfig: what it said besides is said on its own."""
        module = made.module
        self.changes.configs.add(made.node)
        self.changes.replaced(made.module, made.node, RunConfigRewriter)
        statement = made.statement
        lines = self._config_lines(made)
        layout = Layout(module.source, statement)
        call = made.place
        choice = _choice(module, call)
        if choice is not None:
            if choice in self._chosen:
                return
            self._chosen.add(choice)
            with_strategy = self.strategy is not None
            lines = (
                self._chosen_line(made, choice) if with_strategy else self._branches(made, choice)
            )
        inline = any(call is one.argument for one in self.passed)
        if inline or (statement is self.flow.statement and module is self.flow.module):
            if lines:
                self.changes.edit(module, layout.insert_before(lines))
            return
        if statement in self._removed:
            return
        self._removed.add(statement)
        assert self.carriers is not None
        lines = [*lines, *self.carriers.rest(module, call)]
        kept = [c.text for c in comments(module.source.code(statement))]
        if layout.trailing_comment:
            kept.append(layout.trailing_comment)
        block = module.names.block(statement)
        if not lines:
            self.changes.gone.add(statement)
            if all(other in self.changes.gone for other in block):
                lines = ["pass"]
        self.changes.edit(module, layout.replace([*kept, *lines]))

    def _branches(self, made: RunConfig, choice: ast.expr) -> list[str]:
        """What chosen RunConfigs say besides, under an `if`."""
        module, unit = made.module, made.module.source.indent_unit
        configs = {one.place: one for one in self.flow.config.all}
        said = {node: self._config_lines(configs[node]) for node in ast.walk(choice)
                if isinstance(node, ast.Call) and node in configs}  # fmt: skip
        if not any(said.values()):
            return []
        arms = [choice.body, choice.orelse] if isinstance(choice, ast.IfExp) else []
        if not arms or not all(arm in said or is_none(arm) for arm in arms):
            raise Refused(
                module, choice, "a RunConfig is chosen in an expression",
                "choose it by `if`, in separate statements",
            )  # fmt: skip
        assert isinstance(choice, ast.IfExp)
        body, orelse = (
            [unit + line for line in said.get(arm, [])]  # type: ignore[call-overload]
            for arm in arms
        )
        test = text_of(module, choice.test)
        if not body:
            return [f"if not ({test}):", *orelse]
        return [f"if {test}:", *body, *(["else:", *orelse] if orelse else [])]

    def _chosen_line(self, made: RunConfig, choice: ast.expr) -> list[str]:
        """`strategy = A if several else B` for RunConfigs that are chosen in one expression."""
        module, name = made.module, self.outer or self.strategy
        told = {"train_distribute", *LEFT_OUT}
        configs = {one.place: one for one in self.flow.config.all}

        def written(node: ast.expr) -> str:
            if isinstance(node, ast.IfExp):
                test = text_of(module, node.test)
                return f"{written(node.body)} if {test} else {written(node.orelse)}"
            one = configs.get(node) if isinstance(node, ast.Call) else None
            none = isinstance(node, ast.Constant) and node.value is None
            if not none and (one is None or self.strategy is None or one.arguments.keys() - told):
                raise Refused(
                    module, node, "a RunConfig is chosen in an expression",
                    "choose it by `if`, in separate statements",
                )  # fmt: skip
            given = one.arguments.get("train_distribute") if one is not None else None
            return self._strategy_text(module, given, one or made)

        text = written(choice)
        return [f"{name} = {text}"] if text != name else []

    def _config_lines(self, made: RunConfig) -> list[str]:
        module, arguments = made.module, made.arguments
        lines: list[str] = []
        if "tf_random_seed" in arguments:
            tf = root(module, made.node)
            seed = text_of(module, arguments["tf_random_seed"])
            lines.append(f"{tf}.random.set_seed({seed})")
            text = "the same seed draws other numbers in TF2 than in TF1"
            self.changes.note(module, arguments["tf_random_seed"], text, NUMBERS)
        for name, advice in LEFT_OUT.items():
            if name in arguments:
                self.changes.note(module, arguments[name], f"`{name}` is left out{advice}")
        for name, value in arguments.items():
            if name not in SIGNATURES["RunConfig"]:
                raise Refused(module, value, f"`{name}` of RunConfig is not known")
        node = arguments.get("train_distribute")
        bare = any(made.node is value.node for value in self.bare)
        if self.strategy is not None and (node is not None or bare):
            written = self._strategy_text(module, node, made)
            name = self.outer or self.strategy
            if written != name:
                lines.append(f"{name} = {written}")
        return lines

    def _strategy_text(self, module: Module, node: ast.expr | None, made: RunConfig) -> str:
        style = style_at(module, made.node)
        if node is None:
            return f"{style.tensorflow}.distribute.get_strategy()"
        for strategy in strategies_of(self.flow.distribution.training):
            if strategy.node is node:
                return strategy_text(strategy, style)
        return text_of(module, node)


def _choice(module: Module, node: ast.expr) -> ast.expr | None:
    """The outermost expression that a RunConfig is chosen in: `A if x else B`, `A or B`."""
    found = None
    parent = module.names.parents[node]
    while isinstance(parent, (ast.IfExp, ast.BoolOp)):
        found, parent = parent, module.names.parents[parent]
    return found
