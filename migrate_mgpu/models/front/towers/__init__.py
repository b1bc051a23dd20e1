"""Loops that build a copy of a model for each GPU, read into the model IR."""
