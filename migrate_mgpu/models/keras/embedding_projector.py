"""Sessions beside an Estimator that read a batch, or save an embedding for TensorBoard.

TensorBoard's projector is told of a variable and its checkpoint, as TF1's guide has it:

    writer = tf.summary.FileWriter(folder)
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = points.name
    projector.visualize_embeddings(writer, config)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(points.initializer)
        saver.save(sess, path)

In TF2 the package takes the folder itself, a `tf.train.Checkpoint` holds the variable, and the
name of the tensor is that in such a checkpoint. A session that fetches a batch of a dataset once is
what its iterator gives, and one that shows what TensorFlow computes of arrays is no session. What
is not exactly this stays.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.idioms import is_showing
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.core.findings import EVALUATION
from migrate_mgpu.core.records import record
from migrate_mgpu.models.keras.inputs.fetched_batches import (
    is_of_another,
    plain_session,
    without_header,
)
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_PLUGIN = "contrib.tensorboard.plugins.projector"
_KEY = "/.ATTRIBUTES/VARIABLE_VALUE"
_SAVED = (
    "the embedding stands in a checkpoint of TF2's, with a number behind its name; TensorBoard "
    "finds it as before"
)
_PACKAGE = "it needs the package tensorboard, which TensorFlow 2.20 and later do not bring along"


def beside_estimators(module: Module, style: FileStyle) -> EditSet:
    """The edits for all such statements of a module whose Estimators become Keras models."""
    found = EditSet()
    if module.writable:
        for node in module.names.attributes.get("visualize_embeddings", ()):
            _Projection(module, style, found).write(node)
        for statement in walk(module.tree):
            if isinstance(statement, ast.With) and statement not in found.gone:
                _read_batch(module, statement, style, found)
                if statement not in found.gone:
                    _show_values(module, statement, found)
    return found


@record(frozen=True)
class _Made:
    """`name = call(...)`"""

    statement: ast.Assign
    name: ast.Name
    call: ast.Call


class _Projection:
    """One embedding, with all that saves it."""

    def __init__(self, module: Module, style: FileStyle, found: EditSet) -> None:
        self.module, self.names = module, module.names
        self.style, self.found = style, found

    def write(self, node: ast.expr) -> None:
        """Adds the edits; none where any of it is another."""
        call = self.names.parents[node]
        if tensorflow_name(self.module, node) != f"{_PLUGIN}.visualize_embeddings":
            return
        if not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
            return
        writer = self._made(call.args[0], "summary.FileWriter", 1)
        config = self._made(call.args[1], f"{_PLUGIN}.ProjectorConfig", 0)
        imported = self._imported()
        if writer is None or config is None or imported is None:
            return
        folder = writer.call.args[0]
        if not self._is_settled(folder) or self._mentions(writer.name) != 2:
            return
        tensor = self._tensor(config.name.id)
        variable = self._made(tensor[1], "Variable") if tensor is not None else None
        saved = self._saved(variable) if variable is not None else None
        if tensor is None or variable is None or saved is None:
            return
        saver, session, path = saved
        source, tf, name = self.module.source, self.style.tensorflow, variable.name.id
        quote = source.quote
        edits: dict[ast.stmt, str] = {
            writer.statement: f"{tf}.io.gfile.makedirs({source.code(folder)})",
            tensor[0]: f"{source.code(tensor[0].targets[0])} = {quote}{name}{_KEY}{quote}",
            saver.statement: f"{saver.name.id} = {tf}.train.Checkpoint({name}={name})",
            session: f"{saver.name.id}.save({source.code(path)})",
        }
        alias = imported.names[0]
        named = f" as {alias.asname}" if alias.asname else ""
        edits[imported] = f"from tensorboard.plugins import projector{named}"
        layouts = {one: Layout(source, one) for one in edits}
        if not all(layout.owns_lines for layout in layouts.values()):
            return
        found, module = self.found, self.module
        for statement, line in edits.items():
            found.edit(module, layouts[statement].replace([line]))
        found.edit(module, Edit(*source.span(call.args[0]), source.code(folder)))
        found.gone |= {*edits, node, config.call.func}
        found.note(module, session, _SAVED, EVALUATION)
        found.note(module, imported, _PACKAGE)

    def _made(self, node: ast.expr, called: str, arguments: int | None = None) -> _Made | None:
        """The one assignment of a call that gives a variable its value at a mention."""
        home = None
        if isinstance(node, ast.Name):
            home = self.names.defining_scope(node.id, self.names.scope_of_name[node])
        if home is None or not isinstance(node, ast.Name):
            return None
        bindings = reaching(self.names, node, home)
        call = bindings[0].value if len(bindings) == 1 else None
        if not isinstance(call, ast.Call) or tensorflow_name(self.module, call.func) != called:
            return None
        if arguments is not None and (len(call.args) != arguments or call.keywords):
            return None
        statement = self.names.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            return None
        target = statement.targets[0]
        single = len(statement.targets) == 1 and isinstance(target, ast.Name)
        return _Made(statement, target, call) if single and isinstance(target, ast.Name) else None

    def _mentions(self, node: ast.expr) -> int:
        assert isinstance(node, ast.Name)
        home = self.names.defining_scope(node.id, self.names.scope_of_name[node])
        return len(self.names.mentions(node.id, home)) if home is not None else 0

    def _is_settled(self, node: ast.expr) -> bool:
        """Whether an expression has the same value wherever the program asks for it."""
        if isinstance(node, ast.Name):
            return self.names.only_binding(node) is not None
        return isinstance(node, ast.Constant)

    def _imported(self) -> ast.ImportFrom | None:
        for statement in self.module.tree.body:
            if isinstance(statement, ast.ImportFrom) and len(statement.names) == 1:
                named = f"{self.names.absolute(statement)}.{statement.names[0].name}"
                if named == f"tensorflow.{_PLUGIN}":
                    return statement
        return None

    def _tensor(self, config: str) -> tuple[ast.Assign, ast.expr] | None:
        """`embedding.tensor_name = points.name`, of the one embedding that a config has."""
        added = list(self.names.attributes.get("embeddings", ()))
        named = [
            (statement, statement.value)
            for one in self.names.attributes.get("tensor_name", ())
            if isinstance(statement := self.names.parents[one], ast.Assign)
            and statement.targets == [one]
        ]
        if len(added) != 1 or len(named) != 1 or getattr(added[0].value, "id", "") != config:
            return None
        statement, value = named[0]
        plain = isinstance(value, ast.Attribute) and value.attr == "name"
        return (statement, value.value) if plain and isinstance(value, ast.Attribute) else None

    def _saved(self, variable: _Made) -> tuple[_Made, ast.With, ast.expr] | None:
        """What saves a variable: the saver, the session's block, and the path."""
        calls = self.names.calls
        savers = [one for one in calls if self._is(one, "train.Saver")]
        every = [one for one in calls if self._is(one, "Variable", "get_variable")]
        if len(savers) != 1 or every != [variable.call]:
            return None  # it saves all that the graph has
        named = next(
            (
                one
                for attribute in self.names.attributes.get("save", ())
                if isinstance(one := attribute.value, ast.Name)
                and self._made(one, "train.Saver", 0) is not None
            ),
            None,
        )
        saver = self._made(named, "train.Saver", 0) if named is not None else None
        if named is None or saver is None or self._mentions(named) != 2:
            return None
        block = self.names.parents[self.names.statement(named)]
        session = _session(self.module, block) if isinstance(block, ast.With) else None
        if session is None or not isinstance(block, ast.With) or len(block.body) != 2:
            return None
        first, last = (one.value if isinstance(one, ast.Expr) else None for one in block.body)
        if first is None or not isinstance(last, ast.Call) or last.keywords:
            return None
        code, tf = self.module.source.code, self.style.tensorflow
        begun = {
            f"{session}.run({variable.name.id}.initializer)",
            f"{session}.run({tf}.global_variables_initializer())",
        }
        if code(first) not in begun or code(last.func) != f"{named.id}.save":
            return None
        if len(last.args) != 2 or code(last.args[0]) != session:
            return None
        return saver, block, last.args[1]

    def _is(self, call: ast.Call, *names: str) -> bool:
        return tensorflow_name(self.module, call.func) in names


