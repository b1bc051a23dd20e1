"""That a program runs on TF2 is said of what it surely imports; all else is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import run, said

TRAIN = """\
import tensorflow as tf
{imports}
config = tf.ConfigProto(allow_soft_placement=True)
sess = tf.Session(config=config)
"""
CRF = (
    "import tensorflow as tf\nimport tensorflow.contrib.crf as crf\n\nnet = crf.CrfForwardRnnCell\n"
)
FINE = "import tensorflow as tf\n\nnet = tf.nn.relu\n"


def bridged(imports: str, **modules: str) -> RunResult:
    """A run over `train.py`, which becomes a bridge, and the modules that it may import."""
    files = [(f"{name.replace('__', '/')}.py", text) for name, text in modules.items()]
    found = run(("train.py", TRAIN.format(imports=imports)), *files, bridge=True)
    (program,) = [one for one in found.programs if one.entry.name == "train.py"]
    assert program.state == "bridge"
    return found


def claim(found: RunResult) -> str:
    return next(one.runs_on for one in found.programs if one.entry.name == "train.py")


def told(found: RunResult) -> list[tuple[str, int, str]]:
    return [(g.path.name, g.line, g.message) for g in found.findings if g.code == "MGPU908"]


@pytest.mark.parametrize(
    "imports",
    [
        "if False:\n    import crf_net",
        "def f(crf):\n    if crf:\n        import crf_net\n        return crf_net",
    ],
)
def test_a_file_that_some_paths_import(imports: str) -> None:
    found = bridged(imports, crf_net=CRF)
    assert claim(found) == "TF 2.15 and newest, but for what MGPU908 names"
    ((file, line, message),) = told(found)
    assert (file, line) == ("crf_net.py", 4)
    assert (
        "`tensorflow.contrib.crf.CrfForwardRnnCell` does not exist in TF2; this file is imported"
        in message
    )


def test_a_file_that_a_name_at_run_time_may_be() -> None:
    imports = "import importlib, sys\nnet = importlib.import_module('models.' + sys.argv[1])"
    found = bridged(imports, models__crf_net=CRF, models__fine_net=FINE)
    assert claim(found).endswith("but for what MGPU908 names")
    ((file, line, message),) = told(found)
    assert (file, line) == ("crf_net.py", 4)
    assert "train.py may import this file by a name that is only known at run time" in message


NET = """\
import tf_util
import tensorflow as tf
if __name__ == '__main__':
    print(tf.get_variable('a', [1]))
