"""A session's config that only has filters of a cluster's devices."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, migrated, stays

BEFORE = """\
import json
import os
import numpy as np
import tensorflow as tf


def own_devices():
    task = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if task and task["type"] == "master":
        return tf.ConfigProto(device_filters=["/job:ps", "/job:master"])
    return None


def feed():
    data = tf.data.Dataset.from_tensor_slices(({"x": np.ones([8])}, np.ones([8])))
    return data.repeat().batch(4)


config = tf.estimator.RunConfig(session_config=own_devices())
columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.LinearRegressor(columns, config=config)
estimator.train(feed, steps=9)
"""
MESSAGE = "its tasks of a cluster, which TF_CONFIG named, and their filters of devices are no more"


def test_a_keras_model_has_no_cluster_to_filter() -> None:
    found, said = migrated(BEFORE)
    assert "own_devices" not in found and "estimator.fit(" in found, said
    assert "json" not in found and "import os" not in found
    assert MESSAGE in said


def test_a_function_that_others_name_as_well_stays() -> None:
    """It makes a ConfigProto, which TF2 has not."""
    stays(BEFORE + "print(own_devices.__name__)\n", "its config cannot move to tf.config")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('filters=["/job:ps", "/job:master"]', 'filters=["/job:ps"], operation_timeout_in_ms=9'),
        ("    return None\n", "    return tf.ConfigProto(session_inter_op_thread_pool=[])\n"),
        ("    return None\n", '    os.environ["WAITS"] = "no"\n    return None\n'),
    ],
)
def test_a_config_that_says_more_stays(old: str, new: str) -> None:
    stays(changed(BEFORE, (old, new)), "its config cannot move to tf.config", bridge=False)
