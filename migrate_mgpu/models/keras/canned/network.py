"""The class of a canned Estimator's network, as text."""

from __future__ import annotations

import ast

from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.canned.categories import Column
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.source.style import FileStyle

_WIDTH = 92  # of a line inside of a class, whose own indentation is not counted
_ORDER = "# Feature columns stand in the order of their names."


@record()
class Network:
    """A dense or linear network over columns; ``body`` writes its class.

    ``layer``: it is a layer, a part of a model.

    ``keys`` is the list of plain numbers that the constructor is given (else ``columns``
    are written out, under ``comments``), ``settings`` the other parameters of the
    Estimator's constructor that the program gives.
    """

    style: FileStyle
    linear: bool
    head: HeadWriter
    layer: bool = False
    keys: ast.expr | None = None
    columns: list[Column] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    settings: set[str] = field(default_factory=set)

    @property
    def has_layer_lists(self) -> bool:
        """Whether it keeps its layers in a list."""
        return not self.linear or self.keys is not None or len(self.columns) > 1

    def body(self, step: list[str]) -> str:
        """The class below its first line, four spaces a level; ``step`` is one method more."""
        lines = ["    " + line if line else "" for line in self._init()]
        lines += ["", *("    " + line if line else "" for line in self._call())]
        steps = [] if self.layer else self.head.weighted_steps(trains=True)
        labelled = [] if self.layer else self.head.labelled()
        for method in (steps, labelled, step):
            if method:
                lines += ["", *("    " + line if line else "" for line in method)]
        return "\n".join(folded(line) for line in lines)

    def parameters(self) -> list[str]:
        """Those of its constructor."""
        found: list[str] = []
        if self.keys is not None:
            found.append("feature_columns")
        if not self.linear:
            found.append("hidden_units")
        if self.head.takes_classes:
            found.append("n_classes")
        return found + [n for n in ("activation_fn", "dropout") if n in self.settings]

    def _init(self) -> list[str]:
        tf, body = self.style.tensorflow, ["super().__init__()"]
        if self.keys is not None:
            body.append("self.columns = sorted(feature_columns)")
        own = {name: layer for column in self.columns for name, layer in column.layers.items()}
        body += [f"self.{name} = {layer}" for name, layer in own.items()]
        units = "n_classes" if self.head.takes_classes else "1"
        dense = f"{tf}.keras.layers.Dense"
        if self.linear:
            count = "self.columns" if self.keys is not None else f"range({len(self.columns)})"
            zeros = self.style.string("zeros")
            name = self.style.string("bias_weights")
            layer = f"{dense}({units}, use_bias=False, kernel_initializer={zeros})"
            several = self.has_layer_lists
            weighted = ["self.weighted = [", f"    {layer}", f"    for _ in {count}", "]"]
            body += weighted if several else [f"self.weighted = {layer}"]
            body += [
                f"self.bias = self.add_weight(name={name}, shape=[{units}], initializer={zeros})",
            ]
        else:
            activation = "activation_fn" if "activation_fn" in self.settings else f"{tf}.nn.relu"
            layers = f"{dense}(units, activation={activation}) for units in hidden_units"
            body += self._listed("self.hidden", layers)
            if "dropout" in self.settings:
                body.append(f"self.dropout = {tf}.keras.layers.Dropout(dropout)")
            body.append(f"self.logits = {dense}({units})")
        if not self.layer:
            body += self.head.lookup()
        parameters = ", ".join(["self", *self.parameters()])
        return [f"def __init__({parameters}):", *("    " + b for b in body)]

    def _listed(self, target: str, inner: str) -> list[str]:
        line = f"{target} = [{inner}]"
        if len(line) + 8 <= _WIDTH:
            return [line]
        return [f"{target} = [", f"    {inner}", "]"]

    def _call(self) -> list[str]:
        tf, body = self.style.tensorflow, [*self.comments]
        several = self.keys is not None or len(self.columns) > 1
        if several:
            body.append(_ORDER)
        if self.keys is not None:
            number = f"{tf}.reshape(features[name], [-1, 1])"
            inner = f"{tf}.cast({number}, {tf}.float32) for name in self.columns"
            body += self._listed("columns", inner)
        elif several:
            body += [line for column in self.columns for line in column.before]
            body.append("columns = [")
            for column in self.columns:
                body += ["    " + comment for comment in column.comments]
                body.append(f"    {column.expression},")
            body.append("]")
        else:
            column = self.columns[0]
            body += [*column.comments, *column.before]
        if self.linear:
            body += self._linear(several)
        else:
            body += self._dense(several)
        training = ", training=False" if not self.layer or "dropout" in self.settings else ""
        return [f"def call(self, features{training}):", *("    " + b for b in body)]

    def _linear(self, several: bool) -> list[str]:
        if not several:
            line = f"return self.weighted({self.columns[0].expression}) + self.bias"
            if len(line) + 8 <= _WIDTH:
                return [line]
            return [
                f"column = {self.columns[0].expression}",
                "return self.weighted(column) + self.bias",
            ]
        terms = "dense(column) for dense, column in zip(self.weighted, columns)"
        return [
            *self._listed("terms", terms),
            f"return {self.style.tensorflow}.add_n(terms) + self.bias",
        ]

    def _dense(self, several: bool) -> list[str]:
        first = (
            f"{self.style.tensorflow}.concat(columns, axis=1)"
            if several
            else self.columns[0].expression
        )
        body = [f"net = {first}", "for dense in self.hidden:", "    net = dense(net)"]
        if "dropout" in self.settings:
            body.append("    net = self.dropout(net, training=training)")
        return [*body, "return self.logits(net)"]


def folded(line: str) -> str:
    """A line of new code; a call that is too long for one has an argument a line."""
    code = line.strip()
    if len(line) <= _WIDTH + 4 or code.startswith(("#", "class ", "def ")):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    target, _, value = code.partition(" = ") if " = " in code.split("(")[0] else ("", "", code)
    end = "," if value.endswith(",") else ""
    try:
        call = ast.parse(value.removesuffix(","), mode="eval").body
    except SyntaxError:
        return line
    head = f"{target} = " if target else ""
    if isinstance(call, ast.List):
        parts = [ast.get_source_segment(value, element) or "" for element in call.elts]
        body = "\n".join(folded(f"{indent}    {part},") for part in parts)
        return f"{indent}{head}[\n{body}\n{indent}]{end}"
    if not isinstance(call, ast.Call):
        return line
    pieces = [ast.get_source_segment(value, argument) or "" for argument in call.args]
    for keyword in call.keywords:
        given = ast.get_source_segment(value, keyword.value)
        pieces.append(f"{keyword.arg}={given}")
    inner = indent + "    "
    joined = ", ".join(pieces)
    function = ast.get_source_segment(value, call.func)
    if len(inner) + len(joined) <= _WIDTH + 4:
        return f"{indent}{head}{function}(\n{inner}{joined}\n{indent}){end}"
    body = "\n".join(folded(f"{inner}{piece},") for piece in pieces)
    return f"{indent}{head}{function}(\n{body}\n{indent}){end}"
