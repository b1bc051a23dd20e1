"""What a program does with its Estimators, found across names, branches and helpers."""

from __future__ import annotations

import ast
import textwrap

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.estimators.finding import CANNED, CUSTOM, KERAS, EstimatorFlow
from migrate_mgpu.models.front.estimators.settings import read_checkpoints
from tests.models.keras.driver.programs import HEAD, flows

MAKE = "est = tf.estimator.Estimator(model_fn, params={'n': 1})\n"


def flow(body: str) -> EstimatorFlow:
    (found,), _ = flows(HEAD + textwrap.dedent(body))
    return found


def problem(body: str) -> str:
    found = flow(body)
    assert found.problems, "it was understood"
    return found.problems[0].reason


def test_a_whole_estimator() -> None:
    found = flow(
        """\
        strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=2)
        config = tf.estimator.RunConfig('folder', train_distribute=strategy)
        est = tf.estimator.Estimator(model_fn, 'folder', config, {'n': 1})
        est.train(input_fn, steps=3)
        print(est.evaluate(input_fn=input_fn))
        for p in est.predict(input_fn):
            pass
        """
    )
    assert (found.kind, found.problems) == (CUSTOM, [])
    assert found.function is not None and found.function.name == "model_fn"
    assert [(call.kind, sorted(call.arguments)) for call in found.driving.calls] == [
        ("train", ["input_fn", "steps"]),
        ("evaluate", ["input_fn"]),
        ("predict", ["input_fn"]),
    ]
    assert [ast.unparse(call.receiver) for call in found.driving.calls] == ["est"] * 3
    assert sorted(found.config.made[0].arguments) == ["model_dir", "train_distribute"]
    (choice,) = found.distribution.training
    (strategy,) = choice.strategies
    assert (strategy.kind, strategy.devices) == ("contrib_mirrored", None)
    assert strategy.count is not None and ast.unparse(strategy.count) == "2"
    assert ast.unparse(found.params or ast.Constant(0)) == "{'n': 1}"


@pytest.mark.parametrize(
    "strategy",
    [
        "strategy = None if n < 2 else tf.distribute.MirroredStrategy()",
        "if n > 1:\n    strategy = tf.distribute.MirroredStrategy()\nelse:\n    strategy = None",
        "def choose():\n    if n > 1:\n        return tf.distribute.MirroredStrategy()\n"
        "    return None\n\nstrategy = choose()",
        "table = {'one': None, 'all': tf.distribute.MirroredStrategy()}\nstrategy = table[n]",
    ],
    ids=["expression", "branches", "helper", "table"],
)
def test_a_strategy_that_may_be_none(strategy: str) -> None:
    found = flow(
        f"n = 2\n{strategy}\nconfig = tf.estimator.RunConfig(train_distribute=strategy)\n"
        "est = tf.estimator.Estimator(model_fn, config=config)\n"
    )
    assert not found.problems
    (chosen,) = found.distribution.training
    assert [strategy.kind for strategy in chosen.strategies] == ["mirrored"]
    assert len(chosen.absent) == 1


@pytest.mark.parametrize(
    ("made", "facts"),
    [
        ("tf.distribute.MirroredStrategy(['/gpu:0'])", ("mirrored", "['/gpu:0']", None)),
        ("tf.distribute.MirroredStrategy()", ("mirrored", None, None)),
        ("tf.distribute.OneDeviceStrategy(device='/cpu:0')", ("one_device", "'/cpu:0'", None)),
        (
            "tf.contrib.distribute.MirroredStrategy(num_gpus_per_worker=n)",
            ("contrib_mirrored", None, "n"),
        ),
    ],
)
def test_the_devices_of_a_strategy(made: str, facts: tuple[str, str | None, str | None]) -> None:
    """As facts: another front-end may find them in a loop over devices."""
    found = flow(
        f"n = 2\nconfig = tf.estimator.RunConfig(train_distribute={made})\n"
        "est = tf.estimator.Estimator(model_fn, config=config)\n"
    )
    (choice,) = found.distribution.training
    (strategy,) = choice.strategies
    given = (strategy.devices, strategy.count)
    assert (strategy.kind, *(node and ast.unparse(node) for node in given)) == facts


def checkpoints(arguments: str, config: str) -> dict[str, str]:
    """What is said of an Estimator's checkpoints."""
    body = f"config = tf.estimator.RunConfig({config})\n"
    body += f"est = tf.estimator.Estimator(model_fn, config=config{arguments})\n"
    (found,), graph = flows(HEAD + body)
    read = read_checkpoints(found, ValueFlow(graph))
    named = {name: getattr(read, name) for name in ("folder", "every", "keep", "start")}
    return {name: ast.unparse(one.node) for name, one in named.items() if one is not None}


