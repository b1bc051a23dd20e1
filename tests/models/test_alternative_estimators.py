"""Estimators of which a run makes one, by its branches."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import migrated, run, said, stays

ARMS = """\
if len(X) > 4:
    estimator = tf.estimator.Estimator(model_fn{0})
else:
    estimator = tf.estimator.Estimator({1})
"""
RUN = "estimator.train(input_fn, steps=5)\n"
OTHER = """\
def other_fn(features, labels, mode):
    hidden = tf.layers.dense(features, 3)
    outputs = tf.layers.dense(hidden, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"outputs": outputs})
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


"""


def test_two_arms() -> None:
    after = converted(ARMS.format("", "model_fn, params={}") + RUN)
    assert after == (
        "if len(X) > 4:\n    estimator = model_fn()\nelse:\n    estimator = model_fn()\n"
        "estimator.fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
    )


def test_one_folder_is_restored_behind_the_arms() -> None:
    after = converted(ARMS.format(", 'out'", "model_fn, 'out', params={}") + RUN)
    assert after.count("CheckpointManager(checkpoint, 'out'") == 1
    assert "\n# The variables must exist before" in after


def test_each_arm_has_its_own_model_fn() -> None:
    after, _ = migrated(f"{HEAD}{OTHER}{ARMS.format('', 'other_fn')}{RUN}")
    assert "    estimator = model_fn()\nelse:\n    estimator = other_fn()\n" in after


def test_two_model_fns_with_mode_keys() -> None:
    body = "one = tf.estimator.Estimator(model_fn)\ntwo = tf.estimator.Estimator(other_fn)\n"
    after, _ = migrated(f"{HEAD}{OTHER}{body}one.train(input_fn, steps=5)\n")
    assert "one = model_fn()\ntwo = other_fn()\n" in after


def test_two_of_one_model_fn_with_mode_keys_for_an_input_function() -> None:
    given = "mode=tf.estimator.ModeKeys.{}"
    spec = "tf.estimator.{}Spec(input_fn=lambda: select({}))"
    body = f"""\
def select(mode):
    return input_fn().take(1 if mode == tf.estimator.ModeKeys.EVAL else 5)


one = tf.estimator.Estimator(model_fn)
train_spec = {spec.format("Train", given.format("TRAIN"))}
eval_spec = {spec.format("Eval", given.format("EVAL"))}
tf.estimator.train_and_evaluate(one, train_spec, eval_spec)
two = tf.estimator.Estimator(model_fn)
two.evaluate(lambda: select(tf.estimator.ModeKeys.EVAL))
"""
    after, said = migrated(HEAD + body)
    assert 'train_dataset = select(mode="train")' in after, said
    assert 'two.evaluate(select("eval")' in after


ENVIRONMENT = 'os.environ["CUDA_VISIBLE_DEVICES"] = {}\n'
ONE = "one = tf.estimator.Estimator(model_fn)\n"


def test_gpus_are_chosen_before_a_model_has_variables() -> None:
    after = converted(
        f"{ONE}print(1)\n{ENVIRONMENT.format(repr('1'))}one.train(input_fn, steps=5)\n"
    )
    assert after.startswith(
        f"{ENVIRONMENT.format(repr('1'))}one = model_fn()\nprint(1)\none.fit("
    ), after
    before = ENVIRONMENT.format(repr("1")) + ONE
    assert converted(f"{before}one.train(input_fn, steps=5)\n").startswith(
        before.replace("tf.estimator.Estimator(model_fn)", "model_fn()")
    )


@pytest.mark.parametrize("value", ["str(len(X))", "'1' if len(X) else '2'"])
def test_gpus_that_are_chosen_later_keep_an_estimator(value: str) -> None:
    body = f"{ONE}{ENVIRONMENT.format(value)}one.train(input_fn, steps=5)\n"
    stays(HEAD + body, "CUDA_VISIBLE_DEVICES is set behind it")


RETURNED = """\
def build(large):
    if large:
        return tf.estimator.Estimator(model_fn)
    return tf.estimator.Estimator(other_fn)


