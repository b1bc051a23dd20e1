"""The edits: a strategy is chosen above the model, and what makes and compiles it is under it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import line_of, statement_value
from migrate_mgpu.models.front.multi_gpu_model.reading import (
    Site,
    inside_strings,
    is_copy_of,
    is_import,
    is_print,
    loaded,
    unknown_gpus,
)
from migrate_mgpu.models.keras.multi_gpu_model.strategy import strategy
from migrate_mgpu.source.header_edit import read_header
from migrate_mgpu.source.source import Edit, Source, splice
from migrate_mgpu.source.statements import Layout, is_comment
from migrate_mgpu.source.style import FileStyle

# What a condition or a number of GPUs may be made of, to be asked for earlier than it stood.
_PURE = (
    ast.Name, ast.Constant, ast.Attribute, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp,
    ast.Subscript, ast.List, ast.Tuple, ast.expr_context, ast.operator, ast.cmpop, ast.boolop,
    ast.unaryop, ast.Slice,
)  # fmt: skip
_PURE_CALLS = {"len", "int", "max", "min", "str"}


class Placing:
    """Writes one site's edits. ``required`` are the statements that go under the strategy."""

    def __init__(
        self, site: Site, style: FileStyle, built: list[ast.stmt], compiled: list[ast.stmt]
    ) -> None:
        self.site = site
        self.module = site.module
        self.names = site.module.names
        self.source = site.module.source
        self.style = style
        self.tf = style.tensorflow
        self.built = built
        self.required = sorted(dict.fromkeys([*built, *compiled]), key=lambda s: s.lineno)
        if site.made is not None:
            self.required = sorted([*self.required, site.statement], key=lambda s: s.lineno)
        self.strategy = self.names.fresh(site.scope, "strategy", "mirrored_strategy")
        self.edits: list[Edit] = []
        self.moved: list[ast.stmt] = []  # statements that leave their place
        self.earlier: list[ast.stmt] = []  # of those, what the choice is calculated from

    def run(self) -> list[Edit]:
        """The edits.

        Raises:
            Refused: the strategy cannot be chosen where the model is made.
        """
        for statement in [*self.required, self.site.statement]:
            if not Layout(self.source, statement).owns_lines:
                raise Refused(
                    self.module, statement, "this statement shares its line with another",
                    "put it on a separate line",
                )  # fmt: skip
        first = self._first()
        if self.site.origin is not None:
            self.edits.append(self._with_strategy(first))
        else:
            self._check_known(first)
            self._move_up(first)
            self._choose(first)
        done: set[ast.stmt] = set()
        for statement in self.required:
            if statement not in done and not self._is_within(statement):
                done |= self._scoped(statement)
        return self.edits

    def _first(self) -> ast.stmt:
        """The statement of the model's block that the strategy is chosen above."""
        site, names = self.site, self.names
        block = names.block(site.anchor)
        first = min([*self.required, site.anchor], key=lambda s: s.lineno)
        for statement in [first, *names.ancestors(first)]:
            if statement in block:
                return statement
        raise Refused(
            self.module, first, "this is made in another block of statements than the model",
            "make it beside the model",
        )  # fmt: skip

    def _with_strategy(self, first: ast.stmt) -> Edit:
        """The strategy above a model that is copied elsewhere.

        A model that is made within another call gets a variable, so that nothing else of the
        statement is under the strategy.
        """
        site, layout = self.site, Layout(self.source, first)
        made = site.origin.call if site.origin is not None else site.call
        lines = [self._strategy_statement(layout.indent)]
        value = statement_value(site.statement)
        within = any(
            isinstance(parent, (ast.Call, ast.Yield))
            for parent in self.names.ancestors(made)
            if isinstance(parent, ast.expr)
        )
        place = self._comments_start(layout)
        if not within and isinstance(site.statement, (ast.Assign, ast.AnnAssign, ast.Return)):
            return Edit(place, place, layout.lines(lines))
        code = self.source.code(made)
        if self.required != [site.statement] or "\n" in code or value is None:
            raise Refused(
                self.module, made, "the model is made in the middle of a statement",
                "give it a plain variable first",
            )  # fmt: skip
        name = self.names.fresh(site.scope, "model", "copied_model")
        self.required = []
        self.edits.append(Edit(*self.source.span(made), name))
        head = f"with {self.strategy}.scope():"
        lines += [head, f"{self.source.indent_unit}{name} = {code}"]
        return Edit(place, place, layout.lines(lines))

    def _is_within(self, statement: ast.stmt) -> bool:
        """Whether a statement is a part of another one that goes under the strategy."""
        return any(parent in self.required for parent in self.names.ancestors(statement))

    # -- which strategy ---------------------------------------------------------

    def _strategy_statement(self, indent: str) -> str:
        head = f"{self.strategy} = "
        return head + strategy(
            self.module, self.site.gpus, self.style, indent, len(indent) + len(head)
        )

    @property
    def _default(self) -> str:
        return f"{self.strategy} = {self.tf}.distribute.get_strategy()"

    def _check_known(self, first: ast.stmt) -> None:
        """What the choice is made by must be known above the model."""
        site = self.site
        wanted: list[ast.expr] = [site.gpus] if site.gpus is not None else []
        if site.choice is not None and not site.inner:
            wanted.append(site.choice.test)
        stores = (
            node
            for group in self.names.attributes.values()
            for node in group
            if isinstance(node.ctx, ast.Store)
            and first.lineno <= node.lineno < site.statement.lineno
        )
        changed = {ast.unparse(node) for node in stores}
        for expression in wanted:
            self._check_expression(expression, first, changed)

    def _check_expression(self, expression: ast.expr, first: ast.stmt, changed: set[str]) -> None:
        for part in ast.walk(expression):
            if isinstance(part, ast.Call):
                if not self._is_pure(part):
                    raise unknown_gpus(self.module, part)
            elif not isinstance(part, (*_PURE, ast.keyword)):
                raise unknown_gpus(self.module, part)
            if isinstance(part, ast.Attribute) and ast.unparse(part) in changed:
                raise unknown_gpus(self.module, part)
            if isinstance(part, ast.Name):
                self._check_name(part, first, changed)

    def _is_pure(self, call: ast.Call) -> bool:
        """Whether a call gives the same wherever it stands: sizes, the machine's devices."""
        name = self.names.qualname(call.func) or ""
        if name.startswith("builtins."):
            return name.rpartition(".")[2] in _PURE_CALLS
        return name.startswith("tensorflow.") and name.endswith("list_physical_devices")

    def _check_name(self, name: ast.Name, first: ast.stmt, changed: set[str]) -> None:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is not self.site.scope:
            return
        late = [
            binding
            for binding in home.bindings[name.id]
            if binding.kind not in ("parameter", "import", "def", "class")
            and first.lineno <= line_of(binding.node)
        ]
        if not late:
            return
        statement = self.names.statement(late[0].node)
        value = late[0].value
        if (
            len(home.bindings[name.id]) > 1
            or value is None
            or statement not in self.names.block(first)
            or statement.lineno > self.site.statement.lineno
            or not Layout(self.source, statement).owns_lines
        ):
            raise unknown_gpus(self.module, name)
        self._check_expression(value, first, changed)
        if statement not in self.earlier:
            self.earlier.append(statement)

    def _choose(self, first: ast.stmt) -> None:
        site = self.site
        layout = Layout(self.source, first)
        if site.inner:
            single = Layout(self.source, site.single[0])
            self.edits.append(single.insert_before([self._default]))
            self._above(first, [self._strategy_statement(layout.indent)])
            self._remove(site.statement)
            return
        if isinstance(site.choice, ast.IfExp):
            self._above(first, [self._conditional(layout.indent)])
            self._remove(site.statement)
        elif site.choice is None:
            comment = Layout(self.source, site.statement).trailing_comment
            line = self._strategy_statement(layout.indent)
            self._above(first, [line if comment is None else f"{line}  {comment}"])
            self._remove(site.statement)
        elif self._only_chooses():
            self._move_choice(first)
        else:
            unit = self.source.indent_unit
            test = self.source.code(site.choice.test)
            if site.statement not in site.choice.body:
                test = f"not ({test})"
            inner = layout.indent + unit
            self._above(
                first, [self._default, f"if {test}:", unit + self._strategy_statement(inner)]
            )
            self._remove(site.statement)

    def _move_up(self, first: ast.stmt) -> None:
        """What the choice is calculated from goes above the model, with its comments."""
        source = self.source
        place = self._comments_start(Layout(source, first))
        for statement in self.earlier:
            layout = Layout(source, statement)
            start = self._comments_start(layout)
            self.edits.append(Edit(place, place, source.text[start : layout.next_line]))
            self.edits.append(Edit(start, layout.next_line, ""))
            self.moved.append(statement)

    def _conditional(self, indent: str) -> str:
        choice = self.site.choice
        assert isinstance(choice, ast.IfExp)
        mirrored = self._strategy_statement("").partition(" = ")[2]
        default = self._default.partition(" = ")[2]
        yes, no = (mirrored, default) if choice.body is self.site.call else (default, mirrored)
        unit = self.source.indent_unit
        line = f"{self.strategy} = {yes} if {self.source.code(choice.test)} else {no}"
        if len(indent) + len(line) <= 88:
            return line
        test = self.source.code(choice.test)
        parts = [f"{self.strategy} = (", f"{unit}{yes}", f"{unit}if {test} else {no}", ")"]
        return f"{self.source.newline}{indent}".join(parts)

    def _only_chooses(self) -> bool:
        """Whether an `if` does nothing but choose the model, and tell about it."""
        site = self.site
        for statement in [*site.own, *site.single]:
            if statement is site.statement or is_copy_of(statement, site.target, site.model):
                continue
            if is_import(statement):
                continue
            if not is_print(statement) or {site.model, site.target} & loaded(statement):
                return False
        return True

    def _move_choice(self, first: ast.stmt) -> None:
        """The author's `if`, above the model, chooses the strategy."""
        site, source = self.site, self.source
        assert isinstance(site.choice, ast.If)
        layout = Layout(source, site.choice)
        start, end = self._comments_start(layout), layout.next_line
        inner: list[Edit] = []
        told = False
        for statement in [*site.own, *site.single]:
            span = source.span(statement)
            if statement is site.statement:
                inner.append(Edit(*span, self._strategy_statement(source.indent_of(statement))))
            elif is_copy_of(statement, site.target, site.model):
                inner.append(Edit(*span, self._default))
                told = True
            elif is_import(statement):
                whole = Layout(source, statement)
                inner.append(Edit(whole.line_start, whole.next_line, ""))
        text = splice(source.text, inner, start, end)
        if not told:
            text = f"{layout.indent}{self._default}{source.newline}{text}"
        place = self._comments_start(Layout(source, first))
        if not text.endswith("\n"):
            text += source.newline
        self.edits += [Edit(place, place, text), Edit(start, end, "")]
        self.moved.append(site.choice)

    def _above(self, first: ast.stmt, lines: list[str]) -> None:
        """New lines above the model and its comments, with the comments of the copies."""
        site, source = self.site, self.source
        layout = Layout(source, first)
        copying = Layout(source, site.statement)
        comments: list[str] = []
        if site.choice is None or isinstance(site.choice, ast.IfExp) or site.inner:
            above = source.text[self._comments_start(copying) : copying.line_start]
            comments = [line.strip() for line in above.splitlines()]
        if first is site.statement:
            comments = []  # they stay above it
        place = self._comments_start(layout) if comments else layout.line_start
        self.edits.append(Edit(place, place, layout.lines([*comments, *lines])))

    def _comments_start(self, layout: Layout) -> int:
        line = self.source.place(layout.line_start)[0]
        while line > 1 and is_comment(self.source.line_text(line - 1)):
            if not self.source.line_text(line - 1).startswith(f"{layout.indent}#"):
                break
            line -= 1
        return self.source.line_starts[line - 1]

    def _remove(self, statement: ast.Assign) -> None:
        """The call of ``multi_gpu_model`` goes, and its comments moved along."""
        site, source = self.site, self.source
        layout = Layout(source, statement)
        if site.made is not None:  # `model = multi_gpu_model(build(), gpus=2)`
            start, end = source.span(site.made)
            first, last = source.span(site.choice if isinstance(site.choice, ast.IfExp) else
                                      site.call)  # fmt: skip
            self.edits += [Edit(first, start, ""), Edit(end, last, "")]
            return
        self.moved.append(statement)
        if len(self.names.block(statement)) == 1:
            self.edits.append(layout.replace(["pass"]))
            return
        start = layout.line_start
        if site.choice is None or isinstance(site.choice, ast.IfExp) or site.inner:
            start = self._comments_start(layout)
        self.edits.append(Edit(start, layout.next_line, ""))

    # -- the scope ----------------------------------------------------------------

    def _scoped(self, first: ast.stmt) -> set[ast.stmt]:
        """Puts a statement and those that belong to it under the strategy."""
        block = self.names.block(first)
        index = block.index(first)
        last = index
        for number in range(index + 1, len(block)):
            if is_other_cell(self.source, first, block[number]):
                break
            if block[number] in self.required:
                if _placed_by_hand(block[number]):
                    break
                last = number
            elif not self._is_light(block[number]):
                break
        group = block[index : last + 1]
        head = f"with {self.strategy}.scope():"
        layout = Layout(self.source, first)
        if _placed_by_hand(first):
            assert isinstance(first, ast.With)
            end = read_header(self.source, first).end
            self.edits.append(Edit(layout.start, end, head))
            indented = group[1:]
        else:
            self.edits.append(layout.insert_before([head]))
            indented = group
        if indented:
            begin = indented[0].lineno
            if indented is not group:  # comments behind the replaced `with` move in as well
                begin = (first.end_lineno or first.lineno) + 1
            self._indent(begin, indented)
        return {s for s in group if s in self.required}

    def _is_setting(self, statement: ast.stmt) -> bool:
        """`layer.trainable = False`, in a loop too; a plain value that is compiled."""
        if isinstance(statement, (ast.For, ast.If)):
            return all(self._is_setting(s) for s in [*statement.body, *statement.orelse])
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        if any(isinstance(part, ast.Call) for part in ast.walk(statement.value)):
            return False
        target = statement.targets[0]
        if isinstance(target, ast.Attribute):
            return target.attr == "trainable"
        return isinstance(target, ast.Name) and any(
            target.id in loaded(other) for other in self.required
        )

    def _is_light(self, statement: ast.stmt) -> bool:
        """A statement between two that may as well stand under the strategy with them."""
        if statement in self.moved or self._is_setting(statement):
            return True
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return False
        if is_print(statement):
            return True
        function = statement.value.func
        return (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id in (self.site.model, self.site.target)
            and function.attr in ("load_weights", "summary", "set_weights")
        )

    def _indent(self, begin: int, statements: Iterable[ast.stmt]) -> None:
        source, unit = self.source, self.source.indent_unit
        body = list(statements)
        end = body[-1].end_lineno or body[-1].lineno
        inside = {line for s in body for line in inside_strings(s)}
        gone = [(Layout(source, s).line_start, Layout(source, s).next_line) for s in self.moved]
        for line in range(begin, end + 1):
            start = source.line_starts[line - 1]
            if line in inside or not source.line_text(line).strip():
                continue
            if any(a <= start < b for a, b in gone):
                continue
            if any(e.start <= start < e.end for e in self.edits):
                continue
            self.edits.append(Edit(start, start, unit))


def is_other_cell(source: Source, first: ast.stmt, statement: ast.stmt) -> bool:
    """Whether a notebook's cell begins between two statements."""
    lines = range(first.lineno, statement.lineno)
    return any(source.line_text(line).startswith("# %%") for line in lines)


def _placed_by_hand(statement: ast.stmt) -> bool:
    """``with tf.device('/cpu:0'):``, which a strategy's scope takes the place of."""
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return False
    call = statement.items[0].context_expr
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "device"
        and statement.items[0].optional_vars is None
    )
