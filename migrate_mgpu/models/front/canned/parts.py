"""The parts of a canned Estimator: a linear one, a dense one, or both; what each is given."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.canned.column_names import written
from migrate_mgpu.models.front.canned.columns import ColumnReader
from migrate_mgpu.models.front.canned.optimizer import CannedOptimizer, read_canned_optimizer
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import Optimizer
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.models.keras.canned.network import Network
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.properties import moves_same_rows
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_ADVICE = "write its model in Keras"
COMBINED = "DNNLinearCombined"
# What 1.15 takes for each part by default: alone, and beside the other one.
_DEFAULTS = {
    ("linear", False): ("Ftrl", 0.2),
    ("dnn", False): ("Adagrad", 0.05),
    ("linear", True): ("Ftrl", 0.005),
    ("dnn", True): ("Adagrad", 0.001),
}


@record(eq=False)
class Part(EditSet):
    """A part: its kind ("linear" or "dnn"), its arguments' prefix, what is read of it.

    ``given`` are the pieces of the model's constructor for it, ``edits`` what becomes of a
    list of plain columns where it stands, ``gone`` the nodes that are not there any more.
    """

    kind: str
    prefix: str
    columns: ColumnReader
    network: Network
    optimizer: CannedOptimizer | None = None
    given: list[str] = field(default_factory=list)

    @property
    def linear(self) -> bool:
        return self.kind == "linear"


class PartReader:
    """Reads the parts of one Estimator."""

    def __init__(
        self, flow: EstimatorFlow, graph: CallGraph, style: FileStyle, distributed: bool
    ) -> None:
        self.flow = flow
        self.module = flow.module
        self.graph = graph
        self.style = style
        self.distributed = distributed
        self.combined = flow.class_name.startswith(COMBINED)

    def read(self, head: HeadWriter) -> list[Part]:
        """The parts, in the order in which 1.15 makes their variables.

        Raises:
            Refused: a column, an optimizer or a setting that is not known.
        """
        kinds = ["linear" if self.flow.class_name.startswith("Linear") else "dnn"]
        if self.combined:
            kinds = ["dnn", "linear"]
        parts = [self._part(kind, head) for kind in kinds]
        gone = {n for part in parts for s in part.columns.statements for n in ast.walk(s)}
        for index, part in enumerate(parts):
            if part.network.keys is not None and part.gone & gone:  # its list goes with the others
                parts[index] = self._part(part.kind, head, plain=False)
        self._one_optimizer(parts)
        return parts

    def _part(self, kind: str, head: HeadWriter, plain: bool = True) -> Part:
        prefix = f"{kind}_" if self.combined else ""
        network = Network(self.style, kind == "linear", head, layer=self.combined)
        part = Part(kind, prefix, ColumnReader(self.module, self.style, self.graph), network)
        self._columns(part, plain)
        default = _DEFAULTS[kind, self.combined]
        part.optimizer = read_canned_optimizer(self.flow, f"{prefix}optimizer", default)
        self._check_optimizer(part, part.optimizer.optimizer)
        part.columns.statements += part.optimizer.statements
        part.gone |= part.optimizer.gone
        self._settings(part)
        return part

    # -- its columns ----------------------------------------------------------

    def _columns(self, part: Part, plain: bool) -> None:
        name, network = f"{part.prefix}feature_columns", part.network
        node = self.flow.arguments.get(name)
        if node is None:
            raise Refused(self.module, self.flow.call, f"an Estimator without {name}", _ADVICE)
        calls = part.columns.scalars(node) if plain else None
        if calls is not None:
            network.keys = node
            part.given.append(f"{name}={self._keys(part, node, calls)}")
            return
        columns = part.columns.read(node)
        for column in columns:
            if column.categorical and not part.linear:
                raise Refused(
                    self.module, node, f"`{column.name}` is a category without an indicator or "
                    "embedding", "put it into an indicator_column or an embedding_column",
                )  # fmt: skip
            if column.texts and self.distributed:
                raise Refused(
                    self.module, node, f"`{column.name}` is a text, or may be one: Keras 3 does "
                    "not give texts to several replicas", "make it a number in the input function",
                )  # fmt: skip
        network.columns, network.comments = columns, part.columns.comments

    def _keys(self, part: Part, node: ast.expr, calls: list[ast.Call]) -> str:
        """The list with keys in the place of its columns, where it stands and as an argument."""
        start, end = self.module.source.span(node)
        inline: dict[ast.AST, str] = {}
        for call in calls:
            place, key = self._key(call)
            first, last = self.module.source.span(place)
            if start <= first and last <= end:
                inline[place] = key
            else:
                part.edit(self.module, Edit(first, last, key))
            part.gone.add(call)
        replaced = {place: written(key) for place, key in inline.items()}
        return Context(self.module, self.style, replaced=replaced).render(node)

    def _key(self, call: ast.Call) -> tuple[ast.expr, str]:
        """A column's key; `[numeric_column(name) for name in NAMES]` is `list(NAMES)`."""
        key = next((k.value for k in call.keywords if k.arg == "key"), None) or call.args[0]
        parent = self.module.names.parents[call]
        if isinstance(parent, ast.ListComp) and parent.elt is call and isinstance(key, ast.Name):
            loop = parent.generators[0]
            same = isinstance(loop.target, ast.Name) and loop.target.id == key.id
            if same and len(parent.generators) == 1 and not loop.ifs:
                text = text_of(self.module, loop.iter)
                return parent, text if isinstance(loop.iter, ast.List) else f"list({text})"
        return call, text_of(self.module, key)

    # -- its layers and its optimizer -------------------------------------------

    def _settings(self, part: Part) -> None:
        if part.linear:
            return
        arguments, prefix = self.flow.arguments, part.prefix
        units = arguments.get(f"{prefix}hidden_units")
        if units is None:
            raise Refused(self.module, self.flow.call, f"an Estimator without {prefix}hidden_units")
        part.given.append(f"{prefix}hidden_units={text_of(self.module, units)}")
        for name in ("activation_fn", "dropout"):
            if prefix + name in arguments:
                text = text_of(self.module, arguments[prefix + name])
                part.given.append(f"{prefix}{name}={text}")
                part.network.settings.add(name)

    def _check_optimizer(self, part: Part, optimizer: Optimizer) -> None:
        columns = part.network.columns
        ftrl = optimizer.kind == "ftrl"
        if ftrl and any(column.embeds for column in columns):
            raise Refused(
                self.module, self.flow.call, "TF1's Ftrl updates only the rows of an embedding "
                "that a batch uses", "use Adam, Adagrad or gradient descent",
            )  # fmt: skip
        rows = any(column.embeds or (part.linear and column.rows) for column in columns)
        if rows and not moves_same_rows(optimizer, from_zero=True):
            raise Refused(
                self.module, self.flow.call, "TF1 updates only the rows of a category that a batch "
                "uses, which is something else with this optimizer",
                "use Adam, Adagrad or gradient descent",
            )  # fmt: skip
        if self.distributed and ftrl:
            raise Refused(
                self.module, self.flow.call, "Ftrl under a strategy: 1.15 does not run it",
                "give the Estimator another optimizer",
            )  # fmt: skip

    def _one_optimizer(self, parts: list[Part]) -> None:
        """One Adam of both parts counts two steps in each: nothing in Keras does."""
        made = [part.optimizer for part in parts if part.optimizer is not None]
        if len(made) == 2 and made[0].shared_with(made[1]) and made[0].optimizer.kind == "adam":
            raise Refused(
                self.module, self.flow.call, "both parts have one Adam, whose steps count twice",
                "give each part an optimizer of its own",
            )  # fmt: skip
