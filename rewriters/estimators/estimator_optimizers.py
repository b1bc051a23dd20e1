"""Optimizers and learning rate schedules of ``tf.train`` become Keras's.

## What it does
``tf.train.AdamOptimizer(0.01)`` becomes ``tf.keras.optimizers.Adam(0.01, epsilon=1e-8)``:
TF1's value is written out wherever Keras's default is another one. Schedules lose their
``global_step``: Keras's count the optimizer's own steps, from 0 as TF1's do.

## Why
TF2 has no ``tf.train.AdamOptimizer``, and Keras's optimizers differ: in Adam's, Adadelta's
and Adagrad's epsilon, in RMSProp's first mean squares, in what a learning rate that changes
does to a momentum.

## Safety
20 steps on the same gradients, the weights equal to 1e-6 (the docs' table names the
measurement). TF1's RMSProp starts its mean squares at one; the small class that is written
for it says so in its epsilon. TF1's momentum sums up gradients and multiplies the sum by the
learning rate of the step; where the rate changes, a class does that. Proximal optimizers,
AdagradDA, SyncReplicas and those of ``tf.contrib.opt`` have no equal: their programs stay.

## References
``tf.train``, ``tf.keras.optimizers``, ``tf.keras.optimizers.schedules``
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.cases import case
from migrate_mgpu.api.rates import (
    Rate,
    is_global_step,
    rate_of,
    schedule_is_used,
)
from migrate_mgpu.api.tables import assigned, name_of, number
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.core.registry import Rule, constant
from migrate_mgpu.models.front.rewriters import OptimizerRewriter
from migrate_mgpu.models.types import Optimizer
from migrate_mgpu.source.source import Edit, splice

RULE = Rule(
    code="MGPU404",
    name="estimator-optimizers",
    summary="`tf.train` optimizers and schedules become `tf.keras.optimizers`",
)

CASES = (
    case(
        "RMSProp and a schedule",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_global_step()
    rate = tf.train.exponential_decay(0.1, step, 1000, 0.9, staircase=True)
    train_op = tf.train.RMSPropOptimizer(rate, momentum=0.9).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        '''\
class RMSprop(tf.keras.optimizers.RMSprop):
    """RMSprop whose mean squares begin at one, as TF1's do: `rho ** step` of it is left."""

    @property
    def epsilon(self):
        return self._epsilon + self.rho ** tf.cast(self.iterations + 1, tf.float32)

    @epsilon.setter
    def epsilon(self, value):
        self._epsilon = value

    def get_config(self):
        return {**super().get_config(), 'epsilon': self._epsilon}


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1000, 0.9, staircase=True)
    optimizer = RMSprop(rate, momentum=0.9, epsilon=1e-10)
    model.compile(optimizer=optimizer, loss=loss)
    return model
''',
    ),
    case(
        "momentum and a schedule",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(step, [100, 200], [0.1, 0.01, 0.001])
    optimizer = tf.train.MomentumOptimizer(learning_rate=rate, momentum=0.9)
    train_op = optimizer.minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        '''\
class Momentum(tf.keras.optimizers.SGD):
    """SGD whose momentum sums up gradients, as TF1's; the step's rate multiplies the sum."""

    def __init__(self, learning_rate, **kwargs):
        super().__init__(1.0, **kwargs)
        self.schedule = learning_rate

    def update_step(self, gradient, variable, *args):
        before = tf.identity(variable)
        super().update_step(gradient, variable, *args)
        rate = tf.cast(self.schedule(self.iterations), variable.dtype)
        variable.assign(before + rate * (variable - before))


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([100, 200], [0.1, 0.01, 0.001])
    optimizer = Momentum(learning_rate=rate, momentum=0.9)
    model.compile(optimizer=optimizer, loss=loss)
    return model
