"""The program's own hooks: a class of ``SessionRunHook`` becomes one of Keras's callbacks.

``begin``, ``before_run``, ``after_run`` and ``end`` are called when ``on_train_begin``,
``on_train_batch_begin``, ``on_train_batch_end`` and ``on_train_end`` are: in TF1 one
``Session.run`` was one step. What a hook fetched is asked of the model. ``after_create_session``
is called where ``begin`` is, by it if there is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.style import root
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.rewriters import DrivingRewriter
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.models.keras.driver.hook_fetches import LOSS, Fetches
from migrate_mgpu.models.keras.driver.hook_lookup import is_hook
from migrate_mgpu.source.header_edit import read_header
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments, without_function

CREATED = "after_create_session"
# Which of Keras's methods TF1's became, by the phase that the hook is for.
METHODS = {
    "begin": "on_{}_begin",
    CREATED: "on_{}_begin",
    "before_run": "on_{}_batch_begin",
    "after_run": "on_{}_batch_end",
    "end": "on_{}_end",
}
# Attributes of a callback's own, and of the model's.
_TAKEN = {"model", "params", "validation_data", "_model", "_chief_worker_only", "_supports_tf_logs"}
_HARMLESS = ("logging.", "gfile.", "io.gfile.", "train.SessionRunHook", "estimator.SessionRunHook")
STEPS = ("train.get_global_step", "train.get_or_create_global_step")
ITERATIONS = "int({}.model.optimizer.iterations.numpy())"


class HookClasses:
    """Rewrites the classes of one Estimator's hooks, each once."""

    def __init__(self, graph: CallGraph, flow: EstimatorFlow, changes: DriverEdits) -> None:
        self.graph = graph
        self.flow = flow
        self.changes = changes
        self._phases: dict[ast.ClassDef, str] = {}

    def convert(self, module: Module, owner: ast.ClassDef, phase: str, endless: bool) -> None:
        """Makes a class a callback for a phase (``train`` or ``test``).

        ``endless``: the input of every call that it is given to goes on for ever.

        Raises:
            Refused: it does what a callback cannot, or would do otherwise.
        """
        known = self._phases.setdefault(owner, phase)
        if known != phase:
            text = f"{owner.name} is a hook for training and for evaluating"
            raise Refused(module, owner, text, "make a class for each")
        _Conversion(self, module, owner, phase, endless).run()

    def forget(self, module: Module) -> None:
        """Takes the hooks away that nothing makes: only a session of TF1's could call them."""
        for owner in (part for part in module.tree.body if isinstance(part, ast.ClassDef)):
            if is_hook(module, owner) and not any(self.mentions(module, owner)):
                self.changes.edit(module, without_function(module.source, owner))
                self.changes.gone.add(owner)
                self.changes.note(module, owner, "this hook is left out: nothing makes one")

    def mentions(self, module: Module, owner: ast.ClassDef) -> Iterator[tuple[Module, ast.expr]]:
        """Every expression of the run that names a class."""
        for other in self.graph.project.modules.values():
            names = other.names
            nodes: list[ast.Name | ast.Attribute] = []
            for name in [owner.name] if other is module else list(names.by_id):
                nodes += names.by_id.get(name, ())
            nodes += names.attributes.get(owner.name, ())
            for node in nodes:
                if isinstance(node.ctx, ast.Load):
                    if self.graph.class_of(other, node) == (module, owner):
                        yield other, node


