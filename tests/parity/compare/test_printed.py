"""Printed results: equal in text, close in numbers, without TensorFlow's own lines."""

from __future__ import annotations

import time
from typing import Any

import pytest

from migrate_mgpu.parity.compare import printed
from migrate_mgpu.parity.runs.printing import Known

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


OLD = Known(frozenset({"1.15.5", "3.7.16"}), ("/opt/py37",))
NEW = Known(frozenset({"2.15.1", "3.11.7"}), ("/opt/py311",))


def outputs(one: str, other: str, **options: Any) -> printed.Compared:
    return printed.outputs(one, other, known=(OLD, NEW), **options)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("TensorFlow 1.15.5, 0.5", "TensorFlow 2.15.1, 0.5", "a version"),
        ("1.15.5", "2.15.1", "a version"),
        ("on 3.7.16: 1.15.5", "on 3.11.7: 2.15.1", "a version"),
        (
            "<class 'tensorflow.python.estimator.Estimator'> 3",
            "<class '__main__.Model'> 3",
            "a class of a library",
        ),
        ("<__main__.A object at 0x7f21>", "<__main__.A object at 0x7a5>", "an object"),
        ("<function f at 0x7f21>", "<function f at 0x7a5>", "an object"),
        (
            "<tensorflow_estimator.python.estimator.Estimator object at 0x7f21> 2.5",
            "<__main__.Model object at 0x7a5> 2.5",
            "an object",
        ),
        (
            "from /opt/py37/lib/python3.7/site-packages/tensorflow_core/__init__.py",
            "from /opt/py311/lib/python3.11/site-packages/tensorflow/__init__.py",
            "a file of the interpreter",
        ),
        ("loss 0.5", "loss tf.Tensor(0.5, shape=(), dtype=float32)", "a tensor"),
        (
            "w [0.5, 2.]",
            "w <tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=[0.5, 2.]>",
            "a tensor",
        ),
    ],
)
def test_text_that_is_no_result_is_told(one, other, reason):
    found = outputs(f"{one}\nloss 0.25\n", f"{other}\nloss 0.25\n")
    assert found.differences == [] and found.equal == 1
    ((difference, said),) = found.told
    assert (difference.where, said) == ("line 1", reason)
    # What else the line says, and what comes after it, is compared.
    assert outputs(f"{one} 1\nloss 0.25\n", f"{other} 2\nloss 0.25\n").differences
    (found,) = outputs(f"{one}\nloss 0.25\n", f"{other}\nloss 0.5\n").differences
    assert found.where == "line 2"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("data 1.15.5", "data 2.15.2"),  # no version of the runtime's
        ("data 1.0.1", "data 1.0.2"),
        ("score 0.51", "score 0.52"),
        ("<class '__main__.A'>", "<class '__main__.B'>"),
        ("<class 'int'>", "<class 'float'>"),
        ("<__main__.A object at 0x7f21>", "<__main__.B object at 0x7f21>"),
        ("/data/a/train.csv", "/data/a/test.csv"),
        ("/opt/py37/lib/a.py", "/opt/py311/lib/b.py"),
        ("loss 0.5", "loss tf.Tensor(0.6, shape=(), dtype=float32)"),
        ("a cat", "a dog"),
        ("namespace(a=1, b=2)", "a=1,b=3"),
    ],
)
def test_other_text_stays_a_difference_and_the_rest_is_compared(one, other):
    found = outputs(f"first\n{one}\nloss 0.25\nlast\n", f"first\n{other}\nloss 0.25\nlast\n")
    assert [d.where for d in found.differences] == ["line 2"]
    assert found.told == [] and found.equal == 3
    found = outputs(f"first\n{one}\nloss 0.25\n", f"first\n{other}\nloss 0.35\n")
    assert [d.where for d in found.differences] == ["line 2", "line 3"]


