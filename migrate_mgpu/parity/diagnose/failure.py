"""The new program crashes: TensorFlow's own words name the cause."""

from __future__ import annotations

from collections.abc import Iterator

from migrate_mgpu.parity.diagnose import FAILED, LIKELY, Diagnosis
from migrate_mgpu.parity.diagnose.evidence import Evidence

# what TensorFlow says: cause, title, what to change
_SAYS = {
    "Memory growth cannot differ between GPU devices": (
        "memory-growth",
        "memory growth is set on some GPUs only",
        "call tf.config.experimental.set_memory_growth for every visible GPU",
    ),
    "cannot be modified after being initialized": (
        "too-late",
        "the devices are configured too late",
        "move the tf.config calls above the first operation that runs eagerly",
    ),
    "Cannot set memory growth on device when virtual devices configured": (
        "growth-and-limit",
        "a GPU has both memory growth and a limit",
        "keep the limit: in TensorFlow 2 they exclude each other",
    ),
    "cannot be modified after initialization": (
        "too-late",
        "the devices are configured too late",
        "move the tf.config calls above the first operation that runs eagerly",
    ),
}


def refused(e: Evidence) -> Iterator[Diagnosis]:
    failure = e.target.failure or ""
    for text, (cause, title, advice) in _SAYS.items():
        if text in failure:
            yield Diagnosis(cause, title, LIKELY, 1, [failure], advice)
            return


CAUSES = {FAILED: [refused]}
