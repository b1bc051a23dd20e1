"""Asks every signature of SavedModels, in TF1 and TF2 alike: names, types, and what it answers.

    python served.py < asked.json

``asked.json`` is a list of pairs, a folder and its inputs; prints one JSON line, a list.
"""

import json
import sys

import numpy as np
import tensorflow as tf


def main():
    print(json.dumps([ask(folder, given) for folder, given in json.load(sys.stdin)]))


def ask(folder, given):
    v1 = tf.compat.v1
    found = {}
    with v1.Session(graph=tf.Graph()) as session:
        loaded = v1.saved_model.loader.load(session, ["serve"], folder)
        for key, signature in loaded.signature_def.items():
            if key.startswith("__"):  # TF2's own bookkeeping
                continue
            feeds = {info.name: values(given[name]) for name, info in signature.inputs.items()}
            fetches = {name: info.name for name, info in signature.outputs.items()}
            found[key] = {
                "inputs": {name: describe(info) for name, info in signature.inputs.items()},
                "types": {name: tf.as_dtype(i.dtype).name for name, i in signature.outputs.items()},
                "outputs": {n: shown(v) for n, v in session.run(fetches, feeds).items()},
            }
    return found


def shown(value):
    return (value.astype(str) if value.dtype == object else value).tolist()


def values(given):
    """Numbers, or examples: each a dictionary with the numbers of its features."""
    if not isinstance(given, list) or not isinstance(given[0], dict):
        return np.array(given)
    found = []
    for example in given:
        message = tf.train.Example()
        for name, numbers in example.items():
            kind = "int64_list" if isinstance(numbers[0], int) else "float_list"
            getattr(message.features.feature[name], kind).value.extend(numbers)
        found.append(message.SerializeToString())
    return np.array(found)


def describe(info):
    shape = [dimension.size for dimension in info.tensor_shape.dim]
    return [tf.as_dtype(info.dtype).name, shape]


if __name__ == "__main__":
    main()
