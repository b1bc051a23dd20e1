"""RunConfigs that helpers make, that functions are given, that the program reads."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import stays

RUN = """\
def build(config, rate):
    return tf.estimator.Estimator(model_fn, config=config)


def main():
    {0}
    estimator = build({1})
    estimator.train(input_fn, steps=5)


main()
"""


CONFIG, SEED = "tf.estimator.RunConfig(tf_random_seed=5)", "tf.random.set_seed(5)"


@pytest.mark.parametrize(
    ("made", "given", "lines", "call"),
    [
        (f"config = {CONFIG}", "config, 3", [SEED], "build(3)"),
        (f"config = {CONFIG}", "rate=3, config=config", [SEED], "build(rate=3)"),
        ("rate = 3", f"{CONFIG}, rate", ["rate = 3", SEED], "build(rate)"),
    ],
)  # fmt: skip
def test_a_parameter_that_nothing_needs_any_more(
    made: str, given: str, lines: list[str], call: str
) -> None:
    after = converted(RUN.format(made, given))
    assert "def build(rate):\n    return model_fn()\n" in after
    for line in (*lines, f"estimator = {call}"):
        assert f"    {line}\n" in after


@pytest.mark.parametrize(
    ("made", "given", "lines", "call"),
    [
        (
            "strategy = tf.distribute.MirroredStrategy()\n"
            "    config = tf.estimator.RunConfig(train_distribute=strategy)",
            "config, 3", ["strategy = tf.distribute.MirroredStrategy()"], "build(strategy, 3)",
        ),
        (
            "gpus = tf.distribute.MirroredStrategy()\n"
            "    config = tf.estimator.RunConfig(train_distribute=gpus)",
            "rate=3, config=config", ["gpus = tf.distribute.MirroredStrategy()"],
            "build(rate=3, strategy=gpus)",
        ),
        (
            "strategy = 'mirrored'",
            "tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy()), strategy",
            ["distribution = tf.distribute.MirroredStrategy()"], "build(distribution, strategy)",
        ),
    ],
)  # fmt: skip
def test_a_parameter_that_becomes_the_strategy(
    made: str, given: str, lines: list[str], call: str
) -> None:
    after = converted(RUN.format(made, given))
    assert "def build(strategy, rate):\n    with strategy.scope():\n" in after
    for line in (*lines, f"estimator = {call}"):
        assert f"    {line}\n" in after


def test_a_strategy_through_two_functions() -> None:
    body = """\
def build(config):
    return tf.estimator.Estimator(model_fn, config=config)


def run(settings):
    return build(config=settings)


def main():
    gpus = tf.distribute.MirroredStrategy()
    estimator = run(tf.estimator.RunConfig(train_distribute=gpus))
    estimator.train(input_fn, steps=5)


main()
"""
    after = converted(body)
    assert "def run(strategy):\n    return build(strategy=strategy)\n" in after
    assert "\n    estimator = run(gpus)\n" in after


def test_a_call_without_it() -> None:
    body = RUN.replace("(config, rate)", "(rate, config=None)").replace("main()\n", "main()\n", 1)
    body = body.format("config = tf.estimator.RunConfig(tf_random_seed=5)", "3, config")
    after = converted(body)
    assert "def build(rate):" in after and "= build(3)" in after
    more = "strategy = tf.distribute.MirroredStrategy()\n    "
    body = body.replace("config = tf", f"{more}config = tf").replace(
        "tf_random_seed=5", "train_distribute=strategy"
    )
    assert "strategy=None" in converted(body)
    body = body.replace("    estimator.train", "    build(3)\n    estimator.train")
    stays(HEAD + body, "the strategy is not known where the model is made")


def test_a_function_that_is_handed_on_itself() -> None:
    body = RUN.format("config = tf.estimator.RunConfig(tf_random_seed=5)", "config, 3")
    stays(f"{HEAD}{body}register(build)\n", "how the Estimator is configured here")


def test_another_configuration() -> None:
    body = RUN.format("config = tf.estimator.RunConfig(tf_random_seed=5)", "config, 3")
    stays(f"{HEAD}{body}build(load(), 3).train(input_fn)\n", "how the Estimator is configured")


def test_a_helper_that_makes_it() -> None:
    body = """\
def settings(seed, folder):
    \"\"\"What the run is like.\"\"\"
    return tf.estimator.RunConfig(tf_random_seed=seed)


