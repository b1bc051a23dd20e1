"""An imported name goes when nothing of the module as it will be reads it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.analysis.import_edits import remove_imports
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.source.source import Edit, Source, splice

MODULE = """\
import math

x = math.sqrt(4)


def area(r{parameter}):
    return r * r{more}
"""


def removed(new: str, parameter: str = "", more: str = "") -> str:
    """The module when its assignment becomes another statement."""
    source = Source(Path("m.py"), MODULE.format(parameter=parameter, more=more))
    module = Module(source.path, source, "m")
    statement = module.tree.body[1]
    assert isinstance(statement, ast.Assign)
    planned = [Edit(*source.span(statement), new)]
    return splice(source.text, planned + remove_imports(module, {statement}, planned))


@pytest.mark.parametrize("new", ["x = 2", 'x = "math"  # math', "x = area.math", "x = (2"])
def test_without_a_use(new: str) -> None:
    kept = new == "x = (2"  # whose file stays as it was: nothing is known of it
    assert removed(new).startswith("import math\n") == kept


@pytest.mark.parametrize("new", ["x = math.pi", 'x = f"{math.pi:.3f}"', "x = lambda: math.pi"])
def test_new_code_that_reads_it(new: str) -> None:
    assert removed(new).startswith("import math\n")


def test_another_of_its_name() -> None:
    """`layers` of a function is no reason to import TF1's, which the newest TF cannot."""
    assert not removed("x = 2", ", math=1", " + math").startswith("import")
