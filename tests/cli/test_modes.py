"""In place, --diff, --check; findings, the closing summary and the exit bits."""

from __future__ import annotations

import pytest

from migrate_mgpu import __version__
from tests.cli.running import CLEAN, GROWTH, GROWTH_AFTER, KEPT, REFUSED, Cli

DIFF = """\
--- train.py
+++ train.py
@@ -1,5 +1,6 @@
-import tensorflow as tf
+import tensorflow.compat.v1 as tf
+tf.disable_v2_behavior()
 
-config = tf.ConfigProto()
-config.gpu_options.allow_growth = True
-sess = tf.Session(config=config)
+for gpu in tf.config.list_physical_devices('GPU'):
+    tf.config.experimental.set_memory_growth(gpu, True)
+sess = tf.Session()
"""


def report(state: str, verb: str) -> str:
    return f"""\
train.py:1:1: MGPU201 {state}: `import tensorflow.compat.v1 as tf` and `tf.disable_v2_behavior()`
train.py:4:1: MGPU103 {state}: `gpu_options.allow_growth` becomes `set_memory_growth` on every GPU
{"rewrote train.py" + chr(10) if state == "applied" else ""}
Programs: 1 bridge
  bridge, runs on TF 2.15 and newest; next: run it on TF2, compare it with migrate-mgpu parity
    train.py

1 of 1 file {verb}; configs: 1 moved, 0 kept, 0 refused
"""


def test_in_place_and_idempotent(cli: Cli) -> None:
    cli.write(train=GROWTH)
    ran = cli("train.py")
    assert (ran.status, ran.out, ran.err) == (1, report("applied", "changed"), "")
    assert cli.read("train.py") == GROWTH_AFTER
    again = cli("train.py")
    assert (again.status, again.err) == (0, "")
    assert again.lines[-1] == "0 of 1 file changed"
    assert cli.read("train.py") == GROWTH_AFTER


def test_diff(cli: Cli) -> None:
    cli.write(train=GROWTH)
    ran = cli("--diff", "train.py")
    assert (ran.status, ran.out, ran.err) == (1, DIFF, report("available", "would change"))
    assert cli.read("train.py") == GROWTH


def test_check(cli: Cli) -> None:
    cli.write(train=GROWTH)
    ran = cli("train.py", "--check")
    assert (ran.status, ran.out, ran.err) == (1, report("available", "would change"), "")
    assert cli.read("train.py") == GROWTH


def test_quiet_leaves_out_what_was_rewritten(cli: Cli) -> None:
    cli.write(train=GROWTH, old=REFUSED)
    out = cli("-q", "--check", ".").out
    assert "MGPU103" not in out
    assert "MGPU902 refused" in out


@pytest.mark.parametrize("paths", [["a.py"], ["."], ["a.py", "b.py"]])
def test_nothing_to_say(cli: Cli, paths: list[str]) -> None:
    cli.write(a=CLEAN, b="import tensorflow as tf\nprint(tf.__version__)\n")
    for mode in ([], ["--check"], ["--diff"]):
        ran = cli(*mode, *paths)
        said = (ran.err, ran.out) if "--diff" in mode else (ran.out, ran.err)
        files = "1 file" if paths == ["a.py"] else "2 files"
        text = f"nothing to migrate: no TF1 multi-GPU code in {files}\n"
        assert (ran.status, *said) == (0, text, "")


def test_no_files_at_all(cli: Cli) -> None:
    cli.put("sub/readme.txt", "")
    ran = cli("sub")
    assert (ran.status, ran.out) == (0, "no Python files found under sub\n")


# -- exit bits ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "options", "status"),
    [
        ("clean", "", 0),
        ("clean", "--strict", 0),
        ("growth", "", 1),
        ("growth", "--strict", 1),
        ("growth", "--diff --strict", 1),
        ("refused", "", 0),
        ("refused", "--strict", 4),
        ("refused growth", "--strict", 5),
        ("broken", "", 8),
        ("broken growth", "", 9),
        ("broken growth refused", "--strict", 13),
        ("broken refused", "--strict --check", 12),
        ("missing growth", "", 9),
        ("missing", "--strict", 8),
        ("missing clean", "", 8),
    ],
)
def test_exit_bits_add_up(cli: Cli, files: str, options: str, status: int) -> None:
    contents = {
        "clean": CLEAN,
        "growth": GROWTH,
        "refused": REFUSED,
        "broken": "import tensorflow as tf\nsess = tf.Session(\n",
    }
    names = files.split()
    cli.write(**{name: contents[name] for name in names if name != "missing"})
    ran = cli(*options.split(), *(f"{name}.py" for name in names))
    assert ran.status == status
    # All files are tried, whatever happens to one.
    if "growth" in names and "--diff" not in options and "--check" not in options:
        assert cli.read("growth.py") == GROWTH_AFTER


