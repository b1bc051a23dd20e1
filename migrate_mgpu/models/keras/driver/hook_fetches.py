"""What a hook fetches in its ``before_run``, and what its ``after_run`` makes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.model_fn.reading import Reading

LOSS, STEP = "loss", "step"
_STEPS = ("train.get_global_step", "train.get_or_create_global_step")
_ADVICE = "make the hook a tf.keras.callbacks.Callback"


class Fetches:
    """The loss and the global step, by their places in ``run_values.results``."""

    def __init__(self, flow: EstimatorFlow, module: Module, owner: ast.ClassDef) -> None:
        self.flow = flow
        self.module = module
        self.owner = owner
        self.call: ast.Call | None = None
        self.single = False
        self._kept = set(self._step_attributes())
        self._places: dict[object, str] = {}

    @property
    def kinds(self) -> set[str]:
        return set(self._places.values())

    # -- the global step ---------------------------------------------------

    def _step_attributes(self) -> Iterator[str]:
        """The attributes that hold the global step's tensor."""
        for node in ast.walk(self.owner):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and self._gets(node.value):
                target = node.targets[0]
                if not isinstance(target, ast.Attribute) or self._other_value(target, node):
                    raise Refused(
                        self.module, node, "where this step goes cannot be analyzed", _ADVICE
                    )
                yield target.attr

    def _other_value(self, target: ast.Attribute, statement: ast.Assign) -> bool:
        """Whether an attribute is given another value besides None."""
        for node in self.module.names.attributes.get(target.attr, ()):
            if isinstance(node.ctx, ast.Load):
                continue
            parent = self.module.names.parents[node]
            none = isinstance(parent, ast.Assign) and (
                isinstance(parent.value, ast.Constant) and parent.value.value is None
            )
            if parent is not statement and not none:
                return True
        return False

    def _gets(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and tensorflow_name(self.module, node.func) in _STEPS

    def is_step(self, node: ast.expr) -> bool:
        """Whether an expression is the global step's tensor."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.value.id == "self" and node.attr in self._kept
        return self._gets(node)

    def keeps_step(self, statement: ast.stmt) -> bool:
        """Whether a statement only keeps the step's tensor, or asks whether there is one."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            return isinstance(target, ast.Attribute) and target.attr in self._kept
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Compare):
            test = statement.test
            raises = all(isinstance(s, ast.Raise) for s in statement.body)
            none = constant(test.comparators[0]) is None and isinstance(test.ops[0], ast.Is)
            return self.is_step(test.left) and none and raises and not statement.orelse
        return False

    # -- the fetches -------------------------------------------------------

    def read(self, method: ast.FunctionDef | None) -> None:
        """What ``before_run`` asks for.

        Raises:
            Refused: another tensor, or one that was no single number in TF1.
        """
        returns = [n for n in ast.walk(method or ast.Module([], [])) if isinstance(n, ast.Return)]
        values = [r.value for r in returns if r.value is not None and not _is_none(r.value)]
        if not values or method is None:
            return
        value, last = values[0], method.body[-1]
        if len(returns) > 1 or not isinstance(last, ast.Return) or last.value is not value:
            raise Refused(
                self.module, value, "what this hook fetches depends on other code", _ADVICE
            )
        name = tensorflow_name(self.module, value.func) if isinstance(value, ast.Call) else ""
        if not isinstance(value, ast.Call) or name != "train.SessionRunArgs":
            raise Refused(self.module, value, "what this hook fetches cannot be analyzed", _ADVICE)
        given = arguments_of(self.module, value, ("fetches", "feed_dict", "options"))
        if set(given) != {"fetches"}:
            raise Refused(self.module, value, "a hook that feeds, or has options", _ADVICE)
        fetches = given["fetches"]
        self.call = value
        if isinstance(fetches, (ast.List, ast.Tuple)):
            self._places = {i: self._kind(node) for i, node in enumerate(fetches.elts)}
        elif isinstance(fetches, ast.Dict) and all(k is not None for k in fetches.keys):
            pairs = zip(fetches.keys, fetches.values)
            self._places = {constant(k): self._kind(node) for k, node in pairs if k is not None}
        else:
            self.single = True
            self._places = {None: self._kind(fetches)}
        if self.flow.distribution.training:
            text = "a hook that fetches sees the first replica, and the step before it is counted"
            raise Refused(self.module, value, text, _ADVICE)

    def _kind(self, node: ast.expr) -> str:
        if self.is_step(node):
            self._check_counted()
            return STEP
        name = constant(node)
        if isinstance(name, str) and self._names_loss(name):
            return LOSS
        raise Refused(self.module, node, "what this hook fetches cannot be analyzed", _ADVICE)

    def _check_counted(self) -> None:
        """The fetched step: 1.15 gave it with the step that was just trained, TF2 without."""
        for node in ast.walk(self.owner):
            if isinstance(node, ast.Call) and self._gets(node):
                found = symbol(self.module.names.qualname(node.func))
                if found is None or found.flavour != "plain":
                    text = (
                        "whether this step includes the current one depends on the TensorFlow "
                        "version"
                    )
                    advice = "ask for it by run_context.session.run in after_run"
                    raise Refused(self.module, node, text, advice)

    def _names_loss(self, name: str) -> bool:
        """Whether `tf.identity(loss, name='loss')` gives the spec's loss that name."""
        function = self.flow.function
        if function is None or not isinstance(function.node, ast.FunctionDef):
            return False
        reading = Reading(function.module, function.node, tuple(self.flow.bound))
        module, flow = function.module, reading.flows[TRAIN]
        loss, _ = reading.resolved(TRAIN, "loss")
        for unit in reading.paths[TRAIN].units:
            call = statement_value(unit)
            if not isinstance(call, ast.Call) or tensorflow_name(module, call.func) != "identity":
                continue
            given = arguments_of(module, call, ("input", "name"))
            if "name" in given and constant(given["name"]) in (name, name.partition(":")[0]):
                value, _ = flow.resolve(given["input"], unit)
                scoped = any(
                    isinstance(parent, (ast.With, ast.If))
                    for parent in module.names.ancestors(unit)
                )
                return value is loss and name.endswith(":0") and not scoped
        return False

    def results(self, node: ast.Attribute) -> list[tuple[ast.AST, str]]:
        """The text that stands for ``run_values.results``, with the expression that it is for."""
        if not self._places:
            raise Refused(self.module, node, "this hook fetches nothing", _ADVICE)
        parents = self.module.names.parents
        parent = parents[node]
        if self.single:
            return [(node, self._text(self._places[None]))]
        if isinstance(parent, ast.Subscript) and parent.value is node:
            key = constant(parent.slice)
            if key in self._places:
                return [(parent, self._text(self._places[key]))]
        texts = [self._text(kind) for kind in self._places.values()]
        unpacked = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple)
        if unpacked and all(isinstance(key, int) for key in self._places):
            return [(node, ", ".join(texts))]
        raise Refused(self.module, node, "what becomes of the results cannot be analyzed", _ADVICE)

    def _text(self, kind: str) -> str:
        quote = self.module.source.quote
        if kind == LOSS:
            return f"logs[{quote}loss{quote}]"
        return "int(self.model.optimizer.iterations.numpy())"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
