"""Notebooks: cells are one program, the JSON around the changed ones stays as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from migrate_mgpu.core.findings import FileResult
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.source.notebook import decode
from migrate_mgpu.source.source import Edit, SourceError
from tests.support.migration import run


def notebook(*cells: str | list[str], **metadata: Any) -> dict[str, Any]:
    return {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# A title\n", "tf.Session()"]},
            *(
                {
                    "cell_type": "code",
                    "execution_count": 3,
                    "metadata": {"collapsed": False},
                    "outputs": [{"name": "stdout", "output_type": "stream", "text": ["é 1\n"]}],
                    "source": cell,
                }
                for cell in cells
            ),
        ],
        "metadata": metadata or {"kernelspec": {"language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 2,
    }


def migrated(text: str) -> FileResult:
    """A notebook, which may be none."""
    result = migrate(
        [("book.ipynb", text.encode())], bridge=True, write=False, native_sessions=False
    )
    return result.files[0] if result.files else FileResult(Path("book.ipynb"))


IMPORT = ["%matplotlib inline\n", "import tensorflow as tf"]
CONFIG = [
    "config = tf.ConfigProto()\n",
    "config.gpu_options.allow_growth = True\n",
    "sess = tf.Session(config=config)",
]


@pytest.mark.parametrize("indent", [1, 2, 4, None])
def test_only_changed_cells_change(indent: int | None) -> None:
    before = notebook(IMPORT, ["!ls -l\n", "x = 1"], CONFIG)
    text = json.dumps(before, indent=indent, ensure_ascii=False) + "\n"
    file = migrated(text)
    assert file.error is None
    expected = notebook(
        [
            "%matplotlib inline\n",
            "import tensorflow.compat.v1 as tf\n",
            "tf.disable_v2_behavior()",
        ],
        ["!ls -l\n", "x = 1"],
        [
            "for gpu in tf.config.list_physical_devices('GPU'):\n",
            "    tf.config.experimental.set_memory_growth(gpu, True)\n",
            "sess = tf.Session()",
        ],
    )
    # The layout of the file is the one that the writer would have given it.
    assert file.after == json.dumps(expected, indent=indent, ensure_ascii=False) + "\n"
    again = migrated(file.after or "")
    assert not again.changed


def test_findings_name_the_cell() -> None:
    file = migrated(json.dumps(notebook(IMPORT, CONFIG)))
    places = {(finding.code, finding.cell, finding.line) for finding in file.findings}
    assert places == {("MGPU201", 2, 2), ("MGPU103", 3, 2)}


def test_source_as_one_string() -> None:
    file = migrated(json.dumps(notebook("import tensorflow as tf\n", "".join(CONFIG))))
    cells = json.loads(file.after or "")["cells"]
    assert cells[1]["source"] == "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"


@pytest.mark.parametrize(
    "magic",
    [
        "%%bash\nfor x in 1 2; do echo $x; done\n",
        "files = !ls *.py\n",
        "if True:\n    %time x = 1\n",
        "tf.Session?\n",
        "?tf.Session\n",
        "!pip install \\\n   tensorflow==1.15\n",
        "",
    ],
)
def test_what_is_not_python_stays(magic: str) -> None:
    text = json.dumps(notebook("".join(IMPORT), magic, "".join(CONFIG)))
    file = migrated(text)
    assert file.error is None and file.changed
    assert json.loads(file.after or "")["cells"][2]["source"] == magic


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ('{"worksheets": []}', "format 4"),
        (json.dumps(notebook(IMPORT, kernelspec={"language": "R"})), "a notebook in R"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        decode(Path("x.ipynb"), text.encode())


def test_python_2_names_the_place() -> None:
    text = json.dumps(notebook(IMPORT, ["print 'x'\n", *CONFIG])).encode()
    (file,) = migrate([("book.ipynb", text)], True, False, Selection(ignore=("MGPU212",))).files
    assert file.error is not None and not file.changed
    assert file.error.startswith("cell 3, line 1, is Python 2 (a print statement)")


@pytest.mark.parametrize(
    "text",
    [
        "Now the options are set.\nEach GPU grows:\n",
        "x = (\n",
        "for each in all of them: see below",
    ],
)
def test_a_cell_that_is_not_python_is_left_out(text: str) -> None:
    file = migrated(json.dumps(notebook("".join(IMPORT), text, "".join(CONFIG))))
    assert file.error is None and file.changed
    cells = json.loads(file.after or "")["cells"]
    assert cells[2]["source"] == text and "tf.config" in cells[3]["source"]
    (finding,) = [finding for finding in file.findings if finding.code == "MGPU907"]
    assert (finding.cell, finding.line, finding.state) == (3, 1, "manual")
    assert "is not valid Python" in finding.message and "Markdown" in (finding.advice or "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("config = (\n", "config"),
        ("some words, and then\nconfig.gpu_options.visible_device_list = ,\n", "config"),
        ("set up(config) here", "config"),
        ("del sess now", "sess"),
        ("Here tf.Session makes a session.", "tf"),
        ("import tensorflow as other one", "tensorflow"),
    ],
)
def test_a_cell_that_is_not_python_may_matter(text: str, name: str) -> None:
    file = migrated(json.dumps(notebook(IMPORT, text, CONFIG)))
    assert file.error is not None and not file.changed and not file.findings
    assert file.error.startswith("cell 3, line ") and f"names `{name}`" in file.error


def test_reasons_name_the_cell() -> None:
    """Of a program, and of a config that stays."""
    cells = [
        "import tensorflow as tf",
        "config = tf.ConfigProto()\nsess = tf.Session(config=config)",
        "x = 1\ny = tf.contrib.bayesflow.entropy(x)",
    ]
    result = run(("n.ipynb", json.dumps(notebook(*cells))), bridge=True)
    assert [p.reasons[0].where for p in result.programs] == ["n.ipynb:cell 4:2"]
    cells[2] = "tf.Session(config=None)"
    cells[1] = cells[1].replace("ConfigProto()", "ConfigProto(log_device_placement=True)")
    result = run(("n.ipynb", json.dumps(notebook(*cells))), bridge=True)
    assert any(finding.message.endswith("(cell 4, line 1)") for finding in result.findings)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("indent", [1, None])
def test_a_cell_of_which_nothing_is_left_goes(place: int, indent: int | None) -> None:
    cells = [["x = 1"], ["y = 2"]]
    given = notebook(*cells[:place], ["import os\n"], *cells[place:])
    book = decode(Path("book.ipynb"), json.dumps(given, indent=indent).encode())
    start = book.text.index("import os")
    assert book.apply([Edit(start, start + len("import os\n"), "")]) == json.dumps(
        notebook(*cells), indent=indent
    )


def test_cells_that_go_leave_the_others_whole() -> None:
    given = notebook(["a = 1\n"], ["b = 2\n"], ["c = 3\n"])
    for gone in ([0], [0, 1], [1, 2], [0, 1, 2], [0, 2]):
        for cells in (given["cells"], given["cells"][1:]):  # with text before the code, without
            number = len(cells) - 3
            book = decode(Path("b.ipynb"), json.dumps({**given, "cells": cells}).encode())
            edits = [Edit(book.cells[index].start, book.cells[index].end, "") for index in gone]
            left = [cell for index, cell in enumerate(cells) if index - number not in gone]
            assert json.loads(book.apply(edits)) == {**given, "cells": left}


@pytest.mark.parametrize(
    "code",
    [
        'print ("loss %d"\n      % 1)\n',
        "print ('''\n%s\n! (''' % 1)\n",
        "x = [1,  # (\n  ')', 7\n   % 2]\n",
        "x = 7 \\\n   % 2\n",
        'x = (\n"""a\\""" (\n""" "\\n%s"\n% 1)\n',
    ],
)
def test_a_line_within_a_statement_is_no_magic(code: str) -> None:
    text = json.dumps(notebook(code + "%matplotlib inline\n!ls '(\nx = 1\n"))
    found = decode(Path("book.ipynb"), text.encode())
    assert found.text.startswith(code)
    assert found.text[len(code) :] == "#matplotlib inline\n#ls '(\nx = 1\n# %%\n"
    assert len(found.tree.body) == 2


