"""The facts of the run: which files there are, what imports what, and which programs they make."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from itertools import takewhile
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

from migrate_mgpu.analysis.dynamic_imports import NamedImport, candidates, named_imports, strays
from migrate_mgpu.analysis.flags import may_define_absls_own
from migrate_mgpu.analysis.folders import Folders
from migrate_mgpu.analysis.incompatibilities import CELLS, incompatibilities, python_2_names
from migrate_mgpu.analysis.library_changes import may_have_changes
from migrate_mgpu.analysis.lost_names import find
from migrate_mgpu.analysis.module import ROOTS, Module
from migrate_mgpu.analysis.scopes import Binding, absolute
from migrate_mgpu.analysis.search_path import added_folders
from migrate_mgpu.analysis.standard_library import is_standard
from migrate_mgpu.analysis.symbols import table, tensorflow_root
from migrate_mgpu.analysis.tf1_packages import may_use_packages
from migrate_mgpu.core.prefilter import has_hit, imported_words, names_framework
from migrate_mgpu.core.records import field, record
from migrate_mgpu.source.source import Source, SourceError, decode

# Looked for by nearly every file and never a file of the run; a folder of such
# a name beside a script is a checkout of the library itself.
_NEVER_OURS = {
    "tensorflow",
    "keras",
    "horovod",
    "numpy",
    "os",
    "sys",
    "__future__",
    "time",
    "six",
    "re",
    "math",
}


# Where a file's imports lead, by what is added to sys.path: all, and those that it needs.
_Links = dict[tuple[str, ...], tuple[list[str], list[str]]]

_NEAR = 3  # folders that a PYTHONPATH names below those that it shares with the importing file


@record(frozen=True)
class Unreadable:
    """A file that could not be read or parsed."""

    path: Path
    error: SourceError


@record(frozen=True, eq=False)
class Unresolved:
    """An import whose file is not told.

    ``candidates`` have its name, none of them where Python looks for it; there are none where
    a package of the run lacks the file.
    """

    module: Module
    node: ast.stmt
    name: str
    candidates: list[Module]


@record()
class Program:
    """An entry point and every module of the run that it imports, itself included."""

    entry: Module
    modules: list[Module]
    needed: list[Module]  # without those that are only imported under `try` or `if`
    broken: list[Unreadable] = field(default_factory=list)  # imported, but not parsable


class Project:
    """All files of one run that matter, parsed, and their imports.

    Files are known by their real paths, as text: most of a run's are of no interest, and
    for each of them a ``Path`` would cost more than to look whether it is.
    """

    def __init__(
        self,
        files: Sequence[tuple[str | Path, bytes]],
        from_python_2: AbstractSet[Path] = frozenset(),
        like: Project | None = None,
    ) -> None:
        """``files``: every Python file under the given paths with its bytes.

        ``from_python_2`` are those whose text was converted; they count, whatever they import.
        ``like`` has these files, with other texts, and perhaps more: where all of them lie, and
        which cannot be read, is known from there. Some may be new.
        """
        self.modules: dict[str, Module] = {}
        self._modules_of_run = self.modules  # a part of the run has some of them
        self.unreadable: dict[str, Unreadable] = {}
        self.data: dict[Path, bytes] = {}
        self.from_python_2 = from_python_2
        self._first: Project = like._first if like else self  # with the texts as they were read
        self._real_folders: dict[str, str] = like._real_folders if like else {}
        self._real_files: dict[str | Path, str] = like._real_files if like else {}
        self._broken_by_module: dict[Module, list[Unreadable]] = {}
        self._package_root: dict[str, str] = like._package_root if like else {}
        self._dotted_names: dict[str, str] = like._dotted_names if like else {}
        if like is None:
            self.given = frozenset(self._place(path) for path, _ in files)
            self._listings = Folders(self.given)
            self._tops = {os.path.dirname(path) for path in self.given}  # and of links' targets
            self._tops |= _started_from(self._tops)
        else:
            self.given, self._listings = like.given, like._listings
            new = {self._place(path) for path, _ in files} - like.given
            if new:
                self.given |= new
                self._listings = Folders(self.given)
            self._tops = set(like._tops)
        self._outside: dict[str, Module | None] = {}
        self._search_paths: dict[str, list[str]] = {}
        self._folders: dict[Module, str] = {}
        self._resolved: dict[tuple[str, str, bool, tuple[str, ...]], list[Module]] = {}
        self._files: Sequence[tuple[str | Path, bytes]] = like._files if like else files
        self._texts: dict[str, tuple[str | Path, bytes]] = {}  # the same, by their real paths
        self._plain: dict[str, Module | None] = {}  # files that have nothing to do with TensorFlow
        self._added: dict[Module, tuple[str, ...]] = {}  # to sys.path, by the program around it
        self._by_name: dict[str, list[Module]] = {}  # by their dotted names
        self._unresolved: dict[Module, list[Unresolved]] = {}
        self._implicit: dict[Module, list[Unresolved]] = {}
        self.unknown_imports: dict[Module, list[NamedImport]] = {}
        self._programs: list[Program] = []
        invalid = self._load(files)
        if like is not None:
            given = {self._real(path) for path, _ in files}
            others = {real: one for real, one in like.unreadable.items() if real not in given}
            self.unreadable.update(others)
        self._name()
        if invalid:  # what has its name may lie elsewhere
            self.unreadable.update(invalid)
            needed = set(self._broken([*self.modules.values()]))
            for real, one in invalid.items():
                if one not in needed:
                    del self.unreadable[real]
            self._broken_by_module.clear()
        # Where imports lead, by paths: the same as long as no more and no fewer can be read.
        self._links: WeakKeyDictionary[Source, _Links] = WeakKeyDictionary()
        if like is not None and self.unreadable.keys() == like.unreadable.keys():
            if self.modules.keys() <= like._modules_of_run.keys():
                self._links = like._links
        for module in list(self.modules.values()):
            self._link(module)
        self._link_added()
        starred = [m for m in self.modules.values() if m.source.has_star_imports]
        for _ in range(3):  # `from ops import *` of a module that says `from utils import *`
            for module in starred:
                self._bind_stars(module)
        for module in self.modules.values():
            if has_hit(self.data[module.path]):
                self._bind_tensorflow(module)
        self._link_unknown()
        for module in self.modules.values():
            for imported in module.imported:
                imported.importers.append(module)

    def again(self, files: Sequence[tuple[str | Path, bytes]]) -> Project:
        """The same files, or some that import no others, with other texts."""
        return Project(files, self.from_python_2, self)

    def had(self, module: Module, name: str) -> bool:
        """Whether a module bound a name, or may have, before any text of the run was changed."""
        first = self._first.modules.get(self._real(module.path))
        if first is None:
            return True
        return name in first.names.module_scope.bindings or bool(first.names.star_imports)

    def forget(self) -> None:
        """Lets go of what was found in its texts. Trees stay: others may know of their nodes."""
        for module in self.modules.values():
            module.forget()

    @property
    def length(self) -> int:
        """How many bytes its files have."""
        return sum(map(len, self.data.values()))

    # -- loading ----------------------------------------------------------

    def _load(self, files: Sequence[tuple[str | Path, bytes]]) -> dict[str, Unreadable]:
        """Parses the files that mention TensorFlow, and those that lead to them by imports.

        Gives those of other helpers that no Python takes, by their real paths.
        """
        invalid: dict[str, Unreadable] = {}
        if self._first is self and not any(has_hit(data) for _, data in files):
            return invalid  # texts that a pass wrote are asked for, whatever they have
        waiting: list[tuple[str | Path, bytes]] = []
        new: set[bytes] = set()

        def take(name: str | Path, data: bytes) -> None:
            path = name if isinstance(name, Path) else Path(name)
            stem = path.parent.name if path.name == "__init__.py" else path.stem
            new.add(stem.encode())
            self._parse(path, data)

        for path, data in files:
            if names_framework(data):
                take(path, data)
            else:
                waiting.append((path, data))
        # An entry point may never name TensorFlow itself: `from model import train`.
        words = {path: imported_words(data) for path, data in waiting}
        while new:
            stems, new = new, set()
            later: list[tuple[str | Path, bytes]] = []
            for path, data in waiting:
                if words[path].isdisjoint(stems):
                    later.append((path, data))
                else:
                    take(path, data)
            waiting = later
        for path, data in waiting if self.from_python_2 else ():
            if Path(path) in self.from_python_2:
                self._parse(Path(path), data)
        # `import _init_paths`, which only changes sys.path, and helpers that newer libraries stop.
        setting = [
            (Path(path), data)
            for path, data in waiting
            if Path(path) not in self.data and _may_stop_or_lead(data)
        ]
        while setting:
            wanted = {word for data in self.data.values() for word in imported_words(data)}
            found = [one for one in setting if one[0].stem.encode() in wanted]
            if not found:
                break
            setting = [one for one in setting if one not in found]
            for path, data in found:
                if b"sys.path" in data or _is_python_3(path, data):
                    self._parse(path, data)
        # What a program is built by may stand in a file of constants: `from config import CLASSES`.
        # Or it shows its tensors, or runs them, by a function of a file without TensorFlow.
        wanted = {word for data in self.data.values() for word in imported_words(data)}
        for name, data in waiting:
            path = Path(name)
            if path in self.data or path.stem.encode() not in wanted:
                continue
            asks = any(word in data for word in _ASKED_OF_TENSORS)
            if _is_python_3(path, data) if asks else _is_settings(path, data):
                self._parse(path, data)
            elif (error := _invalid(path, data)) is not None:
                invalid[self._real(path)] = Unreadable(path, error)
        return invalid

    def _parse(self, path: Path, data: bytes, writable: bool = True) -> Module | None:
        try:
            source = source_of(path, data)
            source.tree  # noqa: B018 - parses now, so that errors are found here
        except SourceError as error:
            self.unreadable[self._real(path)] = Unreadable(path, error)
            return None
        real = self._real(path)
        module = _module(path, source, self._dotted(real), writable)
        self._folders[module] = folder = os.path.dirname(real)
        self.data[path] = data
        if writable:
            self.modules[real] = module
            self._tops.add(folder)
        return module

    def _name(self) -> None:
        for real, one in self.modules.items():
            # A PYTHONPATH may lead into a package, too: `facenet` is `src/facenet.py`.
            name = "" if one.path.name == "__init__.py" else os.path.splitext(real)[0]
            ends = name.split(os.sep)
            names = {".".join(ends[-length:]) for length in range(1, min(len(ends), 4))}
            for found in {one.name, *names} - {""}:
                self._by_name.setdefault(found, []).append(one)

    def _real(self, path: str | Path) -> str:
        """A file's own path, whatever links lead to it."""
        real = self._real_files.get(path)
        if real is None:
            place = self._place(path)
            real = os.path.realpath(place) if os.path.islink(place) else place
            self._real_files[path] = real
        return real

    def _place(self, path: str | Path) -> str:
        """Where a file lies, whatever links lead to its folder; it may be a link itself."""
        folder, name = os.path.split(path)
        real = self._real_folders.get(folder)
        if real is None:
            real = self._real_folders[folder] = os.path.realpath(folder).rstrip(os.sep)
        return f"{real}{os.sep}{name}"

    def _root(self, folder: str) -> str:
        """The folder that a file's absolute name starts from: above its outermost package."""
        if folder not in self._package_root:
            outer = os.path.dirname(folder)
            inside = os.path.exists(os.path.join(folder, "__init__.py")) and outer != folder
            if os.path.basename(folder) in ("tensorflow", "keras"):  # nobody imports that by name
                inside = inside and os.path.exists(os.path.join(outer, "__init__.py"))
            self._package_root[folder] = self._root(outer) if inside else folder
        return self._package_root[folder]

    def _dotted(self, real: str) -> str:
        """The name by which other modules of the run import a file."""
        found = self._dotted_names.get(real)
        if found is None:
            relative = Path(real).relative_to(self._root(os.path.dirname(real))).with_suffix("")
            parts = relative.parts[:-1] if relative.name == "__init__" else relative.parts
            found = self._dotted_names[real] = ".".join(parts) or Path(real).stem
        return found

    def has_files_beside(self, path: Path) -> bool:
        """Whether files were given that lie in a file's folder."""
        folder = os.path.dirname(self._place(path))
        return any(os.path.dirname(given) == folder for given in self.given)

    # -- imports ----------------------------------------------------------

    def _link(self, module: Module) -> None:
        named_here = named_imports(module)
        unknown = [named for named in named_here if named.name is None]
        if unknown:
            self.unknown_imports[module] = unknown
        links = self._links.setdefault(module.source, {})
        added = self._added.get(module, ())
        if added in links:
            module.imported, module.needs = map(self._all_at, links[added])
            return
        names = [*module.imported_names, *((n.name, n.firm) for n in named_here if n.name)]
        found: dict[Module, None] = {}
        needed: dict[Module, None] = {}
        for name, firm in names:
            for target in self.resolve(module, name):
                if target is not module:
                    found[target] = None
                    if firm:
                        needed[target] = None
        module.imported, module.needs = list(found), list(needed)
        links[added] = self._paths(found), self._paths(needed)

    def _paths(self, modules: Iterable[Module]) -> list[str]:
        return [self._real(module.path) for module in modules]

    def _all_at(self, paths: Iterable[str]) -> list[Module]:
        return [module for path in paths if (module := self._at(path)) is not None]

    def _link_added(self) -> None:
        """Imports again, with what the modules of a program add to ``sys.path``.

        The path is the process's: a module finds what any other one adds that is loaded
        together with it, by whatever imports both.
        """
        own = {m: folders for m in self.modules.values() if (folders := added_folders(m))}
        changed = bool(own)
        while changed:
            changed = False
            importers: dict[Module, list[Module]] = {}
            for module in self.modules.values():
                for imported in module.imported:
                    importers.setdefault(imported, []).append(module)
            found: dict[Module, list[str]] = {}
            for adding, folders in own.items():
                above = _reached([adding], importers)
                for module in _reached(above):
                    found.setdefault(module, []).extend(folders)
            for module, folders in found.items():
                added = tuple(dict.fromkeys(folders))
                if self._added.get(module) != added:
                    self._added[module] = added
                    before = len(module.imported)
                    self._link(module)
                    changed |= len(module.imported) > before

    def _link_unknown(self) -> None:
        """What a name that is only known at run time may lead to counts as imported."""
        if not self.unknown_imports:
            return
        alone = strays(self.modules.values(), self.data)
        for module, unknown in self.unknown_imports.items():
            for named in unknown:
                for one in candidates(module, named, alone, self._real):
                    (named.found if _may_be_written(one) else named.gone).append(one)
                module.imported += [one for one in named.found if one not in module.imported]

    def _bind_stars(self, module: Module) -> None:
        """`from ops import *`: what another module of the run defines is known here by its name."""
        names = module.names
        for node in names.star_imports:
            if names.scope_at(node) is not names.module_scope:
                continue
            self._bind_keras(module, node)
            self._bind_cells(module, node)
            for target in self.resolve(module, names.absolute(node))[-1:]:
                for name, bindings in list(target.names.module_scope.bindings.items()):
                    if name.startswith("_") or name in names.module_scope.bindings:
                        continue
                    for binding in bindings:
                        qualname = binding.qualname or f"{target.name}.{name}"
                        names.bind_import(name, node, qualname)
                        if qualname in ROOTS and module not in target.borrowers:
                            target.borrowers.append(module)
            self._bind_plain(module, node)

    def _bind_plain(self, module: Module, node: ast.ImportFrom) -> None:
        """`from utils import *`, of a file without TensorFlow: the modules that it imports."""
        names = module.names
        target = self._plain_file(module, names.absolute(node))
        if target is None or "__all__" in target.names.module_scope.bindings:
            return
        for name, bindings in target.names.module_scope.bindings.items():
            if name.startswith("_") or name in names.module_scope.bindings:
                continue
            if len(bindings) == 1 and bindings[0].kind == "import" and bindings[0].qualname:
                names.bind_import(name, node, bindings[0].qualname)

    def _bind_keras(self, module: Module, node: ast.ImportFrom) -> None:
        """`from keras.layers import *`: which of the names are Keras's stands in the table."""
        names = module.names
        base = names.absolute(node)
        if base.partition(".")[0] != "keras" or node.level:
            return
        for name in names.by_id.keys() - names.module_scope.bindings.keys():
            if table().status(f"{base}.{name}") != "unknown":
                names.bind_import(name, node, f"{base}.{name}")

    def _bind_cells(self, module: Module, node: ast.ImportFrom) -> None:
        """`from tensorflow.python.ops.rnn_cell import *`: the cells of `tf.nn.rnn_cell`."""
        names = module.names
        base = names.absolute(node)
        if base not in CELLS or node.level:
            return
        for name in names.by_id.keys() - names.module_scope.bindings.keys():
            if table().status(f"nn.rnn_cell.{name}") not in ("unknown", "gone"):
                names.bind_import(name, node, f"{base}.{name}")

    def _bind_tensorflow(self, module: Module) -> None:
        """`from .compat import tf`: TensorFlow by way of another module of the run."""
        if not any(True for _ in self._borrowed(module)):
            return
        module.forget()
        _KNOWN.pop(id(module.source), None)
        for bindings, index, root, target in self._borrowed(module):
            bindings[index] = Binding("import", bindings[index].node, root)
            if module not in target.borrowers:
                target.borrowers.append(module)

    def _borrowed(self, module: Module) -> Iterator[tuple[list[Binding], int, str | None, Module]]:
        for bindings, index in module.names.dotted_bindings:
            head, _, last = (bindings[index].qualname or "").rpartition(".")
            if not head or head.split(".")[0] in _NEVER_OURS:
                continue
            for target in self.resolve(module, head)[-1:]:
                if last not in target.names.module_scope.bindings:
                    continue
                roots = target.names.roots(last, target.names.module_scope)
                if roots and all(tensorflow_root(path) for path in roots):
                    yield bindings, index, tensorflow_root(roots[0]), target

    def resolve(self, module: Module, dotted: str) -> list[Module]:
        """The modules that importing ``dotted`` in a module runs (packages on the way included)."""
        folder, added = self._folders[module], self._added.get(module, ())
        key = (folder, dotted, module.in_package, added)
        found = self._resolved.get(key)
        if found is None:
            roots = self._search_path(folder)
            if module.in_package and dotted.split(".")[0] == module.package.split(".")[0]:
                roots = [self._root(folder)]  # not `nmt/nmt.py` for the package `nmt`
            found = self._resolve(roots, dotted) or self._resolve(added, dotted)
            if not found:
                found = self._elsewhere(module, dotted)
                found = found if len(found) == 1 else []
            self._resolved[key] = found
        return found

    def _resolve(self, roots: Sequence[str], dotted: str) -> list[Module]:
        if dotted.partition(".")[0] in _NEVER_OURS:
            return []
        for root in roots:
            found: list[Module] = []
            for files, is_folder in self._listings.imported(root, dotted):
                target = next((one for path in files if (one := self._at(path))), None)
                if target is not None:
                    found.append(target)
                elif not is_folder:
                    break
            if found:
                return found
        return []

    def _search_path(self, folder: str) -> list[str]:
        """Where a script in a folder finds modules: beside it, and where people point sys.path."""
        if folder not in self._search_paths:
            above = [parent for parent in _parents(folder) if parent in self._tops][:4]
            roots = (folder, self._root(folder), *above)
            self._search_paths[folder] = list(dict.fromkeys(roots))
        return self._search_paths[folder]

    def _at(self, path: str) -> Module | None:
        if path in self._modules_of_run:
            return self._modules_of_run[path]
        if path in self.given or path in self.unreadable:
            return None  # of the run, but without TensorFlow in or behind it
        if path not in self._outside:
            self._outside[path] = None
            if not os.path.isfile(path):  # nor a pipe or device, which could wait forever
                return None
            real = os.path.realpath(path)
            if real != path:  # a link into the run is that file of it
                self._outside[path] = self._at(real)
                return self._outside[path]
            try:
                data = Path(path).read_bytes()
            except OSError:
                return None
            if names_framework(data):
                module = self._parse(_shown(path), data, writable=False)
                self._outside[path] = module
                if module is not None:
                    self._link(module)
        return self._outside[path]

    def plain_constant(
        self, module: Module, dotted: str, name: str
    ) -> tuple[Module, ast.Constant] | None:
        """A constant that a module imports from a file that has nothing to do with TensorFlow.

        Such a file is no module of the run: ``from dataset import num_classes`` asks for one name.
        """
        found = self._plain_file(module, dotted)
        bindings = found.names.module_scope.bindings.get(name, []) if found else []
        value = bindings[0].value if len(bindings) == 1 else None
        if found is None or not isinstance(value, ast.Constant):
            return None
        of_file = found.names.statement(value) in found.tree.body
        return (found, value) if of_file and bindings[0].kind == "assign" else None

    def _plain_file(self, module: Module, dotted: str) -> Module | None:
        """The file of this name that has nothing to do with TensorFlow; None where none is."""
        if self.resolve(module, dotted) or dotted.partition(".")[0] in _NEVER_OURS:
            return None
        for root in self._search_path(self._folders[module]):
            way = self._listings.imported(root, dotted)
            if len(way) <= dotted.count(".") or any(files for files, _ in way[:-1]):
                continue  # nothing, or a package, whose own code may give it another value
            path = next((one for one in way[-1][0] if one in self.given), None)
            if path is None:
                continue
            if path not in self._plain:
                if not self._texts:
                    self._texts = {self._place(file): (file, data) for file, data in self._files}
                known = self._texts.get(path)
                self._plain[path] = _alone(Path(known[0]), known[1]) if known else None
            return self._plain[path]
        return None

    def _elsewhere(self, module: Module, dotted: str) -> list[Module]:
        """Modules of this name that Python finds only with a PYTHONPATH, or installed."""
        known = self._by_name.get(dotted, [])
        if not known or is_standard(dotted.partition(".")[0]):
            return []
        known = [one for one in known if self._is_near(module, one, dotted)]
        relative = dotted.replace(".", os.sep)
        folders = (*self._search_path(self._folders[module]), *self._added.get(module, ()))
        for folder in folders:  # a file of the run that has nothing to do with TensorFlow
            base = os.path.join(folder, relative)
            if base in self._tops:  # a package without an `__init__.py`, which Python finds first
                return []
            if not {f"{base}.py", os.path.join(base, "__init__.py")}.isdisjoint(self.given):
                return []
        return known

    def _is_near(self, module: Module, other: Module, dotted: str) -> bool:
        """Whether a PYTHONPATH may lead a module to another one: not deep into another project."""
        start = self._real(other.path).split(os.sep)[: -1 - dotted.count(".")]
        here = self._folders[module].split(os.sep)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(start, here)))
        return len(start) - shared <= _NEAR

    def unresolved(self, module: Module) -> list[Unresolved]:
        """The imports that a module needs and that several files of the run may be, or none is.

        Each name once, where it is imported first.
        """
        if module not in self._unresolved:
            found: dict[str, Unresolved] = {}
            for statement, firm in module.import_statements:
                for name in _needed_names(module, statement) if firm else ():
                    candidates = [] if self.resolve(module, name) else self._elsewhere(module, name)
                    if candidates or self._is_missing(module, name):
                        found.setdefault(name, Unresolved(module, statement, name, candidates))
            self._unresolved[module] = list(found.values())
        return self._unresolved[module]

    def _is_missing(self, module: Module, name: str) -> bool:
        """Whether a package of the run lacks a module: one that is generated, or was left out."""
        top, dot, _ = name.partition(".")
        if not dot or top in _NEVER_OURS:
            return False
        folders = (*self._search_path(self._folders[module]), *self._added.get(module, ()))
        return self._listings.lack(folders, name)

    def is_here(self, module: Module, package: str) -> bool:
        """Whether a module imports a package of the run by a name, and none that is installed."""
        folders = (*self._search_path(self._folders[module]), *self._added.get(module, ()))
        return any(self._has(one, package) for one in folders) or bool(
            self.resolve(module, package)
        )

    def implicit(self, program: Program) -> list[Unresolved]:
        """The imports of a program's packages that name a file beside them, as Python 2 has it.

        Python 3 looks where the program is started and along ``sys.path``, not in the package.
        """
        started = self._folders[program.entry]
        return [
            one
            for module in program.needed
            if self._folders[module] != started
            for one in self._beside(module)
            if not self._has(started, one.name)
        ]

    def _beside(self, module: Module) -> list[Unresolved]:
        """The imports of a module in a package that nothing but a file beside it answers."""
        if module not in self._implicit:
            folder = self._folders[module]
            others = [one for one in self._search_path(folder) if one != folder]
            path = (*others, *self._added.get(module, ()))
            names: dict[str, ast.stmt] = {}
            inside = folder != self._root(folder)
            for statement, firm in module.import_statements if inside else ():
                relative = isinstance(statement, ast.ImportFrom) and statement.level
                for name in _needed_names(module, statement) if firm and not relative else ():
                    names.setdefault(name.partition(".")[0], statement)
            self._implicit[module] = [
                Unresolved(module, statement, top, [module])
                for top, statement in names.items()
                if top not in _NEVER_OURS and not is_standard(top) and self._has(folder, top)
                if not any(self._has(one, top) for one in path)
            ]
        return self._implicit[module]

    def _has(self, folder: str, name: str) -> bool:
        """Whether importing a name finds something in a folder."""
        return any(files or inside for files, inside in self._listings.imported(folder, name))

    # -- programs ---------------------------------------------------------

    def programs(self) -> list[Program]:
        """Every entry point of the run with its modules.

        An entry point is a file with a main guard, or one that no other file of
        the run imports.
        """
        if not self._programs:
            self._programs = self._find_programs()
        return self._programs

    def _find_programs(self) -> list[Program]:
        imported = {id(target) for module in self.modules.values() for target in module.imported}
        found: list[Program] = []
        for module in self.modules.values():
            if not module.has_main_guard and id(module) in imported:
                continue
            found.append(self._program(module))
        covered = {id(module) for program in found for module in program.modules}
        for module in self.modules.values():  # an import cycle without an entry
            if id(module) not in covered:
                program = self._program(module)
                covered.update(id(member) for member in program.modules)
                found.append(program)
        return found

    def parts(self) -> list[Project]:
        """The run in parts that have no module in common: programs that share some are one.

        So are those of which one may import the other by a name that is not known. Those that
        have nothing of TensorFlow's in them are in none.
        """
        groups: dict[Module, list[Program]] = {}
        place = {id(program): number for number, program in enumerate(self.programs())}
        ours = {id(m) for m in self.modules.values() if names_framework(self.data[m.path])}
        for program in self.programs():
            if not any(id(module) in ours for module in program.modules):
                continue
            inside = [*program.modules, *self._gone(program)]
            met = {id(groups[one]): groups[one] for one in inside if one in groups}
            group = max(met.values(), key=len, default=[])
            joined = [one for other in met.values() if other is not group for one in other]
            joined.append(program)
            group += joined
            for other in joined:
                groups.update(dict.fromkeys((*other.modules, *self._gone(other)), group))
        found = {id(group): group for group in groups.values()}
        parts = {key: copy(self) for key in found}
        for key, part in parts.items():
            part._programs = sorted(found[key], key=lambda program: place[id(program)])
            part.modules = {}
            paths = dict.fromkeys(module.path for one in part._programs for module in one.modules)
            part.data = {path: self.data[path] for path in paths}
        for real, module in self.modules.items():
            if module in groups:
                parts[id(groups[module])].modules[real] = module
        return sorted(parts.values(), key=lambda part: place[id(part._programs[0])])

    def all_modules(self) -> Iterable[Module]:
        """Those of the whole run, of which this may be a part."""
        return self._modules_of_run.values()

    def first_modules(self) -> Iterable[Module]:
        """The same as they were read, also where a program is planned without the others."""
        return self._first._modules_of_run.values()

    def _gone(self, program: Program) -> list[Module]:
        """Modules that a program may import by a name, and that do not run on TF2."""
        unknown = (one for m in program.modules for one in self.unknown_imports.get(m, ()))
        return [module for named in unknown for module in named.gone]

    def facts(self) -> tuple[object, ...]:
        """All that a part of a run is, for other runs over the same files: the same, or not."""

        def told(modules: Iterable[Module]) -> tuple[int, ...]:
            return tuple(id(one.source) for one in modules)

        found: list[object] = [told(self.modules.values())]
        for program in self.programs():
            found += [told(program.modules), told(program.needed)]
            found += (broken.path for broken in program.broken)
        for module in {one: None for program in self.programs() for one in program.modules}:
            found += [told(module.imported), module.writable, module.path in self.from_python_2]
            found += ((one.name, told(one.candidates)) for one in self.unresolved(module))
            found += (told(named.gone) for named in self.unknown_imports.get(module, ()))
        return tuple(found)

    def _program(self, entry: Module) -> Program:
        started = [entry, *self._packages(entry)]
        modules = _closure(started, lambda module: module.imported)
        needed = _closure(started, lambda module: module.needs)
        return Program(entry, modules, needed, self._broken(needed))

    def _packages(self, entry: Module) -> list[Module]:
        """The packages that Python imports before an entry point, unless that is a script.

        One with relative imports is none, and tests are imported by who runs them.
        """
        is_relative = any(getattr(node, "level", 0) for node, _ in entry.import_statements)
        if entry.has_main_guard and not is_relative and "test" not in entry.path.stem:
            return []
        folder = self._folders[entry]
        root = self._root(folder)
        around = [parent for parent in (folder, *_parents(folder)) if len(parent) > len(root)]
        found = (self._at(os.path.join(parent, "__init__.py")) for parent in around)
        return [one for one in found if one is not None and one is not entry]

    def _broken(self, modules: list[Module]) -> list[Unreadable]:
        """Files that these modules import but that cannot be parsed."""
        if not self.unreadable:
            return []
        found = (one for module in modules for one in self._broken_imports(module))
        return list(dict.fromkeys(found))

    def _broken_imports(self, module: Module) -> list[Unreadable]:
        if module not in self._broken_by_module:
            folder = self._folders[module]
            found: list[Unreadable] = []
            for name, firm in module.imported_names:
                for root in dict.fromkeys((folder, self._root(folder))) if firm else ():
                    for files, _ in self._listings.imported(root, name)[name.count(".") :]:
                        found += (self.unreadable[p] for p in files if p in self.unreadable)
            self._broken_by_module[module] = found
        return self._broken_by_module[module]


