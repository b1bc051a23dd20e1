"""Calls public names of TF1 with small arguments: what they give, its gradients, its variables.

    PYTHON name_values.py [draws] < CALLS.json

``CALLS.json`` is a list of pairs, a name and the keys of ``ARGUMENTS`` that it is called with.
Prints a line of JSON, a list of a name, keys and a result: the text of an error, or

- ``parts``: of each tensor that comes out its type, its shape and its numbers or texts; with
  ``draws``, none of those that are others where other operations stand before,
- ``gradients``: the numbers of those of the sum of squares, by the arguments; or an error's type,
- ``variables``: their names and shapes. The trainable ones have the same values on all.

Runs in the interpreter under test: Python 3.7.
"""

from __future__ import annotations

import inspect
import json
import signal
import sys

import numpy as np
import tensorflow.compat.v1 as tf

SECONDS = 20  # for a call
FEW, SUMS = 24, 12  # more numbers than that become so many weighted sums


def wave(*shape, phase=0.0):
    """Numbers from -1 to 1."""
    size = int(np.prod(shape))
    return np.sin(np.arange(size) * 0.7 + phase).reshape(shape).astype(np.float32)


def rows(*shape, phase=0.0):
    """Numbers from 0.1 to 0.9."""
    return (wave(*shape, phase=phase) * 0.4 + 0.5).astype(np.float32)


ARGUMENTS = {
    "rows": rows(2, 3), "signed": wave(2, 3, phase=1.0), "others": rows(2, 3, phase=2.0),
    "square": np.float32([[3.0, 0.5, 0.25], [0.5, 2.0, 0.125], [0.25, 0.125, 4.0]]),
    "columns": rows(3, 2), "three": rows(3), "two": rows(2, phase=3.0), "number": np.float32(0.4),
    "images": rows(2, 6, 8, 3), "image": rows(6, 8, 3, phase=1.0),
    "bytes": (rows(2, 6, 8, 3) * 255).astype(np.uint8), "kernel": wave(3, 3, 3, 2),
    "depthwise": wave(3, 3, 3, 1), "planes": wave(3, 3, 3), "sequences": wave(2, 5, 3),
    "kernel of sequences": wave(2, 3, 4), "volumes": wave(1, 4, 4, 4, 2),
    "kernel of volumes": wave(2, 2, 2, 2, 2), "whole": np.int32([[0, 2, 1], [1, 1, 0]]),
    "places": np.int32([0, 2]), "long": np.int64([1, 2]), "segments": np.int32([0, 1, 1]),
    "2": np.int32(2), "labels": np.int32([1, 0]), "size": np.int32([3, 4]),
    "one of three": np.eye(3, dtype=np.float32)[[0, 2]],
    "truths": np.array([[True, False, True], [False, False, True]]),
    "complex": (wave(2, 3) + 1j * wave(2, 3, phase=2.0)).astype(np.complex64),
    "texts": np.array(["12", "3.5"], object), "words": np.array(["a b", "c"], object),
    "text": np.array("7", object),
}  # fmt: skip


def made(cls, *choices):
    """An object of a class, with the first arguments that it takes."""
    for arguments in choices:
        try:
            return cls(*arguments)
        except TypeError:
            if arguments is choices[-1]:
                raise


def seeded(cls):
    try:
        return cls(seed=3)
    except TypeError:
        return made(cls, (), (0.3,))


def step(cls, given):
    cell = cls(4)
    return cell(given[0], cell.zero_state(2, tf.float32))


def layer(cls, given):
    return made(cls, (), (3,), (3, 2))(given[0])


def loss(cls, given):
    return cls()(*given)


def start(cls, given):
    return seeded(cls)([4, 4])


# How an object of a class is made and called, by where the class is.
CLASSES = {
    "layers": layer,
    "keras.layers": layer,
    "keras.losses": loss,
    "keras.metrics": loss,
    "keras.constraints": loss,
    "keras.initializers": start,
    "initializers": start,
    "keras.regularizers": lambda cls, given: cls(0.1)(given[0]),
    "nn.rnn_cell": step,
}


