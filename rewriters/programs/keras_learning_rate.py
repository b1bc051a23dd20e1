"""``lr=`` of Keras's optimizers becomes ``learning_rate=`` in a program that becomes native.

## What it does
Renames the argument in calls of optimizers, and writes out the default learning
rates that standalone Keras had and TF2's Keras does not: ``Adagrad`` 0.01,
``Adadelta`` 1.0, ``Adamax`` and ``Nadam`` 0.002 (all 0.001 in TF2).

## Why
TF 2.15 ignores ``lr`` with no more than a warning and trains with the default
rate, Keras 3 rejects it.

## Safety
Exact; ``learning_rate`` is what ``lr`` was an alias of. A ``decay`` other than 0
has no argument in TF2: such a program stays as it is (a
``learning_rate`` schedule, ``InverseTimeDecay``, says the same). An optimizer
that is named by a string (``optimizer='adadelta'``) with another default in TF2
keeps the program as it is too.

## References
``tf.keras.optimizers``
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import number
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.program_rewriter import NativeRewriter
from migrate_mgpu.source.call_edit import CallEdit

RULE = Rule(
    code="MGPU203",
    name="keras-learning-rate",
    summary="`lr=` of a Keras optimizer becomes `learning_rate=`",
)

CASES = (
    Case(
        "beside a session that goes",
        """\
import tensorflow as tf
from tensorflow.keras.optimizers import Adam

tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=Adam(lr=0.01), loss='mse')
""",
        """\
import tensorflow as tf
from tensorflow.keras.optimizers import Adam

tf.config.set_soft_device_placement(True)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=Adam(learning_rate=0.01), loss='mse')
""",
    ),
    Case(
        "a whole number",
        """\
import tensorflow as tf

tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=tf.keras.optimizers.SGD(lr=1), loss='mse')
other = tf.keras.optimizers.Adam(2, 0.8)
""",
        """\
import tensorflow as tf

tf.config.set_soft_device_placement(True)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=1.0), loss='mse')
other = tf.keras.optimizers.Adam(2.0, 0.8)
""",
    ),
    Case(
        "a decay",
        """\
import tensorflow as tf

tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=tf.keras.optimizers.SGD(lr=0.01, decay=1e-6), loss='mse')
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.set_soft_device_placement(True)
tf.keras.backend.set_session(tf.Session())
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=tf.keras.optimizers.SGD(lr=0.01, decay=1e-6), loss='mse')
""",
        refused="`decay`",
    ),
)

_OPTIMIZERS = {"SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam"}
# Standalone Keras's defaults where TF2's differ; tf.keras of 1.15 has TF2's.
_DEFAULTS = {"Adagrad": "0.01", "Adadelta": "1.0", "Adamax": "0.002", "Nadam": "0.002"}


def _calls(module: Module) -> Iterator[tuple[ast.Call, str, bool]]:
    """Each call of an optimizer: the call, its class, whether it is standalone Keras's."""
    for call in module.names.calls:
        qualname = module.names.qualname(call.func) or ""
        head, _, name = qualname.rpartition(".")
        if ".optimizers" in f".{head}" and "keras" in head:
            for known in _OPTIMIZERS:
                if name.lower() == known.lower():
                    yield call, known, head.startswith("keras")


def refuses(module: Module) -> list[Diagnostic]:
    """What the optimizers of a module say that TF2's cannot."""
    found: list[Diagnostic] = []
    for call, name, _ in _calls(module):
        for keyword in call.keywords:
            if keyword.arg == "decay" and constant(keyword.value) != 0:
                text = f"`decay` of Keras's {name} does not exist in TF2"
                advice = "give it a schedule: tf.keras.optimizers.schedules.InverseTimeDecay"
                found.append(Diagnostic("keras-decay", Place(module, call), text, advice))
    standalone = any(
        (binding.qualname or "").split(".")[0] == "keras"
        for bindings in module.names.module_scope.bindings.values()
        for binding in bindings
    )
    for call in module.names.calls if standalone else ():
        if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
            for value in [
                *call.args[:1],
                *(k.value for k in call.keywords if k.arg == "optimizer"),
            ]:
                named = constant(value)
                for name, rate in _DEFAULTS.items():
                    if isinstance(named, str) and named.lower() == name.lower():
                        text = f"the rate of {named!r} is {rate} in standalone Keras, 0.001 in TF2"
                        advice = f"write keras.optimizers.{name}(learning_rate={rate})"
                        place = Place(module, value)
                        found.append(Diagnostic("keras-default-rate", place, text, advice))
    return found


def apply(module: Module) -> Iterator[CallEdit]:
    """The edits of the optimizers in a native program's module."""
    for call, name, standalone in _calls(module):
        edit = CallEdit(module.source, call, ("learning_rate",))
        given = bool(call.args) or any(
            k.arg in ("lr", "learning_rate", None) for k in call.keywords
        )
        for spelled in ("lr", "learning_rate"):
            known = constant(edit.get(spelled))
            if isinstance(known, int) and not isinstance(known, bool):
                edit.value(spelled, number(known))  # Keras 3 takes no whole number
        edit.rename("lr", "learning_rate")
        edit.drop("decay")  # 0, see refuses
        if standalone and not given and name in _DEFAULTS:
            edit.add("learning_rate", _DEFAULTS[name], first=True)
        yield edit


REWRITER = NativeRewriter(RULE, CASES, apply, refuses=refuses)
