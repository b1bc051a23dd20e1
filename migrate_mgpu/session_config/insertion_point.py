"""What must not have happened before a call to ``tf.config``, and where such a call can go."""

from __future__ import annotations

import ast
from functools import partial

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.order import Order
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.scopes import line_of, position, statement_value, walk
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.analysis.taken_names import imports_of
from migrate_mgpu.core.records import record
from migrate_mgpu.session_config.field_rewriter import field_rewriters
from migrate_mgpu.session_config.fields import GPU_FIELDS
from migrate_mgpu.session_config.flows import Flow, Setting
from migrate_mgpu.source.statements import Layout

# Calls that initialise TF2's runtime even in graph mode (measured, see
# docs/semantics.md). After them growth, limits, visible devices and thread
# counts can no longer change.
_GRAPH_MODE = {
    "data.TFRecordDataset", "data.FixedLengthRecordDataset", "data.TextLineDataset",
    "data.Dataset.from_generator", "data.experimental.make_csv_dataset",
    "data.experimental.sample_from_datasets", "data.experimental.make_batched_features_dataset",
    "data.experimental.map_and_batch", "data.experimental.parallel_interleave",
    "data.experimental.prefetch_to_device", "data.experimental.copy_to_device",
    "data.experimental.unbatch", "data.experimental.bucket_by_sequence_length",
    "data.experimental.group_by_window", "data.experimental.group_by_reducer",
    "distribute.experimental.CentralStorageStrategy",
    "distribute.experimental.MultiWorkerMirroredStrategy", "config.list_logical_devices",
    "config.experimental.list_logical_devices", "train.MonitoredTrainingSession",
    "keras.Sequential", "keras.models.Sequential", "keras.Model", "keras.models.Model",
}  # fmt: skip
_DATASET_METHODS = {
    "map", "flat_map", "interleave", "filter", "map_with_legacy_function", "reduce", "scan",
    "take_while", "unbatch", "group_by_window", "from_generator",
}  # fmt: skip
# What a Keras program calls without starting the runtime.
_HARMLESS = (
    "datasets.", "utils.", "preprocessing.", "callbacks.", "backend.set_", "backend.image_",
    "backend.clear_session", "backend.backend", "backend.floatx", "config.", "logging.", "gfile.",
    "app.", "flags.", "compat.", "ConfigProto", "GPUOptions", "Session", "io.gfile.", "test.is_",
    "get_logger", "autograph.", "debugging.set_", "random.set_seed", "set_random_seed",
    "disable_v2_behavior", "disable_eager_execution", "examples.tutorials.mnist.",
    "feature_column.", "contrib.learn.preprocessing.", "reset_default_graph",
    "python.framework.ops.reset_default_graph",
)  # fmt: skip
_LATE = "initialized-before"


@record(frozen=True)
class Hoist:
    """Where the early calls of a flow go, instead of where their settings stand.

    Before a statement, or ``behind`` it: one that sets what listing GPUs reads.
    """

    module: Module
    statement: ast.stmt
    behind: bool = False


