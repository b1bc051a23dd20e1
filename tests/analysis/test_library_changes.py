"""Names that newer Pythons, NumPys and SciPys have no more are told of programs said to run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.analysis.library_changes import ARGUMENTS, CHANGES, METHODS
from tests.support.migration import run

PROGRAM = """\
import tensorflow as tf
import numpy as np
{code}
sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
"""


def told(code: str) -> list[tuple[int, str, str]]:
    result = run(PROGRAM.format(code=code), bridge=True)
    (program,) = result.programs
    found = [(f.line, f.message, f.advice) for f in result.findings if f.code == "MGPU908"]
    assert program.state == "bridge"
    assert program.runs_on.endswith("but for what MGPU908 names") == bool(found)
    return found


@pytest.mark.parametrize(
    ("code", "message", "advice"),
    [
        ("x = np.zeros(2, np.bool)", "`numpy.bool` is gone in NumPy 1.24 to 1.26", "use bool"),
        ("x = np.NaN", "`numpy.NaN` is gone in NumPy 2.0", "use numpy.nan"),
        ("from collections import Iterable",
         "`collections.Iterable` is gone in Python 3.10", "use collections.abc.Iterable"),
        ("import collections\nx = collections.Mapping",
         "`collections.Mapping` is gone in Python 3.10", "use collections.abc.Mapping"),
        ("import imp", "`imp` is gone in Python 3.12", "use importlib"),
        ("from sklearn.cross_validation import train_test_split",
         "`sklearn.cross_validation` is gone in scikit-learn 0.20", "use sklearn.model_selection"),
        ("from sklearn.externals import joblib",
         "`sklearn.externals.joblib` is gone in scikit-learn 0.23", "use joblib"),
        ("from PIL import Image\nx = Image.ANTIALIAS", "`PIL.Image.ANTIALIAS` is gone in Pillow 10",
         "use PIL.Image.LANCZOS"),
        ("import pandas as pd\nx = pd.read_csv('x').as_matrix()",
         "no DataFrame of pandas 1.0 has `as_matrix`", "write `to_numpy()`"),
        ("import pandas as pd\nx = pd.read_csv('x').ix[0]",
         "no DataFrame of pandas 1.0 has `ix`", "write `loc`"),
        ("import h5py\nx = h5py.File('x')['data'].value", "no Dataset of h5py 3.0 has `value`",
         "write `[()]`"),
        ("x = np.load('vgg16.npy', encoding='latin1').item()",
         "`numpy.load` reads no pickled objects since NumPy 1.16.3, unless it is told to",
         "give it allow_pickle=True, for a file that you trust"),
        ("x = np.load('boxes.npy')[()]",
         "`numpy.load` reads no pickled objects since NumPy 1.16.3, unless it is told to",
         "give it allow_pickle=True, for a file that you trust"),
        ("import librosa\nlibrosa.output.write_wav('x', 1, 2)",
         "`librosa.output` is gone in librosa 0.8", "use soundfile.write"),
        ("from skimage.measure import compare_psnr",
         "`skimage.measure.compare_psnr` is gone in scikit-image 0.18",
         "use skimage.metrics.peak_signal_noise_ratio"),
        ("import gym\ns, r, done, info = gym.make('x').step(1)",
         "`step` of gym 0.26 gives five values, and no gym runs with NumPy 2",
         "beside TF 2.15 install gym<0.26; for the newest use gymnasium"),
        ("import pickle\nwith open('x', 'w') as f: pickle.dump(1, f)",
         "`pickle` gives and takes bytes in Python 3, and this file is opened as text",
         "open it with 'wb', or 'rb'"),
        ("import pickle\nx = pickle.load(open('x'))",
         "`pickle` gives and takes bytes in Python 3, and this file is opened as text",
         "open it with 'wb', or 'rb'"),
        ("for key in FLAGS.__dict__['__flags'].keys():\n    print(key)",
         "`FLAGS` has no `__flags` in its `__dict__` since TensorFlow 1.5",
         "write FLAGS.__flags, or FLAGS.flag_values_dict()"),
        ("import yaml\nx = yaml.load(open('x'))", "`yaml.load` asks for a Loader since PyYAML 6",
         "use yaml.safe_load, or give it Loader=yaml.Loader for a file that you trust"),
        ("from imp import reload", "`imp` is gone in Python 3.12", "use importlib"),
        ("import scipy.misc\nx = scipy.misc.imread('x')",
         "`scipy.misc.imread` is gone in SciPy 1.3", "use imageio or Pillow"),
        ("from scipy.misc import imresize as r",
         "`scipy.misc.imresize` is gone in SciPy 1.3", "use imageio or Pillow"),
        ("from scipy.sparse.linalg.eigen.arpack import eigsh",
         "`scipy.sparse.linalg.eigen.arpack` is gone in SciPy 1.8", "use scipy.sparse.linalg"),
        ("import scipy as sp\nx = sp.sqrt(2.0)",
         "`scipy.sqrt` is gone in SciPy 1.12", "use numpy.sqrt"),
        ("from scipy import randn", "`scipy.randn` is gone in SciPy 1.12", "use numpy.randn"),
        ("import inspect\nx = inspect.getargspec(print)",
         "`inspect.getargspec` is gone in Python 3.11", "use inspect.getfullargspec"),
        ("for k, v in {}.iteritems():\n    pass",
         "no dict of Python 3 has `iteritems`", "write `items`"),
        ("x = {}.keys() + [1]", "no dict of Python 3 gives a list by `keys`",
         "write list(x.keys()), if it is a dict"),
        ("x = [1] + {}.values()", "no dict of Python 3 gives a list by `values`",
         "write list(x.values()), if it is a dict"),
        ("x = dict(a=1).items()[0]", "no dict of Python 3 gives a list by `items`",
         "write list(x.items()), if it is a dict"),
        ("x = map(str, [1, 2])[0]", "`map` gives no list in Python 3", "write list(map(...))"),
        ("x = [0] + zip([1], [2])", "`zip` gives no list in Python 3", "write list(zip(...))"),
        ("x = {}.has_key(1)", "no dict of Python 3 has `has_key`", "write `in`"),
        ("x = np.zeros(2).tostring()", "no array of NumPy 2.5 has `tostring`", "write `tobytes`"),
        ("x = np.reshape(np.zeros(2), newshape=[2, 1])",
         "`numpy.reshape(newshape)` is gone in NumPy 2.5", "use the shape as its second argument"),
        ("x = np.percentile([1, 2], 50, interpolation='lower')",
         "`numpy.percentile(interpolation)` is gone in NumPy 2.5", "use method"),
        ("x = np.histogram([1, 2], normed=True)",
         "`numpy.histogram(normed)` is gone in NumPy 1.24", "use density"),
        ("x = np.fromstring(b'abcd', np.uint8)",
         "`numpy.fromstring(bytes)` is gone in NumPy 2.5", "use numpy.frombuffer"),
    ],
)  # fmt: skip
def test_told_at_the_place(code: str, message: str, advice: str) -> None:
    (found,) = told(code)
    assert found == (3 + (code.count("\n") and not code.startswith("for")), message, advice)


@pytest.mark.parametrize(
    "code",
    [
        "x = np.bool_(1), np.float64(1), float(1)",
        "x = np.reshape(np.zeros(2), [2, 1]), np.percentile([1, 2], 50, method='lower')",
        "x = np.fromstring('1 2', sep=' ')",
        "from xml.etree import ElementTree\nx = ElementTree.tostring(1)",
        "from collections import OrderedDict",
        "from collections.abc import Iterable",
        "try:\n    from collections.abc import Iterable\nexcept ImportError:\n"
        "    from collections import Iterable",
        "import six\nx = six.iteritems({})",
        "x = list({}.values()) + [len({}.keys()) + 1]\ny = {1: {}.items()}",
        "x = list(map(str, [1]))[0], [1] + list(zip([1], [2]))",
        "def map(f, x):\n    return [f(one) for one in x]\n\n\nx = map(str, [1])[0]",
        "class Table:\n    def keys(self):\n        return [1]\n\n\nx = Table().keys()[0]",
        "import six\nif six.PY2:\n    x = {}.iteritems()",
        "class Table:\n    def iteritems(self):\n        return []\n\n\nTable().iteritems()",
        "import scipy.sparse as sp\nfrom scipy import stats, __version__\nx = sp.eye(2)",
        "class np2:\n    bool = 1\n\n\nx = np2.bool",
        "x = np.load('x.npy', allow_pickle=True).item()",
        "options = {'allow_pickle': True}\nx = np.load('x.npy', **options).item()",
        "x = np.load('x.npy')[0], np.load('x.npy').item(0)",
        "import pickle\nwith open('x', 'wb') as f:\n    pickle.dump(1, f)",
        "import pickle\nwith open('x', mode) as f:\n    pickle.dump(1, f)",
        "import pickle\nf = open('x', 'w')\nf = open('x', 'wb')\npickle.dump(1, f)",
        "import pickle\nx = pickle.load(open('x', **{'mode': 'rb'})), pickle.load(gzip.open('x'))",
        "import yaml\nx = yaml.load(1, Loader=yaml.Loader), yaml.load(1, yaml.Loader)",
        "import yaml\nx = yaml.load(open('x'), **{})",
        "from scipy.spatial.transform import Rotation\nx = Rotation.identity().as_matrix()",
        "import h5py\nx = h5py.File('x')['data'][()]\ny = {'rate': x}['rate'].value()",
        "import pandas as pd\nx = np.ix_([1], [2])",
        "import gym\ns, r, done, cut, info = gym.make('x').step(1)",
        "import gym\na, b, c, d = map(gym.make('x').step, [1, 2, 3, 4])",
        "class Env:\n    def step(self):\n        return 1, 2, 3, 4\n\n\na, b, c, d = Env().step()",
    ],
)
def test_what_is_there_is_not_told(code: str) -> None:
    assert told(code) == []


def test_a_name_is_told_once_for_each_file() -> None:
    assert len(told("x = np.bool\ny = np.bool\nz = np.float")) == 2


CHECK = """\
import importlib, json, sys, warnings
import numpy as np

