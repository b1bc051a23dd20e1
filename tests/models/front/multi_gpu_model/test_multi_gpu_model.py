"""`multi_gpu_model`: which programs become a strategy, and which stay for which reason."""

from __future__ import annotations

import json
import textwrap

import pytest

from migrate_mgpu.core.selection import Selection
from tests.support.migration import after, migrated, run, said, stays

HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras.utils import multi_gpu_model

x, y = np.ones((8, 4)), np.ones((8, 1))
"""
MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
COPY = "model = multi_gpu_model(model, gpus=2)\n"
PARALLEL = "parallel = multi_gpu_model(model, gpus=2)\n"
TRAIN = "model.compile('sgd', 'mse')\nmodel.fit(x, y)\n"
TRAIN_PARALLEL = "parallel.compile('sgd', 'mse')\nparallel.fit(x, y)\n"
TWO = "strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])\n"


def named(*files: str) -> list[tuple[str, str]]:
    return list(zip(("main.py", "other.py"), files))


def body(code: str) -> str:
    """What becomes of a program behind its head."""
    result = run(HEAD + code)
    text = after(result, HEAD + code)
    assert [p.state for p in result.programs] == ["native"], said(result)
    assert "multi_gpu_model" not in text
    return text.split("np.ones((8, 1))\n", 1)[1]


def refused(reason: str, *files: str) -> None:
    """A program stays as it is, not even bridged, and the reason is said."""
    first, *others = named(*files)
    stays(first, reason, *others, bridge=True)


def notes(code: str) -> str:
    result = run(HEAD + code)
    return " ".join(f.message for f in result.findings if f.state == "manual")


@pytest.mark.parametrize(
    ("gpus", "devices"),
    [
        ("2", "['/gpu:0', '/gpu:1']"),
        ("[0, 2]", "['/gpu:0', '/gpu:2']"),
        ("(1, 3)", "['/gpu:1', '/gpu:3']"),
        ("8", "['/gpu:%d' % i for i in range(8)]"),
        ("n", "['/gpu:%d' % i for i in range(n)]"),
        ("ids", "['/gpu:%d' % i for i in ids]"),
    ],
)
def test_the_gpus_are_those_of_the_copies(gpus: str, devices: str) -> None:
    known = "n, ids = 2, [0, 1]\n" if gpus == "n" else "ids = [0, 1]\n"
    after = body(known + MODEL + f"model = multi_gpu_model(model, gpus={gpus})\n" + TRAIN)
    assert after.startswith(f"{known}strategy = tf.distribute.MirroredStrategy({devices})\n")


def test_all_gpus_where_standalone_keras_was_told_none() -> None:
    code = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
    code += "model = keras.utils.multi_gpu_model(model)\nmodel.compile('sgd', 'mse')\n"
    text, _ = migrated(code)
    assert "strategy = tf.distribute.MirroredStrategy()\n" in text
    assert "import tensorflow as tf\n" in text


def test_the_whole_model_and_what_it_is_compiled_with_is_under_the_strategy() -> None:
    code = """\
    size = 3
    inputs = tf.keras.Input((4,))
    hidden = tf.keras.layers.Dense(size)(inputs)
    data = np.ones((2, 2))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
    for layer in model.layers:
        layer.trainable = True
    callbacks = [tf.keras.callbacks.EarlyStopping()]
    optimizer = tf.keras.optimizers.Adam()
    parallel = multi_gpu_model(model, 2)  # two copies
    parallel.compile(optimizer, 'mse')
    parallel.fit(x, y,
                 callbacks=callbacks)
    """
    expected = """\
    size = 3
    strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])  # two copies
    with strategy.scope():
        inputs = tf.keras.Input((4,))
        hidden = tf.keras.layers.Dense(size)(inputs)
    data = np.ones((2, 2))
    with strategy.scope():
        model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
    for layer in model.layers:
        layer.trainable = True
    callbacks = [tf.keras.callbacks.EarlyStopping()]
    with strategy.scope():
        optimizer = tf.keras.optimizers.Adam()
        model.compile(optimizer, 'mse')
    model.fit(x, y,
              callbacks=callbacks)
    """
    assert body(textwrap.dedent(code)) == textwrap.dedent(expected)


def test_an_if_with_more_than_the_choice_stays_where_it_is() -> None:
    code = """\
    gpus = 2
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    if gpus > 1:
        parallel = multi_gpu_model(model, gpus=gpus)
        parallel.compile('sgd', 'mse')
        parallel.fit(x, y)
    else:
        model.compile('sgd', 'mse')
        model.fit(x, y)
    """
    expected = """\
    gpus = 2
    strategy = tf.distribute.get_strategy()
    if gpus > 1:
        strategy = tf.distribute.MirroredStrategy(
            ['/gpu:%d' % i for i in range(gpus)])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    if gpus > 1:
        with strategy.scope():
            model.compile('sgd', 'mse')
        model.fit(x, y)
    else:
        model.compile('sgd', 'mse')
        model.fit(x, y)
    """
    assert body(textwrap.dedent(code)) == textwrap.dedent(expected)


def test_a_conditional_expression() -> None:
    code = "n = 2\n" + MODEL + "model = multi_gpu_model(model, n) if n > 1 else model\n" + TRAIN
    assert body(code).startswith("""\