class Timing:
    """Decides for each flow whether its calls come in time."""

    def __init__(self, graph: CallGraph, programs: list[Program], native: bool) -> None:
        self.graph = graph
        self.programs = programs
        starts = _starts_eagerly if native else self._starts_in_graph_mode
        self._initializes = Order(
            graph, lambda module: (call for call in module.names.calls if starts(module, call))
        )
        self._native = native

    def _starts_in_graph_mode(self, module: Module, call: ast.Call) -> bool:
        if _starts_graph_mode(module, call):
            return True
        target = self.graph.target(module, call.func)
        if target is None:
            return False
        decorators = (d.func if isinstance(d, ast.Call) else d for d in target.node.decorator_list)
        names = (symbol(target.module.names.qualname(d)) for d in decorators)
        return any(name is not None and name.name == "function" for name in names)

    def place(self, flow: Flow) -> Hoist | Diagnostic | None:
        """None: every call can stand where its setting stood. Or where to, or why not at all."""
        rewriters = field_rewriters()
        early = [s for s in flow.settings if rewriters[s.path].early]
        if self._native:
            early = list(flow.settings)
        if not early:
            return None
        late = self._environment_after(flow)
        if late:
            behind = self._behind(flow, early, late)
            if behind is not None:
                return behind
            text = "CUDA_VISIBLE_DEVICES may be set after it, and listing GPUs reads it"
            return Diagnostic("environment-after", late[0], text)
        for setting in early:
            found = self._initializes.before(setting.module, setting.statement)
            if found is not None:
                return self._hoist(flow, early, *found)
        return None

    def _hoist(
        self,
        flow: Flow,
        early: list[Setting],
        module: Module,
        node: ast.AST,
        statement: ast.stmt,
    ) -> Hoist | Diagnostic:
        line = line_of(node)
        what = f"TensorFlow is initialized before it, at {module.path.name}:{line}"
        place = Place(module, node)
        here = flow.settings[0].module
        if statement not in here.names.parents:  # the header of a `with` or `if` around it
            first = statement_value(statement)
            if first is None or first not in here.names.parents:
                return Diagnostic(_LATE, place, what)
            statement = here.names.statement(first)
        if self._native:
            statement = _above_lists(here, statement)
        function = self.graph.enclosing(here, statement)
        # What is the same everywhere may be set by another function, which comes here first.
        blocks = all(
            isinstance(s.module.names.parents.get(s.call), (ast.withitem, ast.Assign))
            for s in flow.sinks
        )
        once = self._native and blocks and self.graph.runs_once(here, statement)
        everywhere = once and is_straight(here, statement)
        for setting in early:
            if setting.module is not here:
                return Diagnostic(_LATE, place, what)
            other = self.graph.enclosing(here, setting.statement) != function
            if other and not (everywhere and constant(setting.value) is not None):
                return Diagnostic(_LATE, place, f"{what}, in another function")
            if setting.choice is not None or not is_straight(here, setting.statement):
                text = f"{what}, and it is set under a condition"
                return Diagnostic(_LATE, place, text)
            unknown = _unknown_at(here, setting.value, statement)
            if unknown is not None:
                text = f"{what}, where `{unknown}` is not known yet"
                return Diagnostic(_LATE, place, text)
        if not Layout(here.source, statement).owns_start or not _is_block_member(here, statement):
            return Diagnostic(_LATE, place, what)
        return Hoist(here, statement)

    def _environment_after(self, flow: Flow) -> list[Place]:
        """Assignments of CUDA_VISIBLE_DEVICES that may come after GPUs have been listed."""
        settings = [s for s in flow.settings if s.path in GPU_FIELDS]
        changes = [
            (module, node)
            for program in self.programs
            if any(self.graph.runs_in(program, s.module, s.statement) for s in settings)
            for module in program.modules
            for node in module.environment_changes
            # A dictionary is of a child process: `dict(os.environ, CUDA_VISIBLE_DEVICES=...)`.
            if not isinstance(node, ast.Dict) and self.graph.runs_in(program, module, node)
        ]
        return [
            Place(module, node)
            for module, node in dict.fromkeys(changes)
            if not any(self._comes_before(module, node, s.module, s.statement) for s in settings)
        ]

    def _comes_before(
        self, home: Module, node: ast.AST, module: Module, statement: ast.stmt
    ) -> bool:
        order = Order(self.graph, partial(_in_its_module, home, node))
        if order.before(module, statement) is not None:
            return True
        runs_with_module = home.names.statement(node) in home.tree.body
        return runs_with_module and self._loaded_before(home, module, statement)

    def _loaded_before(self, home: Module, module: Module, statement: ast.stmt) -> bool:
        """Whether a module is loaded by imports at the top of files, all of which stand above."""
        waiting, seen = [module], {module}
        while waiting:
            importer = waiting.pop()
            for other in importer.imported:
                found = imports_of(importer, other, self.graph.project) if other not in seen else []
                if any(one in importer.tree.body for one, _, _ in found):
                    seen.add(other)
                    waiting.append(other)
        if home is module or home not in seen:
            return False
        last = max(position(one) for one in module.names.imports if one in module.tree.body)
        return all(last < position(one) for one in self._runs_from(module, statement))

    def _runs_from(self, module: Module, statement: ast.stmt) -> list[ast.AST]:
        """What a module's top level has of a statement: itself, or the calls of its function."""
        function = self.graph.enclosing(module, statement)
        if function is None:
            return [statement]
        return [
            reference.node
            for reference in self.graph.references(function)
            if reference.module is module and self.graph.enclosing(module, reference.node) is None
        ]

    def _behind(self, flow: Flow, early: list[Setting], late: list[Place]) -> Hoist | None:
        """The calls behind the last such assignment, where it stands between config and session.

        In the settings' own block, so that it runs when they do; and what they are set to is the
        same there.
        """
        here = flow.settings[0].module
        if any(place.module is not here for place in late):
            return None
        names = here.names
        last = max((names.statement(place.node) for place in late), key=position)
        if not Layout(here.source, last).owns_lines or not _is_block_member(here, last):
            return None
        block = names.block(last)
        if any(names.block(names.statement(place.node)) is not block for place in late):
            return None
        for setting in early:
            there = setting.module is here and setting.choice is None
            if not there or names.block(setting.statement) is not block:
                return None
            if _unknown_at(here, setting.value, setting.statement) is not None:
                return None
        if self._initializes.before(here, last) or self._initializes.found_in(here, last):
            return None
        for sink in flow.sinks:
            opened = sink.module.names.statement(sink.call)
            if not any(
                self._comes_before(here, place.node, sink.module, opened)
                for place in late
                if names.statement(place.node) is last
            ):
                return None
        return Hoist(here, last, behind=True)


