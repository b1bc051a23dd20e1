"""TF1's initializers and regularizers as Keras's, with the values that TF1 took unasked."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.tables import number, scaled
from migrate_mgpu.core.registry import constant
from migrate_mgpu.source.source import Edit

# By TF1's name: Keras's class, TF1's parameters, those Keras takes by position, TF1's defaults.
_NORMAL = ("mean", "stddev", "seed", "dtype")
_INITIALIZERS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "truncated_normal": ("TruncatedNormal", _NORMAL, {"stddev": "1.0"}),
    "random_normal": ("RandomNormal", _NORMAL, {"stddev": "1.0"}),
    "random_uniform": (
        "RandomUniform",
        ("minval", "maxval", "seed", "dtype"),
        {"minval": "0.0", "maxval": "1.0"},
    ),
    "constant": ("Constant", ("value", "dtype", "verify_shape"), {}),
    "zeros": ("Zeros", ("dtype",), {}),
    "ones": ("Ones", ("dtype",), {}),
    "glorot_uniform": ("GlorotUniform", ("seed", "dtype"), {}),
    "glorot_normal": ("GlorotNormal", ("seed", "dtype"), {}),
    "orthogonal": ("Orthogonal", ("gain", "seed", "dtype"), {}),
    "variance_scaling": (
        "VarianceScaling",
        ("scale", "mode", "distribution", "seed", "dtype"),
        {},
    ),
    "he_normal": ("HeNormal", ("seed",), {}),
    "he_uniform": ("HeUniform", ("seed",), {}),
    "lecun_normal": ("LecunNormal", ("seed",), {}),
    "lecun_uniform": ("LecunUniform", ("seed",), {}),
}
# contrib's truncated normal distribution is widened by the square root of 1.3, Keras's by
# what makes its deviation exact.
_CONTRIB_WIDTH = 1.3 * 0.87962566103423978**2
_XAVIER = ("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
_VARIANCE = "contrib.layers.variance_scaling_initializer"


def _kind(name: str) -> tuple[str, tuple[str, ...], dict[str, str]] | None:
    """`tf.zeros_initializer` and `tf.initializers.zeros` are one."""
    head, _, short = name.rpartition(".")
    if not head and short.endswith("_initializer"):
        return _INITIALIZERS.get(short[: -len("_initializer")])
    if head == "initializers":
        return _INITIALIZERS.get(short)
    return None


def mention(module: Module, node: ast.AST, tf: str, name: str) -> tuple[Edit, ...] | None:
    """The edits of an initializer that is handed over as a class; None where it is none.

    Raises:
        Refused: its TF1 defaults are not Keras's.
    """
    kind = _kind(name)
    if kind is None:
        return None
    keras, _, defaults = kind
    if defaults or keras == "Constant":
        text = f"`{module.source.code(node)}` has other defaults in Keras"
        raise Refused(module, node, text, "call it, with its values")
    start, end = module.source.span(node)
    return (Edit(start, end, f"{tf}.keras.initializers.{keras}"),)


def call(module: Module, node: ast.Call, tf: str, name: str) -> tuple[Edit, ...] | None:
    """The edits of a call that makes an initializer or regularizer; None where it makes none.

    Raises:
        Refused: Keras's cannot do the same.
    """
    if name in _XAVIER:
        return _xavier(BoundCall(module, node, ("uniform", "seed", "dtype")), tf)
    if name == _VARIANCE:
        return _contrib_variance(module, node, tf)
    if name.startswith("contrib.layers.") and name.endswith("_regularizer"):
        return _regularizer(module, node, tf, name.rpartition(".")[2])
    kind = _kind(name)
    if kind is None:
        return None
    keras, parameters, defaults = kind
    edit = BoundCall(module, node, parameters)
    edit.function(f"{tf}.keras.initializers.{keras}")
    edit.drop("dtype", "verify_shape")
    if keras == "Constant" and isinstance(edit.get("value"), (ast.List, ast.Tuple)):
        text = "a list of constants fills a variable in TF1's own way"
        raise Refused(module, node, text, "give it an array of the variable's shape")
    distribution = edit.get("distribution")
    if distribution is not None and constant(distribution) == "normal":
        quote = module.source.quote
        edit.value("distribution", f"{quote}truncated_normal{quote}")
    if is_none(edit.get("maxval")):
        edit.drop("maxval")
    edit.order(p for p in parameters if p not in ("dtype", "verify_shape"))
    for parameter, text in defaults.items():
        if edit.get(parameter) is None:
            edit.add(parameter, text)
    return edit.edits()


def _xavier(edit: BoundCall, tf: str) -> tuple[Edit, ...]:
    uniform = edit.get("uniform")
    known = True if uniform is None else constant(uniform)
    if not isinstance(known, bool):
        text = "it cannot be told which distribution this initializer has"
        raise Refused(edit.module, uniform or edit.call, text, "write True or False")
    edit.drop("uniform", "dtype")
    edit.order(())
    if known:
        edit.function(f"{tf}.keras.initializers.GlorotUniform")
    else:
        quote = edit.module.source.quote
        edit.function(f"{tf}.keras.initializers.VarianceScaling")
        edit.add("scale", number(_CONTRIB_WIDTH))
        edit.add("mode", f"{quote}fan_avg{quote}")
    return edit.edits()


def _contrib_variance(module: Module, node: ast.Call, tf: str) -> tuple[Edit, ...]:
    edit = BoundCall(module, node, ("factor", "mode", "uniform", "seed", "dtype"))
    values: dict[str, object] = {"factor": 2.0, "mode": "FAN_IN", "uniform": False}
    for name in values:
        value = edit.get(name)
        if value is not None:
            values[name] = constant(value)
    factor, mode, uniform = values.values()
    if (
        not isinstance(factor, (int, float))
        or mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG")
        or not isinstance(uniform, bool)
    ):
        text = "it cannot be told which distribution this initializer has"
        raise Refused(module, node, text, "write its values")
    edit.drop("factor", "mode", "uniform", "dtype")
    edit.function(f"{tf}.keras.initializers.VarianceScaling")
    edit.order(())
    quote = module.source.quote
    edit.add("scale", number(factor if uniform else factor * _CONTRIB_WIDTH))
    edit.add("mode", f"{quote}{str(mode).lower()}{quote}")
    if uniform:
        edit.add("distribution", f"{quote}uniform{quote}")
    return edit.edits()


def _regularizer(module: Module, node: ast.Call, tf: str, short: str) -> tuple[Edit, ...] | None:
    if short in ("l1_regularizer", "l2_regularizer"):
        edit = BoundCall(module, node, ("scale", "scope"))
        edit.drop("scope")
        edit.function(f"{tf}.keras.regularizers.{short[:2].upper()}")
        if short.startswith("l2"):
            scaled(edit, "scale", 0.5)
        edit.rename("scale", short[:2])
        edit.order((short[:2],))
        return edit.edits()
    if short == "l1_l2_regularizer":
        edit = BoundCall(module, node, ("scale_l1", "scale_l2", "scope"))
        edit.drop("scope")
        edit.function(f"{tf}.keras.regularizers.L1L2")
        for name, default, factor in (("scale_l1", "1.0", 1.0), ("scale_l2", "0.5", 0.5)):
            if edit.get(name) is None:
                edit.add(f"l{name[-1]}", default)
            elif factor != 1.0:
                scaled(edit, name, factor)
            edit.rename(name, f"l{name[-1]}")
        edit.order(("l1", "l2"))
        return edit.edits()
    return None
