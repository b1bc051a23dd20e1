"""What is written for names of ``tf.contrib`` does what they did in TF 1.15.

Every program of ``contrib_programs.py`` ran in TF 1.15, and ran as a bridge in TF 2.15 and the
newest TensorFlow, with the same variables: values, gradients, names and values of variables behind
their updates. What 1.15 found is recorded with a digest of the program; that a bridge found the
same, with a digest of the bridge, of the files beside it and of the packages that it ran with. A
program or bridge that is another one now runs again, and so does every eighth in any case. This
runs what is not of today, and records it::

    python -m tests.rewriters.test_contrib_names
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
import zlib
from array import array
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Union

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.analysis import lost_names
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import earlier, table
from migrate_mgpu.core.registry import only
from migrate_mgpu.session_config.program_rewriter import EarlierRewriter
from migrate_mgpu.source.source import Source, splice
from tests.rewriters.contrib_programs import earlier_programs, programs, written_out
from tests.support import migration, servers

DATA = Path(lost_names.__file__).parents[1] / "data"
RUNNER = Path(__file__).with_name("contrib_runner.py")
RECORDED = Path(__file__).with_name("contrib_names.json")
SLIM, KERAS = "tf-slim==1.1.0", f"tf-keras=={runtimes.NEWEST_TENSORFLOW.rpartition('.')[0]}.*"
OLD = "tf1.15"
NEW = {"tf2.15": (SLIM,), "tf2-latest": (SLIM, KERAS, "tensorboard")}
# Kinds of bridges, and where they run: each finds what 1.15 did, a broken one does not.
KINDS = {**{name: name for name in NEW}, "broken": "tf2.15"}
TOLERANCE = 1e-6
EVERY = 8  # of the programs whose bridges are recorded as equal, one in so many runs all the same
Found = Union[list[tuple[str, list[float]]], str]


@cache
def bridges() -> dict[str, str]:
    found = {}
    for name, text in {**programs(), **earlier_programs()}.items():
        result = migration.run(text, bridge=True)
        (program,) = result.programs
        assert program.state.startswith("bridge"), (name, migration.said(result))
        found[name] = migration.after(result, text)
    return found


@cache
def with_later_names() -> dict[str, str]:
    """Programs of an early TensorFlow by later names, which TF 1.15 runs."""
    found = {}
    for name, text in earlier_programs().items():
        path = Path(f"{name}.py")
        renamed = only(EarlierRewriter).rename(Module(path, Source(path, text), ""))
        found[name] = splice(text, renamed.edits)
    return {**found, **written_out()}


def run(runtime: runtimes.Runtime, texts: Mapping[str, str]) -> dict[str, Found]:
    at_import = {"TF_ENABLE_ONEDNN_OPTS": "0"}  # whose sums TF 1.15 has in another order
    if runtime.name.startswith("tf2-latest"):  # for its cells and batch normalization
        at_import["TF_USE_LEGACY_KERAS"] = "1"
    beside = {"PYTHONPATH": str(DATA)}  # the files that bridges get beside them
    shown = servers.alone(runtime, RUNNER, given=json.dumps(texts), env=beside, at_import=at_import)
    found: dict[str, Found] = json.loads(shown.splitlines()[-1])
    return found


def of_tf1() -> dict[str, str]:
    return {**programs(), **with_later_names()}


def digest(*texts: str) -> str:
    """Of a program, and what runs it."""
    return hashlib.sha256("".join((*texts, RUNNER.read_text("utf-8"))).encode()).hexdigest()[:16]


@cache
def beside(name: str) -> dict[str, str]:
    """A file that bridges get, and those that it imports, by their names."""
    path = DATA / f"{name}.py"
    if not path.exists():
        return {}
    text = path.read_text("utf-8")
    return {name: text, **files_of(text)}


def files_of(text: str) -> dict[str, str]:
    """The files that a text imports of those that bridges get."""
    imported = re.findall(r"^\s*(?:import|from) (\w+)", text, re.M)
    return {name: own for one in imported for name, own in beside(one).items()}


def digest_on(name: str, bridge: str) -> str:
    """Of a bridge, and all that it runs with, and how it is compared."""
    with_it = *runtimes.known()[name].requirements, *NEW[name], str(TOLERANCE)
    return digest(bridge, *(own for _, own in sorted(files_of(bridge).items())), *with_it)


def run_on_tf1(given: Mapping[str, str]) -> dict[str, Found]:
    found = run(runtimes.ensure(OLD), given)
    broken = {name: result for name, result in found.items() if isinstance(result, str)}
    assert not broken, broken
    return found


@cache
def recorded() -> dict[str, dict[str, str]]:
    """By program: its digest, what 1.15 found, and the digests of its bridges that were right."""
    found: dict[str, dict[str, str]] = json.loads(RECORDED.read_text("utf-8"))
    return found


@cache
def reference() -> dict[str, Found]:
    found: dict[str, Found] = {}
    changed = {}
    for name, text in of_tf1().items():
        one = recorded().get(name)
        if one is None or one["program"] != digest(text):
            changed[name] = text
            continue
        found[name] = unpacked(one["found"])
    return {**found, **run_on_tf1(changed)} if changed else found


def given(kind: str) -> dict[str, str]:
    """By program, the bridges of a kind."""
    if kind == "broken":
        return broken()
    last = kind == "tf2.15"  # that has Estimators
    return {name: text for name, text in bridges().items() if last or "tf.estimator" not in text}


@cache
def broken() -> dict[str, str]:
    """Bridges with a mistake, by the program that must differ."""
    found = {}
    for old, new, name in BROKEN:
        assert old in bridges()[name] and name not in found, (name, old)
        found[name] = bridges()[name].replace(old, new)
    return found


def unproved(kind: str) -> dict[str, str]:
    """Those that are not recorded as they are now."""
    return {
        name: text
        for name, text in given(kind).items()
        if recorded().get(name, {}).get(kind) != digest_on(KINDS[kind], text)
    }


def wrong(kind: str, texts: Mapping[str, str]) -> str:
    """What is wrong with bridges of a kind, a line each: of what they compute, or do as well."""
    name = KINDS[kind]
    found = run(runtimes.ensure(runtimes.extended(name, NEW[name])), texts) if texts else {}
    parted = {one: difference(reference()[one], found[one]) for one in texts}
    if kind == "broken":
        return "\n".join(f"{one} is not seen to differ" for one in parted if not parted[one])
    return "\n".join(f"{one}: {where}" for one, where in parted.items() if where)


def packed(found: Found) -> str:
    """The names and sizes, a line of JSON, and all numbers as doubles, compressed."""
    sizes = json.dumps([(what, len(numbers)) for what, numbers in found]).encode()
    numbers = array("d", [number for _, numbers in found for number in numbers])
    return base64.b85encode(zlib.compress(sizes + b"\n" + numbers.tobytes(), 9)).decode()


def unpacked(text: str) -> Found:
    sizes, _, rest = zlib.decompress(base64.b85decode(text)).partition(b"\n")
    numbers = iter(array("d", rest))
    return [(what, list(islice(numbers, size))) for what, size in json.loads(sizes)]


def record() -> None:
    entries = {
        name: {"program": digest(text), "found": packed(reference()[name])}
        for name, text in of_tf1().items()
    }
    for kind, name in KINDS.items():
        assert not (said := wrong(kind, unproved(kind))), said
        for one, text in given(kind).items():
            entries[one][kind] = digest_on(name, text)
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def difference(old: Found, new: Found) -> str | None:
    """Where two results part; None where they do not."""
    if isinstance(old, str) or isinstance(new, str):
        return str(new if isinstance(new, str) else old)[-600:]
    if [name for name, _ in old] != [name for name, _ in new]:
        return f"{[name for name, _ in old]} became {[name for name, _ in new]}"
    slopes = [abs(one) for name, was in old if name.startswith("gradient of ") for one in was]
    steepest = max(slopes, default=0.0)
    for (name, was), (_, now) in zip(old, new):
        scale = max([1.0, *map(abs, was)])
        # A sum whose terms cancel each other out but for rounding: the others tell its scale.
        if name.startswith("gradient of ") and max(map(abs, was), default=1.0) < 1e-7 * steepest:
            scale = steepest
        if len(was) != len(now) or any(abs(a - b) > TOLERANCE * scale for a, b in zip(was, now)):
            return f"{name}: {was[:4]} became {now[:4]}"
    return None


def test_what_is_recorded_is_of_these_programs() -> None:
    of_today = {name: {"program": digest(text)} for name, text in of_tf1().items()}
    for kind, runtime in KINDS.items():
        for name, text in given(kind).items():
            of_today[name][kind] = digest_on(runtime, text)
    without = {
        name: {key: value for key, value in entry.items() if key != "found"}
        for name, entry in recorded().items()
    }
    assert without == of_today, "record them again: python -m tests.rewriters.test_contrib_names"


def test_all_are_proved() -> None:
    """What is written of tf-slim stands in one of the programs, and the table knows it."""
    text = "\n".join(bridges().values())
    table = lost_names.load("contrib.json")["tf_slim"].values()
    for path in lost_names._PROVED:
        mention = rf"\b(slim|layers|framework)\.{re.escape(path)}\b|import .*\b{path}\b"
        assert re.search(mention, text), path
        assert f"tf_slim.{path}" in table, path


def test_all_earlier_names_are_proved() -> None:
    """Each that has a program, and each that 1.15 has by the name that it got."""
    text = "\n".join(earlier_programs().values())
    names = earlier()
    unlike = {"nn.state_saving_rnn"}  # it takes an object that saves states: 1.15 has the same code
    for old in (*names.names, *names.calls, *names.order):
        keras = old.startswith("contrib.keras.")  # tests/models/normalize/test_public_keras.py
        assert f"tf.{old}" in text or keras or old in unlike, old
        new = names.now(old) or old
        assert table().status(new) != "unknown", new
        assert table().status(old) == "gone" or old in names.order, old


SOURCES = """\
import importlib, inspect, io, json, sys, tokenize
skipped = tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT
found = {}
for name in json.load(sys.stdin):
    module, _, last = name.rpartition(".")
    made = getattr(importlib.import_module(sys.argv[1] + module), last)
    text = inspect.getsource(inspect.unwrap(made)).replace("tf.contrib.", "tf_slim.")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found[name] = [t.string for t in tokens if t.type not in skipped and t.string[:3] != '"' * 3]
