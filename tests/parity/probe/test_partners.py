"""Which tensor of TF1's is whose partner, without TensorFlow."""

from __future__ import annotations

import math

import pytest

from migrate_mgpu.parity.probe import partners


def weights(*named: tuple[str, list[int]]) -> list[dict[str, object]]:
    return [{"name": name, "shape": shape} for name, shape in named]


def planned(
    new, source, *, optimizers=(), values=None, given=None, order=(), skip="", only=False,
    averages=None,
):  # fmt: skip
    every = weights(*new.items())
    for i, one in (averages or {}).items():
        every[i]["averages"] = one
    request = partners.Request(
        every,
        list(optimizers),
        source,
        (values or {}).__getitem__,
        given or {},
        list(order),
        lambda name: bool(skip) and name.endswith(skip),
        only,
    )
    return partners.plan(request)


def pairs(plan) -> dict[str, str]:
    return {row.name: row.source for row in plan.rows}


def adam(*indices: int, beta: tuple[float, float] = (0.9, 0.999)) -> dict[str, object]:
    slots = [
        {"word": word, "variables": {i: f"{i}/{word}" for i in indices}, "change": ("copy",)}
        for word in ("m", "v")
    ]
    return {
        "kind": "Adam", "slots": slots, "weights": list(indices), "beta": list(beta),
        "steps": "adam/iterations",
    }  # fmt: skip


ADAM_OF_W = {"w": [2], "w/Adam": [2], "w/Adam_1": [2], "beta1_power": [], "beta2_power": []}


def test_a_keras_path_ends_as_the_old_name_does():
    found = planned(
        {
            "net/conv1/kernel": [3],
            "net/conv2/kernel": [3],
            "net/head/batch_normalization/beta": [3],
        },
        {"conv2/kernel": [3], "conv1/kernel": [3], "batch_normalization/beta": [3]},
    )
    assert found.complete
    assert pairs(found) == {
        "net/conv1/kernel": "conv1/kernel",
        "net/conv2/kernel": "conv2/kernel",
        "net/head/batch_normalization/beta": "batch_normalization/beta",
    }


def test_a_whole_name_is_not_another_ones_end():
    found = planned({"scale": [1], "norm/scale": [1]}, {"norm/scale": [1], "scale": [1]})
    assert pairs(found) == {"scale": "scale", "norm/scale": "norm/scale"}


def test_numbers_that_begin_elsewhere_keep_their_order():
    """`dense_1` alone would agree: by its name it is another layer."""
    new = {"net/dense/kernel": [4, 4], "net/dense_1/kernel": [4, 4]}
    found = planned(new, {"dense_1/kernel": [4, 4], "dense_2/kernel": [4, 4]})
    assert pairs(found) == {
        "net/dense/kernel": "dense_1/kernel",
        "net/dense_1/kernel": "dense_2/kernel",
    }
    assert {row.how for row in found.rows} == {partners.NUMBER}


def test_more_layers_than_partners_are_not_guessed():
    new = {"net/dense/kernel": [4, 4], "net/dense_1/kernel": [4, 4]}
    old = {"dense/kernel": [4, 4], "dense_1/kernel": [4, 4], "dense_2/kernel": [4, 4]}
    found = planned(new, old)
    assert not found.rows and not found.complete
    assert dict(found.lacking) == {name: sorted(old) for name in new}
    assert found.left == list(old)


def test_layers_and_shapes_that_are_the_only_ones():
    found = planned(
        {"a/weight": [3, 4], "a/offset": [4], "b/weight": [4, 2], "b/offset": [2], "gain": []},
        {"x/W": [3, 4], "x/b": [4], "y/W": [4, 2], "y/b": [2], "scale": []},
    )
    assert found.complete
    assert pairs(found)["b/offset"] == "y/b" and pairs(found)["gain"] == "scale"
    assert {row.how for row in found.rows} == {partners.LAYER, partners.SHAPE}


def test_two_of_one_shape_are_told_apart_by_the_old_program_alone():
    new, old = {"p": [2], "q": [2]}, {"u": [2], "v": [2]}
    found = planned(new, old)
    assert not found.complete and dict(found.lacking) == {"p": ["u", "v"], "q": ["u", "v"]}
    found = planned(new, old, order=["v", "u"])
    assert found.complete and pairs(found) == {"p": "v", "q": "u"}
    assert not planned(new, old, order=["v"]).complete  # it does not make all that is saved
    found = planned(new, old, given={"p": "u"})
    assert found.complete and pairs(found) == {"p": "u", "q": "v"}


def test_a_name_of_another_shape_is_a_mistake():
    found = planned({"table": [10, 4]}, {"table": [12, 4]})
    assert not found.complete
    assert found.problems == ["table has the shape [10, 4], table of the checkpoint [12, 4]"]


def test_what_is_left_is_told_or_skipped():
    new, old = {"w": [2]}, {"w": [2], "w/ExponentialMovingAverage": [2]}
    assert planned(new, old).left == ["w/ExponentialMovingAverage"]
    assert planned(new, old, skip="/ExponentialMovingAverage").complete
    assert pairs(planned({**new, "w/ExponentialMovingAverage": [2]}, old)) == {
        name: name for name in old
    }


