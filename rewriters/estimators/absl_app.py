"""``tf.app``, ``tf.flags`` and ``tf.logging`` become absl's, and TF2's logger, in native programs.

## What it does
In a program that becomes native ``tf.app.run()`` becomes ``app.run(main)`` of absl,
``tf.app.flags`` and ``tf.flags`` become ``absl.flags``, and what ``tf.logging`` said goes to
``tf.get_logger()``. ``tf.test.mock`` becomes what it is on Python 3: ``unittest.mock``.

## Why
TF2 has none of these names outside of ``compat.v1``. TF1's flags and logger were absl's
already: absl-py comes with every TensorFlow.

## Safety
Exact: the same parser reads the command line, and the logger is the one that TF1 wrote to
(``tensorflow``). TF1 passed over flags that it did not know, absl ends the program: one that
reads its command line by itself as well (argparse, ``sys.argv``) gets a parser that does not.
absl's flags are parsed by ``app.run``, TF1's were where one was read first: a script that reads
one before, or has no ``tf.app.run``, parses them below the last ``DEFINE``, or where its main guard
begins. Where another module defines flags that is not imported above that, or they are read before,
the program stays as it is. Only programs that become native are touched; a bridge keeps the names
under ``compat.v1``.

## References
``absl.app``, ``absl.flags``, ``tf.get_logger``, ``unittest.mock``
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.api_version import root_of
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module, fact, fact_of_text
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.functions import LOGGING
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import SymbolRewriter
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU204",
    name="absl-app",
    summary="tf.app, tf.flags and tf.logging become absl's and TF2's logger",
)

_LEVELS = {"DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL"}
# What `tf.app.run` may be given, which absl's takes by the same names.
_MAIN_AND_ARGV = ([None, None], [None, "argv"], ["main", "argv"])
_FLAGS = ("app.flags", "flags")
_DEFINES = ("app.flags.DEFINE_", "flags.DEFINE_")

CASES = (
    Case(
        "a program started by tf.app.run",
        """\
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('steps', 10, 'how long to train')
FLAGS = flags.FLAGS


def input_fn():
    data = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(_):
    tf.logging.info('training')
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=FLAGS.steps)


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
""",
        """\
import numpy as np
from absl import app, flags
import tensorflow as tf

flags.DEFINE_integer('steps', 10, 'how long to train')
FLAGS = flags.FLAGS


def input_fn():
    data = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    loss = tf.keras.losses.MeanSquaredError()
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model


def main(_):
    tf.get_logger().info('training')
    estimator = model_fn()
    estimator.fit(input_fn(), steps_per_epoch=FLAGS.steps)


if __name__ == '__main__':
    tf.get_logger().setLevel('INFO')
    app.run(main)
""",
    ),
    Case(
        "a program with arguments of its own as well",
        """\
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--steps', type=int, default=10)


def input_fn():
    data = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(argv):
    args = parser.parse_args(argv[1:])
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=args.steps)


if __name__ == '__main__':
    tf.app.run(main)
""",
        """\
import argparse

import numpy as np
from absl import app, flags
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--steps', type=int, default=10)


def input_fn():
    data = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    loss = tf.keras.losses.MeanSquaredError()
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model


def main(argv):
    args = parser.parse_args(argv[1:])
    estimator = model_fn()
    estimator.fit(input_fn(), steps_per_epoch=args.steps, verbose=0)


if __name__ == '__main__':
    app.run(main, flags_parser=lambda argv: flags.FLAGS(argv, known_only=True))
