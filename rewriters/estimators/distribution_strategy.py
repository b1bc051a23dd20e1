"""Strategies of ``tf.contrib.distribute`` and ``tf.distribute`` in TF2's words.

## What it does
Rewrites the strategy of an Estimator that becomes a Keras model:
``tf.contrib.distribute.MirroredStrategy(num_gpus=n)`` (``num_gpus_per_worker``,
``devices``, ``cross_device_ops``, ``cross_tower_ops``) to
``tf.distribute.MirroredStrategy`` with the devices written out, and
``OneDeviceStrategy``. Where the strategy is ``None`` (one GPU), it becomes TF2's
default strategy, ``tf.distribute.get_strategy()``, so that one code path serves both.

``tf.contrib.estimator.replicate_model_fn`` and ``TowerOptimizer``, the towers of Estimators,
become a ``MirroredStrategy`` as well: Keras splits a whole batch among its replicas, as they did.

## Why
TF2 has no ``tf.contrib``, and its ``MirroredStrategy`` takes devices, not their number.
Without devices it takes all GPUs, as before.

## Safety
Exact: ``num_gpus=n`` meant ``/gpu:0`` to ``/gpu:n-1``, and the CPU where n is 0.
``CollectiveAllReduceStrategy`` and ``MultiWorkerMirroredStrategy`` become the latter,
measured with one worker; with several, each runs the program with its own
``TF_CONFIG``, as before.
Towers average the gradients of their parts of a batch, which is what the strategy does with
Keras; those that sum them up (``Reduction.SUM``) stay, and those with batch normalization, whose
averages each tower moves in TF1.
A strategy stays, with its Estimator, where TF2 has none that does the same with
``fit``: ``ParameterServerStrategy``, ``TPUStrategy``, ``CentralStorageStrategy``; several
workers with a ``model_dir``, where all would write the same files.
A program in which no Estimator takes a strategy of ``tf.contrib`` (Keras's ``fit`` runs under it)
is refused, and told what to write.

## References
``tf.distribute.MirroredStrategy``, ``tf.distribute.get_strategy``; measured equal on 1, 2
and 4 devices: ``fixtures/estimator``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import MODEL, PROGRAM
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import StrategyRewriter

RULE = Rule(
    code="MGPU301",
    name="distribution-strategy",
    summary="TF1's distribution strategies become TF2's",
)

CASES = (
    Case(
        "a number of GPUs",
        PROGRAM
        + """\
strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=2)
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=100)
""",
        MODEL
        + """\
strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])
with strategy.scope():
    estimator = model_fn()
estimator.fit(
    strategy.distribute_datasets_from_function(lambda context: input_fn()),
    steps_per_epoch=100,
    verbose=0)
""",
    ),
    Case(
        "no strategy for one GPU",
        PROGRAM
        + """\
def main(gpus):
    strategy = None
    if gpus > 1:
        strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=gpus)
    config = tf.estimator.RunConfig(train_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(input_fn, steps=100)


main(1)
""",
        MODEL
        + """\
def main(gpus):
    strategy = tf.distribute.get_strategy()
    if gpus > 1:
        strategy = tf.distribute.MirroredStrategy(
            ['/gpu:%d' % i for i in range(gpus)])
    with strategy.scope():
        estimator = model_fn()
    estimator.fit(
        strategy.distribute_datasets_from_function(lambda context: input_fn()),
        steps_per_epoch=100,
        verbose=0)


main(1)
""",
    ),
    Case(
        "parameter servers",
        PROGRAM
        + """\
strategy = tf.contrib.distribute.ParameterServerStrategy(num_gpus_per_worker=2)
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=100)
""",
        refused="parameter servers are driven by a coordinator in TF2",
    ),
)

REWRITER = StrategyRewriter(RULE, CASES)
