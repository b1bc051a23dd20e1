"""README and docs: every command is run, every program and every output is what it says.

    python -m tests.test_docs

writes the outputs of the ``console`` blocks anew. Read what it wrote before you commit it. What
programs of semantics.md print is TensorFlow's alone: those that were seen to print what the page
says run no more, but for every eighth, until they or TensorFlow change. This runs those, and
records them::

    python -m tests.test_docs facts

How a page is read:

* ```` ```console ````: lines with ``$`` are run in a scratch folder of the page, in their
  order, and must print what stands under them.
* ```` ```sh ````: run in a copy of the repository, and must succeed. A line below the block
  says so where that is different: "*Run by `.ci/run`*" (only in the README, which that script
  reads) or "*Not run by the tests: reason*".
* ```` ```python ````, by the words before it: "`train.py`:" puts it into the scratch folder;
  "becomes" says that the tool makes it of the block before. In semantics.md a program is
  followed by ```` ```text ````, what it prints on the TensorFlows that its first line names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import launch
from tests import estimator_proofs
from tests.support import recorded, servers
from tests.support.migration import migrated

ROOT = Path(__file__).parents[1]
RULES = ROOT / "docs" / "rules.md"  # generated: its examples are tests/rewriters/test_cases.py
SESSIONS = ROOT / "docs" / "sessions.md"  # generated: its programs are fixtures, with proofs
TRANSCRIPT = ROOT / "docs" / "transcript.md"  # generated: it is played again below
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
    if path not in (RULES, SESSIONS, TRANSCRIPT)
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
BY_CI = "*Run by `.ci/run`"
NOT_RUN = re.compile(r"\*Not run by the tests: .{10,}")
RUNTIMES = {"1.15": "tf1.15", "2.15": "tf2.15", "newest": "tf2-latest"}


@dataclass(frozen=True)
class Block:
    """A fenced block; ``lead`` is the text between it and the block before it."""

    page: Path
    line: int
    language: str
    body: str
    lead: str
    tail: str  # the paragraph after it
    start: int  # of the body, in the page's text

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name that the words before the block give it."""
        found = re.search(r"`([\w/]+\.\w+)`:$", self.lead.strip())
        return found.group(1) if found else None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        tail = text[match.end() :].lstrip("\n").partition("\n\n")[0]
        lead = text[end : match.start()]
        found.append(Block(page, line, match[1], match[2], lead, tail, match.start(2)))
        end = match.end()
    return found


ALL = [block for page in PAGES for block in blocks(page)]


def of(language: str) -> list[Block]:
    return [block for block in ALL if block.language == language]


def pairs() -> Iterator[tuple[Block, Block]]:
    """Programs, and what the page says becomes of them."""
    for before, after in zip(ALL, ALL[1:]):
        if before.language == after.language == "python" and "becomes" in after.lead:
            yield before, after


PAIRS = list(pairs())
Fact = tuple[Block, Block]  # a program, and what it prints
SEEN = Path(__file__).with_name("docs_facts.json")
FACTS = [
    (program, output)
    for program, output in zip(ALL, ALL[1:])
    if program.language == "python" and output.language == "text"
]


def targets(program: Block) -> list[str]:
    first = program.body.splitlines()[0]
    assert first.startswith("# TF "), f"{program}: its first line names no TensorFlow"
    return [runtime for word, runtime in RUNTIMES.items() if word in first]


# -- commands ----------------------------------------------------------------


