"""`slim.arg_scope`: the calls below it are given its arguments, and it goes.

    with slim.arg_scope([slim.conv2d], padding='SAME', activation_fn=tf.nn.relu):
        net = slim.conv2d(x, 8, [3, 3], padding='VALID')

becomes `net = slim.conv2d(x, 8, [3, 3], padding='VALID', activation_fn=tf.nn.relu)`. So do the
calls in a function of the same module that is called below such blocks alone, where the arguments
mean the same. Scopes with names, those that functions make, and functions handed on stay.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

SCOPES = ("contrib.framework.arg_scope", "contrib.slim.arg_scope", "contrib.layers.arg_scope")
_MADE = ("contrib.layers.l2_regularizer", "contrib.layers.l1_regularizer")
_NORM = "contrib.batch_norm"
_NORMALIZED = ("normalizer_fn", "normalizer_params", "activation_fn", "biases_initializer")
_OTHER = ("reuse", "variables_collections", "outputs_collections", "trainable", "data_format")
_CALLED = "contrib.fully_connected"
_PARTIAL = tuple(f"contrib.layers.{name}" for name in ("relu", "relu6", "linear", "elu"))
_WITH_RELU = tuple(
    f"contrib.layers.{name}" for name in ("fully_connected", "conv2d", "convolution2d")
)
_METHODS = (
    "append", "apply_gradients", "as_list", "compute_gradients", "extend", "format", "get_next",
    "get_shape", "items", "join", "keys", "minimize", "reuse_variables", "set_shape", "update",
    "values",
)  # fmt: skip
_DEEP = 8  # functions that call each other below a scope


class _Stays(Exception):
    """What a scope gives, or to which calls, is not understood."""


@fact_of_text
def has_scopes(module: Module) -> bool:
    return "arg_scope" in module.source.text


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one scope that has no other one in it; none where there is none."""
    if not has_scopes(module):
        return []
    calls = calls_of_names(module)
    scopes = [call for name in SCOPES for call in calls.get(name, ())]
    for call in scopes:
        block = module.names.statement(call)
        if not isinstance(block, ast.With) or any(
            other is not call and is_inside(module, other, {*block.body}) for other in scopes
        ):
            continue
        try:
            return _Scope(module, graph, call, block, scopes).edits()
        except _Stays:
            continue
    return []


def normalizers_apart(module: Module) -> list[Edit]:
    """`slim.conv2d(x, 8, [3, 3], normalizer_fn=slim.batch_norm, scope='c')` becomes its parts.

    That is a layer without bias and activation, the normalization, called `c/BatchNorm` as it is
    in the layer's scope, and the activation.
    """
    if "normalizer_fn" not in module.source.text:
        return []
    for name, calls in calls_of_names(module).items():
        row = LAYERS.by_name.get(name)
        if row is None or name not in _WITH_RELU:
            continue
        for call in calls:
            if any(keyword.arg == "normalizer_fn" for keyword in call.keywords):
                edits = _parts(module, call, row.signature)
                if edits:
                    return edits
    return []


