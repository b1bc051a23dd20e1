"""TF1 forms brought into the one that is converted: each module is a pass, of one form.

What comes of it is planned like any other program, and dropped where the Estimator stays
all the same.
"""
