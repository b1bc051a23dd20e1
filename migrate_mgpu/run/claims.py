"""What makes the claim smaller that a program runs on TF2: imports that may or may not happen,
and names that newer Pythons and NumPys have no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from migrate_mgpu.analysis.app_runs import late_environment
from migrate_mgpu.analysis.array_formats import single_element_formats
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.flags import untaken_flags
from migrate_mgpu.analysis.incompatibilities import incompatibilities
from migrate_mgpu.analysis.library_changes import library_changes
from migrate_mgpu.analysis.module import Module, fact
from migrate_mgpu.analysis.project import Program, Project, Unresolved
from migrate_mgpu.analysis.ragged_arrays import ragged_arrays
from migrate_mgpu.analysis.runs_on import gone_keras_names
from migrate_mgpu.analysis.tf1_packages import uses_of_packages
from migrate_mgpu.analysis.trainer_packages import trainers
from migrate_mgpu.core.records import replaced
from migrate_mgpu.run.device_queues import queues_on_gpus

CODE = "MGPU908"
_CONDITION = (
    "this file is imported under a condition only: programs run on TF2 as long as it is not"
)
_BY_NAME = (
    "{} may import this file by a name that is only known at run time, and runs on TF2 as long "
    "as it does not"
)


def limits(
    program: Program,
    project: Project,
    graph: CallGraph,
    left: Callable[[Module], Iterable[Diagnostic]],
    native: bool,
) -> list[Diagnostic]:
    """Modules that a program imports on some of its paths only, or by a name that is not told.

    Those that cannot run on TF2 do not keep the program from it, for it may never meet
    them: each is told at the place that stands in the way. ``left``: what stands in a
    module's way once its program is written.
    """
    needed = set(program.needed)
    inside = graph.within(program.modules)
    found: list[Diagnostic] = []
    for module in program.modules:
        if module not in needed:
            found += _gone_if_imported(left(module), _CONDITION)
        for named in project.unknown_imports.get(module, ()):
            for one in named.gone:
                found += _gone_if_imported(
                    incompatibilities(one), _BY_NAME.format(module.path.name)
                )
    if any(module.path in project.from_python_2 for module in program.modules):
        from migrate_mgpu.analysis.python_2 import value_changes

        for module in program.modules:
            found += [replaced(why, code=CODE) for why in value_changes(module)]
    found += [replaced(why, code=CODE) for why in ragged_arrays(program.needed)]
    found += [_implicit(one) for one in project.implicit(program)]
    found += [replaced(why, code=CODE) for why in late_environment(program.needed, inside)]
    for module in program.needed:
        for name in project.unresolved(module):
            found.append(_unresolved(name))
        found += [replaced(why, code=CODE) for why in library_changes(module)]
        is_here = partial(project.is_here, module)
        found += [replaced(why, code=CODE) for why in uses_of_packages(module, is_here)]
        found += [replaced(why, code=CODE) for why in untaken_flags(module)]
        if not native:  # which has no such name and no such run left
            found += _gone_keras(module)
            found += [replaced(why, code=CODE) for why in single_element_formats(module)]
            found += [replaced(why, code=CODE) for why in queues_on_gpus(module, inside)]
    return found


def packages_trainers(program: Program, project: Project) -> list[Diagnostic]:
    """What builds and runs a program's graph in a package, each name once."""
    found: dict[str, Diagnostic] = {}
    for module in program.modules:
        for why in trainers(module, partial(project.is_here, module)) if module.writable else ():
            found.setdefault(why.symbol, why)
    return [*found.values()]


@fact
def _gone_keras(module: Module) -> list[Diagnostic]:
    """The names of a package keras that TF2 brings along no more, each where it stands first."""
    if "keras" not in module.source.text:
        return []
    found: dict[str, Diagnostic] = {}
    for node, name in gone_keras_names(module):
        text = f"`{name}` is not in the Keras of TF2"
        advice = "import it from where that Keras has it: most of `keras.utils.np_utils` is in"
        advice += " `keras.utils`, of `keras.layers.core` and the like in `keras.layers`"
        why = Diagnostic("keras-name-gone", Place(module, node), text, advice, CODE, symbol=name)
        found.setdefault(name, why)
    return [*found.values()]


def _gone_if_imported(left: Iterable[Diagnostic], imported: str) -> list[Diagnostic]:
    return [
        Diagnostic("gone-if-imported", why.place, f"{why.reason}; {imported}", why.advice, CODE)
        for why in left
    ]


def _implicit(one: Unresolved) -> Diagnostic:
    text = f"Python 3 does not look for `{one.name}` in the package that imports it"
    advice = f"write `from . import {one.name}` or `from .{one.name} import ...`, or start the"
    advice += " program with this folder in PYTHONPATH"
    return Diagnostic("implicit-import", Place(one.module, one.node), text, advice, CODE)


def _unresolved(one: Unresolved) -> Diagnostic:
    place = Place(one.module, one.node)
    if not one.candidates:
        text = f"no file here is `{one.name}`: whether the program runs on TF2 with it is not known"
        advice = "if it is generated or compiled, see that it is made for TF2"
        return Diagnostic("missing-import", place, text, advice, CODE)
    files = " or ".join(sorted(str(other.path) for other in one.candidates))
    text = f"`{one.name}` may be {files}: neither is where Python looks from here"
    advice = "add its folder to sys.path by a path written in the code"
    return Diagnostic("unresolved-import", place, text, advice, CODE)
