"""Which tensor of TF1's checkpoint each variable of a TF2 program continues.

Names decide, then layers by their shapes, then the order in which both programs make what
is left. Where two could be meant, neither is taken.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import math
import re
from typing import Any, Callable

NAME, NUMBER, LAYER, SHAPE, ORDER, GIVEN = "name", "number", "layer", "shape", "order", "given"
# TF1's names of what its optimizers keep, by Keras's class.
OPTIMIZERS = {
    "Adam": "Adam",
    "SGD": "Momentum",
    "Adagrad": "Adagrad",
    "Adadelta": "Adadelta",
    "RMSprop": "RMSProp",
    "Ftrl": "Ftrl",
}
STEP = "global_step"
AVERAGE = "ExponentialMovingAverage"  # of the variable below which it stands
# What TF1's own hooks keep in a graph.
HOOKS = ("signal_early_stopping/STOP",)
_CELL = re.compile(
    r"(?<=/)(gru|lstm|simple_rnn)_cell(_\d+)?/(?=(kernel|recurrent_kernel|bias)(/|$))"
)
_POWER = re.compile(r"beta([12])_power(?:_\d+)?")
_PART = re.compile(r"(?:(?:(?:p?a)?r)?t)?_0")
_SMALLEST = 1e-30  # a power of beta that is less has lost its digits
_NUMBERS = re.compile(r"_(\d+)(?=/|$)")


class Row:
    """One variable of the TF2 program, and what it begins with.

    ``change`` is what becomes of the value: ``("copy",)``, ``("times", factor)``,
    ``("rest of one",)`` for RMSprop's mean squares, ``("steps", number)``, or
    ``("own",)`` for a variable that keeps its first value.
    """

    def __init__(
        self,
        kind: str,
        place: Any,
        name: str,
        source: str | None,
        how: str,
        change: Any = ("copy",),
    ) -> None:
        self.kind, self.place, self.name = kind, place, name
        self.source, self.how, self.change = source, how, change

    def data(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "to": self.name,
            "from": self.source,
            "how": self.how,
            "change": list(self.change),
        }


class Plan:
    """All partners, or what has none.

    Attributes:
      lacking: variables of the TF2 program without a partner, with the tensors that could be one.
      left: tensors of the checkpoint that no variable continues.
      unused: those that the TF2 program does without, each with the reason.
      problems: what else stands in the way, in words.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.lacking: list[tuple[str, list[str]]] = []
        self.left: list[str] = []
        self.unused: list[tuple[str, str]] = []
        self.problems: list[str] = []

    @property
    def complete(self) -> bool:
        return not (self.lacking or self.left or self.problems)


class Request:
    """What is asked for.

    Args:
      weights: ``name`` and ``shape`` of the TF2 program's variables, in creation order, and in
        ``averages`` the index of the one that a variable is the moving average of, or None.
      optimizers: see ``Holder.optimizers`` in ``convert.py``: ``kind``, ``weights``, ``slots``,
        ``steps``, and ``beta`` of Adam.
      source: the checkpoint's shapes by name.
      read: gives a tensor of the checkpoint.
      given: pairs of names, new to old, that the user chose.
      order: names of TF1's variables in creation order, where they are known.
      skipped: says whether the user leaves a tensor out.
    """

    def __init__(
        self,
        weights: list[dict[str, Any]],
        optimizers: list[dict[str, Any]],
        source: dict[str, list[int]],
        read: Callable[[str], Any],
        given: dict[str, str],
        order: list[str],
        skipped: Callable[[str], bool],
        weights_only: bool,
    ) -> None:
        self.weights, self.optimizers = weights, optimizers
        self.source, self.read = source, read
        self.given, self.order, self.skipped = given, order, skipped
        self.weights_only = weights_only


