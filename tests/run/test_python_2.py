"""Programs of Python 2 are converted first; all that need not change stays byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.run.plan import Planned, Plans
from migrate_mgpu.source import python_2
from tests.support.migration import migrated, run, said

pytest.importorskip("fissix")

TRAIN = """\
import tensorflow as tf

with tf.Session() as sess:
    print sess.run(tf.constant(1))
"""
AFTER = """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
"""


def planned(*files: tuple[str, bytes], ignore: tuple[str, ...] = ()) -> RunResult:
    return migrate(list(files), True, False, Selection(ignore=ignore))


def written(found: RunResult) -> dict[str, str | None]:
    return {str(file.path): file.after for file in found.files if file.changed}


def changed(text: str) -> str:
    found, _ = migrated(TRAIN + text, bridge=True)
    compile(found, "after", "exec")
    assert migrated(found, bridge=True)[0] == found  # twice as well as once
    assert found.startswith(AFTER)
    return found[len(AFTER) :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print\n", "print()\n"),
        ("print >>f, 'a',  # why\n", "print('a', end=' ', file=f)  # why\n"),
        ("exec code in space\n", "exec(code, space)\n"),
        ("if a <> b: x = `a`\n", "if a != b: x = repr(a)\n"),
        ("raise ValueError, 'a'\n", "raise ValueError('a')\n"),
        ("def f(a, (b, c)): return b\n",
         "def f(a, xxx_todo_changeme): (b, c) = xxx_todo_changeme; return b\n"),
        ("mode = 0755 + 10L\n", "mode = 0o755 + 10\n"),
        ("x = unichr(raw_input())\n", "x = chr(input())\n"),
        ("x = input('a')\n", "x = eval(input('a'))\n"),
        ("for a, b in d.iteritems():\n    pass\n", "for a, b in d.items():\n    pass\n"),
        ("x = map(f, a) + zip(a, b)\n", "x = list(map(f, a)) + list(zip(a, b))\n"),
        ("import cPickle as pickle, os  # fast\n", "import pickle as pickle, os  # fast\n"),
        ("import cPickle as pickle  # fast\n", "import pickle  # fast\n"),
        ("import Queue\nq = Queue.Queue()\n", "import queue\nq = queue.Queue()\n"),
        ("x = 7 / 2\nx = len(a) / 2.0\n", "x = 7 // 2\nx = len(a) / 2.0\n"),
        ("for line in file(name):\n    pass\n", "for line in open(name):\n    pass\n"),
        # Names that are the author's own are no built-ins.
        ("def f(lat, long):\n    return long\n", "def f(lat, long):\n    return long\n"),
        ("xrange = 3\nprint xrange\n", "xrange = 3\nprint(xrange)\n"),
        # What works on both Pythons stays.
        (
            "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n",
            "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n",
        ),
        (
            "if __name__ == '__main__':\n    import cPickle as pickle\n    print(pickle)\n",
            "if __name__ == '__main__':\n    import pickle\n    print(pickle)\n",
        ),
        ("try:\n    unicode\nexcept NameError:\n    unicode = str\n",) * 2,
    ],
)  # fmt: skip
def test_forms(before: str, after: str) -> None:
    assert changed(before) == after


def test_all_else_stays_byte_for_byte() -> None:
    head = b"# -*- coding: latin-1 -*-\r\n# \xe4  \r\nx = {  1:u'\xe4' ,}\t\r\n\x0c\r\n"
    body = TRAIN.replace("\n", "\r\n").encode()
    found = planned(("train.py", head + body))
    expected = head.decode("latin-1") + AFTER.replace("\n", "\r\n")
    assert written(found) == {"train.py": expected}


def test_tabs_stay_where_python_3_takes_them() -> None:
    assert changed("if 1:\n\tprint 'a'\n\tif 2:\n\t\tprint 'b'\n") == (
        "if 1:\n\tprint('a')\n\tif 2:\n\t\tprint('b')\n"
    )


def test_mixed_tabs_are_the_eight_columns_that_python_2_saw() -> None:
    before = "if 1:\n    if 2:\n\tx = '''\n\ta'''\n        y = (1,\n\t2)\n\t# a\n"
    after = "if 1:\n    if 2:\n        x = '''\n\ta'''\n        y = (1,\n\t2)\n        # a\n"
    assert changed(before) == after


def test_findings_are_where_the_file_has_them() -> None:
    text = "import sys\nreload(sys)\nsys.setdefaultencoding('utf-8')\n\nx = a / b\n"
    found = run(TRAIN + text, bridge=True)
    assert (found.findings[-1].line, found.findings[-1].column) == (9, 5)
    assert found.findings[-1].code == "MGPU908"
    assert [one.runs_on for one in found.programs] == [
        "TF 2.15 and newest, but for what MGPU908 names"
    ]
    (first, *_) = [one for one in found.findings if one.code == "MGPU212"]
    assert first.line == 4


def test_a_statement_alone_in_its_block_leaves_pass() -> None:
    text = "import sys\nif 1:\n    reload(sys); sys.setdefaultencoding('utf8')  # why\nsys.exit()\n"
    assert changed(text) == "import sys\nif 1:\n    pass  # why\nsys.exit()\n"


def test_another_encoding_is_not_dropped() -> None:
    text = "import sys\nreload(sys)\nsys.setdefaultencoding('latin-1')\n"
    found = planned(("train.py", (TRAIN + text).encode()))
    assert not written(found)


def test_a_file_outside_of_programs_stays() -> None:
    found = planned(("a/train.py", TRAIN.encode()), ("b/other.py", b"print 'a'\n"))
    assert written(found) == {"a/train.py": AFTER}


def test_a_module_is_converted_with_its_program() -> None:
    train = b"import tensorflow as tf\nimport helper\nwith tf.Session() as sess:\n    helper.f()\n"
    found = planned(
        ("train.py", train), ("helper.py", b"import tensorflow\ndef f():\n    print 'a'\n")
    )
    assert written(found)["helper.py"] == "import tensorflow\ndef f():\n    print('a')\n"


def test_a_program_that_stays_is_not_converted() -> None:
    """A file that is changed for nothing would only be in its owner's way."""
    found = planned(("train.py", (TRAIN + "tf.contrib.nothing.has_it()\n").encode()))
    assert not written(found)
    (file,) = found.files
    assert "its program stays (train.py:5: " in (file.error or "")


