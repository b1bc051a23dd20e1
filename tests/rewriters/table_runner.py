"""Runs rows of the tables in one TensorFlow, 1.15 or 2; rows and results are JSON.

Started as a program by the tests, in a runtime's own interpreter: Python 3.7-clean, with
numpy and TensorFlow alone. A result is a list of numbers, or the text of an error.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import tensorflow as tf

V1 = tf.__version__.startswith("1.")
STEPS = 20


def wave(shape, phase=0.0):
    """Numbers between -1 and 1 that repeat late, the same in every version of numpy."""
    size = int(np.prod(shape))
    return np.sin(np.arange(size) * 0.7 + phase).reshape(shape).astype(np.float32)


def inputs():
    """The arrays that rows may name."""
    labels = np.array([0, 2, 1, 2, 0, 1], np.int32)
    return {
        "x2": wave((6, 5)),
        "x3": wave((2, 7, 4), 1.0),
        "x4": wave((4, 6, 6, 3), 2.0),
        "c4": wave((4, 3, 6, 6), 2.0),
        "x5": wave((2, 4, 4, 4, 2), 3.0),
        "ids": np.array([[1, 4, 0], [2, 2, 3]], np.int32),
        "labels": labels,
        "column": labels[:, None],
        "onehot": np.eye(3, dtype=np.float32)[labels],
        "logits": wave((6, 3), 0.5) * 3,
        "pairs": (wave((6, 3), 4.0) > 0).astype(np.float32),
        "binary": np.array([[0], [1], [1], [0], [1], [0]], np.float32),
        "logit": wave((6, 1), 0.2) * 2,
        "scores": wave((6, 1), 0.2) * 0.49 + 0.5,
        "values": wave((6, 3), 1.5),
        "targets": wave((6, 3), 2.5),
        "positive": np.abs(wave((4, 3))) + 0.1,
        "images": np.abs(wave((2, 4, 4, 3), 2.0)),
    }


INPUTS = inputs()


def flat(values):
    """Everything in one list of numbers."""
    found = []
    for value in values:
        found.extend(np.asarray(value, np.float64).ravel().tolist())
    return found


def start(index, variable):
    """The value that the index-th variable of a layer starts with."""
    value = wave(variable.shape.as_list() if V1 else list(variable.shape), 1.0 + index) * 0.5
    name = getattr(variable, "path", variable.name)
    return np.abs(value) + 0.5 if "moving_variance" in name else value


def beta_behind_gamma(variable):
    """contrib makes them the other way round."""
    names = ("gamma", "beta", "moving")
    return next((i for i, name in enumerate(names) if name in variable.name), 0)


def namespace(tensors):
    found = {"tf": tf, "np": np}
    for name, value in INPUTS.items():
        found[name] = tf.constant(value) if tensors else value
    return found


# -- TensorFlow 1.15 ----------------------------------------------------------


class Old:
    """Rows as TF1's code says them."""

    def __init__(self):
        self.config = tf.ConfigProto(intra_op_parallelism_threads=1)

    def graph(self):
        return tf.Graph().as_default()

    def layer(self, row):
        """Output, and all variables after a training step's updates."""
        with self.graph(), tf.Session(config=self.config) as session:
            output = eval(row["code"], namespace(True))
            variables = sorted(tf.global_variables(), key=beta_behind_gamma)
            for index, variable in enumerate(variables):
                variable.load(start(index, variable), session)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            result, _ = session.run([output, updates])
            return flat([result] + session.run(variables))

    def loss(self, row):
        with self.graph(), tf.Session(config=self.config) as session:
            value = eval(row["code"], namespace(True))
            return flat([session.run(value)])

    function = loss

    def spread(self, row):
        """Deviation and limits of what an initializer draws; of all variables of a layer."""
        with self.graph(), tf.Session(config=self.config) as session:
            made = eval(row["code"], namespace(True))
            if callable(made):
                drawn = [session.run(made(row["shape"]))]
            else:
                session.run(tf.global_variables_initializer())
                drawn = session.run(tf.global_variables())
            return flat([spread(d) for d in drawn])

    def regularizer(self, row):
        with self.graph(), tf.Session(config=self.config) as session:
            return flat(
                [session.run(eval(row["code"], namespace(True))(tf.constant(wave((5, 3)))))]
            )

    def optimizer(self, row):
        with self.graph(), tf.Session(config=self.config) as session:
            step = tf.train.get_or_create_global_step()
            names = namespace(True)
            names["step"] = step
            exec(row.get("before", ""), names)
            made = eval(row["code"], names)
            variables = [tf.Variable(wave((4, 3))), tf.Variable(wave((5,)))]
            fed = [tf.placeholder(tf.float32, v.shape) for v in variables]
            train = made.apply_gradients(list(zip(fed, variables)), global_step=step)
            session.run(tf.global_variables_initializer())
            found = []
            for number in range(STEPS):
                session.run(train, dict(zip(fed, gradients(number))))
                if number in (0, 1, STEPS - 1):
                    found += session.run(variables)
            return flat(found)

    def sparse(self, row):
        """An optimizer that is given gradients of some rows, as an embedding's are."""
        with self.graph(), tf.Session(config=self.config) as session:
            made = eval(row["code"], namespace(True))
            variable = tf.Variable(wave((4, 3)))
            steps = [made.apply_gradients([(g, variable)]) for g in slices()]
            session.run(tf.global_variables_initializer())
            for step in steps:
                session.run(step)
            return flat([session.run(variable)])

    def schedule(self, row):
        with self.graph(), tf.Session(config=self.config) as session:
            step = tf.train.get_or_create_global_step()
            names = namespace(True)
            names["step"] = step
            rate = eval(row["code"], names)
            found = []
            for number in range(30):
                step.load(number, session)
                found.append(session.run(rate))
            return flat(found)

    def metric(self, row):
        with self.graph(), tf.Session(config=self.config) as session:
            labels, outputs = batches(row)
            names = namespace(True)
            names["labels"] = tf.placeholder(labels[0].dtype, labels[0].shape)
            names["outputs"] = tf.placeholder(tf.float32, outputs[0].shape)
            value, update = eval(row["code"], names)
            session.run(tf.local_variables_initializer())
            for label, output in zip(labels, outputs):
                session.run(update, {names["labels"]: label, names["outputs"]: output})
            return flat([session.run(value)])


