"""What a function does, in the place of the one statement that calls it.

`x, loss = build(3)` becomes the function's statements, with the arguments in the place of its
parameters, and `loss = cost`. Names that both have get another one; what `networks.build(3)` reads
in its module is read there, `networks.SIZE`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.constant_parameters import truth
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.known_values import known_value
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.source.blocks import Block, bracketed, trailing
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout

# What an argument is that may stand wherever its parameter is mentioned.
_ATOMS = (ast.Name, ast.Constant, ast.Attribute)
_PLAIN = (*_ATOMS, ast.List, ast.Tuple, ast.Subscript, ast.Dict)
_FUNCTION = ast.Constant(object())  # type: ignore[arg-type]  # like no value but itself
_RETURNS = (ast.Return, ast.Yield, ast.YieldFrom)
_LEAVES = (*_RETURNS, ast.Global, ast.Nonlocal)
_INNER = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@record(frozen=True)
class _Names:
    """What the names of a function become.

    ``texts`` of its parameters, ``given`` to those that are names as well, ``locals`` of its own.
    """

    texts: Mapping[str, str]
    given: Mapping[str, str]
    locals: Mapping[str, str]


class MovedCall:
    """A call whose function's statements take its place; ``me`` is what both call their object."""

    def __init__(
        self,
        module: Module,
        home: ast.FunctionDef | ast.Module,
        statement: ast.Expr | ast.Assign | ast.Return,
        function: ast.FunctionDef,
        me: str = "",
        origin: Module | None = None,
        body: list[ast.stmt] | None = None,
        made: tuple[str, str] = ("", ""),
        again: bool = False,
        imported: Collection[str] = (),
        reserved: Collection[str] = (),
    ) -> None:
        """``origin`` is the module of the function, where that is another one.

        ``body`` are its last statements, where these alone take the call's place, behind what gives
        a name of the function's another value, ``made``. ``again``: names that the script gives
        another value before it reads them again may get the function's until then. ``imported`` are
        names of the function's module that the caller's gets by an import of its own, ``reserved``
        are those that other calls' statements get, which are written with these.
        """
        self.module = module
        self.caller = module.source
        self.origin = origin or module
        self.names = self.origin.names
        self.source = self.origin.source
        self.home = home
        self.statement = statement
        self.function = function
        self.me = me
        self.scope = self.names.scopes[function]
        self.body = function.body if body is None else body
        self.made = made
        self.again = again
        self.imported = imported
        self.reserved = reserved
        self.decided: set[ast.AST] = set()  # conditions that arguments of the call decide
        self.own: set[str] = set()  # the names that its statements get where it is called

    def edit(self) -> Edit | None:
        """The statement's edit; None where it would do something else, or cannot be written."""
        arguments = self.function.args
        if self.function.decorator_list or arguments.kwonlyargs or arguments.posonlyargs:
            return None
        if arguments.vararg or arguments.kwarg:
            return None
        targets = self.statement.targets if isinstance(self.statement, ast.Assign) else []
        if len(targets) > 1 or not Layout(self.caller, self.statement).owns_lines:
            return None
        body = self.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        body = [*self._run(body)]
        last: ast.stmt | None = body[-1] if body else None
        while isinstance(last, ast.With):
            last = next(reversed([*self._run(last.body)]), None)
        returned = last if isinstance(last, ast.Return) else None
        parts = [*self._parts(body)]
        inner = {p for one in parts if isinstance(one, _INNER) for p in walk(one)}
        leaves = [
            part
            for part in parts
            if isinstance(part, _LEAVES) and (part not in inner or not isinstance(part, _RETURNS))
        ]
        if not body or leaves != ([returned] if returned is not None else []):
            return None
        pairs = self._results(returned.value if returned is not None else None)
        names = self._names(pairs) if pairs is not None else None
        if pairs is None or names is None:
            return None
        return self._written(body, returned, pairs, names)

    # -- names ---------------------------------------------------------------------------

    def _results(self, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr]] | None:
        """What the statement's targets are given; None where that cannot be told apart."""
        if not isinstance(self.statement, ast.Assign):
            given = isinstance(self.statement, ast.Return)
            return [] if given is (value is not None) else None
        target = self.statement.targets[0]
        if value is None:
            return None
        if isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(target.elts):
                return None
            return [pair for pair in zip(target.elts, value.elts) if not self._is_unread(*pair)]
        return [(target, value)]

    def _is_unread(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether what a name stands for is thrown away: `_, train = training(loss)`."""
        if not isinstance(target, ast.Name) or target.id != "_" or not isinstance(value, ast.Name):
            return False
        names = self.module.names
        home = names.defining_scope("_", names.scope_of_name[target])
        return home is not None and all(
            isinstance(mention.ctx, ast.Store) for mention in names.mentions("_", home)
        )

    def _names(self, pairs: list[tuple[ast.expr, ast.expr]]) -> _Names | None:
        call = self.statement.value
        assert isinstance(call, ast.Call)
        given = bind(call, Function(self.origin, self.function)).every()
        if given is None:
            return None
        bindings = self.scope.bindings
        parts = [*self._parts(self.body)]
        own = [name for name in bindings if name != self.me and name not in given]
        if self.body is not self.function.body:
            mentioned = {part.id for part in parts if isinstance(part, ast.Name)}
            known = {part.id for part in parts if isinstance(part, ast.Name) and _is_stored(part)}
            own = [name for name in own if name in mentioned]
            if not {*own} <= {*known, self.made[0]}:
                return None  # what it computed before is not known where it is called
            given = {name: value for name, value in given.items() if name in mentioned}
        if any(b.kind in ("import", "class") for n in own for b in bindings[n]):
            return None
        texts: dict[str, str] = {}
        assigned: dict[str, str] = {}
        stored = {
            part.attr
            for part in parts
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)
        }
        inner = any(isinstance(p, _INNER) for one in self.body for p in walk(one))
        formatted = (part for part in parts if isinstance(part, ast.JoinedStr))
        shown = {n.id for one in formatted for n in walk(one) if isinstance(n, ast.Name)}
        for name, value in given.items():
            if any(isinstance(p, ast.Attribute) and p.attr in stored for p in walk(value)):
                return None  # the function changes what it is given
            default = value in self.function.args.defaults
            if default and self.origin is not self.module and not isinstance(value, ast.Constant):
                return None
            text = (self.source if default else self.caller).code(value)
            once = isinstance(value, _ATOMS) or len(self._mentions(name)) < 2
            calls = any(isinstance(part, ast.Call) for part in walk(value))
            late = inner and not isinstance(value, ast.Constant) and not self._is_fixed(value)
            inline = once and not calls and not late and name not in shown
            if len(bindings[name]) > 1 or not inline or "\n" in text:
                assigned[name] = bracketed(text)
            else:
                texts[name] = text if isinstance(value, _PLAIN) else f"({text})"
        taken = self._taken() | {*self.reserved}
        used = {part.id for part in parts if isinstance(part, ast.Name)}
        outside = {p.id for p in parts if isinstance(p, ast.Name) and not self._is_inner(p)}
        free = outside - {*own} - {*given} - {self.me}
        bound = {*self.module.names.scopes[self.home].bindings}
        if self.origin is not self.module:
            elsewhere = self._elsewhere(free)
            if elsewhere is None:
                return None
            texts.update(elsewhere)
        if isinstance(self.home, ast.FunctionDef) and not all(
            self._is_same_here(name) or self._is_of_home(name) for name in free & bound
        ):
            return None  # what is free in the function must mean the same here
        wanted = {
            value.id: target.id
            for target, value in reversed(pairs)
            if isinstance(value, ast.Name) and isinstance(target, ast.Name) and value.id in own
        }
        told = {n.id for v in given.values() for n in walk(v) if isinstance(n, ast.Name)}
        wanted = {name: new for name, new in wanted.items() if new not in told}
        found: dict[str, str] = {}
        for name in (*own, *assigned):
            new = wanted.get(name, name)
            known = taken - ({new} if name in wanted and new not in used - {name} else set())
            number = 1
            while new in known or new in found.values() or (new != name and new in used):
                new, number = f"{name}_{number}" if number > 1 else name, number + 1
            found[name] = new
        self.own = {*found.values()}
        again = bound - taken
        if any(n in bound - again and n not in wanted.values() for n in found.values()):
            return None
        return _Names(texts, assigned, found)

    def _is_fixed(self, value: ast.expr) -> bool:
        """Whether ``again``, and it is a name that the script gives one value, above the call.

        What a function within reads later is that value, too.
        """
        names = self.module.names
        if not self.again or not isinstance(value, ast.Name):
            return False
        made = names.only_binding(value)
        if made is None or made.kind != "assign":
            return False
        statement = names.statement(made.node)
        return (
            isinstance(statement, ast.Assign)
            and statement in self.module.tree.body
            and statement.lineno < self.statement.lineno
        )

    def _is_set_anew(self, name: str) -> bool:
        """Whether a name of the script's is given another value before it is read again.

        All statements that tell stand below one another, and no function reads it.
        """
        names, body = self.module.names, self.module.tree.body
        if not self.again or self.statement not in body:
            return False
        order = {id(one): place for place, one in enumerate(body)}
        here, sets, reads = order[id(self.statement)], [], []
        for mention in names.mentions(name, names.module_scope):
            around = [mention, *names.ancestors(mention)]
            if names.scope_of_name[mention] is not names.module_scope:
                return False
            top = next(one for one in around if id(one) in order)
            place = order[id(top)]
            if isinstance(mention.ctx, ast.Load):
                reads.append(place)
            elif isinstance(top, ast.Assign) and mention in top.targets:
                sets.append(place)
            else:
                return False
        kinds = {one.kind for one in names.module_scope.bindings.get(name, ())}
        return kinds == {"assign"} and all(
            place < here or any(here < one < place for one in sets) for place in reads
        )

    def _is_inner(self, name: ast.Name) -> bool:
        """Whether a name is one of a comprehension's own, or of a function's within."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        return (
            home is not None
            and home is not self.scope
            and self.function in self.names.ancestors(home.node)
        )

    def _is_of_home(self, name: str) -> bool:
        """Whether the function stands within the one that calls it, and has the name of that."""
        home = self.module.names.scopes[self.home]
        within = self.origin is self.module and self.home in self.names.ancestors(self.function)
        return within and self.names.defining_scope(name, self.scope) is home

    def _is_same_here(self, name: str) -> bool:
        """Whether a name that both functions' code knows is of one import: `tf`, imported again."""
        names = self.module.names
        here = names.roots(name, names.scopes[self.home])
        there = self.names.roots(name, self.names.module_scope)
        return bool(here) and here == there

    def _elsewhere(self, free: set[str]) -> dict[str, str] | None:
        """What names of the function's module are where it is called; None where one is not seen.

        TensorFlow by the same name is the same; what else the module has is its attribute.
        """
        assert isinstance(self.statement.value, ast.Call)
        func = self.statement.value.func
        found: dict[str, str] = {}
        theirs, ours = self.names.module_scope, self.module.names.module_scope
        for name in free:
            bindings = theirs.bindings.get(name, [])
            roots = self.names.roots(name, theirs)
            here = self.module.names.roots(name, ours)
            if (not bindings and name not in ours.bindings) or (roots and roots == here):
                continue
            if name in self.imported:
                continue
            constants = [one for one in bindings if one.kind in ("assign", "def")]
            if len(bindings) != 1 or not constants or not isinstance(func, ast.Attribute):
                return None
            found[name] = f"{self.caller.code(func.value)}.{name}"
        return found

    def _taken(self) -> set[str]:
        """Names that stand for something else where the function is called."""
        if isinstance(self.home, ast.FunctionDef):
            found = {n.id for n in walk(self.home) if isinstance(n, ast.Name)}
            return found | {one.arg for one in self.home.args.args}
        own = set(walk(self.function))
        names = self.module.names
        module_scope = names.module_scope
        found = {*module_scope.bindings} | {
            name.id
            for name, scope in names.scope_of_name.items()
            if name not in own and names.defining_scope(name.id, scope) in (module_scope, None)
        }
        bound = found & {*module_scope.bindings}
        return found - {name for name in bound if self._is_set_anew(name)}

    def _mentions(self, name: str) -> list[ast.Name]:
        own = name in self.scope.bindings
        home = self.scope if own else self.names.module_scope
        inside = () if own else set(walk(self.function))
        return [one for one in self.names.mentions(name, home) if own or one in inside]

    # -- the new text -----------------------------------------------------------------------

    def _written(
        self,
        body: list[ast.stmt],
        returned: ast.Return | None,
        pairs: list[tuple[ast.expr, ast.expr]],
        names: _Names,
    ) -> Edit | None:
        changes = [
            Edit(*self.source.span(mention), new)
            for name, new in (*names.texts.items(), *names.locals.items())
            if name != new
            for mention in self._mentions(name)
        ]
        changes = self._with_known_texts(self._without_arms(changes), names)
        results: list[str] = []
        for target, value in pairs:
            text = self._changed(value, changes)
            if not isinstance(target, ast.Name) or target.id != text:
                results.append(f"{self.caller.code(target)} = {bracketed(text)}")
        if isinstance(self.statement, ast.Return) and returned is not None:
            assert returned.value is not None
            results.append(f"return {self._changed(returned.value, changes)}")
        block = Block(self.source, self.caller.indent_of(self.statement))
        if behind := trailing(self.caller, self.statement).strip():
            block.line(behind)
        for name, text in names.given.items():
            block.line(f"{names.locals[name]} = {text}")
        if self.made[0]:
            block.line(f"{names.locals[self.made[0]]} = {self.made[1]}")
        nested = (one for one in body if isinstance(one, ast.With) and not self._is_folded(one))
        if any(returned in walk(one) for one in nested) and returned is not None:
            changes.append(self._in_block(returned, results))
            returned = None
        if not self._writes(block, body, returned, results, changes, 0):
            return None
        layout = Layout(self.caller, self.statement)
        text = block.text() if block.lines else ""
        above = self.module.names.block(self.statement)[0] is not self.statement
        if isinstance(body[0], _INNER) and above:
            text = self.caller.newline + text
        return Edit(layout.line_start, layout.next_line, text)

    def _without_arms(self, changes: list[Edit]) -> list[Edit]:
        """`activation(x) if activation else x` is the arm that the call takes."""
        found = [*changes]
        for part in self._parts(self.body):
            holds = self._holds(part.test) if isinstance(part, ast.IfExp) else None
            span = self.source.span(part) if isinstance(part, ast.IfExp) else (0, 0)
            inside = any(one.start <= span[0] and span[1] <= one.end for one in found)
            if not isinstance(part, ast.IfExp) or holds is None or inside:
                continue
            arm = part.body if holds else part.orelse
            new = Edit(*span, self._changed(arm, changes))
            if self._is_itself(part, arm):
                new = self._without_statement(part) or new
            found = [one for one in found if one.end <= new.start or one.start >= new.end]
            found.append(new)
        return found

    def _is_itself(self, value: ast.expr, arm: ast.expr) -> bool:
        """Whether a name would be given what it has: `h = h if keep is None else ...`."""
        statement = self.names.parents[value]
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return (
            len(targets) == 1
            and isinstance(targets[0], ast.Name)
            and isinstance(arm, ast.Name)
            and arm.id == targets[0].id
        )

    def _without_statement(self, value: ast.expr) -> Edit | None:
        """The edit for a statement in a block of the function's, below another one there."""
        statement = self.names.statement(value)
        siblings = self.names.block(statement)
        place = siblings.index(statement)
        if statement in self.body or not place:
            return None
        start, end = self.source.span(siblings[place - 1])[1], self.source.span(statement)[1]
        return Edit(start, end, "") if "#" not in self.source.text[start:end] else None

    def _with_known_texts(self, changes: list[Edit], names: _Names) -> list[Edit]:
        """`'W_' + name` is one text where the call gives `name` as one."""
        call = self.statement.value
        assert isinstance(call, ast.Call)
        every = bind(call, Function(self.origin, self.function)).every() or {}
        given = {
            name: value.value
            for name, value in every.items()
            if name in names.texts and isinstance(value, ast.Constant)
        }
        own = {mention for name in given for mention in self._mentions(name)}
        found = [*changes]
        for part in self._parts(self.body):
            if not isinstance(part, (ast.BinOp, ast.Call)) or name_of(self.origin, part):
                continue
            mentioned = {n for n in walk(part) if isinstance(n, ast.Name) and n.id in given}
            if not mentioned or not mentioned <= own:
                continue
            known = known_value(part, given, self.origin)
            span = self.source.span(part)
            if not isinstance(known, str) or any(
                one.start <= span[0] and span[1] <= one.end for one in found
            ):
                continue
            found = [one for one in found if one.end <= span[0] or one.start >= span[1]]
            found.append(Edit(*span, _quoted(known, self.source.code(part))))
        return found

    def _writes(
        self,
        block: Block,
        body: Sequence[ast.stmt],
        returned: ast.Return | None,
        results: list[str],
        changes: list[Edit],
        deeper: int,
    ) -> bool:
        """Writes the statements that the call runs; whether that can be done."""
        for one in self._run(body):
            for arm in self._arms_around(one):
                block.comments(arm, deeper)
            if one is returned:
                for text in results:
                    block.line(text, deeper)
                if not results and len([*self._run(body)]) == 1 and deeper:
                    block.line("pass", deeper)
            elif isinstance(one, ast.With) and self._is_folded(one):
                last = one.items[-1].optional_vars or one.items[-1].context_expr
                end = self.source.span(last)[1]
                rest = self.source.text[end : self.source.span(one.body[0])[0]]
                if not re.fullmatch(r"\)?\s*:[ \t]*\n\s*", rest.replace("\r\n", "\n")):
                    return False
                start = self.source.span(one)[0]
                header = splice(
                    self.source.text,
                    [edit for edit in changes if start <= edit.start and edit.end <= end],
                    start,
                    end,
                )
                if "\n" in header:
                    return False
                block.comments(one, deeper)
                block.line(header + rest.partition(":")[0] + ":", deeper)
                if not self._writes(block, one.body, returned, results, changes, deeper + 1):
                    return False
            elif not self._is_idle(one):
                block.statement(one, changes, deeper)
        return True

    def _is_idle(self, statement: ast.stmt) -> bool:
        """Whether a statement of the function's own gives a name what it has, at this call."""
        value = statement.value if isinstance(statement, ast.Assign) else None
        holds = self._holds(value.test) if isinstance(value, ast.IfExp) else None
        if not isinstance(value, ast.IfExp) or holds is None or statement not in self.body:
            return False
        return self._is_itself(value, value.body if holds else value.orelse)

    def _arms_around(self, statement: ast.stmt) -> list[ast.stmt]:
        """The conditions, decided by the call, of whose arms it is the first to be written."""
        found: list[ast.stmt] = []
        for parent in self.names.ancestors(statement):
            if not isinstance(parent, ast.If) or parent in self.decided:
                break
            self.decided.add(parent)
            found.append(parent)
        return found[::-1]

    def _is_folded(self, block: ast.With) -> bool:
        """Whether arguments of the call decide which statements of a block it runs."""
        kept = [*self._run(block.body)]
        return kept != block.body or any(
            isinstance(one, ast.With) and self._is_folded(one) for one in kept
        )

    def _parts(self, body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
        """The nodes of the statements that the call runs."""
        for one in self._run(body):
            if isinstance(one, ast.With) and self._is_folded(one):
                yield one
                for item in one.items:
                    yield from walk(item)
                yield from self._parts(one.body)
            else:
                yield from walk(one)

    def _run(self, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements that the call runs, of those in arms of which its arguments decide.

        None behind what returns.
        """
        for one in body:
            holds = self._holds(one.test) if isinstance(one, ast.If) else None
            if isinstance(one, ast.If) and holds is not None:
                arm = [*self._run(one.body if holds else one.orelse)]
                yield from arm
                if arm and isinstance(arm[-1], ast.Return):
                    return
            else:
                yield one
                if isinstance(one, ast.Return):
                    return

    def _holds(self, test: ast.expr) -> bool | None:
        """Whether a condition of the function's holds for the call; None where it does not tell."""
        call = self.statement.value
        assert isinstance(call, ast.Call)
        bound = bind(call, Function(self.origin, self.function))
        given = bound.every() or {}

        def values(name: ast.Name) -> Sequence[ast.Constant] | None:
            only = len(self.scope.bindings.get(name.id, ())) == 1
            value = given.get(name.id) if only else None
            home = self.origin if value in self.function.args.defaults else self.module
            if isinstance(value, ast.Attribute) and name_of(home, value) in COMPUTES:
                return [_FUNCTION]
            return [value] if isinstance(value, ast.Constant) else None

        found = truth(test, values)
        return self._is_given(test, given) if found is None else found

    def _is_given(self, test: ast.expr, given: Mapping[str, ast.expr]) -> bool | None:
        """Whether `keep_prob is not None`, or `is None`, holds for a tensor that is given.

        Or for an optimizer.
        """
        if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
            return None
        name = test.left.id
        if len(self.scope.bindings.get(name, ())) != 1 or not is_none(test.comparators[-1]):
            return None
        value = given.get(name)
        made = self.module.names.only_value(value) if isinstance(value, ast.Name) else None
        known = name_of(self.module, made) if isinstance(made, ast.Call) else ""
        optimizes = known.startswith("train.") and known.endswith("Optimizer")
        if not (optimizes or known in PLACEHOLDERS or known in COMPUTES):
            return None
        (operator,) = test.ops[-1:]
        return (
            isinstance(operator, ast.IsNot) if isinstance(operator, (ast.Is, ast.IsNot)) else None
        )

    def _in_block(self, returned: ast.Return, results: list[str]) -> Edit:
        """What stands for the statement that ends a function, in the block that it stands in."""
        start, end = self.source.span(returned)
        above = self.names.block(returned)[:-1]
        if results or not above:
            indent = self.source.indent_of(returned)
            return Edit(start, end, f"\n{indent}".join(results) or "pass")
        before = self.source.span(above[-1])[1]
        plain = "#" not in self.source.text[before:start]
        return Edit(before, end, "") if plain else Edit(start, end, "pass")

    def _changed(self, node: ast.expr, changes: list[Edit]) -> str:
        start, end = self.source.span(node)
        inside = [one for one in changes if start <= one.start and one.end <= end]
        return splice(self.source.text, inside, start, end)


def _quoted(text: str, code: str) -> str:
    """A text as a literal, with the quotes that the code before it has."""
    literal = repr(text)
    plain = not {"'", '"', "\\"} & {*text}
    return f'"{literal[1:-1]}"' if plain and "'" not in code else literal


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
