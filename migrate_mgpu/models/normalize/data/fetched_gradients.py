"""Pairs of gradients and variables that runs fetch: the tensors that they are made of.

    gvs = optimizer.compute_gradients(cost, [w])
    ...
    values, _ = sess.run([gvs, train_op])

becomes

    gvs = optimizer.compute_gradients(cost, [w])
    w_gradient, = tf.gradients(cost, [w])
    ...
    w_gradient_value, w_value, _ = sess.run([w_gradient, w, train_op])
    values = [(w_gradient_value, w_value)]

where the variables are told, or have names. And what minimizes by gradient descent,
which makes no variable, and is never run, goes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.data.feedable_iterators import is_executed
from migrate_mgpu.models.normalize.data.fetched_variables import trained_names
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_COMPUTED = ("loss", "var_list")
_RUN = ("fetches", "feed_dict")
_DESCENT = ("train.GradientDescentOptimizer",)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one run that fetches such pairs; none where there is none."""
    if "compute_gradients" not in module.names.attributes or not session_calls(module):
        return []
    for call in module.names.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "compute_gradients":
            edits = _Pairs(module, call).edits()
            if edits:
                return edits
    return []


@fact_of_text
def unread(module: Module) -> list[Edit]:
    """The edits that take away what minimizes and is never run."""
    if "minimize" not in module.names.attributes or not session_calls(module):
        return []
    names = module.names
    for call in names.calls:
        made, func = names.parents[call], call.func
        if not isinstance(func, ast.Attribute) or func.attr != "minimize":
            continue
        target = made.targets[0] if isinstance(made, ast.Assign) else None
        if not isinstance(made, ast.Assign) or not isinstance(target, ast.Name):
            continue
        value = names.only_value(func.value) if isinstance(func.value, ast.Name) else func.value
        if name_of(module, value) not in _DESCENT or len(call.args) != 1 or call.keywords:
            continue
        home = names.defining_scope(target.id, names.scope_of_name[target])
        alone = home is not None and list(names.mentions(target.id, home)) == [target]
        # The only one that trains stays: the program is one that does.
        others = [c for c in names.calls if getattr(c.func, "attr", "") == "apply_gradients"]
        if alone and others and len(made.targets) == 1 and Layout(module.source, made).owns_lines:
            return [without_paragraph(module.source, made)]
    return []