# -- TensorFlow 2 -------------------------------------------------------------


class New:
    """The same rows as the tables write them."""

    def names(self, row):
        found = namespace(True)
        for text in row.get("classes", ()):
            exec(text, found)
        return found

    def layer(self, row):
        names = self.names(row)
        made = eval(row["new"], names)
        data = eval(row["inputs"], names)
        told = {"training": row["training"]} if row.get("takes_training") else {}
        made.build(data.shape) if hasattr(made, "build") else None
        for index, variable in enumerate(made.weights):
            variable.assign(start(index, variable))
        result = made(data, **told)
        return flat([result.numpy()] + [v.numpy() for v in made.weights])

    def loss(self, row):
        """The loss object, and the expression."""
        names = self.names(row)
        found = []
        if row.get("object"):
            made = eval(row["object"], names)
            found.append(made(eval(row["labels"], names), eval(row["outputs"], names)).numpy())
        return flat(found + [eval(row["new"], names).numpy()])

    def function(self, row):
        return flat([eval(row["new"], self.names(row)).numpy()])

    def spread(self, row):
        names = self.names(row)
        made = eval(row["new"], names)
        if row.get("inputs") is None:
            drawn = [made(row["shape"], dtype="float32").numpy()]
        else:
            made.build(eval(row["inputs"], names).shape)
            drawn = [v.numpy() for v in made.weights]
        return flat([spread(d) for d in drawn])

    def regularizer(self, row):
        return flat([eval(row["new"], self.names(row))(tf.constant(wave((5, 3)))).numpy()])

    def optimizer(self, row):
        names = self.names(row)
        exec(row.get("new_before", ""), names)
        made = eval(row["new"], names)
        variables = [tf.Variable(wave((4, 3))), tf.Variable(wave((5,)))]
        made.build(variables)
        step = tf.function(lambda *g: made.apply_gradients(list(zip(g, variables))))
        found = []
        for number in range(STEPS):
            step(*[tf.constant(g) for g in gradients(number)])
            if number in (0, 1, STEPS - 1):
                found += [v.numpy() for v in variables]
        return flat(found)

    def sparse(self, row):
        made = eval(row["new"], self.names(row))
        variable = tf.Variable(wave((4, 3)))
        made.build([variable])
        for gradient in slices():
            made.apply_gradients([(gradient, variable)])
        return flat([variable.numpy()])

    def schedule(self, row):
        rate = eval(row["new"], self.names(row))
        return flat([float(rate(tf.constant(n, tf.int64))) for n in range(30)])

    def metric(self, row):
        made = eval(row["new"], self.names(row))
        for label, output in zip(*batches(row)):
            made.update_state(tf.constant(label), tf.constant(output))
        return flat([float(made.result())])


