"""Estimators that need no model_fn: those of TensorFlow itself, and those made of a Keras model."""
