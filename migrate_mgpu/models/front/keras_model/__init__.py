"""The Keras model of a ``model_to_estimator``, and Keras of TF 1.15 in TF2's words."""