class _Conversion:
    def __init__(
        self, hooks: HookClasses, module: Module, owner: ast.ClassDef, phase: str, endless: bool
    ) -> None:
        self.hooks = hooks
        self.changes = hooks.changes
        self.module = module
        self.source = module.source
        self.owner = owner
        self.phase = phase
        self.endless = endless
        self.methods = {s.name: s for s in owner.body if isinstance(s, ast.FunctionDef)}
        self.fetches = Fetches(hooks.flow, module, owner)
        self.removed: set[ast.stmt] = set()

    def run(self) -> None:
        module, owner = self.module, self.owner
        self._attributes()
        self._unseen()
        base = owner.bases[0]
        text = f"{root(module, base)}.keras.callbacks.Callback"
        self.changes.edit(module, Edit(*self.source.span(base), text))
        self.changes.gone.add(base)
        self.changes.sites.append((module, owner, DrivingRewriter))
        self.fetches.read(self.methods.get("before_run"))
        if LOSS in self.fetches.kinds and self.phase != "train":
            raise Refused(module, owner, "a hook that fetches the loss of an evaluation")
        for name, method in self.methods.items():
            self._names(method)
            if name == "__init__":
                self._constructor(method)
            if name in METHODS:
                self._method(name, method)
            else:
                self._steps(method)
        if self._calls_created:
            self._call_created()
        self._drop()

    @property
    def _calls_created(self) -> bool:
        """Whether `begin` calls `after_create_session`: Keras has one method for the two."""
        return {"begin", CREATED} <= self.methods.keys()

    def _call_created(self) -> None:
        begin, created = self.methods["begin"], self.methods[CREATED]
        last, removed = begin.body[-1], self.removed
        ends = any(isinstance(node, ast.Return) for node in ast.walk(begin))
        layout = Layout(self.source, last)
        if ends or last in removed or set(created.body) <= removed or not layout.owns_lines:
            text = f"{self.owner.name} has both a begin and an after_create_session"
            raise Refused(self.module, created, text, "make one of them")
        self.changes.edit(self.module, layout.insert_after([f"self.{CREATED}()"]))

    def _attributes(self) -> None:
        """What the class calls its own must not be Keras's, nor called by hand."""
        for node in ast.walk(self.owner):
            if isinstance(node, ast.FunctionDef) and node.name.startswith(("on_", "set_")):
                text = f"`{node.name}` of a hook would be a callback's own method"
                raise Refused(self.module, node, text, "give it another name")
            if isinstance(node, ast.Attribute) and self._is_self(node.value):
                if node.attr in _TAKEN:
                    text = f"`{node.attr}` of a hook is an attribute of Keras's callbacks"
                    raise Refused(self.module, node, text, "give it another name")
                if node.attr in METHODS:
                    raise Refused(self.module, node, f"`{node.attr}` is called by hand here")
            if isinstance(node, ast.Raise) and node.exc is not None:
                shown = self.source.code(node.exc)
                if "StopIteration" in shown or "OutOfRange" in shown:
                    text = "a hook ends the training as if its input had ended"
                    raise Refused(self.module, node, text, "use run_context.request_stop()")

    def _unseen(self) -> None:
        """TF1 called ``before_run`` once more where an input ended: nobody may see that."""
        method = self.methods.get("before_run")
        if method is None or self.endless:
            return
        for node in ast.walk(method):
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and self._acts(node)):
                text = "before_run is called once more when the input ends, and does this"
                advice = "do it in after_run, or train on an input that repeats"
                raise Refused(self.module, node, text, advice)
        written = {
            n.attr for n in ast.walk(method) if isinstance(n, ast.Attribute) and _changes(self, n)
        }
        allowed = {method, self.methods.get("after_run")}
        for other in self.hooks.graph.project.modules.values():
            if other is not self.module and self.module not in other.imported:
                continue
            for name in sorted(written):
                for node in other.names.attributes.get(name, ()):
                    around = set(other.names.ancestors(node))
                    if not isinstance(node.ctx, ast.Load) or allowed & around:
                        continue
                    classes = [p for p in around if isinstance(p, ast.ClassDef)]
                    if self._is_self(node.value) and classes and self.owner not in classes:
                        continue  # of another object
                    text = f"`{name}` counts a step more than were trained when the input ends"
                    advice = "set it in after_run, or train on an input that repeats"
                    raise Refused(other, node, text, advice)

    def _acts(self, statement: ast.Expr) -> bool:
        """Whether a call does more than change an attribute, or ask for the end."""
        call = statement.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return isinstance(call, ast.Call)
        if call.func.attr == "request_stop":
            return False
        owner = call.func.value
        return not (isinstance(owner, ast.Attribute) and self._is_self(owner.value))

    def _is_self(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == "self"

    def _names(self, method: ast.FunctionDef) -> None:
        """TensorFlow's functions build a graph in TF1, and run at once in TF2."""
        module = self.module
        for node in ast.walk(method):
            if not isinstance(node, (ast.Attribute, ast.Name)):
                continue
            qualname = module.names.qualname(node)
            found = symbol(qualname) if qualname else None
            if found is None or isinstance(module.names.parents.get(node), ast.Attribute):
                continue
            name = found.name
            if name in (*STEPS, "train.SessionRunArgs") or name.startswith(_HARMLESS):
                continue
            text = f"`tf.{name}` in a hook cannot be analyzed"
            raise Refused(module, node, text, "make the hook a tf.keras.callbacks.Callback")

    def _constructor(self, method: ast.FunctionDef) -> None:
        """Keras's callbacks have a constructor of their own."""
        body = method.body
        calls = [n for n in ast.walk(method) if isinstance(n, ast.Call)]
        if any(isinstance(c.func, ast.Attribute) and is_super(c.func.value) for c in calls):
            return
        docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        first = body[1] if docstring and len(body) > 1 else body[0]
        layout = Layout(self.source, first)
        if not layout.owns_start or (docstring and len(body) == 1):
            raise Refused(self.module, method, "a constructor on one line")
        self.changes.edit(self.module, layout.insert_before(["super().__init__()"]))

    # -- methods -----------------------------------------------------------

    def _method(self, name: str, method: ast.FunctionDef) -> None:
        arguments = method.args
        given = [a.arg for a in arguments.args]
        optional = arguments.defaults
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or method.decorator_list:
            raise Refused(self.module, method, f"`{name}` takes other arguments than a hook's")
        expected = {"begin": 1, "before_run": 2, "after_run": 3, "end": 2}.get(name, 3)
        if len(given) - len(optional) > expected or len(given) < expected:
            raise Refused(self.module, method, f"`{name}` takes other arguments than a hook's")
        if given[0] != "self":
            raise Refused(self.module, method, f"`{name}` calls its object `{given[0]}`")
        self._header(name, method)
        scope = self.module.names.scopes[method]
        for parameter in given[1:]:
            for mention in self.module.names.mentions(parameter, scope):
                self._mention(name, parameter, mention)
        self._steps(method)
        if name == "before_run":
            self._fetched(method)

    def _header(self, name: str, method: ast.FunctionDef) -> None:
        new = METHODS[name].format(self.phase)
        names = self.module.names
        mentioned = names.mentioned({names.scopes[method]})
        own = {a.arg for a in method.args.args}
        if "logs" in mentioned and "logs" not in own:
            text = "`logs` is what Keras calls the results of a batch"
            raise Refused(self.module, method, text, "give the variable another name")
        parameters = ["self", "logs=None"]
        if name == CREATED and self._calls_created:
            new, parameters = name, ["self"]
        if "batch" in new:
            free = [n for n in ("batch", "index", "batch_index") if n not in mentioned]
            parameters.insert(1, free[0] if free else "_batch")
        header = read_header(self.source, method)
        if method.args.posonlyargs or header.commented:
            raise Refused(self.module, method, f"how `{name}` is written cannot be analyzed")
        text = f"def {new}({', '.join(parameters)}):"
        self.changes.edit(self.module, Edit(self.source.span(method)[0], header.end, text))

    def _mention(self, name: str, parameter: str, node: ast.Name) -> None:
        """A use of `run_context`, `run_values` or `session`."""
        module, parents = self.module, self.module.names.parents
        parent = parents[node]
        index = [a.arg for a in self.methods[name].args.args].index(parameter)
        if isinstance(node.ctx, (ast.Store, ast.Del)) and isinstance(parent, ast.Delete):
            if all(isinstance(t, ast.Name) for t in parent.targets):
                self.removed.add(parent)
                return
        if isinstance(parent, ast.Attribute) and index == 1 and name in ("before_run", "after_run"):
            call = parents[parent]
            called = isinstance(call, ast.Call) and call.func is parent
            statement = module.names.statement(node)
            if parent.attr == "request_stop" and called and isinstance(statement, ast.Expr):
                if statement.value is call and self.phase == "train":
                    self._write(call, "self.model.stop_training = True")
                    return
            if parent.attr == "stop_requested" and self.phase == "train":
                self._write(parent, "self.model.stop_training")
                return
            if parent.attr == "session" and self._session(parent):
                return
        if isinstance(parent, ast.Attribute) and index == 2 and parent.attr == "results":
            if name == "after_run":
                self._results(parent)
                return
        if name in ("end", CREATED) and index == 1 and self._session(node):
            return
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            if parent.targets[0].id == "_":  # as `del` does
                self.removed.add(parent)
                return
        shown = self.source.code(parent if isinstance(parent, ast.Attribute) else node)
        advice = "make the hook a tf.keras.callbacks.Callback"
        raise Refused(module, node, f"`{shown}` in a hook cannot be analyzed", advice)

    def _write(self, node: ast.AST, text: str) -> None:
        self.changes.edit(self.module, Edit(*self.source.span(node), text))
        self.changes.gone.add(node)

    def _session(self, node: ast.expr) -> bool:
        """`session.run(global_step)`: the count after the last step that was trained."""
        parents = self.module.names.parents
        method = parents[node]
        call = parents[method]
        if not (isinstance(method, ast.Attribute) and method.attr == "run"):
            return False
        if not (isinstance(call, ast.Call) and call.func is method and len(call.args) == 1):
            return False
        if call.keywords or not self.fetches.is_step(call.args[0]):
            return False
        self._write(call, ITERATIONS.format("self"))
        return True

    def _results(self, node: ast.Attribute) -> None:
        for place, text in self.fetches.results(node):
            self._write(place, text)

    # -- what is not there any more ------------------------------------------

    def _steps(self, method: ast.FunctionDef) -> None:
        """`self._step = tf.train.get_global_step()`, and that there is one."""
        for statement in ast.walk(method):
            if isinstance(statement, ast.stmt) and self.fetches.keeps_step(statement):
                self.removed.add(statement)

    def _fetched(self, method: ast.FunctionDef) -> None:
        last = method.body[-1]
        if not isinstance(last, ast.Return) or self.fetches.call is None:
            return
        self.changes.gone.add(last)
        if LOSS in self.fetches.kinds:
            lines = [
                "# The loss of this batch alone: Keras gives the mean of those so far.",
                "self.model.reset_metrics()",
            ]
            self.changes.edit(self.module, Layout(self.source, last).replace(lines))
            return
        self.removed.add(last)

    def _drop(self) -> None:
        """The statements without a use any more; a method that has no other goes with them."""
        for statement in sorted(self.removed, key=lambda s: s.lineno):
            if not Layout(self.source, statement).owns_lines:
                raise Refused(self.module, statement, "several statements stand on this line")
        for name, method in self.methods.items():
            if name not in METHODS or not set(method.body) <= self.removed:
                continue
            index = self.owner.body.index(method)
            if comments(self.source.code(method)) or index + 1 == len(self.owner.body):
                continue
            following = self.owner.body[index + 1]
            start = Layout(self.source, method).line_start
            end = Layout(self.source, following).line_start
            between = self.source.text[self.source.span(method)[1] : end]
            if between.strip():
                continue
            edits = self.changes.edits.get(self.module, [])
            self.changes.edits[self.module] = [
                e for e in edits if not (start <= e.start and e.end <= end)
            ]
            self.changes.edit(self.module, Edit(start, end, ""))
            self.changes.gone.add(method)
            self.removed -= set(method.body)
        blocks: set[int] = set()
        for statement in sorted(self.removed, key=lambda s: s.lineno):
            block = self.module.names.block(statement)
            empty = set(block) <= self.removed and id(block) not in blocks
            blocks.add(id(block))
            layout = Layout(self.source, statement)
            self.changes.gone.add(statement)
            kept = [c.text for c in comments(self.source.code(statement))]
            self.changes.edit(self.module, layout.replace([*kept, *(["pass"] if empty else [])]))


def _changes(conversion: _Conversion, node: ast.Attribute) -> bool:
    if not conversion._is_self(node.value):
        return False
    parents = conversion.module.names.parents
    parent = parents[node]
    calls = isinstance(parent, ast.Attribute) and isinstance(parents[parent], ast.Call)
    stores = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
    return not isinstance(node.ctx, ast.Load) or calls or stores


def is_super(node: ast.AST) -> bool:
    """`super()` and `super(Hook, self)`."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )
