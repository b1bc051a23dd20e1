"""Makes ``contrib/*.txt``: definitions of ``tf.contrib`` that TF2 has nowhere, by public names.

``contrib_copies.json`` says which name is in which. Each is a module with all that some names of
TF 1.15 need: TF 1.15's own code, whose private imports became names of ``tensorflow.compat.v1``
that are the same objects in TF 1.15; docstrings are cut to their first paragraph. What has no
public name is copied along, and asks for more: ask and answer until nothing new is asked. Run::

    python generate_contrib_copies.py ask SITE-PACKAGES-OF-1.15 a.json [b.json]
    tf1.15 python generate_contrib_copies.py answer a.json b.json
    python generate_contrib_copies.py write SITE-PACKAGES-OF-1.15 b.json
"""

# mypy: ignore-errors
# A script of a maintainer; what nodes of ast have, their kind says, not their type.
from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import itertools
import json
import re
import subprocess
import sys
import types
from pathlib import Path

CONTRIB = "tensorflow.contrib."
PYTHON = "tensorflow.python."
HERE = Path(__file__).parent

# Modules that are written: the files that they are taken from, and the names that are wanted.
MODULES = {
    "sequence_loss": (("seq2seq.python.ops.loss",), ("sequence_loss",)),
    "seq2seq": (
        (
            "seq2seq.python.ops.decoder", "seq2seq.python.ops.helper",
            "seq2seq.python.ops.basic_decoder", "seq2seq.python.ops.attention_wrapper",
            "seq2seq.python.ops.beam_search_decoder",
        ),
        (
            "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState",
            "BahdanauAttention", "BahdanauMonotonicAttention", "BasicDecoder",
            "BasicDecoderOutput", "BeamSearchDecoder", "BeamSearchDecoderOutput",
            "BeamSearchDecoderState", "CustomHelper", "Decoder", "FinalBeamSearchDecoderOutput",
            "GreedyEmbeddingHelper", "Helper", "InferenceHelper", "LuongAttention",
            "LuongMonotonicAttention", "SampleEmbeddingHelper",
            "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "TrainingHelper",
            "dynamic_decode", "gather_tree", "gather_tree_from_array", "hardmax",
            "monotonic_attention", "safe_cumprod", "tile_batch", "_transpose_batch_time",
        ),
    ),
    "legacy_sequence_loss": (
        ("legacy_seq2seq.python.ops.seq2seq",),
        ("sequence_loss", "sequence_loss_by_example"),
    ),
    "legacy_rnn_decoder": (("legacy_seq2seq.python.ops.seq2seq",), ("rnn_decoder",)),
    "legacy_seq2seq": (
        ("rnn.python.ops.core_rnn_cell", "legacy_seq2seq.python.ops.seq2seq"),
        (
            "attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder",
            "embedding_attention_seq2seq", "embedding_rnn_decoder", "embedding_rnn_seq2seq",
            "embedding_tied_rnn_seq2seq", "model_with_buckets", "tied_rnn_seq2seq",
        ),
    ),
    "crf": (
        ("crf.python.ops.crf",),
        (
            "crf_binary_score", "crf_decode", "crf_log_likelihood", "crf_log_norm",
            "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score",
        ),
    ),
    "weight_decay_optimizers": (
        ("opt.python.training.weight_decay_optimizers",),
        (
            "AdamWOptimizer", "DecoupledWeightDecayExtension", "MomentumWOptimizer",
            "extend_with_decoupled_weight_decay",
        ),
    ),
    "lazy_adam": (("opt.python.training.lazy_adam_optimizer",), ("LazyAdamOptimizer",)),
    "scipy_optimizer": (
        ("opt.python.training.external_optimizer",),
        ("ExternalOptimizerInterface", "ScipyOptimizerInterface"),
    ),
    "layer_norm_lstm": (("rnn.python.ops.rnn_cell",), ("LayerNormBasicLSTMCell",)),
    "nas_cell": (("rnn.python.ops.rnn_cell",), ("NASCell",)),
    "attention_cell": (
        ("rnn.python.ops.core_rnn_cell", "rnn.python.ops.rnn_cell"), ("AttentionCellWrapper",),
    ),
    "highway_wrapper": (("rnn.python.ops.rnn_cell",), ("HighwayWrapper",)),
    "coupled_lstm": (("rnn.python.ops.rnn_cell",), ("CoupledInputForgetGateLSTMCell",)),
    "conv_lstm": (
        ("rnn.python.ops.rnn_cell",),
        ("Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell"),
    ),
    "ugrnn": (
        ("rnn.python.ops.core_rnn_cell", "rnn.python.ops.rnn_cell"),
        ("IntersectionRNNCell", "UGRNNCell"),
    ),
    "ind_rnn": (
        ("rnn.python.ops.rnn_cell",), ("IndRNNCell", "IndyGRUCell", "IndyLSTMCell"),
    ),
    "rnn_projections": (
        ("rnn.python.ops.core_rnn_cell",),
        ("EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper", "_Linear"),
    ),
    "stacked_rnn": (
        ("rnn.python.ops.rnn",),
        ("stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn"),
    ),
    "dense_image_warp": (
        ("image.python.ops.dense_image_warp",), ("dense_image_warp",),
    ),
    "cudnn_compatible": (
        ("cudnn_rnn.python.ops.cudnn_rnn_ops",),
        ("CudnnCompatibleGRUCell",),
    ),
}  # fmt: skip

