"""A program of an early TensorFlow gets the names that 1.15 has.

## What it does
In the files of a program that is migrated, names that TensorFlow renamed before 1.15 are written as
1.15 has them. Most are from before 1.0: `tf.mul`, `tf.pack`, `tf.select`, `tf.batch_matmul`,
`tf.scalar_summary`, `tf.train.SummaryWriter`, `tf.nn.rnn` and others;
`tf.contrib.linalg.LinearOperatorTriL` is from before 1.4,
`tf.contrib.data.Dataset` and what `tensorflow.contrib.keras.python` has from before 1.5,
`tf.contrib.estimator.stop_if_no_decrease_hook` and its kin from before 1.14. Calls whose arguments
have another order since 1.0 get keywords: `tf.concat(1, values)`, `tf.split(1, 4, x)`, and losses
of logits and labels.
`FLAGS._parse_flags()`, from before 1.5, becomes `FLAGS(sys.argv, known_only=True)`, which passes
over what it does not know as well. A flag that absl has too, which TensorFlow imports since 1.14
(`log_dir`, say), gets `allow_override=True`.
Everything else is done with the program that this makes.

## Why
Such a program runs neither on TF2 nor on 1.15.

## Safety
What a migrated program equals is *the program with the later names*: TF 1.15 does not run the
original. That those two are the same is what TensorFlow's upgrade script to 1.0 and its sources
say; the names are in `migrate_mgpu/data/earlier_names.json`. Where `tf.concat(a, b)`, `tf.split(a,
b, c)` do not show their order, it is that of the others in the file, and in a file with names from
before 1.0 the old one. A call with arguments that 1.0 does not have stays, and so does its program;
so do Datasets of `tf.contrib.data` where a `map` has its old arguments (`num_threads`), or where
they have a method that those of `tf.data` have not (`rejection_resample`). `group_by_window` and
its like are given to `apply`. `--ignore MGPU213` leaves
all of these programs as they are.

## References
[TensorFlow's upgrade script to 1.0](https://github.com/tensorflow/tensorflow/blob/r1.13/tensorflow/tools/compatibility/tf_upgrade.py)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.flags import defined_flags, is_absls_own, is_flag
from migrate_mgpu.analysis.import_edits import with_imports
from migrate_mgpu.analysis.module import Module, Use, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.analysis.symbols import EarlierCall, earlier
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.program_rewriter import EarlierRewriter, Renamed
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit

RULE = Rule(
    code="MGPU213",
    name="earlier-names",
    summary="names of an early TensorFlow are those that 1.15 has",
)

CASES = (
    Case(
        "names and orders",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
left, right = tf.split(1, 2, x)
total = tf.mul(tf.concat(1, [left, right]), tf.neg(x))
with tf.Session() as sess:
    print(sess.run(tf.pack([total, tf.sub(x, total)]), {x: [[1, 2, 3, 4]]}), tf.app.flags)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 4])
left, right = tf.split(axis=1, num_or_size_splits=2, value=x)
total = tf.multiply(tf.concat(axis=1, values=[left, right]), tf.negative(x))
with tf.Session() as sess:
    print(sess.run(tf.stack([total, tf.subtract(x, total)]), {x: [[1, 2, 3, 4]]}), tf.app.flags)
""",
    ),
    Case(
        "summaries, and a loss by position",
        """\
import tensorflow as tf

logits = tf.placeholder(tf.float32, [None, 3])
labels = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits, labels))
tf.scalar_summary("loss", loss)
merged = tf.merge_all_summaries()
with tf.Session() as sess:
    writer = tf.train.SummaryWriter("logs", sess.graph)
    print(sess.graph, merged)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

logits = tf.placeholder(tf.float32, [None, 3])
labels = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=labels))
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
with tf.Session() as sess:
    writer = tf.summary.FileWriter("logs", sess.graph)
    print(sess.graph, merged)
""",
    ),
    Case(
        "an operation's name, which 1.0's summaries do not have beside their tag",
        """\
import tensorflow as tf

tf.scalar_summary("loss", tf.constant(1.0), name="op")
with tf.Session() as sess:
    print(sess.graph)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.summary.scalar("loss", tf.constant(1.0))
with tf.Session() as sess:
    print(sess.graph)
""",
    ),
    Case(
        "an argument that 1.0 does not have",
        """\
import tensorflow as tf

tf.scalar_summary(["first", "second"], tf.constant([1.0, 2.0]))
with tf.Session() as sess:
    print(sess.graph)
""",
        refused="`tensorflow.scalar_summary` does not exist in TF2",
    ),
    Case(
        "a Dataset, imported",
        """\
import tensorflow as tf
from tensorflow.contrib.data import Dataset

data = Dataset.range(9).map(lambda x: x + 1, num_parallel_calls=2).batch(3)
with tf.Session() as sess:
    print(sess.run(data.make_one_shot_iterator().get_next()))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tensorflow.compat.v1.data import Dataset

data = Dataset.range(9).map(lambda x: x + 1, num_parallel_calls=2).batch(3)
with tf.Session() as sess:
    print(sess.run(data.make_one_shot_iterator().get_next()))
""",
    ),
    Case(
        "a Dataset's method that `tf.data` has not",
        """\
import tensorflow as tf

data = tf.contrib.data.Dataset.from_sparse_tensor_slices(None)
with tf.Session() as sess:
    print(sess.run(data.make_one_shot_iterator().get_next()))
""",
        refused="`tensorflow.contrib.data.Dataset.from_sparse_tensor_slices` does not exist in TF2",
    ),
    Case(
        "a Dataset's method that is a function since 1.4",
        """\
import tensorflow as tf

data = tf.contrib.data.Dataset.range(9).group_by_window(
    key_func=lambda x: x % 2, reduce_func=lambda key, part: part.batch(2), window_size=2)
with tf.Session() as sess:
    print(sess.run(data.make_one_shot_iterator().get_next()))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

data = tf.data.Dataset.range(9).apply(tf.data.experimental.group_by_window(
    key_func=lambda x: x % 2, reduce_func=lambda key, part: part.batch(2), window_size=2))
with tf.Session() as sess:
    print(sess.run(data.make_one_shot_iterator().get_next()))
""",
    ),
    Case(
        "a Dataset's method with its old arguments",
        """\
import tensorflow as tf

data = tf.contrib.data.Dataset.range(9).map(lambda x: x + 1, num_threads=2)
with tf.Session() as sess:
    print(sess.run(data.make_one_shot_iterator().get_next()))
""",
        refused="`tensorflow.contrib.data.Dataset.range` does not exist in TF2",
    ),
    Case(
        "flags of before 1.5",
        """\
import os
import tensorflow as tf

tf.flags.DEFINE_string("log_dir", "logs", "where the summaries go")
tf.flags.DEFINE_integer("steps", 3, "how long to train")
FLAGS = tf.flags.FLAGS
FLAGS._parse_flags()
for name, value in sorted(FLAGS.__flags.items()):
    print(name, value)
with tf.Session() as sess:
    print(sess.run(tf.constant(FLAGS.steps)), os.path.join(FLAGS.log_dir, "train"))
""",
        """\
import os
import sys
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.flags.DEFINE_string("log_dir", "logs", "where the summaries go", allow_override=True)
tf.flags.DEFINE_integer("steps", 3, "how long to train")
FLAGS = tf.flags.FLAGS
FLAGS(sys.argv, known_only=True)
for name, value in sorted(FLAGS.flag_values_dict().items()):
    print(name, value)
with tf.Session() as sess:
    print(sess.run(tf.constant(FLAGS.steps)), os.path.join(FLAGS.log_dir, "train"))
""",
    ),
)


