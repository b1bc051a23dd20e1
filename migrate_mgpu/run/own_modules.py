"""Modules that native programs have in a form of their own, beside those that others need.

Where programs share a module with programs that stay TF1's, what they take of it stands in
`<name>_tf2.py`, which they import instead: the run is planned with such files.
"""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from migrate_mgpu.analysis.import_edits import remove_imports
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Program, Project
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.analysis.taken_names import Taken, imports_of
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core import findings as f
from migrate_mgpu.core.findings import FileResult, Finding, RunResult
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE, REFUSED
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.run.kept_towers import has_towers, stays_with_modules
from migrate_mgpu.run.plan import Part, Planned
from migrate_mgpu.run.relocation import Files, Rewritten, relocated, rewritten
from migrate_mgpu.run.shared_modules import NewText
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.history import History
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function

_SUFFIX = "_tf2"
_IMPORTS = (ast.Import, ast.ImportFrom)
Plan = Callable[[Files], RunResult]


def with_own_modules(files: Files, first: RunResult, planned: Planned, plan: Plan) -> RunResult:
    """The plan of a run with as many programs native by modules of their own as can be.

    ``first`` is the plan with shared modules as they are, ``planned`` its facts.
    """
    result = first
    data = dict(files)
    forms: dict[Path, _Form] = {}
    for part in planned.parts:
        found = _Part(part, data, result, plan).forms()
        contents = {**forms, **found}
        if not found:
            continue
        whole = {**data, **{path: form.made.data for path, form in contents.items()}}
        with_forms = plan(list(whole.items()))
        if _is_better(with_forms, result):
            forms, result = contents, with_forms
    return _relocated(result, forms, data.keys()) if forms else first


def _is_better(result: RunResult, other: RunResult) -> bool:
    """Whether more programs are native, and none is refused that was not."""
    more = _of(result, NATIVE) > _of(other, NATIVE)
    return more and _of(result, REFUSED) <= _of(other, REFUSED)


def _of(result: RunResult, state: str) -> set[Path]:
    return {one.entry for one in result.programs if one.state == state}


@record(frozen=True)
class _Form:
    """A file of another text, which is a module's with edits."""

    module: Module
    made: Rewritten
    told: tuple[tuple[ast.stmt, Module, str], ...] = ()


