"""TF1 forms of a model_fn restated as the one that is converted.

Each module restates one form as equal TF1 code; what comes of it is planned like any other
program, and dropped where the Estimator stays all the same.
"""
