"""The interpreters that TensorFlow programs run in.

A program is compared on the TensorFlow that it was written for, and on the one that it
was migrated to; neither is in the environment of this tool. ``uv`` makes them, each in
``<user cache>/migrate-mgpu/runtimes/<name>`` (or ``$MIGRATE_MGPU_RUNTIMES/<name>``).

A runtime counts as there only when its stamp file is: it is written last, and names the
packages, so an interrupted creation or one of an older pin is made again.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from migrate_mgpu import INSTALL, INSTALL_TENSORFLOW

# The newest TensorFlow that the tests pass on. Raise it here, and nowhere else.
NEWEST_TENSORFLOW = "2.21.0"
_STAMP = "migrate-mgpu.json"
TF1, LAST_KERAS_2, NEWEST = "tf1.15", "tf2.15", "tf2-latest"
# The package that has Keras 2 beside the newest TensorFlow, and the variable that chooses it.
LEGACY_KERAS = f"tf-keras=={NEWEST_TENSORFLOW.rpartition('.')[0]}.*"
TAKES_LEGACY_KERAS = "TF_USE_LEGACY_KERAS"
CURRENT = "this-environment"  # that of this tool, when it has a TensorFlow


class RuntimeUnavailable(Exception):
    """A runtime is not there or cannot be made; the message says what to do."""


@dataclass(frozen=True)
class Runtime:
    """An interpreter: a known name, or its path as given, the executable, and the environment
    variables that programs have there."""

    name: str
    python: Path
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Recipe:
    """How to make a runtime: Python versions, the best first, and requirements."""

    pythons: tuple[str, ...]
    requirements: tuple[str, ...]
    purpose: str
    gigabytes: float = 1.5  # that it takes on the disk


def known() -> dict[str, Recipe]:
    """The runtimes that this tool can make, by name."""
    # There is no tensorflow-cpu for Apple's processors: the plain package is one.
    arm_mac = sys.platform == "darwin" and platform.machine() == "arm64"
    tensorflow = "tensorflow" if arm_mac else "tensorflow-cpu"
    return {
        "tf1.15": Recipe(("3.7",), ("tensorflow==1.15.5", "protobuf<3.21"), "TensorFlow 1", 0.6),
        "tf2.15": Recipe(
            ("3.11", "3.10", "3.9"),
            (f"{tensorflow}==2.15.1",),
            "the last with both Estimator and Keras 2",
            1.2,
        ),
        "tf2-latest": Recipe(
            ("3.12", "3.11", "3.13", "3.10"),
            (f"{tensorflow}=={NEWEST_TENSORFLOW}",),
            "the newest, with Keras 3",
            1.5,
        ),
    }


# Of runtimes with packages that somebody asked for, by their names.
_EXTENDED: dict[str, Recipe] = {}


def extended(name: str, packages: Iterable[str]) -> str:
    """The name of a runtime that has more packages: ``tf1.15+pandas``; ``ensure`` makes it.

    Raises:
      RuntimeUnavailable: an interpreter of the user's, into which nothing is installed.
    """
    more = sorted(set(packages))
    if not more:
        return name
    base = known().get(name)
    if base is None:
        raise RuntimeUnavailable(
            f"{name}: packages are added to {', '.join(known())} only; install {', '.join(more)} "
            "into this one yourself"
        )
    text = "+".join(more)
    if not re.fullmatch(r"[\w.+=-]{1,60}", text):
        text = hashlib.sha256(text.encode()).hexdigest()[:10]
    requirements = (*base.requirements, *more)
    purpose = f"{name} with {', '.join(more)}"
    _EXTENDED[f"{name}+{text}"] = replace(base, requirements=requirements, purpose=purpose)
    return f"{name}+{text}"


def recipes() -> dict[str, Recipe]:
    """The runtimes by name: those that can be made, and those with more packages."""
    made: dict[str, Recipe] = {}
    for stamp in sorted(folder().glob(f"*+*/{_STAMP}")):
        name, base = stamp.parent.name, known().get(stamp.parent.name.partition("+")[0])
        with contextlib.suppress(OSError, ValueError, KeyError):
            found = json.loads(stamp.read_text())
            if base is not None:
                requirements = tuple(found["requirements"])
                more = requirements[len(base.requirements) :]
                purpose = f"{name.partition('+')[0]} with {', '.join(more)}"
                made[name] = replace(base, requirements=requirements, purpose=purpose)
    return {**known(), **made, **_EXTENDED}


def required(path: Path) -> list[str]:
    """What a requirements file asks for beside TensorFlow itself, which the runtime has.

    Raises:
      RuntimeUnavailable: it cannot be read.
    """
    found: list[str] = []
    try:
        lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    except (OSError, ValueError) as error:
        raise RuntimeUnavailable(f"{path}: cannot be read: {error}") from error
    for line in lines:
        line = re.split(r"(?:^|\s)#", line)[0].strip()
        inner = re.match(r"(?:-r|--requirement)[\s=]+(\S+)", line)
        if inner:
            found += required(path.parent / inner[1])
        elif re.match(r"[A-Za-z0-9]", line) and not _TENSORFLOWS.match(line):
            found.append(line)
    return found


_TENSORFLOWS = re.compile(r"(?:tensorflow|tensorboard|tf-nightly|tf-estimator|keras-nightly)", re.I)


def unpinned(requirement: str) -> str:
    """A requirement without its versions: old ones do not fit the newer Python of TensorFlow 2."""
    name = re.match(r"[\w.-]+(?:\[[^\]]*\])?", requirement)
    return name[0] if name else requirement


def add_packages(parser: argparse.ArgumentParser) -> None:
    """``--with`` and ``-r``: packages that programs need beside TensorFlow."""
    parser.add_argument(
        "--with",
        dest="packages",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="add packages that the program imports, such as pandas (may be repeated)",
    )
    parser.add_argument(
        "-r",
        "--requirements",
        type=Path,
        metavar="FILE",
        help="add what a requirements file names, without TensorFlow; for TensorFlow 2 without "
        "its versions",
    )


def packages(options: argparse.Namespace, name: str) -> list[str]:
    """What ``--with`` and ``-r`` add to a runtime."""
    found = split(options.packages)
    if options.requirements is not None:
        lines = required(options.requirements)
        found += lines if name == TF1 else map(unpinned, lines)
    return found


def split(texts: Sequence[str]) -> list[str]:
    """The packages of several ``--with``, each of which may be a list by commas."""
    return [one.strip() for text in texts for one in _COMMA.split(text)]


_COMMA = re.compile(r",(?=\s*[A-Za-z])")  # not the one of `pandas>=1,<2`


def folder() -> Path:
    """Where runtimes lie."""
    chosen = os.environ.get("MIGRATE_MGPU_RUNTIMES")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("migrate-mgpu")) / "runtimes"


def find(name_or_path: str | Path) -> Runtime | None:
    """The runtime, or None when it is a known one that has not been made.

    Raises:
      RuntimeUnavailable: an unknown name, no interpreter at the path, or a made runtime
        that is broken.
    """
    name = str(name_or_path)
    if name == CURRENT:
        return _current()
    recipe = recipes().get(name)
    if recipe is None:
        path = Path(name).expanduser()
        if path.is_file() and os.access(path, os.X_OK):
            # Not resolved: a virtual environment's python is a link, and is that link.
            return Runtime(name, Path(os.path.abspath(path)))
        names = ", ".join([*known(), CURRENT])
        raise RuntimeUnavailable(f"{name}: neither an interpreter nor one of {names}")
    place = folder() / name
    if not _complete(place, recipe):
        return None
    python = _python_in(place)
    if not _runs(python):
        raise RuntimeUnavailable(
            f"{name}: {python} does not run (was the Python that it was made with removed?); "
            f"make it anew with: migrate-mgpu runtimes create {name}"
        )
    return Runtime(name, python)


def create(name: str, progress: TextIO | None = None) -> Runtime:
    """Make a runtime anew, in place of what may be there.

    Safe while other processes do the same: one makes it, the others wait and take it.

    Args:
      progress: is told what is made, how much it takes, and what uv says meanwhile.

    Raises:
      RuntimeUnavailable: it cannot be made; the message says why and what to do.
    """
    if name not in recipes():
        raise RuntimeUnavailable(f"{name}: not one of {', '.join(known())}")
    return _make(name, time.time(), progress)


def ensure(name_or_path: str | Path, progress: TextIO | None = None) -> Runtime:
    """The runtime, made first when it is a known one that is missing or broken.

    Args:
      progress: as of ``create``.

    Raises:
      RuntimeUnavailable: as ``find`` and ``create`` do.
    """
    name, asked = str(name_or_path), time.time()
    if name not in recipes():
        found = find(name)
        assert found is not None  # an interpreter's path is found or raises
        return found
    with contextlib.suppress(RuntimeUnavailable):
        found = find(name)
        if found:
            return found
    try:
        return _make(name, asked, progress)
    except RuntimeUnavailable as error:
        again = f"migrate-mgpu runtimes create {_as_words(name)}"
        raise RuntimeUnavailable(f"{error}\nwhen that is fixed: {again}") from error


def size(place: Path) -> int:
    """The bytes that a folder takes."""
    total = 0
    for entry in os.scandir(place) if place.is_dir() else ():
        if entry.is_dir(follow_symlinks=False):
            total += size(Path(entry))
        else:
            total += entry.stat(follow_symlinks=False).st_size
    return total


def shown_size(size: int) -> str:
    """Bytes as people read them."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def remove(name: str) -> bool:
    """Delete a runtime; False when there was none.

    Raises:
      RuntimeUnavailable: not a known name: an interpreter of the user's is not ours.
    """
    if name not in recipes():
        raise RuntimeUnavailable(f"{name}: not one of {', '.join(known())}")
    place = folder() / name
    if not place.exists():
        return False
    with _locked(folder() / f".{name}.lock"):
        (place / _STAMP).unlink(missing_ok=True)  # a half-deleted one must not count
        shutil.rmtree(place)
    return True


