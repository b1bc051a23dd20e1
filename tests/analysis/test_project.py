"""Which files make a program, where that is not obvious from their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.prefilter import imported_words
from migrate_mgpu.run import files, reporting
from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.source.source import Edit, splice

MODEL = """\
import tensorflow as tf


def build():
    return tf.get_variable("w", [])
"""
TRAIN = """\
import tensorflow as tf
import model

loss = model.build()
sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
"""


def run(folder: Path) -> RunResult:
    paths, _ = files.discover([str(folder)])
    return migrate([(path, files.read(path)) for path in paths], bridge=True, write=True)


def test_a_linked_module_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    """Not a file outside of the run, which could only be read."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models/model.py").write_text(MODEL)
    (tmp_path / "training").mkdir()
    (tmp_path / "training/train.py").write_text(TRAIN)
    (tmp_path / "training/model.py").symlink_to("../models/model.py")
    result = run(tmp_path)
    assert [(p.entry.name, p.state) for p in result.programs] == [("train.py", "bridge")]
    assert result.sites["applied"] == 1
    assert "compat.v1" in (tmp_path / "models/model.py").read_text()
    assert (tmp_path / "training/model.py").is_symlink()
    assert not any(file.changed for file in run(tmp_path).files)


@pytest.mark.parametrize(
    "data",
    [
        b"import train",
        b"\xef\xbb\xbfimport train\n",
        b"x = 1\n\tfrom . import train as other\n",
        b"from pkg.train import main\n",
        b"from.train import main\n",
        b"import os, train  # why\n",
        b"import os; f(os); import train\n",
        b"import os\rimport train\r",
        b"import os\r\nimport train\r\n",
        b"from pkg import (\n    data,  # of it\n    train,\n)\n",
        b"from pkg import data, \\\n    train\n",
        b"import os, \\\r\n    train\r\n",
        b"import (os); train\n",
        b'   "source": [\n    "import os\\n",\n    "import train\\n"\n   ]',
    ],
)
def test_words_of_imports(data: bytes) -> None:
    assert b"train" in imported_words(data)


@pytest.mark.parametrize(
    "data", [b"train = 1\n", b"import os  # train\n", b"imports = train\n", b"import os\ntrain()\n"]
)
def test_words_of_other_lines(data: bytes) -> None:
    assert b"train" not in imported_words(data)


def test_a_notebook_that_only_imports_the_model_is_an_entry_point(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("model.build()", "tf.zeros([])"))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cell["source"] = ["import os\n", "import train"]
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "start.ipynb").write_text(json.dumps(notebook, indent=1))
    assert [program.entry.name for program in run(tmp_path).programs] == ["start.ipynb"]


def test_an_entry_point_without_tensorflow_imports_over_several_lines(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/train.py").write_text(
        TRAIN.replace("import model", "").replace("model.build()", "tf.get_variable('w', [])")
    )
    (tmp_path / "start.py").write_text("from pkg import (\n    train,  # all of it\n)\n")
    result = run(tmp_path)
    assert [(p.entry.name, p.state) for p in result.programs] == [("start.py", "bridge")]


@pytest.mark.parametrize("here", [False, True])
def test_packages_without_an_init_file_are_found_from_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    """As Python finds them where the project's own folder is the one that runs are started in."""
    for name, text in (
        ("data", MODEL),
        ("app", TRAIN.replace("import model", "from data import model")),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / ("model.py" if name == "data" else "train.py")).write_text(text)
    monkeypatch.chdir(tmp_path)
    paths = (
        [Path("app/train.py")] if here else [tmp_path / "app/train.py", tmp_path / "data/model.py"]
    )
    project = Project([(path, path.read_bytes()) for path in paths])
    (program,) = project.programs()
    assert {module.path.name for module in program.modules} == {"train.py", "model.py"}


def test_what_belongs_to_a_file_that_cannot_be_migrated_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of ours in one file must not leave a project that fits together no more."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "other.py").write_text(TRAIN.replace("model", "os").replace("os.build()", "0"))

    def broken(text: str, edits: list[Edit]) -> str:
        return "(" if "def build" in text else splice(text, edits)

    monkeypatch.setattr(reporting, "splice", broken)
    result = run(tmp_path)
    assert {p.entry.name: p.state for p in result.programs} == {
        "train.py": "refused",
        "other.py": "bridge",
    }
    assert (tmp_path / "model.py").read_text() == MODEL
    assert (tmp_path / "train.py").read_text() == TRAIN
    assert "disable_v2_behavior" in (tmp_path / "other.py").read_text()
    errors = {file.path.name: file.error for file in result.files if file.error}
    assert "internal error" in errors["model.py"]
    assert errors["train.py"] == "left unchanged, because model.py could not be migrated"


