"""Functions that only make a spec, an exporter or a RunConfig: what they return, at their calls.

``train_spec = get_train_spec(input_fn, 100)`` is ``tf.estimator.TrainSpec(input_fn=input_fn,
max_steps=100)`` then, in whichever modules the calls stand, and the function goes.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.run_config_functions import only_returns
from migrate_mgpu.models.normalize.functions.variable_makers import with_texts
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function, without_paragraph

_MADE = {
    f"estimator.{name}"
    for name in (
        "BestExporter", "EvalSpec", "FinalExporter", "LatestExporter", "RunConfig", "TrainSpec",
    )
}  # fmt: skip
# What may stand in the place of a parameter that is read more than once.
_AGAIN = (ast.Constant, ast.Name)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such functions of the run that an Estimator's modules call."""
    functions: dict[ast.AST, Function] = {}
    for module in flow.modules:
        for call in module.names.calls:
            function = graph.target(module, call.func)
            if function is not None and _made(function) is not None:
                functions.setdefault(function.node, function)
    found: dict[Module, list[Edit]] = {}
    imports: dict[tuple[Module, ast.ImportFrom], list[ast.alias]] = {}
    for function in functions.values():
        written = _Written(function, graph)
        if not written.fits() or any(_overlap(found, m, e) for m, e in written.edits):
            continue  # one within another's call is written in the next round
        for module, edit in written.edits:
            found.setdefault(module, []).append(edit)
        for module, statement, alias in written.imports:
            imports.setdefault((module, statement), []).append(alias)
    for (module, statement), gone in imports.items():
        if len(gone) == len(statement.names):
            found[module].append(without_paragraph(module.source, statement))
        else:
            found[module].append(import_edit(module.source, statement, gone))
    return found


def makes_specs(flow: EstimatorFlow) -> bool:
    """Whether a function of an Estimator's modules, or of what these import, only makes one."""
    modules = {one for module in flow.modules for one in (module, *module.imported)}
    return any(
        isinstance(node, ast.FunctionDef) and _made(Function(module, node)) is not None
        for module in modules
        for node in module.tree.body
    )


def _made(function: Function) -> ast.Call | None:
    """The call that a function returns, where it does nothing else."""
    node = function.node
    if function.owner is not None or not only_returns(function):
        return None
    if not isinstance(function.module.names.parents[node], ast.Module):
        return None
    last = node.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    made = isinstance(value, ast.Call) and tensorflow_name(function.module, value.func) in _MADE
    return value if made and isinstance(value, ast.Call) else None


def _overlap(found: dict[Module, list[Edit]], module: Module, edit: Edit) -> bool:
    return any(one.start < edit.end and edit.start < one.end for one in found.get(module, ()))


def _arguments(call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, and what stands before each."""
    named = [(f"{k.arg}=" if k.arg else "**", k.value) for k in call.keywords]
    return [*(("", argument) for argument in call.args), *named]


class _Written:
    """One function: its calls as what it returns, and its end."""

    def __init__(self, function: Function, graph: CallGraph) -> None:
        self.function = function
        self.module = function.module
        self.graph = graph
        self.edits: list[tuple[Module, Edit]] = []
        self.imports: list[tuple[Module, ast.ImportFrom, ast.alias]] = []

    def fits(self) -> bool:
        """Whether all that mentions the function is written otherwise."""
        value, references = _made(self.function), self.graph.references(self.function)
        if value is None or not references:
            return False
        for reference in references:
            text = self._text(value, reference)
            if text is None:
                return False
            assert reference.call is not None
            span = reference.module.source.span(reference.call)
            self.edits.append((reference.module, Edit(*span, text)))
        self.edits.append((self.module, without_function(self.module.source, self.function.node)))
        return self._imported({one.module for one in references})

    def _text(self, value: ast.Call, reference: Reference) -> str | None:
        """What the function returns for a call; None where names would mean something else."""
        call, there = reference.call, reference.module
        given = bind(call, self.function).every() if call is not None else None
        if call is None or given is None:
            return None
        own = {name.id for name in walk(value) if isinstance(name, ast.Name)}
        reads = [name.id for name in walk(value) if isinstance(name, ast.Name)]
        for parameter, argument in given.items():
            if reads.count(parameter) > 1 and not isinstance(argument, _AGAIN):
                return None
        texts: dict[str, str] = {}
        written = bind(call, self.function).written()
        for name in own - given.keys():
            text = self._elsewhere(name, there, call)
            if text is None:
                return None
            texts[name] = text
        for name, argument in given.items():
            source = there.source if name in written else self.module.source
            if name not in written and not isinstance(argument, ast.Constant):
                return None
            texts[name] = source.code(argument)
        if any(isinstance(node, ast.Lambda) for node in walk(value)):
            return None
        source = self.module.source
        parts = [
            f"{prefix}{with_texts(source, node, lambda name: texts[name.id])}"
            for prefix, node in _arguments(value)
        ]
        function = with_texts(source, value.func, lambda name: texts[name.id])
        found = f"{function}({', '.join(parts)})"
        return None if "#" in found or "\n" in found else found

    def _elsewhere(self, name: str, there: Module, call: ast.Call) -> str | None:
        """What a name of the function's module is called where it is called.

        A constant of another module is its value.
        """
        names, other = self.module.names, there.names
        home = names.module_scope
        if name not in home.bindings:  # Python's own
            return name if other.defining_scope(name, other.scope_at(call)) is None else None
        if there is self.module:
            same = other.defining_scope(name, other.scope_at(call)) is home
            return name if same else None
        bindings = home.bindings[name]
        if len(bindings) != 1:
            return None
        if isinstance(bindings[0].value, ast.Constant):
            return self.module.source.code(bindings[0].value)
        mine = names.roots(name, home)
        return name if mine and mine == other.roots(name, other.scope_at(call)) else None

    def _imported(self, modules: set[Module]) -> bool:
        """Whether every import of the function is one of its own name, that nothing else reads."""
        name, wanted = self.function.node.name, {one for one in modules if one is not self.module}
        for module in self.graph.project.modules.values():
            for statement in ast.walk(module.tree):
                if not isinstance(statement, ast.ImportFrom):
                    continue
                for alias in statement.names:
                    if alias.name != name or alias.asname is not None:
                        continue
                    if module not in wanted or statement not in module.tree.body:
                        if self.module in module.imported:
                            return False
                        continue
                    self.imports.append((module, statement, alias))
        return True
