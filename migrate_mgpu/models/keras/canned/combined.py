"""The class of a wide and deep model: a dense and a linear part, each with its optimizer.

Measured on 1.15.5: both parts are trained by the loss of their logits' sum, in one step.
"""

from __future__ import annotations

from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import CannedModel
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.models.keras.canned.network import PartWriter
from migrate_mgpu.source.new_code import deeper
from migrate_mgpu.source.style import FileStyle

_COMPILE = """\
def compile(self, linear_optimizer, dnn_optimizer, **kwargs):
    super().compile(optimizer=dnn_optimizer, **kwargs)
    self.linear_optimizer = linear_optimizer
"""
_STEP = """\
def train_step(self, data):
    features, labels, weights = {given}
    with {tf}.GradientTape(persistent=True) as tape:
        logits = self(features, training=True)
        loss = self.compute_loss(features, labels, logits, weights)
    for optimizer, part in (
        (self.optimizer, self.dnn),
        (self.linear_optimizer, self.linear),
    ):
        variables = part.trainable_variables
        gradients = tape.gradient(loss, variables)
        with {tf}.init_scope():  # its own variables are not made in the step
            optimizer.build(variables)
        optimizer.apply_gradients(zip(gradients, variables))
    for metric in self.metrics:
        if metric.name == {q}loss{q}:
            metric.update_state({loss})
    return self.compute_metrics(features, labels, logits, weights)
"""
_REPLICAS = "loss * self.distribute_strategy.num_replicas_in_sync"


def also_built(flow: EstimatorFlow, receiver: str, style: FileStyle) -> list[str]:
    """The statements that make the variables of a model's second optimizer, if it has one.

    A run may make it of several models, of which some have one.
    """
    combined = {one.combines for one in (flow, *flow.alternatives)}
    if True not in combined:
        return []
    line = f"{receiver}.linear_optimizer.build({receiver}.linear.trainable_variables)"
    if False not in combined:
        return [line]
    asked = f"if hasattr({receiver}, {style.string('linear_optimizer')}):"
    return [asked, style.indent + line]


def combined_body(
    style: FileStyle,
    model: CannedModel,
    parts: list[tuple[PartWriter, str]],
    head: HeadWriter,
    *methods: list[str],
) -> list[str]:
    """The class below its first line; ``parts`` with the names of their classes."""
    unit = style.indent
    body = ["super().__init__()"]
    parameters: list[str] = []
    for writer, name in parts:
        given = [
            one if one == "n_classes" else writer.part.prefix + one for one in writer.parameters()
        ]
        parameters += [one for one in given if one != "n_classes"]
        attribute = "linear" if writer.part.linear else "dnn"
        body.append(f"self.{attribute} = {name}({', '.join(given)})")
    if head.takes_classes:
        parameters.append("n_classes")
    lookup = head.lookup()
    if lookup is not None:
        body.append(f"{lookup[0]} = {lookup[1]}")
    asks = any("dropout" in part.settings or part.normalized for part in model.parts)
    training = ", training=training" if asks else ""
    unpacked = f"{style.tensorflow}.keras.utils.unpack_x_y_sample_weight(data)"
    step = _STEP.format(
        tf=style.tensorflow,
        q=style.quote,
        loss=_REPLICAS if model.distributed else "loss",
        given=unpacked if model.head.weights is None else "self.with_weights(data)",
    )
    found = [f"def __init__({', '.join(['self', *parameters])}):", *deeper(body, unit)]
    for method in (
        style.indented(_COMPILE).splitlines(),
        [
            "def call(self, features, training=False):",
            f"{unit}return self.dnn(features{training}) + self.linear(features)",
        ],
        style.indented(step).splitlines(),
        head.weighted_steps(trains=False),
        head.labelled(),
        *methods,
    ):
        if method:
            found += ["", *method]
    return deeper(found, unit)
