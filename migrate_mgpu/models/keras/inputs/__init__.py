"""The datasets that a Keras model gets from input functions."""
