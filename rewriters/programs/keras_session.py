"""``set_session(tf.Session(config=...))`` goes away: Keras in TF2 has no session.

## What it does
In a program that builds Keras models, the options of the session given to
``set_session`` move to ``tf.config``; the session, the call and the imports
that only they used are removed. The calls are put before the first thing that
starts TF2's runtime.

## Why
TF2's Keras runs eagerly, configured by ``tf.config``.

## Safety
Exact. A session that is used for anything else (``sess.run``), or any other
name of TF1 left in the program, keeps the models in TF1's graph, and a finding says
which: Keras then trains on the bridge, with ``tf.compat.v1.keras``, as it did in TF 1.15.
Keras's own package, eager code and strategies have no such graph: with them the program
stays unchanged. An ``InteractiveSession`` with a config, the default session that Keras takes
for its own, goes the same way, and so does a session that nothing uses and that is opened
before Keras has to do: memory and threads are the process's in TF1 as well (an option that is
the session's alone, a log, keeps it). Where the TF1 config left ``allow_soft_placement`` out,
its default ``False`` is written, because TF2's eager default is ``True``; in a program
that names no device and has no strategy it has no effect, and is not. ``LSTM`` and ``GRU``
that leave their gates to Keras do something else in TF2: a finding names each of them.

## References
``tf.config``, ``tf.keras``
"""

from __future__ import annotations

from collections.abc import Iterator

from migrate_mgpu.analysis.api_version import is_explicit_v1
from migrate_mgpu.analysis.edit_set import Note
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.findings import NETWORK
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.program_rewriter import NativeRewriter

RULE = Rule(
    code="MGPU202",
    name="keras-session",
    summary="the session given to Keras's `set_session` goes away, its options move",
)

CASES = (
    Case(
        "standalone Keras",
        """\
import tensorflow as tf
from keras.backend.tensorflow_backend import set_session
from keras.layers import Dense
from keras.models import Sequential

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
config.allow_soft_placement = True
set_session(tf.Session(config=config))

model = Sequential([Dense(1, input_shape=(4,))])
""",
        """\
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

for gpu in tf.config.list_physical_devices('GPU'):
    tf.config.experimental.set_memory_growth(gpu, True)
tf.config.set_soft_device_placement(True)

model = Sequential([Dense(1, input_shape=(4,))])
""",
    ),
    Case(
        "the default session",
        """\
import tensorflow as tf
from tensorflow.compat.v1 import ConfigProto, InteractiveSession

config = ConfigProto()
config.gpu_options.allow_growth = True
session = InteractiveSession(config=config)

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
""",
        """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices('GPU'):
    tf.config.experimental.set_memory_growth(gpu, True)

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
""",
    ),
    Case(
        "a session that nothing uses",
        """\
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

# Only as much of the GPU's memory as it needs.
gpu_options = tf.GPUOptions(allow_growth=True)
sess = tf.Session(config=tf.ConfigProto(gpu_options=gpu_options))

with tf.device("/gpu:0"):
    model = Sequential([Dense(1, input_shape=(4,))])
""",
        """\
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

# Only as much of the GPU's memory as it needs.
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

with tf.device("/gpu:0"):
    model = Sequential([Dense(1, input_shape=(4,))])
""",
    ),
    Case(
        "a session of which only the log would be asked",
        """\
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
model = Sequential([Dense(1, input_shape=(4,))])
""",
        refused="a Keras program runs eagerly in TF2, and `tf.Session` is TF1's",
    ),
    Case(
        "a model before the session",
        """\
import tensorflow as tf
from tensorflow.keras import backend as K

with tf.device('/gpu:0'):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
K.set_session(sess)
""",
        """\
import tensorflow as tf

tf.config.set_soft_device_placement(False)
tf.debugging.set_log_device_placement(True)

with tf.device('/gpu:0'):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
""",
    ),
)

# Standalone Keras changed the gates itself, with 2.3.
_GATES = (
    "its gates are a sigmoid in TF2; in tf.keras of TF1, and in Keras up to 2.2, they were a "
    "hard_sigmoid, clip(0.2 x + 0.5)"
)
_RESET = "its reset gate is applied after the product in TF2; it was applied before it"
# By class, what it says itself and what that changed to.
_CHANGED = {
    "LSTM": (("recurrent_activation", _GATES),),
    "LSTMCell": (("recurrent_activation", _GATES),),
    "GRU": (("recurrent_activation", _GATES), ("reset_after", _RESET)),
    "GRUCell": (("recurrent_activation", _GATES), ("reset_after", _RESET)),
}


def remarks(module: Module) -> Iterator[Note]:
    """What Keras's own layers do otherwise in TF2, by the calls that make them.

    In code that says ``tf.compat.v1`` they are TF2's already.
    """
    if is_explicit_v1(module):
        return
    for call in module.names.calls:
        head, _, name = (module.names.qualname(call.func) or "").rpartition(".")
        parts = head.split(".")
        if "keras" not in parts or "v1" in parts or name not in _CHANGED:
            continue
        given = {keyword.arg for keyword in call.keywords}
        for argument, text in _CHANGED[name]:
            if argument not in given and None not in given:
                yield Note(module, call, f"`{name}`: {text}", NETWORK)


REWRITER = NativeRewriter(RULE, CASES, remarks=remarks)
