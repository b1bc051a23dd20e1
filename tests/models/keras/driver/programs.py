"""Small Estimator programs, and what drives them after the conversion."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.front.estimators.finding import EstimatorFlow, find_estimators
from migrate_mgpu.models.keras.driver.driver_calls import write_driver
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import splice

HEAD = """\
import functools
import numpy as np
import tensorflow as tf

X = np.ones([8, 2], np.float32)
Y = np.ones([8], np.int32)


def model_fn(features, labels, mode, params):
    pass


def input_fn(batch_size=4):
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(batch_size)


"""
MAKE = "est = tf.estimator.Estimator(model_fn, params={'n': 1})\n"
MADE = "est = model_fn(params={'n': 1})\n"
SCOPED = "with strategy.scope():\n    est = model_fn(params={'n': 1})\n"


def configured(strategy: str) -> str:
    """The Estimator under a strategy."""
    return (
        f"strategy = {strategy}\n"
        "config = tf.estimator.RunConfig(train_distribute=strategy)\n"
        "est = tf.estimator.Estimator(model_fn, config=config, params={'n': 1})\n"
    )


def flows(text: str, name: str = "train.py") -> tuple[list[EstimatorFlow], CallGraph]:
    """The Estimators of a program of one file, with what calls what."""
    project = Project([(Path(name), text.encode())])
    graph = CallGraph(project)
    return find_estimators(project, graph), graph


def driven(
    body: str, head: str = HEAD, parameters: tuple[str, ...] = ("params",), predicts: bool = True
) -> tuple[str, DriverEdits]:
    """A program whose last part is ``body``, driven in TF2; the part that follows ``head``."""
    text = head + textwrap.dedent(body)
    found, graph = flows(text)
    (flow,) = found
    assert flow.function is not None, flow.problems
    node = flow.function.node
    assert isinstance(node, ast.FunctionDef)
    model = ModelPlan(flow.function.module, node, parameters, predicts)
    result = write_driver(flow, model, graph)
    new = splice(flow.module.source.text, result.edits.get(flow.module, []))
    ast.parse(new)
    return new, result


def lines(body: str, **arguments: object) -> str:
    """What became of ``body``, without the program around it."""
    new, _ = driven(body, **arguments)  # type: ignore[arg-type]
    assert new.startswith(HEAD), "the head changed"
    return new[len(HEAD) :]