''',
    ),
    case(
        "optimize_loss",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.contrib.layers.optimize_loss(
        loss,
        tf.train.get_global_step(),
        learning_rate=0.1,
        optimizer='Adam',
        clip_gradients=5.0)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(
        learning_rate=0.1, epsilon=1e-8, global_clipnorm=5.0)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
    ),
    case(
        "no Keras optimizer",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="ProximalAdagradOptimizer",
    ),
)


@record(frozen=True)
class _Kind:
    keras: str
    parameters: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    sparse: bool = True  # equal for sparse gradients (of an embedding), too


_OPTIMIZERS = {
    "GradientDescentOptimizer": _Kind("SGD", ("learning_rate", "use_locking", "name")),
    "MomentumOptimizer": _Kind(
        "SGD",
        ("learning_rate", "momentum", "use_locking", "name", "use_nesterov"),
        {"use_nesterov": "nesterov"},
        sparse=False,
    ),
    "AdamOptimizer": _Kind(
        "Adam",
        ("learning_rate", "beta1", "beta2", "epsilon", "use_locking", "name"),
        {"beta1": "beta_1", "beta2": "beta_2"},
        {"epsilon": "1e-8"},
    ),
    "AdagradOptimizer": _Kind(
        "Adagrad",
        ("learning_rate", "initial_accumulator_value", "use_locking", "name"),
        defaults={"epsilon": "0.0"},
    ),
    "AdadeltaOptimizer": _Kind(
        "Adadelta",
        ("learning_rate", "rho", "epsilon", "use_locking", "name"),
        defaults={"epsilon": "1e-8"},
        sparse=False,
    ),
    "RMSPropOptimizer": _Kind(
        "RMSprop",
        ("learning_rate", "decay", "momentum", "epsilon", "use_locking", "centered", "name"),
        {"decay": "rho"},
        {"epsilon": "1e-10"},
        sparse=False,
    ),
    "FtrlOptimizer": _Kind(
        "Ftrl",
        ("learning_rate", "learning_rate_power", "initial_accumulator_value",
         "l1_regularization_strength", "l2_regularization_strength", "use_locking", "name",
         "accum_name", "linear_name", "l2_shrinkage_regularization_strength"),
        sparse=False,
    ),
}  # fmt: skip

_RMSPROP = '''\
class {name}({tf}.keras.optimizers.RMSprop):
    """RMSprop whose mean squares begin at one, as TF1's do: `rho ** step` of it is left."""

    @property
    def epsilon(self):
        return self._epsilon + self.rho ** {tf}.cast(self.iterations + 1, {tf}.float32)

    @epsilon.setter
    def epsilon(self, value):
        self._epsilon = value

    def get_config(self):
        return {{**super().get_config(), {quote}epsilon{quote}: self._epsilon}}'''

_MOMENTUM = '''\
class {name}({tf}.keras.optimizers.SGD):
    """SGD whose momentum sums up gradients, as TF1's; the step's rate multiplies the sum."""

    def __init__(self, learning_rate, **kwargs):
        super().__init__(1.0, **kwargs)
        self.schedule = learning_rate

    def update_step(self, gradient, variable, *args):
        before = {tf}.identity(variable)
        super().update_step(gradient, variable, *args)
        rate = {tf}.cast(self.schedule(self.iterations), variable.dtype)
        variable.assign(before + rate * (variable - before))'''


def optimizer(module: Module, call: ast.Call, tf: str) -> Optimizer | None:
    """The Keras optimizer for a call; None where it makes none.

    Raises:
        Refused: no Keras optimizer does the same.
    """
    if name_of(module, call) == _OPTIMIZE_LOSS:
        return _of_optimize_loss(module, call, tf)
    head, _, short = name_of(module, call).rpartition(".")
    if head == "contrib.opt" and short.endswith("Optimizer"):
        raise Refused(module, call, f"no Keras optimizer equals tf.contrib.opt.{short}")
    kind = _OPTIMIZERS.get(short) if head == "train" else None
    if kind is None:
        if head == "train" and short.endswith("Optimizer"):
            raise Refused(module, call, f"no Keras optimizer equals tf.train.{short}")
        return None
    edit = BoundCall(module, call, kind.parameters)
    return _written(edit, short, tf)


def _written(edit: BoundCall, short: str, tf: str, decays: bool = False) -> Optimizer:
    """The Keras optimizer for TF1's of a name, whose arguments an edit has."""
    module, call, kind = edit.module, edit.call, _OPTIMIZERS[short]
    rate = edit.get("learning_rate")
    edit.function(f"{tf}.keras.optimizers.{kind.keras}")
    edit.drop("use_locking", "accum_name", "linear_name")
    if not kind.sparse and (use := _embedding(module)):
        text = f"TF1's {short} updates only the rows of an embedding that a batch uses"
        raise Refused(module, call, text, f"`{use}`: use Adam, Adagrad or gradient descent")
    classes: tuple[str, ...] = ()
    name = edit.get("name")
    known = constant(name) if name is not None else None
    if kind.keras == "RMSprop" or not isinstance(known, str) or "/" in known:
        edit.drop("name")
    if kind.keras == "RMSprop":
        classes = (_class(edit, _RMSPROP, tf, "RMSprop"),)
    elif short == "MomentumOptimizer":
        changes = Rate.SCHEDULE if decays else rate_of(module, rate)
        if changes is Rate.UNKNOWN:
            text = "it cannot be told whether this learning rate changes"
            advice = "TF1's momentum differs from Keras's where it does: make the rate a schedule"
            raise Refused(module, rate or call, text, advice)
        if changes is Rate.SCHEDULE:
            edit.drop("name")
            classes = (_class(edit, _MOMENTUM, tf, "Momentum"),)
        _float(edit, "momentum")
    for old, new in kind.names.items():
        edit.rename(old, new)
    edit.order(("learning_rate",))
    for old, text in kind.defaults.items():
        if edit.get(kind.names.get(old, old)) is None:
            edit.add(kind.names.get(old, old), text)
    return Optimizer(call, edit.edits(), rate, classes)


# -- tf.contrib.layers.optimize_loss ---------------------------------------------

_OPTIMIZE_LOSS = "contrib.layers.optimize_loss"
_OPTIMIZE_LOSS_PARAMETERS = (
    "loss", "global_step", "learning_rate", "optimizer", "gradient_noise_scale",
    "gradient_multipliers", "clip_gradients", "learning_rate_decay_fn", "update_ops",
    "variables", "name", "summaries", "colocate_gradients_with_ops", "increment_global_step",
)  # fmt: skip
_BY_NAME = {
    "Adagrad": "AdagradOptimizer",
    "Adam": "AdamOptimizer",
    "Ftrl": "FtrlOptimizer",
    "Momentum": "MomentumOptimizer",
    "RMSProp": "RMSPropOptimizer",
    "SGD": "GradientDescentOptimizer",
}


def _of_optimize_loss(module: Module, call: ast.Call, tf: str) -> Optimizer:
    """The optimizer of a call of ``optimize_loss``, made where that stands."""
    edit = BoundCall(module, call, _OPTIMIZE_LOSS_PARAMETERS)
    made, rate = edit.get("optimizer"), edit.given("learning_rate")
    decay = edit.given("learning_rate_decay_fn")
    given = assigned(module, made)
    known = constant(given) if given is not None else None
    short = _BY_NAME.get(known) if isinstance(known, str) else None
    if short is None and given is not None and not isinstance(given, ast.Call):
        found = name_of(module, given)
        short = found.partition(".")[2] if found.startswith("train.") else None
    if short not in _OPTIMIZERS or rate is None:
        text = "which optimizer `optimize_loss` makes cannot be told"
        raise Refused(module, made or call, text, "name it by a string or a class of tf.train")
    edit.drop(*(p for p in _OPTIMIZE_LOSS_PARAMETERS if p != "learning_rate"))
    if short == "MomentumOptimizer":
        if not isinstance(known, str):
            raise Refused(module, call, "MomentumOptimizer is given no momentum")
        edit.add("momentum", "0.9")
    if decay is None:
        return _written(edit, short, tf)
    text, reads = _decayed(module, decay, rate, tf)
    edit.value("learning_rate", text)
    return replaced(_written(edit, short, tf, decays=True), reads=reads)


def _decayed(
    module: Module, decay: ast.expr, rate: ast.expr, tf: str
) -> tuple[str, tuple[ast.expr, ...]]:
    """The schedule that a function of the learning rate and the global step stands for.

    Its text, and the author's expressions in it.
    """
    function = assigned(module, decay)
    text, advice = "which schedule decays the learning rate cannot be told", "use a lambda"
    if isinstance(function, ast.Name):
        bindings = module.names.bindings_of(function)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.FunctionDef):
            body = [s for s in bindings[0].node.body if not isinstance(s, ast.Expr)]
            if len(body) == 1 and isinstance(body[0], ast.Return):
                arguments, value = bindings[0].node.args, body[0].value
            else:
                raise Refused(module, decay, text, advice)
        else:
            raise Refused(module, decay, text, advice)
    elif isinstance(function, ast.Lambda):
        arguments, value = function.args, function.body
    else:
        raise Refused(module, decay, text, advice)
    if len(arguments.args) != 2 or not isinstance(value, ast.Call):
        raise Refused(module, decay, text, advice)
    first, second = (a.arg for a in arguments.args)
    edits = _schedule(module, value, tf, second)
    if edits is None:
        raise Refused(module, value, text, advice)
    code = module.source.code(rate)
    found = list(edits)
    for part in ast.walk(value):
        if isinstance(part, ast.Name) and part.id == first:
            start, end = module.source.span(part)
            if not any(e.start <= start and end <= e.end for e in edits if e.end > e.start):
                found.append(Edit(start, end, code))
    start, end = module.source.span(value)
    moved = [Edit(e.start - start, e.end - start, e.new) for e in found]
    reads = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id not in (first, second)]
    return splice(module.source.text[start:end], moved), (rate, *reads)


def _float(edit: BoundCall, name: str) -> None:
    """Keras 3 takes no whole number for a momentum."""
    value = edit.get(name)
    known = constant(value) if value is not None else None
    if isinstance(known, int) and not isinstance(known, bool):
        edit.value(name, number(known))


def _embedding(module: Module) -> str:
    """What a module embeds by, if it does: the gradients of an embedding are sparse."""
    for use in module.uses:
        if "embed" in use.symbol.name.lower():
            return use.symbol.name
    return ""


def _class(edit: BoundCall, template: str, tf: str, wished: str) -> str:
    """Calls a class of the program's own: its text, with ``\\n`` between its lines."""
    module = edit.module
    name = module.names.fresh(module.names.module_scope, wished)
    edit.function(name)
    text = template.format(tf=tf, quote=module.source.quote, name=name)
    return text.replace("    ", module.source.indent_unit)


# -- schedules ----------------------------------------------------------------

_DECAY = ("learning_rate", "global_step", "decay_steps")
_RATE = {"learning_rate": "initial_learning_rate"}
_SCHEDULES: dict[str, _Kind] = {
    "exponential_decay": _Kind(
        "ExponentialDecay", (*_DECAY, "decay_rate", "staircase", "name"), _RATE
    ),
    "natural_exp_decay": _Kind(
        "ExponentialDecay", (*_DECAY, "decay_rate", "staircase", "name"), _RATE
    ),
    "inverse_time_decay": _Kind(
        "InverseTimeDecay", (*_DECAY, "decay_rate", "staircase", "name"), _RATE
    ),
    "polynomial_decay": _Kind(
        "PolynomialDecay", (*_DECAY, "end_learning_rate", "power", "cycle", "name"), _RATE
    ),
    "cosine_decay": _Kind("CosineDecay", (*_DECAY, "alpha", "name"), _RATE),
    "cosine_decay_restarts": _Kind(
        "CosineDecayRestarts",
        ("learning_rate", "global_step", "first_decay_steps", "t_mul", "m_mul", "alpha", "name"),
        _RATE,
    ),
    "piecewise_constant": _Kind("PiecewiseConstantDecay", ("x", "boundaries", "values", "name")),
    "piecewise_constant_decay": _Kind(
        "PiecewiseConstantDecay", ("x", "boundaries", "values", "name")
    ),
}
_NO_SCHEDULE = ("linear_cosine_decay", "noisy_linear_cosine_decay")


def schedule(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...] | None:
    """The edits that make a Keras schedule of a call; None where it is no schedule.

    Raises:
        Refused: Keras has none like it, its step is not the global step, or its value is
            calculated with.
    """
    return _schedule(module, call, tf, None)


def _schedule(
    module: Module, call: ast.Call, tf: str, step_name: str | None
) -> tuple[Edit, ...] | None:
    """The same, where the step is perhaps a function's parameter of a name."""
    head, _, short = name_of(module, call).rpartition(".")
    if head != "train":
        return None
    if short in _NO_SCHEDULE:
        raise Refused(module, call, f"TF2 has no schedule like tf.train.{short}")
    kind = _SCHEDULES.get(short)
    if kind is None:
        return None
    edit = BoundCall(module, call, kind.parameters)
    step = edit.get(kind.parameters[0] if "global_step" not in kind.parameters else "global_step")
    told = isinstance(step, ast.Name) and step.id == step_name
    if not told and not is_global_step(module, step):
        text = f"the step of `{edit.shown}` is not the global step"
        raise Refused(module, step or call, text, "give it tf.train.get_global_step()")
    if not told:
        schedule_is_used(module, call)
    edit.drop("x", "global_step")
    edit.function(f"{tf}.keras.optimizers.schedules.{kind.keras}")
    if short == "natural_exp_decay":
        rate = edit.get("decay_rate")
        known = constant(rate) if rate is not None else None
        if isinstance(known, (int, float)):
            edit.value("decay_rate", f"{tf}.math.exp(-{float(known)})")
        elif rate is not None:
            edit.wrap("decay_rate", f"{tf}.math.exp(-(", "))")
    for old, new in kind.names.items():
        edit.rename(old, new)
    return_order = [kind.names.get(p, p) for p in kind.parameters if p not in ("x", "global_step")]
    edit.order(return_order)
    return edit.edits()


REWRITER = OptimizerRewriter(RULE, CASES, optimizer, schedule)
