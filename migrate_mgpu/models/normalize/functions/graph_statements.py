"""The statements of a function that builds a graph, one thing each, by one name each.

`names, initializer = ['eval', 'variables'], tf.zeros_initializer()` becomes two assignments; a
variable that is called as one before it gets the name of its scope as well, `target_net_w1`; and a
collection of the author's own that variables are put in, by `collections=`, becomes their list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.normalize.data.queue_pipelines import RANGES
from migrate_mgpu.models.normalize.functions.single_calls import lines_of
from migrate_mgpu.models.normalize.layers.collection_lists import OWN
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, start_with_comments

_EVERY = ("GraphKeys.GLOBAL_VARIABLES", "GraphKeys.VARIABLES")
_SCOPES = ("name_scope", "variable_scope")
_KEEPS = "train.ExponentialMovingAverage"
_AVERAGED = ("GraphKeys.MOVING_AVERAGE_VARIABLES", "contrib.layers.batch_norm")


def normalize(module: Module, node: ast.FunctionDef, graph: CallGraph) -> list[Edit]:
    """The edits of one round; none where nothing is left to do."""
    builder = _Builder(module, node, graph)
    return builder.apart() or builder.named() or builder.listed()


def named_in_towers(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for the variables of towers that are called as others before them."""
    for loop in loops_on_devices(module):
        home = module.names.scope_at(loop).function()
        if isinstance(home, ast.FunctionDef) and read_towers(module, loop, graph) is not None:
            builder = _Builder(module, home, graph)
            builder.line = list(lines_of(module, graph, home.body))
            return builder.named()
    return []


def appended_in_towers(module: Module, graph: CallGraph) -> list[Edit]:
    """`logits.append(model(x))` of a function of the program's gets a name first.

    Such a function may make layers, which is no part of a list that is filled.
    """
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        home = names.scope_at(loop)
        for one in in_line(loop.body):
            call = one.value if isinstance(one, ast.Expr) else None
            func = call.func if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
                continue
            if func.attr != "append" or len(call.args) != 1 or not isinstance(func.value, ast.Name):
                continue
            made, layout = call.args[0], Layout(source, one)
            if isinstance(made, (ast.Name, ast.Tuple, ast.List)) or not layout.owns_lines:
                continue
            calls = [part for part in walk(made) if isinstance(part, ast.Call)]
            if not any(
                name_of(module, part) in LAYERS.by_name
                or graph.target(module, part.func) is not None
                for part in calls
            ):
                continue
            listed = func.value.id
            short = listed[:-2] if listed.endswith("sses") else listed.removesuffix("s")
            wanted = [short] if short != listed and len(short) > 1 else []
            name = names.fresh(home, *wanted, f"{listed}_of_tower", "of_tower")
            return [
                layout.insert_before([f"{name} = {source.code(made)}"]),
                Edit(*source.span(made), name),
            ]
    return []


def iterators_of_towers(module: Module, graph: CallGraph) -> list[Edit]:
    """An iterator that each tower makes for itself becomes one of a list above them."""
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        home, towers = names.scope_at(loop), read_towers(module, loop, graph)
        count = loop.iter if isinstance(loop.iter, ast.Call) else None
        if towers is None or not towers.index or count is None:
            continue
        if names.qualname(count.func) not in RANGES:
            continue
        for one in in_line(loop.body):
            made = one.value if isinstance(one, ast.Assign) else None
            func = made.func if isinstance(made, ast.Call) else None
            if not isinstance(func, ast.Attribute) or func.attr != "make_one_shot_iterator":
                continue
            assert isinstance(one, ast.Assign)
            target, layout = one.targets[0], Layout(source, one)
            own = {part.id for part in walk(func) if isinstance(part, ast.Name)} & towers.names
            if not isinstance(target, ast.Name) or own - {towers.index} or not layout.owns_lines:
                continue
            mentions = [n for n in names.mentions(target.id, home) if n is not target]
            if not all(is_inside(module, n, {loop}) for n in mentions):
                continue
            name = names.fresh(home, f"{target.id}s", f"{target.id}s_of_towers")
            each = towers.index if own else "_"
            code = f"{name} = [{source.code(one.value)} for {each} in {source.code(count)}]"
            return [
                Layout(source, loop).insert_paragraph(code.split("\n")),
                Edit(layout.line_start, layout.next_line, ""),
                *(Edit(*source.span(n), f"{name}[{towers.index}]") for n in mentions),
            ]
    return []


