"""--select, --ignore, --exclude, --baseline, [tool.migrate-mgpu], standard input."""

from __future__ import annotations

import json

import pytest

from migrate_mgpu import cli as command_line
from migrate_mgpu.core.options import SUBCOMMANDS, documentation
from tests.cli.running import CLEAN, GROWTH, GROWTH_AFTER, KEPT, REFUSED, Cli

TWO_OPTIONS = """\
import tensorflow as tf

config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
sess = tf.Session(config=config)
"""


# -- --select, --ignore -------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        ["--select", "MGPU101,MGPU103,v1-behavior"],
        ["--select", "MGPU1,MGPU2"],
        ["--select", "mgpu1", "--select=MGPU2"],
        ["--ignore", "log-device-placement"],
        ["--select", "MGPU", "--ignore", "MGPU104, memory-fraction"],
        ["--ignore", "MGPU9"],
    ],
)
def test_selected_rules_do_their_work(cli: Cli, options: list[str]) -> None:
    cli.write(train=TWO_OPTIONS)
    assert cli(*options, "train.py").status == 1
    assert "set_soft_device_placement(True)" in cli.read("train.py")
    assert "set_memory_growth(gpu, True)" in cli.read("train.py")


@pytest.mark.parametrize(
    "options",
    [
        ["--select", "MGPU101,MGPU201"],
        ["--ignore", "MGPU103"],
        ["--ignore", "memory-growth"],
        ["--select", "MGPU1", "--ignore", "MGPU1,MGPU2"],
        ["--select", "MGPU9"],
    ],
)
def test_a_config_moves_whole_or_not_at_all(cli: Cli, options: list[str]) -> None:
    cli.write(train=TWO_OPTIONS)
    out = cli(*options, "train.py").out
    assert "tf.config." not in cli.read("train.py")
    assert "MGPU901 kept: the config stays on its session: MGPU10" in out
    assert "is not selected" in out


def test_findings_without_a_rewriter_can_be_ignored(cli: Cli) -> None:
    cli.write(old=REFUSED, train=GROWTH)
    assert "MGPU902" in cli("--check", ".").out
    ran = cli("--check", "--strict", "--ignore", "program-refused", ".")
    assert ran.status == 1
    assert "MGPU902" not in ran.out


# -- --exclude ----------------------------------------------------------------


def test_exclude(cli: Cli) -> None:
    cli.write(a=GROWTH, gen__b=GROWTH, sub__gen__c=GROWTH)
    assert cli("--exclude", "gen/", ".").lines[-1].startswith("1 of 1 file changed")
    assert (
        cli("--exclude", "/gen", "--exclude", "a.py", "--check", ".")
        .lines[-1]
        .startswith("1 of 1 file would change")
    )
    assert cli("--exclude", "gen", "gen/b.py", "sub").out.startswith("no Python files found")


# -- --baseline ---------------------------------------------------------------


def test_baseline(cli: Cli) -> None:
    cli.write(old=REFUSED, kept=KEPT)
    command = ("--check", "--strict", "--baseline", "accepted.json", ".")
    first = cli("--write-baseline", *command)
    assert first.status == 1  # kept.py would be bridged
    assert first.lines[-1].endswith("; 3 accepted by the baseline")
    accepted = cli.read("accepted.json")
    assert json.loads(accepted) == {
        "version": 2,
        "findings": [
            {
                "path": "kept.py",
                "code": "MGPU901",
                "text": "config = tf.ConfigProto(log_device_placement=True)",
                "key": "not-followed",
                "affects": "",
                "message": "the config stays on its session: it is passed to "
                "`framework.use(...)` (line 5)",
                "count": 1,
            },
            {
                "path": "old.py",
                "code": "MGPU902",
                "text": "net = crf.CrfForwardRnnCell(tf.zeros([1, 2]), 3)",
                "key": "gone-name",
                "affects": "",
                "message": "`tensorflow.contrib.crf.CrfForwardRnnCell` does not exist in TF2",
                "count": 1,
            },
            {
                "path": "old.py",
                "code": "MGPU902",
                "text": "sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))",
                "key": "gone-name",
                "affects": "",
                "message": "unchanged: `tensorflow.contrib.crf.CrfForwardRnnCell` does not exist "
                "in TF2 (line 4)",
                "count": 1,
            },
        ],
    }
    # Lines move, findings stay accepted.
    cli.write(old='"""Old."""\n\n\n' + REFUSED, kept="# kept\n" + KEPT)
    again = cli(*command)
    assert again.status == 1
    assert "MGPU90" not in again.out
    # A second one of the same kind is new.
    cli.write(old=REFUSED + "sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))\n")
    more = cli(*command)
    assert more.status == 5
    assert more.out.count("MGPU902") == 1
    assert cli.read("accepted.json") == accepted