def _session(module: Module, block: ast.With) -> str | None:
    """What `with tf.Session() as sess:` calls its session."""
    item = block.items[0]
    call, name = item.context_expr, item.optional_vars
    if len(block.items) != 1 or not isinstance(call, ast.Call) or not isinstance(name, ast.Name):
        return None
    plain = tensorflow_name(module, call.func) == "Session" and not call.args
    return name.id if plain and not call.keywords else None


def _read_batch(module: Module, block: ast.With, style: FileStyle, found: EditSet) -> None:
    """`labels = sess.run(batch)` of a dataset's iterator becomes what that gives."""
    names, source, session = module.names, module.source, _session(module, block)
    layout = Layout(source, block)
    if session is None or not layout.owns_lines or len(block.body) < 2:
        return
    *before, last = block.body
    drawn, run = before[-1], last.value if isinstance(last, ast.Assign) else None
    if not isinstance(run, ast.Call) or len(run.args) != 1 or run.keywords:
        return
    asked = run.args[0]
    if source.code(run.func) != f"{session}.run" or not isinstance(asked, ast.Name):
        return
    iterator = _next_of(names.assigned(asked))
    if iterator is None or names.statement(iterator) is not drawn:
        return
    target = drawn.targets[0] if isinstance(drawn, ast.Assign) else None
    home = names.defining_scope(asked.id, names.scope_of_name[asked])
    if not isinstance(target, ast.Name) or home is None:
        return
    if len(names.mentions(asked.id, home)) != 2 or any(
        isinstance(one, (ast.For, ast.While)) for one in names.ancestors(block)
    ):
        return
    inside = [part for one in before[:-1] for part in walk(one)]
    if not all(isinstance(one, ast.Assign) for one in before[:-1]):
        return
    if any(isinstance(part, ast.Name) and part.id == session for part in inside):
        return
    if any(use.node in inside for use in module.uses if use.status == "gone"):
        return
    lines = Block(source, layout.indent)
    for statement in before[:-1]:
        lines.statement(statement, ())
    lines.comments(drawn)
    lines.statement(
        last, [Edit(*source.span(run), f"next({source.code(iterator)}.as_numpy_iterator())")]
    )
    start, end = layout.line_start, layout.next_line
    found.edit(module, Edit(start, end, lines.text()))
    found.gone.add(block)