# Methods that a Dataset of `tf.contrib.data` has, and one of 1.15's `tf.data` has not.
_OLD_METHODS = {"from_sparse_tensor_slices", "read_batch_features", "rejection_resample"}
# Those that are functions since 1.4, which `apply` is given.
_APPLIED = {"dense_to_sparse_batch", "group_by_window", "ignore_errors"}
# What a name that is gone raises, and a call whose arguments have another order.
_STOPS = ("exit", "print_exc", "set_trace")  # what ends or halts a program, and tells why
_CATCH = {"AttributeError", "TypeError", "ValueError", "Exception", "BaseException"}


def rename(module: Module) -> Renamed:
    """A module's early names, as 1.15 has them; one that cannot be written stays."""
    found = Renamed()
    unclear: list[tuple[Use, ast.Call, EarlierCall]] = []
    orders: set[bool] = set()  # of the calls whose order is seen, whether it is the old one
    table = earlier()
    imported = {
        name
        for statement in module.tensorflow_imports
        for name in _merge_import(found, module, statement)
    }
    for use in module.uses:
        if _root(use.node) in imported:
            continue
        if use.symbol.flavour != "plain" or (use.guarded and not use.lazy):
            continue
        if _is_caught(module, use):
            continue  # TF 1.15 runs what its author wrote for that
        name = use.symbol.name
        if name in table.order:
            for call in _called(module, use):
                old = _is_old(name, call, table.order[name])
                if old is None:
                    unclear.append((use, call, table.order[name]))
                    continue
                if "cross_entropy" not in name:
                    orders.add(old)
                if old:
                    _merge(found, use, _in_order(module, call, table.order[name]))
        elif use.status == "gone" and not _is_old_pipeline(module, name):
            _merge(found, use, _renamed(module, use))
    _apply(found, module)
    # Names of contrib went after 1.0: they do not show the order of before.
    if any(not name.startswith("tf.contrib.") for name in found.names) and False not in orders:
        for use, call, row in unclear:
            _merge(found, use, _in_order(module, call, row))
    _flags(found, module)
    return found