def test_a_missing_path_is_said_and_the_rest_done(cli: Cli) -> None:
    cli.write(train=GROWTH)
    ran = cli("gone.py", "train.py", "nowhere/")
    assert ran.status == 9
    assert ran.err == (
        "gone.py: cannot be read: no such file or folder\n"
        "nowhere: cannot be read: no such file or folder\n"
    )
    assert ran.lines[-1].endswith("; 2 could not be processed")
    assert cli.read("train.py") == GROWTH_AFTER
    alone = cli("gone.py")
    assert (alone.status, alone.out) == (8, "0 of 0 files changed; 1 could not be processed\n")
    assert alone.err == "gone.py: cannot be read: no such file or folder\n"


# -- the closing summary ------------------------------------------------------


def test_programs_by_state_with_what_is_next(cli: Cli) -> None:
    cli.write(old=REFUSED, train=GROWTH, kept=KEPT)
    out = cli("--check", ".").out
    assert (
        out[out.index("\nPrograms") :]
        == """
Programs: 1 bridge; 1 bridge, config kept; 1 refused
  refused; next: fix what is named, then run migrate-mgpu again
    old.py
        old.py:4: `tensorflow.contrib.crf.CrfForwardRnnCell` does not exist in TF2
  bridge, runs on TF 2.15 and newest; next: run it on TF2, compare it with migrate-mgpu parity
    train.py
  bridge, config kept, runs on TF 2.15 and newest; next: run it on TF2; move the kept options \
by hand once the reason no longer applies
    kept.py

2 of 3 files would change; configs: 1 moved, 1 kept, 1 refused
"""
    )


def test_many_programs_of_one_state_do_not_fill_the_screen(cli: Cli) -> None:
    for number in range(30):
        cli.put(f"train_{number:02}.py", GROWTH)
    out = cli("--check", "-q", ".").out
    assert out.splitlines()[-4:] == [
        "    train_04.py",
        "    and 25 more (--statistics names all)",
        "",
        "30 of 30 files would change; configs: 30 moved, 0 kept, 0 refused",
    ]
    assert "    train_29.py\n" in cli("--check", "-q", "--statistics", ".").out


def test_statistics(cli: Cli) -> None:
    cli.write(old=REFUSED, train=GROWTH, kept=KEPT)
    out = cli("--check", "--statistics", ".").out
    assert (
        out[out.index("Sites\n") :]
        == """\
Sites
  configs moved to tf.config            1   33 %
  configs kept on their session         1   33 %
  configs of programs that stay on TF1  1   33 %
  in all                                3

Programs
  bridge               1   33 %
  bridge, config kept  1   33 %
  refused              1   33 %
  in all               3

Findings
  MGPU103 memory-growth    1   17 %
  MGPU201 v1-behavior      2   33 %
  MGPU901 config-kept      1   17 %
  MGPU902 program-refused  2   33 %
  in all                   6

2 of 3 files would change; configs: 1 moved, 1 kept, 1 refused
"""
    )


def test_statistics_of_nothing(cli: Cli) -> None:
    cli.write(a=CLEAN)
    ran = cli("--statistics", "a.py")
    assert ran.status == 0
    assert (
        ran.out
        == """\
Sites
  configs moved to tf.config            0
  configs kept on their session         0
  configs of programs that stay on TF1  0
  in all                                0

Programs

nothing to migrate in 1 file
"""
    )


def test_no_bridge(cli: Cli) -> None:
    cli.write(train=GROWTH)
    ran = cli("--no-bridge", "train.py")
    assert ran.status == 0
    assert cli.read("train.py") == GROWTH
    assert "MGPU901 kept: the config stays on its session: " in ran.out
    assert "\n  left (--no-bridge); next: run migrate-mgpu without --no-bridge\n" in ran.out


