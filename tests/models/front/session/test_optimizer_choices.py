"""Optimizers that a condition of the program's chooses: it stays, with TF2's in each arm."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, START
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

LOSS = """\
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) * scale - 1.0))
"""
CHAIN = """\
if scale > 1.0:
    optimizer = tf.train.AdamOptimizer(0.1)
elif scale > 0.5:
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
else:
    raise ValueError(scale)
"""
TRAIN = "train = optimizer.minimize(loss)\n"
STEPS = START + "sess.run(train, {x: rows})\n"


def program(chain: str = CHAIN, head: str = HEAD, train: str = TRAIN, steps: str = STEPS) -> str:
    return head + LOSS + chain + train + steps


def stays(text: str) -> str:
    result = run(text, bridge=True, native_sessions=True)
    (message,) = (one for one in said(result) if one.startswith("the session stays"))
    return message


def test_each_arm_has_what_tf1_does() -> None:
    after = native(program())
    assert (
        "if scale > 1.0:\n"
        "    optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)\n"
        "elif scale > 0.5:\n"
        "    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)\n"
        "else:\n"
        "    raise ValueError(scale)\n"
        "variables = [w]\n"
        "optimizer.build(variables)\n"
    ) in after


def test_an_expression_chooses() -> None:
    chain = (
        "optimizer = tf.train.AdamOptimizer(0.1) if scale > 1.0 "
        "else tf.train.AdagradOptimizer(0.2)\n"
    )
    after = native(program(chain))
    assert "Adam(0.1, epsilon=1e-8) if scale > 1.0 else tf.keras" in after
    assert "tf.keras.optimizers.Adagrad(0.2, epsilon=0.0)" in after


def test_arms_that_minimize_alike_choose_an_optimizer() -> None:
    chain = CHAIN.replace("optimizer = ", "train = ")
    chain = chain.replace("(0.1)", "(0.1).minimize(loss)").replace("0.9)", "0.9).minimize(loss)")
    assert native(program(chain, train="")) == native(program())


def test_arms_that_minimize_different_losses_stay() -> None:
    chain = CHAIN.replace("optimizer = ", "train = ")
    chain = chain.replace("(0.1)", "(0.1).minimize(loss)").replace(
        "0.9)", "0.9).minimize(loss * 2.0)"
    )
    assert "`loss`, a part of the graph, is used outside" in stays(program(chain, train=""))


def test_a_rate_of_steps_is_asked_by_all_where_one_sums_up_momentum() -> None:
    """Keras's momentum has the rate in its sum; a rate of its own would be another form."""
    head = HEAD + "rate = tf.placeholder(tf.float32, [])\n"
    chain = CHAIN.replace("(0.1", "(rate")
    steps = STEPS.replace("rows}", "rows, rate: 0.1}")
    after = native(program(chain, head, steps=steps))
    assert "optimizer_rate = tf.Variable(0.0, trainable=False)\nif scale > 1.0:\n" in after
    assert "    optimizer = tf.keras.optimizers.Adam(StepRate(optimizer_rate), eps" in after
    assert "    optimizer = Momentum(StepRate(optimizer_rate), momentum=0.9)\n" in after
    assert "    optimizer_rate.assign(rate)\n    optimizer.apply_gradients(" in after


def test_a_rate_of_steps_is_assigned_where_none_does() -> None:
    head = HEAD + "rate = tf.placeholder(tf.float32, [])\n"
    chain = CHAIN.replace("(0.1", "(rate").replace(
        "MomentumOptimizer(rate, 0.9)", "RMSPropOptimizer(rate)"
    )
    steps = STEPS.replace("rows}", "rows, rate: 0.1}")
    after = native(program(chain, head, steps=steps))
    assert "    optimizer = RMSprop(0.0, epsilon=1e-10)\n" in after
    assert "    optimizer.learning_rate.assign(rate)\n" in after


TABLE = HEAD.replace("tf.float32, [None, 2]", "tf.int32, [None]")
LOOKED_UP = LOSS.replace("tf.matmul(x, w)", "tf.gather(w, x)")


