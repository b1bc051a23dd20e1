"""Makes ``public_names.json``: what private modules of TensorFlow 1.15.5 have that is public too.

    PYTHON_OF_1_15 migrate_mgpu/data/generate_public_names.py > migrate_mgpu/data/public_names.json

An entry is there where both names are the same object.
"""

import importlib
import inspect
import json
import sys
from typing import Any

MODULES = (
    "layers.core", "layers.convolutional", "layers.normalization", "layers.pooling",
    "ops.array_ops", "ops.math_ops", "ops.nn_ops", "ops.nn_impl", "ops.nn", "ops.init_ops",
    "ops.variable_scope", "ops.rnn", "ops.rnn_cell", "ops.rnn_cell_impl", "ops.random_ops",
    "ops.clip_ops", "ops.embedding_ops", "ops.control_flow_ops", "ops.state_ops", "ops.variables",
    "ops.gradients", "ops.gradients_impl", "ops.check_ops", "framework.constant_op",
)  # fmt: skip
PLACES = ("", "nn.", "layers.", "nn.rnn_cell.")


def resolved(tensorflow: Any, name: str) -> Any:
    """What a dotted name of TensorFlow's stands for."""
    found = tensorflow
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def main() -> None:
    """Writes the names."""
    tensorflow = importlib.import_module("tensorflow")
    found: Any = {"core.framework.summary_pb2": {"": ["Summary"]}}
    for path in MODULES:
        module = importlib.import_module("tensorflow.python." + path)
        names = found.setdefault("python." + path, {})
        for name in sorted(dir(module)):
            value = getattr(module, name)
            own = callable(value) and not inspect.ismodule(value) and not name.startswith("_")
            if own and str(getattr(value, "__module__", "")).startswith("tensorflow"):
                for place in PLACES:
                    if resolved(tensorflow, place + name) is value:
                        names.setdefault(place, []).append(name)
                        break
    about = {"what": "Public names of what private modules have; generated, do not edit.",
             "command": "python migrate_mgpu/data/generate_public_names.py (on 1.15.5)",
             "names": "{module below tensorflow: {where it is public: names}}"}  # fmt: skip
    json.dump({"about": about, "names": found}, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
