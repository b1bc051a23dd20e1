"""Regularizers that functions are handed and apply themselves, as the numbers that they have.

`regularizer = tf.contrib.layers.l2_regularizer(RATE)`, `inference(x, regularizer)` becomes
`inference(x, RATE)`, and there `regularizer(weights)` becomes

    tf.multiply(regularizer_scale, tf.nn.l2_loss(weights))

which is what TF1's computes. A condition on it goes where all calls give one. So does
`tf.contrib.layers.l2_regularizer(scale)(weights)`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

# What TF1's regularizers multiply with their scale.
TERMS = {
    "contrib.layers.l2_regularizer": "{tf}.nn.l2_loss({value})",
    "contrib.layers.l1_regularizer": "{tf}.reduce_sum({tf}.abs({value}))",
}


class _Stays(Exception):
    """A regularizer is used in a way that is not understood."""


@record(frozen=True, eq=False)
class _Made:
    """A regularizer with a name, and its scale as it is written."""

    module: Module
    target: ast.Name
    statement: ast.Assign
    scale: str


def written_out(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for some such regularizers; none where there are none.

    Those of one kind change together: each program may give the same function one of its own.
    """
    for name, term in TERMS.items():
        calls = [(one, call) for one in modules for call in calls_of_names(one).get(name, ())]
        known = [made for one, call in calls if (made := _made(one, call)) is not None]
        for some in [known, *([one] for one in known if len(known) > 1)]:
            try:
                edits = _Regularizers(some, term, graph).edits(modules)
            except _Stays:
                continue
            if edits:
                return edits
    return {}


