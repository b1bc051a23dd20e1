"""Keras imported from TensorFlow's own inside: by its public name where that is the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from migrate_mgpu.models.normalize.functions.public_keras import _CLASSES, _MODULES, OTHERS
from migrate_mgpu.runtimes import Runtime
from tests.models.normalize.restated import END, HEAD, TAIL, whole
from tests.support import servers
from tests.support.migration import migrated, stays

IMPORT = "from tensorflow.python.keras import layers\n"
PROGRAM = (
    HEAD.replace("import tensorflow as tf\n", "import tensorflow as tf\n" + IMPORT)
    + f"""\
def model_fn(features, labels, mode):
    logits = layers.Dense(3)(features)
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn)
"""
    + TAIL
)


@pytest.mark.parametrize(
    ("inside", "public"),
    [
        (IMPORT, "from tensorflow.keras import layers\n"),
        ("from tensorflow.python import keras\n", "from tensorflow import keras\n"),
        (
            "from tensorflow.python.keras.layers import Dense as Full\n",
            "from tensorflow.keras.layers import Dense as Full\n",
        ),
        ("from tensorflow.contrib.keras import layers\n", "from tensorflow.keras import layers\n"),
        ("from tensorflow.contrib import keras\n", "from tensorflow import keras\n"),
        ("import tensorflow.contrib.keras as keras\n", "import tensorflow.keras as keras\n"),
        ("layers = tf.contrib.keras.layers\n", "layers = tf.keras.layers\n"),
        (
            "from tensorflow.contrib.keras.python.keras.layers import Dense as Full\n",
            "from tensorflow.keras.layers import Dense as Full\n",
        ),
        (
            "from tensorflow.contrib.keras.python.keras import layers\n",
            "from tensorflow.keras import layers\n",
        ),
    ],
)
def test_it_is_imported_by_its_public_name(inside: str, public: str) -> None:
    program = PROGRAM.replace(IMPORT, inside)
    program = program.replace("layers.Dense", "Full") if "Full" in inside else program
    program = program.replace("layers", "keras.layers") if "keras\n" in inside else program
    after, said = migrated(whole(program))
    assert public in after, said
    assert "model.compile(" in after


@pytest.mark.parametrize(
    "inside",
    [
        "from tensorflow.python.keras.layers import *\n",
        "from tensorflow.python.keras import layers, optimizers\n",
        "from tensorflow.python.keras import layers, backend as K\nK.name_scope('a')\n",
        "from tensorflow.python.keras import layers\n"
        "from tensorflow.python.keras.callbacks import TensorBoard\n",
        "from tensorflow.python.keras import layers\nfrom tensorflow.python.keras import engine\n",
    ],
)
def test_what_is_not_public_or_another_stays(inside: str) -> None:
    program = PROGRAM.replace(IMPORT, inside)
    reason = "how the layer `Dense`" if "*" in inside else "`layers.Dense` is TensorFlow's own"
    stays(whole(program), reason)


@pytest.mark.parametrize(
    "inside",
    [
        "from tensorflow.contrib.keras import layers, optimizers\n",
        "from tensorflow.contrib.keras import layers\ntf.contrib.keras.optimizers.get('adam')\n",
        "from tensorflow.contrib.keras import layers\nimport tensorflow.contrib.keras\n",
    ],
)
def test_what_tf_keras_has_otherwise_stays(inside: str) -> None:
    program = PROGRAM.replace(IMPORT, inside)
    stays(whole(program), "`layers.Dense` does not exist in TF2, or does something else there")


def test_a_module_that_only_makes_the_data_has_it_too() -> None:
    program = PROGRAM.replace(IMPORT, "import data\n" + IMPORT.replace("python", "contrib"))
    helper = "import tensorflow as tf\n\nPATH = tf.contrib.keras.utils.get_file('a', 'b')\n"
    after, said = migrated(whole(program), ("data.py", helper))
    assert "PATH = tf.keras.utils.get_file('a', 'b')\n" in after, said


CHECK = f"""
import importlib, types
import tensorflow as tf
from tensorflow.python import keras
def others(public, name, inside=None):
    inside = inside or importlib.import_module(name)
    for key in dir(public):
        value = getattr(public, key)
        if key.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if getattr(inside, key, None) is not value:
            yield name + "." + key
for name in {sorted(_MODULES - {"applications", "datasets", "preprocessing"})!r}:
    print(*others(getattr(tf.keras, name), "tensorflow.python.keras." + name))
for name in {sorted(_MODULES)!r}:
    print(*others(getattr(tf.contrib.keras, name), name, getattr(tf.keras, name)))
for name in {sorted(_CLASSES)!r}:
    print(getattr(tf.keras, name) is getattr(keras, name) or name)
"""


def test_on_tf1_they_are_the_same(runtime: Callable[[str], Runtime]) -> None:
    *others, first, second, third = servers.alone(runtime("tf1.15"), CHECK).split()
    assert (first, second, third) == ("True",) * 3
    assert {name.rpartition(".")[2] for name in others} == set(OTHERS)
