"""Exports: the SavedModel of the migrated program answers as TF1's did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrate_mgpu.parity.runs import launch
from migrate_mgpu.runtimes import Runtime
from tests.models.whole import HEAD, converted
from tests.support import servers
from tests.support.migration import changed, migrated, stays

FIXTURES = Path(__file__).parents[4] / "fixtures" / "estimator"
# The programs, and the options that say where they export to.
PROGRAMS = {
    "exported_model": "--export_dir",
    "exporters": "--model_dir",
    "exported_examples": "--export_dir",
    "exported_inputs": "--model_dir",
}
PIXELS = np.random.RandomState(3).randint(0, 200, size=(5, 4, 4)).tolist()
PLACES = {"place": [[0.5, -0.5], [-1.0, 0.25], [0.0, 0.5]]}
EXAMPLES = [{"row": [0.5, 2.0, 0.25, 1.0], "scale": [3]}, {"row": [1.5, 0.5, 0.75, 1.0]}]
FERRIES = {
    "ferry": ["Ada", "Bea", "Dora"],
    "pier": ["old", "north", "north"],
    "wind": [0.25, 0.5, 1.0],
    "passengers": [0.5, 0.25, 0.75],
}
NUMBERS = {"row": [[0.5, 2.0, 0.25, 1.0]], "scale": [1]}
# What the models are asked, by the places of the SavedModels.
ASKED: dict[str, dict[str, object]] = {
    "exported_model": {"pixels": PIXELS, "request_id": 7},
    "exporters/export/latest": PLACES,
    "exporters/export/final": PLACES,
    "exported_examples/examples": {"examples": EXAMPLES},
    "exported_examples/numbers": NUMBERS,
    "exported_examples/parsed": {"sent": EXAMPLES},
    "exported_inputs/export/ferries": FERRIES,
}
NEW = ("tf2.15", "tf2-latest")
Answers = Callable[[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def answers(runtime: Callable[[str], Runtime], tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """``answers("tf1.15", place)``: what the SavedModel answers that a runtime's programs left
    there; all of them are trained in one process, and asked in another."""
    done: dict[str, dict[str, Any]] = {}

    def get(where: str, place: str) -> dict[str, Any]:
        if where not in done:
            done[where] = served(runtime(where), tmp_path_factory.mktemp(where))
        return done[where][place]  # type: ignore[no-any-return]

    return get


def served(runtime: Runtime, folder: Path) -> dict[str, Any]:
    """What every SavedModel answers, by its place."""
    side = "before.py" if runtime.name == "tf1.15" else "after.py"
    jobs = [
        launch.Job(
            FIXTURES / name / side,
            ("--num_gpus", "0", option, str(folder / name)),
            cwd=folder,
            gpus=0,
        )
        for name, option in PROGRAMS.items()
    ]
    for ran in servers.run_many(runtime, jobs):
        assert ran.status == 0, ran.stderr[-2000:]
    asked = []
    for place, inputs in ASKED.items():
        (version,) = (folder / place).iterdir()
        assert version.name.isdigit()
        asked.append([str(version), inputs])
    shown = servers.alone(runtime, Path(__file__).with_name("served.py"), given=json.dumps(asked))
    return dict(zip(ASKED, json.loads(shown.splitlines()[-1])))


@pytest.mark.parametrize("name", NEW)
def test_the_same_signatures_and_answers(answers: Answers, name: str) -> None:
    want = answers("tf1.15", "exported_model")
    assert sorted(want) == ["rows", "serving_default"]
    assert len({str(np.round(p, 3)) for p in want["rows"]["outputs"]["probabilities"]}) == 5
    same(answers(name, "exported_model"), want)


def same(found: dict[str, Any], want: dict[str, Any], values: bool = True) -> None:
    """Two SavedModels have the same signatures, and answer the same."""
    assert sorted(found) == sorted(want)
    for key, signature in want.items():
        assert found[key]["inputs"] == signature["inputs"]
        assert found[key]["types"] == signature["types"]
        assert sorted(found[key]["outputs"]) == sorted(signature["outputs"])
        for output, numbers in signature["outputs"].items():
            answer = np.array(found[key]["outputs"][output])
            assert answer.shape == np.array(numbers).shape
            if values:
                np.testing.assert_allclose(answer, numbers, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("exporter", ["latest", "final"])
def test_exporters_write_where_tf1s_did(answers: Answers, exporter: str, name: str) -> None:
    """Without the same initial weights: that the trained model is exported, ``proof.json`` says."""
    want = answers("tf1.15", f"exporters/export/{exporter}")
    assert want["serving_default"]["outputs"]["side"] == [1, 0, 0]
    found = answers(name, f"exporters/export/{exporter}")
    same(found, want, values=False)
    assert found["serving_default"]["outputs"]["side"] == [1, 0, 0]


@pytest.mark.parametrize("name", NEW)
def test_inputs_by_the_names_of_columns(answers: Answers, name: str) -> None:
    """A canned classifier that takes several: TF1 had no signature of examples for it."""
    want = answers("tf1.15", "exported_inputs/export/ferries")
    assert sorted(want) == ["predict"] and sorted(want["predict"]["inputs"]) == sorted(FERRIES)
    found = answers(name, "exported_inputs/export/ferries")
    default = found.pop("serving_default")  # an ExportArchive has one: its first signature
    assert default["inputs"] == found["predict"]["inputs"]
    same(found, want, values=False)


RUN = """\
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=5)
"""
RECEIVE = """\
def receive():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.TensorServingInputReceiver(x, {"x": x})


