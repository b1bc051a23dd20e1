"""Input functions, and the datasets that Keras gets from them."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from tests.models.keras.driver.programs import MADE, MAKE, configured, driven, lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    ds = source()\n    return ds.make_one_shot_iterator().get_next()\n",
            "    ds = source()\n    return ds\n",
        ),
        (
            "    it = source().make_one_shot_iterator()\n    x, y = it.get_next()\n"
            "    return x, y\n",
            "    dataset = source()\n    return dataset\n",
        ),
        (
            "    ds = source()\n    it = ds.make_one_shot_iterator()\n    x, y = it.get_next()\n"
            "    return {'x': x}, y\n",
            "    ds = source()\n    return ds.map(lambda x, y: ({'x': x}, y))\n",
        ),
        (
            "    x, y = source().make_one_shot_iterator().get_next()\n    return {'x': x}, y\n",
            "    dataset = source()\n    return dataset.map(lambda x, y: ({'x': x}, y))\n",
        ),
        (
            "    it = tf.data.make_one_shot_iterator(source())\n    return it.get_next()\n",
            "    dataset = source()\n    return dataset\n",
        ),
        (
            "    it = tf.data.make_one_shot_iterator(dataset=source())\n    return it.get_next()\n",
            "    dataset = source()\n    return dataset\n",
        ),
        (
            "    ds = source()\n    it = ds.make_one_shot_iterator()\n    x, y = it.get_next()\n"
            "    return (x + 1) / 2, (y)\n",
            "    ds = source()\n    return ds.map(lambda x, y: ((x + 1) / 2, (y)))\n",
        ),
    ],
)
def test_one_shot_iterators(before: str, after: str) -> None:
    make = "def source():\n    return tf.data.Dataset.from_tensors((X, Y))\n\n\n"
    use = f"\n\n{MAKE}est.train(batches, steps=1)\n"
    new = lines(f"{make}def batches():\n{before}{use}")
    assert f"def batches():\n{after}" in new


WHOLE = "    b = source().make_one_shot_iterator().get_next()\n    return {value}\n"


def mapped(source: str, value: str) -> str:
    """What an input function returns that makes ``value`` of a batch ``b`` of a Dataset."""
    make = f"def pair(a):\n    return a, a\n\n\ndef source():\n    return tf.data.{source}\n\n\n"
    body = f"def batches():\n{WHOLE.format(value=value)}\n\n{MAKE}est.train(batches, steps=1)\n"
    returned = [line.strip() for line in lines(make + body).splitlines() if "dataset.map(" in line]
    return returned[0]


@pytest.mark.parametrize(
    "source",
    [
        "Dataset.from_tensors((X, Y))",
        "Dataset.from_tensor_slices((X, Y)).shuffle(8).batch(4)",
        "Dataset.from_tensors(X).map(pair).repeat()",
        "TextLineDataset('f').map(lambda a: (a, a)).batch(2)",
        "TextLineDataset('f').map(lambda a: [a, a]).batch(2)",  # a function's list is a tuple
        "Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3)))",
        "Dataset.range(3).enumerate()",
    ],
)
def test_a_batch_that_is_a_tuple_stays_one(source: str) -> None:
    """`map` calls its function with the parts of a tuple one by one."""
    assert mapped(source, "b[0], b[1]") == "return dataset.map(lambda *b: (b[0], b[1]))"
    assert mapped(source, "{'x': b}, None") == "return dataset.map(lambda *b: ({'x': b}, None))"


@pytest.mark.parametrize(
    "source",
    [
        "Dataset.from_tensor_slices(X).batch(4)",
        "Dataset.from_tensor_slices([1, 2])",
        "Dataset.from_tensors({'x': X})",
        "TextLineDataset('f').map(lambda a: {'x': a})",
        "Dataset.from_tensors((X, Y)).map(lambda a, b: tf.cast(a, tf.float32))",
    ],
)
def test_a_batch_that_is_one_value_is_given_as_one(source: str) -> None:
    assert mapped(source, "{'x': b}, None") == "return dataset.map(lambda b: ({'x': b}, None))"


def test_a_batch_whose_members_have_names_is_no_tuple() -> None:
    source = "Dataset.from_generator(X, tf.int32)"
    assert mapped(source, "{'x': b['x']}, b['y']").startswith("return dataset.map(lambda b: (")


@pytest.mark.parametrize(
    "source",
    [
        "Dataset.from_generator(X, tf.int32)",
        "Dataset.from_tensors(read())",
        "Dataset.from_tensors(X if X else (X, Y))",
        "Dataset.from_tensors(X).apply(Y)",
    ],
)
def test_a_batch_that_may_be_a_tuple_stays(source: str) -> None:
    """With one argument for two, or two for one, the migrated function fails on TF2."""
    with pytest.raises(Refused, match="whether the batch `b` is a tuple cannot be determined"):
        mapped(source, "{'x': b}, None")


def test_parts_of_several_batches_stay() -> None:
    """One Dataset's `map` has no batch of the other."""
    body = (
        "def batches():\n    x = input_fn().make_one_shot_iterator().get_next()\n"
        "    y = input_fn().make_one_shot_iterator().get_next()\n    return {'x': x}, y\n\n\n"
    )
    with pytest.raises(Refused, match="several batches"):
        lines(f"{body}{MAKE}est.train(batches, steps=1)\n")