KERAS = """\
import tensorflow as tf
import data

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data.batches(), steps_per_epoch=2)
"""
SESSION = """\
import tensorflow as tf
import data

x = tf.placeholder(tf.float32, [])
with tf.Session() as session:
    print(session.run(x, {x: 1.0}), data.batches)
"""
DATA = """\
import tensorflow as tf


def batches():
    return tf.data.Dataset.from_tensor_slices(([[1.0]], [[1.0]])).repeat().batch(1)
"""


def test_a_module_that_a_keras_program_runs_as_well_gets_no_v1_behaviour() -> None:
    """Such a program may be one that an earlier run made: a second run must not break it."""
    programs = {"keras_train.py": KERAS, "session_train.py": SESSION, "data.py": DATA}

    def migrated(**changed: str) -> dict[str, str | None]:
        texts = {**programs, **{f"{name}.py": text for name, text in changed.items()}}
        found = migrate([(n, t.encode()) for n, t in texts.items()], bridge=True, write=False)
        return {file.path.name: file.after for file in found.files}

    after = migrated()
    assert "compat.v1" in (after["session_train.py"] or "")
    assert after.get("data.py") in (None, DATA) and after.get("keras_train.py") in (None, KERAS)
    lacking = DATA.replace(
        "def batches", "def feed():\n    return tf.placeholder(tf.float32)\n\n\ndef batches"
    )
    assert "compat.v1" in (migrated(data=lacking)["data.py"] or "")


OPS = """\
import tensorflow as tf


def weight():
    return tf.get_variable("w", [3, 1])
"""
TRAINED_BY_OPS = """\
import tensorflow as tf
{adds}
import ops

loss = ops.weight()
sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
"""


