"""What may give something in a tower a name: code that the loop may reach."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.front.towers.summary_names import may_be_in_a_tower

TEXT = """\
import tensorflow as tf


{code}


def train():
    for i in range(2):
        with tf.device("/gpu:%d" % i):
            loss = tower(i)
    return tf.Session().run(loss)
"""
MADE = "tf.zeros([], name='shown')"
TOWER = "def tower(i):\n    return tf.constant(i)"


@pytest.mark.parametrize(
    ("code", "may"),
    [
        (f"{TOWER}\n\n\ndef evaluate():\n    return {MADE}", False),
        (f"def tower(i):\n    return {MADE}", True),
        (f"def tower(i):\n    return inner(i)\n\n\ndef inner(i):\n    return {MADE}",
         True),
        # By its name as a text, or an attribute.
        ("def tower(i):\n    return globals()['inner'](i)\n\n\n"
         f"def inner(i):\n    return {MADE}", True),
        (f"{TOWER}\n\n\nclass Net:\n    def show(self):\n        return {MADE}", True),
        # It may run when another one goes on, or be found by who has registered it.
        (f"{TOWER}\n\n\ndef parts():\n    yield {MADE}", True),
        (f"{TOWER}\n\n\n@print\ndef other():\n    return {MADE}", True),
        (f"{TOWER}\n\n\ndef other():\n    return lambda: {MADE}", True),
        (f"{TOWER}\n\n\nZERO = {MADE}", True),
    ],
)  # fmt: skip
def test_code_that_the_loop_may_reach(code: str, may: bool) -> None:
    project = Project([("program.py", TEXT.format(code=code).encode())])
    (module,) = project.modules.values()
    (loop,) = (one for one in ast.walk(module.tree) if isinstance(one, ast.For))
    calls = [one for one in ast.walk(module.tree) if isinstance(one, ast.Call)]
    (call,) = (one for one in calls if any(k.arg == "name" for k in one.keywords))
    assert may_be_in_a_tower([module], module, call, loop) is may
