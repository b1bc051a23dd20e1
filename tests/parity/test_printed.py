"""Printed results: equal in text, close in numbers, without TensorFlow's own lines."""

from __future__ import annotations

import pytest

from migrate_mgpu.parity import printed


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("[[22. 28.]\n [49. 64.]]\n", "[[ 22.  28.]\n [ 49.  64.]]\n"),
        ("loss 0.1234567\n", "loss 0.1234569\n"),
        ("step 3: 1e-05\n", "step 3: 0.00001\n"),
        ("[0.5, 2]\n", "[np.float32(0.5), np.int64(2)]\n"),
        (
            "Device mapping:\n/job:localhost/replica:0/task:0/device:XLA_CPU:0 -> device: XLA_CPU "
            "device\na/b: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0\n7\n",
            "a/b: (MatMul): /job:localhost/replica:0/task:0/device:CPU:2\n7\n",
        ),
        ("inf -inf\n", "inf -inf\n"),
    ],
)
def test_equal(reference, target):
    assert printed.compare(reference, target) == []


@pytest.mark.parametrize(
    ("reference", "target", "line"),
    [
        ("loss 0.12345\n", "loss 0.12346\n", 1),
        ("step 10\n", "step 11\n", 1),
        ("1000000\n", "1000001\n", 1),  # whole numbers have no tolerance
        ("a\nloss 1.0\n", "a\ncost 1.0\n", 2),
        ("a\nb\n", "a\n", 2),
        ("a\n", "a\nb\n", 2),
        ("loss nan\n", "loss nan\n", 1),
        ("loss 1.0\n", "loss inf\n", 1),
        ("0.0\n", "1e-3\n", 1),
        ("op0.5x\n", "op0.6x\n", 1),
        ("my device /job:a\n", "my device /job:b\n", 1),
    ],
)
def test_different(reference, target, line):
    (difference,) = printed.compare(reference, target)
    assert (difference.name, difference.where) == ("printed", f"line {line}")


def test_tolerance_is_a_choice():
    assert printed.compare("1.0", "1.01", relative=0.02) == []
    assert printed.compare("1.0", "1.01", relative=0.001) != []