def test_checkpoints() -> None:
    every = "save_checkpoints_steps=5, keep_checkpoint_max=2"
    assert checkpoints(", model_dir='f'", every) == {"folder": "'f'", "every": "5", "keep": "2"}
    assert checkpoints("", "'g'") == {"folder": "'g'"}
    assert checkpoints(", model_dir=config.model_dir", "'g'") == {"folder": "'g'"}
    assert checkpoints(", warm_start_from='old'", every) == {"start": "'old'"}


def test_checkpoints_that_differ_by_branches() -> None:
    body = """\
        if n:
            config = tf.estimator.RunConfig('f', keep_checkpoint_max=1)
        else:
            config = tf.estimator.RunConfig('f', keep_checkpoint_max=2)
        est = tf.estimator.Estimator(model_fn, config=config)
        """
    (found,), graph = flows(HEAD + "n = 1\n" + textwrap.dedent(body))
    with pytest.raises(Refused, match="another keep_checkpoint_max in another branch"):
        read_checkpoints(found, ValueFlow(graph))


def test_replace_is_part_of_the_configuration() -> None:
    found = flow(
        """\
        config = tf.estimator.RunConfig().replace(save_summary_steps=5)
        config = config.replace(keep_checkpoint_max=2)
        est = tf.estimator.Estimator(model_fn, config=config)
        """
    )
    assert not found.problems
    assert len(found.config.made) == 1
    changed = {name for made in found.config.replaced for name in made.arguments}
    assert changed == {"save_summary_steps", "keep_checkpoint_max"}


def test_uses_behind_attributes_helpers_and_parameters() -> None:
    found = flow(
        """\
        def build():
            return tf.estimator.Estimator(model_fn)


        def run(estimator):
            estimator.train(input_fn, steps=1)


        class Trainer:
            def __init__(self):
                self.estimator = build()

            def train(self):
                run(self.estimator)
                self.estimator.evaluate(input_fn)
        """
    )
    assert not found.problems
    assert sorted(call.kind for call in found.driving.calls) == ["evaluate", "train"]


def test_specs_are_followed() -> None:
    found = flow(
        MAKE
        + """
spec = tf.estimator.TrainSpec(input_fn, 100)
tf.estimator.train_and_evaluate(est, spec, tf.estimator.EvalSpec(input_fn, steps=None))
"""
    )
    (call,) = found.driving.calls
    assert call.train_spec is not None and sorted(call.train_spec.arguments) == [
        "input_fn",
        "max_steps",
    ]
    assert call.eval_spec is not None and sorted(call.eval_spec.arguments) == ["input_fn"]


def test_a_partial_model_fn() -> None:
    found = flow("est = tf.estimator.Estimator(functools.partial(model_fn, params=3))\n")
    assert found.function is not None and sorted(found.bound) == ["params"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            MAKE + "est.experimental_export_all_saved_models('x', {})\n",
            "`experimental_export_all_saved_models`",
        ),
        (MAKE + "print(est.config)\n", "`config`"),
        (MAKE + "experiment(est)\n", "passed to `experiment(...)`"),
        (MAKE + "[est]\n", "how the Estimator is used"),
        ("est = tf.estimator.Estimator(make())\n", "not a function that the run defines"),
        ("est = tf.estimator.Estimator(**settings)\n", "come from `**`"),
        (
            "est = tf.estimator.Estimator(model_fn, config=load_config())\n",
            "how the Estimator is configured",
        ),
        (
            "config = tf.estimator.RunConfig(train_distribute=load())\n"
            "est = tf.estimator.Estimator(model_fn, config=config)\n",
            "which strategy this is",
        ),
        (
            "if n:\n    est = tf.estimator.Estimator(model_fn)\nelse:\n    est = make()\n"
            "est.train(input_fn, steps=1)\n",
            "another Estimator",
        ),
        (
            "spec = load_spec()\n" + MAKE
            + "tf.estimator.train_and_evaluate(est, spec, tf.estimator.EvalSpec(input_fn))\n",
            "which TrainSpec",
        ),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_said(body: str, reason: str) -> None:
    assert reason in problem(body)


