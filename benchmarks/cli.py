"""How fast migrate-mgpu is, beside its peers, on this machine.

    python benchmarks/cli.py [--tree FOLDER] [--runs 7] [--only start,clean,...] [--json FILE]

Five comparisons, their contenders taking turns:

start    Python alone, the tool on a file without and with TF1 code, its --help
clean    a tree of 1,500 mostly clean files, against grep, ripgrep and Python's floor
tree     FOLDER (or 60 generated TF1 files), against django-upgrade, libcst's codemod
         runner with a codemod that changes nothing, and tf_upgrade_v2
length   one file of 500, 5,000 and 50,000 lines
files    10, 100 and 1,000 TF1 files

FOLDER is copied, never written to. The tool and its peers are installed into temporary
environments; tf_upgrade_v2 comes with the runtime tf2.15 (`migrate-mgpu runtimes`).
A contender that cannot be had is listed with the reason. A contender that needs more
than a minute in sum is measured less often: the column "runs" says how often.

Exit status: 0, or 1 when a contender failed at its work.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import generated
import measure
import peers
from measure import Contender, Result

_HERE = Path(__file__).resolve().parent
_CHANGED = (0, 1)  # this tool's and django-upgrade's status when files (would) change
_PLAIN = "import argparse, re"


@dataclass(frozen=True)
class Comparison:
    """Contenders that are measured together, and the one whose time is the ratio's 1.

    ``floor`` is one that does the least that any such program in Python does; its ratios have
    a column of their own.
    """

    title: str
    base: str
    contenders: list[Contender]
    floor: str = ""


@dataclass
class Tool:
    """The tool as measured."""

    bin: Path
    help: str = ""

    @property
    def python(self) -> str:
        return str(self.bin / "python")

    def __call__(self, *argv: object) -> list[str]:
        return [str(self.bin / "migrate-mgpu"), *map(str, argv)]


def start(tool: Tool, folder: Path, _: Path | None) -> list[Comparison]:
    clean, hit = folder / "clean.py", folder / "hit.py"
    clean.write_text("import os\n\n\ndef here():\n    return os.getcwd()\n")
    generated.long_file(hit, 40)
    return [
        Comparison(
            "cold start",
            "python -c pass",
            [
                Contender("python -c pass", [tool.python, "-c", "pass"]),
                Contender("python -c 'import argparse, re'", [tool.python, "-c", _PLAIN]),
                Contender("migrate-mgpu --check, no TF1 code", tool("--check", clean)),
                Contender("migrate-mgpu --check, 40 lines of TF1", tool("--check", hit), _CHANGED),
                Contender("migrate-mgpu --help", tool("--help")),
            ],
        )
    ]


def clean(tool: Tool, folder: Path, _: Path | None) -> list[Comparison]:
    tree = folder / "clean"
    generated.clean_tree(tree, 1500)
    without = folder / "without"
    generated.clean_tree(without, 1500, hits=False)
    pattern = _pattern()
    grep, ripgrep = shutil.which("grep"), shutil.which("rg")
    floor = "Python finds and reads every file"
    return [
        Comparison(
            "1,500 files, 15 of them TF1",
            "grep -rlE",
            [
                Contender(
                    "grep -rlE",
                    [grep, "-rlE", "--include=*.py", pattern, str(tree)] if grep else "no grep",
                ),
                Contender(
                    "ripgrep -l",
                    [ripgrep, "-l", "--sort", "path", pattern, str(tree)]
                    if ripgrep
                    else "rg is not installed",
                ),
                Contender(floor, [tool.python, "-c", _READ, str(tree)]),
                Contender("migrate-mgpu --check", tool("--check", tree), _CHANGED),
                Contender("migrate-mgpu --check, none of them TF1", tool("--check", without)),
            ],
            floor,
        )
    ]


_READ = """
import os, sys
folders = [sys.argv[1]]
while folders:
    with os.scandir(folders.pop()) as members:
        for member in members:
            if member.is_dir(follow_symlinks=False):
                folders.append(member.path)
            elif member.name.endswith(".py"):
                file = os.open(member.path, os.O_RDONLY)
                os.read(file, os.fstat(file).st_size)
                os.close(file)