def test_a_baseline_does_not_depend_on_wording(cli: Cli) -> None:
    """A later version words its reasons otherwise: what was accepted stays accepted."""
    cli.write(old=REFUSED, kept=KEPT)
    command = ("--check", "--strict", "--baseline", "accepted.json", ".")
    cli("--write-baseline", *command)
    accepted = json.loads(cli.read("accepted.json"))
    for entry in accepted["findings"]:
        entry["message"] = "worded otherwise"
    cli.put("accepted.json", json.dumps(accepted))
    assert cli(*command).lines[-1].endswith("; 3 accepted by the baseline")
    # As the first version wrote it.
    for entry in accepted["findings"]:
        del entry["key"], entry["affects"]
    cli.put("accepted.json", json.dumps({**accepted, "version": 1}))
    assert cli(*command).lines[-1].endswith("; 3 accepted by the baseline")
    # Another reason at the same line is new.
    for entry in accepted["findings"]:
        entry.update(key="another", affects="")
    cli.put("accepted.json", json.dumps(accepted))
    assert "3 of the baseline no longer found" in cli(*command).lines[-1]


def test_entries_that_nothing_matches_any_more_are_counted(cli: Cli) -> None:
    cli.write(old=REFUSED, kept=KEPT)
    cli("--check", "--baseline", "accepted.json", "--write-baseline", ".")
    cli.write(old=CLEAN)
    ran = cli("--check", "--baseline", "accepted.json", ".")
    assert ran.lines[-1].endswith(
        "; 1 accepted by the baseline; 2 of the baseline no longer found "
        "(--write-baseline drops them)"
    )
    cli("--check", "--baseline", "accepted.json", "--write-baseline", ".")
    assert "no longer found" not in cli("--check", "--baseline", "accepted.json", ".").out
    cli.write(kept=CLEAN)
    assert "1 of the baseline no longer" in cli("--check", "--baseline", "accepted.json", ".").out


def test_paths_in_a_baseline_start_from_its_folder(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write(src__old=REFUSED)
    cli("--check", "--baseline", "accepted.json", "--write-baseline", "src")
    assert json.loads(cli.read("accepted.json"))["findings"][0]["path"] == "src/old.py"
    monkeypatch.chdir(cli.folder / "src")
    assert cli("--check", "--strict", "--baseline", "../accepted.json", ".").status == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a baseline of migrate-mgpu"),
        ("[]", "is not a baseline of migrate-mgpu"),
        ('{"version": 1, "findings": [{}]}', "is not a baseline of migrate-mgpu"),
        ('{"version": 7}', "is of version 7, not 2"),
    ],
)
def test_a_wrong_baseline_stops_the_run(cli: Cli, content: str, message: str) -> None:
    cli.write(train=GROWTH)
    cli.put("accepted.json", content)
    ran = cli("--baseline", "accepted.json", "train.py")
    assert (ran.status, ran.out, ran.err) == (2, "", f"accepted.json: {message}\n")
    assert cli.read("train.py") == GROWTH


def test_a_baseline_that_cannot_be_written(cli: Cli) -> None:
    cli.write(train=GROWTH)
    ran = cli("--baseline", "none/accepted.json", "--write-baseline", "train.py")
    assert ran.status == 9
    assert ran.err == "none/accepted.json: cannot be written: No such file or directory\n"


# -- [tool.migrate-mgpu] ------------------------------------------------------


def test_the_table_says_what_the_command_line_does_not(cli: Cli) -> None:
    cli.write(src__train=TWO_OPTIONS, src__old=REFUSED, src__gen__a=GROWTH)
    cli.put(
        "pyproject.toml",
        '[project]\nname = "x"\n\n[tool.migrate-mgpu]\nignore = ["memory-growth"]\n'
        'exclude = ["/src/gen"]\nstrict = true\nquiet = true\n',
    )
    ran = cli("--check", "src")
    assert ran.status == 5
    assert "MGPU901" in ran.out and "MGPU201" not in ran.out
    assert ran.lines[-1].startswith("1 of 2 files would change")
    # The command line wins, option by option.
    assert cli("--check", "--no-strict", "src").status == 1
    assert "MGPU103 available" in cli("--check", "--no-quiet", "--ignore=MGPU104", "src").out
    assert cli("--check", "--exclude", "src/old.py", "src").lines[-1].startswith("2 of 2 files")


