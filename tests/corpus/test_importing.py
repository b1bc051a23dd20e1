"""The check of claims: what it calls false, and how it imports a program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import claims
import importer
import pytest

GONE = "AttributeError: module 'tensorflow' has no attribute 'placeholder'"
MISSING = "ModuleNotFoundError: No module named '{}'"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (None, "imported"),
        (GONE, "false"),
        (GONE.replace("placeholder", "to_float"), "told"),
        ("AttributeError: module 'numpy' has no attribute 'bool'", "false"),
        ("TypeError: 'dict_keys' object is not subscriptable", "false"),
        ("RuntimeError: tf.placeholder() is not compatible with eager execution.", "false"),
        (MISSING.format("tensorflow.contrib"), "false"),
        (MISSING.format("helper"), "false"),
        (MISSING.format("generated_pb2"), "other"),  # no file of the repository has its name
        ("TypeError: int() argument must not be 'importer.Stub'", "other"),
        ("FileNotFoundError: No such file or directory: 'data.csv'", "other"),
        ("NameError: name 'nowhere' is not defined", "other"),  # the author never binds it
        ("NameError: name 'xrange' is not defined", "false"),  # Python 2 did
        ("NameError: name 'bound' is not defined", "false"),
    ],
)
def test_kinds(error: str | None, kind: str, tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "train.py").write_text("print(nowhere, xrange(3))\nbound = 1\n")
    where = f"{tmp_path / 'after'}/train.py:1"
    result = {"error": error, "where": where, "own": ["helper", "train"], "told": ["to_float"]}
    assert claims.kind_of(result, tmp_path / "before", tmp_path / "after") == kind


def test_a_name_that_a_file_of_python_2_never_binds(tmp_path: Path) -> None:
    for folder, text in (("before", "print nowhere\n"), ("after", "print(nowhere)\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(text)
    result = {"error": "NameError: name 'nowhere' is not defined", "own": [], "told": []}
    where = f"{tmp_path / 'after'}/train.py:1"
    assert claims.kind_of({**result, "where": where}, tmp_path / "before", tmp_path / "after") == (
        "other"
    )


@pytest.mark.parametrize("text", ["from helper import *\n", "from .any import *\n"])
def test_what_a_star_may_bind_is_not_the_authors_mistake(text: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{text}print(taken)\n")
    result = {"error": "NameError: name 'taken' is not defined", "where": "train.py:2"}
    result = {**result, "own": ["helper"], "told": []}
    assert claims.kind_of(result, tmp_path, tmp_path / "after") == "false"


def book(code: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": code}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2})


@pytest.mark.parametrize(
    ("code", "kind"), [("print(nowhere)", "other"), ("print nowhere", "false")]
)
def test_a_name_that_a_notebook_never_binds(code: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "train.ipynb").write_text(book(code))
    result = {"error": "NameError: name 'nowhere' is not defined", "own": [], "told": []}
    where = f"{tmp_path / 'after'}/train_cells.py:1"
    assert claims.kind_of({**result, "where": where}, tmp_path, tmp_path / "after") == kind


TRAIN = "import tensorflow as tf\nwith tf.Session() as sess:\n    print(sess.run(tf.constant(1)))\n"


def test_jobs(tmp_path: Path) -> None:
    """A folder `tensorflow` of a repository is no package that one imports by that name."""
    package = tmp_path / "from" / "tensorflow" / "nets"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "train.py").write_text(TRAIN)
    (package / "book.ipynb").write_text(book(TRAIN))
    (package / "stays.py").write_text(f"{TRAIN}tf.contrib.nothing()\n")
    found = {
        Path(job["entry"]).name: job for job in claims.jobs_of(tmp_path / "from", tmp_path / "to")
    }
    assert found.keys() == {"train.py", "book_cells.py"}
    assert found["train.py"]["package"] == "nets.train"
    assert found["book_cells.py"]["package"] == ""
    assert "disable_v2_behavior" in Path(found["book_cells.py"]["entry"]).read_text()
    (package / "nets.py").write_text("from nets.ops import relu\n")
    (package / "train.py").write_text(f"{TRAIN}if __name__ == '__main__':\n    pass\n")
    (job,) = (
        job
        for job in claims.jobs_of(tmp_path / "from", tmp_path / "again")
        if job["entry"].endswith("train.py")
    )
    assert job["package"] == "nets.train", "a script could not import its package"
    assert job["above"][0] == str(tmp_path / "again" / "tensorflow")
    (package / "nets.py").write_text("")
    assert claims._dotted(package / "train.py") == "", "it is what a script asks for"
    assert found["train.py"]["path"][0] == str(tmp_path / "to" / "tensorflow")


def test_what_is_near_comes_first() -> None:
    entry, folders = Path("/a/b/train.py"), {Path("/a"), Path("/c"), Path("/a/b")}
    assert claims._nearest(entry, set(), folders) == ["/a/b", "/a", "/c"]


def attempted(tmp_path: Path, text: str, own: tuple[str, ...] = (), **job: Any) -> str | None:
    (tmp_path / "train.py").write_text(text)
    entry = {"entry": str(tmp_path / "train.py"), "root": str(tmp_path), "package": "", "own": own}
    error, _ = importer.forked({**entry, **job}, [])
    return None if error is None else str(error)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="runtimes have newer Pythons")
@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "import absent.part as p\n@p.f\ndef f(): pass\nclass A(p.B, p.C.D): pass\nf(A(p.x[1]))",
            None,
        ),
        ("import tf_slim.nothing", "ModuleNotFoundError"),
        ("import helper", "ModuleNotFoundError: No module named 'helper'"),
        ("raise SystemExit(3)", None),
        ("x = {}['a']", "KeyError: 'a'"),
        ("import os\nos._exit(1)", "died"),
        ("if __name__ == '__main__':\n    1 / 0", None),
    ],
)
def test_imports(text: str, error: str | None, tmp_path: Path) -> None:
    found = attempted(tmp_path, text, ("helper", "train"))
    assert found == error if error is None else (found or "").startswith(error)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="runtimes have newer Pythons")
@pytest.mark.parametrize(
    ("files", "error"),
    [
        # A folder inside of a package is not what a module outside of it asks for.
        (("net/__init__.py", "net/gin/__init__.py"), None),
        (("net/__init__.py", "net/gin.py"), None),
        # A checkout of a package in a folder of its name: the package is inside.
        (("gin/setup.py", "gin/gin/__init__.py"), "AttributeError: module 'gin' has no attribute"),
        (("lib/gin.py",), "AttributeError: module 'gin' has no attribute"),
    ],
)
def test_a_folder_of_a_packages_name(
    files: tuple[str, ...], error: str | None, tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "train.py").write_text("import gin\n@gin.configurable\ndef train(): pass\n")
    folders = sorted({str((tmp_path / name).parent) for name in files})
    found, _ = importer.imported(
        {
            "entry": str(tmp_path / "train.py"), "root": str(tmp_path), "package": "",
            "own": ["gin", "net", "train"], "above": [str(tmp_path)], "path": folders,
        }
    )  # fmt: skip
    assert found is None if error is None else (found or "").startswith(error)


SLOW = (
    "try:\n    while True:\n        pass\nexcept BaseException:\n    raise ValueError('stopped')\n"
)


DEAF = "import signal, time\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(60)\n"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="runtimes have newer Pythons")
@pytest.mark.parametrize("text", [SLOW, DEAF])
def test_time_that_is_up_is_no_failure(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorFlow makes another error of what stops it in C++, or waits there for ever."""
    monkeypatch.setattr(importer, "LIMIT", 1)
    assert attempted(tmp_path, text) is None