def _show_values(module: Module, block: ast.With, found: EditSet) -> None:
    """`print(tf.gather(rows, [1]).eval())` needs no session; ``rows`` is an array of NumPy's."""
    names, session = module.names, plain_session(module, block)
    if session is None or not Layout(module.source, block).owns_lines:
        return
    home = names.scope_of_name[session]
    for mention in names.mentions(session.id, home):
        if isinstance(mention.ctx, ast.Load) and not is_of_another(module, mention, block):
            return
    edits: list[Edit] = []
    for statement in block.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not is_showing(module, call):
            return
        evaluated = [part for part in walk(statement) if _is_evaluated(module, part)]
        if not evaluated or statement.lineno != statement.end_lineno:
            return
        for part in evaluated:
            assert isinstance(part, ast.Call)
            end = module.source.span(part.func)[1]
            edits.append(Edit(end - len("eval"), end, "numpy"))
        inside = {one for part in evaluated for one in walk(part)}
        if any(use.node in walk(statement) and use.node not in inside for use in module.uses):
            return
    if any(tensorflow_name(module, one.func).endswith("ConfigProto") for one in names.calls):
        return  # which has to come before anything is computed
    found.edit(module, *edits, *without_header(module, block))
    found.gone.add(block.items[0].context_expr)


def _is_evaluated(module: Module, node: ast.AST) -> bool:
    """`tf.f(...).eval()`, where `f` only computes, of constants and of NumPy's arrays."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "eval":
        return False
    made = node.func.value
    if not isinstance(made, ast.Call) or tensorflow_name(module, made.func) not in COMPUTES - DRAWS:
        return False
    return all(
        _is_array(module, one) for one in (*made.args, *(given.value for given in made.keywords))
    )


def _is_array(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        value = module.names.only_value(node)
        made = value.func if isinstance(value, ast.Call) else None
        return made is not None and (module.names.qualname(made) or "").startswith("numpy.")
    return all(isinstance(part, _LITERAL) for part in walk(node))


_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)


def _next_of(node: ast.AST | None) -> ast.expr | None:
    """The dataset in `dataset.make_one_shot_iterator().get_next()`."""
    for method in ("get_next", "make_one_shot_iterator"):
        if not isinstance(node, ast.Call) or node.args or node.keywords:
            return None
        if not isinstance(node.func, ast.Attribute) or node.func.attr != method:
            return None
        node = node.func.value
    return node if isinstance(node, ast.Name) else None