"""
EXPORT = 'estimator.export_saved_model("exported", receive)\n'


def test_the_plainest_export() -> None:
    after = converted(RECEIVE + RUN + EXPORT)
    assert after.startswith("""\
def receive(model):
    @tf.function(input_signature=[
        tf.TensorSpec([None, 2], tf.float32, name="x"),
    ])
    def serve(x):
        return model.predict_step(x)

    return serve


""")
    assert after.endswith("""\
archive = tf.keras.export.ExportArchive()
archive.add_endpoint("serving_default", receive(estimator))
tf.keras.utils.disable_interactive_logging()
archive.write_out(os.path.join("exported", str(int(time.time()))))
""")


def test_a_program_that_shows_its_progress() -> None:
    after = converted(f"tf.logging.set_verbosity(tf.logging.INFO)\n\n\n{RECEIVE}{RUN}{EXPORT}")
    assert "archive.write_out(" in after and "disable_interactive" not in after


def test_placeholders_in_the_dictionary() -> None:
    receive = RECEIVE.replace(
        "    x = tf.placeholder(tf.float32, [None, 2])\n",
        '    shape = [None, 2]\n    inputs = {"x": tf.placeholder("float32", shape)}\n',
    ).replace('(x, {"x": x})', '(inputs["x"], inputs)')
    after = converted(receive + RUN + EXPORT)
    assert after.startswith("""\
def receive(model):
    shape = [None, 2]
    @tf.function(input_signature=[tf.TensorSpec(shape, "float32", name="x")])
    def serve(x):
        inputs = {"x": x}
        return model.predict_step(inputs["x"])

    return serve
""")


def test_examples_that_the_receiver_parses() -> None:
    receive = """\
KEY = "examples"


def receive():
    serialized = tf.placeholder(tf.string, name="input_example")
    features = tf.parse_example(serialized, {"x": tf.FixedLenFeature([2], tf.float32)})
    return tf.estimator.export.ServingInputReceiver(features, {KEY: serialized})


"""
    assert """\
def receive(model):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name=KEY)])
    def serve(serialized):
        features = tf.io.parse_example(serialized, {"x": tf.io.FixedLenFeature([2], tf.float32)})
        return model.predict_step(features)
