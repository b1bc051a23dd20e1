"""Monitored sessions become plain loops, or stay with the reason."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

HEAD = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
rows = np.ones([4, 2])
"""
STOP = "tf.train.StopAtStepHook(last_step=4)"
LOOP = "    while not sess.should_stop():\n        sess.run(train_op, {x: rows})\n"
OWN = """\
class Hook(tf.train.SessionRunHook):
    def begin(self):
        self.seen = 0

    def before_run(self, run_context):
        self.seen += 1
        return tf.train.SessionRunArgs(loss)

    def after_run(self, run_context, run_values):
        print(self.seen, run_values.results)


"""


def monitored(given: str, body: str = LOOP, before: str = "", head: str = HEAD) -> str:
    made = f"with tf.train.MonitoredTrainingSession({given}) as sess:\n{body}"
    return head + before + made


def kept(text: str) -> str:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return str(said(result))


def test_a_loop_that_stops_at_a_step() -> None:
    after = native(monitored(f"hooks=[{STOP}]"))
    assert (
        "should_stop = False\nwhile not should_stop:\n    train_step(rows)\n"
        "    step = global_step.numpy()\n    should_stop = step >= 4\n"
    ) in after


def test_steps_are_counted_from_where_it_began() -> None:
    hook = "tf.train.StopAtStepHook(num_steps=3)"
    after = native(monitored(f"hooks=[{hook}]"))
    assert "last_step = global_step.numpy() + 3\n" in after
    assert "should_stop = step >= last_step\n" in after


def test_a_global_step_without_a_name_gets_one() -> None:
    head = HEAD.replace("global_step = tf.train.get_or_create_global_step()\n", "")
    head = head.replace("global_step=global_step", "tf.train.get_or_create_global_step()")
    after = native(monitored(f"hooks=[{STOP}]", head=head))
    assert "    step = global_step.numpy()\n" in after


def test_without_hooks_it_goes_on_for_ever() -> None:
    body = "    for _ in range(3):\n        if sess.should_stop():\n            break\n"
    after = native(monitored("", body + "        sess.run(train_op, {x: rows})\n"))
    assert "if False:\n" in after
    assert "while True:\n" in native(monitored("", LOOP + "        break\n"))


def test_checkpoints_at_the_start_every_so_often_and_at_the_end() -> None:
    after = native(monitored(f'checkpoint_dir="run", save_checkpoint_steps=2, hooks=[{STOP}]'))
    save = 'saver.save("run/model.ckpt", global_step=global_step)\n'
    assert f"saved_step = global_step.numpy()\n{save}" in after
    assert f"    if step >= saved_step + 2:\n        {save}        saved_step = step\n" in after
    assert f"if global_step.numpy() != saved_step:\n    {save}" in after
    assert "    saver.restore(checkpoint)\n" in after
    assert "saver.recover_last_checkpoints(checkpoints.all_model_checkpoint_paths)\n" in after


def test_checkpoints_by_the_clock_are_the_default() -> None:
    after = native(monitored(f'checkpoint_dir="run", hooks=[{STOP}]'))
    assert "import time\n" in after
    assert "    if time.time() >= saved_time + 600:\n" in after
    assert "MergeSummary" not in after


def test_summaries_are_computed_every_so_often() -> None:
    head = HEAD.replace("global_step =", 'tf.summary.scalar("loss", loss)\nglobal_step =')
    after = native(
        monitored(f'summary_dir="run", save_summaries_steps=5, hooks=[{STOP}]', head=head)
    )
    assert "next_summary = 0\n" in after
    assert "    step = global_step.numpy()\n    if step >= next_summary:\n" in after
    assert "        next_summary = step + 5\n" in after


def test_what_hooks_fetch_is_fetched_once() -> None:
    hooks = f'{STOP}, tf.train.LoggingTensorHook({{"loss": loss}}, every_n_iter=2), '
    after = native(monitored(f"hooks=[{hooks}tf.train.NanTensorHook(loss)]"))
    assert "    loss_value = train_step(rows).numpy()\n" in after
    assert (
        '    if runs % 2 == 0:\n        tf.get_logger().info("loss = %s", loss_value)\n'
        "    runs += 1\n    if np.isnan(loss_value):\n"
    ) in after
    assert '        raise RuntimeError("NaN loss during training.")\n' in after


