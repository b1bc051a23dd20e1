"""A configuration object and its whole flow: where it is made, filled, handed on and used.

Either every step of a flow is understood, or the flow carries a diagnostic that
names the step that is not. Nothing is rewritten here.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Definition
from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import field, record
from migrate_mgpu.session_config.sinks import SinkCall

# Fields of ConfigProto that are messages themselves, by path, with their class.
SUBMESSAGES = {
    "gpu_options": "GPUOptions",
    "gpu_options.experimental": "GPUOptions.Experimental",
    "graph_options": "GraphOptions",
    "graph_options.optimizer_options": "OptimizerOptions",
    "graph_options.rewrite_options": "RewriterConfig",
    "experimental": "ConfigProto.Experimental",
}


@record(frozen=True, eq=False)
class Setting:
    """One field that gets a value: a keyword of a constructor, or an assignment."""

    module: Module
    path: str  # "gpu_options.allow_growth"; for a map entry "device_count.GPU"
    value: ast.expr
    statement: ast.stmt
    creation: ast.Call | None = None  # the constructor call, for a keyword
    keyword: ast.AST | None = None  # the keyword or dict key, for its comments
    written: set[ast.AST] = field(default_factory=set)  # what of the value new code has
    item: str = ""  # the key of an entry, where the value is a variable that holds the map

    @property
    def code(self) -> str:
        """The value as its author wrote it, for new code."""
        return self.part(self.value)

    def part(self, node: ast.expr) -> str:
        """A part of the value as its author wrote it, for new code."""
        self.written.add(node)
        code = self.module.source.code(node)
        return f"{code}[{self.item}]" if self.item and node is self.value else code

    @property
    def operand(self) -> str:
        """The same, as an operand of an operator."""
        bound = isinstance(self.value, (ast.Constant, ast.Name, ast.Attribute, ast.Call))
        return self.code if bound else f"({self.code})"

    @property
    def known(self) -> object | None:
        """The value where it can be told: a literal, or a variable that only ever holds one."""
        return constant(self.module.names.assigned(self.value))

    @property
    def is_chosen(self) -> bool:
        """Whether a condition around it says that the value is no 0 and no empty string."""
        child: ast.AST = self.creation or self.statement
        for parent in self.module.names.ancestors(child):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return False
            if isinstance(parent, (ast.If, ast.IfExp)):
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                if child in body and _is_truth(parent.test, self.value):
                    return not _changes(parent, self.value)
            child = parent
        return False

    def fresh(self, *candidates: str) -> str:
        """The first of some names that is free where the setting stands."""
        names = self.module.names
        return names.fresh(names.scope_at(self.statement), *candidates)

    @property
    def choice(self) -> tuple[ast.IfExp, bool] | None:
        """The conditional expression that chooses its constructor, and whether by its body."""
        child: ast.AST = self.creation or self.statement
        while not isinstance(child, ast.stmt):
            parent = self.module.names.parents[child]
            if isinstance(parent, ast.IfExp) and child is not parent.test:
                return parent, child is parent.body
            child = parent
        return None


def _is_truth(test: ast.expr, value: ast.expr) -> bool:
    """Whether a condition that holds has a value in it that counts as true."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_is_truth(part, value) for part in test.values)
    if isinstance(test, ast.Compare) and constant(test.comparators[0]) == 0:
        if len(test.ops) == 1 and isinstance(test.ops[0], (ast.Gt, ast.NotEq)):
            test = test.left
    return ast.dump(test) == ast.dump(value)


def _changes(block: ast.AST, value: ast.expr) -> bool:
    """Whether a part of a value may be another one below the start of a block."""
    parts = {n.id for n in walk(value) if isinstance(n, ast.Name)}
    parts |= {n.attr for n in walk(value) if isinstance(n, ast.Attribute)}
    calls = any(isinstance(n, (ast.Call, ast.Await, ast.Subscript)) for n in walk(value))
    return calls or any(
        (n.id if isinstance(n, ast.Name) else n.attr) in parts
        for n in walk(block)
        if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store)
    )


@record(frozen=True, eq=False)
class Step:
    """A statement that makes or carries the object and has no place once it has moved.

    What stays of it: ``call`` as a statement of its own, the call of a helper; all but
    ``members`` of its tuples and dictionaries; None for ``exported``, a variable that other
    files read.
    """

    module: Module
    statement: ast.stmt
    creation: ast.Call | None = None
    call: ast.Call | None = None
    returns: bool = False
    yields: bool = False
    members: tuple[ast.expr, ...] = ()
    exported: str = ""


@record(frozen=True, eq=False)
class Handover:
    """A call that hands the object to a function of the run, as one of its arguments.

    ``stays``: the function is in another file and keeps its parameter, so that each of
    the two files works with the other's old and new form. It gets None: ``default`` says
    whether that is the parameter's default.
    """

    module: Module
    call: ast.Call
    argument: ast.expr
    stays: bool = False
    default: bool = False

    @property
    def by_keyword(self) -> ast.keyword | None:
        for keyword in self.call.keywords:
            if keyword.value is self.argument:
                return keyword
        return None


@record(frozen=True, eq=False)
class Parameter:
    """A function's parameter that always gets the object (or is left out)."""

    module: Module
    function: Definition
    name: str


@record(eq=False)
class Flow:
    """One configuration, from its constructor to its sinks."""

    module: Module
    creations: list[ast.Call] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    sinks: list[SinkCall] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    helper_calls: list[tuple[Module, ast.Call]] = field(default_factory=list)
    handovers: list[Handover] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    without: list[tuple[Module, ast.Call]] = field(default_factory=list)  # calls that give none
    passed: set[ast.Call] = field(default_factory=set)  # sinks behind a parameter that stays
    problems: list[Diagnostic] = field(default_factory=list)
    may_be_none: bool = False  # a branch has no config at all
    # `if config is None:` of a parameter around its constructor; whether every call comes there.
    defaults: dict[ast.If, bool] = field(default_factory=dict)
    optional: set[ast.AST] = field(default_factory=set)  # mentions of such a parameter, which stays
    entered: list[tuple[Module, ast.withitem]] = field(default_factory=list)  # `with ... as it`
    shown: list[tuple[Module, ast.Expr]] = field(default_factory=list)  # prints and logs of it
    shares: set[ast.Call] = field(default_factory=set)  # other constructors, given a part of it

    @property
    def place(self) -> ast.Call:
        return self.creations[0]

    @property
    def modules(self) -> list[Module]:
        """Every module that the flow touches, the one that makes the object first."""
        touched = [self.module]
        touched += [setting.module for setting in self.settings]
        touched += [step.module for step in self.steps]
        touched += [sink.module for sink in self.sinks]
        touched += [handover.module for handover in self.handovers]
        touched += [module for module, _ in (*self.shown, *self.entered)]
        return list(dict.fromkeys(touched))

    def own_nodes(self) -> set[ast.AST]:
        """What goes away when the flow moves: constructors, and statements that only carried it."""
        found: set[ast.AST] = set(self.creations)
        found.update(s.creation or s.statement for s in self.settings)
        for step in self.steps:
            found.update(step.members or (step.statement,))
        found.update(statement for _, statement in self.shown)
        return found
