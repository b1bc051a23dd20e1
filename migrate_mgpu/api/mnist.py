"""MNIST as TF1 loads it (`load_dataset`, `input_data.read_data_sets`), from Keras's own arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_NAMED = ("contrib.learn.datasets.load_dataset",)
_TUTORIAL = (  # takes a folder first, and by default what the others do
    "examples.tutorials.mnist.input_data.read_data_sets",
)
_LOADERS = (*_NAMED, *_TUTORIAL, "contrib.learn.datasets.mnist.load_mnist")
# TF1 keeps the first 5,000 images of the 60,000 for a validation.
_PARTS = {"train": ("train", "[5000:]"), "validation": ("train", "[:5000]"), "test": ("test", "")}


@record(frozen=True)
class MnistLoad:
    """`mnist = input_data.read_data_sets(...)`: the variable, its home and its other mentions.

    ``imported`` is the import of the tutorial's module, which goes with it. ``one_hot``: the
    labels are rows of ten numbers.
    """

    module: Module
    call: ast.Call
    statement: ast.Assign
    name: str
    home: Scope
    mentions: tuple[ast.Name, ...]
    imported: ast.ImportFrom | None = None
    one_hot: bool = False


def mnist_load(module: Module, node: ast.AST) -> MnistLoad | None:
    """The load of MNIST that a name of TF1's stands in; None where it is none."""
    name = tensorflow_name(module, node)
    if name not in _LOADERS:
        return None
    names = module.names
    call = names.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or not _is_mnist(call, name):
        return None
    statement = names.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or len(statement.targets) > 1:
        return None
    home = names.defining_scope(target.id, names.scope_of_name[target])
    if home is None or len(home.bindings[target.id]) != 1:
        return None
    imported = _import(module, node) if name in _TUTORIAL else None
    if name in _TUTORIAL and imported is None:
        return None
    mentions = tuple(m for m in names.mentions(target.id, home) if m is not target)
    one_hot = any(k.arg == "one_hot" and constant(k.value) is True for k in call.keywords)
    return MnistLoad(module, call, statement, target.id, home, mentions, imported, one_hot)


def is_mnist_batch(module: Module, node: ast.expr) -> bool:
    """Whether it is `mnist.train.next_batch(8)`, of what the tutorial reads: images and labels."""
    func = node.func if isinstance(node, ast.Call) else None
    part = func.value if isinstance(func, ast.Attribute) and func.attr == "next_batch" else None
    mnist = part.value if isinstance(part, ast.Attribute) and part.attr in _PARTS else None
    made = module.names.only_value(mnist) if isinstance(mnist, ast.Name) else None
    return isinstance(made, ast.Call) and tensorflow_name(module, made.func) in _TUTORIAL


def is_read_by_object(module: Module) -> bool:
    """Whether a module draws batches of MNIST, or gives a part of it on, not its arrays alone."""
    if "next_batch" in module.names.attributes:
        return True
    parents = module.names.parents
    for call in module.names.calls:
        load = mnist_load(module, call.func)
        for part in (parents[one] for one in load.mentions) if load is not None else ():
            if isinstance(part, ast.Attribute) and part.attr in _PARTS:
                if isinstance(parents[part], (ast.Call, ast.keyword)):
                    return True
    return False


def tutorial_calls(module: Module, nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """The calls among some nodes of the tutorial's module, which is written beside the program."""
    for call in (part for one in nodes for part in walk(one) if isinstance(part, ast.Call)):
        if tensorflow_name(module, call.func) in _TUTORIAL:
            yield call


def mnist_edits(module: Module, node: ast.AST, style: FileStyle) -> list[Edit] | None:
    """The edits of a load of MNIST; None where it is none, or more is done with it.

    ``mnist.train.images`` are rows of 784 float32 in [0, 1] in TF1, labels are uint8:
    `load_data` of Keras gives both as uint8, images as (count, 28, 28).
    """
    load = mnist_load(module, node)
    if load is None or load.one_hot:
        return None
    names, source = module.names, module.source
    fresh = {
        part: names.fresh(load.home, f"{load.name}_{part}", f"{part}_set")
        for part in ("train", "test")
    }
    keras, edits = f"{style.tensorflow}.keras.datasets.mnist", []
    if load.imported is not None:
        keras = names.fresh(names.module_scope, "mnist_data", "keras_mnist")
        edits.append(import_edit(load, keras))
    loaded = f"{fresh['train']}, {fresh['test']} = {keras}.load_data()"
    edits.append(Edit(*source.span(load.statement), loaded))
    for mention in load.mentions:
        part = names.parents[mention]
        value = names.parents[part]
        if not (isinstance(part, ast.Attribute) and isinstance(value, ast.Attribute)):
            return None
        if part.attr not in _PARTS or value.attr not in ("images", "labels"):
            return None
        if is_written_anew(module, value):
            return None
        whole, rows = _PARTS[part.attr]
        text = f"{fresh[whole]}[{int(value.attr == 'labels')}]{rows}"
        if value.attr == "images":
            text += pixels(style)
            outer = names.parents[value]
            if not isinstance(outer, (ast.Assign, ast.Call, ast.keyword, ast.Dict, ast.Tuple)):
                text = f"({text})"
            elif isinstance(outer, ast.Call) and outer.func is value:
                return None
        edits.append(Edit(*source.span(value), text))
    return edits


def import_edit(load: MnistLoad, name: str) -> Edit:
    """The import of the tutorial's module becomes that of Keras's, by a name."""
    assert load.imported is not None
    text = "from tensorflow.keras.datasets import mnist"
    text += "" if name == "mnist" else f" as {name}"
    return Edit(*load.module.source.span(load.imported), text)


def pixels(style: FileStyle) -> str:
    """What stands behind an array of images, that they are as TF1 gives them."""
    return f".reshape(-1, 784).astype({style.string('float32')}) * (1.0 / 255.0)"


def is_written_anew(module: Module, node: ast.AST) -> bool:
    """Whether an array stands in a call that makes an input function, a spec or an Estimator."""
    calls = [a for a in module.names.ancestors(node) if isinstance(a, ast.Call)]
    return any(tensorflow_name(module, call.func).startswith("estimator.") for call in calls)


def _import(module: Module, node: ast.AST) -> ast.ImportFrom | None:
    """The import of a tutorial's module that nothing else needs."""
    names = module.names
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    home = names.defining_scope(node.id, names.scope_of_name[node])
    if home is None or names.mentions(node.id, home) != [node]:
        return None
    statements = [binding.node for binding in home.bindings[node.id]]
    if len(statements) != 1 or not isinstance(statements[0], ast.ImportFrom):
        return None
    statement = statements[0]
    own = "examples.tutorials" in (statement.module or "") and len(statement.names) == 1
    return statement if own else None


def _is_mnist(call: ast.Call, name: str) -> bool:
    given = [*call.args, *(k.value for k in call.keywords)]
    if name in _TUTORIAL:
        plain = all(
            k.arg == "one_hot" and isinstance(constant(k.value), bool) for k in call.keywords
        )
        return plain and len(call.args) == 1
    if name not in _NAMED:
        return not given
    known = all(keyword.arg == "name" for keyword in call.keywords)
    return known and len(given) == 1 and constant(given[0]) == "mnist"