print(json.dumps(found))
"""


@pytest.mark.tensorflow
def test_networks_are_the_same_code(runtime: Callable[[str], runtimes.Runtime]) -> None:
    """Those of tf-slim call what ``test_bridges`` proves, as those of TF 1.15 do."""
    old = runtime(OLD), "tensorflow.contrib.slim.python.slim."
    new = runtime(runtimes.extended("tf2.15", NEW["tf2.15"])), "tf_slim."
    texts = []
    for made, package in (old, new):
        names = json.dumps(sorted(lost_names.NETWORKS))
        shown = servers.alone(made, SOURCES, package, given=names)
        texts.append(json.loads(shown.splitlines()[-1]))
    different = [name for name in texts[0] if texts[0][name] != texts[1][name]]
    assert len(texts[0]) == len(lost_names.NETWORKS) and not different


# A line of a bridge, what it is broken to, and the program that must differ.
BROKEN = (
    ("decay=0.7", "decay=0.71", "batch_norm of rows"),
    ("slim.l2_regularizer(0.1)", "slim.l2_regularizer(0.2)", "fully_connected"),
    ("tf.glorot_uniform_init", "tf.glorot_normal_init", "INITIAL xavier"),
    ("slim.layers.ops.Tensor = tf.Tensor\n", "", "batch_norm that updates in place"),
    ("clip_gradient_norm=0.5", "clip_gradient_norm=0.4", "TRAIN create_train_op"),
    ("interpolation='lower'", "interpolation='higher'", "percentiles"),
    ("eos_token=1", "eos_token=2", "tensors of other forms"),
    ("forget_bias=0.5", "forget_bias=1.0", "cells"),
    ("forget_bias=0.5", "forget_bias=0.6", "block cells"),
    ("average_across_timesteps=False", "average_across_timesteps=True", "losses of sequences"),
    ("labels=whole, logits=x[:, :3]", "labels=x[:, :3], logits=whole", "orders before 1.0"),
    ("tf.subtract(x, y=y)", "tf.add(x, y=y)", "arithmetic before 1.0"),
    ("crf_log_norm(undefined, lengths, moves)", "crf_log_norm(x, lengths, moves)", "random fields"),
    ("0.5, 0.3, True", "0.5, 0.4, True", "fused networks"),
    ("can_modify=copies + [b.op]", "can_modify=copies", "edits of a graph"),
    ("sgv(again), {})", "sgv(again[1:]), {})", "TRAIN gradients with recomputed layers"),
    ("[28, 28]", "[28, 27]", "an embedding projector"),
    ("following, scope", "None, scope", "a decoder"),
    ("min_frequency=least", "min_frequency=2", "vocabulary"),
    ("probabilities'][:, 1]", "probabilities'][:, 0]", "added metrics of an Estimator"),
    ("lambda: True", "lambda: False", "hooks of Estimators before 1.14"),
    ("words, 3, default_value=7", "words, 4, default_value=7", "tables of words"),
    ("beta1=0.8", "beta1=0.9", "TRAIN LazyAdamOptimizer"),
    ("weight_decay=0.03", "weight_decay=0.04", "TRAIN decoupled weight decay"),
    ("decr_ratio=0.1", "decr_ratio=0.2", "TRAIN scaled losses"),
    ("top_k=3", "top_k=4", "greedy matches"),
    ("every_n_global_steps(2", "every_n_global_steps(3", "summaries in a graph"),
    ("'y': 4.0", "'y': 4.1", "predictions of a saved model"),
    ("output_time_major=True", "output_time_major=False", "a decoder that reads its inputs"),
    ("encoded, lengths, scale=True", "encoded, None, scale=True", "attention in a decoder"),
    ("length_penalty_weight=0.6", "length_penalty_weight=0.0", "beams with attention"),
    ("6, encoded, lengths", "6, encoded, None", "TRAIN attention"),
    ("forget_bias=0.3", "forget_bias=0.4", "cells of contrib"),
    ("leak=0.01", "leak=0.02", "cells of convolutions, of time and of blocks"),
    ("depth_multiplier=0.01", "depth_multiplier=0.01, create_aux_logits=False", "a whole network"),
    ("made([x * 2, y])", "made([x, y * 2])", "linear maps"),
    ("bias_initializer=start", "bias_initializer=zeros", "INITIAL bias"),
    ("scope='here'", "scope='there'", "linear maps before 1.2"),
    ("max_images=2", "max_images=1", "summaries inside before 1.5"),
    ("bias_start=0.5", "bias_start=0.4", "INITIAL bias before 1.2"),
    ("loc=x, scale_diag=-scale[0]", "loc=x, scale_diag=scale[1]", "normal vectors"),
    ("score_mask_value=-2.0", "score_mask_value=-1.0", "masks of attention"),
    ("['/cpu:0', '/cpu:1']", "['/cpu:0']", "Estimators on several devices"),
    ("[3, 5], dynamic_pad", "[3, 4], dynamic_pad", "buckets of lengths"),
    ("'given', num_heads=2", "'given', num_heads=1", "networks of symbols with attention"),
    ("'fed', feed_previous=True", "'fed', feed_previous=False", "networks of symbols"),
    ("min_eval_frequency=2", "min_eval_frequency=0", "an Experiment"),
    ("forget_bias=0.4, act", "forget_bias=0.5, act", "cells of one gate and of cuDNN"),
    ("0.01 * i, -0.02", "0.01 * i, -0.03", "projected images"),
    ("[1, 6, 3, 2, 5, 4]", "None", "last activations"),
    ("summary_op=other if given", "summary_op=None if given", "summaries at the end"),
    ("average_decay=0.7", "average_decay=0.05", "TRAIN averaged weights"),
    ("[2, 0, 1, 0, 2, 1]", "[2, 1, 1, 0, 2, 1]", "data of several sources"),
    ("regularizers.l2(0.3)", "regularizers.l2(0.2)", "decay by contrib.keras"),
    ("drop(x, 0.6", "drop(x, 0.7", "dropout for selus"),
    ("rotate(x, 0.3)", "rotate(x, -0.3)", "rotated images"),
    ("3, activation=tf.tanh", "3, activation=tf.nn.relu", "projected and embedded cells"),
    ("3, weight_column='w'", "3", "heads of Estimators"),
    ("fn(0.2)", "fn(0.3)", "TRAIN one step at a time"),
    ("lower.solve(a)", "lower.solve(a, adjoint=True)", "a triangle before 1.4"),
)  # fmt: skip


@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", KINDS)
def test_bridges(kind: str, runtime: Callable[[str], runtimes.Runtime]) -> None:
    runtime(runtimes.extended(KINDS[kind], NEW[KINDS[kind]]))
    some = dict(list(given(kind).items())[::EVERY])
    assert not (said := wrong(kind, {**some, **unproved(kind)})), said


def test_what_mends_tf_slim_stands_below_what_binds_tensorflow() -> None:
    """`tf` came from another module by `*`: the lines that name it stood above that."""
    program = (
        "import tensorflow.contrib.slim as slim\nfrom const import *\n\n"
        "net = slim.batch_norm(tf.zeros([2, 3]))\nprint(tf.Session().run(net))\n"
    )
    const = ("const.py", "import tensorflow as tf\nSIZE = 3\n")
    lines = migration.after(migration.run(program, const, bridge=True), program, const).split("\n")
    mend = lines.index("slim.layers.ops.Tensor = tf.Tensor")
    assert lines.index("from const import *") < mend > lines.index("import tf_slim as slim")


def test_what_mends_tf_slim_stands_below_the_authors_own_import_of_it() -> None:
    """A program may have `tf_slim` already, and contrib's below: the lines stood above both."""
    program = (
        "import tensorflow as tf\nimport numpy as np\nimport tf_slim as slim\n\n"
        "print(np.ones(1))\nfrom tensorflow.contrib import slim\n"
        "net = slim.batch_norm(tf.zeros([2, 3]))\nprint(tf.Session().run(net))\n"
    )
    lines = migration.after(migration.run(program, bridge=True), program).split("\n")
    mend = lines.index("slim.layers.ops.Tensor = tf.Tensor")
    assert mend == lines.index("import tf_slim as slim") + 2, lines
    assert "from tensorflow.contrib import slim" not in lines