def test_an_average_has_its_variables_partner():
    """Whatever it is called itself: the names of another network tell nothing."""
    new = {"m/a/kernel": [2], "m/b/kernel": [2], "n/b/kernel": [2], "n/c/kernel": [2]}
    a, b = "net/a/kernel", "net/b/kernel"
    old = {name: [2] for one in (a, b) for name in (one, f"{one}/ExponentialMovingAverage")}
    found = planned(new, old, averages={2: 0, 3: 1})
    assert found.complete
    assert pairs(found) == dict(
        zip(new, [a, b, *(f"{n}/ExponentialMovingAverage" for n in (a, b))])
    )
    # The optimizer's words are not averages; nor is one taken that is of another shape.
    found = planned(new, {a: [2], b: [2], f"{a}/Adam": [2]}, averages={2: 0, 3: 1})
    assert found.lacking == [("n/b/kernel", []), ("n/c/kernel", [])]
    assert found.left == [f"{a}/Adam"]
    found = planned(new, {**old, f"{a}/ExponentialMovingAverage": [3]}, averages={2: 0, 3: 1})
    assert len(found.problems) == 1 and not found.complete
    # What is not known of a variable is not asked of its average.
    found = planned({"u": [2], "v": [2], "x": [2]}, {"p": [2], "q": [2]}, averages={2: 0})
    assert [name for name, _ in found.lacking] == ["u", "v"]


def test_what_adam_keeps():
    values = {"global_step": 30, "beta1_power": 0.9**31, "beta2_power": 0.999**31}
    found = planned(
        {"w": [2]}, {**ADAM_OF_W, "global_step": []}, optimizers=[adam(0)], values=values
    )
    assert found.complete
    assert pairs(found) == {
        "w": "w", "0/m": "w/Adam", "0/v": "w/Adam_1", "adam/iterations": "global_step"
    }  # fmt: skip
    assert found.rows[-1].change == ("steps", 30)


@pytest.mark.parametrize("part", ["part_0", "t_0"])
def test_slots_of_a_variable_in_one_part(part):
    """So canned Estimators name them."""
    old = {name.replace("w/", f"w/{part}/"): shape for name, shape in ADAM_OF_W.items()}
    values = {"beta1_power": 0.9**8, "beta2_power": 0.999**8}
    found = planned({"w": [2]}, old, optimizers=[adam(0)], values=values)
    assert found.complete and pairs(found)["0/v"] == f"w/{part}/Adam_1"
    # Of one that is in two parts each has a slot of its own.
    two = {**old, f"w/{part[:-1]}1/Adam": [2]}
    assert not planned({"w": [2]}, two, optimizers=[adam(0)], values=values).complete


def test_adam_under_a_scope_and_without_a_step():
    old = {f"train/{name}" if name != "w" else name: shape for name, shape in ADAM_OF_W.items()}
    values = {"train/beta1_power": 0.9**8, "train/beta2_power": 0.999**8}
    found = planned({"w": [2]}, old, optimizers=[adam(0)], values=values)
    assert found.complete, found.problems
    assert found.rows[-1].change == ("steps", 7)


def test_a_step_that_is_not_the_optimizers():
    values = {"global_step": 5000, "beta1_power": 0.9**101, "beta2_power": 0.999**101}
    found = planned(
        {"w": [2]}, {**ADAM_OF_W, "global_step": []}, optimizers=[adam(0)], values=values
    )
    assert len(found.problems) == 2 and "100 steps, global_step says 5000" in found.problems[0]


def test_after_many_steps_the_global_step_counts():
    values = {"global_step": 400_000, "beta1_power": 0.0, "beta2_power": 0.0}
    found = planned(
        {"w": [2]}, {**ADAM_OF_W, "global_step": []}, optimizers=[adam(0)], values=values
    )
    assert found.complete and found.rows[-1].change == ("steps", 400_000)
    values.pop("global_step")
    assert not planned({"w": [2]}, ADAM_OF_W, optimizers=[adam(0)], values=values).complete


def test_slots_of_another_optimizer():
    found = planned(
        {"w": [2]},
        {"w": [2], "w/Momentum": [2], "global_step": []},
        optimizers=[adam(0)],
        values={"global_step": 3},
    )
    assert found.left == ["w/Momentum"] and "another optimizer" in found.problems[0]


def test_a_variable_that_the_old_optimizer_did_not_train():
    found = planned(
        {"w": [2], "u": [2]},
        {**ADAM_OF_W, "u": [2], "global_step": []},
        optimizers=[adam(0, 1)],
        values={"global_step": 0, "beta1_power": 0.9, "beta2_power": 0.999},
    )
    assert found.complete
    kept = [row.name for row in found.rows if row.change == ("own",)]
    assert kept == ["1/m", "1/v"]


