"""The recorder, without TensorFlow: initial values from one run to the other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from migrate_mgpu.parity.probe import matching
from migrate_mgpu.parity.probe.recording import Enough, Recorder, Refused
from migrate_mgpu.parity.probe.watch_building import GraphBuilding, GraphState, TrainOp
from migrate_mgpu.parity.probe.watch_results import ResultsWatch

numpy = pytest.importorskip("numpy")


def sides(folder) -> tuple[Recorder, Recorder]:
    path = str(folder / "initial.npz")
    return (
        Recorder(str(folder / "reference.json"), {"publish": path}, matching),
        Recorder(str(folder / "target.json"), {"initial": path}, matching),
    )


def test_initial_values_are_carried(tmp_path):
    reference, target = sides(tmp_path)
    reference.array("initial", reference.variable("dense/kernel:0", [2], "float32"), [1.0, 2.0])
    reference.publish_initial()
    ((index, value),) = target.carry([{"name": "one/kernel", "shape": [2]}])
    assert (index, value.tolist()) == (0, [1.0, 2.0])
    reference.finish(0)  # what was published stays
    assert len(sides(tmp_path)[1].reference()["values"]) == 1


def test_what_was_assigned_before_the_first_step_is_carried_as_it_began(tmp_path):
    reference, target = sides(tmp_path)
    for name, begun, later in (("a", [0.0, 0.0], [1.0, 2.0]), ("b", [3.0, 4.0], [3.0, 4.0])):
        index = reference.variable(f"{name}:0", [2], "float32")
        reference.begun[name] = numpy.array(begun)
        reference.array("initial", index, numpy.array(later))
    reference.publish_initial()
    begun = target.reference()["begun"]
    assert {i: value.tolist() for i, value in begun.items()} == {0: [0.0, 0.0]}
    assert target.reference()["values"][0].tolist() == [1.0, 2.0]


def test_a_reference_that_trains_nothing_lets_the_target_go_on(tmp_path):
    reference, target = sides(tmp_path)
    reference.variable("dense/kernel:0", [2], "float32")  # an optimizer that makes no step
    reference.finish(0)
    assert target.carry([{"name": "one/kernel", "shape": [2]}]) == []
    assert target.reference()["carrier"].choose("one/kernel", [2]) is None
    assert any("trains nothing" in note for note in target.notes)


def test_a_reference_that_failed_ends_the_target(tmp_path):
    reference, target = sides(tmp_path)
    reference.finish(1)
    assert not (tmp_path / "initial.npz").exists()
    (tmp_path / "initial.npz.none").touch()
    with pytest.raises(Refused):
        target.reference()


def test_a_second_model_comes_when_the_reference_trains_it(tmp_path):
    reference, target = sides(tmp_path)
    numbers = []
    for folder, value in (("/a", 1.0), ("/b", 2.0), ("/a", 3.0)):
        model = reference.model(folder, ["dense/kernel"])
        numbers.append((model, reference.series_number(model, 0)))
        index = reference.variable("dense/kernel:0", [1], "float32", model)
        reference.arrays.setdefault(f"initial/{index}", [value])
        reference.publish_initial()
        if folder == "/a":
            assert target.reference()["variables"] == [reference.variables[0]]  # it waits for none
    assert numbers == [(0, 0), (1, 1), (0, 0)]
    second = target.reference_with(1)
    assert second is not None
    assert [v.tolist() for v in second["values"]] == [[1.0], [2.0]]
    target.variable("dense/kernel", [1], "float32")
    target.variable("dense/kernel", [1], "float32", 1)
    assert [value.tolist() for _, value in target.carry(target.variables)] == [[1.0], [2.0]]


def test_a_graph_with_the_names_of_another_one_is_of_its_model_where_it_resumes(tmp_path):
    reference, _ = sides(tmp_path)
    asked: list[int] = []

    def trained(names: list[str], resumes: bool) -> int:
        model = reference.model(None, names, lambda one: asked.append(one) or resumes)
        for name in names:
            reference.variable(f"{name}:0", [1], "float32", model)
        return model

    assert trained(["w", "b"], True) == 0 and asked == []  # the first one
    assert trained(["w"], True) == 0 and asked == [0]
    assert trained(["w", "b"], False) == 1 and asked == [0, 0]  # it begins anew
    assert trained(["w", "b"], True) == 1 and asked == [0, 0, 1]  # goes on with the last one
    assert trained(["other"], True) == 2 and asked == [0, 0, 1]


def test_what_trains_later_with_variables_of_its_own_is_another_model(tmp_path):
    reference, _ = sides(tmp_path)
    building = GraphBuilding(reference, None, SimpleNamespace(optimizer=lambda *a, **b: None))
    state = GraphState()

    def built(*names: str) -> TrainOp:
        train_op = TrainOp(len(state.train_ops), "mean")
        train_op.pairs[0] = [(1.0, SimpleNamespace(name=name)) for name in names]
        state.train_ops.append(train_op)
        return train_op

    def trained() -> list[tuple[int | None, int | None]]:
        building.number(state, lambda model: True)
        for train_op in state.train_ops:
            for variable in train_op.variables():
                reference.variable(variable.name, [1], "float32", train_op.model)
        return [(train_op.model, train_op.index) for train_op in state.train_ops]

    built("generator"), built("discriminator")  # both are there when the first one trains
    assert trained() == [(0, 0), (0, 1)]
    built("classifier")
    assert trained() == [(0, 0), (0, 1), (1, 2)]
    built("classifier", "generator")  # all of them, more finely
    assert trained()[3] == (0, 3)


def test_a_second_model_that_the_reference_does_not_train(tmp_path):
    reference, target = sides(tmp_path)
    reference.array("initial", reference.variable("dense/kernel", [1], "float32"), [1.0])
    reference.publish_initial()
    reference.finish(0)
    assert target.reference_with(1) is None


def test_an_eager_reference_gives_the_values_of_its_begin(tmp_path):
    """Its second optimizer's first step comes when the first has trained."""
    reference, target = sides(tmp_path)
    entry = {"name": "dense/kernel", "shape": [1]}
    reference.variable("dense/kernel", [1], "float32")
    reference.publish_initial([(entry, [1.0])])
    reference.variable("other/kernel", [1], "float32", 1)
    reference.publish_initial([(entry, [7.0])])
    assert [value.tolist() for value in target.reference()["values"]] == [[1.0]]


