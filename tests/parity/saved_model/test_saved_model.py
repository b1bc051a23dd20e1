"""Exported models, compared by what they take and answer."""

from __future__ import annotations

import json
import struct
from importlib import resources
from pathlib import Path

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.parity.compare import saved_model as compared
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import saved_model
from migrate_mgpu.parity.runs.saved_model import Answers, NoSavedModel, SavedModel, Signature
from migrate_mgpu.parity.runs.supervise import Limits
from tests.parity.saved_model import exporters
from tests.support import servers
from tests.support.parity import run

numpy = pytest.importorskip("numpy")

X = numpy.array([[0.5, -1, 2, 0.25], [1, 0, 0, 3], [-2, 1.5, 0.125, 0]])


# Without TensorFlow ------------------------------------------------------------------------------


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value


def model_of(folder: Path, version: str) -> Path:
    """A folder with as much of a SavedModel as is read outside of a runtime."""
    info = b"\x08\x01" + field(4, b"serve") + field(5, version.encode())
    graph = field(3, b"x" * 20) + field(1, info)
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"\x08\x01" + field(2, graph))
    return folder


@pytest.mark.parametrize(
    ("version", "fits"),
    [("1.4.0", "tf1.15"), ("1.15.5", "tf1.15"), ("2.3.0", "tf2.15"), ("2.15.1", "tf2.15"),
     ("2.16.1", "tf2-latest"), ("2.21.0", "tf2-latest"), ("", "tf1.15")],
)  # fmt: skip
def test_what_wrote_it_says_what_loads_it(tmp_path, version, fits):
    found = saved_model.find(model_of(tmp_path / "m", version))
    assert (found.version, found.runtime) == (version, fits)


def test_the_latest_export_of_a_folder_is_taken(tmp_path):
    for name in ("99", "100", "temp-101"):
        model_of(tmp_path / "export" / name, "1.15.5")
    assert saved_model.find(tmp_path / "export").folder.name == "100"
    text = 'meta_info_def {\n  tensorflow_version: "1.13.1"\n}\n'
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "saved_model.pbtxt").write_text(text)
    assert saved_model.find(tmp_path / "t").version == "1.13.1"
    (tmp_path / "t" / "saved_model.pb").write_bytes(b"\xff\xff\xff")
    assert saved_model.find(tmp_path / "t").version == ""


def test_inputs_are_read_without_running_code(tmp_path):
    path = tmp_path / "in.npz"
    # An Example often ends in zeros, which NumPy's own strings lose.
    texts = numpy.array([b"a\x00", b""], object)
    numpy.savez(path, texts=texts, words=numpy.array(["\xfc"]), x=X, **{"predict/x": X[:1]})
    found = saved_model.read_inputs(path)
    assert list(found) == ["texts", "words", "x", "predict/x"]
    assert found["texts"].tolist() == [b"a\x00", b""]
    assert found["words"].tolist() == ["\xfc".encode()]
    assert (found["x"] == X).all() and found["predict/x"].shape == (1, 4)

    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    numpy.savez(path, x=numpy.array([Evil()], object))
    with pytest.raises(NoSavedModel, match="neither numbers nor strings"):
        saved_model.read_inputs(path)
    assert not (tmp_path / "ran").exists()
    numpy.savez(path, x=numpy.array([b"a", 1], object))
    with pytest.raises(NoSavedModel, match="x has ints in it"):
        saved_model.read_inputs(path)
    numpy.savez(path, x=numpy.zeros(2, "datetime64[s]"))
    with pytest.raises(NoSavedModel, match="neither numbers nor strings"):
        saved_model.read_inputs(path)
    path.write_bytes(b"PK")
    with pytest.raises(NoSavedModel, match=r"not a file that numpy\.savez writes"):
        saved_model.read_inputs(path)


def test_wrong_usage(tmp_path):
    model = model_of(tmp_path / "m", "1.15.5")
    numpy.savez(tmp_path / "in.npz", x=X)
    good = ("--saved-model", model, model, "--inputs", tmp_path / "in.npz")
    for argv, said in (
        (good[:3], "needs --inputs"),
        (("--inputs", "x", "a.py"), "are for --saved-model"),
        ((*good, "--steps", "3"), "leave out --steps"),
        ((*good, "--with", "pandas"), "leave out --with"),
        (("a.py", *good), "leave out a program"),
        ((*good, "--", "x"), "runs no program"),
        ((*good[:2], tmp_path / "in.npz", *good[3:]), "a file; a SavedModel is a folder"),
        ((*good[:2], tmp_path, *good[3:]), "no saved_model.pb in it"),
        ((*good[:4], tmp_path / "no.npz"), "no such file"),
    ):
        status, out, err = run(*argv)
        assert (status, out) == (2, "") and said in err, argv


