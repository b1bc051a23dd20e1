"""``tf.estimator.RunConfig`` goes: what each of its arguments said is said where it belongs.

## What it does
Takes the RunConfig of an Estimator that becomes a Keras model away, with its
``replace`` calls. Of its arguments

- ``train_distribute`` becomes the strategy whose scope the model is made in;
- ``model_dir`` becomes a ``tf.train.CheckpointManager``: the program resumes from the
  folder's latest checkpoint, and saves one when a training ends;
- ``save_checkpoints_steps`` saves every so many steps too, ``keep_checkpoint_max`` is
  its ``max_to_keep``;
- ``tf_random_seed`` becomes ``tf.random.set_seed``;
- ``session_config`` moves to ``tf.config`` like that of any Session;
- ``save_summary_steps``, ``log_step_count_steps``, ``save_checkpoints_secs`` and
  ``keep_checkpoint_every_n_hours`` are left out, and a finding says so.

## Why
Keras has no such object, and TF2 no Estimator since 2.16.

## Safety
Training is the same. Checkpoints that TF1 wrote do not load into the Keras model as they are:
the program stops with an error when its folder holds one, and ``migrate-mgpu checkpoint``
converts them (docs/checkpoints.md). The variables are made before
the checkpoint is restored: Keras 3 restores nothing into layers that have none, and says
nothing. A seed gives other numbers in TF2 than in TF1.
``device_fn``, ``protocol`` and ``experimental_distribute`` keep the program as it is.

## References
``tf.train.CheckpointManager``, ``tf.random.set_seed``, ``tf.keras.callbacks.TensorBoard``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import MODEL, PROGRAM
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import RunConfigRewriter

RULE = Rule(
    code="MGPU407",
    name="run-config",
    summary="`RunConfig` becomes a strategy's scope, a seed and a checkpoint manager",
)

CASES = (
    Case(
        "a folder for checkpoints",
        PROGRAM
        + """\
config = tf.estimator.RunConfig(model_dir='line', keep_checkpoint_max=3)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, max_steps=100)
""",
        MODEL
        + """\
estimator = model_fn()
train_dataset = input_fn()
# The variables must exist before a checkpoint can be restored into them.
tf.function(estimator).get_concrete_function(train_dataset.element_spec[0])
estimator.optimizer.build(estimator.trainable_variables)
checkpoint = tf.train.Checkpoint(model=estimator)
manager = tf.train.CheckpointManager(checkpoint, 'line', max_to_keep=3)
if manager.latest_checkpoint:
    reader = tf.train.load_checkpoint(manager.latest_checkpoint)
    if reader.has_tensor('global_step'):
        raise ValueError(
            'a TF1 checkpoint: `migrate-mgpu checkpoint` converts it')
    checkpoint.restore(manager.latest_checkpoint).assert_existing_objects_matched()
steps = 100 - int(estimator.optimizer.iterations.numpy())
if steps > 0:
    estimator.fit(train_dataset, steps_per_epoch=steps, verbose=0)
    manager.save(estimator.optimizer.iterations)
""",
    ),
    Case(
        "a seed, and options of the session",
        PROGRAM
        + """\
options = tf.ConfigProto()
options.gpu_options.allow_growth = True
config = tf.estimator.RunConfig(
    tf_random_seed=7, session_config=options, log_step_count_steps=10)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=100)
""",
        MODEL
        + """\
for gpu in tf.config.list_physical_devices('GPU'):
    tf.config.experimental.set_memory_growth(gpu, True)
tf.random.set_seed(7)
estimator = model_fn()
estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
""",
    ),
    Case(
        "a function that places variables",
        PROGRAM
        + """\
config = tf.estimator.RunConfig(device_fn=lambda op: '/cpu:0')
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=100)
""",
        refused="`device_fn` of RunConfig",
    ),
)

REWRITER = RunConfigRewriter(RULE, CASES)