def _apply(found: Renamed, module: Module) -> None:
    """`data.ignore_errors()` as `data.apply(tf.contrib.data.ignore_errors())`, since 1.4."""
    if not any(name.startswith("tf.contrib.data.") for name in found.names):
        return
    for call in _applied(module):
        assert isinstance(call.func, ast.Attribute)
        name, tf = call.func.attr, spelling(module, call)
        start, end = module.source.span(call.func)[1] - len(name), module.source.span(call)[1]
        found.edits.append(Edit(start, start + len(name), f"apply({tf}.contrib.data.{name}"))
        found.edits.append(Edit(end, end, ")"))
        found.names[f"tf.contrib.data.Dataset.{name}"] = call.func


def _applied(module: Module) -> list[ast.Call]:
    """The calls of methods of Datasets that are functions since 1.4."""
    return [
        call
        for call in module.names.calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in _APPLIED
        and not tensorflow_name(module, call.func)
    ]


def _flags(found: Renamed, module: Module) -> None:
    """Flags as absl has them, which took the place of TensorFlow's own in 1.5."""
    names = module.names
    for one in defined_flags(module):
        if is_absls_own(one):
            edit = CallEdit(module.source, one.call)
            edit.add("allow_override", "True")
            found.edits += edit.edits()
            found.names[f"tf.flags.{one.node.attr}({one.name})"] = one.node
    parsed = [
        (node, call)
        for node in names.attributes.get("_parse_flags", ())
        if isinstance(call := names.parents[node], ast.Call) and is_flag(module, node)
    ]
    for node, call in parsed:
        _, end = module.source.span(node.value)
        call_end = module.source.span(call)[1]
        found.edits.append(Edit(end, call_end, "(sys.argv, known_only=True)"))
        found.names["tf.flags.FLAGS._parse_flags"] = node
    if not parsed:
        return
    found.edits += with_imports(module, {"sys"})
    for node in names.attributes.get("__flags", ()):  # each flag's value, an object since then
        if is_flag(module, node) and isinstance(node.ctx, ast.Load):
            _, end = module.source.span(node.value)
            found.edits.append(Edit(end, module.source.span(node)[1], ".flag_values_dict()"))


def _is_caught(module: Module, use: Use) -> bool:
    """Whether a `try` around a name goes on without it, and with something else than 1.0's name."""
    node: ast.AST = use.node
    for parent in module.names.ancestors(node):
        if isinstance(parent, ast.Try) and node in parent.body:
            for handler in parent.handlers:
                caught = ast.walk(handler.type) if handler.type else ()
                if handler.type is None or any(getattr(c, "id", "") in _CATCH for c in caught):
                    return not (_stops(handler) or _is_same(parent, handler, use))
        node = parent
    return False


def _stops(handler: ast.ExceptHandler) -> bool:
    """Whether a handler only stops: `raise`, `import pdb; pdb.set_trace()`."""
    return all(
        isinstance(statement, (ast.Raise, ast.Import))
        or (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and ast.unparse(statement.value.func).endswith(_STOPS)
        )
        for statement in handler.body
    )


def _is_same(block: ast.Try, handler: ast.ExceptHandler, use: Use) -> bool:
    """`try: return tf.select(a, b, c)` / `except: return tf.where(a, b, c)`."""
    old, new = ("\n".join(map(ast.unparse, part)) for part in (block.body, handler.body))
    name, later = use.symbol.name, earlier().now(use.symbol.name)
    return later is not None and old.replace(f".{name}(", f".{later}(") == new


