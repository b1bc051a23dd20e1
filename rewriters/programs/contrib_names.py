"""Names of ``tf.contrib`` in a bridge: from tf-slim, or by the name that TF2 has for them.

## What it does
``tf.contrib.slim``, ``layers``, ``framework``, ``losses`` and ``metrics`` come from the package
``tf-slim``: ``import tensorflow.contrib.slim as slim`` becomes ``import tf_slim as slim``. What was
another name of TensorFlow's own has that name: ``tf.contrib.rnn.GRUCell`` becomes
``tf.nn.rnn_cell.GRUCell``; so do names of private modules that moved (``control_flow_ops.cond``).
``tf.contrib.tpu.TPUEstimator`` and what belongs to it are those of ``tf.estimator.tpu``, which TF
2.15 is the last to have. ``tf.contrib.training.HParams``, ``tf.contrib.seq2seq.sequence_loss`` and
``VocabularyProcessor`` come from ``hparam.py``, ``sequence_loss.py`` and
``vocabulary_processor.py``, ``tf.contrib.predictor.from_saved_model`` from
``saved_model_predictor.py``, ``tf.contrib.opt.LazyAdamOptimizer`` from ``lazy_adam.py``, its
optimizers with decoupled weight decay from ``weight_decay.py``, ``tf.contrib.mixed_precision`` from
``loss_scale.py``, ``tf.contrib.image.bipartite_match`` from ``bipartite_match.py``,
``batch_and_drop_remainder`` from ``full_batches.py``, tables of
``tf.contrib.lookup`` from ``lookup_tables.py``, ``tf.contrib.crf`` from ``crf.py``,
what TF2 has of ``tf.contrib.summary`` in its private module ``summary_ops_v2`` from there,
``LSTMBlockFusedCell`` and its kin from ``fused_rnn.py``, ``LayerNormBasicLSTMCell``, ``NASCell``,
``PhasedLSTMCell``, ``UGRNNCell``, ``GRUBlockCell``, ``CudnnCompatibleLSTMCell``, the cells of
convolutions, the wrappers of cells that TF2 has not and ``stack_bidirectional_dynamic_rnn`` from
``recurrent_cells.py``,
``tf.contrib.legacy_seq2seq`` from ``legacy_seq2seq.py``,
``bucket_by_sequence_length`` of ``tf.contrib.training`` from ``length_buckets.py``,
``embed_sequence``, ``alpha_dropout``, ``rotate`` and ``transform`` of ``tf.contrib.image`` and
``MovingAverageOptimizer`` from ``embed_sequence.py``, ``alpha_dropout.py``, ``image_rotation.py``
and ``moving_average.py``, ``RunConfig``, ``Experiment`` and ``learn_runner.run`` of
``tf.contrib.learn`` for a ``tf.estimator.Estimator`` on one machine from ``learn_experiment.py``,
its ``select_last_activations`` from ``last_activations.py``, ``SummaryAtEndHook`` from
``evaluation_hooks.py``, heads of Estimators from ``estimator_heads.py`` (TF 2.15 is the last to
have them), the linear maps of private modules of cells (``_linear``, ``_Linear``) from
``rnn_linear.py``,
``MultivariateNormalDiag`` from
``multivariate_normal.py``, the ``MirroredStrategy`` of Estimators from ``mirrored_strategy.py``,
the decoders and helpers of
``tf.contrib.seq2seq`` from ``sequence_decoding.py``, its attention from ``attention_cells.py``, its
search with beams from ``beam_search_decoding.py``, written beside the program or in its outermost
package; a module that Python knows by several names tries both ways to import them (no living
package has them for graphs: tensorflow-addons ended with 0.23, which is for Keras's cells and has
no build for Python 3.12). The embedding projector is that of the package
``tensorboard``. tf-slim 1.1.0 reads a few names of TensorFlow's private modules that TF 2.15 and
newer keep elsewhere; a module that calls a function which does (``batch_norm``,
``optimize_loss``, ...) puts them there.

## Why
TF2 has no ``tf.contrib``. Nothing else keeps many programs from running on it.

## Safety
A name is written when it is proved to do what it did in TF 1.15: the same object there, or equal
values, gradients, variables and updates. A program with any other name of ``tf.contrib``
stays, and the finding says what to do about that name; unless an option of the program alone leads
there (``if FLAGS.quantize:``, off by default) or nothing calls it: then the name is left, its
import stands where it is used, and the finding says when the program comes to it. ``batch_norm``
needs Keras 2: on the newest
TensorFlow the package ``tf-keras``, and ``TF_USE_LEGACY_KERAS=1``.

## References
``tf_slim``, ``tf.compat.v1.nn.rnn_cell``
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrate_mgpu.analysis.api_version import swaps
from migrate_mgpu.analysis.dotted_names import imported_as, names_own_package, takes
from migrate_mgpu.analysis.incompatibilities import is_called
from migrate_mgpu.analysis.lost_names import (
    CALLS,
    HPARAM,
    MENDS,
    MENDS_IF,
    PACKAGES,
    READS,
    SLIM,
    TPU_ESTIMATOR,
    WRITTEN,
    Calls,
    NewName,
    canonical,
    find,
    is_room,
    module_file,
)
from migrate_mgpu.analysis.module import ROOTS, Module, Use
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope
from migrate_mgpu.analysis.style import spelling, style_at
from migrate_mgpu.analysis.symbols import table
from migrate_mgpu.analysis.symbols import text as data_text
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.program_rewriter import NamesRewriter, NewNames, free_name
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

RULE = Rule(
    code="MGPU210",
    name="contrib-names",
    summary="names of `tf.contrib` come from tf-slim, TensorFlow, or a module beside the program",
)

CASES = (
    Case(
        "slim",
        """\