def environment() -> dict[str, str]:
    scripts = str(Path(sys.executable).parent)
    kept = {k: v for k, v in os.environ.items() if not re.match("PYTEST|FORCE_COLOR|COLUMNS", k)}
    return {**kept, "PATH": scripts + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def play(page: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Each console block of a page with what it prints; the folder goes along."""
    for block in blocks(page):
        if block.language == "python" and block.file:
            (folder / block.file).write_text(block.body, encoding="utf-8")
        elif block.language == "console":
            text = ""
            for line in block.body.splitlines():
                if line.startswith("$ "):
                    text += f"{line}\n{shell(line[2:], folder).stdout}"
            yield block, text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks_print_what_they_say(page: Path, tmp_path: Path) -> None:
    for block, text in play(page, tmp_path):
        assert text == block.body, f"{block}: rewrite the outputs (docs/contributing.md)"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, to do with as the pages say."""
    folder = tmp_path_factory.mktemp("copy") / "migrate-mgpu"
    skipped = shutil.ignore_patterns(".git", ".venv", "*.egg-info", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, folder, ignore=skipped)
    return folder


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `migrate-mgpu` whose programs run where TensorFlow is imported already."""
    folder = tmp_path_factory.mktemp("commands")
    command = folder / "migrate-mgpu"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.support.served "$@"\n')
    command.chmod(0o755)
    return folder


def runnable(block: Block) -> bool:
    return not (block.tail.startswith(BY_CI) or NOT_RUN.match(block.tail))


@pytest.mark.parametrize("block", [block for block in of("sh") if runnable(block)], ids=str)
def test_commands_succeed(
    block: Block, copy: Path, commands: Path, runtime: Callable[[str], runtimes.Runtime]
) -> None:
    if "oracle.py" in block.body or "parity" in block.body:
        for name in RUNTIMES.values():
            servers.start(runtime(name).python)  # skips where it cannot be made
    done = shell(f"set -e\nexport PATH={commands}:$PATH PYTHONPATH={ROOT}\n{block.body}", copy)
    assert done.returncode == 0, done.stdout


def test_ci_runs_what_is_said_to_be_run_by_it() -> None:
    said = [block for block in of("sh") if block.tail.startswith(BY_CI)]
    readme = [block for block in said if block.page.name == "README.md"]
    assert len(readme) == 2 and all(block.body.count("\n") == 1 for block in readme)
    for block in said:
        assert any(block.body.strip() in other.body for other in readme), str(block)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert BY_CI in script, "it looks for the same words"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_in_commands_between_the_lines_exist(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for command in re.findall(r"`((?:python|pytest|bash) [^`]+)`", text):
        for path in re.findall(r"[\w.]+(?:/[\w.]+)+", command):
            assert (ROOT / path).exists(), command
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (page.parent / link).exists(), link


def test_the_readme_on_a_package_index_leads_nowhere_that_is_not_there() -> None:
    spec = importlib.util.spec_from_file_location("setup_py", ROOT / "setup.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("](docs/") > 10
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert made.address(project) is None, "nothing is published"
    assert "](docs/" not in made.description(readme, None)
    released = project.replace("# Documentation = ", "Documentation = ")
    assert made.address(released) == "https://..."
    published = made.description(readme, "https://x.org")
    assert "](docs/" not in published
    assert "[Quickstart](https://x.org/quickstart/)" in published
    assert "(https://x.org/rules/#mgpu205)" in published


def test_selections_of_tests_select_some() -> None:
    """``pytest FILE -k WORD`` in the text is the proof of what stands before it."""
    wanted: dict[str, list[str]] = {}
    for page in PAGES:
        for path, word in re.findall(
            r"`pytest ([\w/.]+) -k (\w+)`", page.read_text(encoding="utf-8")
        ):
            wanted.setdefault(path, []).append(word)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *wanted]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [line.partition("::") for line in ran.stdout.splitlines()]
    for path, words in wanted.items():
        mine = " ".join(name for file, _, name in names if file == path).lower()
        for word in words:
            assert word.lower() in mine, f"pytest {path} -k {word}"


# -- programs ----------------------------------------------------------------


def test_every_block_is_checked_somehow() -> None:
    checked = {id(block) for pair in [*PAIRS, *FACTS] for block in pair}
    for block in ALL:
        if block.language not in ("console", "sh", "toml", "yaml") and id(block) not in checked:
            assert block.language == "python" and block.file, f"{block} is not checked by anything"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: str(pair[0]))
def test_tool_makes_the_one_of_the_other(pair: tuple[Block, Block]) -> None:
    before, after = pair
    given = ("train.py", before.body)
    assert migrated(given, bridge=True, native_sessions=True)[0] == after.body


def test_readme_pair_is_equal_on_real_tensorflow(
    runtime: Callable[[str], runtimes.Runtime], tmp_path: Path
) -> None:
    for name in RUNTIMES.values():
        runtime(name)
    ((before, after),) = [pair for pair in PAIRS if pair[0].page.name == "README.md"]
    for name, block in [("before.py", before), ("after.py", after)]:
        (tmp_path / name).write_text(block.body, encoding="utf-8")
    for target in estimator_proofs.TARGETS:
        program = estimator_proofs.Program(tmp_path)
        (found,) = estimator_proofs.prove(program, target, [2])
        assert found["verdict"] == "equivalent", found["reason"]
        assert [rung["name"] for rung in found["rungs"]][-1] == "evaluation and printed results"


def seen_as(fact: Fact, where: str) -> str:
    program, output = fact
    return recorded.digest(where, program.body, output.body)


def facts(where: str, every: int) -> list[Fact]:
    """The programs of a runtime that must run: those not seen, and one of ``every`` others."""
    there = [fact for fact in FACTS if where in targets(fact[0])]
    seen = json.loads(SEEN.read_text(encoding="utf-8"))[where]
    return [f for at, f in enumerate(there) if at % every == 0 or seen_as(f, where) not in seen]


def check(interpreter: runtimes.Runtime, chosen: list[Fact]) -> None:
    jobs = []
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as folder:
        for program, _ in chosen:
            path = Path(folder) / f"line{program.line}.py"
            path.write_text(program.body, encoding="utf-8")
            jobs.append(launch.Job(path, map_gpus=False))
        for (program, output), run in zip(chosen, servers.run_many(interpreter, jobs)):
            assert run.status == 0, (str(program), run.stderr)
            assert run.stdout == output.body, str(program)


@pytest.mark.parametrize("where", RUNTIMES.values())
def test_semantics(where: str, runtime: Callable[[str], runtimes.Runtime]) -> None:
    check(runtime(where), facts(where, 8))


def test_what_is_recorded_of_semantics_is_of_today() -> None:
    assert json.loads(SEEN.read_text(encoding="utf-8")) == facts_of_today(), (
        "record them again: python -m tests.test_docs facts"
    )


def facts_of_today() -> dict[str, list[str]]:
    return {
        where: [seen_as(fact, where) for fact in FACTS if where in targets(fact[0])]
        for where in RUNTIMES.values()
    }


def record_facts() -> None:
    for where in RUNTIMES.values():
        check(runtimes.ensure(where), facts(where, len(FACTS)))
    SEEN.write_text(json.dumps(facts_of_today(), indent=0) + "\n", encoding="utf-8")


# -- the generated page --------------------------------------------------------


def generator(name: str) -> object:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE_OF = {"kept": "why-kept", "causes": "losses-differ"}


@pytest.mark.parametrize("name", ["causes", "estimators", "fields", "kept", "rules", "sessions"])
def test_generated_page_is_fresh(name: str) -> None:
    made = generator(f"generate_{name}").page()  # type: ignore[attr-defined]
    page = ROOT / f"docs/{PAGE_OF.get(name, name)}.md"
    assert page.read_text(encoding="utf-8") == made, f"run: python docs/generate_{name}.py"


def test_the_transcript_prints_what_it_says() -> None:
    """All but the comparisons, which take minutes: those are of programs that come out the same."""
    generate = generator("generate_transcript")
    comparisons = generate.recorded()  # type: ignore[attr-defined]
    assert len(comparisons) == 5
    assert all(" device" in text and "EQUIVALENT\n" in text for text in comparisons)
    assert not any("NOT EQUIVALENT" in text for text in comparisons)
    made = generate.page(comparisons)  # type: ignore[attr-defined]
    wanted = (
        "run: python docs/generate_transcript.py --keep-comparisons, or anew where code changed"
    )
    assert TRANSCRIPT.read_text(encoding="utf-8") == made, wanted


def test_the_command_that_contributing_names_starts_without_settings() -> None:
    """`python -m tests.test_docs`: pytest puts more on the path than Python alone does."""
    called = "python -m tests.test_docs"
    assert f"`{called}`" in (ROOT / "docs/contributing.md").read_text(encoding="utf-8")
    module = called.rpartition(" ")[2]
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", f"import {module}; {module}.rewrite"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def rewrite() -> None:
    """Puts what the console blocks print today into the pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for block, printed in reversed(list(play(page, Path(folder)))):
                text = text[: block.start] + printed + text[block.start + len(block.body) :]
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record_facts() if sys.argv[1:] == ["facts"] else rewrite()