def _may_be_written(module: Module) -> bool:
    """Whether all that TF2 lost of what a module names has another name, or a form of its own."""
    return all(find(why.symbol) is not None for why in incompatibilities(module))


def _reached(
    modules: Iterable[Module], importers: Mapping[Module, list[Module]] | None = None
) -> dict[Module, None]:
    """Modules, and all that they import, or that import them, directly or not."""
    found = dict.fromkeys(modules)
    waiting = list(found)
    while waiting:
        last = waiting.pop()
        for module in last.imported if importers is None else importers.get(last, ()):
            if module not in found:
                found[module] = None
                waiting.append(module)
    return found


def _shown(path: str) -> Path:
    """A path as a user would write it: from the current folder, where it is below that."""
    here = os.getcwd()
    return Path(os.path.relpath(path) if path.startswith(here + os.sep) else path)


def _started_from(folders: set[str]) -> set[str]:
    """Where a run's programs may be started: above all of them, and here if that is above.

    Packages without an ``__init__.py`` are found from there only.
    """
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # none, or on several drives
        return set()
    here = os.path.realpath(os.curdir)
    return {common, here} if common.startswith(here + os.sep) else {common}


def _parents(folder: str) -> Iterator[str]:
    """The folders above a folder, the nearest first."""
    outer = os.path.dirname(folder)
    while outer != folder:
        yield outer
        folder, outer = outer, os.path.dirname(outer)


