"""Multi-GPU code of Keras programs that nothing migrates is told: it is not nothing."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.prefilter import has_hit
from tests.support.migration import run

STRATEGY = """\
{imports}
import tensorflow as tf

strategy = {made}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(loss='mse', optimizer=tf.train.AdamOptimizer(0.01))
model.fit([[1.0, 2.0, 3.0]], [[1.0]])
"""
COPIES = """\
import tensorflow as tf
{imports}


def on_all(model, count):
    outputs = []
    for i in range(count):
        with tf.device({device}):
            outputs.append(model(Lambda(lambda x, i=i: x[i::count])(model.inputs[0])))
    return Model(inputs=model.inputs, outputs=outputs)
"""


def told(found: RunResult) -> list[tuple[str, int, str, str]]:
    return [(one.code, one.line, one.state, one.key) for one in found.findings]


@pytest.mark.parametrize(
    ("imports", "made"),
    [
        ("", "tf.contrib.distribute.MirroredStrategy(num_gpus=2)"),
        ("from tensorflow.contrib import distribute", "distribute.MirroredStrategy(num_gpus=2)"),
        ("from tensorflow.contrib.distribute import OneDeviceStrategy as O", "O('/gpu:0')"),
    ],
)  # fmt: skip
def test_a_strategy_of_contrib_without_an_estimator(imports: str, made: str) -> None:
    found = run(("train.py", STRATEGY.format(imports=imports, made=made)), bridge=True)
    assert told(found) == [("MGPU301", 4, "refused", "strategy-of-keras")]
    assert [one.state for one in found.programs] == ["refused"]
    assert not found.unused


def test_a_strategy_of_tf2_is_none() -> None:
    text = STRATEGY.format(imports="", made="tf.distribute.MirroredStrategy()")
    assert not has_hit(text.encode())
    found = run(("train.py", text), bridge=True)
    assert not found.findings and not found.programs


@pytest.mark.parametrize(
    "device", ["'/gpu:%d' % i", "'/device:GPU:%d' % i", "'/gpu:' + str(i)", "'/gpu:{}'.format(i)"]
)
@pytest.mark.parametrize(
    "imports",
    [
        "from keras.layers import Lambda\nfrom keras.models import Model",
        "from tensorflow.keras.layers import Lambda\nfrom tensorflow.keras import Model",
    ],
)
def test_copies_of_a_model_by_devices(imports: str, device: str) -> None:
    text = COPIES.format(imports=imports, device=device)
    assert has_hit(text.encode())
    found = run(("copies.py", text), bridge=True)
    assert told(found) == [("MGPU501", 8, "manual", "copies-by-hand")]
    assert not found.programs


@pytest.mark.parametrize(
    ("imports", "device"),
    [
        ("from models import Model, Lambda", "'/gpu:%d' % i"),  # no models of Keras
        ("from keras.layers import Lambda\nfrom keras.models import Model", "'/gpu:0'"),
    ],
)
def test_loops_that_copy_nothing(imports: str, device: str) -> None:
    text = COPIES.format(imports=imports, device=device)
    assert not told(run(("copies.py", text), bridge=True))