""" in converted(receive + RUN + EXPORT)
    unknown = receive.replace('KEY = "examples"', "KEY = os.getcwd()")
    stays(HEAD + unknown + RUN + EXPORT, "the name of an input cannot be determined")
    single = receive.replace("ServingInput", "TensorServingInput")
    stays(HEAD + single + RUN + EXPORT, "a TensorServingInputReceiver of a dictionary")


FILLED = """\
NAMES = ["a", "b"]


def receive():
    inputs = {"x": tf.placeholder(tf.float32, [None, 2])}
    inputs.update({
        name: tf.placeholder_with_default(tf.constant([0]), [None]) for name in NAMES
    })
    features = {name: tf.identity(tensor) for name, tensor in inputs.items()}
    return tf.estimator.export.TensorServingInputReceiver(features["x"], inputs)


"""


def test_a_dictionary_of_inputs_that_statements_fill() -> None:
    after, said = migrated(HEAD + FILLED + RUN + EXPORT)
    assert (
        """\
def receive(model):
    inputs = {"x": tf.TensorSpec([None, 2], tf.float32, name="x")}
    inputs.update({
        name: tf.TensorSpec([None], tf.int32, name=name) for name in NAMES
    })

    @tf.function(input_signature=[inputs])
    def serve(inputs):
        features = {name: tf.identity(tensor) for name, tensor in inputs.items()}
        return model.predict_step(features["x"])

    return serve
"""
        in after
    ), said
    assert any("asks for this input now: TF1 took the default" in one for one in said)


def test_a_loop_that_fills_a_dictionary_of_inputs() -> None:
    loop = """\
    inputs = {}
    for name in ["x", "y"]:
        kind = tf.float32 if name == "x" else tf.string
        inputs[name] = tf.placeholder(shape=[None, 2], dtype=kind)
"""
    start, end = FILLED.index("    inputs = {"), FILLED.index("    features")
    after = converted((FILLED[:start] + loop + FILLED[end:]).partition("\n\n\n")[2] + RUN + EXPORT)
    assert "        inputs[name] = tf.TensorSpec([None, 2], kind, name=name)\n" in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # TF1 saw in the receiver what a function puts into the dictionary.
        ("tf.identity(tensor) for name, tensor in inputs.items()", "", "may change here"),
        (
            "    features =",
            "    other = tf.placeholder(tf.float32)\n    features =",
            "not an input",
        ),
        ("tf.constant([0])", "X[0]", "the type of an input with a default"),
        ("    inputs.up", "    size = tf.shape(X)\n    inputs.up", "made among the inputs"),
        ("    inputs.update", "    x = inputs['x']\n    inputs.update", "`inputs` changes here"),
    ],
)
def test_a_filled_dictionary_that_stays(old: str, new: str, reason: str) -> None:
    text = FILLED
    if not new:
        old = "{name: tf.identity(tensor) for name, tensor in inputs.items()}"
        new = "dict(sorted(prepared(inputs).items()))"
    stays(HEAD + changed(text, (old, new)) + RUN + EXPORT, reason)


ADDS = """\
def prepared(inputs):
    inputs["twice"] = tf.multiply(inputs["x"], 2.0)
    return inputs


