"""The trained variables below a scope: `tf.get_collection(TRAINABLE_VARIABLES, "generator")`.

Or those that have a word in their names: `[v for v in tf.trainable_variables() if "d_" in v.name]`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.expressions import is_all_variables
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.helper_names import name_given, scope_of
from migrate_mgpu.models.front.session.object_scopes import asked_scope
from migrate_mgpu.models.front.session.program import (
    AllVariables,
    Averager,
    AverageStep,
    GlobalVariables,
    MadeLayer,
)
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Collected, Layer, Update, Variables

_ADVICE = "make a list of the variables"


@record(frozen=True)
class Word:
    """What the names of some variables begin with, or have anywhere (``inside``)."""

    text: str
    inside: bool = False
    own: bool = False  # the name of each object's scope, which the text is written as


class ScopedVariables(StatementReader):
    """Tells which variables of the graph have names that begin with a word, or have it."""

    def word(self, node: ast.expr | None) -> Word | None:
        """What tells the variables by their names that an expression asks for; None for others."""
        if isinstance(node, ast.ListComp):
            return self._of_comprehension(node)
        if not isinstance(node, ast.Call):
            return None
        scope = asked_scope(self.module, node)
        own = self.state.object_scope
        if scope is not None and own is not None and self.module.source.code(scope) == own.name:
            return Word(own.name, own=True) if self.runs.is_home(scope) else None
        return _word(scope)

    def global_word(self, node: ast.expr | None) -> Word | None:
        """The same for `tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, "target")`."""
        return _word(asked_scope(self.module, node, every=True))

    def every_below(self, node: ast.expr, word: Word) -> GlobalVariables:
        """All variables whose names begin with a word, trained or not.

        Raises:
            Refused: TF1's names of some are not known so far, there are none, or some are none of
                the author's.
        """
        if self.found.metrics or any(made.normalizes for made in self.found.layers.values()):
            text = "all variables of a scope, with averages or metrics among them"
            raise Refused(self.module, node, text, _ADVICE)
        every = (
            v for v in self.found.variables if v.collected is not Collected.LAYER or v.trainable
        )
        own = (one for one in every if one not in self.state.earlier)
        found = [one for one in own if self._fits(one, word, node)]
        if not found:
            self._refuse_none(node, word)
        slots = any(isinstance(m, (Averager, AverageStep)) for m in self.meanings.values())
        for update in self.found.updates:
            if update.optimizer.kinds == {"gradient_descent"}:
                continue
            moved = self._moved(update) & {*found}
            slots |= bool(moved)
            if any(one.unit.lineno > update.statement.lineno for one in found) and moved:
                text = "slots of an optimizer are between these variables"
                raise Refused(self.module, node, text, _ADVICE)
        return GlobalVariables(tuple(found), slots)

    def _moved(self, update: Update) -> set[Variables]:
        """What an update may have gradients for: TF1's optimizers have slots of that alone."""
        reached: set[Variables] = set()
        waiting, seen = [update.unit], {update.unit}
        while waiting:
            unit = waiting.pop()
            value = unit.node.value if isinstance(unit.node, ast.Assign) else unit.node
            if name_of(self.module, value) == "stop_gradient":
                continue
            reached.update(one for v in (*unit.reads, *unit.collects) for one in (v, *v.listed))
            waiting += (one for one in unit.after if one not in seen)
            seen.update(unit.after)
        trained = {one for v in update.variables for one in (v, *v.listed)}
        return {one for one in reached & trained if not self._is_fixed(one)}

    def _is_fixed(self, variables: Variables) -> bool:
        """Whether a layer's variables are not trained."""
        made = next((m for m in self.found.layers.values() if m.variables is variables), None)
        layer = made.found.layer if made is not None else None
        given = layer.arguments.get("trainable") if isinstance(layer, Layer) else None
        return given is not None and constant(given) is False

    def is_trained(self, variables: Variables) -> bool:
        """Whether TF1 collects the variables as trainable ones, as far as is written out."""
        if variables.collected is not Collected.LAYER:
            return variables.trainable
        made = next(m for m in self.found.layers.values() if m.variables is variables)
        layer = made.found.layer
        given = layer.arguments.get("trainable") if isinstance(layer, Layer) else None
        if made.found.helper is not None:
            return variables.trainable and self._trains_all(variables)
        plain = not made.calls
        return variables.trainable and plain and (given is None or constant(given) is True)

    def _trains_all(self, variables: Variables) -> bool:
        """Whether all that a function which becomes a class of layers makes is seen to train."""
        try:
            named = GraphNames(self.found, self.graph).with_loops(variables)
        except Refused:
            return False
        told = (one.told.names if one.told is not None else (("", one.trained),) for one in named)
        return all(trained for names in told for _, trained in names)

    def _of_comprehension(self, node: ast.ListComp) -> Word | None:
        """`[v for v in tf.trainable_variables() if v.name.startswith("generator")]`

        Or `if "d_" in v.name`, where all variables of a layer have it in their names, or none.
        """
        if len(node.generators) != 1 or not isinstance(node.elt, ast.Name):
            return None
        each = node.generators[0]
        source = each.iter
        meaning = self.meanings.get(source.id) if isinstance(source, ast.Name) else None
        if not is_all_variables(self.module, source) and not isinstance(meaning, AllVariables):
            return None
        test = each.ifs[0] if len(each.ifs) == 1 else None
        name = f"{node.elt.id}.name"
        if ast.unparse(each.target) != node.elt.id:
            return None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
            known = [ast.unparse(one) for one in test.comparators] == [name]
            text = _text(test.left) if known else None
            word = Word(text, inside=True) if text is not None else None
            return word if word is not None and self._is_told(node, word) else None
        if not isinstance(test, ast.Call) or len(test.args) != 1 or test.keywords:
            return None
        return _word(test.args[0]) if ast.unparse(test.func) == f"{name}.startswith" else None

    def _is_told(self, node: ast.expr, word: Word) -> bool:
        """Whether it is seen which variables have a word in their names, and some do."""
        try:
            fits = [self._fits(one, word, node) for one in self._asked(node)]
        except Refused:
            return False
        return any(fits)

    def below(self, node: ast.expr, word: Word) -> tuple[Variables, ...]:
        """The trained variables whose names begin with a word, or have it.

        Raises:
            Refused: TF1's names of some are not known so far, or there are none.
        """
        asked = self._asked(node)
        if word.own:
            own = self.state.object_scope
            assert own is not None
            outside = next((one for one in asked if not own.has(one.unit)), None)
            if outside is not None:
                text = f"`{outside.name or 'a layer'}` is not in the scope of its object"
                raise Refused(self.module, node, text, _ADVICE)
        found = [one for one in asked if word.own or self._fits(one, word, node)]
        if not found:
            self._refuse_none(node, word)
        return tuple(found)

    def _asked(self, node: ast.expr) -> list[Variables]:
        """The trained variables among which an expression chooses."""
        source = node.generators[0].iter if isinstance(node, ast.ListComp) else None
        meaning = self.meanings.get(source.id) if isinstance(source, ast.Name) else None
        every = meaning.variables if isinstance(meaning, AllVariables) else self.found.variables
        return [one for one in every if one.trainable and one not in self.state.earlier]

    def _refuse_none(self, node: ast.expr, word: Word) -> None:
        way = "has" if word.inside else "begins with"
        raise Refused(self.module, node, f"no variable is seen whose name {way} `{word.text}`")

    def _fits(self, variables: Variables, wanted: Word, node: ast.expr) -> bool:
        """Whether the names of variables begin with a word, or have it.

        Raises:
            Refused: that cannot be determined.
        """
        answers = set()
        word = wanted.text
        if wanted.inside:
            answers = {word in f"{name}:0" for name in self._trained_names(variables, word)}
            if len(answers) > 1:
                text = f"some variables of one statement have `{word}` in their names"
                raise Refused(self.module, node, text, _ADVICE)
            return bool(answers) and answers.pop()  # a layer may have none
        if any(one.kind == "Variable" for one in variables.made) and re.search(r"/|_\d+$", word):
            text = f"TF1 may number the scope of `{variables.name}`: `{word}`"  # as `scope_1/w`
            raise Refused(self.module, node, text, _ADVICE)
        for name, complete in self._names(variables):
            if not complete and word.startswith(name) and not name.startswith(word):
                text = f"whether `{variables.name or 'a layer'}` has a name that begins with"
                raise Refused(self.module, node, f"{text} `{word}` cannot be determined", _ADVICE)
            answers.add(name.startswith(word))
        if len(answers) != 1:
            text = f"some variables of one statement have names that begin with `{word}`"
            raise Refused(self.module, node, text, _ADVICE)
        return answers.pop()

    def _trained_names(self, variables: Variables, word: str) -> Iterator[str]:
        """The names of what is trained; of a network's loops those of two rounds, where they tell
        whether a word is in all of them.

        Raises:
            Refused: they cannot be determined.
        """
        names = GraphNames(self.found, self.graph)
        for one in names.with_loops(variables):
            if one.told is not None and not re.search(r"\d", word):
                yield from (name for name, trained in one.told.names if trained)
            elif one.told is not None or one.rounds is not None:
                names.of(variables)  # which says why
            elif one.trained:
                yield one.name

    def _names(self, variables: Variables) -> list[tuple[str, bool]]:
        """What the names of variables begin with, and whether that is all of them."""
        if variables.collected is Collected.LAYER:
            layer = next(m for m in self.found.layers.values() if m.variables is variables)
            return [self._of_layer(layer)]
        found: list[tuple[str, bool]] = []
        for made in variables.made:
            path = self.found.scopes.get(made.node)
            name = _text(made.arguments.get("name"))
            default = "Variable" if made.kind == "Variable" else ""
            known = path is not None and name is not None
            found.append(("" if path is None else path + (name or default), known))
        return found

    def _of_layer(self, made: MadeLayer) -> tuple[str, bool]:
        """What the names of a layer's variables begin with, and whether that is its name."""
        found, unit = made.found, made.variables.unit
        entry = next((e for e in self.scope.entries if e.statement is unit), None)
        scopes = entry.scopes if entry is not None else ()
        path = "".join(f"{name}/" for kind, name in scopes if kind == "variable_scope")
        if found.helper is None:
            inner = self._within(made)
            if inner is None:
                return path, False
            told = name_given(found.call)
            begin = scope_of(self.module, found.call)
            if told is not None and not is_none(told):
                known = _text(told)
                begin = "" if known is None else f"{known}/"
            return path + inner + begin, False
        function = found.helper.function
        own = [one for one in function.node.body if isinstance(one, ast.With)]
        inside = {part for one in own[:1] for part in walk(one)}
        calls = (n for n in walk(function.node) if isinstance(n, ast.Call))
        makes = (call for call in calls if self._makes(function.module, call))
        if len(own) != 1 or not all(call in inside for call in makes):
            return path, False
        name = self._scope(own[0], function, found.call)
        return (path, False) if name is None else (f"{path}{name}/", False)

    def operations_begin(self, made: MadeLayer, scope: ast.expr) -> bool:
        """Whether the names of a layer's operations begin with a scope, wherever it is applied.

        TF1 numbers the scope of a network that is applied again: `generator_1/...`.

        Raises:
            Refused: that cannot be determined.
        """
        word = _text(scope)
        if word is None or not word or re.search(r"/|_\d*$", word):
            raise Refused(self.module, scope, "a scope that operations are chosen by is computed")
        nodes = {node for node, _ in made.applications}
        around = {one.scopes for one in self.scope.entries if one.statement in nodes}
        plain = all(kind == "variable_scope" for scopes in around for kind, _ in scopes)
        name, _ = self._of_layer(made)
        first = name.partition("/")[0]
        if len(around) != 1 or not plain or not first:
            text = "the names of a layer's operations cannot be determined"
            raise Refused(self.module, made.found.call, text)
        if word.startswith(f"{first}_") or (first.startswith(word) and first != word):
            text = f"whether the operations of `{first}` begin with `{word}` cannot be determined"
            raise Refused(self.module, scope, text)
        return first == word

    def _within(self, made: MadeLayer) -> str | None:
        """The scopes around a layer in the function that makes it, if one does."""
        call = made.calls[0] if made.calls else None
        path = ""
        for parent in self.names.ancestors(made.found.call) if call is not None else ():
            if isinstance(parent, ast.FunctionDef):
                break
            if isinstance(parent, ast.With) and call is not None:
                target = self.graph.target(self.module, call.func)
                name = self._scope(parent, target, call) if target is not None else None
                if name is None:
                    return None
                path = f"{name}/{path}"
        return path

    def _scope(self, block: ast.With, function: Function, call: ast.Call) -> str | None:
        """The name of a scope in a function, which may be given it; None if it is not seen."""
        scope = block.items[0].context_expr
        if len(block.items) != 1 or name_of(function.module, scope) != "variable_scope":
            return None
        name = scope.args[0] if isinstance(scope, ast.Call) and scope.args else None
        if isinstance(name, ast.Name):
            name = bind(call, function).values().get(name.id)
        return _text(name)

    def _makes(self, module: Module, call: ast.Call) -> bool:
        """Whether a call in a function with layers may make a variable."""
        name = name_of(module, call)
        target = self.graph.target(module, call.func)
        return name in VARIABLES.by_name or name in LAYERS.by_name or target is not None


