"""Passes over layers, variables and the collections that they are in."""
