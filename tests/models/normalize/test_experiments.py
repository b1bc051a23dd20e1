"""Experiments of tf.contrib.learn's, and its Estimators, as those of tf.estimator."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, HEAD, whole
from tests.support.migration import migrated, stays

MODEL_FN = f"""\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
{END.format(rate=0.1)}

"""
RUNNER = "from tensorflow.contrib.learn.python.learn import learn_runner\n"
START = HEAD.replace("import tensorflow as tf\n", f"import tensorflow as tf\n{RUNNER}") + MODEL_FN
MAKES = """\
def experiment_fn(run_config, hparams):
    estimator = tf.estimator.Estimator(model_fn, config=run_config)
    return tf.contrib.learn.Experiment(estimator, input_fn, input_fn, train_steps=9)


"""
CONFIG = "tf.contrib.learn.RunConfig(save_summary_steps=9)"
RUN = f"learn_runner.run(experiment_fn, run_config={CONFIG})\n"
TRAINED = """\
    estimator = model_fn()
    estimator.fit(input_fn(), steps_per_epoch=9, verbose=0)
    estimator.evaluate(input_fn(), steps=100, return_dict=True, verbose=0)
"""
MADE_HERE = "tf.estimator.Estimator(model_fn, config=run_config)"
MADE = """\
def make(size):
    print(size)

    def experiment_fn(run_config, hparams):
        del hparams
        estimator = tf.estimator.Estimator(model_fn, config=run_config)
        experiment = tf.contrib.learn.Experiment(estimator, input_fn, input_fn, train_steps=9)
        return experiment

    return experiment_fn


"""


@pytest.mark.parametrize(
    ("makes", "run", "after"),
    [
        (MAKES, RUN, f"def run_experiment():\n{TRAINED}\n\nrun_experiment()\n"),
        (
            MAKES.replace(
                "estimator, input", "tf.estimator.Estimator(model_fn, config=run_config), input"
            ).replace("    estimator = tf.estimator.Estimator(model_fn, config=run_config)\n", ""),
            RUN,
            f"def run_experiment():\n{TRAINED}\n\nrun_experiment()\n",
        ),
        (
            MADE,
            RUN.replace("experiment_fn,", "make(4),"),
            f"def run_experiment(size):\n    print(size)\n{TRAINED}\n\nrun_experiment(4)\n",
        ),
        (
            MAKES.replace("steps=9", "steps=9, eval_steps=None, min_eval_frequency=5"),
            RUN.replace("\n", "").replace("fn, ", 'fn, schedule="train_and_evaluate", ') + "\n",
            "def run_experiment():\n"
            + TRAINED.replace(", steps=100", "")
            + "\n\nrun_experiment()\n",
        ),
        (
            MAKES.replace("run_config, hparams", "output_dir").replace("config=run_config", "None"),
            'learn_runner.run(experiment_fn, "out")\n',
            f'def run_experiment(output_dir):\n{TRAINED}\n\nrun_experiment(output_dir="out")\n',
        ),
    ],
)
def test_it_trains_and_evaluates(makes: str, run: str, after: str) -> None:
    found, said = migrated(whole(START + makes + run))
    assert after in found.replace("\n\n\n\n", "\n\n\n"), said
    assert "learn_runner" not in found
    assert any("an Experiment evaluated checkpoints too" in one for one in said)


@pytest.mark.parametrize(
    ("makes", "run"),
    [
        (MAKES.replace("steps=9", "steps=9, export_strategies=[print]"), RUN),
        (MAKES.replace("steps=9", "steps=9, saving_listeners=[print]"), RUN),
        (MAKES.replace("steps=9", "**{}"), RUN),
        (MAKES, f"print({RUN.strip()})\n"),
        (MAKES, RUN.replace("fn, ", 'fn, schedule="train", ')),
        (MAKES, RUN.replace("fn, ", "fn, schedule=input(), ")),
        (MAKES, RUN + "print(experiment_fn)\n"),
        (MAKES.replace("hparams)", "hparams=None)"), RUN),
        (
            MADE.replace("print(size)", "run_config = size"),
            RUN.replace("experiment_fn,", "make(4),"),
        ),
    ],
)
def test_experiments_that_stay(makes: str, run: str) -> None:
    # On the bridge, where an Experiment exports nothing.
    bridged = "export_strategies" not in makes
    reason = (
        "how the Estimator is configured here cannot be analyzed"
        if bridged
        else "`tensorflow.contrib.learn.Experiment` does not exist in TF2"
    )
    stays(whole(START + makes + run), reason)


HANDS_ON = """\
def serving():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def make(**given):
    def experiment_fn(run_config, hparams):
        estimator = tf.estimator.Estimator(model_fn, config=run_config)
        return tf.contrib.learn.Experiment(estimator, input_fn, input_fn, **given)

    return experiment_fn