def answers(**more) -> Answers:
    tensors = {"dtype": "float32", "shape": [None, 4]}
    about = {"p": {"dtype": "float32", "shape": [None, 2]}, "t": {"dtype": "string", "shape": None}}
    values = {"p": numpy.array([[0.5, 0.25]]), "t": numpy.array([b"a"], object)}
    given = {"method": "predict", "inputs": {"x": tensors}, "outputs": about, "answers": values}
    signature = Signature(**{**given, **more})
    return Answers(SavedModel(Path("m"), ""), "tf1.15", {}, {"s": signature}, 0.0)


def judge(old: Answers, new: Answers, **options) -> tuple[str, str]:
    return compared.compare(old, new, (), Tolerances(**options))[:2]


def shaped(shape) -> Answers:
    return answers(inputs={"x": {"dtype": "float32", "shape": shape}})


def test_what_counts():
    equal, differs = ("equivalent", ""), "not equivalent"
    assert judge(answers(), answers()) == equal
    near = {"p": numpy.array([[0.5, 0.25001]]), "t": numpy.array([b"a"], object)}
    verdict, reason = judge(answers(), answers(answers=near))
    assert verdict == differs and reason == "s: s/p: [0,1]: 0.25 became 0.25001"
    assert judge(answers(), answers(answers=near), named_rtol={"s/p": 1e-4}) == equal
    other = {**near, "t": numpy.array([b"b"], object)}
    assert judge(answers(), answers(answers=other), rtol=1.0) == (
        differs, "s: s/t: [0]: b'a' became b'b' (1 of 1)"
    )  # fmt: skip
    # Whole numbers are equal or not, however large.
    large, larger = ({"p": numpy.array([2**60 + n])} for n in (0, 1))
    assert judge(answers(answers=large), answers(answers=large)) == equal
    assert judge(answers(answers=large), answers(answers=larger), rtol=1.0)[0] == differs
    # The new model takes what the old one took, and may take more.
    assert judge(shaped([None, 4]), shaped(None)) == equal
    assert judge(shaped([2, 4]), shaped([None, 4])) == equal
    for old, new in (([None, 4], [2, 4]), (None, [None]), ([None, 4], [None, 4, 1])):
        assert judge(shaped(old), shaped(new))[0] == differs
    assert judge(answers(), answers(method="classify"))[1] == "s: method: predict became classify"
    names = ("classify", "regress", "predict")
    old, regress, new = (answers(method=f"tensorflow/serving/{name}") for name in names)
    assert judge(old, new) == judge(regress, new) == equal  # TF2 writes no other
    assert judge(old, regress)[0] == judge(new, old)[0] == differs
    broken = answers(method="tensorflow/serving/predict", answers=near)
    assert judge(old, broken)[0] == differs
    told = compared.compare(old, new, (), Tolerances())[2][0].outputs[0]
    assert told.status == "not compared" and "by its predict API alone" in told.detail
    assert judge(answers(), answers(unanswered="it broke"))[1] == "s: answers: it broke"


def test_what_has_no_answer_is_no_pass():
    lacking = answers(unanswered="there is no array `x` for it")
    assert judge(lacking, lacking) == ("not compared", "s: there is no array `x` for it")
    broken = answers()
    broken.failure = "no"
    assert judge(broken, answers())[0] == "not compared"
    assert judge(answers(), broken)[0] == "not equivalent"
    nothing = answers()
    nothing.signatures = {}
    assert judge(nothing, nothing) == ("not compared", "the old model has no signature")
    assert judge(nothing, answers())[0] == "not compared"
    assert judge(answers(), nothing)[0] == "not equivalent"
    again = answers(again={"p": numpy.array([[0.5, 0.75]])})
    assert judge(again, answers()) == (
        "not comparable", "s: s/p: the old model answers the same inputs in two ways"
    )  # fmt: skip