@pytest.mark.parametrize(
    ("code", "becomes"),
    [
        ("from tensorflow.python import pywrap_tensorflow as wrap\n"
         "print(wrap.NewCheckpointReader('model'))", "tf.train.NewCheckpointReader('model')"),
        ("from tensorflow.python.ops import control_flow_ops, array_ops\n"
         "print(control_flow_ops.cond(a, b, c), array_ops.concat([a], 0))", "tf.cond(a, b, c)"),
        ("from tensorflow.python.framework import ops\nprint(isinstance(a, ops.Tensor))",
         "isinstance(a, tf.Tensor)"),
    ],
)  # fmt: skip
def test_private_names_that_moved(code: str, becomes: str) -> None:
    program = f"import tensorflow as tf\n{code}\nprint(tf.Session())\n"
    result = migration.run(program, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], migration.said(result)
    assert becomes in migration.after(result, program)


@pytest.mark.parametrize(
    "code",
    [
        "from tensorflow.python import pywrap_tensorflow\npywrap_tensorflow.TF_Reset('a')",
        "from tensorflow.python.ops import constant_op\nprint(constant_op.constant(1))",
        "from tensorflow.python.framework import tensor_shape\nprint(tensor_shape.scalar())",
    ],
)
def test_private_names_that_are_gone(code: str) -> None:
    program = f"import tensorflow as tf\n{code}\nprint(tf.Session())\n"
    result = migration.run(program, bridge=True)
    assert [one.state for one in result.programs] == ["refused"]
    assert any("`tensorflow.python." in one for one in migration.said(result))