def plan(request: Request) -> Plan:
    """The partners of all that the TF2 program keeps."""
    found = Plan()
    pairs = _weights(request, found)
    used = {name for name, _ in pairs.values()}
    for i, weight in enumerate(request.weights):
        if i in pairs:
            name, how = pairs[i]
            if list(request.source[name]) != list(weight["shape"]):
                found.problems.append(
                    f"{weight['name']} has the shape {_shown(weight['shape'])}, "
                    f"{name} of the checkpoint {_shown(request.source[name])}"
                )
            found.rows.append(Row("weight", i, weight["name"], name, how))
    rest = [name for name in request.source if name not in used and not request.skipped(name)]
    owners = _owners(rest, used)
    if request.weights_only:
        states = {n for n in rest if n in owners or _POWER.fullmatch(_last(n)) or n == STEP}
        found.unused += [(name, "only weights are converted") for name in sorted(states)]
    else:
        states = _slots(request, found, pairs, owners)
        states |= _steps(request, found, rest)
    for name in rest:
        if name in HOOKS:
            found.unused.append((name, "of a hook of TF1's"))
        elif name not in states:
            found.left.append(name)
    return found


# Weights ----------------------------------------------------------------------------------------


def _weights(request: Request, found: Plan) -> dict[int, tuple[str, str]]:
    """By a weight's index, its tensor's name and why it is that one."""
    weights, source = request.weights, request.source
    pairs: dict[int, tuple[str, str]] = {}
    names = {weight["name"]: i for i, weight in enumerate(weights)}
    for new, old in request.given.items():
        if new not in names:
            found.problems.append(f"--pair {new}={old}: the new program has no variable {new}")
        elif old not in source:
            found.problems.append(f"--pair {new}={old}: the checkpoint has no tensor {old}")
        else:
            pairs[names[new]] = (old, GIVEN)
    candidates = [n for n in source if not _is_state(n, source) and not request.skipped(n)]
    # Averages have the partners of their variables, whatever they are called themselves.
    averages = {i: weight["averages"] for i, weight in enumerate(weights) if _is_average(weight)}

    def left() -> tuple[list[int], list[str]]:
        taken = {name for name, _ in pairs.values()}
        return (
            [i for i in range(len(weights)) if i not in pairs and i not in averages],
            [name for name in candidates if name not in taken],
        )

    shapes = {i: tuple(weight["shape"]) for i, weight in enumerate(weights)}
    taken = {name for name, _ in pairs.values()}
    every = [name for name in source if name not in taken and not request.skipped(name)]
    open_, _ = left()
    # By its name a variable may continue what TF1 counts, or averages.
    for i, name, how in _by_name(request, open_, every, shapes):
        pairs[i] = (name, how)
    for step in (_by_layer, _by_shape):
        for i, name, how in step(request, *left(), shapes):
            pairs[i] = (name, how)
    open_, there = left()
    if open_ and request.order:
        known = [name for name in request.order if name in there]
        one = [shapes[i] for i in open_]
        if len(known) == len(there) and one == [tuple(source[n]) for n in known]:
            pairs.update({i: (name, ORDER) for i, name in _in_order(request, open_, known)})
            open_ = []
    for i, name in _averages(request, averages, pairs):
        pairs[i] = (name, NAME)
    for i in open_:
        alike = [name for name in there if tuple(source[name]) == shapes[i]]
        found.lacking.append((weights[i]["name"], alike))
    for i, weight in averages.items():
        if i not in pairs and weight in pairs:
            found.lacking.append((weights[i]["name"], []))
    return pairs


def _is_average(weight: dict[str, Any]) -> bool:
    return weight.get("averages") is not None


def _averages(
    request: Request, averages: dict[int, int], pairs: dict[int, tuple[str, str]]
) -> list[tuple[int, str]]:
    """The averages of weights that have partners: below a partner's name, where there is one."""
    there = [n for n in request.source if _last(n) == AVERAGE and not request.skipped(n)]
    owners = _owners(there, {name for name, _ in pairs.values()})
    found = []
    for i, weight in averages.items():
        mine = [n for n in there if weight in pairs and owners.get(n) == pairs[weight][0]]
        if i not in pairs and len(mine) == 1:
            found.append((i, mine[0]))
    return found


