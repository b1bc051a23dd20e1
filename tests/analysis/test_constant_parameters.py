"""Which constants a parameter is: what its calls give, and its default where they give nothing."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.constant_parameters import constants
from migrate_mgpu.analysis.project import Project

LAYERS = """\
FACTOR = 0.1


def layer(x, decay={default}):
    if decay is not None:
        x = x * decay
    return x


tf.Session()
"""


@pytest.mark.parametrize(
    ("default", "call", "known"),
    [
        ("None", "layer(1)", [None]),
        ("0.5", "layer(1, decay=2.0)", [2.0]),
        ("FACTOR", "layer(1)", None),  # a name of the function's module, and not of its caller's
        ("FACTOR", "layer(1, 3.0)", [3.0]),
    ],
)
def test_a_default_is_of_the_functions_module(
    default: str, call: str, known: list[object] | None
) -> None:
    text = LAYERS.format(default=default)
    caller = f"from layers import layer\nimport tensorflow as tf\n\n{call}\n"
    files = [("layers.py", f"import tensorflow as tf\n\n{text}".encode())]
    project = Project([*files, ("train.py", caller.encode())])
    module = next(one for one in project.modules.values() if one.path.name == "layers.py")
    (test,) = (node.test for node in ast.walk(module.tree) if isinstance(node, ast.If))
    assert isinstance(test, ast.Compare) and isinstance(test.left, ast.Name)
    found = constants(module, test.left, CallGraph(project))
    assert (found and [one.value for one in found]) == known
