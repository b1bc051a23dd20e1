"""TF1's summaries, and the operations of TF2 that make the same ones.

``tf.summary.scalar`` of TF2 makes others: it names and stores a value in another way.
"""

from __future__ import annotations

import re

from migrate_mgpu.api.schema import Parameter, Row, Table

_NAME = Parameter("name", target="tag")
_COLLECTIONS = Parameter("collections", "None", target="", only=(None,))
_FAMILY = Parameter("family", "None", target="", only=(None,))

SUMMARIES = Table(
    Row(
        ("summary.scalar",),
        "scalar",
        (
            Parameter("name", target="tags"),
            Parameter("tensor", target="values"),
            _COLLECTIONS,
            _FAMILY,
        ),
        "raw_ops.ScalarSummary",
    ),
    Row(
        ("summary.histogram",),
        "histogram",
        (_NAME, Parameter("values"), _COLLECTIONS, _FAMILY),
        "raw_ops.HistogramSummary",
    ),
    Row(
        ("summary.image",),
        "image",
        (
            _NAME,
            Parameter("tensor"),
            Parameter("max_outputs", "3", target="max_images"),
            _COLLECTIONS,
            _FAMILY,
        ),
        "raw_ops.ImageSummary",
    ),
    Row(
        ("summary.audio",),
        "audio",
        (
            _NAME,
            Parameter("tensor"),
            Parameter("sample_rate"),
            Parameter("max_outputs", "3"),
            _COLLECTIONS,
            _FAMILY,
        ),
        "raw_ops.AudioSummaryV2",
    ),
)  # fmt: skip


def clean_tag(name: str) -> str:
    """What TF1 makes of the name that a summary is given."""
    return re.sub(r"[^-/\w.]", "_", name).lstrip("/")


MERGE_ALL = ("key", "scope", "name")
MERGE = ("inputs", "collections", "name")
FILE_WRITER = (
    "logdir", "graph", "max_queue", "flush_secs", "graph_def", "filename_suffix", "session",
)  # fmt: skip
ADD_SUMMARY = ("summary", "global_step")
