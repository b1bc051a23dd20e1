"""Loops of weights whose sizes the tensor of the turn before says, and what keeps them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.oracle import FIXTURES
from tests.support.migration import changed, run, said

PROGRAM = (FIXTURES / "session" / "tied_in_loops" / "before.py").read_text("utf-8")
SIZE = "width = int(net.get_shape()[1])"
TENSOR = "depends on the tensor"
FED = "net = inputs * (1.0 + noise)"
KEPT = "kernels.append(kernel)"


def test_a_turn_says_the_size_of_the_next() -> None:
    after = native(PROGRAM)
    assert "    width = sizes[0]\n" in after
    assert "            width = size\n\n    def call" in after


def test_a_size_within_an_expression_gets_a_name() -> None:
    asked = "net.get_shape().as_list()[1]"
    text = PROGRAM.replace(f"        {SIZE}\n", "").replace("[width, size]", f"[{asked}, size]")
    text = changed(text, ("-1.0 / math.sqrt(width), 1.0 / math.sqrt(width)", "-0.3, 0.3"))
    after = native(text)
    assert "    net_size = sizes[0]\n" in after and "            net_size = size\n" in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # What a turn makes has another size than it says.
        ("tf.nn.tanh(tf.matmul(net, kernel) + bias)", "tf.tile(tf.matmul(net, kernel), [1, 2])",
         TENSOR),
        (KEPT, f"{KEPT}\n        size = 2 * size", TENSOR),
        # The first size is not known.
        ("[None, sizes[0]], name", "[None, len(range(8))], name", TENSOR),
        # It is that of another dimension.
        (SIZE, "width = int(net.get_shape()[0])", TENSOR),
        # It is read behind the loop, as it was in the last turn.
        ("    code = net\n", "    code = net * width\n", TENSOR),
        # A turn may end early.
        (KEPT, f"{KEPT}\n        if size < 3:\n            continue", "`net`"),
        # Two names of one list, of which one would not be turned.
        ("    kernels.reverse()\n", "    other = kernels\n    kernels.reverse()\n", "`kernels`"),
        # It is no number of Python's.
        ("-1.0 / math.sqrt(width)", "-1.0 / rate(width)", "is not a constant"),
    ],
)  # fmt: skip
def test_what_is_not_seen_stays(old: str, new: str, why: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)
    told = [one.message for one in result.findings if one.state in ("kept", "refused")]
    assert any(why in one for one in told), told
