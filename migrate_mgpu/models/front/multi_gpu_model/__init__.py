"""Keras models that ``multi_gpu_model`` copies: what makes, compiles and uses them."""
