"""A recurrent network's state of zeros that runs feed, with what the last run gave: as one tensor.

    state = cell.zero_state(1, tf.float32)
    outputs, final_state = tf.nn.dynamic_rnn(cell, x, initial_state=state)
    ...
    last, _ = sess.run([final_state, train_op], {x: rows, state: last})

becomes, of an LSTM cell, whose state is a pair,

    state = tf.placeholder_with_default(tf.zeros([2, 1, 8]), [2, 1, 8])
    outputs, states = tf.nn.dynamic_rnn(
        cell, x, initial_state=tf.nn.rnn_cell.LSTMStateTuple(state[0], state[1]))
    final_state = tf.stack([states[0], states[1]])

and the runs stay: what they give is an array of both parts in the place of a pair of arrays. Of
other cells the state is one tensor anyway. A dictionary that has no state where another one by its
name has one is fed zeros.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Union

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.recurrent import cell_of, is_recurrent
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PAIRS = ("BasicLSTMCell", "LSTMCell")
_ALONE = ("BasicRNNCell", "GRUCell")
_LEFT = ("num_proj", "state_is_tuple")  # with these the state has another shape, or may have
_RUN = ("fetches", "feed_dict")
_Place = Union[ast.Name, ast.Attribute]


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such state; none where there is none."""
    if "zero_state" not in module.names.attributes or not session_calls(module):
        return []
    for call in module.names.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_state":
            edits = _State(module, call).edits()
            if edits:
                return edits
    return []


