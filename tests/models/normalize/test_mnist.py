"""MNIST as `tf.contrib.learn` loads it, from Keras's own arrays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from migrate_mgpu.runtimes import Runtime
from tests.models.normalize.restated import END, whole
from tests.support import servers
from tests.support.migration import migrated, run, stays

PROGRAM = f"""\
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 16)
    logits = tf.layers.dense(net, 10)
{END.format(rate=0.1)}

def main():
    mnist = tf.contrib.learn.datasets.load_dataset("mnist")
    images, labels = mnist.train.images, np.asarray(mnist.train.labels, dtype=np.int32)
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    held_out = mnist.validation.images
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(lambda: data.repeat().batch(100), steps=100)
    print(mnist.test.images.mean(), held_out.shape)


main()
"""
IMAGES = '.reshape(-1, 784).astype("float32") * (1.0 / 255.0)'


def test_the_arrays_that_are_read() -> None:
    after, said = migrated(
        whole(
            PROGRAM.replace("mnist.test.images.mean()", "mnist.test.labels[0], mnist.test.images")
        )
    )
    assert "    mnist_train, mnist_test = tf.keras.datasets.mnist.load_data()\n" in after, said
    assert f"images, labels = (mnist_train[0][5000:]{IMAGES}), np.asarray(" in after or (
        f"images, labels = mnist_train[0][5000:]{IMAGES}, np.asarray(" in after
    )
    assert "np.asarray(mnist_train[1][5000:], dtype=np.int32)" in after
    assert f"held_out = mnist_train[0][:5000]{IMAGES}\n" in after
    assert f"print(mnist_test[1][0], mnist_test[0]{IMAGES}, held_out.shape)" in after
    assert "contrib" not in after


def test_a_short_name_goes_with_its_last_use() -> None:
    """No TF2 has `tensorflow.contrib`: an import that is left stops the program at its start."""
    short = PROGRAM.replace("tf.contrib.learn.datasets", "learn.datasets").replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\nfrom tensorflow.contrib import learn\n",
    )
    found, said = migrated(whole(short))
    assert found == migrated(whole(PROGRAM))[0], said


@pytest.mark.parametrize(
    "line",
    [
        "    batch = mnist.train.next_batch(100)",
        "    other = mnist",
        "    count = mnist.train.epochs_completed",
        "    mnist = None",
    ],
)
def test_more_that_is_done_with_it_stays(line: str) -> None:
    program = PROGRAM.replace("    held_out", f"{line}\n    held_out")
    stays(whole(program), "`tf.contrib.learn.datasets.load_dataset` is TF1 API")


TUTORIAL = (
    PROGRAM.replace(
        'tf.contrib.learn.datasets.load_dataset("mnist")',
        'input_data.read_data_sets("data/", one_hot=False)',
    )
    .replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\nfrom tensorflow.examples.tutorials.mnist import input_data\n",
    )
    .replace("mnist.test.images.mean()", "mnist.test.labels[0]")
)


def test_the_tutorials_module_is_imported_no_more() -> None:
    after, said = migrated(whole(TUTORIAL))
    assert "from tensorflow.keras.datasets import mnist as mnist_data\n" in after, said
    assert "    mnist_train, mnist_test = mnist_data.load_data()\n" in after
    assert "input_data" not in after


FED = TUTORIAL.replace(
    "lambda: data.repeat().batch(100)",
    "tf.estimator.inputs.numpy_input_fn(mnist.train.images, labels, 100, shuffle=False)",
)


def test_arrays_in_an_input_function_have_names() -> None:
    after, said = migrated(whole(FED))
    assert "from tensorflow.keras.datasets import mnist\n" in after, said
    loaded = """\
    (train_images, train_labels), (test_images, test_labels) = mnist.load_data()
    # The first 5,000 images are for validation.
    validation_images = train_images[:5000]IMAGES
    train_images = train_images[5000:]IMAGES
    train_labels = train_labels[5000:]
    images, labels = train_images, np.asarray(train_labels, dtype=np.int32)
