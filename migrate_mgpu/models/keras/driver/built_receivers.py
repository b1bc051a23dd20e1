"""Receivers that TF1 builds: of serialized examples, or of tensors like the features."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import items
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.hooks import forget
from migrate_mgpu.models.keras.driver.serving import OF_EXAMPLES, Answer, decorator
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.statements import Layout

_BUILDERS = {
    "estimator.export.build_parsing_serving_input_receiver_fn": "parsing",
    "estimator.export.build_raw_serving_input_receiver_fn": "raw",
}
_ADVICE = "write a receiver function with placeholders"
NAME = "serving_input_receiver_fn"


def builder(module: Module, node: ast.expr | None) -> str:
    """``parsing`` or ``raw`` for a call that builds such a receiver; else empty."""
    name = tensorflow_name(module, node.func) if isinstance(node, ast.Call) else ""
    return _BUILDERS.get(name, "")


class BuiltReceiver:
    """A receiver that a call builds, as a function of the model that gives what to serve."""

    def __init__(
        self, module: Module, call: ast.Call, changes: DriverEdits, answer: Answer
    ) -> None:
        self.module = module
        self.call = call
        self.changes = changes
        self.answer = answer
        self.source = module.source
        self.style = style_at(module, call)
        self.kind = builder(module, call)
        first = "feature_spec" if self.kind == "parsing" else "features"
        given = arguments_of(module, call, (first, "default_batch_size"))
        if first not in given:
            raise Refused(module, call, f"a receiver without its {first}", _ADVICE)
        self.features = given[first]
        size = given.get("default_batch_size")
        asked = answer.canned or answer.examples
        self.takes_texts = asked and self.kind == "parsing" and size is None
        if asked and not self.takes_texts:
            raise Refused(module, call, OF_EXAMPLES, _ADVICE)
        self.size = text_of(module, size) if size is not None else "None"

    def write(self, place: ast.stmt) -> str:
        """Writes the function in the place of its assignment, or before a statement; its name.

        Raises:
            Refused: an input that is not known, or a builder that is kept elsewhere.
        """
        names = self.module.names
        statement = names.statement(self.call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        layout = Layout(self.source, statement)
        if isinstance(target, ast.Name) and statement_value(statement) is self.call:
            if not layout.owns_lines or len(names.bindings_of(target)) != 1:
                raise Refused(self.module, self.call, "which receiver this is cannot be determined")
            name = target.id
            if statement not in self.changes.gone:
                self.changes.gone.add(statement)
                lines = self._apart(layout, self._lines(name, layout.indent))
                self.changes.edit(self.module, layout.replace(lines))
            return name
        if statement is not place:
            raise Refused(self.module, self.call, "where this receiver goes cannot be analyzed")
        name = names.fresh(names.scope_at(place), NAME, f"{NAME}_1", "serving_fn")
        layout = Layout(self.source, place)
        lines = self._apart(layout, [*self._lines(name, layout.indent), ""])
        self.changes.edit(self.module, layout.insert_before(lines))
        return name

    def _apart(self, layout: Layout, lines: list[str]) -> list[str]:
        """A function's lines, with blank ones between it and other code."""
        source, gap = self.source, [""] if layout.indent else ["", ""]
        above = source.line_text(source.place(layout.line_start)[0] - 1).strip()
        below = source.text[layout.next_line :].split("\n", 1)[0].strip()
        if lines[-1] or not below:  # it takes the statement's place
            return [*(gap if above else []), *lines, *(gap if below else [])]
        return [*(gap if above else []), *lines[:-1], *gap]

    def _lines(self, name: str, indent: str) -> list[str]:
        module, source = self.module, self.source
        block = Block(source, indent)
        names = module.names
        scope = names.scope_at(self.call)
        taken = {n.id for n in ast.walk(self.features) if isinstance(n, ast.Name)}
        model = next(n for n in ("model", "keras_model", "served_model") if n not in taken)
        if self.kind == "parsing":
            examples = next(n for n in ("examples", "serialized", "requests") if n not in taken)
            style = self.style
            tf = style.tensorflow
            spec = f"{tf}.TensorSpec([{self.size}], {tf}.string, "
            specs, parameters = [f"{spec}name={style.string('examples')})"], [examples]
            base = indent + style.indent * 2
            shown = text_of(module, self.features, len(base), base)
            body = [f"features = {self.style.tensorflow}.io.parse_example({examples}, {shown})"]
            given = "features"
        else:
            specs, parameters, given = self._raw()
            body = []
        serve = names.fresh(scope, "serve", "serving")
        block.line(f"def {name}({model}):")
        decorator(block, self.style, specs)
        block.line(f"def {serve}({', '.join(parameters)}):", 1)
        for line in body:
            block.line(line, 2)
        block.line(f"return {self.answer.text(model, given, self.style)}", 2)
        block.line()
        block.line(f"return {serve}", 1)
        return [line.removeprefix(indent) for line in block.lines]

    def _raw(self) -> tuple[list[str], list[str], str]:
        """The specs, parameters and the dictionary of features of a raw receiver."""
        module, style = self.module, self.style
        table, statement = self._table()
        specs: list[str] = []
        parameters: list[str] = []
        pairs: list[str] = []
        for key, value in items(table).items():
            name = tensorflow_name(module, value.func) if isinstance(value, ast.Call) else ""
            if not isinstance(value, ast.Call) or name != "placeholder" or not _plain(key):
                raise Refused(module, value, "a raw input that is not a placeholder", _ADVICE)
            given = arguments_of(module, value, ("dtype", "shape", "name"))
            shape = given.get("shape")
            if not isinstance(shape, (ast.List, ast.Tuple)) or not shape.elts:
                raise Refused(module, value, "a raw input whose shape is not a literal", _ADVICE)
            rest = [text_of(module, node) for node in shape.elts[1:]]
            dtype = Context(module, self.style).render(given["dtype"])
            text = f"[{', '.join([self.size, *rest])}], {dtype}, name={style.string(str(key))}"
            specs.append(f"{self.style.tensorflow}.TensorSpec({text})")
            parameters.append(str(key))
            pairs.append(f"{style.string(str(key))}: {key}")
        if not specs:
            raise Refused(
                module, self.features, "the raw inputs are not a dictionary literal", _ADVICE
            )
        if statement is not None:
            self.changes.gone.add(self.call)
            forget(self.changes, module, statement)
            if statement not in self.changes.gone:
                raise Refused(module, statement, "these placeholders are used for more", _ADVICE)
        return specs, parameters, f"{{{', '.join(pairs)}}}"

    def _table(self) -> tuple[ast.expr, ast.Assign | None]:
        """The dictionary of a raw receiver, and the statement that keeps it in a variable."""
        node = self.features
        if isinstance(node, ast.Name):
            value = self.module.names.only_value(node)
            statement = self.module.names.statement(value) if value is not None else None
            if value is not None and isinstance(statement, ast.Assign):
                return value, statement
        return node, None


def _plain(key: object) -> bool:
    return isinstance(key, str) and key.isidentifier()