""",
    ),
)
_MOCK = "tensorflow.test.mock"


def rewrite(module: Module, node: ast.AST, style: FileStyle) -> EditSet | None:
    """The change of one mention of these names; None if it is none.

    ``node`` is the longest chain of attributes (``tf.app.flags.DEFINE_string``), or an
    import statement.
    """
    if isinstance(node, ast.ImportFrom):
        return None
    if _is_alias(module, node):
        return EditSet()  # `FLAGS.steps`: the statement that made the alias is rewritten
    found = symbol(module.names.qualname(node))
    if found is None:
        return None
    name = found.name
    if name == "app.run":
        return _run(module, node)
    for prefix in _FLAGS:
        if name == prefix or name.startswith(prefix + "."):
            return _flags(module, node, name[len(prefix) :])
    if name.startswith("logging."):
        return _logging(module, node, name.partition(".")[2], style)
    if name == "test.mock" or name.startswith("test.mock."):
        return _mock(module, node, name)
    return None


def _mock(module: Module, node: ast.AST, name: str) -> EditSet | None:
    """``tf.test.mock.patch``, ``mock = tf.test.mock`` at the top, and what has that name."""
    names, imported = module.names, "from unittest import mock"
    bound = names.module_scope.bindings.get("mock", [])
    value = bound[0].value if len(bound) == 1 else None
    if value is not None and names.qualname(value) == names.qualname(node) == _MOCK:
        statement = names.statement(value)
        layout = Layout(module.source, statement)
        alone = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if statement not in module.tree.body or not alone or not layout.owns_lines:
            return None
        if value is node:
            return _changed(module, layout.replace([]), needs=[imported])
        if isinstance(node, ast.Name):
            return EditSet()  # the name has its new meaning
    root = root_of(node)
    if isinstance(root, ast.Name) and root.id == "mock" and value is not None:
        return EditSet() if names.qualname(value) == _MOCK else None
    if _taken(module, node, "mock"):
        return None
    start, end = module.source.span(node)
    text = name.removeprefix("test.")
    return _changed(module, Edit(start, end, text), needs=[imported])


def _changed(module: Module, *edits: Edit, needs: Iterable[str] = ()) -> EditSet:
    found = EditSet()
    found.edit(module, *edits)
    found.needs(module, *needs)
    return found


def _is_alias(module: Module, node: ast.AST) -> bool:
    """Whether a name stands for flags by an assignment that is rewritten itself."""
    while isinstance(node, ast.Attribute):
        node = node.value
    found = symbol(module.names.qualname(node))
    return (
        isinstance(node, ast.Name)
        and found is not None
        and found.name.startswith(_FLAGS)
        and all(binding.kind == "assign" for binding in module.names.bindings_of(node))
        and _parsed(module)
    )


def _run(module: Module, node: ast.AST) -> EditSet | None:
    call = module.names.parents[node]
    if not isinstance(call, ast.Call) or call.func is not node or _taken(module, node, "app"):
        return None
    source = module.source
    start, end = source.span(call)
    given = [*call.args, *(k.value for k in call.keywords)]
    names = [None] * len(call.args) + [keyword.arg for keyword in call.keywords]
    if len(given) == 1 and names[0] not in (None, "main"):
        return None
    if len(given) > 2 or (len(given) == 2 and names not in _MAIN_AND_ARGV) or _unpacks(given):
        return None
    imports, tolerant = ["from absl import app"], ""
    if _reads_arguments(module):
        if _taken(module, node, "flags"):
            return None
        tolerant = ", flags_parser=lambda argv: flags.FLAGS(argv, known_only=True)"
        imports.append("from absl import flags")
    if not given or (len(given) == 1 and is_none(given[0])):
        if "main" not in module.names.module_scope.bindings:
            return None
        return _changed(module, Edit(start, end, f"app.run(main{tolerant})"), needs=imports)
    first, last = source.span(node)
    edits = [Edit(first, last, "app.run")]
    if names[0] == "main":
        value, _ = source.span(call.keywords[0].value)
        edits.append(Edit(source.span(call.keywords[0])[0], value, ""))
    if tolerant:
        behind = source.span(given[-1])[1]
        edits.append(Edit(behind, behind, tolerant))
    return _changed(module, *edits, needs=imports)


def _unpacks(given: list[ast.expr]) -> bool:
    return any(isinstance(one, ast.Starred) for one in given)


def _reads_arguments(module: Module) -> bool:
    """Whether a program reads its command line otherwise than by flags."""
    for one in (module, *_others(module)):
        for statement in one.names.imports:
            if any(alias.name.partition(".")[0] == "argparse" for alias in statement.names):
                return True
            if isinstance(statement, ast.ImportFrom) and statement.module == "argparse":
                return True
        for node in one.names.attributes.get("argv", ()):
            if one.names.qualname(node) == "sys.argv":
                return True
    return False


def _flags(module: Module, node: ast.AST, rest: str) -> EditSet | None:
    names, source = module.names, module.source
    if not _parsed(module):
        return None
    statement = names.statement(node)
    if not rest and isinstance(statement, ast.Assign) and statement.value is node:
        target = statement.targets[0]
        at_top = isinstance(names.parents[statement], ast.Module)
        if isinstance(target, ast.Name) and at_top and len(statement.targets) == 1:
            alias = "" if target.id == "flags" else f" as {target.id}"
            gone = Layout(source, statement).replace([])
            found = _changed(module, gone, needs=[f"from absl import flags{alias}"])
            last = _last_definition(module)
            if last is not None and _name_of_flags(last) == target.id:
                found.merge(_parses(module, last, target.id))
            return found
        return None
    if _taken(module, node, "flags"):
        return None
    start, end = source.span(node)
    found = _changed(module, Edit(start, end, f"flags{rest}"), needs=["from absl import flags"])
    if statement is _last_definition(module):
        found.merge(_parses(module, statement, "flags"))
    return found


def _parses(module: Module, last: ast.stmt, flags: str) -> EditSet:
    """The command line is parsed below the last definition of a flag.

    Or where the script begins, if nothing outside of its functions reads flags before.
    """
    lines = [f"{flags}.FLAGS(sys.argv)"]
    guard = next((one for one in module.tree.body if is_main_guard(one)), None)
    if isinstance(guard, ast.If) and not _early(module):
        return _changed(
            module, Layout(module.source, guard.body[0]).insert_before(lines), needs=["sys"]
        )
    line = Layout(module.source, last).insert_after(lines)
    return _changed(module, line, needs=["sys"])


def _parsed(module: Module) -> bool:
    """Whether the command line is parsed before a flag is read.

    TF1's flags parsed it themselves when one was read, absl's raise an error then.
    """
    return (_is_started(module) and not _early(module)) or _last_definition(module) is not None


def _is_started(module: Module) -> bool:
    """Whether app.run parses the flags: the module's own, or that of all programs that have it."""
    above = [module]
    for one in above:  # grows as it is walked
        above += [importer for importer in one.importers if importer not in above]
    programs = [one for one in above if not one.importers]
    return _runs(module) or (bool(programs) and all(map(_runs, programs)))


