"""The strategy and the RunConfig of an Estimator: what stands in their place in TF2."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.carriers import Carriers
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import is_showing
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope, is_none
from migrate_mgpu.analysis.style import root, style_at
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.run_config import LEFT_OUT, REFUSED
from migrate_mgpu.models.front.estimators.parts import (
    STRATEGIES,
    EstimatorFlow,
    Made,
    StrategyFlow,
    constructed,
)
from migrate_mgpu.models.front.estimators.settings import configures, unset
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES
from migrate_mgpu.models.front.rewriters import RunConfigRewriter, StrategyRewriter
from migrate_mgpu.models.keras.driver.drive import Drive, text_of
from migrate_mgpu.models.keras.driver.handed import (
    Handover,
    drop,
    free_name,
    handovers,
    rename_all,
)
from migrate_mgpu.models.keras.driver.idle import without_idle, without_prints
from migrate_mgpu.models.keras.driver.strategies import WORKERS, strategy_edit, strategy_text
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments


class Setup:
    """Rewrites strategies and RunConfigs; ``strategy`` is how the strategy is known afterwards."""

    def __init__(self, flow: EstimatorFlow, drive: Drive, graph: CallGraph) -> None:
        self.flow = flow
        self.drive = drive
        self.values = ValueFlow(graph)
        self._removed: set[ast.stmt] = set()
        self.strategy: str | None = None  # the expression of the strategy where the model is made
        self.outer: str | None = None  # and where the RunConfig is, if that is in another function
        self.handed: list[Handover] = []
        self.carriers: Carriers | None = None
        self._chosen: set[ast.expr] = set()
        self.bare: list[Value] = []  # RunConfigs without a strategy, where others have one

    def run(self) -> None:
        self._strategies()
        self._configuration()
        if self.flow.config is not None:
            without_prints(self.flow.config.printed, self.drive)
        without_idle(self.flow, self.values, self.drive)

    # -- strategies --------------------------------------------------------

    def _strategies(self) -> None:
        config = self.flow.config
        flows = [*config.train, *config.eval] if config is not None else []
        for strategy in flows:
            for made in strategy.made:
                if not any(made.call is s.expression for s in flows):
                    edit = strategy_edit(made, style_at(made.module, made.call))
                    if edit is not None:
                        self.drive.edit(made.module, edit)
                self.drive.replaced(made.module, made.call, StrategyRewriter)
                if made.kind in WORKERS:
                    text = "several workers train equally by design; only one was measured"
                    self.drive.note(made.module, made.call, text)
            for none in strategy.nones:
                assert none.node is not None
                start, end = none.module.source.span(none.node)
                tf = root(none.module, none.node)
                self.drive.edit(none.module, Edit(start, end, f"{tf}.distribute.get_strategy()"))
            self._only_configures(strategy)
        self._unused_strategies()

    def _unused_strategies(self) -> None:
        """Strategies that are made and handed to no Estimator: TF2's, as idle as before."""
        for module in self.flow.modules:
            for call in module.names.calls:
                one = constructed(module, call)
                if one is None or one.kind not in STRATEGIES or call in self.drive.moved:
                    continue
                if any(call is handed.call for handed in self._handed()):
                    continue
                if isinstance(module.names.parents[call], ast.keyword):
                    continue  # given to another Estimator's RunConfig in place
                edit = strategy_edit(one, style_at(module, call))
                if edit is not None:
                    self.drive.edit(module, edit)
                self.drive.replaced(module, call, StrategyRewriter)

    def _handed(self) -> list[Made]:
        config = self.flow.config
        flows = [*config.train, *config.eval] if config is not None else []
        return [one for strategy in flows for one in strategy.made]

    def _only_configures(self, strategy: StrategyFlow) -> None:
        """Uses of a strategy besides RunConfig: what says the same in TF2 may stay."""
        for made in strategy.made:
            for mention in self.values.uses(made.module, made.call):
                module, node = mention.module, mention.node
                assert node is not None
                parent = module.names.parents[node]
                if isinstance(parent, ast.Attribute):
                    if parent.attr in ("num_replicas_in_sync", "scope", "extended"):
                        continue
                    if parent.attr == "num_towers":
                        start, end = module.source.span(parent)
                        text = f"{module.source.code(node)}.num_replicas_in_sync"
                        self.drive.edit(module, Edit(start, end, text))
                        continue
                if isinstance(parent, (ast.Expr, ast.FormattedValue)):
                    continue
                call = module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
                if isinstance(call, ast.Call) and node is not call.func:
                    if any(c.call is call for c in self._configs()) or is_showing(module, call):
                        continue
                if strategy.nones and isinstance(parent, (ast.Compare, ast.If, ast.IfExp)):
                    raise Refused(
                        module, node, "the program asks whether it has a strategy",
                        "ask for its num_replicas_in_sync",
                    )  # fmt: skip

    def _configs(self) -> list[Made]:
        config = self.flow.config
        return [*config.made, *config.replaced] if config is not None else []

    # -- RunConfig ---------------------------------------------------------

    def _configuration(self) -> None:
        config = self.flow.config
        if config is None:
            return
        for name, advice in REFUSED.items():
            for module, node in config.values(name):
                raise Refused(module, node, f"`{name}` of RunConfig has no form in Keras", advice)
        if config.eval and not config.train:
            strategy = config.eval[0]
            raise Refused(strategy.module, strategy.expression, "evaluation alone is distributed")
        self.handed = handovers(config, self.values)
        self._common_strategy()
        self._bare_lines()
        places = [Value(one.module, one.outer or one.call) for one in self._configs()]
        self.carriers = Carriers(places, self.values, self.drive, "RunConfig")
        for made in self._configs():
            self._config_goes(made)
        self.carriers.go()
        for one in {(h.function, h.name): h for h in self.handed if not self.outer}.values():
            for module, edit in drop(one, self.values):
                self.drive.edit(module, edit)
        for helper in {made.helper for made in config.made if made.helper is not None}:
            layout = Layout(helper.module.source, helper.node)
            self.drive.edit(helper.module, layout.replace([]))
            self.drive.gone.add(helper.node)

    def _common_strategy(self) -> None:
        """The one expression by which the strategy is known where the model is made."""
        config, flow = self.flow.config, self.flow
        assert config is not None
        texts = {strategy.module.source.code(strategy.expression) for strategy in config.train}
        if not config.train:
            return
        first = config.train[0]
        self.bare = unset(flow, self.values, "train_distribute")
        names = flow.module.names
        scope = names.scope_at(flow.statement)
        if len(texts) == 1 and self._visible(first, flow.module, flow.call):
            if not self.bare or self._only_for_this(first, scope):
                self.strategy = texts.pop()
                return
        bare = [(value.module, value.node) for value in self.bare]
        places = [self._module_scope(m) for m in (*config.made, *config.replaced)]
        places += [(m, m.names.scope_at(n)) for m, n in bare if n is not None]
        if any(place != (flow.module, scope) for place in places):
            simple = len(config.made) == 1 and not config.replaced and not bare
            if simple and self._given(first):
                return
            raise Refused(
                first.module, first.expression, "the strategy is not known where the model is made",
                "make both in one function",
            )  # fmt: skip
        self.strategy = names.fresh(scope, "strategy", "distribution", "distribute_strategy")

    def _only_for_this(self, strategy: StrategyFlow, scope: Scope) -> bool:
        """Whether a variable has one strategy, and nothing but the RunConfigs reads it."""
        node, config = strategy.expression, self.flow.config
        if not isinstance(node, ast.Name) or len(scope.bindings.get(node.id, ())) != 1:
            return False
        assert config is not None
        reads = self.values.reads(self.flow.module, node.id, scope)
        return {read.node for read in reads} <= {one.expression for one in config.train}

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
            self.drive.edit(module, Layout(module.source, statement).replace([line]))

    def _given(self, strategy: StrategyFlow) -> bool:
        """Whether the functions that got the RunConfig can get the strategy in its place."""
        flow = self.flow
        enclosing = self.values.graph.enclosing(flow.module, flow.call)
        functions = [one.function for one in self.handed]
        if enclosing is None or functions.count(enclosing) != 1:
            return False
        made = flow.config.made[0] if flow.config is not None else None
        assert made is not None
        node, names = strategy.expression, made.module.names
        self.strategy = free_name(self.handed)
        self.outer = self.strategy
        if isinstance(node, ast.Name) and strategy.module is made.module:
            if self._visible(strategy, made.module, made.statement):
                self.outer = node.id
        home = names.scope_at(made.statement)
        if self.outer == self.strategy and names.defining_scope(self.outer, home) is not None:
            if not (isinstance(node, ast.Name) and node.id == self.outer):
                self.outer = names.fresh(home, "distribution", "run_strategy", "replicas")
        for function in functions:
            calls = self.values.calls(function) or ()
            if len(calls) != sum(one.function == function for one in self.handed):
                return False  # one of them is called without
        for module, edit in rename_all(self.handed, self.values, self.strategy, self.outer):
            self.drive.edit(module, edit)
        return True

    def given_at(self, module: Module, place: ast.AST) -> str | None:
        """The strategy's name in a function that gets it in the RunConfig's place, or gives it."""
        config, scope = self.flow.config, module.names.scope_at(place)
        if self.outer is None or config is None:
            return None
        if any(scope.function() is one.function.node for one in self.handed):
            return self.strategy
        return self.outer if self._module_scope(config.made[0]) == (module, scope) else None

    def _module_scope(self, made: Made) -> tuple[Module, object]:
        return made.module, made.module.names.scope_at(made.statement)

    def _visible(self, strategy: StrategyFlow, module: Module, place: ast.AST) -> bool:
        """Whether a strategy's expression is a variable that means the same at a place."""
        node = strategy.expression
        if strategy.module is not module or not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return False
        names = module.names
        home = names.defining_scope(base.id, names.scope_of_name[base])
        return home is not None and home is names.defining_scope(base.id, names.scope_at(place))

    def _config_goes(self, made: Made) -> None:
        """A statement that made a RunConfig: what it said besides is said on its own."""
        module = made.module
        self.drive.configs.add(made.call)
        self.drive.replaced(made.module, made.call, RunConfigRewriter)
        statement = made.statement
        lines = self._config_lines(made)
        layout = Layout(module.source, statement)
        call = made.outer or made.call
        choice = _choice(module, call)
        if choice is not None:
            if choice in self._chosen:
                return
            self._chosen.add(choice)
            with_strategy = self.strategy is not None
            lines = (
                self._chosen_line(made, choice) if with_strategy else self._branches(made, choice)
            )
        inline = any(call is one.argument for one in self.handed)
        if inline or (statement is self.flow.statement and module is self.flow.module):
            if lines:
                self.drive.edit(module, layout.insert_before(lines))
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
            self.drive.gone.add(statement)
            if all(other in self.drive.gone for other in block):
                lines = ["pass"]
        self.drive.edit(module, layout.replace([*kept, *lines]))

    def _branches(self, made: Made, choice: ast.expr) -> list[str]:
        """What chosen RunConfigs say besides, under an `if`."""
        module, unit = made.module, made.module.source.indent_unit
        configs = {m.outer or m.call: m for m in self._configs()}
        said = {node: self._config_lines(configs[node]) for node in ast.walk(choice)
                if isinstance(node, ast.Call) and node in configs}  # fmt: skip
        if not any(said.values()):
            return []
        arms = [choice.body, choice.orelse] if isinstance(choice, ast.IfExp) else []
        if not arms or not all(arm in said or is_none(arm) for arm in arms):
            raise Refused(
                module, choice, "a RunConfig is chosen in an expression",
                "choose it by `if`, in statements of its own",
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

    def _chosen_line(self, made: Made, choice: ast.expr) -> list[str]:
        """`strategy = A if several else B` for RunConfigs that are chosen in one expression."""
        module, name = made.module, self.outer or self.strategy
        told = {"train_distribute", *LEFT_OUT}
        configs = {m.outer or m.call: m for m in self._configs()}

        def written(node: ast.expr) -> str:
            if isinstance(node, ast.IfExp):
                test = text_of(module, node.test)
                return f"{written(node.body)} if {test} else {written(node.orelse)}"
            one = configs.get(node) if isinstance(node, ast.Call) else None
            none = isinstance(node, ast.Constant) and node.value is None
            if not none and (one is None or self.strategy is None or one.arguments.keys() - told):
                raise Refused(
                    module, node, "a RunConfig is chosen in an expression",
                    "choose it by `if`, in statements of its own",
                )  # fmt: skip
            given = one.arguments.get("train_distribute") if one is not None else None
            return self._strategy_text(module, given, one or made)

        text = written(choice)
        return [f"{name} = {text}"] if text != name else []

    def _config_lines(self, made: Made) -> list[str]:
        module, arguments = made.module, made.arguments
        lines: list[str] = []
        tf = root(module, made.call)
        if "tf_random_seed" in arguments:
            seed = text_of(module, arguments["tf_random_seed"])
            lines.append(f"{tf}.random.set_seed({seed})")
            self.drive.notes.append((
                module, arguments["tf_random_seed"],
                "the same seed draws other numbers in TF2 than in TF1",
            ))  # fmt: skip
        for name, advice in LEFT_OUT.items():
            if name in arguments:
                self.drive.note(module, arguments[name], f"`{name}` is left out{advice}")
        for name, value in arguments.items():
            if name not in SIGNATURES["RunConfig"]:
                raise Refused(module, value, f"`{name}` of RunConfig is not known")
        config = self.flow.config
        assert config is not None
        node = arguments.get("train_distribute")
        bare = any(made.call is value.node for value in self.bare)
        if self.strategy is not None and (node is not None or bare):
            written = self._strategy_text(module, node, made)
            name = self.outer or self.strategy
            if written != name:
                lines.append(f"{name} = {written}")
        return lines

    def _strategy_text(self, module: Module, node: ast.expr | None, made: Made) -> str:
        config = self.flow.config
        assert config is not None
        style = style_at(module, made.call)
        if node is None:
            return f"{style.tensorflow}.distribute.get_strategy()"
        strategy = next(s for s in config.train if s.expression is node)
        for one in strategy.made:
            if one.call is node:
                return strategy_text(one, style)
        return text_of(module, node)


def _choice(module: Module, node: ast.expr) -> ast.expr | None:
    """The outermost expression that a RunConfig is chosen in: `A if x else B`, `A or B`."""
    found = None
    parent = module.names.parents[node]
    while isinstance(parent, (ast.IfExp, ast.BoolOp)):
        found, parent = parent, module.names.parents[parent]
    return found
