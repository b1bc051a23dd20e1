"""What becomes of a block whose every statement goes away with its option."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

HEAD = "import tensorflow as tf\n\nconfig = tf.ConfigProto()\nconfig.allow_soft_placement = True\n"
TAIL = "x = tf.ones([2])\nwith tf.Session(config=config) as sess:\n    print(sess.graph, x)\n"
GONE = "config.gpu_options.allocator_type = 'BFC'"
MOVED = "config.log_device_placement = True"
WRITTEN = "tf.debugging.set_log_device_placement(True)"


def migrated(block: str) -> str:
    text = f"{HEAD}{block.format(gone=GONE, moved=MOVED)}{TAIL}"
    result = run(text, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    found = after(result, text)
    _, _, found = found.partition("tf.config.set_soft_device_placement(True)\n")
    return found.partition("x = tf.ones")[0]


@pytest.mark.parametrize(
    ("block", "becomes"),
    [
        ("if args.growth:\n    {gone}\n", ""),
        ("if args.growth and not (n > 1 or flag is None):\n    {gone}\n    {gone}\n", ""),
        ("if a:\n    if b:\n        {gone}\n", ""),
        ("if a:\n    if b:\n        {gone}\n    {moved}\n", "if a:\n    {written}\n"),
        ("if a:\n    {moved}\nelse:\n    {gone}\n", "if a:\n    {written}\n"),
        ("if a:\n    {moved}\nelse:\n    if b:\n        {gone}\n", "if a:\n    {written}\n"),
    ],
)
def test_a_condition_that_only_asks_goes(block: str, becomes: str) -> None:
    assert migrated(block) == becomes.format(written=WRITTEN)


@pytest.mark.parametrize(
    "block",
    [
        "if ask():\n    {gone}\n",  # it may do more than ask
        "if flags[0]:\n    {gone}\n",  # and a subscript calls __getitem__, which may fail
        "if a:\n    # Slow.\n    {gone}\n",  # every comment stays
        "if a:  # Slow.\n    {gone}\n",
        "if a:\n    {gone}\nelse:\n    print(b)\n",
        "if a:\n    print(b)\nelif b:\n    {gone}\n",
        "while a:\n    {gone}\n",
        "try:\n    {gone}\nfinally:\n    print(a)\n",
        "def changed():\n    {gone}\n",
    ],
)
def test_others_keep_a_pass(block: str) -> None:
    assert migrated(block) == block.format(gone="pass")
