"""Keep what a program writes inside its own copy of its folder.

The program runs in a copy, with a temporary folder inside it. What it writes to an
absolute path outside goes to ``<copy>/.outside/<path>`` instead, and is read from there
afterwards: Python's ``open`` and the functions of ``os`` and ``shutil`` that change
files, model folders, checkpoints and summaries.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

# Plain strings for paths, as programs give them.

from __future__ import annotations

import builtins
import functools
import inspect
import io
import os
import shutil
from typing import Any


class Isolation:
    def __init__(self, root: str, recorder: Any) -> None:
        self.root = os.path.realpath(root)
        self.outside = os.path.join(self.root, ".outside")
        self.recorder = recorder
        self._open = builtins.open

    def map(self, path: Any) -> Any:
        """The path that a write to ``path`` goes to."""
        if isinstance(path, int) or path is None or isinstance(path, bytes):
            return path
        text = os.fspath(path)
        if "://" in text or text.startswith(("/dev/", "/proc/")) or not text:
            return path
        full = os.path.realpath(os.path.expanduser(text))
        if full == self.root or full.startswith(self.root + os.sep):
            return path
        mapped = os.path.join(self.outside, full.lstrip(os.sep))
        os_makedirs(os.path.dirname(mapped), exist_ok=True)
        self.recorder.note(f"written inside the copy instead of {os.path.dirname(full)}")
        return mapped

    def seen(self, path: Any) -> Any:
        """The path that a read of ``path`` comes from."""
        if isinstance(path, (int, bytes)) or path is None or not os.path.isdir(self.outside):
            return path
        full = os.path.realpath(os.path.expanduser(os.fspath(path)))
        mapped = os.path.join(self.outside, full.lstrip(os.sep))
        folder = os.path.dirname(mapped)  # of checkpoints only a prefix is named
        if os.path.lexists(mapped) or (os.path.isdir(folder) and _prefix_in(folder, mapped)):
            return mapped
        return path

    def patch_python(self) -> None:
        original = self._open

        @functools.wraps(original)
        def opened(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            writes = any(letter in mode for letter in "wax+")
            return original(self.map(file) if writes else self.seen(file), mode, *args, **options)

        builtins.open = opened
        io.open = opened
        for owner, names in (
            (os, ("makedirs", "mkdir", "remove", "unlink", "rmdir", "removedirs")),
            (shutil, ("rmtree",)),
        ):
            for name in names:
                self._first_argument(owner, name, self.map)
        for name in ("rename", "replace"):
            self._both_arguments(os, name)

    def _first_argument(self, owner: Any, name: str, change: Any, position: int = 0) -> None:
        original = owner.__dict__.get(name)
        if original is None:
            return
        try:
            parameter = list(inspect.signature(original).parameters)[position]
        except (ValueError, IndexError):
            return

        @functools.wraps(original)
        def method(*args: Any, **options: Any) -> Any:
            if len(args) > position:
                args = (*args[:position], change(args[position]), *args[position + 1 :])
            elif options.get(parameter) is not None:
                options[parameter] = change(options[parameter])
            return original(*args, **options)

        setattr(owner, name, method)

    def _both_arguments(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(source: Any, target: Any, *args: Any, **options: Any) -> Any:
            return original(self.seen(source), self.map(target), *args, **options)

        setattr(owner, name, method)

    # TensorFlow's own files -----------------------------------------------------------------

    def patch_estimator(self, module: Any) -> None:
        name = "maybe_overwrite_model_dir_and_session_config"
        original = getattr(module, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def overwrite(config: Any, model_dir: Any) -> Any:
            if getattr(config, "model_dir", None):
                config = config.replace(model_dir=self.map(config.model_dir))
            return original(config, self.map(model_dir))

        setattr(module, name, overwrite)

    def patch_contrib_config(self, module: Any) -> None:
        """`learn_runner` compares a RunConfig with that of the Estimator."""
        parameters = list(inspect.signature(module.RunConfig.__init__).parameters)
        self._first_argument(module.RunConfig, "__init__", self.map, parameters.index("model_dir"))

    def patch_saver(self, module: Any) -> None:
        self._first_argument(module.Saver, "save", self.map, 2)
        self._first_argument(module.Saver, "restore", self.seen, 2)

    def patch_checkpoints(self, module: Any) -> None:
        for name in ("latest_checkpoint", "get_checkpoint_state", "checkpoint_exists"):
            self._first_argument(module, name, self.seen)
        self._first_argument(module.CheckpointManager, "__init__", self.map, 2)

    def patch_monitored(self, module: Any) -> None:
        name = "MonitoredTrainingSession"
        original = module.__dict__.get(name)
        if original is None:
            return
        signature = inspect.signature(original)

        @functools.wraps(original)
        def session(*args: Any, **options: Any) -> Any:
            bound = signature.bind(*args, **options)
            for key in ("checkpoint_dir", "summary_dir"):
                if bound.arguments.get(key):
                    bound.arguments[key] = self.map(bound.arguments[key])
            return original(*bound.args, **bound.kwargs)

        setattr(module, name, session)

    def patch_writer(self, module: Any) -> None:
        if hasattr(module, "FileWriter"):
            self._first_argument(module.FileWriter, "__init__", self.map, 1)

    def patch_summaries(self, module: Any) -> None:
        self._first_argument(module, "create_file_writer_v2", self.map)

    def patch_gfile(self, module: Any) -> None:
        for name in (
            "create_dir",
            "create_dir_v2",
            "recursive_create_dir",
            "recursive_create_dir_v2",
            "delete_file",
            "delete_file_v2",
            "delete_recursively",
            "delete_recursively_v2",
        ):
            self._first_argument(module, name, self.map)

    def patches(self) -> dict[str, Any]:
        return {
            ".python.lib.io.file_io": self.patch_gfile,
            ".python.ops.summary_ops_v2": self.patch_summaries,
            ".python.summary.writer.writer": self.patch_writer,
            ".python.checkpoint.checkpoint_management": self.patch_checkpoints,
            ".python.training.checkpoint_management": self.patch_checkpoints,
            ".python.training.monitored_session": self.patch_monitored,
            ".python.training.saver": self.patch_saver,
            ".contrib.learn.python.learn.estimators.run_config": self.patch_contrib_config,
            "tensorflow_estimator.python.estimator.estimator": self.patch_estimator,
        }


os_makedirs = os.makedirs  # before it is patched


def _prefix_in(folder: str, path: str) -> bool:
    name = os.path.basename(path)
    return bool(name) and any(one.startswith(name) for one in os.listdir(folder))
