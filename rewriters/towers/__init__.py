"""Copies of a model that a loop builds, one for each GPU."""
