"""Clones of slim's `model_deploy`, as the loop over the GPUs that they are.

    config = model_deploy.DeploymentConfig(num_clones=FLAGS.num_clones)
    clones = model_deploy.create_clones(config, clone_fn, [iterator])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    total_loss, gradients = model_deploy.optimize_clones(clones, optimizer)

becomes, where the clones are optimized,

    for clone in range(FLAGS.num_clones):
        with tf.name_scope('clone_%d' % clone) as clone_scope:
            with tf.device('/gpu:%d' % clone):
                with tf.variable_scope(tf.get_variable_scope(), reuse=clone > 0):
                    outputs = clone_fn(iterator)
                losses = tf.get_collection(tf.GraphKeys.LOSSES, clone_scope)
                ...

with what towers have: their losses, the mean of their gradients. slim divides the losses by the
number of clones, and gives the regularization to the first clone alone; the mean of losses that
each have the regularization is the same.

A program has a copy of `model_deploy`. It is slim's where its functions are: what they do is
compared, without docstrings and without the summaries, in which the copies differ.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.import_edits import remove_imports
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_CREATE, _OPTIMIZE, _CONFIG = "create_clones", "optimize_clones", "DeploymentConfig"
# What the functions are, as `digest` says it: slim's, each of which is one text in all copies that
# were seen but where more are given; and those of a short copy (`fixtures/towers/deployed_clones`).
_COPIES = (
    {
        _CREATE: ("799e0efee9c2",),
        _OPTIMIZE: ("ae4c8a9a8e12",),
        "_optimize_clone": ("74317ae4f591",),
        "_gather_clone_loss": ("cec14a24e092",),
        "_sum_clones_gradients": ("dfb3f36968c1", "af8c3dfc3413"),
        f"{_CONFIG}.__init__": ("f47f40b59375", "c6693fa0f5f0"),
        f"{_CONFIG}.num_clones": ("acb99893c540",),
        f"{_CONFIG}.clone_scope": ("1774a226bfd1",),
        f"{_CONFIG}.clone_device": ("4c582a84a5e8", "18b1cbb1918d", "09708fcbb87c"),
    },
    {
        _CREATE: ("f182c3cbdd99",),
        _OPTIMIZE: ("36f1f40a4982",),
        "_optimize_clone": ("9926937d5c53",),
        "_gather_clone_loss": ("546c179e2ada",),
        "_sum_clones_gradients": ("fb282e879454",),
        f"{_CONFIG}.__init__": ("270ce29dfdc9",),
        f"{_CONFIG}.num_clones": ("acb99893c540",),
        f"{_CONFIG}.clone_scope": ("cc3562d8b12c",),
        f"{_CONFIG}.clone_device": ("3d8a09489dd8",),
    },
)
_CPU = "/device:CPU:0"
_ADVICE = "write them as a loop over the GPUs, whose gradients are averaged"
_DEVICES = ("variables_device", "inputs_device", "optimizer_device")
_CONFIG_PARAMETERS = ("num_clones", "clone_on_cpu", "replica_id", "num_replicas", "num_ps_tasks",
                      "worker_job_name", "ps_job_name")  # fmt: skip
_ONE_MACHINE = {"replica_id": 0, "num_replicas": 1, "num_ps_tasks": 0}
_UNREAD = ("worker_job_name", "ps_job_name")
_CREATE_PARAMETERS = ("config", "model_fn", "args", "kwargs")
_OPTIMIZE_PARAMETERS = ("clones", "optimizer", "regularization_losses")
# What asks the graph for what the clones leave in it, or would show it.
_READS_GRAPH = ("get_collection", "get_collection_ref", "get_default_graph", "get_variable_scope",
                "add_to_collection", "Graph", "Session", "InteractiveSession")  # fmt: skip
_SUMMARIES = ("summary.merge_all", "merge_all_summaries")


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the clones that a module makes; none where they are not understood.

    ``modules`` are all that the program has.
    """
    made = [call for call in module.names.calls if _is_slims(module, call, _CREATE, graph)]
    optimized = [call for call in module.names.calls if _is_slims(module, call, _OPTIMIZE, graph)]
    if len(made) != 1 or len(optimized) != 1:
        return []
    try:
        return _Clones(module, graph, modules, made[0], optimized[0]).edits()
    except _NotUnderstood:
        return []


