"""What calls between modules are told in the same order in each run."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.project import Project


def test_modules_of_a_program_keep_their_order() -> None:
    """Where several stand in the way, the first one is told: a set is in the order of memory."""
    text = b"import tensorflow as tf\n\ntf.Session()\n"
    project = Project([(f"module_{number}.py", text) for number in range(50)])
    modules = list(project.modules.values())
    assert len(modules) == 50
    for program in (modules, modules[::-1]):
        assert [*CallGraph(project).within(program).modules] == program


@pytest.mark.parametrize(
    ("call", "once"),
    [
        ("build()", True),
        ("[build() for _ in range(2)]", False),
        ("{key: build() for key in 'ab'}", False),
        ("list(build() for _ in range(2))", False),
    ],
)
def test_the_element_of_a_comprehension_runs_for_each(call: str, once: bool) -> None:
    text = f"import tensorflow as tf\n\n\ndef build():\n    tf.Session()\n\n\nmade = {call}\n"
    project = Project([("train.py", text.encode())])
    (module,) = project.modules.values()
    (node,) = (one for one in module.names.calls if module.source.code(one) == "tf.Session()")
    assert CallGraph(project).runs_once(module, node) is once