# -- shared -------------------------------------------------------------------


def gradients(step):
    scale = 1.0 / (1.0 + step % 3)
    return [wave((4, 3), step * 1.3) * scale, wave((5,), step * 0.9) * scale]


def slices():
    """Gradients of rows 0 and 2, then of row 1, and so on."""
    rows = [[0, 2], [1], [2, 3], [0], [1, 3]]
    values = [wave((len(r), 3), len(r) + r[0]) for r in rows]
    shape = tf.constant([4, 3])
    return [tf.IndexedSlices(tf.constant(v), tf.constant(r), shape) for v, r in zip(values, rows)]


def spread(values):
    values = np.asarray(values, np.float64)
    return [values.std(), values.min(), values.max()] if values.size > 1 else [values.sum()] * 3


def batches(row):
    """Three batches of labels and outputs of a row's kind."""
    size = row.get("batch", 8)
    labels, outputs = [], []
    for number in range(3):
        if row["kind_of_labels"] == "classes":
            outputs.append(wave((size, 4), number * 2.1) * 3)
            labels.append((np.arange(size) * (number + 3) // 2 % 4).astype(np.int64))
        elif row["kind_of_labels"] == "onehot":
            outputs.append(wave((size, 4), number * 2.1) * 3)
            classes = np.arange(size) * (number + 3) // 2 % 4
            labels.append(np.eye(4, dtype=np.float32)[classes])
        elif row["kind_of_labels"] == "two":
            outputs.append(wave((size, 2), number * 2.1) * 3)
            labels.append((wave((size,), number) > 0.2).astype(np.int64))
        elif row["kind_of_labels"] == "binary":
            outputs.append(wave((size, 1), number * 2.1) * 3)
            labels.append((wave((size, 1), number) > 0.2).astype(np.float32))
        elif row["kind_of_labels"] == "scores":
            outputs.append(wave((size, 1), number * 2.1) * 0.49 + 0.5)
            labels.append((wave((size, 1), number) > 0.2).astype(np.float32))
        else:
            outputs.append(wave((size, 2), number * 2.1) * 3)
            labels.append(wave((size, 2), number + 0.3) * 3)
    return labels, outputs


def main():
    rows = json.load(sys.stdin)
    side = Old() if V1 else New()
    results = {}
    for row in rows:
        try:
            results[row["name"]] = getattr(side, row["kind"])(row)
        except Exception as error:  # a row that fails must not hide the others
            results[row["name"]] = f"{type(error).__name__}: {str(error)[-300:]}"
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
