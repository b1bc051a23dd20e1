"""What runs inside a program's own interpreter, and records what the program does.

Python 3.7, standard library and numpy: nothing here imports what lies outside of this folder,
and nothing outside imports what lies here, but for ``matching``, which both sides ask. The
modules are started by their path, and load each other by theirs.
"""