def _in_order(request: Request, open_: list[int], known: list[str]) -> list[tuple[int, str]]:
    """The variables of both programs in their order; those of one layer by their own names.

    Some layers of tf.contrib make beta before gamma, Keras's make gamma before beta.
    """
    found: list[tuple[int, str]] = []
    layers: list[tuple[tuple[str, str], list[int], list[str]]] = []
    for i, name in zip(open_, known):
        scopes = request.weights[i]["name"].rpartition("/")[0], name.rpartition("/")[0]
        if not layers or layers[-1][0] != scopes:
            layers.append((scopes, [], []))
        layers[-1][1].append(i)
        layers[-1][2].append(name)
    for _, new, old in layers:
        mine = {_last(request.weights[i]["name"]): i for i in new}
        yours = {_last(name): name for name in old}
        if mine.keys() == yours.keys() and len(mine) == len(new):
            found += [(i, yours[word]) for word, i in mine.items()]
        else:
            found += zip(new, old)
    return found


def _is_state(name: str, source: dict[str, list[int]]) -> bool:
    """What an optimizer keeps, by its name: below a variable's, or of the steps."""
    if name == STEP or name in HOOKS or _POWER.fullmatch(_last(name)):
        return True
    return any(owner in source and source[owner] == source[name] for owner in _above(name))


def _above(name: str) -> list[str]:
    """The names that a slot's owner may have, the longest first: TF1 puts a scope before it, and
    behind it the variable's only part (``w/part_0/Ftrl``), or the end of that (``w/t_0/Adam``)."""
    parts = name.split("/")[:-1]
    if len(parts) > 1 and _PART.fullmatch(parts[-1]):
        parts.pop()
    return ["/".join(parts[i:]) for i in range(len(parts))]


def _by_name(
    request: Request, open_: list[int], there: list[str], shapes: dict[int, Any]
) -> list[tuple[int, str, str]]:
    """Names that end alike, the longest first; a number in one counts where all numbers agree.

    ``dense_1`` of one program need not be ``dense_1`` of the other where one begins at 0 and
    the other at 1: then those of one name are taken in the order of their numbers.
    """
    cells = any(without_cell(name) != name for name in there)
    split = {i: _known_as(request.weights[i]["name"], cells).split("/") for i in open_}
    old = {name: name.split("/") for name in there}
    found: dict[int, tuple[str, int]] = {}
    used: set[str] = set()
    most = max([0, *(len(parts) for parts in old.values())])
    for count in range(most, 0, -1):
        # Of those that end alike, one may have no other part.
        ends: dict[str, list[int]] = {}
        for i, parts in split.items():
            if i not in found and len(parts) >= count:
                ends.setdefault("/".join(parts[-count:]), []).append(i)
        others: dict[str, list[str]] = {}
        for name, parts in old.items():
            if name not in used and len(parts) >= count and (count > 1 or len(parts) == 1):
                others.setdefault("/".join(parts[-count:]), []).append(name)
        for end, names in others.items():
            mine = ends.get(end, [])
            whole = [i for i in mine if len(split[i]) == count]
            mine = whole if end in names and len(whole) == 1 else mine
            names = [end] if end in names and len(whole) == 1 else names
            if len(names) == len(mine) == 1:
                found[mine[0]] = (names[0], count)
                used.add(names[0])
    chosen: dict[int, tuple[str, str]] = {i: (name, NAME) for i, (name, _) in found.items()}
    lengths = {count for _, count in found.values()} | {2}
    for count in sorted(lengths, reverse=True):
        _renumber(request, split, old, count, chosen, shapes)
    return [(i, name, how) for i, (name, how) in chosen.items()]


def _known_as(name: str, cells: bool) -> str:
    """A variable's name where TF1's tensors have ``cells`` in theirs, or have none."""
    return name if cells else without_cell(name)


