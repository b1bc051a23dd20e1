"""Changes of modules, brought together."""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import Rewriter
from migrate_mgpu.source.source import Edit, Source


def module(name: str) -> Module:
    return Module(Path(f"{name}.py"), Source(Path(f"{name}.py"), "x = 1\n"), name)


@record(eq=False)
class Plan(EditSet):
    """A change with something of its own, as the parts of a run have it."""

    name: str
    found: list[int] = field(default_factory=list)


def test_all_of_a_change_is_merged_once() -> None:
    first, second = module("first"), module("second")
    node = first.tree.body[0]
    whole, part = Plan("whole"), EditSet()
    whole.edit(first, Edit(0, 1, "y"))
    part.edit(first, Edit(0, 1, "y"), Edit(4, 5, "2"))
    part.edit(second, Edit(0, 0, "import os\n"))
    part.needs(second, "os", "sys")
    part.note(first, node, "changed")
    part.note(first, node, "changed")
    part.sites.append((first, node, Rewriter))
    part.gone.add(node)
    part.moved.add(first.tree)
    whole.merge(part)
    whole.merge(part)
    assert whole.edits == {
        first: [Edit(0, 1, "y"), Edit(4, 5, "2")],
        second: [Edit(0, 0, "import os\n")],
    }
    assert whole.imports == {second: {"os", "sys"}}
    assert whole.notes == [(first, node, "changed", "")]
    assert whole.sites == [(first, node, Rewriter)]
    assert (whole.gone, whole.moved) == ({node}, {first.tree})
    assert part.imports[second] is not whole.imports[second]


def test_a_record_of_its_own_takes_its_fields_by_position() -> None:
    plan = Plan("whole", [1], gone=set())
    assert (plan.name, plan.found, plan.edits) == ("whole", [1], {})
    assert Plan("other").edits is not plan.edits


def test_nothing_needed_is_no_module_that_changes() -> None:
    changes = EditSet()
    changes.needs(module("first"))
    assert changes.imports == {}
