"""Expressions that take all variables of the graph, or all its regularization terms."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.losses import is_regularization
from migrate_mgpu.models.front.session.expressions import Parts, is_all_variables
from migrate_mgpu.models.front.session.program import AllVariables
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.ir import Collected, Layer, Variables

# What Keras calls a layer's variables, as TF1 does, in each of their names.
_OWN_NAMES = ("kernel", "bias", "gamma", "beta")
_KNOWN = ("shape", "dtype", "get_shape")


class CollectionReader(StatementReader):
    """Reads what TF1 collects as the graph is built: the collection has what was made before."""

    def __init__(self, state: Reading) -> None:
        super().__init__(state)
        self._asked: list[ast.expr] = []  # in the towers

    def read(self, parts: Parts, value: ast.AST) -> list[Variables]:
        """The variables that an expression mentions as all that there are.

        Raises:
            Refused: TF2 has not the same ones there.
        """
        found: list[Variables] = []
        named = [name for name in parts.names if self._is_list(name)]
        for node in (*parts.collections, *named):
            self._check_towers(node)
            if parts.layers or parts.applied:
                text = "layers are made in the same expression"
                raise Refused(self.module, node, text, "make them in a statement before")
            variables = self._collected(node)
            if not variables:
                raise Refused(self.module, node, "nothing is collected before it")
            self.found.collected[node] = variables
            found += variables
        if found:
            self._check_names(value, found)
        return found

    def _check_towers(self, node: ast.expr) -> None:
        """Towers have the same variables, where each asks for all of them in its own body.

        So they have the same terms of regularizers: what makes a variable again collects none.

        Raises:
            Refused: it is asked for something else, or beside them.
        """
        if self.scope.towers is None:
            return
        inside = is_inside(self.module, node, {self.scope.towers.loop})
        all_terms = is_regularization(self.module, node)
        if not inside or not (all_terms or is_all_variables(self.module, node)):
            text = "all variables are asked for in a program of towers"
            raise Refused(self.module, node, text)
        self._asked.append(node)

    def finish(self) -> None:
        """The first tower has made all variables where it asks for them: the others have all.

        Raises:
            Refused: it makes some later.
        """
        for node in self._asked:
            if set(self._collected(node)) != set(self.found.collected[node]):
                text = "the first tower asks for all variables before it has made them all"
                raise Refused(self.module, node, text, "ask for them where the tower ends")

    def _is_list(self, name: ast.Name) -> bool:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        return home is self.home and isinstance(self.meanings.get(name.id), AllVariables)

    def _collected(self, node: ast.expr) -> tuple[Variables, ...]:
        meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(meaning, AllVariables):
            return meaning.variables
        if is_regularization(self.module, node):
            return tuple(self._regularized())
        own = (one for one in self.found.variables if one not in self.state.earlier)
        return tuple(one for one in own if one.trainable)

    def _regularized(self) -> Iterator[Variables]:
        """The variables of layers that have regularizers, functions of layers among them."""
        for operation in self.found.made:
            if not is_none(operation.arguments.get("regularizer", ast.Constant(None))):
                text = "a variable has a regularizer of its own"
                raise Refused(self.module, operation.node, text, "add its term to the loss")
        for module in (self.module, *self.state.beside):
            for call in module.names.calls:
                if ".keras.layers." in (module.names.qualname(call.func) or "") and _has(call):
                    text = "TF1 does not collect the terms of Keras's layers"
                    raise Refused(module, call, text, "add the term to the loss")
        in_functions = self._functions_regularize()
        for made in self.found.layers.values():
            helper, layer = made.found.helper, made.found.layer
            if helper is not None:
                if in_functions:
                    yield made.variables
            elif isinstance(layer, Layer) and any(
                name.endswith("regularizer") and not is_none(value)
                for name, value in layer.arguments.items()
            ):
                yield made.variables

    def _functions_regularize(self) -> bool:
        """Whether some function that makes layers gives one a regularizer."""
        helpers = self.found.layer_helpers
        waiting = [one.function for one in helpers.found.values()] if helpers is not None else []
        seen = {one.node for one in waiting}
        for function in waiting:  # grows
            for part in walk(function.node):
                if not isinstance(part, ast.Call):
                    continue
                if _has(part):
                    return True
                inner = self.graph.target(function.module, part.func)
                if inner is not None and inner.node not in seen:
                    seen.add(inner.node)
                    waiting.append(inner)
        return False

    # -- names -------------------------------------------------------------------

    def _check_names(self, value: ast.AST, variables: list[Variables]) -> None:
        """What is asked of each variable is the same in TF2: its shape, a part of its name."""
        for part in walk(value):
            if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name):
                continue
            home = self.names.defining_scope(part.value.id, self.names.scope_of_name[part.value])
            if home is None or not isinstance(home.node, COMPREHENSIONS) or part.attr in _KNOWN:
                continue
            asked: ast.AST = part
            if lowered := self._lowered(part):
                asked = lowered
            test = self.names.parents.get(asked)
            if not (
                part.attr == "name"
                and isinstance(test, ast.Compare)
                and len(test.ops) == 1
                and isinstance(test.ops[0], (ast.In, ast.NotIn))
                and test.comparators[0] is asked
                and isinstance(wanted := constant(test.left), str)
                and all(self.keeps_name(one, wanted, bool(lowered)) for one in variables)
            ):
                text = f"`{part.value.id}.{part.attr}` is something else in TF2"
                raise Refused(self.module, part, text, "make a list of the variables' names")

    def _lowered(self, name: ast.Attribute) -> ast.Call | None:
        """`v.name.lower()`"""
        method = self.names.parents.get(name)
        call = self.names.parents.get(method) if isinstance(method, ast.Attribute) else None
        plain = isinstance(call, ast.Call) and call.func is method and not call.args
        lowers = isinstance(method, ast.Attribute) and method.attr == "lower"
        return call if plain and lowers and isinstance(call, ast.Call) else None

    def keeps_name(self, variables: Variables, wanted: str, lowered: bool = False) -> bool:
        """Whether the names of variables have a word in TF2 where they had it in TF1.

        ``lowered``: in lower case.
        """
        if lowered and not wanted.islower():
            return False
        if variables.collected is not Collected.LAYER:
            known = "variable" if lowered else "Variable"
            return bool(variables.made) and all(
                "name" in one.arguments or _is_in_no_default(wanted, known)
                for one in variables.made
            )
        return wanted in _OWN_NAMES and not any(
            wanted in (given.value.lower() if lowered else given.value)
            for module in (self.module, *self.state.beside)
            for call in module.names.calls
            if name_of(module, call)
            for given in (*call.args, *(k.value for k in call.keywords if k.arg == "name"))
            if isinstance(given, ast.Constant) and isinstance(given.value, str)
        )


def _has(call: ast.Call) -> bool:
    """Whether a layer gets a regularizer."""
    return any(
        keyword.arg is not None
        and keyword.arg.endswith("regularizer")
        and not is_none(keyword.value)
        for keyword in call.keywords
    )


def _is_in_no_default(word: str, default: str) -> bool:
    """Whether no name that TF1 makes up for a variable (`Variable_1:0`) has a word."""
    return word.isalpha() and word not in default and default not in word