import tensorflow as tf
import tensorflow.contrib.slim as slim

net = slim.conv2d(tf.ones([1, 4, 4, 1]), 8, [3, 3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(net))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import tf_slim as slim

net = slim.conv2d(tf.ones([1, 4, 4, 1]), 8, [3, 3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(net))
""",
    ),
    Case(
        "batch normalization, by an alias of the module",
        """\
import tensorflow as tf

slim = tf.contrib.slim


def block(net):
    return slim.conv2d(net, 8, [3, 3], normalizer_fn=slim.batch_norm)


with tf.Session() as sess:
    print(block(tf.ones([1, 4, 4, 1])))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import tf_slim as slim
# tf-slim 1.1.0 reads these from modules where TensorFlow 2.15 and newer do not have them.
slim.layers.ops.Tensor = tf.Tensor
slim.layers.normalization_layers.BatchNormalization = tf.layers.BatchNormalization


def block(net):
    return slim.conv2d(net, 8, [3, 3], normalizer_fn=slim.batch_norm)


with tf.Session() as sess:
    print(block(tf.ones([1, 4, 4, 1])))
""",
    ),
    Case(
        "by names of its modules",
        """\
import tensorflow as tf

slim = tf.contrib.slim
rnn = tf.contrib.rnn

x = tf.placeholder(tf.float32, [None, 3, 2])
outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(4), x, dtype=tf.float32)
with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=5)) as sess:
    print(sess.run(slim.flatten(outputs), {x: [[[1.0, 2.0]] * 3]}))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import tf_slim as slim

rnn = tf.nn.rnn_cell

x = tf.placeholder(tf.float32, [None, 3, 2])
outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(4), x, dtype=tf.float32)
with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=5)) as sess:
    print(sess.run(slim.flatten(outputs), {x: [[[1.0, 2.0]] * 3]}))
""",
    ),
    Case(
        "cells and an initializer",
        """\
import tensorflow as tf
from tensorflow.contrib import rnn

x = tf.placeholder(tf.float32, [None, 5, 3])
outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(4), x, dtype=tf.float32)
w = tf.get_variable("w", [4, 2], initializer=tf.contrib.layers.xavier_initializer())
with tf.Session() as sess:
    print(outputs, w)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 5, 3])
outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32)
w = tf.get_variable("w", [4, 2], initializer=tf.glorot_uniform_initializer())
with tf.Session() as sess:
    print(outputs, w)
""",
    ),
    Case(
        "hyperparameters",
        """\
import tensorflow as tf

params = tf.contrib.training.HParams(rate=0.1, units=[8, 16])
params.parse("rate=0.5")
with tf.Session() as sess:
    print(sess.run(tf.constant(params.rate)))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from hparam import HParams

params = HParams(rate=0.1, units=[8, 16])
params.parse("rate=0.5")
with tf.Session() as sess:
    print(sess.run(tf.constant(params.rate)))
""",
    ),
    Case(
        "a loss of sequences",
        """\
import tensorflow as tf
from tensorflow.contrib import seq2seq

logits = tf.placeholder(tf.float32, [None, 5, 3])
targets = tf.placeholder(tf.int32, [None, 5])
loss = seq2seq.sequence_loss(logits, targets, tf.ones(tf.shape(targets)))
with tf.Session() as sess:
    print(loss)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from sequence_loss import sequence_loss

logits = tf.placeholder(tf.float32, [None, 5, 3])
targets = tf.placeholder(tf.int32, [None, 5])
loss = sequence_loss(logits, targets, tf.ones(tf.shape(targets)))
with tf.Session() as sess:
    print(loss)
""",
    ),
    Case(
        "a cell whose second argument is another one",
        """\
import tensorflow as tf

cell = tf.contrib.rnn.LSTMBlockCell(4, 0.5)
with tf.Session() as sess:
    print(cell)
""",
        refused="`tensorflow.contrib.rnn.LSTMBlockCell` does not exist in TF2",
    ),
    Case(
        "hyperparameters as a protocol buffer",
        """\
import tensorflow as tf

params = tf.contrib.training.HParams(rate=0.1)
with tf.Session() as sess:
    print(params.to_proto())
""",
        refused="`tensorflow.contrib.training.HParams` does not exist in TF2",
    ),
    Case(
        "a name without a replacement that an option asks for",
        """\
import tensorflow as tf
from tensorflow.contrib import quantize

tf.app.flags.DEFINE_bool("quantize", False, "train with fewer bits")


def net(x):
    if tf.app.flags.FLAGS.quantize:
        quantize.create_training_graph()
    return tf.contrib.layers.flatten(x)


with tf.Session() as sess:
    print(sess.run(net(tf.ones([1, 4, 4]))))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import tf_slim as slim

tf.app.flags.DEFINE_bool("quantize", False, "train with fewer bits")


def net(x):
    if tf.app.flags.FLAGS.quantize:
        from tensorflow.contrib import quantize
        quantize.create_training_graph()
    return slim.flatten(x)


with tf.Session() as sess:
    print(sess.run(net(tf.ones([1, 4, 4]))))
""",
    ),
    Case(
        "a name without a replacement",
        """\
import tensorflow as tf

cell = tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(4))
with tf.Session() as sess:
    print(cell)