def all_of(node: ast.expr) -> ast.expr:
    """What a comprehension goes through and leaves nothing out of: `[v for v in variables]`.

    `if "encoder" or "decoder" in v.name` holds for every one: the first text is true.
    """
    each = node.generators[0] if isinstance(node, ast.ListComp) else None
    if each is None or not isinstance(node, ast.ListComp) or len(node.generators) > 1:
        return node
    same = isinstance(node.elt, ast.Name) and ast.unparse(each.target) == node.elt.id
    return each.iter if same and all(map(_always_holds, each.ifs)) else node


def _always_holds(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        plain = (ast.Compare, ast.Constant, ast.Name, ast.Attribute)
        asked = (part for part in walk(test) if isinstance(part, ast.Call))
        return (
            any(map(_always_holds, test.values))
            and not any(asked)
            and all(isinstance(one, plain) for one in test.values)
        )
    return isinstance(test, ast.Constant) and bool(test.value)


def _word(node: ast.expr | None) -> Word | None:
    text = _text(node)
    return Word(text) if text is not None else None


def _text(node: ast.expr | None) -> str | None:
    """A word that is written out, and matches itself alone."""
    found = constant(node) if node is not None else None
    return found if isinstance(found, str) and re.fullmatch(r"[\w/]+", found) else None