"""


def test_a_function_that_adds_to_the_inputs() -> None:
    """TF1 took what it adds for an input as well."""
    old = "{name: tf.identity(tensor) for name, tensor in inputs.items()}"
    text = HEAD + ADDS + changed(FILLED, (old, "prepared(inputs)"))
    after, said = migrated(text + RUN + EXPORT)
    assert "        features = prepared(dict(inputs))\n" in after, said
    assert any("adds to the inputs is no input of the exported model" in one for one in said)
    end = "    return tf.estimator.export"
    again = text.replace(end, f"    y = inputs['x']\n{end}")
    stays(again + RUN + EXPORT, "`inputs` is read here, and what a function adds is not in it")
    loops = text.replace('inputs["twice"]', "inputs[str(X)]")
    stays(loops + RUN + EXPORT, "`inputs` may change here")


def test_a_function_gives_a_dictionary_of_features() -> None:
    receive = RECEIVE.replace("TensorServing", "Serving").replace("(x, {", "(made(dict(x=x)), {")
    given = "def made(inputs):\n    return inputs\n\n\n"
    named = HEAD.replace("(features, 1)", '(features["x"], 1)').replace("((X,", '(({"x": X},')
    after, said = migrated(named + given + receive + RUN + EXPORT)
    assert "model.predict_step(made(dict(x=x)))" in after, said
    other = given.replace("return inputs", "return tf.identity(inputs['x'])")
    stays(named + other + receive + RUN + EXPORT, "features that are not a dictionary literal")


def test_a_single_input_has_tf1s_name() -> None:
    after = converted(RECEIVE.replace('{"x": x}', "x") + RUN + EXPORT)
    assert 'tf.TensorSpec([None, 2], tf.float32, name="input")' in after


@pytest.mark.parametrize(
    "use", ["print(path)", "print(path.decode('utf-8'))", "tf.logging.info('%s', path)"]
)
def test_the_path(use: str) -> None:
    after = converted(f"{RECEIVE}{RUN}path = {EXPORT}{use}\n")
    assert 'path = os.path.join("exported", str(int(time.time())))\n' in after
    assert "archive.write_out(path)\n" in after
    assert "decode" not in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("receive)\n", "receive, checkpoint_path='x')\n", "`checkpoint_path` of an export"),
        ("receive)\n", "receive, assets_extra={})\n", "`assets_extra` of an export"),
        ("receive)\n", "load())\n", "which receiver function this is cannot be determined"),
        ("receive)\n", "receive)\nreceive()\n", "`receive` is used for more than an export"),
        ("TensorServing", "Serving", "a ServingInputReceiver of features that are not a "
         "dictionary"),
        ('{"x": x}', '{"x": x, "y": x + 1}', "an input of the signature is not a placeholder"),
        ('{"x": x}', "tables(x)", "receiver_tensors is not a dictionary literal"),
        ("def receive():", "def receive(x=3):", "a receiver function with parameters"),
        ("tf.estimator.export.TensorServingInputReceiver(", "made(", "what this receiver function"),
        ("[None, 2]", "tf.shape(x)", "a shape that is made of inputs"),
        (".train(input_fn, steps=5)", ".model_dir", "of an Estimator without a model_dir"),
        ("estimator.train(input_fn, steps=5)\n", "", "a model that nothing here has trained"),
        ("estimator.export_", "path = estimator.export_", ""),
        ("predictions=predictions)\n", "predictions=predictions, export_outputs={\n        "
         "'a': tf.estimator.export.PredictOutput({'b': 2 * outputs})})\n",
         "export_outputs is not the predictions"),
        ("predictions=predictions)\n", "predictions=predictions, export_outputs={\n        "
         "'a': tf.estimator.export.RegressionOutput(outputs)})\n",
         "signatures of serialized examples alone, and the receiver is given none"),
        ("predictions=predictions)\n", "predictions=predictions, export_outputs={\n        "
         "'a': tf.estimator.export.EvalOutput(outputs)})\n", "not a PredictOutput"),
        ("predictions=predictions)\n", "predictions=predictions, export_outputs={\n        "
         "'a': tf.estimator.export.PredictOutput(predictions), "
         "'b': tf.estimator.export.PredictOutput(outputs)})\n",
         "export_outputs without `serving_default`"),
    ],
)  # fmt: skip
def test_an_export_that_stays(old: str, new: str, reason: str) -> None:
    text = HEAD + RECEIVE + RUN + EXPORT
    assert text.count(old) == 1
    text = text.replace(old, new)
    if reason:
        stays(text, reason)
    else:
        stays(f"{text}print(path + b'/x')\n", "TF1's export gave bytes, which is used here")


def test_another_meaning_of_time() -> None:
    text = HEAD + RECEIVE + RUN + EXPORT
    assert "import time\n" in migrated(text)[0]
    assert migrated(f"import time\n{text}")[0].count("import time\n") == 1
    after = migrated(f"from time import time\n{text}")[0]
    assert "str(int(time()))" in after
    assert "import time\n" not in after.replace("from time import time\n", "")
    stays(f"time = 3\n{text}", "`time` is not a module here")


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("place", ["examples", "numbers", "parsed"])
def test_receivers_that_tf1_builds(answers: Answers, place: str, name: str) -> None:
    want = answers("tf1.15", f"exported_examples/{place}")
    assert sorted(want) == ["classes", "serving_default"]
    assert want["classes"]["outputs"]["class"] == [1, 0][: len(want["classes"]["outputs"]["class"])]
    same(answers(name, f"exported_examples/{place}"), want)


BUILT = "serve_fn = tf.estimator.export.build_{}_serving_input_receiver_fn({})\n"
RAW = "{'x': tf.placeholder(tf.float32, [None, 2])}"


@pytest.mark.parametrize(
    ("kind", "given", "reason"),
    [
        ("raw", "{'x': X}", "a raw input that is not a placeholder"),
        ("raw", "{'x': tf.placeholder(tf.float32, shape)}", "whose shape is not a literal"),
        ("raw", "dict(x=tf.placeholder(tf.float32))", "whose shape is not a literal"),
        ("raw", "inputs()", "the raw inputs are not a dictionary literal"),
        ("parsing", "", "a receiver without its feature_spec"),
        ("parsing", "{}", ""),
    ],
)
def test_a_built_receiver_that_stays(kind: str, given: str, reason: str) -> None:
    text = HEAD + BUILT.format(kind, given) + RUN + EXPORT.replace("receive", "serve_fn")
    if not reason:
        text, reason = f"{text}serve_fn()\n", "this receiver is used for more than an export"
    stays(text, reason)


def test_placeholders_that_are_used_for_more() -> None:
    text = f"raw = {RAW}\n" + BUILT.format("raw", "raw") + RUN
    text += EXPORT.replace("receive", "serve_fn")
    assert "placeholder" not in migrated(HEAD + text)[0]
    stays(f"{HEAD}{text}print(raw)\n", "these placeholders are used for more")


SPECS = """\
exporter = tf.estimator.LatestExporter("best", receive)
train_spec = tf.estimator.TrainSpec(input_fn, max_steps=5)
eval_spec = tf.estimator.EvalSpec(input_fn, steps=2, exporters=exporter)
estimator = tf.estimator.Estimator(model_fn, "folder")
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""