def test_every_key(cli: Cli) -> None:
    cli.write(train=GROWTH, old=REFUSED)
    cli.put("accepted.json", '{"version": 1, "findings": []}')
    cli.put(
        "pyproject.toml",
        "[tool.migrate-mgpu]\nselect = ['MGPU1', 'MGPU2']\nbridge = false\n"
        "output-format = 'json'\nstatistics = true\nbaseline = 'accepted.json'\n",
    )
    document = json.loads(cli(".").out)
    assert document["counts"]["configs"] == {"moved": 0, "kept": 1, "refused": 1}
    cli.put("pyproject.toml", "[tool.migrate-mgpu]\nno-bridge = true\n")
    assert cli("train.py").status == 0
    assert cli("--bridge", "train.py").status == 1


def test_the_nearest_file_above_the_first_path_counts(cli: Cli) -> None:
    cli.write(a__train=GROWTH, b__train=GROWTH)
    cli.put("pyproject.toml", "[tool.migrate-mgpu]\nno-bridge = true\n")
    cli.put("b/pyproject.toml", "[project]\n")
    assert cli("--check", "a", "b").status == 0
    assert cli("--check", "b", "a").status == 1
    assert cli("--check", "a/train.py").status == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "[project]\nstrict = 1\n[tool.migrate-mgpu]\n\nstirct = true\n",
            "pyproject.toml:5: [tool.migrate-mgpu] has no key 'stirct'; did you mean `strict`?",
        ),
        (
            "[tool.migrate-mgpu]\nstrict = 'yes'\n",
            "pyproject.toml:2: [tool.migrate-mgpu] strict must be true or false, not 'yes'",
        ),
        (
            "[tool.migrate-mgpu]\nselect = 'MGPU1'\n",
            "pyproject.toml:2: [tool.migrate-mgpu] select must be a list of strings, not 'MGPU1'",
        ),
        (
            "[tool.migrate-mgpu]\nexclude = [1]\n",
            "pyproject.toml:2: [tool.migrate-mgpu] exclude must be a list of strings, not [1]",
        ),
        (
            "[tool.migrate-mgpu]\noutput-format = 'xml'\n",
            "pyproject.toml:2: [tool.migrate-mgpu] output-format must be one of text, json, ",
        ),
        ("[tool.migrate-mgpu]\nselect = ['MGPU777']\n", "select: 'MGPU777' is neither"),
        ("[tool.migrate-mgpu\n", "pyproject.toml: is not valid TOML: "),
        ("tool.migrate-mgpu = 3\n", "pyproject.toml: tool.migrate-mgpu is not a table"),
    ],
)
@pytest.mark.parametrize("content", [GROWTH, CLEAN], ids=["hit", "clean"])
def test_a_wrong_table_is_a_usage_error(cli: Cli, table: str, message: str, content: str) -> None:
    cli.write(train=content)
    cli.put("pyproject.toml", table)
    ran = cli("train.py")
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err
    assert cli.read("train.py") == content


# -- standard input -----------------------------------------------------------


def test_stdin_to_stdout(cli: Cli) -> None:
    ran = cli("-", stdin=GROWTH.encode())
    assert (ran.status, ran.out) == (1, GROWTH_AFTER)
    assert ran.err.startswith("<stdin>:1:1: MGPU201 available: ")
    assert ran.err.endswith("1 of 1 file would change; configs: 1 moved, 0 kept, 0 refused\n")
    again = cli("-", stdin=ran.raw)
    assert (again.status, again.out) == (0, GROWTH_AFTER)


@pytest.mark.parametrize(
    "data",
    [b"", b"x = 1", CLEAN.encode(), b"\xff\xfe broken", b"sess = tf.Session(\n", REFUSED.encode()],
)
def test_what_cannot_be_migrated_comes_back_as_it_is(cli: Cli, data: bytes) -> None:
    assert cli("-", stdin=data).raw == data


def test_stdin_byte_for_byte(cli: Cli) -> None:
    start = b"# -*- coding: latin-1 -*-\r\n# \xe4\r\n"
    ran = cli("-", stdin=start + GROWTH.replace("\n", "\r\n").encode())
    assert ran.raw == start + GROWTH_AFTER.replace("\n", "\r\n").encode()


