"""The loss of a model_fn: a Keras loss, or a function of labels and outputs."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.dataflow import Dataflow, loaded, stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import EVAL
from migrate_mgpu.api.tables import name_of, short_name_of
from migrate_mgpu.models.front.losses import is_regularization, read_loss
from migrate_mgpu.models.front.model_fn.decay import read_decay
from migrate_mgpu.models.front.model_fn.label_use import read_label_use
from migrate_mgpu.models.front.model_fn.means import averages, is_size
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import Objective, Weight, WeightDecay
from migrate_mgpu.models.properties import (
    compared_labels,
    fits_compile,
    is_batch_mean,
    is_number,
    is_scalar,
)

OTHER_WAY = "evaluation computes its loss differently from training"


class LossReader:
    """Finds out what the loss is."""

    def __init__(self, reading: Reading, mode: str = "") -> None:
        """``mode`` is the one whose loss it is, where that is not training's."""
        self.reading = reading
        self.module = reading.module
        self.mode = mode or reading.base
        self.flow = reading.flows[self.mode]
        self.terms: set[ast.stmt] = set()
        self.regularized = False
        self.decay: WeightDecay | None = None

    def read(self) -> Objective:
        """What is minimized, and what it is of the labels and the network's output.

        Where an evaluation has a loss of its own, `compile` has no place for the two.

        Raises:
            Refused: it is several.
        """
        objective = self.term()
        if self.reading.end is None or self._is_apart():
            return objective
        value, unit, objective.averaged = self._mean(objective.value, objective.unit)
        known = read_loss(self.module, value)
        if known is not None:
            if self._is_labels(known.outputs, unit):
                # TF1 makes both float32, Keras what it is given first the type of the second.
                text = "the loss has the labels where its predictions belong"
                advice = "give labels and predictions by keywords"
                raise Refused(self.module, known.outputs, text, advice)
            labels = self._is_labels(compared_labels(known), unit)
            objective.compares = labels and self._is_output(known.outputs, unit)
        by_rows = self._is_table()
        units = self._units(value, unit)
        if units is None:
            return objective
        objective.value, objective.units = value, units
        objective.loss, objective.by_rows, objective.of_output = known, by_rows, True
        objective.label_use = read_label_use(self.reading, value, objective.unit, units)
        if is_number(objective) and not fits_compile(objective):
            objective.summed = self._sum([*units, value])
            objective.batch_mean = averages(self.reading, value, unit)
        return objective

    def evaluated(self, trained: Objective) -> Objective | None:
        """An evaluation's own loss; None where it is training's.

        Raises:
            Refused: it is regularized otherwise, or several.
        """
        if not self._is_apart():
            return None
        found = LossReader(self.reading, EVAL).term()
        decays = [one.decay.node if one.decay is not None else None for one in (found, trained)]
        added = found.regularized or found.decay is not None
        if added and (found.regularized, decays[0]) != (trained.regularized, decays[1]):
            text = "an evaluation's loss has another regularization than training's"
            raise Refused(self.module, found.value, text, "use one loss for both")
        return found

    def term(self) -> Objective:
        """The loss as its author's expression, without regularization.

        Raises:
            Refused: it is several.
        """
        value, unit = self._term()
        regularized, decay, terms = self.regularized, self.decay, self.terms
        return Objective(value, unit, regularized=regularized, decay=decay, terms=terms)

    def _term(self) -> tuple[ast.expr, ast.stmt | None]:
        reading = self.reading
        spec = reading.specs[self.mode]
        loss, unit = reading.argument(self.mode, "loss"), spec.unit
        if loss is None:
            raise Refused(self.module, spec.call, "the EstimatorSpec has no loss")
        parts = self._data(loss, unit)
        if len(parts) != 1:
            text = "the loss is a sum" if parts else "the loss has no term of labels and outputs"
            raise Refused(self.module, loss, text, "write its terms as one function")
        return parts[0]

    def _sum(self, nodes: list[ast.AST]) -> ast.Call | None:
        """A call that sums up the batch; not where the sum is divided by the batch's size."""
        for call in (c for n in nodes for c in ast.walk(n) if isinstance(c, ast.Call)):
            name = short_name_of(self.module, call)
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            if name == "reduce_sum" and len(call.args) < 2 and not given.keys() - {"name"}:
                over = self.module.names.parents.get(call)
                size = over.right if isinstance(over, ast.BinOp) else None
                divided = isinstance(over, ast.BinOp) and isinstance(over.op, ast.Div)
                if size is None or not divided or not is_size(self.module, size):
                    return call
            known = read_loss(self.module, call)
            if known is not None and is_scalar(known) and not is_batch_mean(known):
                return call
            asked = given.get("reduction")
            if name == "l2_loss" or (isinstance(asked, ast.Attribute) and asked.attr == "SUM"):
                return call
        return None

    def _is_apart(self) -> bool:
        """Whether an evaluation has another loss than training."""
        loss, unit = self.reading.resolved(self.reading.base, "loss")
        other, where = self.reading.resolved(EVAL, "loss")
        if other is None or loss is None or (other is loss and where is unit):
            return False
        if isinstance(loss, ast.Name) and isinstance(other, ast.Name):
            mine = self.flow.definitions(loss.id, unit)
            return self.reading.flows[EVAL].definitions(other.id, where) != mine
        return ast.dump(other) != ast.dump(loss)

    # -- terms --------------------------------------------------------------

    def _data(
        self, node: ast.expr, unit: ast.stmt | None
    ) -> list[tuple[ast.expr, ast.stmt | None]]:
        """The terms of a sum that are not regularization."""
        added = self._added(node, unit)
        if added is not None:
            parts = [part for one, place in added for part in self._data(one, place)]
            if len(parts) == 1:
                return parts
            text = "the loss is added to in steps"
            raise Refused(self.module, node, text, "write it as one expression")
        value, where = self.flow.resolve(node, unit)
        assert value is not None
        if is_regularization(self.module, value):
            self.regularized = True
            if where is not None and where is not unit:
                self.terms.add(where)
            return []
        decay = read_decay(self.module, self.flow, value, where)
        if decay is not None:
            if self.decay is not None:
                raise Refused(self.module, value, "the loss has two terms of weight decay")
            self.decay = decay
            self.terms |= self.flow.slice([value], where) - self.flow.slice(
                [decay.factor] if decay.factor is not None else [], where
            )
            if where is not None and where is not unit:
                self.terms.add(where)
            return []
        name = name_of(self.module, value)
        inner: list[ast.expr] = []
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            inner = [value.left, value.right]
        elif isinstance(value, ast.Call) and name in ("add", "math.add"):
            inner = value.args[:2]
        elif isinstance(value, ast.Call) and name in ("add_n", "math.add_n", "reduce_sum"):
            inner = self._list(value.args[0], where) if value.args else []
            if name == "reduce_sum" and not self._only_regularization(inner, where):
                inner = []
        if not inner:
            return [(value if value is not node else node, where)]
        before = len(self.terms), self.regularized, self.decay
        parts = [part for one in inner for part in self._data(one, where)]
        if (len(self.terms), self.regularized, self.decay) == before:
            return [(value, where)]  # a sum of data terms only stays as it is
        if len(parts) > 1:
            return [(value, where), *parts]
        if where is not None and where is not unit:
            self.terms.add(where)
        return parts

    def _added(
        self, node: ast.expr, unit: ast.stmt | None
    ) -> list[tuple[ast.expr, ast.stmt]] | None:
        """`loss = a` and `loss += b`: a and b; None for a variable that is given one value."""
        found = self.flow.definitions(node.id, unit) if isinstance(node, ast.Name) else ()
        if len(found) < 2 or not isinstance(found[0], ast.Assign):
            return None
        terms: list[tuple[ast.expr, ast.stmt]] = [(found[0].value, found[0])]
        for statement in found[1:]:
            if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
                return None
            self.terms.add(statement)
            terms.append((statement.value, statement))
        return terms

    def _list(self, node: ast.expr, unit: ast.stmt | None) -> list[ast.expr]:
        """The members of a list: written out, or lists added to each other."""
        value, _ = self.flow.resolve(node, unit)
        if isinstance(value, (ast.List, ast.Tuple)):
            return list(value.elts)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            return self._list(value.left, unit) + self._list(value.right, unit)
        return [node]

    def _only_regularization(self, nodes: list[ast.expr], unit: ast.stmt | None) -> bool:
        return bool(nodes) and all(
            is_regularization(self.module, self.flow.resolve(node, unit)[0]) for node in nodes
        )

    # -- one term -----------------------------------------------------------

    def _mean(
        self, node: ast.expr, unit: ast.stmt | None
    ) -> tuple[ast.expr, ast.stmt | None, bool]:
        """An expression without `tf.reduce_mean` and `tf.identity` around it."""
        mean = False
        while True:
            value, where = self.flow.resolve(node, unit)
            name = name_of(self.module, value) if value is not None else None
            if not isinstance(value, ast.Call) or not value.args:
                return node if value is None else value, where, mean
            if name == "identity" or (name in ("reduce_mean", "math.reduce_mean") and not mean):
                if name != "identity":
                    if len(value.args) > 1 or any(k.arg != "name" for k in value.keywords):
                        return value, where, mean
                    mean = True
                node, unit = value.args[0], where
                continue
            return value, where, mean

    def _is_labels(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        value, where = self.flow.resolve(node, unit)
        return isinstance(value, ast.Name) and (
            value.id == "labels" and not self.flow.definitions("labels", where)
        )

    def _is_output(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        name, made = self.reading.output
        value, where = self.flow.resolve(node, unit, made)
        if not isinstance(value, ast.Name) or value.id != name:
            return False
        return self.flow.single(name, where) is made

    def _is_table(self) -> bool:
        """Whether the output is a layer's own value: a row for each example.

        Of a list of numbers Keras 3's losses that average over the last axis make one
        number, which it does not divide by the replicas (docs/semantics.md).
        """
        _, made = self.reading.output
        value = made.value if isinstance(made, ast.Assign) else None
        if not isinstance(value, ast.Call):
            return False
        if isinstance(value.func, ast.Call):  # tf.layers.Dense(1)(net)
            return True
        return self.reading.layers.read(self.module, value) is not None

    def _units(self, node: ast.expr, unit: ast.stmt | None) -> list[ast.stmt] | None:
        """The statements between the output and a value, with what they are set by.

        None where the value looks at other values of the network too, or at its weights.
        """
        running = self._running(self.reading.base, node, unit)
        running += settings_of(self.flow, [node], unit, running, self.reading.output[1])
        running.sort(key=lambda statement: statement.lineno)
        if self._looks_at_weights(node, unit):
            return None
        for call in (c for u in running for c in ast.walk(u) if isinstance(c, ast.Call)):
            if self.reading.layers.read(self.module, call) is not None:
                return None
        self._check_evaluation()
        return running

    def _running(self, mode: str, node: ast.expr, unit: ast.stmt | None) -> list[ast.stmt]:
        reading, flow = self.reading, self.reading.flows[mode]
        _, made = reading.output
        found = flow.slice([node], unit) - {made}
        return [
            u
            for u in sorted(found, key=lambda u: u.lineno)
            if flow.depends(u, u, "labels")
            or (u not in reading.network and flow.depends(u, u, "features"))
        ]

    def _looks_at_weights(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        """Whether a value is made of a weight of the network, besides its output."""
        _, made = self.reading.output
        seen: set[ast.stmt] = {made}
        stack: list[tuple[ast.AST, ast.stmt | None]] = [(node, unit)]
        while stack:
            part, place = stack.pop()
            for call in (c for c in ast.walk(part) if isinstance(c, ast.Call)):
                if isinstance(self.reading.layers.read(self.module, call), Weight):
                    return True
            for name in loaded(part):
                for statement in self.flow.definitions(name.id, place):
                    if statement not in seen:
                        seen.add(statement)
                        stack.append((statement, statement))
        return False

    def _check_evaluation(self) -> None:
        """An evaluation comes to its loss as training does: from the same labels."""
        loss, unit = self.reading.resolved(self.reading.base, "loss")
        other, where = self.reading.resolved(EVAL, "loss")
        if loss is None or other is None:
            return
        mine, yours = (
            self._running(self.reading.base, loss, unit),
            self._running(EVAL, other, where),
        )
        if set(mine) - {unit} != set(yours) - {where}:
            raise Refused(self.module, other, OTHER_WAY, "use one loss for both")


def settings_of(
    flow: Dataflow,
    nodes: Iterable[ast.AST],
    unit: ast.stmt | None,
    known: Iterable[ast.stmt],
    output: ast.stmt | None,
) -> list[ast.stmt]:
    """The statements behind some nodes, and known statements, that no batch has a say in."""
    known, found = list(known), []
    stack = [(name.id, unit) for node in nodes for name in loaded(node)]
    stack += [(name.id, statement) for statement in known for name in loaded(statement)]
    while stack:
        name, place = stack.pop()
        for statement in flow.definitions(name, place):
            if statement in found or statement in known or statement is output:
                continue
            if any(flow.depends(statement, statement, one) for one in ("features", "labels")):
                continue
            found.append(statement)
            stack.extend((n.id, statement) for n in loaded(statement))
            stack.extend((n, statement) for n in stored(statement)[1])
    return found
