"""Which variable of one program is which of the other.

Used by the probe, in the interpreter under test, and by the ladder: Python 3.7,
standard library only.
"""

from __future__ import annotations

import re
from typing import Any


def plain(name: str) -> str:
    """A variable's name without what TensorFlow adds: ``:0`` and replica numbers."""
    return re.sub(r"(/replica_\d+)?(:\d+)?$", "", name)


def _bare(name: str) -> str:
    """A name without the part of a variable that canned Estimators partition: `bias/part_0`."""
    return re.sub(r"/part_0$", "", plain(name))


def title(variable: dict[str, Any]) -> str:
    """A variable's name, and which model's it is where that is not the first."""
    model = variable.get("model", 0)
    return f"{variable['name']} of model {model + 1}" if model else str(variable["name"])


def trained(variables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are trained, which stand before the others."""
    return [variable for variable in variables if not variable.get("untrained")]


def pair(
    reference: list[dict[str, Any]], target: list[dict[str, Any]]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair variables by name where names agree, then by creation order and shape.

    Where the reference trains several models (``model`` counts them), each is paired with the
    target's that comes as late. A reference of one model may be several in the target: eager
    programs show only which variables are trained together.

    What an eager program gives one name (``alike``) no name tells apart: it is paired in creation
    order with as many that a graph has numbered, from 0 in each graph, or put in scopes. So are
    layers that both number, and not alike (``stem/conv2d``, ``conv2d`` and ``conv2d_1``). Otherwise
    names agree when they are equal, or when their last two parts are, which no other variable has
    (``generator/one/kernel`` and ``one/kernel``); not those of layers whose kernels have other
    shapes. Of the rest, those of one layer stay together:
    layers of the same shapes are paired in order, within them variables of one name, then
    single variables.

    Args:
      reference: the variables (``name``, ``shape``) of one program, in creation order, or with
        their ``place`` in it.
      target: those of the other.

    Returns:
      Pairs of indices, the indices of ``reference`` without a partner, those of ``target``.
    """
    models, others = ({v.get("model", 0) for v in side} for side in (reference, target))
    if len(models) < 2 or not others <= models:
        return _pair(reference, target)
    found: list[tuple[int, int]] = []
    for model in sorted(models):
        one, other = (
            [i for i, v in enumerate(side) if v.get("model", 0) == model]
            for side in (reference, target)
        )
        pairs = _pair([reference[i] for i in one], [target[j] for j in other])[0]
        found += [(one[i], other[j]) for i, j in pairs]
    known, taken = {i for i, _ in found}, {j for _, j in found}
    return (
        sorted(found),
        [i for i in range(len(reference)) if i not in known],
        [j for j in range(len(target)) if j not in taken],
    )


def _pair(
    reference: list[dict[str, Any]], target: list[dict[str, Any]]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    pairs: dict[int, int] = {}  # of the reference: of the target
    taken: set[int] = set()

    def join(found: list[tuple[int, int]]) -> None:
        for i, j in found:
            if i not in pairs and j not in taken and _same_shape(reference[i], target[j]):
                pairs[i] = j
                taken.add(j)

    def left() -> tuple[list[int], list[int]]:
        return (
            [i for i in _created(reference) if i not in pairs],
            [j for j in _created(target) if j not in taken],
        )

    join(_of_one_layer(reference, target, _alike(reference, target)))
    for scoped in (True, False):
        join(_counted_otherwise(reference, target, *left(), scoped))
    for parts in (None, 2):
        names, their_names = (
            _by_name(variables, indices, parts)
            for variables, indices in zip((reference, target), left())
        )
        both = [(names[name], their_names[name]) for name in names if name in their_names]
        join(_of_one_layer(reference, target, both))
    layers, others = (
        _layers(variables, indices) for variables, indices in zip((reference, target), left())
    )
    for shapes, groups in layers.items():
        for group, partner in zip(groups, others.get(shapes, [])):
            join(_members(reference, target, group, partner))
    for i in left()[0]:
        join([(i, j) for j in left()[1] if _same_shape(reference[i], target[j])][:1])
    one, other = left()
    return sorted(pairs.items()), sorted(one), sorted(other)


def _of_one_layer(
    reference: list[dict[str, Any]], target: list[dict[str, Any]], pairs: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Pairs by name, without those of layers whose kernels have other shapes.

    TF1 calls the first layer below a scope `dense`, Keras the first of the program: it has another
    bias, whatever the shapes of the two.
    """
    apart = {
        (_layer(reference[i]), _layer(target[j]))
        for i, j in pairs
        if _bare(reference[i]["name"]).endswith("/kernel")
        and not _same_shape(reference[i], target[j])
    }
    return [(i, j) for i, j in pairs if (_layer(reference[i]), _layer(target[j])) not in apart]


def _layer(variable: dict[str, Any]) -> str:
    return _bare(variable["name"]).rpartition("/")[0]


def _created(variables: list[dict[str, Any]]) -> list[int]:
    """The indices of variables in creation order: eager programs show them as they are trained."""
    return sorted(range(len(variables)), key=lambda i: variables[i].get("place", i))


def _alike(reference: list[dict[str, Any]], target: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Those that the target gives one name, with the reference's of that name or its numbers."""
    groups: dict[str, list[int]] = {}
    for j, variable in enumerate(target):
        if "alike" in variable:
            groups.setdefault(variable["alike"][0], []).append(j)
    found: list[tuple[int, int]] = []
    for name, others in groups.items():
        known: list[int] = []
        for scopes in ("", "(?:.+/)?"):  # Keras gives layers no scopes
            numbered = re.compile(scopes + re.escape(name) + r"(_\d+)?")
            known = [i for i, v in enumerate(reference) if numbered.fullmatch(_bare(v["name"]))]
            if len(known) == len(others):
                break
        if len(known) == len(others):
            found += zip(
                sorted(known, key=lambda i: reference[i].get("alike", (name, i))[1]),
                sorted(others, key=lambda j: target[j]["alike"][1]),
            )
    return found


def _counted_otherwise(
    reference: list[dict[str, Any]],
    target: list[dict[str, Any]],
    indices: list[int],
    others: list[int],
    scoped: bool,
) -> list[tuple[int, int]]:
    """Layers that both number, and not alike, in creation order; ``scoped``: those of one scope.

    TF1 numbers them in each scope (`stem/conv2d`, `conv2d`, `conv2d_1`), Keras in the whole
    program (`conv2d`, `conv2d_1`, `conv2d_2`): one name is that of different layers. What has
    the same names in a scope that both have is that.
    """
    families, theirs = (
        _families(variables, some, scoped)
        for variables, some in ((reference, indices), (target, others))
    )
    found: list[tuple[int, int]] = []
    for family, known in families.items():
        partners = theirs.get(family, [])
        same = sorted(name for name, _ in known) == sorted(name for name, _ in partners)
        shapes, other_shapes = (
            [list(variables[i]["shape"]) for _, i in group]
            for variables, group in ((reference, known), (target, partners))
        )
        if shapes == other_shapes and (scoped or (len(known) > 1 and not same)):
            if same:
                known, partners = sorted(known), sorted(partners)
            found += zip([i for _, i in known], [j for _, j in partners])
    return found


def _families(
    variables: list[dict[str, Any]], indices: list[int], scoped: bool
) -> dict[tuple[str, ...], list[tuple[str, int]]]:
    """Variables by the last two parts of their names, without a number: `conv2d_1/kernel`.

    ``scoped``: those that have more parts, by all of them.
    """
    found: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for i in indices:
        every = _bare(variables[i]["name"]).split("/")
        parts = every if scoped else every[-2:]
        if len(parts) > (2 if scoped else 1):
            family = *parts[:-2], re.sub(r"_\d+$", "", parts[-2]), parts[-1]
            found.setdefault(family, []).append(("/".join(parts), i))
    return found


def _by_name(
    variables: list[dict[str, Any]], indices: list[int], parts: int | None
) -> dict[str, int]:
    """Names that are one variable's alone; of each its last parts, or all of it."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for i in indices:
        name = _bare(variables[i]["name"])
        if parts is not None:
            if name.count("/") < parts - 1:
                continue
            name = "/".join(name.split("/")[-parts:])
        if name in found:
            twice.add(name)
        found[name] = i
    return {name: i for name, i in found.items() if name not in twice}


def _members(
    reference: list[dict[str, Any]],
    target: list[dict[str, Any]],
    group: list[int],
    other: list[int],
) -> list[tuple[int, int]]:
    """Variables of two layers: by the last parts of their names, where both have the same ones.

    `tf.contrib.layers.batch_norm` makes beta before gamma, Keras gamma before beta.
    """
    one = {_bare(reference[i]["name"]).rpartition("/")[2]: i for i in group}
    two = {_bare(target[j]["name"]).rpartition("/")[2]: j for j in other}
    if one.keys() == two.keys() and len(one) == len(group) and len(two) == len(other):
        return [(i, two[name]) for name, i in one.items()]
    return list(zip(group, other))


def _layers(variables: list[dict[str, Any]], indices: list[int]) -> dict[Any, list[list[int]]]:
    """Variables of one scope, two or more, by their shapes."""
    scopes: dict[str, list[int]] = {}
    for i in indices:
        scope, slash, _ = _bare(variables[i]["name"]).rpartition("/")
        if slash:
            scopes.setdefault(scope, []).append(i)
    found: dict[Any, list[list[int]]] = {}
    for group in scopes.values():
        if len(group) > 1:
            shapes = tuple(tuple(variables[i]["shape"]) for i in group)
            found.setdefault(shapes, []).append(group)
    return found


def _same_shape(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return list(one["shape"]) == list(other["shape"])


def pair_series(
    one: dict[str, Any], other: dict[str, Any]
) -> list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    """The loss series of two training records: ``loss``, ``loss[2]``, ... as the reference
    counts them; ``gradient-norm`` where its steps are given gradients, and have no loss. A series
    is paired with the one that trains the same variables, otherwise
    with the next that is left; a program may take a GAN's two steps in either order. A step that
    is built beside others, and never taken, has none: a copy's, say."""
    before, after = _taken(one.get("series", [])), _taken(other.get("series", []))
    same = dict(pair(one.get("variables", []), other.get("variables", []))[0])
    left = list(range(len(after)))
    found: list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]] = []
    partners: dict[int, int] = {}
    for i, series in enumerate(before):
        wanted = {same.get(v) for v in series.get("variables", [])} - {None}
        shared = {j: len(wanted & set(after[j].get("variables", []))) for j in left}
        if shared and max(shared.values()):
            partners[i] = max(left, key=lambda j: (shared[j], -j))
            left.remove(partners[i])
    for i in range(len(before)):
        if i not in partners and left:
            partners[i] = left.pop(0)
    for i, series in enumerate(before):
        other_one = after[partners[i]] if i in partners else None
        found.append((_series_name(i, series), series, other_one))
    for j in left:
        found.append((_series_name(len(found), after[j]), None, after[j]))
    return found


def _taken(series: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of which a step was taken; all where none was."""
    return [one for one in series if any(one["losses"]) or one.get("variables")] or series


def _series_name(i: int, series: dict[str, Any]) -> str:
    name = "gradient-norm" if series.get("by_norm") else "loss"
    return name if i == 0 else f"{name}[{i + 1}]"


def of_examples(i: int) -> str:
    """What the counts of examples of a step are called, by its place among the series."""
    return "examples" if i == 0 else f"examples[{i + 1}]"


class Carrier:
    """Hands the reference's initial values to variables as the target creates them."""

    def __init__(self, variables: list[dict[str, Any]]) -> None:
        self.variables = variables
        self._used: set[int] = set()
        self._order = indices = _created(variables)
        self._names = _by_name(variables, indices, 2)
        self._names.update(_by_name(variables, indices, None))

    def choose(self, name: str, shape: list[int]) -> int | None:
        """The index of the reference's variable whose value a new variable begins with."""
        wanted = {"name": name, "shape": shape}
        i = self._names.get(plain(name))
        if i is None:
            i = self._names.get("/".join(plain(name).split("/")[-2:]))
        candidates = ([] if i is None else [i]) + self._order
        for i in candidates:
            if i not in self._used and _same_shape(self.variables[i], wanted):
                self._used.add(i)
                return i
        return None
