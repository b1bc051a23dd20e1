"""A method of the model that gives its variables what a checkpoint of TF1's has for them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.scopes import names_in
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.models.ir import FirstValues
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.models.keras.network.tf1_names import METHOD as NAMES
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.style import FileStyle

NEVER_TRAINED = (
    "a model that was never trained begins with the checkpoint's values in an evaluation and a "
    "prediction, too, which begins at random in TF1"
)
OLD_FILES = (
    "what variables begin with is read from checkpoints that TF1 wrote: `migrate-mgpu checkpoint "
    "--to-tf1` makes one of a checkpoint that a migrated program wrote"
)
METHOD, WARM_START = "init_from_tf1", "warm_start"
INIT_FROM_CHECKPOINT = Definition(
    "init_from_checkpoint",
    '''\
def {name}(checkpoint, assignment_map, variables):
    """Gives variables what a checkpoint of TF1's has, by their names or by whole scopes."""
    reader = {tf}.train.load_checkpoint(checkpoint)
    if reader.has_tensor({quote}_CHECKPOINTABLE_OBJECT_GRAPH{quote}):
        raise ValueError(
            {quote}a TF2 checkpoint: `migrate-mgpu checkpoint --to-tf1` converts it{quote}
        )
    for old, new in assignment_map.items():
        new = getattr(new, {quote}name{quote}, new).split({quote}:{quote})[0]
        if new in variables:
            variables[new].assign(reader.get_tensor(old))
            continue
        if not (old.endswith({quote}/{quote}) and new.endswith({quote}/{quote})):
            raise ValueError(new + {quote} is neither a variable nor a scope{quote})
        old, new = old.lstrip({quote}/{quote}), new.lstrip({quote}/{quote})
        for name, variable in variables.items():
            if name.startswith(new):
                variable.assign(reader.get_tensor(old + name[len(new):]))''',
)

_WARM = '''\
def warm_start(self, checkpoint):
    """What is trained begins with the values of a checkpoint of TF1's."""
    if checkpoint is None:
        return
    reader = {tf}.train.load_checkpoint(checkpoint)
    if reader.has_tensor({quote}_CHECKPOINTABLE_OBJECT_GRAPH{quote}):
        raise ValueError(
            {quote}a TF2 checkpoint: `migrate-mgpu checkpoint --to-tf1` converts it{quote}
        )
    for name, variable in self.tf1_variables():
        if variable.trainable:
            variable.assign(reader.get_tensor(name))'''


class FirstValuesWriter:
    """Writes the method; ``function`` is the name of what it calls, beside the class.

    ``counts``: the model has an optimizer, which counts the steps.
    """

    def __init__(self, first: FirstValues, function: str, style: FileStyle, counts: bool) -> None:
        self.first = first
        self.counts = counts
        self.function = function
        self.style = style

    def write(self, network: Network, indent: str) -> str:
        """The method's text, inside of a class at an indentation."""
        source, style = network.module.source, self.style
        names = network.module.names
        scope = names.scopes[network.plan.function]
        trained = names.fresh(scope, "trained", "trained_variables")
        named = names.fresh(scope, "variables", "tf1_variables")
        replaced: dict[ast.AST, Replacement] = {call: _text(trained) for call in self.first.listed}
        replaced.update({call: self._call(call, named) for call in self.first.calls})
        context = network.context(replaced)
        for unit in self.first.units:
            for name in names_in(unit):
                if isinstance(name.ctx, ast.Store):
                    context.names.pop(name.id, None)
        block = Block(source, indent + source.indent_unit)
        quotes = '"""'
        block.line(f"def {METHOD}(self):")
        block.line(f"{quotes}First values, where no checkpoint is restored.{quotes}", 1)
        block.line(f"{named} = dict(self.{NAMES}())", 1)
        if self.first.roots and self.counts:
            step = style.string("global_step")
            block.line(f"{named}[{step}] = self.optimizer.iterations", 1)
        if self.first.listed:
            spec = f"{style.tensorflow}.TensorSpec(v.shape, v.dtype, name + {style.string(':0')})"
            block.line(f"{trained} = [", 1)
            block.line(spec, 2)
            block.line(f"for name, v in {named}.items()", 2)
            block.line("if v.trainable", 2)
            block.line("]", 1)
        for unit in self.first.units:
            block.statement(unit, context.edits(unit), 1)
        network.reads(context)
        return block.text()

    def _call(self, call: ast.Call, named: str) -> Replacement:
        def write(context: Context) -> str:
            given = [context.render(node) for node in call.args]
            given += [context.render(keyword.value) for keyword in call.keywords]
            return f"{self.function}({', '.join([*given, named])})"

        return write


def warm_start(network: Network, indent: str) -> str:
    """A method for what is trained to begin with, of a class at an indentation."""
    source, style = network.module.source, network.style
    text = style.code(_WARM).split("\n")
    block = Block(source, indent + source.indent_unit)
    for line in text:
        block.line(line)
    return block.text()


def _text(text: str) -> Replacement:
    return lambda context: text
