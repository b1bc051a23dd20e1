"""Summaries in the functions of a network: left out and told of, by themselves or in blocks."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, HEAD, TAIL, whole
from tests.support.migration import migrated, stays

PROGRAM = (
    HEAD
    + f"""\
def variable_summaries(var):
    \"\"\"Shows a variable.\"\"\"
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(var)
        tf.summary.scalar("mean", mean)
        stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar("stddev", stddev)
        tf.summary.histogram("histogram", var)


def network(x, log):
    with tf.variable_scope("first"):
        x = tf.layers.dense(x, 8)
        SUMMARY
        x = tf.nn.relu(x)
    return tf.layers.dense(x, 3)


def model_fn(features, labels, mode):
    logits = network(features, log=True)
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn)
"""
    + TAIL
)


@pytest.mark.parametrize(
    "summary",
    [
        'tf.summary.histogram("x", x)',
        'if log == True:\n            tf.summary.histogram("x", x)',
        'if log:\n            tf.summary.scalar("mean", tf.reduce_mean(x))\n'
        "            variable_summaries(x)",
        "variable_summaries(x)",
        'with tf.name_scope("summary"):\n            tf.summary.histogram("x", x)',
    ],
)
def test_it_goes_with_a_remark(summary: str) -> None:
    after, said = migrated(whole(PROGRAM.replace("SUMMARY", summary)))
    body = after.partition("class Network(")[2].partition("def model_fn")[0]
    assert body, said
    assert "summar" not in body and "if log" not in body
    assert 'with tf.name_scope("first"):' in body
    assert "            x = tf.nn.relu(x)\n" in body
    assert any(message.startswith("this summary is left out") for message in said)


def test_what_stands_beside_it_in_a_branch_stays() -> None:
    summary = 'if log:\n            tf.summary.histogram("x", x)\n            x = x * 2'
    after, said = migrated(whole(PROGRAM.replace("SUMMARY", summary)))
    assert "            if self.log:\n                x = x * 2\n" in after, said
    assert "histogram(" not in after.partition("class Network(")[2]


WRITES = "`tf.summary.histogram` writes with a session's graph"


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        ('for _ in range(2):\n            tf.summary.histogram("x", x)', WRITES),
        ('if log:\n            tf.summary.histogram("x", x)\n        else:\n            show(x)',
         "what the network does without this branch stands in its `else`"),
        ('if show(x):\n            tf.summary.histogram("x", x)', WRITES),
        ('x = tf.summary.histogram("x", x)', WRITES),
    ],
)  # fmt: skip
def test_what_may_be_more_stays(summary: str, reason: str) -> None:
    program = PROGRAM.replace("SUMMARY", summary)
    stays(whole(program), reason)


def test_in_the_model_fn_itself() -> None:
    program = PROGRAM.replace("        SUMMARY\n", "").replace(
        "log=True)\n", "log=True)\n    variable_summaries(logits)\n"
    )
    after, said = migrated(whole(program))
    assert "summar" not in after, said
    assert any(message.startswith("this summary is left out") for message in said)


def test_a_function_that_is_called_elsewhere_stays() -> None:
    program = PROGRAM.replace("SUMMARY", "variable_summaries(x)") + "variable_summaries(1.0)\n"
    after, said = migrated(whole(program))
    assert "variable_summaries(x)" not in after, said
    assert "def variable_summaries(var):" in after and after.endswith("variable_summaries(1.0)\n")
