"""Prints what ``input_data`` gives: TF 1.15's, or that in the folder of the second word.

Started by the tests in a runtime's own interpreter: Python 3.7-clean.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import tensorflow.compat.v1 as tf

if len(sys.argv) > 2:
    sys.path.insert(0, sys.argv[2])
    import input_data
else:
    from tensorflow.examples.tutorials.mnist import input_data


def facts(array):
    """What can be compared exactly: types, shapes, and the values as whole numbers."""
    array = np.asarray(array)
    whole = np.round(array.astype(np.float64) * 255).astype(np.int64)
    weights = np.arange(array.size).reshape(array.shape)
    return [str(array.dtype), list(array.shape), int((whole * weights).sum())]


found = []
tf.set_random_seed(5)
for settings in (
    {"one_hot": True, "seed": 3},
    {"one_hot": False, "reshape": False},
    {"dtype": tf.uint8, "seed": 1},
    {"validation_size": 0, "seed": 2},
):
    sizes = {"validation_size": 20, **settings}
    for part in input_data.read_data_sets(sys.argv[1], **sizes):
        found.append([part.num_examples, facts(part.images), facts(part.labels)])
        for step in range(30):
            images, labels = part.next_batch(7, shuffle=step != 25)
            found.append([facts(images), facts(labels), part.epochs_completed])
for one_hot in (False, True):
    for part in input_data.read_data_sets(sys.argv[1], True, one_hot, seed=4):
        found.append([part.num_examples, *map(facts, part.next_batch(3, True))])
print(json.dumps(found))
