"""Input queues: what fills them, what reads of them, and what makes batches.

Each with the parameters that TF 1.15 gives it, in their order.
"""

from __future__ import annotations

FILES = "train.string_input_producer"
SLICES = "train.slice_input_producer"
PRODUCERS = {
    FILES: ("string_tensor", "num_epochs", "shuffle", "seed", "capacity", "shared_name", "name",
            "cancel_op"),
    SLICES: ("tensor_list", "num_epochs", "shuffle", "seed", "capacity", "shared_name", "name"),
}  # fmt: skip
BATCHES = {
    "train.batch": ("tensors", "batch_size", "num_threads", "capacity", "enqueue_many", "shapes",
                    "dynamic_pad", "allow_smaller_final_batch", "shared_name", "name"),
    "train.shuffle_batch": ("tensors", "batch_size", "capacity", "min_after_dequeue",
                            "num_threads", "seed", "enqueue_many", "shapes",
                            "allow_smaller_final_batch", "shared_name", "name"),
    "train.batch_join": ("tensors", "batch_size", "capacity", "enqueue_many", "shapes",
                         "dynamic_pad", "allow_smaller_final_batch", "shared_name", "name"),
    "train.shuffle_batch_join": ("tensors", "batch_size", "capacity", "min_after_dequeue", "seed",
                                 "enqueue_many", "shapes", "allow_smaller_final_batch",
                                 "shared_name", "name"),
}  # fmt: skip
WHOLE_FILES = "WholeFileReader"
READERS = {
    "TFRecordReader": ("name", "options"),
    "TextLineReader": ("skip_header_lines", "name"),
    "FixedLengthRecordReader": ("record_bytes", "header_bytes", "footer_bytes", "hop_bytes",
                                "name", "encoding"),
    WHOLE_FILES: ("name",),
}  # fmt: skip
# All that is filled by threads which the session starts, and all that reads from it.
QUEUES = frozenset(
    [*PRODUCERS, *BATCHES, *READERS, "IdentityReader", "LMDBReader"]
    + [f"train.{way}" for way in (
        "input_producer", "limit_epochs", "maybe_batch", "maybe_batch_join",
        "maybe_shuffle_batch", "maybe_shuffle_batch_join", "range_input_producer")]
    + [f"{package}{kind}Queue" for package in ("", "queue.")
       for kind in ("FIFO", "PaddingFIFO", "Priority", "RandomShuffle")]
)  # fmt: skip
