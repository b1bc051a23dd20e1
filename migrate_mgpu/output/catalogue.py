"""Every code that a finding can have: ``migrate-mgpu rules`` and ``migrate-mgpu explain``."""

from __future__ import annotations

import re
import textwrap
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from migrate_mgpu.core.options import USAGE, meant
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import Case, documented
from migrate_mgpu.core.selection import names_a_rule
from migrate_mgpu.output import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

# Why a parity report's rung breaks: a heading and a text each. docs/losses-differ.md ends with it.
CAUSES = Path(__file__).parents[1] / "data" / "causes.md"
_LINK = re.compile(r"\[([^\]]*)\]\(([\w-]+\.md)?(#[\w-]+)?\)")


@record(frozen=True)
class Entry:
    """A code with what a reader wants to know; ``doc`` is Markdown."""

    code: str
    name: str
    summary: str
    doc: str
    cases: tuple[Case, ...] = ()

    @property
    def page(self) -> str:
        """Where the documentation has it."""
        return f"docs/rules.md#{self.code.lower()}"


# What the tool leaves to its user. No rewriter stands behind these.
BY_HAND = (
    Entry(
        "MGPU901",
        "config-kept",
        "a config stays on its session, where it works as before",
        """\
## What it means
The program runs on TF2 as it is, with this `ConfigProto` on its session. The
finding says what keeps the config from moving to `tf.config`.

## Why
Options of `tf.config` hold for the whole process. A config that is passed to
code that cannot be seen, that has a field without an equivalent in TF2, or that differs
from another session's has no exact equivalent there. A config moves whole or
not at all. [Why is my config kept?](why-kept.md) lists every reason with what to do.

## What to do
Nothing, for the program to run. To be rid of the config, change what the finding
names and run migrate-mgpu again.
""",
    ),
    Entry(
        "MGPU902",
        "program-refused",
        "a program stays as it is, because it cannot run on TF2 yet",
        """\
## What it means
The place that the finding names does not work on TF2, not even under
`tf.compat.v1`: names of `tf.contrib` that nothing else has,
`tensorflow.examples`, Python 2 that cannot be converted. All files of the program stay unchanged.

## Why
Half a migrated program runs nowhere.

## What to do
Mend what the finding names, as it advises, and run migrate-mgpu again.
""",
    ),
    Entry(
        "MGPU903",
        "growth-or-limit",
        "`allow_growth` is left out beside a memory limit",
        """\
## What it means
The config asked for a memory fraction and for growth. The fraction became a
memory limit; growth was left out. Where a variable holds the fraction, the written code asks
it: growth holds where that is 0 or None.

## Why
TF2 refuses a GPU that has both. In TF1 the fraction limits what growth may take,
so the limit is the half that other programs on the GPU rely on. What is lost:
memory is now taken when the program starts, not as it is needed.

## What to do
If growing matters more than the limit, drop the memory fraction.
""",
    ),
    Entry(
        "MGPU904",
        "unknown-import",
        "a module is imported by a name that is only known at run time",
        """\
## What it means
`importlib.import_module(name)` or `__import__(name)` in a migrated program, with a
name that the code does not spell out. Modules that no other file imports, and
that lie where such a name can lead (beside the file, below it, or in a folder that
it names), are migrated with the program; others are not.

## Why
All modules of a process must speak of the same TensorFlow: one that still says
`import tensorflow as tf` for TF1's names fails when it is imported.

## What to do
See that every module that the name can be is among the changed files. One that
is not can be imported once, under `if False:`, where the tool sees it.
""",
    ),
    Entry(
        "MGPU905",
        "value-changed",
        "a function of TensorFlow answers something else in TF2, by the same name",
        """\
## What it means
The program runs on TF2, and a function that it calls gives another value there than in TF 1.15,
under `tf.compat.v1` as well. Keras's cosine similarity changed its sign: `CosineSimilarity` and
`cosine_proximity` of 1.15 give the similarity, those of TF2 its negative, and 'cosine_similarity'
as a loss with them. `tf.image.per_image_standardization` gives back the type of its image in
1.15, and float32 in TF2: the finding names calls whose image was decoded and not cast.

## Why
Nothing fails, and the program learns something else. Which of the two was meant only its owner
can say.

## What to do
What the finding advises, or nothing where TF2's value is the one that was meant.
""",
    ),
    Entry(
        "MGPU906",
        "tf1-requirement",
        "a requirement keeps a migrated program on TF1",
        """\
## What it means
A requirement file beside or above a migrated program allows only TF1:
`tensorflow-gpu==1.15`, `tensorflow==1.*`, `tensorflow<2`.

## Why
Requirement files are never edited: others may use the same file, and which
versions they want is theirs to say.

## What to do
Write what the finding advises. `tensorflow-gpu` is no longer published, the
package `tensorflow` uses GPUs as well.
""",
    ),
    Entry(
        "MGPU907",
        "cell-left-out",
        "a notebook's code cell that is not Python is left out",
        """\
## What it means
A code cell of a migrated notebook is not Python: a text that was pasted into it, or
code with a syntax error. It stays as it is, and the other cells are migrated.

## Why
Such a cell never runs. It is left out only if it does not speak of TensorFlow, and no
line of it that may be code has a name that another cell uses; else the whole notebook
stays unchanged, and so it does with a cell in Python 2.

## What to do
Mend the cell, or make it a Markdown cell.
""",
    ),
    Entry(
        "MGPU908",
        "runs-in-part",
        "a migrated program may reach code that cannot run beside TF2",
        """\
## What it means
The program was migrated and runs on TF2, as far as the files go that it surely imports.
The finding names one that it may import as well: under an `if`, inside a function, or by a
name that is only known at run time (`importlib.import_module(args.model)`). That file uses
what TF2 does not have. Or it names an import that several files may be, or that none is: a
module that is generated or compiled; code that nothing in the run calls; or a name that newer
Pythons, NumPys or SciPys have no more (`np.bool`, `d.iteritems()`, `inspect.getargspec`), which
TF2 brings along; or a flag whose default is not of its kind (`DEFINE_boolean("clip", 40.0)`), at
which absl ends, behind `tf.flags` since 1.5; or an input queue that a bridge makes below
`tf.device("/gpu:0")`: TF2 makes it on that GPU, where nothing can read it, and 1.15 made it on the
CPU.
In a program that was Python 2 (MGPU212) it names what Python 3 may compute otherwise as well:
`/` of what may be integers, text that is encoded or decoded, pickles.

## Why
Refusing the program would be wrong where it never meets the file, and saying that it runs
would be wrong where it does.

## What to do
Mend what the finding names if your runs come to that code, then run migrate-mgpu again.
""",
    ),
    Entry(
        "MGPU909",
        "unknown-suppression",
        "a `# mgpu: ignore[...]` comment names no rule",
        """\
## What it means
A word in the brackets of a `# mgpu: ignore[...]` comment is neither a code (`MGPU103`), the
beginning of one (`MGPU1`), nor a rule's name (`memory-growth`). It switches nothing off.

## Why
A comment with a typing error looks as if it protected its line, and does not.

## What to do
Write a code or a name that `migrate-mgpu rules` lists.
""",
    ),
    Entry(
        "MGPU910",
        "wrapped-towers",
        "a wrapper builds the towers of a program, or a package's trainer does",
        """\
## What it means
The loop over the GPUs stands in one place, and what it builds is given to it: a model, a
function, methods of a class below. Where the package tensorpack or tflearn has that loop
(`SyncMultiGPUTrainerReplicated`, `launch_train_with_config`, `tflearn.DNN`), and the session and
the steps with it, the program is refused. Where it is a class or a function of the program itself,
the finding names it and what it is given, and the program stays on the bridge for what its
other findings name.

## Why
What becomes replicas is a loop that is read with all that it builds, and a session whose steps
are. Of a package neither is part of the program, and no package is written. Of a program's own
wrapper both are there, but a form that the tool does not follow keeps them.

## What to do
With a package: write what one tower builds, a loop over the GPUs, and the steps with a session in
the program itself, and run migrate-mgpu again; or write the replica's function of a
`tf.distribute.MirroredStrategy`, as [MGPU502](#mgpu502) shows it. A network of tflearn is one of
tf.keras, trained by `fit` under the strategy.
With a wrapper of your own: mend what the other findings name. Where that is the wrapper, write
the loop beside the session, with the function that it was given.
""",
    ),
)


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """All codes, in order."""
    rewriters = [
        Entry(one.rule.code, one.rule.name, one.rule.summary, doc, one.cases)
        for one, doc in documented()
    ]
    return tuple(sorted([*rewriters, *BY_HAND], key=lambda entry: entry.code))


