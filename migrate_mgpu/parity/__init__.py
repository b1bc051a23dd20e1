"""Run two programs, each in its own runtime, and compare what they did.

``probe.py`` and ``batch.py`` run inside the measured interpreter and import
nothing of this package; ``launch`` starts them; ``configuration`` compares the
device configurations that they record.
"""