"""
EXPORTS = """\
learn_runner.run(
    make(
        train_steps=9,
        export_strategies=[make_export_strategy(serving, exports_to_keep=2)],
    ),
    run_config=tf.contrib.learn.RunConfig(model_dir="out"),
)
"""
STRATEGY = "from tensorflow.contrib.learn import make_export_strategy\n"
EXPORTING = START.replace(RUNNER, RUNNER + STRATEGY).replace(
    "    loss =",
    "    if mode == tf.estimator.ModeKeys.PREDICT:\n"
    "        return tf.estimator.EstimatorSpec(mode, predictions={'logits': logits})\n    loss =",
    1,
).replace("tf.layers.dense(features, 3)", 'tf.layers.dense(features["x"], 3)').replace(
    "np.ones([8, 4], np.float32),", '{"x": np.ones([8, 4], np.float32)},'
)  # fmt: skip


def test_it_exports() -> None:
    found, said = migrated(whole(EXPORTING + HANDS_ON + EXPORTS))
    assert "def run_experiment():\n" in found, said
    assert 'manager.directory + "/export/Servo"' in found
    assert "make_export_strategy" not in found and "learn_runner" not in found
    assert any("an export strategy deleted all but the newest ones" in one for one in said)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("exports_to_keep=2)", "exports_to_keep=2), make_export_strategy(serving)"),
        ("exports_to_keep=2", "strip_default_attrs=True"),
        ("exports_to_keep=2", "default_output_alternative_key='x'"),
        ("fn, **given)", "fn, **given, **{})"),
        ("        return tf.contrib", "        print(given)\n        return tf.contrib"),
        ("train_steps=9", "estimator=None"),
        ("train_steps=9", "**{}"),
    ],
)
def test_exports_that_stay(old: str, new: str) -> None:
    program = whole(EXPORTING + HANDS_ON + EXPORTS)
    reason = "`tensorflow.contrib.learn.Experiment` does not exist in TF2"
    stays(program.replace(old, new, 1), reason)


DRIVES = """\
def make(config):
    return tf.estimator.Estimator(model_fn, config=config)


def run_once(config):
    steps = 9
    fed = lambda: input_fn()
    est = make(config)
    est.train(fed, steps=steps)