def _renumber(
    request: Request,
    split: dict[int, list[str]],
    old: dict[str, list[str]],
    count: int,
    chosen: dict[int, tuple[str, str]],
    shapes: dict[int, Any],
) -> None:
    """Drop names that agree by chance of their numbers, and take the order of the numbers."""
    groups: dict[str, tuple[list[Any], list[Any]]] = {}
    for i, parts in split.items():
        if len(parts) >= count:
            end = "/".join(parts[-count:])
            groups.setdefault(_NUMBERS.sub("", end), ([], []))[0].append((_numbers(end), i))
    for name, parts in old.items():
        if len(parts) >= count:
            end = "/".join(parts[-count:])
            groups.setdefault(_NUMBERS.sub("", end), ([], []))[1].append((_numbers(end), name))
    for new, former in groups.values():
        numbers, before = [sorted(n for n, _ in side) for side in (new, former)]
        if not new or not former or numbers == before:
            continue
        if len(set(map(str, numbers))) < len(new) or len(set(map(str, before))) < len(former):
            continue  # the ends do not tell them apart: longer names did, or nothing does
        there = {name for _, name in former}
        mine = {i for _, i in new}
        if any(i in chosen and chosen[i][0] not in there for i in mine):
            continue
        if any(name in there and i not in mine for i, (name, _) in chosen.items()):
            continue
        for i in mine:
            chosen.pop(i, None)
        ordered = list(zip(sorted(new), sorted(former)))
        same = all(shapes[i] == tuple(request.source[name]) for (_, i), (_, name) in ordered)
        if len(new) == len(former) and same:
            chosen.update({i: (name, NUMBER) for (_, i), (_, name) in ordered})


def _numbers(name: str) -> list[int]:
    """The numbers of all its parts; 0 for a part without one."""
    found = [_NUMBERS.search(part) for part in name.split("/")]
    return [int(match.group(1)) if match else 0 for match in found]


def _by_layer(
    request: Request, open_: list[int], there: list[str], shapes: dict[int, Any]
) -> list[tuple[int, str, str]]:
    """Layers that are the only ones with their shapes, variable by variable."""

    def layers(named: list[tuple[str, Any, Any]]) -> dict[Any, list[list[Any]]]:
        scopes: dict[str, list[tuple[Any, Any]]] = {}
        for name, key, shape in named:
            scopes.setdefault(name.rpartition("/")[0], []).append((shape, key))
        found: dict[Any, list[list[Any]]] = {}
        for members in scopes.values():
            sizes = sorted(shape for shape, _ in members)
            if len(members) > 1 and len(set(sizes)) == len(sizes):  # each is told by its shape
                ordered = [key for _, key in sorted(members)]
                found.setdefault(tuple(sizes), []).append(ordered)
        return found

    new = layers([(request.weights[i]["name"], i, shapes[i]) for i in open_])
    old = layers([(name, name, tuple(request.source[name])) for name in there])
    return [
        (i, name, LAYER)
        for sizes, groups in new.items()
        if len(groups) == len(old.get(sizes, ())) == 1
        for i, name in zip(groups[0], old[sizes][0])
    ]


def _by_shape(
    request: Request, open_: list[int], there: list[str], shapes: dict[int, Any]
) -> list[tuple[int, str, str]]:
    """Single variables that are the only ones left of their shape."""
    new: dict[Any, list[int]] = {}
    old: dict[Any, list[str]] = {}
    for i in open_:
        new.setdefault(shapes[i], []).append(i)
    for name in there:
        old.setdefault(tuple(request.source[name]), []).append(name)
    return [
        (members[0], old[shape][0], SHAPE)
        for shape, members in new.items()
        if len(members) == len(old.get(shape, ())) == 1
    ]


# What optimizers keep ---------------------------------------------------------------------------


def _owners(rest: list[str], weights: set[str]) -> dict[str, str]:
    """By a tensor's name, the weight that it is kept for: the longest name in its own."""
    found = {}
    for name in rest:
        owner = next((one for one in _above(name) if one in weights), None)
        if owner is not None:
            found[name] = owner
    return found