# What TF 1.15.5 saved of a VocabularyProcessor(4) that was fitted on "a b a" and "it's C".
SAVED = (
    "c-ozk%Sr<=6ozNodW-hr{q_LX%{+m)=`tW9DA~x6Nl%+#n#{>0)d~e&2z_kRQQN(Xz&YOu|NozmkEZZoD(gntzGlK2?^Ka#"
    ";Lc>_%u8$j8V9Ab0;)=xapvL8lP4>95j1zR`=5z*1e5DeOy}6>v%@4wCj2cQS`j8-e6GQay~HMMvG#JNOg?ge0gRYoizaM0"
    "(&<Vx$Blnw6WqhtIwiQy*J@<2#_Qk&H)GzdId1n^C%Wgsycqjxa&KS2;11h}@aFN3-XdY!%L@};meB=w=eXCGB&JRy=GdlbT"
    "@~1&4c3a4@>dmhX|u)y?9o<Wy`@AI%F;TYJD7s20QVO^{I_3O96aM;w2*DtkzLt?I!yg!cqD|?8iZHYRAdMv9<(1S;Rzm#A}"
    "H-u<jTbU<O@$9@T@P}v>`h*mECxHG!1O)R}S6*&ljO!WC`lc)jK%6`2W{fi4eRDMfMHmD9L>"
)