def obstacle(modules: Sequence[Module], graph: CallGraph) -> Diagnostic | None:
    """What keeps the clones of a program that slim's `model_deploy` makes, if there are some."""
    calls = [(module, call) for module in modules for call in module.names.calls]
    for name in (_CREATE, "deploy"):
        for module, call in calls:
            if is_slims_module(module) or not _is_slims(module, call, name, graph):
                continue
            why = _why(module, call, graph, modules)
            home = why.module or module
            return Diagnostic("clones", Place(home, why.node), why.text, _ADVICE)
    return None


def _why(
    module: Module, create: ast.Call, graph: CallGraph, modules: Sequence[Module]
) -> _NotUnderstood:
    """Why the clones that a call makes stay."""
    optimized = [call for call in module.names.calls if _is_slims(module, call, _OPTIMIZE, graph)]
    made = [call for call in module.names.calls if _is_slims(module, call, _CREATE, graph)]
    if made != [create] or len(optimized) != 1:
        return _NotUnderstood(create, "clones are not made and optimized once, in one module")
    try:
        _Clones(module, graph, modules, create, optimized[0]).edits()
    except _NotUnderstood as why:
        return why
    return _NotUnderstood(create, "the towers that the clones are stay")


class _NotUnderstood(Exception):
    """The clones stay, for what a node does."""

    def __init__(self, node: ast.AST, text: str, module: Module | None = None) -> None:
        super().__init__(text)
        self.node = node
        self.text = text
        self.module = module


def _is_slims(module: Module, call: ast.Call, name: str, graph: CallGraph) -> bool:
    """Whether a call is one of a function of slim's `model_deploy`."""
    last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if isinstance(call.func, ast.Name):
        last = call.func.id
    if last != name:
        return False
    if name == _CONFIG:
        found = graph.class_of(module, call.func)
        return found is not None and is_slims_module(found[0])
    function = graph.target(module, call.func)
    return function is not None and is_slims_module(function.module)


def is_slims_module(module: Module) -> bool:
    """Whether a module is a copy of slim's `model_deploy`, in what makes and trains clones."""
    defined = {one.name: one for one in module.tree.body if isinstance(one, ast.FunctionDef)}
    classes = {one.name: one for one in module.tree.body if isinstance(one, ast.ClassDef)}
    config = classes.get(_CONFIG)
    if config is None or {*classes} != {_CONFIG}:
        return False
    for one in config.body:
        if isinstance(one, ast.FunctionDef):
            defined[f"{_CONFIG}.{one.name}"] = one
    if not any(
        all(name in defined and digest(defined[name]) in known for name, known in copy.items())
        for copy in _COPIES
    ):
        return False
    scopes = [call for call in walk(defined[_CREATE]) if isinstance(call, ast.Call)]
    if not any(name_of(module, call) == "name_scope" for call in scopes):
        return False  # `tf` is something else
    return any(
        isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Call)
        and module.names.qualname(one.value.func) == "collections.namedtuple"
        and [constant(part) for part in walk(one.value) if isinstance(part, ast.Constant)]
        == ["Clone", "outputs", "scope", "device"]
        for one in module.tree.body
    )


def digest(function: ast.FunctionDef) -> str:
    """A short word for what a function does, without docstrings, errors and summaries."""
    shape = repr([_shape(one) for one in function.body if not _only_tells(one)])
    given = ast.arguments(**{name: getattr(function.args, name) for name in ast.arguments._fields})
    return hashlib.sha256(f"{_shape(given)} {shape}".encode()).hexdigest()[:12]


