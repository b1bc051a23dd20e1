"""A call of ``tf.metrics``, or of a package's, as a metric of the model IR."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.metrics import COPIES, METRICS, MetricRow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import Metric


def read_metric(module: Module, node: ast.AST) -> Metric | None:
    """The metric that a call is; None where it is none.

    Raises:
        Refused: no Keras metric equals it.
    """
    name = name_of(module, node)
    name = name or metric_of_package(module, node)
    head, _, short = name.rpartition(".")
    if head not in ("metrics", *_PACKAGES) or not isinstance(node, ast.Call):
        return None
    row = METRICS.by_name.get(name)
    if row is None:
        raise Refused(module, node, f"no Keras metric equals tf.metrics.{short}")
    edit = BoundCall(module, node, row.signature)
    curve = edit.get("curve") if row.kind == "auc" else None
    if curve is not None and constant(curve) == "PR":
        row = METRICS.by_kind["auc_precision_recall"]
    given = {name: value for name in row.signature if (value := edit.get(name)) is not None}
    for parameter in row.parameters:
        value = given.get(parameter.name)
        if value is None or not parameter.only or (is_none(value) and None in parameter.only):
            continue
        if constant(value) is None or constant(value) not in parameter.only:
            raise Refused(module, value, parameter.reason.format(shown=edit.shown))
    weights = _weights(module, row, edit.given("weights"))
    labels, predictions = given.get("labels"), given.get("predictions", given.get("values"))
    if predictions is None or (labels is None and "labels" in row.signature):
        raise Refused(module, node, f"what `{edit.shown}` compares cannot be determined")
    for parameter in row.settings:
        value = given.get(parameter.name)
        if row.package and (value is not None or parameter.default):
            continue
        if not (value is None and parameter.default) and not _is_constant(module, value):
            text = f"`{parameter.name}` of `{edit.shown}` is not a constant of its module"
            raise Refused(module, value or node, text, "make it one")
    return Metric(row.kind, module, node, given, labels, predictions, weights)


_PACKAGES = {row.package for row in METRICS.rows if row.package}


def metric_of_package(module: Module, node: ast.AST) -> str:
    """The name of a metric that a call takes from a package that is known; else empty.

    Many programs have a copy of the package's one file: it must do what the package's does.
    """
    if not isinstance(node, ast.Call):
        return ""
    head, _, short = (module.names.qualname(node.func) or "").rpartition(".")
    package = head.rpartition(".")[2]
    name = f"{package}.{short}"
    if package not in _PACKAGES or name not in METRICS.by_name:
        return ""
    own = [one for one in module.imported if f".{one.name}".endswith(f".{head}")]
    if own:
        return name if len(own) == 1 and functions_digest(own[0]) in COPIES[package] else ""
    beside = module.path.with_name(f"{package}.py")  # one that does not mention TensorFlow
    return name if head == package and not beside.is_file() else ""


@fact_of_text
def functions_digest(module: Module) -> str:
    """What a module's functions do, whatever their comments and white space: a digest of it."""
    found: list[str] = []
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef):
            said = ast.get_docstring(node, clean=False)
            lines = io.StringIO("\n".join(module.source.code(node).splitlines())).readline
            for token in tokenize.generate_tokens(lines):
                kept = token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
                docstring = token.string[:3] in _LONG and token.string[3:-3] == said
                if kept and not docstring:
                    found.append(token.string)
    return hashlib.sha256(" ".join(found).encode()).hexdigest()


_LONG = ('"""', "'''")


def _weights(module: Module, row: MetricRow, value: ast.expr | None) -> ast.expr | None:
    """Each example's weight, or each value's; None where it is one for all."""
    if value is None:
        return None
    known = constant(value)
    if known is not None:
        if known not in (1, 1.0):
            text = "every example of a metric has the same weight"
            raise Refused(module, value, text, "leave `weights` out")
        return None
    if row.weights:
        raise Refused(module, value, row.weights, "leave `weights` out")
    return value


def _is_constant(module: Module, value: ast.expr | None) -> bool:
    """Whether a value is the same everywhere in its module."""
    if isinstance(value, ast.Name) and value in module.names.scope_of_name:
        home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
        if home is not None and home.is_module:
            return True
    return value is not None and constant(value) is not None
