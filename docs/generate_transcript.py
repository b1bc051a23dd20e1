"""Writes docs/transcript.md: five repositories, from an empty cache to a green parity report.

python docs/generate_transcript.py [--keep-comparisons]

Every command is run, in copies of fixtures/first_hour, with empty caches; it takes minutes,
and fails where a comparison is not equivalent. uv's own downloads are kept. The tests run all but
the comparisons again.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from migrate_mgpu import cli

ROOT = Path(__file__).parents[1]
REPOSITORIES = ROOT / "fixtures" / "first_hour"
PAGE = Path(__file__).with_name("transcript.md")

HEAD = """\
# Five repositories, from nothing to green

<!-- Written by docs/generate_transcript.py, of fixtures/first_hour. -->

What a new user sees: five small repositories of usual shapes, and every command from an empty cache
to a parity report without a difference. Each block is what the command printed.
(Times, and the names of folders and of the machine, are of the run that was recorded.)
"""
# Title, folder, what there is to know, commands.
SHAPES = (
    (
        "A session with helper modules",
        "session",
        "`train.py` builds its graph by `model.py` and is fed by `data.py`. The check says that "
        "both become native: what `model.py` makes of a tensor's size are layers then. The first "
        "comparison makes the TensorFlow environments.",
        (
            "ls",
            "migrate-mgpu --check .",
            "migrate-mgpu parity train.py -- --steps 30",
            "migrate-mgpu .",
            "migrate-mgpu .",
            "cat train.py",
        ),
    ),
    (
        "An Estimator in a package",
        "estimator",
        "The program is `python -m churn.train`, in `src/`. It needs pandas: its requirements are "
        "added to both environments, without their TensorFlow.",
        (
            "find . -name '*.*' -type f | sort",
            "migrate-mgpu --check .",
            "migrate-mgpu parity -m churn.train --root src -r requirements.txt -- --epochs 2",
            "migrate-mgpu -q .",
            "cat src/churn/model.py",
        ),
    ),
    (
        "Towers, as in TensorFlow's cifar10 tutorial",
        "towers",
        "A copy of the network for each of two GPUs. On one device there would be no "
        "second tower, so "
        "it is compared on two and on four.",
        (
            "ls",
            "migrate-mgpu --check .",
            "migrate-mgpu parity cifar10_multi_gpu_train.py --devices 2,4 -- --max_steps 12",
            "migrate-mgpu -q .",
        ),
    ),
    (
        "`multi_gpu_model`",
        "keras",
        "A Keras model on two GPUs.",
        (
            "migrate-mgpu --check train.py",
            "migrate-mgpu parity train.py",
            "migrate-mgpu -q train.py",
        ),
    ),
    (
        "A notebook",
        "notebook",
        "Its cells are the program.",
        (
            "migrate-mgpu --check house_prices.ipynb",
            "migrate-mgpu parity house_prices.ipynb",
            "migrate-mgpu house_prices.ipynb",
            "migrate-mgpu house_prices.ipynb",
        ),
    ),
)


def output(command: str, place: Path, folder: Path) -> str:
    """What a command prints.

    Raises:
        SystemExit: it is a comparison that is not equivalent.
    """
    if command.startswith("migrate-mgpu ") and " parity " not in command:
        printed = io.StringIO()  # in this process, which is faster
        before = Path.cwd()
        os.chdir(place)
        try:
            cli.main(shlex.split(command)[1:], printed, printed)
        finally:
            os.chdir(before)
        return plain(printed.getvalue(), folder)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if " parity " in command and ran.returncode:
        raise SystemExit(f"{command}: exit status {ran.returncode}\n{ran.stdout}")
    return plain(ran.stdout, folder)


def environment(folder: Path) -> dict[str, str]:
    """Empty caches; uv keeps its downloads."""
    kept = {k: v for k, v in os.environ.items() if not re.match("PYTEST|FORCE_|COLUMNS|MIGRATE", k)}
    home = Path.home() / ".cache" / "uv"
    caches = {
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(home)),
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "XDG_DATA_HOME": str(folder / ".data"),
        "NO_COLOR": "1",
        "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"],
    }
    return {**kept, **caches}


def plain(text: str, folder: Path) -> str:
    """What was printed, without what is of the machine alone."""
    text = text.replace(str(folder), "~")
    text = re.sub(r"(interpreter at:) \S+", r"\1 ...", text)
    return re.sub(r"^  .+, (\d+ cores), .*(Linux).*$", r"  a machine with \1, \2", text, flags=re.M)


def recorded() -> list[str]:
    """What the comparisons on the page printed, in their order."""
    blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```\n", PAGE.read_text("utf-8"), re.S)
    return [printed for command, printed in blocks if " parity " in command]


def page(comparisons: list[str] | None = None) -> str:
    """The whole page; ``comparisons`` are what those printed, where they are not run.

    Raises:
        SystemExit: a comparison is not equivalent.
    """
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        known = iter(comparisons or ())
        for title, repository, text, commands in SHAPES:
            parts.append(f"## {title}\n\n{textwrap.fill(text, 96)}\n")
            place = folder / repository
            shutil.copytree(
                REPOSITORIES / repository, place, ignore=shutil.ignore_patterns("__pycache__")
            )
            for command in commands:
                if " parity " in command and comparisons is not None:
                    printed = next(known)
                else:
                    printed = output(command, place, folder)
                parts.append(f"```console\n$ {command}\n{printed}```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    kept = recorded() if sys.argv[1:] == ["--keep-comparisons"] else None
    PAGE.write_text(page(kept), encoding="utf-8")