def of_table(chain: str, steps: str = STEPS) -> str:
    return TABLE + LOOKED_UP + chain + TRAIN + steps.replace("rows}", "[0, 1]}")


def test_rows_stay_apart_for_the_arms_that_need_to_know_them() -> None:
    after = native(of_table(CHAIN))
    assert "class TableMomentum(OwnRows, tf.keras.optimizers.SGD):\n" in after
    assert "    optimizer = TableMomentum(0.1, momentum=0.9)\n" in after
    assert (
        "    if not isinstance(optimizer, OwnRows):\n"
        "        gradients = [tf.convert_to_tensor(value) for value in gradients]\n"
    ) in after


@pytest.mark.parametrize(
    ("made", "written"),
    [
        ("MomentumOptimizer(0.1, 0.9)", "TableMomentum(0.1, momentum=0.9)"),
        ("RMSPropOptimizer(0.1)", "TableRMSProp(0.1, epsilon=1e-10)"),
        ("AdadeltaOptimizer(0.1)", "TableAdadelta(0.1, epsilon=1e-8)"),
        ("FtrlOptimizer(0.1)", "TableFtrl(0.1)"),
    ],
)
def test_an_optimizer_alone_changes_only_the_rows_of_a_step(made: str, written: str) -> None:
    after = native(of_table(f"optimizer = tf.train.{made}\n"))
    assert f"optimizer = {written}\n" in after
    assert "convert_to_tensor(value)" not in after


def test_a_saver_knows_what_each_keeps() -> None:
    steps = "saver = tf.train.Saver()\n" + STEPS + "saver.save(sess, 'm')\n"
    after = native(program(steps=steps))
    assert "**optimizer_state(optimizer)" in after
    assert (
        "    if isinstance(optimizer, tf.keras.optimizers.SGD) and optimizer.momentum:\n" in after
    )
    assert "'Variable/Momentum/velocity'" in after
    assert "'Variable/Adam_1'" in after


STAYING = {
    "a rate of a step's in one arm alone": (
        program(
            CHAIN.replace("(0.1)", "(rate)"),
            HEAD + "rate = tf.placeholder(tf.float32, [])\n",
            steps=STEPS.replace("rows}", "rows, rate: 0.1}"),
        ),
        "the optimizers of a choice have different learning rates in a step",
    ),
    "an arm that no class of Keras's equals": (
        program(
            CHAIN.replace("MomentumOptimizer(0.1, 0.9)", "ProximalAdagradOptimizer(0.1, 0.1, 0.01)")
        ),
        "no Keras optimizer equals tf.train.ProximalAdagradOptimizer",
    ),
    "a condition of the graph": (
        program(CHAIN.replace("if scale > 1.0", "if loss.shape.ndims", 1)),
        "which optimizer is made depends on `loss`, a part of the graph",
    ),
    "one that is made before as well": (
        program("optimizer = tf.train.AdagradOptimizer(0.1)\n" + CHAIN),
        "`optimizer` is also assigned elsewhere",
    ),
    "the states of two, one of which is chosen": (
        program(
            train=TRAIN + "other = tf.train.AdagradOptimizer(0.1).minimize(loss)\n",
            steps="saver = tf.train.Saver()\n"
            + STEPS
            + "sess.run(other, {x: rows})\nsaver.save(sess, 'm')\n",
        ),
        "the states of two optimizers are saved, one of which is chosen",
    ),
    "two of a kind that keep other values": (
        program(
            CHAIN.replace("AdamOptimizer(0.1)", "MomentumOptimizer(0.1, 0.5)"),
            steps="saver = tf.train.Saver()\n" + STEPS + "saver.save(sess, 'm')\n",
        ),
        "two optimizers of a choice are `momentum`, and keep other values",
    ),
}


@pytest.mark.parametrize("text, why", STAYING.values(), ids=STAYING)
def test_what_stays(text: str, why: str) -> None:
    assert why in stays(text)
