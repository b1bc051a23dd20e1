"""Runtimes: made whole or not at all, found again, and errors that say what to do.

Making a real one takes a download; here the recipe is the running Python and a wheel
made on the spot. The real ones are made by the ``runtime`` fixture.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from migrate_mgpu import INSTALL, runtimes, runtimes_command
from migrate_mgpu.runtimes import Recipe, RuntimeUnavailable

THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def wheel(folder: Path, name: str, version: str) -> str:
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
    return str(path)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """One known runtime, ``small``: this Python and a wheel that calls itself tensorflow."""
    requirement = wheel(tmp_path, "tensorflow", "9.9.9")
    recipes = {"small": Recipe((THIS_PYTHON,), (requirement,), "a test")}
    monkeypatch.setattr(runtimes, "known", lambda: recipes)
    # What other tests asked for in this process is none of its recipes.
    monkeypatch.setattr(runtimes, "_EXTENDED", {})
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "runtimes"))
    return recipes


@pytest.mark.external
def test_create_find_describe_remove(small):
    assert runtimes.find("small") is None
    made = runtimes.create("small")
    assert made.name == "small" and made.python.is_file()
    assert runtimes.find("small") == made == runtimes.ensure("small")
    assert runtimes.describe(made) == {
        "python": ".".join(map(str, sys.version_info[:3])),
        "tensorflow": "9.9.9",
    }
    assert runtimes.remove("small") is True
    assert runtimes.remove("small") is False
    assert runtimes.find("small") is None


@pytest.mark.external
def test_interrupted_creation_does_not_count(small, monkeypatch):
    def interrupt(name, command, progress):
        if "install" in command:
            raise KeyboardInterrupt
        real(name, command, progress)

    real = runtimes._run_uv
    monkeypatch.setattr(runtimes, "_run_uv", interrupt)
    with pytest.raises(KeyboardInterrupt):
        runtimes.create("small")
    assert not (runtimes.folder() / "small").exists()
    # A process killed outright cannot clean up: what it leaves has no stamp.
    made = runtimes.folder() / "small" / "bin"
    made.mkdir(parents=True)
    assert runtimes.find("small") is None


@pytest.mark.external
def test_another_pin_is_made_anew(small, tmp_path):
    runtimes.create("small")
    small["small"] = Recipe((THIS_PYTHON,), (wheel(tmp_path, "tensorflow", "9.9.10"),), "")
    assert runtimes.find("small") is None
    assert runtimes.describe(runtimes.ensure("small"))["tensorflow"] == "9.9.10"


@pytest.mark.external
def test_broken_runtime_says_how_to_mend_it(small):
    made = runtimes.create("small")
    made.python.unlink()
    with pytest.raises(RuntimeUnavailable, match="migrate-mgpu runtimes create small"):
        runtimes.find("small")
    with pytest.raises(RuntimeUnavailable, match="does not run"):
        runtimes.describe(made)
    assert runtimes.describe(runtimes.ensure("small"))["tensorflow"] == "9.9.9"


@pytest.mark.external
def test_made_once_by_many_at_once(small, monkeypatch):
    real, calls = runtimes._run_uv, []
    monkeypatch.setattr(runtimes, "_run_uv", lambda n, c, p: (calls.append(c[1]), real(n, c, p)))
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(runtimes.ensure, ["small"] * 4))
    assert len(set(made)) == 1
    assert calls == ["venv", "pip"]


@pytest.mark.external
def test_it_says_what_is_made(small):
    said = io.StringIO()
    runtimes.ensure("small", said)
    first, *more = said.getvalue().splitlines()
    assert first.startswith("making the runtime small (a test), once: ")
    assert first.endswith(f"; about 1.5 GB in {runtimes.folder() / 'small'}")
    assert any("Installed 1 package" in line for line in more)
    assert not any("tensorflow==9.9.9" in line for line in more), "the list of all packages"
    said = io.StringIO()
    runtimes.ensure("small", said)
    assert said.getvalue() == "", "it is there"


@pytest.mark.external
def test_what_cannot_be_made_ends_with_one_command(small):
    small["small"] = Recipe((THIS_PYTHON,), ("no-such-package-of-this-name",), "a test")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_OFFLINE", "1")
        with pytest.raises(RuntimeUnavailable) as caught:
            runtimes.ensure("small")
    assert "cannot be reached" in str(caught.value)
    assert str(caught.value).endswith("\nwhen that is fixed: migrate-mgpu runtimes create small")


@pytest.mark.external
def test_all_that_are_missing_in_one_command(small, tmp_path):
    assert runtimes.missing(["small", sys.executable]) == (
        "small is not installed; to create it: migrate-mgpu runtimes create small"
    )
    small["other"] = small["small"]
    assert runtimes.missing(["small", "other", "small"]) == (
        "small and other are not installed; to create them: "
        "migrate-mgpu runtimes create small other"
    )
    runtimes.create("small")
    assert runtimes.missing(["small"]) is None


@pytest.mark.external
def test_no_such_python(small, monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    small["small"] = Recipe(("3.99",), ("x",), "")
    with pytest.raises(RuntimeUnavailable, match=r"no Python 3\.99 was found .* uv python install"):
        runtimes.create("small")


@pytest.mark.external
def test_no_such_package(small, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    small["small"] = Recipe((THIS_PYTHON,), ("no-such-package-of-this-name",), "")
    with pytest.raises(RuntimeUnavailable):
        runtimes.create("small")
    assert not (runtimes.folder() / "small").exists()


def test_full_disk(small, monkeypatch):
    def full(name, command, progress):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runtimes, "_run_uv", full)
    with pytest.raises(RuntimeUnavailable, match=r"the disk is full: .*\(MIGRATE_MGPU_RUNTIMES"):
        runtimes.create("small")
    assert not (runtimes.folder() / "small").exists()


def test_uv_missing(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setattr(runtimes.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeUnavailable, match=re.escape(INSTALL)):
        runtimes.create("small")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("error: No space left on device (os error 28)", "the disk is full"),
        ("dns error: failed to lookup address information", "cannot be reached"),
        ("tcp connect error: Connection refused", "cannot be reached"),
        ("invalid peer certificate: UnknownIssuer", "cannot be reached"),
        ("tensorflow==1.15.5 has no wheels with a matching platform tag", "no packages of it"),
        ("Packages were unavailable because the network was disabled.", "cannot be reached"),
        ("something new", "uv failed"),
    ],
)
def test_errors_say_what_to_do(error, advice):
    assert advice in runtimes._explain(error, "tf1.15")


def test_any_interpreter_by_path(tmp_path):
    found = runtimes.find(sys.executable)
    assert found is not None and found.python == Path(sys.executable)
    assert runtimes.ensure(sys.executable) == found
    with pytest.raises(RuntimeUnavailable, match=r"neither an interpreter nor one of tf1\.15"):
        runtimes.find(tmp_path / "python")
    with pytest.raises(RuntimeUnavailable):
        runtimes.remove(sys.executable)


def test_pins():
    assert "tensorflow==1.15.5" in runtimes.known()["tf1.15"].requirements
    assert runtimes.known()["tf2-latest"].requirements[0].endswith(runtimes.NEWEST_TENSORFLOW)


@pytest.mark.parametrize("name", ["tf1.15", "tf2.15", "tf2-latest"])
def test_real_runtimes(runtime, name):
    versions = runtimes.describe(runtime(name))
    expected = {"tf1.15": "1.15.5", "tf2.15": "2.15.1", "tf2-latest": runtimes.NEWEST_TENSORFLOW}
    assert versions["tensorflow"] == expected[name]
    assert versions["python"].startswith("3.")


@pytest.mark.external
def test_command(small):
    def run(*argv):
        out, err = io.StringIO(), io.StringIO()
        return runtimes_command.command(argv, out, err), out.getvalue(), err.getvalue()

    assert run("list")[0] == 0 and "small" in run("list")[1] and "not made" in run("list")[1]
    code, out, err = run("create", "small")
    assert code == 0 and "tensorflow 9.9.9" in out
    assert "making the runtime small (a test), once: " in err
    assert "tensorflow 9.9.9" in run("list")[1]
    assert re.search(r"small .* \(\d+ MB\)\n", run("list")[1]), "its size"
    assert run("remove", "small")[:2] == (0, "small: removed\n")
    run("create", "small")
    assert run("remove", "--all")[:2] == (0, "small: removed\n")
    assert run("remove", "small")[:2] == (0, "small: there was none\n")
    assert run("create", "other")[0] == 2
    code, out, err = run("remove", "smal")
    assert (code, err) == (2, "smal: not one of small; did you mean `small`?\n")
    assert run("remove")[0] == 2
    assert run()[:2] == run("list")[:2]
    assert run("--help")[0] == 0
    small["small"] = Recipe(("3.99",), ("x",), "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_PYTHON_DOWNLOADS", "never")
        code, _, err = run("create", "small")
    assert code == 8 and "no Python 3.99" in err


@pytest.mark.external
def test_packages_beside_tensorflow(small, tmp_path):
    more = wheel(tmp_path, "pandas", "1.0")
    name = runtimes.extended("small", [more])
    assert re.fullmatch(r"small\+[0-9a-f]{10}", name) and runtimes.find(name) is None
    assert runtimes.missing([name]) == (
        f"{name} is not installed; to create it: migrate-mgpu runtimes create small --with {more}"
    )
    made = runtimes.ensure(name)
    answer = subprocess.run([made.python, "-c", "import pandas, tensorflow"], capture_output=True)
    assert answer.returncode == 0, answer.stderr
    runtimes._EXTENDED.clear()  # as in another process: the folder says what it is
    assert runtimes.find(name) == made
    assert runtimes.recipes()[name].purpose == f"small with {more}"
    assert runtimes.remove(name) and name not in runtimes.recipes()
    assert runtimes.extended("small", []) == "small"
    assert runtimes.extended("small", ["b==1", "a"]) == "small+a+b==1"
    with pytest.raises(RuntimeUnavailable, match="install a into this one yourself"):
        runtimes.extended(sys.executable, ["a"])


def test_requirement_files(tmp_path):
    (tmp_path / "base.txt").write_text("tensorflow-gpu==1.15.0\nscikit-learn[x]>=0.20,<1  # why\n")
    (tmp_path / "all.txt").write_text("-r base.txt\n--no-index\n\nnumpy==1.16.4 \\\n  ; x\n-e .\n")
    found = runtimes.required(tmp_path / "all.txt")
    assert found == ["scikit-learn[x]>=0.20,<1", "numpy==1.16.4    ; x"]
    assert [runtimes.unpinned(one) for one in found] == ["scikit-learn[x]", "numpy"]
    with pytest.raises(RuntimeUnavailable, match="cannot be read"):
        runtimes.required(tmp_path / "none.txt")


def test_import_is_light():
    code = "import sys, migrate_mgpu.runtimes as r; print('platformdirs' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "False", answer.stderr