config = tf.estimator.RunConfig(model_dir="out")
run_once(config)
fed = lambda: input_fn().take(1)
est = make(config)
print(est.evaluate(fed))
"""


def test_a_function_that_drives_is_written_where_the_script_uses_the_model() -> None:
    found, said = migrated(whole(START + DRIVES))
    assert "def run_once" not in found, said
    assert "steps = 9\nfed = lambda: input_fn()\n\nest = make()\n" in found.replace(
        "\nest =", "\n\nest ="
    ).replace("\n\n\n", "\n\n")


def test_names_that_are_read_again_are_not_given_another_value() -> None:
    body = DRIVES.replace("run_once(config)\n", "steps = 4\nrun_once(config)\n", 1)
    found, said = migrated(whole(START + body + "print(steps)\n"))
    assert "steps = 4\nsteps_2 = 9\n" in found, said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("config)\nfed", "config)\nrun_once(config)\nfed"),
        ("run_once(config)\nfed", "for _ in range(2):\n    run_once(config)\nfed"),
        ("run_once(config)\nfed", "print(run_once(config))\nfed"),
    ],
)
def test_functions_that_drive_and_stay(old: str, new: str) -> None:
    stays(whole(START + DRIVES.replace(old, new, 1)), "is used in another function")


BOXES = (
    HEAD
    + MODEL_FN.replace("labels", "targets").replace(
        "tf.estimator.EstimatorSpec", "tf.contrib.learn.ModelFnOps"
    )
    + "estimator = tf.contrib.learn.Estimator(model_fn)\n"
)
FIT = "estimator.fit(input_fn=input_fn, steps=9)\n"


def test_an_estimator_of_contrib_learn() -> None:
    found, said = migrated(whole(BOXES + FIT + "estimator.evaluate(input_fn=input_fn, steps=2)\n"))
    assert "estimator.fit(input_fn(), steps_per_epoch=9, verbose=0)\n" in found, said
    assert "contrib" not in found


@pytest.mark.parametrize(
    "driven",
    [
        FIT + "print(list(estimator.predict(input_fn=input_fn)))\n",
        "estimator.fit(x=input_fn(), y=None, steps=9)\n",
        FIT + "estimator.evaluate(input_fn=input_fn, metrics={'a': print})\n",
        FIT + "print(estimator.get_variable_names())\n",
    ],
)
def test_what_only_contrib_learn_does_stays(driven: str) -> None:
    reason = "`tensorflow.contrib.learn.Estimator` does not exist in TF2"
    stays(whole(BOXES + driven), reason)


HERE = f"""\
estimator = tf.estimator.Estimator(model_fn, config={CONFIG})
experiment = tf.contrib.learn.Experiment(estimator, input_fn, input_fn, train_steps=9)

experiment.train_and_evaluate()
"""


@pytest.mark.parametrize(
    "text",
    [
        HERE,
        HERE.replace("experiment = ", "").replace("\n\nexperiment", ""),
        HERE.replace("train_and_evaluate", "local_run"),
    ],
)
def test_an_experiment_that_runs_where_it_is_made(text: str) -> None:
    after, messages = migrated(HEAD + MODEL_FN + text)
    assert TRAINED.replace("    ", "").replace("estimator = model_fn()\n", "") in after, messages


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("experiment.train_and_evaluate()", "experiment.train()"),
        ("experiment.train_and_evaluate()", "result = experiment.train_and_evaluate()"),
        ("experiment.train_and_evaluate()", "print(experiment)\nexperiment.train_and_evaluate()"),
        ("\n\nexperiment", "\nprint(9)\nexperiment"),
        ("train_steps=9", "eval_metrics={'accuracy': 1}"),
    ],
)
def test_experiments_that_stay_where_they_are_made(old: str, new: str) -> None:
    reason = "the Estimator is passed to `tf.contrib.learn.Experiment(...)`"
    stays(HEAD + MODEL_FN + HERE.replace(old, new), reason)


def test_runs_of_one_function_call_it() -> None:
    after, messages = migrated(HEAD + RUNNER + MODEL_FN + MAKES + RUN + RUN)
    assert after.endswith("\n\nrun_experiment()\nrun_experiment()\n"), messages
    assert "learn_runner" not in after


@pytest.mark.parametrize(
    "more",
    [
        "print(experiment_fn)\n",
        RUN.replace("run_config=", "schedule='train', run_config="),
        RUN.replace("learn_runner.run", "result = learn_runner.run"),
    ],
)
def test_runs_that_are_not_alike_stay(more: str) -> None:
    reason = "how the Estimator is configured here cannot be analyzed"
    stays(HEAD + RUNNER + MODEL_FN + MAKES + RUN + more, reason)
