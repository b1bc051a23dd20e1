"""The class of a wide and deep model: a dense and a linear part, each with its optimizer.

Measured on 1.15.5: both parts are trained by the loss of their logits' sum, in one step.
"""

from __future__ import annotations

from migrate_mgpu.models.front.canned.parts import COMBINED, Part
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.source.style import FileStyle

# Names of the parts' classes. Keras 3 calls variables by their layers' classes, TF1 by these.
PART_CLASSES = {"dnn": "DNN", "linear": "LinearModel"}
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


def also_built(flow: EstimatorFlow, receiver: str) -> list[str]:
    """The statement that makes the variables of a model's second optimizer, if it has one."""
    if not flow.class_name.startswith(COMBINED):
        return []
    return [f"{receiver}.linear_optimizer.build({receiver}.linear.trainable_variables)"]


def combined_body(
    style: FileStyle,
    parts: list[Part],
    classes: dict[str, str],
    head: HeadWriter,
    step: list[str],
    distributed: bool,
) -> str:
    """The class below its first line, four spaces a level.

    Args:
        classes: the names of the parts' classes, by kind.
        step: one method more, without indentation.
        distributed: whether it trains under a strategy.
    """
    parameters = [
        part.prefix + name
        for part in parts
        for name in part.network.parameters()
        if name != "n_classes"
    ]
    if head.takes_classes:
        parameters.append("n_classes")
    lines = [f"    def __init__({', '.join(['self', *parameters])}):", "        super().__init__()"]
    for part in parts:
        passed = [
            name if name == "n_classes" else part.prefix + name
            for name in part.network.parameters()
        ]
        lines.append(f"        self.{part.kind} = {classes[part.kind]}({', '.join(passed)})")
    lines += ["        " + line for line in head.lookup()]
    drops = any("dropout" in part.network.settings for part in parts)
    loss = _REPLICAS if distributed else "loss"
    given = f"{style.tensorflow}.keras.utils.unpack_x_y_sample_weight(data)"
    if head.head.weights is not None:
        given = "self.with_weights(data)"
    training = ", training=training" if drops else ""
    lines += [
        "", *_COMPILE.splitlines(), "",
        "    def call(self, features, training=False):",
        f"        return self.dnn(features{training}) + self.linear(features)", "",
        *_STEP.format(tf=style.tensorflow, q=style.quote, loss=loss, given=given).splitlines(),
    ]  # fmt: skip
    for method in (head.weighted_steps(trains=False), head.labelled(), step):
        if method:
            lines += ["", *("    " + line if line else "" for line in method)]
    return "\n".join(lines)