def test_numpy_input_fn_becomes_a_function() -> None:
    body = (
        f"{MAKE}f = tf.estimator.inputs.numpy_input_fn(\n"
        "    {'x': X}, Y, batch_size=4, num_epochs=None, shuffle=True)\n"
        "est.train(f, steps=5)\n"
        "est.evaluate(tf.estimator.inputs.numpy_input_fn({'x': X}, Y, shuffle=False))\n"
    )
    assert lines(body) == (
        MADE
        + """\


def f():
    dataset = tf.data.Dataset.from_tensor_slices(({'x': X}, Y))
    return dataset.shuffle(1000).repeat().batch(4)


est.fit(f(), steps_per_epoch=5, verbose=0)
est.evaluate(
    tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).batch(128),
    return_dict=True,
    verbose=0)
"""
    )


def test_pandas_input_fn_gives_a_table_by_its_columns() -> None:
    body = (
        f"{MAKE}f = tf.estimator.inputs.pandas_input_fn(X, Y, 4, num_epochs=2, shuffle=False)\n"
        "est.train(f, steps=3)\n"
        "est.predict(tf.estimator.inputs.pandas_input_fn(x=X, shuffle=False, num_threads=1))\n"
    )
    new = lines(body)
    assert "tf.data.Dataset.from_tensor_slices((dict(X), Y)).repeat(2).batch(4)\n" in new
    assert "tf.data.Dataset.from_tensor_slices(dict(X)).batch(128)" in new


@pytest.mark.parametrize(
    ("header", "given", "call"),
    [
        ("params", "batches", "batches(params=settings)"),
        ("mode", "batches", "batches(mode='train')"),
        ("files, mode, params", "functools.partial(batches, 'x')",
         "batches('x', mode='train', params=settings)"),
        ("files, mode", "lambda: batches('x', tf.estimator.ModeKeys.TRAIN)",
         "batches('x', 'train')"),
    ],
)  # fmt: skip
def test_what_the_estimator_gives_an_input_function(header: str, given: str, call: str) -> None:
    body = f"""\
        def batches({header}):
            data = tf.data.Dataset.range(3)
            if {header.split(", ")[-1]} == tf.estimator.ModeKeys.TRAIN:
                data = data.shuffle(3)
            return data


        settings = {{'n': 1}}
        est = tf.estimator.Estimator(model_fn, params=settings)
        est.train({given}, steps=1)
        """
    new = lines(body)
    assert f"{call}, steps_per_epoch=1, verbose=0)" in new
    assert "== 'train':" in new and "ModeKeys" not in new


def test_an_input_function_that_nothing_gives_its_parameter() -> None:
    body = f"def batches(config):\n    return tf.data.Dataset.range(3)\n\n\n{MAKE}"
    with pytest.raises(Refused, match="`config`"):
        lines(f"{body}est.train(batches, steps=1)\n")


def test_a_partial_in_a_variable_keeps_its_import() -> None:
    new, result = driven(f"{MAKE}f = functools.partial(input_fn, 2)\nest.train(f, steps=1)\n")
    assert "f = functools.partial(input_fn, 2)\nest.fit(f(), " in new
    assert not any(ast.unparse(node) == "functools.partial" for node in result.gone)


@pytest.mark.parametrize(
    ("given", "followed"),
    [
        ("'mnist', split='train', as_supervised=True", True),
        ("'mnist', 'train'", True),
        ("name='mnist', split=['train', 'test']", False),
        ("'mnist'", False),
        ("'mnist', split='train', with_info=True", False),
        ("'mnist', split='train', batch_size=-1", False),
        ("'mnist', split='train', **options", False),
    ],
)
def test_datasets_that_are_loaded(given: str, followed: bool) -> None:
    make = "import tensorflow_datasets as tfds\n\n\n"
    body = f"def batches():\n    data = tfds.load({given})\n    return data.batch(4)\n"
    use = f"\n\n{MAKE}est.train(batches, steps=1)\n"
    if followed:
        assert "est.fit(batches(), steps_per_epoch=1, verbose=0)" in lines(make + body + use)
    else:
        with pytest.raises(Refused, match="cannot be analyzed"):
            driven(make + body + use)