def test_one_exporter() -> None:
    after = converted(RECEIVE + SPECS)
    assert "exporter" not in after
    assert after.endswith("""\
    archive.write_out(
        os.path.join(manager.directory, "export", "best", str(int(time.time()))))
""")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("LatestExporter(", "BestExporter(", "a BestExporter that compares with earlier"),
        (
            'LatestExporter("best", receive)',
            'BestExporter("best", receive, "eval/*.tfevents.*")',
            "a BestExporter that compares with earlier",
        ),
        ("LatestExporter(", "FinalExporter(", ""),
        (
            'tf.estimator.LatestExporter("best", receive)',
            "make()",
            "this exporter cannot be analyzed",
        ),
        (", receive)", ", receive, assets_extra={})", "`assets_extra` of an export"),
        (', "folder")', ")", "a LatestExporter of an Estimator without a model_dir"),
        ('"best", receive', '"best"', "a LatestExporter without a name or a receiver"),
        ("train_spec =", "print(exporter)\ntrain_spec =", "is used for more than an EvalSpec"),
        ("train_spec =", "receive()\ntrain_spec =", "`receive` is used for more than an export"),
    ],
)
def test_exporters_that_stay(old: str, new: str, reason: str) -> None:
    text = SPECS.replace(old, new)
    assert text != SPECS
    if not reason:  # the last evaluation of TF1 was of max_steps, and nothing else is exported
        text, reason = text.replace(", max_steps=5", ""), "where TrainSpec has no max_steps"
    stays(HEAD + RECEIVE + text, reason)


