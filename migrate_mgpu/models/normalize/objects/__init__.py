"""Passes over classes whose objects have a graph, or a part of one."""