SEED = 7
config = settings(SEED, "x")  # seven
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=5)
"""
    assert converted(body).startswith(
        "SEED = 7\n# seven\ntf.random.set_seed(SEED)\nestimator = model_fn()\n"
    )
    more = body.replace("    return", "    print(seed)\n    return")
    after = converted(more)
    assert "    print(seed)\n    tf.random.set_seed(seed)\n" in after
    assert '\n# seven\nsettings(SEED, "x")\nestimator = model_fn()\n' in after


READ = """\
config = tf.estimator.RunConfig({0})
estimator = tf.estimator.Estimator(model_fn, config=config)
print({1})
estimator.train(input_fn, steps=5)
"""


@pytest.mark.parametrize(
    ("given", "read", "value"),
    [
        ("save_summary_steps=7", "config.save_summary_steps", "7"),
        ("", "config.save_summary_steps, config.keep_checkpoint_max", "100, 5"),
        ("", "config.save_checkpoints_secs, config.save_checkpoints_steps", "600, None"),
        ("save_checkpoints_steps=50", "config.save_checkpoints_secs", "None"),
        ("", "config.model_dir or 'here'", "None or 'here'"),
    ],
)
def test_a_setting_that_is_read(given: str, read: str, value: str) -> None:
    after = converted(READ.format(given, read))
    assert f"\nprint({value})\n" in after and "config" not in after


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("", "config.is_chief"),
        ("save_summary_steps=count()", "config.save_summary_steps"),
        ("", "config.replace(save_summary_steps=5).save_summary_steps"),
        ("", "config.cluster_spec"),
    ],
)
def test_a_setting_that_is_not_known(given: str, read: str) -> None:
    stays(HEAD + READ.format(given, read), "of the RunConfig is read here")


def test_a_setting_that_another_function_reads() -> None:
    body = """\
def show(config):
    print(config.save_summary_steps, config.tf_random_seed)


def main():
    steps = len(X)
    config = tf.estimator.RunConfig(save_summary_steps={0}, tf_random_seed=4)
    show(config)
    tf.estimator.Estimator(model_fn, config=config).train(input_fn, steps=5)


main()
"""
    body = body.replace("    tf.estimator.E", "    estimator = tf.estimator.E")
    body = body.replace(".train(", "\n    estimator.train(")
    after = converted(body.format(100))
    assert "def show():\n    print(100, 4)\n" in after and "    show()\n" in after
    stays(HEAD + body.format("steps"), "`save_summary_steps` of the RunConfig is read here")


DRIVEN = """\
def build(folder, config=None):
    return tf.estimator.Estimator(model_fn, model_dir=folder, config=config)


def main(folder):
    {0}
    estimator = build(folder, config)
    estimator.train(input_fn, max_steps=5)
    print(estimator.model_dir)


main("here")
"""
SAVES = """\
    checkpoint = tf.train.Checkpoint(model=estimator)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=3)
    if manager.latest_checkpoint:
        reader = tf.train.load_checkpoint(manager.latest_checkpoint)
        if reader.has_tensor("global_step"):
            raise ValueError(
                "a TF1 checkpoint: `migrate-mgpu checkpoint` converts it")
        checkpoint.restore(manager.latest_checkpoint).assert_existing_objects_matched()
"""


def test_a_folder_of_an_estimator_that_a_function_makes() -> None:
    after = converted(DRIVEN.format("config = tf.estimator.RunConfig(keep_checkpoint_max=3)"))
    assert "def build(folder):\n    return model_fn()\n" in after
    assert "    estimator = build(folder)\n    train_dataset = input_fn()\n" in after
    assert "get_concrete_function(train_dataset.element_spec[0])\n" in after
    assert SAVES in after
    assert "    print(manager.directory)\n" in after


def test_a_folder_and_a_strategy_of_an_estimator_that_a_function_makes() -> None:
    lines = "gpus = tf.distribute.MirroredStrategy()\n    config = tf.estimator.RunConfig(\n"
    lines += "        train_distribute=gpus, keep_checkpoint_max=3)"
    after = converted(DRIVEN.format(lines))
    assert "    estimator = build(folder, gpus)\n    # The variables must exist" in after
    assert "    with gpus.scope():\n        estimator(next(iter(input_fn()))[0])\n" in after
    assert SAVES in after


def test_a_folder_that_only_the_function_knows() -> None:
    body = DRIVEN.format("config = None").replace(
        "model_dir=folder", 'model_dir=folder + "/" + str(len(folder))'
    )
    stays(HEAD + body, "the model_dir is not known where the Estimator is used")


TRAINER = """\
class Trainer(object):
    def __init__(self, folder):
        self.size = 4
        self.estimator = tf.estimator.Estimator(model_fn, model_dir=folder)
        self.later = 3

    def data(self):
        return input_fn().take(self.size)

    def train(self, steps):
        self.estimator.train(self.data, max_steps=steps)

    def evaluate(self):
        print(self.estimator.evaluate(self.data)["loss"])
        return os.listdir(self.estimator.eval_dir())


