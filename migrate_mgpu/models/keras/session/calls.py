"""Where a session ran a step, the step's function is called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.array_formats import single_element_arrays
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.float_values import is_float
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session import host_objects
from migrate_mgpu.models.front.session.host_objects import OwnIterator
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.ir import Fetch, Placeholder, Run
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.variables import type_text
from migrate_mgpu.source.blocks import render, trailing
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.statements import comments as comments_in
from migrate_mgpu.source.style import FileStyle

_UNBROKEN = 1_000_000  # columns to the left: a part of an f-string stays on its line


class RunWriter:
    """Writes the calls of steps. ``dedent`` says how much indentation a place loses, ``step``
    how the step of a run is called there.
    """

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        context: Context,
        style: FileStyle,
        dedent: Callable[[ast.AST], int],
        step: Callable[[Run], str],
    ) -> None:
        self.program = program
        self.module = program.scope.module
        self.source = self.module.source
        self.names = names
        self.context = context
        self.style = style
        self.dedent = dedent
        self.step = step

    def edits(self) -> Iterator[Edit]:
        for run in self.program.runs:
            yield self._edit(run)

    def _edit(self, run: Run) -> Edit:
        if run.many and any(fetch.sparse for fetch in run.fetches):
            text = "a sparse tensor is fetched in a list"
            raise Refused(self.module, run.call, text, "run it alone")
        statement = self.module.names.statement(run.call)
        indent = self.source.indent_of(statement)
        indent = indent[: len(indent) - self.dedent(statement)]
        is_alone = isinstance(statement, ast.Expr) and statement.value is run.call
        if is_alone and not self._is_shown(run, statement):
            lines = self._unused(run, indent)
        elif isinstance(statement, ast.Assign) and statement.value is run.call:
            lines = self._assigned(run, statement, indent)
        else:
            return self._within(run, statement, indent)
        layout = Layout(self.source, statement)
        start, end = self.source.span(statement)
        newline = self.source.newline
        if len(lines) > 1 and not layout.owns_lines:
            raise Refused(self.module, statement, "another statement is on its line")
        comment = trailing(self.source, statement) if len(lines) > 1 else ""
        if comment:  # it stays behind the first line
            end = layout.line_end
            lines = [lines[0] + comment, *lines[1:]]
        text = f"\n{indent}".join(lines)
        return Edit(start, end, text.replace("\n", newline))

    def own_iterator(self, own: OwnIterator) -> Iterator[Edit]:
        """The edits where an iterator beside the graph begins, and where it is drawn from."""
        for begun in own.begins:
            yield Edit(*self.source.span(begun), f"{own.name} = iter({own.source.id})")
        value, parents = self.names.value, self.module.names.parents
        for call, is_list in own.runs.items():
            statement = parents[call]
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            text, end = (
                f"{self.style.tensorflow}.nest.map_structure(lambda {value}: {value}.numpy(), ",
                ")",
            )
            if isinstance(target, (ast.Tuple, ast.List)) or is_list:
                text, end = f"[{value}.numpy() for {value} in ", "]"
            yield Edit(*self.source.span(call), f"{text}{own.name}.get_next(){end}")

    def _is_shown(self, run: Run, statement: ast.stmt) -> bool:
        """Whether a notebook shows what is fetched, because its cell ends here."""
        if not isinstance(self.source, Notebook) or any(f.update for f in run.fetches):
            return False
        start, end = self.source.span(statement)
        top_level = statement in self.module.tree.body
        return top_level and not self.source.text[end : self.source.part_at(start)[1]].strip()

    def _unused(self, run: Run, indent: str) -> list[str]:
        if not any(fetch.value is not None or not fetch.gives for fetch in run.fetches):
            raise Refused(self.module, run.call, "it fetches variables whose values are not used")
        return [self._call(run, indent, len(indent))]

    def _assigned(self, run: Run, statement: ast.Assign, indent: str) -> list[str]:
        """`_, l, w = sess.run([train, loss, weights])`, the variables in a line of their own."""
        if len(statement.targets) != 1:
            raise Refused(self.module, statement, "it is assigned to several names at once")
        target = statement.targets[0]
        if not any(fetch.gives for fetch in run.fetches) and isinstance(target, ast.Name):
            self._unread(target)
            return [self._call(run, indent, len(indent))]
        if not run.many:
            return [f"{self.source.code(target)} = {self._single(run, indent, target)}"]
        if not isinstance(target, (ast.Tuple, ast.List)):
            return [f"{self.source.code(target)} = {self._several(run, indent, target)}"]
        if len(target.elts) != len(run.fetches) or any(
            isinstance(one, ast.Starred) for one in target.elts
        ):
            raise Refused(self.module, statement, "what is fetched does not fit its names")
        computed: list[tuple[str, Fetch]] = []
        variables: list[tuple[str, Fetch]] = []
        for one, fetch in zip(target.elts, run.fetches):
            name = self.source.code(one)
            if not fetch.gives:
                self._unread(one)
            elif fetch.variable:
                variables.append((name, fetch))
            else:
                computed.append((name, fetch))
        lines: list[str] = []
        if computed or any(not fetch.gives for fetch in run.fetches):
            lines.append(self._computed(run, computed, indent))
        if variables:
            left = ", ".join(name for name, _ in variables)
            right = ", ".join(self._read(f) for _, f in variables)
            lines.append(f"{left} = {right}")
        return lines

    def _read(self, fetch: Fetch) -> str:
        """What is read behind a step, or without one."""
        if fetch.computed:
            return f"{self.context.render(fetch.node)}.numpy()"
        result = ".result()" if fetch.of_metric else ""
        return f"{self.source.code(fetch.node)}{result}.numpy()"

    def _computed(self, run: Run, computed: list[tuple[str, Fetch]], indent: str) -> str:
        order = [self._index(run, fetch) for _, fetch in computed]
        if not computed:
            return self._call(run, indent, len(indent))
        left = ", ".join(name for name, _ in computed)
        if len(run.step.values) == 1 and len(computed) == 1:
            return f"{left} = {self._value(run, indent, len(indent + left) + 3)}"
        if sorted(order) != order or len(set(order)) != len(run.step.values):
            raise Refused(self.module, run.call, "a value is fetched twice")
        head, last = self._around(run, True)
        head = f"{left} = {head}"
        return f"{head}{self._call(run, indent, len(indent + head), 1)}{last}"

    def _around(self, run: Run, several: bool, as_tuple: bool = False) -> tuple[str, str]:
        """What stands around the call of a step and makes arrays of its tensors.

        ``as_tuple``: those of several are a tuple.
        """
        value = self.names.value
        if any(fetch.sparse for fetch in run.fetches):
            return f"{self.names.sparse_value}(", ")"
        if any(fetch.nested for fetch in run.fetches):
            tf = self.style.tensorflow
            return f"{tf}.nest.map_structure(lambda {value}: {value}.numpy(), ", ")"
        if several and as_tuple:
            return f"tuple({value}.numpy() for {value} in ", ")"
        return (f"[{value}.numpy() for {value} in ", "]") if several else ("", ".numpy()")

    def _value(self, run: Run, indent: str, column: int) -> str:
        """The one value of a step."""
        head, last = self._around(run, False)
        return f"{head}{self._call(run, indent, column + len(head), len(last))}{last}"

    def _index(self, run: Run, fetch: Fetch) -> int:
        for index, value in enumerate(run.step.values):
            if value is fetch.value or (
                isinstance(value, ast.Name)
                and isinstance(fetch.value, ast.Name)
                and value.id == fetch.value.id
            ):
                return index
        raise Refused(self.module, run.call, "a value of this run is not known")

    def _unread(self, target: ast.expr) -> None:
        """What takes an update's value, which is None, is read nowhere."""
        if not isinstance(target, ast.Name):
            raise Refused(self.module, target, "it takes the value of an operation, which is None")
        names = self.module.names
        home = names.defining_scope(target.id, names.scope_of_name[target])
        if home is not None:
            for name in names.mentions(target.id, home):
                if isinstance(name.ctx, ast.Load):
                    text = f"`{name.id}` is the value of an operation, which is None"
                    raise Refused(self.module, name, text)

    def _within(self, run: Run, statement: ast.stmt, indent: str) -> Edit:
        """A run inside a larger expression."""
        start, end = self.source.span(run.call)
        column = self.source.place(start)[1] - 1 - self.dedent(statement)
        if any(isinstance(one, ast.JoinedStr) for one in self.module.names.ancestors(run.call)):
            column = -_UNBROKEN
        item = self._item(run)
        if item is not None and any(fetch.nested for fetch in run.fetches):
            text = "one of several values is read here, and there are lists of tensors among them"
            raise Refused(self.module, run.call, text, "assign it to as many names")
        if item is not None and item.computed:
            end = self.source.span(self.module.names.parents[run.call])[1]
            text = self._read(item)
        elif item is not None:
            end = self.source.span(self.module.names.parents[run.call])[1]
            place = "" if len(run.step.values) == 1 else f"[{self._index(run, item)}]"
            text = f"{self._call(run, indent, column, len(place) + len('.numpy()'))}{place}.numpy()"
        elif self._is_repeated(run.call):
            text = self._call(run, indent, column)
        elif not run.many:
            text = self._single(run, indent, None, column)
        elif self._is_cut(run):
            end = self.source.span(self.module.names.parents[run.call])[1]
            text = self._values(run, indent, column)
        else:
            text = self._several(run, indent, None, column)
        return Edit(start, end, text.replace("\n", self.source.newline))

    def _is_repeated(self, call: ast.Call) -> bool:
        """Whether a list of what runs give is thrown away: `[sess.run(op) for _ in range(5)]`."""
        parents = self.module.names.parents
        made = parents[call]
        if not isinstance(made, ast.ListComp) or made.elt is not call:
            return False
        shown = isinstance(self.source, Notebook) and parents[made] in self.module.tree.body
        return isinstance(parents[made], ast.Expr) and not shown

    def _is_cut(self, run: Run) -> bool:
        """Whether what follows the values, which is nothing, is cut off: `sess.run([...])[:3]`."""
        parent = self.module.names.parents[run.call]
        part = parent.slice if isinstance(parent, ast.Subscript) else None
        if not isinstance(part, ast.Slice) or part.lower or part.step or part.upper is None:
            return False
        kept = [fetch.value for fetch in run.fetches[: len(run.step.values)]]
        if constant(part.upper) != len(kept) or any(f.gives for f in run.fetches[len(kept) :]):
            return False
        order = [self._index(run, f) for f in run.fetches[: len(kept)] if f.value is not None]
        return order == list(range(len(kept)))

    def _item(self, run: Run) -> Fetch | None:
        """The one value of a list that is read: `sess.run([loss, train])[0]`."""
        parent = self.module.names.parents[run.call]
        if not run.many or not isinstance(parent, ast.Subscript) or parent.value is not run.call:
            return None
        index = constant(parent.slice)
        if not isinstance(index, int) or not -len(run.fetches) <= index < len(run.fetches):
            return None
        fetch = run.fetches[index]
        alone = fetch.computed and len(run.fetches) == 1
        return fetch if fetch.value is not None or alone else None

    def _single(
        self, run: Run, indent: str, target: ast.expr | None, column: int | None = None
    ) -> str:
        fetch = run.fetches[0]
        if not fetch.gives:
            what = "that variables are given" if fetch.copies else "of an operation, which is None,"
            raise Refused(self.module, run.call, f"the value {what} is read")
        if fetch.variable:
            number = run.call in single_element_arrays(self.module)
            return self._read(fetch) + (".item()" if number else "")
        if column is None:
            assert target is not None
            column = len(indent) + len(self.source.code(target)) + 3
        return self._value(run, indent, column)

    def _several(
        self, run: Run, indent: str, target: ast.expr | None, column: int | None = None
    ) -> str:
        """A list of values, or a tuple, that is not taken apart."""
        if all(fetch.variable for fetch in run.fetches):
            each = ", ".join(self._read(f) for f in run.fetches)
            return self._display(run, each, len(run.fetches))
        order = [self._index(run, f) for f in run.fetches if f.value is not None]
        if any(fetch.copies for fetch in run.fetches):
            text = "the values that variables are given are read"
            raise Refused(self.module, run.call, text, "fetch the variables")
        if order != list(range(len(run.step.values))):
            text = "a list of values in another order than its step gives them is not unpacked here"
            raise Refused(self.module, run.call, text, "assign it to as many names")
        if column is None:
            assert target is not None
            column = len(indent) + len(self.source.code(target)) + 3
        if len(order) < len(run.fetches):
            if any(fetch.nested for fetch in run.fetches):
                text = "lists of tensors are fetched with variables or operations"
                raise Refused(self.module, run.call, text, "assign it to as many names")
            return self._among_others(run, indent, column)
        return self._values(run, indent, column)

    def _values(self, run: Run, indent: str, column: int) -> str:
        """The list, or the tuple, of a step's values."""
        if len(run.step.values) == 1:
            head, last = self._around(run, False)
            value = f"{head}{self._call(run, indent, column + 1 + len(head), 10)}{last}"
            return self._display(run, value, 1)
        head, last = self._around(run, True, self._is_tuple(run))
        if any(fetch.nested for fetch in run.fetches):
            kind = "tuple" if self._is_tuple(run) else "list"
            head, last = f"{kind}({head}", f"{last})"
        return f"{head}{self._call(run, indent, column + len(head), 1)}{last}"

    def _is_tuple(self, run: Run) -> bool:
        """Whether a run is given a tuple of what it fetches, and gives one."""
        return isinstance(self.module.names.parents.get(run.fetches[0].node), ast.Tuple)

    def _display(self, run: Run, each: str, count: int) -> str:
        """Values as the list, or the tuple, that TF1 gave."""
        if not self._is_tuple(run):
            return f"[{each}]"
        return f"({each},)" if count == 1 else f"({each})"

    def _among_others(self, run: Run, indent: str, column: int) -> str:
        """A list of values, and of variables or operations, which have None, as TF1 gave it.

        Raises:
            Refused: they stand between several values, or a variable that the step changes stands
                before them.
        """
        others = [
            None if one.value is not None else self._read(one) if one.variable else "None"
            for one in run.fetches
        ]
        values = [index for index, other in enumerate(others) if other is None]
        if not values:
            text = "a list of operations is fetched, and its values are None"
            raise Refused(self.module, run.call, text, "run them in a statement of their own")
        before, behind = others[: values[0]], others[values[-1] + 1 :]
        advice = "assign the list to as many names"
        if len(before) + len(values) + len(behind) != len(others):
            text = "it fetches something else between values, and they are not taken apart here"
            raise Refused(self.module, run.call, text, advice)
        if run.step.changes and set(before) != {"None"} and before:
            text = "a variable that the step may change is fetched before a value"
            raise Refused(self.module, run.call, text, advice)
        value = self.names.value
        first = "".join(f"{other}, " for other in before)
        last = "".join(f", {other}" for other in behind)
        head = ("(" if self._is_tuple(run) else "[") + first
        if len(values) > 1:
            head += f"*[{value}.numpy() for {value} in "
        call = self._call(run, indent, column + len(head), len(last) + 9)
        end = ")" if self._is_tuple(run) else "]"
        return f"{head}{call}{'.numpy()' if len(values) == 1 else ']'}{last}{end}"

    def _call(self, run: Run, indent: str, column: int, tail: int = 0) -> str:
        if run.step in self.program.eager:
            return self.context.render(run.step.values[0])
        name = self.step(run)
        anew = self.program.restarted(run.step.units)
        iterators = [self._drawn_from(one, name) for one in anew]
        in_order = [placeholder for placeholder, _ in run.feeds] == list(run.step.feeds)
        for placeholder in run.step.feeds if run.fed is not None or not in_order else ():
            if placeholder.name.startswith("_"):  # tf.function calls it `arg__x`
                text = f"a function of TF2 is given nothing by the name `{placeholder.name}`"
                raise Refused(
                    self.module,
                    run.call,
                    text,
                    "give the placeholder a name that begins with a letter",
                )
        if run.fed is not None:
            fed = self.source.code(run.fed)
            if not run.picks:
                return f"{name}({', '.join([*iterators, f'**{fed}'])})"
            keys = (self.style.string(placeholder.name) for placeholder in run.step.feeds)
            picked = [f"{fed}[{key}]" for key in keys]
            return self.style.call(name, [*iterators, *picked], indent, column, tail)
        arguments = list(iterators)
        for placeholder, value in run.feeds:
            head = "" if in_order else f"{placeholder.name}="
            text = render(self.source, value, self.context.edits(value))
            before, behind = around_fed(placeholder, value, self.names, self.context)
            arguments.append(f"{head}{before}{text}{behind}")
        comments = self._comments(run)
        if any(above or behind for above, behind in comments):
            comments = [([], "")] * len(iterators) + comments
            return self._with_comments(name, arguments, comments, indent)
        return self.style.call(name, arguments, indent, column, tail)

    def _drawn_from(self, iterator: host_objects.Iterator, name: str) -> str:
        """What a step is given that it draws from: an attribute where methods begin it anew.

        ``name`` is that of the step there, an attribute of the same object.
        """
        holder, _, _ = name.rpartition(".")
        kept = self.program.attributes.get(iterator.name)
        return f"{holder}.{kept}" if holder and kept else iterator.name

    def _comments(self, run: Run) -> list[tuple[list[str], str]]:
        """The comments above each value of a dictionary that is fed, and behind it."""
        lines = [(node.lineno, node.end_lineno or node.lineno) for _, node in run.feeds]
        above: list[list[str]] = [[] for _ in lines]
        behind = [""] * len(lines)
        within = self.module.names.parents[run.feeds[0][1]] if run.feeds else None
        if not isinstance(within, ast.Dict):
            return []
        for comment in comments_in(self.source.code(run.call)):
            line = run.call.lineno + comment.line
            if any(first <= line < last for first, last in lines):
                continue  # within a value
            ends = [index for index, (_, last) in enumerate(lines) if last == line]
            later = [index for index, (first, _) in enumerate(lines) if first > line]
            if ends and not comment.alone:
                behind[ends[-1]] = comment.text
            elif later and comment.alone and line > within.lineno:
                above[later[0]].append(comment.text)
        return list(zip(above, behind))

    def _with_comments(
        self, name: str, arguments: list[str], comments: list[tuple[list[str], str]], indent: str
    ) -> str:
        """A call with a line for each argument."""
        inner = self.style.continued(indent)
        lines = [f"{name}("]
        for argument, (above, behind) in zip(arguments, comments):
            lines += [inner + comment for comment in above]
            lines.append(f"{inner}{argument},{'  ' if behind else ''}{behind}")
        return "\n".join([*lines, f"{indent})"])