def test_a_helper_without_tensorflow_is_converted_too() -> None:
    """The program imports it all the same: it would not run with it as it is."""
    train = AFTER.replace(".compat.v1", "").replace("tf.disable_v2_behavior()\n", "import helper\n")
    helper = b"import deeper\ndef f():\n    print 'a'\n"
    files = (
        ("train.py", train.encode()),
        ("helper.py", helper),
        ("deeper.py", b"x = xrange(3)\n"),
        ("elsewhere/train.py", b"print 'a'\n"),
    )
    texts = written(planned(*files))
    assert texts["helper.py"] == "import deeper\ndef f():\n    print('a')\n"
    assert texts["deeper.py"] == "x = range(3)\n"
    assert texts.keys() == {"train.py", "helper.py", "deeper.py"}


@pytest.mark.parametrize(
    ("helper", "after"),
    [
        ("def f(a):\n    if a: print a\n", "def f(a):\n    if a: print(a)\n"),
        ("assert(1 <> 2)\n", "assert(1 != 2)\n"),
        ("import os\nos.mkdir('a', 0755)\n", "import os\nos.mkdir('a', 0o755)\n"),
    ],
)
def test_a_helper_whose_only_python_2_is_its_syntax(helper: str, after: str) -> None:
    """Its program was said to run on TF2, and failed where it imports the helper."""
    train = AFTER.replace(".compat.v1", "").replace("tf.disable_v2_behavior()\n", "import helper\n")
    texts = written(planned(("train.py", train.encode()), ("helper.py", helper.encode())))
    assert texts["helper.py"] == after


OLD_ITERATOR = """\
class Batches(object):
    def __init__(self, size):
        self.left = size

    def __iter__(self):
        return self

    def next(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left
"""


def test_a_helper_whose_objects_only_python_2_goes_through() -> None:
    """Its program was said to run on TF2, and failed at its first loop."""
    train = AFTER.replace(".compat.v1", "").replace("tf.disable_v2_behavior()\n", "import helper\n")
    texts = written(planned(("train.py", train.encode()), ("helper.py", OLD_ITERATOR.encode())))
    assert texts["helper.py"] == f"{OLD_ITERATOR}\n    __next__ = next\n"
    names: dict[str, type] = {}
    exec(texts["helper.py"], names)
    assert list(names["Batches"](3)) == [2, 1, 0]