estimator = build(len(X) > 4)
"""


def test_two_returns() -> None:
    after, _ = migrated(f"{HEAD}{OTHER}{RETURNED}{RUN}")
    assert "        return model_fn()\n    return other_fn()\n" in after


DIFFERENT = "driven in different ways"
ANOTHER = "it may be another Estimator"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (ARMS.format(", 'out'", "model_fn"), DIFFERENT),
        (ARMS.format(", 'out'", "model_fn, 'other'"), DIFFERENT),
        (
            "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
            + ARMS.format(", config=config", "model_fn"),
            DIFFERENT,
        ),
        (ARMS.format("", "model_fn").replace("else:", "if len(X) < 3:"), ANOTHER),
        (ARMS.format("", "tf_model_fn"), "an Estimator that it shares code with stays"),
        (
            "estimator = tf.estimator.Estimator(model_fn)\n"
            "if len(X) > 4:\n    estimator = tf.estimator.Estimator(model_fn)\n",
            ANOTHER,
        ),
        (
            "for rounds in range(2):\n    "
            + ARMS.format("", "model_fn").replace("\n", "\n    ").rstrip()
            + "\n",
            ANOTHER,
        ),
        (ARMS.format("", "model_fn").replace("    estimator = tf.estimator.Estimator(model_fn)\n",
                                             "    estimator = make()\n", 1), ANOTHER),
    ],
)  # fmt: skip
def test_arms_that_stay(body: str, reason: str) -> None:
    stays(f"{HEAD}{body}{RUN}", reason)


def test_another_module_makes_the_other() -> None:
    made = HEAD + "\n\ndef make():\n    return tf.estimator.Estimator(model_fn)\n"
    text = "import made\nestimator = made.make()\nif len(X) > 4:\n    estimator = tf.estimator."
    train = f"{HEAD}{text}Estimator(model_fn)\n{RUN}"
    _, found = migrated(("train.py", train), ("made.py", made))
    assert any(ANOTHER in one for one in found)


def test_what_differs_by_what_it_predicts() -> None:
    other = OTHER.replace('{"outputs": outputs}', "outputs")
    run = f"{RUN}for row in estimator.predict(input_fn):\n    print(row)\n"
    run = run.replace("(input_fn)", "(lambda: input_fn().take(1))")
    body = HEAD.replace(".repeat()", "") + other + ARMS.format("", "other_fn")
    stays(body + run, DIFFERENT)


def test_estimators_of_two_modules_that_one_function_drives() -> None:
    made = f"{HEAD}\n\ndef make():\n    return tf.estimator.Estimator(model_fn)\n"
    main = (
        "import one\nimport two\n\n\ndef drive(estimator):\n"
        "    estimator.train(one.input_fn, steps=5)\n\n\ndrive(one.make())\ndrive(two.make())\n"
    )
    after, _ = migrated(("main.py", main), ("one.py", made), ("two.py", made))
    assert "    estimator.fit(one.input_fn(), steps_per_epoch=5, verbose=0)\n" in after
    assert after.count("    return model_fn()\n") == 2
    other = main.replace("drive(two.make())", "drive(two)")
    stays(
        ("main.py", other), "it may be another Estimator here", ("one.py", made), ("two.py", made)
    )


def test_an_estimator_whose_config_cannot_move_stays_with_it() -> None:
    # `tf.config` has no device filters: natively they would be lost, refused nothing would run.
    config = "config = tf.estimator.RunConfig(session_config=tf.ConfigProto({}))\n"
    made = "estimator = tf.estimator.Estimator(model_fn, config=config)\n"
    native = HEAD + config.format("allow_soft_placement=True") + made + RUN
    assert [one.state for one in run(native, bridge=True).programs] == ["native"]
    result = run(HEAD + config.format("device_filters=['/job:ps']") + made + RUN, bridge=True)
    assert [one.state for one in result.programs] == ["bridge, config kept"], said(result)
    assert any("`device_filters` has no equivalent in tf.config" in one for one in said(result))