@pytest.mark.parametrize(
    ("error", "told", "kind"),
    [
        ("module 'tensorflow' has no attribute 'contrib'", "tensorflow.contrib.slim.pool", "told"),
        ("No module named 'tensorflow.contrib'", "tensorflow.contrib.slim.pool", "told"),
        ("module 'scipy.misc' has no attribute 'imread'", "scipy.misc.imread", "told"),
        ("module 'tensorflow' has no attribute 'Session'", "tensorflow.contrib.slim", "false"),
    ],
)
def test_a_finding_tells_of_what_its_name_is_a_part_of(
    error: str, told: str, kind: str, tmp_path: Path
) -> None:
    result = {"error": f"AttributeError: {error}", "where": "a.py:1", "own": [], "told": [told]}
    assert claims.kind_of(result, tmp_path, tmp_path) == kind


@pytest.mark.skipif(sys.version_info < (3, 10), reason="runtimes have newer Pythons")
@pytest.mark.parametrize(("more", "error"), [("", None), ("a.py", "AttributeError")])
def test_a_folder_of_data_is_no_package(more: str, error: str | None, tmp_path: Path) -> None:
    """What is installed by its name stands for anything; a folder with modules is the run's."""
    (tmp_path / "settings/lists").mkdir(parents=True)
    (tmp_path / "settings/lists" / (more or "a.txt")).write_text("")
    text = (
        f"import sys\nsys.path.append({str(tmp_path / 'settings')!r})\nimport lists\nlists.Loader"
    )
    found = attempted(tmp_path, text, ("train",))
    assert found == error if error is None else (found or "").startswith(error)


def test_the_folder_of_a_module_that_is_lacking(tmp_path: Path) -> None:
    """No other one, which may have a module of the same name as a package of the program."""
    (tmp_path / "a/utils").mkdir(parents=True)
    (tmp_path / "a/utils/utils.py").write_text("")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/nets.py").write_text("")
    folders = [str(tmp_path / name) for name in ("a/utils", "a", "b")]
    error = "ModuleNotFoundError: No module named '{}'"
    assert importer.lacking(error.format("nets"), "", folders, []) == folders[2]
    assert importer.lacking(error.format("utils.utils"), "", folders, []) == folders[1]
    assert importer.lacking(error.format("nets"), "", folders, folders[2:]) is None
    assert importer.lacking("KeyError: 'nets'", "", folders, []) is None
