"""Readers: what a TF1 program trains, as facts."""
