"""Batches of examples of like lengths, as ``tf.contrib.training`` of TensorFlow 1 makes them.

Examples wait in a queue for each bucket; each full batch goes on to one queue, which the steps of
training take from. Their tensors are dense ones.
"""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Optional[list[int]] = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> tuple[tf.Tensor, Any]:
    """A bucket's number, and a batch of ``tensors`` (a list or a dictionary) of that bucket.

    ``batch_size`` is a number, or a list with one for each bucket.
    """
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else None
    for what, given in (("batch_size", sizes), ("bucket_capacities", bucket_capacities)):
        if given is not None and len(given) != num_buckets:
            raise ValueError(f"{what} has {len(given)} elements for {num_buckets} buckets")
    with tf.name_scope(name, "bucket", _as_list(tensors)):
        examples = [tf.convert_to_tensor(one) for one in _as_list(tensors)]
        if not examples:
            raise ValueError("Expected at least one tensor in bucket().")
        types = [one.dtype for one in examples]
        forms = [tf.TensorShape(one) for one in shapes or [e.shape for e in examples]]
        queue = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        waiting = [
            queue(
                capacity=bucket_capacities[i] if bucket_capacities is not None else capacity,
                dtypes=types,
                shapes=forms,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        known = None
        if sizes is None and not allow_smaller_final_batch:
            known = tf.get_static_value(tf.convert_to_tensor(batch_size))
        batches = tf.PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[tf.int32, *types],
            shapes=[tf.TensorShape([]), *(tf.TensorShape([known]).concatenate(s) for s in forms)],
            shared_name=shared_name,
            name="top_queue",
        )
        which = tf.convert_to_tensor(which_bucket, dtype=tf.int32, name="which_bucket")

        def enqueue() -> tf.Operation:
            tries = [
                tf.cond(tf.equal(which, i), lambda i=i: waiting[i].enqueue(examples), tf.no_op)
                for i in range(num_buckets)
            ]
            return tf.group(*tries, name="group_enqueues")

        if isinstance(keep_input, bool):
            enqueued = enqueue() if keep_input else tf.no_op()
        else:
            enqueued = tf.cond(keep_input, enqueue, tf.no_op)
        filled = []
        for i, one in enumerate(waiting):
            take = one.dequeue_up_to if allow_smaller_final_batch else one.dequeue_many
            taken = take(sizes[i] if sizes else batch_size, name=f"read_bucket_{i}")
            taken = taken if isinstance(taken, (list, tuple)) else [taken]
            filled.append(
                batches.enqueue([tf.constant(i), *taken], name=f"enqueue_from_bucket_{i}")
            )
        _add_runner(waiting[0], filled, batches.close(), [batches.close(True)])
        _add_runner(
            batches,
            [enqueued] * num_threads,
            tf.group(*(one.close() for one in waiting)),
            [one.close(True) for one in waiting],
        )
        for one in waiting:
            tf.summary.scalar(f"bucket/{one.name}/size", tf.cast(batches.size(), tf.float32))
        full = tf.cast(batches.size(), tf.float32) * (1.0 / capacity)
        tf.summary.scalar(f"bucket/{batches.name}/fraction_of_{capacity}_full", full)
        number, *found = batches.dequeue(name="dequeue_top")
        if isinstance(tensors, dict):
            return number, _by_keys(tensors, found)
        return number, found if len(found) > 1 else found[0]


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Any,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Optional[list[int]] = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> tuple[tf.Tensor, Any]:
    """The lengths of a batch's examples, and the batch: buckets begin at the boundaries."""
    edges = bucket_boundaries
    checked = isinstance(edges, (list, tuple)) and (len(edges) < 2 or all(map(_is_int, edges)))
    if not checked:
        raise TypeError(f"bucket_boundaries must be a list of integers, but received: {edges}")
    if not edges or any(before >= after for before, after in zip(edges, edges[1:])):
        raise ValueError(f"bucket_boundaries must be increasing lengths, but received: {edges}")
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length, *_as_list(tensors)]):
        length = tf.convert_to_tensor(input_length, dtype=tf.int32, name="input_length")
        reached = tf.cast(tf.less_equal(tf.constant(list(edges)), length), tf.int32)
        _, batch = bucket(
            [length, *_as_list(tensors)],
            tf.reduce_sum(reached),
            batch_size,
            len(edges) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            None if shapes is None else [tf.TensorShape([]), *shapes],
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
        )
        length, *found = batch
        if isinstance(tensors, dict):
            return length, _by_keys(tensors, found if len(found) > 1 else [found])
        return length, found


def _add_runner(queue: Any, enqueues: list[Any], close: Any, cancel: list[Any]) -> None:
    runner = tf.train.QueueRunner(
        queue,
        enqueues,
        close_op=close,
        cancel_op=tf.group(*cancel),
        queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
    )
    tf.train.add_queue_runner(runner)


def _is_int(value: Any) -> bool:
    return isinstance(value, int)


def _as_list(tensors: Any) -> list[Any]:
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return list(tensors)


def _by_keys(tensors: dict[Any, Any], found: list[Any]) -> dict[Any, Any]:
    return dict(zip(sorted(tensors, key=str), found))