warnings.simplefilter("ignore")


def has(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def runs(code):
    try:
        eval(code)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


names, calls = json.loads(sys.argv[1])
print(json.dumps([[n for n in names if has(n)], [n for n, code in calls.items() if runs(code)]]))
"""
# A call that gives each argument.
CALLS = {
    "numpy.fromstring(bytes)": "np.fromstring(b'abcd', np.uint8)",
    "numpy.histogram(normed)": "np.histogram([1, 2], normed=True)",
    "numpy.histogram2d(normed)": "np.histogram2d([1, 2], [1, 2], normed=True)",
    "numpy.reshape(newshape)": "np.reshape([1, 2], newshape=[2, 1])",
    **{
        f"numpy.{name}(interpolation)": f"np.{name}([1, 2], 0.5, interpolation='lower')"
        for name in ("nanpercentile", "nanquantile", "percentile", "quantile")
    },
}


# Packages that no runtime has.
_ABSENT = ("scipy", "sklearn", "skimage", "librosa", "PIL")


def test_the_runtimes_have_them_no_more(runtime: Callable[[str], runtimes.Runtime]) -> None:
    """2.15's runtime has a NumPy before 2.0, the newest's a Python that has all of it behind it."""
    present, called = {}, {}
    names = [n for release in CHANGES for n in CHANGES[release] if not n.startswith(_ABSENT)]
    for name in ("tf2.15", "tf2-latest"):
        given = json.dumps([names, {**CALLS, "tostring": "np.zeros(2).tostring()"}])
        command = [str(runtime(name).python), "-c", CHECK, given]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        present[name], called[name] = map(set, json.loads(ran.stdout))
    assert present["tf2-latest"] == set(CHANGES["NumPy 1.24 to 1.26"])
    late = {"NumPy 2.0", "NumPy 2.5", "Python 3.12"}
    assert present["tf2.15"] <= {name for release in late for name in CHANGES[release]}
    assert CALLS.keys() == {name for release in ARGUMENTS.values() for name in release}
    assert called == {"tf2.15": {*ARGUMENTS["NumPy 2.5"], "tostring"}, "tf2-latest": set()}
    assert not any(hasattr(dict, method) for method in METHODS)