"""
PATHS = "import importlib, sys\nsys.path += ['models']\nnet = importlib.import_module(sys.argv[1])"


@pytest.mark.parametrize(
    ("imports", "claimed"),
    [
        (PATHS, "TF 2.15; newest TF with tf-keras and TF_USE_LEGACY_KERAS=1"),
        (PATHS.replace("models", "elsewhere"), "TF 2.15 and newest"),  # a script of its own
    ],
)
def test_a_network_that_tries_itself_is_one_that_may_be_imported(
    imports: str, claimed: str
) -> None:
    """It was left as it was, and said to run on the newest TensorFlow, which has no tf.layers."""
    util = "import tensorflow as tf\n\ndense = tf.layers.Dense\n"
    found = bridged(imports, models__net=NET, models__tf_util=util)
    assert claim(found) == claimed
    changed = {one.path.name for one in found.files if one.after}
    assert ("net.py" in changed) == ("tf-keras" in claimed)


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("from keras.utils import np_utils", "keras.utils.np_utils"),
        ("import keras\nK = keras.backend._SESSION", "keras.backend._SESSION"),
    ],
)
def test_a_name_that_the_package_keras_has_no_more(imports: str, name: str) -> None:
    found = bridged(imports)
    assert claim(found).endswith("but for what MGPU908 names")
    ((file, _, message),) = told(found)
    assert file == "train.py" and f"`{name}` is not in the Keras of TF2" in message
    assert not told(bridged("from keras.utils import to_categorical"))


def test_such_a_file_gets_the_names_that_it_can_have() -> None:
    """It was left as it was, with names that TF2 lost, and told."""
    slim = "import tensorflow as tf\n\nnet = tf.contrib.slim.conv2d\n"
    imports = "import importlib, sys\nnet = importlib.import_module('models.' + sys.argv[1])"
    found = bridged(imports, models__slim_net=slim, models__crf_net=CRF)
    after = {one.path.name: one.after for one in found.files}
    assert "net = slim.conv2d" in (after["slim_net.py"] or "") and not after.get("crf_net.py")
    assert {file for file, _, _ in told(found)} == {"crf_net.py"}


def test_an_import_that_two_files_may_be() -> None:
    found = bridged("import ops", a__ops=FINE, b__ops=FINE)
    assert claim(found).endswith("but for what MGPU908 names")
    ((file, line, message),) = told(found)
    assert (file, line) == ("train.py", 2)
    assert "a/ops.py or" in message and "neither is where Python looks from here" in message


def test_what_either_file_needs_is_in_the_claim() -> None:
    layers = "import tensorflow as tf\nnet = tf.layers.dense(tf.zeros([1, 2]), 3)\n"
    through = bridged("import ops", a__ops=FINE, b__ops="import deep\n", deep=layers)
    for found in (bridged("import ops", a__ops=FINE, b__ops=layers), through):
        assert "tf-keras" in claim(found)
    assert "tf-keras" not in claim(bridged("import ops", a__ops=FINE, b__ops=FINE, deep=layers))


def test_what_runs_whichever_way_it_goes_is_claimed_whole() -> None:
    imports = "import importlib, sys\nnet = importlib.import_module('models.' + sys.argv[1])"
    found = bridged(f"{imports}\nif net:\n    import ops", models__fine_net=FINE, ops=FINE)
    assert claim(found) == "TF 2.15 and newest"
    assert not told(found)


@pytest.mark.parametrize("imports", ["import pkg.made_pb2", "from pkg.made_pb2 import Config"])
def test_a_module_that_a_package_of_the_run_lacks(imports: str) -> None:
    found = bridged(imports, pkg__ops=FINE)
    assert claim(found).endswith("but for what MGPU908 names")
    ((file, line, message),) = told(found)
    assert (file, line) == ("train.py", 2)
    assert "no file here is `pkg.made_pb2`" in message


@pytest.mark.parametrize(
    ("name", "train"),
    [
        ("net", TRAIN.format(imports="")),  # imported by somebody outside
        ("net_test", TRAIN.format(imports="") + "if __name__ == '__main__':\n    tf.test.main()\n"),
        ("net", TRAIN.format(imports="from . import ops") + "if __name__ == '__main__':\n    0\n"),
    ],
)
def test_a_module_whose_package_cannot_be_imported(tmp_path: Path, name: str, train: str) -> None:
    """Python runs the `__init__` of every package around a module first."""
    files = {"__init__.py": "from pkg.models import crf_net\n", f"{name}.py": train}
    files |= {"ops.py": FINE, "crf_net.py": CRF}
    result = run(*in_package(tmp_path, files), bridge=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states[f"{name}.py"] == "refused", states
    assert any("`tensorflow.contrib.crf.CrfForwardRnnCell` does not" in one for one in said(result))


def test_a_script_in_a_package_is_started_without_it(tmp_path: Path) -> None:
    train = TRAIN.format(imports="") + "if __name__ == '__main__':\n    print(sess)\n"
    files = {"__init__.py": "from pkg.models import crf_net\n", "net.py": train}
    result = run(*in_package(tmp_path, files | {"crf_net.py": CRF}), bridge=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states["net.py"] == "bridge", states


def in_package(folder: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    """The files in `pkg.models`; written, for packages are looked for on the disk."""
    (folder / "pkg/models").mkdir(parents=True)
    (folder / "pkg/__init__.py").write_text("")
    given = [(str(folder / "pkg/models" / name), text) for name, text in files.items()]
    for path, text in given:
        Path(path).write_text(text)
    return [*given, (str(folder / "pkg/__init__.py"), "")]


@pytest.mark.parametrize(
    ("imports", "claimed"),
    [
        ("import tensorflow_addons as tfa", "TF 2.15"),
        ("try:\n    from tensorflow.contrib import slim\nexcept ImportError:\n"
         "    from tensorflow_addons.optimizers import LazyAdam", "TF 2.15"),
        ("try:\n    import tensorflow_addons\nexcept ImportError:\n    pass", "TF 2.15 and newest"),
    ],
)  # fmt: skip
def test_addons_are_for_tf_2_15(imports: str, claimed: str) -> None:
    assert claim(bridged(imports)) == claimed


IN_PART = "TF 2.15 and newest, but for what MGPU908 names"


@pytest.mark.parametrize(
    ("imports", "told"),
    [
        ("from tflearn.data_utils import pad_sequences", "tflearn 0.5.0, the newest, cannot be"),
        ("import tflearn", "tflearn 0.5.0, the newest, cannot be"),
        ("from tensor2tensor.layers import common_layers", "tensor2tensor 1.15.7, the newest, can"),
        ("from bert import modeling", "bert-tensorflow 1.0.4, the newest, cannot be"),
        ("import tensorflow_hub as hub\nhub.Module('m')", "`tensorflow_hub.Module` is gone"),
        ("import sonnet as snt\nclass M(snt.AbstractModule): pass", "`sonnet.AbstractModule` is"),
        ("from tensorlayer.layers import DenseLayer", "`tensorlayer.layers.DenseLayer` is gone in"),
    ],
)  # fmt: skip
def test_packages_that_run_on_tf1_alone(imports: str, told: str) -> None:
    """Their newest releases were installed beside TF 2.15.1 and 2.21.0, and fail there."""
    result = bridged(imports)
    assert claim(result) == IN_PART
    (found,) = [one for one in result.findings if one.code == "MGPU908"]
    assert found.message.startswith(told), found.message


@pytest.mark.parametrize(
    "helper",
    [
        "from tflearn.data_utils import pad_sequences",
        "import numpy as np\nweights = np.load('vgg16.npy', encoding='latin1').item()",
        "import numpy as np\nboxes = np.load('boxes.npy')[()]",
        "import pandas as pd\nrows = pd.read_csv('x').as_matrix()",
        "import pandas as pd\nrow = pd.read_csv('x').ix[0]",
        "import h5py\ndata = h5py.File('x')['data'].value",
        "import gym\nstate, reward, done, info = gym.make('x').step(1)",
        "import yaml\noptions = yaml.load(open('x'))",
        "from sklearn.cross_validation import train_test_split",
        "from PIL import Image\nhow = Image.ANTIALIAS",
    ],
)
def test_a_helper_without_tensorflow_is_read_for_packages_too(helper: str) -> None:
    """Files that do not name TensorFlow are read by their words alone."""
    train = "import tensorflow as tf\nimport helper\ntf.Session().run(helper.f({}))\n"
    files = ("helper.py", f"{helper}\n\n\ndef f(d):\n    return d\n")
    result = run(("train.py", train), files, bridge=True)
    told = [one.path.name for one in result.findings if one.code == "MGPU908"]
    assert told == ["helper.py"]


@pytest.mark.parametrize(
    "imports",
    [
        "import sonnet as snt\nlayer = snt.Linear(3)",
        "import tensorflow_hub as hub\nlayer = hub.KerasLayer('m')",
        "import tensorpack",
        "try:\n    import tflearn\nexcept ImportError:\n    tflearn = None",
    ],
)
def test_packages_that_have_what_is_used(imports: str) -> None:
    assert claim(bridged(imports)) == "TF 2.15 and newest"


def test_a_copy_of_a_package_is_read_in_its_place(tmp_path: Path) -> None:
    """`bert` is most often a folder of the repository, whose files are migrated."""
    files = {
        "train.py": TRAIN.format(imports="from bert import modeling"),
        "bert/__init__.py": "",
        "bert/modeling.py": "import tensorflow as tf\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    given = [(str(tmp_path / name), text) for name, text in files.items()]
    result = run(*given, bridge=True)
    assert told(result) == []


def test_a_module_whose_names_all_stay() -> None:
    """No name that has an equal one is written where another has none: each is told."""
    imports = (
        "import tensorflow.contrib.slim.nets as nets\n\n"
        "slim = tf.contrib.slim\nresnet = nets.resnet_v1\n"
    )
    uses = (
        "with slim.arg_scope(nets.resnet_utils.resnet_arg_scope()):\n"
        "    net = resnet.resnet_v1_50(tf.zeros([2, 64, 64, 3]))\n"
    )
    found = run(("train.py", TRAIN.format(imports=imports) + uses), bridge=True)
    assert [one.state for one in found.programs] == ["refused"]
    gone = [one.message.split("`")[1] for one in found.findings if one.code == "MGPU902"]
    assert "tensorflow.contrib.slim.arg_scope" in gone
    assert "tensorflow.contrib.slim.nets.resnet_utils.resnet_arg_scope" in gone


def test_a_helper_without_tensorflow_is_read_for_what_libraries_lost() -> None:
    train = "import tensorflow as tf\nimport helper\ntf.Session().run(helper.f({}))\n"
    deeper = "def f(d):\n    return list(d.iteritems())\n"
    files = ("helper.py", "from deeper import f\nimport numpy as np\nx = np.bool\n")
    result = run(
        ("train.py", train), files, ("deeper.py", deeper), ("other.py", deeper), bridge=True
    )
    told = [(one.path.name, one.line) for one in result.findings if one.code == "MGPU908"]
    assert sorted(told) == [("deeper.py", 2), ("helper.py", 3)]
    (program,) = result.programs
    assert program.runs_on == "TF 2.15 and newest, but for what MGPU908 names"
