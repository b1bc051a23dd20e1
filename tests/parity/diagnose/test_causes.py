"""Causes are named for numbers that they predict, and not for others."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import mutants
from mutant_list import MUTANTS

from migrate_mgpu.parity import diagnose, verdict
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import sides

numpy = pytest.importorskip("numpy")
ROOT = Path(__file__).parents[3]
# Tests on arrays and losses: what is declared, or counted, is no matter of a few per cent.
NUMERIC = [
    name
    for name, mutant in MUTANTS.items()
    if mutant.rung in (4, 5, 6)
    and mutant.causes
    and mutant.causes[0]
    in {
        "loss-reduction",
        "gradient-scale",
        "clipping",
        "regularization",
        "softmax-twice",
        "from-logits",
        "learning-rate",
        "epsilon",
        "initial-slot",
        "momentum",
        "applied-twice",
        "mirrored-regularization",
    }
]


# Whose cause is seen in what the programs declared, or in their learning rates: without these
# the records say less of them.
DECLARED = {
    "adagrad_epsilon", "adagrad_rate", "adagrad_slot", "adam_for_gradient_descent",
    "adam_rate_times_replicas", "applied_twice", "batch_norm_as_in_evaluation",
    "batch_norm_epsilon", "batch_norm_momentum", "beta_1", "beta_2", "boundaries_off_by_one",
    "decay_steps", "decay_under_mirrored_strategy", "dropout_in_evaluation", "dropout_lost",
    "epsilon", "epsilon_default", "initial_slot", "initial_slot_half", "inverse_time_decay",
    "keep_probability_as_rate", "keep_probability_as_rate_again", "keras_default_rate",
    "learning_rate", "momentum_lost", "momentum_other", "nesterov", "one_rate_for_two",
    "other_optimizer",
    "rate_and_epsilon", "rate_and_momentum", "rate_times_replicas", "rms_decay", "rms_epsilon",
    "replicas_momentum_lost", "replicas_rate_a_step_later", "rms_momentum_lost",
    "rms_slots_left_at_zero", "schedule_begins_at_one", "schedule_lost", "staircase",
    "weight_decay_added",
    "fed_rate_not_taken",
    "rate_of_a_method_a_step_later",
    "rate_of_settings_doubled",
    "normalized_by_the_averages", "rate_of_the_saved_decays_later",
    "shared_network_with_the_rate_of_all", "trained_as_the_first_tests", "trainers_rate_doubled",
}  # fmt: skip


def first(judged: verdict.Judged) -> tuple[str, str] | None:
    """The first cause that is named, and how likely it is called."""
    one = judged.diagnosis[0] if judged.diagnosis else None
    return (one.cause, one.likelihood) if one else None


@pytest.mark.parametrize("name", NUMERIC)
def test_a_cause_is_not_likely_for_other_numbers(stored, judged, name):
    """The mutant's numbers, each a few per cent off: the same declarations, but no proof."""
    assert {one.cause for one in judged[name].diagnosis} & set(MUTANTS[name].causes)
    reference, target = mutants.both(name, stored)
    rng = numpy.random.RandomState(0)
    arrays = target.load_arrays()
    for key, value in arrays.items():
        if key.startswith(("gradient", "after_one", "logits")):
            noise = 0.05 * rng.standard_normal(value.shape) * numpy.abs(value).max()
            arrays[key] = value + noise.astype(value.dtype)
    mutants.give(target, arrays)
    for series in target.training["series"]:
        series["losses"] = [[x * 1.037 for x in losses] for losses in series["losses"]]
    found = verdict.judge(2, reference, target, Tolerances())
    assert found.verdict == outcome.NOT_EQUIVALENT
    named = {one.cause for one in found.diagnosis if one.likelihood == diagnose.LIKELY}
    assert not named & set(MUTANTS[name].causes), found.diagnosis


