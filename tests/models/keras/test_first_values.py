"""`tf.train.init_from_checkpoint`: each variable's name in TF1, and what it begins with.

The programs are fixtures whose ``earlier`` is a checkpoint that they left on 1.15.5. What they
print there is recorded, and which migrated ones printed the same; this runs them again::

    python -m tests.models.keras.test_first_values
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from migrate_mgpu import runtimes
from tests.support import recorded, servers
from tests.support.migration import changed, migrated, stays

FIXTURES = Path(__file__).parents[3] / "fixtures" / "estimator"
NAMED, SCOPED = (FIXTURES / f"begun_from_{name}" for name in ("checkpoint", "scope"))
RECORDED = Path(__file__).with_name("first_values.json")
NEW = ("tf2.15", "tf2-latest")
WARM = FIXTURES / "warm_start"
BY_NAMES = (NAMED / "before.py").read_text(encoding="utf-8")
STARTED = (WARM / "before.py").read_text(encoding="utf-8")
BY_SCOPE = (SCOPED / "before.py").read_text(encoding="utf-8")
NUMBERED = "TF1 numbers the names of layers or scopes"


def test_names_are_made_of_scopes() -> None:
    after, said = migrated(BY_NAMES)
    assert 'yield scope + "encoder/embeddings/words", self.table' in after, said
    assert 'yield from self.normalized.tf1_variables(scope + "encoder/embeddings/")' in after
    assert '"layer_%d" % index + "/output/wide/kernel", dense_2.kernel' in after
    assert "keys/bias" not in after  # it has none
    assert any("--to-tf1" in one for one in said)


def test_messages_about_them_stay() -> None:
    after, said = migrated(BY_NAMES)
    assert 'told = " (from a checkpoint)" if variable.name[:-2] in known else ""\n' in after, said
    assert 'tf.get_logger().info("variables:")' in after


def test_averages_come_along() -> None:
    after, said = migrated(BY_SCOPE)
    assert '"first_norm/moving_variance", self.first_norm.moving_variance' in after, said
    assert "second/batch_normalization/gamma" not in after  # `scale=False`
    assert (
        'init_from_checkpoint(self.params["begin"], {"body/": "classifier/"}, variables)' in after
    )


def test_the_scope_of_all_variables_has_the_step() -> None:
    after, said = migrated(changed(BY_SCOPE, ('{"body/": "classifier/"}', '{"/": "/"}')))
    assert 'variables["global_step"] = self.optimizer.iterations' in after, said


def test_a_scope_without_layers_of_a_kind_twice_needs_no_name() -> None:
    after, said = migrated(changed(BY_NAMES, (IN_VARIABLES, IN_CALL)))
    assert '+ "layer_%d" % index + "/dense/kernel", dense.kernel' in after, said


IN_VARIABLES = '                with tf.variable_scope("att'
IN_CALL = '                with tf.name_scope("att'
LAYER_SCOPE = 'tf.variable_scope("layer_%d" % index)'
ENCODED = '    net = encoder(features["words"], params["depth"], 6)\n'
BEGINS = '    if params["begin"]:\n'


@pytest.mark.parametrize(
    ("program", "pairs", "why"),
    [
        # Two layers of a kind in one scope: in one function, and in one and its caller.
        (BY_NAMES, [(', name="wide")', ")")], NUMBERED),
        (BY_NAMES, [(', name="query")', ")")], NUMBERED),
        # A layer of each round of a loop in the scope around that.
        (
            BY_NAMES,
            [(LAYER_SCOPE, 'tf.name_scope("layer_%d" % index)'), (IN_VARIABLES, IN_CALL)],
            NUMBERED,
        ),
        # A scope that may have the name which TF1 would give.
        (BY_SCOPE, [(', scope="hidden")', ")")], NUMBERED),
        (
            BY_NAMES,
            [
                (
                    ENCODED,
                    '    with tf.variable_scope("encoder"):\n'
                    '        net = tf.layers.dense(tf.one_hot(features["words"], 6), 6, name="x")\n'
                    f"{ENCODED}    net = net + 1.0\n",
                )
            ],
            NUMBERED,
        ),
        # Names that are none of the scopes', or not known.
        (
            BY_NAMES,
            [('tf.get_variable("words", [12, units])', "tf.Variable(tf.zeros([12, 6]))")],
            "the name of a `tf.Variable`",
        ),
        (
            BY_SCOPE,
            [("tf.layers.conv2d(net, 3, 3, use_bias=False)", "tf.keras.layers.Conv2D(3, 3)(net)")],
            "the names of the variables of `conv2d`",
        ),
        (
            BY_SCOPE,
            [("layers.conv2d(net, 3, 3, use_bias=False)", "layers.separable_conv2d(net, 3, 3)")],
            "the names of the variables of `tf.layers.separable_conv2d`",
        ),
        # What is asked of variables, and where.
        (BY_NAMES, [("variable.name[:-2] in known", "variable.op.name in known")], "may ask `op`"),
        (BY_SCOPE, [(BEGINS, '    if params["begin"] and training:\n')], "share statements"),
        (
            BY_SCOPE,
            [(BEGINS, '    if params["begin"] and mode != tf.estimator.ModeKeys.EVAL:\n')],
            "depends on the mode",
        ),
        (BY_SCOPE, [(BEGINS, "    if features is not None:\n")], "depends on `features`"),
        (
            BY_NAMES,
            [("tf.trainable_variables()", 'tf.trainable_variables("encoder")')],
            "the trainable variables of one scope",
        ),
        (BY_SCOPE, [(', model_dir="model"', "")], "without a model_dir that begins with"),
    ],
)
def test_a_program_stays(program: str, pairs: list[tuple[str, str]], why: str) -> None:
    stays(changed(program, *pairs), why)


BEGIN = BY_SCOPE[BY_SCOPE.index(BEGINS) : BY_SCOPE.index("    loss = ")]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op", "behind the optimizer"),
        ("        return tf.estimator.EstimatorSpec(mode, loss=loss)\n", "in some modes alone"),
        ("    net = tf.contrib.layers", "before all variables exist"),
    ],
)
def test_values_that_are_given_elsewhere(place: str, why: str) -> None:
    begin = BEGIN if place.startswith("    r") or "net" in place else BEGIN.replace("    ", " " * 8)
    stays(changed(changed(BY_SCOPE, (BEGIN, "")), (place, begin + place)), why)


def test_values_for_a_training_alone() -> None:
    train = "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
    begin = train + "".join(f"    {line}\n" for line in BEGIN.splitlines())
    after, said = migrated(changed(BY_SCOPE, (BEGIN, begin)))
    assert "estimator.init_from_tf1()" in after, said
    assert any("which begins at random in TF1" in one for one in said)


def test_a_warm_start() -> None:
    after, said = migrated(STARTED)
    assert after.count("else:\n    estimator.warm_start(FLAGS.init_checkpoint)\n") == 1, said
    assert after.count("else:\n    resumed.warm_start(FLAGS.init_checkpoint)\n") == 1
    assert "WarmStartSettings" not in after and "warm =" not in after
    assert any("which begins at random in TF1" in one for one in said)


SOME = "it starts from some variables of a checkpoint, or by other names"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('vars_to_warm_start=".*"', 'vars_to_warm_start="encoder"', SOME),
        ('vars_to_warm_start=".*"', 'vars_to_warm_start=["encoder.*"]', SOME),
        ('vars_to_warm_start=".*"', "vars_to_warm_start=None", "a warm start from no variables"),
        ('vars_to_warm_start=".*"', 'var_name_to_prev_var_name={"a": "b"}', SOME),
        (', name="wide")', ")", NUMBERED),
        ('model_fn, "model", params=params, warm_start_from=warm', "model_fn, params=params, "
         "warm_start_from=warm", "without a model_dir that begins with"),
    ],
)  # fmt: skip
def test_a_warm_start_stays(old: str, new: str, why: str) -> None:
    stays(changed(STARTED, (old, new)), why)


# -- what they really begin with ---------------------------------------------------------------

LAST = "else:\n    resumed.init_from_tf1()\n"
MUTANTS = {
    "another variable": (
        ("keys/kernel", "old/kernel"),
        ("query/kernel", "keys/kernel"),
        ("old/kernel", "query/kernel"),
    ),
    "behind the restored checkpoint": ((LAST, "resumed.init_from_tf1()\n"),),
}


def outputs(
    runtime: str, folder: Path, programs: dict[str, tuple[Path, str]]
) -> dict[str, list[float]]:
    """The numbers that programs print, each in a folder of its own beside ``earlier``.

    They run without the probe, which would carry first values from side to side.
    """
    found = {}
    for number, (name, (fixture, text)) in enumerate(programs.items()):
        own = folder / runtime / str(number)
        shutil.copytree(fixture / "earlier", own / "earlier")
        (own / "program.py").write_text(text, encoding="utf-8")
        printed = servers.alone(runtimes.ensure(runtime), own / "program.py", cwd=own)
        found[name] = [float(n) for n in re.findall(r"-?\d+\.\d+", printed)]
    return found


def on(runtime: str) -> dict[str, tuple[Path, str]]:
    """The programs that run there, by name: of 1.15, migrated, and on 2.15 the mutants."""
    if runtime == "tf1.15":
        return {"names": (NAMED, BY_NAMES), "warm": (WARM, STARTED)}
    found = {
        name: (one, (one / "after.py").read_text(encoding="utf-8"))
        for name, one in (("names", NAMED), ("warm", WARM))
    }
    if runtime == "tf2.15":
        for name, pairs in MUTANTS.items():
            found[name] = (NAMED, changed(found["names"][1], *pairs))
    return found


def digest(runtime: str) -> str:
    """Of the programs, what they begin with, and the TensorFlow."""
    texts = []
    for name, (fixture, text) in on(runtime).items():
        files = sorted((fixture / "earlier").iterdir())
        texts += [name, text, *(path.read_bytes().hex() for path in files)]
    return recorded.digest(runtime, *texts)


def check(expected: dict[str, list[float]], found: dict[str, list[float]]) -> None:
    """Migrated programs print what 1.15's did, and mutants do not."""
    for name in found:
        if name in MUTANTS:
            assert found[name] != pytest.approx(expected["names"], abs=2e-2), name
        else:
            assert found[name] == pytest.approx(expected[name], abs=2e-3), name


