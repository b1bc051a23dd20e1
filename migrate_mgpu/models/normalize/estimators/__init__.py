"""Passes over programs of Estimators: a model_fn in the form that its reader knows."""
