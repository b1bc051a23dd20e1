"""Which files a run looks at; `.gitignore` files mean what they mean to git."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from migrate_mgpu.run import files
from migrate_mgpu.run.files import Unread, discover


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("pass\n")
    return folder


def found(folder: Path, *paths: str, exclude: Sequence[str] = (), root: str = ".") -> list[str]:
    """The files of a run over a folder (or paths in it), relative to the folder."""
    given_paths = [str(folder / path) for path in paths] or [str(folder)]
    members, unread = discover(given_paths, exclude, str(folder / root))
    assert not unread
    return [Path(os.path.relpath(member, folder)).as_posix() for member in members]


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


# -- what is taken ------------------------------------------------------------


def test_python_files_of_a_folder_in_a_stable_order(tmp_path: Path) -> None:
    make(
        tmp_path,
        "b.py",
        "a.py",
        "gui.pyw",
        "note.ipynb",
        "note.txt",
        "pkg/z.py",
        "pkg/sub/y.py",
        "data.pyc",
    )
    assert found(tmp_path) == ["a.py", "b.py", "gui.pyw", "note.ipynb", "pkg/z.py", "pkg/sub/y.py"]


def test_names_stay_as_they_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make(tmp_path, "src/a.py"))
    assert discover(["src"])[0] == ["src/a.py"]
    assert discover(["./src"])[0] == ["./src/a.py"]
    assert discover(["."])[0] == ["./src/a.py"]
    assert discover(["../" + tmp_path.name])[0] == [f"../{tmp_path.name}/src/a.py"]


@pytest.mark.parametrize(
    "left_out",
    [".hidden/a.py", "node_modules/a.py", "__pycache__/a.py", "build/a.py", "x/site-packages/a.py"],
)
def test_folders_of_other_peoples_code(tmp_path: Path, left_out: str) -> None:
    make(tmp_path, "a.py", left_out)
    assert found(tmp_path) == ["a.py"]
    # ... unless it is named.
    assert found(tmp_path, str(Path(left_out).parent)) == [left_out]


@pytest.mark.parametrize("sign", ["pyvenv.cfg", "conda-meta/history"])
def test_virtual_environments_under_any_name(tmp_path: Path, sign: str) -> None:
    make(tmp_path, "a.py", "my_env/lib/b.py", f"my_env/{sign}")
    assert found(tmp_path) == ["a.py"]


def test_a_named_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    make(tmp_path, "train", ".gitignore", ".hidden.py")
    (tmp_path / ".gitignore").write_text("train\n")
    repository(tmp_path)
    assert found(tmp_path, "train", ".hidden.py") == ["train", ".hidden.py"]


def test_a_folder_with_the_name_of_a_file(tmp_path: Path) -> None:
    make(tmp_path, "x.py/a.py")
    assert found(tmp_path) == ["x.py/a.py"]
    assert found(tmp_path, "x.py") == ["x.py/a.py"]


# -- once each ----------------------------------------------------------------


def test_one_file_given_in_many_ways(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.py")
    (tmp_path / "link.py").symlink_to("pkg/a.py")
    (tmp_path / "folder_link").symlink_to("pkg")
    assert found(tmp_path, "pkg/a.py", "pkg", ".", "link.py", "folder_link") == ["pkg/a.py"]
    assert found(tmp_path, "link.py", "pkg/a.py") == ["link.py"]


def test_linked_folders_are_not_entered_but_linked_files_taken(tmp_path: Path) -> None:
    make(tmp_path, "outside/b.py", "outside/c.py")
    make(tmp_path, "project/a.py")
    (tmp_path / "project/linked").symlink_to("../outside")
    (tmp_path / "project/linked.py").symlink_to("../outside")
    (tmp_path / "project/c.py").symlink_to("../outside/c.py")
    (tmp_path / "project/self").symlink_to(".")
    assert found(tmp_path / "project") == ["a.py", "c.py"]


# -- what cannot be looked at -------------------------------------------------


def test_a_missing_path_does_not_stop_the_others(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    members, unread = discover([str(tmp_path / "gone.py"), str(tmp_path / "a.py")])
    assert members == [str(tmp_path / "a.py")]
    assert [(u.path, u.reason) for u in unread] == [
        (str(tmp_path / "gone.py"), "no such file or folder")
    ]


def test_a_folder_that_vanishes_while_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a/x.py", "b/y.py", "c/z.py")
    scandir = os.scandir

    def vanishing(path: str) -> object:
        if path.endswith("b"):
            (tmp_path / "b/y.py").unlink(missing_ok=True)
            (tmp_path / "b").rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    members, unread = discover([str(tmp_path)])
    assert members == [str(tmp_path / "a/x.py"), str(tmp_path / "c/z.py")]
    assert [(u.path, u.reason) for u in unread] == [
        (str(tmp_path / "b"), "No such file or directory")
    ]


def test_an_unreadable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/x.py", "b/y.py")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("a"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    members, unread = discover([str(tmp_path)])
    assert members == [str(tmp_path / "b/y.py")]
    assert [(u.path, u.reason) for u in unread] == [(str(tmp_path / "a"), "Permission denied")]


def test_reading_what_is_no_file(tmp_path: Path) -> None:
    fifo, door, loop, broken = (tmp_path / n for n in ("f.py", "s.py", "l.py", "b.py"))
    os.mkfifo(fifo)
    loop.symlink_to("l2.py")
    (tmp_path / "l2.py").symlink_to("l.py")
    broken.symlink_to("gone.py")
    reasons = {}
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # the names of sockets are short
        try:
            server.bind(door.name)
        finally:
            os.chdir(here)
        for path in (fifo, door, loop, broken, tmp_path, tmp_path / "none"):
            with pytest.raises(Unread) as caught:
                files.read(str(path))
            reasons[path.name] = caught.value.reason
    assert reasons == {
        "f.py": "is not a regular file",
        "s.py": "is not a regular file",
        "l.py": "is a broken link (l2.py)",
        "b.py": "is a broken link (gone.py)",
        tmp_path.name: "is not a regular file",
        "none": "No such file or directory",
    }


# -- --exclude ----------------------------------------------------------------


def test_exclude(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "gen/b.py", "sub/gen/c.py", "sub/d_pb2.py", "sub/e.py")
    assert found(tmp_path, exclude=["gen/"]) == ["a.py", "sub/d_pb2.py", "sub/e.py"]
    assert found(tmp_path, exclude=["/gen", "*_pb2.py"]) == ["a.py", "sub/e.py", "sub/gen/c.py"]
    assert found(tmp_path, exclude=["sub", "!sub/"]) == found(tmp_path)
    # A hook hands over files by name: they are excluded as well.
    assert found(tmp_path, "sub/gen/c.py", "a.py", exclude=["gen"]) == ["a.py"]
    assert found(tmp_path, "sub/gen", exclude=["gen"]) == []
    # Patterns start from the folder of the settings.
    assert found(tmp_path, exclude=["/gen"], root="sub") == [
        "a.py", "gen/b.py", "sub/d_pb2.py", "sub/e.py",
    ]  # fmt: skip


# -- .gitignore ---------------------------------------------------------------


def test_ignore_files_above_count_up_to_the_repository(tmp_path: Path) -> None:
    make(tmp_path, "repo/src/pkg/a.py", "repo/src/pkg/b.py", "repo/src/pkg/c.py")
    (tmp_path / ".gitignore").write_text("a.py\n")  # above the repository: not asked
    (tmp_path / "repo/.gitignore").write_text("/src/pkg/b.py\n")
    (tmp_path / "repo/src/.gitignore").write_text("c.py\n")
    assert found(tmp_path / "repo/src/pkg") == ["a.py", "b.py", "c.py"]
    repository(tmp_path / "repo")
    assert found(tmp_path / "repo/src/pkg") == ["a.py"]


def test_a_named_folder_counts_although_it_is_ignored(tmp_path: Path) -> None:
    repository(make(tmp_path, "out/a.py", "out/sub/b.py"))
    (tmp_path / ".gitignore").write_text("out\n")
    assert found(tmp_path) == []
    assert found(tmp_path, "out") == ["out/a.py", "out/sub/b.py"]
    assert found(tmp_path, "out/sub") == ["out/sub/b.py"]


def test_an_ignore_file_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    repository(make(tmp_path, "a.py"))
    os.mkfifo(tmp_path / ".gitignore")
    assert found(tmp_path) == ["a.py"]


_TREE = (
    "a.py", "b.py", "ab.py", "a b.py", "#a.py", "!a.py", "[a].py", "back\\slash.py", "é.py",
    "sub/a.py", "sub/b.py", "sub/deep/a.py", "sub/deep/c.py", "sub/deep/x.py/a.py",
    "other/sub/a.py", "other/a-b.py", "other/A.py", "foo/sub/bar/a.py", "foo/bar/a.py",
)  # fmt: skip


_TREES = 10  # that git is asked of at once: starting it takes longest


def git_keeps(folder: Path) -> list[str]:
    """What git does not ignore, of the Python files below a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=folder, check=True, capture_output=True,
    ).stdout.decode()  # fmt: skip
    return sorted(name for name in listed.split("\0") if name.endswith(".py"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    return make(folder, *(f"{number}/{name}" for number in range(_TREES) for name in _TREE))


_PIECES = st.sampled_from(
    ["a", "b", ".py", "*", "?", "**", "/", "/", "sub", "deep", "foo", "bar", "[ab]", "[!a]",
     "[^b]", "[a-c]", "[", "]", "[]a]", "[[:alpha:]]", "[[:nope:]]", "[:", ":]", "\\", "\\*", "!",
     "#", " ", "\\ ", "**/", "/**", "a.py", "*.py", "é", "-", "\r"]
)  # fmt: skip
_PATTERN = st.builds(
    lambda sign, pieces, end: sign + "".join(pieces) + end,
    st.sampled_from(["", "", "!", "/"]),
    st.lists(_PIECES, min_size=1, max_size=5),
    st.sampled_from(["", "", "/", ".py"]),
)
_FILE = st.lists(_PATTERN, max_size=4)


_EXAMPLES = [
    (["*", "!*/", "!a.py"], []),
    (["a.py"], ["!a.py"]),
    (["sub/", "!sub/a.py"], []),
    (["sub/**", "!sub/deep", "**/x.py/"], []),
    (["foo/**/bar", "/*.py", "# a.py", "\\#a.py", "\\!a.py", "a\\ b.py  "], []),
    ([], ["**/\r\r"]),
    (["[[]a].py", "back\\\\slash.py", "*/a.py"], ["/deep/*.py"]),
    (["[a-[[:alpha:]].py"], ["[b-a]", "[!c-a].py"]),  # ranges without members
    (["[a-b-z].py", "[\\#-\\a].py", "[[:a]*.py"], ["[[:a-]*.py", "[:]a].py", "[-a].py"]),
]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(_FILE, _FILE), min_size=_TREES, max_size=_TREES))
@example(_EXAMPLES)
def test_patterns_mean_what_they_mean_to_git(
    tree: Path, pairs: list[tuple[list[str], list[str]]]
) -> None:
    """``pairs`` are the lines of two .gitignore files, of a tree and of a folder in it."""
    for number, (top, sub) in enumerate(pairs):
        (tree / f"{number}/.gitignore").write_bytes("\n".join(top).encode())
        (tree / f"{number}/sub/.gitignore").write_bytes("\n".join(sub).encode())
    assert sorted(found(tree)) == git_keeps(tree)


@pytest.mark.parametrize("inside", ["", "lib", "models"])
def test_what_git_tracks_is_not_ignored(tmp_path: Path, inside: str) -> None:
    """`git add -f`, or a pattern that came later: such files are the project's all the same."""
    make(tmp_path, "train.py", "lib/ops.py", "lib/made.py", "models/net.py", "models/sub/net.py")
    (tmp_path / ".gitignore").write_text("lib/\nnet.py\n")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    forced = ["git", "add", "-f", "lib/ops.py", "models/sub/net.py"]
    subprocess.run(forced, cwd=tmp_path, check=True)
    taken = {"train.py", "lib/ops.py", "models/sub/net.py"}
    wanted = {name for name in taken if name.startswith(inside)}
    # A folder that is named is searched although a pattern is about it.
    wanted |= {"lib/made.py"} if inside == "lib" else set()
    names, _ = files.discover([str(tmp_path / inside)])
    assert {Path(name).relative_to(tmp_path).as_posix() for name in names} == wanted