def _current() -> Runtime:
    found = Runtime(CURRENT, Path(sys.executable))
    if "tensorflow" not in describe(found):
        raise RuntimeUnavailable(
            f"{CURRENT}: there is no TensorFlow in it; to have one, {INSTALL_TENSORFLOW}"
        )
    return found


def missing(names: Iterable[str]) -> str | None:
    """That some of these runtimes have not been made, with the command that makes them all.

    Raises:
      RuntimeUnavailable: as ``find``.
    """
    gone = [name for name in dict.fromkeys(names) if find(name) is None]
    if not gone:
        return None
    verb, them = ("is", "it") if len(gone) == 1 else ("are", "them")
    command = "; ".join(f"migrate-mgpu runtimes create {one}" for one in _together(gone))
    return f"{' and '.join(gone)} {verb} not installed; to create {them}: {command}"


def _together(names: Sequence[str]) -> list[str]:
    """The words of as few ``runtimes create`` as make these."""
    plain = [name for name in names if name in known()]
    return [*([" ".join(plain)] if plain else []), *(_as_words(n) for n in names if n not in plain)]


def _as_words(name: str) -> str:
    """A runtime as the command line names it: ``tf1.15 --with pandas``."""
    recipe, base = recipes().get(name), name.partition("+")[0]
    if name in known() or recipe is None:
        return name
    more = recipe.requirements[len(known()[base].requirements) :]
    return shlex.join([base, *(word for one in more for word in ("--with", one))])


