"""What configures and drives an Estimator, as code that drives a Keras model."""
