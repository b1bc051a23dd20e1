"""Writes docs/estimators.md: Estimator programs before and after, and how near they are.

    python docs/generate_estimators.py

The programs are fixtures (`fixtures/estimator`), the figures are their proofs
(`tests/estimator_proofs.py`); tests/test_docs.py runs the tool on every program of the page, and
fails while the page is stale.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import estimator_proofs

PAGE = Path(__file__).with_name("estimators.md")

_HEAD = """\
# Estimators become Keras models

<!-- Made by `python docs/generate_estimators.py`. -->

An Estimator with its `model_fn`, its `RunConfig`, its strategy, its input functions and every
`train`, `evaluate` and `predict` is one thing: all of it becomes a Keras model under
`strategy.scope()`, or none of it does, and a finding names the statement that stands in the way.
An Estimator that stays is bridged: under `tf.compat.v1` it trains as before on TF 2.15, the last
release with Estimators, and becomes a Keras model in a later run, once that statement is mended.
A `TPUEstimator` that trains on a TPU only if a flag says so becomes the Keras model of the
Estimator that it is else; any other stays, and is bridged to `tf.compat.v1.estimator.tpu`.

- `model_fn` keeps its name and becomes the function that makes, compiles and returns the model.
- Its network becomes a class above it (`__init__` makes the layers, `call` uses them in the
  author's order), or a `Sequential` where it is a chain of layers. Functions that make layers
  become layers themselves.
- Loss, optimizer, schedule and metrics become Keras's, with TF1's value written out wherever TF2's
  default is another one (the table below).
- The input function's batch stays what it was, the batch of *one replica*:
  `strategy.distribute_datasets_from_function` draws one for each.
- Where nothing trains the Estimator, the Keras model has no training step, nor an optimizer to
  train with: it predicts and evaluates with what its folder's checkpoint has, or
  `tf.train.init_from_checkpoint`.
- Where the same function makes it several times, as a notebook's cells do, each model goes on with
  what is in the folder; Estimators that one name has by turns get names of their own.
- `predict` over an input without an end predicts each batch when it is asked for, as in TF1.
- Checkpoints of TF1 do not load into the Keras model as they are:
  [`migrate-mgpu checkpoint`](checkpoints.md) converts them. `tf.train.init_from_checkpoint` reads
  them as before: each class says which variable had which name in TF1 (`tf1_variables`), and what
  was read for the names is assigned where the model's own folder has no checkpoint
  (`init_from_tf1`). An Estimator stays where TF1 numbered names (`dense_1`).

Compare the result before you trust it: `migrate-mgpu parity train.py --devices 1,2,4`
([parity](parity.md)).

"""

_SHOWN = (
    ("train_and_evaluate", "Under a strategy, with `train_and_evaluate`"),
    ("dense_classifier", "A classifier with parameters, predictions, and a flag for the GPUs"),
    ("rmsprop_decay", "Helper functions, RMSProp, a schedule, a metric of one's own"),
    ("replicated_model_fn", "Towers: a `model_fn` that is replicated"),
    ("recurrent_lstm", "A recurrent network"),
    ("canned_wide_deep", "A canned Estimator with a linear and a deep part"),
    ("image_batch_norm", "Images: convolutions, batch normalization, dropout, weight decay"),
)

_DEFAULTS = """\
## What is written out, and why

| TF1 | TF2's default | written | because |
| --- | --- | --- | --- |
| `AdamOptimizer` epsilon 1e-8 | 1e-7 | `epsilon=1e-8` | weights differ from the first step |
| `AdagradOptimizer` has no epsilon | 1e-7 | `epsilon=0.0` | the same |
| `AdadeltaOptimizer` epsilon 1e-8 | 1e-7 | `epsilon=1e-8` | the same |
| `RMSPropOptimizer`: mean squares begin at one | at zero | a class `RMSprop` whose epsilon \
holds what is left of the one | 16 to 41 % of the loss after 100 steps |
| `RMSPropOptimizer` epsilon 1e-10 | 1e-7 | `epsilon=1e-10` | weights differ from the first step |
| `MomentumOptimizer` with a schedule: the sum of gradients, times the step's rate | the sum of \
gradients times rates | a class `Momentum` | losses part at the first change of the rate |
| gradients clipped by each replica | Keras 2 clips their sum | a class `ClippedAdam`, ... with \
several replicas; `global_clipnorm=` and the like with one | weights differ from the first step |
| `l2_regularizer(s)`: s / 2 * sum | s * sum | half the scale | twice the decay |
| `tf.nn.l2_loss` over all variables | none | `kernel_regularizer`, `bias_regularizer` of each \
layer | the loss lacks the term |
| rows of a table that a step looks up several times: their gradients are added up | Keras 3 \
squares each | `tf.convert_to_tensor` of each gradient in a `train_step` | other steps of Adam and \
Adagrad |
| a regularizer that no loss takes up | Keras adds it | left out | TF1 ignored it |
| batch normalization's statistics: the mean over the replicas | each replica's own | a callback \
`AverageStatistics` | up to 14 % of the evaluation's loss |
| Keras's `LSTM` and `GRU`: gates by clip(0.2 x + 0.5), GRU's reset gate before the product \
| a sigmoid, behind it | `recurrent_activation`, `reset_after=False` | another network |
| `training` of dropout and batch normalization: False | what `fit` says | `training=...` | \
dropout where TF1 had none |
| a loss that is one number | Keras 3 does not divide it by the replicas | the numbers that it is \
the mean of | steps as many times too large as there are replicas |
| `EvalSpec` evaluates 100 batches | all | `take(100)` | another evaluation |

The measurements are in [semantics](semantics.md) and, for whole programs, below.

## How near

Largest relative difference of the losses of all steps, or of evaluation and predictions where
nothing trains, TensorFlow 1.15.5 against the migrated program (`python tests/estimator_proofs.py`;
logical CPUs stand in for the GPUs). All other rungs are equal as well: first gradients, weights
after one step, final weights, evaluation, printed results.

"""

_COST = """\

## What a step costs

Milliseconds a step on one CPU device, TensorFlow 1.15.5 beside the migrated program, medians of
3 runs on 2 cores (`python benchmarks/estimators.py --steps 4000 --image-steps 100 --runs 3`):

| program | 1.15.5 | 2.15 | newest |
| --- | --- | --- | --- |
| images: two convolutions, 32 images a batch | 78.9 | 39.9 (0.51) | 29.8 (0.38) |
| digits: two layers of 256 units, 128 images a batch | 6.8, 9.8 | 8.1, 5.4 (1.19, 0.55) | \
3.9, 5.7 (0.57, 0.58) |
| a dense network of 16 units | 0.84 | 1.48 (1.76) | 1.79 (2.13) |
| the same with `steps_per_execution=10` | | 0.39 (0.47) | 0.51 (0.60) |

The digits were measured twice, on a machine whose cores are shared (`--only digits --digit-steps
500`); their processor time was 0.56 to 0.71 of 1.15.5's. Where the network is work, the migrated
program takes less time. Where it is not, what TF2 does around a step counts;
`model.compile(..., steps_per_execution=10)` makes one call of ten steps, and trains the same. The
tool does not write it: callbacks then see every tenth step only, Keras 3 trains up to the next
multiple (20 steps where 15 are asked for), and Keras 3.15 ends with an error under a
`MirroredStrategy` of several devices.
"""


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(_example(*one) for one in _SHOWN) + _DEFAULTS + _table() + _COST


def _example(name: str, title: str) -> str:
    program = estimator_proofs.load(estimator_proofs.FIXTURES / name)
    before = program.before.read_text("utf-8")
    after = program.after.read_text("utf-8")
    return (
        f"## {title}\n\n`{name}.py`:\n\n```python\n{before}```\n\n"
        f"becomes\n\n```python\n{after}```\n\n"
    )


def _table() -> str:
    devices = (1, 2, 4)
    head = [
        f"{t.replace('tf2-latest', 'newest')}, {n}"
        for t in estimator_proofs.TARGETS
        for n in devices
    ]
    lines = [f"| program | {' | '.join(head)} |", f"| --- |{' --- |' * len(head)}"]
    for program in estimator_proofs.programs(estimator_proofs.FIXTURES):
        proof = program.folder / estimator_proofs.PROOF
        if program.stays or not proof.exists():
            continue  # a pair that was written by hand is no proof of the tool
        found = json.loads(proof.read_text("utf-8"))["targets"]
        cells = []
        for target in estimator_proofs.TARGETS:
            by_devices = {one["devices"]: one for one in found.get(target, ())}
            for number in devices:
                one = by_devices.get(number)
                rung = "loss curve" if one and one["steps"] else "evaluation and printed results"
                value = one["largest_relative"].get(rung) if one else None
                cells.append("" if value is None else f"{value:.1e}")
        name = program.folder.name
        lines.append(f"| [{name}](../fixtures/estimator/{name}) | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