def test_a_future_import_may_stand_in_each_cell() -> None:
    future = ["from __future__ import division, print_function\n", "x = 1"]
    before = notebook(IMPORT, future, CONFIG)
    file = migrated(json.dumps(before))
    assert file.error is None and file.changed
    after = json.loads(file.after or "")["cells"]
    assert [cell["source"] for cell in after if cell["source"] == future]
    assert "set_memory_growth" in json.dumps(after)


def test_a_cell_whose_first_line_is_indented() -> None:
    """Jupyter takes that much off each line: what is written has the cell's own indentation."""
    cells = ["".join(IMPORT), "\n  " + "  ".join(CONFIG), "    print(1)\nprint(2)\n"]
    file = migrated(json.dumps(notebook(*cells)))
    assert file.error is None and file.after is not None
    after = ["".join(cell["source"]) for cell in json.loads(file.after)["cells"]]
    assert after[3] == cells[2]
    lines = after[2].splitlines()
    assert lines[0] == "" and all(line.startswith("  ") for line in lines[1:])
    assert "set_memory_growth" in after[2] and lines[-1] == "  sess = tf.Session()"
    script = decode(Path("book.ipynb"), file.after.encode()).script
    assert "\nsess = tf.Session()" in script and "\nprint(1)\nprint(2)\n" in script


def test_an_indented_cell_that_imports_tensorflow() -> None:
    file = migrated(json.dumps(notebook("  import tensorflow as tf\n  x = 1", CONFIG)))
    assert file.error is None and file.after is not None
    first = "".join(json.loads(file.after)["cells"][1]["source"])
    assert first.startswith("  import tensorflow.compat.v1 as tf\n  tf.disable_v2_behavior()")


@pytest.mark.parametrize("code", ["  x = '''\n  a'''\n", "  x = 1\n y = tf\n"])
def test_an_indented_cell_that_jupyter_would_change(code: str) -> None:
    """A string would lose white space as well; a line with less of it is no Python anyway."""
    file = migrated(json.dumps(notebook(IMPORT, code + "  sess = tf.Session()\n")))
    assert file.error is not None and not file.changed
