"""Whole programs: bridged ones keep their sessions, native ones have none."""