@fact_of_text
def _runs(module: Module) -> bool:
    """Whether a module says `tf.app.run()`."""
    found = (symbol(module.names.qualname(call.func)) for call in module.names.calls)
    return any(one is not None and one.name == "app.run" for one in found)


def _early(module: Module) -> list[ast.Name]:
    """Where the module itself reads flags, outside of its functions."""
    names = module.names
    return [
        mention
        for mention in names.by_id.get("FLAGS", ())
        if isinstance(names.parents.get(mention), ast.Attribute)
        and names.scope_at(mention).is_module
    ]


@fact
def _last_definition(module: Module) -> ast.stmt | None:
    """The last statement that defines a flag, where the script has to parse them by itself.

    All of the program's flags are defined at its top, before one is read. None elsewhere.
    """
    if _is_started(module) and not _early(module):
        return None
    names, top = module.names, module.tree.body
    defined = [
        names.statement(call)
        for call in names.calls
        if (known := symbol(names.qualname(call.func))) is not None
        and known.name.startswith(_DEFINES)
    ]
    if not defined or any(one not in top for one in defined):
        return None
    if any(not _defines_when_imported(one) for one in _others(module)):
        return None
    last = max(defined, key=lambda one: one.lineno)
    if any(use.symbol.name.startswith(_FLAGS) for one in _others(module) for use in one.uses):
        if any(one not in top or one.lineno > last.lineno for one in names.imports):
            return None
    early = _early(module)
    runs = any(name_of(module, c).endswith("Session") for c in names.calls if _is_at_top(module, c))
    guard = next((one for one in top if is_main_guard(one)), None)
    if isinstance(guard, ast.If) and not early:
        first = Layout(module.source, guard.body[0])
        return defined[-1] if first.owns_start and guard.lineno > defined[-1].lineno else None
    if not runs and not early:
        return None  # one that is imported
    above = top[: top.index(last)]
    called = (n.func for one in above for n in ast.walk(one) if isinstance(n, ast.Call))
    if any(isinstance(f, ast.Name) and _may_read(module, f) for f in called) or any(
        mention.lineno < last.lineno for mention in early
    ):
        return None
    return last if Layout(module.source, last).owns_lines else None


