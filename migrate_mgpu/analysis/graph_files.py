"""Graphs beside checkpoints: TF1's savers write them, and `tf.train.import_meta_graph` reads them.

A TF2 program has no such graph: one that reads it (`model.ckpt.meta`) needs a file that is written
for it (`models/front/session/graph_exports.py`).
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.project import Program, Project

_READS = "train.import_meta_graph"
_PARAMETERS = ("meta_graph_or_file",)
_SUFFIX = re.compile(r"(-\d+)?(\.meta)?$")


@fact_of_text
def graph_reads(module: Module) -> list[ast.Call]:
    """Where a module reads a graph."""
    if _READS.rpartition(".")[2] not in module.source.text:
        return []
    found = {use.node for use in module.uses if use.symbol.name == _READS}
    return [call for call in module.names.calls if call.func in found]


def readers_of(
    project: Project, program: Program, module: Module, path: ast.expr | None
) -> Iterator[Module]:
    """The modules of other programs that may read the graph which a saver writes at ``path``.

    They share modules with ``program``, or stand in its folder, and name no other file.
    """
    written = _file(module, path)
    shares = {one.path for one in project.modules.values()}
    own = {one.path for one in program.modules}
    for other in project.first_modules():
        if other.path in own:
            continue
        near = other.path in shares or other.path.parent == program.entry.path.parent
        for call in graph_reads(other) if near else ():
            read = _file(other, by_parameter(call, _PARAMETERS).get(_PARAMETERS[0]))
            if read is None or written is None or read == written:
                yield other
                break


def _file(module: Module, path: ast.expr | None) -> str | None:
    """The name of a checkpoint's files, without its number; None where it is not a constant."""
    if isinstance(path, ast.Name):
        path = module.names.only_value(path)
    value = constant(path)
    return _SUFFIX.sub("", os.path.basename(value)) if isinstance(value, str) else None
