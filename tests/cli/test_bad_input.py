"""Files that cannot be read, parsed or written: said with the place, and nothing else suffers."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from migrate_mgpu.run import files
from tests.cli.running import CLEAN, GROWTH, GROWTH_AFTER, Cli

FAILED = 8


def migrated(before: bytes) -> bytes:
    """What becomes of GROWTH within some bytes."""
    newline = b"\r\n" if b"\r\n" in before else b"\r" if b"\r" in before else b"\n"
    old, new = (text.encode().replace(b"\n", newline) for text in (GROWTH, GROWTH_AFTER))
    assert old in before or old.rstrip() in before
    return before.replace(old, new).replace(old.rstrip(), new.rstrip())


# -- what Python reads, this tool reads ---------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(GROWTH.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(GROWTH.replace("\n", "\r").encode(), id="lone CR"),
        pytest.param(b"\xef\xbb\xbf" + GROWTH.encode(), id="byte-order mark"),
        pytest.param("# -*- coding: latin-1 -*-\n# ä\n".encode("latin-1") + GROWTH.encode(),
                     id="latin-1 with a cookie"),
        pytest.param("# café, 文字\n".encode() + GROWTH.encode(), id="UTF-8"),
        pytest.param(b"#\x0c\n\x0c\n" + GROWTH.encode() + b"\x0c\nx = 1\n", id="form feeds"),
        pytest.param(GROWTH.encode().rstrip(), id="no final line end"),
        pytest.param("s = 'a\u2028b\u0085c'\n".encode() + GROWTH.encode(),
                     id="separators that end no line"),
        pytest.param(b"s = '''\r'''\n" + GROWTH.encode(), id="a CR in a string"),
    ],
)  # fmt: skip
def test_bytes_around_the_change_stay(cli: Cli, content: bytes) -> None:
    cli.write(train=content)
    mixed = b"'''\r'''" in content
    expected = content.replace(GROWTH.encode(), GROWTH_AFTER.encode()) if mixed else None
    ran = cli("train.py")
    assert (ran.status, ran.err) == (1, "")
    assert cli.data("train.py") == (expected or migrated(content))
    assert cli("train.py").status == 0


def test_tabs(cli: Cli) -> None:
    more = "if 1:\n\tx = 1\n\tif x:\n\t\ty = 2\n"
    cli.write(train=GROWTH + more)
    assert cli("train.py").status == 1
    assert cli.read("train.py") == GROWTH_AFTER.replace("    ", "\t") + more


# -- what cannot be parsed ----------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"import tensorflow as tf\nsess = tf.Session()\nprint 'done', cmp(1, 2)\n",
                     "3: is Python 2 and is not converted: its program stays (bad.py:3: `cmp` is",
                     id="Python 2"),
        pytest.param(b"import tensorflow as tf\nsess = tf.Session()\n\ndef f(:\n",
                     "4: is not valid Python: invalid syntax", id="syntax error"),
        pytest.param(b"import tensorflow as tf\nif 1:\n\tx = 1\n    y = tf.Session()\n",
                     "4: is not valid Python: unindent does not match", id="tabs and spaces"),
        pytest.param(b'"""a"""\nimport os\nfrom __future__ import division\n'
                     b"import tensorflow as tf\ntf.Session()\n",
                     "3: is not valid Python: from __future__ imports", id="late future import"),
        pytest.param(b"import tensorflow as tf\ndef f():\n    print(sess)\n    global sess\n"
                     b"    sess = tf.Session()\n",
                     "4: is not valid Python: name 'sess' is used prior", id="late global"),
        pytest.param(b"# \xe4\nimport tensorflow as tf\nsess = tf.Session()\n",
                     "1: invalid or missing encoding declaration", id="latin-1 on top"),
        pytest.param(b"import tensorflow as tf\nsess = tf.Session()\n# \xe4\n",
                     "3: is not valid utf-8: ", id="latin-1 without a cookie"),
        pytest.param(b"# coding: nonsense\nimport tensorflow as tf\ntf.Session()\n",
                     "1: unknown encoding: nonsense", id="unknown encoding"),
        pytest.param(b"import tensorflow as tf\ntf.Session()\n\0", "null bytes", id="null byte"),
        pytest.param(b"import tensorflow as tf\nx = " + b"(" * 5000 + b")" * 5000
                     + b"\ntf.Session()\n", ":", id="nested too deeply"),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed(cli: Cli, content: bytes, message: str) -> None:
    cli.write(bad=content, train=GROWTH)
    ran = cli(".")
    assert ran.status == FAILED | 1
    assert ran.err.startswith("bad.py:")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert cli.data("bad.py") == content
    assert cli.read("train.py") == GROWTH_AFTER


def test_python_does_not_warn_of_the_authors_code(
    cli: Cli, recwarn: pytest.WarningsRecorder
) -> None:
    warnings.simplefilter("always")
    cli.write(train=GROWTH + 'x = 1\nif x is 0:\n    print("\\d")\n')
    assert cli("train.py").status == 1
    assert not recwarn.list


def test_files_without_anything(cli: Cli) -> None:
    cli.write(empty=b"", blank=b"\n\n", comment=b"# tf.Session")
    assert (cli(".").status, cli(".").err) == (0, "")


def test_a_broken_file_without_tensorflow_is_not_our_business(cli: Cli) -> None:
    cli.write(bad=b"print 'hello'\n", nul=b"\0", train=GROWTH)
    ran = cli(".")
    assert (ran.status, ran.err) == (1, "")


# -- what cannot be read ------------------------------------------------------


def test_a_broken_helper_keeps_the_program_that_imports_it(cli: Cli) -> None:
    """It ends there with any TensorFlow; a file of its name elsewhere is nothing to it."""
    cli.write(train="import helper\n" + GROWTH, helper="def f(self. x):\n    pass\n")
    ran = cli("train.py", "helper.py")
    assert "it imports helper.py, which is not valid Python" in ran.out
    assert ran.status == FAILED and cli.read("train.py").endswith(GROWTH)
    cli.put("other/helper.py", "def f(:\n")
    cli.write(helper="def f(x):\n    pass\n")
    ran = cli("train.py", "helper.py", "other/helper.py")
    assert (ran.status, ran.err) == (1, "")


def test_what_is_no_file(cli: Cli) -> None:
    os.mkfifo(cli.folder / "pipe.py")
    (cli.folder / "loop.py").symlink_to("loop.py")
    (cli.folder / "broken.py").symlink_to("gone.py")
    (cli.folder / ".#train.py").symlink_to("someone@host.123")  # an editor's lock
    cli.write(train=GROWTH, x="")
    cli.put("folder.py/inner.py", GROWTH)
    ran = cli(".")
    assert ran.status == FAILED | 1
    assert ran.err == (
        "broken.py: cannot be read: is a broken link (gone.py)\n"
        "loop.py: cannot be read: is a broken link (loop.py)\n"
        "pipe.py: cannot be read: is not a regular file\n"
    )
    assert cli.read("train.py") == cli.read("folder.py/inner.py") == GROWTH_AFTER


def test_a_pipe_beside_a_script_is_not_waited_for(cli: Cli) -> None:
    cli.write(train="import helper\n" + GROWTH)
    os.mkfifo(cli.folder / "helper.py")
    assert cli("train.py").status == 1


def test_a_file_that_cannot_be_opened(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write(secret=GROWTH, train=GROWTH)
    read = files.read

    def refusing(path: str) -> bytes:
        if path.endswith("secret.py"):
            raise files.Unread(path, "Permission denied")
        return read(path)

    monkeypatch.setattr(files, "read", refusing)
    ran = cli(".")
    assert (ran.status, ran.err) == (9, "secret.py: cannot be read: Permission denied\n")
    assert cli.read("train.py") == GROWTH_AFTER


def test_a_file_that_vanishes_before_it_is_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write(a=GROWTH, gone=GROWTH)
    discover = files.discover

    def vanishing(*arguments: object) -> object:
        found = discover(*arguments)  # type: ignore[arg-type]
        (cli.folder / "gone.py").unlink()
        return found

    monkeypatch.setattr(files, "discover", vanishing)
    ran = cli(".")
    assert (ran.status, ran.err) == (9, "gone.py: cannot be read: No such file or directory\n")
    assert cli.read("a.py") == GROWTH_AFTER


# -- what cannot be written ---------------------------------------------------


def test_a_read_only_file(cli: Cli) -> None:
    cli.write(locked=GROWTH, train=GROWTH)
    (cli.folder / "locked.py").chmod(0o444)
    ran = cli(".")
    assert (ran.status, ran.err) == (9, "locked.py: cannot be written: Permission denied\n")
    assert "locked.py:4:1: MGPU103 available" in ran.out
    assert cli.read("locked.py") == GROWTH
    assert cli.read("train.py") == GROWTH_AFTER


def test_a_file_that_changes_while_it_is_migrated(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write(busy=GROWTH, train=GROWTH)
    read = files.read

    def changing(path: str) -> bytes:
        data = read(path)
        if path.endswith("busy.py"):
            cli.write(busy=GROWTH + "print(1)  # saved by an editor\n")
        return data

    monkeypatch.setattr(files, "read", changing)
    ran = cli(".")
    assert (ran.status, ran.err) == (
        9, "busy.py: changed while it was being migrated; left as it is now\n",
    )  # fmt: skip
    assert cli.read("busy.py") == GROWTH + "print(1)  # saved by an editor\n"
    assert cli.read("train.py") == GROWTH_AFTER


def test_a_full_disk_leaves_the_old_file(cli: Cli) -> None:
    """Here a limit on the size of files: the first bytes are written, then the system refuses."""
    cli.write(train=GROWTH)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        ran = cli("train.py")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (ran.status, ran.err) == (8, "train.py: cannot be written: File too large\n")
    assert cli.read("train.py") == GROWTH
    assert os.listdir(cli.folder) == ["train.py"]


HELPER = """\
import tensorflow as tf


