"""What TF1's names are in TF2."""