def test_the_input_context_that_a_strategy_gives() -> None:
    body = (
        "def fed(input_context=None):\n"
        "    data = tf.data.Dataset.from_tensors((X, Y))\n"
        "    if input_context:\n"
        "        data = data.shard(input_context.num_input_pipelines, 0)\n"
        "    return data\n\n\n"
    )
    uses = "est.train(fed, steps=1)\nest.evaluate(fed)\n"
    new = lines(body + configured("tf.distribute.MirroredStrategy()") + uses)
    assert "lambda context: fed(input_context=context))" in new.replace("\n    ", "")
    assert "est.evaluate(fed()," in new
    assert "est.fit(fed()," in lines(f"{body}{MAKE}{uses}")


def test_parameters_of_a_lambda() -> None:
    body = "def fed(*given, **named):\n    return tf.data.Dataset.from_tensors((X, Y))\n\n\n"
    use = "est.train(lambda mode='', input_context=None, n=3: "
    use += "fed(mode, n, context=input_context), steps=1)\n"
    assert "fed('train', 3, context=None)" in lines(f"{body}{MAKE}{use}")
    new = lines(body + configured("tf.distribute.MirroredStrategy()") + use)
    assert "lambda context: fed('train', 3, context=context)" in new.replace("\n    ", "")


@pytest.mark.parametrize("parameter", ["params=None", "config=None", "n=len(X)", "*, n=X"])
def test_a_lambda_whose_parameter_nobody_gives_stays(parameter: str) -> None:
    name = parameter.removeprefix("*, ").partition("=")[0]
    body = "def fed(given=None):\n    return tf.data.Dataset.from_tensors((X, Y))\n\n\n"
    use = f"est.train(lambda {parameter}: fed({name}), steps=1)\n"
    with pytest.raises(Refused, match=f"`{name}`, a parameter of the input function"):
        lines(f"{body}{MAKE}{use}")


TFDS = "import tensorflow_datasets as tfds\n\n\ndef fed():\n"


@pytest.mark.parametrize(
    "loaded",
    [
        "    data = tfds.load('mnist', split=tfds.Split.TRAIN)\n    return data.batch(4)\n",
        "    data = tfds.load('mnist')['train']\n    return data.batch(4)\n",
        "    data, info = tfds.load('mnist', with_info=True)\n    return data['train'].batch(4)\n",
        "    data, test = tfds.load('mnist', split=['train', 'test'])\n    return data.batch(4)\n",
        "    return tfds.load('mnist', split='train').map(lambda x, y: (x, y)).batch(4)\n",
    ],
)
def test_datasets_of_the_catalogue(loaded: str) -> None:
    assert f"{TFDS}{loaded}" in lines(f"{TFDS}{loaded}\n\n{MAKE}est.train(fed, steps=1)\n")


@pytest.mark.parametrize(
    "loaded",
    [
        "    data = tfds.load('mnist', split='train', batch_size=-1)\n    return data\n",
        "    data = tfds.load('mnist')\n    return data\n",
        "    data, info = tfds.load('mnist', with_info=True)\n    return info\n",
        "    data = tfds.load('mnist', split='train', with_info=True)\n    return data\n",
        "    data = tfds.load('mnist', split='train', with_info=INFO)\n    return data\n",
        "    return tfds.as_numpy(tfds.load('mnist', split='train'))\n",
    ],
)
def test_what_the_catalogue_gives_besides(loaded: str) -> None:
    with pytest.raises(Refused, match="what this input function returns"):
        lines(f"{TFDS}{loaded}\n\n{MAKE}est.train(fed, steps=1)\n")


def test_datasets_by_their_names() -> None:
    body = (
        "def load():\n    ds = tf.data.Dataset.from_tensors((X, Y))\n"
        "    return dict({'train': ds, 'test': ds})\n\n\n"
        "def fed(training=True):\n    sets = load()\n"
        "    ds = sets['train'] if training else sets['test']\n    return ds.batch(2)\n\n\n"
    )
    assert body in lines(f"{body}{MAKE}est.train(fed, steps=1)\n")


def test_a_function_that_another_one_made_is_told_the_mode() -> None:
    make = (
        "def make():\n    def fed(mode):\n        return tf.data.Dataset.from_tensors((X, Y))\n"
        "    return fed\n\n\n"
    )
    new = lines(f"{make}{MAKE}batches = make()\nest.train(batches, steps=1)\n")
    assert "est.fit(batches(mode='train')" in new
