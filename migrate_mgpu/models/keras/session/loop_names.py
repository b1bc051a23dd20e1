"""The names that TF1 gave variables, where loops make some so often as a run says."""

from __future__ import annotations

from migrate_mgpu.models.front.session.host_objects import Rounds, Told
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.ir import Update
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.tf1_names import METHOD as TF1_NAMES
from migrate_mgpu.models.keras.session.names import StepNames

_EACH = "variable"  # in a comprehension
_NUMBERED = "# TF1 numbers those that are alike"


def loop_names(
    update: Update, program: SessionProgram, names: StepNames, context: Context, indent: str
) -> list[str]:
    """`names = [...]`: what the variables of an update are called, in their order."""
    unit, string = context.module.source.indent_unit, context.style.string
    quote = string("")[0]
    lines: list[str] = []
    items: list[str] = []
    for one in program.loop_names[update]:
        if one.told is not None:
            networks = [each for each in program.loop_names[update] if each.told is not None]
            number = networks.index(one) + 1
            by_id = names.by_id(update) + (f"_{number}" if number > 1 else "")
            lines.append(_by_id(one.told, by_id, names.variables(one.variables), context))
            each = f"{by_id}[id({_EACH})] for {_EACH} in"
            if len(program.loop_names[update]) == 1:
                whole = f"[{each} {names.trained(update)}]"
                return [*lines, f"{names.of_variables(update)} = {whole}"]
            items.append(f"*({each} {names.variables(one.variables)}.trainable_variables)")
            continue
        if one.rounds is None:
            items.append(string(one.name))
            continue
        number = sum(item.startswith("*") for item in items) + 1
        scopes = names.scopes(update) + (f"_{number}" if number > 1 else "")
        lines += _scopes(one.rounds, scopes, context, indent)
        within = f"for scope in {scopes}"
        (first, *more) = one.rounds.names
        if more:
            several = f"for name in ({', '.join(map(string, one.rounds.names))})"
            items.append(f"*(f{quote}{{scope}}/{{name}}{quote} {within} {several})")
        else:
            items.append(f"*(f{quote}{{scope}}/{first}{quote} {within})")
    head = f"{names.of_variables(update)} = ["
    return [*lines, head, *(f"{unit}{item}," for item in items), "]"]


def _by_id(told: Told, by_id: str, network: str, context: Context) -> str:
    """What makes a dictionary of the names of a network's variables: Keras lists these in an order
    of its own."""
    below = context.style.string(told.below) if told.below else ""
    return f"{by_id} = {{id({_EACH}): name for name, {_EACH} in {network}.{TF1_NAMES}({below})}}"


def _scopes(rounds: Rounds, scopes: str, context: Context, indent: str) -> list[str]:
    """What makes a list of the scopes of a loop's rounds."""
    passed = {name: context.render(value) for name, value in rounds.passed.items()}
    inside = Context(rounds.module, context.style, None, passed)
    target, each = inside.render(rounds.loop.target), inside.render(rounds.loop.iter)
    scope = inside.render(rounds.scope)
    if rounds.outer:
        scope = f"{context.style.string(rounds.outer)} + {scope}"
    lines = [f"{scopes} = [{scope} for {target} in {each}]"]
    if len(indent) + len(lines[0]) > context.style.width:
        unit = context.module.source.indent_unit
        lines = [f"{scopes} = [", f"{unit}{scope}", f"{unit}for {target} in {each}", "]"]
    if rounds.numbered:
        made = f"{scopes} = list(map({context.tf}.Graph().unique_name, {scopes}))"
        lines.append(f"{made}  {_NUMBERED}")
    return lines
