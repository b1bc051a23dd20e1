"""Passes over loops that build a copy of a model for each GPU."""
