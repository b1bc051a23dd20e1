"""Passes over functions and statements that build a graph."""
