"""A TF1 program keeps its graphs and sessions on TF2: ``compat.v1`` and ``disable_v2_behavior()``.

## What it does
In every module of the program that uses TF1's names, ``import tensorflow as tf``
becomes ``import tensorflow.compat.v1 as tf``, directly followed by
``tf.disable_v2_behavior()``. A module that already says ``tf.compat.v1.X`` keeps
its import and gets ``tf.compat.v1.disable_v2_behavior()``: there, plain names
mean TF2's, and swapping the import would change ``tf.nn.dropout``, ``tf.argmax``
and others in silence. Imports of ``tensorflow.keras`` become those of
``tensorflow.compat.v1.keras`` where they give a name that is another layer, optimizer or
function in TF2 (``LSTM``, ``GRU``, ``BatchNormalization``, ``Adam``, ``backend.set_session``).
A transposed convolution whose shape its module may ask for, ``net.get_shape()``, is
given what its ``output_shape`` says: TF2 does not know that where the batch has no fixed size.

## Why
A graph-mode program runs on TF2 only with v1 behaviour, which is process-wide
and must be chosen before anything else happens. A module that is imported by a
bridged one must speak of the same TensorFlow. A module that its author wrote for
``tensorflow.compat.v1`` stays as it is where every program's entry point makes the call:
TF2 code may import it as well.

## Safety
Nothing else changes: graphs, variables, savers and checkpoints stay TF1's. On
TF 1.13 to 1.15 the migrated modules run as before.

## References
``tf.compat.v1.disable_v2_behavior``
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.api_version import (
    ABSENT,
    is_explicit_v1,
    is_tried,
    keras_of_tf1,
    opens_private_session,
    root_of,
    swaps,
    v1_uses,
)
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.removal import name_unused
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.analysis.symbols import table
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.keras.transposed import TRANSPOSED, told_shape
from migrate_mgpu.session_config.program_rewriter import BridgeRewriter
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_DISABLE = "disable_v2_behavior"
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# What a module may call while it is imported without making a tensor.
_HARMLESS = ("app.", "flags.", "logging.", "disable_", "compat.as_")

RULE = Rule(
    code="MGPU201",
    name="v1-behavior",
    summary="`import tensorflow.compat.v1 as tf` and `tf.disable_v2_behavior()`",
)

CASES = (
    Case(
        "a session without a config",
        """\
import tensorflow as tf

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
""",
    ),
    Case(
        "after tf_upgrade_v2",
        """\
import tensorflow as tf

with tf.compat.v1.Session() as sess:
    print(sess.run(tf.argmax(input=[1, 2], axis=0)))
""",
        """\
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()

with tf.compat.v1.Session() as sess:
    print(sess.run(tf.argmax(input=[1, 2], axis=0)))
""",
    ),
    Case(
        "TensorFlow's private session",
        """\
from tensorflow.python.client import session
from tensorflow.python.framework import constant_op

with session.Session() as sess:
    print(sess.run(constant_op.constant(1)))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tensorflow.python.client import session
from tensorflow.python.framework import constant_op

with session.Session() as sess:
    print(sess.run(constant_op.constant(1)))
""",
    ),
    Case(
        "names imported one by one",
        """\
from tensorflow import Session, constant

with Session() as sess:
    print(sess.run(constant(1)))
""",
        """\
from tensorflow.compat.v1 import Session, constant, disable_v2_behavior
disable_v2_behavior()

with Session() as sess:
    print(sess.run(constant(1)))
""",
    ),
    Case(
        "the shape of a transposed convolution",
        """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2, 2, 1])
w = tf.ones([3, 3, 1, 1])
net = tf.nn.conv2d_transpose(x, w, output_shape=[4, 4, 4, 1], strides=[1, 2, 2, 1])
net = tf.reshape(net + 1.0, net.get_shape())
with tf.Session() as sess:
    print(sess.run(net, {x: [[[[1.0]] * 2] * 2] * 4}))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 2, 2, 1])
w = tf.ones([3, 3, 1, 1])
net = tf.reshape(tf.nn.conv2d_transpose(x, w, output_shape=[4, 4, 4, 1], strides=[1, 2, 2, 1]), [4, 4, 4, 1])
net = tf.reshape(net + 1.0, net.get_shape())
with tf.Session() as sess:
    print(sess.run(net, {x: [[[[1.0]] * 2] * 2] * 4}))
""",  # noqa: E501
    ),
    Case(
        "names of Keras that are other layers in TF2",
        """\
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, LSTM

inputs = tf.placeholder(tf.float32, [None, 5, 2])
outputs = Dense(1)(LSTM(3)(inputs))
with tf.Session() as sess:
    K.set_session(sess)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tensorflow.compat.v1.keras import backend as K
from tensorflow.compat.v1.keras.layers import Dense, LSTM

inputs = tf.placeholder(tf.float32, [None, 5, 2])
outputs = Dense(1)(LSTM(3)(inputs))
with tf.Session() as sess:
    K.set_session(sess)
