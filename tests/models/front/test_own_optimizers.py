"""Optimizers of a program's own: classes derived from `tf.train.Optimizer`.

The program is the fixture ``own_optimizer``, which is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.models.front.variable_names import snake
from tests.support.migration import changed, migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "own_optimizer" / "before"
MAIN = (FIXTURE / "main.py").read_text(encoding="utf-8")
OPTIMIZER = (FIXTURE / "optimization.py").read_text(encoding="utf-8")
WORDS = '["LayerNorm", "layer_norm", "bias"]'


def both(optimizer: str, main: str = MAIN) -> tuple[str, list[str]]:
    return migrated(("main.py", main), ("optimization.py", optimizer))


def test_it_becomes_keras_own() -> None:
    after, said = both(OPTIMIZER)
    assert "class DecayedAdam(tf.keras.optimizers.SGD):" in after, said
    assert "        super().__init__(learning_rate, name=name)\n\n        self.weight_" in after
    assert 'self.add_variable_from_reference(one, "adam_m") for one in variables' in after
    assert "        update_with_lr = rate * update\n" in after
    # Its gradients are clipped where the model trains.
    assert "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)" in after


def test_a_rate_that_is_calculated() -> None:
    rate = "learning_rate=learning_rate,\n        weight"
    after, said = both(changed(OPTIMIZER, (rate, f"learning_rate={CALCULATED},\n        weight")))
    assert "learning_rate=LearningRate(learning_rate)," in after, said


CALCULATED = "learning_rate / (1.0 + tf.cast(global_step, tf.float32))"


def test_a_rate_of_settings_that_are_none_where_nothing_trains() -> None:
    rate = """\
        rate = tf.train.exponential_decay(
            learning_rate, tf.train.get_global_step(), steps, 0.5
        ) / (1.0 + tf.cast(tf.train.get_global_step(), tf.float32))
        optimizer = tf.train.AdagradOptimizer(rate)
"""
    text = changed(
        (FIXTURE.parents[1] / "made_model_fn" / "before.py").read_text(encoding="utf-8"),
        ("        optimizer = tf.train.AdagradOptimizer(learning_rate)\n", rate),
        ("hidden_units, learning_rate=0.5)", "hidden_units, steps, learning_rate=0.5)"),
        ("[16, 16])", "[16, 16], steps)"),
    )
    made = "    steps = 50\n    vectors ="
    after, said = migrated(changed(text, ("    vectors =", made)))
    assert "is None" not in after, said
    made = "    steps = None\n    if flags.num_gpus:\n        steps = 50\n    vectors ="
    after, said = migrated(changed(text, ("    vectors =", made)))
    assert "        if self.steps is None:  # Keras 2 asks where nothing trains, too\n" in after, (
        said
    )
    # Who asks it himself means something by it.
    asked = ("        optimizer", "        if steps:\n            rate *= 0.5\n        optimizer")
    after, said = migrated(changed(text, ("    vectors =", made), asked))
    assert "is None" not in after, said


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "        assignments = []\n",
            "        assignments = [global_step.assign_add(1)]\n",
            "counts the steps itself",
        ),
        ("if grad is None or param is None:", "if grad is None or name:", "leaves variables out"),
        ("trainable=False,\n                initializer=tf.zeros", "initializer=tf.zeros", "slot"),
        ("initializer=tf.zeros_initializer()", "initializer=tf.ones_initializer()", "slot that"),
        ("m.assign(next_m)", "m.assign(m + next_m)", "assigns in a way"),
        ("m.assign(next_m)", "m.assign_add(next_m)", "assigns in a way"),
        ("class DecayedAdam(tf.train.Optimizer)", "class DecayedAdam(Base)", "does not add one to"),
        ("        self.beta_1 = beta_1\n", "        self.momentum = beta_1\n", "keeps `momentum`"),
        ("        self.beta_1 = beta_1\n", "        print(beta_1)\n", "more in its constructor"),
        (
            "    def _do_use",
            "    def _apply_dense(self, g, v):\n        pass\n\n    def _do_use",
            "calls",
        ),
        (WORDS, '["layer_norm", "bias"]', "the optimizer decides by names, and `LayerNorm`"),
        (WORDS, '["encoder", "bias"]', "the optimizer decides by names, and `encoder`"),
        (WORDS, '["^encoder"]', "cannot be determined"),
        (WORDS, "list(FLAGS)", "cannot be determined"),
        ("re.search(r, param_name) is not None", "param_name.startswith(r)", "ask more of a"),
        ("re.search(r, param_name) is not None", "r == param_name", "may compare the name"),
    ],
)
def test_what_stays(old: str, new: str, why: str) -> None:
    base = "class Base(tf.train.Optimizer):\n    pass\n\n\n" if "Base" in new else ""
    optimizer = changed(OPTIMIZER, (old, new)).replace("class Dec", f"{base}class Dec", 1)
    stays(("main.py", MAIN), why, ("optimization.py", optimizer))


def test_an_optimizer_that_is_used_elsewhere_stays() -> None:
    main = changed(MAIN, ("def main(_):\n", "def main(_):\n    optimization.DecayedAdam(0.1)\n"))
    stays(("main.py", main), "that is used here as well", ("optimization.py", OPTIMIZER))


@pytest.mark.parametrize(
    ("name", "own"),
    [("LayerNormalization", "layer_normalization"), ("Conv2D", "conv2d"), ("LSTM", "lstm")],
)
def test_what_keras_calls_a_layer(name: str, own: str) -> None:
    assert snake(name) == own