n = 2
strategy = (
    tf.distribute.MirroredStrategy(['/gpu:%d' % i for i in range(n)])
    if n > 1 else tf.distribute.get_strategy()
)
with strategy.scope():
    model =""")


def test_what_the_choice_is_calculated_from_moves_above_the_model() -> None:
    count = "gpus = len(tf.config.experimental.list_physical_devices('GPU'))\n"
    after = body(MODEL + "# all of them\n" + count + COPY.replace("2", "gpus") + TRAIN)
    assert after.startswith(f"# all of them\n{count}strategy = ")


def test_texts_keep_their_lines() -> None:
    code = 'model = tf.keras.Sequential([tf.keras.layers.Dense(1, name="""a\nb""")])\n'
    after = body(code + COPY + TRAIN)
    assert '    model = tf.keras.Sequential([tf.keras.layers.Dense(1, name="""a\nb""")])\n' in after


def test_the_copied_model_has_no_optimizer_to_save() -> None:
    after = body(MODEL + PARALLEL + TRAIN_PARALLEL + "model.save('m.h5')\nparallel.save('p.h5')\n")
    assert "model.save('m.h5', include_optimizer=False)\nmodel.save('p.h5')\n" in after


def test_the_copied_model_among_the_layers_of_the_copies() -> None:
    after = body(MODEL + PARALLEL + TRAIN_PARALLEL + "parallel.layers[-2].save_weights('w.h5')\n")
    assert after.endswith("model.fit(x, y)\nmodel.save_weights('w.h5')\n")


def test_metrics_keep_the_names_that_the_program_uses() -> None:
    compiled = "model.compile('sgd', 'mse', metrics=['accuracy', 'mae'])\n"
    named = "h = model.fit(x, y).history['acc']\n"
    assert "metrics=['acc', 'mae']" in body(MODEL + COPY + compiled + named)
    assert "metrics=['accuracy', 'mae']" in body(MODEL + COPY + compiled + "model.fit(x, y)\n")
    path = "model.fit(x, y, callbacks=[tf.keras.callbacks.ModelCheckpoint('{val_acc:.2f}.h5')])\n"
    assert "metrics=['acc', 'mae']" in body(MODEL + COPY + compiled + path)


def test_what_is_to_be_known() -> None:
    plain = notes(MODEL + COPY + TRAIN)
    assert "divisible by the number of GPUs" in plain
    assert "normalization" not in plain
    normal = MODEL.replace("Dense(1)", "BatchNormalization()")
    assert "batch normalization" in notes(normal + COPY + TRAIN)
    assert "those that TF1 wrote" in notes(MODEL + COPY + TRAIN + "model.save('m.h5')\n")
    metric = "def m(a, b):\n    return b\n\n\n"
    assert "metric function" in notes(
        metric + MODEL + COPY + "model.compile('sgd', 'mse', metrics=[m])\n"
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("try:\n    " + COPY + "except ValueError:\n    pass\n" + TRAIN, "copied in `try`"),
        ("for i in (1,):\n    " + COPY + TRAIN, "of another round"),
        ("a = b = multi_gpu_model(model, 2)\n", "is not assigned to a variable of this function"),
        (COPY.replace("gpus=2", "gpus=2, cpu_relocation=True") + TRAIN, "`cpu_relocation`"),
        (PARALLEL + TRAIN_PARALLEL + TRAIN, "is compiled or trained by itself"),
        (PARALLEL + MODEL + TRAIN_PARALLEL, "is also another model"),
        (COPY + TRAIN + "print(model.layers)\n", "what `layers` of the copies' model"),
        (COPY + TRAIN + "model.train_on_batch(x, y)\n", "`train_on_batch`"),
        (COPY + TRAIN + "use = {model}\n", "passed on"),
        (COPY + TRAIN + "use = [model]\nprint(use)\n", "passed on"),
        (
            COPY + "model.compile(tf.keras.optimizers.RMSprop(centered=True), 'mse')\n",
            "RMSprop: TF1 adds epsilon to the root",
        ),
        (COPY + "model.compile(tf.keras.optimizers.Nadam(), 'mse')\n", "the same optimizer"),
        (COPY + "model.compile(tf.keras.optimizers.SGD(clipnorm=1.0), 'mse')\n", "`clipnorm`"),
        (COPY + "model.compile('sgd', loss=lambda a, b: b)\n", "one number for each example"),
        (COPY + "model.compile('sgd', loss=np.load('loss'))\n", "one number for each example"),
        (COPY.replace("2", "count()") + TRAIN, "`count()` chooses the GPUs"),
        ("n = np.load('n')\n" + COPY.replace("2", "n") + TRAIN, "chooses the GPUs"),
        (COPY + COPY + TRAIN, "several calls"),
        (COPY + TRAIN + "s = tf.distribute.MirroredStrategy()\n", "has a strategy"),
        (COPY + TRAIN + "tf.train.get_global_step()\n", "is TF1's"),
        (COPY + "model.add_loss(1.0)\n" + TRAIN, "`add_loss`"),
        ("if x.any(): " + COPY + TRAIN, "shares its line"),
    ],
)
def test_programs_that_stay(code: str, reason: str) -> None:
    refused(reason, HEAD + MODEL + code)


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        ("GRU(3)", "`GRU` computes something different"),
        ("LSTM(3)", "`LSTM` computes something different"),
        ("LSTM(3, recurrent_activation='hard_sigmoid')", "`LSTM` computes something different"),
        ("Dense(1, activity_regularizer='l2')", "`activity_regularizer`"),
        ("Embedding(3, 2, mask_zero=flag)", "masks"),
    ],
)
def test_layers_that_are_others_in_tf2(layer: str, reason: str) -> None:
    refused(reason, HEAD + MODEL.replace("Dense(1)", layer) + COPY + TRAIN)


def test_a_layer_is_found_in_the_module_that_makes_it() -> None:
    other = "import tensorflow as tf\n\n\ndef make():\n    return tf.keras.layers.GRU(2)\n"
    code = HEAD + "from other import make\nmodel = tf.keras.Sequential([make()])\n" + COPY + TRAIN
    refused("`GRU` computes something different", code, other)


@pytest.mark.parametrize(
    ("result", "by_example"),
    [
        ("tf.reduce_mean(tf.square(a - b), axis=-1)", True),
        ("tf.keras.losses.categorical_crossentropy(a, b)", True),
        ("tf.reduce_mean(tf.square(a - b))", False),
        ("tf.reduce_mean(tf.square(a - tf.reduce_max(b)), axis=-1)", False),
        ("tf.reduce_mean(tf.square(a - b), axis=0)", False),
        ("a - b", False),
    ],
)
def test_losses_of_ones_own(result: str, by_example: bool) -> None:
    code = f"def error(a, b):\n    return {result}\n\n\n"
    code += MODEL + COPY + "model.compile('sgd', loss=error)\nmodel.fit(x, y)\n"
    if by_example:
        assert "loss=error" in body(code)
    else:
        refused("the loss `error`", HEAD + code)


def test_a_program_that_stays_keeps_the_copies_of_its_modules() -> None:
    other = HEAD + "def train():\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
    other += "    model = multi_gpu_model(model, gpus=2)\n    model.compile('sgd', 'mse')\n"
    main = (
        "import tensorflow as tf\nimport other\n\ntf.contrib.layers.flatten(None)\nother.train()\n"
    )
    refused("`tensorflow.contrib.layers.flatten`", main, other)


def test_a_rule_that_is_off_keeps_the_copies() -> None:
    result = run(HEAD + MODEL + COPY + TRAIN, rules=Selection(ignore=("MGPU501",)))
    assert not any(file.changed for file in result.files)
    commented = COPY.replace("\n", "  # mgpu: ignore[MGPU501]\n")
    refused("switched off", HEAD + MODEL + commented + TRAIN)


MAKE = """\
def make(gpus):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    parallel = multi_gpu_model(model, gpus=gpus)
    return {}