def test_a_hook_of_the_programs_own_is_called_around_the_step() -> None:
    after = native(monitored(f"hooks=[{STOP}, Hook()]", before=OWN))
    assert "class Hook:\n" in after and "SessionRunHook" not in after
    assert "    def before_run(self):\n        self.seen += 1\n\n" in after
    assert "    def after_run(self, results):\n        print(self.seen, results)\n" in after
    assert (
        "    hook.before_run()\n    loss_value = train_step(rows).numpy()\n"
        "    step = global_step.numpy()\n    hook.after_run(loss_value)\n"
    ) in after


def test_data_that_end_end_the_session_quietly() -> None:
    body = LOOP.replace("{x: rows}", "{x: next(data)}")
    after = native(monitored(f"hooks=[{STOP}]", body, before="data = iter([rows, rows])\n"))
    assert "try:\n    while not should_stop:\n" in after
    assert "except StopIteration:\n    pass  # the data has ended\n" in after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (monitored('master="grpc://a:1"'), "one of several that train together"),
        (monitored("is_chief=(len(rows) == 4)"), "one of several that train together"),
        (monitored("scaffold=tf.train.Scaffold()"), "a monitored session is given its `scaffold`"),
        (monitored(f"hooks=[{STOP}, {STOP}]"), "a session has two hooks that stop it"),
        (monitored("hooks=make_hooks()"), "which hooks a session has cannot be determined"),
        (
            monitored("hooks=[tf.train.LoggingTensorHook([loss], every_n_iter=1)]"),
            "the tags of what a hook logs cannot be determined",
        ),
        (
            monitored('hooks=[tf.train.NanTensorHook("loss:0")]'),
            "a hook asks the graph for `loss:0`",
        ),
        (
            monitored("hooks=[tf.train.ProfilerHook(save_steps=3)]"),
            "the hook `tf.train.ProfilerHook` has no form in a loop of steps",
        ),
        (
            monitored(
                "hooks=[Hook()]", before=OWN.replace("self.seen = 0", "self.seen = tf.zeros([])")
            ),
            "the hook `Hook` calls `tf.zeros`",
        ),
        (
            monitored(
                "hooks=[Hook()]",
                before=OWN.replace("self.seen +=", "run_context.session\n        self.seen +="),
            ),
            "the hook `Hook` uses its `run_context`",
        ),
        (
            monitored(f"hooks=[{STOP}]", LOOP + "        sess.run(loss, {x: rows})\n"),
            "hooks watch several runs of a session",
        ),
        (
            monitored(f"hooks=[{STOP}]", LOOP + "    print(sess.run(loss, {x: rows}))\n"),
            "something is run when hooks have stopped the session",
        ),
        (
            monitored(f"hooks=[{STOP}]", "    train(sess)\n", "def train(s):\n    print(s)\n\n\n"),
            "hooks watch a session that is used for more than `run`",
        ),
        (
            monitored(
                "hooks=[tf.train.NanTensorHook(loss)]",
                LOOP.replace("sess.run(train_op", "all = sess.run([train_op, w]"),
            ),
            "what a run gives, and hooks fetch more of, is kept as a whole",
        ),
        (
            monitored("checkpoint_dir=folder", before="folder = input()\n"),
            "whether a monitored session saves anything cannot be determined",
        ),
        (
            HEAD + "sess = tf.train.MonitoredTrainingSession()\nsess.run(train_op, {x: rows})\n",
            "a monitored session is made outside of a `with` statement",
        ),
    ],
)
def test_what_stays_says_why(text: str, why: str) -> None:
    assert why in kept(text)


def test_what_goes_is_told() -> None:
    result = run(monitored(f'checkpoint_dir="run", hooks=[{STOP}]'), native_sessions=True)
    assert "TF1 logs `global_step/sec` too" in str(said(result))
    quiet = f'checkpoint_dir="run", log_step_count_steps=None, hooks=[{STOP}]'
    assert "global_step/sec" not in str(said(run(monitored(quiet), native_sessions=True)))