trainer = Trainer("here")
trainer.train(5)
"""


def test_a_folder_of_an_estimator_that_an_object_has() -> None:
    after = converted(TRAINER)
    assert (
        "        self.estimator = model_fn()\n"
        "        # The variables must exist before a checkpoint can be restored into them.\n"
        "        tf.function(self.estimator).get_concrete_function("
        "self.data().element_spec[0])\n" in after
    )
    assert "        self.manager = tf.train.CheckpointManager(" in after
    assert "            self.manager.save(self.estimator.optimizer.iterations)\n" in after
    assert 'os.listdir(os.path.join(self.manager.directory, "eval"))' in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("self.size)", "self.later)", "what the Estimator is fed is not known"),
        ("(self.data, max", "(lambda: self.data().take(steps), max",
         "what the Estimator is fed is not known"),
        ('trainer = Trainer("here")', 'trainer = Trainer("here") or Trainer("here")',
         "several objects of Trainer"),
        ("self.estimator.eval_dir()", "self.estimator.eval_dir(str(3))", "which evaluation"),
    ],
)  # fmt: skip
def test_an_object_with_a_folder_that_stays(old: str, new: str, reason: str) -> None:
    assert TRAINER.count(old) == 1
    stays(HEAD + TRAINER.replace(old, new), reason)


def test_a_folder_that_is_only_asked_for() -> None:
    body = 'estimator = tf.estimator.Estimator(model_fn, "here")\nprint(estimator.model_dir)\n'
    stays(HEAD + body, "`model_dir` of an Estimator that does nothing")


@pytest.mark.parametrize("name", ['"global_step"', "tf.GraphKeys.GLOBAL_STEP"])
@pytest.mark.parametrize("folder", ["", ', "here"'])
def test_the_step(name: str, folder: str) -> None:
    body = f"""\
estimator = tf.estimator.Estimator(model_fn{folder})
step = estimator.get_variable_value({name})
while step < 10:
    estimator.train(input_fn, steps=5)
    step = estimator.get_variable_value({name})
"""
    after = converted(body)
    assert after.count("step = int(estimator.optimizer.iterations.numpy())\n") == 2
    if folder:
        first = after.index("step = int(")
        assert after.index("checkpoint.restore(") < first


def test_another_variable() -> None:
    body = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn)\n"
    body += 'print(estimator.get_variable_value("dense/kernel"))\n'
    stays(HEAD + body, "`get_variable_value` of an Estimator has no known form")


def test_the_run_config_of_contrib() -> None:
    made = "tf.contrib.learn.RunConfig({})"
    body = "estimator = tf.estimator.Estimator(model_fn, config=config)\n"
    body += "estimator.train(input_fn, steps=5)\n"
    given = "save_summary_steps=5, tf_random_seed=3, save_checkpoints_secs=None"
    after = converted(f"config = {made.format(given)}\n{body}")
    assert after.startswith("tf.random.set_seed(3)\nestimator = model_fn()\n")
    for given in ("gpu_memory_fraction=0.5", "'master'", "num_cores=3"):
        text = f"{HEAD}config = {made.format(given)}\n{body}"
        stays(text, "tf.contrib.learn has its own RunConfig")


def test_an_estimator_that_is_shown() -> None:
    body = "estimator = tf.estimator.Estimator(model_fn)\n{}\nestimator.train(input_fn, steps=5)\n"
    shown = 'print("it is a {}".format(type(estimator)), estimator)'
    assert shown in converted(body.replace("{}", shown, 1))
    stays(HEAD + body.replace("{}", "kind = type(estimator)"), "passed to `type(...)`")


@pytest.mark.parametrize("given", ["", "model_dir=None", "save_summary_steps=7"])
def test_no_folder_by_replace_is_none(given: str) -> None:
    made = f"config = tf.estimator.RunConfig({given}).replace(model_dir=None)\n"
    body = f"{made}estimator = tf.estimator.Estimator(model_fn, config=config)\n"
    after = converted(f"{body}estimator.train(input_fn, steps=5)\n")
    assert "Checkpoint" not in after


def test_a_folder_that_replace_takes_away() -> None:
    made = "config = tf.estimator.RunConfig(model_dir='out').replace(model_dir=None)\n"
    body = f"{made}estimator = tf.estimator.Estimator(model_fn, config=config)\n"
    stays(
        f"{HEAD}{body}estimator.train(input_fn, steps=5)\n",
        "`replace` takes the model_dir away again",
    )