def test_a_placeholder_that_is_not_sent() -> None:
    receive = RECEIVE.replace("    x =", "    y = tf.placeholder(tf.int32)\n    x =")
    stays(HEAD + receive + RUN + EXPORT, "a placeholder that is not an input")


def test_an_export_before_the_checkpoint_is_restored() -> None:
    run = RUN.replace("(model_fn)", '(model_fn, "folder")')
    assert "archive.write_out(" in converted(RECEIVE + run + EXPORT)
    first, second = run.splitlines(keepends=True)
    stays(HEAD + RECEIVE + first + EXPORT + second, "an export before the model has its checkpoint")


KERAS = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential()
model.add(tf.keras.layers.Dense(4, input_shape=[3]))
model.add(tf.keras.layers.Dense(1, name="price"))
model.compile(optimizer="sgd", loss="mse")
estimator = tf.keras.estimator.model_to_estimator(model, model_dir="folder")


def input_fn():
    data = {"rows": np.ones([8, 3], np.float32)}, np.ones([8, 1], np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(8)


def receive():
    rows = {"rows": tf.placeholder(tf.float32, [None, 3])}
    return tf.estimator.export.ServingInputReceiver(rows, rows)


estimator.train(input_fn, steps=9)
estimator.export_savedmodel("exported", receive)
"""
LAST = 'model.add(tf.keras.layers.Dense(1, name="price"))\n'
ADDED = (
    f"model = tf.keras.Sequential()\nmodel.add(tf.keras.layers.Dense(4, input_shape=[3]))\n{LAST}"
)
FUNCTIONAL = """\
inputs = tf.keras.layers.Input(shape=[3], name="rows")
outputs = tf.keras.layers.Dense(1, name="price")(inputs)
model = tf.keras.Model(inputs, outputs)
"""


@pytest.mark.parametrize(
    "text",
    [
        ADDED,
        "model = tf.keras.Sequential([\n    tf.keras.layers.Dense(4, input_shape=[3]),\n"
        "    tf.keras.layers.Dense(1, name='price'),\n])\n",
        FUNCTIONAL,
        FUNCTIONAL.replace('"price")(inputs)', '"price")\noutputs = outputs(inputs)')
        .replace("outputs = tf", "layer = tf")
        .replace("outputs = outputs(", "outputs = layer("),
    ],
)
def test_a_keras_models_export_has_the_name_of_its_output(text: str) -> None:
    """1.15 calls what such an Estimator predicts as the layer is called."""
    found, said = migrated(changed(KERAS, (ADDED, text)))
    assert 'return {"price": model(rows, training=False)}\n' in found, said
    assert 'archive.add_endpoint("serving_default", receive(estimator))\n' in found


@pytest.mark.parametrize(
    "text",
    [
        ADDED.replace(LAST, f"for _ in range(2):\n    {LAST}"),
        FUNCTIONAL.replace('name="price"', "name=str(4)"),
    ],
)
def test_a_keras_models_export_without_a_name_stays(text: str) -> None:
    kept = changed(KERAS, (ADDED, text))
    stays(kept, "an export of an Estimator without a model_fn")


@pytest.mark.parametrize("shape", ["[None, 4]", "[None, 1, 3]"])
def test_a_keras_models_export_for_another_shape_stays(shape: str) -> None:
    """TF1 makes the model anew for it."""
    reason = "the exported model's input has another shape than the Keras model's"
    stays(changed(KERAS, ("[None, 3]", shape)), reason)


def test_a_keras_models_export_has_the_name_that_keras_gives() -> None:
    found, said = migrated(changed(KERAS, (ADDED, ADDED.replace(', name="price"', ""))))
    assert 'return {"dense_1": model(rows, training=False)}\n' in found, said


MADE_RECEIVER = """\
def make_receive(name):
    def receive():
        rows = {"rows": tf.placeholder(tf.float32, [None, 3])}
        return tf.estimator.export.ServingInputReceiver({name: rows["rows"] * 2.0}, rows)

    return receive


"""
RECEIVER = "def receive():" + KERAS.partition("def receive():")[2].partition("estimator.train")[0]
MADE_BY_FUNCTION = changed(
    KERAS, (RECEIVER, MADE_RECEIVER), ('"exported", receive)', '"exported", make_receive("rows"))')
)


def test_a_receiver_that_a_function_makes() -> None:
    text, messages = migrated(MADE_BY_FUNCTION)
    assert 'make_receive("rows")(estimator)' in text, messages
    # The model's own Input would ask for the shape, which TF1's did not.
    assert "            for layer in model.layers:\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('make_receive("rows"))', 'make_receive(str("rows")))'),
        ("estimator.export_", 'make_receive("rows")\nestimator.export_'),
        ("    return receive\n", "    print(receive)\n    return receive\n"),
        ("    return receive\n", "    return lambda: receive()\n"),
    ],
)
def test_made_receivers_that_stay(old: str, new: str) -> None:
    program = changed(MADE_BY_FUNCTION, (old, new))
    stays(program, "which receiver function this is cannot be determined")


# A classifier of columns, whose receivers stand in a dictionary that a flag takes one out of.
BY_FORMAT = """\
import argparse
import sys

import numpy as np
import tensorflow as tf

COLUMNS = [tf.feature_column.numeric_column("x"), tf.feature_column.numeric_column("y")]


def input_fn():
    numbers = np.ones([8], np.float32)
    data = {"x": numbers, "y": numbers}, np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)


