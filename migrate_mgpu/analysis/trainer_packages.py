"""Packages whose trainers build towers, make the session and run it: nothing of that is in the
program, and nothing of a package is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module

KEY = "trainer-of-a-package"
CODE = "MGPU910"
_TENSORPACK = """
    AsyncMultiGPUTrainer BytePSTrainer DataParallelInferenceRunner DistributedTrainerParameterServer
    DistributedTrainerReplicated HorovodTrainer KerasModel MultiTowerOfflinePredictor NoOpTrainer
    OfflinePredictor QueueInputTrainer SimpleTrainer SingleCostTrainer SyncMultiGPUTrainer
    SyncMultiGPUTrainerParameterServer SyncMultiGPUTrainerReplicated TowerContext TowerTrainer
    Trainer launch_train_with_config
"""
_TFLEARN = "DNN Evaluator SequenceGenerator TrainOp Trainer"
# What each package's names do, and what to write in their place.
_NAMES = {"tensorpack": frozenset(_TENSORPACK.split()), "tflearn": frozenset(_TFLEARN.split())}
_ADVICE = {
    "tensorpack": (
        "write what a tower builds, the loop over the GPUs and that over the steps in the program, "
        "with a session: that is migrated; or a replica of tf.distribute.MirroredStrategy"
    ),
    "tflearn": (
        "write the network in tf.keras, and train it by fit under tf.distribute.MirroredStrategy"
    ),
}
_MENTIONS = re.compile(rb"\b(?:import|from)\s+(?:tensorpack|tflearn)\b")


def trainers(module: Module, is_here: Callable[[str], bool]) -> Iterator[Diagnostic]:
    """The trainers of packages that a module names, each where it stands first.

    ``is_here`` tells whether a package of a name lies in the run: its code is the program's then.
    """
    if not _MENTIONS.search(module.source.text.encode()):
        return
    names = module.names
    packages = [package for package in _NAMES if not is_here(package)]
    starred = {names.absolute(node).partition(".")[0] for node in names.star_imports}
    mentions = [
        *(node for nodes in names.by_id.values() for node in nodes),
        *(node for nodes in names.attributes.values() for node in nodes),
    ]
    found: dict[tuple[str, str], ast.expr] = {}
    for node in sorted(mentions, key=lambda one: (one.lineno, one.col_offset)):
        full = names.qualname(node)
        if isinstance(node, ast.Name) and not names.bindings_of(node):  # of `import *`
            full = next((f"{one}.{node.id}" for one in packages if one in starred), None)
        package, _, rest = (full or "").partition(".")
        name = rest.rpartition(".")[2]
        if package in packages and name in _NAMES[package]:
            found.setdefault((package, name), node)
    for (package, name), node in found.items():
        text = (
            f"`{name}` of {package} builds the graph of each device and runs it: all of that is in"
        )
        text += " a package, which is not migrated"
        place = Place(module, node)
        yield Diagnostic(KEY, place, text, _ADVICE[package], CODE, symbol=f"{package}.{name}")