def unknown(word: str) -> str | None:
    """Why a word means no rule, with the one that may be meant; None where it does."""
    known = [(entry.code, entry.name) for entry in entries()]
    if names_a_rule(word, known):
        return None
    near = meant(word, [one for pair in known for one in pair])
    text = f"{word!r} is neither a code, the beginning of one, nor a rule's name"
    return f"{text} (`migrate-mgpu rules` lists them){near}"


@lru_cache(maxsize=1)
def by_code() -> dict[str, Entry]:
    return {entry.code: entry for entry in entries()}


def rules(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """``migrate-mgpu rules``."""
    usage = "usage: migrate-mgpu rules\n\nLists every code with its rule's name and summary.\n"
    if list(argv) in (["-h"], ["--help"]):
        stdout.write(usage)
        return 0
    if argv:
        stderr.write(f"{usage}migrate-mgpu rules: error: takes no arguments\n")
        return USAGE
    width = max(len(entry.name) for entry in entries())
    for entry in entries():
        stdout.write(f"{entry.code}  {entry.name:<{width}}  {entry.summary}\n")
    return 0


def explain(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """``migrate-mgpu explain CODE|NAME``."""
    usage = (
        "usage: migrate-mgpu explain CODE|NAME|REASON|CAUSE\n\n"
        "Says what a rule does and why, with examples; why a config is kept (not-followed);\n"
        "what a cause in a parity report means (learning-rate).\n"
    )
    if list(argv) in (["-h"], ["--help"]):
        stdout.write(usage)
        return 0
    if len(argv) != 1:
        stderr.write(f"{usage}migrate-mgpu explain: error: give one code or name\n")
        return USAGE
    texts = explanations(argv[0])
    if texts:
        stdout.write("\n".join(texts))
        return 0
    text = f"{argv[0]!r} is no code, rule, reason or cause (`migrate-mgpu rules` lists the rules)"
    text += meant(argv[0], explained())
    stderr.write(f"migrate-mgpu explain: error: {text}\n")
    return USAGE


def explained() -> list[str]:
    """Every word that `explain` knows."""
    rules = [word for entry in entries() for word in (entry.code, entry.name)]
    return list(dict.fromkeys([*rules, *kept.REASONS, *causes()]))


def explanations(word: str) -> list[str]:
    """What there is to say about a code, a rule's name, a reason or a cause."""
    texts = [
        explanation(entry)
        for entry in entries()
        if word.upper() == entry.code or word == entry.name
    ]
    if word in kept.REASONS:
        why = "\n\n".join(textwrap.fill(part, 88) for part in kept.text(word).split("\n\n"))
        texts.append(f"# {word}: why a config is kept\n\n{why}\n")
    if word in causes():
        texts.append(f"# {word}: a cause in parity reports\n\n{causes()[word]}")
    return [_LINK.sub(_named, text) for text in texts]


def _named(link: re.Match[str]) -> str:
    """A link of the documentation, where nothing can be clicked."""
    return f"{link[1]} (docs/{link[2]})" if link[2] else link[1]


@lru_cache(maxsize=1)
def causes() -> dict[str, str]:
    """What each cause in a parity report means."""
    sections = CAUSES.read_text(encoding="utf-8").split("### ")[1:]
    found = (section.partition("\n") for section in sections)
    return {name: f"{text.strip()}\n" for name, _, text in found}


def explanation(entry: Entry) -> str:
    """Everything about a code, as plain text that is Markdown."""
    parts = [f"# {entry.code} {entry.name}\n\n{entry.doc.strip()}\n"]
    if entry.code == "MGPU901":
        parts.append(f"## Reasons\n\n{kept.page()}")
    if entry.cases:
        parts.append("\n## Examples\n")
    for case in entry.cases:
        parts.append(f"{case.name}:\n\n{_code(case.before)}")
        if case.after is not None and case.after != case.before:
            parts.append(f"becomes\n\n{_code(case.after)}")
        if case.refused is not None:
            parts.append(f"and the finding says: {case.refused}\n")
    return "\n".join(parts)


def _code(text: str) -> str:
    return textwrap.indent(text, "    ")
