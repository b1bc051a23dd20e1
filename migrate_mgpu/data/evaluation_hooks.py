"""Hooks of evaluations, as ``tf.contrib.training`` of TensorFlow 1 has them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


class SummaryAtEndHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Writes the summaries of a graph once, when its session ends."""

    def __init__(
        self,
        log_dir: Optional[str] = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._replace_summary_op = summary_op is None

    def begin(self) -> None:
        if self._replace_summary_op:
            self._summary_op = tf.summary.merge_all()
        self._global_step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        if self._summary_op is not None:
            step = tf.train.global_step(session, self._global_step)
            made = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(made, step)
        if self._summary_writer:
            self._summary_writer.flush()
