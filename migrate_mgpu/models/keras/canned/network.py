"""The class of a part of a canned Estimator: a linear model, or dense layers, over its columns."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.split_texts import holds_texts
from migrate_mgpu.models.ir import Part, PlainNumbers
from migrate_mgpu.models.keras.canned.columns import ModelColumns
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.normalize.estimators.column_tensors import ORDER, Tensor
from migrate_mgpu.source.new_code import WIDTH, Code, call, deeper, lines
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle


class PartWriter:
    """Writes a part's class; ``alone``: it is the model.

    ``arguments`` are those of its constructor, ``edits`` what becomes of a list of plain numbers
    that is made elsewhere. ``has_layer_lists``: it keeps its layers in a list. ``columns`` is the
    class of a part's columns that are made when the program runs.
    """

    def __init__(
        self, part: Part, head: HeadWriter, style: FileStyle, alone: bool, columns: str = ""
    ) -> None:
        self.columns = columns
        self.part = part
        self.head = head
        self.style = style
        self.unit = style.indent
        self.tf = style.tensorflow
        self.alone = alone
        self.module: Module = head.head.module
        self.tensors: list[Tensor] = ModelColumns(self.module, style).write(part.columns)
        self.several = part.numbers is not None or len(self.tensors) > 1
        self.has_layer_lists = not part.linear or self.several or part.objects is not None
        self.edits: list[Edit] = []
        self.arguments = [
            f"{part.prefix}{name}={text_of(self.module, value)}"
            for name, value in part.settings.items()
        ]
        if part.numbers is not None:
            self.arguments.insert(0, f"{part.prefix}feature_columns={self._keys(part.numbers)}")
        if part.objects is not None:
            given = text_of(self.module, part.objects)
            self.arguments.insert(0, f"{part.prefix}feature_columns={given}")

    def parameters(self) -> list[str]:
        """Those of its constructor."""
        given = self.part.numbers is not None or self.part.objects is not None
        found = ["feature_columns"] if given else []
        if not self.part.linear:
            found.append("hidden_units")
        if self.head.takes_classes:
            found.append("n_classes")
        return found + [name for name in ("activation_fn", "dropout") if name in self.part.settings]

    def body(self, *methods: list[str]) -> list[str]:
        """The class below its first line, with more methods."""
        more = [self.head.weighted_steps(trains=True), self.head.labelled()] if self.alone else []
        found = self._init()
        for method in (self._call(), *more, *methods):
            if method:
                found += ["", *method]
        return deeper(found, self.unit)

    def _keys(self, numbers: PlainNumbers) -> str:
        """The list with keys in the place of its columns, where it stands and as an argument."""
        source = numbers.module.source
        start, end = source.span(numbers.node)
        inline: dict[ast.AST, Replacement] = {}
        for key in numbers.keys:
            place: ast.expr = key.call
            node = key.node
            if key.loop is not None:
                place, node = key.loop, key.loop.generators[0].iter
            text = text_of(numbers.module, node)
            if key.loop is not None and not isinstance(node, ast.List):
                text = f"list({text})"
            first, last = source.span(place)
            if start <= first and last <= end:
                inline[place] = _as(text)
            else:
                self.edits.append(Edit(first, last, text))
        return Context(numbers.module, self.style, replaced=inline).render(numbers.node)

    # -- its methods ------------------------------------------------------------

    def _assigned(self, target: str, value: Code) -> list[str]:
        """An assignment in a method; its lines are as long as they are in the class."""
        within = self.unit * 2
        return [line[len(within) :] for line in lines(value, within, self.unit, f"{target} = ")]

    def _listed(self, target: str, inner: str) -> list[str]:
        line = f"{target} = [{inner}]"
        if len(line) + 12 <= WIDTH:
            return [line]
        return [f"{target} = [", self.unit + inner, "]"]

    def _init(self) -> list[str]:
        part, body = self.part, ["super().__init__()"]
        if part.numbers is not None:
            body.append("self.columns = sorted(feature_columns)")
        layers = {name: layer for tensor in self.tensors for name, layer in tensor.layers.items()}
        for name, layer in layers.items():
            body += self._assigned(f"self.{name}", layer)
        units = "n_classes" if self.head.takes_classes else "1"
        dense = f"{self.tf}.keras.layers.Dense"
        if part.objects is not None:
            given = "feature_columns, " + units if part.linear else "feature_columns"
            body.append(f"self.columns = {self.columns}({given})")
        if part.linear:
            count = "self.columns" if part.numbers is not None else f"range({len(self.tensors)})"
            zeros, name = self.style.string("zeros"), self.style.string("bias_weights")
            weighted = call(dense, units, "use_bias=False", f"kernel_initializer={zeros}")
            if self.several:
                inner = [str(weighted), f"for _ in {count}"]
                body += ["self.weighted = [", *deeper(inner, self.unit), "]"]
            elif part.objects is None:
                body += self._assigned("self.weighted", weighted)
            shape = (f"name={name}", f"shape=[{units}]", f"initializer={zeros}")
            body += self._assigned("self.bias", call("self.add_weight", *shape))
        else:
            given = "activation_fn" if "activation_fn" in part.settings else f"{self.tf}.nn.relu"
            # TF1 makes numbers of texts, Keras 3 does not.
            texts = holds_texts(self.module, part.settings["hidden_units"])
            count = "int(units)" if texts else "units"
            hidden = f"{dense}({count}, activation={given}) for units in hidden_units"
            body += self._listed("self.hidden", hidden)
            if "dropout" in part.settings:
                body.append(f"self.dropout = {self.tf}.keras.layers.Dropout(dropout)")
            if part.normalized:
                normal = f"{self.tf}.keras.layers.BatchNormalization(momentum=0.999)"
                body += self._listed("self.normals", f"{normal} for _ in hidden_units")
            body.append(f"self.logits = {dense}({units})")
        lookup = self.head.lookup() if self.alone else None
        if lookup is not None:
            body += self._assigned(*lookup)
        parameters = ", ".join(["self", *self.parameters()])
        return [f"def __init__({parameters}):", *deeper(body, self.unit)]

    def _call(self) -> list[str]:
        tf, body = self.tf, [*self.part.comments]
        if self.several:
            body.append(ORDER)
        if self.part.numbers is not None:
            number = f"{tf}.reshape(features[name], [-1, 1])"
            inner = f"{tf}.cast({number}, {tf}.float32) for name in self.columns"
            body += self._listed("columns", inner)
        elif self.several:
            body += [line for tensor in self.tensors for line in self._before(tensor)]
            body += ["columns = [", *self._columns(), "]"]
        elif self.part.objects is None:
            body += [*self.tensors[0].column.comments, *self._before(self.tensors[0])]
        body += self._linear() if self.part.linear else self._dense()
        asks = self.alone or self.part.normalized or "dropout" in self.part.settings
        training = ", training=False" if asks else ""
        return [f"def call(self, features{training}):", *deeper(body, self.unit)]

    def _before(self, tensor: Tensor) -> list[str]:
        return [line for name, value in tensor.before for line in self._assigned(name, value)]

    def _columns(self) -> list[str]:
        """The elements of the list of columns."""
        within, unit = self.unit * 3, self.unit
        found: list[str] = []
        for tensor in self.tensors:
            found += [within + comment for comment in tensor.column.comments]
            found += lines(tensor.expression, within, unit, tail=",")
        return [line[len(within) - len(unit) :] for line in found]

    def _linear(self) -> list[str]:
        if self.part.objects is not None:
            return ["return self.columns(features) + self.bias"]
        if not self.several:
            column = self.tensors[0].expression
            line = f"return self.weighted({column}) + self.bias"
            if len(line) + 12 <= WIDTH:
                return [line]
            return [*self._assigned("column", column), "return self.weighted(column) + self.bias"]
        terms = "dense(column) for dense, column in zip(self.weighted, columns)"
        return [*self._listed("terms", terms), f"return {self.tf}.add_n(terms) + self.bias"]

    def _dense(self) -> list[str]:
        first: Code = call(f"{self.tf}.concat", "columns", "axis=1")
        if self.part.objects is not None:
            first = "self.columns(features)"
        elif not self.several:
            first = self.tensors[0].expression
        body = self._assigned("net", first)
        each = "for dense in self.hidden:"
        if self.part.normalized:
            each = "for dense, normal in zip(self.hidden, self.normals):"
        body += [each, *deeper(["net = dense(net)"], self.unit)]
        if "dropout" in self.part.settings:
            body += deeper(["net = self.dropout(net, training=training)"], self.unit)
        if self.part.normalized:
            body += deeper(["net = normal(net, training=training)"], self.unit)
        return [*body, "return self.logits(net)"]


def _as(text: str) -> Replacement:
    return lambda context: text
