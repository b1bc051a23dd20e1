"""A network as a Keras model: layers in ``__init__``, their use in ``call``."""