@pytest.mark.parametrize(
    "helper",
    [
        f"{OLD_ITERATOR}\n    __next__ = next\n",
        OLD_ITERATOR.replace("def next(self):", "def __next__(self):"),
        OLD_ITERATOR.replace("        return self\n", "        return iter([])\n", 1),
        OLD_ITERATOR.replace("(object)", "(six.Iterator)"),
    ],
)
def test_a_helper_that_python_3_goes_through_stays(helper: str) -> None:
    train = AFTER.replace(".compat.v1", "").replace("tf.disable_v2_behavior()\n", "import helper\n")
    texts = written(planned(("train.py", train.encode()), ("helper.py", helper.encode())))
    assert "helper.py" not in texts


@pytest.mark.parametrize(
    "helper", ["print cmp(1, 2)\n", "x = cmp(1, 2)\n", "import StringIO\nStringIO.StringIO()\n"]
)
def test_a_helper_that_cannot_be_converted_keeps_its_program(helper: str) -> None:
    train = AFTER.replace(".compat.v1", "").replace("tf.disable_v2_behavior()\n", "import helper\n")
    found = planned(("train.py", train.encode()), ("helper.py", helper.encode()))
    assert [one.state for one in found.programs] == ["refused"]
    assert not written(found)
    assert migrate([("train.py", train.encode())], True, False).programs[0].state == "bridge"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for i in tqdm(range(3), ncols=7):\n    pass\n",) * 2,
        ("for a, b in zip(range(3), d.keys()):\n    pass\n",) * 2,
        ("x = [k for k in d.keys()]\n",) * 2,
        ("for k in d.keys():\n    f(d[k])\n",) * 2,
        ("for k in d.keys():\n    del d[k]\n", "for k in list(d.keys()):\n    del d[k]\n"),
        ("for k in a.d.keys():\n    a.f()\n", "for k in list(a.d.keys()):\n    a.f()\n"),
        ("for k in d.keys()[:3]:\n    pass\n", "for k in list(d.keys())[:3]:\n    pass\n"),
        ("for i in xrange(3):\n    pass\n", "for i in range(3):\n    pass\n"),
        (
            "op.apply_gradients(zip(a, b))\nx = f(zip(a, b))\n",
            "op.apply_gradients(zip(a, b))\nx = f(list(zip(a, b)))\n",
        ),
        ("x = map(f, zip(a, b))\n", "x = list(map(f, zip(a, b)))\n"),
        ("x = d.keys()\n", "x = list(d.keys())\n"),
    ],
)
def test_a_list_is_made_where_one_may_be_needed(before: str, after: str) -> None:
    assert changed(before) == after


@pytest.mark.parametrize("ignore", ["MGPU212", "python-3"])
def test_it_can_be_switched_off(ignore: str) -> None:
    found = planned(("train.py", TRAIN.encode()), ignore=(ignore,))
    assert not written(found)
    assert "convert it to Python 3 first" in (found.files[0].error or "")


def test_no_bridge_no_conversion() -> None:
    found = migrate([("train.py", TRAIN.encode())], False, False)
    assert not written(found)
    (file,) = found.files
    assert file.error == "is Python 2 and is not converted: no program that is migrated needs it"


def test_without_fissix_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "fissix"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fissix", None)
    monkeypatch.setattr(python_2, "_tool", python_2._tool.__wrapped__)  # not what is made already
    found = planned(("train.py", TRAIN.encode()))
    assert not written(found)
    assert "pip install fissix" in (found.files[0].error or "")


def test_a_run_without_python_2_does_not_import_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(AFTER.replace(".compat.v1", ""))
    code = (
        "import sys\nfrom migrate_mgpu.cli import main\n"
        f"try:\n    main([{str(tmp_path)!r}])\nfinally:\n    print('fissix' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "tf.disable_v2_behavior()" in (tmp_path / "train.py").read_text()
    assert ran.stdout.splitlines()[-1] == "False"


def test_what_may_compute_otherwise_is_named() -> None:
    text = "def f(a, b):\n    x = float(a)\n    return x / b, a / b, 1. / a, a.encode('utf8')\n"
    found = said(run(TRAIN + text, bridge=True))
    assert sum("divided integers" in one for one in found) == 1
    assert sum("text and bytes" in one for one in found) == 1


def test_what_is_found_twice_in_a_changed_line_is_told_once() -> None:
    found = run(TRAIN + "print a / b, b / a\n", bridge=True)
    assert [one.line for one in found.findings if one.code == "MGPU908"] == [5]


def book(*cells: str) -> bytes:
    code = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one} for one in cells]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}).encode()