def test_stdin_diff_and_check(cli: Cli) -> None:
    diff = cli("--diff", "-", stdin=GROWTH.encode())
    assert diff.status == 1
    assert diff.out.startswith("--- <stdin>\n+++ <stdin>\n@@ -1,5 +1,6 @@\n")
    check = cli("--check", "-", stdin=GROWTH.encode())
    assert (check.status, check.out) == (1, "")
    assert "MGPU103 available" in check.err


def test_stdin_filename(cli: Cli) -> None:
    cli.write(src__helper="def make():\n    pass\n")
    ran = cli("-", "--stdin-filename", "src/train.py", "--output-format", "json",
              stdin=GROWTH.encode())  # fmt: skip
    assert ran.out == GROWTH_AFTER
    assert {finding["path"] for finding in json.loads(ran.err)["findings"]} == {"src/train.py"}
    assert not (cli.folder / "src/train.py").exists()
    # Its settings are those of the file's place.
    cli.put("src/pyproject.toml", "[tool.migrate-mgpu]\nno-bridge = true\n")
    assert cli("-", "--stdin-filename", "src/train.py", stdin=GROWTH.encode()).status == 0
    assert cli("-", "--stdin-filename", "train.py", stdin=GROWTH.encode()).status == 1


def test_a_broken_stdin_is_named(cli: Cli) -> None:
    ran = cli("-", stdin=b"import tensorflow as tf\nprint cmp(1, 2), tf.Session()\n")
    assert ran.status == 8
    assert ran.err.startswith("<stdin>:2: is Python 2 and is not converted: its program stays")


# -- words with a slip --------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "question"),
    [
        (["partiy", "train.py"], "there is no path 'partiy'; did you mean `parity`?"),
        (["--statistic", "train.py"], "--statistic; did you mean `--statistics`?"),
        (["--select", "memory_growth", "train.py"], "did you mean `memory-growth`?"),
        (["explain", "memory_growth"], "did you mean `memory-growth`?"),
    ],
)
def test_did_you_mean(cli: Cli, argv: list[str], question: str) -> None:
    cli.write(train=GROWTH)
    ran = cli(*argv)
    assert ran.status == 2 and question in ran.err
    assert cli.read("train.py") == GROWTH, "nothing is rewritten after a slip"


def test_help_names_every_subcommand(cli: Cli) -> None:
    out = cli("--help").out
    assert tuple(SUBCOMMANDS) == command_line._SUBCOMMANDS
    for name, text in SUBCOMMANDS.items():
        assert f"\n  {name:<10} {text}\n" in out
        assert cli(name, "--help").status == 0
    assert f"documentation: {documentation()}\n" in out and "examples:" in out


# -- comments and settings that switch rules off --------------------------------


def test_a_file_that_is_switched_off_keeps_its_program(cli: Cli) -> None:
    """Without its `import tensorflow.compat.v1` nothing of the program would run on TF2."""
    cli.write(train="import helper\n" + GROWTH, helper="# mgpu: ignore-file\n" + GROWTH)
    ran = cli(".")
    assert (ran.status, cli.read("train.py")) == (0, "import helper\n" + GROWTH)
    assert "helper.py:2:1: MGPU902 refused: this file needs TF1's names" in ran.out
    assert "runs on" not in ran.out


def test_what_is_not_selected_is_told_as_that(cli: Cli) -> None:
    cli.write(train=GROWTH)
    out = cli("--select", "MGPU101", "train.py").out
    assert "left (MGPU201 is not selected); next: select MGPU201" in out
    assert "--no-bridge" not in out
    assert "left (--no-bridge)" in cli("--no-bridge", "train.py").out


@pytest.mark.parametrize("words", ["MGPU103", "MGPU1", "memory-growth", "MGPU999, MGPU103"])
def test_a_comment_takes_what_ignore_takes(cli: Cli, words: str) -> None:
    cli.write(train=GROWTH.replace("growth = True", f"growth = True  # mgpu: ignore[{words}]"))
    out = cli("train.py").out
    assert "MGPU901 kept: the config stays on its session: a comment switches MGPU103 off" in out
    assert ("train.py:4:1: MGPU909 manual" in out) == ("MGPU999" in words)


