"""A model_fn, read: network, loss, optimizer, metrics, predictions."""
