"""Clones of `model_deploy`: programs that have them, and what keeps them as they are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.models.normalize.towers.deployed_clones import digest
from tests.support.migration import after, run, said

FOLDER = Path(__file__).parents[3] / "fixtures" / "towers" / "deployed_clones" / "before"
MAIN = (FOLDER / "main.py").read_text(encoding="utf-8")
DEPLOY = (FOLDER / "model_deploy.py").read_text(encoding="utf-8")


def migrated(main: str, deploy: str = DEPLOY) -> tuple[str, str, str]:
    """The program's state, what is said, and what becomes of its main module."""
    result = run(
        ("main.py", main),
        ("model_deploy.py", deploy),
        bridge=True,
        native_sessions=True,
    )
    (program,) = [one for one in result.programs if str(one.entry).endswith("main.py")]
    return program.state, " ".join(said(result)), after(result, ("main.py", main))


def changed(old: str, new: str, text: str = MAIN) -> str:
    assert old in text
    return text.replace(old, new)


def test_clones_are_towers() -> None:
    state, told, text = migrated(MAIN)
    assert state == "native", told
    assert "model_deploy" not in text.replace("# Config model_deploy", "").split('"""')[-1]
    assert "MirroredStrategy" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("num_ps_tasks=0)", "num_ps_tasks=0)\n        print(deploy_config.num_clones)"),
        ("clone_on_cpu=FLAGS.clone_on_cpu", "clone_on_cpu=False"),
        (
            "        variables_to_train = tf.trainable_variables()\n"
            "        total_loss, clones_gradients = model_deploy.optimize_clones(\n"
            "            clones, optimizer, var_list=variables_to_train)",
            "        total_loss, clones_gradients = model_deploy.optimize_clones(\n"
            "            clones, optimizer)",
        ),
        (
            "        # Create gradient updates.",
            "        outputs = clones[0].outputs\n        certain = tf.reduce_max(outputs)",
        ),
    ],
)
def test_other_spellings(old: str, new: str) -> None:
    state, told, _ = migrated(changed(old, new))
    assert state == "native", told


OPTIMIZER = "        with tf.device(deploy_config.optimizer_device()):"
GRADIENTS = "        # Create gradient updates."


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("num_ps_tasks=0)", "num_ps_tasks=FLAGS.batch_size)", "on several machines"),
        ("num_replicas=1", "num_replicas=2", "on several machines"),
        (
            OPTIMIZER,
            f"        print(len(tf.trainable_variables()))\n{OPTIMIZER}",
            "`tf.trainable_variables` is asked before",
        ),
        (GRADIENTS, "        outputs = clones[1].outputs", "than what the first one gave"),
        (
            GRADIENTS,
            "        outputs = [c.outputs for c in clones]",
            "than what the first one gave",
        ),
        (
            "config = tf.ConfigProto",
            "merged = tf.summary.merge_all()\n        config = tf.ConfigProto",
            "shows the summaries of the clones",
        ),
        ("clone_fn, [iterator])", "clone_fn, [dataset.make_one_shot_iterator()])", "once for all"),
        (
            ", var_list=variables_to_train)",
            ", var_list=variables_to_train, gate_gradients=0)",
            "is given gate_gradients",
        ),
    ],
)
def test_stays(old: str, new: str, why: str) -> None:
    state, told, _ = migrated(changed(old, new))
    assert state == "bridge"
    assert why in told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("own / num_clones", "own"),
        ("if number == 0 else []", "if number == 1 else []"),
        ("reuse=number > 0", "reuse=None"),
        ("tf.add_n(given)", "given[0]"),
        ("'scope', 'device']", "'device', 'scope']"),
    ],
)
def test_another_module_of_that_name(old: str, new: str) -> None:
    state, told, _ = migrated(MAIN, changed(old, new, DEPLOY))
    assert state == "bridge", told


def test_what_a_function_does_is_compared() -> None:
    def of(text: str) -> str:
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        return digest(function)

    plain = of("def f(x):\n    return x + 1")
    assert plain == of("def f(x):\n    '''Adds.'''\n    return (x + 1)  # one")
    assert plain != of("def f(x):\n    return x + 2")
    assert plain != of("def f(x, y):\n    return x + 1")
    assert plain == of(
        "def f(x):\n    if x is not None:\n        tf.summary.scalar('x', x)\n    return x + 1"
    )