# Private modules whose functions are copied along.
COPIED = (
    "tensorflow.contrib.", "tensorflow.python.ops.rnn_cell_impl", "tensorflow.python.ops.rnn",
    "tensorflow.python.ops.metrics_impl", "tensorflow.python.ops.control_flow_util",
)  # fmt: skip
# What identity does not find: the public form, whatever TF 1.15 has there.
CHOSEN = {
    "tensorflow.python.util.nest.is_sequence": "nest.is_nested",
    "tensorflow.python.ops.nn_ops.bias_add": "nn.bias_add",
    "tensorflow.python.framework.ops.internal_convert_to_tensor": "convert_to_tensor",
    "tensorflow.python.layers.core.Dense": "layers.Dense",
    "tensorflow.python.platform.tf_logging": "logging",
    "tensorflow.python.eager.context.executing_eagerly": "executing_eagerly",
    "tensorflow.python.eager.context.in_eager_mode": "executing_eagerly",
    "tensorflow.python.framework.constant_op.constant": "constant",
    "tensorflow.python.framework.tensor_shape.as_shape": "TensorShape",
    "tensorflow.python.framework.tensor_util.is_tensor": "is_tensor",
    "tensorflow.python.keras.layers.Layer": "keras.layers.Layer",
    "tensorflow.python.ops.array_ops.constant": "constant",
    "tensorflow.python.ops.gen_array_ops.fill": "fill",
    "tensorflow.python.ops.gen_array_ops.gather_nd": "gather_nd",
    "tensorflow.python.ops.gen_array_ops.reverse_sequence": "reverse_sequence",
    "tensorflow.python.ops.nn.batch_normalization": "nn.batch_normalization",
    "tensorflow.python.ops.nn_ops.conv3d": "nn.conv3d",
    "tensorflow.contrib.layers.python.layers.layers.layer_norm": "slim.layer_norm",
    **{
        f"tensorflow.python.ops.math_ops.reduce_{one}": f"reduce_{one}"
        for one in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
    },
}
# Written by hand: kernels that only tf.contrib had.
BY_HAND = {
    "gather_tree": '''
def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token):
    """The full beams from the ids and the parents of each step; shapes [time, batch, beam]."""
    step_ids = tf.convert_to_tensor(step_ids)
    time, batch, width = tf.unstack(tf.shape(step_ids))
    lengths = tf.minimum(max_sequence_lengths, time)
    beams = tf.tile(tf.range(width)[tf.newaxis, :], [batch, 1])
    ends = tf.fill([batch, width], end_token)

    def back(last, now):
        step, ids, parents = now
        parent = tf.where(tf.equal(lengths, step + 1), beams, last[1])
        inside = tf.tile(tf.less(step, lengths)[:, tf.newaxis], [1, width])
        taken = tf.where(inside, tf.gather(ids, parent, batch_dims=1), ends)
        return taken, tf.where(inside, tf.gather(parents, parent, batch_dims=1), beams)

    steps = (tf.range(time), step_ids, parent_ids)
    found, _ = tf.scan(back, steps, initializer=(ends, beams), reverse=True)
    ended = tf.cumsum(tf.cast(tf.equal(found, end_token), tf.int32), exclusive=True)
    return tf.where(tf.greater(ended, 0), tf.fill(tf.shape(found), end_token), found)
''',
    "smart_cond": '''
def smart_cond(pred, true_fn, false_fn, name=None):
    """One of two functions now where the predicate is known, a `tf.cond` otherwise."""
    known = tf.get_static_value(pred) if isinstance(pred, tf.Tensor) else bool(pred)
    if known is None:
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()
''',
    **{
        f"resource_scatter_{what}": f"""
def resource_scatter_{what}(resource, indices, updates):
    return tf.raw_ops.ResourceScatter{what.title()}(
        resource=resource, indices=indices, updates=updates
    )
"""
        for what in ("add", "sub", "update")
    },
}
# Text of TF 1.15's that NumPy 2 does not know, and about what is not taken: layers of Keras.
CHANGED = (
    ("np.Inf", "np.inf"),
    ("    def with_same_shape(old, new):\n", "    def same_shape(old, new):\n"),
    ("        with_same_shape, self,\n", "        same_shape, self,\n"),
    ("isinstance(decoder, (Decoder, BaseDecoder))", "isinstance(decoder, Decoder)"),
    (
        """  if isinstance(attention_mechanism, _BaseAttentionMechanismV2):
    alignments, next_attention_state = attention_mechanism(
        [cell_output, attention_state])
  else:
    # For other class, assume they are following _BaseAttentionMechanism, which
    # takes query and state as separate parameter.
    alignments, next_attention_state = attention_mechanism(
        cell_output, state=attention_state)
""",
        """  alignments, next_attention_state = attention_mechanism(
      cell_output, state=attention_state)
""",
    ),
)
_DROPPED = ("tf_export", "keras_export", "deprecation.", "deprecated", "doc_controls.")
HEADER = '''"""{title}.

From TensorFlow 1.15, Copyright The TensorFlow Authors, Apache License 2.0
(https://www.apache.org/licenses/LICENSE-2.0), by names that TensorFlow 2 has.
"""
'''