def _slots(
    request: Request, found: Plan, pairs: dict[int, tuple[str, str]], owners: dict[str, str]
) -> set[str]:
    """Rows for the slots of all optimizers; returns the tensors that are known."""
    known: set[str] = set()
    kept: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for name, owner in owners.items():
        base, number = _numbered(_last(name))
        kept.setdefault(owner, {}).setdefault(base, []).append((number, name))
    for place, optimizer in enumerate(request.optimizers):
        slots = optimizer["slots"]  # in TF1's order: its word, and by weight the variable's name
        if not slots:
            continue
        if all(slot.get("own") for slot in slots):
            known |= _own(place, optimizer, found, pairs, kept)
            continue
        mine, others = OPTIMIZERS[optimizer["kind"]], {*OPTIMIZERS.values()}
        without = []
        for i in optimizer["weights"]:
            if i not in pairs:
                continue  # said already
            groups = [
                (base, [name for _, name in sorted(members)])
                for base, members in kept.get(pairs[i][0], {}).items()
                if base == mine or base not in others
            ]
            fitting = [g for g in groups if len(g[1]) == len(slots)]
            exact = [g for g in fitting if g[0] == mine]
            fitting = exact if len(exact) == 1 else fitting
            if len(fitting) > 1:
                names = ", ".join(name for _, group in fitting for name in group)
                found.problems.append(
                    f"which of {names} is what {mine} keeps of {pairs[i][0]} cannot be determined"
                )
                known.update(name for _, group in fitting for name in group)
                continue
            if not fitting:
                without.append(i)
                continue
            for slot, name in zip(slots, fitting[0][1]):
                known.add(name)
                if slot["variables"] is None:
                    found.unused.append((name, slot["reason"]))
                    continue
                change = slot["change"]
                row = Row(
                    "slot", (place, slot["word"], i), slot["variables"][i], name, NAME, change
                )
                found.rows.append(row)
        if len(without) == len(optimizer["weights"]):
            found.problems.append(
                f"the checkpoint has nothing that TF1's {mine} keeps of these variables: "
                "the old program had another optimizer, or it is a checkpoint for inference "
                "(--weights-only)"
            )
            continue
        for i in without:
            for slot in slots:
                if slot["variables"] is not None:
                    name = slot["variables"][i]
                    how = "TF1's optimizer did not train it"
                    found.rows.append(Row("slot", None, name, None, how, ("own",)))
    return known


def _own(
    place: int,
    optimizer: dict[str, Any],
    found: Plan,
    pairs: dict[int, tuple[str, str]],
    kept: dict[str, dict[str, list[tuple[int, str]]]],
) -> set[str]:
    """Rows for the slots of an optimizer of the program's own, which has TF1's words for them."""
    known: set[str] = set()
    for i in (i for i in optimizer["weights"] if i in pairs):
        for slot in optimizer["slots"]:
            word = slot["word"]
            members = kept.get(pairs[i][0], {}).get(word, [])
            if len(members) != 1:
                found.problems.append(f"the checkpoint has no {word} of {pairs[i][0]}")
                continue
            name = members[0][1]
            known.add(name)
            row = Row("slot", (place, word, i), slot["variables"][i], name, NAME, slot["change"])
            found.rows.append(row)
    return known


def _steps(request: Request, found: Plan, rest: list[str]) -> set[str]:
    """Rows for the optimizers' counts of steps; returns the tensors that are known."""
    powers = [name for name in rest if _POWER.fullmatch(_last(name))]
    counted = int(request.read(STEP)) if STEP in request.source else None
    adams = [one for one in request.optimizers if one["kind"] == "Adam"]
    known = {STEP} | (set(powers) if adams else set())
    for place, optimizer in enumerate(request.optimizers):
        steps, source = counted, STEP
        if optimizer["kind"] == "Adam":
            for name in powers:
                match = _POWER.fullmatch(_last(name))
                assert match is not None
                value = float(request.read(name))
                made = steps_of(value, optimizer["beta"][int(match.group(1)) - 1])
                if made is None:
                    continue
                if steps is None:
                    steps, source = round(made), name
                elif abs(made - steps) > 1 + 1e-3 * steps:
                    found.problems.append(
                        f"{name} says that the optimizer had made {made:.0f} steps, {source} says "
                        f"{steps}: the new program has one count for both"
                    )
            if steps is None:
                found.problems.append(
                    "how many steps Adam had made cannot be determined: the checkpoint has no "
                    f"{STEP}" + (", and its powers of beta are zero" if powers else "")
                )
        elif optimizer["kind"] == "RMSprop" and steps is None:
            found.problems.append(
                f"the checkpoint has no {STEP}: RMSprop's mean squares depend on it"
            )
        if steps is None:
            found.rows.append(Row("steps", place, optimizer["steps"], None, f"no {STEP}", ("own",)))
        else:
            row = Row("steps", place, optimizer["steps"], source, NAME, ("steps", steps))
            found.rows.append(row)
    if not request.optimizers and counted is not None:
        if not any(row.source == STEP for row in found.rows):
            found.unused.append((STEP, "the new program keeps no optimizer"))
    return known


