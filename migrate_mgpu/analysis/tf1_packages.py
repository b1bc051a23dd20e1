"""Packages that others built on TF1, whose newest releases do not run what was written for them.

Measured: each newest release was installed, with what it needs, beside TF 2.15.1 and 2.21.0, and
imported there; so were the last releases of Sonnet 1 and TensorLayer 1. tensorpack 0.11 and t3f
pass, and are not listed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, imported_by

# Packages whose import fails beside both: the newest release, and what has the same.
FAILING: dict[str, tuple[str, str]] = {
    "bert.modeling": ("bert-tensorflow 1.0.4", "use a copy of the file, which is migrated then"),
    "edward": ("edward 1.3.5", "use tensorflow-probability"),
    "prettytensor": ("prettytensor 0.7.4", "use tf.keras.layers"),
    "tensorforce": ("tensorforce 0.6.5", "use tf-agents"),
    "tflearn": (
        "tflearn 0.5.0",
        "use tf.keras: `pad_sequences` is in tf.keras.utils with padding and truncating 'pre', "
        "which are 'post' in tflearn, and `to_categorical` beside it",
    ),
}
# The same beside the newest alone: it needs tensorflow-addons, whose last release is for TF 2.15.
_NEEDS_ADDONS = {"tensor2tensor": ("tensor2tensor 1.15.7", "use TF 2.15")}
_SONNET = """
    AbstractModule AddBias AffineGridWarper AffineWarpConstraints AttentiveRead BatchFlatten
    BatchNormLSTM BatchNormV2 BatchReshape BidirectionalRNN CausalConv1D ConcatLinear
    FlattenTrailingDimensions GridWarper HighwayCore InPlaneConv2D MergeDims ModelRNN MovingAverage
    RNNCellWrapper RelationalMemory Residual ResidualCore SelectInput SeparableConv1D
    SeparableConv2D SkipConnectionCore SliceByDim TileByDim TrainableInitialState TrainableVariable
    clip_gradient custom_getters get_lagrange_multiplier get_normalized_variable_map get_saver
    get_variables_in_module get_variables_in_scope highway_core_with_recurrent_dropout
    lstm_with_zoneout nest observe_connections restore_initializer reuse_variables
    trainable_initial_state variable_map_items wrap_with_spectral_norm
"""
_TENSORLAYER = """
    AtrousConv1dLayer AtrousConv2dLayer AtrousDeConv2dLayer AverageEmbeddingInputlayer
    BatchNormLayer BiDynamicRNNLayer BiRNNLayer BinaryDenseLayer ConcatLayer ConvLSTMLayer
    DenseLayer DorefaDenseLayer DownSampling2dLayer DropconnectDenseLayer DropoutLayer
    DynamicRNNLayer ElementwiseLambdaLayer ElementwiseLayer EmbeddingInputlayer ExpandDimsLayer
    FlattenLayer GaussianNoiseLayer GroupNormLayer InputLayer InstanceNormLayer KerasLayer
    LambdaLayer LayerNormLayer LocalResponseNormLayer OneHotInputLayer PRelu6Layer PReluLayer
    PTRelu6Layer QuanDenseLayerWithBN RNNLayer ReshapeLayer ScaleLayer SignLayer SlimNetsLayer
    SpatialTransformer2dAffineLayer StackLayer SwitchNormLayer TernaryDenseLayer TileLayer
    TimeDistributedLayer TransposeLayer UnStackLayer UpSampling2dLayer Word2vecEmbeddingInputlayer
"""
_HUB = """
    ImageModuleInfo LatestModuleExporter Module ModuleSpec add_signature attach_image_module_info
    attach_message create_module_spec create_module_spec_from_saved_model eval_function_for_module
    get_expected_image_size get_num_image_channels image_embedding_column load_module_spec
    register_module_for_export sparse_text_embedding_column text_embedding_column
    text_embedding_column_v2
"""
# Names that a package lost: the release, and what to do.
LOST: dict[str, tuple[str, str]] = {
    **{
        f"sonnet.{name}": ("Sonnet 2", "Sonnet 1 cannot be imported beside TF2: use its new form")
        for name in _SONNET.split()
    },
    **{
        f"tensorlayer.layers.{name}": (
            "TensorLayer 2",
            "TensorLayer 1 cannot be imported beside TF2: use its new form",
        )
        for name in _TENSORLAYER.split()
    },
    **{
        f"tensorflow_hub.{name}": (
            "tensorflow-hub 0.16",
            "beside TF 2.15 install tensorflow-hub<0.16; for the newest use hub.KerasLayer",
        )
        for name in _HUB.split()
    },
}
_LAST = {name.rpartition(".")[2] for name in LOST}
_PACKAGES = {name.partition(".")[0] for name in (*FAILING, *_NEEDS_ADDONS, *LOST)}
_MENTIONS = re.compile(rf"\b(?:import|from)\s+(?:{'|'.join(sorted(_PACKAGES))})\b".encode())


def may_use_packages(data: bytes) -> bool:
    """Whether a file may import one of the packages, by its words."""
    return _MENTIONS.search(data) is not None


def uses_of_packages(module: Module, is_here: Callable[[str], bool]) -> Iterator[Diagnostic]:
    """What a module imports, or names, of such packages, each once, where it stands first.

    ``is_here`` tells whether a package of a name lies in the run: a copy, which is migrated.
    """
    if not may_use_packages(module.source.text.encode()):
        return
    seen: set[str] = set()
    packages = {**FAILING, **_NEEDS_ADDONS}
    for name, node in sorted(_mentions(module), key=lambda one: one[1].lineno):
        failing = next((one for one in packages if f"{name}.".startswith(f"{one}.")), None)
        known = failing or (name if name in LOST else None)
        if known is None or known in seen or module.is_guarded(node):
            continue
        if is_here(known.partition(".")[0]):
            continue
        seen.add(known)
        if failing is not None:
            release, advice = packages[failing]
            beside = "TF2" if failing in FAILING else "a TensorFlow newer than 2.15"
            text = f"{release}, the newest, cannot be imported beside {beside}"
        else:
            release, advice = LOST[known]
            text = f"`{known}` is gone in {release}"
        yield Diagnostic("tf1-package", Place(module, node), text, advice, symbol=known)


def _mentions(module: Module) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    names = module.names
    for statement in names.imports:
        for name in imported_by(statement, module.package):
            yield name, statement
    for last in _LAST & names.attributes.keys():
        for node in names.attributes[last]:
            yield names.qualname(node) or "", node
