"""TF1's optimizers in a program that runs eagerly, written as Keras's."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.definitions import below_imports, defined_above
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.style import FileStyle

# What Keras's optimizers do another way, or not at all.
_OTHERS = (
    "minimize", "compute_gradients", "get_slot", "get_slot_names", "_lr", "_learning_rate",
)  # fmt: skip
_STEP = ("train.get_or_create_global_step", "train.get_global_step")


def eager_optimizers(module: Module, modules: Iterable[Module], style: FileStyle) -> EditSet:
    """The edits of a module's optimizers, and of the calls that apply gradients.

    Any object of the program may be one of them: what Keras's cannot do counts wherever it stands.

    Raises:
        Refused: Keras's optimizer would do something else.
    """
    found = EditSet()
    calls = [call for call in module.names.calls if name_of(module, call).startswith("train.")]
    made = [one for call in calls if (one := read_optimizer(module, call)) is not None]
    modules = list(modules)
    if made:
        for other in modules:
            for attribute in _OTHERS:
                for node in other.names.attributes.get(attribute, ()):
                    text = f"`{attribute}` of an optimizer is TF1's"
                    raise Refused(other, node, text, "use a GradientTape and `apply_gradients`")
    texts: list[str] = []
    for optimizer in made:
        writer = OptimizerWriter(optimizer, style)
        found.edit(module, *writer.edits())
        found.moved.add(optimizer.node)
        texts += [text for text in writer.classes if text not in texts]
    if texts:
        place = below_imports(module)
        if place is None:
            raise Refused(module, made[0].node, "there is no place for the class that it needs")
        found.edit(module, defined_above(module, place, texts))
    if any("Optimizer(" in other.source.text for other in modules):
        _without_step(module, found)
    return found


def _without_step(module: Module, found: EditSet) -> None:
    """`apply_gradients(..., global_step=step)`: Keras's optimizers count their own steps."""
    for attribute in module.names.attributes.get("apply_gradients", ()):
        call = module.names.parents[attribute]
        if not isinstance(call, ast.Call) or call.func is not attribute:
            raise Refused(module, attribute, "`apply_gradients` is not called here")
        edit = CallEdit(module.source, call, ("grads_and_vars", "global_step", "name"))
        step = edit.get("global_step")
        if step is None:
            continue
        if not is_none(step):
            if not isinstance(step, ast.Call) or name_of(module, step) not in _STEP:
                raise Refused(
                    module,
                    step,
                    "the optimizer increments this global step, which TF2's optimizers cannot do",
                )
        edit.drop("global_step")
        found.edit(module, *edit.edits())
        found.moved.add(step)