def applied_at_once(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """`tf.contrib.layers.l2_regularizer(scale)(w)`, of a scale that is a number or a parameter."""
    del graph
    found: dict[Module, list[Edit]] = {}
    for module in modules:
        source = module.source
        for name, term in TERMS.items():
            for call in calls_of_names(module).get(name, ()):
                applied = module.names.parents[call]
                if not isinstance(applied, ast.Call) or applied.func is not call:
                    continue
                if len(call.args) != 1 or call.keywords or not is_plain(module, call.args[0]):
                    continue
                if len(applied.args) != 1 or applied.keywords:
                    continue
                tensorflow = style_at(module, call).tensorflow
                shown = term.format(tf=tensorflow, value=source.code(applied.args[0]))
                text = f"{tensorflow}.multiply({source.code(call.args[0])}, {shown})"
                found.setdefault(module, []).append(Edit(*source.span(applied), text))
    return found


def _made(module: Module, call: ast.Call) -> _Made | None:
    statement = module.names.parents[call]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or module.names.only_value(target) is not call:
        return None
    if len(call.args) != 1 or call.keywords or not is_plain(module, call.args[0]):
        return None
    assert isinstance(statement, ast.Assign)
    return _Made(module, target, statement, module.source.code(call.args[0]))


class _Regularizers:
    def __init__(self, made: Sequence[_Made], term: str, graph: CallGraph) -> None:
        self.made = made
        self.term = term
        self.graph = graph
        self.handed: dict[ast.AST, tuple[Function, str]] = {}  # functions, and their parameters
        self.found: dict[Module, list[Edit]] = {}
        self.applied = False

    def edits(self, modules: Sequence[Module]) -> dict[Module, list[Edit]]:
        """What they become.

        Raises:
            _Stays: one is used otherwise, or by a module that does not change.
        """
        for made in self.made:
            names = made.module.names
            home = names.scope_of_name[made.target]
            for mention in names.mentions(made.target.id, home):
                if mention is not made.target:
                    self._used(made.module, mention, made.scale)
        done: set[ast.AST] = set()
        while self.handed.keys() - done:
            node = next(one for one in self.handed if one not in done)
            done.add(node)
            self._in_function(*self.handed[node])
        if not self.applied or not self.found.keys() <= {*modules}:
            raise _Stays
        for made in self.made:
            if not Layout(made.module.source, made.statement).owns_lines:
                raise _Stays
            self._edit(made.module, without_paragraph(made.module.source, made.statement))
        return self.found

    def _edit(self, module: Module, edit: Edit) -> None:
        self.found.setdefault(module, []).append(edit)

    def _in_function(self, function: Function, parameter: str) -> None:
        """What a function does with the one that its calls give."""
        module, node = function.module, function.node
        scope = module.names.scopes[node]
        if len(scope.bindings[parameter]) != 1 or not isinstance(node, ast.FunctionDef):
            raise _Stays
        always = self._always_given(function, parameter)
        new = module.names.fresh(scope, f"{parameter}_scale")
        for argument in node.args.args:
            if argument.arg == parameter:
                start = module.source.span(argument)[0]
                self._edit(module, Edit(start, start + len(parameter), new))
        for mention in module.names.mentions(parameter, scope):
            asked = _asked(module, mention)
            if asked is None:
                self._used(module, mention, new)
            elif always and _holds_one(module, asked):
                body = asked.body[0]
                start, end = module.source.span(asked)
                inside = module.source.span(body)
                self._edit(module, Edit(start, inside[0], ""))
                self._edit(module, Edit(inside[1], end, ""))
            else:
                self._edit(module, Edit(*module.source.span(asked.test), f"{new} is not None"))

    def _always_given(self, function: Function, parameter: str) -> bool:
        """Whether all calls give this one; some may give None.

        Raises:
            _Stays: a call gives something else, or is not known.
        """
        always = True
        for reference in self.graph.references(function):
            if reference.call is None:
                raise _Stays
            value = (bind(reference.call, function).every() or {}).get(parameter)
            if value is not None and is_none(value):
                always = False
            elif not isinstance(value, ast.Name) or not self._is_this(reference.module, value):
                raise _Stays
            else:
                around = reference.module.names.scope_at(value).function()
                handed = self.handed.get(around) if around is not None else None
                if handed is not None and handed[1] == value.id:
                    always &= self._always_given(*handed)
            if any(keyword.value is value for keyword in reference.call.keywords):
                raise _Stays  # by the parameter's name, which it loses
        return always

    def _is_this(self, module: Module, name: ast.Name) -> bool:
        """Whether a name is such a regularizer, or a parameter that is."""
        value = module.names.only_value(name)
        if any(value is one.statement.value for one in self.made):
            return True
        around = module.names.scope_at(name).function()
        known = self.handed.get(around) if around is not None else None
        return known is not None and known[1] == name.id

    def _used(self, module: Module, mention: ast.Name, scale: str) -> None:
        """One mention: it is applied to a variable, or handed on."""
        parent = module.names.parents[mention]
        if not isinstance(parent, ast.Call):
            raise _Stays
        source = module.source
        if parent.func is mention:
            if len(parent.args) != 1 or parent.keywords:
                raise _Stays
            tensorflow = style_at(module, parent).tensorflow
            term = self.term.format(tf=tensorflow, value=source.code(parent.args[0]))
            self._edit(
                module, Edit(*source.span(parent), f"{tensorflow}.multiply({scale}, {term})")
            )
            self.applied = True
            return
        target = self.graph.target(module, parent.func)
        if target is None or target.owner is not None or mention not in parent.args:
            raise _Stays
        parameter = bind(parent, target).parameter(mention)
        if parameter is None or self.handed.get(target.node, (target, parameter))[1] != parameter:
            raise _Stays
        self.handed[target.node] = target, parameter
        self._edit(module, Edit(*source.span(mention), scale))


def is_plain(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the same wherever it is written: a number, `RATE`, `FLAGS.rate`."""
    root = node.value if isinstance(node, ast.Attribute) else node
    if isinstance(root, ast.Name):
        other = module.names.star_imports and not module.names.bindings_of(root)  # a module's own
        return bool(other) or module.names.only_binding(root) is not None
    return isinstance(node, ast.Constant)


def _asked(module: Module, mention: ast.Name) -> ast.If | None:
    """`if regularizer:`, `if regularizer is not None:`, `if regularizer != None:`"""
    test = module.names.parents[mention]
    if isinstance(test, ast.If) and test.test is mention:
        return test
    parent = module.names.parents.get(test)
    if not isinstance(test, ast.Compare) or not isinstance(parent, ast.If):
        return None
    told = test.left is mention and isinstance(test.ops[0], (ast.IsNot, ast.NotEq))
    return parent if told and len(test.ops) == 1 and is_none(test.comparators[0]) else None


def _holds_one(module: Module, asked: ast.If) -> bool:
    """Whether a condition is of one statement alone, which may stand in its place."""
    text = module.source.code(asked)
    plain = "#" not in text and text.count("\n") < 2 and "\\" not in text
    return plain and len(asked.body) == 1 and not asked.orelse