"""
MADE = """\
def make(gpus):
    strategy = tf.distribute.MirroredStrategy(
        ['/gpu:%d' % i for i in range(gpus)])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    return {}


"""


def test_copies_that_a_function_returns_are_compiled_under_their_strategy() -> None:
    code = """\
    net = make(2)
    optimizer = tf.keras.optimizers.Adam()
    net.compile(optimizer,
                'mse')
    net.fit(x, y)
    """
    expected = """\
    net = make(2)
    with net.distribute_strategy.scope():
        optimizer = tf.keras.optimizers.Adam()
        net.compile(optimizer,
                    'mse')
    net.fit(x, y)
    """
    before = MAKE.format("parallel") + textwrap.dedent(code)
    assert body(before) == MADE.format("model") + textwrap.dedent(expected)


def test_the_model_and_its_copies_are_returned() -> None:
    code = "single, net = make(2)\nnet.compile('sgd', 'mse')\nsingle.save('m.h5')\n"
    after = body(MAKE.format("model, parallel") + code)
    assert after == MADE.format("model, model") + (
        "single, net = make(2)\nwith net.distribute_strategy.scope():\n"
        "    net.compile('sgd', 'mse')\nsingle.save('m.h5', include_optimizer=False)\n"
    )


def test_a_caller_in_another_module() -> None:
    main = "from other import make\n\nnet = make(2)\nnet.compile('sgd', 'mse')\n"
    result = run(*named(main, HEAD + MAKE.format("parallel")))
    texts = {file.path.name: file.after for file in result.files}
    assert texts["main.py"] == main.replace(
        "net.compile", "with net.distribute_strategy.scope():\n    net.compile"
    )
    assert (
        texts["other.py"]
        == HEAD.replace("from tensorflow.keras.utils import multi_gpu_model\n", "")
        + MADE.format("model").rstrip("\n")
        + "\n\n\n"
    )


@pytest.mark.parametrize(
    ("returned", "code", "reason"),
    [
        ("parallel", "net = make(2)\nprint(net.layers)\n", "cannot be analyzed"),
        ("parallel", "net = make(2)\nuse = {net}\n", "passed on"),
        ("parallel", "make(2).compile('sgd', 'mse')\n", "cannot be analyzed"),
        ("parallel", "net = make(2)\nif x.any():\n    net = tf.keras.Sequential()\n"
         "net.compile('sgd', 'mse')\n", "is also another model"),
        ("parallel", "f = make\n", "cannot be analyzed"),
        ("parallel", "net = make(2)\nnet.compile('nadam', 'mse')\n", "the same optimizer"),
        ("parallel", "net = make(2)\nnet.compile('sgd', loss=np.load('l'))\n", "for each example"),
        ("parallel", "o = tf.keras.optimizers.SGD()\nnet = make(2)\nnet.compile(o, 'mse')\n",
         "made before the model"),
        ("model, parallel", "one, net = make(2)\none.compile('sgd', 'mse')\n", "trained by itself"),
        ("model, parallel", "both = make(2)\nprint(both)\n", "cannot be analyzed"),
        ("parallel if gpus else model", "net = make(2)\n", "passed on"),
    ],
)  # fmt: skip
def test_callers_that_keep_the_copies(returned: str, code: str, reason: str) -> None:
    refused(reason, HEAD + MAKE.format(returned) + code)


METHODS = """\
class Trainer:
    def make(self):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        parallel = multi_gpu_model(model, gpus=2)
        return parallel

    def train(self):
        net = self.make()
        net.compile('sgd', 'mse')


