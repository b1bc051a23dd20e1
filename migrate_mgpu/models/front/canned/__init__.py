"""Estimators that need no model_fn: TensorFlow's own, with their feature columns."""