def plan_names(
    lacking: list[str],
    source: dict[str, list[int]],
    read: Callable[[str], Any],
    optimizers: dict[str, Any],
) -> Plan:
    """What a saver that keeps TF1's names misses in a file of TF1's: what Keras's optimizers keep
    otherwise than TF1's, below the name of what TF1's kept (``w/Momentum/velocity``).

    Args:
      optimizers: by kind, see ``_moved`` in ``convert.py``.
    """
    found = Plan()
    counted = int(read(STEP)) if STEP in source else None
    for name in lacking:
        base, _, word = name.rpartition("/")
        kept, number = _numbered(_last(base))
        above = base.rpartition("/")[0]
        momentum, rmsprop = optimizers.get("SGD"), optimizers.get("RMSprop")
        row: Row | None = None
        if word == "steps" and counted is not None:
            row = Row("steps", None, name, STEP, NAME, ("steps", counted))
        elif kept == OPTIMIZERS["SGD"] and word == "velocity" and momentum is not None:
            row = Row("slot", None, name, base, NAME, ("times", momentum))
        elif kept == OPTIMIZERS["RMSprop"] and rmsprop is not None:
            centered, rho = rmsprop
            words = ["velocity", *(["average_gradient"] if centered else []), "momentum"]
            if word in words:
                number += words.index(word)
                old = f"{above}/{kept}_{number}" if number else f"{above}/{kept}"
                row = Row("slot", None, name, old, NAME)
                if word == "velocity" and rho and counted is not None:
                    row.change = ("minus", rho**counted)
                elif word == "velocity" and rho:
                    found.problems.append(f"{name} depends on {STEP}, which is not there")
        if row is not None and row.source in source:
            found.rows.append(row)
        else:
            found.lacking.append((name, []))
    return found


def plan_cells(lacking: list[str], left: list[str]) -> Plan:
    """What graph code's saver misses because Keras's recurrent layers have a cell of their own in
    TF2: ``gru/gru_cell/kernel`` was ``gru/kernel``."""
    found = Plan()
    found.left = list(left)
    for name in lacking:
        old = without_cell(name)
        if old in found.left:
            found.rows.append(Row("weight", None, name, old, NAME))
            found.left.remove(old)
        else:
            found.lacking.append((name, []))
    return found


def without_cell(name: str) -> str:
    """What TF1 called a variable of a recurrent layer's cell: the layer alone stood before it."""
    return _CELL.sub("", name)


def power_of(name: str) -> int:
    """Of which beta TF1's Adam keeps the powers under a name: 1 or 2; 0 for another name."""
    match = _POWER.fullmatch(_last(name))
    return int(match.group(1)) if match else 0


def steps_of(power: float, beta: float) -> float | None:
    """The steps after which TF1's Adam has this power; None where it has lost its digits."""
    if not _SMALLEST < power < 1 or not 0 < beta < 1:
        return None
    return math.log(power) / math.log(beta) - 1


def _numbered(name: str) -> tuple[str, int]:
    """``Adam_1`` is number 1 of ``Adam``."""
    match = re.fullmatch(r"(.+?)_(\d+)", name)
    return (match.group(1), int(match.group(2))) if match else (name, 0)


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _shown(shape: Any) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
