"""A monitored session, as the plain session, its saver and its loop that it is.

    with tf.train.MonitoredTrainingSession(checkpoint_dir="run", hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op)

becomes, of hooks that stop it at step 100 and save it every 50 steps,

    saver = tf.train.Saver()
    with tf.Session() as sess:
        checkpoint = tf.train.latest_checkpoint("run")
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        saved_step = sess.run(global_step)
        saver.save(sess, "run/model.ckpt", global_step=global_step)
        should_stop = False
        while not should_stop:
            sess.run(train_op)
            step = sess.run(global_step)
            if step >= saved_step + 50:
                saver.save(sess, "run/model.ckpt", global_step=global_step)
                saved_step = step
            should_stop = step >= 100
        if sess.run(global_step) != saved_step:
            saver.save(sess, "run/model.ckpt", global_step=global_step)

As in TF1, a session that is restored at its last step makes one more. The order is that of
``MonitoredTrainingSession``: summaries, checkpoints, then the hooks as they are given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Refused
from migrate_mgpu.analysis.import_edits import with_imports
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import arguments_of, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.hooks import MONITORED_SESSIONS
from migrate_mgpu.api.queues import BATCHES, PRODUCERS
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.normalize.sessions.session_hooks import (
    Hooks,
    Log,
    Nan,
    Own,
    Saves,
    Summarizes,
    Timed,
    own_class_edits,
    read_hooks,
)
from migrate_mgpu.source.blocks import Block, behind_header, render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_IGNORED = ("master", "is_chief", "stop_grace_period_secs", "max_wait_secs")
_NONE = ast.Constant(None)
_LOOPS = (ast.For, ast.While)


def monitored_calls(module: Module) -> list[ast.Call]:
    """The calls that make monitored sessions."""
    known = calls_of_names(module)
    return [call for name in MONITORED_SESSIONS for call in known.get(name, ())]


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for a module's one monitored session; none where it is not understood."""
    calls = monitored_calls(module)
    try:
        return _Monitored(module, graph, calls[0]).edits() if len(calls) == 1 else []
    except Refused:
        return []


def refusal(module: Module, graph: CallGraph, call: ast.AST) -> Diagnostic | None:
    """Why a monitored session stays; None where a call makes none, or it need not stay."""
    if not isinstance(call, ast.Call) or call not in monitored_calls(module):
        return None
    try:
        _Monitored(module, graph, call).edits()
    except Refused as refused:
        return refused.diagnostic
    return None