def test_what_tf1_saved_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DATA))
    module = importlib.import_module("vocabulary_processor")
    (tmp_path / "vocabulary").write_bytes(zlib.decompress(base64.b85decode(SAVED)))
    restored = module.VocabularyProcessor.restore(str(tmp_path / "vocabulary"))
    assert [list(row) for row in restored.transform(["it's a z C"])] == [[3, 1, 0, 4]]
    assert list(restored.reverse([[1, 2, 0]])) == ["a b <UNK>"]


def test_what_another_rewriter_writes_keeps_nothing() -> None:
    program = (
        "import tensorflow as tf\nimport tensorflow.contrib.slim as slim\n"
        "from tensorflow.examples.tutorials.mnist import input_data\n"
        "mnist = input_data.read_data_sets('data')\n"
        "def net(x):\n    return slim.flatten(x)\n"
        "with tf.Session() as sess:\n    print(sess.run(net(mnist.test.images)))\n"
    )
    result = migration.run(program, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], migration.said(result)
    after = migration.after(result, program)
    assert "import tf_slim as slim" in after and "import input_data" in after


def bridged(code: str, state: str = "bridge") -> str:
    program = f"import tensorflow as tf\n{code}\nwith tf.Session() as sess:\n    print(sess)\n"
    result = migration.run(program, bridge=True)
    assert [one.state for one in result.programs] == [state], migration.said(result)
    return migration.after(result, program) if state == "bridge" else program