def for_reference(compat_v1: bool) -> str:
    """What runs an old program when nothing is said: 1.15, made or not.

    Args:
      compat_v1: the program says ``compat.v1`` and runs on TensorFlow 2 as it is: where there is
        no 1.15, 2.15 serves too, made or in this environment.
    """
    if not compat_v1:
        return TF1
    return _present((TF1, LAST_KERAS_2), lambda version: version < (2, 16)) or LAST_KERAS_2


def for_target() -> str:
    """What runs a new program when nothing is said: 2.15 where it was made, then this
    environment's TensorFlow 2, then 2.15, which is to be made."""
    return _present((LAST_KERAS_2,), lambda version: version >= (2, 0)) or LAST_KERAS_2


def _present(names: Sequence[str], fits: Callable[[tuple[int, int]], bool]) -> str | None:
    for name in names:
        with contextlib.suppress(RuntimeUnavailable):
            if find(name) is not None:
                return name
    with contextlib.suppress(RuntimeUnavailable):
        if fits(_tensorflow(describe(_current()))):
            return CURRENT
    return None


def _tensorflow(versions: Mapping[str, str]) -> tuple[int, int]:
    major, minor = versions["tensorflow"].split(".")[:2]
    return int(major), int(minor)


def has_keras_3(runtime: Runtime) -> bool:
    """Whether the TensorFlow of an interpreter takes Keras 3."""
    versions = describe(runtime)
    return "tensorflow" in versions and _tensorflow(versions) >= (2, 16)