def told(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """What monitored sessions tell of themselves, which goes."""
    for call in monitored_calls(module):
        given = by_parameter(call, MONITORED_SESSIONS[name_of(module, call)])
        shown = not is_none(given.get("summary_dir", given.get("checkpoint_dir", _NONE)))
        counts = given.get("log_step_count_steps")
        if (
            shown
            and not is_none(counts)
            and constant(counts) != 0
            and "Singular" not in name_of(module, call)
        ):
            text = "TF1 logs `global_step/sec` too, and writes it with the graph to event files"
            yield call, f"{text}: measure the time of a step where you need it"


@record(eq=False)
class _Run:
    """What stands around the one run that hooks watch, and what it fetches for them."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    fetched: dict[str, str] = field(default_factory=dict)  # names of values, by their tensors
    added: list[tuple[str, str]] = field(default_factory=list)  # tensors, and names of values


# What a program of several machines is in TF2, where each machine runs the same program.
WORKERS_ADVICE = (
    "leave tf.train.Server and the parameter servers out, train under "
    "tf.distribute.MultiWorkerMirroredStrategy, and start each worker with its TF_CONFIG"
)


class _Monitored:
    """One monitored session, in a ``with`` statement of its own."""

    def __init__(self, module: Module, graph: CallGraph, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.call = call
        self.scope = module.names.scope_at(call)
        self.tf = root(module, call)
        self.imports: set[str] = set()
        self.taken: set[str] = set()
        self.initial: list[str] = []  # at the start of the session
        self.above: list[str] = []  # before it
        self.final: list[str] = []  # at its end
        self.others: list[Edit] = []  # elsewhere
        self.counter = ""  # the name of the global step, where something counts by it
        self._places: dict[str, str] = {}  # what folders are called
        self._objects: dict[Own, str] = {}  # and the author's hooks
        self.block = self._block()
        self.given = self._given()
        self.hooks = self._hooks()
        self.run_of_hooks = self._watched()

    # -- reading ------------------------------------------------------------------

    def _block(self) -> ast.With:
        block = self.names.statement(self.call)
        item = block.items[0] if isinstance(block, ast.With) else None
        if not isinstance(block, ast.With) or len(block.items) != 1 or item is None:
            text = "a monitored session is made outside of a `with` statement"
            raise Refused(self.module, self.call, text, "end it with one")
        if item.context_expr is not self.call or not isinstance(item.optional_vars, ast.Name):
            raise Refused(self.module, self.call, "a monitored session without a name")
        if not Layout(self.source, block).owns_lines or block.body[0].lineno == block.lineno:
            raise Refused(self.module, block, "other statements are on its line")
        self.session = item.optional_vars
        self.sess = item.optional_vars.id
        return block

    def _given(self) -> dict[str, ast.expr]:
        name = name_of(self.module, self.call)
        given = arguments_of(self.module, self.call, MONITORED_SESSIONS[name])
        master, chief = given.get("master"), given.get("is_chief")
        if (master is not None and constant(master) != "") or (
            chief is not None and constant(chief) is not True
        ):
            text = "its session is one of several that train together"
            raise Refused(self.module, self.call, text, WORKERS_ADVICE)
        for one in ("scaffold", "checkpoint_filename_with_path"):
            if one in given:
                text = f"a monitored session is given its `{one}`"
                raise Refused(self.module, given[one], text, "leave it out")
        return given

    def _hooks(self) -> Hooks:
        found, given = Hooks(), self.given
        trains = name_of(self.module, self.call) == "train.MonitoredTrainingSession"
        directory = given.get("checkpoint_dir")
        shown = given.get("summary_dir", directory)
        lists = [given[one] for one in ("chief_only_hooks",) if one in given]
        read_hooks(self.module, self.graph, lists, found)
        if trains and shown is not None:
            when = self._when("save_summaries_steps", "save_summaries_secs", "100", False)
            if when is not None and self._shows():
                found.summarizes = Summarizes(shown, when)
        if trains and directory is not None:
            when = self._when("save_checkpoint_steps", "save_checkpoint_secs", "600", True)
            if when is not None:
                found.saves = Saves(directory, when)
        if "hooks" in given:
            read_hooks(self.module, self.graph, [given["hooks"]], found)
        return found

    def _shows(self) -> bool:
        """Whether the program makes summaries, in whichever module."""
        known = [calls_of_names(module) for module in self.graph.modules]
        return any(one.get(name) for one in known for name in SUMMARIES.by_name)

    def _when(self, steps: str, secs: str, default: str, seconds: bool) -> Timed | None:
        """How often something is done: TF1's defaults hold where neither is told."""
        call = by_parameter(self.call, MONITORED_SESSIONS[name_of(self.module, self.call)])
        if steps not in call and secs not in call:
            return Timed(default, seconds)
        told = {name: call[name] for name in (steps, secs) if name in call}
        told = {
            name: node for name, node in told.items() if not is_none(node) and constant(node) != 0
        }
        if len(told) > 1:
            raise Refused(self.module, self.call, f"it is told both `{steps}` and `{secs}`")
        for name, node in told.items():
            return Timed(self.source.code(node), name == secs)
        return None

    # -- what is run ----------------------------------------------------------------

    def _mentions(self) -> list[ast.Name]:
        home = self.names.defining_scope(self.sess, self.names.scope_of_name[self.session])
        assert home is not None
        return [one for one in self.names.mentions(self.sess, home) if one is not self.session]

    def _watched(self) -> ast.stmt | None:
        """The statement with the one run that hooks watch.

        Raises:
            Refused: there are several, or other code has the session.
        """
        if not self.hooks.any:
            return None
        runs: list[ast.Call] = []
        inside = {*walk(self.block)}
        for mention in self._mentions():
            if mention not in inside:
                text = "a monitored session is used behind its end"
                raise Refused(self.module, mention, text, "give the two different names")
            parent = self.names.parents[mention]
            method = parent.attr if isinstance(parent, ast.Attribute) else ""
            call = self.names.parents[parent]
            if method == "should_stop":
                continue
            if method != "run" or not isinstance(call, ast.Call):
                text = "hooks watch a session that is used for more than `run`"
                raise Refused(self.module, mention, text, "run everything where it is made")
            runs.append(call)
        around = [call for call in runs if any(self._loops(call))]
        if len(around) != 1 or (len(runs) > 1 and self.hooks.fetches):
            text = "hooks watch several runs of a session"
            raise Refused(self.module, runs[-1] if runs else self.call, text, "run all in one")
        loop = next(self._loops(around[0]))
        if any(call is not around[0] and call.lineno > loop.lineno for call in runs):
            text = "something is run when hooks have stopped the session"
            raise Refused(self.module, runs[-1], text, "do that in a session of its own")
        statement = self.names.statement(around[0])
        if not isinstance(statement, (ast.Expr, ast.Assign)):
            text = "hooks watch a run within another statement"
            raise Refused(self.module, statement, text, "give what it fetches a name")
        if not Layout(self.source, statement).owns_lines:
            raise Refused(self.module, statement, "other statements are on its line")
        self.watched = around[0]
        return statement

    def _loops(self, node: ast.AST) -> Iterator[ast.stmt]:
        """The loops of the session around a node, from without."""
        found: list[ast.stmt] = []
        for parent in self.names.ancestors(node):
            if parent is self.block:
                break
            if isinstance(parent, (ast.FunctionDef, ast.Lambda)):
                text = "a session that hooks watch is run in a function"
                raise Refused(self.module, node, text, "run it where the session is made")
            if isinstance(parent, _LOOPS):
                found.insert(0, parent)
        return iter(found)

    # -- writing --------------------------------------------------------------------

    def edits(self) -> list[Edit]:
        """All edits of the module.

        Raises:
            Refused: something of it cannot be written.
        """
        if self.run_of_hooks is not None:
            layout = Layout(self.source, self.run_of_hooks)
            if layout.trailing_comment:  # above the run first, which gets lines below it
                above = layout.insert_before([layout.trailing_comment])
                return [above, Edit(layout.end, layout.line_end, "")]
        inner = self._asked()
        self._initialize()
        hooked = self._around() if self.run_of_hooks is not None else []
        caught = self._caught()
        for statement in self.hooks.gone:
            self.others.append(without_paragraph(self.source, statement))
        source, indent = self.source, self.source.indent_of(self.block)
        block = Block(source, indent)
        block.comments(self.block)
        for line in self.above:
            block.line(line)
        config = self.given.get("config")
        given = f"config={source.code(config)}" if config is not None else ""
        behind = behind_header(source, self.block)
        comment = f"  {behind}" if behind else ""
        block.line(f"with {self.tf}.Session({given}) as {self.sess}:{comment}")
        for line in self.initial:
            block.line(line, 1)
        deeper = 1
        if caught:
            block.line("try:", 1)
            deeper = 2
        for statement in self.block.body:
            block.statement(statement, [*inner, *hooked], deeper)
        if caught:
            block.line(f"except {caught}:", 1)
            block.line("pass  # the data has ended", 2)
        for line in self.final:
            block.line(line, 1)
        layout = Layout(source, self.block)
        first = layout.line_start
        number = source.place(first)[0]
        while number > 1 and source.line_text(number - 1).strip().startswith("#"):
            number -= 1
        text = block.text().lstrip("\r\n")
        return [
            Edit(source.line_starts[number - 1], layout.next_line, text),
            *self.others,
            *with_imports(self.module, self.imports),
        ]

    def _fresh(self, *candidates: str) -> str:
        free = [one for one in candidates if one not in self.taken]
        found = self.names.fresh(self.scope, *free)
        self.taken.add(found)
        return found

    def _asked(self) -> list[Edit]:
        """`sess.should_stop()` is a variable; where nothing stops it, it goes on for ever."""
        stops = self.hooks.stop is not None or any(
            isinstance(one, Nan) and not one.fails for one in self.hooks.asked
        )
        self.stopped = self._fresh("should_stop", "session_should_stop") if stops else ""
        found: list[Edit] = []
        for mention in self._mentions():
            attribute = self.names.parents[mention]
            if not isinstance(attribute, ast.Attribute) or attribute.attr != "should_stop":
                continue
            asked = self.names.parents[attribute]
            if not isinstance(asked, ast.Call) or asked.args or asked.keywords:
                raise Refused(self.module, mention, "whether a session should stop is asked")
            if self.stopped:
                found.append(Edit(*self.source.span(asked), self.stopped))
                continue
            negated, whole = self.names.parents[asked], self.names.parents[asked]
            if isinstance(negated, ast.UnaryOp) and isinstance(negated.op, ast.Not):
                outer = self.names.parents[negated]
                if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
                    left = [self.source.code(o) for o in outer.values if o is not negated]
                    found.append(Edit(*self.source.span(outer), " and ".join(left)))
                else:
                    found.append(Edit(*self.source.span(whole), "True"))
            else:
                found.append(Edit(*self.source.span(asked), "False"))
        if self.stopped:
            self.initial.append(f"{self.stopped} = False")
        return found

    def _initialize(self) -> None:
        """The values of the variables, and what hooks do at the start and the end."""
        directory = self.given.get("checkpoint_dir")
        saves, shows = self.hooks.saves, self.hooks.summarizes
        start: list[str] = []
        begins: list[str] = []
        initialize = f"{self.sess}.run({self.tf}.global_variables_initializer())"
        needs_steps = self.hooks.stop is not None or saves is not None or shows is not None
        self.counter = self._counter() if needs_steps else ""
        if saves is not None:
            self.above.append(f"{self.tf}.gfile.MakeDirs({self._place(saves.directory)})")
        if directory is None and saves is None:
            start.append(initialize)
        else:
            self.saver = self._fresh("saver", "session_saver")
            self.above.append(f"{self.saver} = {self.tf}.train.Saver()")
            if directory is None:
                start.append(initialize)
            else:
                place = self._place(directory)
                found = self._fresh("checkpoint", "latest_checkpoint")
                start += [
                    f"{found} = {self.tf}.train.latest_checkpoint({place})",
                    f"if {found}:",
                    f"{self._unit}{self.saver}.restore({self.sess}, {found})",
                    *self._recovered(place),
                    "else:",
                    f"{self._unit}{initialize}",
                ]
        if calls_of_names(self.module).keys() & {"local_variables_initializer"} or any(
            name.startswith("metrics.") for name in calls_of_names(self.module)
        ):
            start.append(f"{self.sess}.run({self.tf}.local_variables_initializer())")
        if any(calls_of_names(self.module).get(name) for name in (*PRODUCERS, *BATCHES)):
            start.append(f"{self.tf}.train.start_queue_runners(sess={self.sess})")
        if shows is not None:
            self.merged = self._fresh("summary_op", "merged_summaries")
            self.writer = self._fresh("summary_writer", "session_writer")
            place = self._place(shows.directory)
            self.above += [
                f"{self.merged} = {self.tf}.summary.merge_all()",
                f"{self.writer} = {self.tf}.summary.FileWriter({place})",
            ]
            self.next_summary = self._fresh("next_summary", "next_summary_step")
            begins.append(f"{self.next_summary} = 0")
        if saves is not None:
            self.saved = self._fresh("saved_step", "last_saved_step")
            self.path = self._path(saves.directory)
            begins.append(f"{self.saved} = {self.sess}.run({self.counter})")
            begins.append(self._save)
            if saves.when.seconds:
                self.saved_time = self._fresh("saved_time", "last_saved_time")
                self.imports.add("time")
                begins.append(f"{self.saved_time} = time.time()")
        stop = self.hooks.stop
        if stop is not None and stop.last is not None:
            self.last_step = self._short(stop.last, "last_step", self.above)
        elif stop is not None and stop.steps is not None:
            self.last_step = self._fresh("last_step", "session_last_step")
            code = self.source.code(stop.steps)
            begins.append(f"{self.last_step} = {self.sess}.run({self.counter}) + {code}")
        for hook in self.hooks.asked:
            if isinstance(hook, Own):
                self._begin(hook, begins)
        self.initial = [*start, *begins, *self.initial]
        if saves is not None:
            self.final = [
                f"if {self.sess}.run({self.counter}) != {self.saved}:",
                f"{self._unit}{self._save}",
                *self.final,
            ]

    def _recovered(self, place: str) -> list[str]:
        """The earlier checkpoints count among those that are kept."""
        if self.hooks.saves is None:
            return []
        state = self._fresh("checkpoints", "checkpoint_state")
        return [
            f"{self._unit}{state} = {self.tf}.train.get_checkpoint_state({place})",
            f"{self._unit}{self.saver}.recover_last_checkpoints("
            f"{state}.all_model_checkpoint_paths)",
        ]

    @property
    def _unit(self) -> str:
        return self.source.indent_unit

    @property
    def _save(self) -> str:
        return f"{self.saver}.save({self.sess}, {self.path}, global_step={self.counter})"

    def _short(self, node: ast.expr, name: str, lines: list[str]) -> str:
        """An expression that may be written several times, or a name that it gets."""
        if isinstance(node, (ast.Name, ast.Constant, ast.Attribute)):
            return self.source.code(node)
        found = self._fresh(name, f"session_{name}")
        lines.append(f"{found} = {self.source.code(node)}")
        return found

    def _place(self, node: ast.expr) -> str:
        """A folder that is given.

        Raises:
            Refused: it may be none.
        """
        if not self._is_given(node):
            text = "whether a monitored session saves anything cannot be determined"
            raise Refused(self.module, node, text, "give it the folder itself")
        code = self.source.code(node)
        known = self._places
        if code not in known:
            known[code] = self._short(node, "checkpoint_dir", self.above)
        return known[code]

    def _is_given(self, node: ast.expr | None) -> bool:
        """Whether an expression is a text that is not empty."""
        if isinstance(node, ast.Name):
            return self._is_given(self.names.only_value(node))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and bool(node.value)
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            return True
        if isinstance(node, ast.Call):
            made = self.names.qualname(node.func) or ""
            return made in ("os.path.join", "tempfile.mkdtemp", "posixpath.join")
        if isinstance(node, ast.Attribute):
            for call in self.names.calls:
                first = constant(call.args[0]) if call.args else None
                if not isinstance(first, str) or first.lstrip("-").replace("-", "_") != node.attr:
                    continue
                default = next((k.value for k in call.keywords if k.arg == "default"), None)
                required = any(
                    k.arg == "required" and constant(k.value) is True for k in call.keywords
                )
                parser = isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
                if default is None and not parser and len(call.args) > 1:
                    default = call.args[1]
                if required or self._is_given(default):
                    return True
        return False

    def _path(self, directory: ast.expr) -> str:
        place = self._place(directory)
        quote = self.source.quote
        if isinstance(directory, ast.Constant) and isinstance(directory.value, str):
            return f"{quote}{directory.value.rstrip('/')}/model.ckpt{quote}"
        self.imports.add("os")
        return f"os.path.join({place}, {quote}model.ckpt{quote})"

    def _counter(self) -> str:
        """The name of the global step where the session is made.

        Raises:
            Refused: there is none: TF1 refuses such hooks as well.
        """
        known = calls_of_names(self.module)
        unnamed: list[ast.Call] = []
        for call in (one for name in COUNTERS for one in known.get(name, ())):
            statement = self.names.statement(call)
            if isinstance(statement, ast.Assign) and statement.value is call:
                target = statement.targets[0]
                if len(statement.targets) == 1 and isinstance(target, ast.Name):
                    if self._is_seen(target):
                        return target.id
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                unnamed.append(call)
        for call in (one for name in ("Variable", "get_variable") for one in known.get(name, ())):
            statement = self.names.statement(call)
            named = [k.value for k in call.keywords if k.arg == "name"]
            named += call.args[:1] if name_of(self.module, call) == "get_variable" else []
            made = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if any(constant(one) == "global_step" for one in named):
                if isinstance(made, ast.Name) and self._is_seen(made):
                    return made.id
        own = [one for one in unnamed if self.names.scope_at(one) is self.scope]
        if len(own) == 1 and len(unnamed) == 1:
            name = self._fresh("global_step", "session_global_step")
            layout = Layout(self.source, self.names.statement(own[0]))
            if layout.owns_lines:
                line = f"{name} = {self.source.code(own[0])}"
                self.others += [
                    layout.insert_before([line]),
                    Edit(*self.source.span(own[0]), name),
                ]
                return name
        text = "hooks count by a global step that has no name where the session is made"
        raise Refused(self.module, self.call, text, "name it there: tf.train.get_global_step()")

    def _is_seen(self, name: ast.Name) -> bool:
        home = self.names.scope_of_name[name]
        only = len(home.bindings.get(name.id, ())) == 1
        return only and self.names.defining_scope(name.id, self.scope) is home

    # -- around the run ----------------------------------------------------------------

    def _around(self) -> list[Edit]:
        """The run with what hooks fetch, and what they do before and behind it."""
        statement, hooks = self.run_of_hooks, self.hooks
        assert statement is not None
        run = _Run(fetched=self._fetched(statement))
        saves, shows = hooks.saves, hooks.summarizes
        for hook in hooks.asked:
            if isinstance(hook, Own) and "before_run" in hook.methods:
                run.before.append(f"{self._object(hook)}.before_run()")
        step = run.fetched.get(self.counter, "") if self.counter else ""
        counts = saves is not None or hooks.stop is not None
        before = ""
        if shows is not None and not shows.when.seconds:
            before = self._fresh("step", "current_step", "session_step")
            run.before.append(f"{before} = {self.sess}.run({self.counter})")
        if counts and not step:
            step = before or self._fresh("step", "current_step", "session_step")
            run.fetched[self.counter] = step
            run.after.append(f"{step} = {self.sess}.run({self.counter})")
        later: list[str] = []
        for hook in hooks.asked:
            if isinstance(hook, Nan):
                self._nan(hook, run, later)
            elif isinstance(hook, Log):
                self._log(hook, run, later)
            else:
                values = [self._value(one, run) for one in hook.fetches]
                if "after_run" in hook.methods:
                    later.append(f"{self._object(hook)}.after_run({self._results(hook, values)})")
        if saves is not None:
            test = f"{step} >= {self.saved} + {saves.when.every}"
            more = [f"{self.saved} = {step}"]
            if saves.when.seconds:
                test = f"time.time() >= {self.saved_time} + {saves.when.every}"
                more.append(f"{self.saved_time} = time.time()")
            run.after += [f"if {test}:", *(f"{self._unit}{one}" for one in (self._save, *more))]
        run.after += later
        if hooks.stop is not None:
            test = f"{step} >= {self.last_step}"
            several = any(isinstance(one, Nan) and not one.fails for one in hooks.asked)
            stops = [f"if {test}:", f"{self._unit}{self.stopped} = True"]
            run.after += stops if several else [f"{self.stopped} = {test}"]
        return [self._written(statement, run, shows, before)]

    def _written(self, statement: ast.stmt, run: _Run, shows: Summarizes | None, step: str) -> Edit:
        layout = Layout(self.source, statement)
        indent = layout.indent
        lines = [f"{indent}{line}" for line in run.before]
        if shows is None:
            lines.append(indent + self._text(statement, run.added, indent))
        else:
            inner = indent + self._unit
            summary = self._fresh("summary", "merged_summary")
            count = f"{self.sess}.run({self.counter})"
            now = "time.time()" if shows.when.seconds else step
            self.imports |= {"time"} if shows.when.seconds else set()
            lines += [
                f"{indent}if {now} >= {self.next_summary}:",
                inner + self._text(statement, [*run.added, (self.merged, summary)], inner),
                f"{inner}{self.writer}.add_summary({summary}, {count})",
                f"{inner}{self.next_summary} = {now} + {shows.when.every}",
                f"{indent}else:",
                inner + self._text(statement, run.added, inner),
            ]
        lines += [f"{indent}{line}" for line in run.after]
        text = self.source.newline.join(lines)
        return Edit(layout.start, layout.end, text[len(indent) :])

    def _text(self, statement: ast.stmt, added: list[tuple[str, str]], indent: str) -> str:
        """The run, which fetches some more.

        Raises:
            Refused: what it fetches, or gives names to, is no list.
        """
        source, edits = self.source, []
        if added:
            fetches = self.watched.args[0] if self.watched.args else None
            if fetches is None or not isinstance(statement, (ast.Expr, ast.Assign)):
                raise Refused(self.module, self.watched, "what a run fetches")
            tensors = ", ".join(one for one, _ in added)
            values = ", ".join(one for _, one in added)
            whole = statement.value is self.watched
            if isinstance(fetches, (ast.List, ast.Tuple)) and fetches.elts:
                end = source.span(fetches.elts[-1])[1]
                edits.append(Edit(end, end, f", {tensors}"))
                many = len(fetches.elts)
            else:
                edits.append(Edit(*source.span(fetches), f"[{source.code(fetches)}, {tensors}]"))
                many = 0
            if isinstance(statement, ast.Expr):
                start = source.span(statement)[0]
                blanks = ", ".join("_" for _ in range(many or 1))
                edits.append(Edit(start, start, f"{blanks}, {values} = "))
            else:
                target = statement.targets[0]
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
                known = len(parts) == many if parts or many else True
                if len(statement.targets) != 1 or not whole or not known:
                    text = "what a run gives, and hooks fetch more of, is kept as a whole"
                    raise Refused(self.module, statement, text, "give each value a name")
                last = target.elts[-1] if isinstance(target, (ast.Tuple, ast.List)) else target
                end = source.span(last)[1]
                edits.append(Edit(end, end, f", {values}"))
            if not whole:
                text = "hooks watch a run within another expression"
                raise Refused(self.module, statement, text, "give what it fetches a name")
        return render(source, statement, edits, len(indent), indent)

    def _fetched(self, statement: ast.stmt) -> dict[str, str]:
        """The names of the values that the run gives already, by what it fetches."""
        found: dict[str, str] = {}
        fetches = self.watched.args[0] if self.watched.args else None
        if not isinstance(statement, ast.Assign) or statement.value is not self.watched:
            return found
        target = statement.targets[0]
        pairs = [(fetches, target)]
        if isinstance(fetches, (ast.List, ast.Tuple)) and isinstance(target, (ast.List, ast.Tuple)):
            pairs = list(zip(fetches.elts, target.elts))
        for fetch, name in pairs:
            if isinstance(fetch, ast.Name) and isinstance(name, ast.Name) and name.id != "_":
                found.setdefault(fetch.id, name.id)
        return found

    def _value(self, tensor: ast.expr, run: _Run) -> str:
        """The name of the value of a tensor that a hook fetches."""
        if isinstance(tensor, ast.Call):
            name = self.counter = self.counter or self._counter()
        else:
            assert isinstance(tensor, ast.Name)
            name = tensor.id
            if self.names.defining_scope(name, self.scope) is None:
                text = f"`{name}`, which a hook fetches, is not known where it is run"
                raise Refused(self.module, tensor, text)
        if name not in run.fetched:
            value = self._fresh(f"{name}_value", f"{name}_result", f"hook_{name}")
            run.fetched[name] = value
            run.added.append((name, value))
        return run.fetched[name]

    def _nan(self, hook: Nan, run: _Run, lines: list[str]) -> None:
        value = self._value(hook.tensor, run)
        numpy = next((n for n in ("np", "numpy") if self._is_numpy(n)), "")
        if not numpy:
            self.imports.add("math")
        quote = self.source.quote
        message = f"{quote}Model diverged with loss = NaN.{quote}"
        lines.append(f"if {numpy or 'math'}.isnan({value}):")
        if hook.fails:
            lines += [
                f"{self._unit}{self.tf}.logging.error({message})",
                f"{self._unit}raise RuntimeError({quote}NaN loss during training.{quote})",
            ]
        else:
            lines += [
                f"{self._unit}{self.tf}.logging.warning({message})",
                f"{self._unit}{self.stopped} = True",
            ]

    def _is_numpy(self, name: str) -> bool:
        bindings = self.names.module_scope.bindings.get(name, ())
        return any(one.qualname == "numpy" for one in bindings)

    def _log(self, hook: Log, run: _Run, lines: list[str]) -> None:
        values = [(tag, self._value(tensor, run)) for tag, tensor in hook.tensors]
        every = self.source.code(hook.every)
        quote = self.source.quote
        if hook.seconds:
            self.imports.add("time")
            count = self._fresh("next_log", "next_log_time")
            test, more = f"time.time() >= {count}", [f"{count} = time.time() + {every}"]
            behind: list[str] = []
        else:
            count = self._fresh("runs", "logged_runs", "session_runs")
            test, more, behind = f"{count} % {every} == 0", [], [f"{count} += 1"]
        self.initial.append(f"{count} = 0")
        tags = [str(constant(tag)).replace("%", "%%") for tag, _ in values]
        if any(quote in tag or "\\" in tag for tag in tags):
            raise Refused(self.module, hook.every, "the tags of what a hook logs")
        text = ", ".join(f"{tag} = %s" for tag in tags)
        shown = f"{quote}{text}{quote}, {', '.join(value for _, value in values)}"
        if hook.formatter is not None:
            pairs = ", ".join(f"{self.source.code(tag)}: {value}" for tag, value in values)
            shown = f"{self.source.code(hook.formatter)}({{{pairs}}})"
        lines += [f"if {test}:", f"{self._unit}{self.tf}.logging.info({shown})"]
        lines += [*(f"{self._unit}{one}" for one in more), *behind]

    # -- the author's own hooks -----------------------------------------------------------

    def _object(self, hook: Own) -> str:
        return self._objects[hook]

    def _begin(self, hook: Own, begins: list[str]) -> None:
        known = self._objects
        if isinstance(hook.made, ast.Name):
            known[hook] = hook.made.id
        else:
            known[hook] = self._fresh("hook", *(f"hook_{number}" for number in range(2, 9)))
            self.above.append(f"{known[hook]} = {self.source.code(hook.made)}")
        if "begin" in hook.methods:
            self.above.append(f"{known[hook]}.begin()")
        if "after_create_session" in hook.methods:
            begins.append(f"{known[hook]}.after_create_session()")
        if "end" in hook.methods:
            self.final.append(f"{known[hook]}.end()")
        self.others += own_class_edits(self.module, hook)

    def _results(self, hook: Own, values: list[str]) -> str:
        """What a hook's `after_run` is given of what it fetched, in its structure."""
        method = hook.methods["after_run"]
        if len(method.args.args) < 3 or hook.wanted is None:
            return ""
        if isinstance(hook.wanted, ast.Dict):
            keys = [self.source.code(key) for key in hook.wanted.keys if key is not None]
            return "{" + ", ".join(f"{k}: {v}" for k, v in zip(keys, values)) + "}"
        if isinstance(hook.wanted, (ast.List, ast.Tuple)):
            return f"[{', '.join(values)}]"
        return values[0]

    # -- its end ----------------------------------------------------------------------------

    def _caught(self) -> str:
        """The errors that end a monitored session quietly, if something may raise one."""
        found: list[str] = []
        known = calls_of_names(self.module)
        draws = bool(self.names.attributes.get("get_next"))
        queues = any(known.get(name) for name in (*PRODUCERS, *BATCHES))
        handled = [
            handler
            for part in walk(self.block)
            if isinstance(part, ast.Try)
            for handler in part.handlers
            if handler.type is not None and "OutOfRangeError" in self.source.code(handler.type)
        ]
        if (draws or queues) and not handled:
            found.append(f"{self.tf}.errors.OutOfRangeError")
        nexts = [
            part
            for part in walk(self.block)
            if isinstance(part, ast.Call) and self.names.qualname(part.func) == "builtins.next"
        ]
        if nexts:
            found.append("StopIteration")
        return f"({', '.join(found)})" if len(found) > 1 else "".join(found)