"""


def _pattern() -> str:
    """What the tool itself looks for."""
    from migrate_mgpu.core import prefilter

    return prefilter.HIT.pattern.decode()


def tree(tool: Tool, folder: Path, given: Path | None) -> list[Comparison]:
    if given is None:
        given = folder / "generated"
        given.mkdir()
        generated.tf1_tree(given, 60)
    copied = folder / "tree"
    shutil.copytree(given, copied, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    files = sorted(copied.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in files)

    def copy(to: Path) -> None:
        shutil.copytree(copied, to / "tree")

    names = [str(path.relative_to(folder)) for path in files]
    return [
        Comparison(
            f"{given.name}: {len(files)} files, {lines:,} lines",
            "django-upgrade, in place",
            [
                Contender(
                    "ast.parse of every file",
                    [tool.python, "-c", _PARSE, str(copied)],
                ),
                Contender("migrate-mgpu --check", tool("--check", copied), _CHANGED),
                Contender("migrate-mgpu --diff", tool("--diff", copied), _CHANGED),
                Contender("migrate-mgpu, in place", tool("tree"), _CHANGED, prepare=copy),
                Contender(
                    "django-upgrade, in place", _django_upgrade(folder, names), _CHANGED, copy
                ),
                *_libcst(folder, copy),
                _tf_upgrade(copy),
            ],
        )
    ]


_PARSE = """
import ast, pathlib, sys
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    try:
        ast.parse(path.read_bytes())
    except SyntaxError:
        pass
