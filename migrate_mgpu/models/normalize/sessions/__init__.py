"""Passes over sessions: what makes, runs, saves and summarizes a graph."""