def make_config():
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    return config
"""
CALLER = """\
import tensorflow as tf
from helper import make_config

sess = tf.Session(config=make_config())
"""


@pytest.mark.parametrize("locked", ["helper.py", "caller.py"])
def test_files_that_need_each_other_are_written_together(cli: Cli, locked: str) -> None:
    cli.write(helper=HELPER, caller=CALLER, other=GROWTH)
    (cli.folder / locked).chmod(0o444)
    ran = cli(".")
    assert ran.status == 9
    assert f"{locked}: cannot be written: Permission denied\n" in ran.err
    assert f"not written, because {locked} could not be\n" in ran.err
    assert (cli.read("helper.py"), cli.read("caller.py")) == (HELPER, CALLER)
    assert cli.read("other.py") == GROWTH_AFTER


# -- links, modes, times ------------------------------------------------------


def test_behind_a_link_the_target_is_written(cli: Cli) -> None:
    target = cli.put("elsewhere/real.py", GROWTH)
    link = cli.folder / "train.py"
    link.symlink_to("elsewhere/real.py")
    assert cli("train.py").status == 1
    assert link.is_symlink()
    assert target.read_text() == GROWTH_AFTER


def test_a_hard_link_becomes_a_file_of_its_own(cli: Cli) -> None:
    """As docs/quickstart.md says."""
    cli.write(train=GROWTH)
    (cli.folder / "other.txt").hardlink_to(cli.folder / "train.py")
    assert cli("train.py").status == 1
    assert "set_memory_growth" in (cli.folder / "train.py").read_text()
    assert (cli.folder / "other.txt").read_text() == GROWTH


def test_the_mode_stays_and_unchanged_files_are_not_touched(cli: Cli) -> None:
    cli.write(train=GROWTH, clean=CLEAN + "import tensorflow as tf\n")
    for name in ("train.py", "clean.py"):
        (cli.folder / name).chmod(0o751)
        os.utime(cli.folder / name, (1_000_000_000, 1_000_000_000))
    before = (cli.folder / "clean.py").stat()
    started = time.time()
    cli(".")
    train, clean = (cli.folder / "train.py").stat(), (cli.folder / "clean.py").stat()
    assert stat.S_IMODE(train.st_mode) == 0o751
    # A changed file is new to make and to Python's own cache.
    assert train.st_mtime >= started - 5
    assert (clean.st_ino, clean.st_mtime_ns, clean.st_mode) == (
        before.st_ino, before.st_mtime_ns, before.st_mode,
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(cli: Cli) -> None:
    cli.write(train=GROWTH)
    os.chown(cli.folder / "train.py", 1234, 1235)
    cli("train.py")
    status = (cli.folder / "train.py").stat()
    assert (status.st_uid, status.st_gid) == (1234, 1235)


# -- size ---------------------------------------------------------------------


def test_50_000_lines(cli: Cli) -> None:
    head, tail = GROWTH.split("sess =")
    body = "def layer(net):\n    return net + 1\n\n\nnet = 0\n" + "net = layer(net)\n" * 50_000
    cli.write(long=f"{head}{body}sess ={tail}", train=GROWTH)
    started = time.monotonic()
    ran = cli(".")
    assert (ran.status, ran.err) == (1, "")
    assert time.monotonic() - started < 60
    assert cli.read("long.py").count("net = layer(net)\n") == 50_000
    assert "set_memory_growth" in cli.read("long.py")


def test_the_installed_command(cli: Cli) -> None:
    """One run as users start it."""
    cli.write(train=GROWTH, bad=b"import tensorflow as tf\ntf.Session(\n")
    command = Path(sys.executable).with_name("migrate-mgpu")
    start = [str(command)] if command.exists() else [sys.executable, "-m", "migrate_mgpu"]
    ran = subprocess.run([*start, "."], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 9
    assert ran.stderr == "bad.py:2: is not valid Python: '(' was never closed\n" or (
        ran.stderr.startswith("bad.py:")  # Python before 3.10 words it differently
    )
    assert ran.stdout.endswith(
        "1 of 2 files changed; configs: 1 moved, 0 kept, 0 refused; 1 could not be processed\n"
    )
    assert cli.read("train.py") == GROWTH_AFTER
