"""What the extras bring, and what the environment that they make can run."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from migrate_mgpu import INSTALL_TENSORFLOW, runtimes, runtimes_command

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import peers  # noqa: E402

PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")


def tensorflow_of(extra: str, **environment: str) -> list[str]:
    """The requirements of TensorFlow that apply, those of extras that the extra names too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    for text in project["optional-dependencies"][extra]:
        wanted = Requirement(text)
        if wanted.marker and not wanted.marker.evaluate(environment):
            continue
        if wanted.name == project["name"]:
            for inner in wanted.extras:
                found += tensorflow_of(inner, **environment)
        elif wanted.name.startswith("tensorflow"):
            found.append(f"{wanted.name}{wanted.specifier}")
    return found


@pytest.mark.parametrize("python", PYTHONS)
def test_parity_brings_the_tensorflow_of_its_python(python):
    linux = {"python_version": python, "sys_platform": "linux", "platform_machine": "x86_64"}
    wanted = ["tensorflow==2.15.1"] if python in PYTHONS[:3] else ["tensorflow>=2.16"]
    assert tensorflow_of("parity", **linux) == wanted
    # There is none for Intel's Macs after 3.12: the extra must install all the same.
    intel = {**linux, "sys_platform": "darwin"}
    assert tensorflow_of("parity", **intel) == ([] if python == "3.13" else wanted)
    assert tensorflow_of("parity", **{**intel, "platform_machine": "arm64"}) == wanted
    for light in ("test", "runtimes", "lint"):
        assert tensorflow_of(light, **linux) == []


@pytest.fixture(scope="module")
def resolved():
    """What the extra resolves to, for all Pythons and machines at once, with the index's
    metadata alone: nothing is downloaded, the Pythons neither."""
    command = [runtimes._uv(), "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--no-python-downloads", "--universal", "--python-version", PYTHONS[0]]
    command += ["--extra", "parity", str(ROOT / "pyproject.toml")]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.external
@pytest.mark.parametrize("python", PYTHONS)
def test_parity_resolves(resolved, python):
    if resolved.returncode and "No solution" not in resolved.stderr:
        pytest.skip(f"the package index cannot be asked: {resolved.stderr.strip()[:200]}")
    assert resolved.returncode == 0, resolved.stderr
    linux = {"python_version": python, "python_full_version": f"{python}.1"}
    linux |= {"sys_platform": "linux", "platform_machine": "x86_64", "platform_system": "Linux"}
    wanted = [Requirement(line) for line in resolved.stdout.splitlines() if "==" in line]
    found = {
        one.name: str(one.specifier).removeprefix("==")
        for one in wanted
        if one.marker is None or one.marker.evaluate(linux)
    }
    both = python in PYTHONS[:3]
    assert (found["tensorflow"] == "2.15.1") == both
    assert ("tensorflow-estimator" in found) == both
    assert "numpy" in found and "uv" in found


# What the environment of this tool can do --------------------------------------------------------


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """``environment("2.15.1")``: as if this TensorFlow were installed beside the tool, and
    no runtime had been made."""

    def install(version: str | None) -> None:
        (tmp_path / "bin").mkdir(exist_ok=True)
        site = tmp_path / "site"
        site.mkdir(exist_ok=True)
        if version is not None:
            (site / f"tensorflow-{version}.dist-info").mkdir()
        python = tmp_path / "bin" / "python"
        code = f'import sys; sys.path.insert(0, "{site}"); exec(sys.argv.pop())'
        python.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$2\"\n")
        python.chmod(0o755)
        monkeypatch.setattr(runtimes.sys, "executable", str(python))
        monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "runtimes"))

    return install


@pytest.mark.parametrize(
    ("version", "reference", "target", "text"),
    [
        ("2.15.1", "this-environment", "this-environment", "runs programs that say compat.v1"),
        ("2.21.0", "tf2.15", "this-environment", "runs new programs, and bridges; no Est"),
        (None, "tf2.15", "tf2.15", f"to have one, {INSTALL_TENSORFLOW}"),
    ],
)
def test_without_a_runtime_this_environment_serves(environment, version, reference, target, text):
    environment(version)
    assert runtimes.for_reference(compat_v1=True) == reference
    assert runtimes.for_target() == target
    # TensorFlow 2 does not run TF1 code: its reference is 1.15, which is to be made.
    assert runtimes.for_reference(compat_v1=False) == "tf1.15"
    stdout = io.StringIO()
    assert runtimes_command.command(["list"], stdout, stdout) == 0
    (line,) = [one for one in stdout.getvalue().splitlines() if "this-environment" in one]
    assert text in line
    if version is None:
        with pytest.raises(runtimes.RuntimeUnavailable, match="there is no TensorFlow in it"):
            runtimes.find("this-environment")
    else:
        assert f"tensorflow {version}" in line
        assert runtimes.find("this-environment").python == Path(sys.executable)


def test_a_runtime_that_was_made_comes_first(environment, monkeypatch):
    environment("2.15.1")
    made = runtimes.Runtime("tf1.15", Path("python"))
    monkeypatch.setattr(runtimes, "find", lambda name: made if name == "tf1.15" else None)
    assert runtimes.for_reference(compat_v1=True) == "tf1.15"
    assert runtimes.for_target() == "this-environment"


@pytest.mark.external
def test_wheels_hold_what_is_read_at_run_time(tmp_path):
    """The schema, and the probe's modules, are in an installed package too."""
    copy = peers.package_sources(tmp_path / "copy")  # a build leaves files in its sources
    command = [runtimes._uv(), "build", "--wheel", "--quiet", "--out-dir", str(tmp_path), str(copy)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    without = ("Failed to fetch", "network was disabled")
    if answer.returncode and any(text in answer.stderr for text in without):
        pytest.skip(f"no network: {answer.stderr.strip()[:200]}")
    assert answer.returncode == 0, answer.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    folder = ROOT / "migrate_mgpu" / "parity" / "probe"
    wanted = {f"migrate_mgpu/parity/probe/{path.name}" for path in folder.glob("*.py")}
    assert wanted | {"migrate_mgpu/parity/result.schema.json"} <= names


def test_every_package_is_installed() -> None:
    """The tests run on an editable install, which has all folders; a user's has those listed."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    listed = set(setuptools["setuptools"]["packages"])
    folders = {
        ".".join(file.parent.relative_to(ROOT).parts)
        for file in (ROOT / "migrate_mgpu").rglob("__init__.py")
    }
    rewriters = {
        ".".join(("migrate_mgpu", *file.parent.relative_to(ROOT).parts))
        for file in (ROOT / "rewriters").rglob("__init__.py")
    }
    assert listed == folders | rewriters
