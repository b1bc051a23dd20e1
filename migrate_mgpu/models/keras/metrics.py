"""Metrics of the model IR in Keras: of labels and output for `compile`, or as they are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import Scope
from migrate_mgpu.api.metrics import METRICS, MetricForm
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.models.ir import Metric, Result
from migrate_mgpu.models.properties import form_of
from migrate_mgpu.source.style import FileStyle


def metric_object(
    metric: Metric, name: str, style: FileStyle, render: Callable[[ast.AST], str] | None = None
) -> str:
    """The Keras metric that is given what its author compares.

    ``render`` writes what it is given of the model's settings.
    """
    row = METRICS.by_kind[metric.kind]
    if not row.by_number:
        form = MetricForm(row.target, definition=row.definition)
        return _constructor(metric, form, name, style, render if row.package else None)
    value = style.code(row.by_number)
    return _wrapper(f"lambda labels, values: {value}", name, style)


def result_object(result: Result, name: str, function: str, style: FileStyle) -> str:
    """The Keras metric that is given labels and output; ``function`` gives values to average."""
    if result.values is not None:
        return _wrapper(function, name, style)
    form = form_of(result)
    if form is None or not result.by_rows:
        return metric_object(result.metric, name, style)
    return _constructor(result.metric, form, name, style)


def _wrapper(function: str, name: str, style: FileStyle) -> str:
    metrics = f"{style.tensorflow}.keras.metrics"
    return f"{metrics}.MeanMetricWrapper({function}, name={style.string(name)})"


def _constructor(
    metric: Metric,
    form: MetricForm,
    name: str,
    style: FileStyle,
    render: Callable[[ast.AST], str] | None = None,
) -> str:
    """The constructor of a metric, with what says which of its kind it is."""
    called = f"{style.tensorflow}.{form.target}"
    if form.definition is not None:
        called = _free_name(metric.module, form.definition.name)
    code = render or metric.module.source.code
    row = METRICS.by_kind[metric.kind]
    given = [
        (p.new_name, code(metric.arguments[p.name]))
        for p in row.settings
        if p.name in metric.arguments
    ]
    fixed = [(key, value.format(quote=style.quote)) for key, value in row.constants]
    arguments = [*given, *fixed, *form.constants, ("name", style.string(name))]
    return f"{called}({', '.join(f'{key}={value}' for key, value in arguments)})"


def _free_name(module: Module, name: str) -> str:
    return module.names.fresh(module.names.module_scope, name)


def metric_classes(results: Iterable[Result], style: FileStyle) -> list[str]:
    """The classes that the metrics of `compile` are of, where Keras has none."""
    found: dict[str, str] = {}
    for result in results:
        form = form_of(result)
        if form is not None and form.definition is not None:
            found.update(_class(result.metric, form.definition, style))
    return list(found.values())


def own_classes(metrics: Iterable[Metric], style: FileStyle) -> list[str]:
    """The classes of metrics that are given what their author compares, where Keras has none."""
    found: dict[str, str] = {}
    for metric in metrics:
        definition = METRICS.by_kind[metric.kind].definition
        if definition is not None:
            found.update(_class(metric, definition, style))
    return list(found.values())


def _class(metric: Metric, definition: Definition, style: FileStyle) -> dict[str, str]:
    name = _free_name(metric.module, definition.name)
    return {name: definition.written(name, style)}


def function_names(module: Module, scope: Scope, results: Mapping[str, Result]) -> dict[str, str]:
    """Names for the functions that give the values that metrics average, by their metrics."""
    found: dict[str, str] = {}
    for metric, result in results.items():
        if result.values is not None:
            text = "".join(c if c.isalnum() else "_" for c in metric)
            text = text if text.isidentifier() else f"metric_{text}"
            name = module.names.fresh(scope, f"{text}_of")
            while name in found.values():
                name += "_2"
            found[metric] = name
    return found