# With TensorFlow ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported(runtime, tmp_path_factory) -> Path:
    """``tf1.15/estimator`` and others; ``in.npz``."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("tf1.15", "tf2.15", "tf2-latest"):
        text = exporters.TF1 if name == "tf1.15" else exporters.TF2
        servers.alone(runtime(name), text, folder / name)
    examples = [example(row) for row in X]
    assert examples[2].endswith(b"\x00")
    inputs = {"x": X, "d_input": X, "examples": numpy.array(examples, object)}
    numpy.savez(folder / "in.npz", **inputs)
    return folder


def example(row) -> bytes:
    """A tf.train.Example with the feature `x`."""
    floats = field(1, struct.pack("<4f", *row))
    feature = field(1, b"x") + field(2, field(2, floats))
    return field(1, field(1, feature))


EQUAL, WRONG, RANDOM = "equivalent", "not equivalent", "not comparable"
PAIRS = {
    ("tf1.15/estimator", "tf2-latest/good"): EQUAL,
    ("tf1.15/estimator", "tf2.15/good"): EQUAL,
    ("tf1.15/simple", "tf2.15/bridge"): EQUAL,
    ("tf1.15/simple", "tf2-latest/bridge"): EQUAL,
    ("tf1.15/keras", "tf2.15/keras"): EQUAL,
    ("tf1.15/keras", "tf2-latest/keras"): EQUAL,
    ("tf1.15/examples", "tf1.15/examples"): EQUAL,
    ("tf1.15/dropout", "tf1.15/dropout"): RANDOM,
    ("tf1.15/simple", "tf2.15/wrong"): (WRONG, "/p: [0,"),
    ("tf1.15/simple", "tf2-latest/typed"): (WRONG, "output c: int64 became int32"),
    ("tf1.15/simple", "tf2-latest/renamed"): (WRONG, "input x: missing"),
    ("tf1.15/simple", "tf2.15/narrow"): (WRONG, "input x: [?, 4] became [2, 4]"),
    ("tf1.15/simple", "tf2.15/fewer"): (WRONG, "output c: missing"),
    # Keras's own export names outputs by numbers.
    ("tf1.15/keras", "tf2-latest/exported"): (WRONG, "output d: missing"),
}


def test_models_of_all_kinds(exported, runtime, tmp_path, served):
    """One process for each TensorFlow."""
    names = sorted({name for pair in PAIRS for name in pair})
    models = [saved_model.find(exported / name) for name in names]
    assert [one.runtime for one in models] == [name.partition("/")[0] for name in names]
    rooms = [(one, runtimes.ensure(one.runtime)) for one in models]
    inputs = saved_model.read_inputs(exported / "in.npz")
    found = dict(zip(names, saved_model.ask(rooms, inputs, (), tmp_path, Limits())))
    assert [one.failure for one in found.values()] == [""] * len(names)
    for (old, new), wanted in PAIRS.items():
        verdict, reason = judge(found[old], found[new])
        if isinstance(wanted, tuple):
            assert (verdict, wanted[1] in reason) == (WRONG, True), (old, new, reason)
        else:
            assert verdict == wanted, (old, new, reason)


def test_the_command(exported, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    inputs = ("--inputs", exported / "in.npz", "--signature", "serving_default")
    both = ("--saved-model", exported / "tf2.15/bridge", exported / "tf2.15/wrong", *inputs)
    status, out, err = run(*both, "--json")
    result = json.loads(out)
    assert (status, err) == (1, "")
    text = resources.files("migrate_mgpu.parity").joinpath("saved_model.schema.json").read_text()
    jsonschema.validate(result, json.loads(text))
    needed = [one["needed"] for one in result["signatures"][0]["outputs"] if one["needed"]]
    assert max(needed) < 1e-3
    status, out, err = run(*both, "--rtol", "serving_default/p=1e-3", "--color", "never")
    lines = out.splitlines()
    assert (status, lines[1]) == (0, "EQUIVALENT"), out
    assert lines[3].startswith("  = serving_default                equal         largest relative")
    assert "written by TensorFlow 2.15.1, on tf2.15 (python 3." in lines[5]
    assert lines[-1].startswith("to repeat: migrate-mgpu parity --saved-model ")
    assert lines[-1].endswith("--signature serving_default --rtol serving_default/p=0.001")
