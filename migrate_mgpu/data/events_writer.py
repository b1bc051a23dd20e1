"""Files of events for TensorBoard, as TensorFlow 1 writes them by ``EventsWriter``."""

import os
import socket
import time
from typing import Any


class EventsWriter:
    """Appends events to ``PREFIX.out.tfevents.TIME.HOST``, which is made with the first one."""

    def __init__(self, prefix: Any) -> None:
        self._prefix = os.fsdecode(prefix)
        self._suffix = ""
        self._writer: Any = None
        self._name = ""

    def InitWithSuffix(self, suffix: Any) -> bool:
        """Opens a new file, whose name ends with ``suffix``."""
        self.Close()
        self._suffix = os.fsdecode(suffix)
        return self.Init()

    def Init(self) -> bool:
        """Opens the file, unless it is open."""
        if self._writer is None:
            import tensorflow as tf

            now = time.time()
            host = socket.gethostname()
            self._name = f"{self._prefix}.out.tfevents.{int(now):010d}.{host}{self._suffix}"
            self._writer = tf.io.TFRecordWriter(self._name)
            event = tf.compat.v1.Event(wall_time=now, file_version="brain.Event:2")
            self._writer.write(event.SerializeToString())
        return True

    def FileName(self) -> bytes:
        """The file's name."""
        self.Init()
        return os.fsencode(self._name)

    def WriteEvent(self, event: Any) -> None:
        """Appends one event."""
        self.Init()
        self._writer.write(event.SerializeToString())

    def Flush(self) -> bool:
        """Gives the file what was appended."""
        if self._writer is not None:
            self._writer.flush()
        return True

    def Close(self) -> bool:
        """Closes the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        return True