def _parts(module: Module, call: ast.Call, signature: Sequence[str]) -> list[Edit]:
    statement, source = module.names.statement(call), module.source
    told = by_parameter(call, signature)
    norm, scope = told["normalizer_fn"], constant(told.get("scope"))
    if is_none(norm) and not any(k.arg is None for k in call.keywords):
        # Nothing is normalized: what it would be given says nothing.
        own = [k for k in call.keywords if k.arg not in ("normalizer_fn", "normalizer_params")]
        texts = [source.code(one) for one in call.args]
        texts += [f"{k.arg}={source.code(k.value)}" for k in own]
        plain = "#" not in source.code(call)
        new = f"{source.code(call.func)}({_joined(texts)})"
        gone = _unread(module, told.get("normalizer_params"))
        return [Edit(*source.span(call), new), *gone] if plain else []
    row = LAYERS.by_name.get(name_of(module, norm))
    if not isinstance(statement, (ast.Assign, ast.Return)) or statement.value is not call:
        return []
    if row is None or row.kind != _NORM or not isinstance(scope, str) or not scope:
        return []
    if "**" in told or any(isinstance(one, ast.Starred) for one in call.args):
        return []
    layout, code = Layout(source, statement), source.code(call)
    if any(name in told for name in _OTHER) or "#" in code or not layout.owns_lines:
        return []
    given = [k.arg for k in call.keywords]
    if any(name in told and name not in given for name in _NORMALIZED):
        return []  # by their places
    settings = _settings(module, told.get("normalizer_params"))
    activation = told.get("activation_fn")
    if activation is None:
        applied = f"{_tensorflow(module)}.nn.relu"
    elif is_none(activation):
        applied = ""
    elif isinstance(activation, (ast.Name, ast.Attribute)):
        applied = source.code(activation)
    else:
        return []
    if settings is None or applied.startswith("."):
        return []
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return []
        result = target.id
    else:
        result = module.names.fresh(module.names.scope_at(statement), "normalized", "normalized_1")
    settings.setdefault("is_training", "True")
    kept = [source.code(one) for one in call.args]
    kept += [f"{k.arg}={source.code(k.value)}" for k in call.keywords if k.arg not in _NORMALIZED]
    kept += ["activation_fn=None", "biases_initializer=None"]
    more = [f"{name}={text}" for name, text in settings.items()]
    more.append(f'scope="{scope}/BatchNorm"')
    lines = [
        f"{result} = {source.code(call.func)}({_joined(kept)})",
        f"{result} = {source.code(norm)}({_joined([result, *more])})",
    ]
    lines += [f"{result} = {applied}({result})"] if applied else []
    lines += [f"return {result}"] if isinstance(statement, ast.Return) else []
    if any("\n" in line for line in lines):
        return []
    return [layout.replace(lines), *_unread(module, told.get("normalizer_params"))]


def _unread(module: Module, node: ast.expr | None) -> list[Edit]:
    """The edit for a dictionary of settings that nothing but this layer mentions: it goes."""
    binding = module.names.only_binding(node) if isinstance(node, ast.Name) else None
    if not isinstance(node, ast.Name) or binding is None or not isinstance(binding.value, ast.Dict):
        return []
    mentions = list(module.names.mentions(node.id, module.names.scope_of_name[node]))
    statement = module.names.statement(binding.node)
    alone = isinstance(statement, ast.Assign) and statement.targets == [binding.node]
    if len(mentions) != 2 or not alone or not Layout(module.source, statement).owns_lines:
        return []
    return [without_paragraph(module.source, statement)]


def _kind(kind: str) -> str:
    """`slim.convolution2d` is `slim.conv2d`."""
    return kind.replace("convolution", "conv")


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(" ".join(line.strip() for line in one.splitlines()) for one in texts)


def _settings(module: Module, node: ast.expr | None) -> dict[str, str] | None:
    """What a dictionary gives the normalization; None where that is not seen."""
    if node is None or is_none(node):
        return {}
    if isinstance(node, ast.Name):
        binding = module.names.only_binding(node)
        if binding is None or binding.value is None:
            return None
        mentions = module.names.mentions(node.id, module.names.scope_of_name[node])
        for one in mentions:
            parent = module.names.parents.get(one)
            whole = isinstance(parent, ast.keyword) and parent.arg == "normalizer_params"
            if one is not binding.node and not whole:
                return None
        node = binding.value
    if not isinstance(node, ast.Dict):
        return None
    keys = [constant(key) for key in node.keys]
    if not all(isinstance(key, str) and key.isidentifier() for key in keys) or "scope" in keys:
        return None
    if "activation_fn" in keys or "reuse" in keys:
        return None
    for value in node.values:
        names = [part for part in walk(value) if isinstance(part, ast.Name)]
        if any(isinstance(part, ast.Call) for part in walk(value)) or any(
            not module.names.qualname(one) and module.names.only_binding(one) is None
            for one in names
        ):
            return None
    return {str(key): module.source.code(value) for key, value in zip(keys, node.values)}


