"""An Estimator with a folder that is trained where it is made, and used by functions."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import stays

PROGRAM = """\
def score(estimator):
    print(estimator.evaluate(input_fn, steps=3)["loss"])


def main():
    estimator = tf.estimator.Estimator(model_fn, 'out')
    estimator.train(input_fn, steps=5)
    score(estimator)


main()
"""


def test_a_function_that_evaluates() -> None:
    after = converted(PROGRAM)
    assert "    estimator = model_fn()\n    # The variables must exist before" in after
    assert "    print(estimator.evaluate(input_fn(), steps=3, return_dict=True" in after
    assert after.count("manager.save(") == 1


LATER = """\
def receive():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.TensorServingInputReceiver(x, {"x": x})


def export(estimator):
    estimator.export_savedmodel("exported", receive)


def main():
    estimator = tf.estimator.Estimator(model_fn, 'out')
    feed = lambda: input_fn()
    estimator.train(feed, steps=5)
    export(estimator)


main()
"""


def test_a_function_that_exports_and_an_input_that_is_made_below() -> None:
    """The checkpoint is restored where what is fed is known, and nothing has named the model."""
    after = converted(LATER)
    assert (
        """\
    estimator = model_fn()
    feed = lambda: input_fn()
    # The variables must exist before a checkpoint can be restored into them.
"""
        in after
    )
    assert after.index("checkpoint.restore(") < after.index("estimator.fit(")
    assert '    archive.add_endpoint("serving_default", receive(estimator))\n' in after


def test_a_function_that_is_given_the_model_too_early() -> None:
    early = LATER.replace("    feed =", "    export(estimator)\n    feed =")
    stays(HEAD + early, "what the Estimator is fed is not known where it is made")


def test_functions_alone() -> None:
    after = converted(PROGRAM.replace("    estimator.train(input_fn, steps=5)\n", ""))
    assert "get_concrete_function(input_fn().element_spec[0])\n" in after
    assert "manager.save" not in after


def test_a_helper_that_makes_it() -> None:
    body = "def build():\n    return tf.estimator.Estimator(model_fn, 'out')\n\n\n"
    made = PROGRAM.replace("tf.estimator.Estimator(model_fn, 'out')", "build()")
    after = converted(body + made)
    assert "    estimator = build()\n    # The variables must exist before" in after


def test_under_a_strategy() -> None:
    config = (
        "    config = tf.estimator.RunConfig(\n"
        "        model_dir='out', train_distribute=tf.distribute.MirroredStrategy())\n"
    )
    body = PROGRAM.replace("def main():\n", f"def main():\n{config}")
    after = converted(body.replace("'out')\n    est", "config=config)\n    est"))
    assert "    with strategy.scope():\n        estimator = model_fn()\n        # The vari" in after


def test_another_name_of_it() -> None:
    after = converted(PROGRAM.replace("    score(", "    estimator = estimator\n    score("))
    assert "    estimator_2 = estimator\n    score(estimator_2)\n" in after


TURNS = """\
def build():
    return tf.estimator.Estimator(model_fn, 'out')


estimator = build()
estimator.train(input_fn, steps=5)
estimator = build()
print(estimator.evaluate(input_fn, steps=3)["loss"])
"""


def test_a_helper_that_makes_it_in_turns() -> None:
    """Each time it goes on with what is in its folder."""
    after = converted(TURNS)
    assert after.count("\nestimator = build()\n") == 2
    assert after.count("checkpoint.restore(manager") == after.count("# The variables must") == 2
    assert after.count("manager.save(") == 1
    assert after.index("manager.save(") < after.rindex("estimator = build()")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator = build()\nprint", "for _ in X:\n    estimator = build()\nprint"),
        ("estimator = build()\nprint", "other = build()\nprint"),
        ("print(est", "def score():\n    print(est"),
    ],
)
def test_turns_that_cannot_be_told_apart(old: str, new: str) -> None:
    stays(HEAD + TURNS.replace(old, new), ANOTHER)


NOT_KNOWN = "what the Estimator is fed is not known where it is made"
ANOTHER = "an Estimator with a model_dir is used in another function"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    print(est", "    estimator.train(input_fn, steps=1)\n    print(est", ANOTHER),
        ("    score(", "    if X.any():\n        estimator = estimator\n    score(", ANOTHER),
        ("    estimator.train(input_fn, steps=5)\n", "    print(estimator)\n"
         "    feed = lambda: input_fn()\n    estimator.train(feed, steps=5)\n", NOT_KNOWN),
        ("    print(est", "    print(estimator.model_dir, est", "is read in a different function"),
    ],
)  # fmt: skip
def test_programs_that_stay(old: str, new: str, reason: str) -> None:
    stays(HEAD + PROGRAM.replace(old, new), reason)


def test_an_input_function_of_the_other_function() -> None:
    body = PROGRAM.replace("    estimator.train(input_fn, steps=5)\n", "")
    body = body.replace("    print(", "    feed = lambda: input_fn().take(2)\n    print(")
    stays(HEAD + body.replace("evaluate(input_fn", "evaluate(feed"), NOT_KNOWN)


KEPT = """\
class Trainer:
    def __init__(self, folder):
        self.estimator = self.build(folder)

    def build(self, folder):
        return tf.estimator.Estimator(model_fn, folder)

    def train(self):
        self.estimator.train(input_fn, max_steps=5)


trainer = Trainer("out")
trainer.train()
"""


def test_a_method_makes_what_the_object_keeps() -> None:
    after = converted(KEPT)
    assert "        self.estimator = self.build(folder)\n        # The variables must" in after
    assert "self.manager = tf.train.CheckpointManager(\n" in after
    assert "            self.checkpoint, folder, max_to_keep=5)\n" in after
    assert "            self.manager.save(self.estimator.optimizer.iterations)\n" in after
    assert "        return model_fn()\n" in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('trainer = Trainer("out")\n', 'Trainer("one").train()\ntrainer = Trainer("out")\n',
         "several objects of Trainer"),
        ("trainer.train()\n", "trainer.estimator.train(input_fn, max_steps=9)\n", ANOTHER),
        ("    def train(self):\n", "    def again(self):\n        self.other = self.build('x')\n\n"
         "    def train(self):\n", ANOTHER),
        ("    def build(self, folder):\n", "    def build(self, folder):\n        folder += '/x'\n",
         "the model_dir is not known"),
    ],
)  # fmt: skip
def test_objects_that_stay(old: str, new: str, reason: str) -> None:
    stays(HEAD + KEPT.replace(old, new), reason)


MAKER = (
    HEAD
    + """\


def create():
    return tf.estimator.Estimator(model_fn, 'out')


def main():
    estimator = create()
    estimator.train(input_fn, steps=5)


if __name__ == "__main__":
    main()
"""
)
USER = """\
import program

estimator = program.create()
print(estimator.evaluate(program.input_fn, steps=3)["loss"])
"""


def test_several_that_modules_make() -> None:
    """What is made in another file stands in no block of this one."""
    stays(MAKER, "an Estimator with a model_dir is used in another function", ("user.py", USER))