_SETTINGS = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


# What only tensors have.
_ASKED_OF_TENSORS = (b".get_shape(", b".op.name", b"sess.run(", b"session.run(")


def _is_settings(path: Path, data: bytes) -> bool:
    """Whether a file gives values to names, and does nothing else."""
    if b"=" not in data or b"\ndef " in data or b"\nclass " in data:
        return False
    try:
        body = source_of(path, data).tree.body
    except SourceError:
        return False
    rest = [one for one in body if not isinstance(one, _SETTINGS)]
    texts = all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in rest)
    return texts and any(isinstance(one, (ast.Assign, ast.AnnAssign)) for one in body)


def _alone(path: Path, data: bytes) -> Module | None:
    """A file by itself; None where it is none of Python 3's."""
    try:
        source = source_of(path, data)
        source.tree  # noqa: B018 - parses now
    except SourceError:
        return None
    return Module(path, source, "")


def _may_stop_or_lead(data: bytes) -> bool:
    """Whether a helper may change sys.path, or end a program beside TF2."""
    may_end = (may_have_changes, may_use_packages, may_define_absls_own)
    return b"sys.path" in data or any(one(data) for one in may_end)


def _invalid(path: Path, data: bytes) -> SourceError | None:
    """Why no Python takes a file; None for one of Python 2, which may be converted."""
    try:
        source_of(path, data).tree  # noqa: B018 - parses now
    except SourceError as error:
        return None if error.python_2 else error
    return None


