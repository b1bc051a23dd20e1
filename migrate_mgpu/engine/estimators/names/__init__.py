"""What stands for TF1's names in TF2, and in the rest of a module around its Estimators."""