def test_a_table_of_another_spelling(cli: Cli) -> None:
    cli.write(train=GROWTH)
    cli.put("pyproject.toml", "[project]\n\n[tool.migrate_mgpu]\nstrict = true\n")
    ran = cli("train.py")
    assert ran.status == 2 and ran.err.endswith(
        "pyproject.toml:3: [tool.migrate_mgpu] is called [tool.migrate-mgpu]\n"
    )
    cli.put("pyproject.toml", "[tool.migrate-mgpu]\nselect = ['memory_growth']\n")
    ran = cli("train.py")
    assert ran.status == 2 and "pyproject.toml:2: [tool.migrate-mgpu] select: 'mem" in ran.err
    assert "did you mean `memory-growth`?" in ran.err


def test_tf1_code_that_no_program_imports_is_named(cli: Cli) -> None:
    library = "import tensorflow as tf\n\ndef layer(x):\n    return tf.layers.dense(x, 1)\n"
    cli.write(train=GROWTH, lib__layers=library, lib__plain=CLEAN)
    ran = cli(".")
    assert "TF1 code that no program of this run imports: 1 file\n  left as it is" in ran.out
    assert "\n    lib/layers.py\n" in ran.out and cli.read("lib/layers.py") == library
    (cli.folder / "train.py").unlink()
    model_fn = library + "\ndef model_fn(features, labels, mode):\n"
    cli.write(lib__model=model_fn + "    return tf.estimator.EstimatorSpec(mode)\n")
    ran = cli("lib")
    assert ran.status == 0 and "imports: 2 files\n  left as they are" in ran.out
    assert ran.lines[-1] == "nothing to migrate: no session, Estimator or copied model in 3 files"
    assert json.loads(cli("lib", "--output-format=json").out)["unused"] == [
        "lib/layers.py", "lib/model.py",
    ]  # fmt: skip


# -- what no program reaches ------------------------------------------------------


def test_tf1_code_without_a_session_is_named(cli: Cli) -> None:
    cli.write(net="import tensorflow as tf\n\ndef net(x):\n    return tf.layers.dense(x, 2)\n")
    cli.write(data="import tensorflow as tf\n\ndef data():\n    return tf.data.Dataset.range(3)\n")
    ran = cli("--check", ".")
    assert "TF1 code that no program of this run imports: 1 file\n" in ran.out
    assert "    net.py\n" in ran.out and "data.py" not in ran.out
    assert ran.lines[-1] == "nothing to migrate: no session, Estimator or copied model in 2 files"


def test_a_test_case_that_calls_methods_of_tf1_is_named(cli: Cli) -> None:
    cli.write(
        test_data="import tensorflow as tf\n\nclass DataTest(tf.test.TestCase):\n"
        "    def test_it(self):\n        with self.test_session() as sess:\n"
        "            sess.run(data().make_one_shot_iterator().get_next())\n"
    )
    cli.write(train=GROWTH)
    out = cli("--check", ".").out
    assert "TF1 code that no program of this run imports: 1 file\n" in out
    assert "    test_data.py\n" in out


def test_what_leaves_bridges_out_is_what_is_advised(cli: Cli) -> None:
    cli.write(train=GROWTH)
    selected = cli("--check", "--select", "MGPU103", "train.py").out
    assert "(select MGPU201 (v1-behavior) too)" in selected and "--no-bridge" not in selected
    switched = cli("--check", "--no-bridge", "train.py").out
    assert "(run migrate-mgpu without --no-bridge)" in switched and "MGPU201" not in switched


def test_a_choice_with_a_slip_is_answered(cli: Cli) -> None:
    assert "did you mean `list`?" in cli("runtimes", "lst").err
    assert "did you mean `--devices`?" in cli("parity", "--devises", "1", "train.py").err
    assert cli("parity", "shw").err == "shw: no such program; did you mean `show`?\n"
    assert "did you mean `json`?" in cli("--output-format", "jsn", "train.py").err


def test_explain_knows_reasons_and_causes(cli: Cli) -> None:
    reason = cli("explain", "not-followed").out
    assert reason.startswith("# not-followed: why a config is kept\n\nThe config is kept because ")
    assert cli("explain", "learning-rate").out.startswith("# learning-rate: a cause in parity")
    both = cli("explain", "memory-growth").out
    assert both.startswith("# MGPU103") and "# memory-growth: a cause in parity reports" in both
    assert "did you mean `learning-rate`?" in cli("explain", "learnig-rate").err
    assert "](" not in cli("explain", "MGPU901").out, "nothing can be clicked in a terminal"
