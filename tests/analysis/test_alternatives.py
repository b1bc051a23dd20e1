"""Two configurations of a program of which a process makes one alone are two processes' own."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

PROGRAM = """\
import sys
import tensorflow as tf


def train():
    config = tf.ConfigProto(log_device_placement=True)
    with tf.Session(config=config) as sess:
        print(sess.run(tf.constant(1)))


def evaluate(name):
    with tf.Session() as sess:
        print(name, sess.run(tf.constant(2)))


def main(_):
    print("begin")
{body}


if __name__ == "__main__":
    {start}
"""
APP, PLAIN = "tf.app.run()", "main(sys.argv)"


def moved(body: str, start: str = APP) -> int:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    result = run(PROGRAM.format(body=lines, start=start), bridge=True)
    assert result.sites["applied"] + result.sites["kept"] == 1, said(result)
    return result.sites["applied"]


@pytest.mark.parametrize("start", [APP, PLAIN])
@pytest.mark.parametrize(
    "body",
    [
        "if sys.argv[1:]:\n    train()\nelse:\n    evaluate('all')",
        "if sys.argv[1:]:\n    train()\nelif sys.argv:\n    print()\n    evaluate('all')",
        "if sys.argv[1:]:\n    train()\n    return\nevaluate('all')",
        "if not sys.argv[1:]:\n    evaluate('all')\n    raise SystemExit\nprint()\ntrain()",
        "if sys.argv:\n    print()\nif sys.argv[1:]:\n    train()\nelse:\n    evaluate('all')",
    ],
)
def test_one_of_two(body: str, start: str) -> None:
    assert moved(body, start) == 1


@pytest.mark.parametrize(
    "body",
    [
        "train()\nevaluate('all')",
        "if sys.argv[1:]:\n    train()\nevaluate('all')",
        "if sys.argv[1:]:\n    train()\nif not sys.argv[2:]:\n    evaluate('all')",
        "if sys.argv[1:]:\n    train()\n    evaluate('all')\nelse:\n    print()",
        "for one in sys.argv:\n    if one:\n        train()\n    else:\n        evaluate('all')",
        "if sys.argv[1:]:\n    train()\nelse:\n    print()\nevaluate('all')",
        "if sys.argv[1:]:\n    train()\nelse:\n    list(map(evaluate, 'ab'))",  # handed on
        "evaluate('first')\nif sys.argv[1:]:\n    train()\nelse:\n    evaluate('all')",
    ],
)
def test_both(body: str) -> None:
    assert moved(body) == 0


def test_options_set_above_the_choice_hold_in_both() -> None:
    text = PROGRAM.replace("def train():\n", "def train(config):\n")
    text = text.replace("    config = tf.ConfigProto(log_device_placement=True)\n", "")
    text = text.replace('print("begin")', "config = tf.ConfigProto(log_device_placement=True)")
    body = "    if sys.argv[1:]:\n        train(config)\n    else:\n        evaluate('all')"
    result = run(text.format(body=body, start=APP), bridge=True)
    assert result.sites["applied"] == 0, said(result)


def test_main_that_runs_twice_comes_to_both() -> None:
    body = "if sys.argv[1:]:\n    train()\nelse:\n    evaluate('all')"
    assert moved(body, "main(1)\n    main(2)") == 0
