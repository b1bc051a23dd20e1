"""Networks that are built once more with the averages of their variables, and what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, stays

FIXTURE = Path("fixtures/estimator/averaged_network/before.py")
PROGRAM = (Path(__file__).resolve().parents[3] / FIXTURE).read_text()

WAITS = """\
    # The averages move first
    with tf.control_dependencies([ema_op]):
        train_op = tf.train.AdamOptimizer(0.02).minimize(
            loss, global_step=tf.train.get_or_create_global_step(), var_list=variables
        )
"""
GROUPED = """\
    train_op = tf.train.AdamOptimizer(0.02).minimize(
        loss, global_step=tf.train.get_or_create_global_step(), var_list=variables
    )
    train_op = tf.group([train_op, ema_op])
"""
GETTER = "        return average if average else variable\n"
SCOPED = 'tf.get_collection("trainable_variables", "net")'
KINDS = '        logits = tf.layers.dense(net, params["kinds"])\n'
DENSE = "        net = tf.layers.dropout(net,"
SOME = "only some of the variables are trained"
MOVES = "how these averages move cannot be determined"
WAITS_FOR = "a training step waits for something other than the update operations"
CHANCES = "    chances = tf.nn.softmax(logits * scale)\n"


def test_a_second_network_has_the_averages() -> None:
    found, said = migrated(PROGRAM)
    assert "    model.averages = Model(params)  # of its variables\n" in found, said
    assert "logits_ema, _ = self.averages(features, training=False)" in found
    assert not any("by chance" in one for one in said)


def test_averages_are_there_before_a_checkpoint_is_restored() -> None:
    """Else Keras 3 ends with an error in the first step of who resumes."""
    made = '"decay": 0.9}\n'
    found, said = migrated(changed(PROGRAM, (made, f'{made[:-1]}, model_dir="waves"\n')))
    built = found.index("tf.function(estimator.averages).get_concrete_function(")
    assert found.index("tf.function(estimator).get_concrete_function(") < built, said
    assert built < found.index("checkpoint.restore(")


def test_averages_of_a_group_move_before_what_trains() -> None:
    found, said = migrated(changed(PROGRAM, (WAITS, GROUPED)))
    assert "    model.averages = Model(params)" in found, said
    assert any("now and then by what it is after, by chance" in one for one in said), said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SCOPED, "tf.trainable_variables()"),
        (SCOPED, 'tf.trainable_variables("net")'),
        (SCOPED, 'tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "net")'),
        (GETTER, "        return average if average is not None else variable\n"),
    ],
)
def test_forms_of_it(old: str, new: str) -> None:
    found, said = migrated(changed(PROGRAM, (old, new)))
    assert "    model.averages = Model(params)" in found, said


# What is changed, and what the finding says then.
STAYS = {
    "the getter does something else": (
        [(GETTER, "        return variable if average else average\n")],
        SOME,
    ),
    "the second network gets other values": (
        [("features, labels, mode, params, reuse=True", "features, labels, mode, {}, reuse=True")],
        SOME,
    ),
    "only some variables are averaged": (
        [(SCOPED, 'tf.get_collection("trainable_variables", "net/dense")')],
        SOME,
    ),
    "the model has other variables": (
        [(CHANCES, "    logits = tf.layers.dense(logits, 2)\n" + CHANCES)],
        SOME,
    ),
    "the averages move behind what trains": (
        [
            ("    ema_op = ema.apply(variables)\n", "    ema.apply(variables)\n"),
            (
                WAITS,
                GROUPED.replace(
                    "    train_op = tf.group([train_op, ema_op])\n",
                    "    with tf.control_dependencies([train_op]):\n"
                    "        train_op = ema.apply(variables)\n",
                ),
            ),
        ],
        WAITS_FOR,
    ),
    "the averages wait for something": (
        [
            (
                "    ema_op = ema.apply(variables)\n",
                "    with tf.control_dependencies([logits]):\n"
                "        ema_op = ema.apply(variables)\n",
            )
        ],
        MOVES,
    ),
    "how much they keep changes": (
        [('ExponentialMovingAverage(params["decay"])', 'ExponentialMovingAverage(0.9, 10)')],
        MOVES,
    ),
    "nothing moves them": (
        [(WAITS, GROUPED.replace("    train_op = tf.group([train_op, ema_op])\n", ""))],
        "averages are read that no training step moves",
    ),
    "it normalizes batches": (
        [(DENSE, "        net = tf.layers.batch_normalization(net, training=training)\n" + DENSE)],
        SOME,
    ),
    "it has a variable that is not averaged": (
        [(KINDS, KINDS + '        tf.get_variable("rest", [2], trainable=False)\n')],
        SOME,
    ),
    "it collects losses": (
        [(KINDS, KINDS + "        tf.losses.add_loss(tf.reduce_mean(logits))\n")],
        SOME,
    ),
    "a variable of it is made anew each time": (
        [("dtype=tf.float32, trainable=False)", "dtype=tf.float32)")],
        SOME,
    ),
    "the loss uses the averages": (
        [("labels=labels, logits=logits * scale", "labels=labels, logits=logits_ema * scale")],
        "the loss uses averages of variables",
    ),
    "several replicas train": (
        [(
            "    model_fn, params=",
            "    model_fn,\n    config=tf.estimator.RunConfig(\n"
            "        train_distribute=tf.distribute.MirroredStrategy()\n    ),\n    params=",
        )],
        "averages of variables on several replicas",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    stays(changed(PROGRAM, *pairs), reason)