def test_weights_only():
    found = planned({"w": [2]}, {**ADAM_OF_W, "global_step": []}, only=True)
    assert found.complete and pairs(found) == {"w": "w"}
    assert len(found.unused) == 5
    assert not planned({"w": [2]}, {"w": [2], "extra": [3]}, only=True).complete


def test_names_that_a_saver_keeps_of_its_own():
    source = {"w": [2], "w/Momentum": [2], "global_step": []}
    names = ["w/Momentum/velocity", "Momentum/steps"]
    found = partners.plan_names(names, source, {"global_step": 7}.__getitem__, {"SGD": -0.5})
    assert found.complete
    assert [(row.source, row.change) for row in found.rows] == [
        ("w/Momentum", ("times", -0.5)),
        ("global_step", ("steps", 7)),
    ]
    found = partners.plan_names([*names, "v"], source, {"global_step": 7}.__getitem__, {})
    assert [name for name, _ in found.lacking] == ["w/Momentum/velocity", "v"]


def test_the_slots_of_rmsprop_have_numbers():
    source = {f"w/RMSProp{end}": [2] for end in ("", "_1", "_2")}
    names = [f"w/RMSProp/{word}" for word in ("velocity", "momentum", "average_gradient")]
    found = partners.plan_names(names, source, {}.__getitem__, {"RMSprop": (True, 0.0)})
    assert found.complete
    assert [row.source for row in found.rows] == ["w/RMSProp", "w/RMSProp_2", "w/RMSProp_1"]
    found = partners.plan_names(names[:1], source, {}.__getitem__, {"RMSprop": (True, 0.9)})
    assert "global_step" in found.problems[0]  # what is left of one depends on it


@pytest.mark.parametrize("beta", [0.5, 0.9, 0.999])
def test_the_steps_of_a_power(beta):
    assert partners.steps_of(beta**21, beta) == pytest.approx(20)
    assert partners.steps_of(0.0, beta) is None and partners.steps_of(math.inf, beta) is None


def test_the_order_of_layers_and_the_names_within_them():
    """contrib's layer_norm makes beta before gamma, Keras's gamma before beta."""
    found = planned(
        {"a/one/gamma": [2], "a/one/beta": [2], "a/two/gamma": [2], "a/two/beta": [2]},
        {"x/beta": [2], "x/gamma": [2], "y/beta": [2], "y/gamma": [2]},
        order=["x/beta", "x/gamma", "y/beta", "y/gamma"],
    )
    assert pairs(found) == {
        "a/one/gamma": "x/gamma",
        "a/one/beta": "x/beta",
        "a/two/gamma": "y/gamma",
        "a/two/beta": "y/beta",
    }


def test_an_optimizer_of_the_program_has_its_own_words():
    own = {
        "kind": "SGD", "weights": [0], "steps": "own/iterations",
        "slots": [
            {"word": word, "own": True, "variables": {0: f"w/{word}"}, "change": ("copy",)}
            for word in ("mean", "squares")
        ],
    }  # fmt: skip
    source = {"w": [2], "w/mean": [2], "w/squares": [2], "global_step": []}
    values = {"global_step": 7}
    found = planned({"w": [2]}, source, optimizers=[own], values=values)
    assert found.complete, found.problems
    assert pairs(found)["w/squares"] == "w/squares"
    del source["w/squares"]
    lacking = planned({"w": [2]}, source, optimizers=[own], values=values)
    assert not lacking.complete
    assert "the checkpoint has no squares of w" in lacking.problems


def test_cells_of_recurrent_layers_are_keras_2s_alone():
    weights = {"gru/gru_cell/kernel": [4, 12], "gru_1/gru_cell_1/kernel": [4, 12],
               "lstm/lstm_cell/bias": [16]}  # fmt: skip
    old = {"gru/kernel": [4, 12], "gru_1/kernel": [4, 12], "lstm/bias": [16]}
    assert pairs(planned(weights, old)) == dict(zip(weights, old))
    # A cell of the program's own was TF1's as well.
    own = {"rnn/gru_cell/kernel": [4, 12]}
    assert pairs(planned(own, own)) == {name: name for name in own}


def test_graph_code_misses_cells_of_recurrent_layers():
    found = partners.plan_cells(
        ["a/gru_cell/kernel", "a/gru_cell/kernel/Adam", "b/lstm_cell_2/recurrent_kernel"],
        ["a/kernel", "a/kernel/Adam", "b/recurrent_kernel"],
    )
    assert found.complete
    assert (found.rows[0].name, found.rows[0].source) == ("a/gru_cell/kernel", "a/kernel")
    two = partners.plan_cells(["a/gru_cell/bias", "a/gru_cell_1/bias"], ["a/bias"])
    assert not two.complete and two.lacking == [("a/gru_cell_1/bias", [])]
    other = partners.plan_cells(["a/gru_cell/bias", "w"], ["a/bias", "v"])
    assert (other.lacking, other.left) == ([("w", [])], ["v"])
    assert partners.plan_cells(["gru_cell/kernel"], ["kernel"]).left == ["kernel"]
