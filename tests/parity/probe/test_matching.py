"""Which variable, and which series, of one program is which of the other."""

from __future__ import annotations

from typing import Any

from migrate_mgpu.parity.probe import matching


def test_variables_are_paired_by_name_then_by_order_and_shape():
    def known(*named: tuple[str, list[int]]) -> list[dict[str, Any]]:
        return [{"name": name, "shape": shape} for name, shape in named]

    before = known(("a/kernel", [2]), ("b/kernel", [2]), ("c", [3]), ("d", [2]))
    after = known(("b/kernel:0", [2]), ("x", [2]), ("a/kernel", [2]), ("y", [4]))
    pairs, lacking, more = matching.pair(before, after)
    assert pairs == [(0, 2), (1, 0), (3, 1)]
    assert (lacking, more) == ([2], [3])


def test_variables_without_names_are_paired_as_they_are_made():
    """An actor that trains before the critic, which was made first, of the same shapes."""

    def layer(name: str, *place: int) -> list[dict[str, Any]]:
        shapes = {"kernel": [3, 8], "bias": [8]}
        found: list[dict[str, Any]] = [{"name": f"{name}/{n}", "shape": shapes[n]} for n in shapes]
        for variable, number in zip(found, place):
            variable["place"] = number
        return found

    before = layer("critic/dense") + layer("actor/dense")
    after = layer("actor/actor/dense_1", 2, 3) + layer("dense", 0, 1)
    assert matching.pair(before, after)[0] == [(0, 2), (1, 3), (2, 0), (3, 1)]


def test_parts_of_layers_stay_together():
    """Those of a canned Estimator, which partitions: its linear part is made first in Keras."""
    before = [
        {"name": f"{name}/part_0", "shape": shape}
        for name, shape in (
            ("dnn/logits/kernel", [4, 1]),
            ("dnn/logits/bias", [1]),
            ("linear/linear_model/bias_weights", [1]),
        )
    ]
    after = [
        {"name": name, "shape": shape, "place": place}
        for name, shape, place in (
            ("classifier/dnn/dense_2/kernel:0", [4, 1], 1),
            ("classifier/dnn/dense_2/bias:0", [1], 2),
            ("bias_weights:0", [1], 0),
        )
    ]
    assert matching.pair(before, after)[0] == [(0, 0), (1, 1), (2, 2)]


def test_variables_of_a_layer_stay_together():
    """As a GAN's, whose models were made in another order."""

    def model(*layers: tuple[str, int, int]) -> list[dict[str, Any]]:
        found = []
        for name, rows, units in layers:
            found.append({"name": f"{name}/kernel", "shape": [rows, units]})
            found.append({"name": f"{name}/bias", "shape": [units]})
        return found

    before = model(("generator/one", 3, 8), ("discriminator/one", 4, 8))
    after = model(("dense", 4, 8), ("dense_1", 3, 8))
    assert matching.pair(before, after)[0] == [(0, 2), (1, 3), (2, 0), (3, 1)]
    # By the end of a name, when it is no other's.
    before = model(("net/one", 8, 8), ("net/two", 8, 8))
    after = model(("two", 8, 8), ("one", 8, 8))
    assert matching.pair(before, after)[0] == [(0, 2), (1, 3), (2, 0), (3, 1)]
    carrier = matching.Carrier(before)
    assert carrier.choose("two/kernel:0", [8, 8]) == 2
    # A lost bias leaves the other layers together.
    before, after = model(("a", 4, 8), ("b", 8, 8)), model(("x", 4, 8), ("y", 8, 8))
    del after[1]
    assert matching.pair(before, after) == ([(0, 0), (2, 1), (3, 2)], [1], [])


def test_variables_of_a_layer_are_paired_by_the_last_parts_of_their_names():
    def layer(*names):
        return [{"name": name, "shape": [3]} for name in names]

    reference = layer("bn_0/beta", "bn_0/gamma", "bn_1/beta", "bn_1/gamma")
    target = layer("a/gamma", "a/beta", "b/gamma", "b/beta")
    assert matching.pair(reference, target)[0] == [(0, 1), (1, 0), (2, 3), (3, 2)]
    other = layer("a/scale", "a/beta", "b/scale", "b/beta")
    assert matching.pair(reference, other)[0] == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_series_are_paired_by_what_they_train():
    def training(*names: str, **series: list[int]) -> dict[str, Any]:
        found = [{"losses": [[float(n)]], "variables": v} for n, v in enumerate(series.values())]
        variables = [{"name": name, "shape": [2]} for name in names]
        return {"variables": variables, "series": found}

    before = training("d", "g", d=[0], g=[1])
    after = training("g", "d", g=[0], d=[1])
    found = matching.pair_series(before, after)
    assert [name for name, _, _ in found] == ["loss", "loss[2]"]
    assert [(a["losses"], b["losses"]) for _, a, b in found] == [
        ([[0.0]], [[1.0]]),
        ([[1.0]], [[0.0]]),
    ]
    # Without knowing: in order; and none is lost.
    found = matching.pair_series(training("d", a=[]), training("d", a=[], b=[]))
    assert [(a is None, b is None) for _, a, b in found] == [(False, False), (True, False)]
    found = matching.pair_series(training("d", "g", d=[0], g=[1]), training("g", g=[0]))
    assert [(a is None, b is None) for _, a, b in found] == [(False, True), (False, False)]


def of_model(names, model):
    return [{"name": name, "shape": [2], "model": model} for name in names]