""",
        refused="`tensorflow.contrib.rnn.HighwayWrapper` does not exist in TF2",
    ),
)

_CONTRIB = ("tensorflow.contrib", None)  # an import and its `as`
_COMMENT = (
    "# tf-slim 1.1.0 reads these from modules where TensorFlow 2.15 and newer do not have them."
)
# The same numbers as TensorFlow's own initializer, as long as it draws uniformly.
_XAVIER = ("xavier_initializer", "xavier_initializer_conv2d", "initializers.xavier_initializer")
# Where a strategy goes, in the text of a module.
_TO_ESTIMATORS = re.compile(r"\b(train|eval)_distribute\b")
_BY_ITSELF = re.compile(
    r"\b(distribute\s*=|\w*(distribute|numpy)_dataset\b|make_dataset_iterator\b)"
)
# What is Python's own, so that a native program may have it.
_WITHOUT_GRAPHS = {"vocabulary_processor"}
_GLOROT = NewName("tensorflow", "glorot_uniform_initializer")


def plan(module: Module, importers: Sequence[Module]) -> NewNames:
    """What becomes of a module's names of ``tf.contrib``."""
    uses = [use for use in module.uses if use.status == "gone" and _counts(module, use)]
    if not uses:
        return NewNames()
    found = _Renaming(module, importers, uses).run()
    own = [] if found.eager else _without_graphs(module, uses)
    native = _Renaming(module, importers, own).run() if own else None
    found.native = native if native is not None and native.eager else None
    return found


def _without_graphs(module: Module, uses: Sequence[Use]) -> list[Use]:
    """The mentions of what is Python's own, with the imports that are for nothing else.

    A native program has other forms of the names that are left.
    """
    own: list[Use] = []
    for use in uses:
        new = find(use.symbol.name)
        if new is not None and new.package in _WITHOUT_GRAPHS:
            own.append(use)
    roots = {_root(use.node) for use in own}
    for use in uses:
        if own and use not in own and isinstance(use.node, ast.ImportFrom):
            scope = module.names.scope_at(use.node)
            names = {alias.asname or alias.name for alias in use.node.names}
            mentions = [one for name in names for one in module.names.mentions(name, scope)]
            own += [use] if mentions and roots.issuperset(mentions) else []
    return own


def _counts(module: Module, use: Use) -> bool:
    """Whether a mention is not under a version switch; one in a function counts as any other.

    Digits of MNIST are those of the tutorial, which have a rewriter of their own.
    """
    if use.symbol.name.startswith("contrib.learn.python.learn.datasets.mnist"):
        return False
    private = use.symbol.flavour == "private" and use.symbol.name.startswith("python.")
    if not (private or use.symbol.flavour in ("plain", "v1")) or module.is_guarded(use.node):
        return False
    root = _root(use.node)
    bindings = module.names.bindings_of(root) if root is not None else []
    return not any(module.is_guarded(b.node) for b in bindings if b.qualname not in ROOTS)


def _is_patch(statement: ast.AST | None) -> bool:
    """`tf.contrib = tensorflow.contrib`"""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    return all(
        isinstance(one, ast.Attribute) and one.attr == "contrib" and isinstance(one.value, ast.Name)
        for one in (statement.targets[0], statement.value)
    )


# What a view of `tf.contrib.graph_editor` can do besides, which the file does not have.
_OF_VIEWS = {
    "connected_inputs", "connected_outputs", "find_op_by_name", "input_index", "is_passthrough",
    "output_index", "remap", "remap_default", "remap_inputs", "remap_outputs",
    "remap_outputs_make_unique", "remap_outputs_to_consumers", "remove_unused_ops",
}  # fmt: skip


def _parted(module: str) -> tuple[str, str]:
    """Where a module is imported from, and its own name: `..crf` from `..`."""
    stem = module.rpartition(".")[2]
    folder = module[: -len(stem)]
    return (folder if not folder.strip(".") else folder[:-1]), stem


def _root(node: ast.AST) -> ast.Name | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


@record()
class _Import:
    """An import that is written: of names from a module, or, without one, of modules.

    Attributes:
      names: each, and what it is called here.
    """

    module: str = ""
    names: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        names = ", ".join(name if name == own else f"{name} as {own}" for name, own in self.names)
        return f"from {self.module} import {names}" if self.module else f"import {names}"


