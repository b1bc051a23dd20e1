"""A RunConfig on its way through functions: their parameter goes, or becomes the strategy's."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import Configuration
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit


@record(frozen=True)
class ConfigArgument:
    """A call of a function of the run that is given a RunConfig, as the parameter ``name``."""

    module: Module
    call: ast.Call
    argument: ast.expr
    function: Function
    name: str


def config_arguments(config: Configuration, values: ValueFlow) -> list[ConfigArgument]:
    """Every call that hands a RunConfig on.

    Raises:
        Refused: such a function gets something else as well, or is called in other ways.
    """
    found: list[ConfigArgument] = []
    for made in config.all:
        for value in values.places(made.module, made.node):
            one = _config_argument(value.module, value.node, values)
            if one is not None and one not in found:
                found.append(one)
    for one in found:
        _only_this(one, found, values)
    return found


def _config_argument(
    module: Module, node: ast.expr | None, values: ValueFlow
) -> ConfigArgument | None:
    assert node is not None
    parent = module.names.parents[node]
    if isinstance(parent, ast.keyword):
        parent = module.names.parents[parent]
    if not isinstance(parent, ast.Call) or node is parent.func:
        return None
    function = values.graph.target(module, parent.func)
    name = bind(parent, function).parameter(node) if function is not None else None
    if function is None or name is None:
        return None
    return ConfigArgument(module, parent, node, function, name)


def _only_this(one: ConfigArgument, found: list[ConfigArgument], values: ValueFlow) -> None:
    function, place = one.function, (one.module, one.argument)
    calls = values.calls(function)
    if calls is None or isinstance(function.node, ast.AsyncFunctionDef):
        raise Refused(*place, f"the RunConfig is passed to `{function.name}`, not only by calls")
    if any(other.function == function and other.name != one.name for other in found):
        raise Refused(*place, f"`{function.name}` gets two RunConfigs")
    for reference in calls:
        assert reference.call is not None
        given = bind(reference.call, function).given(one.name)
        if given is None or is_none(given) or any(h.argument is given for h in found):
            continue
        raise Refused(reference.module, given, f"`{function.name}` gets another RunConfig here")
    if any(keyword.arg is None for keyword in one.call.keywords):
        raise Refused(*place, "its arguments come from `**`", "write the arguments out")


def drop(one: ConfigArgument, values: ValueFlow) -> list[tuple[Module, Edit]]:
    """The edits that take the parameter out of a function and of every call of it."""
    module = one.function.module
    found = [(module, without_parameter(module.source, one.function.node, one.name))]
    for reference in values.calls(one.function) or ():
        call = reference.call
        assert call is not None
        given = bind(call, one.function).given(one.name)
        if given is not None:
            module = reference.module
            found += ((module, edit) for edit in _without(module, call, given))
    return found


def free_name(passed: list[ConfigArgument]) -> str:
    """A name for a strategy that means nothing yet where a RunConfig is handed to."""
    taken: set[str] = set()
    for one in passed:
        names = one.function.module.names
        scope = names.scopes[one.function.node]
        taken.update(scope.bindings, names.mentioned({scope}))
    for name in ("strategy", "distribution", "distribute_strategy"):
        if name not in taken:
            return name
    raise Refused(passed[0].module, passed[0].argument, "every name for a strategy is taken here")


def rename_all(
    passed: list[ConfigArgument], values: ValueFlow, name: str, outer: str
) -> list[tuple[Module, Edit]]:
    """The edits that make strategies of the parameters; ``outer`` is what the first call gives."""
    inside = {one.function.node for one in passed}
    found: list[tuple[Module, Edit]] = []
    for one in passed:
        place = values.graph.enclosing(one.module, one.call)
        own = place is not None and place.node in inside
        found += _rename(one, name, name if own else outer)
    return found


def _rename(one: ConfigArgument, name: str, outer: str) -> list[tuple[Module, Edit]]:
    function = one.function
    arguments = function.node.args
    members = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameter = next(member for member in members if member.arg == one.name)
    start, _ = function.module.source.span(parameter)
    found = [(function.module, Edit(start, start + len(one.name), name))]
    start, end = one.module.source.span(one.argument)
    new = outer
    for keyword in one.call.keywords:
        if keyword.value is one.argument:
            start, end = one.module.source.span(keyword)
            new = f"{name}={outer}"
    return [*found, (one.module, Edit(start, end, new))]


def _without(module: Module, call: ast.Call, argument: ast.expr) -> tuple[Edit, ...]:
    edit = CallEdit(module.source, call)
    edit.drop_value(argument)
    return edit.edits()