class _Part:
    """The programs of a run that share modules."""

    def __init__(
        self, part: Part, data: Mapping[Path, bytes], first: RunResult, plan: Plan
    ) -> None:
        self.project: Project = part.graph.project
        self.data = data
        self.first = first
        self.plan = plan
        self.programs = part.graph.project.programs()
        self.bridged = {one.entry for one in first.programs if one.state in (BRIDGE, KEPT)}
        self._known: dict[Module, Taken] = {}
        self._plans: dict[frozenset[Path], RunResult | None] = {}
        self.users: dict[Module, list[Program]] = {}
        for program in self.programs:
            for module in program.modules:
                self.users.setdefault(module, []).append(program)
        self.importers: dict[Module, list[Module]] = defaultdict(list)
        for user in self.users:
            for module in user.imported:
                self.importers[module].append(user)
        native = _of(first, NATIVE)
        values = ValueFlow(part.graph)
        models: dict[Module, set[ast.AST]] = {}
        for state in part.states:
            flows = (one.flow for one in state.estimators)
            models[state.program.entry] = {node for flow in flows for node in _models(flow, values)}
        self.candidates = [
            state.program
            for state in part.states
            if (state.estimators or has_towers(state) or stays_with_modules(state))
            and state.program.entry.path not in native
            and (shared := self._shared(state.program))
            and all(self._imported(module, state.program) for module in shared)
        ]
        self.sessions = {one.entry.path for one in self.candidates if not models[one.entry]}
        # Programs of one model exchange its checkpoints: they become native together, or stay.
        self.together = {
            one.entry: {
                other.entry
                for other in self.programs
                if models[one.entry] & models.get(other.entry, set())
            }
            for one in self.candidates
        }

    def forms(self) -> dict[Path, _Form]:
        """The files of programs that become native with modules of their own, and these."""
        group: list[Program] = []
        failed = {one.entry for one in self.programs if one not in self.candidates}
        for one in self.candidates:  # each is planned unless one that has its model stays
            if failed.isdisjoint(self.together[one.entry]) and self._native([one]):
                group.append(one)
            else:
                failed.add(one.entry)
        while not all(self._is_whole(one, group) for one in group):
            group = [one for one in group if self._is_whole(one, group)]
        result = self._native(group)
        if result is None:  # some need a module in different forms: those that fit the first
            group, waiting = group[:1], group[1:]
            for one in waiting:
                group += [one] if self._native([*group, one]) else []
            result = self._native(group)
        while result is not None:
            texts = {file.path: file.after for file in result.files if file.changed}
            own = self._own(group, texts)
            if own is not None and all(self._is_whole(one, group) for one in group):
                return self._written(group, own)
            group = group[:-1]
            result = self._native(group)
        return {}

    def _is_whole(self, program: Program, group: Sequence[Program]) -> bool:
        """Whether a group has all programs of a program's model."""
        return self.together[program.entry] <= {one.entry for one in group}

    def _native(self, group: Sequence[Program]) -> RunResult | None:
        """The plan of some programs without the others, if all of them are native in it.

        That may be so only without the parts of their modules that are for others.
        """
        entries = frozenset(program.entry.path for program in group)
        if entries not in self._plans:
            self._plans[entries] = self._planned(group, entries) if group else None
        return self._plans[entries]

    def _planned(self, group: Sequence[Program], entries: AbstractSet[Path]) -> RunResult | None:
        modules = dict.fromkeys(module for program in group for module in program.modules)
        whole = {module.path: self.data[module.path] for module in modules if module.writable}
        own: dict[Path, bytes] = {}
        for module in modules:
            gone = self._gone(module, group) if module.path not in entries else set()
            if module.path in whole and any(is_inside(module, u.node, gone) for u in module.uses):
                made = rewritten({module: _without(module, gone)})
                own[module.path] = made[module].data if made else whole[module.path]
        result = self.plan(list(whole.items()))
        if not entries <= _of(result, NATIVE):
            said = (one for one in result.findings if one.state in (f.KEPT, f.REFUSED))
            if not own or (
                entries.isdisjoint(self.sessions)
                and own.keys().isdisjoint(one.path for one in said)
            ):
                return None
            result = self.plan(list({**whole, **own}.items()))
        return result if entries <= _of(result, NATIVE) else None

    def _own(
        self, group: Sequence[Program], texts: Mapping[Path, str | None]
    ) -> list[Module] | None:
        """The modules that the group has in a form of its own; None where that cannot be."""
        inside = dict.fromkeys(module for program in group for module in program.modules)
        shared = {
            module: [one for one in self.users[module] if one not in group] for module in inside
        }
        entries = {program.entry for program in group}
        found: list[Module] = []
        for module, others in shared.items():
            text = texts.get(module.path)
            new = NewText(module, text) if text is not None else None
            if new is not None and any(self._changed(new, one) for one in others):
                found.append(module)
        for module in found:  # grows
            found += (
                one
                for one in inside
                if module in one.imported and shared[one] and one not in [*found, *entries]
            )
        taken = any(
            os.path.realpath(path) in self.project.given or path.exists()
            for path in map(self._path, found)
        )
        writable = all(module.writable for module in found)
        return found if found and writable and not taken and entries.isdisjoint(found) else None

    def _changed(self, new: NewText, program: Program) -> bool:
        """Whether a program lacks something in a module's text, if only for an import of it."""
        bridged = program.entry.path in self.bridged
        if new.changed_for(self._taken(program), bridged) is not None:
            return True
        if not self._imported(new.module, program):
            return True  # what it takes is not seen
        imports = (
            one
            for user in program.modules
            if new.module in user.imported
            for one in imports_of(user, new.module, self.project)
        )
        return not {alias.name for _, alias, whole in imports if not whole} <= new.names

    def _shared(self, program: Program) -> list[Module]:
        """The modules of a program that others have too, and in which TensorFlow is mentioned."""
        every = (module for module in program.modules if module.uses and module.writable)
        return [module for module in every if len(self.users[module]) > 1]

    def _imported(self, module: Module, program: Program) -> bool:
        """Whether a program imports a module by statements alone, not `__import__("model")`."""
        users = [one for one in program.modules if module in one.imported]
        return all(imports_of(user, module, self.project) for user in users)

    def _taken(self, program: Program) -> Taken:
        if program.entry not in self._known:
            self._known[program.entry] = Taken(program, self.project)
        return self._known[program.entry]

    def _path(self, module: Module) -> Path:
        return module.path.with_name(f"{module.path.stem}{_SUFFIX}{module.path.suffix}")

    def _written(self, group: Sequence[Program], own: Sequence[Module]) -> dict[Path, _Form]:
        inside = dict.fromkeys(module for program in group for module in program.modules)
        found: dict[Path, _Form] = {}
        for module in inside:
            imports = self._imports(module, own)
            if imports is None:
                return {}
            edits = [edit for edit, _ in imports.values()]
            told = [
                (statement, one, self._told(one, group))
                for statement, (_, ones) in imports.items()
                for one in ones
            ]
            path = module.path
            if module in own:
                path, told = self._path(module), []
                gone = self._gone(module, group)
                edits += _without(module, gone)
                edits += remove_imports(module, gone, edits)
            if edits or module in own:
                made = rewritten({module: blank_lines(module.source, edits)})
                if not made:
                    return {}
                found[path] = _Form(module, made[module], tuple(told))
        return found

    def _told(self, module: Module, group: Sequence[Program]) -> str:
        """Why a module is imported in another form."""
        others = [one.entry.path.name for one in self.users[module] if one not in group]
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        text = (
            f"{module.path.name} stays as {others[0]} needs it{more}: what this program takes of "
            f"it stands in {self._path(module).name}"
        )
        if all(one.entry.path in self.sessions for one in group):
            return text  # its checkpoints are those of TF1
        return (
            f"{text}; programs with the old form read its "
            "checkpoints once `migrate-mgpu checkpoint --to-tf1` converted them"
        )

    def _imports(
        self, module: Module, own: Sequence[Module]
    ) -> dict[ast.stmt, tuple[Edit, list[Module]]] | None:
        """The edits of a module's imports of those in a form of their own; None: not known how."""
        renamed: dict[ast.Import | ast.ImportFrom, dict[str, str]] = {}
        homes: dict[ast.Import | ast.ImportFrom, str] = {}
        taken: dict[ast.Import | ast.ImportFrom, list[Module]] = {}
        for one in own:
            name, stem = self._path(one).stem, one.path.stem
            for statement, alias, whole in imports_of(module, one, self.project):
                taken.setdefault(statement, []).append(one)
                if not whole and isinstance(statement, ast.ImportFrom):
                    homes[statement] = f"{(statement.module or '')[: -len(stem)]}{name}"
                    continue
                head, dot, last = alias.name.rpartition(".")
                if last != stem or (dot and not alias.asname):  # `import nets.modeling`
                    return None
                renamed.setdefault(statement, {})[alias.name] = f"{head}{dot}{name}"
        if not renamed.keys().isdisjoint(homes):
            return None
        source = module.source
        return {
            one: (
                import_edit(source, one, (), "", homes.get(one, ""), renamed.get(one, {}), True),
                list(dict.fromkeys(modules)),
            )
            for one, modules in taken.items()
        }

    def _gone(self, module: Module, group: Sequence[Program]) -> set[ast.AST]:
        """The functions and classes of a module that some programs do not come to."""
        needed = {
            name
            for program in group
            if module in program.modules
            for name in self._taken(program).of(module)
        }
        return {
            one
            for one in module.tree.body
            if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.name not in needed
        }