"""


def _django_upgrade(folder: Path, names: Sequence[str]) -> list[str] | str:
    try:
        place = peers.environment(folder / "django-upgrade", peers.DJANGO_UPGRADE)
    except peers.Missing as error:
        return str(error)
    return [str(place / "django-upgrade"), "--target-version", "5.0", *names]


def _libcst(folder: Path, copy: Callable[[Path], None]) -> list[Contender]:
    names = ("libcst no-op codemod, 1 process", "libcst no-op codemod, all processors")
    try:
        place = peers.environment(folder / "libcst", peers.LIBCST)
    except peers.Missing as error:
        return [Contender(name, str(error)) for name in names]
    command = [str(place / "python"), "-m", "libcst.tool", "codemod"]
    command += ["-x", "noop_codemod.Noop", "--no-format"]
    return [
        Contender(name, [*command, *jobs, "tree"], (0, 1), copy, {"PYTHONPATH": str(_HERE)})
        for name, jobs in zip(names, (["--jobs", "1"], []))
    ]


def _tf_upgrade(copy: Callable[[Path], None]) -> Contender:
    name = "tf_upgrade_v2 (TF 2.15), to a folder"
    try:
        python, _ = peers.tensorflow()
    except peers.Missing as error:
        return Contender(name, str(error))
    command = [str(python), "-m", "tensorflow.tools.compatibility.tf_upgrade_v2_main"]
    command += ["--intree", "tree", "--outtree", "out", "--reportfile", "report.txt"]
    return Contender(name, command, prepare=copy, env={"TF_CPP_MIN_LOG_LEVEL": "3"})


def length(tool: Tool, folder: Path, _: Path | None) -> list[Comparison]:
    contenders = []
    for lines in (500, 5_000, 50_000):
        path = folder / f"lines{lines}.py"
        generated.long_file(path, lines)
        parse = [tool.python, "-c", f"import ast; ast.parse(open({str(path)!r}).read())"]
        contenders.append(Contender(f"ast.parse, {lines:,} lines", parse))
        contenders.append(
            Contender(f"migrate-mgpu --check, {lines:,} lines", tool("--check", path), _CHANGED)
        )
    title = "one file of `net = layer(net)` and a config"
    return [Comparison(title, "migrate-mgpu --check, 500 lines", contenders)]


def files(tool: Tool, folder: Path, _: Path | None) -> list[Comparison]:
    contenders = []
    for count in (10, 100, 1_000):
        place = folder / f"files{count}"
        place.mkdir()
        generated.tf1_tree(place, count)
        contenders.append(
            Contender(f"migrate-mgpu --check, {count:,} files", tool("--check", place), _CHANGED)
        )
    return [Comparison("TF1 programs of 37 lines", "migrate-mgpu --check, 10 files", contenders)]


COMPARISONS = {c.__name__: c for c in (start, clean, tree, length, files)}


def table(comparison: Comparison, results: Sequence[Result]) -> str:
    """One comparison as text."""
    medians = {r.name: r.median for r in results if r.seconds}
    base, floor = medians.get(comparison.base), medians.get(comparison.floor)
    lines = [
        f"{comparison.title} (ratio to: {comparison.base})",
        f"  {'':<42}{'median':>10}{'ratio':>8}{'peak':>11}{'runs':>6}"
        + (f"{'to floor':>10}" if floor else ""),
    ]
    for result in results:
        if result.missing is not None:
            lines.append(f"  {result.name:<42}  missing: {result.missing}")
            continue
        ratio = f"{result.median / base:.2f}" if base else ""
        lines.append(
            f"  {result.name:<42}{_duration(result.median):>10}{ratio:>8}"
            f"{result.peak:>11}{len(result.seconds):>6}"
            + (f"{result.median / floor:>10.2f}" if floor else "")
        )
    return "\n".join(lines) + "\n"


def _duration(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def machine(tool: Tool) -> dict[str, str]:
    """Where and what was measured."""
    found = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "migrate-mgpu": peers.version(Path(tool.python), "migrate-mgpu"),
        "django-upgrade": peers.DJANGO_UPGRADE.partition("==")[2],
        "libcst": peers.LIBCST.partition("==")[2],
    }
    try:
        found["tf_upgrade_v2"] = "TensorFlow " + peers.tensorflow()[1].get("tensorflow", "?")
    except peers.Missing:
        found["tf_upgrade_v2"] = "missing"
    return found


def main(argv: Sequence[str]) -> int:
    options = _parser().parse_args(argv)
    chosen = options.only.split(",") if options.only else list(COMPARISONS)
    unknown = [name for name in chosen if name not in COMPARISONS]
    if unknown:
        print(f"--only: {unknown[0]} is none of {', '.join(COMPARISONS)}", file=sys.stderr)
        return 2
    report: dict[str, object] = {}
    status = 0
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name:
        folder = Path(name)
        try:
            tool = Tool(peers.this_tool(folder / "tool"))
        except peers.Missing as error:
            print(error, file=sys.stderr)
            return 1
        tool.help = measure.output(tool("--help"))
        report["machine"] = machine(tool)
        for key, value in machine(tool).items():
            print(f"{key:<16}{value}")
        for which in chosen:
            place = folder / which
            place.mkdir()
            for comparison in COMPARISONS[which](tool, place, options.tree):
                try:
                    results = measure.compare(comparison.contenders, options.runs)
                except measure.Failed as error:
                    print(f"\n{comparison.title}: {error}", file=sys.stderr)
                    status = 1
                    continue
                print("\n" + table(comparison, results), end="", flush=True)
                report[which] = {
                    "title": comparison.title,
                    "base": comparison.base,
                    "results": [vars(result) for result in results],
                }
            shutil.rmtree(place)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, help="a folder of TF1 code")
    parser.add_argument("--runs", type=int, default=7, help="measured runs of each contender")
    parser.add_argument("--only", help="some of the comparisons, separated by commas")
    parser.add_argument("--json", type=Path, help="write everything measured to a file")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
