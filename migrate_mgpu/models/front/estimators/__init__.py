"""The Estimators of a run: how each is made, configured, fed and driven."""
