"""Which function of the run a call reaches, and from where a function is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import combinations
from typing import Union

from migrate_mgpu.analysis.arms import are_arms
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.project import Program, Project
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Binding
from migrate_mgpu.core.records import record

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef]


_MANY_CALLS = 6  # more of them are not compared, each with each
_MAY_NOT_RUN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If, ast.IfExp, ast.Try)


@record(frozen=True)
class Function:
    """A function or method of the run."""

    module: Module
    node: Definition

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class that a method belongs to."""
        parent = self.module.names.parents.get(self.node)
        return parent if isinstance(parent, ast.ClassDef) else None

    @property
    def name(self) -> str:
        return self.node.name

    def parameters(self) -> list[str]:
        """The names of the parameters that can be given by position."""
        arguments = self.node.args
        return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]


@record(frozen=True)
class Reference:
    """A mention of a function: a call of it, or its name handed on (``call`` is None)."""

    module: Module
    node: ast.expr
    call: ast.Call | None


class CallGraph:
    """Calls between the modules of a run, as far as names tell."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.converted: set[ast.AST] = set()  # calls that go away with their Estimator
        self._targets: dict[ast.AST, Function | None] = {}
        self._references: dict[str, dict[ast.AST, list[Reference]]] = {}
        self._mentioned: dict[str, list[tuple[Module, ast.expr]]] = {}
        self._runs: dict[tuple[Module, ast.AST, bool | None], bool] = {}
        self._within: Mapping[Module, None] | None = None  # in their order
        self._apart: frozenset[ast.AST] = frozenset()
        self._gone: frozenset[ast.AST] = frozenset()

    def within(self, modules: Collection[Module]) -> CallGraph:
        """The same calls, as far as one program's modules make them."""
        found = copy(self)
        found._within = dict.fromkeys(modules)
        return found

    def without(self, nodes: Collection[ast.AST]) -> CallGraph:
        """The same calls, but for those among some nodes."""
        found = copy(self)
        found._apart = frozenset(nodes)
        return found

    def once_gone(self, nodes: Collection[ast.AST]) -> CallGraph:
        """What a program runs, and where functions are mentioned, without some nodes."""
        found = self.without(nodes)
        found._gone, found._runs = frozenset(nodes), {}
        return found

    @property
    def modules(self) -> Collection[Module]:
        """The modules of the program that the calls are of, or of the run."""
        return self._within or self._modules

    @cached_property
    def _modules(self) -> list[Module]:
        return list(self.project.modules.values())

    def enclosing(self, module: Module, node: ast.AST) -> Function | None:
        """The function whose body a node belongs to (not a nested lambda's own code)."""
        for parent in module.names.ancestors(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return Function(module, parent)
        return None

    def target(self, module: Module, expression: ast.expr) -> Function | None:
        """The function that an expression (a call's ``func``) names, if the run defines it."""
        if expression not in self._targets:
            self._targets[expression] = self._resolve(module, expression)
        return self._targets[expression]

    def class_of(self, module: Module, expression: ast.expr) -> tuple[Module, ast.ClassDef] | None:
        """The class of the run that an expression (a call's ``func``) names."""
        if isinstance(expression, ast.Name):
            made = module.names.only_definition(expression)
            if isinstance(made, ast.ClassDef):
                return module, made
        head, _, last = (module.names.qualname(expression) or "").rpartition(".")
        for target in self.project.resolve(module, head)[-1:] if head else []:
            bindings = target.names.module_scope.bindings.get(last, [])
            if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef):
                return target, bindings[0].node
        function = self.target(module, expression)
        if function is not None and function.name == "__init__" and function.owner is not None:
            return function.module, function.owner
        return None

    def _resolve(self, module: Module, expression: ast.expr) -> Function | None:
        names = module.names
        if isinstance(expression, ast.Name):
            made = names.only_binding(expression)
            if made is not None and made.kind in ("def", "class"):
                return _callable(module, made.node)
        if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
            method = self._own_method(module, expression)
            if method is not None:
                return method
        qualname = names.qualname(expression)
        if not qualname or "." not in qualname:
            return None
        head, _, last = qualname.rpartition(".")
        for target in self.project.resolve(module, head)[-1:]:
            if target.name != head and not target.name.endswith("." + head.rpartition(".")[2]):
                if target.name.rpartition(".")[2] != head.rpartition(".")[2]:
                    continue
            bindings = target.names.module_scope.bindings.get(last, [])
            if len(bindings) == 1 and bindings[0].kind in ("def", "class"):
                return _callable(target, bindings[0].node)
            if len(bindings) == 1 and bindings[0].kind == "import" and bindings[0].qualname:
                again = self._imported(target, bindings[0].qualname)
                if again is not None:
                    return again
        return None

    def _imported(self, module: Module, qualname: str) -> Function | None:
        """A function re-exported by a package's ``__init__``."""
        head, _, last = qualname.rpartition(".")
        for target in self.project.resolve(module, head)[-1:] if head else []:
            bindings = target.names.module_scope.bindings.get(last, [])
            if len(bindings) == 1 and bindings[0].kind in ("def", "class"):
                return _callable(target, bindings[0].node)
        return None

    def _own_method(self, module: Module, expression: ast.Attribute) -> Function | None:
        """`self.method` in the class that defines it."""
        assert isinstance(expression.value, ast.Name)
        if expression.value.id not in ("self", "cls"):
            return None
        for parent in module.names.ancestors(expression):
            if isinstance(parent, ast.ClassDef):
                for statement in parent.body:
                    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        if statement.name == expression.attr:
                            return Function(module, statement)
                return None
        return None

    def references(self, function: Function) -> list[Reference]:
        """Every mention of a function in the run that names resolve to it.

        For an ``__init__`` the mentions of its class count, for another method
        those through ``self`` only.
        """
        name = function.name
        if function.owner is not None and name == "__init__":
            name = function.owner.name
        if name not in self._references:
            self._references[name] = self._find_references(name)
        found = self._references[name].get(function.node, [])
        if self._within is not None:
            found = [one for one in found if one.module in self._within]
        return [one for one in found if one.node not in self._apart] if self._apart else found

    def importers(self, module: Module) -> list[Module]:
        """The modules that import a module, whether they use it or not."""
        every = self.project.modules.values()
        inside = (one for one in every if self._within is None or one in self._within)
        return [one for one in inside if module in one.imported]

    def made(self, method: Function) -> list[Reference]:
        """Where the objects are made that a method is called of: it runs after that."""
        owner = method.owner
        if owner is None or method.name == "__init__":
            return []
        made = next((one for one in owner.body if getattr(one, "name", "") == "__init__"), None)
        if not isinstance(made, ast.FunctionDef):
            return []
        return [one for one in self.references(Function(method.module, made)) if one.call]

    def _find_references(self, name: str) -> dict[ast.AST, list[Reference]]:
        """All of one name at once: every file of a run may have a `main`."""
        found: dict[ast.AST, list[Reference]] = {}
        for module, mention in self._mentions(name):
            target = self.target(module, mention)
            if target is not None:
                parent = module.names.parents.get(mention)
                called = isinstance(parent, ast.Call) and parent.func is mention
                call = parent if called and isinstance(parent, ast.Call) else None
                found.setdefault(target.node, []).append(Reference(module, mention, call))
        return found

    def runs_once(
        self, module: Module, node: ast.AST, program: Collection[Module] | None = None
    ) -> bool:
        """Whether the code at a node is known to run at most once in a process.

        ``program`` are the modules of that process; without it those of the whole run count.
        """
        inside = program or self.modules
        return self._runs_once(module, node, inside, set())

    def _runs_once(
        self, module: Module, node: ast.AST, program: Collection[Module], seen: set[ast.AST]
    ) -> bool:
        child = node
        for parent in module.names.ancestors(node):
            if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
                if child in parent.body:
                    return False
            elif isinstance(parent, (ast.Lambda, ast.comprehension, *COMPREHENSIONS)):
                return False
            elif isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                references = self.references(Function(module, parent))
                references = [r for r in references if r.module in program]
                start = None if references else _start(module, parent)
                if start is not None and parent not in seen:
                    return self._runs_once(module, start, program, {*seen, parent})
                if not references and parent not in seen:
                    started = _app_run(module, parent)
                    inner = {*seen, parent}
                    return started is not None and self._runs_once(module, started, program, inner)
                known = (r.call is not None or _is_started(r) for r in references)
                places = [(r.module, r.node) for r in references]
                if parent in seen or not all(known) or not self.one_runs(places, program):
                    return False
                inner = {*seen, parent}
                return all(self._runs_once(r.module, r.node, program, inner) for r in references)
            child = parent
        return True

    def one_runs(
        self, calls: Sequence[tuple[Module, ast.AST]], program: Collection[Module] | None = None
    ) -> bool:
        """Whether one of some calls runs at most, where each runs once at most.

        They stand in arms of one condition, or the functions that have them are called there.
        """
        if len(calls) > _MANY_CALLS:
            return False
        ways = [[*self._way(*one, program or self.modules)] for one in calls]
        return all(
            any(
                module is other and are_arms(module, node, there)
                for module, node in first
                for other, there in second
            )
            for first, second in combinations(ways, 2)
        )

    def _way(
        self, module: Module, node: ast.AST, program: Collection[Module]
    ) -> Iterator[tuple[Module, ast.AST]]:
        """A call, the one call of the function around it, and so on."""
        seen: set[ast.AST] = set()
        while node not in seen:
            seen.add(node)
            yield module, node
            around = self.enclosing(module, node)
            calls = self.references(around) if around is not None else ()
            calls = [one for one in calls if one.module in program]
            if len(calls) != 1:
                return
            module, node = calls[0].module, calls[0].node

    def runs_in(
        self, program: Program, module: Module, node: ast.AST, unmentioned: bool | None = None
    ) -> bool:
        """Whether a program may run the code at a node of its modules.

        It does not where the code stands under the main guard of a file that is not the entry
        point, or in a function or class that is mentioned from such places alone. One that
        nothing mentions runs if ``unmentioned`` says so: somebody outside may call it, unless
        programs of the run do. Where nothing is said, nobody outside calls what a script imports.
        """
        key = program.entry, node, unmentioned
        if key not in self._runs:
            self._runs[key] = self._runs_in(program, module, node, unmentioned, set())
        return self._runs[key]

    def surely_runs(self, program: Program, module: Module, node: ast.AST) -> bool:
        """Whether a program calls the function that a node is in as soon as it is loaded."""
        function = self.enclosing(module, node)
        return function is not None and any(
            reference.call is not None
            and reference.module in program.needed
            and not any(
                isinstance(parent, _MAY_NOT_RUN) and not is_main_guard(parent)
                for parent in reference.module.names.ancestors(reference.call)
            )
            and self.runs_in(program, reference.module, reference.call)
            for reference in self.references(function)
        )

    def _runs_in(
        self,
        program: Program,
        module: Module,
        node: ast.AST,
        unmentioned: bool | None,
        seen: set[ast.AST],
    ) -> bool:
        parents = list(module.names.ancestors(node))
        if any(is_main_guard(parent) for parent in parents):
            return module is program.entry
        outermost = parents[-2] if len(parents) > 1 else node
        if not isinstance(outermost, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return True
        candidates = [
            (one, mention, self.target(one, mention))
            for one, mention in self._mentions(outermost.name)
            if one in program.modules and outermost not in one.names.ancestors(mention)
        ]
        mentions = [
            (one, mention)
            for one, mention, target in candidates
            if (_may_name(one, mention, module) if target is None else _is(target, outermost))
        ]
        if not mentions:
            if outermost.name == "main" and module.has_main_guard and _runs_main(program):
                return module is program.entry
            if outermost.name == "main" and module.path.suffix == ".ipynb":
                return True
            elsewhere = any(
                (target := self.target(one, mention)) is not None
                and _is(target, outermost)
                and one is not module
                for one, mention in self._mentions(outermost.name)
            )
            outside = unmentioned
            if outside is None:
                outside = (
                    module is program.entry
                    or not _is_script(program.entry)
                    or _by_name(program, module, outermost.name)
                )
            return (outside and not elsewhere) or _is_registered(module, outermost)
        if isinstance(outermost, ast.ClassDef) and self._is_never_called(program, parents):
            return False
        seen.add(outermost)
        return any(
            self._runs_in(program, one, mention, unmentioned, seen)
            for one, mention in mentions
            if not seen.intersection(one.names.ancestors(mention))
        )

    def _is_never_called(self, program: Program, parents: Sequence[ast.AST]) -> bool:
        """Whether a node's ``parents`` have a method that no code of a program mentions.

        One that a base class, a decorator or Python itself calls needs no mention.
        """
        owner, method = parents[-2], parents[-3] if len(parents) > 2 else None
        assert isinstance(owner, ast.ClassDef)
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        plain = all(getattr(base, "id", "") == "object" for base in owner.bases)
        if owner.decorator_list or owner.keywords or method.decorator_list or not plain:
            return False
        if method.name.startswith("__"):
            return False
        for module in program.modules:
            for mention in module.names.attributes.get(method.name, ()):
                if not (module.names.qualname(mention.value) or "").startswith("tensorflow"):
                    return False
            for name in ("getattr", "methodcaller", "attrgetter", "eval", "exec"):
                for asked in module.names.by_id.get(name, ()):
                    call = module.names.parents[asked]
                    given = map(constant, call.args) if isinstance(call, ast.Call) else ()
                    texts = [text for text in given if isinstance(text, str)]
                    if not texts or any(method.name in text for text in texts):
                        return False
        return True

    def _mentions(self, name: str) -> list[tuple[Module, ast.expr]]:
        """Where a function or class name of the run is mentioned, under whatever alias."""
        if name not in self._mentioned:
            defined = any(name in _defined(module) for module in self._modules)
            self._mentioned[name] = list(self._find_mentions(name)) if defined else []
        found = self._mentioned[name]
        return [one for one in found if one[1] not in self._gone] if self._gone else found

    def _find_mentions(self, name: str) -> Iterator[tuple[Module, ast.expr]]:
        for module in self._modules:
            names = module.names
            for attribute in names.attributes.get(name, ()):
                yield module, attribute
            for local in (name, *names.renamed.get(name, ())):
                for mention in names.by_id.get(local, ()):
                    if isinstance(mention.ctx, ast.Load):
                        yield module, mention


@fact_of_text
def _defined(module: Module) -> set[str]:
    """The names of the functions and classes of a module, wherever they stand in it."""
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    return {node.name for node in module.names.scopes if isinstance(node, kinds)}


def _is_registered(module: Module, node: Definition | ast.ClassDef) -> bool:
    """Whether something calls a function or class that no code mentions: a decorator, tests."""
    is_test = "test" in node.name.lower() and "test" in str(module.path).lower()
    return bool(node.decorator_list) or is_test


def _is_script(entry: Module) -> bool:
    """Whether a file is started: it has a main guard, or does something when it is loaded."""
    return entry.has_main_guard or any(
        isinstance(statement, (ast.For, ast.While, ast.With))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
        for statement in entry.tree.body
    )


def _by_name(program: Program, module: Module, name: str) -> bool:
    """Whether a program may reach a function of a module by a text: `getattr(module, name)`."""
    if any(module.names.by_id.get(read) for read in ("globals", "locals", "vars", "eval", "exec")):
        return True
    for one in program.modules:
        for mention in one.names.by_id.get("getattr", ()):
            call = one.names.parents[mention]
            if not isinstance(call, ast.Call) or call.func is not mention or len(call.args) < 2:
                return True
            if constant(call.args[1]) in (None, name) and _may_be_module(one, call.args[0]):
                return True
    return False


def _is(target: Function, node: ast.AST) -> bool:
    return node in (target.node, target.owner)


_RUN = re.compile(r"\bapp\s*\.\s*run\b|\bimport\b.*\brun\b")


def _runs_main(program: Program) -> bool:
    """Whether a program may have its `main` called without a mention: by `tf.app.run()`."""
    return any(_RUN.search(module.source.text) for module in program.modules)


def _may_name(module: Module, mention: ast.expr, home: Module) -> bool:
    """Whether a mention that is not resolved may be of something that ``home`` defines.

    A name that its own module binds otherwise is another one, so is an attribute of such a thing.
    """
    if isinstance(mention, ast.Attribute):
        if (module.names.qualname(mention) or "").startswith("tensorflow."):
            return False
        return module is home or _may_be_module(module, mention.value)
    if not isinstance(mention, ast.Name):
        return True
    bindings = module.names.bindings_of(mention)
    return not bindings or any(
        one.kind in ("import", "def", "class") and not isinstance(one.node, ast.Import)
        for one in bindings  # `import train` names a module
    )


def _may_be_module(module: Module, node: ast.expr) -> bool:
    """Whether an expression may be a module of the run: what is imported, or not known."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return True
    if (module.names.qualname(node) or "").startswith("tensorflow"):
        return False
    bindings = module.names.bindings_of(root)
    return not bindings or any(_may_bind_module(root.id, one) for one in bindings)


def _may_bind_module(name: str, binding: Binding) -> bool:
    if binding.kind == "parameter":
        return name not in ("self", "cls")
    if binding.kind == "assign" and binding.value is not None:
        made = binding.value  # `import_module(...)`, `m = helper`, `a if x else b`
        if isinstance(made, ast.Call):
            return "import" in ast.unparse(made.func)
        return isinstance(made, (ast.Name, ast.Attribute, ast.IfExp, ast.BoolOp, ast.Subscript))
    return binding.kind in ("import", "other")


def started_by(function: Function) -> ast.Call | None:
    """`tf.app.run()`, where it is what calls a function."""
    return _start(function.module, function.node) or _app_run(function.module, function.node)


def _start(module: Module, function: Definition) -> ast.Call | None:
    """`tf.app.run()`, which calls the `main` of the file that is started, if that is its one."""
    if function.name != "main" or not isinstance(module.names.parents[function], ast.Module):
        return None
    starts = [
        call
        for call in module.names.calls
        if (module.names.qualname(call.func) or "").endswith("app.run")
        and not call.args
        and not any(keyword.arg == "main" for keyword in call.keywords)
    ]
    return starts[0] if len(starts) == 1 else None


def _app_run(module: Module, function: ast.AST) -> ast.Call | None:
    """The one `tf.app.run()` that calls a module's `main`, which nothing mentions."""
    outermost = isinstance(module.names.parents.get(function), ast.Module)
    if not outermost or getattr(function, "name", "") != "main":
        return None
    calls = [
        call
        for call in module.names.calls
        if (module.names.qualname(call.func) or "").endswith("app.run")
    ]
    if len(calls) != 1 or calls[0].args or any(k.arg == "main" for k in calls[0].keywords):
        return None
    return calls[0]


def _is_started(reference: Reference) -> bool:
    """`tf.app.run(main)`, `tf.app.run(main=main)`: handed on to be called once."""
    names = reference.module.names
    parent = names.parents.get(reference.node)
    if isinstance(parent, ast.keyword):
        parent = names.parents.get(parent)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "run"
    )


def _callable(module: Module, node: ast.AST) -> Function | None:
    """The function that calling a definition runs: itself, or a class's ``__init__``."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return Function(module, node)
    if isinstance(node, ast.ClassDef):
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                return Function(module, statement)
    return None
