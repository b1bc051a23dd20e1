"""A canned Estimator as a Keras model's class."""
