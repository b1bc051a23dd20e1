"""Bring TF1 multi-GPU code to TF2, and prove what was done."""

__version__ = "0.1.0"
