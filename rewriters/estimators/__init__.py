"""The parts of an Estimator's conversion. Only a run with Estimators imports them."""