def test_each_model_of_the_reference_is_paired_with_the_one_that_comes_as_late():
    reference = of_model(["dense/kernel"], 0) + of_model(["dense/kernel"], 1)
    target = of_model(["dense_1/kernel"], 1) + of_model(["dense/kernel"], 0)
    assert matching.pair(reference, target) == ([(0, 1), (1, 0)], [], [])
    assert matching.pair(reference, target[1:]) == ([(0, 0)], [1], [])
    assert [matching.title(v) for v in reference] == ["dense/kernel", "dense/kernel of model 2"]


def alike(model, *numbers, name="Variable"):
    """As an eager program's that have one name: numbered over all of its models."""
    names = [f"{name}_{n}" if n else name for n in numbers]
    return [{**entry, "alike": [name, n]} for entry, n in zip(of_model(names, model), numbers)]


def test_variables_of_one_name_are_paired_in_order_within_their_model():
    """TF1 numbers those without a name from 0 in each graph."""
    reference = of_model(["Variable"], 0) + of_model(["Variable", "Variable_1"], 1)
    target = alike(0, 0) + alike(1, 1, 2)
    pairs = [(0, 0), (1, 1), (2, 2)]
    assert matching.pair(reference, target) == (pairs, [], [])
    assert matching.pair(target, target) == (pairs, [], [])
    # A name of one's own stays one.
    reference += of_model(["Variable_2", "bias"], 1)
    target = alike(0, 0) + alike(1, 1) + alike(1, 0, name="bias") + alike(1, 2, 3)
    assert matching.pair(reference, target)[0] == [(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]


def test_variables_of_one_name_after_one_that_is_not_trained():
    """Its name is a number less for the rest: the trained ones are as many."""
    reference = of_model(["Variable_1", "Variable_2"], 0)
    assert matching.pair(reference, alike(0, 0, 1)) == ([(0, 0), (1, 1)], [], [])


def test_variables_of_one_name_that_another_optimizer_trains():
    """The list of an eager program is in the order of training; of a part each keeps its number."""
    reference = of_model(["Variable", "Variable_1", "Variable_2", "Variable_3"], 0)
    target = alike(0, 2, 3) + alike(1, 0, 1)
    assert matching.pair(reference, target) == ([(0, 2), (1, 3), (2, 0), (3, 1)], [], [])
    assert matching.pair(reference, target[:2]) == ([(2, 0), (3, 1)], [0, 1], [])


def test_variables_of_one_name_that_tf1_had_in_scopes():
    """An actor's and a critic's first layers: the critic is trained first."""
    reference = of_model(["Actor/l1/kernel", "Critic/l1/kernel"], 0)
    target = alike(0, 1, name="l1/kernel") + alike(1, 0, name="l1/kernel")
    assert matching.pair(reference, target) == ([(0, 1), (1, 0)], [], [])


def test_two_optimizers_of_one_reference_may_train_two_models():
    reference = of_model(["generator/kernel", "discriminator/kernel"], 0)
    target = of_model(["discriminator/kernel"], 0) + of_model(["generator/kernel"], 1)
    assert matching.pair(reference, target) == ([(0, 1), (1, 0)], [], [])


def kernels(*names: str) -> list[dict[str, Any]]:
    return [{"name": f"{name}/kernel", "shape": [8, 8]} for name in names]


def test_layers_that_tf1_numbers_in_each_scope_are_paired_as_they_are_made():
    """Keras numbers them in the whole program: `conv2d_1` is the third there, here the second."""
    before = kernels("stem/conv2d", "conv2d", "conv2d_1")
    after = kernels("net/conv2d", "net/block/conv2d_1", "net/block/conv2d_2")
    assert matching.pair(before, after)[0] == [(0, 0), (1, 1), (2, 2)]
    after = kernels("conv2d", "conv2d_1", "conv2d_2")
    assert matching.pair(before, after)[0] == [(0, 0), (1, 1), (2, 2)]


def test_scopes_that_both_have_tell_more_than_the_order():
    before = kernels("generator/dense", "generator/dense_1", "critic/dense", "critic/dense_1")
    after = kernels("critic/dense_2", "critic/dense_3", "generator/dense", "generator/dense_1")
    assert matching.pair(before, after)[0] == [(0, 2), (1, 3), (2, 0), (3, 1)]
    after = kernels("critic/dense_1", "critic/dense", "generator/dense_1", "generator/dense")
    assert matching.pair(before, after)[0] == [(0, 3), (1, 2), (2, 1), (3, 0)]


def test_a_bias_is_that_of_its_layer_and_not_of_the_name():
    """TF1 counts layers below a scope by themselves, Keras all of them."""
    reference = [
        {"name": "inner/dense/kernel", "shape": [8, 8]},
        {"name": "inner/dense/bias", "shape": [8]},
        {"name": "dense/kernel", "shape": [80, 8]},
        {"name": "dense/bias", "shape": [8]},
    ]
    target = [
        {"name": "dense/kernel", "shape": [8, 8], "alike": ["dense/kernel", 0]},
        {"name": "dense/bias", "shape": [8], "alike": ["dense/bias", 0]},
        {"name": "dense_1/kernel", "shape": [80, 8], "alike": ["dense_1/kernel", 0]},
        {"name": "dense_1/bias", "shape": [8], "alike": ["dense_1/bias", 0]},
    ]
    assert matching.pair(reference, target) == ([(0, 0), (1, 1), (2, 2), (3, 3)], [], [])
    plain = [{"name": one["name"], "shape": one["shape"]} for one in target]
    assert matching.pair(reference, plain) == ([(0, 0), (1, 1), (2, 2), (3, 3)], [], [])
