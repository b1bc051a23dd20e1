"""Forms of a session's program that become equal ones, and their neighbours, which stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "session"
SUMMARIES = (FIXTURES / "collected_summaries" / "before.py").read_text()
RETURNED = (FIXTURES / "rnn_returned" / "before.py").read_text()
GIVEN = (FIXTURES / "given_optimizers" / "before.py").read_text()
ADAM = "net_adam = Net(tf.train.AdamOptimizer, 5, beta1=0.8, epsilon=1e-6)"
LAST = "print(np.round(losses, 4))\n"
RESET = f"{LAST}tf.reset_default_graph()\n"
TEST_MERGE = 'test_summaries = tf.summary.merge_all(key="test")\n'
RATE = 'tf.summary.scalar("rate", rate, collections=["train"])\n'
BEGIN = "    sess.run([iterator.initializer, tf.global_variables_initializer()])\n"
DROPOUT = "tf.layers.dropout(net, 0.5, is_training)"
AGAIN = (
    "        with tf.variable_scope(\"encoded\", reuse=tf.AUTO_REUSE):\n"
    "            (h_fw, h_bw), _ = self.both_ways(self.h, size)\n"
)  # fmt: skip
SET = "setattr(self, f'w{i}', tf.get_variable(name=f'w{i}', shape=(2 * size, 2 * size)))"
OUTSIDE = "`p_tensor`, a part of the graph, is used outside of"
STORED = "a part of the graph is stored in something other than a variable"
FIRST = "(p_fw, p_bw), _ = self.both_ways(self.p, size)"


@pytest.mark.parametrize("text", [SUMMARIES, RETURNED, GIVEN, changed(GIVEN, (LAST, RESET))])
def test_native(text: str) -> None:
    text, _ = migrated(text, native_sessions=True)
    assert "tf.function" in text


def test_what_a_shared_part_needs_stands_under_the_tape_with_it() -> None:
    text, _ = migrated(SUMMARIES, native_sessions=True)
    step = text[text.index("def train_step(") :]
    tape = step[step.index("GradientTape") : step.index("rate = ")]
    assert tape.index("accuracy = get_accuracy(") < tape.index("loss, loss_summary")


@pytest.mark.parametrize(
    ("text", "pairs", "reason"),
    [
        (SUMMARIES, [(TEST_MERGE, "test_summaries = shown\n")], "`collections` of a summary"),
        (
            SUMMARIES,
            [(RATE, f"for _ in range(1):\n    {RATE}")],
            "`collections` of a summary",
        ),
        (SUMMARIES, [(RATE, RATE.replace('["train"]', "list(['train'])"))], "`collections` of"),
        (
            SUMMARIES,
            [(BEGIN, BEGIN.replace("])", ", loss])"))],
            "an iterator may be initialized with fed values, or with something else",
        ),
        (
            SUMMARIES,
            [(DROPOUT, DROPOUT.replace(")", ", training=is_training)"))],
            "a layer depends on `is_training`",
        ),
        (RETURNED, [(FIRST, f"{FIRST}\n            print(_)")], OUTSIDE),
        (
            RETURNED,
            [(FIRST, FIRST.replace("(p_fw, p_bw)", "pair"))],
            "`tf.nn.rnn_cell.BasicLSTMCell` is not among",
        ),
        (
            RETURNED,
            [
                (
                    AGAIN,
                    AGAIN.replace(
                        "            (h_fw", "            print(size)\n            (h_fw"
                    ),
                )
            ],
            OUTSIDE,
        ),
        (RETURNED, [(SET, SET.replace("f'w{i}',", "f'w{i + 1}',", 1))], STORED),
        (RETURNED, [("range(1, 3)", "range(1, size - 2)")], STORED),
        (GIVEN, [(ADAM, ADAM.replace("Adam", "Momentum"))], "this optimizer is not known"),
        (GIVEN, [(ADAM, ADAM.replace("beta1=0.8", "beta1=LR"))], "this optimizer is not known"),
        (
            GIVEN,
            [("        # whichever", "        print(opt)\n        #")],
            "this optimizer is not",
        ),
        (GIVEN, [(LAST, f"{RESET}print(tf.zeros([2]))\n")], "`tf.zeros` is not supported"),
    ],
)
def test_others_stay(text: str, pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(text, *pairs), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge", result.files[0].after
    assert any(reason in one for one in said(result)), said(result)
