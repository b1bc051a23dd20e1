"""Messages in a model_fn: those for a person go with a remark, what may be a result stays."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, HEAD, TAIL, whole
from tests.support.migration import migrated, stays

PROGRAM = (
    HEAD.replace("import functools\n", "import functools\nimport logging\n")
    + f"""\
def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 16)
    logits = tf.layers.dense(net, 3)
    MESSAGE
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn)
"""
    + TAIL
)


@pytest.mark.parametrize(
    ("message", "remark"),
    [
        ("tf.logging.info('mode %s' % mode)", "this message is left out"),
        ("tf.logging.info('mode {}'.format(mode))", "this message is left out"),
        ("logging.info('shape %s', str(logits.get_shape()))", "this message is left out"),
        ("print(logits)", "this print is left out"),
        ("print('logits', logits.get_shape().as_list())", "this print is left out"),
        ("print('')\n    print('in model_fn', mode)", "this print is left out: TF1 ran"),
        (
            "if mode == tf.estimator.ModeKeys.TRAIN:\n        tf.logging.info('a {}'.format(1))",
            "this message is left out",
        ),
    ],
)
def test_a_message_goes_with_a_remark(message: str, remark: str) -> None:
    after, said = migrated(whole(PROGRAM.replace("MESSAGE", message)))
    assert "model.compile(" in after, said
    assert any(one.startswith(remark) for one in said)
    assert "logging.info" not in after and "print(logits" not in after


@pytest.mark.parametrize(
    "message",
    [
        "print('training', 7 * rate())",
        "print('training', file=log)",
        "print(STEPS)",
        "tf.logging.info('saved to {}'.format(save(logits)))",
        "print(save(logits))",
        "show(logits)",
    ],
)
def test_what_may_be_more_stays(message: str) -> None:
    program = PROGRAM.replace("MESSAGE", message)
    stays(whole(program), "belongs to none of network, loss, optimizer and metrics")


def test_a_print_of_ones_own_stays() -> None:
    program = PROGRAM.replace("MESSAGE", "print(logits)").replace(
        "def model_fn", "def print(value):\n    return value\n\n\ndef model_fn"
    )
    stays(whole(program), "belongs to none of network, loss, optimizer and metrics")
