"""Variables that are initialized again: what they are in TF2, and which programs stay."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, MODEL, START, program
from tests.support.migration import migrated, run, said

STEP = "sess.run(train, {x: rows})\n"
AGAIN = "sess.run(tf.global_variables_initializer())\n"
SHOWN = "print(sess.run(w))\n"
ADAM = MODEL.replace("GradientDescentOptimizer(0.1)", "AdamOptimizer(0.1)")
DRAWN = HEAD.replace("tf.zeros([2, 1])", "tf.random_normal([2, 1])")
SEEDED = HEAD.replace("tf.zeros([2, 1])", "tf.random_normal([2, 1], seed=3)")
TWO = f"""\
with tf.Session() as sess:
    {AGAIN}    {STEP}
with tf.Session() as sess:
    {AGAIN}    {STEP}    {SHOWN}"""


def native(text: str) -> str:
    result = run(text, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after, _ = migrated(text, native_sessions=True)
    assert "Session" not in after and "sess" not in after.replace("sessions", "")
    return after


def test_a_constant_is_what_it_was() -> None:
    after = native(program(run=STEP + AGAIN + STEP + SHOWN))
    assert after.count("first_w = tf.identity(w)\n") == after.count("w.assign(first_w)\n") == 1
    assert after.index("first_w = ") < after.index("train_step(rows)\n") < after.index("w.assign")


def test_what_is_drawn_is_drawn_anew() -> None:
    after = native(program(run=STEP + AGAIN + STEP + SHOWN, head=DRAWN))
    assert "w.assign(tf.Variable(tf.random.normal([2, 1])))\n" in after and "first_w" not in after


def test_a_new_session_draws_the_numbers_of_a_seed_once_more() -> None:
    after = native(program(start="", run=TWO, head=SEEDED))
    assert "first_w = tf.identity(w)\n" in after and "w.assign(first_w)\n" in after
    graph = native(program(start="", run=TWO, head=DRAWN + "tf.set_random_seed(4)\n"))
    assert "w.assign(first_w)\n" in graph


def test_a_later_session_begins_the_stream_of_a_seed_anew() -> None:
    drawn = MODEL.replace("tf.matmul(x, w)", "tf.nn.dropout(tf.matmul(x, w), 0.5, seed=2)")
    assert native(program(drawn, run=STEP + AGAIN + STEP))
    result = run(program(drawn, start="", run=TWO), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("and streams of random numbers with them" in one for one in said(result))


def test_what_no_run_reads_any_more_is_what_tf1_leaves() -> None:
    second = "u = tf.Variable(tf.ones([2, 1]))\n" + MODEL.replace("w)", "u)")
    run_all = STEP + second + AGAIN + STEP + "print(sess.run(u))\n"
    after = native(program(run=run_all))
    assert "w.assign(first_w)\n" in after and "u.assign" not in after
    assert "count" not in after.replace("count = tf.Variable", "")  # it is what it was
    seeded = native(program(run=run_all, head=SEEDED))  # its next numbers: nothing asks for them
    assert "assign" not in seeded and "first_" not in seeded


def test_what_is_saved_is_what_it_begins_with_again() -> None:
    saved = "saver.save(sess, 'a')\n"
    saver = "saver = tf.train.Saver()\n"
    after = native(program(before=saver, run=STEP + saved + AGAIN + saved))
    assert after.index("train_step(rows)") < after.index("w.assign(first_w)")
    assert after.index("w.assign(first_w)") < after.rindex("saver.save('a')")


def test_a_size_that_was_settled_before_is_the_same_again() -> None:
    head = "size = 1\nsize = size + 1\n" + DRAWN.replace("[2, 1]", "[size, 1]")
    after = native(program(run=STEP + AGAIN + STEP + SHOWN, head=head))
    assert "w.assign(tf.Variable(tf.random.normal([size, 1])))" in after


def test_an_operation_may_be_given_in_turn() -> None:
    after = native(program(run=STEP + MODEL.replace("- 1.0", "- 2.0") + STEP + SHOWN))
    assert after.count("GradientTape") == 2 and "- 2.0" in after


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (program(ADAM, STEP + AGAIN + STEP), "and what an optimizer keeps with them"),
        (program(run=STEP + AGAIN + STEP, head=SEEDED), "by the next numbers of its seed"),
        (
            program(run=STEP + AGAIN + STEP, head=DRAWN + "tf.set_random_seed(4)\n"),
            "by the next numbers of its seed",
        ),
        (
            program(
                before="saver = tf.train.Saver()\n",
                run=f"{STEP}saver.save(sess, 'a')\n{AGAIN}saver.restore(sess, 'a')\n",
            ),
            "variables are initialized again, and some are saved",
        ),
        (
            program(
                ADAM + "saver = tf.train.Saver()\n",
                f"{STEP}{AGAIN}saver.save(sess, 'a')\n",
            ),
            "variables are initialized again, and some are saved",
        ),
        (
            program(
                head="rows_of = 1\n"
                + DRAWN.replace("[2, 1]", "[rows_of + 1, 1]")
                + "def more():\n    global rows_of\n    rows_of = 2\n\n\n",
                run=f"{STEP}more()\n{AGAIN}{STEP}",
            ),
            "what it begins with may have changed",
        ),
        (
            program(
                MODEL.replace("tf.matmul(x, w)", "tf.layers.dense(x, 1)"), STEP + AGAIN + STEP
            ),
            "variables without names of their own are initialized again",
        ),
        (
            program(
                run=STEP + "size[0] = 3\n" + AGAIN + STEP,
                head="size = [2, 1]\n" + DRAWN.replace("[2, 1]))", "size))"),
            ),
            "what it begins with may have changed",
        ),
        (
            program(run=STEP + f"for i in range(2):\n    {AGAIN}    {STEP}"),
            "variables are initialized after something has run",
        ),
        (
            program(
                run="def f():\n    sess.run(train, {x: rows})\n\n\n"
                + STEP + MODEL.replace("- 1.0", "- 2.0") + "f()\n"
            ),
            "`train` is also assigned elsewhere",
        ),
    ],
    ids=["slots", "seed", "graph's seed", "restored", "saved slots", "global", "layer", "changed",
         "loop", "in a function"],
)  # fmt: skip
def test_stays(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)


COUNTED = """\
steps = tf.Variable({})
rate = tf.train.exponential_decay(0.1, steps, 2, 0.9)
out = tf.matmul(x, w) * scale
loss = tf.reduce_mean(tf.square(out - 1.0)){}
train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=steps)
"""


def test_a_whole_number_counts_steps_though_an_optimizer_might_train_it() -> None:
    after = native(program(COUNTED.format("0", ""), STEP + "print(sess.run(steps))\n"))
    assert "variables = [w]\n" in after and "steps.assign_add(1)" in after


def test_a_rate_that_is_a_number_where_an_optimizer_is_made() -> None:
    second = COUNTED.format("0", "").replace("rate", "speed")
    first = "speed = 0.5\n" + MODEL.replace("Optimizer(0.1)", "Optimizer(speed)")
    after = native(
        program(first, STEP + "tf.reset_default_graph()\n" + HEAD.split("\n\n", 1)[1] + second
                + START + STEP)
    )  # fmt: skip
    assert "SGD(speed)" in after and "ExponentialDecay(" in after


def test_a_counter_that_the_loss_takes_is_not_trained() -> None:
    after = native(program(COUNTED.format("0", " + tf.to_float(steps)"), STEP))
    assert "variables = [w]\n" in after and "steps.assign_add(1)" in after


def test_a_counter_of_another_type_that_the_loss_takes_stays() -> None:
    text = program(COUNTED.format("0.0", " + steps"), STEP)
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("`steps`, which it trains, counts its steps" in one for one in said(result))