def _may_read(module: Module, function: ast.Name) -> bool:
    """Whether what is called may read flags: it is of the run, and no other package's."""
    bound = module.names.module_scope.bindings.get(function.id, [])
    ours = {part for one in _others(module) for part in one.name.split(".")}
    return any(
        one.kind != "import" or not one.qualname or not ours.isdisjoint(one.qualname.split("."))
        for one in bound
    )


@fact_of_text
def _defines_when_imported(module: Module) -> bool:
    """Whether all flags that a module defines are known once it is imported, and none is read."""
    names = module.names
    return not _early(module) and all(
        names.statement(call) in module.tree.body
        for call in names.calls
        if (known := symbol(names.qualname(call.func))) is not None
        and known.name.startswith(_DEFINES)
    )


def _is_at_top(module: Module, node: ast.AST) -> bool:
    return module.names.scope_at(node).is_module


def _name_of_flags(definition: ast.stmt) -> str:
    """`flags`, of a statement `flags.DEFINE_string(...)`."""
    call = definition.value if isinstance(definition, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return ast.unparse(func.value) if isinstance(func, ast.Attribute) else ""


def _others(module: Module) -> list[Module]:
    """The modules that one imports, and those that these import."""
    found = [*module.imported]
    for one in found:  # grows as it is walked
        found += [other for other in one.imported if other not in found]
    return [one for one in found if one is not module]


def _taken(module: Module, node: ast.AST, name: str) -> bool:
    """Whether a name means something else where absl's module would be known by it."""
    names = module.names
    home = names.defining_scope(name, names.scope_at(node))
    if home is None:
        return False
    wanted = "app.flags", "flags", "app"
    for binding in home.bindings[name]:
        found = symbol(names.qualname(binding.value)) if binding.value is not None else None
        if found is not None and found.name in wanted:
            continue
        if (binding.qualname or "").startswith(("absl.", "unittest.mock")):
            continue
        return True
    return False


def _logging(module: Module, node: ast.AST, name: str, style: FileStyle) -> EditSet | None:
    source = module.source
    call = module.names.parents[node]
    if not isinstance(call, ast.Call) or call.func is not node:
        if name in _LEVELS:  # inside of set_verbosity, which is rewritten whole
            outer = module.names.parents[node]
            if isinstance(outer, ast.Call):
                found = symbol(module.names.qualname(outer.func))
                if found is not None and found.name == "logging.set_verbosity":
                    return EditSet()
        return _levels(module, node) if name == "__dict__" else None
    start, end = source.span(node)
    if name in LOGGING:
        text = f"{style.tensorflow}.get_logger().{LOGGING[name]}"
        return _changed(module, Edit(start, end, text))
    if name == "set_verbosity" and len(call.args) == 1 and not call.keywords:
        level = symbol(module.names.qualname(call.args[0]))
        if level is not None and level.name.rpartition(".")[2] in _LEVELS:
            short = level.name.rpartition(".")[2].replace("WARN", "WARNING")
            short = "WARNING" if short.startswith("WARNING") else short
            text = f"{style.tensorflow}.get_logger().setLevel({style.string(short)})"
            first, last = source.span(call)
            return _changed(module, Edit(first, last, text))
        return _changed(module, Edit(start, end, f"{style.tensorflow}.get_logger().setLevel"))
    return None


def _levels(module: Module, node: ast.AST) -> EditSet | None:
    """`tf.logging.__dict__[args.verbosity] / 10`: Python's levels have the same numbers."""
    names = module.names
    taken = names.parents[node]
    reads = isinstance(taken, ast.Subscript) and isinstance(taken.ctx, ast.Load)
    bound = names.module_scope.bindings.get("logging", ())
    home = names.defining_scope("logging", names.scope_at(node))
    if not reads or not isinstance(names.parents[taken], ast.BinOp):
        return None
    if (home is not None and not home.is_module) or any(b.qualname != "logging" for b in bound):
        return None
    edit = Edit(*module.source.span(node), "logging.__dict__")
    return _changed(module, edit, needs=["logging"])


REWRITER = SymbolRewriter(RULE, CASES, rewrite)
