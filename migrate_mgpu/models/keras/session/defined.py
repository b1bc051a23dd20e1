"""Functions that TF2 has not: they are written beside the program, and called instead."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import DEFINED
from migrate_mgpu.api.recurrent import DECODERS, TILE
from migrate_mgpu.api.searches import search_of
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.style import FileStyle


def defined_calls(module: Module, nodes: Iterable[ast.AST]) -> dict[ast.AST, Replacement]:
    """The calls of such functions among some nodes, with what writes them."""
    return {call: _called(module, call) for call in _calls(module, nodes)}


def defined_functions(module: Module, nodes: Iterable[ast.AST], style: FileStyle) -> list[str]:
    """The functions that these calls need."""
    names = dict.fromkeys(_name(module, call) for call in _calls(module, nodes))
    return [DEFINED[name][1].written(_free_name(module, name), style) for name in names]


def _calls(module: Module, nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    for node in nodes:
        for call in walk(node):
            if isinstance(call, ast.Call) and _name(module, call) in DEFINED:
                if not _is_of_decoder(module, call):
                    yield call


def _is_of_decoder(module: Module, call: ast.Call) -> bool:
    """Whether a state is tiled where a decoder is given it, which has it once for all beams."""
    around = module.names.ancestors(call) if name_of(module, call) == TILE else ()
    return any(isinstance(one, ast.Call) and name_of(module, one) in DECODERS for one in around)


def _name(module: Module, call: ast.Call) -> str:
    return name_of(module, call) or search_of(module, call)


def _free_name(module: Module, name: str) -> str:
    """What it is called in a module: the name by which this has imported TF1's stays."""
    functions = (
        call.func for call in _calls(module, [module.tree]) if name_of(module, call) == name
    )
    imported = (one.id for one in functions if isinstance(one, ast.Name))
    return next(imported, "") or module.names.fresh(
        module.names.module_scope, DEFINED[name][1].name
    )


def _called(module: Module, call: ast.Call) -> Replacement:
    name = _name(module, call)

    def write(context: Context) -> str:
        edit = CallEdit(module.source, call, DEFINED[name][0])
        edit.function(_free_name(module, name))
        edit.drop("name")
        return context.render_call(call, edit.edits())

    return write
