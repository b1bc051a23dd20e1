"""Training steps that stand in functions of other modules, and rates that they calculate.

The program is the fixture ``calculated_rate``, which is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "calculated_rate" / "before"
MAIN = (FIXTURE / "main.py").read_text(encoding="utf-8")
STEP = (FIXTURE / "optimization.py").read_text(encoding="utf-8")
APPLIED = "    return optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)\n"
GROUP = """\
    train_op = optimizer.apply_gradients(zip(grads, tvars))
    new_global_step = global_step + 1
    return tf.group(train_op, [global_step.assign(new_global_step)])
"""


def both(step: str, main: str = MAIN) -> tuple[str, list[str]]:
    return migrated(("main.py", main), ("optimization.py", step))


def changed(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new)


def test_a_function_of_another_module_is_a_part_of_the_model_fn() -> None:
    after, said = both(STEP)
    assert "def create_optimizer" not in after, said
    assert "class LearningRate(tf.keras.optimizers.schedules.LearningRateSchedule)" in after
    # Its own name, where the model_fn's parameter has that.
    assert "learning_rate_2 = tf.constant(value=self.learning_rate, shape=[]" in after


def test_what_it_uses_of_its_module_is_called_there() -> None:
    step = changed(STEP, "clip_norm=1.0", "clip_norm=NORM").replace(
        "\n\ndef create", "\nNORM = 1.0\n\n\ndef create", 1
    )
    after, said = both(step)
    assert "tf.clip_by_global_norm(gradients, optimization.NORM)" in after, said
    main = changed(MAIN, "import optimization\n", "from optimization import create_optimizer\n")
    main = changed(main, "optimization.create_optimizer", "create_optimizer")
    after, said = both(step, main)
    assert "from optimization import NORM\n" in after, said
    after, said = both(STEP, main)
    assert "from optimization" not in after, said


def test_what_counts_beside_the_step_is_told() -> None:
    after, said = both(changed(STEP, APPLIED, GROUP))
    assert "class LearningRate" in after, said
    assert any("is this step's or the next one's by chance" in one for one in said)
    assert not any("by chance" in one for one in both(STEP)[1])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("new_global_step = global_step + 1", "new_global_step = global_step + 2", "groups more"),
        ("global_step.assign(", "global_step.assign_add(", "the train_op groups more than"),
        ("zip(grads, tvars))", "zip(grads, tvars), global_step)", "does not add one to the global"),
    ],
)
def test_what_counts_otherwise_stays(old: str, new: str, why: str) -> None:
    step = changed(changed(STEP, APPLIED, GROUP), old, new)
    stays(("main.py", MAIN), why, ("optimization.py", step))


@pytest.mark.parametrize(
    ("main", "step", "why"),
    [
        # The model_fn's module calls something else so.
        (("WORDS, LENGTH", "sum = 1\nWORDS, LENGTH"), ("    tvars", "    sum([1])\n    tvars"), ""),
        (("import optim", "re = 1\nimport optim"), ("    tvars", "    re\n    tvars"), ""),
        (("WORDS, LENGTH", "WORDS, LENGTH"), ("init_lr * warmup", "loss * warmup"), "depends on"),
        (("import tensorflow", "import random\n\nimport tensorflow"),
         ("init_lr * warmup", "random.random() * warmup"), "which TF1 asked once"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_there_stays(
    main: tuple[str, str], step: tuple[str, str], why: str
) -> None:
    more = "import random\nimport re\n\nimport tensorflow"
    text = changed(STEP, *step).replace("import tensorflow", more, 1)
    reason = why or "the optimizer of this train_op cannot be determined"
    stays(("main.py", changed(MAIN, *main)), reason, ("optimization.py", text))