""",
    ),
    Case(
        "a graph of its own beside code that runs eagerly",
        """import tensorflow as tf

with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    print(sess.run(tf.constant(1)))
print(tf.constant(1).numpy())
""",
        refused="it runs eagerly (`tf.constant(1).numpy()`) and opens v1 sessions",
    ),
)


def chooses_behavior(module: Module) -> bool:
    """Whether the module already says itself how much of TF2's behaviour it wants.

    ``disable_eager_execution()`` alone is such a word only in code that speaks
    TF2 otherwise; beside TF1's own names it leaves v2 shapes, variables and
    control flow, which TF1 did not have.
    """
    enough = {"disable_v2_behavior"}
    if is_explicit_v1(module) and not swaps(module):
        enough.add("disable_eager_execution")
    return any(use.symbol.name in enough for use in module.uses)


def leads(module: Module, started: bool) -> bool:
    """Whether a module chooses v1 behaviour for its process as soon as it is imported, or will.

    As the script that is ``started`` it may choose later, under its main guard.
    """
    calls = [use.node for use in module.uses if use.symbol.name == "disable_v2_behavior"]
    if calls and not started:
        return any(_at_import(module, call) for call in calls)
    if chooses_behavior(module):
        return True
    swap = swaps(module)
    places = (one for one in module.tensorflow_imports if not module.is_guarded(one))
    return _needs_call(module, True) and any(
        _owner(one, swap) is not None for one in places if _at_import(module, one)
    )


def apply(module: Module, is_entry: bool, led: bool, gone: AbstractSet[ast.AST]) -> list[Edit]:
    """The edits of one module of a bridged program; ``gone`` is what its moved configs leave out.

    A module that keeps its import needs the call only as an entry point: the
    modules of the program that speak TF1 make it too.
    """
    swap = swaps(module)
    private = opens_private_session(module)
    disable = not chooses_behavior(module) and _needs_call(module, is_entry)
    if led and not is_entry and not swap and not _builds_at_import(module):
        disable = False  # the author's own bridge, which TF2 code may use as well
    edits: list[Edit] = []
    if module.switched_root is not None:
        name = spelling(module, module.switched_root)
        if name is not None and not chooses_behavior(module):
            place = Layout(module.source, module.switched_root)
            edits.append(place.insert_after([f"{name}.disable_v2_behavior()"]))
        return edits
    for statement in module.tensorflow_imports:
        if module.is_guarded(statement) and not _is_tried_keras(module, statement):
            continue
        owner = _owner(statement, swap)
        added = _DISABLE if disable and owner == "" else ""
        root = (_v1_root(statement) or _keras_root(module, statement)) if swap else ""
        if isinstance(statement, ast.Import) and swap:
            edits += _swapped(module, statement)
        elif isinstance(statement, ast.ImportFrom) and (root or added):
            unused = [a for a in statement.names if name_unused(module, statement, a, gone)]
            leaves = root and len(unused) < len(statement.names)
            unused = unused if leaves else []
            edits.append(import_edit(module.source, statement, unused, added, root))
        if disable and owner is not None:
            call = f"{owner}.{_DISABLE}()" if owner else f"{_DISABLE}()"
            edits.append(Layout(module.source, statement).insert_after([call]))
            disable = False
    edits += _with_their_shapes(module)
    if disable and private:  # nothing of it is TensorFlow's root, which has the call
        name = module.names.fresh(module.names.module_scope, "tf", "tensorflow")
        lines = [f"import tensorflow.compat.v1 as {name}", f"{name}.disable_v2_behavior()"]
        edits.append(Layout(module.source, module.tensorflow_imports[0]).insert_before(lines))
    return edits


def _with_their_shapes(module: Module) -> Iterator[Edit]:
    """Transposed convolutions with the shapes that TF1 knew, where a module asks for shapes."""
    for call in calls_of_names(module).get(TRANSPOSED, ()):
        shape, source = told_shape(module, call), module.source
        shown = source.code(call.func)
        if shape is None or not shown.endswith(f".{TRANSPOSED}"):
            continue
        code = source.code(shape)
        if "#" in code or "\n" in code:
            continue
        start, end = source.span(call)
        yield Edit(start, start, f"{shown[: -len(TRANSPOSED)]}reshape(")
        yield Edit(end, end, f", {code})")


def _needs_call(module: Module, is_entry: bool) -> bool:
    return (
        swaps(module)
        or opens_private_session(module)
        or (is_entry and _says_v1(module))
        or _imports_v1_root(module)
        or any(v1_uses(user) for user in module.borrowers)
    )


def _at_import(module: Module, node: ast.AST) -> bool:
    """Whether code runs whenever its module is imported."""
    parents = module.names.ancestors(node)
    return not any(isinstance(p, _LATER) or is_main_guard(p) for p in parents)


@fact_of_text
def _builds_at_import(module: Module) -> bool:
    """Whether a module calls TensorFlow, or functions of its own, as soon as it is imported."""
    names = module.names
    used = {use.node for use in module.uses if not use.symbol.name.startswith(_HARMLESS)}
    for call in names.calls:
        own = isinstance(call.func, ast.Name) and any(
            binding.kind == "def" for binding in names.bindings_of(call.func)
        )
        if (own or call.func in used) and _at_import(module, call):
            return True
    return False


def _says_v1(module: Module) -> bool:
    return any(use.symbol.flavour == "v1" for use in module.uses)


def _imports_v1_root(module: Module) -> bool:
    """`import tensorflow.compat.v1 as tf`, with TF1's names behind it."""
    return any(
        isinstance(statement, ast.Import)
        and any(alias.name == "tensorflow.compat.v1" for alias in statement.names)
        for statement in module.tensorflow_imports
    ) and bool(v1_uses(module))