def _in_its_module(home: Module, node: ast.AST, module: Module) -> list[ast.AST]:
    return [node] if module is home else []


def _starts_graph_mode(module: Module, call: ast.Call) -> bool:
    for qualname in module.names.qualnames(call.func):
        found = symbol(qualname)
        if found is not None:
            if found.name == "distribute.MirroredStrategy":  # it looks for GPUs itself
                return not call.args and not any(k.arg == "devices" for k in call.keywords)
            return found.name in _GRAPH_MODE
        if qualname in ("keras.Sequential", "keras.models.Sequential", "keras.models.Model"):
            return True
    if isinstance(call.func, ast.Attribute) and call.func.attr in _DATASET_METHODS:
        return any(use.symbol.name.startswith("data.") for use in module.uses)
    return False


def _starts_eagerly(module: Module, call: ast.Call) -> bool:
    for qualname in module.names.qualnames(call.func):
        found = symbol(qualname)
        name = found.name if found else qualname
        if found is None and not qualname.startswith("keras."):
            return False
        short = name[len("keras.") :] if name.startswith("keras.") else name
        return not short.startswith(_HARMLESS) and found != ("plain", "")
    return False


def is_straight(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement runs whenever its function does."""
    for parent in module.names.ancestors(statement):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            return True
        if isinstance(parent, (ast.If, ast.For, ast.While, ast.Try, ast.ExceptHandler)):
            return _is_main(parent)
    return True


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def _is_block_member(module: Module, statement: ast.stmt) -> bool:
    try:
        module.names.block(statement)
    except (ValueError, KeyError):
        return False
    return True


def _above_lists(module: Module, statement: ast.stmt) -> ast.stmt:
    """A loop, or the first of the empty lists right above it, which it fills and goes with."""
    if not isinstance(statement, ast.For) or not _is_block_member(module, statement):
        return statement
    block = module.names.block(statement)
    for above in reversed(block[: block.index(statement)]):
        value = above.value if isinstance(above, ast.Assign) else None
        if not isinstance(value, ast.List) or value.elts:
            break
        statement = above
    return statement


def _unknown_at(module: Module, value: ast.expr, statement: ast.stmt) -> str | None:
    """A part of a value that is not known yet, or may be another, at an earlier statement."""
    if constant(value) is not None:
        return None
    names = module.names
    place = (statement.lineno, statement.col_offset)
    here = names.scope_at(statement)
    for node in walk(value):
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in ("str", "int", "float")):
                return ast.unparse(node)
        elif isinstance(node, ast.Name):
            home = names.defining_scope(node.id, names.scope_of_name[node])
            if home is None:
                continue
            if home is not here and home.is_module:
                continue
            for binding in home.bindings[node.id]:
                where = (
                    line_of(binding.node),
                    getattr(binding.node, "col_offset", 0),
                )
                if binding.kind != "parameter" and where >= place:
                    return node.id
    return None
