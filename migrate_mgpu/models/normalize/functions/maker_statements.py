"""Functions that make a variable and do more: their statements, where they are called.

`weights = _variable_with_weight_decay('weights', [64, 8], stddev=0.04, wd=0.004)` becomes

    weights = tf.get_variable('weights', [64, 8], initializer=...)
    weight_decay = tf.multiply(tf.nn.l2_loss(weights), 0.004)
    tf.add_to_collection('losses', weight_decay)

A function may make several: `weights, biases = _weights_and_biases([64, 8], [8])`. A block that
puts variables on the CPU goes. `name=scope.name` becomes the scope's name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_parameters import constants, truth
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, CONTROL, DEFINED, DRAWS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.normalize.functions.variable_makers import with_texts
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function

_RETURNED = "return"  # stands for a variable that is returned without a name
_CPUS = ("/cpu:0", "/CPU:0", "/device:CPU:0", "cpu:0")


def inlined(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function and all its calls; none where there is none."""
    for module in modules:
        for node in _makers(module):
            edits = _Maker(module, node, graph).edits()
            if edits:
                return {module: edits}
    return {}


@fact_of_text
def _makers(module: Module) -> list[ast.FunctionDef]:
    """The functions of a module that make variables, return once, and have plain parameters."""
    calls = calls_of_names(module)
    made = {call for name in VARIABLES.by_name for call in calls.get(name, ())}
    return [
        node
        for node in (module.tree.body if made else ())
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
        if not _has_other_parameters(node.args) and not made.isdisjoint(walk(node))
        if sum(isinstance(one, ast.Return) for one in walk(node)) == 1
    ]


def _has_other_parameters(arguments: ast.arguments) -> bool:
    found = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs
    return bool(found)


