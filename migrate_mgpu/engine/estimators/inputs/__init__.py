"""Input functions, and the datasets that Keras gets from them."""
