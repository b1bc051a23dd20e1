"""A model_fn, read and written again: loss, optimizer, metrics, predictions around a network."""