def test_an_alias_that_nothing_uses_goes() -> None:
    assert "learn" not in bridged("learn = tf.contrib.learn")


@pytest.mark.parametrize(
    "code",
    ["learn = tf.contrib.learn\nprint(learn)", "import tensorflow.contrib\nprint(tensorflow.int8)"],
)
def test_one_that_something_uses_stays(code: str) -> None:
    bridged(code, "refused")


ESTIMATOR = "\ntf.estimator.RunConfig(train_distribute=s)"


@pytest.mark.parametrize(
    "code",
    [
        "tf.contrib.distributions.MultivariateNormalDiag(loc=[1.0], scale_diag=[2.0]).sample(3)",
        "n = tf.contrib.distributions.MultivariateNormalDiag([1.0], [2.0]); print(n.covariance())",
        "n = tf.contrib.distributions.MultivariateNormalDiag([1.0], [2.0]); print(n)",
        "tf.contrib.distributions.MultivariateNormalDiag(loc=[1.0]).prob([1.0])",
        "s = tf.contrib.distribute.MirroredStrategy(num_gpus=2)",  # whose batches are asked for
        "s = tf.contrib.distribute.MirroredStrategy(auto_shard_dataset=True)" + ESTIMATOR,
        "s = tf.contrib.distribute.MirroredStrategy(['/gpu:0'])" + ESTIMATOR + "\n"
        "s.make_dataset_iterator(1)",
        "from tensorflow.contrib.slim.nets import inception\nprint(inception.inception_v3)",
        "from tensorflow.contrib import graph_editor as ge\nge.sgv(1).remap_inputs([0])",
        "import tensorflow.contrib.graph_editor as g\ng.copy_with_input_replacements(1, {}, 2)",
        "from tensorflow.python.ops import rnn_cell_impl as c\nc._linear(1, 2, True, bias_start=1)",
        "from tensorflow.contrib.seq2seq.python.ops import attention_wrapper as a\n"
        "a._prepare_memory(1, memory_mask=2)",
    ],
)
def test_what_is_asked_otherwise_stays(code: str) -> None:
    bridged(code, "refused")


