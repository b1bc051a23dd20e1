"""Printed results: equal in text, close in numbers, without TensorFlow's own lines."""

from __future__ import annotations

import pytest

from migrate_mgpu.parity.compare import printed

CPU = "_DeviceAttributes(/job:localhost/replica:0/task:0/device:CPU:0, CPU"
XLA = CPU.replace("CPU", "XLA_CPU")


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("[[22. 28.]\n [49. 64.]]\n", "[[ 22.  28.]\n [ 49.  64.]]\n"),
        ("loss 0.1234567\n", "loss 0.1234569\n"),
        ("step 3: 1e-05\n", "step 3: 0.00001\n"),
        # What digits an array's elements have gives each of them its width.
        ("[array([[0.13186342, 1.5]])]\n", "[array([[0.1318634 , 1.5 ]])]\n"),
        ("[0.5, 2]\n", "[np.float32(0.5), np.int64(2)]\n"),
        (
            "Device mapping:\n/job:localhost/replica:0/task:0/device:XLA_CPU:0 -> device: XLA_CPU "
            "device\na/b: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0\n7\n",
            "a/b: (MatMul): /job:localhost/replica:0/task:0/device:CPU:2\n7\n",
        ),
        # `session.list_devices()`: memory, a number of the run, and in 1.15 XLA's own devices.
        (f"seen: [{CPU}, 268435456, 77), {XLA}, 17179869184, 78)]\n", f"seen: [{CPU}, 9, -5)]\n"),
        ("inf -inf\n", "inf -inf\n"),
        # By the clock: two runs may take the same second, and the other program another one.
        ("loss 0.5, time 0:00:00\n", "loss 0.5, time 0:00:01\n"),
        ("took 1 day, 0:00:59.1\n", "took 0:01:02.25\n"),
        (
            "{'accuracy': 0.5, 'loss': 1.25, 'global_step': 50}, {'b': nil, 'a': x}\n",
            "{'loss': np.float32(1.25), 'accuracy': 0.5, 'global_step': 50}, {'a': x, 'b': nil}\n",
        ),
        # Keras' progress: nothing, Keras 2's and Keras 3's, with verbose=1 and 2.
        ("loss 0.5\n", "Epoch 1/2\n4/4 - 0s - loss: 0.13 - 127ms/epoch - 32ms/step\nloss 0.5\n"),
        (
            "a\nEpoch 1/2\n\n1/4 [====>....] - ETA: 1s - loss: 0.6000\x08\x08\x08\n"
            "4/4 [=======] - 1s 9ms/step - loss: 0.4000\n\n1/2 [====>...] - ETA: 0s\x08\nb\n",
            "a\nEpoch 1/2\n\n\x1b[1m1/4\x1b[0m \x1b[32m━━\x1b[0m\x1b[37m━━\x1b[0m \x1b[1m1s\x1b[0m "
            "503ms/step - loss: 0.4000\x08\x08\n4/4 - 0s - 57ms/step - loss: 0.04\nb\n",
        ),
        # The program's own blank line above a bar that is drawn twice.
        (
            "a\n\nb\n",
            "a\n\n\r1/1 [====] - ETA: 0s\x08\x08\r1/1 [====] - 0s 58ms/step\nb\n",
        ),
        ("Train on 64 samples, validate on 8 samples\nx 1\n", "x 1\n"),
        # Parts of a graph, in a list too.
        ("[<tf.Tensor 'tower_0/a:0' shape=(2,) dtype=float32>]\nx 1\n", "x 1\n"),
        # Shapes with sizes that are not known, as a graph has them.
        ("[None, None, 128]\nthe shape: (?, 10)\n(3, None)\nx 1\n", "x 1\n"),
        # A callback's line, and one after an interruption, stand on the bar's line; a data
        # set's length may be unknown.
        (
            "Epoch 1/2\n\r1/4 [=====>....] - ETA: 0s - loss: 1.6464 - mae: 1.1888SAY 7\nb\n"
            "\r4/4 [======] - 0s 3ms/step - loss: 1.2391 - mae: 1.0003\nEpoch 2/2\n\r1/4 "
            "[====>.....] - ETA: 1:05 - loss: 7.9762e-04\x08\x08\x08RuntimeError: stop\n",
            "SAY 7\nb\nRuntimeError: stop\n",
        ),
        (
            "\r      1/Unknown - 0s 180ms/step - loss: 0.2514 - mae: 0.4411x 1\n"
            "\r      1/Unknown \x1b[1m0s\x1b[0m 17ms/step - loss: 0.0729\r\x1b[1m4/4\x1b[0m "
            "\x1b[32m━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m0s\x1b[0m 2ms/step - loss: 0.1480  \n"
            "\r      1/Unknown - 1s 1s/step - loss: nany 2\n",
            "x 1\ny 2\n",
        ),
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
        ("4/4 done\n", "3/4 done\n", 1),
        ("{'a': 1, 'b': 2}\n", "{'a': 2, 'b': 1}\n", 1),
        ("{'a': 1, 'b': 2}\n", "{'b': 2}\n", 1),
        ("{'a': [1, 2], 'b': 2}\n", "{'b': 2, 'a': [2, 1]}\n", 1),
        (
            "1/4 [==>...] - ETA: 0s - loss: 0.9227cost 1\n",
            "1/4 [==>...] - ETA: 0s - loss: 0.9227cost 2\n",
            1,
        ),
        ("1/4 [==>...] - ETA: 0s - loss: 0.9227failed\n", "", 1),
        ("step 4/4 - loss 0.5\n", "step 4/4 - loss 0.6\n", 1),
        ("my device /job:a\n", "my device /job:b\n", 1),
        (f"[{CPU}, 1, 2)]\n", f"[{CPU}, 1, 2), {CPU.replace('CPU', 'GPU')}, 1, 3)]\n", 1),
    ],
)
def test_different(reference, target, line):
    (difference,) = printed.compare(reference, target)
    assert (difference.name, difference.where) == ("printed", f"line {line}")


