"""Estimators that are made inside of a statement."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import stays

EST = "tf.estimator.Estimator(model_fn)"
FIT = "fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
RUN = "def run(estimator, steps=5):\n    estimator.train(input_fn, steps=steps)\n\n\n"
RAN = RUN.replace(
    "train(input_fn, steps=steps)", "fit(input_fn(), steps_per_epoch=steps, verbose=0)"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"line = {EST}.train(input_fn, steps=5)\n", f"line = model_fn()\nline.{FIT}"),
        (f"{EST}.train(input_fn, steps=5)\n", f"estimator = model_fn()\nestimator.{FIT}"),
        (f"{RUN}run({EST})\n", f"{RAN}model = model_fn()\nrun(model)\n"),
        (f"{RUN}run(\n    steps=5,\n    estimator={EST})\n",
         f"{RAN}model = model_fn()\nrun(\n    steps=5,\n    estimator=model)\n"),
        (
            f"tf.estimator.train_and_evaluate(\n    {EST},\n"
            "    tf.estimator.TrainSpec(input_fn, max_steps=5),\n"
            "    tf.estimator.EvalSpec(input_fn, steps=2))\n",
            f"estimator = model_fn()\nestimator.{FIT}"
            "estimator.evaluate(input_fn(), steps=2, return_dict=True, verbose=0)\n",
        ),
        (
            f"def build():\n    return {EST}, 'a line'\n\n\nestimator, name = build()\n"
            "estimator.train(input_fn, steps=5)\n",
            "def build():\n    estimator = model_fn()\n    return estimator, 'a line'\n\n\n"
            f"estimator, name = build()\nestimator.{FIT}",
        ),
        (
            f"estimator = {EST} if len(X) > 1 else None  # one\n"
            "estimator.train(input_fn, steps=5)\n",
            "# one\nif len(X) > 1:\n    estimator = model_fn()\nelse:\n    estimator = None\n"
            f"estimator.{FIT}",
        ),
    ],
)  # fmt: skip
def test_a_statement_of_its_own(before: str, after: str) -> None:
    assert converted(before) == after


@pytest.mark.parametrize(
    "body",
    [
        f"{RUN}run(steps=len(os.listdir()), estimator={EST})\n",
        f"{RUN}fits = [run({EST}) for _ in range(2)]\n",
        f"{RUN}later = lambda: run({EST})\n",
        f"{RUN}len(X) > 1 and run({EST})\n",
        f"{RUN}if run({EST}):\n    pass\n",
    ],
)
def test_estimators_that_stay(body: str) -> None:
    stays(HEAD + body, "the Estimator is made in the middle of a statement")
