"""Random numbers of a step: the same fixed ones on both sides.

TensorFlow 1 and 2 draw other numbers from the same seeds, so a program that draws in its
steps (a GAN's noise, a variational layer, augmented images, an agent's actions) could not be
compared. Normal, uniform and categorical draws become a fixed function of the position in the
drawn tensor, and what samples classes for a loss gets one seed. Initial values of variables are
left to their initializers: they are carried over.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
from typing import Any, Callable

_INITIAL = re.compile(r"(init_ops\w*|initializers\w*|variable_scope|resource_variable_ops)\.py$")
_FRAMES = 40  # an initializer is not further up
_MODULUS = 2**32
SAMPLER_SEED = 7919
SAMPLERS_TEXT = "sampled classes: by the same seed on both sides"
TEXT = "normal and uniform draws: the same fixed numbers on both sides, in every step"
CATEGORICAL_TEXT = "categorical draws: by the same fixed numbers on both sides, in every step"


def patch(module: Any, note: Callable[[], None]) -> None:
    """Replace the kernels' functions (``gen_random_ops``), at which all others arrive.

    Args:
      note: is called when a draw is replaced.
    """
    for name, draw in (
        ("random_standard_normal", _normal),
        ("truncated_normal", _truncated),
        ("random_uniform", _float),
        ("random_uniform_int", _integer),
    ):
        setattr(module, name, _pinned(getattr(module, name), draw, note))


def patch_categorical(module: Any, note: Callable[[], None]) -> None:
    """The same for ``multinomial`` of these, at which ``tf.random.categorical`` arrives."""
    original = module.multinomial
    signature = inspect.signature(original)

    @functools.wraps(original)
    def drawn(*args: Any, **options: Any) -> Any:
        note()
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        given = bound.arguments
        return _categorical(given["logits"], given["num_samples"], given["output_dtype"] or "int64")

    module.multinomial = drawn


def patch_samplers(module: Any, note: Callable[[], None]) -> None:
    """Sampled classes (``candidate_sampling_ops``): by one seed where the program names none.

    An operation with a seed of its own draws the same in both, other ones in each step.
    """
    for name in (
        "all_candidate_sampler",
        "fixed_unigram_candidate_sampler",
        "learned_unigram_candidate_sampler",
        "log_uniform_candidate_sampler",
        "uniform_candidate_sampler",
    ):
        if hasattr(module, name):
            setattr(module, name, _seeded(getattr(module, name), note))


def _seeded(original: Any, note: Callable[[], None]) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def sampled(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        if bound.arguments.get("seed") is None:
            note()
            bound.arguments["seed"] = SAMPLER_SEED
        return original(*bound.args, **bound.kwargs)

    return sampled


def _pinned(original: Any, draw: Any, note: Callable[[], None]) -> Any:
    @functools.wraps(original)
    def drawn(shape: Any, *args: Any, **options: Any) -> Any:
        if _initial_value():
            return original(shape, *args, **options)
        note()
        for name in ("seed", "seed2", "name"):
            options.pop(name, None)
        return draw(shape, *args[: 2 if draw is _integer else 1], **options)

    return drawn


def _initial_value() -> bool:
    frame: Any = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return False
        if _INITIAL.search(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _tf(name: str) -> Any:
    for package in ("tensorflow_core", "tensorflow"):
        module = sys.modules.get(f"{package}.python.{name}")
        if module is not None:
            return module
    raise ImportError(name)


def _uniform(shape: Any, stream: int) -> Any:
    """Numbers in (0, 1), float64, spread by a multiplicative hash of the position."""
    ops, arrays = _tf("framework.ops"), _tf("ops.array_ops")
    maths, bits = _tf("ops.math_ops"), _tf("ops.bitwise_ops")
    shape = maths.cast(ops.convert_to_tensor(shape), "int64")
    place = maths.range(maths.reduce_prod(shape)) + (1 + 7919 * stream)
    mixed = place * 2654435761 % _MODULUS
    for shift in (15, 13):
        moved = bits.right_shift(mixed, ops.convert_to_tensor(shift, dtype="int64"))
        mixed = bits.bitwise_xor(mixed, moved) * 1597334677 % _MODULUS
    return arrays.reshape((maths.cast(mixed, "float64") + 0.5) / _MODULUS, shape)


def _float(shape: Any, dtype: Any) -> Any:
    return _tf("ops.math_ops").cast(_uniform(shape, 0), dtype)


def _integer(shape: Any, minval: Any, maxval: Any) -> Any:
    ops, maths = _tf("framework.ops"), _tf("ops.math_ops")
    low = ops.convert_to_tensor(minval)
    high = ops.convert_to_tensor(maxval)
    span = maths.cast(high - low, "float64")
    return low + maths.cast(maths.floor(_uniform(shape, 0) * span), low.dtype)


def _normal(shape: Any, dtype: Any) -> Any:
    """Box and Muller's transform."""
    maths = _tf("ops.math_ops")
    radius = maths.sqrt(-2.0 * maths.log(_uniform(shape, 0)))
    return maths.cast(radius * maths.cos(2.0 * math.pi * _uniform(shape, 1)), dtype)


def _categorical(logits: Any, count: Any, dtype: Any) -> Any:
    """For each row so many classes: the first whose share of probability reaches a number."""
    ops, arrays, maths = _tf("framework.ops"), _tf("ops.array_ops"), _tf("ops.math_ops")
    shares = maths.cast(ops.convert_to_tensor(logits), "float64")
    shares = maths.exp(shares - maths.reduce_max(shares, axis=1, keepdims=True))
    shares = maths.cumsum(shares / maths.reduce_sum(shares, axis=1, keepdims=True), axis=1)
    size = arrays.shape(shares)
    rows, classes = size[0], size[1]
    numbers = _uniform([rows, count], 0)
    below = arrays.expand_dims(shares, 1) < arrays.expand_dims(numbers, 2)
    found = maths.reduce_sum(maths.cast(below, "int32"), axis=2)
    return maths.cast(maths.minimum(found, classes - 1), dtype)


def _truncated(shape: Any, dtype: Any) -> Any:
    """Within two standard deviations: what is beyond is folded back."""
    maths = _tf("ops.math_ops")
    found = _normal(shape, "float64")
    return maths.cast(found - 4.0 * maths.round(found / 4.0), dtype)