def test_tolerance_is_a_choice():
    assert printed.compare("1.0", "1.01", relative=0.02) == []
    assert printed.compare("1.0", "1.01", relative=0.001) != []


ROW = "[0.00381414 0.73456731]"


def test_an_array_is_one_line_and_measured_against_its_largest():
    assert printed.compare(f"p\n[{ROW}\n {ROW}]\nq 1\n", f"p\n[{ROW} {ROW}]\nq 1\n") == []
    (found,) = printed.compare(f"p\n[{ROW}\n {ROW}]\nq 1\n", f"p\n[{ROW} {ROW}]\nq 2\n")
    assert found.where == "line 4"
    near = ROW.replace("381414", "381919")  # 5e-6, of 0.7
    assert printed.compare(ROW, near) == []
    assert printed.compare("0.00381414 0.73456731", "0.00381919 0.73456731")  # no array
    assert printed.compare(ROW, ROW.replace("381414", "382919"))
    # What only begins like an array ends with its line.
    assert printed.lines("[INFO\n1 2\n[1,\n2]\n3\n") == ["[INFO", "1 2", "[1, 2]", "3"]


def test_a_list_of_arrays_is_one_line():
    """What a session gives for a list: where NumPy breaks its arrays follows from the digits."""
    old = (
        "[array([1.        , 1.        , 0.99999994,\n       1.        ], dtype=float32), 4, "
        "array([[0.25, 0.5 ],\n       [0.75, 1.  ]], dtype=float32)]\nend\n"
    )
    new = (
        "[array([1., 1., 1., 1.], dtype=float32), np.int64(4), "
        "array([[0.25, 0.5 ],\n       [0.75, 1.  ]], dtype=float32)]\nend\n"
    )
    assert printed.compare(old, new) == []
    assert printed.compare(old, new.replace("0.75", "0.76"))
    assert printed.compare(old, new.replace("end", "END"))
    (found,) = printed.compare(old, new.replace("float32)]", "float64)]"))
    assert found.where == "line 1"


def test_a_loss_that_falls_to_nothing():
    one = "loss 4.5\nloss 3.1e-07\n"
    assert printed.compare(one, "loss 4.5\nloss 7e-07\n") == []
    assert printed.compare(one, "loss 4.5\nloss 9.9e-07\n")
    assert printed.compare("loss 0.5\nloss 3.1e-07\n", "loss 0.5\nloss 7e-07\n")


def test_long_lines_are_shown_where_they_differ():
    long = " ".join(f"{n}.5" for n in range(100))
    (found,) = printed.compare(long, long.replace(" 70.5", " 70.6"))
    assert "70.5 71.5" in found.reference and "70.6 71.5" in found.target
    assert len(found.reference) < 120


def test_what_rounding_moves():
    assert printed.moved("a 0.5 3\n", "a 0.75 4\n") == {(0, 0): 0.25, (0, 1): 1.0}
    assert printed.moved("a 0.5\n", "b 0.5\n") is None
    moved = {(0, 1): 1.0}
    assert printed.compare("a 0.5 3\n", "a 0.5 4\n", moved=moved) == []
    assert printed.compare("a 0.5 3\n", "a 0.5 5\n", moved=moved)
    assert printed.compare("a 0.5 3\n", "a 0.6 3\n", moved=moved)