def test_equal_sides_have_no_cause(stored, judged):
    reference = sides.collect(stored, "towers", "a.py", "tf")
    found = verdict.judge(2, reference, reference, Tolerances())
    assert found.verdict == outcome.EQUIVALENT and found.diagnosis == []
    assert diagnose.diagnose(found.rungs, reference, reference) == []
    wrong = judged["learning_rate"]
    assert diagnose.diagnose(wrong.rungs, wrong.reference, wrong.target) == wrong.diagnosis != []


def test_a_cause_that_fails_does_not_lose_the_comparison(stored, monkeypatch):
    def broken(_):
        raise KeyError("rows")

    monkeypatch.setitem(diagnose.causes("CAUSES"), 6, [broken])
    with pytest.warns(UserWarning, match="the diagnosis broken failed: KeyError"):
        judged = mutants.judge("learning_rate", stored)
    assert judged.verdict == outcome.NOT_EQUIVALENT and judged.diagnosis == []


def test_older_records_are_diagnosed_too(stored, judged):
    """Traces from before declarations and batches were recorded: less is said of some mutants,
    and nothing that is wrong and likely."""
    less = set()
    for name, mutant in MUTANTS.items():
        reference, target = mutants.both(name, stored)
        for side in (reference, target):
            side.training.pop("declares", None)
            for series in side.training["series"]:
                series.pop("rates", None)
        older = first(verdict.judge(2, reference, target, Tolerances()))
        if older != first(judged[name]):
            less.add(name)
        right = {*mutant.causes}
        if right & {"dropout", "batch-norm"}:
            right.add("model")  # which layer it is cannot be known then
        assert older is None or older[1] == diagnose.POSSIBLE or older[0] in right, name
    assert less == DECLARED


def test_data_is_json(judged):
    (one,) = json.loads(json.dumps(judged["learning_rate"].as_data()))["diagnosis"]
    assert one["cause"] == "learning-rate" and one["rung"] == 6
    assert one["anchor"] == "losses-differ.md#learning-rate"


def test_every_cause_is_documented():
    """All names of causes in the code, and no others, have a heading in the docs."""
    named = set()
    for path in Path(diagnose.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Diagnosis":
                if isinstance(node.args[0], ast.Constant):
                    named.add(node.args[0].value)
            elif isinstance(node, ast.Dict):
                for value in node.values:
                    if isinstance(value, ast.Tuple) and len(value.elts) == 3:
                        named.add(ast.literal_eval(value.elts[0]))
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
                targets = node.targets[0]
                if isinstance(targets, ast.Tuple) and "cause" in ast.unparse(targets).split(", "):
                    for element in node.value.elts:
                        if isinstance(element, ast.Constant) and "-" in str(element.value):
                            if re.fullmatch(r"[a-z]+(-[a-z]+)+", element.value):
                                named.add(element.value)
    page = (ROOT / "docs" / "losses-differ.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### ([\w-]+)$", page, re.M))
    assert named <= headings, named - headings
    assert headings <= named | {"schedule", "announced"}, headings - named


def test_links_of_the_page_lead_to_its_headings():
    page = (ROOT / "docs" / "losses-differ.md").read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")
        for text in re.findall(r"^#+ (.*)$", page, re.M)
    }
    links = set(re.findall(r"\]\(#([\w-]+)\)", page))
    assert links and links <= headings, links - headings


def test_fewer_evaluations_are_named():
    """What `train_and_evaluate` becomes where it evaluated after checkpoints too."""

    def side(count: int) -> sides.Side:
        outputs = [{"kind": "evaluate", "arrays": {"loss": f"evaluate/{n}"}} for n in range(count)]
        training = {"training": {"outputs": outputs}, "status": 0}
        return sides.Side("a.py", "tf", training, None, "", "", "exit 0", 0, 1.0)

    broken = outcome.Output("evaluate", outcome.DIFFERS, detail="3 became 1")
    rung = outcome.Rung(9, outputs=[broken])
    (cause,) = diagnose.diagnose([rung], side(3), side(1))
    assert (cause.cause, cause.likelihood) == ("evaluations", diagnose.LIKELY)
    assert cause.evidence == ["3 evaluations became 1"]
    assert "evaluations" not in [c.cause for c in diagnose.diagnose([rung], side(3), side(3))]
