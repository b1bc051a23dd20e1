"""Write scalars as TensorBoard event files; runs in a runtime, Python 3.7 and TensorFlow.

    PYTHON tensorboard_writer.py < RUNS.json

RUNS.json: a list of ``{"folder": PATH, "scalars": {TAG: [value of step 1, 2, ...]}}``.
"""

import os
import sys

# This folder's modules have names that others have too: batch, matching.
_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]

import glob  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
from typing import Any  # noqa: E402

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
runs = json.load(sys.stdin)
tf: Any = importlib.import_module("tensorflow.compat.v1")
for run in runs:
    for earlier in glob.glob(os.path.join(glob.escape(run["folder"]), "events.out.tfevents.*")):
        os.remove(earlier)
    with tf.Graph().as_default():  # TF2's eager mode refuses the writer
        writer = tf.summary.FileWriter(run["folder"])
        for tag, values in run["scalars"].items():
            for step, value in enumerate(values, start=1):
                entry = tf.Summary.Value(tag=tag, simple_value=value)
                writer.add_summary(tf.Summary(value=[entry]), step)
        writer.close()