def test_kinds_that_are_not_converted() -> None:
    canned = flow("est = tf.estimator.BoostedTreesClassifier([], 4)\n")
    keras = flow("est = tf.keras.estimator.model_to_estimator(model)\n")
    learn = flow("est = tf.contrib.learn.Estimator(model_fn)\n")
    assert (canned.kind, keras.kind) == (CANNED, KERAS)
    reasons = [[problem.reason for problem in found.problems] for found in (canned, keras, learn)]
    assert reasons == [
        ["`tf.estimator.BoostedTreesClassifier` is not converted"],
        [],
        ["`tf.contrib.learn.Estimator` is not converted"],
    ]


def test_names_alone_are_no_estimators() -> None:
    found, _ = flows("import other as tf\n\nest = tf.estimator.Estimator(model_fn)\n")
    assert not found


def test_one_variable_for_one_estimator_after_another() -> None:
    found, _ = flows(
        HEAD
        + "est = tf.estimator.Estimator(model_fn)\nest.train(input_fn, steps=1)\n"
        + "est = tf.estimator.Estimator(model_fn, params=2)\nest.evaluate(input_fn)\n"
    )
    assert [[call.kind for call in one.driving.calls] for one in found] == [["train"], ["evaluate"]]
    assert not any(one.problems for one in found)


def test_a_variable_that_a_branch_changes() -> None:
    found, _ = flows(
        HEAD
        + "est = tf.estimator.Estimator(model_fn)\n"
        + "if n:\n    est = tf.estimator.Estimator(model_fn, params=2)\n"
        + "est.train(input_fn, steps=1)\n"
    )
    assert all("another Estimator" in one.problems[0].reason for one in found)


TWO = """\
one = tf.estimator.Estimator(model_fn, 'folder')
one.train(input_fn, steps=1)
config = tf.estimator.RunConfig(model_dir='folder')
two = tf.estimator.Estimator(model_fn, config=config)
two.evaluate(input_fn)
"""


def shared(text: str) -> bool:
    found, _ = flows(HEAD + text)
    assert len(found) == 2
    problems = [p.reason for one in found for p in one.problems]
    assert all("share this model_dir" in problem for problem in problems)
    return bool(problems)


def test_a_folder_of_two_estimators_one_after_the_other() -> None:
    """The second one takes over what the first has saved where it is made: so in TF2."""
    assert not shared(TWO)
    first, rest = TWO.split("config", 1)
    body = textwrap.indent(first, "    "), textwrap.indent("config" + rest, "    ")
    assert not shared("def train():\n{}\ndef test():\n{}".format(*body))
    assert not shared(f"if n:\n{textwrap.indent(first, '    ')}else:\n    config{rest}".replace(
        "\ntwo", "\n    two"))  # fmt: skip
    assert not shared(f"for i in range(3):\n{textwrap.indent(TWO, '    ')}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("two.evaluate(input_fn)\n", "two.evaluate(input_fn)\none.train(input_fn, steps=2)\n"),
        ("two.evaluate(input_fn)\n", "two.evaluate(input_fn)\nprint(one.latest_checkpoint())\n"),
        ("one.train(input_fn, steps=1)\n", ""),
        ("two.evaluate(input_fn)\n", "for i in range(3):\n    two.train(input_fn, steps=1)\n"
         "    one = tf.estimator.Estimator(model_fn, 'folder')\n"),
    ],
)  # fmt: skip
def test_a_folder_of_two_estimators_by_turns(old: str, new: str) -> None:
    text = TWO.replace(old, new)
    if not new:  # made before the other one has trained
        text = TWO.replace(old, "") + old
    if "for i" in new:  # the second is made once, and the first again in a loop
        text = TWO.split("config", 1)[1].join(["config", ""]).replace(old, new)
    assert shared(text)


def test_a_folder_of_two_functions_that_call_each_other() -> None:
    first, rest = TWO.split("config", 1)
    body = f"{textwrap.indent(first, '    ')}    {{}}\n    one.evaluate(input_fn)\n"
    other = f"\ndef test():\n{textwrap.indent('config' + rest, '    ')}"
    assert not shared(f"def train():\n{body.format('pass')}{other}")
    assert shared(f"def train():\n{body.format('helper()')}\ndef helper():\n    test()\n{other}")
    main = "\ndef main():\n    test()\n    train()\n"
    assert not shared(f"def train():\n{body.format('pass')}{other}{main}")


def test_a_folder_of_two_scopes() -> None:
    first, rest = TWO.split("config", 1)
    other = f"def test():\n{textwrap.indent('config' + rest, '    ')}test()\n"
    assert shared(first + other)