class _State:
    """What `cell.zero_state(...)` gives."""

    def __init__(self, module: Module, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.call = call
        self.tf = spelling(module, call) or ""

    def edits(self) -> list[Edit]:
        """The edits for it; none where no run feeds it, or something else is done with it."""
        made, sizes = self.names.parents[self.call], self._sizes()
        state = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        if not isinstance(state, (ast.Name, ast.Attribute)) or sizes is None or not self.tf:
            return []
        cell = self._cell()
        is_pair = cell is not None and cell_of(self.module, cell) in _PAIRS
        parts = [None, *sizes] if is_pair else [*sizes]
        shown = ("2" if one is None else self.source.code(one) for one in parts)
        shape = f"[{', '.join(shown)}]"
        mentions = self._mentions(state)
        keys = [one for one in mentions if self._is_key(one)]
        networks = [one for one in mentions if self._network(one) is not None]
        others = [one for one in mentions if one not in (state, *keys, *networks)]
        if len(networks) != 1 or not keys or others:
            return []
        text = f"{self.tf}.placeholder_with_default({self.tf}.zeros({shape}), {shape})"
        found = [Edit(*self.source.span(self.call), text)]
        added = self._added(keys, parts)
        if added is None:
            return []
        found += added
        if is_pair:
            pairs = self._pair(networks[0], keys)
            if pairs is None:
                return []
            found += pairs
        return found

    # -- the graph --------------------------------------------------------------------------

    def _cell(self) -> ast.Call | None:
        """What makes the cell."""
        receiver = self.call.func.value if isinstance(self.call.func, ast.Attribute) else None
        value = self.names.only_value(receiver) if isinstance(receiver, ast.Name) else None
        return value if isinstance(value, ast.Call) else None

    def _sizes(self) -> list[ast.expr] | None:
        """The rows and the columns of the state; None where they are not seen."""
        told, cell = by_parameter(self.call, ("batch_size", "dtype")), self._cell()
        rows, dtype = told.get("batch_size"), told.get("dtype")
        if cell is None or cell_of(self.module, cell) not in (*_PAIRS, *_ALONE):
            return None
        if rows is None or dtype is None or name_of(self.module, dtype) != "float32":
            return None
        given = by_parameter(cell, ("num_units",))
        units = given.get("num_units")
        if any(one.arg in _LEFT and constant(one.value) is not True for one in cell.keywords):
            return None
        if len(cell.args) > 2 or units is None:
            return None
        plain = all(
            isinstance(one, (ast.Name, ast.Attribute, ast.Constant)) for one in (rows, units)
        )
        return [rows, units] if plain else None

    def _mentions(self, place: _Place) -> list[_Place]:
        """All mentions of a name, or of an attribute of that name; none if others set it."""
        found: Sequence[_Place]
        if isinstance(place, ast.Name):
            home = self.names.defining_scope(place.id, self.names.scope_of_name[place])
            found = list(self.names.mentions(place.id, home)) if home is not None else []
        else:
            found = list(self.names.attributes.get(place.attr, ()))
        stored = [one for one in found if not isinstance(one.ctx, ast.Load)]
        return [*found] if len(stored) == 1 else []

    def _network(self, mention: _Place) -> ast.Call | None:
        """The network that begins with the state."""
        keyword = self.names.parents[mention]
        call = self.names.parents[keyword] if isinstance(keyword, ast.keyword) else None
        named = isinstance(keyword, ast.keyword) and keyword.arg == "initial_state"
        if not isinstance(call, ast.Call) or not named:
            return None
        return call if is_recurrent(self.module, call) else None

    def _pair(self, mention: _Place, keys: Sequence[_Place]) -> list[Edit] | None:
        """What a network is given, and what it gives, as a tensor of both parts."""
        network = self._network(mention)
        assert network is not None
        made = self.names.parents[network]
        targets = made.targets[0] if isinstance(made, ast.Assign) else None
        if not isinstance(targets, ast.Tuple) or len(targets.elts) != 2:
            return None
        assert isinstance(made, ast.Assign)
        final, code = targets.elts[1], self.source.code(mention)
        if not isinstance(final, (ast.Name, ast.Attribute)) or len(made.targets) > 1:
            return None
        layout = Layout(self.source, made)
        values = self._values(final, mention)
        if values is None or not layout.owns_lines or not self._only_feed(keys, values):
            return None
        scope = self.names.scope_at(network)
        states = self.names.fresh(scope, "states", "final_states", "last_states")
        pair = f"{self.tf}.nn.rnn_cell.LSTMStateTuple({code}[0], {code}[1])"
        stacked = f"{self.source.code(final)} = {self.tf}.stack([{states}[0], {states}[1]])"
        edits = [Edit(*self.source.span(mention), pair), Edit(*self.source.span(final), states)]
        below = [stacked]
        output = targets.elts[0]
        if isinstance(output, ast.Attribute):  # a pass for objects reads one target at a time
            new = self.names.fresh(scope, "outputs", "cell_outputs", "network_outputs")
            edits.append(Edit(*self.source.span(output), new))
            below.insert(0, f"{self.source.code(output)} = {new}")
        return [*edits, layout.insert_after(below)]

    # -- runs -------------------------------------------------------------------------------

    def _is_key(self, mention: _Place) -> bool:
        """Whether a mention is what a run is fed by."""
        feeds = self.names.parents[mention]
        return isinstance(feeds, ast.Dict) and mention in feeds.keys

    def _values(self, final: _Place, mention: _Place) -> list[ast.Name] | None:
        """The names of what runs give for the last state; None where it is more than run."""
        found: list[ast.Name] = []
        mentions = self._mentions(final)
        if final not in mentions:
            return None
        for one in mentions:
            if one is final:
                continue
            target = self._given(one)
            if target is None and isinstance(part := self.names.parents[one], ast.Subscript):
                if part.value is one and constant(part.slice) in (0, 1, -1):
                    continue  # a part of it
            if target is None:
                return None
            found.append(target)
        return found

    def _given(self, fetched: _Place) -> ast.Name | None:
        """The name of what a run gives for one of its fetches."""
        parent = self.names.parents[fetched]
        many = isinstance(parent, (ast.List, ast.Tuple))
        call = self.names.parents[parent] if many else parent
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        if call.func.attr != "run" or call.args[:1] != [parent if many else fetched]:
            return None
        statement = self.names.parents[call]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if many and isinstance(parent, (ast.List, ast.Tuple)):
            same = isinstance(target, ast.Tuple) and len(target.elts) == len(parent.elts)
            if not isinstance(target, ast.Tuple) or not same:
                return None
            target = target.elts[parent.elts.index(fetched)]
        return target if isinstance(target, ast.Name) else None

    def _only_feed(self, keys: Sequence[_Place], values: Sequence[ast.Name]) -> bool:
        """Whether what runs give is fed by these keys, and these are fed nothing else."""
        homes = {(one.id, self.names.scope_at(one)) for one in values}
        for key in keys:
            feeds = self.names.parents[key]
            assert isinstance(feeds, ast.Dict)
            value = feeds.values[feeds.keys.index(key)]
            if not isinstance(value, ast.Name):
                return False
            if (value.id, self.names.scope_at(value)) not in homes:
                return False
        for name, home in homes:
            for one in self.names.mentions(name, home):
                if one in values:
                    continue
                parent = self.names.parents[one]
                part = isinstance(parent, ast.Subscript) and constant(parent.slice) in (0, 1)
                fed = isinstance(parent, ast.Dict) and one in parent.values
                if fed and isinstance(parent, ast.Dict):
                    fed = parent.keys[parent.values.index(one)] in keys
                if not (fed or (part and isinstance(one.ctx, ast.Load))):
                    return False
        return True

    def _added(self, keys: Sequence[_Place], sizes: Sequence[ast.expr | None]) -> list[Edit] | None:
        """Zeros in dictionaries that have no state, by whose names others have one."""
        found: list[Edit] = []
        for feeds, key in self._lacking(keys):
            numpy = self._numpy(feeds)
            seen = [one if one is None else self._seen(one, feeds) for one in sizes]
            if not numpy or "" in seen:
                return None
            shape = ", ".join("2" if one is None else one for one in seen)
            last = feeds.values[-1] if feeds.values else None
            start = (
                self.source.span(last)[1] if last is not None else self.source.span(feeds)[0] + 1
            )
            text = f"{self.source.code(key)}: {numpy}.zeros([{shape}])"
            found.append(Edit(start, start, f", {text}" if last is not None else text))
        return found

    def _lacking(self, keys: Sequence[_Place]) -> Iterator[tuple[ast.Dict, _Place]]:
        having = {self.names.parents[one]: one for one in keys}
        seen: set[ast.AST] = set()
        for feeds, key in having.items():
            statement = self.names.parents[feeds]
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            for binding in self.names.bindings_of(target) if isinstance(target, ast.Name) else ():
                other = binding.value
                if isinstance(other, ast.Dict) and other not in having and other not in seen:
                    seen.add(other)
                    yield other, key

    def _numpy(self, place: ast.AST) -> str:
        """The name by which a module has NumPy."""
        for name, bindings in self.names.module_scope.bindings.items():
            if [one.qualname for one in bindings] == ["numpy"]:
                home = self.names.defining_scope(name, self.names.scope_at(place))
                if home is self.names.module_scope:
                    return name
        return ""

    def _seen(self, size: ast.expr, place: ast.AST) -> str:
        """A size as code where a dictionary stands; empty where it may be another one there."""
        if isinstance(size, ast.Constant):
            return self.source.code(size)
        if isinstance(size, ast.Attribute):
            given = self._given_to_constructor(size)
            return self._seen(given, place) if isinstance(given, (ast.Name, ast.Constant)) else ""
        if not isinstance(size, ast.Name):
            return ""
        scope = self.names.defining_scope(size.id, self.names.scope_at(size))
        there = self.names.defining_scope(size.id, self.names.scope_at(place))
        once = scope is not None and len(scope.bindings.get(size.id, ())) == 1
        return size.id if once and scope is there else ""

    def _given_to_constructor(self, attribute: ast.Attribute) -> ast.expr | None:
        """What the only object of a class is given, of which `self.size` is a parameter."""
        mentions = self.names.attributes.get(attribute.attr, ())
        stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
        made = self.names.parents[stored[0]] if len(stored) == 1 else None
        value = made.value if isinstance(made, ast.Assign) and made.targets == stored else None
        if not isinstance(value, ast.Name) or not self.names.is_parameter(value):
            return None
        function = self.names.scope_at(value).node
        owner = self.names.parents.get(function)
        if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
            return None
        if (
            not isinstance(owner, ast.ClassDef)
            or self.names.scope_at(self.call).node not in owner.body
        ):
            return None
        calls = [
            one
            for one in self.names.calls
            if isinstance(one.func, ast.Name) and self.names.only_definition(one.func) is owner
        ]
        mentioned = self.names.mentions(owner.name, self.names.module_scope)
        if len(calls) != 1 or len([n for n in mentioned if isinstance(n.ctx, ast.Load)]) != 1:
            return None
        parameters = [one.arg for one in function.args.args[1:]]
        return by_parameter(calls[0], tuple(parameters)).get(value.id)
