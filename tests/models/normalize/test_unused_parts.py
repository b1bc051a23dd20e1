"""Programs of parts in functions, with parts that nothing uses.

The program is the fixture ``unused_parts``, which is proved.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.support import migration
from tests.support.migration import migrated, run, stays

ESTIMATORS = Path(__file__).parents[3] / "fixtures" / "estimator"
PROGRAM = (ESTIMATORS / "unused_parts" / "before.py").read_text(encoding="utf-8")
TURNED = (ESTIMATORS / "turned_losses" / "before.py").read_text(encoding="utf-8")
NETWORK = {
    path.name: path.read_text(encoding="utf-8")
    for path in (ESTIMATORS / "network_module" / "before").glob("*.py")
}
MADE = "    params = {"
TRAINED = "    estimator.train("
LOGGED = 'logger.info("*** Features ***")'


changed = partial(migration.changed, PROGRAM)


def test_what_nothing_uses() -> None:
    after, said = migrated(PROGRAM)
    assert "RestoreHook" not in after and "use_tpu" not in after, said
    assert "this hook is left out: nothing makes one" in said
    assert "    def all_input_fn():\n        dataset = tf.data.Dataset" in after
    assert "logger.info" not in after and "        return probabilities\n" in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "probabilities = tf.nn.softmax(logits, axis=-1)",
            'probabilities = {"each": tf.nn.softmax(logits, axis=-1)}',
            "predictions is not a dictionary literal",
        ),
        (TRAINED, f"    print(all_input_fn())\n{TRAINED}", "numpy_input_fn` is TF1 API"),
        (TRAINED, f"    print(RestoreHook)\n{TRAINED}", "SessionRunHook` is TF1 API"),
        (LOGGED, "logger.info(flowers())", "belongs to none of network, loss, optimizer"),
        (LOGGED, "logger.setLevel(20)", "belongs to none of network, loss, optimizer"),
        (
            MADE,
            f"    args = parser.parse_args([])\n{MADE}",
            "the arguments of its model_fn are stored in a variable",
        ),
        (
            "    if use_tpu:\n",
            "    use_tpu = use_tpu or loss is None\n    if use_tpu:\n",
            "the optimizer that trains is made of another one",
        ),
    ],
)
def test_what_stays_says_why(old: str, new: str, why: str) -> None:
    stays(changed((old, new)), why)


def test_the_arm_that_a_constant_decides() -> None:
    other = "    optimizer = tf.train.MomentumOptimizer(rate, 0.9)\n"
    plain = "    else:\n        optimizer = tf.train.GradientDescentOptimizer(rate)\n"
    arm = "        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)\n"
    pairs = [(other, ""), (arm, f"    {other}{plain}")]
    after, said = migrated(changed(*pairs))
    assert "optimizer = tf.keras.optimizers.SGD(rate)" in after, said
    after, said = migrated(changed(*pairs, ("use_tpu=False", "use_tpu=True")))
    assert "optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)" in after, said


def test_a_loss_that_is_the_same_either_way() -> None:
    loss = "tf.losses.mean_squared_error(output, labels)"
    for other in ("absolute_difference", "huber_loss"):
        after, said = migrated(TURNED.replace("mean_squared_error", other))
        assert "import tensorflow as tf" in after and "tf.losses" not in after, said
    entropy = "tf.losses.log_loss(output, labels)"
    why = "the loss has the labels where its predictions belong"
    stays(migration.changed(TURNED, (loss, entropy)), why)


def test_a_module_is_written_in_its_own_style() -> None:
    """Programs of other indentations write the same into it, and become native together."""
    main = NETWORK["main.py"]
    layers = "            net = tf.nn.relu(net + shortcut)\n"
    more = "".join(f"            net = tf.layers.dense(net, units + {n})\n" for n in range(4))
    nets = migration.changed(NETWORK["nets.py"], (layers, more + layers))
    narrow = main.replace("    ", "  ")
    files = [("main.py", main), ("narrow.py", narrow), ("nets.py", nets)]
    result = run(*files, ("reader.py", NETWORK["reader.py"]))
    assert [one.state for one in result.programs] == ["native", "native"]
    assert not any("_tf2" in str(file.path) for file in result.files)