RUN = (
    "TensorFlow 1.15.5\n" + "".join(f"step {n}: loss 0.{9 - n}\n" for n in range(5)) + "test 0.75\n"
)


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("test 0.75", "test 0.76", "'test 0.75' became 'test 0.76' (line 7)"),
        ("step 3: loss 0.6\n", "", "'step 3: loss 0.6' became 'step 4: loss 0.5' (line 5)"),
        ("step 4: loss 0.5\n", "", "'step 4: loss 0.5' became 'no line' (line 6)"),
        ("test 0.75\n", "", "'test 0.75' became 'end of output' (line 7)"),
        ("test 0.75\n", "test 0.75\ntest 0.75\n", "'end of output' became 'test 0.75' (line 8)"),
        ("step 0: loss 0.9\n", "new 7\nstep 0: loss 0.9\n", "'no line' became 'new 7' (line 2)"),
        ("test 0.75\n", "best\ntest 0.75\n", "'no line' became 'best' (line 7)"),
    ],
)
def test_behind_text_that_is_told_results_are_still_seen(old, new, seen):
    target = RUN.replace("1.15.5", "2.15.1")
    assert outputs(RUN, target).differences == []
    found = outputs(RUN, target.replace(old, new)).differences
    assert seen in [str(difference).partition(": ")[2] for difference in found]


def test_what_is_printed_while_a_graph_is_built():
    """An Estimator calls the input function in its own time, and anew for each evaluation."""
    called = "* data\nbatch 8\nlayers [3, 4]\n"
    one = f"begin\n{called}step 1\n\n{called}score 0.5\n"
    lines = frozenset({1, 2, 3, 6, 7, 8})
    known = Known(built=lines), Known()
    for other in ("begin\nstep 1\nscore 0.5\n", f"{called}begin\nstep 1\nscore 0.5\n{called}"):
        found = printed.outputs(one, other, known=known)
        assert found.differences == [] and found.built == 6 * (other[0] == "b")
    assert printed.outputs(one, one, known=known).built == 0
    # Without that knowledge, and with another text, it is a difference.
    assert printed.outputs(one, "begin\nstep 1\nscore 0.5\n").differences
    other = one.replace("batch 8", "batch 16")
    (found, *_) = printed.outputs(one, other, known=known).differences
    assert "batch 16" in str(found)
    known = Known(built=lines), Known(built=lines)  # both, on a bridge
    assert printed.outputs(one, one, known=known).differences == []
    assert len(printed.outputs(one, other, known=known).differences) == 1
    # What a traced function of the target prints is none of its results.
    known = Known(), Known(built=frozenset({0}))
    assert printed.outputs("score 1\n", "tracing 3\nscore 1\n", known=known).differences == []
    assert printed.outputs("score 1\n", "tracing 3\nscore 2\n", known=known).differences
    assert printed.outputs("tracing 3\nscore 1\n", "tracing 3\n", known=known).differences


EXPORT = """Saved artifact at 'export/1'. The following endpoints are available:

* Endpoint 'serve'
  args_0 (POSITIONAL_ONLY): TensorSpec(shape=(None, 3), dtype=tf.float32, name='x')
Output Type:
  Dict[['y', TensorSpec(shape=(None, 1), dtype=tf.float32, name=None)]]
Captures:
  139853292449680: TensorSpec(shape=(), dtype=tf.resource, name=None)
"""


def test_what_keras_says_of_an_export():
    assert printed.lines(f"a\n{EXPORT}\n  score 1\nb\n") == ["a", "", "score 1", "b"]
    assert printed.lines(f"a\n{EXPORT}{EXPORT}b\n") == ["a", "b"]


def test_noise_beside_text_that_is_told():
    one, two = "1.15.5: 0.5 in 3.25 s\n", "1.15.5: 0.5 in 4.5 s\n"
    noise = printed.noise(one, two)
    assert outputs(one, "2.15.1: 0.5 in 9.75 s\n", noise=noise).differences == []
    assert outputs(one, "2.15.1: 0.6 in 9.75 s\n", noise=noise).differences


def test_a_long_output_is_aligned_in_little_time():
    one = "".join(f"step {n} loss 0.5\n" for n in range(30_000))
    begin = time.monotonic()
    other = f"first\n{one}last\n".replace("step 500 loss 0.5\n", "stop\n")
    assert printed.outputs(one, other).differences
    assert time.monotonic() - begin < 20
