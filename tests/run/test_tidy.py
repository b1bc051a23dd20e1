"""Variables and blank lines that are left over behind a config that moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.source import Edit, Source
from tests.support.migration import after, migrated, run

HEAD = "import tensorflow as tf\nfrom tensorflow.core.protobuf import rewriter_config_pb2 as rw\n"
ON = "on = rw.RewriterConfig.ON\n"
CONFIG = "config = tf.ConfigProto()\nconfig.graph_options.rewrite_options.remapping = on\n"
CALL = "tf.config.optimizer.set_experimental_options({'remapping': True})\n"
IMPORT = "from tensorflow.core.protobuf import rewriter_config_pb2 as rw\n"


def bridged(code: str) -> str:
    """The program behind its new head."""
    result = run(code, bridge=True)
    assert result.sites["applied"] == 1
    return after(result, code).partition("behavior()")[2].lstrip("\r\n")


@pytest.mark.parametrize(
    ("variable", "left"),
    [
        (ON, ""),
        (ON + "print(on)\n", IMPORT + ON + "print(on)\n"),
        (ON[:-1] + "  # why\n", IMPORT + ON[:-1] + "  # why\n"),
        ("if rw:\n    pass\n" + ON, IMPORT + "if rw:\n    pass\n"),
    ],
)
def test_a_variable_that_only_fed_the_config_goes(variable: str, left: str) -> None:
    tail = "sess = tf.Session(config=config)\n"
    assert bridged(HEAD + variable + CONFIG + tail) == left + CALL + "sess = tf.Session()\n"


def test_a_variable_of_an_imported_module_stays() -> None:
    files = {
        "main.py": "import tensorflow as tf\nimport options\nprint(options.on)\n"
        "sess = tf.Session(config=options.config())\n",
        "options.py": HEAD + ON + "\n\ndef config():\n    made = tf.ConfigProto()\n"
        "    made.graph_options.rewrite_options.remapping = on\n    return made\n",
    }
    result = run(*files.items(), bridge=True)
    assert result.sites["applied"] == 1
    (text,) = (file.after for file in result.files if file.path.name == "options.py")
    assert ON in (text or "")


@pytest.mark.parametrize(
    ("above", "below", "wanted"),
    [
        ("x = 1\n\n", "\ny = 2\n", "x = 1\n\ny = 2\n"),
        ("x = 1\n\n", "y = 2\n", "x = 1\n\ny = 2\n"),
        ("x = 1\n", "y = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n\n", "\n\ndef f():\n    pass\n", "x = 1\n\n\ndef f():\n    pass\n"),
        ("x = 1\r\n\r\n", "\r\ny = 2\r\n", "x = 1\r\n\r\ny = 2\r\n"),
    ],
)
def test_blank_lines_around_what_went_away(above: str, below: str, wanted: str) -> None:
    """A config of TF2's own defaults leaves nothing behind."""
    gone = "config = tf.ConfigProto(device_count={'CPU': 1})\n"
    if "\r" in above:
        gone = gone.replace("\n", "\r\n")
    code = f"import tensorflow as tf\n{above}{gone}{below}sess = tf.Session(config=config)\n"
    assert bridged(code) == wanted + "sess = tf.Session()\n"


def test_no_blank_line_opens_a_block() -> None:
    code = (
        "import tensorflow as tf\ndef main():\n    config = tf.ConfigProto()\n\n"
        "    with tf.Session(config=config) as sess:\n        pass\n"
    )
    assert bridged(code) == "def main():\n    with tf.Session() as sess:\n        pass\n"


@pytest.mark.parametrize("new", ["\ndef f():\n", "print(1)\n"])
def test_what_takes_the_place_of_the_next_line_brings_no_second_blank_line(new: str) -> None:
    source = Source(Path("case.py"), "a = 1\n\nb = 2\nc = 3\n")
    edits = [Edit(7, 13, ""), Edit(13, 19, new)]  # `b = 2` goes, and `c = 3` is something else
    assert source.apply(blank_lines(source, edits)) == f"a = 1\n\n{new.lstrip()}"


MODELS = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    outputs = tf.layers.dense(features, params)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(([[1.0]], [[1.0]])).repeat()


def main():
    strategy = tf.distribute.MirroredStrategy()
    config = tf.estimator.RunConfig(train_distribute=strategy)
    one = tf.estimator.Estimator(model_fn, params=1, config=config)
{between}    two = tf.estimator.Estimator(model_fn, params=2, config={config})
    one.train(input_fn, steps=2)
    two.train(input_fn, steps=2)
"""


@pytest.mark.parametrize(
    ("between", "config", "scopes"),
    [
        ("", "config", 1),
        ("    # the larger one\n", "config", 2),
        ("\n", "config", 2),
        ("    print(1)\n", "config", 2),
        ("", "tf.estimator.RunConfig()", 1),
    ],
)
def test_models_that_follow_each_other_are_made_in_one_scope(
    between: str, config: str, scopes: int
) -> None:
    code = MODELS.format(between=between, config=config)
    text, _ = migrated(code)
    assert text.count("with strategy.scope():") == scopes
    both = "    with strategy.scope():\n        one = model_fn(params=1)\n"
    second = "        two = model_fn(params=2)\n" if config == "config" else "    two = model_fn"
    if not between:
        assert both + second in text