class _Renaming:
    def __init__(self, module: Module, importers: Sequence[Module], uses: list[Use]) -> None:
        self.module = module
        self.importers = importers
        self.names = module.names
        self.source = module.source
        self.found = NewNames()
        self.statements = [u for u in uses if isinstance(u.node, (ast.Import, ast.ImportFrom))]
        self.mentions = [u for u in uses if u not in self.statements]
        # Of variables that are given several things, each of which stands where it is given.
        self.variables = [u for u in self.mentions if self._is_given_several(u)]
        self.mentions = [u for u in self.mentions if u not in self.variables]
        self.by_binding: dict[tuple[Scope, str], list[Use]] = {}
        self.targets: dict[ast.AST, NewName | None] = {}
        self.instead: dict[ast.stmt, list[_Import]] = {}  # of imports and aliases
        self.added: list[_Import] = []  # what the module did not have
        self.slim = ""  # the name of tf_slim at module level
        self.written: dict[str, str] = {}  # local names, by those of what files and packages have
        self.by_two_names: set[str] = set()  # such files, as modules that are imported
        # Mentions that fail where they are reached, with what is imported there from now on.
        self.later: dict[ast.AST, str] = {}
        self.mended: list[str] = []  # what tf-slim looks for, as templates
        self.mends: list[str] = []

    def run(self) -> NewNames:
        self._patched()
        self._look_up()
        self.mentions = [use for use in self.mentions if not self._unused_alias(use)]
        for use in self.mentions:
            if self._find(use) is not None:
                self.found.nodes.add(use.node)
        self._stay_for_later()
        for use in self.variables:
            assert isinstance(use.node, ast.Name)
            values = [b.value for b in self.names.bindings_of(use.node) if b.value is not None]
            if not any(u.node in values and u.node not in self.found.nodes for u in self.mentions):
                self.found.nodes.add(use.node)
        # All of them, even when one stays: a program that stays is told of each once.
        statements = [one for one in self._statements() if one not in self.later]
        written = [self._import_statement(statement) for statement in statements]
        written += [self._alias_statement(*key) for key in list(self.by_binding)]
        left = (*self.mentions, *self.variables, *self.statements)
        if not all(written) or any(
            use.node not in self.found.nodes and use.node not in self.later for use in left
        ):
            return self.found
        packages = {new.package for new in self.targets.values() if new is not None}
        self.found.eager = packages == _WITHOUT_GRAPHS
        for use in self.mentions:
            if use.node not in self.later:
                self._mention(use)
        if any(use.symbol.name.startswith("contrib.graph_editor.") for use in self.mentions):
            self._outputs_of_copies()
        self._import_later()
        self._mend()
        self._place()
        return self.found

    def _outputs_of_copies(self) -> None:
        """`info._transformed_ops[op]._outputs`: operations have no such list in TF2."""
        for node in self.names.attributes.get("_outputs", ()):
            copies = node.value.value if isinstance(node.value, ast.Subscript) else None
            if isinstance(copies, ast.Attribute) and copies.attr == "_transformed_ops":
                end = self.source.span(node)[1]
                self.found.edits.append(Edit(end - len("_outputs"), end, "outputs"))

    def _stay_for_later(self) -> None:
        """Mentions in functions that nothing replaces, where an import can stand beside them."""
        for use in self.mentions:
            if use.node in self.found.nodes or not is_called(self.module, use):
                continue
            root = _root(use.node)
            bindings = self.names.bindings_of(root) if root is not None else []
            if any(binding.qualname in ROOTS for binding in bindings):
                self.later[use.node] = ""  # `tf.contrib.quantize`, which fails by itself
            elif root is not None and len(bindings) == 1:
                statement = bindings[0].node
                if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                    continue
                text = self._imported_alone(statement, root.id)
                if text is not None:
                    self.later[use.node] = text
        inner = [one for one in self._statements() if one not in self.module.tree.body]
        for statement in inner:  # an import that stands where it is used, for names that stay
            names = {alias.asname or alias.name for alias in statement.names}
            scope = self.names.scope_at(statement)
            homes = {(self.names.defining_scope(name, scope), name) for name in names}
            uses = [use for use in self.mentions if self._home(use) in homes]
            if uses and all(self.later.get(use.node) == "" for use in uses):
                self.later[statement] = ""

    def _home(self, use: Use) -> tuple[Scope | None, str]:
        root = _root(use.node)
        if root is None:
            return None, ""
        return self.names.defining_scope(root.id, self.names.scope_of_name[root]), root.id

    def _place_of_import(self, node: ast.AST) -> ast.stmt | None:
        """Before which statement a name may be imported that a mention in a function needs."""
        child = node
        for parent in self.names.ancestors(node):
            if isinstance(parent, ast.If) and child is not parent.test:
                arm = parent.body if child in parent.body else parent.orelse
                return arm[0] if self._is_place(arm[0]) else None
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                break
            child = parent
        statement = self.names.statement(node)
        return statement if self._is_place(statement) else None

    def _is_place(self, statement: ast.stmt) -> bool:
        is_elif = isinstance(statement, ast.If) and self.source.code(statement).startswith("elif")
        return Layout(self.source, statement).owns_lines and not is_elif

    def _imported_alone(self, statement: ast.Import | ast.ImportFrom, local: str) -> str | None:
        """The import of one name, as it is read in a function; None where that differs."""
        scope = self.names.scope_at(statement)
        found = [one for one in statement.names if (one.asname or one.name) == local]
        uses = [use for use in self.mentions if self._home(use) == (scope, local)]
        if statement not in self.module.tree.body:
            parent = self.names.parents[statement]
            places = [self._place_of_import(use.node) for use in uses]
            branches = [place is not None and self.names.parents[place] for place in places]
            if not isinstance(parent, ast.FunctionDef) or not all(
                isinstance(one, ast.If) for one in branches
            ):
                return ""  # it stands where it is used
        for use in uses:  # a function that binds a name in one place has it nowhere else
            if use.node not in self.found.nodes and (
                self._place_of_import(use.node) is None or not is_called(self.module, use)
            ):
                return None
        others = {*self.names.mentions(local, scope)} - {_root(use.node) for use in uses}
        if len(found) != 1 or others or (scope.is_module and self._taken(local)):
            return None
        (alias,) = found
        shown = alias.name if alias.asname in (None, alias.name) else f"{alias.name} as {local}"
        if isinstance(statement, ast.ImportFrom):
            return None if statement.level else f"from {statement.module} import {shown}"
        return f"import {shown}" if alias.asname else None

    def _import_later(self) -> None:
        lines: dict[ast.stmt, list[str]] = {}
        for node, text in self.later.items():
            place = self._place_of_import(node) if text else None
            if place is not None and text not in lines.setdefault(place, []):
                lines[place].append(text)
        for place, texts in lines.items():
            self.found.edits.append(Layout(self.source, place).insert_before(texts))

    def _is_given_several(self, use: Use) -> bool:
        return isinstance(use.node, ast.Name) and len(self.names.bindings_of(use.node)) > 1

    def _patched(self) -> None:
        """`import tensorflow.contrib` and `tf.contrib = tensorflow.contrib`: TF2 has neither.

        They only load what TF 1.13 and newer load when it is asked for.
        """
        imported = [
            s
            for s in self._statements()
            if isinstance(s, ast.Import) and [(a.name, a.asname) for a in s.names] == [_CONTRIB]
        ]
        mentions = self.names.mentions("tensorflow", self.names.module_scope)
        patches = [self.names.parents.get(self.names.parents[mention]) for mention in mentions]
        if not imported or not all(_is_patch(one) for one in patches):
            return
        if len(self.names.module_scope.bindings["tensorflow"]) > len(imported):
            return
        gone = {part for one in patches if one is not None for part in ast.walk(one)}
        for statement in (*imported, *dict.fromkeys(patches)):
            assert isinstance(statement, ast.stmt)
            self.instead[statement] = []
            self.found.nodes.add(statement)
        self.found.nodes |= {use.node for use in self.mentions if use.node in gone}
        self.mentions = [use for use in self.mentions if use.node not in gone]
        self.statements = [use for use in self.statements if use.node not in imported]

    def _statements(self) -> list[ast.Import | ast.ImportFrom]:
        nodes = [use.node for use in self.statements]
        found = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        return list(dict.fromkeys(found))

    # -- what stands for what ------------------------------------------------

    def _look_up(self) -> None:
        found = {use.node: self._find(use) for use in self.mentions}
        slim = [new.path for new in found.values() if new is not None and new.package == SLIM]
        plain = all(path in _XAVIER for path in slim)
        for use in self.mentions:
            new = found[use.node]
            if plain and new is not None and new.path in _XAVIER and self._draws(use.node):
                new = _GLOROT
            self.targets[use.node] = new
            root = _root(use.node)
            home = (
                self.names.defining_scope(root.id, self.names.scope_of_name[root]) if root else None
            )
            if root is not None and home is not None:
                self.by_binding.setdefault((home, root.id), []).append(use)

    def _find(self, use: Use) -> NewName | None:
        """What there is for a mention, as it is used here."""
        root = _root(use.node)
        if root is not None and root is not use.node and len(self.names.qualnames(root)) > 1:
            if any(binding.kind == "assign" for binding in self.names.bindings_of(root)):
                return None  # `net = slim`, `net = layers`: it may be another one
        new = find(use.symbol.name)
        known = CALLS.get(canonical(use.symbol.name))
        if known is not None and not self._takes(use.node, known):
            return None
        if new is None or new.package not in WRITTEN:
            return new
        if new.package == "mirrored_strategy" and not self._trains_estimators():
            return None
        if new.package == HPARAM and not self._holds_values(use, new):
            return None
        users = (self.module, *self.importers)
        if new.package == "graph_editor" and any(
            _OF_VIEWS & {*one.names.attributes} for one in users
        ):
            return None
        return new if self._beside(new.package) else None

    def _takes(self, node: ast.AST, known: Calls) -> bool:
        """Whether a mention is such a call, or is given to ``functools.partial``.

        Or a name of the module alone, ``_linear = core_rnn_cell._linear``, whose mentions are.
        """
        call = self.names.parents.get(node)
        if isinstance(call, ast.Assign) and len(call.targets) == 1:
            (target,) = call.targets
            if not isinstance(target, ast.Name) or len(self.names.bindings_of(target)) != 1:
                return False
            home = self.names.scope_of_name[target]
            calls = [m for m in self.names.mentions(target.id, home) if m is not target]
            shown = home.is_module and self._taken(target.id)
            return not shown and all(self._takes(one, known) for one in calls)
        if not isinstance(call, ast.Call):
            return False
        positional = [*call.args]
        if call.func is not node:
            if positional[:1] != [node] or not ast.unparse(call.func).endswith("partial"):
                return False
            positional = positional[1:]
        keywords = [keyword.arg for keyword in call.keywords]
        return (
            len(positional) <= known.positional
            and not any(isinstance(one, ast.Starred) for one in positional)
            and all(k is not None and k not in known.without for k in keywords)
            and all(k in known.only for k in keywords if known.only)
            and len({*positional, *(k for k in keywords if k != "name")}) >= known.required
            and (not known.attributes or self._asks_for(call, known.attributes))
            and (not known.literal or _is_given(call, known.literal))
        )

    def _asks_for(self, made: ast.Call, attributes: Sequence[str]) -> bool:
        """Whether nothing but some attributes is asked of an object."""
        parent = self.names.parents[made]
        mentions: list[ast.expr] = [made]
        if isinstance(parent, ast.Assign):
            (target, *others) = parent.targets
            if others or not isinstance(target, ast.Name):
                return False
            home = self.names.scope_of_name[target]
            mentions = [m for m in self.names.mentions(target.id, home) if m is not target]
        parents = [self.names.parents[mention] for mention in mentions]
        return all(isinstance(one, ast.Attribute) and one.attr in attributes for one in parents)

    def _trains_estimators(self) -> bool:
        """Whether strategies go to Estimators: for others, batches are of all replicas in TF2."""
        texts = [user.source.text for user in (self.module, *self.importers)]
        return any(map(_TO_ESTIMATORS.search, texts)) and not any(map(_BY_ITSELF.search, texts))

    def _holds_values(self, use: Use, new: NewName) -> bool:
        """Whether a mention of `HParams` needs no protocol buffer, and asks `isinstance` alone.

        Modules of different packages have files of their own, whose classes differ.
        """
        users = (self.module, *self.importers)
        if "." in new.path or any("to_proto" in user.names.attributes for user in users):
            return False
        parent = self.names.parents.get(use.node)
        if isinstance(parent, ast.Call) and parent.func is use.node:
            known = all(keyword.arg != "hparam_def" for keyword in parent.keywords)
            return new.path != "HParams" or (known and not parent.args)
        if isinstance(parent, ast.Call) and new.path == "HParams":
            asks = isinstance(parent.func, ast.Name) and parent.func.id == "isinstance"
            return asks and parent.args[1:] == [use.node]
        if isinstance(parent, ast.ClassDef):  # another base may have a metaclass of its own
            return parent.bases == [use.node] and not parent.keywords
        return isinstance(parent, ast.Assign) and parent.value is use.node

    def _beside(self, package: str) -> str | None:
        """By what name the module imports a written file: beside it or in its outermost package."""
        text, name = data_text(f"{package}.py"), imported_as(self.module, self.importers)
        if name is None and self.module.path.name == "__init__.py":
            if "." in self.module.name or names_own_package(self.module):
                return None
            name = f"{self.module.name}.__init__"  # of an outermost package: what lies in it
        # By several names, with a package and without: what lies beside it is found by one of two.
        depth = name.count(".") if name else 1
        if depth > len(self.module.path.parents):
            return None
        folder = self.module.path.parents[max(depth - 1, 0)]
        stem = free_name(folder, text, *WRITTEN[package])
        self.found.files[folder / f"{stem}.py"] = text
        self.found.names |= {READS[package]} if package in READS else set()
        if name is None:
            self.by_two_names.add(f".{stem}")
        elif depth and names_own_package(self.module):
            return f"{name.split('.')[0]}.{stem}"
        return "." * depth + stem

    def _draws(self, node: ast.AST) -> bool:
        """Whether an initializer is made with nothing that TensorFlow's own does not take."""
        call = self.names.parents.get(node)
        return (
            isinstance(call, ast.Call)
            and call.func is node
            and not call.args
            and all(keyword.arg in ("seed", "dtype") for keyword in call.keywords)
        )

    def _base(self, old: str, uses: list[Use]) -> NewName | None:
        """What a name may stand for so that all its mentions stay as they are."""
        bases: set[NewName] = set()
        for use in uses:
            new, rest = self.targets[use.node], use.symbol.name[len(old) :]
            if new is None or new.literal is not None or not new.path.endswith(rest.lstrip(".")):
                return None
            path = new.path[: len(new.path) - len(rest.lstrip("."))].rstrip(".")
            bases.add(NewName(new.package, path))
        return bases.pop() if len(bases) == 1 else None

    # -- imports ----------------------------------------------------------------

    def _import_statement(self, statement: ast.Import | ast.ImportFrom) -> bool:
        imports = self._import(statement)
        if imports is not None:
            self.instead[statement] = imports
            self.found.nodes.add(statement)
        return imports is not None

    def _import(self, statement: ast.Import | ast.ImportFrom) -> list[_Import] | None:
        if isinstance(statement, ast.Import) and (
            len(statement.names) > 1 or not statement.names[0].asname
        ):
            return None
        scope = self.names.scope_at(statement)
        kept: dict[str, _Import] = {}
        for alias in statement.names:
            local = alias.asname or alias.name
            home = self.names.defining_scope(local, scope)
            bindings = home.bindings.get(local, []) if home else []
            own = [b for b in bindings if b.node is statement]
            old = (own[0].qualname or "").removeprefix("tensorflow.") if own else ""
            if home is None or not old.startswith(("contrib", "compat.v1.contrib", "python.")):
                return None
            old = old.removeprefix("compat.v1.")
            uses = self.by_binding.get((home, local), [])
            base = self._base(old, uses) if len(bindings) == 1 else None
            later = any(self.later.get(use.node) for use in uses)
            if any(u.node not in self.found.nodes and not self.later.get(u.node) for u in uses):
                self.found.nodes.add(statement)  # what it is used for is told
                return None
            if later:
                continue
            if not uses and find(old) is not None:
                base = find(old)
            elif not uses and self.names.mentions(local, home):
                return None  # it means something else as well
            elif not uses:
                continue
            if base is not None and base.package in WRITTEN and base.path:
                for use in uses:
                    self.targets[use.node] = None  # stays as it is
                beside = self._beside(base.package)
                if beside is None:
                    return None
                if beside in self.by_two_names and not Layout(self.source, statement).owns_lines:
                    return None
                kept.setdefault(beside, _Import(beside)).names.append((base.path, local))
                continue
            if base is None or base.package not in PACKAGES:
                if home.is_module and self._taken(local):
                    return None
                same = base is not None and old.rpartition(".")[2] == base.package
                beside = self._beside(base.package) if base is not None and same else None
                if beside is not None and beside not in self.by_two_names:
                    for use in uses:
                        self.targets[use.node] = None  # stays as it is: the file is that module
                    folder, stem = _parted(beside)
                    kept.setdefault(folder, _Import(folder)).names.append((stem, local))
                continue
            for use in uses:
                self.targets[use.node] = None  # stays as it is
                self._needs(find(use.symbol.name))
            place = self._imported_from(base)
            if place is None:
                return None
            module, name = place
            kept.setdefault(module, _Import(module)).names.append((name, local))
            self._installs(base.package)
            if base.package != SLIM:
                continue
            self._loads(base, uses)
            if home.is_module and not base.path and statement in self.module.tree.body:
                self.slim = self.slim or local
        return list(kept.values())

    def _imported_from(self, base: NewName) -> tuple[str, str] | None:
        """From which module a package, or a name of it, is imported, and by which name there."""
        path = base.path
        if base.package != SLIM:
            parent, _, last = f"{base.package}.{path}".rstrip(".").rpartition(".")
            return parent, last
        if not path:
            return "", SLIM
        parent, _, last = path.rpartition(".")
        if not parent:
            return SLIM, last
        folder = module_file(parent)
        return None if folder is None else (f"{folder}.{parent}", last)

    def _taken(self, name: str) -> bool:
        """Whether another module may take a name from this one, which goes."""
        if self.module.path.name == "__init__.py":
            return True
        return any(takes(other, self.module, name, by_star=False) for other in self.importers)

    # -- `slim = tf.contrib.slim` ---------------------------------------------------

    def _alias_statement(self, home: Scope, local: str) -> bool:
        """`slim = tf.contrib.slim`: whether it and what is made of it can be written."""
        bindings, uses = home.bindings[local], self.by_binding[home, local]
        value = bindings[0].value
        made = next((use for use in self.mentions if use.node is value), None)
        statement = self.names.parents.get(value) if value is not None else None
        if len(bindings) != 1 or made is None or not isinstance(statement, ast.Assign):
            return True
        if any(use.node not in self.found.nodes for use in uses):
            self.found.nodes.add(made.node)  # what it is used for is told
            return False
        if len(statement.targets) > 1:
            return False
        base = self._base(made.symbol.name, uses)
        if base is None or (base.package not in (SLIM, "tensorflow") and not base.path):
            if home.is_module and self._taken(local):
                return False
            self._drop(statement, made)
            return True
        for use in uses:
            self._needs(find(use.symbol.name))
            self.targets[use.node] = None  # stays as it is
        self.found.nodes.add(made.node)
        if base != NewName(SLIM):
            # Where it has a name and none is left to write, what it is read from is written.
            if self.targets[made.node] is not None or find(made.symbol.name) is None:
                self.targets[made.node] = base
            return True
        self.found.packages.add(PACKAGES[SLIM])
        self._loads(base, uses)
        package = _Import("", [(SLIM, local)])
        if home.is_module and statement in self.module.tree.body:
            self.slim = self.slim or local
            self.added.append(package)
            self._drop(statement, made)
        else:
            self._drop(statement, made, package)
        return True

    def _unused_alias(self, use: Use) -> bool:
        """`slim = tf.contrib.slim` that nothing here uses, and perhaps another module."""
        statement = self.names.parents.get(use.node)
        if statement not in self.module.tree.body:
            return False
        if not isinstance(statement, ast.Assign) or statement.value is not use.node:
            return False
        (target, *others) = statement.targets
        if others or not isinstance(target, ast.Name):
            return False
        if len(self.names.mentions(target.id, self.names.module_scope)) > 1:
            return False
        if use.symbol.name != "contrib.slim":
            if not is_room(use.symbol.name) or self._taken(target.id):
                return False  # no module of contrib, or another one has it from here
            self._drop(statement, use)
            return True
        self._drop(statement, use, _Import("", [(SLIM, target.id)]))
        self.found.packages.add(PACKAGES[SLIM])
        return True

    def _drop(self, statement: ast.stmt, use: Use, *instead: _Import) -> None:
        self.instead[statement] = [*instead]
        self.found.nodes.add(use.node)
        self.targets[use.node] = None

    # -- the edits ------------------------------------------------------------------

    def _loads(self, base: NewName, uses: list[Use]) -> None:
        """The package's networks are no attribute of it before they are imported."""
        found = [find(use.symbol.name) for use in uses]
        networks = f"{SLIM}.nets"
        if not base.path and any(new and new.path.startswith("nets.") for new in found):
            self._add("", networks, networks)

    def _needs(self, new: NewName | None) -> None:
        if new is None:
            return
        if new.package == "tensorflow":
            self.found.names.add(new.path)
        elif new.package in PACKAGES:
            self._installs(new.package)
            self.mended += MENDS.get(new.path, ())
            for name, mends in MENDS_IF.get(new.path, {}).items():
                if name in self.module.source.text:
                    self.mended += mends

    def _installs(self, package: str) -> None:
        if PACKAGES[package]:
            self.found.packages.add(PACKAGES[package])
        if package == TPU_ESTIMATOR:
            self.found.names.add("estimator.tpu.TPUEstimator")  # no later TensorFlow has it

    def _mention(self, use: Use) -> None:
        new = self.targets[use.node]
        if new is None:
            return
        self._needs(new)
        if new.literal is not None:
            text = style_at(self.module, use.node).string(new.literal)
        elif new.package == SLIM:
            self._loads(NewName(SLIM), [use])
            text = f"{self._slim_name()}.{new.path}"
        elif new.package in WRITTEN:
            text = self._written_name(new)
        elif new.package in PACKAGES:
            text = self._module_name(new)
        else:
            text = self._tensorflow(use.node, new.path)
        self.found.edits.append(Edit(*self.source.span(use.node), text))

    def _written_name(self, new: NewName) -> str:
        """The module's name for something of a file beside it."""
        path, dot, rest = new.path.partition(".")
        key = f"{new.package}.{path}"
        if key not in self.written:
            taken = {path} & {*self.written.values()}  # two files have something of this name
            known = f"{new.package}_{path}" if taken else path
            name = self.names.fresh(self.names.module_scope, known, f"tf1_{known}")
            self.written[key] = name
            beside = self._beside(new.package)
            assert beside is not None  # or it would not have been found
            self._add(beside, path, name)
        return f"{self.written[key]}{dot}{rest}"

    def _add(self, module: str, name: str, local: str) -> None:
        """A new import, with those of other names from the same module."""
        one = (name, local)
        same = next((new for new in self.added if module and new.module == module), None)
        if same is not None:
            same.names.append(one)
        elif not any(one in new.names for new in self.added if new.module == module):
            self.added.append(_Import(module, [one]))

    def _module_name(self, new: NewName) -> str:
        """A name of a package's module, which the module imports from now on."""
        folder, _, last = new.package.rpartition(".")
        if new.package not in self.written:
            name = self.names.fresh(self.names.module_scope, last, f"tf1_{last}")
            self.written[new.package] = name
            self._add(folder, last, name)
        return f"{self.written[new.package]}.{new.path}"

    def _slim_name(self) -> str:
        if not self.slim:
            for name, bindings in self.names.module_scope.bindings.items():
                if any(b.qualname == SLIM for b in bindings):
                    self.slim = name
        if not self.slim:
            self.slim = self.names.fresh(self.names.module_scope, "slim", "tf_slim")
            self._add("", SLIM, self.slim)
        return self.slim

    def _tensorflow(self, node: ast.AST, path: str) -> str:
        name = spelling(self.module, node)
        if name is None:
            name = "tf"
            tensorflow = _Import("", [("tensorflow.compat.v1", name)])
            if tensorflow not in self.added:
                self.added.insert(0, tensorflow)
            return f"{name}.{path}"
        same = table().status(path) in ("neutral", "v2_shared") or swaps(self.module)
        roots = self.names.roots(name, self.names.scope_at(node))
        v1 = "" if same or "tensorflow.compat.v1" in roots else "compat.v1."
        return f"{name}.{v1}{path}"

    def _mend(self) -> None:
        """Lines that give tf-slim what it looks for, below the imports of both packages."""
        if not self.mended:
            return
        slim = self._slim_name()
        tf = self._tensorflow(self.module.tree, "x").rpartition(".")[0]
        lines = [line.format(slim=slim, tf=tf) for line in dict.fromkeys(self.mended)]
        self.found.names.update(
            "layers.BatchNormalization" for line in lines if "BatchNormalization" in line
        )
        self.mends = [_COMMENT, *lines]

    def _place(self) -> None:
        body = self.module.tree.body
        roots: list[ast.stmt] = [
            statement
            for statement in self.module.tensorflow_imports
            if statement in body
            and isinstance(statement, ast.Import)
            and any(alias.name in ROOTS for alias in statement.names)
        ]
        bound = (b for found in self.names.module_scope.bindings.values() for b in found)
        roots = roots or [s for b in bound if b.qualname in ROOTS for s in body if s is b.node]
        imports = [
            s
            for s in body
            if isinstance(s, ast.Import)
            or (isinstance(s, ast.ImportFrom) and s.module != "__future__")
        ]
        last = roots[0] if roots else None
        package = (SLIM, self.slim)
        kept = [
            statement
            for statement, new in self.instead.items()
            if statement in body and any(package in one.names for one in new)
        ]
        # The author's own import of the package, where there is one.
        slims = self.names.module_scope.bindings.get(self.slim, ())
        own = [s for b in slims if b.qualname == SLIM for s in body if s is b.node]
        written = {statement: self._lines(new) for statement, new in self.instead.items()}
        lines = self._lines(self.added)
        if kept and last is not None and kept[0].lineno > last.lineno:
            written[kept[0]] += self.mends  # below the import of the package
        elif self.mends and own and last is not None and own[0].lineno > last.lineno:
            self.found.edits.append(Layout(self.source, own[0]).insert_after(self.mends))
        else:
            lines += self.mends
        if lines:
            place = last or (kept or imports or body)[0]
            layout = Layout(self.source, place)
            if place in written:
                written[place] += lines
            elif last is None:
                self.found.edits.append(layout.insert_before(lines))
            else:
                self.found.edits.append(layout.insert_after(lines))
        for statement, new in written.items():
            self.found.edits.append(self._replaced(statement, new))

    def _lines(self, imports: Sequence[_Import]) -> list[str]:
        """Imports; those of files beside a module work with a package and without."""
        found = []
        for one in imports:
            if one.module not in self.by_two_names:
                found.append(one.text)
                continue
            inner = self.source.indent_unit
            plain = _Import(one.module[1:], one.names)
            handler = "except ImportError:  # without its package"
            found += ["try:", inner + one.text, handler, inner + plain.text]
        return found

    def _replaced(self, statement: ast.stmt, lines: list[str]) -> Edit:
        layout = Layout(self.source, statement)
        parent = self.names.parents[statement]
        alone = not isinstance(parent, ast.Module) and getattr(parent, "body", ()) == [statement]
        if not layout.owns_lines:
            return Edit(layout.start, layout.end, "; ".join(lines) or "pass")
        if layout.trailing_comment and lines:
            lines = [f"{lines[0]}  {layout.trailing_comment}", *lines[1:]]
        return layout.replace(lines or (["pass"] if alone else []))


def _is_given(call: ast.Call, text: str) -> bool:
    """Whether a call is given one text alone."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [constant(one) for one in given] == [text]


REWRITER = NamesRewriter(RULE, CASES, plan)