def ability(versions: Mapping[str, str]) -> str:
    """What programs a runtime of these versions (``describe``) can run."""
    if "tensorflow" not in versions:
        return "runs no program: it has no TensorFlow"
    version = _tensorflow(versions)
    if version < (2, 0):
        return "runs TF1 programs, unchanged"
    if version < (2, 16):
        return "runs programs that say compat.v1, and new ones"
    return "runs new programs, and bridges; no Estimators"


def describe(runtime: Runtime) -> dict[str, str]:
    """Versions of python, tensorflow, keras and numpy (those installed), read from the
    installed metadata: nothing is imported, so it takes milliseconds.

    Raises:
      RuntimeUnavailable: the interpreter does not run.
    """
    try:
        answer = subprocess.run(
            [str(runtime.python), "-c", _DESCRIBE], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeUnavailable(f"{runtime.python} does not run: {error}") from error
    if answer.returncode:
        raise RuntimeUnavailable(f"{runtime.python} does not run: {answer.stderr.strip()}")
    versions: dict[str, str] = json.loads(answer.stdout)
    return versions


# Python 3.7 has no importlib.metadata; a distribution's folder has its version in its name.
_DESCRIBE = """
import glob, json, os, sys
found = {"python": "%d.%d.%d" % sys.version_info[:3]}
names = "tensorflow_cpu tensorflow tensorflow_intel tensorflow_macos keras numpy"
for name in names.split():
    for folder in sys.path:
        for path in glob.glob(os.path.join(folder, name + "-*.dist-info")):
            version = os.path.basename(path)[len(name) + 1 : -len(".dist-info")]
            found.setdefault(name.split("_")[0], version)
print(json.dumps(found))
"""


def _make(name: str, asked: float, progress: TextIO | None) -> Runtime:
    recipe, place = recipes()[name], folder() / name
    place.parent.mkdir(parents=True, exist_ok=True)
    with _locked(place.parent / f".{name}.lock"):
        python = _python_in(place)
        stamp = place / _STAMP
        # Another process may have made it while this one waited for the lock.
        if not (_complete(place, recipe) and stamp.stat().st_mtime >= asked and _runs(python)):
            shutil.rmtree(place, ignore_errors=True)
            try:
                uv = _uv()
                base = _base_python(name, recipe)
                if progress is not None:
                    print(_announcement(name, recipe, place), file=progress, flush=True)
                venv = [uv, "venv", "--no-project", "--python", base, str(place)]
                _run_uv(name, venv, progress)
                # Programs that are compared write no bytecode: without it each of them would
                # compile all of TensorFlow, for twice the time of its import.
                install = [uv, "pip", "install", "--compile-bytecode", "--python", str(python)]
                alone = [one for one in recipe.requirements if one.startswith(_ALONE)]
                _run_uv(
                    name,
                    [*install, *(one for one in recipe.requirements if one not in alone)],
                    progress,
                )
                if alone:
                    _run_uv(name, [*install, "--no-deps", *alone], progress)
                stamp.write_text(json.dumps({"requirements": recipe.requirements}))
            except BaseException as error:
                shutil.rmtree(place, ignore_errors=True)
                if isinstance(error, OSError):
                    text = f"{name}: {_explain(str(error), name)}\n{error}"
                    raise RuntimeUnavailable(text) from error
                raise
        return Runtime(name, python)


def _announcement(name: str, recipe: Recipe, place: Path) -> str:
    packages = ", ".join(recipe.requirements)
    return (
        f"making the runtime {name} ({recipe.purpose}), once: {packages}; "
        f"about {recipe.gigabytes:g} GB in {place}"
    )


def _complete(place: Path, recipe: Recipe) -> bool:
    try:
        stamp = json.loads((place / _STAMP).read_text())
    except (OSError, ValueError):
        return False
    return isinstance(stamp, dict) and stamp.get("requirements") == list(recipe.requirements)


def _python_in(place: Path) -> Path:
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _runs(python: Path, version: str | None = None) -> bool:
    """Whether the interpreter starts (and is of the version): pyenv's shims may not."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [str(python), "-I", "-c", code], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and version in (None, answer.stdout.strip())


def _uv() -> str:
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
        if found:
            return found
    raise RuntimeUnavailable(f"uv is needed to make runtimes; {INSTALL}")


def _base_python(name: str, recipe: Recipe) -> str:
    """An interpreter of one of the versions on this machine, or what uv shall look for.

    uv looks among those it installed and on PATH, and downloads where it may; it does
    not look into pyenv's versions, whose shims on PATH run only when activated.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in recipe.pythons:
        candidates = sorted(pyenv.glob(f"{version}*/bin/python"), reverse=True)
        on_path = shutil.which(f"python{version}")
        candidates += [Path(on_path)] if on_path else []
        for candidate in [Path(sys.executable), *candidates]:
            if _runs(candidate, version):
                return str(candidate)
    for version in recipe.pythons:
        answer = subprocess.run(
            [_uv(), "python", "find", "--no-project", version], capture_output=True, text=True
        )
        if answer.returncode == 0 and _runs(Path(answer.stdout.strip()), version):
            return answer.stdout.strip()
    return recipe.pythons[0]


# It requires the package `tensorflow`, also where `tensorflow-cpu` is there.
_ALONE = LEGACY_KERAS.partition("==")[0]

# What uv says beside the Python that it takes, and what it downloads and installs.
_NO_PROGRESS = (" + ", "Creating virtual environment", "Activate with", "Using Python")


def _run_uv(name: str, command: list[str], progress: TextIO | None) -> None:
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        # uv asks these for an environment of its own choice; it must be ours.
        env={k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")},
    )
    said = []
    with process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                said.append(line)
                if progress is not None and not line.startswith(_NO_PROGRESS):
                    print(f"  {line.rstrip()}", file=progress, flush=True)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        error = "".join(said).strip()
        shown = "" if progress is not None else f"\n{error}"  # uv's own words, once
        raise RuntimeUnavailable(f"{name}: {_explain(error, name)}{shown}")


_NO_NETWORK = ("dns error", "connect", "timed out", "certificate", "network was disabled")


def _explain(error: str, name: str) -> str:
    """The cause of an error of uv's, and what to do."""
    lowered = error.lower()
    if "no space left" in lowered or "disk quota" in lowered:
        advice = (
            f"the disk is full: it takes {recipes()[name].gigabytes:g} GB in {folder()} "
            "(MIGRATE_MGPU_RUNTIMES chooses another folder)"
        )
    elif "no interpreter found" in lowered or "python-build-standalone" in lowered:
        versions = recipes()[name].pythons
        advice = (
            f"no Python {' or '.join(versions)} was found among pyenv's versions, on PATH and "
            "uv's own, and uv could not download one; install it "
            f"(pyenv install {versions[0]}, or uv python install {versions[0]}) and try again"
        )
    elif any(word in lowered for word in _NO_NETWORK):
        advice = "the package index cannot be reached; check the network, UV_INDEX_URL and proxies"
    elif "no wheels" in lowered or "no solution found" in lowered:
        advice = f"there are no packages of it for this machine ({platform.machine()})"
    else:
        advice = "uv failed"
    return advice


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file lock: uv locks its own steps, but not the stamp and the deletion."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        if sys.platform == "win32":
            import msvcrt

            while True:
                try:
                    msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:  # it gives up after ten seconds; making takes minutes
                    continue
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        yield  # closing the file unlocks it