class _Pairs:
    """What `optimizer.compute_gradients(...)` gives."""

    def __init__(self, module: Module, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.call = call

    def edits(self) -> list[Edit]:
        """The edits for it; none where no run fetches it."""
        made, tf = self.names.parents[self.call], spelling(self.module, self.call)
        target = (
            made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        )
        told = by_parameter(self.call, _COMPUTED)
        variables = self._variables(told.get("var_list"))
        if not isinstance(target, ast.Name) or not tf or not told.keys() <= {*_COMPUTED}:
            return []
        if not variables or self.names.only_value(target) is not self.call or "loss" not in told:
            return []
        assert isinstance(made, ast.Assign)
        home = self.names.scope_at(self.call)
        layout = Layout(self.source, made)
        fetches = [one for one in self.names.mentions(target.id, home) if self._is_fetched(one)]
        if not fetches or not layout.owns_lines:
            return []
        new = [self.names.fresh(home, f"{one}_gradient", f"{one}_slope") for one in variables]
        found: list[Edit] = []
        for one in fetches:
            edits = self._fetched(one, new, variables)
            if edits is None:
                return []
            found += edits
        loss, listed = self.source.code(told["loss"]), ", ".join(variables)
        left = f"{', '.join(new)}{',' if len(new) == 1 else ''}"
        text = f"{left} = {tf}.gradients({loss}, [{listed}])"
        return [layout.insert_after([text]), *found]

    def _variables(self, told: ast.expr | None) -> list[str]:
        """The names of the variables that are trained, in the order of their gradients."""
        if isinstance(told, (ast.List, ast.Tuple)):
            names = [one.id for one in told.elts if isinstance(one, ast.Name)]
            return names if len(names) == len(told.elts) else []
        if told is not None:
            return []
        return trained_names(self.module, self.call)

    # -- runs -------------------------------------------------------------------------------

    def _is_fetched(self, mention: ast.Name) -> bool:
        """Whether a run fetches the pairs, alone or in a list."""
        fetches = self._fetches(mention)
        call = self.names.parents[fetches]
        func = call.func if isinstance(call, ast.Call) else None
        run = isinstance(func, ast.Attribute) and func.attr == "run"
        return run and isinstance(call, ast.Call) and call.args[:1] == [fetches]

    def _is_late(self, call: ast.Call, statement: ast.stmt) -> bool:
        """Whether something may be called before a run, in the same statement."""
        around = {*self.names.ancestors(call)}
        calls = (one for one in walk(statement) if isinstance(one, ast.Call) and one is not call)
        return any(position(one) < position(call) for one in calls if one not in around)

    def _fetches(self, mention: ast.Name) -> ast.AST:
        listed = self.names.parents[mention]
        return listed if isinstance(listed, ast.List) else mention

    def _fetched(
        self, mention: ast.Name, new: Sequence[str], variables: Sequence[str]
    ) -> list[Edit] | None:
        """What becomes of one run."""
        fetches = self._fetches(mention)
        call = self.names.parents[fetches]
        assert isinstance(call, ast.Call)
        alone = fetches is mention
        parts = fetches.elts if isinstance(fetches, ast.List) else [mention]
        statement = self.names.statement(call)
        layout = Layout(self.source, statement)
        mentioned = [one for one in walk(statement) if isinstance(one, ast.Name)]
        if not layout.owns_lines or not is_executed(self.module, call, statement):
            return None
        if sum(one.id == mention.id for one in mentioned) != 1 or self._is_late(call, statement):
            return None
        pairs = [part for pair in zip(new, variables) for part in pair]
        fetched = ", ".join(pairs)
        edit = Edit(*self.source.span(mention), f"[{fetched}]" if alone else fetched)
        place, home = parts.index(mention), self.names.scope_at(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not alone and isinstance(target, ast.Tuple) and len(target.elts) == len(parts):
            taken = target.elts[place]
            if isinstance(statement, ast.Assign) and statement.value is call:
                if not isinstance(taken, ast.Name) or len(statement.targets) > 1:
                    return None
                values = [self.names.fresh(home, f"{one}_value", f"{one}_result") for one in pairs]
                both = [f"({a}, {b})" for a, b in zip(values[::2], values[1::2])]
                behind = layout.insert_after([f"{taken.id} = [{', '.join(both)}]"])
                return [edit, Edit(*self.source.span(taken), ", ".join(values)), behind]
        if isinstance(statement, ast.Assign) and not alone:
            return None
        if any(isinstance(one, ast.Starred) for one in parts):
            return None
        taken_names: list[str] = []
        shown: list[str] = []
        for index, one in enumerate(parts):
            known = pairs if index == place else [one.id if isinstance(one, ast.Name) else "part"]
            own: list[str] = []
            for name in known:
                words = [
                    f"{name}_value",
                    f"{name}_result",
                    *(f"{name}_value_{i}" for i in range(2, 9)),
                ]
                fresh = next((w for w in words if w not in taken_names), "")
                if not fresh or self.names.fresh(home, fresh) != fresh:
                    return None
                taken_names.append(fresh)
                own.append(fresh)
            both = [f"({a}, {b})" for a, b in zip(own[::2], own[1::2])]
            shown.append(f"[{', '.join(both)}]" if index == place else own[0])
        start, end = self.source.span(call)
        at = self.source.span(mention)
        run = self.source.text[start : at[0]] + edit.new + self.source.text[at[1] : end]
        if "\n" in run:
            return None
        above = layout.insert_before([f"{', '.join(taken_names)} = {run}"])
        return [above, Edit(start, end, shown[0] if alone else f"[{', '.join(shown)}]")]
