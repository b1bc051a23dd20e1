"""Runs the command line in process, and programs for it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from migrate_mgpu.cli import main

GROWTH = """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
sess = tf.Session(config=config)
"""
GROWTH_AFTER = """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

for gpu in tf.config.list_physical_devices('GPU'):
    tf.config.experimental.set_memory_growth(gpu, True)
sess = tf.Session()
"""
REFUSED = """\
import tensorflow as tf
from tensorflow.contrib import crf

net = crf.CrfForwardRnnCell(tf.zeros([1, 2]), 3)
sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
"""
KEPT = """\
import tensorflow as tf
import framework

config = tf.ConfigProto(log_device_placement=True)
framework.use(config)
sess = tf.Session(config=config)
"""
CLEAN = "def area(r):\n    return 3 * r * r\n"


@dataclass
class Ran:
    """What a run said: exit status, standard output (also as bytes), standard error."""

    status: int
    out: str
    err: str
    raw: bytes

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Cli:
    """The command line in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, **files: str | bytes) -> None:
        """Files by name: ``a`` becomes ``a.py``, ``pkg__a`` ``pkg/a.py``."""
        for name, content in files.items():
            self.put(f"{name.replace('__', '/')}.py", content)

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, name: str) -> str:
        return self.data(name).decode()

    def data(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def __call__(self, *argv: str, stdin: bytes = b"") -> Ran:
        raw = io.BytesIO()
        stdout = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        stderr = io.StringIO()
        status = main(argv, stdout, stderr, io.BytesIO(stdin))
        written = raw.getvalue()
        return Ran(status, written.decode("utf-8", "replace"), stderr.getvalue(), written)
