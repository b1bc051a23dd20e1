"""Builds programs with one TensorFlow and evaluates them; programs and results are JSON.

Started by the tests in a runtime's own interpreter: Python 3.7-clean. A result is a list of
pairs, what it is and its numbers: what the program returns, the gradients of its sum, and all
variables behind an update; or the text of an error.
"""

from __future__ import annotations

import gc
import importlib
import json
import linecache
import sys
import traceback

import numpy as np
import tensorflow.compat.v1 as tf

STEPS = 3
POSITIVE = ("variance", "Adagrad", "Adam", "power")
GIVEN = ("loss_scale", "step")  # values that programs count from
# What tf-slim reads names from, and what programs give them: taken back behind each program.
LENT = ("framework.ops", "layers.normalization", "ops.control_flow_ops", "ops.array_ops")


# What a program computes is compared, not what Grappler makes of it, which takes longer.
CONFIG = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True


def wave(shape, phase=0.0):
    size = int(np.prod(shape))
    return np.sin(np.arange(size) * 0.7 + phase).reshape(shape).astype(np.float32)


LABELS = np.array([0, 2, 1, 2, 0, 1], np.int32)
INPUTS = (wave((6, 5)), wave((4, 6, 6, 3), 2.0), LABELS, np.eye(3, dtype=np.float32)[LABELS])


def numbers(value):
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in numbers(part)]
    return np.asarray(value, np.float64).ravel().tolist()


def evaluate(name, text):
    space = {"__name__": "program"}
    linecache.cache[name] = len(text), None, text.splitlines(True), name  # autograph reads it
    exec(compile(text, name, "exec"), space)
    graph = tf.Graph()
    found = []
    with graph.as_default():
        tf.set_random_seed(1)
        outputs = space["build"](*INPUTS)
        variables = tf.global_variables()
        trained = tf.trainable_variables()
        found.append([",".join(v.op.name for v in variables), []])
        found.append([",".join(v.op.name for v in trained), []])
        floats = [
            tf.reduce_sum(o * tf.constant(wave((int(np.prod(o.shape)),), 1.0).reshape(o.shape)))
            for o in outputs
            if isinstance(o, tf.Tensor) and o.dtype == tf.float32 and o.shape.is_fully_defined()
        ]
        train = name.startswith("TRAIN")
        gradients = (
            tf.gradients(tf.add_n(floats), trained) if floats and trained and not train else []
        )
        gradients = [(v, g) for v, g in zip(trained, gradients) if g is not None]
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.Session(config=CONFIG) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            given = {}
            if not name.startswith("INITIAL"):
                values = {}
                for index, variable in enumerate(variables):
                    counts = variable.op.name.startswith(GIVEN)
                    if variable.dtype.base_dtype == tf.float32 and not counts:
                        value = wave(variable.shape.as_list(), index) * 0.4
                        if any(word in variable.op.name for word in POSITIVE):
                            value = np.abs(value) + 0.5
                        value = np.asarray(value, np.float32)
                        values[variable.initializer] = given[variable.op.name] = value
                # As `variable.load` does, but in one run: each looks at the whole graph.
                session.run(list(values), {i.inputs[1]: value for i, value in values.items()})
            if train:
                for step in range(STEPS):
                    found.append([f"step {step}", numbers(session.run(outputs)[1:])])
            else:
                for index, value in enumerate(session.run(outputs)):
                    found.append([f"output {index}", numbers(value)])
                for (variable, _), value in zip(
                    gradients, session.run([tf.convert_to_tensor(g) for _, g in gradients])
                ):
                    found.append([f"gradient of {variable.op.name}", numbers(value)])
                session.run(updates)
            for variable, value in zip(variables, session.run(variables)):
                same = np.array_equal(value, given.get(variable.op.name))
                changed = "as it was given" if same else ""
                found.append(
                    [
                        f"{variable.op.name} {list(np.shape(value))} {changed}",
                        [] if same else numbers(value),
                    ]
                )
    return found


def main():
    gc.freeze()  # TensorFlow's own objects stay
    gc.set_threshold(100000, 20, 50)
    results = {}
    homes = [importlib.import_module("tensorflow.python." + name) for name in LENT]
    for name, text in json.load(sys.stdin).items():
        before = [set(vars(home)) for home in homes]
        try:
            results[name] = evaluate(name, text)
        except Exception:
            results[name] = traceback.format_exc()
        for home, names in zip(homes, before):
            for lent in set(vars(home)) - names:
                delattr(home, lent)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
