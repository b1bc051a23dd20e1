"""Comparing what two programs did: the ladder, its rungs, and their tolerances."""
