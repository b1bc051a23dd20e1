"""Parts of a graph that an object builds when it is first asked for them: `@lazy_property`.

    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.prediction
        self.optimize

    @lazy_property
    def optimize(self):
        return tf.train.AdamOptimizer(0.1).minimize(self.loss)

The constructor says so then: `self.prediction = self.prediction()`, in the order in which TF1
builds them, where it asks for all of them, each time for what is there or for all of one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import class_of
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_SCOPE = "variable_scope"


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one class; none where none has such parts."""
    lazy = {
        one.name: one
        for one in module.tree.body
        if isinstance(one, ast.FunctionDef) and _is_lazy(module, one)
    }
    for owner in module.tree.body if lazy else ():
        constructor = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
        if isinstance(owner, ast.ClassDef) and constructor is not None:
            edits = _Parts(module, owner, constructor, lazy).edits()
            if edits:
                return edits
    return []


def _is_lazy(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a decorator makes a property of a method, which keeps what that first returns."""
    parameters = [one.arg for one in function.args.args]
    inner = [one for one in function.body if isinstance(one, ast.FunctionDef)]
    if len(parameters) != 1 or len(inner) != 1 or function.decorator_list:
        return False
    (getter,) = inner
    if not getter.decorator_list:
        return False
    first, *more = getter.decorator_list
    wraps = all(
        isinstance(one, ast.Call) and module.names.qualname(one.func) == "functools.wraps"
        for one in more
    )
    if module.names.qualname(first) != "builtins.property" or not wraps:
        return False
    last = function.body[-1]
    given = last.value if isinstance(last, ast.Return) else None
    if not isinstance(given, ast.Name) or given.id != getter.name or len(getter.body) != 2:
        return False
    asks, answers = getter.body
    calls = [part for part in walk(asks) if isinstance(part, ast.Call)]
    names = [module.names.qualname(one.func) or name_of(module, one) for one in calls]
    kept = sum(isinstance(one.func, ast.Name) and one.func.id == parameters[0] for one in calls)
    known = {"builtins.hasattr", "builtins.setattr"}
    others = [one for one, name in zip(calls, names) if name not in known]
    scoped = [one for one in others if name_of(module, one) == _SCOPE]
    return (
        isinstance(asks, ast.If)
        and not asks.orelse
        and isinstance(asks.test, ast.UnaryOp)
        and isinstance(asks.test.op, ast.Not)
        and sorted(name for name in names if name in known) == sorted(known)
        and kept == 1
        and len(others) == 1 + len(scoped)
        and len(scoped) == len(_scopes(module, function))
        and isinstance(answers, ast.Return)
        and isinstance(answers.value, ast.Call)
        and module.names.qualname(answers.value.func) == "builtins.getattr"
    )


def _scopes(module: Module, function: ast.FunctionDef) -> list[ast.Call]:
    """The scope that such a decorator builds in, by the method's own name."""
    return [
        part
        for part in walk(function)
        if isinstance(part, ast.Call)
        and name_of(module, part) == _SCOPE
        and len(part.args) == 1
        and isinstance(part.args[0], ast.Attribute)
        and part.args[0].attr == "__name__"
    ]


class _Parts:
    """The parts of a class's graph that are built so, and where."""

    def __init__(
        self,
        module: Module,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        lazy: dict[str, ast.FunctionDef],
    ) -> None:
        self.module = module
        self.owner = owner
        self.constructor = constructor
        self.lazy = lazy
        self.methods = {
            one.name: one
            for one in owner.body
            if isinstance(one, ast.FunctionDef)
            and len(one.decorator_list) == 1
            and isinstance(one.decorator_list[0], ast.Name)
            and one.decorator_list[0].id in lazy
        }

    def edits(self) -> list[Edit]:
        if not self.methods or not self._are_properties():
            return []
        asked = [
            (statement, name)
            for statement in self.constructor.body
            if isinstance(statement, ast.Expr) and (name := self._own(statement.value))
        ]
        built: dict[str, None] = {}
        found: list[Edit] = []
        source = self.module.source
        for statement, name in asked:
            order = [*self._order(name, built, ())]
            if not Layout(source, statement).owns_lines or None in order:
                return []
            if not order:
                found.append(without_paragraph(source, statement))
                continue
            built.update(dict.fromkeys(one for one in order if one is not None))
            indent = source.indent_of(statement)
            lines = [line for one in order if one is not None for line in self._built(one)]
            found.append(Edit(*source.span(statement), f"{source.newline}{indent}".join(lines)))
        every = {self._own(node) for node in walk(self.constructor)} - {""}
        if set(built) != set(self.methods) or len(every) > len(built) or self._is_early(asked):
            return []
        gone = [method.decorator_list[0] for method in self.methods.values()]
        for decorator in gone:
            start = source.text.rfind("\n", 0, source.span(decorator)[0]) + 1
            end = source.text.find("\n", source.span(decorator)[1]) + 1
            found.append(Edit(start, end, ""))
        names = self.module.names
        without: set[ast.AST] = set()
        for function in self.lazy.values():
            mentions = names.mentions(function.name, names.module_scope)
            if all(one in gone for one in mentions):
                found.append(without_paragraph(source, function))
                without.update(walk(function))
        for one in self.module.tree.body:
            if isinstance(one, ast.Import) and len(one.names) == 1:
                read = names.mentions(one.names[0].name, names.module_scope)
                if read and without.issuperset(read) and Layout(source, one).owns_lines:
                    found.append(without_paragraph(source, one))
        return found

    def _are_properties(self) -> bool:
        """Whether all that has one of the names is what an object builds so."""
        for name, method in self.methods.items():
            if len(method.args.args) != 1:
                return False
            for mention in self.module.names.attributes.get(name, ()):
                called = self.module.names.parents.get(mention)
                if not isinstance(mention.ctx, ast.Load):
                    return False
                if isinstance(called, ast.Call) and called.func is mention:
                    return False
        return True

    def _own(self, node: ast.AST) -> str:
        """`self.prediction`, of the class, by its name; empty for anything else."""
        if not isinstance(node, ast.Attribute) or node.attr not in self.methods:
            return ""
        return node.attr if class_of(self.module, node) is self.owner else ""

    def _order(
        self, name: str, built: dict[str, None], around: tuple[str, ...]
    ) -> Iterator[str | None]:
        """The parts that are built for one, and it at last; None where that is not their order."""
        if name in around:
            yield None
        if name in built or name in around:
            return
        seen = dict(built)
        for statement in self.methods[name].body:
            asked = [own for node in walk(statement) if (own := self._own(node))]
            made = any(
                isinstance(part, ast.Call) and name_of(self.module, part)
                for one in self.methods[name].body[: self.methods[name].body.index(statement)]
                for part in walk(one)
            )
            for one in asked:
                more = [*self._order(one, seen, (*around, name))]
                if more and made:  # a part of this one would be built before that one
                    yield None
                seen.update(dict.fromkeys(other for other in more if other is not None))
                yield from more
        yield name

    def _built(self, name: str) -> list[str]:
        me = self.constructor.args.args[0].arg
        line = f"{me}.{name} = {me}.{name}()"
        decorator = self.methods[name].decorator_list[0]
        assert isinstance(decorator, ast.Name)
        for scope in _scopes(self.module, self.lazy[decorator.id]):
            opened = self.module.source.code(scope.func)
            return [f'with {opened}("{name}"):', f"{self.module.source.indent_unit}{line}"]
        return [line]

    def _is_early(self, asked: list[tuple[ast.Expr, str]]) -> bool:
        """Whether the constructor has another use of a part above one that it asks for."""
        last = asked[-1][0]
        told = {statement.value for statement, _ in asked}
        return any(
            self._own(node) and node not in told and getattr(node, "lineno", 0) < last.lineno
            for node in walk(self.constructor)
        )