class File:
    """A source file of TF 1.15's: its definitions, and what its names mean."""

    def __init__(self, root: Path, module: str) -> None:
        path = root / (module.replace("tensorflow.", "tensorflow_core.", 1).replace(".", "/"))
        self.module = module
        self.text = path.with_suffix(".py").read_text("utf-8")
        for old, new in CHANGED:
            self.text = self.text.replace(old, new)
        lengths = (len(one) + 1 for one in self.text.split("\n"))
        self.starts = [0, *itertools.accumulate(lengths)]
        self.tree = ast.parse(self.text)
        self.definitions: dict[str, ast.stmt] = {}
        self.imports: dict[str, str] = {}
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.definitions[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.definitions[node.targets[0].id] = node
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = alias.name
            elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )


def local_names(node: ast.AST) -> set[str]:
    found = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    found |= {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    found |= {n.name for n in ast.walk(node) if isinstance(n, ast.ExceptHandler) and n.name}
    for one in ast.walk(node):
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name.split(".")[0] for alias in one.names}
    inner = (n for n in ast.walk(node) if n is not node)
    return found | {n.name for n in inner if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


class Copy:
    """One module that is written."""

    def __init__(self, name: str, root: Path, public: dict[str, str | None] | None) -> None:
        self.name, self.root, self.public = name, root, public
        sources, self.wanted = MODULES[name]
        self.files = [File(root, CONTRIB + one) for one in sources]
        self.by_module = {one.module: one for one in self.files}
        self.asked: set[str] = set()
        self.edits: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
        self.std: set[str] = set()
        self.by_hand: set[str] = set()
        self.problems: list[str] = []
        for name in self.wanted:
            if name in BY_HAND:
                self.by_hand.add(name)
            else:
                files = [one for one in self.files if name in one.definitions]
                if files:
                    self.take(files[0], name)
                else:
                    self.problems.append(f"no {name}")

    def take(self, file: File, name: str) -> None:
        """A definition and all that it needs."""
        if (file.module, name) in self.edits:
            return
        edits = self.edits[file.module, name] = []
        node = file.definitions[name]
        parents = {c: p for p in ast.walk(node) for c in ast.iter_child_nodes(p)}
        inside = local_names(node)
        for child in ast.walk(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                self.decorators(file, child, edits)
                self.docstring(file, child, edits)
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                if any(s <= file.span(child)[0] < e for s, e, _ in edits):
                    continue
                self.name_read(file, child, parents, inside, edits)

    def decorators(self, file: File, node: ast.AST, edits: list) -> None:
        for decorator in node.decorator_list:
            text = ast.unparse(decorator)
            start, end = file.span(decorator)
            start = file.text.rindex("@", 0, start)
            if text == "six.add_metaclass(abc.ABCMeta)":
                edits.append((start, file.text.index("class", end), ""))
                head = file.offset(node.lineno, node.col_offset)
                old = f"class {node.name}(object)"
                assert file.text[head:].startswith(old)
                edits.append((head, head + len(old), f"class {node.name}(metaclass=abc.ABCMeta)"))
                self.std.add("import abc")
            elif text.startswith(_DROPPED):
                line_end = file.text.index("\n", end) + 1
                edits.append((file.text.rindex("\n", 0, start) + 1, line_end, ""))

    def docstring(self, file: File, node: ast.AST, edits: list) -> None:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            if isinstance(first.value.value, str):
                text = first.value.value.strip().split("\n\n")[0]
                text = re.sub(r"\s+", " ", text).replace("\\", "\\\\")
                indent = " " * first.col_offset
                edits.append((*file.span(first), f'"""{wrapped(text, indent)}"""'))

    def name_read(self, file, node, parents, inside, edits) -> None:
        name = node.id
        if name in inside:
            return
        if name in file.imports:
            path, outer = file.imports[name], node
            chain = [outer]
            while isinstance(parents.get(outer), ast.Attribute):
                outer = parents[outer]
                chain.append(outer)
            if path.startswith("tensorflow."):
                self.tensorflow(file, path, chain, edits)
            elif path.startswith("six"):
                full = ast.unparse(chain[-1])
                new = {
                    "xrange": "range",
                    "six.moves.xrange": "range",
                    "zip": "zip",
                    "six.string_types": "str",
                    "six.text_type": "str",
                    "map": "map",
                    "six.iteritems": None,
                }.get(full)
                if new is None and full != "six.add_metaclass":
                    self.problems.append(f"{file.module}: {full}")
                elif new is not None:
                    edits.append((*file.span(chain[-1]), new))
            else:
                as_name = "" if path == name else f" as {name}"
                if "." in path and not path.startswith("numpy"):
                    base, _, last = path.rpartition(".")
                    self.std.add(f"from {base} import {last}" + ("" if last == name else as_name))
                else:
                    self.std.add(f"import {path}{as_name}")
        elif name in file.definitions:
            full = f"{file.module}.{name}"
            self.asked.add(full)
            public = (self.public or {}).get(full) if file.module.startswith(PYTHON) else None
            if public:
                edits.append((*file.span(node), f"tf.{public}"))
            else:
                self.take(file, name)
        elif not hasattr(builtins, name) and name not in inside:
            self.problems.append(f"{file.module}: {name}")

    def tensorflow(self, file: File, path: str, chain: list, edits: list) -> None:
        """A name of TensorFlow's own: public, of the same module, or copied along."""
        full = path
        for index, node in enumerate(chain):
            full = path if index == 0 else f"{full}.{node.attr}"
            owner, _, last = full.rpartition(".")
            if last in BY_HAND and full not in CHOSEN:
                edits.append((*file.span(node), last))
                self.by_hand.add(last)
                return
            is_public = owner.startswith(PYTHON) and (self.public or {}).get(full)
            is_taken = owner in self.by_module and last in self.by_module[owner].definitions
            if is_taken and not is_public:
                edits.append((*file.span(node), last))
                self.take(self.by_module[owner], last)
                return
            self.asked.add(full)
            if self.public is None:
                continue
            public = CHOSEN.get(full) or self.public.get(full)
            if public:
                is_slim = public.startswith("slim.")
                if is_slim:
                    self.std.add("import tf_slim as slim")
                edits.append((*file.span(node), public if is_slim else f"tf.{public}"))
                return
        if self.public is None:
            return
        for index in range(1, len(chain)):
            owner = path + "".join(f".{one.attr}" for one in chain[1:index])
            last = chain[index].attr
            if not owner.startswith(COPIED):
                continue
            try:
                other = self.by_module.get(owner) or File(self.root, owner)
            except (FileNotFoundError, NotADirectoryError):
                continue
            if last in other.definitions:
                self.by_module[owner] = other
                if other not in self.files:
                    self.files.insert(0, other)
                edits.append((*file.span(chain[index]), last))
                self.take(other, last)
                return
        self.problems.append(f"{file.module}: {full}")

    def write(self) -> str:
        taken: dict[str, str] = {}
        parts: dict[str, str] = {}
        for file in self.files:
            names = [name for name in file.definitions if (file.module, name) in self.edits]
            for name in names:
                if self.text_of(file, name) == f"{name} = {name}":
                    continue
                assert name not in taken, (self.name, name, taken[name], file.module)
                taken[name] = file.module
                parts[name] = self.text_of(file, name)
        parts.update((name, BY_HAND[name].strip("\n")) for name in sorted(self.by_hand))
        body = "\n\n\n".join(in_order(parts))
        head = HEADER.format(title=f"{', '.join(titles(self.wanted))}, as tf.contrib had it")
        imports = sorted(self.std)
        text = head + "\n" + "".join(f"{one}\n" for one in imports)
        text += ("\n" if imports else "") + "import tensorflow.compat.v1 as tf\n\n\n" + body + "\n"
        shaped = subprocess.run(
            [Path(sys.executable).parent / "ruff", "format", "--line-length", "100", "-"],
            input=text, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return shaped.stdout

    def text_of(self, file: File, name: str) -> str:
        node = file.definitions[name]
        start, end = file.span(node)
        decorators = getattr(node, "decorator_list", ())
        if decorators:
            start = min(file.text.rindex("@", 0, file.span(d)[0]) for d in decorators)
        text = file.text
        for first, last, new in sorted(self.edits[file.module, name], reverse=True):
            text = text[:first] + new + text[last:]
            end += len(new) - (last - first)
        return text[start:end].strip("\n")


def in_order(parts: dict[str, str]) -> list[str]:
    """The definitions, each behind those that it needs when it is made: bases, values."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        if name in found or name not in parts:
            return
        made = ast.parse(parts[name]).body[0]
        inner = {
            id(below)
            for node in ast.walk(made)
            if isinstance(node, (ast.FunctionDef, ast.Lambda))
            for line in (node.body if isinstance(node.body, list) else [node.body])
            for below in ast.walk(line)
        }
        for node in ast.walk(made):
            if isinstance(node, ast.Name) and id(node) not in inner and node.id != name:
                add(node.id)
        found[name] = parts[name]

    for name in parts:
        add(name)
    return list(found.values())


def titles(names: tuple[str, ...]) -> list[str]:
    public = [name for name in names if not name.startswith("_")]
    return public if len(public) < 4 else [*public[:3], "..."]


def wrapped(text: str, indent: str) -> str:
    lines, line = [], ""
    for word in text.split():
        if len(indent) * 2 + len(line) + len(word) > 88:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return f"\n{indent}".join([*lines, line]) + (f"\n{indent}" if lines else "")


def ask(root: str, target: str, known: str = "") -> None:
    """The names to ask for; again with the answers, for what is copied along asks more."""
    asked: set[str] = set()
    public = json.loads(Path(known).read_text("utf-8")) if known else None
    for name in MODULES:
        asked |= Copy(name, Path(root), public).asked
    Path(target).write_text(json.dumps(sorted(asked)), "utf-8")


def unwrapped(value):
    return inspect.unwrap(value) if callable(value) else value


def rank(name: str) -> tuple[bool, bool, int, str]:
    """The shortest first, but for what may go or is Keras's."""
    return "experimental" in name, "keras" in name, len(name), name


def answer(source: str, target: str) -> None:
    """In TF 1.15: the shortest public name of each object."""
    tf = importlib.import_module("tensorflow")
    public: dict[int, list[str]] = {}

    def walk(module, prefix, depth):
        for name in sorted(dir(module)):
            if name.startswith("_") or (depth == 0 and name in ("contrib", "compat", "python")):
                continue
            try:
                value = getattr(module, name)
            except Exception:
                continue
            if isinstance(value, types.ModuleType):
                if depth < 3 and "._api." in value.__name__:
                    walk(value, prefix + name + ".", depth + 1)
            elif callable(value) or type(value).__name__ == "DType":
                for one in {id(value), id(unwrapped(value))}:
                    public.setdefault(one, []).append(prefix + name)

    walk(tf, "", 0)
    found = {}
    for full in json.loads(Path(source).read_text("utf-8")):
        if full in CHOSEN:
            found[full] = CHOSEN[full]
            continue
        parts, value = full.split("."), None
        for cut in range(len(parts), 0, -1):
            try:
                value = importlib.import_module(".".join(parts[:cut]))
                for part in parts[cut:]:
                    value = getattr(value, part)
                break
            except Exception:
                value = None
        if value is None or isinstance(value, types.ModuleType):
            found[full] = None
            continue
        names = public.get(id(value)) or public.get(id(unwrapped(value))) or [None]
        found[full] = min(names, key=rank) if names[0] else None
    Path(target).write_text(json.dumps(found, indent=1), "utf-8")


def write(root: str, source: str) -> None:
    public = json.loads(Path(source).read_text("utf-8"))
    unknown: set[str] = set()
    for name in MODULES:
        copy = Copy(name, Path(root), public)
        unknown |= copy.asked - public.keys()
        for problem in copy.problems:
            print(name, problem)
        (HERE / "contrib" / f"{name}.txt").write_text(copy.write(), "utf-8")
    index = {
        f"contrib.{sources[-1].partition('.')[0]}.{one}": name
        for name, (sources, names) in MODULES.items()
        for one in names
    }
    (HERE / "contrib_copies.json").write_text(json.dumps(index, indent=1) + "\n", "utf-8")
    if unknown:
        print("ask for these as well:", json.dumps(sorted(unknown)))


if __name__ == "__main__":
    {"ask": ask, "answer": answer, "write": write}[sys.argv[1]](*sys.argv[2:])