def _swapped(module: Module, statement: ast.Import) -> list[Edit]:
    """`import tensorflow as tf` with TF1's root, `import tensorflow.keras as K` if it matters."""
    start, end = module.source.span(statement)
    code = module.source.text[start:end]
    if _is_of_keras(statement) and _imports_keras_of_tf1(module):
        code = re.sub(r"\btensorflow(?=\.keras[\w.]*\s+as\b)", "tensorflow.compat.v1", code)
    new = re.sub(r"\btensorflow(?=\s+as\b)", "tensorflow.compat.v1", code)
    new = re.sub(r"\btensorflow(?!\.|\w|\s+as\b)", "tensorflow.compat.v1 as tensorflow", new)
    return [Edit(start, end, new)] if new != module.source.text[start:end] else []


@fact_of_text
def _imports_keras_of_tf1(module: Module) -> bool:
    """Whether an import of Keras gives a name that differs between TF1's and TF2's.

    Then all of them become TF1's: a module has one Keras.
    """
    roots: set[ast.AST] = set()
    for use in keras_of_tf1(module):
        root = root_of(use.node)
        roots.add(root)
        if isinstance(root, ast.Name):
            roots.update(binding.node for binding in module.names.bindings_of(root))
    return any(_is_of_keras(one) and one in roots for one in module.tensorflow_imports)


def _is_of_keras(statement: ast.Import | ast.ImportFrom) -> bool:
    """`from tensorflow import keras`, `from tensorflow.keras.X import Y`, `import tensorflow.keras
    as K`: without another name that says itself what it needs."""
    if isinstance(statement, ast.Import):
        return any(a.asname and a.name.startswith("tensorflow.keras") for a in statement.names)
    if statement.module == "tensorflow":
        return [alias.name for alias in statement.names] == ["keras"]
    return (statement.module or "").startswith("tensorflow.keras")


def _is_tried_keras(module: Module, statement: ast.Import | ast.ImportFrom) -> bool:
    """`try: from tensorflow.keras.layers import LSTM`: TF2 has another one."""
    return is_tried(module, statement) and _is_of_keras(statement) and _imports_keras_of_tf1(module)


def _keras_root(module: Module, statement: ast.Import | ast.ImportFrom) -> str:
    """TF1's Keras for a `from` import of Keras, in a module that needs it."""
    if isinstance(statement, ast.Import) or not _is_of_keras(statement):
        return ""
    if not _imports_keras_of_tf1(module):
        return ""
    return (statement.module or "").replace("tensorflow", "tensorflow.compat.v1", 1)


def _v1_root(statement: ast.Import | ast.ImportFrom) -> str:
    """The module that has TF1's names which a `from` import asks for, where it is another."""
    module = (statement.module or "") if isinstance(statement, ast.ImportFrom) else ""
    others = ("tensorflow.compat", "tensorflow.python", "tensorflow.core")
    if not module or module.startswith(others):
        return ""
    inside = module[len("tensorflow.") :] + "." if "." in module else ""
    if not any(_differs(inside + alias.name) for alias in statement.names):
        return ""  # the same in TF1 and TF2, or a module of Keras
    return re.sub(r"\btensorflow\b", "tensorflow.compat.v1", module, count=1)


def _owner(statement: ast.Import | ast.ImportFrom, swap: bool) -> str | None:
    """What has the function that turns TF2's behaviour off, by a name that an import gives.

    Nothing ("") where the import gives the function itself, or could; None where it gives neither.
    """
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name == "tensorflow":
                return (alias.asname or "tensorflow") + ("" if swap else ".compat.v1")
            if alias.name == "tensorflow.compat.v1":
                return alias.asname or alias.name
        return None
    for alias in statement.names:
        if statement.module == "tensorflow.compat" and alias.name == "v1":
            return alias.asname or "v1"
    known = statement.module == "tensorflow.compat.v1" or (
        statement.module == "tensorflow" and swap and _v1_root(statement)
    )
    return "" if known else None


def _differs(name: str) -> bool:
    """Whether TF2's plain name is missing or another thing (Keras is reached the same way)."""
    status = table().status(name)
    if name.split(".")[0] == "keras" and status in ("v1_differs", "modules"):
        return False
    return status in ABSENT or status in ("v1_differs", "modules")


REWRITER = BridgeRewriter(RULE, CASES, apply, leads)