def test_a_patch_of_tensorflow_goes() -> None:
    """`tf.contrib` was loaded when it was asked for: the two lines did that before."""
    code = "import tensorflow.contrib  # TF1\ntf.contrib = tensorflow.contrib\n"
    assert "contrib" not in bridged(code)
    assert "slim.flatten(x)" in bridged(code + "x = 1\nprint(tf.contrib.layers.flatten(x))")


def test_a_variable_of_several_names_is_none_of_them() -> None:
    """It was written as the first of them."""
    code = (
        "from tensorflow.contrib import rnn\n"
        "if flag:\n    cell = rnn.GRUCell\nelse:\n    cell = rnn.LSTMCell\nprint(cell)"
    )
    after = bridged(code)
    assert "cell = tf.nn.rnn_cell.GRUCell" in after and "cell = tf.nn.rnn_cell.LSTMCell" in after
    assert "print(cell)" in after
    code = "if flag:\n    m = tf.contrib.rnn\nelse:\n    m = tf.contrib.layers\nprint(m.GRUCell)"
    bridged(code, "refused")


def test_the_private_module_of_estimators_on_tpus() -> None:
    """TF 2.15 brings the package along, and is the last that does."""
    program = (
        "import tensorflow as tf\n\n\ndef make():\n"
        "    from tensorflow.contrib.tpu.python.tpu import tpu_estimator\n"
        "    return tpu_estimator.BatchConfig(1, 2, 3, [2])\n\n\nprint(make(), tf.Session())\n"
    )
    result = migration.run(program, bridge=True)
    assert [(p.state, p.runs_on) for p in result.programs] == [("bridge", "TF 2.15")]
    line = "    from tensorflow_estimator.python.estimator.tpu import tpu_estimator\n"
    assert line in migration.after(result, program) and not result.packages


@pytest.mark.tensorflow
def test_estimators_on_tpus_are_the_same_objects(
    runtime: Callable[[str], runtimes.Runtime],
) -> None:
    names = sorted(name.rpartition(".")[2] for name in lost_names._TPU_ESTIMATOR)
    text = (
        "from tensorflow.contrib.tpu.python.tpu import tpu_estimator as old\n"
        f"from {lost_names.TPU_ESTIMATOR.rpartition('.')[0]} import tpu_estimator as new\n"
        "from tensorflow.contrib.compiler import jit, xla\nimport tensorflow as tf\n"
        f"assert all(getattr(old, one) is getattr(new, one) for one in {names})\n"
        "assert jit.experimental_jit_scope is tf.xla.experimental.jit_scope\n"
        "assert xla.compile is tf.xla.experimental.compile\n"
    )
    servers.alone(runtime(OLD), text)


