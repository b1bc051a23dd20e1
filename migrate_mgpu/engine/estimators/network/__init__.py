"""The part of a model_fn that makes layers, as a Keras model's `__init__` and `call`."""
