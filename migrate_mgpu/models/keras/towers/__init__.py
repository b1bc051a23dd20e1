"""Programs of towers as replicas of a strategy."""