# What makes an array of floats, where it is given no type.
_FLOAT_ARRAYS = ("numpy.eye", "numpy.identity", "numpy.zeros", "numpy.ones")


def around_fed(
    placeholder: Placeholder, value: ast.expr, names: StepNames, context: Context
) -> tuple[str, str]:
    """What stands before and behind a value where it is given to a step."""
    if placeholder.sparse:
        return f"{names.sparse}(", f", {type_text(placeholder, context)})"
    cast = _cast_of(context.module, placeholder, value)
    return (f"{cast}(", ")") if cast else ("", "")


def _cast_of(module: Module, placeholder: Placeholder, value: ast.expr) -> str:
    """What a number becomes before it is given to a function, where that would not take it.

    A feed made an integer of a float, and a truth value of an integer. Functions do so with arrays,
    and not with lists of them.
    """
    dtype = placeholder.arguments.get("dtype")
    told = str(constant(dtype) or name_of(placeholder.module, dtype))
    if told in ("int32", "int64", "int16", "int8", "uint8"):
        return "int" if is_float(module, value) else _array_of(module, value)
    return "bool" if told == "bool" and _is_integer(value) else ""


def _array_of(module: Module, value: ast.expr) -> str:
    """What makes an array of a list of NumPy's arrays of floats; nothing of what is none."""
    names = module.names
    made = names.only_value(value) if isinstance(value, ast.Name) else value
    elements = [*made.elts] if isinstance(made, ast.List) else []
    if isinstance(made, ast.ListComp):
        elements.append(made.elt)
    if isinstance(value, ast.Name):
        home = names.defining_scope(value.id, names.scope_of_name[value])
        mentions = names.mentions(value.id, home) if home is not None else []
    else:
        mentions = []
    for mention in mentions:
        method = names.parents[mention]
        call = names.parents.get(method)
        if isinstance(method, ast.Attribute) and method.attr == "append":
            elements += call.args if isinstance(call, ast.Call) and call.func is method else []
    for element in elements:
        while isinstance(element, ast.Subscript):
            element = element.value
        if isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
            typed = any(one.arg == "dtype" for one in element.keywords)
            if names.qualname(element.func) in _FLOAT_ARRAYS and not typed:
                return f"{module.source.code(element.func.value)}.array"
    return ""


def _is_integer(value: ast.expr) -> bool:
    """Whether an expression is a whole number, as far as it is seen: `step % 2`."""
    if isinstance(value, ast.BinOp):
        return type(constant(value.right)) is int and isinstance(value.op, (ast.Mod, ast.BitAnd))
    return type(constant(value)) is int
