"""Rung 2: variables that one side lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from migrate_mgpu.parity.diagnose import LIKELY, POSSIBLE, Diagnosis
from migrate_mgpu.parity.diagnose.evidence import Evidence


def first_values(e: Evidence) -> Iterator[Diagnosis]:
    """What is assigned between the creation of the variables and the first step."""
    names = {entry["name"] for entry in e.after.get("first_values", [])}
    found = [f"{o.name}: {o.detail}" for o in e.broken if o.name in names]
    if found:
        yield Diagnosis(
            "first-values",
            "an assignment before the first step is missing, new, or of another value",
            LIKELY,
            2,
            found[:6],
            "assign what the old program assigns between its initializer and its first step",
        )


def variables(e: Evidence) -> Iterator[Diagnosis]:
    _, lacking, more = e.matched
    before, after = e.before.get("variables", []), e.after.get("variables", [])
    less = [before[i] for i in lacking]
    extra = [after[j] for j in more]
    if not before or not after or not (less or extra):
        return
    copies = _copies(before, after)
    if copies:
        yield _model_copies(e, copies, extra)
    elif less and extra and len(less) == len(extra) and _ranks(less) == _ranks(extra):
        changed = [f"{a['name']} {a['shape']} became {b['shape']}" for a, b in zip(less, extra)]
        yield Diagnosis(
            "layer-size",
            "the size of a layer changed",
            LIKELY,
            2,
            [f"both sides train {len(before)} variables of the same ranks", *changed],
            "give the layer the size that it had",
        )
    elif less and not extra and all(_is_bias(v) for v in less):
        yield Diagnosis(
            "bias",
            "a bias is missing, or not trained",
            LIKELY,
            2,
            [f"only vectors are missing: {_names(less)}"],
            "tf.layers.dense and conv2d have a bias unless use_bias=False; tf.Variable code must "
            "add it, and train it",
        )
    elif extra and not less and all(_is_bias(v) for v in extra):
        yield Diagnosis(
            "bias",
            "the new program has an additional bias",
            LIKELY,
            2,
            [f"only vectors are new: {_names(extra)}"],
            "use_bias=False",
        )
    elif less and not extra:
        yield _not_trained(before, after, less)
    elif extra and not less:
        yield Diagnosis(
            "layers",
            "the new program has additional layers",
            LIKELY,
            2,
            [f"{len(before)} variables became {len(after)}; new: {_names(extra)}"],
            "remove them, or share the variables that they should have shared",
        )


def _copies(before: list[Any], after: list[Any]) -> int:
    """How many copies of the reference's model the target trains; 0 when it is no such number."""
    one = Counter(tuple(v["shape"]) for v in before)
    other = Counter(tuple(v["shape"]) for v in after)
    number = len(after) // len(before)
    same = number > 1 and other == Counter({shape: n * number for shape, n in one.items()})
    return number if same else 0


def _model_copies(e: Evidence, copies: int, extra: list[Any]) -> Diagnosis:
    evidence = [
        f"{len(e.before['variables'])} variables became {len(e.after['variables'])}: every "
        f"shape {copies} times"
    ]
    still = [
        j
        for j in range(len(e.after["variables"]))
        if f"initial/{j}" in e.second
        and f"final/{j}" in e.second
        and (e.second[f"initial/{j}"] == e.second[f"final/{j}"]).all()
    ]
    if still:
        evidence.append(f"{len(still)} of them have their first value at the end: never updated")
    return Diagnosis(
        "model-copies",
        f"the model exists {copies} times" + (", and not every copy is updated" * bool(still)),
        LIKELY,
        2,
        evidence,
        "build the model once, within MirroredStrategy.scope(): it keeps the replicas equal",
    )


def _not_trained(before: list[Any], after: list[Any], less: list[Any]) -> Diagnosis:
    missing = f"{len(before)} variables became {len(after)}; missing: {_names(less)}"
    for v in less:
        # Its outputs are still taken: the layer is there, but it is not trained.
        if len(v["shape"]) == 2 and v["shape"][0] != v["shape"][1]:
            takers = [w["name"] for w in after if w["shape"][:1] == v["shape"][1:]]
            takers = [n for n, w in zip(takers, after) if len(w["shape"]) == 2] or takers
            makers = [w for w in after if w["shape"][1:] == v["shape"][1:]]
            if takers and not makers:
                text = f"{takers[0]} still takes the {v['shape'][1]} outputs of {v['name']}"
                return Diagnosis(
                    "not-trained",
                    "a layer exists but is not trained",
                    LIKELY,
                    2,
                    [text, missing],
                    "trainable=True, and all of model.trainable_variables in the gradient",
                )
    return Diagnosis(
        "not-trained",
        "variables are missing, or not trained",
        POSSIBLE,
        2,
        [missing],
        "look for the layer, for trainable=False, and for a list of variables that is too short",
    )


def _is_bias(variable: Any) -> bool:
    return len(variable["shape"]) == 1 and "bias" in variable["name"].rpartition("/")[2]


def _ranks(variables: list[Any]) -> list[int]:
    return sorted(len(v["shape"]) for v in variables)


def _names(variables: list[Any]) -> str:
    return ", ".join(f"{v['name']} {v['shape']}" for v in variables[:6])


CAUSES = {2: [variables, first_values]}