def _only_tells(statement: ast.stmt) -> bool:
    """Whether a statement is a text, an error, or adds a summary of what is there."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    if all(isinstance(one, ast.Raise) for one in statement.body):
        return True
    calls = [one for one in walk(statement) if isinstance(one, ast.Call)]
    shows = [one for one in calls if "summary" in ast.dump(one.func)]
    assigns = any(isinstance(one, (ast.Assign, ast.AugAssign)) for one in walk(statement))
    return bool(shows) and not assigns


def _shape(node: object) -> object:
    """A tree as lists: the same for each Python that reads it."""
    if isinstance(node, ast.AST):
        fields = [
            (name, _shape(getattr(node, name)))
            for name in node._fields
            if name
            not in ("ctx", "kind", "type_comment", "type_params", "type_ignores", "annotation")
            and getattr(node, name, None) not in (None, [])
        ]
        return [type(node).__name__, fields]
    if isinstance(node, list):
        return [
            _shape(one)
            for one in node
            if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]
    return node


class _Clones:
    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        modules: Sequence[Module],
        create: ast.Call,
        optimize: ast.Call,
    ) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.modules = modules
        self.tf = root(module, create)
        self.create = self._assigned(create)
        self.optimize = self._assigned(optimize)
        self.home = self.names.scope_at(create)
        if self.names.scope_at(optimize) is not self.home:
            raise _NotUnderstood(optimize, "clones are made and optimized in two functions")
        self.given = self._arguments(create, _CREATE_PARAMETERS)
        self.told = self._arguments(optimize, _OPTIMIZE_PARAMETERS)
        self.gone: set[ast.AST] = {create, optimize}
        self.found: list[Edit] = []
        self.inside: list[str] = []  # what the first clone gives, in the loop
        self.moved: set[ast.stmt] = set()
        self.taken: set[str] = set()

    def edits(self) -> list[Edit]:
        """All edits of the module.

        Raises:
            _NotUnderstood: something of it is not as slim's programs have it.
        """
        self._shows()
        number, device = self._config()
        clones = self._target(self.create)
        called = self._called()
        self.outputs = self._fresh("outputs", "clone_outputs")
        self.index = self._fresh("clone", "clone_index", "clone_number")
        self.scope = self._fresh("clone_scope", "scope_of_clone")
        self._uses_of_clones(clones)
        self._uses_of_scopes()
        var_list = self._var_list()
        self._between()
        target = self.optimize.targets[0]
        assert isinstance(target, ast.Tuple)
        loss, gradients = (self.source.code(one) for one in target.elts)
        lines = self._loop(number, device, called, var_list, loss, gradients)
        self.found.append(Layout(self.source, self.optimize).replace(lines))
        self.found.append(without_paragraph(self.source, self.create))
        for statement in self.moved:
            self.found.append(without_paragraph(self.source, statement))
        self.gone |= {self.create, self.optimize, *self.moved}
        return [*self.found, *remove_imports(self.module, self.gone, self.found)]

    # -- reading --------------------------------------------------------------------

    def _assigned(self, call: ast.Call) -> ast.Assign:
        statement = self.names.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            raise _NotUnderstood(
                call, f"what {self._code(call.func)} gives is not assigned to a name"
            )
        if len(statement.targets) != 1 or not Layout(self.source, statement).owns_lines:
            raise _NotUnderstood(
                call, f"what {self._code(call.func)} gives is not assigned to a name"
            )
        target = statement.targets[0]
        if isinstance(target, ast.Tuple):
            if len(target.elts) != 2 or not all(isinstance(one, ast.Name) for one in target.elts):
                raise _NotUnderstood(
                    target, f"what {self._code(call.func)} gives is assigned to more than names"
                )
        elif not isinstance(target, ast.Name):
            raise _NotUnderstood(
                target, f"what {self._code(call.func)} gives is assigned to more than names"
            )
        return statement

    def _arguments(self, call: ast.Call, parameters: Sequence[str]) -> dict[str, ast.expr]:
        if any(isinstance(one, ast.Starred) for one in call.args):
            raise _NotUnderstood(call, f"the arguments of {self._code(call.func)} cannot be told")
        if len(call.args) > len(parameters) or any(one.arg is None for one in call.keywords):
            raise _NotUnderstood(call, f"the arguments of {self._code(call.func)} cannot be told")
        given = {one.arg or "": one.value for one in call.keywords}
        given.update(zip(parameters, call.args))
        return given

    def _target(self, statement: ast.Assign) -> ast.Name:
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or self.names.only_binding(target) is None:
            raise _NotUnderstood(target, f"{self._code(target)} is also assigned elsewhere")
        return target

    def _shows(self) -> None:
        """Summaries that slim makes of each clone are in the collection of all.

        Raises:
            _NotUnderstood: something reads that collection.
        """
        for module in self.modules:
            if is_slims_module(module):
                continue
            for call in module.names.calls:
                name = name_of(module, call)
                asks = name in ("get_collection", "get_collection_ref") and call.args
                if name in _SUMMARIES or name.startswith("contrib.slim.learning"):
                    raise _NotUnderstood(
                        call,
                        f"`{module.source.code(call.func)}` shows the summaries of the clones",
                        module,
                    )
                if asks and name_of(module, call.args[0]) == "GraphKeys.SUMMARIES":
                    raise _NotUnderstood(
                        call,
                        f"`{module.source.code(call.func)}` shows the summaries of the clones",
                        module,
                    )

    def _config(self) -> tuple[str, str]:
        """The number of clones, and the device of each; the uses of the config get edits."""
        config = self.given.get("config")
        made = self.names.only_value(config) if isinstance(config, ast.Name) else None
        if not isinstance(config, ast.Name) or not isinstance(made, ast.Call):
            raise _NotUnderstood(
                self.create, "the DeploymentConfig of the clones has no name of its own"
            )
        if not _is_slims(self.module, made, _CONFIG, self.graph):
            raise _NotUnderstood(made, "the DeploymentConfig of the clones is not slim's")
        statement = self._assigned(made)
        self._target(statement)
        given = {**self._arguments(made, _CONFIG_PARAMETERS)}
        if self.graph.class_of(self.module, made.func) is None or len(made.args) > 2:
            raise _NotUnderstood(
                made, "which arguments DeploymentConfig is given, cannot be told"
            )  # which is which, differs between the copies
        for name, one in given.items():
            if name in _ONE_MACHINE and constant(one) != _ONE_MACHINE[name]:
                raise _NotUnderstood(
                    one, f"clones may be on several machines: `{name}` is {self._code(one)}"
                )
            if name == "fake_multiple_gpus" and constant(one) is not False:
                raise _NotUnderstood(one, f"DeploymentConfig is given `{name}`")
            if name not in (*_CONFIG_PARAMETERS, "fake_multiple_gpus"):
                raise _NotUnderstood(one, f"DeploymentConfig is given `{name}`")
        count = given.get("num_clones")
        if count is None or not self._is_plain(count):
            raise _NotUnderstood(made, "how many clones there are, cannot be told")
        number = self.source.code(count)
        cpu = given.get("clone_on_cpu", ast.Constant(False))
        for mention in self._mentions(config):
            if mention is statement.targets[0] or mention is config:
                continue
            parent = self.names.parents[mention]
            if not isinstance(parent, ast.Attribute):
                raise _NotUnderstood(mention, f"{self._code(mention)} is given to other code")
            called = self.names.parents[parent]
            if parent.attr == "num_clones":
                self._replace(parent, number)
            elif parent.attr == "clone_scope":
                continue  # with its uses
            elif (
                parent.attr in _DEVICES
                and isinstance(called, ast.Call)
                and called.func is parent
                and not called.args
            ):
                self._replace(called, repr(_CPU))
            else:
                raise _NotUnderstood(
                    mention, f"{self._code(parent)} is asked of the DeploymentConfig"
                )
        self.config = config
        self.moved.add(statement)
        if constant(cpu) is False:
            return number, "'/gpu:%d' % {0}"
        if constant(cpu) is True:
            return number, "'/cpu:%d' % {0}"
        if not self._is_plain(cpu):
            raise _NotUnderstood(cpu, "whether the clones are on the CPU, cannot be told")
        return number, f"'/cpu:%d' % {{0}} if {self.source.code(cpu)} else '/gpu:%d' % {{0}}"

    def _code(self, node: ast.AST) -> str:
        return f"`{self.source.code(node)}`"

    def _mentions(self, name: ast.Name) -> list[ast.Name]:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is None:
            raise _NotUnderstood(name, f"{name.id} is no name of the program")
        return self.names.mentions(name.id, home)

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression has the same value wherever it stands."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return self.names.only_binding(node) is not None
        return isinstance(node, ast.Attribute) and self._is_plain(node.value)

    def _called(self) -> str:
        """The call that makes a clone."""
        function = self.given.get("model_fn")
        if not isinstance(function, (ast.Name, ast.Attribute)):
            raise _NotUnderstood(self.create, "which function makes a clone, cannot be told")
        args, kwargs = self.given.get("args"), self.given.get("kwargs")
        texts: list[str] = []
        if args is not None and not is_none(args):
            if not isinstance(args, (ast.List, ast.Tuple)):
                raise _NotUnderstood(args, "what clones are given is no list of names")
            for one in args.elts:
                if not self._is_plain(one):
                    raise _NotUnderstood(
                        one, f"clones are given {self._code(one)}, which is made once for all"
                    )
                texts.append(self.source.code(one))
        if kwargs is not None and not is_none(kwargs):
            if not isinstance(kwargs, ast.Dict):
                raise _NotUnderstood(kwargs, "what clones are given by name cannot be told")
            for key, one in zip(kwargs.keys, kwargs.values):
                word = constant(key)
                if not isinstance(word, str) or not word.isidentifier() or not self._is_plain(one):
                    raise _NotUnderstood(
                        one, f"clones are given {self._code(one)}, which is made once for all"
                    )
                texts.append(f"{word}={self.source.code(one)}")
        return f"{self.source.code(function)}({', '.join(texts)})"

    def _uses_of_clones(self, clones: ast.Name) -> None:
        """`outputs = clones[0].outputs` is what the loop gives its first clone."""
        self.scopes: list[ast.AST] = []
        optimized = self.told.get("clones")
        for mention in self._mentions(clones):
            if mention is clones or mention is optimized:
                continue
            parent = self.names.parents[mention]
            if isinstance(parent, ast.Call) and self.names.qualname(parent.func) == "builtins.len":
                raise _NotUnderstood(mention, "how many clones there are, is asked of their list")
            if not isinstance(parent, ast.Subscript) or constant(parent.slice) != 0:
                raise _NotUnderstood(
                    mention, "more is asked of the clones than what the first one gave"
                )
            attribute = self.names.parents[parent]
            if not isinstance(attribute, ast.Attribute):
                raise _NotUnderstood(
                    mention, "more is asked of the clones than what the first one gave"
                )
            if attribute.attr == "scope":
                self.scopes.append(attribute)
            elif attribute.attr == "outputs":
                self._keep(attribute, self.outputs)
            else:
                raise _NotUnderstood(
                    mention, "more is asked of the clones than what the first one gave"
                )

    def _keep(self, node: ast.AST, text: str) -> None:
        """What a statement takes of the first clone is assigned in the loop."""
        statement = self.names.statement(node)
        if not isinstance(statement, ast.Assign) or statement.value is not node:
            raise _NotUnderstood(node, f"{self._code(node)} is used within another statement")
        target = self._target(statement)
        if not Layout(self.source, statement).owns_lines or statement in self.moved:
            raise _NotUnderstood(node, f"{self._code(node)} is used within another statement")
        for mention in self._mentions(target):
            if mention is not target and position(mention) < position(self.optimize):
                raise _NotUnderstood(
                    mention, f"{target.id} is used before the clones are optimized"
                )
        self.inside.append(f"{target.id} = {text}")
        self.moved.add(statement)

    def _uses_of_scopes(self) -> None:
        """`config.clone_scope(0)`, `clones[0].scope`, and names for them: who asks by them."""
        for mention in self._mentions(self.config):
            parent = self.names.parents[mention]
            if isinstance(parent, ast.Attribute) and parent.attr == "clone_scope":
                called = self.names.parents[parent]
                if not isinstance(called, ast.Call) or len(called.args) != 1:
                    raise _NotUnderstood(
                        mention, "the scope of another clone than the first is asked for"
                    )
                if constant(called.args[0]) != 0:
                    raise _NotUnderstood(
                        mention, "the scope of another clone than the first is asked for"
                    )
                self.scopes.append(called)
        for scope in self.scopes:
            statement = self.names.statement(scope)
            if isinstance(statement, ast.Assign) and statement.value is scope:
                target = self._target(statement)
                self.moved.add(statement)
                for mention in self._mentions(target):
                    if mention is not target:
                        self._updates(mention)
            else:
                self._updates(scope)

    def _updates(self, scope: ast.AST) -> None:
        """`updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)`"""
        call = self.names.parents[scope]
        if not isinstance(call, ast.Call) or name_of(self.module, call) != "get_collection":
            raise _NotUnderstood(scope, "the scope of a clone is asked for more than its updates")
        given = by_parameter(call, ("key", "scope"))
        if given.get("scope") is not scope:
            raise _NotUnderstood(scope, "the scope of a clone is asked for more than its updates")
        if name_of(self.module, given.get("key")) != "GraphKeys.UPDATE_OPS":
            raise _NotUnderstood(scope, "the scope of a clone is asked for more than its updates")
        key = self.source.code(given["key"])
        self._keep(call, f"{self.tf}.get_collection({key}, {self.scope})")

    def _var_list(self) -> str:
        """What the gradients are taken of; nothing for all variables."""
        told = {**self.told}
        for name in ("clones", "optimizer"):
            told.pop(name, None)
        losses = told.pop("regularization_losses", None)
        self.regularized = losses is None or is_none(losses)
        if losses is not None and not self.regularized:
            if not isinstance(losses, ast.List) or losses.elts:
                raise _NotUnderstood(losses, "`regularization_losses` are told to optimize_clones")
        given = told.pop("var_list", None)
        if told:
            raise _NotUnderstood(self.optimize, f"optimize_clones is given {', '.join(told)}")
        if given is None or is_none(given):
            return ""
        if isinstance(given, ast.Name):
            value = self.names.only_value(given)
            statement = self.names.statement(value) if value is not None else None
            between = statement is not None and position(self.create) < position(
                statement
            ) < position(self.optimize)
            if between and isinstance(value, ast.Call) and isinstance(statement, ast.Assign):
                others = [one for one in self._mentions(given) if one is not given]
                if len(others) != 1 or not Layout(self.source, statement).owns_lines:
                    raise _NotUnderstood(given, f"{self._code(given)} has other uses")
                self.moved.add(statement)
                given = value
        if isinstance(given, ast.Call) and name_of(self.module, given) != "trainable_variables":
            raise _NotUnderstood(given, f"which variables are trained, {self._code(given)} tells")
        return f", var_list={self.source.code(given)}"

    def _between(self) -> None:
        """The clones are made where they are optimized: nothing before that may ask for them.

        Raises:
            _NotUnderstood: something may.
        """
        optimizer = self.told.get("optimizer")
        if not isinstance(optimizer, ast.Name):
            raise _NotUnderstood(self.optimize, "the optimizer of the clones has no name")
        first, last = position(self.create), position(self.optimize)
        for call in self.names.calls:
            statement = self.names.statement(call)
            if not first < position(call) < last or self.names.scope_at(call) is not self.home:
                continue
            if not any(is_inside(self.module, call, {one}) for one in (self.create, *self.moved)):
                self._is_apart(self.module, call, frozenset())
            if isinstance(statement, (ast.For, ast.While, ast.Try)):
                raise _NotUnderstood(
                    statement, "a loop stands between the clones and their optimizer"
                )
        around = [one for one in self.names.ancestors(self.create) if isinstance(one, ast.stmt)]
        for one in self.names.ancestors(self.optimize):
            if isinstance(one, (ast.With, ast.FunctionDef, ast.Module)) or one in around:
                continue
            if isinstance(one, ast.stmt):
                raise _NotUnderstood(one, "the clones are optimized under a condition")

    def _is_apart(self, module: Module, call: ast.Call, seen: AbstractSet[ast.AST]) -> None:
        """A call between, and what it calls, has nothing to do with the clones."""
        name = name_of(module, call)
        if name:
            if name in _READS_GRAPH or name.startswith("summary."):
                raise _NotUnderstood(
                    call,
                    f"`{module.source.code(call.func)}` is asked before the clones are optimized",
                    module,
                )
            if name.endswith(("_variables", "variables_initializer", "_losses", "_loss")):
                raise _NotUnderstood(
                    call,
                    f"`{module.source.code(call.func)}` is asked before the clones are optimized",
                    module,
                )
            return
        if (module.names.qualname(call.func) or "").startswith(("builtins.", "numpy.")):
            return
        replaced = isinstance(call.func, ast.Attribute) and call.func.attr in _DEVICES
        if replaced:
            return
        function = self.graph.target(module, call.func)
        if function is None:
            raise _NotUnderstood(
                call,
                f"what `{module.source.code(call.func)}` does before that is not known",
                module,
            )
        if function.node in seen:
            return
        for inner in _calls(function):
            self._is_apart(function.module, inner, {*seen, function.node})

    def _replace(self, node: ast.expr, text: str) -> None:
        self.found.append(Edit(*self.source.span(node), text))
        self.gone.add(node)

    # -- writing --------------------------------------------------------------------

    def _fresh(self, *candidates: str) -> str:
        free = [one for one in candidates if one not in self.taken]
        found = self.names.fresh(self.home, *free)
        self.taken.add(found)
        return found

    def _loop(
        self, number: str, device: str, called: str, var_list: str, total: str, gradients: str
    ) -> list[str]:
        """The loop over the clones, and what is made of all their gradients."""
        tf, unit = self.tf, self.source.indent_unit
        losses = self._fresh("clone_losses", "losses_of_clones")
        listed = self._fresh("gradients_of_clones", "clone_gradients")
        own = self._fresh("own_losses", "losses_of_clone")
        loss = self._fresh("clone_loss", "loss_of_clone")
        pairs = self._fresh("grad_and_vars", "pairs_of_clones")
        present = self._fresh("grads", "clone_grads")
        optimizer = self.source.code(self.told["optimizer"])
        decay = self._fresh("regularization_losses", "clone_decay")
        body = [
            f"{own} = {tf}.get_collection({tf}.GraphKeys.LOSSES, {self.scope})",
        ]
        if self.regularized:
            body += [
                f"{decay} = {tf}.get_collection({tf}.GraphKeys.REGULARIZATION_LOSSES)",
                f"{loss} = {tf}.add_n({own} + {decay})",
            ]
        else:
            body.append(f"{loss} = {tf}.add_n({own})")
        if self.inside:
            body += [f"if {self.index} == 0:", *(unit + one for one in self.inside)]
        body += [
            f"{losses}.append({loss})",
            f"{listed}.append({optimizer}.compute_gradients({loss}{var_list}))",
        ]
        return [
            f"{losses} = []",
            f"{listed} = []",
            f"for {self.index} in range({number}):",
            f"{unit}with {tf}.name_scope('clone_%d' % {self.index}) as {self.scope}:",
            f"{unit * 2}with {tf}.device({device.format(self.index)}):",
            f"{unit * 3}with {tf}.variable_scope({tf}.get_variable_scope(), "
            f"reuse={self.index} > 0):",
            f"{unit * 4}{self.outputs} = {called}",
            *(unit * 3 + one for one in body),
            f"{total} = {tf}.add_n({losses}) / {number}",
            f"{gradients} = []",
            f"for {pairs} in zip(*{listed}):",
            f"{unit}{present} = [g for g, _ in {pairs} if g is not None]",
            f"{unit}if {present}:",
            f"{unit * 2}{gradients}.append(({tf}.add_n({present}) / {number}, {pairs}[0][1]))",
        ]


def _calls(function: Function) -> Iterator[ast.Call]:
    return (one for one in walk(function.node) if isinstance(one, ast.Call))
