"""Multi-GPU code of Keras programs that nothing here migrates: it is told, so that nobody
believes that there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.strategies import read_strategy
from migrate_mgpu.models.front.towers.loop import is_placed_anew, places_in_loops

STRATEGY = "strategy-of-keras"
COPIES = "copies-by-hand"
_CONTRIB = "contrib.distribute."


def strategies_without_estimators(program: Program) -> list[Diagnostic]:
    """The strategies of ``tf.contrib`` in a program that has no Estimator to take them."""
    found = []
    for module in program.modules if any(map(_names_contrib, program.modules)) else ():
        for call in sorted(module.names.calls, key=lambda one: (one.lineno, one.col_offset)):
            name = tensorflow_name(module, call.func) if module.writable else ""
            if name.startswith(_CONTRIB) and read_strategy(module, call) is not None:
                text = f"`tf.{name}` is not in TF2, and no Estimator of the program takes it: what"
                text += " trains under it, as Keras's fit, is not migrated"
                advice = "make it with tf.distribute, with the devices in place of their number,"
                advice += " and TF1's optimizers with tf.keras.optimizers"
                found.append(Diagnostic(STRATEGY, Place(module, call), text, advice, "MGPU301"))
    return found


def copies_by_hand(module: Module) -> Iterator[Diagnostic]:
    """The loops in which a module of Keras models puts one on each GPU, by `tf.device`."""
    if not module.writable or not places_in_loops(module) or not module.uses_keras_models:
        return
    for loop in walk(module.tree):
        if isinstance(loop, ast.For) and is_placed_anew(module, loop):
            text = "this loop puts what Keras's models compute on one device after the other:"
            text += " that is not migrated"
            advice = "make and compile the model once under tf.distribute.MirroredStrategy, whose"
            advice += " fit splits the batches (MGPU501 does so for multi_gpu_model)"
            yield Diagnostic(COPIES, Place(module, loop), text, advice, "MGPU501")


def _names_contrib(module: Module) -> bool:
    return "contrib" in module.source.text and "distribute" in module.source.text