def _merge(found: Renamed, use: Use, edits: tuple[Edit, ...]) -> None:
    if edits:
        found.edits += edits
        found.names[f"tf.{use.symbol.name}"] = use.node


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _merge_import(
    found: Renamed, module: Module, statement: ast.Import | ast.ImportFrom
) -> list[str]:
    """The names that an import binds, if 1.15 has all of them in another module, which it names."""
    if not isinstance(statement, ast.ImportFrom) or statement.module == "tensorflow":
        return []
    head = (statement.module or "").partition(".")[2]
    old = [f"{head}.{alias.name}" for alias in statement.names]
    now = [earlier().now(name) for name in old]
    rooms = {name and name.rpartition(".")[0] for name in now}
    if len(rooms) != 1 or None in now or any(_is_old_pipeline(module, name) for name in old):
        return []
    if [name.rpartition(".")[2] for name in now if name] != [one.name for one in statement.names]:
        return []
    new = import_edit(module.source, statement, module=f"tensorflow.{rooms.pop()}")
    found.edits += (new,)
    found.names.update((f"tf.{name}", statement) for name in old)
    return [alias.asname or alias.name for alias in statement.names]


def _is_old_pipeline(module: Module, name: str) -> bool:
    """Whether a Dataset of `tf.contrib.data` is used as `tf.data` does not take it."""
    if not name.startswith("contrib.data."):
        return False
    for call in module.names.calls:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = {keyword.arg for keyword in call.keywords}
        if method in ("map", "filter", "flat_map") and (
            given & {"num_threads", "output_buffer_size"} or len(call.args) > 2
        ):
            return True
        if method in _OLD_METHODS:
            return True
    return any(spelling(module, call) is None for call in _applied(module))


def _called(module: Module, use: Use) -> Iterator[ast.Call]:
    call = module.names.parents.get(use.node)
    if isinstance(call, ast.Call) and call.func is use.node:
        yield call


def _renamed(module: Module, use: Use) -> tuple[Edit, ...]:
    """The edits that give a name, or the call of it, its later form; none where there are none."""
    later, tf = earlier().now(use.symbol.name), spelling(module, use.node)
    if later is None or tf is None or not isinstance(use.node, ast.Attribute):
        return ()
    row = earlier().calls.get(use.symbol.name)
    if row is None:
        start, end = module.source.span(use.node)
        return (Edit(start, end, f"{tf}.{later}"),)
    for call in _called(module, use):
        return _in_order(module, call, row, f"{tf}.{later}")
    return ()


def _in_order(
    module: Module, call: ast.Call, row: EarlierCall, function: str | None = None
) -> tuple[Edit, ...]:
    """A call with the parameters of 1.0, if it has no others."""
    new = set(row.keywords.values())
    known = {*row.keywords, *(name for name in row.parameters if name not in new)}
    known |= {name for old, name in row.keywords.items() if function is None}  # both have those
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if starred or len(call.args) > len(row.parameters):
        return ()
    # What a summary is called in the graph; its tag is what 1.0 has as `name`.
    tagged = call.args or any(one.arg in row.keywords for one in call.keywords)
    beside = function is not None and row.parameters[0] == "name" and tagged
    named = [one for one in call.keywords if beside and one.arg == "name"]
    if any(one.arg not in known and one not in named for one in call.keywords):
        return ()
    if function is not None and call.args and isinstance(call.args[0], (ast.List, ast.Tuple)):
        if row.parameters[0] == "name":
            return ()  # a tag for each value: 1.0 has one
    edit = CallEdit(module.source, call, row.parameters)
    for one in named:
        edit.drop_value(one.value)
    for old, name in row.keywords.items():
        edit.rename(old, name)
    edit.order(row.order)
    if function is not None:
        edit.function(function)
    return edit.edits()


def _is_old(name: str, call: ast.Call, row: EarlierCall) -> bool | None:
    """Whether a call has the order of before 1.0; None where it does not show it."""
    given = {one.arg for one in call.keywords}
    if given & row.keywords.keys():
        return True
    if "cross_entropy" in name:  # 1.0 takes them by their names alone
        return bool(call.args)
    if any(isinstance(one, ast.Starred) for one in call.args) or None in given:
        return False
    if name == "split" and given & set(row.parameters[:3]):
        return False
    if name == "concat" and given & set(row.parameters[:2]):
        return (
            bool(call.args) and "values" in given and not call.args[1:] and _is_number(call.args[0])
        )
    places = [_is_number(one) for one in call.args]
    if len(places) < len(row.parameters) - 1:
        return False if name == "split" or not places else None
    first, last = places[0], places[len(row.parameters) - 2]
    if first != last:
        return first
    if name == "concat":
        listed = [isinstance(one, (ast.List, ast.Tuple, ast.ListComp)) for one in call.args[:2]]
        if listed[0] != listed[1]:
            return listed[1]
    return None


def _is_number(node: ast.expr) -> bool:
    return isinstance(constant(node), int)


REWRITER = EarlierRewriter(RULE, CASES, rename)