Trainer().train()
"""


def test_a_method_that_returns_copies() -> None:
    after = body(METHODS)
    assert "            model = tf.keras.Sequential(" in after and "        return model\n" in after
    assert (
        """\
        net = self.make()
        with net.distribute_strategy.scope():
            net.compile('sgd', 'mse')
"""
        in after
    )
    other = "class Other(Trainer):\n    def run(self):\n        return self.make()\n"
    refused("what becomes of the copies here cannot be analyzed", HEAD + METHODS + other)


def test_every_round_of_a_loop_makes_its_own_model() -> None:
    code = "for fold in range(2):\n" + textwrap.indent(MODEL + PARALLEL + TRAIN_PARALLEL, "    ")
    assert body(code) == "for fold in range(2):\n" + textwrap.indent(
        TWO + "with strategy.scope():\n    " + MODEL + "    " + TRAIN, "    "
    )
    refused("of another round", HEAD + code + "parallel.evaluate(x, y)\n")
    early = code.replace(":\n", ":\n    fold and model.summary()\n", 1)
    refused("of another round", HEAD + early)


def test_a_name_that_means_something_else_in_a_function() -> None:
    code = "def train():\n    model = 1\n    return parallel.fit(x, y), model\n\n\ntrain()\n"
    code = MODEL + PARALLEL + "parallel.compile('sgd', 'mse')\n" + code
    refused("`model` is something else here", HEAD + code)


def test_a_model_that_another_module_imports() -> None:
    main = "from other import model\n\nmodel.evaluate([1], [1])\n"
    result = run(*named(main, HEAD + MODEL + COPY + TRAIN))
    assert {program.state for program in result.programs} == {"native"}, said(result)
    renamed = main.replace("model", "parallel")
    refused("main.py may use `parallel`", renamed, HEAD + MODEL + PARALLEL + TRAIN_PARALLEL)
    trained = main.replace("evaluate", "train_on_batch")
    refused("`train_on_batch`", trained, HEAD + MODEL + COPY + TRAIN)


TRAINER = """\
class Trainer:
    def __init__(self, gpus):
        self.gpus = gpus
        self.model = tf.keras.Sequential()
        self.model.add(tf.keras.layers.Dense(1, input_shape=(4,)))

    def train(self):
        self.parallel = multi_gpu_model(self.model, gpus=self.gpus)
        optimizer = tf.keras.optimizers.Adam()
        self.parallel.compile(optimizer, 'mse')
        self.parallel.fit(x, y)
        self.model.save('m.h5')


