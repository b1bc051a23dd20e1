"""The writer: a TF2 program that trains as the TF1 one did."""
