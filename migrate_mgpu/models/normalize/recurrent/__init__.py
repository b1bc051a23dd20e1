"""Passes over recurrent networks: cells, attention, decoders."""