# -- usage, help, subcommands -------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "give at least one path, or - for standard input"),
        (["--check"], "give at least one path, or - for standard input"),
        (["--diff", "--check", "a.py"], "argument --check: not allowed with argument --diff"),
        (["--chekc", "a.py"], "unrecognized arguments: --chekc"),
        (["--stat", "a.py"], "unrecognized arguments: --stat"),
        (["-k", "2", "a.py"], "unrecognized arguments: -k"),
        (["-j", "0", "a.py"], "argument -j/--jobs: give a number, 1 or more"),
        (["--jobs", "all", "a.py"], "argument -j/--jobs: give a number, 1 or more"),
        (["--output-format", "xml", "a.py"], "argument --output-format: invalid choice: 'xml'"),
        (["--select", "", "a.py"], "argument --select: give at least one, separated by commas"),
        (["--select", "MGPU999", "a.py"], "--select: 'MGPU999' is neither a code, the beginning"),
        (["--ignore", "memory", "a.py"], "--ignore: 'memory' is neither a code, the beginning"),
        (["--ignore", "M", "a.py"], "--ignore: 'M' is neither a code, the beginning"),
        (["-", "a.py"], "- (standard input) stands alone"),
        (["--stdin-filename", "b.py", "a.py"], "--stdin-filename goes with - (standard input)"),
        (["--write-baseline", "a.py"], "--write-baseline needs --baseline FILE"),
        (["--baseline", "none.json", "a.py"], "none.json: cannot be read: No such file"),
    ],
)
def test_usage_errors(cli: Cli, argv: list[str], message: str) -> None:
    cli.write(a=GROWTH)
    ran = cli(*argv)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err
    assert cli.read("a.py") == GROWTH


def test_options_may_stand_anywhere(cli: Cli) -> None:
    cli.write(a=GROWTH, b=GROWTH)
    assert cli("a.py", "--check", "b.py", "-q").lines[-1].startswith("2 of 2 files would change")
    cli.put("-odd.py", GROWTH)
    assert cli("--check", "--", "-odd.py").status == 1


def test_help_and_version(cli: Cli) -> None:
    ran = cli("--help")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("usage: migrate-mgpu [options] PATH...\n")
    for option in ("--select", "--exclude", "--no-bridge", "--baseline", "--strict"):
        assert option in ran.out
    assert cli("--version").out == f"migrate-mgpu {__version__}\n"


def test_rules(cli: Cli) -> None:
    ran = cli("rules")
    assert ran.status == 0
    lines = ran.lines
    assert lines == sorted(lines)
    assert (
        "MGPU103 memory-growth `gpu_options.allow_growth` becomes `set_memory_growth` on every GPU"
        in [" ".join(line.split()) for line in lines]
    )
    assert any(line.startswith("MGPU906  tf1-requirement ") for line in lines)
    assert cli("rules", "--help").out.startswith("usage: migrate-mgpu rules\n")
    assert cli("rules", "x").status == 2


@pytest.mark.parametrize("word", ["MGPU103", "mgpu103", "memory-growth"])
def test_explain(cli: Cli, word: str) -> None:
    ran = cli("explain", word)
    assert ran.status == 0
    assert ran.out.startswith("# MGPU103 memory-growth\n\n``gpu_options.allow_growth`` becomes")
    assert "## Safety\n" in ran.out
    assert "    sess = tf.Session(config=config)\n\nbecomes\n\n    import tensorflow" in ran.out


def test_explain_what_no_rewriter_stands_behind(cli: Cli) -> None:
    for line in cli("rules").lines:
        ran = cli("explain", line.split()[0])
        assert ran.status == 0
        assert ran.out.startswith(f"# {line.split()[0]} {line.split()[1]}\n")
    assert cli("explain", "MGPU000").err == (
        "migrate-mgpu explain: error: 'MGPU000' is no code, rule, reason or cause "
        "(`migrate-mgpu rules` lists the rules)\n"
    )
    assert [cli("explain").status, cli("explain", "a", "b").status] == [2, 2]


def test_runtimes_is_a_subcommand(cli: Cli) -> None:
    assert cli("runtimes", "--help").out.startswith("usage: migrate-mgpu runtimes")


def test_a_path_named_like_a_subcommand(cli: Cli) -> None:
    for name in ("rules", "explain", "runtimes", "parity"):
        cli.put(f"{name}/train.py", GROWTH)
        assert cli(f"./{name}").status == 1
        assert cli.read(f"{name}/train.py") == GROWTH_AFTER
