"""Which binding of a name counts at a place, and which TensorFlow's an imported name is there."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.reaching_definitions import reaching
from tests.support import migration


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("x = 1\nx = 2\nprint(x)", [2]),
        ("x = 1\nif a:\n    x = 2\nprint(x)", [1, 3]),
        ("x = 1\nif a:\n    x = 2\nelse:\n    x = 3\nprint(x)", [3, 5]),
        ("x = 1\nif a:\n    if b:\n        x = 2\nelse:\n    x = 3\nprint(x)", [1, 4, 6]),
        ("x = 1\ntry:\n    x = a()\nexcept E:\n    x = 3\nprint(x)", [3, 5]),
        ("x = 1\ntry:\n    x = a()\nexcept E:\n    raise\nprint(x)", [3]),
        ("x = 1\ntry:\n    x = a()\nexcept E:\n    pass\nprint(x)", [1, 3]),
        ("x = 1\nwith a:\n    x = 2\nprint(x)", [3]),
        ("x = 1\nfor a in b:\n    x = 2\nprint(x)", [1, 3]),
        ("x = 1\nif a:\n    x = 2\n    print(x)\nelse:\n    x = 3", [3]),
        ("x = 1\nx = 2\nfor a in b:\n    print(x)", [2]),
        ("x = 1\nx = 2\nfor a in b:\n    while a:\n        print(x)", [2]),
        ("x = 1\nx = 2\nfor a in b:\n    print(x)\n    x = 3", [1, 2, 5]),
        ("x = 1\nx = 2\nwhile print(x):\n    x = 3", [1, 2, 4]),
    ],
)
def test_what_may_give_a_value(code: str, lines: list[int]) -> None:
    names = Names(ast.parse(code), "", False)
    (call,) = (call for call in names.calls if ast.unparse(call.func) == "print")
    (mention,) = call.args
    assert isinstance(mention, ast.Name)
    found = reaching(names, mention, names.module_scope)
    assert sorted(binding.node.lineno for binding in found) == lines


QUIET = """\
import tensorflow as tf
from tensorflow.python.util import deprecation
deprecation._PRINT_DEPRECATION_WARNINGS = False
try:
    from tensorflow.python.util import module_wrapper as deprecation
except ImportError:
    from tensorflow.python.util import deprecation_wrapper as deprecation
deprecation._PER_MODULE_WARNING_LIMIT = 0
print(tf.Session().run(tf.constant(1.0)))
"""


def test_a_name_that_is_imported_twice() -> None:
    """The first module has no such setting; the one that it stands for by then has, in TF2 too."""
    result = migration.run(QUIET, bridge=True)
    assert [program.state for program in result.programs] == ["bridge"], migration.said(result)
    assert "".join(QUIET.splitlines(keepends=True)[1:]) in migration.after(result, QUIET)


def test_the_setting_of_the_first_module() -> None:
    """TF 1.13 and before had it there."""
    lines = QUIET.splitlines(keepends=True)
    old = "".join([*lines[:2], lines[7], lines[8]])
    result = migration.run(old, bridge=True)
    assert "deprecation._PRINT_DEPRECATION_WARNINGS = 0\n" in migration.after(result, old)


def test_a_name_that_is_imported_or_assigned() -> None:
    """What a handler assigns instead is what TF2 has."""
    code = (
        "import tensorflow as tf\ntry:\n    from tensorflow.contrib.rnn import GRUCell\n"
        "except ImportError:\n    GRUCell = tf.nn.rnn_cell.GRUCell\n"
        "print(tf.Session(), GRUCell(3))\n"
    )
    result = migration.run(code, bridge=True)
    assert [program.state for program in result.programs] == ["bridge"], migration.said(result)