class Late(BaseException):
    pass


def late(*_):
    raise Late


def tensor(key):
    value = ARGUMENTS[key]
    return tf.constant(value.tolist() if value.dtype == object else value)


def flat(value):
    """The tensors and arrays in a value."""
    if hasattr(value, "flat_values"):  # ragged
        return [value.flat_values, *value.nested_row_splits]
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    if isinstance(value, tf.Tensor) or hasattr(value, "assign"):  # Keras has variables of its own
        return [tf.convert_to_tensor(value)]
    if isinstance(value, (bool, int, float, str, bytes, np.ndarray, np.generic)):
        return [np.asarray(value)]
    return []


def numbers(array):
    """Numbers or texts of an array; weighted sums of many."""
    if array.dtype.kind in "OSU":
        return [one.decode("latin1") if isinstance(one, bytes) else str(one) for one in array.flat]
    found = array.ravel()
    if array.dtype.kind == "c":
        found = np.concatenate([found.real, found.imag])
    found = found.astype(np.float64)
    if found.size > FEW:
        weighted = found * np.cos(np.arange(found.size) * 0.3)
        found = np.array([weighted[start::SUMS].sum() for start in range(SUMS)])
    return [float(f"{one:.6g}") if np.isfinite(one) else str(one) for one in found]


def shown(array):
    kind = "text" if array.dtype.kind in "OSU" else array.dtype.name
    return [kind, list(array.shape), numbers(array)]


def evaluate(call, keys, before=0):
    """The result of a call, behind so many operations."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        for _ in range(before):
            tf.constant(0)
        given = [tensor(key) for key in keys]
        outputs = flat(call(given))
        try:
            gradients = slopes(outputs, given)
        except Exception as error:
            gradients = type(error).__name__
        variables = tf.global_variables() + tf.local_variables()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(tf.tables_initializer())
            for at, variable in enumerate(tf.trainable_variables()):
                value = wave(*variable.shape.as_list(), phase=at) * 0.4
                session.run(variable.initializer, {variable.initializer.inputs[1]: value})
            values = [one if isinstance(one, np.ndarray) else session.run(one) for one in outputs]
            try:
                if not isinstance(gradients, str):
                    gradients = [numbers(session.run(one)) for one in gradients]
            except Exception as error:
                gradients = type(error).__name__
    names = sorted([one.name, one.shape.as_list()] for one in variables)
    parts = [shown(np.asarray(one)) for one in values]
    return {"parts": parts, "gradients": gradients, "variables": names}


def slopes(outputs, given):
    """Gradients of the sum of squares."""
    values = [one for one in outputs if isinstance(one, tf.Tensor) and one.dtype == tf.float32]
    sources = [one for one in given if one.dtype == tf.float32]
    if not values or not sources:
        return []
    found = tf.gradients([tf.reduce_sum(one * one) for one in values], sources)
    return [tf.convert_to_tensor(one) for one in found if one is not None]


def named(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def called(name, keys, draws):
    """The result of a call, or its error."""
    signal.alarm(SECONDS)
    try:
        function, home = named(name), CLASSES.get(name.rpartition(".")[0])

        def call(given):
            return home(function, given) if inspect.isclass(function) else function(*given)

        result = evaluate(call, keys)
        if draws and any(evaluate(call, keys, before) != result for before in (3, 5, 8)):
            result["parts"] = [[kind, shape, None] for kind, shape, _ in result["parts"]]
            result["gradients"] = None
        return result
    except Late:
        return f"it takes longer than {SECONDS} s"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.alarm(0)


def main():
    if not tf.__version__.startswith("1."):
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.FATAL)
    signal.signal(signal.SIGALRM, late)
    draws = sys.argv[1:] == ["draws"]
    results = [[name, keys, called(name, keys, draws)] for name, keys in json.load(sys.stdin)]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
