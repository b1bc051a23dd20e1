"""Strategies and RunConfigs as what stands in their place in TF2."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from tests.models.keras.driver.programs import HEAD, MADE, MAKE, SCOPED, configured, driven, lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.distribute.MirroredStrategy()", "tf.distribute.MirroredStrategy()"),
        ("tf.contrib.distribute.MirroredStrategy()", "tf.distribute.MirroredStrategy()"),
        (
            "tf.contrib.distribute.MirroredStrategy(num_gpus=2)",
            "tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])",
        ),
        (
            "tf.contrib.distribute.MirroredStrategy(num_gpus=2, auto_shard_dataset=N > 3)",
            "tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])",
        ),
        (
            "tf.contrib.distribute.MirroredStrategy(num_gpus_per_worker=8)",
            "tf.distribute.MirroredStrategy(['/gpu:%d' % i for i in range(8)])",
        ),
        (
            "tf.contrib.distribute.MirroredStrategy(num_gpus=N)",
            "tf.distribute.MirroredStrategy(\n    ['/gpu:%d' % i for i in range(N)] or ['/cpu:0'])",
        ),
        (
            "tf.contrib.distribute.MirroredStrategy(devices=['/gpu:1'])",
            "tf.distribute.MirroredStrategy(devices=['/gpu:1'])",
        ),
        (
            "tf.contrib.distribute.MirroredStrategy(\n    cross_tower_ops="
            "tf.contrib.distribute.AllReduceCrossTowerOps(\n        'nccl', num_packs=2))",
            "tf.distribute.MirroredStrategy(\n"
            "    cross_device_ops=tf.distribute.NcclAllReduce(num_packs=2))",
        ),
        (
            "tf.contrib.distribute.OneDeviceStrategy(device='/gpu:0')",
            "tf.distribute.OneDeviceStrategy(device='/gpu:0')",
        ),
        (
            "tf.distribute.experimental.MultiWorkerMirroredStrategy()",
            "tf.distribute.MultiWorkerMirroredStrategy()",
        ),
        ("None", "tf.distribute.get_strategy()"),
        (
            "None if N < 2 else tf.contrib.distribute.MirroredStrategy(num_gpus=N)",
            "tf.distribute.get_strategy() if N < 2 else tf.distribute.MirroredStrategy(\n"
            "    ['/gpu:%d' % i for i in range(N)])",
        ),
    ],
)
def test_strategies(before: str, after: str) -> None:
    assert lines(configured(before)) == f"strategy = {after}\n{SCOPED}"


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (
            "tf.contrib.distribute.ParameterServerStrategy(num_gpus_per_worker=2)",
            "parameter server",
        ),
        ("tf.contrib.distribute.TPUStrategy(resolver)", "TPU"),
        ("tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=2)", "uses all"),
        ("tf.contrib.distribute.MirroredStrategy(cross_device_ops=mine())", "gradients"),
    ],
)
def test_strategies_without_an_equal(strategy: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        lines(configured(strategy))


def test_a_strategy_that_is_handed_to_nothing() -> None:
    body = f"idle = tf.contrib.distribute.MirroredStrategy(num_gpus=2)\n{MAKE}"
    assert lines(body) == f"idle = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])\n{MADE}"


def test_an_inline_strategy_gets_a_name() -> None:
    body = (
        "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
        "est = tf.estimator.Estimator(model_fn, config=config, params={'n': 1})\n"
    )
    assert lines(body) == f"strategy = tf.distribute.MirroredStrategy()\n{SCOPED}"


def test_a_strategy_in_one_branch_of_the_configuration() -> None:
    body = (
        "if N > 1:\n"
        "    config = tf.estimator.RunConfig(\n"
        "        train_distribute=tf.contrib.distribute.MirroredStrategy(num_gpus=N))\n"
        "else:\n"
        "    config = tf.estimator.RunConfig()\n"
        "est = tf.estimator.Estimator(model_fn, config=config, params={'n': 1})\n"
    )
    assert lines(body) == (
        "if N > 1:\n"
        "    strategy = tf.distribute.MirroredStrategy(\n"
        "        ['/gpu:%d' % i for i in range(N)])\n"
        "else:\n"
        "    strategy = tf.distribute.get_strategy()\n"
        f"{SCOPED}"
    )


def test_the_program_may_not_ask_whether_it_has_a_strategy() -> None:
    body = configured("None if N < 2 else tf.distribute.MirroredStrategy()")
    with pytest.raises(Refused, match="asks whether"):
        lines(body + "if strategy is None:\n    print('one')\n")


def test_run_config_leaves_seed_and_comments() -> None:
    body = (
        "config = tf.estimator.RunConfig(\n"
        "    tf_random_seed=7,  # for the paper\n"
        "    log_step_count_steps=10)\n"
        "est = tf.estimator.Estimator(model_fn, config=config, params={'n': 1})\n"
    )
    new, result = driven(body)
    assert new[len(HEAD) :] == f"# for the paper\ntf.random.set_seed(7)\n{MADE}"
    assert any("log_step_count_steps" in text for _, _, text, _ in result.notes)


CHOSEN = (
    "if N > 1:\n"
    "    strategy = tf.distribute.MirroredStrategy()\n"
    "    config = tf.estimator.RunConfig(train_distribute=strategy)\n"
)
FROM = "est = tf.estimator.Estimator(model_fn, config=config, params={'n': 1})\n"
WRITTEN = (
    "strategy = tf.distribute.get_strategy()\n"
    "if N > 1:\n"
    "    strategy = tf.distribute.MirroredStrategy()\n"
    f"{SCOPED}"
)


def test_no_run_config_is_the_default_strategy() -> None:
    assert lines(f"config = None\n{CHOSEN}{FROM}") == WRITTEN


def test_a_strategy_that_replace_gives_under_a_condition() -> None:
    body = (
        "config = tf.estimator.RunConfig()\n"
        "if N > 1:\n"
        "    config = config.replace(train_distribute=tf.distribute.MirroredStrategy())\n"
    )
    assert lines(body + FROM) == WRITTEN


def test_a_strategy_that_replace_gives_always() -> None:
    body = (
        "config = tf.estimator.RunConfig()\n"
        "config = config.replace(train_distribute=tf.distribute.MirroredStrategy())\n"
    )
    assert lines(body + FROM) == f"strategy = tf.distribute.MirroredStrategy()\n{SCOPED}"


def test_a_strategy_that_is_used_elsewhere_keeps_its_name_for_itself() -> None:
    body = f"config = None\n{CHOSEN}    print(strategy.num_replicas_in_sync)\n{FROM}"
    assert lines(body) == (
        "distribution = tf.distribute.get_strategy()\n"
        "if N > 1:\n"
        "    strategy = tf.distribute.MirroredStrategy()\n"
        "    distribution = strategy\n"
        "    print(strategy.num_replicas_in_sync)\n"
        "with distribution.scope():\n"
        "    est = model_fn(params={'n': 1})\n"
    )


@pytest.mark.parametrize("other", ["None", "tf.estimator.RunConfig()"])
def test_a_run_config_chosen_in_an_expression(other: str) -> None:
    body = (
        "mirrored = tf.distribute.MirroredStrategy()\n"
        "config = tf.estimator.RunConfig(train_distribute=mirrored) "
        f"if N > 1 else {other}\n{FROM}print(mirrored)\n"
    )
    assert lines(body) == (
        "mirrored = tf.distribute.MirroredStrategy()\n"
        "strategy = mirrored if N > 1 else tf.distribute.get_strategy()\n"
        f"{SCOPED}print(mirrored)\n"
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "config = tf.estimator.RunConfig(tf_random_seed=1) or None\n",
            "chosen in an expression",
        ),
        (
            "config = None\nif N > 1:\n    config = tf.estimator.RunConfig(model_dir='x')\n",
            "no model_dir in another branch",
        ),
        (
            "config = tf.estimator.RunConfig(model_dir='x')\n"
            "if N > 1:\n    config = config.replace(save_checkpoints_steps=3)\n",
            "no save_checkpoints_steps in another branch",
        ),
        (
            f"config = None\n{CHOSEN}def made(config):\n"
            "    return tf.estimator.Estimator(model_fn, config=config, params={'n': 1})\n"
            "config = made(config)\n",
            "not known where the model is made",
        ),
    ],
)
def test_settings_that_only_one_branch_has(body: str, reason: str) -> None:
    uses = "" if "def made" in body else f"{FROM}est.train(input_fn, steps=2)\n"
    with pytest.raises(Refused, match=reason):
        lines(body + uses)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("{0} if N > 1 else None", "if N > 1:\n    {1}\n"),
        ("None if N > 1 else {0}", "if not (N > 1):\n    {1}\n"),
        ("{0} if N > 1 else {0}", "if N > 1:\n    {1}\nelse:\n    {1}\n"),
    ],
)
def test_a_seed_that_one_branch_has(chosen: str, said: str) -> None:
    made = chosen.format("tf.estimator.RunConfig(tf_random_seed=1)")
    new = lines(f"config = {made}\n{FROM}")
    assert new.startswith(said.format("", "tf.random.set_seed(1)")), new


CONFIG = "config = tf.estimator.RunConfig(save_summary_steps=5)\n"


@pytest.mark.parametrize(
    "shown",
    ["print(config)", "print('config:', config)", "config", "tf.logging.info('%s', config)"],
)
def test_a_run_config_that_is_printed(shown: str) -> None:
    new, result = driven(f"{CONFIG}{shown}\n{FROM}")
    assert new == f"{HEAD}{MADE}"
    assert any("is left out" in text for _, _, text, _ in result.notes)
    new, _ = driven(f"{CONFIG}if N:\n    {shown}\n{FROM}")
    assert new == f"{HEAD}if N:\n    pass\n{MADE}"


@pytest.mark.parametrize(
    "hook", ["tf.train.LoggingTensorHook({}, 5)", "tf.train.StepCounterHook()"]
)
def test_a_hook_of_no_training(hook: str) -> None:
    new, result = driven(f"hook = {hook}\n{MAKE}")
    assert new == f"{HEAD}{MADE}"
    assert any("Hook is passed to no training" in text for _, _, text, _ in result.notes)
    new, _ = driven(f"hook = {hook}\nprint([hook])\n{MAKE}")
    assert "hook = " in new


@pytest.mark.parametrize("shown", ["", "print(config)\n"])
def test_a_run_config_of_no_estimator(shown: str) -> None:
    new, result = driven(f"{CONFIG}{shown}{MAKE}")
    assert new == f"{HEAD}{MADE}"
    assert any("passed to no Estimator" in text for _, _, text, _ in result.notes)


@pytest.mark.parametrize(
    "body",
    [
        f"{CONFIG}print(config.save_summary_steps)\n{MAKE}",
        f"{CONFIG}other = config or None\nprint(other.model_dir)\n{MAKE}",
        f"config = tf.estimator.RunConfig(session_config=tf.ConfigProto())\n{MAKE}",
        f"config = other = tf.estimator.RunConfig()\n{MAKE}",
        f"{CONFIG}print(config, input_fn())\n{MAKE}",
        f"def show(it):\n    print(it)\n{CONFIG}show(config)\nshow('it')\n{MAKE}",
        f"def show(it):\n    print(it)\n{CONFIG}show(config)\n{MAKE}",
    ],
)
def test_run_configs_of_no_estimator_that_stay(body: str) -> None:
    assert "tf.estimator.RunConfig(" in lines(body)


@pytest.mark.parametrize(
    "shown",
    [
        "print(vars(config))\n",
        "def show(it):\n    print(it)\nshow('it')\nshow(config)\n",
    ],
)
def test_a_run_config_that_is_used_in_a_print(shown: str) -> None:
    with pytest.raises(Refused, match=r"more than an Estimator|configured here|another RunConfig"):
        lines(f"{CONFIG}{shown}{FROM}")