def test_a_notebook_is_converted_cell_by_cell() -> None:
    first = "%matplotlib inline\nx = 1"
    before = (first, TRAIN + "# %%\nprint", "print a / b, b / a\n!ls", "y = 2")
    after = (first, AFTER + "# %%\nprint()", "print(a / b, b / a)\n!ls", "y = 2")
    found = planned(("book.ipynb", book(*before)))
    text = written(found)["book.ipynb"] or ""
    assert [cell["source"] for cell in json.loads(text)["cells"]] == [*after]
    assert not written(planned(("book.ipynb", text.encode())))
    told = [(one.code, one.cell, one.line) for one in found.findings]
    assert told == [("MGPU201", 2, 1), ("MGPU212", 2, 4), ("MGPU908", 3, 1)]


def test_a_cell_that_is_neither_keeps_its_notebook() -> None:
    found = planned(("book.ipynb", book(TRAIN, "x = 1\nprint 'a' if\n")))
    assert not written(found)
    assert "cell 2, line 2, is neither Python 3 nor Python 2" in (found.files[0].error or "")


def test_tabs_beside_a_magic_keep_the_notebook() -> None:
    cell = "for x in y:\n        print 1\n\tx = {}\n"
    assert written(planned(("book.ipynb", book(TRAIN, cell.format("2")))))
    found = planned(("book.ipynb", book(TRAIN, cell.format("!ls"))))
    assert not written(found)
    assert "cell 2, line 3, has Python 2 and a magic command" in (found.files[0].error or "")


def test_a_helper_behind_one_that_is_of_either_python() -> None:
    """Both have nothing of TensorFlow; the first has nothing of Python 2 either."""
    found = planned(
        ("train.py", b"import tensorflow as tf\nimport scores\n\nsess = tf.Session()\n"),
        ("scores.py", b"from counts import counted\n"),
        ("counts.py", b"def counted(test, (length, most)):\n    return length\n"),
        ("apart.py", b"from counts import counted\n"),
    )
    after = written(found)
    assert set(after) == {"train.py", "counts.py"}
    (program,) = found.programs
    assert (program.state, len(program.paths)) == ("bridge", 3)


def test_few_programs_are_planned_alone_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stays alone stays among others: these are planned once, without its conversion."""
    lengths: list[int] = []
    plan = Plans.plan

    def counted(self: Plans, project: Project, shared: SharedGraph | None = None) -> Planned:
        lengths.append(len(project.modules))
        return plan(self, project, shared)

    monkeypatch.setattr(Plans, "plan", counted)
    gone = b"import model\nimport tensorflow as tf\nprint tf.contrib.nobody.knows(tf.Session())\n"
    filler = b"import model\nimport tensorflow as tf\nprint(tf.Session())\n" + b"# long\n" * 99
    others = [(f"train_{number}.py", filler) for number in range(3)]
    found = planned(("model.py", b"import tensorflow\n"), ("old.py", gone), *others)
    assert [str(file.path) for file in found.files if file.error] == ["old.py"]
    assert set(written(found)) == {name for name, _ in others}
    assert lengths == [2, 4]


def test_a_test_that_is_a_program_among_others_only_is_not_given_up_alone() -> None:
    """By itself it has nothing that is looked for, and was left as Python 2."""
    core = b"import tensorflow as tf\n\n\ndef core():\n    return tf.placeholder(tf.float32)\n"
    test = (
        b"import tensorflow as tf\nimport core\n\n\nclass CoreTest(tf.test.TestCase):\n"
        b"    def test_core(self):\n        with self.test_session() as sess:\n"
        b"            for _ in xrange(2):\n                sess.run(core.core(), {})\n\n\n"
        b"if __name__ == '__main__':\n    tf.test.main()\n"
    )
    train = b"import tensorflow as tf\nimport core\n\nsess = tf.Session()\ncore.core()\n"
    found = planned(
        ("core.py", core),
        ("core_test.py", test),
        ("train.py", train + b"# long\n" * 400),
    )
    states = {str(one.entry): one.state for one in found.programs}
    assert states == {"train.py": "bridge", "core_test.py": "bridge"}
    assert b"in range(2)" in written(found)["core_test.py"].encode()