def numbers_of_tf1(known: dict[str, Any], folder: Path) -> dict[str, list[float]]:
    """What 1.15's programs print; they run where they are not those that are recorded."""
    if known.get("tf1.15") == digest("tf1.15"):
        return dict(known["printed"])
    expected = outputs("tf1.15", folder, on("tf1.15"))
    assert {len(numbers) for numbers in expected.values()} == {3 * 48 + 2}
    return expected


def test_what_is_recorded_is_of_these_programs() -> None:
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    of_today = {runtime: digest(runtime) for runtime in ("tf1.15", *NEW)}
    again = "python -m tests.models.keras.test_first_values"
    assert {name: known[name] for name in of_today} == of_today, f"record them again: {again}"


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NEW)
def test_they_begin_and_train_as_on_1_15(name: str, tmp_path: Path) -> None:
    """One on each, and all where they are not those that were seen to do so."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    programs = on(name)
    if known.get(name) == digest(name):
        live = {"tf2.15": "names", "tf2-latest": "warm"}
        programs = {live[name]: programs[live[name]]}
    check(numbers_of_tf1(known, tmp_path), outputs(name, tmp_path, programs))


def record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        expected = numbers_of_tf1({}, Path(folder))
        for name in NEW:
            check(expected, outputs(name, Path(folder), on(name)))
    digests = {name: digest(name) for name in ("tf1.15", *NEW)}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in digests.items()]
    lines.append('"printed": ' + json.dumps(expected))
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
