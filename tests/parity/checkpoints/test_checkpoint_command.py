"""What is said before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.parity import conversion
from tests.support.parity import convert as run


@pytest.fixture
def programs(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "old.py", tmp_path / "new.py"]
    for program in found:
        program.write_text("")
    return found


def saved(folder: Path, *names: str, latest: str = "") -> Path:
    folder.mkdir()
    for name in names:
        for ending in (".index", ".data-00000-of-00001", ".meta"):
            (folder / (name + ending)).write_text("")
    if latest:
        (folder / "checkpoint").write_text(
            f'model_checkpoint_path: "{latest}"\nall_model_checkpoint_paths: "{latest}"\n'
        )
    return folder


def test_the_latest_is_taken(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", "model.ckpt-5", "model.ckpt-10", latest="model.ckpt-10")
    assert conversion.find(folder) == folder / "model.ckpt-10"
    assert conversion.find(folder / "model.ckpt-5") == folder / "model.ckpt-5"
    assert conversion.find(folder / "model.ckpt-5.index") == folder / "model.ckpt-5"
    assert conversion.find(folder / "model.ckpt-5.meta") == folder / "model.ckpt-5"
    names = [path.name for path in conversion.files_of(folder / "model.ckpt-10")]
    assert names == ["model.ckpt-10.data-00000-of-00001", "model.ckpt-10.index"]
    assert len(conversion.files_of(folder / "model.ckpt-1")) == 0


def test_a_folder_that_was_moved_names_its_old_place(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", "model.ckpt-5", latest="/elsewhere/m/model.ckpt-5")
    assert conversion.find(folder) == folder / "model.ckpt-5"


@pytest.mark.parametrize(
    ("names", "latest", "said"),
    [
        ((), "", "no checkpoint in this folder"),
        (("a", "b"), "", "and several: name "),
        (("a",), "model.ckpt-7", "names model.ckpt-7, which is not there; there are "),
    ],
)
def test_folders_that_do_not_say_which(tmp_path: Path, programs, names, latest, said) -> None:
    folder = saved(tmp_path / "m", *names, latest=latest)
    status, out, err = run(*programs, "--from", folder, "--to", tmp_path / "n")
    assert (status, out) == (2, "") and said in err and str(folder) in err


def test_checkpoints_below_are_named(tmp_path: Path, programs) -> None:
    (tmp_path / "runs").mkdir()
    below = saved(tmp_path / "runs" / "1", "model.ckpt-5")
    status, _, err = run(*programs, "--from", tmp_path / "runs", "--to", tmp_path / "n")
    assert status == 2 and f"there are some in {below}" in err


def test_wrong_usage(tmp_path: Path, programs) -> None:
    folder = saved(tmp_path / "m", "model.ckpt-5", latest="model.ckpt-5")
    full = saved(tmp_path / "full", "x")
    good = (*programs, "--from", folder)
    for argv, said in (
        ((tmp_path / "no.py", *good[1:], "--to", tmp_path / "n"), "no.py: no such program"),
        ((*good, "--to", full), "there is something already"),
        ((*programs, "--from", tmp_path / "x" / "y", "--to", full), "there is no such folder"),
        ((*programs, "--from", tmp_path / "x", "--to", tmp_path / "n"), "neither a folder nor"),
        ((*good, "--to", tmp_path / "n", "--pair", "a"), "give NEW=OLD"),
        ((*good, "--to", tmp_path / "n", "--devices", "0"), "at least one"),
        (good, "--to"),
    ):
        status, out, err = run(*argv)
        assert (status, out) == (2, "") and said in err, argv
    assert run("--help")[0] == 0


def test_what_is_refused_is_listed_on_both_sides() -> None:
    data = {
        "problems": ["w has the shape [2], w of the checkpoint [3]"],
        "lacking": [("p", ["u", "v"]), ("q", [])],
        "left": ["u", "v"],
        "shapes": {"u": [2], "v": [2]},
    }
    text = conversion.refusal(conversion.Result("refused", data, (), ""))
    assert (
        text
        == """\
w has the shape [2], w of the checkpoint [3]
variables of the new program without a partner:
  p (of its shape: u, v)
  q
tensors of the checkpoint without a partner:
  u [2]
  v [2]
`--pair NEW=OLD` names a partner
`--skip PATTERN` leaves tensors of TF1's out
"""
    )
    # A saver's names are the program's own: nothing can be paired.
    text = conversion.refusal(conversion.Result("refused", {**data, "named": True}, (), ""))
    assert "--pair" not in text and "--skip" not in text


def test_files_that_keras_wrote(programs: list[Path], tmp_path: Path) -> None:
    old = tmp_path / "old.h5"
    begin = (*programs, "--from", old, "--to")
    status, _, err = run(*begin, tmp_path / "new.h5")
    assert (status, err) == (2, f"--from {old}: no such file\n")
    old.write_text("")
    status, _, err = run(*begin, tmp_path / "new")
    assert status == 2 and "Keras's weights go into a file, called .h5 or .weights.h5" in err
    status, _, err = run(*begin, tmp_path / "new.h5", "--to-tf1")
    assert status == 2 and "--to-tf1 is for checkpoints" in err
    status, _, err = run(*begin, old)
    assert (status, err) == (2, f"--to {old}: it is there already\n")