def estimator_class(name: str, module: str, *bases: type) -> type:
    def evaluate(self) -> dict[str, float]:
        return {"loss": 1.0, "accuracy": 0.5}

    return type(name, bases, {"__module__": module, **({} if bases else {"evaluate": evaluate})})


def test_whose_choice_the_results_of_an_evaluation_are(tmp_path):
    """A model_fn's are its author's, in a class of the author's own too."""
    home = "tensorflow_estimator.python.estimator"
    base = estimator_class("Estimator", f"{home}.estimator")
    own = estimator_class("MyEstimator", "train", base)
    canned = estimator_class("DNNClassifier", f"{home}.canned.dnn", base)
    named = estimator_class("Mine", "train", canned)
    recorder, _ = sides(tmp_path)
    batches = type("Batches", (), {"evaluating": False})()
    ResultsWatch(recorder, None, None, batches, 8).patch_estimator(base)
    for cls in (base, own, canned, named):
        cls().evaluate()
    assert [entry.get("canned", False) for entry in recorder.outputs] == [False, False, True, True]
    assert recorder.outputs[2]["values"] == {"loss": 1.0, "accuracy": 0.5}


def test_a_program_is_not_stopped_before_it_trains_what_the_reference_trains_later(tmp_path):
    """A graph has both of its train ops at its first step, an eager program has one."""
    reference, target = sides(tmp_path)
    reference.variable("w:0", [1], "float32")
    reference.array("initial", 0, [1.0])
    reference.get_series(1)
    reference.publish_initial()
    assert target.reference()["series"] == 2
    target.steps_wanted = 2
    for _ in range(3):
        target.loss(0, 0, 0.5, 1)
        target.check_enough()
    target.loss(1, 0, 0.5, 1)
    target.check_enough()
    target.loss(1, 0, 0.5, 1)
    with pytest.raises(Enough):
        target.check_enough()
