"""Attributes of every Keras model, which a network's own must not replace."""

# Attributes of Keras's own that a layer must not replace.
RESERVED = {
    "activity_regularizer", "add_loss", "add_metric", "add_weight", "build", "built", "call",
    "compile", "compute_loss", "compute_mask", "count_params", "dtype", "dynamic", "evaluate",
    "export", "fit", "get_layer", "inbound_nodes", "input", "input_shape", "input_spec", "inputs",
    "layers", "loss", "losses", "metrics", "name", "optimizer", "outbound_nodes", "output",
    "output_shape", "outputs", "path", "predict", "quantize", "run_eagerly", "save", "state",
    "stateful", "stop_training", "submodules", "summary", "supports_masking", "trainable",
    "updates", "variables", "weights",
}  # fmt: skip
# Attributes that Keras keeps for itself, in one of its versions.
KERAS_OWN = RESERVED | {
    "_call_spec", "_checkpoint", "_dtype", "_dtype_policy", "_dynamic", "_flatten", "_input_spec",
    "_layers", "_lock", "_losses", "_metrics", "_name", "_path", "_run_eagerly", "_stateful",
    "_tracker", "_trainable", "_trainable_variables", "_trainable_weights", "_updates",
}  # fmt: skip