def datasets_apart(module: Module) -> list[Edit]:
    """`make().make_initializable_iterator()`: the dataset by a name, which begins it anew."""
    names, source = module.names, module.source
    for func in names.attributes.get("make_initializable_iterator", ()):
        call, statement = names.parents[func], names.statement(func)
        layout = Layout(source, statement)
        made = func.value
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        code = source.code(made) if isinstance(made, ast.Call) else "\n"
        if "\n" in code or not layout.owns_lines:
            continue
        name = names.fresh(names.scope_at(statement), "dataset", "data", "elements")
        return [layout.insert_before([f"{name} = {code}"]), Edit(*source.span(made), name)]
    return []


def splits_apart(module: Module, graph: CallGraph) -> list[Edit]:
    """`xs, ys = tf.split(x, n), tf.split(y, n)` before towers: a step may need one of the two."""
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        home = module.names.scope_at(loop).function()
        around = home.body if isinstance(home, ast.FunctionDef) else module.tree.body
        for one in in_line(around):
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            if not isinstance(one, ast.Assign) or not isinstance(target, ast.Tuple):
                continue
            if position(one) > position(loop):
                break
            calls = walk_elements(one.value)
            splits = [isinstance(c, ast.Call) and name_of(module, c) == "split" for c in calls]
            names = [part.id for part in target.elts if isinstance(part, ast.Name)]
            taken = {n.id for n in walk(one.value) if isinstance(n, ast.Name)}
            if len(splits) != len(names) or not all(splits) or taken & {*names}:
                continue
            layout, texts = Layout(module.source, one), [module.source.code(c) for c in calls]
            if layout.owns_lines and not any("\n" in text for text in texts):
                return [layout.replace([f"{n} = {text}" for n, text in zip(names, texts)])]
    return []