""".replace("IMAGES", IMAGES)
    assert loaded in after
    assert "    held_out = validation_images\n" in after
    assert "from_tensor_slices((train_images, labels))" in after
    assert "print(test_labels[0], held_out.shape)" in after


def test_names_that_are_taken_are_left_to_their_author() -> None:
    after, said = migrated(whole(FED.replace("held_out", "test_labels")))
    assert "    (mnist_train_images, mnist_train_labels), (mnist_test_images" in after, said
    assert "    test_labels = mnist_validation_images\n" in after


def test_rows_of_ten_numbers() -> None:
    after, said = migrated(whole(TUTORIAL.replace("one_hot=False", "one_hot=True")))
    assert "    train_labels = np.eye(10)[train_labels[5000:]]\n" in after, said
    assert "    test_labels = np.eye(10)[test_labels]\n" in after


def test_numpy_is_imported_for_rows_of_labels() -> None:
    program = TUTORIAL.replace("one_hot=False", "one_hot=True").replace("import numpy as np\n", "")
    after, said = migrated(whole(program))
    assert "import numpy as np\nimport tensorflow as tf\n" in after, said
    assert "np.eye(10)[" in after


def test_how_many_examples_there_are() -> None:
    after, said = migrated(whole(FED.replace("steps=100", "steps=mnist.train.num_examples // 100")))
    assert "steps_per_epoch=len(train_labels) // 100" in after, said


def test_a_variable_that_another_module_may_read_stays() -> None:
    data = FED.replace("def main():\n    mnist = ", "mnist = ").partition("    images")[0]
    data = data[: data.index("def model_fn")] + data[data.index("mnist = ") :]
    program = FED.replace("    mnist = input_data", "    mnist = data.mnist  # ")
    program = program.replace("import numpy", "import data\nimport numpy")
    stays(
        whole(program),
        "`tensorflow.examples.tutorials.mnist.input_data` does not exist in TF2",
        ("data.py", data),
    )


@pytest.mark.parametrize(
    "program",
    [
        TUTORIAL.replace("    held", "    print(input_data)\n    held"),
        TUTORIAL.replace("one_hot=False", "validation_size=0"),
        TUTORIAL.replace("one_hot=False", "one_hot=ONE_HOT"),
        FED.replace("    held", "    print(mnist.train.epochs_completed)\n    held"),
        FED.replace("    held", "    mnist.train.labels[0] = mnist.train\n    held"),
    ],
)
def test_what_is_nearly_that_stays(program: str) -> None:
    stays(whole(program), "`tf.examples.tutorials.mnist.input_data.read_data_sets` is TF1 API")


def test_another_data_set_stays() -> None:
    program = PROGRAM.replace('"mnist"', '"iris"')
    stays(whole(program), "`tf.contrib.learn.datasets.load_dataset` is TF1 API")


CHECK = """
import numpy as np
from tensorflow.contrib.learn.python.learn.datasets.mnist import DataSet
pixels = np.random.RandomState(0).randint(0, 256, size=(50, 28, 28, 1)).astype(np.uint8)
there = DataSet(pixels, np.zeros(50, np.uint8)).images
here = pixels[..., 0].reshape(-1, 784).astype("float32") * (1.0 / 255.0)
print(there.dtype == here.dtype, there.shape == here.shape, np.array_equal(there, here))
from tensorflow.contrib.learn.python.learn.datasets.mnist import dense_to_one_hot
digits = np.arange(50).astype(np.uint8) % 10
there, here = dense_to_one_hot(digits, 10), np.eye(10)[digits]
print(there.dtype == here.dtype, np.array_equal(there, here))
"""


def test_tf1_makes_the_same_numbers_of_the_pixels(runtime: Callable[[str], Runtime]) -> None:
    assert servers.alone(runtime("tf1.15"), CHECK).split() == ["True"] * 5


HANDED = f"""\
import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("digits", one_hot=True)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["images"], 16)
    logits = tf.layers.dense(net, 10)
{END.format(rate=0.1)}

def images_of(data, mode):
    images = mnist.train.images if mode == "train" else mnist.test.images
    kinds = np.zeros([len(images)], np.int64)
    return tf.estimator.inputs.numpy_input_fn(
        {{"images": images}}, kinds, batch_size=9, shuffle=False
    )


estimator = tf.estimator.Estimator(model_fn)
estimator.train(images_of(mnist, "train"), steps=100)
"""


def test_a_function_that_is_given_the_images_and_reads_a_variable() -> None:
    found, said = migrated(HANDED)
    assert "def images_of(mode):" in found and 'estimator.fit(images_of("train")' in found, said
    assert "images = train_images if mode ==" in found


def test_a_function_that_reads_the_images_that_it_is_given() -> None:
    text = HANDED.replace("images = mnist.train", "images = data.train")
    stays(text, "mnist.input_data.read_data_sets`")


DRAWN = f"""\
import numpy as np


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 16)
    logits = tf.layers.dense(net, 10)
{END.format(rate=0.1)}

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("mnist")
images, labels = mnist.train.next_batch(100)
estimator = tf.estimator.Estimator(model_fn)
estimator.train(lambda: tf.data.Dataset.from_tensors((images, labels)).repeat(), steps=3)
"""


def test_batches_that_are_drawn_come_from_a_module_beside() -> None:
    """And classes stand below the import of TensorFlow, which the function stands above."""
    result = run(DRAWN)
    assert [program.state for program in result.programs] == ["native"]
    texts = {file.path.name: file.after or "" for file in result.files}
    (main,) = (text for name, text in texts.items() if name != "input_data.py")
    assert "class DataSet" in texts["input_data.py"]
    assert "\nimport input_data\n" in main and "mnist.train.next_batch(100)" in main
    assert main.index("import tensorflow as tf") < main.index("tf.keras.Sequential")