Trainer(2).train()
"""


def test_an_object_that_keeps_the_model_and_its_copies() -> None:
    assert (
        body(TRAINER)
        == """\
class Trainer:
    def __init__(self, gpus):
        self.gpus = gpus
        strategy = tf.distribute.MirroredStrategy(
            ['/gpu:%d' % i for i in range(self.gpus)])
        with strategy.scope():
            self.model = tf.keras.Sequential()
            self.model.add(tf.keras.layers.Dense(1, input_shape=(4,)))

    def train(self):
        self.parallel = self.model
        with self.parallel.distribute_strategy.scope():
            optimizer = tf.keras.optimizers.Adam()
            self.parallel.compile(optimizer, 'mse')
        self.parallel.fit(x, y)
        self.model.save('m.h5', include_optimizer=False)


Trainer(2).train()
"""
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("self.gpus = gpus\n", "self.gpus = gpus\n        self.gpus = 2\n", "chooses the GPUs"),
        ("gpus=self.gpus", "gpus=len(x)", "chooses the GPUs"),
        ("    def train(self):\n", "    def train(self):\n        self.model.add(layer)\n",
         "made in several functions"),
        ("        self.model.save", "        self.model.fit(x, y)\n        self.model.save",
         "trained by itself"),
        ("        self.model.save", "        x.send(self.model)\n        self.model.save",
         "is passed on"),
        ("        self.parallel = ", "        if x.any(): pass\n        self.parallel = kept = ",
         "is not assigned to a variable"),
        ("        self.parallel = multi_gpu_model(self.model, gpus=self.gpus)\n",
         "        if self.gpus > 1:\n"
         "            self.parallel = multi_gpu_model(self.model, gpus=self.gpus)\n",
         "under a condition"),
        ("self.model = tf.keras.Sequential()",
         "self.model = x\n        self.model = tf.keras.Sequential()", "cannot be determined"),
    ],
)  # fmt: skip
def test_objects_that_keep_their_copies(old: str, new: str, reason: str) -> None:
    assert old in TRAINER
    refused(reason, HEAD + TRAINER.replace(old, new))


def test_a_model_that_is_compiled_in_a_function_inside() -> None:
    code = "def main():\n    " + MODEL + "    " + COPY
    code += "\n    def prepare():\n        model.compile('sgd', 'mse')\n\n    prepare()\n"
    code += "    model.fit(x, y)\n\n\nmain()\n"
    assert (
        "        with model.distribute_strategy.scope():\n            model.compile('sgd', 'mse')\n"
        in body(code)
    )


def test_options_that_move_out_of_the_middle() -> None:
    session = "config = tf.ConfigProto()\n{}config.gpu_options.allow_growth = True\n"
    session += "tf.keras.backend.set_session(tf.Session(config=config))\n"
    for before, between in (("", session.format("")), (session.format(MODEL), "")):
        code = (before or MODEL) + between + COPY + TRAIN
        after = body(code)
        assert after.index("set_memory_growth") < after.index("strategy = ")
        assert "    model.compile(" in after


def test_windows_line_ends_and_tabs() -> None:
    code = (
        HEAD + "def main():\n\t" + (MODEL + COPY + TRAIN).replace("\nm", "\n\tm") + "\n\nmain()\n"
    )
    text, _ = migrated(code.replace("\n", "\r\n"))
    assert "\r\n\twith strategy.scope():\r\n\t\tmodel = " in text
    assert "\n" not in text.replace("\r\n", "")


def test_a_generator_that_keras_3_loses_batches_of() -> None:
    generator = "def batches():\n    while True:\n        yield x, y\n\n\n"
    compiled = MODEL + COPY + "model.compile('sgd', 'mse')\n"
    for fit in ("data = batches()\nmodel.fit(data)\n", "model.fit(batches(), steps_per_epoch=2)\n"):
        assert "Dataset.from_generator" in notes(generator + compiled + fit)
    assert "Dataset.from_generator" not in notes(generator + compiled + "model.fit(x, y)\n")


def test_fit_generator_runs_where_it_is() -> None:
    code = MODEL + COPY + "model.compile('sgd', 'mse')\nmodel.fit_generator(x)\n"
    (program,) = run(HEAD + code).programs
    assert (program.state, program.runs_on) == ("native", "TF 2.15")


def test_a_program_that_asks_for_the_version_stays() -> None:
    code = MODEL + "if tf.__version__.startswith('1'):\n    from tensorflow.keras.utils import"
    code = HEAD.replace("from tensorflow.keras.utils import multi_gpu_model\n", "") + code
    code += " multi_gpu_model\n    model = multi_gpu_model(model, gpus=2)\n" + TRAIN
    result = run(code)
    assert not any(file.changed for file in result.files)
    assert not result.findings


def test_parts_in_dictionaries_and_attributes() -> None:
    code = "parts = {}\nparts['a'] = tf.keras.layers.Dense(1)\nmodel = tf.keras.Sequential(parts)\n"
    assert "    parts['a'] = tf" in body(code + COPY + TRAIN)


def test_another_name_of_the_model_is_trained() -> None:
    code = MODEL.replace("model =", "one =") + "model = one\n" + PARALLEL + TRAIN_PARALLEL
    refused("`one`, of which the model is made", HEAD + code + "one.compile('sgd')\n")
    code = "gan = tf.keras.Sequential()\n" + MODEL.replace("[", "[gan, ") + "gan.compile('sgd')\n"
    refused("`gan`, of which the model is made", HEAD + code + COPY + TRAIN)


def test_a_notebook_keeps_its_cells() -> None:
    cells = [
        HEAD + "\n\n" + MAKE.format("parallel").strip(),
        "net = make(2)\noptimizer = tf.keras.optimizers.Adam()",
        "net.compile(optimizer, 'mse')\nnet.fit(x, y)",
    ]
    notebook = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
             "source": cell.splitlines(keepends=True)}
            for cell in cells
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    text = json.dumps(notebook)
    result = run(("train.ipynb", text))
    left = [
        "".join(cell["source"])
        for cell in json.loads(after(result, ("train.ipynb", text)))["cells"]
    ]
    head = "with net.distribute_strategy.scope():\n    "
    assert left[1] == f"net = make(2)\n{head}optimizer = tf.keras.optimizers.Adam()"
    assert left[2] == f"{head}net.compile(optimizer, 'mse')\nnet.fit(x, y)"


@pytest.mark.parametrize("optimizer", ["'rmsprop'", "tf.keras.optimizers.RMSprop(0.01)"])
def test_rmsprop_keeps_its_arithmetic(optimizer: str) -> None:
    code = HEAD + MODEL + COPY + f"model.compile({optimizer}, 'mse')\nmodel.fit(x, y)\n"
    text, _ = migrated(code)
    assert "class TF1RMSprop(tf.keras.optimizers.RMSprop):" in text
    assert "    model.compile(TF1RMSprop(" in text
    off = Selection(ignore=("MGPU206",))
    result = run(code, rules=off)
    assert after(result, code) == code
    assert any("RMSprop: TF1 adds epsilon to the root" in one for one in said(result))


def test_weights_in_a_file_that_keras_3_refuses() -> None:
    code = HEAD + MODEL + COPY + TRAIN + "model.save_weights({})\n"
    claims = {"'w.h5'": "TF 2.15", "'w.weights.h5'": "TF 2.15 and newest"}
    for path, claim in claims.items():
        (program,) = run(code.format(path)).programs
        assert program.runs_on == claim