def without_averages(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """`tf.trainable_variables() + tf.moving_average_variables()` before any average is kept.

    The second list is empty there: what keeps averages, in one statement behind it, fills it.
    """
    averages = calls_of_names(module).get("moving_average_variables")
    if not averages or any(use.symbol.name in _AVERAGED for one in modules for use in one.uses):
        return []
    names = module.names
    for call in averages:
        both = names.parents[call]
        if not isinstance(both, ast.BinOp) or not isinstance(both.op, ast.Add):
            continue
        known = [(one, made) for one in modules for made in calls_of_names(one).get(_KEEPS, ())]
        applied = names.attributes.get("apply", ())
        home = names.scope_at(call)
        behind = [position(one) > position(call) for one in applied]
        alone = len(known) == 1 and known[0][0] is module and names.scope_at(known[0][1]) is home
        if not alone or not all(behind) or len(applied) != 1 or call.args or call.keywords:
            continue
        if any("apply" in one.names.attributes for one in modules if one is not module):
            continue
        other = both.left if both.right is call else both.right
        return [Edit(*module.source.span(both), module.source.code(other))]
    return []


def chosen_in_towers(module: Module, graph: CallGraph) -> list[Edit]:
    """`if FLAGS.half: x = tf.cast(x, tf.float16)` in a tower becomes an expression of both.

    So it does beside the towers. None where a name of the function's decides, which may be a part
    of the graph.
    """
    names, source = module.names, module.source
    for loop in loops_on_devices(module):
        home = names.scope_at(loop)
        if home.is_module or read_towers(module, loop, graph) is None:
            continue
        assert isinstance(home.node, ast.FunctionDef)
        whole = [*in_line(loop.body), *(one for one in in_line(home.node.body) if one is not loop)]
        for one in whole:
            if not isinstance(one, ast.If) or one.orelse or not Layout(source, one).owns_lines:
                continue
            in_tower = is_inside(module, one, {loop})
            if not in_tower and not all(_is_cast(module, inner) for inner in one.body):
                continue
            parts = [part for part in walk(one.test) if isinstance(part, ast.Name)]
            scopes = {names.defining_scope(part.id, names.scope_of_name[part]) for part in parts}
            asks = any(isinstance(part, ast.Call) for part in walk(one.test))
            if asks or scopes != {names.module_scope}:
                continue
            test, lines, edits = source.code(one.test), [], list[Edit]()
            around = loop.body if in_tower else home.node.body
            line = [other for other in in_line(around) if not isinstance(other, ast.With)]
            above = line[: line.index(one)]
            for inner in one.body:
                target = inner.targets[0] if isinstance(inner, ast.Assign) else None
                if not isinstance(target, ast.Name) or "\n" in source.code(inner):
                    break
                assert isinstance(inner, ast.Assign)
                before, value = target.id, source.code(inner.value)
                mentions = names.mentions(target.id, home)
                if any(is_inside(module, n, {*above}) and _is_shown(module, n) for n in mentions):
                    # A summary knows it by a name that has no other value later.
                    before = names.fresh(home, f"{target.id}_1", f"drawn_{target.id}")
                    own = [n for n in mentions if is_inside(module, n, {*above, inner.value})]
                    inside = [n for n in own if is_inside(module, n, {inner.value})]
                    edits += [Edit(*source.span(n), before) for n in own if n not in inside]
                    changes = [Edit(*source.span(n), before) for n in inside]
                    value = splice(source.text, changes, *source.span(inner.value))
                lines.append(f"{target.id} = {value} if {test} else {before}")
            else:
                return [*edits, Layout(source, one).replace(lines)]
    return []


def _is_cast(module: Module, statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    return name_of(module, value) == "cast"


def _is_shown(module: Module, name: ast.Name) -> bool:
    """Whether a mention is what a summary tells of."""
    calls = (one for one in module.names.ancestors(name) if isinstance(one, ast.Call))
    return any(name_of(module, call).startswith("summary.") for call in calls)


class _Builder:
    def __init__(self, module: Module, node: ast.FunctionDef, graph: CallGraph) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.node = node
        self.graph = graph
        self.home = module.names.scopes[node]
        self.line = list(in_line(node.body))

    # -- several values in one statement -----------------------------------------------

    def apart(self) -> list[Edit]:
        """Initializers among other values get assignments of their own, and so do these."""
        for statement in self.line:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target, value = statement.targets[0], statement.value
            if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
                continue
            if len(target.elts) != len(value.elts) or not self._may_part(statement):
                continue
            made = [self._is_initializer(part) for part in value.elts]
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            taken = {n.id for n in walk(value) if isinstance(n, ast.Name)}
            if not any(made) or all(made) or len({*names}) != len(made) or taken & {*names}:
                continue
            separator = self.source.newline + self.source.indent_of(statement)
            texts = map(self.source.code, value.elts)
            pairs = (f"{name} = {text}" for name, text in zip(names, texts))
            return [Edit(*self.source.span(statement), separator.join(pairs))]
        return []

    def _may_part(self, statement: ast.Assign) -> bool:
        code = self.source.code(statement)
        several = any("\n" in self.source.code(part) for part in walk_elements(statement.value))
        return Layout(self.source, statement).owns_start and "#" not in code and not several

    def _is_initializer(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and name_of(self.module, node) in INITIALIZERS.by_name

    # -- several variables of one name ---------------------------------------------------

    def named(self) -> list[Edit]:
        """Later variables of a name get another one, in all that mentions them."""
        again: dict[str, list[ast.Assign]] = {}
        for statement in self.line:
            name = self._variable(statement)
            if name is not None:
                assert isinstance(statement, ast.Assign)
                again.setdefault(name, []).append(statement)
        found: list[Edit] = []
        taken = {*self.home.bindings, *self.names.module_scope.bindings}
        for name, made in again.items():
            if len(made) < 2 or not self._isin_line(name, made):
                continue
            for index, statement in enumerate(made[1:], 2):
                new = self._new_name(name, made[0], statement, index, taken)
                taken.add(new)
                found += (
                    Edit(*self.source.span(mention), new)
                    for mention in self.names.mentions(name, self.home)
                    if self._given(mention, made) is statement
                )
        return found

    def _variable(self, statement: ast.stmt) -> str | None:
        """The name of the variable that a statement makes, if it does nothing else."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        made = name_of(self.module, statement.value) in VARIABLES.by_name
        return target.id if made and isinstance(target, ast.Name) else None

    def _isin_line(self, name: str, made: list[ast.Assign]) -> bool:
        """Whether it is seen which variable each mention of a name is."""
        bound = {one.node for one in self.home.bindings[name]}
        if bound != {one.targets[0] for one in made}:
            return False
        for mention in self.names.mentions(name, self.home):
            if self.names.scope_of_name[mention].function() is not self.node:
                return False
            if self._given(mention, made) is None:
                return False
        return True

    def _given(self, mention: ast.Name, made: list[ast.Assign]) -> ast.Assign | None:
        """The statement that gives a name its value where it is mentioned."""
        here = self.names.statement(mention)
        if here in made and isinstance(mention.ctx, ast.Store):
            assert isinstance(here, ast.Assign)
            return here
        before = [one for one in made if one.lineno < here.lineno]
        return before[-1] if before else None

    def _new_name(
        self, name: str, first: ast.stmt, again: ast.stmt, index: int, taken: set[str]
    ) -> str:
        scopes = zip(self._scopes(first), self._scopes(again))
        apart = [own for other, own in scopes if own != other][:1]
        wanted = [f"{own}_{name}" for own in apart if re.fullmatch(r"[a-zA-Z]\w*", own)]
        wanted.append(f"{name}_{index}")
        known = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name)} | taken
        return next((one for one in wanted if one not in known), f"{name}_{again.lineno}")

    def _scopes(self, node: ast.stmt) -> list[str]:
        """The names of the scopes around a statement, from without."""
        found: list[str] = []
        for parent in self.names.ancestors(node):
            if isinstance(parent, ast.With):
                for item in reversed(parent.items):
                    call = item.context_expr
                    if isinstance(call, ast.Call) and name_of(self.module, call) in _SCOPES:
                        name = constant(call.args[0]) if call.args else None
                        found.append(name if isinstance(name, str) else "")
        return found[::-1]

    # -- collections of variables ----------------------------------------------------------

    def listed(self) -> list[Edit]:
        """The author's own collections of variables, as lists of them."""
        if not self.graph.runs_once(self.module, self.node.body[0]):
            return []  # a collection has the variables of all objects
        put: dict[str, list[str]] = {}
        found: list[Edit] = []
        told: set[ast.AST] = set()  # all that says a collection's name
        lists: set[ast.Name] = set()
        for call in self.names.calls:
            row = VARIABLES.by_name.get(name_of(self.module, call))
            given = NamedArguments(self.module, call, row.signature).rest if row else {}
            value = given.get("collections")
            if value is None:
                continue
            written = self._written_list(value)
            name = self._variable(self.names.statement(call))
            if written is None or name is None or self.names.statement(call) not in self.line:
                return []
            if len(self.home.bindings[name]) != 1:
                return []
            keys = self._keys(written)
            if keys is None:
                return []
            for key in keys:
                put.setdefault(key, []).append(name)
            told.update(walk(written))
            if isinstance(value, ast.Name):
                lists.add(value)
            edit = CallEdit(self.source, call, row.signature if row else ())
            edit.drop("collections")
            found += edit.edits()
        read = self._read(put, told)
        if not put or read is None:
            return []
        return [*found, *read, *self._dropped(lists)]

    def _written_list(self, node: ast.expr) -> ast.List | None:
        if isinstance(node, ast.Name):
            bound = reaching(self.module.names, node, self.home)
            value = bound[0].value if len(bound) == 1 else None
            return value if isinstance(value, ast.List) else None
        return node if isinstance(node, ast.List) else None

    def _keys(self, node: ast.List) -> list[str] | None:
        """The author's own collections in a list, which has that of all variables as well."""
        keys: list[str] = []
        every = False
        for part in node.elts:
            key = constant(part)
            if name_of(self.module, part) in _EVERY:
                every = True
            elif not isinstance(key, str) or key in OWN or key == "losses":
                return None
            else:
                keys.append(key)
        return keys if every and len({*keys}) == len(keys) else None

    def _read(self, put: dict[str, list[str]], told: set[ast.AST]) -> list[Edit] | None:
        """What asks for the collections, as lists; None where it is not all seen."""
        found: list[Edit] = []
        last = max((self._line_of(name) for names in put.values() for name in names), default=0)
        for module in self.graph.modules:
            for call in module.names.calls:
                attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                if attribute in ("add_to_collections", "get_collection_ref") or (
                    attribute in ("get_collection", "add_to_collection")
                    and name_of(module, call) != attribute
                ):
                    return None
                if name_of(module, call) != "get_collection":
                    continue
                given = by_parameter(call, ("key", "scope"))
                key = constant(given.get("key"))
                if isinstance(key, str) and key in put:
                    statement = module.names.statement(call)
                    here = module is self.module and statement in self.line
                    if not here or "scope" in given or statement.lineno <= last:
                        return None
                    told.update(walk(call))
                    found.append(Edit(*self.source.span(call), f"[{', '.join(put[key])}]"))
                elif key is None and name_of(module, given.get("key", call)) == "":
                    return None  # any of them
        for module in self.graph.modules:
            for node in walk(module.tree):
                if isinstance(node, ast.Constant) and node.value in put and node not in told:
                    return None
        return found

    def _line_of(self, name: str) -> int:
        return self.names.statement(self.home.bindings[name][0].node).lineno

    def _dropped(self, lists: set[ast.Name]) -> list[Edit]:
        """The statements that gave lists of collections names, where nothing else reads these."""
        found: list[Edit] = []
        for name in sorted({one.id for one in lists}):
            mentions = self.names.mentions(name, self.home)
            if any(isinstance(m.ctx, ast.Load) and m not in lists for m in mentions):
                continue
            for mention in mentions:
                statement = self.names.statement(mention)
                if isinstance(mention.ctx, ast.Store) and isinstance(statement, ast.Assign):
                    layout = Layout(self.source, statement)
                    if statement.targets == [mention] and layout.owns_lines:
                        start = start_with_comments(self.source.text, layout.line_start)
                        above = self.source.text[start : layout.line_start]
                        if not re.search(rf"\b{name}\b", above):
                            start = layout.line_start
                        found.append(Edit(start, layout.next_line, ""))
        return found


def walk_elements(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple that is written out."""
    return node.elts if isinstance(node, ast.Tuple) else [node]