def _tensorflow(module: Module) -> str:
    """How the module calls TensorFlow; empty where that is not seen."""
    for name, calls in calls_of_names(module).items():
        shown = module.source.code(calls[0].func) if calls else ""
        if shown.endswith(f".{name}"):
            return shown[: -len(name) - 1]
    return ""


class _Scope:
    """``call`` opens the scope of a block; ``scopes`` are all that a module opens."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        call: ast.Call,
        block: ast.With,
        scopes: Sequence[ast.Call],
    ) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.call = call
        self.block = block
        self.scopes = scopes
        self.functions: set[str] = set()
        self.mentions: set[ast.expr] = set()
        self.values: dict[str, str] = {}
        self.given: list[Edit] = []
        self.reached: set[ast.AST] = set()

    def edits(self) -> list[Edit]:
        self._read()
        for statement in self.block.body:
            self._body(statement)
        for node in list(self.reached):
            self._function(node)
        return self._without_scope()

    # -- what it gives -----------------------------------------------------------------------

    def _read(self) -> None:
        items = [one for one in self.block.items if one.context_expr is self.call]
        if len(items) != 1 or items[0].optional_vars is not None or len(self.call.args) != 1:
            raise _Stays
        listed = self.call.args[0]
        if not isinstance(listed, (ast.List, ast.Tuple)) or not listed.elts:
            raise _Stays
        for one in listed.elts:
            name = name_of(self.module, one)
            row = LAYERS.by_name.get(name)
            if row is None or not row.inputs or not name.startswith("contrib."):
                raise _Stays
            if name in _PARTIAL:
                raise _Stays
            self.functions.add(_kind(row.kind))
            if row.kind == _NORM and "normalizer_fn" in self.source.text:
                raise _Stays  # layers call it too, `normalizer_fn=slim.batch_norm`
        for keyword in self.call.keywords:
            if keyword.arg is None or not self._is_plain(keyword.value):
                raise _Stays
            code = self.source.code(keyword.value)
            if "#" in code or '"""' in code or "'''" in code:
                raise _Stays
            self.values[keyword.arg] = " ".join(line.strip() for line in code.splitlines())

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an argument means the same wherever it stands, and as often as it does."""
        for part in walk(node):
            if isinstance(part, ast.Call):
                name = name_of(self.module, part)
                if name not in INITIALIZERS.by_name and name not in _MADE:
                    return False
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                known = name_of(self.module, part) or self.names.only_binding(part)
                if not known and not self.names.qualname(part):
                    return False
            elif isinstance(part, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Starred)):
                return False
        return True

    # -- who gets it -------------------------------------------------------------------------

    def _body(self, whole: ast.AST) -> None:
        for part in walk(whole):
            if isinstance(part, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                raise _Stays
            if isinstance(part, (ast.Name, ast.Attribute)) and self._is_listed(part):
                call = self.names.parents.get(part)
                if not isinstance(call, ast.Call) or call.func is not part:
                    raise _Stays  # it is handed on, `slim.repeat(net, 2, slim.conv2d, 64)`
                self._give(call)
            if isinstance(part, ast.Call):
                self._called(part)
            elif isinstance(part, (ast.Name, ast.Attribute)):
                self._handed(part)

    def _handed(self, node: ast.Name | ast.Attribute) -> None:
        """What is given a function of the author's below the scope may call it there."""
        call = self.names.parents.get(node)
        if isinstance(call, ast.Call) and call.func is node:
            return
        target = self.graph.target(self.module, node)
        if target is not None and self._makes_layers(target, 0):
            raise _Stays

    def _is_listed(self, node: ast.expr) -> bool:
        name = name_of(self.module, node)
        if name in _PARTIAL and _CALLED in self.functions:
            raise _Stays  # it calls one that the scope is for
        row = LAYERS.by_name.get(name)
        return row is not None and _kind(row.kind) in self.functions

    def _called(self, call: ast.Call) -> None:
        """A function of the author's below the scope gets it too."""
        target = self.graph.target(self.module, call.func)
        if target is None:
            if not self._is_known(call):
                raise _Stays
            return
        if not self._makes_layers(target, 0):
            return
        if target.module is not self.module or target.owner is not None:
            raise _Stays
        if not isinstance(target.node, ast.FunctionDef) or len(self.reached) > _DEEP:
            raise _Stays
        self.reached.add(target.node)

    def _is_known(self, call: ast.Call) -> bool:
        """Whether a call is seen to reach no function of the author's."""
        func = call.func
        if name_of(self.module, call):
            return True
        qualname = self.names.qualname(func) or ""
        if qualname.startswith(("builtins.", "numpy.")):
            return self.graph.class_of(self.module, func) is None
        return isinstance(func, ast.Attribute) and func.attr in _METHODS

    def _makes_layers(self, function: Function, deep: int) -> bool:
        """Whether a function, or one that it calls, has layers of such kinds."""
        module = function.module
        for part in walk(function.node):
            if isinstance(part, (ast.Name, ast.Attribute)):
                name = name_of(module, part)
                row = LAYERS.by_name.get(name)
                if row is not None and name.startswith("contrib."):
                    return True
            inner = self.graph.target(module, part.func) if isinstance(part, ast.Call) else None
            if inner is not None and inner.node is not function.node:
                if deep > _DEEP or self._makes_layers(inner, deep + 1):
                    return True
        return False

    def _function(self, node: ast.AST) -> None:
        """The layers of a function that is called below this scope alone, and below no other."""
        assert isinstance(node, ast.FunctionDef)
        for reference in self.graph.references(Function(self.module, node)):
            call = reference.call
            if call is None or reference.module is not self.module:
                raise _Stays
            if not is_inside(self.module, call, {*self.block.body}):
                raise _Stays
        if any(is_inside(self.module, one, {node}) for one in self.scopes):
            raise _Stays
        if not self._are_of_module():
            raise _Stays
        before = len(self.reached)
        for statement in node.body:
            self._body(statement)
        if len(self.reached) > before:
            raise _Stays  # functions of functions

    def _are_of_module(self) -> bool:
        """Whether all that the arguments mention is the module's, before the function is called."""
        own = {
            part
            for keyword in self.call.keywords
            for part in walk(keyword.value)
            if isinstance(part, ast.Name)
        }
        scopes = (self.names.defining_scope(n.id, self.names.scope_of_name[n]) for n in own)
        return all(scope is None or scope.is_module for scope in scopes)

    def _give(self, call: ast.Call) -> None:
        row = LAYERS.by_name[name_of(self.module, call)]
        if any(isinstance(one, ast.Starred) for one in call.args):
            raise _Stays
        if any(keyword.arg is None for keyword in call.keywords):
            raise _Stays
        told = {*row.signature[: len(call.args)], *(keyword.arg for keyword in call.keywords)}
        new = [f"{name}={text}" for name, text in self.values.items() if name not in told]
        code = self.source.code(call)
        if not new:
            return
        if "#" in code:
            raise _Stays
        end = self.source.span(call)[1] - 1
        inside = self.source.text[:end].rstrip()
        separator = "" if inside.endswith("(") else " " if inside.endswith(",") else ", "
        self.given.append(Edit(len(inside), end, separator + ", ".join(new)))

    # -- the block ---------------------------------------------------------------------------

    def _without_scope(self) -> list[Edit]:
        layout, source = Layout(self.source, self.block), self.source
        if not layout.owns_start:
            raise _Stays
        inside = [one for one in self.given if layout.start <= one.start < layout.next_line]
        beside = [one for one in self.given if one not in inside]
        items = self.block.items
        if len(items) > 1:
            place = [one.context_expr for one in items].index(self.call)
            if place:
                before = items[place - 1].optional_vars or items[place - 1].context_expr
                gone = Edit(source.span(before)[1], source.span(self.call)[1], "")
            else:
                gone = Edit(source.span(self.call)[0], source.span(items[1].context_expr)[0], "")
            return [gone, *inside, *beside]
        block = Block(source, layout.indent)
        for statement in self.block.body:
            block.statement(statement, inside)
        return [Edit(layout.line_start, layout.next_line, block.text()), *beside]