def named_by_text(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """`with tf.variable_scope('conv1') as scope:`, where that gives operations names alone.

    Where nothing in it has variables, that is `tf.name_scope`.
    """
    found: dict[Module, list[Edit]] = {}
    for module in modules:
        for node in module.tree.body if "variable_scope" in calls_of_names(module) else ():
            if isinstance(node, ast.FunctionDef):
                edits = _scope_names(module, node, graph)
                if edits:
                    found.setdefault(module, []).extend(edits)
    return found


class _Maker:
    """A function of a module's that makes variables, does something with them and returns them."""

    def __init__(self, module: Module, node: ast.FunctionDef, graph: CallGraph) -> None:
        self.module = module
        self.source = module.source
        self.node = node
        self.graph = graph
        self.locals: dict[str, ast.expr] = {}  # all that is assigned, each once
        self.made: list[str] = []  # the names of the variables, as they are returned
        self.settings: set[str] = set()  # local names that the variables are made of

    def edits(self) -> list[Edit]:
        if self._last() is None:
            return []
        function = Function(self.module, self.node)
        references = self.graph.references(function)
        found: list[Edit] = []
        for reference in references:
            if reference.module is not self.module or reference.call is None:
                return []
            edit = self._written(reference.call)
            if edit is None:
                return []
            found.append(edit)
        return [*found, without_function(self.source, self.node)] if found else []

    def _reads(self, kept: Sequence[ast.stmt]) -> bool:
        """Whether statements make variables, which the function returns, and can be moved."""
        last = self._last()
        assert last is not None
        self.locals, self.settings, made = {}, set(), []
        for statement in kept:
            code = self.source.code(statement)
            if "#" in code or '"""' in code or "'''" in code:
                return False
            if isinstance(statement, ast.Assign):
                target = statement.targets[0]
                if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                    return False
                if target.id in self.locals or target.id in self._parameters():
                    return False
                self.locals[target.id] = statement.value
                if name_of(self.module, statement.value) in VARIABLES.by_name:
                    made.append(target.id)
            elif not self._collects(statement):
                return False
        if name_of(self.module, last.value) in VARIABLES.by_name and not made:
            assert last.value is not None
            self.made = [_RETURNED]
            self.locals[_RETURNED] = last.value
            self._add_settings(last.value)
            return all(name in self.settings for name in self.locals if name != _RETURNED)
        values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        self.made = [value.id for value in values if isinstance(value, ast.Name)]
        if not made or len(self.made) != len(values) or sorted(self.made) != sorted(made):
            return False
        for name in self.made:
            self._add_settings(self.locals[name])
        return self.settings.isdisjoint(self.made)

    def _last(self) -> ast.Return | None:
        """The statement that ends the function, in blocks perhaps that put variables on the CPU."""
        last = self.node.body[-1]
        while isinstance(last, ast.With) and self._is_cpu(last):
            last = last.body[-1]
        return last if isinstance(last, ast.Return) else None

    def _body(self) -> list[ast.stmt]:
        body = self.node.body
        first = body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return body[1:] if documented else body

    def _parameters(self) -> list[str]:
        return [one.arg for one in self.node.args.args]

    def _is_cpu(self, block: ast.With) -> bool:
        call = block.items[0].context_expr
        return (
            len(block.items) == 1
            and isinstance(call, ast.Call)
            and name_of(self.module, call) == "device"
            and len(call.args) == 1
            and constant(call.args[0]) in _CPUS
        )

    def _collects(self, statement: ast.stmt) -> bool:
        call = statement.value if isinstance(statement, ast.Expr) else None
        return isinstance(call, ast.Call) and name_of(self.module, call) == "add_to_collection"

    def _add_settings(self, value: ast.expr) -> None:
        for name in (n.id for n in walk(value) if isinstance(n, ast.Name)):
            if name in self.locals and name not in self.settings:
                self.settings.add(name)
                self._add_settings(self.locals[name])

    # -- a call --------------------------------------------------------------------------

    def _written(self, call: ast.Call) -> Edit | None:
        """The function's statements in the place of one that calls it."""
        names = self.module.names
        statement = names.parents.get(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        given = self._bound(call)
        kept = self._kept(self._body(), given) if given is not None else None
        if given is None or kept is None or not self._reads(kept):
            return None
        new = self._names(statement.targets[0])
        if new is None or not Layout(self.source, statement).owns_lines:
            return None
        told = {n.id for value in given.values() for n in walk(value) if isinstance(n, ast.Name)}
        if not told.isdisjoint(new.values()):
            return None  # a variable would have its name before the next is made
        scope = names.scope_at(call)
        if "#" in self.source.code(statement):
            return None
        placed = any(isinstance(one, ast.With) for one in self._body())
        if scope.is_module and not placed and not any(map(self._collects, kept)):
            return None  # what only makes variables stays the script's function
        own = set(scope.bindings)
        used = {n.id for one in kept for n in walk(one) if isinstance(n, ast.Name)}
        used |= {n.id for one in self.settings for n in walk(self.locals[one])
                 if isinstance(n, ast.Name)}  # fmt: skip
        made_here = {
            one.targets[0].id
            for one in kept
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        } - self.settings - set(self.made)  # fmt: skip
        free = used - set(self._parameters()) - set(self.locals)
        if own & (made_here if scope.is_module else free | made_here):
            return None
        texts = {name: _one_line(self.source.code(value)) for name, value in given.items()}
        texts.update(new)
        lines = []
        for one in kept:
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
                name = one.targets[0].id
                if name in self.settings:
                    continue
                value = self._text(one.value, given, texts)
                lines.append(f"{new.get(name, name)} = {value}")
            else:
                assert isinstance(one, ast.Expr)
                lines.append(self._text(one.value, given, texts))
        if self.made == [_RETURNED]:
            value = self._text(self.locals[_RETURNED], given, texts)
            lines.append(f"{new[_RETURNED]} = {value}")
        indent, newline = self.source.indent_of(statement), self.source.newline
        start = self.source.span(statement)[0]
        return Edit(start, self.source.span(statement)[1], f"{newline}{indent}".join(lines))

    def _names(self, target: ast.expr) -> dict[str, str] | None:
        """What a call's statement names the variables; None where it does not name each."""
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if len(names) != len(targets) or [len(names), len({*names})] != [len(self.made)] * 2:
            return None
        return dict(zip(self.made, names))

    def _kept(
        self, body: Sequence[ast.stmt], given: Mapping[str, ast.expr]
    ) -> list[ast.stmt] | None:
        """The statements that a call runs; None where its arguments do not tell."""
        found: list[ast.stmt] = []
        for statement in body:
            inner: list[ast.stmt] | None = [statement]
            if isinstance(statement, ast.With) and self._is_cpu(statement):
                inner = self._kept(statement.body, given)
            elif isinstance(statement, ast.If):
                holds = self._holds(statement.test, given)
                arm = statement.body if holds else statement.orelse
                inner = None if holds is None else self._kept(arm, given)
            if inner is None:
                return None
            found += [one for one in inner if not isinstance(one, ast.Return)]
        return found

    def _holds(self, test: ast.expr, given: Mapping[str, ast.expr]) -> bool | None:
        """Whether `wd is not None`, `wd`, for a call's arguments; None where these do not tell.

        An argument may be a parameter of the caller's, which all its calls give the same.
        """

        def values(name: ast.Name) -> Sequence[ast.Constant] | None:
            value = given.get(name.id)
            if isinstance(value, ast.Constant):
                return [value]
            return (
                constants(self.module, value, self.graph) if isinstance(value, ast.Name) else None
            )

        return truth(test, values)

    def _bound(self, call: ast.Call) -> dict[str, ast.expr] | None:
        """What each parameter is in a call; None where that cannot stand for it everywhere."""
        arguments = bind(call, Function(self.module, self.node))
        given = arguments.every()
        if given is None:
            return None
        if not all(self._is_default(value) for value in arguments.defaults.values()):
            return None
        every = [n.id for n in walk(self.node) if isinstance(n, ast.Name)]
        for name, value in given.items():
            if not self._stands_for(value, every.count(name) < 2):
                return None
        return given

    def _is_default(self, value: ast.expr) -> bool:
        """Whether what a parameter is without an argument is the same wherever it is written."""
        if not isinstance(value, ast.Call):
            return isinstance(value, ast.Constant)
        arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
        initializes = name_of(self.module, value).endswith("_initializer")
        return initializes and all(isinstance(one, ast.Constant) for one in arguments)

    def _stands_for(self, value: ast.expr, once: bool) -> bool:
        """Whether an argument may be written where its parameter is mentioned."""
        for part in walk(value):
            if isinstance(part, ast.Call):
                made = name_of(self.module, part).endswith(("_initializer", "_regularizer"))
                if not once or not made:
                    return False
            elif not isinstance(
                part, (ast.Constant, ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.BinOp,
                       ast.UnaryOp, ast.keyword, ast.Subscript)
            ):  # fmt: skip
                return False
        return True

    def _text(
        self, node: ast.expr, values: Mapping[str, ast.expr], texts: Mapping[str, str]
    ) -> str:
        """An expression in one line, with what names stand for in their places."""

        def replacement(name: ast.Name) -> str | None:
            value, text = values.get(name.id), texts.get(name.id)
            if name.id in self.settings:
                value = self.locals[name.id]
                text = self._text(value, values, texts)
            operator = isinstance(value, (ast.BinOp, ast.UnaryOp, ast.IfExp))
            alone = isinstance(self.module.names.parents.get(name), (ast.keyword, ast.Call))
            return f"({text})" if text and operator and not alone else text

        return _one_line(with_texts(self.source, node, replacement))


def _one_line(text: str) -> str:
    text = re.sub(r"([(\[{])\s*\n\s*", r"\1", text)
    return re.sub(r"\s*\n\s*", " ", text)


def _is_below(module: Module, node: ast.AST, block: ast.With) -> bool:
    """Whether a statement below a block, in the same body, has a node: the block has run there."""
    body = module.names.block(block)
    below = body[body.index(block) + 1 :]
    return any(one is node or one in module.names.ancestors(node) for one in below)


def _is_text(module: Module, node: ast.expr | None) -> bool:
    """Whether an expression is a text, or a parameter that names what its function makes."""
    return isinstance(constant(node), str) or (
        isinstance(node, ast.Name) and module.names.is_parameter(node)
    )


def _only_computes(module: Module, block: ast.With, graph: CallGraph) -> bool:
    """Whether a block makes no variables, so that its scope names operations alone."""
    for call in (part for part in walk(block) if isinstance(part, ast.Call)):
        name = name_of(module, call)
        if graph.target(module, call.func) is not None:
            return False
        scope = call is block.items[0].context_expr
        if name and not scope and name not in COMPUTES and name not in DRAWS:
            if name not in CONTROL and name not in DEFINED:
                return False
    return True


def _scope_names(module: Module, node: ast.FunctionDef, graph: CallGraph) -> list[Edit]:
    names, source = module.names, module.source
    found: list[Edit] = []
    blocks: dict[str, list[ast.With]] = {}
    for block in (one for one in walk(node) if isinstance(one, ast.With)):
        item = block.items[0]
        call = item.context_expr
        if len(block.items) != 1 or name_of(module, call) != "variable_scope":
            continue
        assert isinstance(call, ast.Call)
        first = call.args[0] if call.args else None
        if isinstance(item.optional_vars, ast.Name) and _is_text(module, first):
            blocks.setdefault(item.optional_vars.id, []).append(block)
        elif item.optional_vars is None and len(call.args) == 1 and not call.keywords:
            if _is_text(module, first) and _only_computes(module, block, graph):
                func = call.func
                if isinstance(func, ast.Attribute):
                    end = source.span(func)[1]
                    found.append(Edit(end - len(func.attr), end, "name_scope"))
    for name, own in blocks.items():
        if len(names.scopes[node].bindings.get(name, ())) != len(own):
            continue  # it is something else as well
        edits: list[Edit] = []
        for mention in (n for n in walk(node) if isinstance(n, ast.Name) and n.id == name):
            if not isinstance(mention.ctx, ast.Load):
                continue
            around = next((one for one in own if one in names.ancestors(mention)), None)
            if around is None and len(own) == 1 and _is_below(module, mention, own[0]):
                around = own[0]
            attribute = names.parents[mention]
            keyword = names.parents[attribute]
            operation = name_of(module, names.parents[keyword])
            if (
                around is None
                or not isinstance(attribute, ast.Attribute)
                or attribute.attr != "name"
                or not isinstance(keyword, ast.keyword)
                or keyword.arg != "name"
                or operation == ""
                or operation.startswith(("summary.", "get_variable", "layers."))
            ):
                edits = []
                break
            made = around.items[0].context_expr
            assert isinstance(made, ast.Call)
            edits.append(Edit(*source.span(attribute), source.code(made.args[0])))
        else:
            for block in own:
                item = block.items[0]
                assert item.optional_vars is not None
                start, end = source.span(item.context_expr)[1], source.span(item.optional_vars)[1]
                if not re.fullmatch(r"\s+as\s+\w+", source.text[start:end]):
                    return []
                edits.append(Edit(start, end, ""))
            found += edits
    return found