def _is_python_3(path: Path, data: bytes) -> bool:
    """Whether a helper without TensorFlow is Python 3; others are converted with their programs."""
    try:
        return not python_2_names(Module(path, source_of(path, data), ""))
    except SourceError:
        return False


# A run that is planned again parses only the files whose text is another; trees do not change.
_SOURCES: WeakValueDictionary[tuple[Path, bytes], Source] = WeakValueDictionary()


def source_of(path: Path, data: bytes) -> Source:
    """A file's text; of a run that is planned again the same one, which is parsed already.

    Raises:
        SourceError: unknown encoding, or bytes that are not of it.
    """
    source = _SOURCES.get((path, data))
    if source is None:
        if path.suffix == ".ipynb":
            from migrate_mgpu.source import notebook

            source = notebook.decode(path, data)
        else:
            source = decode(path, data)
        _SOURCES[path, data] = source
    return source


# What such a run knows of a file stays true, unless other files gave its names their meaning.
_KNOWN: WeakValueDictionary[int, Module] = WeakValueDictionary()  # by the source's identity


def _module(path: Path, source: Source, name: str, writable: bool) -> Module:
    known = _KNOWN.get(id(source))
    if (
        known is not None
        and known.source is source
        and (known.name, known.writable) == (name, writable)
    ):
        return known.again()
    module = Module(path, source, name, writable)
    if not source.has_star_imports:
        _KNOWN[id(source)] = module
    return module


def _closure(start: list[Module], edges: Callable[[Module], list[Module]]) -> list[Module]:
    found: dict[Module, None] = {}
    stack = start[::-1]
    while stack:
        module = stack.pop()
        if module not in found:
            found[module] = None
            stack += [one for one in reversed(edges(module)) if one not in found]
    return list(found)


def _needed_names(module: Module, statement: ast.stmt) -> list[str]:
    """The modules that an import statement surely needs, by their absolute names."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    assert isinstance(statement, ast.ImportFrom)
    base = absolute(statement, module.package)
    return [base] if base else []