def _models(flow: EstimatorFlow, values: ValueFlow) -> Iterator[ast.AST]:
    """What an Estimator's model is: its call, and the functions that it or its maker is."""
    yield flow.call
    given = flow.arguments.get("model_fn")
    for origin in values.definitions(flow.module, given) if given is not None else ():
        node = origin.node
        named = node.func if isinstance(node, ast.Call) else node
        function = values.graph.target(origin.module, named) if named is not None else None
        if function is not None:
            yield function.node


def _without(module: Module, gone: AbstractSet[ast.AST]) -> list[Edit]:
    """The edits that take functions and classes away."""
    found: list[Edit] = []
    end = 0  # the last one goes with the blank lines above it
    for edit in (without_function(module.source, one) for one in module.tree.body if one in gone):
        found.append(Edit(max(edit.start, end), edit.end, ""))
        end = edit.end
    return found


def _is_idle(path: Path, file: FileResult, result: RunResult) -> bool:
    """Whether nothing but imports is left of a file, and none imports it."""
    others = [one for one in result.files if one is not file and one.path.suffix == ".py"]
    trees = [ast.parse(one.after) for one in others if one.after]
    imports = [one for tree in trees for one in walk(tree) if isinstance(one, _IMPORTS)]
    named = {
        name.rpartition(".")[2]
        for one in imports
        for name in (
            *(alias.name for alias in one.names),
            (one.module or "") if isinstance(one, ast.ImportFrom) else "",
        )
    }
    body = ast.parse(file.after or file.before or "").body
    return path.stem not in named and all(
        isinstance(one, _IMPORTS) or isinstance(statement_value(one), ast.Constant) for one in body
    )


def _relocated(
    result: RunResult, forms: Mapping[Path, _Form], known: AbstractSet[Path]
) -> RunResult:
    """The result, of the files as they were, and of new ones; findings stand where they were."""
    layers: History = {path: [(one.module.source, one.made.edits)] for path, one in forms.items()}
    result = relocated(result, layers, {path: one.made.data for path, one in forms.items()})
    files = {file.path: file for file in result.files}
    idle = {
        path
        for path, form in forms.items()
        if path != form.module.path and _is_idle(path, files[path], result)
    }
    for path in idle:  # all of it stands in the program's own file now
        del files[path]
    left = {forms[path].module for path in idle}
    for path, form in forms.items():
        home = form.module.path
        if path in idle:
            continue
        told = [replaced(one, path=home) for one in files[path].findings] if home != path else []
        if home != path:
            files[path].before, files[path].findings = "", []
        if home not in files:
            files[home] = FileResult(home, form.module.source.file_text)
        own = files[home].findings
        for statement, module, text in form.told:
            if module in left:
                continue
            line, column = form.module.source.place(form.module.source.span(statement)[0])
            told.append(Finding(home, line, column, "MGPU401", f.MANUAL, text))
        own += (one for one in told if one not in own)
        own.sort(key=lambda one: one.position)
    result.files = sorted(files.values(), key=lambda file: str(file.path))
    result.order = [path for path in result.order if path in known]
    return result
