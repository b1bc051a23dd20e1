"""Variables that a method copies by operations that it makes each time: made once, run there.

    def follow(self, source, target):
        values = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=source)
        targets = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=target)
        for i in range(len(values)):
            self.sess.run(targets[i].assign(values[i]))

The constructor makes `self.follow_main_copy`, a list of these operations, as the last thing that it
does, and `self.follow('main', 'copy')` becomes `self.sess.run(self.follow_main_copy)`. One method
that is given nothing stays, and runs that. Which variables these are, and that none gets a value
and gives its own, the reader sees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import is_of_another
from migrate_mgpu.models.front.session.scope import constructor_of, session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function

_LISTS = ("get_collection", "trainable_variables")


@record(frozen=True, eq=False)
class _Copies:
    """What a method runs: ``session``'s code, and the lists that get values, and give them."""

    session: str
    targets: ast.expr
    values: ast.expr
    halves: tuple[str, str]


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such method; none where there is none."""
    for owner in module.tree.body:
        node = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
        if node is None or not isinstance(owner, ast.ClassDef):
            continue
        if not {*session_calls(module)} & {*walk(node)}:
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method is not node:
                edits = _Method(module, graph, owner, node, method).edits()
                if edits:
                    return edits
    return []


class _Method:
    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        method: ast.FunctionDef,
    ) -> None:
        self.module = module
        self.graph = graph
        self.owner = owner
        self.constructor = constructor
        self.method = method

    def edits(self) -> list[Edit]:
        arguments = self.method.args
        plain = not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs)
        if not plain or arguments.defaults or self.method.decorator_list or not arguments.args:
            return []
        found = self._copies()
        last = self.constructor.body[-1]
        layout = Layout(self.module.source, last)
        if found is None or isinstance(last, ast.Return) or not layout.owns_lines:
            return []
        names = [one.arg for one in arguments.args[1:]]
        calls = self._calls()
        if calls is None or self._is_early():
            return []
        lines: list[str] = []
        edits: list[Edit] = []
        own = self.constructor.args.args[0].arg
        if not names:
            attribute = self._attribute("operations")
            lines += self._made(found, {}, attribute, "", own)
            body = [one for one in self.method.body if not _is_text(one)]
            first, end = (Layout(self.module.source, one) for one in (body[0], body[-1]))
            me = arguments.args[0].arg
            text = first.lines([f"{found.session}.run({me}.{attribute})"])
            edits.append(Edit(first.line_start, end.next_line, text))
        else:
            known: dict[tuple[str, ...], str] = {}
            for call in calls:
                given = self._given(call, names)
                if given is None:
                    return []
                key = tuple(given.values())
                if key not in known:
                    words = "_".join(re.sub(r"\W+", "_", ast.literal_eval(one)) for one in key)
                    known[key] = self._attribute(words)
                    number = f"_{len(known)}" if len(known) > 1 else ""
                    lines += self._made(found, given, known[key], number, own)
                assert isinstance(call.func, ast.Attribute)
                me = self.module.source.code(call.func.value)
                session = f"{me}.{found.session.partition('.')[2]}"
                edits.append(
                    Edit(*self.module.source.span(call), f"{session}.run({me}.{known[key]})")
                )
            if not calls or not all(known.values()):
                return []
            edits.append(without_function(self.module.source, self.method))
        if not lines or any(not line for line in lines):
            return []
        return [layout.insert_after(lines), *edits]

    # -- what the method does -----------------------------------------------------------

    def _copies(self) -> _Copies | None:
        body = [one for one in self.method.body if not _is_text(one)]
        if not body:
            return None
        *above, loop = body
        lists: dict[str, ast.Call] = {}
        for one in above:
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            made = one.value if isinstance(one, ast.Assign) else None
            if not isinstance(target, ast.Name) or not isinstance(made, ast.Call):
                return None
            if name_of(self.module, made) not in _LISTS or target.id in lists:
                return None
            lists[target.id] = made
        if not isinstance(loop, ast.For) or loop.orelse:
            return None
        run = self._run(loop)
        if run is None:
            return None
        session, target, value = run
        pairs = self._paired(loop, target, value) or self._counted(loop, target, value)
        if pairs is None:
            return None
        found = [self._list(one, lists) for one in pairs[:2]]
        if found[0] is None or found[1] is None:
            return None
        return _Copies(session, found[0], found[1], pairs[2])

    def _list(self, node: ast.expr, lists: Mapping[str, ast.Call]) -> ast.expr | None:
        """What lists variables: a call, or an attribute of the object that has one's result."""
        if isinstance(node, ast.Name):
            return lists.get(node.id)
        me = self.method.args.args[0].arg
        own = isinstance(node, ast.Attribute) and ast.unparse(node.value) == me
        return node if own else None

    def _run(self, loop: ast.For) -> tuple[str, ast.expr, ast.expr] | None:
        """The session of `sess.run(target.assign(value))`, and the two."""
        *above, last = loop.body
        call = last.value if isinstance(last, ast.Expr) else None
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
            return None
        if func.attr != "run" or len(call.args) != 1 or call.keywords or len(above) > 1:
            return None
        me = self.method.args.args[0].arg
        session = func.value
        if not isinstance(session, ast.Attribute) or ast.unparse(session.value) != me:
            return None
        made = call.args[0]
        if above:
            one = above[0]
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            if not isinstance(one, ast.Assign) or not isinstance(target, ast.Name):
                return None
            if not isinstance(made, ast.Name) or made.id != target.id:
                return None
            made = one.value
        if not isinstance(made, ast.Call) or made.keywords:
            return None
        code = ast.unparse(session)
        if name_of(self.module, made) == "assign" and len(made.args) == 2:
            return code, made.args[0], made.args[1]
        func = made.func
        if isinstance(func, ast.Attribute) and func.attr == "assign" and len(made.args) == 1:
            return code, func.value, made.args[0]
        return None

    def _paired(
        self, loop: ast.For, target: ast.expr, value: ast.expr
    ) -> tuple[ast.expr, ast.expr, tuple[str, str]] | None:
        """`for t, e in zip(targets, values)`"""
        pairs = loop.iter
        if not isinstance(pairs, ast.Call) or not isinstance(loop.target, ast.Tuple):
            return None
        if self.module.names.qualname(pairs.func) != "builtins.zip" or pairs.keywords:
            return None
        each = dict(zip(map(ast.unparse, loop.target.elts), pairs.args))
        wanted = [ast.unparse(one) for one in (target, value)]
        if len(each) != 2 or len(pairs.args) != 2 or {*wanted} != each.keys():
            return None
        return each[wanted[0]], each[wanted[1]], ("", "")

    def _counted(
        self, loop: ast.For, target: ast.expr, value: ast.expr
    ) -> tuple[ast.expr, ast.expr, tuple[str, str]] | None:
        """`for i in range(len(values))`, or one for the half of a list."""
        names = self.module.names
        numbers = loop.iter
        if not isinstance(numbers, ast.Call) or not isinstance(loop.target, ast.Name):
            return None
        if names.qualname(numbers.func) != "builtins.range" or len(numbers.args) != 1:
            return None
        if not isinstance(target, ast.Subscript) or not isinstance(value, ast.Subscript):
            return None
        lengths = [one for one in walk(numbers.args[0]) if isinstance(one, ast.Call)]
        if [names.qualname(one.func) for one in lengths] != ["builtins.len"]:
            return None
        index, end = loop.target.id, ast.unparse(numbers.args[0])
        left, right = ast.unparse(target.value), ast.unparse(value.value)
        at = [ast.unparse(one.slice) for one in (target, value)]
        if at == [index, index] and end in (f"len({left})", f"len({right})") and left != right:
            return target.value, value.value, ("", "")
        half = f"len({left}) // 2"
        behind = (f"{index} + {half}", f"{half} + {index}")
        if left != right or end != half:
            return None
        if at[0] in behind and at[1] == index:
            return target.value, value.value, (f"[{half}:]", f"[:{half}]")
        if at[1] in behind and at[0] == index:
            return target.value, value.value, (f"[:{half}]", f"[{half}:]")
        return None

    # -- where it is called ---------------------------------------------------------------

    def _calls(self) -> list[ast.Call] | None:
        """Its calls, each a statement of the class's methods; None where it is more than called."""
        found: list[ast.Call] = []
        for module in self.graph.modules:
            for mention in module.names.attributes.get(self.method.name, ()):
                if is_of_another(module, mention, self.owner):
                    continue
                call = module.names.parents.get(mention)
                if not isinstance(call, ast.Call) or call.func is not mention:
                    return None
                inside = module is self.module and self.owner in module.names.ancestors(call)
                if not inside and len(self.method.args.args) > 1:
                    return None
                alone = isinstance(module.names.parents.get(call), ast.Expr)
                if not alone or (inside and not isinstance(mention.value, ast.Name)):
                    return None
                found.append(call)
        return found

    def _is_early(self) -> bool:
        """Whether the constructor may run the method, itself or by another one."""
        seen: set[str] = set()
        waiting = _own(self.constructor)
        methods = {one.name: one for one in self.owner.body if isinstance(one, ast.FunctionDef)}
        while waiting:
            name = waiting.pop()
            if name == self.method.name:
                return True
            if name in seen or name not in methods:
                continue
            seen.add(name)
            waiting += _own(methods[name])
        return False

    def _given(self, call: ast.Call, names: Sequence[str]) -> dict[str, str] | None:
        """The words that a call gives the method's parameters."""
        if len(call.args) + len(call.keywords) != len(names):
            return None
        given = dict(zip(names, call.args))
        given.update({one.arg or "": one.value for one in call.keywords})
        if {*given} != {*names}:
            return None
        words = all(
            isinstance(one, ast.Constant) and isinstance(one.value, str) for one in given.values()
        )
        return {name: ast.unparse(given[name]) for name in names} if words else None

    # -- what the constructor makes -----------------------------------------------------------

    def _attribute(self, words: str) -> str:
        """A free name for what the constructor makes; empty where there is none."""
        name = f"{self.method.name.strip('_')}_{words}".rstrip("_")
        taken = any(module.names.attributes.get(name) for module in self.graph.modules)
        bound = name in self.module.names.scopes[self.constructor].bindings
        return "" if taken or bound or not name.isidentifier() else name

    def _made(
        self, found: _Copies, given: Mapping[str, str], attribute: str, number: str, own: str
    ) -> list[str]:
        scope = self.module.names.scopes[self.constructor]
        lines: list[str] = []
        told: list[str] = []
        for part, half, word in zip(
            (found.targets, found.values), found.halves, ("targets", "values")
        ):
            code = self._code(part, given, own)
            if isinstance(part, ast.Attribute):
                told.append(f"{code}{half}")
                continue
            name = f"{word}{number}"
            name = self.module.names.fresh(scope, name, f"{name}_of_copies")
            lines.append(f"{name} = {code}")
            told.append(f"{name}{half}")
        each = f"target.assign(value) for target, value in zip({', '.join(told)})"
        return [*lines, f"{own}.{attribute} = [{each}]"] if attribute else [""]

    def _code(self, node: ast.expr, given: Mapping[str, str], own: str) -> str:
        """A list's code with what stands for the method's parameters."""
        source = self.module.source
        start, _ = source.span(node)
        text = source.code(node)
        names = [one for one in walk(node) if isinstance(one, ast.Name)]
        known = {**given, self.method.args.args[0].arg: own}
        for one in sorted(names, key=lambda one: source.span(one), reverse=True):
            if one.id in known:
                first, last = (place - start for place in source.span(one))
                text = text[:first] + known[one.id] + text[last:]
        return " ".join(text.split())


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _own(method: ast.FunctionDef) -> list[str]:
    """The attributes of its own object that a method mentions."""
    me = [one.arg for one in method.args.args[:1]]
    return [
        one.attr
        for one in walk(method)
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id in me
    ]