def test_two_of_one_name() -> None:
    """`sequence_loss` of two modules: the second one was the first."""
    after = bridged(
        "print(tf.contrib.seq2seq.sequence_loss, tf.contrib.legacy_seq2seq.sequence_loss)"
    )
    assert "from sequence_loss import sequence_loss\n" in after
    assert "print(sequence_loss, legacy_seq2seq_sequence_loss)" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tf.contrib.rnn.core_rnn_cell.BasicLSTMCell(2)", "tf.nn.rnn_cell.BasicLSTMCell(2)"),
        (
            "tf.contrib.data.python.util.nest.flatten([1])",
            "from tensorflow.python.data.util import nest",
        ),
        ("tf.contrib.rnn.rnn_cell.LSTMStateTuple(1, 2)", "tf.nn.rnn_cell.LSTMStateTuple(1, 2)"),
        ("tf.contrib.rnn.python.ops.core_rnn.static_rnn(1, 2)", "tf.nn.static_rnn(1, 2)"),
        (
            "tf.contrib.framework.variables.get_model_variables()",
            "slim.get_model_variables()",
        ),
        ("tf.contrib.signal.python.ops.window_ops.hann_window(6)", "tf.signal.hann_window(6)"),
        (
            "tf.contrib.rnn.python.ops.core_rnn_cell.EmbeddingWrapper(1, 2, 3)",
            "from recurrent_cells import EmbeddingWrapper",
        ),
    ],
)
def test_modules_that_1_15_has_no_more(old: str, new: str) -> None:
    assert new in bridged(f"print({old})")


def test_a_file_stands_for_its_module() -> None:
    """All that the program uses of it: its lines stay as they are."""
    code = (
        "import tensorflow.contrib.graph_editor as ge\nfrom tensorflow.contrib import crf, rnn\n"
        "print(ge.select_ops('a'), crf.crf_decode(1, 2, 3), rnn.GRUCell(3))"
    )
    after = bridged(code)
    assert "import graph_editor as ge\nimport crf\n" in after
    assert "print(ge.select_ops('a'), crf.crf_decode(1, 2, 3), tf.nn.rnn_cell.GRUCell(3))" in after
    within = bridged(code + "\nge.reroute.reroute_ts(1, 2)")  # no module of the file
    assert "from graph_editor import select_ops, reroute_ts" in within
    assert "print(select_ops('a'), crf.crf_decode(1, 2, 3)," in within


def test_what_copies_make_is_asked_by_its_public_name() -> None:
    """Operations of TF2 have no `_outputs`; another object may have."""
    after = bridged(
        "import tensorflow.contrib.graph_editor as ge\n"
        "copied, info = ge.copy_with_input_replacements(ge.sgv(x), {})\n"
        "print(info._transformed_ops[y.op]._outputs[0], y._outputs)"
    )
    assert "print(info._transformed_ops[y.op].outputs[0], y._outputs)" in after


def test_a_module_that_nothing_uses_goes() -> None:
    assert "nest" not in bridged("nest = tf.contrib.framework.nest")


ALIAS = """\
import tensorflow as tf
from tensorflow.contrib.rnn.python.ops import core_rnn_cell
_linear = core_rnn_cell._linear

with tf.Session() as sess:
    print(sess.run(_linear([tf.ones([2, 3])], 4, {bias})))
"""


def test_a_function_by_a_name_of_the_module() -> None:
    result = migration.run(ALIAS.format(bias="True"), bridge=True)
    assert [p.state for p in result.programs] == ["bridge"], migration.said(result)
    assert "import linear" in (after := migration.after(result, ALIAS.format(bias="True"))), after


def test_a_function_by_a_name_of_the_module_whose_call_has_another_meaning() -> None:
    old = ALIAS.format(bias="True, 0.5")  # before 1.2 it was where the bias starts
    result = migration.run(old, bridge=True)
    assert [p.state for p in result.programs] == ["refused"], migration.said(result)


if __name__ == "__main__":
    record()
