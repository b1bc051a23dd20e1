"""Greedy matches of rows and columns, as ``tf.contrib.image.bipartite_match`` makes them."""

from typing import Any, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf

Pair = tuple[float, int, int]  # how far, row, column


class BipartiteMatch(NamedTuple):
    """The column of each row and the row of each column; -1 where there is none."""

    row_to_col_match_indices: tf.Tensor
    col_to_row_match_indices: tf.Tensor


def bipartite_match(
    distance_mat: Any,
    num_valid_rows: Any,
    top_k: int = -1,
    name: Optional[str] = "bipartite_match",
) -> BipartiteMatch:
    """The nearest pair first, until rows, columns or ``top_k`` pairs are used up.

    Python computes it: the graph runs in the process that built it, and nowhere else.
    """

    def match(distances: Any, valid: Any) -> tuple[Any, Any]:
        return _match(distances, float(np.reshape(valid, [])), top_k)

    with tf.name_scope(name or "bipartite_match"):
        distances = tf.convert_to_tensor(distance_mat, tf.float32)
        valid = tf.convert_to_tensor(num_valid_rows, tf.float32)
        columns, rows = tf.numpy_function(match, [distances, valid], [tf.int32, tf.int32])
    columns.set_shape([distances.shape.with_rank(2)[0]])
    rows.set_shape([distances.shape[1]])
    return BipartiteMatch(columns, rows)


def _match(distances: Any, valid: float, top_k: int) -> tuple[Any, Any]:
    count = int(valid + 0.1) if valid >= 0 else len(distances)
    if count > len(distances):
        raise ValueError(f"there are {len(distances)} rows, not {count}")
    columns = np.full(distances.shape[0], -1, np.int32)
    rows = np.full(distances.shape[1], -1, np.int32)
    left = top_k if top_k > 0 else min(count, len(rows))
    heap: list[Pair] = []
    for row, line in enumerate(distances[:count].tolist()):
        for column, distance in enumerate(line):
            heap.append((distance, row, column))
            _rise(heap, len(heap) - 1)
    while heap and left:
        _, row, column = _take(heap)
        if columns[row] < 0 and rows[column] < 0:
            columns[row], rows[column] = column, row
            left -= 1
    return columns, rows


# Which of two pairs that are as far comes first is up to the heap of C++'s standard library, in
# which TensorFlow 1 kept them: these are its steps.


def _rise(heap: list[Pair], hole: int) -> None:
    pair = heap[hole]
    while hole and pair[0] < heap[(hole - 1) // 2][0]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = pair


def _take(heap: list[Pair]) -> Pair:
    first, last = heap[0], heap.pop()
    hole, length = 0, len(heap)
    if not length:
        return first
    while 2 * hole + 2 < length:
        child = 2 * hole + 2
        if heap[child - 1][0] < heap[child][0]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if 2 * hole + 2 == length:
        heap[hole] = heap[2 * hole + 1]
        hole = 2 * hole + 1
    heap[hole] = last
    _rise(heap, hole)
    return first