@pytest.mark.parametrize(
    "adds",
    [
        'import sys\nsys.path.append("../utils")',
        "import os, sys\n"
        "BASE = os.path.dirname(os.path.abspath(__file__))\n"
        'sys.path.append(os.path.join(BASE, "..", "utils"))',
        "import os\nfrom os import path\nimport sys\n"
        'sys.path.insert(0, path.join(path.dirname(path.dirname(__file__)), "utils"))',
        "import os.path as osp, sys\n"
        "def add_path(path):\n"
        "    if path not in sys.path:\n"
        "        sys.path.insert(0, path)\n"
        'add_path(osp.join(osp.dirname(__file__), os.pardir, "utils"))'.replace(
            "os.pardir", "osp.pardir"
        ),
        "import sys\nfrom pathlib import Path\n"
        'sys.path.append(str(Path(__file__).resolve().parents[1] / "utils"))',
        'import sys\nfor folder in ("../data", "../utils"):\n    sys.path.append(folder)',
        'import sys\nsys.path += ["../utils"]',
        "import init_paths",
    ],
)
def test_modules_are_found_where_sys_path_says(tmp_path: Path, adds: str) -> None:
    """``utils/`` is neither beside the script nor above it."""
    for name, text in {
        "tools/train.py": TRAINED_BY_OPS.format(adds=adds),
        "tools/init_paths.py": 'import sys\nsys.path.insert(0, "../utils")\n',
        "utils/ops.py": OPS,
        # Of this name there are two, so that only sys.path can tell which is meant.
        "other/ops.py": OPS,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    result = run(tmp_path)
    by_entry = {p.entry.relative_to(tmp_path).as_posix(): p for p in result.programs}
    assert by_entry["tools/train.py"].state == "bridge"
    assert "compat.v1" in (tmp_path / "utils/ops.py").read_text()
    assert (tmp_path / "other/ops.py").read_text() == OPS


@pytest.mark.parametrize("more", [{}, {"src/__init__.py": ""}])
def test_a_module_of_a_python_path_belongs_to_the_program_that_imports_it(
    tmp_path: Path, more: dict[str, str]
) -> None:
    """Started with PYTHONPATH=src, which may be a package itself: no other file has that name."""
    texts = {"tools/train.py": TRAINED_BY_OPS.format(adds=""), "src/ops.py": OPS, **more}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [p.state for p in run(tmp_path).programs] == ["bridge"]
    assert "compat.v1" in (tmp_path / "src/ops.py").read_text()


def test_a_module_of_the_same_name_elsewhere_is_not_the_one_beside_the_script(
    tmp_path: Path,
) -> None:
    """The one beside it never speaks of TensorFlow, and is the one that Python imports."""
    for name, text in {
        "tools/train.py": TRAINED_BY_OPS.format(adds=""),
        "tools/ops.py": "def weight():\n    return 1.0\n",
        "src/ops.py": OPS,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert run(tmp_path).programs
    assert (tmp_path / "src/ops.py").read_text() == OPS


def test_an_import_that_several_files_may_be_is_known(tmp_path: Path) -> None:
    files_of = {"tools/train.py": TRAINED_BY_OPS.format(adds=""), "a/ops.py": OPS, "b/ops.py": OPS}
    project = Project([(str(tmp_path / n), t.encode()) for n, t in files_of.items()])
    train = next(m for m in project.modules.values() if m.path.name == "train.py")
    (found,) = project.unresolved(train)
    assert found.name == "ops" and found.node.lineno == 3
    assert {one.path.parent.name for one in found.candidates} == {"a", "b"}


def test_what_another_program_adds_to_the_path_counts_there_alone(tmp_path: Path) -> None:
    """Both import `shared`, and only one of them could come to ``old/ops.py``."""
    shared = "import tensorflow as tf\n\nZERO = tf.zeros([])\n"
    texts = {
        "a/train.py": TRAINED_BY_OPS.format(adds="import sys\nsys.path.append('../old')"),
        "b/train.py": TRAINED_BY_OPS.format(adds="import shared"),
        "a/more.py": "import shared\n",
        "old/ops.py": OPS,
        "new/ops.py": OPS,
        "shared.py": shared,
    }
    texts["a/train.py"] = texts["a/train.py"].replace("import ops", "import ops\nimport shared")
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    project = Project([(str(tmp_path / n), t.encode()) for n, t in texts.items()])
    by_path = {m.path.relative_to(tmp_path).as_posix(): m for m in project.modules.values()}
    assert by_path["old/ops.py"] in by_path["a/train.py"].imported
    assert by_path["shared.py"] in by_path["b/train.py"].imported
    assert by_path["old/ops.py"] not in by_path["b/train.py"].imported


def test_a_folder_beside_the_script_is_a_package_of_that_name(tmp_path: Path) -> None:
    """Without an ``__init__.py``, and what is in it never speaks of TensorFlow."""
    texts = {
        "new/train.py": "import tensorflow as tf\nfrom utils.files import read\ntf.Session()\n",
        "new/utils/files.py": "def read():\n    pass\n",
        "old/utils/__init__.py": OPS,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    project = Project([(str(tmp_path / n), t.encode()) for n, t in texts.items()])
    train = next(m for m in project.modules.values() if m.path.name == "train.py")
    assert train.imported == []


def test_a_package_called_tensorflow_is_none_of_tensorflows(tmp_path: Path) -> None:
    """A folder of samples: `from . import ops` in it named what TF2 does not have."""
    train = TRAINED_BY_OPS.format(adds="").replace("import ops", "from . import ops")
    texts = {"tensorflow/__init__.py": "", "tensorflow/train.py": train, "tensorflow/ops.py": OPS}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [p.state for p in run(tmp_path).programs] == ["bridge"]
    assert "compat.v1" in (tmp_path / "tensorflow/ops.py").read_text()


def test_a_module_called_as_its_package_is_not_the_package(tmp_path: Path) -> None:
    """`from .utils import misc` of a package `nmt` that has a module `nmt` as well."""
    files = {
        "nmt/__init__.py": "",
        "nmt/nmt.py": "import tensorflow as tf\ntf.Session()\nfrom . import model\n",
        "nmt/model.py": "import tensorflow as tf\ntf.Session()\nfrom .utils import misc\n",
        "nmt/utils/__init__.py": "",
        "nmt/utils/misc.py": "import tensorflow as tf\ntf.Session()\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    project = Project([(str(tmp_path / name), text.encode()) for name, text in files.items()])
    imported = {m.name: [one.name for one in m.imported] for m in project.modules.values()}
    assert imported == {
        "nmt.nmt": ["nmt.model"],
        "nmt.model": ["nmt.utils.misc"],
        "nmt.utils.misc": [],
    }


def test_a_module_called_as_the_package_that_it_imports_from(tmp_path: Path) -> None:
    """`net/models/net.py` was taken for the package `net`: helpers of its stayed TF1's."""
    (tmp_path / "net/models").mkdir(parents=True)
    for folder in ("net", "net/models"):
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "net/models/net.py").write_text("from net.models.helpers import build\n")
    (tmp_path / "net/models/helpers.py").write_text(MODEL)
    imports = TRAIN.replace("import model", "from net.models import net as model")
    (tmp_path / "train.py").write_text(imports)
    (program,) = run(tmp_path).programs
    assert program.entry.name == "train.py" and program.modules == 3
    assert "compat.v1" in (tmp_path / "net/models/helpers.py").read_text()