def rows():
    row = tf.placeholder(tf.string, [None])
    x, y = tf.decode_csv(row, [[0.0], [0.0]])
    return tf.estimator.export.ServingInputReceiver({"x": x, "y": y}, {"row": row})


def fields():
    inputs = {}
    for column in COLUMNS:
        inputs[column.name] = tf.placeholder(column.dtype, [None])
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


RECEIVERS = {"rows": rows, "fields": fields}
parser = argparse.ArgumentParser()
parser.add_argument("--format", choices=RECEIVERS.keys(), default="rows")
args = parser.parse_args()
estimator = tf.estimator.LinearClassifier(COLUMNS)
estimator.train(input_fn, steps=5)
estimator.export_savedmodel("exported", RECEIVERS[args.format])
"""


def test_receivers_in_a_dictionary() -> None:
    text, messages = migrated(BY_FORMAT)
    assert (
        """\
serve = RECEIVERS[args.format](estimator)
archive.add_endpoint("predict", serve)
if args.format == "rows":
"""
        in text
    ), messages
    assert '    archive.add_endpoint("serving_default", classify)\n' in text
    assert "def rows(model):" in text and "def fields(model):" in text
    fields = "def fields():" + BY_FORMAT.partition("def fields():")[2].partition("RECEIVERS")[0]
    table = '{"rows": rows, "fields": fields}', '{"rows": rows, "lines": rows}'
    alone, messages = migrated(changed(BY_FORMAT, (fields, ""), table))
    assert "classify" in alone and "if args.format" not in alone, messages


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("args = parser", "RECEIVERS['more'] = rows\nargs = parser", "cannot be determined"),
        ("args = parser", "rows()\nargs = parser", "`rows` is used for more than an export"),
        (
            "args = parser",
            "RECEIVERS['rows']()\nargs = parser",
            "the receivers of this dictionary are used for more than an export",
        ),
        (
            "estimator =",
            "args.format = 'fields'\nestimator =",
            "which receiver is exported is not known where the export is written",
        ),
        ("[args.format]", "[args.format.lower()]", "which receiver is exported is not known"),
        ('{"rows": rows, ', "{sys.argv[0]: rows, ", "cannot be determined"),
        ('{"rows": rows, ', '{"rows": lambda: rows(), ', "cannot be determined"),
    ],
)
def test_receivers_in_a_dictionary_that_stay(old: str, new: str, reason: str) -> None:
    stays(changed(BY_FORMAT, (old, new)), reason)
