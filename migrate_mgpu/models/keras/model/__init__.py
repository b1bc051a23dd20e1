"""A model_fn as a function that builds and compiles a Keras model."""
